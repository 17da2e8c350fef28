//! Look-up of calls by name: `cuGetProcAddress`.

use std::ffi::{c_int, c_uint, c_void};

use crate::cuda_constants::found;
use crate::ffi::{Call, Out, Text, export};
use crate::result::*;

export! {
    fn cuGetProcAddress 11030(symbol: Text, pfn: Out<*const c_void>, version: c_int, flags: u64) =
        find_call(symbol, pfn, version, flags)?.map_err(|_| ERROR_NOT_FOUND);

    fn cuGetProcAddress_v2 12000 / cuGetProcAddress_v2_ptsz (
        symbol: Text, pfn: Out<*const c_void>, version: c_int, flags: u64, status: Out<c_uint>,
    ) {
        let found = find_call(symbol, pfn, version, flags)?;
        status.put_if_wanted(found.err().unwrap_or(0));
        // A caller that takes a status finds the failure there.
        if status.is_null() { found.map_err(|_| ERROR_NOT_FOUND) } else { Ok(()) }
    }
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const PER_THREAD: u64 = 2;
/// All flags, `CU_GET_PROC_ADDRESS_LEGACY_STREAM` included.
const FLAGS: u64 = 1 | PER_THREAD;

/// Looks a call up by its plain name (`cuMemAlloc`), and writes its address. The inner error is the status for the
/// caller when there is none.
fn find_call(symbol: Text, pfn: Out<*const c_void>, version: c_int, flags: u64) -> Outcome<Result<(), c_uint>> {
    pfn.check()?;
    let symbol = symbol.get()?;
    refuse_if(flags > FLAGS, ERROR_INVALID_VALUE)?;
    // The driver takes the version as unsigned: -1 is newer than all.
    let version = c_int::try_from(version as c_uint).unwrap_or(c_int::MAX);
    let found = newest(&symbol, version, flags & PER_THREAD != 0);
    pfn.put(found.map_or(std::ptr::null(), |call| call.address))?;
    Ok(found.map(|_| ()))
}

/// Returns the newest variant of a call up to a version of CUDA. As in the real driver, the symbols of variants
/// (`cuMemAlloc_v2`) are not found.
fn newest(symbol: &str, version: c_int, own_stream: bool) -> Result<&'static Call, c_uint> {
    if matches!(symbol.as_bytes(), [.., b'_', b'v', b'0'..=b'9']) {
        return Err(found::SYMBOL_NOT_FOUND);
    }
    let is_form = |call: &&Call| call.name.strip_prefix(symbol).is_some_and(|rest| is_variant(rest, own_stream));
    let variants: Vec<&Call> = super::all().filter(is_form).collect();
    let has_own = variants.iter().any(|call| is_own_stream(call.name));
    variants
        .iter()
        .filter(|call| call.since <= version && is_own_stream(call.name) == has_own)
        .max_by_key(|call| call.since)
        .copied()
        .ok_or(if variants.is_empty() { found::SYMBOL_NOT_FOUND } else { found::VERSION_NOT_SUFFICIENT })
}

fn is_own_stream(name: &str) -> bool {
    name.ends_with("_ptsz") || name.ends_with("_ptds")
}

/// Returns whether the rest of a symbol, after the plain name, is the suffix of a variant.
fn is_variant(rest: &str, own_stream: bool) -> bool {
    let version = match rest.strip_suffix("_ptsz").or_else(|| rest.strip_suffix("_ptds")) {
        Some(_) if !own_stream => return false,
        Some(version) => version,
        None => rest,
    };
    matches!(version.as_bytes(), [] | [b'_', b'v', b'0'..=b'9'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(symbol: &str, version: c_int, own_stream: bool, expected: Result<&str, c_uint>) {
        assert_eq!(newest(symbol, version, own_stream).map(|call| call.name), expected);
    }

    #[test]
    fn a_plain_name_finds_the_newest_that_the_caller_knows() {
        check("cuMemAlloc", 12040, false, Ok("cuMemAlloc_v2"));
        check("cuMemAlloc", 2000, false, Ok("cuMemAlloc"));
        check("cuMemAlloc", c_int::MAX, false, Ok("cuMemAlloc_v2"));
        check("cuCtxCreate", 3020, false, Ok("cuCtxCreate_v2"));
        check("cuCtxCreate", 12040, false, Ok("cuCtxCreate_v3"));
        check("cuCtxCreate", 13000, false, Ok("cuCtxCreate_v4"));
        check("cuCtxGetDevice", 12040, false, Ok("cuCtxGetDevice"));
        check("cuCtxGetDevice", 13000, false, Ok("cuCtxGetDevice_v2"));
        check("cuMemAdvise", 11040, false, Ok("cuMemAdvise"));
        check("cuMemAdvise", 12020, false, Ok("cuMemAdvise_v2"));
        check("cuMemPrefetchAsync", 11040, false, Ok("cuMemPrefetchAsync"));
        check("cuMemPrefetchAsync", 12020, false, Ok("cuMemPrefetchAsync_v2"));
        check("cuStreamGetCaptureInfo", 12020, false, Ok("cuStreamGetCaptureInfo_v2"));
        check("cuStreamGetCaptureInfo", 12030, false, Ok("cuStreamGetCaptureInfo_v3"));
        check("cuGetProcAddress", 12040, false, Ok("cuGetProcAddress_v2"));
    }

    #[test]
    fn a_thread_s_own_stream_has_its_variants() {
        check("cuLaunchKernel", 12040, true, Ok("cuLaunchKernel_ptsz"));
        check("cuMemcpyHtoD", 12040, true, Ok("cuMemcpyHtoD_v2_ptds"));
        check("cuMemcpyHtoD", 12040, false, Ok("cuMemcpyHtoD_v2"));
        check("cuInit", 12040, true, Ok("cuInit"));
    }

    #[test]
    fn what_is_not_there_has_a_reason() {
        check("cuNoSuchCall", 12040, false, Err(found::SYMBOL_NOT_FOUND));
        check("cuMem", 12040, false, Err(found::SYMBOL_NOT_FOUND));
        check("cuMemAlloc_v2", 12040, false, Err(found::SYMBOL_NOT_FOUND));
        check("cuMemAlloc_v2", 2000, false, Err(found::SYMBOL_NOT_FOUND));
        check("cuMemAdvise", 3020, false, Err(found::VERSION_NOT_SUFFICIENT));
        check("cuLaunchKernel", 3020, false, Err(found::VERSION_NOT_SUFFICIENT));
        check("cuKernelGetLibrary", 12040, false, Err(found::VERSION_NOT_SUFFICIENT));
        check("cuKernelGetLibrary", 12050, false, Ok("cuKernelGetLibrary"));
    }
}

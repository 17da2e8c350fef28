//! Look-up of calls by name: `cuGetProcAddress`.

#[cfg(test)]
mod tests;

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

/// Writes the address of a call by its plain name (`cuMemAlloc`). The inner error is the status when there is none.
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

/// Returns the newest variant of a call up to a version of CUDA; like NVIDIA's, not by names such as `cuMemAlloc_v2`.
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

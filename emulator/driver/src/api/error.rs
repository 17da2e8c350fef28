//! Names of errors, and finding a call by its name.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::edge::{Out, Text, export};
use crate::generated::CALLS;
use crate::result::*;

export! {
    fn cuGetErrorName(error: CUresult, name: Out<*const c_char>) {
        name.check()?;
        match describe(error) {
            Some((text, _)) => name.put(text.as_ptr()),
            None => {
                name.put(std::ptr::null())?;
                Err(ERROR_INVALID_VALUE)
            }
        }
    }

    fn cuGetErrorString(error: CUresult, description: Out<*const c_char>) {
        description.check()?;
        match describe(error) {
            Some((_, text)) => description.put(text.as_ptr()),
            None => {
                description.put(std::ptr::null())?;
                Err(ERROR_INVALID_VALUE)
            }
        }
    }

    fn cuGetProcAddress(symbol: Text, pfn: Out<*const c_void>, version: c_int, flags: u64) {
        find_call(symbol, pfn, version, flags)?.ok_or(ERROR_NOT_FOUND)
    }

    fn cuGetProcAddress_v2(
        symbol: Text,
        pfn: Out<*const c_void>,
        version: c_int,
        flags: u64,
        status: Out<c_uint>,
    ) {
        let found = find_call(symbol, pfn, version, flags)?;
        status.put_if_wanted(if found.is_some() { 0 } else { 1 });
        found.ok_or(ERROR_NOT_FOUND)
    }
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const PER_THREAD: u64 = 2;

/// Looks a call up by its plain name (`cuMemAlloc`): the newest variant up to what the caller knows.
fn find_call(
    symbol: Text,
    pfn: Out<*const c_void>,
    version: c_int,
    flags: u64,
) -> Result<Option<()>, CUresult> {
    pfn.check()?;
    let symbol = symbol.get()?;
    if flags > PER_THREAD || version < 0 {
        return Err(ERROR_INVALID_VALUE);
    }
    let found = variants(&symbol, version)
        .iter()
        .flat_map(|name| {
            let own = (flags == PER_THREAD).then(|| [format!("{name}_ptsz"), format!("{name}_ptds")]);
            own.into_iter().flatten().chain([name.clone()])
        })
        .find_map(|name| address(&name));
    pfn.put(found.unwrap_or(std::ptr::null()))?;
    Ok(found.map(|_| ()))
}

/// Names to try, best first. Callers of CUDA 12 mean `_v2` when they say `cuMemAlloc`; the few calls that changed
/// later are listed with the version that brought the change.
fn variants(symbol: &str, version: c_int) -> Vec<String> {
    const CHANGED: &[(&str, &str, c_int)] = &[
        ("cuCtxCreate", "cuCtxCreate_v4", 12050),
        ("cuCtxCreate", "cuCtxCreate_v3", 11040),
        ("cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040),
        ("cuGetProcAddress", "cuGetProcAddress_v2", 12000),
        ("cuEventElapsedTime", "cuEventElapsedTime_v2", 12080),
        ("cuStreamGetCtx", "cuStreamGetCtx_v2", 12050),
        ("cuCtxGetDevice", "cuCtxGetDevice_v2", 13000),
        ("cuCtxSynchronize", "cuCtxSynchronize_v2", 13000),
        ("cuMemAdvise", "cuMemAdvise_v2", 13000),
        ("cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 13000),
        ("cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", 13000),
        ("cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", 11030),
    ];
    let changed = CHANGED.iter().filter(|c| c.0 == symbol);
    let mut names: Vec<String> = changed
        .clone()
        .filter(|c| c.2 <= version)
        .map(|c| c.1.to_owned())
        .collect();
    if changed.count() == 0 || symbol == "cuCtxCreate" {
        names.push(format!("{symbol}_v2"));
    }
    names.push(symbol.to_owned());
    names
}

fn address(name: &str) -> Option<*const c_void> {
    let at = CALLS.binary_search_by(|call| call.name.cmp(name)).ok()?;
    Some(CALLS[at].address)
}

/// An exported call.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) address: *const c_void,
}

// SAFETY: the address of a function, which never changes.
unsafe impl Sync for Call {}

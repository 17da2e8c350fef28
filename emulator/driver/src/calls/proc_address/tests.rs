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

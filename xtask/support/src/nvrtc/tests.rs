use super::*;

/// Checks whether an error code is about the source, and its message.
#[track_caller]
fn check(code: c_int, log: &str, is_of_source: bool, message: &str) {
    let error = failure(code, "my/v02.cu", log);
    assert_eq!(error.to_string(), message);
    assert_eq!(error.downcast_ref::<DoesNotCompile>().is_some(), is_of_source);
}

#[test]
fn faults_of_the_source_and_of_the_compiler_are_told_apart() {
    let log = "my/v02.cu(7): error: expected a \";\"\n";
    let message = "my/v02.cu does not compile:\nmy/v02.cu(7): error: expected a \";\"";
    check(6, log, true, message);
    let message = "my/v02.cu does not compile:\nit takes more memory than the compiler has";
    check(1, "", true, message);
    let log = "nvrtc: error: failed to open libnvrtc-builtins.so.12.4.\n  Make sure it is installed.\n";
    let message = "NVRTC failed with error 7 on my/v02.cu: nvrtc: error: failed to open \
                       libnvrtc-builtins.so.12.4. Make sure it is installed.";
    check(7, log, false, message);
    check(11, "", false, "NVRTC failed with error 11 on my/v02.cu");
}

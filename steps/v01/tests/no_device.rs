//! A machine with NVIDIA's driver but no device: the emulated GPU takes over, and prints so once.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

const DRIVER: &str = r##"
    #![crate_type = "cdylib"]
    use std::ffi::c_char;
    const NO_DEVICE: u32 = 100;
    #[unsafe(no_mangle)]
    pub extern "C" fn cuInit(_: u32) -> u32 { NO_DEVICE }
    #[unsafe(no_mangle)]
    pub extern "C" fn cuDeviceGetCount(_: *mut i32) -> u32 { NO_DEVICE }
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn cuGetErrorName(_: u32, text: *mut *const c_char) -> u32 {
        // SAFETY: the caller's place for a pointer.
        unsafe { *text = c"CUDA_ERROR_NO_DEVICE".as_ptr() };
        0
    }
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn cuGetErrorString(_: u32, text: *mut *const c_char) -> u32 {
        // SAFETY: the caller's place for a pointer.
        unsafe { *text = c"no CUDA-capable device is detected".as_ptr() };
        0
    }
"##;

fn build(folder: &Path) {
    let source = folder.join("driver.rs");
    std::fs::write(&source, DRIVER).expect("a folder to write to");
    let library = folder.join("libcuda.so.1");
    let status = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .args([&library, &source])
        .status()
        .expect("rustc is there, it built this test");
    assert!(status.success());
}

/// Returns the exit code, standard output, standard error, with that driver first on the library path.
fn check(folder: &Path, device: Option<&str>) -> (Option<i32>, String, String) {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let path = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(env!("CARGO_BIN_EXE_v01"));
    command.args(["check", "--kernel", "sgemm_v01_col"]).env_remove("TILE_DEVICE");
    command.env("LD_LIBRARY_PATH", std::env::join_paths(path).expect("folders have no colons"));
    if let Some(device) = device {
        command.env("TILE_DEVICE", device);
    }
    let output = command.output().expect("the step starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_emulated_gpu_takes_over() {
    let folder = std::env::temp_dir().join(format!("v01-no-device-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder to write to");
    build(&folder);

    let (code, out, errors) = check(&folder, None);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("passed: 15 shapes, all checks clean"), "{out}");
    let told = "the CUDA driver of this machine has no device (CUDA_ERROR_NO_DEVICE (no CUDA-capable device is \
                detected)): using the emulated GPU\n";
    assert_eq!(errors, told);

    let (code, _, errors) = check(&folder, Some("real"));
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.starts_with("error: no CUDA device: CUDA_ERROR_NO_DEVICE"), "{errors}");
    std::fs::remove_dir_all(&folder).expect("ours");
}

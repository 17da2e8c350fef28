//! Cubins: machine code of the emulated device's architecture runs, and other images are refused with a reason.

use std::ffi::CString;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUresult, CUresult::*};
use emulator_client::CheckLevel;

use crate::common::{
    ErrorLog, OwnContext, alloc, calls, emulator, function, launch, load_library, load_ptx, made, ok, report,
    synchronize, words,
};

/// `saxpy(int n, float a, const float* x, float* y)`
fn saxpy() -> Vec<u8> {
    include_bytes!("../../../../kernels/cubin/saxpy.cubin").to_vec()
}

/// Loads an image; or the error, with the log.
fn load(image: &[u8]) -> Result<sys::CUmodule, (CUresult, String)> {
    let mut log = ErrorLog::new();
    let mut module = null_mut();
    let (options, values) = (log.options.as_mut_ptr(), log.values.as_mut_ptr());
    // SAFETY: an image of the length that its header gives, or less where the driver has to find out, and a log.
    let code = unsafe { sys::cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options, values) };
    match code {
        CUDA_SUCCESS => Ok(module),
        code => Err((code, log.text())),
    }
}

/// Computes y = 3 x + y for x = 0, 1, 2, … and y = 1.
fn run(saxpy: sys::CUfunction) {
    const N: usize = 100;
    let x: Vec<f32> = (0..N as u16).map(f32::from).collect();
    let y = [1.0_f32; N];
    let (to_x, to_y) = (alloc(N * 4), alloc(N * 4));
    calls! {
        sys::cuMemcpyHtoD_v2(to_x, x.as_ptr().cast(), N * 4),
        sys::cuMemcpyHtoD_v2(to_y, y.as_ptr().cast(), N * 4),
    }
    ok(launch(saxpy, 4, 32, &[N as u64, 3.0_f32.to_bits().into(), to_x, to_y]));
    ok(synchronize());
    let got: Vec<f32> = words(to_y, N).into_iter().map(f32::from_bits).collect();
    let want: Vec<f32> = x.iter().map(|x| 3.0 * x + 1.0).collect();
    assert_eq!(got, want);
}

#[test]
fn machine_code_from_a_file_and_in_a_library_runs() {
    let _own = OwnContext::new();
    let cubin = saxpy();
    let path = std::env::temp_dir().join(format!("saxpy-{}.cubin", std::process::id()));
    std::fs::write(&path, &cubin).expect("a folder to write to");
    let name = CString::new(path.to_str().expect("a plain path")).expect("no NUL");
    let (module, mut library) = (made!(cuModuleLoad(name.as_ptr())), null_mut());
    std::fs::remove_file(&path).expect("a file");
    // An image of the length that its header gives.
    calls! { load_library(&mut library, cubin.as_ptr().cast()) }
    let kernel = made!(cuLibraryGetKernel(library, c"saxpy".as_ptr()));
    run(function(module, "saxpy"));
    run(made!(cuKernelGetFunction(kernel)));
}

#[test]
fn a_cubin_says_what_a_kernel_needs() {
    let _own = OwnContext::new();
    let saxpy = function(load(&saxpy()).expect("machine code for this device"), "saxpy");
    let check = |attribute: Attribute, want: i32| {
        let got: i32 = made!(cuFuncGetAttribute(attribute, saxpy));
        assert_eq!(got, want, "{attribute:?}");
    };
    check(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS, 10);
    check(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0);
    check(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0);
    check(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90);
    check(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024);
}

#[test]
fn emulated_reports_say_which_code_was_counted() {
    let emulator = emulator();
    let _own = OwnContext::new();
    emulator.set_checks(Some(CheckLevel::Count));
    run(function(load(&saxpy()).expect("machine code for this device"), "saxpy"));
    let report = report(&emulator);
    assert_eq!(report["code"], "machine");
    assert_eq!(report["total"]["global_load_requests"], 8);
    let first = report["instructions"][0]["text"].as_str();
    assert!(first.is_some_and(|text| text.starts_with("LDC ")), "{first:?}");
    emulator.set_checks(None);
}

/// Predicts a launch of saxpy on `n` numbers, with 32 threads per block.
fn predicted(saxpy: sys::CUfunction, n: u32) -> serde_json::Value {
    let emulator = emulator();
    let (x, y) = (alloc(n as usize * 4), alloc(n as usize * 4));
    emulator.predict_next();
    let arguments = [u64::from(n), 3.0_f32.to_bits().into(), x, y];
    ok(launch(saxpy, n.div_ceil(32), 32, &arguments));
    ok(synchronize());
    report(&emulator)
}

#[test]
fn emulated_a_launch_can_be_predicted() {
    let _own = OwnContext::new();
    let saxpy = function(load(&saxpy()).expect("machine code for this device"), "saxpy");
    let us = |report: &serde_json::Value| {
        assert_eq!(report["no_prediction"], serde_json::Value::Null);
        report["prediction"]["us"].as_f64().expect("a time")
    };
    let small = predicted(saxpy, 1 << 10);
    assert_eq!(small["kernel"], "saxpy");
    assert_eq!(small["grid"], serde_json::json!([32, 1, 1]));
    assert_eq!(
        small["occupancy"],
        serde_json::json!({"blocks": 32, "warps": 32, "most_warps": 64, "registers": 10, "limit": "blocks"})
    );
    assert_eq!(small["prediction"]["n_blocks"], 32);
    // A launch takes microseconds, and eight megabytes take more.
    let (small, large) = (us(&small), us(&predicted(saxpy, 1 << 20)));
    assert!((0.5..20.0).contains(&small) && (2.0 * small..1000.0).contains(&large), "{small} {large}");
    // The next launch runs.
    run(saxpy);
}

#[test]
fn emulated_ptx_is_not_predicted() {
    let _own = OwnContext::new();
    let module = load_ptx(include_str!("../../../../kernels/ptx/saxpy.ptx"));
    let report = predicted(function(module, "saxpy"), 64);
    assert_eq!(report["prediction"], serde_json::Value::Null);
    let why = report["no_prediction"].as_str().expect("a reason");
    assert!(why.starts_with("the module is PTX, "), "{why}");
}

/// Returns the output of `fatbinary --image3=kind=elf,sm=SM,file=CUBIN`.
fn fatbinary(cubin: &[u8], sm: u32) -> Vec<u8> {
    let mut image = b"\x50\xed\x55\xba\x01\0\x10\0".to_vec();
    image.extend((64 + cubin.len() as u64).to_le_bytes());
    image.extend(b"\x02\0\x01\x01\x40\0\0\0");
    image.extend((cubin.len() as u64).to_le_bytes());
    image.extend(b"\0\0\0\0\0\0\0\0\x07\0\x01\0");
    image.extend(sm.to_le_bytes());
    image.extend([0; 8]);
    image.extend(0x11_u64.to_le_bytes());
    image.extend([0; 16]);
    image.extend(cubin);
    image
}

#[test]
fn machine_code_in_a_fatbinary_runs() {
    let _own = OwnContext::new();
    let image = fatbinary(&saxpy(), 90);
    let module = load(&image).expect("machine code for this device");
    run(function(module, "saxpy"));
    // The wrapper in programs: a head with the address.
    let mut wrapper = b"\xb1\x43\x62\x46\x01\0\0\0".to_vec();
    wrapper.extend((image.as_ptr().expose_provenance() as u64).to_le_bytes());
    wrapper.extend([0; 8]);
    run(function(made!(cuModuleLoadFatBinary(wrapper.as_ptr().cast())), "saxpy"));
}

/// Damages the cubin, and expects a code and a part of the message.
#[track_caller]
fn refused(damage: impl FnOnce(&mut Vec<u8>), code: CUresult, message: &str) {
    let _own = OwnContext::new();
    let mut image = saxpy();
    damage(&mut image);
    let (got, log) = load(&image).expect_err("a damaged cubin");
    assert_eq!(got, code, "{log}");
    assert!(log.contains(message), "{log}");
}

#[test]
fn emulated_machine_code_for_other_gpus_is_refused() {
    let code = CUDA_ERROR_NO_BINARY_FOR_GPU;
    refused(|image| image[48] = 80, code, "the cubin is for sm_80, and the emulated GPU is sm_90");
    let pack = |image: &mut Vec<u8>| *image = fatbinary(image, 80);
    refused(pack, code, "the fatbinary has sm_80, and the emulated GPU is sm_90");
}

#[test]
fn emulated_an_unknown_instruction_is_named() {
    const EXIT: u64 = 0x794d;
    let unknown = |image: &mut Vec<u8>| {
        let exit = image.windows(8).rposition(|bytes| bytes == EXIT.to_le_bytes());
        let at = exit.expect("a kernel ends");
        image[at..at + 2].copy_from_slice(&0x7fff_u16.to_le_bytes());
    };
    refused(unknown, CUDA_ERROR_INVALID_IMAGE, "does not support:\n.text.saxpy: unknown opcode 0xfff at 0x");
}

#[test]
fn emulated_registers_beyond_those_requested_are_refused() {
    // Attribute of the number of registers: its head, a symbol, the number. ptxas requests just enough.
    let fewer = |image: &mut Vec<u8>| {
        let at = image.windows(4).position(|head| head == [0x04, 0x2f, 0x08, 0x00]);
        image[at.expect("the cubin requests registers") + 8] -= 1;
    };
    refused(fewer, CUDA_ERROR_INVALID_IMAGE, "registers with the two for hardware");
}

#[test]
fn emulated_damaged_cubins_are_refused() {
    // Moves the section table: far behind the end, to the end of all addresses, into the code.
    for offset in [1_u64 << 40, u64::MAX - 10, 1 << 20, 0x300] {
        refused(
            |image| image[40..48].copy_from_slice(&offset.to_le_bytes()),
            CUDA_ERROR_INVALID_IMAGE,
            "the cubin is damaged: ",
        );
    }
}

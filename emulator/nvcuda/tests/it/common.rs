//! What the tests share: which driver, a context of one's own, and calls that are checked.

use std::ffi::{CString, c_void};
use std::sync::Once;

use cudarc::driver::sys::{self, CUjit_option, CUresult};

/// The kernels of these tests.
pub(crate) const KERNELS: &str = include_str!("kernels.ptx");

/// Chooses the driver, once: the emulated one, unless the tests are told to run on the machine's GPU.
pub(crate) fn driver() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        if std::env::var("TILE_DEVICE").as_deref() != Ok("real") {
            emulator_client::preload().expect("Cargo built the library");
        }
    });
}

/// The extra API, for tests that are about it. Diagnoses of mistakes made on purpose stay off the terminal.
#[track_caller]
pub(crate) fn emulator() -> emulator_client::Emulator {
    driver();
    let emulator = emulator_client::find().expect("these tests run on the emulated driver");
    emulator.set_diagnosis(Some(false));
    emulator
}

/// Diagnoses off, where there are any.
pub(crate) fn hush() {
    driver();
    if let Some(emulator) = emulator_client::find() {
        emulator.set_diagnosis(Some(false));
    }
}

/// Stops at a call that fails.
#[track_caller]
pub(crate) fn ok(code: CUresult) {
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// A context of a test's own, current on its thread, so that what breaks it breaks no other test.
pub(crate) struct Own(pub(crate) sys::CUcontext);

impl Own {
    pub(crate) fn new() -> Self {
        hush();
        let mut context = std::ptr::null_mut();
        // SAFETY: valid places for results.
        unsafe {
            ok(sys::cuInit(0));
            ok(sys::cuCtxCreate_v2(&mut context, 0, 0));
        }
        Self(context)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: a context that a test has destroyed already is refused, not used.
        unsafe { sys::cuCtxDestroy_v2(self.0) };
    }
}

/// A module of the test kernels in the current context.
pub(crate) fn module() -> sys::CUmodule {
    let text = CString::new(KERNELS).expect("PTX has no NUL");
    let mut module = std::ptr::null_mut();
    // SAFETY: a string that ends with NUL.
    unsafe { ok(sys::cuModuleLoadData(&mut module, text.as_ptr().cast())) };
    module
}

pub(crate) fn function(module: sys::CUmodule, name: &str) -> sys::CUfunction {
    let name = CString::new(name).expect("a name has no NUL");
    let mut function = std::ptr::null_mut();
    // SAFETY: a string that ends with NUL.
    unsafe { ok(sys::cuModuleGetFunction(&mut function, module, name.as_ptr())) };
    function
}

pub(crate) fn alloc(bytes: usize) -> u64 {
    let mut address = 0;
    // SAFETY: a valid place for the result.
    unsafe { ok(sys::cuMemAlloc_v2(&mut address, bytes)) };
    address
}

/// Launches on the null stream, in one dimension.
pub(crate) fn launch(function: sys::CUfunction, grid: u32, block: u32, arguments: &[u64]) -> CUresult {
    let mut pointers: Vec<_> = arguments
        .iter()
        .map(|a| std::ptr::from_ref(a).cast_mut().cast())
        .collect();
    let null = std::ptr::null_mut();
    // SAFETY: each argument has 8 bytes, as much as any parameter of the test kernels.
    unsafe {
        sys::cuLaunchKernel(
            function,
            grid,
            1,
            1,
            block,
            1,
            1,
            0,
            null,
            pointers.as_mut_ptr(),
            null.cast(),
        )
    }
}

pub(crate) fn synchronize() -> CUresult {
    // SAFETY: no arguments.
    unsafe { sys::cuCtxSynchronize() }
}

/// Words of device memory.
pub(crate) fn words(address: u64, n: usize) -> Vec<u32> {
    let mut host = vec![0u32; n];
    // SAFETY: the host memory has that size.
    unsafe { ok(sys::cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, n * 4)) };
    host
}

/// The error log of a call that loads or links, and the options that ask for it.
pub(crate) struct ErrorLog {
    text: Vec<u8>,
    pub(crate) options: [CUjit_option; 2],
    pub(crate) values: [*mut c_void; 2],
}

impl ErrorLog {
    pub(crate) fn new() -> Self {
        let mut text = vec![0; 4096];
        Self {
            options: [
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            ],
            values: [
                text.as_mut_ptr().cast(),
                std::ptr::without_provenance_mut(text.len()),
            ],
            text,
        }
    }

    /// What the driver wrote, up to the NUL that ends it.
    pub(crate) fn text(&self) -> String {
        let end = self.text.iter().position(|byte| *byte == 0).expect("a NUL");
        String::from_utf8_lossy(&self.text[..end]).into_owned()
    }
}

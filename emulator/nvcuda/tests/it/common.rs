//! Test helpers: the choice of the driver, contexts, and checked calls.

use std::ffi::{CString, c_void};
use std::sync::Once;

use cudarc::driver::sys::{self, CUjit_option, CUresult};

pub(crate) const KERNELS: &str = include_str!("kernels.ptx");
pub(crate) const DEPENDENT: &str = include_str!("ptx/dependent.ptx");

/// Chooses the driver, once: the emulated one, unless `TILE_DEVICE` is `real`.
pub(crate) fn driver() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        if std::env::var("TILE_DEVICE").as_deref() != Ok("real") {
            emulator_client::preload().expect("Cargo built the library");
        }
    });
}

/// Returns the extra API of the emulated driver. Diagnoses of deliberate mistakes are off.
#[track_caller]
pub(crate) fn emulator() -> emulator_client::Emulator {
    driver();
    let emulator = emulator_client::find().expect("these tests run on the emulated driver");
    emulator.set_diagnosis(Some(false));
    emulator
}

pub(crate) fn report(emulator: &emulator_client::Emulator) -> serde_json::Value {
    let report = emulator.report().expect("there was a launch");
    serde_json::from_str(&report).expect("it is JSON")
}

/// Switches diagnoses off, on the emulated driver.
pub(crate) fn silence() {
    driver();
    if let Some(emulator) = emulator_client::find() {
        emulator.set_diagnosis(Some(false));
    }
}

/// Makes calls in turn: each gives success, or the code after it; all differences are reported at once.
macro_rules! calls {
    (@code) => { cudarc::driver::sys::CUresult::CUDA_SUCCESS };
    (@code $code:ident) => { cudarc::driver::sys::CUresult::$code };
    ($($call:expr $(=> $code:ident)?),* $(,)?) => {{
        let mut wrong = Vec::new();
        $(
            #[allow(unused_unsafe, reason = "some calls are wrapped")]
            // SAFETY: every pointer passed is null or good; handles and device addresses are numbers.
            let got = unsafe { $call };
            let want = $crate::common::calls!(@code $($code)?);
            if got != want {
                wrong.push(format!("{} gives {got:?}, not {want:?}", stringify!($call)));
            }
        )*
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }};
}
pub(crate) use calls;

/// Makes a call that succeeds, and returns what it writes to its first argument.
macro_rules! made {
    ($call:ident($($argument:expr),* $(,)?)) => {{
        let mut made = Default::default();
        $crate::common::calls! { cudarc::driver::sys::$call(&mut made, $($argument),*) }
        made
    }};
}
pub(crate) use made;

#[track_caller]
pub(crate) fn ok(code: CUresult) {
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// A context of a test's own, current on its thread, so that its errors break no other test.
pub(crate) struct OwnContext(pub(crate) sys::CUcontext);

impl OwnContext {
    pub(crate) fn new() -> Self {
        silence();
        calls! { sys::cuInit(0) }
        Self(made!(cuCtxCreate_v2(0, 0)))
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        // SAFETY: a context that a test has destroyed already is refused, not used.
        unsafe { sys::cuCtxDestroy_v2(self.0) };
    }
}

/// Loads the test kernels into the current context.
pub(crate) fn module() -> sys::CUmodule {
    load_ptx(KERNELS)
}

pub(crate) fn load_ptx(text: &str) -> sys::CUmodule {
    let text = CString::new(text).expect("PTX has no NUL");
    made!(cuModuleLoadData(text.as_ptr().cast()))
}

pub(crate) fn function(module: sys::CUmodule, name: &str) -> sys::CUfunction {
    let name = CString::new(name).expect("a name has no NUL");
    made!(cuModuleGetFunction(module, name.as_ptr()))
}

pub(crate) fn stream(flags: u32) -> sys::CUstream {
    made!(cuStreamCreate(flags))
}

pub(crate) fn event() -> sys::CUevent {
    made!(cuEventCreate(0))
}

pub(crate) fn alloc(bytes: usize) -> u64 {
    made!(cuMemAlloc_v2(bytes))
}

/// Launches on the null stream, in one dimension.
pub(crate) fn launch(function: sys::CUfunction, grid: u32, block: u32, arguments: &[u64]) -> CUresult {
    launch_on(std::ptr::null_mut(), function, [grid, 1, 1], [block, 1, 1], 0, arguments)
}

pub(crate) fn launch_on(
    stream: sys::CUstream, function: sys::CUfunction, grid: [u32; 3], block: [u32; 3], shared_bytes: u32,
    arguments: &[u64],
) -> CUresult {
    let mut pointers: Vec<_> = arguments.iter().map(|a| std::ptr::from_ref(a).cast_mut().cast()).collect();
    // SAFETY: each argument has 8 bytes, as much as any parameter of the test kernels.
    unsafe { launch_kernel(function, grid, block, shared_bytes, stream, pointers.as_mut_ptr(), NONE) }
}

/// Launches a test kernel in one block, and returns the code of the wait for its end.
#[track_caller]
pub(crate) fn run(kernel: &str, threads: u32, arguments: &[u64]) -> CUresult {
    ok(launch(function(module(), kernel), 1, threads, arguments));
    synchronize()
}

/// Absent arguments of a launch.
pub(crate) const NONE: *mut *mut c_void = std::ptr::null_mut();

/// Calls `cuLaunchKernel` with the dimensions in arrays.
///
/// # Safety
/// The requirements are those of the call.
pub(crate) unsafe fn launch_kernel(
    function: sys::CUfunction, [gx, gy, gz]: [u32; 3], [bx, by, bz]: [u32; 3], shared: u32, stream: sys::CUstream,
    pointers: *mut *mut c_void, extra: *mut *mut c_void,
) -> CUresult {
    // SAFETY: the caller's promise.
    unsafe { sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, pointers, extra) }
}

/// Returns the list that passes all arguments of a launch in one buffer.
pub(crate) fn in_one_buffer(buffer: &[u8], size: &mut usize) -> [*mut c_void; 5] {
    let key = std::ptr::without_provenance_mut;
    [key(1), buffer.as_ptr().cast_mut().cast(), key(2), std::ptr::from_mut(size).cast(), key(0)]
}

/// Calls `cuLibraryLoadData` without options.
///
/// # Safety
/// `image` is an image of a module.
pub(crate) unsafe fn load_library(library: &mut sys::CUlibrary, image: *const c_void) -> CUresult {
    use std::ptr::null_mut;
    // SAFETY: a place for the result, the caller's image, and no options.
    unsafe { sys::cuLibraryLoadData(library, image, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) }
}

pub(crate) fn synchronize() -> CUresult {
    // SAFETY: no arguments.
    unsafe { sys::cuCtxSynchronize() }
}

pub(crate) fn words(address: u64, n: usize) -> Vec<u32> {
    let mut host = vec![0u32; n];
    // SAFETY: the host memory has that size.
    unsafe { ok(sys::cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, n * 4)) };
    host
}

/// Copies rows of `bytes` bytes from the device to the host, where they lie close together.
pub(crate) fn rows_to_host(from: u64, pitch: usize, to: *mut c_void, bytes: usize, rows: usize) -> sys::CUDA_MEMCPY2D {
    sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: from,
        srcArray: std::ptr::null_mut(),
        srcPitch: pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to,
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: bytes,
        WidthInBytes: bytes,
        Height: rows,
    }
}

/// The error log of a call that loads or links, and the options that request it.
pub(crate) struct ErrorLog {
    text: Vec<u8>,
    pub(crate) options: [CUjit_option; 2],
    pub(crate) values: [*mut c_void; 2],
}

impl ErrorLog {
    pub(crate) fn new() -> Self {
        let mut text = vec![0; 4096];
        Self {
            options: [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
            values: [text.as_mut_ptr().cast(), std::ptr::without_provenance_mut(text.len())],
            text,
        }
    }

    pub(crate) fn text(&self) -> String {
        let end = self.text.iter().position(|byte| *byte == 0).expect("a NUL");
        String::from_utf8_lossy(&self.text[..end]).into_owned()
    }
}

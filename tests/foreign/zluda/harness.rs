//! Runs ZLUDA's PTX tests on the CUDA driver that the loader finds: each kernel with its input, compared with the
//! output that ZLUDA expects. `../run` puts ZLUDA's own table of tests behind this file.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Debug;
use std::path::Path;

#[link(name = "cuda")]
unsafe extern "C" {
    fn cuInit(flags: u32) -> u32;
    fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32;
    fn cuCtxCreate_v2(context: *mut *mut c_void, flags: u32, device: i32) -> u32;
    fn cuCtxDestroy_v2(context: *mut c_void) -> u32;
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void, image: *const c_void, n: u32, options: *const u32, values: *mut *mut c_void,
    ) -> u32;
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> u32;
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32;
    fn cuMemsetD8_v2(address: u64, value: u8, n: usize) -> u32;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, n: usize) -> u32;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, n: usize) -> u32;
    fn cuCtxSynchronize() -> u32;
    fn cuLaunchKernel(
        function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, dynamic: u32, stream: *mut c_void,
        arguments: *mut *mut c_void, extra: *mut *mut c_void,
    ) -> u32;
}

fn ok(what: &str, code: u32) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: a place for a string that is never freed.
    let name = unsafe {
        cuGetErrorName(code, &mut name);
        if name.is_null() { c"?" } else { CStr::from_ptr(name) }
    };
    Err(format!("{what}: {}", name.to_string_lossy()))
}

/// The outcome of one kernel in a context of its own.
fn run<I: Copy, O: Copy + Debug + PartialEq>(
    folder: &Path, name: &str, input: Option<&[I]>, expected: &[O], threads: u32,
) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.ptx"))).map_err(|e| e.to_string())?;
    let mut context = std::ptr::null_mut();
    // SAFETY: a place for the result.
    ok("cuCtxCreate", unsafe { cuCtxCreate_v2(&mut context, 0, 0) })?;
    let outcome = in_context(&text, name, input, expected, threads);
    // SAFETY: made above.
    unsafe { cuCtxDestroy_v2(context) };
    outcome
}

fn in_context<I: Copy, O: Copy + Debug + PartialEq>(
    text: &str, name: &str, input: Option<&[I]>, expected: &[O], threads: u32,
) -> Result<(), String> {
    let text = CString::new(text).map_err(|e| e.to_string())?;
    let name = CString::new(name).map_err(|e| e.to_string())?;
    let bytes = size_of_val(expected);
    let mut log = vec![0u8; 8192];
    // CU_JIT_ERROR_LOG_BUFFER and its size.
    let options = [5u32, 6];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let (mut module, mut kernel, mut from, mut to) = (std::ptr::null_mut(), std::ptr::null_mut(), 0u64, 0u64);
    let mut result = expected.to_vec();
    // SAFETY: places for results, strings that end with NUL, and sizes of what is passed.
    unsafe {
        let code = cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_ptr(), values.as_mut_ptr());
        ok("cuModuleLoadDataEx", code).map_err(|error| {
            let end = log.iter().position(|b| *b == 0).unwrap_or(0);
            format!("{error}\n{}", String::from_utf8_lossy(&log[..end]))
        })?;
        ok("cuModuleGetFunction", cuModuleGetFunction(&mut kernel, module, name.as_ptr()))?;
        ok("cuMemAlloc", cuMemAlloc_v2(&mut to, bytes))?;
        ok("cuMemsetD8", cuMemsetD8_v2(to, 0, bytes))?;
        if let Some(input) = input {
            ok("cuMemAlloc", cuMemAlloc_v2(&mut from, size_of_val(input)))?;
            ok("cuMemcpyHtoD", cuMemcpyHtoD_v2(from, input.as_ptr().cast(), size_of_val(input)))?;
        } else {
            from = to;
        }
        let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast()];
        let null = std::ptr::null_mut();
        let code = cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 1024, null, arguments.as_mut_ptr(), null.cast());
        ok("cuLaunchKernel", code)?;
        ok("cuMemcpyDtoH", cuMemcpyDtoH_v2(result.as_mut_ptr().cast(), to, bytes))?;
        ok("cuCtxSynchronize", cuCtxSynchronize())?;
    }
    if result == expected { Ok(()) } else { Err(format!("{result:?} instead of {expected:?}")) }
}

/// ZLUDA's macros, by their names: the table below calls them.
macro_rules! test_ptx {
    ($name:ident, $input:expr, $output:expr) => {
        one(stringify!($name), |folder| run(folder, stringify!($name), Some(&$input), &$output, 1));
    };
    // Compared with LLVM's text only, which is nobody else's business.
    ($name:ident) => {};
}
macro_rules! test_ptx_with_32 {
    ($($all:tt)*) => { test_ptx!($($all)*) };
}
macro_rules! test_ptx_warp {
    ($name:ident, $output:expr) => {
        one(stringify!($name), |folder| run(folder, stringify!($name), None::<&[u8]>, &$output, 64));
    };
}

fn one(name: &str, test: impl FnOnce(&Path) -> Result<(), String>) {
    let folder = std::env::args().nth(1).unwrap_or_default();
    match test(Path::new(&folder)) {
        Ok(()) => println!("{name}\tpassed\t"),
        Err(why) => println!("{name}\tfailed\t{}", why.trim().replace('\n', " ")),
    }
}

fn main() {
    // SAFETY: no promises.
    assert_eq!(unsafe { cuInit(0) }, 0);
    tests();
}

//! Loads modules that are damaged, or that ask for far too much, until the time is up.
//!
//! `cargo run -p tests --example fuzz_load -- --seconds 3600 [--seed SEED]`
//!
//! Each one goes through `cuModuleLoadData` on a device with 64 MiB, in a process whose address space is limited, and
//! must load or end in an error within some seconds of processor time. What loads is launched once.

#[path = "fuzz/driver.rs"]
mod driver;
#[path = "fuzz/mod.rs"]
mod fuzz;

use std::ffi::CString;
use std::process::ExitCode;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult::*};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use tests::{hostile, torture};

/// Processor time that one module may take.
const MAX_SECONDS: f64 = 60.0;
/// Address space of the process.
const MAX_BYTES: u64 = 6 << 30;

fn main() -> ExitCode {
    let variables = [("TILE_MEMORY", "64"), ("TILE_BUDGET", "3000000"), ("TILE_DIAGNOSIS", "0")];
    let mut begun = false;
    fuzz::main(&variables, move |seed| {
        if !std::mem::replace(&mut begun, true) {
            begin()?;
        }
        one(seed)
    })
}

fn begin() -> Result<(), String> {
    let _ = driver::load()?;
    let limit = libc::rlimit { rlim_cur: MAX_BYTES, rlim_max: MAX_BYTES };
    let mut context = null_mut();
    // SAFETY: valid places for what is read and written.
    unsafe {
        libc::setrlimit(libc::RLIMIT_AS, &limit);
        if sys::cuInit(0) != CUDA_SUCCESS || sys::cuCtxCreate_v2(&mut context, 0, 0) != CUDA_SUCCESS {
            return Err("no context".to_owned());
        }
    }
    Ok(())
}

fn one(seed: u64) -> Result<String, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    if rng.random_ratio(1, 4) {
        return load("cubin", &hostile::cubin(seed));
    }
    let (kind, text) = match rng.random_range(0..4u32) {
        0 => ("damaged".to_owned(), torture::damaged(seed)),
        1 => ("damaged".to_owned(), hostile::damaged_file(seed)),
        _ => hostile::module(seed),
    };
    // Text ends at the first NUL, whatever comes behind.
    let text = text.replace('\0', " ");
    let image = CString::new(text).map_err(|error| error.to_string())?;
    load(&kind, image.as_bytes_with_nul())
}

/// Loads an image, which ends with NUL or says how long it is, and launches what it holds.
fn load(kind: &str, image: &[u8]) -> Result<String, String> {
    let start = fuzz::cpu_seconds();
    let mut module = null_mut();
    // SAFETY: a place for the result, and an image whose end can be found.
    let code = unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) };
    let spent = fuzz::cpu_seconds() - start;
    if spent > MAX_SECONDS {
        return Err(format!("{kind}: {code:?} after {spent:.1} s of processor time"));
    }
    match code {
        CUDA_SUCCESS => {
            launch(module)?;
            // SAFETY: it was loaded.
            if unsafe { sys::cuModuleUnload(module) } != CUDA_SUCCESS {
                renew()?;
            }
            Ok(format!("{kind}:loaded"))
        }
        CUDA_ERROR_INVALID_PTX
        | CUDA_ERROR_OUT_OF_MEMORY
        | CUDA_ERROR_INVALID_IMAGE
        | CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUDA_ERROR_UNSUPPORTED_PTX_VERSION => Ok(format!("{kind}:{code:?}")),
        other => Err(format!("{kind}: {other:?}")),
    }
}

fn launch(module: sys::CUmodule) -> Result<(), String> {
    let mut function = null_mut();
    let mut numbers = [0u64; 64];
    let mut pointers = numbers.each_mut().map(|number| std::ptr::from_mut(number).cast());
    // SAFETY: valid places; a kernel with more parameters than there are pointers, or larger ones, is left out.
    unsafe {
        if sys::cuModuleEnumerateFunctions(&mut function, 1, module) != CUDA_SUCCESS || function.is_null() {
            return Ok(());
        }
        let (mut offset, mut size) = (0, 0);
        let unknown = sys::cuFuncGetParamInfo(function, 64, &mut offset, &mut size);
        if unknown == CUDA_SUCCESS {
            return Ok(());
        }
        for i in 0..64 {
            if sys::cuFuncGetParamInfo(function, i, &mut offset, &mut size) == CUDA_SUCCESS && size > 8 {
                return Ok(());
            }
        }
        let null = null_mut();
        let launched = sys::cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, null, pointers.as_mut_ptr(), null_mut());
        let ended = sys::cuCtxSynchronize();
        if launched == CUDA_ERROR_UNKNOWN || ended == CUDA_ERROR_UNKNOWN {
            return Err("the launch ended in an unknown error".to_owned());
        }
        if ended != CUDA_SUCCESS {
            renew()?;
        }
    }
    Ok(())
}

fn renew() -> Result<(), String> {
    let mut context = null_mut();
    // SAFETY: valid places for results.
    unsafe {
        sys::cuCtxPopCurrent_v2(&mut context);
        sys::cuCtxDestroy_v2(context);
        if sys::cuCtxCreate_v2(&mut context, 0, 0) != CUDA_SUCCESS {
            return Err("no context any more".to_owned());
        }
    }
    Ok(())
}

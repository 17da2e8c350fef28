//! Launches the kernels of `tests::accesses` on whatever device is there, each once; with arguments, those whose names
//! start with one of them.
//!
//! ```text
//! cargo run -p tests --example accesses_on_device -- [PREFIX…] [--ptx FILE]
//! ```
//!
//! Under Nsight Compute this gives the counters that `tests/data/accesses.csv` holds; the head of that file says how. `--ptx`
//! writes the PTX instead of launching.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use cudarc::driver::{CudaContext, DevicePtrMut, sys};
use tests::accesses::{BLOCK, BYTES, Kernel, kernels, module};

fn main() -> Result<(), Box<dyn Error>> {
    let mut prefixes: Vec<String> = std::env::args().skip(1).collect();
    let path = match prefixes.iter().position(|word| word == "--ptx") {
        Some(at) if at + 1 < prefixes.len() => prefixes.drain(at..at + 2).nth(1),
        Some(_) => return Err("--ptx needs the name of a file".into()),
        None => None,
    };
    let asked = |kernel: &Kernel| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| kernel.name.starts_with(prefix))
    };
    let kernels: Vec<Kernel> = kernels().into_iter().filter(asked).collect();
    let text = module(&kernels);
    if let Some(path) = path {
        std::fs::write(path, text)?;
        return Ok(());
    }

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let text = CString::new(text)?;
    let mut loaded = null_mut();
    // SAFETY: the text ends in a zero.
    unsafe { sys::cuModuleLoadData(&mut loaded, text.as_ptr().cast()).result()? };
    let mut buffer = stream.alloc_zeros::<u8>(BYTES)?;
    for kernel in &kernels {
        stream.memset_zeros(&mut buffer)?;
        let (mut address, _writes) = buffer.device_ptr_mut(&stream);
        let name = CString::new(kernel.name.as_str())?;
        let mut arguments: [*mut c_void; 1] = [(&raw mut address).cast()];
        let mut function = null_mut();
        let (queue, arguments) = (stream.cu_stream(), arguments.as_mut_ptr());
        // SAFETY: the kernel takes one pointer and stays inside a buffer of this size.
        unsafe {
            sys::cuModuleGetFunction(&mut function, loaded, name.as_ptr()).result()?;
            sys::cuLaunchKernel(function, 1, 1, 1, BLOCK, 1, 1, 0, queue, arguments, null_mut()).result()?;
            sys::cuStreamSynchronize(queue).result().map_err(|error| format!("{}: {error}", kernel.name))?;
        }
    }
    eprintln!("{} kernels ran on {}", kernels.len(), context.name()?);
    Ok(())
}

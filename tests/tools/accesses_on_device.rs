//! Launches the kernels of `tests::accesses` on whatever device is there, each once; with arguments, those whose names
//! start with one of them.
//!
//! `cargo run -p tests --example accesses_on_device -- [PREFIX…] [--ptx FILE]`
//!
//! Under Nsight Compute this gives the counters that `tests/data/accesses.csv` holds; the head of that file says how.
//! `--ptx` writes the PTX instead of launching.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg as _};
use tests::accesses::{BLOCK, BYTES, Kernel, kernels, module};

fn main() -> Result<(), Box<dyn Error>> {
    let mut prefixes: Vec<String> = std::env::args().skip(1).collect();
    let path = match prefixes.iter().position(|word| word == "--ptx") {
        Some(at) if at + 1 < prefixes.len() => prefixes.drain(at..at + 2).nth(1),
        Some(_) => return Err("--ptx needs the name of a file".into()),
        None => None,
    };
    let asked = |kernel: &Kernel| prefixes.is_empty() || prefixes.iter().any(|prefix| kernel.name.starts_with(prefix));
    let kernels: Vec<Kernel> = kernels().into_iter().filter(asked).collect();
    let text = module(&kernels);
    if let Some(path) = path {
        std::fs::write(path, text)?;
        return Ok(());
    }

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let loaded = context.load_module(text.into())?;
    let mut buffer = stream.alloc_zeros::<u8>(BYTES)?;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    for kernel in &kernels {
        stream.memset_zeros(&mut buffer)?;
        let function = loaded.load_function(&kernel.name)?;
        let mut launch = stream.launch_builder(&function);
        launch.arg(&mut buffer);
        // SAFETY: the kernel takes one pointer and stays inside a buffer of this size.
        unsafe { launch.launch(config) }?;
        stream.synchronize().map_err(|error| format!("{}: {error}", kernel.name))?;
    }
    eprintln!("{} kernels ran on {}", kernels.len(), context.name()?);
    Ok(())
}

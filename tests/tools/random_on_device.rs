//! Runs random kernels on whatever device is there and writes what they answered.
//!
//! `cargo run --release -p tests --example random_on_device -- 1200 tests/data/random/h200.txt`
//!
//! On a real GPU this makes the file that the emulated one must reproduce: one line per seed, with the hash of the
//! kernel's text and the hash of its output. A second file name takes the whole output, for finding differences.
//!
//! The driver's assembler is asked not to optimise: with optimisation, the one of CUDA 13.0 gave other results for
//! 16 of 1200 kernels (it takes liberties with NaNs, with signs of zero and with predicated instructions).

use std::error::Error;
use std::ffi::{CString, c_void};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ptr::null_mut;

use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, sys};
use tests::random_kernel::{BLOCK, GRID, OUTPUT_WORDS, input, line, tame};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().ok_or("usage: random_on_device SEEDS HASHES [OUTPUTS]")?.parse()?;
    let mut hashes = BufWriter::new(File::create(arguments.next().ok_or("where should the hashes go?")?)?);
    let mut outputs = arguments.next().map(File::create).transpose()?.map(BufWriter::new);

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    writeln!(hashes, "# {}, written by `random_on_device {seeds}`", context.name()?)?;
    for seed in 0..seeds {
        let text = tame(seed);
        let words = stream.clone_htod(&input(seed))?;
        let mut out = stream.alloc_zeros::<u32>(OUTPUT_WORDS)?;
        {
            let (source, _reads) = words.device_ptr(&stream);
            let (target, _writes) = out.device_ptr_mut(&stream);
            run(&text, [source, target], stream.cu_stream()).map_err(|error| format!("seed {seed}: {error}"))?;
        }
        let out = stream.clone_dtoh(&out)?;
        writeln!(hashes, "{}", line(seed, &text, &out))?;
        if let Some(outputs) = &mut outputs {
            outputs.write_all(&out.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
        }
    }
    hashes.flush()?;
    eprintln!("{seeds} kernels ran on {}", context.name()?);
    Ok(())
}

/// Loads a kernel without optimisation, runs it and unloads it.
fn run(text: &str, mut pointers: [u64; 2], stream: sys::CUstream) -> Result<(), Box<dyn Error>> {
    let text = CString::new(text)?;
    let mut option = sys::CUjit_option::CU_JIT_OPTIMIZATION_LEVEL;
    let mut level: *mut c_void = null_mut();
    let (mut module, mut kernel) = (null_mut(), null_mut());
    let [source, target] = &mut pointers;
    let mut arguments: [*mut c_void; 2] = [(source as *mut u64).cast(), (target as *mut u64).cast()];
    // SAFETY: the text ends in a zero, the option list has one entry (level 0, as a pointer-sized number), and the
    // kernel takes two pointers and stays inside buffers of these sizes.
    unsafe {
        sys::cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 1, &mut option, &mut level).result()?;
        sys::cuModuleGetFunction(&mut kernel, module, c"random".as_ptr()).result()?;
        sys::cuLaunchKernel(kernel, GRID, 1, 1, BLOCK, 1, 1, 0, stream, arguments.as_mut_ptr(), null_mut()).result()?;
        sys::cuStreamSynchronize(stream).result()?;
        sys::cuModuleUnload(module).result()?;
    }
    Ok(())
}

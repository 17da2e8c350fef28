//! Runs random kernels on whatever device is there and writes what they answered.
//!
//! ```text
//! cargo run --release -p tests --example random_on_device -- 400 tests/data/random/expected.txt
//! ```
//!
//! On a real GPU this makes the file that the emulated one must reproduce: one line per seed, with the hash of the
//! kernel's text and the hash of its output. A second file name takes the whole output, for finding differences.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use tests::random_kernel::{BLOCK, GRID, OUTPUT_WORDS, input, line, tame};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments
        .next()
        .ok_or("usage: random_on_device SEEDS HASHES [OUTPUTS]")?
        .parse()?;
    let mut hashes = BufWriter::new(File::create(
        arguments.next().ok_or("where should the hashes go?")?,
    )?);
    let mut outputs = arguments
        .next()
        .map(File::create)
        .transpose()?
        .map(BufWriter::new);

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    writeln!(
        hashes,
        "# {}, written by `random_on_device {seeds}`",
        context.name()?
    )?;
    for seed in 0..seeds {
        let text = tame(seed);
        let kernel = context
            .load_module(Ptx::from_src(&text))?
            .load_function("random")?;
        let words = stream.clone_htod(&input(seed))?;
        let mut out = stream.alloc_zeros::<u32>(OUTPUT_WORDS)?;
        let config = LaunchConfig {
            grid_dim: (GRID, 1, 1),
            block_dim: (BLOCK, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the kernel takes two pointers and stays inside buffers of these sizes.
        unsafe {
            stream
                .launch_builder(&kernel)
                .arg(&words)
                .arg(&mut out)
                .launch(config)
        }?;
        let out = stream.clone_dtoh(&out)?;
        writeln!(hashes, "{}", line(seed, &text, &out))?;
        if let Some(outputs) = &mut outputs {
            outputs.write_all(
                &out.iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect::<Vec<u8>>(),
            )?;
        }
    }
    hashes.flush()?;
    eprintln!("{seeds} kernels ran on {}", context.name()?);
    Ok(())
}

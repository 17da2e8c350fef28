//! Runs random kernels until the time is up, and stops at the first one that the machine does not survive.
//!
//! `cargo run -p tests --example fuzz_exec -- --seconds 3600 [--from SEED]`
//!
//! A tame kernel must run clean and give the same results and counts however it is run: watched or not, on one
//! thread or two, with each kind of vector instruction. A wild one, and a text with random damage, must end in an
//! answer or in findings, the same ones on any number of threads. Kernels whose blocks meet on few words of memory must
//! leave the same there, unless a race is reported. `tests::torture` holds the rules; what they catch
//! is printed with the seed that brings it back.

use std::error::Error;
use std::time::{Duration, Instant};

use tests::torture;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut seconds, mut seed) = (60, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{option} wants a number"))?.parse()?;
        match option.as_str() {
            "--seconds" => seconds = value,
            "--from" => seed = value,
            _ => return Err(format!("unknown option {option}; known are --seconds and --from").into()),
        }
    }
    let (first, start) = (seed, Instant::now());
    let mut tally = torture::Tally::default();
    while start.elapsed() < Duration::from_secs(seconds) {
        tally += torture::all(seed).map_err(|what| format!("seed {seed}: {what}"))?;
        seed += 1;
    }
    eprintln!("seeds {first}..{seed} in {} s: {tally}", start.elapsed().as_secs());
    Ok(())
}

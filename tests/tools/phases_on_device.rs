//! Takes the steps of `tests::phases` on whatever device is there and prints what they saw.
//!
//! `cargo run -p tests --example phases_on_device`
//!
//! One line per case, with the answer that the case holds where that differs. Each case runs in a process of its own,
//! because some of them take the context down. `--ptx INDEX` prints the kernel of a case.

#[path = "device/mod.rs"]
mod device;

use std::error::Error;
use std::ffi::c_void;
use std::io::Write;
use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys;
use tests::phases::{CASES, SEEN, UNSEEN, WRONG, memory, module, shown};

fn main() -> Result<(), Box<dyn Error>> {
    let all: Vec<(&str, &str, Option<String>)> = CASES
        .iter()
        .map(|(name, steps, words)| (*name, *steps, Some(shown(words))))
        .chain(WRONG.iter().map(|(name, steps, _)| (*name, *steps, None)))
        .collect();
    let mut out = std::io::stdout();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, index] = &arguments[..] {
        let (_, steps, _) = all.get(index.parse::<usize>()?).ok_or("no such case")?;
        match flag.as_str() {
            "--ptx" => out.write_all(module(steps).as_bytes())?,
            _ => writeln!(out, "{}", run(steps).unwrap_or_else(|why| why))?,
        }
        return Ok(());
    }
    let program = std::env::current_exe()?;
    for (index, (name, _, expected)) in all.iter().enumerate() {
        let output = Command::new(&program).args(["--case", &index.to_string()]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let answer = text.trim_end();
        match expected {
            Some(expected) if expected != answer => writeln!(out, "{name}: {answer} (not {expected})")?,
            _ => writeln!(out, "{name}: {answer}")?,
        }
    }
    Ok(())
}

fn run(steps: &str) -> Result<String, String> {
    device::open()?;
    let kernel = device::load(&module(steps), c"steps")?;
    let mut seen = [UNSEEN; SEEN];
    let (mut global, mut results) = (device::upload(&memory())?, device::upload(&seen)?);
    let mut arguments: [*mut c_void; 2] = [(&raw mut global).cast(), (&raw mut results).cast()];
    let (none, arguments) = (null_mut(), arguments.as_mut_ptr());
    // SAFETY: the kernel has these parameters, and buffers of these sizes.
    let launched = unsafe { sys::cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, none, arguments, null_mut()) };
    device::finish(launched, &mut [(&mut seen, results)], "stopped by:")?;
    Ok(shown(&seen))
}

//! Takes the steps of `tests::phases` on whatever device is there and prints what they saw.
//!
//! ```text
//! cargo run -p tests --example phases_on_device
//! ```
//!
//! One line per case, with the answer that the case holds where that differs. Each case runs in a process of its own,
//! because some of them take the context down. `--ptx INDEX` prints the kernel of a case.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::io::Write;
use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};
use tests::phases::{CASES, SEEN, UNSEEN, WORDS, WRONG, memory, module, shown};

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

fn check(code: CUresult, what: &str) -> Result<(), String> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        _ => Err(format!("{what}: {code:?}")),
    }
}

fn run(steps: &str) -> Result<String, String> {
    let text = CString::new(module(steps)).map_err(|error| error.to_string())?;
    let words = memory();
    let mut seen = [UNSEEN; SEEN];
    let (mut context, mut loaded, mut kernel) = (null_mut(), null_mut(), null_mut());
    let (mut global, mut results) = (0, 0);
    // SAFETY: plain calls of the driver's interface with pointers to locals; buffers are as large as the copies, and the
    // kernel has these parameters.
    unsafe {
        check(sys::cuInit(0), "cuInit")?;
        check(sys::cuDevicePrimaryCtxRetain(&mut context, 0), "context")?;
        check(sys::cuCtxSetCurrent(context), "context")?;
        check(sys::cuMemAlloc_v2(&mut global, 4 * WORDS), "cuMemAlloc")?;
        check(sys::cuMemAlloc_v2(&mut results, 4 * SEEN), "cuMemAlloc")?;
        check(sys::cuMemcpyHtoD_v2(global, words.as_ptr().cast(), 4 * WORDS), "copy")?;
        check(sys::cuMemcpyHtoD_v2(results, seen.as_ptr().cast(), 4 * SEEN), "copy")?;
        check(sys::cuModuleLoadData(&mut loaded, text.as_ptr().cast()), "loading")?;
        check(sys::cuModuleGetFunction(&mut kernel, loaded, c"steps".as_ptr()), "loading")?;
        let mut arguments: [*mut c_void; 2] = [(&raw mut global).cast(), (&raw mut results).cast()];
        let (none, arguments) = (null_mut(), arguments.as_mut_ptr());
        let launched = sys::cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, none, arguments, null_mut());
        check(launched, "launch")?;
        check(sys::cuCtxSynchronize(), "stopped by")?;
        check(sys::cuMemcpyDtoH_v2(seen.as_mut_ptr().cast(), results, 4 * SEEN), "copy")?;
    }
    Ok(shown(&seen))
}

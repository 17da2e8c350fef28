//! Copies boxes of tensors on whatever device is there and writes what it answered.
//!
//! `cargo run --release -p tests --example tensor_on_device -- h200.txt`
//!
//! One line per case. Each case runs in a process
//! of its own, because some of them take the context down. A second file name takes the whole answers: the name and the
//! words of each case, as hexadecimal numbers, for finding differences. `--ptx INDEX` prints the kernel of a case.

#[path = "device/mod.rs"]
mod device;

use std::error::Error;
use std::ffi::c_void;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys;
use tests::tensor::{Case, OUT_WORDS, SHARED_BYTES, THREADS, answer, cases, tensor_words};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [flag, index] if flag == "--case" => child(index.parse()?),
        [flag, index] if flag == "--ptx" => {
            let case = cases().into_iter().nth(index.parse()?).ok_or("no such case")?;
            std::io::stdout().write_all(case.module().as_bytes())?;
            Ok(())
        }
        [file] => parent(file, None),
        [file, whole] => parent(file, Some(whole)),
        _ => Err("usage: tensor_on_device ANSWERS [WORDS]".into()),
    }
}

fn parent(file: &str, whole: Option<&str>) -> Result<(), Box<dyn Error>> {
    let mut answers = BufWriter::new(File::create(file)?);
    let mut whole = whole.map(File::create).transpose()?.map(BufWriter::new);
    let program = std::env::current_exe()?;
    for (index, case) in cases().iter().enumerate() {
        // The child limits its own waits; what hangs in spite of that is ended by whoever started this.
        let output = Command::new(&program).args(["--case", &index.to_string()]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines();
        let line = lines.next().unwrap_or("no answer");
        writeln!(answers, "{}: {line}", case.name)?;
        answers.flush()?;
        if let Some(whole) = &mut whole {
            writeln!(whole, "{}", case.name)?;
            lines.try_for_each(|line| writeln!(whole, "{line}"))?;
        }
        if !output.status.success() {
            eprint!("{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(())
}

/// Prints the answer to one case and then the words behind it.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn child(index: usize) -> Result<(), Box<dyn Error>> {
    let case = cases().into_iter().nth(index).ok_or("no such case")?;
    match run(&case) {
        Ok((out, tensor)) => {
            println!("{}", answer(&out, &tensor));
            for words in [out, tensor] {
                let text: Vec<String> = words.iter().map(|word| format!("{word:x}")).collect();
                println!("{}", text.join(" "));
            }
        }
        Err(why) => println!("{why}"),
    }
    Ok(())
}

#[rustfmt::skip]
type Encode = unsafe extern "C" fn(
    *mut sys::CUtensorMap, u32, u32, u64, *const u64, *const u64, *const u32, *const u32, u32, u32, u32, u32,
) -> sys::CUresult;

fn map(case: &Case, address: u64) -> Result<Vec<u8>, String> {
    let mut encode: *mut c_void = null_mut();
    let mut found = sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS;
    let name = c"cuTensorMapEncodeTiled".as_ptr();
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (dims, strides) = (case.dims.as_ptr(), case.strides.as_ptr());
    let (box_dims, steps, rank) = (case.box_dims.as_ptr(), case.steps.as_ptr(), case.dims.len() as u32);
    let Case { kind, swizzle, fill, .. } = *case;
    // SAFETY: plain calls of the driver's interface with pointers to locals. The symbol has this type: its enums are
    // numbers.
    unsafe {
        let code = sys::cuGetProcAddress_v2(name, &mut encode, 12000, 0, &mut found);
        device::check(code, "cuGetProcAddress:")?;
        let encode = std::mem::transmute::<*mut c_void, Encode>(encode);
        let code = encode(&mut map, kind, rank, address, dims, strides, box_dims, steps, 0, swizzle, 0, fill);
        device::check(code, "cuTensorMapEncodeTiled:")?;
    }
    Ok(map.opaque.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn run(case: &Case) -> Result<(Vec<u32>, Vec<u32>), String> {
    let mut out = vec![0u32; OUT_WORDS];
    let mut tensor = tensor_words();
    device::open()?;
    let (memory, mut results) = (device::upload(&tensor)?, device::upload(&out)?);
    let mut parameter = case.parameter(&map(case, memory)?);
    let kernel = device::load(&case.module(), c"copy")?;
    let mut arguments: [*mut c_void; 2] = [parameter.as_mut_ptr().cast(), (&raw mut results).cast()];
    let (bytes, none, arguments) = (SHARED_BYTES as u32, null_mut(), arguments.as_mut_ptr());
    // SAFETY: the kernel has these parameters, and buffers of these sizes.
    let launched = unsafe { sys::cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, bytes, none, arguments, null_mut()) };
    device::finish(launched, &mut [(&mut out, results), (&mut tensor, memory)], "stopped by")?;
    Ok((out, tensor))
}

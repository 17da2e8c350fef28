//! Prints the machine code of a cubin: `cargo run -p sass --example dis FILE.cubin`.
//!
//! Per instruction its address, text and control bits, and the source line where it changes.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: dis FILE.cubin");
        return ExitCode::from(2);
    };
    let module = match std::fs::read(&path)
        .map_err(|error| error.to_string())
        .and_then(|cubin| sass::Module::read(&cubin).map_err(|error| error.to_string()))
    {
        Ok(module) => module,
        Err(error) => {
            eprintln!("error: {path}: {error}");
            return ExitCode::from(3);
        }
    };
    // A closed pipe is not an error.
    let _ = print(&module);
    ExitCode::SUCCESS
}

fn print(module: &sass::Module) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for kernel in &module.kernels {
        writeln!(
            out,
            "{}: sm_{}, {} registers, {} bytes of shared memory, {} of parameters",
            kernel.name, module.architecture, kernel.registers, kernel.shared_bytes, kernel.parameter_bytes
        )?;
        let mut last = None;
        for instruction in &kernel.instructions {
            let line = kernel.line(instruction.address);
            if line != last
                && let Some((file, line)) = line
            {
                writeln!(out, "  {file}:{line}")?;
            }
            last = line;
            writeln!(out, "    {:04x}  {:<60} {}", instruction.address, instruction.to_string(), instruction.control)?;
        }
    }
    Ok(())
}

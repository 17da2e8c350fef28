//! Counts the shared accesses in machine code for `tests/data/sass/shared_patterns.txt`, and writes the file again.
//!
//! `cargo run -p tests --example machine_code -- PTXAS NVDISASM`
//!
//! Both programs come with NVIDIA's CUDA toolkit, and in the Python packages `nvidia-cuda-nvcc` and `triton`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::machine_code::{HEADER, Widths, column, kernel, line, lines};

fn main() -> Result<(), Box<dyn Error>> {
    let programs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [ptxas, nvdisasm] = programs.as_slice() else { return Err("usage: machine_code PTXAS NVDISASM".into()) };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sass/shared_patterns.txt");
    let text = fs::read_to_string(&path)?;
    let patterns: Vec<&str> = lines(&text).map(|(_, pattern)| pattern).collect();
    let (ptxas_version, nvdisasm_version) = (version(ptxas)?, version(nvdisasm)?);
    let mut out = format!(
        "# Shared accesses in machine code, by width in bytes per lane: what merging is compared with.\n\
         # Made by tests/tools/machine_code.rs, with ptxas {ptxas_version} -arch=sm_90 and nvdisasm {nvdisasm_version}.\n\
         # loads of 4 bytes or fewer, of 8, of 16; stores likewise | the kernel, as tests/src/machine_code.rs completes it\n"
    );
    for (at, pattern) in patterns.iter().enumerate() {
        let widths = widths(ptxas, nvdisasm, pattern).map_err(|error| format!("line {}: {error}", at + 1))?;
        out.push_str(&line(&widths, pattern));
        out.push('\n');
    }
    fs::write(&path, out)?;
    Ok(())
}

/// `V13.0.88` of the last lines but one.
fn version(program: &Path) -> Result<String, Box<dyn Error>> {
    let text = run(Command::new(program).arg("--version"))?;
    let version = text.split_whitespace().find(|word| word.starts_with('V') && word.contains('.'));
    Ok(version.ok_or("a version was expected")?[1..].to_owned())
}

fn run(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn widths(ptxas: &Path, nvdisasm: &Path, pattern: &str) -> Result<Widths, Box<dyn Error>> {
    let folder = std::env::temp_dir();
    let file = |ending: &str| folder.join(format!("pattern-{}.{ending}", std::process::id()));
    let (source, object) = (file("ptx"), file("cubin"));
    fs::write(&source, format!("{HEADER}{}", kernel("k", pattern)))?;
    let assembled = run(Command::new(ptxas).arg("-arch=sm_90").arg(&source).arg("-o").arg(&object));
    let listed = assembled.and_then(|_| run(Command::new(nvdisasm).arg("-c").arg(&object)));
    let _ = fs::remove_file(source);
    let _ = fs::remove_file(object);
    let mut counts = Widths::default();
    for line in listed?.lines() {
        // `cp.async` comes with loads that are never done.
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("/*"));
        let Some(first) = words.next() else { continue };
        let (never, word) =
            if first.starts_with('@') { (first == "@!PT", words.next().unwrap_or_default()) } else { (false, first) };
        let mut parts = word.split('.');
        let store = match parts.next() {
            Some("LDS") => false,
            Some("STS") => true,
            _ => continue,
        };
        let bytes = match parts.next() {
            Some("128") => 16,
            Some("64") => 8,
            _ => 4,
        };
        if !never {
            counts[column(store, bytes)] += 1;
        }
    }
    Ok(counts)
}

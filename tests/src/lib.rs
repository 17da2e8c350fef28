//! Behaviour across crates lives in `tests/it`; this library holds what those tests share.

#![forbid(unsafe_code)]

pub mod accesses;
pub mod asynchronous;
pub mod clusters;
pub mod conformance;
pub mod fixture;
pub mod gemm;
pub mod gpu;
pub mod hostile;
pub mod machine_code;
pub mod phases;
pub mod random_atomics;
pub mod random_kernel;
pub mod recorded;
pub mod steps;
pub mod tensor;
pub mod tensor_cores;
pub mod torture;
pub mod wgmma;

use std::path::{Path, PathBuf};

/// Returns the lines of text for 0 to `n` - 1.
fn each(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// Returns registers in braces: `{%r0, %r1}`.
fn list(registers: std::ops::Range<usize>, letter: impl std::fmt::Display) -> String {
    let names: Vec<String> = registers.map(|i| format!("%{letter}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// The answer of a kernel, or where that is not defined, how the emulator's answer starts.
pub type Answer = Result<&'static str, &'static str>;

/// Content of a word of a kernel's result before the kernel writes it.
pub const UNSEEN: u32 = 0xFFFF_FFFF;

/// Returns the cases of a text: two lines, and one with the answer, each.
fn cases(text: &'static str) -> impl Iterator<Item = ([&'static str; 2], Answer)> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || {
        let first = lines.next()?;
        let [second, answer] = [(); 2].map(|()| lines.next().expect("a case has three lines"));
        Some(([first, second], answer.strip_prefix("? ").map_or(Ok(answer), Err)))
    })
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository")
}

/// Returns the files under a folder whose names have this ending.
pub fn files_under(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = catalog::files::files_under(folder).expect("a folder");
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files
}

/// Reads a file by its path from the root of the repository.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

//! Committed PTX: its provenance, which is the hashes of the sources that it was made from, and one kernel of it.
//!
//! `cargo xtask ptx` writes it as `// key: value` lines; this module compares it with the source, without a compiler.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use sha256::{Sha256, sha256};

/// A reason why PTX does not belong to the sources of the checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stale {
    /// This file, the source or one that it includes, is not what was compiled.
    Edited(String),
    /// This file no longer exists.
    Gone(String),
    /// A line of the header names a file without its hash.
    NoHash,
    /// The header names no source.
    NoSource,
}

/// Returns whether a source is a kernel in Rust.
pub fn is_rust(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "rs")
}

/// Returns the path of a source's PTX: `kernels/ptx/NAME.ptx` for a file under `kernels`, `ptx/NAME.ptx` beside one in
/// Rust, else `NAME.ptx` beside it.
pub fn target_of(root: &Path, source: &Path) -> PathBuf {
    let kernels = root.join("kernels");
    // Names may have dots: `wide.starter.cu` becomes `wide.starter.ptx`.
    let mut name = source.file_stem().unwrap_or_default().to_owned();
    name.push(".ptx");
    if is_rust(source) {
        return source.with_file_name("ptx").join(name);
    }
    if source.starts_with(&kernels) { kernels.join("ptx").join(name) } else { source.with_file_name(name) }
}

/// Returns the path of a source's machine code, if it is committed: `kernels/cubin/NAME.cubin` for a file in `kernels`,
/// `kernels/rust/cubin/NAME.cubin` for one in Rust.
pub fn cubin_of(root: &Path, source: &Path) -> Option<PathBuf> {
    let kernels = root.join("kernels");
    let source = source.strip_prefix(&kernels).ok()?;
    let folder = if is_rust(source) { kernels.join("rust") } else { kernels };
    Some(folder.join("cubin").join(source.with_extension("cubin").file_name()?))
}

/// Returns the hash of the machine code that was made with this PTX, if there is any.
pub fn cubin_hash(ptx: &str) -> Option<&str> {
    let mut lines = header(ptx).filter(|(key, _)| *key == "cubin");
    Some(lines.next()?.1.split_once(" sha256:")?.1)
}

/// Returns the `// key: value` lines at the top.
pub fn header(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    ptx.lines().take_while(|line| line.starts_with("//")).filter_map(|line| line.strip_prefix("// ")?.split_once(": "))
}

/// Returns the number before `unit` in ptxas's report on a kernel: `// sm_90: NAME: 32 registers, 0 bytes smem`.
pub fn ptxas<'a>(ptx: &'a str, kernel: &str, device: &str, unit: &str) -> Option<&'a str> {
    header(ptx)
        .filter(|(key, _)| *key == device)
        .find_map(|(_, rest)| rest.strip_prefix(kernel)?.strip_prefix(": "))?
        .split(", ")
        .find_map(|part| part.strip_suffix(unit)?.strip_suffix(' '))
}

/// Returns PTX without its other kernels, which take time to load.
pub fn with_only(kernels: &[&str], ptx: &str) -> String {
    let mut kept = String::new();
    // Braces that are open in a kernel that is left out.
    let mut open: Option<usize> = None;
    for line in ptx.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        let begins = code.split_once(".entry ").and_then(|(_, rest)| rest.split('(').next());
        if begins.is_some_and(|name| !kernels.contains(&name)) {
            open = Some(0);
        }
        let Some(n) = &mut open else {
            kept.push_str(line);
            continue;
        };
        let n_closed = code.matches('}').count();
        *n = *n + code.matches('{').count() - n_closed;
        if n_closed > 0 && *n == 0 {
            open = None;
        }
    }
    kept
}

/// Compares the hashes of the header with the files of the checkout.
pub fn compare(root: &Path, ptx: &str) -> Result<(), Stale> {
    compare_with(ptx, |file| std::fs::read(root.join(file)).ok())
}

/// Compares the hashes of the header with files that `read` returns; `None` stands for a missing file.
pub fn compare_with(ptx: &str, read: impl Fn(&str) -> Option<Vec<u8>>) -> Result<(), Stale> {
    let mut n_hashes = 0;
    for (_, rest) in header(ptx).filter(|(key, _)| matches!(*key, "source" | "include")) {
        let (file, expected) = rest.split_once(" sha256:").ok_or(Stale::NoHash)?;
        let there = read(file).ok_or_else(|| Stale::Gone(file.to_owned()))?;
        if sha256(&there) != expected {
            return Err(Stale::Edited(file.to_owned()));
        }
        n_hashes += 1;
    }
    match n_hashes {
        0 => Err(Stale::NoSource),
        _ => Ok(()),
    }
}

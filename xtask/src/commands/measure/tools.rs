//! NVIDIA's tools on this machine, and what programs print of themselves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catalog::programs::{on_path, toolkits};

/// Finds a program on `PATH` or in a toolkit.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    let in_toolkit = || toolkits().map(|root| root.join("bin").join(name)).find(|path| path.is_file());
    on_path(name).or_else(in_toolkit)
}

/// Returns the version that `--version` prints, such as `2025.3.1.0`.
pub(crate) fn version(program: &Path) -> Option<String> {
    number(&output(program, &["--version"])?).map(str::to_owned)
}

/// Returns the version of NVIDIA's driver: `580.159.04`.
pub(crate) fn driver_version() -> Option<String> {
    query("--query-gpu=driver_version")
}

/// Returns the name of the first GPU: `NVIDIA H200`.
pub(crate) fn device_name() -> Option<String> {
    query("--query-gpu=name")
}

fn query(what: &str) -> Option<String> {
    let text = output(&tool("nvidia-smi")?, &[what, "--format=csv,noheader"])?;
    Some(text.lines().next()?.trim().to_owned())
}

pub(crate) fn output(program: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

pub(crate) fn first_line(program: &Path, word: &str) -> Option<String> {
    Some(output(program, &[word])?.lines().next()?.to_owned())
}

/// Returns the last word that looks like a version: `Version 2025.3.1.0 (build 1)` → `2025.3.1.0`.
fn number(text: &str) -> Option<&str> {
    text.split(|c: char| c.is_whitespace() || c == ',')
        .rfind(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_among_words() {
        let ncu = "NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA\n\
                   Version 2025.3.1.0 (build 36398880) (public-release)";
        assert_eq!(number(ncu), Some("2025.3.1.0"));
        assert_eq!(number("nothing here"), None);
    }
}

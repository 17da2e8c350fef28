//! Is the code that the book shows the code that was compiled, counted and measured?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use crate::{House, Problem};

/// How the listings were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum How {
    /// Compiled again.
    Compiled,
    /// By the hashes in the header of the PTX: why not compiled.
    Hashes(String),
}

/// Compares what the book shows with the PTX beside it.
pub(crate) fn check(house: &House, listings: &BTreeMap<PathBuf, (String, usize)>) -> (How, Vec<Problem>) {
    let mut problems = Vec::new();
    for (source, (file, line)) in listings {
        if let Err(what) = by_hash(house, source) {
            let name = house.shown(source);
            problems.push(Problem {
                file: file.clone(),
                line: *line,
                what: format!("shows {name}, but {what}; compile it with: cargo xtask ptx {name}"),
            });
        }
    }
    if !problems.is_empty() || listings.is_empty() {
        return (How::Hashes("no need to compile".into()), problems);
    }
    match compiled(house, listings) {
        Ok(None) => (How::Compiled, Vec::new()),
        Ok(Some(said)) => {
            problems.push(Problem {
                file: house.shown(&house.root().join("kernels/ptx")),
                line: 0,
                what: said,
            });
            (How::Compiled, problems)
        }
        Err(why) => (How::Hashes(why), Vec::new()),
    }
}

/// The hashes in the header of the PTX are those of the source, and of the files that it includes.
fn by_hash(house: &House, source: &Path) -> Result<(), String> {
    let ptx = ptx_of(house, source);
    let shown = house.shown(&ptx);
    let text = std::fs::read_to_string(&ptx).map_err(|_| format!("there is no {shown}"))?;
    let mut n_hashes = 0;
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let made_from = line
            .strip_prefix("// source: ")
            .or_else(|| line.strip_prefix("// include: "));
        let Some((file, expected)) = made_from.and_then(|rest| rest.split_once(" sha256:")) else {
            continue;
        };
        let there = std::fs::read(house.root().join(file)).map_err(|_| format!("{file} is gone"))?;
        if hash(&there) != expected {
            return Err(format!("{shown} was made from another {file}"));
        }
        n_hashes += 1;
    }
    match n_hashes {
        0 => Err(format!("{shown} does not say what it was made from")),
        _ => Ok(()),
    }
}

/// `kernels/ptx/NAME.ptx` for what is under `kernels`, else `NAME.ptx` beside it.
fn ptx_of(house: &House, source: &Path) -> PathBuf {
    let kernels = house.root().join("kernels");
    let name = Path::new(source.file_stem().unwrap_or_default()).with_extension("ptx");
    match source.starts_with(&kernels) {
        true => kernels.join("ptx").join(name),
        false => source.with_file_name(name),
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Compiles them with the tool that made them. `None`: they are what they should be.
fn compiled(house: &House, listings: &BTreeMap<PathBuf, (String, usize)>) -> Result<Option<String>, String> {
    const STALE: i32 = 1;
    let cargo = std::env::var_os("CARGO").ok_or("not started by Cargo")?;
    if !house.root().join("xtask/Cargo.toml").is_file() {
        return Err("there is no xtask here".into());
    }
    let out = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--", "ptx", "--check"])
        .args(listings.keys())
        .current_dir(house.root())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    match out.status.code() {
        Some(0) => Ok(None),
        Some(STALE) => Ok(Some(said)),
        _ => Err(said
            .lines()
            .last()
            .unwrap_or("no compiler")
            .trim_start_matches("error: ")
            .to_owned()),
    }
}

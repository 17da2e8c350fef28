//! Checks that the code in the book is the code that was compiled, counted and measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, bail};
use catalog::provenance::{self, Stale};

use crate::kernel_args::find_kernel;
use crate::quote::{Sources, quoted};
use crate::{Problem, RepoPaths};

/// Returns a number for `{{#n ptxas KERNEL sm_90 registers}}`: a resource from the header of a kernel's PTX.
pub(crate) fn number(repo: &RepoPaths, [kernel, device, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
    let (_, known) = find_kernel(kernel)?;
    let source = known.source.with_context(|| format!("{kernel} is not made from a source of ours"))?;
    let unit = match what {
        "registers" => "registers",
        "shared" => "bytes smem",
        "spilled" => "bytes spilled",
        _ => bail!("ptxas reports registers, shared and spilled, not `{what}`"),
    };
    let source_file = repo.root().join("kernels").join(source).with_extension("cu");
    let ptx = repo.read(&provenance::target_of(repo.root(), &source_file))?;
    let value = provenance::ptxas(&ptx, kernel, device, unit)
        .with_context(|| format!("the header of kernels/ptx/{source}.ptx has no {what} of {kernel} on {device}"))?;
    let compiler =
        provenance::header(&ptx).find_map(|(key, rest)| (key == "compiler").then_some(rest)).unwrap_or("ptxas");
    sources.insert(format!("{compiler} (headers of <code>kernels/ptx</code>)"));
    Ok(quoted(value, &format!("{what} of {kernel} on {device}, {compiler}")))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListingCheck {
    Compiled,
    /// By the hashes in the header of the PTX, with the reason for not compiling.
    Hashes(String),
}

/// Compares the sources that the book shows with the committed PTX.
pub(crate) fn check(repo: &RepoPaths, listings: &BTreeMap<PathBuf, (String, usize)>) -> (ListingCheck, Vec<Problem>) {
    let mut problems = Vec::new();
    for (source, (file, line)) in listings {
        if let Err(what) = by_hash(repo, source) {
            let name = repo.display_path(source);
            problems.push(Problem {
                file: file.clone(),
                line: *line,
                what: format!("shows {name}, but {what}; compile it with: cargo xtask ptx {name}"),
            });
        }
    }
    if !problems.is_empty() || listings.is_empty() {
        return (ListingCheck::Hashes("no need to compile".into()), problems);
    }
    match compiled(repo, listings) {
        Ok(None) => (ListingCheck::Compiled, Vec::new()),
        Ok(Some(message)) => {
            problems.push(Problem {
                file: repo.display_path(&repo.root().join("kernels/ptx")),
                line: 0,
                what: message,
            });
            (ListingCheck::Compiled, problems)
        }
        Err(why) => (ListingCheck::Hashes(format!("{why:#}")), Vec::new()),
    }
}

/// Compares the hashes in the header of the PTX with the source and the files that it includes.
fn by_hash(repo: &RepoPaths, source: &Path) -> Result<()> {
    let ptx = provenance::target_of(repo.root(), source);
    let shown = repo.display_path(&ptx);
    let text = std::fs::read_to_string(&ptx).map_err(|_| anyhow!("there is no {shown}"))?;
    provenance::compare(repo.root(), &text).map_err(|stale| match stale {
        Stale::Edited(file) => anyhow!("{shown} was made from another version of {file}"),
        Stale::Gone(file) => anyhow!("{file} is gone"),
        Stale::NoHash | Stale::NoSource => anyhow!("{shown} does not say what it was made from"),
    })
}

/// Compiles the sources with the tool that made the PTX; returns its message if the PTX is stale.
fn compiled(repo: &RepoPaths, listings: &BTreeMap<PathBuf, (String, usize)>) -> Result<Option<String>> {
    const STALE: i32 = 1;
    let cargo = std::env::var_os("CARGO").context("not started by Cargo")?;
    if !repo.root().join("xtask/Cargo.toml").is_file() {
        return Err(anyhow!("there is no xtask here"));
    }
    let out = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--", "ptx", "--check"])
        .args(listings.keys())
        .current_dir(repo.root())
        .stdin(Stdio::null())
        .output()?;
    let message = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    match out.status.code() {
        Some(0) => Ok(None),
        Some(STALE) => Ok(Some(message)),
        _ => bail!("{}", message.lines().last().unwrap_or("no compiler").trim_start_matches("error: ")),
    }
}

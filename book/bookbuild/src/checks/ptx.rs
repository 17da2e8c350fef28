//! Checks that the code in the book is the code that was compiled, counted and measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use catalog::CatalogKernel;
use catalog::provenance::{self, Stale};

use crate::kernel_args::find_kernel;
use crate::quote::{Sources, quoted};
use crate::{Problem, RepoPaths};

/// Returns the name of a kernel's source, without extension, and the committed PTX of that source.
pub(crate) fn of_kernel(repo: &RepoPaths, kernel: &CatalogKernel) -> Result<(&'static str, String)> {
    let source = kernel.source.with_context(|| format!("{} is not made from a source of ours", kernel.name))?;
    let file = repo.root().join("kernels").join(source).with_extension("cu");
    Ok((source, repo.read(&provenance::target_of(repo.root(), &file))?))
}

/// Returns a number for `{{#n ptxas KERNEL sm_90 registers}}`: a resource from the header of a kernel's PTX.
pub(crate) fn number(repo: &RepoPaths, [kernel, device, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
    let (_, known) = find_kernel(kernel)?;
    let (source, ptx) = of_kernel(repo, known)?;
    let unit = match what {
        "registers" => "registers",
        "shared" => "bytes smem",
        "spilled" => "bytes spilled",
        _ => bail!("ptxas reports registers, shared and spilled, not `{what}`"),
    };
    let value = provenance::ptxas(&ptx, kernel, device, unit)
        .with_context(|| format!("the header of kernels/ptx/{source}.ptx has no {what} of {kernel} on {device}"))?;
    let compiler =
        provenance::header(&ptx).find_map(|(key, rest)| (key == "compiler").then_some(rest)).unwrap_or("ptxas");
    sources.insert(format!("{compiler} (headers of <code>kernels/ptx</code>)"));
    Ok(quoted(value, &format!("{what} of {kernel} on {device}, {compiler}")))
}

/// Compares the sources that the book shows with what the committed PTX was made from; `cargo xtask ptx --check`
/// compiles them again.
pub(crate) fn check(repo: &RepoPaths, listings: &BTreeMap<PathBuf, (String, usize)>) -> Vec<Problem> {
    let stale = listings.iter().filter_map(|(source, (file, line))| {
        let what = by_hash(repo, source).err()?;
        let name = repo.display_path(source);
        let what = format!("shows {name}, but {what}; compile it with: cargo xtask ptx {name}");
        Some(Problem { file: file.clone(), line: *line, what })
    });
    stale.collect()
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

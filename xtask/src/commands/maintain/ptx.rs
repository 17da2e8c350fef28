//! `cargo xtask ptx`: CUDA sources → the PTX and the machine code that are committed for them.
//!
//! `kernels/**/NAME.cu` becomes `kernels/ptx/NAME.ptx` and `kernels/cubin/NAME.cubin`; one under `steps`, `tests/data`,
//! `book/exhibits` or `book/python` becomes `NAME.ptx` beside it, without machine code.
//! With `--rust`, `kernels/rust/NAME.rs` becomes `kernels/rust/ptx/NAME.ptx` by rustc.
//! Each begins with comments on what it was made from and how; `tests/it/ptx_fresh.rs` compares the
//! hashes, so a source that was changed and not compiled is noticed without a compiler.

use std::path::{Path, PathBuf};

use anyhow::Context;
use xtask_support::{CommandOutcome, committed::compile_all, output, paths::repository};

use crate::{commands::maintain::readme, rustc};

/// Folders in which sources are looked for.
const FOLDERS: [&str; 5] = ["kernels", "steps", "tests/data", "book/exhibits", "book/python"];
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
    /// Compile the kernels in Rust instead, with this rustc or one that is found
    #[arg(long, value_name = "RUSTC", num_args = 0..=1, require_equals = true, conflicts_with = "files")]
    rust: Option<Option<PathBuf>>,
    /// Sources; when left out, all under kernels/, steps/, tests/data/ and book/
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<CommandOutcome> {
    let root = repository();
    if let Some(rustc) = &args.rust {
        let (n_sources, n_changed) = rustc::compile_all(&root, rustc.as_deref(), args.check)?;
        output::print(&format!("{n_sources} sources, {n_changed} changed\n"))?;
        return Ok(if args.check && n_changed > 0 { CommandOutcome::Failed } else { CommandOutcome::Passed });
    }
    let mut sources = Vec::new();
    if args.files.is_empty() {
        for folder in FOLDERS {
            collect(&root.join(folder), &mut sources)?;
        }
    }
    for file in &args.files {
        sources.push(file.canonicalize().with_context(|| format!("no such file: {}", file.display()))?);
    }
    sources.sort();

    let stale = compile_all(&root, &sources, args.check)?;
    if args.check && stale > 0 {
        output::error(&format!(
            "{stale} of {} files are out of date; compile them again with: cargo xtask ptx",
            sources.len()
        ));
        return Ok(CommandOutcome::Failed);
    }
    output::print(&format!("{} sources, {stale} changed\n", sources.len()))?;
    match stale {
        0 => Ok(CommandOutcome::Passed),
        // READMEs quote ptxas's report on the kernels.
        _ => readme::fill_all(&root),
    }
}

/// Returns all `.cu` files under a folder, except those whose PTX is packed by `cargo xtask solutions` and `fixtures`.
pub(crate) fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let mut packed = tasks::fixtures::FOLDERS.iter().chain([&tasks::solutions::FOLDER]);
        if packed.any(|folder| path.ends_with(folder)) {
            continue;
        }
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "cu") {
            into.push(path);
        }
    }
    Ok(())
}

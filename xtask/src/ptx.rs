//! `cargo xtask ptx`: CUDA sources → the PTX that is committed for them.
//!
//! `kernels/**/NAME.cu` becomes `kernels/ptx/NAME.ptx`; one under `tests/data` or `book/exhibits`
//! becomes `NAME.ptx` beside it.
//! Each begins with comments that say what it was made from and how; `tests/it/ptx_fresh.rs` compares the
//! hashes, so a source that was changed and not compiled is noticed without a compiler.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use ladder::files::write_whole;
use ladder::provenance::{sha256, target_of};

use crate::Verdict;
use crate::nvrtc::Nvrtc;
use crate::{place, readme, say};

/// Where sources are.
const FOLDERS: [&str; 3] = ["kernels", "tests/data", "book/exhibits"];
/// What is compiled for, unless the source has a line `// arch: compute_80`.
const ARCHITECTURE: &str = "compute_75";
/// Devices whose register counts are noted in the header.
const DEVICES: [u32; 5] = [75, 80, 86, 89, 90];
/// Committed PTX is PTX ISA 8.4, so that every driver since CUDA 12.4 reads it.
pub(crate) const VERSION: (i32, i32) = (12, 4);

/// How often to compile before a difference counts.
const TRIES: u32 = 6;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
    /// Sources; none for all under kernels/, tests/data/ and book/exhibits/
    files: Vec<PathBuf>,
}

/// Compiles what was asked for.
pub(crate) fn run(args: &Args) -> anyhow::Result<Verdict> {
    let root = repository();
    let mut sources = Vec::new();
    if args.files.is_empty() {
        for folder in FOLDERS {
            collect(&root.join(folder), &mut sources)?;
        }
    }
    for file in &args.files {
        sources.push(
            file.canonicalize()
                .with_context(|| format!("no such file: {}", file.display()))?,
        );
    }
    sources.sort();

    let stale = compile_all(&root, &sources, args.check)?;
    if args.check && stale > 0 {
        say::error(&format!(
            "{stale} of {} files are not what their source gives; make them again with: cargo xtask ptx",
            sources.len()
        ));
        return Ok(Verdict::Failed);
    }
    say::answer(&format!("{} sources, {stale} changed\n", sources.len()))?;
    match stale {
        0 => Ok(Verdict::Passed),
        // It quotes what ptxas says of the kernels.
        _ => readme::fill_all(&root),
    }
}

/// Compiles sources, and says how many gave something else than what was there. With `check`, nothing is written.
pub(crate) fn compile_all(root: &Path, sources: &[PathBuf], check: bool) -> anyhow::Result<usize> {
    let nvrtc = Nvrtc::find()?;
    let mut stale = 0;
    for source in sources {
        let target = target_of(root, source);
        let old = std::fs::read_to_string(&target).unwrap_or_default();
        let mut ptx = compile(&nvrtc, root, source)?;
        // For some kernels NVRTC chooses between two orders by chance: what is committed may be the other one.
        for _ in 0..TRIES {
            if is_same(&old, &ptx) || !old.contains(provenance(&ptx)) {
                break;
            }
            ptx = compile(&nvrtc, root, source)?;
        }
        if is_same(&old, &ptx) {
            continue;
        }
        stale += 1;
        let name = target.strip_prefix(root).unwrap_or(&target).display();
        if check {
            say::note(&format!("stale: {name}"));
        } else {
            write_whole(&target, &ptx).with_context(|| format!("writing {name}"))?;
            say::note(&format!("wrote {name}"));
        }
    }
    Ok(stale)
}

/// The line with the hash of the source.
fn provenance(ptx: &str) -> &str {
    ptx.lines().nth(1).unwrap_or_default()
}

/// Apart from register counts, which ptxas does not give the same twice for every kernel.
fn is_same(old: &str, new: &str) -> bool {
    let stable = |line: &&str| !line.starts_with("// sm_");
    old.lines().filter(stable).eq(new.lines().filter(stable))
}

/// The folder of the workspace; where there is none, the current one.
pub(crate) fn repository() -> PathBuf {
    place::checkout().unwrap_or_else(|| PathBuf::from("."))
}

/// All `.cu` files under a folder.
pub(crate) fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "cu") {
            into.push(path);
        }
    }
    Ok(())
}

fn compile(nvrtc: &Nvrtc, root: &Path, path: &Path) -> anyhow::Result<String> {
    let source = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let name = path
        .strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned();
    let architecture = source
        .lines()
        .find_map(|l| l.strip_prefix("// arch: "))
        .unwrap_or(ARCHITECTURE)
        .trim();
    // What a source needs beyond the options that all have, as `--device-int128`.
    let extra: Vec<String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("// options: "))
        .flat_map(str::split_whitespace)
        .map(str::to_string)
        .collect();
    let mut shown = vec![
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".to_string(),
        "--generate-line-info".to_string(),
    ];
    shown.extend(extra.clone());
    let mut hidden: Vec<String> = include_folders(root, path)
        .iter()
        .map(|folder| format!("--include-path={}", folder.display()))
        .collect();
    hidden.extend(
        nvrtc
            .include
            .iter()
            .map(|i| format!("--include-path={}", i.display())),
    );

    let compiled = nvrtc.compile(&source, &name, &[shown.clone(), hidden.clone()].concat())?;
    if !compiled.log.trim().is_empty() {
        say::note(compiled.log.trim_end());
    }

    let mut out = String::from("// Generated by `cargo xtask ptx`; edit the source instead.\n");
    writeln!(out, "// source: {name} sha256:{}", sha256(source.as_bytes()))?;
    for include in local_includes(root, path, &source)? {
        let shown = include.strip_prefix(root).unwrap_or(&include).display();
        writeln!(
            out,
            "// include: {shown} sha256:{}",
            sha256(&std::fs::read(&include)?)
        )?;
    }
    writeln!(out, "// compiler: NVRTC {}.{}", nvrtc.version.0, nvrtc.version.1)?;
    writeln!(out, "// options: {}", shown.join(" "))?;
    let oldest = architecture
        .trim_start_matches("compute_")
        .parse::<u32>()
        .unwrap_or(0);
    for device in DEVICES.into_iter().filter(|d| *d >= oldest) {
        let mut options = hidden.clone();
        options.extend([
            format!("--gpu-architecture=sm_{device}"),
            "--std=c++17".to_string(),
            "--ptxas-options=-v".to_string(),
        ]);
        options.extend(extra.clone());
        for line in resources(&nvrtc.compile(&source, &name, &options)?.log) {
            writeln!(out, "// sm_{device}: {line}")?;
        }
    }
    out.push_str(&normalise(&compiled.ptx, root, nvrtc.include.as_deref()));
    Ok(out)
}

/// Where files are looked for that a source includes with quotes: beside it, and where those of the ladder lie, so
/// that a wrong kernel of the book differs from the right one by nothing but its mistake.
fn include_folders(root: &Path, path: &Path) -> [PathBuf; 2] {
    [path.parent().unwrap_or(root).to_owned(), root.join("kernels")]
}

/// The files that the source includes with quotes, and those that they include.
fn local_includes(root: &Path, path: &Path, source: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for line in source.lines() {
        let Some(rest) = line.trim().strip_prefix("#include \"") else {
            continue;
        };
        let places = include_folders(root, path).map(|folder| folder.join(rest.trim_end_matches('"')));
        if let Some(include) = places.into_iter().find(|include| include.exists()) {
            let text = std::fs::read_to_string(&include)?;
            found.extend(local_includes(root, &include, &text)?);
            found.push(include);
        }
    }
    found.dedup();
    Ok(found)
}

/// `kernel: 32 registers, 2048 bytes smem, 0 bytes spilled` from the words of `ptxas -v`.
fn resources(log: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut kernel, mut spilled) = (String::new(), 0u32);
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            kernel = rest.split('\'').next().unwrap_or_default().to_string();
        } else if let Some(rest) = line.split("bytes stack frame, ").nth(1) {
            spilled = rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        } else if let Some(rest) = line.split(": Used ").nth(1)
            && !kernel.is_empty()
        {
            let registers = rest.split(' ').next().unwrap_or_default();
            let shared = rest
                .split(", ")
                .find_map(|part| part.strip_suffix(" bytes smem"))
                .unwrap_or("0");
            lines.push(format!(
                "{kernel}: {registers} registers, {shared} bytes smem, {spilled} bytes spilled"
            ));
            (kernel, spilled) = (String::new(), 0);
        }
    }
    lines
}

/// `.file` paths as seen from the repository, and header files by their names alone.
fn normalise(ptx: &str, root: &Path, include: Option<&Path>) -> String {
    // The headers may lie inside the repository, so their folder goes first.
    let resolved = include.and_then(|folder| folder.canonicalize().ok());
    let strip = |line: &str| {
        let mut line = line.to_string();
        for prefix in [resolved.as_deref(), include, Some(root)].into_iter().flatten() {
            line = line.replace(&format!("{}/", prefix.display()), "");
        }
        // NVRTC adds the source's time stamp and size when it finds the file.
        match line.find("\", ").or_else(|| line.find("\",")) {
            Some(end) => line[..=end].to_string(),
            None => line,
        }
    };
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match line.trim_start().starts_with(".file") {
            true => out.push_str(&strip(line)),
            false => out.push_str(line.trim_end()),
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ptxas_says() {
        let log = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
                   ptxas info    : Function properties for k\n\
                   ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n\
                   ptxas info    : Used 32 registers, 2048 bytes smem, 376 bytes cmem[0]\n";
        assert_eq!(
            resources(log),
            ["k: 32 registers, 2048 bytes smem, 4 bytes spilled"]
        );
    }

    #[test]
    fn paths_do_not_tell_where_it_was_compiled() {
        let line = "\t.file\t1 \"/home/me/repo/kernels/a.cu\", 17, 42\n";
        assert_eq!(
            normalise(line, Path::new("/home/me/repo"), None),
            "\t.file\t1 \"kernels/a.cu\"\n"
        );
    }
}

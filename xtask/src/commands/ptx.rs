//! `cargo xtask ptx`: CUDA sources → the PTX and the machine code that are committed for them.
//!
//! `kernels/**/NAME.cu` becomes `kernels/ptx/NAME.ptx` and `kernels/cubin/NAME.cubin`; one under `steps`, `tests/data`,
//! `book/exhibits` or `book/python` becomes `NAME.ptx` beside it, without machine code.
//! Each begins with comments that say what it was made from and how; `tests/it/ptx_fresh.rs` compares the
//! hashes, so a source that was changed and not compiled is noticed without a compiler.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use ladder::files::write_whole_bytes;
use ladder::provenance::{cubin_of, sha256, target_of};

use crate::Verdict;
use crate::commands::readme;
use crate::support::compiler::Compiler;
use crate::support::nvrtc::{Compiled, Nvrtc, Unit};
use crate::support::{cubin, place, say};

/// Where sources are.
const FOLDERS: [&str; 5] = ["kernels", "steps", "tests/data", "book/exhibits", "book/python"];
/// What is compiled for, unless the source has a line `// arch: compute_80`.
const ARCHITECTURE: &str = "compute_75";
/// What learners' kernels are compiled for, unless they say it themselves: asynchronous copies compile there.
const LEARNERS: &str = "compute_80";
/// Devices whose register counts are noted in the header.
const DEVICES: [u32; 5] = [75, 80, 86, 89, 90];
/// Committed PTX is PTX ISA 8.4, so that every driver since CUDA 12.4 reads it.
pub(crate) const VERSION: (i32, i32) = (12, 4);

/// Bytes of a source or header. The longest here has a thousandth of that.
const LARGEST_SOURCE: u64 = 16 << 20;

/// How often to compile before a difference counts. Every second process gives one or the other.
const TRIES: u32 = 20;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if a file would change
    #[arg(long)]
    check: bool,
    /// Sources; none for all under kernels/, steps/, tests/data/ and book/
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
    let mut compiler = Compiler::start(&nvrtc.directory)?;
    let mut stale = 0;
    for source in sources {
        let target = target_of(root, source);
        let old = std::fs::read_to_string(&target).unwrap_or_default();
        let Made { ptx, cubin } = compile_until(
            &nvrtc,
            &mut compiler,
            |compiler| compile(&nvrtc, compiler, root, source),
            |made| is_same(&old, &made.ptx) || !old.contains(provenance(&made.ptx)),
        )?;
        let mut files = vec![];
        if !is_same(&old, &ptx) {
            files.push((target, ptx.into_bytes()));
        }
        if let Some((path, bytes)) = cubin
            && std::fs::read(&path).ok().as_ref() != Some(&bytes)
        {
            files.push((path, bytes));
        }
        stale += usize::from(!files.is_empty());
        for (path, bytes) in files {
            let name = path.strip_prefix(root).unwrap_or(&path).display();
            if check {
                say::note(&format!("stale: {name}"));
            } else {
                write_whole_bytes(&path, &bytes).with_context(|| format!("writing {name}"))?;
                say::note(&format!("wrote {name}"));
            }
        }
    }
    Ok(stale)
}

/// Compiles until the result is the expected one, but not for ever. For some kernels NVRTC chooses between two orders by
/// the addresses of its own memory: what is committed may be the other one, which this process will not give.
pub(crate) fn compile_until<T>(
    nvrtc: &Nvrtc,
    compiler: &mut Compiler,
    mut compile: impl FnMut(&mut Compiler) -> anyhow::Result<T>,
    is_expected: impl Fn(&T) -> bool,
) -> anyhow::Result<T> {
    let mut compiled = compile(compiler)?;
    for _ in 1..TRIES {
        if is_expected(&compiled) {
            break;
        }
        *compiler = Compiler::start(&nvrtc.directory)?;
        compiled = compile(compiler)?;
    }
    Ok(compiled)
}

/// The line with the hash of the source.
fn provenance(ptx: &str) -> &str {
    ptx.lines().nth(1).unwrap_or_default()
}

/// Apart from register counts, which ptxas does not give the same twice for every kernel, and from the numbers of calls
/// in comments, which go on from one source to the next.
fn is_same(old: &str, new: &str) -> bool {
    let stable = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.starts_with("// sm_"))
            .map(|line| {
                let line = line.split("// callseq").next().unwrap_or(line).trim_end();
                // Prototypes of indirect calls are numbered like calls.
                match line.split_once("prototype_") {
                    Some((before, after)) => {
                        format!(
                            "{before}prototype_{}",
                            after.trim_start_matches(|c: char| c.is_ascii_digit())
                        )
                    }
                    None => line.to_owned(),
                }
            })
            .collect()
    };
    stable(old) == stable(new)
}

/// The folder of the workspace; where there is none, the current one.
pub(crate) fn repository() -> PathBuf {
    place::checkout().unwrap_or_else(|| PathBuf::from("."))
}

/// All `.cu` files under a folder, but for the solutions of learners: their PTX lies in files of its own, which
/// `cargo xtask solutions` makes.
pub(crate) fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.ends_with(course::solutions::FOLDER) {
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

/// What is compiled, and how.
pub(crate) struct Job {
    /// The text.
    pub(crate) source: String,
    /// As the compiler calls it in messages: from the root of the checkout.
    pub(crate) name: String,
    architecture: String,
    /// Options that a source adds to those that all have, as `--device-int128`.
    extra: Vec<String>,
    /// Folders for `#include "…"`.
    pub(crate) folders: [PathBuf; 2],
}

impl Job {
    /// Reads a source.
    pub(crate) fn read(root: &Path, path: &Path) -> anyhow::Result<Self> {
        let source = read_source(path)?;
        let architecture = source
            .lines()
            .find_map(|l| l.strip_prefix("// arch: "))
            .unwrap_or(ARCHITECTURE)
            .trim()
            .to_owned();
        let extra = source
            .lines()
            .filter_map(|line| line.strip_prefix("// options: "))
            .flat_map(str::split_whitespace)
            .map(str::to_string)
            .collect();
        Ok(Self {
            name: path
                .strip_prefix(root)
                .unwrap_or(path)
                .to_string_lossy()
                .into_owned(),
            folders: include_folders(root, path),
            source,
            architecture,
            extra,
        })
    }

    /// Reads a learner's source. It cannot choose options: some of them name files. Where it does not say for which
    /// architecture it is written, asynchronous copies compile too; for everything else that makes no difference.
    pub(crate) fn of_learner(root: &Path, path: &Path) -> anyhow::Result<Self> {
        let mut job = Self::read(root, path)?;
        job.extra.clear();
        let is_said = job.source.lines().any(|line| line.starts_with("// arch: "));
        let is_plain = job
            .architecture
            .strip_prefix("compute_")
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric()));
        if !is_said || !is_plain {
            job.architecture = LEARNERS.into();
        }
        Ok(job)
    }

    /// A learner's source that lies in no file, with the folder of the file that it was made from.
    pub(crate) fn of_solution(root: &Path, base: &Path, name: &str, source: &str) -> Self {
        Self {
            source: source.to_owned(),
            name: format!("{name}.cu"),
            architecture: LEARNERS.into(),
            extra: Vec::new(),
            folders: include_folders(root, &root.join(base)),
        }
    }

    /// `80` of `compute_80`
    pub(crate) fn capability(&self) -> &str {
        self.architecture.trim_start_matches("compute_")
    }

    /// Options that change what comes out.
    pub(crate) fn shown(&self) -> Vec<String> {
        let mut options = vec![
            format!("--gpu-architecture={}", self.architecture),
            "--std=c++17".to_string(),
            "--generate-line-info".to_string(),
        ];
        options.extend(self.extra.clone());
        options
    }

    /// Options that name folders of this machine.
    fn hidden(&self, nvrtc: &Nvrtc) -> Vec<String> {
        let folders = self.folders.iter().chain(&nvrtc.include);
        folders
            .map(|folder| format!("--include-path={}", folder.display()))
            .collect()
    }

    /// PTX with paths as seen from the root, and the compiler's warnings.
    pub(crate) fn compile(
        &self,
        nvrtc: &Nvrtc,
        compiler: &mut Compiler,
        root: &Path,
    ) -> anyhow::Result<Compiled> {
        let compiled = compiler.compile(&self.unit(nvrtc, self.shown()))?;
        Ok(Compiled {
            ptx: normalise(&compiled.ptx, root, nvrtc.include.as_deref()),
            ..compiled
        })
    }

    /// The same in this process, which then may not come back.
    pub(crate) fn compile_here(&self, nvrtc: &Nvrtc, root: &Path) -> anyhow::Result<String> {
        let compiled = nvrtc.compile(&self.unit(nvrtc, self.shown()))?;
        Ok(normalise(&compiled.ptx, root, nvrtc.include.as_deref()))
    }

    /// What the compiler gets; options that name folders are added.
    fn unit(&self, nvrtc: &Nvrtc, mut options: Vec<String>) -> Unit {
        options.extend(self.hidden(nvrtc));
        Unit {
            source: self.source.clone(),
            name: self.name.clone(),
            headers: Vec::new(),
            options,
        }
    }

    /// Machine code for an `sm_XX` with the lines of the source, and what ptxas said of its registers. `includes` are the
    /// headers that the source includes from the checkout: their names do not tell where that is.
    pub(crate) fn compile_for(
        &self,
        sm: &str,
        includes: &[Include],
        nvrtc: &Nvrtc,
        compiler: &mut Compiler,
        root: &Path,
    ) -> anyhow::Result<Compiled> {
        let mut options = vec![
            format!("--gpu-architecture=sm_{sm}"),
            "--std=c++17".to_string(),
            "--generate-line-info".to_string(),
            "--ptxas-options=-v".to_string(),
        ];
        options.extend(self.extra.clone());
        let mut unit = self.unit(nvrtc, options);
        for Include { written, path } in includes {
            let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("#line 1 \"{name}\"\n{}", read_source(path)?);
            unit.headers.push((written.clone(), text));
        }
        compiler.compile(&unit)
    }
}

/// What is made of a source.
struct Made {
    ptx: String,
    /// Where the machine code is committed, and the code.
    cubin: Option<(PathBuf, Vec<u8>)>,
}

fn compile(nvrtc: &Nvrtc, compiler: &mut Compiler, root: &Path, path: &Path) -> anyhow::Result<Made> {
    let job = Job::read(root, path)?;
    let compiled = job.compile(nvrtc, compiler, root)?;
    let includes = local_includes(root, path, &job.source)?;
    if !compiled.log.trim().is_empty() {
        say::note(compiled.log.trim_end());
    }

    let mut out = String::from("// Generated by `cargo xtask ptx`; edit the source instead.\n");
    writeln!(
        out,
        "// source: {} sha256:{}",
        job.name,
        sha256(job.source.as_bytes())
    )?;
    for Include { path, .. } in &includes {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        writeln!(
            out,
            "// include: {shown} sha256:{}",
            sha256(read_source(path)?.as_bytes())
        )?;
    }
    writeln!(out, "// compiler: NVRTC {}.{}", nvrtc.version.0, nvrtc.version.1)?;
    writeln!(out, "// options: {}", job.shown().join(" "))?;
    let oldest = job.capability().parse::<u32>().unwrap_or(0);
    let mut cubin = None;
    for device in DEVICES.into_iter().filter(|d| *d >= oldest) {
        let compiled = job.compile_for(&device.to_string(), &includes, nvrtc, compiler, root)?;
        for line in resources(&compiled.log) {
            writeln!(out, "// sm_{device}: {line}")?;
        }
        if device == cubin::GPU
            && let Some(path) = cubin_of(root, path)
        {
            let bytes = cubin::without_ptx(compiled.cubin)?;
            let shown = path.strip_prefix(root).unwrap_or(&path).display();
            writeln!(out, "// cubin: {shown} sha256:{}", sha256(&bytes))?;
            cubin = Some((path, bytes));
        }
    }
    out.push_str(&compiled.ptx);
    Ok(Made { ptx: out, cubin })
}

/// Where files are looked for that a source includes with quotes: beside it, and where those of the ladder lie, so
/// that a wrong kernel of the book differs from the right one by nothing but its mistake.
fn include_folders(root: &Path, path: &Path) -> [PathBuf; 2] {
    [path.parent().unwrap_or(root).to_owned(), root.join("kernels")]
}

/// A file of the repository that a source includes with quotes.
#[derive(Debug, Clone)]
pub(crate) struct Include {
    /// As the source names it.
    pub(crate) written: String,
    pub(crate) path: PathBuf,
}

/// The files that the source includes with quotes, and those that they include, each once.
pub(crate) fn local_includes(root: &Path, path: &Path, source: &str) -> anyhow::Result<Vec<Include>> {
    let mut found = Vec::new();
    add_includes(root, path, source, &mut vec![path.to_owned()], &mut found)?;
    Ok(found)
}

fn add_includes(
    root: &Path,
    path: &Path,
    source: &str,
    seen: &mut Vec<PathBuf>,
    found: &mut Vec<Include>,
) -> anyhow::Result<()> {
    for written in source.lines().filter_map(included) {
        let places = include_folders(root, path).map(|folder| folder.join(written));
        // Not every line is compiled (`#if 0`), so what cannot be a header is passed over; NVRTC complains where it
        // matters.
        let Some(path) = places.into_iter().find(|path| path.is_file()) else {
            continue;
        };
        if seen.contains(&path) {
            continue;
        }
        seen.push(path.clone());
        let text = read_source(&path)?;
        add_includes(root, &path, &text, seen, found)?;
        let written = written.to_owned();
        found.push(Include { written, path });
    }
    Ok(())
}

/// `a.cuh` of `# include "a.cuh"  // why`
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start().strip_prefix('"')?;
    Some(rest.split_once('"')?.0)
}

/// The text of a source or header.
pub(crate) fn read_source(path: &Path) -> anyhow::Result<String> {
    let size = std::fs::metadata(path)
        .with_context(|| path.display().to_string())?
        .len();
    ensure!(path.is_file(), "{} is not a file", path.display());
    ensure!(
        size <= LARGEST_SOURCE,
        "{} has {size} bytes; a source has at most {LARGEST_SOURCE}",
        path.display()
    );
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
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
pub(crate) fn normalise(ptx: &str, root: &Path, include: Option<&Path>) -> String {
    // The headers may lie inside the repository, so their folder goes first.
    let resolved = include.and_then(|folder| folder.canonicalize().ok());
    let folders: Vec<&Path> = [resolved.as_deref(), include, Some(root)]
        .into_iter()
        .flatten()
        .collect();
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match line.trim_start().starts_with(".file") {
            true => out.push_str(&file_line(line, &folders).unwrap_or_else(|| line.to_owned())),
            false => out.push_str(line.trim_end()),
        }
        out.push('\n');
    }
    out
}

/// A `.file` line without the first folder that its path lies in, and without the time stamp and size that NVRTC
/// adds for a file that it finds.
fn file_line(line: &str, folders: &[&Path]) -> Option<String> {
    let (before, rest) = line.split_once('"')?;
    let path = unescaped(rest)?;
    let inside = |folder: &&Path| {
        path.strip_prefix(folder.as_os_str().as_encoded_bytes())?
            .strip_prefix(b"/")
    };
    let short = folders.iter().find_map(inside).unwrap_or(&path);
    Some(format!("{before}\"{}\"", short.escape_ascii()))
}

/// The bytes of a C string literal whose opening quote has been read. NVRTC writes what is not ASCII as octal digits.
fn unescaped(literal: &str) -> Option<Vec<u8>> {
    let mut bytes = literal.bytes().peekable();
    let mut out = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return Some(out),
            b'\\' => match bytes.next()? {
                b'n' => out.push(b'\n'),
                b't' => out.push(b'\t'),
                b'r' => out.push(b'\r'),
                first @ b'0'..=b'7' => {
                    let mut value = u32::from(first - b'0');
                    for _ in 0..2 {
                        if let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                            value = value * 8 + u32::from(digit - b'0');
                        }
                    }
                    out.push(u8::try_from(value).ok()?);
                }
                other => out.push(other),
            },
            byte => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_calls_and_of_registers_are_no_difference() {
        let text = |call: u32| {
            format!(
                "// sm_90: k: {call} registers\n\t{{ // callseq {call}, 0\n\t, prototype_{call};\n\tret;\n"
            )
        };
        assert!(is_same(&text(1), &text(150)));
        assert!(!is_same(&text(1), &text(1).replace("ret", "exit")));
    }

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

    #[track_caller]
    fn file(written: &str, root: &str) -> String {
        normalise(&format!("\t.file\t1 {written}"), Path::new(root), None)
    }

    #[test]
    fn paths_do_not_tell_where_it_was_compiled() {
        let expected = "\t.file\t1 \"kernels/a.cu\"\n";
        let plain = "\"/home/me/repo/kernels/a.cu\", 17, 42";
        assert_eq!(file(plain, "/home/me/repo"), expected);
        // As NVRTC 12.4 writes a folder with an accent, quotes and a newline.
        let odd = r#""/t\303\251\"il\'e\nx/kernels/a.cu", 17, 42"#;
        assert_eq!(file(odd, "/t\u{e9}\"il'e\nx"), expected);
        assert_eq!(
            file(plain, "/home/me/re"),
            "\t.file\t1 \"/home/me/repo/kernels/a.cu\"\n"
        );
    }

    #[test]
    fn headers_that_include_each_other_are_read_once_and_devices_never() {
        let root = std::env::temp_dir().join(format!("xtask-includes-{}", std::process::id()));
        let kernels = root.join("kernels");
        std::fs::create_dir_all(&kernels).expect("a folder");
        std::fs::write(kernels.join("a.cuh"), "#include \"b.cuh\"\n").expect("a file");
        std::fs::write(kernels.join("b.cuh"), "#include \"a.cuh\"\n").expect("a file");
        let source = "  # include  \"a.cuh\"  // why\n#if 0\n#include \"/dev/zero\"\n#endif\n";
        let found = local_includes(&root, &kernels.join("k.cu"), source).expect("readable");
        let names: Vec<_> = found
            .iter()
            .filter_map(|include| include.path.file_name())
            .collect();
        assert_eq!(names, ["b.cuh", "a.cuh"]);
        let _ = std::fs::remove_dir_all(&root);
    }
}

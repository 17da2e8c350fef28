//! CUDA sources: how one is compiled, what it includes, and the paths that its PTX names.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use reschedule::{Options, reschedule};

use crate::compiler::Compiler;
use crate::nvrtc::{CompileInput, Compiled, LoadedNvrtc, Nvrtc};

/// The architecture to compile for, unless the source has a line `// arch: compute_80`.
const ARCHITECTURE: &str = "compute_75";
/// The architecture for learners' kernels, unless their source has such a line: the first with asynchronous copies.
const LEARNERS: &str = "compute_80";
/// Bytes of a source or header. The longest here has a thousandth of that.
const LARGEST_SOURCE: u64 = 16 << 20;

/// A source to compile, with its options.
#[derive(Clone)]
pub struct CompileJob {
    pub source: String,
    /// As the compiler calls it in messages: from the root of the checkout.
    pub name: String,
    architecture: String,
    /// Options that a source adds to those that all have, as `--device-int128`.
    extra: Vec<String>,
    /// The rest of a line `// rescheduled: KERNEL, 240 registers, loads at 4 21`, by which machine code is changed.
    rescheduled: Option<String>,
    /// Folders for `#include "…"`.
    pub folders: [PathBuf; 2],
}

impl CompileJob {
    pub fn read(root: &Path, path: &Path) -> anyhow::Result<Self> {
        Ok(Self::of_text(root, path, read_source(path)?))
    }

    /// Returns a source whose text need not lie at its path.
    pub fn of_text(root: &Path, path: &Path, source: String) -> Self {
        let line =
            |prefix| source.lines().find_map(|line| line.strip_prefix(prefix)).map(|rest| rest.trim().to_owned());
        let architecture = line("// arch: ").unwrap_or_else(|| ARCHITECTURE.to_owned());
        let rescheduled = line("// rescheduled: ");
        let extra = source
            .lines()
            .filter_map(|line| line.strip_prefix("// options: "))
            .flat_map(str::split_whitespace)
            .map(str::to_string)
            .collect();
        Self {
            name: path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned(),
            folders: include_folders(root, path),
            source,
            architecture,
            extra,
            rescheduled,
        }
    }

    pub fn of_learner(root: &Path, path: &Path) -> anyhow::Result<Self> {
        Ok(Self::read(root, path)?.for_learner())
    }

    /// Returns the job as one of a learner's source, which cannot choose options, because some of them name files.
    /// Where it names no architecture, it is compiled for `LEARNERS`; the only difference is that asynchronous copies
    /// compile.
    fn for_learner(mut self) -> Self {
        self.extra.clear();
        self.rescheduled = None;
        let is_said = self.source.lines().any(|line| line.starts_with("// arch: "));
        let is_plain = self
            .architecture
            .strip_prefix("compute_")
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric()));
        if !is_said || !is_plain {
            self.architecture = LEARNERS.into();
        }
        self
    }

    /// Returns another text in place of this one.
    pub fn with_text(&self, source: String) -> Self {
        Self { source, ..self.clone() }
    }

    /// Has the compiler build for debugging and without textures, which takes a sixth of the time.
    pub fn debug(mut self) -> Self {
        self.extra.extend(["--device-debug", "--minimal"].map(str::to_owned));
        self
    }

    /// Returns a learner's source that lies in no file, with the folder of the file that it was made from.
    pub fn of_solution(root: &Path, base: &Path, name: &str, source: &str) -> Self {
        let job = Self::of_text(root, &root.join(base), source.to_owned()).for_learner();
        Self { name: format!("{name}.cu"), ..job }
    }

    /// Returns the number of the architecture: `80` of `compute_80`.
    pub fn capability(&self) -> &str {
        self.architecture.trim_start_matches("compute_")
    }

    /// Returns the options that change the output.
    pub fn options(&self) -> Vec<String> {
        self.options_for(&self.architecture)
    }

    fn options_for(&self, architecture: &str) -> Vec<String> {
        let all = [&*format!("--gpu-architecture={architecture}"), "--std=c++17", "--generate-line-info"];
        all.map(str::to_owned).into_iter().chain(self.extra.iter().cloned()).collect()
    }

    /// Compiles to PTX with paths as seen from the root; also returns the compiler's warnings.
    pub fn compile(&self, compiler: &mut Compiler, root: &Path) -> anyhow::Result<Compiled> {
        let compiled = compiler.compile(&self.input(&compiler.nvrtc, self.options()))?;
        Ok(Compiled { ptx: normalise(&compiled.ptx, root, compiler.nvrtc.include.as_deref()), ..compiled })
    }

    /// Compiles in this process, which cannot be stopped when the compiler does not return.
    pub fn compile_here(&self, loaded: &LoadedNvrtc, root: &Path) -> anyhow::Result<String> {
        let nvrtc = &loaded.nvrtc;
        let compiled = loaded.compile(&self.input(nvrtc, self.options()))?;
        Ok(normalise(&compiled.ptx, root, nvrtc.include.as_deref()))
    }

    /// Returns the input of the compiler; options that name folders of this machine are added.
    fn input(&self, nvrtc: &Nvrtc, mut options: Vec<String>) -> CompileInput {
        let folders = self.folders.iter().chain(&nvrtc.include);
        options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
        CompileInput { source: self.source.clone(), name: self.name.clone(), headers: Vec::new(), options }
    }

    /// Compiles to machine code for an `sm_XX` with the lines of the source; also returns ptxas's report on its
    /// registers. `includes` are the headers that the source includes from the checkout: their names are relative to
    /// it.
    pub fn compile_for(
        &self, sm: &str, includes: &[Include], compiler: &mut Compiler, root: &Path,
    ) -> anyhow::Result<Compiled> {
        let mut options = self.options_for(&format!("sm_{sm}"));
        options.push("--ptxas-options=-v".to_owned());
        let mut input = self.input(&compiler.nvrtc, options);
        for Include { written, path } in includes {
            let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("#line 1 \"{name}\"\n{}", read_source(path)?);
            input.headers.push((written.clone(), text));
        }
        let mut compiled = compiler.compile(&input)?;
        if let Some(line) = &self.rescheduled {
            compiled.cubin = rescheduled(line, &compiled.cubin).with_context(|| format!("{}: {line}", self.name))?;
        }
        Ok(compiled)
    }
}

/// Returns machine code with a main loop written again, as a line of its source says.
fn rescheduled(line: &str, cubin: &[u8]) -> anyhow::Result<Vec<u8>> {
    let parts = line.split_once(" registers, loads at ").and_then(|(kernel, places)| {
        let (kernel, registers) = kernel.split_once(", ")?;
        let places = places.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        Some((kernel, Options { registers: registers.parse().ok()?, places }))
    });
    let (kernel, options) = parts.context("expected `KERNEL, 240 registers, loads at 4 21`")?;
    Ok(reschedule(cubin, kernel, &options)?)
}

/// Returns the folders of files that a source includes with quotes: beside it, and those of the ladder, so that a wrong
/// kernel of the book differs from the right one by nothing but its mistake.
fn include_folders(root: &Path, path: &Path) -> [PathBuf; 2] {
    [path.parent().unwrap_or(root).to_owned(), root.join("kernels")]
}

/// A file of the repository that a source includes with quotes.
#[derive(Debug, Clone)]
pub struct Include {
    /// Name in the `#include` of the source.
    pub written: String,
    pub path: PathBuf,
}

/// Returns the files that the source includes with quotes, and those that they include, each once.
pub fn local_includes(root: &Path, path: &Path, source: &str) -> anyhow::Result<Vec<Include>> {
    let mut found = Vec::new();
    add_includes(root, path, source, &mut vec![path.to_owned()], &mut found)?;
    Ok(found)
}

fn add_includes(
    root: &Path, path: &Path, source: &str, seen: &mut Vec<PathBuf>, found: &mut Vec<Include>,
) -> anyhow::Result<()> {
    for written in source.lines().filter_map(included) {
        let places = include_folders(root, path).map(|folder| folder.join(written));
        // Not every line is compiled (`#if 0`), so what cannot be a header is passed over; NVRTC complains where it
        // matters.
        let Some(path) = places.into_iter().find(|path| path.is_file()) else { continue };
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

/// Returns the name in an include: `a.cuh` of `# include "a.cuh"  // why`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start().strip_prefix('"')?;
    Some(rest.split_once('"')?.0)
}

/// Returns the text of a source or header, without the mark that some editors put before UTF-8.
pub fn read_source(path: &Path) -> anyhow::Result<String> {
    let size = std::fs::metadata(path).with_context(|| path.display().to_string())?.len();
    ensure!(path.is_file(), "{} is not a file", path.display());
    ensure!(size <= LARGEST_SOURCE, "{} has {size} bytes; a source has at most {LARGEST_SOURCE}", path.display());
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{} is not text in UTF-8; save it as UTF-8 in your editor", path.display());
    };
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Rewrites `.file` paths as seen from the repository, and header files to their names alone.
pub fn normalise(ptx: &str, root: &Path, include: Option<&Path>) -> String {
    // The headers may lie inside the repository, so their folder goes first.
    let resolved = include.and_then(|folder| folder.canonicalize().ok());
    let folders: Vec<&Path> = [resolved.as_deref(), include, Some(root)].into_iter().flatten().collect();
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        if line.trim_start().starts_with(".file") {
            out.push_str(&file_line(line, &folders).unwrap_or_else(|| line.to_owned()))
        } else {
            out.push_str(line.trim_end())
        }
        out.push('\n');
    }
    out
}

/// Returns a `.file` line without the first folder that its path lies in, and without the time stamp and size that
/// NVRTC adds for a file that it finds.
fn file_line(line: &str, folders: &[&Path]) -> Option<String> {
    let (before, rest) = line.split_once('"')?;
    // Committed PTX has slashes.
    let slash = |byte: u8| if cfg!(windows) && byte == b'\\' { b'/' } else { byte };
    let with_slashes = |path: &[u8]| path.iter().map(|byte| slash(*byte)).collect::<Vec<u8>>();
    let path = with_slashes(&unescaped(rest)?);
    let of_folder = |folder: &Path| with_slashes(folder.as_os_str().as_encoded_bytes());
    let inside = |folder: &&Path| path.strip_prefix(&of_folder(folder)[..])?.strip_prefix(b"/");
    let short = folders.iter().find_map(inside).unwrap_or(&path);
    Some(format!("{before}\"{}\"", short.escape_ascii()))
}

/// Returns the bytes of a C string literal whose opening quote has been read. NVRTC writes what is not ASCII as octal
/// digits.
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

//! The PTX and the machine code that are committed for a source.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::provenance::{cubin_of, sha256, target_of};
use catalog::{files::write_whole_bytes, parallel};

use crate::compiler::{Compiler, Compilers};
use crate::nvrtc::{Compiled, Nvrtc};
use crate::source::{CompileJob, Include, local_includes, read_source};
use crate::{
    cubin::{self, GPU},
    output,
    paths::from_root,
};

/// Devices whose register counts are noted in the header.
const DEVICES: [u32; 5] = [75, 80, 86, 89, 90];
/// Number of compilations before a difference counts. Every second process gives one or the other.
const TRIES: u32 = 20;

/// Compiles sources, several at a time, and returns how many results differ from the committed ones. With `check`,
/// nothing is written.
pub fn compile_all(root: &Path, sources: &[PathBuf], check: bool) -> anyhow::Result<usize> {
    let compilers = Compilers::new(Nvrtc::find()?);
    let compile = |source: &PathBuf| compilers.lend(|compiler| changed(compiler, root, source, check));
    let done = parallel::run(sources, usize::MAX, compile, Result::is_ok);

    let mut stale = 0;
    for files in done {
        stale += usize::from(write_changed(root, files?, check)? > 0);
    }
    Ok(stale)
}

/// Writes the files that differ from those that are there, and returns how many do. With `check`, they are only named.
pub fn write_changed(root: &Path, files: impl IntoIterator<Item = Expected>, check: bool) -> anyhow::Result<usize> {
    let mut n_changed = 0;
    for (path, bytes) in files {
        if std::fs::read(&path).ok().as_ref() == Some(&bytes) {
            continue;
        }
        let name = from_root(root, &path);
        if !check {
            write_whole_bytes(&path, &bytes).with_context(|| format!("writing {name}"))?;
        }
        output::note(&format!("{} {name}", if check { "stale:" } else { "wrote" }));
        n_changed += 1;
    }
    Ok(n_changed)
}

/// Path of a committed file, and what it should be.
pub type Expected = (PathBuf, Vec<u8>);

/// Returns the files of a source, the PTX only where it is not what the source gives. Register counts are not compared,
/// so the code that they are of is compiled only for a file that is written.
fn changed(compiler: &mut Compiler, root: &Path, source: &Path, check: bool) -> anyhow::Result<Vec<Expected>> {
    let target = target_of(root, source);
    let old = std::fs::read_to_string(&target).unwrap_or_default();
    let mut made = compile_until(
        compiler,
        |compiler| Made::compile(compiler, root, source, CompileJob::read(root, source)?),
        |made| is_same(&old, &made.text()) || !old.contains(provenance(&made.text())),
    )?;
    let mut files = vec![];
    if !is_same(&old, &made.text()) {
        if !check {
            made.count_registers(compiler, root)?;
        }
        files.push((target, made.text().into_bytes()));
    }
    files.extend(made.cubin);
    Ok(files)
}

/// Returns the PTX of a text that need not lie at its path, which is absolute; `old` where nothing has changed.
pub fn ptx_of_text(compiler: &mut Compiler, root: &Path, path: &Path, text: &str, old: &str) -> anyhow::Result<String> {
    let mut made = compile_until(
        compiler,
        |compiler| Made::compile(compiler, root, path, CompileJob::of_text(root, path, text.to_owned())),
        |made| is_same(old, &made.text()) || !old.contains(provenance(&made.text())),
    )?;
    if is_same(old, &made.text()) {
        return Ok(old.to_owned());
    }
    made.count_registers(compiler, root)?;
    Ok(made.text())
}

/// Compiles until the result is the expected one, but not for ever. For some kernels NVRTC chooses between two orders
/// by the addresses of its own memory: what is committed may be the other one, which this process will not give.
pub fn compile_until<T>(
    compiler: &mut Compiler, mut compile: impl FnMut(&mut Compiler) -> anyhow::Result<T>,
    is_expected: impl Fn(&T) -> bool,
) -> anyhow::Result<T> {
    let mut compiled = compile(compiler)?;
    for _ in 1..TRIES {
        if is_expected(&compiled) {
            break;
        }
        *compiler = Compiler::start(&compiler.nvrtc)?;
        compiled = compile(compiler)?;
    }
    Ok(compiled)
}

/// Returns the line with the hash of the source.
fn provenance(ptx: &str) -> &str {
    ptx.lines().nth(1).unwrap_or_default()
}

/// Returns whether two texts are equal apart from register counts, which ptxas does not give the same twice for every
/// kernel, and from the numbers of calls in comments, which go on from one source to the next.
fn is_same(old: &str, new: &str) -> bool {
    let stable = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.starts_with("// sm_"))
            .map(|line| {
                let line = line.split("// callseq").next().unwrap_or(line).trim_end();
                // Prototypes of indirect calls are numbered like calls.
                match line.split_once("prototype_") {
                    Some((before, after)) => {
                        format!("{before}prototype_{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
                    }
                    None => line.to_owned(),
                }
            })
            .collect()
    };
    stable(old) == stable(new)
}

/// The files that a source compiles to.
struct Made {
    job: CompileJob,
    includes: Vec<Include>,
    /// Comments on the origin of the code.
    head: String,
    /// Lines on the registers of each device, where they were counted.
    registers: String,
    /// The line that names the machine code.
    names_cubin: String,
    ptx: String,
    /// The machine code.
    cubin: Option<Expected>,
}

impl Made {
    fn compile(compiler: &mut Compiler, root: &Path, path: &Path, job: CompileJob) -> anyhow::Result<Self> {
        let compiled = job.compile(compiler, root)?;
        let includes = local_includes(root, path, &job.source)?;
        if !compiled.log.trim().is_empty() {
            output::note(compiled.log.trim_end());
        }

        let mut head = String::from("// Generated by `cargo xtask ptx`; edit the source instead.\n");
        let hash = sha256(job.source.as_bytes());
        writeln!(head, "// source: {} sha256:{hash}", job.name)?;
        for Include { path, .. } in &includes {
            let hash = sha256(read_source(path)?.as_bytes());
            writeln!(head, "// include: {} sha256:{hash}", from_root(root, path))?;
        }
        writeln!(head, "// compiler: NVRTC {}.{}", compiler.nvrtc.version.0, compiler.nvrtc.version.1)?;
        writeln!(head, "// options: {}", job.options().join(" "))?;

        let mut made = Self {
            job,
            includes,
            head,
            registers: String::new(),
            names_cubin: String::new(),
            ptx: compiled.ptx,
            cubin: None,
        };
        if let Some(path) = cubin_of(root, path)
            && GPU >= made.oldest()
        {
            let compiled = made.compile_for(GPU, compiler, root)?;
            let bytes = cubin::without_ptx(compiled.cubin)?;
            made.names_cubin = format!("// cubin: {} sha256:{}\n", from_root(root, &path), sha256(&bytes));
            made.cubin = Some((path, bytes));
        }
        Ok(made)
    }

    /// Compiles for each device, for what ptxas prints of registers.
    fn count_registers(&mut self, compiler: &mut Compiler, root: &Path) -> anyhow::Result<()> {
        let (oldest, only) = (self.oldest(), self.is_for_one_device());
        let runs = |device: &u32| *device == oldest || *device > oldest && !only;
        for device in DEVICES.into_iter().filter(runs) {
            let compiled = self.compile_for(device, compiler, root)?;
            for line in cubin::resources(&compiled.log) {
                writeln!(self.registers, "// sm_{device}: {line}")?;
            }
        }
        Ok(())
    }

    fn compile_for(&self, device: u32, compiler: &mut Compiler, root: &Path) -> anyhow::Result<Compiled> {
        let device = if self.is_for_one_device() { self.job.capability().to_owned() } else { device.to_string() };
        self.job.compile_for(&device, &self.includes, compiler, root)
    }

    /// Returns the oldest device that runs it.
    fn oldest(&self) -> u32 {
        let digits = self.job.capability().trim_end_matches(char::is_alphabetic);
        digits.parse().unwrap_or(0)
    }

    /// Returns whether a target such as `90a` runs on no other device, not even on a newer one.
    fn is_for_one_device(&self) -> bool {
        self.job.capability().ends_with(char::is_alphabetic)
    }

    /// Returns the text of the PTX file, header included.
    fn text(&self) -> String {
        [&*self.head, &self.registers, &self.names_cubin, &self.ptx].concat()
    }
}

//! The learner's copies under `my/`, and compiling them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Once;

use anyhow::{Context, Result, anyhow, bail};
use catalog::provenance::{is_rust, sha256};
use clap::ValueEnum as _;
use tasks::{Catalogue, Task, TaskName, progress, starter};
use xtask_support::compile_cache::{self, CompileCache, NVRTC, PTX};
use xtask_support::nvrtc::{DoesNotCompile, Nvrtc};
use xtask_support::output::{self, Stop};
use xtask_support::source::CompileJob;
use xtask_support::{compiler::Compiler, find_nvrtc::Damaged};
use xtask_support::{interrupt, paths, source};

use crate::built_in::{self, Refused};
use crate::rustc::{self, Rustc};

/// Chooses the compiler: `nvrtc` or `built-in`.
pub const COMPILER: &str = "TILE_COMPILER";

/// Returns the checkout, which has the tasks.
pub fn root() -> Result<PathBuf> {
    paths::checkout().context("the tasks are in a checkout of the repository, and this folder is not one")
}

/// Returns a task in the language of its copy that was changed last.
pub(crate) fn task(root: &Path, asked: &str) -> Result<Task> {
    let task = listed(root, asked)?;
    if is_rust(&progress::copy_of(root, &task.name)) { in_rust(&task) } else { Ok(task) }
}

/// Returns a task as its catalogue has it, for a kernel in CUDA C++.
pub(crate) fn listed(root: &Path, asked: &str) -> Result<Task> {
    let name = TaskName::parse(asked).map_err(|error| Stop::Usage(error.to_string()))?;
    let catalogue = Catalogue::load(root, &name.step)?;
    let task = catalogue.find(&name).map_err(Stop::Usage)?;
    Ok(task.clone())
}

/// Returns a task for a kernel in Rust.
pub fn in_rust(task: &Task) -> Result<Task> {
    let name = &task.name;
    task.in_rust().ok_or_else(|| {
        let step = if name.id.is_none() { "it has no kernel in Rust" } else { "only the tasks of steps are" };
        Stop::Usage(format!("{name} cannot be done in Rust: {step}; v01 to v07 can")).into()
    })
}

/// Returns whether there is a copy of a task, at `path`.
///
/// # Errors
/// Returns an error if something lies in its place that is not a file: nothing else would then be judged for it.
pub(crate) fn has_copy(root: &Path, path: &Path, name: &TaskName) -> Result<bool> {
    let me = paths::command_name();
    let folder = tasks::paths::learner_folder(root);
    if folder.symlink_metadata().is_ok() && !folder.is_dir() {
        let shown = paths::from_root(root, &folder);
        bail!("{shown} is {}, and has to be a folder; move it away, then: {me} start {name}", kind(&folder));
    }
    let shown = paths::from_root(root, path);
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context(shown),
        Ok(_) if path.is_file() => Ok(true),
        Ok(_) => bail!("{shown} is {}, and not a file; move it away, then: {me} start {name}", kind(path)),
    }
}

/// Returns the error for a command that needs the copy of a task where there is none.
pub(crate) fn no_copy(root: &Path, path: &Path, name: &TaskName) -> anyhow::Error {
    let shown = paths::from_root(root, path);
    anyhow!("there is no {shown}; begin with: {} start {name}", paths::command_name())
}

/// Returns the path of the copy of a task, for a command that needs it.
pub(crate) fn existing_copy(root: &Path, task: &Task) -> Result<PathBuf> {
    let path = task.copy_path(root);
    if has_copy(root, &path, &task.name)? { Ok(path) } else { Err(no_copy(root, &path, &task.name)) }
}

/// Returns whether the learner has begun any task of this checkout: a copy is there, or was.
pub(crate) fn has_begun(root: &Path) -> bool {
    let has_copies = || {
        let entries = std::fs::read_dir(tasks::paths::learner_folder(root)).into_iter().flatten().flatten();
        entries
            .into_iter()
            .any(|entry| [".cu", ".rs"].iter().any(|ending| entry.file_name().to_string_lossy().contains(ending)))
    };
    progress::Progress::load(root).map_or(true, |progress| !progress.tasks.is_empty()) || has_copies()
}

/// Returns what lies at a path, in words.
fn kind(path: &Path) -> &'static str {
    let is_link = path.is_symlink();
    match path.metadata() {
        Err(_) if is_link => "a link to nothing",
        Ok(found) if found.is_dir() && is_link => "a link to a folder",
        Ok(found) if found.is_dir() => "a folder",
        Ok(found) if found.is_file() => "a file",
        _ => "a pipe or a device",
    }
}

pub(crate) fn hash(root: &Path, task: &Task) -> Option<String> {
    let bytes = std::fs::read(task.copy_path(root)).ok()?;
    Some(sha256(&bytes))
}

/// Returns the text of the finished kernel, with markers.
pub(crate) fn solution(root: &Path, task: &Task) -> Result<String> {
    let path = root.join(&task.solution);
    if !path.is_file() && !paths::has_finished_kernels(root) {
        bail!("this repository has no finished kernels: ask the person who gave it to you");
    }
    std::fs::read_to_string(&path).with_context(|| task.solution.display().to_string())
}

pub(crate) fn generated_starter(root: &Path, task: &Task) -> Result<String> {
    let read = |path: &Path| std::fs::read_to_string(root.join(path)).with_context(|| path.display().to_string());
    let mut solution = if task.has_starter { read(&task.solution)? } else { String::new() };
    if task.is_rust {
        // The sibling in C++ has the sizes and the launch.
        let name = task.solution.file_name().context("a kernel")?;
        let cuda = read(&Path::new("kernels").join(name).with_extension("cu"))?;
        solution = starter::split_header(&cuda).0.to_owned() + starter::split_header(&solution).1;
    }
    Ok(starter::starter(task, &solution))
}

/// Returns the starter of a task; in a repository without solutions, which `assign` makes, the one that lies there.
pub fn starter(root: &Path, task: &Task) -> Result<String> {
    let committed = root.join(task.starter_file());
    if task.has_starter && !root.join(&task.solution).exists() && committed.is_file() {
        std::fs::read_to_string(&committed).with_context(|| task.starter_file().display().to_string())
    } else {
        generated_starter(root, task)
    }
}

/// Changes the progress file. If it cannot be written, a note is printed, and the command goes on.
pub(crate) fn note_progress(root: &Path, change: impl FnOnce(&mut progress::Progress, u64)) {
    let now = catalog::time::now();
    if let Err(error) = progress::Progress::update(root, |progress| change(progress, now)) {
        // Once in a run.
        static NOTED: Once = Once::new();
        NOTED.call_once(|| output::note(&format!("your progress is not recorded: {error}")));
    }
}

/// What a compiler made of a copy.
pub(crate) enum CompiledCopy {
    Ptx {
        ptx: PathBuf,
        /// The files that it was made of: the copy and what it includes.
        sources: Vec<PathBuf>,
        /// What is to be said of the compiler, and warnings.
        notes: Vec<String>,
    },
    Refused(tasks::compile::Refused),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// NVIDIA's.
    Nvrtc,
    /// `emulator/cuda`.
    BuiltIn,
}

/// Option of commands that compile a copy.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct With {
    /// Compiler of CUDA C++; when left out, NVIDIA's where it is, else the built-in one
    #[arg(long, value_name = "COMPILER")]
    pub(crate) with: Option<Choice>,
}

impl With {
    /// Returns the compiler that the option or the variable names.
    pub(crate) fn choice(self) -> Result<Option<Choice>> {
        self.with.map_or_else(choice, |with| Ok(Some(with)))
    }
}

/// Reads [`COMPILER`]; without it, the best compiler is taken that is there.
pub fn choice() -> Result<Option<Choice>> {
    match std::env::var(COMPILER).as_deref() {
        Err(_) | Ok("") => Ok(None),
        Ok(name) => Choice::from_str(name, false).map(Some).map_err(|_| {
            let why = format!("{COMPILER}={name} is not understood; use nvrtc or built-in, or leave it out");
            Stop::Usage(why).into()
        }),
    }
}

/// Compiles a copy with the compiler that is chosen.
pub(crate) fn compile(root: &Path, path: &Path, with: With) -> Result<CompiledCopy> {
    if is_rust(path) {
        let rustc = Rustc::find(root, None)?;
        let (source, sources) = (source::read_source(path)?, vec![path.to_owned(), root.join(rustc::PRELUDE)]);
        let (cache, name) = (CompileCache::in_checkout(root), path.strip_prefix(root).unwrap_or(path));
        return outcome(rustc.kept_ptx(&cache, name, &source), sources, Vec::new());
    }
    let choice = with.choice()?;
    let job = CompileJob::of_learner(root, path)?;
    let includes = source::local_includes(root, path, &job.source)?;
    let mut sources = vec![path.to_owned()];
    sources.extend(includes.iter().map(|include| include.path.clone()));
    let key = |compiler: &str| compile_cache::key(&job, &includes, compiler);
    let cache = CompileCache::in_checkout(root);
    let built_in = built_in::compile(root, &job, &includes)?;
    let mut notes = built_in.warnings;
    let nvrtc = if choice == Some(Choice::BuiltIn) { None } else { cache.known(&key(NVRTC)?, PTX) };
    if let Some(ptx) = nvrtc {
        return Ok(CompiledCopy::Ptx { ptx, sources, notes });
    }
    let nvrtc = match choice {
        Some(Choice::Nvrtc) => Some(Nvrtc::find()?),
        Some(Choice::BuiltIn) => None,
        None => match Nvrtc::find() {
            Err(error) if error.is::<Stop>() => return Err(error),
            Err(error) => {
                notes.extend(error.downcast_ref::<Damaged>().map(Damaged::to_string));
                None
            }
            Ok(nvrtc) => Some(nvrtc),
        },
    };
    let (key, compiled) = match (nvrtc, built_in.ptx) {
        (Some(nvrtc), built_in) => {
            let compiled = job.compile(&mut Compiler::start(&nvrtc)?, root).map(|compiled| compiled.ptx);
            interrupt::check(format!("{} was not compiled", job.name))?;
            // Both refuse it: the built-in compiler's reasons are for learners.
            let compiled = match (compiled, built_in) {
                (Err(error), Err(Refused::Wrong(log))) if error.is::<DoesNotCompile>() => {
                    Err(DoesNotCompile(log).into())
                }
                (compiled, _) => compiled,
            };
            (key(NVRTC)?, compiled)
        }
        (None, Ok(ptx)) => {
            notes.push(built_in::NOTE.to_owned());
            (key(&sha256(ptx.as_bytes()))?, Ok(ptx))
        }
        (None, Err(refused)) => (String::new(), Err(DoesNotCompile(refused.log()).into())),
    };
    outcome(compiled.and_then(|text| cache.keep(&key, PTX, text.as_bytes())), sources, notes)
}

/// Returns what came of a copy; that it does not compile is no error.
fn outcome(compiled: Result<PathBuf>, sources: Vec<PathBuf>, notes: Vec<String>) -> Result<CompiledCopy> {
    match compiled {
        Ok(ptx) => Ok(CompiledCopy::Ptx { ptx, sources, notes }),
        Err(error) => match error.downcast::<DoesNotCompile>() {
            Ok(DoesNotCompile(log)) => Ok(CompiledCopy::Refused(tasks::compile::Refused::from_log(&log))),
            Err(other) => Err(other),
        },
    }
}

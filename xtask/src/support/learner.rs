//! The learner's copies under `my/`, and compiling them.
//!
//! Compiled copies are kept under `target/my` by the hash of everything that goes in, so that a check of an
//! unchanged copy starts no compiler.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use catalog::files::write_whole_bytes;
use catalog::provenance::sha256;
use tasks::compile::Refused;
use tasks::{Catalogue, Task, TaskName, progress};

use crate::support::clang::{self, Clang};
use crate::support::compiler::{Compiler, DoesNotCompile};
use crate::support::nvrtc::Nvrtc;
use crate::support::output::{self, Stop};
use crate::support::source::{Include, Job};
use crate::support::{interrupt, paths, source, wheels};

/// Chooses the compiler: `nvrtc` or `clang`.
pub const COMPILER: &str = "TILE_COMPILER";
/// Compiled copies that are kept.
const MOST_KEPT: usize = 64;

/// The checkout, which has the tasks.
pub fn root() -> Result<PathBuf> {
    paths::checkout().context("the tasks are in a checkout of the repository, and this is none")
}

/// The task that a command line names.
pub(crate) fn task(root: &Path, asked: &str) -> Result<Task> {
    let name = TaskName::parse(asked).map_err(|error| Stop::Usage(error.to_string()))?;
    let catalogue = Catalogue::load(root, &name.step)?;
    let task = catalogue.find(&name).map_err(Stop::Usage)?;
    Ok(task.clone())
}

/// The learner's copy as it is called in messages: `my/v05.cu`
pub(crate) fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// The hash of the learner's copy, where there is one.
pub(crate) fn hash(root: &Path, task: &Task) -> Option<String> {
    let bytes = std::fs::read(task.copy(root)).ok()?;
    Some(sha256(&bytes))
}

/// The text of the finished kernel, with markers.
pub(crate) fn solution(root: &Path, task: &Task) -> Result<String> {
    let path = root.join(&task.solution);
    std::fs::read_to_string(&path).with_context(|| task.solution.display().to_string())
}

/// The starter of a task, from its solution.
pub(crate) fn generated_starter(root: &Path, task: &Task) -> Result<String> {
    let solution = match task.has_starter {
        true => std::fs::read_to_string(root.join(&task.solution))
            .with_context(|| task.solution.display().to_string())?,
        false => String::new(),
    };
    Ok(tasks::starter::starter(task, &solution))
}

/// The starter of a task; in a repository without solutions, which `assign` makes, the one that lies there.
pub fn starter(root: &Path, task: &Task) -> Result<String> {
    let committed = root.join(task.starter_file());
    match task.has_starter && !root.join(&task.solution).exists() && committed.is_file() {
        true => {
            std::fs::read_to_string(&committed).with_context(|| task.starter_file().display().to_string())
        }
        false => generated_starter(root, task),
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

/// The result of compiling a source.
pub(crate) enum Compiled {
    /// The PTX, and the files that it was made of: the copy and what it includes.
    Ptx { ptx: PathBuf, sources: Vec<PathBuf> },
    /// The compiler refuses it.
    Refused(Refused),
}

/// The compiler for a learner's kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// NVIDIA's.
    Nvrtc,
    /// LLVM's.
    Clang,
    /// NVRTC where it is, otherwise clang where that is.
    Any,
}

/// Reads [`COMPILER`].
pub fn choice() -> Result<Choice> {
    match std::env::var(COMPILER).as_deref() {
        Ok("nvrtc") => Ok(Choice::Nvrtc),
        Ok("clang") => Ok(Choice::Clang),
        Err(_) | Ok("") => Ok(Choice::Any),
        Ok(other) => Err(Stop::Usage(format!(
            "{COMPILER}={other} is not understood; use nvrtc or clang, or leave it out"
        ))
        .into()),
    }
}

/// Compiles a learner's source.
pub(crate) fn compile(root: &Path, path: &Path) -> Result<Compiled> {
    let choice = choice()?;
    let job = Job::of_learner(root, path)?;
    let includes = source::local_includes(root, path, &job.source)?;
    let mut sources = vec![path.to_owned()];
    sources.extend(includes.iter().map(|include| include.path.clone()));
    let key = |compiler: &str| key(&job, &includes, compiler);
    let folder = Folder::of(root);
    if choice != Choice::Clang
        && let Some(ptx) = folder.known(&key(NVRTC)?, PTX)
    {
        return Ok(Compiled::Ptx { ptx, sources });
    }
    let nvrtc = match choice {
        Choice::Clang => None,
        Choice::Nvrtc => Some(Nvrtc::find()?),
        Choice::Any => match Nvrtc::find() {
            Ok(nvrtc) => Some(nvrtc),
            Err(_) if !wheels::IS_OFFERED => None,
            Err(error) if Clang::find().is_none() => return Err(error),
            Err(_) => {
                output::note(
                    "no NVRTC here: compiling with clang, whose counts may differ (cargo xtask setup gets NVRTC)",
                );
                None
            }
        },
    };
    let (key, compiled) = match nvrtc {
        Some(nvrtc) => {
            let mut compiler = Compiler::start(&nvrtc.directory)?;
            (key(NVRTC)?, job.compile(&nvrtc, &mut compiler, root).map(|compiled| compiled.ptx))
        }
        None => {
            let clang = Clang::find().context(clang::MISSING)?;
            let key = key(&clang.key()?)?;
            if let Some(ptx) = folder.known(&key, PTX) {
                return Ok(Compiled::Ptx { ptx, sources });
            }
            (key, clang.compile(root, path, &job))
        }
    };
    if interrupt::happened() {
        bail!(Stop::Interrupted(format!("{} was not compiled", job.name)));
    }
    match compiled {
        Ok(text) => {
            let ptx = folder.keep(&key, PTX, text.as_bytes())?;
            Ok(Compiled::Ptx { ptx, sources })
        }
        Err(error) => match error.downcast::<DoesNotCompile>() {
            Ok(DoesNotCompile(log)) => Ok(Compiled::Refused(Refused::from_log(&log))),
            Err(other) => Err(other),
        },
    }
}

/// Part of a key: the one version that is used.
pub(crate) const NVRTC: &str = "NVRTC 12.4";
/// Endings of compiled files that are kept.
const PTX: &str = "ptx";
pub(crate) const CUBIN: &str = "cubin";

/// A hash of everything that goes into what a compiler makes of a source.
pub(crate) fn key(job: &Job, includes: &[Include], compiler: &str) -> Result<String> {
    let mut parts = vec![job.name.clone(), job.source.clone()];
    for Include { path, .. } in includes {
        parts.push(path.display().to_string());
        parts.push(source::read_source(path)?);
    }
    parts.extend(job.shown());
    let text: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    Ok(sha256(format!("{compiler}\n{text}").as_bytes()))
}

/// Where compiled copies are kept: in the checkout, or where that cannot be written, in a folder for temporary files.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn of(root: &Path) -> Self {
        let inside = root.join("target/my");
        let works = std::fs::create_dir_all(&inside).is_ok() && {
            let probe = inside.join(format!("probe.{}.tmp", std::process::id()));
            let written = std::fs::write(&probe, "").is_ok();
            let _ = std::fs::remove_file(&probe);
            written
        };
        match works {
            true => Self(inside),
            false => Self(std::env::temp_dir().join(format!("tile-by-tile-{}", user()))),
        }
    }

    pub(crate) fn known(&self, key: &str, ending: &str) -> Option<PathBuf> {
        let path = self.0.join(key).with_extension(ending);
        path.is_file().then_some(path)
    }

    pub(crate) fn keep(&self, key: &str, ending: &str, contents: &[u8]) -> Result<PathBuf> {
        self.forget_the_oldest(ending);
        self.put(&format!("{key}.{ending}"), contents)
    }

    /// Writes a file of this folder.
    pub(crate) fn put(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::create_dir_all(&self.0).with_context(|| format!("making {}", self.0.display()))?;
        write_whole_bytes(&path, contents.as_ref()).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    fn forget_the_oldest(&self, ending: &str) {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == ending))
            .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
            .collect();
        files.sort();
        let n = files.len().saturating_sub(MOST_KEPT - 1);
        for (_, path) in &files[..n] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// So that two users of a machine do not share a folder for temporary files.
fn user() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).unwrap_or_default();
    name.chars().filter(|c| c.is_ascii_alphanumeric()).collect()
}

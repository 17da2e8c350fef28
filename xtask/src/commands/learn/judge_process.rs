//! Starts `judge` on what was compiled, and reads its answer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use catalog::process::{self, Stopped};
use serde::de::DeserializeOwned;
use tasks::Task;
use xtask_support::compile_cache::CompileCache;
use xtask_support::{interrupt, programs};

/// Time limit of `judge`. A kernel that exhausts its budget of instructions takes about a second.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Output limit of `judge`. A verdict has a few thousand bytes.
const MAX_OUTPUT_BYTES: usize = 64 << 20;

/// A `judge`, and what it is asked about.
pub(super) struct Judge<'a> {
    program: PathBuf,
    pub(super) root: &'a Path,
    pub(super) task: &'a Task,
    ptx: Option<&'a Path>,
    pub(super) sources: &'a [PathBuf],
}

impl<'a> Judge<'a> {
    /// Finds the program, which may have to be built.
    pub(super) fn new(root: &'a Path, task: &'a Task, ptx: Option<&'a Path>, sources: &'a [PathBuf]) -> Result<Self> {
        Ok(Judge { program: programs::find_program("judge")?, root, task, ptx, sources })
    }

    /// Returns the same for another task.
    pub(super) fn of<'b>(&'b self, task: &'b Task) -> Judge<'b> {
        Judge { program: self.program.clone(), task, ..*self }
    }

    /// Returns the answer: none when it took too long.
    pub(super) fn ask<T: DeserializeOwned>(&self, options: &[&str]) -> Result<Option<T>> {
        answer(self.command(self.ptx, options)?, options)
    }

    /// Asks about other PTX, as [`Self::ask`] does.
    pub(super) fn ask_about<T: DeserializeOwned>(&self, ptx: &Path, options: &[&str]) -> Result<Option<T>> {
        answer(self.command(Some(ptx), options)?, options)
    }

    fn command(&self, ptx: Option<&Path>, options: &[&str]) -> Result<Command> {
        let json = serde_json::to_string(self.task)?;
        let described = CompileCache::in_checkout(self.root).put(&format!("{}.task.json", self.task.name), &json)?;
        let mut command = Command::new(&self.program);
        command.arg("--task").arg(described);
        if let Some(ptx) = ptx {
            command.arg("--ptx").arg(ptx);
        }
        for source in self.sources {
            command.arg("--source").arg(source.strip_prefix(self.root).unwrap_or(source));
        }
        command.args(options).current_dir(self.root).stdin(Stdio::null());
        Ok(command)
    }
}

fn answer<T: DeserializeOwned>(command: Command, options: &[&str]) -> Result<Option<T>> {
    let ended = process::run(command, TIME_LIMIT, MAX_OUTPUT_BYTES, &interrupt::happened).context("starting judge")?;
    interrupt::check("nothing was recorded")?;
    let words = ended.errors.trim().trim_start_matches("error: ");
    match (ended.status.code(), words) {
        _ if ended.stopped == Some(Stopped::Time) => Ok(None),
        _ if ended.stopped.is_some() => bail!("judge printed more than {} MiB", MAX_OUTPUT_BYTES >> 20),
        (Some(0 | 1), _) => {
            let noun = if options.contains(&"--explain") { "an explanation" } else { "a verdict" };
            let answer = serde_json::from_slice(&ended.output);
            answer.map(Some).with_context(|| format!("judge printed something that is not {noun}"))
        }
        (_, "") => bail!("judge ended ({}) and printed no error", ended.status),
        (_, words) => bail!("judge failed: {words}"),
    }
}

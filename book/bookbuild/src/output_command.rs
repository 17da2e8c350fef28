//! One command whose output the book shows: runs it, and compares the result with the committed file.
//!
//! Volatile text (times, dates) is ignored in comparisons, and the file stays as it is if nothing else changed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use regex::Regex;
use serde::Deserialize;

use crate::{Pattern, RepoPaths};

/// First line of every generated file.
pub(crate) const HEAD: &str = "# Made by `cargo xtask book --refresh`.";

/// A command whose output the book shows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// Name of the file `book/src/generated/NAME.txt`.
    pub(crate) name: String,
    /// Program and arguments as a reader types them; no shell runs them.
    pub(crate) command: String,
    /// Expected exit code: 0, unless the output shows a failure.
    #[serde(default)]
    pub(crate) exit: i32,
    /// Whether to append standard error to the output.
    #[serde(default)]
    pub(crate) errors: bool,
    /// Patterns of volatile text in this output.
    #[serde(default)]
    pub(crate) volatile: Vec<String>,
}

impl Output {
    pub(crate) fn file(&self) -> String {
        format!("{}.txt", self.name)
    }

    pub(crate) fn path(&self, repo: &RepoPaths) -> PathBuf {
        repo.generated().join(self.file())
    }

    /// Runs the command, and returns the new text of the file.
    pub(crate) fn run(&self, repo: &RepoPaths) -> Result<String> {
        let out = start(repo, &self.command)?
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("running `{}`", self.command))?;
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        if out.status.code() != Some(self.exit) {
            let last: Vec<&str> = errors.lines().rev().take(5).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            bail!(
                "`{}` ended with {}, not with exit code {}: {}",
                self.command,
                out.status,
                self.exit,
                last.join("\n")
            );
        }
        let mut text = String::from_utf8_lossy(&out.stdout).into_owned();
        if self.errors {
            text.push_str(&errors);
        }
        Ok(format!("{HEAD}\n$ {}\n{}\n", self.command, plain(&text).trim_end()))
    }

    /// Writes the file, unless only volatile text changed.
    pub(crate) fn write(&self, repo: &RepoPaths, new: String) -> Result<()> {
        let path = self.path(repo);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if self.is_same(&old, &new)? {
            return Ok(());
        }
        std::fs::create_dir_all(repo.generated())?;
        std::fs::write(&path, new).with_context(|| format!("writing {}", repo.display_path(&path)))?;
        print_note(&format!("wrote {}", repo.display_path(&path)));
        Ok(())
    }

    /// Compares the file with `new`; returns where they differ, and how.
    pub(crate) fn stale(&self, repo: &RepoPaths, new: &str) -> Result<Option<(String, String)>> {
        let path = self.path(repo);
        let shown = repo.display_path(&path);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let again = format!("make it again with: cargo xtask book --refresh {}", self.name);
        if old.is_empty() {
            return Ok(Some((shown, format!("is missing; {again}"))));
        }
        if self.is_same(&old, new)? {
            return Ok(None);
        }
        let (line, was, is) = self.first_difference(&old, new)?;
        Ok(Some((
            format!("{shown}:{line}"),
            format!("is stale: it has `{was}` where `{}` prints `{is}`; {again}", self.command),
        )))
    }

    /// Compares two texts without their volatile parts.
    fn is_same(&self, old: &str, new: &str) -> Result<bool> {
        Ok(self.stable_lines(old)? == self.stable_lines(new)?)
    }

    fn stable_lines(&self, text: &str) -> Result<Vec<String>> {
        let mut text = text.to_owned();
        for pattern in &self.volatile {
            let pattern = Regex::new(&format!("(?m){pattern}"))
                .with_context(|| format!("`volatile` of {} in book/outputs.toml", self.name))?;
            text = pattern.replace_all(&text, "~").into_owned();
        }
        Ok(text.lines().map(stable_line).collect())
    }

    fn first_difference(&self, old: &str, new: &str) -> Result<(usize, String, String)> {
        let (was, is) = (self.stable_lines(old)?, self.stable_lines(new)?);
        let longest = was.len().max(is.len());
        let index = (0..longest).find(|i| was.get(*i) != is.get(*i)).unwrap_or(0);
        let line = |text: &str| text.lines().nth(index).unwrap_or("(nothing)").trim().to_owned();
        Ok((index + 1, line(old), line(new)))
    }
}

/// Removes times, dates and rates from a line, and the column widths that depend on them.
fn stable_line(line: &str) -> String {
    static VOLATILE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).expect("a fixed pattern");
        vec![
            (pattern(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?"), "~date"),
            (pattern(r"[\d.]+ ?(ns|µs|us|ms|s|min|GFLOP/s|TFLOP/s|MHz|GHz)\b"), "~"),
            (pattern(r"\s+"), " "),
            (pattern(r"[-─=]{3,}"), "---"),
        ]
    });
    let replace = |text: String, (pattern, by): &(Regex, &str)| pattern.replace_all(&text, *by).into_owned();
    VOLATILE.iter().fold(line.to_owned(), replace).trim().to_owned()
}

/// Removes escape sequences, and keeps the last state of lines that were redrawn.
pub(crate) fn plain(text: &str) -> String {
    static ESCAPE: Pattern = pattern!(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07");
    let text = ESCAPE.replace_all(text, "").replace("\r\n", "\n");
    let line = |line: &str| line.rsplit('\r').next().unwrap_or_default().trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Prepares a command that runs in the repository, on the emulated device, without colours.
pub(crate) fn start(repo: &RepoPaths, line: &str) -> Result<Command> {
    let mut words = line.split_whitespace();
    let program = words.next().context("a command in book/outputs.toml is empty")?;
    let cargo = std::env::var_os("CARGO").filter(|_| program == "cargo");
    let mut command = Command::new(cargo.unwrap_or_else(|| program.into()));
    environment(command.args(words)).current_dir(repo.root()).stdin(Stdio::null());
    Ok(command)
}

/// Sets the environment of all commands: the emulated device, no colours, a hundred columns.
pub(crate) fn environment(command: &mut Command) -> &mut Command {
    command.env("TILE_DEVICE", "emulated").env("NO_COLOR", "1").env("COLUMNS", "100");
    // Cargo sets these variables for this program; the child must not inherit them.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        command.env_remove(variable);
    }
    command
}

#[expect(clippy::print_stderr, reason = "progress, for whoever started it")]
fn print_note(text: &str) {
    eprintln!("{text}");
}

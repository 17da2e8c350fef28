//! `{{#output}}`: output of commands, stored in files, updated by `--refresh`, compared by `--check`.
//!
//! `book/outputs.toml` lists the commands. They run on the emulated device, where counts are exact. Volatile text
//! (times, dates) is ignored when two outputs are compared, and the old text stays if nothing else changed. Sequences
//! of commands are transcripts (`transcripts`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use regex::Regex;
use serde::Deserialize;

use crate::records::{Sources, number as quoted};
use crate::transcripts::{self, Done, Programs, Transcript};
use crate::{Problem, RepoPaths};

/// Contents of `book/outputs.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// Patterns of volatile text in all outputs, besides times and dates.
    #[serde(default)]
    pub volatile: Vec<String>,
    /// Commands whose output is shown.
    #[serde(default)]
    pub output: Vec<Output>,
    /// Programs that write other files of the book.
    #[serde(default)]
    pub program: Vec<Program>,
    /// Transcripts, from `book/transcripts`.
    #[serde(skip)]
    pub(crate) transcripts: Vec<Transcript>,
}

/// A command whose output the book shows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name of the file `book/src/generated/NAME.txt`.
    pub name: String,
    /// Program and arguments as a reader types them; no shell runs them.
    pub command: String,
    /// Expected exit code: 0, unless the output shows a failure.
    #[serde(default)]
    pub exit: i32,
    /// Append standard error to the output.
    #[serde(default)]
    pub errors: bool,
    /// Patterns of volatile text in this output.
    #[serde(default)]
    pub volatile: Vec<String>,
}

/// A program that writes files into `book/src/generated`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The kind of files that it writes: `pictures`.
    pub makes: String,
    /// The command; `{folder}` stands for its output folder.
    pub command: String,
}

pub(crate) const HEAD: &str = "# Made by `cargo xtask book --refresh`.";

impl Outputs {
    /// Reads the list; a missing file is an empty list.
    pub fn load(repo: &RepoPaths) -> Result<Self> {
        let path = Self::path(repo);
        let text = match path.is_file() {
            true => std::fs::read_to_string(&path).with_context(|| repo.shown(&path))?,
            false => String::new(),
        };
        let mut list: Self = toml::from_str(&text)
            .with_context(|| format!("{} is not a list of outputs", repo.shown(&path)))?;
        list.transcripts = transcripts::load(repo)?;
        for output in &mut list.output {
            output.volatile.extend(list.volatile.iter().cloned());
        }
        Ok(list)
    }

    fn path(repo: &RepoPaths) -> PathBuf {
        repo.book().join("outputs.toml")
    }

    /// Runs everything and writes the results. If `only` is not empty, it selects outputs and transcripts by name.
    ///
    /// # Errors
    /// When a command cannot run, or its exit code is not the expected one.
    pub fn refresh(&self, repo: &RepoPaths, only: &[String]) -> Result<()> {
        for name in only {
            let is_output = self.output.iter().any(|output| output.name == *name);
            if !is_output
                && !self
                    .transcripts
                    .iter()
                    .any(|transcript| transcript.is_called(name))
            {
                bail!(
                    "{} lists no output `{name}`, and book/transcripts has none",
                    repo.shown(&Self::path(repo))
                );
            }
        }
        for output in self
            .output
            .iter()
            .filter(|o| only.is_empty() || only.contains(&o.name))
        {
            output.write(repo, output.run(repo)?)?;
        }
        let wanted =
            |transcript: &&Transcript| only.is_empty() || only.iter().any(|name| transcript.is_called(name));
        let transcripts: Vec<&Transcript> = self.transcripts.iter().filter(wanted).collect();
        if !transcripts.is_empty() {
            let programs = Programs::build(repo)?;
            for transcript in transcripts {
                match transcript.run(repo, &programs)? {
                    Done::NotRun(why) => bail!("the transcript {} cannot be made: {why}", transcript.name),
                    Done::Texts(texts) => {
                        for (output, text) in texts {
                            output.write(repo, text)?;
                        }
                    }
                }
            }
        }
        for program in self.program.iter().filter(|_| only.is_empty()) {
            std::fs::create_dir_all(repo.generated())?;
            program.run(repo, &repo.generated())?;
        }
        Ok(())
    }

    /// Runs everything and compares the results with the files; calls `report` with each transcript that did not run,
    /// and the reason.
    pub fn check(&self, repo: &RepoPaths, tell: impl Fn(&str)) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let mut stale = |file: String, what: String| {
            problems.push(Problem { file, line: 0, what });
        };
        for output in &self.output {
            match output.run(repo) {
                Err(error) => stale(repo.shown(&output.path(repo)), format!("{error:#}")),
                Ok(new) => {
                    if let Some((file, what)) = output.stale(repo, &new)? {
                        stale(file, what);
                    }
                }
            }
        }
        let mut made: BTreeSet<String> = self.output.iter().map(Output::file).collect();
        let programs = match self.transcripts.is_empty() {
            true => None,
            false => Some(Programs::build(repo)?),
        };
        for (transcript, programs) in self.transcripts.iter().zip(programs.iter().cycle()) {
            made.extend(transcript.outputs().map(|name| format!("{name}.txt")));
            match transcript.run(repo, programs) {
                Err(error) => stale(
                    format!("book/transcripts/{}.toml", transcript.name),
                    format!("{error:#}"),
                ),
                Ok(Done::NotRun(why)) => tell(&format!("transcript {}: not run: {why}", transcript.name)),
                Ok(Done::Texts(texts)) => {
                    for (output, new) in texts {
                        if let Some((file, what)) = output.stale(repo, &new)? {
                            stale(file, what);
                        }
                    }
                }
            }
        }
        for program in &self.program {
            let again = "make them again with: cargo xtask book --refresh";
            match program.fresh(repo) {
                Err(error) => stale(repo.shown(&repo.generated()), format!("{error:#}")),
                Ok(files) => {
                    for (name, new) in files {
                        let path = repo.generated().join(&name);
                        let old = std::fs::read(&path).unwrap_or_default();
                        if old != new {
                            let what = format!("is not what `{}` writes today; {again}", program.command);
                            stale(repo.shown(&path), what);
                        }
                        made.insert(name);
                    }
                }
            }
        }
        for name in stray(repo, &made) {
            let what = "is made by nothing in book/outputs.toml or book/transcripts; list what makes it, or remove it";
            stale(name, what.into());
        }
        Ok(problems)
    }
}

/// Returns the generated files that no command makes.
fn stray(repo: &RepoPaths, made: &BTreeSet<String>) -> Vec<String> {
    let entries = std::fs::read_dir(repo.generated()).into_iter().flatten();
    let mut stray: Vec<String> = entries
        .flatten()
        .filter(|entry| !made.contains(&*entry.file_name().to_string_lossy()))
        .map(|entry| repo.shown(&entry.path()))
        .collect();
    stray.sort();
    stray
}

impl Program {
    fn run(&self, repo: &RepoPaths, folder: &Path) -> Result<()> {
        if !self.command.contains("{folder}") {
            bail!("the command that makes {} says nowhere `{{folder}}`", self.makes);
        }
        let line = self.command.replace("{folder}", &folder.display().to_string());
        let out = start(repo, &line)?
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("running `{line}`"))?;
        let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        match out.status.success() {
            true => Ok(()),
            false => bail!("`{}`, which makes {}, failed: {said}", self.command, self.makes),
        }
    }

    /// Runs the program in a temporary folder, and returns the files that it writes.
    fn fresh(&self, repo: &RepoPaths) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = repo
            .root()
            .join("target")
            .join(format!("book-fresh-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let files = self.run(repo, &folder).and_then(|()| {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                files.push((name, std::fs::read(&path)?));
            }
            files.sort();
            Ok(files)
        });
        std::fs::remove_dir_all(&folder)?;
        files
    }
}

impl Output {
    fn file(&self) -> String {
        format!("{}.txt", self.name)
    }

    fn path(&self, repo: &RepoPaths) -> PathBuf {
        repo.generated().join(self.file())
    }

    /// Runs the command, and returns the new text of the file.
    fn run(&self, repo: &RepoPaths) -> Result<String> {
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
        Ok(format!(
            "{HEAD}\n$ {}\n{}\n",
            self.command,
            plain(&text).trim_end()
        ))
    }

    /// Writes the file, unless only volatile text changed.
    fn write(&self, repo: &RepoPaths, new: String) -> Result<()> {
        let path = self.path(repo);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if self.same(&old, &new)? {
            return Ok(());
        }
        std::fs::create_dir_all(repo.generated())?;
        std::fs::write(&path, new).with_context(|| format!("writing {}", repo.shown(&path)))?;
        tell(&format!("wrote {}", repo.shown(&path)));
        Ok(())
    }

    /// Compares the file with `new`; returns where they differ, and how.
    fn stale(&self, repo: &RepoPaths, new: &str) -> Result<Option<(String, String)>> {
        let path = self.path(repo);
        let shown = repo.shown(&path);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let again = format!("make it again with: cargo xtask book --refresh {}", self.name);
        if old.is_empty() {
            return Ok(Some((shown, format!("is missing; {again}"))));
        }
        if self.same(&old, new)? {
            return Ok(None);
        }
        let (line, was, is) = self.first_difference(&old, new)?;
        Ok(Some((
            format!("{shown}:{line}"),
            format!(
                "is stale: it has `{was}` where `{}` prints `{is}`; {again}",
                self.command
            ),
        )))
    }

    /// Compares two texts without their volatile parts.
    fn same(&self, old: &str, new: &str) -> Result<bool> {
        Ok(self.lasting(old)? == self.lasting(new)?)
    }

    fn lasting(&self, text: &str) -> Result<Vec<String>> {
        let mut text = text.to_owned();
        for pattern in &self.volatile {
            let pattern = Regex::new(&format!("(?m){pattern}"))
                .with_context(|| format!("`volatile` of {} in book/outputs.toml", self.name))?;
            text = pattern.replace_all(&text, "~").into_owned();
        }
        Ok(text.lines().map(lasting).collect())
    }

    fn first_difference(&self, old: &str, new: &str) -> Result<(usize, String, String)> {
        let (was, is) = (self.lasting(old)?, self.lasting(new)?);
        let longest = was.len().max(is.len());
        let index = (0..longest).find(|i| was.get(*i) != is.get(*i)).unwrap_or(0);
        let line = |text: &str| text.lines().nth(index).unwrap_or("(nothing)").trim().to_owned();
        Ok((index + 1, line(old), line(new)))
    }
}

/// Removes times, dates and rates from a line, and the column widths that depend on them.
fn lasting(line: &str) -> String {
    static VOLATILE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).expect("a fixed pattern");
        vec![
            (pattern(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?"), "~date"),
            (
                pattern(r"[\d.]+ ?(ns|µs|us|ms|s|min|GFLOP/s|TFLOP/s|MHz|GHz)\b"),
                "~",
            ),
            (pattern(r"\s+"), " "),
            (pattern(r"[-─=]{3,}"), "---"),
        ]
    });
    let replace = |text: String, (pattern, by): &(Regex, &str)| pattern.replace_all(&text, *by).into_owned();
    VOLATILE.iter().fold(line.to_owned(), replace).trim().to_owned()
}

/// Removes escape sequences, and keeps the last state of lines that were redrawn.
pub(crate) fn plain(text: &str) -> String {
    static ESCAPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07").expect("a fixed pattern"));
    let text = ESCAPE.replace_all(text, "").replace("\r\n", "\n");
    let line = |line: &str| line.rsplit('\r').next().unwrap_or_default().trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Prepares a command that runs in the repository, on the emulated device, without colours.
fn start(repo: &RepoPaths, line: &str) -> Result<Command> {
    let mut words = line.split_whitespace();
    let program = words.next().context("a command in book/outputs.toml is empty")?;
    let cargo = std::env::var_os("CARGO").filter(|_| program == "cargo");
    let mut command = Command::new(cargo.unwrap_or_else(|| program.into()));
    environment(command.args(words))
        .current_dir(repo.root())
        .stdin(Stdio::null());
    Ok(command)
}

/// Sets the environment of all commands: the emulated device, no colours, a hundred columns.
pub(crate) fn environment(command: &mut Command) -> &mut Command {
    command
        .env("TILE_DEVICE", "emulated")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
    // Cargo sets these variables for this program; the next one must not see them.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        command.env_remove(variable);
    }
    command
}

#[expect(clippy::print_stderr, reason = "progress, for whoever started it")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// `{{#output NAME}}`: a block with an output, or with a difference. Titles behind the name select paragraphs.
pub(crate) fn block(repo: &RepoPaths, name: &str, titles: &[&str]) -> Result<String, String> {
    let mut text = output(repo, name)?;
    if !titles.is_empty() {
        text = only(&text, titles).map_err(|why| format!("the output {name} {why}"))?;
    }
    let language = match text.starts_with("--- ") {
        true => "diff",
        false => "text",
    };
    Ok(format!("```{language}\n{text}\n```"))
}

/// Replaces the lines that are not shown.
const LEFT_OUT: &str = "…";

/// Keeps the command, and the paragraphs that begin with one of the titles.
fn only(text: &str, titles: &[&str]) -> Result<String, String> {
    let (command, printed) = text.split_once('\n').unwrap_or((text, ""));
    let paragraphs = || printed.split("\n\n").map(|p| p.trim_matches('\n'));
    if let Some(title) = titles
        .iter()
        .find(|title| !paragraphs().any(|p| p.starts_with(**title)))
    {
        return Err(format!("has no paragraph that begins with `{title}`"));
    }
    let mut shown = vec![command];
    for paragraph in paragraphs() {
        let wanted = titles.iter().any(|title| paragraph.starts_with(title));
        match (wanted, shown.last()) {
            (true, _) => shown.push(paragraph),
            (false, Some(&LEFT_OUT)) => {}
            (false, _) => shown.push(LEFT_OUT),
        }
    }
    Ok(shown.join("\n\n"))
}

/// Returns the lines of the block.
pub(crate) fn output(repo: &RepoPaths, name: &str) -> Result<String, String> {
    let path = repo.generated().join(name).with_extension("txt");
    let text = repo.read(&path).map_err(|why| {
        format!("{why}; list its command in book/outputs.toml, then: cargo xtask book --refresh {name}")
    })?;
    let text = text.strip_prefix(HEAD).unwrap_or(&text).trim_matches('\n');
    match text.is_empty() {
        true => Err(format!("{} is empty", repo.shown(&path))),
        false => Ok(text.to_owned()),
    }
}

/// `{{#n output v05-bench KERNEL COLUMN}}`: a cell of a table in an output.
pub(crate) fn number(
    repo: &RepoPaths,
    [name, row, column]: [&str; 3],
    sources: &mut Sources,
) -> Result<String, String> {
    let text = output(repo, name)?;
    let value = cell(&text, row, column).ok_or_else(|| {
        format!("the output {name} has no table with a row `{row}` and a column `{column}`")
    })?;
    let command = text.lines().next().unwrap_or_default().trim_start_matches("$ ");
    sources.insert(format!("<code>{command}</code>"));
    Ok(quoted(value, &format!("{column} of {row}, {command}")))
}

/// Finds a cell. A table begins with a line of titles, the first of them `kernel`, and ends with an empty line.
/// Titles and cells are two blanks apart; numbers end where their title ends, words begin where it begins.
fn cell<'a>(text: &'a str, row: &str, column: &str) -> Option<&'a str> {
    let mut place: Option<(usize, usize)> = None;
    for line in text.lines() {
        let cells = cells(line);
        match cells.first() {
            None => place = None,
            Some((_, "kernel")) => {
                let title = cells.iter().find(|(_, title)| *title == column);
                place = title.map(|(at, title)| (*at, at + title.chars().count()));
            }
            Some((_, first)) if *first == row => {
                let is_it = |(at, cell): &&(usize, &str)| {
                    place.is_some_and(|(start, end)| *at == start || at + cell.chars().count() == end)
                };
                if let Some((_, cell)) = cells.iter().find(is_it) {
                    return Some(cell);
                }
            }
            Some(_) => {}
        }
    }
    None
}

/// Splits a line at two or more blanks; returns each text with its first column.
fn cells(line: &str) -> Vec<(usize, &str)> {
    static CELL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\S+(?: \S+)*").expect("a fixed pattern"));
    CELL.find_iter(line)
        .map(|cell| (line[..cell.start()].chars().count(), cell.as_str()))
        .collect()
}

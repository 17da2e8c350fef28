//! Transcripts: sequences of commands in a folder of their own, as a learner or an instructor types them.
//!
//! `book/transcripts/NAME.toml` lists the steps: commands to run, files to edit, files to write. They run in a folder
//! under `target` that looks like a fresh checkout: it has no `my/`, and the reader's own `my/` is not changed. Each
//! step with a name becomes a file of `book/src/generated`, for `{{#output}}`.

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail, ensure};
use catalog::{files::files_ending_with, programs::on_path};
use serde::Deserialize;
use tasks::solutions;

use crate::RepoPaths;
use crate::output_command::{HEAD, Output, environment, plain};

/// Entries of the repository that the folder of a transcript lacks.
const HIDDEN: [&str; 4] = [".git", "my", "target", "node_modules"];
/// Programs that its commands start.
const PROGRAMS: [&str; 3] = ["xtask", "judge", "teach"];
/// Where a transcript takes place, as it is shown.
const SHOWN_FOLDER: &str = "~/tile-by-tile";

/// Contents of a file in `book/transcripts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transcript {
    /// Stem of the file's name.
    #[serde(skip)]
    pub(crate) name: String,
    /// Programs that must be installed; otherwise the transcript is skipped.
    #[serde(default)]
    needs: Vec<String>,
    step: Vec<TranscriptStep>,
}

/// A step: exactly one of `run`, `edit` and `write`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TranscriptStep {
    /// Name in `book/src/generated/TRANSCRIPT-NAME.txt`; a step without a name is not shown.
    name: Option<String>,
    /// A command as a reader types it; no shell runs it.
    run: Option<String>,
    exit: i32,
    /// Whether to append standard error to the output.
    errors: bool,
    /// Maximum number of lines to show; `…` stands for the rest.
    lines: Option<usize>,
    /// Patterns of volatile text, besides times and dates.
    volatile: Vec<String>,
    /// A file to edit; the difference is shown.
    edit: Option<PathBuf>,
    /// Texts that occur once in the file, each with its replacement.
    edits: Vec<[String; 2]>,
    /// A file to write: `text`, or one of `tests/data/solutions`.
    write: Option<PathBuf>,
    text: Option<String>,
    /// Name of the solution to copy, such as `v02/no-second-barrier`.
    solution: Option<String>,
}

pub(crate) enum TranscriptRun {
    /// Every named step with its text.
    Texts(Vec<(Output, String)>),
    NotRun(String),
}

/// Loads all transcripts, sorted by name.
pub(crate) fn load(repo: &RepoPaths) -> Result<Vec<Transcript>> {
    let folder = repo.book().join("transcripts");
    let mut found = Vec::new();
    for path in files_ending_with(&folder, ".toml").unwrap_or_default() {
        let text = std::fs::read_to_string(&path)?;
        let mut transcript: Transcript =
            toml::from_str(&text).with_context(|| format!("{} is not a transcript", repo.display_path(&path)))?;
        transcript.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push(transcript);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

impl Transcript {
    pub(crate) fn outputs(&self) -> impl Iterator<Item = String> {
        self.step.iter().filter_map(|step| Some(format!("{}-{}", self.name, step.name.as_ref()?)))
    }

    /// Returns whether `name` is that of the transcript or of one of its outputs.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.outputs().any(|output| output == name)
    }

    /// Runs all steps in a fresh folder.
    pub(crate) fn run(&self, repo: &RepoPaths, programs: &Programs) -> Result<TranscriptRun> {
        if let Some(missing) = self.needs.iter().find(|name| on_path(name).is_none()) {
            return Ok(TranscriptRun::NotRun(format!("there is no {missing} here")));
        }
        let sandbox = Sandbox::new(repo, &self.name)?;
        if let Some(why) = programs.no_compiler(&sandbox)? {
            return Ok(TranscriptRun::NotRun(why));
        }
        let mut texts = Vec::new();
        for (number, step) in (1..).zip(&self.step) {
            let here = || format!("step {number} of book/transcripts/{}.toml", self.name);
            let text = step.run(repo, &sandbox, programs).with_context(here)?;
            if let Some(name) = &step.name {
                let output = Output {
                    name: format!("{}-{name}", self.name),
                    command: step.description(),
                    volatile: step.volatile.clone(),
                    ..Output::default()
                };
                texts.push((output, text));
            }
        }
        Ok(TranscriptRun::Texts(texts))
    }
}

impl TranscriptStep {
    /// Describes the step: the command as typed, or the action and the file.
    fn description(&self) -> String {
        match (&self.run, &self.edit, &self.write) {
            (Some(command), ..) => command.clone(),
            (_, Some(path), _) => format!("edit {}", path.display()),
            (_, _, Some(path)) => format!("write {}", path.display()),
            _ => String::new(),
        }
    }

    /// Runs the step, and returns the text of its file.
    fn run(&self, repo: &RepoPaths, sandbox: &Sandbox, programs: &Programs) -> Result<String> {
        match (&self.run, &self.edit, &self.write) {
            (Some(command), None, None) => self.run_command(sandbox, programs, command),
            (None, Some(path), None) => self.edit_file(sandbox, path),
            (None, None, Some(path)) => self.write_file(repo, sandbox, path),
            _ => bail!("a step is exactly one of run, edit and write"),
        }
    }

    fn run_command(&self, sandbox: &Sandbox, programs: &Programs, command: &str) -> Result<String> {
        let out = programs.start(sandbox, command)?.output()?;
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        let mut text = String::from_utf8_lossy(&out.stdout).into_owned();
        if out.status.code() != Some(self.exit) {
            bail!("`{command}` ended with {}, not with exit code {}:\n{text}{errors}", out.status, self.exit);
        }
        if self.errors {
            // Lines with `+` are commands that a program starts; they contain paths of this machine.
            for line in errors.lines().filter(|line| !line.starts_with('+')) {
                text.push_str(line);
                text.push('\n');
            }
        }
        let text = plain(&sandbox.with_shown_folder(&text));
        let text = match self.lines {
            Some(most) if text.lines().count() > most => {
                let kept: Vec<&str> = text.lines().take(most).collect();
                format!("{}\n…", kept.join("\n"))
            }
            _ => text,
        };
        Ok(format!("{HEAD}\n$ {command}\n{}\n", text.trim_end()))
    }

    fn edit_file(&self, sandbox: &Sandbox, path: &Path) -> Result<String> {
        let shown = path.display().to_string();
        let file = sandbox.file(path)?;
        let old = std::fs::read_to_string(&file).with_context(|| shown.clone())?;
        let mut new = old.clone();
        for [find, replace] in &self.edits {
            ensure!(new.matches(find.as_str()).count() == 1, "expected exactly one occurrence in {shown} of: {find}");
            new = new.replacen(find, replace, 1);
        }
        std::fs::write(&file, &new)?;
        let text = tasks::diff::unified(&old, &new, &shown, &shown);
        Ok(format!("{HEAD}\n{}\n", text.trim_end()))
    }

    fn write_file(&self, repo: &RepoPaths, sandbox: &Sandbox, path: &Path) -> Result<String> {
        let text = match (&self.text, &self.solution) {
            (Some(text), None) => text.clone(),
            (None, Some(name)) => {
                let step = name.split('/').next().unwrap_or_default();
                let all = solutions::load(repo.root(), step)?;
                let found = all.into_iter().find(|solution| solution.name == *name);
                let found = found.with_context(|| format!("tests/data/solutions has no `{name}`"))?;
                tasks::markers::finished(&found.source)
            }
            _ => bail!("a file is written from exactly one of text and solution"),
        };
        let file = sandbox.file(path)?;
        std::fs::create_dir_all(file.parent().unwrap_or(&sandbox.folder))?;
        std::fs::write(&file, &text)?;
        Ok(format!("{HEAD}\n{}\n", text.trim_end()))
    }
}

/// The folder in which a transcript runs; removed when dropped.
pub(crate) struct Sandbox {
    folder: PathBuf,
    root: PathBuf,
}

impl Sandbox {
    fn new(repo: &RepoPaths, name: &str) -> Result<Self> {
        let folder = repo.root().join("target").join(format!("transcript-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("target"))?;
        for entry in std::fs::read_dir(repo.root())? {
            let entry = entry?;
            if !HIDDEN.contains(&&*entry.file_name().to_string_lossy()) {
                link(&entry.path(), &folder.join(entry.file_name()))?;
            }
        }
        let compiler = repo.root().join("target/nvrtc");
        if compiler.is_dir() {
            link(&compiler, &folder.join("target/nvrtc"))?;
        }
        Ok(Self { folder, root: repo.root().to_owned() })
    }

    /// Returns the path of a file that a transcript may change: much of the folder is links into the checkout.
    fn file(&self, path: &Path) -> Result<PathBuf> {
        let file = self.folder.join(path);
        let is_link = file.is_symlink();
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let real_folder = file.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
        let own = self.folder.canonicalize()?;
        let is_own = !is_link && !climbs && real_folder.is_some_and(|folder| folder.starts_with(own));
        ensure!(is_own, "{} is a file of the checkout, which no transcript changes", path.display());
        Ok(file)
    }

    /// Replaces the folder's path with that of a reader.
    fn with_shown_folder(&self, text: &str) -> String {
        let text = text.replace(&*self.folder.to_string_lossy(), SHOWN_FOLDER);
        text.replace(&*self.root.to_string_lossy(), SHOWN_FOLDER)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("transcripts are made where there are symbolic links"))
}

/// Built programs that the commands of transcripts start.
pub(crate) struct Programs {
    folder: PathBuf,
    /// Reason why kernels cannot be compiled here, set after the first attempt.
    no_compiler: OnceLock<Option<String>>,
}

impl Programs {
    pub(crate) fn build(repo: &RepoPaths) -> Result<Self> {
        let mut command = Command::new(cargo());
        command.args(["build", "-q", "--message-format=json-render-diagnostics"]);
        for name in PROGRAMS {
            command.args(["-p", name]);
        }
        let out = environment(&mut command)
            .current_dir(repo.root())
            .stderr(Stdio::inherit())
            .output()
            .context("building the programs of transcripts")?;
        ensure!(out.status.success(), "the programs of transcripts do not build");
        let is_one = |line: &str| -> Option<PathBuf> {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            let path = PathBuf::from(message["executable"].as_str()?);
            (message["target"]["name"] == PROGRAMS[0]).then_some(path)
        };
        let text = String::from_utf8_lossy(&out.stdout);
        let program = text.lines().find_map(is_one).context("cargo built no xtask")?;
        let folder = program.parent().context("a program lies in a folder")?.to_owned();
        Ok(Self { folder, no_compiler: OnceLock::new() })
    }

    /// Prepares a command. `cargo xtask` becomes the program just built, with the transcript's folder as its checkout.
    fn start(&self, sandbox: &Sandbox, line: &str) -> Result<Command> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = match words.as_slice() {
            ["cargo", "xtask", args @ ..] => {
                let mut command = Command::new(self.folder.join("xtask"));
                environment(command.args(args))
                    .env("CARGO", cargo())
                    .env("CARGO_MANIFEST_DIR", sandbox.folder.join("xtask"))
                    .env("TILE_JUDGE", self.folder.join("judge"))
                    .env("TILE_TEACH", self.folder.join("teach"))
                    .env("TILE_COMPILER", "nvrtc");
                command
            }
            [program, args @ ..] => {
                let mut command = Command::new(program);
                environment(command.args(args));
                command
            }
            [] => bail!("a command is empty"),
        };
        command.current_dir(&sandbox.folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn no_compiler(&self, sandbox: &Sandbox) -> Result<Option<String>> {
        const NOT_RUN: i32 = 3;
        if let Some(known) = self.no_compiler.get() {
            return Ok(known.clone());
        }
        let out = self.start(sandbox, "cargo xtask ptx --check kernels/v01_col_per_lane.cu")?.output()?;
        let errors = String::from_utf8_lossy(&out.stderr);
        let last = errors.lines().last().unwrap_or("no compiler").trim_start_matches("error: ");
        let why = (out.status.code() == Some(NOT_RUN)).then(|| last.to_owned());
        Ok(self.no_compiler.get_or_init(|| why).clone())
    }
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

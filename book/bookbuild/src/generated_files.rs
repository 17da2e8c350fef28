//! The generated files of the book: `--refresh` updates them, `--check` compares them.
//!
//! `book/outputs.toml` lists commands, and programs that write several files. They run on the emulated device, where
//! counts are exact. Sequences of commands are transcripts (`transcripts`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

use crate::output_command::{Output, start};
use crate::transcripts::{self, Programs, Transcript, TranscriptRun};
use crate::{Problem, RepoPaths};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outputs {
    /// Patterns of volatile text in all outputs, besides times and dates.
    volatile: Vec<String>,
    pub(crate) output: Vec<Output>,
    pub(crate) program: Vec<Program>,
    /// Transcripts, from `book/transcripts`.
    #[serde(skip)]
    pub(crate) transcripts: Vec<Transcript>,
}

/// A program that writes files into `book/src/generated`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// Names what it writes, such as `pictures`.
    makes: String,
    /// The command; `{folder}` stands for its output folder.
    command: String,
}

impl Outputs {
    /// Reads the list; a missing file is an empty list.
    pub fn load(repo: &RepoPaths) -> Result<Self> {
        let path = Self::path(repo);
        let text = if path.is_file() {
            std::fs::read_to_string(&path).with_context(|| repo.display_path(&path))?
        } else {
            String::new()
        };
        let mut list: Self =
            toml::from_str(&text).with_context(|| format!("{} is not a list of outputs", repo.display_path(&path)))?;
        list.transcripts = transcripts::load(repo)?;
        for output in &mut list.output {
            output.volatile.extend(list.volatile.iter().cloned());
        }
        Ok(list)
    }

    fn path(repo: &RepoPaths) -> PathBuf {
        repo.book().join("outputs.toml")
    }

    /// Runs everything and writes the results; `only`, if not empty, names outputs, transcripts and programs to run.
    pub fn refresh(&self, repo: &RepoPaths, only: &[String]) -> Result<()> {
        for name in only {
            let is_listed = self.output.iter().any(|output| output.name == *name)
                || self.program.iter().any(|program| program.makes == *name);
            if !is_listed && !self.transcripts.iter().any(|transcript| transcript.is_called(name)) {
                bail!(
                    "{} lists no output `{name}`, and book/transcripts has none",
                    repo.display_path(&Self::path(repo))
                );
            }
        }
        for output in self.output.iter().filter(|o| only.is_empty() || only.contains(&o.name)) {
            output.write(repo, output.run(repo)?)?;
        }
        let wanted = |transcript: &&Transcript| only.is_empty() || only.iter().any(|name| transcript.is_called(name));
        let transcripts: Vec<&Transcript> = self.transcripts.iter().filter(wanted).collect();
        if !transcripts.is_empty() {
            let programs = Programs::build(repo)?;
            for transcript in transcripts {
                match transcript.run(repo, &programs)? {
                    TranscriptRun::NotRun(why) => {
                        bail!("the transcript {} cannot be made: {why}", transcript.name)
                    }
                    TranscriptRun::Texts(texts) => {
                        for (output, text) in texts {
                            output.write(repo, text)?;
                        }
                    }
                }
            }
        }
        for program in self.program.iter().filter(|p| only.is_empty() || only.contains(&p.makes)) {
            std::fs::create_dir_all(repo.generated())?;
            program.run(repo, &repo.generated())?;
        }
        Ok(())
    }

    /// Runs everything and compares the results with the files; `report` gets each transcript that failed, and why.
    pub(crate) fn check(&self, repo: &RepoPaths, report: impl Fn(&str)) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let mut stale = |file: String, what: String| {
            problems.push(Problem { file, line: 0, what });
        };
        for output in &self.output {
            match output.run(repo) {
                Err(error) => stale(repo.display_path(&output.path(repo)), format!("{error:#}")),
                Ok(new) => output.stale(repo, &new)?.into_iter().for_each(|(file, what)| stale(file, what)),
            }
        }
        let mut made: BTreeSet<String> = self.output.iter().map(Output::file).collect();
        let programs = if self.transcripts.is_empty() { None } else { Some(Programs::build(repo)?) };
        for (transcript, programs) in self.transcripts.iter().zip(programs.iter().cycle()) {
            made.extend(transcript.outputs().map(|name| format!("{name}.txt")));
            match transcript.run(repo, programs) {
                Err(error) => stale(format!("book/transcripts/{}.toml", transcript.name), format!("{error:#}")),
                Ok(TranscriptRun::NotRun(why)) => report(&format!("transcript {}: not run: {why}", transcript.name)),
                Ok(TranscriptRun::Texts(texts)) => {
                    for (output, new) in texts {
                        output.stale(repo, &new)?.into_iter().for_each(|(file, what)| stale(file, what));
                    }
                }
            }
        }
        for program in &self.program {
            let again = format!("make them again with: cargo xtask book --refresh {}", program.makes);
            match program.new_files(repo) {
                Err(error) => stale(repo.display_path(&repo.generated()), format!("{error:#}")),
                Ok(files) => {
                    for (name, new) in files {
                        let path = repo.generated().join(&name);
                        let old = std::fs::read(&path).unwrap_or_default();
                        if old != new {
                            let what = format!("differs from what `{}` writes today; {again}", program.command);
                            stale(repo.display_path(&path), what);
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
        .map(|entry| repo.display_path(&entry.path()))
        .collect();
    stray.sort();
    stray
}

impl Program {
    fn run(&self, repo: &RepoPaths, folder: &Path) -> Result<()> {
        if !self.command.contains("{folder}") {
            bail!("the command that makes {} does not contain `{{folder}}`", self.makes);
        }
        let line = self.command.replace("{folder}", &folder.display().to_string());
        let out = start(repo, &line)?
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("running `{line}`"))?;
        let message = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        ensure!(out.status.success(), "`{}`, which makes {}, failed: {message}", self.command, self.makes);
        Ok(())
    }

    /// Runs the program in a temporary folder, and returns the files that it writes.
    fn new_files(&self, repo: &RepoPaths) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = repo.root().join("target").join(format!("book-fresh-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let files = self.run(repo, &folder).and_then(|()| {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push((name, std::fs::read(&path)?));
            }
            files.sort();
            Ok(files)
        });
        std::fs::remove_dir_all(&folder)?;
        files
    }
}

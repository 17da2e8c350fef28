//! `cargo xtask tidy`: checks the rules that a program can check. Called from a test too.
//!
//! Formatting and lints are `cargo fmt` and `cargo clippy`; what is here is about files that belong together.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use catalog::{STEPS, Step, provenance};
use records::record::Record;
use records::{busiest, profile, sanitizer, sums};
use serde_json::{Value, json};

use tasks::task::{Catalogue, CatalogueError};
use tasks::{markers, solutions};
use xtask_support::CommandOutcome;
use xtask_support::staleness::{self, State};
use xtask_support::{output, paths};

use crate::commands::maintain::readme;

#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask tidy")]
pub(crate) struct Args {
    /// Print one JSON record per complaint
    #[arg(long)]
    json: bool,
}

/// Longest line of a kernel: the book shows them.
const KERNEL_COLUMNS: usize = 120;

/// Longest line of a comment in a Rust source.
const COMMENT_COLUMNS: usize = 120;

/// The file that names the steps and their kernels.
const CATALOGUE: &str = "course/catalog/src/steps.rs";
/// Kinds of records beside that of `bench`, and the commands that make them.
const RECORDS: [(&str, &str); 3] = [("counters", "profile"), ("sanitizer", "sanitize"), ("sums", "sums")];

/// Steps whose chapters have no picture yet; not for new ones.
const WITHOUT_PICTURE: [&str; 1] = ["v11"];

/// Something to put right.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    file: String,
    line: usize,
    what: String,
    remedy: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, what, remedy } = self;
        write!(f, "{file}:{line}: {what}; {remedy}")
    }
}

pub(crate) fn run(args: &Args) -> Result<CommandOutcome> {
    let root = paths::checkout().context("tidy must run in a checkout of the repository; this folder is not one")?;
    let complaints = complaints(&root)?;
    for complaint in &complaints {
        output::print(&if args.json {
            let Complaint { file, line, what, remedy } = complaint;
            format!("{}\n", json!({ "file": file, "line": line, "what": what, "then": remedy }))
        } else {
            format!("{complaint}\n")
        })?;
    }
    match complaints.len() {
        0 => output::note("tidy"),
        1 => output::note("1 problem found"),
        n => output::note(&format!("{n} problems found")),
    }
    Ok(if complaints.is_empty() { CommandOutcome::Passed } else { CommandOutcome::Failed })
}

fn complaints(root: &Path) -> Result<Vec<Complaint>> {
    let mut rules = Rules { root, files: files(root)?, found: Vec::new() };
    rules.kernels();
    rules.catalogue();
    rules.steps(STEPS);
    rules.manifests();
    rules.examples();
    rules.comments();
    rules.local_paths();
    rules.records();
    rules.readme();
    rules.links();
    Ok(rules.found)
}

struct Rules<'a> {
    root: &'a Path,
    /// Files of the repository, as paths from its root.
    files: Vec<String>,
    found: Vec<Complaint>,
}

/// Returns the files that git tracks or would add; without git, everything outside of `target` and hidden folders.
fn files(root: &Path) -> Result<Vec<String>> {
    let git = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let mut files = Vec::new();
    match git {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            files.extend(text.split('\0').filter(|name| !name.is_empty()).map(String::from));
        }
        _ => walk(root, root, &mut files)?,
    }
    // Git lists a file that was deleted but not staged.
    files.retain(|name| root.join(name).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(root: &Path, folder: &Path, into: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "target" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, into)?;
        } else {
            into.push(path.strip_prefix(root)?.display().to_string());
        }
    }
    Ok(())
}

impl Rules<'_> {
    fn complain(&mut self, file: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) {
        self.found.push(Complaint { file: file.into(), line, what: what.into(), remedy: remedy.into() });
    }

    fn text(&self, file: &str) -> String {
        let bytes = std::fs::read(self.root.join(file)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn named(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        self.files.iter().filter(|name| wanted(name)).cloned().collect()
    }

    /// Checks sources under `kernels` and `steps`: width, markers, PTX; and the tables of launches.
    fn kernels(&mut self) {
        let is_source = |name: &str| name.ends_with(".cu") || name.ends_with(".cuh");
        let sources =
            self.named(|name| (name.starts_with("kernels/") || name.starts_with("steps/")) && is_source(name));
        let tables = self.text("kernels/README.md");
        let mut targets: Vec<PathBuf> = Vec::new();
        for file in &sources {
            let text = self.text(file);
            for (number, line) in (1..).zip(text.lines()) {
                let n = line.chars().count();
                if n > KERNEL_COLUMNS && file.starts_with("kernels/") {
                    let then = format!("break it before {KERNEL_COLUMNS}");
                    self.complain(file, number, format!("the line has {n} columns"), then);
                }
            }
            if !file.ends_with(".cu") {
                continue;
            }
            if let Some(step) = step_of(file) {
                for (number, what) in markers::complaints(&text, step) {
                    self.complain(file, number, what, "the book and the starters are made by these markers");
                }
                let name = file.strip_prefix("kernels/").unwrap_or(file);
                // The headers of those give their launches.
                if !name.starts_with("v08_transpose") && !tables.contains(&format!("`{name}`")) {
                    let what = format!("no table has the launch of `{name}`");
                    self.complain("kernels/README.md", 1, what, "add a row by hand: its entries, idea, tile, threads");
                }
            }
            let source = self.root.join(file);
            targets.push(provenance::target_of(self.root, &source));
            targets.extend(provenance::cubin_of(self.root, &source));
            let make = format!("make it with: cargo xtask ptx {file}");
            match staleness::state(self.root, &source) {
                State::Fresh => {}
                State::Edited(name) => {
                    self.complain(file, 1, format!("{name} changed since its PTX was made"), make);
                }
                State::Missing => self.complain(file, 1, "its PTX is missing", make),
                State::Damaged(why) => self.complain(file, 1, format!("its PTX is damaged: {why}"), make),
            }
        }
        for (folder, what) in
            [("kernels/ptx/", "no source has this PTX"), ("kernels/cubin/", "no source has this machine code")]
        {
            for file in self.named(|name| name.starts_with(folder)) {
                if !targets.contains(&self.root.join(&file)) {
                    self.complain(&file, 1, what, "remove it");
                }
            }
        }
    }

    /// Returns the line of the catalogue that has a name in quotes; 1 where none has.
    fn line_in_catalogue(&self, name: &str) -> usize {
        let quoted = format!("\"{name}\"");
        self.text(CATALOGUE).lines().position(|line| line.contains(&quoted)).map_or(1, |at| at + 1)
    }

    /// Compares the catalogue of steps with the files of the repository.
    fn catalogue(&mut self) {
        for step in STEPS {
            for file in ["Cargo.toml", "src/main.rs"].map(|name| format!("steps/{}/{name}", step.id)) {
                if !self.files.contains(&file) {
                    let what = format!("{} has no {file}", step.id);
                    let line = self.line_in_catalogue(step.id);
                    self.complain(CATALOGUE, line, what, "write it, or remove the step");
                }
            }
            self.kernels_of(step);
        }
        let known = |id: &str| {
            catalog::PROGRAMS.iter().any(|program| program.id == id) || STEPS.iter().any(|step| step.id == id)
        };
        for file in self.named(|name| name.starts_with("kernels/v") && name.ends_with(".cu")) {
            let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
            if catalog::LIBRARY_SOURCES.contains(&stem.as_ref()) {
                continue;
            }
            let kernels = STEPS.iter().flat_map(|step| step.kernels);
            if !kernels.into_iter().any(|kernel| kernel.source == Some(stem.as_ref())) {
                self.complain(&file, 1, "no step runs this kernel", format!("name it in {CATALOGUE}"));
            }
        }
        for file in self.named(|name| name.starts_with("steps/v") && name.ends_with("/Cargo.toml")) {
            if !file.split('/').nth(1).is_some_and(known) {
                self.complain(&file, 1, "no step has this name", format!("name it in {CATALOGUE}"));
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        let measured = self.measured();
        let records = RECORDS.map(|(kind, _)| self.records_of(kind));
        steps.iter().for_each(|step| self.step(step, &measured, &records));
    }

    /// Checks the files of a step beside its program and its kernels: tasks, starters, a chapter with a picture,
    /// outputs, records.
    fn step(&mut self, step: &Step, measured: &BTreeSet<String>, records: &[String; RECORDS.len()]) {
        let id = step.id;
        let line = self.line_in_catalogue(id);
        let tasks = format!("steps/{id}/tasks.toml");
        if !self.files.contains(&tasks) {
            self.complain(CATALOGUE, line, format!("{id} has no {tasks}"), "write its tasks and questions");
        }
        self.starters_and_solutions(id, &tasks);
        let chapters = self.named(|name| {
            let page = name.strip_prefix("book/src/").and_then(|name| name.strip_suffix(".md"));
            page.and_then(|page| page.strip_prefix(id)).is_some_and(|rest| rest.starts_with('-'))
        });
        if chapters.is_empty() {
            let what = format!("{id} has no chapter");
            self.complain(CATALOGUE, line, what, format!("write book/src/{id}-{}.md", step.name));
        }
        let summary = self.text("book/src/SUMMARY.md");
        for chapter in &chapters {
            let page = chapter.trim_start_matches("book/src/");
            if !summary.contains(&format!("({page})")) {
                self.complain(chapter, 1, "the table of contents lacks this chapter", "name it in book/src/SUMMARY.md");
            }
        }
        let pages: String = chapters.iter().map(|chapter| self.text(chapter)).collect();
        if !chapters.is_empty() && !pages.contains("{{#figure") && !WITHOUT_PICTURE.contains(&id) {
            let remedy = "draw one in book/figures, and show it with {{#figure NAME \"what it shows\"}}";
            self.complain(&chapters[0], 1, format!("{id} has no picture"), remedy);
        }
        let outputs = self.text("book/outputs.toml");
        let kernels = || step.kernels.iter().filter(|kernel| kernel.source.is_some());
        let has_kernels = kernels().next().is_some();
        if has_kernels && !outputs.contains(&format!("name = \"{id}-bench\"")) {
            let remedy = format!("add an [[output]] of this name, with the command `bench {id} --emulate`");
            self.complain("book/outputs.toml", 1, format!("the output {id}-bench is missing"), remedy);
        }
        let shown = format!("book/src/generated/{id}-bench.txt");
        if has_kernels && !self.files.contains(&shown) {
            let remedy = format!("write it with: cargo xtask book --refresh {id}-bench");
            self.complain("book/outputs.toml", 1, format!("{id} has no {shown}"), remedy);
        }
        for kernel in kernels().filter(|kernel| !measured.contains(kernel.name)) {
            let remedy = format!("measure it on a GPU with: cargo xtask bench {id} --save");
            self.complain(CATALOGUE, line, format!("{} has no record", kernel.name), remedy);
        }
        for ((kind, command), records) in RECORDS.iter().zip(records) {
            for kernel in kernels().filter(|kernel| !records.contains(&format!("\"{}\"", kernel.name))) {
                let remedy = format!("make it on a GPU with: cargo xtask {command} {id} --save");
                self.complain(CATALOGUE, line, format!("{} is in no book/data/*-{kind}.json", kernel.name), remedy);
            }
        }
    }

    /// Checks that the kernel tasks of a step have starters, and solutions that the tests judge.
    fn starters_and_solutions(&mut self, id: &str, tasks: &str) {
        let catalogue = match Catalogue::load(self.root, id) {
            Ok(catalogue) => catalogue,
            Err(CatalogueError::Syntax { line, why, .. }) => return self.complain(tasks, line, why, "correct it"),
            Err(error) => {
                let why = error.to_string();
                let why = why.strip_prefix(&format!("{tasks}: ")).unwrap_or(&why);
                return self.complain(tasks, 1, why, "correct it");
            }
        };
        let of_kernels = catalogue.tasks.iter().filter(|task| task.host.is_none());
        let starters = of_kernels.map(|task| task.starter_file().display().to_string());
        let mut files: Vec<_> = starters.map(|file| (file, "write it with: cargo xtask starters")).collect();
        if !files.is_empty() {
            let list = format!("tests/data/solutions/{id}.toml");
            files.push((list, "list wrong and right solutions of its tasks there"));
            let packed = solutions::compiled_file(id).display().to_string();
            files.push((packed, "make it with: cargo xtask solutions"));
        }
        for (file, then) in files {
            if !self.files.contains(&file) {
                self.complain(tasks, 1, format!("{id} has no {file}"), then);
            }
        }
    }

    /// Returns the text of all records of a kind.
    fn records_of(&self, kind: &str) -> String {
        let ending = format!("-{kind}.json");
        let files = self.named(|name| name.starts_with("book/data/") && name.ends_with(&ending));
        files.iter().map(|file| self.text(file)).collect()
    }

    /// Returns the kernels that some record of a GPU has.
    fn measured(&self) -> BTreeSet<String> {
        let files = self.named(|name| name.starts_with("book/data/") && name.ends_with(".json"));
        let records = files.iter().filter_map(|file| Record::load(&self.root.join(file)).ok());
        records.flat_map(|record| record.measurements).map(|one| one.kernel).collect()
    }

    fn kernels_of(&mut self, step: &Step) {
        for kernel in step.kernels {
            let Some(source) = kernel.source else { continue };
            let (file, name) = (format!("kernels/{source}.cu"), kernel.name);
            if !self.files.contains(&file) {
                let what = format!("{name} names {file}, which is missing");
                self.complain(CATALOGUE, self.line_in_catalogue(name), what, "write it, or correct the name");
                continue;
            }
            let target = provenance::target_of(self.root, &self.root.join(&file));
            let text = std::fs::read_to_string(target).unwrap_or_default();
            if !staleness::entries(&text).any(|entry| entry == name) {
                let what = format!("there is no kernel {name} in the PTX of {file}");
                self.complain(CATALOGUE, self.line_in_catalogue(name), what, "write it, or correct the name");
            }
        }
    }

    /// Versions stand in the manifest of the workspace, and nowhere else.
    fn manifests(&mut self) {
        // A separate workspace, because it must not be part of this one.
        for file in self.named(|name| name.ends_with("/Cargo.toml") && name != "fuzz/Cargo.toml") {
            let text = self.text(&file);
            let mut in_dependencies = false;
            for (number, line) in (1..).zip(text.lines()) {
                if line.starts_with('[') {
                    in_dependencies = line.contains("dependencies");
                } else if in_dependencies && has_version(line) {
                    let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
                    let then = "set it in [workspace.dependencies] of the root Cargo.toml";
                    self.complain(&file, number, format!("{name} has a version of its own"), then);
                }
            }
        }
    }

    /// Checks that no comment has an example in a crate that `cargo test` does not search for them, to save a second.
    fn examples(&mut self) {
        for manifest in self.named(|name| name.ends_with("/Cargo.toml")) {
            let sources = manifest.replace("Cargo.toml", "src/");
            let are_run = !self.text(&manifest).contains("doctest = false");
            for file in self.named(|name| !are_run && name.starts_with(&sources) && name.ends_with(".rs")) {
                let text = self.text(&file);
                let is_fence =
                    |line: &str| ["/// ```", "//! ```"].iter().any(|fence| line.trim_start().starts_with(fence));
                // Every second one ends an example.
                let begins = (1..).zip(text.lines()).filter(|(_, line)| is_fence(line)).step_by(2);
                for (number, _) in begins.filter(|(_, line)| line.ends_with("```") || line.ends_with("```rust")) {
                    let then = format!("remove `doctest = false` from {manifest}, or name a language: ```text");
                    self.complain(&file, number, "this example is never run", then);
                }
            }
        }
    }

    /// Checks the width of comments in Rust sources. Tables, and comments in examples, may be wider.
    fn comments(&mut self) {
        for file in self.named(|name| name.ends_with(".rs")) {
            for (number, line) in (1..).zip(self.text(&file).lines()) {
                let n = line.chars().count();
                if n > COMMENT_COLUMNS && is_prose(line) {
                    let then = format!("break it before {COMMENT_COLUMNS}");
                    self.complain(&file, number, format!("the comment has {n} columns"), then);
                }
            }
        }
    }

    /// Finds paths of this machine, which mean nothing elsewhere.
    fn local_paths(&mut self) {
        let mut local = vec![self.root.to_path_buf()];
        local.extend(std::env::var_os("HOME").map(PathBuf::from));
        let local: Vec<String> = local
            .iter()
            .map(|path| format!("{}/", path.display()))
            // `/root/` or `/w/` would be found in innocent places.
            .filter(|path| path.matches('/').count() > 2)
            .collect();
        for file in self.files.clone() {
            let text = self.text(&file);
            for (number, line) in (1..).zip(text.lines()) {
                if let Some(path) = local.iter().find(|path| line.contains(*path)) {
                    let then = "write it from the root of the repository";
                    self.complain(&file, number, format!("`{path}` is a folder of this machine"), then);
                }
            }
        }
    }

    /// Checks the records in `book/data`.
    fn records(&mut self) {
        for file in self.named(|name| name.starts_with("book/data/") && name.ends_with(".json")) {
            let again = "measure again with: cargo xtask bench all --save";
            let value: Value = match serde_json::from_str(&self.text(&file)) {
                Ok(value) => value,
                Err(error) => {
                    self.complain(&file, error.line().max(1), format!("this is not JSON: {error}"), again);
                    continue;
                }
            };
            // Other records have no such field.
            if value.get("schema").is_none() {
                continue;
            }
            let path = self.root.join(&file);
            let (loaded, again) = if file.ends_with("-counters.json") {
                let again = "measure again with: cargo xtask profile all --save";
                (profile::ProfileRecord::load(&path).map(drop), again)
            } else if file.ends_with("-busiest.json") {
                (busiest::BusiestRecord::load(&path).map(drop), again)
            } else if file.ends_with("-sanitizer.json") {
                let again = "check again with: cargo xtask sanitize --save";
                (sanitizer::SanitizerRecord::load(&path).map(drop), again)
            } else if file.ends_with("-sums.json") {
                let again = "compute them again with: cargo xtask sums --save";
                (sums::SumsRecord::load(&path).map(drop), again)
            } else {
                (Record::load(&path).map(|record| self.measurements(&file, &record, again)), again)
            };
            if let Err(error) = loaded {
                self.complain(&file, 1, error.to_string(), again);
            }
        }
    }

    /// Checks the measurements of a record: each of a kernel of the catalogue, and of a run of the record.
    fn measurements(&mut self, file: &str, record: &Record, again: &str) {
        for one in &record.measurements {
            let known = catalog::find(&one.step).is_ok_and(|step| step.kernel(&one.kernel).is_some());
            let of = format!("{} on {}", one.kernel, one.shape);
            if !known {
                self.complain(file, 1, format!("{of}: no step has this kernel"), again);
            }
            if record.run_of(one).is_none() {
                self.complain(file, 1, format!("{of}: its run is missing"), again);
            }
        }
    }

    fn readme(&mut self) {
        let stale = readme::stale(self.root).unwrap_or_else(|error| {
            self.complain("README.md", 1, format!("{error:#}"), "make the missing file, or correct this one");
            Vec::new()
        });
        for (file, line) in stale {
            self.complain(file, line, "this generated part is out of date", "update it with: cargo xtask readme");
        }
    }

    /// Links from one file of the repository to another.
    fn links(&mut self) {
        for file in self.named(|name| name.ends_with(".md")) {
            let text = self.text(&file);
            let folder = self.root.join(&file);
            let folder = folder.parent().unwrap_or(self.root);
            for (number, line) in (1..).zip(text.lines()) {
                for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                    let path = target.split('#').next().unwrap_or_default();
                    let elsewhere = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
                    if !elsewhere && !path.contains(' ') && !folder.join(path).exists() {
                        let what = format!("a link leads to `{path}`, which is not there");
                        self.complain(&file, number, what, "correct the link");
                    }
                }
            }
        }
    }
}

/// Returns the step of a source file: `v05` for `kernels/v05_bank_conflict_free.cu`.
fn step_of(file: &str) -> Option<&'static str> {
    let name = file.strip_prefix("kernels/")?;
    STEPS.iter().map(|step| step.id).find(|id| name.strip_prefix(id).is_some_and(|rest| rest.starts_with('_')))
}

/// Returns whether a line is a comment of words, not a row of a table or code in an example.
fn is_prose(line: &str) -> bool {
    let words = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim_start());
    words.is_some_and(|words| !words.starts_with(['|', '/']))
}

/// Returns whether a line sets a version: `serde = "1"` or `serde = { version = "1" }`.
fn has_version(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let key = key.trim();
    if key.starts_with('#') {
        return false;
    }
    let value = value.trim();
    key == "version" || key.ends_with(".version") || value.starts_with('"') || value.contains("version")
}

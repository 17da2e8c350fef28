//! Reads submissions.
//!
//! A submission is a folder, named after its student, with the files of the tasks (`v02.cu`, or `my/v02.cu` as in the
//! exercises), or a single `.cu` or `.rs` file for an assignment of one task. A file that lies deeper, or whose name
//! was changed on its way (`V02 (1).cu`), is taken with a note if there is one such file. Symbolic links are not
//! followed, not even links to folders; devices and pipes are not opened; files that are too large are not read. Other
//! files are ignored.
//! Files side by side with the names of their owners, as Canvas and Moodle export them, are a submission of each owner.

#[cfg(all(test, unix))]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use tasks::progress::{Progress, ProgressError};

use crate::person::Person;

/// Limit for a source, in bytes. The longest of the course has a hundredth of it.
pub const LARGEST_SOURCE: u64 = 1 << 20;
/// Folders below a submission in which a misplaced file is looked for, and entries that are looked at.
const MAX_DEPTH: usize = 3;
const MAX_ENTRIES: usize = 5000;
/// Limit for a progress file, in bytes.
const MAX_PROGRESS_BYTES: u64 = 1 << 18;
/// Files in which `predict` stores answers.
const PROGRESS: [&str; 2] = ["my/progress.toml", "progress.toml"];
/// Files for answers written by hand, as the README of an assignment says; they take precedence.
const ANSWERS: [&str; 2] = ["my/answers.toml", "answers.toml"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submission {
    /// Name of the folder or file, without control characters.
    pub student: String,
    pub(crate) path: PathBuf,
    /// Its files, where an export has them side by side with those of others; `path` is then the first.
    pub(crate) exported: Vec<PathBuf>,
    /// Remarks on how it came to its owner.
    pub notes: Vec<String>,
    /// The owner, from the list of the class.
    pub person: Option<Person>,
    /// Committer time of its last commit, if it is a git repository.
    pub(crate) committed: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmittedFile {
    Missing,
    /// The file was not read, for this reason.
    Refused(String),
    Text(String),
}

/// Returns all submissions of a folder, sorted by name, without hidden entries.
pub fn all(folder: &Path) -> std::io::Result<Vec<Submission>> {
    let mut found = Vec::new();
    let mut exported: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let kind = entry.file_type()?;
        let is_file = ["cu", "rs", "zip"].iter().any(|ending| has_ending(&path, ending));
        // What was unpacked is handed in as a folder.
        let is_unpacked = has_ending(&path, "zip") && path.with_extension("").is_dir();
        if let Some((owner, _)) = owner_of(&name)
            && kind.is_file()
            && !is_unpacked
            && (is_file || has_ending(&path, "toml"))
        {
            exported.entry(owner.to_owned()).or_default().push(path);
            continue;
        }
        // What macOS adds to a zip file.
        if name.starts_with('.')
            || name == "__MACOSX"
            || is_unpacked
            || (!kind.is_dir() && !kind.is_symlink() && !is_file)
        {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let student = if kind.is_dir() || !is_file { &name } else { &stem };
        found.push(Submission { student: crate::plain(student), path: path.clone(), ..Submission::absent() });
    }
    for (owner, mut exported) in exported {
        exported.sort();
        let notes = owner.contains("_LATE_").then(|| "Canvas marks it as late".to_owned()).into_iter().collect();
        let (student, path) = (crate::plain(&owner), exported[0].clone());
        found.push(Submission { student, path, exported, notes, ..Submission::absent() });
    }
    found.sort_by(|a, b| (&a.student, &a.path).cmp(&(&b.student, &b.path)));
    // A number distinguishes entries that look the same.
    let taken: BTreeSet<String> = found.iter().map(|known| known.student.clone()).collect();
    for same in found.chunk_by_mut(|a, b| a.student == b.student) {
        let mut number = 1;
        for other in &mut same[1..] {
            let free = || {
                number += 1;
                format!("{} ({number})", other.student)
            };
            let free = std::iter::repeat_with(free).find(|name| !taken.contains(name));
            other.student = free.unwrap_or_default();
        }
    }
    Ok(found)
}

/// Returns the owner and the original name of a file that Canvas (`lovelaceada_LATE_123_456_v02.cu`) or Moodle (`Ada
/// Lovelace_123_assignsubmission_file_v02.cu`) exported.
fn owner_of(name: &str) -> Option<(&str, &str)> {
    if let Some(parts) = name.split_once("_assignsubmission_file_") {
        return Some(parts);
    }
    // The first number is the person's, the second the file's.
    name.match_indices('_').find_map(|(at, _)| {
        let owner = &name[..at];
        let (_, person) = owner.rsplit_once('_')?;
        let (number, file) = name[at + 1..].split_once('_')?;
        (is_number(person) && is_number(number)).then_some((owner, file))
    })
}

/// Returns whether a part of an exported name is one of its numbers.
pub(crate) fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

impl Submission {
    /// Returns the submission of somebody who handed in nothing.
    pub fn absent() -> Self {
        Self::default()
    }

    /// Returns the name for which questions are drawn: that of the team or the id in the list of the class.
    pub(crate) fn asked(&self) -> &str {
        let in_team = self.person.as_ref().filter(|person| person.team_key().is_some());
        in_team.map_or(&self.student, |person| &person.team)
    }

    fn has_files(&self) -> bool {
        !self.exported.is_empty() || self.path.symlink_metadata().is_ok_and(|it| it.is_dir())
    }

    /// Returns when it was handed in, in seconds since 1970, and where that comes from: the list of the class, the last
    /// commit, or when the last of its files was written.
    pub fn time(&self, files: &[String]) -> Option<(u64, &'static str)> {
        let written = |path: PathBuf| {
            let written = path.symlink_metadata().ok()?.modified().ok()?;
            Some(written.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs())
        };
        let listed = self.person.as_ref().and_then(Person::submitted).filter(|_| !self.path.as_os_str().is_empty());
        let listed = listed.map(|time| (time, "the list of the class"));
        let last = || Some((self.dated(files).into_iter().filter_map(written).max()?, "the time of its files"));
        listed.or(self.committed.map(|time| (time, "its last commit"))).or_else(last)
    }

    /// Returns those of its files whose time counts: the named ones, and the answers.
    pub(crate) fn dated(&self, files: &[String]) -> Vec<PathBuf> {
        let names = files.iter().map(String::as_str).chain([ANSWERS[1], PROGRESS[1]]);
        let here = |name: &&str| ["my", ""].map(|folder| self.path.join(folder).join(name));
        let (there, missing): (Vec<&str>, Vec<&str>) =
            names.partition(|name| here(name).iter().any(|path| path.exists()));
        let misplaced = if missing.is_empty() { Vec::new() } else { self.misplaced(&missing).0 };
        let all = there.iter().flat_map(here).chain(misplaced).chain([self.path.clone()]);
        all.filter(|path| path.symlink_metadata().is_ok_and(|it| it.is_file())).collect()
    }

    /// Returns the file of a task by name, and notes on where it was found and how it was read; `is_only` when the
    /// assignment has no other task.
    pub fn source(&self, name: &str, is_only: bool) -> (SubmittedFile, Vec<String>) {
        let refused = |why: &str| SubmittedFile::Refused(why.to_owned());
        let mut notes = Vec::new();
        let is_only = is_only && self.exported.len() <= 1;
        let found = match self.path.symlink_metadata() {
            Err(_) if self.path.as_os_str().is_empty() => SubmittedFile::Missing,
            Err(error) => refused(&format!("it cannot be read: {error}")),
            Ok(it) if it.is_symlink() => refused("the submission is a symbolic link, which is not followed"),
            Ok(it) if it.is_dir() || (!self.exported.is_empty() && !is_only) => {
                self.first(&[&format!("my/{name}"), name], LARGEST_SOURCE, "a source", &mut notes)
            }
            Ok(_) if has_ending(&self.path, "zip") => {
                refused("the submission is a zip file: unpack it into a folder of its name, and grade again")
            }
            Ok(_) if is_only => read(&self.path, LARGEST_SOURCE, "a source", &mut notes),
            Ok(_) => refused("the submission is one file, and the assignment has several tasks: hand in a folder"),
        };
        (found, notes)
    }

    /// Returns the answers to questions by their ids, such as `v02.sectors`, and complaints about their files.
    pub fn answers(&self) -> (BTreeMap<String, String>, Vec<String>) {
        let (mut answers, mut notes) = (BTreeMap::new(), Vec::new());
        if !self.has_files() {
            return (answers, notes);
        }
        match self.progress() {
            Ok(progress) => {
                let given = progress.unwrap_or_default().questions.into_iter();
                answers.extend(given.filter_map(|(id, question)| Some((id, question.answer?))));
            }
            Err(why) => notes.push(why.to_string()),
        }
        match self.first(&ANSWERS, MAX_PROGRESS_BYTES, "a file of answers", &mut notes) {
            SubmittedFile::Missing => {}
            SubmittedFile::Refused(why) => notes.push(why),
            SubmittedFile::Text(text) => match toml::from_str::<toml::Table>(&text) {
                Ok(table) => {
                    for (id, value) in flat(table) {
                        match answer(value) {
                            Some(answer) => answers.extend((!answer.trim().is_empty()).then_some((id, answer))),
                            None => notes.push(format!(
                                "the file of answers: what it has for {} is neither a text nor a number",
                                crate::plain(&id)
                            )),
                        }
                    }
                }
                Err(error) => {
                    let why = crate::plain(error.message().trim());
                    notes.push(format!("the file of answers cannot be read: {why}"));
                }
            },
        }
        (answers, notes)
    }

    pub fn progress(&self) -> anyhow::Result<Option<Progress>> {
        if !self.has_files() {
            return Ok(None);
        }
        match self.first(&PROGRESS, MAX_PROGRESS_BYTES, "a progress file", &mut Vec::new()) {
            SubmittedFile::Missing => Ok(None),
            SubmittedFile::Refused(why) => bail!(why),
            SubmittedFile::Text(text) => match Progress::parse(&text, "the progress file") {
                Ok(progress) => Ok(Some(progress)),
                Err(ProgressError::Syntax { line, why, .. }) => {
                    bail!("the progress file cannot be read: line {line}: {}", crate::plain(&why))
                }
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Returns the first existing file of several, or the one file that may have been meant by the last.
    fn first(&self, names: &[&str], most: u64, what: &str, notes: &mut Vec<String>) -> SubmittedFile {
        for name in names {
            let mut path = self.path.clone();
            let parts: Vec<&str> = name.split('/').collect();
            for (at, part) in parts.iter().enumerate() {
                path.push(part);
                let Ok(it) = path.symlink_metadata() else { break };
                if it.is_symlink() {
                    let shown = parts[..=at].join("/");
                    return SubmittedFile::Refused(format!("{shown} is a symbolic link, which is not followed"));
                }
                if at + 1 == parts.len() {
                    return read(&path, most, what, notes);
                }
            }
        }
        let name = names.last().copied().unwrap_or_default();
        let (similar, zip) = self.misplaced(&[name]);
        let shown = |path: &PathBuf| match path.strip_prefix(&self.path) {
            Ok(path) if self.exported.is_empty() => crate::plain(&path.to_string_lossy()),
            _ => shown_name(path),
        };
        match (&similar[..], zip) {
            ([], None) => SubmittedFile::Missing,
            ([], Some(zip)) => {
                SubmittedFile::Refused(format!("{} is a zip file: unpack it, and grade again", shown(&zip)))
            }
            ([path], _) => {
                let is_renamed = self.exported.is_empty();
                notes.extend(is_renamed.then(|| format!("{name} was found as {}", shown(path))));
                read(path, most, what, notes)
            }
            (several, _) => {
                let some: Vec<String> = several.iter().take(3).map(shown).collect();
                let more = if several.len() > 3 { " and others" } else { "" };
                SubmittedFile::Refused(format!("each of these can be {name}: {}{more}; hand in one", some.join(", ")))
            }
        }
    }

    /// Returns the files below the folder whose names may be renamed versions of `names`, those of the first
    /// folders first, and a zip file.
    fn misplaced(&self, names: &[&str]) -> (Vec<PathBuf>, Option<PathBuf>) {
        let is_named = |path: &&PathBuf| names.contains(&original_name(&shown_name(path)).as_str());
        let mut zip = self.exported.iter().find(|path| has_ending(path, "zip")).cloned();
        let mut found: Vec<PathBuf> = self.exported.iter().filter(is_named).cloned().collect();
        let mut left = MAX_ENTRIES;
        let mut folders = vec![self.path.clone()];
        for _ in 0..=MAX_DEPTH {
            let mut deeper = Vec::new();
            for folder in folders {
                let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(left);
                let mut entries: Vec<_> = entries.map(|entry| (entry.path(), entry.file_type())).collect();
                left -= entries.len();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                for (path, kind) in entries {
                    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
                    match kind {
                        Ok(kind) if kind.is_dir() && !file_name.starts_with('.') => deeper.push(path),
                        Ok(kind) if kind.is_file() && is_named(&&path) => found.push(path),
                        Ok(kind) if kind.is_file() && zip.is_none() && has_ending(&path, "zip") => zip = Some(path),
                        _ => {}
                    }
                }
            }
            folders = deeper;
        }
        (found, zip)
    }
}

/// Returns a name in lower case, without what is added to a second copy: `v02 (1).cu`, `v02-1.cu`, `v02 - Copy.cu`.
fn original_name(name: &str) -> String {
    let name = name.to_lowercase();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let stem = stem.split([' ', '(']).next().unwrap_or_default();
    let number = stem.rsplit_once('-').filter(|(_, number)| number.chars().all(|c| c.is_ascii_digit()));
    format!("{}.{ending}", number.map_or(stem, |(stem, _)| stem))
}

/// Returns the text of a file with line feeds alone at the ends of lines, and how it had to be read; `None` for what is
/// no text.
pub(crate) fn decoded(bytes: Vec<u8>) -> Option<(String, Option<&'static str>)> {
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\x0c\r".contains(byte);
    let (text, note) = match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => return None,
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => (rest.to_owned(), Some("begins with a byte order mark, which is left out")),
            None => (text, None),
        },
        // UTF-16 begins with a mark, too.
        Err(error) if error.as_bytes().starts_with(b"\xff\xfe") || error.as_bytes().iter().any(is_control) => {
            return None;
        }
        Err(error) => {
            let text = error.as_bytes().iter().map(|byte| char::from(*byte)).collect();
            (text, Some("is not in UTF-8, and was read as Latin-1"))
        }
    };
    Some((text.replace("\r\n", "\n"), note))
}

/// Returns the entries of a file of answers or points. A key without quotes, `v02.sectors`, is a table in a table.
pub(crate) fn flat(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut entries = Vec::new();
    for (id, value) in table {
        match value {
            toml::Value::Table(inner) => {
                let named = |(name, value)| (format!("{id}.{name}"), value);
                entries.extend(inner.into_iter().map(named));
            }
            value => entries.push((id, value)),
        }
    }
    entries
}

/// Returns the text of an answer given as a string, number or truth value.
fn answer(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the name of a file, without that of its owner.
fn shown_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    crate::plain(owner_of(&name).map_or(&name, |(_, name)| name))
}

/// Reads a file that was just seen to be no link.
pub(crate) fn read(path: &Path, most: u64, what: &str, notes: &mut Vec<String>) -> SubmittedFile {
    let name = shown_name(path);
    // Opening a pipe would wait for its other end.
    match path.symlink_metadata() {
        Ok(it) if it.is_file() => {}
        Ok(_) => return SubmittedFile::Refused(format!("{name} is not a file")),
        Err(error) => return SubmittedFile::Refused(format!("{name}: {error}")),
    }
    let open = || -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        options.open(path)
    };
    let bytes = open().and_then(|file| {
        let size = file.metadata()?.len();
        if size > most {
            return Ok(Err(size));
        }
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    });
    match bytes {
        Err(error) => SubmittedFile::Refused(format!("{name}: {error}")),
        Ok(Err(size)) => SubmittedFile::Refused(format!("{name} has {size} bytes; {what} has at most {most}")),
        Ok(Ok(bytes)) if bytes.len() as u64 > most => {
            SubmittedFile::Refused(format!("{name} is too long; {what} has at most {most} bytes"))
        }
        Ok(Ok(bytes)) => match decoded(bytes) {
            Some((text, note)) => {
                notes.extend(note.map(|note| format!("{name} {note}")));
                SubmittedFile::Text(text)
            }
            None => SubmittedFile::Refused(format!("{name} is not plain text in UTF-8 or Latin-1")),
        },
    }
}

//! Kernels that say at their top how they are launched: `tests/fixtures/diagnosed`, `mistakes`, `right` and `asynchronous`.
//!
//! A kernel is a file `NAME.cu`, or an entry `NAME_broken` of `kernels.toml`: edits of `NAME_fixed.cu`, or of another
//! one that it names. The PTX of a folder is one deflated file, `kernels.z`. A file that is included `// as text` is part
//! of the text, so that edits reach it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::solutions::{Compiled, SolutionError, edited, read, unpacked};

/// The folders, from the root of the checkout.
pub const FOLDERS: [&str; 4] = [
    "tests/fixtures/diagnosed",
    "tests/fixtures/unseen",
    "tests/fixtures/clean",
    "tests/fixtures/asynchronous",
];
/// The line of a kernel that names the codes to be found.
const EXPECT: &str = "// expect: ";
/// How a line ends whose file becomes part of the text.
const AS_TEXT: &str = "  // as text";

/// A kernel.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// `out_of_bounds_broken`
    pub name: String,
    /// Where its text lies, or would lie, from the root of the checkout. Its PTX and messages name this path.
    pub path: PathBuf,
    /// The whole text.
    pub source: String,
}

impl Fixture {
    /// Hash of the text. The header of the PTX also has the hashes of included files.
    pub fn digest(&self) -> String {
        catalog::provenance::sha256(self.source.as_bytes())
    }

    /// Whether PTX was made of this text and of the files that it includes as they are.
    pub fn is_fresh(&self, root: &Path, ptx: &str) -> bool {
        let read = |file: &str| match Path::new(file) == self.path {
            true => Some(self.source.clone().into_bytes()),
            false => std::fs::read(root.join(file)).ok(),
        };
        catalog::provenance::compare_with(ptx, read).is_ok()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kernel: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    about: String,
    expect: String,
    /// The name of what it is edits of, without `_fixed`, if that is not its own.
    of: Option<String>,
    edits: Vec<[String; 2]>,
}

/// Reads the kernels of a folder, in the order of their names.
///
/// # Errors
/// With the first thing that cannot be.
pub fn load(root: &Path, folder: &str) -> Result<Vec<Fixture>, SolutionError> {
    let folder = Path::new(folder);
    let unreadable = |why| SolutionError::Unreadable {
        file: folder.display().to_string(),
        why,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(folder)).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.file_name();
        let Some(name) = file.to_str().and_then(|file| file.strip_suffix(".cu")) else {
            continue;
        };
        let path = folder.join(&file);
        found.push(Fixture {
            name: name.to_owned(),
            source: joined(root, &path)?,
            path,
        });
    }
    let file = folder.join("kernels.toml");
    if root.join(&file).exists() {
        let shown = file.display().to_string();
        let parsed: File = toml::from_str(&read(root, &file)?).map_err(|error| SolutionError::Syntax {
            file: shown.clone(),
            why: error.message().trim().replace('\n', ", "),
        })?;
        for entry in parsed.kernel {
            let complain = |why: String| SolutionError::Content {
                file: shown.clone(),
                name: entry.name.clone(),
                why,
            };
            if found.iter().any(|known| known.name == entry.name) {
                return Err(complain("a second one is called that".into()));
            }
            let name = entry.name.clone();
            let Some(mistake) = name.strip_suffix("_broken") else {
                return Err(complain("its name does not end in `_broken`".into()));
            };
            let of = entry.of.as_deref().unwrap_or(mistake);
            let base = folder.join(format!("{of}_fixed.cu"));
            let text = headed(&joined(root, &base)?, &entry).map_err(complain)?;
            let source = edited(text, &base, &entry.edits).map_err(complain)?;
            let path = folder.join(format!("{name}.cu"));
            found.push(Fixture { name, path, source });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The text of a file, with those in it that it includes as text, and what they include.
fn joined(root: &Path, file: &Path) -> Result<String, SolutionError> {
    let mut text = String::new();
    let mut there = Vec::new();
    for line in read(root, file)?.split_inclusive('\n') {
        match line.trim_end().strip_suffix(AS_TEXT).and_then(included) {
            Some(name) => join(root, &beside(file, name), &mut text, &mut there)?,
            None => text.push_str(line),
        }
    }
    Ok(text)
}

/// Adds the text of a file, if it is not there yet.
fn join(root: &Path, file: &Path, text: &mut String, there: &mut Vec<PathBuf>) -> Result<(), SolutionError> {
    if there.iter().any(|known| known == file) {
        return Ok(());
    }
    there.push(file.to_owned());
    for line in read(root, file)?.split_inclusive('\n') {
        match included(line.trim_end()) {
            Some(name) => join(root, &beside(file, name), text, there)?,
            None if line.trim_end() == "#pragma once" => {}
            None => text.push_str(line),
        }
    }
    Ok(())
}

/// The file that a line includes with quotes.
fn included(line: &str) -> Option<&str> {
    line.strip_prefix("#include \"")?.strip_suffix('"')
}

/// A file that another one names, from the root of the checkout.
fn beside(file: &Path, name: &str) -> PathBuf {
    let mut path = file.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(name).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

/// The text of a base with the first line and the expected codes of an entry.
fn headed(base: &str, entry: &Entry) -> Result<String, String> {
    let n = base.lines().filter(|line| line.starts_with(EXPECT)).count();
    if n != 1 {
        return Err(format!("{n} lines `{EXPECT}` in its base"));
    }
    let mut text = format!("// {}.cu: {}\n", entry.name, entry.about);
    for line in base.split_inclusive('\n').skip(1) {
        match line.starts_with(EXPECT) {
            true => text.push_str(&format!("{EXPECT}{}\n", entry.expect)),
            false => text.push_str(line),
        }
    }
    Ok(text)
}

/// The file with the PTX of a folder, from the root of the checkout.
pub fn compiled_file(folder: &str) -> PathBuf {
    Path::new(folder).join("kernels.z")
}

/// The compiled kernels of a folder; none where the file is missing.
///
/// # Errors
/// When there is a file that [`crate::solutions::pack`] did not make.
pub fn compiled(root: &Path, folder: &str) -> Result<Vec<Compiled>, SolutionError> {
    unpacked(root, &compiled_file(folder), "fixtures")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, expected: Result<&str, &str>) {
        let entry = Entry {
            name: "k_broken".into(),
            about: "wrong.".into(),
            expect: "E-OOB".into(),
            of: None,
            edits: Vec::new(),
        };
        let text = headed(base, &entry);
        assert_eq!(text.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn an_entry_has_a_head_of_its_own() {
        check(
            "// k_fixed.cu: right.\n// expect: clean\n\nx\n",
            Ok("// k_broken.cu: wrong.\n// expect: E-OOB\n\nx\n"),
        );
        check(
            "// k_fixed.cu: right.\n",
            Err("0 lines `// expect: ` in its base"),
        );
    }
}

//! Kernels whose header states how they are launched, in the folders [`FOLDERS`].
//!
//! A kernel is a file `NAME.cu`, or an entry `NAME_broken` of `kernels.toml`: edits of `NAME_fixed.cu` or of another
//! base that it names. An entry with a launch makes two kernels, `NAME.cu` and `NAME.rs`, from one of the ladder and
//! its sibling in Rust. The PTX of a folder is one deflated file, `kernels.z`. A file included `// as text` is part of
//! the text, so that edits reach it.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use catalog::files::FileError;
use serde::Deserialize;

use crate::solutions::{PackedPtx, edited, entries, included, join, read, sibling_path, unpacked};

/// Folders of fixtures, from the root of the checkout.
pub const FOLDERS: [&str; 5] = [
    "tests/fixtures/diagnosed",
    "tests/fixtures/unseen",
    "tests/fixtures/clean",
    "tests/fixtures/asynchronous",
    "tests/fixtures/rust",
];
/// Start of the header line that lists the expected codes.
const EXPECT: &str = "// expect: ";
/// End of an include line whose file is inserted as text.
const AS_TEXT: &str = "  // as text";

#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// Name such as `out_of_bounds_broken`.
    pub name: String,
    /// Path of the text from the root of the checkout, also for an entry without a file. PTX and messages name this
    /// path.
    pub path: PathBuf,
    pub source: String,
    /// Kernel, M, N, K and expected code of an edit of the ladder, which has no header.
    pub launch: String,
    pub expect: String,
}

impl Fixture {
    /// Returns the hash of the text alone. The header of the PTX also has the hashes of included files.
    pub fn digest(&self) -> String {
        catalog::provenance::sha256(self.source.as_bytes())
    }

    /// Returns whether the PTX was made from this text and from the included files in their present state.
    pub fn is_fresh(&self, root: &Path, ptx: &str) -> bool {
        let read = |file: &str| {
            if Path::new(file) == self.path {
                Some(self.source.clone().into_bytes())
            } else {
                std::fs::read(root.join(file)).ok()
            }
        };
        catalog::provenance::compare_with(ptx, read).is_ok()
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    about: String,
    expect: String,
    /// Name of the edited base without `_fixed`, where it differs from the entry's own.
    of: Option<String>,
    #[serde(default)]
    launch: String,
    edits: Vec<[String; 2]>,
    #[serde(default)]
    rust: Vec<[String; 2]>,
}

/// Reads the kernels of a folder, sorted by name.
pub fn load(root: &Path, folder: &str) -> Result<Vec<Fixture>> {
    let folder = Path::new(folder);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(folder)).map_err(FileError::at(folder))? {
        let file = entry.map_err(FileError::at(folder))?.file_name();
        let Some(name) = file.to_str().and_then(|file| file.strip_suffix(".cu")) else { continue };
        let path = folder.join(&file);
        found.push(Fixture { name: name.to_owned(), source: joined(root, &path)?, path, ..Fixture::default() });
    }
    let file = folder.join("kernels.toml");
    if root.join(&file).exists() {
        let shown = file.display().to_string();
        for entry in entries::<Entry>(root, &file)? {
            let complain = |why: String| anyhow!("{shown}: {}: {why}", entry.name);
            if found.iter().any(|known| known.name == entry.name) {
                return Err(complain("the name is used twice".into()));
            }
            let name = entry.name.clone();
            if let Some(of) = entry.of.as_ref().filter(|_| !entry.launch.is_empty()) {
                for (kind, folder, edits) in [("cu", "", &entry.edits), ("rs", "rust/", &entry.rust)] {
                    let path = PathBuf::from(format!("kernels/{folder}{of}.{kind}"));
                    let source = edited(read(root, &path)?, &path, edits).map_err(complain)?;
                    let (launch, expect) = (entry.launch.clone(), entry.expect.clone());
                    found.push(Fixture { name: format!("{name}.{kind}"), path, source, launch, expect });
                }
                continue;
            }
            let Some(mistake) = name.strip_suffix("_broken") else {
                return Err(complain("its name does not end in `_broken`".into()));
            };
            let base_name = entry.of.as_deref().unwrap_or(mistake);
            let base = folder.join(format!("{base_name}_fixed.cu"));
            let text = headed(&joined(root, &base)?, &entry).map_err(complain)?;
            let source = edited(text, &base, &entry.edits).map_err(complain)?;
            let path = folder.join(format!("{name}.cu"));
            found.push(Fixture { name, path, source, ..Fixture::default() });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns the text of a file, with the files that it includes as text, and those that they include.
fn joined(root: &Path, file: &Path) -> Result<String> {
    let mut text = String::new();
    let mut included_files = Vec::new();
    for line in read(root, file)?.split_inclusive('\n') {
        match line.trim_end().strip_suffix(AS_TEXT).and_then(included) {
            Some(name) => join(root, &sibling_path(file, name), &mut text, &mut included_files)?,
            None => text.push_str(line),
        }
    }
    Ok(text)
}

/// Returns the text of a base with the first line and the expected codes of an entry.
fn headed(base: &str, entry: &Entry) -> Result<String, String> {
    let n = base.lines().filter(|line| line.starts_with(EXPECT)).count();
    if n != 1 {
        return Err(format!("{n} lines `{EXPECT}` in its base"));
    }
    let mut text = format!("// {}.cu: {}\n", entry.name, entry.about);
    for line in base.split_inclusive('\n').skip(1) {
        if line.starts_with(EXPECT) {
            text.push_str(&format!("{EXPECT}{}\n", entry.expect))
        } else {
            text.push_str(line)
        }
    }
    Ok(text)
}

/// Returns the path of the packed PTX of a folder, from the root of the checkout.
pub fn compiled_file(folder: &str) -> PathBuf {
    Path::new(folder).join("kernels.z")
}

/// Reads the packed PTX of a folder; none where the file is missing.
pub fn compiled(root: &Path, folder: &str) -> Result<Vec<PackedPtx>> {
    unpacked(root, &compiled_file(folder), "fixtures")
}

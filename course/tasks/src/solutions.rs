//! `tests/data/solutions`: possible submissions, right and wrong, each with the expected verdict.
//!
//! An entry is a list of edits of a base file, or a file of its own. The compiled kernels of a step are one deflated
//! file with an index, so that they can be judged without a compiler; each has the hash of its source texts.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use catalog::files::FileError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use crate::paths::SOLUTIONS as FOLDER;
use crate::task::{Catalogue, Task, TaskName};
use crate::toml_error::one_line;
use crate::variant;

/// The header that every source may include. Others of `kernels` count where a source includes them.
const HEADER: &str = "kernels/common.cuh";
/// Limit for the unpacked kernels of one step, in bytes. The largest file has a tenth of that.
const MAX_UNPACKED_BYTES: usize = 256 << 20;
/// Compression level of deflate: slower levels save little.
const LEVEL: u8 = 9;

/// A kernel with the expected verdict.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Step and name of the entry, such as `v05/no-padding`.
    pub name: String,
    pub task: Task,
    /// Expected failure codes, in any order; none for a kernel that passes.
    pub expect: Vec<String>,
    /// Texts that the verdict has.
    pub says: Vec<String>,
    /// Path of the edited file, from the root of the checkout.
    pub base: PathBuf,
    /// Source text of the kernel, after the edits.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    task: TaskName,
    base: Option<PathBuf>,
    file: Option<PathBuf>,
    #[serde(default)]
    edits: Vec<[String; 2]>,
    expect: Expect,
    #[serde(default)]
    says: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expect {
    One(String),
    All(Vec<String>),
}

impl Expect {
    fn codes(self) -> Vec<String> {
        match self {
            Self::One(word) if word == "passed" => Vec::new(),
            Self::One(code) => vec![code],
            Self::All(codes) => codes,
        }
    }
}

/// Reads the solutions of a step, including the references of its variant task. A step without a file has none.
pub fn load(root: &Path, step: &str) -> Result<Vec<Solution>> {
    let file = Path::new(FOLDER).join(step).with_extension("toml");
    if !root.join(&file).exists() {
        return Ok(Vec::new());
    }
    let shown = file.display().to_string();
    let entries: Vec<Entry> = entries(root, &file)?;
    let catalogue = Catalogue::load(root, step)?;
    let mut found: Vec<Solution> = Vec::new();
    for entry in entries {
        let name = format!("{step}/{}", entry.name);
        let complain = |why: String| anyhow!("{shown}: {}: {why}", entry.name);
        if found.iter().any(|known| known.name == name) {
            return Err(complain("the name is used twice".into()));
        }
        let Some(task) = catalogue.task(&entry.task) else {
            return Err(complain(format!("there is no task `{}`", entry.task)));
        };
        let base = match (entry.file, entry.base) {
            (Some(_), Some(_)) => return Err(complain("it has both `file` and `base`; keep one".into())),
            (Some(file), None) => Path::new(FOLDER).join(file),
            (None, Some(base)) => base,
            (None, None) => task.solution.clone(),
        };
        let source = edited(read(root, &base)?, &base, &entry.edits).map_err(complain)?;
        let (expect, says) = (entry.expect.codes(), entry.says);
        found.push(Solution { name, task: task.clone(), expect, says, base, source });
    }
    if let Some(variant) = &catalogue.variant {
        let base = variant::reference_of(step);
        let text = read(root, &base)?;
        for point in &variant.points {
            let complain_of = |why| anyhow!("{}: {point}: {why}", base.display());
            found.push(Solution {
                name: format!("{step}/{}-{}", variant::ID, point.slug()),
                task: variant.task(step, point).map_err(complain_of)?,
                expect: Vec::new(),
                says: Vec::new(),
                base: base.clone(),
                source: variant::reference(&text, point).map_err(complain_of)?,
            });
        }
    }
    Ok(found)
}

/// Reads the entries `[[kernel]]` of a file.
pub(crate) fn entries<E: DeserializeOwned>(root: &Path, file: &Path) -> Result<Vec<E>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File<E> {
        kernel: Vec<E>,
    }
    let complain = |error| anyhow!("{}: {}", file.display(), one_line(&error));
    toml::from_str(&read(root, file)?).map(|file: File<E>| file.kernel).map_err(complain)
}

/// Applies edits, each of which must match exactly once.
pub(crate) fn edited(mut text: String, base: &Path, edits: &[[String; 2]]) -> Result<String, String> {
    for [find, replace] in edits {
        let n = text.matches(find.as_str()).count();
        if n != 1 {
            return Err(format!("{n} times in {}: {find}", base.display()));
        }
        text = text.replacen(find, replace, 1);
    }
    Ok(text)
}

pub(crate) fn read(root: &Path, file: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(root.join(file)).map_err(FileError::at(file))?)
}

/// Appends the text of a file unless it is already included.
pub(crate) fn join(root: &Path, file: &Path, text: &mut String, included_files: &mut Vec<PathBuf>) -> Result<()> {
    if included_files.iter().any(|known| known == file) {
        return Ok(());
    }
    included_files.push(file.to_owned());
    for line in read(root, file)?.split_inclusive('\n') {
        match included(line.trim_end()) {
            Some(name) => join(root, &sibling_path(file, name), text, included_files)?,
            None if line.trim_end() == "#pragma once" => {}
            None => text.push_str(line),
        }
    }
    Ok(())
}

/// Returns the file name in an include with quotes.
pub(crate) fn included(line: &str) -> Option<&str> {
    line.strip_prefix("#include \"")?.strip_suffix('"')
}

/// Returns the path of an included file, from the root of the checkout.
pub(crate) fn sibling_path(file: &Path, name: &str) -> PathBuf {
    let mut path = file.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(name).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

/// Returns the headers of a kernel: the common one, and those that the kernel includes, directly or not.
pub fn headers(root: &Path, source: &str) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from(HEADER)];
    for name in source.lines().filter_map(included) {
        join(root, &Path::new("kernels").join(name), &mut String::new(), &mut found)?;
    }
    Ok(found)
}

impl Solution {
    /// Returns the hash of the sources that it is compiled from.
    pub fn digest(&self, root: &Path) -> Result<String> {
        let mut texts = vec![self.source.clone()];
        texts.extend(headers(root, &self.source)?.iter().map(|file| read(root, file)).collect::<Result<Vec<_>, _>>()?);
        Ok(catalog::provenance::sha256(texts.join("\0").as_bytes()))
    }

    /// Returns whether compilation is expected to fail.
    pub fn is_refused(&self) -> bool {
        self.expect == ["compile"]
    }
}

/// PTX of a solution or a fixture, with the hash of its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedPtx {
    /// [`Solution::name`], or the name of the fixture.
    pub name: String,
    /// [`Solution::digest`] at the time of compilation.
    pub digest: String,
    pub ptx: String,
}

/// Returns the path of the packed PTX of a step, from the root of the checkout.
pub fn compiled_file(step: &str) -> PathBuf {
    Path::new(FOLDER).join(step).with_extension("z")
}

/// Reads the packed PTX of a step; none where the file is missing.
pub fn compiled(root: &Path, step: &str) -> Result<Vec<PackedPtx>> {
    unpacked(root, &compiled_file(step), "solutions")
}

/// Reads a file that `cargo xtask {command}` packs; none where the file is missing.
pub(crate) fn unpacked(root: &Path, file: &Path, command: &str) -> Result<Vec<PackedPtx>> {
    let shown = file.display().to_string();
    match std::fs::read(root.join(file)) {
        Ok(bytes) => unpack(&bytes).ok_or_else(|| anyhow!("{shown}: not made by `cargo xtask {command}`")),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(why) => Err(FileError::at(file)(why).into()),
    }
}

/// Packs compiled kernels into one deflated file.
pub fn pack(kernels: &[PackedPtx]) -> Vec<u8> {
    let mut text = String::new();
    for kernel in kernels {
        let PackedPtx { name, digest, ptx } = kernel;
        text.push_str(&format!("{name} {digest} {}\n{ptx}\n", ptx.len()));
    }
    miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), LEVEL)
}

/// Reverses [`pack`]; `None` for bytes that it did not write.
fn unpack(bytes: &[u8]) -> Option<Vec<PackedPtx>> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, MAX_UNPACKED_BYTES).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (mut rest, mut found) = (text.as_str(), Vec::new());
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n')?;
        let mut words = line.split(' ');
        let (name, digest, length) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
        let ptx = after.get(..length)?;
        rest = after.get(length..)?.strip_prefix('\n')?;
        found.push(PackedPtx { name: name.to_owned(), digest: digest.to_owned(), ptx: ptx.to_owned() });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_come_back_as_they_were_packed() {
        let kernel = |name: &str, ptx: &str| PackedPtx { name: name.into(), digest: "0f".into(), ptx: ptx.into() };
        let kernels = [kernel("v05/a", "ret;\n\nx 1 2\n"), kernel("v05/b", "")];
        assert_eq!(unpack(&pack(&kernels)).as_deref(), Some(&kernels[..]));
        assert_eq!(unpack(&pack(&[])), Some(Vec::new()));
        assert_eq!(unpack(b"no deflate"), None);
        assert_eq!(unpack(&miniz_oxide::deflate::compress_to_vec_zlib(b"v05/a 0f 9\nret", LEVEL)), None);
    }
}

//! `tests/data/solutions`: what learners might hand in, right and wrong, with what the judgement must be.
//!
//! An entry is a list of edits of a base file, or a file of its own. The compiled kernels of a step are one deflated file
//! with an index, so that they can be judged without a compiler; each has the hash of the texts that it was made from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::task::{Catalogue, CatalogueError, Task, TaskName};
use crate::variant;

/// The folder, from the root of the checkout.
pub const FOLDER: &str = "tests/data/solutions";
/// What all sources may include.
const HEADER: &str = "kernels/common.cuh";
/// Bytes of one step's kernels. They have a tenth of that.
const LARGEST: usize = 256 << 20;
/// Compression level of deflate: what takes longer saves nothing that matters.
const LEVEL: u8 = 9;

/// A kernel with what must come out.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Step and name of the entry, such as `v05/no-padding`.
    pub name: String,
    /// The task that it is handed in for.
    pub task: Task,
    /// Codes of what fails, in any order; none for a kernel that passes.
    pub expect: Vec<String>,
    /// Where the text comes from, from the root of the checkout.
    pub base: PathBuf,
    /// The text of the kernel.
    pub source: String,
}

/// Why the solutions of a step cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SolutionError {
    /// A file is not there, or not readable.
    #[error("{file}: {why}")]
    Unreadable {
        /// Path of the file from the root of the checkout.
        file: String,
        /// The error of the operating system.
        why: std::io::Error,
    },
    /// It is no TOML, or has a field that does not belong there.
    #[error("{file}: {why}")]
    Syntax {
        /// Path of the file from the root of the checkout.
        file: String,
        /// The error of the TOML parser, with the name of the field.
        why: String,
    },
    /// An entry that cannot be.
    #[error("{file}: {name}: {why}")]
    Content {
        /// Path of the file from the root of the checkout.
        file: String,
        /// Name of the entry.
        name: String,
        /// The reason, in one sentence.
        why: String,
    },
    /// The catalogue of the step.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
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
    task: TaskName,
    #[serde(default)]
    base: Option<PathBuf>,
    #[serde(default)]
    file: Option<PathBuf>,
    #[serde(default)]
    edits: Vec<[String; 2]>,
    expect: Expect,
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

/// Reads the solutions of a step, and the references of its task whose numbers are drawn. A step without a file has none.
///
/// # Errors
/// With the first thing that cannot be.
pub fn load(root: &Path, step: &str) -> Result<Vec<Solution>, SolutionError> {
    let file = Path::new(FOLDER).join(step).with_extension("toml");
    if !root.join(&file).exists() {
        return Ok(Vec::new());
    }
    let shown = file.display().to_string();
    let parsed: File = toml::from_str(&read(root, &file)?).map_err(|error| SolutionError::Syntax {
        file: shown.clone(),
        why: error.message().trim().replace('\n', ", "),
    })?;
    let catalogue = Catalogue::load(root, step)?;
    let mut found: Vec<Solution> = Vec::new();
    for entry in parsed.kernel {
        let name = format!("{step}/{}", entry.name);
        let complain = |why: String| SolutionError::Content {
            file: shown.clone(),
            name: entry.name.clone(),
            why,
        };
        if found.iter().any(|known| known.name == name) {
            return Err(complain("a second one is called that".into()));
        }
        let Some(task) = catalogue.task(&entry.task) else {
            return Err(complain(format!("there is no task `{}`", entry.task)));
        };
        let base = match (entry.file, entry.base) {
            (Some(_), Some(_)) => return Err(complain("both a file and a base".into())),
            (Some(file), None) => Path::new(FOLDER).join(file),
            (None, Some(base)) => base,
            (None, None) => task.solution.clone(),
        };
        let source = edited(read(root, &base)?, &base, &entry.edits).map_err(complain)?;
        found.push(Solution {
            name,
            task: task.clone(),
            expect: entry.expect.codes(),
            base,
            source,
        });
    }
    if let Some(variant) = &catalogue.variant {
        let base = variant::reference_of(step);
        let text = read(root, &base)?;
        for point in &variant.points {
            let complain = |why: String| SolutionError::Content {
                file: base.display().to_string(),
                name: point.to_string(),
                why,
            };
            found.push(Solution {
                name: format!("{step}/{}-{}", variant::ID, point.slug()),
                task: variant.task(step, point).map_err(complain)?,
                expect: Vec::new(),
                base: base.clone(),
                source: variant::reference(&text, point).map_err(complain)?,
            });
        }
    }
    Ok(found)
}

/// The text after edits, each of which finds its text exactly once.
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

pub(crate) fn read(root: &Path, file: &Path) -> Result<String, SolutionError> {
    std::fs::read_to_string(root.join(file)).map_err(|why| SolutionError::Unreadable {
        file: file.display().to_string(),
        why,
    })
}

impl Solution {
    /// Hash of all that it is compiled from.
    ///
    /// # Errors
    /// When the header is not readable.
    pub fn digest(&self, root: &Path) -> Result<String, SolutionError> {
        let header = read(root, Path::new(HEADER))?;
        Ok(catalog::provenance::sha256(
            format!("{}\0{header}", self.source).as_bytes(),
        ))
    }

    /// Whether it cannot be compiled.
    pub fn is_refused(&self) -> bool {
        self.expect == ["compile"]
    }
}

/// The PTX of a solution, with what it was compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// Name of the solution: [`Solution::name`], or of the fixture.
    pub name: String,
    /// Hash of its texts when it was compiled, as of [`Solution::digest`].
    pub digest: String,
    /// The PTX that the compiler wrote.
    pub ptx: String,
}

/// The file with the compiled kernels of a step, from the root of the checkout.
pub fn compiled_file(step: &str) -> PathBuf {
    Path::new(FOLDER).join(step).with_extension("z")
}

/// The compiled kernels of a step; none where the file is missing.
///
/// # Errors
/// When there is a file that [`pack`] did not make.
pub fn compiled(root: &Path, step: &str) -> Result<Vec<Compiled>, SolutionError> {
    unpacked(root, &compiled_file(step), "solutions")
}

/// The kernels of a file that this command of `cargo xtask` packs; none where the file is missing.
pub(crate) fn unpacked(root: &Path, file: &Path, command: &str) -> Result<Vec<Compiled>, SolutionError> {
    let shown = file.display().to_string();
    match std::fs::read(root.join(file)) {
        Ok(bytes) => unpack(&bytes).ok_or_else(|| SolutionError::Syntax {
            file: shown,
            why: format!("not made by `cargo xtask {command}`"),
        }),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(why) => Err(SolutionError::Unreadable { file: shown, why }),
    }
}

/// One deflated file of compiled kernels.
pub fn pack(kernels: &[Compiled]) -> Vec<u8> {
    let mut text = String::new();
    for kernel in kernels {
        let Compiled { name, digest, ptx } = kernel;
        text.push_str(&format!("{name} {digest} {}\n{ptx}\n", ptx.len()));
    }
    miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), LEVEL)
}

/// Reverses [`pack`]; `None` for bytes that it did not write.
fn unpack(bytes: &[u8]) -> Option<Vec<Compiled>> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, LARGEST).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (mut rest, mut found) = (text.as_str(), Vec::new());
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n')?;
        let mut words = line.split(' ');
        let (name, digest, length) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
        let ptx = after.get(..length)?;
        rest = after.get(length..)?.strip_prefix('\n')?;
        found.push(Compiled {
            name: name.to_owned(),
            digest: digest.to_owned(),
            ptx: ptx.to_owned(),
        });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_come_back_as_they_were_packed() {
        let kernel = |name: &str, ptx: &str| Compiled {
            name: name.into(),
            digest: "0f".into(),
            ptx: ptx.into(),
        };
        let kernels = [kernel("v05/a", "ret;\n\nx 1 2\n"), kernel("v05/b", "")];
        assert_eq!(unpack(&pack(&kernels)).as_deref(), Some(&kernels[..]));
        assert_eq!(unpack(&pack(&[])), Some(Vec::new()));
        assert_eq!(unpack(b"no deflate"), None);
        assert_eq!(
            unpack(&miniz_oxide::deflate::compress_to_vec_zlib(
                b"v05/a 0f 9\nret",
                LEVEL
            )),
            None
        );
    }
}

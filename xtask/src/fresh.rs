//! Whether committed PTX belongs to the sources beside it, and is whole. Needs no compiler.

use std::path::{Path, PathBuf};

use crate::ptx::{hash, target_of};

/// What is known of the PTX of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Made from the source as it is.
    Fresh,
    /// This file, the source or one that it includes, is not what was compiled.
    Edited(String),
    /// There is none.
    Missing,
    /// Not whole, or not made by `cargo xtask ptx`: why.
    Damaged(String),
}

/// Looks at the PTX of `kernels/NAME.cu` or of any other source in the checkout.
pub(crate) fn state(root: &Path, source: &Path) -> State {
    let Ok(bytes) = std::fs::read(target_of(root, source)) else {
        return State::Missing;
    };
    let Ok(ptx) = String::from_utf8(bytes) else {
        return State::Damaged("it is not text".into());
    };
    let mut n_hashes = 0;
    for (kind, rest) in header(&ptx) {
        if !matches!(kind, "source" | "include") {
            continue;
        }
        let Some((file, expected)) = rest.split_once(" sha256:") else {
            return State::Damaged("its header has a line without a hash".into());
        };
        let there = std::fs::read(root.join(file)).unwrap_or_default();
        if hash(&there) != expected {
            return State::Edited(file.to_owned());
        }
        n_hashes += 1;
    }
    if n_hashes == 0 {
        return State::Damaged("its header does not say what it was made from".into());
    }
    whole(&ptx).map_or(State::Fresh, |why| State::Damaged(why.into()))
}

/// `// key: value` lines at the top.
pub(crate) fn header(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    ptx.lines()
        .take_while(|line| line.starts_with("//"))
        .filter_map(|line| line.strip_prefix("// ")?.split_once(": "))
}

/// Names of the kernels in a PTX text.
pub(crate) fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines()
        .filter_map(|line| line.split(".entry ").nth(1))
        .map(|rest| rest.split(['(', ' ']).next().unwrap_or(rest).trim())
}

/// What a cut-off file shows, if anything. A changed letter inside is for the driver to find.
fn whole(ptx: &str) -> Option<&'static str> {
    if !ptx.lines().any(|line| line.starts_with(".version ")) {
        return Some("it has no .version line");
    }
    let count = |c: u8| ptx.bytes().filter(|b| *b == c).count();
    if count(b'{') != count(b'}') {
        return Some("its braces do not match: the file seems to be cut off");
    }
    None
}

/// The source of a kernel in the catalogue.
pub(crate) fn source_of(root: &Path, name: &str) -> PathBuf {
    root.join("kernels").join(name).with_extension("cu")
}

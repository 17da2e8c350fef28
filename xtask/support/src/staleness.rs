//! Compares committed PTX with the sources beside it, without a compiler.

use std::path::{Path, PathBuf};

use catalog::provenance::{self, Stale, target_of};

/// The state of the PTX of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Made from the source as it is.
    Fresh,
    /// This file, the source or one that it includes, is not what was compiled.
    Edited(String),
    Missing,
    /// Not whole, or not made by `cargo xtask ptx`: why.
    Damaged(String),
}

/// Looks at the PTX of `kernels/NAME.cu` or of any other source in the checkout.
pub fn state(root: &Path, source: &Path) -> State {
    let Ok(bytes) = std::fs::read(target_of(root, source)) else { return State::Missing };
    let Ok(ptx) = String::from_utf8(bytes) else { return State::Damaged("it is not text".into()) };
    match provenance::compare(root, &ptx) {
        Ok(()) => {}
        Err(Stale::Edited(file) | Stale::Gone(file)) => return State::Edited(file),
        Err(Stale::NoHash) => return State::Damaged("its header has a line without a hash".into()),
        Err(Stale::NoSource) => return State::Damaged("its header does not say what it was made from".into()),
    }
    whole(&ptx).map_or(State::Fresh, |why| State::Damaged(why.into()))
}

/// Names of the kernels in a PTX text.
pub fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines()
        .filter_map(|line| line.split(".entry ").nth(1))
        .map(|rest| rest.split(['(', ' ']).next().unwrap_or(rest).trim())
}

/// Describes why a file seems to be cut off, if it does. Changed bytes inside are left to the driver.
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

/// Returns the source of a kernel in the catalogue.
pub fn source_of(root: &Path, name: &str) -> PathBuf {
    root.join("kernels").join(name).with_extension("cu")
}

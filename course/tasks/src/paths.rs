//! Folders of the checkout that several modules name.

use std::path::{Path, PathBuf};

/// Possible submissions for the tests, from the root of the checkout.
pub const SOLUTIONS: &str = "tests/data/solutions";

pub fn learner_folder(root: &Path) -> PathBuf {
    root.join("my")
}

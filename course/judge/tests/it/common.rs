//! The checkout, and the programs that are built with these tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `xtask` of the same build.
pub(crate) fn xtask() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("xtask"))
}

/// `teach` of the same build, which `xtask grade` starts.
pub(crate) fn teach() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("teach"))
}

fn built(package: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_judge")).parent().expect("a folder");
    let path = folder.join(package);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--package", package]).current_dir(root());
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command.status().expect("cargo is there");
    assert!(built.success() && path.is_file(), "{} is missing", path.display());
    path
}

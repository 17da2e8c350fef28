//! Finds NVRTC, without loading it into this process.

use std::path::{Path, PathBuf};

use anyhow::bail;
use catalog::programs::{python_packages, toolkits};

use crate::nvrtc::{LIBRARY, Nvrtc, VERSION, include_directory};
use crate::output::Stop;
use crate::{compiler, wheels};

/// Names a folder in which it is.
const VARIABLE: &str = "TILE_NVRTC";

/// A compiler that is there and cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(String);

impl Damaged {
    fn new(directory: &Path, why: &anyhow::Error, get: &str) -> Self {
        let get = if directory.starts_with(wheels::directory()) { "get it again with: cargo xtask setup" } else { get };
        Self(format!("NVRTC in {} cannot be loaded: {why:#}; {get}", directory.display()))
    }

    /// Returns the error for a file that is not as `setup` unpacked it.
    pub fn file(path: &Path) -> Self {
        let shown = crate::paths::display_path(path);
        Self(format!("{shown} is not as it was unpacked; get it again with: cargo xtask setup"))
    }
}

impl Nvrtc {
    /// Returns the first compiler in the usual places that has the version of the committed PTX.
    pub fn find() -> anyhow::Result<Nvrtc> {
        let get = match std::env::var_os(VARIABLE) {
            Some(_) => "correct TILE_NVRTC, or unset it and run: cargo xtask setup",
            None => "get it with: cargo xtask setup",
        };
        let mut other = None;
        for directory in candidate_directories() {
            if !directory.join(LIBRARY).exists() {
                continue;
            }
            let version = match compiler::version(&directory) {
                Ok(version) => version,
                Err(why) if why.is::<Stop>() => return Err(why),
                Err(why) => return Err(Damaged::new(&directory, &why, get).into()),
            };
            if version == VERSION {
                let include = include_directory(&directory);
                return Ok(Nvrtc { version, directory, include });
            }
            other.get_or_insert((version, directory));
        }
        let (major, minor) = VERSION;
        match other {
            Some(((x, y), directory)) => bail!(
                "no CUDA compiler of version {major}.{minor} found, which makes the PTX here ({} has {x}.{y}); {get}",
                directory.display()
            ),
            None => bail!("no CUDA compiler (NVRTC {major}.{minor}) found; {get}"),
        }
    }
}

fn candidate_directories() -> Vec<PathBuf> {
    let mut found = Vec::new();
    const FOLDERS: &[&str] = if cfg!(windows) { &["bin"] } else { &["lib64", "lib"] };
    let in_packages = |root: &Path| root.join("nvidia/cuda_nvrtc").join(FOLDERS[FOLDERS.len() - 1]);
    let in_toolkit = |root: &Path| FOLDERS.iter().map(|folder| root.join(folder)).collect::<Vec<_>>();
    if let Some(directory) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        // No other folder is tried when it is set.
        return [vec![in_packages(&directory)], in_toolkit(&directory), vec![directory]].concat();
    }
    found.push(in_packages(&wheels::directory()));
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        found.extend(std::env::split_paths(&path));
    }
    found.extend(toolkits().flat_map(|root| in_toolkit(&root)));
    found.extend(python_packages().iter().map(|root| in_packages(root)));
    found
}

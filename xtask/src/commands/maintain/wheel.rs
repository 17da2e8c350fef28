//! Reading a Python wheel, which is a zip file, without Python.
//!
//! Nothing in a file makes it panic or write outside of the folder it is given.

#[cfg(test)]
mod tests;

use std::io::{Cursor, Read as _};
use std::path::{Component, Path};

use anyhow::{Context, Result, ensure};
use zip::ZipArchive;

/// Writes the entries that `wanted` accepts below a folder, and returns how many there were.
pub(crate) fn unpack(wheel: &[u8], folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<usize> {
    let mut wheel = ZipArchive::new(Cursor::new(wheel))?;
    let mut n = 0;
    for at in 0..wheel.len() {
        let mut entry = wheel.by_index(at)?;
        let name = entry.name().to_owned();
        if name.ends_with('/') || !wanted(&name) {
            continue;
        }
        let path = Path::new(&name);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(inside, "an entry has a path outside of the folder: {name}");
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).with_context(|| format!("{name} is damaged"))?;
        let target = folder.join(path);
        std::fs::create_dir_all(target.parent().unwrap_or(folder))?;
        std::fs::write(&target, contents).with_context(|| format!("writing {}", target.display()))?;
        n += 1;
    }
    Ok(n)
}

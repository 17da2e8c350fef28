//! Reading a Python wheel, which is a zip file: names and contents, without Python.
//!
//! Only what wheels on PyPI use: stored and deflated entries, no encryption, less than 4 GiB. Nothing in a file makes
//! it panic or write outside of the folder it is given; checksums are left to the hash of the whole file.

#[cfg(test)]
mod tests;

use std::path::{Component, Path};

use anyhow::{Context, Result, bail, ensure};

/// Writes the entries that `wanted` accepts below a folder, and returns how many there were.
pub(crate) fn unpack(wheel: &[u8], folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<usize> {
    let mut n = 0;
    for entry in entries(wheel)? {
        if entry.name.ends_with('/') || !wanted(entry.name) {
            continue;
        }
        let path = Path::new(entry.name);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(inside, "an entry has a path outside of the folder: {}", entry.name);
        let target = folder.join(path);
        std::fs::create_dir_all(target.parent().unwrap_or(folder))?;
        std::fs::write(&target, entry.contents(wheel)?).with_context(|| format!("writing {}", target.display()))?;
        n += 1;
    }
    Ok(n)
}

struct Entry<'a> {
    name: &'a str,
    method: u16,
    compressed: usize,
    size: usize,
    /// Offset of the local header.
    offset: usize,
}

/// Returns the directory at the end of the file.
fn entries(wheel: &[u8]) -> Result<Vec<Entry<'_>>> {
    const END: &[u8] = b"PK\x05\x06";
    const ENTRY: &[u8] = b"PK\x01\x02";
    const END_LENGTH: usize = 22;
    let last = wheel.len().checked_sub(END_LENGTH).context("too short for a zip file")?;
    let lowest = last.saturating_sub(usize::from(u16::MAX));
    let end = (lowest..=last)
        .rev()
        .find(|at| wheel[*at..].starts_with(END))
        .context("no zip file: its directory is missing")?;
    let n = half(wheel, end + 10)?;
    let mut at = word(wheel, end + 16)?;
    let mut entries = Vec::new();
    for _ in 0..n {
        ensure!(part(wheel, at, 4)? == ENTRY, "its directory is damaged");
        let lengths = [28, 30, 32].map(|field| half(wheel, at + field));
        let [name, extra, comment] = lengths;
        let (name, rest) = (name?, extra? + comment?);
        entries.push(Entry {
            method: half(wheel, at + 10)? as u16,
            compressed: word(wheel, at + 20)?,
            size: word(wheel, at + 24)?,
            offset: word(wheel, at + 42)?,
            name: std::str::from_utf8(part(wheel, at + 46, name)?).context("a name is not UTF-8")?,
        });
        at += 46 + name + rest;
    }
    Ok(entries)
}

impl Entry<'_> {
    fn contents(&self, wheel: &[u8]) -> Result<Vec<u8>> {
        const HEADER: usize = 30;
        let names = half(wheel, self.offset + 26)? + half(wheel, self.offset + 28)?;
        let raw = part(wheel, self.offset + HEADER + names, self.compressed)?;
        let contents = match self.method {
            0 => raw.to_vec(),
            8 => miniz_oxide::inflate::decompress_to_vec_with_limit(raw, self.size)
                .map_err(|error| anyhow::anyhow!("{} is damaged: {error}", self.name))?,
            other => bail!("{} is packed by method {other}, which is unknown here", self.name),
        };
        ensure!(contents.len() == self.size, "{} is cut off", self.name);
        Ok(contents)
    }
}

fn part(bytes: &[u8], at: usize, length: usize) -> Result<&[u8]> {
    let end = at.checked_add(length).context("it is cut off")?;
    bytes.get(at..end).context("it is cut off")
}

fn half(bytes: &[u8], at: usize) -> Result<usize> {
    Ok(usize::from(u16::from_le_bytes(part(bytes, at, 2)?.try_into()?)))
}

fn word(bytes: &[u8], at: usize) -> Result<usize> {
    Ok(u32::from_le_bytes(part(bytes, at, 4)?.try_into()?) as usize)
}

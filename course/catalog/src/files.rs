//! Files that several processes write: each is replaced whole or not at all, and by one process at a time.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Limit of [`read_text`]; what people write by hand has a thousandth of it.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", .path.display())]
pub struct FileError {
    pub path: PathBuf,
    pub why: std::io::Error,
}

impl FileError {
    /// Returns a function that adds a path to an error, for `map_err`.
    pub fn at(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |why| Self { path: path.to_owned(), why }
    }
}

/// Returns the folder that holds a file: `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the files of a folder whose names end with `suffix`, sorted by name.
pub fn files_ending_with(folder: &Path, suffix: &str) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(suffix));
    paths.sort();
    Ok(paths)
}

/// Returns all files of a folder and its subfolders, sorted by path.
pub fn files_under(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(files_under(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

/// Reads a file that a user names, up to a limit: it may be a device without an end.
pub fn read_limited(path: &Path, max_bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        let why = format!("it has more than {max_bytes} bytes, the most that is read");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Reads a text that a user names; it may have [`MAX_TEXT_BYTES`].
pub fn read_text(path: &Path) -> std::io::Result<String> {
    let bytes = read_limited(path, MAX_TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Returns the text of a source that is named in the line table of a kernel. The path is untrusted: the text is empty
/// for anything but a file that can be read and has at most [`MAX_TEXT_BYTES`].
pub fn text_of_source(path: &Path) -> String {
    let bytes = path.is_file().then(|| read_limited(path, MAX_TEXT_BYTES).ok()).flatten();
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

/// An exclusive lock on a folder, released when dropped. It leaves no file behind.
#[derive(Debug)]
pub struct FolderLock {
    _folder: Option<File>,
}

/// Waits until no other process holds the lock of `folder`.
///
/// # Errors
/// Returns an error if the folder cannot be locked. Where folders cannot be opened as files (Windows) there is no lock.
pub fn lock_folder(folder: &Path) -> std::io::Result<FolderLock> {
    let folder = if cfg!(unix) { Some(File::open(folder)?) } else { None };
    if let Some(folder) = &folder {
        folder.lock()?;
    }
    Ok(FolderLock { _folder: folder })
}

/// Writes a file whole or not at all, by renaming a temporary one. Removes those that killed processes left.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    write_whole_bytes(path, text.as_bytes())
}

pub fn write_whole_bytes(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    remove_abandoned(path);
    replace(path, bytes, File::sync_all)
}

/// Writes a file that can be made again from others, as [`write_whole`] does, without waiting for the disk: after a
/// power cut it may be empty. Waiting takes most of the time for thousands of files.
pub fn write_derived(path: &Path, text: &str) -> std::io::Result<()> {
    remove_abandoned(path);
    replace(path, text.as_bytes(), |_| Ok(()))
}

fn replace(path: &Path, bytes: &[u8], sync: impl Fn(&File) -> std::io::Result<()>) -> std::io::Result<()> {
    let beside = with_suffix(path, &format!(".{}.tmp", std::process::id()));
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        sync(&file)?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&beside)))
}

/// A folder that is filled beside its place and then moved there, so that it is seen whole or not at all.
#[derive(Debug)]
pub struct StagedFolder {
    staged: PathBuf,
    place: PathBuf,
}

impl StagedFolder {
    /// Creates an empty folder beside `place`. Removes what a killed process left behind while it filled one.
    ///
    /// # Errors
    /// Returns an error if nothing can be created there, or if `place` is a link or a file, which is left alone.
    pub fn new(place: &Path) -> std::io::Result<Self> {
        let other = |what| Err(std::io::Error::new(std::io::ErrorKind::NotADirectory, what));
        match place.symlink_metadata() {
            Ok(found) if found.is_symlink() => return other("it is a link, which is not followed"),
            Ok(found) if !found.is_dir() => return other("it is not a folder"),
            _ => {}
        }
        std::fs::create_dir_all(folder_of(place))?;
        remove_abandoned(place);
        remove_abandoned(&with_suffix(place, ".old"));
        let staged = with_suffix(place, &format!(".{}.tmp", std::process::id()));
        let _ = std::fs::remove_dir_all(&staged);
        std::fs::create_dir(&staged)?;
        Ok(Self { staged, place: place.to_owned() })
    }

    /// Returns the folder to fill.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// Moves the folder to its place; a folder that was there is removed.
    ///
    /// # Errors
    /// Returns an error if it cannot be moved; what was there stays.
    pub fn finish(self) -> std::io::Result<()> {
        let _lock = lock_folder(folder_of(&self.place))?;
        if self.place.symlink_metadata().is_err() {
            return std::fs::rename(&self.staged, &self.place);
        }
        let old = with_suffix(&self.place, &format!(".old.{}.tmp", std::process::id()));
        std::fs::rename(&self.place, &old)?;
        std::fs::rename(&self.staged, &self.place).inspect_err(|_| drop(std::fs::rename(&old, &self.place)))?;
        // It is out of the way; the next such folder removes what is left.
        let _ = std::fs::remove_dir_all(&old);
        Ok(())
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.staged);
    }
}

pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// Removes `NAME.PID.tmp` beside `path`, a file or folder, where the process PID is gone.
fn remove_abandoned(path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
    for entry in std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let pid = found
            .to_str()
            .and_then(|found| found.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".tmp"))
            .and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(is_gone) {
            let path = entry.path();
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
    }
}

/// Returns whether no process has this number. Without `/proc` that is unknown, and files stay.
fn is_gone(pid: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new("/proc").join(pid.to_string()).exists()
}

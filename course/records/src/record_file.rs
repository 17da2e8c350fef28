//! Reading and writing files that have a schema, runs, and a list of what these measured.

use std::path::{Path, PathBuf};

use catalog::files::{FileError, FolderLock, folder_of, lock_folder};
use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} is not a record of measurements: {why}", .path.display())]
    Format { path: PathBuf, why: serde_json::Error },
    #[error("{} has schema {found}, this program reads {wanted}", .path.display())]
    Schema { path: PathBuf, found: u32, wanted: u32 },
}

/// Reads and writes a kind of file that has a schema, runs, and a list of what they measured.
macro_rules! record_file {
    ($record:ident, $items:ident) => {
        impl Default for $record {
            fn default() -> Self {
                Self { schema: SCHEMA, runs: Vec::new(), $items: Vec::new() }
            }
        }

        impl $record {
            pub fn load(path: &std::path::Path) -> Result<Self, crate::record_file::RecordError> {
                crate::record_file::load_json(path, SCHEMA, |found: &Self| found.schema)
            }

            /// Reads a file in order to add to it; where it is missing, `base` is the record to start from.
            fn load_or(base: &Self, path: &std::path::Path) -> Result<Self, crate::record_file::RecordError> {
                match Self::load(path) {
                    Err(error) if error.is_missing() => Ok(base.clone()),
                    loaded => loaded,
                }
            }

            /// Changes a file, which is read again under a lock, so that what other processes added to it stays. After
            /// an error the file is unchanged.
            fn change(
                base: &Self, path: &std::path::Path, change: impl FnOnce(&mut Self),
            ) -> Result<(), crate::record_file::RecordError> {
                let _lock = crate::record_file::lock_folder_of(path)?;
                let mut record = Self::load_or(base, path)?;
                change(&mut record);
                record.save(path)
            }

            /// Writes the file whole or not at all: beside it first, then in its place.
            pub fn save(&self, path: &std::path::Path) -> Result<(), crate::record_file::RecordError> {
                let text = crate::record_file::json_file(self.schema, stringify!($items), &self.runs, &self.$items);
                catalog::files::write_whole(path, &text).map_err(catalog::files::FileError::at(path))?;
                Ok(())
            }
        }
    };
}
pub(crate) use record_file;

pub(crate) fn load_json<T: for<'a> Deserialize<'a>>(
    path: &Path, schema: u32, schema_of: impl Fn(&T) -> u32,
) -> Result<T, RecordError> {
    let text = std::fs::read_to_string(path).map_err(FileError::at(path))?;
    let record: T = serde_json::from_str(&text).map_err(|why| RecordError::Format { path: path.to_owned(), why })?;
    match schema_of(&record) {
        found if found == schema => Ok(record),
        found => Err(RecordError::Schema { path: path.to_owned(), found, wanted: schema }),
    }
}

impl RecordError {
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::File(error) if error.why.kind() == std::io::ErrorKind::NotFound)
    }
}

pub(crate) fn lock_folder_of(path: &Path) -> Result<FolderLock, RecordError> {
    let folder = folder_of(path);
    Ok(lock_folder(folder).map_err(FileError::at(folder))?)
}

/// Returns JSON with one run and one item per line, so that diffs are readable.
pub(crate) fn json_file<R: Serialize, T: Serialize>(schema: u32, name: &str, runs: &[R], items: &[T]) -> String {
    let (runs, items) = (json_lines(runs), json_lines(items));
    format!("{{\n\"schema\": {schema},\n\"runs\": [\n{runs}\n],\n\"{name}\": [\n{items}\n]\n}}\n")
}

pub(crate) fn json_lines<T: Serialize>(items: &[T]) -> String {
    // Strings, numbers, lists and maps with string keys always serialise.
    let line = |item| serde_json::to_string(item).expect("plain data");
    items.iter().map(line).collect::<Vec<_>>().join(",\n")
}

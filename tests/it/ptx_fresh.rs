//! Committed PTX belongs to the sources beside it: the hashes in its header are those of the files.
//!
//! Compiling again is not needed to notice a forgotten `cargo xtask ptx`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

#[test]
fn committed_ptx_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the repository");
    let mut sources = Vec::new();
    collect(&root.join("kernels"), &mut sources);
    collect(&root.join("tests/data"), &mut sources);
    collect(&root.join("book/exhibits"), &mut sources);
    assert!(!sources.is_empty());

    let stale: Vec<String> = sources
        .iter()
        .filter_map(|source| complaint(root, source))
        .collect();
    assert!(stale.is_empty(), "run `cargo xtask ptx`:\n{}", stale.join("\n"));
}

/// What is wrong with the PTX of a source, if anything.
fn complaint(root: &Path, source: &Path) -> Option<String> {
    let name = source.strip_prefix(root).unwrap_or(source).display().to_string();
    let stem = Path::new(source.file_stem()?).with_extension("ptx");
    let target = match source.starts_with(root.join("kernels")) {
        true => root.join("kernels/ptx").join(stem),
        false => source.with_file_name(stem),
    };
    let Ok(ptx) = fs::read_to_string(&target) else {
        return Some(format!("{name}: no PTX committed"));
    };
    let mut n_hashes = 0;
    for line in ptx.lines().take_while(|line| line.starts_with("//")) {
        let Some((_, rest)) = line
            .split_once(": ")
            .filter(|(key, _)| matches!(*key, "// source" | "// include"))
        else {
            continue;
        };
        let (file, expected) = rest.split_once(" sha256:")?;
        let Ok(bytes) = fs::read(root.join(file)) else {
            return Some(format!("{name}: {file} is gone"));
        };
        if hash(&bytes) != expected {
            return Some(format!("{name}: {file} changed since it was compiled"));
        }
        n_hashes += 1;
    }
    (n_hashes == 0).then(|| format!("{name}: its PTX says nothing of where it comes from"))
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|e| e == "cu") {
            into.push(path);
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

//! Committed PTX belongs to the sources beside it: the hashes in its header are those of the files.
//!
//! Compiling again is not needed to notice a forgotten `cargo xtask ptx`.

use std::fs;
use std::path::{Path, PathBuf};

use ladder::provenance::{self, Stale};

#[test]
fn committed_ptx_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the repository");
    let mut sources = Vec::new();
    collect(&root.join("kernels"), &mut sources);
    collect(&root.join("steps"), &mut sources);
    collect(&root.join("tests/data"), &mut sources);
    collect(&root.join("book/exhibits"), &mut sources);
    collect(&root.join("book/python"), &mut sources);
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
    let Ok(ptx) = fs::read_to_string(provenance::target_of(root, source)) else {
        return Some(format!("{name}: no PTX committed"));
    };
    let why = match provenance::compare(root, &ptx).err()? {
        Stale::Gone(file) => format!("{file} is gone"),
        Stale::Edited(file) => format!("{file} changed since it was compiled"),
        Stale::NoHash | Stale::Untold => "its PTX says nothing of where it comes from".into(),
    };
    Some(format!("{name}: {why}"))
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // Their PTX lies in files of its own: see `steps/judge/tests/it/solutions.rs`.
        if path.ends_with("tests/data/solutions") {
            continue;
        }
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|e| e == "cu") {
            into.push(path);
        }
    }
}

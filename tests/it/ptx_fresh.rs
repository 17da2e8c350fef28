//! Committed PTX and machine code belong to the sources beside them: the hashes in the header of the PTX are those of
//! the files.
//!
//! Compiling again is not needed to notice a forgotten `cargo xtask ptx`.

use std::fs;
use std::path::Path;

use catalog::provenance;
use tests::{files_under, root};

#[test]
fn committed_ptx_is_fresh() {
    let folders = ["kernels", "steps", "tests/data", "book/exhibits", "book/python"];
    // PTX of the others is packed: see `packed_ptx_is_fresh` and `course/judge/tests/it/solutions.rs`.
    let is_packed = |path: &Path| {
        let mut packed = tasks::fixtures::FOLDERS.iter().chain([&tasks::solutions::FOLDER]);
        packed.any(|folder| path.starts_with(root().join(folder)))
    };
    let mut sources: Vec<_> = folders.iter().flat_map(|folder| files_under(&root().join(folder), "cu")).collect();
    sources.retain(|path| !is_packed(path));
    assert!(!sources.is_empty());
    let mut rust = files_under(&root().join("kernels/rust"), "rs");
    rust.retain(|path| !path.ends_with("prelude.rs"));
    assert!(!rust.is_empty());
    sources.extend(rust);

    let stale: Vec<String> = sources.iter().filter_map(|source| complaint(root(), source)).collect();
    assert!(stale.is_empty(), "run `cargo xtask ptx`, with `--rust` for kernels in Rust:\n{}", stale.join("\n"));
}

#[test]
fn packed_ptx_is_fresh() {
    for folder in tasks::fixtures::FOLDERS {
        let kernels = tests::fixture::folder(folder);
        let stale = kernels.iter().filter(|(one, ptx)| !one.is_fresh(root(), ptx));
        let stale: Vec<&str> = stale.map(|(one, _)| one.name.as_str()).collect();
        assert!(stale.is_empty(), "run `cargo xtask fixtures`: {}", stale.join(" "));
        let packed = tasks::fixtures::compiled(root(), folder).expect("its PTX is readable");
        assert_eq!(packed.len(), kernels.len(), "{folder}: run `cargo xtask fixtures`");
    }
}

fn complaint(root: &Path, source: &Path) -> Option<String> {
    let name = source.strip_prefix(root).unwrap_or(source).display().to_string();
    let Ok(ptx) = fs::read_to_string(provenance::target_of(root, source)) else {
        return Some(format!("{name}: no PTX committed"));
    };
    let why = match provenance::compare(root, &ptx) {
        Ok(()) => machine_code(root, source, &ptx)?,
        Err(stale) => format!("{stale:?}"),
    };
    Some(format!("{name}: {why}"))
}

fn machine_code(root: &Path, source: &Path, ptx: &str) -> Option<String> {
    let path = provenance::cubin_of(root, source).filter(|_| source.extension().is_some_and(|kind| kind == "cu"))?;
    let hash = fs::read(path).map(|bytes| provenance::sha256(&bytes));
    match hash {
        Ok(hash) if provenance::cubin_hash(ptx) == Some(&hash) => None,
        Ok(_) => Some("its machine code was not made with its PTX".into()),
        Err(_) => Some("no machine code committed".into()),
    }
}

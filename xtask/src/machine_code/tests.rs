use std::fs;

use super::*;

/// Returns whether committed machine code is used after a change of one of the files that it depends on.
#[track_caller]
fn is_taken(change: Option<&str>) -> bool {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = tempfile::tempdir().expect("a folder");
    let source = "kernels/bench/saxpy.cu";
    for file in [source, "kernels/ptx/saxpy.ptx", "kernels/cubin/saxpy.cubin"] {
        let mut bytes = fs::read(from.join(file)).expect("it is committed");
        if change == Some(file) {
            bytes.push(b'\n');
        }
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        fs::write(path, bytes).expect("files can be written");
    }
    committed(root.path(), &root.path().join(source)).is_some()
}

#[test]
fn committed_code_is_taken_for_the_source_that_it_was_made_of() {
    assert!(is_taken(None));
    assert!(!is_taken(Some("kernels/bench/saxpy.cu")));
    assert!(!is_taken(Some("kernels/cubin/saxpy.cubin")));
}

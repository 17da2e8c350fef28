use std::fs;

use super::*;

/// Returns whether committed machine code is used after a change of one of the files that it depends on.
#[track_caller]
fn is_taken(n: u32, change: Option<&str>) -> bool {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = std::env::temp_dir().join(format!("xtask-cubin-{}-{n}", std::process::id()));
    let source = "kernels/bench/saxpy.cu";
    for file in [source, "kernels/ptx/saxpy.ptx", "kernels/cubin/saxpy.cubin"] {
        let mut bytes = fs::read(from.join(file)).expect("it is committed");
        if change == Some(file) {
            bytes.push(b'\n');
        }
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        fs::write(path, bytes).expect("files can be written");
    }
    let taken = committed(&root, &root.join(source));
    let _ = fs::remove_dir_all(&root);
    taken.is_some()
}

#[test]
fn committed_code_is_taken_for_the_source_that_it_was_made_of() {
    assert!(is_taken(0, None));
    assert!(!is_taken(1, Some("kernels/bench/saxpy.cu")));
    assert!(!is_taken(2, Some("kernels/cubin/saxpy.cubin")));
}

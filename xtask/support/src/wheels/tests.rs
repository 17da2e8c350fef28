use super::*;

#[test]
fn a_file_that_is_cut_off_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let library = folder.join("lib/a.so");
    std::fs::create_dir_all(folder.join("lib")).expect("a folder");
    std::fs::write(&library, "whole").expect("a file");
    std::fs::write(folder.join("b.h"), "").expect("a file");
    assert_eq!(damaged(folder), None, "nothing is recorded");
    record(folder).expect("recorded");
    assert_eq!(damaged(folder), None);
    std::fs::write(&library, "who").expect("a file");
    assert_eq!(damaged(folder), Some(library.clone()));
    std::fs::remove_file(&library).expect("it was there");
    assert_eq!(damaged(folder), Some(library));
}

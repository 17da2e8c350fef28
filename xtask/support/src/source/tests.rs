use super::*;

#[track_caller]
fn file(written: &str, root: &str) -> String {
    normalise(&format!("\t.file\t1 {written}"), Path::new(root), None)
}

#[test]
fn paths_do_not_tell_where_it_was_compiled() {
    let expected = "\t.file\t1 \"kernels/a.cu\"\n";
    let plain = "\"/home/me/repo/kernels/a.cu\", 17, 42";
    assert_eq!(file(plain, "/home/me/repo"), expected);
    // As NVRTC 12.4 writes a folder with an accent, quotes and a newline.
    let odd = r#""/t\303\251\"il\'e\nx/kernels/a.cu", 17, 42"#;
    assert_eq!(file(odd, "/t\u{e9}\"il'e\nx"), expected);
    assert_eq!(file(plain, "/home/me/re"), "\t.file\t1 \"/home/me/repo/kernels/a.cu\"\n");
}

#[test]
fn a_mark_of_utf_8_is_left_out_and_another_encoding_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.cu");
    std::fs::write(&path, "\u{feff}// a\n").expect("a file");
    assert_eq!(read_source(&path).expect("readable"), "// a\n");
    std::fs::write(&path, [0xff, 0xfe, b'/', 0]).expect("a file");
    let error = read_source(&path).expect_err("UTF-16").to_string();
    assert!(error.ends_with(".cu is not text in UTF-8; save it as UTF-8 in your editor"), "{error}");
}

#[test]
fn headers_that_include_each_other_are_read_once_and_devices_never() {
    let root = tempfile::tempdir().expect("a folder");
    let kernels = root.path().join("kernels");
    std::fs::create_dir_all(&kernels).expect("a folder");
    std::fs::write(kernels.join("a.cuh"), "#include \"b.cuh\"\n").expect("a file");
    std::fs::write(kernels.join("b.cuh"), "#include \"a.cuh\"\n").expect("a file");
    let source = "  # include  \"a.cuh\"  // why\n#if 0\n#include \"/dev/zero\"\n#endif\n";
    let found = local_includes(root.path(), &kernels.join("k.cu"), source).expect("readable");
    let names: Vec<_> = found.iter().filter_map(|include| include.path.file_name()).collect();
    assert_eq!(names, ["b.cuh", "a.cuh"]);
}

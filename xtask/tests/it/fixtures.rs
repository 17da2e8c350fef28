//! `cargo xtask fixtures`: what it compiles is what is committed, and what it shows is what was compiled.

use std::process::Command;

/// Exit code and both streams.
fn run(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("fixtures")
        .args(words)
        .output()
        .expect("xtask starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("an exit code"),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Some of each folder, one that includes a header; `cargo xtask fixtures --check` compiles all of them.
#[test]
fn committed_specimens_are_what_the_compiler_makes_of_them() {
    let (code, out, err) = run(&[
        "--check",
        "off_by_one_broken",
        "helpers_in_header_broken",
        "aliased_shift",
        "votes",
    ]);
    match code {
        3 => eprintln!("not run: {err}"),
        _ => assert_eq!((code, out.as_str()), (0, "4 kernels, 0 files changed\n"), "{err}"),
    }
}

#[test]
fn a_kernel_that_is_a_list_of_edits_is_shown_in_whole() {
    let (code, out, err) = run(&["--show", "off_by_one_broken"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("// off_by_one_broken.cu: "), "{out}");
    assert!(out.contains("    if (i < n) slope[i] = "), "{out}");
    let (_, ptx, _) = run(&["--show", "--ptx", "off_by_one_broken"]);
    assert!(ptx.contains(".entry differences("), "{ptx}");
}

#[test]
fn a_specimen_that_does_not_exist_is_wrong_usage() {
    let (code, _, err) = run(&["--show", "no_such"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is no fixture `no_such`"), "{err}");
}

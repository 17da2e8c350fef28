//! `cargo xtask solutions` and `fixtures`: the committed PTX is what they compile, and `--show` prints its sources.

use std::process::Command;

use crate::files::streams;

/// Returns the exit code and both streams.
fn run(words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    streams(&command.args(words).output().expect("xtask starts"))
}

/// Solutions of all steps and fixtures of all folders, one that includes a header. Without names, both commands compile
/// all of them, which takes a minute.
#[test]
fn committed_kernels_are_what_the_compiler_makes_of_them() {
    for words in [
        "solutions --check v01/two-rows-of-sixteen v02/early-return v03/seven-columns v04/starter v05/swizzle \
         v06/pairs-of-columns v07/asynchronous-copies v08/triples-no-padding",
        "fixtures --check off_by_one_broken helpers_in_header_broken aliased_shift votes",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let (code, out, err) = run(&words);
        let n = words.len() - 2;
        match code {
            3 => eprintln!("not run: {err}"),
            _ => assert_eq!((code, out), (0, format!("{n} kernels, 0 files changed\n")), "{err}"),
        }
    }
}

#[test]
fn a_kernel_that_is_a_list_of_edits_is_shown_in_whole() {
    let (code, out, err) = run(&["fixtures", "--show", "off_by_one_broken"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("// off_by_one_broken.cu: "), "{out}");
    assert!(out.contains("    if (i < n) slope[i] = "), "{out}");
    let (_, ptx, _) = run(&["fixtures", "--show", "--ptx", "off_by_one_broken"]);
    assert!(ptx.contains(".entry differences("), "{ptx}");
}

#[test]
fn a_kernel_that_does_not_exist_is_wrong_usage() {
    for (words, told) in [
        (["solutions", "--check", "v05/no-such"], "there is no solution `v05/no-such`"),
        (["fixtures", "--show", "no_such"], "there is no fixture `no_such`"),
    ] {
        let (code, _, err) = run(&words);
        assert_eq!(code, 2);
        assert!(err.contains(told), "{err}");
    }
}

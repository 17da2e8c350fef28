//! `cargo xtask solutions`: what it compiles is what is committed.

use std::process::Command;

/// Exit code and both streams.
fn run(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("solutions")
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

/// A kernel of each step; `cargo xtask solutions --check` compiles all of them, which takes a minute.
#[test]
fn committed_solutions_are_what_the_compiler_makes_of_them() {
    let (code, out, err) = run(&[
        "--check",
        "v01/two-rows-of-sixteen",
        "v02/early-return",
        "v03/seven-columns",
        "v04/starter",
        "v05/swizzle",
        "v06/pairs-of-columns",
        "v07/asynchronous-copies",
        "v08/triples-no-padding",
    ]);
    match code {
        3 => eprintln!("not run: {err}"),
        _ => assert_eq!((code, out.as_str()), (0, "8 kernels, 0 files changed\n"), "{err}"),
    }
}

#[test]
fn a_solution_that_does_not_exist_is_wrong_usage() {
    let (code, _, err) = run(&["v05/no-such"]);
    assert_eq!(code, 2);
    assert!(err.contains("there is no solution `v05/no-such`"), "{err}");
}

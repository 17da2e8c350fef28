//! The strip of v02 runs as long as it fits in shared memory; beyond, its error names the reason.

use std::process::Command;

fn strip(k: &str) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_v02"))
        .args(["bench", "--emulate", "--kernel", "strip", "--size", &format!("20x20x{k}")])
        .output()
        .expect("the step starts");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn more_than_48_kib_is_asked_for() {
    let (code, page) = strip("1816");
    assert_eq!(code, Some(0));
    assert!(page.contains("right") && page.contains("232448 B"), "{page}");
}

#[test]
fn more_than_there_is_is_not_run() {
    let (code, page) = strip("1817");
    assert_eq!(code, Some(0));
    let why =
        "not run: does not fit in shared memory: a block needs 232576 bytes, and the device gives it 232448";
    assert!(page.contains(why), "{page}");
}

//! `explain`: the lines of a copy beside the finished kernel.

use std::fs;
use std::process::Command;

use catalog::{Shape, provenance::sha256};
use counters::Summary;
use serde_json::Value;
use tasks::TaskName;
use tasks::explain::{Explained, Line};

use crate::fakes::{self, Learner, passed, run_with_note};
use crate::files::streams;

fn counts(n: u64) -> Summary {
    Summary {
        instructions: n,
        lane_instructions: 32 * n,
        multiply_adds: 64 * n,
        sectors: 4 * n,
        requests: n,
        ..Summary::default()
    }
}

/// Returns an explanation of a kernel with two lines that do something, one of them with excess.
fn explained(file: &str, lines: [u32; 2], excess: u64) -> Explained {
    let slow = Summary { shared_requests: 100, wavefronts: 100 + excess, excess, ..counts(131_072) };
    let mut total = counts(3);
    total += slow;
    let line = |line, counts| Line { file: file.to_owned(), line, counts };
    Explained {
        task: TaskName::rebuild("v05"),
        kernel: "sgemm_x".into(),
        shape: Shape { m: 256, n: 256, k: 64 },
        grid: [2, 2, 1],
        block: [256, 1, 1],
        right: true,
        stopped: None,
        total,
        lines: vec![line(lines[0], counts(3)), line(lines[1], slow)],
        machine: None,
    }
}

/// Returns a learner whose copy, the starter, has excess wavefronts, and the compiled solution.
pub(crate) fn with_explanations() -> Learner {
    let learner = Learner::started();
    let json = |explained: &Explained| serde_json::to_string(explained).expect("plain data");
    let hash = sha256(fakes::SOLUTION.as_bytes());
    learner.write(
        "kernels/ptx/v05_x.ptx",
        &format!("// Generated\n// source: kernels/v05_x.cu sha256:{hash}\n.version 8.4\n.entry sgemm_x() {{\n}}\n"),
    );
    learner.write("bin/yours.json", &json(&explained("my/v05.cu", [2, 3], 400)));
    learner.write("bin/finished.json", &json(&explained("kernels/v05_x.cu", [3, 6], 0)));
    learner
}

#[test]
fn line_numbers_may_name_what_is_no_file() {
    let learner = with_explanations();
    let json = learner.read("bin/yours.json").replace("my/v05.cu", "my/pipe");
    fs::write(learner.path("bin/yours.json"), json).expect("a file");
    let made = Command::new("mkfifo").arg(learner.path("my/pipe")).status().expect("mkfifo");
    assert!(made.success());
    // A pipe would be waited for.
    let output = learner.command_in("timeout", &["20"], "explain v05").output().expect("timeout runs");
    let (code, out, err) = streams(&output);
    assert!(code == 0 && out.contains("my/pipe"), "{out}{err}");
}

#[test]
fn lines_are_explained_beside_the_sums_of_the_finished_kernel() {
    let learner = with_explanations();
    let long = "    float much_too_long_to_fit_beside_the_counts = one + two + three + four + five + six + seven;\n";
    fs::write(learner.path("my/v05.cu"), format!("void f()\n{{\n{long}}}\n")).expect("a file");
    let (code, out) =
        run_with_note(&learner, "explain v05", "the lines of the finished kernel are shown once yours has passed");
    assert_eq!(code, 0);
    insta::assert_snapshot!(out);
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");

    // Without a copy, and once it has passed, the finished kernel has lines, too.
    let finished = learner.run("explain v05 --finished").1;
    assert!(finished.contains("kernels/v05_x.cu: the finished kernel") && finished.contains("done();"), "{finished}");
    assert!(!finished.contains("yours"), "{finished}");
    learner.verdict(&passed());
    learner.run("check v05");
    let (code, both) = run_with_note(&learner, "explain v05 --by sectors", "");
    assert!(code == 0 && both.contains("bars: sectors of global memory") && both.contains("done();"), "{both}");
}

#[test]
fn explanations_are_records() {
    let learner = with_explanations();
    let (code, out, _) = learner.run("explain v05 --json");
    let records: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!((code, records.len()), (0, 2));
    let [yours, finished] = [&records[0]["explain"], &records[1]["explain"]];
    assert_eq!(yours["whose"], "yours");
    assert_eq!(yours["by"], "excess");
    assert_eq!(yours["lines"][1]["counts"]["excess"], 400);
    assert!(yours["lines"][0]["text"].is_string());
    // Lines stay hidden until the copy has passed.
    assert!(finished["lines"].is_null() && finished["total"]["sectors"].is_u64());
    serde_json::from_value::<Explained>(yours.clone()).expect("an explanation");
}

#[test]
fn what_cannot_be_explained_says_why() {
    let learner = Learner::new();
    let cases = [
        ("explain v05.wide", 3, "there is no my/v05.wide.cu; begin with: xtask start v05.wide"),
        ("explain v05.wide --finished", 3, "after: xtask solution v05.wide --give-up"),
        ("explain e-none", 2, "there is no code E-NONE"),
        ("explain v05 --by nonsense", 2, "the columns are instructions, "),
        ("explain v05", 3, "there is no PTX of kernels/v05_x.cu; make it with: xtask ptx kernels/v05_x.cu"),
    ];
    for (words, expected, note) in cases {
        let (code, out) = run_with_note(&learner, words, note);
        assert_eq!((code, out.as_str()), (expected, ""), "{words}");
    }
    learner.run("start v05");
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    let (code, _) = run_with_note(&learner, "explain v05", "it does not compile: my/v05.cu:1: cannot find type `x`");
    assert_eq!(code, 1);
}

#[test]
fn a_task_for_the_host_has_hints_and_no_lines() {
    let learner = Learner::new();
    let note =
        "v05.launch is about the host and has no kernel to explain; its answer is checked with: xtask check v05.launch";
    assert_eq!(run_with_note(&learner, "explain v05.launch", note), (2, String::new()));
    assert_eq!(run_with_note(&learner, "hint v05.launch", "").0, 0);
}

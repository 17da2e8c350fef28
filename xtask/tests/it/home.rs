//! Bare `xtask`: where a learner is, and what comes next.

use std::fs;

use crate::fakes::{Learner, conflicts, passed, run_with_note};

#[test]
fn bare_xtask_shows_the_ladder_and_the_next_action() {
    let learner = Learner::new();
    let next = |learner: &Learner| {
        let out = learner.output(0, "");
        let next = out.split_once("\nNext\n").map_or("", |(_, next)| next);
        let row = out.lines().find(|line| line.starts_with("  v05 ")).unwrap_or_default();
        let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = next.lines().next().unwrap_or_default().trim();
        (row, first.split("  ").next().unwrap_or_default().to_owned())
    };
    let row = |state: &str, questions: &str| format!("v05 bank-conflict-free {state} 0 of 2 {questions}");
    assert_eq!(next(&learner), (row("not started", "0 of 2"), "xtask start v05.launch".into()));
    learner.run("start v05");
    assert_eq!(next(&learner).1, "xtask check v05");
    learner.verdict(&conflicts());
    learner.run("check v05");
    assert_eq!(next(&learner), (row("started: no-excess", "0 of 2"), "xtask hint v05".into()));
    fs::write(learner.path("my/v05.cu"), "// better\n").expect("a file");
    assert_eq!(next(&learner).1, "xtask check v05");
    learner.verdict(&passed());
    learner.run("check v05");
    // Tasks that come before it on its page are not skipped.
    assert_eq!(next(&learner).1, "xtask start v05.launch");
    assert!(learner.run("").1.contains("xtask predict v05"), "beside the task");
    learner.run("predict v05 lanes=32 banks=");
    let (line, command) = next(&learner);
    assert!(line.contains("passed ") && line.ends_with("1 of 2"), "{line}");
    assert_eq!(command, "xtask start v05.launch");

    fs::write(learner.path("my/progress.toml"), "half a\n").expect("a file");
    assert_eq!(run_with_note(&learner, "", "my/progress.toml:1: ").0, 0);
    fs::write(learner.path("steps/v05/tasks.toml"), "what = 1\n").expect("a file");
    assert_eq!(run_with_note(&learner, "", "steps/v05/tasks.toml:1: unknown field `what`").0, 0);
}

//! `predict`: questions, answers, and what is given away.

use std::io::Write as _;
use std::process::Stdio;

use crate::fakes::{Learner, run_with_note};
use crate::files::{spawn, streams};

#[test]
fn questions_are_answered_on_the_command_line_and_from_a_pipe() {
    let learner = Learner::new();
    let questions = "lanes\n  How many lanes has a warp?\n\nbanks\n  Which lanes conflict?\n    a  Those of one bank\n    \
                     b  Those of one word\n\nnext: xtask predict v05 lanes=NUMBER\n";
    assert_eq!(learner.output(0, "predict v05"), questions);
    let judged = "lanes: wrong, it is not 31\nbanks: right, Those of one bank. One word goes to all.\n";
    assert_eq!(learner.output(1, "predict v05 lanes=31 banks=a"), judged);
    // Nothing gives an answer away that nobody has found or asked for.
    for words in ["predict v05", "predict v05 --json", "predict v05 --count"] {
        let out = learner.run(words).1;
        assert!(!out.contains("32") && !out.contains("So it is built"), "{words}: {out}");
    }
    let mut piped = spawn(learner.command("predict v05").stdin(Stdio::piped()));
    let mut stdin = piped.stdin.take().expect("piped");
    stdin.write_all(b"# mine\nlanes = 64/2\n\nbanks=\n").expect("a pipe");
    drop(stdin);
    let (code, out, _) = streams(&piped.wait_with_output().expect("it ends"));
    assert_eq!(code, 0);
    assert!(out.ends_with("lanes: right, 64/2. So it is built.\nbanks: skipped\n"), "{out}");
    let progress = learner.read("my/progress.toml");
    assert!(progress.contains("tries = 2") && progress.contains("answer = \"64/2\""), "{progress}");
    let question = &learner.record(0, "predict v05 lanes --json")["question"];
    assert_eq!((&question["state"], &question["answer"]), (&"right".into(), &32.0.into()));
}

#[test]
fn questions_come_back_and_answers_are_shown_on_request() {
    let learner = Learner::new();
    let out = learner.output(0, "predict v07");
    assert!(out.starts_with("v05.banks  (v05 asked it first)\n"), "{out}");
    let out = learner.output(0, "predict v07 v05.banks --show");
    assert!(out.contains("\n  answer: Those of one bank. One word goes to all.\n"), "{out}");
    assert!(learner.read("my/progress.toml").contains("[questions.\"v05.banks@v07\"]\n"));
    assert_eq!(learner.run("predict v07 banks=1").0, 0);

    let cases = [
        ("predict v05 nonsense=1", "v05 has no question `nonsense`; it has lanes, banks"),
        ("predict v05 lanes=many", "lanes: `many` is not a number"),
        ("predict v05 banks=z", "banks: `z` is not one of the choices a to b"),
        ("predict v99", "there is no step `v99`"),
        ("predict", "required arguments"),
    ];
    for (words, note) in cases {
        let (code, out) = run_with_note(&learner, words, note);
        assert_eq!((code, out.as_str()), (2, ""), "{words}");
    }
    assert_eq!(run_with_note(&learner, "predict v00", ""), (0, "v00 has no questions\n".into()));
}

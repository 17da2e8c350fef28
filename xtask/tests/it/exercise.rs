//! `start`, `check`, `diff`, `reset` and `solution` as a learner sees them: what goes where, and the exit codes.
//!
//! `judge` is a shell script (`fakes`); `course/judge/tests/it/learner.rs` has the real ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use tasks::{TaskName, compile::Refused, verdict::Verdict};

use crate::fakes::{Learner, conflicts, passed, wrong};
use crate::files::{errors, streams};

#[test]
fn a_starter_is_written_once_and_reset_keeps_the_text() {
    let learner = Learner::new();
    let out = learner.output(0, "start v05");
    assert!(out.starts_with("my/v05.cu: 32 banks") && out.contains("about 45 minutes"), "{out}");
    let starter = learner.read("my/v05.cu");
    assert!(starter.contains("    // TODO(v05): do it\n}") && !starter.contains("done"), "{starter}");

    fs::write(learner.path("my/v05.cu"), "mine\n").expect("a file");
    assert_eq!(learner.errors(3, "start 5"), "error: my/v05.cu already exists; to start over: xtask reset v05\n");
    assert_eq!(learner.read("my/v05.cu"), "mine\n");

    for number in [1, 2] {
        assert_eq!(learner.run("reset v05").0, 0);
        assert_eq!(learner.read("my/v05.cu"), starter);
        let kept = learner.read(&format!("my/v05.cu.{number}"));
        assert_eq!(kept == "mine\n", number == 1);
    }
    assert_eq!(
        learner.errors(3, "reset v05.wide"),
        "error: there is no my/v05.wide.cu; begin with: xtask start v05.wide\n"
    );
    assert_eq!(learner.run("start v05.wide").0, 0);
    assert!(learner.read("my/v05.wide.cu").contains("sgemm_wide(int M, int N, int K, "));
}

#[test]
fn a_verdict_ends_with_one_command_and_is_recorded() {
    let learner = Learner::started();
    learner.verdict(&conflicts());
    assert_eq!(learner.output(1, "check v05"), include_str!("conflicts.txt"));
    learner.verdict(&wrong());
    let out = learner.output(1, "check v05");
    assert!(
        out.contains("\non 31x33x17, small integers:\nthe first: C[0][1] is 3, and should be 4\n    .o\n"),
        "{out}"
    );
    learner.verdict(&passed());
    let out = learner.output(0, "check bank-conflict-free");
    assert!(out.ends_with("\nnext: xtask start v05.launch\n"), "{out}");
    let out = learner.output(0, "next");
    assert!(out.contains("\nNext\n  xtask start v05.launch "), "{out}");
    let progress = learner.read("my/progress.toml");
    for line in ["checks = 3", "checks_to_pass = 3", "no-excess = 1", "wrong-result = 1"] {
        assert!(progress.contains(line), "{line} in {progress}");
    }
}

#[test]
fn the_next_command_fits_a_repository_with_all_copies_and_no_solution() {
    let learner = Learner::new();
    for task in ["v05", "v05.wide", "v05.launch"] {
        learner.run(&format!("start {task}"));
    }
    // The copies of `assign` have no history.
    fs::remove_file(learner.path("my/progress.toml")).expect("the progress");
    for solution in ["kernels/v05_x.cu", "steps/v05/tasks/wide.cu"] {
        fs::remove_file(learner.path(solution)).expect("a solution");
    }
    let (_, out, _) = learner.run("");
    assert!(out.contains("xtask check v05.wide  "), "{out}");
    learner.verdict(&passed());
    let (_, out, _) = learner.run("check v05");
    assert!(out.starts_with("my/v05.cu: your copy\n"), "{out}");
    assert!(out.ends_with("\nnext: xtask check v05.wide\n"), "{out}");
}

#[test]
fn errors_of_the_compiler_have_a_line_and_a_hint() {
    let learner = Learner::started();
    fs::write(learner.path("my/v05.cu"), "__device__ void f()\n{\n    int x = 1\n}\n").expect("a file");
    let out = learner.output(1, "check v05");
    assert!(
        out.contains("failed   compiles   my/v05.cu:3: expected `;`\n  not run  right      it does not compile\n"),
        "{out}"
    );
    assert!(out.contains("3 |     int x = 1\n"), "{out}");
    assert!(learner.read("my/progress.toml").contains("compile = 1"));
}

#[test]
fn records_are_json_and_have_every_part() {
    let learner = Learner::started();
    for (verdict, expected) in [(passed(), 0), (conflicts(), 1), (wrong(), 1)] {
        learner.verdict(&verdict);
        let record = learner.record(expected, "check v05 --json");
        let mut found: Verdict = serde_json::from_value(record["verdict"].clone()).expect("a verdict");
        assert!(found.notes.pop().is_some_and(|note| note.starts_with("compiled by the built-in compiler")));
        assert_eq!(found, verdict);
    }
    fs::write(learner.path("my/v05.cu"), "?\n").expect("a file");
    let compiler = learner.record(1, "check v05 --json")["verdict"]["compiler"].clone();
    assert_eq!(serde_json::from_value::<Refused>(compiler).expect("errors").errors[0].line, 1);
    assert_eq!(learner.record(0, "diff v05 --json")["diff"]["against"], "solution");
}

#[test]
fn the_solution_is_shown_after_passing_or_giving_up() {
    let learner = Learner::started();
    fs::write(learner.path("my/v05.cu"), learner.read("my/v05.cu") + "// mine\n").expect("a file");
    let err = learner.errors(1, "solution v05");
    assert!(err.contains("xtask solution v05 --give-up"), "{err}");
    let (code, out, err) = learner.run("diff v05");
    assert_eq!(code, 0);
    assert!(out.starts_with("--- the starter\n+++ my/v05.cu\n") && !out.contains("done()"), "{out}");
    assert!(err.contains("against the starter"), "{err}");

    let out = learner.output(0, "solution v05 --give-up");
    assert!(out.contains("    done();\n") && !out.contains("SOLUTION"), "{out}");
    assert!(learner.read("my/progress.toml").contains("gave_up = "));
    let out = learner.output(0, "diff v05");
    assert!(out.starts_with("--- the finished kernel\n") && out.contains("-    done();\n"), "{out}");
    assert!(!out.contains("+// v05") && !out.contains("\n-//"), "{out}");
    assert_eq!(learner.run("solution v05").0, 0);

    learner.run("start v05.wide");
    learner.verdict(&Verdict { task: TaskName::transfer("v05", "wide"), ..passed() });
    assert_eq!(learner.run("check v05.wide").0, 0);
    assert_eq!(learner.run("solution v05.wide").1, "// wide.cu: whole\nvoid g() {}\n");
}

#[test]
fn a_task_for_the_host_has_an_answer_file_and_no_compiler() {
    let learner = Learner::new();
    fs::write(learner.path("steps/v05/tasks/launch.toml"), "grid = [2, 2, 1]\n").expect("a file");
    let out = learner.output(0, "start v05.launch");
    assert!(out.starts_with("my/v05.launch.toml: Its launch\n"), "{out}");
    assert_eq!(
        learner.read("my/v05.launch.toml"),
        "# v05.launch, a transfer task of 5 minutes: Its launch.\n#\n# Write it.\n#\n\
         # What is missing is marked TODO. Check it with: cargo xtask check v05.launch\n\
         grid = [1, 1, 1]  # TODO(v05): how many blocks?\n"
    );
    let mut verdict = wrong();
    verdict.task = TaskName::transfer("v05", "launch");
    learner.verdict(&verdict);
    let out = learner.output(1, "check v05.launch");
    assert!(out.ends_with("next: change my/v05.launch.toml, then: xtask check v05.launch\n"), "{out}");
    let asked = learner.read("bin/asked");
    assert!(
        asked.contains("kernels/ptx/v05_x.ptx --answer ") && asked.trim_end().ends_with("my/v05.launch.toml"),
        "{asked}"
    );
    assert_eq!(learner.output(0, "solution v05.launch --give-up"), "grid = [2, 2, 1]\n");
}

#[test]
fn the_tasks_of_a_step_are_listed() {
    let (code, out, err) = Learner::new().run("list bank-conflict-free");
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("\n    xtask start v05.wide: "), "{out}");
    assert!(!out.contains("v04") && !out.contains("v13"), "{out}");
}

#[test]
fn what_is_not_there_is_named() {
    let learner = Learner::new();
    let cases = [
        ("check v05.wide", 3, "there is no my/v05.wide.cu; begin with: xtask start v05.wide"),
        ("check v05.narrow", 2, "there is no task `v05.narrow`; v05 has v05, v05.launch, v05.wide"),
        ("start v77", 2, "there is no step `v77`"),
        ("start v00", 2, "there is no task `v00`; v00 has no tasks"),
        ("diff v05", 3, "there is no my/v05.cu; begin with: xtask start v05"),
        ("check v05.wide --finished", 2, "--finished is for the kernels of steps"),
        ("start", 2, "required arguments"),
    ];
    for (words, expected, text) in cases {
        let err = learner.errors(expected, words);
        assert!(err.contains(text), "{words}: {err}, not {text}");
    }
}

#[test]
fn without_a_compiler_the_command_that_gets_one_is_named() {
    let learner = Learner::started();
    let check = |code, set: fn(&mut Command) -> &mut Command| errors(code, set(&mut learner.command("check v05")));
    let err = check(3, |command| command.env("TILE_COMPILER", "nvrtc"));
    assert!(err.contains("no CUDA compiler") && err.contains("cargo xtask setup"), "{err}");
    let err = check(2, |command| command.env("TILE_COMPILER", "gcc"));
    assert!(err.contains("TILE_COMPILER=gcc is not understood"), "{err}");
}

#[test]
fn without_a_download_the_built_in_compiler_is_taken() {
    let learner = Learner::started();
    learner.verdict(&passed());
    let check = |copy: &str, words: &str| {
        learner.write("my/v05.cu", copy);
        let mut command = learner.command(&format!("check v05 {words}"));
        streams(&command.env_remove("TILE_COMPILER").output().expect("xtask runs"))
    };
    let kernel = |body: &str| format!("extern \"C\" __global__ void k(float* C)\n{{\n    {body}\n}}\n");
    for words in ["", "--with built-in"] {
        let (code, out, err) = check(&kernel("C[threadIdx.x] = 1;"), words);
        assert!(code == 0 && out.contains("note: compiled by the built-in compiler"), "{out}{err}");
        let (code, out, _) = check(&kernel("let i = threadIdx.x;"), words);
        assert!(code == 1 && out.contains("my/v05.cu:3: `let` is of Rust"), "{out}");
        assert!(out.contains("help: write `const int i = threadIdx.x;`"), "{out}");
    }
    let (code, out, _) = check(&kernel("if (C[0] = 1) C[1] = 2;"), "");
    assert!(code == 0 && out.contains("note: my/v05.cu:3: this condition assigns, and does not compare"), "{out}");
    let (code, out, _) = check(&kernel("goto end; end: C[0] = 1;"), "");
    assert!(code == 1 && out.contains("`goto` is not compiled by the built-in compiler"), "{out}");
    assert!(out.contains("`cargo xtask setup` gets NVIDIA's compiler, which knows more of CUDA"), "{out}");
}

#[test]
fn a_judge_without_an_answer_is_an_error() {
    let learner = Learner::started();
    let err = learner.errors(3, "check v05");
    assert!(err.contains("judge ended (exit status: 3) and printed no error"), "{err}");
    fs::write(learner.path("bin/verdict.json"), "no verdict").expect("a file");
    let err = learner.errors(3, "check v05");
    assert!(err.contains("judge printed something that is not a verdict"), "{err}");
}

#[test]
fn progress_that_cannot_be_written_costs_a_remark_and_no_verdict() {
    let learner = Learner::started();
    learner.verdict(&passed());
    fs::write(learner.path("my/progress.toml"), "format = [\n").expect("a file");
    let (code, out, err) = learner.run("check v05");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("passed   no-excess"), "{out}");
    assert!(err.contains("your progress is not recorded: my/progress.toml:"), "{err}");
    assert_eq!(learner.read("my/progress.toml"), "format = [\n");
}

/// Runs a command that can write nothing, as on a full disk; or is killed where it first writes.
fn run_without_space(learner: &Learner, words: &str, killed: bool) -> std::process::Output {
    let ignores = if killed { "" } else { "trap '' XFSZ;" };
    let script = format!("{ignores} ulimit -c 0; ulimit -f 0; exec \"$0\" \"$@\"");
    learner.command_in("sh", &["-c", &script], words).output().expect("a shell")
}

#[test]
fn where_nothing_can_be_written_that_is_said() {
    let learner = Learner::new();
    let (code, out, err) = streams(&run_without_space(&learner, "start v05", false));
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(err.starts_with("error: my/v05.cu cannot be written; work in a checkout that is yours: "), "{err}");
    assert!(!Path::new(&learner.path("my/v05.cu")).exists());
}

#[test]
fn a_reset_that_fails_or_is_killed_leaves_the_copy() {
    let learner = Learner::started();
    fs::write(learner.path("my/v05.cu"), "mine\n").expect("a file");
    let (code, out, err) = streams(&run_without_space(&learner, "reset v05", false));
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(err.starts_with("error: my/v05.cu cannot be written; "), "{err}");
    assert!(!learner.path("my/v05.cu.1").exists());
    assert_eq!(learner.read("my/v05.cu"), "mine\n");
    assert_eq!(run_without_space(&learner, "reset v05", true).status.code(), None);
    assert_eq!(learner.read("my/v05.cu"), "mine\n");
}

#[test]
fn only_a_file_is_a_copy() {
    let learner = Learner::new();
    let copy = learner.path("my/v05.cu");
    let refuses = |what: &str| {
        for command in ["check", "start", "reset", "diff", "watch", "explain"] {
            let err = learner.errors(3, &format!("{command} v05"));
            assert_eq!(err, format!("error: {what}; move it away, then: xtask start v05\n"), "{command}");
        }
    };
    fs::write(learner.path("my"), "").expect("a file");
    refuses("my is a file, and has to be a folder");
    let (code, _, err) = learner.run("hint v05");
    let why = "your progress is not recorded: my/progress.toml: my is not a folder; move it away\n";
    assert_eq!((code, err.as_str()), (0, why));
    fs::remove_file(learner.path("my")).expect("it was there");
    fs::create_dir_all(learner.path("my/progress.toml")).expect("a folder");
    assert_eq!(learner.errors(3, "hint v05"), "error: my/progress.toml: it is not a file; move it away\n");
    fs::remove_dir(learner.path("my/progress.toml")).expect("it was there");
    fs::create_dir_all(&copy).expect("a folder");
    refuses("my/v05.cu is a folder, and not a file");
    fs::remove_dir(&copy).expect("it was there");
    std::os::unix::fs::symlink("nothing", &copy).expect("a link");
    refuses("my/v05.cu is a link to nothing, and not a file");
    fs::remove_file(&copy).expect("it was there");
    let made = Command::new("mkfifo").arg(&copy).status().expect("mkfifo");
    assert!(made.success());
    refuses("my/v05.cu is a pipe or a device, and not a file");
}

#[test]
fn the_finished_kernels_are_named_to_those_who_have_begun() {
    let learner = Learner::new();
    learner.program("cargo", "#!/bin/sh\nexit 1\n");
    let first = "the finished kernels of v05, because my/v05.cu does not exist; begin it with: xtask start v05\n";
    assert_eq!(learner.run("check v05").1, "");
    learner.run("start v05.wide");
    assert_eq!(learner.run("check v05").1, first);
    assert_eq!(learner.run("check v05 --finished").1, "");
    let (_, out, err) = learner.run("check v05 --json");
    assert!(out.is_empty() && err.starts_with(first), "{out}{err}");
    for words in ["check", "check all"] {
        assert!(learner.run(words).1.starts_with("the finished kernels of all steps; a copy of yours is "), "{words}");
    }
    // The record alone says that it was there.
    fs::remove_file(learner.path("my/v05.wide.cu")).expect("it was there");
    assert_eq!(learner.run("check v05").1, first);
}

#[test]
fn a_copy_is_compiled_again_when_anything_it_is_made_of_changes() {
    let learner = Learner::started();
    learner.verdict(&passed());
    let compiled = || {
        learner.run("check v05");
        let entries = fs::read_dir(learner.path("target/my")).expect("a folder").flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "ptx")).count()
    };
    assert_eq!((compiled(), compiled()), (1, 1));
    fs::write(learner.path("kernels/common.cuh"), "// other\n").expect("a file");
    assert_eq!(compiled(), 2);
}

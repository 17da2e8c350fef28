//! `start`, `check`, `diff`, `reset` and `solution` as a learner sees them: what goes where, and the exit codes.
//!
//! clang and `judge` are played by shell scripts; `steps/judge/tests/learner.rs` has the real ones.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use course::compile::Refused;
use course::tasks::Criterion;
use course::verdict::{Measured, Part, Status, Verdict, Wrong};
use course::{Catalogue, TaskName};
use ladder::Shape;

/// Takes every source in which there is no `?`.
const CLANG: &str = r#"#!/bin/sh
for word in "$@"; do
    if [ "$word" = --version ]; then echo "clang version 99"; exit 0; fi
    last=$word
done
if grep -q '?' "$last"; then
    echo "$last:7:5: error: expected ';' after expression" >&2
    echo "    x = ?" >&2
    exit 1
fi
echo "// compiled $last"
"#;

/// Prints the verdict that lies beside it; says nothing without one.
const JUDGE: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" > "$here/asked"
cat "$here/verdict.json" 2>/dev/null || exit 3
if grep -q '"status":"passed","parts"' "$here/verdict.json"; then exit 0; else exit 1; fi
"#;

const TASKS: &str = r#"
[rebuild]
source = "v05_x"
entry = "sgemm_x"
work = "sgemm"
tile = [128, 128]
block = [256, 1, 1]
minutes = 45
[[rebuild.does]]
id = "no-excess"
what = "no access takes longer than it must"
measure = "shared_excess_per_fma"
at_most = 0.0
shape = [256, 256, 64]
misses = "lanes meet in a bank"
[[transfer]]
id = "wide"
title = "A 64 x 128 tile"
text = "Write it."
entry = "sgemm_wide"
work = "sgemm"
tile = [64, 128]
block = [256, 1, 1]
minutes = 30
[[host]]
id = "launch"
title = "Its launch"
text = "Write it."
call = { launch = { source = "v05_x" } }
entry = "sgemm_x"
work = "sgemm"
tile = [128, 128]
block = [256, 1, 1]
minutes = 5
starter = """
grid = [1, 1, 1]  # TODO(v05): how many blocks?
"""
"#;

const SOLUTION: &str = "// v05_x.cu: the idea.\n#include \"common.cuh\"\nvoid f()\n{\n    // SOLUTION(v05): do it\n    \
                        done();\n    // SOLUTION_END\n}\n";

/// A checkout of a learner, with programs of its own.
struct Learner {
    root: PathBuf,
}

impl Learner {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("xtask-learner-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["xtask", "kernels", "steps/v05/tasks", "bin"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("a file");
        write("xtask/Cargo.toml", "");
        write("kernels/common.cuh", "// common\n");
        write("kernels/v05_x.cu", SOLUTION);
        write("steps/v05/tasks.toml", TASKS);
        write("steps/v05/tasks/wide.cu", "// wide.cu: whole\nvoid g() {}\n");
        let learner = Self { root };
        learner.program("clang", CLANG);
        learner.program("judge", JUDGE);
        learner
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.root.join("bin").join(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| format!("{name}: {error}"))
    }

    fn verdict(&self, verdict: &Verdict) {
        let text = serde_json::to_string(verdict).expect("plain data");
        // As the script wants it: passing or not is read off the order of the fields.
        fs::write(self.path("bin/verdict.json"), text).expect("a file");
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .args(words.split_whitespace())
            .current_dir(&self.root)
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("TILE_JUDGE", self.path("bin/judge"))
            .env("TILE_NVRTC", self.path("none"))
            .env("TILE_COMPILER", "clang")
            .env_remove("CARGO")
            .env_remove("CARGO_MANIFEST_DIR");
        command
    }

    #[track_caller]
    fn run(&self, words: &str) -> (i32, String, String) {
        told(&self.command(words).output().expect("xtask runs"))
    }
}

impl Drop for Learner {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Exit code and both streams; nothing but plain text is in them.
#[track_caller]
fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        !out.contains('\x1b') && !err.contains('\x1b'),
        "escapes in a pipe: {out}{err}"
    );
    (output.status.code().expect("an exit code"), out, err)
}

fn criteria() -> Vec<Criterion> {
    let catalogue = Catalogue::parse(TASKS, "v05", "tasks.toml").expect("a catalogue");
    catalogue.tasks[0].does.clone()
}

fn passed() -> Verdict {
    let mut verdict = Verdict::stopped(TaskName::rebuild("v05"), &criteria(), "", "");
    verdict.status = Status::Passed;
    (verdict.code, verdict.why) = (None, None);
    verdict.n_shapes = 17;
    for part in &mut verdict.parts {
        *part = Part::passed(&part.id, &part.what);
    }
    verdict
}

fn conflicts() -> Verdict {
    let mut verdict = passed();
    verdict.status = Status::Failed;
    verdict.code = Some("no-excess".into());
    let last = verdict.parts.last_mut().expect("a criterion");
    last.status = Status::Failed;
    last.why = Some("lanes meet in a bank".into());
    last.measured = Some(Measured {
        measure: "shared_excess_per_fma".into(),
        words: "wavefronts too many".into(),
        value: Some(0.75),
        at_most: Some(0.0),
        at_least: None,
        shape: Shape {
            m: 256,
            n: 256,
            k: 64,
        },
    });
    verdict
}

fn wrong() -> Verdict {
    let mut verdict = Verdict::stopped(
        TaskName::rebuild("v05"),
        &criteria(),
        "wrong-result",
        "it is wrong",
    );
    verdict.wrong = Some(Wrong {
        shape: Shape { m: 31, n: 33, k: 17 },
        on: "small integers".into(),
        n_wrong: 9,
        n: 1023,
        first: "the first: C[0][1] is 3, and should be 4".into(),
        diagnosis: Some("an index is off by one".into()),
        map: "    .o\n".into(),
    });
    verdict
}

#[test]
fn a_starter_is_written_once_and_reset_keeps_the_text() {
    let learner = Learner::new();
    let (code, out, _) = learner.run("start v05");
    assert_eq!(code, 0);
    assert!(
        out.starts_with("my/v05.cu: 32 banks") && out.contains("about 45 minutes"),
        "{out}"
    );
    let starter = learner.read("my/v05.cu");
    assert!(
        starter.contains("    // TODO(v05): do it\n}") && !starter.contains("done"),
        "{starter}"
    );

    fs::write(learner.path("my/v05.cu"), "mine\n").expect("a file");
    let (code, _, err) = learner.run("start 5");
    assert_eq!(
        (code, err.as_str()),
        (
            3,
            "error: my/v05.cu is there already; begin anew with: xtask reset v05\n"
        )
    );
    assert_eq!(learner.read("my/v05.cu"), "mine\n");

    for number in [1, 2] {
        assert_eq!(learner.run("reset v05").0, 0);
        assert_eq!(learner.read("my/v05.cu"), starter);
        let kept = learner.read(&format!("my/v05.cu.{number}"));
        assert_eq!(kept == "mine\n", number == 1);
    }
    let (code, _, err) = learner.run("reset v05.wide");
    assert_eq!(
        (code, err.as_str()),
        (
            3,
            "error: there is no my/v05.wide.cu; begin with: xtask start v05.wide\n"
        )
    );
    assert_eq!(learner.run("start v05.wide").0, 0);
    assert!(
        learner
            .read("my/v05.wide.cu")
            .contains("sgemm_wide(int M, int N, int K, ")
    );
}

#[test]
fn a_verdict_ends_with_one_command_and_is_recorded() {
    let learner = Learner::new();
    learner.run("start v05");
    learner.verdict(&conflicts());
    let (code, out, _) = learner.run("check v05");
    assert_eq!(
        (code, out.as_str()),
        (
            1,
            "my/v05.cu: your copy; the finished kernel is checked with --finished\n\n  \
             passed   compiles   the source compiles\n  \
             passed   right      every element of the result is right on 17 shapes\n  \
             passed   clean      no check finds a mistake\n  \
             failed   no-excess  no access takes longer than it must\n                      \
             0.75, and should be at most 0: wavefronts too many, on 256x256x64\n                      \
             lanes meet in a bank\n\n\
             next: change my/v05.cu, then: xtask check v05\n"
        )
    );
    learner.verdict(&wrong());
    let (code, out, _) = learner.run("check v05");
    assert_eq!(code, 1);
    assert!(
        out.contains(
            "\non 31x33x17, small integers:\nthe first: C[0][1] is 3, and should be 4\n\
             it looks like this: an index is off by one\n    .o\n"
        ),
        "{out}"
    );
    learner.verdict(&passed());
    let (code, out, _) = learner.run("check bank-conflict-free");
    assert_eq!(code, 0);
    assert!(out.ends_with("\nnext: xtask start v05.wide\n"), "{out}");
    let progress = learner.read("my/progress.toml");
    for line in [
        "checks = 3",
        "checks_to_pass = 3",
        "no-excess = 1",
        "wrong-result = 1",
    ] {
        assert!(progress.contains(line), "{line} in {progress}");
    }
}

#[test]
fn errors_of_the_compiler_have_a_line_and_a_hint() {
    let learner = Learner::new();
    learner.run("start v05");
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    let (code, out, _) = learner.run("check v05");
    assert_eq!(code, 1);
    assert!(
        out.contains("failed   compiles   my/v05.cu:7: expected ';' after expression\n  not run  right"),
        "{out}"
    );
    assert!(
        out.contains("\n    x = ?\n\nhint: a semicolon is missing"),
        "{out}"
    );
    assert!(learner.read("my/progress.toml").contains("compile = 1"));
}

#[test]
fn records_are_json_and_have_every_part() {
    let learner = Learner::new();
    learner.run("start v05");
    for (verdict, expected) in [(passed(), 0), (conflicts(), 1), (wrong(), 1)] {
        learner.verdict(&verdict);
        let (code, out, _) = learner.run("check v05 --json");
        assert_eq!(code, expected);
        let value: serde_json::Value = serde_json::from_str(&out).expect("one record");
        let again: Verdict = serde_json::from_value(value["verdict"].clone()).expect("a verdict");
        assert_eq!(again, verdict);
    }
    fs::write(learner.path("my/v05.cu"), "?\n").expect("a file");
    let (code, out, _) = learner.run("check v05 --json");
    let value: serde_json::Value = serde_json::from_str(&out).expect("one record");
    let refused: Refused = serde_json::from_value(value["verdict"]["compiler"].clone()).expect("errors");
    assert_eq!((code, refused.errors[0].line), (1, 7));
    let (code, out, _) = learner.run("diff v05 --json");
    let value: serde_json::Value = serde_json::from_str(&out).expect("one record");
    assert_eq!((code, value["diff"]["against"].as_str()), (0, Some("solution")));
}

#[test]
fn the_solution_is_shown_after_passing_or_giving_up() {
    let learner = Learner::new();
    learner.run("start v05");
    fs::write(learner.path("my/v05.cu"), learner.read("my/v05.cu") + "// mine\n").expect("a file");
    let (code, out, err) = learner.run("solution v05");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("xtask solution v05 --give-up"), "{err}");
    let (code, out, err) = learner.run("diff v05");
    assert_eq!(code, 0);
    assert!(
        out.starts_with("--- the starter\n+++ my/v05.cu\n") && !out.contains("done()"),
        "{out}"
    );
    assert!(err.contains("against the starter"), "{err}");

    let (code, out, _) = learner.run("solution v05 --give-up");
    assert_eq!(code, 0);
    assert!(
        out.contains("    done();\n") && !out.contains("SOLUTION"),
        "{out}"
    );
    assert!(learner.read("my/progress.toml").contains("gave_up = "));
    let (code, out, _) = learner.run("diff v05");
    assert_eq!(code, 0);
    assert!(
        out.starts_with("--- the finished kernel\n") && out.contains("-    done();\n"),
        "{out}"
    );
    assert_eq!(learner.run("solution v05").0, 0);

    learner.run("start v05.wide");
    learner.verdict(&Verdict {
        task: TaskName::transfer("v05", "wide"),
        ..passed()
    });
    assert_eq!(learner.run("check v05.wide").0, 0);
    assert_eq!(
        learner.run("solution v05.wide").1,
        "// wide.cu: whole\nvoid g() {}\n"
    );
}

#[test]
fn a_task_for_the_host_has_an_answer_file_and_no_compiler() {
    let learner = Learner::new();
    fs::write(learner.path("steps/v05/tasks/launch.toml"), "grid = [2, 2, 1]\n").expect("a file");
    let (code, out, _) = learner.run("start v05.launch");
    assert_eq!(code, 0);
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
    let (code, out, _) = learner.run("check v05.launch");
    assert_eq!(code, 1);
    assert!(
        out.ends_with("next: change my/v05.launch.toml, then: xtask check v05.launch\n"),
        "{out}"
    );
    let asked = learner.read("bin/asked");
    assert!(
        asked.contains("kernels/ptx/v05_x.ptx --answer ") && asked.contains("my/v05.launch.toml --json"),
        "{asked}"
    );
    let (code, out, _) = learner.run("solution v05.launch --give-up");
    assert_eq!((code, out.as_str()), (0, "grid = [2, 2, 1]\n"));
}

#[test]
fn what_is_not_there_is_named() {
    let learner = Learner::new();
    let cases = [
        (
            "check v05.wide",
            3,
            "there is no my/v05.wide.cu; begin with: xtask start v05.wide",
        ),
        (
            "check v05.narrow",
            2,
            "there is no task `v05.narrow`; v05 has v05, v05.wide, v05.launch",
        ),
        ("start v77", 2, "there is no step `v77`"),
        ("start v00", 2, "there is no task `v00`; v00 has no tasks"),
        (
            "diff v05",
            3,
            "there is no my/v05.cu; begin with: xtask start v05",
        ),
        (
            "check v05.wide --finished",
            2,
            "--finished is for the kernels of steps",
        ),
        ("start", 2, "required arguments"),
    ];
    for (words, expected, text) in cases {
        let (code, out, err) = learner.run(words);
        assert_eq!((code, out.as_str()), (expected, ""), "{words}: {err}");
        assert!(err.contains(text), "{words}: {err}, not {text}");
    }
}

#[test]
fn without_a_compiler_the_command_that_gets_one_is_named() {
    let learner = Learner::new();
    learner.run("start v05");
    let mut command = learner.command("check v05");
    command.env_remove("TILE_COMPILER").env("PATH", "/nonexistent");
    let (code, out, err) = told(&command.output().expect("xtask runs"));
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(
        err.contains("no CUDA compiler") && err.contains("cargo xtask setup"),
        "{err}"
    );
    let mut command = learner.command("check v05");
    command.env("PATH", "/nonexistent");
    let (code, _, err) = told(&command.output().expect("xtask runs"));
    assert!(code == 3 && err.contains("no clang found"), "{err}");
    let mut command = learner.command("check v05");
    command.env("TILE_COMPILER", "gcc");
    let (code, _, err) = told(&command.output().expect("xtask runs"));
    assert!(
        code == 2 && err.contains("TILE_COMPILER=gcc is not understood"),
        "{err}"
    );
}

#[test]
fn a_judge_without_an_answer_is_an_error() {
    let learner = Learner::new();
    learner.run("start v05");
    let (code, out, err) = learner.run("check v05");
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(
        err.contains("judge ended (exit status: 3) and said nothing"),
        "{err}"
    );
    fs::write(learner.path("bin/verdict.json"), "no verdict").expect("a file");
    let (code, _, err) = learner.run("check v05");
    assert!(
        code == 3 && err.contains("judge printed what is no verdict"),
        "{err}"
    );
}

#[test]
fn progress_that_cannot_be_written_costs_a_remark_and_no_verdict() {
    let learner = Learner::new();
    learner.run("start v05");
    learner.verdict(&passed());
    fs::write(learner.path("my/progress.toml"), "format = [\n").expect("a file");
    let (code, out, err) = learner.run("check v05");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("passed   no-excess"), "{out}");
    assert!(
        err.contains("your progress is not recorded: my/progress.toml:"),
        "{err}"
    );
    assert_eq!(learner.read("my/progress.toml"), "format = [\n");
}

#[test]
fn where_nothing_can_be_written_that_is_said() {
    let learner = Learner::new();
    // A file in the place of the folder stops everybody; missing permissions do not stop the superuser.
    fs::write(learner.path("my"), "").expect("a file");
    let (code, out, err) = learner.run("start v05");
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(
        err.starts_with("error: my/v05.cu cannot be written; work in a checkout that is yours: "),
        "{err}"
    );
    assert!(!Path::new(&learner.path("my/v05.cu")).exists());
}

#[test]
fn a_copy_is_compiled_again_when_anything_it_is_made_of_changes() {
    let learner = Learner::new();
    learner.run("start v05");
    learner.verdict(&passed());
    let compiled = || {
        learner.run("check v05");
        let entries = fs::read_dir(learner.path("target/my"))
            .expect("a folder")
            .flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "ptx"))
            .count()
    };
    assert_eq!((compiled(), compiled()), (1, 1));
    fs::write(learner.path("kernels/common.cuh"), "// other\n").expect("a file");
    assert_eq!(compiled(), 2);
}

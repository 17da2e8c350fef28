//! A checkout of a learner, in which a shell script stands in for `judge`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use catalog::Shape;
use serde_json::Value;
use tasks::task::Criterion;
use tasks::verdict::{CriterionValue, Part, Status, Verdict, WrongOutput};
use tasks::{Catalogue, TaskName};
use tempfile::TempDir;

use crate::files::{self, streams};

/// Prints the verdict, or with `--explain` the explanation, that lies beside it; says nothing without one.
const JUDGE: &str = include_str!("../data/judge.sh");

const TASKS: &str = include_str!("../../../course/tasks/src/task/example.toml");

pub(crate) const SOLUTION: &str = "// v05_x.cu: the idea.\n#include \"common.cuh\"\nvoid f()\n{\n    // SOLUTION(v05): do it\n    \
                        done();\n    // SOLUTION_END\n}\n";

/// A checkout of a learner, with programs of its own.
pub(crate) struct Learner {
    root: TempDir,
}

impl Learner {
    pub(crate) fn new() -> Self {
        let learner = Self { root: tempfile::tempdir().expect("a folder") };
        fs::create_dir(learner.path("bin")).expect("a folder");
        learner.write("xtask/Cargo.toml", "");
        learner.write("kernels/common.cuh", "// common\n");
        learner.write("kernels/v05_x.cu", SOLUTION);
        learner.write("steps/v05/tasks.toml", TASKS);
        learner.write("steps/v05/tasks/wide.cu", "// wide.cu: whole\nvoid g() {}\n");
        learner.program("judge", JUDGE);
        learner
    }

    /// Returns a learner with the starter of v05 as the copy.
    pub(crate) fn started() -> Self {
        let learner = Self::new();
        learner.run("start v05");
        learner
    }

    pub(crate) fn program(&self, name: &str, text: &str) {
        files::program(&self.root.path().join("bin").join(name), text);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file, in a new folder where there is none.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| format!("{name}: {error}"))
    }

    pub(crate) fn verdict(&self, verdict: &Verdict) {
        let text = serde_json::to_string(verdict).expect("plain data");
        // As the script wants it: passing or not is read off the order of the fields.
        fs::write(self.path("bin/verdict.json"), text).expect("a file");
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        static XTASK: OnceLock<PathBuf> = OnceLock::new();
        let mut command = Command::new(XTASK.get_or_init(|| files::copy_xtask(&files::empty_folder("learner"))));
        command
            .args(words.split_whitespace())
            .current_dir(&self.root)
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("TILE_JUDGE", self.path("bin/judge"))
            .env("TILE_NVRTC", self.path("none"))
            .env("TILE_COMPILER", "built-in")
            .env_remove("CARGO")
            .env_remove("CARGO_MANIFEST_DIR");
        command
    }

    /// Returns the command as the last arguments of another program.
    pub(crate) fn command_in(&self, program: &str, arguments: &[&str], words: &str) -> Command {
        let mut outer = Command::new(program);
        outer.args(arguments).current_dir(&self.root);
        files::started_by(outer, &self.command(words))
    }

    #[track_caller]
    pub(crate) fn run(&self, words: &str) -> (i32, String, String) {
        streams(&self.command(words).output().expect("xtask runs"))
    }

    /// Returns the output of a command that ends with this code.
    #[track_caller]
    pub(crate) fn output(&self, code: i32, words: &str) -> String {
        let (ended, out, err) = self.run(words);
        assert_eq!(ended, code, "{words}: {out}{err}");
        out
    }

    /// Returns the only record that a command prints which ends with this code.
    #[track_caller]
    pub(crate) fn record(&self, code: i32, words: &str) -> Value {
        serde_json::from_str(&self.output(code, words)).expect("one record")
    }

    /// Returns the errors of a command that ends with this code and has no output.
    #[track_caller]
    pub(crate) fn errors(&self, code: i32, words: &str) -> String {
        files::errors(code, &mut self.command(words))
    }
}

#[track_caller]
pub(crate) fn run_with_note(learner: &Learner, words: &str, note: &str) -> (i32, String) {
    let (code, out, err) = learner.run(words);
    assert!(err.contains(note), "{words}: {err}, not {note}");
    (code, out)
}

pub(crate) fn criteria() -> Vec<Criterion> {
    let catalogue = Catalogue::parse(TASKS, "v05", "tasks.toml").expect("a catalogue");
    catalogue.tasks[0].criteria.clone()
}

pub(crate) fn passed() -> Verdict {
    let mut verdict = Verdict::stopped(TaskName::rebuild("v05"), &criteria(), "", "");
    verdict.status = Status::Passed;
    (verdict.code, verdict.why) = (None, None);
    verdict.n_shapes = 17;
    for part in &mut verdict.parts {
        *part = Part::passed(&part.id, &part.what);
    }
    verdict
}

pub(crate) fn conflicts() -> Verdict {
    let mut verdict = passed();
    verdict.status = Status::Failed;
    verdict.code = Some("no-excess".into());
    let last = verdict.parts.last_mut().expect("a criterion");
    last.status = Status::Failed;
    last.why = Some("lanes meet in a bank".into());
    last.measured = Some(CriterionValue {
        measure: "shared_excess_per_fma".into(),
        words: "wavefronts too many".into(),
        value: Some(0.75),
        at_most: Some(0.0),
        at_least: None,
        shape: Shape { m: 256, n: 256, k: 64 },
    });
    verdict
}

pub(crate) fn wrong() -> Verdict {
    let mut verdict = Verdict::stopped(TaskName::rebuild("v05"), &criteria(), "wrong-result", "it is wrong");
    verdict.wrong = Some(WrongOutput {
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

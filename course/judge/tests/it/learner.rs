//! A learner's path with the real programs: `xtask`, the compilers of this machine, `judge`.
//!
//! Tests of a missing compiler are skipped with a message.

#![expect(clippy::panic, reason = "a test says what went wrong")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tasks::explain::Explained;
use tasks::verdict::{Status, Verdict};
use tasks::{Catalogue, Task, TaskName, task::TaskKind};

use crate::common::{expect_no_complaint, has_run, kernel_tasks, program, read, root, xtask};
use crate::solutions;

/// `core` for kernels in Rust, which takes half a minute to compile.
const RUST: &str = "target/rust_kernels";

/// A checkout with the tasks and kernels of this one, and a `my` of its own.
struct Learner {
    root: tempfile::TempDir,
    xtask: PathBuf,
    compiler: &'static str,
}

impl Learner {
    /// Returns `None` where the compiler is missing.
    fn with(compiler: &'static str) -> Option<Self> {
        let temporary = tempfile::tempdir().expect("a folder");
        let root = temporary.path();
        std::fs::create_dir_all(root.join("xtask")).expect("a folder");
        std::fs::create_dir_all(root.join("my")).expect("a folder");
        std::fs::write(root.join("xtask/Cargo.toml"), "").expect("a file");
        std::fs::create_dir_all(root.join("target")).expect("a folder");
        std::fs::create_dir_all(self::root().join(RUST)).expect("a folder");
        for name in ["kernels", "steps", RUST] {
            std::os::unix::fs::symlink(self::root().join(name), root.join(name)).expect("a link");
        }
        let learner = Self { root: temporary, xtask: xtask().to_owned(), compiler };
        let name = names().into_iter().next().expect("there are tasks");
        // What does not compile shows a missing compiler as well, and is not run.
        let probe = learner.judged(&name, "?");
        has_run(&probe).then_some(learner)
    }

    fn task(&self, name: &str) -> Task {
        let step = name.split('.').next().unwrap_or_default();
        let catalogue = Catalogue::load(root(), step).unwrap_or_else(|error| panic!("{error}"));
        let task = catalogue.tasks.into_iter().find(|task| task.name.to_string() == name);
        task.unwrap_or_else(|| panic!("there is no task {name}"))
    }

    fn solution(&self, name: &str) -> String {
        read(self.task(name).solution)
    }

    /// Makes the tasks those of a repository that was assigned with `--gpu-required`.
    fn count_from_a_gpu(&self) {
        let steps = self.root.path().join("steps");
        std::fs::remove_file(&steps).expect("a link");
        for step in catalog::STEPS {
            let tasks = Path::new("steps").join(step.id).join("tasks.toml");
            if root().join(&tasks).is_file() {
                std::fs::create_dir_all(steps.join(step.id)).expect("a folder");
                let text = format!("gpu_required = true\n{}", read(&tasks));
                std::fs::write(self.root.path().join(&tasks), text).expect("a file");
            }
        }
    }

    /// Runs `check` on a text in place of the copy.
    fn judged(&self, name: &str, text: &str) -> Output {
        let ending = if self.compiler == "rust" { "rs" } else { "cu" };
        std::fs::write(self.root.path().join(format!("my/{name}.{ending}")), text).expect("a file");
        self.run(&["check", name, "--json"])
    }

    /// Begins anew, without progress.
    fn forget(&self) {
        let _ = std::fs::remove_file(self.root.path().join("my/progress.toml"));
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("xtask runs")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = program(&self.xtask, self.compiler);
        command.args(words).current_dir(&self.root);
        command
    }

    #[track_caller]
    fn verdict(&self, name: &str, text: &str) -> Verdict {
        let output = self.judged(name, text);
        let out = String::from_utf8_lossy(&output.stdout);
        let value: serde_json::Value = serde_json::from_str(&out)
            .unwrap_or_else(|error| panic!("{name}: {error}: {out}{}", String::from_utf8_lossy(&output.stderr)));
        serde_json::from_value(value["verdict"].clone()).expect("a verdict")
    }
}

/// Returns all kernel tasks of all steps.
fn names() -> Vec<String> {
    kernel_tasks().iter().map(|task| task.name.to_string()).collect()
}

/// The output of NVRTC is committed, and `tests/it/tasks.rs` judges all of it: two tasks suffice to test the way there.
#[test]
fn solutions_pass_with_nvrtc() {
    let names = names();
    pass("nvrtc", &[names.first(), names.last()].map(|name| name.expect("there are tasks").clone()));
}

#[test]
fn solutions_pass_with_the_built_in_compiler() {
    // Kernels for tensor cores are beyond it.
    let (beyond, compiled): (Vec<_>, Vec<_>) = names().into_iter().partition(|name| name.starts_with("v1"));
    pass("built-in", &compiled);
    let learner = Learner::with("built-in").expect("it needs no download");
    for name in beyond {
        let refused = learner.verdict(&name, &learner.solution(&name)).compiler.expect("it is refused").log;
        assert!(refused.contains(" is not compiled by the built-in compiler"), "{name}: {refused}");
    }
}

#[test]
fn steps_are_done_in_rust() {
    let Some(learner) = Learner::with("rust") else { return };
    let todos = |text: &str| -> Vec<String> {
        text.lines().map(str::trim).filter(|line| line.starts_with("// TODO(")).map(str::to_owned).collect()
    };
    let tasks: Vec<Task> = kernel_tasks().iter().filter(|task| task.kind == TaskKind::Rebuild).cloned().collect();
    let tasks: Vec<(Task, Task)> = tasks.into_iter().filter_map(|task| Some((task.in_rust()?, task))).collect();
    assert_eq!(tasks.len(), 7, "v01 to v07");
    for (task, cuda) in &tasks {
        let name = task.name.to_string();
        let copy = learner.root.path().join(format!("my/{name}.rs"));
        let _ = std::fs::remove_file(&copy);
        let started = learner.run(&["start", &name, "--rust"]);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let starter = std::fs::read_to_string(&copy).expect("a starter");
        assert_eq!(todos(&starter), todos(&read(cuda.starter_file())), "{name}");
        let verdict = learner.verdict(&name, &starter);
        assert!(verdict.status == Status::Failed && verdict.compiler.is_none(), "{name}: {verdict:#?}");
        let verdict = learner.verdict(&name, &tasks::markers::finished(&read(&task.solution)));
        assert_eq!(verdict.status, Status::Passed, "{name}: {verdict:#?}");
    }
    let verdict = learner.verdict("v02", &read("kernels/rust/v02_shared.rs").replace("acc = mul_add", "ac = mul_add"));
    let refused = verdict.compiler.expect("it does not compile");
    assert_eq!(refused.errors.len(), 1, "{refused:?}");
    let (line, error) = (refused.errors[0].line as usize, &refused.errors[0]);
    assert!(
        read("kernels/rust/v02_shared.rs").lines().nth(line - 1).is_some_and(|text| text.contains("acc = mul_add"))
    );
    assert!(error.file == "my/v02.rs" && error.message.contains("`ac`"), "{error:?}");
}

#[track_caller]
fn pass(compiler: &'static str, names: &[String]) {
    let Some(learner) = Learner::with(compiler) else { return };
    expect_no_complaint(names, |name| {
        let verdict = learner.verdict(name, &learner.solution(name));
        (verdict.status != Status::Passed).then(|| format!("{name} by {compiler}: {verdict:#?}"))
    });
}

/// Records of `explain`, the copy's first.
fn explained(learner: &Learner, name: &str) -> Vec<Explained> {
    let output = learner.run(&["explain", name, "--json"]);
    let out = String::from_utf8_lossy(&output.stdout);
    let record = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).expect("a record");
        // Lines of the finished kernel stay hidden until the copy passes.
        if value["explain"]["lines"].is_null() {
            value["explain"]["lines"] = serde_json::json!([]);
        }
        serde_json::from_value(value["explain"].take()).expect("an explanation")
    };
    out.lines().map(record).collect()
}

#[test]
fn copies_are_explained_beside_the_solution() {
    for compiler in ["nvrtc", "built-in"] {
        let Some(learner) = Learner::with(compiler) else { continue };
        learner.judged("v05", &learner.solution("v05"));
        let [yours, finished] = explained(&learner, "v05").try_into().expect("two kernels");
        assert!(yours.right && finished.right && !yours.lines.is_empty());
        assert_eq!(yours.total.multiply_adds, finished.total.multiply_adds);
        if compiler == "nvrtc" {
            assert_eq!(yours.total, finished.total);
            let numbers = |explained: &Explained| explained.lines.iter().map(|line| line.line).collect::<Vec<_>>();
            assert_eq!(numbers(&yours), numbers(&finished));
        }
        // Rows without padding: the excess is in the lines that store to a_tile, and in no other.
        let text = learner.solution("v05").replace("PAD = 4;", "PAD = 0;");
        learner.judged("v05", &text);
        let yours = explained(&learner, "v05").swap_remove(0);
        assert!(yours.total.excess > 0, "{compiler}");
        for line in yours.lines.iter().filter(|line| line.counts.excess > 0) {
            let text = text.lines().nth(line.line as usize - 1).unwrap_or_default();
            assert!(text.contains("a_tile[a_col + "), "{compiler}: {}: {text}", line.line);
        }
    }
}

/// The built-in compiler's words are shown for what it refuses, also where NVRTC is chosen.
#[test]
fn messages_of_each_compiler_are_understood() {
    for compiler in ["nvrtc", "built-in"] {
        let Some(learner) = Learner::with(compiler) else { continue };
        let good = learner.solution("v05");
        let line = |text: &str| good.lines().position(|line| line.contains(text)).expect("there") as u32 + 1;
        let cases = [
            ("acc[i][j] +=", "akk[i][j] +=", line("acc[i][j] +="), "cannot find `akk` in this scope"),
            ("const int thread = threadIdx.x;", "const int thread = threadIdx.x", 0, "help: add `;` here"),
            ("BK = 8;", "BK = 16;", line("each thread loads one float4 of a_tile"), "`static_assert` is false here"),
            ("float acc[TM][TN] = {};", "A[0] = 1.0f; float acc[TM][TN] = {};", line("float acc"), "`A[0]` is `const`"),
            ("#include \"common.cuh\"", "#include <vector>", line("#include"), "has the C++ standard library"),
            ("store4(&b_tile[b_row][b_col], b);", "store4(&b_tile[b_row][b_col]);", line("store4(&b_tile"), "takes 2"),
        ];
        for (from, to, line, words) in cases {
            assert!(good.contains(from), "{from}");
            let verdict = learner.verdict("v05", &good.replacen(from, to, 1));
            assert_eq!(verdict.code.as_deref(), Some("compile"), "{compiler}: {to}");
            let refused = verdict.compiler.expect("the words of the compiler");
            let first = refused.errors.first().unwrap_or_else(|| panic!("{compiler}: {}", refused.log));
            assert_eq!(first.file, "my/v05.cu", "{compiler}: {to}: {}", refused.log);
            assert!(line == 0 || first.line == line, "{compiler}: {to}: {first}");
            assert!(refused.log.contains(words), "{compiler}: {to}: {}", refused.log);
        }
    }
}

#[test]
fn small_edits_that_pass_are_shown() {
    let Some(learner) = Learner::with("nvrtc") else { return };
    // The task, what its finished kernel has, what a copy has instead, and the line that changes.
    let mistakes = [
        ("v01", "A[row * K + k]", "A[row * N + k]"),
        ("v01", "    T acc = 0;", "    int acc = 0;"),
        ("v01", "    T acc = 0;", "    float acc = 0;"),
        ("v02", "(A, M, K, row, k0 + thread_col)", "(A, M, K, k0 + thread_col, row)"),
        ("v02", "    __shared__ T b_tile", "    T b_tile"),
        ("v02", "    __shared__ T b_tile", "    __shared__ float b_tile"),
        ("v03", "(A, M, K, block_row + a_row + i, ", "(A, M, K, a_row + i, "),
        ("v03", "    __shared__ float a_tile", "    __shared__ volatile float a_tile"),
        ("v05", "a_tile[a_col + 3][a_row] = a.w;", "a_tile[a_col + 3][a_row] = a.z;"),
        ("v08", "row + i * ROWS, col)", "row + i, col)"),
    ];
    for (name, right, wrong) in mistakes {
        let good = tasks::markers::finished(&learner.solution(name));
        assert!(good.contains(right), "{name}: {right}");
        let copy = good.replacen(right, wrong, 1);
        learner.forget();
        assert_eq!(learner.verdict(name, &copy).remedies, [], "{name}: {wrong}: at the first failure");
        let verdict = learner.verdict(name, &copy);
        let line = good.lines().find(|line| line.contains(right));
        let added = verdict.remedies.iter().flat_map(|remedy| &remedy.changes).map(|change| change.added.as_deref());
        assert!(added.clone().any(|added| added == line), "{name}: {wrong}: {:?}", verdict.remedies);
    }
    // Nothing is found where nothing is wrong, nothing is written yet, or too much is missing.
    let good = learner.solution("v02");
    let unfinished =
        good.replace("acc += a_tile", "T(0) * a_tile").replace("store_if_inside(C", "store_if_inside(C + 1");
    let starter = tasks::starter::starter(&learner.task("v02"), &good);
    for text in [good, unfinished, starter] {
        learner.forget();
        let verdicts = [(); 2].map(|()| learner.verdict("v02", &text));
        assert!(verdicts.iter().all(|verdict| verdict.remedies.is_empty()), "{text}");
    }
}

#[test]
fn starters_without_the_ideas_of_other_steps_compile_and_fail() {
    let Some(learner) = Learner::with("nvrtc") else { return };
    for task in kernel_tasks().iter().filter(|task| !task.shows.is_empty()) {
        let starter = tasks::starter::starter(task, &read(&task.solution));
        let steps: Vec<TaskName> = task.shows.iter().map(|part| TaskName::rebuild(&part.of)).collect();
        let left = tasks::shown::left_out(&starter, &task.shows, &steps.iter().collect::<Vec<_>>());
        let verdict = learner.verdict(&task.name.to_string(), &left.expect("the lines are there"));
        assert_eq!(verdict.status, Status::Failed, "{}", task.name);
        assert_ne!(verdict.code.as_deref(), Some("compile"), "{}: {:?}", task.name, verdict.compiler);
    }
}

/// A repository made with `assign --gpu-required`, checked on the emulated GPU.
#[test]
fn nothing_passes_without_the_gpu_that_counts() {
    let Some(learner) = ["nvrtc", "built-in"].iter().find_map(|compiler| Learner::with(compiler)) else { return };
    learner.count_from_a_gpu();
    let checked = |text: &str, json: &[&str]| {
        std::fs::write(learner.root.path().join("my/v02.cu"), text).expect("a file");
        let mut command = learner.command(&[&["check", "v02"], json].concat());
        let output = command.env("TILE_DEVICE", "emulated").output().expect("xtask runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let finished = learner.solution("v02");
    let (code, text) = checked(&finished, &[]);
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("needs a GPU: TILE_DEVICE=emulated asks for the emulated one")
            && text.contains("everything else ran on the emulated one")
            && text.contains("next: the same on a machine with an NVIDIA GPU: "),
        "{text}"
    );
    let (code, text) = checked(&finished, &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("a record");
    let verdict: Verdict = serde_json::from_value(value["verdict"].clone()).expect("a verdict");
    assert_eq!((code, verdict.status, verdict.code.as_deref()), (Some(3), Status::NotRun, None));
    let others = verdict.parts.iter().filter(|part| part.id != "gpu");
    assert!(others.clone().count() > 3 && others.clone().all(|part| part.status == Status::Passed));
    let progress = std::fs::read_to_string(learner.root.path().join("my/progress.toml")).unwrap_or_default();
    assert!(!progress.contains("[tasks.v02]"), "{progress}");
    // A wrong result is wrong on every GPU.
    let (code, text) = checked(&finished.replace("k < BLOCK", "k < BLOCK / 2"), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the kernel has to pass on the emulated GPU first"), "{text}");
}

/// Returns what a message advises, in one line.
fn advice(text: &str) -> String {
    let advice = text.split("Try: ").nth(1).and_then(|rest| rest.split("On a GPU").next()).unwrap_or_default();
    advice.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the source after the edit that a message proposes; `None` where it proposes none of the text.
fn remedied(source: &str, text: &str, line: u32) -> Option<String> {
    let advice = advice(text);
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let accused = lines.get_mut((line as usize).checked_sub(1)?)?;
    let code = advice.split('`').nth(1);
    if advice.contains("__syncthreads()") {
        let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok();
        let after = ["after line ", "between line "].iter().flat_map(|words| advice.split(words).skip(1));
        let mut after: Vec<usize> = after.filter_map(number).collect();
        after.sort_unstable();
        after.iter().rev().for_each(|line| lines.insert(*line, "__syncthreads();".into()));
        return (!after.is_empty()).then(|| lines.join("\n"));
    }
    if let Some(condition) = code.filter(|_| advice.starts_with("stop one earlier")) {
        return Some(source.replacen(&condition.replace('<', "<="), condition, 1));
    }
    if advice.starts_with("multiply by") || advice.starts_with("exchange") {
        let (marks, above) = text.lines().skip(1).zip(text.lines()).find(|(line, _)| line.contains('^'))?;
        *accused = accused.replacen(above.get(marks.find('^')?..marks.trim_end().len())?, code?, 1);
        return Some(lines.join("\n"));
    }
    // A condition of a loop's variable belongs into the loop.
    let guard = code.filter(|_| advice.contains(" only where") || advice.starts_with("guard"))?;
    let condition = guard.trim_start_matches("if (").trim_end_matches(')');
    (!accused.contains("for (")).then(|| *accused = format!("if ({condition}) {accused}"))?;
    Some(lines.join("\n"))
}

#[test]
fn remedies_remove_what_they_are_for() {
    let Some(learner) = Learner::with("nvrtc") else { return };
    // Where results count from a GPU, a copy that fails is not searched for edits that pass: what
    // `small_edits_that_pass_are_shown` tests, and most of the time here.
    learner.count_from_a_gpu();
    let all = solutions::all();
    let mut n_tried = 0;
    for (solution, ptx) in all.iter().filter(|(solution, _)| solution.expect.iter().any(|code| code.starts_with("E-")))
    {
        let name = solution.task.name.to_string();
        let before = solutions::judged_whole(solution, ptx);
        let first = before.findings.first().unwrap_or_else(|| panic!("{}: no finding", solution.name));
        let Some(text) = remedied(&solution.source, &first.text, first.line) else { continue };
        let after = learner.verdict(&name, &text);
        assert_ne!(after.code.as_deref(), Some("compile"), "{}: {}", solution.name, first.text);
        // Lines move.
        let words = |text: &str| advice(text).replace(|c: char| c.is_ascii_digit(), "");
        let stays =
            after.findings.iter().find(|found| found.code == first.code && words(&found.text) == words(&first.text));
        assert_eq!(stays, None, "{}: {}", solution.name, first.text);
        n_tried += 1;
    }
    assert!(n_tried >= 30, "{n_tried}");
}

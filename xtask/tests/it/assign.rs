//! `assign` and `report` on the tasks of this checkout.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tasks::{Catalogue, markers};

use crate::files::{empty_folder, errors, program};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn xtask_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments).current_dir(folder).env_remove("CARGO_MANIFEST_DIR");
    command
}

fn xtask(arguments: &[&str]) -> Output {
    xtask_in(root(), arguments).output().expect("xtask runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns all files below a folder, git's own left out.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let entries = entries.filter(|path| !path.ends_with(".git"));
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the lines that only finished kernels have, those of the regions that starters leave out, and explanations of
/// answers; of all steps.
fn secrets() -> BTreeSet<String> {
    const SHORTEST: usize = 25;
    let catalogues = Catalogue::load_all(root()).expect("the catalogues are right");
    let solutions: Vec<String> = catalogues
        .iter()
        .flat_map(|catalogue| &catalogue.tasks)
        .flat_map(|task| [Some(task.clone()), task.in_rust()])
        .flatten()
        .filter_map(|task| fs::read_to_string(root().join(&task.solution)).ok())
        .collect();
    let mut found = BTreeSet::new();
    for solution in &solutions {
        let finished = markers::finished(solution);
        let lines: Vec<&str> = finished.lines().collect();
        for region in markers::regions(solution) {
            let lines = lines[region.lines].iter();
            let code = lines.map(|line| line.split("//").next().unwrap_or_default().trim());
            found.extend(code.filter(|line| line.len() >= SHORTEST).map(str::to_owned));
        }
    }
    let questions = catalogues.iter().flat_map(|catalogue| &catalogue.questions);
    found.extend(questions.map(|question| question.because.trim().to_owned()));
    let given: Vec<String> = solutions.iter().map(|solution| markers::starter(solution)).collect();
    found.retain(|line| !given.iter().any(|starter| starter.contains(line.as_str())));
    found
}

#[test]
fn an_assigned_repository_builds_and_holds_no_solution_and_no_seed() {
    const SEED: &str = "7400249944258160";
    let place = empty_folder("assigned");
    let out = assigned(&place, "homework", &["v02", "v05", "--title", "Tiles", "--seed", SEED, "--due", "Friday"]);
    let rubric = fs::read_to_string(place.join("homework.rubric.toml")).expect("a rubric");
    assert!(rubric.contains(&format!("seed = {SEED}")) && rubric.contains("name = \"v05\""), "{rubric}");

    let secrets = secrets();
    assert!(secrets.len() > 5, "{}", secrets.len());
    for path in &files(&out) {
        let name = path.strip_prefix(&out).expect("inside").display().to_string();
        let held = text(&fs::read(path).expect("a file"));
        assert!(!held.contains(SEED), "{name} has the seed");
        for secret in &secrets {
            assert!(!held.contains(secret.as_str()), "{name} has `{secret}`");
        }
        let is_kernel = [".cu", ".cuh", ".ptx"].iter().any(|end| name.ends_with(end));
        let may = ["my/v02.cu", "my/v05.cu", "steps/v02/exercise.cu", "steps/v05/exercise.cu"];
        let probe = ["kernels/common.cuh", "kernels/probe.cu", "kernels/ptx/probe.ptx", "xtask/src/prelude.cuh"];
        let of_tests = name.starts_with("emulator/") && name.contains("/src/tests/");
        assert!(!is_kernel || of_tests || may.contains(&&*name) || probe.contains(&&*name), "{name}");
    }
    let readme = fs::read_to_string(out.join("README.md")).expect("a README");
    assert!(readme.contains("Due: Friday") && readme.contains("cargo xtask check v02"), "{readme}");

    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(&out).output().expect("git");
        text(&output.stdout)
    };
    assert_eq!(git(&["rev-list", "--all", "--count"]).trim(), "1");
    assert_eq!(git(&["status", "--porcelain"]), "");

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["check", "--quiet", "--offline", "--locked", "-p", "xtask", "-p", "judge"])
        .current_dir(&out)
        // `cargo clippy` has checked the crates of others in this folder.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder"));
    for name in ["CARGO_MANIFEST_DIR", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    let built = command.output().expect("cargo");
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert_eq!(text(&built.stderr), "", "warnings");

    // A starter is there without its solution.
    let again = |arguments: &[&str]| {
        let output = xtask_in(&out, arguments).output().expect("xtask runs");
        (output.status.code(), text(&output.stderr))
    };
    let before = fs::read_to_string(out.join("my/v02.cu")).expect("the starter");
    fs::write(out.join("my/v02.cu"), "x").expect("written");
    assert_eq!(again(&["reset", "v02"]), (Some(0), String::new()));
    assert_eq!(fs::read_to_string(out.join("my/v02.cu")).expect("the starter"), before);
    let (code, why) = again(&["solution", "v02", "--give-up"]);
    assert!(code == Some(3) && why.contains("no finished kernels"), "{code:?} {why}");

    let (code, why) = again(&["bench", "v02", "--emulate"]);
    assert!(
        code == Some(3) && why.contains("no finished kernels; check yours with: cargo xtask check"),
        "{code:?} {why}"
    );

    fs::remove_dir_all(out.join("my")).expect("a folder");
    let (code, why) = again(&["check"]);
    assert!(code == Some(3) && why.contains("there is no kernel in my/"), "{code:?} {why}");

    // An existing folder is not overwritten.
    let twice = errors(3, &mut xtask_in(root(), &["assign", "v02", "--out", &out.display().to_string()]));
    assert!(twice.contains("already exists"), "{twice}");
}

/// Assigns, and gives the folder.
fn assigned(place: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    let out = place.join(name);
    let mut words = vec!["assign", "--out", out.to_str().expect("a name")];
    words.extend(arguments);
    let made = xtask(&words);
    assert!(made.status.success(), "{}", text(&made.stderr));
    out
}

#[test]
fn kernels_in_rust_are_assigned_without_solutions() {
    let place = empty_folder("assigned-rust");
    let out = assigned(&place, "homework", &["v02", "v05", "--rust", "--seed", "7"]);
    let rubric = fs::read_to_string(place.join("homework.rubric.toml")).expect("a rubric");
    assert_eq!(rubric.matches("\nrust = true\n").count(), 2, "{rubric}");
    let secrets = secrets();
    for path in &files(&out) {
        let held = text(&fs::read(path).expect("a file"));
        let found = secrets.iter().find(|secret| held.contains(secret.as_str()));
        assert_eq!(found, None, "{}", path.display());
    }
    // The starter is there without its solution, and the task is in Rust without an option.
    let before = fs::read_to_string(out.join("my/v05.rs")).expect("the starter");
    assert!(before.contains("TODO(v05)") && out.join("kernels/rust/prelude.rs").is_file(), "{before}");
    fs::remove_file(out.join("my/v05.rs")).expect("it was there");
    let started = xtask_in(&out, &["start", "v05"]).output().expect("xtask runs");
    assert!(started.status.success(), "{}", text(&started.stderr));
    assert_eq!(fs::read_to_string(out.join("my/v05.rs")).expect("the starter"), before);
    let refused = |words: &[&str]| {
        let out = place.join("none").display().to_string();
        errors(2, &mut xtask_in(root(), &[&["assign", "--rust", "--out", &out], words].concat()))
    };
    assert!(refused(&["v03", "v04"]).contains("the starter of v04 in Rust shows what v03 asks for"));
    assert!(refused(&["v08"]).contains("the tasks of v01 to v07 alone have a kernel in Rust"));
}

#[test]
fn an_assignment_that_is_killed_leaves_nothing_under_its_name() {
    let place = empty_folder("killed");
    // It is killed when all files are written.
    fs::create_dir(place.join("bin")).expect("a folder");
    program(&place.join("bin/git"), "#!/bin/sh\nkill -KILL $PPID\n");
    let path = format!("{}:{}", place.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let out = place.join("homework").display().to_string();
    let mut command = xtask_in(root(), &["assign", "v02", "--out", &out]);
    errors(3, command.env("PATH", path));
    let names = || {
        let entries = fs::read_dir(&place).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| text(entry.file_name().as_encoded_bytes())).collect();
        names.sort();
        names
    };
    let left = names();
    assert!(left.len() == 2 && left[1].starts_with("homework.") && left[1].ends_with(".tmp"), "{left:?}");
    assigned(&place, "homework", &["v02"]);
    assert_eq!(names(), ["bin", "homework", "homework.rubric.toml"]);
}

#[test]
fn numbers_are_drawn_from_the_seed_and_the_answer_stays_here() {
    let place = empty_folder("drawn");
    let mut readmes = BTreeSet::new();
    for seed in ["1", "2", "3"] {
        let out = assigned(&place, seed, &["v02", "v05", "--variant", "--seed", seed]);
        readmes.insert(fs::read_to_string(out.join("README.md")).expect("a README"));
        for step in ["v02", "v05"] {
            let variant = Catalogue::load(root(), step).expect("a catalogue").variant;
            let variant = variant.expect("a task whose numbers are drawn");
            let point = variant.draw(step, seed.parse().expect("a number")).expect("a point");
            let given = Catalogue::load(&out, step).expect("a catalogue");
            assert!(given.variant.is_none());
            let [task] = given.tasks.as_slice() else {
                panic!("{:?}", given.tasks);
            };
            let whole = variant.task(step, point).expect("a task");
            assert_eq!((&task.text, &task.criteria), (&whole.text, &whole.criteria));
            let beside = fs::read_to_string(place.join(format!("{seed}.{step}.variant.cu"))).expect("a reference");
            for path in files(&out) {
                let held = text(&fs::read(&path).expect("a file"));
                let secrets = beside.lines().filter(|line| line.contains("load_or_zero(") || line.contains("acc"));
                for secret in secrets {
                    assert!(!held.contains(secret), "{} has `{secret}`", path.display());
                }
            }
        }
        let rubric = fs::read_to_string(place.join(format!("{seed}.rubric.toml"))).expect("a rubric");
        grader::rubric::Rubric::parse(&rubric, "rubric.toml", root()).expect("a rubric that can be read");
    }
    assert!(readmes.len() > 1, "every seed draws the same");
    let again = assigned(&place, "again", &["v02", "v05", "--variant", "--seed", "1"]);
    let again = fs::read_to_string(again.join("README.md")).expect("a README");
    assert!(readmes.contains(&again));
    // These begin with the reference, without its solution.
    let out = assigned(&place, "gaps", &["v11", "v12", "--variant", "--seed", "1"]);
    for (step, secret) in [("v11", "block_row"), ("v12", "fmaxf")] {
        let starter = fs::read_to_string(out.join(format!("my/{step}.variant.cu"))).expect("a starter");
        assert!(starter.contains(&format!("// TODO({step}): ")) && !starter.contains(secret), "{starter}");
        let beside = fs::read_to_string(place.join(format!("gaps.{step}.variant.cu"))).expect("a reference");
        assert!(beside.contains(secret) && !beside.contains("// SOLUTION"), "{beside}");
    }
}

#[test]
fn questions_are_drawn_for_a_student_and_their_answers_stay_here() {
    let place = empty_folder("questions");
    let out = assigned(&place, "homework", &["v02", "v04", "v10.wide", "--seed", "7400249944258160"]);
    let rubric = fs::read_to_string(place.join("homework.rubric.toml")).expect("a rubric");
    let rubric = grader::rubric::Rubric::parse(&rubric, "rubric.toml", root()).expect("a rubric that can be read");
    let texts = fs::read_to_string(out.join("questions.toml")).expect("questions");
    let read = |file: &str| fs::read_to_string(out.join(file)).expect("a file");
    let mut printed = BTreeSet::new();
    for student in ["ada", "bob", "cleo", "dan"] {
        let output = xtask_in(&out, &["questions", student]).output().expect("xtask runs");
        let shown = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        for graded in rubric.questions.iter().filter(|graded| graded.drawn.is_some()) {
            let number = graded.drawn.expect("a number");
            let drawn = graded.question.drawn(number, &graded.id, student).expect("drawn");
            assert!(shown.contains(&format!("{} {}", graded.id, drawn.question)), "{shown}");
            assert!(!texts.contains(&graded.question.question), "the book's question is asked");
        }
        printed.insert(shown);
    }
    assert_eq!(printed.len(), 4);
    let names: Vec<&str> = rubric.questions.iter().map(|graded| graded.id.as_str()).collect();
    assert_eq!(names[..2], ["v02.sectors-with-tiles", "v04.store-sectors-of-floats"]);
    // Questions of a step without drawn ones stay as they are.
    let readme = read("README.md");
    assert!(names.len() > 4 && readme.contains(&format!("prints `{}`, `{}`: their", names[0], names[1])), "{readme}");
    assert!(readme.contains(&format!("\n\n- `{}`: ", names[2])) && !readme.contains("\n\n\n"), "{readme}");
    assert!(read("my/answers.toml").contains("\nstudent = \"\""));
    let why = errors(3, &mut xtask_in(root(), &["questions", "ada"]));
    assert!(why.contains("in repositories made by `cargo xtask assign`"), "{why}");
}

#[test]
fn a_repository_says_that_results_count_from_a_gpu() {
    let place = empty_folder("gpu");
    let out = assigned(&place, "homework", &["v02", "v02.tn", "--gpu-required"]);
    let read = |file: &str| fs::read_to_string(place.join(file)).expect("a file");
    assert!(read("homework/README.md").contains("Results count from a real GPU"));
    let workflow = read("homework/.github/workflows/check.yml");
    assert!(workflow.contains("runs-on: [self-hosted, gpu]"), "{workflow}");
    assert!(read("homework.rubric.toml").contains("Grading runs on the emulated GPU"));
    let tasks = Catalogue::load(&out, "v02").expect("a catalogue").tasks;
    assert!(tasks.len() == 2 && tasks.iter().all(|task| task.gpu_required));
    let plain = assigned(&place, "plain", &["v02"]);
    let tasks = Catalogue::load(&plain, "v02").expect("a catalogue").tasks;
    assert!(tasks.iter().all(|task| !task.gpu_required));
    assert!(read("plain/.github/workflows/check.yml").contains("runs-on: ubuntu-latest"));
}

#[test]
fn a_repository_runs_in_the_image_that_is_named() {
    let place = empty_folder("image");
    let out = assigned(&place, "homework", &["v02", "--image", "ghcr.io/course/tiles:2026"]);
    let read = |file: &str| fs::read_to_string(out.join(file)).expect("a file");
    let container: serde_json::Value = serde_json::from_str(&read(".devcontainer/devcontainer.json")).expect("JSON");
    assert_eq!(container["image"], "ghcr.io/course/tiles:2026");
    let workflow = read(".github/workflows/check.yml");
    assert!(workflow.contains("container: ghcr.io/course/tiles:2026\n"), "{workflow}");
    assert!(workflow.ends_with("- run: cargo xtask check v02\n") && !workflow.contains("setup"), "{workflow}");
    assert!(read("README.md").contains("In a codespace of this repository"));
}

#[test]
fn tasks_for_the_host_are_assigned_with_the_kernel_that_they_launch() {
    let place = empty_folder("host");
    let out = assigned(&place, "homework", &["v01.launch", "v09.operands", "--seed", "1"]);
    for file in ["my/v01.launch.toml", "my/v09.operands.toml", "kernels/ptx/v01_col_per_lane.ptx"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    assert!(!out.join("kernels/v01_col_per_lane.cu").exists());
    let finished = fs::read_to_string(root().join("steps/v01/tasks/launch.toml")).expect("an answer");
    for path in files(&out) {
        let held = text(&fs::read(&path).expect("a file"));
        for line in finished.lines().filter(|line| line.contains("ceil_div(")) {
            assert!(!held.contains(line), "{} has `{line}`", path.display());
        }
    }
    let rubric = fs::read_to_string(place.join("homework.rubric.toml")).expect("a rubric");
    let rubric = grader::rubric::Rubric::parse(&rubric, "rubric.toml", root()).expect("a rubric");
    assert!(rubric.tasks[0].points_by_criterion.contains_key("no-idle-blocks") && rubric.tasks[0].finished.is_some());
}

#[test]
fn tasks_that_are_not_there_are_wrong_usage() {
    let place = empty_folder("unassigned");
    let out = place.join("homework").display().to_string();
    for (tasks, says) in [
        (["v77"].as_slice(), "v77"),
        (&["v02.nothing"], "there is no task `v02.nothing`"),
        (&["v01", "v01.launch"], "v01.launch launches the finished kernel of v01"),
        (&["v09", "--variant"], "v09 has nothing to vary; numbers are drawn for v01, v02,"),
        (&["v01.launch", "--gpu-required"], "the idea of v01.launch is on the host"),
        (&["v02.rect", "--variant"], "--variant draws a task of a step: name v02"),
    ] {
        let why = errors(2, &mut xtask_in(root(), &[&["assign", "--out", &out], tasks].concat()));
        assert!(why.contains(says), "{why}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_class_report_gives_minutes_that_assign_uses() {
    let place = empty_folder("class");
    for (name, minutes) in [("ada", 61), ("bob", 71), ("cleo", 93)] {
        let my = place.join("submissions").join(name).join("my");
        fs::create_dir_all(&my).expect("a folder");
        let progress = format!(
            "format = 1\n[tasks.v02]\nseconds = {}\nchecks = 4\nchecks_to_pass = 4\nhints = 1\npassed = \"x\"\n",
            minutes * 60
        );
        fs::write(my.join("progress.toml"), progress).expect("a file");
    }
    let (submissions, minutes) = (place.join("submissions"), place.join("minutes.toml"));
    let (submissions, minutes) = (submissions.display().to_string(), minutes.display().to_string());
    let report = xtask(&["report", &submissions, "--minutes", &minutes]);
    assert!(report.status.success(), "{}", text(&report.stderr));
    assert!(text(&report.stdout).starts_with("3 students\n"), "{}", text(&report.stdout));
    let json = xtask(&["report", &submissions, "--json"]);
    for line in text(&json.stdout).lines() {
        let _: serde_json::Value = serde_json::from_str(line).expect("a record");
    }
    let out = assigned(&place, "homework", &["v02", "--minutes", &minutes]);
    let tasks = fs::read_to_string(out.join("steps/v02/tasks.toml")).expect("a catalogue");
    assert!(tasks.contains("minutes = 75"), "{tasks}");
    errors(3, &mut xtask_in(root(), &["report", &place.display().to_string()]));
}

#[test]
fn a_grading_reads_no_endless_rubric_and_writes_nothing_among_submissions() {
    let place = empty_folder("refused");
    let submissions = place.join("submissions");
    fs::create_dir_all(submissions.join("ada")).expect("a folder");
    let rubric = place.join("rubric.toml");
    fs::write(&rubric, "format = 1\nseed = 7\n[[task]]\nname = \"v02\"\nright = 4\n").expect("a file");
    let grade = |rubric: &Path, out: &Path| {
        let words = ["grade", "--no-sandbox"].map(Path::new);
        let words = words.into_iter().chain([&*submissions, Path::new("--rubric"), rubric, Path::new("--out"), out]);
        let output = xtask(&words.map(|word| word.to_str().expect("text")).collect::<Vec<_>>());
        (output.status.code(), text(&output.stderr))
    };
    let (code, why) = grade(Path::new("/dev/zero"), &place.join("grades"));
    assert!(code == Some(3) && why.contains("error: /dev/zero: it has more than 16777216 bytes"), "{why}");
    for out in ["submissions", "submissions/grades", "submissions/ada/new/grades"] {
        let (code, why) = grade(&rubric, &place.join(out));
        assert!(code == Some(3) && why.contains("where every folder is a student's: choose a folder"), "{why}");
    }
    assert_eq!(fs::read_dir(submissions.join("ada")).expect("a folder").count(), 0);
}

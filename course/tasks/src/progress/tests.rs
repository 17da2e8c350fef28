use super::*;

fn verdict(code: Option<&str>) -> Verdict {
    let mut verdict = Verdict::stopped(TaskName::rebuild("v05"), &[], "timeout", "it took too long");
    verdict.code = code.map(str::to_owned);
    verdict.status = if code.is_some() { Status::Failed } else { Status::Passed };
    verdict
}

#[test]
fn verdicts_add_up_and_long_pauses_do_not() {
    let mut progress = Progress::default();
    progress.record(&verdict(Some("wrong-result")), 1000);
    progress.record(&verdict(Some("wrong-result")), 1060);
    progress.record(&verdict(None), 100_000);
    progress.record(&verdict(Some("compile")), 100_010);
    let task = progress.task(&TaskName::rebuild("v05"));
    assert_eq!((task.checks, task.checks_to_pass, task.seconds), (4, Some(3), 70));
    assert_eq!(task.failures["wrong-result"], 2);
    assert!(task.is_over() && task.code.as_deref() == Some("compile"));
}

#[test]
fn a_level_of_a_hint_counts_once() {
    let mut progress = Progress::default();
    let name = TaskName::rebuild("v05");
    for (symptom, level) in [("", 1), ("E-RACE", 1), ("E-RACE", 1), ("E-RACE", 3), ("E-RACE", 2)] {
        progress.hinted(&name, symptom, level, 1000);
    }
    let task = progress.task(&name);
    assert_eq!((task.hints, task.hint_level("E-RACE"), task.hint_level("")), (4, 3, 1));
}

#[test]
fn a_question_that_is_skipped_keeps_its_answer() {
    let mut progress = Progress::default();
    progress.answered("v05.x", Some(("8", true)), 1000);
    progress.answered("v05.x", None, 2000);
    let question = &progress.questions["v05.x"];
    assert_eq!((question.right, question.tries), (Some(true), 1));
}

#[test]
fn what_is_not_known_is_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    std::fs::create_dir_all(learner_folder(root)).expect("a folder");
    let text = "format = 1\ncolour = \"blue\"\n[tasks.\"v77.gone\"]\npassed = \"2026-01-01T00:00:00Z\"\nstars = 3\n";
    std::fs::write(file(root), text).expect("a file");
    Progress::update(root, |progress| progress.record(&verdict(None), 1000)).expect("written");
    let again = Progress::load(root).expect("readable");
    assert_eq!(again.other["colour"].as_str(), Some("blue"));
    let gone = &again.tasks["v77.gone"];
    assert_eq!(gone.other["stars"].as_integer(), Some(3));
    assert!(again.tasks.contains_key("v05"));
}

#[test]
fn several_processes_lose_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    Progress::update(root, |p| p.record(&verdict(Some("E-RACE")), 1000)).expect("written");
                }
            });
        }
    });
    let progress = Progress::load(root).expect("readable");
    assert_eq!(progress.tasks["v05"].failures["E-RACE"], 40);
}

#[test]
fn a_file_without_a_format_is_read() {
    let text = "[tasks.v05]\nchecks = 3\n";
    let progress = Progress::parse(text, "x.toml").expect("readable");
    assert_eq!((progress.format, progress.tasks["v05"].checks), (FORMAT, 3));
    let error = Progress::parse("[tasks.v05]\nchecks = \"many\"\n", "x.toml").expect_err("refused");
    assert!(error.to_string().starts_with("x.toml:2: "), "{error}");
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    std::fs::create_dir_all(learner_folder(root)).expect("a folder");
    let error_of = |text: &str| {
        std::fs::write(file(root), text).expect("a file");
        let error = Progress::update(root, |_| ()).expect_err("refused").to_string();
        assert_eq!(std::fs::read_to_string(file(root)).expect("there"), text);
        error
    };
    assert!(error_of("format = 1\n[tasks\n").starts_with("my/progress.toml:2: "));
    assert!(error_of("format = 9\ntasks = 4\n").contains("has format 9"));
}

use super::*;
use tasks::Catalogue;

#[test]
fn a_class_is_summed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let student = |name: &str, text: &str| {
        let my = folder.join(name).join("my");
        std::fs::create_dir_all(&my).expect("a folder");
        std::fs::write(my.join("progress.toml"), format!("format = 1\n{text}")).expect("a file");
    };
    let passed = |minutes: u32| {
        format!(
            "[tasks.v02]\nseconds = {}\nchecks = 3\nchecks_to_pass = 3\npassed = \"2026-11-22T12:00:00Z\"\nhints = 1\n\
                 [tasks.v02.failures]\nE-RACE = 2\n",
            minutes * 60
        )
    };
    student("ada", &passed(31));
    student("bob", &passed(52));
    student("cleo", &passed(90));
    // An unknown time does not count.
    student("zoe", &passed(0));
    student(
        "dan",
        "[tasks.v02]\nseconds = 3000\nchecks = 9\nhints = 2\ncode = \"wrong-result\"\n[tasks.v02.failures]\nwrong-result = 9\n",
    );
    student("eve", "[tasks.v02]\ngave_up = \"2026-11-22T12:00:00Z\"\n");
    student("broken", "[[[");
    std::fs::create_dir_all(folder.join("nobody")).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tasks = Catalogue::load(&root, "v02").expect("a catalogue").tasks;
    let report = read(folder, &tasks).expect("readable");
    assert_eq!((report.students, report.tasks.len()), (6, 1));
    assert_eq!((report.unreadable.len(), report.without.as_slice()), (1, &["nobody".to_owned()][..]));
    let v02 = &report.tasks[0];
    assert_eq!((v02.begun, v02.passed, v02.gave_up, v02.hints), (6, 4, 1, 6));
    assert_eq!((v02.minutes, v02.checks), (Some(52.0), Some(3.0)));
    assert_eq!(v02.stuck.len(), 1);
    assert_eq!(v02.stuck[0].code.as_deref(), Some("wrong-result"));
    assert_eq!(v02.codes, [("E-RACE".to_owned(), 4), ("wrong-result".to_owned(), 1)]);
    let minutes = report.measured();
    assert_eq!(minutes.minutes["v02"], 55);
    assert_eq!(Minutes::parse(&minutes.text(), "m.toml").expect("its own text"), minutes);
}

#[test]
fn a_median_of_few_times_replaces_no_estimate() {
    let task = |timed| TaskReport { task: format!("v0{timed}"), minutes: Some(31.0), timed, ..TaskReport::default() };
    let report = Report { tasks: vec![task(1), task(2), task(3)], ..Report::default() };
    let measured: Vec<_> = report.measured().minutes.into_iter().collect();
    assert_eq!(measured, [("v03".to_owned(), 35)]);
}

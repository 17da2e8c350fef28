use super::*;

const GOOD: &str = "format = 1\nseed = 3\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";

fn read(text: &str) -> Result<Rubric> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Rubric::parse(text, "rubric.toml", &root)
}

#[test]
fn points_add_up() {
    let rubric = read(GOOD).expect("a rubric");
    assert!((rubric.max() - 10.0).abs() < 1e-9);
    let shares = rubric.tasks[0].points_by_criterion.len() as f64;
    assert!(rubric.tasks[0].points_by_criterion.values().all(|points| *points == 4.0 / shares));
}

#[track_caller]
fn error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    match read(&GOOD.replacen(from, to, 1)) {
        Ok(_) => "none".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_the_file_and_the_place() {
    assert!(error("right", "write").starts_with("rubric.toml:5: unknown field `write`"));
    assert!(error("v02", "v77").starts_with("rubric.toml: task v77: "));
    assert!(error("does = 4", "does = { speed = 1 }").contains("no criterion is called `speed`"));
    assert!(error("clean = 2", "clean = -2").contains("clean: -2 is not a number of points"));
    assert!(error("right = 4", "drawn = { work = \"sgemm\", BM = 8 }").contains("drawn: only vNN.variant"));
    let drawn = |point: &str| error("name = \"v02\"", &format!("name = \"v02.variant\"\ndrawn = {{ {point} }}"));
    assert_eq!(drawn("work = \"sgemm\", BM = 8, BN = 8, BK = 8"), "none");
    assert!(drawn("work = \"sgemm\", BM = 8, BN = 8").contains("`BK` is not known"));
    assert!(drawn("work = \"transpose\", BM = 8, BN = 8, BK = 8").contains("it is of products"));
    let due = |due: &str| error("seed = 3", &format!("seed = 3\ndue = {due}"));
    assert!(due("2026-12-01T18:00:00").contains("due: 2026-12-01T18:00:00 has no time with an offset"));
    assert!(due("1960-12-01T18:00:00Z").contains("due: "));
    assert!(due("2026-12-01T18:00:00Z\nlate = { per_day = 10 }").contains("per_day: 10 is not from 0 to 1"));
    let manual = |points: &str| format!("[[manual]]\nid = \"x\"\nwhat = \"y\"\npoints = {points}\n");
    let with = |manual: &str| read(&format!("{GOOD}{manual}")).expect_err("a wrong entry").to_string();
    assert!(with(&manual("-1")).contains("manual x: points: -1 is not a number of points"));
    assert!(with(&manual("1").repeat(2)).contains("manual x: it is listed twice"));
    assert!(error("format = 1", "format = 2").contains("format: 2"));
    assert!(error("right = 4\nclean = 2\ndoes = 4\n", "").contains("no task or question in it gives points"));
}

#[test]
fn days_take_their_share() {
    let late = "due = 2026-12-01T18:30:00.5+01:30\nlate = { per_day = 0.3, days = 2 }";
    let rubric = read(&GOOD.replacen("seed = 3", &format!("seed = 3\n{late}"), 1)).expect("a rubric");
    assert_eq!(rubric.due, catalog::time::seconds("2026-12-01T17:00:00Z"));
    assert_eq!([0, 1, 2, 3].map(|days| (rubric.late.share(days) * 10.0).round() as u32), [10, 7, 4, 0]);
    assert_eq!(LatePolicy { per_day: 0.6, days: None }.share(2), 0.0);
}

use super::*;
use crate::record::tests::run;

fn session(id: &str) -> Session {
    Session { run: run(id), sanitizer: "a sanitizer".into(), driver_version: "1".into() }
}

fn verdicts(run: &str, step: &str) -> Vec<Verdict> {
    let verdict =
        |tool: &&str| Verdict { run: run.into(), step: step.into(), tool: (*tool).into(), ..Verdict::default() };
    TOOLS.iter().map(verdict).collect()
}

#[test]
fn one_step_checked_again_leaves_the_others() {
    let mut record = SanitizerRecord::default();
    let both = [verdicts("first", "v01"), verdicts("first", "v02")].concat();
    record.add(&session("first"), &both);
    record.add(&session("second"), &verdicts("second", "v01"));
    assert_eq!((record.runs.len(), record.verdicts.len()), (2, 2 * TOOLS.len()));
    record.add(&session("third"), &verdicts("third", "v02"));
    let of: Vec<&str> = record.runs.iter().map(|run| run.run.id.as_str()).collect();
    assert_eq!(of, ["second", "third"]);
    let tools: Vec<&str> = record.verdicts.iter().map(|one| one.tool.as_str()).collect();
    assert_eq!(tools, [TOOLS, TOOLS].concat());
}

use super::*;

#[test]
fn json_has_the_documented_fields() {
    let counters = Counters::default();
    let report = LaunchReport {
        kernel: "k".into(),
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        code: Language::Ptx,
        counted: true,
        checked: false,
        total: counters,
        instructions: Vec::new(),
        lines: vec![LineReport { file: "v01.cu".into(), line: 2, counters }],
        mistakes: Mistakes::default(),
        printed: String::new(),
    };
    let json = serde_json::to_value(&report).expect("a report is plain data");
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    insta::assert_snapshot!(keys(&json).join(" "), @"block checked code counted dynamic_shared grid instructions kernel lines printed total");
    insta::assert_snapshot!(keys(&json["lines"][0]).join(" "), @"counters file line");
}

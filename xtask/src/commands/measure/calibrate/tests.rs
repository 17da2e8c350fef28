use serde_json::json;

use super::*;

const PRINTED: &str = include_str!("../../../../tests/data/calibrate.json");
/// The file of the GPU that this was measured on.
const OF_H200: &str = include_str!("../../../../../emulator/timing/data/h200.json");

#[test]
fn every_constant_follows_from_what_was_printed() {
    let measured = Measurements::read(PRINTED).expect("it is what calibrate prints");
    assert_eq!(file_name(&measured.device), FIRST);
    for (name, rule) in &RULES {
        let value = rule.value(&measured).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        assert!(value.is_some_and(|value| value.is_number() || value.is_array()), "{name}");
    }
    let updated = update(OF_H200, &measured, false).expect("it has every constant");
    assert_eq!(updated.text.lines().count(), OF_H200.lines().count());
}

#[test]
fn other_constants_stay() {
    let queue = constant("queue", 12, "assumed");
    let old = file(std::slice::from_ref(&queue));
    let measured = Measurements::read(PRINTED).expect("it is what calibrate prints");
    let new = update(&old, &measured, false).expect("it has every constant");
    let text: Value = serde_json::from_str(&new.text).expect("it is written whole");
    let find = |name: &str| {
        let mut constants = text["constants"].as_array().into_iter().flatten();
        constants.find(|constant| constant["constant"] == name).expect("it is there")
    };
    assert_eq!(*find("queue"), queue);
    assert_eq!(find("fma")["value"], 1);
    let origin = find("fma")["measured"].as_str().unwrap_or_default();
    assert!(origin.starts_with("cargo xtask calibrate, NVIDIA H200"), "{origin}");
    assert_eq!(new.left, ["queue"]);
    assert!(new.changes.iter().any(|change| change == "fma: 1, was 7"));
    let of_another = update(&old, &measured, true).expect("it has every constant");
    assert!(of_another.text.contains("not on this GPU"));
    let error = update(&old.replacen("\"fma\"", "\"fmb\"", 1), &measured, false).err();
    assert_eq!(error.expect("one is missing").to_string(), "the file has no constant called fma");
}

/// Constants of what `calibrate` measures last: what goes on by itself.
const ASYNCHRONOUS: [&str; 17] = [
    "phase_issue",
    "phase_check",
    "phase_latency",
    "remote_latency",
    "cluster_barrier",
    "fence",
    "store_latency",
    "remote_store_latency",
    "remote_wavefront",
    "box_read",
    "box_row",
    "box_piece",
    "warp_product",
    "short_warp_product",
    "product_column",
    "product_latency",
    "l2_bytes_alone",
];

#[test]
fn constants_whose_measurements_are_missing_stay_and_are_listed() {
    let earlier: Vec<&str> = PRINTED.lines().take_while(|line| !line.contains("products_")).collect();
    assert_eq!(left(&earlier.join("\n")), ASYNCHRONOUS);
    let no_module = earlier.join("\n") + "\n{\"name\":\"asynchronous\",\"error\":\"no kernel image\"}";
    assert_eq!(left(&no_module), ASYNCHRONOUS);
    const ERROR: &str = r#"{"name":"products_bf16_256_shared_4_x1","error":"an illegal memory access"}"#;
    let failed = PRINTED.lines().map(|line| if line.contains("products_bf16_256_shared_4_x1") { ERROR } else { line });
    assert_eq!(left(&failed.collect::<Vec<_>>().join("\n")), ["product_column", "product_latency"]);
}

/// Returns the constants that stay after these records, whose values and origins must be as before.
fn left(printed: &str) -> Vec<String> {
    let measured = Measurements::read(printed).expect("the lines are as they should be");
    let old = file(&[]);
    let updated = update(&old, &measured, false).expect("the rest is known");
    let [old, new]: [File; 2] = [&old, &updated.text].map(|text| serde_json::from_str(text).expect("a file"));
    for (old, new) in old.constants.iter().zip(&new.constants) {
        let stays = (old.value == new.value) && (old.measured == new.measured);
        assert_eq!(stays, updated.left.contains(&new.constant), "{}", new.constant);
    }
    updated.left
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let measured = |text: &str| Measurements::read(text).expect("the lines are as they should be");
    let refused = |text: &str| update(&file(&[]), &measured(text), false).err().expect("it cannot be");
    let negative = PRINTED.replace(r#""name":"cost_fma","unit":"clocks","value":"#, r#""name":"cost_fma","value":-"#);
    assert_eq!(
        format!("{:#}", refused(&negative)),
        "fma: measured cost_fma = -1.0472208658854167, which is out of range"
    );
    let only_header = PRINTED.lines().next().unwrap_or_default();
    assert_eq!(refused(only_header).to_string(), "calibrate measured no constant");
    assert!(Measurements::read("").is_err());
    assert!(Measurements::read("NVIDIA H200").is_err());
}

fn constant(name: &str, value: u32, measured: &str) -> Value {
    json!({ "constant": name, "value": value, "unit": "", "how": "", "measured": measured })
}

fn file(rest: &[Value]) -> String {
    let mut constants: Vec<Value> = RULES.iter().map(|(name, _)| constant(name, 7, "")).collect();
    constants.extend_from_slice(rest);
    json!({ "about": [], "name": "NVIDIA H200", "constants": constants }).to_string()
}

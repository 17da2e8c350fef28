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
        assert!(value.is_number() || value.is_array(), "{name} = {value}");
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

#[test]
fn what_cannot_be_is_refused_by_name() {
    let text = PRINTED.replace("\"name\":\"cost_fma\"", "\"name\":\"cost_nothing\"");
    let measured = Measurements::read(&text).expect("the lines are as they should be");
    let error = update(&file(&[]), &measured, false).err().expect("fma cannot be known");
    assert_eq!(format!("{error:#}"), "fma: there is no measurement called cost_fma");
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

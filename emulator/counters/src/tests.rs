use serde_json::{Value, json};

use super::*;

#[test]
fn a_key_that_is_missing_or_unknown_is_an_error() {
    let whole = |value: &Value| {
        let counters = serde_json::from_value::<Counters>(value.clone());
        counters.map_err(|error| error.to_string())
    };
    let mut json = serde_json::to_value(Counters::default()).expect("plain data");
    assert_eq!(whole(&json), Ok(Counters::default()));
    json["wavefronts"] = json!(1);
    let error = whole(&json).expect_err("unknown");
    assert!(error.starts_with("unknown field `wavefronts`"), "{error}");
    let fields = json.as_object_mut().expect("an object");
    fields.remove("wavefronts");
    for name in fields.keys().cloned().collect::<Vec<_>>() {
        let mut fields = fields.clone();
        fields.remove(&name);
        let error = whole(&fields.into()).expect_err("missing");
        assert_eq!(error, format!("missing field `{name}`"));
    }
}

#[test]
fn every_field_is_added() {
    let json = serde_json::to_value(Counters::default()).expect("plain data");
    let ones = json.as_object().expect("an object").keys();
    let ones: Value = ones.map(|name| (name.clone(), json!(1))).collect();
    let mut sum: Counters = serde_json::from_value(ones).expect("all fields");
    let one = sum;
    sum.add(&one);
    let sum = serde_json::to_value(sum).expect("plain data");
    assert!(sum.as_object().expect("an object").values().all(|n| *n == 2));
}

#[test]
fn wavefronts_are_of_everything_that_passes_over_the_banks() {
    let counters = Counters {
        // As written, before ptxas merges accesses.
        shared_load_wavefronts: 40,
        shared_load_wavefronts_merged: 16,
        shared_load_ideal_merged: 8,
        shared_store_wavefronts_merged: 4,
        shared_store_ideal_merged: 4,
        shared_atomic_wavefronts: 5,
        shared_atomic_ideal: 3,
        async_copy_wavefronts: 2,
        async_copy_ideal: 2,
        tensor_operand_wavefronts: 100,
        ..Counters::default()
    };
    assert_eq!((counters.wavefronts(), counters.ideal(), counters.excess()), (127, 117, 10));
}

#[test]
fn a_ratio_of_nothing_is_none() {
    let counters = Counters { global_load_sectors: 8, global_load_bytes: 128, ..Counters::default() };
    assert_eq!(counters.load_efficiency(), Some(0.5));
    assert_eq!(counters.store_efficiency(), None);
}

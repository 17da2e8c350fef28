use super::*;

fn prediction(us: f64, bounds: Vec<Bound>) -> Prediction {
    Prediction { us, change_band: 0.07, bounds, ..Prediction::default() }
}

#[track_caller]
fn check(before: f64, after: f64, want: Change) {
    let of = |us| prediction(us, Vec::new());
    assert_eq!(of(after).since(&of(before)), want);
}

#[test]
fn units_that_are_level_are_named_together() {
    let bound = |unit: &str, us| Bound { unit: unit.into(), us };
    let mut prediction = prediction(10.0, vec![bound("a", 7.0), bound("b", 6.4), bound("c", 6.2)]);
    assert_eq!(prediction.longest(), &prediction.bounds[..2]);
    assert_eq!(prediction.binds().map(|bound| bound.unit.as_str()), Some("a"));
    prediction.us = 12.0;
    assert_eq!(prediction.binds(), None);
    prediction.bounds.clear();
    assert!(prediction.longest().is_empty());
}

#[test]
fn differences_within_the_band_are_none() {
    check(100.0, 75.0, Change::Less(0.25));
    check(100.0, 94.0, Change::Equal);
    check(100.0, 106.0, Change::Equal);
    check(100.0, 125.0, Change::More(0.25));
    check(0.0, 0.0, Change::Equal);
}

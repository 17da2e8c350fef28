use records::machine_code::Bound;

use super::*;

#[test]
fn shares_are_percents_with_a_digit() {
    for (part, all, text) in
        [(0, 10, ""), (1, 0, ""), (1, 3, "33.3"), (1, 10_000, "<0.1"), (9_999, 10_000, "100"), (5, 5, "100")]
    {
        assert_eq!(percent(part, all), text);
    }
}

#[test]
fn what_is_busy_most_of_the_time_binds() {
    let prediction = |us| Prediction {
        us,
        band: 0.07,
        bounds: vec![Bound { unit: "L2".into(), us: 80.0 }],
        ..Prediction::default()
    };
    let binds = |us| binding(&prediction(us)).unwrap_or_default();
    assert_eq!(binds(90.0), "L2 (busy: L2 89% of the time)");
    assert!(binds(160.0).starts_with("no part of the GPU is busy most of the time"));
    assert_eq!(time(&prediction(90.0)), "90.00 µs (band ±7%)");
}

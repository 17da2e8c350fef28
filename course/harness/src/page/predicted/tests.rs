use super::*;
use records::machine_code::{Bound, Occupancy};

fn predicted(us: f64) -> PredictedLaunch {
    PredictedLaunch {
        occupancy: Some(Occupancy { blocks: 2, warps: 16, most_warps: 64, limit: "registers".into(), registers: 128 }),
        prediction: Some(Prediction {
            gpu: "NVIDIA H200".into(),
            us,
            band: 0.07,
            change_band: 0.07,
            bounds: vec![Bound { unit: "shared memory and L1".into(), us: us * 0.75 }],
            parts: Vec::new(),
            ghz: 1.98,
            n_blocks: 16,
            n_sms: 132,
        }),
        no_prediction: None,
    }
}

#[track_caller]
fn check(before: PredictedLaunch, now: PredictedLaunch, want: &str) {
    assert_eq!(change(&now, &before), want);
}

#[test]
fn a_change_has_a_sign_or_is_none() {
    check(predicted(100.0), predicted(82.0), "−18% predicted (0.100 ms before, 82.0 us now; band ±7%)");
    check(
        predicted(100.0),
        predicted(103.0),
        "no difference that the model can tell (0.100 ms before, 0.103 ms now; band ±7%)",
    );
    let none = PredictedLaunch {
        no_prediction: Some("the model has no time for atomics".into()),
        ..PredictedLaunch::default()
    };
    check(none, predicted(1.0), "not compared, because there is no prediction: the model has no time for atomics");
}

#[test]
fn a_unit_that_is_not_busy_does_not_bind() {
    let predicted = predicted(75.0);
    let mut prediction = predicted.prediction.expect("there is one");
    assert_eq!(binds(&prediction), "shared memory and L1 75%");
    prediction.bounds[0].us = 30.0;
    assert_eq!(binds(&prediction), "waits; shared memory and L1 40%");
    prediction.bounds.clear();
    assert_eq!(binds(&prediction), "");
}

#[test]
fn a_row_has_what_binds_and_what_fits() {
    let predicted = predicted(75.0);
    let prediction = predicted.prediction.as_ref().expect("there is one");
    assert_eq!(
        row("k", &predicted, prediction, Some(0.0756)),
        ["k", "shared memory and L1 75%", "75.0 us ±7%", "75.6 us", "16 of 64", "registers"]
    );
}

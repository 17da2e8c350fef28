use super::*;
use records::machine_code::{Bound, Occupancy};

fn forecast(us: f64) -> Forecast {
    Forecast {
        occupancy: Some(Occupancy { blocks: 2, warps: 16, most_warps: 64, limit: "registers".into(), registers: 128 }),
        prediction: Some(Prediction {
            gpu: "NVIDIA H200".into(),
            us,
            band: 0.07,
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
fn check(before: Forecast, now: Forecast, want: &str) {
    assert_eq!(change(&now, &before), want);
}

#[test]
fn a_change_has_a_sign_or_is_none() {
    check(forecast(100.0), forecast(82.0), "−18% predicted (0.100 ms before, 82.0 us now; band ±7%)");
    check(
        forecast(100.0),
        forecast(103.0),
        "no difference that the model can tell (0.100 ms before, 0.103 ms now; band ±7%)",
    );
    let none = Forecast { no_prediction: Some("the model has no time for atomics".into()), ..Forecast::default() };
    check(none, forecast(1.0), "not compared, because there is no prediction: the model has no time for atomics");
}

#[test]
fn a_unit_that_is_not_busy_does_not_bind() {
    let forecast = forecast(75.0);
    let mut prediction = forecast.prediction.expect("there is one");
    assert_eq!(binds(&prediction), "shared memory and L1 75%");
    prediction.bounds[0].us = 30.0;
    assert_eq!(binds(&prediction), "waits; shared memory and L1 40%");
    prediction.bounds.clear();
    assert_eq!(binds(&prediction), "");
}

#[test]
fn a_row_has_what_binds_and_what_fits() {
    let forecast = forecast(75.0);
    let prediction = forecast.prediction.as_ref().expect("there is one");
    assert_eq!(
        row("k", &forecast, prediction, Some(0.0756)),
        ["k", "shared memory and L1 75%", "75.0 us ±7%", "75.6 us", "16 of 64", "registers"]
    );
}

use super::*;

/// Returns the part of the density `(1 + x² / ν)^(−(ν + 1) / 2)` within `t`, by Simpson's rule with x = t tan φ.
fn within(t: f64, freedom: usize) -> f64 {
    let v = freedom as f64;
    let density = |angle: f64| {
        let x = angle.tan();
        (1.0 + x * x / v).powf(-f64::midpoint(v, 1.0)) * (1.0 + x * x)
    };
    let integral = |to: f64| {
        const STEPS: usize = 20_000;
        let width = to / STEPS as f64;
        let at = |i: usize| density(i as f64 * width);
        let inner: f64 = (1..STEPS).map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (at(0) + inner + at(STEPS)) * width / 3.0
    };
    integral(t.atan()) / integral(std::f64::consts::FRAC_PI_2 - 1e-7)
}

#[test]
fn the_quantiles_are_students() {
    for freedom in 1..=30 {
        let inside = within(two_sided_95(freedom), freedom);
        assert!((inside - 0.95).abs() < 1e-4, "{freedom}: {inside}");
    }
    for freedom in [31, 45, 59, 60, 61, 100, 1000] {
        let inside = within(two_sided_95(freedom), freedom);
        assert!((0.95 - 1e-4..0.956).contains(&inside), "{freedom}: {inside}");
    }
}

#[test]
fn a_speed_has_the_interval_of_its_rounds() {
    // Quotients of 1.1 and 1.21: logarithms of 1 and 2 times ln 1.1, with mean 1.5 and standard error 0.5.
    let rounds = [[10.0, 11.0, 11.0, 10.0], [10.0, 12.1, 12.1, 10.0]];
    let speed = Speed::from_rounds(&rounds).expect("two rounds");
    let power = |exponent: f64| 1.1f64.powf(exponent);
    for (got, want) in
        [(speed.times, power(1.5)), (speed.low, power(1.5 - 0.5 * 12.706)), (speed.high, power(1.5 + 0.5 * 12.706))]
    {
        assert!((got / want - 1.0).abs() < 1e-5, "{got} {want}");
    }
    assert_eq!((speed.rounds, speed.kernel_ms, speed.yardstick_ms), (2, 10.0, 11.55));
    assert_eq!(Speed::from_rounds(&rounds[..1]), None);
}

#[test]
fn what_drifts_evenly_falls_out() {
    // Each interval takes longer than the one before; both kernels are equally fast.
    let drifting: Vec<Round> =
        (0..10).map(|round| std::array::from_fn(|piece| 1.0 + 0.01 * (4 * round + piece) as f64)).collect();
    let speed = Speed::from_rounds(&drifting).expect("rounds");
    assert!(speed.times == 1.0 && speed.high == 1.0);
    assert_eq!(speed.percent(), "100.0 % (100.0 to 100.0 %)");
}

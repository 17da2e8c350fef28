//! Predictions for kernels of the book are those of the committed file.

mod recorded;

use recorded::Launch;
use timing::accuracy;

/// Returns whether a launch is predicted anew: small ones, and one of the transposes that exceed L2.
fn is_small(launch: &Launch) -> bool {
    let is_transpose = launch.shape[2] == 0;
    let most = if is_transpose && launch.name != "transpose_float4" { 1 << 20 } else { 1 << 24 };
    launch.work() <= most
}

#[test]
fn predictions_are_as_committed() {
    let mut n = 0;
    for launch in recorded::ladder().into_iter().chain(recorded::mapped()).filter(is_small) {
        let is_it = |point: &&accuracy::Point| point.kernel == launch.name && point.shape == launch.shape;
        let committed = accuracy::points().iter().find(is_it).map(|point| point.predicted_us);
        let (got, committed) = match (launch.predicted(), committed) {
            (Ok(prediction), Some(committed)) => (prediction.us, committed),
            (Err(_), None) => continue,
            (Ok(_), None) => panic!("{} {:?} is not in data/predictions.tsv", launch.name, launch.shape),
            (Err(why), Some(_)) => panic!("{}: {why}", launch.name),
        };
        assert!(
            (got - committed).abs() <= 1e-3,
            "{} {:?}: {got:.3} µs, in data/predictions.tsv: {committed:.3}",
            launch.name,
            launch.shape,
        );
        n += 1;
    }
    assert!(n >= 20, "{n} launches");
}

#[test]
fn neighbouring_steps_come_in_the_order_that_was_measured() {
    const STEPS: [&str; 6] = [
        "sgemm_v02_tile32",
        "sgemm_v03_from_shared",
        "sgemm_v04_float4",
        "sgemm_v05_bank_conflict_free",
        "sgemm_v06_outer_product",
        "sgemm_v07_double_buffer",
    ];
    let time = |kernel: &str, size: u32| {
        let mut points = accuracy::points().iter();
        points.find(|point| point.kernel == kernel && point.shape == [size; 3])
    };
    let mut n = 0;
    for size in [256, 512, 1024, 2048, 4096, 8192] {
        for pair in STEPS.windows(2) {
            let (Some(before), Some(after)) = (time(pair[0], size), time(pair[1], size)) else { continue };
            let measured = after.measured_us / before.measured_us;
            if (measured - 1.0).abs() > 0.1 {
                let predicted = after.predicted_us / before.predicted_us;
                assert_eq!(measured > 1.0, predicted > 1.0, "{pair:?} at {size}");
                n += 1;
            }
        }
    }
    assert!(n >= 10, "{n} pairs");
}

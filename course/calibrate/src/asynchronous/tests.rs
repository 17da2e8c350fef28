use harness::device::{DeviceChoice, choose_driver};

use super::*;

/// Stores where there is no memory.
fn lose_the_context(gpu: &Gpu) -> Result<Measured, StepError> {
    let walk = Walk { depth: 1, bytes: 4, x: 0, y: 0, cols: 1, rows: 1, strips: 1, block_rows: 1, span: 1, share: 1 };
    Bench::new(gpu, "stores_4", [1, WARP], 0)?.measure(1.0, &Rest::Bulk(walk, 0))
}

#[test]
fn a_process_measures_on_until_its_context_is_lost() {
    choose_driver(DeviceChoice::Emulated).expect("Cargo built it");
    let gpu = Gpu::open().expect("there is a device");
    let works = |gpu: &Gpu| Bench::new(gpu, "barrier_arrive", [1, 1], 0)?.measure(UNROLL, &sink(gpu)?);
    let measurements = [
        Measurement::new("no kernel".into(), |gpu| Bench::new(gpu, "missing", [1, 1], 0)?.measure(1.0, &sink(gpu)?)),
        Measurement::new("arrives".into(), works),
        Measurement::new("stores".into(), lose_the_context),
        Measurement::new("arrives again".into(), works),
    ];
    let mut records = Vec::new();
    let done = workers::work(&gpu, &measurements, &mut |record| {
        records.push((record["name"].as_str().unwrap_or_default().to_owned(), record["error"].is_string()));
        Ok(())
    });
    done.expect("records are no error");
    let expected = [("no kernel", true), ("arrives", false), ("stores", true)];
    assert_eq!(records, expected.map(|(name, failed)| (name.to_owned(), failed)));
}

use super::*;
use crate::duel::Speed;

fn measurement(kernel: &str, size: usize, run: &str) -> Measurement {
    Measurement {
        run: run.into(),
        step: "v05".into(),
        kernel: kernel.into(),
        shape: Shape::square(size),
        seed: 1,
        ptx_sha256: String::new(),
        outcome: Outcome::NotRun { why: "a test".into() },
    }
}

pub(crate) fn run(id: &str) -> Run {
    Run { id: id.into(), date: "2026-11-21T00:00:00Z".into(), device: "a device".into(), ..Run::default() }
}

#[test]
fn a_newer_measurement_replaces_the_older() {
    let mut record = Record::default();
    for id in ["first", "second"] {
        record.add(Line::Run(Box::new(run(id))));
        record.add(Line::Measurement(Box::new(measurement("kernel", 64, id))));
    }
    record.add(Line::Measurement(Box::new(measurement("kernel", 128, "second"))));
    record.tidy();
    assert_eq!(record.runs.len(), 1);
    assert_eq!(record.measurements.len(), 2);
}

/// Returns a passed measurement beside the cuBLAS algorithm of this number, with a duel or without.
fn beside(algorithm: usize, run: &str, has_duel: bool) -> Measurement {
    let speed = Speed::from_rounds(&[[1.0; 4]; 2]).expect("two rounds");
    let duel = Duel {
        sustained: Some(speed),
        burst: speed,
        piece_and_pause: [50.0, 60.0],
        settle_ms: 0.0,
        joules: None,
        earlier: None,
    };
    let passed = VerifiedRun {
        hot: Some(Samples(vec![1.0])),
        yardstick: Some(Yardstick {
            name: "cuBLAS".into(),
            submission: Submission::Batch,
            algorithm: Some(algorithm),
            hot: Samples(vec![1.0]),
            duel: has_duel.then_some(duel),
        }),
        ..VerifiedRun::default()
    };
    Measurement { outcome: Outcome::Passed(Box::new(passed)), ..measurement("kernel", 64, run) }
}

#[test]
fn a_duel_outlives_later_times_of_the_same_code() {
    let mut record = Record::default();
    let add = |record: &mut Record, id: &str, new: Measurement| {
        record.add(Line::Run(Box::new(run(id))));
        record.add(Line::Measurement(Box::new(new)));
        record.tidy();
        record.runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(add(&mut record, "one", beside(5, "one", true)), ["one"]);
    for later in ["two", "three"] {
        let runs = add(&mut record, later, beside(6, later, false));
        assert_eq!(runs, ["one", later]);
        let duel = record.measurements[0].duel().expect("the first one's");
        let earlier = duel.earlier.as_ref().expect("another run's");
        assert_eq!((earlier.run.as_str(), earlier.algorithm), ("one", Some(5)));
    }
    assert_eq!(add(&mut record, "four", beside(7, "four", true)), ["four"]);
    let duel = record.measurements[0].duel().expect("a new one");
    assert_eq!(duel.earlier, None);

    let mut changed = beside(7, "five", false);
    changed.ptx_sha256 = "other code".into();
    assert_eq!(add(&mut record, "five", changed), ["five"]);
    assert_eq!(record.measurements[0].duel(), None);
}

#[test]
fn days_are_those_of_the_runs() {
    let mut record = Record::default();
    for (id, size) in [("one", 64), ("two", 128), ("three", 256)] {
        record.add(Line::Run(Box::new(Run {
            date: format!("2026-11-2{}T23:00:00Z", if id == "three" { 3 } else { 2 }),
            ..run(id)
        })));
        record.add(Line::Measurement(Box::new(measurement("kernel", size, id))));
    }
    assert_eq!(record.days(&record.measurements[..2]), "2026-11-22");
    assert_eq!(record.days(&record.measurements), "2026-11-22 to 2026-11-23");
    assert_eq!(record.days([]), "");
}

#[test]
fn a_file_that_is_no_record_is_named() {
    let error = Record::load(Path::new("no/such/file.json")).unwrap_err().to_string();
    assert!(error.starts_with("no/such/file.json: "), "{error}");
    // The reason is in the text; as the source, too, it would be printed twice.
    let error = Record::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap_err();
    assert!(error.to_string().contains(" is not a record of measurements: expected "), "{error}");
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn the_median_of_an_even_number_lies_between() {
    assert_eq!(Samples(vec![4.0, 1.0, 2.0, 3.0]).median(), 2.5);
    assert_eq!(Samples(vec![3.0, 1.0, 2.0]).median(), 2.0);
    assert!(Samples(Vec::new()).median().is_nan());
}

#[test]
fn a_summary_has_the_median_the_extent_and_the_spread_of_all() {
    for n in [6, 7, 12, 40] {
        let all = Samples((1..=n).rev().map(f64::from).collect());
        let five = Samples::summary(all.0.clone());
        assert_eq!(five.0.len(), 5);
        assert_eq!((five.median(), five.extent(), five.spread()), (all.median(), all.extent(), all.spread()));
    }
    assert_eq!(Samples::summary(vec![3.0, 1.0]).0, [1.0, 3.0]);
}

use super::*;
use catalog::{STEPS, provenance::sha256};

fn run(id: &str) -> Run {
    Run { device: "NVIDIA Test 100".into(), ..crate::record::tests::run(id) }
}

fn sum(run: &str, kernel: &str, size: usize) -> Sum {
    Sum {
        run: run.into(),
        step: "v12".into(),
        kernel: kernel.into(),
        shape: Shape::square(size),
        seed: 1,
        multiprocessors: MULTIPROCESSORS,
        ptx_sha256: String::new(),
        c_sha256: sha256(kernel.as_bytes()),
        cublas_sha256: None,
        not_run: None,
    }
}

fn record() -> SumsRecord {
    SumsRecord {
        runs: vec![run("first")],
        sums: vec![sum("first", "one", 64), sum("first", "two", 64)],
        ..SumsRecord::default()
    }
}

#[test]
fn a_sum_is_on_record_and_the_same() {
    let mut other = record();
    other.sums[1].c_sha256 = sha256(b"another C");
    let complaint = |record: SumsRecord| record.complaint(&sum("here", "two", 64)).unwrap_or_default();
    assert_eq!(complaint(record()), "");
    let missing = complaint(SumsRecord::default());
    assert!(missing.starts_with("two on 64x64x64: no sum in h200-sums.json or h100-80gb-hbm3-sums.json"), "{missing}");
    assert!(complaint(other).starts_with("two on 64x64x64: C has the sum "));
}

#[test]
fn another_product_is_not_compared() {
    let record = record();
    let changes: [fn(&mut Sum); 4] =
        [|sum| sum.kernel.push('s'), |sum| sum.shape.m += 1, |sum| sum.seed += 1, |sum| sum.multiprocessors += 1];
    for change in changes {
        let mut ours = sum("here", "two", 64);
        change(&mut ours);
        ours.c_sha256.clear();
        assert_eq!(record.compare(&ours), SumComparison::Missing, "{ours:?}");
    }
}

#[test]
fn a_newer_sum_takes_the_place_of_the_older_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card-sums.json");
    for _ in 0..2 {
        SumsRecord::merge_into(&path, &record()).expect("written");
    }
    assert_eq!(SumsRecord::load(&path).expect("a record"), record());
    let mut skipped = sum("second", "three", 64);
    skipped.not_run = Some("it needs something".into());
    let new = |sums| SumsRecord { runs: vec![run("second")], sums, ..SumsRecord::default() };
    SumsRecord::merge_into(&path, &new(vec![sum("second", "one", 64), skipped])).expect("written");
    let read = SumsRecord::load(&path).expect("a record");
    let entries: Vec<_> = read.sums.iter().map(|sum| (&*sum.kernel, &*sum.run)).collect();
    assert_eq!(entries, [("one", "second"), ("two", "first")]);
    assert_eq!(read.runs.len(), 2);
    SumsRecord::merge_into(&path, &new(vec![sum("second", "two", 64)])).expect("written");
    assert_eq!(SumsRecord::load(&path).expect("a record").runs, [run("second")]);
}

#[test]
fn lists_name_kernels_of_the_ladder() {
    for name in &BY_MULTIPROCESSORS {
        let known = |step: &catalog::Step| step.kernel(name).is_some_and(|kernel| kernel.source.is_some());
        assert!(STEPS.iter().any(known), "no step has a kernel {name}");
    }
}

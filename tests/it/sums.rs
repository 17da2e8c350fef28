//! The record of sums of C is of real GPUs and of kernels of the ladder. The sums themselves, and the list of kernels
//! that have none, are compared by the tests of the steps: `sums_of_c_are_those_on_record`.

use records::sums::SumsRecord;

#[test]
fn every_sum_is_of_a_kernel_and_of_a_real_device() {
    let record = SumsRecord::references(&tests::root().join("book/data")).unwrap_or_else(|error| panic!("{error}"));
    for sum in &record.sums {
        let step = catalog::find(&sum.step).unwrap_or_else(|error| panic!("{error}"));
        assert!(step.kernel(&sum.kernel).is_some(), "{} has no kernel {}", step.id, sum.kernel);
        let run = record.runs.iter().find(|run| run.id == sum.run);
        let is_real = run.is_some_and(|run| !run.emulated);
        assert!(is_real, "{} on {}: no real device computed it", sum.kernel, sum.shape);
    }
}

//! The record of sums of C is of a real GPU and of kernels of the ladder, and the list of what it lacks is complete.
//! The sums themselves are compared by the tests of the steps: `sums_of_c_are_those_on_record`.

use catalog::STEPS;
use records::sums::{NOT_SUMMED, REFERENCES, SumsRecord};

#[test]
fn every_kernel_has_sums_or_is_known_to_have_none() {
    let record = SumsRecord::references(&tests::root().join("book/data")).unwrap_or_else(|error| panic!("{error}"));
    let mut n_known = 0;
    for step in STEPS {
        for kernel in step.kernels.iter().filter(|kernel| kernel.source.is_some()) {
            let own = record.sums.iter().filter(|sum| sum.kernel == kernel.name);
            let n = own.filter(|sum| sum.step == step.id).count();
            let (name, step, files) = (kernel.name, step.id, REFERENCES.join(" or "));
            assert!(
                (n > 0) != NOT_SUMMED.contains(&name),
                "{name}: {n} sums in {files}, and records::sums::NOT_SUMMED says otherwise; on a machine with such a \
                 GPU: cargo xtask sums {step} --save"
            );
            n_known += n;
        }
    }
    assert_eq!(record.sums.len(), n_known, "some sums are of no kernel");
    for sum in &record.sums {
        let run = record.runs.iter().find(|run| run.id == sum.run);
        let is_real = run.is_some_and(|run| !run.emulated);
        assert!(is_real, "{} on {}: no real device computed it", sum.kernel, sum.shape);
    }
}

//! A Rust function under test: the same verification as on a device, and the host's clock.

use catalog::{Shape, Work};
use records::Outcome;
use records::record::{Accuracy, Submission, VerifiedRun, Yardstick};

use crate::inputs::{Data, Real as _};
use crate::kernel::{Cpu, Kernel};
use crate::measure::case::Case;
use crate::measure::setup::{KernelOutcome, Purpose};
use crate::{timing, verify};
use diagnosis::{Terms, WrongResult};

/// Verifies the result of a function for the CPU, and times it.
pub(crate) fn measure(kernel: &Kernel, cpu: Cpu, case: &Case, purpose: Purpose) -> KernelOutcome {
    let Cpu { multiply, largest, bound, yardstick } = cpu;
    let Shape { m, n, .. } = case.shape;
    if case.shape.volume() > largest {
        let edge = largest.cbrt();
        return KernelOutcome::not_run(format!("too slow: {} is timed up to {edge:.0} cubed", kernel.name));
    }
    let mut accuracy = Accuracy { max_abs_error: 0.0, max_of_bound: 0.0, exact_on_integers: true };
    let mut c = vec![f32::POISON; m * n];
    for problem in case.problems::<f32>() {
        c.fill(f32::POISON);
        multiply(case.shape, &problem.a, &problem.b, &mut c);
        let mut answer = problem.answer();
        if let (Some(bound), Data::Reals) = (bound, problem.data) {
            // Reals lie in [-1, 1), so no element is larger than 1.
            answer = answer.within(bound(case.shape, 1.0, 1.0));
        }
        let comparison = verify::compare(&answer, &c);
        if !comparison.is_right() {
            let result = WrongResult {
                answer: &answer,
                got: f32::widen(&c),
                comparison: &comparison,
                work: Work::Cpu,
                tile: None,
                terms: Some(Terms::of(problem)),
                right_on_integers: problem.data == Data::Reals,
            };
            let diagnosis = result.diagnose();
            return KernelOutcome {
                outcome: Outcome::Failed { why: diagnosis.why, details: diagnosis.details },
                report: None,
                lost: false,
            };
        }
        accuracy.max_abs_error = accuracy.max_abs_error.max(comparison.max_abs_error);
        accuracy.max_of_bound = accuracy.max_of_bound.max(comparison.max_of_bound);
    }
    let [_, reals] = case.problems::<f32>();
    let timed = (purpose == Purpose::Bench).then(|| {
        let (name, other) = yardstick;
        let mut other_c = vec![f32::POISON; m * n];
        let (hot, other_hot) = timing::time_on_host(
            || multiply(case.shape, &reals.a, &reals.b, &mut c),
            || other(case.shape, &reals.a, &reals.b, &mut other_c),
        );
        let yardstick =
            Yardstick { name: name.into(), submission: Submission::Batch, algorithm: None, hot: other_hot, duel: None };
        (hot, yardstick)
    });
    let (hot, yardstick) = timed.unzip();
    let passed =
        VerifiedRun { accuracy, batch: 1, hot, cpu_ms: Some(reals.cpu_ms), yardstick, ..VerifiedRun::default() };
    KernelOutcome { outcome: Outcome::Passed(Box::new(passed)), report: None, lost: false }
}

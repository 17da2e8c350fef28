//! `check`: runs every kernel on awkward sizes, with all checks.

use std::process::ExitCode;

use catalog::{process::Exit, sizes, text::Paint};
use records::Outcome;
use records::record::{Check, FailedCheck, Line};

use crate::measure::{case::Case, setup::Purpose};
use crate::out;
use crate::step_run::StepRun;
use crate::{error::StepError, kernel::Kernel};

pub(crate) fn run(step_run: &mut StepRun<'_>) -> Result<ExitCode, StepError> {
    if step_run.common.json {
        out::json(&Line::Run(Box::new(step_run.run.clone())))?;
    }
    let paint = Paint::for_stdout();
    let mut cases: Vec<Case> = Vec::new();
    let mut failed = false;
    for kernel in step_run.kernels.clone() {
        let check = check(step_run, kernel, &mut cases)?;
        out::progress_done();
        failed |= check.failed.is_some();
        if step_run.common.json {
            out::json(&Line::Check(Box::new(check)))?
        } else {
            out::write(&check_line(&check, step_run.run.emulated, paint))?
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Passed }.into())
}

fn check(step_run: &mut StepRun<'_>, kernel: &Kernel, cases: &mut Vec<Case>) -> Result<Check, StepError> {
    let mut check = Check {
        run: step_run.run.id.clone(),
        step: step_run.step.id.into(),
        kernel: kernel.shown_name(),
        n_passed: 0,
        not_run: None,
        failed: None,
    };
    for shape in sizes::awkward(step_run.work(kernel)) {
        let at = cases.iter().position(|case| case.shape == *shape).unwrap_or_else(|| {
            cases.push(Case::new(*shape, step_run.common.seed, None));
            cases.len() - 1
        });
        out::progress(&format!("{} on {shape}", kernel.shown_name()));
        match step_run.measure(kernel, &cases[at], Purpose::Check)?.outcome {
            Outcome::Passed(_) => check.n_passed += 1,
            Outcome::NotRun { why } => {
                check.not_run.get_or_insert(why);
            }
            Outcome::Failed { why, details } => {
                let shape = *shape;
                check.failed = Some(FailedCheck { shape, why, details });
                break;
            }
        }
    }
    Ok(check)
}

/// Returns a line with the outcome, followed by the findings.
fn check_line(check: &Check, emulated: bool, paint: Paint) -> String {
    let Check { kernel, n_passed, .. } = check;
    match (&check.failed, &check.not_run) {
        (Some(FailedCheck { shape, why, details }), _) => {
            let details = if details.is_empty() { String::new() } else { format!("\n{}\n", details.trim_end()) };
            format!("{kernel}: {} on {shape}: {why}\n{details}", paint.bad("failed"))
        }
        (None, Some(why)) if *n_passed == 0 => format!("{kernel}: not run: {why}\n"),
        (None, not_run) => {
            let checks = if emulated { ", all checks clean" } else { "" };
            let rest = not_run.as_ref().map(|why| format!("; not run elsewhere: {why}")).unwrap_or_default();
            format!("{kernel}: {}: {n_passed} shapes{checks}{rest}\n", paint.good("passed"))
        }
    }
}

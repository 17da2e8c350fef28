//! `cargo xtask check`: every kernel of the steps on awkward shapes, one line each.

use anyhow::Result;
use ladder::STEPS;
use ladder::record::{Check, Line};
use ladder::text::Paint;

use crate::programs::Programs;
use crate::say::{self, Status, Stop};
use crate::{Verdict, bench, choice, interrupt, kernels};

#[derive(clap::Args)]
#[command(after_help = "Examples: cargo xtask check v05\n          cargo xtask check all --emulate")]
pub(crate) struct Args {
    /// Steps: `v05`, `5` or `bank-conflict-free`; all when left out
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
    /// Use the emulated GPU even where there is a real one
    #[arg(long)]
    emulate: bool,
    /// Print one record per line
    #[arg(long)]
    json: bool,
}

/// Checks them, and tells the first failure in full.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let steps = match args.steps.is_empty() {
        true => STEPS.iter().collect(),
        false => choice::steps("check", &args.steps)?,
    };
    interrupt::watch();
    kernels::compile_edited(&steps)?;
    let programs = Programs::ready(&steps)?;

    let mut words = vec!["check".to_owned(), "--json".to_owned()];
    words.extend(args.emulate.then(|| "--emulate".to_owned()));
    let status = Status::new();
    let paint = Paint::for_stdout();
    let mut troubles = Vec::new();
    let mut checks: Vec<Check> = Vec::new();
    for step in &steps {
        status.set(&format!("{}  {}", step.id, step.name));
        let first = checks.len();
        let ended = programs.lines(step, &words, &status, |text, line| {
            if args.json {
                say::answer(&format!("{text}\n"))?;
            }
            if let Line::Check(check) = line {
                if !args.json {
                    say::answer(&told(&check, paint))?;
                }
                checks.push(*check);
            }
            Ok(())
        });
        if interrupt::happened() {
            return Err(Stop::Interrupted(format!("{} was not finished", step.id)).into());
        }
        let (ended, own) = (ended?, &checks[first..]);
        let explained = match ended.code {
            Some(0) => true,
            Some(1) => own.iter().any(|check| check.failed.is_some()),
            Some(3) => own.iter().any(|check| check.not_run.is_some()),
            _ => false,
        };
        if !explained {
            troubles.push(format!("{} could not run: {}", step.id, ended.complaint(step)));
        }
    }
    let first_failure = checks
        .iter()
        .find_map(|check| Some((check, check.failed.as_ref()?)));
    if let Some((check, failed)) = first_failure
        && !args.json
    {
        let (kernel, shape) = (&check.kernel, failed.shape);
        let details = match failed.details.is_empty() {
            true => String::new(),
            false => format!("{}\n", failed.details.trim_end()),
        };
        say::answer(&format!("\n{kernel} on {shape}: {}\n{details}", failed.why))?;
    }
    if !args.json {
        let count = |wanted: Outcome| checks.iter().filter(|check| outcome(check) == wanted).count();
        say::note(&format!(
            "{} passed, {} failed, {} not run",
            count(Outcome::Passed),
            count(Outcome::Failed),
            count(Outcome::NotRun)
        ));
    }
    if first_failure.is_some() {
        troubles.iter().for_each(|trouble| say::error(trouble));
        return Ok(Verdict::Failed);
    }
    bench::without_trouble(&troubles, steps.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    NotRun,
}

fn outcome(check: &Check) -> Outcome {
    match check {
        Check { failed: Some(_), .. } => Outcome::Failed,
        Check { n_passed: 0, .. } => Outcome::NotRun,
        _ => Outcome::Passed,
    }
}

/// One line per kernel.
fn told(check: &Check, paint: Paint) -> String {
    let not_run = check.not_run.as_deref().unwrap_or_default();
    let shapes = match check.n_passed {
        1 => "1 shape".to_owned(),
        n => format!("{n} shapes"),
    };
    let (verdict, why) = match (outcome(check), &check.failed) {
        (Outcome::Failed, Some(failed)) => (
            paint.bad("failed "),
            format!("on {}: {}", failed.shape, failed.why),
        ),
        (Outcome::NotRun, _) => (paint.dim("not run"), not_run.to_owned()),
        _ if not_run.is_empty() => (paint.good("passed "), shapes),
        _ => (
            paint.good("passed "),
            format!("{shapes}; not run elsewhere: {not_run}"),
        ),
    };
    format!("{}  {verdict}  {:<30}  {why}\n", check.step, check.kernel)
}

//! `cargo xtask check`: every kernel of the steps on awkward shapes, one line each.

use anyhow::Result;
use ladder::record::{Line, Measurement, Outcome};
use ladder::text::Paint;
use ladder::{STEPS, Step};

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

/// What came out for one kernel, over all its shapes.
struct Row {
    step: &'static str,
    kernel: String,
    n_passed: usize,
    n_not_run: usize,
    /// The first reason for not passing.
    other: Option<Outcome>,
}

/// Checks them, and tells the first failure in full.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let steps = match args.steps.is_empty() {
        true => STEPS.iter().collect(),
        false => choice::steps(&args.steps)?,
    };
    interrupt::watch();
    kernels::compile_edited(&steps)?;
    let programs = Programs::ready(&steps, args.emulate)?;

    let mut words = vec!["check".to_owned(), "--json".to_owned()];
    words.extend(args.emulate.then(|| "--emulate".to_owned()));
    let status = Status::new();
    let paint = Paint::for_stdout();
    let (mut first_failure, mut troubles) = (None, Vec::new());
    let mut n_rows = [0; 3];
    for step in &steps {
        status.set(&format!("{}  {}", step.id, step.name));
        let mut rows: Vec<Row> = Vec::new();
        let ended = programs.lines(step, &words, &status, |text, line| {
            if args.json {
                say::answer(&format!("{text}\n"))?;
            }
            if let Line::Measurement(one) = line {
                take(&mut rows, step, *one, &mut first_failure);
            }
            Ok(())
        })?;
        status.clear();
        if interrupt::happened() {
            return Err(Stop::Interrupted(format!("{} was not finished", step.id)).into());
        }
        let explained = matches!(ended.code, Some(0 | 1))
            || rows
                .iter()
                .any(|row| matches!(row.other, Some(Outcome::NotRun { .. })));
        if !explained {
            troubles.push(format!("{} could not run: {}", step.id, ended.complaint(step)));
        } else if ended.code == Some(1) && !rows.iter().any(Row::failed) {
            troubles.push(format!(
                "{} says it failed and does not say what: {}",
                step.id,
                ended.complaint(step)
            ));
        }
        for row in &rows {
            n_rows[row.verdict()] += 1;
        }
        if !args.json {
            say::answer(&lines(&rows, paint))?;
        }
    }
    if let Some(failure) = &first_failure
        && !args.json
    {
        say::answer(&format!("\n{failure}\n"))?;
    }
    let [n_passed, n_failed, n_not_run] = n_rows;
    if !args.json {
        say::note(&format!(
            "{n_passed} passed, {n_failed} failed, {n_not_run} not run"
        ));
    }
    if first_failure.is_some() {
        troubles.iter().for_each(|trouble| say::error(trouble));
        return Ok(Verdict::Failed);
    }
    bench::without_trouble(&troubles, steps.len())
}

impl Row {
    fn failed(&self) -> bool {
        matches!(self.other, Some(Outcome::Failed { .. }))
    }

    /// 0 passed, 1 failed, 2 not run.
    fn verdict(&self) -> usize {
        match (&self.other, self.n_passed) {
            (Some(Outcome::Failed { .. }), _) => 1,
            (Some(Outcome::NotRun { .. }), 0) => 2,
            _ => 0,
        }
    }
}

fn take(rows: &mut Vec<Row>, step: &Step, one: Measurement, first_failure: &mut Option<String>) {
    let at = rows.iter().position(|row| row.kernel == one.kernel);
    let at = at.unwrap_or_else(|| {
        rows.push(Row {
            step: STEPS[step.number() as usize].id,
            kernel: one.kernel.clone(),
            n_passed: 0,
            n_not_run: 0,
            other: None,
        });
        rows.len() - 1
    });
    let row = &mut rows[at];
    match &one.outcome {
        Outcome::Passed(_) => row.n_passed += 1,
        Outcome::Failed { why, details } => {
            if !row.failed() {
                row.other = Some(one.outcome.clone());
            }
            let told = if details.is_empty() { why } else { details };
            first_failure.get_or_insert_with(|| format!("{} {} {}: {told}", one.step, one.kernel, one.shape));
        }
        Outcome::NotRun { .. } => {
            row.n_not_run += 1;
            row.other.get_or_insert(one.outcome);
        }
    }
}

/// One line per kernel.
fn lines(rows: &[Row], paint: Paint) -> String {
    let mut out = String::new();
    for row in rows {
        let mut shapes = match row.n_passed {
            1 => "1 shape".to_owned(),
            n => format!("{n} shapes"),
        };
        if let (Some(Outcome::NotRun { why }), n) = (&row.other, row.n_not_run) {
            shapes.push_str(&format!("; {n} not run: {why}"));
        }
        let (verdict, why) = match &row.other {
            Some(Outcome::Failed { why, .. }) => (paint.bad("failed "), why.as_str()),
            Some(Outcome::NotRun { why }) if row.n_passed == 0 => (paint.dim("not run"), why.as_str()),
            _ => (paint.good("passed "), shapes.as_str()),
        };
        out.push_str(&format!("{}  {verdict}  {:<30}  {why}\n", row.step, row.kernel));
    }
    out
}

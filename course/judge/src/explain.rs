//! Counts per source line of a kernel, from one counted launch.

pub mod code;
mod pipeline;

use std::collections::BTreeMap;

use catalog::Shape;
use counters::Summary;
use reference::inputs::Accumulator;
use simt::{check::Severity, gpu::Value, launch::CheckLevel, report::LaunchReport};
use tasks::explain::{Explained, Line};

use crate::{JudgeError, Request};
use crate::{emulated_module::EmulatedModule, trial::trials};

/// Default sizes without a criterion: a few blocks of the largest tile, and a few steps of k.
const EDGE: usize = 256;
const DEPTH: usize = 64;

/// Launches the kernel once, with the sizes of the task's first criterion, and counts by source line.
pub fn explain(request: &Request<'_>) -> Result<Explained, JudgeError> {
    let task = request.task;
    let depth = if task.work.is_transpose() { 0 } else { DEPTH };
    let usual = Shape { m: EDGE, n: EDGE, k: depth };
    let shape = task.criteria.first().map_or(usual, |criterion| criterion.shape());
    Ok(explain_on(request, shape)?.0)
}

/// Launches the kernel once with these sizes, and counts by source line. Also returns the indices of wrong elements.
pub fn explain_on(request: &Request<'_>, shape: Shape) -> Result<(Explained, Vec<usize>), JudgeError> {
    let module = EmulatedModule::new(request)?;
    let is_double = request.task.work.is_double();
    if is_double { counted::<f64>(request, &module, shape) } else { counted::<f32>(request, &module, shape) }
}

fn counted<T: Accumulator + Value>(
    request: &Request<'_>, module: &EmulatedModule<'_>, shape: Shape,
) -> Result<(Explained, Vec<usize>), JudgeError> {
    let task = request.task;
    let trial = trials::<T>(task.work, shape, request.seed, request.threads).next_back();
    let trial = trial.ok_or("there is nothing to launch")?;
    let launched = module.launch(&trial, CheckLevel::Count, &module.launch_setup(shape));
    let (report, got) = launched.map_err(|refused| refused.text)?;
    let (total, lines) = by_line(module, &report);
    let stopped = report.findings.iter().find(|finding| finding.severity == Severity::Error);
    let wrong = trial.wrong_elements(&got);
    let explained = Explained {
        task: task.name.clone(),
        kernel: task.entry.clone(),
        shape,
        grid: report.grid,
        block: report.block,
        right: stopped.is_none() && wrong.is_empty(),
        stopped: stopped.map(|finding| finding.title.clone()),
        total,
        lines,
        machine: None,
    };
    Ok((explained, wrong))
}

/// Returns the counts of a launch, and those of each line that did something.
pub(crate) fn by_line(module: &EmulatedModule<'_>, report: &LaunchReport) -> (Summary, Vec<Line>) {
    let mut lines: BTreeMap<(&str, u32), Summary> = BTreeMap::new();
    let mut total = Summary::default();
    for (instruction, place) in report.instructions.iter().zip(module.places()) {
        let counts = Summary::from(&instruction.counters);
        total += counts;
        *lines.entry(place.unwrap_or_default()).or_default() += counts;
    }
    let lines = lines.into_iter().filter(|(_, counts)| counts.instructions > 0);
    (total, lines.map(|((file, line), counts)| Line { file: file.to_owned(), line, counts }).collect())
}

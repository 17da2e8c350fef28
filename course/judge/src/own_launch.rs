//! One checked launch of a kernel that no task is about: the caller chooses the launch and what the kernel reads.

use counters::Summary;
pub use diagnostics::plain_name;
use tasks::explain::Line;
use tasks::verdict::ReportedFinding;

use crate::emulated_module::{EmulatedModule, LaunchSetup, Parameter};
use crate::{JudgeError, MAX_PRINTED, Request, explain, found};

#[derive(Debug, Default, serde::Serialize)]
pub struct Outcome {
    pub findings: Vec<ReportedFinding>,
    /// Output of the kernel, perhaps shortened.
    pub printed: String,
    pub total: Summary,
    pub lines: Vec<Line>,
    /// Contents of the buffers after the launch; none where it did not start.
    #[serde(skip)]
    pub buffers: Vec<Vec<u8>>,
}

/// Launches the kernel that the task names once, with all checks. A launch that does not start has a finding.
///
/// # Errors
/// Returns an error if the module has no such kernel, or cannot be loaded.
pub fn launch(request: &Request<'_>, setup: &LaunchSetup, parameters: Vec<Parameter>) -> Result<Outcome, JudgeError> {
    let module = EmulatedModule::with_any_parameters(request)?;
    let shape = catalog::Shape { m: 0, n: 0, k: 0 };
    let (report, buffers) = match module.launch_with(parameters, setup) {
        Ok(launched) => launched,
        Err(refusal) => return Ok(Outcome { findings: vec![found(&refusal, shape, None)], ..Outcome::default() }),
    };
    let (total, lines) = explain::by_line(&module, &report);
    let undefined = report.undefined_outputs.iter().map(|output| &output.finding);
    let findings = report.findings.iter().chain(undefined).map(|finding| found(finding, shape, None)).collect();
    let printed = report.printed.chars().take(MAX_PRINTED).collect();
    Ok(Outcome { findings, printed, total, lines, buffers })
}

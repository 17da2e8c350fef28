//! The report of a launch, with its findings.

use std::ops::Deref;

use serde::Serialize;
use simt::{launch::LaunchRequest, module::LoadedKernel, report::LaunchReport};

use crate::finding::{Finding, UndefinedOutput};
use crate::launch_inputs::{Allocation, LaunchInputs};
use crate::messages::findings;

/// Everything about one launch.
///
/// # As JSON
///
/// The fields of [`LaunchReport`], and
///
/// - `findings`: a list of [`Finding`]s: `severity` (`"error"`, `"warning"`), `code` (`"E-OOB"`), `title`, `instr`
///   (index into `instructions`), `place` (`file`, `line`, `column`, `text`, `ptx_line`, `instruction`), `block` and
///   `thread` (`[x, y, z]`), `n_threads`, `n_blocks`, `array` (`name`, `space`, `element_type`, `element_bytes`,
///   `n_elements`, `dims`, `index`, `byte_offset`, or null), `others` (the other party of a race, the other groups at a
///   barrier), `notes`, `why`, `try`, `on_gpu`, and `text`: the whole message as printed.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The launch and its counters. `mistakes` is empty, because [`Self::findings`] describes them.
    #[serde(flatten)]
    pub launch: LaunchReport,
    /// Findings of the checks, most serious first, then by place; causes before effects. Errors make the launch fail.
    pub findings: Vec<Finding>,
    /// Undefined values in global memory; each becomes a finding only when the host reads it.
    #[serde(skip)]
    pub undefined_outputs: Vec<UndefinedOutput>,
}

impl Deref for Report {
    type Target = LaunchReport;

    fn deref(&self) -> &LaunchReport {
        &self.launch
    }
}

impl Report {
    /// Makes findings of the mistakes in a launch of `loaded` with this configuration.
    pub fn new(mut launch: LaunchReport, loaded: &LoadedKernel, request: &LaunchRequest) -> Self {
        let mistakes = std::mem::take(&mut launch.mistakes);
        let find = |address: u64| {
            let info = mistakes.allocation(address)?;
            Some(Allocation {
                base: info.base,
                bytes: info.bytes,
                number: info.id,
                read_only: info.origin.read_only,
                symbol: info.origin.symbol.then_some(info.origin.label),
                freed: info.freed,
            })
        };
        let executed = |instr: u32| {
            let counted = launch.instructions.get(instr as usize);
            counted.map_or(0, |instr| instr.counters.thread_instructions)
        };
        let inputs = LaunchInputs {
            kernel: loaded.kernel(),
            files: loaded.files(),
            request,
            find: &find,
            executed: if launch.counted { Some(&executed) } else { None },
            complete: !mistakes.stopped,
        };
        let (findings, undefined_outputs) = findings(&inputs, &mistakes.groups);
        Self { launch, findings, undefined_outputs }
    }
}

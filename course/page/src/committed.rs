//! Kernels of the ladder that the compiler does not know, those of v10 to v12: their committed PTX runs as it is.

use catalog::{Format, STEPS, Shape};
use judge::emulated_module::LaunchSetup;
use serde::Deserialize;
use tasks::{Task, TaskName, TaskWork, task::TaskKind};

/// A committed kernel with its launch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Committed {
    pub(crate) ptx: String,
    entry: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    shared: u32,
    /// Arguments, as [`LaunchSetup`] has them, with spaces between them.
    arguments: String,
}

impl Committed {
    pub(crate) fn setup(&self) -> LaunchSetup {
        let arguments = self.arguments.split_whitespace().map(str::to_owned).collect();
        LaunchSetup { grid: self.grid, block: self.block, arguments }
    }

    /// Returns the task of this kernel, which is to be right; the error is the reason why it is not run.
    pub(crate) fn task(&self, shape: Shape) -> Result<Task, String> {
        /// Products of small integers that tensor cores add exactly in 14 bits.
        const EXACT_K_OF_E4M3: usize = 256;
        let entry = &self.entry;
        let known = STEPS.iter().find_map(|step| Some((step, step.kernel(entry)?)));
        let (step, kernel) = known.ok_or_else(|| format!("the catalogue has no kernel `{entry}`"))?;
        let work = TaskWork::of(kernel.work).filter(|work| !work.is_double() && !work.is_transpose());
        let work =
            work.ok_or_else(|| format!("`{entry}` runs on a GPU only: its C is not FP32, or it is no product"))?;
        if entry == "sgemm_v12_six_bf16" {
            return Err(format!("`{entry}` runs on a GPU only: another kernel splits its operands before"));
        }
        if work.operands() == Format::E4m3 && shape.k > EXACT_K_OF_E4M3 {
            return Err(format!(
                "`{entry}` runs with K up to {EXACT_K_OF_E4M3}, where sums are exact; it is {}",
                shape.k
            ));
        }
        Ok(Task {
            name: TaskName::rebuild(step.id),
            kind: TaskKind::Rebuild,
            title: String::new(),
            text: String::new(),
            solution: kernel.source.unwrap_or_default().into(),
            is_rust: false,
            entry: entry.clone(),
            work,
            // For messages about wrong results, which do not know the tile.
            tile: [1, 1],
            block: self.block,
            down: false,
            dynamic_shared: self.shared,
            minutes: 0,
            has_starter: false,
            shows: Vec::new(),
            criteria: Vec::new(),
            hints: Vec::new(),
            gpu_required: false,
            host: None,
        })
    }
}

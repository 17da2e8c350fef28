//! Kernels of the ladder that the compiler does not know, those of v10 to v12: their committed PTX runs as it is.

use catalog::{Format, Shape};
use judge::emulated_module::LaunchSetup;
use serde::Deserialize;
use tasks::{Task, committed};

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
        let task = committed::task(&self.entry, self.block, self.shared)?;
        if task.work.operands() == Format::E4m3 && shape.k > EXACT_K_OF_E4M3 {
            return Err(format!(
                "`{}` runs with K up to {EXACT_K_OF_E4M3}, where sums are exact; it is {}",
                self.entry, shape.k
            ));
        }
        Ok(task)
    }
}

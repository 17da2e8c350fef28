//! Busiest units by Nsight Compute: `book/data/h200-busiest.json`, and of tensor cores `h200-tensor-busiest.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine_code::{BINDS, unit};
use crate::record_file::{RecordError, load_json};
use catalog::shape::Shape;

pub const SCHEMA: u32 = 1;

/// One session with a profiler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusiestRecord {
    pub schema: u32,
    pub run: Run,
    pub launches: Vec<Launch>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub device: String,
    pub driver_version: String,
    /// Profiler and its version, such as `Nsight Compute 2025.3.1.0`.
    pub profiler: String,
    pub date: String,
    pub clock_mhz: u32,
    /// Launched programs and options of the profiler.
    pub how: String,
}

/// One launch of committed code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    pub shape: Shape,
    /// Date of a launch profiled on another day than [`Run::date`], with the same device, driver and profiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Path of the launched machine code, such as `kernels/cubin/….cubin`, or of the PTX that the driver compiled.
    pub code: String,
    /// SHA-256 of that file; of a later version, where only names or comments have changed since.
    pub code_sha256: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// Arguments between the sizes and the buffers, such as alpha.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floats: Vec<f32>,
    /// Sizes of the buffers in bytes. Empty for a launch by a step's program, which knows its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<usize>,
    pub metrics: BTreeMap<String, f64>,
}

/// Units by their names in predictions, and the metrics of Nsight Compute for the part of the time that they are busy.
pub const UNITS: [(&str, &str); 7] = [
    (unit::TENSOR, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
    (unit::ISSUE, "sm__inst_issued.avg.pct_of_peak_sustained_active"),
    (unit::FP32, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"),
    (unit::FP64, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"),
    (unit::SHARED_AND_L1, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active"),
    (unit::L2, "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    (unit::DRAM, "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
];

/// Kernels without a verdict of the model: their blocks wait for what others write to memory.
pub const UNMODELLED: [&str; 2] = ["sgemm_v11_split_k", "sgemm_v11_stream_k"];

/// Returns the entry of [`UNITS`] that covers a unit: Nsight measures some of ours together.
fn metered(name: &str) -> Option<(&'static str, &'static str)> {
    let name = match name {
        unit::REGISTERS => unit::ISSUE,
        unit::SHARED | unit::L1 => unit::SHARED_AND_L1,
        name => name,
    };
    UNITS.into_iter().find(|(unit, _)| *unit == name)
}

impl Launch {
    /// Returns the part of the time that a unit is busy, in percent.
    pub fn busy(&self, name: &str) -> Option<f64> {
        let (_, metric) = metered(name)?;
        self.metrics.get(metric).copied()
    }

    /// Returns the unit that is busy longest, and its part of the time.
    pub fn busiest(&self) -> Option<(&'static str, f64)> {
        let busy = |(unit, _): &(&'static str, &str)| Some((*unit, self.busy(unit)?));
        UNITS.iter().filter_map(busy).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns the unit that binds. `None` where all are idle most of the time.
    pub fn binds(&self) -> Option<&'static str> {
        let (unit, percent) = self.busiest()?;
        (percent >= 100.0 * BINDS).then_some(unit)
    }

    /// Returns whether Nsight's busiest unit is among ours; an empty list stands for waiting.
    pub fn agrees(&self, ours: &[&str]) -> bool {
        match self.binds() {
            Some(unit) => ours.iter().any(|name| metered(name).is_some_and(|(metered, _)| metered == unit)),
            None => ours.is_empty(),
        }
    }

    /// Returns stall reasons by Nsight's names, and their parts of all warps that wait or issue, the longest first.
    pub fn stalls(&self) -> Vec<(&str, f64)> {
        let metrics = self.metrics.iter();
        let mut all: Vec<(&str, f64)> = metrics
            .filter_map(|(metric, warps)| {
                let name = metric.strip_prefix("smsp__average_warps_issue_stalled_")?;
                Some((name.strip_suffix("_per_issue_active.ratio")?, *warps))
            })
            .collect();
        let sum: f64 = all.iter().map(|(_, warps)| warps).sum();
        all.iter_mut().for_each(|(_, warps)| *warps /= sum);
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }
}

impl BusiestRecord {
    pub fn load(path: &Path) -> Result<Self, RecordError> {
        load_json(path, SCHEMA, |found: &Self| found.schema)
    }
}

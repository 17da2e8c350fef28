//! Peak rates of a device's arithmetic units, as measured by `steps/v12/examples/ceilings.rs`:
//! `book/data/h200-ceilings.json`.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{record_file::json_lines, run::Run};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Device, date and revision, with the bandwidth of device memory in its roofline.
    pub run: Run,
    pub n_sms: usize,
    pub l2: L2,
    pub ceilings: Vec<Ceiling>,
}

/// Bandwidth from L2 to all multiprocessors together, in a burst.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct L2 {
    /// Measured device, which may differ from that of the instructions.
    pub device: String,
    pub date: String,
    /// GB/s where each block reads bytes that no other reads.
    pub own_gbs: f64,
    /// GB/s where all read the same bytes at a time: requests are merged before they reach L2.
    pub same_gbs: f64,
}

/// Rate of a kernel that repeats one instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The instruction, such as `mma.sync.m16n8k16`.
    pub instruction: String,
    /// Type of the elements of A and B: `fp32`, `tf32`, `bf16` or `e4m3`.
    pub numbers: String,
    /// Whether all elements are zero; otherwise they are random.
    pub zeros: bool,
    pub warps: u32,
    /// Launches of some milliseconds, with pauses.
    pub burst: Rate,
    /// One launch long enough to reach the power limit.
    pub sustained: Rate,
}

/// Medians of some launches, and the launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// 10¹² operations per second; a multiply-add is two.
    pub tflops: f64,
    /// Clock of the multiprocessors as read by the kernel.
    pub ghz: f64,
    /// Clocks per instruction on a quarter of a multiprocessor; a wgmma occupies all four.
    pub clocks: f64,
    pub samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Milliseconds, by the device's events.
    pub ms: f64,
    /// Clock of the multiprocessors, the median over the blocks.
    pub ghz: f64,
}

impl Ceilings {
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns JSON with one line per ceiling, so that diffs are readable.
    pub fn text(&self) -> String {
        // Strings, numbers and lists always serialise.
        format!(
            "{{\"run\":{},\n\"n_sms\":{},\n\"l2\":{},\n\"ceilings\":[\n{}\n]}}\n",
            serde_json::to_string(&self.run).expect("plain data"),
            self.n_sms,
            serde_json::to_string(&self.l2).expect("plain data"),
            json_lines(&self.ceilings)
        )
    }

    /// Returns the fastest instruction with this prefix and element type, on random numbers.
    pub fn best(&self, instruction: &str, numbers: &str) -> Option<&Ceiling> {
        let matches = |ceiling: &&Ceiling| {
            ceiling.instruction.starts_with(instruction) && ceiling.numbers == numbers && !ceiling.zeros
        };
        let faster = |a: &&Ceiling, b: &&Ceiling| a.burst.tflops.total_cmp(&b.burst.tflops);
        self.ceilings.iter().filter(matches).max_by(faster)
    }

    /// Returns the arithmetic intensity that a kernel needs to reach a rate, in operations per byte of device memory;
    /// `None` where the bandwidth was not measured.
    pub fn per_byte(&self, tflops: f64) -> Option<f64> {
        Some(tflops * 1e3 / self.run.roofline?.copy_gbs)
    }

    /// Returns the arithmetic intensity per byte from L2 that no other multiprocessor reads at the time.
    pub fn per_l2_byte(&self, tflops: f64) -> f64 {
        tflops * 1e3 / self.l2.own_gbs
    }
}

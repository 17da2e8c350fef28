//! What the emulated device counted, put into proportion: per multiply-add, and beside the rates of a real SM.
//!
//! Counts divided by rates give a bound, not a simulation: no latency, no dependency, no cache. What a kernel needs
//! most of is what it cannot be faster than; how near it comes is for a GPU to say.

use catalog::{Format, Work};
use serde_json::{Map, Value};

/// Counters of a launch, or of one source line of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counters {
    /// Multiply-adds of lanes.
    pub fmas: f64,
    /// Multiply-adds of tensor cores.
    pub tensor_products: f64,
    /// Passes over shared memory that products of warpgroups need at least for their factors.
    pub operand_passes: f64,
    /// Instructions issued to warps: of the machine code, or of the PTX where there is none.
    pub instructions: f64,
    /// 32-byte sectors of loads from global memory.
    pub load_sectors: f64,
    /// 32-byte sectors of stores to global memory.
    pub store_sectors: f64,
    /// Requests that these belong to.
    pub global_requests: f64,
    /// Wavefronts of shared memory, as merged by ptxas.
    pub wavefronts: f64,
    /// The least that these accesses could take.
    pub ideal: f64,
    /// Wavefronts of shared memory, as written.
    pub wavefronts_as_written: f64,
    /// Barriers that warps arrived at.
    pub barriers: f64,
    /// Bulk copies: what they move is not counted.
    pub bulk_copies: f64,
}

/// Threads of a warp.
const WARP: f64 = 32.0;
/// Bytes of a sector.
pub const SECTOR: f64 = 32.0;

impl Counters {
    /// Reads the counters from the report's JSON object.
    pub fn of(object: &Map<String, Value>) -> Self {
        let n = |name: &str| object.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        Self {
            fmas: n("fmas"),
            tensor_products: n("tensor_products"),
            operand_passes: n("tensor_operand_wavefronts"),
            instructions: n("warp_instructions"),
            load_sectors: n("global_load_sectors"),
            store_sectors: n("global_store_sectors"),
            global_requests: n("global_load_requests") + n("global_store_requests"),
            wavefronts: n("shared_load_wavefronts_merged")
                + n("shared_store_wavefronts_merged")
                + n("async_copy_wavefronts"),
            ideal: n("shared_load_ideal_merged") + n("shared_store_ideal_merged") + n("async_copy_ideal"),
            wavefronts_as_written: n("shared_load_wavefronts")
                + n("shared_store_wavefronts")
                + n("async_copy_wavefronts"),
            barriers: n("barriers"),
            bulk_copies: n("bulk_copies"),
        }
    }

    /// Sectors of loads and stores.
    pub fn sectors(&self) -> f64 {
        self.load_sectors + self.store_sectors
    }

    /// Wavefronts that a better layout would save.
    pub fn excess(&self) -> f64 {
        (self.wavefronts - self.ideal).max(0.0)
    }

    /// Multiply-adds of the kind that makes up the product.
    pub fn multiply_adds(&self, of: Arithmetic) -> f64 {
        match of {
            Arithmetic::Fp32 | Arithmetic::Fp64 => self.fmas,
            Arithmetic::Tensor(_) => self.tensor_products,
        }
    }

    /// How often as many are done as [`Arithmetic::at_a_time`] says.
    pub fn times(&self, of: Arithmetic) -> f64 {
        self.multiply_adds(of) / of.at_a_time()
    }

    /// Clocks that each unit of an SM needs for this at least, whichever SM does it.
    pub fn clocks(&self, of: Arithmetic) -> [(Unit, f64); 4] {
        [
            (of.unit(), self.times(of) / of.per_clock()),
            (Unit::Issue, self.instructions / ISSUES),
            (Unit::Shared, (self.wavefronts + self.operand_passes) / WAVEFRONTS),
            (Unit::L1, self.global_requests.max(self.sectors() / SECTORS)),
        ]
    }
}

/// What a product is computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// Multiply-adds of FP32.
    Fp32,
    /// Multiply-adds of FP64.
    Fp64,
    /// Tensor cores, on operands of a format.
    Tensor(Format),
}

impl Arithmetic {
    /// What a kernel of this work is for.
    pub fn of(work: Work) -> Self {
        match work {
            Work::Dgemm => Arithmetic::Fp64,
            Work::Tensor { operands, .. } => Arithmetic::Tensor(operands),
            Work::Cpu | Work::Sgemm | Work::SgemmTransposed { .. } | Work::Transpose | Work::Cublas => {
                Arithmetic::Fp32
            }
        }
    }

    /// Multiply-adds that tables count by: of a warp, or of one `mma.sync` on bf16.
    pub fn at_a_time(self) -> f64 {
        match self {
            Arithmetic::Fp32 | Arithmetic::Fp64 => WARP,
            Arithmetic::Tensor(_) => TENSOR_PRODUCT,
        }
    }

    /// Multiply-adds that stand for one of the product.
    pub fn for_one(self) -> f64 {
        match self {
            Arithmetic::Tensor(Format::Fp32) => 3.0,
            _ => 1.0,
        }
    }

    /// How many of these an SM does per clock.
    fn per_clock(self) -> f64 {
        match self {
            Arithmetic::Fp32 => FP32_FMAS,
            Arithmetic::Fp64 => FP64_FMAS,
            Arithmetic::Tensor(Format::Bf16) => BF16_PRODUCTS,
            Arithmetic::Tensor(Format::E4m3) => E4M3_PRODUCTS,
            Arithmetic::Tensor(Format::Tf32 | Format::Fp32) => TF32_PRODUCTS,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Arithmetic::Fp32 | Arithmetic::Fp64 => Unit::Fma,
            Arithmetic::Tensor(_) => Unit::Tensor,
        }
    }
}

/// What an SM has, and how much of it per clock: NVIDIA's figures for compute capability 9.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 128 FP32 lanes, 64 FP64 lanes.
    Fma,
    /// Four tensor cores.
    Tensor,
    /// Four schedulers, an instruction each.
    Issue,
    /// 32 banks of four bytes.
    Shared,
    /// A request at least, and at most 128 bytes, from the first-level cache.
    L1,
}

/// Warp-wide FP32 multiply-adds per clock: 128 lanes.
pub const FP32_FMAS: f64 = 4.0;
/// Warp-wide FP64 multiply-adds per clock: 64 lanes.
pub const FP64_FMAS: f64 = 2.0;
/// Multiply-adds of `mma.sync.m16n8k16`.
const TENSOR_PRODUCT: f64 = 16.0 * 8.0 * 16.0;
/// So many of bf16 per clock: 4096 floating-point operations.
pub const BF16_PRODUCTS: f64 = 1.0;
/// And of TF32.
pub const TF32_PRODUCTS: f64 = 0.5;
/// And of e4m3, which only `wgmma` multiplies so fast.
pub const E4M3_PRODUCTS: f64 = 2.0;
/// Warp instructions that a multiprocessor issues per clock.
pub const ISSUES: f64 = 4.0;
/// Wavefronts of shared memory per clock.
pub const WAVEFRONTS: f64 = 1.0;
/// Sectors that L1 of a multiprocessor serves per clock.
pub const SECTORS: f64 = 4.0;

impl Unit {
    /// Name of the unit in a table.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Fma => "multiply-adds",
            Unit::Tensor => "tensor cores",
            Unit::Issue => "instruction issue",
            Unit::Shared => "shared memory",
            Unit::L1 => "L1",
        }
    }
}

/// The unit that is needed longest; among equals the first, so that arithmetic wins.
pub fn binding(clocks: impl IntoIterator<Item = (Unit, f64)>) -> Option<(Unit, f64)> {
    clocks
        .into_iter()
        .filter(|(_, n)| *n > 0.0)
        .fold(None, |best: Option<(Unit, f64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        })
}

/// One source line and its share.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Path of the file, such as `kernels/v05_….cu`.
    pub file: String,
    /// Number of the line, from 1.
    pub number: u32,
    /// Counters of this line alone.
    pub counters: Counters,
}

/// The lines of a report that keep an SM busy longest, longest first.
pub fn hottest(report: &Value, of: Arithmetic, n: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = report["lines"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|line| {
            Some(Line {
                file: line["file"].as_str()?.to_owned(),
                number: u32::try_from(line["line"].as_u64()?).ok()?,
                counters: Counters::of(line["counters"].as_object()?),
            })
        })
        .collect();
    let busy = |line: &Line| binding(line.counters.clocks(of)).map_or(0.0, |(_, clocks)| clocks);
    lines.sort_by(|a, b| busy(b).total_cmp(&busy(a)));
    lines.truncate(n);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(json: &str) -> Counters {
        Counters::of(&serde_json::from_str(json).expect("an object"))
    }

    #[test]
    fn a_warp_wide_multiply_add_is_32_of_a_lane() {
        assert_eq!(counters(r#"{"fmas": 320}"#).times(Arithmetic::Fp32), 10.0);
    }

    #[test]
    fn tensor_cores_are_counted_by_their_instruction() {
        // 64 of bf16: 64 clocks, twice as many of TF32, half of e4m3, and nothing of what other units do.
        let c = counters(r#"{"fmas": 320, "tensor_products": 131072, "warp_instructions": 100}"#);
        for (format, clocks) in [(Format::Bf16, 64.0), (Format::Tf32, 128.0), (Format::E4m3, 32.0)] {
            let of = Arithmetic::Tensor(format);
            assert_eq!(c.times(of), 64.0);
            assert_eq!(binding(c.clocks(of)), Some((Unit::Tensor, clocks)));
        }
    }

    #[test]
    fn what_takes_longest_binds() {
        // An uncoalesced product: 33 sectors for each multiply-add, at least a quarter of a clock each.
        let naive = counters(r#"{"fmas": 3200, "warp_instructions": 600, "global_load_sectors": 3300}"#);
        assert_eq!(binding(naive.clocks(Arithmetic::Fp32)), Some((Unit::L1, 825.0)));
        // Nothing but multiply-adds: arithmetic, not the issue of it.
        let dense = counters(r#"{"fmas": 3200, "warp_instructions": 100}"#);
        assert_eq!(binding(dense.clocks(Arithmetic::Fp32)), Some((Unit::Fma, 25.0)));
        assert_eq!(binding(counters("{}").clocks(Arithmetic::Fp32)), None);
    }

    #[test]
    fn merged_wavefronts_are_what_the_hardware_sees() {
        let text = r#"{"shared_load_wavefronts": 40, "shared_load_wavefronts_merged": 16,
            "shared_load_ideal_merged": 8, "shared_store_wavefronts": 4, "shared_store_wavefronts_merged": 4,
            "shared_store_ideal_merged": 4}"#;
        let c = counters(text);
        assert_eq!(
            (c.wavefronts, c.excess(), c.wavefronts_as_written),
            (20.0, 8.0, 44.0)
        );
    }

    #[test]
    fn hot_lines_come_first() {
        let report = serde_json::json!({"lines": [
            {"file": "a.cu", "line": 1, "counters": {"warp_instructions": 4}},
            {"file": "a.cu", "line": 2, "counters": {"warp_instructions": 4, "global_load_sectors": 400}},
        ]});
        let numbers: Vec<_> = hottest(&report, Arithmetic::Fp32, 5)
            .iter()
            .map(|line| line.number)
            .collect();
        assert_eq!(numbers, [2, 1]);
    }
}

//! Counters of the emulated GPU beside those of a real one: their pairs, measured values, and known differences.
//!
//! A [`ProfileRecord`] holds the output of Nsight Compute, one file per machine: `book/data/h200-counters.json`. A
//! [`Sheet`] has both sides of every launch on record, for the book and for readers.

mod sheet;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use counters::Counters;
use serde::{Deserialize, Serialize};

use crate::record_file::{RecordError, record_file};
use crate::run::Run;
use catalog::{shape::Shape, text::grouped};

pub use sheet::{PAGE, SHEET, Sheet};

pub const SCHEMA: u32 = 1;

/// Recorded shapes: a size that every tile divides, one of multiples of four that none does, and primes, smallest last.
pub const SHAPES: [Shape; 3] =
    [Shape::square(1024), Shape { m: 500, n: 516, k: 508 }, Shape { m: 509, n: 503, k: 499 }];

/// Counters of the emulated GPU and the metrics of Nsight Compute that stand for the same; several are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Name of the pair: the field of [`Counts`].
    pub name: &'static str,
    /// The counted quantity, with its unit.
    pub what: &'static str,
    /// Fields of the emulated GPU's counters.
    pub ours: &'static [&'static str],
    /// Names of Nsight Compute's metrics, which are added.
    pub metrics: &'static [&'static str],
}

/// Declares [`PAIRS`] and [`Counts`], which has a field for each.
macro_rules! pairs {
    ($($name:ident: $what:literal, [$($ours:ident),+], [$($as_written:ident),+], $metrics:expr;)*) => {
        /// All of them, in the order of the tables.
        pub const PAIRS: &[Pair] = &[$(Pair {
            name: stringify!($name),
            what: $what,
            ours: &[$(stringify!($ours)),+],
            metrics: &$metrics,
        }),*];

        /// One launch as one side counted it: a number for each of [`PAIRS`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Counts {
            $(#[doc = concat!("Number of ", $what, ".")] pub $name: u64,)*
        }

        impl Counts {
            /// Returns the numbers in the order of [`PAIRS`].
            pub const fn in_order(&self) -> [u64; PAIRS.len()] {
                [$(self.$name),*]
            }

            /// Returns the number of a [`Pair::name`].
            pub fn get(&self, name: &str) -> Option<u64> {
                let at = PAIRS.iter().position(|pair| pair.name == name)?;
                Some(self.in_order()[at])
            }

            /// Counts of the emulated GPU, neighbouring accesses merged as ptxas merges them.
            pub fn emulated(counters: &Counters) -> Self {
                Self { $($name: [$(counters.$ours),+].iter().sum(),)* }
            }

            /// Counts of the emulated GPU before neighbouring accesses are merged.
            pub fn as_written(counters: &Counters) -> Self {
                Self { $($name: [$(counters.$as_written),+].iter().sum(),)* }
            }

            /// Returns the sums of a profile's metrics. `None` where one is missing.
            fn measured(metrics: &BTreeMap<String, u64>) -> Option<Self> {
                let sum = |names: &[&str]| -> Option<u64> {
                    names.iter().map(|name| metrics.get(*name).copied()).sum()
                };
                Some(Self { $($name: sum(&$metrics)?,)* })
            }
        }
    };
}

pairs! {
    warp_instructions: "instructions issued to warps",
        [warp_instructions], [warp_instructions],
        ["smsp__inst_executed.sum"];
    thread_instructions: "instructions issued to lanes",
        [thread_instructions], [thread_instructions],
        ["smsp__thread_inst_executed.sum"];
    fmas: "multiply-adds of lanes",
        [fmas], [fmas],
        ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
         "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"];
    global_load_requests: "loads of warps from global memory",
        [global_load_requests], [global_load_requests],
        ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"];
    global_load_sectors: "sectors of 32 bytes that these loads touch",
        [global_load_sectors], [global_load_sectors],
        ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
    global_store_requests: "stores of warps to global memory",
        [global_store_requests], [global_store_requests],
        ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"];
    global_store_sectors: "sectors of 32 bytes that these stores touch",
        [global_store_sectors], [global_store_sectors],
        ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"];
    shared_load_requests: "loads of warps from shared memory",
        [shared_load_requests_merged], [shared_load_requests],
        ["smsp__inst_executed_op_shared_ld.sum"];
    shared_load_wavefronts: "passes over the banks that these loads take",
        [shared_load_wavefronts_merged], [shared_load_wavefronts],
        ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"];
    shared_store_requests: "stores of warps to shared memory",
        [shared_store_requests_merged], [shared_store_requests],
        ["smsp__inst_executed_op_shared_st.sum"];
    shared_store_wavefronts: "passes over the banks that these stores take",
        [shared_store_wavefronts_merged], [shared_store_wavefronts],
        ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"];
    // The terms of `Counters::wavefronts` and `Counters::ideal`, which the test `sums_are_the_derived_metrics`
    // compares; listed again, as a pair has a second list for accesses before they are merged.
    shared_wavefronts: "passes over the banks that all accesses to shared memory take",
        [shared_load_wavefronts_merged, shared_store_wavefronts_merged,
         shared_atomic_wavefronts, async_copy_wavefronts, tensor_operand_wavefronts],
        [shared_load_wavefronts, shared_store_wavefronts,
         shared_atomic_wavefronts, async_copy_wavefronts, tensor_operand_wavefronts],
        ["memory_l1_wavefronts_shared"];
    shared_ideal: "passes that would be enough for these accesses",
        [shared_load_ideal_merged, shared_store_ideal_merged, shared_atomic_ideal, async_copy_ideal,
         tensor_operand_wavefronts],
        [shared_load_ideal, shared_store_ideal, shared_atomic_ideal, async_copy_ideal,
         tensor_operand_wavefronts],
        ["memory_l1_wavefronts_shared_ideal"];
}

/// A reason why a counter of a kernel differs from Nsight Compute's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// Names of entry points.
    pub kernels: &'static [&'static str],
    /// Names of the counters: [`Pair::name`].
    pub counters: &'static [&'static str],
    pub why: &'static str,
}

/// Counters that are of different things, in every kernel.
pub const OF_DIFFERENT_THINGS: Reason = Reason {
    kernels: &[],
    counters: &["warp_instructions", "thread_instructions"],
    why: "ours are PTX instructions, Nsight's are machine instructions",
};

const NOT_EXPLAINED: &str = "not explained: equal where all copies bring something; at edges some bring zeros only";
const PREDICATE: &str = "ptxas turns the branch around the access into a predicate; a warp that lies outside of the matrix \
                         issues it with no lane on, and Nsight counts what is issued (such an access has no wavefronts)";
const GENERIC: &str = "Nsight counts no request to shared memory for an access through a generic address (`wmma.load` and `wmma.store` of \
                       a pointer); its wavefronts are counted";
const MATRICES: &str = "Nsight has `ldmatrix` and `stmatrix` in counters of their own, not among loads and stores; all \
                        wavefronts together have them";
const MATRICES_AND_PREDICATE: &str = "Nsight has `ldmatrix` in a counter of its own; at edges ptxas turns branches into \
                                      predicates, and a warp issues loads with no lane on";
const UNROLLED: &str = "NVRTC unrolls the loading loops by 4, and ptxas unrolls them again, to 16, 8 and 4 trips; where K \
                        is no multiple of 16, lanes of one warp differ by a trip, part, and issue 12 instructions more in \
                        copies of their own";

/// Kernels of v10 that keep bf16 in shared memory; those that keep TF32 there; v12's with `mma.sync`.
const BF16_SHARED: &[&str] =
    &["bf16gemm_v10_shared", "bf16gemm_v10_large_warps", "bf16gemm_v10_ahead", "bf16gemm_v10_parts"];
const TF32_SHARED: &[&str] = &[
    "tf32gemm_v10_shared",
    "tf32gemm_v10_large_warps",
    "tf32gemm_v10_ahead",
    "tf32gemm_v10_parts",
    "sgemm_v10_three_tf32",
];
const MMA_RING: &[&str] = &["gemm_v12_mma_ring_f32", "gemm_v12_mma_ring_bf16"];

/// Rows of kernels, their counters, and the reason why these differ.
macro_rules! reasons {
    ($($kernels:expr, $counters:expr, $why:expr;)*) => {
        &[$(Reason { kernels: $kernels, counters: $counters, why: $why }),*]
    };
}

/// All other differences. A test compares this list with the records: each difference has one reason.
pub const REASONS: &[Reason] = reasons! {
    &["transpose_tile", "transpose_padded", "transpose_swizzled"], &["shared_store_requests"], PREDICATE;
    &["transpose_rectangular"], &["shared_load_requests"], PREDICATE;
    &["sgemm_v02_strip"],
        &["global_load_requests", "shared_store_requests", "shared_store_wavefronts", "shared_wavefronts",
         "shared_ideal"],
        UNROLLED;
    &["sgemm_v11_slices_16x32", "sgemm_v11_slices_32x32", "sgemm_v11_async_copy"],
        &["shared_load_requests"],
        "before each group of copies to shared memory ptxas puts three loads from there that nobody uses (`LDS RZ`)";
    &["sgemm_v11_slices_32x32"],
        &["shared_store_requests"],
        "ptxas turns the branch that skips the rows of a slice's own into a predicate: a warp issues these stores with no thread on";
    &["sgemm_v11_slices_16x32", "sgemm_v11_slices_32x32"],
        &["global_load_sectors", "shared_wavefronts", "shared_ideal"], NOT_EXPLAINED;
    &["sgemm_v11_async_copy"], &["global_load_sectors", "shared_wavefronts"], NOT_EXPLAINED;
    &["bf16gemm_v10_wmma", "tf32gemm_v10_wmma"], &["shared_load_requests", "shared_store_requests"], GENERIC;
    BF16_SHARED, &["shared_store_requests"], GENERIC;
    TF32_SHARED, &["shared_store_requests"], GENERIC;
    TF32_SHARED, &["shared_load_requests"], PREDICATE;
    BF16_SHARED, &["shared_load_requests"], MATRICES_AND_PREDICATE;
    BF16_SHARED, &["shared_load_wavefronts"], MATRICES;
    MMA_RING, &["shared_load_wavefronts"], MATRICES;
    MMA_RING,
        &["shared_load_requests"],
        "Nsight has `ldmatrix` in a counter of its own; before groups of copies ptxas puts loads that nobody uses (`LDS RZ`)";
    &["gemm_v12_store_bf16", "gemm_v12_store_192_bf16", "gemm_v12_ping_pong_bf16",
     "gemm_v12_ping_pong_192_bf16", "gemm_v12_small_128x128_bf16", "gemm_v12_small_64x128_bf16",
     "gemm_v12_small_64x64_bf16", "gemm_v12_fp8_fast_bf16", "gemm_v12_fp8_bf16"],
        &["shared_store_requests", "shared_store_wavefronts"], MATRICES;
    &["sgemm_v11_split_k", "sgemm_v11_stream_k", "sgemm_v11_rescheduled"],
        &["global_load_requests", "global_load_sectors"],
        "how often a block looks at the flag of another depends on when they run";
};

/// Returns the known reason why this counter of this kernel differs, if any.
pub fn reason(kernel: &str, counter: &str) -> Option<&'static str> {
    let of = |reason: &&Reason| reason.counters.contains(&counter);
    if of(&&OF_DIFFERENT_THINGS) {
        return Some(OF_DIFFERENT_THINGS.why);
    }
    let mut known = REASONS.iter().filter(of);
    known.find(|reason| reason.kernels.contains(&kernel)).map(|reason| reason.why)
}

/// The counts that a profiler reported, one file per machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRecord {
    pub schema: u32,
    /// Sessions in which the kernels were profiled.
    pub runs: Vec<Profiler>,
    /// The profiles, ordered by kernel and shape.
    pub profiles: Vec<Profile>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profiler {
    /// Identity of the first process that was profiled.
    #[serde(flatten)]
    pub run: Run,
    /// Name and version of the profiler, such as `Nsight Compute 2025.3.1.0`.
    pub profiler: String,
    /// Version of the driver, whose assembler made machine code of the PTX: `580.159.04`.
    pub driver_version: String,
}

/// One launch as a profiler saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`Run::id`] of its [`Profiler`].
    pub run: String,
    pub step: String,
    pub kernel: String,
    pub shape: Shape,
    pub ptx_sha256: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// Values of Nsight Compute's metrics, by name.
    pub metrics: BTreeMap<String, u64>,
}

record_file!(ProfileRecord, profiles);

impl ProfileRecord {
    /// Adds profiles of one run to a file.
    pub fn merge_into(path: &Path, by: &Profiler, profiles: &[Profile]) -> Result<(), RecordError> {
        let add = |record: &mut Self| profiles.iter().for_each(|profile| record.add(by, profile.clone()));
        Self::change(&Self::default(), path, add)
    }

    /// Adds a profile in place of an older one of the same kernel and shape, and removes unreferenced runs.
    pub fn add(&mut self, by: &Profiler, profile: Profile) {
        if !self.runs.iter().any(|known| known.run.id == by.run.id) {
            self.runs.push(by.clone());
        }
        self.profiles.retain(|old| old.kernel != profile.kernel || old.shape != profile.shape);
        self.profiles.push(profile);
        self.profiles.sort_by_key(|profile| place(&profile.kernel, profile.shape));
        self.runs.retain(|run| self.profiles.iter().any(|profile| profile.run == run.run.id));
    }
}

/// Returns the kernels in the order of the ladder, shapes in the order of [`SHAPES`].
fn place(kernel: &str, shape: Shape) -> (usize, usize, Shape) {
    let mut kernels = catalog::STEPS.iter().flat_map(|step| step.kernels);
    let at = kernels.position(|known| known.name == kernel);
    let which = SHAPES.iter().position(|known| (known.m, known.n) == (shape.m, shape.n));
    (at.unwrap_or(usize::MAX), which.unwrap_or(usize::MAX), shape)
}

/// One launch, as the emulated GPU and as Nsight Compute counted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// The process that measured: [`Run::id`] of its [`Profiler`].
    pub run: String,
    pub step: String,
    pub kernel: String,
    pub shape: Shape,
    /// Counts of the emulated GPU, neighbouring accesses merged as ptxas merges them.
    pub emulated: Counts,
    /// Counts of the emulated GPU, accesses as the PTX has them.
    pub as_written: Counts,
    pub measured: Counts,
}

/// A pair of counters of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    pub pair: &'static Pair,
    /// Count of the emulated GPU.
    pub ours: u64,
    /// Count of the emulated GPU before accesses are merged, where it is another number.
    pub as_written: Option<u64>,
    /// Count of Nsight Compute.
    pub theirs: u64,
}

impl Profile {
    /// Returns one number for each pair. `None` where a metric is missing.
    pub fn counts(&self) -> Option<Counts> {
        Counts::measured(&self.metrics)
    }
}

impl Counted {
    /// Compares the emulated GPU's counters with a profile. `None` where a metric is missing.
    pub fn new(profile: &Profile, counters: &Counters) -> Option<Self> {
        Some(Self {
            run: profile.run.clone(),
            step: profile.step.clone(),
            kernel: profile.kernel.clone(),
            shape: profile.shape,
            emulated: Counts::emulated(counters),
            as_written: Counts::as_written(counters),
            measured: profile.counts()?,
        })
    }

    /// Returns all pairs that are not zero on both sides.
    pub fn compared(&self) -> Vec<Compared> {
        let sides = [&self.emulated, &self.as_written, &self.measured].map(Counts::in_order);
        let one = |(at, pair)| {
            let [ours, as_written, theirs] = sides.map(|side| side[at]);
            Compared { pair, ours, as_written: (as_written != ours).then_some(as_written), theirs }
        };
        let all = PAIRS.iter().enumerate().map(one);
        all.filter(|one| (one.ours, one.theirs) != (0, 0)).collect()
    }
}

impl Compared {
    /// Returns Nsight Compute's count less ours.
    pub fn difference(&self) -> i128 {
        i128::from(self.theirs) - i128::from(self.ours)
    }

    /// Returns the remark beside this pair: how accesses merge, and the reason for a difference.
    pub fn remark(&self, kernel: &str) -> String {
        let merged = self.as_written.map(|count| format!("as ptxas merges them; as written {}", grouped(count, " ")));
        let why = match self.difference() {
            0 => None,
            _ => Some(reason(kernel, self.pair.name).unwrap_or("no reason known")),
        };
        match (merged, why) {
            (Some(merged), Some(why)) => format!("{merged}; {why}"),
            (Some(merged), None) => merged,
            (None, why) => why.unwrap_or_default().to_owned(),
        }
    }

    /// Returns the cells of a row: counter, emulated, measured, difference, remark.
    pub fn cells(&self, kernel: &str) -> [String; 5] {
        let difference = match self.difference() {
            0 => "0".into(),
            n if n > 0 => format!("+{}", grouped(n, " ")),
            n => grouped(n, " "),
        };
        [self.pair.name.into(), grouped(self.ours, " "), grouped(self.theirs, " "), difference, self.remark(kernel)]
    }
}

//! Named measures over what the emulated GPU counted in one launch: what criteria and questions refer to.
//!
//! *Per multiply-add* means: per multiply-add of a warp (32 of a lane) that the result takes, M · N · K / 32 of them.
//! What a kernel computes beyond that does not dilute its traffic. Counts of shared memory are those after ptxas has
//! merged neighbouring accesses, unless a name says otherwise.

#[cfg(test)]
mod tests;

use catalog::Shape;
use counters::{Column, Counters, WARP};
use serde::{Deserialize, Serialize};

use crate::work::TaskWork;

/// Declares [`Measure`]: each row has the column of an explanation in which the measure is seen line by line, the works
/// that have it (`any`, or only a `product`), and its words for a sentence.
macro_rules! measures {
    (@is_of_products any) => { false };
    (@is_of_products product) => { true };
    ($($(#[$attribute:meta])* $name:ident: $column:ident, $works:ident, $words:literal;)*) => {
        /// A number that counters or a trace of a kernel give, for criteria and questions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Measure {
            $(#[doc = $words] $(#[$attribute])* $name,)*
        }

        impl Measure {
            /// Describes the measure for a sentence: `sectors of global loads per multiply-add of a warp`.
            pub fn description(self, bk: Option<usize>) -> String {
                let words = match self {
                    $(Self::$name => $words,)*
                };
                words.replace("{bk}", &bk.unwrap_or(1).to_string())
            }

            /// Returns the column of an explanation in which it is seen line by line.
            pub fn column(self) -> Column {
                match self {
                    $(Self::$name => Column::$column,)*
                }
            }

            /// Returns whether the measure has a meaning for a kernel that computes `work`.
            pub fn fits(self, work: TaskWork) -> bool {
                let is_of_products = match self {
                    $(Self::$name => measures!(@is_of_products $works),)*
                };
                !(is_of_products && work.is_transpose())
            }
        }
    };
}

measures! {
    LoadSectorsPerFma: Sectors, product, "sectors of global loads per multiply-add of a warp";
    GlobalLoadRequestsPerFma: Requests, product, "global loads per multiply-add of a warp";
    LoadSectorsPerElement: Sectors, any, "sectors of global loads per element of the result";
    StoreSectorsPerElement: Sectors, any, "sectors of global stores per element of the result";
    StoreRequestsPerElement: Requests, any, "global stores of a warp per 32 elements of the result";
    LoadEfficiency: Sectors, any, "share of the bytes in loaded sectors that lanes asked for";
    StoreEfficiency: Sectors, any, "share of the bytes in stored sectors that lanes wrote";
    WideGlobalBytes: Requests, any, "share of bytes loaded from global memory by 128-bit accesses";
    WideStoreBytes: Requests, any, "share of bytes stored to global memory by 128-bit accesses";
    WideSharedBytes: SharedRequests, any, "share of bytes loaded from shared memory by 128-bit accesses";
    BytesPerSharedLoad: SharedRequests, any, "bytes that a lane gets from a load from shared memory";
    SharedLoadRequestsPerFma: SharedRequests, product, "loads from shared memory per multiply-add of a warp";
    SharedLoadRequestsAsWrittenPerFma: SharedRequests, product,
        "loads from shared memory, as written, per multiply-add of a warp";
    SharedWordsPerFma: SharedRequests, product, "words that a lane loads from shared memory per multiply-add";
    FmasPerSharedLoad: SharedRequests, product, "multiply-adds of a warp per load from shared memory";
    FmasPerGlobalLoad: Requests, product, "multiply-adds of a warp per load from global memory";
    SharedWavefrontsPerFma: Wavefronts, product, "wavefronts of shared memory per multiply-add of a warp";
    WavefrontsPerSharedLoad: Wavefronts, any, "wavefronts per load from shared memory";
    WavefrontsPerSharedStore: Wavefronts, any, "wavefronts per store to shared memory";
    SharedExcessPerFma: Excess, product,
        "wavefronts of shared memory beyond the necessary ones, per multiply-add of a warp";
    SharedExcess: Excess, any, "wavefronts of shared memory beyond the necessary ones";
    /// These are loads, stores and asynchronous copies.
    SharedRequests: SharedRequests, any, "accesses of warps to shared memory";
    BarriersPerTile: Barriers, product, "barriers that a warp arrives at for {bk} steps of k";
    BarriersPerWarp: Barriers, any, "barriers that a warp arrives at";
    DivergentBranches: DivergentBranches, any, "branches at which lanes of a warp go different ways";
    LocalRequestsPerFma: LocalRequests, product, "accesses to local memory per multiply-add of a warp";
    FmasDone: MultiplyAdds, product, "multiply-adds done per one that the result takes";
    TensorFmas: Instructions, product, "multiply-adds done on tensor cores per one that the result takes";
    AsyncBytes: Requests, any, "share of bytes loaded from global memory by asynchronous copies";
    LoadAhead: Requests, product,
        "share of global loads that nothing waits for until half of a tile's multiply-adds are done";
}

/// The counted launch that a measure is taken of.
#[derive(Debug, Clone, Copy)]
pub struct CountedLaunch<'a> {
    pub total: &'a Counters,
    /// The text of each instruction and its counters; empty where nobody kept them.
    pub instructions: &'a [(&'a str, &'a Counters)],
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub work: TaskWork,
    pub shape: Shape,
    pub bk: Option<usize>,
    /// From the trace of a warp: see `judge::prefetch`.
    pub ahead: Option<f64>,
}

impl Measure {
    /// Returns whether a criterion must give `bk`.
    pub fn needs_depth(self) -> bool {
        matches!(self, Self::BarriersPerTile | Self::LoadAhead)
    }

    /// Returns whether the measure comes from the trace of a warp, and not from counters.
    pub fn needs_trace(self) -> bool {
        self == Self::LoadAhead
    }

    /// Returns whether the measure is of accesses to global or shared memory.
    fn counts_traffic(self) -> bool {
        match self.column() {
            Column::Sectors | Column::Requests | Column::SharedRequests | Column::Wavefronts | Column::Excess => true,
            _ => self == Self::LoadAhead,
        }
    }

    /// Returns why a launch may meet the limits without the idea behind them, after "the kernel has".
    ///
    /// "At most" is met by none at all: a kernel without shared memory has no bank conflict, and one that adds products
    /// apart from their multiplication does no multiply-add too many. A transpose may leave shared memory out, because
    /// shuffles can coalesce both sides.
    pub fn not_applicable(self, taken: &CountedLaunch<'_>) -> Option<&'static str> {
        /// One barrier for four tiles: a solution may bring in several at once.
        const BARRIERS: f64 = 0.25;
        /// The first product of a sum may be a multiplication.
        const FMAS: f64 = 0.9;
        let is_below = |least: f64| self.value(taken).is_none_or(|value| value < least);
        if taken.total.bulk_copies > 0 && self.counts_traffic() {
            return Some("bulk copies, whose bytes nothing counts");
        }
        match self {
            Self::SharedExcessPerFma
            | Self::SharedWavefrontsPerFma
            | Self::SharedWordsPerFma
            | Self::SharedLoadRequestsPerFma
            | Self::SharedLoadRequestsAsWrittenPerFma => {
                (taken.total.shared_requests() == 0).then_some("no access to shared memory")
            }
            Self::BarriersPerTile => is_below(BARRIERS).then_some("fewer barriers than one for four tiles"),
            Self::FmasDone => is_below(FMAS).then_some("fewer multiply-adds than the result takes"),
            _ => None,
        }
    }

    /// Returns the value; `None` where the launch has nothing that it could be taken of: a share of no bytes, for
    /// example.
    ///
    /// An atomic reads and writes, so it counts as a load and as a store: a kernel could move everything by atomics
    /// that change nothing. Each of its lanes is taken for a word, because no counter has the bytes of atomics.
    pub fn value(self, taken: &CountedLaunch<'_>) -> Option<f64> {
        let CountedLaunch { total: c, work, shape, .. } = *taken;
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        let fmas = work.fmas(shape) / WARP;
        let elements = work.elements(shape);
        let per_fma = |n: u64| ratio(n as f64, fmas);
        let per_element = |n: u64| ratio(n as f64, elements);
        let fmas_per = |n: u64| ratio(fmas, n as f64);
        let per_warp = || {
            let product = |sizes: [u32; 3]| sizes.iter().map(|n| f64::from(*n)).product::<f64>();
            let warps = product(taken.grid) * (product(taken.block) / WARP).ceil();
            ratio(c.barriers as f64, warps)
        };
        let loaded_sectors = c.global_load_sectors + c.global_atomic_sectors;
        let global_loads = c.global_load_requests + c.global_atomic_requests;
        let shared_loads = c.shared_load_requests_merged + c.shared_atomic_requests_merged;
        match self {
            Self::LoadSectorsPerFma => per_fma(loaded_sectors),
            Self::GlobalLoadRequestsPerFma => per_fma(global_loads),
            Self::LoadSectorsPerElement => per_element(loaded_sectors),
            Self::StoreSectorsPerElement => per_element(c.global_store_sectors + c.global_atomic_sectors),
            Self::StoreRequestsPerElement => {
                ratio((c.global_store_requests + c.global_atomic_requests) as f64, elements / WARP)
            }
            Self::LoadEfficiency => c.load_efficiency(),
            Self::StoreEfficiency => c.store_efficiency(),
            Self::WideGlobalBytes => wide(taken, "ld.global", |c| c.global_load_bytes, |c| c.global_atomic_requests),
            Self::WideStoreBytes => wide(taken, "st.global", |c| c.global_store_bytes, |c| c.global_atomic_requests),
            Self::WideSharedBytes => wide(taken, "ld.shared", |c| c.shared_load_bytes, |c| c.shared_atomic_requests),
            Self::BytesPerSharedLoad => ratio(c.shared_load_bytes as f64, c.shared_load_requests_merged as f64 * WARP),
            Self::SharedLoadRequestsPerFma => per_fma(shared_loads),
            Self::SharedLoadRequestsAsWrittenPerFma => per_fma(c.shared_load_requests + c.shared_atomic_requests),
            Self::SharedWordsPerFma => {
                let words = c.shared_load_bytes as f64 / WORD + c.shared_atomic_requests as f64 * WARP;
                ratio(words, fmas * WARP)
            }
            Self::FmasPerSharedLoad => fmas_per(shared_loads),
            Self::FmasPerGlobalLoad => fmas_per(global_loads),
            Self::SharedWavefrontsPerFma => per_fma(c.wavefronts()),
            Self::WavefrontsPerSharedLoad => c.wavefronts_per_load(),
            Self::WavefrontsPerSharedStore => c.wavefronts_per_store(),
            Self::SharedExcessPerFma => per_fma(c.excess()),
            Self::SharedExcess => Some(c.excess() as f64),
            Self::SharedRequests => Some(c.shared_requests() as f64),
            Self::BarriersPerTile => {
                let steps = shape.k.div_ceil(taken.bk?.max(1));
                ratio(per_warp()?, steps as f64)
            }
            Self::BarriersPerWarp => per_warp(),
            Self::DivergentBranches => Some(c.divergent_branches as f64),
            Self::LocalRequestsPerFma => per_fma(c.local_requests),
            Self::FmasDone => ratio(c.fmas as f64 / WARP, fmas),
            Self::TensorFmas => ratio(c.tensor_products as f64 / WARP, fmas),
            Self::AsyncBytes => {
                let all = c.global_load_bytes + c.global_atomic_requests * ATOMIC_BYTES;
                ratio(c.async_copy_bytes as f64, all as f64)
            }
            Self::LoadAhead => taken.ahead,
        }
    }
}

const WORD: f64 = 4.0;
const ATOMIC_BYTES: u64 = 32 * 4;
/// Bytes of the widest access of a lane.
const WIDEST: u32 = 16;

/// Returns the share of the bytes that instructions of a kind move in accesses of 128 bits. Asynchronous copies are
/// global loads.
fn wide(
    taken: &CountedLaunch<'_>, kind: &str, bytes: fn(&Counters) -> u64, atomics: fn(&Counters) -> u64,
) -> Option<f64> {
    let (mut all, mut wide) = (0, 0);
    for (text, counters) in taken.instructions {
        all += atomics(counters) * ATOMIC_BYTES;
        let bytes = bytes(counters);
        let operation = opcode(text);
        let is_copy = kind == "ld.global" && operation.starts_with("cp.async.");
        // A generic address has no space in its name; the counter says where it led.
        let is_kind = operation.starts_with(&kind[..3]) || is_copy;
        if bytes == 0 || !is_kind {
            continue;
        }
        all += bytes;
        let width = if is_copy { copied_bytes(text) } else { access_bytes(operation) };
        if width == Some(WIDEST) {
            wide += bytes;
        }
    }
    (all > 0).then(|| wide as f64 / all as f64)
}

/// Returns the opcode: `ld.global.nc.v4.f32` of `@%p1 ld.global.nc.v4.f32 {…}, […];`.
fn opcode(text: &str) -> &str {
    let text = text.trim_start();
    let text = match text.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
        None => text,
    };
    text.trim_start().split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default()
}

/// Returns the bytes that a load or store moves for each lane: of its type, times the length of its vector.
fn access_bytes(operation: &str) -> Option<u32> {
    let mut length = 1;
    for part in operation.split('.').skip(1) {
        match part {
            "v2" => length = 2,
            "v4" => length = 4,
            "v8" => length = 8,
            _ => {
                let is_type = part.starts_with(['b', 'u', 's', 'f']);
                if let Some(bits) = part.get(1..).and_then(|bits| bits.parse::<u32>().ok())
                    && is_type
                {
                    return Some(length * bits / 8);
                }
            }
        }
    }
    None
}

/// Returns the bytes that an asynchronous copy moves: 16 of `cp.async.cg.shared.global [%r1], [%rd1], 16;`.
fn copied_bytes(text: &str) -> Option<u32> {
    let after = text.rsplit_once("], ")?.1;
    after.split([',', ';']).next()?.trim().parse().ok()
}

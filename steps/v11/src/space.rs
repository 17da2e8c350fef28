//! All plans that the kernel's constants allow, and why the others cannot be.
//!
//! `kernels/v11_plan.cuh` makes a kernel from the constants of a plan. Most combinations of constants make none:
//! [`check_plan`] returns the rule that they break, from what the kernel asserts and what a multiprocessor has.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::plans::{Plan, Source};

const BM: [u32; 5] = [16, 32, 64, 128, 256];
const BN: [u32; 4] = [32, 64, 128, 256];
const BK: [u32; 2] = [16, 32];
const TM: [u32; 3] = [4, 8, 16];
const TN: [u32; 3] = [4, 8, 16];
const SLICES: [u32; 3] = [1, 2, 4];
const STAGES: [u32; 5] = [3, 4, 5, 6, 8];
const BLOCKS: [u32; 4] = [1, 2, 3, 4];
/// Copies and producer threads: one warp, or a warpgroup that gives registers to the consumers.
const CREWS: [(Source, u32); 4] =
    [(Source::Boxes, 32), (Source::Boxes, GROUP), (Source::Words, GROUP), (Source::Threads, 0)];

/// Threads of a warpgroup, which `setmaxnreg` is for.
const GROUP: u32 = 128;
const WARP: u32 = 32;
const WIDTH: u32 = 4;

/// Registers of a multiprocessor of compute capability 9.0, and limits of a thread and a block.
const REGISTERS: u32 = 65_536;
const MAX_REGISTERS: u32 = 255;
const MAX_THREADS: u32 = 1024;
const SHARED: u32 = 228 << 10;
const SHARED_OF_BLOCK: u32 = 227 << 10;
const RESERVED: u32 = 1 << 10;
const SCHEDULERS: u32 = 4;
/// Elements of C for which each of 160 multiprocessors has a place in `given_sums` of `v11_schedule.cuh`.
const MAX_SUMS: u32 = 8192 * WIDTH;

/// The rule that a plan breaks: its constants make no kernel, or none that could be fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Illegal {
    #[error("the tile is not made of whole warps, which have {0}x{1} of it")]
    Warps(u32, u32),
    /// The accumulators of slices are shared out by rows.
    #[error("{0} rows of a thread are not shared out evenly among {1} slices")]
    Rows(u32, u32),
    /// The fragments of A alternate.
    #[error("a slice has {0} k of each pair of tiles, and takes 8 at a time")]
    Chunks(u32),
    #[error("a block of {0} threads; at most {MAX_THREADS} are possible")]
    Threads(u32),
    #[error("warps that multiply on a multiprocessor: {0}, fewer than its {SCHEDULERS} schedulers")]
    Idle(u32),
    /// `setmaxnreg` is for whole warpgroups.
    #[error("{0} threads take registers, which only warpgroups of {GROUP} can")]
    Warpgroups(u32),
    #[error("tiles of {0} and {1} float4s are not shared out evenly among {2} threads")]
    Copies(u32, u32, u32),
    /// The producers copy whole rows at a time.
    #[error("128 producers do not copy whole rows of tiles {0}x{1} and {1}x{2}")]
    Words(u32, u32, u32),
    #[error("{stages} pairs of tiles take {kib} KiB of shared memory on a multiprocessor, which has {}", SHARED >> 10)]
    Shared { stages: u32, kib: u32 },
    /// The sums of shared tiles wait in an array of the module.
    #[error(
        "a multiprocessor has {0} elements of C in work; {MAX_SUMS} have a place where shared tiles wait"
    )]
    Sums(u32),
    #[error("a thread needs more than {needed} registers; {there} are there")]
    Registers { needed: u32, there: u32 },
}

impl Illegal {
    pub fn rule(self) -> &'static str {
        match self {
            Self::Warps(..) => "tiles without whole warps",
            Self::Rows(..) => "rows that slices cannot share",
            Self::Chunks(_) => "slices of too few k",
            Self::Threads(_) => "too many threads",
            Self::Idle(_) => "schedulers without a warp",
            Self::Warpgroups(_) => "parts of warpgroups that take registers",
            Self::Copies(..) | Self::Words(..) => "tiles that cannot be copied evenly",
            Self::Shared { .. } => "too much shared memory",
            Self::Sums(_) => "no place for sums of shared tiles",
            Self::Registers { .. } => "too many registers",
        }
    }
}

impl Plan {
    /// Returns the registers of a consumer thread, and those of a producer thread where they differ.
    pub fn registers(&self) -> (u32, Option<u32>) {
        // The scheduler with the most warps decides. Registers are allocated in multiples of eight for a thread.
        let warps = (self.blocks * self.threads().div_ceil(WARP)).div_ceil(SCHEDULERS);
        let each = REGISTERS / SCHEDULERS / warps / WARP / 8 * 8;
        if self.producers != GROUP {
            return (each.min(MAX_REGISTERS), None);
        }
        let theirs = match self.source {
            Source::Boxes => 24,
            _ => 40,
        };
        let left = (each * self.threads()).saturating_sub(theirs * self.producers);
        ((left / self.consumers() / 8 * 8).min(MAX_REGISTERS / 16 * 16), Some(theirs))
    }
}

// ANCHOR: legal
/// Fails unless these constants make a kernel.
pub fn check_plan(plan: &Plan) -> Result<(), Illegal> {
    let Plan { tile: [bm, bn, bk], thread: [tm, tn], slices, stages, blocks, .. } = *plan;
    let check = |is_kept: bool, broken: Illegal| if is_kept { Ok(()) } else { Err(broken) };
    let (warp_m, warp_n) = (4 * tm, 8 * tn);
    check(bm.is_multiple_of(warp_m) && bn.is_multiple_of(warp_n), Illegal::Warps(warp_m, warp_n))?;
    check(tm.is_multiple_of(slices), Illegal::Rows(tm, slices))?;
    let of_slice = bk / slices;
    check(of_slice.is_multiple_of(2 * WIDTH), Illegal::Chunks(of_slice))?;
    let (consumers, threads) = (plan.consumers(), plan.threads());
    check(threads <= MAX_THREADS, Illegal::Threads(threads))?;
    let warps = blocks * consumers / WARP;
    check(warps >= SCHEDULERS, Illegal::Idle(warps))?;
    if plan.producers == GROUP {
        check(consumers.is_multiple_of(GROUP), Illegal::Warpgroups(consumers))?;
    }
    let (a, b) = (bm * bk / WIDTH, bk * bn / WIDTH);
    match plan.source {
        Source::Boxes => {}
        Source::Words => check(
            bn <= GROUP && bm.is_multiple_of(GROUP / bk) && bk.is_multiple_of(GROUP / bn),
            Illegal::Words(bm, bk, bn),
        )?,
        Source::Threads => {
            check(a.is_multiple_of(threads) && b.is_multiple_of(threads), Illegal::Copies(a, b, threads))?
        }
    }
    let (shared, kib) = (plan.shared(), blocks * (plan.shared() + RESERVED) / 1024);
    check(
        shared <= SHARED_OF_BLOCK && blocks * (shared + RESERVED) <= SHARED,
        Illegal::Shared { stages, kib },
    )?;
    if plan.source != Source::Threads {
        let sums = blocks * bm * bn;
        check(sums <= MAX_SUMS, Illegal::Sums(sums))?;
    }
    // Accumulators, and two fragments each of A and of B. The compiler needs more, which is not known here.
    let needed = tm * tn + 2 * WIDTH * tm + 2 * tn;
    let (there, _) = plan.registers();
    check(needed < there, Illegal::Registers { needed, there })
}
// ANCHOR_END: legal

#[derive(Debug, Clone, Default)]
pub struct Space {
    pub legal: Vec<Plan>,
    /// Number of plans that broke each rule first.
    pub illegal: BTreeMap<&'static str, usize>,
}

impl Space {
    pub fn whole() -> Self {
        let mut space = Self::default();
        for (source, producers) in CREWS {
            for tile in product3(&BM, &BN, &BK) {
                for [tm, tn, slices] in product3(&TM, &TN, &SLICES) {
                    for (stages, blocks) in STAGES.iter().flat_map(|s| BLOCKS.map(|b| (*s, b))) {
                        let plan = Plan {
                            entry: entry(source),
                            source,
                            tile,
                            thread: [tm, tn],
                            slices,
                            stages,
                            producers,
                            blocks,
                        };
                        match check_plan(&plan) {
                            Ok(()) => space.legal.push(plan),
                            Err(broken) => *space.illegal.entry(broken.rule()).or_default() += 1,
                        }
                    }
                }
            }
        }
        space
    }

    pub fn n(&self) -> usize {
        self.legal.len() + self.illegal.values().sum::<usize>()
    }

    /// Keeps, of plans that differ only in depth of the ring, the deepest: shared memory costs no other block.
    pub fn deepest(&self) -> Vec<Plan> {
        let mut deepest: BTreeMap<String, Plan> = BTreeMap::new();
        for plan in &self.legal {
            let of_ring = deepest.entry(name(&Plan { stages: 0, ..*plan })).or_insert(*plan);
            if plan.stages > of_ring.stages {
                *of_ring = *plan;
            }
        }
        deepest.into_values().collect()
    }
}

fn product3(a: &'static [u32], b: &'static [u32], c: &'static [u32]) -> impl Iterator<Item = [u32; 3]> {
    a.iter().flat_map(move |&a| b.iter().flat_map(move |&b| c.iter().map(move |&c| [a, b, c])))
}

/// Returns the entry point that `kernels/v11_plan.cuh` gives to a kernel called `candidate`.
const fn entry(source: Source) -> &'static str {
    match source {
        Source::Boxes => "sgemm_v11_boxes_candidate",
        Source::Words => "sgemm_v11_words_candidate",
        Source::Threads => "sgemm_v11_threads_candidate",
    }
}

/// Returns the name of a plan by all its constants: `boxes_64x128x32_8x16_s4_r4_b1_p128`.
pub fn name(plan: &Plan) -> String {
    let source = match plan.source {
        Source::Boxes => "boxes",
        Source::Words => "words",
        Source::Threads => "threads",
    };
    let ([bm, bn, bk], [tm, tn]) = (plan.tile, plan.thread);
    let Plan { slices, stages, blocks, producers, .. } = plan;
    format!("{source}_{bm}x{bn}x{bk}_{tm}x{tn}_s{slices}_r{stages}_b{blocks}_p{producers}")
}

fn tile_of(plan: &Plan) -> String {
    let ([bm, bn, bk], [tm, tn]) = (plan.tile, plan.thread);
    format!("{bm}, {bn}, {bk}, {tm}, {tn}, {}", plan.slices)
}

/// Returns the source of a plan's kernel, called `candidate`.
pub fn kernel_source(plan: &Plan) -> String {
    let Plan { stages, blocks, producers, .. } = plan;
    let (mine, theirs) = match plan.registers() {
        (mine, Some(theirs)) => (mine, theirs),
        _ => (0, 0),
    };
    let (kind, crew) = match plan.source {
        Source::Boxes => ("BOXES", "TheCrew, "),
        Source::Words => ("WORDS", "TheCrew, "),
        Source::Threads => ("THREADS", ""),
    };
    format!(
        "// arch: compute_90a\n// options: --ptxas-options=-O1\n#include \"v11_plan.cuh\"\n\
         using TheCrew = Crew<{producers}, {mine}, {theirs}>;\n\
         {kind}(candidate, {blocks}, {stages}, {crew}{})\n",
        tile_of(plan)
    )
}

/// Returns the source of a plan's consumer warps alone. Plans that differ only in their copies share it.
pub fn multipliers_source(plan: &Plan) -> String {
    let (registers, _) = plan.registers();
    format!(
        "// arch: compute_90a\n// options: --ptxas-options=-O1 --maxrregcount={registers}\n\
         #include \"v11_multipliers.cuh\"\nMULTIPLIERS(candidate, {}, {})\n",
        plan.blocks,
        tile_of(plan)
    )
}

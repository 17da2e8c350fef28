//! Predicts the time of a plan that was never timed, from the machine code of its consumer warps and from its copies.
//!
//! [`Forecast::constants`] gives the same constants that [`fit`](crate::costs::fit) finds for plans that were timed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::costs::{CostInput, CostTerms, expected, terms};
use crate::gemm::Costs;
use crate::plans::{Plan, Sharing, Source};

/// Clocks per microsecond of an H200 under load, for which times are predicted.
const MHZ: f64 = 1980.0;
/// Bytes that shared memory takes per clock: of copies as of loads.
const SHARED_BYTES: f64 = 128.0;
const SCHEDULERS: f64 = 4.0;
const WARP: f64 = 32.0;
const FLOAT: f64 = 4.0;
/// Instructions of a thread for what it copies with one of them: this one, and two for the address.
const COPY_INSTRUCTIONS: f64 = 3.0;

/// Predicted times of the consumer warps, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// A step of one block, when all blocks of a multiprocessor work: the time of all, divided by their number.
    pub step: f64,
    /// A step of a block that works alone.
    pub alone: f64,
    /// A step of two that work where there could be more.
    pub two: f64,
    /// The end of a round of tiles: sums to C, and the beginning of the next.
    pub tile: f64,
}

impl Forecast {
    /// Forecasts by counting alone, without machine code: multiply-adds and shared loads, each at the full rate.
    pub fn counted(plan: &Plan) -> Self {
        let ([bm, bn, bk], [tm, tn]) = (plan.tile.map(f64::from), plan.thread.map(f64::from));
        // Instructions of a warp for one k. A load of float4s passes shared memory twice at least.
        let (multiply_adds, loads) = (tm * tn, (tm + tn) / 4.0);
        let warp_ks = bm * bn * bk / multiply_adds / WARP;
        let issue = warp_ks * (multiply_adds + loads) / SCHEDULERS;
        let shared = warp_ks * loads * 2.0;
        let idle = SCHEDULERS / SCHEDULERS.min(f64::from(plan.consumers()) / WARP);
        let step = issue.max(shared) / MHZ;
        Self {
            step,
            alone: (issue * idle).max(shared) / MHZ,
            two: 2.0 * (issue * idle / 2.0).max(issue).max(shared) / MHZ,
            tile: bm * bn * FLOAT / SHARED_BYTES / MHZ,
        }
    }

    /// The constants of a plan. What copies take of shared memory and of the schedulers is added to each step. What a
    /// launch, sharing and packing cost is the mean of the plans that were timed.
    // ANCHOR: constants
    pub fn constants(&self, plan: &Plan, timed: &Costs) -> CostTerms {
        let [bm, bn, bk] = plan.tile.map(f64::from);
        let bytes = (bm + bn) * bk * FLOAT;
        // Bytes that one instruction of a thread copies.
        let copied = match plan.source {
            Source::Boxes => f64::INFINITY,
            Source::Words => FLOAT,
            Source::Threads => 4.0 * FLOAT,
        };
        let issue = bytes / copied / WARP * COPY_INSTRUCTIONS / SCHEDULERS;
        let copies = (bytes / SHARED_BYTES + issue) / MHZ;
        CostTerms {
            step: self.step + copies,
            alone: self.alone + copies,
            two: self.two + 2.0 * copies,
            tile: self.tile,
            ..mean(timed)
        }
    }
    // ANCHOR_END: constants
}

/// Returns the mean of each constant over the plans where it is not 0.
fn mean(timed: &Costs) -> CostTerms {
    let all = timed.plans.values().flat_map(|costs| [costs.float4s, costs.floats]);
    let all: Vec<[f64; _]> = all.map(Into::into).collect();
    let mean = |i: usize| {
        let there = all.iter().map(|constants| constants[i]).filter(|c| *c > 0.0);
        there.clone().sum::<f64>() / there.count().max(1) as f64
    };
    std::array::from_fn(mean).into()
}

/// Returns the best predicted time of a product, and its division. `None` where the plan cannot compute it.
pub fn best(
    plan: &Plan,
    constants: &CostTerms,
    shape: [usize; 3],
    packed: [bool; 2],
    n_sms: usize,
) -> Option<(f64, Sharing)> {
    let of = |sharing| {
        let terms = terms(plan, &CostInput { shape, sharing, packed }, n_sms)?;
        Some((expected(constants, &terms), sharing))
    };
    Sharing::ALL.into_iter().filter_map(of).min_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// Returns Spearman's rank correlation of pairs; ties have the mean of their ranks. `None` where one side is all ties.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let ranks = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let rank = |x: f64| {
            let below = pairs.iter().filter(|pair| of(pair) < x).count();
            let same = pairs.iter().filter(|pair| of(pair) == x).count();
            below as f64 + (same as f64 - 1.0) / 2.0
        };
        pairs.iter().map(|pair| rank(of(pair))).collect()
    };
    let (a, b) = (ranks(&|pair| pair.0), ranks(&|pair| pair.1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    let size = (product(&a, &a) * product(&b, &b)).sqrt();
    (size > 0.0).then(|| product(&a, &b) / size)
}

/// Forecasts by the names of their plans, from the lines that [`write()`] made. Others are passed over.
pub fn read(text: &str) -> BTreeMap<String, Forecast> {
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let name = fields.next()?.to_owned();
        let mut us = fields.map(|field| field.parse().ok());
        let [step, alone, two, tile] = [us.next()??, us.next()??, us.next()??, us.next()??];
        Some((name, Forecast { step, alone, two, tile }))
    };
    text.lines().filter_map(line).collect()
}

pub fn write(forecasts: &BTreeMap<String, Forecast>) -> String {
    let line = |(name, Forecast { step, alone, two, tile }): (&String, &Forecast)| {
        format!("{name}\t{step:.5}\t{alone:.5}\t{two:.5}\t{tile:.5}\n")
    };
    let head = "plan\tstep\talone\ttwo\ttile\n".to_owned();
    head + &forecasts.iter().map(line).collect::<String>()
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    pub entry: &'a str,
    pub sharing: Sharing,
    pub shape: [usize; 3],
    pub packed: usize,
    pub us: f64,
}

/// Returns the times from which the committed costs were fitted, as `tune` writes them.
pub fn samples() -> Vec<Sample<'static>> {
    let lines = include_str!("../data/samples.tsv").lines();
    lines.filter_map(sample).collect()
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let mut fields = line.split('\t');
    let entry = fields.next()?;
    let name = fields.next()?;
    let sharing = Sharing::ALL.into_iter().find(|sharing| format!("{sharing:?}") == name)?;
    let mut sizes = fields.next()?.split('x').map(|size| size.parse().ok());
    Some(Sample {
        entry,
        sharing,
        shape: [sizes.next()??, sizes.next()??, sizes.next()??],
        packed: fields.next()?.parse().ok()?,
        us: fields.next()?.parse().ok()?,
    })
}

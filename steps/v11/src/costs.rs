//! The cost of a product with each plan, expected from a few constants per plan that were measured.
//!
//! One time, in microseconds: `launch + step · (rounds of steps) + tile · (rounds of tiles)`, what sharing a tile
//! costs, and what it costs to pack operands. The constants are fitted to measured times of other products ([`fit`]).

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::plans::{Plan, Sharing};

const TERMS: usize = 9;

/// A value for each term of a cost: its count in a product, or a plan's microseconds; files have this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; TERMS]", into = "[f64; TERMS]")]
pub struct CostTerms {
    pub launch: f64,
    /// A step, when all blocks of a multiprocessor work.
    pub step: f64,
    /// A step of a block that works alone.
    pub alone: f64,
    /// A step of two blocks, where three or more have room.
    pub two: f64,
    pub tile: f64,
    /// Sharing tiles, once per product.
    pub shared: f64,
    /// A part of a shared tile.
    pub part: f64,
    /// An operand that is packed.
    pub pack: f64,
    /// A million floats of packed operands.
    pub packed: f64,
}

impl From<[f64; TERMS]> for CostTerms {
    fn from([launch, step, alone, two, tile, shared, part, pack, packed]: [f64; TERMS]) -> Self {
        Self { launch, step, alone, two, tile, shared, part, pack, packed }
    }
}

impl From<CostTerms> for [f64; TERMS] {
    fn from(all: CostTerms) -> Self {
        let CostTerms { launch, step, alone, two, tile, shared, part, pack, packed } = all;
        [launch, step, alone, two, tile, shared, part, pack, packed]
    }
}

impl CostTerms {
    #[must_use]
    pub fn map(self, change: impl FnMut(f64) -> f64) -> Self {
        <[f64; TERMS]>::from(self).map(change).into()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct CostInput {
    pub shape: [usize; 3],
    pub sharing: Sharing,
    pub packed: [bool; 2],
}

impl CostInput {
    pub fn stores_floats(&self) -> bool {
        !self.shape[1].is_multiple_of(4)
    }
}

/// Returns how often each term counts in a product; `None` where the plan cannot share it in this way.
// ANCHOR: terms
pub fn terms(plan: &Plan, work: &CostInput, n_sms: usize) -> Option<CostTerms> {
    let (CostInput { sharing, packed, .. }, [m, n, k]) = (*work, work.shape);
    let (tiles, steps) = (plan.tiles(m, n), plan.steps(k));
    let shares = plan.shares(tiles, steps, sharing, n_sms)?;
    let (at_once, slots) = (plan.blocks as usize, n_sms * plan.blocks as usize);
    let floats =
        [m * k, k * n].into_iter().zip(packed).filter(|(_, packed)| *packed).map(|(floats, _)| floats as f64);
    let (pack, packed) = (floats.clone().count() as f64, floats.sum::<f64>() / 1e6);
    let (step, rounds) = (steps as f64, tiles.div_ceil(slots) as f64);
    if sharing == Sharing::Tiles {
        // The fullest multiprocessor, whose last blocks may be fewer than it has room for. Three are as good as four.
        let fullest = tiles.div_ceil(n_sms);
        let left = Some(fullest % at_once).filter(|left| *left < 3).unwrap_or(0);
        let alone = |blocks: usize| {
            if left == blocks && at_once > blocks { step } else { 0.0 }
        };
        return Some(CostTerms {
            launch: 1.0,
            step: step * (fullest - left) as f64,
            alone: alone(1),
            two: alone(2),
            tile: rounds,
            shared: 0.0,
            part: 0.0,
            pack,
            packed,
        });
    }
    let whole_rounds = (shares.whole / slots) as f64;
    let share = ((tiles - shares.whole) * steps) as f64 / shares.blocks as f64;
    Some(CostTerms {
        launch: 1.0,
        step: (whole_rounds * step + share) * at_once as f64,
        alone: 0.0,
        two: 0.0,
        tile: whole_rounds + (share / step).max(1.0),
        shared: 1.0,
        part: step / share,
        pack,
        packed,
    })
}
// ANCHOR_END: terms

/// Returns the expected time in microseconds: each constant as often as its term counts.
pub fn expected(constants: &CostTerms, terms: &CostTerms) -> f64 {
    let [constants, terms] = [constants, terms].map(|all| <[f64; TERMS]>::from(*all));
    constants.iter().zip(terms).map(|(constant, term)| constant * term).sum()
}

/// Fits constants to measured pairs of terms and time.
pub fn fit(measured: &[(CostTerms, f64)]) -> CostTerms {
    let measured: Vec<_> =
        measured.iter().map(|(terms, time)| (<[f64; TERMS]>::from(*terms), *time, 1.0)).collect();
    catalog::statistics::fit(&measured).into()
}

//! The cost of a product with each plan, expected from a few constants per plan that were measured.
//!
//! One time, in microseconds: `launch + step · (rounds of steps) + tile · (rounds of tiles)`, what sharing a tile costs,
//! and what it costs to pack operands. The constants are fitted to measured times of other products ([`fit`]).

use crate::plans::{Plan, Sharing};

pub const TERMS: usize = 9;

/// The constants of a plan, in microseconds: of a launch; of a step when all blocks of a multiprocessor work; when one
/// does; when two of three do; of a tile; of sharing tiles; of each part of a shared tile; of an operand that is packed;
/// of a million floats of it.
pub type Constants = [f64; TERMS];

#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub shape: [usize; 3],
    pub sharing: Sharing,
    pub packed: [bool; 2],
}

impl Work {
    pub fn stores_floats(&self) -> bool {
        !self.shape[1].is_multiple_of(4)
    }
}

/// How often each constant counts in a product.
// ANCHOR: terms
pub fn terms(plan: &Plan, work: &Work, n_sms: usize) -> Option<Constants> {
    let (Work { sharing, packed, .. }, [m, n, k]) = (*work, work.shape);
    let (tiles, steps) = (plan.tiles(m, n), plan.steps(k));
    let shares = plan.shares(tiles, steps, sharing, n_sms)?;
    let (at_once, slots) = (plan.blocks as usize, n_sms * plan.blocks as usize);
    let floats =
        [m * k, k * n].into_iter().zip(packed).filter(|(_, packed)| *packed).map(|(floats, _)| floats as f64);
    let (packs, floats) = (floats.clone().count() as f64, floats.sum::<f64>() / 1e6);
    let (step, rounds) = (steps as f64, tiles.div_ceil(slots) as f64);
    if sharing == Sharing::Tiles {
        // The fullest multiprocessor, whose last blocks may be fewer than it has room for. Three are as good as four.
        let fullest = tiles.div_ceil(n_sms);
        let left = Some(fullest % at_once).filter(|left| *left < 3).unwrap_or(0);
        let alone = |blocks: usize| {
            if left == blocks && at_once > blocks { step } else { 0.0 }
        };
        return Some([
            1.0,
            step * (fullest - left) as f64,
            alone(1),
            alone(2),
            rounds,
            0.0,
            0.0,
            packs,
            floats,
        ]);
    }
    let whole_rounds = (shares.whole / slots) as f64;
    let share = ((tiles - shares.whole) * steps) as f64 / shares.blocks as f64;
    let together = (whole_rounds * step + share) * at_once as f64;
    Some([1.0, together, 0.0, 0.0, whole_rounds + (share / step).max(1.0), 1.0, step / share, packs, floats])
}
// ANCHOR_END: terms

pub fn expected(constants: &Constants, terms: &Constants) -> f64 {
    constants.iter().zip(terms).map(|(constant, term)| constant * term).sum()
}

/// The constants, none negative, with which the expected times come closest to measured ones, in parts of these:
/// `(terms, time)` each. Coordinate descent on the squares.
pub fn fit(measured: &[(Constants, f64)]) -> Constants {
    const SWEEPS: usize = 20_000;
    let mut squares = [[0.0; TERMS]; TERMS];
    let mut toward = [0.0; TERMS];
    for (terms, time) in measured {
        for (i, term) in terms.iter().enumerate() {
            toward[i] += term / time;
            for (j, other) in terms.iter().enumerate() {
                squares[i][j] += term * other / (time * time);
            }
        }
    }
    let mut constants = [0.0; TERMS];
    for _ in 0..SWEEPS {
        for i in 0..TERMS {
            if squares[i][i] > 0.0 {
                let others: f64 = (0..TERMS).filter(|j| *j != i).map(|j| squares[i][j] * constants[j]).sum();
                constants[i] = f64::max(0.0, (toward[i] - others) / squares[i][i]);
            }
        }
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::{PLANS, STREAM_K};

    const H200: usize = 132;

    #[test]
    fn a_fit_finds_the_constants_of_times_that_follow_them() {
        let constants = [2.0, 0.5, 0.7, 0.9, 1.5, 3.0, 0.25, 1.0, 2.0];
        let plan = PLANS.iter().find(|plan| plan.blocks == 3).expect("there is one");
        let mut measured = Vec::new();
        for i in 1..60 {
            for sharing in [Sharing::Tiles, Sharing::LastRound, Sharing::LastTwoRounds] {
                let shape = [i * 97 % 3000 + 1, i * 61 % 2000 + 1, i * 37 % 900 + 1];
                let packed = [i % 3 == 0, i % 2 == 0];
                let terms = terms(plan, &Work { shape, sharing, packed }, H200);
                measured.extend(terms.map(|terms| (terms, expected(&constants, &terms))));
            }
        }
        let found = fit(&measured);
        for (terms, time) in &measured {
            let expected = expected(&found, terms);
            assert!((expected / time - 1.0).abs() < 0.01, "{expected} for {time}");
        }
    }

    #[test]
    fn rounds_of_tiles_cost_whole_rounds() {
        // 288 tiles on 132 multiprocessors are three rounds; shared out, 2.18.
        let steps = |sharing| {
            let work = Work { shape: [3072; 3], sharing, packed: [false; 2] };
            terms(&STREAM_K, &work, H200).expect("possible")[1]
        };
        assert_eq!(steps(Sharing::Tiles), 3.0 * 192.0);
        let shared = steps(Sharing::LastRound) / 192.0;
        assert!((shared - 288.0 / 132.0).abs() < 1e-9, "{shared}");
    }
}

//! A kernel and its yardstick in turns, long pieces without pauses and short ones after pauses.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use records::{
    duel::{Duel, Round, Speed},
    record::{POWER_LIMIT, Power},
};

use crate::device::{Gpu, meter::Meter};
use crate::{error::StepError, timing::sampler::Sampler};

/// Durations of a duel, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Before each piece of a burst.
    pub pause_ms: f64,
    /// All pieces after pauses, if there can be so few.
    pub bursts_ms: f64,
    pub turns: Option<Turns>,
}

/// Durations of rounds without pauses.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// Each of the four pieces before the first round.
    pub warm_up_ms: f64,
    /// Before the pieces of a side that was not running.
    pub settle_ms: f64,
    pub piece_ms: f64,
    /// All rounds, if there can be so few.
    pub max_ms: f64,
}

/// The duel of the best kernels. An H200 keeps the average power of about a second below its limit: the first second
/// of a load is free of it, the clock then falls too low, and half a second later it is that of the load. After each
/// change of sides it drifts for 300 to 400 ms, in favour of the side that takes more power.
pub const LONG: Plan = Plan {
    pause_ms: 60.0,
    bursts_ms: 3500.0,
    turns: Some(Turns { warm_up_ms: 1100.0, settle_ms: 400.0, piece_ms: 50.0, max_ms: 5000.0 }),
};
/// The duel of libraries at many shapes: its intervals are wider, and it is too short for the energy.
pub const SHORT: Plan = Plan {
    pause_ms: 30.0,
    bursts_ms: 500.0,
    turns: Some(Turns { warm_up_ms: 500.0, settle_ms: 400.0, piece_ms: 40.0, max_ms: 500.0 }),
};
/// The duel of a record's many kernels, after pauses only: rounds at the power limit would take seconds a row.
pub const BURSTS: Plan = Plan { turns: None, ..SHORT };

/// The device's counter of energy advances several times in so long a piece.
const ENERGY_MS: f64 = 1000.0;
const ROUNDS: usize = 12;
const FEW_ROUNDS: usize = 3;

pub(crate) struct Side<'s, 'g, 'p> {
    pub(crate) sampler: &'s Sampler<'g>,
    pub(crate) enqueue: &'p mut dyn FnMut() -> Result<(), StepError>,
}

impl Side<'_, '_, '_> {
    fn piece(&mut self, ms: f64) -> Result<f64, StepError> {
        self.sampler.piece(ms, &mut *self.enqueue)
    }

    /// Runs for some time; returns the energy of a launch in joules, if that was long enough.
    fn energy(&mut self, ms: f64, meter: &Meter) -> Result<Option<f64>, StepError> {
        let (before, begin) = (meter.joules(), Instant::now());
        let one_ms = self.piece(ms)?;
        let (after, took_ms) = (meter.joules(), begin.elapsed().as_secs_f64() * 1e3);
        let of_one = |(before, after): (f64, f64)| (after - before) * one_ms / took_ms;
        Ok(before.zip(after).filter(|_| took_ms > ENERGY_MS).map(of_one))
    }
}

/// All rounds of a duel.
pub(crate) struct Rounds {
    plan: Plan,
    joules: Option<[f64; 2]>,
    sustained: Vec<Round>,
    burst: Vec<Round>,
}

impl Rounds {
    /// Returns the times of the kernel and of the yardstick after pauses.
    pub(crate) fn after_pauses(&self) -> [Vec<f64>; 2] {
        let times = |pieces: [usize; 2]| self.burst.iter().flat_map(|round| pieces.map(|piece| round[piece])).collect();
        [times([0, 3]), times([1, 2])]
    }

    pub(crate) fn duel(&self) -> Duel {
        let [sustained, burst] = [&self.sustained, &self.burst].map(|rounds| Speed::from_rounds(rounds));
        let turns = self.plan.turns;
        Duel {
            sustained,
            burst: burst.expect("more than one round"),
            piece_and_pause: [turns.map_or(0.0, |turns| turns.piece_ms), self.plan.pause_ms],
            settle_ms: turns.map_or(0.0, |turns| turns.settle_ms),
            joules: self.joules,
            earlier: None,
        }
    }
}

/// Runs a duel. The meter reads the state of the device after each piece without pauses, or, where all have some, after
/// each of these.
pub(crate) fn run(
    gpu: &Gpu, plan: Plan, mut kernel: Side<'_, '_, '_>, mut yardstick: Side<'_, '_, '_>, meter: &mut Meter,
) -> Result<Rounds, StepError> {
    let longest = kernel.piece(0.0)?.max(yardstick.piece(0.0)?);
    let burst = rounds(number_of_rounds(plan.bursts_ms, longest + plan.pause_ms), |is_kernel| {
        gpu.stream.synchronize()?;
        std::thread::sleep(Duration::from_secs_f64(plan.pause_ms / 1e3));
        let ms = if is_kernel { kernel.piece(0.0) } else { yardstick.piece(0.0) };
        if plan.turns.is_none() {
            meter.read();
        }
        ms
    })?;
    let mut found = Rounds { plan, joules: None, sustained: Vec::new(), burst };
    if let Some(turns) = plan.turns {
        let ms = turns.warm_up_ms;
        // By the second half, the power limit has set the clock.
        let [.., theirs, ours] =
            round(|is_kernel| if is_kernel { kernel.energy(ms, meter) } else { yardstick.energy(ms, meter) })?;
        found.joules = ours.zip(theirs).map(|(ours, theirs)| [ours, theirs]);
        found.sustained = turns.rounds(longest, |is_kernel, ms| {
            let ms = if is_kernel { kernel.piece(ms) } else { yardstick.piece(ms) };
            meter.read();
            ms
        })?;
    }
    Ok(found)
}

impl Plan {
    /// Returns whether a recorded duel is as good as one by this plan. Without a power limit nothing had to settle.
    pub(crate) fn is_met_by(self, duel: &Duel, power: Option<&Power>) -> bool {
        let is_free = power.is_some_and(|power| !power.limited_by.iter().any(|limit| limit == POWER_LIMIT));
        self.turns.is_none_or(|turns| {
            let is_settled = is_free || duel.settle_ms >= turns.settle_ms;
            duel.sustained.is_some() && duel.piece_and_pause[0] >= turns.piece_ms && is_settled
        })
    }
}

impl Turns {
    /// Runs rounds in which a side runs for some time before it is timed, unless it was running: the kernel is at
    /// first.
    fn rounds(
        self, longest_ms: f64, mut piece: impl FnMut(bool, f64) -> Result<f64, StepError>,
    ) -> Result<Vec<Round>, StepError> {
        // Sides change twice in a round of four pieces.
        let n = number_of_rounds(self.max_ms, longest_ms.max(self.piece_ms) + self.settle_ms / 2.0);
        let mut runs_kernel = true;
        rounds(n, |is_kernel| {
            if std::mem::replace(&mut runs_kernel, is_kernel) != is_kernel {
                piece(is_kernel, self.settle_ms)?;
            }
            piece(is_kernel, self.piece_ms)
        })
    }
}

/// Returns the number of rounds of four pieces that last for a given time.
fn number_of_rounds(max_ms: f64, piece_ms: f64) -> usize {
    ((max_ms / (4.0 * piece_ms)) as usize).clamp(FEW_ROUNDS, ROUNDS)
}

/// Runs rounds; `piece` returns the time of one launch, of A or of B.
fn rounds(n: usize, mut piece: impl FnMut(bool) -> Result<f64, StepError>) -> Result<Vec<Round>, StepError> {
    (0..n).map(|_| round(&mut piece)).collect()
}

/// Runs A B B A.
fn round<T>(mut piece: impl FnMut(bool) -> Result<T, StepError>) -> Result<[T; 4], StepError> {
    Ok([piece(true)?, piece(false)?, piece(false)?, piece(true)?])
}

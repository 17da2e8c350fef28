//! A kernel and its yardstick in turns, long pieces without pauses and short ones after pauses.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use records::duel::{Duel, Round, Speed};

use crate::device::{Gpu, meter::Meter};
use crate::{error::StepError, timing::sampler::Sampler};

/// Durations of a duel, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// A piece without pauses.
    pub piece_ms: f64,
    /// Before pieces without pauses of a side that was not running.
    pub settle_ms: f64,
    /// Before each piece of a burst.
    pub pause_ms: f64,
    /// Before the rounds without pauses, so that the chip is warm.
    pub warm_up_ms: f64,
    /// A piece of the first of these rounds, in which the chip's energy is read.
    pub energy_ms: f64,
    /// All rounds of one kind, if there can be so few.
    pub max_ms: f64,
}

/// An H200 at its power limit takes a tenth of a second to adapt its clock: for 50 ms after a change of sides it runs
/// at the clock that was right for the other one. During a pause the average power drops.
pub const PLAN: Plan =
    Plan { piece_ms: 50.0, settle_ms: 250.0, pause_ms: 60.0, warm_up_ms: 400.0, energy_ms: 1100.0, max_ms: 3500.0 };
/// The duel of a record's many rows: its intervals are wider, and it is too short for the energy.
pub const SHORT: Plan =
    Plan { piece_ms: 40.0, settle_ms: 200.0, pause_ms: 30.0, warm_up_ms: 400.0, energy_ms: 50.0, max_ms: 500.0 };

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
        let [sustained, burst] = [&self.sustained, &self.burst]
            .map(|rounds| Speed::from_rounds(rounds).expect("more than one round of each kind"));
        let Plan { piece_ms, settle_ms, pause_ms, .. } = self.plan;
        let (piece_and_pause, joules) = ([piece_ms, pause_ms], self.joules);
        Duel { sustained, burst, piece_and_pause, settle_ms, joules, earlier: None }
    }
}

/// Runs a duel. The meter reads the state of the device after each piece without pauses.
pub(crate) fn run(
    gpu: &Gpu, plan: Plan, mut kernel: Side<'_, '_, '_>, mut yardstick: Side<'_, '_, '_>, meter: &mut Meter,
) -> Result<Rounds, StepError> {
    let longest = kernel.piece(0.0)?.max(yardstick.piece(0.0)?);
    let burst = rounds(plan.rounds(longest + plan.pause_ms), |is_kernel| {
        gpu.stream.synchronize()?;
        std::thread::sleep(Duration::from_secs_f64(plan.pause_ms / 1e3));
        if is_kernel { kernel.piece(0.0) } else { yardstick.piece(0.0) }
    })?;
    kernel.piece(plan.warm_up_ms)?;
    // In turns, too: a chip that has just begun to work is cooler, and its clock higher, than one that goes on.
    let ms = plan.energy_ms;
    let [a, b, b_again, a_again] =
        round(|is_kernel| if is_kernel { kernel.energy(ms, meter) } else { yardstick.energy(ms, meter) })?;
    let mean = |first: Option<f64>, second: Option<f64>| Some(f64::midpoint(first?, second?));
    let joules = mean(a, a_again).zip(mean(b, b_again)).map(|(ours, theirs)| [ours, theirs]);
    // Sides change twice in a round of four pieces.
    let n = plan.rounds(longest.max(plan.piece_ms) + plan.settle_ms / 2.0);
    let sustained = settled_rounds(n, plan, |is_kernel, ms| {
        let ms = if is_kernel { kernel.piece(ms) } else { yardstick.piece(ms) };
        meter.read();
        ms
    })?;
    Ok(Rounds { plan, joules, sustained, burst })
}

impl Plan {
    /// Returns the number of rounds of pieces that last for a given time.
    fn rounds(self, piece_ms: f64) -> usize {
        ((self.max_ms / (4.0 * piece_ms)) as usize).clamp(FEW_ROUNDS, ROUNDS)
    }
}

/// Runs rounds in which a side runs for some time before it is timed, unless it was running: the kernel is at first.
fn settled_rounds(
    n: usize, plan: Plan, mut piece: impl FnMut(bool, f64) -> Result<f64, StepError>,
) -> Result<Vec<Round>, StepError> {
    let mut runs_kernel = true;
    rounds(n, |is_kernel| {
        if std::mem::replace(&mut runs_kernel, is_kernel) != is_kernel {
            piece(is_kernel, plan.settle_ms)?;
        }
        piece(is_kernel, plan.piece_ms)
    })
}

/// Runs rounds; `piece` returns the time of one launch, of A or of B.
fn rounds(n: usize, mut piece: impl FnMut(bool) -> Result<f64, StepError>) -> Result<Vec<Round>, StepError> {
    (0..n).map(|_| round(&mut piece)).collect()
}

/// Runs A B B A.
fn round<T>(mut piece: impl FnMut(bool) -> Result<T, StepError>) -> Result<[T; 4], StepError> {
    Ok([piece(true)?, piece(false)?, piece(false)?, piece(true)?])
}

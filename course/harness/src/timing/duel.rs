//! `bench --duel`: a kernel and its yardstick in turns, long pieces without pauses and short ones after pauses.

#[cfg(test)]
mod tests;

use std::time::Duration;

use records::duel::{Duel, Round};

use crate::{device::Gpu, error::StepError, timing::sampler::Sampler};

/// Durations of a duel, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// A piece without pauses.
    pub piece_ms: f64,
    /// Before each piece of a burst.
    pub pause_ms: f64,
    /// Milliseconds for each side, before the first round.
    pub warm_up_ms: f64,
    /// All rounds of one kind, if there can be so few.
    pub max_ms: f64,
}

/// A piece is longer than a GPU takes to adapt its clock to the power limit; during a pause the average power drops.
pub const PLAN: Plan = Plan { piece_ms: 50.0, pause_ms: 60.0, warm_up_ms: 500.0, max_ms: 6000.0 };

const ROUNDS: usize = 15;
const FEW_ROUNDS: usize = 3;

pub(crate) struct Side<'s, 'g, 'p> {
    pub(crate) sampler: &'s Sampler<'g>,
    pub(crate) enqueue: &'p mut dyn FnMut() -> Result<(), StepError>,
}

impl Side<'_, '_, '_> {
    fn piece(&mut self, ms: f64) -> Result<f64, StepError> {
        self.sampler.piece(ms, &mut *self.enqueue)
    }
}

/// Returns all rounds of a kernel and its yardstick.
pub(crate) fn run(
    gpu: &Gpu, plan: Plan, mut kernel: Side<'_, '_, '_>, mut yardstick: Side<'_, '_, '_>,
) -> Result<Duel, StepError> {
    let longest = kernel.piece(0.0)?.max(yardstick.piece(0.0)?);
    kernel.piece(plan.warm_up_ms)?;
    yardstick.piece(plan.warm_up_ms)?;
    let sustained = rounds(plan.rounds(longest.max(plan.piece_ms)), |is_kernel| {
        if is_kernel { kernel.piece(plan.piece_ms) } else { yardstick.piece(plan.piece_ms) }
    })?;
    let burst = rounds(plan.rounds(longest + plan.pause_ms), |is_kernel| {
        gpu.stream.synchronize()?;
        std::thread::sleep(Duration::from_secs_f64(plan.pause_ms / 1e3));
        if is_kernel { kernel.piece(0.0) } else { yardstick.piece(0.0) }
    })?;
    Ok(Duel { sustained, burst, piece_and_pause: [plan.piece_ms, plan.pause_ms], earlier: None })
}

impl Plan {
    /// Returns the number of rounds of pieces that last for a given time.
    fn rounds(self, piece_ms: f64) -> usize {
        ((self.max_ms / (4.0 * piece_ms)) as usize).clamp(FEW_ROUNDS, ROUNDS)
    }
}

/// Runs rounds of A B B A; `piece` returns the time of one launch, of A or of B.
fn rounds(n: usize, mut piece: impl FnMut(bool) -> Result<f64, StepError>) -> Result<Vec<Round>, StepError> {
    (0..n).map(|_| Ok([piece(true)?, piece(false)?, piece(false)?, piece(true)?])).collect()
}

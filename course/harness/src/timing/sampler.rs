//! Samples of a time: enough launches at a time, as a graph where they are short.

use cudarc::driver::CudaGraph;
use records::record::Submission;

use crate::{device::Gpu, error::StepError};

/// Length of a sample at which the ends of the interval do not matter.
const SAMPLE_MS: f64 = 1.0;
const MAX_BATCH: f64 = 500.0;
/// Samples in a piece of a duel.
const MAX_PIECE: f64 = 2000.0;
/// Shorter launches may end before the host has queued the next one: a library that chooses a plan and encodes maps for
/// each takes some 50 µs in a debug build.
const SHORT_MS: f64 = 0.2;
/// For longer launches, the host's launch overhead is negligible.
const LONG_MS: f64 = 20.0;

/// Returns the number of launches that make a sample long enough.
pub(crate) fn batch_for(one_ms: f64) -> u32 {
    (SAMPLE_MS / one_ms.max(1e-6)).ceil().clamp(1.0, MAX_BATCH) as u32
}

// ANCHOR: sampler
/// The way to take a sample: a number of launches, and where they are short, a graph of them that is replayed.
pub(crate) struct Sampler<'g> {
    gpu: &'g Gpu,
    one_ms: f64,
    pub(crate) n: u32,
    graph: Option<CudaGraph>,
}

impl<'g> Sampler<'g> {
    /// Returns a sampler of something that takes about `one_ms`. What cannot be captured is enqueued for each sample.
    pub(crate) fn new(gpu: &'g Gpu, one_ms: f64, enqueue: impl FnMut() -> Result<(), StepError>) -> Self {
        let n = batch_for(one_ms);
        // The emulated device has no time that a host could add to.
        let replays = one_ms < SHORT_MS && gpu.emulator.is_none();
        let graph = replays.then(|| gpu.captured(n, enqueue)).transpose();
        let graph = graph.unwrap_or_else(|why| {
            eprintln!("timed without a graph: {why}");
            None
        });
        Self { gpu, one_ms, n, graph }
    }

    /// Measures one launch, in milliseconds.
    pub(crate) fn sample(&self, enqueue: impl FnMut() -> Result<(), StepError>) -> Result<f64, StepError> {
        self.samples(1, enqueue)
    }

    /// Measures one launch, in milliseconds, by a number of samples without a gap.
    fn samples(&self, times: u32, mut enqueue: impl FnMut() -> Result<(), StepError>) -> Result<f64, StepError> {
        // The device is busy with the first while the host queues the next, which are timed.
        let ms = match &self.graph {
            Some(graph) => {
                graph.launch()?;
                self.gpu.time_ms(times, || Ok(graph.launch()?))
            }
            None => {
                if self.one_ms < LONG_MS && self.gpu.emulator.is_none() {
                    enqueue()?;
                }
                self.gpu.time_ms(self.n * times, enqueue)
            }
        };
        Ok(ms? / f64::from(self.n) / f64::from(times))
    }

    /// Measures one launch, in milliseconds, by as many samples as last for about `ms`, and by one at least.
    pub(crate) fn piece(&self, ms: f64, enqueue: impl FnMut() -> Result<(), StepError>) -> Result<f64, StepError> {
        let times = (ms / (self.one_ms * f64::from(self.n))).ceil().clamp(1.0, MAX_PIECE);
        self.samples(times as u32, enqueue)
    }

    pub(crate) fn submission(&self) -> Submission {
        if self.graph.is_some() { Submission::Graph } else { Submission::Batch }
    }
}
// ANCHOR_END: sampler

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_launches_are_timed_many_at_a_time() {
        assert_eq!(batch_for(0.01), 100);
        assert_eq!(batch_for(0.004), 250);
        assert_eq!(batch_for(0.4), 3);
        assert_eq!(batch_for(20.0), 1);
        assert_eq!(batch_for(0.0), 500);
    }
}

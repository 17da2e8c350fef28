//! The timing protocol: device events, graphs of short work, warm and cold caches, the yardstick.

pub mod duel;
pub(crate) mod sampler;
pub(crate) mod yardstick;

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;
use records::Samples;
use records::record::{VerifiedRun, Yardstick};

use crate::device::session::{Launch, Operands, Session};
use crate::device::{Gpu, meter::Meter};
use crate::timing::sampler::{Sampler, batch_for};
use crate::{error::StepError, inputs::Real};

/// A launch that takes longer is not timed.
pub const TOO_SLOW_MS: f64 = 5000.0;
/// From here on a launch is slow: a few samples are enough.
const SLOW_MS: f64 = 250.0;
const FEW_SAMPLES: usize = 3;
const WARM_UP_MS: f64 = 50.0;
/// Launches of the yardstick before it is timed: the first takes longer.
const WARM_UP: u32 = 4;
const MIN_SAMPLES: usize = 5;
const MAX_SAMPLES: usize = 40;
const HOT_BUDGET: Duration = Duration::from_millis(300);
const COLD_BUDGET: Duration = Duration::from_millis(100);
/// Beyond this, what the caches hold at the start is not part of the time.
const MAX_COLD_MS: f64 = 250.0;
/// Copies over PCIe vary little, and cost much.
const N_WHOLE: usize = 3;
const WHOLE_BUDGET: Duration = Duration::from_millis(300);
/// The scrub is this many times the level-2 cache.
const SCRUB: usize = 2;

/// A library's function or a copy that a kernel is compared with.
pub struct Competitor<'a> {
    /// Name in tables: `cuBLAS` or `copy`.
    pub name: &'static str,
    /// Enqueues it in the stream once.
    pub enqueue: Box<dyn FnMut() -> Result<(), StepError> + 'a>,
    /// Number of the cublasLt algorithm; `None` where the library chose.
    pub algorithm: Option<usize>,
}

/// Returns the smallest number of samples.
fn at_least(one_ms: f64) -> usize {
    if one_ms >= SLOW_MS { FEW_SAMPLES } else { MIN_SAMPLES }
}

// ANCHOR: protocol
/// Times a session that has been verified, for its `run`, beside its yardstick; with a `duel`, in its rounds.
pub fn time<T: Real, R: Real>(
    gpu: &Gpu, session: &mut Session<'_, T, R>, mut other: Option<Competitor<'_>>, duel: Option<duel::Plan>,
    run: &mut VerifiedRun,
) -> Result<(), StepError> {
    let mut meter = Meter::open(&gpu.context);

    // Warm up: the clocks rise, and the caches hold what they can.
    let start = Instant::now();
    let mut one_ms = session.time_ms(1)?;
    while one_ms < WARM_UP_MS && start.elapsed().as_secs_f64() * 1e3 < WARM_UP_MS {
        let batch = batch_for(one_ms);
        one_ms = session.time_ms(batch)? / f64::from(batch);
    }
    let sampler = Sampler::new(gpu, one_ms, || session.launch());
    let mut other = match &mut other {
        Some(Competitor { name, enqueue, algorithm }) => {
            let one_ms = gpu.time_ms(1, &mut *enqueue)?.min(gpu.time_ms(WARM_UP, &mut *enqueue)? / f64::from(WARM_UP));
            Some((*name, *algorithm, Sampler::new(gpu, one_ms, &mut *enqueue), enqueue))
        }
        None => None,
    };

    let (hot, others, duel) = match other.as_mut().zip(duel) {
        Some(((.., theirs, enqueue), plan)) => {
            let kernel = duel::Side { sampler: &sampler, enqueue: &mut || session.launch() };
            let yardstick = duel::Side { sampler: theirs, enqueue };
            let fought = duel::run(gpu, plan, kernel, yardstick, &mut meter)?;
            let [hot, others] = fought.after_pauses();
            (hot, others, Some(fought.duel()))
        }
        None => {
            let (mut hot, mut others) = (Vec::new(), Vec::new());
            let start = Instant::now();
            while hot.len() < at_least(one_ms) || (hot.len() < MAX_SAMPLES && start.elapsed() < HOT_BUDGET) {
                hot.push(sampler.sample(|| session.launch())?);
                if let Some((.., sampler, enqueue)) = &mut other {
                    others.push(sampler.sample(&mut *enqueue)?);
                }
                meter.read();
            }
            (hot, others, None)
        }
    };

    let mut cold = Vec::new();
    if one_ms <= MAX_COLD_MS {
        let mut scrub = Scrub::new(gpu)?;
        let start = Instant::now();
        while cold.len() < MIN_SAMPLES || (cold.len() < MAX_SAMPLES && start.elapsed() < COLD_BUDGET) {
            // Queued before the events, so that it is outside of what they enclose.
            scrub.run()?;
            cold.push(session.time_ms(1)?);
        }
    }
    // ANCHOR_END: protocol

    run.batch = sampler.n;
    run.submission = sampler.submission();
    run.hot = Some(Samples::summary(hot));
    run.cold = (!cold.is_empty()).then(|| Samples::summary(cold));
    run.yardstick = other.map(|(name, algorithm, sampler, _)| Yardstick {
        name: name.into(),
        submission: sampler.submission(),
        algorithm,
        hot: Samples::summary(others),
        duel,
    });
    run.clock_mhz = meter.clock_mhz();
    run.power = meter.power();
    Ok(())
}

/// Memory to fill, so that the caches hold nothing else.
struct Scrub<'g> {
    gpu: &'g Gpu,
    memory: CudaSlice<u8>,
}

impl<'g> Scrub<'g> {
    fn new(gpu: &'g Gpu) -> Result<Self, StepError> {
        let memory = gpu.stream.alloc_zeros(SCRUB * gpu.info.l2.max(1))?;
        Ok(Self { gpu, memory })
    }

    fn run(&mut self) -> Result<(), StepError> {
        Ok(self.gpu.stream.memset_zeros(&mut self.memory)?)
    }
}

/// Times the whole GPU part for data in ordinary memory: allocate, copy in, launch, copy out, free; host's clock.
pub fn whole<T: Real, R: Real>(
    gpu: &Gpu, launch: &Launch<'_, T, R>, a: &[T], b: Option<&[T]>, n_out: usize,
) -> Result<Samples, StepError> {
    let stream = &gpu.stream;
    let mut samples = Vec::new();
    let begin = Instant::now();
    while samples.is_empty() || (samples.len() < N_WHOLE && begin.elapsed() < WHOLE_BUDGET) {
        stream.synchronize()?;
        let start = Instant::now();
        let a = stream.clone_htod(a)?;
        let b = b.map(|b| stream.clone_htod(b)).transpose()?;
        // SAFETY: the kernel was verified to write every element.
        let mut c = unsafe { stream.alloc::<R>(n_out) }?;
        launch(Operands { a: &a, b: b.as_ref(), c: &mut c })?;
        let result = stream.clone_dtoh(&c)?;
        drop((a, b, c));
        stream.synchronize()?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
        drop(result);
    }
    Ok(Samples(samples))
}

/// Returns the device copying `n` elements to another place: what a transpose cannot beat.
pub fn copy<T: Real>(gpu: &Gpu, n: usize) -> Result<Competitor<'_>, StepError> {
    let from: CudaSlice<T> = gpu.stream.alloc_zeros(n)?;
    let mut to: CudaSlice<T> = gpu.stream.alloc_zeros(n)?;
    let enqueue = move || Ok(gpu.stream.memcpy_dtod(&from, &mut to)?);
    Ok(Competitor { name: "copy", algorithm: None, enqueue: Box::new(enqueue) })
}

/// Times a CPU function and its yardstick in turns: at least `MIN_SAMPLES / 2` runs of each, more within the time.
pub fn time_on_host(mut run: impl FnMut(), mut other: impl FnMut()) -> (Samples, Samples) {
    let time_ms = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut samples = Vec::new();
    let start = Instant::now();
    while samples.len() < MIN_SAMPLES.div_ceil(2) || (samples.len() < MAX_SAMPLES && start.elapsed() < HOT_BUDGET) {
        samples.push((time_ms(&mut run), time_ms(&mut other)));
    }
    let (run, other) = samples.into_iter().unzip();
    (Samples::summary(run), Samples::summary(other))
}

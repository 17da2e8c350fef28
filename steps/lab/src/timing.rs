//! The timing protocol: device events, warm caches and cold ones, the yardstick in the same minutes, every sample kept.

use std::time::{Duration, Instant};

use cudarc::driver::CudaSlice;
use ladder::Samples;
use ladder::record::Yardstick;

use crate::clocks::Clocks;
use crate::device::Gpu;
use crate::inputs::Real;
use crate::session::{Launch, Operands, Session};
use crate::trouble::Trouble;

/// A launch that takes longer is not timed.
pub const TOO_SLOW_MS: f64 = 5000.0;
/// What a sample should last, so that the ends of the interval do not matter.
const SAMPLE_MS: f64 = 1.0;
const MAX_BATCH: f64 = 100.0;
const WARM_UP_MS: f64 = 50.0;
const MIN_SAMPLES: usize = 5;
const MAX_SAMPLES: usize = 40;
const HOT_BUDGET: Duration = Duration::from_millis(700);
const COLD_BUDGET: Duration = Duration::from_millis(300);
/// Beyond this, what the caches hold at the start is no part of the time.
const MAX_COLD_MS: f64 = 250.0;
/// Copies over PCIe vary little, and cost much.
const N_WHOLE: usize = 3;
/// The scrub is this many times the level-2 cache.
const SCRUB: usize = 2;
/// A launch may be over before the next is queued; from here on it is not.
const SHORT_MS: f64 = 0.05;
/// What queueing a launch may take the host.
const QUEUE_MS: f64 = 0.02;

/// What was timed.
pub struct Timed {
    /// Launches in a hot sample.
    pub batch: u32,
    /// One launch, caches warm.
    pub hot: Samples,
    /// One launch, caches full of something else.
    pub cold: Option<Samples>,
    /// In between the hot samples.
    pub yardstick: Option<Yardstick>,
    /// Lowest and highest SM clock seen.
    pub clock_mhz: Option<[u32; 2]>,
}

/// Something to compare with: its name, and what `n` of it take, in milliseconds.
pub struct Other<'a> {
    /// `cuBLAS`, `copy`
    pub name: &'static str,
    /// Runs it so many times.
    pub time_ms: Box<dyn FnMut(u32) -> Result<f64, Trouble> + 'a>,
}

/// How many launches make a sample that is long enough.
fn batch_for(one_ms: f64) -> u32 {
    (SAMPLE_MS / one_ms.max(1e-6)).ceil().clamp(1.0, MAX_BATCH) as u32
}

// ANCHOR: protocol
/// Times a session that has been verified. `one_ms`: about what a launch takes.
///
/// # Errors
/// When a launch fails.
pub fn time<T: Real>(
    gpu: &Gpu,
    session: &mut Session<'_, T>,
    mut other: Option<Other<'_>>,
    one_ms: f64,
) -> Result<Timed, Trouble> {
    let clocks = Clocks::open(&gpu.context);
    let mut seen = Vec::new();
    let mut look = || seen.extend(clocks.as_ref().and_then(Clocks::sm_mhz));

    // Warm up: the clocks rise, and the caches hold what they can.
    let mut one_ms = one_ms;
    let start = Instant::now();
    while one_ms < WARM_UP_MS && start.elapsed().as_secs_f64() * 1e3 < WARM_UP_MS {
        let batch = batch_for(one_ms);
        one_ms = session.time_ms(batch)? / f64::from(batch);
    }
    let batch = batch_for(one_ms);
    let other_batch = match &mut other {
        Some(other) => batch_for((other.time_ms)(1)?.min((other.time_ms)(1)?)),
        None => 1,
    };

    let mut scrub = Scrub::new(gpu)?;
    let (mut hot, mut others) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while hot.len() < MIN_SAMPLES || (hot.len() < MAX_SAMPLES && start.elapsed() < HOT_BUDGET) {
        if one_ms < SHORT_MS {
            scrub.head_start(batch)?;
        }
        hot.push(session.time_ms(batch)? / f64::from(batch));
        if let Some(other) = &mut other {
            if one_ms < SHORT_MS {
                scrub.head_start(other_batch)?;
            }
            others.push((other.time_ms)(other_batch)? / f64::from(other_batch));
        }
        look();
    }

    let mut cold = Vec::new();
    if one_ms <= MAX_COLD_MS {
        let start = Instant::now();
        while cold.len() < MIN_SAMPLES || (cold.len() < MAX_SAMPLES && start.elapsed() < COLD_BUDGET) {
            // Queued before the events, so that it is outside of what they enclose.
            scrub.run()?;
            cold.push(session.time_ms(1)?);
            look();
        }
    }
    // ANCHOR_END: protocol

    let low_high = seen.iter().min().zip(seen.iter().max());
    Ok(Timed {
        batch,
        hot: Samples(hot),
        cold: (!cold.is_empty()).then_some(Samples(cold)),
        yardstick: other.map(|other| Yardstick {
            name: other.name.into(),
            hot: Samples(others),
        }),
        clock_mhz: low_high.map(|(low, high)| [*low, *high]),
    })
}

/// Memory to fill, so that the caches hold nothing else.
struct Scrub<'g> {
    gpu: &'g Gpu,
    memory: CudaSlice<u8>,
    ms: f64,
}

impl<'g> Scrub<'g> {
    fn new(gpu: &'g Gpu) -> Result<Self, Trouble> {
        let memory = gpu.stream.alloc_zeros(SCRUB * gpu.about.l2.max(1))?;
        let mut scrub = Self { gpu, memory, ms: 0.0 };
        scrub.run()?;
        let start = gpu.event()?;
        scrub.run()?;
        let end = gpu.event()?;
        scrub.ms = f64::from(start.elapsed_ms(&end)?);
        Ok(scrub)
    }

    fn run(&mut self) -> Result<(), Trouble> {
        Ok(self.gpu.stream.memset_zeros(&mut self.memory)?)
    }

    /// Keeps the device busy while the host queues `n` launches, so that none of them waits for the host. What the
    /// caches have lost by that, the first of them brings back for all.
    fn head_start(&mut self, n: u32) -> Result<(), Trouble> {
        let times = (f64::from(n) * QUEUE_MS / self.ms.max(QUEUE_MS)).ceil() as u32;
        for _ in 0..times {
            self.run()?;
        }
        Ok(())
    }
}

// ANCHOR: whole
/// The whole GPU part, as a program meets it that has its data in ordinary memory: allocate, copy in, launch, copy
/// out, free. By the host's clock.
///
/// # Errors
/// When a call fails.
pub fn whole<T: Real>(
    gpu: &Gpu,
    launch: &Launch<'_, T>,
    a: &[T],
    b: Option<&[T]>,
    n_out: usize,
) -> Result<Samples, Trouble> {
    let stream = &gpu.stream;
    let mut samples = Vec::new();
    for _ in 0..N_WHOLE {
        stream.synchronize()?;
        let start = Instant::now();
        let a = stream.clone_htod(a)?;
        let b = b.map(|b| stream.clone_htod(b)).transpose()?;
        // SAFETY: the kernel was verified to write every element.
        let mut c = unsafe { stream.alloc::<T>(n_out) }?;
        launch(Operands {
            a: &a,
            b: b.as_ref(),
            c: &mut c,
        })?;
        let result = stream.clone_dtoh(&c)?;
        drop((a, b, c));
        stream.synchronize()?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
        drop(result);
    }
    Ok(Samples(samples))
}
// ANCHOR_END: whole

/// The device copying `n` elements to another place: what a transpose cannot beat.
///
/// # Errors
/// When there is not enough memory.
pub fn copy<T: Real>(gpu: &Gpu, n: usize) -> Result<Other<'_>, Trouble> {
    let from: CudaSlice<T> = gpu.stream.alloc_zeros(n)?;
    let mut to: CudaSlice<T> = gpu.stream.alloc_zeros(n)?;
    let time_ms = move |times: u32| {
        let start = gpu.event()?;
        for _ in 0..times {
            gpu.stream.memcpy_dtod(&from, &mut to)?;
        }
        let end = gpu.event()?;
        Ok(f64::from(start.elapsed_ms(&end)?))
    };
    Ok(Other {
        name: "copy",
        time_ms: Box::new(time_ms),
    })
}

/// Times a function of the CPU and what it is compared with, in turns: at least `MIN_SAMPLES / 2` runs of each, more
/// while there is time.
pub fn by_the_clock(mut run: impl FnMut(), mut other: impl FnMut()) -> (Samples, Samples) {
    let time_ms = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut samples = Vec::new();
    let start = Instant::now();
    while samples.len() < MIN_SAMPLES.div_ceil(2)
        || (samples.len() < MAX_SAMPLES && start.elapsed() < HOT_BUDGET)
    {
        samples.push((time_ms(&mut run), time_ms(&mut other)));
    }
    let (run, other) = samples.into_iter().unzip();
    (Samples(run), Samples(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_launches_are_timed_many_at_a_time() {
        assert_eq!(batch_for(0.01), 100);
        assert_eq!(batch_for(0.4), 3);
        assert_eq!(batch_for(20.0), 1);
        assert_eq!(batch_for(0.0), 100);
    }
}

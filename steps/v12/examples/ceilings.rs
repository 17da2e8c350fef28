//! Ceilings of this GPU's tensor cores: products from registers and shared memory alone, short and long.
//!
//! `ceilings.cu` beside this has the kernels. For compute capability 9.0; on the emulated GPU they run, and their times
//! mean nothing, so nothing is measured there.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg as _};
use harness::inputs::{Data, elements};
use harness::{Bf16, E4m3, Gpu, KernelSource, StepError, grid_1d, out, session};
use records::Samples;
use records::ceilings::{Ceilings, Rate, Sample};

const CODE: KernelSource = KernelSource {
    text: include_str!("ceilings.cu"),
    ptx: include_str!("ceilings.ptx"),
    cubin: &[],
    rust: None,
};
/// Capability that the kernels are compiled for.
const CAPABILITY: &str = "9.0";
/// Maximum threads of a block: 16 warps.
const THREADS: u32 = CODE.constant("THREADS");
const WARP: u32 = 32;
const GROUP_WARPS: u32 = 4;
/// Parts of a multiprocessor, each with a scheduler and a tensor core of its own.
const QUARTERS: f64 = 4.0;
/// Words of the input from which the kernels take A and B.
const WORDS: usize = CODE.constant("WORDS") as usize;
/// Bytes that a block of the kernels of L2 reads in a round.
const CHUNK_BYTES: usize = (LOADS * THREADS) as usize * size_of::<[u32; 4]>();
/// Each block reads bytes that no other reads; all read the same. Both over and over: the bytes stay in L2.
const L2: [&str; 2] = ["ceiling_l2_own", "ceiling_l2_same"];
/// Blocks of them on a multiprocessor: ptxas has only half of a thread's loads in flight at a time.
const L2_BLOCKS: usize = 2;
const LOADS: u32 = CODE.constant("LOADS");
const L2_CHUNKS: u32 = CODE.constant("L2_CHUNKS");
const OWN_CHUNKS: u32 = CODE.constant("OWN_CHUNKS");

/// Length of a burst: long enough for the clock to rise, and too short for the chip to grow hot.
const BURST_MS: f64 = 20.0;
/// Bursts of each kernel, and the pause before each.
const BURSTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(40);
const SUSTAINED_MS: f64 = 1500.0;

/// Measure what tensor cores do at most
#[derive(Parser)]
#[command(name = "ceilings", after_help = "Exit codes: 0 measured, 2 wrong usage, 3 could not run.")]
struct Cli {
    /// Also write the measurements to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A type of elements: its name, its bits, and a number in it.
type Numbers = (&'static str, u32, fn(f32) -> u32);
const FP32: Numbers = ("fp32", 32, f32::to_bits);
/// Rounding would be a program's job; what is below does not count, and need not be switched.
const TF32: Numbers = ("tf32", 32, |x| x.to_bits() & !0x1fff);
const BF16: Numbers = ("bf16", 16, |x| Bf16::from_f32(x).to_bits().into());
const E4M3: Numbers = ("e4m3", 8, |x| E4m3::from_f64(x.into()).to_bits().into());

#[derive(Debug, Clone, Copy)]
struct Ceiling {
    entry: &'static str,
    instruction: &'static str,
    numbers: Numbers,
    zeros: bool,
    warps: u32,
    /// Warps that issue an instruction together.
    together: u32,
    /// Instructions of a round, of such warps.
    per_round: u32,
    flop: f64,
}

const fn ceiling(
    entry: &'static str,
    instruction: &'static str,
    numbers: Numbers,
    [warps, together]: [u32; 2],
    per_round: u32,
    flop: u32,
) -> Ceiling {
    Ceiling { entry, instruction, numbers, zeros: false, warps, together, per_round, flop: flop as f64 }
}

const MMAS: u32 = CODE.constant("MMA_PER_ROUND");
const WGMMAS: u32 = CODE.constant("WGMMA_PER_ROUND");
/// Two warpgroups, each of which issues a wgmma.
const GROUPS: [u32; 2] = [2 * GROUP_WARPS, GROUP_WARPS];
const FMA: Ceiling =
    ceiling("ceiling_fma", "fma.f32", FP32, [16, 1], CODE.constant("FMA_PER_ROUND"), 2 * WARP);
const MMA_BF16: Ceiling =
    ceiling("ceiling_mma_bf16", "mma.sync.m16n8k16", BF16, [16, 1], MMAS, 2 * 16 * 8 * 16);
const MMA_TF32: Ceiling =
    ceiling("ceiling_mma_tf32", "mma.sync.m16n8k8", TF32, [16, 1], MMAS, 2 * 16 * 8 * 8);
const WGMMA_BF16: Ceiling =
    ceiling("ceiling_wgmma_bf16", "wgmma.m64n256k16", BF16, GROUPS, WGMMAS, 2 * 64 * 256 * 16);
const WGMMA_TF32: Ceiling =
    ceiling("ceiling_wgmma_tf32", "wgmma.m64n256k8", TF32, GROUPS, WGMMAS, 2 * 64 * 256 * 8);
const WGMMA_E4M3: Ceiling =
    ceiling("ceiling_wgmma_e4m3", "wgmma.m64n256k32", E4M3, GROUPS, WGMMAS, 2 * 64 * 256 * 32);
#[rustfmt::skip]
const CEILINGS: [Ceiling; 10] = [
    FMA, Ceiling { warps: 4, ..MMA_BF16 }, Ceiling { warps: 8, ..MMA_BF16 }, MMA_BF16, MMA_TF32,
    Ceiling { warps: GROUP_WARPS, ..WGMMA_BF16 }, WGMMA_BF16, Ceiling { zeros: true, ..WGMMA_BF16 },
    WGMMA_TF32, WGMMA_E4M3,
];

impl Ceiling {
    fn per_sm(&self) -> f64 {
        f64::from(self.per_round * (self.warps / self.together))
    }

    fn input_words(&self) -> Vec<u32> {
        if self.zeros {
            return vec![0; WORDS];
        }
        let (_, bits, in_bits) = self.numbers;
        let n = (u32::BITS / bits) as usize;
        let reals = elements::<f32>(Data::Reals, 1, 0, n * WORDS, n * WORDS);
        let all: Vec<u32> = reals.into_iter().map(in_bits).collect();
        // The first element of a word is in its low bits.
        let join = |word, (i, part): (u32, &u32)| word | part << (i * bits);
        all.chunks(n).map(|parts| (0..).zip(parts).fold(0, join)).collect()
    }
}

/// Words that a block writes: the clock of its multiprocessor and nanoseconds, before and after.
const TIMES: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Launched {
    sample: Sample,
    clocks: f64,
    rounds: i32,
}

struct Ready<'g> {
    gpu: &'g Gpu,
    function: CudaFunction,
    config: LaunchConfig,
    numbers: CudaSlice<u32>,
    times: CudaSlice<i64>,
    sums: CudaSlice<f32>,
}

impl<'g> Ready<'g> {
    fn new(gpu: &'g Gpu, ceiling: &Ceiling, blocks: usize) -> Result<Self, StepError> {
        let shared_mem_bytes = match ceiling.together {
            1 => 0,
            // The part of A that the warpgroups need.
            _ => (WORDS * size_of::<u32>()) as u32,
        };
        let config = LaunchConfig { shared_mem_bytes, ..grid_1d(blocks as u32, ceiling.warps * WARP) };
        Self::with_input(gpu, ceiling.entry, &ceiling.input_words(), config)
    }

    fn l2(gpu: &'g Gpu, entry: &str, blocks: usize) -> Result<Self, StepError> {
        let chunks = (L2_CHUNKS as usize).max(blocks * OWN_CHUNKS as usize);
        let words = vec![1; chunks * CHUNK_BYTES / size_of::<u32>()];
        Self::with_input(gpu, entry, &words, grid_1d(blocks as u32, THREADS))
    }

    fn with_input(gpu: &'g Gpu, entry: &str, words: &[u32], config: LaunchConfig) -> Result<Self, StepError> {
        let (blocks, threads) = (config.grid_dim.0, config.block_dim.0);
        Ok(Self {
            gpu,
            function: session::load(gpu, CODE.ptx, entry)?,
            config,
            numbers: gpu.stream.clone_htod(words)?,
            times: gpu.stream.alloc_zeros(TIMES * blocks as usize)?,
            sums: gpu.stream.alloc_zeros((blocks * threads) as usize)?,
        })
    }

    fn launch(&mut self, rounds: i32) -> Result<(), StepError> {
        let mut launch = self.gpu.stream.launch_builder(&self.function);
        launch.arg(&rounds).arg(&self.numbers).arg(&mut self.times).arg(&mut self.sums);
        // SAFETY: the arguments are those of the kernel: WORDS words or chunks of L2, times, a sum per thread.
        unsafe { launch.launch(self.config) }?;
        Ok(())
    }

    fn sample(&mut self, rounds: i32) -> Result<Launched, StepError> {
        let gpu = self.gpu;
        let ms = gpu.time_ms(1, || self.launch(rounds))?;
        let times = gpu.stream.clone_dtoh(&self.times)?;
        let blocks = || times.chunks(TIMES);
        let ghz = blocks().map(|t| (t[1] - t[0]) as f64 / (t[3] - t[2]).max(1) as f64);
        let ghz = Samples(ghz.collect()).median();
        Ok(Launched {
            sample: Sample { ms, ghz },
            clocks: Samples(blocks().map(|t| (t[1] - t[0]) as f64).collect()).median(),
            rounds,
        })
    }

    /// Returns the number of rounds that take `ms`, extrapolated from a launch of about a tenth of it.
    fn rounds(&mut self, ms: f64) -> Result<i32, StepError> {
        let mut rounds = 16;
        self.sample(rounds)?;
        for part in [0.1, 1.0] {
            let took = self.sample(rounds)?.sample.ms.max(1e-3);
            rounds = (f64::from(rounds) * part * ms / took).clamp(1.0, 1e9) as i32;
        }
        Ok(rounds)
    }
}

fn rate(ceiling: &Ceiling, n_sms: usize, launched: &[Launched]) -> Rate {
    let of =
        |value: &dyn Fn(&Launched) -> f64| rounded(Samples(launched.iter().map(value).collect()).median());
    let flop = |rounds: i32| ceiling.flop * ceiling.per_sm() * f64::from(rounds) * n_sms as f64;
    // A wgmma occupies all four quarters.
    let quarters = QUARTERS / f64::from(ceiling.together);
    Rate {
        tflops: of(&|one| flop(one.rounds) / one.sample.ms * 1e-9),
        ghz: of(&|one| one.sample.ghz),
        clocks: of(&|one| one.clocks * quarters / (ceiling.per_sm() * f64::from(one.rounds))),
        samples: launched
            .iter()
            .map(|one| Sample { ms: rounded(one.sample.ms), ghz: rounded(one.sample.ghz) })
            .collect(),
    }
}

fn measure(gpu: &Gpu) -> Result<Ceilings, StepError> {
    if gpu.emulator.is_some() {
        return Err(StepError::CouldNot(
            "times on the emulated GPU mean nothing, so ceilings are measured on an NVIDIA GPU only".into(),
        ));
    }
    if gpu.info.capability != CAPABILITY {
        return Err(StepError::CouldNot(format!(
            "these kernels are for compute capability {CAPABILITY}, and {} has {}",
            gpu.info.name, gpu.info.capability
        )));
    }
    let n_sms = gpu.info.n_sms;
    let mut run = harness::run::describe("v12", gpu);
    run.roofline = Some(harness::roofline::measure(gpu)?);
    let bursts = |ready: &mut Ready<'_>| {
        let rounds = ready.rounds(BURST_MS)?;
        let mut samples = Vec::new();
        for _ in 0..BURSTS {
            std::thread::sleep(PAUSE);
            samples.push(ready.sample(rounds)?);
        }
        Ok::<_, StepError>(samples)
    };
    let bytes = (CHUNK_BYTES * L2_BLOCKS * n_sms) as f64;
    let gbs = |one: &Launched| bytes * f64::from(one.rounds) / one.sample.ms * 1e-6;
    let from_l2 = |entry| {
        let launched = bursts(&mut Ready::l2(gpu, entry, L2_BLOCKS * n_sms)?)?;
        Ok::<_, StepError>(rounded(Samples(launched.iter().map(gbs).collect()).median()))
    };
    let l2 = records::ceilings::L2 {
        device: run.device.clone(),
        date: run.date.clone(),
        own_gbs: from_l2(L2[0])?,
        same_gbs: from_l2(L2[1])?,
    };
    // All bursts first, while the chip is cool.
    let mut burst = Vec::new();
    for ceiling in &CEILINGS {
        out::progress(&format!("{}, burst", ceiling.instruction));
        burst.push(bursts(&mut Ready::new(gpu, ceiling, n_sms)?)?);
    }
    let mut ceilings = Vec::new();
    for (ceiling, burst) in CEILINGS.iter().zip(burst) {
        out::progress(&format!("{}, sustained", ceiling.instruction));
        let mut ready = Ready::new(gpu, ceiling, n_sms)?;
        let of_burst = burst.first().map_or(1.0, |one| f64::from(one.rounds) / one.sample.ms);
        let sample = ready.sample((of_burst * SUSTAINED_MS) as i32)?;
        ceilings.push(records::ceilings::Ceiling {
            instruction: ceiling.instruction.into(),
            numbers: ceiling.numbers.0.into(),
            zeros: ceiling.zeros,
            warps: ceiling.warps,
            burst: rate(ceiling, n_sms, &burst),
            sustained: rate(ceiling, n_sms, &[sample]),
        });
    }
    out::progress_done();
    Ok(Ceilings { run, n_sms, l2, ceilings })
}

fn table(record: &Ceilings) -> String {
    let Ceilings { run, n_sms, l2, ceilings } = record;
    let mut out = format!(
        "{}, {n_sms} multiprocessors, revision {}. Random numbers, unless zeros are said: zeros take less power, and run \
         faster.\nA burst is {BURST_MS} ms, the median of {BURSTS} with pauses; sustained is {} s. Clocks are for an \
         instruction and a quarter of a\nmultiprocessor; a wgmma occupies all four.\n\n\
         instruction        of     warps      burst    GHz   clocks    sustained    GHz   clocks\n",
        run.device,
        run.revision,
        SUSTAINED_MS / 1e3,
    );
    for one in ceilings {
        let of = if one.zeros { "zeros" } else { &one.numbers };
        let cells = |rate: &Rate, width: usize| {
            format!("{:>width$.1} {:>6.3} {:>8.2}", rate.tflops, rate.ghz, rate.clocks)
        };
        let (burst, sustained) = (cells(&one.burst, 10), cells(&one.sustained, 12));
        let _ = writeln!(out, "{:<18} {of:<6} {:>5} {burst} {sustained}", one.instruction, one.warps);
    }
    let _ = writeln!(
        out,
        "\nTFLOP/s. From L2: {:.0} GB/s, or {:.0} where all multiprocessors read the same.",
        l2.own_gbs, l2.same_gbs
    );
    if let Some(roofline) = run.roofline {
        let _ = writeln!(out, "Device memory, copied: {:.0} GB/s read and written.", roofline.copy_gbs);
    }
    out
}

/// Rounds to four decimal places.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn run(cli: &Cli) -> Result<(), StepError> {
    let gpu = Gpu::find()?;
    let record = measure(&gpu)?;
    // A failure to write one does not lose the other.
    let shown = out::write(&table(&record));
    if let Some(path) = &cli.json {
        std::fs::write(path, record.text())
            .map_err(|error| StepError::CouldNot(format!("cannot write {}: {error}", path.display())))?;
    }
    shown
}

fn main() -> ExitCode {
    // `Gpu::find` probes the device in a process of its own: this one.
    if std::env::args().nth(1).as_deref() == Some("probe-device") {
        return harness::main("v12", &[]);
    }
    harness::exit_code(run(&Cli::parse()).map(|()| ExitCode::SUCCESS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::device::{DeviceChoice, choose_driver};

    fn emulated() -> Gpu {
        choose_driver(DeviceChoice::Emulated).expect("Cargo built it");
        Gpu::open().expect("there is a device")
    }

    /// Returns the output of a kernel after two rounds, with all checks.
    #[track_caller]
    fn sums(ready: &mut Ready<'_>, gpu: &Gpu) -> Vec<f32> {
        let emulator = gpu.emulator.expect("it was chosen");
        emulator.set_checks(Some(emulator_client::CheckLevel::CheckedWithGlobalRaces));
        ready.launch(2).expect("it is launched");
        gpu.stream.synchronize().expect("it ends");
        let report = emulator.report().expect("there was a launch");
        let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
        assert_eq!(report["findings"], serde_json::json!([]), "{report}");
        gpu.stream.clone_dtoh(&ready.sums).expect("it is there")
    }

    #[test]
    fn each_kernel_runs_without_findings() {
        let gpu = emulated();
        for ceiling in &CEILINGS {
            let mut ready = Ready::new(&gpu, ceiling, 1).expect("it is loaded");
            let sums = sums(&mut ready, &gpu);
            assert!(sums.iter().all(|sum| sum.is_finite()), "{ceiling:?}");
            let n_zeros = sums.iter().filter(|sum| **sum == 0.0).count();
            let expected = if ceiling.zeros { sums.len() } else { 0 };
            assert_eq!(n_zeros, expected, "{ceiling:?}");
        }
        for entry in L2 {
            let mut ready = Ready::l2(&gpu, entry, 3).expect("it is loaded");
            // An even number of ones is left of none.
            assert!(sums(&mut ready, &gpu).iter().all(|sum| *sum == 0.0), "{entry}");
        }
    }

    #[test]
    fn the_emulated_gpu_is_not_measured() {
        let error = measure(&emulated()).expect_err("it has no times");
        assert_eq!(error.exit_code(), harness::Exit::CouldNot);
        let why = error.to_string();
        assert!(why.starts_with("times on the emulated GPU mean nothing"), "{why}");
    }

    #[test]
    fn readers_see_what_was_zero() {
        let record = Ceilings {
            run: harness::run::describe("v12", &emulated()),
            n_sms: 1,
            l2: records::ceilings::L2::default(),
            ceilings: [false, true]
                .map(|zeros| records::ceilings::Ceiling {
                    instruction: "wgmma".into(),
                    numbers: "bf16".into(),
                    zeros,
                    warps: 8,
                    burst: rate(&WGMMA_BF16, 1, &[]),
                    sustained: rate(&WGMMA_BF16, 1, &[]),
                })
                .to_vec(),
        };
        let table = table(&record);
        let of = |word: &str| table.lines().filter(|line| line.starts_with(word)).count();
        assert_eq!([of("wgmma              bf16 "), of("wgmma              zeros ")], [1, 1], "{table}");
    }

    #[test]
    fn clocks_and_operations_are_of_a_quarter() {
        let sample = |ceiling: &Ceiling, clocks| {
            let launched = Launched { sample: Sample { ms: 1.0, ghz: 1.0 }, clocks, rounds: 10 };
            let rate = rate(ceiling, 100, &[launched]);
            (rate.clocks, rate.tflops)
        };
        // 2560 instructions of each warp, four warps for each quarter; 2560 of each of two warpgroups.
        assert_eq!(sample(&MMA_BF16, 6.0 * 4.0 * 2560.0), (6.0, 16.7772));
        assert_eq!(sample(&WGMMA_BF16, 128.0 * 2.0 * 2560.0), (128.0, 268.4355));
    }
}

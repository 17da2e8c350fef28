//! The kernel for large products with its main loop written again, beside the compiler's code and cuBLAS.
//!
//! `reschedule` changes the committed machine code, and proves that it computes the same. On an H200 this compares C,
//! bit for bit, and times all in turn. The emulated GPU does not run this machine code, so nothing is measured there.

use std::process::ExitCode;
use std::sync::Arc;

use catalog::Work;
use catalog::statistics::median;
use cudarc::driver::{CudaSlice, CudaStream};
use cudarc::nvrtc::Ptx;
use harness::inputs::{Data, elements};
use harness::{Cublas, Gpu, KernelSource, Shape, StepError, code, out};
use reschedule::{Options, reschedule};
use v11::gemm::{Choice, Product, Sgemm};
use v11::plans::{STREAM_K, Sharing};

const CODE: KernelSource = code!("v11_stream_k");
/// Registers of the warps that multiply.
const REGISTERS: u8 = 240;
/// Places of loads at which the kernel is fastest, of several that were tried on an H200.
const PLACES: [usize; 6] = [4, 21, 38, 55, 72, 89];
const SIZES: [usize; 4] = [2048, 4096, 6144, 8192];
const ROUNDS: usize = 9;
const BATCH_MS: f64 = 10.0;

fn could_not(error: impl std::fmt::Display) -> StepError {
    StepError::CouldNot(error.to_string())
}

fn rescheduled() -> Result<Vec<u8>, StepError> {
    let options = Options { registers: REGISTERS, places: PLACES.to_vec() };
    reschedule(CODE.cubin, STREAM_K.entry, &options).map_err(could_not)
}

struct Bench {
    stream: Arc<CudaStream>,
    sgemm: Sgemm,
    /// Numbers of the compiler's kernel, and of the new one.
    plans: [usize; 2],
    cublas: Cublas,
    n: usize,
    a: CudaSlice<f32>,
    b: CudaSlice<f32>,
    c: CudaSlice<f32>,
}

impl Bench {
    fn new(gpu: &Gpu, n: usize) -> Result<Self, StepError> {
        let stream = gpu.stream.clone();
        let mut sgemm = Sgemm::load(&stream)?;
        let mut add = |cubin: Vec<u8>| -> Result<usize, StepError> {
            Ok(sgemm.add(STREAM_K, &stream.context().load_module(Ptx::from_binary(cubin))?)?)
        };
        let plans = [add(CODE.cubin.to_vec())?, add(rescheduled()?)?];
        let real = |operand| stream.clone_htod(&elements::<f32>(Data::Reals, 1, operand, n, n * n));
        let (a, b) = (real(0)?, real(1)?);
        let cublas = Cublas::open(&stream).map_err(could_not)?;
        Ok(Self { sgemm, plans, cublas, n, a, b, c: gpu.poisoned(n * n)?, stream })
    }

    fn by_plan(&mut self, plan: usize) -> Result<(), StepError> {
        let (tiles, steps) = (STREAM_K.tiles(self.n, self.n), STREAM_K.steps(self.n));
        let has = |sharing: &Sharing| STREAM_K.shares(tiles, steps, *sharing, self.sgemm.n_sms).is_some();
        let sharing = [Sharing::LastTwoRounds, Sharing::Tiles].into_iter().find(has).expect("tiles always");
        let choice = Choice { plan, sharing, packed: [false; 2], expected: 0.0 };
        let product = Product::new(Shape::square(self.n));
        Ok(self.sgemm.multiply_by(&product, Some(choice), &self.a, &self.b, &mut self.c)?)
    }

    fn by_cublas(&mut self) -> Result<(), StepError> {
        let shape = Shape::square(self.n);
        let done = self.cublas.product(Work::Sgemm, shape, &self.a, &self.b, &mut self.c);
        done.map_err(|error| could_not(format!("cuBLAS: {error:?}")))
    }

    fn run(&mut self, who: usize) -> Result<(), StepError> {
        match self.plans.get(who) {
            Some(&plan) => self.by_plan(plan),
            None => self.by_cublas(),
        }
    }

    /// Fails unless both kernels give the same bits.
    fn compare(&mut self) -> Result<(), StepError> {
        let mut results = Vec::new();
        for plan in self.plans {
            self.stream.memset_zeros(&mut self.c)?;
            self.by_plan(plan)?;
            results.push(self.stream.clone_dtoh(&self.c)?);
        }
        let differ = |(x, y): (&f32, &f32)| x.to_bits() != y.to_bits();
        let differing = results[0].iter().zip(&results[1]).filter(|&pair| differ(pair)).count();
        if differing > 0 {
            return Err(could_not(format!("{differing} elements differ")));
        }
        Ok(())
    }

    /// Returns the milliseconds of each, in turns.
    fn times(&mut self, gpu: &Gpu) -> Result<[f64; 3], StepError> {
        let mut times = [const { Vec::new() }; 3];
        for round in 0..=ROUNDS {
            for (who, times) in times.iter_mut().enumerate() {
                let first = gpu.time_ms(1, || self.run(who))?;
                let n = (BATCH_MS / first).clamp(2.0, 1000.0) as u32;
                let ms = gpu.time_ms(n, || self.run(who))? / f64::from(n);
                // The first round warms up.
                if round > 0 {
                    times.push(ms);
                }
            }
        }
        Ok(times.map(|times| median(times).unwrap_or(f64::NAN)))
    }
}

fn measure(gpu: &Gpu) -> Result<(), StepError> {
    let date = catalog::time::utc(catalog::time::now());
    out::write(&format!(
        "{}, CUDA {}, {date}; TFLOP/s, and % of cuBLAS\n   N     the compiler's     rescheduled     cuBLAS\n",
        gpu.info.name, gpu.info.driver
    ))?;
    for n in SIZES {
        let mut bench = Bench::new(gpu, n)?;
        bench.compare()?;
        let times = bench.times(gpu)?;
        let [old, new, cublas] = times.map(|ms| 2.0 * (n as f64).powi(3) / ms / 1e9);
        let of = |tflops: f64| 100.0 * tflops / cublas;
        out::write(&format!("{n:5} {old:8.2} {:6.1} % {new:8.2} {:6.1} % {cublas:8.2}\n", of(old), of(new)))?;
    }
    Ok(())
}

fn run() -> Result<(), StepError> {
    let gpu = Gpu::find()?;
    if gpu.emulator.is_none() {
        return measure(&gpu);
    }
    rescheduled()?;
    out::write(
        "The new code computes what the old does. The emulated GPU has no time of it, and does not run it.\n",
    )
}

fn main() -> ExitCode {
    harness::exit_code(run().map(|()| ExitCode::SUCCESS))
}

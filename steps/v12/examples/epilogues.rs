//! Times of C = gelu(A · B + bias) in bf16 by one kernel, with a fused epilogue, and by two: `v12_gemm` and cuBLASLt.
//!
//! `epilogues.cu` beside this has the second kernel. On the emulated GPU the results are compared, and nothing is
//! timed. Prints a table, which is on record as `data/epilogues.txt`.

use std::process::ExitCode;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr as _, DevicePtrMut as _, PushKernelArg as _};
use harness::inputs::{Data, elements};
use harness::light::Product as Light;
use harness::{Bf16, Gpu, Shape, StepError, blocks, grid_1d, out, session, to_i32};
use v12::gemm::{Activation, Factor as _, Gemm, Product};

/// M, N and K: layers of language models with few and many rows, and squares.
const SHAPES: [[usize; 3]; 6] =
    [[16, 14336, 4096], [128, 4096, 4096], [1024; 3], [2048; 3], [512, 14336, 4096], [4096; 3]];
const FEW: [[usize; 3]; 2] = [[48, 136, 72], [130, 200, 328]];
const BATCH_MS: f64 = 5.0;
const ROUNDS: usize = 9;
const SEED: u64 = 3;
const SOME: usize = 1_000_003;
/// Elements of C that are compared without noticeable delay.
const COMPARED: usize = 1 << 20;

struct Bench<'a> {
    gpu: &'a Gpu,
    gemm: Gemm<Bf16>,
    second: CudaFunction,
    shape: Shape,
    a: CudaSlice<Bf16>,
    b: CudaSlice<Bf16>,
    c: CudaSlice<Bf16>,
    bias: CudaSlice<f32>,
    /// The same, as cuBLASLt takes it.
    bias_of_bf16: CudaSlice<Bf16>,
}

impl<'a> Bench<'a> {
    fn new(gpu: &'a Gpu, [m, n, k]: [usize; 3]) -> Result<Self, StepError> {
        // Some numbers over and over: a large matrix of them is made at once.
        let real = |operand, n: usize| {
            let some = elements::<Bf16>(Data::Reals, SEED, operand, 1, n.min(SOME));
            let mut all = some.repeat(n.div_ceil(SOME));
            all.truncate(n);
            all
        };
        let bias = real(2, n);
        let floats: Vec<f32> = bias.iter().map(|x| x.to_f64() as f32).collect();
        Ok(Self {
            gpu,
            gemm: Gemm::load(&gpu.stream)?,
            second: session::load(gpu, include_str!("epilogues.ptx"), "bias_and_gelu")?,
            shape: Shape { m, n, k },
            a: gpu.stream.clone_htod(&real(0, m * k))?,
            b: gpu.stream.clone_htod(&real(1, k * n))?,
            c: gpu.stream.alloc_zeros(m * n)?,
            bias: gpu.stream.clone_htod(&floats)?,
            bias_of_bf16: gpu.stream.clone_htod(&bias)?,
        })
    }

    fn fused(&mut self, plan: Option<usize>) -> Result<(), StepError> {
        let product =
            Product { bias: Some(&self.bias), activation: Activation::Gelu, ..Product::new(self.shape) };
        Ok(self.gemm.multiply_by(&product, plan, &self.a, &self.b, &mut self.c)?)
    }

    fn second(&mut self) -> Result<(), StepError> {
        const THREADS: u32 = 256;
        const WIDTH: u32 = 8;
        let (n, cols) = (self.c.len(), to_i32(self.shape.n));
        let all = to_i32(n);
        let mut launch = self.gpu.stream.launch_builder(&self.second);
        launch.arg(&all).arg(&cols).arg(&self.bias).arg(&mut self.c);
        // SAFETY: the arguments are what the kernel takes; C has so many elements, in rows of `cols`.
        unsafe { launch.launch(grid_1d(blocks(n, THREADS * WIDTH), THREADS)) }?;
        Ok(())
    }

    fn by_two(&mut self) -> Result<(), StepError> {
        self.gemm.multiply(&Product::new(self.shape), &self.a, &self.b, &mut self.c)?;
        self.second()
    }

    /// Enqueues the product by cuBLASLt.
    fn light(&mut self, product: &mut Light, algorithm: usize) -> Result<(), StepError> {
        let stream = &self.gpu.stream;
        let (a, _reads_a) = self.a.device_ptr(stream);
        let (b, _reads_b) = self.b.device_ptr(stream);
        let (c, _writes_c) = self.c.device_ptr_mut(stream);
        // SAFETY: the operands are on the device, of `shape` and in bf16, in cuBLAS's order.
        let done = unsafe { product.enqueue(algorithm, stream, [b as *const _, a as *const _], c as *mut _) };
        done.map_err(|error| StepError::CouldNot(format!("cuBLASLt refuses it: {:?}", error.0)))
    }

    fn result(&self) -> Result<Vec<f64>, StepError> {
        Ok(self.gpu.stream.clone_dtoh(&self.c)?.into_iter().map(Bf16::to_f64).collect())
    }

    /// Fails unless C is near what it should be. With two kernels it is rounded twice.
    fn compare(&self, right: &[f64], who: &str) -> Result<(), StepError> {
        let far = |(x, y): (&f64, &f64)| (x - y).abs() > y.abs().max(1.0) / 64.0;
        match self.result()?.iter().zip(right).position(far) {
            Some(i) => Err(StepError::CouldNot(format!("{}: element {i} by {who} is wrong", self.shape))),
            None => Ok(()),
        }
    }

    /// Compares C by all plans and by cuBLASLt with C by two kernels.
    fn verify(&mut self) -> Result<(), StepError> {
        self.by_two()?;
        let right = self.result()?;
        self.fused(None)?;
        self.compare(&right, "the chosen plan")?;
        for (plan, of) in Bf16::PLANS.iter().enumerate().filter(|(_, plan)| plan.fused) {
            self.gpu.stream.memset_zeros(&mut self.c)?;
            self.fused(Some(plan))?;
            self.compare(&right, of.name)?;
        }
        if let Some(mut product) = self.fused_light() {
            self.light(&mut product, 0)?;
            self.compare(&right, "cuBLASLt")?;
        }
        Ok(())
    }

    fn fused_light(&self) -> Option<Light> {
        let (bias, _reads) = self.bias_of_bf16.device_ptr(&self.gpu.stream);
        Light::of_bf16(self.gpu, self.shape, Some(bias))
    }

    /// Returns microseconds, of a graph of launches.
    fn us(&mut self, mut put: impl FnMut(&mut Self) -> Result<(), StepError>) -> Result<f64, StepError> {
        let gpu = self.gpu;
        put(self)?;
        gpu.replayed_us(BATCH_MS, 2..=1000, ROUNDS, || put(self))
    }

    /// The fastest of cuBLASLt's algorithms.
    fn us_of_light(&mut self, product: Option<Light>, and_second: bool) -> Result<f64, StepError> {
        let Some(mut product) = product else { return Ok(f64::NAN) };
        let mut least = f64::INFINITY;
        for i in 0..product.count() {
            let us = self.us(|bench| {
                bench.light(&mut product, i)?;
                if and_second { bench.second() } else { Ok(()) }
            })?;
            least = least.min(us);
        }
        Ok(least)
    }
}

/// Prints the table, row by row.
fn measure(gpu: &Gpu) -> Result<(), StepError> {
    let date = catalog::time::utc(catalog::time::now());
    out::write(&format!(
        "{}, CUDA {}, {date}; microseconds\n\
         \x20                |      v12_gemm      |      cuBLASLt      | C, written once\n\
         M x N x K        |   one two kernels  |   one two kernels  |      MB\n",
        gpu.info.name, gpu.info.driver
    ))?;
    for shape in SHAPES {
        let mut bench = Bench::new(gpu, shape)?;
        if bench.c.len() <= COMPARED {
            bench.verify()?;
        }
        let ours = [bench.us(|bench| bench.fused(None))?, bench.us(Bench::by_two)?];
        let fused = bench.fused_light();
        let plain = Light::of_bf16(gpu, bench.shape, None);
        let theirs = [bench.us_of_light(fused, false)?, bench.us_of_light(plain, true)?];
        let mb = (bench.c.len() * size_of::<Bf16>()) as f64 / 1e6;
        let ([a, b], [c, d], name) = (ours, theirs, bench.shape.to_string());
        out::write(&format!("{name:16} | {a:7.2} {b:7.2}    | {c:7.2} {d:7.2}    | {mb:7.2}\n"))?;
    }
    Ok(())
}

fn run() -> Result<(), StepError> {
    let gpu = Gpu::find()?;
    if gpu.emulator.is_none() {
        return measure(&gpu);
    }
    for shape in FEW {
        Bench::new(&gpu, shape)?.verify()?;
    }
    out::write("The results agree. The emulated device has no time of these kernels.\n")
}

fn main() -> ExitCode {
    harness::exit_code(run().map(|()| ExitCode::SUCCESS))
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_kernel_and_two_agree() {
        super::run().expect("they do");
    }
}

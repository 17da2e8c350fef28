//! How far sums on tensor cores are off, beside those of FP32 multiply-adds, as K grows.
//!
//! The emulated device adds as compute capability 9.0 does, so a card of that kind gives the same bits.
//! With the word `fp32` it compares ways to FP32, v12's among them.

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaContext, CudaModule, CudaSlice, CudaStream, DevicePtr as _, DeviceRepr, LaunchConfig,
    PushKernelArg as _,
};
use cudarc::nvrtc::Ptx;
use lab::inputs::{Data, elements};
use lab::parts::parts;
use lab::{Code, Shape, bf16, code, int};

/// Rows and columns of C.
const EDGE: usize = 16;
const DEPTHS: [usize; 4] = [16, 128, 1024, 4096];

/// What is compared.
struct Compared {
    heading: &'static str,
    code: Code,
    entry: &'static str,
    threads: u32,
}

impl Compared {
    const fn new(heading: &'static str, code: Code, entry: &'static str) -> Self {
        Self {
            heading,
            code,
            entry,
            threads: 256,
        }
    }
}

const FP32: Compared = Compared::new("FP32", code!("v07_double_buffer"), "sgemm_v07_double_buffer");
const BF16: Compared = Compared::new("bf16", code!("v10_shared"), "bf16gemm_v10_shared");
const TF32: Compared = Compared::new("TF32", code!("v10_shared"), "tf32gemm_v10_shared");
const THREE_TF32: Compared = Compared::new("3 x TF32", code!("v10_three_tf32"), "sgemm_v10_three_tf32");
const SIX_BF16: Compared = Compared::new("6 x bf16", code!("v12_six_bf16"), "sgemm_v12_six_bf16");

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    emulated::preload()?;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernels: &[Compared] = match std::env::args().nth(1).as_deref() {
        None => &[FP32, BF16, TF32, THREE_TF32],
        Some("fp32") => &[FP32, THREE_TF32, SIX_BF16],
        Some(word) => return Err(format!("unknown word `{word}`: say `fp32`, or nothing").into()),
    };
    let load = |kernel: &Compared| context.load_module(Ptx::from_src(kernel.code.ptx));
    let modules = kernels.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    println!(
        "errors of {EDGE} x {EDGE} sums of K products, in units of 2^-24 of the sum of |a b|: the largest"
    );
    println!("error, and the mean with its sign away from zero");
    for (of, what) in [
        (draw as fn(u64, usize) -> Vec<f32>, "elements from -1 to 1"),
        (positive, "elements from 0 to 1"),
    ] {
        println!("\n{what}");
        print!("{:>6}", "K");
        for kernel in kernels {
            print!("{:>22}", kernel.heading);
        }
        println!();
        for k in DEPTHS {
            let (a, b) = (of(0, EDGE * k), of(1, k * EDGE));
            print!("{k:>6}");
            for (kernel, module) in kernels.iter().zip(&modules) {
                let launch = Launch {
                    stream: &stream,
                    module,
                    kernel,
                    k,
                };
                let errors = match kernel.heading {
                    "bf16" => {
                        let short = |x: &[f32]| x.iter().map(|v| bf16::from_f32(*v)).collect::<Vec<_>>();
                        let (a, b) = (short(&a), short(&b));
                        let c = launch.run(&a, &b)?;
                        let wide = |x: &[bf16]| x.iter().map(|v| v.to_f32()).collect::<Vec<_>>();
                        Errors::of(&wide(&a), &wide(&b), k, &c)
                    }
                    "6 x bf16" => Errors::of(&a, &b, k, &launch.run_in_parts(&a, &b)?),
                    _ => Errors::of(&a, &b, k, &launch.run(&a, &b)?),
                };
                print!("{:>12.3}{:>+10.3}", errors.largest, errors.mean);
            }
            println!();
        }
    }
    Ok(())
}

fn draw(operand: u64, n: usize) -> Vec<f32> {
    elements(Data::Reals, 1, operand, n, n)
}

fn positive(operand: u64, n: usize) -> Vec<f32> {
    draw(operand, n).into_iter().map(f32::abs).collect()
}

struct Launch<'a> {
    stream: &'a std::sync::Arc<CudaStream>,
    module: &'a std::sync::Arc<CudaModule>,
    kernel: &'a Compared,
    k: usize,
}

impl Launch<'_> {
    /// C, row-major: one block has all of it.
    fn run<T: DeviceRepr>(&self, a: &[T], b: &[T]) -> Result<Vec<f32>, Failure> {
        let Compared { entry, threads, .. } = *self.kernel;
        let function = self.module.load_function(entry)?;
        let (a, b) = (self.stream.clone_htod(a)?, self.stream.clone_htod(b)?);
        let mut c: CudaSlice<f32> = self.stream.alloc_zeros(EDGE * EDGE)?;
        let (edge, k) = (int(EDGE), int(self.k));
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = self.stream.launch_builder(&function);
        launch.arg(&edge).arg(&edge).arg(&k);
        launch.arg(&a).arg(&b).arg(&mut c);
        // SAFETY: the arguments are what the kernels take; a has EDGE * k elements, b k * EDGE, c EDGE * EDGE.
        unsafe { launch.launch(config) }?;
        Ok(self.stream.clone_dtoh(&c)?)
    }

    /// The same, by v12: A and B are split first, and two blocks of a cluster have C.
    fn run_in_parts(&self, a: &[f32], b: &[f32]) -> Result<Vec<f32>, Failure> {
        const THREADS: u32 = 3 * 128;
        const SHARED: u32 = 7 * (32768 + 16);
        let function = self.module.load_function(self.kernel.entry)?;
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(attribute, SHARED.cast_signed())?;
        let split = self.module.load_function("split_v12")?;
        let (a, b) = (self.stream.clone_htod(a)?, self.stream.clone_htod(b)?);
        let mut c: CudaSlice<f32> = self.stream.alloc_zeros(EDGE * EDGE)?;
        let shape = Shape {
            m: EDGE,
            n: EDGE,
            k: self.k,
        };
        let [of_a, of_b] = parts(shape);
        let memory: CudaSlice<u8> = self.stream.alloc_zeros(of_a.bytes() + of_b.bytes())?;
        let (a_at, _) = memory.device_ptr(self.stream);
        let b_at = a_at + of_a.bytes() as u64;
        // SAFETY: there is memory for the parts of both.
        unsafe {
            of_a.split(self.stream, &split, &a, a_at)?;
            of_b.split(self.stream, &split, &b, b_at)?;
        }
        let (a_maps, b_maps) = (of_a.maps(a_at, 128, 64)?, of_b.maps(b_at, 32, 64)?);
        let config = LaunchConfig {
            grid_dim: (2, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: SHARED,
        };
        let (edge, k) = (int(EDGE), int(self.k));
        let mut launch = self.stream.launch_builder(&function);
        launch.arg(&edge).arg(&edge).arg(&k).arg(&1.0_f32);
        launch.arg(&a_maps).arg(&b_maps).arg(&mut c);
        // SAFETY: the arguments are what the kernel takes; the maps end with the parts, and c has EDGE * EDGE.
        unsafe { launch.launch(config) }?;
        Ok(self.stream.clone_dtoh(&c)?)
    }
}

/// Errors as parts of Σ|a b|, in units of 2⁻²⁴.
struct Errors {
    largest: f64,
    /// Positive where the result is farther from zero than the sum.
    mean: f64,
}

impl Errors {
    fn of(a: &[f32], b: &[f32], k: usize, c: &[f32]) -> Self {
        let unit = 2.0_f64.powi(-24);
        let (mut largest, mut total) = (0.0_f64, 0.0);
        for (index, c) in c.iter().enumerate() {
            let (row, col) = (index / EDGE, index % EDGE);
            let term = |i: usize| f64::from(a[row * k + i]) * f64::from(b[i * EDGE + col]);
            let exact: f64 = (0..k).map(term).sum();
            let size: f64 = (0..k).map(|i| term(i).abs()).sum();
            let error = (f64::from(*c) - exact) * exact.signum() / size / unit;
            largest = largest.max(error.abs());
            total += error;
        }
        Self {
            largest,
            mean: total / c.len() as f64,
        }
    }
}

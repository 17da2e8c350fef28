//! How far sums on tensor cores are off, beside those of FP32 multiply-adds, as K grows.
//!
//! The emulated device adds as compute capability 9.0 does, so a card of that kind gives the same bits.
//! With the word `fp32` it compares ways to FP32, v12's among them; with `narrow`, v12's products of TF32 and e4m3.

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr as _, LaunchConfig,
    PushKernelArg as _,
};
use cudarc::nvrtc::Ptx;
use harness::inputs::{Data, Real, elements, transposed};
use harness::map::{Element, Matrix, Swizzle};
use harness::parts::parts;
use harness::{Bf16, E4m3, KernelSource, Shape, code, grid_1d, to_i32};

const EDGE: usize = 16;
const DEPTHS: [usize; 4] = [16, 128, 1024, 4096];

struct Compared {
    heading: &'static str,
    code: KernelSource,
    entry: &'static str,
    threads: u32,
    shared: u32,
    /// Blocks that work together on C.
    blocks: u32,
    takes: Takes,
    errors: ErrorsOf,
}

/// Launches a kernel on A and B, rounded to what it multiplies, and returns the errors of C.
type ErrorsOf = fn(&Launch<'_>, &[f32], &[f32]) -> Result<Errors, Failure>;

#[derive(Clone, Copy)]
enum Takes {
    Matrices,
    /// α, and tensor maps of A, of B stored transposed, and of C. Clusters are pairs of blocks.
    Maps(
        Element,
        /// Rows of a box of A, and of one of B.
        [u32; 2],
    ),
}

impl Compared {
    const fn new(heading: &'static str, code: KernelSource, entry: &'static str) -> Self {
        Self {
            heading,
            code,
            entry,
            threads: 256,
            shared: 0,
            blocks: 1,
            takes: Takes::Matrices,
            errors: |launch, a, b| launch.errors(a, b, |v| v),
        }
    }

    /// Returns a kernel of v12, with a ring of tiles and boxes of C.
    const fn on_hopper(heading: &'static str, code: KernelSource, entry: &'static str, takes: Takes) -> Self {
        Self { threads: 288, shared: 229_440, blocks: 2, takes, ..Self::new(heading, code, entry) }
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig { shared_mem_bytes: self.shared, ..grid_1d(self.blocks, self.threads) }
    }
}

const FP32: Compared = Compared::new("FP32", code!("v07_double_buffer"), "sgemm_v07_double_buffer");
const BF16: Compared = Compared {
    errors: |launch, a, b| launch.errors(a, b, Bf16::from_f32),
    ..Compared::new("bf16", code!("v10_shared"), "bf16gemm_v10_shared")
};
const TF32: Compared = Compared::new("TF32", code!("v10_shared"), "tf32gemm_v10_shared");
const THREE_TF32: Compared = Compared::new("3 x TF32", code!("v10_three_tf32"), "sgemm_v10_three_tf32");
const SIX_BF16: Compared = Compared {
    threads: 3 * 128,
    shared: 7 * (32768 + 16),
    blocks: 2,
    errors: |launch, a, b| launch.errors_in_parts(a, b),
    ..Compared::new("6 x bf16", code!("v12_six_bf16"), "sgemm_v12_six_bf16")
};
const CUT: Compared = Compared::on_hopper(
    "TF32, cut",
    code!("v12_tf32"),
    "gemm_v12_tf32_f32",
    Takes::Maps(Element::F32, [128, 128]),
);
const ROUNDED: Compared =
    Compared { heading: "TF32, rounded", takes: Takes::Maps(Element::Tf32, [128, 128]), ..CUT };
const E4M3: Compared = Compared {
    errors: |launch, a, b| launch.errors(a, b, |v| E4m3::from_f64(v.into())),
    ..Compared::on_hopper(
        "e4m3",
        code!("v12_fp8"),
        "gemm_v12_fp8_fast_f32",
        Takes::Maps(Element::E4m3, [128, 96]),
    )
};
const PROMOTED: Compared =
    Compared { heading: "e4m3, promoted", entry: "gemm_v12_fp8_f32", threads: 384, ..E4M3 };

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    emulator_client::preload()?;
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    // And digits behind the point.
    let (kernels, digits): (&[Compared], usize) = match std::env::args().nth(1).as_deref() {
        None => (&[FP32, BF16, TF32, THREE_TF32], 3),
        Some("fp32") => (&[FP32, THREE_TF32, SIX_BF16], 3),
        Some("narrow") => (&[CUT, ROUNDED, E4M3, PROMOTED], 0),
        Some(word) => {
            return Err(format!("unknown word `{word}`: say `fp32`, `narrow`, or nothing").into());
        }
    };
    let load = |kernel: &Compared| context.load_module(Ptx::from_src(kernel.code.ptx));
    let modules = kernels.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    println!(
        "errors of {EDGE} x {EDGE} sums of K products, in units of 2^-24 of the sum of |a b|: the largest"
    );
    println!("error, and the mean with its sign away from zero");
    for (of, what) in
        [(draw as fn(u64, usize) -> Vec<f32>, "elements from -1 to 1"), (positive, "elements from 0 to 1")]
    {
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
                let launch = Launch { stream: &stream, module, kernel, k };
                let errors = (kernel.errors)(&launch, &a, &b)?;
                print!("{:>12.digits$}{:>+10.digits$}", errors.largest, errors.mean);
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
    /// Returns the errors of C, computed from rounded elements.
    fn errors<T: Real>(&self, a: &[f32], b: &[f32], round: impl Fn(f32) -> T) -> Result<Errors, Failure> {
        let short = |x: &[f32]| x.iter().map(|v| round(*v)).collect::<Vec<T>>();
        let (a, b) = (short(a), short(b));
        let c = self.run(&a, &b)?;
        Ok(Errors::of(&a, &b, self.k, &c))
    }

    fn function(&self, entry: &str, shared: u32) -> Result<CudaFunction, Failure> {
        let function = self.module.load_function(entry)?;
        if shared > 0 {
            function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared.cast_signed())?;
        }
        Ok(function)
    }

    fn run<T: Real>(&self, a: &[T], b: &[T]) -> Result<Vec<f32>, Failure> {
        let Compared { entry, shared, takes, .. } = *self.kernel;
        let function = self.function(entry, shared)?;
        let b = match takes {
            Takes::Maps(..) => transposed(b, self.k, EDGE),
            _ => b.to_vec(),
        };
        let (a, b) = (self.stream.clone_htod(a)?, self.stream.clone_htod(&b)?);
        let mut c: CudaSlice<f32> = self.stream.alloc_zeros(EDGE * EDGE)?;
        let (edge, k, alpha) = (to_i32(EDGE), to_i32(self.k), 1.0_f32);
        let mut launch = self.stream.launch_builder(&function);
        launch.arg(&edge).arg(&edge).arg(&k);
        let maps;
        match takes {
            Takes::Maps(element, [a_rows, b_rows]) => {
                launch.arg(&alpha);
                const ROW_BYTES: usize = 128;
                let boxed = |rows, columns| (rows, (ROW_BYTES / columns) as u32);
                maps = [
                    (self.address(&a), self.k, element, boxed(a_rows, size_of::<T>())),
                    (self.address(&b), self.k, element, boxed(b_rows, size_of::<T>())),
                    (self.address(&c), EDGE, Element::F32, boxed(64, size_of::<f32>())),
                ]
                .map(|(address, cols, element, (box_rows, box_cols))| {
                    let matrix = Matrix { address, rows: EDGE, cols, pitch: cols, element };
                    matrix.map(box_rows, box_cols, Swizzle::ByRow)
                });
                for map in &maps {
                    launch.arg(map.as_ref().map_err(|error| error.to_string())?);
                }
            }
            Takes::Matrices => {
                launch.arg(&a).arg(&b).arg(&mut c);
            }
        }
        // SAFETY: the arguments are those of the kernels: a has EDGE * k elements, b k * EDGE, c EDGE * EDGE.
        unsafe { launch.launch(self.kernel.config()) }?;
        Ok(self.stream.clone_dtoh(&c)?)
    }

    /// Returns the errors of C from three bf16 parts of each element, split by a kernel that is launched first.
    fn errors_in_parts(&self, a: &[f32], b: &[f32]) -> Result<Errors, Failure> {
        let function = self.function(self.kernel.entry, self.kernel.shared)?;
        let split = self.module.load_function("split_v12")?;
        let (a_there, b_there) = (self.stream.clone_htod(a)?, self.stream.clone_htod(b)?);
        let mut c: CudaSlice<f32> = self.stream.alloc_zeros(EDGE * EDGE)?;
        let shape = Shape { m: EDGE, n: EDGE, k: self.k };
        let [of_a, of_b] = parts(shape);
        let memory: CudaSlice<u8> = self.stream.alloc_zeros(of_a.bytes() + of_b.bytes())?;
        let (a_at, _) = memory.device_ptr(self.stream);
        let b_at = a_at + of_a.bytes() as u64;
        // SAFETY: there is memory for the parts of both.
        unsafe {
            of_a.split(self.stream, &split, &a_there, a_at)?;
            of_b.split(self.stream, &split, &b_there, b_at)?;
        }
        let (a_maps, b_maps) = (of_a.maps(a_at, 128, 64)?, of_b.maps(b_at, 32, 64)?);
        let (edge, k, alpha) = (to_i32(EDGE), to_i32(self.k), 1.0_f32);
        let mut launch = self.stream.launch_builder(&function);
        launch.arg(&edge).arg(&edge).arg(&k).arg(&alpha);
        launch.arg(&a_maps).arg(&b_maps).arg(&mut c);
        // SAFETY: the arguments are what the kernel takes; the maps end with the parts, and c has EDGE * EDGE.
        unsafe { launch.launch(self.kernel.config()) }?;
        Ok(Errors::of(a, b, self.k, &self.stream.clone_dtoh(&c)?))
    }

    /// Returns the address of elements, which only one stream uses.
    fn address<T: Real>(&self, x: &CudaSlice<T>) -> u64 {
        x.device_ptr(self.stream).0
    }
}

/// Errors as parts of Σ|a b|, in units of 2⁻²⁴.
struct Errors {
    largest: f64,
    /// Positive where the result is farther from zero than the sum.
    mean: f64,
}

impl Errors {
    fn of<T: Real>(a: &[T], b: &[T], k: usize, c: &[f32]) -> Self {
        let unit = 2.0_f64.powi(-24);
        let (mut largest, mut total) = (0.0_f64, 0.0);
        for (index, c) in c.iter().enumerate() {
            let (row, col) = (index / EDGE, index % EDGE);
            let term = |i: usize| a[row * k + i].to_f64() * b[i * EDGE + col].to_f64();
            let exact: f64 = (0..k).map(term).sum();
            let size: f64 = (0..k).map(|i| term(i).abs()).sum();
            let error = (f64::from(*c) - exact) * exact.signum() / size / unit;
            largest = largest.max(error.abs());
            total += error;
        }
        Self { largest, mean: total / c.len() as f64 }
    }
}

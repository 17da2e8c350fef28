//! Matrix products on the emulated GPU, and the reference that they must equal bit for bit.

use catalog::parallel;
use diagnostics::Report;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::Deserialize;
use simt::launch::{CheckLevel, LaunchOptions};

use crate::gpu::{Argument, Geometry, Gpu, Value};
use crate::recorded;

pub trait Number: Value + Into<f64> + PartialEq + Send + Sync {
    const NAN: Self;
    const ZERO: Self;
    fn random(rng: &mut ChaCha8Rng) -> Self;
    fn mul_add(self, b: Self, c: Self) -> Self;
}

macro_rules! numbers {
    ($($ty:ident),*) => { $(
        impl Number for $ty {
            const NAN: Self = $ty::NAN;
            const ZERO: Self = 0.0;
            fn random(rng: &mut ChaCha8Rng) -> Self {
                rng.random_range(-1.0..1.0)
            }
            fn mul_add(self, b: Self, c: Self) -> Self {
                $ty::mul_add(self, b, c)
            }
        }
    )* };
}
numbers!(f32, f64);

/// C = A · B, row-major, with A of `m` × `k` and B of `k` × `n`.
#[derive(Debug, Clone)]
pub struct Product<T = f32> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Vec<T>,
    pub b: Vec<T>,
}

/// A kernel with the parameters `(int M, int N, int K, const float* A, const float* B, float* C)`, or of doubles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemmKernel {
    pub name: String,
    pub tile: [usize; 2],
    pub threads: u32,
    /// Bytes of dynamic shared memory per k.
    #[serde(default)]
    pub strip: usize,
    /// `blockIdx.x` is the row of tiles.
    #[serde(default)]
    pub down: bool,
}

impl GemmKernel {
    pub fn ptx(&self) -> String {
        recorded::ptx(recorded::kernel(&self.name).source.expect("a source"))
    }

    /// Returns the PTX of the sibling in Rust, if there is one.
    pub fn rust_ptx(&self) -> Option<String> {
        let source = recorded::kernel(&self.name).source.expect("a source");
        std::fs::read_to_string(crate::root().join(format!("kernels/rust/ptx/{source}.ptx"))).ok()
    }

    /// Launches the kernel of this PTX. The last matrix of its parameters is `target`, and C or the transposed one.
    pub fn launch<T: Value>(
        &self, gpu: &Gpu, ptx: &str, sizes: &[usize], inputs: &[&[T]], target: u64, options: LaunchOptions,
    ) -> Result<Report, String> {
        let module = gpu.load(ptx).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let mut arguments: Vec<Argument> = sizes.iter().map(|&size| (size as i32).into()).collect();
        arguments.extend(inputs.iter().map(|input| Argument::from(gpu.upload(input))));
        arguments.push(target.into());
        let [y, x] = [0, 1].map(|axis| sizes[axis].div_ceil(self.tile[axis]) as u32);
        let blocks = if self.down { [y, x] } else { [x, y] };
        let dynamic_shared = (self.strip * sizes[sizes.len() - 1]) as u32;
        let shape = Geometry { dynamic_shared, ..Geometry::plane(blocks, [self.threads, 1]) };
        gpu.launch(&module, &self.name, shape, &arguments, options)
    }

    /// Runs a transpose, with all checks, of a matrix in which each element has a value of its own.
    #[track_caller]
    pub fn check_transpose(&self, ptx: &str, rows: usize, cols: usize) -> Report {
        let gpu = Gpu::default();
        let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let target = gpu.upload(&vec![f32::NAN; rows * cols]);
        let report = self.launch(&gpu, ptx, &[rows, cols], &[&input], target, LaunchOptions::default());
        let name = format!("{} of {rows} x {cols}", self.name);
        let report = report.and_then(crate::gpu::clean).unwrap_or_else(|refused| panic!("{name}: {refused}"));
        assert_eq!(gpu.read::<f32>(target, rows * cols), transposed(&input, rows, cols), "{name}");
        report
    }
}

pub fn transposed(matrix: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    (0..rows * cols).map(|i| matrix[i % rows * cols + i / rows]).collect()
}

impl<T: Number> Product<T> {
    /// Returns matrices with elements in -1 .. 1, from a seed.
    pub fn random(m: usize, n: usize, k: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut matrix = |words| (0..words).map(|_| T::random(&mut rng)).collect();
        Self { m, n, k, a: matrix(m * k), b: matrix(k * n) }
    }

    /// Computes each element as one chain of fused multiply-adds, k from 0 upwards.
    pub fn reference(&self) -> Vec<T> {
        self.chains(T::mul_add)
    }

    /// Computes C by chains of `add(a, b, c)`: rows in parallel, columns side by side.
    fn chains(&self, add: impl Fn(T, T, T) -> T + Sync) -> Vec<T> {
        let &Self { m, n, k, .. } = self;
        let row = |row: &usize| {
            let mut c = vec![T::ZERO; n];
            for (&a, b) in self.a[row * k..][..k].iter().zip(self.b.chunks(n)) {
                c.iter_mut().zip(b).for_each(|(c, &b)| *c = add(a, b, *c));
            }
            c
        };
        parallel::run(&(0..m).collect::<Vec<_>>(), usize::MAX, row, |_| true).concat()
    }

    /// Runs a kernel of this PTX with C full of NaN before: no check may find anything, and each bit of C must be that
    /// of `want`.
    #[track_caller]
    pub fn check(&self, kernel: &GemmKernel, ptx: &str, check_level: CheckLevel, want: &[T]) -> Report {
        let &Self { m, n, k, .. } = self;
        let name = format!("{} on {m} x {n} x {k}", kernel.name);
        let gpu = Gpu::with_memory(1 << 34);
        let c = gpu.upload(&vec![T::NAN; m * n]);
        let options = LaunchOptions { check_level, ..LaunchOptions::default() };
        let report = kernel.launch(&gpu, ptx, &[m, n, k], &[&self.a, &self.b], c, options);
        let report = report.unwrap_or_else(|refused| panic!("{name}: {refused}"));
        if let Some(finding) = report.findings.first() {
            panic!("{name}: {}", finding.text);
        }
        for (i, (got, &want)) in gpu.read::<T>(c, m * n).into_iter().zip(want).enumerate() {
            let (got, want): (f64, f64) = (got.into(), want.into());
            let same = got.to_bits() == want.to_bits();
            assert!(same, "{name}: C[{}][{}] is {got}, not {want}", i / n, i % n);
        }
        report
    }
}

impl Product {
    /// Computes [`Self::reference`] of whole numbers whose sums are exact, without the library function that fuses.
    pub fn reference_of_whole(&self) -> Vec<f32> {
        self.chains(|a, b, c| a * b + c)
    }
}

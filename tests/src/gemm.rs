//! Matrix products on the emulated GPU, and the reference that they must equal bit for bit.

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

    /// Runs a transpose, with all checks, of a matrix in which each element has a value of its own.
    #[track_caller]
    pub fn check_transpose(&self, ptx: &str, rows: usize, cols: usize) -> Report {
        let name = format!("{} of {rows} x {cols}", self.name);
        let gpu = Gpu::default();
        let module = gpu.load(ptx).unwrap_or_else(|error| panic!("{name}: {error}"));
        let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let (source, target) = (gpu.upload(&input), gpu.upload(&vec![f32::NAN; rows * cols]));
        let blocks = [cols.div_ceil(self.tile[1]), rows.div_ceil(self.tile[0])].map(|n| n as u32);
        let arguments = [(rows as i32).into(), (cols as i32).into(), source.into(), target.into()];
        let shape = Geometry::plane(blocks, [self.threads, 1]);
        let report = gpu.launch(&module, &self.name, shape, &arguments, LaunchOptions::default());
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
    fn chains(&self, add: impl Fn(T, T, T) -> T + Copy + Send) -> Vec<T> {
        let &Self { m, n, k, .. } = self;
        let mut c = vec![T::ZERO; m * n];
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let rows_each = m.div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            for (c, a) in c.chunks_mut(rows_each * n).zip(self.a.chunks(rows_each * k)) {
                scope.spawn(move || {
                    for (c, a) in c.chunks_mut(n).zip(a.chunks(k)) {
                        for (&a, b) in a.iter().zip(self.b.chunks(n)) {
                            c.iter_mut().zip(b).for_each(|(c, &b)| *c = add(a, b, *c));
                        }
                    }
                });
            }
        });
        c
    }

    /// Runs a kernel of this PTX with C full of NaN before: no check may find anything, and each bit of C must be that
    /// of `want`.
    #[track_caller]
    pub fn check(&self, kernel: &GemmKernel, ptx: &str, check_level: CheckLevel, want: &[T]) -> Report {
        let &Self { m, n, k, .. } = self;
        let name = format!("{} on {m} x {n} x {k}", kernel.name);
        let gpu = Gpu::with_memory(1 << 34);
        let module = gpu.load(ptx).unwrap_or_else(|error| panic!("{name}: {error}"));
        let c = gpu.upload(&vec![T::NAN; m * n]);
        let mut arguments: Vec<Argument> = [m, n, k].map(|size| Argument::from(size as i32)).into();
        arguments.extend([gpu.upload(&self.a), gpu.upload(&self.b), c].map(Argument::from));
        let [rows, cols] = kernel.tile;
        let shape = Geometry {
            grid: [n.div_ceil(cols) as u32, m.div_ceil(rows) as u32, 1],
            block: [kernel.threads, 1, 1],
            dynamic_shared: (kernel.strip * k) as u32,
        };
        let options = LaunchOptions { check_level, ..LaunchOptions::default() };
        let report = gpu.launch(&module, &kernel.name, shape, &arguments, options);
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

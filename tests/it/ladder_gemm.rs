//! The kernels v01–v07: right on every shape with all checks on, and each does what its step is about.
//!
//! Every kernel adds its products with k from 0 upwards, one fused multiply-add each, so its answer equals a
//! `mul_add` loop bit for bit: past an edge it adds zeros, which change nothing.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use simt::report::LaunchReport;
use tests::gpu::{Argument, Gpu, Shape, Value};

/// One entry of the ladder and how it is launched.
#[derive(Debug, Clone, Copy)]
struct Entry {
    name: &'static str,
    ptx: &'static str,
    /// Rows and columns of C that a block owns.
    tile: [usize; 2],
    threads: u32,
    /// Bytes of dynamic shared memory per k.
    strip: usize,
}

macro_rules! entry {
    ($name:literal, $file:literal, $tile:expr, $threads:expr) => {
        Entry {
            name: $name,
            ptx: include_str!(concat!("../../kernels/ptx/", $file, ".ptx")),
            tile: $tile,
            threads: $threads,
            strip: 0,
        }
    };
}

const V01_ROW: Entry = entry!("sgemm_v01_row_per_lane", "v01_row_per_lane", [32, 32], 1024);
const V01_COL: Entry = entry!("sgemm_v01_col_per_lane", "v01_col_per_lane", [32, 32], 1024);
const V02_TILE16: Entry = entry!("sgemm_v02_tile16", "v02_shared", [16, 16], 256);
const V02_TILE32: Entry = entry!("sgemm_v02_tile32", "v02_shared", [32, 32], 1024);
const V02_STRIP: Entry = Entry {
    strip: 2 * 16 * size_of::<f32>(),
    ..entry!("sgemm_v02_strip", "v02_strip", [16, 16], 256)
};
const V03_GLOBAL: Entry = entry!("sgemm_v03_from_global", "v03_from_global", [128, 128], 256);
const V03_SHARED: Entry = entry!("sgemm_v03_from_shared", "v03_from_shared", [128, 128], 256);
const V04: Entry = entry!("sgemm_v04_float4", "v04_float4", [128, 128], 256);
const V05: Entry = entry!(
    "sgemm_v05_bank_conflict_free",
    "v05_bank_conflict_free",
    [128, 128],
    256
);
const V06: Entry = entry!("sgemm_v06_outer_product", "v06_outer_product", [128, 128], 256);
const V07: Entry = entry!("sgemm_v07_double_buffer", "v07_double_buffer", [128, 128], 256);

const SINGLE: [Entry; 11] = [
    V01_ROW, V01_COL, V02_TILE16, V02_TILE32, V02_STRIP, V03_GLOBAL, V03_SHARED, V04, V05, V06, V07,
];
const DOUBLE: [Entry; 4] = [
    entry!("dgemm_v01_row_per_lane", "v01_row_per_lane", [32, 32], 1024),
    entry!("dgemm_v01_col_per_lane", "v01_col_per_lane", [32, 32], 1024),
    entry!("dgemm_v02_tile16", "v02_shared", [16, 16], 256),
    entry!("dgemm_v02_tile32", "v02_shared", [32, 32], 1024),
];

/// What the tests need of `f32` and `f64`.
trait Number: Value + Into<f64> {
    const NAN: Self;
    fn random(rng: &mut ChaCha8Rng) -> Self;
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn zero() -> Self;
}

macro_rules! numbers {
    ($($ty:ident),*) => { $(
        impl Number for $ty {
            const NAN: Self = $ty::NAN;
            fn random(rng: &mut ChaCha8Rng) -> Self {
                rng.random_range(-1.0..1.0)
            }
            fn mul_add(self, b: Self, c: Self) -> Self {
                $ty::mul_add(self, b, c)
            }
            fn zero() -> Self {
                0.0
            }
        }
    )* };
}
numbers!(f32, f64);

/// C = A · B with A of M × K and B of K × N.
struct Problem<T> {
    shape: [usize; 3],
    a: Vec<T>,
    b: Vec<T>,
    want: Vec<T>,
}

impl<T: Number> Problem<T> {
    fn new(shape: [usize; 3]) -> Self {
        let [m, n, k] = shape;
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        let a: Vec<T> = (0..m * k).map(|_| T::random(&mut rng)).collect();
        let b: Vec<T> = (0..k * n).map(|_| T::random(&mut rng)).collect();
        let mut want = vec![T::zero(); m * n];
        for (row, out) in want.chunks_mut(n).enumerate() {
            for (a, b_row) in a[row * k..][..k].iter().zip(b.chunks(n)) {
                for (c, b) in out.iter_mut().zip(b_row) {
                    *c = a.mul_add(*b, *c);
                }
            }
        }
        Self { shape, a, b, want }
    }

    /// Runs an entry with all checks on, and compares every bit of C.
    #[track_caller]
    fn check(&self, entry: Entry) -> LaunchReport {
        let [m, n, k] = self.shape;
        let gpu = Gpu::default();
        let module = gpu.load(entry.ptx).expect("committed PTX loads");
        let c = gpu.upload(&vec![T::NAN; m * n]);
        let shape = Shape {
            grid: [
                n.div_ceil(entry.tile[1]) as u32,
                m.div_ceil(entry.tile[0]) as u32,
                1,
            ],
            block: [entry.threads, 1, 1],
            shared: (entry.strip * k) as u32,
        };
        let mut arguments: Vec<Argument> = self.shape.iter().map(|&size| (size as i32).into()).collect();
        arguments.extend([gpu.upload(&self.a), gpu.upload(&self.b), c].map(Argument::from));
        let report = gpu.run(&module, entry.name, shape, &arguments);

        for (i, (got, want)) in gpu.read::<T>(c, m * n).into_iter().zip(&self.want).enumerate() {
            let (got, want): (f64, f64) = (got.into(), (*want).into());
            let place = format!("{} on {m} x {n} x {k}: C[{}][{}]", entry.name, i / n, i % n);
            assert_eq!(got.to_bits(), want.to_bits(), "{place} is {got}, not {want}");
        }
        report
    }
}

/// One, rows and columns alone, primes, tile ± 1, less than a tile deep, odd numbers of tiles, N % 4 ≠ 0.
const AWKWARD: [[usize; 3]; 15] = [
    [1, 1, 1],
    [1, 130, 3],
    [131, 1, 5],
    [2, 3, 67],
    [7, 13, 5],
    [15, 17, 16],
    [17, 15, 31],
    [31, 33, 32],
    [33, 31, 33],
    [61, 67, 7],
    [127, 129, 9],
    [129, 127, 8],
    [128, 132, 24],
    [5, 254, 20],
    [130, 4, 12],
];

#[test]
fn awkward_shapes_in_single_precision() {
    for shape in AWKWARD {
        let problem = Problem::<f32>::new(shape);
        for entry in SINGLE {
            problem.check(entry);
        }
    }
}

#[test]
fn awkward_shapes_in_double_precision() {
    for shape in AWKWARD {
        let problem = Problem::<f64>::new(shape);
        for entry in DOUBLE {
            problem.check(entry);
        }
    }
}

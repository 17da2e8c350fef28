//! Matrix products on the machine, and the reference that they must equal bit for bit.

use diagnostics::Report;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use simt::launch::LaunchOptions;

use crate::gpu::{Argument, Gpu, Shape};

/// C = A · B, row-major, with A of `m` × `k` and B of `k` × `n`.
#[derive(Debug, Clone)]
pub struct Product {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// The operand A, row-major.
    pub a: Vec<f32>,
    /// The operand B, row-major.
    pub b: Vec<f32>,
}

/// A kernel with the parameters `(int M, int N, int K, const float* A, const float* B, float* C)`.
#[derive(Debug, Clone, Copy)]
pub struct GemmKernel<'a> {
    /// Name of the entry point.
    pub name: &'a str,
    /// The text of its PTX.
    pub ptx: &'a str,
    /// Edge of the square of C that a block computes.
    pub tile: usize,
    /// Threads of a block.
    pub block: [u32; 3],
}

impl Product {
    /// Matrices with elements in -1 .. 1, from a seed.
    pub fn random(m: usize, n: usize, k: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut matrix = |words| (0..words).map(|_| rng.random_range(-1.0f32..1.0)).collect();
        Self {
            m,
            n,
            k,
            a: matrix(m * k),
            b: matrix(k * n),
        }
    }

    /// Each element as one chain of fused multiply-adds, k from 0 upwards: rows in parallel, columns side by side.
    pub fn reference(&self) -> Vec<f32> {
        let mut c = vec![0.0; self.m * self.n];
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let rows_each = self.m.div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            for (part, rows) in c.chunks_mut(rows_each * self.n).enumerate() {
                scope.spawn(move || {
                    for (i, out) in rows.chunks_mut(self.n).enumerate() {
                        let row = part * rows_each + i;
                        accumulate_row(out, &self.a[row * self.k..][..self.k], &self.b);
                    }
                });
            }
        });
        c
    }

    /// What a kernel makes of it, with C full of NaN before.
    pub fn run(&self, kernel: GemmKernel<'_>, options: LaunchOptions) -> Result<(Report, Vec<f32>), String> {
        let gpu = Gpu::with_memory(1 << 34);
        let module = gpu.load(kernel.ptx).map_err(|error| error.to_string())?;
        let c = gpu.upload(&vec![f32::NAN; self.m * self.n]);
        let mut arguments: Vec<Argument> = [self.m, self.n, self.k]
            .map(|size| Argument::from(size as i32))
            .into();
        arguments.extend([gpu.upload(&self.a), gpu.upload(&self.b), c].map(Argument::from));
        let blocks = [self.n, self.m].map(|size| size.div_ceil(kernel.tile) as u32);
        let shape = Shape {
            grid: [blocks[0], blocks[1], 1],
            block: kernel.block,
            shared: 0,
        };
        let report = gpu
            .launch(&module, kernel.name, shape, &arguments, options)
            .map_err(|refusal| refusal.to_string())?;
        Ok((report, gpu.read(c, self.m * self.n)))
    }
}

/// `out += a · B` for one row, where `a` is the row of A.
fn accumulate_row(out: &mut [f32], a: &[f32], b: &[f32]) {
    for (&a, b_row) in a.iter().zip(b.chunks(out.len())) {
        for (c, &b) in out.iter_mut().zip(b_row) {
            *c = a.mul_add(b, *c);
        }
    }
}

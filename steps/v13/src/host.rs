//! Arrays of the host, pageable and pinned, and the check that C is the product of A and B.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, PinnedHostSlice};
use harness::Shape;

pub enum Array {
    /// The usual memory of a program.
    Pageable(Vec<f32>),
    /// Memory that the operating system does not move, so that the device copies by itself.
    Pinned(PinnedHostSlice<f32>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pageable,
    Pinned,
}

impl Array {
    pub fn new(context: &Arc<CudaContext>, kind: Kind, n: usize) -> Result<Self, DriverError> {
        Ok(match kind {
            Kind::Pageable => Self::Pageable(vec![0.0; n]),
            Kind::Pinned => {
                // SAFETY: it is filled before it is read.
                let mut pinned = unsafe { context.alloc_pinned_with_flags::<f32>(n, 0) }?;
                pinned.as_mut_slice()?.fill(0.0);
                Self::Pinned(pinned)
            }
        })
    }

    pub fn get(&self) -> Result<&[f32], DriverError> {
        match self {
            Self::Pageable(array) => Ok(array),
            Self::Pinned(array) => array.as_slice(),
        }
    }

    pub fn get_mut(&mut self) -> Result<&mut [f32], DriverError> {
        match self {
            Self::Pageable(array) => Ok(array),
            Self::Pinned(array) => array.as_mut_slice(),
        }
    }
}

pub struct Arrays {
    pub a: Array,
    pub b: Array,
    pub c: Array,
}

/// Returns a whole number from -3 to 3: sums of products of them are exact in any order, up to a depth of 1864135.
fn element(i: usize, seed: usize) -> f32 {
    let mixed = (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (mixed % 7) as f32 - 3.0
}

impl Arrays {
    pub fn new(context: &Arc<CudaContext>, kind: Kind, shape: Shape) -> Result<Self, DriverError> {
        let Shape { m, n, k } = shape;
        let mut arrays = Self {
            a: Array::new(context, kind, m * k)?,
            b: Array::new(context, kind, k * n)?,
            c: Array::new(context, kind, m * n)?,
        };
        for (array, seed) in [(&mut arrays.a, 1), (&mut arrays.b, 1 << 33)] {
            for (i, x) in array.get_mut()?.iter_mut().enumerate() {
                *x = element(i, seed);
            }
        }
        Ok(arrays)
    }

    /// Fills C with NaN, so that an element which is not computed counts as wrong.
    pub fn poison_output(&mut self) -> Result<(), DriverError> {
        self.c.get_mut()?.fill(f32::NAN);
        Ok(())
    }

    /// Returns the first row of C that is not a row of the product.
    ///
    /// It compares `C · x` with `A · (B · x)` for positive whole numbers, with exact sums: a wrong element shows.
    pub fn wrong_row(&self, shape: Shape) -> Result<Option<usize>, DriverError> {
        let x: Vec<f64> =
            (0..shape.n).map(|i| f64::from(element(i, 77)) + 4.0 + 7.0 * (i % 512) as f64).collect();
        let y = times(self.b.get()?, &x);
        let right = times(self.a.get()?, &y);
        let got = times(self.c.get()?, &x);
        Ok(got.iter().zip(&right).position(|(got, right)| got != right))
    }
}

/// Returns a matrix times a vector. NaN stays.
fn times(matrix: &[f32], x: &[f64]) -> Vec<f64> {
    matrix
        .chunks_exact(x.len())
        .map(|row| {
            // Eight sums: the sums are exact, and one would wait for itself.
            let mut sums = [0.0; 8];
            for (row, x) in row.chunks(8).zip(x.chunks(8)) {
                for (sum, (a, x)) in sums.iter_mut().zip(row.iter().zip(x)) {
                    *sum += f64::from(*a) * x;
                }
            }
            sums.iter().sum()
        })
        .collect()
}

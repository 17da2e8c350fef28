//! v09: cuBLAS, NVIDIA's library, on row-major data.
//!
//! cuBLAS follows Fortran: it takes a matrix to be stored column after column. Ours are stored row after row.
//! These bytes, read the other way, are the transpose:
//!
//! ```text
//!   in memory     1 2 3 4 5 6
//!
//!   row-major, 2 × 3, rows of 3:    column-major, 3 × 2, columns of 3:
//!
//!       │ 1 2 3 │                       │ 1 4 │
//!   A = │ 4 5 6 │                  Aᵀ = │ 2 5 │
//!                                       │ 3 6 │
//! ```
//!
//! So cuBLAS sees Aᵀ where we have A, Bᵀ where we have B, and whatever it stores as X, we read as Xᵀ. Nothing has to be
//! transposed: we ask it for Cᵀ = (A · B)ᵀ = Bᵀ · Aᵀ, which it computes from what it sees, and stores so that we read
//! C.
//!
//! ```text
//!                       ┌─────────┐                            ┌─────────┐
//!                       │    B    │ K                          │   Aᵀ    │ K
//!     C = A · B:        └─────────┘         Cᵀ = Bᵀ · Aᵀ:      └─────────┘
//!                            N                                      M
//!       ┌─────────┐     ┌─────────┐           ┌─────────┐      ┌─────────┐
//!     M │    A    │   M │    C    │         N │   Bᵀ    │    N │   Cᵀ    │
//!       └─────────┘     └─────────┘           └─────────┘      └─────────┘
//!            K               N                     K                M
//! ```
//!
//! Three things change places: the operands (B comes first), the sizes (N comes first), and with the operands their
//! flags. A *leading dimension* is the distance in memory from one column to the next, in cuBLAS's view: the length of
//! a row in ours.

#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::cublas::result::CublasError;
use cudarc::cublas::sys::{cublasMath_t, cublasOperation_t as Op, cublasSetMathMode};
use cudarc::cublas::{CudaBlas, Gemm as _, GemmConfig};
use cudarc::driver::CudaStream;
use harness::{Kernel, Product, Shape, to_i32};

fn main() -> ExitCode {
    harness::main("v09", &KERNELS)
}

const KERNELS: [Kernel; 1] = [Kernel::cublas("cublas_sgemm", open, multiply)];

// ANCHOR: open
/// Returns a handle: made once, since it takes longer than many a product, and brings the workspace.
fn open(stream: Arc<CudaStream>) -> Result<CudaBlas, CublasError> {
    let blas = CudaBlas::new(stream)?;
    // The default says it already: FP32 stays FP32. CUBLAS_TF32_TENSOR_OP_MATH would round the inputs to 11 bits.
    // SAFETY: the handle was just made.
    unsafe { cublasSetMathMode(*blas.handle(), cublasMath_t::CUBLAS_DEFAULT_MATH) }.result()?;
    Ok(blas)
}
// ANCHOR_END: open

// ANCHOR: multiply
/// Computes C = A · B, all three row-major, by asking for Cᵀ = Bᵀ · Aᵀ.
fn multiply(blas: &CudaBlas, product: Product<'_>) -> Result<(), CublasError> {
    let Product { shape, a, b, c } = product;
    let config = row_major(Stored::AsIs, Stored::AsIs, shape);
    // SAFETY: A has M * K elements, B K * N, C M * N, which is what the flags say.
    unsafe { blas.gemm(config, b, a, c) }
}
// ANCHOR_END: multiply

// ANCHOR: flags
/// The storage of an operand, always row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    /// A as M × K, B as K × N.
    AsIs,
    /// A as K × M, B as N × K.
    #[cfg_attr(not(test), expect(dead_code, reason = "the yardstick of v08 asks for it through harness"))]
    Transposed,
}

impl Stored {
    /// Returns the operation on an operand: cuBLAS sees our transpose, so it transposes what is stored transposed.
    fn op(self) -> Op {
        match self {
            Stored::AsIs => Op::CUBLAS_OP_N,
            Stored::Transposed => Op::CUBLAS_OP_T,
        }
    }
}

/// Returns the arguments of cuBLAS for C = A · B, with B as its first operand and A as its second.
fn row_major(stored_a: Stored, stored_b: Stored, Shape { m, n, k }: Shape) -> GemmConfig<f32> {
    let row_of_a = if stored_a == Stored::AsIs { k } else { m };
    let row_of_b = if stored_b == Stored::AsIs { n } else { k };
    let row_of_c = n;
    GemmConfig {
        transa: stored_b.op(), // of its first operand, which is our B
        transb: stored_a.op(),
        m: to_i32(n), // rows of Cᵀ
        n: to_i32(m), // columns of Cᵀ
        k: to_i32(k),
        lda: to_i32(row_of_b),
        ldb: to_i32(row_of_a),
        ldc: to_i32(row_of_c),
        alpha: 1.0,
        beta: 0.0, // C is not read
    }
}
// ANCHOR_END: flags

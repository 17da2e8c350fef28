//! The computation of a task: parameters of its kernel, grid, elements.

#[cfg(test)]
mod tests;

use catalog::{Format, Shape, Work};
use serde::{Deserialize, Serialize};

/// The computation of a kernel. Matrices are row-major; after `sgemm_`, `n` is an operand stored as in the formula, `t`
/// one that is stored transposed, which is the same as column-major.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskWork {
    /// C = A · B in FP32.
    #[default]
    Sgemm,
    /// C = A · B in FP64.
    Dgemm,
    /// C = A · B in FP32, B stored as N × K.
    SgemmNt,
    /// C = A · B in FP32, A stored as K × M.
    SgemmTn,
    /// C = A · B in FP32, A stored as K × M and B as N × K.
    SgemmTt,
    /// C = αA · B + βC in FP32. With β = 0, C is not read.
    SgemmScaled,
    /// A batch of FP32 products, one per layer of the grid; matrices are contiguous.
    SgemmBatched,
    /// C = A · B, with A and B in bf16 and C in FP32.
    Bf16gemm,
    /// C = max(A · B + bias, 0): [`TaskWork::Bf16gemm`] with an FP32 bias for each column.
    Bf16gemmBiasRelu,
    /// C = max(A · B + bias, 0): [`TaskWork::Bf16gemm`] with an FP32 bias for each row.
    Bf16gemmRowBiasRelu,
    /// C = A · B in FP32, of which the multiplication takes TF32.
    Tf32gemm,
    /// C = A · B as [`TaskWork::Tf32gemm`], B stored as N × K.
    Tf32gemmNt,
    /// C = A · B, with A and B in e4m3, C in FP32, B stored as N × K.
    E4m3gemmNt,
    /// out = inᵀ in FP32.
    Transpose,
    /// out = inᵀ in FP64.
    Dtranspose,
    /// out = inᵀ of elements of three floats.
    Transpose12,
}

/// Products of a batch. Odd, and more than two, so that neither parity nor "the other one" is right by chance.
pub const BATCH: usize = 3;

impl TaskWork {
    /// Returns the computation of a kernel of the ladder; none without a kernel, or with C in another format than FP32.
    pub fn of(work: Work) -> Option<Self> {
        Some(match work {
            Work::Sgemm | Work::SgemmTransposed { a: false, b: false } => Self::Sgemm,
            Work::Dgemm => Self::Dgemm,
            Work::SgemmTransposed { a: true, b: false } => Self::SgemmTn,
            Work::SgemmTransposed { a: false, b: true } => Self::SgemmNt,
            Work::SgemmTransposed { a: true, b: true } => Self::SgemmTt,
            Work::Transpose => Self::Transpose,
            Work::Tensor { operands, result: Format::Fp32, b_transposed, .. } => match (operands, b_transposed) {
                (Format::Bf16, false) => Self::Bf16gemm,
                (Format::E4m3, true) => Self::E4m3gemmNt,
                (Format::Fp32 | Format::Tf32, false) => Self::Tf32gemm,
                (Format::Fp32 | Format::Tf32, true) => Self::Tf32gemmNt,
                _ => return None,
            },
            Work::Cpu | Work::Cublas | Work::Tensor { .. } => return None,
        })
    }

    /// Returns whether this is a transpose, which ignores the `k` of a shape.
    pub fn is_transpose(self) -> bool {
        matches!(self, Self::Transpose | Self::Dtranspose | Self::Transpose12)
    }

    pub fn is_double(self) -> bool {
        matches!(self, Self::Dgemm | Self::Dtranspose)
    }

    /// Returns the format in which A and B of FP32 are multiplied, which for bf16 and e4m3 is that in memory, too.
    pub fn operands(self) -> Format {
        match self {
            Self::Bf16gemm | Self::Bf16gemmBiasRelu | Self::Bf16gemmRowBiasRelu => Format::Bf16,
            Self::Tf32gemm | Self::Tf32gemmNt => Format::Tf32,
            Self::E4m3gemmNt => Format::E4m3,
            _ => Format::Fp32,
        }
    }

    /// Returns whether A and B are stored transposed.
    pub fn transposed(self) -> [bool; 2] {
        match self {
            Self::SgemmNt | Self::Tf32gemmNt | Self::E4m3gemmNt => [false, true],
            Self::SgemmTn => [true, false],
            Self::SgemmTt => [true, true],
            _ => [false, false],
        }
    }

    /// Returns the layout of the operands in memory, as a sentence or two.
    pub fn layout(self) -> &'static str {
        match self {
            Self::Sgemm | Self::Dgemm | Self::Tf32gemm => "A, B and C are row-major.",
            Self::Bf16gemm => "A, B and C are row-major; A and B are bf16, the upper half of an FP32 number.",
            Self::Bf16gemmBiasRelu => {
                "A, B and C are row-major; A and B are bf16. C[row][col] = max(sum + bias[col], 0), in FP32."
            }
            Self::Bf16gemmRowBiasRelu => {
                "A, B and C are row-major; A and B are bf16. C[row][col] = max(sum + bias[row], 0), in FP32."
            }
            Self::SgemmNt | Self::Tf32gemmNt | Self::E4m3gemmNt => {
                "B is stored transposed: B[k][col] lies at B[col * K + k]. A and C are row-major."
            }
            Self::SgemmTn => "A is stored transposed: A[row][k] lies at A[k * M + row]. B and C are row-major.",
            Self::SgemmTt => {
                "A and B are stored transposed: A[row][k] lies at A[k * M + row], and B[k][col] at B[col * K + k]. C is \
                 row-major."
            }
            Self::SgemmScaled => {
                "All matrices are row-major, and C = alpha * A * B + beta * C. Where beta is 0, C must not be read: it \
                 may hold NaN then."
            }
            Self::SgemmBatched => {
                "All matrices are row-major; those of product blockIdx.z follow those of the one before."
            }
            Self::Transpose | Self::Dtranspose | Self::Transpose12 => "in and out are row-major.",
        }
    }

    /// Returns the number of biases.
    pub fn biases(self, shape: Shape) -> usize {
        match self {
            Self::Bf16gemmBiasRelu => shape.n,
            Self::Bf16gemmRowBiasRelu => shape.m,
            _ => 0,
        }
    }

    /// Products, or matrices to transpose, per launch.
    pub fn batch(self) -> usize {
        match self {
            Self::SgemmBatched => BATCH,
            _ => 1,
        }
    }

    pub fn element_bytes(self) -> usize {
        match self {
            Self::Dgemm | Self::Dtranspose => 8,
            Self::Transpose12 => 12,
            _ => 4,
        }
    }

    /// Types and names of the kernel's parameters, in order.
    pub fn parameters(self) -> &'static [(&'static str, &'static str)] {
        type Parameter = (&'static str, &'static str);
        const M: Parameter = ("int", "M");
        const N: Parameter = ("int", "N");
        const K: Parameter = ("int", "K");
        const A: Parameter = ("const float*", "A");
        const B: Parameter = ("const float*", "B");
        const C: Parameter = ("float*", "C");
        const BF16_A: Parameter = ("const unsigned short*", "A");
        const BF16_B: Parameter = ("const unsigned short*", "B");
        match self {
            Self::Sgemm | Self::SgemmNt | Self::SgemmTn | Self::SgemmTt | Self::SgemmBatched => &[M, N, K, A, B, C],
            Self::Tf32gemm | Self::Tf32gemmNt => &[M, N, K, A, B, C],
            Self::E4m3gemmNt => &[M, N, K, ("const unsigned char*", "A"), ("const unsigned char*", "B"), C],
            Self::Dgemm => &[M, N, K, ("const double*", "A"), ("const double*", "B"), ("double*", "C")],
            Self::SgemmScaled => &[M, N, K, ("float", "alpha"), A, B, ("float", "beta"), C],
            Self::Bf16gemm => &[M, N, K, BF16_A, BF16_B, C],
            Self::Bf16gemmBiasRelu | Self::Bf16gemmRowBiasRelu => {
                &[M, N, K, BF16_A, BF16_B, ("const float*", "bias"), C]
            }
            Self::Transpose => &[("int", "rows"), ("int", "cols"), ("const float*", "in"), ("float*", "out")],
            Self::Dtranspose => &[("int", "rows"), ("int", "cols"), ("const double*", "in"), ("double*", "out")],
            Self::Transpose12 => &[("int", "rows"), ("int", "cols"), ("const Vector*", "in"), ("Vector*", "out")],
        }
    }

    /// Declarations before the kernel of a skeleton: an element type that C++ lacks.
    pub fn declarations(self) -> &'static str {
        match self {
            Self::Transpose12 => "struct Vector {\n    float x, y, z;\n};\n\n",
            _ => "",
        }
    }

    /// Returns the bytes of each parameter in PTX.
    pub fn parameter_bytes(self) -> Vec<u32> {
        let bytes = |(kind, _): &(&str, &str)| if kind.ends_with('*') { 8 } else { 4 };
        self.parameters().iter().map(bytes).collect()
    }

    /// Returns the number of blocks that cover a shape with tiles of the given rows and columns, of C or of a
    /// transpose's input.
    pub fn grid(self, tile: [u32; 2], shape: Shape) -> [u32; 3] {
        let blocks = |n: usize, tile: u32| u32::try_from(n.div_ceil(tile.max(1) as usize)).unwrap_or(u32::MAX);
        [blocks(shape.n, tile[1]), blocks(shape.m, tile[0]), self.batch() as u32]
    }

    /// Multiply-adds of the result; 0 for a transpose.
    pub fn fmas(self, shape: Shape) -> f64 {
        if self.is_transpose() { 0.0 } else { self.batch() as f64 * shape.m as f64 * shape.n as f64 * shape.k as f64 }
    }

    pub fn elements(self, shape: Shape) -> f64 {
        self.batch() as f64 * shape.m as f64 * shape.n as f64
    }
}

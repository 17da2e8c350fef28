//! The steps, in order. Numbers never change; a name once given stays.

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Number of the step, such as `v05`: also its package, and the prefix of its files.
    pub id: &'static str,
    /// Name of the step, such as `bank-conflict-free`, which commands take as well as the number.
    pub name: &'static str,
    /// The idea of the step, as a sentence without a full stop.
    pub idea: &'static str,
    /// Kernels of the step, in the order in which the book explains them.
    pub kernels: &'static [CatalogKernel],
}

/// A kernel of a step, or another program that the step compares it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogKernel {
    /// Entry point of the kernel; for another program, its name in records.
    pub name: &'static str,
    /// Source under `kernels/`, without `.cu`; the PTX has the same name. `None` for work without a kernel of ours.
    pub source: Option<&'static str>,
    pub work: Work,
}

/// A computation of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// C = A · B in FP32, by the CPU.
    Cpu,
    /// C = A · B in FP32.
    Sgemm,
    /// C = A · B in FP64.
    Dgemm,
    /// C = op(A) · op(B) in FP32, where an operand is stored transposed.
    SgemmTransposed {
        /// Whether A is stored as K × M.
        a: bool,
        /// Whether B is stored as N × K.
        b: bool,
    },
    /// C = A · B on tensor cores, which multiply narrower elements than FP32 and add in FP32.
    Tensor {
        /// Format of A and B in the multiplication.
        operands: Format,
        /// Format of C in memory.
        result: Format,
        /// Whether B is stored as N × K.
        b_transposed: bool,
        /// Whether partial sums of FP8 stay in the tensor core, which truncates them (cuBLAS calls it fast
        /// accumulation); otherwise the kernel periodically adds partial sums outside the tensor core.
        fast_accumulation: bool,
    },
    /// out = inᵀ in FP32.
    Transpose,
    /// C = A · B in FP32, by NVIDIA's library.
    Cublas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// FP32: 24 significant bits. Tensor cores have no such operands: two of TF32 stand for one.
    Fp32,
    /// TF32: 11 significant bits, stored in 32.
    Tf32,
    /// bf16: 8 significant bits, stored in 16.
    Bf16,
    /// e4m3: 4 significant bits, stored in 8. Tensor cores keep 14 bits of a sum.
    E4m3,
}

impl Format {
    /// Returns the bytes that an element has in memory.
    pub fn bytes(self) -> f64 {
        match self {
            Format::Fp32 | Format::Tf32 => 4.0,
            Format::Bf16 => 2.0,
            Format::E4m3 => 1.0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Format::Fp32 => "FP32",
            Format::Tf32 => "TF32",
            Format::Bf16 => "bf16",
            Format::E4m3 => "e4m3",
        }
    }
}

const fn plain(name: &'static str, work: Work) -> CatalogKernel {
    CatalogKernel { name, source: None, work }
}

const fn sgemm(name: &'static str, source: &'static str) -> CatalogKernel {
    CatalogKernel { name, source: Some(source), work: Work::Sgemm }
}

const fn dgemm(name: &'static str, source: &'static str) -> CatalogKernel {
    CatalogKernel { name, source: Some(source), work: Work::Dgemm }
}

const fn transpose(name: &'static str, source: &'static str) -> CatalogKernel {
    CatalogKernel { name, source: Some(source), work: Work::Transpose }
}

const fn transposed(name: &'static str, (a, b): (bool, bool)) -> CatalogKernel {
    CatalogKernel { name, source: Some("v08_gemm_transposed"), work: Work::SgemmTransposed { a, b } }
}

const fn on_tensor_cores(operands: Format, result: Format) -> Work {
    Work::Tensor { operands, result, b_transposed: false, fast_accumulation: false }
}

const fn tensor(name: &'static str, (source, operands, result): (&'static str, Format, Format)) -> CatalogKernel {
    CatalogKernel { name, source: Some(source), work: on_tensor_cores(operands, result) }
}

/// Returns work with B stored as N × K: `wgmma` reads B as K × N only in formats of 16 bits.
const fn by_k(operands: Format, result: Format, fast_accumulation: bool) -> Work {
    Work::Tensor { operands, result, b_transposed: true, fast_accumulation }
}

const fn with_b_transposed(
    name: &'static str, (source, operands, result, fast_accumulation): (&'static str, Format, Format, bool),
) -> CatalogKernel {
    CatalogKernel { name, source: Some(source), work: by_k(operands, result, fast_accumulation) }
}

/// Prefix that records put before the entry point of a kernel in Rust.
pub const RUST: &str = "rust::";

/// Steps, each with rows of kernels that have the same source and do the same work.
macro_rules! steps {
    ($(id: $id:literal, name: $name:literal, idea: $idea:literal,
        kernels: [$($make:ident $args:tt: $($kernel:literal),+);+ $(;)?];)*) => {
        &[$(Step { id: $id, name: $name, idea: $idea, kernels: &[$($($make($kernel, $args)),+),+] }),*]
    };
}

#[rustfmt::skip]
#[allow(unused_parens, reason = "where a row of kernels has one argument")]
pub const STEPS: &[Step] = steps! {
    id: "v00", name: "cpu", idea: "the reference, and how far a CPU gets",
    kernels: [
        plain(Work::Cpu): "cpu_serial", "cpu_reordered", "cpu_blocked", "cpu_parallel", "cpu_strassen", "cpu_library";
    ];

    id: "v01", name: "naive", idea: "one thread per element; coalescing is who sits beside whom",
    kernels: [
        sgemm("v01_row_per_lane"): "sgemm_v01_row_per_lane";
        sgemm("v01_col_per_lane"): "sgemm_v01_col_per_lane";
        dgemm("v01_row_per_lane"): "dgemm_v01_row_per_lane";
        dgemm("v01_col_per_lane"): "dgemm_v01_col_per_lane";
    ];

    id: "v02", name: "shared", idea: "a block shares a tile of A and of B through shared memory",
    kernels: [
        sgemm("v02_shared"): "sgemm_v02_tile16", "sgemm_v02_tile32";
        sgemm("v02_strip"): "sgemm_v02_strip";
        dgemm("v02_shared"): "dgemm_v02_tile16", "dgemm_v02_tile32";
    ];

    id: "v03", name: "register", idea: "a tile of C per thread, accumulated in registers",
    kernels: [
        sgemm("v03_from_global"): "sgemm_v03_from_global";
        sgemm("v03_from_shared"): "sgemm_v03_from_shared";
    ];

    id: "v04", name: "float4", idea: "sixteen bytes per lane on every trip to global memory",
    kernels: [sgemm("v04_float4"): "sgemm_v04_float4"];

    id: "v05", name: "bank-conflict-free", idea: "32 banks, and no two lanes in one",
    kernels: [sgemm("v05_bank_conflict_free"): "sgemm_v05_bank_conflict_free"];

    id: "v06", name: "outer-product", idea: "fragments in registers, then a rank-1 update",
    kernels: [sgemm("v06_outer_product"): "sgemm_v06_outer_product"];

    id: "v07", name: "double-buffer", idea: "load the next tile while computing on this one",
    kernels: [sgemm("v07_double_buffer"): "sgemm_v07_double_buffer"];

    id: "v08", name: "transpose-tile", idea: "layouts: a tile turns rows into columns",
    kernels: [
        transpose("v08_transpose_threads"): "transpose_serial", "transpose_row_per_thread";
        transpose("v08_transpose_coalesced"): "transpose_coalesced_reads", "transpose_coalesced_writes";
        transpose("v08_transpose_tile"): "transpose_tile";
        transpose("v08_transpose_padded"): "transpose_padded";
        transpose("v08_transpose_swizzled"): "transpose_swizzled";
        transpose("v08_transpose_rectangular"): "transpose_rectangular";
        transpose("v08_transpose_float4"): "transpose_float4";
        transposed(false, false): "sgemm_v08_nn";
        transposed(false, true): "sgemm_v08_nt";
        transposed(true, false): "sgemm_v08_tn";
        transposed(true, true): "sgemm_v08_tt";
    ];

    id: "v09", name: "cublas", idea: "the yardstick, and how to call it on row-major data",
    kernels: [plain(Work::Cublas): "cublas_sgemm"];

    id: "v10", name: "tensor-cores", idea: "a warp multiplies whole tiles in one instruction",
    kernels: [
        tensor("v10_wmma", Format::Bf16, Format::Fp32): "bf16gemm_v10_wmma";
        tensor("v10_wmma", Format::Tf32, Format::Fp32): "tf32gemm_v10_wmma";
        tensor("v10_shared", Format::Bf16, Format::Fp32): "bf16gemm_v10_shared";
        tensor("v10_shared", Format::Tf32, Format::Fp32): "tf32gemm_v10_shared";
        tensor("v10_large_warps", Format::Bf16, Format::Fp32): "bf16gemm_v10_large_warps";
        tensor("v10_large_warps", Format::Tf32, Format::Fp32): "tf32gemm_v10_large_warps";
        tensor("v10_ahead", Format::Bf16, Format::Fp32): "bf16gemm_v10_ahead";
        tensor("v10_ahead", Format::Tf32, Format::Fp32): "tf32gemm_v10_ahead";
        tensor("v10_parts", Format::Bf16, Format::Fp32): "bf16gemm_v10_parts";
        tensor("v10_parts", Format::Tf32, Format::Fp32): "tf32gemm_v10_parts";
        tensor("v10_three_tf32", Format::Fp32, Format::Fp32): "sgemm_v10_three_tf32";
    ];

    id: "v11", name: "register-banks",
    idea: "register banks, copies that need no threads, and tiles that fit the grid",
    kernels: [
        sgemm("v11_large_tile"): "sgemm_v11_large_tile";
        sgemm("v11_free_banks"): "sgemm_v11_free_banks";
        sgemm("v11_small_tile"): "sgemm_v11_small_tile";
        sgemm("v11_slices"): "sgemm_v11_slices_16x32", "sgemm_v11_slices_32x32";
        sgemm("v11_async_copy"): "sgemm_v11_async_copy";
        sgemm("v11_producer"): "sgemm_v11_producer";
        sgemm("v11_stream_k"): "sgemm_v11_split_k", "sgemm_v11_stream_k";
        sgemm("v11_rescheduled"): "sgemm_v11_rescheduled";
        plain(Work::Sgemm): "v11_gemm";
    ];

    id: "v12", name: "hopper",
    idea: "tensor cores that read shared memory, a unit that fills it, and blocks that share it",
    kernels: [
        tensor("v12_mma_ring", Format::Bf16, Format::Fp32): "gemm_v12_mma_ring_f32";
        tensor("v12_mma_ring", Format::Bf16, Format::Bf16): "gemm_v12_mma_ring_bf16";
        tensor("v12_wgmma", Format::Bf16, Format::Fp32): "gemm_v12_wgmma_f32";
        tensor("v12_wgmma", Format::Bf16, Format::Bf16): "gemm_v12_wgmma_bf16";
        tensor("v12_ring", Format::Bf16, Format::Fp32): "gemm_v12_ring_f32";
        tensor("v12_ring", Format::Bf16, Format::Bf16): "gemm_v12_ring_bf16";
        tensor("v12_persistent", Format::Bf16, Format::Fp32): "gemm_v12_persistent_f32";
        tensor("v12_persistent", Format::Bf16, Format::Bf16): "gemm_v12_persistent_bf16";
        tensor("v12_multicast", Format::Bf16, Format::Fp32): "gemm_v12_multicast_f32";
        tensor("v12_multicast", Format::Bf16, Format::Bf16): "gemm_v12_multicast_bf16";
        tensor("v12_store", Format::Bf16, Format::Fp32): "gemm_v12_store_f32";
        tensor("v12_store", Format::Bf16, Format::Bf16): "gemm_v12_store_bf16";
        tensor("v12_store", Format::Bf16, Format::Fp32): "gemm_v12_store_192_f32";
        tensor("v12_store", Format::Bf16, Format::Bf16): "gemm_v12_store_192_bf16";
        tensor("v12_ping_pong", Format::Bf16, Format::Fp32): "gemm_v12_ping_pong_f32";
        tensor("v12_ping_pong", Format::Bf16, Format::Bf16): "gemm_v12_ping_pong_bf16";
        tensor("v12_ping_pong", Format::Bf16, Format::Fp32): "gemm_v12_ping_pong_192_f32";
        tensor("v12_ping_pong", Format::Bf16, Format::Bf16): "gemm_v12_ping_pong_192_bf16";
        tensor("v12_small", Format::Bf16, Format::Fp32): "gemm_v12_small_128x128_f32";
        tensor("v12_small", Format::Bf16, Format::Bf16): "gemm_v12_small_128x128_bf16";
        tensor("v12_small", Format::Bf16, Format::Fp32): "gemm_v12_small_64x128_f32";
        tensor("v12_small", Format::Bf16, Format::Bf16): "gemm_v12_small_64x128_bf16";
        tensor("v12_small", Format::Bf16, Format::Fp32): "gemm_v12_small_64x64_f32";
        tensor("v12_small", Format::Bf16, Format::Bf16): "gemm_v12_small_64x64_bf16";
        tensor("v12_split", Format::Bf16, Format::Fp32): "gemm_v12_split_128x128_f32";
        tensor("v12_split", Format::Bf16, Format::Bf16): "gemm_v12_split_128x128_bf16";
        tensor("v12_split", Format::Bf16, Format::Fp32): "gemm_v12_split_64x64_f32";
        tensor("v12_split", Format::Bf16, Format::Bf16): "gemm_v12_split_64x64_bf16";
        tensor("v12_six_bf16", Format::Fp32, Format::Fp32): "sgemm_v12_six_bf16";
        with_b_transposed("v12_tf32", Format::Tf32, Format::Fp32, false): "gemm_v12_tf32_f32";
        with_b_transposed("v12_fp8", Format::E4m3, Format::Fp32, true): "gemm_v12_fp8_fast_f32";
        with_b_transposed("v12_fp8", Format::E4m3, Format::Bf16, true): "gemm_v12_fp8_fast_bf16";
        with_b_transposed("v12_fp8", Format::E4m3, Format::Fp32, false): "gemm_v12_fp8_f32";
        with_b_transposed("v12_fp8", Format::E4m3, Format::Bf16, false): "gemm_v12_fp8_bf16";
        plain(on_tensor_cores(Format::Bf16, Format::Fp32)): "v12_gemm_f32";
        plain(on_tensor_cores(Format::Bf16, Format::Bf16)): "v12_gemm_bf16";
        plain(on_tensor_cores(Format::Tf32, Format::Fp32)): "v12_gemm_tf32_f32";
        plain(by_k(Format::Tf32, Format::Fp32, false)): "v12_gemm_tf32_nt_f32";
        plain(by_k(Format::E4m3, Format::Fp32, false)): "v12_gemm_e4m3_f32";
        plain(by_k(Format::E4m3, Format::Bf16, false)): "v12_gemm_e4m3_bf16";
        plain(by_k(Format::E4m3, Format::Fp32, true)): "v12_gemm_e4m3_fast_f32";
        plain(by_k(Format::E4m3, Format::Bf16, true)): "v12_gemm_e4m3_fast_bf16";
    ];
};

/// Sources of the kernels that the libraries of v11 and v12 choose from; no step runs one of them alone.
pub const LIBRARY_SOURCES: [&str; 6] =
    ["v11_gemm", "v11_pack", "v12_gemm", "v12_gemm_tf32", "v12_gemm_e4m3", "v12_pack"];

/// A step that is a program of its own, without kernels: not in [`STEPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standalone {
    /// Number of the step, such as `v13`.
    pub id: &'static str,
    pub name: &'static str,
    /// Subject of the step, in a line.
    pub idea: &'static str,
    pub command: &'static str,
}

pub const PROGRAMS: [Standalone; 1] = [Standalone {
    id: "v13",
    name: "whole-process",
    idea: "from arrays of the host to the result in the host: copies, streams, graphs, two devices",
    command: "cargo run --release -p v13 -- run",
}];

/// The error for a name that no step with kernels has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownStep(String);

/// Formats the numbers of the steps: `v00 … v12`. A missing number is a program without kernels, or a step to come.
pub fn range() -> String {
    let runs = STEPS.chunk_by(|one, next| one.number() + 1 == next.number());
    let words = runs.filter_map(|run| match run {
        [one] => Some(one.id.to_owned()),
        [first, .., last] => Some(format!("{} … {}", first.id, last.id)),
        [] => None,
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the step called `v05`, `5` or `bank-conflict-free`.
///
/// ```
/// assert_eq!(catalog::find("5").unwrap().id, "v05");
/// assert_eq!(catalog::find("Float4").unwrap().id, "v04");
/// assert!(catalog::find("v99").unwrap_err().to_string().contains("v99"));
/// ```
pub fn find(text: &str) -> Result<&'static Step, UnknownStep> {
    let asked = text.trim().to_ascii_lowercase();
    let number = asked.strip_prefix('v').unwrap_or(&asked).parse::<u32>().ok();
    let is_asked =
        |id: &str, name: &str| name == asked.replace('_', "-") || number.is_some_and(|n| id == format!("v{n:02}"));
    let step = STEPS.iter().find(|step| is_asked(step.id, step.name));
    step.ok_or_else(|| {
        if let Some(Standalone { id, command, .. }) = PROGRAMS.iter().find(|program| is_asked(program.id, program.name))
        {
            return UnknownStep(format!(
                "{id} is a program of its own, without kernels to check or measure here; run it with: {command}"
            ));
        }
        let near = nearest(&asked).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        UnknownStep(format!("there is no step `{text}`{near}; the steps are {} (see: cargo xtask list)", range()))
    })
}

/// Finds a step whose name begins like `asked`, or contains it.
fn nearest(asked: &str) -> Option<&'static str> {
    const MIN_COMMON: usize = 3;
    let alike = |step: &&Step| {
        let common = step.name.bytes().zip(asked.bytes()).take_while(|(a, b)| a == b).count();
        common >= MIN_COMMON || (asked.len() >= MIN_COMMON && step.name.contains(asked))
    };
    STEPS.iter().find(alike).map(|step| step.name)
}

impl Step {
    /// Returns the kernel of the step with this entry point; its sibling in Rust is named `rust::ENTRY` in records.
    pub fn kernel(&self, name: &str) -> Option<&'static CatalogKernel> {
        let name = name.strip_prefix(RUST).unwrap_or(name);
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Returns the number of the step: 5 for `v05`.
    pub fn number(&self) -> u32 {
        self.id[1..].parse().unwrap_or_default()
    }
}

impl Work {
    /// Returns the shape of this work at a size: a transpose has no K. `None` for a product without K.
    pub fn shape(self, size: crate::Shape) -> Option<crate::Shape> {
        match (self, size.k) {
            (Work::Transpose, _) => Some(crate::Shape { k: 0, ..size }),
            (_, 0) => None,
            _ => Some(size),
        }
    }

    /// Returns whether A is stored as K × M, and B as N × K.
    pub fn transposed(self) -> [bool; 2] {
        match self {
            Work::SgemmTransposed { a, b } => [a, b],
            Work::Tensor { b_transposed, .. } => [false, b_transposed],
            _ => [false; 2],
        }
    }

    /// Returns floating-point operations for a shape.
    pub fn flops(self, shape: crate::Shape) -> f64 {
        match self {
            Work::Transpose => 0.0,
            _ => 2.0 * shape.m as f64 * shape.n as f64 * shape.k as f64,
        }
    }

    /// Returns the bytes that must move at least once: inputs read, output written.
    pub fn bytes(self, shape: crate::Shape) -> f64 {
        let (m, n, k) = (shape.m as f64, shape.n as f64, shape.k as f64);
        match self {
            Work::Transpose => 2.0 * 4.0 * m * n,
            Work::Dgemm => 8.0 * (m * k + k * n + m * n),
            Work::Tensor { operands, result, .. } => operands.bytes() * (m * k + k * n) + result.bytes() * m * n,
            _ => 4.0 * (m * k + k * n + m * n),
        }
    }
}

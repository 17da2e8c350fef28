//! The declarations of a step: its kernels, how each is launched, and nothing else.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use catalog::{Format, Shape, Tile, Work, steps::RUST};
use cudarc::cublas::{CudaBlas, result::CublasError};
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg as _,
};
use cudarc::nvrtc::Ptx;
use reference::{Bf16, E4m3};

/// A compiled kernel file: what runs, and what it was made of, for messages.
#[derive(Debug, Clone, Copy)]
pub struct KernelSource {
    /// The text of `kernels/NAME.cu`, or of its sibling `kernels/rust/NAME.rs`.
    pub text: &'static str,
    /// The text of `ptx/NAME.ptx` beside the source.
    pub ptx: &'static str,
    /// `cubin/NAME.cubin` beside the source, machine code for sm_90. Empty for none.
    pub cubin: &'static [u8],
    /// Source and code of the siblings in Rust, where there are any.
    pub rust: Option<&'static KernelSource>,
}

impl KernelSource {
    /// Returns the value of `constexpr int NAME = …` in the source; in a constant, at compile time of the step.
    ///
    /// # Panics
    /// Panics if the source defines no such constant.
    pub const fn constant(&self, name: &str) -> u32 {
        catalog::constants::constant(self.text, name).expect("the source defines no such constant")
    }

    /// Loads the module: machine code on a GPU, which must be one that it was compiled for, and PTX on the emulated
    /// device.
    pub fn load(&self, context: &Arc<CudaContext>) -> Result<Arc<CudaModule>, DriverError> {
        context.load_module(if self.loads_cubin() {
            Ptx::from_binary(self.cubin.to_vec())
        } else {
            Ptx::from_src(self.ptx)
        })
    }

    /// Returns the bytes that [`Self::load`] loads.
    pub(crate) fn image(&self) -> &'static [u8] {
        if self.loads_cubin() { self.cubin } else { self.ptx.as_bytes() }
    }

    fn loads_cubin(&self) -> bool {
        emulator_client::find().is_none() && !self.cubin.is_empty()
    }
}

/// Operands and context of one launch of C = A · B.
#[derive(Debug)]
pub struct Gemm<'a, T, R = T> {
    pub stream: &'a CudaStream,
    pub kernel: &'a CudaFunction,
    /// The kernel that is launched before it, where it declares one.
    pub preparation: Option<&'a Prepared>,
    pub config: LaunchConfig,
    pub shape: Shape,
    /// M × K, row-major; K × M where the kernel takes it transposed.
    pub a: &'a CudaSlice<T>,
    /// K × N, row-major; N × K where the kernel takes it transposed.
    pub b: &'a CudaSlice<T>,
    /// M × N, row-major.
    pub c: &'a mut CudaSlice<R>,
}

impl<T, R> Gemm<'_, T, R> {
    /// Opts a kernel in to the launch's dynamic shared memory, which is required above 48 KB.
    pub fn allow_shared(&self) -> Result<(), DriverError> {
        let bytes = self.config.shared_mem_bytes.cast_signed();
        self.kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
    }
}

/// A kernel that writes what another one reads in place of A and B; it is launched and timed with each product.
#[derive(Debug, Clone, Copy)]
pub struct Preparation {
    /// Entry point, in the same PTX.
    pub entry: &'static str,
    pub bytes: fn(shape: Shape) -> usize,
}

/// A loaded kernel of a `Preparation`, and the memory that it writes, allocated before any launch.
#[derive(Debug)]
pub struct Prepared {
    pub kernel: CudaFunction,
    /// The memory that it writes. Products follow each other in their stream, so one buffer is enough.
    pub memory: CudaSlice<u8>,
}

/// out = inᵀ: what there is at a launch.
#[derive(Debug)]
pub struct Transpose<'a> {
    pub stream: &'a CudaStream,
    pub kernel: &'a CudaFunction,
    pub config: LaunchConfig,
    /// `m` rows and `n` columns of the input.
    pub shape: Shape,
    /// m × n, row-major.
    pub input: &'a CudaSlice<f32>,
    /// n × m, row-major.
    pub output: &'a mut CudaSlice<f32>,
}

/// C = A · B by a library: what there is at a call.
#[derive(Debug)]
pub struct Product<'a, T = f32, R = T> {
    pub shape: Shape,
    /// M × K, row-major.
    pub a: &'a CudaSlice<T>,
    /// K × N, row-major.
    pub b: &'a CudaSlice<T>,
    /// M × N, row-major.
    pub c: &'a mut CudaSlice<R>,
}

/// Grid, block and dynamic shared memory for a shape.
pub(crate) type Geometry = fn(shape: Shape) -> LaunchConfig;
pub(crate) type LaunchGemm<T, R = T> = fn(Gemm<'_, T, R>) -> Result<(), DriverError>;
pub(crate) type LaunchTranspose = fn(Transpose<'_>) -> Result<(), DriverError>;
pub(crate) type OpenCublas = fn(Arc<CudaStream>) -> Result<CudaBlas, CublasError>;
pub(crate) type MultiplyCublas = fn(&CudaBlas, Product<'_>) -> Result<(), CublasError>;
pub(crate) type LibraryError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type OpenLibrary<T = f32, R = T> =
    fn(stream: &Arc<CudaStream>, load: LoadModule<'_>) -> Result<MultiplyLibrary<T, R>, LibraryError>;
/// Returns the module of a kernel file, which is loaded once on a device.
pub type LoadModule<'a> = &'a dyn Fn(&KernelSource) -> Result<Arc<CudaModule>, DriverError>;
pub(crate) type MultiplyLibrary<T, R> = Box<dyn Fn(Product<'_, T, R>) -> Result<(), LibraryError>>;
/// Returns the number of blocks of a kernel whose blocks share out tiles.
pub(crate) type Blocks = fn(tiles: u32, n_sms: u32) -> u32;
/// Checks a shape; returns the requirement of the kernel that it does not meet, if any.
pub(crate) type Requirement = fn(shape: Shape) -> Option<&'static str>;
pub(crate) type Multiply = fn(shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]);

/// Returns the largest allowed distance of an element from the answer.
pub(crate) type ElementBound = fn(shape: Shape, largest_a: f64, largest_b: f64) -> f64;

#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    pub multiply: Multiply,
    /// Largest M·N·K for which it is worth waiting.
    pub largest: f64,
    /// Error bound, if it differs from that of plain sums.
    pub bound: Option<ElementBound>,
    /// The function that it is compared with in the same minutes, by name.
    pub yardstick: (&'static str, Multiply),
}

/// One thing that a step runs.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Entry point of a kernel; for other programs, the name in the catalogue.
    pub name: &'static str,
    /// Whether this kernel is the sibling in Rust.
    pub is_rust: bool,
    pub kind: LaunchKind,
    /// Whether a GPU for which there is a cubin loads the cubin, and not the PTX that its driver would compile.
    pub uses_cubin: bool,
    /// Number of blocks, where blocks share out tiles: the grid is a row of them, and the geometry gives the tiles.
    pub blocks: Option<Blocks>,
    pub requirement: Option<Requirement>,
    pub preparation: Option<Preparation>,
}

/// The code that a [`Kernel`] runs, and where.
#[derive(Debug, Clone, Copy)]
pub enum LaunchKind {
    Device {
        code: KernelSource,
        grid: Grid,
        launch: LaunchFn,
    },
    Cpu(Cpu),
    /// An FP32 product by NVIDIA's library.
    Cublas {
        /// Creates the handle, once.
        open: OpenCublas,
        multiply: MultiplyCublas,
    },
    /// A product by a library of the step, which chooses among kernels.
    Library {
        /// Starts the library, once.
        open: OpenLibraryFn,
    },
}

/// Source of the grid of a launch.
#[derive(Debug, Clone, Copy)]
pub enum Grid {
    Function(Geometry),
    /// One block per tile of C.
    Tiles(Tile),
}

/// A step's launch, by the types of its operands and of its result.
#[derive(Debug, Clone, Copy)]
pub enum LaunchFn {
    Fp32(LaunchGemm<f32>),
    Fp64(LaunchGemm<f64>),
    Bf16(LaunchGemm<Bf16, f32>),
    Bf16ToBf16(LaunchGemm<Bf16>),
    E4m3(LaunchGemm<E4m3, f32>),
    E4m3ToBf16(LaunchGemm<E4m3, Bf16>),
    Transpose(LaunchTranspose),
}

/// The start of a step's library, by the types of its operands and of its result.
#[derive(Debug, Clone, Copy)]
pub enum OpenLibraryFn {
    Fp32(OpenLibrary),
    Bf16(OpenLibrary<Bf16, f32>),
    Bf16ToBf16(OpenLibrary<Bf16>),
    E4m3(OpenLibrary<E4m3, f32>),
    E4m3ToBf16(OpenLibrary<E4m3, Bf16>),
}

/// One expression for libraries of all types.
macro_rules! match_library {
    ($library:expr, $open:ident => $product:expr $(,)?) => {
        match $library {
            $crate::kernel::OpenLibraryFn::Fp32($open) => $product,
            $crate::kernel::OpenLibraryFn::Bf16($open) => $product,
            $crate::kernel::OpenLibraryFn::Bf16ToBf16($open) => $product,
            $crate::kernel::OpenLibraryFn::E4m3($open) => $product,
            $crate::kernel::OpenLibraryFn::E4m3ToBf16($open) => $product,
        }
    };
}
pub(crate) use match_library;

/// One expression for the launches of products of all types, and one for those of transposes.
macro_rules! match_launch {
    ($launch:expr, $gemm:ident => $product:expr, $transpose:ident => $other:expr $(,)?) => {
        match $launch {
            $crate::kernel::LaunchFn::Fp32($gemm) => $product,
            $crate::kernel::LaunchFn::Fp64($gemm) => $product,
            $crate::kernel::LaunchFn::Bf16($gemm) => $product,
            $crate::kernel::LaunchFn::Bf16ToBf16($gemm) => $product,
            $crate::kernel::LaunchFn::E4m3($gemm) => $product,
            $crate::kernel::LaunchFn::E4m3ToBf16($gemm) => $product,
            $crate::kernel::LaunchFn::Transpose($transpose) => $other,
        }
    };
}
pub(crate) use match_launch;

/// Functions that declare a kernel, by the type of its launch.
macro_rules! declarations {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($launch:ty);)*) => {$(
        $(#[$doc])*
        pub const fn $name(name: &'static str, code: KernelSource, geometry: Geometry, launch: $launch) -> Self {
            let (grid, launch) = (Grid::Function(geometry), LaunchFn::$variant(launch));
            Self::new(name, LaunchKind::Device { code, grid, launch })
        }
    )*};
}

impl Kernel {
    const fn new(name: &'static str, kind: LaunchKind) -> Self {
        Self { name, is_rust: false, kind, uses_cubin: false, blocks: None, requirement: None, preparation: None }
    }

    /// Declares persistent blocks, which share tiles: the grid is a row of `blocks`, and the geometry has the tiles.
    #[must_use]
    pub const fn persistent_blocks(self, blocks: Blocks) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// Declares that the kernel does not take some shapes.
    #[must_use]
    pub const fn requires(self, requirement: Requirement) -> Self {
        Self { requirement: Some(requirement), ..self }
    }

    /// Declares a kernel `entry` of the same PTX, which is launched before this one and writes `bytes` of memory.
    #[must_use]
    pub const fn prepared_by(self, entry: &'static str, bytes: fn(shape: Shape) -> usize) -> Self {
        Self { preparation: Some(Preparation { entry, bytes }), ..self }
    }

    /// Declares that the kernel runs from its cubin, because its source needs options of ptxas that PTX cannot carry.
    #[must_use]
    pub const fn precompiled(self) -> Self {
        Self { uses_cubin: true, ..self }
    }

    declarations! {
        /// A GEMM of FP32 operands; the catalogue lists whether one is transposed, or converted to TF32.
        sgemm: Fp32(LaunchGemm<f32>);
        dgemm: Fp64(LaunchGemm<f64>);
        bf16: Bf16(LaunchGemm<Bf16, f32>);
        bf16_to_bf16: Bf16ToBf16(LaunchGemm<Bf16>);
        e4m3: E4m3(LaunchGemm<E4m3, f32>);
        e4m3_to_bf16: E4m3ToBf16(LaunchGemm<E4m3, Bf16>);
        transpose: Transpose(LaunchTranspose);
    }

    /// Returns a product of FP32 with one block per tile of C. The source defines both sizes, as `BM`, `BN` and
    /// `THREADS`.
    pub const fn tiled(name: &'static str, code: KernelSource) -> Self {
        let Some(tile) = Tile::from_source(code.text) else {
            panic!("the source defines no BM, BN and THREADS");
        };
        let (grid, launch) = (Grid::Tiles(tile), LaunchFn::Fp32(launch_gemm));
        Self::new(name, LaunchKind::Device { code, grid, launch })
    }

    pub const fn cpu(name: &'static str, cpu: Cpu) -> Self {
        Self::new(name, LaunchKind::Cpu(cpu))
    }

    pub const fn cublas(name: &'static str, open: OpenCublas, multiply: MultiplyCublas) -> Self {
        Self::new(name, LaunchKind::Cublas { open, multiply })
    }

    /// A product by a library of the step; the catalogue lists whether B is transposed, or FP32 converted to TF32.
    pub const fn library(name: &'static str, open: OpenLibraryFn) -> Self {
        Self::new(name, LaunchKind::Library { open })
    }

    /// Returns the sibling in Rust, which is launched in the same way; `None` where there is none.
    pub fn in_rust(&self) -> Option<Self> {
        let LaunchKind::Device { code, grid, launch } = self.kind else { return None };
        let code = code.rust.filter(|rust| rust.ptx.contains(&format!(".entry {}(", self.name)))?;
        Some(Self { is_rust: true, kind: LaunchKind::Device { code: *code, grid, launch }, ..*self })
    }

    /// Returns the name in records and tables.
    pub fn shown_name(&self) -> String {
        format!("{}{}", if self.is_rust { RUST } else { "" }, self.name)
    }

    /// Returns the source and PTX of the kernel; `None` for the CPU and for libraries.
    pub fn code(&self) -> Option<KernelSource> {
        match self.kind {
            LaunchKind::Device { code, .. } => Some(code),
            LaunchKind::Cpu(_) | LaunchKind::Cublas { .. } | LaunchKind::Library { .. } => None,
        }
    }

    /// Returns the launch for a shape on a device with `n_sms` multiprocessors; `None` for the CPU and for libraries.
    pub fn launch_config(&self, shape: Shape, n_sms: usize) -> Option<LaunchConfig> {
        let config = self.config(shape)?;
        let Some(blocks) = self.blocks else { return Some(config) };
        let (x, y, z) = config.grid_dim;
        let tiles = x.saturating_mul(y).saturating_mul(z);
        Some(LaunchConfig { grid_dim: (blocks(tiles, u32::try_from(n_sms).unwrap_or(u32::MAX)), 1, 1), ..config })
    }

    /// Returns the grid and block that the step declares for a shape; `None` for the CPU and for libraries.
    pub fn config(&self, shape: Shape) -> Option<LaunchConfig> {
        match self.kind {
            LaunchKind::Device { grid, .. } => Some(grid.config(shape)),
            LaunchKind::Cpu(_) | LaunchKind::Cublas { .. } | LaunchKind::Library { .. } => None,
        }
    }

    /// Returns the rows and columns of the product (of a transpose: of the input) that belong to one block, derived
    /// from the growth of the grid. `None` where one block computes everything.
    pub fn tile(&self) -> Option<[usize; 2]> {
        const LARGE: usize = 1 << 20;
        let config = self.config(Shape { m: LARGE, n: LARGE, k: 1 })?;
        let (x, y, _) = config.grid_dim;
        (x > 1 || y > 1).then(|| [LARGE / y.max(1) as usize, LARGE / x.max(1) as usize])
    }

    /// Returns whether the program can do the work that the catalogue lists.
    pub fn computes(&self, work: Work) -> bool {
        match (self.kind, work) {
            (LaunchKind::Device { launch, .. }, work) => launch.does(work),
            (LaunchKind::Library { open }, work) => open.does(work),
            (LaunchKind::Cpu(_), Work::Cpu) | (LaunchKind::Cublas { .. }, Work::Cublas) => true,
            _ => false,
        }
    }
}

impl Grid {
    fn config(self, shape: Shape) -> LaunchConfig {
        match self {
            Grid::Function(geometry) => geometry(shape),
            Grid::Tiles(tile) => grid_of_tiles(shape, [tile.rows, tile.cols], tile.threads),
        }
    }
}

/// Launches a kernel that takes M, N, K, A, B and C, as those of most steps do.
pub fn launch_gemm<T: DeviceRepr, R: DeviceRepr>(gemm: Gemm<'_, T, R>) -> Result<(), DriverError> {
    let (m, n, k) = (to_i32(gemm.shape.m), to_i32(gemm.shape.n), to_i32(gemm.shape.k));
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

/// Launches a kernel of C = alpha · A · B with alpha = 1, which the compiler does not know.
pub fn launch_scaled_gemm<T: DeviceRepr, R: DeviceRepr>(gemm: Gemm<'_, T, R>) -> Result<(), DriverError> {
    gemm.allow_shared()?;
    let (m, n, k, alpha) = (to_i32(gemm.shape.m), to_i32(gemm.shape.n), to_i32(gemm.shape.k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k).arg(&alpha);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

impl LaunchFn {
    fn does(self, work: Work) -> bool {
        use Format::{Bf16, E4m3, Fp32, Tf32};
        let formats = match work {
            Work::Sgemm | Work::SgemmTransposed { .. } => return matches!(self, Self::Fp32(_)),
            Work::Dgemm => return matches!(self, Self::Fp64(_)),
            Work::Transpose => return matches!(self, Self::Transpose(_)),
            Work::Cpu | Work::Cublas => return false,
            Work::Tensor { operands, result, .. } => (operands, result),
        };
        matches!(
            (self, formats),
            (Self::Fp32(_), (Tf32 | Fp32, Fp32))
                | (Self::Bf16(_), (Bf16, Fp32))
                | (Self::Bf16ToBf16(_), (Bf16, Bf16))
                | (Self::E4m3(_), (E4m3, Fp32))
                | (Self::E4m3ToBf16(_), (E4m3, Bf16))
        )
    }
}

impl OpenLibraryFn {
    fn does(self, work: Work) -> bool {
        use Format::{Bf16, E4m3, Fp32, Tf32};
        let Work::Tensor { operands, result, .. } = work else {
            return matches!((self, work), (Self::Fp32(_), Work::Sgemm));
        };
        matches!(
            (self, operands, result),
            (Self::Fp32(_), Tf32, Fp32)
                | (Self::Bf16(_), Bf16, Fp32)
                | (Self::Bf16ToBf16(_), Bf16, Bf16)
                | (Self::E4m3(_), E4m3, Fp32)
                | (Self::E4m3ToBf16(_), E4m3, Bf16)
        )
    }
}

/// Returns the number of blocks that cover `n` elements, `tile` of them each.
pub fn blocks(n: usize, tile: u32) -> u32 {
    // More than a grid can have is refused before the launch.
    u32::try_from(n.div_ceil(tile as usize)).unwrap_or(u32::MAX)
}

pub fn grid_1d(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Returns the launch of one block per tile of C, of these rows and columns.
pub fn grid_of_tiles(shape: Shape, [rows, cols]: [u32; 2], threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks(shape.n, cols), blocks(shape.m, rows), 1), ..grid_1d(1, threads) }
}

/// Converts a size to what kernels take.
///
/// # Panics
/// Panics if the problem does not fit; sizes are checked before a launch.
pub fn to_i32(n: usize) -> i32 {
    i32::try_from(n).expect("sizes that do not fit an int are refused before a launch")
}

//! Runs the real kernels from their committed PTX on the emulated GPU, and traces one warp, or all of a block.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use catalog::{CatalogKernel, STEPS, Shape, Work};
use counters::Counters;
use program::tensor::{Element, Fill, Swizzle, TensorMap, TensorMapArguments};
use program::{DecodedKernel, MemSpace};
use simt::gpu::{self, Argument, Gpu};
use simt::launch::LaunchOptions;
use simt::memory::rules::{self, Addresses};
use simt::trace::{Access, Step, TraceSelection};
use simt::{module::LoadedKernel, report::LaunchReport};

pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This crate is `book/figures`.
    own.ancestors().nth(2).unwrap_or(own).to_owned()
}

pub(crate) fn read(path: &str) -> anyhow::Result<String> {
    let path = root().join(path);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// The warp whose trace is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WarpPosition {
    /// Coordinates of the block in x and y.
    pub(crate) block: [u32; 2],
    pub(crate) warp: u32,
}

pub(crate) const FIRST: WarpPosition = WarpPosition { block: [0, 0], warp: 0 };

/// Trace of one warp or of a block, and the counters of the launch.
pub(crate) struct Trace {
    pub(crate) report: LaunchReport,
    /// Steps, each with the number of its warp.
    pub(crate) steps: Vec<(u32, Step)>,
    loaded: Arc<LoadedKernel>,
    /// Addresses of the buffers: A, B, C of a GEMM, or input and output of a transpose.
    pub(crate) buffers: Vec<u64>,
}

/// An access of the trace, relative to its array.
pub(crate) struct Reached<'t> {
    pub(crate) access: &'t Access,
    /// First byte of each active lane, from the start of the array.
    pub(crate) offsets: Vec<(usize, u64)>,
}

impl Reached<'_> {
    pub(crate) fn addresses(&self) -> Addresses {
        std::array::from_fn(|lane| self.offsets.iter().find(|(other, _)| *other == lane).map(|(_, offset)| *offset))
    }
}

impl Trace {
    pub(crate) fn kernel(&self) -> &DecodedKernel {
        self.loaded.kernel()
    }

    /// Returns the accesses to a buffer: 0 for A, 1 for B, 2 for C.
    pub(crate) fn global(&self, buffer: usize) -> Vec<Reached<'_>> {
        let base = self.buffers[buffer];
        let end = self.buffers.iter().filter(|b| **b > base).min().copied();
        self.reached(
            |access, first| access.space == MemSpace::Global && first >= base && end.is_none_or(|end| first < end),
            base,
        )
    }

    /// Returns the accesses to the shared array whose symbol contains `name`.
    pub(crate) fn shared(&self, name: &str) -> Vec<Reached<'_>> {
        let Some(array) = self.kernel().shared.iter().find(|array| array.name.contains(name)) else {
            return Vec::new();
        };
        let (start, end) = (u64::from(array.offset), u64::from(array.offset + array.bytes));
        self.reached(|access, first| access.space == MemSpace::Shared && (start..end).contains(&first), start)
    }

    /// Returns the first load from a shared array, or the first store to it.
    pub(crate) fn first_shared(&self, name: &str, direction: rules::Direction) -> anyhow::Result<Reached<'_>> {
        let first = self.shared(name).into_iter().find(|reached| reached.access.direction == direction);
        let verb = if direction.is_load() { "loads" } else { "stores" };
        first.with_context(|| format!("{} {verb} nothing of {name}", self.kernel().name))
    }

    fn reached(&self, wanted: impl Fn(&Access, u64) -> bool, base: u64) -> Vec<Reached<'_>> {
        let offset = |(lane, address): (usize, &Option<u64>)| Some((lane, (*address)? - base));
        let accesses = self.steps.iter().filter_map(|(_, step)| step.access.as_ref());
        accesses
            .filter(|access| access.addresses.iter().flatten().next().is_some_and(|first| wanted(access, *first)))
            .map(|access| Reached { access, offsets: access.addresses.iter().enumerate().filter_map(offset).collect() })
            .collect()
    }

    /// Returns the source files, by their numbers in the PTX.
    pub(crate) fn files(&self) -> &[(u32, String)] {
        self.loaded.files()
    }

    pub(crate) fn text(&self, step: usize) -> &str {
        &self.report.instructions[self.steps[step].1.instr as usize].text
    }
}

fn kernel_of(name: &str) -> anyhow::Result<&'static CatalogKernel> {
    STEPS.iter().find_map(|step| step.kernel(name)).with_context(|| format!("the ladder has no kernel {name}"))
}

/// Returns a kernel's file under `kernels`, without extension.
pub(crate) fn source_of(kernel: &str) -> anyhow::Result<&'static str> {
    kernel_of(kernel)?.source.with_context(|| format!("{kernel} has no source"))
}

/// Returns the bytes of an element of A and B, and of one of C.
pub(crate) fn element_bytes(kernel: &str) -> anyhow::Result<[u64; 2]> {
    Ok(match kernel_of(kernel)?.work {
        Work::Tensor { operands, result, .. } => [operands, result].map(|format| format.bytes() as u64),
        _ => [4, 4],
    })
}

/// Returns the value of `constexpr int NAME = 128` in a kernel's source, or in a header that it includes.
pub(crate) fn constant(kernel: &str, name: &str) -> anyhow::Result<u32> {
    let path = format!("kernels/{}.cu", source_of(kernel)?);
    defined(&path, name)?.with_context(|| format!("{path}: no constant {name}"))
}

fn defined(path: &str, name: &str) -> anyhow::Result<Option<u32>> {
    let text = read(path)?;
    if let Some(value) = catalog::constants::constant(&text, name) {
        return Ok(Some(value));
    }
    let mut included = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    included.find_map(|header| defined(&format!("kernels/{header}"), name).transpose()).transpose()
}

/// Returns the rows and columns of C that one block owns.
pub(crate) fn tile(kernel: &str) -> anyhow::Result<[u32; 2]> {
    if let Some(edge) = [16, 32].into_iter().find(|edge| kernel.ends_with(&format!("tile{edge}"))) {
        return Ok([edge; 2]);
    }
    if let Ok(edge) = constant(kernel, "BLOCK").or_else(|_| constant(kernel, "TILE")) {
        return Ok([edge; 2]);
    }
    Ok([constant(kernel, "BM")?, constant(kernel, "BN")?])
}

/// An argument of a launch. Matrices hold zeros: the pictures depend on addresses, not on values.
pub(crate) enum Operand {
    Float(f32),
    Int(i32),
    /// An array of the given number of bytes.
    Array(u64),
    Map(Boxes),
}

/// A matrix that the TMA copies by boxes.
#[derive(Clone, Copy)]
pub(crate) struct Boxes {
    /// Rows and columns of the matrix.
    pub(crate) matrix: [usize; 2],
    /// Rows and columns of a box.
    pub(crate) of_box: [u32; 2],
    pub(crate) element: Element,
    pub(crate) swizzle: Swizzle,
}

/// A launch of a committed kernel on the emulated GPU.
pub(crate) struct Launch {
    pub(crate) kernel: &'static str,
    pub(crate) grid: [u32; 2],
    pub(crate) operands: Vec<Operand>,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
}

/// Runs a launch, and traces a warp of a block, or all of its warps, or none.
pub(crate) fn run(launch: &Launch, traced: Option<([u32; 2], Option<u32>)>) -> anyhow::Result<Trace> {
    const MAX_STEPS: usize = 1 << 20;
    let path = format!("kernels/ptx/{}.ptx", source_of(launch.kernel)?);
    let gpu = Gpu::with_memory(1 << 32);
    let module = gpu.load(&read(&path)?).with_context(|| path.clone())?;
    let kernel = module.kernel(launch.kernel);
    let kernel = kernel.with_context(|| format!("{path} has no kernel {}", launch.kernel))?;
    let threads = kernel.kernel().max_threads.context("the kernel has no launch bounds")?;
    let mut arguments: Vec<Argument> = Vec::new();
    let mut buffers = Vec::new();
    for operand in &launch.operands {
        let mut array = |bytes: u64| -> anyhow::Result<u64> {
            buffers.push(gpu.upload(&vec![0u8; usize::try_from(bytes)?]));
            buffers.last().copied().context("an array")
        };
        arguments.push(match operand {
            Operand::Float(value) => (*value).into(),
            Operand::Int(value) => (*value).into(),
            Operand::Array(bytes) => array(*bytes)?.into(),
            Operand::Map(Boxes { matrix, of_box: [height, width], element, swizzle }) => {
                let ([rows, columns], bytes) = (matrix.map(|edge| edge as u64), element.bytes());
                let address = array(bytes * rows * columns)?;
                let map = TensorMap::new(TensorMapArguments {
                    address,
                    element: *element,
                    dims: &[columns, rows],
                    strides: &[bytes * columns],
                    box_dims: &[*width, *height],
                    steps: &[1, 1],
                    swizzle: *swizzle,
                    fill: Fill::Zeros,
                });
                Argument(map.map_err(|rule| anyhow::anyhow!("{rule}"))?.encode().to_vec())
            }
        });
    }
    let shape =
        gpu::Geometry { grid: [launch.grid[0], launch.grid[1], 1], block: threads, dynamic_shared: launch.shared };
    let params = kernel.param_block(&arguments)?;
    let request = shape.request(params, LaunchOptions::default());
    let (report, steps) = match traced {
        Some(([x, y], warp)) => {
            gpu.trace(kernel, &request, TraceSelection { block: [x, y, 0], warp, max_steps: MAX_STEPS })?
        }
        None => (gpu.launch(kernel, &request)?, Vec::new()),
    };
    if let Some(code) = report.mistakes.codes().first() {
        bail!("{} on the emulated GPU: {}", launch.kernel, code.as_str());
    }
    Ok(Trace { report, steps, loaded: Arc::clone(kernel), buffers })
}

fn launch_of(kernel: &str, shape: Shape) -> anyhow::Result<Launch> {
    let kernel = kernel_of(kernel)?.name;
    let [tile_m, tile_n] = tile(kernel)?;
    let [factor, result] = element_bytes(kernel)?;
    let array = |rows: usize, cols: usize, bytes: u64| Operand::Array(bytes * (rows * cols) as u64);
    let Shape { m, n, k } = shape;
    let matrices = [array(m, k, factor), array(k, n, factor), array(m, n, result)];
    Ok(Launch {
        kernel,
        grid: [(shape.n as u32).div_ceil(tile_n), (shape.m as u32).div_ceil(tile_m)],
        operands: sizes(shape).chain(matrices).collect(),
        shared: 0,
    })
}

pub(crate) fn sizes(shape: Shape) -> impl Iterator<Item = Operand> {
    [shape.m, shape.n, shape.k].into_iter().map(|size| Operand::Int(size as i32))
}

pub(crate) fn product(kernel: &str, shape: Shape, warp: WarpPosition) -> anyhow::Result<Trace> {
    run(&launch_of(kernel, shape)?, Some((warp.block, Some(warp.warp))))
}

/// Traces all warps of the first block, in the order in which the emulated GPU ran them.
pub(crate) fn block(kernel: &str, [m, n, k]: [usize; 3]) -> anyhow::Result<Trace> {
    run(&launch_of(kernel, Shape { m, n, k })?, Some((FIRST.block, None)))
}

pub(crate) fn counters(kernel: &str, shape: Shape) -> anyhow::Result<Counters> {
    Ok(run(&launch_of(kernel, shape)?, None)?.report.total)
}

/// Runs a transpose with one block per square tile of `in`, and traces one warp.
pub(crate) fn transpose(kernel: &'static str, size: usize, warp: WarpPosition) -> anyhow::Result<Trace> {
    let [edge, _] = tile(kernel)?;
    let n_blocks = (size as u32).div_ceil(edge);
    let (edge, matrix) = (|| Operand::Int(size as i32), || Operand::Array(4 * (size * size) as u64));
    let operands = vec![edge(), edge(), matrix(), matrix()];
    let launch = Launch { kernel, grid: [n_blocks; 2], operands, shared: 0 };
    run(&launch, Some((warp.block, Some(warp.warp))))
}

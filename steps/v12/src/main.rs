//! v12: Hopper, whose tensor cores read shared memory, which a unit of its own fills.

use std::process::ExitCode;

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaSlice, DevicePtr as _, DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use lab::map::{ALIGNED, Element, Matrix};
use lab::{Code, Gemm, Kernel, Shape, bf16, blocks, code, int};

// ANCHOR: plans
/// How a kernel shares out its work.
#[derive(Clone, Copy)]
struct Plan {
    /// Tile of C that a block owns, or a cluster of blocks.
    bm: u32,
    bn: u32,
    /// Threads of a block.
    threads: u32,
    /// Bytes of shared memory that its launch asks for.
    shared: u32,
}

/// Depth of the tiles of A and B.
const BK: u32 = 64;
const BF16: u32 = 2;
/// Threads of a warpgroup.
const GROUP: u32 = 128;
/// Bytes of a barrier.
const BARRIER: u32 = 8;

/// `stages` pairs of tiles, each with its barriers; `groups` warpgroups; behind the tiles, room for something else.
const fn ring([bm, bn]: [u32; 2], stages: u32, groups: u32, barriers: u32, exchange: u32) -> Plan {
    Plan {
        bm,
        bn,
        threads: groups * GROUP,
        shared: stages * ((bm + bn) * BK * BF16 + barriers * BARRIER) + exchange,
    }
}

/// A cluster of two blocks, one below the other.
const fn pair(plan: Plan) -> Plan {
    Plan {
        bm: 2 * plan.bm,
        ..plan
    }
}

const MMA_RING: Plan = ring([128, 128], 3, 1, 0, 0);
const WGMMA: Plan = ring([128, 256], 2, 2, 2, 0);
const RING: Plan = ring([128, 256], 4, 3, 2, 0);
const MULTICAST: Plan = pair(RING);
/// With four boxes of C.
const STORE: Plan = pair(ring([128, 256], 4, 3, 2, 4 * 8192));
const SMALL_128X128: Plan = ring([128, 128], 6, 3, 2, 0);
const SMALL_128X64: Plan = ring([128, 64], 4, 3, 2, 0);
/// With the sums of half a tile.
const SPLIT: Plan = ring([128, 128], 6, 3, 2, 32768);

impl Plan {
    /// One block per tile of C.
    fn launch(self, shape: Shape) -> LaunchConfig {
        LaunchConfig {
            grid_dim: (blocks(shape.n, self.bn), blocks(shape.m, self.bm), 1),
            block_dim: (self.threads, 1, 1),
            shared_mem_bytes: self.shared,
        }
    }
}
// ANCHOR_END: plans

const MMA: Code = code!("v12_mma_ring");
const PLAIN: Code = code!("v12_wgmma");
const RINGS: Code = code!("v12_ring");
const PERSISTENT: Code = code!("v12_persistent");
const CLUSTERS: Code = code!("v12_multicast");
const BOXES_OUT: Code = code!("v12_store");
const SMALL: Code = code!("v12_small");

/// A kernel with C of FP32 and one with C of bf16.
macro_rules! both {
    ($fp32:literal, $bf16:literal, $code:ident, $plan:ident, $launch:ident) => {
        [
            Kernel::bf16($fp32, $code, |shape| $plan.launch(shape), $launch),
            Kernel::bf16_to_bf16($bf16, $code, |shape| $plan.launch(shape), $launch),
        ]
    };
}

/// As many blocks as multiprocessors, each of which takes one tile after another.
fn persistent(tiles: u32, n_sms: u32) -> u32 {
    tiles.min(n_sms)
}

/// The same of clusters.
fn persistent_pairs(pairs: u32, n_sms: u32) -> u32 {
    2 * pairs.min(n_sms / 2).max(1)
}

fn main() -> ExitCode {
    lab::main("v12", &kernels())
}

fn kernels() -> Vec<Kernel> {
    let mma = both!(
        "gemm_v12_mma_ring_f32",
        "gemm_v12_mma_ring_bf16",
        MMA,
        MMA_RING,
        launch_plain
    );
    let boxes = [
        both!(
            "gemm_v12_wgmma_f32",
            "gemm_v12_wgmma_bf16",
            PLAIN,
            WGMMA,
            launch_boxes
        ),
        both!(
            "gemm_v12_ring_f32",
            "gemm_v12_ring_bf16",
            RINGS,
            RING,
            launch_boxes
        ),
        both!(
            "gemm_v12_persistent_f32",
            "gemm_v12_persistent_bf16",
            PERSISTENT,
            RING,
            launch_boxes
        )
        .map(|kernel| kernel.with_blocks(persistent)),
        both!(
            "gemm_v12_multicast_f32",
            "gemm_v12_multicast_bf16",
            CLUSTERS,
            MULTICAST,
            launch_boxes
        )
        .map(|kernel| kernel.with_blocks(persistent_pairs)),
        both!(
            "gemm_v12_store_f32",
            "gemm_v12_store_bf16",
            BOXES_OUT,
            STORE,
            launch_boxes_out
        )
        .map(|kernel| kernel.with_blocks(persistent_pairs)),
        both!(
            "gemm_v12_small_128x128_f32",
            "gemm_v12_small_128x128_bf16",
            SMALL,
            SMALL_128X128,
            launch_boxes
        )
        .map(|kernel| kernel.with_blocks(|tiles, _| tiles)),
        both!(
            "gemm_v12_small_128x64_f32",
            "gemm_v12_small_128x64_bf16",
            SMALL,
            SMALL_128X64,
            launch_boxes
        )
        .map(|kernel| kernel.with_blocks(|tiles, _| tiles)),
        both!(
            "gemm_v12_small_128x128_split_f32",
            "gemm_v12_small_128x128_split_bf16",
            SMALL,
            SPLIT,
            launch_boxes
        )
        .map(|kernel| kernel.with_blocks(|tiles, _| 2 * tiles)),
    ];
    let boxes = boxes.into_iter().flatten();
    mma.into_iter()
        .chain(boxes.map(|kernel| kernel.needing(rows_on_16_bytes)))
        .collect()
}

// ANCHOR: launch
/// What a tensor map needs.
fn rows_on_16_bytes(shape: Shape) -> Option<&'static str> {
    let aligned = |cols: usize| (cols * size_of::<bf16>()).is_multiple_of(ALIGNED);
    (!aligned(shape.n) || !aligned(shape.k)).then_some(
        "a tensor map needs rows that start on 16 bytes: N and K that are multiples of 8; gemm_v12_mma_ring takes any",
    )
}

/// Some of the shared memory is above what every launch may have.
fn prepare<R>(gemm: &Gemm<'_, bf16, R>) -> Result<(), DriverError> {
    let bytes = gemm.config.shared_mem_bytes.cast_signed();
    gemm.kernel
        .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
}

/// A and B as they are.
fn launch_plain<R: DeviceRepr>(gemm: Gemm<'_, bf16, R>) -> Result<(), DriverError> {
    prepare(&gemm)?;
    let (m, n, k, alpha) = (int(gemm.shape.m), int(gemm.shape.n), int(gemm.shape.k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k).arg(&alpha);
    launch.arg(gemm.a).arg(gemm.b).arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; a has M * K elements, b K * N, c M * N, and it stays inside.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

/// Rows of A and columns of B in a box; a row of either box has 128 bytes, as long as a row of the swizzle.
const A_ROWS: u32 = 128;
const B_COLS: u32 = 64;

/// The address of a matrix and its sizes.
fn matrix<T: ElementOf>(
    gemm_stream: &cudarc::driver::CudaStream,
    x: &CudaSlice<T>,
    [rows, cols]: [usize; 2],
) -> Matrix {
    // What is written to it before or after this launch is ordered by the stream, which the caller waits for.
    let (address, _) = x.device_ptr(gemm_stream);
    Matrix {
        address,
        rows,
        cols,
        pitch: cols,
        element: T::ELEMENT,
    }
}

/// A and B as tensor maps.
fn launch_boxes<R: DeviceRepr>(gemm: Gemm<'_, bf16, R>) -> Result<(), DriverError> {
    prepare(&gemm)?;
    let Shape { m, n, k } = gemm.shape;
    let a_map = matrix(gemm.stream, gemm.a, [m, k]).map(A_ROWS, BK, true)?;
    let b_map = matrix(gemm.stream, gemm.b, [k, n]).map(BK, B_COLS, true)?;
    let (m, n, k, alpha) = (int(m), int(n), int(k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k).arg(&alpha).arg(&a_map).arg(&b_map);
    launch.arg(gemm.c);
    // SAFETY: the arguments are what the kernel takes; the maps end with their matrices, and c has M * N elements.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

/// C too, in boxes of 64 rows of 128 bytes.
fn launch_boxes_out<R: ElementOf>(gemm: Gemm<'_, bf16, R>) -> Result<(), DriverError> {
    prepare(&gemm)?;
    let Shape { m, n, k } = gemm.shape;
    let a_map = matrix(gemm.stream, gemm.a, [m, k]).map(A_ROWS, BK, true)?;
    let b_map = matrix(gemm.stream, gemm.b, [k, n]).map(BK, B_COLS, true)?;
    let columns = 128 / size_of::<R>() as u32;
    let c_map = matrix(gemm.stream, gemm.c, [m, n]).map(64, columns, true)?;
    let (m, n, k, alpha) = (int(m), int(n), int(k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch
        .arg(&m)
        .arg(&n)
        .arg(&k)
        .arg(&alpha)
        .arg(&a_map)
        .arg(&b_map)
        .arg(&c_map);
    // SAFETY: the arguments are what the kernel takes, and the maps end with their matrices.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}
// ANCHOR_END: launch

/// Types that matrices of tensor maps have here.
trait ElementOf: DeviceRepr {
    const ELEMENT: Element;
}

impl ElementOf for f32 {
    const ELEMENT: Element = Element::F32;
}

impl ElementOf for bf16 {
    const ELEMENT: Element = Element::Bf16;
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::declared;

    #[test]
    fn kernels_are_those_of_the_catalogue() {
        declared::agrees("v12", &kernels());
    }
}

//! v12: Hopper, whose tensor cores read operands in shared memory, which the TMA fills.

mod drawn;
#[cfg(test)]
mod tests;
mod tune;

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr as _, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use harness::map::{ALIGNED, Element, Matrix, Swizzle, TensorMap};
use harness::parts::{Parts, parts};
use harness::{
    Bf16, E4m3, Gemm, Kernel, KernelSource, LoadModule, OpenLibraryFn, Shape, code, grid_of_tiles,
    launch_scaled_gemm, out, to_i32,
};
use v12::gemm::Layout::{self, AsIs, Transposed};
use v12::gemm::{Output, To};

/// The launch of a kernel, and the boxes that it copies.
#[derive(Clone, Copy)]
struct Geometry {
    /// Tile of C that a block owns, or a pair of blocks.
    bm: u32,
    bn: u32,
    threads: u32,
    /// Bytes of dynamic shared memory.
    shared: u32,
    /// Rows of a box of A, and of B.
    rows: [u32; 2],
}

/// Bytes of a row of a box, as long as one of the swizzle: also the depth of the tiles of A and B.
const ROW: u32 = 128;
/// Rows of a box of B in bf16: the depth of the tiles.
const BK: u32 = columns::<Bf16>();
/// Returns the columns of a box, whose rows are [`ROW`] bytes long.
const fn columns<T>() -> u32 {
    ROW / size_of::<T>() as u32
}
const GROUP: u32 = 128;
/// Threads of the producer warp, one of which issues the copies.
const PRODUCERS: u32 = 32;
const BARRIER: u32 = 8;

/// Returns the geometry of `stages` pairs of tiles with `barriers` each, followed by `exchange` bytes of shared memory.
const fn tiles([bm, bn]: [u32; 2], threads: u32, stages: u32, barriers: u32, exchange: u32) -> Geometry {
    let tiles = (bm + bn) * ROW;
    Geometry { bm, bn, threads, shared: stages * (tiles + barriers * BARRIER) + exchange, rows: [bm, BK] }
}

/// Returns the geometry of a ring of `stages` pairs of tiles: a producer warp, and consumer warpgroups of 64 rows each.
const fn ring([bm, bn]: [u32; 2], stages: u32, exchange: u32) -> Geometry {
    tiles([bm, bn], bm / 64 * GROUP + PRODUCERS, stages, 2, exchange)
}

/// Returns the geometry of a cluster of two blocks, one below the other: each copies half of a tile of B.
const fn pair_of_blocks(geometry: Geometry) -> Geometry {
    Geometry { bm: 2 * geometry.bm, rows: [geometry.rows[0], geometry.rows[1] / 2], ..geometry }
}

/// Returns the geometry of a cluster with B stored transposed, as N × K: each block copies half of a tile's `bn` rows.
const fn with_b_transposed(geometry: Geometry) -> Geometry {
    Geometry { rows: [geometry.rows[0], geometry.bn / 2], ..geometry }
}

/// Six pairs of tiles of half the depth, without barriers.
const MMA_RING: Geometry = tiles([256, 128], 8 * 32, 6 / 2, 0, 0);
const WGMMA: Geometry = tiles([128, 256], 2 * GROUP, 2, 2, 0);
const RING: Geometry = ring([128, 256], 4, 0);
const MULTICAST: Geometry = pair_of_blocks(RING);
/// Boxes of C of 8192 bytes follow the ring: four, and eight for the tile of 192 columns.
const STORE: Geometry = pair_of_blocks(ring([128, 256], 4, 4 * 8192));
const STORE_192: Geometry = pair_of_blocks(ring([128, 192], 4, 8 * 8192));
const PING_PONG: Geometry = pair_of_blocks(ring([128, 128], 6, 4 * 8192));
/// The producers are a whole warpgroup: `setmaxnreg` moves registers between warpgroups.
const PING_PONG_192: Geometry =
    Geometry { threads: 3 * GROUP, ..pair_of_blocks(ring([128, 192], 4, 4 * 8192)) };
const SMALL_128X128: Geometry = ring([128, 128], 7, 0);
const SMALL_64X128: Geometry = ring([64, 128], 9, 0);
const SMALL_64X64: Geometry = ring([64, 64], 4, 0);
/// The accumulators of half a tile follow the ring: 64 × 128 floats.
const SPLIT_128X128: Geometry = ring([128, 128], 6, 32768);
/// Pairs of tiles of one part each. The producers are a whole warpgroup, which gives registers to the consumers.
const IN_PARTS: Geometry = Geometry { threads: 3 * GROUP, ..pair_of_blocks(ring([128, 128], 7, 0)) };
/// The accumulators of half a tile follow the ring: 32 × 64 floats.
const SPLIT_64X64: Geometry = ring([64, 64], 4, 8192);
const TF32: Geometry = with_b_transposed(STORE);
const FP8_FAST: Geometry = with_b_transposed(STORE_192);
/// As in [`PING_PONG_192`], the producers are a whole warpgroup.
const FP8: Geometry = Geometry { threads: 3 * GROUP, ..FP8_FAST };

impl Geometry {
    fn launch(self, shape: Shape) -> LaunchConfig {
        LaunchConfig {
            shared_mem_bytes: self.shared,
            ..grid_of_tiles(shape, [self.bm, self.bn], self.threads)
        }
    }
}

/// Two kernels whose operands the TMA copies, with elements of one type: with C in FP32 and in bf16.
macro_rules! both {
    ($name:literal, $code:literal, $geometry:ident, $launch:ident $(, $blocks:ident)?) => {
        both!(Bf16, bf16, bf16_to_bf16, $name, $code, $geometry, $launch)
            .map(|kernel| kernel.requires(lacks_aligned_rows)$(.persistent_blocks($blocks))?)
    };
    ($element:ty, $fp32:ident, $bf16:ident, $name:literal, $code:literal, $geometry:ident, $launch:ident) => {{
        const CODE: KernelSource = code!($code);
        let launch = |gemm: Gemm<'_, $element, f32>| $launch(gemm, $geometry.rows);
        let fp32 = Kernel::$fp32(concat!($name, "_f32"), CODE, |shape| $geometry.launch(shape), launch);
        let launch = |gemm: Gemm<'_, $element, Bf16>| $launch(gemm, $geometry.rows);
        let bf16 = Kernel::$bf16(concat!($name, "_bf16"), CODE, |shape| $geometry.launch(shape), launch);
        [fp32, bf16]
    }};
}

/// Two kernels with operands in FP8.
macro_rules! both_of_fp8 {
    ($name:literal, $geometry:ident) => {
        both!(E4m3, e4m3, e4m3_to_bf16, $name, "v12_fp8", $geometry, launch_boxes_out)
            .map(|kernel| kernel.requires(lacks_aligned_rows_of_fp8).persistent_blocks(persistent_pairs))
    };
}

/// The library, for operands and results of some types, with B stored in one order, and with one kind of sums of FP8.
macro_rules! library {
    ($name:literal, $types:ident, $order_of_b:ident, $fast_sums:literal) => {{
        let open = OpenLibraryFn::$types(|stream, load| open_library(stream, load, $order_of_b, $fast_sums));
        Kernel::library($name, open)
    }};
}

/// Returns the blocks of a persistent kernel: one per multiprocessor, each of which takes one tile after another.
fn persistent(tiles: u32, n_sms: u32) -> u32 {
    tiles.min(n_sms)
}

/// Returns the blocks of a persistent kernel of clusters: a pair per two multiprocessors, which take tiles in turn.
fn persistent_pairs(pairs: u32, n_sms: u32) -> u32 {
    2 * pairs.min(n_sms / 2).max(1)
}

fn one_each(tiles: u32, _: u32) -> u32 {
    tiles
}

fn two_each(tiles: u32, _: u32) -> u32 {
    tiles.saturating_mul(2)
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tune") => tune::main(),
        // Prints sizes for `--size`.
        Some("shapes") => {
            let shapes: Vec<_> = drawn::shapes().iter().map(Shape::to_string).collect();
            let written = out::write(&format!("{}\n", shapes.join(",")));
            harness::exit_code(written.map(|()| ExitCode::SUCCESS))
        }
        // Prints plans for products of a type, by their predicted times.
        Some("plans") => tune::plans(),
        _ => harness::main("v12", &kernels()),
    }
}

fn kernels() -> Vec<Kernel> {
    const MMA_RING_CODE: KernelSource = code!("v12_mma_ring");
    let geometry = |shape| MMA_RING.launch(shape);
    let mma = [
        Kernel::bf16("gemm_v12_mma_ring_f32", MMA_RING_CODE, geometry, launch_scaled_gemm),
        Kernel::bf16_to_bf16("gemm_v12_mma_ring_bf16", MMA_RING_CODE, geometry, launch_scaled_gemm),
    ];
    let boxes = [
        both!("gemm_v12_wgmma", "v12_wgmma", WGMMA, launch_boxes),
        both!("gemm_v12_ring", "v12_ring", RING, launch_boxes),
        both!("gemm_v12_persistent", "v12_persistent", RING, launch_boxes, persistent),
        both!("gemm_v12_multicast", "v12_multicast", MULTICAST, launch_boxes, persistent_pairs),
        both!("gemm_v12_store", "v12_store", STORE, launch_boxes_out, persistent_pairs),
        both!("gemm_v12_store_192", "v12_store", STORE_192, launch_boxes_out, persistent_pairs),
        both!("gemm_v12_ping_pong", "v12_ping_pong", PING_PONG, launch_boxes_out, persistent_pairs),
        both!("gemm_v12_ping_pong_192", "v12_ping_pong", PING_PONG_192, launch_boxes_out, persistent_pairs),
        both!("gemm_v12_small_128x128", "v12_small", SMALL_128X128, launch_boxes_out, one_each),
        both!("gemm_v12_small_64x128", "v12_small", SMALL_64X128, launch_boxes_out, one_each),
        both!("gemm_v12_small_64x64", "v12_small", SMALL_64X64, launch_boxes_out, one_each),
        both!("gemm_v12_split_128x128", "v12_split", SPLIT_128X128, launch_boxes, two_each),
        both!("gemm_v12_split_64x64", "v12_split", SPLIT_64X64, launch_boxes, two_each),
    ];
    let geometry = |shape| IN_PARTS.launch(shape);
    let fp32 = Kernel::sgemm("sgemm_v12_six_bf16", code!("v12_six_bf16"), geometry, launch_in_parts)
        .persistent_blocks(persistent_pairs)
        .prepared_by("split_v12", |shape| parts(shape).iter().map(Parts::bytes).sum());
    let launch = |gemm: Gemm<'_, f32>| launch_boxes_out(gemm, TF32.rows);
    let tf32 = Kernel::sgemm("gemm_v12_tf32_f32", code!("v12_tf32"), |shape| TF32.launch(shape), launch);
    let tf32 = tf32.requires(lacks_aligned_rows_of_tf32).persistent_blocks(persistent_pairs);
    let fp8 = [both_of_fp8!("gemm_v12_fp8_fast", FP8_FAST), both_of_fp8!("gemm_v12_fp8", FP8)];
    let (boxes, fp8) = (boxes.into_iter().flatten(), fp8.into_iter().flatten());
    let libraries = [
        library!("v12_gemm_f32", Bf16, AsIs, false),
        library!("v12_gemm_bf16", Bf16ToBf16, AsIs, false),
        library!("v12_gemm_tf32_f32", Fp32, AsIs, false),
        library!("v12_gemm_tf32_nt_f32", Fp32, Transposed, false),
        library!("v12_gemm_e4m3_f32", E4m3, Transposed, false),
        library!("v12_gemm_e4m3_bf16", E4m3ToBf16, Transposed, false),
        library!("v12_gemm_e4m3_fast_f32", E4m3, Transposed, true),
        library!("v12_gemm_e4m3_fast_bf16", E4m3ToBf16, Transposed, true),
    ];
    mma.into_iter().chain(boxes).chain([fp32, tf32]).chain(fp8).chain(libraries).collect()
}

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Multiply<T, R> = Box<dyn Fn(harness::Product<'_, T, R>) -> Result<(), Failure>>;

fn open_library<T: To<R>, R: Output>(
    stream: &Arc<CudaStream>,
    load: LoadModule<'_>,
    order_of_b: Layout,
    fast_sums: bool,
) -> Result<Multiply<T, R>, Failure> {
    let gemm = v12::gemm::Gemm::<T>::of_module(stream, &load(&T::CODE)?)?;
    Ok(Box::new(move |product| {
        let harness::Product { shape, a, b, c } = product;
        let product = v12::gemm::Product { b: order_of_b, fast_sums, ..v12::gemm::Product::new(shape) };
        Ok(gemm.multiply(&product, a, b, c)?)
    }))
}

/// Returns whether a tensor map can have rows of `cols` elements.
fn aligned<T>(cols: usize) -> bool {
    (cols * size_of::<T>()).is_multiple_of(ALIGNED)
}

/// Returns what a shape lacks whose rows of A or B are not aligned for tensor maps.
fn lacks_aligned_rows(shape: Shape) -> Option<&'static str> {
    (!aligned::<Bf16>(shape.n) || !aligned::<Bf16>(shape.k)).then_some(
        "a tensor map needs rows that start on 16 bytes: N and K that are multiples of 8; gemm_v12_mma_ring takes any",
    )
}

/// Checks as [`lacks_aligned_rows`] does, for TF32, whose elements have the size of FP32.
fn lacks_aligned_rows_of_tf32(shape: Shape) -> Option<&'static str> {
    (!aligned::<f32>(shape.n) || !aligned::<f32>(shape.k)).then_some(
        "a tensor map needs rows that start on 16 bytes: N and K that are multiples of 4; tf32gemm_v10_large_warps takes \
         any, with B as K x N",
    )
}

/// Checks as [`lacks_aligned_rows`] does, for FP8: elements of A and B are one byte, those of C at least two.
fn lacks_aligned_rows_of_fp8(shape: Shape) -> Option<&'static str> {
    (!aligned::<Bf16>(shape.n) || !aligned::<E4m3>(shape.k)).then_some(
        "a tensor map needs rows that start on 16 bytes: K that is a multiple of 16, and N of 8; zeros behind each row \
         of A and of B make K longer, and leave the sums as they are",
    )
}

fn matrix<T: Mapped>(stream: &CudaStream, x: &CudaSlice<T>, [rows, cols]: [usize; 2]) -> Matrix {
    // Its uses before and after this launch are in the same stream.
    let (address, _) = x.device_ptr(stream);
    Matrix { address, rows, cols, pitch: cols, element: T::ELEMENT }
}

/// Returns tensor maps of A and B, whose boxes have `a_rows` and `b_rows` rows. B is stored as N × K, unless it is
/// bf16. Copies round FP32 to TF32, which is what `wgmma` multiplies; by a map of FP32 it would cut the elements.
fn maps<T: Mapped, R>(
    gemm: &Gemm<'_, T, R>,
    [a_rows, b_rows]: [u32; 2],
) -> Result<[TensorMap; 2], DriverError> {
    let Shape { m, n, k } = gemm.shape;
    let (size_of_b, element) = match T::ELEMENT {
        Element::Bf16 => ([k, n], Element::Bf16),
        Element::F32 | Element::Tf32 => ([n, k], Element::Tf32),
        Element::E4m3 => ([n, k], Element::E4m3),
    };
    let operand = |x, size| Matrix { element, ..matrix(gemm.stream, x, size) };
    Ok([
        operand(gemm.a, [m, k]).map(a_rows, columns::<T>(), Swizzle::ByRow)?,
        operand(gemm.b, size_of_b).map(b_rows, columns::<T>(), Swizzle::ByRow)?,
    ])
}

/// Launches a kernel that takes the maps of A and B, or of the parts of each, and the map of C or its address.
fn launch_mapped<T, R: DeviceRepr, M: DeviceRepr>(
    gemm: Gemm<'_, T, R>,
    maps: &[M],
) -> Result<(), DriverError> {
    let (m, n, k, alpha) = (to_i32(gemm.shape.m), to_i32(gemm.shape.n), to_i32(gemm.shape.k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k).arg(&alpha);
    for map in maps {
        launch.arg(map);
    }
    if let [_, _] = maps {
        launch.arg(gemm.c);
    }
    // SAFETY: the arguments are what the kernel takes; the maps end with their matrices, and c has M * N elements.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

/// Launches a kernel that copies A and B by the TMA, and whose threads store C.
fn launch_boxes<R: DeviceRepr>(gemm: Gemm<'_, Bf16, R>, rows: [u32; 2]) -> Result<(), DriverError> {
    gemm.allow_shared()?;
    let maps = maps(&gemm, rows)?;
    launch_mapped(gemm, &maps)
}

/// Launches a kernel that also stores C by the TMA, in boxes of 64 rows.
fn launch_boxes_out<T: Mapped, R: Mapped>(gemm: Gemm<'_, T, R>, rows: [u32; 2]) -> Result<(), DriverError> {
    gemm.allow_shared()?;
    let [a_map, b_map] = maps(&gemm, rows)?;
    let c = matrix(gemm.stream, gemm.c, [gemm.shape.m, gemm.shape.n]);
    let c_map = c.map(64, columns::<R>(), Swizzle::ByRow)?;
    launch_mapped(gemm, &[a_map, b_map, c_map])
}

/// Splits A and B into parts of bf16, then launches the kernel that multiplies these.
fn launch_in_parts(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
    gemm.allow_shared()?;
    let split = gemm.preparation.expect("it is declared with the kernel");
    let [a, b] = parts(gemm.shape);
    let (a_at, _) = split.memory.device_ptr(gemm.stream);
    let b_at = a_at + a.bytes() as u64;
    // SAFETY: there is memory for the parts of both.
    unsafe {
        a.split(gemm.stream, &split.kernel, gemm.a, a_at)?;
        b.split(gemm.stream, &split.kernel, gemm.b, b_at)?;
    }
    let [a_rows, b_rows] = IN_PARTS.rows;
    launch_mapped(gemm, &[a.maps(a_at, a_rows, BK)?, b.maps(b_at, b_rows, BK)?])
}

trait Mapped: DeviceRepr {
    const ELEMENT: Element;
}

impl Mapped for f32 {
    const ELEMENT: Element = Element::F32;
}

impl Mapped for Bf16 {
    const ELEMENT: Element = Element::Bf16;
}

impl Mapped for E4m3 {
    const ELEMENT: Element = Element::E4m3;
}

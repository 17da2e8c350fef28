//! v11: register banks, copies without threads, and every shape, in FP32.

mod benchmark_shapes;
mod search;
mod tune;

use std::process::ExitCode;

use cudarc::driver::{DevicePtr as _, DriverError, LaunchConfig, PushKernelArg};
use harness::map::{ALIGNED, Element, Matrix, Swizzle};
use harness::{
    Gemm, Kernel, KernelSource, OpenLibraryFn, Shape, grid_of_tiles, launch_gemm, launch_scaled_gemm, to_i32,
};
use v11::gemm::{Product, Sgemm};
use v11::plans::LARGE;

// ANCHOR: tiles
/// The launch of a kernel, which follows from its tile.
#[derive(Clone, Copy)]
struct Geometry {
    /// Tile of C that a block owns.
    bm: u32,
    bn: u32,
    threads: u32,
    /// Bytes of dynamic shared memory.
    shared: u32,
}

impl Geometry {
    /// Returns a kernel that declares its shared memory, and whose threads own `tm` × `tn` elements each.
    const fn tile([bm, bn]: [u32; 2], [tm, tn]: [u32; 2]) -> Self {
        Self { bm, bn, threads: bm / tm * (bn / tn), shared: 0 }
    }

    /// Returns a ring of `stages` pairs of tiles of depth `bk`, and the sums that `slices` groups of warps exchange.
    const fn ring([bm, bn, bk]: [u32; 3], [tm, tn]: [u32; 2], slices: u32, stages: u32) -> Self {
        const FLOAT: u32 = 4;
        Self {
            threads: slices * (bm / tm) * (bn / tn),
            shared: (stages * (bm + bn) * bk + (slices - 1) * bm * bn) * FLOAT,
            bm,
            bn,
        }
    }
}

const LARGE_TILE: Geometry = Geometry::tile([256, 128], [16, 8]);
const SMALL_TILE: Geometry = Geometry::tile([64, 64], [8, 8]);
const SLICES_16X32: Geometry = Geometry::ring([16, 32, 32], [4, 4], 4, 4);
const SLICES_32X32: Geometry = Geometry::ring([32, 32, 32], [8, 4], 4, 6);
const LARGE_RING: Geometry = Geometry::ring([256, 128, 16], [8, 16], 1, 4);
/// The large ring with producer warps, and with barriers.
const PRODUCER: Geometry = Geometry { threads: LARGE.threads(), shared: LARGE.shared(), ..LARGE_RING };
// ANCHOR_END: tiles

/// The compiled kernel files.
mod code {
    use harness::{KernelSource, code};

    pub(super) const LARGE_TILE: KernelSource = code!("v11_large_tile");
    pub(super) const FREE_BANKS: KernelSource = code!("v11_free_banks");
    pub(super) const SMALL_TILE: KernelSource = code!("v11_small_tile");
    pub(super) const SLICES: KernelSource = code!("v11_slices");
    pub(super) const ASYNC_COPY: KernelSource = code!("v11_async_copy");
    pub(super) const PRODUCER: KernelSource = code!("v11_producer");
    pub(super) const STREAM_K: KernelSource = code!("v11_stream_k");
    pub(super) const RESCHEDULED: KernelSource = code!("v11_rescheduled");
}

/// A kernel that takes alpha, launched by its tile.
macro_rules! scaled {
    ($name:literal, $code:ident, $tile:ident) => {
        Kernel::sgemm($name, code::$code, |shape| $tile.launch(shape), launch_scaled_gemm)
    };
}

const KERNELS: &[Kernel] = &[
    Kernel::sgemm("sgemm_v11_large_tile", code::LARGE_TILE, |shape| LARGE_TILE.launch(shape), launch_gemm),
    scaled!("sgemm_v11_free_banks", FREE_BANKS, LARGE_TILE),
    scaled!("sgemm_v11_small_tile", SMALL_TILE, SMALL_TILE).precompiled(),
    scaled!("sgemm_v11_slices_16x32", SLICES, SLICES_16X32),
    scaled!("sgemm_v11_slices_32x32", SLICES, SLICES_32X32),
    scaled!("sgemm_v11_async_copy", ASYNC_COPY, LARGE_RING).precompiled(),
    Kernel::sgemm("sgemm_v11_producer", code::PRODUCER, |shape| PRODUCER.launch(shape), launch_boxes)
        .persistent_blocks(|tiles, n_sms| tiles.min(n_sms))
        .requires(lacks_aligned_rows)
        .precompiled(),
    Kernel::sgemm(
        "sgemm_v11_split_k",
        code::STREAM_K,
        |shape| PRODUCER.launch(shape),
        |gemm| launch_mapped(gemm, &[0.0], &[]),
    )
    .persistent_blocks(|tiles, n_sms| tiles * (n_sms / tiles).max(1))
    .requires(lacks_aligned_rows)
    .precompiled(),
    shared_out("sgemm_v11_stream_k", code::STREAM_K),
    shared_out("sgemm_v11_rescheduled", code::RESCHEDULED),
    Kernel::library(
        "v11_gemm",
        OpenLibraryFn::Fp32(|stream, load| {
            let sgemm = Sgemm::of_modules(stream, load)?;
            Ok(Box::new(move |product| {
                Ok(sgemm.multiply(&Product::new(product.shape), product.a, product.b, product.c)?)
            }))
        }),
    ),
];

/// A kernel whose blocks share out steps of k.
const fn shared_out(name: &'static str, code: KernelSource) -> Kernel {
    Kernel::sgemm(name, code, |shape| PRODUCER.launch(shape), launch_stream_k)
        .persistent_blocks(|_, n_sms| n_sms)
        .requires(lacks_aligned_rows)
        .precompiled()
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tune") => tune::main(),
        Some("search") => search::main(),
        // Prints sizes for `--size`.
        Some("shapes") => {
            let shapes: Vec<_> = benchmark_shapes::shapes().iter().map(Shape::to_string).collect();
            let written = harness::out::write(&format!("{}\n", shapes.join(",")));
            harness::exit_code(written.map(|()| ExitCode::SUCCESS))
        }
        _ => harness::main("v11", KERNELS),
    }
}

impl Geometry {
    fn launch(self, shape: Shape) -> LaunchConfig {
        LaunchConfig {
            shared_mem_bytes: self.shared,
            ..grid_of_tiles(shape, [self.bm, self.bn], self.threads)
        }
    }
}

/// Returns what a shape lacks whose rows of A or B are not aligned for tensor maps.
fn lacks_aligned_rows(shape: Shape) -> Option<&'static str> {
    let aligned = |cols: usize| (cols * size_of::<f32>()).is_multiple_of(ALIGNED);
    (!aligned(shape.n) || !aligned(shape.k))
        .then_some("a tensor map needs rows that start on 16 bytes: N and K that are multiples of 4")
}

/// Launches a kernel with A and B as tensor maps, and C between the arguments `before_c` and `after_c`.
fn launch_mapped(gemm: Gemm<'_, f32>, before_c: &[f32], after_c: &[i32]) -> Result<(), DriverError> {
    let Shape { m, n, k } = gemm.shape;
    gemm.allow_shared()?;
    let [bm, bn, bk] = LARGE.tile;
    let (a, _reading_a) = gemm.a.device_ptr(gemm.stream);
    let (b, _reading_b) = gemm.b.device_ptr(gemm.stream);
    let matrix = |address, rows, cols| Matrix { address, rows, cols, pitch: cols, element: Element::F32 };
    let a_map = matrix(a, m, k).map(bm, bk, Swizzle::ByRow)?;
    let b_map = matrix(b, k, n).map(bk, bn, Swizzle::None)?;
    let (m, n, k, alpha) = (to_i32(m), to_i32(n), to_i32(k), 1.0f32);
    let mut launch = gemm.stream.launch_builder(gemm.kernel);
    launch.arg(&m).arg(&n).arg(&k).arg(&alpha).arg(&a_map).arg(&b_map);
    for argument in before_c {
        launch.arg(argument);
    }
    launch.arg(gemm.c);
    for argument in after_c {
        launch.arg(argument);
    }
    // SAFETY: the arguments are what the kernel takes; the maps end with their matrices, and c has M * N elements.
    unsafe { launch.launch(gemm.config) }?;
    Ok(())
}

/// Launches persistent blocks, each with whole tiles.
fn launch_boxes(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
    launch_mapped(gemm, &[], &[])
}

/// Launches blocks with whole tiles but in the last two rounds, whose tiles are shared: one round can be small.
fn launch_stream_k(gemm: Gemm<'_, f32>) -> Result<(), DriverError> {
    let tiles = LARGE.tiles(gemm.shape.m, gemm.shape.n);
    let blocks = gemm.config.grid_dim.0 as usize;
    let whole =
        if tiles.is_multiple_of(blocks) { tiles } else { (tiles / blocks).saturating_sub(1) * blocks };
    launch_mapped(gemm, &[0.0], &[to_i32(whole)])
}

harness::test_step!("v11", KERNELS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_source() {
        let of_code =
            [(code::LARGE_TILE, LARGE_TILE), (code::FREE_BANKS, LARGE_TILE), (code::SMALL_TILE, SMALL_TILE)];
        for (code, geometry) in of_code {
            let constants = ["BM", "BN", "THREADS"].map(|name| code.constant(name));
            assert_eq!(constants, [geometry.bm, geometry.bn, geometry.threads]);
        }
    }
}

//! Matrix products of every awkward shape, with all checks on, equal to the reference bit for bit.

use simt::launch::CheckLevel;
use tests::gemm::{GemmKernel, Product};

const NAIVE: GemmKernel = GemmKernel {
    name: "naive",
    ptx: include_str!("../../kernels/ptx/naive.ptx"),
    tile: [16, 16],
    block: [16, 16, 1],
    strip: 0,
};
const SHARED_TILE: GemmKernel =
    GemmKernel { name: "shared_tile", ptx: include_str!("../../kernels/ptx/shared_tile.ptx"), ..NAIVE };
const REGISTER_TILE: GemmKernel = GemmKernel {
    name: "register_tile",
    ptx: include_str!("../../kernels/ptx/register_tile.ptx"),
    tile: [128, 128],
    block: [256, 1, 1],
    ..NAIVE
};

fn check([m, n, k]: [usize; 3], seed: u64, kernels: &[GemmKernel], check_level: CheckLevel) {
    let product = Product::<f32>::random(m, n, k, seed);
    let want = product.reference();
    for &kernel in kernels {
        let fmas = product.check(kernel, check_level, &want).total.fmas;
        assert!(fmas >= (m * n * k) as u64, "{} on {m} x {n} x {k}: {fmas} multiply-adds", kernel.name);
    }
}

#[test]
fn awkward_shapes() {
    for shape in [[1, 1, 1], [7, 13, 5], [15, 17, 16], [17, 15, 33], [129, 127, 9], [3, 300, 64], [257, 2, 31]] {
        check(shape, 7, &[NAIVE, SHARED_TILE, REGISTER_TILE], CheckLevel::CheckedWithGlobalRaces);
    }
}

#[test]
fn a_thousand_and_twenty_four_cubed() {
    check([1024; 3], 3, &[NAIVE, REGISTER_TILE], CheckLevel::Checked);
}

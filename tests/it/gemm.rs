//! Matrix products of every awkward shape, with all checks on, equal to the reference bit for bit.

use simt::launch::{LaunchOptions, Watch};
use tests::gemm::{GemmKernel, Product};

const NAIVE: GemmKernel<'_> = GemmKernel {
    name: "naive",
    ptx: include_str!("../../kernels/ptx/naive.ptx"),
    tile: 16,
    block: [16, 16, 1],
};
const SHARED_TILE: GemmKernel<'_> = GemmKernel {
    name: "shared_tile",
    ptx: include_str!("../../kernels/ptx/shared_tile.ptx"),
    tile: 16,
    block: [16, 16, 1],
};
const REGISTER_TILE: GemmKernel<'_> = GemmKernel {
    name: "register_tile",
    ptx: include_str!("../../kernels/ptx/register_tile.ptx"),
    tile: 128,
    block: [256, 1, 1],
};

#[track_caller]
fn check(product: &Product, kernel: GemmKernel<'_>, watch: Watch, want: &[f32]) {
    let options = LaunchOptions {
        watch,
        ..LaunchOptions::default()
    };
    let shape = format!("{} on {} x {} x {}", kernel.name, product.m, product.n, product.k);
    let (report, got) = product
        .run(kernel, options)
        .unwrap_or_else(|error| panic!("{shape}: {error}"));
    if let Some(finding) = report.findings.first() {
        panic!("{shape}: {}", finding.text);
    }
    let wrong = got
        .iter()
        .zip(want)
        .position(|(got, want)| got.to_bits() != want.to_bits());
    if let Some(at) = wrong {
        let (row, col) = (at / product.n, at % product.n);
        panic!("{shape}: C[{row}][{col}] is {}, not {}", got[at], want[at]);
    }
    let multiply_adds = (product.m * product.n * product.k) as u64;
    assert!(
        report.total.fmas >= multiply_adds,
        "{shape}: {} multiply-adds",
        report.total.fmas
    );
}

#[test]
fn awkward_shapes() {
    for (m, n, k) in [
        (1, 1, 1),
        (7, 13, 5),
        (15, 17, 16),
        (17, 15, 33),
        (129, 127, 9),
        (3, 300, 64),
        (257, 2, 31),
    ] {
        let product = Product::random(m, n, k, 7);
        let want = product.reference();
        for kernel in [NAIVE, SHARED_TILE, REGISTER_TILE] {
            check(&product, kernel, Watch::CheckedGlobalRaces, &want);
        }
    }
}

#[test]
fn a_thousand_and_twenty_four_cubed() {
    let product = Product::random(1024, 1024, 1024, 3);
    let want = product.reference();
    for kernel in [NAIVE, REGISTER_TILE] {
        check(&product, kernel, Watch::Checked, &want);
    }
}

//! The kernels v01–v08 do what their steps are about, in counters, some of which Nsight Compute does not have.
//! Also the probes of the roofline.
//!
//! Every product is one chain of fused multiply-adds with k from 0 upwards, so C equals a `mul_add` loop bit for bit.
//! Awkward shapes are in the tests of the steps: C has the bits of an H200's there.

use std::fmt::Write as _;
use std::sync::LazyLock;

use counters::Counters;
use serde::Deserialize;
use simt::launch::{CheckLevel, LaunchOptions};
use tests::gemm::{GemmKernel, Product, transposed};
use tests::gpu::{Argument, Geometry, Gpu};

#[derive(Deserialize)]
pub(crate) struct Ladder {
    pub(crate) gemms: Vec<GemmKernel>,
    pub(crate) transposes: Vec<GemmKernel>,
}

pub(crate) static KERNELS: LazyLock<Ladder> =
    LazyLock::new(|| toml::from_str(include_str!("ladder.toml")).expect("kernels"));

/// M, N and K that are multiples of every tile, so that no edge is met.
const WHOLE: [usize; 3] = [128, 256, 96];

/// Adds a row to a table: counters per `unit`, and whether each global access has 16 bytes per lane.
fn row(table: &mut String, name: &str, unit: u64, c: &Counters) {
    let per = |n: u64| n as f64 / unit as f64;
    let excess = [
        c.shared_store_wavefronts - c.shared_store_ideal,
        c.shared_load_wavefronts - c.shared_load_ideal,
        c.shared_load_wavefronts_merged - c.shared_load_ideal_merged,
    ];
    let requests = c.global_load_requests + c.global_store_requests;
    let wide = c.global_load_bytes + c.global_store_bytes == 16 * 32 * requests;
    let _ = writeln!(
        table,
        "{name}: {} multiply-adds; {} loads, {} sectors; {} stores, {} sectors{}; shared {} loads, {} merged, {} stores; excess {:?}; {} barriers",
        per(c.fmas),
        per(c.global_load_requests),
        per(c.global_load_sectors),
        per(c.global_store_requests),
        per(c.global_store_sectors),
        if wide { ", all of 16 bytes" } else { "" },
        per(c.shared_load_requests),
        per(c.shared_load_requests_merged),
        per(c.shared_store_requests),
        excess.map(per),
        per(c.barriers),
    );
}

/// Counters of a warp per step of k; of the stores of C, for all k.
#[test]
fn what_each_product_costs() {
    let [m, n, k] = WHOLE;
    let product = Product::<f32>::random(m, n, k, 17);
    let want = product.reference();
    let mut table = String::new();
    for kernel in &KERNELS.gemms {
        let mut as_stored = product.clone();
        let letters = kernel.name.as_bytes();
        if kernel.name.contains("_v08_t") {
            as_stored.a = transposed(&product.a, m, k);
        }
        if kernel.name.contains("_v08_") && letters.ends_with(b"t") {
            as_stored.b = transposed(&product.b, k, n);
        }
        let report = as_stored.check(kernel, &kernel.ptx(), CheckLevel::CheckedWithGlobalRaces, &want);
        let threads = report.grid[0] * report.grid[1] * report.block[0];
        row(&mut table, &kernel.name, u64::from(threads) / 32 * k as u64, &report.total);
    }
    insta::assert_snapshot!(table);
}

/// Counters per 32 x 32 elements.
#[test]
fn what_each_transpose_costs() {
    let (rows, cols) = (128, 192);
    let mut table = String::new();
    for kernel in &KERNELS.transposes {
        let report = kernel.check_transpose(&kernel.ptx(), rows, cols);
        row(&mut table, &kernel.name, (rows * cols / 1024) as u64, &report.total);
    }
    insta::assert_snapshot!(table);
}

#[test]
fn v02_strip_is_refused_when_the_strips_do_not_fit() {
    let gpu = Gpu::default();
    let strip = KERNELS.gemms.iter().find(|kernel| kernel.strip > 0).expect("it is listed");
    let module = gpu.load(&strip.ptx()).expect("committed PTX loads");
    let limit = 227 * 1024; // of a block on sm_90
    let k = limit / strip.strip + 1;
    let shape = Geometry { grid: [1, 1, 1], block: [strip.threads, 1, 1], dynamic_shared: (k * strip.strip) as u32 };
    let arguments: Vec<Argument> =
        [1, 1, k as i32].map(Argument::from).into_iter().chain([0u64; 3].map(Argument::from)).collect();
    let refused = gpu.launch(&module, &strip.name, shape, &arguments, LaunchOptions::default());
    let refused = refused.expect_err("more shared memory than there is");
    assert!(refused.starts_with("error[E-LAUNCH]: a block needs more shared memory"), "{refused}");
}

/// The kernels that a reader compares, in order.
#[rustfmt::skip]
const LADDER: [&str; 9] = [
    "v01_row_per_lane", "v01_col_per_lane", "v02_shared", "v03_from_global", "v03_from_shared", "v04_float4",
    "v05_bank_conflict_free", "v06_outer_product", "v07_double_buffer",
];

/// Returns a source without the markers that no reader of a diff is shown.
fn listing(name: &str) -> String {
    let text = tests::read(format!("kernels/{name}.cu"));
    let marker = |line: &str| ["// ANCHOR", "// SOLUTION", "// STARTER"].iter().any(|m| line.trim().starts_with(m));
    text.lines().filter(|line| !marker(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn neighbours_differ_by_a_screen() {
    for names in LADDER.windows(2) {
        let [old, new] = [names[0], names[1]].map(listing);
        let added = tasks::diff::missing(&new, &old).into_iter().filter(|is_added| *is_added).count();
        let explained = new.contains("\n// The diff is longer than a screen because");
        assert!((added <= 40) != explained, "{} to {}: {added} lines", names[0], names[1]);
    }
}

#[test]
fn nothing_spills() {
    for kernel in &KERNELS.gemms {
        let ptx = kernel.ptx();
        let mut devices = ptx.lines().filter(|line| line.contains("gemm_") && line.contains(" bytes spilled"));
        assert!(devices.clone().count() >= 5, "{}: registers of each architecture", kernel.name);
        assert!(devices.all(|line| line.ends_with(" 0 bytes spilled")), "{}", kernel.name);
    }
}

const PROBES: &str = include_str!("../../kernels/ptx/probe.ptx");

#[test]
fn the_fma_probe_does_the_multiply_adds_that_it_says() {
    const FMAS_PER_ROUND: u64 = 512;
    let gpu = Gpu::default();
    let module = gpu.load(PROBES).expect("PTX that loads");
    let out = gpu.upload(&[f32::NAN; 2 * 256]);
    for rounds in [0, 1, 3] {
        let arguments = [rounds.into(), 0.5f32.into(), out.into()];
        let report = gpu.run(&module, "probe_fma", Geometry::line(2, 256), &arguments);
        assert_eq!(report.total.fmas, FMAS_PER_ROUND * 2 * 256 * rounds as u64);
        assert_eq!(report.total.global_store_requests, 0);
        assert_eq!(report.total.local_requests, 0);
    }
    assert!(gpu.read::<f32>(out, 2 * 256).iter().all(|value| value.is_nan()));
}

#[test]
fn the_copy_probe_copies() {
    for (n, blocks) in [(1, 1), (255, 1), (257, 3), (5000, 2), (4096, 4)] {
        let gpu = Gpu::default();
        let module = gpu.load(PROBES).expect("PTX that loads");
        let input: Vec<f32> = (0..4 * n).map(|i| i as f32).collect();
        let source = gpu.upload(&input);
        let target = gpu.upload(&vec![f32::NAN; 4 * n]);
        let arguments = [(n as i64).into(), source.into(), target.into()];
        let report = gpu.run(&module, "probe_copy", Geometry::line(blocks, 256), &arguments);
        assert_eq!(gpu.read::<f32>(target, 4 * n), input);
        assert_eq!(report.total.global_load_bytes, 16 * n as u64);
        assert_eq!(report.total.global_store_bytes, 16 * n as u64);
    }
}

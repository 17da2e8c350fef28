//! The kernels v01–v07: right on every shape with all checks on, and each does what its step is about.
//!
//! Every kernel adds its products with k from 0 upwards, one fused multiply-add each, so its answer equals a
//! `mul_add` loop bit for bit: past an edge it adds zeros, which change nothing.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use counters::Counters;
use diagnostics::Report;
use simt::launch::{CheckLevel, LaunchOptions};
use simt::report::InstrReport;
use tests::gemm::{GemmKernel, Number, Product};
use tests::gpu::{Argument, Geometry, Gpu};

macro_rules! entry {
    ($name:literal, $file:literal, $tile:expr, $threads:expr) => {
        GemmKernel {
            name: $name,
            ptx: include_str!(concat!("../../kernels/ptx/", $file, ".ptx")),
            tile: $tile,
            block: [$threads, 1, 1],
            strip: 0,
        }
    };
}

const V01_ROW: GemmKernel = entry!("sgemm_v01_row_per_lane", "v01_row_per_lane", [32, 32], 1024);
const V01_COL: GemmKernel = entry!("sgemm_v01_col_per_lane", "v01_col_per_lane", [32, 32], 1024);
const V02_TILE16: GemmKernel = entry!("sgemm_v02_tile16", "v02_shared", [16, 16], 256);
const V02_TILE32: GemmKernel = entry!("sgemm_v02_tile32", "v02_shared", [32, 32], 1024);
const V02_STRIP: GemmKernel =
    GemmKernel { strip: 2 * 16 * size_of::<f32>(), ..entry!("sgemm_v02_strip", "v02_strip", [16, 16], 256) };
const V03_GLOBAL: GemmKernel = entry!("sgemm_v03_from_global", "v03_from_global", [128, 128], 256);
const V03_SHARED: GemmKernel = entry!("sgemm_v03_from_shared", "v03_from_shared", [128, 128], 256);
const V04: GemmKernel = entry!("sgemm_v04_float4", "v04_float4", [128, 128], 256);
const V05: GemmKernel = entry!("sgemm_v05_bank_conflict_free", "v05_bank_conflict_free", [128, 128], 256);
const V06: GemmKernel = entry!("sgemm_v06_outer_product", "v06_outer_product", [128, 128], 256);
const V07: GemmKernel = entry!("sgemm_v07_double_buffer", "v07_double_buffer", [128, 128], 256);

const SINGLE: [GemmKernel; 11] =
    [V01_ROW, V01_COL, V02_TILE16, V02_TILE32, V02_STRIP, V03_GLOBAL, V03_SHARED, V04, V05, V06, V07];
const DOUBLE: [GemmKernel; 4] = [
    entry!("dgemm_v01_row_per_lane", "v01_row_per_lane", [32, 32], 1024),
    entry!("dgemm_v01_col_per_lane", "v01_col_per_lane", [32, 32], 1024),
    entry!("dgemm_v02_tile16", "v02_shared", [16, 16], 256),
    entry!("dgemm_v02_tile32", "v02_shared", [32, 32], 1024),
];

/// Shapes of 1, of single rows and columns, of primes, of tile ± 1, less than a tile deep, and with N % 4 ≠ 0.
#[rustfmt::skip]
const AWKWARD: [[usize; 3]; 15] = [
    [1, 1, 1], [1, 130, 3], [131, 1, 5], [2, 3, 67], [7, 13, 5], [15, 17, 16], [17, 15, 31], [31, 33, 32],
    [33, 31, 33], [61, 67, 7], [127, 129, 9], [129, 127, 8], [128, 132, 24], [5, 254, 20], [130, 4, 12],
];

fn check_awkward<T: Number>(entries: &[GemmKernel]) {
    for [m, n, k] in AWKWARD {
        let product = Product::<T>::random(m, n, k, 17);
        let want = product.reference();
        for &entry in entries {
            product.check(entry, CheckLevel::CheckedWithGlobalRaces, &want);
        }
    }
}

#[test]
fn awkward_shapes_in_single_precision() {
    check_awkward::<f32>(&SINGLE);
}

#[test]
fn awkward_shapes_in_double_precision() {
    check_awkward::<f64>(&DOUBLE);
}

/// M, N and K that are multiples of every tile, so that no edge is met.
const WHOLE: [usize; 3] = [128, 256, 96];

/// Returns the launch of an entry of [`SINGLE`] on [`WHOLE`], made once.
fn whole_tiles(entry: GemmKernel) -> &'static Report {
    static REPORTS: [OnceLock<Report>; SINGLE.len()] = [const { OnceLock::new() }; SINGLE.len()];
    static PROBLEM: LazyLock<(Product, Vec<f32>)> = LazyLock::new(|| {
        let [m, n, k] = WHOLE;
        let product = Product::random(m, n, k, 17);
        let want = product.reference();
        (product, want)
    });
    let at = SINGLE.iter().position(|known| known.name == entry.name);
    REPORTS[at.expect("an entry of the list")].get_or_init(|| {
        let (product, want) = &*PROBLEM;
        product.check(entry, CheckLevel::CheckedWithGlobalRaces, want)
    })
}

/// Returns the instructions that ran and begin like this, in the order of the text.
fn executed<'a>(report: &'a Report, opcode: &str) -> Vec<&'a InstrReport> {
    let ran = |i: &&InstrReport| i.counters.warp_instructions > 0;
    let is = |i: &&InstrReport| i.text.trim_start_matches(|c| c != ' ').trim_start().starts_with(opcode);
    let starts = |i: &&InstrReport| i.text.starts_with(opcode) || (i.text.starts_with('@') && is(i));
    report.instructions.iter().filter(ran).filter(starts).collect()
}

/// Returns sectors per request of the loads and the stores that ran, each figure once, in order.
fn sectors_per_request(report: &Report) -> [Vec<u64>; 2] {
    let figures = |opcode: &str, sectors: fn(&Counters) -> u64, requests: fn(&Counters) -> u64| {
        let ran = executed(report, opcode);
        let each = ran.iter().map(|i| sectors(&i.counters) / requests(&i.counters));
        each.collect::<BTreeSet<_>>().into_iter().collect()
    };
    [
        figures("ld.global", |c| c.global_load_sectors, |c| c.global_load_requests),
        figures("st.global", |c| c.global_store_sectors, |c| c.global_store_requests),
    ]
}

#[test]
fn v01_row_per_lane_touches_32_sectors_of_a_and_of_c() {
    assert_eq!(sectors_per_request(whole_tiles(V01_ROW)), [vec![1, 32], vec![32]]);
}

#[test]
fn v01_col_per_lane_touches_1_sector_of_a_and_4_of_b_and_of_c() {
    assert_eq!(sectors_per_request(whole_tiles(V01_COL)), [vec![1, 4], vec![4]]);
}

#[test]
fn v02_global_loads_fall_by_the_tile() {
    let before = &whole_tiles(V01_COL).total;
    for (entry, tile) in [(V02_TILE16, 16), (V02_TILE32, 32)] {
        let total = &whole_tiles(entry).total;
        assert_eq!(before.global_load_requests, tile * total.global_load_requests, "{}", entry.name);
        assert_eq!(before.global_load_bytes, tile * total.global_load_bytes, "{}", entry.name);
        // A warp-wide load of A touched 1 sector and now 4, so sectors fall by less than requests: 5 per k became
        // 8 per 32 k, or 8 per 16 k.
        assert_eq!(before.global_load_sectors * 8, 5 * tile * total.global_load_sectors, "{}", entry.name);
    }
}

#[test]
fn v02_strip_moves_what_tile16_moves_with_one_barrier() {
    let (strip, tile) = (&whole_tiles(V02_STRIP).total, &whole_tiles(V02_TILE16).total);
    assert_eq!(strip.global_load_sectors, tile.global_load_sectors);
    let tiles_along_k = WHOLE[2] as u64 / 16;
    assert_eq!(2 * tiles_along_k * strip.barriers, tile.barriers);
}

#[test]
fn v02_strip_is_refused_when_the_strips_do_not_fit() {
    let gpu = Gpu::default();
    let module = gpu.load(V02_STRIP.ptx).expect("committed PTX loads");
    let limit = 227 * 1024; // of a block on sm_90
    let k = limit / V02_STRIP.strip + 1;
    let shape = Geometry { grid: [1, 1, 1], block: [V02_STRIP.block[0], 1, 1], shared: (k * V02_STRIP.strip) as u32 };
    let arguments: Vec<Argument> =
        [1, 1, k as i32].map(Argument::from).into_iter().chain([0u64; 3].map(Argument::from)).collect();
    let refused = gpu.launch(&module, V02_STRIP.name, shape, &arguments, LaunchOptions::default());
    let refused = refused.expect_err("more shared memory than there is");
    assert!(refused.starts_with("error[E-LAUNCH]: a block needs more shared memory"), "{refused}");
}

#[test]
fn v03_from_global_loads_sixteen_times_as_often() {
    let (global, shared) = (&whole_tiles(V03_GLOBAL).total, &whole_tiles(V03_SHARED).total);
    assert_eq!(global.shared_load_requests + global.shared_store_requests + global.barriers, 0);
    // 16 loads per k, or 8 per tile of 8 k.
    assert_eq!(global.global_load_requests, 16 * shared.global_load_requests);
    // 8 of them touch 2 sectors, 8 touch 16; of the others each touches 4.
    assert_eq!(global.global_load_sectors * 32, (8 * 144) * shared.global_load_sectors);
    assert_eq!(global.fmas, shared.fmas);
}

#[test]
fn v04_every_global_access_is_16_bytes_per_lane() {
    let report = whole_tiles(V04);
    let (loads, stores) = (executed(report, "ld.global"), executed(report, "st.global"));
    assert!(!loads.is_empty() && !stores.is_empty());
    for InstrReport { text, counters, .. } in loads.into_iter().chain(stores) {
        let bytes = counters.global_load_bytes + counters.global_store_bytes;
        assert_eq!(bytes, 16 * counters.thread_instructions, "{text}");
    }
    let before = &whole_tiles(V03_SHARED).total;
    assert_eq!(before.global_load_requests, 4 * report.total.global_load_requests);
    assert_eq!(before.global_store_requests, 4 * report.total.global_store_requests);
}

/// Returns wavefronts above the ideal: of stores, of loads as written, of loads as merged by ptxas.
fn excess(c: &Counters) -> [u64; 3] {
    [
        c.shared_store_wavefronts - c.shared_store_ideal,
        c.shared_load_wavefronts - c.shared_load_ideal,
        c.shared_load_wavefronts_merged - c.shared_load_ideal_merged,
    ]
}

#[test]
fn v05_no_shared_access_takes_an_excess_wavefront() {
    for entry in [V05, V06, V07] {
        for InstrReport { text, counters, .. } in &whole_tiles(entry).launch.instructions {
            assert_eq!(excess(counters), [0; 3], "{}: {text}", entry.name);
        }
    }
    for entry in [V03_SHARED, V04] {
        let [_, written, merged] = excess(&whole_tiles(entry).total);
        assert!(written > 0 && merged > 0, "{}", entry.name);
    }
}

/// Times that a warp goes through the k loop, over all warps.
fn warps_times_k(report: &Report) -> u64 {
    let threads = u64::from(report.grid[0] * report.grid[1] * report.block[0]);
    threads / 32 * WHOLE[2] as u64
}

#[test]
fn v06_four_128_bit_shared_loads_per_k() {
    for entry in [V06, V07] {
        let report = whole_tiles(entry);
        let loads = 4 * warps_times_k(report);
        assert_eq!(report.total.shared_load_requests, loads, "{}", entry.name);
        assert_eq!(report.total.shared_load_requests_merged, loads, "{}", entry.name);
        assert_eq!(report.total.shared_load_bytes, loads * 32 * 16, "{}", entry.name);
    }
    // The compiler had found two for the eight rows by itself; the eight columns were alone.
    let before = whole_tiles(V05);
    assert_eq!(before.total.shared_load_requests, (2 + 8) * warps_times_k(before));
}

#[test]
fn v07_one_barrier_per_tile_and_two_buffers() {
    let (before, after) = (whole_tiles(V06), whole_tiles(V07));
    let tiles = warps_times_k(after) / 8;
    assert_eq!([before.total.barriers, after.total.barriers], [2 * tiles, tiles]);
    let shared_bytes = |entry: GemmKernel| {
        let module = Gpu::default().load(entry.ptx).expect("committed PTX loads");
        module.kernel(entry.name).expect("the entry").kernel().shared.iter().map(|v| v.bytes).sum::<u32>()
    };
    assert_eq!(shared_bytes(V07), 2 * shared_bytes(V06));
}

#[test]
fn v07_loads_the_next_tile_before_it_multiplies_this_one() {
    let line = |report: &Report, opcode: &str, after: u32| {
        executed(report, opcode).iter().map(|i| i.ptx_line).find(|&line| line > after)
    };
    let report = whole_tiles(V07);
    let barrier = line(report, "bar.sync", 0).expect("a barrier");
    let load = line(report, "ld.global", barrier).expect("a load after the barrier");
    let multiply = line(report, "fma", barrier).expect("multiply-adds after the barrier");
    assert!(barrier < load && load < multiply, "{barrier} {load} {multiply}");

    let report = whole_tiles(V06);
    let barrier = line(report, "bar.sync", 0).expect("a barrier");
    assert_eq!(line(report, "ld.global", barrier), None, "v06 loads before its barrier only");
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
    for entry in SINGLE.into_iter().chain(DOUBLE) {
        let mut devices = entry.ptx.lines().filter(|line| line.contains(&format!(": {}: ", entry.name)));
        assert!(devices.clone().count() >= 5, "{}: registers of each architecture", entry.name);
        assert!(devices.all(|line| line.ends_with(" 0 bytes spilled")), "{}", entry.name);
    }
}

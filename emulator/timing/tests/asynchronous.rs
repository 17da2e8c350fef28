//! Loops of `kernels/calibrate_async.cu`: what an H200 took for a round, and what the model gives.

mod recorded;

use program::tensor::Element;
use recorded::mapped::Mapped;
use recorded::{Given, Launch};
use timing::accuracy::Set;

/// Records that `calibrate` printed on an H200.
const MEASURED: &str = include_str!("../../../xtask/tests/data/calibrate.json");
/// Rounds of the short loop and of the long one.
const ROUNDS: [i32; 2] = [32, 160];
/// Rows of the matrix of which boxes are copied, in L2, and the bytes of one; the rows in which a block stays.
const ROWS: u32 = 4096;
const PITCH: u32 = 8192;
const RAGGED_PITCH: u32 = 8016;
const SPAN: i32 = 1024;

/// Returns the clocks of a round of a kernel by the model, on one SM.
fn round(kernel: &str, [blocks, threads]: [u32; 2], shared: u32, rest: &[Given]) -> f64 {
    let clocks = ROUNDS.map(|rounds| {
        let launch = Launch {
            set: Set::Asynchronous,
            name: kernel.to_owned(),
            shape: [0; 3],
            measured_us: 0.0,
            entry: kernel.to_owned(),
            cubin: recorded::cubin("kernels/ptx/calibrate_async.ptx"),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: shared,
            arguments: [&[Given::Int(rounds), Given::Buffer(16 * blocks as usize)], rest].concat(),
        };
        launch.predicted().unwrap_or_else(|why| panic!("{kernel}: {why}")).clocks
    });
    (clocks[1] - clocks[0]) / f64::from(ROUNDS[1] - ROUNDS[0])
}

fn measured(name: &str) -> f64 {
    let record = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a record");
    let found = MEASURED.lines().map(record).find(|record| record["name"] == name);
    found.and_then(|record| record["value"].as_f64()).unwrap_or_else(|| panic!("{name} was not measured"))
}

/// Compares the clocks of a round with those of an H200, within a part of them, or 6 clocks of a short one.
#[track_caller]
fn check(name: &str, got: f64, measured: f64, part: f64) {
    assert!((got - measured).abs() <= (part * measured).max(6.0), "{name}: {got} clocks, measured {measured}");
}

/// Checks a loop by its name, of which `parts` of a round were counted, with the threads of a block at the end.
#[track_caller]
fn check_loop(name: &str, blocks: u32, parts: f64) {
    let (kernel, threads) = name.rsplit_once('_').expect("kernel_threads");
    let threads = threads.parse().expect("a number");
    let got = round(kernel, [blocks, threads], 0, &[Given::Buffer(4096)]);
    check(name, got, measured(&format!("{name}_threads")) * parts, 0.03);
}

/// Checks products: `bf16_64_shared_1`, by so many warpgroups.
#[track_caller]
fn check_products(name: &str, groups: u32) {
    let columns: u32 = name.split('_').nth(1).and_then(|columns| columns.parse().ok()).expect("columns");
    let got = round(&format!("products_{name}"), [1, groups * 128], (64 + columns) * 128, &[Given::Buffer(4096)]);
    check(name, got, measured(&format!("products_{name}_x{groups}")), 0.03);
}

/// Checks copies of boxes by one block or cluster, so many of them under way.
#[track_caller]
fn check_boxes(kernel: &str, [rows, cols]: [u32; 2], element: Element, depth: u32, at: &str, part: f64) {
    let (bytes, cluster) = (element.bytes() as u32, if kernel.starts_with("multicast") { 2 } else { 1 });
    let pitch = if at == "Ragged" { RAGGED_PITCH } else { PITCH } / bytes;
    let of_box = rows * cols * bytes;
    let map = Mapped { element, size: [ROWS, pitch], of_box: [rows, cols] };
    let walk = [depth as i32, of_box as i32, 0, 0, cols as i32, rows as i32, (pitch / cols) as i32, SPAN, SPAN, 1];
    let threads = if kernel.starts_with("boxes_out") { 128 } else { 32 };
    let rest = [Given::Ints(walk.to_vec()), Given::Map(map)];
    let got = round(kernel, [cluster, threads], cluster * of_box * depth, &rest);
    let name = format!("{kernel}_{rows}x{cols}_{element:?}_depth_{depth}_alone_{at}");
    check(&name, got, measured(&name), part);
}

#[test]
fn products_take_as_long_as_measured() {
    for (name, groups) in [
        ("bf16_64_shared_1", 1),
        ("bf16_64_shared_4", 1),
        ("bf16_64_shared_16", 1),
        ("bf16_64_shared_16", 2),
        ("bf16_128_shared_4", 1),
        ("bf16_128_shared_4", 2),
        ("bf16_256_shared_1", 1),
        ("bf16_256_shared_16", 1),
        ("bf16_256_shared_1", 2),
        ("tf32_256_registers_16", 1),
        ("e4m3_256_shared_4", 1),
    ] {
        check_products(name, groups);
    }
}

#[test]
fn barriers_in_shared_memory_take_as_long_as_measured() {
    check_loop("barrier_turns_64", 1, 2.0);
    check_loop("barrier_passed_32", 1, 16.0);
    check_loop("barrier_arrive_1", 1, 16.0);
}

#[test]
fn products_of_one_warp_take_as_long_as_measured() {
    for name in
        ["mma_bf16_512", "mma_tf32_512", "mma_bf16_chain_32", "load_matrices_many_512", "load_matrices_chain_32"]
    {
        check_loop(name, 1, 16.0);
    }
}

#[test]
fn matrices_are_stored_in_four_wavefronts() {
    check_loop("store_matrices_many_128", 1, 16.0);
    check_loop("store_matrices_many_512", 1, 16.0);
}

#[test]
fn blocks_of_a_cluster_meet_and_exchange_as_fast_as_measured() {
    for name in ["barrier_cluster_relaxed_2_32", "barrier_cluster_relaxed_2_256", "barrier_cluster_2_128"] {
        check_loop(name, 2, 16.0);
    }
    check_loop("remote_stores_32", 2, 16.0);
    check_loop("remote_stores_256", 2, 16.0);
    check_loop("remote_exchange_32", 2, 1.0);
    check_loop("remote_exchange_256", 2, 1.0);
}

#[test]
fn a_box_takes_no_longer_than_a_load_and_its_rows() {
    for (rows, depth) in [(8, 1), (8, 2), (64, 1), (64, 8), (128, 1), (128, 4), (256, 1), (256, 6)] {
        check_boxes("boxes", [rows, 64], Element::Bf16, depth, "L2", 0.03);
    }
    check_boxes("boxes", [256, 16], Element::F32, 1, "L2", 0.03);
    check_boxes("boxes", [256, 16], Element::F32, 6, "L2", 0.03);
}

#[test]
fn rows_that_begin_within_a_line_take_longer() {
    check_boxes("boxes", [64, 64], Element::Bf16, 6, "Ragged", 0.03);
    check_boxes("boxes", [256, 64], Element::Bf16, 1, "Ragged", 0.05);
    check_boxes("boxes", [256, 64], Element::Bf16, 6, "Ragged", 0.03);
}

#[test]
fn boxes_for_all_blocks_of_a_cluster_pass_the_way_into_each() {
    for depth in [1, 2, 4] {
        check_boxes("multicast_2", [64, 64], Element::Bf16, depth, "L2", 0.09);
    }
}

#[test]
fn boxes_are_read_from_shared_memory_as_fast_as_measured() {
    for rows in [8, 64] {
        check_boxes("boxes_out_read_1", [rows, 64], Element::Bf16, 1, "L2", 0.03);
        check_boxes("boxes_out_written_1", [rows, 64], Element::Bf16, 1, "L2", 0.03);
    }
}

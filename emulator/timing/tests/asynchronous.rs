//! Loops of `kernels/calibrate_async.cu`: what an H200 took for a round, and what the model gives.

mod recorded;

use recorded::{Given, Launch};
use timing::accuracy::Set;

/// Rounds of the short loop and of the long one.
const ROUNDS: [i32; 2] = [32, 160];

/// Returns the clocks of a round of a kernel by the model.
fn round(kernel: &str, threads: u32, shared: u32) -> f64 {
    let clocks = ROUNDS.map(|rounds| {
        let launch = Launch {
            set: Set::Asynchronous,
            name: kernel.to_owned(),
            shape: [0; 3],
            measured_us: 0.0,
            entry: kernel.to_owned(),
            cubin: recorded::cubin("kernels/ptx/calibrate_async.ptx"),
            grid: [1; 3],
            block: [threads, 1, 1],
            dynamic_shared: shared,
            arguments: vec![Given::Int(rounds), Given::Buffer(16), Given::Buffer(4096)],
        };
        launch.predicted().unwrap_or_else(|why| panic!("{kernel}: {why}")).clocks
    });
    (clocks[1] - clocks[0]) / f64::from(ROUNDS[1] - ROUNDS[0])
}

/// Compares the clocks of a round with those of an H200, within 3 %, or 6 clocks of a short one.
#[track_caller]
fn check(kernel: &str, threads: u32, measured: f64) {
    let columns = kernel.split('_').nth(2).and_then(|columns| columns.parse::<u32>().ok());
    let got = round(kernel, threads, columns.map_or(0, |columns| (64 + columns) * 128));
    assert!((got - measured).abs() <= 0.03 * measured.max(200.0), "{kernel}: {got} clocks, measured {measured}");
}

#[test]
fn products_take_as_long_as_measured() {
    const ONE: u32 = 128;
    const TWO: u32 = 256;
    for (kernel, threads, clocks) in [
        ("products_bf16_64_shared_1", ONE, 104.9),
        ("products_bf16_64_shared_4", ONE, 190.0),
        ("products_bf16_64_shared_16", ONE, 574.0),
        ("products_bf16_64_shared_16", TWO, 1024.0),
        ("products_bf16_128_shared_4", ONE, 318.0),
        ("products_bf16_128_shared_4", TWO, 512.3),
        ("products_bf16_256_shared_1", ONE, 201.0),
        ("products_bf16_256_shared_16", ONE, 2110.0),
        ("products_bf16_256_shared_1", TWO, 256.0),
        ("products_tf32_256_registers_16", ONE, 2110.0),
        ("products_e4m3_256_shared_4", ONE, 575.0),
    ] {
        check(kernel, threads, clocks);
    }
}

#[test]
fn barriers_in_shared_memory_take_as_long_as_measured() {
    check("barrier_turns", 64, 129.0);
    check("barrier_passed", 32, 744.0);
    check("barrier_arrive", 1, 126.0);
}

#[test]
fn products_of_one_warp_take_as_long_as_measured() {
    check("mma_bf16", 512, 392.0);
    check("mma_bf16_chain", 32, 393.0);
    check("load_matrices_many", 512, 1023.8);
    check("load_matrices_chain", 32, 550.0);
}

#[test]
fn matrices_are_stored_in_four_wavefronts() {
    check("store_matrices_many", 128, 259.7);
    check("store_matrices_many", 512, 1024.0);
}

//! Launches that cannot be predicted have a reason.

mod recorded;

use recorded::{Given, Launch, mapped};
use timing::accuracy::Set;

/// Returns the reason for the missing prediction of a 128 x 128 x 128 product by a kernel of `kernels/cubin`.
fn why(cubin: &str, name: &str, threads: u32, dynamic_shared: u32, parameters: &str) -> String {
    let arguments = parameters.split(' ').map(|parameter| match parameter {
        "M" | "N" | "K" => Given::Int(128),
        "whole" => Given::Int(0),
        "alpha" | "beta" => Given::Float(1.0),
        "A_map" | "B_map" => Given::Map(mapped::Mapped::factors_of_v11([128; 3])[usize::from(parameter == "B_map")]),
        _ => Given::Buffer(128 * 128 * 4),
    });
    let launch = Launch {
        set: Set::Ladder,
        name: name.to_owned(),
        shape: [128; 3],
        measured_us: 0.0,
        entry: name.to_owned(),
        cubin: recorded::cubin(&format!("kernels/ptx/{cubin}.ptx")),
        grid: [2, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared,
        arguments: arguments.collect(),
    };
    launch.predicted().map(|prediction| prediction.us).expect_err(name)
}

#[test]
fn matrices_that_are_turned_in_registers_have_no_prediction() {
    let why = why("v10_wmma", "bf16gemm_v10_wmma", 256, 0, "M N K A B C");
    assert!(why.contains("no time for these products of one warp"), "{why}");
}

#[test]
fn blocks_that_wait_for_others_have_no_prediction() {
    let why = why("v11_stream_k", "sgemm_v11_stream_k", 384, 98_368, "M N K alpha A_map B_map beta C whole");
    assert!(why.contains("blocks wait for what others write"), "{why}");
}

//! The kernel for large products of v11.

use std::fs;
use std::path::Path;

use reschedule::{Options, pass_time, reschedule};

const KERNEL: &str = "sgemm_v11_stream_k";
/// Of the kernel: two on each scheduler.
const WARPS: usize = 8;
/// Of loads of 16 bytes per lane: from four rows of A, and from eight places of a row of B.
const WAVEFRONTS: [u16; 2] = [2, 4];

fn cubin(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernels/cubin/{name}.cubin"));
    fs::read(path).expect("it is committed")
}

fn options() -> Options {
    Options { registers: 240, places: vec![8, 24, 40, 56, 72, 88] }
}

#[track_caller]
fn refused(name: &str, kernel: &str, options: &Options) -> String {
    reschedule(&cubin(name), kernel, options).expect_err("it is refused").to_string()
}

#[test]
fn only_the_kernels_code_changes() {
    let old = cubin("v11_stream_k");
    let new = reschedule(&old, KERNEL, &options()).expect("it is rewritten");
    let range = sass::code_range(&old, KERNEL).expect("it is there");
    assert_eq!((&new[..range.start], &new[range.end..]), (&old[..range.start], &old[range.end..]));
    let opcodes = |cubin: &[u8]| {
        let mut opcodes: Vec<u8> = cubin[range.clone()].chunks(16).map(|word| word[0]).collect();
        opcodes.sort_unstable();
        opcodes
    };
    assert!(opcodes(&new) == opcodes(&old), "there are other instructions");
}

#[test]
fn a_pass_takes_fewer_clocks() {
    let old = cubin("v11_stream_k");
    let new = reschedule(&old, KERNEL, &options()).expect("it is rewritten");
    let [old, new] = [old, new].map(|cubin| pass_time(&cubin, KERNEL, WARPS, WAVEFRONTS).expect("it has a loop"));
    assert_eq!((old.multiply_adds, new.multiply_adds), (4096.0, 4096.0));
    assert!(old.clocks > 4700.0 && new.clocks < 4620.0, "{old:?} {new:?}");
}

#[test]
fn other_loops_are_refused() {
    let of = |name, kernel| refused(name, kernel, &options());
    assert_eq!(of("v11_stream_k", "sgemm"), "the cubin has no such kernel");
    assert_eq!(of("v01_col_per_lane", "sgemm_v01_col_per_lane"), "a factor is no load");
}

#[test]
fn what_does_not_fit_is_refused() {
    let with =
        |registers, places: &[usize]| refused("v11_stream_k", KERNEL, &Options { registers, places: places.to_vec() });
    let places = options().places;
    assert_eq!(with(224, &places), "too few registers for the factors");
    assert_eq!(with(239, &places), "too few registers");
    assert_eq!(with(240, &places[1..]), "there are not as many places as loads");
    assert_eq!(with(240, &[8, 24, 40, 56, 72, 128]), "a place is behind the last multiply-add");
    // A load so late that its address has changed.
    assert_eq!(with(240, &[8, 24, 40, 56, 72, 126]), "a pass of the loop has another result");
}

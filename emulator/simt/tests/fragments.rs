//! Fragments of `wmma`: what a product cannot take is reported, and nothing that a right program does.

mod common;

use common::{Device, codes};

/// Returns the codes that a product of `{a}`, `{b}` and sums `{c}` gives, after `body`.
#[track_caller]
fn found(body: &str) -> Vec<String> {
    let text = format!(include_str!("ptx/fragments.ptx"), body = body);
    let device = Device::new(&text);
    let data = device.words(&[0; 256]);
    codes(&device.launch_line(1, 32, &[data.into()]))
}

const BY_COLUMNS: &str = "wmma.load.a.sync.aligned.col.m16n16k16.f16 {a0, a1, a2, a3, a4, a5, a6, a7}, [%rd], 16;";

#[test]
fn what_was_loaded_alike_is_multiplied() {
    assert_eq!(found(""), [""; 0]);
    // A fragment that is right on one path is not reported.
    assert_eq!(found(&format!("@%p bra after; {BY_COLUMNS} after:")), [""; 0]);
}

#[test]
fn other_fragments_are_reported() {
    assert_eq!(found(BY_COLUMNS), ["E-FRAGMENT"]);
    assert_eq!(found("mov.b32 %r2, b0; mov.b32 a0, %r2;"), ["E-FRAGMENT"]);
}

#[test]
fn elements_that_a_program_computes_are_its_own() {
    let filled: String = (0..8).map(|i| format!("mov.b32 a{i}, 0;")).collect();
    assert_eq!(found(&format!("{BY_COLUMNS} {filled}")), [""; 0]);
    let computed: String = (0..8).map(|i| format!("add.u32 a{i}, b{i}, 1;")).collect();
    assert_eq!(found(&computed), [""; 0]);
}

#[test]
fn sums_of_one_product_go_into_the_next() {
    let product = "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {c0, c1, c2, c3},
        {a0, a1, a2, a3, a4, a5, a6, a7}, {b0, b1, b2, b3, b4, b5, b6, b7}, {c0, c1, c2, c3};";
    assert_eq!(found(product), [""; 0]);
    assert_eq!(found(&format!("{product} mov.b32 b0, c0;")), ["E-FRAGMENT"]);
}

//! Loads, stores, atomics, shuffles, printing: what one launch leaves.

mod common;

use common::{Device, codes};
use simt::{gpu::Geometry, launch::CheckLevel};

fn kernel(body: &str) -> String {
    format!(include_str!("ptx/warp.ptx"), body = body)
}

#[track_caller]
fn outcome(body: &str, grid: u32, block: u32, input: &[u32]) -> Vec<u32> {
    let mut results = Vec::new();
    for check_level in [CheckLevel::Off, CheckLevel::Checked] {
        let device = Device::new(&kernel(body)).check_level(check_level);
        let n = (grid * block) as usize;
        let out = device.words(&vec![0; n]);
        let source = device.words(input);
        let report = device
            .launch(Geometry { dynamic_shared: 4096, ..Geometry::line(grid, block) }, &[out.into(), source.into()]);
        assert_eq!(codes(&report), [""; 0], "{:#?}", report.mistakes);
        results.push(device.read(out, n));
    }
    assert_eq!(results[0], results[1]);
    results.remove(0)
}

#[test]
fn a_constant_can_be_added_to_a_register_operand() {
    let body = "
        mov.u32 %r5, %r1+40;
        add.u32 %r5, %r5+-2, %r1+4;
        mov.u64 %rd7, %rd3+4;
        st.global.u32 [%rd7+-4], %r5+1;";
    assert_eq!(outcome(body, 1, 3, &[0; 3]), [43, 45, 47]);
}

#[test]
fn vectors_move_as_a_whole() {
    let body = include_str!("ptx/vectors.ptx");
    assert_eq!(outcome(body, 1, 2, &[0; 2]), [341, 342]);
}

#[test]
fn results_may_be_sources() {
    let body = include_str!("ptx/results_as_sources.ptx");
    let each = |t: u32| {
        let shuffled = if t < 31 { 2 * t + 3 } else { 63 };
        let predicates = 100_000 * u32::from(t > 0) + 200_000 + 400_000 * u32::from(t < 31);
        shuffled + 1000 * (t + 1) + predicates + (7 << 16) + 3_000_000
    };
    assert_eq!(outcome(body, 1, 32, &[]), (0..32).map(each).collect::<Vec<_>>());
}

#[test]
fn modifiers_in_another_order_are_the_same_instruction() {
    let body = include_str!("ptx/order_of_modifiers.ptx");
    assert_eq!(outcome(body, 1, 5, &[0; 5]), [77, 77, 1, 1, 2]);
}

#[test]
fn generic_addresses_reach_every_space() {
    let body = include_str!("ptx/generic_addresses.ptx");
    let expected: Vec<u32> = (0..32).map(|t| 5 + t + 1000 + 30 + 7).collect();
    assert_eq!(outcome(body, 1, 32, &[7; 32]), expected);
}

#[test]
fn atomics_give_the_old_value_in_lane_order() {
    let body = "
        atom.global.add.u32 %r5, [%rd5], 2;
        st.global.u32 [%rd3], %r5;";
    assert_eq!(outcome(body, 2, 40, &[100]), (0..80).map(|t| 100 + 2 * t).collect::<Vec<_>>());
    let body = include_str!("ptx/shared_maximum.ptx");
    let expected: Vec<u32> = (0u32..40).map(|t| t.saturating_sub(1)).collect();
    assert_eq!(outcome(body, 1, 40, &[]), expected);
}

#[test]
fn asynchronous_copies_wait_for_their_wait() {
    let body = include_str!("ptx/asynchronous_copies.ptx");
    let input: Vec<u32> = (0..64).map(|t| 0x5_0000 + t).collect();
    let expected: Vec<u32> = (0..64).map(|t| 0x5_0000 + t + (t << 8)).collect();
    assert_eq!(outcome(body, 1, 64, &input), expected);
}

#[test]
fn printing_comes_in_block_order() {
    let body = include_str!("ptx/printing.ptx");
    let device = Device::new(&kernel(body));
    let out = device.words(&[0; 6]);
    let report = device.launch_line(3, 2, &[out.into(), out.into()]);
    let expected: String = (0..6).map(|t| format!("hi {t} 1.5\n")).collect();
    assert_eq!(report.printed, expected);
    assert_eq!(device.read(out, 6), [2; 6]);
}

#[track_caller]
fn found(body: &str, n_out: usize, expected: &[&str]) {
    for check_level in [CheckLevel::Checked, CheckLevel::Off] {
        let device = Device::new(&kernel(body)).check_level(check_level);
        let out = device.words(&vec![0; n_out]);
        let source = device.raw(256);
        let report =
            device.launch(Geometry { dynamic_shared: 256, ..Geometry::line(1, 32) }, &[out.into(), source.into()]);
        let expected = match check_level {
            CheckLevel::Off => {
                &expected[..expected.iter().filter(|c| **c != "E-UNINIT" && **c != "E-RACE").count().min(1)]
            }
            _ => expected,
        };
        assert_eq!(codes(&report), expected, "{check_level:?}");
    }
}

#[test]
fn accesses_that_go_wrong_are_told() {
    found("st.global.u32 [%rd3], %r1;", 32, &[]);
    found("st.global.u32 [%rd3], %r1;", 31, &["E-OOB"]);
    found("st.global.u32 [%rd3+-4], %r1;", 32, &["E-OOB"]);
    found("st.global.u32 [%rd3+2], %r1;", 33, &["E-ALIGN"]);
    found("mov.u64 %rd7, 0; st.global.u32 [%rd7], %r1;", 1, &["E-OOB"]);
    found("mov.u64 %rd7, -8; ld.u32 %r5, [%rd7];", 1, &["E-OOB"]);
    found("ld.global.u32 %r5, [%rd6];", 1, &[]);
    let stored = "add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;";
    found(&format!("ld.global.u32 %r5, [%rd6]; {stored}"), 32, &["E-UNINIT"]);
    found(&format!("ld.shared.u32 %r5, [dynamic]; {stored}"), 32, &["E-UNINIT"]);
    found("ld.shared.u32 %r5, [dynamic+256];", 1, &["E-OOB"]);
    found(&format!("ld.local.u32 %r5, [depot]; {stored}"), 32, &["E-UNINIT"]);
    found("mov.u64 %rd7, table; cvta.const.u64 %rd7, %rd7; st.u32 [%rd7], %r1;", 1, &["E-READ-ONLY"]);
}

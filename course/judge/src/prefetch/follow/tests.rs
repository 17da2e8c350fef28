use super::*;
use program::MemSpace;
use simt::{memory::rules::Addresses, trace::Access};

/// Follows one warp through a text, each line executed once.
fn followed(lines: &str) -> WarpLoads {
    let texts: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let steps: Vec<Step> = (0..)
        .zip(&texts)
        .map(|(instr, text)| Step {
            instr,
            first: true,
            lanes: u32::MAX,
            access: text.contains("ld.global").then(|| Access {
                space: MemSpace::Global,
                direction: simt::memory::rules::Direction::Load,
                bytes: 4,
                addresses: Addresses::default(),
            }),
            copy: None,
            matrices: None,
        })
        .collect();
    Program::new(&texts).follow(&steps)
}

#[track_caller]
fn share(lines: &str, enough: f64) -> Option<f64> {
    followed(lines).share(enough)
}

/// Follows two warps with different roles, each entry of `rounds` holding the text of both; a tile has two
/// multiply-adds.
fn parts(rounds: &[(&str, &str)], barrier: &str) -> Prefetch {
    let warp = |part: fn(&(&str, &str)) -> String| {
        let rounds: Vec<String> = rounds.iter().map(part).collect();
        followed(&rounds.join(barrier))
    };
    let warps = [warp(|(one, _)| (*one).to_owned()), warp(|(_, two)| (*two).to_owned())];
    split_warps(&warps, |_| 2.0)
}

const FMA: &str = "fma.rn.f32 %f9, %f8, %f8, %f9;\n";

#[test]
fn a_load_that_is_stored_at_once_had_no_time() {
    let text = format!("{FMA}ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}{FMA}");
    assert_eq!(share(&text, 2.0), Some(0.0));
}

#[test]
fn a_load_that_is_stored_after_the_products_had_it() {
    let text = format!(
        "{FMA}ld.global.f32 %f1, [%rd1];\nmov.f32 %f2, %f1;\n{FMA}{FMA}selp.f32 %f3, %f2, 0f00000000, %p1;\n\
         st.shared.f32 [%r1], %f3;\n"
    );
    assert_eq!(share(&text, 2.0), Some(1.0));
    assert_eq!(share(&text, 3.0), Some(0.0));
}

#[test]
fn a_copy_is_pending_until_its_group_is_waited_for() {
    let copy = "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\n";
    let late = format!("{FMA}{copy}{FMA}{FMA}{copy}cp.async.wait_group 1;\n{FMA}{FMA}cp.async.wait_all;\n");
    assert_eq!(share(&late, 2.0), Some(1.0));
    let at_once = format!("{FMA}{copy}cp.async.wait_group 0;\n{FMA}{FMA}{copy}cp.async.wait_group 0;\n");
    assert_eq!(share(&at_once, 2.0), Some(0.0));
}

#[test]
fn what_is_loaded_before_any_product_or_never_used_does_not_count() {
    let text = format!("ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n{FMA}ld.global.f32 %f2, [%rd1];\n");
    assert_eq!(share(&text, 1.0), None);
}

#[test]
fn an_overwritten_register_is_another_value() {
    let text = format!(
        "{FMA}ld.global.f32 %f1, [%rd1];\n{FMA}{FMA}st.shared.f32 [%r1], %f1;\nmov.f32 %f1, 0f00000000;\n\
         st.shared.f32 [%r1], %f1;\n"
    );
    assert_eq!(share(&text, 2.0), Some(1.0));
}

const LOAD: &str = "ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n";
const TILE: &str = "fma.rn.f32 %f9, %f8, %f8, %f9;\nfma.rn.f32 %f9, %f8, %f8, %f9;\n";

#[test]
fn warps_that_load_while_others_multiply_are_ahead() {
    let ahead = [(LOAD, ""), (LOAD, TILE), ("", TILE), ("", "")];
    assert_eq!(parts(&ahead, "bar.sync 0;\n"), Prefetch::Share(1.0));
    let in_turn = [(LOAD, ""), ("", TILE), (LOAD, ""), ("", TILE), ("", "")];
    assert_eq!(parts(&in_turn, "bar.sync 0;\n"), Prefetch::Share(0.0));
    let half = [(LOAD, ""), (LOAD, TILE), (LOAD, ""), ("", TILE), ("", "")];
    assert_eq!(parts(&half, "bar.sync 0;\n"), Prefetch::Share(0.5));
}

#[test]
fn parts_that_meet_at_something_else_are_not_judged() {
    let ahead = [(LOAD, ""), (LOAD, TILE), ("", TILE), ("", "")];
    for barrier in ["bar.sync 1, 64;\n", "bar.arrive 0, 64;\n", "bar.warp.sync -1;\n"] {
        assert!(matches!(parts(&ahead, barrier), Prefetch::Unseen(_)), "{barrier}");
    }
    assert_eq!(parts(&[("", TILE), ("", TILE)], "bar.sync 0;\n"), Prefetch::Nothing);
}

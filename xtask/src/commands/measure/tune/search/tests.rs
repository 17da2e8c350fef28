use super::*;

#[track_caller]
fn check(log: &str, refused: Option<&str>) {
    assert_eq!(verdict(log).as_deref(), refused);
}

#[test]
fn a_refused_plan_has_no_forecast_any_more() {
    let refused = BTreeMap::from([("a", "24 bytes spilled".to_owned())]);
    let left = without("plan\tstep\na\t0.5\nab\t0.6\n", &refused);
    assert_eq!(left, "plan\tstep\na\trefused\t24 bytes spilled\nab\t0.6\n");
}

#[test]
fn what_spills_or_does_not_compile_is_refused() {
    let log = |spilled: u32| {
        format!(
            "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n\
                 ptxas info    : Function properties for k\n\
                 ptxas         .     0 bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads\n\
                 ptxas info    : Used 168 registers\n"
        )
    };
    check(&log(0), None);
    check(&log(8), Some("168 registers, 0 bytes smem, 8 bytes spilled"));
    check(
        "kernels/candidate.cu does not compile:\nv11_tile.cuh(48): error: static assertion failed with \"whole warps\"\n",
        Some("v11_tile.cuh(48): error: static assertion failed with \"whole warps\""),
    );
}

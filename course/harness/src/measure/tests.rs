use super::*;

#[track_caller]
fn check(target: &str, there: &str, runs: bool) {
    let ptx = format!(".version 8.4\n.target {target}\n.address_size 64\n");
    assert_eq!(needs_capability(&ptx, there).is_none(), runs, "{target} on {there}");
}

#[test]
fn code_for_one_device_runs_on_no_newer_one() {
    check("sm_80", "8.0", true);
    check("sm_80", "9.0", true);
    check("sm_80", "7.5", false);
    check("sm_90a", "9.0", true);
    check("sm_90a", "10.0", false);
    check("sm_90a, debug", "8.9", false);
    check("sm_103", "10.0", false);
    check("sm_103", "12.0", true);
}

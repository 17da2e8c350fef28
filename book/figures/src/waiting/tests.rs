use super::*;

#[track_caller]
fn check(kernel: &str, warps: u32, used: std::ops::Range<usize>) {
    let rows = issued(kernel, warps).expect("a prediction");
    let n: usize = rows.iter().map(Vec::len).sum();
    assert!(used.contains(&n), "{kernel}, {warps} warps: {n} of {CLOCKS}");
}

#[test]
fn a_multiply_add_every_four_clocks_unless_there_is_other_work() {
    check("one_sum", 1, 9..13);
    check("one_sum", 2, 18..26);
    check("one_sum", 4, 34..41);
    check("four_sums", 1, 34..41);
}

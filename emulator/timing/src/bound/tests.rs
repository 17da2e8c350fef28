use super::*;

#[track_caller]
fn check(busy: &[(Resource, f64)], want: &[(Resource, f64)]) {
    let us = |wanted: Resource| {
        let found = busy.iter().find(|(resource, _)| *resource == wanted);
        found.map_or(0.0, |(_, us)| *us)
    };
    let (bounds, _) = bounds(us);
    let got: Vec<_> = bounds.iter().map(|bound| (bound.resource, bound.us)).collect();
    assert_eq!(got, want);
}

#[test]
fn what_is_one_unit_is_one_bound() {
    use Resource::{Dram, Fma, Issue, L1, Registers, Shared, SharedAndL1};
    check(&[(Issue, 2.0), (Registers, 2.0)], &[(Issue, 2.0)]);
    check(&[(Issue, 2.0), (Registers, 2.5)], &[(Registers, 2.5)]);
    check(&[(Issue, 2.0), (L1, 3.0), (SharedAndL1, 3.0)], &[(L1, 3.0), (Issue, 2.0)]);
    // 6 with the turns from one to the other.
    check(
        &[(Fma, 2.0), (Shared, 3.0), (L1, 1.0), (SharedAndL1, 6.0), (Dram, 9.0)],
        &[(Dram, 9.0), (SharedAndL1, 4.0), (Fma, 2.0)],
    );
}

use super::*;

#[test]
fn a_round_is_a_b_b_a() {
    let mut order = String::new();
    let mut clock = 0.0;
    let found = rounds(2, |is_kernel| {
        order.push(if is_kernel { 'A' } else { 'B' });
        clock += 1.0;
        Ok(clock)
    });
    assert_eq!(order, "ABBAABBA");
    assert_eq!(found.expect("no trouble"), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
}

#[test]
fn a_side_settles_before_it_is_timed() {
    let plan = Plan { settle_ms: 9.0, piece_ms: 5.0, ..SHORT };
    let mut order = String::new();
    let found = settled_rounds(2, plan, |is_kernel, ms| {
        order += &format!("{}{ms} ", if is_kernel { 'A' } else { 'B' });
        Ok(ms)
    });
    assert_eq!(order, "A5 B9 B5 B5 A9 A5 A5 B9 B5 B5 A9 A5 ");
    assert_eq!(found.expect("no trouble"), [[5.0; 4]; 2]);
}

#[test]
fn a_round_that_fails_ends_them() {
    let mut left = 5;
    let found = rounds(2, |_| {
        left -= 1;
        match left {
            0 => Err(StepError::CouldNot("gone".into())),
            _ => Ok(1.0),
        }
    });
    assert!(found.is_err_and(|error| error.to_string() == "gone"));
}

#[test]
fn slow_kernels_get_fewer_rounds() {
    assert_eq!([1.0, 50.0, 110.0, 400.0, 5000.0].map(|ms| PLAN.rounds(ms)), [12, 12, 7, 3, 3]);
}

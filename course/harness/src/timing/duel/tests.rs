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
    let turns = Turns { warm_up_ms: 1.0, settle_ms: 9.0, piece_ms: 5.0, max_ms: 80.0 };
    let mut order = String::new();
    let found = turns.rounds(0.1, |is_kernel, ms| {
        order += &format!("{}{ms} ", if is_kernel { 'A' } else { 'B' });
        Ok(ms)
    });
    assert_eq!(order, "A5 B9 B5 B5 A9 A5 A5 B9 B5 B5 A9 A5 A5 B9 B5 B5 A9 A5 ");
    assert_eq!(found.expect("no trouble"), [[5.0; 4]; 3]);
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
    assert_eq!([1.0, 50.0, 110.0, 400.0, 5000.0].map(|ms| number_of_rounds(LONG.bursts_ms, ms)), [12, 12, 7, 3, 3]);
}

#[test]
fn a_duel_under_the_power_limit_counts_if_it_settled() {
    let speed = Speed::from_rounds(&[[1.0; 4]; 2]).expect("two rounds");
    let duel = |piece_ms, settle_ms| Duel {
        sustained: Some(speed),
        burst: speed,
        piece_and_pause: [piece_ms, 30.0],
        settle_ms,
        joules: None,
        earlier: None,
    };
    let by = |limit: &[&str]| Power {
        watts: [600; 2],
        celsius: [50; 2],
        limited_by: limit.iter().map(|limit| (*limit).to_owned()).collect(),
    };
    let is_met = |duel: Duel, power: Option<Power>| SHORT.is_met_by(&duel, power.as_ref());
    assert!(is_met(duel(40.0, 400.0), Some(by(&["power"]))));
    assert!(!is_met(duel(40.0, 0.0), Some(by(&["temperature", "power"]))));
    assert!(!is_met(duel(40.0, 0.0), None), "nobody knows");
    assert!(is_met(duel(40.0, 0.0), Some(by(&[]))));
    assert!(!is_met(duel(20.0, 400.0), Some(by(&[]))), "too short");
    let bursts = Duel { sustained: None, ..duel(0.0, 0.0) };
    assert!(BURSTS.is_met_by(&bursts, None));
    assert!(!is_met(bursts, Some(by(&[]))));
}

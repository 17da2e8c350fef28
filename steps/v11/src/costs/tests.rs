use super::*;
use crate::plans::{LARGE, PLANS};

const H200: usize = 132;

#[test]
fn a_fit_finds_the_constants_of_times_that_follow_them() {
    let constants = CostTerms::from([2.0, 0.5, 0.7, 0.9, 1.5, 3.0, 0.25, 1.0, 2.0]);
    let plan = PLANS.iter().find(|plan| plan.blocks == 3).expect("there is one");
    let mut measured = Vec::new();
    for i in 1..60 {
        for sharing in Sharing::ALL {
            let shape = [i * 97 % 3000 + 1, i * 61 % 2000 + 1, i * 37 % 900 + 1];
            let packed = [i % 3 == 0, i % 2 == 0];
            let terms = terms(plan, &CostInput { shape, sharing, packed }, H200);
            measured.extend(terms.map(|terms| (terms, expected(&constants, &terms))));
        }
    }
    let found = fit(&measured);
    for (terms, time) in &measured {
        let expected = expected(&found, terms);
        assert!((expected / time - 1.0).abs() < 0.01, "{expected} for {time}");
    }
}

#[test]
fn rounds_of_tiles_cost_whole_rounds() {
    // 288 tiles on 132 multiprocessors are three rounds; shared out, 2.18.
    let steps = |sharing| {
        let work = CostInput { shape: [3072; 3], sharing, packed: [false; 2] };
        terms(&LARGE, &work, H200).expect("possible").step
    };
    assert_eq!(steps(Sharing::Tiles), 3.0 * 192.0);
    let shared = steps(Sharing::LastRound) / 192.0;
    assert!((shared - 288.0 / 132.0).abs() < 1e-9, "{shared}");
}

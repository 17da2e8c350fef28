use tasks::explain::machine_code::Span;

use super::*;

fn pipeline(stages: u32) -> Pipeline {
    let span = |from, to, state| Span { from, to, state };
    Pipeline {
        clocks: 40,
        round: 20,
        stages,
        roles: vec![Role {
            name: "consumer".into(),
            warps: [0, 3],
            spans: vec![
                span(0, 1, State::Mma),
                span(1, 20, State::Sums),
                span(20, 21, State::Mma),
                span(21, 40, State::Full),
            ],
            states: [(State::Mma, 8), (State::Sums, 76), (State::Full, 76)].into(),
        }],
        copying: vec![[0, 5], [10, 30]],
        in_flight: vec![[0, 1024], [20, 2048]],
        multiplying: vec![[0, 4], [20, 2], [35, 0]],
    }
}

#[test]
fn the_start_of_work_is_visible_in_a_ring() {
    for (stages, letters_of_ten) in [(2, "MmMf"), (0, "mmff")] {
        let pipeline = pipeline(stages);
        assert_eq!(letters(&pipeline, &pipeline.roles[0], 10), letters_of_ten);
    }
}

#[test]
fn digits_are_tenths_of_the_most() {
    let pipeline = pipeline(2);
    let rows: Vec<String> =
        units(&pipeline).iter().map(|(_, _, steps, most)| digits(steps, pipeline.clocks, *most, 10)).collect();
    assert_eq!(rows, ["5## ", "55##", "##53"]);
    assert_eq!((pipeline.copying_share(), pipeline.multiplying_share()), (25.0 / 40.0, (80.0 + 30.0) / 160.0));
}

#[test]
fn a_row_adds_up_to_the_clocks_of_its_warps() {
    assert_eq!(shares(&pipeline(2)), [("consumer".to_owned(), vec!["5.0".into(), "47.5".into(), "47.5".into()])]);
}

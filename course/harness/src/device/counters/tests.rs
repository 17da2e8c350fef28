use super::*;

#[test]
fn a_warp_wide_multiply_add_is_32_of_a_lane() {
    let c = Counters { fmas: 320, ..Counters::default() };
    assert_eq!(Arithmetic::Fp32.times(&c), 10.0);
}

#[test]
fn tensor_cores_are_counted_by_their_instruction() {
    // 64 of bf16: 64 clocks, twice as many of TF32, half of e4m3, and nothing of what other units do.
    let c = Counters { fmas: 320, tensor_products: 131_072, warp_instructions: 100, ..Counters::default() };
    for (format, clocks) in [(Format::Bf16, 64.0), (Format::Tf32, 128.0), (Format::E4m3, 32.0)] {
        let of = Arithmetic::Tensor(format);
        assert_eq!(of.times(&c), 64.0);
        assert_eq!(binding(of.clocks(&c)), Some((Unit::Tensor, clocks)));
    }
}

#[test]
fn what_takes_longest_binds() {
    // An uncoalesced product: 33 sectors for each multiply-add, at least a quarter of a clock each.
    let naive = Counters { fmas: 3200, warp_instructions: 600, global_load_sectors: 3300, ..Counters::default() };
    let binding_of = |c: &Counters| binding(Arithmetic::Fp32.clocks(c));
    assert_eq!(binding_of(&naive), Some((Unit::L1, 825.0)));
    // Nothing but multiply-adds: arithmetic, not the issue of it.
    let dense = Counters { fmas: 3200, warp_instructions: 100, ..Counters::default() };
    assert_eq!(binding_of(&dense), Some((Unit::Fma, 25.0)));
    assert_eq!(binding_of(&Counters::default()), None);
}

#[test]
fn hot_lines_come_first() {
    let line = |number, global_load_sectors| Line {
        file: "a.cu".into(),
        number,
        counters: Counters { warp_instructions: 4, global_load_sectors, ..Counters::default() },
    };
    let report = Report { total: Counters::default(), lines: vec![line(1, 0), line(2, 400)], findings: Vec::new() };
    let hottest = report.hottest(Arithmetic::Fp32, 5);
    let numbers: Vec<_> = hottest.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [2, 1]);
}

#[test]
fn a_report_of_another_build_is_an_error() {
    let report = |total: serde_json::Value| {
        let json = serde_json::json!({"kernel": "k", "total": total, "lines": [], "findings": []});
        Report::parse(&json.to_string()).map_err(|error| error.to_string())
    };
    let mut total = serde_json::to_value(Counters::default()).expect("plain data");
    assert!(report(total.clone()).is_ok_and(|report| report.is_some()));
    total.as_object_mut().expect("an object").remove("fmas");
    assert_eq!(report(total), Err("missing field `fmas`".into()));
    let predicted = Report::parse(r#"{"kernel": "k", "prediction": null}"#);
    assert!(predicted.is_ok_and(|report| report.is_none()));
}

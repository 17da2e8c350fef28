use super::*;
use records::machine_code::Bound;

#[test]
fn the_driver_says_what_units_need() {
    let bound = |unit: &str, us| Bound { unit: unit.into(), us };
    let prediction = Prediction {
        gpu: "a GPU".into(),
        us: 20.0,
        band: 0.1,
        change_band: 0.1,
        bounds: vec![bound(unit::SHARED_AND_L1, 4.0), bound(unit::FP32, 1.0)],
        parts: vec![bound(unit::ISSUE, 3.0), bound(unit::SHARED, 3.5), bound(unit::L1, 0.5)],
        ghz: 2.0,
        n_blocks: 16,
        n_sms: 132,
    };
    // 16 SMs at 2 GHz: 32 000 clocks in a microsecond.
    let needs = Needs::predicted(&prediction, Arithmetic::Fp32, 32_000.0).expect("there are bounds");
    assert_eq!((needs.unit.as_str(), needs.most, needs.arithmetic, needs.issue), (unit::SHARED_AND_L1, 4.0, 1.0, 3.0));
    assert_eq!((needs.registers, needs.shared, needs.l1), (Some(3.0), 3.5, 0.5));
    assert_eq!(ceiling(&needs), "25% of peak");
}

#[test]
fn instructions_of_ptx_bind_nothing() {
    let c = Counters {
        fmas: 3200,
        warp_instructions: 900,
        shared_load_requests: 100,
        shared_load_wavefronts_merged: 100,
        ..Counters::default()
    };
    let of = |is_exact| Needs::counted(&c, Arithmetic::Fp32, 100.0, is_exact).expect("something is needed");
    assert_eq!((of(true).unit.as_str(), of(true).most), ("instruction issue", 2.25));
    let ptx = of(false);
    assert_eq!((ptx.unit.as_str(), ptx.most), ("shared memory, or issue", 1.0));
    assert_eq!(ceiling(&ptx), "25% of peak");
}

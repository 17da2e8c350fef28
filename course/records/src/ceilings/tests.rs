use super::*;
use crate::Roofline;

/// Returns a bandwidth of 2000 GB/s, and 4000 of L2.
fn ceilings(of: &[(&str, f64, bool)]) -> Ceilings {
    let one = |(instruction, tflops, zeros): &(&str, f64, bool)| {
        let rate = Rate { tflops: *tflops, ghz: 1.5, clocks: 6.0, samples: vec![Sample { ms: 20.0, ghz: 1.5 }] };
        Ceiling {
            instruction: (*instruction).into(),
            numbers: "bf16".into(),
            zeros: *zeros,
            warps: 8,
            burst: rate.clone(),
            sustained: rate,
        }
    };
    Ceilings {
        run: Run { roofline: Some(Roofline { fp32_tflops: 60.0, copy_gbs: 2000.0 }), ..Run::default() },
        n_sms: 100,
        l2: L2 { own_gbs: 4000.0, same_gbs: 9000.0, ..L2::default() },
        ceilings: of.iter().map(one).collect(),
    }
}

#[test]
fn the_best_is_of_random_numbers() {
    let all = ceilings(&[
        ("mma.sync", 600.0, false),
        ("wgmma", 800.0, false),
        ("wgmma", 900.0, false),
        ("wgmma", 950.0, true),
    ]);
    let best = |instruction, numbers| all.best(instruction, numbers).map(|one| one.burst.tflops);
    assert_eq!(best("wgmma", "bf16"), Some(900.0));
    assert_eq!(best("mma", "bf16"), Some(600.0));
    assert_eq!(best("wgmma", "tf32"), None);
    assert_eq!(all.per_byte(600.0), Some(300.0));
    assert_eq!(all.per_l2_byte(600.0), 150.0);
}

#[test]
fn what_is_written_can_be_read() {
    let all = ceilings(&[("mma.sync", 600.0, false), ("wgmma", 950.0, true)]);
    assert_eq!(Ceilings::parse(&all.text()).expect("it is one"), all);
}

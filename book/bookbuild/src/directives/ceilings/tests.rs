use super::*;

/// Returns a record: FP32 at 50 TFLOP/s, mma.sync 600, wgmma 800 (zeros 900), memory at 4000 GB/s, L2 at 8000.
fn record() -> Ceilings {
    let line = |instruction: &str, numbers: &str, zeros: bool, tflops: f64| {
        format!(
            r#"{{"instruction": "{instruction}", "numbers": "{numbers}", "zeros": {zeros}, "warps": 8,
                "burst": {{"tflops": {tflops}, "ghz": 1.75, "clocks": 6.01, "samples": [{{"ms": 20.1, "ghz": 1.75}}]}},
                "sustained": {{"tflops": 500, "ghz": 1.5, "clocks": 6.01, "samples": [{{"ms": 1500, "ghz": 1.5}}]}}}}"#
        )
    };
    let lines = [
        line("fma.f32", "fp32", false, 50.0),
        line("mma.sync.m16n8k16", "bf16", false, 600.0),
        line("wgmma.m64n256k16", "bf16", false, 800.0),
        line("wgmma.m64n256k16", "bf16", true, 900.0),
    ];
    let text = format!(
        r#"{{"run": {{"id": "1", "date": "2000-01-01T00:00:00Z", "device": "a device", "emulated": false,
            "capability": "9.0", "driver": "13.0", "host": "", "revision": "",
            "roofline": {{"fp32_tflops": 60, "copy_gbs": 4000}}, "cublas": null}},
            "n_sms": 100, "l2": {{"device": "NVIDIA H001", "date": "2000-01-03T00:00:00Z", "own_gbs": 8000, "same_gbs": 20000}},
             "ceilings": [{}]}}"#,
        lines.join(",")
    );
    Ceilings::parse(&text).expect("what the program writes")
}

#[test]
fn a_table_has_what_was_asked_for() {
    let mut sources = Sources::new();
    let table = table(&record(), &["fma", "wgmma"], &mut sources).expect("it was measured");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(
        rows,
        [
            "| `fma.f32` | FP32 | 8 | 50.0 | 1.75 | 6.01 | 500 | 1.50 | 12.5 | 6.25 |",
            "| `wgmma.m64n256k16` | bf16 | 8 | 800 | 1.75 | 6.01 | 500 | 1.50 | 200 | 100 |",
            "| `wgmma.m64n256k16` | bf16, all zero | 8 | 900 | 1.75 | 6.01 | 500 | 1.50 | 225 | 112 |",
        ]
    );
    assert_eq!(sources.len(), 2);
}

#[test]
fn a_number_is_of_random_elements() {
    let of = |unit, what| {
        let quoted = number(&record(), [unit, "bf16", what], &mut Sources::new());
        quoted.map(|html| {
            let text = html.split_once('>').map_or("", |(_, rest)| rest);
            text.trim_end_matches("</span>").replace("&nbsp;", " ")
        })
    };
    assert_eq!(of("wgmma", "burst").expect("a number"), "800 TFLOP/s");
    assert_eq!(of("mma.sync", "per_byte").expect("a number"), "150 FLOP/B");
    assert_eq!(of("mma.sync", "per_l2_byte").expect("a number"), "75.0 FLOP/B");
    assert_eq!(of("mma.sync", "clocks").expect("a number"), "6.01");
    assert!(of("mma.sync", "speed").is_err_and(|why| why.to_string().contains("has burst")));
    assert!(of("dmma", "burst").is_err_and(|why| why.to_string().contains("no `dmma`")));
}

use std::path::Path;

use catalog::{STEPS, Shape};
use records::Record;

use super::*;

fn data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
}

#[test]
fn others_were_measured_where_the_ladder_was() {
    let text = std::fs::read_to_string(data().join("h200-others.json")).expect("a file");
    let others: File = serde_json::from_str(&text).expect("what others.py writes");
    let record = Record::load(&data().join("h200.json")).expect("a record");
    assert!(record.runs.iter().all(|run| run.device == others.run.device));
    let products = record.measurements.iter().filter(|m| m.kernel == "cublas_sgemm");
    let mut n = 0;
    for product in products {
        let run = record.run_of(product).expect("its run");
        assert_eq!(run.cublas.as_deref(), others.cublas.as_deref());
        let Shape { m, n: cols, k } = product.shape;
        let of = |one: &&TimedGemm| one.function == "sgemm" && one.shape == [m, cols, k];
        let found = others.kernels.iter().find(of).expect("every shape on record");
        assert!(!found.kernels.is_empty(), "{}", product.shape);
        n += 1;
    }
    assert!(n >= 13, "{n} products");
    for time in &others.times {
        assert!(time.of_bound < 1.0 && time.ms.0.len() >= 5, "{} {}", time.by, time.size);
    }
}

#[test]
fn products_in_bf16_say_what_they_are_of() {
    let repo = RepoPaths::new(data().join("../.."));
    let others = OtherLibraries::load(&repo, "h200").expect("what others.py writes");
    let run = others.run(BF16);
    assert_eq!(run.device, others.of_numbers(BF16).run.device);
    for (by, version) in [("CUTLASS", &run.cutlass), ("ThunderKittens", &run.thunderkittens)] {
        assert!(version.is_some() || others.times_of(by, BF16).next().is_none(), "{by}");
    }
    for time in others.times_of("v12", BF16) {
        let name = time.kernel.as_deref().expect("its kernel");
        assert!(STEPS.iter().any(|step| step.kernel(name).is_some()), "{name}");
    }
    // Every compared implementation is measured at each size.
    let squares = others.times_of(PYTORCH, BF16).count();
    for by in ["CUTLASS", "ThunderKittens", "v12"] {
        assert_eq!(others.times_of(by, BF16).count(), squares, "{by}");
    }
}

#[test]
fn what_was_measured_apart_has_its_own_day_and_versions() {
    let fp32 = r#"{"date": "2026-01-02T00:00:00Z", "device": "A Card", "torch": "2", "triton": "3", "cublas": "13",
            "kernels": [], "times": [{"by": "PyTorch", "size": 1000, "of_bound": 0.1, "ms": [2.0]}]}"#;
    let [main, mut bf16] = [fp32; 2].map(|text| serde_json::from_str::<File>(text).expect("what others.py writes"));
    let run = r#"{"date": "2026-03-04T00:00:00Z", "device": "A Card", "torch": "2.1", "triton": "3.1",
            "cutlass": "4.5", "thunderkittens": "abc", "missing": []}"#;
    bf16.bf16 = serde_json::from_str(run).expect("what others.py writes");
    let times = r#"[
            {"by": "PyTorch", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [4.0]},
            {"by": "CUTLASS", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [5.0],
             "config": [128, 256, 64, 12, 4], "how": "pingpong, clusters of 2 × 1, swizzle 8"},
            {"by": "v12", "size": 1000, "numbers": "bf16", "of_bound": 0.1, "ms": [8.0],
             "config": [128, 128, 64, 9, 6], "kernel": "gemm_v12_ping_pong_bf16", "ptx_sha256": "0"}]"#;
    let times: Vec<Time> = serde_json::from_str(times).expect("what others.py writes");
    bf16.times.extend(times);
    let others = OtherLibraries { main, bf16 };
    let shown = others.table(&["times", "bf16"], &mut Sources::new()).expect("a table");
    for part in [
        "A Card, 2026-03-04. Kernel",
        "PyTorch 2.1, Triton 3.1, CUTLASS 4.5, ThunderKittens at revision abc.",
        "| CUTLASS, pingpong, clusters of 2 × 1, swizzle 8 | 5.00 | 0.400 | 128 × 256, 64 | 12 | 4 | 10.00 % |",
        "| v12, `gemm_v12_ping_pong_bf16` | 8.00 | 0.250 | 128 × 128, 64 | 9 | 6 | 10.00 % |",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let number = |by: &str, what: &str| {
        let mut sources = Sources::new();
        others
            .number([by, "1000", what], &mut sources)
            .map(|text| (text, sources.into_iter().collect::<Vec<_>>().join("; ")))
    };
    let check = |by, what, value: &str, source: &str| {
        let (text, sources) = number(by, what).expect("a number");
        assert!(text.contains(value), "{by} {what}: {text}");
        assert_eq!(sources, source, "{by} {what}");
    };
    check("PyTorch", "tflops", "1.00", "A Card, 2026-01-02");
    check("v12", "bf16_tflops", "0.250", "A Card, 2026-03-04");
    check("CUTLASS", "bf16_of_pytorch", "80.0", "A Card, 2026-03-04");
    number("CUTLASS", "tflops").expect_err("FP32 is not there");
    number("v12", "bf16_clock").expect_err("no such thing");
}

#[test]
fn names_of_templates_are_those_of_their_arguments() {
    assert_eq!(short_name("void a::Kernel2<b_256x128>(b_256x128::Params)"), "b_256x128");
    assert_eq!(short_name("gemm_ffma_execute_kernel__5x_cublas"), "gemm_ffma_execute_kernel");
}

//! Kernels of the steps, and changes of them: the measured values of each, and the code of each mistake.

use tasks::measure::Measure;
use tasks::verdict::{Status, Verdict};
use tasks::{Task, TaskWork};

use crate::common::{measuring, ptx_of, read, request, task_for as task};

fn ptx(source: &str) -> String {
    ptx_of(format!("kernels/{source}.cu"))
}

fn judged(task: &Task, ptx: &str, source: &str) -> Verdict {
    let file = format!("kernels/{source}.cu");
    let text = read(&file);
    judge::judge(&request(task, ptx, &[(file, text)]))
}

#[track_caller]
fn measured(source: &str, mut task: Task, measures: &[(Measure, [usize; 3], Option<usize>)]) -> Vec<Option<f64>> {
    task.criteria = measures
        .iter()
        .enumerate()
        .map(|(number, (measure, shape, bk))| measuring(format!("criterion-{number}"), *measure, shape, *bk))
        .collect();
    let verdict = judged(&task, &ptx(source), source);
    assert_eq!(verdict.status, Status::Passed, "{source}: {verdict:#?}");
    let criteria = verdict.parts.iter().filter_map(|part| part.measured.as_ref());
    criteria.map(|measured| measured.value).collect()
}

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a value");
    assert!((found - expected).abs() < 0.02, "{found}, not {expected}");
}

#[test]
fn load_ahead_tells_a_double_buffer_from_a_single_one() {
    let shape = [128, 128, 64];
    let ahead = |source: &str, entry: &str| {
        let wanted = [(Measure::LoadAhead, shape, Some(8)), (Measure::BarriersPerTile, shape, Some(8))];
        measured(source, task(entry, "sgemm", [128, 128], 256), &wanted)
    };
    let double = ahead("v07_double_buffer", "sgemm_v07_double_buffer");
    near(double[0], 1.0);
    near(double[1], 1.0);
    for (source, entry) in [
        ("v06_outer_product", "sgemm_v06_outer_product"),
        ("v05_bank_conflict_free", "sgemm_v05_bank_conflict_free"),
        ("v03_from_shared", "sgemm_v03_from_shared"),
    ] {
        let single = ahead(source, entry);
        near(single[0], 0.0);
        near(single[1], 2.0);
    }
}

#[test]
fn measures_are_those_that_the_chapters_derive() {
    let shape = [128, 128, 64];
    let shared = measured(
        "v02_shared",
        task("sgemm_v02_tile16", "sgemm", [16, 16], 256),
        &[(Measure::LoadSectorsPerFma, shape, None), (Measure::BarriersPerTile, shape, Some(16))],
    );
    near(shared[0], 0.5);
    near(shared[1], 2.0);
    let float4 = measured(
        "v04_float4",
        task("sgemm_v04_float4", "sgemm", [128, 128], 256),
        &[
            (Measure::WideGlobalBytes, shape, None),
            (Measure::WideStoreBytes, shape, None),
            (Measure::SharedExcess, shape, None),
        ],
    );
    near(float4[0], 1.0);
    near(float4[1], 1.0);
    assert!(float4[2] > Some(0.0));
    let padded = measured(
        "v08_transpose_padded",
        task("transpose_padded", "transpose", [32, 32], 1024),
        &[(Measure::StoreSectorsPerElement, [128, 96, 0], None), (Measure::SharedExcess, [128, 96, 0], None)],
    );
    near(padded[0], 0.125);
    near(padded[1], 0.0);
}

#[track_caller]
fn code_after(source: &str, task: &Task, from: &str, to: &str) -> (Vec<String>, Verdict) {
    let ptx = ptx(source);
    assert!(ptx.contains(from), "{source} has no `{from}`");
    let verdict = judged(task, &ptx.replacen(from, to, 1), source);
    (verdict.codes(), verdict)
}

#[test]
fn each_mistake_has_its_code() {
    let tile16 = task("sgemm_v02_tile16", "sgemm", [16, 16], 256);
    let (codes, verdict) = code_after("v02_shared", &tile16, "bar.sync \t0;", "");
    assert_eq!(codes, ["E-RACE"], "{verdict:#?}");
    let (codes, verdict) = code_after("v02_shared", &tile16, ".entry sgemm_v02_tile16(", ".entry other(");
    assert_eq!(codes, ["no-entry"]);
    assert!(verdict.why.expect("a reason").contains("there is other, "));
    let (codes, _) = code_after("v02_shared", &tile16, ".version", ".vision");
    assert_eq!(codes, ["compile"]);
    let (codes, verdict) = code_after(
        "v02_shared",
        &tile16,
        ".visible .entry sgemm_v02_tile16(",
        ".visible .global .align 4 .b8 large[1073741800];\n.visible .entry sgemm_v02_tile16(",
    );
    assert!(codes == ["E-LAUNCH"] || codes == ["compile"], "{verdict:#?}");
    let double = task("sgemm_v02_tile16", "dgemm", [16, 16], 256);
    let verdict = judged(&double, &ptx("v02_shared"), "v02_shared");
    assert_eq!(verdict.status, Status::Failed, "a product of floats is none of doubles");
    let scaled = task("sgemm_v02_tile16", "sgemm_scaled", [16, 16], 256);
    let verdict = judged(&scaled, &ptx("v02_shared"), "v02_shared");
    assert_eq!(verdict.codes(), ["no-entry"]);
    let mut large = tile16.clone();
    large.block = [512, 1, 1];
    let verdict = judged(&large, &ptx("v02_shared"), "v02_shared");
    assert_eq!(verdict.codes(), ["E-LAUNCH"], "{verdict:#?}");
}

#[test]
fn a_wrong_result_is_told_on_the_shape_that_says_most() {
    // Half of the terms: the loop over tiles skips every second one.
    let tn = task("sgemm_v08_tn", "sgemm", [128, 128], 256);
    let verdict = judged(&tn, &ptx("v08_gemm_transposed"), "v08_gemm_transposed");
    assert_eq!(verdict.codes(), ["wrong-result"]);
    let wrong = verdict.wrong.expect("a wrong result");
    assert_eq!(wrong.diagnosis.as_deref(), Some("A is read as if its rows were columns"));
    assert!(wrong.first.starts_with("the first: C["), "{}", wrong.first);
    let parts: Vec<_> = verdict.parts.iter().map(|part| (part.id.as_str(), part.status)).collect();
    assert_eq!(parts, [("compiles", Status::Passed), ("right", Status::Failed), ("clean", Status::Passed)]);
}

#[test]
fn operands_that_are_stored_transposed_are_given_so() {
    for (entry, work) in [
        ("sgemm_v08_nn", TaskWork::Sgemm),
        ("sgemm_v08_nt", TaskWork::SgemmNt),
        ("sgemm_v08_tn", TaskWork::SgemmTn),
        ("sgemm_v08_tt", TaskWork::SgemmTt),
    ] {
        let mut task = task(entry, "sgemm", [128, 128], 256);
        task.work = work;
        let verdict = judged(&task, &ptx("v08_gemm_transposed"), "v08_gemm_transposed");
        assert_eq!(verdict.status, Status::Passed, "{entry}: {verdict:#?}");
    }
}

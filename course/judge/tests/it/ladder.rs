//! Kernels of the steps with changes, or judged as something else: the code of each mistake.

use tasks::Task;
use tasks::verdict::{Status, Verdict};

use crate::common::{ptx_of, read, request, task_for as task};

fn ptx(source: &str) -> String {
    ptx_of(format!("kernels/{source}.cu"))
}

fn judged(task: &Task, ptx: &str, source: &str) -> Verdict {
    let file = format!("kernels/{source}.cu");
    let text = read(&file);
    judge::judge(&request(task, ptx, &[(file, text)]))
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

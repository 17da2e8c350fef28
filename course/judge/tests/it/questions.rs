//! Questions with a derivation: the answer equals the count of the emulated GPU.

#![expect(clippy::panic, reason = "a test says what went wrong")]

use tasks::Catalogue;
use tasks::task::{Answer, Derived, Question};
use tasks::verdict::Status;

use crate::common::{catalogues, measuring, ptx_of, request, task_for};

/// Returns the tile of C, or of a transpose's input, per block, and threads per block.
fn launch_of(entry: &str) -> ([u32; 2], u32) {
    match entry {
        "sgemm_v02_tile16" => ([16, 16], 256),
        "sgemm_v01_row_per_lane"
        | "sgemm_v01_col_per_lane"
        | "dgemm_v01_col_per_lane"
        | "sgemm_v02_tile32"
        | "transpose_coalesced_reads"
        | "transpose_tile" => ([32, 32], 1024),
        "sgemm_v03_from_global"
        | "sgemm_v03_from_shared"
        | "sgemm_v04_float4"
        | "sgemm_v05_bank_conflict_free"
        | "sgemm_v06_outer_product"
        | "sgemm_v07_double_buffer" => ([128, 128], 256),
        _ => panic!("how is {entry} launched? Add it to this table"),
    }
}

/// Returns the answer to a question, counted.
fn counted(derived: &Derived) -> f64 {
    let mut kernels = catalog::STEPS.iter().flat_map(|step| step.kernels);
    let kernel = kernels.find(|kernel| kernel.name == derived.kernel).expect("catalogues name kernels that exist");
    let source = kernel.source.expect("a kernel has a source");
    let ptx = ptx_of(format!("kernels/{source}.cu"));
    let work = match kernel.work {
        catalog::Work::Transpose => "transpose",
        catalog::Work::Dgemm => "dgemm",
        _ => "sgemm",
    };
    let (tile, threads) = launch_of(kernel.name);
    let mut task = task_for(kernel.name, work, tile, threads);
    task.criteria = vec![measuring("counted".into(), derived.measure, &derived.shape, derived.bk)];
    let verdict = judge::judge_on(&request(&task, &ptx, &[]), &[]);
    assert_eq!(verdict.status, Status::Passed, "{verdict:#?}");
    let mut measured = verdict.parts.iter().filter_map(|part| part.measured.as_ref());
    measured.next().and_then(|one| one.value).expect("a value")
}

fn questions() -> Vec<(String, Question)> {
    let of = |catalogue: Catalogue| {
        let Catalogue { step, questions, .. } = catalogue;
        questions.into_iter().map(move |question| (step.clone(), question))
    };
    catalogues().into_iter().flat_map(of).collect()
}

#[test]
fn derived_answers_are_counted() {
    let mut n = 0;
    for (step, question) in questions() {
        let Some(derived) = &question.derive else { continue };
        let Answer::Number(answer) = question.answer else { panic!("{step} {}: a choice is not counted", question.id) };
        let found = counted(derived);
        let off = (found - answer).abs();
        assert!(off <= question.within.unwrap_or(1e-9), "{step} {}: {answer}, and {found} is counted", question.id);
        n += 1;
    }
    assert!(n > 0);
}

#[test]
fn every_step_asks_three_questions_and_they_come_back_two_steps_later() {
    let all = questions();
    let ids: Vec<&str> = catalog::STEPS.iter().map(|step| step.id).collect();
    for (at, step) in ids.iter().enumerate() {
        let of_step: Vec<&Question> = all.iter().filter(|(of, _)| of == step).map(|(_, one)| one).collect();
        assert!(of_step.len() >= 3, "{step} asks {} questions", of_step.len());
        let again: Vec<&str> = of_step.iter().filter_map(|one| one.again.as_deref()).collect();
        // No step comes two steps after the last two.
        let Some(later) = ids.get(at + 2) else { continue };
        assert!(again.contains(later), "nothing of {step} comes back in {later}");
    }
}

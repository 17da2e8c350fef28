//! The kernels of `tests/data/solutions` get the expected verdicts: a wrong one fails for one reason, a right one that
//! looks different passes.

#![expect(clippy::panic, reason = "a test says what went wrong")]

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use catalog::Shape;
use tasks::edits::Tries;
use tasks::solutions::{self, PackedPtx, Solution};
use tasks::verdict::Status;
use tasks::{Task, Verdict};

use crate::common::{catalogues, expect_no_complaint, ptx_of, request, root};

/// Minimum numbers of wrong and of right solutions.
const WRONG: usize = 80;
const RIGHT: usize = 40;

/// Returns all solutions that compile, with their PTX.
pub(crate) fn all() -> Vec<(Solution, String)> {
    let mut found = Vec::new();
    let mut stale = Vec::new();
    for step in catalog::STEPS {
        let compiled = solutions::compiled(root(), step.id).unwrap_or_else(|why| panic!("{why}"));
        for solution in solutions::load(root(), step.id).unwrap_or_else(|why| panic!("{why}")) {
            if solution.is_refused() {
                continue;
            }
            let digest = solution.digest(root()).expect("the header is there");
            let is_its = |kernel: &&PackedPtx| kernel.name == solution.name && kernel.digest == digest;
            match compiled.iter().find(is_its) {
                Some(kernel) => found.push((solution, kernel.ptx.clone())),
                None => stale.push(solution.name),
            }
        }
    }
    assert!(stale.is_empty(), "compile them with `cargo xtask solutions`: {}", stale.join(" "));
    found
}

/// Few and small shapes, so that three hundred kernels take a minute: one element, a row, a column, an edge in both
/// directions, more than one block, and sums of less than a tile, of an odd number of tiles, and of several.
const PRODUCTS: [[usize; 3]; 6] = [[1, 1, 1], [1, 129, 3], [131, 1, 5], [7, 5, 3], [33, 31, 97], [129, 132, 24]];
const TRANSPOSES: [[usize; 3]; 5] = [[1, 1, 0], [1, 67, 0], [67, 1, 0], [33, 31, 0], [63, 130, 0]];

pub(crate) fn judged_whole(solution: &Solution, ptx: &str) -> Verdict {
    let sources = [(format!("{}.cu", solution.name), solution.source.clone())];
    judge::judge(&request(&solution.task, ptx, &sources))
}

/// Returns the verdict on a kernel, which several tests need: each kernel is judged once in a process.
pub(crate) fn judged(name: &str, task: &Task, source: &str, ptx: &str) -> &'static Verdict {
    static KNOWN: Mutex<BTreeMap<String, &OnceLock<Verdict>>> = Mutex::new(BTreeMap::new());
    let known: &OnceLock<Verdict> = {
        let mut known = KNOWN.lock().expect("no panic");
        known.entry(format!("{name}\n{ptx}")).or_insert_with(|| Box::leak(Box::default()))
    };
    known.get_or_init(|| {
        let sources = [(format!("{name}.cu"), source.to_owned())];
        judge::judge_on(&request(task, ptx, &sources), &shapes(task))
    })
}

fn shapes(task: &Task) -> Vec<Shape> {
    let shapes: &[[usize; 3]] = if task.work.is_transpose() { &TRANSPOSES } else { &PRODUCTS };
    shapes.iter().map(|&[m, n, k]| Shape { m, n, k }).collect()
}

/// Returns all that a learner reads about what is wrong.
fn messages_of(verdict: &Verdict) -> String {
    let parts = verdict.parts.iter().filter_map(|part| part.why.clone());
    let findings = verdict.findings.iter().map(|found| found.text.clone());
    parts.chain(findings).chain(verdict.notes.iter().cloned()).collect::<Vec<_>>().join("\n")
}

/// Returns the first difference from the expected verdict.
fn complaint(solution: &Solution, ptx: &str) -> Option<String> {
    // What is said rests on more shapes.
    let whole = (!solution.says.is_empty()).then(|| judged_whole(solution, ptx));
    let on_few = || judged(&solution.name, &solution.task, &solution.source, ptx);
    let verdict = whole.as_ref().unwrap_or_else(on_few);
    let (mut codes, mut expect) = (verdict.codes(), solution.expect.clone());
    codes.sort();
    expect.sort();
    let shown = |codes: &[String]| match codes {
        [] => "passes".to_owned(),
        codes => format!("fails with {}", codes.join(", ")),
    };
    let messages_of = messages_of(verdict);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(text) = solution.says.iter().find(|text| !words(&messages_of).contains(&words(text))) {
        return Some(format!("{} does not say: {text}, but: {messages_of}", solution.name));
    }
    (codes != expect).then(|| {
        let parts = verdict.parts.iter().filter_map(|part| {
            let measured = part.measured.as_ref()?;
            Some(format!("{} {:?}", part.id, measured.value))
        });
        format!(
            "{} for {}: {}, expected: {}; {} ({})",
            solution.name,
            solution.task.name,
            shown(&codes),
            shown(&expect),
            verdict.why.clone().unwrap_or_default(),
            parts.collect::<Vec<_>>().join(", "),
        )
    })
}

/// The finished kernel stands for an edit that is right, and other mistakes for edits in vain.
#[test]
fn edited_kernels_are_told_apart_by_one_launch() {
    let all = all();
    // The count of a criterion says nothing of checks.
    for (name, code) in
        [("no-guard-at-the-store", "E-OOB"), ("no-first-barrier", "E-RACE"), ("three-barriers", "barriers")]
    {
        let of_name = |name: &str| all.iter().find(|(solution, _)| solution.name.ends_with(name)).expect("it is there");
        let (solution, ptx) = of_name(name);
        let kernels = vec![of_name("early-return").1.clone(), ptx_of(&solution.task.solution), ptx.clone()];
        let shape = Shape { m: 33, n: 31, k: 97 };
        let tries = Tries { code: code.into(), shape, only_right: false, kernels };
        let found = judge::tries::promising(&request(&solution.task, ptx, &[]), &tries);
        assert_eq!(found, if code == "barriers" { vec![0, 1] } else { vec![1] }, "{name}");
    }
}

#[test]
fn each_is_judged_as_expected() {
    expect_no_complaint(&all(), |(solution, ptx)| complaint(solution, ptx));
}

/// The references in `each_is_judged_as_expected` show that each drawn task can be solved.
#[test]
fn no_printed_kernel_solves_a_task_that_is_drawn() {
    /// Minimum number of points per step: with fewer, answers would be passed on.
    const MIN_POINTS: usize = 6;
    let mut printed: Vec<(Task, String, String)> = Vec::new();
    let all = all();
    for catalogue in catalogues() {
        let Some(variant) = &catalogue.variant else { continue };
        assert!(variant.points.len() >= MIN_POINTS, "{}", catalogue.step);
        let kernels: Vec<String> =
            catalogue.tasks.iter().filter(|task| task.host.is_none()).map(|task| ptx_of(&task.solution)).collect();
        for point in &variant.points {
            let task = variant.task(&catalogue.step, point).expect("a task");
            for ptx in &kernels {
                for entry in entries(ptx) {
                    printed.push((task.clone(), entry.to_owned(), ptx.replace(entry, &task.entry)));
                }
            }
            // Nor does the solution of a class that drew other numbers.
            let others = all.iter().filter(|(one, _)| one.task.name == task.name && one.task != task);
            printed.extend(others.map(|(one, ptx)| (task.clone(), one.name.clone(), ptx.clone())));
        }
    }
    expect_no_complaint(&printed, |(task, entry, ptx)| {
        // The first shape that it fails on ends it, and most fail on the largest.
        let passes_on = |shape: &Shape| judge::judge_on(&request(task, ptx, &[]), &[*shape]).status == Status::Passed;
        let passed = shapes(task).iter().rev().all(passes_on);
        passed.then(|| format!("{entry} solves {}: {}", task.name, task.title))
    });
}

fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.split(".entry ").skip(1).filter_map(|rest| rest.split(['(', '\n']).next())
}

#[test]
fn there_are_enough_of_them_for_every_task() {
    let all = all();
    let (right, wrong): (Vec<_>, Vec<_>) = all.iter().partition(|(solution, _)| solution.expect.is_empty());
    assert!(wrong.len() >= WRONG && right.len() >= RIGHT);
    for catalogue in catalogues() {
        // Answers to tasks for the host are not kernels; the wrong ones are in `tests/it/host.rs`.
        for task in catalogue.tasks.iter().filter(|task| task.host.is_none()) {
            let of_task = |set: &[&(Solution, String)]| set.iter().any(|(one, _)| one.task.name == task.name);
            assert!(of_task(&wrong), "no wrong kernel for {}", task.name);
            // Each criterion fails for some kernel that passes everything else.
            for criterion in &task.criteria {
                let alone =
                    wrong.iter().any(|(one, _)| one.task.name == task.name && one.expect == [criterion.id.clone()]);
                assert!(alone, "nothing fails {} by `{}` alone", task.name, criterion.id);
            }
        }
    }
}

/// A compiler error has a hint of its own.
#[test]
fn every_mistake_has_its_hint() {
    let mut lacking = Vec::new();
    for (solution, _) in all() {
        let Some(code) = solution.expect.first() else { continue };
        let hint = tasks::hints::choose(&solution.task, Some(code));
        if hint.symptom != code || hint.levels.len() != 3 {
            lacking.push(format!("{} {code} ({})", solution.task.name, solution.name));
        }
    }
    assert!(lacking.is_empty(), "no hint: {}", lacking.join(", "));
}

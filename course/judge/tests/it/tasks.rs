//! The finished kernel of each task passes, and its starter fails: from committed PTX, so without a compiler.

use std::path::Path;

use catalog::Tile;
use tasks::Task;
use tasks::verdict::{Status, Verdict};

use crate::common::{catalogues, expect_no_complaint, ptx_of, read, request, root};

fn judged(task: &Task, source: &Path) -> Verdict {
    judge::judge(&request(task, &ptx_of(source), &[]))
}

fn judged_host(task: &Task, answer: &str) -> Verdict {
    let host = task.host.as_ref().expect("a task for the host");
    let ptx = host.call.kernel().map(ptx_of).unwrap_or_default();
    judge::host::judge(&request(task, &ptx, &[]), &host.call, answer).expect("the kernel is finished")
}

/// Returns the first error in a task.
fn complaint(task: &Task) -> Option<String> {
    let [finished, begun] = if task.host.is_some() {
        let solution = read(&task.solution);
        let starter = tasks::starter::starter(task, &solution);
        [solution, starter].map(|answer| judged_host(task, &answer))
    } else {
        [task.solution.clone(), task.starter_file()].map(|source| judged(task, &source))
    };
    if finished.status != Status::Passed {
        return Some(format!("{}: its solution fails: {:?}", task.name, finished.why));
    }
    let compiles = begun.parts.first().is_some_and(|part| part.status == Status::Passed);
    let falls_short = begun.status == Status::Failed && compiles;
    (!falls_short).then(|| format!("{}: its starter should compile and fail: {:?}", task.name, begun.why))
}

#[test]
fn every_finished_kernel_passes_and_every_starter_fails() {
    let tasks: Vec<Task> = catalogues().into_iter().flat_map(|catalogue| catalogue.tasks).collect();
    assert!(!tasks.is_empty());
    expect_no_complaint(&tasks, complaint);
}

/// A learner's repository has the catalogue and no solution, so both say it; here they are compared.
#[test]
fn tiles_and_threads_of_tasks_are_those_of_their_solutions() {
    let mut n_compared = 0;
    for task in catalogues().into_iter().flat_map(|catalogue| catalogue.tasks) {
        let source = std::fs::read_to_string(root().join(&task.solution)).unwrap_or_default();
        if let Some(Tile { rows, cols, threads }) = Tile::from_source(&source) {
            let expected = ([rows, cols], [threads, 1, 1]);
            assert_eq!((task.tile, task.block), expected, "{}", task.name);
            n_compared += 1;
        }
    }
    assert!(n_compared >= 10, "only {n_compared} sources define BM, BN and THREADS");
}

//! What source lines of finished kernels do: the sums, and that nothing much belongs to no line.

#![expect(clippy::panic, reason = "a test says what went wrong")]

use std::path::Path;

use course::explain::{Counts, Explained};
use course::measure::Measure;
use course::{Catalogue, Task};
use judge::Request;
use ladder::provenance::target_of;

use crate::common::root;

fn tasks() -> Vec<Task> {
    let catalogues = Catalogue::load_all(root()).unwrap_or_else(|error| panic!("{error}"));
    catalogues
        .into_iter()
        .flat_map(|catalogue| catalogue.tasks)
        .filter(|task| task.host.is_none())
        .collect()
}

fn explained(task: &Task) -> (Explained, String) {
    let read = |path: &Path| {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let source = root().join(&task.solution);
    let text = read(&source);
    let explained = judge::explain::explain(&Request {
        task,
        ptx: &read(&target_of(root(), &source)),
        sources: &[(task.solution.display().to_string(), text.clone())],
        seed: 1,
        hidden: false,
        threads: 1,
    });
    let explained = explained.unwrap_or_else(|why| panic!("{}: {why}", task.name));
    (explained, text)
}

/// What is wrong with the explanation of a finished kernel, if anything.
fn complaint(task: &Task) -> Option<String> {
    let (explained, text) = explained(task);
    let own = task.solution.display().to_string();
    let mut sum = Counts::default();
    let mut nowhere = Counts::default();
    for line in &explained.lines {
        sum += line.counts;
        if line.file.is_empty() {
            nowhere += line.counts;
        } else if line.file != own {
            return Some(format!(
                "a line of {}, which is called from the kernel",
                line.file
            ));
        } else if text
            .lines()
            .nth(line.line as usize - 1)
            .is_none_or(|text| text.trim().is_empty())
        {
            return Some(format!("line {} is empty", line.line));
        }
    }
    if sum != explained.total {
        return Some("the lines do not add up".into());
    }
    if !explained.right || explained.stopped.is_some() {
        return Some("the result is wrong".into());
    }
    // What every kernel here is about has a line.
    let most = [
        (nowhere.multiply_adds, sum.multiply_adds),
        (nowhere.sectors, sum.sectors),
        (nowhere.barriers, sum.barriers),
        (nowhere.instructions, sum.instructions),
    ];
    const SMALL: f64 = 0.15;
    most.iter()
        .any(|(part, all)| *part as f64 > SMALL * *all as f64)
        .then(|| format!("too much belongs to no line: {nowhere:?} of {sum:?}"))
}

#[test]
fn lines_add_up_and_belong_to_the_kernel() {
    let tasks = tasks();
    assert!(!tasks.is_empty());
    let complaints: Vec<String> = tasks
        .iter()
        .filter_map(|task| Some(format!("{}: {}", task.name, complaint(task)?)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_line_counts_what_it_calls_in_another_file() {
    let tasks = tasks();
    let task = tasks
        .iter()
        .find(|task| task.name.to_string() == "v05")
        .expect("a task");
    let (explained, text) = explained(task);
    // 64 steps of k in tiles of 8, 4 blocks of 8 warps: a float4 of each lane is 16 sectors.
    let loads: Vec<(u64, u64)> = explained
        .lines
        .iter()
        .filter(|line| {
            let text = text.lines().nth((line.line as usize).wrapping_sub(1));
            text.is_some_and(|text| text.contains("= load4_or_zero("))
        })
        .map(|line| (line.counts.requests, line.counts.sectors))
        .collect();
    assert_eq!(loads, [(256, 4096), (256, 4096)]);
    assert_eq!(explained.total.excess, 0);
}

#[test]
fn the_excess_of_lines_is_the_one_that_is_judged() {
    for task in tasks() {
        let Some(criterion) = task
            .does
            .first()
            .filter(|c| c.measure == Measure::SharedExcessPerFma)
        else {
            continue;
        };
        let (explained, _) = explained(&task);
        let per_fma = explained.total.excess as f64 / (task.work.fmas(criterion.shape()) / 32.0);
        assert!(criterion.accepts(per_fma), "{}: {per_fma}", task.name);
    }
}

use super::*;
use crate::rubric::Rubric;
use std::path::Path;
use tasks::verdict::Part;

fn rubric() -> Rubric {
    let text = "format = 1\nseed = 3\n[[task]]\nname = \"v02\"\nright = 4\nclean = 2\ndoes = 4\n";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Rubric::parse(text, "rubric.toml", &root).expect("a rubric")
}

/// Points of a verdict with these parts failed; `does` stands for all criteria.
fn points(failed: &[&str], n_shapes: usize) -> String {
    let graded = &rubric().tasks[0];
    let mut verdict = Verdict::stopped(TaskName::rebuild("v02"), &graded.task.criteria, "x", "x");
    (verdict.n_shapes, verdict.n_tried) = (n_shapes, 9);
    for part in &mut verdict.parts {
        *part = Part {
            status: if failed.contains(&part.id.as_str())
                || failed.contains(&"does") && graded.points_by_criterion.contains_key(&part.id)
            {
                Status::Failed
            } else {
                Status::Passed
            },
            ..Part::passed(&part.id, &part.what)
        };
    }
    format_points(of_task(graded, &verdict).iter().map(|item| item.points).sum())
}

#[test]
fn each_part_has_its_own_points() {
    assert_eq!(points(&[], 9), "10");
    assert_eq!(points(&["clean"], 9), "8");
    assert_eq!(points(&["does"], 9), "6");
    assert_eq!(points(&["right"], 5), "6");
}

#[test]
fn a_kernel_that_does_nothing_has_no_points_for_being_clean() {
    assert_eq!(points(&["right"], 0), "0");
    assert_eq!(points(&["right"], 1), "4", "those of its idea");
}

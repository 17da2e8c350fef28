use super::*;
use crate::task::Catalogue;

const TASKS: &str = include_str!("example.toml");

fn variant() -> Variant {
    let catalogue = Catalogue::parse(TASKS, "v02", "tasks.toml").expect("a catalogue");
    assert!(catalogue.tasks.is_empty());
    catalogue.variant.expect("a variant")
}

#[test]
fn thresholds_follow_from_the_drawn_numbers() {
    let variant = variant();
    let task = variant.task("v02", &variant.points[0]).expect("a task");
    assert_eq!(task.name.to_string(), "v02.variant");
    assert_eq!((task.tile, task.block, task.title.as_str()), ([16, 32], [512, 1, 1], "A tile of 16 x 32"));
    assert!(task.text.starts_with("A is stored transposed: ") && task.text.contains("At most 0.5625 sectors"));
    assert_eq!(task.criteria[0].at_most, Some(0.5625));
    let task = variant.task("v02", &variant.points[1]).expect("a task");
    assert_eq!((task.criteria[0].at_most, task.criteria[0].what.as_str()), (Some(3.0), "few loads of double"));
}

#[test]
fn a_seed_draws_one_point_and_seeds_draw_all() {
    let variant = variant();
    let drawn: Vec<&Point> = (0..20).filter_map(|seed| variant.draw("v02", seed)).collect();
    assert_eq!(drawn.len(), 20);
    assert!(variant.points.iter().all(|point| drawn.contains(&point)));
    assert_eq!(variant.draw("v02", 7), variant.draw("v02", 7));
}

#[test]
fn a_reference_has_the_drawn_numbers() {
    let text = "// x\n// DRAWN\nconstexpr int BM = 1;\n// DRAWN_END\nvoid f();\n";
    assert_eq!(
        reference(text, &variant().points[0]).expect("a text"),
        "// x\nconstexpr int BM = 16, BN = 32;\nusing Element = float;\n\
             constexpr bool A_TURNED = true, B_TURNED = false;  // stored transposed\nvoid f();\n"
    );
}

#[test]
fn every_point_must_make_sense() {
    let error = |from: &str, to: &str| {
        let text = TASKS.replacen(from, to, 1);
        Catalogue::parse(&text, "v02", "tasks.toml").expect_err("refused").to_string()
    };
    assert_eq!(
        error("{BM * BN}", "{BM * BP}"),
        "tasks.toml: variant sgemm_tn BM=16 BN=32: block: `BM * BP`: `BP` is not known; there are BYTES, BM, BN, \
             ceil_div, min and max"
    );
    assert_eq!(
        error("BN = 8 }", "BN = 800 }"),
        "tasks.toml: variant dgemm BM=8 BN=800: block: a block has 1 to 1024 threads"
    );
    assert!(error("{BM} x {BN}", "{BM x").contains("a brace is not closed"));
}

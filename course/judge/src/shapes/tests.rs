use super::*;
use tasks::Catalogue;

#[test]
fn hidden_shapes_come_from_the_seed() {
    let text = "[rebuild]\nsource = \"x\"\nentry = \"x\"\nwork = \"sgemm\"\ntile = [64, 32]\nblock = [256, 1, 1]\nminutes = 1\n";
    let catalogue = Catalogue::parse(text, "v05", "tasks.toml").expect("a catalogue");
    let task = &catalogue.tasks[0];
    let open = shapes_for(task, 1, ShapeSet::Public);
    assert!(open.contains(&Shape { m: 65, n: 63, k: 12 }));
    let hidden = shapes_for(task, 1, ShapeSet::WithHidden);
    assert_eq!(hidden[..open.len()], open[..]);
    assert!(hidden.len() > open.len());
    assert_eq!(hidden, shapes_for(task, 1, ShapeSet::WithHidden));
    assert_ne!(hidden, shapes_for(task, 2, ShapeSet::WithHidden));
}

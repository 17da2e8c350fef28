//! The rubrics of the book: each step whose tasks are kernels has one, which can be read, and is worth ten points.

use std::path::Path;

use grader::rubric::Rubric;

#[test]
fn rubrics_of_the_book_are_worth_ten_points() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("book/rubrics")).expect("rubrics") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let rubric = Rubric::parse(&text, &name, &root).unwrap_or_else(|why| panic!("{why}"));
        assert!((rubric.max() - 10.0).abs() < 1e-9, "{name}");
        names.push(name);
    }
    names.sort();
    let steps = catalog::STEPS.iter().map(|step| step.id);
    let has_tasks = |id: &&str| {
        let path = root.join(format!("steps/{id}/tasks.toml"));
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("[rebuild]") || text.contains("[[transfer]]"))
    };
    assert_eq!(names, steps.filter(has_tasks).collect::<Vec<&str>>());
}

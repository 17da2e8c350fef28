use super::*;

#[test]
fn a_grid_covers_the_edges() {
    let shape = Shape { m: 129, n: 64, k: 5 };
    assert_eq!(TaskWork::Sgemm.grid([128, 64], shape), [1, 2, 1]);
    assert_eq!(TaskWork::SgemmBatched.grid([64, 128], shape), [1, 3, 3]);
}

#[test]
fn names_in_files_are_those_of_the_format() {
    let name = |work: TaskWork| serde_json::to_string(&work).expect("a word");
    assert_eq!(name(TaskWork::Transpose12), "\"transpose12\"");
    assert_eq!(name(TaskWork::SgemmNt), "\"sgemm_nt\"");
    assert_eq!(TaskWork::SgemmScaled.parameter_bytes(), [4, 4, 4, 4, 8, 8, 4, 8]);
}

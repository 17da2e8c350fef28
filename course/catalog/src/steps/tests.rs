use super::*;

#[test]
fn ids_count_up_from_zero() {
    assert_eq!(STEPS[0].number(), 0);
    assert!(STEPS.is_sorted_by_key(|step| step.number()));
    for step in STEPS {
        assert_eq!(step.id, format!("v{:02}", step.number()));
    }
}

#[test]
fn a_step_answers_to_its_number_and_its_name() {
    for step in STEPS {
        for asked in [step.id, step.name, &step.number().to_string()] {
            assert_eq!(find(asked).map(|found| found.id), Ok(step.id));
        }
    }
}

#[test]
fn names_of_kernels_are_unique() {
    let mut names: Vec<_> = STEPS.iter().flat_map(|s| s.kernels).map(|k| k.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

use super::*;
use crate::finding::{ArrayElement, Space};

/// Checks where `A` ends, from the number of its elements and its dimensions in the source.
#[track_caller]
fn check(n_elements: u64, dims: &[u64], parameter: Option<usize>, expected: &str) {
    let target = Target {
        element: ArrayElement {
            name: "A".into(),
            space: Space::Global,
            element_type: "float".into(),
            element_bytes: 4,
            n_elements,
            dims: dims.to_vec(),
            index: 32,
            byte_offset: 128,
        },
        start: 0,
        named: true,
        allocation: None,
        parameter,
        dynamic: false,
        access_bytes: 4,
    };
    assert_eq!(ends(&target), expected);
}

#[test]
fn the_end_of_an_array_is_told_in_words_that_fit_its_size() {
    check(32, &[], Some(0), "the last element is A[31]");
    check(32, &[4, 8], None, "the last element is A[3][7]");
    check(1, &[], Some(0), "A has only one element");
    check(1, &[], None, "A has only one element");
    check(0, &[], Some(0), "A is smaller than one element");
}

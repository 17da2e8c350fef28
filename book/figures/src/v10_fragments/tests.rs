use super::*;
use std::collections::BTreeSet;

#[test]
fn every_element_is_held_once() {
    let form = form().expect("it is a shape");
    for (matrix, elements) in [M * K, K * N, M * N].into_iter().enumerate() {
        let all: Vec<_> = (0..32).flat_map(|lane| held(form, 2, lane)[matrix].clone()).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (elements, elements));
    }
}

#[test]
fn the_description_is_of_what_is_drawn() {
    let form = form().expect("it is a shape");
    let [a, b, d] = held(form, 2, 0);
    assert_eq!(a, [(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)]);
    assert_eq!(b, [(0, 0), (1, 0), (8, 0), (9, 0)]);
    assert_eq!(d, [(0, 0), (0, 1), (8, 0), (8, 1)]);
    assert_eq!(held(form, 2, 4)[0][0], (1, 0));
    assert_eq!(held(form, 2, 31)[2].last(), Some(&(15, 7)));
}

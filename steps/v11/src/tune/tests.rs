use v11::plans::Source;

use super::*;

#[test]
fn sizes_are_those_of_the_seed() {
    let drawn = shapes(PRODUCTS, [64.0, 6000.0]);
    assert_eq!(drawn, shapes(PRODUCTS, [64.0, 6000.0]));
    assert!(drawn.iter().all(|shape| shape.volume() <= MAX_WORK));
    let aligned = drawn.iter().filter(|shape| (shape.n | shape.k).is_multiple_of(4)).count();
    assert!(aligned >= PRODUCTS / 2, "{aligned}");
}

#[test]
fn plans_with_rows_anywhere_have_names_of_their_own() {
    let of = |source| PLANS.iter().filter(|plan| plan.source == source).count();
    assert_eq!((of(Source::Boxes), of(Source::Words), of(Source::Threads)), (5, 5, 1));
}

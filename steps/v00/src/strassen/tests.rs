use super::*;
use crate::tests::{Problem, shape};

#[test]
fn every_depth_is_within_its_bound_and_exact_on_integers() {
    for shape in [shape(8, 8, 8), shape(1, 1, 1), shape(13, 33, 101), shape(100, 97, 51)] {
        for n_levels in 0..=3 {
            let multiply =
                |shape, a: &[f32], b: &[f32], c: &mut [f32]| multiply_levels(n_levels, shape, a, b, c);
            let bound = bound_of_levels(n_levels, shape.k, 1.0, 1.0);
            let worst = Problem::reals(shape).worst(multiply, |_| bound);
            assert!(worst <= 1.0, "{n_levels} levels, {shape}: {worst} of the bound");
            let worst = Problem::integers(shape).worst(multiply, |_| 0.0);
            assert!(worst == 0.0, "{n_levels} levels, {shape}: not exact on integers");
        }
    }
}

#[test]
fn a_small_row_drowns_in_a_large_one() {
    // A = | 1e8 1e8 |   B = | 1 1 |   so that the second row of C is 2, 2.
    //     |  1   1  |       | 1 1 |
    let mut c = [f32::NAN; 4];
    multiply_levels(1, shape(2, 2, 2), &[1e8, 1e8, 1.0, 1.0], &[1.0; 4], &mut c);
    assert_eq!(c[..2], [2e8, 2e8]);
    assert_ne!(c[2..], [2.0, 2.0]);
    let bound = bound_of_levels(1, 2, 1e8, 1.0);
    c[2..].iter().for_each(|&c| assert!((f64::from(c) - 2.0).abs() <= bound));
}

#[test]
fn small_shapes_are_not_cut() {
    let cutoff = cutoff();
    assert_eq!(n_levels(Shape::square(2 * cutoff - 1)), 0);
    assert_eq!(n_levels(Shape::square(2 * cutoff)), 1);
    assert_eq!(n_levels(Shape::square(4 * cutoff)), 2);
    assert_eq!(n_levels(shape(8 * cutoff, 8 * cutoff, 3)), 0);
}

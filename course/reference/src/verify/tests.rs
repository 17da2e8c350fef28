use super::*;

fn counting() -> Answer<'static> {
    Answer::exact(3, (0..6).map(f64::from).collect::<Vec<_>>()).within(0.25)
}

#[test]
fn what_lies_inside_its_bound_is_right() {
    let got = [0.0f32, 1.25, 2.0, 3.0, 4.0, 4.9];
    let comparison = compare(&counting(), &got);
    assert!(comparison.is_right());
    assert_eq!(comparison.max_of_bound, 1.0);
}

#[test]
fn a_nan_is_wrong_and_so_is_what_nobody_wrote() {
    let got = [0.0f32, f32::NAN, f32::POISON, f32::INFINITY, 4.0, 5.5];
    let comparison = compare(&counting(), &got);
    assert_eq!(comparison.n_wrong, 4);
    assert_eq!((comparison.n_nan, comparison.n_untouched, comparison.n_infinite), (2, 1, 1));
    assert_eq!(comparison.first, Some([0, 1]));
}

/// Returns an output of 1000 rows whose elements should be 0 and may differ by 1.
fn large() -> Answer<'static> {
    Answer::exact(333, vec![0.0; 333_000]).within(1.0)
}

#[test]
fn bands_of_rows_add_up() {
    let mut got = vec![0.5f32; 333_000];
    for index in [100 * 333 + 7, 500 * 333, 332_999] {
        got[index] = 2.0;
    }
    let comparison = compare(&large(), &got);
    assert_eq!((comparison.n_wrong, comparison.first), (3, Some([100, 7])));
    assert_eq!(comparison.max_abs_error, 2.0);
    assert_eq!(compare_on_threads(1, &large(), &got), comparison);
}

//! Is it right? Every element against the answer, and NaN must lose.

use crate::inputs::Real;

/// What a result is compared with.
pub trait Answer {
    /// Rows of the output.
    fn rows(&self) -> usize;
    /// Columns of the output.
    fn cols(&self) -> usize;
    /// The right value.
    fn want(&self, row: usize, col: usize) -> f64;
    /// How far from it a result may be.
    fn bound(&self, row: usize, col: usize) -> f64;
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// Elements outside of their bound, NaN and infinities among them.
    pub n_wrong: usize,
    /// Elements that are NaN.
    pub n_nan: usize,
    /// Elements that are infinite.
    pub n_infinite: usize,
    /// Elements that still hold what was there before the launch.
    pub n_untouched: usize,
    /// The first wrong one, in row-major order.
    pub first: Option<[usize; 2]>,
    /// Largest |got − want| of finite elements.
    pub max_abs_error: f64,
    /// Largest |got − want| / bound of finite elements with a bound above 0.
    pub max_of_bound: f64,
}

impl Comparison {
    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.n_wrong == 0
    }
}

/// Compares every element.
pub fn compare<T: Real>(answer: &impl Answer, got: &[T]) -> Comparison {
    let (rows, cols) = (answer.rows(), answer.cols());
    let mut out = Comparison::default();
    for row in 0..rows {
        for col in 0..cols {
            let element = got[row * cols + col];
            let value = element.to_f64();
            let error = (value - answer.want(row, col)).abs();
            let bound = answer.bound(row, col);
            if error.is_finite() {
                out.max_abs_error = out.max_abs_error.max(error);
                if bound > 0.0 {
                    out.max_of_bound = out.max_of_bound.max(error / bound);
                }
            } else {
                out.n_nan += usize::from(value.is_nan());
                out.n_infinite += usize::from(value.is_infinite());
                out.n_untouched += usize::from(element.is_poison());
            }
            // "Is inside", so that a NaN is wrong.
            if !is_inside(error, bound) {
                out.n_wrong += 1;
                out.first.get_or_insert([row, col]);
            }
        }
    }
    out
}

/// Whether an error is allowed: false for NaN.
pub(crate) fn is_inside(error: f64, bound: f64) -> bool {
    error <= bound
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Answer for Counting {
        fn rows(&self) -> usize {
            2
        }
        fn cols(&self) -> usize {
            3
        }
        fn want(&self, row: usize, col: usize) -> f64 {
            (row * 3 + col) as f64
        }
        fn bound(&self, _: usize, _: usize) -> f64 {
            0.25
        }
    }

    #[test]
    fn what_lies_inside_its_bound_is_right() {
        let got = [0.0f32, 1.25, 2.0, 3.0, 4.0, 4.9];
        let comparison = compare(&Counting, &got);
        assert!(comparison.is_right());
        assert_eq!(comparison.max_of_bound, 1.0);
    }

    #[test]
    fn a_nan_is_wrong_and_so_is_what_nobody_wrote() {
        let got = [0.0f32, f32::NAN, f32::POISON, f32::INFINITY, 4.0, 5.5];
        let comparison = compare(&Counting, &got);
        assert_eq!(comparison.n_wrong, 4);
        assert_eq!(
            (comparison.n_nan, comparison.n_untouched, comparison.n_infinite),
            (2, 1, 1)
        );
        assert_eq!(comparison.first, Some([0, 1]));
    }
}

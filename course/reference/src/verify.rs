//! Comparison of every element with the answer. A NaN is never right.

use crate::answer::Answer;
use crate::inputs::Real;
use crate::threads;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// Elements outside of their bound, NaN and infinities among them.
    pub n_wrong: usize,
    pub n_nan: usize,
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
    /// Returns whether every element is inside its bound.
    pub fn is_right(&self) -> bool {
        self.n_wrong == 0
    }

    /// Joins the comparisons of earlier and of later rows.
    fn and(self, later: Self) -> Self {
        Self {
            n_wrong: self.n_wrong + later.n_wrong,
            n_nan: self.n_nan + later.n_nan,
            n_infinite: self.n_infinite + later.n_infinite,
            n_untouched: self.n_untouched + later.n_untouched,
            first: self.first.or(later.first),
            max_abs_error: self.max_abs_error.max(later.max_abs_error),
            max_of_bound: self.max_of_bound.max(later.max_of_bound),
        }
    }
}

/// Compares every element, on all cores.
pub fn compare<T: Real>(answer: &Answer<'_>, got: &[T]) -> Comparison {
    T::compare(0, answer, got)
}

/// Compares every element on so many threads, each of which takes a band of rows; 0 for one per core.
pub fn compare_on_threads<T: Real>(threads: usize, answer: &Answer<'_>, got: &[T]) -> Comparison {
    T::compare(threads, answer, got)
}

pub(crate) fn compare_bands<T: Real>(threads: usize, answer: &Answer<'_>, got: &[T]) -> Comparison {
    /// Fewer elements are not worth a thread.
    const WORTH: usize = 1 << 16;
    let (rows, cols) = (answer.rows(), answer.cols());
    let worth = (rows * cols / WORTH).max(1);
    let band = rows.div_ceil(threads::count(threads).min(worth));
    let bands = got.chunks(band * cols).enumerate();
    let parts = threads::each(threads, bands, |(number, got)| compare_rows(answer, number * band, got));
    parts.into_iter().fold(Comparison::default(), Comparison::and)
}

fn compare_rows<T: Real>(answer: &Answer<'_>, first_row: usize, got: &[T]) -> Comparison {
    let cols = answer.cols();
    let mut out = Comparison::default();
    for (row, elements) in (first_row..).zip(got.chunks(cols)) {
        for (col, element) in elements.iter().enumerate() {
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

/// Returns whether an error is allowed. A NaN is not.
pub fn is_inside(error: f64, bound: f64) -> bool {
    error <= bound
}

#[cfg(test)]
mod tests {
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

    /// An output of 1000 rows whose elements should be 0 and may differ by 1.
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
}

//! The loops over elements that compare a result with the answer.

use crate::{answer::Answer, threads};

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

/// Compares every element on `threads` threads, each of which takes a band of rows. A caller that knows the type says
/// what value an element has, and whether it is what was there before the launch.
pub(crate) fn compare_bands<T: Sync>(
    threads: usize, answer: &Answer<'_>, got: &[T], value: impl Fn(&T) -> f64 + Sync,
    is_untouched: impl Fn(&T) -> bool + Sync,
) -> Comparison {
    /// Fewer elements are not worth a thread.
    const WORTH: usize = 1 << 16;
    let (rows, cols) = (answer.rows(), answer.cols());
    let worth = (rows * cols / WORTH).max(1);
    let band = rows.div_ceil(threads::count(threads).min(worth));
    let bands = got.chunks(band * cols).enumerate();
    let parts =
        threads::each(threads, bands, |(number, got)| compare_rows(answer, number * band, got, &value, &is_untouched));
    parts.into_iter().fold(Comparison::default(), Comparison::and)
}

fn compare_rows<T>(
    answer: &Answer<'_>, first_row: usize, got: &[T], value: impl Fn(&T) -> f64, is_untouched: impl Fn(&T) -> bool,
) -> Comparison {
    let cols = answer.cols();
    let mut out = Comparison::default();
    for (row, elements) in (first_row..).zip(got.chunks(cols)) {
        for (col, element) in elements.iter().enumerate() {
            let value = value(element);
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
                out.n_untouched += usize::from(is_untouched(element));
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

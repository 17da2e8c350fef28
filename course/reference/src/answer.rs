//! The right values of an output, and how far a result may be from them.

use std::borrow::Cow;

/// Right values and bounds, which a result is compared with.
#[derive(Debug, Clone)]
pub struct Answer<'a> {
    rows: usize,
    cols: usize,
    want: Want<'a>,
    bound: Bound<'a>,
}

#[derive(Debug, Clone)]
enum Want<'a> {
    /// Values in the order of the output.
    Values(Cow<'a, [f64]>),
    /// The matrix of which the output is the transpose.
    Transpose(&'a [f32]),
}

#[derive(Debug, Clone)]
enum Bound<'a> {
    Constant(f64),
    /// A part of ‖a‖·‖b‖, the norms of an element's row of A and column of B.
    OfNorms {
        part: f64,
        rows: &'a [f64],
        cols: &'a [f64],
    },
    Each(Vec<f64>),
}

impl<'a> Answer<'a> {
    /// Returns an answer of exact values, `cols` of them in a row.
    pub fn exact(cols: usize, values: impl Into<Cow<'a, [f64]>>) -> Self {
        let values = values.into();
        Self { rows: values.len() / cols, cols, want: Want::Values(values), bound: Bound::Constant(0.0) }
    }

    /// Returns the transpose of a row-major matrix with `cols` columns.
    pub fn transpose_of(matrix: &'a [f32], cols: usize) -> Self {
        Self { rows: cols, cols: matrix.len() / cols, want: Want::Transpose(matrix), bound: Bound::Constant(0.0) }
    }

    /// Allows the same error for each element.
    #[must_use]
    pub fn within(self, bound: f64) -> Self {
        Self { bound: Bound::Constant(bound), ..self }
    }

    /// Allows an error for each element.
    #[must_use]
    pub fn within_each(self, bounds: Vec<f64>) -> Self {
        Self { bound: Bound::Each(bounds), ..self }
    }

    /// Allows a part of ‖a‖·‖b‖, by the norms of the rows of A and of the columns of B.
    pub(crate) fn within_norms(self, part: f64, rows: &'a [f64], cols: &'a [f64]) -> Self {
        Self { bound: Bound::OfNorms { part, rows, cols }, ..self }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn want(&self, row: usize, col: usize) -> f64 {
        match &self.want {
            Want::Values(values) => values[row * self.cols + col],
            Want::Transpose(matrix) => f64::from(matrix[col * self.rows + row]),
        }
    }

    /// Returns the largest allowed distance of an element from its right value.
    pub fn bound(&self, row: usize, col: usize) -> f64 {
        match &self.bound {
            Bound::Constant(bound) => *bound,
            Bound::OfNorms { part, rows, cols } => part * (rows[row] * cols[col]),
            Bound::Each(bounds) => bounds[row * self.cols + col],
        }
    }
}

//! A shape with its inputs and answers, made when a kernel first asks for them, and shared by all that follow.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::PathBuf;

use crate::bf16::Bf16;
use catalog::{Shape, Work};

use crate::e4m3::E4m3;
use crate::inputs::{Data, Real, Sums, elements, transposed};
use crate::reference::Problem;
use crate::verify::Answer;

/// A shape with inputs and answers.
pub struct Case {
    /// Sizes of the launch.
    pub shape: Shape,
    seed: u64,
    /// Where answers are kept.
    answers: Option<PathBuf>,
    single: OnceCell<[Problem<f32>; 2]>,
    double: OnceCell<[Problem<f64>; 2]>,
    short: OnceCell<[Problem<Bf16>; 2]>,
    shortest: OnceCell<[Problem<E4m3>; 2]>,
    matrix: OnceCell<Matrix>,
}

impl Case {
    /// Nothing is drawn yet.
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            seed,
            answers: None,
            single: OnceCell::new(),
            double: OnceCell::new(),
            short: OnceCell::new(),
            shortest: OnceCell::new(),
            matrix: OnceCell::new(),
        }
    }

    /// With a folder for answers that take long, which the programs of several steps share.
    #[must_use]
    pub fn kept_in(self, answers: Option<PathBuf>) -> Self {
        Self { answers, ..self }
    }

    /// FP32 products: on integers, on reals.
    pub fn single(&self) -> &[Problem<f32>; 2] {
        self.single.get_or_init(|| self.problems())
    }

    /// FP64 products: on integers, on reals.
    pub fn double(&self) -> &[Problem<f64>; 2] {
        self.double.get_or_init(|| self.problems())
    }

    /// Products of bf16: on integers, on reals.
    pub fn short(&self) -> &[Problem<Bf16>; 2] {
        self.short.get_or_init(|| self.problems())
    }

    /// Products of e4m3: on integers, on reals.
    pub fn shortest(&self) -> &[Problem<E4m3>; 2] {
        self.shortest.get_or_init(|| self.problems())
    }

    /// A matrix to transpose.
    pub fn matrix(&self) -> &Matrix {
        self.matrix.get_or_init(|| Matrix::new(self.shape, self.seed))
    }

    fn problems<T: Real>(&self) -> [Problem<T>; 2] {
        [Data::Integers, Data::Reals]
            .map(|data| Problem::kept(self.answers.as_deref(), self.shape, data, self.seed))
    }
}

/// A and B of a problem as the kernel takes them.
pub fn stored<T: Real>(problem: &Problem<T>, work: Work) -> (Cow<'_, [T]>, Cow<'_, [T]>) {
    let Shape { m, n, k } = problem.shape;
    let [turn_a, turn_b] = work.turned();
    let store = |x, rows, cols, turn| match turn {
        true => Cow::Owned(transposed(x, rows, cols)),
        false => Cow::Borrowed(x),
    };
    (
        store(problem.a.as_slice(), m, k, turn_a),
        store(problem.b.as_slice(), k, n, turn_b),
    )
}

impl<T: Sums> Answer for Problem<T> {
    fn rows(&self) -> usize {
        self.shape.m
    }
    fn cols(&self) -> usize {
        self.shape.n
    }
    fn want(&self, row: usize, col: usize) -> f64 {
        self.c[row * self.shape.n + col]
    }
    fn bound(&self, row: usize, col: usize) -> f64 {
        Problem::bound(self, row, col)
    }
}

/// A matrix whose transpose is the answer: equal to the bit.
#[derive(Debug)]
pub struct Matrix {
    in_rows: usize,
    in_cols: usize,
    /// Its `in_rows` × `in_cols` elements, row-major.
    pub elements: Vec<f32>,
    /// What transposing it took on the CPU.
    pub cpu_ms: f64,
}

impl Matrix {
    fn new(shape: Shape, seed: u64) -> Self {
        let (rows, cols) = (shape.m, shape.n);
        let elements = elements::<f32>(Data::Reals, seed, 0, 1, rows * cols);
        let start = std::time::Instant::now();
        let turned = transposed(&elements, rows, cols);
        let cpu_ms = start.elapsed().as_secs_f64() * 1e3;
        drop(turned);
        Self {
            in_rows: rows,
            in_cols: cols,
            elements,
            cpu_ms,
        }
    }
}

impl Answer for Matrix {
    fn rows(&self) -> usize {
        self.in_cols
    }
    fn cols(&self) -> usize {
        self.in_rows
    }
    fn want(&self, row: usize, col: usize) -> f64 {
        f64::from(self.elements[col * self.in_cols + row])
    }
    fn bound(&self, _: usize, _: usize) -> f64 {
        0.0
    }
}

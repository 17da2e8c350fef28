//! A shape with its inputs and answers, computed on first use and shared by all kernels.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::PathBuf;

use catalog::{Shape, Work};
use reference::inputs::{Data, Real, elements, transposed};
use reference::{Answer, Bf16, E4m3, Problem};

/// A shape with inputs and answers.
pub(crate) struct Case {
    pub shape: Shape,
    seed: u64,
    /// Folder with answers that take long to compute, shared by the programs of several steps.
    answers: Option<PathBuf>,
    fp32: OnceCell<[Problem<f32>; 2]>,
    fp64: OnceCell<[Problem<f64>; 2]>,
    bf16: OnceCell<[Problem<Bf16>; 2]>,
    e4m3: OnceCell<[Problem<E4m3>; 2]>,
    matrix: OnceCell<Matrix>,
}

impl Case {
    /// Returns a case whose inputs are drawn on demand.
    pub(crate) fn new(shape: Shape, seed: u64, answers: Option<PathBuf>) -> Self {
        Self {
            shape,
            seed,
            answers,
            fp32: OnceCell::new(),
            fp64: OnceCell::new(),
            bf16: OnceCell::new(),
            e4m3: OnceCell::new(),
            matrix: OnceCell::new(),
        }
    }

    /// Returns the problems of a type: one on integers, one on reals.
    pub(crate) fn problems<T: Drawn>(&self) -> &[Problem<T>; 2] {
        T::cell(self).get_or_init(|| {
            [Data::Integers, Data::Reals]
                .map(|data| Problem::kept(self.answers.as_deref(), self.shape, data, self.seed))
        })
    }

    pub(crate) fn matrix(&self) -> &Matrix {
        self.matrix.get_or_init(|| Matrix::new(self.shape, self.seed))
    }
}

/// A type of operands that cases are drawn for.
pub(crate) trait Drawn: Real {
    fn cell(case: &Case) -> &OnceCell<[Problem<Self>; 2]>;
}

/// The field of a [`Case`] for each type.
macro_rules! drawn {
    ($($type:ty => $field:ident),*) => {$(
        impl Drawn for $type {
            fn cell(case: &Case) -> &OnceCell<[Problem<Self>; 2]> {
                &case.$field
            }
        }
    )*};
}

drawn!(f32 => fp32, f64 => fp64, Bf16 => bf16, E4m3 => e4m3);

/// Returns A and B of a problem in the form that the kernel takes.
pub(crate) fn stored<T: Real>(problem: &Problem<T>, work: Work) -> (Cow<'_, [T]>, Cow<'_, [T]>) {
    let Shape { m, n, k } = problem.shape;
    let [turn_a, turn_b] = work.transposed();
    let store = |x, rows, cols, turn| if turn { Cow::Owned(transposed(x, rows, cols)) } else { Cow::Borrowed(x) };
    (store(problem.a.as_slice(), m, k, turn_a), store(problem.b.as_slice(), k, n, turn_b))
}

/// A matrix whose transpose is the answer: equal to the bit.
#[derive(Debug)]
pub(crate) struct Matrix {
    cols: usize,
    /// The elements, row-major.
    pub elements: Vec<f32>,
    /// Milliseconds that transposing it took on the CPU.
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
        Self { cols, elements, cpu_ms }
    }

    pub(crate) fn answer(&self) -> Answer<'_> {
        Answer::transpose_of(&self.elements, self.cols)
    }
}

//! Inputs of a shape, expected results, and the comparison.

#[cfg(test)]
mod tests;

use catalog::{Format, Shape};
use diagnosis::{Clue, Diagnosis, Subject, Terms, WrongResult};
use reference::Argument;
use reference::inputs::{Accumulator, Data, Real as _, elements, transposed};
use reference::verify::{self, Comparison};
use reference::{Answer, Bf16, E4m3, Problem};
use tasks::verdict::WrongOutput;
use tasks::{Task, TaskWork};

/// One launch: operands and expected results.
#[derive(Debug)]
pub struct Trial<T: Accumulator> {
    pub shape: Shape,
    pub data: Data,
    /// A, B and what else the kernel reads, or the matrix to transpose, in the kernel's layout.
    pub inputs: Vec<Vec<T>>,
    /// Format of A and B.
    operands: Format,
    /// Contents of the output before the launch: the C of βC, or NaN.
    pub start: Vec<T>,
    pub alpha: f32,
    pub beta: f32,
    pieces: Vec<Piece<T>>,
    /// The kernel was right on small integers.
    pub right_on_integers: bool,
    threads: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    pub clue: Clue,
    pub subject: Subject,
    pub wrong: WrongOutput,
}

/// A part of the output with its expected result: a product of a batch, or a field of a struct.
#[derive(Debug)]
struct Piece<T: Accumulator> {
    /// Name such as `product 1 of 3`; empty for a single part.
    name: String,
    /// Index of its first element in the output.
    offset: usize,
    /// Distance between its elements in the output.
    stride: usize,
    expected: Expected<T>,
}

#[derive(Debug)]
enum Expected<T: Accumulator> {
    Product(Problem<T>),
    /// αA · B + βC
    Scaled {
        problem: Problem<T>,
        alpha: f64,
        beta: f64,
        start: Vec<T>,
    },
    /// max(A · B + bias, 0) of integers.
    Activated {
        problem: Problem<T>,
        /// Bias of each element of C.
        bias: Vec<T>,
    },
    Transposed {
        rows: usize,
        cols: usize,
        elements: Vec<T>,
    },
}

impl<T: Accumulator> Piece<T> {
    /// Returns this part of an output, compared with the expected result.
    fn compare(&self, got: &[T], threads: usize) -> (Vec<T>, Comparison) {
        let answer = self.expected.answer();
        let n = answer.rows() * answer.cols();
        let part: Vec<T> = got.iter().skip(self.offset).step_by(self.stride).take(n).copied().collect();
        let comparison = verify::compare_on_threads(threads, &answer, &part);
        (part, comparison)
    }
}

impl<T: Accumulator> Expected<T> {
    fn answer(&self) -> Answer<'_> {
        match self {
            Self::Product(problem) => problem.answer(),
            Self::Scaled { problem, alpha, beta, start } => scaled(problem, *alpha, *beta, start),
            Self::Activated { problem, bias } => {
                let sums = problem.c.iter().zip(bias);
                Answer::exact(problem.shape.n, sums.map(|(c, bias)| (c + bias.to_f64()).max(0.0)).collect::<Vec<_>>())
            }
            Self::Transposed { rows, cols, elements } => {
                Answer::exact(*rows, T::widen(&transposed(elements, *rows, *cols)))
            }
        }
    }
}

/// Computes αA · B + βC, where C is not read if β is 0.
fn scaled<'p, T: Accumulator>(problem: &'p Problem<T>, alpha: f64, beta: f64, start: &[T]) -> Answer<'p> {
    const ROUNDINGS: f64 = 4.0;
    let product = problem.answer();
    let wanted = |(c, start): (&f64, &T)| if beta == 0.0 { alpha * c } else { alpha * c + beta * start.to_f64() };
    let want: Vec<f64> = problem.c.iter().zip(start).map(wanted).collect();
    let cols = problem.shape.n;
    let bounds = want.iter().zip(&problem.c).enumerate();
    let bounds = bounds.map(|(at, (want, c))| match product.bound(at / cols, at % cols) {
        // On integers sums and products are exact.
        0.0 => 0.0,
        // Otherwise the factor may be applied before or after the sum, and two more operations round.
        bound => {
            (1.0 + T::UNIT * ROUNDINGS) * alpha.abs() * bound + ROUNDINGS * T::UNIT * (want.abs() + (alpha * c).abs())
        }
    });
    let bounds = bounds.collect();
    Answer::exact(cols, want).within_each(bounds)
}

/// Distance between the seeds of two products of a batch.
const BATCH_SEED_STRIDE: u64 = 1 << 32;

/// Returns the launches that decide about a shape, in order: first on integers, where every sum is exact. Each is made
/// on demand, with the given threads; 0 for one per core.
pub fn trials<T: Accumulator>(
    work: TaskWork, shape: Shape, seed: u64, threads: usize,
) -> impl DoubleEndedIterator<Item = Trial<T>> {
    let launches: &'static [(Data, f32, f32)] = match work {
        _ if work.is_transpose() => &[(Data::Reals, 1.0, 0.0)],
        // With β = 0 the kernel must not read C, which is NaN.
        TaskWork::SgemmScaled => &[(Data::Integers, 2.0, 0.0), (Data::Integers, 2.0, 3.0), (Data::Reals, -0.75, 0.4)],
        // The formats of tensor cores hold such integers exactly, and few reals.
        _ if work.operands() != Format::Fp32 => &[(Data::Integers, 1.0, 0.0)],
        _ => &[(Data::Integers, 1.0, 0.0), (Data::Reals, 1.0, 0.0)],
    };
    launches.iter().map(move |(data, alpha, beta)| {
        if work.is_transpose() {
            transpose(work, shape, seed, threads)
        } else {
            product(work, shape, seed, threads, *data, [*alpha, *beta])
        }
    })
}

fn transpose<T: Accumulator>(work: TaskWork, shape: Shape, seed: u64, threads: usize) -> Trial<T> {
    let Shape { m: rows, n: cols, .. } = shape;
    let fields = match work {
        TaskWork::Transpose12 => ["x", "y", "z"].as_slice(),
        _ => &[""],
    };
    let n = fields.len();
    let input = elements::<T>(Data::Reals, seed, 0, 1, rows * cols * n);
    let piece = |(offset, field): (usize, &&str)| Piece {
        name: match n {
            1 => String::new(),
            _ => format!("field {field}"),
        },
        offset,
        stride: n,
        expected: Expected::Transposed {
            rows,
            cols,
            elements: input.iter().skip(offset).step_by(n).copied().collect(),
        },
    };
    let pieces = fields.iter().enumerate().map(piece).collect();
    let start = vec![T::POISON; input.len()];
    Trial { pieces, threads, ..Trial::new(work, shape, Data::Reals, vec![input], start) }
}

fn product<T: Accumulator>(
    work: TaskWork, shape: Shape, seed: u64, threads: usize, data: Data, factors: [f32; 2],
) -> Trial<T> {
    let Shape { m, n, k } = shape;
    let [alpha, beta] = factors;
    let [transpose_a, transpose_b] = work.transposed();
    let batch = work.batch();
    let start =
        if beta == 0.0 { vec![T::POISON; batch * m * n] } else { elements::<T>(data, seed, 2, k, batch * m * n) };
    let bias = elements::<T>(data, seed, 3, k, work.biases(shape));
    let (mut a, mut b, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..batch {
        let seed = seed.wrapping_add(number as u64 * BATCH_SEED_STRIDE);
        let problem = Problem::<T>::on_threads(threads, shape, data, seed);
        a.extend(stored(&problem.a, m, k, transpose_a));
        b.extend(stored(&problem.b, k, n, transpose_b));
        pieces.push(Piece {
            name: match batch {
                1 => String::new(),
                _ => format!("product {number} of {batch}"),
            },
            offset: number * m * n,
            stride: 1,
            expected: match work {
                TaskWork::SgemmScaled => {
                    Expected::Scaled { problem, alpha: f64::from(alpha), beta: f64::from(beta), start: start.clone() }
                }
                TaskWork::Bf16gemmBiasRelu => Expected::Activated { problem, bias: bias.repeat(m) },
                TaskWork::Bf16gemmRowBiasRelu => {
                    let of_rows = bias.iter().flat_map(|bias| std::iter::repeat_n(*bias, n));
                    Expected::Activated { problem, bias: of_rows.collect() }
                }
                _ => Expected::Product(problem),
            },
        });
    }
    let mut inputs = vec![a, b];
    inputs.extend((!bias.is_empty()).then_some(bias));
    let right_on_integers = data == Data::Reals;
    Trial { alpha, beta, pieces, right_on_integers, threads, ..Trial::new(work, shape, data, inputs, start) }
}

/// Returns an operand in the kernel's layout.
fn stored<T: Accumulator>(x: &[T], rows: usize, cols: usize, is_transposed: bool) -> Vec<T> {
    if is_transposed { transposed(x, rows, cols) } else { x.to_vec() }
}

impl<T: Accumulator> Trial<T> {
    /// Returns a launch that nothing is compared with.
    fn new(work: TaskWork, shape: Shape, data: Data, inputs: Vec<Vec<T>>, start: Vec<T>) -> Self {
        Self {
            shape,
            data,
            inputs,
            operands: work.operands(),
            start,
            alpha: 1.0,
            beta: 0.0,
            pieces: Vec::new(),
            right_on_integers: false,
            threads: 1,
        }
    }

    /// Returns a launch for sizes where the expected result of a GEMM would take longer than the launch.
    pub fn without_answer(work: TaskWork, shape: Shape, seed: u64) -> Self {
        if work.is_transpose() {
            return transpose(work, shape, seed, 1);
        }
        let Shape { m, n, k } = shape;
        let reals = |operand: u64, n: usize| elements::<T>(Data::Reals, seed, operand, k, n);
        let batch = work.batch();
        let mut inputs = vec![reals(0, batch * m * k), reals(1, batch * k * n)];
        inputs.extend(Some(work.biases(shape)).filter(|n| *n > 0).map(|n| reals(3, n)));
        Self::new(work, shape, Data::Reals, inputs, vec![T::POISON; batch * m * n])
    }

    /// Returns the bytes of each buffer before the launch, with its name: of the inputs, then of the output.
    pub fn buffers(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        let inputs = self.inputs.iter().zip([("A", self.operands), ("B", self.operands), ("bias", Format::Fp32)]);
        inputs.chain([(&self.start, ("C", Format::Fp32))]).map(|(values, (name, format))| {
            let mut bytes = Vec::new();
            for value in values {
                match format {
                    Format::Fp32 | Format::Tf32 => value.append_to(&mut bytes),
                    Format::Bf16 => Bf16::from_f64(value.to_f64()).append_to(&mut bytes),
                    Format::E4m3 => E4m3::from_f64(value.to_f64()).append_to(&mut bytes),
                }
            }
            (name, bytes)
        })
    }

    /// Returns the argument for a parameter of this name. The output is the buffer after the inputs.
    pub fn argument(&self, name: &str) -> Option<Argument> {
        let Shape { m, n, k } = self.shape;
        let size = |n: usize| Argument::Int(i32::try_from(n).unwrap_or(i32::MAX));
        Some(match name {
            "M" | "rows" => size(m),
            "N" | "cols" => size(n),
            "K" => size(k),
            // Tiles that the blocks of v11's persistent kernels do not share.
            "whole" => Argument::Int(0),
            "alpha" => Argument::Float(self.alpha),
            "beta" => Argument::Float(self.beta),
            "A" | "in" => Argument::Buffer(0),
            "B" if self.inputs.len() > 1 => Argument::Buffer(1),
            "bias" => Argument::Buffer(2),
            "C" | "out" => Argument::Buffer(self.inputs.len()),
            _ => return None,
        })
    }

    pub fn is_right(&self, got: &[T]) -> bool {
        self.pieces.iter().all(|piece| piece.compare(got, self.threads).1.is_right())
    }

    /// Returns the indices of the wrong elements of an output.
    pub fn wrong_elements(&self, got: &[T]) -> Vec<usize> {
        let of_piece = |piece: &Piece<T>| {
            let answer = piece.expected.answer();
            let places = (0..answer.rows()).flat_map(|row| (0..answer.cols()).map(move |col| (row, col)));
            let elements = (piece.offset..).step_by(piece.stride).zip(places);
            let is_wrong = |(at, (row, col)): (usize, (usize, usize))| {
                let error: f64 = (got[at].to_f64() - answer.want(row, col)).abs();
                (!verify::is_inside(error, answer.bound(row, col))).then_some(at)
            };
            elements.filter_map(is_wrong).collect::<Vec<usize>>()
        };
        self.pieces.iter().flat_map(of_piece).collect()
    }

    /// Compares an output with the expected result: `None` when it is right.
    pub fn mismatch(&self, task: &Task, got: &[T]) -> Option<Mismatch> {
        self.pieces.iter().find_map(|piece| {
            let (part, comparison) = piece.compare(got, self.threads);
            (!comparison.is_right()).then(|| self.wrong(task, piece, &part, &comparison))
        })
    }

    fn wrong(&self, task: &Task, piece: &Piece<T>, got: &[T], comparison: &Comparison) -> Mismatch {
        let (work, transposed) = if task.work.is_transpose() {
            (catalog::Work::Transpose, [false; 2])
        } else {
            (catalog::Work::Sgemm, task.work.transposed())
        };
        // Sums of αA · B are those of a product whose A is α times as large; a βC in addition hides them.
        let terms = match &piece.expected {
            Expected::Product(problem) => Some((1.0, problem)),
            Expected::Scaled { problem, alpha, beta, .. } if *beta == 0.0 => Some((*alpha, problem)),
            Expected::Scaled { .. } | Expected::Activated { .. } | Expected::Transposed { .. } => None,
        };
        let terms = terms.map(|(alpha, problem)| {
            let Shape { m, n, k } = problem.shape;
            let a = problem.a.iter().map(|x| T::from_f64(x.to_f64() * alpha)).collect::<Vec<T>>();
            Terms {
                shape: problem.shape,
                a: T::widen(&stored(&a, m, k, transposed[0])),
                b: T::widen(&stored(&problem.b, k, n, transposed[1])),
                transposed,
            }
        });
        let answer = piece.expected.answer();
        let result = WrongResult {
            answer: &answer,
            got: T::widen(got),
            comparison,
            work,
            // A library call has no tiles that we know of.
            tile: (task.tile != [1, 1]).then(|| task.tile.map(|n| n as usize)),
            terms,
            right_on_integers: self.right_on_integers,
        };
        let Diagnosis { first, mut likely_cause, clue, subject, map, .. } = result.diagnose();
        if subject == Subject::NotNumbers && matches!(piece.expected, Expected::Scaled { beta: 0.0, .. }) {
            likely_cause = Some(
                "they are NaN: where beta is 0, C holds NaN and is not to be read, since 0 * NaN is NaN; or something is \
                 read from memory that nobody wrote, or computed as 0 / 0"
                    .to_owned(),
            );
        }
        let factor = factors(&piece.expected, &answer, got);
        let (clue, subject) = if factor.is_some() { (Clue::Specific, Subject::Unknown) } else { (clue, subject) };
        let mut on = self.data.label().to_owned();
        if matches!(piece.expected, Expected::Scaled { .. }) {
            on.push_str(&format!(", alpha = {}, beta = {}", self.alpha, self.beta));
        }
        if !piece.name.is_empty() {
            on.push_str(&format!(", {}", piece.name));
        }
        let n_wrong = comparison.n_wrong;
        let wrong = WrongOutput {
            shape: self.shape,
            on,
            n_wrong,
            n: got.len(),
            first,
            diagnosis: factor.or(likely_cause),
            map,
        };
        Mismatch { clue, subject, wrong }
    }
}

/// Names what was forgotten of αA · B + βC, or of bias and activation, where a wrong result looks so.
fn factors<T: Accumulator>(expected: &Expected<T>, answer: &Answer<'_>, got: &[T]) -> Option<String> {
    const MIN_SAMPLES: usize = 8;
    let all = |value: &dyn Fn(usize) -> f64| {
        let cols = answer.cols();
        got.len() >= MIN_SAMPLES
            && got.iter().enumerate().all(|(at, got)| {
                let bound = answer.bound(at / cols, at % cols);
                (got.to_f64() - value(at)).abs() <= bound
            })
    };
    let first = |rules: &[(&str, &dyn Fn(usize) -> f64)]| {
        rules.iter().find(|(_, value)| all(value)).map(|(words, _)| (*words).to_owned())
    };
    match expected {
        Expected::Product(_) | Expected::Transposed { .. } => None,
        Expected::Activated { problem: Problem { c, .. }, bias } => {
            let bias = |at: usize| bias[at].to_f64();
            first(&[
                ("the bias is missing", &|at| c[at].max(0.0)),
                ("the activation is missing: what is negative should be 0", &|at| c[at] + bias(at)),
                ("the bias is added after the activation", &|at| c[at].max(0.0) + bias(at)),
                ("it is A * B, without bias and activation", &|at| c[at]),
            ])
        }
        // With β = 0 the result is not one of those that lack or misuse it: it would be right.
        Expected::Scaled { problem: Problem { c, .. }, alpha, beta, start } => {
            let before = |at: usize| if *beta == 0.0 { 0.0 } else { beta * start[at].to_f64() };
            first(&[
                ("beta * C is missing", &|at| alpha * c[at]),
                ("the product is not multiplied by alpha", &|at| c[at] + before(at)),
                ("C is added without beta", &|at| alpha * c[at] + start[at].to_f64()),
                ("beta * C is multiplied by alpha, too", &|at| alpha * (c[at] + before(at))),
                ("it is A * B, without alpha and beta", &|at| c[at]),
            ])
        }
    }
}

//! Every variant against FP64, on shapes that hide nothing.

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::*;

/// No two alike in m, n and k; one less and one more than tiles, panels and blocks.
#[rustfmt::skip]
const SHAPES: [Shape; 12] = [
    shape(1, 1, 1), shape(1, 97, 5), shape(97, 1, 5), shape(5, 7, 1), shape(6, 16, 255), shape(7, 17, 257),
    shape(11, 31, 256), shape(13, 33, 512), shape(64, 513, 63), shape(191, 65, 129), shape(389, 251, 101),
    shape(250, 511, 300),
];

pub(crate) const fn shape(m: usize, n: usize, k: usize) -> Shape {
    Shape { m, n, k }
}

pub(crate) struct Problem {
    shape: Shape,
    a: Vec<f32>,
    b: Vec<f32>,
    want: Vec<f64>,
    /// Σ |a · b| of each element.
    sum_abs: Vec<f64>,
}

impl Problem {
    /// Reals between −1 and 1.
    pub(crate) fn reals(shape: Shape) -> Self {
        Self::new(shape, |rng| rng.random_range(-1.0..1.0))
    }

    /// Integers so small that every sum of theirs is exact in FP32.
    pub(crate) fn integers(shape: Shape) -> Self {
        Self::new(shape, |rng| rng.random_range(-3..=3_i8).into())
    }

    fn new(shape: Shape, mut draw: impl FnMut(&mut ChaCha8Rng) -> f32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1969);
        let mut matrix = |len| (0..len).map(|_| draw(&mut rng)).collect::<Vec<_>>();
        let (a, b) = (matrix(shape.m * shape.k), matrix(shape.k * shape.n));
        let (mut want, mut sum_abs) = (vec![0.0; shape.m * shape.n], vec![0.0; shape.m * shape.n]);
        for row in 0..shape.m {
            for k in 0..shape.k {
                for col in 0..shape.n {
                    let product = f64::from(a[row * shape.k + k]) * f64::from(b[k * shape.n + col]);
                    want[row * shape.n + col] += product;
                    sum_abs[row * shape.n + col] += product.abs();
                }
            }
        }
        Self { shape, a, b, want, sum_abs }
    }

    /// Runs on a C full of NaN and returns the largest error as a part of its bound; NaN when there is a NaN.
    pub(crate) fn worst(
        &self,
        multiply: impl Fn(Shape, &[f32], &[f32], &mut [f32]),
        bound: impl Fn(f64) -> f64,
    ) -> f64 {
        let mut c = vec![f32::NAN; self.want.len()];
        multiply(self.shape, &self.a, &self.b, &mut c);
        let wants = self.want.iter().zip(&self.sum_abs);
        c.iter().zip(wants).fold(0.0, |worst, (&got, (want, &sum_abs))| {
            let error = (f64::from(got) - want).abs();
            // An error of nothing is within a bound of nothing.
            let part = if error == 0.0 { 0.0 } else { error / bound(sum_abs) };
            if part > worst || part.is_nan() { part } else { worst }
        })
    }
}

/// Returns the bound of a sum in any order: k products and k − 1 sums, each rounded.
fn textbook_bound(k: usize) -> impl Fn(f64) -> f64 {
    move |sum_abs| (k as f64 + 2.0) * UNIT * sum_abs
}

#[track_caller]
pub(crate) fn check(shape: Shape, multiply: impl Fn(Shape, &[f32], &[f32], &mut [f32])) {
    let worst = Problem::reals(shape).worst(&multiply, textbook_bound(shape.k));
    assert!(worst <= 1.0, "reals, {shape}: {worst} of the bound");
    let worst = Problem::integers(shape).worst(&multiply, |_| 0.0);
    assert!(worst == 0.0, "integers, {shape}: not exact");
}

#[test]
fn every_variant_is_right_on_awkward_shapes() {
    for (name, multiply) in VARIANTS {
        eprintln!("{name}");
        SHAPES.into_iter().for_each(|shape| check(shape, multiply));
    }
}

#[test]
fn a_wrong_product_is_noticed() {
    let problem = Problem::reals(shape(13, 33, 64));
    let bound = textbook_bound(64);
    let swapped =
        |shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]| serial::multiply(shape, &b[..a.len()], b, c);
    assert!(problem.worst(swapped, &bound) > 1.0);
    let unwritten = |shape: Shape, a: &[f32], b: &[f32], c: &mut [f32]| {
        serial::multiply(shape, a, b, c);
        c[0] = f32::NAN;
    };
    assert!(problem.worst(unwritten, &bound).is_nan());
}

#[test]
fn variants_are_those_of_the_catalogue() {
    let step = catalog::find("v00").expect("a step");
    let listed: Vec<_> = step.kernels.iter().map(|kernel| kernel.name).collect();
    assert_eq!(VARIANTS.map(|(name, _)| name).as_slice(), listed);
}

//! Sizes of problems: those on record, those that break kernels, those whose results are hashed.

#[cfg(test)]
mod tests;

use crate::{Format, Shape, Work};

/// Returns a shape by its sides, as a command line takes them: M = N = K; M and N of a transpose; M, N and K.
const fn shape(sides: &[usize]) -> Shape {
    match *sides {
        [side] => Shape::square(side),
        [m, n] => Shape { m, n, k: 0 },
        [m, n, k] => Shape { m, n, k },
        _ => panic!("a shape has one to three sides"),
    }
}

/// Shapes such as `4096`, `30000 x 333` and `1023 x 1025 x 1021`.
macro_rules! shapes {
    ($($side:literal $(x $more:literal)*),* $(,)?) => { const { &[$(shape(&[$side $(, $more)*])),*] } };
}

/// Returns the sizes for which results are kept on record.
pub fn recorded(work: Work) -> &'static [Shape] {
    match work {
        Work::Transpose => shapes![
            1024 x 1024, 4096 x 4096, 8192 x 8192, 16384 x 16384, 1023 x 1025, 30000 x 333, 333 x 30000,
        ],
        // The CPU is slow, so sizes between two powers of two are left out.
        Work::Cpu => shapes![
            256, 512, 1024, 2048, 4096, 8192, 1000, 1023 x 1025 x 1021, 16384 x 128 x 1024, 128 x 16384 x 1024,
        ],
        _ => shapes![
            256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 1000,
            1023 x 1025 x 1021, 16384 x 128 x 1024, 128 x 16384 x 1024,
        ],
    }
}

/// Awkward shapes of products.
const PRODUCTS: &[Shape; 15] = shapes![
    1 x 1 x 1, 1 x 129 x 3, 131 x 1 x 5, 1 x 1 x 97, 7 x 5 x 3, 31 x 33 x 17, 33 x 31 x 1, 64 x 64 x 8, 64 x 96 x 16,
    127 x 129 x 9, 129 x 127 x 7, 128 x 128 x 24, 101 x 103 x 107, 132 x 260 x 40, 300 x 140 x 60,
];

/// Returns [`PRODUCTS`] and four more for box copies: one row, tiles that end inside a box, and many rounds of a ring.
const fn with_boxes() -> [Shape; PRODUCTS.len() + 4] {
    let mut all = [shape(&[1, 8, 8]); PRODUCTS.len() + 4];
    let mut at = 0;
    while at < PRODUCTS.len() {
        all[at] = PRODUCTS[at];
        at += 1;
    }
    all[at] = shape(&[130, 264, 208]);
    all[at + 1] = shape(&[257, 72, 656]);
    all[at + 2] = shape(&[1, 8, 16]);
    all
}

/// Returns the shapes that break kernels: one, primes, one less and one more than a tile, a sum shorter than a tile,
/// wide, tall, an odd number of tiles. All small: each is run with all checks.
pub fn awkward(work: Work) -> &'static [Shape] {
    match work {
        Work::Transpose => shapes![
            1 x 1, 1 x 67, 67 x 1, 7 x 5, 31 x 33, 33 x 31, 32 x 64, 63 x 65, 65 x 63, 96 x 32, 101 x 211, 128 x 260,
            257 x 127, 127 x 129,
        ],
        // Copies of boxes need rows of a multiple of 16 bytes, which few of `PRODUCTS` have.
        Work::Tensor { .. } => const { &with_boxes() },
        _ => PRODUCTS,
    }
}

/// Returns the shapes whose C is hashed, small enough for the emulated device: one element, one row, sizes that no tile
/// divides, rows that start on 16 bytes, more tiles than that device has multiprocessors, an odd number of pairs of
/// tiles, and sums longer than a ring of tiles. For rows of e4m3, K is a multiple of 16.
pub fn summed(work: Work) -> &'static [Shape] {
    match work {
        Work::Tensor { operands: Format::E4m3, .. } => {
            shapes![1 x 8 x 16, 64, 600 x 200 x 80, 264 x 520 x 144, 136 x 264 x 784, 512]
        }
        Work::Transpose => shapes![1 x 1, 129 x 127, 264 x 520],
        _ => shapes![
            1 x 1 x 1, 1 x 8 x 8, 64, 129 x 127 x 65, 600 x 200 x 72, 264 x 520 x 136, 136 x 264 x 776, 512,
        ],
    }
}

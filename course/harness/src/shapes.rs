//! Which sizes: the default, those on record, those that break kernels; and what does not fit anywhere.

use catalog::{Format, Shape, Work};

use crate::device::Gpu;

/// The size that is used when none is given.
pub fn default_size(emulated: bool) -> usize {
    match emulated {
        true => 512,
        false => 4096,
    }
}

/// The largest of the recorded shapes that the emulated device is given, by volume. It counts, and counts grow as the
/// loops do: what takes it minutes shows nothing new.
pub const EMULATED: f64 = 1.1e9;

const fn product(m: usize, n: usize, k: usize) -> Shape {
    Shape { m, n, k }
}

const fn matrix(m: usize, n: usize) -> Shape {
    Shape { m, n, k: 0 }
}

/// The sizes for which results are kept on record.
pub fn recorded(work: Work) -> &'static [Shape] {
    match work {
        Work::Transpose => {
            const {
                &[
                    matrix(1024, 1024),
                    matrix(4096, 4096),
                    matrix(8192, 8192),
                    matrix(16384, 16384),
                    matrix(1023, 1025),
                    matrix(30000, 333),
                    matrix(333, 30000),
                ]
            }
        }
        // The CPU takes long, and sizes between two powers of two say nothing more.
        Work::Cpu => {
            const {
                &[
                    Shape::square(256),
                    Shape::square(512),
                    Shape::square(1024),
                    Shape::square(2048),
                    Shape::square(4096),
                    Shape::square(8192),
                    Shape::square(1000),
                    product(1023, 1025, 1021),
                    product(16384, 128, 1024),
                    product(128, 16384, 1024),
                ]
            }
        }
        _ => {
            const {
                &[
                    Shape::square(256),
                    Shape::square(512),
                    Shape::square(1024),
                    Shape::square(1536),
                    Shape::square(2048),
                    Shape::square(3072),
                    Shape::square(4096),
                    Shape::square(6144),
                    Shape::square(8192),
                    Shape::square(1000),
                    product(1023, 1025, 1021),
                    product(16384, 128, 1024),
                    product(128, 16384, 1024),
                ]
            }
        }
    }
}

/// Awkward shapes of products.
const PRODUCTS: [Shape; 15] = [
    product(1, 1, 1),
    product(1, 129, 3),
    product(131, 1, 5),
    product(1, 1, 97),
    product(7, 5, 3),
    product(31, 33, 17),
    product(33, 31, 1),
    product(64, 64, 8),
    product(64, 96, 16),
    product(127, 129, 9),
    product(129, 127, 7),
    product(128, 128, 24),
    product(101, 103, 107),
    product(132, 260, 40),
    product(300, 140, 60),
];

/// And four more: one row, tiles that end inside of a box, and as many tiles as make a ring go round.
const fn with_boxes() -> [Shape; PRODUCTS.len() + 4] {
    let mut all = [product(1, 8, 8); PRODUCTS.len() + 4];
    let mut at = 0;
    while at < PRODUCTS.len() {
        all[at] = PRODUCTS[at];
        at += 1;
    }
    all[at] = product(130, 264, 208);
    all[at + 1] = product(257, 72, 656);
    all[at + 2] = product(1, 8, 16);
    all
}

/// Shapes that break kernels: one, primes, one less and one more than a tile, a sum shorter than a tile, wide, tall,
/// an odd number of tiles. All small: each is run with all checks.
pub fn awkward(work: Work) -> &'static [Shape] {
    match work {
        Work::Transpose => {
            const {
                &[
                    matrix(1, 1),
                    matrix(1, 67),
                    matrix(67, 1),
                    matrix(7, 5),
                    matrix(31, 33),
                    matrix(33, 31),
                    matrix(32, 64),
                    matrix(63, 65),
                    matrix(65, 63),
                    matrix(96, 32),
                    matrix(101, 211),
                    matrix(128, 260),
                    matrix(257, 127),
                    matrix(127, 129),
                ]
            }
        }
        // Copies of boxes need rows of a multiple of 16 bytes, which few of the others have.
        Work::Tensor { .. } => const { &with_boxes() },
        _ => const { &PRODUCTS },
    }
}

/// Shapes whose C is hashed, small enough for the emulated device: one element, one row, sizes that no tile divides, rows
/// that start on 16 bytes, more tiles than [`MULTIPROCESSORS`](records::sums::MULTIPROCESSORS), an odd number of pairs of
/// tiles, and sums that are longer than a ring of tiles.
const SUMMED: [Shape; 8] = [
    product(1, 1, 1),
    product(1, 8, 8),
    Shape::square(64),
    product(129, 127, 65),
    product(600, 200, 72),
    product(264, 520, 136),
    product(136, 264, 776),
    Shape::square(512),
];

/// The shapes of `sums`. Rows of e4m3 start on 16 bytes where K is a multiple of 16.
pub fn summed(work: Work) -> &'static [Shape] {
    match work {
        Work::Tensor { operands: Format::E4m3, .. } => {
            const {
                &[
                    product(1, 8, 16),
                    Shape::square(64),
                    product(600, 200, 80),
                    product(264, 520, 144),
                    product(136, 264, 784),
                    Shape::square(512),
                ]
            }
        }
        Work::Transpose => const { &[matrix(1, 1), matrix(129, 127), matrix(264, 520)] },
        _ => &SUMMED,
    }
}

/// Returns whether a problem fits: operands on the device, and what verifying it takes in memory.
///
/// # Errors
/// With what is needed and what there is.
pub fn fits(work: Work, shape: Shape, gpu: &Gpu) -> Result<(), String> {
    let Shape { m, n, k } = shape;
    let what = match work {
        Work::Transpose => "a transpose",
        _ => "a product",
    };
    let area = |rows: usize, cols: usize| rows as f64 * cols as f64;
    let operands = match work {
        Work::Transpose => vec![area(m, n), area(n, m)],
        _ => vec![area(m, k), area(k, n), area(m, n)],
    };
    let elements: f64 = operands.iter().sum();
    let needed = work.bytes(shape);
    let width = needed / elements;
    let there = gpu.about.memory as f64;
    if needed > there {
        return Err(format!(
            "{what} of {shape} needs {} on the device, which has {}",
            bytes(needed),
            bytes(there)
        ));
    }
    // The inputs and the answer in FP64, what came out, and room for a second problem of the same kind.
    let host = 2.0 * elements * (width + 8.0) + if gpu.emulator.is_some() { needed } else { 0.0 };
    if let Some(there) = available_memory().filter(|there| host > *there) {
        return Err(format!(
            "verifying {what} of {shape} needs {} of memory, and {} are free",
            bytes(host),
            bytes(there)
        ));
    }
    Ok(())
}

/// Free memory of this machine, in bytes.
fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0)
}

/// A number of bytes with a decimal unit, such as `1.5 GB`.
pub fn bytes(n: f64) -> String {
    const STEP: f64 = 1000.0;
    let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = n;
    let mut unit = 0;
    while value >= STEP && unit + 1 < units.len() {
        value /= STEP;
        unit += 1;
    }
    match value {
        v if v >= 100.0 || v.fract() == 0.0 => format!("{v:.0} {}", units[unit]),
        v => format!("{v:.1} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_unit_that_reads_best() {
        let shown: Vec<_> = [0.0, 999.0, 1500.0, 141e9, 1.2e17].map(bytes).into();
        assert_eq!(shown, ["0 B", "999 B", "1.5 KB", "141 GB", "120 PB"]);
    }

    #[test]
    fn awkward_shapes_are_awkward() {
        for work in [Work::Sgemm, Work::Transpose] {
            let shapes = awkward(work);
            assert!(shapes.iter().any(|s| s.m == 1 && s.n == 1));
            assert!(shapes.iter().any(|s| s.m > 1 && s.n == 1) && shapes.iter().any(|s| s.m == 1 && s.n > 1));
            for tile in [32, 128] {
                assert!(shapes.iter().any(|s| s.m == tile + 1 || s.n == tile + 1), "{tile} + 1");
                assert!(shapes.iter().any(|s| s.m == tile - 1 || s.n == tile - 1), "{tile} - 1");
            }
        }
    }
}

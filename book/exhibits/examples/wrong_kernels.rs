//! A step's kernels with one mistake each, beside what our tools report.
//!
//! `cargo run -p exhibits --example wrong_kernels v05_other_columns`

use std::error::Error;

use exhibits::pitfall::{self, Pitfall};
use harness::Shape;

/// A wrong kernel, and how it is caught.
struct Wrong {
    name: &'static str,
    pitfall: Pitfall,
    shape: Shape,
    caught: fn(&Wrong) -> Result<(), Box<dyn Error>>,
}

type Named = (&'static str, Pitfall);

/// A wrong kernel, with its entry point and the edge of a block's tile.
macro_rules! wrong {
    ($name:literal, $kernel:literal, $edge:literal) => {{
        let ptx = include_str!(concat!("../kernels/", $name, ".ptx"));
        ($name, Pitfall { ptx, kernel: $kernel, geometry: pitfall::in_a_row::<$edge> })
    }};
}

const KERNELS: [Wrong; 12] = [
    // v02 without its second barrier.
    on_emulator(wrong!("v02_one_barrier", "sgemm_v02_tile16", 16), [16, 16, 40]),
    // v03 with sums that begin again in each tile.
    by_check(wrong!("v03_begins_again", "sgemm_v03_from_shared", 128), [64, 96, 16]),
    // v03 with half of a tile.
    on_emulator(wrong!("v03_half_a_tile", "sgemm_v03_from_shared", 128), [100, 1, 1]),
    // v03 with a bound that forgets the loop.
    on_emulator(wrong!("v03_wrong_index", "sgemm_v03_from_shared", 128), [1, 1, 1]),
    // v04 with an index that counts groups.
    on_emulator(wrong!("v04_without_width", "sgemm_v04_float4", 128), [1, 1, 1]),
    // v05 that stores to other columns than it multiplied.
    by_check(wrong!("v05_other_columns", "sgemm_v05_bank_conflict_free", 128), [128, 128, 24]),
    // v06 with rows that do not begin on 16 bytes.
    on_emulator(wrong!("v06_padded_by_one", "sgemm_v06_outer_product", 128), [1, 1, 1]),
    // v06 that stores its second piece beside the first.
    by_check(wrong!("v06_second_piece", "sgemm_v06_outer_product", 128), [128, 128, 24]),
    // v07 without the product after the loop.
    by_check(wrong!("v07_last_product", "sgemm_v07_double_buffer", 128), [128, 128, 24]),
    // v07 with buffers that are never exchanged.
    on_emulator(wrong!("v07_one_buffer", "sgemm_v07_double_buffer", 128), [16, 16, 24]),
    // v08 with a return above the barrier.
    transpose(wrong!("v08_early_return", "transpose_tile", 32)),
    // v08 without its barrier.
    transpose(wrong!("v08_no_barrier", "transpose_tile", 32)),
];

/// Caught by the checks of the emulated device, on a product of ones.
const fn on_emulator((name, pitfall): Named, [m, n, k]: [usize; 3]) -> Wrong {
    Wrong {
        name,
        pitfall,
        shape: Shape { m, n, k },
        caught: |wrong| pitfall::wrong(&wrong.pitfall, wrong.shape),
    }
}

/// Caught by what `check` compares.
const fn by_check(named: Named, shape: [usize; 3]) -> Wrong {
    Wrong {
        caught: |wrong| {
            drop(exhibits::device()?);
            pitfall::what_check_says(&wrong.pitfall, wrong.shape);
            Ok(())
        },
        ..on_emulator(named, shape)
    }
}

/// Returns a transpose by tiles, caught by the checks of the emulated device or by its result.
const fn transpose(named: Named) -> Wrong {
    Wrong {
        caught: |wrong| {
            let (Pitfall { ptx, kernel, .. }, Shape { m, n, .. }) = (wrong.pitfall, wrong.shape);
            pitfall::wrong_transpose(ptx, kernel, m, n)
        },
        ..on_emulator(named, [33, 40, 0])
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let wrong = exhibits::chosen(&KERNELS, |wrong| wrong.name)?;
    (wrong.caught)(wrong)
}

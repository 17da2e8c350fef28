//! Shapes on which a kernel is judged.

#[cfg(test)]
mod tests;

use catalog::Shape;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use tasks::Task;

const N_HIDDEN: usize = 8;

/// Shapes on which a kernel is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeSet {
    /// Those that `check` uses.
    Public,
    /// Also random ones, for grading.
    WithHidden,
}

/// Returns a shape that shows patterns, the awkward shapes of the course, shapes around the task's own tile, and hidden
/// ones from the seed.
///
/// Most mistakes show on any shape, and the first one on which a kernel fails is explained: one wrong element tells
/// nothing about rows, columns, tiles and iterations. So the first has two and a half tiles in both directions.
pub fn shapes_for(task: &Task, seed: u64, set: ShapeSet) -> Vec<Shape> {
    let is_transpose = task.work.is_transpose();
    let work = if is_transpose { catalog::Work::Transpose } else { catalog::Work::Sgemm };
    let [rows, cols] = task.tile.map(|n| n as usize);
    let mut shapes = Vec::new();
    // Calls on the host have no tiles.
    if task.host.is_none() && rows.max(cols) <= LARGEST_TILE {
        let k = if is_transpose { 0 } else { SEVERAL_ROUNDS };
        shapes.push(Shape { m: 2 * rows + rows / 2 + 1, n: 2 * cols + cols / 2 - 1, k });
    }
    shapes.extend(catalog::sizes::awkward(work));
    let mut add = |m: usize, n: usize, k: usize| {
        let shape = Shape { m, n, k: if is_transpose { 0 } else { k } };
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    };
    // The awkward shapes do not fit every tile: more than one tile, and one with an edge.
    if rows.max(cols) <= LARGEST_TILE {
        add(rows + 1, 2 * cols - 1, 12);
        add(2 * rows, cols, 32);
    }
    if set == ShapeSet::WithHidden {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ HIDDEN);
        for _ in 0..N_HIDDEN {
            let mut size = |most: usize| rng.random_range(1..=most);
            let (m, n, k) = (size(280), size(280), size(70));
            add(m, n, k);
        }
    }
    shapes
}

/// Steps of k: more than two rounds of the deepest tiles, the last one partly filled.
const SEVERAL_ROUNDS: usize = 67;
/// Limit for the added shapes, because larger ones take long.
const LARGEST_TILE: usize = 256;
/// Separates the hidden shapes from the inputs of the same seed.
const HIDDEN: u64 = 0x5eed_0f5a_a9e5;

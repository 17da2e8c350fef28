//! Picture of v02's walk over tiles: the tiles of A and of B that one block reads, in order.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use catalog::Shape;

use crate::machine::{self, WarpPosition};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

const KERNEL: &str = "sgemm_v02_tile32";
const SIZE: usize = 128;
const BLOCK: [u32; 2] = [2, 1];

/// Returns the tiles of a matrix that one warp of the block reads, in order, as (row, column) of tiles.
fn tiles(buffer: usize, warp: u32, edge: usize) -> anyhow::Result<Vec<(usize, usize)>> {
    let trace = machine::product(KERNEL, Shape::square(SIZE), WarpPosition { block: BLOCK, warp })?;
    let mut order: Vec<(usize, usize)> = Vec::new();
    for reached in trace.global(buffer) {
        for (_, offset) in reached.offsets {
            let index = (offset / 4) as usize;
            let tile = (index / SIZE / edge, index % SIZE / edge);
            if order.last() != Some(&tile) {
                order.push(tile);
            }
        }
    }
    Ok(order)
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let [edge, _] = machine::tile(KERNEL)?;
    let edge = edge as usize;
    let n = SIZE / edge;
    let walk: Vec<Vec<(usize, usize)>> = (0..3).map(|buffer| tiles(buffer, 0, edge)).collect::<anyhow::Result<_>>()?;
    let mut drawing = Drawing::titled(
        format!("One block of v02 walks along K, {edge} at a time"),
        format!(
            "Three matrices of {SIZE} by {SIZE}, cut into tiles of {edge}: B above, A to the left, C in the corner. The \
             block at row {}, column {} of C reads the tiles of A in its row from left to right and the tiles of B in its \
             column from top to bottom, one of each per round.",
            BLOCK[1], BLOCK[0]
        ),
    );
    let cell = 42.0;
    let size = cell * n as f64;
    let (left, right) = (WIDTH - 2.0 * size - 44.0, WIDTH - size);
    let (top, low) = (44.0, 44.0 + size + 44.0);
    let matrices = [("A", left, low, "a", "a2"), ("B", right, top, "b", "b2"), ("C", right, low, "c", "c2")];
    for (i, (name, x, y, full, light)) in matrices.into_iter().enumerate() {
        let frame = Rect::new(x, y, size, size);
        drawing.rect("faint", frame);
        let rounds: BTreeMap<(usize, usize), usize> =
            walk[i].iter().enumerate().map(|(round, tile)| (*tile, round)).collect();
        for (tile, round) in &rounds {
            let r = frame.cell(cell, *tile);
            let done = i == 2;
            // The page's style plays the rounds by these classes.
            let class = if done { format!("{full} sum") } else { format!("{light} round-{}", round + 1) };
            drawing.rect(&class, r);
            let (cx, cy) = r.middle();
            if !done {
                drawing.text("strong", Anchor::Middle, (cx, cy + 5.0), (round + 1).to_string());
            }
        }
        for line in 0..=n {
            let at = cell * line as f64;
            drawing.line("line", (x + at, y), (x + at, y + size));
            drawing.line("line", (x, y + at), (x + size, y + at));
        }
        let ink = ["ink-a", "ink-b", "ink-c"][i];
        drawing.text(&format!("strong {ink}"), Anchor::Start, (x, y - 8.0), name);
    }
    // Arrows of the walk, beside the tiles.
    let row = low + cell * (f64::from(BLOCK[1]) + 0.5);
    let col = right + cell * (f64::from(BLOCK[0]) + 0.5);
    drawing.arrow("line-a", (right - 38.0, row), (right - 6.0, row));
    drawing.arrow("line-b", (col, low - 38.0), (col, low - 6.0));
    drawing.text("dim", Anchor::Middle, (left + size / 2.0, low + size + 18.0), "k0 = 0, 32, … →");

    let mut y = top + 2.0;
    for (round, (a, b)) in walk[0].iter().zip(&walk[1]).enumerate() {
        let k0 = round * edge;
        drawing.text("", Anchor::Start, (0.0, y + 12.0), format!("{}: k0 = {k0}", round + 1));
        drawing.note(y + 30.0, format!("A tile ({},{}), B tile ({},{})", a.0, a.1, b.0, b.1));
        y += 43.0;
    }
    Ok(drawing.finish(low + size + 26.0))
}

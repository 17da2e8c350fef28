//! Pictures of the elements of C that each thread owns, from the stores of real kernels.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use catalog::Shape;

use crate::machine::{self, Reached, WarpPosition};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

const FLOAT: u64 = 4;
const LANES: usize = 32;
/// Units per element, where the whole tile is shown.
const CELL: f64 = 1.0;

/// Returns the elements of C that each lane of a warp stores, as (row, column).
fn owned(kernel: &'static str, edge: usize, warp: u32) -> anyhow::Result<Vec<BTreeSet<(usize, usize)>>> {
    let shape = Shape { m: edge, n: edge, k: 8 };
    let position = WarpPosition { block: [0, 0], warp };
    let trace = machine::product(kernel, shape, position)?;
    let mut lanes = vec![BTreeSet::new(); LANES];
    for Reached { access, offsets, .. } in trace.global(2) {
        for (lane, offset) in offsets {
            for byte in (0..u64::from(access.bytes)).step_by(FLOAT as usize) {
                let index = ((offset + byte) / FLOAT) as usize;
                lanes[lane].insert((index / edge, index % edge));
            }
        }
    }
    Ok(lanes)
}

pub(crate) fn draw(kernel: &'static str, id: &str) -> anyhow::Result<String> {
    let [rows, cols] = machine::tile(kernel)?;
    anyhow::ensure!(rows == cols, "{kernel} has no square tile");
    let edge = cols as usize;
    let warp = owned(kernel, edge, 0)?;
    let shown = [(0, "a"), (1, "b"), (2, "c"), (16, "d")];
    let mut drawing = Drawing::titled(
        format!("{id}: one block's tile of C, {edge} × {edge}"),
        format!(
            "The tile of {edge} by {edge} elements of C that one block of {id} owns. The elements of warp 0 are \
             shaded; those of threads 0, 1, 2 and 16 have colours of their own: {}.",
            lines(&warp[0]).join(" ")
        ),
    );
    // The warp's rows, as large as possible.
    let all: BTreeSet<(usize, usize)> = warp.iter().flatten().copied().collect();
    let n_rows = all.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
    let cell = WIDTH / edge as f64;
    let close = Rect::new(0.0, 42.0, WIDTH, cell * n_rows as f64);
    drawing.note(34.0, format!("its rows 0–{}: what warp 0 owns", n_rows - 1));
    // Below them, their place in the tile.
    let frame = Rect::new(0.0, close.bottom() + 14.0, CELL * edge as f64, CELL * edge as f64);
    for (frame, cell) in [(close, cell), (frame, CELL)] {
        drawing.rect("faint", frame);
        drawing.rects("tint", runs(&all).into_iter().map(|run| place(frame, cell, run)));
        for (lane, colour) in shown {
            drawing.rects(colour, runs(&warp[lane]).into_iter().map(|run| place(frame, cell, run)));
        }
        if frame == close {
            drawing.column_lines(frame, cell, 8, 0.6);
            drawing.row_lines(frame, cell, 8, 0.6);
        }
        drawing.rect("frame", frame);
    }

    let x = frame.right() + 16.0;
    let mut y = frame.y + 12.0;
    for (lane, colour) in shown {
        drawing.key(colour, (x, y), format!("thread {lane}"));
        y += 21.0;
    }
    drawing.key("tint", (x, y), "the rest of warp 0");
    let (x, mut y) = (x + 162.0, frame.y + 12.0);
    for line in lines(&warp[0]) {
        drawing.text("dim", Anchor::Start, (x, y), line);
        y += 21.0;
    }
    Ok(drawing.finish(frame.bottom() + 2.0))
}

/// Adjacent elements of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ElementRun {
    row: usize,
    col: usize,
    n: usize,
    n_rows: usize,
}

/// Returns runs of elements; equal runs of consecutive rows are merged.
fn runs(elements: &BTreeSet<(usize, usize)>) -> Vec<ElementRun> {
    let elements: Vec<(usize, usize)> = elements.iter().copied().collect();
    let mut tall: Vec<ElementRun> = Vec::new();
    for run in elements.chunk_by(|left, right| (left.0, left.1 + 1) == *right) {
        let run = ElementRun { row: run[0].0, col: run[0].1, n: run.len(), n_rows: 1 };
        let above = tall.iter_mut().find(|t| t.col == run.col && t.n == run.n && t.row + t.n_rows == run.row);
        match above {
            Some(above) => above.n_rows += 1,
            None => tall.push(run),
        }
    }
    tall
}

fn place(frame: Rect, cell: f64, run: ElementRun) -> Rect {
    let first = frame.cell(cell, (run.row, run.col));
    Rect { width: cell * run.n as f64, height: cell * run.n_rows as f64, ..first }
}

/// Describes a thread's elements, one line for each group.
fn lines(elements: &BTreeSet<(usize, usize)>) -> Vec<String> {
    let rows: BTreeSet<usize> = elements.iter().map(|(row, _)| *row).collect();
    let cols: BTreeSet<usize> = elements.iter().map(|(_, col)| *col).collect();
    let describe = |what: &str, values: BTreeSet<usize>| -> Vec<String> {
        let values: Vec<usize> = values.into_iter().collect();
        let groups: Vec<&[usize]> = values.chunk_by(|left, right| left + 1 == *right).collect();
        let span = |group: &[usize]| format!("{}–{}", group[0], group[group.len() - 1]);
        match groups[..] {
            [group] => vec![format!("{what} {}", span(group))],
            [[_], .., last] => {
                let some: Vec<String> = values.iter().take(3).map(ToString::to_string).collect();
                vec![what.to_owned(), format!("{}, … {}", some.join(", "), last[last.len() - 1])]
            }
            ref several => {
                let spans: Vec<String> = several.iter().map(|group| span(group)).collect();
                vec![what.to_owned(), spans.join(", ")]
            }
        }
    };
    let mut lines = vec!["thread 0 owns".to_owned()];
    lines.extend(describe("rows", rows));
    lines.extend(describe("columns", cols));
    lines
}

//! Compares v05 and v06: the loads by which a thread gets its eight rows and eight columns for one k.

use std::collections::BTreeSet;

use catalog::Shape;

use crate::machine::{self, FIRST};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

const KERNELS: [(&str, &str); 2] = [("sgemm_v05_bank_conflict_free", "v05"), ("sgemm_v06_outer_product", "v06")];
/// Not the first k, where the compiler may hoist loads.
const K: usize = 3;
const LANE: usize = 0;

/// Returns the rows or columns that each load of thread 0 from an array brings at k = [`K`] of the first round.
fn loads(kernel: &'static str, array: &str) -> anyhow::Result<Vec<Vec<usize>>> {
    let edge = machine::constant(kernel, "BM")? as usize;
    let depth = machine::constant(kernel, "BK")? as usize;
    let pad = if array == "a_tile" { machine::constant(kernel, "PAD")? as usize } else { 0 };
    let shape = Shape { m: edge, n: edge, k: depth };
    let trace = machine::product(kernel, shape, FIRST)?;
    let row = edge + pad;
    let mut loads = BTreeSet::new();
    for reached in trace.shared(array).iter().filter(|reached| reached.access.direction.is_load()) {
        let Some(offset) = reached.addresses()[LANE] else { continue };
        let first = (offset / 4) as usize;
        if first / row == K {
            let n = (reached.access.bytes / 4) as usize;
            loads.insert((first % row..first % row + n).collect::<Vec<_>>());
        }
    }
    Ok(loads.into_iter().collect())
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let panel = |(kernel, name)| Ok((name, loads(kernel, "a_tile")?, loads(kernel, "b_tile")?));
    let panels = KERNELS.into_iter().map(panel).collect::<anyhow::Result<Vec<_>>>()?;
    let summary: Vec<String> = panels
        .iter()
        .map(|(name, a, b)| format!("{name} takes {} loads for a_frag and {} for b_frag", a.len(), b.len()))
        .collect();
    let mut drawing = Drawing::titled(
        "One k of one thread: loads, then multiply-adds",
        format!(
            "Two squares of eight by eight multiply-adds, each with a column of A on its left and a row of B above. A box \
             around operands is one load: {}.",
            summary.join("; ")
        ),
    );
    const CELL: f64 = 17.0;
    let mut bottom = 0.0;
    for (i, (name, a, b)) in panels.iter().enumerate() {
        let left = (WIDTH / 2.0 + 10.0) * i as f64;
        let n_rows: usize = a.iter().map(Vec::len).sum();
        let n_cols: usize = b.iter().map(Vec::len).sum();
        drawing.text("strong", Anchor::Start, (left, 38.0), *name);
        let (x, y) = (left + 30.0, 76.0);
        drawing.text("ink-b", Anchor::Start, (x, 62.0 - 8.0), format!("b_frag: {} loads", b.len()));
        let mut at = 0;
        for load in b {
            let r = Rect::new(x + CELL * at as f64, y - 16.0, CELL * load.len() as f64, 13.0);
            drawing.round("b", r.inset(0.8), 2.5);
            at += load.len();
        }
        at = 0;
        for load in a {
            let r = Rect::new(x - 16.0, y + CELL * at as f64, 13.0, CELL * load.len() as f64);
            drawing.round("a", r.inset(0.8), 2.5);
            at += load.len();
        }
        let frame = Rect::new(x, y, CELL * n_cols as f64, CELL * n_rows as f64);
        let cells = (0..n_rows * n_cols).map(|cell| frame.cell(CELL, (cell / n_cols, cell % n_cols)).inset(0.8));
        drawing.rects("c2", cells);
        let (mx, my) = frame.middle();
        drawing.text("strong", Anchor::Middle, (mx, my + 1.0), (n_rows * n_cols).to_string());
        drawing.text("", Anchor::Middle, (mx, my + 18.0), "multiply-adds");
        bottom = frame.bottom();
        drawing.text("ink-a", Anchor::Start, (x - 16.0, bottom + 20.0), format!("a_frag: {} loads", a.len()));
    }
    drawing.note(bottom + 44.0, "One box, one load instruction of the PTX.");
    Ok(drawing.finish(bottom + 52.0))
}

//! Picture for v10: the elements of an MMA instruction that four lanes hold, by the emulated GPU's layout.

#[cfg(test)]
mod tests;

use anyhow::Context as _;
use arithmetic::products::{AccumulatorType, FactorType};
use program::mma::layout::{MmaForm, Types};

use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Lanes with colours of their own: two of the first group of four, one of the second, and the last.
const SHOWN: [(usize, &str); 4] = [(0, "a"), (1, "b"), (4, "c"), (31, "d")];
const M: usize = 16;
const N: usize = 8;
const K: usize = 16;
const CELL: f64 = 13.0;
const GAP: f64 = 18.0;

/// Returns the elements of A, B and D that a lane holds, as (row, column); `packed` of A or B share a register.
pub(crate) fn held(form: MmaForm, packed: usize, lane: usize) -> [Vec<(usize, usize)>; 3] {
    let [n_a, n_b, n_d] = form.registers();
    let in_a = |register| {
        let (row, k) = form.in_a(lane, register);
        (k..k + packed).map(move |k| (row, k))
    };
    let in_b = |register| {
        let (col, k) = form.in_b(lane, register);
        (k..k + packed).map(move |k| (k, col))
    };
    let in_d = |register| form.in_d(lane, register);
    [(0..n_a).flat_map(in_a).collect(), (0..n_b).flat_map(in_b).collect(), (0..n_d).map(in_d).collect()]
}

fn form() -> anyhow::Result<MmaForm> {
    let types = Types::Small(FactorType::Bf16, FactorType::Bf16, AccumulatorType::F32);
    MmaForm::new(M as u8, K as u16, types, None).context("there is no product of 16 x 8 x 16 of bf16")
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let form = form()?;
    let mut drawing = Drawing::titled(
        "mma.sync.m16n8k16 of bf16: what four lanes hold",
        "A of 16 by 16 elements below on the left, B of 16 by 8 above on the right, and their product of 16 by 8 in the \
         corner between. Lane 0 holds four pairs of neighbours of A in rows 0 and 8, four elements of column 0 of B, and \
         two pairs of the product, in rows 0 and 8; lane 1 the next to the right of each in A and in the product, and \
         below in B; lane 4 has rows 1 and 9 and column 1; lane 31 the last of each.",
    );
    let left = (WIDTH - CELL * (K + N) as f64 - GAP) / 2.0;
    let (right, top) = (left + CELL * K as f64 + GAP, 46.0);
    let below = top + CELL * K as f64 + GAP + 14.0;
    let places = [
        ("A", Rect::new(left, below, CELL * K as f64, CELL * M as f64)),
        ("B", Rect::new(right, top, CELL * N as f64, CELL * K as f64)),
        ("D = A · B + C", Rect::new(right, below, CELL * N as f64, CELL * M as f64)),
    ];
    for (matrix, (name, frame)) in places.iter().enumerate() {
        drawing.text("dim", Anchor::Start, (frame.x, frame.y - 6.0), *name);
        drawing.rect("faint", *frame);
        for (lane, colour) in SHOWN {
            drawing.rects(colour, held(form, 2, lane)[matrix].iter().map(|element| frame.cell(CELL, *element)));
        }
        drawing.column_lines(*frame, CELL, 1, 0.6);
        drawing.row_lines(*frame, CELL, 1, 0.6);
        drawing.rect("frame", *frame);
    }
    let mut y = top + 12.0;
    for (lane, colour) in SHOWN {
        let [a, b, d] = held(form, 2, lane).map(|held| held.len());
        let text = match lane {
            0 => format!("lane 0: {a} of A, {b} of B, {d} of D"),
            _ => format!("lane {lane}"),
        };
        drawing.key(colour, (left, y), text);
        y += 21.0;
    }
    Ok(drawing.finish(below + CELL * M as f64 + 2.0))
}

//! Picture for v10: the elements of an MMA instruction that four lanes of the warp hold, by the emulated GPU's
//! layout.

use simt::mma::layout::MmaForm;
use simt::mma::products::{AccumulatorType, FactorType};

use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Lanes with colours of their own: two of the first group of four, one of the second, and the last.
const SHOWN: [(usize, &str); 4] = [(0, "a"), (1, "b"), (4, "c"), (31, "d")];
const M: usize = 16;
const N: usize = 8;
const K: usize = 16;
const CELL: f64 = 13.0;
const GAP: f64 = 18.0;

/// Returns the elements of A, B and D that a lane holds, as (row, column).
fn held(form: MmaForm, lane: usize) -> [Vec<(usize, usize)>; 3] {
    let [n_a, n_b, n_d] = form.registers();
    let pair = |row: usize, col: usize| [(row, col), (row, col + 1)];
    [
        (0..n_a)
            .flat_map(|register| {
                let (row, k) = form.in_a(lane, register);
                pair(row, k)
            })
            .collect(),
        (0..n_b)
            .flat_map(|register| {
                let (col, k) = form.in_b(lane, register);
                [(k, col), (k + 1, col)]
            })
            .collect(),
        (0..n_d).map(|register| form.in_d(lane, register)).collect(),
    ]
}

pub(crate) fn draw() -> anyhow::Result<String> {
    let form =
        MmaForm::new(M as u8, K as u8, Some((FactorType::Bf16, FactorType::Bf16, AccumulatorType::F32)));
    let form = form.ok_or_else(|| anyhow::anyhow!("there is no product of 16 x 8 x 16 of bf16"))?;
    let mut drawing = Drawing::new(
        "One product of a warp, and who holds it",
        "A of 16 by 16 elements below on the left, B of 16 by 8 above on the right, and their product of 16 by 8 in the \
         corner between. Lane 0 holds four pairs of neighbours of A in rows 0 and 8, four elements of column 0 of B, and \
         two pairs of the product, in rows 0 and 8; lane 1 the next to the right of each in A and in the product, and \
         below in B; lane 4 has rows 1 and 9 and column 1; lane 31 the last of each.",
    );
    let title = "mma.sync.m16n8k16 of bf16: what four lanes hold";
    drawing.text("strong", Anchor::Start, (0.0, 14.0), title);
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
            let cells = held(form, lane)[matrix].clone();
            drawing.rects(
                colour,
                cells.into_iter().map(|(row, col)| {
                    Rect::new(frame.x + CELL * col as f64, frame.y + CELL * row as f64, CELL, CELL)
                }),
            );
        }
        let line = |at: f64| at - 0.3;
        let (cols, rows) = ((frame.width / CELL) as usize, (frame.height / CELL) as usize);
        drawing.rects(
            "paper",
            (1..cols).map(|col| Rect::new(line(frame.x + CELL * col as f64), frame.y, 0.6, frame.height)),
        );
        drawing.rects(
            "paper",
            (1..rows).map(|row| Rect::new(frame.x, line(frame.y + CELL * row as f64), frame.width, 0.6)),
        );
        drawing.rect("frame", *frame);
    }
    let mut y = top + 12.0;
    for (lane, colour) in SHOWN {
        drawing.rect(colour, Rect::new(left, y - 11.0, 12.0, 12.0));
        let [a, b, d] = held(form, lane).map(|held| held.len());
        let text = match lane {
            0 => format!("lane 0: {a} of A, {b} of B, {d} of D"),
            _ => format!("lane {lane}"),
        };
        drawing.text("", Anchor::Start, (left + 19.0, y), text);
        y += 21.0;
    }
    Ok(drawing.finish(below + CELL * M as f64 + 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_is_held_once() {
        let form = MmaForm::new(16, 16, Some((FactorType::Bf16, FactorType::Bf16, AccumulatorType::F32)))
            .expect("it is a shape");
        for (matrix, elements) in [M * K, K * N, M * N].into_iter().enumerate() {
            let all: Vec<_> = (0..32).flat_map(|lane| held(form, lane)[matrix].clone()).collect();
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!((all.len(), distinct.len()), (elements, elements));
        }
    }

    #[test]
    fn the_description_is_of_what_is_drawn() {
        let form = MmaForm::new(16, 16, Some((FactorType::Bf16, FactorType::Bf16, AccumulatorType::F32)))
            .expect("it is a shape");
        let [a, b, d] = held(form, 0);
        assert_eq!(a, [(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)]);
        assert_eq!(b, [(0, 0), (1, 0), (8, 0), (9, 0)]);
        assert_eq!(d, [(0, 0), (0, 1), (8, 0), (8, 1)]);
        assert_eq!(held(form, 4)[0][0], (1, 0));
        assert_eq!(held(form, 31)[2].last(), Some(&(15, 7)));
    }
}

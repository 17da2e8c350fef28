//! Boxes in shared memory: where their pieces of 16 bytes lie, and what reads and stores of v11 and v12 reach.

use anyhow::{Context as _, ensure};
use program::mma::warpgroup::{Descriptor, PIECE};
use program::tensor::Swizzle;
use simt::memory::rules::{self, Direction};

use crate::machine::{self, FIRST};
use crate::rings::{RING, STORE};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Bytes of all banks: of a line in the pictures.
const LINE: u32 = 128;
const GROUPS: u32 = LINE / PIECE;

/// Draws how `ldmatrix` and `wgmma` read eight rows of 128 bytes, without and with a swizzle.
pub(crate) fn eight_rows() -> String {
    const READ: u32 = 2;
    const ROWS: u32 = 8;
    const ROW: f64 = 19.0;
    const BETWEEN: f64 = 24.0;
    const TOP: f64 = 68.0;
    let mut drawing = Drawing::titled(
        "Eight rows of 128 bytes, and one 8 × 8 matrix",
        "A matrix of ldmatrix is one piece of each row. Without a swizzle all eight lie in the same banks.",
    );
    let width = (WIDTH - BETWEEN) / 2.0;
    let cell = width / f64::from(GROUPS);
    let bottom = TOP + ROW * f64::from(ROWS);
    let panels = [("no swizzle", Swizzle::None), ("swizzle of 128 bytes", Swizzle::B128)];
    for (left, (heading, swizzle)) in [0.0, width + BETWEEN].into_iter().zip(panels) {
        let place = |row: u32, piece: u32| swizzle.apply(row * LINE + piece * PIECE);
        let lane = |lane: usize| (lane < ROWS as usize).then(|| u64::from(place(lane as u32, READ)));
        let passes = rules::shared_cost(&std::array::from_fn(lane), PIECE, Direction::Load).wavefronts;
        let (ink, class) = if passes > 1 { ("strong ink-bad", "bad") } else { ("strong ink-c", "a") };
        drawing.text("strong", Anchor::Start, (left, 42.0), heading);
        for group in (0..GROUPS).step_by(2) {
            let x = left + cell * (f64::from(group) + 0.5);
            drawing.text("dim", Anchor::Middle, (x, 62.0), (4 * group).to_string());
        }
        for piece in 0..ROWS * GROUPS {
            let (row, piece) = (piece / GROUPS, piece % GROUPS);
            let (y, x) = (place(row, piece) / LINE, place(row, piece) % LINE / PIECE);
            let at = Rect::new(left + cell * f64::from(x), TOP + ROW * f64::from(y), cell, ROW).inset(0.75);
            let shade = if row.is_multiple_of(2) { "faint" } else { "tint" };
            let (class, ink) = if piece == READ { (class, "on") } else { (shade, "") };
            drawing.cell(class, at, ink, piece.to_string());
        }
        let plural = if passes == 1 { "" } else { "es" };
        drawing.text(ink, Anchor::Start, (left, bottom + 19.0), format!("{passes} pass{plural}"));
    }
    let note = format!(
        "Above: the first of four banks. A line: a row of the tile. In the cells: pieces of 16 bytes. Coloured: piece {READ} of \
         each row."
    );
    drawing.finish_with_notes(bottom + 43.0, note)
}

/// Draws what the second MMA of a step reads in a stage of v12, with the distances of its descriptors.
pub(crate) fn descriptors() -> String {
    const MMA: u32 = 1;
    const ROWS: u32 = 64;
    const BOXES: u32 = 4;
    let (eight_rows, of_box) = (8 * LINE, ROWS * LINE);
    let of = |start, leading| Descriptor { start, leading, stride: eight_rows, base: 0, swizzle: Swizzle::B128 };
    let (a, b) = (of(MMA * 2 * PIECE, 0), of(MMA * 16 * LINE, of_box));
    let mut drawing = Drawing::titled(
        "What one MMA of 64 × 256 × 16 reads",
        format!(
            "Left: 64 rows of A, of which it reads two pieces each; the stride distance is {eight_rows} bytes. Right: four \
             boxes of B, of which it reads 16 rows; the leading distance is {of_box} bytes."
        ),
    );
    const ROW: f64 = 3.4;
    const TOP: f64 = 68.0;
    const GAP: f64 = 7.0;
    const FIRST_OF_B: f64 = 160.0;
    const WIDE: f64 = 92.0;
    let narrow = (WIDTH - FIRST_OF_B - 3.0 * GAP) / f64::from(BOXES);
    let height = ROW * f64::from(ROWS);
    let pieces = |left: f64, width: f64, addresses: Vec<u32>| {
        addresses.into_iter().map(move |address| {
            let (offset, cell) = (address % of_box, width / f64::from(GROUPS));
            let x = left + f64::from(address / of_box) * (width + GAP) + cell * f64::from(offset % LINE / PIECE);
            Rect::new(x, TOP + ROW * f64::from(offset / LINE), cell - 0.6, ROW - 0.5)
        })
    };
    drawing.text("", Anchor::Start, (0.0, 40.0), "A: 64 rows");
    drawing.text("", Anchor::Start, (FIRST_OF_B, 40.0), "B: boxes of 64 columns, 64 k each");
    drawing.rect("faint", Rect::new(0.0, TOP, WIDE, height));
    for i in 0..BOXES {
        let x = FIRST_OF_B + f64::from(i) * (narrow + GAP);
        drawing.rect("faint", Rect::new(x, TOP, narrow, height));
        drawing.text("dim", Anchor::Start, (x, TOP - 6.0), format!("{}–{}", 64 * i, 64 * i + 63));
    }
    for (half, class) in [(0, "a"), (1, "b")] {
        drawing.rects(class, pieces(0.0, WIDE, (0..ROWS).map(|row| a.k_major(row, half)).collect()));
        let of_half = |k: u32| (0..BOXES * GROUPS).map(move |piece| b.mn_major(8 * half + k, piece));
        drawing.rects(class, pieces(FIRST_OF_B, narrow, (0..8).flat_map(of_half).collect()));
    }
    // Strides: from a group of eight rows to the next one.
    let down = |drawing: &mut Drawing, x: f64, from: u32| {
        let y = TOP + ROW * f64::from(from);
        drawing.arrow("line-d", (x, y), (x, y + 8.0 * ROW));
    };
    down(&mut drawing, WIDE + 6.0, 0);
    drawing.text("ink-d", Anchor::Start, (WIDE + 12.0, TOP + 6.0 * ROW), format!("{eight_rows}"));
    down(&mut drawing, FIRST_OF_B - 6.0, 16);
    drawing.text("ink-d", Anchor::End, (FIRST_OF_B - 12.0, TOP + 22.0 * ROW), format!("{eight_rows}"));
    let y = TOP + height + 10.0;
    drawing.arrow("line-c", (FIRST_OF_B, y), (FIRST_OF_B + narrow + GAP, y));
    drawing.text("ink-c", Anchor::Start, (FIRST_OF_B + narrow + GAP + 8.0, y + 5.0), format!("leading: {of_box}"));
    drawing.text("dim", Anchor::Start, (0.0, TOP - 6.0), "128 bytes");
    let note = format!(
        "A begins at {} of its tile, B at {} of its first box. Blue: the first 8 of the 16 k. Orange: the other 8. Violet: \
         stride. The addresses are the emulated GPU's.",
        a.start, b.start
    );
    drawing.finish_with_notes(y + 26.0, note)
}

/// Draws the way of accumulators to C: straight, and through a box.
pub(crate) fn epilogue() -> anyhow::Result<String> {
    const ROWS: u64 = 16;
    let warp = Some((FIRST.block, Some(FIRST.warp)));
    let straight = machine::run(&RING.launch(1, 1), warp)?;
    let store = straight.global(2).into_iter().next().context("v12_ring stores nothing")?;
    let (stores, bytes) = (store.addresses(), u64::from(store.access.bytes));
    let row_bytes = 4 * 256;
    let sectors = rules::sectors(&stores, bytes as u32);
    let through = machine::run(&STORE.launch(1, 1), warp)?;
    let found = (0..through.steps.len()).find(|step| through.text(*step).contains("st.shared.v2"));
    let boxed = found.and_then(|step| through.steps[step].1.access.as_ref());
    let boxed = boxed.context("v12_store fills no box")?.addresses;
    let base = boxed.iter().flatten().min().context("no lane stores")? / 1024 * 1024;
    let boxed = boxed.map(|address| address.map(|at| at - base));
    let cost = rules::shared_cost(&boxed, 8, Direction::Store);
    ensure!(cost.wavefronts == cost.ideal, "v12_store has conflicts");
    let mut drawing = Drawing::titled(
        "One store of a warp, straight to C and to a box",
        format!(
            "Left: 16 rows of C, of which the store reaches {sectors} sectors. Right: 16 rows of a box, which it reaches in \
             {} passes.",
            cost.wavefronts
        ),
    );
    const BETWEEN: f64 = 24.0;
    const ROW: f64 = 11.0;
    const TOP: f64 = 48.0;
    let width = (WIDTH - BETWEEN) / 2.0;
    let byte = width / f64::from(LINE);
    for (left, name) in [(0.0, "to C"), (width + BETWEEN, "to a box")] {
        drawing.text("", Anchor::Start, (left, 40.0), name);
        drawing.rects("faint", (0..ROWS).map(|row| Rect::new(left, TOP + ROW * row as f64, width, ROW - 1.5)));
    }
    let at = |left: f64, row: u64, from: u64, bytes: u64| {
        Rect::new(left + byte * from as f64, TOP + ROW * row as f64, byte * bytes as f64 - 0.5, ROW - 1.5)
    };
    let to_c = stores.iter().flatten();
    drawing.rects("a", to_c.map(|offset| at(0.0, offset / row_bytes, offset % row_bytes, bytes)));
    let together = rules::lanes_together(&boxed, 8, Direction::Store);
    for (pass, class) in ["a", "c"].into_iter().enumerate() {
        let lanes = boxed.iter().skip(pass * together).take(together).flatten();
        let right = width + BETWEEN;
        drawing.rects(class, lanes.map(|offset| at(right, offset / 128, offset % 128, 8)));
    }
    drawing.column_lines(Rect::new(0.0, TOP, width, ROW * ROWS as f64), 32.0 * byte, 1, 1.5);
    let bottom = TOP + ROW * ROWS as f64;
    drawing.text("strong", Anchor::Start, (0.0, bottom + 17.0), format!("{sectors} sectors"));
    let passes = format!("{} passes, then the TMA", cost.wavefronts);
    drawing.text("strong", Anchor::Start, (width + BETWEEN, bottom + 17.0), passes);
    const NOTE: &str = "Left: 128 bytes of 16 rows of C, in sectors of 32 bytes. Right: 16 rows of a box, as wide as 32 \
        banks; blue and green are the two passes. FP32, the first store of a warp.";
    Ok(drawing.finish_with_notes(bottom + 42.0, NOTE))
}

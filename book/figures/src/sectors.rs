//! Pictures of the sectors that each lane touches: one warp-wide load of A and of B and the store of C, as they ran.

use std::collections::BTreeSet;

use anyhow::Context as _;
use catalog::Shape;
use simt::memory::rules;

use crate::machine::{self, FIRST, Reached};
use crate::svg::{Anchor, Drawing, Rect, WIDTH, short};

/// Edge of the matrices, so that a row is longer than the part that is shown.
const SIZE: usize = 64;
const SHOWN: usize = 32;
const CELL: f64 = 4.0;
const FLOAT: u64 = 4;
const SECTOR: u64 = 32;

pub(crate) fn draw(kernel: &'static str, title: &str) -> anyhow::Result<String> {
    let trace = machine::product(kernel, Shape::square(SIZE), FIRST)?;
    let names = ["load of A", "load of B", "store of C"];
    let mut drawing = Drawing::titled(
        title,
        format!(
            "Three squares, the first {SHOWN} rows and columns of A, B and C. Marked are the elements that the 32 lanes \
             of one warp reach with one instruction, and the 32-byte sectors that this moves."
        ),
    );
    let edge = CELL * SHOWN as f64;
    let gap = (WIDTH - 3.0 * edge) / 2.0;
    let top = 50.0;
    for (i, name) in names.into_iter().enumerate() {
        let all = trace.global(i);
        let reached = &all[0];
        let x = (edge + gap) * i as f64;
        let ink = ["ink-a", "ink-b", "ink-c"][i];
        drawing.text(&format!("strong {ink}"), Anchor::Start, (x, 40.0), name);
        panel(&mut drawing, i, (x, top), reached);
        let sectors = rules::sectors(&reached.access.addresses, reached.access.bytes);
        let offsets: BTreeSet<u64> = reached.offsets.iter().map(|(_, offset)| *offset).collect();
        let used = 100.0 * (offsets.len() as f64 * FLOAT as f64) / (f64::from(sectors) * SECTOR as f64);
        let plural = if sectors == 1 { "sector" } else { "sectors" };
        let y = top + edge;
        drawing.text("strong", Anchor::Start, (x, y + 20.0), format!("{sectors} {plural}"));
        drawing.text("dim", Anchor::Start, (x, y + 39.0), format!("{} % is used", short(used)));
        drawing.text("dim code", Anchor::Start, (x, y + 58.0), elements(i, reached));
    }
    let y = top + edge + 84.0;
    legend(&mut drawing, y);
    Ok(drawing.finish(y + 8.0))
}

/// Formats rows and columns of the elements, such as `A[0..31][0]`.
fn elements(matrix: usize, reached: &Reached<'_>) -> String {
    let span = |values: Vec<u64>| match (values.iter().min(), values.iter().max()) {
        (Some(low), Some(high)) if low < high => format!("{low}..{high}"),
        (Some(one), _) => one.to_string(),
        _ => String::new(),
    };
    let indices = reached.offsets.iter().map(|(_, offset)| offset / FLOAT);
    let rows = indices.clone().map(|index| index / SIZE as u64).collect();
    let cols = indices.map(|index| index % SIZE as u64).collect();
    format!("{}[{}][{}]", ["A", "B", "C"][matrix], span(rows), span(cols))
}

fn legend(drawing: &mut Drawing, y: f64) {
    drawing.rect("a", Rect::new(0.0, y - 10.0, CELL * 2.5, CELL * 2.5));
    drawing.text("dim", Anchor::Start, (16.0, y), "4 bytes that a lane asks for");
    drawing.rect("a2", Rect::new(226.0, y - 10.0, CELL * 4.0, CELL * 2.5));
    drawing.text("dim", Anchor::Start, (248.0, y), "32-byte sector that moves");
}

/// Draws the top left corner of one matrix, and the part of it that an access touches.
fn panel(drawing: &mut Drawing, matrix: usize, (x, y): (f64, f64), reached: &Reached<'_>) {
    let edge = CELL * SHOWN as f64;
    let frame = Rect::new(x, y, edge, edge);
    drawing.rect("faint", frame);
    let place = |offset: u64| {
        let index = (offset / FLOAT) as usize;
        (index / SIZE, index % SIZE)
    };
    let spot = |place: (usize, usize), cells: f64| Rect { width: CELL * cells, ..frame.cell(CELL, place) };
    let sectors: BTreeSet<u64> = reached.offsets.iter().map(|(_, offset)| offset / SECTOR).collect();
    let floats: BTreeSet<u64> = reached.offsets.iter().map(|(_, offset)| *offset).collect();
    let (light, full) = [("a2", "a"), ("b2", "b"), ("c2", "c")][matrix];
    drawing.rects(light, sectors.iter().map(|sector| spot(place(sector * SECTOR), (SECTOR / FLOAT) as f64)));
    drawing.rects(full, floats.iter().map(|offset| spot(place(*offset), 1.0).inset(0.25)));
    // Lines where sectors begin.
    drawing.column_lines(frame, CELL, (SECTOR / FLOAT) as usize, 0.8);
    drawing.rect("frame", frame);
}

/// Draws four strides of one warp-wide load of 4 bytes per lane, computed from the rule alone.
pub(crate) fn strides() -> String {
    const WORDS: u64 = 256;
    const HEIGHT: f64 = 22.0;
    let word = WIDTH / WORDS as f64;
    let mut drawing = Drawing::titled(
        "32 lanes, 4 bytes each, at four strides",
        "Four strips of memory, 1024 bytes long. The 32 lanes of a warp load 4 bytes each, one, two, four and eight \
         words apart; the sectors that move grow from 4 to 32, and the part of them that is used falls from all to an \
         eighth.",
    );
    let mut y = 38.0;
    for stride in [1, 2, 4, 8] {
        let addresses: rules::Addresses = std::array::from_fn(|lane| Some(lane as u64 * stride * FLOAT));
        let n = rules::sectors(&addresses, FLOAT as u32);
        let used = 100.0 * 32.0 * FLOAT as f64 / (f64::from(n) * SECTOR as f64);
        drawing.text("", Anchor::Start, (0.0, y), format!("stride {stride}"));
        drawing.text("strong", Anchor::Start, (110.0, y), format!("{n} sectors"));
        drawing.text("dim", Anchor::End, (WIDTH, y), format!("{} % is used", short(used)));
        let strip = Rect::new(0.0, y + 7.0, WIDTH, HEIGHT);
        drawing.rect("faint", strip);
        let sectors: BTreeSet<u64> = addresses.iter().flatten().map(|a| a / SECTOR).collect();
        let wide = word * (SECTOR / FLOAT) as f64;
        let sector = |sector: &u64| Rect::new(wide * *sector as f64, strip.y, wide, HEIGHT);
        drawing.rects("a2", sectors.iter().map(sector));
        let word_box = |a: &u64| Rect::new(word * (a / FLOAT) as f64 + 0.2, strip.y + 3.0, word - 0.4, HEIGHT - 6.0);
        drawing.rects("a", addresses.iter().flatten().map(word_box));
        let borders = 1..WORDS * FLOAT / SECTOR;
        drawing.rects("paper", borders.map(|i| Rect::new(wide * i as f64 - 0.5, strip.y, 1.0, HEIGHT)));
        drawing.rect("frame", strip);
        y = strip.bottom() + 22.0;
    }
    legend(&mut drawing, y);
    drawing.finish(y + 8.0)
}

/// Draws the elements of A and of B that a warp of `v03` and of `v04` loads with one instruction.
pub(crate) fn wide_loads() -> anyhow::Result<String> {
    const KERNELS: [(&str, &str); 2] =
        [("sgemm_v03_from_shared", "v03: 4 bytes per lane"), ("sgemm_v04_float4", "v04: 16 bytes per lane")];
    /// Rows and columns shown of B, and units per element.
    const B: (usize, usize, f64) = (8, 128, 2.2);
    let shape = Shape { m: 128, n: 128, k: SIZE };
    let mut drawing = Drawing::titled(
        "One load of A, one of B: a float, and a float4",
        "For v03 and for v04 the corner of A and of B that a block reads first. Marked are the elements that one warp \
         loads with one instruction. A request of v04 moves four times as many sectors, so it takes a quarter of the \
         requests to bring in the same tiles.",
    );
    let mut y = 36.0;
    for (kernel, heading) in KERNELS {
        let trace = machine::product(kernel, shape, FIRST)?;
        drawing.text("strong", Anchor::Start, (0.0, y), heading);
        y += 12.0;
        let edge = CELL * SHOWN as f64;
        for (i, (x, width, rows, cols, cell)) in
            [(0.0, SIZE, SHOWN, SHOWN, CELL), (WIDTH - B.1 as f64 * B.2, shape.n, B.0, B.1, B.2)]
                .into_iter()
                .enumerate()
        {
            let all = trace.global(i);
            let reached = all.first().context("a kernel that loads")?;
            let n = rules::sectors(&reached.access.addresses, reached.access.bytes);
            let name = ["A", "B"][i];
            let frame = Rect::new(x, y, cell * cols as f64, cell * rows as f64);
            drawing.rect("faint", frame);
            let floats: BTreeSet<usize> = reached
                .offsets
                .iter()
                .flat_map(|(_, offset)| (*offset..offset + u64::from(reached.access.bytes)).step_by(4))
                .map(|offset| (offset / FLOAT) as usize)
                .filter(|index| index / width < rows && index % width < cols)
                .collect();
            let spots = floats.iter().map(|index| frame.cell(cell, (index / width, index % width)));
            drawing.rects(["a", "b"][i], spots);
            drawing.column_lines(frame, cell, (SECTOR / FLOAT) as usize, 0.8);
            drawing.rect("frame", frame);
            let text_y = frame.bottom() + 19.0;
            let ink = ["strong ink-a", "strong ink-b"][i];
            drawing.text(ink, Anchor::Start, (x, text_y), format!("{name}: {n} sectors"));
            if i == 1 {
                let rounds = SIZE / machine::constant(kernel, "BK")? as usize;
                let requests = (trace.global(0).len() + trace.global(1).len()) / rounds;
                let text = format!("{requests} requests per warp and round");
                drawing.text("dim", Anchor::Start, (x, text_y + 24.0), text);
            }
        }
        y += edge + 50.0;
    }
    drawing.note(y - 14.0, "Shown: 32 × 32 of A, 8 × 128 of B; lines: sectors");
    Ok(drawing.finish(y - 6.0))
}

/// Draws three ways to distribute a transpose: the loads of a warp from `in`, and its stores to `out`.
pub(crate) fn transposes() -> anyhow::Result<String> {
    const KERNELS: [(&str, &str); 3] =
        [("transpose_coalesced_reads", "reads"), ("transpose_coalesced_writes", "writes"), ("transpose_tile", "tile")];
    let mut drawing = Drawing::titled(
        "A transpose: one load of in, one store of out",
        "Three columns, one per kernel: coalesced_reads, coalesced_writes and tile. Above, what one warp loads of in; \
         below, what it stores to out. The first two run down a column on one of the sides; by way of a tile both \
         sides run along rows.",
    );
    let edge = CELL * SHOWN as f64;
    let gap = (WIDTH - 3.0 * edge) / 2.0;
    let mut y = 44.0;
    for (i, (kernel, name)) in KERNELS.into_iter().enumerate() {
        let trace = machine::transpose(kernel, SIZE, FIRST)?;
        let x = (edge + gap) * i as f64;
        drawing.text("strong", Anchor::Start, (x, 36.0), name);
        y = 44.0;
        for buffer in 0..2 {
            let all = trace.global(buffer);
            let reached = all.first().context("a kernel that moves something")?;
            let n = rules::sectors(&reached.access.addresses, reached.access.bytes);
            panel(&mut drawing, 2 * buffer, (x, y), reached);
            let what = ["in", "out"][buffer];
            drawing.text("strong", Anchor::Start, (x, y + edge + 19.0), format!("{what}: {n} sectors"));
            y += edge + 34.0;
        }
    }
    legend(&mut drawing, y + 6.0);
    Ok(drawing.finish(y + 14.0))
}

//! Which lane touches which sector: one warp-wide load of A and of B and the store of C, as they ran.

use std::collections::BTreeSet;

use ladder::Shape;
use simt::memory::rules;

use crate::machine::{self, FIRST, Reached};
use crate::svg::{Anchor, Drawing, Rect, WIDTH, short};

/// Matrices are this wide, so that a row is more than what is shown of it.
const SIZE: usize = 64;
/// Rows and columns shown.
const SHOWN: usize = 32;
const CELL: f64 = 4.0;
const FLOAT: u64 = 4;
const SECTOR: u64 = 32;

pub(crate) fn draw(kernel: &'static str, title: &str) -> anyhow::Result<String> {
    let trace = machine::product(kernel, Shape::square(SIZE), FIRST)?;
    let names = ["load of A", "load of B", "store of C"];
    let mut drawing = Drawing::new(
        title,
        format!(
            "Three squares, the first {SHOWN} rows and columns of A, B and C. Marked are the elements that the 32 lanes \
             of one warp reach with one instruction, and the 32-byte sectors that this moves."
        ),
    );
    drawing.text("strong", Anchor::Start, (0.0, 14.0), title);
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
        let asked: BTreeSet<u64> = reached.offsets.iter().map(|(_, offset)| *offset).collect();
        let used = 100.0 * (asked.len() as f64 * FLOAT as f64) / (f64::from(sectors) * SECTOR as f64);
        let plural = if sectors == 1 { "sector" } else { "sectors" };
        let y = top + edge;
        drawing.text(
            "strong",
            Anchor::Start,
            (x, y + 20.0),
            format!("{sectors} {plural}"),
        );
        drawing.text(
            "dim",
            Anchor::Start,
            (x, y + 39.0),
            format!("{} % is used", short(used)),
        );
        drawing.text("dim code", Anchor::Start, (x, y + 58.0), elements(i, reached));
    }
    let y = top + edge + 84.0;
    legend(&mut drawing, y);
    Ok(drawing.finish(y + 8.0))
}

/// `A[0..31][0]`: the rows and columns of the elements.
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

/// The top left corner of one matrix, with what an access touches of it.
fn panel(drawing: &mut Drawing, matrix: usize, (x, y): (f64, f64), reached: &Reached<'_>) {
    let edge = CELL * SHOWN as f64;
    drawing.rect("faint", Rect::new(x, y, edge, edge));
    let place = |offset: u64| {
        let index = (offset / FLOAT) as usize;
        (index / SIZE, index % SIZE)
    };
    let spot = |(row, col): (usize, usize), cells: f64| {
        Rect::new(x + CELL * col as f64, y + CELL * row as f64, CELL * cells, CELL)
    };
    let sectors: BTreeSet<u64> = reached
        .offsets
        .iter()
        .map(|(_, offset)| offset / SECTOR)
        .collect();
    let floats: BTreeSet<u64> = reached.offsets.iter().map(|(_, offset)| *offset).collect();
    let (light, full) = [("a2", "a"), ("b2", "b"), ("c2", "c")][matrix];
    drawing.rects(
        light,
        sectors
            .iter()
            .map(|sector| spot(place(sector * SECTOR), (SECTOR / FLOAT) as f64)),
    );
    drawing.rects(
        full,
        floats.iter().map(|offset| spot(place(*offset), 1.0).inset(0.25)),
    );
    // Where sectors begin.
    let per_sector = (SECTOR / FLOAT) as usize;
    let borders = (per_sector..SHOWN).step_by(per_sector);
    drawing.rects(
        "paper",
        borders.map(|col| Rect::new(x + CELL * col as f64 - 0.4, y, 0.8, edge)),
    );
    drawing.rect("frame", Rect::new(x, y, edge, edge));
}

/// Four strides of one warp-wide load of 4 bytes per lane, by the rule alone.
pub(crate) fn strides() -> String {
    const WORDS: u64 = 256;
    const HEIGHT: f64 = 22.0;
    let word = WIDTH / WORDS as f64;
    let title = "32 lanes, 4 bytes each, at four strides";
    let mut drawing = Drawing::new(
        title,
        "Four strips of memory, 1024 bytes long. The 32 lanes of a warp load 4 bytes each, one, two, four and eight \
         words apart; the sectors that move grow from 4 to 32, and the part of them that is used falls from all to an \
         eighth.",
    );
    drawing.text("strong", Anchor::Start, (0.0, 14.0), title);
    let mut y = 38.0;
    for stride in [1, 2, 4, 8] {
        let addresses: rules::Addresses = std::array::from_fn(|lane| Some(lane as u64 * stride * FLOAT));
        let n = rules::sectors(&addresses, FLOAT as u32);
        let used = 100.0 * 32.0 * FLOAT as f64 / (f64::from(n) * SECTOR as f64);
        drawing.text("", Anchor::Start, (0.0, y), format!("stride {stride}"));
        drawing.text("strong", Anchor::Start, (110.0, y), format!("{n} sectors"));
        drawing.text(
            "dim",
            Anchor::End,
            (WIDTH, y),
            format!("{} % is used", short(used)),
        );
        let strip = Rect::new(0.0, y + 7.0, WIDTH, HEIGHT);
        drawing.rect("faint", strip);
        let sectors: BTreeSet<u64> = addresses.iter().flatten().map(|a| a / SECTOR).collect();
        let wide = word * (SECTOR / FLOAT) as f64;
        let sector = |sector: &u64| Rect::new(wide * *sector as f64, strip.y, wide, HEIGHT);
        drawing.rects("a2", sectors.iter().map(sector));
        let asked = |a: &u64| {
            Rect::new(
                word * (a / FLOAT) as f64 + 0.2,
                strip.y + 3.0,
                word - 0.4,
                HEIGHT - 6.0,
            )
        };
        drawing.rects("a", addresses.iter().flatten().map(asked));
        let borders = 1..WORDS * FLOAT / SECTOR;
        drawing.rects(
            "paper",
            borders.map(|i| Rect::new(wide * i as f64 - 0.5, strip.y, 1.0, HEIGHT)),
        );
        drawing.rect("frame", strip);
        y = strip.bottom() + 22.0;
    }
    legend(&mut drawing, y);
    drawing.finish(y + 8.0)
}

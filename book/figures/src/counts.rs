//! Picture of each step's memory traffic for the same arithmetic: counted, not timed.

use catalog::{Shape, text::three_figures};
use counters::Counters;

use crate::machine;
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Large enough for a main loop, small enough to run every time.
pub(crate) const SHAPE: Shape = Shape { m: 256, n: 256, k: 512 };

pub(crate) const KERNELS: &[(&str, &str)] = &[
    ("sgemm_v01_row_per_lane", "v01 row"),
    ("sgemm_v01_col_per_lane", "v01 col"),
    ("sgemm_v02_tile32", "v02"),
    ("sgemm_v03_from_shared", "v03"),
    ("sgemm_v04_float4", "v04"),
    ("sgemm_v05_bank_conflict_free", "v05"),
    ("sgemm_v06_outer_product", "v06"),
    ("sgemm_v07_double_buffer", "v07"),
];

/// A column: its title, and the counter that it shows.
type Column = (&'static str, &'static str, fn(&Counters) -> u64);

const COLUMNS: [Column; 4] = [
    ("global", "requests", Counters::global_requests),
    ("global", "sectors", Counters::global_sectors),
    ("shared", "wavefronts", Counters::wavefronts),
    ("of these", "too many", Counters::excess),
];

pub(crate) fn draw() -> anyhow::Result<String> {
    /// Multiply-adds of 32 lanes by which the counts are divided.
    const PER: f64 = 64.0;
    let mut rows = Vec::new();
    for (kernel, label) in KERNELS {
        let counters = machine::counters(kernel, SHAPE)?;
        let per = PER * 32.0 / counters.fmas as f64;
        rows.push((*label, COLUMNS.map(|(_, _, count)| count(&counters) as f64 * per)));
    }
    let summary: Vec<String> = rows
        .iter()
        .map(|(label, values)| {
            let [requests, sectors, wavefronts, excess] = values.map(three_figures);
            format!("{label} {requests}, {sectors}, {wavefronts}, {excess}")
        })
        .collect();
    let mut drawing = Drawing::titled(
        format!("Asked of memory for {PER} warp-wide multiply-adds"),
        format!(
            "A table with bars: for each step the requests to global memory, their sectors, the wavefronts of shared \
             memory, and how many of those a better layout would save. {}.",
            summary.join("; ")
        ),
    );
    const LABELS: f64 = 64.0;
    let width = (WIDTH - LABELS) / COLUMNS.len() as f64;
    let right = |column: usize| LABELS + width * (column + 1) as f64;
    for (column, (first, second, _)) in COLUMNS.into_iter().enumerate() {
        drawing.text("dim", Anchor::End, (right(column), 38.0), first);
        drawing.text("dim", Anchor::End, (right(column), 56.0), second);
    }
    let mut y = 64.0;
    for (label, values) in &rows {
        drawing.text("strong", Anchor::Start, (0.0, y + 15.0), *label);
        for (column, value) in values.iter().enumerate() {
            let most = rows.iter().map(|(_, values)| values[column]).fold(0.0, f64::max);
            let room = width - 10.0;
            let frame = Rect::new(right(column) - room, y + 20.0, room, 6.0);
            // Logarithmic over four powers of ten: a bar that is a quarter shorter means ten times less.
            let part = (1.0 + (value / most).log10() / 4.0).clamp(0.0, 1.0);
            drawing.rect("faint", frame);
            let length = room * part;
            let class = if column == 3 { "bad" } else { ["a", "a", "b"][column] };
            if *value > 0.0 && length > 0.0 {
                drawing.rect(class, Rect::new(frame.right() - length, frame.y, length, frame.height));
            }
            let shown = if *value == 0.0 { "0".to_owned() } else { three_figures(*value) };
            drawing.text("", Anchor::End, (right(column), y + 15.0), shown);
        }
        y += 33.0;
    }
    let foot = [
        format!("Counted on the emulated GPU at {SHAPE}."),
        "Bars are logarithmic. Shared loads as ptxas merges them.".to_owned(),
    ];
    Ok(drawing.finish_with_notes(y + 14.0, foot.join("\n")))
}

//! Picture of the kinds of memory: who shares them, and the size of their transfers.

use records::Record;

use crate::recorded::Recorded;
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// A kind of memory: its name, its scope, and how it is accessed.
const LEVELS: [(&str, &str, &str, &str); 4] = [
    ("registers", "one thread", "by name", "c2"),
    ("shared memory, L1 cache", "one block", "32 banks, 4 bytes each", "b2"),
    ("L2 cache", "all blocks", "sectors of 32 bytes", "d2"),
    ("global memory", "all blocks, and the host", "sectors of 32 bytes", "a2"),
];

pub(crate) fn draw(record: &Record) -> anyhow::Result<String> {
    let mut drawing = Drawing::titled(
        "Where data lives, and how it is reached",
        "Four boxes, wider from top to bottom: registers belong to one thread, shared memory and the L1 cache to one \
         block, the L2 cache and global memory to all. Beside the first and the last stands what was measured.",
    );
    let recorded = Recorded::new(record);
    let roof = recorded.roofline()?;
    const HEIGHT: f64 = 62.0;
    let top = |level: usize| 30.0 + (HEIGHT + 8.0) * level as f64;
    for (i, (name, scope, access, class)) in LEVELS.into_iter().enumerate() {
        let y = top(i);
        drawing.round(class, Rect::new(0.0, y, 275.0 + 55.0 * i as f64, HEIGHT), 6.0);
        drawing.text("strong", Anchor::Start, (14.0, y + 26.0), name);
        drawing.text("dim", Anchor::Start, (14.0, y + 47.0), format!("{scope}; {access}"));
        let (rate, what, x) = match i {
            0 => (format!("{:.1} TFLOP/s", roof.fp32_tflops), "multiply-adds", WIDTH),
            3 => (format!("{:.2} TB/s", roof.copy_gbs / 1000.0), "copied", WIDTH - 14.0),
            _ => continue,
        };
        drawing.text("strong", Anchor::End, (x, y + 26.0), rate);
        drawing.text("dim", Anchor::End, (x, y + 47.0), what);
    }
    let y = top(LEVELS.len());
    drawing.note(y + 14.0, format!("Measured: {}.", recorded.provenance()));
    Ok(drawing.finish(y + 22.0))
}

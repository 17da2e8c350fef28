//! Time lines: a lane for each that works, with a bar for each of its doings.

use std::fmt::Display;

use crate::svg::{Anchor, Drawing, Rect, WIDTH};

pub(crate) struct Bar {
    class: &'static str,
    from: f64,
    to: f64,
    word: String,
}

impl Bar {
    pub(crate) fn new(class: &'static str, from: f64, to: f64) -> Self {
        Self { class, from, to, word: String::new() }
    }

    /// Returns the bar of a span of whole units, with a word inside.
    pub(crate) fn of(class: &'static str, [from, to]: [usize; 2], word: impl Display) -> Self {
        Self { class, from: from as f64, to: to as f64, word: word.to_string() }
    }
}

/// Lanes that share a scale.
pub(crate) struct Lanes {
    pub(crate) left: f64,
    /// The units at the right edge.
    pub(crate) last: f64,
    pub(crate) row: f64,
}

impl Lanes {
    pub(crate) fn x(&self, at: f64) -> f64 {
        self.left + at / self.last * (WIDTH - self.left)
    }

    /// Draws a name and a remark above lanes; returns their upper edge.
    pub(crate) fn head(&self, drawing: &mut Drawing, y: f64, name: &str, remark: String) -> f64 {
        drawing.text("", Anchor::Start, (0.0, y + 14.0), name);
        drawing.text("dim", Anchor::End, (WIDTH, y + 14.0), remark);
        y + 21.0
    }

    /// Draws a lane at `y`; returns the upper edge of the next.
    pub(crate) fn lane(&self, drawing: &mut Drawing, y: f64, label: impl AsRef<str>, bars: &[Bar]) -> f64 {
        let height = self.row - 3.0;
        drawing.note(y + height / 2.0 + 5.0, label);
        drawing.rect("faint", Rect::new(self.left, y, WIDTH - self.left, height));
        for Bar { class, from, to, word } in bars {
            // A gap separates consecutive bars.
            let r = Rect::new(self.x(*from), y, (self.x(*to) - self.x(*from) - 0.5).max(0.5), height);
            match word.as_str() {
                "" => drawing.rect(class, r),
                // Light colours end in 2.
                word => drawing.cell(class, r, if class.ends_with('2') { "" } else { "on" }, word),
            }
        }
        y + self.row
    }
}

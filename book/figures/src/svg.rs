//! Writes SVG: shapes with classes, and one style sheet for all pictures.
//!
//! Pictures are inlined in the book's pages and take their colours, light or dark; opened alone they follow the
//! system's theme. A phone shows [`WIDTH`] units in some 340 pixels, so text is 14.5 units high and nothing is
//! smaller. A plotting library would fix the colours, so axes are drawn here, too.

#[cfg(test)]
mod tests;

use std::fmt::{Display, Write as _};

use catalog::text::{escaped, wrapped};

/// Width of all pictures, in the units of the coordinates.
pub(crate) const WIDTH: f64 = 440.0;

/// A picture in the making: SVG elements, and the text alternative.
pub(crate) struct Drawing {
    title: String,
    description: String,
    body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle by its upper left corner and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    /// Returns a rectangle that is smaller by `by` on each side.
    pub(crate) fn inset(self, by: f64) -> Self {
        Self::new(self.x + by, self.y + by, self.width - 2.0 * by, self.height - 2.0 * by)
    }

    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }

    fn short(self) -> [String; 4] {
        [self.x, self.y, self.width, self.height].map(short)
    }

    /// Returns a square cell of a grid that begins at this rectangle's upper left corner.
    pub(crate) fn cell(self, edge: f64, (row, col): (usize, usize)) -> Self {
        Self::new(self.x + edge * col as f64, self.y + edge * row as f64, edge, edge)
    }

    pub(crate) fn middle(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

/// Style sheet of all pictures. `a`, `b`, `c` are the matrices; `bad` marks costs. An indented line continues a rule.
const STYLE: &str = include_str!("../../theme/figures.css");

/// Formats a number with at most two decimal places.
pub(crate) fn short(value: f64) -> String {
    match catalog::text::number(value, 2) {
        zero if zero == "-0" => "0".to_owned(),
        text => text,
    }
}

impl Drawing {
    /// Starts a picture with its title, which names its subject, at the top. The description is its text alternative.
    pub(crate) fn titled(title: impl Into<String>, description: impl Into<String>) -> Self {
        let mut drawing = Self { title: title.into(), description: description.into(), body: String::new() };
        drawing.text("strong", Anchor::Start, (0.0, 14.0), drawing.title.clone());
        drawing
    }

    fn push(&mut self, element: impl Display) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }

    pub(crate) fn rect(&mut self, class: &str, r: Rect) {
        self.rects(class, [r]);
    }

    pub(crate) fn round(&mut self, class: &str, r: Rect, radius: f64) {
        let ([x, y, w, h], radius) = (r.short(), short(radius));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>"
        ));
    }

    /// Begins a link to a page of the book, which [`Drawing::end_link`] ends.
    pub(crate) fn link(&mut self, page: &str) {
        self.push(format_args!("<a href=\"{}\">", escaped(page)));
    }

    pub(crate) fn end_link(&mut self) {
        self.push("</a>");
    }

    /// Draws rectangles of one class as one path, which takes a tenth of the bytes.
    pub(crate) fn rects(&mut self, class: &str, rects: impl IntoIterator<Item = Rect>) {
        let mut path = String::new();
        for r in rects {
            let [x, y, w, h] = r.short();
            write!(path, "M{x} {y}h{w}v{h}h-{w}z").expect("a string takes everything");
        }
        if !path.is_empty() {
            self.path(class, &path);
        }
    }

    /// Draws a path; one that follows another of its class goes on with it.
    pub(crate) fn path(&mut self, class: &str, path: &str) {
        const END: &str = "\"/>\n";
        let begin = format!("<path class=\"{class}\" d=\"");
        let goes_on = self.body.lines().last().is_some_and(|last| last.starts_with(&begin));
        match self.body.strip_suffix(END).filter(|_| goes_on) {
            Some(body) => self.body.truncate(body.len()),
            None => self.body += &begin,
        }
        self.body += path;
        self.body += END;
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.polyline(class, &[from, to]);
    }

    pub(crate) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            write!(path, "{letter}{} {}", short(*x), short(*y)).expect("a string takes everything");
        }
        self.path(class, &path);
    }

    pub(crate) fn arrow(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        let (bx, by) = (to.0 - 6.0 * ux, to.1 - 6.0 * uy);
        let (lx, ly) = (bx - 3.5 * uy, by + 3.5 * ux);
        let (rx, ry) = (bx + 3.5 * uy, by - 3.5 * ux);
        let path = [from.0, from.1, to.0, to.1, lx, ly, to.0, to.1, rx, ry].map(short);
        let [x0, y0, x1, y1, x2, y2, x3, y3, x4, y4] = path;
        self.path(class, &format!("M{x0} {y0}L{x1} {y1}M{x2} {y2}L{x3} {y3}L{x4} {y4}"));
    }

    pub(crate) fn circle(&mut self, class: &str, at: (f64, f64), radius: f64) {
        let (x, y, r) = (short(at.0), short(at.1), short(radius));
        self.push(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    /// Draws text of the usual size; `y` is its baseline.
    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: impl AsRef<str>) {
        let (x, y) = (short(at.0), short(at.1));
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escaped(text.as_ref());
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        self.push(format_args!("<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    /// Draws a remark at the left edge; `y` is its baseline.
    pub(crate) fn note(&mut self, y: f64, text: impl AsRef<str>) {
        self.text("dim", Anchor::Start, (0.0, y), text);
    }

    /// Draws a text in lines below each other, the first one with its baseline at `y`, and finishes the drawing.
    pub(crate) fn finish_with_notes(mut self, mut y: f64, text: impl AsRef<str>) -> String {
        /// Letters of a line, at a little more than the mean width of English.
        const LINE: usize = 56;
        for line in wrapped(text.as_ref(), "", LINE).lines() {
            self.note(y, line);
            y += 19.0;
        }
        self.finish(y - 11.0)
    }

    /// Draws a rectangle with a word in its middle.
    pub(crate) fn cell(&mut self, class: &str, r: Rect, ink: &str, word: impl AsRef<str>) {
        self.round(class, r, 2.0);
        let (x, y) = r.middle();
        self.text(ink, Anchor::Middle, (x, y + 5.0), word);
    }

    /// Draws lines between the columns of a grid of cells, every `every` columns.
    pub(crate) fn column_lines(&mut self, frame: Rect, cell: f64, every: usize, width: f64) {
        let n = (frame.width / cell).round() as usize;
        let line = |i| Rect::new(frame.x + cell * i as f64 - width / 2.0, frame.y, width, frame.height);
        self.rects("paper", (every..n).step_by(every).map(line));
    }

    /// Draws lines between the rows of a grid of cells, every `every` rows.
    pub(crate) fn row_lines(&mut self, frame: Rect, cell: f64, every: usize, width: f64) {
        let n = (frame.height / cell).round() as usize;
        let line = |i| Rect::new(frame.x, frame.y + cell * i as f64 - width / 2.0, frame.width, width);
        self.rects("paper", (every..n).step_by(every).map(line));
    }

    /// Draws an entry of a legend; `y` is the baseline of its text.
    pub(crate) fn key(&mut self, class: &str, (x, y): (f64, f64), text: impl AsRef<str>) {
        self.rect(class, Rect::new(x, y - 11.0, 12.0, 12.0));
        self.text("", Anchor::Start, (x + 19.0, y), text);
    }

    /// Returns the contents of the SVG file for a drawing of this height.
    pub(crate) fn finish(self, height: f64) -> String {
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        let style = STYLE.replace("\n  ", "");
        // The comment has no two hyphens: opened alone the file is XML, which forbids them.
        format!(
            "<!-- made by `figures write`, of book/figures -->\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tile-figure\" viewBox=\"0 0 {} {}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n<style>\n{style}</style>\n{}</svg>\n",
            short(WIDTH),
            short(height),
            self.body
        )
    }
}

/// Returns a picture for pages outside of the book that select by theme: with fixed colours, and without links.
pub(crate) fn standalone(svg: &str, dark: bool) -> String {
    const SYSTEM: &str = "@media (prefers-color-scheme:dark){";
    let never = if dark { "@media all{" } else { "@media not all{" };
    let lines = svg.lines().filter(|line| !line.starts_with("<a ") && *line != "</a>");
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    text.replace(SYSTEM, never)
}

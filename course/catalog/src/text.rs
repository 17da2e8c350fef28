//! Tables of text: aligned columns, and colour only on a terminal.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::IsTerminal as _;

/// A table of cells under headings: the first column is text, the others are numbers, aligned to the right.
#[derive(Debug, Clone, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    n_left: usize,
}

impl Table {
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Self { headings: headings.into_iter().map(Into::into).collect(), rows: Vec::new(), n_left: 1 }
    }

    /// Sets how many of the first columns are text, aligned to the left.
    #[must_use]
    pub fn left(mut self, n: usize) -> Self {
        self.n_left = n;
        self
    }

    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let is_empty = |column: usize| self.rows.iter().all(|row| row.get(column).is_none_or(String::is_empty));
        for column in (0..self.headings.len()).rev().filter(|column| is_empty(*column)).collect::<Vec<_>>() {
            for row in self.rows.iter_mut().chain([&mut self.headings]).filter(|row| column < row.len()) {
                row.remove(column);
            }
            self.n_left -= usize::from(column < self.n_left);
        }
        self
    }

    /// Formats the table, each line indented by two spaces and without trailing blanks.
    pub fn render(&self, paint: Paint) -> String {
        let n_columns = self.rows.iter().chain([&self.headings]).map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.headings]);
            cells.filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..n_columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let mut out = String::new();
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                let blank = " ".repeat(width - cell.chars().count());
                if column < self.n_left { write!(out, "  {cell}{blank}") } else { write!(out, "  {blank}{cell}") }
                    .expect("a string takes everything");
            }
            out.trim_end().to_owned()
        };
        let mut out = format!("{}\n", paint.dim(&line(&self.headings)));
        for row in &self.rows {
            out.push_str(&line(row));
            out.push('\n');
        }
        out
    }
}

/// Wraps a text in lines of at most `width` columns, each after `indent`; words are never broken.
pub fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.trim().lines() {
        let mut columns = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if columns > 0 && indent.chars().count() + columns + 1 + length > width {
                out.push('\n');
                columns = 0;
            }
            out.push_str(if columns == 0 { indent } else { " " });
            out.push_str(word);
            columns += length + usize::from(columns > 0);
        }
        out.push('\n');
    }
    out
}

/// Quotes a word for a shell where it needs quotes.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Formats a number with at most `digits` digits behind the point, and no zeros at their end.
pub fn number(value: f64, digits: usize) -> String {
    without_zeros(&format!("{value:.digits$}")).to_owned()
}

/// Drops the zeros at the end of a number, behind the point.
pub fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Formats `n` significant digits without an exponent: 0.0123, 1.23, 12.3, 123, 1234.
pub fn digits(number: f64, n: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let before = number.abs().log10().floor() as i32 + 1;
    format!("{number:.*}", usize::try_from(n - before).unwrap_or(0))
}

/// Formats three significant digits, of which at most two are behind the point: 0.12, 6.25, 51.2, 4177.
pub fn three_figures(number: f64) -> String {
    match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

/// Returns the day of a date such as `2026-11-21T23:28:45Z`.
pub fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}

/// Shortens the name of a device: `H100` for `NVIDIA H100 80GB HBM3`.
pub fn short_device(device: &str) -> &str {
    let mut words = device.split_whitespace().filter(|word| *word != "NVIDIA");
    words.next().unwrap_or_default()
}

/// Escapes a text for HTML and XML, which cannot contain most control characters: U+FFFD replaces them.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Groups digits by three, with a separator: `1 048 576`.
pub fn grouped(n: impl Into<i128>, gap: &str) -> String {
    let n = n.into();
    let digits = n.unsigned_abs().to_string();
    let mut out = String::from(if n < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push_str(gap);
        }
        out.push(digit);
    }
    out
}

/// Paints text, or leaves it plain where colours are not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(bool);

impl Paint {
    /// Chooses colours for standard output: on a terminal, unless `NO_COLOR` is set.
    pub fn for_stdout() -> Self {
        Self(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    pub const fn plain() -> Self {
        Self(false)
    }

    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Returns the text about something right, in green.
    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Returns the text about something wrong, in bold red.
    pub fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Returns the text with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

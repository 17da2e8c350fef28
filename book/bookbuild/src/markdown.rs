//! Tables of Markdown, row by row.

use std::fmt::{self, Display, Write as _};

/// A table with its head.
pub(crate) struct Table {
    text: String,
    pub(crate) n_rows: usize,
}

impl Table {
    /// Begins a table with these titles, between bars. A title behind `>` is that of numbers, aligned to the right.
    pub(crate) fn new(titles: impl AsRef<str>) -> Self {
        let (mut head, mut rule) = ("|".to_owned(), "|".to_owned());
        for title in titles.as_ref().split('|').map(str::trim) {
            let number = title.strip_prefix('>');
            head += &format!(" {} |", number.unwrap_or(title));
            rule += if number.is_some() { " ---: |" } else { " --- |" };
        }
        Self { text: format!("{head}\n{rule}\n"), n_rows: 0 }
    }

    pub(crate) fn row(&mut self, cells: &[&dyn Display]) {
        self.n_rows += 1;
        self.text.push('|');
        for cell in cells {
            let _ = write!(self.text, " {cell} |");
        }
        self.text.push('\n');
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

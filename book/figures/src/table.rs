//! Text tables as the book prints them: without indent and colours.

use catalog::text::{Paint, Table};

/// Formats a table. The first column is aligned to the left, the others to the right.
pub(crate) fn render_table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new(titles.iter().copied());
    for row in rows {
        table.row(row.iter().cloned());
    }
    let text = table.render(Paint::plain());
    let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

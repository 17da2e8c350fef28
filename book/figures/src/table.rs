//! Text tables as the book prints them: without indent and colours.

use catalog::text::Paint;
pub(crate) use catalog::text::Table;

pub(crate) fn render_table(table: &Table) -> String {
    let text = table.render(Paint::plain());
    let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    lines.map(|line| format!("{line}\n")).collect()
}

//! An explanation as text of at most 100 columns.

use catalog::text::{Paint, Table, grouped, wrapped};
use counters::Column;

use super::{Subject, columns, file_heading, largest, line_number, rule, short};

const WIDTH: usize = 100;
const BAR: usize = 8;
/// Columns of source text that are left at least.
const LEAST_TEXT: usize = 12;

/// Returns the whole text: the lines of each kernel, the sums beside each other, and the meaning of the headings.
pub(super) fn text(subjects: &[Subject], by: Column, paint: Paint) -> String {
    let columns = columns(subjects);
    let mut out = String::new();
    for subject in subjects {
        out.push_str(&head(subject, by, paint));
        if subject.shows_lines {
            out.push_str(&lines(subject, &columns, by, paint));
        }
        out.push('\n');
    }
    out.push_str(&sums(subjects, &columns, paint));
    out.push_str(&legend(subjects, &columns));
    out
}

fn head(subject: &Subject, by: Column, paint: Paint) -> String {
    let explained = &subject.explained;
    let whose = subject.origin.description();
    let text =
        format!("{}: {whose}, {} on {}, counted on the emulated GPU", subject.file, explained.kernel, explained.shape);
    let mut out = subject.heading(&text, WIDTH, paint);
    if subject.shows_lines {
        let largest = largest(subject, by);
        if largest > 0.0 {
            out.push_str(&format!("bars: {}; {} is {}\n", by.words(), "#".repeat(BAR), short(largest)))
        } else {
            out.push_str(&format!("bars: {}, of which there are none\n", by.words()))
        }
        out.push('\n');
    }
    out
}

/// Returns a row per line: number, counts, bar, text.
fn lines(subject: &Subject, columns: &[Column], by: Column, paint: Paint) -> String {
    let explained = &subject.explained;
    // Where nothing is counted, nothing stands: that is what makes the rest visible.
    let cell = |column: &Column, counts| match column.of(counts) {
        Some(n) if n > 0.0 => short(n),
        _ => String::new(),
    };
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| {
            let cells = explained.lines.iter().map(|line| cell(column, &line.counts).len());
            cells.max().unwrap_or(0).max(column.heading().len())
        })
        .collect();
    let first = explained.lines.iter().map(|line| line_number(line.line, "-").len()).max().unwrap_or(0).max(4);
    let used = 2 + first + widths.iter().map(|width| width + 1).sum::<usize>() + 1 + BAR + 1;
    let room = WIDTH.saturating_sub(used).max(LEAST_TEXT);
    let row = |number: &str, cells: &[String], bar: &str, text: &str| {
        let mut row = format!("  {number:>first$}");
        row.extend(cells.iter().zip(&widths).map(|(cell, width)| format!(" {cell:>width$}")));
        row.push_str(&format!(" {bar:<BAR$} {text}"));
        row.trim_end().to_owned()
    };
    let headings: Vec<String> = columns.iter().map(|column| column.heading().to_owned()).collect();
    let mut out = format!("{}\n", paint.dim(&row("line", &headings, "", "")));
    let largest = largest(subject, by);
    // The kernel's own file needs no heading.
    let mut file = subject.file.as_str();
    for line in &explained.lines {
        if line.file != file {
            file = &line.file;
            out.push_str(&format!("  {}\n", file_heading(file)));
        }
        let cells: Vec<String> = columns.iter().map(|column| cell(column, &line.counts)).collect();
        let value = by.of(&line.counts).unwrap_or(0.0);
        let n = if largest > 0.0 { (value / largest * BAR as f64).ceil() as usize } else { 0 };
        let text = subject.text(&line.file, line.line);
        out.push_str(&row(&line_number(line.line, "-"), &cells, &"#".repeat(n), &cut(text.trim(), room)));
        out.push('\n');
    }
    out
}

pub(super) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() > room { text.chars().take(room - 1).chain(['…']).collect() } else { text.to_owned() }
}

fn sums(subjects: &[Subject], columns: &[Column], paint: Paint) -> String {
    let mut headings = vec!["the whole launch"];
    headings.extend(subjects.iter().map(|subject| subject.origin.label()));
    let [first, second] = match subjects {
        [first, second] => [Some(first), Some(second)],
        _ => [None, None],
    };
    headings.extend(first.map(|_| "yours / finished"));
    let mut table = Table::new(headings);
    for column in columns {
        let of = |subject: &Subject| column.of(&subject.explained.total);
        let mut row = vec![column.words().to_owned()];
        row.extend(subjects.iter().map(|subject| of(subject).map_or(String::new(), exact)));
        if let (Some(a), Some(b)) = (first.and_then(of), second.and_then(of)) {
            row.push(if b > 0.0 { format!("{:.2}", a / b) } else { String::new() });
        }
        table.row(row);
    }
    table.render(paint)
}

/// Formats `65,536`; with a digit after the point where it is not a whole number.
pub(super) fn exact(value: f64) -> String {
    let out = grouped(value.trunc() as i128, ",");
    if value.fract() == 0.0 { out } else { format!("{out}{}", format!("{:.1}", value.fract()).trim_start_matches('0')) }
}

fn legend(subjects: &[Subject], columns: &[Column]) -> String {
    let words: Vec<String> = columns.iter().map(|column| format!("{}: {}", column.heading(), column.words())).collect();
    let text = format!("{}. {}", words.join("; "), rule(subjects));
    format!("\n{}", wrapped(&text, "  ", WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_told_to_the_last_digit() {
        for (value, text) in [(0.0, "0"), (999.0, "999"), (1_234_567.0, "1,234,567"), (1024.5, "1,024.5")] {
            assert_eq!(exact(value), text);
        }
    }

    #[test]
    fn text_is_cut_with_a_mark() {
        assert_eq!(cut("acc += 1;", 9), "acc += 1;");
        assert_eq!(cut("acc += 1;", 8), "acc += …");
    }
}

//! One line per student, for spreadsheets.

#[cfg(test)]
mod tests;

use crate::{grade::ClassGrades, score::format_points};

pub(crate) fn table(class: &ClassGrades) -> String {
    let items: Vec<&str> =
        class.students.first().into_iter().flat_map(|student| &student.items).map(|item| item.id.as_str()).collect();
    let is_listed = class.students.iter().any(|student| student.person.is_some());
    let of_list: &[&str] = if is_listed { &["name", "section", "team"] } else { &[] };
    let head =
        ["student"].iter().chain(of_list).chain(&["points", "of", "percent"]).chain(&items).chain(&["codes", "notes"]);
    let mut out = line(&head.map(|id| (*id).to_owned()).collect::<Vec<_>>());
    for student in &class.students {
        let mut cells = vec![student.name.clone()];
        if is_listed {
            let person = student.person.clone().unwrap_or_default();
            cells.extend([person.name, person.section, person.team]);
        }
        let percent = 100.0 * student.points / class.max;
        cells.extend([student.points, class.max, percent].map(format_points));
        for id in &items {
            let item = student.items.iter().find(|item| item.id == *id);
            cells.push(item.map_or(String::new(), |item| format_points(item.points)));
        }
        let codes: Vec<String> = student.verdicts.iter().flat_map(tasks::Verdict::codes).collect();
        let mut notes = student.notes.clone();
        if student.is_ungraded() {
            notes.push("could not be graded: look at it by hand".into());
        }
        cells.extend([codes.join(" "), notes.join("; ")]);
        out.push_str(&line(&cells));
    }
    out
}

pub(crate) fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    cells.join(",") + "\n"
}

/// Quotes a cell if necessary. An apostrophe disarms text that a spreadsheet would take for a formula; tabs and the
/// like are spaces. A semicolon ends a cell where the comma is the decimal sign, so it is quoted, too.
fn cell(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    let text = if is_formula(&clean) { format!("'{clean}") } else { clean };
    if text.contains([',', ';', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Returns whether a spreadsheet may run a text: it begins with a sign of formulas, behind blanks, or in full width.
fn is_formula(text: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let mut lines = text.lines().map(|line| line.trim_start_matches(is_blank));
    lines.any(|line| line.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '−']))
}

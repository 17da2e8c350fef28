//! An explanation as one HTML page that needs nothing else: no script, no font, no other file.

use catalog::text::escaped;
use counters::{Column, Summary};
use tasks::Task;

use super::table::exact;
use super::{Subject, code, columns, file_heading, heading, largest, line_number, rule};

const STYLE: &str = include_str!("page.css");

pub(super) fn page(task: &Task, subjects: &[Subject], by: Column) -> String {
    let columns = columns(subjects);
    let title = escaped(&format!("{}: {}", task.name, task.title));
    let rule = rule(subjects);
    let legend: Vec<String> =
        columns.iter().map(|column| format!("<b>{}</b> {}", column.heading(), column.words())).collect();
    let legend = legend.join(", ");
    let links: String = subjects
        .iter()
        .map(|subject| format!("<li><a href=\"#{}\">{}</a></li>\n", subject.origin.label(), heading(subject)))
        .collect();
    let code_sections = code::sections(subjects);
    let code_links = code::links(subjects);
    let code_style = if code_sections.is_empty() { "" } else { code::STYLE };
    let sections: String = subjects.iter().map(|subject| section(subject, &columns, by)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}{code_style}</style>\n</head>\n\
         <body>\n<header>\n<h1>{title}</h1>\n<p>Counted on the emulated GPU, line by line. {rule} \
         Bars are shares of the largest value in a column, and of the whole launch in a row.</p>\n<p>{legend}.</p>\n<nav aria-label=\"Parts\">\n<ul>\n\
         {code_links}<li><a href=\"#sums\">The whole launch</a></li>\n{links}</ul>\n</nav>\n</header>\n<main>\n{code_sections}\
         <section id=\"sums\">\n<h2>The whole launch</h2>\n{}</section>\n<div class=\"beside\">\n{sections}</div>\n</main>\n\
         </body>\n</html>\n",
        sums(subjects, &columns)
    )
}

fn sums(subjects: &[Subject], columns: &[Column]) -> String {
    let heads: String =
        subjects.iter().map(|subject| format!("<th scope=\"col\">{}</th>", subject.origin.label())).collect();
    let rows: String = columns
        .iter()
        .map(|column| {
            let values: Vec<f64> =
                subjects.iter().map(|subject| column.of(&subject.explained.total).unwrap_or(0.0)).collect();
            let largest = values.iter().copied().fold(0.0, f64::max);
            let cell = |value: &f64| match *value {
                0.0 => "<td class=\"n\">0</td>".into(),
                value => number(value, largest, column.adds_up()),
            };
            let cells: String = values.iter().map(cell).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", column.words())
        })
        .collect();
    format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Sums\">\n<table>\n<thead><tr><td></td>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

fn section(subject: &Subject, columns: &[Column], by: Column) -> String {
    let (explained, heading) = (&subject.explained, heading(subject));
    let blocks = explained.grid.map(|n| n.to_string()).join(" × ");
    let threads = explained.block.map(|n| n.to_string()).join(" × ");
    let mut out = format!(
        "<section id=\"{}\">\n<h2>{heading}</h2>\n<p><code>{}</code> on {}: {blocks} blocks of {threads} threads.</p>\n",
        subject.origin.label(),
        escaped(&explained.kernel),
        explained.shape
    );
    if let Some(caveat) = subject.caveat() {
        out.push_str(&format!("<p class=\"caveat\">Note: {}.</p>\n", escaped(caveat.trim_end_matches('.'))));
    }
    if !subject.shows_lines {
        out.push_str("<p>Its lines are shown once your copy has passed.</p>\n</section>\n");
        return out;
    }
    let heads: String = columns
        .iter()
        .map(|column| {
            let class = if *column == by { " class=\"by\"" } else { "" };
            format!("<th scope=\"col\"{class} title=\"{}\">{}</th>", column.words(), column.heading())
        })
        .collect();
    let most: Vec<f64> = columns.iter().map(|column| largest(subject, *column)).collect();
    let mut file = subject.file.as_str();
    let mut rows = String::new();
    for line in &explained.lines {
        if line.file != file {
            file = &line.file;
            let width = columns.len() + 2;
            rows.push_str(&format!(
                "<tr><th scope=\"rowgroup\" colspan=\"{width}\">{}</th></tr>\n",
                escaped(file_heading(file))
            ));
        }
        let number = line_number(line.line, "–");
        let text = escaped(subject.text(&line.file, line.line).trim_end());
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{number}</th>{}<td class=\"code\"><code>{text}</code></td></tr>\n",
            cells(columns, &most, &line.counts)
        ));
    }
    out.push_str(&format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{heading}\">\n<table>\n<thead><tr><th scope=\"col\">line</th>{heads}\
         <th scope=\"col\" class=\"code\">source</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n"
    ));
    out
}

fn cells(columns: &[Column], most: &[f64], counts: &Summary) -> String {
    columns
        .iter()
        .zip(most)
        .map(|(column, most)| number(column.of(counts).unwrap_or(0.0), *most, column.adds_up()))
        .collect()
}

/// Returns a cell with its bar; nothing stands where nothing was counted.
fn number(value: f64, largest: f64, has_bar: bool) -> String {
    if value == 0.0 {
        return "<td class=\"n\"></td>".into();
    }
    let share = if has_bar && largest > 0.0 { (value / largest * 100.0).clamp(0.0, 100.0) } else { 0.0 };
    format!("<td class=\"n\" style=\"--share: {share:.1}%\">{}</td>", exact(value))
}

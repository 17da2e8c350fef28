//! Messages as text, as rustc prints them.

use std::fmt::Write as _;

use crate::message::{Message, Severity};
use crate::source::{Sources, Span};

/// Returns a message with the lines that it speaks of. It ends with a line feed.
pub fn render(message: &Message, sources: &Sources) -> String {
    let mut out = match message.severity {
        Severity::Error => format!("error: {}\n", message.text),
        Severity::Unsupported => format!("error: {} is not compiled by the built-in compiler\n", message.text),
        Severity::Warning => format!("warning: {}\n", message.text),
    };
    let last_line = [message.span].into_iter().chain(message.notes.iter().map(|(span, _)| *span));
    let width = last_line.map(|span| sources.place(span).line).max().unwrap_or(1).to_string().len();
    place(&mut out, sources, message.span, &message.label, width);
    for (span, text) in &message.notes {
        let (kind, text) = text.strip_prefix("help: ").map_or(("note", &**text), |text| ("help", text));
        let _ = writeln!(out, "{kind}: {text}");
        place(&mut out, sources, *span, "", width);
    }
    let mut helps: Vec<&str> = message.help.as_deref().into_iter().collect();
    if message.severity == Severity::Unsupported {
        helps.push("`cargo xtask setup` gets NVIDIA's compiler, which knows more of CUDA");
    }
    if !helps.is_empty() {
        let _ = writeln!(out, "{:width$} |", "");
    }
    for help in helps {
        let _ = writeln!(out, "{:width$} = help: {help}", "");
    }
    out
}

fn place(out: &mut String, sources: &Sources, span: Span, label: &str, width: usize) {
    const MAX_COLUMNS: usize = 200;
    let place = sources.place(span);
    let file = &sources.files[usize::from(place.file)];
    let line = file.line(place.line);
    let (before, rest) = line.split_at_checked(place.column as usize - 1).unwrap_or((line, ""));
    let column = before.chars().count() + 1;
    let _ = writeln!(out, "{:width$}--> {}:{}:{column}", "", file.name, place.line);
    let _ = writeln!(out, "{:width$} |", "");
    if line.chars().count() > MAX_COLUMNS {
        return;
    }
    let _ = writeln!(out, "{:width$} | {}", place.line, line.replace('\t', " "));
    let covered = rest.get(..(span.end - span.start) as usize).unwrap_or(rest).trim_end();
    let carets = "^".repeat(covered.chars().count().max(1));
    let underlined = format!("{:width$} | {}{carets} {label}", "", " ".repeat(column - 1));
    let _ = writeln!(out, "{}", underlined.trim_end());
}

//! Numbers quoted from files: their format in a sentence, and the sources that a page lists.

use std::collections::BTreeSet;

use catalog::Work;
pub(crate) use catalog::text::digits;
use catalog::text::{day, escaped};
use records::Run;

/// Sources of the numbers that a page quotes.
pub(crate) type Sources = BTreeSet<String>;

/// Formats a number for a sentence; `about` is its source, shown on hover.
pub(crate) fn quoted(text: &str, about: &str) -> String {
    // A no-break space keeps the unit on the line of its number.
    let text = text.replacen(' ', "&nbsp;", 1);
    format!("<span class=\"measured\" title=\"{}\">{text}</span>", about.replace('"', "&quot;"))
}

/// Formats a number that comes from one source, and adds that to the sources of the page.
pub(crate) fn quoted_from(source: String, text: &str, about: &str, sources: &mut Sources) -> String {
    let about = format!("{about}, {source}");
    sources.insert(source);
    quoted(text, &about)
}

/// Formats milliseconds with three significant digits.
pub(crate) fn ms(ms: f64) -> String {
    format!("{} ms", digits(ms, 3))
}

/// Formats device and day of a run, such as `NVIDIA H200, 2026-11-21`; for CPU kernels, the processor.
pub(crate) fn run_source(run: &Run, work: Work) -> String {
    let day = day(&run.date);
    match work {
        Work::Cpu => format!("{}, {day}", escaped(&run.host)),
        _ => format!("{}, {day}", escaped(&run.device)),
    }
}

/// Returns the list of sources for the end of a page.
pub(crate) fn footnote(sources: &Sources) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let all: Vec<&str> = sources.iter().map(String::as_str).collect();
    format!("\n\n<p class=\"provenance\">Where the recorded numbers on this page come from: {}.</p>\n", all.join("; "))
}

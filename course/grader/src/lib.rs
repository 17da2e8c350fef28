//! For instructors: grades submissions in a sandbox, and writes the grades in the formats that course systems read.
//!
//! - [`anonymous`]: codes in place of names.
//! - [`report`]: students who are stuck, by task, from the progress files of a class.
//! - [`roster`]: the list of a class, of [`person`]s.
//! - [`rubric`]: tasks and questions with their points.
//! - [`slurm`]: a job array that grades on several machines.
//! - [`submissions`]: reads submissions, without following links or reading large files; [`commits`]: when those that
//!   are git repositories were committed.
//! - [`sandbox`]: starts a program that can reach nothing outside its folder; [`confine`]: the limits that the started
//!   process sets for itself.
//! - [`mod@unit`]: compiles and judges one task of one submission.
//! - [`grade`]: grades all submissions, in parallel; results are kept by key, so that a grading that was stopped can be
//!   continued.
//! - [`points`]: points that a person gives.
//! - [`score`][]: computes the points of a submission.
//! - [`similar`]: submissions with common passages.
//! - [`assign`]: writes a starter repository without solutions.
//! - [`formats`]: Gradescope, Exercism, JUnit, CSV, HTML.
//!
//! This crate runs no kernel and links no compiler: it starts `judge` and the compiler as processes.

#![deny(unsafe_code)]

pub mod anonymous;
pub mod assign;
pub mod commits;
#[cfg(unix)]
#[expect(unsafe_code, reason = "limits of a process")]
pub mod confine;
pub mod formats;
pub mod grade;
pub mod person;
pub mod points;
pub mod report;
pub mod roster;
pub mod rubric;
pub mod sandbox;
pub mod score;
pub mod similar;
pub mod slurm;
pub mod submissions;
#[cfg(test)]
mod tests;
pub mod unit;

/// Returns untrusted text as one line for a terminal or a table: shortened, without control characters.
pub fn plain(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    shortened(text, MAX_CHARS).chars().map(clean).collect()
}

/// Returns the first characters of a text, with an ellipsis in place of the others.
pub fn shortened(text: &str, max_chars: usize) -> String {
    text.char_indices().nth(max_chars).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

/// Returns a file name for any text; different texts have different names.
pub fn file_name(text: &str) -> String {
    const MAX_BYTES: usize = 60;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@+".contains(c);
    let is_plain = text.chars().all(plain)
        && !text.starts_with('.')
        && !text.is_empty()
        && text.len() <= MAX_BYTES
        && text.to_ascii_lowercase() == text;
    if is_plain {
        return text.to_owned();
    }
    let kept: String = text.chars().map(|c| if plain(c) { c } else { '_' }).take(MAX_BYTES).collect();
    let hash = catalog::provenance::sha256(text.as_bytes());
    format!("{}~{}", kept.trim_start_matches('.'), &hash[..8])
}

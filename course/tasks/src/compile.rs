//! Errors of a CUDA compiler as records: file, line, message, and at most one hint per log.
//!
//! NVRTC writes `my/v05.cu(23): error: …`; the built-in compiler and rustc write `error: …` or `error[E0425]: …` and,
//! below it, `--> my/v05.rs:23:5`.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileError {
    /// Name as the compiler prints it; empty when it prints none.
    pub file: String,
    /// Line of the file, from 1; 0 when unknown.
    pub line: u32,
    /// Text after the word `error:`.
    pub message: String,
}

/// Errors of a source that a compiler refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Errors in the order of the log, each location once.
    pub errors: Vec<CompileError>,
    /// Usual cause of the first error, if `HINTS` lists it: others may follow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Log of the compiler, cut to a length that a person can read.
    pub log: String,
}

const MAX_ERRORS: usize = 20;
const MAX_LOG_BYTES: usize = 16 << 10;
/// Message limit: types of templates can be endless.
const MAX_MESSAGE_BYTES: usize = 400;

impl Refused {
    pub fn from_log(log: &str) -> Self {
        let mut errors: Vec<CompileError> = Vec::new();
        let below = log.lines().skip(1).chain([""]);
        for error in
            log.lines().zip(below).filter_map(|(line, below)| error_of_rustc(line, below).or_else(|| error_of(line)))
        {
            // rustc ends with a count.
            let is_new = !errors.contains(&error) && !error.message.starts_with("aborting due to");
            if errors.len() < MAX_ERRORS && is_new {
                errors.push(error);
            }
        }
        let hint = errors.first().and_then(|error| hint(&error.message, shown(log))).map(str::to_owned);
        Self { errors, hint, log: cut(log, MAX_LOG_BYTES) }
    }

    /// Returns the first error as `my/v05.cu:23: …`, or a line of the log when no error was recognised.
    pub fn first(&self) -> String {
        match self.errors.first() {
            Some(error) => error.to_string(),
            None => cut(self.log.trim().lines().next().unwrap_or("the compiler gave no reason"), MAX_MESSAGE_BYTES),
        }
    }
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => f.write_str(&self.message),
            (file, 0) => write!(f, "{file}: {}", self.message),
            (file, line) => write!(f, "{file}:{line}: {}", self.message),
        }
    }
}

fn cut(text: &str, max_bytes: usize) -> String {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn error_of_rustc(line: &str, below: &str) -> Option<CompileError> {
    let (_, message) = line.strip_prefix("error")?.split_once(": ")?;
    let mut place = below.trim_start().strip_prefix("--> ")?.rsplitn(3, ':').skip(1);
    let (line, file) = (place.next()?.parse().unwrap_or(0), place.next()?);
    Some(CompileError { file: file.to_owned(), line, message: cut(message, MAX_MESSAGE_BYTES) })
}

fn error_of(line: &str) -> Option<CompileError> {
    let (place, message) =
        ["catastrophic error: ", "fatal error: ", "error: "].iter().find_map(|word| line.split_once(word))?;
    // The source's text may contain the words as well; locations end with a colon or are empty.
    let place = place.trim();
    let place = match place.strip_suffix(':') {
        Some(place) => place,
        None if place.is_empty() => "",
        None => return None,
    };
    let (file, line) = match place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        Some((file, line)) => (file, line.parse().unwrap_or(0)),
        None => (place, 0),
    };
    Some(CompileError { file: file.to_owned(), line, message: cut(message.trim(), MAX_MESSAGE_BYTES) })
}

/// Returns the line that a compiler shows for the first error, and the column of the caret below it.
fn shown(log: &str) -> (&str, usize) {
    let mut lines = log.lines().skip_while(|line| error_of(line).is_none()).skip(1).peekable();
    while let Some(line) = lines.next() {
        let below = lines.peek().unwrap_or(&"");
        match below.find('^') {
            Some(column) if below.trim().trim_matches('~') == "^" => {
                return (line.split("//").next().unwrap_or(line), column);
            }
            _ => {}
        }
    }
    ("", 0)
}

/// Rows of messages and the usual cause of such errors, as the head of the file says.
const HINTS: &str = include_str!("compile-hints.txt");

fn hint(message: &str, (line, caret): (&str, usize)) -> Option<&'static str> {
    let (before, at) = line.split_at_checked(caret).unwrap_or((line, ""));
    let in_brackets = |rest: &str| rest.split([']', '(']).next().unwrap_or_default().contains(',');
    let has = |words: &str| {
        let words = words.replace('␣', " ");
        match words.split_once(':').unwrap_or_default() {
            ("line", "[,]") => line.split('[').skip(1).any(in_brackets),
            ("line", words) => line.contains(words),
            ("at", "start") => !line.is_empty() && before.trim().is_empty(),
            ("at", words) => at.starts_with(words),
            ("name", words) => at.replace('_', "").to_lowercase().starts_with(words),
            ("before", words) => before.ends_with(words),
            _ => message.contains(&words),
        }
    };
    let mut fits = false;
    HINTS.lines().filter(|line| !line.starts_with('#')).find_map(|line| match line.strip_prefix("    ") {
        Some(hint) => fits.then_some(hint),
        None => {
            fits = line.split(" OR ").any(|words| words.split(" AND ").all(has));
            None
        }
    })
}

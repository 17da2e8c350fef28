//! Hints: the choice for the last verdict, and the part of the solution that is shown after all levels.

#[cfg(test)]
mod tests;

use crate::task::Task;
use crate::{diff, markers};

/// The hint that fits a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintChoice<'a> {
    /// Code of a verdict, or empty for the general hint.
    pub symptom: &'a str,
    /// Nudge, concept, pseudo-code; empty where the task has no hint.
    pub levels: &'a [String],
}

/// Returns the hint for the code of a verdict, or else the general one.
pub fn choose<'a>(task: &'a Task, code: Option<&str>) -> HintChoice<'a> {
    let hint_for = |symptom: &str| task.hints.iter().find(|hint| hint.symptom == symptom);
    let special = code.filter(|code| !code.is_empty()).and_then(hint_for);
    match special.or_else(|| hint_for("")) {
        Some(hint) => HintChoice { symptom: &hint.symptom, levels: &hint.levels },
        None => HintChoice { symptom: "", levels: &[] },
    }
}

/// Longest part that no marker delimits, in lines.
const MAX_LINES: usize = 12;

/// A part of the finished kernel that a copy lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Description of the missing part; empty where the solution has no markers.
    pub todo: String,
    pub text: String,
}

/// Returns the first part of the finished kernel that the copy lacks at this position: a marked region or, in a
/// solution without markers, the first missing lines. `solution` includes its markers. `None` when the copy has every
/// part.
pub fn hunk(solution: &str, copy: &str) -> Option<Hunk> {
    let finished = markers::finished(solution);
    let plain = |text: &str| {
        let lines: Vec<String> = text.lines().map(code_of).collect();
        lines.join("\n")
    };
    let missing = diff::missing(&plain(&finished), &plain(copy));
    let lines: Vec<&str> = finished.lines().collect();
    let is_missing = |at: usize| missing.get(at) == Some(&true) && !code_of(lines[at]).is_empty();
    let regions = markers::regions(solution);
    if !regions.is_empty() {
        let found = regions.into_iter().find(|region| region.lines.clone().any(is_missing))?;
        return Some(Hunk { todo: found.todo, text: block(&lines[found.lines]) });
    }
    let first = (0..lines.len()).find(|at| is_missing(*at))?;
    // Comments and blank lines belong to the code after them.
    let more = |at: &usize| is_missing(*at) || code_of(lines[*at]).is_empty();
    let mut end = (first..lines.len().min(first + MAX_LINES)).take_while(more).count() + first;
    while end > first + 1 && code_of(lines[end - 1]).is_empty() {
        end -= 1;
    }
    Some(Hunk { todo: String::new(), text: block(&lines[first..end]) })
}

fn block(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the code of a line, without its comment and with white space normalised.
fn code_of(line: &str) -> String {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

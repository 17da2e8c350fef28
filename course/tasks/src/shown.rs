//! Lines of one starter that answer another task: they are left out where a class gets both.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::TaskName;

/// Lines of a starter that are the idea of another step, or of another task of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The step, whose tasks all ask for them.
    pub of: String,
    /// The lines; their indentation does not matter.
    pub lines: String,
    /// Lines in their place.
    pub instead: String,
}

impl Shown {
    /// Returns the number of the first line in a starter, where it has the lines.
    fn find(&self, starter: &[String]) -> Option<usize> {
        let lines: Vec<&str> = self.lines.lines().map(str::trim).collect();
        starter.windows(lines.len()).position(|part| part.iter().map(|line| line.trim()).eq(lines.iter().copied()))
    }
}

/// Returns a starter without what the other tasks ask for, or what it does not have though `shown` says so.
pub fn left_out<'s>(starter: &str, shown: &'s [Shown], others: &[&TaskName]) -> Result<String, &'s Shown> {
    let mut lines: Vec<String> = starter.lines().map(|line| format!("{line}\n")).collect();
    for part in shown.iter().filter(|part| others.iter().any(|other| other.step == part.of)) {
        let first = part.find(&lines).ok_or(part)?;
        let indent = &lines[first][..lines[first].len() - lines[first].trim_start().len()];
        let instead: Vec<String> = part.instead.lines().map(|line| format!("{indent}{line}\n")).collect();
        lines.splice(first..first + part.lines.lines().count(), instead);
    }
    Ok(lines.concat())
}

/// Returns how many of the lines that a finished kernel has and its starter lacks are in other starters, and how many
/// there are, where it is more than half.
pub fn answers(finished: &str, starter: &str, others: &[&str]) -> Option<(usize, usize)> {
    let own = code(starter);
    let asked: Vec<String> = code(finished).into_iter().filter(|line| !own.contains(line)).collect();
    let known: HashSet<String> = others.iter().flat_map(|other| code(other)).collect();
    let n = asked.iter().filter(|line| known.contains(*line)).count();
    (2 * n > asked.len()).then_some((n, asked.len()))
}

/// Returns the one-line statements except barriers, each once, without comments and spaces.
fn code(text: &str) -> Vec<String> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().replace(' ', "");
    let mut seen = HashSet::from(["__syncthreads();".to_owned()]);
    text.lines().map(code).filter(|line| line.ends_with(';') && seen.insert(line.clone())).collect()
}

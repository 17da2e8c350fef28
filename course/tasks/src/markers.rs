//! Markers in a `.cu` file: excerpts for the book, and regions that a learner's starter leaves out.
//!
//! ```text
//! // ANCHOR: load                  // SOLUTION(v05): what the learner has to do
//! …                                …
//! // ANCHOR_END: load              // STARTER| what the starter has instead
//!                                  // SOLUTION_END
//! ```

#[cfg(test)]
mod tests;

/// Splits a line that is a comment into its indentation and its text without slashes.
fn comment(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    Some((indent, text.trim_end().strip_prefix("// ")?))
}

fn is_anchor(comment: &str) -> bool {
    comment.starts_with("ANCHOR: ") || comment.starts_with("ANCHOR_END: ")
}

fn is_marker(comment: &str) -> bool {
    is_anchor(comment)
        || comment.starts_with("SOLUTION(")
        || comment == "SOLUTION_END"
        || comment.starts_with("STARTER|")
}

/// Returns the starter: each region of a solution is replaced by `// TODO(v05): …` and the starter's own lines.
pub fn starter(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        if let Some((indent, comment)) = comment(line) {
            if let Some(task) = comment.strip_prefix("SOLUTION(") {
                inside = true;
                out.push_str(&format!("{indent}// TODO({task}\n"));
                continue;
            }
            if comment == "SOLUTION_END" {
                inside = false;
                continue;
            }
            if let Some(instead) = comment.strip_prefix("STARTER|") {
                let instead = instead.strip_prefix(' ').unwrap_or(instead);
                out.push_str(format!("{indent}{instead}").trim_end());
                out.push('\n');
                continue;
            }
            if is_anchor(comment) {
                continue;
            }
        }
        if !inside {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

pub fn finished(text: &str) -> String {
    let is_kept = |line: &&str| !comment(line).is_some_and(|(_, comment)| is_marker(comment));
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Description of the region.
    pub todo: String,
    /// Range of lines, from 0, in the [`finished`] text.
    pub lines: std::ops::Range<usize>,
}

/// Returns the regions of a solution, located in the finished text.
pub fn regions(text: &str) -> Vec<Region> {
    let mut found: Vec<Region> = Vec::new();
    let mut at = 0;
    let mut inside = false;
    for line in text.lines() {
        let Some((_, comment)) = comment(line).filter(|(_, comment)| is_marker(comment)) else {
            at += 1;
            if inside && let Some(region) = found.last_mut() {
                region.lines.end = at;
            }
            continue;
        };
        if let Some(task) = comment.strip_prefix("SOLUTION(") {
            inside = true;
            let todo = task.split_once("): ").map_or("", |(_, todo)| todo).to_owned();
            found.push(Region { todo, lines: at..at });
        } else if comment == "SOLUTION_END" {
            inside = false;
        }
    }
    found
}

/// Errors in the markers of a text, as line and complaint. Solutions must belong to `step`.
pub fn complaints(text: &str, step: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // Open anchors, each with its first line.
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut solution: Option<usize> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(comment) = line.trim().strip_prefix("// ") else { continue };
        if let Some(name) = comment.strip_prefix("ANCHOR: ") {
            if names.contains(&name) {
                found.push((number, format!("a second ANCHOR is called `{name}`")));
            }
            names.push(name);
            open.push((name, number));
        } else if let Some(name) = comment.strip_prefix("ANCHOR_END: ") {
            match open.pop() {
                Some((last, _)) if last == name => {}
                Some((last, at)) => {
                    found.push((number, format!("ANCHOR_END of `{name}`, but `{last}` of line {at} is still open")))
                }
                None => found.push((number, format!("ANCHOR_END of `{name}`, which is not open"))),
            }
        } else if let Some(rest) = comment.strip_prefix("SOLUTION(") {
            if let Some(at) = solution.replace(number) {
                found.push((number, format!("SOLUTION inside the one of line {at}")));
            }
            match rest.split_once("): ") {
                Some((id, task)) if id == step && !task.trim().is_empty() => {}
                Some((id, _)) if id != step => {
                    found.push((number, format!("SOLUTION of `{id}` in a file of {step}")));
                }
                _ => found.push((number, "SOLUTION does not say what is to be done".into())),
            }
        } else if comment == "SOLUTION_END" {
            if solution.take().is_none() {
                found.push((number, "SOLUTION_END without a SOLUTION".into()));
            }
        } else if comment.starts_with("STARTER|") {
            if solution.is_none() {
                found.push((number, "STARTER outside of a SOLUTION".into()));
            }
        } else if ["ANCHOR", "SOLUTION", "STARTER"].iter().any(|word| comment.starts_with(word)) {
            found.push((number, format!("`{comment}` is not a marker, but looks like one")));
        }
    }
    found.extend(open.into_iter().map(|(name, at)| (at, format!("ANCHOR `{name}` is never closed"))));
    if let Some(at) = solution {
        found.push((at, "SOLUTION is never closed".into()));
    }
    if !names.contains(&"kernel") {
        found.push((1, "no ANCHOR is called `kernel`".into()));
    }
    found
}

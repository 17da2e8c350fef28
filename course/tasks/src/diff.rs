//! The difference of two texts, line by line, as `diff -u` shows it.

#[cfg(test)]
mod tests;

use crate::verdict::ChangedLine;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Longer texts are compared as a whole, because the table of the algorithm would not fit in memory.
const MAX_LINES: usize = 8_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Same(usize, usize),
    Removed(usize),
    Added(usize),
}

/// Hunks that turn `old` into `new`; empty when the texts are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old == new {
        return String::new();
    }
    let edits = edits(&old, &new);
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    let is_change = |edit: &Edit| !matches!(edit, Edit::Same(..));
    let mut at = 0;
    while let Some(first) = edits[at..].iter().position(is_change).map(|n| at + n) {
        let start = first.saturating_sub(CONTEXT).max(at);
        // A hunk extends while the next change is near.
        let mut end = first;
        while let Some(next) = edits[end..].iter().position(is_change).filter(|gap| *gap <= 2 * CONTEXT) {
            end += next + 1;
        }
        let stop = (end + CONTEXT).min(edits.len());
        let hunk = &edits[start..stop];
        out.push_str(&header(&edits[..start], hunk));
        for edit in hunk {
            let (sign, line) = match *edit {
                Edit::Same(_, line) => (' ', new[line]),
                Edit::Removed(line) => ('-', old[line]),
                Edit::Added(line) => ('+', new[line]),
            };
            out.push_str(format!("{sign}{line}").trim_end());
            out.push('\n');
        }
        at = stop;
    }
    out
}

/// Returns the lines that turn `old` into `new`; a line that is removed where one is added is replaced by it.
pub fn changed_lines(old: &str, new: &str) -> Vec<ChangedLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (mut changed, mut last): (Vec<ChangedLine>, usize) = (Vec::new(), 0);
    let mut open = 0;
    for edit in edits(&old, &new) {
        match edit {
            Edit::Same(line, _) => (last, open) = (line + 1, changed.len()),
            Edit::Removed(line) => {
                last = line + 1;
                changed.push(ChangedLine { line: last as u32, removed: Some(old[line].to_owned()), added: None });
            }
            Edit::Added(line) => {
                let added = Some(new[line].to_owned());
                match changed[open..].iter_mut().find(|change| change.added.is_none()) {
                    Some(replaced) => replaced.added = added,
                    None => changed.push(ChangedLine { line: last as u32, removed: None, added }),
                }
            }
        }
    }
    changed
}

/// Marks each line of `old` that has no counterpart in `new`.
pub fn missing(old: &str, new: &str) -> Vec<bool> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut missing = vec![false; old.len()];
    for edit in edits(&old, &new) {
        if let Edit::Removed(line) = edit {
            missing[line] = true;
        }
    }
    missing
}

/// Returns the hunk header, such as `@@ -12,7 +12,9 @@`.
fn header(before: &[Edit], hunk: &[Edit]) -> String {
    let count = |edits: &[Edit], skip: fn(&Edit) -> bool| edits.iter().filter(|edit| !skip(edit)).count();
    let range = |skip: fn(&Edit) -> bool| {
        let n = count(hunk, skip);
        let start = count(before, skip) + usize::from(n > 0);
        match n {
            1 => start.to_string(),
            _ => format!("{start},{n}"),
        }
    };
    let old = range(|edit| matches!(edit, Edit::Added(_)));
    let new = range(|edit| matches!(edit, Edit::Removed(_)));
    format!("@@ -{old} +{new} @@\n")
}

/// Edits that follow from the longest common subsequence.
fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (n, m) = (old.len() - head - tail, new.len() - head - tail);
    let mut edits: Vec<Edit> = (0..head).map(|line| Edit::Same(line, line)).collect();
    let (mut i, mut j) = (0, 0);
    if n.max(m) <= MAX_LINES {
        // length[i][j]: longest common subsequence of old[i..] and new[j..].
        let width = m + 1;
        let mut length = vec![0_u16; (n + 1) * width];
        for i in (0..n).rev() {
            for j in (0..m).rev() {
                length[i * width + j] = if old[head + i] == new[head + j] {
                    length[(i + 1) * width + j + 1] + 1
                } else {
                    length[(i + 1) * width + j].max(length[i * width + j + 1])
                };
            }
        }
        while i < n && j < m {
            if old[head + i] == new[head + j] {
                edits.push(Edit::Same(head + i, head + j));
                (i, j) = (i + 1, j + 1);
            } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
                edits.push(Edit::Removed(head + i));
                i += 1;
            } else {
                edits.push(Edit::Added(head + j));
                j += 1;
            }
        }
    }
    edits.extend((i..n).map(|i| Edit::Removed(head + i)));
    edits.extend((j..m).map(|j| Edit::Added(head + j)));
    edits.extend((0..tail).map(|t| Edit::Same(head + n + t, head + m + t)));
    edits
}

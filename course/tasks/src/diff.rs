//! The difference of two texts, line by line, as `diff -u` shows it.

#[cfg(test)]
mod tests;

use similar::{ChangeTag, TextDiff};

use crate::verdict::ChangedLine;

/// Returns the hunks that turn `old` into `new`; nothing when the texts are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let hunks = TextDiff::configure().diff_slices(&old, &new).unified_diff().header(old_name, new_name).to_string();
    hunks.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Returns the lines that turn `old` into `new`; a line that is removed where one is added is replaced by it.
pub fn changed_lines(old: &str, new: &str) -> Vec<ChangedLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (mut changed, mut last, mut open): (Vec<ChangedLine>, u32, usize) = (Vec::new(), 0, 0);
    for change in TextDiff::configure().diff_slices(&old, &new).iter_all_changes() {
        last = change.old_index().map_or(last, |line| line as u32 + 1);
        let text = Some(change.value().to_owned());
        match change.tag() {
            ChangeTag::Equal => open = changed.len(),
            ChangeTag::Delete => changed.push(ChangedLine { line: last, removed: text, added: None }),
            ChangeTag::Insert => match changed[open..].iter_mut().find(|change| change.added.is_none()) {
                Some(replaced) => replaced.added = text,
                None => changed.push(ChangedLine { line: last, removed: None, added: text }),
            },
        }
    }
    changed
}

/// Marks each line of `old` that has no counterpart in `new`.
pub fn missing(old: &str, new: &str) -> Vec<bool> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let of_old = diff.iter_all_changes().filter(|change| change.old_index().is_some());
    of_old.map(|change| change.tag() == ChangeTag::Delete).collect()
}

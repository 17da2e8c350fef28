//! `{{#diff v04 v05}}`: the difference between the kernels of two steps.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use catalog::Work;
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::RepoPaths;
use crate::directives::listings::{self, Numbered};

/// Unchanged lines shown around each change.
const CONTEXT: usize = 2;

pub(crate) struct Side {
    /// Step id such as `v05`, or the file's name.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Resolves a step id, or a path relative to the repository.
pub(crate) fn side(repo: &RepoPaths, text: &str) -> Result<Side> {
    if text.contains('/') {
        return Ok(Side { name: text.rsplit('/').next().unwrap_or(text).to_owned(), path: repo.root().join(text) });
    }
    let step = catalog::find(text)?;
    let source = main_kernel(step).with_context(|| format!("{} has no kernel to show changes of", step.id))?;
    Ok(Side { name: step.id.to_owned(), path: repo.root().join("kernels").join(source).with_extension("cu") })
}

/// Returns the source, under `kernels/`, of the kernel that the next step builds on.
pub fn main_kernel(step: &catalog::Step) -> Option<&'static str> {
    // Sources that no later step builds on. v02's whole strip runs only while a strip fits into shared memory; the
    // others are v10's FP32 on tensor cores, v11's loop that no compiler wrote, and v12's small GEMMs and other element
    // types.
    #[rustfmt::skip]
    const DETOURS: [&str; 8] = [
        "v02_strip", "v10_three_tf32", "v11_rescheduled", "v12_small", "v12_split", "v12_six_bf16", "v12_tf32",
        "v12_fp8",
    ];
    step.kernels
        .iter()
        .filter(|kernel| matches!(kernel.work, Work::Sgemm | Work::SgemmTransposed { .. } | Work::Tensor { .. }))
        .filter_map(|kernel| kernel.source)
        .rfind(|source| !DETOURS.contains(source))
}

/// Returns the lines of a ```diff block, and for each its line number in the new file, if it is there.
pub(crate) fn diff(repo: &RepoPaths, old: &Side, new: &Side, anchor: &str) -> Result<(String, Vec<Option<usize>>)> {
    let lines = |path: &Path| listings::listing(repo, path, Some(anchor));
    let (old_lines, new_lines) = (lines(&old.path)?, lines(&new.path)?);
    let (old_texts, new_texts) = (texts(&old_lines), texts(&new_lines));
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&old_texts, &new_texts);
    let mut out = String::new();
    let mut numbers = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let _ = writeln!(
            out,
            "@@ {} {} -> {} {} @@",
            old.name,
            lines_shown(&old_lines, first.old_range().start..last.old_range().end),
            new.name,
            lines_shown(&new_lines, first.new_range().start..last.new_range().end),
        );
        numbers.push(None);
        for op in &group {
            for change in diff.iter_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                let _ = writeln!(out, "{}", format!("{sign}{}", change.value()).trim_end());
                numbers.push(change.new_index().map(|index| new_lines[index].number));
            }
        }
    }
    let [one, other] = [old, new].map(|side| repo.display_path(&side.path));
    ensure!(!out.is_empty(), "`{anchor}` is the same in {one} and {other}: there is nothing to show");
    Ok((out.trim_end().to_owned(), numbers))
}

fn texts(lines: &[Numbered]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

/// Formats a range as `line 12` or `lines 12-20`, numbered as in the file.
fn lines_shown(lines: &[Numbered], range: std::ops::Range<usize>) -> String {
    let number = |index: usize| lines.get(index).map_or(0, |line| line.number);
    match range.len() {
        0 | 1 => format!("line {}", number(range.start)),
        _ => format!("lines {}-{}", number(range.start), number(range.end - 1)),
    }
}

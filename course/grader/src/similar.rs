//! Finds submissions that are the same or have common passages: a hint for the instructor, not a verdict.
//!
//! Sources are compared as sequences of tokens without chosen names and numbers, so that renaming changes nothing. Of
//! all runs of `RUN` tokens, the smallest hash of each `WINDOW` neighbours is kept (winnowing): a shared passage of
//! `RUN + WINDOW - 1` tokens is always found. Passages of the starter, and those that many share, are left out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use catalog::files::{FileError, write_derived};
use cpp_tokens::Kind;
use serde::{Deserialize, Serialize};

/// Tokens of a run.
const RUN: usize = 14;
/// Number of consecutive runs of which one hash is kept.
const WINDOW: usize = 8;
/// Smallest reported share of the passages of the smaller source.
const MIN_SHARE: f64 = 0.6;
/// Smallest reported number of common passages.
const MIN_PASSAGES: usize = 6;
/// Share of submissions above which a passage belongs to the task.
const COMMON: f64 = 0.25;
/// Submissions that may share a passage even in a small class.
const COMMON_AT_LEAST: usize = 3;
/// Limit of reported pairs.
const MAX_PAIRS: usize = 30;
/// Pairs found until those beyond the limit are dropped.
const MANY_PAIRS: usize = 4096;
/// Two kernels of one task with common passages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimilarPair {
    /// Name of the task, such as `v02`.
    pub task: String,
    /// The two students, in alphabetical order, or a student and what was compared with.
    pub students: [String; 2],
    /// Common part of the smaller source's passages, from 0 to 1, with two digits.
    pub share: f64,
    pub passages: usize,
}

/// Submissions to one task with the same kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SameKernel {
    pub task: String,
    /// The students, in alphabetical order, and what they were compared with.
    pub students: Vec<String>,
    /// Names or numbers differ, not only comments and spaces.
    pub renamed: bool,
}

/// A kernel, with the name of who handed it in, or of where it is from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// Whether it was handed in now: others are compared with these, not among themselves.
    pub is_submission: bool,
}

/// Returns what the sources of one task have in common: those that are the same, and pairs, the most similar first.
pub fn compare(task: &str, starter: &str, sources: &[Source<'_>]) -> (Vec<SameKernel>, Vec<SimilarPair>) {
    let of_starter: BTreeSet<u64> = run_hashes(starter).into_iter().collect();
    // Sources by their passages: in a class of thousands many hand in the same.
    let mut prints: HashMap<&str, Vec<u64>> = HashMap::new();
    let mut groups: BTreeMap<Vec<u64>, Vec<Source<'_>>> = BTreeMap::new();
    for source in sources {
        let new = || fingerprint(source.text).difference(&of_starter).copied().collect();
        let print = prints.entry(source.text).or_insert_with(new);
        groups.entry(print.clone()).or_default().push(*source);
    }
    let mut groups: Vec<(Vec<u64>, Vec<Source<'_>>)> = groups.into_iter().collect();
    groups.iter_mut().for_each(|(_, sources)| sources.sort_unstable_by_key(|source| source.name));
    let is_same = |(print, sources): &&(Vec<u64>, Vec<Source<'_>>)| {
        sources.len() > 1 && sources.iter().any(|source| source.is_submission) && print.len() >= MIN_PASSAGES
    };
    let same = groups.iter().filter(is_same).map(|(_, sources)| SameKernel {
        task: task.to_owned(),
        students: sources.iter().map(|source| source.name.to_owned()).collect(),
        renamed: sources.iter().any(|source| words(source.text).ne(words(sources[0].text))),
    });
    let same = same.collect();
    // The groups that have a passage, in order.
    let mut owners: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, (print, _)) in groups.iter().enumerate() {
        for hash in print {
            owners.entry(*hash).or_default().push(at);
        }
    }
    let most = ((sources.len() as f64 * COMMON) as usize).max(COMMON_AT_LEAST);
    owners.retain(|_, owners| owners.iter().map(|&at| groups[at].1.len()).sum::<usize>() <= most);
    let size = |(print, _): &(Vec<u64>, _)| print.iter().filter(|&hash| owners.contains_key(hash)).count();
    let sizes: Vec<usize> = groups.iter().map(size).collect();
    // For each later group, the number of passages that it shares with this one.
    let mut shared = vec![0_usize; groups.len()];
    let mut found = Vec::new();
    for (a, (print, students)) in groups.iter().enumerate() {
        let mut others = Vec::new();
        for owners in print.iter().filter_map(|hash| owners.get(hash)) {
            for &b in &owners[owners.partition_point(|&b| b <= a)..] {
                if shared[b] == 0 {
                    others.push(b);
                }
                shared[b] += 1;
            }
        }
        for b in others {
            let passages = std::mem::take(&mut shared[b]);
            let smaller = sizes[a].min(sizes[b]);
            if passages < MIN_PASSAGES || (passages as f64) < MIN_SHARE * smaller as f64 {
                continue;
            }
            let share = (100.0 * passages as f64 / smaller as f64).round() / 100.0;
            found.extend(first_pairs(students, &groups[b].1).into_iter().map(|pair| (share, passages, pair)));
            if found.len() >= MANY_PAIRS {
                keep_most_similar(&mut found);
            }
        }
    }
    keep_most_similar(&mut found);
    let pair = |(share, passages, students): (f64, usize, [&str; 2])| SimilarPair {
        task: task.to_owned(),
        students: students.map(str::to_owned),
        share,
        passages,
    };
    (same, found.into_iter().map(pair).collect())
}

/// Writes sources as MOSS takes them: the starter, and a folder for each name.
pub fn write_moss(folder: &Path, file: &str, starter: &str, sources: &[Source<'_>]) -> Result<(), FileError> {
    let put = |path: PathBuf, text: &str| {
        let made = std::fs::create_dir_all(catalog::files::folder_of(&path)).and_then(|()| write_derived(&path, text));
        made.map_err(FileError::at(&path))
    };
    put(folder.join("base").join(file), starter)?;
    sources
        .iter()
        .try_for_each(|source| put(folder.join("all").join(crate::file_name(source.name)).join(file), source.text))
}

/// Returns the first [`MAX_PAIRS`] pairs with one source from each group, in alphabetical order.
fn first_pairs<'a>(group: &[Source<'a>], others: &[Source<'a>]) -> Vec<[&'a str; 2]> {
    let first = |group: &[Source<'a>]| group.iter().take(MAX_PAIRS).copied().collect::<Vec<_>>();
    let others = first(others);
    let pairs = first(group).into_iter().flat_map(|one| others.iter().map(move |other| (one, *other)));
    let of_class = pairs.filter(|(one, other)| one.is_submission || other.is_submission);
    let sorted = |(one, other): (Source<'a>, Source<'a>)| [one.name.min(other.name), one.name.max(other.name)];
    let mut found: Vec<[&str; 2]> = of_class.map(sorted).collect();
    found.sort_unstable();
    found.truncate(MAX_PAIRS);
    found
}

/// Sorts pairs, the most similar first, and drops those beyond [`MAX_PAIRS`].
fn keep_most_similar(found: &mut Vec<(f64, usize, [&str; 2])>) {
    found.sort_by(|a, b| {
        let order = (b.0, b.1).partial_cmp(&(a.0, a.1));
        order.unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.2.cmp(&b.2))
    });
    found.truncate(MAX_PAIRS);
}

fn run_hashes(text: &str) -> Vec<u64> {
    let tokens = tokens(text);
    tokens.windows(RUN).map(hash).collect()
}

/// Returns the smallest hash of each window.
fn fingerprint(text: &str) -> BTreeSet<u64> {
    let runs = run_hashes(text);
    match runs.len() {
        0 => BTreeSet::new(),
        n if n <= WINDOW => runs.into_iter().min().into_iter().collect(),
        _ => runs.windows(WINDOW).filter_map(|window| window.iter().min().copied()).collect(),
    }
}

/// Computes FNV-1a with a final mix, so that the smallest of several hashes is a random one.
fn hash(tokens: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in tokens.iter().flat_map(|token| token.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// Returns the tokens of a source: chosen names as `n`, numbers as `0`, strings as `s`.
fn tokens<'t>(text: &'t str) -> Vec<&'t str> {
    let plain = |token: cpp_tokens::Token<'t>| match token.kind {
        Kind::Char | Kind::Str => "s",
        Kind::Number => "0",
        Kind::Word if !token.is_reserved() => "n",
        _ => token.text,
    };
    cpp_tokens::tokens(text).map(plain).filter(|text| !text.is_empty()).collect()
}

/// Returns the words, numbers, strings and signs of a source, without comments and white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    cpp_tokens::tokens(text).map(|token| token.text)
}

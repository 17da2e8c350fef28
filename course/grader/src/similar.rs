//! Submissions with common passages: a hint for a person, and no verdict.
//!
//! Sources are compared as sequences of tokens without chosen names and numbers, so that renaming changes nothing. Of
//! all runs of `RUN` tokens, the smallest hash of each `WINDOW` neighbours is kept (winnowing): a shared passage of
//! `RUN + WINDOW - 1` tokens is always found. Passages of the starter, and those that many share, are left out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

/// Tokens of a run.
const RUN: usize = 14;
/// Runs of which one is kept.
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
/// Words with a meaning for the compiler, which are kept.
#[rustfmt::skip]
const WORDS: [&str; 56] = [
    "auto", "bool", "break", "case", "char", "class", "const", "constexpr", "continue", "do", "double", "else",
    "enum", "extern", "false", "float", "float2", "float4", "for", "if", "inline", "int", "long",
    "reinterpret_cast", "return", "short", "sizeof", "static", "static_cast", "struct", "switch", "template",
    "true", "typename", "unsigned", "using", "void", "volatile", "while", "__device__", "__forceinline__",
    "__global__", "__launch_bounds__", "__ldg", "__restrict__", "__shared__", "__shfl_sync", "__shfl_down_sync",
    "__shfl_xor_sync", "__syncthreads", "__syncwarp", "asm", "blockDim", "blockIdx", "gridDim", "threadIdx",
];

/// Two submissions to one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Name of the task, such as `v02`.
    pub task: String,
    /// The two students, in alphabetical order.
    pub students: [String; 2],
    /// Common part of the smaller source's passages, from 0 to 1, with two digits.
    pub share: f64,
    pub passages: usize,
}

/// Pairs among the sources of one task by student, the most similar first.
pub fn pairs(task: &str, starter: &str, sources: &[(&str, &str)]) -> Vec<Pair> {
    let given: BTreeSet<u64> = runs(starter).into_iter().collect();
    // Students by their passages: in a class of thousands many hand in the same.
    let mut prints: HashMap<&str, Vec<u64>> = HashMap::new();
    let mut groups: BTreeMap<Vec<u64>, Vec<&str>> = BTreeMap::new();
    for (student, text) in sources {
        let print = prints.entry(text).or_insert_with(|| fingerprint(text).difference(&given).copied().collect());
        groups.entry(print.clone()).or_default().push(student);
    }
    let mut groups: Vec<(Vec<u64>, Vec<&str>)> = groups.into_iter().collect();
    groups.iter_mut().for_each(|(_, students)| students.sort_unstable());
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
    // The passages that each group, from the one at hand on, shares with it.
    let mut shared = vec![0_usize; groups.len()];
    let mut found = Vec::new();
    for (a, (print, students)) in groups.iter().enumerate() {
        let mut others = Vec::new();
        for owners in print.iter().filter_map(|hash| owners.get(hash)) {
            for &b in &owners[owners.partition_point(|&b| b < a)..] {
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
            let others = (a != b).then(|| groups[b].1.as_slice());
            found.extend(first_pairs(students, others).into_iter().map(|pair| (share, passages, pair)));
            if found.len() >= MANY_PAIRS {
                keep_most_similar(&mut found);
            }
        }
    }
    keep_most_similar(&mut found);
    let pair = |(share, passages, students): (f64, usize, [&str; 2])| Pair {
        task: task.to_owned(),
        students: students.map(str::to_owned),
        share,
        passages,
    };
    found.into_iter().map(pair).collect()
}

/// Returns the first [`MAX_PAIRS`] pairs, in alphabetical order, of students of one group, or of one from each of two.
fn first_pairs<'a>(students: &[&'a str], others: Option<&[&'a str]>) -> Vec<[&'a str; 2]> {
    let of_group = |students: &[&'a str], group: u8| {
        let first = students.iter().take(MAX_PAIRS + 1);
        first.map(|student| (*student, group)).collect::<Vec<_>>()
    };
    let mut all = of_group(students, 0);
    all.extend(of_group(others.unwrap_or_default(), 1));
    all.sort_unstable();
    let mut found = Vec::new();
    for (at, (first, group)) in all.iter().enumerate() {
        let second = all[at + 1..].iter().filter(|(_, other)| others.is_none() || other != group);
        found.extend(second.map(|(second, _)| [*first, *second]));
    }
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

fn runs(text: &str) -> Vec<u64> {
    let tokens = tokens(text);
    tokens.windows(RUN).map(hash).collect()
}

/// Returns the smallest hash of each window.
fn fingerprint(text: &str) -> BTreeSet<u64> {
    let runs = runs(text);
    match runs.len() {
        0 => BTreeSet::new(),
        n if n <= WINDOW => runs.into_iter().min().into_iter().collect(),
        _ => runs.windows(WINDOW).filter_map(|window| window.iter().min().copied()).collect(),
    }
}

/// Computes FNV-1a with a final mix, so that the smallest of several hashes is a random one.
fn hash(tokens: &[String]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in tokens.iter().flat_map(|token| token.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// Returns the tokens of a source: without comments and white space, chosen names as `n`, numbers as `0`, strings as
/// `s`.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if c.is_whitespace() => c.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' => {
                out.push("s".into());
                string(rest, first)
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let end = end.unwrap_or(rest.len());
                let word = &rest[..end];
                out.push(if WORDS.contains(&word) { word.into() } else { "n".into() });
                end
            }
            c if c.is_ascii_digit() => {
                out.push("0".into());
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
                end.unwrap_or(rest.len())
            }
            c => {
                out.push(c.to_string());
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    out
}

/// Returns the length in bytes of a literal at the beginning, with its quotes.
fn string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

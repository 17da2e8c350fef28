//! Submissions with common passages: a hint for a person, and no verdict.
//!
//! Sources are compared as sequences of tokens without chosen names and numbers, so that renaming changes nothing. Of
//! all runs of `RUN` tokens, the smallest hash of each `WINDOW` neighbours is kept (winnowing): a shared passage of
//! `RUN + WINDOW - 1` tokens is always found. Passages of the starter, and those that many share, are left out.

use std::collections::{BTreeMap, BTreeSet};

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
pub fn pairs(task: &str, starter: &str, sources: &[(String, String)]) -> Vec<Pair> {
    let given: BTreeSet<u64> = runs(starter).into_iter().collect();
    let mut prints: Vec<BTreeSet<u64>> = sources.iter().map(|(_, text)| fingerprint(text)).collect();
    let mut owners: BTreeMap<u64, usize> = BTreeMap::new();
    for print in &prints {
        for hash in print {
            *owners.entry(*hash).or_default() += 1;
        }
    }
    let most = ((sources.len() as f64 * COMMON) as usize).max(COMMON_AT_LEAST);
    for print in &mut prints {
        print.retain(|hash| !given.contains(hash) && owners.get(hash).is_none_or(|n| *n <= most));
    }
    let mut found = Vec::new();
    for a in 0..sources.len() {
        for b in a + 1..sources.len() {
            let passages = prints[a].intersection(&prints[b]).count();
            let smaller = prints[a].len().min(prints[b].len());
            if passages < MIN_PASSAGES || (passages as f64) < MIN_SHARE * smaller as f64 {
                continue;
            }
            let mut students = [sources[a].0.clone(), sources[b].0.clone()];
            students.sort();
            found.push(Pair {
                task: task.to_owned(),
                students,
                share: (100.0 * passages as f64 / smaller as f64).round() / 100.0,
                passages,
            });
        }
    }
    found.sort_by(|a, b| {
        let order = (b.share, b.passages).partial_cmp(&(a.share, a.passages));
        order.unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.students.cmp(&b.students))
    });
    found.truncate(MAX_PAIRS);
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text for each seed: statements with random operators.
    fn source(seed: usize, names: &str) -> String {
        const OPERATORS: [&str; 8] = ["+", "-", "*", "/", "&", "|", "^", "<"];
        let mut state = seed as u64;
        let mut operator = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            OPERATORS[(mixed >> 61) as usize]
        };
        let mut out = String::from("__global__ void k(int M) {\n");
        for at in 0..60 {
            let ops: [&str; 5] = std::array::from_fn(|_| operator());
            let [a, b, c, d, e] = ops;
            out.push_str(&format!("float {names}{at} = p {a} q {b} r {c} s {d} t {e} {at};\n"));
        }
        out + "}\n"
    }

    fn named(class: &[(&str, String)], starter: &str) -> Vec<String> {
        let sources: Vec<(String, String)> =
            class.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
        pairs("v02", starter, &sources)
            .iter()
            .map(|pair| format!("{} {} {}", pair.students[0], pair.students[1], pair.share))
            .collect()
    }

    #[test]
    fn renaming_and_comments_hide_nothing() {
        let renamed = source(1, "y").replace('\n', " // mine\n");
        let class = [("bob", source(1, "x")), ("ada", renamed), ("eve", source(2, "x"))];
        assert_eq!(named(&class, ""), ["ada bob 1"]);
    }

    #[test]
    fn what_the_starter_has_does_not_count() {
        let class = [("ada", source(1, "x")), ("bob", source(1, "x"))];
        assert!(named(&class, &source(1, "z")).is_empty());
    }

    #[test]
    fn what_everybody_has_does_not_count() {
        let names = ["a", "b", "c", "d", "e"];
        let class: Vec<(&str, String)> = names.iter().map(|name| (*name, source(1, "x"))).collect();
        assert!(named(&class, "").is_empty());
    }

    #[test]
    fn odd_texts_have_tokens_too() {
        for text in ["", "\"", "'\\", "/*", "//", "ä\u{0}€", "1e+", "/* x */ y"] {
            let _ = tokens(text);
        }
        assert_eq!(tokens("x = 'a' + \"b\\\"\"; // c"), ["n", "=", "s", "+", "s", ";"]);
    }
}

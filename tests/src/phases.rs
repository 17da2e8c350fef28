//! Barriers in shared memory and bulk copies, used the same way on a GPU and on the emulator.
//!
//! Each case is a line of steps that one thread takes, and what it sees. The example `clusters_on_device` asks a GPU;
//! `it/steps.rs` asks the emulator. The answers are what the PTX manual defines, and what an H200 gave to all of them.

use std::fmt::Write as _;

use crate::{Answer, UNSEEN};

/// Words of global memory that copies read and write, and bytes of shared memory.
pub const WORDS: usize = 512;
pub const SEEN: usize = 16;

/// Returns the cases of `tests/data/steps/phases.txt`: a name and steps, which `; ` separates, and the answer.
///
/// Steps, on the barrier at hand:
/// - `init N`, `inval`, `arrive`, `arrive N`, `arrive+expect B`, `drop`, `drop N`, `part N` (`.noComplete`),
///   `expect B`, `complete B`
/// - `test P`, `try P` (by parity), `state` (by what the last arrival returned): sees 1 if the phase has ended
/// - `wait P`: tries up to 1000 times, sees 1 in the end
/// - `pending`: sees the arrivals in what the last arrival returned
/// - `barrier I`: takes the next of four barriers; `offset B`: takes one that lies B bytes behind the first
/// - `load TO FROM B`, `store FROM TO B`: bulk copies, offsets in bytes; `commit`, `group N`, `read N`
/// - `cp TO FROM`: `cp.async` of 16 bytes; `cp arrive`, `cp arrive noinc`
/// - `put AT V`, `get AT`, `look AT`: a word of shared memory written, seen; a word of global memory seen; `proxy`: the
///   fence
pub fn cases() -> impl Iterator<Item = ([&'static str; 2], Answer)> {
    crate::cases(include_str!("../data/steps/phases.txt"))
}

/// Returns the module with the kernel `steps` that takes these steps.
pub fn module(steps: &str) -> String {
    let mut text = format!(include_str!("phases.ptx"), bytes = 4 * WORDS);
    let mut n_seen = 0;
    for (number, step) in steps.split("; ").enumerate() {
        let mut lines = instructions(step).replace("$loop", &format!("again{number}"));
        if lines.contains("$see") {
            lines = lines.replace("$see", &format!("st.global.u32 [%d2+{}], %r5", 4 * n_seen));
            n_seen += 1;
        }
        let _ = writeln!(text, "    // {step}\n    {lines};");
    }
    text + "    ret;\n}\n"
}

/// Returns the PTX of a step, with the step's words in place of `$1`, `$2` and `$3`.
fn instructions(step: &str) -> String {
    let words: Vec<&str> = step.split(' ').collect();
    let fits = |(pattern, _): &(&str, &str)| {
        let pattern: Vec<&str> = pattern.split(' ').collect();
        let mut pairs = pattern.iter().zip(&words);
        pattern.len() == words.len() && pairs.all(|(name, word)| name.starts_with('$') || name == word)
    };
    let mut rows = include_str!("phases.txt").lines().filter_map(|row| row.split_once(" = "));
    let (pattern, text) = rows.find(fits).unwrap_or_else(|| panic!("`{step}` is no step"));
    let numbered = pattern.split(' ').zip(words).filter(|(name, _)| name.starts_with('$'));
    numbered.fold(text.to_owned(), |text, (name, word)| text.replace(name, word))
}

pub fn shown(seen: &[u32]) -> String {
    let n = seen.iter().rposition(|word| *word != UNSEEN).map_or(0, |at| at + 1);
    let words: Vec<String> = seen[..n].iter().map(u32::to_string).collect();
    words.join(" ")
}

//! The cases of [`crate::clusters`] and [`crate::phases`] in one form, for a GPU and for the emulator.

use crate::clusters::{self, BLOCKS};
use crate::phases;

/// A kernel `steps` of blocks of 32 threads.
pub struct Steps {
    pub name: &'static str,
    pub module: String,
    pub cluster: Option<[u32; 3]>,
    pub grid: [u32; 3],
    pub memory: Vec<u32>,
    /// Words that all blocks see.
    pub n_seen: usize,
    pub shown: fn(&[u32]) -> String,
    /// The words that should be seen, or where that is not defined, how the emulator's answer starts.
    pub expected: Result<String, &'static str>,
}

pub fn all() -> Vec<Steps> {
    let of_cluster = |case: &clusters::Case, expected| Steps {
        name: case.name,
        module: clusters::module(case),
        cluster: case.cluster,
        grid: case.grid,
        memory: clusters::memory(),
        n_seen: BLOCKS * clusters::SEEN,
        shown: clusters::shown,
        expected,
    };
    let of_phases = |name: &'static str, steps: &str, expected| Steps {
        name,
        module: phases::module(steps),
        cluster: None,
        grid: [1; 3],
        memory: phases::memory(),
        n_seen: phases::SEEN,
        shown: phases::shown,
        expected,
    };
    let defined = clusters::CASES.iter().map(|case| of_cluster(case, Ok(clusters::expected(case))));
    let all = defined.chain(clusters::WRONG.iter().map(|(case, start)| of_cluster(case, Err(*start))));
    let all =
        all.chain(phases::CASES.iter().map(|(name, steps, seen)| of_phases(name, steps, Ok(phases::shown(seen)))));
    all.chain(phases::WRONG.iter().map(|(name, steps, start)| of_phases(name, steps, Err(*start)))).collect()
}

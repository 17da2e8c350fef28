//! The cases of [`crate::clusters`] and [`crate::phases`] in one form, for a GPU and for the emulator.

use crate::Answer;
use crate::clusters::{self, BLOCKS};
use crate::phases;

/// A kernel `steps` of blocks of 32 threads.
pub struct Steps {
    pub name: &'static str,
    pub module: String,
    pub cluster: Option<[u32; 3]>,
    pub grid: [u32; 3],
    /// Words of global memory: each holds its number.
    pub memory: Vec<u32>,
    /// Words that all blocks see.
    pub n_seen: usize,
    pub shown: fn(&[u32]) -> String,
    /// The words that should be seen.
    pub expected: Answer,
}

pub fn all() -> Vec<Steps> {
    let of_clusters = clusters::cases().map(|(case, expected)| Steps {
        name: case.name,
        module: clusters::module(&case),
        cluster: case.cluster,
        grid: case.grid,
        memory: (0..clusters::WORDS as u32).collect(),
        n_seen: BLOCKS * clusters::SEEN,
        shown: clusters::shown,
        expected,
    });
    let of_phases = phases::cases().map(|([name, steps], expected)| Steps {
        name,
        module: phases::module(steps),
        cluster: None,
        grid: [1; 3],
        memory: (0..phases::WORDS as u32).collect(),
        n_seen: phases::SEEN,
        shown: phases::shown,
        expected,
    });
    of_clusters.chain(of_phases).collect()
}

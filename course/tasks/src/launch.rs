//! Launches that do not follow from the computation of a kernel.

use serde::{Deserialize, Serialize};

/// Multiprocessors of an H200, which persistent kernels fill.
pub const SMS: u32 = 132;

/// Number of blocks of a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocks {
    /// One for each tile.
    #[default]
    Tiles,
    /// One for each multiprocessor, or for each tile if these are fewer.
    Persistent,
    /// A cluster of two for each two multiprocessors, or for each tile if these are fewer.
    PersistentPairs,
}

impl Blocks {
    /// Returns the grid for a grid of tiles.
    pub(crate) fn grid(self, tiles: [u32; 3]) -> [u32; 3] {
        let n = tiles.iter().product::<u32>();
        match self {
            Self::Tiles => tiles,
            Self::Persistent => [n.min(SMS), 1, 1],
            Self::PersistentPairs => [2 * n.clamp(1, SMS / 2), 1, 1],
        }
    }
}

/// A launch whose arguments and grid do not follow from the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnLaunch {
    /// Names of the arguments, in order; `A:64x128/128` is a tensor map of A, with boxes of 64 columns and 128 rows,
    /// and a swizzle of 128 bytes.
    pub arguments: Vec<String>,
    pub blocks: Blocks,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persistent_blocks_are_at_most_one_for_each_multiprocessor() {
        let grids = [[8, 4, 1], [16, 16, 1]].map(|tiles| {
            [Blocks::Tiles, Blocks::Persistent, Blocks::PersistentPairs].map(|blocks| blocks.grid(tiles)[0])
        });
        assert_eq!(grids, [[8, 32, 64], [16, 132, 132]]);
    }
}

//! The kernels that a product can choose from, and how each shares out its work.

/// The copies of tiles to shared memory, which decide what matrices a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Boxes of tensor maps, by the TMA: rows on 16 bytes.
    Boxes,
    /// Word by word, by producer warps: rows anywhere.
    Words,
    /// By the consumer threads themselves, 16 bytes at a time: rows on 16 bytes. One tile per block.
    Threads,
}

/// A kernel with its constants, which are those of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub entry: &'static str,
    pub source: Source,
    /// Tile of C: rows, columns; and k of a pair of tiles.
    pub tile: [u32; 3],
    /// Rows and columns of the tile that one thread owns.
    pub thread: [u32; 2],
    /// Groups of warps that take a part of the k of each pair of tiles.
    pub slices: u32,
    /// Pairs of tiles in shared memory.
    pub stages: u32,
    /// Threads of the producer warps, which copy.
    pub producers: u32,
    pub blocks: u32,
}

const FLOAT: u32 = 4;
const BARRIER: u32 = 8;

/// The plan of `v11_rescheduled.cu`, and of the kernels that it came from.
pub const LARGE: Plan = Plan {
    entry: "sgemm_v11_rescheduled",
    source: Source::Boxes,
    tile: [256, 128, 16],
    thread: [8, 16],
    slices: 1,
    stages: 4,
    producers: 128,
    blocks: 1,
};

/// What plans that copy word by word have in common.
const WORDS: Plan = Plan { source: Source::Words, producers: 128, blocks: 2, ..LARGE };

/// All plans of the library. The kernels of the others are in `v11_gemm.cu`.
#[rustfmt::skip]
pub const PLANS: [Plan; 11] = [
    LARGE,
    Plan { entry: "sgemm_v11_boxes_64x128x32", tile: [64, 128, 32], thread: [8, 16], slices: 4, stages: 4, producers: 128, blocks: 1, ..LARGE },
    Plan { entry: "sgemm_v11_boxes_64x128x16", tile: [64, 128, 16], thread: [8, 8], slices: 1, stages: 4, producers: 32, blocks: 2, ..LARGE },
    Plan { entry: "sgemm_v11_boxes_32x64x32", tile: [32, 64, 32], thread: [8, 8], slices: 4, stages: 4, producers: 32, blocks: 2, ..LARGE },
    Plan { entry: "sgemm_v11_boxes_32x64x16", tile: [32, 64, 16], thread: [4, 8], slices: 2, stages: 6, producers: 32, blocks: 3, ..LARGE },
    Plan { entry: "sgemm_v11_words_64x128x32", tile: [64, 128, 32], slices: 4, stages: 5, blocks: 1, ..WORDS },
    Plan { entry: "sgemm_v11_words_128x64x16", tile: [128, 64, 16], thread: [8, 8], slices: 1, stages: 8, ..WORDS },
    Plan { entry: "sgemm_v11_words_64x128x16", tile: [64, 128, 16], thread: [8, 8], slices: 1, stages: 8, ..WORDS },
    Plan { entry: "sgemm_v11_words_64x64x32", tile: [64, 64, 32], thread: [8, 8], slices: 2, stages: 5, ..WORDS },
    Plan { entry: "sgemm_v11_words_32x64x32", tile: [32, 64, 32], thread: [8, 8], slices: 4, stages: 4, ..WORDS },
    Plan {
        entry: "sgemm_v11_threads_16x32x32", source: Source::Threads,
        tile: [16, 32, 32], thread: [4, 4], slices: 4, stages: 4, producers: 0, blocks: 4,
    },
];

impl Plan {
    /// Returns the number of threads of the consumer warps, which multiply.
    pub const fn consumers(&self) -> u32 {
        let [bm, bn, _] = self.tile;
        self.slices * (bm / self.thread[0]) * (bn / self.thread[1])
    }

    pub const fn threads(&self) -> u32 {
        self.consumers() + self.producers
    }

    /// Returns the bytes of shared memory: the ring, the accumulators of slices, and two barriers per pair of tiles.
    pub const fn shared(&self) -> u32 {
        let [bm, bn, bk] = self.tile;
        let barriers = match self.source {
            Source::Threads => 0,
            Source::Boxes | Source::Words => 2 * self.stages * BARRIER,
        };
        self.stages * (bm + bn) * bk * FLOAT + (self.slices - 1) * bm * bn * FLOAT + barriers
    }

    pub fn tiles(&self, m: usize, n: usize) -> usize {
        m.div_ceil(self.tile[0] as usize) * n.div_ceil(self.tile[1] as usize)
    }

    pub fn steps(&self, k: usize) -> usize {
        k.div_ceil(self.tile[2] as usize)
    }
}

/// The part of a product that is shared out by steps of k, and not by tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nothing.
    Tiles,
    /// The last round of tiles, which is not full.
    LastRound,
    /// That and the round before, so that a block's share is not small.
    LastTwoRounds,
}

impl Sharing {
    pub const ALL: [Self; 3] = [Self::Tiles, Self::LastRound, Self::LastTwoRounds];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    pub blocks: usize,
    /// Tiles that one block does whole.
    pub whole: usize,
}

impl Plan {
    /// Returns the blocks and whole tiles on a card with `n_sms` multiprocessors; `None` with nothing to share.
    pub fn shares(&self, tiles: usize, steps: usize, sharing: Sharing, n_sms: usize) -> Option<Shares> {
        let slots = n_sms * self.blocks as usize;
        let rounds = tiles / slots;
        let whole = match sharing {
            Sharing::Tiles => {
                let most = if self.source == Source::Threads { tiles } else { slots };
                return Some(Shares { blocks: tiles.min(most), whole: tiles });
            }
            _ if self.source == Source::Threads || tiles.is_multiple_of(slots) => return None,
            Sharing::LastRound => rounds * slots,
            Sharing::LastTwoRounds => rounds.checked_sub(1).filter(|rounds| *rounds > 0)? * slots,
        };
        let shared = (tiles - whole) * steps;
        // With whole tiles, too, all blocks are needed.
        (whole == 0 || shared >= slots).then_some(Shares { blocks: slots.min(shared), whole })
    }
}

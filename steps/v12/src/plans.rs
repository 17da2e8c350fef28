//! The library's plans: one row for each pair of kernels in `kernels/v12_gemm.cu`, and what a product costs with it.

use cudarc::driver::LaunchConfig;
use harness::map::ALIGNED;
use harness::{Bf16, Shape, blocks, grid_1d};

/// Columns of a box of A and B, and the depth of their tiles, in elements: rows of 128 bytes.
pub const DEPTH: u32 = 64;
const ROW_BYTES: u32 = 128;
const GROUP: u32 = 128;
const PRODUCERS: u32 = 32;
const BARRIERS: u32 = 2 * 8;

/// The way in which blocks share out tiles of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// A tile for each block.
    Tile,
    /// Blocks stay, and take one tile after another; both warpgroups work on it.
    Stays,
    /// Blocks stay, and their warpgroups take tiles in turns.
    Turns,
    /// The blocks of a cluster share the k of a tile.
    Split,
    /// As [`Tile`](Self::Tile), with C stored from registers.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The kernels are `gemm_v12_NAME_f32` and `gemm_v12_NAME_bf16`.
    pub name: &'static str,
    pub schedule: Schedule,
    /// Rows and columns of a tile of C.
    pub tile: [u32; 2],
    /// Pairs of tiles of A and B in the ring.
    pub stages: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Blocks that run on a multiprocessor at a time.
    pub per_sm: u32,
    /// Bytes of shared memory behind the ring.
    pub exchange: u32,
    /// Applies a whole epilogue, and not `alpha` alone.
    pub fused: bool,
}

const fn plan(name: &'static str, schedule: Schedule, tile: [u32; 2], stages: u32, cluster: u32) -> Plan {
    let [bm, bn] = tile;
    let exchange = match schedule {
        Schedule::Stays | Schedule::Turns => 4 * 8192,
        Schedule::Split => bm * bn * 4 / cluster * (cluster - 1),
        Schedule::Tile | Schedule::Any => 0,
    };
    let per_sm = match (bm * bn == 64 * 64, exchange) {
        (true, 0) => 3,
        (true, _) => 2,
        (false, _) => 1,
    };
    Plan {
        name,
        schedule,
        tile,
        stages,
        cluster,
        per_sm,
        exchange,
        fused: matches!(schedule, Schedule::Split | Schedule::Any),
    }
}

// ANCHOR: plans
pub const PLANS: [Plan; 17] = {
    use Schedule::{Any, Split, Stays, Tile, Turns};
    [
        plan("tile_64x64", Tile, [64, 64], 4, 1),
        plan("tile_64x128", Tile, [64, 128], 9, 1),
        Plan { per_sm: 2, ..plan("two_64x128", Tile, [64, 128], 4, 1) },
        plan("tile_128x128", Tile, [128, 128], 7, 1),
        plan("tile_192x96", Tile, [192, 96], 5, 1),
        plan("pair_64x128", Tile, [64, 128], 8, 2),
        plan("stays_128x256", Stays, [128, 256], 4, 2),
        plan("turns_128x128", Turns, [128, 128], 6, 2),
        Plan { fused: true, ..plan("fused_128x128", Turns, [128, 128], 6, 2) },
        Plan { fused: true, ..plan("fused_128x192", Turns, [128, 192], 4, 2) },
        plan("any_128x128", Any, [128, 128], 7, 1),
        plan("split_4_64x64", Split, [64, 64], 4, 4),
        plan("split_8_64x64", Split, [64, 64], 4, 8),
        Plan { per_sm: 2, ..plan("split_2_64x128", Split, [64, 128], 4, 2) },
        Plan { per_sm: 2, ..plan("split_4_64x128", Split, [64, 128], 3, 4) },
        plan("split_2_128x128", Split, [128, 128], 6, 2),
        plan("split_4_128x128", Split, [128, 128], 5, 4),
    ]
};
// ANCHOR_END: plans

impl Plan {
    /// Returns whether it stores C with rows that start anywhere.
    pub fn stores_anywhere(&self) -> bool {
        matches!(self.schedule, Schedule::Any | Schedule::Split)
    }

    /// Returns whether blocks share tiles of B: each copies a part of their rows.
    pub fn shares_b(&self) -> bool {
        self.cluster > 1 && self.schedule != Schedule::Split
    }

    /// Returns rows and columns of C that belong to the blocks of a cluster.
    fn shared_tile(&self) -> [usize; 2] {
        let [bm, bn] = self.tile.map(|size| size as usize);
        [if self.shares_b() { bm * self.cluster as usize } else { bm }, bn]
    }

    /// Returns the number of clusters of blocks that would have one tile each.
    pub fn clusters(&self, m: usize, n: usize) -> usize {
        let [rows, cols] = self.shared_tile();
        m.div_ceil(rows) * n.div_ceil(cols)
    }

    pub fn steps(k: usize) -> usize {
        k.div_ceil(DEPTH as usize)
    }

    /// Columns of B that are copied for a tile: whole boxes.
    pub fn columns(&self) -> u32 {
        self.tile[1].next_multiple_of(DEPTH)
    }

    fn threads(&self) -> u32 {
        let [bm, bn] = self.tile;
        // Where the accumulators of a thread are many, a whole warpgroup copies, and gives registers away.
        let copiers =
            if self.schedule == Schedule::Turns && bm * bn / GROUP > 128 { GROUP } else { PRODUCERS };
        bm / 64 * GROUP + copiers
    }

    /// Returns the launch for a product.
    pub fn launch(&self, shape: Shape, n_sms: usize) -> LaunchConfig {
        let clusters = self.clusters(shape.m, shape.n);
        let clusters = match self.schedule {
            Schedule::Stays | Schedule::Turns => clusters.min((n_sms / self.cluster as usize).max(1)),
            Schedule::Tile | Schedule::Split | Schedule::Any => clusters,
        };
        let bytes = self.stages * ((self.tile[0] + self.columns()) * ROW_BYTES + BARRIERS) + self.exchange;
        let grid = grid_1d(blocks(clusters * self.cluster as usize, 1), self.threads());
        LaunchConfig { shared_mem_bytes: bytes, ..grid }
    }
}

pub const TERMS: usize = 10;
/// Elements of bf16 in a line of L2: where rows do not start on lines, a row of a box may lie in two of them.
pub const LINE: usize = 64;

/// A product as the costs of a plan depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub shape: Shape,
    /// Bytes of an element of C.
    pub result_bytes: usize,
    /// A and B are copied first, to rows that start on lines.
    pub packed: [bool; 2],
}

impl Work {
    /// Creates the product of matrices that are stored row after row without gaps: those are packed whose rows do not
    /// start on 16 bytes.
    pub fn without_gaps(shape: Shape, result_bytes: usize) -> Self {
        let packed = [shape.k, shape.n].map(|cols| !(cols * size_of::<Bf16>()).is_multiple_of(ALIGNED));
        Self { shape, result_bytes, packed }
    }

    /// Returns the part of the rows of a box of A, and of B, that lie in two lines.
    fn split_rows(&self) -> [f64; 2] {
        let Shape { n, k, .. } = self.shape;
        let part = |cols: usize| {
            // The largest power of two that divides both: rows start on so many elements.
            let start = 1 << cols.trailing_zeros().min(LINE.trailing_zeros());
            1.0 - f64::from(start) / LINE as f64
        };
        let [a, b] = self.packed;
        [if a { 0.0 } else { part(k) }, if b { 0.0 } else { part(n) }]
    }
}

/// Returns how often each constant of a plan counts in a product: launch; steps of the fullest multiprocessor; those
/// of it if it runs one block, and could run more; its steps with rows of A in two lines, and of B; ends of tiles;
/// megabytes of lines that come from L2; of C; packed operands; their megabytes.
// ANCHOR: terms
pub fn terms(plan: &Plan, work: &Work, n_sms: usize) -> [f64; TERMS] {
    let Work { shape: Shape { m, n, k }, result_bytes, packed } = *work;
    let (clusters, at_once) = (plan.clusters(m, n), (n_sms / plan.cluster as usize).max(1));
    let rounds = clusters.div_ceil(at_once) as f64;
    let shared_steps = if plan.schedule == Schedule::Split { plan.cluster as usize } else { 1 };
    let of_tile = Plan::steps(k).div_ceil(shared_steps) as f64;
    let steps = of_tile * rounds;
    let alone = if rounds == 1.0 && plan.per_sm > 1 { steps } else { 0.0 };
    // In turns the end of a tile is hidden behind the next.
    let ends = if plan.schedule == Schedule::Turns { 1.0 } else { rounds };
    let mb = |elements: usize, bytes: usize| (elements * bytes) as f64 / 1e6;
    let [a, b] = [mb(m * k, 2), mb(k * n, 2)];
    let [split_a, split_b] = work.split_rows();
    // A is read once for each column of tiles, B for each row of them.
    let [rows, cols] = plan.shared_tile();
    let from_l2 =
        a * n.div_ceil(cols) as f64 * (1.0 + split_a) + b * m.div_ceil(rows) as f64 * (1.0 + split_b);
    let all = [a, b].into_iter().zip(packed).filter(|(_, packed)| *packed).map(|(mb, _)| mb);
    let (n_packed, packed_mb) = (all.clone().count() as f64, all.sum());
    let (whole, c) = (steps - alone, mb(m * n, result_bytes));
    [1.0, whole, alone, steps * split_a, steps * split_b, ends, from_l2, c, n_packed, packed_mb]
}
// ANCHOR_END: terms

/// Returns the expected microseconds: each constant as often as its term counts.
pub fn expected(constants: &[f64; TERMS], terms: &[f64; TERMS]) -> f64 {
    terms.iter().zip(constants).map(|(term, us)| term * us).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_fits_a_multiprocessor_and_has_its_kernels() {
        const ROOM: u32 = 227 * 1024;
        let code: harness::KernelSource = harness::code!("v12_gemm");
        for plan in PLANS {
            let config = plan.launch(Shape::square(4096), 132);
            assert!(config.shared_mem_bytes * plan.per_sm <= ROOM, "{}", plan.name);
            for result in ["f32", "bf16"] {
                let entry = format!(".entry gemm_v12_{}_{result}(", plan.name);
                assert!(code.ptx.contains(&entry), "{entry}");
            }
        }
        assert_eq!(code.ptx.matches(".entry ").count(), 2 * PLANS.len());
    }
}

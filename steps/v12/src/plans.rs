//! The library's plans: one row for the kernels of a name in `kernels/v12_gemm*.cu`, and what a product costs with it.

use cudarc::driver::LaunchConfig;
use harness::map::ALIGNED;
use harness::{Shape, blocks, grid_1d};

/// Bytes of a row of a box of A or B, and of a line of L2: where rows do not start on lines, a row of a box may lie in
/// two of them. Also the depth of a step, in all types.
pub const ROW_BYTES: u32 = 128;
const GROUP: u32 = 128;
const PRODUCERS: u32 = 32;
const BARRIERS: u32 = 2 * 8;

/// The way in which blocks share out tiles of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// A tile for each block, by products that lie across: columns of C are their rows.
    Across,
    /// Pairs of blocks stay, and take one tile after another; both warpgroups work on it.
    Stays,
    /// Pairs of blocks stay, and their warpgroups take tiles in turns.
    Turns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The end of its kernels' names, but for the type of C.
    pub name: &'static str,
    pub schedule: Schedule,
    /// Rows and columns of a tile of C.
    pub tile: [u32; 2],
    /// Pairs of tiles of A and B in the ring.
    pub stages: u32,
    /// Blocks below each other and side by side that share what they copy.
    pub shared_by: [u32; 2],
    /// Blocks that share the k of a tile.
    pub split: u32,
    /// Blocks that run on a multiprocessor at a time.
    pub per_sm: u32,
    /// Stores C with rows that start anywhere.
    pub anywhere: bool,
    /// Applies a whole epilogue, and not `alpha` alone.
    pub fused: bool,
    /// Threads of the warps that copy.
    copiers: u32,
}

const fn plan(name: &'static str, schedule: Schedule, tile: [u32; 2], stages: u32) -> Plan {
    let shared_by = match schedule {
        Schedule::Across => [1, 1],
        Schedule::Stays | Schedule::Turns => [2, 1],
    };
    let [bm, bn] = tile;
    // Where the accumulators of a thread are many, a whole warpgroup copies, and gives registers away.
    let copiers =
        if matches!(schedule, Schedule::Turns) && bm * bn / GROUP > 128 { GROUP } else { PRODUCERS };
    Plan {
        name,
        schedule,
        tile,
        stages,
        shared_by,
        split: 1,
        per_sm: 1,
        anywhere: false,
        fused: false,
        copiers,
    }
}

const fn tile(name: &'static str, tile: [u32; 2], stages: u32) -> Plan {
    plan(name, Schedule::Across, tile, stages)
}

const fn two(plan: Plan) -> Plan {
    Plan { per_sm: 2, ..plan }
}

const fn share(name: &'static str, shared_by: [u32; 2], size: [u32; 2], stages: u32) -> Plan {
    Plan { shared_by, ..tile(name, size, stages) }
}

const fn any(name: &'static str, size: [u32; 2], stages: u32) -> Plan {
    Plan { anywhere: true, fused: true, ..tile(name, size, stages) }
}

const fn split(name: &'static str, split: u32, size: [u32; 2], stages: u32) -> Plan {
    Plan { split, ..any(name, size, stages) }
}

const fn fused(plan: Plan) -> Plan {
    Plan { fused: true, ..plan }
}

/// Returns a plan whose accumulators of FP8 are there twice, for those that are promoted.
const fn promoted(plan: Plan) -> Plan {
    Plan { copiers: GROUP, ..plan }
}

// ANCHOR: plans
pub const OF_BF16: [Plan; 34] = {
    use Schedule::{Stays, Turns};
    [
        two(any("any_16x64", [16, 64], 10)),
        any("any_64x64", [64, 64], 13),
        two(any("any_96x64", [96, 64], 5)),
        any("any_128x128", [128, 128], 7),
        tile("tile_48x64", [48, 64], 14),
        tile("tile_80x64", [80, 64], 11),
        two(tile("two_96x64", [96, 64], 5)),
        tile("tile_112x64", [112, 64], 10),
        tile("tile_80x128", [80, 128], 8),
        tile("tile_128x128", [128, 128], 7),
        share("share_2x1_64x128", [2, 1], [64, 128], 9),
        share("share_2x1_128x64", [2, 1], [128, 64], 9),
        share("share_2x2_112x64", [2, 2], [112, 64], 10),
        share("share_4x1_80x64", [4, 1], [80, 64], 11),
        share("share_1x2_112x128", [1, 2], [112, 128], 7),
        share("share_1x4_128x128", [1, 4], [128, 128], 7),
        share("share_2x1_96x192", [2, 1], [96, 192], 6),
        share("share_4x1_96x192", [4, 1], [96, 192], 6),
        share("share_2x1_144x192", [2, 1], [144, 192], 5),
        share("share_1x2_144x192", [1, 2], [144, 192], 5),
        share("share_2x1_192x192", [2, 1], [192, 192], 4),
        fused(share("fused_2x1_128x64", [2, 1], [128, 64], 9)),
        fused(share("fused_2x1_96x192", [2, 1], [96, 192], 6)),
        two(split("split_2_16x64", 2, [16, 64], 10)),
        split("split_2_32x64", 2, [32, 64], 16),
        split("split_2_64x64", 2, [64, 64], 12),
        two(split("split_4_64x64", 4, [64, 64], 6)),
        two(split("split_8_64x64", 8, [64, 64], 6)),
        split("split_2_128x128", 2, [128, 128], 6),
        split("split_4_128x128", 4, [128, 128], 5),
        plan("turns_128x128", Turns, [128, 128], 6),
        fused(plan("fused_128x128", Turns, [128, 128], 6)),
        fused(plan("fused_128x256", Stays, [128, 256], 4)),
        fused(plan("fused_128x192", Turns, [128, 192], 4)),
    ]
};
// ANCHOR_END: plans

// ANCHOR: few
/// The plans of other types, whose kernels read both operands with neighbouring k side by side.
const fn few(stays: Plan) -> [Plan; 7] {
    [
        two(any("any_16x64", [16, 64], 10)),
        any("any_64x64", [64, 64], 13),
        any("any_128x128", [128, 128], 7),
        share("share_2x1_64x128", [2, 1], [64, 128], 9),
        share("share_2x1_96x192", [2, 1], [96, 192], 6),
        two(split("split_4_64x64", 4, [64, 64], 6)),
        fused(stays),
    ]
}

pub const OF_TF32: [Plan; 7] = few(plan("stays_128x256", Schedule::Stays, [128, 256], 4));
pub const OF_E4M3: [Plan; 9] = {
    // With fast sums, warpgroups of `pairs` take turns; the launch is the same.
    let [a, b, c, d, e, f, g] = few(promoted(plan("pairs_128x192", Schedule::Stays, [128, 192], 4)));
    let wide = fused(promoted(plan("stays_128x256", Schedule::Stays, [128, 256], 4)));
    [a, b, c, d, e, f, g, tile("tile_128x128", [128, 128], 7), wide]
};
// ANCHOR_END: few

impl Plan {
    /// Returns the number of blocks of a cluster.
    pub fn cluster(&self) -> u32 {
        self.shared_by[0] * self.shared_by[1] * self.split
    }

    /// Returns rows and columns of C that belong to the blocks of a cluster.
    fn shared_tile(&self) -> [usize; 2] {
        [0, 1].map(|i| (self.tile[i] * self.shared_by[i]) as usize)
    }

    /// Returns the number of clusters of blocks that would have one tile each.
    pub fn clusters(&self, m: usize, n: usize) -> usize {
        let [rows, cols] = self.shared_tile();
        m.div_ceil(rows) * n.div_ceil(cols)
    }

    /// Returns the rows of boxes of A, B, and C, of 128 bytes each. B has a row for each k, or for each column.
    pub fn box_rows(&self, b_by_k: bool) -> [u32; 3] {
        const EDGE: u32 = 64;
        let [bm, bn] = self.tile;
        let of_b = if b_by_k && self.schedule != Schedule::Across { bn } else { EDGE };
        let of_c = if self.schedule == Schedule::Across { bm } else { EDGE };
        [bm / self.shared_by[1], of_b / self.shared_by[0], of_c]
    }

    fn threads(&self) -> u32 {
        let [bm, bn] = self.tile;
        let edge = if self.schedule == Schedule::Across { bn } else { bm };
        edge / 64 * GROUP + self.copiers
    }

    /// Returns bytes of shared memory behind the ring: for parts of C on their way to other blocks, or out.
    fn exchange(&self) -> u32 {
        let [bm, bn] = self.tile;
        match self.schedule {
            Schedule::Across => bm * bn * 4 / self.split * (self.split - 1),
            Schedule::Stays | Schedule::Turns => 4 * 8192,
        }
    }

    /// Returns the launch for a product.
    pub fn launch(&self, shape: Shape, n_sms: usize) -> LaunchConfig {
        let clusters = self.clusters(shape.m, shape.n);
        let clusters = match self.schedule {
            Schedule::Stays | Schedule::Turns => clusters.min((n_sms / self.cluster() as usize).max(1)),
            Schedule::Across => clusters,
        };
        let [bm, bn] = self.tile;
        let bytes = self.stages * ((bm + bn) * ROW_BYTES + BARRIERS) + self.exchange();
        let grid = grid_1d(blocks(clusters * self.cluster() as usize, 1), self.threads());
        LaunchConfig { shared_mem_bytes: bytes, ..grid }
    }
}

pub const TERMS: usize = 12;
/// The first of the [`terms`] of packed operands.
pub const PACKING: usize = 10;
/// A product as the costs of a plan depend on it.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub shape: Shape,
    /// Bytes of an element of A and B.
    pub factor_bytes: usize,
    /// Bytes of an element of C.
    pub result_bytes: usize,
    /// Kernels read B as N × K.
    pub b_by_k: bool,
    /// A and B are copied first, to rows that start on lines.
    pub packed: [bool; 2],
}

impl Work {
    /// Returns the product of matrices that are stored row after row without gaps, in the order that kernels read:
    /// those are packed whose rows do not start on 16 bytes.
    pub fn without_gaps(shape: Shape, factor_bytes: usize, result_bytes: usize, b_by_k: bool) -> Self {
        let work = Self { shape, factor_bytes, result_bytes, b_by_k, packed: [false; 2] };
        Self { packed: work.rows().map(|cols| !(cols * factor_bytes).is_multiple_of(ALIGNED)), ..work }
    }

    /// Returns the lengths of the rows of A and B.
    fn rows(&self) -> [usize; 2] {
        let Shape { n, k, .. } = self.shape;
        [k, if self.b_by_k { k } else { n }]
    }

    /// Returns the part of the rows of a box of A, and of B, that lie in two lines.
    fn split_rows(&self) -> [f64; 2] {
        let line = ROW_BYTES as usize / self.factor_bytes;
        let part = |(cols, packed): (usize, bool)| {
            // The largest power of two that divides both: rows start on so many elements.
            let start = 1 << cols.trailing_zeros().min(line.trailing_zeros());
            if packed { 0.0 } else { 1.0 - f64::from(start) / line as f64 }
        };
        let [a, b] = self.rows();
        [(a, self.packed[0]), (b, self.packed[1])].map(part)
    }
}

/// Returns how often each constant of a plan counts in a product, of whose clusters of blocks `at_once` have a place:
/// launch; steps of the fullest multiprocessor; those of it if it runs one block, and could run more; the steps by how
/// many of the places are taken, and of these those with rows of A in two lines, and of B; ends of tiles; megabytes
/// that come from L2; of A and B; of C; packed operands; their megabytes.
// ANCHOR: terms
pub fn terms(plan: &Plan, work: &Work, at_once: usize) -> [f64; TERMS] {
    let Work { shape: Shape { m, n, k }, factor_bytes, result_bytes, packed, .. } = *work;
    let clusters = plan.clusters(m, n);
    let rounds = clusters.div_ceil(at_once) as f64;
    let steps = (k * factor_bytes).div_ceil(ROW_BYTES as usize).div_ceil(plan.split as usize) as f64 * rounds;
    let alone = if rounds == 1.0 && plan.per_sm > 1 { steps } else { 0.0 };
    let crowded = steps * (clusters as f64 / at_once as f64).min(1.0);
    // In turns the end of a tile is hidden behind the next.
    let ends = if plan.schedule == Schedule::Turns { 1.0 } else { rounds };
    let mb = |elements: usize, bytes: usize| (elements * bytes) as f64 / 1e6;
    let [a, b] = [m, n].map(|rows| mb(rows * k, factor_bytes));
    let [split_a, split_b] = work.split_rows();
    // A is read once for each column of tiles, B for each row of them.
    let [rows, cols] = plan.shared_tile();
    let from_l2 = a * n.div_ceil(cols) as f64 + b * m.div_ceil(rows) as f64;
    let all = [a, b].into_iter().zip(packed).filter(|(_, packed)| *packed).map(|(mb, _)| mb);
    let (n_packed, packed_mb) = (all.clone().count() as f64, all.sum());
    let (whole, c) = (steps - alone, mb(m * n, result_bytes));
    let [in_two_lines_a, in_two_lines_b] = [split_a, split_b].map(|part| crowded * part);
    [1.0, whole, alone, crowded, in_two_lines_a, in_two_lines_b, ends, from_l2, a + b, c, n_packed, packed_mb]
}
// ANCHOR_END: terms

/// Returns the expected microseconds: each constant as often as its term counts.
pub fn expected(constants: &[f64; TERMS], terms: &[f64; TERMS]) -> f64 {
    terms.iter().zip(constants).map(|(term, us)| term * us).sum()
}

#[cfg(test)]
mod tests {
    use crate::gemm::{Factor, kernel_names};

    use super::*;
    use harness::{Bf16, E4m3};

    fn fits_and_has_kernels<T: Factor>() {
        // Of each block a kilobyte belongs to the system.
        const ROOM: u32 = 228 * 1024;
        const SYSTEM: u32 = 1024;
        for plan in T::PLANS {
            let config = plan.launch(Shape::square(4096), 132);
            assert!((config.shared_mem_bytes + SYSTEM) * plan.per_sm <= ROOM, "{}", plan.name);
        }
        let names: Vec<_> = kernel_names::<T>().into_iter().flatten().collect();
        for name in &names {
            assert!(T::CODE.ptx.contains(&format!(".entry {name}(")), "{name}");
        }
        assert_eq!(T::CODE.ptx.matches(".entry ").count(), names.len());
    }

    #[test]
    fn each_plan_fits_a_multiprocessor_and_has_its_kernels() {
        fits_and_has_kernels::<Bf16>();
        fits_and_has_kernels::<f32>();
        fits_and_has_kernels::<E4m3>();
    }
}

//! The parameters of a launch that its workers share, and the counters that they return.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::options::{CheckLevel, Environment};
use crate::{check::Collector, memory::Table};
use arithmetic::lanes::{CpuLevel, Line};
use program::{DecodedKernel, OpKind, RANK_SHIFT};

use crate::exec::plan::Plan;

/// A launch, as its workers share it.
pub(crate) struct LaunchJob<'j> {
    pub(crate) kernel: &'j DecodedKernel,
    pub(crate) plan: &'j Plan,
    pub(crate) table: Arc<Table>,
    pub(crate) params: &'j [u8],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster in x, y and z; 1 each in a launch without clusters.
    pub(crate) cluster: [u32; 3],
    pub(crate) cluster_blocks: u32,
    /// Whether the launch or the kernel specifies a cluster, even of one block.
    pub(crate) explicit_cluster: bool,
    /// Constants of the blocks of a cluster, by rank, from 1 on: [`cluster_constants`].
    pub(crate) constants: Vec<Vec<Line>>,
    /// [`lane_specials`](crate::exec::block::lane_specials) of the launch.
    pub(crate) lane_specials: Vec<(usize, Line)>,
    /// Blocks that a device runs at once at the very most; 0: no block fits.
    pub(crate) resident: u64,
    pub(crate) n_threads: u32,
    pub(crate) n_warps: u32,
    pub(crate) shared_bytes: u32,
    /// Binary logarithm of the bytes of the narrowest access to shared memory.
    pub(crate) shared_shift: u32,
    /// Binary logarithm of the bytes of the narrowest access to global memory.
    pub(crate) global_shift: u32,
    pub(crate) dynamic_shared: u32,
    /// Address of the workspace: [`crate::options::LaunchOptions::grid_workspace`].
    pub(crate) grid_workspace: Option<u64>,
    pub(crate) check_level: CheckLevel,
    pub(crate) level: CpuLevel,
    pub(crate) environment: Environment<'j>,
    /// The most thread-instructions of the launch.
    pub(crate) budget: Option<NonZeroU64>,
    /// Bytes of a thread's local memory, its stack included.
    pub(crate) local_bytes: u32,
    /// Bytes of a thread's stack on a GPU, where frames may be smaller than here.
    pub(crate) stack_bytes: u32,
    /// Bytes of host memory for the running blocks of a worker.
    pub(crate) worker_memory: u64,
    /// A collector without mistakes: what each block begins with.
    pub(crate) collector: Collector,
}

impl LaunchJob<'_> {
    pub(crate) fn is_over_budget(&self, spent: u64) -> bool {
        self.budget.is_some_and(|budget| spent > budget.get())
    }

    pub(crate) fn block_of(&self, cluster_index: u64, rank: u32) -> u64 {
        block_of(self.grid, self.cluster, cluster_index, rank)
    }

    /// Returns whether blocks may not fit on a device together, so that waiting for one may never end (without clocks).
    pub(crate) fn fills_a_device(&self) -> bool {
        let blocks: u64 = self.grid.iter().map(|&n| u64::from(n)).product();
        let reads_clock = || self.kernel.ops.iter().any(|op| matches!(op.kind, OpKind::ReadClock { .. }));
        let is_alone = self.cluster_blocks == 1 && self.environment.observer.is_none();
        self.check_level.checks() && is_alone && self.resident > 0 && blocks > self.resident && !reads_clock()
    }

    /// Returns the instruction of the operation at `pc`.
    pub(crate) fn instr_at(&self, pc: u32) -> u32 {
        self.kernel.ops.get(pc as usize).map_or(0, |op| op.instr)
    }

    pub(crate) fn constants(&self, rank: u32) -> *const Line {
        let of_rank = (rank as usize).checked_sub(1).and_then(|at| self.constants.get(at));
        of_rank.unwrap_or(&self.kernel.consts).as_ptr()
    }
}

/// Returns the number of the block that has a rank in a cluster of a grid.
pub fn block_of(grid: [u32; 3], cluster: [u32; 3], cluster_index: u64, rank: u32) -> u64 {
    let [x, y, _] = grid.map(u64::from);
    let [cx, cy, cz] = cluster.map(u64::from);
    let (nx, ny) = (x / cx, y / cy);
    let rank = u64::from(rank);
    let bx = cluster_index % nx * cx + rank % cx;
    let by = cluster_index / nx % ny * cy + rank / cx % cy;
    let bz = cluster_index / nx / ny * cz + rank / cx / cy;
    (bz * y + by) * x + bx
}

/// Returns the constants of a cluster's blocks from rank 1 on, whose shared addresses have the rank, if any do.
pub(crate) fn cluster_constants(kernel: &DecodedKernel, blocks: u32) -> Vec<Vec<Line>> {
    let of_rank = |rank: u32| {
        let mut lines = kernel.consts.clone();
        for constant in &kernel.shared_consts {
            let n_lines = 1 + usize::from(constant.is_wide);
            let of_constant = lines.iter_mut().skip(constant.line as usize).take(n_lines);
            let low_words = of_constant.flat_map(|line| line.0.iter_mut().step_by(n_lines));
            low_words.for_each(|word| *word |= rank << RANK_SHIFT);
        }
        lines
    };
    if kernel.shared_consts.is_empty() { Vec::new() } else { (1..blocks).map(of_rank).collect() }
}

/// Counters by operation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Differences: +1 where a straight run starts, -1 after its end; the prefix sums count each operation's runs.
    pub(crate) runs: Vec<u64>,
    /// Differences like those of `runs`, by the number of active lanes.
    pub(crate) lanes: Vec<u64>,
    /// Active lanes that a guard turned off.
    pub(crate) predicated_off: Vec<u64>,
    /// Branches at which lanes diverged.
    pub(crate) diverged: Vec<u64>,
}

impl Counts {
    pub(crate) fn new(n_ops: usize) -> Self {
        let zeros = || vec![0; n_ops + 1];
        Self { runs: zeros(), lanes: zeros(), predicated_off: zeros(), diverged: zeros() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sum = |a: &mut Vec<u64>, b: &Vec<u64>| a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(*b));
        sum(&mut self.runs, &other.runs);
        sum(&mut self.lanes, &other.lanes);
        sum(&mut self.predicated_off, &other.predicated_off);
        sum(&mut self.diverged, &other.diverged);
    }
}

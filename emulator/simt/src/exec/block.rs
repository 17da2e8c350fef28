//! The state of a block that outlives a turn of a warp.

pub(crate) mod async_copies;
pub(crate) mod barrier_state;
pub(crate) mod bulk_copies;
pub(crate) mod local_pointer;
pub(crate) mod mbarrier_state;
pub(crate) mod poll_cache;
pub(crate) mod shadow;
pub(crate) mod unwritten;
pub(crate) mod warpgroups;
pub(crate) mod watch;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::check::{Collector, coordinates, race::SharedRaces};
use crate::lane_mask::LaneMask;
use crate::memory::bits::{Bits, CellBits};
use arithmetic::lanes::{Line, WARP};
use program::limits::WARP_COST;
use program::{BARRIERS, SHARED_BASE, Special};

use crate::exec::ZERO_LINE;
use crate::exec::fiber::{Fiber, FiberState};
use crate::exec::launch_job::LaunchJob;
use barrier_state::Barrier;
use local_pointer::LocalPointer;
use shadow::Shadow;
use unwritten::{Carried, KeptUndefined};
use watch::{FIRST_PROBE, Watch};

/// State of a warp that outlives its turn.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    pub(crate) fibers: Vec<Fiber>,
    /// Lanes that have not exited.
    pub(crate) live: LaneMask,
    /// Lanes with which the warp started.
    pub(crate) all: LaneMask,
    /// Lanes that have arrived at the barrier of the cluster in its current phase.
    pub(crate) arrived: LaneMask,
    /// Lanes that arrived in a phase which has ended, and that have not waited for it yet.
    pub(crate) released: LaneMask,
    /// Number of issued operations, which is the warp's `%clock`.
    pub(crate) issued: u64,
    /// Instruction at which the lowest of the exited lanes exited.
    pub(crate) exit: Option<u32>,
    /// Whether an undefined value was used as a mask of lanes: later mistakes about masks follow from that.
    pub(crate) undefined_mask: bool,
}

impl Warp {
    /// Resets the state to that of a warp which starts with these lanes.
    fn begin(&mut self, all: LaneMask) {
        let mut fibers = std::mem::take(&mut self.fibers);
        fibers.clear();
        fibers.push(Fiber::new(all));
        *self = Self { fibers, live: all, all, ..Self::default() };
    }

    /// Returns whether some of its lanes can run.
    pub(crate) fn is_ready(&self) -> bool {
        self.fibers.iter().any(|fiber| fiber.state == FiberState::Ready)
    }
}

/// State of a block that outlives a turn.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Linear index in the grid.
    pub(crate) index: u64,
    /// Linear index of its cluster; without clusters, of the block itself.
    pub(crate) cluster_index: u64,
    pub(crate) rank: u32,
    /// The other blocks of its cluster, while this one runs.
    pub(crate) cluster: Option<Box<Cluster>>,
    /// Position in the grid: `blockIdx`.
    coords: [u32; 3],
    regs: Vec<Line>,
    preds: Vec<u32>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) shared: Vec<Line>,
    pub(crate) shared_written: CellBits,
    pub(crate) local: Vec<Line>,
    pub(crate) local_written: Bits,
    /// Pointers to local memory that other threads can read, when checked.
    pub(crate) local_pointers: Vec<LocalPointer>,
    /// Undefined registers, by warp, when checked.
    pub(super) shadows: Vec<Shadow>,
    pub(super) carried: Carried,
    pub(super) kept_undefined: KeptUndefined,
    pub(crate) barriers: [Barrier; BARRIERS as usize],
    pub(super) exited: Option<barrier_state::ExitedBefore>,
    /// Whole warps that waited at different barriers at the same time.
    pub(super) apart: barrier_state::Apart,
    /// Threads that have not exited.
    pub(crate) live: u32,
    pub(crate) copies: async_copies::Copies,
    pub(crate) bulk: bulk_copies::BulkCopies,
    pub(crate) mbarriers: mbarrier_state::Mbarriers,
    pub(crate) warpgroups: warpgroups::Warpgroups,
    pub(crate) printed: String,
    pub(crate) collector: Collector,
    /// Thread-instructions so far.
    pub(crate) spent: u64,
    /// The value of `spent` after which a warp is watched, to find a loop that never ends.
    pub(super) probe_at: u64,
    pub(super) watch: Option<Watch>,
    /// Whether a mistake ended the block that a checked launch does not survive either.
    pub(crate) fatal: bool,
    /// Turns in a row that polled memory and changed nothing.
    pub(super) quiet: u32,
    /// Tries to wait for a phase fail at once, because nothing has happened for a while.
    pub(super) tries_fail: bool,
    /// Whether its last visit did nothing but poll.
    pub(super) waits: bool,
    /// Operations by which the block's clocks run ahead of those issued (`Worker::let_time_pass`).
    pub(crate) ahead: u64,
    /// The last increment of `ahead`; 0 where the block has changed something since.
    pub(super) step: u64,
    /// Values that the block polled during its quiet turns.
    pub(super) poll_cache: poll_cache::PollCache,
    /// Hash of the state of the threads after a visit that only polled.
    kept_state: u64,
    /// Phase of the launch in which that state came back: unless the host copies to memory, the block polls forever.
    pub(super) repeats_in: u64,
    /// Number of times that the scheduler has passed over the block while it waits.
    pub(super) passes: u32,
    /// Number of times that it may do so before it runs the block again.
    pub(super) patience: u32,
}

/// The blocks of a cluster except the running one.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By rank; `None` in the place of the one that runs.
    pub(crate) members: Vec<Option<Box<Block>>>,
    /// By rank; the race checks of the block that runs are in `Worker::checks.shared_races`.
    pub(crate) races: Vec<Option<SharedRaces>>,
}

impl Cluster {
    pub(crate) fn others(&mut self) -> impl Iterator<Item = &mut Block> {
        self.members.iter_mut().flatten().map(|block| &mut **block)
    }

    /// Returns whether a value that a block polled has changed.
    pub(crate) fn changed(&mut self) -> bool {
        let mut others = self.members.iter().flatten();
        others.any(|block| block.live > 0 && block.poll_cache.changed())
    }
}

impl Block {
    pub(crate) fn new(job: &LaunchJob<'_>) -> Self {
        let n_warps = job.n_warps as usize;
        let local = job.n_warps as usize * WARP * local_stride(job);
        let checked = |n: usize| {
            if job.check_level.checks() { Bits::new(n) } else { Bits::default() }
        };
        Self {
            regs: vec![ZERO_LINE; n_warps * job.kernel.n_lines as usize],
            preds: vec![0; n_warps * job.kernel.n_preds as usize],
            warps: Vec::with_capacity(n_warps),
            shared: vec![ZERO_LINE; (job.shared_bytes as usize).div_ceil(size_of::<Line>())],
            shared_written: CellBits::new(
                if job.check_level.checks() { job.shared_bytes as usize } else { 0 },
                job.shared_shift,
            ),
            local: vec![ZERO_LINE; local.div_ceil(size_of::<Line>())],
            local_written: checked(local),
            shadows: std::iter::repeat_with(|| Shadow::new(job.kernel.n_lines, job.kernel.n_preds))
                .take(if job.check_level.checks() { n_warps } else { 0 })
                .collect(),
            collector: job.collector.clone(),
            ..Self::default()
        }
    }

    /// Notes the state of the threads in a round of a phase in which all blocks only poll.
    pub(super) fn note_state(&mut self, phase: u64, round: u64, job: &LaunchJob<'_>) {
        let mut hash = DefaultHasher::new();
        phase.hash(&mut hash);
        self.regs.iter().for_each(|line| line.0.hash(&mut hash));
        self.preds.hash(&mut hash);
        for fiber in self.warps.iter().flat_map(|warp| &warp.fibers) {
            (fiber.polls, &fiber.stack, std::mem::discriminant(&fiber.state)).hash(&mut hash);
        }
        let state = hash.finish();
        let is_mapped =
            |&(at, ..): &(*const u8, u8, u64)| job.table.holder(at).is_some_and(|(allocation, _)| allocation.host);
        if self.kept_state == state && !self.poll_cache.places().iter().any(is_mapped) {
            self.repeats_in = phase;
        } else if round.is_power_of_two() {
            self.kept_state = state;
        }
    }

    /// Resets the state to that of block `index` before its first operation.
    pub(crate) fn begin(&mut self, job: &LaunchJob<'_>, index: u64) {
        // Of an earlier block, only the buffers are kept.
        let before = std::mem::take(self);
        *self = Self {
            index,
            cluster_index: index,
            coords: coordinates(index, job.grid),
            regs: before.regs,
            preds: before.preds,
            warps: before.warps,
            shared: before.shared,
            shared_written: before.shared_written,
            local: before.local,
            local_written: before.local_written,
            shadows: before.shadows,
            live: job.n_threads,
            collector: before.collector,
            spent: u64::from(job.n_warps) * WARP_COST,
            probe_at: FIRST_PROBE,
            ..Self::default()
        };
        // Values left by an earlier block would make results depend on the thread that ran it.
        self.regs.fill(ZERO_LINE);
        self.preds.fill(0);
        self.shared.fill(ZERO_LINE);
        self.shared_written.clear();
        // Shared memory that a GPU reserves starts as zeros: the barriers of cooperative groups rely on them.
        if let Some(&(from, to)) = job.plan.shared.first()
            && job.check_level.checks()
            && from < SHARED_BASE
        {
            self.shared_written.set(from as usize, (to - from) as usize);
        }
        self.local.fill(ZERO_LINE);
        self.local_written.clear();
        for (w, shadow) in (0..job.n_warps).zip(&mut self.shadows) {
            shadow.reset();
            shadow.start(&job.kernel.unset, lanes_of(job, w));
        }
        self.warps.resize_with(job.n_warps as usize, Warp::default);
        for (w, warp) in (0..job.n_warps).zip(&mut self.warps) {
            warp.begin(lanes_of(job, w));
        }
        for &(register, line) in &job.lane_specials {
            self.regs[register] = line;
        }
        for w in 0..job.n_warps as usize {
            let preds = &mut self.preds[w * job.kernel.n_preds as usize..];
            preds[0] = u32::MAX;
            let first = w * job.kernel.n_lines as usize;
            for &(special, dst) in job.kernel.specials.iter().filter(|(special, _)| !special.varies_in_a_warp()) {
                self.regs[first + dst as usize] = Line([special_value(job, self.coords, special, w as u32 * 32); WARP]);
            }
        }
    }

    pub(crate) fn shared_start(&mut self) -> *mut u8 {
        self.shared.as_mut_ptr().cast()
    }

    pub(crate) fn local_start(&mut self) -> *mut u8 {
        self.local.as_mut_ptr().cast()
    }

    /// Returns four bytes of local memory, at a multiple of 4.
    pub(super) fn local_word(&self, offset: usize) -> u32 {
        self.local.get(offset / 128).map_or(0, |line| line.0[offset % 128 / 4])
    }

    pub(super) fn set_local_word(&mut self, offset: usize, value: u32) {
        if let Some(line) = self.local.get_mut(offset / 128) {
            line.0[offset % 128 / 4] = value;
        }
    }

    pub(crate) fn regs_of(&mut self, job: &LaunchJob<'_>, warp: usize) -> *mut Line {
        self.regs.as_mut_ptr().wrapping_add(warp * job.kernel.n_lines as usize)
    }

    pub(crate) fn preds_of(&mut self, job: &LaunchJob<'_>, warp: usize) -> *mut u32 {
        self.preds.as_mut_ptr().wrapping_add(warp * job.kernel.n_preds as usize)
    }

    /// Returns the range of shared memory that `offset` may move in: its array when checked, all there is otherwise.
    pub(crate) fn shared_range(&self, job: &LaunchJob<'_>, offset: u64) -> Option<(u32, u32)> {
        let offset = u32::try_from(offset).ok().filter(|o| *o < job.shared_bytes)?;
        if !job.check_level.checks() {
            let reserved = job.plan.shared.first().map_or(SHARED_BASE, |array| array.0);
            let from = reserved.min(SHARED_BASE);
            return (offset >= from).then_some((from, job.shared_bytes));
        }
        let dynamic = job.kernel.shared_dynamic_base;
        if offset >= dynamic && job.dynamic_shared > 0 {
            return Some((dynamic, job.shared_bytes));
        }
        let i = job.plan.shared.partition_point(|(from, _)| *from <= offset);
        let &(from, to) = job.plan.shared.get(i.checked_sub(1)?)?;
        // In the gap after an array, that array is the one that was meant; the caller finds that the access is outside.
        Some((from, to)).filter(|_| offset < to)
    }
}

fn lanes_of(job: &LaunchJob<'_>, warp: u32) -> LaneMask {
    match job.n_threads - warp * 32 {
        n @ ..32 => LaneMask::from_bits((1 << n) - 1),
        _ => LaneMask::ALL,
    }
}

/// Returns the memory that a block takes while it runs or waits, or all blocks of a cluster.
pub(crate) fn block_bytes(job: &LaunchJob<'_>) -> u64 {
    let warps = u64::from(job.n_warps);
    let local = warps * WARP as u64 * local_stride(job) as u64;
    let shared = u64::from(job.shared_bytes);
    let marks = if job.check_level.checks() { (local + shared).div_ceil(8) } else { 0 };
    let registers = 128 * u64::from(job.kernel.n_lines) + 4 * u64::from(job.kernel.n_preds);
    // A warp's own state besides, and where its lanes go on after calls.
    let stack = match &job.kernel.calls {
        Some(_) => 2 * u64::from(job.local_bytes),
        None => 0,
    };
    u64::from(job.cluster_blocks) * (warps * (registers + stack + 512) + local + shared + marks + 1024)
}

/// Returns the bytes of local memory from one thread to the next: the alignment of every access is kept.
pub(crate) fn local_stride(job: &LaunchJob<'_>) -> usize {
    (job.local_bytes as usize).next_multiple_of(16)
}

/// Returns the special registers that differ between the lanes of a warp, by position; all blocks have the same.
pub(crate) fn lane_specials(job: &LaunchJob<'_>) -> Vec<(usize, Line)> {
    let of_warp = |warp: u32| {
        let first = warp as usize * job.kernel.n_lines as usize;
        let varying = job.kernel.specials.iter().filter(|(special, _)| special.varies_in_a_warp());
        varying.map(move |&(special, dst)| {
            let value = |lane| special_value(job, [0; 3], special, warp * 32 + lane as u32);
            (first + dst as usize, Line(std::array::from_fn(value)))
        })
    };
    (0..job.n_warps).flat_map(of_warp).collect()
}

/// Returns a special register of a thread, by its linear index in the block at `coords`.
fn special_value(job: &LaunchJob<'_>, coords: [u32; 3], special: Special, thread: u32) -> u32 {
    let [nx, ny, _] = job.block;
    let lane = thread % 32;
    let cluster = job.cluster;
    let in_cluster: [u32; 3] = std::array::from_fn(|i| coords[i] % cluster[i]);
    match special {
        Special::Tid(0) => thread % nx,
        Special::Tid(1) => thread / nx % ny,
        Special::Tid(_) => thread / nx / ny,
        Special::Ntid(axis) => job.block[axis],
        Special::Ctaid(axis) => coords[axis],
        Special::Nctaid(axis) => job.grid[axis],
        Special::Clusterid(axis) => coords[axis] / cluster[axis],
        Special::Nclusterid(axis) => job.grid[axis] / cluster[axis],
        Special::ClusterCtaid(axis) => in_cluster[axis],
        Special::ClusterNctaid(axis) => cluster[axis],
        Special::PerClusterNctaid(axis) => (1.0 / cluster[axis] as f32).to_bits(),
        Special::ClusterCtarank => (in_cluster[2] * cluster[1] + in_cluster[1]) * cluster[0] + in_cluster[0],
        Special::ClusterNctarank => job.cluster_blocks,
        Special::IsExplicitCluster => u32::from(job.explicit_cluster),
        Special::LaneId => lane,
        Special::WarpId => thread / 32,
        Special::NwarpId => job.n_warps,
        // A kernel finds one multiprocessor: placing blocks on several would depend on time.
        Special::SmId => 0,
        Special::NsmId => 1,
        Special::GridId => 0,
        Special::LanemaskEq => 1 << lane,
        Special::LanemaskLe => u32::MAX >> (31 - lane),
        Special::LanemaskLt => (1 << lane) - 1,
        Special::LanemaskGe => u32::MAX << lane,
        Special::LanemaskGt => !(u32::MAX >> (31 - lane)),
        Special::DynamicSharedBytes => job.dynamic_shared,
        Special::TotalSharedBytes => job.kernel.shared_static_bytes + job.dynamic_shared,
        Special::EnvReg1 => (job.grid_workspace.unwrap_or(0) >> 32) as u32,
        Special::EnvReg2 => job.grid_workspace.unwrap_or(0) as u32,
        Special::ParamWord(offset) => {
            // The last word may be there in part.
            let rest = job.params.get(offset as usize..).unwrap_or_default();
            let mut word = [0; 4];
            let n = rest.len().min(word.len());
            word[..n].copy_from_slice(&rest[..n]);
            u32::from_le_bytes(word)
        }
        Special::LocalBytes => job.local_bytes,
    }
}

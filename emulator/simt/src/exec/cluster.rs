//! Clusters: blocks that run together, wait for each other and reach each other's shared memory.
//!
//! One worker runs all blocks of a cluster, in turns and in the order of their ranks. The block that runs holds the
//! others. An address in shared memory has the rank of its block above the offset ([`RANK_SHIFT`]), also the block's own:
//! constants that are such addresses are other ones for each rank ([`constants`]). Here ([`Worker::seen_from_here`]), in the
//! checks and in what they report, the block's own have nothing there, and those of others the rank plus one.
//! Accesses to other blocks are looked up lane by lane (`exec::per_lane`), and are not counted: which counters of the hardware
//! see them is not known.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::check::race::SharedRaces;
use crate::check::{Code, Collector, Details, Elsewhere, RemoteProblem};
use crate::lanes::Line;
use crate::memory::bits::CellBits;
use crate::program::{Kernel, MemSpace, RANK_SHIFT, window};

use super::block::Block;
use super::fiber::State;
use super::job::Job;
use super::memo::Memo;
use super::scheduler::{ROUNDS_OF_TIME, Visit, join_ready};
use super::worker::Worker;

/// Rounds in which all blocks wait for phases of barriers in shared memory, after which that is a deadlock.
const STUCK_ROUNDS: u32 = 128;

/// The blocks of a cluster but for the one that runs.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By rank; `None` in the place of the one that runs.
    members: Vec<Option<Box<Block>>>,
    /// By rank; the race checks of the block that runs are in [`Worker`]'s `checks.shared_races`.
    races: Vec<Option<SharedRaces>>,
    /// By rank; what the block that runs did wrong is in [`Worker`]'s `checks.collector`.
    collectors: Vec<Collector>,
}

impl Cluster {
    /// All blocks but for the one that runs.
    pub(super) fn others(&mut self) -> impl Iterator<Item = &mut Block> {
        self.members.iter_mut().flatten().map(|block| &mut **block)
    }

    /// Something that a block looked at has changed.
    pub(super) fn changed(&mut self) -> bool {
        let others = self.members.iter().flatten();
        { others }.any(|block| block.live > 0 && block.poll_cache.changed())
    }
}

/// Who has the memory at an address in the shared memory of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The block that runs, at this offset.
    Own(u64),
    /// The block with this rank.
    Other(u32, u64),
    /// A rank that no block of the cluster has.
    Nobody(u32),
}

/// A thread acts on another block, which is in [`Worker::block`] meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acting {
    /// Index and rank of the thread's own block.
    pub(crate) block: u64,
    pub(crate) rank: u32,
}

impl Job<'_> {
    /// The linear index of a block, from that of its cluster and its rank.
    pub(crate) fn block_of(&self, unit: u64, rank: u32) -> u64 {
        let [x, y, _] = self.grid.map(u64::from);
        let [cx, cy, cz] = self.cluster.map(u64::from);
        let (nx, ny) = (x / cx, y / cy);
        let rank = u64::from(rank);
        let bx = unit % nx * cx + rank % cx;
        let by = unit / nx % ny * cy + rank / cx % cy;
        let bz = unit / nx / ny * cz + rank / cx / cy;
        (bz * y + by) * x + bx
    }

    /// The constants of a block.
    fn constants(&self, rank: u32) -> *const Line {
        let of_rank = (rank as usize)
            .checked_sub(1)
            .and_then(|at| self.constants.get(at));
        of_rank.unwrap_or(&self.kernel.consts).as_ptr()
    }

    /// The linear index of the first block of a cluster.
    pub(crate) fn first_block(&self, unit: u64) -> u64 {
        self.block_of(unit, 0)
    }
}

impl Worker<'_> {
    /// Makes the block at hand and others the blocks of cluster `unit`, before their first operation.
    pub(super) fn begin_cluster(&mut self, unit: u64) {
        let job = self.job;
        let mut cluster = self.block.cluster.take().unwrap_or_default();
        let mut spare: Vec<Box<Block>> = cluster.members.drain(..).flatten().collect();
        let begin = |block: &mut Block, rank: u32| {
            block.begin(job, job.block_of(unit, rank));
            block.unit = unit;
            block.rank = rank;
        };
        begin(&mut self.block, 0);
        cluster.members.push(None);
        for rank in 1..job.cluster_blocks {
            let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::new(job)));
            begin(&mut block, rank);
            cluster.members.push(Some(block));
        }
        if job.watch.checks() && job.shared_bytes > 0 {
            cluster.races.resize_with(cluster.members.len(), || None);
            for (rank, races) in cluster.races.iter_mut().enumerate() {
                races
                    .get_or_insert_with(|| SharedRaces::new(job.kernel))
                    .begin_block(job.block_of(unit, rank as u32));
            }
        }
        let new = || Collector::new(job.kernel, job.grid, job.block);
        cluster.collectors.resize_with(cluster.members.len(), new);
        self.block.cluster = Some(cluster);
        self.warp.lanes.consts = job.constants(0);
    }

    /// Runs the blocks of the cluster in turns.
    pub(super) fn visit_cluster(&mut self, last: &AtomicU64) -> Visit {
        self.take_races();
        self.exchange_collectors();
        let visit = self.run_cluster(last);
        self.exchange_collectors();
        self.leave_races();
        visit
    }

    fn run_cluster(&mut self, last: &AtomicU64) -> Visit {
        let mut idle = 0;
        loop {
            let (mut moved, mut lives) = (false, false);
            let (mut stuck, mut phases) = (None, None);
            for rank in 0..self.job.cluster_blocks {
                self.switch_to(rank);
                if self.block.live == 0 {
                    continue;
                }
                lives = true;
                self.activity.moved = false;
                let visit = self.visit(last);
                moved |= self.activity.moved;
                match visit {
                    Visit::Ended if self.stopped || last.load(Ordering::Relaxed) < self.block.unit => {
                        return Visit::Ended;
                    }
                    Visit::Ended => {
                        self.finish_bulk();
                        moved = true;
                        if let Some(races) = &mut self.checks.shared_races {
                            races.end_block(&mut self.checks.collector);
                        }
                    }
                    Visit::Stuck => stuck = stuck.or(Some(rank)),
                    Visit::Phases => phases = phases.or(Some(rank)),
                    Visit::Waits => {}
                }
            }
            if !lives {
                return Visit::Ended;
            }
            if moved {
                idle = 0;
                continue;
            }
            if let Some(rank) = stuck {
                self.switch_to(rank);
                return Visit::Stuck;
            }
            if let Some(rank) = phases {
                idle += 1;
                if idle > STUCK_ROUNDS {
                    let mut passes = false;
                    for rank in 0..self.job.cluster_blocks {
                        self.switch_to(rank);
                        passes |= self.block.live > 0 && self.let_time_pass();
                    }
                    if passes {
                        idle -= ROUNDS_OF_TIME;
                        continue;
                    }
                    self.switch_to(rank);
                    self.phase_deadlock();
                    self.stopped = true;
                    return Visit::Ended;
                }
                continue;
            }
            let mut forced = false;
            for rank in 0..self.job.cluster_blocks {
                self.switch_to(rank);
                forced |= self.block.live > 0 && self.force_lanes();
            }
            if !forced {
                self.cluster_deadlock();
                return Visit::Ended;
            }
        }
    }

    /// What the blocks of the cluster bring back, put together in the block at hand.
    pub(super) fn end_cluster(&mut self) {
        if self.block.rank != 0 {
            self.exchange(0);
        }
        let Some(cluster) = &mut self.block.cluster else {
            return;
        };
        let (mut printed, mut fatal, mut spent) = (String::new(), false, self.block.spent);
        for block in cluster.members.iter_mut().flatten() {
            spent += block.spent;
            printed.push_str(&std::mem::take(&mut block.printed));
            fatal |= block.fatal;
            block.live = 0;
        }
        for collector in &mut cluster.collectors {
            if !collector.is_empty() {
                self.checks.collector.merge(collector.take());
            }
        }
        self.block.printed.push_str(&printed);
        self.block.fatal |= fatal;
        self.spent = spent;
    }

    fn exchange_collectors(&mut self) {
        let rank = self.block.rank as usize;
        if let Some(cluster) = &mut self.block.cluster
            && let Some(own) = cluster.collectors.get_mut(rank)
        {
            std::mem::swap(&mut self.checks.collector, own);
        }
    }

    fn take_races(&mut self) {
        let rank = self.block.rank as usize;
        let cluster = self.block.cluster.as_mut();
        self.checks.shared_races = cluster.and_then(|cluster| cluster.races.get_mut(rank)?.take());
    }

    fn leave_races(&mut self) {
        let (rank, races) = (self.block.rank as usize, self.checks.shared_races.take());
        if let Some(cluster) = &mut self.block.cluster
            && let Some(place) = cluster.races.get_mut(rank)
            && races.is_some()
        {
            *place = races;
        }
    }

    /// Another block of the cluster runs from now on.
    pub(super) fn switch_to(&mut self, rank: u32) {
        if self.block.rank != rank {
            self.leave_races();
            self.exchange_collectors();
            self.exchange(rank);
            self.exchange_collectors();
            self.take_races();
        }
        self.warp.lanes.consts = self.job.constants(rank);
        self.spent = self.block.spent;
    }

    /// Puts another block of the cluster in the place of the one that runs.
    fn exchange(&mut self, rank: u32) {
        let Some(mut cluster) = self.block.cluster.take() else {
            return;
        };
        let own = self.block.rank as usize;
        match cluster.members.get_mut(rank as usize).and_then(Option::take) {
            Some(next) => cluster.members[own] = Some(std::mem::replace(&mut self.block, next)),
            None => debug_assert!(false, "a rank outside of the cluster"),
        }
        self.block.cluster = Some(cluster);
        self.access.memos.iter_mut().for_each(Memo::forget_place);
    }

    /// Does something to another block of the cluster, for a thread of the one that runs.
    pub(super) fn in_block<T>(&mut self, rank: u32, f: impl FnOnce(&mut Self) -> T) -> T {
        let own = self.block.rank;
        if own == rank {
            return f(self);
        }
        let acting = Acting {
            block: self.block.index,
            rank: own,
        };
        self.leave_races();
        self.exchange(rank);
        self.acting = Some(acting);
        let result = f(self);
        self.acting = None;
        self.exchange(own);
        self.take_races();
        result
    }

    /// What one thread of another block handed over by arriving at a barrier of the block that it acts on: for the race
    /// checks, all that the threads of this block did before.
    pub(super) fn arrived_from_outside(&mut self, at: u32, phase: u64) {
        let (rank, n_warps) = (self.block.rank as usize, self.job.n_warps);
        let cluster = self.block.cluster.as_mut();
        if let Some(races) = cluster.and_then(|cluster| cluster.races.get_mut(rank)?.as_mut()) {
            races.phase(at, phase, None);
            (0..n_warps).for_each(|warp| races.arrive(at, warp));
        }
    }

    /// The rank of the block whose thread runs.
    pub(crate) fn own_rank(&self) -> u32 {
        self.acting.map_or(self.block.rank, |acting| acting.rank)
    }

    /// An offset in shared memory, as the program has it, seen from the block whose thread runs: its own are without a rank,
    /// those of others have the rank plus one.
    pub(crate) fn offset_from_here(&self, offset: u64) -> u64 {
        let rank = offset >> RANK_SHIFT;
        match rank == u64::from(self.own_rank()) {
            true => offset & ((1 << RANK_SHIFT) - 1),
            false => offset.saturating_add(1 << RANK_SHIFT),
        }
    }

    /// The same of an address in the one address space; those outside of shared memory are the same from everywhere.
    pub(crate) fn seen_from_here(&self, address: u64) -> u64 {
        match address >> window::BITS == window::SHARED >> window::BITS {
            true => window::SHARED + self.offset_from_here(address - window::SHARED),
            false => address,
        }
    }

    /// Whose shared memory an offset is in, seen from the block whose thread runs.
    pub(crate) fn holder(&self, offset: u64) -> Holder {
        let (tag, low) = (offset >> RANK_SHIFT, offset & ((1 << RANK_SHIFT) - 1));
        let rank = match tag {
            0 => self.own_rank(),
            1..=0x100 => tag as u32 - 1,
            _ => return Holder::Own(offset),
        };
        if rank == self.block.rank {
            Holder::Own(low)
        } else if rank < self.job.cluster_blocks {
            Holder::Other(rank, low)
        } else {
            Holder::Nobody(rank)
        }
    }

    /// Whether an address of the program lies in the shared memory of another block.
    pub(super) fn is_remote(&self, space: MemSpace, address: u64) -> bool {
        let offset = self.offset_from_here(address & ((1 << window::BITS) - 1));
        space == MemSpace::Shared && !matches!(self.holder(offset), Holder::Own(_))
    }

    /// The block with a rank, if it is not the one that runs.
    pub(super) fn member(&self, rank: u32) -> Option<&Block> {
        let cluster = self.block.cluster.as_ref()?;
        cluster.members.get(rank as usize)?.as_deref()
    }

    pub(super) fn member_mut(&mut self, rank: u32) -> Option<&mut Block> {
        let cluster = self.block.cluster.as_mut()?;
        cluster.members.get_mut(rank as usize)?.as_deref_mut()
    }

    /// Which bytes of the shared memory were written that an offset lies in, and the offset in there.
    pub(super) fn shared_written(&self, offset: u64) -> (&CellBits, usize) {
        match self.holder(offset) {
            Holder::Other(rank, low) => {
                let written = self.member(rank).map(|block| &block.shared_written);
                (written.unwrap_or(&self.block.shared_written), low as usize)
            }
            Holder::Own(low) => (&self.block.shared_written, low as usize),
            Holder::Nobody(_) => (&self.block.shared_written, offset as usize),
        }
    }

    pub(super) fn shared_written_mut(&mut self, offset: u64) -> (&mut CellBits, usize) {
        match self.holder(offset) {
            Holder::Other(rank, low) if self.member(rank).is_some() => {
                let cluster = self.block.cluster.as_mut();
                let member = cluster.and_then(|c| c.members.get_mut(rank as usize)?.as_deref_mut());
                match member {
                    Some(block) => (&mut block.shared_written, low as usize),
                    None => unreachable!("looked up just now"),
                }
            }
            Holder::Own(low) => (&mut self.block.shared_written, low as usize),
            Holder::Other(..) | Holder::Nobody(_) => (&mut self.block.shared_written, offset as usize),
        }
    }

    /// What is wrong with an access to the shared memory of a block that cannot be reached.
    pub(super) fn remote_problem(&self, offset: u64) -> Option<RemoteProblem> {
        match self.holder(offset) {
            Holder::Nobody(rank) => Some(RemoteProblem::NoBlock {
                rank,
                blocks: self.job.cluster_blocks,
            }),
            Holder::Other(rank, _) => {
                let block = self.member(rank).filter(|block| block.live == 0)?;
                let exit = block.warps.iter().find_map(|warp| warp.exit);
                Some(RemoteProblem::Ended {
                    rank,
                    block: block.index,
                    exit,
                })
            }
            Holder::Own(_) => None,
        }
    }

    /// `barrier.cluster.arrive`
    pub(super) fn arrive_in_cluster(&mut self, instr: u32, on: u32) {
        let warp = &mut self.block.warps[self.warp.index as usize];
        warp.live = self.warp.live;
        let again = on & (warp.arrived | warp.released);
        warp.released &= !on;
        warp.arrived |= on;
        if again != 0 && self.job.watch.checks() {
            self.report_at(
                instr,
                Code::Cluster,
                again,
                Details::ClusterBarrier { waits: false },
            );
        }
        self.activity.progress = true;
        self.complete_cluster_barrier();
    }

    /// `barrier.cluster.wait`: whether lanes of the fiber wait. Those that need not go on.
    pub(super) fn wait_for_cluster(&mut self, pc: u32, instr: u32, on: u32) -> bool {
        let warp = &mut self.block.warps[self.warp.index as usize];
        let waits = on & warp.arrived;
        let never = on & !(warp.arrived | warp.released);
        warp.released &= !on;
        self.warp.fiber.set_pc(pc + 1);
        if never != 0 && self.job.watch.checks() {
            self.report_at(
                instr,
                Code::Cluster,
                never,
                Details::ClusterBarrier { waits: true },
            );
        }
        if waits == 0 {
            return false;
        }
        if self.warp.fiber.lanes() != waits {
            let others = self.warp.fiber.split(!waits);
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
        self.warp.fiber.state = State::Cluster;
        self.warp.fiber.at = instr;
        true
    }

    /// Lanes of the running warp have exited: the barrier of the cluster no longer waits for them.
    pub(super) fn exited_in_cluster(&mut self, lanes: u32) {
        let warp = &mut self.block.warps[self.warp.index as usize];
        warp.arrived &= !lanes;
        warp.released &= !lanes;
        self.complete_cluster_barrier();
    }

    /// Lets those go on that wait at the barrier of the cluster, if all have arrived.
    fn complete_cluster_barrier(&mut self) {
        let mut any = false;
        let mut is_complete = |block: &Block| {
            block.warps.iter().all(|warp| {
                any |= warp.arrived != 0;
                warp.live & !warp.arrived == 0
            })
        };
        let complete = is_complete(&self.block)
            && match &self.block.cluster {
                Some(cluster) => { cluster.members.iter().flatten() }.all(|block| is_complete(block)),
                None => true,
            };
        if !complete || !any {
            return;
        }
        release(&mut self.block);
        self.activity.progress = true;
        let collector = &mut self.checks.collector;
        if let Some(races) = &mut self.checks.shared_races {
            races.meet_all(collector);
        }
        if let Some(races) = &mut self.checks.global_races {
            races.barrier(collector);
        }
        if let Some(cluster) = &mut self.block.cluster {
            cluster
                .members
                .iter_mut()
                .flatten()
                .for_each(|block| release(block));
            for (races, collector) in cluster.races.iter_mut().zip(&mut cluster.collectors) {
                if let Some(races) = races {
                    races.meet_all(collector);
                }
            }
        }
    }

    /// Some thread of the block waits for the threads of the cluster.
    pub(super) fn waits_for_cluster(&self) -> bool {
        let mut fibers = self.block.warps.iter().flat_map(|warp| &warp.fibers);
        self.job.cluster_blocks > 1 && fibers.any(|fiber| fiber.state == State::Cluster)
    }

    /// No thread of the cluster can go on.
    #[cold]
    fn cluster_deadlock(&mut self) {
        let ranks = 0..self.job.cluster_blocks;
        let mut found: Vec<Elsewhere> = Vec::new();
        for rank in ranks {
            self.switch_to(rank);
            for group in self.groups(|_| true) {
                found.push(Elsewhere {
                    block: self.block.index,
                    rank,
                    at_cluster_barrier: self.waits_at(group.instr),
                    group,
                });
            }
        }
        found.sort_by_key(|place| !place.at_cluster_barrier);
        let Some(first) = found.first() else { return };
        let Some(warp) = first.group.threads.iter().position(|mask| *mask != 0) else {
            return;
        };
        let (rank, instr, mask) = (first.rank, first.group.instr, first.group.threads[warp]);
        self.switch_to(rank);
        self.warp.index = warp as u32;
        self.report_at(
            instr,
            Code::Barrier,
            mask,
            Details::ClusterDeadlock { places: found },
        );
        self.stopped = true;
    }

    /// Threads wait for the cluster at this instruction.
    fn waits_at(&self, instr: u32) -> bool {
        let mut fibers = self.block.warps.iter().flat_map(|warp| &warp.fibers);
        fibers.any(|fiber| fiber.state == State::Cluster && fiber.at == instr)
    }
}

/// All threads have arrived at the barrier of the cluster: those of this block that wait go on.
fn release(block: &mut Block) {
    for warp in &mut block.warps {
        warp.released |= std::mem::take(&mut warp.arrived);
        for fiber in warp
            .fibers
            .iter_mut()
            .filter(|fiber| fiber.state == State::Cluster)
        {
            fiber.state = State::Ready;
            warp.released &= !fiber.top().map_or(0, |top| top.mask);
        }
        if warp.fibers.len() > 1 {
            join_ready(&mut warp.fibers);
        }
    }
    block.mbarriers.settle();
}

/// The constants of the blocks of a cluster, from rank 1 on: addresses in shared memory have the rank above the offset. None
/// where all are the same.
pub(crate) fn constants(kernel: &Kernel, blocks: u32) -> Vec<Vec<Line>> {
    let of_rank = |rank: u32| {
        let mut lines = kernel.consts.clone();
        for &(at, wide) in &kernel.shared_consts {
            let of_constant = lines.iter_mut().skip(at as usize).take(1 + usize::from(wide));
            let low_words = of_constant.flat_map(|line| line.0.iter_mut().step_by(1 + usize::from(wide)));
            low_words.for_each(|word| *word |= rank << RANK_SHIFT);
        }
        lines
    };
    match kernel.shared_consts.is_empty() {
        true => Vec::new(),
        false => (1..blocks).map(of_rank).collect(),
    }
}

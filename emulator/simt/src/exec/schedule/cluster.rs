//! Clusters: blocks that run together, wait for each other and reach each other's shared memory.
//!
//! One worker runs all blocks of a cluster, in turns and in the order of their ranks. The block that runs holds the
//! others. An address in shared memory has the rank of its block above the offset (`RANK_SHIFT`), also the block's own:
//! constants that are such addresses are other ones for each rank (`launch_job::Job::constants`). Here
//! (`Worker::seen_from_here`), in the checks and in what they report, the block's own have nothing there, and those of
//! others the rank plus one. Accesses to other blocks are looked up lane by lane (`exec::memory`), and are not
//! counted: which counters of the hardware include them is not known.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::check::race::SharedRaces;
use crate::check::{Elsewhere, MistakeDetails};
use crate::lane_mask::LaneMask;

use crate::exec::block::Block;
use crate::exec::fiber::{AfterOp, FiberState, join_ready};
use crate::exec::schedule::scheduler::{ROUNDS_OF_TIME, Visit};
use crate::exec::worker::Worker;

/// Rounds in which all blocks wait for phases of mbarriers, after which that is a deadlock.
const STUCK_ROUNDS: u32 = 128;

impl Worker<'_> {
    /// Sets up the current block and the others as the blocks of cluster `cluster_index`, before their first operation.
    pub(crate) fn begin_cluster(&mut self, cluster_index: u64) {
        let job = self.job;
        let mut cluster = self.block.cluster.take().unwrap_or_default();
        let mut spare: Vec<Box<Block>> = cluster.members.drain(..).flatten().collect();
        let begin = |block: &mut Block, rank: u32| {
            block.begin(job, job.block_of(cluster_index, rank));
            block.cluster_index = cluster_index;
            block.rank = rank;
        };
        begin(&mut self.block, 0);
        cluster.members.push(None);
        for rank in 1..job.cluster_blocks {
            let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::new(job)));
            begin(&mut block, rank);
            cluster.members.push(Some(block));
        }
        if job.check_level.checks() && job.shared_bytes > 0 {
            cluster.races.resize_with(cluster.members.len(), || None);
            for (rank, races) in cluster.races.iter_mut().enumerate() {
                races
                    .get_or_insert_with(|| SharedRaces::new(job.kernel))
                    .begin_block(job.block_of(cluster_index, rank as u32));
            }
        }
        self.block.cluster = Some(cluster);
        self.warp.lanes.consts = job.constants(0);
    }

    pub(crate) fn visit_cluster(&mut self, last: &AtomicU64) -> Visit {
        self.take_races();
        let visit = self.run_cluster(last);
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
                    Visit::Ended if self.stopped || last.load(Ordering::Relaxed) < self.block.cluster_index => {
                        return Visit::Ended;
                    }
                    Visit::Ended => {
                        self.finish_bulk();
                        moved = true;
                        if let Some(races) = &mut self.checks.shared_races {
                            races.end_block(&mut self.block.collector);
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
            self.block.tries_fail = true;
            self.block
                .cluster
                .iter_mut()
                .flat_map(|cluster| cluster.others())
                .for_each(|other| other.tries_fail = true);
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
                    self.report_phase_deadlock();
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

    /// Merges the results of the cluster's blocks into the current block.
    pub(crate) fn end_cluster(&mut self) {
        if self.block.rank != 0 {
            self.exchange(0);
        }
        let Some(cluster) = &mut self.block.cluster else { return };
        let (mut printed, mut fatal, mut spent) = (String::new(), false, self.block.spent);
        for block in cluster.members.iter_mut().flatten() {
            spent += block.spent;
            printed.push_str(&std::mem::take(&mut block.printed));
            fatal |= block.fatal;
            block.live = 0;
            self.block.collector.merge(std::mem::replace(&mut block.collector, self.job.collector.clone()));
        }
        self.block.printed.push_str(&printed);
        self.block.fatal |= fatal;
        self.spent = spent;
    }

    pub(crate) fn take_races(&mut self) {
        let rank = self.block.rank as usize;
        let cluster = self.block.cluster.as_mut();
        self.checks.shared_races = cluster.and_then(|cluster| cluster.races.get_mut(rank)?.take());
    }

    pub(crate) fn leave_races(&mut self) {
        let (rank, races) = (self.block.rank as usize, self.checks.shared_races.take());
        if let Some(cluster) = &mut self.block.cluster
            && let Some(place) = cluster.races.get_mut(rank)
            && races.is_some()
        {
            *place = races;
        }
    }

    /// Makes another block of the cluster the running one.
    pub(crate) fn switch_to(&mut self, rank: u32) {
        if self.block.rank != rank {
            self.leave_races();
            self.exchange(rank);
            self.take_races();
        }
        self.warp.lanes.consts = self.job.constants(rank);
        self.spent = self.block.spent;
    }

    /// Executes `barrier.cluster.arrive`.
    pub(crate) fn arrive_in_cluster(&mut self, instr: u32, active: LaneMask) {
        let warp = &mut self.block.warps[self.warp.index as usize];
        warp.live = self.warp.live;
        let again = active & (warp.arrived | warp.released);
        warp.released &= !active;
        warp.arrived |= active;
        if !again.is_empty() && self.job.check_level.checks() {
            self.record_mistake_at(instr, again, MistakeDetails::ClusterBarrier { waits: false });
        }
        self.activity.progress = true;
        self.complete_cluster_barrier();
    }

    /// Performs `barrier.cluster.wait`: lanes whose phase has not ended wait, the others continue.
    pub(crate) fn wait_for_cluster(&mut self, pc: u32, instr: u32, active: LaneMask) -> AfterOp {
        let warp = &mut self.block.warps[self.warp.index as usize];
        let waits = active & warp.arrived;
        let never = active & !(warp.arrived | warp.released);
        warp.released &= !active;
        self.warp.fiber.set_pc(pc + 1);
        if !never.is_empty() && self.job.check_level.checks() {
            self.record_mistake_at(instr, never, MistakeDetails::ClusterBarrier { waits: true });
        }
        if waits.is_empty() {
            return AfterOp::Frames;
        }
        if self.warp.fiber.lanes() != waits {
            let others = self.warp.fiber.split(!waits);
            self.block.warps[self.warp.index as usize].fibers.push(others);
        }
        self.warp.fiber.state = FiberState::Cluster;
        self.warp.fiber.wait_instr = instr;
        AfterOp::WaitAfter
    }

    /// Records that lanes of the running warp have exited: the barrier of the cluster no longer waits for them.
    pub(crate) fn exited_in_cluster(&mut self, lanes: LaneMask) {
        let warp = &mut self.block.warps[self.warp.index as usize];
        warp.arrived &= !lanes;
        warp.released &= !lanes;
        self.complete_cluster_barrier();
    }

    /// Completes the barrier of the cluster if all have arrived, and releases those that wait.
    fn complete_cluster_barrier(&mut self) {
        let mut any = false;
        let mut is_complete = |block: &Block| {
            block.warps.iter().all(|warp| {
                any |= !warp.arrived.is_empty();
                (warp.live & !warp.arrived).is_empty()
            })
        };
        let complete = is_complete(&self.block)
            && match &self.block.cluster {
                Some(cluster) => cluster.members.iter().flatten().all(|block| is_complete(block)),
                None => true,
            };
        if !complete || !any {
            return;
        }
        release(&mut self.block);
        self.activity.progress = true;
        let collector = &mut self.block.collector;
        if let Some(races) = &mut self.checks.shared_races {
            races.synchronise_all(collector);
        }
        if let Some(races) = &mut self.checks.global_races {
            races.barrier(collector);
        }
        if let Some(cluster) = &mut self.block.cluster {
            cluster.members.iter_mut().flatten().for_each(|block| release(block));
            for (races, block) in cluster.races.iter_mut().zip(&mut cluster.members) {
                if let (Some(races), Some(block)) = (races, block) {
                    races.synchronise_all(&mut block.collector);
                }
            }
        }
    }

    /// Returns whether a thread of the block waits for the threads of the cluster.
    pub(crate) fn waits_for_cluster(&self) -> bool {
        let mut fibers = self.block.warps.iter().flat_map(|warp| &warp.fibers);
        self.job.cluster_blocks > 1 && fibers.any(|fiber| fiber.state == FiberState::Cluster)
    }

    /// Reports that no thread of the cluster can continue.
    #[cold]
    fn cluster_deadlock(&mut self) {
        let ranks = 0..self.job.cluster_blocks;
        let mut found: Vec<Elsewhere> = Vec::new();
        for rank in ranks {
            self.switch_to(rank);
            for group in self.groups(|_| true) {
                let mut fibers = self.block.warps.iter().flat_map(|warp| &warp.fibers);
                let at_cluster_barrier =
                    fibers.any(|fiber| fiber.state == FiberState::Cluster && fiber.wait_instr == group.instr);
                found.push(Elsewhere { block: self.block.index, rank, at_cluster_barrier, group });
            }
        }
        found.sort_by_key(|place| !place.at_cluster_barrier);
        let Some(first) = found.first() else { return };
        let (rank, instr) = (first.rank, first.group.instr);
        let Some((warp, mask)) = first.group.first() else { return };
        self.switch_to(rank);
        self.record_mistake_of(warp, instr, mask, MistakeDetails::ClusterDeadlock { places: found });
        self.stopped = true;
    }
}

/// Releases the waiting threads of this block: all threads have arrived at the barrier of the cluster.
fn release(block: &mut Block) {
    for warp in &mut block.warps {
        warp.released |= std::mem::take(&mut warp.arrived);
        for fiber in warp.fibers.iter_mut().filter(|fiber| fiber.state == FiberState::Cluster) {
            fiber.state = FiberState::Ready;
            warp.released &= !fiber.top().map_or(LaneMask::EMPTY, |top| top.mask);
        }
        if warp.fibers.len() > 1 {
            join_ready(&mut warp.fibers);
        }
    }
    block.mbarriers.note_barrier();
}

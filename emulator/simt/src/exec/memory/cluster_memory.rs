//! Shared memory of the blocks of a cluster: addresses, and acting on another block.
//!
//! An address in shared memory has the rank of its block above the offset ([`RANK_SHIFT`]), also the block's own. Here
//! ([`Worker::seen_from_here`]), in checks and their reports, the block's own have 0 there, others the rank plus one.

use crate::{check::RemoteProblem, memory::bits::CellBits};
use program::{MemSpace, RANK_SHIFT, window};

use crate::exec::worker::{Acting, Worker};
use crate::exec::{block::Block, memo::Memo};

/// Owner of the memory at an address in the shared memory of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The block that runs, at this offset.
    Own(u64),
    /// The block with this rank.
    Other(u32, u64),
    /// A rank that no block of the cluster has.
    Nobody(u32),
}

impl Worker<'_> {
    /// Exchanges the running block for another one of the cluster.
    pub(crate) fn exchange(&mut self, rank: u32) {
        let Some(mut cluster) = self.block.cluster.take() else { return };
        let own = self.block.rank as usize;
        match cluster.members.get_mut(rank as usize).and_then(Option::take) {
            Some(next) => cluster.members[own] = Some(std::mem::replace(&mut self.block, next)),
            None => debug_assert!(false, "a rank outside of the cluster"),
        }
        self.block.cluster = Some(cluster);
        self.access.memos.iter_mut().for_each(Memo::forget_place);
    }

    /// Calls `f` on another block of the cluster, for a thread of the running one.
    pub(crate) fn in_block<T>(&mut self, rank: u32, f: impl FnOnce(&mut Self) -> T) -> T {
        let own = self.block.rank;
        if own == rank {
            return f(self);
        }
        let acting = Acting { block: self.block.index, rank: own };
        self.leave_races();
        self.exchange(rank);
        self.acting = Some(acting);
        let result = f(self);
        self.acting = None;
        self.exchange(own);
        self.take_races();
        result
    }

    /// Notifies the race checks that a thread of another block arrives at an mbarrier of this one, a release.
    pub(crate) fn arrived_from_outside(&mut self, barrier: u32, phase: u64) {
        let (rank, n_warps) = (self.block.rank as usize, self.job.n_warps);
        let cluster = self.block.cluster.as_mut();
        if let Some(clocks) = cluster.and_then(|cluster| cluster.races.get_mut(rank)?.as_mut()?.clocks.as_mut()) {
            clocks.set_mbarrier_phase(barrier, phase, None);
            (0..n_warps).for_each(|warp| clocks.arrive_at_mbarrier(barrier, warp));
        }
    }

    /// Returns the rank of the block whose thread runs.
    pub(crate) fn own_rank(&self) -> u32 {
        self.acting.map_or(self.block.rank, |acting| acting.rank)
    }

    /// Returns an offset of the program, relative to the running block: its own have no rank, others theirs plus one.
    pub(crate) fn offset_from_here(&self, offset: u64) -> u64 {
        let rank = offset >> RANK_SHIFT;
        if rank == u64::from(self.own_rank()) {
            offset & ((1 << RANK_SHIFT) - 1)
        } else {
            offset.saturating_add(1 << RANK_SHIFT)
        }
    }

    /// Converts as [`Self::offset_from_here`] does, for generic addresses; those outside shared memory do not change.
    pub(crate) fn seen_from_here(&self, address: u64) -> u64 {
        if window::holds(window::SHARED, address) {
            window::SHARED + self.offset_from_here(address - window::SHARED)
        } else {
            address
        }
    }

    /// Returns the owner of an offset in shared memory, seen from the block whose thread runs.
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

    /// Returns whether an address of the program lies in the shared memory of another block.
    pub(crate) fn is_remote(&self, space: MemSpace, address: u64) -> bool {
        let offset = self.offset_from_here(address & ((1 << window::BITS) - 1));
        space == MemSpace::Shared && !matches!(self.holder(offset), Holder::Own(_))
    }

    /// Returns the block with a rank, if it is not the one that runs.
    pub(crate) fn member(&self, rank: u32) -> Option<&Block> {
        let cluster = self.block.cluster.as_ref()?;
        cluster.members.get(rank as usize)?.as_deref()
    }

    pub(crate) fn member_mut(&mut self, rank: u32) -> Option<&mut Block> {
        let cluster = self.block.cluster.as_mut()?;
        cluster.members.get_mut(rank as usize)?.as_deref_mut()
    }

    /// Returns the written bytes of the shared memory in which an offset lies, and the offset in there.
    pub(crate) fn shared_written(&self, offset: u64) -> (&CellBits, usize) {
        match self.holder(offset) {
            Holder::Other(rank, low) => {
                let written = self.member(rank).map(|block| &block.shared_written);
                (written.unwrap_or(&self.block.shared_written), low as usize)
            }
            Holder::Own(low) => (&self.block.shared_written, low as usize),
            Holder::Nobody(_) => (&self.block.shared_written, offset as usize),
        }
    }

    pub(crate) fn shared_written_mut(&mut self, offset: u64) -> (&mut CellBits, usize) {
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

    pub(crate) fn remote_problem(&self, offset: u64) -> Option<RemoteProblem> {
        match self.holder(offset) {
            Holder::Nobody(rank) => Some(RemoteProblem::NoBlock { rank, blocks: self.job.cluster_blocks }),
            Holder::Other(rank, _) => {
                let block = self.member(rank).filter(|block| block.live == 0)?;
                let exit = block.warps.iter().find_map(|warp| warp.exit);
                Some(RemoteProblem::Ended { rank, block: block.index, exit })
            }
            Holder::Own(_) => None,
        }
    }
}

//! Copies of a block by `cp.async` that are in flight.

use std::collections::VecDeque;

use crate::{check::CopyInFlight, exec::runs, memory::bits::CellBits, memory::relaxed};

/// Maximum number of copies in flight that are searched for the one that a read did not wait for.
pub(crate) const MAX_SEARCHED: usize = 1 << 14;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) lane: u8,
    pub(crate) bytes: u8,
    pub(crate) instr: u32,
    /// Bytes to read; the rest is zero.
    pub(crate) n: u8,
    /// Bytes of the source that nothing had written, as a mask.
    pub(crate) undefined: u16,
    pub(crate) group: u32,
    /// Arrivals that the thread had left to its copies before.
    pub(crate) arrival: u32,
    /// Offset in shared memory.
    pub(crate) to: u32,
    pub(crate) from: *const u8,
}

#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Copies that are not done, by warp.
    pub(crate) pending: Vec<Vec<Copy>>,
    /// Groups committed, by thread.
    pub(crate) committed: Vec<u32>,
    /// Groups that its last wait left in flight, plus one, by thread; 0: it has not waited.
    pub(crate) left: Vec<u32>,
    /// Groups that had been committed at that wait, by thread.
    pub(crate) committed_then: Vec<u32>,
    /// Arrivals at mbarriers that happen when copies are done.
    pub(crate) arrivals: VecDeque<Arrival>,
    /// Number of arrivals by thread; empty without them.
    pub(crate) arrived: Vec<u32>,
}

/// An arrival that waits for the copies that its thread had started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// Offset of the mbarrier.
    pub(crate) barrier: u32,
    pub(crate) thread: u32,
    /// Number of the arrival among those of its thread.
    pub(crate) number: u32,
}

impl Copies {
    pub(crate) fn reserve(&mut self, n_warps: usize) {
        if self.pending.len() < n_warps {
            self.pending.resize_with(n_warps, Vec::new);
            self.committed.resize(n_warps * 32, 0);
            self.left.resize(n_warps * 32, 0);
            self.committed_then.resize(n_warps * 32, 0);
        }
    }

    /// Returns a copy that has yet to write one of `bytes` bytes at `offset` in shared memory.
    pub(crate) fn in_flight(&self, offset: u32, bytes: u32) -> Option<CopyInFlight> {
        if self.pending.iter().map(Vec::len).sum::<usize>() > MAX_SEARCHED {
            return None;
        }
        let overlaps = |c: &Copy| c.to < offset + bytes && offset < c.to + u32::from(c.bytes);
        self.pending.iter().enumerate().find_map(|(warp, copies)| {
            let copy = copies.iter().rev().find(|c| overlaps(c))?;
            let thread = warp * 32 + usize::from(copy.lane);
            Some(CopyInFlight {
                instr: copy.instr,
                thread: thread as u32,
                behind: self.committed[thread].checked_sub(copy.group + 1),
                left: self.left[thread].checked_sub(1),
                behind_then: self.committed_then[thread].checked_sub(copy.group + 1),
                phase: None,
            })
        })
    }
}

impl Copy {
    /// Performs the copy. Marks its bytes in `written`, except for those that were unwritten at their source.
    ///
    /// # Safety
    /// `shared` is the memory of the block that started it.
    pub(crate) unsafe fn finish(&self, shared: *mut u8, written: Option<&mut CellBits>) {
        let (bytes, n) = (usize::from(self.bytes), usize::from(self.n));
        // SAFETY: both ends were found by `locate`, for `bytes` bytes; the allocation is held by the launch.
        unsafe {
            let to = shared.add(self.to as usize);
            relaxed::copy_out(self.from, std::slice::from_raw_parts_mut(to, n));
            std::ptr::write_bytes(to.add(n), 0, bytes - n);
        }
        if let Some(written) = written {
            written.set(self.to as usize, bytes);
            for (start, n) in runs(self.undefined.into()) {
                written.unset_whole(self.to as usize + start, n);
            }
        }
    }
}

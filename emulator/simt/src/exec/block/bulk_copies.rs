//! Bulk copies of a block that are in flight.

use std::collections::{BTreeMap, HashMap, VecDeque};

use program::tensor::{RANKS, Run, Swizzle, TensorMap};

use super::mbarrier_state::MbarrierState;
use crate::check::{InstrThread, PhaseOfCopy};

/// Bytes that a swizzle keeps together.
pub(crate) const PIECE: usize = 16;

#[derive(Debug, Clone)]
pub(crate) struct BulkCopy {
    pub(crate) map: Box<TensorMap>,
    /// Coordinates of its first element.
    pub(crate) at: [i32; RANKS],
    /// Offset of the box in shared memory.
    pub(crate) shared: u32,
    /// The instruction, and the thread in the block that started it.
    pub(crate) by: InstrThread,
    pub(crate) block: u64,
    /// Phases of its barrier that had ended then; of a load.
    pub(crate) phase: u64,
}

impl BulkCopy {
    pub(crate) fn runs(&self) -> Vec<Run> {
        self.map.runs(self.at, self.shared)
    }
}

/// A copy from shared memory.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) copy: BulkCopy,
    /// The thread's group that it belongs to.
    pub(crate) group: u32,
    /// Source bytes at its start, one run after the other; in checked launches.
    pub(crate) seen: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct BulkCopies {
    /// Loads, with the barriers that receive them.
    pub(crate) loads: VecDeque<(u32, BulkCopy)>,
    pub(crate) stores: VecDeque<Store>,
    /// Groups committed, by thread.
    pub(crate) committed: Vec<u32>,
    /// Whether a thread has executed `fence.proxy.async`.
    pub(crate) fenced: bool,
    /// Words of shared memory that copies wrote, as bits; where mistakes are looked for.
    pub(crate) loaded: Vec<u64>,
    /// By piece of 16 bytes that a copy of a box wrote: the swizzle, the instruction, and the bytes.
    pub(crate) swizzles: HashMap<u32, (Swizzle, u32, [u8; PIECE])>,
    /// Whether two loads to one address were in flight at the same time, which leaves it undefined.
    pub(crate) overlapped: bool,
    /// By barrier: the last phase in which loads were started, and their bytes.
    pub(crate) started: BTreeMap<u32, (u64, u64)>,
}

impl BulkCopies {
    /// Returns the phase of a load at its barrier. Of `started`, only the barrier's last phase with loads is known.
    pub(crate) fn phase_of(&self, copy: &BulkCopy, barrier: u32, state: &MbarrierState) -> PhaseOfCopy {
        let last = self.started.get(&barrier).filter(|(last, _)| *last == copy.phase);
        PhaseOfCopy {
            offset: barrier,
            number: copy.phase,
            ended: state.phase,
            brought: state.last_phase_bytes,
            started: last.map_or(0, |(_, bytes)| *bytes),
            waited: None,
        }
    }

    /// Returns the newest load that has yet to write one of `bytes` bytes at `offset`, and its barrier.
    pub(crate) fn in_flight(&self, offset: u32, bytes: u32) -> Option<(u32, &BulkCopy)> {
        let overlaps = |copy: &BulkCopy| {
            copy.runs().into_iter().any(|run| run.shared < offset + bytes && offset < run.shared + run.bytes)
        };
        let near = |copy: &BulkCopy| {
            let (from, to) = (u64::from(offset), u64::from(offset + bytes));
            let start = u64::from(copy.shared);
            start < to && from < start + copy.map.shared_bytes()
        };
        let mut newest_first = self.loads.iter().rev();
        newest_first.find(|(_, copy)| near(copy) && overlaps(copy)).map(|(barrier, copy)| (*barrier, copy))
    }

    /// Notes the words of shared memory that a load writes.
    pub(crate) fn note_loaded(&mut self, copy: &BulkCopy) {
        for run in copy.runs() {
            for word in run.shared / 4..(run.shared + run.bytes).div_ceil(4) {
                let place = word as usize / 64;
                if self.loaded.len() <= place {
                    self.loaded.resize(place + 1, 0);
                }
                self.loaded[place] |= 1 << (word % 64);
            }
        }
    }

    /// Notes the swizzle of the pieces that a box copy wrote to `shared`, unless its rows do not show one.
    pub(crate) fn note_swizzle(&mut self, copy: &BulkCopy, shared: *const u8) {
        let (rows, swizzle) = (copy.map.rank > 1, copy.map.swizzle);
        for run in copy.runs() {
            for at in (run.shared..run.shared + run.bytes).step_by(PIECE) {
                if rows {
                    // SAFETY: the copy has written there.
                    unsafe {
                        let bytes = shared.add(at as usize).cast::<[u8; PIECE]>().read();
                        self.swizzles.insert(at, (swizzle, copy.by.instr, bytes));
                    }
                } else {
                    self.swizzles.remove(&at);
                }
            }
        }
    }

    /// Returns the swizzle of the box copy that wrote a piece which still holds these bytes, and its instruction.
    pub(crate) fn swizzle_of(&self, offset: u32, bytes: &[u8; PIECE]) -> Option<(Swizzle, u32)> {
        let (swizzle, instr, written) = self.swizzles.get(&offset)?;
        (written == bytes).then_some((*swizzle, *instr))
    }

    /// Returns the first word of these pieces that ordinary stores wrote, without a `fence.proxy.async` since.
    pub(crate) fn unfenced(&self, pieces: &[u32]) -> Option<u32> {
        if self.fenced {
            return None;
        }
        let mut words = pieces.iter().flat_map(|at| at / 4..at / 4 + 4);
        words.find(|word| !self.is_loaded(*word)).map(|word| word * 4)
    }

    pub(crate) fn is_loaded(&self, word: u32) -> bool {
        let bits = self.loaded.get(word as usize / 64).copied().unwrap_or(0);
        bits >> (word % 64) & 1 == 1
    }

    pub(crate) fn bytes_to(&self, barrier: u32) -> u64 {
        let to_it = self.loads.iter().filter(|(to, _)| *to == barrier);
        to_it.map(|(_, copy)| copy.map.box_bytes()).sum()
    }

    pub(crate) fn committed(&mut self, thread: u32) -> &mut u32 {
        let thread = thread as usize;
        if self.committed.len() <= thread {
            self.committed.resize(thread + 1, 0);
        }
        &mut self.committed[thread]
    }
}

//! Instructions that warps executed.

use std::ops::Range;

use program::RANK_SHIFT;
use simt::memory::rules::{self, Addresses};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub instruction: u32,
    pub access: Access,
}

/// A warp's access to memory, as far as its time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No access.
    None,
    /// The instruction is executed for no lane: a warp does not arrive at a barrier.
    Skipped,
    /// Shared memory: passes over the banks.
    Shared {
        /// Number of wavefronts, at least 1.
        wavefronts: u16,
    },
    /// Shared memory of another block of the cluster: as many times 128 bytes at a time as `wavefronts`.
    Remote { wavefronts: u16 },
    /// Global or local memory.
    Global {
        /// Passes over L1: [`rules::l1_passes`].
        wavefronts: u16,
        /// Distinct sectors that the access touched.
        sectors: Sectors,
        /// The access touches all bytes of each of them, 8 by each lane, and one in each line.
        is_whole: bool,
    },
    /// A copy from global to shared memory.
    Copy {
        /// Passes over L1; 0 where all lanes write zeros.
        passes: u16,
        sectors: Sectors,
        /// Passes over the banks of shared memory.
        wavefronts: u16,
    },
    /// Work that goes on by itself, or waits for such: a range of the events of a [`Trace`].
    Events { first: u32, n: u16 },
}

/// A barrier that is used, or a copy that goes on by itself. Barriers in shared memory have their offset there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A barrier of which each phase expects so many arrivals.
    Init { barrier: u32, arrivals: u32 },
    /// Arrivals, and bytes that the phase expects; in another block of the cluster.
    Arrive { barrier: u32, is_remote: bool, arrivals: u32, bytes: i32 },
    /// The phase ends no earlier than the warp's copies so far have arrived.
    ArriveAfterCopies { barrier: u32, arrivals: u32 },
    /// A wait until so many phases have ended.
    Wait { barrier: u32, phases: u32 },
    /// A copy to shared memory, of `bytes` bytes to each of `blocks` blocks of the cluster, of which `inside` bytes, in
    /// so many rows, lie in the matrix.
    Load { barrier: u32, blocks: u16, rows: u16, bytes: u32, inside: u32, sectors: Sectors },
    /// A copy from shared memory.
    Store { rows: u16, sectors: Sectors },
    /// Threads that meet at a barrier of the block, where the warp waits for them or not.
    Meet { id: u8, threads: u16, waits: bool },
}

/// A range of the sectors of a [`Trace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sectors {
    /// Index of the first one among the sectors of the trace.
    pub first: u32,
    /// Number of sectors: of at most 32 lanes of 16 bytes.
    pub n: u16,
}

/// Instructions that one warp executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    pub steps: Vec<Step>,
    /// Numbers of 32-byte sectors in memory.
    pub sectors: Vec<u64>,
    pub events: Vec<Event>,
}

pub(crate) const SECTOR: u64 = 32;
/// Sectors of a line.
pub(crate) const LINE: u64 = 4;
/// First address of local memory in the caches: above every buffer.
pub(crate) const LOCAL: u64 = 1 << 63;
/// Bytes of these addresses for each warp, and for the 32 warps that a block has at most.
pub(crate) const LOCAL_OF_WARP: u64 = 1 << 24;
pub(crate) const LOCAL_OF_BLOCK: u64 = LOCAL_OF_WARP << 5;

/// Returns the number of the warp whose local memory the sector is.
pub(crate) fn warp_of_local(sector: u64) -> u64 {
    (sector - LOCAL / SECTOR) / (LOCAL_OF_WARP / SECTOR)
}

pub(crate) fn is_local(sector: u64) -> bool {
    sector >= LOCAL / SECTOR
}

impl Trace {
    /// Adds an instruction that accesses no memory.
    pub fn push(&mut self, instruction: u32) {
        self.steps.push(Step { instruction, access: Access::None });
    }

    /// Records that the last instruction accesses shared memory.
    pub fn touch_shared(&mut self, addresses: &Addresses, bytes: u32, direction: rules::Direction) {
        let wavefronts = rules::shared_cost(addresses, bytes, direction).wavefronts as u16;
        // The address of another block's memory has its rank above the offset.
        let is_remote = addresses.iter().flatten().any(|address| address >> RANK_SHIFT != 0);
        self.touch(if is_remote { Access::Remote { wavefronts } } else { Access::Shared { wavefronts } });
    }

    /// Records that the last instruction accesses global memory.
    pub fn touch_global(&mut self, addresses: &Addresses, bytes: u32) {
        let wavefronts = rules::l1_passes(addresses, bytes) as u16;
        let distinct = |of: &mut Vec<u64>| {
            of.sort_unstable();
            of.dedup();
        };
        let touched = |&a: &u64| a / SECTOR..=a.saturating_add(u64::from(bytes.max(1)) - 1) / SECTOR;
        let mut sectors: Vec<u64> = addresses.iter().flatten().flat_map(touched).collect();
        distinct(&mut sectors);
        let place = Sectors { first: self.sectors.len() as u32, n: sectors.len() as u16 };
        let apart = || sectors.chunk_by(|a, b| a / LINE == b / LINE).all(|line| line.len() == 1);
        let full = || {
            let mut starts: Vec<u64> = addresses.iter().flatten().copied().collect();
            distinct(&mut starts);
            starts.len() as u64 * u64::from(bytes) == sectors.len() as u64 * SECTOR
        };
        let is_whole = apart() && full();
        self.sectors.extend(sectors);
        self.touch(Access::Global { wavefronts, sectors: place, is_whole });
    }

    /// Records that the last instruction copies to these addresses in shared memory, after [`Self::touch_global`].
    pub fn touch_copied(&mut self, addresses: &Addresses, bytes: u32) {
        let wavefronts = rules::shared_cost(addresses, bytes, rules::Direction::Store).wavefronts as u16;
        let (passes, sectors) = match self.steps.last().map(|last| last.access) {
            Some(Access::Global { wavefronts, sectors, .. }) => (wavefronts, sectors),
            _ => (0, Sectors { first: 0, n: 0 }),
        };
        self.touch(Access::Copy { passes, sectors, wavefronts });
    }

    /// Adds an event to the last instruction. Lanes arrive together, and wait together.
    pub fn happened(&mut self, event: Event) {
        let index = self.events.len() as u32;
        let Some(last) = self.steps.last_mut() else { return };
        let Access::Events { n, .. } = &mut last.access else {
            last.access = Access::Events { first: index, n: 1 };
            self.events.push(event);
            return;
        };
        match (self.events.last_mut(), event) {
            (Some(before), event) if *before == event && matches!(event, Event::Wait { .. }) => return,
            (
                Some(Event::Arrive { barrier, is_remote, arrivals, bytes }),
                Event::Arrive { barrier: same, is_remote: also, arrivals: more, bytes: more_bytes },
            ) if *barrier == same && *is_remote == also => {
                *arrivals += more;
                *bytes += more_bytes;
                return;
            }
            (
                Some(Event::ArriveAfterCopies { barrier, arrivals }),
                Event::ArriveAfterCopies { barrier: same, arrivals: more },
            ) if *barrier == same => {
                *arrivals += more;
                return;
            }
            _ => {}
        }
        *n += 1;
        self.events.push(event);
    }

    /// Returns the sectors of the pieces of memory that a copy reads or writes, as part of this trace.
    pub(crate) fn take_sectors(&mut self, pieces: impl Iterator<Item = Range<u64>>) -> Sectors {
        let first = self.sectors.len();
        for piece in pieces {
            for sector in piece.start / SECTOR..piece.end.div_ceil(SECTOR) {
                if self.sectors.len() == first || self.sectors.last() != Some(&sector) {
                    self.sectors.push(sector);
                }
            }
        }
        let n = self.sectors.len() - first;
        Sectors { first: first as u32, n: n.min(u16::MAX.into()) as u16 }
    }

    pub(crate) fn events(&self, access: Access) -> &[Event] {
        let Access::Events { first, n } = access else { return &[] };
        self.events.get(first as usize..first as usize + usize::from(n)).unwrap_or(&[])
    }

    /// Drops the steps from `len` on, unless one of them does more than poll.
    pub(crate) fn drop_polls(&mut self, len: usize) {
        if self.steps[len..].iter().all(|step| matches!(step.access, Access::None | Access::Skipped)) {
            self.steps.truncate(len);
        }
    }

    /// Records that the last instruction is executed for no lane.
    pub(crate) fn skip(&mut self) {
        self.touch(Access::Skipped);
    }

    fn touch(&mut self, access: Access) {
        if let Some(last) = self.steps.last_mut() {
            last.access = access;
        }
    }

    pub(crate) fn sectors(&self, sectors: Sectors) -> &[u64] {
        let range = Range { start: sectors.first as usize, end: sectors.first as usize + usize::from(sectors.n) };
        self.sectors.get(range).unwrap_or(&[])
    }
}

/// Instructions that the warps of one block executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    pub warps: Vec<Trace>,
}

/// Instruction, warp position and block that an access belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessOrigin {
    pub(crate) instruction: u32,
    /// Number of instructions that the warp executed before it.
    pub(crate) step: usize,
    /// Index of the block among those that the SM runs.
    pub(crate) block: usize,
}

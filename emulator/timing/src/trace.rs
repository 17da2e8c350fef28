//! Instructions that warps executed.

use std::ops::Range;

use simt::memory::rules::{self, Addresses};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub instruction: u32,
    pub access: Access,
}

/// A warp's access to memory, as far as its time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No access, or one without lanes.
    None,
    /// Shared memory: passes over the banks.
    Shared {
        /// Number of wavefronts, at least 1.
        wavefronts: u16,
    },
    /// Global or local memory.
    Global {
        /// Passes over L1: [`rules::l1_passes`].
        wavefronts: u16,
        /// Distinct sectors that the access touched.
        sectors: Sectors,
    },
    /// A copy from global to shared memory.
    Copy {
        /// Passes over L1; 0 where all lanes write zeros.
        passes: u16,
        sectors: Sectors,
        /// Passes over the banks of shared memory.
        wavefronts: u16,
    },
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
}

const SECTOR: u64 = 32;
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
        self.touch(Access::Shared { wavefronts });
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
        self.sectors.extend(sectors);
        self.touch(Access::Global { wavefronts, sectors: place });
    }

    /// Records that the last instruction copies to these addresses in shared memory, after [`Self::touch_global`].
    pub fn touch_copied(&mut self, addresses: &Addresses, bytes: u32) {
        let wavefronts = rules::shared_cost(addresses, bytes, rules::Direction::Store).wavefronts as u16;
        let (passes, sectors) = match self.steps.last().map(|last| last.access) {
            Some(Access::Global { wavefronts, sectors }) => (wavefronts, sectors),
            _ => (0, Sectors { first: 0, n: 0 }),
        };
        self.touch(Access::Copy { passes, sectors, wavefronts });
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

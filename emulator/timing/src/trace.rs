//! What warps have executed.

use std::ops::Range;

use simt::memory::rules::{self, Addresses};

/// One instruction that a warp executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Index of the instruction in the kernel.
    pub instruction: u32,
    /// The memory that it touched.
    pub access: Access,
}

/// What an access touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Not an access, or one without lanes.
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
        /// The distinct sectors that it touched.
        sectors: Sectors,
    },
}

/// A part of the sectors of a [`Trace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sectors {
    /// Index of the first.
    pub first: u32,
    /// At most 32 lanes of 16 bytes.
    pub n: u16,
}

/// What one warp executed, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The instructions, in the order of execution.
    pub steps: Vec<Step>,
    /// Numbers of 32-byte sectors in memory.
    pub sectors: Vec<u64>,
}

const SECTOR: u64 = 32;

impl Trace {
    /// Adds an instruction that accesses no memory.
    pub fn push(&mut self, instruction: u32) {
        self.steps.push(Step {
            instruction,
            access: Access::None,
        });
    }

    /// The last instruction loads from shared memory, or stores to it.
    pub fn touch_shared(&mut self, addresses: &Addresses, bytes: u32, load: bool) {
        let wavefronts = rules::shared_cost(addresses, bytes, load).wavefronts as u16;
        self.touch(Access::Shared { wavefronts });
    }

    /// The last instruction loads from global memory, or stores to it.
    pub fn touch_global(&mut self, addresses: &Addresses, bytes: u32) {
        let wavefronts = rules::l1_passes(addresses, bytes) as u16;
        let distinct = |of: &mut Vec<u64>| {
            of.sort_unstable();
            of.dedup();
        };
        let touched = |&a: &u64| a / SECTOR..=a.saturating_add(u64::from(bytes.max(1)) - 1) / SECTOR;
        let mut sectors: Vec<u64> = addresses.iter().flatten().flat_map(touched).collect();
        distinct(&mut sectors);
        let place = Sectors {
            first: self.sectors.len() as u32,
            n: sectors.len() as u16,
        };
        self.sectors.extend(sectors);
        self.touch(Access::Global {
            wavefronts,
            sectors: place,
        });
    }

    fn touch(&mut self, access: Access) {
        if let Some(last) = self.steps.last_mut() {
            last.access = access;
        }
    }

    pub(crate) fn sectors(&self, sectors: Sectors) -> &[u64] {
        let range = Range {
            start: sectors.first as usize,
            end: sectors.first as usize + usize::from(sectors.n),
        };
        self.sectors.get(range).unwrap_or(&[])
    }
}

/// The warps of one block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The traces in the order of the blocks' numbers.
    pub warps: Vec<Trace>,
}

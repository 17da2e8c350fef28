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
        /// Passes over L1: [`l1_wavefronts`].
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

/// Bytes of a line of L1.
const LINE: u64 = 128;
const SECTOR: u64 = 32;
const WORD: u64 = 4;
const BANKS: usize = 32;
const TAG_BANKS: usize = 4;

/// What each bit of a line's number adds (exclusive or) to the number of the bank that holds its tag. Found from the
/// patterns in `tests/data/h200-l1-patterns.txt`, which determine the first 11.
const TAG_BITS: [u8; 17] = [1, 2, 1, 2, 3, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 2];

/// Passes of one access over L1: each looks up one line in each of four banks of tags, and reads one word from each of
/// 32 banks of data.
pub fn l1_wavefronts(addresses: &Addresses, bytes: u32) -> u16 {
    let mut lines: Vec<u64> = Vec::with_capacity(32);
    let mut words: Vec<u64> = Vec::with_capacity(32);
    for &address in addresses.iter().flatten() {
        let last = address.saturating_add(u64::from(bytes.max(1)) - 1);
        lines.extend(address / LINE..=last / LINE);
        words.extend(address / WORD..=last / WORD);
    }
    let tags = most(&mut lines, TAG_BANKS, tag_bank);
    let data = most(&mut words, BANKS, |word| (word % BANKS as u64) as usize);
    tags.max(data)
}

fn tag_bank(line: u64) -> usize {
    let bits = TAG_BITS.iter().cycle().take(u64::BITS as usize).enumerate();
    let of = |(i, bank): (usize, &u8)| if line >> i & 1 == 1 { *bank } else { 0 };
    bits.map(of).fold(0, |all, one| all ^ one).into()
}

/// How many distinct numbers the fullest of the banks has.
fn most(numbers: &mut Vec<u64>, n_banks: usize, bank: impl Fn(u64) -> usize) -> u16 {
    numbers.sort_unstable();
    numbers.dedup();
    let mut banks = [0; BANKS];
    for &number in &*numbers {
        banks[bank(number) % n_banks] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

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
        let wavefronts = l1_wavefronts(addresses, bytes);
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

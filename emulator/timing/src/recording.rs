//! The observer that records traces of warps during a launch on the emulated GPU.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use simt::memory::rules::Addresses;
use simt::program::MemSpace;
use simt::trace::{self, Observer};

use crate::trace::{Block, Trace};

/// Bytes of a word of local memory: the caches see the words of a warp's lanes side by side.
const LOCAL_WORD: u64 = 4;
/// Address at which the caches see local memory: above every buffer.
const LOCAL: u64 = 1 << 47;

/// The most instructions of warps that are recorded: a trace takes some 20 bytes for each.
pub(crate) const MAX_STEPS: u64 = 48_000_000;

/// Choice of the instructions that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    All,
    Global,
}

/// Traces of some blocks. The others do not run.
#[derive(Debug)]
pub(crate) struct Recording {
    detail: Detail,
    n_steps: AtomicU64,
    blocks: BTreeMap<u64, Mutex<Block>>,
}

impl Recording {
    /// Creates an empty recording of these blocks, of `n_warps` warps each.
    pub(crate) fn of(blocks: impl IntoIterator<Item = u64>, n_warps: u32, detail: Detail) -> Self {
        let block = || Block { warps: vec![Trace::default(); n_warps as usize] };
        Self {
            detail,
            n_steps: AtomicU64::new(0),
            blocks: blocks.into_iter().map(|b| (b, Mutex::new(block()))).collect(),
        }
    }

    /// Returns the traces by block number; `None` where they exceed [`MAX_STEPS`].
    pub(crate) fn into_blocks(self) -> Option<Vec<Block>> {
        let block = |block: Mutex<Block>| block.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_whole = self.n_steps.into_inner() <= MAX_STEPS;
        is_whole.then(|| self.blocks.into_values().map(block).collect())
    }
}

impl Observer for Recording {
    fn runs(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    fn follows(&self, block: u64, _: u32) -> bool {
        self.runs(block) && self.n_steps.load(Ordering::Relaxed) <= MAX_STEPS
    }

    fn step(&self, block: u64, warp: u32, step: trace::Step) {
        let Some(recorded) = self.blocks.get(&block) else { return };
        let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(trace) = recorded.warps.get_mut(warp as usize) else { return };
        let is_wanted = match self.detail {
            Detail::All => step.first,
            Detail::Global => matches!(&step.access, Some(access) if access.space == MemSpace::Global),
        };
        if is_wanted {
            self.n_steps.fetch_add(1, Ordering::Relaxed);
            trace.push(step.instr);
        }
        if self.detail == Detail::Global && !is_wanted {
            return;
        }
        let Some(access) = step.access else { return };
        match access.space {
            MemSpace::Shared => trace.touch_shared(&access.addresses, access.bytes, access.load),
            MemSpace::Global => trace.touch_global(&access.addresses, access.bytes),
            MemSpace::Local => {
                let warp = block << 5 | u64::from(warp);
                trace.touch_global(&interleaved(&access.addresses, warp), access.bytes);
            }
            MemSpace::Const | MemSpace::Param | MemSpace::Generic => {}
        }
    }
}

/// Converts addresses of local memory to those that the caches see: the words of all lanes side by side.
fn interleaved(addresses: &Addresses, warp: u64) -> Addresses {
    let place = |lane: usize| {
        let own = addresses[lane]?;
        Some(LOCAL + (warp << 24) + own / LOCAL_WORD * 128 + lane as u64 * LOCAL_WORD)
    };
    std::array::from_fn(place)
}

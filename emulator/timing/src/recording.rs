//! The observer that records traces of warps during a launch on the emulated GPU.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use program::MemSpace;
use simt::lock::{into_inner, lock};
use simt::memory::rules::Addresses;
use simt::trace::{self, Observer};

use crate::trace::{Block, LOCAL, LOCAL_OF_BLOCK, LOCAL_OF_WARP, Trace};

/// Bytes of a word of local memory: in the caches, the words of a warp's lanes lie side by side.
const LOCAL_WORD: u64 = 4;

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
    /// Each with the position on its SM, whose local memory the blocks at that position use one after another.
    blocks: BTreeMap<u64, (u64, Mutex<Block>)>,
}

impl Recording {
    /// Creates an empty recording of these blocks, of `n_warps` warps each and `resident` at a time.
    pub(crate) fn of(blocks: &[u64], resident: u64, n_warps: u32, detail: Detail) -> Self {
        let block = || Mutex::new(Block { warps: vec![Trace::default(); n_warps as usize] });
        let positions = (0..resident.max(1)).cycle();
        Self {
            detail,
            n_steps: AtomicU64::new(0),
            blocks: blocks.iter().zip(positions).map(|(&b, position)| (b, (position, block()))).collect(),
        }
    }

    /// Returns the traces by block number; `None` where they exceed [`MAX_STEPS`].
    pub(crate) fn into_blocks(self) -> Option<Vec<Block>> {
        let is_whole = self.n_steps.into_inner() <= MAX_STEPS;
        is_whole.then(|| self.blocks.into_values().map(|(_, block)| into_inner(block)).collect())
    }
}

impl Observer for Recording {
    fn runs(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    fn observes(&self, block: u64, _: u32) -> bool {
        self.runs(block) && self.n_steps.load(Ordering::Relaxed) <= MAX_STEPS
    }

    fn step(&self, block: u64, warp: u32, step: trace::Step) {
        let Some((position, recorded)) = self.blocks.get(&block) else { return };
        let mut recorded = lock(recorded);
        let Some(trace) = recorded.warps.get_mut(warp as usize) else { return };
        let (from, to) = step.copy.map_or((None, None), |copy| (copy.from, Some(copy.to)));
        let access = step.access.or(from);
        let is_wanted = match self.detail {
            Detail::All => step.first,
            Detail::Global => matches!(&access, Some(access) if access.space == MemSpace::Global),
        };
        if is_wanted {
            self.n_steps.fetch_add(1, Ordering::Relaxed);
            trace.push(step.instr);
        }
        if self.detail == Detail::Global && !is_wanted {
            return;
        }
        if let Some(access) = access {
            record(trace, access, *position, warp);
        }
        if let Some(to) = to {
            trace.touch_copied(&to.addresses, to.bytes);
        }
    }
}

/// Adds an access to the last step of a warp of the block at a position on its SM.
fn record(trace: &mut Trace, access: trace::Access, position: u64, warp: u32) {
    match access.space {
        MemSpace::Shared => trace.touch_shared(&access.addresses, access.bytes, access.direction),
        MemSpace::Global => trace.touch_global(&access.addresses, access.bytes),
        MemSpace::Local => {
            let base = LOCAL + position * LOCAL_OF_BLOCK + u64::from(warp) * LOCAL_OF_WARP;
            trace.touch_global(&interleaved(&access.addresses, access.bytes, base), access.bytes);
        }
        MemSpace::Const | MemSpace::Param | MemSpace::Generic => {}
    }
}

/// Converts addresses of local memory to those in the caches: the words of all lanes lie side by side.
fn interleaved(addresses: &Addresses, bytes: u32, base: u64) -> Addresses {
    let place = |lane: usize| {
        let own = addresses[lane]?;
        Some(base + own / LOCAL_WORD * 128 + lane as u64 * LOCAL_WORD.max(bytes.into()))
    };
    std::array::from_fn(place)
}

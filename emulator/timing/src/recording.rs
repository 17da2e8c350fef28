//! The observer that records traces of warps during a launch on the emulated GPU.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use program::{MemSpace, tensor::Run};
use simt::lock::{into_inner, lock};
use simt::memory::rules::{Addresses, Direction};
use simt::trace::{self, Observer};

use crate::trace::{Block, Event, LOCAL, LOCAL_OF_BLOCK, LOCAL_OF_WARP, Trace};

/// Bytes of a word of local memory: in the caches, the words of a warp's lanes lie side by side.
const LOCAL_WORD: u64 = 4;

/// The most instructions of warps that are recorded: a trace takes some 20 bytes for each.
pub(crate) const MAX_STEPS: u64 = 48_000_000;

/// Choice of the instructions that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    All,
    Global,
    /// The first boxes that each block of a cluster of so many copies to shared memory: the cluster ends then. The
    /// numbers of its blocks follow each other.
    Boxes {
        ranks: u32,
    },
}

/// Copies of boxes of [`Detail::Boxes`]. A block may record more of them, while others of its cluster lack some.
const BOXES: usize = 12;

/// Traces of some blocks. The others do not run.
#[derive(Debug)]
pub(crate) struct Recording {
    detail: Detail,
    n_steps: AtomicU64,
    /// Each with the position on its SM, whose local memory the blocks at that position use one after another.
    blocks: BTreeMap<u64, (u64, Mutex<Recorded>)>,
}

#[derive(Debug)]
struct Recorded {
    block: Block,
    n_boxes: usize,
    /// By warp: a barrier that it has found closed, and the number of its steps then, this one included.
    closed: Vec<Option<(u32, usize)>>,
}

impl Recording {
    /// Creates an empty recording of these blocks of `n_warps` warps, each with its position on its SM.
    pub(crate) fn of(blocks: &[(u64, u64)], n_warps: u32, detail: Detail) -> Self {
        let n_warps = n_warps as usize;
        let block = Block { warps: vec![Trace::default(); n_warps] };
        let block = || Mutex::new(Recorded { block: block.clone(), n_boxes: 0, closed: vec![None; n_warps] });
        Self {
            detail,
            n_steps: AtomicU64::new(0),
            blocks: blocks.iter().map(|&(number, position)| (number, (position, block()))).collect(),
        }
    }

    /// Returns the traces by block number; `None` where they exceed [`MAX_STEPS`].
    pub(crate) fn into_blocks(self) -> Option<BTreeMap<u64, Block>> {
        let is_whole = self.n_steps.into_inner() <= MAX_STEPS;
        let block = |(number, (_, recorded)): (u64, (u64, Mutex<Recorded>))| (number, into_inner(recorded).block);
        is_whole.then(|| self.blocks.into_iter().map(block).collect())
    }
}

impl Observer for Recording {
    fn runs(&self, block: u64) -> bool {
        self.blocks.contains_key(&block)
    }

    fn observes(&self, block: u64, _: u32) -> bool {
        self.runs(block) && self.n_steps.load(Ordering::Relaxed) <= MAX_STEPS
    }

    fn is_done(&self, block: u64) -> bool {
        let Detail::Boxes { ranks } = self.detail else { return false };
        let first = block - block % u64::from(ranks);
        let is_done = |(_, recorded): &(u64, Mutex<Recorded>)| lock(recorded).n_boxes >= BOXES;
        (first..first + u64::from(ranks)).all(|block| self.blocks.get(&block).is_none_or(is_done))
    }

    fn step(&self, block: u64, warp: u32, step: trace::Step) {
        if matches!(self.detail, Detail::Boxes { .. }) {
            return;
        }
        let Some((position, recorded)) = self.blocks.get(&block) else { return };
        let mut recorded = lock(recorded);
        let Some(trace) = recorded.block.warps.get_mut(warp as usize) else { return };
        let (from, to) = step.copy.map_or((None, None), |copy| (copy.from, Some(copy.to)));
        let access = step.access.or(from).or(step.matrices.map(rows_of_matrices));
        let is_wanted = match self.detail {
            Detail::All => step.first,
            _ => matches!(&access, Some(access) if access.space == MemSpace::Global),
        };
        if is_wanted {
            self.n_steps.fetch_add(1, Ordering::Relaxed);
            trace.push(step.instr);
            if step.lanes == 0 {
                trace.skip();
            }
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

    fn event(&self, block: u64, warp: u32, instr: u32, event: trace::Event) {
        let Some((_, recorded)) = self.blocks.get(&block) else { return };
        let mut recorded = lock(recorded);
        recorded.n_boxes += usize::from(matches!(event, trace::Event::Load { .. }));
        if self.detail != Detail::All {
            let is_copy = matches!(event, trace::Event::Load { .. } | trace::Event::Store { .. });
            let Some(trace) = recorded.block.warps.get_mut(warp as usize).filter(|_| is_copy) else { return };
            self.n_steps.fetch_add(1, Ordering::Relaxed);
            trace.push(instr);
        }
        recorded.happened(warp as usize, event);
    }
}

impl Recorded {
    /// Adds what an instruction did to the warp's last step, which is the instruction's.
    fn happened(&mut self, warp: usize, event: trace::Event) {
        let Self { block, closed, .. } = self;
        let (Some(trace), Some(closed)) = (block.warps.get_mut(warp), closed.get_mut(warp)) else { return };
        let copied = |trace: &mut Trace, runs: &[Run]| {
            let piece = |run: &Run| run.global.map(|start| start..start + u64::from(run.bytes));
            let pieces = || runs.iter().filter_map(piece);
            // Rows of a box are apart, the pieces of a row are not.
            let rows = pieces().count() - pieces().zip(pieces().skip(1)).filter(|(a, b)| a.end == b.start).count();
            let inside: u64 = pieces().map(|piece| piece.end - piece.start).sum();
            (rows as u16, inside as u32, trace.take_sectors(pieces()))
        };
        let event = match event {
            trace::Event::Init { barrier, arrivals } => Event::Init { barrier, arrivals },
            trace::Event::Arrive { barrier, is_remote, arrivals, bytes } => {
                Event::Arrive { barrier, is_remote, arrivals, bytes: bytes as i32 }
            }
            trace::Event::ArriveAfterCopies { barrier, counts } => {
                Event::ArriveAfterCopies { barrier, arrivals: u32::from(!counts) }
            }
            trace::Event::Wait { barrier, ended: None } => {
                if closed.is_none_or(|(other, _)| other != barrier) {
                    *closed = Some((barrier, trace.steps.len()));
                }
                return;
            }
            trace::Event::Wait { barrier, ended: Some(phases) } => {
                if let Some((other, len)) = closed.take()
                    && other == barrier
                {
                    trace.drop_polls(len);
                }
                Event::Wait { barrier, phases: phases as u32 }
            }
            trace::Event::Load { barrier, blocks, bytes, runs } => {
                let (rows, inside, sectors) = copied(trace, &runs);
                Event::Load { barrier, blocks: blocks as u16, rows, bytes: bytes as u32, inside, sectors }
            }
            trace::Event::Store { runs } => {
                let (rows, _, sectors) = copied(trace, &runs);
                Event::Store { rows, sectors }
            }
            // All warps of the block.
            trace::Event::Meet { threads: 0, .. } => return,
            trace::Event::Meet { id, threads, waits } => Event::Meet { id: id as u8, threads: threads as u16, waits },
        };
        trace.happened(event);
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

/// Returns the rows of matrices as an access. The rows of each pass together; those of two never do, as of stores.
fn rows_of_matrices(matrices: Box<trace::Matrices>) -> trace::Access {
    trace::Access { direction: Direction::Store, ..matrices.rows }
}

/// Converts addresses of local memory to those in the caches: the words of all lanes lie side by side.
fn interleaved(addresses: &Addresses, bytes: u32, base: u64) -> Addresses {
    let place = |lane: usize| {
        let own = addresses[lane]?;
        Some(base + own / LOCAL_WORD * 128 + lane as u64 * LOCAL_WORD.max(bytes.into()))
    };
    std::array::from_fn(place)
}

//! Events gathered by kind: the first of each, and how many threads did the same.
//!
//! Instructions that come from one place of the source (the copies of an unrolled loop) count as one kind, so
//! that a mistake is told once. What is kept does not depend on how blocks were shared out to workers: "first"
//! means the lowest block and, in it, the order of execution; counts are sums over blocks.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::event::{AccessKind, Details, Event};
use super::{Context, render};
use crate::finding::{Code, Finding, Severity};
use crate::program::{Kernel, OpKind, SourceLoc};

/// Kinds kept by one collector: far more than anybody reads, and a bound on memory.
const MAX_KINDS: usize = 256;

/// Instructions that are told as one: the first of them, and the first of the other party's of a race.
type Key = (Code, u32, u32);

/// Gathers events. One per worker thread.
#[derive(Debug)]
pub struct Collector {
    /// By instruction: the first instruction that comes from the same place and does the same.
    site: Vec<u32>,
    block: [u32; 3],
    grid: [u32; 3],
    kinds: BTreeMap<Key, Kind>,
    dropped: u64,
}

/// One kind of mistake.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    /// The first event.
    pub(crate) first: Event,
    /// Distinct threads, blocks finished.
    pub(crate) n_threads: u64,
    pub(crate) n_blocks: u64,
    /// Grid-wide coordinates of the threads: lowest and highest.
    pub(crate) low: [u64; 3],
    pub(crate) high: [u64; 3],
    /// Lowest and highest address of the first lanes, for accesses.
    pub(crate) addresses: Option<(u64, u64)>,
    /// Lanes by warp in the block that is being counted.
    current: (u64, HashMap<u32, u32>),
}

impl Collector {
    /// An empty one for launches of `kernel` with this grid and block.
    pub fn new(kernel: &Kernel, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            site: sites(kernel),
            block,
            grid,
            kinds: BTreeMap::new(),
            dropped: 0,
        }
    }

    /// Nothing was recorded that fails the launch.
    pub fn is_clean(&self) -> bool {
        !self
            .kinds
            .keys()
            .any(|(code, ..)| code.severity() == Severity::Error)
    }

    /// Nothing was recorded at all.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// An event of this code and instruction in `block` would be the first of its kind: worth finding out more.
    pub fn is_new(&self, code: Code, instr: u32, block: u64) -> bool {
        let key = (code, self.site(instr), u32::MAX);
        self.kinds.get(&key).is_none_or(|kind| kind.first.block > block)
    }

    /// Takes note of an event.
    pub fn record(&mut self, event: Event) {
        let other = match &event.details {
            Details::Race(race) => {
                // The pair in either order is one mistake.
                let [a, b] = race.parties.map(|party| self.site(party.instr));
                if a == self.site(event.instr) { b } else { a }
            }
            _ => u32::MAX,
        };
        let site = self.site(event.instr);
        let key = match event.details {
            Details::Race(_) => (event.code, site.min(other), site.max(other)),
            _ => (event.code, site, other),
        };
        let dims = self.block;
        let origin = block_origin(event.block, self.grid, dims);
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&key) {
            self.dropped += 1;
            return;
        }
        let kind = self.kinds.entry(key).or_insert_with(|| Kind {
            first: event.clone(),
            n_threads: 0,
            n_blocks: 0,
            low: [u64::MAX; 3],
            high: [0; 3],
            addresses: None,
            current: (event.block, HashMap::new()),
        });
        if kind.current.0 != event.block {
            kind.close_block();
            kind.current.0 = event.block;
        }
        let seen = kind.current.1.entry(event.warp).or_insert(0);
        let new = event.mask & !*seen;
        *seen |= event.mask;
        for lane in lanes(new) {
            let thread = thread_position(u64::from(event.warp) * 32 + u64::from(lane), dims);
            for axis in 0..3 {
                let at = origin[axis] + u64::from(thread[axis]);
                kind.low[axis] = kind.low[axis].min(at);
                kind.high[axis] = kind.high[axis].max(at);
            }
        }
        if let Details::Access(access) | Details::Uninitialised { access, .. } = &event.details {
            let (low, high) = kind.addresses.unwrap_or((access.address, access.address));
            kind.addresses = Some((low.min(access.address), high.max(access.address)));
        }
        if rank(&event) < rank(&kind.first) {
            kind.first = event;
        }
    }

    /// Adds what another worker gathered.
    pub fn merge(&mut self, other: Self) {
        self.dropped += other.dropped;
        for (key, mut theirs) in other.kinds {
            theirs.close_block();
            match self.kinds.get_mut(&key) {
                None => {
                    self.kinds.insert(key, theirs);
                }
                Some(ours) => {
                    ours.close_block();
                    ours.n_threads += theirs.n_threads;
                    ours.n_blocks += theirs.n_blocks;
                    for axis in 0..3 {
                        ours.low[axis] = ours.low[axis].min(theirs.low[axis]);
                        ours.high[axis] = ours.high[axis].max(theirs.high[axis]);
                    }
                    ours.addresses = match (ours.addresses, theirs.addresses) {
                        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                        (a, b) => a.or(b),
                    };
                    if rank(&theirs.first) < rank(&ours.first) {
                        ours.first = theirs.first;
                    }
                }
            }
        }
    }

    /// The messages, errors first, then by code, then by place.
    pub fn finish(mut self, context: &Context<'_>) -> Vec<Finding> {
        let mut kinds: Vec<Kind> = std::mem::take(&mut self.kinds).into_values().collect();
        for kind in &mut kinds {
            kind.close_block();
        }
        kinds.sort_by_key(|kind| {
            let place = place_of(context.kernel, kind.first.instr);
            (
                kind.first.code.severity(),
                kind.first.code,
                place,
                kind.first.instr,
            )
        });
        render::findings(context, &kinds)
    }

    #[cfg(test)]
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values()
    }

    fn site(&self, instr: u32) -> u32 {
        self.site.get(instr as usize).copied().unwrap_or(instr)
    }
}

impl Kind {
    #[cfg(test)]
    pub(crate) fn n_open_threads(&self) -> u32 {
        self.current.1.values().map(|mask| mask.count_ones()).sum()
    }

    fn close_block(&mut self) {
        let n: u64 = self
            .current
            .1
            .values()
            .map(|mask| u64::from(mask.count_ones()))
            .sum();
        if n > 0 {
            self.n_threads += n;
            self.n_blocks += 1;
            self.current.1.clear();
        }
    }
}

/// Which event of a kind is told: the lowest block's; of a race, one between different warps if there is one.
fn rank(event: &Event) -> (bool, u64) {
    let same_warp = matches!(&event.details, Details::Race(race) if race.same_warp);
    (same_warp, event.block)
}

/// Where an instruction comes from.
pub(crate) fn place_of(kernel: &Kernel, instr: u32) -> Option<SourceLoc> {
    kernel.instrs.get(instr as usize).and_then(|info| info.source)
}

/// Position of a thread in its block.
pub(crate) fn thread_position(thread: u64, block: [u32; 3]) -> [u32; 3] {
    let [x, y] = [u64::from(block[0].max(1)), u64::from(block[1].max(1))];
    [
        (thread % x) as u32,
        (thread / x % y) as u32,
        (thread / (x * y)) as u32,
    ]
}

/// Position of a block in the grid.
pub(crate) fn block_position(block: u64, grid: [u32; 3]) -> [u32; 3] {
    let [x, y] = [u64::from(grid[0].max(1)), u64::from(grid[1].max(1))];
    [
        (block % x) as u32,
        (block / x % y) as u32,
        (block / (x * y)) as u32,
    ]
}

/// Grid-wide coordinates of a block's first thread.
fn block_origin(block: u64, grid: [u32; 3], dims: [u32; 3]) -> [u64; 3] {
    let at = block_position(block, grid);
    [0, 1, 2].map(|axis| u64::from(at[axis]) * u64::from(dims[axis]))
}

/// The lanes of a mask, lowest first.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

/// What an instruction does, as far as it decides which instructions are told as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Does {
    Access(AccessKind),
    Other(std::mem::Discriminant<OpKind>),
    Nothing,
}

pub(crate) fn sites(kernel: &Kernel) -> Vec<u32> {
    let mut does = vec![Does::Nothing; kernel.instrs.len()];
    for op in &kernel.ops {
        let Some(slot) = does.get_mut(op.instr as usize) else {
            continue;
        };
        *slot = match &op.kind {
            OpKind::Load(_) => Does::Access(AccessKind::Read),
            OpKind::Store(_) => Does::Access(AccessKind::Write),
            OpKind::Atomic(_) => Does::Access(AccessKind::Atomic),
            OpKind::Alu { .. } => continue,
            kind => Does::Other(std::mem::discriminant(kind)),
        };
    }
    let mut first: HashMap<(SourceLoc, Does), u32> = HashMap::new();
    (0..kernel.instrs.len())
        .map(|instr| match kernel.instrs[instr].source {
            Some(place) if does[instr] != Does::Nothing => {
                *first.entry((place, does[instr])).or_insert(instr as u32)
            }
            _ => instr as u32,
        })
        .collect()
}

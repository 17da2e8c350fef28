//! Gathers mistakes in groups with the same cause: the first of each, and how many threads made it.
//!
//! Instructions that come from one place of the source (the copies of an unrolled loop) count as one group, so
//! that a mistake is reported once. What is kept does not depend on how blocks were shared out to workers: "first"
//! means the lowest block and, in it, the order of execution; counts are sums over blocks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::mistake::{AccessKind, Mistake, MistakeDetails, Use};
use super::{Code, Severity};
use crate::lane_mask::LaneMask;
use crate::memory::{AllocationInfo, Table};
use program::{DecodedKernel, MemSpace, OpKind, RANK_SHIFT, SourceLoc, window};

/// The most groups that one collector keeps, which bounds its memory.
const MAX_GROUPS: usize = 256;
/// The most written ranges that a mistake names.
pub(crate) const MAX_RANGES: usize = 256;

/// Key of a group: code, place, the other party's place, the array, and whether blocks race with blocks.
type Key = (Code, u32, u32, u64, bool);

/// Gathers mistakes. Each block has its own, however often others run before it has ended.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    sites: Arc<Sites>,
    block: [u32; 3],
    grid: [u32; 3],
    groups: BTreeMap<Key, MistakeGroup>,
    /// Number of mistakes so far, which orders those of one block.
    clock: u64,
}

/// Instructions and addresses that share a message.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    /// By instruction: the first instruction that comes from the same place and does the same.
    first: Vec<u32>,
    /// Starts of the shared arrays, ascending.
    shared: Vec<u32>,
}

/// Mistakes that share a message: the first of them, and counts.
#[derive(Debug, Clone)]
pub struct MistakeGroup {
    pub first: Mistake,
    /// Order of the first mistake among those of its block.
    pub order: u64,
    /// Distinct threads, in blocks that have ended.
    pub n_threads: u64,
    /// Blocks with such threads.
    pub n_blocks: u64,
    /// Grid-wide coordinates of the threads: the lowest on each axis.
    pub low: [u64; 3],
    pub high: [u64; 3],
    /// Lowest and highest address of the first lanes, for accesses.
    pub addresses: Option<(u64, u64)>,
    /// Lanes by block and warp, in blocks that have not ended.
    running: BTreeMap<(u64, u32), LaneMask>,
}

/// Mistakes of a launch, as data; `diagnostics` turns them into messages.
#[derive(Debug, Clone, Default)]
pub struct Mistakes {
    /// Errors first, then by code, then by place.
    pub groups: Vec<MistakeGroup>,
    /// Whether the launch stopped at one of them: counts are of what ran before.
    pub stopped: bool,
    /// The allocations as they were when the launch started.
    table: Option<Arc<Table>>,
}

impl Mistakes {
    /// Returns whether there are no mistakes, not even one that is a warning.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the codes of the mistakes, in their order.
    pub fn codes(&self) -> Vec<Code> {
        self.groups.iter().map(|group| group.first.code()).collect()
    }

    /// Returns the allocation at or near an address, also a freed one.
    pub fn allocation(&self, address: u64) -> Option<AllocationInfo> {
        self.table.as_ref()?.info(address)
    }
}

impl Collector {
    pub fn new(kernel: &DecodedKernel, grid: [u32; 3], block: [u32; 3]) -> Self {
        let sites = Sites::new(kernel).into();
        Self { sites, block, grid, groups: BTreeMap::new(), clock: 0 }
    }

    /// Takes the mistakes, with the threads of the blocks counted: these have ended.
    pub fn take(&mut self) -> Self {
        let mut groups = std::mem::take(&mut self.groups);
        groups.values_mut().for_each(MistakeGroup::count_threads);
        Self { sites: self.sites.clone(), groups, ..*self }
    }

    /// Returns whether there are no mistakes, not even a warning.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the approximate memory use.
    pub(crate) fn bytes(&self) -> usize {
        // The texts and tables of a mistake are bounded, and few are that large.
        size_of::<Self>() + self.groups.len() * (size_of::<MistakeGroup>() + 4096)
    }

    /// Returns whether no mistake fails the launch.
    pub fn is_clean(&self) -> bool {
        !self.groups.keys().any(|(code, ..)| code.severity() == Severity::Error)
    }

    /// Returns whether a mistake of this code and instruction in `block` would be the first of its group, so that its
    /// details are worth computing. `instr` is the instruction of the mistake, or of `E-UNINIT` the load.
    pub fn is_new(&self, code: Code, instr: u32, block: u64) -> bool {
        let site = self.sites.site(instr);
        let mut of_site = self.groups.range((code, site, 0, 0, false)..=(code, site, u32::MAX, u64::MAX, true));
        of_site.all(|(_, group)| group.first.block > block)
    }

    /// Returns the cause of an undefined value: equal for reads of the same array from the same place of the source.
    pub(crate) fn cause(&self, load: u32, space: MemSpace, address: u64) -> (u32, u64) {
        (self.sites.site(load), self.sites.array(space, address))
    }

    /// Works as [`Self::is_new`], for an access to this array alone: two arrays in one line are two groups.
    pub fn is_new_access(&self, code: Code, instr: u32, block: u64, (space, address): (MemSpace, u64)) -> bool {
        let key = (code, self.sites.site(instr), u32::MAX, self.sites.array(space, address), false);
        self.groups.get(&key).is_none_or(|group| group.first.block > block)
    }

    pub fn record(&mut self, mistake: Mistake) {
        self.clock += 1;
        let (code, site) = (mistake.code(), self.sites.site(mistake.instr));
        let array = |space, address| self.sites.array(space, address);
        let key = match &mistake.details {
            MistakeDetails::Race(race) => {
                // A race is one mistake whichever party comes first.
                let [a, b] = race.parties.map(|party| self.sites.site(party.instr));
                let between_blocks = race.parties[0].block != race.parties[1].block;
                (code, a.min(b), a.max(b), array(race.space, race.address), between_blocks)
            }
            MistakeDetails::Access { access, .. } => (code, site, u32::MAX, array(access.space, access.address), false),
            // One read that has several uses is one mistake.
            MistakeDetails::Uninitialised { access, load, .. } => {
                let site = self.sites.site(*load);
                (code, site, u32::MAX, array(access.space, access.address), false)
            }
            MistakeDetails::Wgmma { problem } => (code, site, problem.group_key(), 0, false),
            // Each operand of a product is a mistake of its own.
            MistakeDetails::Fragment { foreign } => (code, site, u32::from(foreign.wanted.part), 0, false),
            // A group of its own, beside the other mistakes at the barrier.
            MistakeDetails::PartOfWarp { .. } => (code, site, 0, 0, false),
            _ => (code, site, u32::MAX, 0, false),
        };
        let dims = self.block;
        // The coordinates in the grid of the block's first thread.
        let position = coordinates(mistake.block, self.grid);
        let origin = [0, 1, 2].map(|axis| u64::from(position[axis]) * u64::from(dims[axis]));
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&key) {
            return;
        }
        let group = self.groups.entry(key).or_insert_with(|| MistakeGroup {
            first: mistake.clone(),
            order: self.clock,
            n_threads: 0,
            n_blocks: 0,
            low: [u64::MAX; 3],
            high: [0; 3],
            addresses: None,
            running: BTreeMap::new(),
        });
        let seen = group.running.entry((mistake.block, mistake.warp)).or_default();
        let new = mistake.mask & !*seen;
        *seen |= mistake.mask;
        for lane in new.numbers() {
            let thread = coordinates(u64::from(mistake.warp) * 32 + u64::from(lane), dims);
            for axis in 0..3 {
                let at = origin[axis] + u64::from(thread[axis]);
                group.low[axis] = group.low[axis].min(at);
                group.high[axis] = group.high[axis].max(at);
            }
        }
        let touched = match &mistake.details {
            MistakeDetails::Uninitialised { used: Use::Output { range }, .. }
            | MistakeDetails::Unset { used: Use::Output { range }, .. } => Some(*range),
            MistakeDetails::Access { access, .. } | MistakeDetails::Uninitialised { access, .. } => {
                Some((access.address, access.high))
            }
            _ => None,
        };
        if let Some((from, to)) = touched {
            let (low, high) = group.addresses.unwrap_or((from, to));
            group.addresses = Some((low.min(from), high.max(to)));
        }
        if rank(&mistake) < rank(&group.first) {
            let old = std::mem::replace(&mut group.first, mistake);
            group.order = self.clock;
            // `written` and `copy` were computed for the first mistake of the block only.
            if let (
                MistakeDetails::Uninitialised { written, copy, .. },
                MistakeDetails::Uninitialised { written: known, copy: of_first, .. },
            ) = (&mut group.first.details, old.details)
                && written.is_none()
                && old.block == group.first.block
            {
                *written = known;
                *copy = copy.or(of_first);
            }
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (key, theirs) in other.groups {
            match self.groups.get_mut(&key) {
                None => {
                    self.groups.insert(key, theirs);
                }
                Some(ours) => {
                    for (warp, lanes) in theirs.running {
                        *ours.running.entry(warp).or_default() |= lanes;
                    }
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
                        ours.order = theirs.order;
                    }
                }
            }
        }
    }

    /// Collects the mistakes of launches of `kernel` on these allocations.
    pub(crate) fn finish(mut self, kernel: &DecodedKernel, table: &Arc<Table>, stopped: bool) -> Mistakes {
        let mut groups: Vec<MistakeGroup> = std::mem::take(&mut self.groups).into_values().collect();
        for group in &mut groups {
            group.count_threads();
            if let MistakeDetails::Uninitialised { access, written, .. } = &mut group.first.details
                && !matches!(access.space, MemSpace::Shared | MemSpace::Local)
            {
                *written = table.live(access.address).and_then(|a| {
                    let ranges = a.bytes.written_before(stopped, MAX_RANGES)?;
                    Some(ranges.iter().map(|(from, to)| (a.base + from, a.base + to)).collect())
                });
            }
        }
        groups.sort_by_key(|group| {
            let place = place_of(kernel, group.first.instr);
            (group.first.code().severity(), group.first.code(), place, group.first.instr)
        });
        // Memory that is freed after the launch stays while somebody holds the table.
        let table = (!groups.is_empty()).then(|| Arc::clone(table));
        Mistakes { groups, stopped, table }
    }

    #[cfg(test)]
    pub(crate) fn groups(&self) -> impl Iterator<Item = &MistakeGroup> {
        self.groups.values()
    }
}

impl MistakeGroup {
    /// Adds the threads of the blocks that were running to the counts.
    fn count_threads(&mut self) {
        let mut before = None;
        for ((block, _), lanes) in std::mem::take(&mut self.running) {
            self.n_threads += u64::from(lanes.count());
            self.n_blocks += u64::from(before.replace(block) != Some(block));
        }
    }
}

/// Returns the order in which a mistake of a group is picked for the report: the lowest block's, of accesses the lowest
/// warp's, else the first; of a race one between different warps, if there is one.
fn rank(mistake: &Mistake) -> (bool, u64, u32) {
    let same_warp = matches!(&mistake.details, MistakeDetails::Race(race) if race.same_warp);
    let is_access = matches!(&mistake.details, MistakeDetails::Access { .. } | MistakeDetails::Uninitialised { .. });
    (same_warp, mistake.block, if is_access { mistake.warp } else { 0 })
}

pub(crate) fn place_of(kernel: &DecodedKernel, instr: u32) -> Option<SourceLoc> {
    kernel.instrs.get(instr as usize).and_then(|info| info.source)
}

/// Returns the coordinates of a thread in a block of this size, or of a block in its grid.
pub fn coordinates(number: u64, size: [u32; 3]) -> [u32; 3] {
    let [x, y] = [u64::from(size[0].max(1)), u64::from(size[1].max(1))];
    [(number % x) as u32, (number / x % y) as u32, (number / (x * y)) as u32]
}

/// Role of an instruction, as far as it decides which instructions are reported as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Does {
    Access(AccessKind),
    Other(std::mem::Discriminant<OpKind>),
    Nothing,
}

impl Sites {
    pub(crate) fn new(kernel: &DecodedKernel) -> Self {
        let mut shared: Vec<u32> = kernel.shared.iter().map(|array| array.offset).collect();
        shared.sort_unstable();
        shared.dedup();
        Self { first: sites(kernel), shared }
    }

    /// Returns the instruction that stands for all that come from its place and do the same.
    pub(crate) fn site(&self, instr: u32) -> u32 {
        self.first.get(instr as usize).copied().unwrap_or(instr)
    }

    /// Returns a number for the array that an address belongs to.
    pub(crate) fn array(&self, space: MemSpace, address: u64) -> u64 {
        match space {
            MemSpace::Shared => {
                self.shared.partition_point(|&start| u64::from(start) <= address & ((1 << RANK_SHIFT) - 1)) as u64
            }
            MemSpace::Global | MemSpace::Const => address >> window::BITS,
            _ => 0,
        }
    }
}

fn sites(kernel: &DecodedKernel) -> Vec<u32> {
    let mut does = vec![Does::Nothing; kernel.instrs.len()];
    for op in &kernel.ops {
        let Some(slot) = does.get_mut(op.instr as usize) else { continue };
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
            Some(place) if does[instr] != Does::Nothing => *first.entry((place, does[instr])).or_insert(instr as u32),
            _ => instr as u32,
        })
        .collect()
}

//! Handing blocks to worker threads, and putting together what they bring back.
//!
//! The result of a launch does not depend on the number of threads, apart from what comes of races between blocks, and
//! from memory after a launch that stopped: blocks after the one that it stops at may have run. Blocks start in index
//! order. Their reports are collected in index order, too, up to the block at which the launch stops: the lowest that
//! fails (in a checked launch: by a trap or a runaway loop).
//!
//! The budget: a launch stops at the first block at which the sum over it and all blocks before it exceeds the budget.

use crate::memory::rules::Direction;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::check::race::GlobalRaces;
use crate::check::{Collector, KnownOfLoop, Mistake, MistakeDetails};
use crate::lane_mask::LaneMask;
use crate::lock::{into_inner, lock};
use program::limits::{EARLY_BYTES, LAUNCH_PRINTS, WAITING_BLOCKS};
use program::{AtomicForm, MemSpace, OpKind};

use crate::exec::block::{Block, Cluster, block_bytes};
use crate::exec::launch_job::{Counts, LaunchJob};
use crate::exec::memo::{Memo, Merge, Tally};
use crate::exec::{schedule::scheduler::Visit, worker::Worker};

/// Initial number of times that a waiting block is passed over because nothing has changed for it; it doubles each time
/// that the block waits on. A loop that gives up by itself after some tries goes on, too.
const FIRST_PASSES: u32 = 2048;

/// Visits to each block that only polls, while others do not fit on the device, after which that is a deadlock.
const IDLE_ROUNDS: u64 = 4;

/// Factor by which visits cost more while all blocks poll, unless the host copies to the polled memory.
const HOPELESS: u64 = 32;
/// Thread-instructions of the waiting blocks before that is looked for.
const HOPELESS_AFTER: u64 = 1 << 26;

pub(crate) struct Outcome {
    pub(crate) counts: Counts,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) collector: Collector,
    pub(crate) printed: String,
    /// Whether the launch did not run to its end: counts mean nothing.
    pub(crate) stopped: bool,
}

struct BlockResult {
    spent: u64,
    printed: String,
    collector: Option<Collector>,
    stops: bool,
}

impl BlockResult {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.printed.len() + self.collector.as_ref().map_or(0, Collector::bytes)
    }
}

struct Ledger {
    /// Blocks below have been taken.
    next: u64,
    early: BTreeMap<u64, BlockResult>,
    spent: u64,
    printed: String,
    collector: Collector,
    stopped: bool,
}

struct BlockQueue {
    /// Blocks, or clusters: what one worker runs from beginning to end.
    n_blocks: u64,
    n_workers: usize,
    /// The next block to start.
    next: AtomicU64,
    /// No block above needs to run.
    last: AtomicU64,
    ledger: Mutex<Ledger>,
    /// Bytes of results in the ledger that wait for those of earlier blocks.
    early_bytes: AtomicUsize,
    /// Signals that `early_bytes` fell.
    taken: Condvar,
}

impl BlockQueue {
    /// Returns whether another block may start. Where the results of early blocks fill their buffer, none may, until an
    /// earlier one has ended; a worker that has none of these itself waits for that.
    fn may_start(&self, waits: bool) -> bool {
        let full =
            || self.early_bytes.load(Ordering::Relaxed) > EARLY_BYTES && self.last.load(Ordering::Relaxed) == u64::MAX;
        if !full() {
            return true;
        }
        if !waits {
            return false;
        }
        let mut ledger = lock(&self.ledger);
        while full() {
            let (guard, _) =
                self.taken.wait_timeout(ledger, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner);
            ledger = guard;
        }
        true
    }
}

pub(crate) fn run(job: &LaunchJob<'_>, n_threads: usize, global_races: Option<&GlobalRaces>) -> Outcome {
    let n_blocks = job.grid.iter().map(|n| u64::from(*n)).product::<u64>() / u64::from(job.cluster_blocks);
    let collector = job.collector.clone();
    let ledger =
        Ledger { next: 0, early: BTreeMap::new(), spent: 0, printed: String::new(), collector, stopped: false };
    let queue = BlockQueue {
        n_blocks,
        n_workers: n_threads,
        next: AtomicU64::new(0),
        last: AtomicU64::new(u64::MAX),
        ledger: Mutex::new(ledger),
        early_bytes: AtomicUsize::new(0),
        taken: Condvar::new(),
    };
    let mut counts = Counts::new(if job.check_level.counts() { job.kernel.ops.len() } else { 0 });
    let mut tallies = vec![Tally::default(); job.plan.n_memos];
    let mut gather = |(c, t): (Counts, Vec<Tally>)| {
        counts.add(&c);
        tallies.iter_mut().zip(&t).for_each(|(sum, one)| sum.add(one));
    };
    if n_threads <= 1 {
        gather(work(job, &queue, global_races));
    } else {
        std::thread::scope(|scope| {
            let spawn = |i: usize| {
                let builder = std::thread::Builder::new().name(format!("block worker {i}"));
                builder.spawn_scoped(scope, || work(job, &queue, global_races)).ok()
            };
            let others: Vec<_> = (1..n_threads).filter_map(spawn).collect();
            gather(work(job, &queue, global_races));
            for other in others {
                match other.join() {
                    Ok(result) => gather(result),
                    // A bug of ours: let it be seen.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    let mut ledger = into_inner(queue.ledger);
    if ledger.printed.len() > LAUNCH_PRINTS {
        let cut = (0..=LAUNCH_PRINTS).rev().find(|i| ledger.printed.is_char_boundary(*i)).unwrap_or(0);
        ledger.printed.truncate(cut);
        ledger.printed.push_str("\n[further output is cut]\n");
    }
    Outcome { counts, tallies, collector: ledger.collector, printed: ledger.printed, stopped: ledger.stopped }
}

fn memos<'j>(job: &LaunchJob<'_>) -> Vec<Memo<'j>> {
    let mut memos = Vec::with_capacity(job.plan.n_memos);
    let mut add = |space: MemSpace, bytes: u32, direction: Direction, merge: Merge, atomic: Option<AtomicForm>| {
        let mut memo = Memo::new(bytes, direction, merge);
        memo.atomic = atomic;
        memo.cell_shift = match space {
            MemSpace::Shared | MemSpace::Generic => job.shared_shift,
            _ => job.global_shift,
        };
        memos.push(memo);
    };
    for op in &job.kernel.ops {
        match &op.kind {
            OpKind::Load(a) | OpKind::Store(a) => {
                let group = job.kernel.instrs.get(op.instr as usize).and_then(|i| i.merge);
                let merge = match group {
                    Some(g) if g.leader == op.instr => Merge::Leads { bytes: g.bytes, back: g.back },
                    Some(_) => Merge::Follows,
                    None => Merge::Alone,
                };
                let loads = matches!(op.kind, OpKind::Load(_));
                let direction = if loads { Direction::Load } else { Direction::Store };
                add(a.space, a.bytes(), direction, merge, None);
            }
            OpKind::Atomic(a) => {
                let info = job.kernel.instrs.get(op.instr as usize);
                let form = info.map_or(AtomicForm::Native, |info| info.atomic);
                add(a.space, a.ty.bytes(), Direction::Store, Merge::Alone, Some(form));
            }
            // A row of 16 bytes per lane. Lanes with equal addresses gain nothing, unlike those of ordinary loads.
            OpKind::MatrixLoad(a) | OpKind::MatrixStore(a) => add(a.space, 16, Direction::Store, Merge::Alone, None),
            OpKind::CpAsync { bytes, .. } => {
                add(MemSpace::Shared, (*bytes).into(), Direction::Store, Merge::Alone, None);
                add(MemSpace::Global, (*bytes).into(), Direction::Load, Merge::Alone, None);
            }
            _ => {}
        }
    }
    memos
}

/// Runs blocks on a worker thread until there are no more.
fn work(job: &LaunchJob<'_>, queue: &BlockQueue, global_races: Option<&GlobalRaces>) -> (Counts, Vec<Tally>) {
    let mut worker = Worker::new(job, memos(job), global_races);
    let mut waiting = Waiting::new(job);
    let mut more = true;
    // Visits in a row to blocks that only poll, while another block does not fit on the device.
    let mut idle = 0;
    // Number of the phase: each other visit begins one; and what the visits in it cost beside what they spend.
    let (mut phase, mut extra) = (1, 0);
    let mut is_full = queue.n_workers <= 1 && job.fills_a_device();
    loop {
        let mut fresh = None;
        if is_full && waiting.is_stuck(idle, job, queue) {
            if let Some(lowest) = waiting.lowest() {
                let spare = std::mem::replace(&mut worker.block, lowest);
                worker.report_not_resident();
                waiting.push(std::mem::replace(&mut worker.block, spare));
            }
            is_full = false;
        }
        is_full &= idle < IDLE_ROUNDS * job.resident;
        let may_start = !is_full || (waiting.blocks.len() as u64) < job.resident;
        if more && may_start && waiting.has_room() && queue.may_start(waiting.blocks.is_empty()) {
            let index = queue.next.fetch_add(1, Ordering::Relaxed);
            more = index < queue.n_blocks && index <= queue.last.load(Ordering::Relaxed);
            fresh = more.then_some(index);
        }
        match fresh {
            Some(index) => {
                if !waiting.blocks.is_empty() {
                    // Its predecessor still lives; take one that has ended, or make another.
                    if worker.block.live > 0 {
                        worker.block = waiting.another(job);
                    }
                    worker.access.memos.iter_mut().for_each(Memo::forget_place);
                }
                match job.cluster_blocks {
                    1 => worker.block.begin(job, index),
                    _ => worker.begin_cluster(index),
                }
                worker.block.patience = FIRST_PASSES;
                begin_checks(&mut worker, index);
            }
            None => match waiting.next() {
                Some(block) => {
                    waiting.spare = Some(std::mem::replace(&mut worker.block, block));
                    worker.access.memos.iter_mut().for_each(Memo::forget_place);
                    let index = worker.block.index;
                    begin_checks(&mut worker, index);
                }
                None => break,
            },
        }
        let spent_before = worker.block.spent;
        worker.spent = spent_before;
        // Before the block may be the one that spends the budget.
        let is_late = worker.block.waits && job.is_over_budget(worker.spent.saturating_mul(2));
        worker.others_wait = if is_late { waiting.all_wait(more, queue) } else { None };
        worker.stopped = queue.last.load(Ordering::Relaxed) < worker.block.cluster_index;
        let cluster_index = worker.block.cluster_index;
        let mut members = (0..job.cluster_blocks).map(|rank| job.block_of(cluster_index, rank));
        let is_left_out = job.environment.observer.is_some_and(|observer| !members.any(|block| observer.runs(block)));
        let sees_change = worker.block.waits && worker.block.poll_cache.changed();
        let visit = if worker.stopped || is_left_out {
            Visit::Ended
        } else if job.cluster_blocks > 1 {
            worker.visit_cluster(&queue.last)
        } else {
            worker.visit(&queue.last)
        };
        if let Some(races) = &mut worker.checks.shared_races {
            races.end_block(&mut worker.block.collector);
        }
        if let (Some(races), Some(all)) = (&mut worker.checks.global_races, global_races) {
            races.end_block(all, &mut worker.block.collector);
        }
        let only_polls = visit == Visit::Stuck && worker.block.waits && !sees_change;
        (idle, phase, extra) = if only_polls { (idle + 1, phase, extra) } else { (0, phase + 1, 0) };
        let n_blocks = waiting.blocks.len() as u64 + 1;
        if idle >= n_blocks && waiting.spent + worker.spent > HOPELESS_AFTER {
            worker.block.note_state(phase, idle / n_blocks, job);
            let mut blocks = waiting.blocks.iter().chain([&worker.block]);
            if blocks.all(|block| block.repeats_in == phase) && waiting.all_wait(more, queue).is_some() {
                extra += (worker.block.spent - spent_before) * (HOPELESS - 1);
            }
        }
        if visit == Visit::Stuck {
            let next = waiting.another(job);
            waiting.push(std::mem::replace(&mut worker.block, next));
            if !job.is_over_budget(waiting.spent.saturating_add(extra)) {
                continue;
            }
            // Together they have used up what the launch may: the lowest one is where it stops.
            let Some(lowest) = waiting.lowest() else { continue };
            worker.block = lowest;
            worker.access.memos.iter_mut().for_each(Memo::forget_place);
            let index = worker.block.index;
            begin_checks(&mut worker, index);
            worker.spent = worker.block.spent;
            worker.others_wait = waiting.all_wait(more, queue);
            worker.runaway_block();
        }
        if !worker.stopped {
            worker.finish_bulk();
        }
        if job.cluster_blocks > 1 {
            worker.end_cluster();
        }
        if worker.block.fatal {
            waiting.stop_after(&mut worker.block);
        }
        worker.block.live = 0;
        finish(&mut worker, job, queue);
    }
    (worker.counts, worker.access.memos.iter().map(|m| m.tally).collect())
}

/// The blocks of one worker that wait for what others do.
struct Waiting {
    /// In the order in which they were last run.
    blocks: VecDeque<Box<Block>>,
    /// Memory of a block that is finished or has not begun, kept for reuse.
    spare: Option<Box<Block>>,
    block_bytes: u64,
    /// Bytes that these blocks take together.
    bytes: u64,
    /// Largest number of these bytes.
    max_bytes: u64,
    /// Thread-instructions of all of these.
    spent: u64,
}

impl Waiting {
    fn new(job: &LaunchJob<'_>) -> Self {
        Self {
            blocks: VecDeque::new(),
            spare: None,
            block_bytes: block_bytes(job),
            bytes: 0,
            max_bytes: job.worker_memory,
            spent: 0,
        }
    }

    /// Returns whether another block may begin while these wait. Two at least can wait for each other.
    fn has_room(&self) -> bool {
        let n = self.blocks.len();
        n < 2 || (n < WAITING_BLOCKS && self.bytes + 2 * self.block_bytes <= self.max_bytes)
    }

    fn another(&mut self, job: &LaunchJob<'_>) -> Box<Block> {
        self.spare.take().unwrap_or_else(|| Box::new(Block::new(job)))
    }

    fn push(&mut self, mut block: Box<Block>) {
        self.bytes += self.bytes_of(&block);
        self.spent += block.spent;
        block.passes = 0;
        self.blocks.push_back(block);
    }

    fn remove(&mut self, index: usize) -> Option<Box<Block>> {
        let block = self.blocks.remove(index)?;
        self.bytes -= self.bytes_of(&block);
        self.spent -= block.spent;
        Some(block)
    }

    /// Removes and returns the first one for which something has changed, or else the one that has waited longest.
    fn next(&mut self) -> Option<Box<Block>> {
        let wakes = |block: &mut Box<Block>| {
            block.passes += 1;
            if block.passes > block.patience {
                block.patience = block.patience.saturating_mul(2);
                return true;
            }
            block.poll_cache.changed() || block.cluster.as_deref_mut().is_some_and(Cluster::changed)
        };
        let index = self.blocks.iter_mut().position(wakes).unwrap_or(0);
        self.remove(index)
    }

    /// Returns whether as many blocks as a device runs at once only polled unchanged memory in the last `idle` visits.
    fn is_stuck(&self, idle: u64, job: &LaunchJob<'_>, queue: &BlockQueue) -> bool {
        let n = self.blocks.len() as u64;
        n >= job.resident && idle >= (IDLE_ROUNDS - 1) * n && self.all_wait(false, queue).is_some()
    }

    /// Returns the number of ended blocks, if at most one other block can run, and nothing that they poll has changed.
    fn all_wait(&self, more: bool, queue: &BlockQueue) -> Option<u64> {
        let started = !more || queue.next.load(Ordering::Relaxed) >= queue.n_blocks;
        let waits = |block: &Block| block.waits && !block.poll_cache.changed();
        let all_wait = started && queue.n_workers <= 1 && self.blocks.iter().all(|block| waits(block));
        all_wait.then(|| queue.n_blocks.saturating_sub(self.blocks.len() as u64 + 1))
    }

    fn bytes_of(&self, block: &Block) -> u64 {
        self.block_bytes + (block.printed.len() + block.collector.bytes()) as u64
    }

    /// Removes the blocks after the one at which the launch stops. Their mistakes may be the reason: they become its.
    fn stop_after(&mut self, stopped: &mut Block) {
        while let Some(at) = self.blocks.iter().position(|block| block.cluster_index > stopped.cluster_index)
            && let Some(mut block) = self.remove(at)
        {
            let others = block.cluster.iter_mut().flat_map(|cluster| cluster.others());
            others.for_each(|block| stopped.collector.merge(std::mem::take(&mut block.collector)));
            stopped.collector.merge(block.collector);
        }
    }

    /// Removes and returns the one with the lowest index.
    fn lowest(&mut self) -> Option<Box<Block>> {
        let indices = self.blocks.iter().enumerate().map(|(at, block)| (block.cluster_index, at));
        let (_, at) = indices.min()?;
        self.remove(at)
    }
}

/// Returns the bytes of a worker: a block, the memos and the counters.
pub(crate) fn worker_bytes(job: &LaunchJob<'_>) -> u64 {
    let counts = if job.check_level.counts() { 4 * 8 * job.kernel.ops.len() } else { 0 };
    let memos = job.plan.n_memos * size_of::<Memo<'_>>();
    block_bytes(job) + (counts + memos) as u64
}

fn begin_checks(worker: &mut Worker<'_>, index: u64) {
    crate::exec::worker::notify_races!(worker.checks, begin_block(index));
}

/// Stores the results of an ended block, and collects those that are next in index order.
fn finish(worker: &mut Worker<'_>, job: &LaunchJob<'_>, queue: &BlockQueue) {
    let index = worker.block.cluster_index;
    let failed = !worker.block.collector.is_empty();
    let stops = worker.block.fatal || (failed && !job.check_level.checks());
    if stops {
        queue.last.fetch_min(index, Ordering::Relaxed);
    }
    let collector = (!worker.block.collector.is_empty()).then(|| worker.block.collector.take());
    let printed = std::mem::take(&mut worker.block.printed);
    let mut ledger = lock(&queue.ledger);
    let done = BlockResult { spent: worker.spent, printed, collector, stops };
    if index != ledger.next {
        queue.early_bytes.fetch_add(done.bytes(), Ordering::Relaxed);
        ledger.early.insert(index, done);
        return;
    }
    ledger.take(done, job, queue);
    while let Some(done) = {
        let next = ledger.next;
        ledger.early.remove(&next)
    } {
        let before = queue.early_bytes.fetch_sub(done.bytes(), Ordering::Relaxed);
        if before > EARLY_BYTES {
            queue.taken.notify_all();
        }
        ledger.take(done, job, queue);
    }
}

impl Ledger {
    fn take(&mut self, done: BlockResult, job: &LaunchJob<'_>, queue: &BlockQueue) {
        let index = self.next;
        self.next += 1;
        if self.stopped {
            return;
        }
        self.spent += done.spent;
        if self.printed.len() <= LAUNCH_PRINTS {
            self.printed.push_str(&done.printed);
        }
        let mut stops = done.stops;
        if let Some(collector) = done.collector {
            self.collector.merge(collector);
        }
        if job.is_over_budget(self.spent) && !stops {
            stops = true;
            let details = MistakeDetails::Runaway { budget: job.budget, known: KnownOfLoop::Nothing, span: None };
            let mistake = Mistake { instr: 0, block: job.block_of(index, 0), warp: 0, mask: LaneMask::of(0), details };
            self.collector.record(mistake);
        }
        if stops {
            self.stopped = true;
            queue.last.fetch_min(index, Ordering::Relaxed);
        }
    }
}

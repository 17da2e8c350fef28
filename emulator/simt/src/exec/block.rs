//! A block: its warps take turns until all have ended.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::check::{BarrierGroup, Details};
use crate::finding::Code;
use crate::lanes::{Line, WARP};
use crate::memory::bits::{Bits, CellBits};
use crate::program::{BarrierKind, SHARED_BASE, Special};

use super::fiber::{Fiber, State};
use super::warp::{self, Pause};
use super::{Cx, Job, Watch, ZERO_LINE, bits};

/// Operations of one turn of a warp.
const TURN: i64 = 1 << 16;
/// Turns in a row in which nothing happened but looking at memory, after which a block lets others run.
const STUCK: u32 = 8;
/// The same for turns that did other work, too.
const STUCK_BUSY: u32 = 256;

/// A barrier of the block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that have arrived.
    pub(crate) arrived: u32,
    /// Threads that it waits for; 0: all of the block.
    pub(crate) count: u32,
    /// Threads whose predicate holds, and threads that brought one.
    trues: u32,
    voters: u32,
}

#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) fibers: Vec<Fiber>,
    /// Lanes that have not exited.
    pub(crate) live: u32,
    /// Lanes that it started with.
    pub(crate) all: u32,
    /// Operations issued: its `%clock`.
    pub(crate) issued: u64,
    /// Instruction at which its lowest exited lane did.
    pub(crate) exit: Option<u32>,
}

/// Everything of a block that outlives a turn.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) index: u64,
    coords: [u32; 3],
    regs: Vec<Line>,
    preds: Vec<u32>,
    pub(crate) warps: Vec<Warp>,
    pub(super) shared: Vec<Line>,
    pub(crate) shared_written: CellBits,
    local: Vec<Line>,
    pub(crate) local_written: Bits,
    pub(crate) barriers: [Barrier; 16],
    /// Threads that have not exited.
    pub(crate) live: u32,
    pub(crate) copies: super::copy::Copies,
    pub(crate) printed: String,
    pub(crate) spent: u64,
    /// Ended by something that no launch survives.
    pub(crate) fatal: bool,
    /// Turns without an event.
    quiet: u32,
}

/// How a visit to a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// All warps have ended, or it was stopped.
    Ended,
    /// It waits for memory that some other block must change.
    Stuck,
}

impl Block {
    pub(crate) fn new(job: &Job<'_>) -> Self {
        let n_warps = job.n_warps as usize;
        let local = job.n_warps as usize * WARP * local_stride(job);
        let checked = |n: usize| {
            if job.checked {
                Bits::new(n)
            } else {
                Bits::default()
            }
        };
        Self {
            index: 0,
            coords: [0; 3],
            regs: vec![ZERO_LINE; n_warps * job.kernel.n_lines as usize],
            preds: vec![0; n_warps * job.kernel.n_preds as usize],
            warps: Vec::with_capacity(n_warps),
            shared: vec![ZERO_LINE; (job.shared_bytes as usize).div_ceil(size_of::<Line>())],
            shared_written: CellBits::new(
                if job.checked { job.shared_bytes as usize } else { 0 },
                job.shared_shift,
            ),
            local: vec![ZERO_LINE; local.div_ceil(size_of::<Line>())],
            local_written: checked(local),
            barriers: [Barrier::default(); 16],
            live: 0,
            copies: super::copy::Copies::default(),
            printed: String::new(),
            spent: 0,
            fatal: false,
            quiet: 0,
        }
    }

    /// Makes it block `index`, before its first operation.
    pub(crate) fn begin(&mut self, job: &Job<'_>, index: u64) {
        self.index = index;
        let [x, y, _] = job.grid.map(u64::from);
        self.coords = [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32];
        // What an earlier block left would make results depend on which thread ran it.
        self.regs.fill(ZERO_LINE);
        self.preds.fill(0);
        self.shared.fill(ZERO_LINE);
        self.shared_written.clear();
        self.local.fill(ZERO_LINE);
        self.local_written.clear();
        self.barriers = [Barrier::default(); 16];
        self.live = job.n_threads;
        self.copies.clear();
        self.printed.clear();
        self.spent = 0;
        self.fatal = false;
        self.quiet = 0;
        self.warps.clear();
        for w in 0..job.n_warps {
            let n = (job.n_threads - w * 32).min(32);
            let all = if n == 32 { u32::MAX } else { (1 << n) - 1 };
            let fibers = vec![Fiber::new(all)];
            self.warps.push(Warp {
                fibers,
                live: all,
                all,
                issued: 0,
                exit: None,
            });
        }
        for w in 0..job.n_warps as usize {
            let preds = &mut self.preds[w * job.kernel.n_preds as usize..];
            preds[0] = u32::MAX;
            let first = w * job.kernel.n_lines as usize;
            for &(special, dst) in &job.kernel.specials {
                self.regs[first + dst as usize] = special_line(job, self.coords, special, w as u32);
            }
        }
    }

    pub(crate) fn shared_start(&mut self) -> *mut u8 {
        self.shared.as_mut_ptr().cast()
    }

    pub(crate) fn local_start(&mut self) -> *mut u8 {
        self.local.as_mut_ptr().cast()
    }

    pub(crate) fn shared_byte(&self, offset: usize) -> Option<u8> {
        let word = self.shared.get(offset / 128)?.0[offset % 128 / 4];
        Some(word.to_le_bytes()[offset % 4])
    }

    pub(crate) fn local_byte(&self, offset: usize) -> Option<u8> {
        let word = self.local.get(offset / 128)?.0[offset % 128 / 4];
        Some(word.to_le_bytes()[offset % 4])
    }

    pub(crate) fn regs_of(&mut self, job: &Job<'_>, warp: usize) -> *mut Line {
        self.regs
            .as_mut_ptr()
            .wrapping_add(warp * job.kernel.n_lines as usize)
    }

    pub(crate) fn preds_of(&mut self, job: &Job<'_>, warp: usize) -> *mut u32 {
        self.preds
            .as_mut_ptr()
            .wrapping_add(warp * job.kernel.n_preds as usize)
    }

    /// The range of shared memory that `offset` may move in: its array when checked, all there is otherwise.
    pub(crate) fn shared_range(&self, job: &Job<'_>, offset: u64) -> Option<(u32, u32)> {
        let offset = u32::try_from(offset).ok().filter(|o| *o < job.shared_bytes)?;
        if !job.checked {
            return (offset >= SHARED_BASE).then_some((SHARED_BASE, job.shared_bytes));
        }
        let dynamic = job.kernel.shared_dynamic_base;
        if offset >= dynamic && job.dynamic_shared > 0 {
            return Some((dynamic, job.shared_bytes));
        }
        let i = job.plan.shared.partition_point(|(from, _)| *from <= offset);
        let &(from, to) = job.plan.shared.get(i.checked_sub(1)?)?;
        // In the gap behind an array, the array is the one that was meant; the caller sees that it is outside.
        Some((from, to)).filter(|_| offset < to)
    }
}

/// Bytes of local memory from one thread to the next: the alignment of every access is kept.
pub(crate) fn local_stride(job: &Job<'_>) -> usize {
    (job.kernel.local_bytes as usize).next_multiple_of(16)
}

fn special_line(job: &Job<'_>, coords: [u32; 3], special: Special, warp: u32) -> Line {
    let [nx, ny, _] = job.block;
    let linear = |lane: u32| warp * 32 + lane;
    let all = |value: u32| Line([value; 32]);
    let each = |f: &dyn Fn(u32) -> u32| Line(std::array::from_fn(|lane| f(lane as u32)));
    match special {
        Special::TidX => each(&|l| linear(l) % nx),
        Special::TidY => each(&|l| linear(l) / nx % ny),
        Special::TidZ => each(&|l| linear(l) / nx / ny),
        Special::NtidX => all(job.block[0]),
        Special::NtidY => all(job.block[1]),
        Special::NtidZ => all(job.block[2]),
        Special::CtaidX => all(coords[0]),
        Special::CtaidY => all(coords[1]),
        Special::CtaidZ => all(coords[2]),
        Special::NctaidX => all(job.grid[0]),
        Special::NctaidY => all(job.grid[1]),
        Special::NctaidZ => all(job.grid[2]),
        Special::LaneId => each(&|l| l),
        Special::WarpId => all(warp),
        Special::NwarpId => all(job.n_warps),
        // One multiprocessor, as far as a kernel can see: placing blocks would depend on time.
        Special::SmId => all(0),
        Special::NsmId => all(1),
        Special::GridId => all(0),
        Special::LanemaskEq => each(&|l| 1 << l),
        Special::LanemaskLe => each(&|l| u32::MAX >> (31 - l)),
        Special::LanemaskLt => each(&|l| (1 << l) - 1),
        Special::LanemaskGe => each(&|l| u32::MAX << l),
        Special::LanemaskGt => each(&|l| !(u32::MAX >> (31 - l))),
        Special::DynamicSharedBytes => all(job.dynamic_shared),
        Special::TotalSharedBytes => all(job.kernel.shared_static_bytes + job.dynamic_shared),
    }
}

impl Cx<'_> {
    /// Where a lane's local memory starts.
    pub(crate) fn local_offset(&self, lane: usize) -> usize {
        (self.warp as usize * WARP + lane) * local_stride(self.job)
    }

    /// Runs the block's warps in turn.
    pub(crate) fn visit<W: Watch>(&mut self, last: &AtomicU64) -> Visit {
        let job = self.job;
        loop {
            let mut ran = false;
            for w in 0..job.n_warps {
                if !self.block.warps[w as usize]
                    .fibers
                    .iter()
                    .any(|f| f.state == State::Ready)
                {
                    continue;
                }
                ran = true;
                self.progress = false;
                self.polled = false;
                self.run_warp::<W>(w);
                if self.stopped || last.load(Ordering::Relaxed) < self.block.index {
                    return Visit::Ended;
                }
                if job.budget != 0 && self.block.spent > job.budget {
                    self.runaway::<W>(w);
                    return Visit::Ended;
                }
                match (self.progress, self.polled) {
                    (true, _) => self.block.quiet = 0,
                    (_, true) => self.block.quiet += 1,
                    (false, false) => {}
                }
            }
            if self.block.live == 0 {
                return Visit::Ended;
            }
            if !ran && !self.force_lanes() {
                self.deadlock();
                return Visit::Ended;
            }
            let limit = if self.left > 0 { STUCK } else { STUCK_BUSY };
            if ran && self.block.quiet > limit * job.n_warps {
                self.block.quiet = 0;
                return Visit::Stuck;
            }
        }
    }

    /// One turn of a warp: each fiber that can runs until it waits, ends, or has used up its share.
    fn run_warp<W: Watch>(&mut self, w: u32) {
        let job = self.job;
        let index = w as usize;
        self.warp = w;
        self.lanes.regs = self.block.regs_of(job, index);
        self.lanes.preds = self.block.preds_of(job, index);
        self.live = self.block.warps[index].live;
        if let Some(races) = &mut self.shared_races {
            races.enter(w);
        }
        if let Some(races) = &mut self.global_races {
            races.enter(w);
        }
        self.left = TURN;
        loop {
            let fibers = &mut self.block.warps[index].fibers;
            let Some(i) = fibers.iter().position(|f| f.state == State::Ready) else {
                break;
            };
            // Taken from the front and put back at the end: all get their turn.
            self.fiber = fibers.remove(i);
            self.turn_start = self.left;
            let pause = warp::run::<W>(self);
            let warp = &mut self.block.warps[index];
            warp.issued += (self.turn_start - self.left) as u64;
            warp.live = self.live;
            let fiber = std::mem::replace(&mut self.fiber, Fiber::new(0));
            if pause != Pause::Ended {
                warp.fibers.push(fiber);
            }
            if pause == Pause::Stopped || self.stopped {
                self.stopped = true;
                break;
            }
            self.join_lanes(index);
            if matches!(pause, Pause::Turn | Pause::Poll) {
                break;
            }
        }
        let done = !self.block.warps[index]
            .fibers
            .iter()
            .any(|f| f.state == State::Ready);
        if let Some(races) = &mut self.shared_races {
            races.leave(done, &mut self.collector);
        }
        if let Some(races) = &mut self.global_races {
            races.leave(done, &mut self.collector);
        }
        self.block.spent = self.spent;
    }

    /// Lanes that waited for each other go on, as soon as all are there.
    fn join_lanes(&mut self, w: usize) {
        let warp = &mut self.block.warps[w];
        if warp.fibers.len() < 2 && !warp.fibers.iter().any(|f| matches!(f.state, State::Lanes { .. })) {
            return;
        }
        let mut ready = Vec::new();
        for f in &warp.fibers {
            if let State::Lanes { need, place } = f.state {
                let at_place = |g: &&Fiber| matches!(g.state, State::Lanes { place: p, .. } if p == place);
                let there = warp.fibers.iter().filter(at_place).fold(0, |m, g| m | g.lanes());
                ready.push(need & warp.live & !there == 0);
            } else {
                ready.push(false);
            }
        }
        for (f, ready) in warp.fibers.iter_mut().zip(ready) {
            if ready {
                f.state = State::Ready;
                // Whoever is not joined below goes on alone.
                f.forced = true;
            }
        }
        join_ready(&mut warp.fibers);
    }

    /// Nobody can go on: lanes that wait for others of their warp go on without them.
    fn force_lanes(&mut self) -> bool {
        let mut found = Vec::new();
        for (w, warp) in self.block.warps.iter_mut().enumerate() {
            for f in &mut warp.fibers {
                if let State::Lanes { need, .. } = f.state {
                    f.state = State::Ready;
                    f.forced = true;
                    let present = f.top().map_or(0, |t| t.mask);
                    found.push((w as u32, f.at, present, need & warp.live));
                }
            }
        }
        let any = !found.is_empty();
        for (w, at, present, named) in found {
            self.warp = w;
            if self.job.checked {
                self.report_at(at, Code::SyncMask, present, Details::SyncMask { named, present });
            }
        }
        any
    }

    /// Lanes arrive at a barrier; true when it is complete and they need not wait.
    pub(crate) fn arrive(&mut self, kind: BarrierKind, id: u32, count: u32, on: u32, instr: u32) -> bool {
        let warp = self.warp as usize;
        let all_of_warp = on == self.live;
        let barrier = &mut self.block.barriers[id as usize & 15];
        // A barrier with a count is told in whole warps: lanes that never were or have exited count with theirs.
        let threads = if count != 0 && all_of_warp {
            32
        } else {
            on.count_ones()
        };
        barrier.arrived += threads;
        barrier.count = barrier.count.max(count);
        if let BarrierKind::RedPopc(_, p, negated)
        | BarrierKind::RedAnd(_, p, negated)
        | BarrierKind::RedOr(_, p, negated) = kind
        {
            // SAFETY: predicates are in range, as `plan::validate` has established.
            let p = unsafe { *self.lanes.preds.add(usize::from(p)) };
            let p = if negated { !p } else { p };
            barrier.trues += (p & on).count_ones();
            barrier.voters += on.count_ones();
        }
        if kind == BarrierKind::Arrive {
            self.try_complete(id);
            return true;
        }
        self.fiber.state = State::Barrier(id as u8);
        self.fiber.at = instr;
        self.fiber.reduction = Some(kind);
        // The running fiber must be among those that wait.
        let fiber = std::mem::replace(&mut self.fiber, Fiber::new(0));
        self.block.warps[warp].fibers.push(fiber);
        self.block.warps[warp].live = self.live;
        self.try_complete(id);
        let fibers = &mut self.block.warps[warp].fibers;
        if let Some(i) = fibers.iter().position(|f| f.lanes() & on != 0) {
            self.fiber = fibers.remove(i);
        }
        self.fiber.state == State::Ready
    }

    /// Lets the waiting go, if all have come.
    fn try_complete(&mut self, id: u32) {
        let job = self.job;
        let b = self.block.barriers[id as usize & 15];
        let enough = if b.count == 0 {
            b.arrived >= self.block.live
        } else {
            b.arrived >= b.count
        };
        if b.arrived == 0 || !enough {
            return;
        }
        if job.checked && b.count == 0 {
            self.check_barrier(id);
        }
        self.block.barriers[id as usize & 15] = Barrier::default();
        for w in 0..self.block.warps.len() {
            let regs = self.block.regs_of(job, w);
            let preds = self.block.preds_of(job, w);
            for f in &mut self.block.warps[w].fibers {
                if f.state != State::Barrier(id as u8) {
                    continue;
                }
                f.state = State::Ready;
                let lanes = f.top().map_or(0, |t| t.mask);
                // SAFETY: destinations are in range, as `plan::validate` has established.
                unsafe {
                    let set = |dst: u32, value: bool| {
                        let p = preds.add(dst as usize);
                        *p = if value { *p | lanes } else { *p & !lanes };
                    };
                    match f.reduction.take() {
                        Some(BarrierKind::RedPopc(dst, ..)) => {
                            let out = regs.add(dst as usize).cast::<u32>();
                            bits(lanes).for_each(|lane| *out.add(lane) = b.trues);
                        }
                        Some(BarrierKind::RedAnd(dst, ..)) => set(dst, b.trues == b.voters),
                        Some(BarrierKind::RedOr(dst, ..)) => set(dst, b.trues > 0),
                        _ => {}
                    }
                }
            }
            if self.block.warps[w].fibers.len() > 1 {
                join_ready(&mut self.block.warps[w].fibers);
            }
        }
        self.progress = true;
        if let Some(races) = &mut self.shared_races {
            races.barrier(&mut self.collector);
        }
        if let Some(races) = &mut self.global_races {
            races.barrier(&mut self.collector);
        }
    }

    /// Lanes of the running fiber have exited: barriers no longer wait for them.
    pub(crate) fn exited(&mut self, lanes: u32, instr: u32) {
        self.live &= !lanes;
        self.block.live -= lanes.count_ones();
        self.progress = true;
        let warp = &mut self.block.warps[self.warp as usize];
        if warp.all & !self.live & (lanes.wrapping_neg() & lanes).wrapping_sub(1) == 0 {
            warp.exit = Some(instr);
        }
        warp.live = self.live;
        for id in 0..16 {
            if self.block.barriers[id as usize].arrived > 0 {
                self.try_complete(id);
            }
        }
    }

    /// What a complete barrier shows to be wrong.
    fn check_barrier(&mut self, id: u32) {
        let groups = self.groups(|s| s == State::Barrier(id as u8));
        let kernel = self.job.kernel;
        let place = |g: &BarrierGroup| {
            let source = kernel.instrs.get(g.instr as usize).and_then(|i| i.source);
            source.map_or((u32::MAX, g.instr, 0), |s| (s.file, s.line, s.column))
        };
        let Some(first) = groups.first() else { return };
        let (instr, place_of_first) = (first.instr, place(first));
        let Some(warp) = first.threads.iter().position(|m| *m != 0) else {
            return;
        };
        let mask = first.threads[warp];
        let running = std::mem::replace(&mut self.warp, warp as u32);
        let apart = groups.iter().any(|g| place(g) != place_of_first);
        if apart {
            self.report_at(
                instr,
                Code::Barrier,
                mask,
                Details::Barrier {
                    groups,
                    deadlock: false,
                },
            );
        }
        let returned = self.job.n_threads - self.block.live;
        if returned > 0
            && self
                .collector
                .is_new(Code::ExitedBeforeBarrier, instr, self.block.index)
        {
            let exited = self.block.warps.iter().enumerate().find(|(_, w)| w.all != w.live);
            if let Some((w, warp)) = exited {
                let first = w as u32 * 32 + (warp.all & !warp.live).trailing_zeros();
                let details = Details::Exited {
                    returned,
                    first,
                    exit: warp.exit,
                };
                self.report_at(instr, Code::ExitedBeforeBarrier, mask, details);
            }
        }
        self.warp = running;
    }

    /// Fibers in some state, by the instruction they are at.
    fn groups(&self, wanted: impl Fn(State) -> bool) -> Vec<BarrierGroup> {
        let n_warps = self.block.warps.len();
        let mut groups: Vec<BarrierGroup> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in warp.fibers.iter().filter(|f| wanted(f.state)) {
                let at_barrier = matches!(f.state, State::Barrier(_));
                let known = groups
                    .iter()
                    .position(|g| g.instr == f.at && g.at_barrier == at_barrier);
                let i = known.unwrap_or_else(|| {
                    let threads = vec![0; n_warps].into_boxed_slice();
                    groups.push(BarrierGroup {
                        instr: f.at,
                        at_barrier,
                        threads,
                    });
                    groups.len() - 1
                });
                groups[i].threads[w] |= f.lanes();
            }
        }
        groups
    }

    /// Nobody can go on.
    fn deadlock(&mut self) {
        let groups = self.groups(|_| true);
        let Some(first) = groups.first() else { return };
        let Some(warp) = first.threads.iter().position(|m| *m != 0) else {
            return;
        };
        let (instr, mask) = (first.instr, first.threads[warp]);
        self.warp = warp as u32;
        self.report_at(
            instr,
            Code::Barrier,
            mask,
            Details::Barrier {
                groups,
                deadlock: true,
            },
        );
        self.stopped = true;
    }

    /// Threads wait at a barrier for others that never come: they run for ever.
    fn tell_waiting(&mut self) {
        let ops = &self.job.kernel.ops;
        for f in self.block.warps.iter_mut().flat_map(|w| &mut w.fibers) {
            if f.state == State::Ready {
                f.at = f
                    .top()
                    .and_then(|t| ops.get(t.pc as usize))
                    .map_or(0, |op| op.instr);
            }
        }
        let mut groups = self.groups(|_| true);
        groups.sort_by_key(|g| !g.at_barrier);
        let Some(first) = groups.first().filter(|g| g.at_barrier) else {
            return;
        };
        let Some(warp) = first.threads.iter().position(|m| *m != 0) else {
            return;
        };
        let (instr, mask) = (first.instr, first.threads[warp]);
        self.warp = warp as u32;
        self.report_at(
            instr,
            Code::Barrier,
            mask,
            Details::Barrier {
                groups,
                deadlock: true,
            },
        );
    }

    /// The budget is spent: finds the loop that the warp is in, and stops.
    fn runaway<W: Watch>(&mut self, w: u32) {
        let job = self.job;
        let (mut low, mut high) = (u32::MAX, 0);
        let ready = |f: &Fiber| f.state == State::Ready;
        let mask = self.block.warps[w as usize]
            .fibers
            .iter()
            .find(|f| ready(f))
            .map_or(1, Fiber::lanes);
        // Where it goes in the next branches tells how far the loop reaches.
        for _ in 0..10_000 {
            let fibers = &mut self.block.warps[w as usize].fibers;
            let Some(i) = fibers.iter().position(ready) else {
                break;
            };
            self.fiber = fibers.remove(i);
            self.left = 0;
            let start = self.fiber.top().map_or(0, |t| t.pc);
            let pause = warp::run::<W>(self);
            let end = self.fiber.top().map_or(0, |t| t.pc);
            (low, high) = (low.min(start).min(end), high.max(start).max(end));
            let fiber = std::mem::replace(&mut self.fiber, Fiber::new(0));
            if pause != Pause::Ended {
                self.block.warps[w as usize].fibers.push(fiber);
            }
            if self.stopped {
                break;
            }
        }
        if !self.stopped {
            self.tell_waiting();
        }
        self.warp = w;
        let loop_of = smallest_loop(job, low, high);
        let at = loop_of.map_or_else(|| low.min(job.kernel.ops.len() as u32 - 1), |(first, _)| first);
        let instr = |pc: u32| job.kernel.ops.get(pc as usize).map_or(0, |op| op.instr);
        let span = loop_of.map(|(a, b)| (instr(a), instr(b)));
        let details = Details::Runaway {
            budget: job.budget,
            proven: false,
            span,
        };
        self.stopped = false;
        if job.checked
            && let Some((first, last)) = loop_of
            && polls(&job.kernel.ops[first as usize..=last as usize])
        {
            self.waited_for(instr(at));
        }
        self.fatal(at, Code::Runaway, mask, details);
    }

    /// A warp polls memory without end while threads of its block wait at a barrier: for each other, it seems.
    fn waited_for(&mut self, running: u32) {
        let mut groups = self.groups(|state| matches!(state, State::Barrier(_)));
        let Some(first) = groups.first() else { return };
        let Some(warp) = first.threads.iter().position(|mask| *mask != 0) else {
            return;
        };
        let (instr, mask) = (first.instr, first.threads[warp]);
        let others = self.groups(|state| state == State::Ready);
        let mut threads = vec![0; self.block.warps.len()].into_boxed_slice();
        for group in &others {
            threads
                .iter_mut()
                .zip(&group.threads)
                .for_each(|(all, some)| *all |= some);
        }
        groups.push(BarrierGroup {
            instr: running,
            at_barrier: false,
            threads,
        });
        let polling = self.warp;
        self.warp = warp as u32;
        let details = Details::Barrier {
            groups,
            deadlock: true,
        };
        self.report_at(instr, Code::Barrier, mask, details);
        self.warp = polling;
    }
}

/// Some of these operations look at what others write while they run.
fn polls(ops: &[crate::program::Op]) -> bool {
    use crate::program::{OpKind, Order};
    ops.iter().any(|op| match &op.kind {
        OpKind::Load(access) => access.order == Order::Strong,
        OpKind::Atomic(atomic) => atomic.returns,
        _ => false,
    })
}

/// The smallest backward branch that spans positions `low ..= high`.
fn smallest_loop(job: &Job<'_>, low: u32, high: u32) -> Option<(u32, u32)> {
    use crate::program::OpKind;
    let spans = job.kernel.ops.iter().enumerate().flat_map(|(i, op)| {
        let targets = match &op.kind {
            OpKind::Branch { target, .. } => std::slice::from_ref(target),
            OpKind::BranchIndexed { targets, .. } => targets,
            _ => &[],
        };
        targets.iter().map(move |t| (*t, i as u32))
    });
    spans
        .filter(|(t, i)| t <= i && *t <= low && high <= *i)
        .min_by_key(|(t, i)| i - t)
}

/// Joins fibers that can run and are at the same place.
fn join_ready(fibers: &mut Vec<Fiber>) {
    let mut i = 0;
    while i < fibers.len() {
        if fibers[i].state != State::Ready {
            i += 1;
            continue;
        }
        let mut j = i + 1;
        while j < fibers.len() {
            let fits = fibers[j].state == State::Ready;
            if fits {
                let other = fibers.remove(j);
                match fibers[i].join(other) {
                    None => continue,
                    Some(other) => fibers.insert(j, other),
                }
            }
            j += 1;
        }
        i += 1;
    }
}

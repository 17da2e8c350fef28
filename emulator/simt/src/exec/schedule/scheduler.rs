//! Turns: the warps of a block run one after another, each until it waits, ends, or has had its share.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{check::WrongMask, lane_mask::LaneMask};

use program::{Op, OpKind};

use crate::exec::block::watch::Watch;
use crate::exec::fiber::{Fiber, FiberState, Pause, join_ready};
use crate::exec::{warp, worker::Worker};

/// Operations of one turn of a warp. Long turns make switches rare; a polling warp ends its turn earlier.
const TURN: i64 = 1 << 16;
/// Turns of each warp in a row in which nothing happened but looking at memory, after which a block lets others run.
/// It is small, because more of them only delay the blocks that it waits for.
const STUCK: u32 = 8;
/// Like [`STUCK`], for turns that did other work, too. It is larger, because such turns may be progress.
const STUCK_BUSY: u32 = 256;
/// Like [`STUCK`], where all threads wait for mbarriers: a deadlock then. Large, because the report ends the launch.
const STUCK_PHASES: u32 = 1 << 10;
/// Turns that a loop gets each time that clocks went ahead.
pub(crate) const ROUNDS_OF_TIME: u32 = 16;
/// First and last step by which clocks go ahead, up to some 50 days.
const FIRST_STEP: u64 = 1 << 10;
const LAST_STEP: u64 = 1 << 52;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// The warps have ended, or the block was stopped.
    Ended,
    /// The block waits for memory that another block must change.
    Stuck,
    /// Threads that can run wait for phases of barriers, which other blocks of the cluster may end.
    Phases,
    /// No thread can run, and some wait for the threads of the cluster.
    Waits,
}
impl Worker<'_> {
    /// Runs the block's warps in turn.
    pub(crate) fn visit(&mut self, last: &AtomicU64) -> Visit {
        let job = self.job;
        self.activity.caches_polls = false;
        self.block.poll_cache.clear();
        if job.cluster_blocks == 1 {
            self.activity.moved = false;
        }
        loop {
            let mut ran = false;
            for w in 0..job.n_warps {
                if !self.block.warps[w as usize].is_ready() {
                    continue;
                }
                ran = true;
                self.activity.progress = false;
                self.activity.polled = false;
                self.run_warp(w);
                if self.stopped || last.load(Ordering::Relaxed) < self.block.cluster_index {
                    return Visit::Ended;
                }
                if job.is_over_budget(self.block.spent) {
                    self.runaway(w);
                    return Visit::Ended;
                }
                if self.block.spent > self.block.probe_at {
                    self.block.probe_at = self.block.spent.saturating_mul(2);
                    self.block.watch = Some(Watch::new(w));
                }
                self.activity.moved |= self.activity.progress || !self.activity.polled;
                match (self.activity.progress, self.activity.polled) {
                    (true, _) => {
                        self.block.quiet = 0;
                        self.block.tries_fail = false;
                        self.block.step = 0;
                        if std::mem::take(&mut self.activity.caches_polls) {
                            self.block.poll_cache.clear();
                        }
                    }
                    (_, true) => self.block.quiet += 1,
                    (false, false) => {}
                }
            }
            if self.block.live == 0 {
                return Visit::Ended;
            }
            if !ran && self.waits_for_cluster() {
                return Visit::Waits;
            }
            if !ran && !self.force_lanes() {
                if !self.stuck_warpgroup() {
                    self.deadlock();
                }
                return Visit::Ended;
            }
            self.block.tries_fail |= self.block.quiet > STUCK * job.n_warps && job.cluster_blocks == 1;
            if ran && self.block.quiet > STUCK * job.n_warps && self.all_wait_for_phases() {
                if job.cluster_blocks > 1 {
                    self.block.quiet = 0;
                    return Visit::Phases;
                }
                // No other block can end the phases: only a loop that stops waiting by the clock can continue.
                if self.block.quiet > STUCK_PHASES * job.n_warps {
                    if !self.let_time_pass() {
                        self.report_phase_deadlock();
                        return Visit::Ended;
                    }
                    self.block.quiet -= ROUNDS_OF_TIME * job.n_warps;
                }
                continue;
            }
            let limit = if self.warp.left > 0 { STUCK } else { STUCK_BUSY };
            // In the remaining turns before the block yields to others, every warp polls once more what it waits for.
            self.activity.caches_polls = self.block.quiet > STUCK / 2 * job.n_warps;
            if ran && self.block.quiet > limit * job.n_warps {
                self.block.quiet = 0;
                self.block.waits = job.cluster_blocks == 1 && !self.activity.moved;
                return Visit::Stuck;
            }
        }
    }

    /// Advances the block's clocks, each time by twice as much. Called when only a loop that stops waiting by the clock
    /// can continue. Returns false if the kernel reads no clock, or if they are so far ahead that no loop waits longer.
    pub(crate) fn let_time_pass(&mut self) -> bool {
        let reads = |op: &Op| matches!(op.kind, OpKind::ReadClock { .. });
        let step = (self.block.step * 2).max(FIRST_STEP);
        if step > LAST_STEP || !self.job.kernel.ops.iter().any(reads) {
            return false;
        }
        self.block.step = step;
        self.block.ahead = self.block.ahead.wrapping_add(step);
        true
    }

    /// Makes a warp of the block the running one, without its shadow.
    pub(super) fn switch_to_warp(&mut self, w: u32) {
        let index = w as usize;
        self.warp.index = w;
        self.warp.lanes.regs = self.block.regs_of(self.job, index);
        self.warp.lanes.preds = self.block.preds_of(self.job, index);
        self.warp.live = self.block.warps[index].live;
        self.warp.in_flight = self.block.warpgroups.is_in_flight(w);
    }

    /// Runs a turn of a warp: each ready fiber runs until it waits, ends, or the quantum of the warp is used up.
    pub(super) fn run_warp(&mut self, w: u32) {
        self.in_turn(w, |worker| {
            worker.begin_watched_turn(w);
            worker.warp.left = TURN;
            while !worker.stopped
                && let Some(pause) = worker.run_fiber(w)
            {
                worker.join_lanes(w as usize);
                if matches!(pause, Pause::EndOfTurn | Pause::Poll) {
                    break;
                }
            }
            worker.end_watched_turn();
        });
        self.block.spent = self.spent;
    }

    /// Makes a warp the running one while a function runs.
    pub(super) fn in_turn<R>(&mut self, w: u32, run: impl FnOnce(&mut Self) -> R) -> R {
        let index = w as usize;
        self.switch_to_warp(w);
        let checks = self.job.check_level.checks();
        if checks {
            std::mem::swap(&mut self.checks.shadow, &mut self.block.shadows[index]);
        }
        crate::exec::worker::notify_races!(self.checks, interval.enter(w));
        let result = run(self);
        if checks {
            std::mem::swap(&mut self.checks.shadow, &mut self.block.shadows[index]);
        }
        let done = !self.block.warps[index].is_ready();
        crate::exec::worker::notify_races!(self.checks, interval.leave(done, &mut self.block.collector));
        result
    }

    /// Runs a ready fiber of the running warp until it waits, ends, or the turn is over.
    pub(super) fn run_fiber(&mut self, w: u32) -> Option<Pause> {
        let fibers = &mut self.block.warps[w as usize].fibers;
        let i = fibers.iter().position(|f| f.state == FiberState::Ready)?;
        // A fiber is taken from the front and put back at the end, so that all of them run in turn.
        self.warp.fiber = fibers.remove(i);
        self.warp.turn_start = self.warp.left;
        let pause = warp::run(self);
        let warp = &mut self.block.warps[w as usize];
        warp.issued += (self.warp.turn_start - self.warp.left) as u64;
        warp.live = self.warp.live;
        let fiber = std::mem::take(&mut self.warp.fiber);
        if pause != Pause::Ended {
            warp.fibers.push(fiber);
        }
        self.stopped |= pause == Pause::Stopped;
        Some(pause)
    }

    /// Makes lanes that wait for each other ready, where all of them have arrived.
    pub(super) fn join_lanes(&mut self, w: usize) {
        let warp = &mut self.block.warps[w];
        if warp.fibers.len() < 2 && !warp.fibers.iter().any(|f| matches!(f.state, FiberState::Lanes { .. })) {
            return;
        }
        let mut ready = Vec::new();
        for f in &warp.fibers {
            if let FiberState::Lanes { need, place } = f.state {
                let at_place = |g: &&Fiber| matches!(g.state, FiberState::Lanes { place: other, .. } if other == place);
                let there = warp.fibers.iter().filter(at_place).fold(LaneMask::EMPTY, |m, g| m | g.lanes());
                ready.push((need & warp.live & !there).is_empty());
            } else {
                ready.push(false);
            }
        }
        for (f, ready) in warp.fibers.iter_mut().zip(ready) {
            if ready {
                // A fiber that is not joined below continues alone.
                f.forced = f.repeats_wait();
                f.state = FiberState::Ready;
            }
        }
        join_ready(&mut warp.fibers);
    }

    /// Makes lanes that wait for others of their warp continue without them. Returns whether there are any.
    pub(crate) fn force_lanes(&mut self) -> bool {
        let mut any = false;
        let mut found = Vec::new();
        for w in 0..self.block.warps.len() {
            self.warp.index = w as u32;
            self.warp.live = self.block.warps[w].live;
            let undefined = self.block.warps[w].undefined_mask;
            for f in &self.block.warps[w].fibers {
                if let FiberState::Lanes { need, .. } = f.state
                    && !undefined
                {
                    let present = f.top().map_or(LaneMask::EMPTY, |t| t.mask);
                    let details = self.sync_mask(need, present, WrongMask::Missing);
                    found.push((w as u32, f.wait_instr, present, details));
                }
            }
            for f in &mut self.block.warps[w].fibers {
                if matches!(f.state, FiberState::Lanes { .. }) {
                    f.forced = f.repeats_wait();
                    f.state = FiberState::Ready;
                    any = true;
                }
            }
        }
        if self.job.check_level.checks() {
            for (w, at, present, details) in found {
                self.record_mistake_of(w, at, present, details);
            }
        }
        any
    }
}

//! Barriers of a block: who has arrived, who may go on, and what a barrier shows to be wrong.
//!
//! As since Volta, a barrier counts threads, and does not wait for those that have exited.

use crate::check::{BadOperand, BarrierGroup, BarrierProblem, MistakeDetails};
use crate::lane_mask::LaneMask;
use program::{BARRIERS, BarrierKind, BarrierResult, InstrInfo};

use crate::exec::block::barrier_state::{Barrier, ExitedBefore, PartOfWarp};
use crate::exec::fiber::{Fiber, FiberState, join_ready};
use crate::exec::worker::Worker;

impl Worker<'_> {
    /// Makes lanes arrive at barrier `id`, below [`BARRIERS`]. Returns whether it is complete and they need not wait.
    pub(crate) fn arrive(&mut self, kind: BarrierKind, id: u32, count: u32, active: LaneMask, instr: u32) -> bool {
        let warp = self.warp.index as usize;
        let all_of_warp = active == self.warp.live;
        if !all_of_warp && count == 0 && self.job.check_level.checks() {
            self.note_part(id, active, instr);
        }
        if let Some(clocks) = self.checks.clocks() {
            clocks.arrive_at_barrier(id, self.warp.index);
        }
        let Barrier { count: other, arrived, .. } = self.block.barriers[id as usize];
        if arrived > 0 && count != 0 && other != 0 && count != other && self.job.check_level.checks() {
            let problem = BadOperand::BarrierCounts { other };
            let details = MistakeDetails::Operand { problem, value: count };
            self.record_mistake_at(instr, active, details);
        }
        let barrier = &mut self.block.barriers[id as usize];
        // A barrier with a count counts whole warps: lanes that never were or have exited count with theirs.
        let threads = if count != 0 && all_of_warp { 32 } else { active.count() };
        barrier.arrived += threads;
        barrier.count = barrier.count.max(count);
        if let BarrierKind::Reduce { pred, negated, .. } = kind {
            // SAFETY: predicates are in range, as `decode::passes::validate` has established.
            let holds = unsafe { *self.warp.lanes.preds.add(pred as usize) };
            let holds = if negated { !holds } else { holds };
            barrier.trues += (LaneMask::from_bits(holds) & active).count();
            barrier.voters += active.count();
        }
        if kind == BarrierKind::Arrive {
            self.try_complete(id);
            return true;
        }
        self.warp.fiber.state = FiberState::Barrier(id as u8);
        self.warp.fiber.wait_instr = instr;
        self.warp.fiber.reduction = match kind {
            BarrierKind::Reduce { result, .. } => Some(result),
            BarrierKind::Sync | BarrierKind::Arrive => None,
        };
        // The running fiber must be among those that wait.
        let fiber = std::mem::take(&mut self.warp.fiber);
        self.block.warps[warp].fibers.push(fiber);
        self.block.warps[warp].live = self.warp.live;
        self.try_complete(id);
        let fibers = &mut self.block.warps[warp].fibers;
        if let Some(i) = fibers.iter().position(|f| !(f.lanes() & active).is_empty()) {
            self.warp.fiber = fibers.remove(i);
        }
        self.warp.fiber.state == FiberState::Ready
    }

    /// Completes a barrier if all threads have arrived, and lets the waiting ones continue.
    pub(crate) fn try_complete(&mut self, id: u32) {
        let job = self.job;
        let b = self.block.barriers[id as usize];
        let enough = if b.count == 0 { b.arrived >= self.block.live } else { b.arrived >= b.count };
        if b.arrived == 0 || !enough {
            return;
        }
        if job.check_level.checks() && b.count == 0 {
            self.check_barrier(id);
        }
        self.block.barriers[id as usize] = Barrier::default();
        if let Some(clocks) = self.checks.clocks() {
            let waits = |f: &Fiber| f.state == FiberState::Barrier(id as u8);
            let warps = self.block.warps.iter().enumerate();
            let warps = warps.filter(|(_, warp)| warp.fibers.iter().any(waits));
            clocks.complete_barrier(id, warps.map(|(w, _)| w as u32));
        }
        for w in 0..self.block.warps.len() {
            let regs = self.block.regs_of(job, w);
            let preds = self.block.preds_of(job, w);
            for f in &mut self.block.warps[w].fibers {
                if f.state != FiberState::Barrier(id as u8) {
                    continue;
                }
                f.state = FiberState::Ready;
                let lanes = f.top().map_or(LaneMask::EMPTY, |t| t.mask);
                // SAFETY: destinations are in range, as `decode::passes::validate` has established.
                unsafe {
                    let set = |dst: u32, value: bool| {
                        let p = preds.add(dst as usize);
                        *p = if value { *p | lanes.bits() } else { *p & !lanes.bits() };
                    };
                    match f.reduction.take() {
                        Some(BarrierResult::Popc(dst)) => {
                            let out = regs.add(dst as usize).cast::<u32>();
                            lanes.iter().for_each(|lane| *out.add(lane) = b.trues);
                        }
                        Some(BarrierResult::And(dst)) => set(dst, b.trues == b.voters),
                        Some(BarrierResult::Or(dst)) => set(dst, b.trues > 0),
                        None => {}
                    }
                }
            }
            if self.block.warps[w].fibers.len() > 1 {
                join_ready(&mut self.block.warps[w].fibers);
            }
        }
        self.activity.progress = true;
        self.block.mbarriers.note_barrier();
        crate::exec::worker::notify_races!(self.checks, barrier(&mut self.block.collector));
    }

    /// Records that lanes of the running fiber have exited: barriers no longer wait for them.
    pub(crate) fn exited(&mut self, lanes: LaneMask, instr: u32) {
        self.warp.live &= !lanes;
        self.block.live -= lanes.count();
        self.activity.progress = true;
        let warp = &mut self.block.warps[self.warp.index as usize];
        if (warp.all & !self.warp.live).first() >= lanes.first() {
            warp.exit = Some(instr);
        }
        warp.live = self.warp.live;
        if self.warp.live.is_empty() {
            self.wake_warpgroup();
        }
        for id in 0..BARRIERS {
            if self.block.barriers[id as usize].arrived > 0 {
                self.try_complete(id);
            }
        }
        if self.job.cluster_blocks > 1 {
            self.exited_in_cluster(lanes);
        }
    }

    /// Reports the misuse that a complete barrier shows.
    fn check_barrier(&mut self, id: u32) {
        let groups = self.groups(|s| s == FiberState::Barrier(id as u8));
        let Some(first) = groups.first() else { return };
        let instr = first.instr;
        let Some((warp, mask)) = first.first() else { return };
        let running = std::mem::replace(&mut self.warp.index, warp);
        if groups.len() > 1 {
            self.check_meeting(&groups, instr, mask);
        }
        self.check_part(id);
        if !self.block.apart.passed.is_empty() && !self.block.apart.reported {
            self.check_left_behind(groups, instr, mask);
        }
        let returned = self.job.n_threads - self.block.live;
        if returned > 0 && self.block.exited.is_none() {
            let exited = self.block.warps.iter().enumerate().find(|(_, w)| w.all != w.live);
            if let Some((w, gone)) = exited {
                let first = w as u32 * 32 + (gone.all & !gone.live).first() as u32;
                let facts = MistakeDetails::Exited { returned, first, exit: gone.exit };
                self.block.exited = Some(ExitedBefore { warp, mask, instr, facts: Some(facts) });
            }
        }
        self.warp.index = running;
    }

    /// Reports that threads had exited before a barrier: they may not have written an undefined value that is used now.
    #[cold]
    pub(crate) fn report_exited(&mut self) {
        let Some(ExitedBefore { warp, mask, instr, facts }) = &mut self.block.exited else { return };
        let (warp, mask, instr) = (*warp, *mask, *instr);
        if let Some(details) = facts.take() {
            self.record_mistake_of(warp, instr, mask, details);
        }
    }

    /// Records that lanes arrive at a barrier without others of their warp, which have not exited.
    #[cold]
    fn note_part(&mut self, id: u32, here: LaneMask, instr: u32) {
        let warp = self.warp.index;
        let waits = |f: &&Fiber| f.state == FiberState::Barrier(id as u8);
        let fibers = self.block.warps[warp as usize].fibers.iter();
        let arrived = fibers.filter(waits).fold(LaneMask::EMPTY, |all, f| all | f.lanes());
        let missing = self.warp.live & !here & !arrived;
        let apart = &self.block.apart;
        if !missing.is_empty() && apart.part.is_none() && !apart.part_reported && self.is_aligned(instr) {
            self.block.apart.part = Some(PartOfWarp { id, instr, warp, here, missing });
        }
    }

    /// Reports, at a complete barrier, that the rest of a warp exited instead of arriving at it.
    fn check_part(&mut self, id: u32) {
        let Some(part) = self.block.apart.part.take_if(|part| part.id == id) else { return };
        let warp = &self.block.warps[part.warp as usize];
        if !(warp.live & part.missing).is_empty() {
            return;
        }
        let details = MistakeDetails::PartOfWarp { missing: part.missing, exit: warp.exit };
        self.block.apart.part_reported = true;
        self.record_mistake_of(part.warp, part.instr, part.here, details);
    }

    /// Returns whether all lanes of a warp must be together at a barrier: `bar.sync`, `barrier.sync.aligned`.
    fn is_aligned(&self, instr: u32) -> bool {
        let info = self.job.kernel.instrs.get(instr as usize);
        let name = info.map_or("", InstrInfo::mnemonic);
        name.starts_with("bar.") || name.contains(".aligned")
    }

    /// Reports threads that met at several barriers.
    ///
    /// The lanes of one warp must be at one instruction, unless it is `barrier.sync` without `.aligned`, which counts
    /// threads wherever they are. Whole warps at different ones are a warning, as CUDA C++ requires all threads at one
    /// `__syncthreads()`. Copies of one, as in an unrolled loop, have the same source line and count as one.
    fn check_meeting(&mut self, groups: &[BarrierGroup], instr: u32, mask: LaneMask) {
        let kernel = self.job.kernel;
        let place = |g: &BarrierGroup| {
            let info = kernel.instrs.get(g.instr as usize);
            let source = info.and_then(|i| Some((i.source?, i.calls.first().copied())));
            source.ok_or(g.instr)
        };
        let aligned: Vec<&BarrierGroup> = groups.iter().filter(|g| self.is_aligned(g.instr)).collect();
        let diverged = (0..self.block.warps.len()).any(|w| {
            let here = groups.iter().filter(|g| !g.threads[w].is_empty()).count();
            here > 1 && aligned.iter().any(|g| !g.threads[w].is_empty())
        });
        let apart = &mut self.block.apart;
        if diverged {
            if !std::mem::replace(&mut apart.reported, true) {
                let details = MistakeDetails::Barrier { groups: groups.to_vec(), problem: BarrierProblem::SplitWarp };
                self.record_mistake_at(instr, mask, details);
            }
            return;
        }
        let mut places: Vec<BarrierGroup> = Vec::new();
        for group in aligned {
            match places.iter_mut().find(|g| place(g) == place(group)) {
                Some(known) => known.add(&group.threads),
                None => places.push(group.clone()),
            }
        }
        if places.len() < 2 {
            return;
        }
        for group in &places {
            match apart.passed.iter_mut().find(|g| g.instr == group.instr) {
                Some(known) => known.add(&group.threads),
                None => apart.passed.push(group.clone()),
            }
        }
        if apart.first.is_empty() {
            apart.first = places.clone();
            let details = MistakeDetails::Barrier { groups: places, problem: BarrierProblem::DifferentBarriers };
            self.record_mistake_at(instr, mask, details);
        }
    }

    /// Reports threads that wait at a barrier which others had passed, out of step, before they exited.
    fn check_left_behind(&mut self, groups: Vec<BarrierGroup>, instr: u32, mask: LaneMask) {
        let gone = |g: &BarrierGroup| {
            let passed = self.block.apart.passed.iter().find(|then| then.instr == g.instr);
            let warps = passed.map(|then| self.block.warps.iter().zip(&then.threads));
            warps.is_some_and(|mut warps| warps.any(|(w, threads)| !(*threads & !w.live).is_empty()))
        };
        let Some(late) = groups.into_iter().find(gone) else { return };
        self.block.apart.reported = true;
        let problem = BarrierProblem::LeftBehind(late);
        let details = MistakeDetails::Barrier { groups: self.block.apart.first.clone(), problem };
        self.record_mistake_at(instr, mask, details);
    }

    /// Returns the threads of fibers in some state, by the instruction at which they are.
    pub(crate) fn groups(&self, wanted: impl Fn(FiberState) -> bool) -> Vec<BarrierGroup> {
        let n_warps = self.block.warps.len();
        let mut groups: Vec<BarrierGroup> = Vec::new();
        for (w, warp) in self.block.warps.iter().enumerate() {
            for f in warp.fibers.iter().filter(|f| wanted(f.state)) {
                let at_barrier = matches!(f.state, FiberState::Barrier(_));
                let known = groups.iter().position(|g| g.instr == f.wait_instr && g.at_barrier == at_barrier);
                let i = known.unwrap_or_else(|| {
                    let threads = vec![LaneMask::EMPTY; n_warps].into_boxed_slice();
                    groups.push(BarrierGroup { instr: f.wait_instr, at_barrier, threads });
                    groups.len() - 1
                });
                groups[i].threads[w] |= f.lanes();
            }
        }
        groups
    }
}

//! `wgmma`: products of four warps, in the background.
//!
//! A product is performed as late as possible: when one of the four warps waits for its group, and all four have issued
//! it. Until then its sums are not in their registers. A warp that touches a register of a product in flight gets the
//! sums at once, so that the result is the same on any number of threads; the checks report it.

mod checks;
mod multiply;

use std::ops::ControlFlow;

use crate::{check::BadWgmma, lane_mask::LaneMask};
use program::mma::warpgroup::WARPS;
use program::{OpKind, Wgmma, WgmmaA};

use crate::exec::block::warpgroups::{FactorBytes, PendingProduct, WarpPart, WarpProgress};
use crate::exec::fiber::{AfterOp, FiberState};
use crate::exec::worker::Worker;
use multiply::DecodedB;

/// Products that may be in flight in a warpgroup, and by which one of its warps may be ahead of the others.
const MAX_PRODUCTS: usize = 256;

impl Worker<'_> {
    pub(crate) fn wgmma_fence(&mut self) {
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        group.warps[own].fenced = true;
        group.written[own].clear();
    }

    pub(crate) fn wgmma_commit(&mut self) {
        let (group, own) = self.block.warpgroups.own(self.warp.index);
        let progress = &mut group.warps[own];
        progress.committed = progress.committed.saturating_add(1);
    }

    /// Issues a product, or waits for the other warps of the warpgroup if too many are in flight.
    pub(crate) fn wgmma(&mut self, wgmma: &Wgmma, pc: u32, active: LaneMask) -> ControlFlow<AfterOp> {
        let warp = self.warp.index;
        let (group, own) = self.block.warpgroups.own(warp);
        if group.warps[own].issued - group.first >= MAX_PRODUCTS as u64 {
            self.make_room(pc)?;
        }
        let lane = active.first();
        let (a_descriptor, a) = match &wgmma.a {
            WgmmaA::Shared(a) => (self.u64_at(*a, lane), None),
            WgmmaA::Registers(a) => (0, Some(Box::new(a.map(|a| self.u32s(a))))),
        };
        let descriptors = [a_descriptor, self.u64_at(wgmma.b, lane)];
        let adds = self.pred(wgmma.adds).contains(lane) != wgmma.negated;
        let mut seen = [FactorBytes::new(), FactorBytes::new()];
        if self.job.check_level.checks() {
            seen = self.check_wgmma(wgmma, pc, active, descriptors, adds);
            if self.check_order(wgmma, pc, active, descriptors) {
                // Another warp has noted the same B.
                seen[1].clear();
            }
        }
        let group = self.block.warpgroups.of(warp);
        let progress = &mut group.warps[own];
        let (number, committed) = (progress.issued, progress.committed);
        progress.issued += 1;
        let place = group.place(number);
        if place == group.products.len() {
            group.products.push_back(PendingProduct::default());
        }
        group.products[place].parts[own] =
            Some(WarpPart { pc, active, group: committed, descriptors, a, adds, lost: Vec::new(), done: false, seen });
        self.warp.in_flight = true;
        self.wake_warpgroup();
        self.activity.progress = true;
        ControlFlow::Continue(())
    }

    /// Makes the warps of the running warp's warpgroup check again whether they can continue.
    pub(crate) fn wake_warpgroup(&mut self) {
        let first = self.warp.index / WARPS * WARPS;
        let warps = &mut self.block.warps;
        let end = warps.len().min((first + WARPS) as usize);
        for (index, warp) in warps[first as usize..end].iter_mut().enumerate() {
            if first + index as u32 == self.warp.index {
                continue;
            }
            for fiber in warp.fibers.iter_mut().filter(|f| f.state == FiberState::Warpgroup) {
                fiber.state = FiberState::Ready;
            }
        }
    }

    /// Performs `wgmma.wait_group`, or waits until the other warps of the warpgroup have issued what it waits for.
    pub(crate) fn wgmma_wait(&mut self, pending: u32, pc: u32) -> ControlFlow<AfterOp> {
        let warp = self.warp.index;
        let (group, own) = self.block.warpgroups.own(warp);
        let WarpProgress { issued, waited, committed, .. } = group.warps[own];
        let is_due = |number: &u64| {
            let part = group.products[group.place(*number)].parts[own].as_ref();
            part.is_some_and(|part| u64::from(part.group) + u64::from(pending) < u64::from(committed))
        };
        let end = waited + (waited..issued).take_while(is_due).count() as u64;
        self.wait_until(end, pc)?;
        let group = self.block.warpgroups.of(warp);
        group.warps[own].waited = end;
        group.warps[own].left = Some(pending);
        group.waits += 1;
        let waits = group.waits;
        if self.job.check_level.checks() {
            self.hand_over(waits);
        }
        self.warp.in_flight = end < issued;
        self.retire();
        self.activity.progress = true;
        ControlFlow::Continue(())
    }

    /// Performs the products of the warpgroup up to this number, or waits until the other warps have issued them.
    fn wait_until(&mut self, end: u64, pc: u32) -> ControlFlow<AfterOp> {
        let warp = self.warp.index;
        let first = warp / WARPS * WARPS;
        let mut lives = (0..WARPS).zip(self.lives(first));
        let group = self.block.warpgroups.of(warp);
        let from = group.first;
        let missing = |number: u64, at: u32| {
            let product = &group.products[group.place(number)];
            product.parts[at as usize].is_none()
        };
        if end > from && lives.any(|(at, lives)| (first + at == warp || lives) && missing(end - 1, at)) {
            self.warp.fiber.set_pc(pc);
            self.warp.fiber.wait_instr = self.job.instr_at(pc);
            self.warp.fiber.state = FiberState::Warpgroup;
            return ControlFlow::Break(AfterOp::Wait);
        }
        for product_number in from..end {
            let group = self.block.warpgroups.of(warp);
            let place = group.place(product_number);
            let parts = &group.products[place].parts;
            let lacks = (0..WARPS).filter(|at| parts[*at as usize].is_none()).fold(0, |all, at| all | 1 << at);
            let product = parts[(warp % WARPS) as usize].as_ref().map(|part| part.pc);
            if let (true, Some(product)) = (lacks != 0, product) {
                let problem = BadWgmma::Missing { warps: lacks, gone: lacks };
                self.report_wgmma(product, self.warp.live, problem);
                if self.stopped {
                    return ControlFlow::Break(AfterOp::Stop);
                }
            }
            let group = self.block.warpgroups.of(warp);
            if std::mem::replace(&mut group.products[place].complete, true) {
                continue;
            }
            let mut b = DecodedB::default();
            for index in 0..WARPS as usize {
                self.perform(first, product_number, index, &mut b);
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns which of the four warps from `first` on have not exited.
    fn lives(&self, first: u32) -> [bool; WARPS as usize] {
        let warps = &self.block.warps;
        std::array::from_fn(|at| warps.get(first as usize + at).is_some_and(|warp| !warp.live.is_empty()))
    }

    /// Waits for the oldest product in place of the program.
    fn make_room(&mut self, pc: u32) -> ControlFlow<AfterOp> {
        let warp = self.warp.index;
        let end = self.block.warpgroups.of(warp).first + 1;
        self.wait_until(end, pc)?;
        for progress in &mut self.block.warpgroups.of(warp).warps {
            progress.waited = progress.waited.max(end);
        }
        self.retire();
        ControlFlow::Continue(())
    }

    /// Forgets products that all warps have waited for.
    fn retire(&mut self) {
        let warp = self.warp.index;
        let first = warp / WARPS * WARPS;
        let mut lives = self.lives(first);
        lives[(warp - first) as usize] = true;
        let group = self.block.warpgroups.of(warp);
        let done = group.warps.iter().zip(lives).filter(|(_, lives)| *lives);
        let done = done.map(|(progress, _)| progress.waited).min().unwrap_or(0);
        while group.first < done && group.products.pop_front().is_some() {
            group.first += 1;
        }
    }

    /// Performs the products in flight whose registers the running warp is about to use, up to the last of them.
    pub(crate) fn touch_in_flight(&mut self, pc: u32, active: LaneMask) {
        let kernel = self.job.kernel;
        let Some(touched) = kernel.in_flight.as_ref().and_then(|all| all.touches.get(pc as usize)) else { return };
        if touched.is_empty()
            || active.is_empty()
            || matches!(kernel.ops[pc as usize].kind, OpKind::Wgmma(_) | OpKind::Nop)
        {
            return;
        }
        let warp = self.warp.index;
        let (group, own) = self.block.warpgroups.own(warp);
        let WarpProgress { issued, waited, .. } = group.warps[own];
        let mut needed = None;
        let mut wrong = None;
        for product_number in waited..issued {
            let place = group.place(product_number);
            let Some(part) = group.products[place].parts[own].as_mut() else { continue };
            let OpKind::Wgmma(wgmma) = &kernel.ops[part.pc as usize].kind else { continue };
            let own_registers = kernel.in_flight.as_ref().map_or(&[][..], |all| &all.touches[part.pc as usize]);
            let is_own =
                |line: u32, register: u32| own_registers.iter().any(|own| (own.line, own.register) == (line, register));
            for touch in touched {
                let sum = wgmma.d.contains(&touch.line) && !part.lost.contains(&touch.line);
                let same = is_own(touch.line, touch.register);
                if (sum && !touch.writes || same && touch.writes) && wrong.is_none() {
                    wrong = Some((product_number, touch.writes, !wgmma.d.contains(&touch.line)));
                }
                if !wgmma.d.contains(&touch.line) || part.done || part.lost.contains(&touch.line) {
                    continue;
                }
                if touch.writes {
                    // The sums come too late.
                    part.lost.push(touch.line)
                } else {
                    needed = Some(product_number)
                }
            }
        }
        if self.job.check_level.checks()
            && let Some((number, writes, factor)) = wrong
        {
            self.report_in_flight_use(number, pc, active, writes, factor);
        }
        let group = self.block.warpgroups.of(warp);
        if let Some(last) = needed {
            let from = group.first;
            for product_number in from..=last {
                self.perform(warp / WARPS * WARPS, product_number, own, &mut DecodedB::default());
            }
        }
    }

    /// Performs the rows of one warp of a product, unless that has been done. `b` is for the four warps of the product.
    fn perform(&mut self, first_warp: u32, product_number: u64, own: usize, b: &mut DecodedB) {
        let job = self.job;
        let group = self.block.warpgroups.of(first_warp);
        let place = group.place(product_number);
        let Some(mut part) = group.products.get_mut(place).and_then(|p| p.parts[own].take()) else { return };
        if let (false, OpKind::Wgmma(wgmma)) = (part.done, &job.kernel.ops[part.pc as usize].kind) {
            for factor in [0, 1] {
                self.check_unchanged(&part.seen[factor], factor, part.pc, part.active);
            }
            self.multiply(wgmma, &part, first_warp, own, b);
            // 16 rows of a warp, and as many elements of k where they have two bytes.
            self.spent += 16 * 16 * u64::from(wgmma.n);
            part.done = true;
        }
        self.block.warpgroups.of(first_warp).products[place].parts[own] = Some(part);
    }
}

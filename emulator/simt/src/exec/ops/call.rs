//! Calls of functions that are not inlined: activations, and what their callers keep meanwhile.
//!
//! A caller's registers are kept in its frame in local memory, lane by lane, so that lanes can be at different depths
//! and in different fibers. Where lanes go on is on the fiber's stack: the frame that calls becomes the place where
//! its lanes are back, and what they call lies on top.

use std::ops::ControlFlow;

use crate::check::{BadTarget, MistakeDetails};
use crate::lane_mask::LaneMask;
use arithmetic::lanes::Src;
use program::{CallSite, Callee, Calls, Kept, OpKind};

use crate::exec::fiber::{AfterOp, Frame};
use crate::exec::worker::Worker;

impl Worker<'_> {
    /// Performs a call of the `active` lanes, which are all of the running frame.
    pub(crate) fn call(&mut self, site: u32, target: Option<Src>, pc: u32, active: LaneMask) -> ControlFlow<AfterOp> {
        let kernel = self.job.kernel;
        let Some(calls) = kernel.calls.as_deref() else { return ControlFlow::Break(AfterOp::Stop) };
        let Some(site) = calls.sites.get(site as usize) else { return ControlFlow::Break(AfterOp::Stop) };
        let ways = match site.callee {
            Some(callee) => vec![(active, callee as usize)],
            None => match target.and_then(|target| self.targets(calls, site, target, pc, active)) {
                Some(ways) => ways,
                None => return ControlFlow::Break(AfterOp::Stop),
            },
        };
        for &(lanes, callee) in &ways {
            self.check_stack(calls, site, &calls.callees[callee], pc, lanes)?;
        }
        self.keep(calls, site, active);
        for &(lanes, callee) in &ways {
            let callee = &calls.callees[callee];
            self.zero_kept(&callee.zeroed, lanes);
            if self.job.check_level.checks() {
                for lane in lanes.iter() {
                    let start = self.u32_at(calls.base as Src, lane);
                    self.forget_local(lane, start, callee.frame);
                }
            }
        }
        let entries: Vec<(LaneMask, u32)> =
            ways.iter().map(|&(lanes, callee)| (lanes, calls.callees[callee].entry)).collect();
        self.warp.fiber.call(pc + 1, &entries);
        ControlFlow::Break(AfterOp::Frames)
    }

    /// Groups the lanes by function, that of the lowest lane first, `None` if a lane's target cannot be called.
    fn targets(
        &mut self, calls: &Calls, site: &CallSite, target: Src, pc: u32, active: LaneMask,
    ) -> Option<Vec<(LaneMask, usize)>> {
        let mut addresses: Vec<(LaneMask, u64)> = Vec::new();
        for lane in active.iter() {
            let address = self.u64_at(target, lane);
            match addresses.iter_mut().find(|(_, known)| *known == address) {
                Some((lanes, _)) => *lanes |= LaneMask::of(lane),
                None => addresses.push((LaneMask::of(lane), address)),
            }
        }
        let mut ways = Vec::new();
        for (lanes, address) in addresses {
            let found = calls.callees.iter().position(|callee| callee.address == address);
            let problem = match found.map(|at| (at, &calls.callees[at])) {
                Some((at, callee)) if callee.signature == site.signature => {
                    ways.push((lanes, at));
                    continue;
                }
                Some((_, callee)) => BadTarget::OtherSignature(callee.name.clone()),
                None => match calls.others.iter().find(|(known, _)| *known == address) {
                    Some((_, name)) => BadTarget::OtherSignature(name.clone()),
                    None => BadTarget::NoFunction,
                },
            };
            self.fatal(pc, lanes, MistakeDetails::Call { address, problem });
            return None;
        }
        Some(ways)
    }

    /// Ends the block if one more activation does not fit on the stack.
    fn check_stack(
        &mut self, calls: &Calls, site: &CallSite, callee: &Callee, pc: u32, lanes: LaneMask,
    ) -> ControlFlow<AfterOp> {
        let more = u64::from(site.frame) + u64::from(callee.frame);
        let stack = u64::from(self.job.local_bytes);
        let full = lanes.filter(|lane| u64::from(self.u32_at(calls.base as Src, lane)) + more > stack);
        if full.is_empty() {
            return ControlFlow::Continue(());
        }
        let depth = self.waiting().filter(|frame| self.is_resume(frame.pc)).count() as u32;
        let details = MistakeDetails::Stack { function: callee.name.clone(), depth, limit: self.job.stack_bytes };
        self.fatal(pc, full, details);
        ControlFlow::Break(AfterOp::Stop)
    }

    /// Returns the frames below the running one, whose own position is out of date.
    fn waiting(&self) -> std::slice::Iter<'_, Frame> {
        let below = self.warp.fiber.stack.len().saturating_sub(1);
        self.warp.fiber.stack[..below].iter()
    }

    /// Returns whether lanes wait for those that they called at this position.
    fn is_resume(&self, pc: u32) -> bool {
        let op = self.job.kernel.ops.get(pc as usize);
        op.is_some_and(|op| matches!(op.kind, OpKind::Resume { .. }))
    }

    /// Returns the `active` lanes to the frame of their caller.
    pub(crate) fn return_lanes(&mut self, active: LaneMask) -> ControlFlow<AfterOp> {
        let caller = self.waiting().rposition(|frame| self.is_resume(frame.pc));
        self.warp.fiber.return_lanes(active, caller.map_or(0, |at| at + 1));
        ControlFlow::Break(AfterOp::Frames)
    }

    /// Saves the registers that the caller needs afterwards, and moves the lanes to the local memory of the callee.
    fn keep(&mut self, calls: &Calls, site: &CallSite, active: LaneMask) {
        if self.job.check_level.checks() && !self.checks.shadow.is_clean() {
            self.keep_undefined(calls.base, &site.kept, active);
        }
        for lane in active.iter() {
            let base = self.u32_at(calls.base as Src, lane);
            let mut at = self.local_offset(lane) + (base + site.keep_at) as usize;
            for &register in &site.kept.wide {
                let value = self.u64_at(register as Src, lane);
                self.block.set_local_word(at, value as u32);
                self.block.set_local_word(at + 4, (value >> 32) as u32);
                at += 8;
            }
            for &register in &site.kept.narrow {
                self.block.set_local_word(at, self.u32_at(register as Src, lane));
                at += 4;
            }
            for preds in site.kept.preds.chunks(32) {
                let bit = |(i, &pred): (usize, &u32)| u32::from(self.pred(pred).contains(lane)) << i;
                let word = preds.iter().enumerate().map(bit).fold(0, |a, b| a | b);
                self.block.set_local_word(at, word);
                at += 4;
            }
            self.out32(calls.base)[lane] = base + site.frame;
        }
    }

    /// Restores the caller's registers for lanes that have returned from a call.
    pub(crate) fn resume(&mut self, site: u32, active: LaneMask) {
        let kernel = self.job.kernel;
        let Some(calls) = kernel.calls.as_deref() else { return };
        let Some(site) = calls.sites.get(site as usize) else { return };
        for lane in active.iter() {
            let base = self.u32_at(calls.base as Src, lane).wrapping_sub(site.frame);
            self.out32(calls.base)[lane] = base;
            let mut at = self.local_offset(lane) + (base + site.keep_at) as usize;
            for &register in &site.kept.wide {
                let (low, high) = (self.block.local_word(at), self.block.local_word(at + 4));
                self.out64(register)[lane] = u64::from(high) << 32 | u64::from(low);
                at += 8;
            }
            for &register in &site.kept.narrow {
                self.out32(register)[lane] = self.block.local_word(at);
                at += 4;
            }
            for preds in site.kept.preds.chunks(32) {
                let word = self.block.local_word(at);
                for (i, &pred) in preds.iter().enumerate() {
                    let holds = if word >> i & 1 == 1 { LaneMask::ALL } else { LaneMask::EMPTY };
                    self.set_pred(pred, holds, LaneMask::of(lane));
                }
                at += 4;
            }
        }
        if self.job.check_level.checks() {
            self.restore_undefined(calls.base, &site.kept, active);
        }
    }

    /// Sets a function's registers to zero at its start, as a kernel's are.
    fn zero_kept(&mut self, registers: &Kept, lanes: LaneMask) {
        for lane in lanes.iter() {
            registers.wide.iter().for_each(|&r| self.out64(r)[lane] = 0);
            registers.narrow.iter().for_each(|&r| self.out32(r)[lane] = 0);
        }
        registers.preds.iter().for_each(|&pred| self.set_pred(pred, LaneMask::EMPTY, lanes));
        if self.job.check_level.checks() && !self.checks.shadow.is_clean() {
            self.define_all(registers, lanes);
        }
    }
}

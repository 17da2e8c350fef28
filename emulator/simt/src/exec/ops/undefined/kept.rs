//! Undefined registers of callers, while what they called runs.

use crate::exec::{block::shadow::ShadowIndex, block::unwritten::MAX_CARRIED, worker::Worker};
use crate::lane_mask::LaneMask;
use arithmetic::lanes::Src;
use program::{Kept, window};

impl Worker<'_> {
    fn spots(&self, registers: &Kept) -> Vec<ShadowIndex> {
        let lines = registers.wide.iter().chain(&registers.narrow);
        let preds = registers.preds.iter().map(|&pred| self.checks.shadow.pred(pred));
        lines.map(|&line| self.checks.shadow.line(line)).chain(preds).collect()
    }

    /// Saves the undefined bits of a caller's registers, which the callee may use.
    #[cold]
    pub(in crate::exec) fn keep_undefined(&mut self, base: u32, registers: &Kept, active: LaneMask) {
        for spot in self.spots(registers) {
            let lanes = self.checks.shadow.lanes(spot) & active;
            for lane in lanes.iter() {
                let key = (self.warp.thread_of(lane), self.u32_at(base as Src, lane));
                let kept = &mut self.block.kept_undefined;
                if kept.len() < MAX_CARRIED || kept.contains_key(&key) {
                    let undefined = (spot, self.checks.shadow.bits(spot, lane), self.checks.shadow.origins(spot, lane));
                    kept.entry(key).or_default().push(undefined);
                }
            }
            self.checks.shadow.define(spot, lanes);
        }
    }

    /// Makes the registers of a caller as undefined as they were before the call.
    pub(in crate::exec) fn restore_undefined(&mut self, base: u32, registers: &Kept, active: LaneMask) {
        if !self.checks.shadow.is_clean() {
            self.define_all(registers, active);
        }
        if self.block.kept_undefined.is_empty() {
            return;
        }
        for lane in active.iter() {
            let key = (self.warp.thread_of(lane), self.u32_at(base as Src, lane));
            for (spot, undefined, origins) in self.block.kept_undefined.remove(&key).unwrap_or_default() {
                self.checks.shadow.undefine(spot, lane, undefined, origins);
            }
        }
    }

    #[cold]
    pub(in crate::exec) fn define_all(&mut self, registers: &Kept, active: LaneMask) {
        for spot in self.spots(registers) {
            self.checks.shadow.define(spot, active);
        }
    }

    /// Makes local memory of a lane that of a new activation, which has written nothing.
    pub(in crate::exec) fn forget_local(&mut self, lane: usize, start: u32, bytes: u32) {
        if bytes == 0 {
            return;
        }
        let from = self.local_offset(lane) + start as usize;
        self.block.local_written.unset(from, bytes as usize);
        let origins = &mut self.block.carried.origins;
        if !origins.is_empty() {
            let first = (window::LOCAL + from as u64) / 4;
            let words = first..first + u64::from(bytes) / 4;
            if u64::from(bytes) / 4 > origins.len() as u64 {
                origins.retain(|word, _| !words.contains(word));
            } else {
                words.for_each(|word| {
                    origins.remove(&word);
                });
            }
        }
    }
}

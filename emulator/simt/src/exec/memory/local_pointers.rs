//! Pointers to local memory that threads hand to each other. Each thread has local memory of its own at the same
//! addresses, so another thread follows such a pointer to its own variables.

use crate::{check::MistakeDetails, lane_mask::LaneMask};
use arithmetic::lanes::{Class, NONE};
use program::operands::{Purpose, Role, for_each_operand};
use program::{Access, MemSpace, window};

use crate::exec::worker::Worker;
use crate::exec::{block::local_pointer::LocalPointer, memory::access_spec::AccessSpec, memory::per_lane};

/// Pointers of a block that are remembered.
const MAX_POINTERS: usize = 1024;

/// Returns whether an access moves pointers between memory that threads share and registers.
#[inline(always)]
pub(crate) fn may_move(a: &Access) -> bool {
    a.element == 8 && !matches!(a.space, MemSpace::Local | MemSpace::Param | MemSpace::Const)
}

impl Worker<'_> {
    /// Remembers the pointers to local memory among the values that were stored.
    #[cold]
    pub(crate) fn note_local_pointers(&mut self, a: &Access, spec: AccessSpec<'_>, good: LaneMask) {
        for (e, &src) in a.regs[..usize::from(a.n)].iter().enumerate() {
            let lanes = good.filter(|lane| window::holds(window::LOCAL, self.u64_at(src, lane)));
            if lanes.is_empty() {
                continue;
            }
            let addresses = per_lane::addresses(self, &spec);
            let instr = self.job.instr_at(spec.pc);
            for lane in lanes.iter().filter(|&lane| !window::holds(window::LOCAL, addresses[lane])) {
                let place = addresses[lane].wrapping_add(8 * e as u64);
                let thread = self.warp.thread_of(lane);
                let pointer = LocalPointer { place, value: self.u64_at(src, lane), thread, instr };
                let known = &mut self.block.local_pointers;
                known.retain(|other| other.place != place);
                if known.len() < MAX_POINTERS {
                    known.push(pointer);
                }
            }
        }
    }

    /// Reports lanes that have loaded another thread's pointer to local memory, if the kernel dereferences it.
    #[cold]
    pub(crate) fn check_local_pointers(&mut self, a: &Access, spec: AccessSpec<'_>, good: LaneMask) {
        let addresses = per_lane::addresses(self, &spec);
        for (e, &dst) in a.regs[..usize::from(a.n)].iter().enumerate().filter(|(_, dst)| **dst != NONE) {
            let found = |lane: usize| {
                let (place, value) = (addresses[lane].wrapping_add(8 * e as u64), self.u64_at(dst, lane));
                let thread = self.warp.thread_of(lane);
                let is_it = |known: &&LocalPointer| (known.place, known.value) == (place, value);
                self.block.local_pointers.iter().find(is_it).filter(|known| known.thread != thread)
            };
            let lanes = good.filter(|lane| found(lane).is_some());
            let Some(&LocalPointer { thread, instr, .. }) = found(lanes.first() & 31) else { continue };
            if !lanes.is_empty() && self.is_dereferenced(spec.pc, dst) {
                self.record_mistake(spec.pc, lanes, MistakeDetails::LocalPointer { owner: thread, stored: instr });
            }
        }
    }

    /// Returns whether a later operation uses a register as part of an address, before it is overwritten.
    fn is_dereferenced(&self, pc: u32, register: i32) -> bool {
        let kernel = self.job.kernel;
        let mut carriers = vec![register];
        for (op, shape) in kernel.ops.iter().zip(&kernel.shapes).skip(pc as usize + 1) {
            let (mut is_address, mut carries) = (false, false);
            for_each_operand(&op.kind, shape.classes(), &mut |operand| {
                if operand.class != Class::Bits64 {
                    return;
                }
                let known = carriers.iter().position(|carrier| *carrier == operand.src);
                match operand.role {
                    Role::Use(Purpose::Address) => is_address |= known.is_some(),
                    Role::Use(_) => carries |= known.is_some(),
                    Role::Def if carries => carriers.push(operand.src),
                    Role::Def | Role::EarlyDef => {
                        known.map(|known| carriers.swap_remove(known));
                    }
                }
            });
            if is_address {
                return true;
            }
        }
        false
    }
}

//! Finding the memory of a warp-wide access, with checks and counters on the way.

use crate::check::AccessKind;
use crate::lane_mask::LaneMask;
use crate::program::{MemSpace, RANK_SHIFT, window};

use crate::exec::memo::Home;
use crate::exec::memory::access_spec::{AccessSpec, Located, addresses, place};
use crate::exec::{memory::per_lane, run_mode::RunMode, worker::Worker};

impl<'j> Worker<'j> {
    /// Finds the memory of the `active` lanes (not none).
    #[inline(always)]
    pub(crate) fn locate<M: RunMode>(&mut self, spec: &AccessSpec<'_>, active: LaneMask) -> Located {
        let m = &mut self.access.memos[spec.memo];
        // SAFETY: operands are in range, as `decode::passes::validate` has established.
        let source = unsafe { self.warp.lanes.source(spec.addr.src) };
        // SAFETY: `source` is the line of an operand, of the width that `wide` says.
        if !unsafe { m.repeats(source, spec.addr.wide, active) } && !self.learn(spec, active) {
            return Located::Far(per_lane::locate(self, spec, active));
        }
        let m = &mut self.access.memos[spec.memo];
        let first = m.first as usize & 31;
        // SAFETY: `source` is the line of an operand, of the width that `wide` says; `first` is below 32.
        let value = unsafe {
            if spec.addr.wide { *source.cast::<u64>().add(first) } else { u64::from(*source.cast::<u32>().add(first)) }
        };
        let base = place(spec.addr, spec.bias(), value);
        if !m.reaches(base, spec.bytes) && !self.find(spec, base) {
            return Located::Far(per_lane::locate(self, spec, active));
        }
        let m = &mut self.access.memos[spec.memo];
        let host = match m.home {
            Home::Local => self.local_place(spec, base),
            _ => m.host.wrapping_add(base as usize),
        };
        if M::checks(self) {
            match self.access.memos[spec.memo].home {
                Home::Shared => self.check_shared(spec, base),
                Home::Global => self.check_global(spec, base, host),
                Home::Local => self.check_local(spec, base),
                Home::Param | Home::Nowhere => {}
            }
        }
        if M::counts(self) {
            let m = &mut self.access.memos[spec.memo];
            match m.home {
                Home::Shared => m.count_shared(base),
                Home::Global => m.count_global(base),
                Home::Local => {
                    m.tally.local_requests += 1;
                    m.tally.local_lanes += u64::from(active.count());
                }
                Home::Param | Home::Nowhere => m.tally.constant_requests += 1,
            }
        }
        Located::Near(host)
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, spec: &AccessSpec<'_>, active: LaneMask) -> bool {
        let addresses = addresses(&self.warp.lanes, spec.addr, spec.bias());
        self.access.serial += 1;
        self.access.memos[spec.memo].learn(&addresses, active, self.access.serial, self.job.check_level.checks())
    }

    /// Looks up where an access lies. Returns whether it is all in one allocation, and allowed.
    #[cold]
    #[inline(never)]
    fn find(&mut self, spec: &AccessSpec<'_>, base: u64) -> bool {
        let job = self.job;
        let m = &mut self.access.memos[spec.memo];
        let start = base.wrapping_add(m.low as u64);
        let space = match spec.space {
            MemSpace::Generic if start >= window::SHARED => match start >> window::BITS {
                w if w == window::SHARED >> window::BITS => MemSpace::Shared,
                w if w == window::PARAM >> window::BITS => MemSpace::Param,
                w if w == window::LOCAL >> window::BITS => MemSpace::Local,
                _ => return false,
            },
            MemSpace::Generic | MemSpace::Const => MemSpace::Global,
            other => other,
        };
        let writes = spec.kind != AccessKind::Read;
        match space {
            MemSpace::Shared => {
                // The block's rank is above the offsets in its own shared memory.
                let own = window::SHARED + (u64::from(self.block.rank) << RANK_SHIFT);
                let Some((from, to)) = start.checked_sub(own).and_then(|o| self.block.shared_range(job, o)) else {
                    return false;
                };
                m.from = own + u64::from(from);
                m.len = u64::from(to - from);
                m.host = self.block.shared_start().wrapping_sub(own as usize);
                m.home = Home::Shared;
                m.allocation = None;
            }
            MemSpace::Global => {
                let Some(allocation) = job.table.live(start) else { return false };
                if writes && allocation.origin.read_only {
                    return false;
                }
                if writes && !job.check_level.checks() {
                    // What an unchecked launch writes is not marked: a later check must not complain of it.
                    allocation.bytes.trust();
                }
                m.from = allocation.base;
                m.len = allocation.bytes.len() as u64;
                m.host = allocation.bytes.start().wrapping_sub(allocation.base as usize);
                m.home = if spec.space == MemSpace::Const { Home::Param } else { Home::Global };
                m.allocation = Some(allocation);
            }
            MemSpace::Local => {
                let each = crate::exec::block::local_stride(job) as i32;
                let first = m.first as usize & 31;
                let ways = m.local.iter_mut().zip(&m.delta).enumerate();
                ways.for_each(|(lane, (way, delta))| {
                    *way = delta.wrapping_add((lane as i32 - first as i32).wrapping_mul(each))
                });
                m.from = window::LOCAL;
                m.len = job.local_bytes.into();
                m.home = Home::Local;
                m.allocation = None;
            }
            MemSpace::Param if !writes => {
                m.from = window::PARAM;
                m.len = job.params.len() as u64;
                m.host = job.params.as_ptr().cast_mut().wrapping_sub(window::PARAM as usize);
                m.home = Home::Param;
                m.allocation = None;
            }
            _ => return false,
        }
        m.reaches(base, spec.bytes)
    }

    /// Returns the host address of the first active lane's local memory.
    #[inline(never)]
    fn local_place(&mut self, spec: &AccessSpec<'_>, base: u64) -> *mut u8 {
        let first = self.access.memos[spec.memo].first as usize & 31;
        let offset = self.local_offset(first) + (base - window::LOCAL) as usize;
        self.block.local_start().wrapping_add(offset)
    }
}

impl crate::exec::memo::Memo<'_> {
    /// Returns whether an access at `base` is aligned and lies in the memory of the last one.
    #[inline(always)]
    fn reaches(&self, base: u64, bytes: u32) -> bool {
        let offset = base.wrapping_add(self.low as u64).wrapping_sub(self.from);
        let aligned = (base | self.align) & (u64::from(bytes) - 1) == 0;
        offset <= self.len && self.span <= self.len - offset && aligned
    }
}

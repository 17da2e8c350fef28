//! Finding the memory of a warp-wide access, with checks and counters on the way.

use crate::{check::AccessKind, lane_mask::LaneMask};
use program::{MemSpace, RANK_SHIFT, window};

use crate::exec::memo::Home;
use crate::exec::memory::access_spec::{AccessSpec, addresses, place};
use crate::exec::memory::load_store::{LaneAddresses, LaneLayout, Located, Near};
use crate::exec::{memory::per_lane, run_mode::RunMode, worker::Worker};

impl<'j> Worker<'j> {
    /// Finds the memory of the `active` lanes (not none). `make_spec` makes operands only where they are needed.
    #[inline(always)]
    pub(crate) fn locate<'s, M: RunMode>(
        &mut self, make_spec: impl Fn() -> AccessSpec<'s>, active: LaneMask,
    ) -> Located {
        let spec = make_spec();
        let counts = M::counts(self);
        let memo = &self.access.memos[spec.memo];
        // SAFETY: operands are in range, as `decode::passes::validate` has established, and `wide` is that of `source`.
        let first = unsafe { memo.repeats(self.warp.lanes.source(spec.addr.src), spec.addr.wide, active) };
        let known = first.map(|value| place(spec.addr, spec.bias(), value));
        let base = match known {
            Some(base) if memo.reaches(base, spec.bytes) => base,
            _ => match self.look_up(make_spec(), active, known) {
                Some(base) => base,
                None => {
                    let lanes = per_lane::locate(self, make_spec(), active);
                    let addresses = LaneAddresses::Far(self.access.pointers.as_ptr());
                    return Located { lanes, addresses, layout: LaneLayout::GATHER };
                }
            },
        };
        let memo = &mut self.access.memos[spec.memo];
        let home = memo.home;
        if counts {
            match home {
                Home::Shared => memo.count_shared(base),
                Home::Global => memo.count_global(base),
                Home::Local => {
                    memo.tally.local_requests += 1;
                    memo.tally.local_lanes += u64::from(active.count());
                }
                Home::Param | Home::Nowhere => memo.tally.constant_requests += 1,
            }
        }
        let (mut host, mut delta) = (memo.host.wrapping_add(base as usize), memo.delta.as_ptr());
        let mut layout = LaneLayout { spread: memo.spread, halves: memo.halves };
        if home == Home::Local {
            delta = memo.local.as_ptr();
            host = self.local_place(make_spec(), base);
            layout = LaneLayout::GATHER;
        }
        if M::checks(self) {
            match home {
                Home::Shared => self.check_shared(make_spec(), base),
                Home::Global => self.check_global(make_spec(), base, host),
                Home::Local => self.check_local(make_spec(), base),
                Home::Param | Home::Nowhere => {}
            }
        }
        Located { lanes: active, addresses: LaneAddresses::Near(Near { host, delta }), layout }
    }

    /// Learns the pattern of an access, unless `known` is the address of its first lane in the pattern that the memo
    /// has, and looks up where it lies. Returns that address, or `None` without a pattern, one allocation, and
    /// permission.
    #[cold]
    #[inline(never)]
    fn look_up(&mut self, spec: AccessSpec<'_>, active: LaneMask, known: Option<u64>) -> Option<u64> {
        let memo = &mut self.access.memos[spec.memo];
        let base = match known {
            Some(base) => base,
            None => {
                let addresses = addresses(&self.warp.lanes, spec.addr, spec.bias());
                self.access.serial += 1;
                if !memo.learn(&addresses, active, self.access.serial, self.job.check_level.checks()) {
                    return None;
                }
                addresses[memo.first as usize & 31]
            }
        };
        (memo.reaches(base, spec.bytes) || self.find(spec, base)).then_some(base)
    }

    /// Looks up where an access lies. Returns whether it is all in one allocation, and allowed.
    fn find(&mut self, spec: AccessSpec<'_>, base: u64) -> bool {
        let job = self.job;
        let memo = &mut self.access.memos[spec.memo];
        let start = base.wrapping_add(memo.low as u64);
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
                memo.from = own + u64::from(from);
                memo.len = u64::from(to - from);
                memo.host = self.block.shared_start().wrapping_sub(own as usize);
                memo.home = Home::Shared;
                memo.allocation = None;
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
                memo.from = allocation.base;
                memo.len = allocation.bytes.len() as u64;
                memo.host = allocation.bytes.start().wrapping_sub(allocation.base as usize);
                memo.home = if spec.space == MemSpace::Const { Home::Param } else { Home::Global };
                memo.allocation = Some(allocation);
            }
            MemSpace::Local => {
                let each = crate::exec::block::local_stride(job) as i32;
                let first = memo.first as usize & 31;
                let ways = memo.local.iter_mut().zip(&memo.delta).enumerate();
                ways.for_each(|(lane, (way, delta))| {
                    *way = delta.wrapping_add((lane as i32 - first as i32).wrapping_mul(each))
                });
                memo.from = window::LOCAL;
                memo.len = job.local_bytes.into();
                memo.home = Home::Local;
                memo.allocation = None;
            }
            MemSpace::Param if !writes => {
                memo.from = window::PARAM;
                memo.len = job.params.len() as u64;
                memo.host = job.params.as_ptr().cast_mut().wrapping_sub(window::PARAM as usize);
                memo.home = Home::Param;
                memo.allocation = None;
            }
            _ => return false,
        }
        memo.reaches(base, spec.bytes)
    }

    /// Returns the host address of the first active lane's local memory.
    #[inline(never)]
    fn local_place(&mut self, spec: AccessSpec<'_>, base: u64) -> *mut u8 {
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

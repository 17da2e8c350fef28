//! Records the steps of a warp for an observer.

use crate::trace::{Access, AsyncCopy, Event, Matrices, Step};
use crate::{lane_mask::LaneMask, memory::rules::Direction};
use program::{Addr, MemSpace, Op, OpKind, window};

use crate::exec::{memory::access_spec, worker::Worker};

/// Bytes of a row of `ldmatrix` and `stmatrix`.
const MATRIX_ROW: u32 = 16;

impl Worker<'_> {
    /// Passes the operation that the `active` lanes are about to execute to the observer, if it observes the warp.
    /// Returns whether the block goes on.
    #[cold]
    pub(crate) fn trace(&mut self, op: &Op, active: LaneMask) -> bool {
        let Some(observer) = self.job.environment.observer else { return true };
        if !observer.observes(self.block.index, self.warp.index) {
            return true;
        }
        if observer.is_done(self.block.index) {
            self.stopped = true;
            return false;
        }
        let access = match &op.kind {
            _ if active.is_empty() => None,
            OpKind::Load(a) => Some(self.reached(a.space, &a.addr, a.bytes(), Direction::Load, active)),
            OpKind::Store(a) => Some(self.reached(a.space, &a.addr, a.bytes(), Direction::Store, active)),
            OpKind::MatrixStore(a) => {
                let rows = active & LaneMask::from_bits(a.lanes());
                Some(self.reached(a.space, &a.addr, MATRIX_ROW, Direction::Store, rows))
            }
            OpKind::Atomic(a) => Some(self.reached(a.space, &a.addr, a.ty.bytes(), Direction::Store, active)),
            _ => None,
        };
        let copy = match &op.kind {
            OpKind::CpAsync { bytes, src, src_bytes, dst } if !active.is_empty() => {
                // A lane that reads no byte fills with zeros.
                let n = src_bytes.map_or([u32::from(*bytes); 32], |src_bytes| self.u32s(src_bytes));
                let readers = active.filter(|lane| n[lane] > 0);
                let bytes = u32::from(*bytes);
                let read = || self.reached(MemSpace::Global, src, bytes, Direction::Load, readers);
                let from = (!readers.is_empty()).then(read);
                let to = self.reached(MemSpace::Shared, dst, bytes, Direction::Store, active);
                Some(Box::new(AsyncCopy { from, to }))
            }
            _ => None,
        };
        let matrices = match &op.kind {
            OpKind::MatrixLoad(a) if !active.is_empty() => {
                let rows = self.reached(
                    a.space,
                    &a.addr,
                    MATRIX_ROW,
                    Direction::Load,
                    active & LaneMask::from_bits(a.lanes()),
                );
                Some(Box::new(Matrices { rows, transposed: a.transposed }))
            }
            _ => None,
        };
        let step = Step { instr: op.instr, first: op.first, lanes: active.bits(), access, copy, matrices };
        observer.step(self.block.index, self.warp.index, step);
        true
    }

    /// Passes an event of the running warp to the observer, if it observes the warp.
    pub(crate) fn observe(&self, instr: u32, event: impl FnOnce() -> Event) {
        if let Some(observer) = self.job.environment.observer
            && observer.observes(self.block.index, self.warp.index)
        {
            observer.event(self.block.index, self.warp.index, instr, event());
        }
    }

    fn reached(&self, space: MemSpace, addr: &Addr, bytes: u32, direction: Direction, active: LaneMask) -> Access {
        let addresses = access_spec::addresses(&self.warp.lanes, addr, space.window());
        let addresses = addresses.map(|address| self.seen_from_here(address));
        let first = addresses[active.first() & 31];
        let windows =
            [(window::SHARED, MemSpace::Shared), (window::LOCAL, MemSpace::Local), (window::PARAM, MemSpace::Param)];
        let own = windows.into_iter().find(|(start, _)| first >> window::BITS == start >> window::BITS);
        let (start, space) = match (own, space) {
            (Some(found), _) => found,
            (None, MemSpace::Generic) => (0, MemSpace::Global),
            (None, declared) => (0, declared),
        };
        let place = |lane: usize| active.contains(lane).then(|| addresses[lane].wrapping_sub(start));
        Access { space, direction, bytes, addresses: std::array::from_fn(place) }
    }
}

//! Operands of a memory operation, and the addresses of its lanes.

use crate::check::{AccessKind, race::AccessMark};
use arithmetic::lanes::{Lanes, WARP};
use program::{Access, Addr, MemSpace, Order};

#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessSpec<'a> {
    pub(crate) space: MemSpace,
    pub(crate) addr: &'a Addr,
    /// Bytes that each lane accesses.
    pub(crate) bytes: u32,
    pub(crate) kind: AccessKind,
    /// Memory order; [`Order::Strong`] for atomics.
    pub(crate) order: Order,
    /// For a store: where its values are.
    pub(crate) store: Option<&'a Access>,
    /// Position of the operation, and its memo.
    pub(crate) pc: u32,
    pub(crate) memo: usize,
}

impl<'a> AccessSpec<'a> {
    /// Creates the operands of a load or a store.
    #[inline(always)]
    pub(crate) fn of(a: &'a Access, kind: AccessKind, pc: u32, memo: usize) -> Self {
        Self {
            space: a.space,
            addr: &a.addr,
            bytes: a.bytes(),
            kind,
            order: a.order,
            store: (kind == AccessKind::Write).then_some(a),
            pc,
            memo,
        }
    }

    /// Creates the operands of an ordinary access whose values, if it stores any, are not available.
    pub(crate) fn weak(space: MemSpace, addr: &'a Addr, bytes: u32, kind: AccessKind, pc: u32, memo: usize) -> Self {
        Self { space, addr, bytes, kind, order: Order::Weak, store: None, pc, memo }
    }

    pub(crate) fn mark(&self) -> AccessMark {
        let excused = matches!(self.order, Order::Strong | Order::Guess);
        AccessMark::new(self.kind, excused)
    }

    /// Returns the sum that turns an address operand's value into a generic address.
    #[inline(always)]
    pub(crate) fn bias(&self) -> u64 {
        self.space.window()
    }
}

/// Returns an address operand's value as a generic address.
#[inline(always)]
pub(crate) fn place(addr: &Addr, bias: u64, value: u64) -> u64 {
    let sum = value.wrapping_add(addr.offset as u64);
    // 32-bit addresses wrap at 32 bits.
    if addr.wide { sum.wrapping_add(bias) } else { u64::from(sum as u32).wrapping_add(bias) }
}

/// Returns the address of each lane, offset included.
pub(crate) fn addresses(lanes: &Lanes, addr: &Addr, bias: u64) -> [u64; WARP] {
    // SAFETY: operands are in range, as `decode::passes::validate` has established.
    unsafe {
        let source = lanes.source(addr.src);
        if addr.wide {
            let values = &*source.cast::<[u64; WARP]>();
            std::array::from_fn(|lane| place(addr, bias, values[lane]))
        } else {
            std::array::from_fn(|lane| place(addr, bias, u64::from((*source).0[lane])))
        }
    }
}

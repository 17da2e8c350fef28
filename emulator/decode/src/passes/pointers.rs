//! Finds the pointer that an address was computed from: a parameter of the kernel or a variable of the module.
//!
//! Sound as long as no program computes an address in one allocation from one in another: a number added to a pointer
//! is taken for an index, and the sum still leads into the pointer's allocation.

use crate::passes::{InitialRegisters, constants::Constants};
use crate::virtual_op::{BitRule, VirtualOp, for_each_register};
use arithmetic::lanes::{Class, NONE, Src};
use program::{Addr, MemSpace, OpKind, Pointer, window};

/// Bound on the rounds of the search; programs that need more get no result.
const MAX_ROUNDS: usize = 16;

/// Value of a register at all of its reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PointerValue {
    Unset,
    Number(u64),
    /// An unchanged parameter of four bytes.
    Param(u32),
    /// A number that is not a pointer.
    Plain,
    /// An address past a pointer, and its distance.
    Behind(Pointer, Option<i64>),
    /// Any value, addresses included.
    Unknown,
}
use PointerValue::{Behind, Number, Param, Plain, Unknown, Unset};

impl PointerValue {
    /// Turns a number that is a variable's address into a pointer.
    fn resolved(self) -> PointerValue {
        match self {
            Number(address) if address >> window::BITS != 0 && address as i64 > 0 => {
                Behind(Pointer::Window(address >> window::BITS), Some((address & ((1 << window::BITS) - 1)) as i64))
            }
            other => other,
        }
    }

    fn or(self, other: PointerValue) -> PointerValue {
        match (self, other) {
            (Unset, x) | (x, Unset) => x,
            (a, b) if a == b => a,
            (a, b) => match (a.resolved(), b.resolved()) {
                (Behind(p, _), Behind(q, _)) if p == q => Behind(p, None),
                (Number(_) | Param(_) | Plain, Number(_) | Param(_) | Plain) => Plain,
                _ => Unknown,
            },
        }
    }

    fn plus(self, other: PointerValue) -> PointerValue {
        match (self, other) {
            (Unset, _) | (_, Unset) => Unset,
            (Number(a), Number(b)) => Number(a.wrapping_add(b)),
            (a, b) => match (a.resolved(), b.resolved()) {
                (Behind(p, at), Number(n)) | (Number(n), Behind(p, at)) => {
                    Behind(p, at.and_then(|at| at.checked_add(n as i64)))
                }
                (Behind(p, _), Param(_) | Plain) | (Param(_) | Plain, Behind(p, _)) => Behind(p, None),
                (Number(_) | Param(_) | Plain, Number(_) | Param(_) | Plain) => Plain,
                _ => Unknown,
            },
        }
    }

    fn minus(self, other: PointerValue) -> PointerValue {
        match (self, other.resolved()) {
            (Unset, _) | (_, Unset) => Unset,
            (a, Number(n)) => a.plus(Number(n.wrapping_neg())),
            (a, Param(_) | Plain) => a.plus(Plain),
            _ => Unknown,
        }
    }

    /// Returns the product with a number. What looked like a pointer was then a size.
    fn scaled(self) -> PointerValue {
        match self {
            Unset | Unknown => self,
            _ => Plain,
        }
    }

    fn is_plain(self) -> bool {
        matches!(self.resolved(), Number(_) | Param(_) | Plain)
    }
}

/// A 32-bit value that is the same for all threads of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UniformValue {
    Number(u32),
    /// The kernel parameter at an offset.
    Param(u32),
}

/// Values of all registers of a kernel, as far as they are pointers or numbers.
pub(crate) struct Pointers<'a> {
    constants: &'a Constants,
    values: Vec<PointerValue>,
}

impl<'a> Pointers<'a> {
    pub(crate) fn new(ops: &[VirtualOp], registers: InitialRegisters<'a>) -> Pointers<'a> {
        // A register without writes is 0.
        let mut values = vec![Number(0); registers.n];
        for op in ops {
            for_each_register(op, &mut |register, _, role| {
                if !role.is_use() {
                    values[register as usize] = Unset;
                }
            });
        }
        for &register in registers.preset {
            values[register as usize] = Plain;
        }
        let mut pointers = Pointers { constants: registers.constants, values };
        for _ in 0..MAX_ROUNDS {
            if !pointers.round(ops) {
                return pointers;
            }
        }
        pointers.values.fill(Unknown);
        pointers
    }

    /// Updates the values written by each op once, and returns whether one changed.
    fn round(&mut self, ops: &[VirtualOp]) -> bool {
        let mut changed = false;
        for op in ops {
            let result = self.result(op);
            let param = self.param(op);
            let mut element = 0;
            for_each_register(op, &mut |register, _, role| {
                if role.is_use() {
                    return;
                }
                let new = match param {
                    Some((offset, 8)) => Behind(Pointer::Param(offset + 8 * element), Some(0)),
                    Some((offset, 4)) => Param(offset + 4 * element),
                    _ => result,
                };
                element += 1;
                let known = &mut self.values[register as usize];
                let joined = known.or(new);
                changed |= joined != *known;
                *known = joined;
            });
        }
        changed
    }

    /// Returns the offset and element size of a gapless load of parameters.
    fn param(&self, op: &VirtualOp) -> Option<(u32, u8)> {
        let OpKind::Load(access) = &op.kind else { return None };
        let whole = !access.regs[..usize::from(access.n)].contains(&NONE);
        if access.space != MemSpace::Param || access.addr.src >= 0 || !whole {
            return None;
        }
        let base = i64::from(self.constants.value32(access.addr.src)?);
        let offset = u32::try_from(base.checked_add(access.addr.offset)?).ok()?;
        offset.checked_add(64)?;
        Some((offset, access.element))
    }

    fn source(&self, src: Src, class: Class) -> PointerValue {
        match (src >= 0, class) {
            (true, _) => self.values[src as usize],
            (false, Class::Bits64) => self.constants.value64(src).map_or(Unknown, Number),
            (false, _) => self.constants.value32(src).map_or(Unknown, |v| Number(u64::from(v))),
        }
    }

    fn result(&self, op: &VirtualOp) -> PointerValue {
        let OpKind::Alu { args, .. } = &op.kind else { return Plain };
        let classes = op.classes.srcs;
        let value = |i: usize| classes.get(i).map_or(Unknown, |&c| self.source(args.src[i], c));
        if op.classes.dst != Class::Bits64 {
            // No address fits in 32 bits; only uniformity matters.
            return match (op.rule, op.moves, classes) {
                (BitRule::Same, true, [Class::Bits32]) => value(0),
                _ => Plain,
            };
        }
        match op.rule {
            BitRule::Same if classes == [Class::Bits64] => value(0),
            BitRule::Sum => value(0).plus(value(1)),
            BitRule::Difference => value(0).minus(value(1)),
            BitRule::Product | BitRule::ShiftLeft => match value(0).scaled() {
                Plain if classes.get(1) == Some(&Class::Bits64) => value(1).scaled(),
                first => first,
            },
            BitRule::ProductSum => match (value(0).scaled(), value(1).scaled()) {
                (Plain, Plain) => value(2).plus(Plain),
                (Unset, _) | (_, Unset) => Unset,
                _ => Unknown,
            },
            BitRule::Either if classes.len() == 3 || classes.len() == 2 => match (value(0), value(1)) {
                (Unset, _) | (_, Unset) => Unset,
                (a, b) if a.is_plain() && b.is_plain() => Plain,
                (a, b) if a == b => a,
                (a, b) => match a.or(b) {
                    Behind(p, _) => Behind(p, None),
                    _ => Unknown,
                },
            },
            _ => {
                let wide = (0..classes.len()).filter(|&i| classes[i] == Class::Bits64);
                let values = || wide.clone().map(value);
                if values().any(|v| v == Unset) {
                    Unset
                } else if values().all(PointerValue::is_plain) {
                    Plain
                } else {
                    Unknown
                }
            }
        }
    }

    /// Returns the pointer from which an address was computed, and the distance from it.
    pub(crate) fn place(&self, addr: &Addr) -> Option<(Pointer, Option<i64>)> {
        if !addr.wide {
            return None;
        }
        let value = match self.source(addr.src, Class::Bits64) {
            Unset => Number(0),
            value => value,
        };
        match value.plus(Number(addr.offset as u64)).resolved() {
            Behind(pointer, at) => Some((pointer, at)),
            _ => None,
        }
    }

    pub(crate) fn uniform_value(&self, src: Src) -> Option<UniformValue> {
        match self.source(src, Class::Bits32) {
            Unset => Some(UniformValue::Number(0)),
            Number(value) => Some(UniformValue::Number(value as u32)),
            Param(offset) => Some(UniformValue::Param(offset)),
            _ => None,
        }
    }
}

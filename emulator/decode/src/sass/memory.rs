//! Loads, stores, atomics, copies.

use ptx::ast::Type;
use sass::Segment;
use sass::instruction::{Address, Constant, Index, Register, Uniform, Value};
use sass::operation::Modifier;

use super::{SassLowering, operand::LineId, operand::PARAMETERS};
use crate::{error::Result, virtual_op::VirtualOp};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, NONE, Src};
use program::{Access, Addr, Atomic, AtomicKind, MemSpace, OpKind, Order};

/// Bits of an address in a constant bank: the upper half of a bank has negative offsets.
const BANK_MASK: u32 = 0xffff;

impl SassLowering<'_> {
    /// Returns the `nth` address among the operands.
    pub(super) fn memory(&self, nth: usize) -> Result<Address> {
        let mut all = self.instruction.operands.iter().filter_map(|operand| match operand.value {
            Value::Memory(address) => Some(address),
            _ => None,
        });
        all.nth(nth).ok_or_else(|| self.unsupported())
    }

    pub(super) fn shared_address(&mut self) -> Result<Addr> {
        let address = self.memory(0)?;
        self.address(address, MemSpace::Shared)
    }

    /// Lowers an address in a space: of 32 bits in shared and local memory, else of 64.
    fn address(&mut self, address: Address, space: MemSpace) -> Result<Addr> {
        let offset = i64::from(address.offset);
        let zero = address.base == Register::ZERO;
        if matches!(space, MemSpace::Shared | MemSpace::Local) {
            let mut src = (!zero).then(|| self.line(LineId::Lane(address.base.0)) as Src);
            if address.scale > 1
                && let Some(base) = src
            {
                let amount = self.number(address.scale.trailing_zeros())?;
                src = Some(self.compute("shl", &["b32"], &[base, amount])?);
            }
            if let Some(Uniform(number)) = address.uniform.filter(|&register| register != Uniform::ZERO) {
                let more = self.line(LineId::Warp(number)) as Src;
                src = Some(match src {
                    Some(base) => self.value(self.builtin(Builtin::Add32), &[base, more])?,
                    None => more,
                });
            }
            let src = src.map_or_else(|| self.number(0), Ok)?;
            return Ok(Addr { src, wide: false, offset });
        }
        refuse_if!(address.scale > 1, self.unsupported());
        let mut src = match (zero, address.wide) {
            (true, _) => None,
            (false, true) => Some(self.wide_value(Value::Register(address.base))?),
            (false, false) => {
                let base = self.line(LineId::Lane(address.base.0)) as Src;
                Some(self.value(self.builtin(Builtin::Zext64(32)), &[base])?)
            }
        };
        if let Some(uniform) = address.uniform.filter(|&register| register != Uniform::ZERO) {
            let more = self.wide_value(Value::Uniform(uniform))?;
            src = Some(match src {
                Some(base) => self.value(self.builtin(Builtin::Add64), &[base, more])?,
                None => more,
            });
        }
        let src = src.map_or_else(|| self.wide_number(0), Ok)?;
        Ok(Addr { src, wide: true, offset })
    }

    /// Takes the type of an element and the number of elements; words have no sign.
    fn elements(&mut self) -> (Type, u8) {
        let sizes = [
            (Modifier::U8, (Type::U8, 1)),
            (Modifier::S8, (Type::S8, 1)),
            (Modifier::U16, (Type::U16, 1)),
            (Modifier::S16, (Type::S16, 1)),
            (Modifier::W64, (Type::U32, 2)),
            (Modifier::W128, (Type::U32, 4)),
        ];
        self.take_choice(&sizes).unwrap_or((Type::U32, 1))
    }

    fn order(&mut self) -> Order {
        if self.take_modifier(Modifier::Strong) || self.take_modifier(Modifier::Mmio) {
            Order::Strong
        } else {
            Order::Weak
        }
    }

    /// Lowers `LDG`, `LD`, `LDS`, `LDL`.
    pub(super) fn load(&mut self, space: MemSpace) -> Result<()> {
        let address = self.memory(0)?;
        let addr = self.address(address, space)?;
        let order = self.order();
        self.load_from(space, addr, order)
    }

    fn load_from(&mut self, space: MemSpace, mut addr: Addr, order: Order) -> Result<()> {
        let (ty, n) = self.elements();
        let element = ty.bytes() as u8;
        self.note_width(space, element);
        let mut regs = [NONE; 8];
        let wanted = self.destination().is_some();
        for at in 0..n {
            let dst = self.dst_word(at)? as i32;
            regs[usize::from(at)] = if wanted { dst } else { NONE };
        }
        // Loads write while the address is still needed.
        if !addr.wide && regs.contains(&addr.src) {
            addr.src = self.value(self.builtin(Builtin::Mov32), &[addr.src])?;
        }
        let access = Access::new(space, addr, element, &regs[..n.into()]);
        let signed = matches!(ty, Type::S8 | Type::S16);
        self.emit(OpKind::Load(Box::new(Access { signed, order, ..access })))
    }

    /// Lowers `STG`, `ST`, `STS`, `STL`.
    pub(super) fn store(&mut self, space: MemSpace) -> Result<()> {
        let address = self.memory(0)?;
        let addr = self.address(address, space)?;
        let (ty, n) = self.elements();
        let element = ty.bytes() as u8;
        self.note_width(space, element);
        let last = self.instruction.sources().len().checked_sub(1);
        let value = last.and_then(|last| self.take_source(last)).map(|operand| operand.value);
        let mut regs = [NONE; 8];
        for at in 0..n {
            regs[usize::from(at)] = match value {
                Some(Value::Register(Register::ZERO)) => self.number(0)?,
                Some(Value::Register(Register(number))) => self.line(LineId::Lane(number).next(at)) as Src,
                _ => return Err(self.unsupported()),
            };
        }
        let access = Access::new(space, addr, element, &regs[..n.into()]);
        let order = self.order();
        self.emit(OpKind::Store(Box::new(Access { order, ..access })))
    }

    /// Lowers `LDC`, `ULDC`. A known offset reads a register that is there already.
    pub(super) fn load_constant(&mut self) -> Result<()> {
        let constant = self.take_first_source(|value| match value {
            Value::Constant(constant) => Some(constant),
            _ => None,
        })?;
        let (ty, n) = self.elements();
        let known =
            matches!(constant.index, Index::None | Index::Register(Register::ZERO) | Index::Uniform(Uniform::ZERO));
        if known && constant.bank != 3 {
            let offset = constant.offset as u32 & BANK_MASK;
            if ty == Type::U32 {
                for at in 0..n {
                    let word = self.word_of_bank(constant.bank, offset + 4 * u32::from(at))?;
                    let dst = self.dst_word(at)?;
                    self.result(self.builtin(Builtin::Mov32), dst, &[word])?;
                }
                return Ok(());
            }
            let word = self.word_of_bank(constant.bank, offset & !3)?;
            let position = self.number(8 * (offset & 3))?;
            let length = self.number(8 * ty.bytes())?;
            let dst = self.dst()?;
            let sign = if matches!(ty, Type::S8 | Type::S16) { "s32" } else { "u32" };
            let function = self.ptx("bfe", &[sign])?;
            return self.result(function, dst, &[word, position, length]);
        }
        let addr = self.constant_address(constant)?;
        let space = if addr.wide { MemSpace::Const } else { MemSpace::Param };
        self.load_from(space, addr, Order::Weak)
    }

    fn constant_address(&mut self, constant: Constant) -> Result<Addr> {
        let index = match constant.index {
            Index::None => None,
            Index::Register(Register(number)) => Some(LineId::Lane(number)),
            Index::Uniform(Uniform(number)) => Some(LineId::Warp(number)),
        };
        let zero = index.is_none() || index == Some(LineId::Lane(Register::ZERO.0));
        let src = match index {
            Some(line) if !zero => self.line(line) as Src,
            _ => self.number(0)?,
        };
        if constant.bank == 0 {
            return Ok(Addr { src, wide: false, offset: i64::from(constant.offset) - i64::from(PARAMETERS) });
        }
        let start = match constant.bank {
            2 => self.segments.fixed.get(&Segment::Tables(self.number)).copied(),
            3 => self.segments.constants,
            4 => self.segments.fixed.get(&Segment::Addresses).copied(),
            _ => None,
        };
        let start = start.ok_or_else(|| self.unsupported())?;
        if zero {
            let src = self.wide_number(start)?;
            return Ok(Addr { src, wide: true, offset: (constant.offset as u32 & BANK_MASK).into() });
        }
        let offset = self.number(constant.offset as u32)?;
        let mut index = self.compute("add", &["u32"], &[src, offset])?;
        if constant.offset < 0 {
            let mask = self.number(BANK_MASK)?;
            index = self.compute("and", &["b32"], &[index, mask])?;
        }
        let index = self.value(self.builtin(Builtin::Zext64(32)), &[index])?;
        let start = self.wide_number(start)?;
        let src = self.value(self.builtin(Builtin::Add64), &[start, index])?;
        Ok(Addr { src, wide: true, offset: 0 })
    }

    /// Loads four bytes of the program's constants, which the host may change after loading.
    pub(super) fn word_of_constants(&mut self, offset: u32) -> Result<Src> {
        let start = self.segments.constants.ok_or_else(|| self.unsupported())?;
        let src = self.wide_number(start)?;
        let dst = self.registers.fresh(Class::Bits32) as i32;
        let addr = Addr { src, wide: true, offset: offset.into() };
        let load = OpKind::Load(Box::new(Access::new(MemSpace::Const, addr, 4, &[dst])));
        let op = self.attach(VirtualOp::new(load), false);
        self.push(op)?;
        Ok(dst)
    }

    /// Lowers `LDGSTS`: an asynchronous copy from global to shared memory.
    pub(super) fn copy(&mut self) -> Result<()> {
        let (to, from) = (self.memory(0)?, self.memory(1)?);
        let (dst, src) = (self.address(to, MemSpace::Shared)?, self.address(from, MemSpace::Global)?);
        let (ty, n) = self.elements();
        let instruction = self.instruction;
        let condition = instruction.sources().iter().enumerate().find_map(|(at, operand)| {
            let other = matches!(operand.value, Value::Predicate(_)) && self.known_predicate(at) != Ok(Some(true));
            other.then_some(at)
        });
        let bytes = 4 * n;
        refuse_if!(ty != Type::U32, self.unsupported());
        let (src, src_bytes) = match (self.take_modifier(Modifier::Zfill), condition) {
            (true, condition) => {
                let (src, src_bytes) = self.filled(src, bytes, condition)?;
                (src, Some(src_bytes))
            }
            (false, None) => (src, None),
            // Where the condition is false, nothing is read, and zeros are written.
            (false, Some(at)) => {
                let (all, none) = (self.number(bytes.into())?, self.number(0)?);
                let condition = self.predicate(at)?;
                (src, Some(self.compute("selp", &["b32"], &[all, none, condition])?))
            }
        };
        self.emit(OpKind::CpAsync { dst, src, bytes, src_bytes })
    }

    /// Computes the source and size of a copy whose source may be shorter than its destination: the lowest bits of the
    /// address give the number of missing bytes, all with a false condition. Zeros take their place.
    fn filled(&mut self, src: Addr, bytes: u8, condition: Option<usize>) -> Result<(Addr, Src)> {
        let offset = self.wide_number(src.offset as u64)?;
        let address = self.value(self.builtin(Builtin::Add64), &[src.src, offset])?;
        let low = self.value(self.builtin(Builtin::Lo32Of64), &[address])?;
        let most = self.number(u32::from(bytes) - 1)?;
        let missing = self.compute("and", &["b32"], &[low, most])?;
        let (all, none) = (self.number(bytes.into())?, self.number(0)?);
        let mut n = self.compute("sub", &["u32"], &[all, missing])?;
        if let Some(at) = condition {
            let condition = self.predicate(at)?;
            n = self.compute("selp", &["b32"], &[n, none, condition])?;
        }
        let mask = self.wide_number(!(u64::from(bytes) - 1))?;
        let start = self.compute("and", &["b64"], &[address, mask])?;
        let src = Addr { src: start, offset: 0, ..src };
        Ok((src, n))
    }

    /// Lowers `ATOMG`, `ATOM`, `ATOMS`, `REDG`.
    pub(super) fn atomic(&mut self, space: MemSpace) -> Result<()> {
        let kinds = [
            (Modifier::Add, AtomicKind::Add),
            (Modifier::Min, AtomicKind::Min),
            (Modifier::Max, AtomicKind::Max),
            (Modifier::Inc, AtomicKind::Inc),
            (Modifier::Dec, AtomicKind::Dec),
            (Modifier::And, AtomicKind::And),
            (Modifier::Or, AtomicKind::Or),
            (Modifier::Xor, AtomicKind::Xor),
            (Modifier::Exch, AtomicKind::Exch),
            (Modifier::Cas, AtomicKind::Cas),
        ];
        let counts = self.take_modifier(Modifier::Popc);
        let kind = self.take_choice(&kinds);
        // `CAST` swaps if memory holds the expected value, and returns a predicate.
        let swaps_if_equal = self.take_modifier(Modifier::Cast);
        let kind = kind.or(swaps_if_equal.then_some(AtomicKind::Cas)).ok_or_else(|| self.unsupported())?;
        // `POPC.INC`: each lane adds 1.
        let kind = if counts { AtomicKind::Add } else { kind };
        let types = [
            (Modifier::F32, Type::F32),
            (Modifier::F64, Type::F64),
            (Modifier::F16x2, Type::F16x2),
            (Modifier::Bf16x2, Type::Bf16x2),
            (Modifier::S32, Type::S32),
            (Modifier::S64, Type::S64),
            (Modifier::U64, Type::U64),
            (Modifier::W64, Type::U64),
        ];
        let ty = self.take_choice(&types).unwrap_or(Type::U32);
        let address = self.memory(0)?;
        let addr = self.address(address, space)?;
        self.note_width(space, ty.bytes() as u8);
        let wide = ty.bytes() == 8;
        let values: Vec<Value> = (0..self.instruction.sources().len())
            .filter_map(|at| self.take_source(at))
            .map(|operand| operand.value)
            .filter(|value| matches!(value, Value::Register(_) | Value::Uniform(_)))
            .collect();
        let mut src = [NONE; 2];
        for (place, value) in src.iter_mut().zip(&values) {
            *place = match (wide, *value) {
                (true, value) => self.wide_value(value)?,
                (false, Value::Register(Register::ZERO)) => self.number(0)?,
                (false, Value::Register(Register(number))) => self.line(LineId::Lane(number)) as Src,
                _ => return Err(self.unsupported()),
            };
        }
        if counts {
            src[0] = self.number(1)?;
        }
        let n = if kind == AtomicKind::Cas { 2 } else { 1 };
        refuse_if!(values.len() + usize::from(counts) != n, self.unsupported());
        let returns = self.destination().is_some();
        let class = Class::of_width(wide);
        let dst = returns.then(|| self.registers.fresh(class));
        self.emit(OpKind::Atomic(Box::new(Atomic { space, addr, kind, ty, src, dst, returns })))?;
        let Some(dst) = dst else { return Ok(()) };
        let mut result = dst as Src;
        if swaps_if_equal {
            let ty = if wide { "u64" } else { "u32" };
            let same = self.compute("setp", &["eq", ty], &[result, src[0]])?;
            let (one, zero) = (self.number(1)?, self.number(0)?);
            result = self.compute("selp", &["b32"], &[one, zero, same])?;
            if wide {
                result = self.value(self.builtin(Builtin::Zext64(32)), &[result])?;
            }
        }
        if wide { self.wide_write(result) } else { self.write_line(result) }
    }

    /// Records the narrowest access, which decides the unit of race checks.
    fn note_width(&mut self, space: MemSpace, element: u8) {
        self.shared_subword |= element < 4 && matches!(space, MemSpace::Shared | MemSpace::Generic);
    }
}

//! Asynchronous copies, barriers in shared memory, warpgroups, clusters, dependent launches.

use sass::instruction::{Register, Uniform, Value};
use sass::operation::{Modifier, Operation};

use super::{SassLowering, operand::LineId};
use crate::error::Result;
use crate::virtual_op::{FALSE, TRUE};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Dst, NONE, Src};
use arithmetic::products::{AccumulatorType, FactorType};
use program::{A_REGISTERS, TOKEN_PENDING, TensorCopy, TensorWay, Wgmma, WgmmaA};
use program::{Addr, BulkBytes, Mbarrier, MbarrierKind, MemSpace, OpKind, PendingCopies};

/// One more than the arrivals that a barrier can wait for. Its state holds this number less the pending arrivals.
const ARRIVALS: u32 = 1 << 20;
/// Position of the pending arrivals in the upper word of a state; the parity of the phase is above them.
const PENDING: u32 = 11;
const PARITY: u32 = 31;

impl SassLowering<'_> {
    /// Returns the uniform register in the brackets of the `nth` address.
    fn uniform_address(&self, nth: usize) -> Result<Value> {
        let uniform = self.memory(nth)?.uniform.ok_or_else(|| self.unsupported())?;
        Ok(Value::Uniform(uniform))
    }

    fn shared_word(&mut self, value: Value, n: u8) -> Result<Addr> {
        Ok(Addr { src: self.word(value, n)?, wide: false, offset: 0 })
    }

    fn wide_address(&mut self, value: Value) -> Result<Addr> {
        Ok(Addr { src: self.wide_value(value)?, wide: true, offset: 0 })
    }

    /// Takes the source that is a uniform register, and returns its halves: the first with zeros above it.
    fn halves_of_size(&mut self) -> Result<[Src; 2]> {
        let size = self.take_first_source(|value| matches!(value, Value::Uniform(_)).then_some(value))?;
        let size = self.word(size, 0)?;
        let low = self.value(self.builtin(Builtin::Zext32(16)), &[size])?;
        let high = self.value(self.builtin(Builtin::Hi16Of32), &[size])?;
        Ok([low, high])
    }

    /// Lowers `UTMALDG`, `UTMASTG` and `UTMAPF`: a box between a tensor and shared memory, or into a cache.
    pub(super) fn tensor_copy(&mut self) -> Result<()> {
        let dimensions =
            [(Modifier::W1d, 1), (Modifier::W2d, 2), (Modifier::W3d, 3), (Modifier::W4d, 4), (Modifier::W5d, 5)];
        let dims = self.take_choice(&dimensions).ok_or_else(|| self.unsupported())?;
        let blocks = match self.take_modifier(Modifier::Multicast) {
            true => Some(self.halves_of_size()?[1]),
            false => None,
        };
        let (place, tensor) = (self.uniform_address(0)?, self.uniform_address(1)?);
        let shared = self.shared_word(place, 0)?;
        let (way, first) = match self.instruction.operation {
            Operation::Utmaldg => (TensorWay::Load(self.shared_word(place, 1)?), 2),
            Operation::Utmastg => (TensorWay::Store, 1),
            _ => (TensorWay::Prefetch, 0),
        };
        let mut at = [NONE; 5];
        for (n, coordinate) in (first..first + dims).zip(&mut at) {
            *coordinate = self.word(place, n)?;
        }
        let map = self.wide_address(tensor)?;
        self.once_for_the_warp()?;
        let map_space = MemSpace::Generic;
        self.emit(OpKind::TensorCopy(Box::new(TensorCopy { map, map_space, dims, at, shared, blocks, way })))
    }

    /// Lowers `UBLKCP`: neighbouring bytes; a register holds the number of pieces of 16, and blocks that get them.
    pub(super) fn bulk_copy(&mut self) -> Result<()> {
        let is_multicast = self.take_modifier(Modifier::Multicast);
        let spaces = self.take_all(&[(Modifier::S, MemSpace::Shared), (Modifier::G, MemSpace::Global)]);
        let [pieces, blocks] = self.halves_of_size()?;
        let four = self.number(4)?;
        let bytes = self.compute("shl", &["b32"], &[pieces, four])?;
        let (to, from) = (self.uniform_address(0)?, self.uniform_address(1)?);
        let within_cluster = spaces == [MemSpace::Shared; 2];
        let (shared, global, way) = match spaces[..] {
            [MemSpace::Shared, _] => {
                let source = if within_cluster { self.shared_word(from, 0)? } else { self.wide_address(from)? };
                (self.shared_word(to, 0)?, source, TensorWay::Load(self.shared_word(to, 1)?))
            }
            [MemSpace::Global, MemSpace::Shared] => {
                (self.shared_word(from, 0)?, self.wide_address(to)?, TensorWay::Store)
            }
            _ => return Err(self.unsupported()),
        };
        let blocks = is_multicast.then_some(blocks);
        self.once_for_the_warp()?;
        self.emit(OpKind::BulkBytes(Box::new(BulkBytes { shared, global, within_cluster, bytes, blocks, way })))
    }

    /// Lowers `DEPBAR`: one scoreboard counts the groups of both kinds of copies.
    pub(super) fn wait_for_groups(&mut self) -> Result<()> {
        let pending = self.immediate(1).unwrap_or(0);
        if !self.instruction.waits_for_groups() {
            return Ok(());
        }
        let [copies, bulk_copies] = self.ends_groups;
        if bulk_copies {
            self.emit(OpKind::BulkWait { pending })?;
        }
        if copies {
            self.emit(OpKind::CpAsyncWait { allowed: PendingCopies::Groups(pending) })?;
        }
        Ok(())
    }

    /// Lowers `SYNCS`: operations on a barrier in shared memory.
    pub(super) fn shared_barrier(&mut self) -> Result<()> {
        if self.take_modifier(Modifier::Exch) {
            self.init_barrier()
        } else if self.take_modifier(Modifier::Cctl) {
            self.ignore_modifier(Modifier::Iv);
            let addr = self.shared_address()?;
            self.once_for_the_warp()?;
            self.emit(OpKind::Mbarrier(Box::new(Mbarrier::new(MbarrierKind::Invalidate, MemSpace::Shared, addr))))
        } else if self.take_modifier(Modifier::Phasechk) {
            self.wait_for_phase()
        } else if self.take_modifier(Modifier::Arrive) {
            self.arrive()
        } else {
            Err(self.unsupported())
        }
    }

    /// Lowers `SYNCS.EXCH.64`, which sets the state of a new barrier.
    fn init_barrier(&mut self) -> Result<()> {
        refuse_if!(!self.take_modifier(Modifier::W64) || self.destination().is_some(), self.unsupported());
        let state = self.take_first_source(|value| matches!(value, Value::Uniform(_)).then_some(value))?;
        let [low, one, most] = [self.word(state, 0)?, self.number(1)?, self.number(ARRIVALS)?];
        let missing = self.compute("shr", &["u32"], &[low, one])?;
        let number = self.compute("sub", &["u32"], &[most, missing])?;
        let addr = self.shared_address()?;
        self.once_for_the_warp()?;
        let init = Mbarrier::new(MbarrierKind::Init, MemSpace::Shared, addr);
        self.emit(OpKind::Mbarrier(Box::new(Mbarrier { number: Some(number), ..init })))?;
        // `fence.mbarrier_init` becomes no instruction: the unit that sets the barrier has it in order.
        self.emit(OpKind::InitFence)
    }

    /// Lowers `SYNCS.PHASECHK`: the sign of a register, or of the upper word of a state, is the phase to wait for.
    fn wait_for_phase(&mut self) -> Result<()> {
        let tries = self.take_modifier(Modifier::Trywait);
        let addr = self.shared_address()?;
        let state = self.last_register()?;
        let shift = self.number(PARITY)?;
        let parity = self.compute("shr", &["u32"], &[state, shift])?;
        let done = self.wanted_predicate(0).unwrap_or_else(|| self.registers.fresh(Class::Pred));
        let wait = Mbarrier::new(MbarrierKind::Wait { tries }, MemSpace::Shared, addr);
        let wait = Mbarrier { number: Some(parity), done: Some(done), ..wait };
        self.emit(OpKind::Mbarrier(Box::new(wait)))
    }

    /// Takes the last source, a register.
    fn last_register(&mut self) -> Result<Src> {
        let last = self.instruction.sources().len().checked_sub(1);
        match last.and_then(|last| self.take_source(last)).map(|operand| operand.value) {
            Some(value @ Value::Register(_)) => self.word(value, 0),
            _ => Err(self.unsupported()),
        }
    }

    /// Lowers `SYNCS.ARRIVE`. `A1T0` arrives once, `ART0` as often as a register says; `A0TR` expects as many bytes,
    /// `A0TX` completes them; without such a word, it expects them and arrives.
    fn arrive(&mut self) -> Result<()> {
        self.ignore_modifier(Modifier::Red);
        let drop = self.take_modifier(Modifier::Optout);
        let arrives = |expect| MbarrierKind::Arrive { expect, drop, completes: true };
        let kinds = [
            (Modifier::A1t0, (arrives(false), false)),
            (Modifier::Art0, (arrives(false), true)),
            (Modifier::A0tr, (MbarrierKind::Expect, true)),
            (Modifier::A0tx, (MbarrierKind::Complete, true)),
        ];
        // Counts the copies that `ARRIVES` with `TRANSCNT` waits for.
        if self.take_modifier(Modifier::A0t1) {
            return Ok(());
        }
        let (kind, has_number) = self.take_choice(&kinds).unwrap_or((arrives(true), true));
        let addr = self.shared_address()?;
        let number = self.last_register()?;
        let mut made = Mbarrier::new(kind, MemSpace::Shared, addr);
        made.number = has_number.then_some(number);
        if self.destination().is_none() {
            return self.emit(OpKind::Mbarrier(Box::new(made)));
        }
        let token = self.registers.fresh(Class::Bits64);
        made.dst = Some(token);
        self.emit(OpKind::Mbarrier(Box::new(made)))?;
        self.write_state(token as Src)
    }

    /// Writes the state of a barrier as the hardware has it, with no bytes on their way.
    fn write_state(&mut self, token: Src) -> Result<()> {
        let low = self.value(self.builtin(Builtin::Lo32Of64), &[token])?;
        let [mask, most] = [self.number(TOKEN_PENDING as u32)?, self.number(ARRIVALS)?];
        let pending = self.compute("and", &["b32"], &[low, mask])?;
        let missing = self.compute("sub", &["u32"], &[most, pending])?;
        let missing = self.compute("and", &["b32"], &[missing, mask])?;
        let [place, bits, parity] = [PENDING, TOKEN_PENDING.count_ones(), PARITY].map(|n| self.number(n));
        let missing = self.compute("shl", &["b32"], &[missing, place?])?;
        let phase = self.compute("shr", &["u32"], &[low, bits?])?;
        let phase = self.compute("shl", &["b32"], &[phase, parity?])?;
        let high = self.compute("or", &["b32"], &[missing, phase])?;
        let zero = self.number(0)?;
        let state = self.value(self.builtin(Builtin::Pack64), &[zero, high])?;
        self.wide_write(state)
    }

    /// Lowers `ARRIVES`: an arrival when the copies of each lane so far are done.
    pub(super) fn arrive_behind_copies(&mut self) -> Result<()> {
        let kinds = [(Modifier::Arvcnt, false), (Modifier::Transcnt, true)];
        let counts = self.take_choice(&kinds).ok_or_else(|| self.unsupported())?;
        let addr = self.shared_address()?;
        let kind = MbarrierKind::ArriveAfterCopies { counts };
        self.emit(OpKind::Mbarrier(Box::new(Mbarrier::new(kind, MemSpace::Shared, addr))))
    }

    pub(super) fn warpgroup(&mut self) -> Result<()> {
        if self.take_modifier(Modifier::Arrive) {
            return self.emit(OpKind::WgmmaFence);
        }
        self.ignore_modifier(Modifier::Depbar);
        let pending = self.take_first_source(|value| match value {
            Value::Immediate(pending) => Some(pending),
            _ => None,
        })?;
        (0..self.instruction.sources().len()).for_each(|at| self.ignore_source(at));
        self.emit(OpKind::WgmmaWait { pending })
    }

    /// Lowers `HGMMA` and `QGMMA`.
    pub(super) fn multiply_by_warpgroup(&mut self) -> Result<()> {
        let sum = if self.take_modifier(Modifier::F32) { AccumulatorType::F32 } else { AccumulatorType::F16 };
        let kinds = self.take_all(&[
            (Modifier::Bf16, FactorType::Bf16),
            (Modifier::Tf32, FactorType::Tf32),
            (Modifier::E4m3, FactorType::E4m3),
            (Modifier::E5m2, FactorType::E5m2),
        ]);
        self.ignore_modifier(Modifier::F16);
        let kinds = match kinds[..] {
            [a, b] => [a, b],
            [both] => [both; 2],
            _ => [FactorType::F16; 2],
        };
        let n = self.columns().ok_or_else(|| self.unsupported())?;
        let sources = self.instruction.sources();
        let is_last = sources.iter().any(|operand| operand.value == Value::Group);
        let at = sources.iter().position(|operand| matches!(operand.value, Value::Matrices { .. }));
        let at = at.ok_or_else(|| self.unsupported())?;
        (0..sources.len()).for_each(|at| self.ignore_source(at));
        let Value::Matrices { descriptor, transposed, negated: mut minus } = sources[at].value else {
            return Err(self.unsupported());
        };
        let adds = sources.iter().position(|operand| matches!(operand.value, Value::UniformPredicate(_)));
        let adds = self.predicate(adds.ok_or_else(|| self.unsupported())?)? as u32;
        if let (None, Uniform::ZERO) = (self.destination(), descriptor) {
            // A product of no use: the end of its group is left.
            return if is_last { self.emit(OpKind::WgmmaCommit) } else { Ok(()) };
        }
        let has_short_elements = matches!(kinds[0], FactorType::Bf16 | FactorType::F16);
        refuse_if!(transposed != [false; 2] && !has_short_elements, self.unsupported());
        let lines = Wgmma::lines(sum, n) as u8;
        let d: Box<[Dst]> = (0..lines).map(|n| self.dst_word(n)).collect::<Result<_>>()?;
        let descriptor = |n| Value::Uniform(Uniform(descriptor.0.wrapping_add(n)));
        let a = match at.checked_sub(1).map(|before| sources[before].value) {
            None => WgmmaA::Shared(self.wide_value(descriptor(0))?),
            Some(Value::Register(Register(first))) => {
                refuse_if!(first == Register::ZERO.0 || transposed[0], self.unsupported());
                minus[0] = sources[at - 1].negated;
                let mut registers = [0; A_REGISTERS];
                for (n, place) in (0..).zip(&mut registers) {
                    *place = self.line(LineId::Lane(first).next(n)) as Src;
                }
                WgmmaA::Registers(registers)
            }
            _ => return Err(self.unsupported()),
        };
        // The second descriptor, also without a first.
        let b = self.wide_value(descriptor(2))?;
        let c = d.iter().map(|&d| d as Src).collect();
        // Products are added to the registers that they are written to, or replace them.
        let added = sources[at + 1].value;
        let same = matches!(added, Value::Register(first) if self.destination() == Some(LineId::Lane(first.0)));
        refuse_if!(!same && adds != FALSE, self.unsupported());
        let negated = false;
        self.emit(OpKind::Wgmma(Box::new(Wgmma { kinds, sum, n, c, d, a, b, adds, negated, minus, transposed })))?;
        if is_last { self.emit(OpKind::WgmmaCommit) } else { Ok(()) }
    }

    /// Takes the shape of a product of a warpgroup, and returns the columns: the words are `64`, `x128`, `x16`.
    fn columns(&mut self) -> Option<u16> {
        let size = |modifier: &Modifier| modifier.name().strip_prefix('x')?.parse::<u16>().ok();
        let sizes = self.instruction.modifiers.iter().filter_map(|modifier| Some((*modifier, size(modifier)?)));
        let sizes: Vec<(Modifier, u16)> = sizes.collect();
        let [(columns, n), (depth, _)] = sizes[..] else { return None };
        for modifier in [columns, depth, Modifier::W64] {
            self.ignore_modifier(modifier);
        }
        Some(n)
    }

    /// Lowers `USETMAXREG`: the number of registers is invisible to a program, and there are always enough.
    pub(super) fn set_registers(&mut self) -> Result<()> {
        self.ignore_source(0);
        match self.wanted_predicate(0) {
            Some(enough) => self.result(self.builtin(Builtin::MovPred), enough, &[TRUE as Src]),
            None => self.emit(OpKind::Nop),
        }
    }
}

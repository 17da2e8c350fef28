//! Branches, barriers, and operations across lanes.

use sass::Architecture;
use sass::instruction::{Operand, Register, Value};
use sass::operation::{Modifier, Operation};

use super::{SassLowering, convergence};
use super::{emit::PendingResult, operand::LineId};
use crate::{error::Result, virtual_op::TRUE};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::{
    BarrierKind, BarrierResult, Clock, OpKind, Reconverge, ReduxKind, ShuffleMode, Special, VoteMode, window,
};

impl SassLowering<'_> {
    /// Combines the guard with a further predicate.
    fn narrow_guard(&mut self) -> Result<()> {
        let at = self
            .instruction
            .sources()
            .iter()
            .position(|operand| matches!(operand.value, Value::Predicate(_) | Value::UniformPredicate(_)));
        let Some(at) = at else { return Ok(()) };
        if self.known_predicate(at)? == Some(true) {
            return Ok(());
        }
        let other = self.predicate(at)?;
        self.narrow_guard_by(other)
    }

    fn narrow_guard_by(&mut self, other: Src) -> Result<()> {
        let mut guard = self.guard as Src;
        if self.negated {
            guard = self.value(self.builtin(Builtin::NotPred), &[guard])?;
        }
        let both =
            if self.guard == TRUE && !self.negated { other } else { self.compute("and", &["pred"], &[guard, other])? };
        (self.guard, self.negated) = (both as u32, false);
        Ok(())
    }

    /// Returns whether all lanes execute the instruction; takes its predicates.
    pub(super) fn is_always(&mut self) -> bool {
        let instruction = self.instruction;
        let predicates = instruction.sources().iter().enumerate();
        instruction.guard.is_always()
            && predicates
                .filter(|(_, operand)| matches!(operand.value, Value::Predicate(_) | Value::UniformPredicate(_)))
                .all(|(at, _)| self.known_predicate(at) == Ok(Some(true)))
    }

    fn target(&self) -> Result<u32> {
        let label = self.instruction.label().ok_or_else(|| self.unsupported())?;
        self.place_of(label).ok_or_else(|| self.unsupported())
    }

    /// Lowers `BRA`, and `CALL.REL.NOINC` inside of a function: a direct branch.
    pub(super) fn branch(&mut self) -> Result<()> {
        self.narrow_guard()?;
        let target = self.target()?;
        self.emit(OpKind::Branch { target, reconverge: Reconverge::Enclosing })
    }

    /// Lowers `BRA.DIV`: branches where lanes of a mask are missing.
    pub(super) fn branch_if_diverged(&mut self) -> Result<()> {
        let all = self.int(1)?;
        let here = self.members()?;
        let diverged = self.compute("setp", &["ne", "u32"], &[here, all])?;
        self.narrow_guard_by(diverged)?;
        let target = self.target()?;
        self.emit(OpKind::Branch { target, reconverge: Reconverge::Enclosing })
    }

    /// Lowers `BRA.U.ANY`: all lanes branch if the guard of one holds.
    pub(super) fn branch_if_any(&mut self) -> Result<()> {
        self.ignore_modifier(Modifier::U);
        let lanes = self.lanes_of_guard()?;
        let none = self.number(0)?;
        let any = self.compute("setp", &["ne", "u32"], &[lanes, none])?;
        (self.guard, self.negated) = (any as u32, false);
        self.branch()
    }

    /// Emits the mask of the converged lanes for which the guard holds.
    fn lanes_of_guard(&mut self) -> Result<Src> {
        let members = self.members_uncounted()?;
        let (pred, negated) = (self.guard, self.negated);
        if pred == TRUE && !negated {
            return Ok(members);
        }
        let dst = self.registers.fresh(Class::Bits32);
        self.emit_uncounted(OpKind::Vote { mode: VoteMode::Ballot, dst, pred, negated, members })?;
        Ok(dst as Src)
    }

    /// Emits the number of the lowest of some lanes, and whether a lane is that one.
    fn lowest(&mut self, lanes: Src) -> Result<[Src; 2]> {
        let none = self.number(0)?;
        let negative = self.compute("sub", &["s32"], &[none, lanes])?;
        let lowest = self.compute("and", &["b32"], &[lanes, negative])?;
        let number = self.compute("bfind", &["u32"], &[lowest])?;
        let own = self.special(Special::LaneId);
        let leads = self.compute("setp", &["eq", "u32"], &[own, number])?;
        Ok([number, leads])
    }

    /// Guards the instruction so that one lane executes it: the lowest for which the guard holds.
    pub(super) fn once_for_the_warp(&mut self) -> Result<()> {
        let lanes = self.lanes_of_guard()?;
        let [_, leads] = self.lowest(lanes)?;
        (self.guard, self.negated) = (leads as u32, false);
        Ok(())
    }

    /// Lowers `ELECT`: chooses the lowest lane.
    pub(super) fn choose_lane(&mut self) -> Result<()> {
        let wanted = self.wanted_predicate(0);
        let guard = (self.guard, self.negated);
        self.narrow_guard()?;
        let mut lanes = self.lanes_of_guard()?;
        if matches!(self.instruction.sources(), [Operand { value: Value::Uniform(_), .. }]) {
            let mask = self.int(0)?;
            lanes = self.compute("and", &["b32"], &[lanes, mask])?;
        }
        let [number, leads] = self.lowest(lanes)?;
        (self.guard, self.negated) = guard;
        let chosen = self.destination().is_some().then(|| self.dst()).transpose()?;
        let chosen = chosen.map(|dst| PendingResult::Line(dst, number));
        let leads = wanted.map(|wanted| PendingResult::Pred(wanted, leads));
        self.write(chosen.into_iter().chain(leads).collect())
    }

    /// Lowers `R2UR`: the value of the lowest lane for which the guard holds, and whether a lane's own differs.
    pub(super) fn for_the_warp(&mut self) -> Result<()> {
        let value = self.int(0)?;
        let differs = self.wanted_predicate(0);
        let adds = self.take_modifier(Modifier::Or);
        let lanes = self.lanes_of_guard()?;
        let dst = self.dst()?;
        // The lanes of the guard are counted.
        self.result(self.builtin(Builtin::Mov32), dst, &[value])?;
        if value < 0 && self.guard == TRUE && !self.negated && differs.is_none() {
            return Ok(());
        }
        let [lane, _] = self.lowest(lanes)?;
        let members = self.members_uncounted()?;
        let [whole, shared] = [self.number(0x1f)?, self.registers.fresh(Class::Bits32) as Src];
        let src = [value, lane, whole, members];
        self.emit_uncounted(OpKind::Shuffle { mode: ShuffleMode::Idx, dst: shared as u32, dst_pred: None, src })?;
        if let Some(differs) = differs {
            let mut other = self.compute("setp", &["ne", "u32"], &[value, shared])?;
            if adds {
                other = self.compute("or", &["pred"], &[differs as Src, other])?;
            }
            self.result(self.builtin(Builtin::MovPred), differs, &[other])?;
        }
        if self.guard == TRUE && !self.negated {
            return self.result(self.builtin(Builtin::Mov32), dst, &[shared]);
        }
        let none = self.number(0)?;
        let any = self.compute("setp", &["ne", "u32"], &[lanes, none])?;
        (self.guard, self.negated) = (any as u32, false);
        self.result(self.builtin(Builtin::Mov32), dst, &[shared])
    }

    pub(super) fn exit(&mut self) -> Result<()> {
        self.narrow_guard()?;
        self.emit(OpKind::Exit)
    }

    /// Lowers `BSSY`. A `BSYNC` of the same barrier precedes the reconvergence point.
    pub(super) fn converge(&mut self) -> Result<()> {
        let position = self.target()?;
        let waits = convergence::sync_before(self.code, position as usize, self.instruction);
        refuse_if!(!self.is_always() || waits.is_none(), self.unsupported());
        self.emit(OpKind::Converge { position })
    }

    /// Lowers `BREAK`: lanes leave a convergence barrier without waiting at it.
    pub(super) fn leave(&mut self) -> Result<()> {
        self.narrow_guard()?;
        let barrier = convergence::barrier(self.instruction);
        let point = barrier.and_then(|barrier| self.reconvergence.point_of(self.instr, barrier));
        let position = point.ok_or_else(|| self.unsupported())?;
        self.emit(OpKind::Leave { position })
    }

    /// Lowers `RET.REL.NODEC`: returns to an instruction after a call.
    pub(super) fn ret(&mut self) -> Result<()> {
        let register = self.source_register()?;
        self.narrow_guard()?;
        self.account.ops(self.code.len() as u64)?;
        let targets = self.return_places();
        self.jump(register, targets)
    }

    /// Takes the first source that is a register.
    fn source_register(&mut self) -> Result<u8> {
        self.take_first_source(|value| match value {
            Value::Register(register) if register != Register::ZERO => Some(register.0),
            _ => None,
        })
    }

    /// Jumps to one of the targets, one per instruction of the kernel.
    fn jump(&mut self, register: u8, targets: Box<[u32]>) -> Result<()> {
        let address = self.line(LineId::Lane(register)) as Src;
        let base = self.instruction.label().unwrap_or(0);
        let base = self.number(base as u32)?;
        let address = self.value(self.builtin(Builtin::Add32), &[address, base])?;
        let amount = self.number(4)?;
        let index = self.compute("shr", &["u32"], &[address, amount])?;
        self.emit(OpKind::BranchIndexed { index, targets, reconverge: Reconverge::Enclosing })
    }

    /// Lowers `BRX`: branches by a jump table.
    pub(super) fn branch_by_table(&mut self) -> Result<()> {
        let register = self.source_register()?;
        self.narrow_guard()?;
        let base = self.instruction.label().unwrap_or(0);
        self.account.ops(self.code.len() as u64)?;
        let targets = self.places_in_tables(base);
        refuse_if!(targets.iter().all(|&place| place as usize == self.code.len()), self.unsupported());
        self.jump(register, targets)
    }

    /// Lowers `BAR`: barriers of the block, with and without a reduction.
    pub(super) fn barrier(&mut self) -> Result<()> {
        let values: Vec<Value> = (0..2).filter_map(|at| self.take_source(at)).map(|operand| operand.value).collect();
        let number = |lower: &mut Self, value: &Value| match *value {
            Value::Immediate(number) => lower.number(number),
            Value::Register(Register(number)) => Ok(lower.line(LineId::Lane(number)) as Src),
            _ => Err(lower.unsupported()),
        };
        // A repeated register packs number and threads.
        let [id, count] = &values[..] else { return Err(self.unsupported()) };
        refuse_if!(!matches!(count, Value::Immediate(_)), self.unsupported());
        let (id, count) = (number(self, id)?, Some(number(self, count)?));
        let kind = if self.take_modifier(Modifier::Sync) {
            BarrierKind::Sync
        } else if self.take_modifier(Modifier::Arv) {
            BarrierKind::Arrive
        } else {
            let (line, predicate) = self.reduced();
            let pred = self.predicate(2)? as u32;
            let result = if self.take_modifier(Modifier::Popc) {
                BarrierResult::Popc(line)
            } else if self.take_modifier(Modifier::And) {
                BarrierResult::And(predicate)
            } else if self.take_modifier(Modifier::Or) {
                BarrierResult::Or(predicate)
            } else {
                return Err(self.unsupported());
            };
            BarrierKind::Reduce { pred, negated: false, result }
        };
        self.emit(OpKind::Barrier { kind, id, count })
    }

    /// Returns the registers for the results of reductions at barriers.
    fn reduced(&mut self) -> (u32, u32) {
        let registers = &mut self.registers;
        *self.reduced.get_or_insert_with(|| (registers.fresh(Class::Bits32), registers.fresh(Class::Pred)))
    }

    /// Writes a line, and a predicate where one is wanted.
    fn write_both(&mut self, line: u32, predicate: Option<(u32, u32)>) -> Result<()> {
        let line = PendingResult::Line(self.dst()?, line as Src);
        let predicate = predicate.map(|(wanted, value)| PendingResult::Pred(wanted, value as Src));
        self.write([line].into_iter().chain(predicate).collect())
    }

    /// Lowers `B2R.RESULT`: reads the result of a reduction at a barrier.
    pub(super) fn barrier_result(&mut self) -> Result<()> {
        let (line, predicate) = self.reduced();
        let wanted = self.wanted_predicate(0);
        self.write_both(line, wanted.zip(Some(predicate)))
    }

    pub(super) fn warp_sync(&mut self) -> Result<()> {
        // The lanes go on together, as everywhere here.
        self.ignore_modifier(Modifier::Exclusive);
        self.ignore_modifier(Modifier::Collective);
        let register = self.source_register();
        let members = if self.take_modifier(Modifier::All) {
            self.number(u32::MAX)?
        } else {
            self.line(LineId::Lane(register?)) as Src
        };
        self.emit(OpKind::WarpSync { members })
    }

    fn members_uncounted(&mut self) -> Result<Src> {
        let dst = self.registers.fresh(Class::Bits32);
        self.emit_uncounted(OpKind::ActiveMask { dst })?;
        Ok(dst as Src)
    }

    /// Emits the mask of the converged lanes.
    fn members(&mut self) -> Result<Src> {
        let dst = self.registers.fresh(Class::Bits32);
        self.emit(OpKind::ActiveMask { dst })?;
        Ok(dst as Src)
    }

    pub(super) fn shuffle(&mut self) -> Result<()> {
        let modes = [
            (Modifier::Idx, ShuffleMode::Idx),
            (Modifier::Up, ShuffleMode::Up),
            (Modifier::Down, ShuffleMode::Down),
            (Modifier::Bfly, ShuffleMode::Bfly),
        ];
        let mode = self.take_choice(&modes).ok_or_else(|| self.unsupported())?;
        let [a, b, c] = [self.int(0)?, self.int(1)?, self.int(2)?];
        let members = self.members()?;
        let dst = self.registers.fresh(Class::Bits32);
        let in_range = self.wanted_predicate(0);
        let dst_pred = in_range.map(|_| self.registers.fresh(Class::Pred));
        self.emit(OpKind::Shuffle { mode, dst, dst_pred, src: [a, b, c, members] })?;
        self.write_both(dst, in_range.zip(dst_pred))
    }

    pub(super) fn vote(&mut self) -> Result<()> {
        let modes = [(Modifier::All, VoteMode::All), (Modifier::Any, VoteMode::Any), (Modifier::Eq, VoteMode::Uni)];
        let mode = self.take_choice(&modes).ok_or_else(|| self.unsupported())?;
        let pred = self.predicate(0)? as u32;
        let members = self.members()?;
        let mut writes = Vec::new();
        if self.destination().is_some() {
            let dst = self.registers.fresh(Class::Bits32);
            self.emit(OpKind::Vote { mode: VoteMode::Ballot, dst, pred, negated: false, members })?;
            writes.push(PendingResult::Line(self.dst()?, dst as Src));
        }
        if let Some(wanted) = self.wanted_predicate(0) {
            let dst = self.registers.fresh(Class::Pred);
            self.emit(OpKind::Vote { mode, dst, pred, negated: false, members })?;
            writes.push(PendingResult::Pred(wanted, dst as Src));
        }
        self.write(writes)
    }

    /// Lowers `MATCH`: lanes with equal values.
    pub(super) fn matching(&mut self) -> Result<()> {
        let wide = self.take_modifier(Modifier::U64);
        let value = if wide { self.wide(0)? } else { self.int(0)? };
        let members = self.members()?;
        let dst = self.registers.fresh(Class::Bits32);
        let wanted = self.wanted_predicate(0);
        let all = self.take_modifier(Modifier::All);
        refuse_if!(all == self.take_modifier(Modifier::Any), self.unsupported());
        let wanted = wanted.filter(|_| all);
        let dst_pred = wanted.map(|_| self.registers.fresh(Class::Pred));
        self.emit(OpKind::Match { all, wide, dst, dst_pred, src: [value, members] })?;
        self.write_both(dst, wanted.zip(dst_pred))
    }

    /// Lowers `REDUX`: a reduction over lanes of the warp.
    pub(super) fn reduce(&mut self) -> Result<()> {
        let signed = self.take_modifier(Modifier::S32);
        let [min, max] = if signed { [ReduxKind::MinS, ReduxKind::MaxS] } else { [ReduxKind::MinU, ReduxKind::MaxU] };
        let kinds = [
            (Modifier::Min, min),
            (Modifier::Max, max),
            (Modifier::Sum, ReduxKind::Add),
            (Modifier::Or, ReduxKind::Or),
            (Modifier::Xor, ReduxKind::Xor),
        ];
        let plain = matches!(self.instruction.modifiers[..], [] | [Modifier::S32]).then_some(ReduxKind::And);
        let kind = self.take_choice(&kinds).or(plain).ok_or_else(|| self.unsupported())?;
        let value = self.int(0)?;
        let members = self.members()?;
        let dst = self.registers.fresh(Class::Bits32);
        self.emit(OpKind::Redux { kind, dst, src: [value, members] })?;
        self.write_line(dst as Src)
    }

    /// Lowers `S2R`, `S2UR`, `CS2R`: reads a special register.
    pub(super) fn special_register(&mut self) -> Result<()> {
        let register = self.take_first_source(|value| match value {
            Value::Special(register) => Some(register),
            _ => None,
        })?;
        let special = match register.name(Architecture::Sm90).as_str() {
            "SR_TID.X" => Special::Tid(0),
            "SR_TID.Y" => Special::Tid(1),
            "SR_TID.Z" => Special::Tid(2),
            "SR_CTAID.X" => Special::Ctaid(0),
            "SR_CTAID.Y" => Special::Ctaid(1),
            "SR_CTAID.Z" => Special::Ctaid(2),
            "SR_LANEID" => Special::LaneId,
            "SR_EQMASK" => Special::LanemaskEq,
            "SR_LEMASK" => Special::LanemaskLe,
            "SR_LTMASK" => Special::LanemaskLt,
            "SR_GEMASK" => Special::LanemaskGe,
            "SR_GTMASK" => Special::LanemaskGt,
            "SR_VIRTUALSMID" => Special::SmId,
            // Start of shared memory among generic addresses.
            name @ ("SR_SWINLO" | "SR_SWINHI") => {
                let shift = if name == "SR_SWINLO" { 0 } else { 32 };
                let window = self.number((window::SHARED >> shift) as u32)?;
                return self.write_line(window);
            }
            // The block's rank in its cluster.
            "SR_CgaCtaId" => Special::ClusterCtarank,
            // Code for debuggers traps where its stack is below the start of local memory.
            "SRZ" | "SR_LMEMHIOFF" => return self.zeros(),
            "SR_CLOCKLO" => return self.clock(),
            _ => return Err(self.unsupported()),
        };
        refuse_if!(
            self.instruction.operation == Operation::Cs2r && !self.take_modifier(Modifier::W32),
            self.unsupported()
        );
        let source = self.special(special);
        self.only_result(self.builtin(Builtin::Mov32), &[source])
    }

    /// Writes zero to the destination, which is a pair of registers for `CS2R` without `.32`.
    fn zeros(&mut self) -> Result<()> {
        let words =
            if self.take_modifier(Modifier::W32) || self.instruction.operation != Operation::Cs2r { 1 } else { 2 };
        let zero = self.number(0)?;
        for word in 0..words {
            let dst = self.dst_word(word)?;
            self.result(self.builtin(Builtin::Mov32), dst, &[zero])?;
        }
        if words == 2
            && self.guard == TRUE
            && !self.negated
            && let Some(line) = self.destination()
        {
            let zero = self.wide_number(0)?;
            self.pairs.insert(line, zero);
        }
        Ok(())
    }

    fn clock(&mut self) -> Result<()> {
        let whole = self.instruction.operation == Operation::Cs2r && !self.take_modifier(Modifier::W32);
        let class = Class::of_width(whole);
        let clock = if whole { Clock::Clock64 } else { Clock::Clock };
        let dst = self.registers.fresh(class);
        self.emit(OpKind::ReadClock { clock, dst })?;
        if whole { self.wide_write(dst as Src) } else { self.write_line(dst as Src) }
    }
}

//! Adds operations. All converged lanes compute intermediate values; only results are written under the guard.

use super::SassLowering;
use crate::error::{DecodeError, Result, refused};
use crate::passes::constants::Constants;
use crate::passes::flow::{builtin_function, flow_of_form, flow_of_second_result};
use crate::virtual_op::{AluFunction, TRUE, VirtualOp};
use arithmetic::lanes::{Class, Dst, Src};
use arithmetic::{Builtin, ResultPart, SassStep};
use program::limits::KERNEL_OPS;
use program::{Flow, OpKind, Special};

pub(super) enum PendingResult {
    Line(Dst, Src),
    Pred(Dst, Src),
}

impl SassLowering<'_> {
    /// Looks up the function of a PTX instruction.
    pub(super) fn ptx(&self, opcode: &str, modifiers: &[&str]) -> Result<AluFunction> {
        self.part(opcode, modifiers, ResultPart::First)
    }

    /// Looks up the function of one result of a PTX instruction that has two.
    pub(super) fn part(&self, opcode: &str, modifiers: &[&str], part: ResultPart) -> Result<AluFunction> {
        let form = arithmetic::lookup(opcode, modifiers, part, self.level).ok_or_else(|| self.unsupported())?;
        let first = flow_of_form(opcode, modifiers);
        let flow = if part == ResultPart::First { first } else { flow_of_second_result(first) };
        Ok(AluFunction::from(form).with_flow(flow))
    }

    pub(super) fn step(&self, step: SassStep) -> AluFunction {
        let flow = match step {
            SassStep::Sum3 | SassStep::SumCarry => Flow::Upward,
            SassStep::Shift(_) => Flow::Moved { data: 0b101, shifts: true },
            SassStep::Table(_) => Flow::Bitwise,
            _ => Flow::Mixed,
        };
        AluFunction::from(arithmetic::step(step, self.level)).with_flow(flow)
    }

    pub(super) fn builtin(&self, op: Builtin) -> AluFunction {
        builtin_function(op, self.level)
    }

    /// Computes a value for all converged lanes.
    pub(super) fn value(&mut self, function: AluFunction, sources: &[Src]) -> Result<Src> {
        let dst = self.registers.fresh(function.form.dst);
        let op = self.attach(function.op(dst, sources), false);
        self.push(op)?;
        Ok(dst as Src)
    }

    /// Computes a value by a PTX instruction.
    pub(super) fn compute(&mut self, opcode: &str, modifiers: &[&str], sources: &[Src]) -> Result<Src> {
        let function = self.ptx(opcode, modifiers)?;
        self.value(function, sources)
    }

    /// Computes a result under the guard. The first one counts the instruction.
    pub(super) fn result(&mut self, function: AluFunction, dst: Dst, sources: &[Src]) -> Result<()> {
        let op = self.attach(function.op(dst, sources), true);
        self.push(op)
    }

    /// Computes the instruction's only result, under the guard, to its destination register.
    pub(super) fn only_result(&mut self, function: AluFunction, sources: &[Src]) -> Result<()> {
        let dst = self.dst()?;
        self.result(function, dst, sources)
    }

    /// Computes [`Self::only_result`] by a PTX instruction.
    pub(super) fn compute_result(&mut self, opcode: &str, modifiers: &[&str], sources: &[Src]) -> Result<()> {
        let function = self.ptx(opcode, modifiers)?;
        self.only_result(function, sources)
    }

    /// Adds another operation, under the guard.
    pub(super) fn emit(&mut self, kind: OpKind) -> Result<()> {
        let op = self.attach(VirtualOp::new(kind), true);
        self.push(op)
    }

    /// Adds an operation for all converged lanes, by which the instruction is not counted.
    pub(super) fn emit_uncounted(&mut self, kind: OpKind) -> Result<()> {
        let op = self.attach(VirtualOp::new(kind), false);
        self.push(op)
    }

    /// Writes results at the end of an instruction, those that its guard depends on last.
    pub(super) fn write(&mut self, mut results: Vec<PendingResult>) -> Result<()> {
        let guard = self.guard;
        let last = |write: &PendingResult| matches!(write, PendingResult::Pred(dst, _) if *dst == guard);
        results.sort_by_key(last);
        for result in results {
            match result {
                PendingResult::Line(dst, src) => self.result(self.builtin(Builtin::Mov32), dst, &[src])?,
                PendingResult::Pred(dst, src) => self.result(self.builtin(Builtin::MovPred), dst, &[src])?,
            }
        }
        Ok(())
    }

    /// Writes the first two predicates that are wanted, each with its value.
    pub(super) fn write_predicates(&mut self, value: impl Fn(&mut Self, usize) -> Result<Src>) -> Result<()> {
        let mut writes = Vec::new();
        for at in 0..2 {
            if let Some(dst) = self.wanted_predicate(at) {
                writes.push(PendingResult::Pred(dst, value(self, at)?));
            }
        }
        self.write(writes)
    }

    /// Attaches an operation to the instruction, under its guard or for all converged lanes.
    pub(super) fn attach(&mut self, op: VirtualOp, guarded: bool) -> VirtualOp {
        VirtualOp {
            guard: if guarded { self.guard } else { TRUE },
            negated: guarded && self.negated,
            instr: self.instr,
            first: guarded && std::mem::take(&mut self.first),
            ..op
        }
    }

    pub(super) fn push(&mut self, op: VirtualOp) -> Result<()> {
        if self.ops.len() >= KERNEL_OPS {
            return Err(DecodeError::TooLarge(format!(
                "the module is too large: a kernel has more than {KERNEL_OPS} operations"
            )));
        }
        self.account.ops(1)?;
        self.ops.push(op);
        Ok(())
    }

    pub(super) fn number(&mut self, value: u32) -> Result<Src> {
        self.constants.bits32(value, ptx::Span::default())
    }

    pub(super) fn wide_number(&mut self, value: u64) -> Result<Src> {
        self.constants.bits64(value, ptx::Span::default())
    }

    pub(super) fn special(&mut self, special: Special) -> Src {
        let registers = &mut self.registers;
        *self.specials.entry(special).or_insert_with(|| registers.fresh(Class::Bits32)) as Src
    }

    pub(super) fn unsupported(&self) -> DecodeError {
        let what = self.instrs.last().map_or("", |info| info.text.as_str());
        refused(format!("`{what}` at {:#06x} of `{}`", self.address, self.name))
    }
}

impl Constants {
    /// Returns whether a source is this 32-bit constant.
    pub(super) fn is(&self, src: Src, value: u32) -> bool {
        src < 0 && self.value32(src) == Some(value)
    }
}

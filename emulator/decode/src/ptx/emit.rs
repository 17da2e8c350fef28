//! Adds operations: under the guard of their instruction, and safe where results are sources.

use ptx::ast::{Instruction, Type};

use super::{PtxLowering, mov_of};
use crate::error::{Result, unsupported};
use crate::passes::flow::builtin_function;
use crate::virtual_op::{AluFunction, BitRule, TRUE, VirtualOp, for_each_register, map_registers};
use arithmetic::Builtin;
use arithmetic::lanes::{Class, Src};
use program::limits::{INSTR_BYTES, KERNEL_OPS};
use program::operands::Role;
use program::{InstrInfo, OpKind};

impl<'a> PtxLowering<'a> {
    /// Starts `instruction`: the next operations belong to it.
    pub(super) fn begin(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.span = instruction.span;
        self.first = true;
        let start = instruction.span.start;
        // Messages look up long names at each use.
        let text = u64::from(instruction.span.end.saturating_sub(start));
        self.index.account.steps(text / 8)?;
        self.instr = match self.instr_of.get(&start) {
            Some(&known) => known,
            None => {
                self.index.account.bytes(text + INSTR_BYTES)?;
                let own = self.instrs.len() as u32;
                self.instrs.push(InstrInfo {
                    text: instruction.to_string(),
                    ptx_line: instruction.span.line,
                    source: self.loc,
                    calls: self.calls.as_slice().into(),
                    fmas: fmas(instruction),
                    ..InstrInfo::default()
                });
                self.starts.push(start);
                self.instr_of.insert(start, own);
                own
            }
        };
        Ok(())
    }

    /// Copies a guard that an operation of the instruction overwrites.
    pub(super) fn keep_guard(&mut self, start: usize) {
        let guard = self.guard;
        if guard == TRUE || self.ops.len() < start + 2 {
            return;
        }
        let last = self.ops.len() - 1;
        let mut written = false;
        for op in &self.ops[start..last] {
            for_each_register(op, &mut |register, class, role| {
                written |= !role.is_use() && class == Class::Pred && register == guard;
            });
        }
        if !written {
            return;
        }
        let copy = self.registers.fresh(Class::Pred);
        for op in &mut self.ops[start..] {
            if op.guard == guard {
                op.guard = copy;
            }
        }
        let function = builtin_function(Builtin::MovPred, self.level);
        let mov = VirtualOp { instr: self.instr, first: true, ..function.op(copy, &[guard as Src]) };
        self.ops[start].first = false;
        self.ops.insert(start, mov);
    }

    /// Adds an operation under the guard of the instruction.
    pub(super) fn emit(&mut self, kind: OpKind) -> Result<()> {
        self.push(VirtualOp::new(kind))
    }

    fn push(&mut self, op: VirtualOp) -> Result<()> {
        if self.ops.len() >= KERNEL_OPS {
            return Err(unsupported(
                self.span,
                format!("a kernel of more than {KERNEL_OPS} operations, with its functions inlined,"),
            ));
        }
        self.index.account.ops(1)?;
        let first = std::mem::take(&mut self.first);
        let mut op = VirtualOp { guard: self.guard, negated: self.negated, instr: self.instr, first, ..op };
        self.part_sources(&mut op)?;
        self.ops.push(op);
        Ok(())
    }

    /// Copies sources that an operation with early results would overwrite.
    fn part_sources(&mut self, op: &mut VirtualOp) -> Result<()> {
        if matches!(op.kind, OpKind::Alu { .. } | OpKind::Mma(_)) {
            return Ok(());
        }
        let (mut used, mut written) = (Vec::new(), Vec::new());
        for_each_register(op, &mut |register, class, role| match role {
            Role::Use(_) => used.push((register, class)),
            _ => written.push(register),
        });
        let first = op.first;
        for (register, class) in used {
            if !written.contains(&register) {
                continue;
            }
            self.first = std::mem::take(&mut op.first);
            let copy = self.registers.fresh(class);
            self.builtin(mov_of(class), copy, &[register as Src])?;
            map_registers(op, &mut |r, role| {
                if role.is_use() && r == register { copy } else { r }
            });
        }
        debug_assert!(first || !op.first);
        Ok(())
    }

    pub(super) fn alu(&mut self, function: AluFunction, dst: u32, sources: &[Src]) -> Result<()> {
        self.push(function.op(dst, sources))
    }

    pub(super) fn builtin(&mut self, op: Builtin, dst: u32, sources: &[Src]) -> Result<()> {
        let rule = match op {
            Builtin::Mov32 | Builtin::Mov64 | Builtin::Lo32Of64 => BitRule::Same,
            Builtin::Zext64(_) | Builtin::Sext64(_) | Builtin::Zext32(_) | Builtin::Sext32(_) => BitRule::Same,
            Builtin::Add32 | Builtin::Add64 => BitRule::Sum,
            Builtin::Sub64 => BitRule::Difference,
            _ => BitRule::Unknown,
        };
        self.alu(AluFunction { rule, ..builtin_function(op, self.level) }, dst, sources)
    }

    /// Emits a [`Builtin`], and returns the new register of its result.
    pub(super) fn value(&mut self, op: Builtin, sources: &[Src]) -> Result<Src> {
        // Moves of operands stay, and merging does not look through operands.
        let function = AluFunction { moves: false, ..builtin_function(op, self.level) };
        let dst = self.registers.fresh(function.form.dst);
        self.alu(function, dst, sources)?;
        Ok(dst as Src)
    }

    /// Returns the carry flag: a predicate of the whole kernel.
    pub(super) fn carry(&mut self) -> u32 {
        *self.carry.get_or_insert_with(|| self.registers.fresh(Class::Pred))
    }
}

fn fmas(instruction: &Instruction) -> u8 {
    if !matches!(instruction.opcode.as_str(), "fma" | "mad") {
        return 0;
    }
    match instruction.types().last() {
        Some(Type::F32 | Type::F64 | Type::F16 | Type::Bf16) => 1,
        Some(Type::F16x2 | Type::Bf16x2) => 2,
        _ => 0,
    }
}

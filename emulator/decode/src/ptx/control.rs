//! Lowers branches, `exit`, `ret` and `trap`.

use ptx::ast::{Instruction, Operand, Type};

use super::PtxLowering;
use crate::{error::Result, virtual_op::TRUE};
use arithmetic::lanes::Class;
use program::limits::KERNEL_OPS;
use program::{OpKind, Reconverge};

impl<'a> PtxLowering<'a> {
    pub(super) fn control(&mut self, instruction: &'a Instruction, last: bool) -> Result<()> {
        match instruction.opcode.as_str() {
            "bra" => {
                self.count(instruction, 1)?;
                let Operand::Name(name) = &instruction.operands[0] else {
                    return Err(self.invalid("a branch needs a label"));
                };
                let target = self.target(name)?;
                self.emit(OpKind::Branch { target, reconverge: Reconverge::AtExit })
            }
            "brx" => {
                self.count(instruction, 2)?;
                let index = self.source(&instruction.operands[0], Class::Bits32, Some(Type::U32))?;
                let Operand::Name(list) = &instruction.operands[1] else {
                    return Err(self.invalid("`brx.idx` needs a list of targets"));
                };
                let Some(names) = self.targets(list) else {
                    return Err(self.invalid(format!("`{list}` is not a list of branch targets")));
                };
                self.index.account.ops(names.len() as u64)?;
                let targets = names.iter().map(|name| self.target(name)).collect::<Result<Box<[u32]>>>()?;
                self.n_targets += targets.len();
                refuse_if!(self.n_targets > KERNEL_OPS, self.unsupported("so many branch targets"));
                refuse_if!(targets.is_empty(), self.invalid(format!("`{list}` has no branch targets")));
                self.emit(OpKind::BranchIndexed { index, targets, reconverge: Reconverge::AtExit })
            }
            "ret" => match self.return_label {
                None => self.emit(OpKind::Exit),
                // The last instruction falls out of the function by itself.
                Some(_) if last && self.guard == TRUE && self.depth_in_function == 1 => self.emit(OpKind::Nop),
                Some(target) => self.emit(OpKind::Branch { target, reconverge: Reconverge::AtExit }),
            },
            "exit" => self.emit(OpKind::Exit),
            // `brkpt` without a debugger is a trap.
            _ => self.emit(OpKind::Trap),
        }
    }

    fn target(&self, name: &str) -> Result<u32> {
        self.label(name).ok_or_else(|| self.invalid(format!("there is no label `{name}`")))
    }
}

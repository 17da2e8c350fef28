//! `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`: tiles for tensor cores, of one warp.

use ptx::ast::{Immediate, Instruction, Operand, Type};

use super::{PtxLowering, address::space_of, operand::Elements};
use crate::error::Result;
use arithmetic::lanes::{Class, NONE, Src};
use arithmetic::products::{AccumulatorType, FactorType, Overflow, Round, Whole, WholeType};
use program::mma::layout::{MmaForm, Types};
use program::{MatrixAccess, MemSpace, Mma, OpKind};

/// Parses the types of D, A, B and C, and what follows them.
pub(super) fn types(words: &[&str], overflow: Overflow) -> Option<Types> {
    Some(match *words {
        ["f64", "f64", "f64", "f64"] | ["rn", "f64", "f64", "f64", "f64"] => Types::F64(Round::Nearest),
        ["rz", "f64", "f64", "f64", "f64"] => Types::F64(Round::Zero),
        ["rm", "f64", "f64", "f64", "f64"] => Types::F64(Round::Down),
        ["rp", "f64", "f64", "f64", "f64"] => Types::F64(Round::Up),
        ["s32", "b1", "b1", "s32", "xor", "popc"] => Types::Whole(Whole::Xor),
        ["s32", "b1", "b1", "s32", "and", "popc"] => Types::Whole(Whole::And),
        ["s32", a, b, "s32"] => {
            let kinds = (WholeType::parse(a)?, WholeType::parse(b)?);
            if kinds.0.bits() != kinds.1.bits() {
                return None;
            }
            Types::Whole(Whole::Integers(kinds.0, kinds.1, overflow))
        }
        [d, a, b, c] if d == c => {
            Types::Small(FactorType::parse(a)?, FactorType::parse(b)?, AccumulatorType::parse(d)?)
        }
        _ => return None,
    })
}

/// Parses the form of `mma{.sp}.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C{.xor,.and}{.popc}`.
fn form(modifiers: &[&str], selector: Option<u8>) -> Option<MmaForm> {
    let ["sync", "aligned", shape, "row", "col", rest @ ..] = modifiers else { return None };
    let (m, k) = shape.strip_prefix('m')?.split_once("n8k")?;
    let types = match rest {
        ["satfinite", rest @ ..] => types(rest, Overflow::Saturate),
        _ => types(rest, Overflow::Wrap),
    };
    MmaForm::new(m.parse().ok()?, k.parse().ok()?, types?, selector)
}

impl<'a> PtxLowering<'a> {
    pub(super) fn mma(&mut self, instruction: &'a Instruction) -> Result<()> {
        let mut modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let is_sparse = modifiers.first().is_some_and(|first| first.starts_with("sp"));
        self.count(instruction, if is_sparse { 6 } else { 4 })?;
        let mut selector = None;
        if is_sparse {
            modifiers.remove(0);
            let Operand::Immediate(Immediate::Int(number @ 0..=3)) = instruction.operands[5] else {
                return Err(self.invalid("the sparsity selector is a number from 0 to 3"));
            };
            selector = Some(number as u8);
        }
        let Some(form) = form(&modifiers, selector) else {
            let lesser = form(&modifiers, selector.map(|_| 0));
            refuse_if!(lesser.is_some(), self.invalid("the sparsity selector is too large for this shape"));
            return Err(self.not_supported(instruction));
        };
        let class = Class::of_width(form.is_wide());
        let [n_a, n_b, n_c] = form.registers();
        let operands = &instruction.operands;
        let mut mma = Mma::new(form);
        let ty = if form.is_wide() { Type::F64 } else { Type::F32 };
        self.fragment(&operands[1], &mut mma.a[..n_a], class, Type::B32)?;
        self.fragment(&operands[2], &mut mma.b[..n_b], class, Type::B32)?;
        self.fragment(&operands[3], &mut mma.c[..n_c], class, ty)?;
        if is_sparse {
            mma.metadata = Some(self.source(&operands[4], Class::Bits32, Some(Type::B32))?);
        }
        let mut results = [NONE; 4];
        self.results(&operands[0], &mut results[..n_c], class)?;
        for (d, &register) in mma.d.iter_mut().zip(&results[..n_c]) {
            *d = register as u32;
        }
        self.emit(OpKind::Mma(Box::new(mma)))
    }

    pub(super) fn fragment(&mut self, operand: &'a Operand, to: &mut [Src], class: Class, ty: Type) -> Result<()> {
        let elements = self.elements(operand)?;
        self.as_many(elements.len(), to.len())?;
        for (at, place) in to.iter_mut().enumerate() {
            *place = match &elements {
                Elements::Operands(list) => self.source(&list[at], class, Some(ty))?,
                Elements::Registers(list) => list[at].id as Src,
            };
        }
        Ok(())
    }

    pub(super) fn results(&mut self, operand: &'a Operand, to: &mut [Src], class: Class) -> Result<()> {
        let elements = self.elements(operand)?;
        self.as_many(elements.len(), to.len())?;
        for at in 0..to.len() {
            let register = match &elements {
                Elements::Operands(list) => self.destination(&list[at], class)?,
                Elements::Registers(list) => list[at].id,
            } as Src;
            refuse_if!(to[..at].contains(&register), self.invalid("a tile goes to different registers"));
            to[at] = register;
        }
        Ok(())
    }

    fn as_many(&self, given: usize, needed: usize) -> Result<()> {
        if given == needed {
            Ok(())
        } else {
            Err(self.invalid(format!("{given} registers for a tile that takes {needed}")))
        }
    }

    pub(super) fn matrix(&mut self, instruction: &'a Instruction) -> Result<()> {
        self.count(instruction, 2)?;
        let [first, second] = &instruction.operands[..] else {
            return Err(self.invalid("two operands are needed here"));
        };
        if instruction.opcode == "movmatrix" {
            let src = self.source(second, Class::Bits32, Some(Type::B32))?;
            let dst = self.destination(first, Class::Bits32)?;
            return self.emit(OpKind::MatrixMove { dst, src });
        }
        let n =
            instruction.choice(&[("x1", 1), ("x2", 2), ("x4", 4)]).ok_or_else(|| self.not_supported(instruction))?;
        let load = instruction.opcode == "ldmatrix";
        let (registers, address) = if load { (first, second) } else { (second, first) };
        let (addr, space) = self.address(address, space_of(instruction).unwrap_or(MemSpace::Generic))?;
        if !matches!(space, MemSpace::Shared | MemSpace::Generic) {
            return Err(self.invalid("matrices lie in shared memory"));
        }
        let mut regs = [NONE; 4];
        if load {
            self.results(registers, &mut regs[..n], Class::Bits32)?;
        } else {
            self.fragment(registers, &mut regs[..n], Class::Bits32, Type::B32)?;
        }
        let access = Box::new(MatrixAccess { space, addr, n: n as u8, transposed: instruction.has("trans"), regs });
        self.emit(if load { OpKind::MatrixLoad(access) } else { OpKind::MatrixStore(access) })
    }
}

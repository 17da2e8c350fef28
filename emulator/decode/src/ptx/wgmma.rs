//! `wgmma`: warpgroup MMA.

use ptx::ast::{Immediate, Instruction, Operand};

use super::{PtxLowering, operand::Elements};
use crate::error::Result;
use arithmetic::lanes::{Class, Dst, Src};
use arithmetic::products::{AccumulatorType, FactorType};
use program::{A_REGISTERS, OpKind, Wgmma, WgmmaA};

/// The only target with these instructions; newer devices have others.
const TARGET: &str = "sm_90a";

impl<'a> PtxLowering<'a> {
    pub(super) fn wgmma(&mut self, instruction: &'a Instruction) -> Result<()> {
        if !self.index.is_for(TARGET) {
            let name = instruction.mnemonic();
            return Err(self.invalid(format!("`{name}` needs `.target {TARGET}`")));
        }
        let kind = match instruction.modifiers.first().map(String::as_str) {
            Some("mma_async") => return self.wgmma_product(instruction),
            Some("fence") => OpKind::WgmmaFence,
            Some("commit_group") => OpKind::WgmmaCommit,
            Some("wait_group") => match &instruction.operands[..] {
                [Operand::Immediate(Immediate::Int(n))] => OpKind::WgmmaWait {
                    pending: u32::try_from(*n).map_err(|_| self.invalid("a number of groups cannot be negative"))?,
                },
                _ => return Err(self.invalid("`wgmma.wait_group` takes a number")),
            },
            _ => return Err(self.not_supported(instruction)),
        };
        self.emit(kind)
    }

    /// Lowers `wgmma.mma_async.sync.aligned.m64nNkK.D.A.B d, a, b, p, sa, sb{, ta}{, tb};`
    fn wgmma_product(&mut self, instruction: &'a Instruction) -> Result<()> {
        let refuse = || self.not_supported(instruction);
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let ["mma_async", "sync", "aligned", shape, sum, a, b] = modifiers[..] else { return Err(refuse()) };
        let n = shape
            .strip_prefix("m64n")
            .and_then(|rest| rest.split_once('k')?.0.parse::<u16>().ok())
            .filter(|n| n % 8 == 0 && (8..=256).contains(n));
        let kinds = (FactorType::parse(a), FactorType::parse(b));
        let (Some(n), Some(sum), (Some(a_kind), Some(b_kind))) = (n, AccumulatorType::parse(sum), kinds) else {
            return Err(refuse());
        };
        let [d, a, b, adds, rest @ ..] = &instruction.operands[..] else { return Err(refuse()) };
        let lines = Wgmma::lines(sum, n).into();
        let c = self.wgmma_registers(d, lines, "accumulators")?;
        let d: Box<[Dst]> = c.iter().map(|&c| c as Dst).collect();
        let in_registers = matches!(a, Operand::Vector(_));
        let a = if in_registers {
            let mut registers = [0; A_REGISTERS];
            registers.copy_from_slice(&self.wgmma_registers(a, A_REGISTERS, "registers of A")?);
            WgmmaA::Registers(registers)
        } else {
            WgmmaA::Shared(self.source(a, Class::Bits64, None)?)
        };
        let b = self.source(b, Class::Bits64, None)?;
        let (adds, negated) = self.predicate_operand(adds)?;
        let numbers: Vec<i128> = rest
            .iter()
            .filter_map(|operand| match operand {
                Operand::Immediate(Immediate::Int(n)) => Some(*n),
                _ => None,
            })
            .collect();
        // Only 16-bit elements in shared memory can be transposed.
        let sixteen = matches!(a_kind, FactorType::Bf16 | FactorType::F16);
        let n_transposes = match (sixteen, in_registers) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        if rest.len() != 2 + n_transposes || numbers.len() != rest.len() {
            return Err(self.invalid(format!(
                "`{}` takes {} numbers after the predicate here",
                instruction.mnemonic(),
                2 + n_transposes
            )));
        }
        let (scales, transposes) = numbers.split_at(2);
        refuse_if!(scales.iter().any(|scale| scale.abs() != 1), self.invalid("a factor is scaled by 1 or -1"));
        if transposes.iter().any(|t| !matches!(t, 0 | 1)) {
            return Err(self.invalid("0 or 1 says whether a factor is transposed"));
        }
        let transposed = match *transposes {
            [a, b] => [a == 1, b == 1],
            [b] => [false, b == 1],
            _ => [false; 2],
        };
        self.emit(OpKind::Wgmma(Box::new(Wgmma {
            kinds: [a_kind, b_kind],
            sum,
            n,
            c,
            d,
            a,
            b,
            adds,
            negated,
            minus: [scales[0] == -1, scales[1] == -1],
            transposed,
        })))
    }

    fn wgmma_registers(&mut self, operand: &'a Operand, n: usize, what: &str) -> Result<Box<[Src]>> {
        let registers: Vec<Src> = match self.elements(operand)? {
            Elements::Operands(list) => { list.iter() }
                .map(|one| self.destination(one, Class::Bits32).map(|r| r as Src))
                .collect::<Result<_>>()?,
            Elements::Registers(list) => list.iter().map(|reg| reg.id as Src).collect(),
        };
        refuse_if!(registers.len() != n, self.invalid(format!("{n} {what} are needed here, not {}", registers.len())));
        Ok(registers.into())
    }
}

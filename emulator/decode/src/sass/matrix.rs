//! Tensor cores: `mma`, and moves of 8x8 matrices. Register layouts are those of the PTX instructions.

use sass::instruction::{Register, Value};
use sass::operation::{Modifier, Operation};

use super::SassLowering;
use crate::error::Result;
use arithmetic::Builtin;
use arithmetic::lanes::{Class, NONE, Src};
use arithmetic::products::{AccumulatorType, FactorType, Overflow, Round, Whole, WholeType};
use program::mma::layout::{MmaForm, Types};
use program::{MatrixAccess, MemSpace, Mma, OpKind};

impl SassLowering<'_> {
    /// Lowers `HMMA`, `IMMA`, `BMMA`, `DMMA`.
    pub(super) fn multiply_matrices(&mut self) -> Result<()> {
        let selector = match self.take_modifier(Modifier::Sp) {
            true => Some(self.immediate(4).ok_or_else(|| self.unsupported())? as u8),
            false => None,
        };
        let form = match self.instruction.operation {
            Operation::Dmma => self.form_of_doubles(),
            Operation::Imma | Operation::Bmma => self.form_of_whole(selector),
            _ => self.form_of_halves(selector),
        };
        let form = form.ok_or_else(|| self.unsupported())?;
        let [n_a, n_b, n_c] = form.registers();
        let mut mma = Mma::new(form);
        self.fragment(0, form.is_wide(), &mut mma.a[..n_a])?;
        self.fragment(1, form.is_wide(), &mut mma.b[..n_b])?;
        self.fragment(2, form.is_wide(), &mut mma.c[..n_c])?;
        if selector.is_some() {
            let mut metadata = [NONE];
            self.fragment(3, false, &mut metadata)?;
            mma.metadata = Some(metadata[0]);
        }
        if !form.is_wide() {
            for (at, dst) in (0..).zip(&mut mma.d[..n_c]) {
                *dst = self.dst_word(at)?;
            }
            return self.emit(OpKind::Mma(Box::new(mma)));
        }
        for dst in &mut mma.d[..n_c] {
            *dst = self.registers.fresh(Class::Bits64);
        }
        let results = mma.d;
        self.emit(OpKind::Mma(Box::new(mma)))?;
        for (at, value) in (0..).zip(results.into_iter().take(n_c)) {
            for (half, function) in [(0, Builtin::Lo32Of64), (1, Builtin::Hi32Of64)] {
                let dst = self.dst_word(2 * at + half)?;
                self.result(self.builtin(function), dst, &[value as Src])?;
            }
        }
        Ok(())
    }

    fn form_of_halves(&mut self, selector: Option<u8>) -> Option<MmaForm> {
        let k = self.take_choice(&[
            (Modifier::W1684, 4),
            (Modifier::W1688, 8),
            (Modifier::W16816, 16),
            (Modifier::W16832, 32),
        ])?;
        let sum = if self.take_modifier(Modifier::F32) { AccumulatorType::F32 } else { AccumulatorType::F16 };
        let kinds = [(Modifier::Bf16, FactorType::Bf16), (Modifier::Tf32, FactorType::Tf32)];
        let kind = self.take_choice(&kinds).unwrap_or(FactorType::F16);
        self.ignore_modifier(Modifier::F16);
        MmaForm::new(16, k, Types::Small(kind, kind, sum), selector)
    }

    fn form_of_whole(&mut self, selector: Option<u8>) -> Option<MmaForm> {
        let (m, k) = self.take_choice(&[
            (Modifier::W8816, (8, 16)),
            (Modifier::W16816, (16, 16)),
            (Modifier::W16832, (16, 32)),
            (Modifier::W16864, (16, 64)),
            (Modifier::W88128, (8, 128)),
            (Modifier::W168128, (16, 128)),
            (Modifier::W168256, (16, 256)),
        ])?;
        // Types of A and B, which may be the same.
        let kinds = self.instruction.modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::S8 => Some(WholeType::S8),
            Modifier::U8 => Some(WholeType::U8),
            _ => None,
        });
        let whole = match kinds.collect::<Vec<_>>()[..] {
            [a, b] => {
                let overflow = if self.take_modifier(Modifier::Sat) { Overflow::Saturate } else { Overflow::Wrap };
                Whole::Integers(a, b, overflow)
            }
            _ if self.take_modifier(Modifier::And) => Whole::And,
            _ => return None,
        };
        for modifier in [Modifier::S8, Modifier::U8, Modifier::Popc] {
            self.ignore_modifier(modifier);
        }
        MmaForm::new(m, k, Types::Whole(whole), selector)
    }

    fn form_of_doubles(&mut self) -> Option<MmaForm> {
        let (m, k) = self.take_choice(&[
            (Modifier::W8x8x4, (8, 4)),
            (Modifier::W16x8x4, (16, 4)),
            (Modifier::W16x8x8, (16, 8)),
            (Modifier::W16x8x16, (16, 16)),
        ])?;
        let rounds = [(Modifier::Rm, Round::Down), (Modifier::Rp, Round::Up), (Modifier::Rz, Round::Zero)];
        let round = self.take_choice(&rounds).unwrap_or(Round::Nearest);
        MmaForm::new(m, k, Types::F64(round), None)
    }

    fn fragment(&mut self, at: usize, wide: bool, to: &mut [Src]) -> Result<()> {
        let value = self.take_source(at).map(|operand| operand.value);
        let Some(value @ Value::Register(first)) = value else { return Err(self.unsupported()) };
        for (n, place) in (0..).zip(to) {
            *place = if !wide {
                self.word(value, n)?
            } else if first == Register::ZERO {
                // `RZ` reads as zero.
                self.wide_number(0)?
            } else {
                let register = Register(first.0.wrapping_add(2 * n));
                self.wide_value(Value::Register(register))?
            };
        }
        Ok(())
    }

    /// Takes the number of matrices of a load or store, and whether they are transposed.
    fn matrices(&mut self) -> (u8, bool) {
        let n = self.take_choice(&[(Modifier::W4, 4), (Modifier::W2, 2)]).unwrap_or(1);
        (n, self.take_modifier(Modifier::Mt88))
    }

    /// Lowers `LDSM`.
    pub(super) fn load_matrices(&mut self) -> Result<()> {
        let addr = self.shared_address()?;
        let (n, transposed) = self.matrices();
        let mut regs = [NONE; 4];
        // A destination may hold the address: all rows are read first.
        for (at, dst) in (0..n).zip(&mut regs) {
            *dst = self.dst_word(at)? as Src;
        }
        let access = MatrixAccess { space: MemSpace::Shared, addr, n, transposed, regs };
        self.emit(OpKind::MatrixLoad(Box::new(access)))
    }

    /// Lowers `STSM`.
    pub(super) fn store_matrices(&mut self) -> Result<()> {
        let addr = self.shared_address()?;
        let (n, transposed) = self.matrices();
        let mut regs = [NONE; 4];
        self.fragment(1, false, &mut regs[..usize::from(n)])?;
        let access = MatrixAccess { space: MemSpace::Shared, addr, n, transposed, regs };
        self.emit(OpKind::MatrixStore(Box::new(access)))
    }

    /// Lowers `MOVM`.
    pub(super) fn move_matrix(&mut self) -> Result<()> {
        let mut src = [NONE];
        self.fragment(0, false, &mut src)?;
        let dst = self.dst()?;
        self.emit(OpKind::MatrixMove { dst, src: src[0] })
    }
}

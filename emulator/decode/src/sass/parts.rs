//! Modifiers and operands of the instruction being lowered. Lowering takes each one that it uses; an instruction with
//! a part that nothing takes or ignores is refused, because that part could change its effect.

use sass::instruction::{Operand, Predicate, Register, Uniform, Value};
use sass::operation::{Modifier, Operation};

use super::SassLowering;
use crate::error::Result;

/// The parts that lowering has taken: bit sets of positions.
#[derive(Debug, Default)]
pub(super) struct TakenParts {
    modifiers: u32,
    sources: u32,
    pub(super) written_predicates: bool,
}

/// Modifiers that never change a result: cache hints, scopes, and fixed words of an operation's name.
#[rustfmt::skip]
const HINTS: [Modifier; 22] = {
    use Modifier::*;
    [
        Bypass, Constant, Cta, DeferBlocking, E, Ef, El, Eu, Gpu, Ltc64b, Ltc128b, Ltc256b, Lu, Lut, Mmio, Na, Nodec,
        Noinc, Rel, Sm, Strong, Sys,
    ]
};

/// Returns whether a modifier never changes a result of an operation.
fn is_hint(operation: Operation, modifier: Modifier) -> bool {
    use Modifier::{
        All, Async, Ctapool, Dealloc, F32, Ftz, G, Inc, Iv, Ivall, L, L2, Ldgstsbar, Le, M88, Mma, Mt88, Pf, Red,
        Result, Rn, S, Sc, Spin, Syncs, Trans64, Trap, TryAlloc, U32, U64, View, W16, W32, W64,
    };
    HINTS.contains(&modifier)
        || match operation {
            Operation::Arrives => matches!(modifier, Ldgstsbar | W64),
            Operation::Atom => matches!(modifier, Ftz | Rn | Spin),
            Operation::Atomg | Operation::Redg => matches!(modifier, Ftz | Rn),
            Operation::Atoms => matches!(modifier, Inc | W32 | Spin),
            Operation::B2r => modifier == Result,
            Operation::Bar => modifier == Red,
            Operation::Bmov => modifier == W32,
            Operation::Bpt => modifier == Trap,
            Operation::Cctl => modifier == Ivall,
            Operation::Depbar => modifier == Le,
            Operation::Fence => matches!(modifier, View | Async | S | G),
            Operation::Hfma2 => modifier == Mma,
            Operation::I2fp => modifier == F32,
            Operation::Ldsm | Operation::Stsm => matches!(modifier, W16 | M88),
            Operation::Membar => matches!(modifier, Sc | All),
            Operation::Movm => matches!(modifier, W16 | Mt88),
            Operation::Nanosleep => modifier == Syncs,
            Operation::Shf | Operation::Ushf => matches!(modifier, L | U32 | U64),
            Operation::Syncs => modifier == Trans64,
            Operation::Ublkpf | Operation::Utmapf => modifier == L2,
            Operation::Usetmaxreg => matches!(modifier, Dealloc | TryAlloc | Ctapool),
            Operation::Utmacctl => matches!(modifier, Pf | Iv),
            Operation::Warpgroup => modifier == Le,
            _ => false,
        }
}

impl SassLowering<'_> {
    pub(super) fn take_modifier(&mut self, modifier: Modifier) -> bool {
        let own = self.instruction.modifiers.iter().enumerate();
        let bits = own.filter(|(_, own)| **own == modifier).fold(0, |bits, (at, _)| bits | bit(at));
        self.taken.modifiers |= bits;
        bits != 0
    }

    /// Takes the first of these modifiers that the instruction has, and returns its value.
    pub(super) fn take_choice<T: Copy>(&mut self, choices: &[(Modifier, T)]) -> Option<T> {
        choices.iter().find(|(modifier, _)| self.take_modifier(*modifier)).map(|&(_, chosen)| chosen)
    }

    /// Takes all of these modifiers, and returns their values in the instruction's order.
    pub(super) fn take_all<T: Copy>(&mut self, choices: &[(Modifier, T)]) -> Vec<T> {
        let value = |own: &Modifier| choices.iter().find(|(modifier, _)| modifier == own).map(|&(_, value)| value);
        let values = self.instruction.modifiers.iter().filter_map(value).collect();
        choices.iter().for_each(|(modifier, _)| self.ignore_modifier(*modifier));
        values
    }

    /// Takes those of these modifiers that the instruction has, and returns their values in the order of `choices`.
    pub(super) fn take_flags<T: Copy>(&mut self, choices: &[(Modifier, T)]) -> Vec<T> {
        choices.iter().filter(|(modifier, _)| self.take_modifier(*modifier)).map(|&(_, value)| value).collect()
    }

    pub(super) fn ignore_modifier(&mut self, modifier: Modifier) {
        self.take_modifier(modifier);
    }

    pub(super) fn take_source(&mut self, at: usize) -> Option<Operand> {
        self.taken.sources |= bit(at);
        self.instruction.sources().get(at).copied()
    }

    pub(super) fn take_first_source<T>(&mut self, make: impl Fn(Value) -> Option<T>) -> Result<T> {
        let mut sources = self.instruction.sources().iter().enumerate();
        let found = sources.find_map(|(at, operand)| Some((at, make(operand.value)?)));
        let (at, made) = found.ok_or_else(|| self.unsupported())?;
        self.ignore_source(at);
        Ok(made)
    }

    pub(super) fn ignore_source(&mut self, at: usize) {
        self.take_source(at);
    }

    /// Returns whether all parts that could change the instruction's effect are taken.
    pub(super) fn all_taken(&self) -> bool {
        let (instruction, taken) = (self.instruction, &self.taken);
        let modifiers = instruction
            .modifiers
            .iter()
            .enumerate()
            .all(|(at, &modifier)| taken.modifiers & bit(at) != 0 || is_hint(instruction.operation, modifier));
        let sources = { instruction.sources().iter().enumerate() }
            .all(|(at, operand)| taken.sources & bit(at) != 0 || is_neutral(operand));
        let written = |operand: &Operand| match operand.value {
            Value::Predicate(predicate) | Value::UniformPredicate(predicate) => predicate != Predicate::TRUE,
            _ => false,
        };
        modifiers && sources && (taken.written_predicates || !instruction.destinations().iter().any(written))
    }
}

fn bit(at: usize) -> u32 {
    1 << at.min(31)
}

/// Returns whether an operand has its neutral value, or is always read.
fn is_neutral(operand: &Operand) -> bool {
    match operand.value {
        Value::Register(register) => register == Register::ZERO,
        Value::Uniform(register) => register == Uniform::ZERO,
        Value::Predicate(predicate) | Value::UniformPredicate(predicate) => {
            predicate == Predicate::TRUE && !operand.negated
        }
        Value::Immediate(bits) => bits == 0,
        Value::Memory(_) | Value::Label(_) | Value::Barrier(_) | Value::Scoreboard(_) | Value::Predicates => true,
        Value::Constant(_) | Value::Special(_) | Value::Matrices { .. } | Value::Group => false,
    }
}

//! Record of the modifiers and operands that lowering has read: an instruction with unread ones is refused.

use std::cell::Cell;

use sass::instruction::{Operand, Predicate, Register, Uniform, Value};

use super::Lower;

/// Bit sets of positions.
#[derive(Debug, Default)]
pub(super) struct Seen {
    modifiers: Cell<u32>,
    sources: Cell<u32>,
    predicates: Cell<bool>,
}

/// Modifiers that change no result of any instruction: cache hints, scopes, and parts of every instruction's name.
#[rustfmt::skip]
const HINTS: [&str; 22] = [
    "BYPASS", "CONSTANT", "CTA", "DEFER_BLOCKING", "E", "EF", "EL", "EU", "GPU", "LTC128B", "LTC256B",
    "LTC64B", "LU", "LUT", "MMIO", "NA", "NODEC", "NOINC", "REL", "SM", "STRONG", "SYS",
];

/// Modifiers that change no result of some operations.
const OF_OPERATIONS: [(&str, &[&str]); 18] = [
    ("ATOM", &["FTZ", "RN", "SPIN"]),
    ("ATOMG", &["FTZ", "RN"]),
    ("REDG", &["FTZ", "RN"]),
    ("ATOMS", &["INC", "32", "SPIN"]),
    ("B2R", &["RESULT"]),
    ("BAR", &["RED"]),
    ("BMOV", &["32"]),
    ("BPT", &["TRAP"]),
    ("CCTL", &["IVALL"]),
    ("DEPBAR", &["LE"]),
    ("HFMA2", &["MMA"]),
    ("I2FP", &["F32"]),
    ("LDSM", &["16", "M88"]),
    ("MEMBAR", &["SC", "ALL"]),
    ("MOVM", &["16", "MT88"]),
    ("SHF", &["L", "U32", "U64"]),
    ("STSM", &["16", "M88"]),
    ("USHF", &["L", "U32", "U64"]),
];

impl Lower<'_> {
    /// True if the instruction has a modifier; marks it read.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.has_such(|own| own == modifier)
    }

    /// First of these lower-case names that the instruction has as a modifier; marks it read.
    pub(super) fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        { names.iter().copied() }.find(|name| self.has_such(|own| own.eq_ignore_ascii_case(name)))
    }

    /// Value of the first of these modifiers that the instruction has; marks it read.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(name, _)| self.has(name)).map(|&(_, chosen)| chosen)
    }

    fn has_such(&self, is: impl Fn(&str) -> bool) -> bool {
        let own = self.instruction.modifiers.iter().enumerate();
        let bits = { own.filter(|(_, own)| is(own.name())) }.fold(0, |bits, (at, _)| bits | bit(at));
        self.seen.modifiers.set(self.seen.modifiers.get() | bits);
        bits != 0
    }

    /// Source at a position; marks it read.
    pub(super) fn look_at(&self, at: usize) -> Option<Operand> {
        self.seen.sources.set(self.seen.sources.get() | bit(at));
        self.instruction.sources().get(at).copied()
    }

    /// First source that `make` accepts, and its position.
    pub(super) fn find_source<T>(&self, make: impl Fn(Value) -> Option<T>) -> Option<(usize, T)> {
        let mut sources = self.instruction.sources().iter().enumerate();
        let (at, made) = sources.find_map(|(at, operand)| Some((at, make(operand.value)?)))?;
        self.look_at(at);
        Some((at, made))
    }

    pub(super) fn look_at_written_predicates(&self) {
        self.seen.predicates.set(true);
    }

    /// True if no unread part could change the instruction's effect.
    pub(super) fn is_all_seen(&self) -> bool {
        let name = self.name();
        let hints = OF_OPERATIONS.iter().find(|(operation, _)| *operation == name);
        let is_hint = |modifier: &str| {
            HINTS.contains(&modifier) || hints.is_some_and(|(_, hints)| hints.contains(&modifier))
        };
        let modifiers = { self.instruction.modifiers.iter().enumerate() }
            .all(|(at, own)| self.seen.modifiers.get() & bit(at) != 0 || is_hint(own.name()));
        let sources = { self.instruction.sources().iter().enumerate() }
            .all(|(at, operand)| self.seen.sources.get() & bit(at) != 0 || is_nothing(operand));
        let written = |operand: &Operand| match operand.value {
            Value::Predicate(predicate) | Value::UniformPredicate(predicate) => predicate != Predicate::TRUE,
            _ => false,
        };
        let predicates = self.seen.predicates.get() || !self.instruction.destinations().iter().any(written);
        modifiers && sources && predicates
    }
}

fn bit(at: usize) -> u32 {
    1 << at.min(31)
}

/// True if an operand has its neutral value, or is always read.
fn is_nothing(operand: &Operand) -> bool {
    match operand.value {
        Value::Register(register) => register == Register::ZERO,
        Value::Uniform(register) => register == Uniform::ZERO,
        Value::Predicate(predicate) | Value::UniformPredicate(predicate) => {
            predicate == Predicate::TRUE && !operand.negated
        }
        Value::Immediate(bits) => bits == 0,
        Value::Memory(_) | Value::Label(_) | Value::Barrier(_) | Value::Scoreboard(_) | Value::Predicates => {
            true
        }
        Value::Constant(_) | Value::Special(_) => false,
    }
}

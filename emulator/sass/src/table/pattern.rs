//! Grammar of the table, parsed once.
//!
//! Operands beside those that [`super`] explains: `PR` all predicates; `SR@` a special register; `B@` a convergence
//! barrier; `SB@` a scoreboard; `L@34` the distance of a label in the thirty bits from 34, `L` that of a branch; `c@`
//! a constant; `D` is `B` with the bit of `C` for reuse; `K` a constant indexed by the register at 24; `S@` and `G@`
//! memory, with the uniform register at that bit; `U@` memory at a uniform register, `U@24+40` with an offset from bit
//! 40; `gdesc@` matrices in shared memory; `gsb` the products of the warpgroup;
//! `iUP@` a uniform predicate by 7 minus its number.

use super::bits::Bits;
use crate::architecture::Architecture;
use crate::operation::{Modifier, Operation};

/// Places of the operands of arithmetic: `rr` has B and C in registers; `i` is an immediate, `c` a constant, `u` a
/// uniform register. There is one field for such an operand: if it is C, C is in B's field, and B in C's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Rr = 1,
    Ri,
    Rc,
    Ir,
    Cr,
    Ur,
    Ru,
}

impl Form {
    pub(super) fn from_name(name: &str) -> Option<Form> {
        Some(match name {
            "rr" => Form::Rr,
            "ri" => Form::Ri,
            "rc" => Form::Rc,
            "ir" => Form::Ir,
            "cr" => Form::Cr,
            "ur" => Form::Ur,
            "ru" => Form::Ru,
            _ => return None,
        })
    }
}

/// A mnemonic with its fields, and the other bits of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) operation: Operation,
    pub(crate) parts: Vec<Part>,
    fixed: u128,
    /// Required value of the bits in `fixed`.
    value: u128,
    /// All bits with a meaning.
    known: u128,
    /// Architectures that have the row; empty for all.
    pub(crate) architectures: Vec<Architecture>,
}

/// A part of a mnemonic: a fixed word, or a field that selects words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Word(Modifier),
    /// Alternatives by the field's value; `None` has no meaning.
    Choice(Bits, Vec<Option<Alternative>>),
}

/// The words that one value of a field stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alternative {
    modifiers: Vec<Modifier>,
    /// First architecture on which the value has a meaning.
    since: Architecture,
}

fn words(text: &str) -> Vec<Modifier> {
    let modifier = |name| Modifier::from_name(name).unwrap_or_else(|| panic!("{name} is not a modifier"));
    text.split('.').skip(1).map(modifier).collect()
}

/// Reads two numbers with `joint` between them, such as `80+2`; `None` for a single one, `80`.
fn numbers(text: &str, joint: char) -> (u32, Option<u32>) {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"));
    match text.split_once(joint) {
        Some((low, width)) => (number(low), Some(number(width))),
        None => (number(text), None),
    }
}

/// The opcode, the guard, and the control bits.
const COMMON: u128 = 0xffff | 0x1f_ffff << 105;

impl Layout {
    pub(super) fn read(pattern: &str, others: &str, slots: &Operands) -> Layout {
        let end = pattern.find(['.', '{']).unwrap_or(pattern.len());
        let (name, mut rest) = pattern.split_at(end);
        let operation = Operation::from_name(name).unwrap_or_else(|| panic!("{name} is not an operation"));
        let (mut parts, mut known) = (Vec::new(), COMMON | slots.known);
        while !rest.is_empty() {
            let Some(inner) = rest.strip_prefix('{') else {
                let end = rest.find('{').unwrap_or(rest.len());
                parts.extend(words(&rest[..end]).into_iter().map(Part::Word));
                rest = &rest[end..];
                continue;
            };
            let (inner, after) = inner.split_once("}@").expect("braces have a place");
            let end = after.find(['.', '{']).unwrap_or(after.len());
            let (low, _) = numbers(&after[..end], '+');
            let choices: Vec<_> = inner
                .split(',')
                .map(|choice| {
                    let since = match choice.as_bytes().first() {
                        Some(b'?') => return None,
                        Some(b'^') => Architecture::Sm90,
                        Some(b'*') => Architecture::Sm80,
                        _ => Architecture::Sm75,
                    };
                    let modifiers = words(choice.trim_start_matches(['^', '*']));
                    Some(Alternative { modifiers, since })
                })
                .collect();
            let bits = Bits::new(low, usize::BITS - (choices.len() - 1).leading_zeros());
            known |= bits.mask();
            parts.push(Part::Choice(bits, choices));
            rest = &after[end..];
        }
        let (mut fixed, mut value) = (slots.fixed, slots.value);
        let mut architectures = Vec::new();
        for other in others.split_whitespace() {
            if let Some(sm) = other.strip_prefix("sm_") {
                let architecture = Architecture::of(numbers(sm, '+').0);
                architectures.push(architecture.unwrap_or_else(|| panic!("sm_{sm} is not an architecture")));
                continue;
            }
            let (range, number) = other.split_once('=').expect("other bits have a value");
            let (low, end) = range.split_once("..").expect("other bits are a range");
            let (low, end) = (numbers(low, '+').0, numbers(end, '+').0);
            let mask = Bits::new(low, end - low).mask();
            fixed |= mask;
            value = value & !mask | u128::from(numbers(number, '+').0) << low;
        }
        Layout { operation, parts, fixed, value, known: known | fixed, architectures }
    }

    /// Returns an instruction of the row in which each field has its first meaningful value.
    #[cfg(test)]
    pub(crate) fn example(&self, architecture: Architecture) -> u128 {
        let fields = self.parts.iter().map(|part| match part {
            Part::Word(_) => 0,
            Part::Choice(bits, choices) => {
                let first = choices
                    .iter()
                    .position(|choice| choice.as_ref().is_some_and(|choice| choice.since <= architecture))
                    .expect("a field has a value");
                (first as u128) << bits.low
            }
        });
        // A descriptor of memory needs its register.
        fields.fold(self.value, |word, field| word | field)
    }

    /// Returns the modifiers of an instruction, if it belongs to this row.
    pub(crate) fn modifiers(&self, architecture: Architecture, word: u128) -> Option<Vec<Modifier>> {
        if word & !self.known != 0 || word & self.fixed != self.value {
            return None;
        }
        let mut found = Vec::new();
        for part in &self.parts {
            match part {
                Part::Word(modifier) => found.push(*modifier),
                Part::Choice(bits, choices) => {
                    let choice = choices.get(bits.of(word) as usize)?.as_ref()?;
                    if architecture < choice.since {
                        return None;
                    }
                    found.extend(&choice.modifiers);
                }
            }
        }
        Some(found)
    }
}

impl Layout {
    /// Returns the bits that give an instruction of the row these modifiers, beside those of its operands.
    pub(crate) fn encode(&self, architecture: Architecture, modifiers: &[Modifier]) -> Option<u128> {
        Some(self.value | choose(&self.parts, architecture, modifiers)?)
    }
}

/// Returns the fields by which the parts of a mnemonic stand for exactly these words.
fn choose(parts: &[Part], architecture: Architecture, words: &[Modifier]) -> Option<u128> {
    let Some((part, rest)) = parts.split_first() else { return words.is_empty().then_some(0) };
    match part {
        Part::Word(modifier) => choose(rest, architecture, words.strip_prefix(&[*modifier])?),
        Part::Choice(bits, choices) => choices.iter().enumerate().find_map(|(value, choice)| {
            let choice = choice.as_ref().filter(|choice| choice.since <= architecture)?;
            let others = choose(rest, architecture, words.strip_prefix(&choice.modifiers[..])?)?;
            Some(others | (value as u128) << bits.low)
        }),
    }
}

/// The operands of a row, parsed for one form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operands {
    pub(crate) tokens: Vec<Token>,
    pub(crate) n_destinations: usize,
    known: u128,
    fixed: u128,
    value: u128,
}

/// One operand of a row: its place in the encoding, and how it is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub(crate) slot: Slot,
    pub(crate) kind: ImmediateFormat,
    /// The bit that negates or inverts.
    pub(crate) negate: Option<u32>,
    /// Whether that bit inverts; else it negates.
    pub(crate) inverts: bool,
    pub(crate) absolute: Option<u32>,
    pub(crate) reuse: Option<u32>,
    /// Bit that selects the halves.
    pub(crate) halves: Option<u32>,
    /// Whether it is printed after the preceding operand without a comma.
    pub(crate) joined: bool,
    /// Value that is not printed: a register's number, and its negation.
    pub(crate) hidden: Option<(u8, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImmediateFormat {
    Signed,
    Unsigned,
    Decimal,
    Float,
    Double,
    Halves,
    BrainHalves,
}

impl ImmediateFormat {
    /// Looks a format up by the letter after an operand.
    fn from_name(name: &str) -> ImmediateFormat {
        match name {
            "s" => ImmediateFormat::Signed,
            "u" => ImmediateFormat::Unsigned,
            "n" => ImmediateFormat::Decimal,
            "f" => ImmediateFormat::Float,
            "d" => ImmediateFormat::Double,
            // `i` and `j` stand beside registers that are read whole.
            "h" | "i" => ImmediateFormat::Halves,
            "b" | "j" => ImmediateFormat::BrainHalves,
            other => panic!("`{other}` is not a format of immediates"),
        }
    }
}

/// Kind and place of an operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Slot {
    Register(u32),
    Uniform(u32),
    Predicate(u32),
    UniformPredicate(u32),
    InvertedPredicate(u32),
    Predicates,
    Immediate(Bits),
    /// A table of eight bits: the lower three at 64, the others at 72.
    Table,
    /// Bits of the offset's sixteen from here, the bank's five after them.
    Constant(u32),
    /// `Constant` where arithmetic reads a whole word: before sm_90 the lowest two bits of the offset have no meaning.
    WordConstant(u32),
    /// `Constant` with a register at 24.
    IndexedConstant,
    /// `Constant` with a uniform register at bit 24.
    UniformConstant,
    Special(u32),
    Barrier(u32),
    Scoreboard(u32),
    Label,
    BranchLabel,
    /// The distance that a branch adds to a register.
    BranchOffset,
    /// A number of bytes, in the 58 bits from 24.
    CodeLabel,
    /// Bit of the uniform register.
    Shared(u32),
    /// `Shared` without a factor.
    Local(u32),
    /// An address of 64 bits and a distance of 32.
    Far,
    Global(u32),
    /// `Global` in an atomic: these bits select a wide address.
    Atomic(u32),
    /// Destination of a copy from global to shared memory.
    CopyTo,
    /// Source of such a copy.
    CopyFrom,
    /// The uniform register that is the address, and the first bit of an offset.
    UniformBase(u32, Option<u32>),
    /// Matrices in shared memory, by the descriptor in a pair of uniform registers.
    Matrices(u32),
    Group,
}

impl Slot {
    /// Returns the bits of the encoding that the operand occupies.
    fn mask(self) -> u128 {
        let memory = |uniform| Bits::new(SLOT_A, 8).mask() | Bits::new(40, 24).mask() | Bits::new(uniform, 6).mask();
        match self {
            Slot::Register(low) | Slot::Special(low) => Bits::new(low, 8).mask(),
            Slot::Uniform(low) => Bits::new(low, 6).mask(),
            Slot::Predicate(low)
            | Slot::UniformPredicate(low)
            | Slot::InvertedPredicate(low)
            | Slot::Scoreboard(low) => Bits::new(low, 3).mask(),
            Slot::Predicates | Slot::Group => 0,
            Slot::Table => Bits::new(64, 3).mask() | Bits::new(72, 5).mask(),
            Slot::Immediate(bits) => bits.mask(),
            Slot::Constant(low) | Slot::WordConstant(low) => Bits::new(low, 21).mask(),
            Slot::IndexedConstant => Bits::new(38, 21).mask() | Bits::new(SLOT_A, 8).mask(),
            Slot::UniformConstant => Bits::new(38, 21).mask() | Bits::new(SLOT_A, 6).mask(),
            Slot::Barrier(low) => Bits::new(low, 4).mask(),
            Slot::Label => Bits::new(34, 30).mask(),
            Slot::BranchLabel | Slot::BranchOffset => Bits::new(34, 48).mask() | Bits::new(16, 8).mask(),
            Slot::CodeLabel => Bits::new(24, 58).mask(),
            Slot::CopyTo => Bits::new(16, 8).mask() | Bits::new(44, 20).mask(),
            Slot::CopyFrom => {
                Bits::new(SLOT_A, 8).mask() | Bits::new(32, 12).mask() | Bits::new(64, 6).mask() | 1 << 76
            }
            Slot::Far => Bits::new(SLOT_A, 8).mask() | Bits::new(32, 32).mask(),
            Slot::UniformBase(low, offset) => {
                Bits::new(low, 6).mask() | offset.map_or(0, |offset| Bits::new(offset, 24).mask())
            }
            Slot::Matrices(low) => {
                let bits = self.bits_of_factors().into_iter().flatten();
                bits.fold(Bits::new(low, 6).mask(), |mask, bit| mask | 1 << bit)
            }
            Slot::Local(uniform) | Slot::Atomic(uniform) => memory(uniform) | 1 << 91,
            Slot::Shared(uniform) => memory(uniform) | 3 << 78 | 1 << 91,
            Slot::Global(uniform) => memory(uniform) | 3 << 90 | 1 << 76,
        }
    }
}

impl Slot {
    /// Returns the bits by which factors in shared memory are transposed: first, second; and negated. A factor in
    /// registers has its sign itself.
    pub(crate) fn bits_of_factors(self) -> [Option<u32>; 4] {
        let sign_of_first = (self == Slot::Matrices(SLOT_A)).then_some(72);
        [Some(61), Some(62), sign_of_first, Some(63)]
    }
}

const SLOT_A: u32 = 24;
const SLOT_B: u32 = 32;
const SLOT_C: u32 = 64;

/// Reads the default value of an operand: a register's number, and its negation.
fn default_value(text: &str) -> (u8, bool) {
    match text {
        "PT" => (7, false),
        "!PT" => (7, true),
        "RZ" => (255, false),
        "URZ" => (63, false),
        "0" => (0, false),
        other => panic!("`{other}` is not a default"),
    }
}

impl Operands {
    pub(super) fn read(text: &str, form: Form) -> Operands {
        let mut operands = Operands { tokens: Vec::new(), n_destinations: 0, known: 0, fixed: 0, value: 0 };
        let (written, read) = text.split_once('=').map_or(("", text), |(written, read)| {
            // The `=` of a default within braces does not end the destinations.
            if written.matches('{').count() > written.matches('}').count() {
                text.split_once(" = ").unwrap_or(("", text))
            } else {
                (written, read)
            }
        });
        let three = read.split_whitespace().any(|token| token.contains('C'));
        operands.n_destinations = written.split_whitespace().count();
        for token in written.split_whitespace().chain(read.split_whitespace()) {
            operands.add(token, form, three);
        }
        operands
    }

    /// Parses one operand. `three` tells whether the row has an operand C.
    fn add(&mut self, text: &str, form: Form, three: bool) {
        let (text, hidden) = match text.strip_prefix('{') {
            None => (text, None),
            Some(inner) => {
                let inner = inner.trim_end_matches('}');
                let (token, default) = inner.split_once('=').unwrap_or((inner, "PT"));
                (token, Some(default))
            }
        };
        let (joined, text) = text.strip_prefix('_').map_or((false, text), |text| (true, text));
        let negates = text.starts_with(['-', '!']);
        let inverts = text.starts_with('~');
        let text = text.trim_start_matches(['-', '!', '~']);
        let absolute = text.starts_with('|');
        let (name, kind_name) = match text.split_once('.') {
            None if text.starts_with("I@") => (text, "u"),
            None => (text, "s"),
            Some((name, kind)) => (name, kind),
        };
        let name = name.trim_matches('|');
        let (name, at) = name.split_once('@').map_or((name, None), |(name, at)| (name, Some(at)));
        let (low, width) = at.map_or((0, None), |at| numbers(at, '+'));
        let halves = matches!(kind_name, "h" | "b");
        let mut token = Token {
            slot: Slot::Predicates,
            kind: ImmediateFormat::from_name(kind_name),
            negate: None,
            inverts,
            absolute: None,
            reuse: None,
            halves: None,
            joined,
            hidden: hidden.map(default_value),
        };
        let mut modify = |token: &mut Token, negate: u32, absolute_at: u32, reuse: Option<u32>, half_at: u32| {
            token.negate = (negates || inverts).then_some(negate);
            token.absolute = absolute.then_some(absolute_at);
            token.halves = halves.then_some(half_at);
            token.reuse = reuse;
            for bit in [token.negate, token.absolute].into_iter().flatten() {
                self.known |= 1 << bit;
            }
            if halves {
                self.known |= 3 << half_at;
            }
        };
        token.slot = match name {
            "A" => {
                modify(&mut token, 72, 73, Some(122), 74);
                Slot::Register(SLOT_A)
            }
            "uA" => {
                modify(&mut token, 72, 73, None, 74);
                Slot::Uniform(SLOT_A)
            }
            "B" if at.is_some() => Slot::Barrier(low),
            "B" | "C" | "D" | "uB" | "uC" => {
                let swapped = three && matches!(form, Form::Ri | Form::Rc | Form::Ru);
                let uniform = name.starts_with('u');
                let first = name.ends_with(['B', 'D']) != swapped;
                // The reuse bits follow the operand, not its place.
                let reuse = Some(if name.ends_with('B') { 123 } else { 124 }).filter(|_| !uniform);
                if first {
                    modify(&mut token, 63, 62, reuse, 60);
                    self.place_by_form(&mut token, form, uniform)
                } else {
                    if matches!(kind_name, "h" | "b" | "i" | "j") {
                        modify(&mut token, 84, 83, reuse, 81)
                    } else {
                        modify(&mut token, 75, 74, reuse, 81)
                    }
                    if uniform { Slot::Uniform(SLOT_C) } else { Slot::Register(SLOT_C) }
                }
            }
            "R" => Slot::Register(low),
            "UR" => {
                if inverts {
                    token.negate = Some(low + 6);
                    self.known |= 1 << (low + 6);
                }
                Slot::Uniform(low)
            }
            "P" | "UP" | "iUP" => {
                if negates {
                    token.negate = Some(low + 3);
                    self.known |= 1 << (low + 3);
                }
                match name {
                    "P" => Slot::Predicate(low),
                    "iUP" => Slot::InvertedPredicate(low),
                    _ => Slot::UniformPredicate(low),
                }
            }
            "PR" => Slot::Predicates,
            "I" => Slot::Immediate(Bits::new(low, width.expect("immediates have a width"))),
            "table" => Slot::Table,
            "SR" => Slot::Special(low),
            "SB" => Slot::Scoreboard(low),
            "L" if at.is_some() => Slot::Label,
            "L" => Slot::BranchLabel,
            "LX" => Slot::BranchOffset,
            "LC" => Slot::CodeLabel,
            "c" => Slot::Constant(low),
            "cu" => Slot::UniformConstant,
            "K" => Slot::IndexedConstant,
            "S" => Slot::Shared(low),
            "local" => Slot::Local(low),
            "far" => Slot::Far,
            "G" => Slot::Global(low),
            "atomic" => Slot::Atomic(low),
            "to" => Slot::CopyTo,
            "from" => Slot::CopyFrom,
            "U" => Slot::UniformBase(low, width),
            "gdesc" => Slot::Matrices(low),
            "gsb" => Slot::Group,
            other => panic!("`{other}` is not an operand"),
        };
        self.known |= token.slot.mask();
        self.tokens.push(token);
    }

    /// Returns the operand whose kind the form gives.
    fn place_by_form(&mut self, token: &mut Token, form: Form, uniform: bool) -> Slot {
        match form {
            Form::Rr if uniform => Slot::Uniform(SLOT_B),
            Form::Rr => Slot::Register(SLOT_B),
            Form::Ri | Form::Ir => {
                token.reuse = None;
                for bit in [token.negate.take(), token.absolute.take()].into_iter().flatten() {
                    self.known &= !(1 << bit);
                }
                token.halves = None;
                Slot::Immediate(Bits::new(SLOT_B, 32))
            }
            Form::Rc | Form::Cr => {
                token.reuse = None;
                Slot::WordConstant(38)
            }
            Form::Ur | Form::Ru => {
                token.reuse = None;
                self.fixed |= 1 << 91;
                self.value |= 1 << 91;
                Slot::Uniform(SLOT_B)
            }
        }
    }
}

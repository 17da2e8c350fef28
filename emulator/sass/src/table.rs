//! The machine instructions that the crate can decode: one row per form or group of forms of sm_75, sm_80 and sm_90.
//!
//! The rows lie in text files, `table/*.txt`. A row has the operation's number (bits 0 to 8), its forms (bits 9 to 11),
//! the mnemonic, the operands, other bits (`-` for none) and one line for people, in columns with two spaces or more
//! between them. `<eviction>` in a mnemonic stands for the field that the line `<eviction>  {…}` gives; `#` begins a
//! comment. Encodings were found with `nvdisasm`, by printing instructions with single bits changed;
//! Mesa's compiler NAK (`sm70_encode.rs`, MIT licence) documents most of them too, and gave the first guess.
//!
//! **Mnemonic.** `FADD{,.FTZ}@80{,.RM,.RP,.RZ}@78`: in braces the words for the values 0, 1, 2 … of the field that
//! begins at bit 80; `?` is a value without a meaning, `^` one that means something on sm_90 only, `*` one on sm_80 and
//! sm_90. The field is as wide as the number of alternatives needs.
//!
//! **Operands.** Destinations stand before `=`. `R@16` is a register in the eight bits from 16, `P@81` a predicate,
//! `UR@` and `UP@` those of the warp; `I@72+8` an immediate of eight bits, with `.s` a signed one, with `.n` in
//! decimal. `A`, `B`, `C` are the three operands of arithmetic; the form gives their kinds and places (`form` below).
//! `.f`, `.d`, `.h`, `.u` after them give the way in which an immediate in their place is printed: as a float, a
//! double, two halves, or an integer without sign. `uA`, `uB`, `uC` are the operands of arithmetic of the warp. In
//! front, `-` may negate, `|` make absolute, `~` invert, and `!` negate a predicate. In `{…}` an operand is printed
//! only when its value differs from the default, `PT` or the one after `=`. `pattern` explains the others.
//!
//! **Other bits.** `77..81=15` are bits that have this value. All bits that no part of a row mentions are zero: an
//! instruction in which they are not is refused. `sm_80 sm_90`: only these architectures have the row.

mod bits;
mod pattern;
mod refused;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub(crate) use bits::{Bits, field};
pub(crate) use pattern::{Form, ImmediateFormat, Operands, Slot, Token};
pub(crate) use refused::name as refused;

use crate::{architecture::Architecture, operation::Operation};

/// A form of an instruction, or a group of forms that differ in modifiers or in the kinds of their operands.
#[derive(Clone, PartialEq)]
pub struct Row {
    pub operation: Operation,
    /// Mnemonic and modifiers with their bits: `FADD{,.FTZ}@80{,.RM,.RP,.RZ}@78{,.SAT}@77`.
    pub pattern: String,
    /// Operands with their bits: `R@16 = -|A| -|B|.f`.
    pub operands: &'static str,
    pub(crate) opcode: u16,
    pub(crate) form: Form,
    pub(crate) layout: pattern::Layout,
    pub(crate) slots: Operands,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row({:#05x} {})", self.opcode, self.pattern)
    }
}

impl Row {
    pub fn is_on(&self, architecture: Architecture) -> bool {
        let on = &self.layout.architectures;
        on.is_empty() || on.contains(&architecture)
    }

    /// Returns whether an instruction of the row is guarded by a uniform predicate.
    pub(crate) fn is_uniform(&self) -> bool {
        self.operation.is_uniform() || self.pattern == "SYNCS.EXCH.64"
    }

    /// Returns bits 0 to 11 of the instructions of this row.
    pub fn opcode(&self) -> u16 {
        self.opcode
    }
}

/// The rows as text, in the order in which those of an opcode are tried.
const TEXTS: [&str; 8] = [
    include_str!("table/moves.txt"),
    include_str!("table/integer.txt"),
    include_str!("table/float.txt"),
    include_str!("table/convert.txt"),
    include_str!("table/memory.txt"),
    include_str!("table/control.txt"),
    include_str!("table/uniform.txt"),
    include_str!("table/tensor.txt"),
];

/// Operations from this number on have a variable latency, and their operands are not kept.
const VARIABLE: u16 = 0x100;

struct Table {
    rows: Vec<Row>,
    /// Places of an opcode's rows.
    opcodes: Vec<Vec<u16>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { rows: Vec::new(), opcodes: vec![Vec::new(); 1 << 12] };
    let mut shared = Vec::new();
    for line in TEXTS.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let columns: Vec<&'static str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
        let (number, forms, pattern, operands, others) = match columns[..] {
            [number, forms, pattern, operands, others, _meaning] => (number, forms, pattern, operands, others),
            [name, field] => {
                shared.push((name, field));
                continue;
            }
            _ => panic!("`{line}` is not a row"),
        };
        let number = u16::from_str_radix(number.trim_start_matches("0x"), 16).expect("a row begins with its number");
        let pattern = shared.iter().fold(pattern.to_owned(), |pattern, (name, field)| pattern.replace(name, field));
        let others = others.trim_start_matches('-');
        for form in forms.split(' ') {
            let form = Form::from_name(form).expect("forms of the table have names");
            let opcode = number | (form as u16) << 9;
            let mut slots = Operands::read(operands, form);
            if number >= VARIABLE {
                slots.tokens.iter_mut().for_each(|token| token.reuse = None);
            }
            let layout = pattern::Layout::read(&pattern, others, &slots);
            table.opcodes[usize::from(opcode)].push(table.rows.len() as u16);
            let (operation, pattern) = (layout.operation, pattern.clone());
            table.rows.push(Row { operation, pattern, operands, opcode, form, layout, slots });
        }
    }
    table
});

pub fn rows() -> &'static [Row] {
    &TABLE.rows
}

/// Returns the rows of an opcode, in the order in which they are tried.
pub(crate) fn rows_of(opcode: u16) -> impl Iterator<Item = &'static Row> {
    let places = TABLE.opcodes.get(usize::from(opcode)).map_or(&[][..], Vec::as_slice);
    places.iter().map(|&at| &TABLE.rows[usize::from(at)])
}

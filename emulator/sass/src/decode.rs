//! Decoding of an instruction's bits by the rows of the table.

use crate::architecture::Architecture;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::instruction::{
    Address, Constant, Control, Guard, Halves, Index, Instruction, Operand, Predicate, Register, Uniform, Value,
};
use crate::special::SpecialRegister;
use crate::table::{self, Slot, Token, field};

/// Decodes one instruction. Fails when no row of its opcode on this architecture fits all of its bits.
pub fn decode(architecture: Architecture, word: u128, address: u32) -> Result<Instruction, DecodeError> {
    let opcode = field(word, 0, 12) as u16;
    let mut seen = None;
    for row in table::rows_of(opcode).filter(|row| row.is_on(architecture)) {
        seen.get_or_insert(row.operation);
        let Some(modifiers) = row.layout.modifiers(architecture, word) else { continue };
        let Some(operands) = row.slots.tokens.iter().map(|token| operand(architecture, word, address, token)).collect()
        else {
            continue;
        };
        return Ok(Instruction {
            architecture,
            address,
            guard: Guard {
                predicate: predicate(word, 12),
                negated: field(word, 15, 1) == 1,
                uniform: row.is_uniform(),
            },
            operation: row.operation,
            modifiers,
            operands,
            n_destinations: row.slots.n_destinations,
            control: Control::of(word),
            row,
        });
    }
    let kind = match seen {
        None => match table::refused(opcode) {
            Some(name) => DecodeErrorKind::Unsupported(name),
            None => DecodeErrorKind::Opcode(opcode),
        },
        Some(operation) => DecodeErrorKind::Form(operation),
    };
    Err(DecodeError { address, word, kind })
}

fn register(word: u128, low: u32) -> Register {
    Register(field(word, low, 8) as u8)
}

fn uniform(word: u128, low: u32) -> Uniform {
    Uniform(field(word, low, 6) as u8)
}

fn predicate(word: u128, low: u32) -> Predicate {
    Predicate(field(word, low, 3) as u8)
}

/// Reads the lowest `width` bits as a signed number.
fn signed(bits: u32, width: u32) -> i32 {
    let unused = 32 - width;
    (bits << unused) as i32 >> unused
}

fn operand(architecture: Architecture, word: u128, address: u32, token: &Token) -> Option<Operand> {
    let bit = |at: Option<u32>| at.is_some_and(|at| field(word, at, 1) == 1);
    let negate = bit(token.negate);
    Some(Operand {
        value: value(architecture, word, address, token)?,
        negated: negate && !token.inverts,
        absolute: bit(token.absolute),
        inverted: negate && token.inverts,
        // The kept operand is lost when another warp may issue in between.
        reuse: bit(token.reuse) && field(word, 109, 1) == 1,
        halves: match token.halves.map(|at| field(word, at, 2)) {
            None | Some(0) => Halves::Both,
            Some(1) => return None,
            Some(2) => Halves::Low,
            Some(_) => Halves::High,
        },
    })
}

fn value(architecture: Architecture, word: u128, address: u32, token: &Token) -> Option<Value> {
    let next = i64::from(address) + 16;
    Some(match token.slot {
        Slot::Register(low) => Value::Register(register(word, low)),
        Slot::Uniform(low) => Value::Uniform(uniform(word, low)),
        Slot::Predicate(low) => Value::Predicate(predicate(word, low)),
        Slot::UniformPredicate(low) => Value::UniformPredicate(predicate(word, low)),
        Slot::InvertedPredicate(low) => Value::UniformPredicate(Predicate(7 - predicate(word, low).0)),
        Slot::Predicates => Value::Predicates,
        Slot::Immediate(bits) if token.kind == table::ImmediateFormat::Signed => {
            Value::Immediate(signed(bits.of(word), bits.width) as u32)
        }
        Slot::Immediate(bits) => Value::Immediate(bits.of(word)),
        Slot::Table => Value::Immediate(field(word, 64, 3) | field(word, 72, 5) << 3),
        Slot::Constant(low) => constant(word, low, Index::None, false),
        Slot::WordConstant(low) => {
            let unused = if architecture == Architecture::Sm90 { 0 } else { 3 };
            constant(word & !(unused << low), low, Index::None, false)
        }
        Slot::IndexedConstant => match register(word, 24) {
            Register::ZERO => constant(word, 38, Index::None, true),
            index => constant(word, 38, Index::Register(index), true),
        },
        Slot::UniformConstant => constant(word, 38, Index::Uniform(uniform(word, 24)), true),
        Slot::Special(low) => Value::Special(SpecialRegister(field(word, low, 8) as u8)),
        Slot::Barrier(low) => Value::Barrier(field(word, low, 4) as u8),
        Slot::Scoreboard(low) => Value::Scoreboard(field(word, low, 3) as u8),
        Slot::Label => Value::Label(next + i64::from(signed(field(word, 34, 30), 30)) * 4),
        Slot::CodeLabel => {
            let distance = (word >> 24) as i64 & ((1 << 58) - 1);
            Value::Label(next.checked_add(distance << 6 >> 6)?)
        }
        Slot::BranchLabel | Slot::BranchOffset => {
            let (high, low) = ((word >> 34) as i64 & 0xffff_ffff_ffff, field(word, 16, 8));
            let distance = match architecture {
                // 56 bits.
                Architecture::Sm90 => (high << 8 | i64::from(low)) << 8 >> 8,
                _ if low == 0 => high << 16 >> 16,
                _ => return None,
            };
            Value::Label(next.checked_add(distance.checked_mul(4)?)?)
        }
        Slot::Atomic(at) => {
            let uniform = (field(word, 91, 1) == 1).then(|| uniform(word, at));
            let described = architecture != Architecture::Sm75;
            Value::Memory(Address {
                wide: true,
                uniform: uniform.filter(|_| !described),
                descriptor: uniform.filter(|_| described),
                ..Address::new(register(word, 24), signed(field(word, 40, 24), 24))
            })
        }
        Slot::CopyTo => Value::Memory(Address::new(register(word, 16), signed(field(word, 44, 20), 20))),
        Slot::CopyFrom => {
            let (described, uniform) = (field(word, 76, 1) == 1, uniform(word, 64));
            Value::Memory(Address {
                wide: true,
                uniform: (!described).then_some(uniform),
                descriptor: described.then_some(uniform),
                ..Address::new(register(word, 24), signed(field(word, 32, 12), 12))
            })
        }
        Slot::UniformBase(low, offset) => Value::Memory(Address {
            uniform: Some(uniform(word, low)),
            ..Address::new(Register::ZERO, offset.map_or(0, |offset| signed(field(word, offset, 24), 24)))
        }),
        Slot::Matrices(low) => {
            let is_set = |bit: Option<u32>| bit.is_some_and(|bit| field(word, bit, 1) == 1);
            let [a, b, minus_a, minus_b] = Slot::Matrices(low).bits_of_factors().map(is_set);
            Value::Matrices { descriptor: uniform(word, low), transposed: [a, b], negated: [minus_a, minus_b] }
        }
        Slot::Group => Value::Group,
        Slot::Far => {
            Value::Memory(Address { wide: true, ..Address::new(register(word, 24), field(word, 32, 32) as i32) })
        }
        Slot::Local(at) => Value::Memory(Address {
            uniform: (field(word, 91, 1) == 1).then(|| uniform(word, at)),
            ..Address::new(register(word, 24), signed(field(word, 40, 24), 24))
        }),
        Slot::Shared(at) => {
            let (base, offset) = (register(word, 24), field(word, 40, 24));
            let uniform = (field(word, 91, 1) == 1).then(|| uniform(word, at));
            // Before sm_90 an address without registers has no sign, and nothing to multiply.
            let is_absolute = architecture != Architecture::Sm90 && base == Register::ZERO;
            Value::Memory(Address {
                scale: if is_absolute { 1 } else { [1, 4, 8, 16][field(word, 78, 2) as usize] },
                uniform,
                ..Address::new(base, if is_absolute && uniform.is_none() { offset as i32 } else { signed(offset, 24) })
            })
        }
        Slot::Global(at) => {
            let (described, has_uniform) = (field(word, 76, 1) == 1, field(word, 91, 1) == 1);
            // The meaning of these bits without a uniform register is unknown.
            if (described || field(word, 90, 1) == 1) && !has_uniform {
                return None;
            }
            let uniform = has_uniform.then(|| uniform(word, at));
            Value::Memory(Address {
                // Without a uniform register, `.E` marks a 64-bit base.
                wide: field(word, 90, 1) == 1 || !has_uniform && field(word, 72, 1) == 1,
                extends: field(word, 90, 1) == 0 && has_uniform,
                uniform: uniform.filter(|_| !described),
                descriptor: uniform.filter(|_| described),
                ..Address::new(register(word, 24), signed(field(word, 40, 24), 24))
            })
        }
    })
}

fn constant(word: u128, low: u32, index: Index, signs: bool) -> Value {
    let offset = field(word, low, 16);
    Value::Constant(Constant {
        bank: field(word, low + 16, 5) as u8,
        index,
        offset: if signs { signed(offset, 16) } else { offset as i32 },
    })
}

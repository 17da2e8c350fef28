//! Instructions as text, for listings and messages.

use ptx::ast::{Instruction, Type};

pub(super) fn instruction(instruction: &Instruction) -> String {
    instruction.to_string()
}

/// Returns the number of multiply-adds that an instruction counts as.
pub(super) fn fmas(instruction: &Instruction) -> u8 {
    if !matches!(instruction.opcode.as_str(), "fma" | "mad") {
        return 0;
    }
    match instruction.types().last() {
        Some(Type::F32 | Type::F64 | Type::F16 | Type::Bf16) => 1,
        Some(Type::F16x2 | Type::Bf16x2) => 2,
        _ => 0,
    }
}

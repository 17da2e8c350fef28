//! Undefined-bit rule of each arithmetic instruction: see [`Flow`].

use ptx::ast::{Instruction, Type};

use crate::virtual_op::AluFunction;
use arithmetic::{Builtin, lanes::CpuLevel};
use program::{Flow, Ordering};

/// An unconditional move.
const PLAIN: Flow = Flow::Moved { data: 0b1111, shifts: false };

/// Returns the rule of an instruction's first result.
pub(crate) fn flow_of(instruction: &Instruction) -> Flow {
    let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
    flow_of_form(&instruction.opcode, &modifiers)
}

/// Returns the rule of the first result of a named instruction.
pub(crate) fn flow_of_form(opcode: &str, modifiers: &[&str]) -> Flow {
    let has = |modifier| modifiers.contains(&modifier);
    let types = || modifiers.iter().filter_map(|name| Type::from_name(name));
    let integers = types().all(is_integer);
    let pairs = ["f16x2", "bf16x2", "u16x2", "s16x2"].into_iter().any(has);
    let narrowed = has("hi") || has("sat");
    match opcode {
        "and" | "or" | "xor" | "not" | "lop3" | "selp" => Flow::Bitwise,
        "prmt" | "slct" => Flow::Moved { data: 0b0011, shifts: false },
        "shl" | "shr" | "bfe" => Flow::Moved { data: 0b0001, shifts: true },
        "shf" | "bfi" => Flow::Moved { data: 0b0011, shifts: true },
        "cvt" if integers && !narrowed && !has("pack") => PLAIN,
        "add" | "sub" | "mul" | "fma" | "neg" | "abs" | "min" | "max" if pairs => Flow::Halves,
        "add" | "addc" | "sub" | "subc" | "mul" | "mad" | "madc" | "neg" if integers && !narrowed => Flow::Upward,
        "setp" | "set" => match types().next_back() {
            Some(ty) => Flow::Compared(ordering(ty)),
            None => Flow::Mixed,
        },
        _ => Flow::Mixed,
    }
}

/// Returns the rule of the second result, given that of the first.
pub(crate) fn flow_of_second_result(first: Flow) -> Flow {
    match first {
        Flow::Compared(_) => first,
        // A carry depends on all bits below it.
        _ => Flow::Mixed,
    }
}

/// Returns the function of a [`Builtin`], with its flow; its rule is left unknown.
pub(crate) fn builtin_function(op: Builtin, level: CpuLevel) -> AluFunction {
    let moves = matches!(op, Builtin::Mov32 | Builtin::Mov64 | Builtin::MovPred);
    AluFunction { moves, ..AluFunction::from(arithmetic::builtin(op, level)).with_flow(flow_of_builtin(op)) }
}

fn flow_of_builtin(op: Builtin) -> Flow {
    match op {
        Builtin::MovPred | Builtin::NotPred | Builtin::PredTo32 | Builtin::PredOf32 => Flow::Bitwise,
        Builtin::Add32 | Builtin::Add64 | Builtin::Sub64 => Flow::Upward,
        Builtin::Mov32
        | Builtin::Mov64
        | Builtin::Lo32Of64
        | Builtin::Hi32Of64
        | Builtin::Pack64
        | Builtin::Pack32
        | Builtin::Lo16Of32
        | Builtin::Hi16Of32
        | Builtin::Word16Of64(_)
        | Builtin::Pack64x4
        | Builtin::ByteOf32(_)
        | Builtin::Pack16
        | Builtin::Pack32x4
        | Builtin::Zext64(_)
        | Builtin::Sext64(_)
        | Builtin::Zext32(_)
        | Builtin::Sext32(_) => PLAIN,
    }
}

fn ordering(ty: Type) -> Ordering {
    let bits = (ty.bytes() * 8) as u8;
    match ty {
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => Ordering::Signed(bits),
        ty if is_integer(ty) => Ordering::Unsigned,
        Type::F16x2 | Type::Bf16x2 => Ordering::Float(16),
        _ => Ordering::Float(bits),
    }
}

fn is_integer(ty: Type) -> bool {
    use Type::{B8, B16, B32, B64, S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, B8 | B16 | B32 | B64 | S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64)
}

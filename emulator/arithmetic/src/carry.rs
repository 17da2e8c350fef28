//! Carry chains: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
//!
//! The forms share one flag, and may follow each other in any mix of families and widths. Subtraction is `a + !b +
//! carry`, as in the hardware: `sub.cc` sets the flag where `a >= b`, and `subc` borrows where it is clear.

use super::engine::{cold2, cold3, cold4};
use super::{Form, ResultPart};
use crate::lanes::CpuLevel;

/// Makes the form of a sum of a wider type than `$ty`: of its low bits for the first part, of the carry for the second.
macro_rules! sum_or_carry {
    ($part:expr, $ty:ty, $cold:ident(|$($operand:ident: $operand_ty:ty),+| $sum:expr)) => {
        if $part == ResultPart::First {
            $cold(|$($operand: $operand_ty),+| $sum as $ty)
        } else {
            $cold(|$($operand: $operand_ty),+| $sum >> <$ty>::BITS != 0)
        }
    };
}

macro_rules! chain {
    ($opcode:expr, $rest:expr, $part:expr, $ty:ty, $wide:ty) => {{
        const BITS: u32 = <$ty>::BITS;
        fn add(a: $ty, b: $ty, carry: bool) -> $wide {
            a as $wide + b as $wide + carry as $wide
        }
        fn sub(a: $ty, b: $ty, carry: bool) -> $wide {
            add(a, !b, carry)
        }
        fn lo(a: $ty, b: $ty) -> $ty {
            a.wrapping_mul(b)
        }
        fn hi_u(a: $ty, b: $ty) -> $ty {
            ((a as $wide * b as $wide) >> BITS) as $ty
        }
        fn hi_s(a: $ty, b: $ty) -> $ty {
            let high = hi_u(a, b);
            let top = |x: $ty| 0 as $ty - (x >> (BITS - 1));
            high.wrapping_sub(top(a) & b).wrapping_sub(top(b) & a)
        }
        match ($opcode, $rest) {
            ("add", []) => sum_or_carry!($part, $ty, cold2(|a: $ty, b: $ty| add(a, b, false))),
            ("addc", []) => sum_or_carry!($part, $ty, cold3(|a: $ty, b: $ty, c: bool| add(a, b, c))),
            ("sub", []) => sum_or_carry!($part, $ty, cold2(|a: $ty, b: $ty| sub(a, b, true))),
            ("subc", []) => sum_or_carry!($part, $ty, cold3(|a: $ty, b: $ty, c: bool| sub(a, b, c))),
            ("mad", ["lo"]) => sum_or_carry!($part, $ty, cold3(|a: $ty, b: $ty, c: $ty| add(lo(a, b), c, false))),
            ("mad", ["hi", "u"]) => {
                sum_or_carry!($part, $ty, cold3(|a: $ty, b: $ty, c: $ty| add(hi_u(a, b), c, false)))
            }
            ("mad", ["hi", "s"]) => {
                sum_or_carry!($part, $ty, cold3(|a: $ty, b: $ty, c: $ty| add(hi_s(a, b), c, false)))
            }
            ("madc", ["lo"]) => {
                sum_or_carry!($part, $ty, cold4(|a: $ty, b: $ty, c: $ty, carry: bool| add(lo(a, b), c, carry)))
            }
            ("madc", ["hi", "u"]) => {
                sum_or_carry!($part, $ty, cold4(|a: $ty, b: $ty, c: $ty, carry: bool| add(hi_u(a, b), c, carry)))
            }
            ("madc", ["hi", "s"]) => {
                sum_or_carry!($part, $ty, cold4(|a: $ty, b: $ty, c: $ty, carry: bool| add(hi_s(a, b), c, carry)))
            }
            _ => return None,
        }
    }};
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], part: ResultPart, _: CpuLevel) -> Option<Form> {
    let chained = matches!(opcode, "addc" | "subc" | "madc");
    if !chained && !modifiers.contains(&"cc") {
        return None;
    }
    // `mad.hi.cc.u32` is looked up as (`mad`, ["hi", "u"], 32 bits); signedness matters to `hi` only.
    let (&ty, rest) = modifiers.split_last()?;
    let (rest, sets_flag) = match rest {
        [rest @ .., "cc"] => (rest, true),
        rest => (rest, false),
    };
    if part == ResultPart::Second && !sets_flag {
        return None;
    }
    let signed = if ty.starts_with('s') { "s" } else { "u" };
    let rest: &[&str] = match rest {
        [] => &[],
        ["lo"] => &["lo"],
        ["hi"] => &["hi", signed],
        _ => return None,
    };
    Some(match ty {
        "u32" | "s32" => chain!(opcode, rest, part, u32, u64),
        "u64" | "s64" => chain!(opcode, rest, part, u64, u128),
        _ => return None,
    })
}

//! Carry chains: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
//!
//! The forms share one flag, and may follow each other in any mix of families and widths. Subtraction is `a + !b +
//! carry`, as in the hardware: `sub.cc` sets the flag where `a >= b`, and `subc` borrows where it is clear.

use super::Form;
use super::engine::{cold2, cold3, cold4};
use crate::lanes::CpuLevel;

macro_rules! chain {
    ($opcode:expr, $rest:expr, $cc:expr, $part:expr, $ty:ty, $wide:ty) => {{
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
        match ($opcode, $rest, $cc, $part) {
            ("add", [], true, 0) => cold2(|a: $ty, b: $ty| a.wrapping_add(b)),
            ("add", [], true, 1) => cold2(|a: $ty, b: $ty| add(a, b, false) >> BITS != 0),
            ("addc", [], _, 0) => cold3(|a: $ty, b: $ty, c: bool| add(a, b, c) as $ty),
            ("addc", [], true, 1) => cold3(|a: $ty, b: $ty, c: bool| add(a, b, c) >> BITS != 0),
            ("sub", [], true, 0) => cold2(|a: $ty, b: $ty| a.wrapping_sub(b)),
            ("sub", [], true, 1) => cold2(|a: $ty, b: $ty| sub(a, b, true) >> BITS != 0),
            ("subc", [], _, 0) => cold3(|a: $ty, b: $ty, c: bool| sub(a, b, c) as $ty),
            ("subc", [], true, 1) => cold3(|a: $ty, b: $ty, c: bool| sub(a, b, c) >> BITS != 0),
            ("mad", ["lo"], true, 0) => cold3(|a: $ty, b: $ty, c: $ty| lo(a, b).wrapping_add(c)),
            ("mad", ["lo"], true, 1) => cold3(|a: $ty, b: $ty, c: $ty| add(lo(a, b), c, false) >> BITS != 0),
            ("mad", ["hi", "u"], true, 0) => cold3(|a: $ty, b: $ty, c: $ty| hi_u(a, b).wrapping_add(c)),
            ("mad", ["hi", "u"], true, 1) => cold3(|a: $ty, b: $ty, c: $ty| add(hi_u(a, b), c, false) >> BITS != 0),
            ("mad", ["hi", "s"], true, 0) => cold3(|a: $ty, b: $ty, c: $ty| hi_s(a, b).wrapping_add(c)),
            ("mad", ["hi", "s"], true, 1) => cold3(|a: $ty, b: $ty, c: $ty| add(hi_s(a, b), c, false) >> BITS != 0),
            ("madc", ["lo"], _, 0) => cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(lo(a, b), c, cc) as $ty),
            ("madc", ["lo"], true, 1) => cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(lo(a, b), c, cc) >> BITS != 0),
            ("madc", ["hi", "u"], _, 0) => cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(hi_u(a, b), c, cc) as $ty),
            ("madc", ["hi", "u"], true, 1) => {
                cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(hi_u(a, b), c, cc) >> BITS != 0)
            }
            ("madc", ["hi", "s"], _, 0) => cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(hi_s(a, b), c, cc) as $ty),
            ("madc", ["hi", "s"], true, 1) => {
                cold4(|a: $ty, b: $ty, c: $ty, cc: bool| add(hi_s(a, b), c, cc) >> BITS != 0)
            }
            _ => return None,
        }
    }};
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], part: u8, _: CpuLevel) -> Option<Form> {
    let chained = matches!(opcode, "addc" | "subc" | "madc");
    if !chained && !modifiers.contains(&"cc") {
        return None;
    }
    // `mad.hi.cc.u32` is looked up as (`mad`, ["hi", "u"], cc, 32 bits); signedness matters to `hi` only.
    let (&ty, rest) = modifiers.split_last()?;
    let (rest, cc) = match rest.split_last() {
        Some((&"cc", rest)) => (rest, true),
        _ => (rest, false),
    };
    let signed = if ty.starts_with('s') { "s" } else { "u" };
    let rest: &[&str] = match rest {
        [] => &[],
        ["lo"] => &["lo"],
        ["hi"] => &["hi", signed],
        _ => return None,
    };
    Some(match ty {
        "u32" | "s32" => chain!(opcode, rest, cc, part, u32, u64),
        "u64" | "s64" => chain!(opcode, rest, cc, part, u64, u128),
        _ => return None,
    })
}

//! `setp`, `set`, `selp`, `slct`, `testp`.
//!
//! A comparison gives one bit per lane. Plain `setp` is compiled for every vector width; with a boolean
//! operation (`setp.lt.and.f32 p|q, a, b, c`), and for `set`, a small function combines the bits of a
//! shared comparison.

use super::engine::{self, Lane, cold1, cold3, hot2, hot3};
use super::half::{bf16_to_f32, f16_to_f32};
use super::{Form, float};
use crate::lanes::{AluArgs, AluFn, Class, CpuLevel, Lanes};

pub(super) fn lookup(opcode: &str, modifiers: &[&str], part: u8, level: CpuLevel) -> Option<Form> {
    match opcode {
        "setp" => setp(modifiers, part, level),
        "set" if part == 0 => set(modifiers),
        "selp" if part == 0 => selp(modifiers, level),
        "slct" if part == 0 => slct(modifiers),
        "testp" if part == 0 => testp(modifiers),
        _ => None,
    }
}

fn selp(modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    Some(match modifiers {
        ["b32" | "u32" | "s32" | "f32"] => hot3(level, |a: u32, b: u32, p: bool| if p { a } else { b }),
        ["b64" | "u64" | "s64" | "f64"] => hot3(level, |a: u64, b: u64, p: bool| if p { a } else { b }),
        ["b16" | "u16" | "s16"] => hot3(level, |a: u16, b: u16, p: bool| if p { a } else { b }),
        _ => return None,
    })
}

fn slct(modifiers: &[&str]) -> Option<Form> {
    Some(match modifiers {
        ["b32" | "u32" | "s32" | "f32", "s32"] => cold3(|a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
        ["b64" | "u64" | "s64" | "f64", "s32"] => cold3(|a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
        ["b16" | "u16" | "s16", "s32"] => cold3(|a: u16, b: u16, c: i32| if c >= 0 { a } else { b }),
        ["b32" | "u32" | "s32" | "f32", "f32"] => {
            cold3(|a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b })
        }
        ["b64" | "u64" | "s64" | "f64", "f32"] => {
            cold3(|a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b })
        }
        ["b16" | "u16" | "s16", "f32"] => cold3(|a: u16, b: u16, c: f32| if c >= 0.0 { a } else { b }),
        // A subnormal `c` is flushed to a zero, and zeros select `a`.
        ["ftz", "b32" | "u32" | "s32" | "f32", "f32"] => {
            cold3(|a: u32, b: u32, c: f32| if float::flush(c) >= 0.0 { a } else { b })
        }
        ["ftz", "b64" | "u64" | "s64" | "f64", "f32"] => {
            cold3(|a: u64, b: u64, c: f32| if float::flush(c) >= 0.0 { a } else { b })
        }
        ["ftz", "b16" | "u16" | "s16", "f32"] => {
            cold3(|a: u16, b: u16, c: f32| if float::flush(c) >= 0.0 { a } else { b })
        }
        _ => return None,
    })
}

fn testp(modifiers: &[&str]) -> Option<Form> {
    Some(match modifiers {
        ["finite", "f32"] => cold1(|a: f32| a.is_finite()),
        ["infinite", "f32"] => cold1(|a: f32| a.is_infinite()),
        ["number", "f32"] => cold1(|a: f32| !a.is_nan()),
        ["notanumber", "f32"] => cold1(|a: f32| a.is_nan()),
        ["normal", "f32"] => cold1(|a: f32| a.is_normal()),
        ["subnormal", "f32"] => cold1(|a: f32| a.is_subnormal() || a == 0.0),
        ["finite", "f64"] => cold1(|a: f64| a.is_finite()),
        ["infinite", "f64"] => cold1(|a: f64| a.is_infinite()),
        ["number", "f64"] => cold1(|a: f64| !a.is_nan()),
        ["notanumber", "f64"] => cold1(|a: f64| a.is_nan()),
        ["normal", "f64"] => cold1(|a: f64| a.is_normal()),
        ["subnormal", "f64"] => cold1(|a: f64| a.is_subnormal() || a == 0.0),
        _ => return None,
    })
}

/// All lanes of a comparison. One per comparison, shared by everything that combines.
#[inline(never)]
unsafe fn bits2<A: Lane, F: Fn(A, A) -> bool + Copy>(lanes: &Lanes, args: &AluArgs) -> u32 {
    let f = engine::conjure::<F>();
    let mut bits = 0;
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let (a, b) = (A::view(lanes, args.src[0]), A::view(lanes, args.src[1]));
        for lane in 0..32 {
            bits |= (f(A::at(a, lane), A::at(b, lane)) as u32) << lane;
        }
    }
    bits
}

/// Combines the bits of a comparison as `OP` says, which is a [`BoolOp`], plus [`OPPOSITE`] for the second
/// result of `setp`.
unsafe fn combine(lanes: &Lanes, args: &AluArgs, bits: u32, op: u8) -> u32 {
    let bits = if op & OPPOSITE == 0 { bits } else { !bits };
    if op & !OPPOSITE == 0 {
        return bits;
    }
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    let pred = unsafe { *lanes.preds.add(args.src[2] as usize) };
    match op & !OPPOSITE {
        AND => bits & pred,
        OR => bits | pred,
        _ => bits ^ pred,
    }
}

const AND: u8 = 1;
const OR: u8 = 2;
const XOR: u8 = 3;
const OPPOSITE: u8 = 4;

#[inline(never)]
unsafe fn finish_setp(lanes: &mut Lanes, args: &AluArgs, mask: u32, bits: u32, op: u8) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = combine(lanes, args, bits, op);
        engine::write_pred(lanes, args.dst, bits, mask);
    }
}

#[inline(never)]
unsafe fn finish_set(lanes: &mut Lanes, args: &AluArgs, mask: u32, bits: u32, op: u8, ones: u32) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = combine(lanes, args, bits, op);
        let line = lanes.regs.add(args.dst as usize).cast::<u32>();
        for lane in 0..32 {
            if mask >> lane & 1 == 1 {
                *line.add(lane) = if bits >> lane & 1 == 1 { ones } else { 0 };
            }
        }
    }
}

unsafe fn setp_run<A: Lane, F: Fn(A, A) -> bool + Copy, const OP: u8>(
    lanes: &mut Lanes,
    args: &AluArgs,
    mask: u32,
) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = bits2::<A, F>(lanes, args);
        finish_setp(lanes, args, mask, bits, OP);
    }
}

/// `set`: true is `ONES`, false is zero.
unsafe fn set_run<A: Lane, F: Fn(A, A) -> bool + Copy, const OP: u8, const ONES: u32>(
    lanes: &mut Lanes,
    args: &AluArgs,
    mask: u32,
) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = bits2::<A, F>(lanes, args);
        finish_set(lanes, args, mask, bits, OP, ONES);
    }
}

/// The boolean operation of `setp` and `set`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BoolOp {
    None,
    And,
    Or,
    Xor,
}

/// What a comparison is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// Part 0 or 1 of `setp`.
    Pred { part: u8 },
    /// `set` with this value for true.
    Set { ones: u32 },
}

fn srcs<A: Lane>(with_pred: bool) -> &'static [Class] {
    if with_pred {
        const { &[A::CLASS, A::CLASS, Class::Pred] }
    } else {
        const { &[A::CLASS, A::CLASS] }
    }
}

fn form<A: Lane, F: Fn(A, A) -> bool + Copy>(level: CpuLevel, f: F, op: BoolOp, goal: Goal) -> Form {
    let with_pred = op != BoolOp::None;
    let run: AluFn = match (goal, op) {
        (Goal::Set { ones }, _) => return set_form::<A, F>(op, ones),
        (Goal::Pred { part: 0 }, BoolOp::None) => return hot2(level, f),
        (Goal::Pred { part: 0 }, BoolOp::And) => setp_run::<A, F, AND>,
        (Goal::Pred { part: 0 }, BoolOp::Or) => setp_run::<A, F, OR>,
        (Goal::Pred { part: 0 }, BoolOp::Xor) => setp_run::<A, F, XOR>,
        (Goal::Pred { .. }, BoolOp::None) => setp_run::<A, F, OPPOSITE>,
        (Goal::Pred { .. }, BoolOp::And) => setp_run::<A, F, { AND | OPPOSITE }>,
        (Goal::Pred { .. }, BoolOp::Or) => setp_run::<A, F, { OR | OPPOSITE }>,
        (Goal::Pred { .. }, BoolOp::Xor) => setp_run::<A, F, { XOR | OPPOSITE }>,
    };
    Form {
        run,
        dst: Class::Pred,
        srcs: srcs::<A>(with_pred),
    }
}

fn set_form<A: Lane, F: Fn(A, A) -> bool + Copy>(op: BoolOp, ones: u32) -> Form {
    macro_rules! of {
        ($ones:expr) => {
            match op {
                BoolOp::None => set_run::<A, F, 0, { $ones }> as AluFn,
                BoolOp::And => set_run::<A, F, AND, { $ones }>,
                BoolOp::Or => set_run::<A, F, OR, { $ones }>,
                BoolOp::Xor => set_run::<A, F, XOR, { $ones }>,
            }
        };
    }
    let run = match ones {
        ONE_F32 => of!(ONE_F32),
        ONE_F16 => of!(ONE_F16),
        ONE_BF16 => of!(ONE_BF16),
        ONES_16 => of!(ONES_16),
        _ => of!(u32::MAX),
    };
    Form {
        run,
        dst: Class::Bits32,
        srcs: srcs::<A>(op != BoolOp::None),
    }
}

const ONE_F32: u32 = 0x3f80_0000;
const ONE_F16: u32 = 0x3c00;
const ONE_BF16: u32 = 0x3f80;
const ONES_16: u32 = 0xffff;

macro_rules! integer_cmp {
    ($cmp:expr, $ty:ty, $level:expr, $op:expr, $goal:expr) => {
        match $cmp {
            "eq" => form($level, |a: $ty, b: $ty| a == b, $op, $goal),
            "ne" => form($level, |a: $ty, b: $ty| a != b, $op, $goal),
            "lt" | "lo" => form($level, |a: $ty, b: $ty| a < b, $op, $goal),
            "le" | "ls" => form($level, |a: $ty, b: $ty| a <= b, $op, $goal),
            "gt" | "hi" => form($level, |a: $ty, b: $ty| a > b, $op, $goal),
            "ge" | "hs" => form($level, |a: $ty, b: $ty| a >= b, $op, $goal),
            _ => return None,
        }
    };
}

macro_rules! float_cmp {
    ($cmp:expr, $ty:ty, $read:expr, $level:expr, $op:expr, $goal:expr) => {
        match $cmp {
            "eq" => form($level, |a: $ty, b: $ty| $read(a) == $read(b), $op, $goal),
            // Unequal and both numbers.
            "ne" => form(
                $level,
                |a: $ty, b: $ty| {
                    let (a, b) = ($read(a), $read(b));
                    (a < b) | (a > b)
                },
                $op,
                $goal,
            ),
            "lt" => form($level, |a: $ty, b: $ty| $read(a) < $read(b), $op, $goal),
            "le" => form($level, |a: $ty, b: $ty| $read(a) <= $read(b), $op, $goal),
            "gt" => form($level, |a: $ty, b: $ty| $read(a) > $read(b), $op, $goal),
            "ge" => form($level, |a: $ty, b: $ty| $read(a) >= $read(b), $op, $goal),
            "equ" => form(
                $level,
                |a: $ty, b: $ty| {
                    let (a, b) = ($read(a), $read(b));
                    !((a < b) | (a > b))
                },
                $op,
                $goal,
            ),
            "neu" => form($level, |a: $ty, b: $ty| $read(a) != $read(b), $op, $goal),
            "ltu" => form($level, |a: $ty, b: $ty| !($read(a) >= $read(b)), $op, $goal),
            "leu" => form($level, |a: $ty, b: $ty| !($read(a) > $read(b)), $op, $goal),
            "gtu" => form($level, |a: $ty, b: $ty| !($read(a) <= $read(b)), $op, $goal),
            "geu" => form($level, |a: $ty, b: $ty| !($read(a) < $read(b)), $op, $goal),
            "num" => form(
                $level,
                |a: $ty, b: $ty| {
                    let (a, b) = ($read(a), $read(b));
                    (a == a) & (b == b)
                },
                $op,
                $goal,
            ),
            "nan" => form(
                $level,
                |a: $ty, b: $ty| {
                    let (a, b) = ($read(a), $read(b));
                    (a != a) | (b != b)
                },
                $op,
                $goal,
            ),
            _ => return None,
        }
    };
}

fn same<T>(x: T) -> T {
    x
}

/// A comparison of two values of type `ty`.
#[expect(
    clippy::eq_op,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::redundant_closure_call,
    reason = "NaNs"
)]
fn comparison(cmp: &str, ty: &str, ftz: bool, op: BoolOp, goal: Goal, level: CpuLevel) -> Option<Form> {
    Some(match (ty, ftz) {
        ("u32", false) => integer_cmp!(cmp, u32, level, op, goal),
        ("s32", false) => integer_cmp!(cmp, i32, level, op, goal),
        ("u64", false) => integer_cmp!(cmp, u64, level, op, goal),
        ("s64", false) => integer_cmp!(cmp, i64, level, op, goal),
        ("u16", false) => integer_cmp!(cmp, u16, level, op, goal),
        ("s16", false) => integer_cmp!(cmp, i16, level, op, goal),
        ("b16" | "b32" | "b64", false) if !matches!(cmp, "eq" | "ne") => return None,
        ("b16", false) => integer_cmp!(cmp, u16, level, op, goal),
        ("b32", false) => integer_cmp!(cmp, u32, level, op, goal),
        ("b64", false) => integer_cmp!(cmp, u64, level, op, goal),
        ("f32", false) => float_cmp!(cmp, f32, same, level, op, goal),
        ("f32", true) => float_cmp!(cmp, f32, float::flush, level, op, goal),
        ("f64", false) => float_cmp!(cmp, f64, same, level, op, goal),
        ("f16", false) => float_cmp!(cmp, u16, f16_to_f32, level, op, goal),
        ("bf16", false) => float_cmp!(cmp, u16, bf16_to_f32, level, op, goal),
        _ => return None,
    })
}

/// `cmp{.bool}{.ftz}` at the front of the modifiers, and the types that follow.
fn parse<'a, 'b>(modifiers: &'b [&'a str]) -> Option<(&'a str, BoolOp, bool, &'b [&'a str])> {
    let (&cmp, rest) = modifiers.split_first()?;
    let (op, rest) = match rest {
        ["and", rest @ ..] => (BoolOp::And, rest),
        ["or", rest @ ..] => (BoolOp::Or, rest),
        ["xor", rest @ ..] => (BoolOp::Xor, rest),
        rest => (BoolOp::None, rest),
    };
    let (ftz, rest) = match rest {
        ["ftz", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    Some((cmp, op, ftz, rest))
}

fn setp(modifiers: &[&str], part: u8, level: CpuLevel) -> Option<Form> {
    let (cmp, op, ftz, types) = parse(modifiers)?;
    let [ty] = types else { return None };
    comparison(cmp, ty, ftz, op, Goal::Pred { part }, level)
}

fn set(modifiers: &[&str]) -> Option<Form> {
    let (cmp, op, ftz, types) = parse(modifiers)?;
    let [to, from] = types else { return None };
    let ones = match *to {
        "u32" | "s32" => u32::MAX,
        "f32" => ONE_F32,
        "f16" => ONE_F16,
        "bf16" => ONE_BF16,
        "u16" | "s16" => ONES_16,
        _ => return None,
    };
    comparison(cmp, from, ftz, op, Goal::Set { ones }, CpuLevel::Baseline)
}

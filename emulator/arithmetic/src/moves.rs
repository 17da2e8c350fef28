//! `mov`, and the operations that `decode` breaks moves down to: packing, unpacking, extending.

use super::engine::{hot1, hot2};
use super::{Form, engine, lane};
use crate::lanes::{AluArgs, Class, CpuLevel, Lanes, NONE};

/// An operation that `decode` emits and that is no PTX instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builtin {
    Mov32,
    Mov64,
    MovPred,
    NotPred,
    /// 1 where the predicate holds, else 0.
    PredTo32,
    /// Whether any of the 32 bits is set.
    PredOf32,
    Lo32Of64,
    Hi32Of64,
    /// 64 bits from (low, high).
    Pack64,
    /// 32 bits from 16 (low, high).
    Pack32,
    Lo16Of32,
    Hi16Of32,
    /// A 16-bit part of 64 bits, by number, 0 the lowest.
    Word16Of64(u8),
    /// 64 bits from four 16-bit parts, lowest first.
    Pack64x4,
    /// A byte of 32 (or 16) bits, by number, 0 the lowest.
    ByteOf32(u8),
    /// 16 bits from two bytes, lowest first.
    Pack16,
    /// 32 bits from four bytes, lowest first.
    Pack32x4,
    /// 64 bits from the lowest 8, 16 or 32 bits of a 32-bit register, zero-extended.
    Zext64(u8),
    /// 64 bits from the lowest 8, 16 or 32 bits of a 32-bit register, sign-extended.
    Sext64(u8),
    /// 32 bits from the lowest 8 or 16, zero-extended.
    Zext32(u8),
    /// 32 bits from the lowest 8 or 16, sign-extended.
    Sext32(u8),
    Add32,
    Add64,
    Sub64,
}

/// Looks up a [`Builtin`]. Widths and indices out of range are clamped.
pub fn builtin(op: Builtin, level: CpuLevel) -> Form {
    match op {
        Builtin::Mov32 => hot1(level, |a: u32| a),
        Builtin::Mov64 => hot1(level, |a: u64| a),
        Builtin::MovPred => pred1(|a| a),
        Builtin::NotPred => pred1(|a| !a),
        Builtin::PredTo32 => hot1(level, |p: bool| p as u32),
        Builtin::PredOf32 => hot1(level, |a: u32| a != 0),
        Builtin::Lo32Of64 => hot1(level, |a: u64| a as u32),
        Builtin::Hi32Of64 => hot1(level, |a: u64| (a >> 32) as u32),
        Builtin::Pack64 => hot2(level, |a: u32, b: u32| a as u64 | (b as u64) << 32),
        Builtin::Pack32 => hot2(level, |a: u32, b: u32| (a & 0xffff) | b << 16),
        Builtin::Lo16Of32 => builtin(Builtin::Zext32(16), level),
        Builtin::Hi16Of32 => hot1(level, |a: u32| a >> 16),
        Builtin::Word16Of64(0) => hot1(level, |a: u64| (a & 0xffff) as u32),
        Builtin::Word16Of64(1) => hot1(level, |a: u64| (a >> 16 & 0xffff) as u32),
        Builtin::Word16Of64(2) => hot1(level, |a: u64| (a >> 32 & 0xffff) as u32),
        Builtin::Word16Of64(_) => hot1(level, |a: u64| (a >> 48) as u32),
        Builtin::Pack64x4 => engine::cold4(|a: u16, b: u16, c: u16, d: u16| {
            a as u64 | (b as u64) << 16 | (c as u64) << 32 | (d as u64) << 48
        }),
        Builtin::ByteOf32(0) => builtin(Builtin::Zext32(8), level),
        Builtin::ByteOf32(1) => hot1(level, |a: u32| a >> 8 & 0xff),
        Builtin::ByteOf32(2) => hot1(level, |a: u32| a >> 16 & 0xff),
        Builtin::ByteOf32(_) => hot1(level, |a: u32| a >> 24),
        Builtin::Pack16 => hot2(level, |a: u32, b: u32| (a & 0xff) | (b & 0xff) << 8),
        Builtin::Pack32x4 => engine::cold4(|a: u8, b: u8, c: u8, d: u8| u32::from_le_bytes([a, b, c, d])),
        Builtin::Zext64(8) => hot1(level, |a: u32| (a & 0xff) as u64),
        Builtin::Zext64(16) => hot1(level, |a: u32| (a & 0xffff) as u64),
        Builtin::Zext64(_) => hot1(level, |a: u32| a as u64),
        Builtin::Sext64(8) => hot1(level, |a: u32| a as i8 as i64),
        Builtin::Sext64(16) => hot1(level, |a: u32| a as i16 as i64),
        Builtin::Sext64(_) => hot1(level, |a: u32| a as i32 as i64),
        Builtin::Zext32(8) => hot1(level, |a: u32| a & 0xff),
        Builtin::Zext32(_) => hot1(level, |a: u32| a & 0xffff),
        Builtin::Sext32(8) => hot1(level, |a: u32| a as i8 as i32),
        Builtin::Sext32(_) => hot1(level, |a: u32| a as i16 as i32),
        Builtin::Add32 => hot2(level, |a: u32, b: u32| a.wrapping_add(b)),
        Builtin::Add64 => hot2(level, |a: u64, b: u64| a.wrapping_add(b)),
        Builtin::Sub64 => hot2(level, |a: u64, b: u64| a.wrapping_sub(b)),
    }
}

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    if opcode != "mov" {
        return None;
    }
    Some(match modifiers {
        ["b16" | "u16" | "s16" | "f16" | "bf16"] => builtin(Builtin::Lo16Of32, level),
        ["b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2"] => builtin(Builtin::Mov32, level),
        ["b64" | "u64" | "s64" | "f64"] => builtin(Builtin::Mov64, level),
        ["pred"] => builtin(Builtin::MovPred, level),
        _ => return None,
    })
}

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn pred1_run<F: Fn(u32) -> u32 + Copy>(lanes: &mut Lanes, args: &AluArgs, mask: u32) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = engine::zst_fn::<F>()(*lanes.preds.add(args.src[0] as usize));
        lane::write_pred(lanes, args.dst, bits, mask);
    }
}

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn pred2_run<F: Fn(u32, u32) -> u32 + Copy>(lanes: &mut Lanes, args: &AluArgs, mask: u32) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let a = *lanes.preds.add(args.src[0] as usize);
        let b = *lanes.preds.add(args.src[1] as usize);
        lane::write_pred(lanes, args.dst, engine::zst_fn::<F>()(a, b), mask);
    }
}

/// Returns the form of a function of a predicate, all lanes in one word.
pub(super) fn pred1<F: Fn(u32) -> u32 + Copy>(_: F) -> Form {
    Form { run: pred1_run::<F>, dst: Class::Pred, srcs: &[Class::Pred], variant: NONE }
}

/// Returns the form of a function of two predicates, all lanes in one word.
pub(super) fn pred2<F: Fn(u32, u32) -> u32 + Copy>(_: F) -> Form {
    Form { run: pred2_run::<F>, dst: Class::Pred, srcs: &[Class::Pred, Class::Pred], variant: NONE }
}

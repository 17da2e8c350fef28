//! `setp`, `set`, `selp`, `slct`, `testp`.
//!
//! Plain `setp` of the common types is compiled for every vector width. Everything else (a boolean operation
//! as in `setp.lt.and.f32 p|q, a, b, c`, the second result, halves, `set`) goes lane by lane through one
//! function whose arguments at run time include the comparison.

use super::engine::ptx_types::{b16, b32, b64, s16, s32, s64};
use super::engine::{by_type, cold1, cold3, hot2, hot3};
use super::half::{bf16_to_f32, f16_to_f32};
use super::lane::{self, Lane};
use super::{Form, ResultPart, float};
use crate::lanes::{AluArgs, Class, CpuLevel, Lanes};

pub(super) fn lookup(opcode: &str, modifiers: &[&str], part: ResultPart, level: CpuLevel) -> Option<Form> {
    match opcode {
        "setp" => setp(modifiers, part, level),
        "set" if part == ResultPart::First => set(modifiers),
        "selp" if part == ResultPart::First => selp(modifiers, level),
        "slct" if part == ResultPart::First => slct(modifiers),
        "testp" if part == ResultPart::First => testp(modifiers),
        _ => None,
    }
}

/// Names a type by its width, for operations that move values.
fn width(ty: &str) -> &str {
    match ty {
        "u16" | "s16" => "b16",
        "u32" | "s32" | "f32" => "b32",
        "u64" | "s64" | "f64" => "b64",
        ty => ty,
    }
}

fn selp(modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    let [ty] = modifiers else { return None };
    Some(by_type!(width(ty), T in b16 b32 b64 => {
        hot3(level, |a: T, b: T, p: bool| if p { a } else { b })
    }))
}

fn slct(modifiers: &[&str]) -> Option<Form> {
    Some(match modifiers {
        [ty, "s32"] => by_type!(width(ty), T in b16 b32 b64 => {
            cold3(|a: T, b: T, c: i32| if c >= 0 { a } else { b })
        }),
        [ty, "f32"] => by_type!(width(ty), T in b16 b32 b64 => {
            cold3(|a: T, b: T, c: f32| if c >= 0.0 { a } else { b })
        }),
        // A subnormal `c` is flushed to a zero, and zeros select `a`.
        ["ftz", ty, "f32"] => by_type!(width(ty), T in b16 b32 b64 => {
            cold3(|a: T, b: T, c: f32| if float::flush(c) >= 0.0 { a } else { b })
        }),
        _ => return None,
    })
}

/// Looks up `testp`. Zeros count as normal.
fn testp(modifiers: &[&str]) -> Option<Form> {
    let [test, ty] = modifiers else { return None };
    Some(match *test {
        "finite" => by_type!(*ty, T in f32 f64 => cold1(|a: T| a.is_finite())),
        "infinite" => by_type!(*ty, T in f32 f64 => cold1(|a: T| a.is_infinite())),
        "number" => by_type!(*ty, T in f32 f64 => cold1(|a: T| !a.is_nan())),
        "notanumber" => by_type!(*ty, T in f32 f64 => cold1(|a: T| a.is_nan())),
        "normal" => by_type!(*ty, T in f32 f64 => cold1(|a: T| a.is_normal() || a == 0.0)),
        "subnormal" => by_type!(*ty, T in f32 f64 => cold1(|a: T| a.is_subnormal())),
        _ => return None,
    })
}

/// Returns the outcomes for which a comparison holds: a bit each for less, equal, greater, unordered.
fn outcomes(cmp: &str) -> Option<u32> {
    Some(match cmp {
        "lt" | "lo" => LESS,
        "eq" => EQUAL,
        "le" | "ls" => LESS | EQUAL,
        "gt" | "hi" => GREATER,
        "ne" => LESS | GREATER,
        "ge" | "hs" => EQUAL | GREATER,
        "num" => LESS | EQUAL | GREATER,
        "nan" => UNORDERED,
        "ltu" => LESS | UNORDERED,
        "equ" => EQUAL | UNORDERED,
        "leu" => LESS | EQUAL | UNORDERED,
        "gtu" => GREATER | UNORDERED,
        "neu" => LESS | GREATER | UNORDERED,
        "geu" => EQUAL | GREATER | UNORDERED,
        _ => return None,
    })
}

const LESS: u32 = 1;
const EQUAL: u32 = 2;
const GREATER: u32 = 4;
const UNORDERED: u32 = 8;

fn holds<T: PartialOrd>(outcomes: u32, a: T, b: T) -> bool {
    let outcome = match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Less) => LESS,
        Some(std::cmp::Ordering::Equal) => EQUAL,
        Some(std::cmp::Ordering::Greater) => GREATER,
        None => UNORDERED,
    };
    outcomes & outcome != 0
}

/// Compared types, by number.
const TYPES: [&str; 10] = ["u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "f16", "bf16"];

/// A comparison as a word: outcomes in the low 4 bits, then the operation, the type, and flags.
#[derive(Clone, Copy)]
struct CompareVariant(u32);

impl CompareVariant {
    const OPPOSITE: u32 = 1 << 6;
    const FTZ: u32 = 1 << 7;
    const HIGH: u32 = 1 << 8;
    /// Both halves: `set` of a pair.
    const PAIR: u32 = 1 << 9;
    const ONES_SHIFT: u32 = 16;

    fn new(outcomes: u32, op: u32, ty: u32, flags: u32) -> CompareVariant {
        CompareVariant(outcomes | op << 4 | ty << 10 | flags)
    }
    fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
    fn op(self) -> u32 {
        self.0 >> 4 & 3
    }
    fn ty(self) -> u32 {
        self.0 >> 10 & 15
    }
    fn ones(self) -> u32 {
        ONES[(self.0 >> Self::ONES_SHIFT & 7) as usize]
    }
}

/// Value that `set` writes where the comparison holds, by number: all ones, then 1 in the float formats.
const ONES: [u32; 8] = [u32::MAX, 0x3f80_0000, 0x3c00, 0x3f80, 0xffff, 0, 0, 0];

/// Boolean operations, by number; 0 stands for no operation.
const OPS: [&str; 4] = ["", "and", "or", "xor"];

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn lanes_where<A: Lane, T: PartialOrd>(
    lanes: &Lanes, args: &AluArgs, variant: CompareVariant, read: impl Fn(A) -> T,
) -> u32 {
    let mut bits = 0;
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let (a, b) = (A::view(lanes, args.src[0]), A::view(lanes, args.src[1]));
        for lane in 0..32 {
            bits |= (holds(variant.0 & 15, read(A::at(a, lane)), read(A::at(b, lane))) as u32) << lane;
        }
    }
    bits
}

/// Returns the bits of a comparison of all lanes, combined with the predicate.
///
/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn compared(lanes: &Lanes, args: &AluArgs, variant: CompareVariant) -> u32 {
    let ftz = variant.has(CompareVariant::FTZ);
    let half = |x: u32| {
        if variant.has(CompareVariant::HIGH) { (x >> 16) as u16 } else { x as u16 }
    };
    let flush = |h: u16| if ftz && h & 0x7c00 == 0 { h & 0x8000 } else { h };
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = match variant.ty() {
            0 => lanes_where(lanes, args, variant, |x: u16| x),
            1 => lanes_where(lanes, args, variant, |x: i16| x),
            2 => lanes_where(lanes, args, variant, |x: u32| x),
            3 => lanes_where(lanes, args, variant, |x: i32| x),
            4 => lanes_where(lanes, args, variant, |x: u64| x),
            5 => lanes_where(lanes, args, variant, |x: i64| x),
            6 => lanes_where(lanes, args, variant, |x: f32| if ftz { float::flush(x) } else { x }),
            7 => lanes_where(lanes, args, variant, |x: f64| x),
            8 => lanes_where(lanes, args, variant, |x: u32| f16_to_f32(flush(half(x)))),
            _ => lanes_where(lanes, args, variant, |x: u32| bf16_to_f32(half(x))),
        };
        let bits = if variant.has(CompareVariant::OPPOSITE) { !bits } else { bits };
        let pred = || *lanes.preds.add(args.src[2] as usize);
        match variant.op() {
            0 => bits,
            1 => bits & pred(),
            2 => bits | pred(),
            _ => bits ^ pred(),
        }
    }
}

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn setp_run(lanes: &mut Lanes, args: &AluArgs, mask: u32) {
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let bits = compared(lanes, args, CompareVariant(args.src[3] as u32));
        lane::write_pred(lanes, args.dst, bits, mask);
    }
}

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn set_run(lanes: &mut Lanes, args: &AluArgs, mask: u32) {
    let variant = CompareVariant(args.src[3] as u32);
    let ones = variant.ones();
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let low = compared(lanes, args, variant);
        let high = if variant.has(CompareVariant::PAIR) {
            compared(lanes, args, CompareVariant(variant.0 | CompareVariant::HIGH))
        } else {
            0
        };
        let line = lanes.regs.add(args.dst as usize).cast::<u32>();
        for lane in 0..32 {
            if mask >> lane & 1 == 1 {
                let low = if low >> lane & 1 == 1 { ones } else { 0 };
                let high = if high >> lane & 1 == 1 { ones << 16 } else { 0 };
                *line.add(lane) = low | high;
            }
        }
    }
}

/// A parsed `setp` or `set`.
struct Comparison {
    outcomes: u32,
    cmp: String,
    op: u32,
    ftz: bool,
    ty: u32,
    pair: bool,
}

/// Parses `cmp{.bool}{.ftz}` at the front of the modifiers and the type at their end; returns the words between them.
fn parse<'a, 'b>(modifiers: &'b [&'a str]) -> Option<(Comparison, &'b [&'a str])> {
    let (&cmp, rest) = modifiers.split_first()?;
    let (&ty, rest) = rest.split_last()?;
    let op = rest.first().and_then(|first| OPS.iter().position(|op| op == first)).unwrap_or(0);
    let rest = if op != 0 { &rest[1..] } else { rest };
    let (ftz, rest) = match rest {
        ["ftz", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (ty, pair) = match ty {
        "f16x2" => ("f16", true),
        "bf16x2" => ("bf16", true),
        "b16" | "b32" | "b64" if !matches!(cmp, "eq" | "ne") => return None,
        "b16" => ("u16", false),
        "b32" => ("u32", false),
        "b64" => ("u64", false),
        ty => (ty, false),
    };
    let float = matches!(ty, "f32" | "f64" | "f16" | "bf16");
    let known = match cmp {
        "eq" | "ne" | "lt" | "le" | "gt" | "ge" => true,
        "lo" | "ls" | "hi" | "hs" => ty.starts_with('u'),
        _ => float,
    };
    if !known || (ftz && !matches!(ty, "f32" | "f16")) {
        return None;
    }
    let request = Comparison {
        outcomes: outcomes(cmp)?,
        cmp: cmp.to_owned(),
        op: op as u32,
        ftz,
        ty: TYPES.iter().position(|name| *name == ty)? as u32,
        pair,
    };
    Some((request, rest))
}

fn srcs(ty: u32, pred: bool) -> &'static [Class] {
    const WIDE: [Class; 3] = [Class::Bits64, Class::Bits64, Class::Pred];
    const NARROW: [Class; 3] = [Class::Bits32, Class::Bits32, Class::Pred];
    let all: &'static [Class; 3] = if matches!(ty, 4 | 5 | 7) { &WIDE } else { &NARROW };
    &all[..2 + pred as usize]
}

fn setp(modifiers: &[&str], part: ResultPart, level: CpuLevel) -> Option<Form> {
    let (request, []) = parse(modifiers)? else { return None };
    if part == ResultPart::First
        && request.op == 0
        && let Some(form) = hot(&request.cmp, TYPES[request.ty as usize], request.ftz, level)
    {
        return Some(form);
    }
    let mut flags = if request.ftz { CompareVariant::FTZ } else { 0 };
    if part == ResultPart::Second {
        // A pair's second result is that of the upper halves, else it is the opposite.
        flags |= if request.pair { CompareVariant::HIGH } else { CompareVariant::OPPOSITE };
    }
    let variant = CompareVariant::new(request.outcomes, request.op, request.ty, flags);
    Some(Form { run: setp_run, dst: Class::Pred, srcs: srcs(request.ty, request.op != 0), variant: variant.0 as i32 })
}

fn set(modifiers: &[&str]) -> Option<Form> {
    let (request, [to]) = parse(modifiers)? else { return None };
    let compared = TYPES[request.ty as usize];
    let ones = match (*to, request.pair) {
        ("u32" | "s32", false) => 0,
        ("f32", false) if !matches!(compared, "f16" | "bf16") => 1,
        ("f16", false) | ("f16x2", true) if compared == "f16" => 2,
        ("bf16", false) | ("bf16x2", true) if compared == "bf16" => 3,
        ("u16" | "s16", false) if matches!(compared, "f16" | "bf16") => 4,
        ("u32" | "s32", true) => 4,
        _ => return None,
    };
    let flags = if request.ftz { CompareVariant::FTZ } else { 0 } | if request.pair { CompareVariant::PAIR } else { 0 };
    let variant = CompareVariant::new(request.outcomes, request.op, request.ty, flags);
    Some(Form {
        run: set_run,
        dst: Class::Bits32,
        srcs: srcs(request.ty, request.op != 0),
        variant: (variant.0 | ones << CompareVariant::ONES_SHIFT) as i32,
    })
}

macro_rules! integer_cmp {
    ($ty:expr, $level:expr, |$a:ident, $b:ident| $holds:expr) => {
        by_type!($ty, T in u16 u32 u64 s16 s32 s64 => hot2($level, |$a: T, $b: T| $holds))
    };
}

macro_rules! float_cmp {
    ($cmp:expr, $ty:ty, $read:expr, $level:expr) => {
        match $cmp {
            "eq" => hot2($level, |a: $ty, b: $ty| $read(a) == $read(b)),
            "lt" => hot2($level, |a: $ty, b: $ty| $read(a) < $read(b)),
            "le" => hot2($level, |a: $ty, b: $ty| $read(a) <= $read(b)),
            "gt" => hot2($level, |a: $ty, b: $ty| $read(a) > $read(b)),
            "ge" => hot2($level, |a: $ty, b: $ty| $read(a) >= $read(b)),
            "neu" => hot2($level, |a: $ty, b: $ty| $read(a) != $read(b)),
            "ltu" => hot2($level, |a: $ty, b: $ty| !($read(a) >= $read(b))),
            "leu" => hot2($level, |a: $ty, b: $ty| !($read(a) > $read(b))),
            "gtu" => hot2($level, |a: $ty, b: $ty| !($read(a) <= $read(b))),
            "geu" => hot2($level, |a: $ty, b: $ty| !($read(a) < $read(b))),
            "nan" => hot2($level, |a: $ty, b: $ty| (a != a) | (b != b)),
            _ => return None,
        }
    };
}

fn same<T>(x: T) -> T {
    x
}

/// Returns the vectorised form of a plain `setp`, if the comparison has one.
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaNs are not ordered")]
fn hot(cmp: &str, ty: &str, ftz: bool, level: CpuLevel) -> Option<Form> {
    let float = matches!(ty, "f32" | "f64");
    Some(match (cmp, ty, ftz) {
        // Signs do not matter to equality.
        ("eq", ..) if !float => by_type!(width(ty), T in b16 b32 b64 => hot2(level, |a: T, b: T| a == b)),
        ("ne", ..) if !float => by_type!(width(ty), T in b16 b32 b64 => hot2(level, |a: T, b: T| a != b)),
        ("lt" | "lo", ..) if !float => integer_cmp!(ty, level, |a, b| a < b),
        ("le" | "ls", ..) if !float => integer_cmp!(ty, level, |a, b| a <= b),
        ("gt" | "hi", ..) if !float => integer_cmp!(ty, level, |a, b| a > b),
        ("ge" | "hs", ..) if !float => integer_cmp!(ty, level, |a, b| a >= b),
        (_, "f32", false) => float_cmp!(cmp, f32, same, level),
        (_, "f32", true) => float_cmp!(cmp, f32, float::flush, level),
        (_, "f64", _) => float_cmp!(cmp, f64, same, level),
        _ => return None,
    })
}

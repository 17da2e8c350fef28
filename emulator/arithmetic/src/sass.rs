//! Arithmetic of machine code that has no PTX instruction of its own.

use super::engine::{cold2, cold4, hot1, hot3, hot4, moded3};
use super::{Form, lane, multifunction};
use crate::lanes::{AluArgs, Class, CpuLevel, Lanes};

/// An operation that `decode` emits for a machine instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SassStep {
    /// `a + b + c`
    Sum3,
    /// `a + b + c`, and 1 more where the predicate holds.
    SumCarry,
    /// Whether that sum is 2³² or more.
    CarryOut,
    /// Whether that sum is twice 2³² or more.
    SecondCarryOut,
    /// `SHF`: shifts 64 bits (low, amount, high) as [`Shift`] describes.
    Shift(Shift),
    /// `PLOP3`: bit of the table at the index that three predicates form.
    Table(u8),
    /// Sine of an angle in turns.
    Sine,
    /// Cosine of an angle in turns.
    Cosine,
    /// `FCHK`: true if a quotient needs more than a reciprocal and corrections.
    DivisionIsHard,
}

/// Modifiers of `SHF`, a funnel shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Shift {
    pub right: bool,
    /// Whether to return the high word, not the low one.
    pub high: bool,
    pub signed: bool,
    /// Whether to take the amount modulo the width instead of clamping it.
    pub wrap: bool,
    /// Whether to shift 64 bits, not 32.
    pub wide: bool,
}

impl Shift {
    fn variant(self) -> u32 {
        let bits = [self.right, self.high, self.signed, self.wrap, self.wide];
        bits.iter().rev().fold(0, |all, &bit| all << 1 | u32::from(bit))
    }
}

fn shift(variant: u32, low: u32, amount: u32, high: u32) -> u32 {
    let has = |bit: u32| variant >> bit & 1 == 1;
    let width = if has(4) { 64 } else { 32 };
    let amount = if has(3) { amount & (width - 1) } else { amount.min(width) };
    let value = u64::from(high) << 32 | u64::from(low);
    let shifted = match (has(0), has(2)) {
        (false, _) => value.checked_shl(amount).unwrap_or(0),
        (true, false) => value.checked_shr(amount).unwrap_or(0),
        (true, true) => (value as i64 >> amount.min(63)) as u64,
    };
    if has(1) { (shifted >> 32) as u32 } else { shifted as u32 }
}

#[inline(always)]
fn sum(a: u32, b: u32, c: u32, carry: bool) -> u64 {
    u64::from(a) + u64::from(b) + u64::from(c) + u64::from(carry)
}

/// Returns whether a division needs the slow path: where a reciprocal or remainder is subnormal. Not documented.
fn division_is_hard(a: f32, b: f32) -> bool {
    let exponent = |x: f32| (x.to_bits() >> 23 & 0xff) as i32;
    let (a, b) = (exponent(a), exponent(b));
    let difference = a - b;
    a <= 24 || a == 255 || b == 0 || b >= 253 || !(-124..=126).contains(&difference)
}

/// # Safety
/// The requirements are those of an `AluFn`.
unsafe fn table_run(lanes: &mut Lanes, args: &AluArgs, mask: u32) {
    let table = args.src[3] as u32;
    // SAFETY: the caller of an `AluFn` vouches for the operands.
    unsafe {
        let [a, b, c] = [0, 1, 2].map(|at| *lanes.preds.add(args.src[at] as usize));
        let row = |number: u32| {
            let pick = |p: u32, bit: u32| if number >> bit & 1 == 1 { p } else { !p };
            let holds = 0u32.wrapping_sub(table >> number & 1);
            holds & pick(a, 2) & pick(b, 1) & pick(c, 0)
        };
        let bits = (0..8).fold(0, |all, number| all | row(number));
        lane::write_pred(lanes, args.dst, bits, mask);
    }
}

/// Looks up a [`SassStep`].
pub fn step(step: SassStep, level: CpuLevel) -> Form {
    match step {
        SassStep::Sum3 => hot3(level, |a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)),
        SassStep::SumCarry => hot4(level, |a: u32, b: u32, c: u32, carry: bool| {
            a.wrapping_add(b).wrapping_add(c).wrapping_add(carry as u32)
        }),
        SassStep::CarryOut => cold4(|a: u32, b: u32, c: u32, carry: bool| sum(a, b, c, carry) >> 32 != 0),
        SassStep::SecondCarryOut => cold4(|a: u32, b: u32, c: u32, carry: bool| sum(a, b, c, carry) >> 33 != 0),
        SassStep::Shift(how) => moded3(how.variant(), shift),
        SassStep::Table(table) => Form {
            run: table_run,
            dst: Class::Pred,
            srcs: &[Class::Pred, Class::Pred, Class::Pred],
            variant: i32::from(table),
        },
        SassStep::Sine => hot1(level, multifunction::sin),
        SassStep::Cosine => hot1(level, multifunction::cos),
        SassStep::DivisionIsHard => cold2(division_is_hard),
    }
}

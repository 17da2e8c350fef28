//! Operations over virtual registers: what lowering makes and register allocation turns into `Op`s.
//!
//! A virtual operation is an [`OpKind`] whose register fields hold virtual numbers and whose branch targets
//! hold label numbers. [`super::operands`] alone defines which fields of an operation are registers.

use arithmetic::Form;
use arithmetic::lanes::{AluArgs, Class, Dst, NONE, Src};
use program::{Flow, OpKind};

/// Virtual predicate 0 is always true.
pub(super) const TRUE: u32 = 0;
/// Virtual predicate 1 is always false.
pub(super) const FALSE: u32 = 1;

/// What kinds of register the operands of an [`OpKind::Alu`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AluClasses {
    pub(super) dst: Class,
    pub(super) srcs: &'static [Class],
}

impl AluClasses {
    /// For everything that is not an [`OpKind::Alu`].
    pub(super) const NONE: AluClasses = AluClasses {
        dst: Class::Bits32,
        srcs: &[],
    };
}

/// A function on these operands.
pub(super) fn alu_op(form: Form, dst: Dst, sources: &[Src]) -> (OpKind, AluClasses) {
    let mut src = [NONE; 4];
    for (place, &source) in src.iter_mut().zip(sources) {
        *place = source;
    }
    if form.srcs.len() < src.len() {
        src[3] = form.variant;
    }
    let kind = OpKind::Alu {
        run: form.run,
        args: AluArgs { dst, src },
    };
    let classes = AluClasses {
        dst: form.dst,
        srcs: form.srcs,
    };
    (kind, classes)
}

/// What integer arithmetic does to trailing zero bits; all that [`super::merge`] needs to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Rule {
    /// Nothing is known of the result.
    #[default]
    Unknown,
    /// The first source, perhaps cut or extended.
    Same,
    /// `a + b`, modulo the width.
    Sum,
    /// `a - b`, modulo the width.
    Difference,
    /// `a | b`, `a ^ b`, or one of the two.
    Either,
    /// The low bits of `a * b`.
    Product,
    /// The low bits of `a * b + c`.
    ProductSum,
    /// `a << b`; the amount is the second source.
    ShiftLeft,
    /// `a & b`, bit by bit.
    And,
}

/// One step of the machine, over virtual registers.
#[derive(Debug, Clone)]
pub(super) struct VirtualOp {
    /// Guarding predicate; [`TRUE`] for none.
    pub(super) guard: u32,
    pub(super) negated: bool,
    /// Index of its instruction.
    pub(super) instr: u32,
    pub(super) first: bool,
    pub(super) kind: OpKind,
    pub(super) classes: AluClasses,
    /// A plain move: nothing to do when both registers get the same place.
    pub(super) moves: bool,
    pub(super) rule: Rule,
    pub(super) flow: Flow,
}

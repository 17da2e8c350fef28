//! Operations over virtual registers, between lowering and register allocation.
//!
//! A virtual operation is an [`OpKind`] whose register fields hold virtual numbers and whose branch targets hold label
//! numbers. [`program::operands`] alone defines which fields of an operation are registers.

use ptx::{Span, ast::Type};

use crate::error::{Result, unsupported};
use arithmetic::Form;
use arithmetic::lanes::{AluArgs, Class, Dst, NONE, Src};
use program::operands::{self, AluClasses, Operand, Role};
use program::{Flow, OpKind};

/// Virtual predicate 0 is always true.
pub(crate) const TRUE: u32 = 0;
/// Virtual predicate 1 is always false.
pub(crate) const FALSE: u32 = 1;

/// An arithmetic function, with the facts about its result that the passes use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AluFunction {
    pub(crate) form: Form,
    pub(crate) rule: BitRule,
    pub(crate) flow: Flow,
    pub(crate) moves: bool,
}

impl From<Form> for AluFunction {
    fn from(form: Form) -> Self {
        Self { form, rule: BitRule::Unknown, flow: Flow::default(), moves: false }
    }
}

impl AluFunction {
    pub(crate) fn with_flow(self, flow: Flow) -> Self {
        Self { flow, ..self }
    }

    /// Creates an operation that always runs and belongs to no instruction yet.
    pub(crate) fn op(self, dst: Dst, sources: &[Src]) -> VirtualOp {
        let form = self.form;
        let mut src = [NONE; 4];
        for (place, &source) in src.iter_mut().zip(sources) {
            *place = source;
        }
        if form.srcs.len() < src.len() {
            src[3] = form.variant;
        }
        VirtualOp {
            classes: AluClasses { dst: form.dst, srcs: form.srcs },
            moves: self.moves,
            rule: self.rule,
            flow: self.flow,
            ..VirtualOp::new(OpKind::Alu { run: form.run, args: AluArgs { dst, src } })
        }
    }
}

/// Effect of integer arithmetic on trailing zero bits, for [`crate::passes::merge`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BitRule {
    #[default]
    Unknown,
    /// The first source, perhaps cut or extended.
    Same,
    Sum,
    Difference,
    /// `a | b`, `a ^ b`, or one of the two.
    Either,
    /// The low bits of `a * b`.
    Product,
    /// The low bits of `a * b + c`.
    ProductSum,
    /// `a << b`; the amount is the second source.
    ShiftLeft,
    And,
}

#[derive(Debug, Clone)]
pub(crate) struct VirtualOp {
    /// Guarding predicate; [`TRUE`] for none.
    pub(crate) guard: u32,
    pub(crate) negated: bool,
    pub(crate) instr: u32,
    /// Whether it is the operation by which its instruction is counted.
    pub(crate) first: bool,
    pub(crate) kind: OpKind,
    pub(crate) classes: AluClasses,
    /// A plain move, which disappears when both registers get the same place.
    pub(crate) moves: bool,
    pub(crate) rule: BitRule,
    pub(crate) flow: Flow,
}

/// Calls `f` for each register operand (no guards, constants or absent ones).
pub(crate) fn for_each_register(op: &VirtualOp, f: &mut dyn FnMut(u32, Class, Role)) {
    operands::for_each_operand(&op.kind, op.classes, &mut |Operand { src, class, role, .. }| {
        if src >= 0 {
            f(src as u32, class, role);
        }
    });
}

/// Replaces each register operand (no guards, constants or absent ones) by the result of `f`.
pub(crate) fn map_registers(op: &mut VirtualOp, f: &mut dyn FnMut(u32, Role) -> u32) {
    operands::map_registers(&mut op.kind, op.classes, f);
}

impl VirtualOp {
    /// Creates an operation that always runs and belongs to no instruction yet.
    pub(crate) fn new(kind: OpKind) -> Self {
        Self {
            guard: TRUE,
            negated: false,
            instr: 0,
            first: false,
            kind,
            classes: AluClasses::NONE,
            moves: false,
            rule: BitRule::Unknown,
            flow: Flow::default(),
        }
    }
}

/// A virtual register that the PTX declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reg {
    pub(crate) id: u32,
    pub(crate) class: Class,
    /// Width as declared: 1, 8, 16, 32, 64.
    pub(crate) bits: u8,
}

#[derive(Debug)]
pub(crate) struct Registers {
    pub(crate) classes: Vec<Class>,
    /// Registers of fewer than 32 bits, in order, with their width.
    narrow: Vec<(u32, u8)>,
}

impl Registers {
    /// Starts with the two constant predicates.
    pub(crate) fn new() -> Registers {
        Registers { classes: vec![Class::Pred, Class::Pred], narrow: Vec::new() }
    }

    pub(crate) fn bits(&self, register: u32) -> u32 {
        match self.narrow.binary_search_by_key(&register, |(narrow, _)| *narrow) {
            Ok(at) => u32::from(self.narrow[at].1),
            Err(_) => match self.classes[register as usize] {
                Class::Pred => 1,
                Class::Bits32 => 32,
                Class::Bits64 => 64,
            },
        }
    }

    pub(crate) fn declare(&mut self, ty: Type, span: Span) -> Result<Reg> {
        let (class, bits) = class_and_bits(ty, span)?;
        let id = self.fresh(class);
        if class == Class::Bits32 && bits < 32 {
            self.narrow.push((id, bits));
        }
        Ok(Reg { id, class, bits })
    }

    pub(crate) fn fresh(&mut self, class: Class) -> u32 {
        self.classes.push(class);
        self.classes.len() as u32 - 1
    }
}

pub(crate) fn class_and_bits(ty: Type, span: Span) -> Result<(Class, u8)> {
    Ok(match ty.bytes() {
        0 => (Class::Pred, 1),
        1 => (Class::Bits32, 8),
        2 => (Class::Bits32, 16),
        4 => (Class::Bits32, 32),
        8 => (Class::Bits64, 64),
        _ => return Err(unsupported(span, "a 128-bit register")),
    })
}

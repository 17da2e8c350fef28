//! Operations over virtual registers: what lowering makes and register allocation turns into `Op`s.
//!
//! A virtual operation is an [`OpKind`] whose register fields hold virtual numbers and whose branch targets
//! hold label numbers. [`operands`] is the one place that knows which fields of an operation are registers.

use crate::lanes::{Class, NONE};
use crate::program::{Addr, AtomicKind, BarrierKind, Clock, Flow, OpKind, VoteMode};

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

/// What integer arithmetic does to trailing zero bits; all that [`super::merge`] needs to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Rule {
    /// Nothing is known of the result.
    #[default]
    Unknown,
    /// The first source, perhaps cut or extended.
    Same,
    /// `a + b`
    Sum,
    /// `a - b`
    Difference,
    /// `a | b`, `a ^ b`, or one of the two.
    Either,
    /// The low bits of `a * b`.
    Product,
    /// The low bits of `a * b + c`.
    ProductSum,
    /// `a << b`
    ShiftLeft,
    /// `a & b`
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
    /// The predicate of a vote or of a reducing barrier: their own field is too narrow for virtual numbers.
    pub(super) pred: u32,
    /// A plain move: nothing to do when both registers get the same place.
    pub(super) moves: bool,
    pub(super) rule: Rule,
    pub(super) flow: Flow,
}

/// How an operand is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Read.
    Use,
    /// Written after everything has been read, lane by lane: may take the place of a source.
    Def,
    /// Written while sources are still needed: must not share with any.
    EarlyDef,
}

/// Shows each register operand (not the guard, not constants, not absent ones) to `f` and puts what it
/// returns in its place.
pub(super) fn operands(op: &mut VirtualOp, f: &mut dyn FnMut(i32, Class, Role) -> i32) {
    use Class::{Bits32, Bits64, Pred};
    use Role::{Def, EarlyDef, Use};

    let mut src = |field: &mut i32, class: Class| {
        // A predicate has no constant form; below zero is a constant line, `NONE` among them.
        if *field >= 0 {
            *field = f(*field, class, Use);
        }
    };
    let address = |field: &mut Addr, src: &mut dyn FnMut(&mut i32, Class)| {
        src(&mut field.src, if field.wide { Bits64 } else { Bits32 });
    };

    // Sources first, so that `f` has seen every use when it meets a definition.
    match &mut op.kind {
        OpKind::Alu { args, .. } => {
            for (field, &class) in args.src.iter_mut().zip(op.classes.srcs) {
                src(field, class);
            }
        }
        OpKind::Load(access) => address(&mut access.addr, &mut src),
        OpKind::Store(access) => {
            address(&mut access.addr, &mut src);
            let class = if access.wide { Bits64 } else { Bits32 };
            for field in &mut access.regs[..usize::from(access.n)] {
                src(field, class);
            }
        }
        OpKind::Atomic(atomic) => {
            address(&mut atomic.addr, &mut src);
            let class = if atomic.ty.bytes() == 8 { Bits64 } else { Bits32 };
            src(&mut atomic.src[0], class);
            if atomic.kind == AtomicKind::Cas {
                src(&mut atomic.src[1], class);
            }
        }
        OpKind::BranchIndexed { index, .. } => src(index, Bits32),
        OpKind::Barrier { kind, id, count } => {
            src(id, Bits32);
            src(count, Bits32);
            if !matches!(kind, BarrierKind::Sync | BarrierKind::Arrive) {
                predicate(&mut op.pred, &mut src);
            }
        }
        OpKind::WarpSync { members } => src(members, Bits32),
        OpKind::Shuffle { src: values, .. } => {
            for field in values {
                src(field, Bits32);
            }
        }
        OpKind::Vote { members, .. } => {
            src(members, Bits32);
            predicate(&mut op.pred, &mut src);
        }
        OpKind::Match {
            wide,
            src: [value, members],
            ..
        } => {
            src(value, if *wide { Bits64 } else { Bits32 });
            src(members, Bits32);
        }
        OpKind::Redux { src: values, .. } => {
            for field in values {
                src(field, Bits32);
            }
        }
        OpKind::CpAsync {
            dst,
            src: from,
            src_bytes,
            ..
        } => {
            address(dst, &mut src);
            address(from, &mut src);
            src(src_bytes, Bits32);
        }
        OpKind::IsSpace { src: field, .. } => src(field, Bits64),
        OpKind::Texture(texture) => {
            src(&mut texture.handle, Bits64);
            for field in &mut texture.coordinates[..usize::from(texture.dims)] {
                src(field, Bits32);
            }
        }
        OpKind::Printf {
            format, arguments, ..
        } => {
            src(format, Bits64);
            src(arguments, Bits64);
        }
        OpKind::AssertFail { text, line } => {
            for field in text {
                src(field, Bits64);
            }
            src(line, Bits32);
        }
        OpKind::Branch { .. }
        | OpKind::Exit
        | OpKind::Trap
        | OpKind::Fence
        | OpKind::Yield
        | OpKind::ActiveMask { .. }
        | OpKind::ReadClock { .. }
        | OpKind::CpAsyncCommit
        | OpKind::CpAsyncWait { .. }
        | OpKind::Nop => {}
    }

    let mut dst = |field: &mut i32, class: Class, role: Role| {
        if *field != NONE {
            *field = f(*field, class, role);
        }
    };
    let mut result = |field: &mut u32, class: Class, role: Role| {
        let mut signed = *field as i32;
        dst(&mut signed, class, role);
        *field = signed as u32;
    };
    match &mut op.kind {
        OpKind::Alu { args, .. } => result(&mut args.dst, op.classes.dst, Def),
        OpKind::Load(access) => {
            let class = if access.wide { Bits64 } else { Bits32 };
            for field in &mut access.regs[..usize::from(access.n)] {
                dst(field, class, EarlyDef);
            }
        }
        OpKind::Atomic(atomic) => {
            let class = if atomic.ty.bytes() == 8 { Bits64 } else { Bits32 };
            dst(&mut atomic.dst, class, EarlyDef);
        }
        OpKind::Barrier { kind, .. } => match kind {
            BarrierKind::Sync | BarrierKind::Arrive => {}
            BarrierKind::RedPopc(field, ..) => result(field, Bits32, EarlyDef),
            BarrierKind::RedAnd(field, ..) | BarrierKind::RedOr(field, ..) => result(field, Pred, EarlyDef),
        },
        OpKind::Shuffle {
            dst: field, dst_pred, ..
        }
        | OpKind::Match {
            dst: field, dst_pred, ..
        } => {
            result(field, Bits32, EarlyDef);
            dst(dst_pred, Pred, EarlyDef);
        }
        OpKind::Vote { mode, dst: field, .. } => {
            result(
                field,
                if *mode == VoteMode::Ballot { Bits32 } else { Pred },
                EarlyDef,
            );
        }
        OpKind::Redux { dst: field, .. } => result(field, Bits32, EarlyDef),
        OpKind::ActiveMask { dst: field } => result(field, Bits32, EarlyDef),
        OpKind::ReadClock { clock, dst: field } => result(field, clock_class(*clock), EarlyDef),
        OpKind::IsSpace { dst: field, .. } => result(field, Pred, EarlyDef),
        OpKind::Texture(texture) => {
            for field in &mut texture.dst {
                dst(field, Bits32, EarlyDef);
            }
        }
        OpKind::Printf { dst: field, .. } => dst(field, Bits32, EarlyDef),
        OpKind::Store(_)
        | OpKind::Branch { .. }
        | OpKind::BranchIndexed { .. }
        | OpKind::Exit
        | OpKind::Trap
        | OpKind::WarpSync { .. }
        | OpKind::Fence
        | OpKind::Yield
        | OpKind::CpAsync { .. }
        | OpKind::CpAsyncCommit
        | OpKind::CpAsyncWait { .. }
        | OpKind::AssertFail { .. }
        | OpKind::Nop => {}
    }
}

fn predicate(field: &mut u32, src: &mut dyn FnMut(&mut i32, Class)) {
    let mut signed = *field as i32;
    src(&mut signed, Class::Pred);
    *field = signed as u32;
}

/// The register that a clock fits in.
pub(super) fn clock_class(clock: Clock) -> Class {
    match clock {
        Clock::Clock64 | Clock::GlobalTimer => Class::Bits64,
        Clock::Clock | Clock::ClockHi | Clock::GlobalTimerLo | Clock::GlobalTimerHi => Class::Bits32,
    }
}

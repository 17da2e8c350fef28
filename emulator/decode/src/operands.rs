//! Operand table: a row for each kind of operation, with the class, role and permitted values of each operand.
//!
//! Use and definition lists, register allocation, [`crate::passes::validate`] and [`crate::display`] read this table. A
//! new kind of operation is a row here, and a function in `simt::exec` that runs it.

use crate::virtual_op::{AluClasses, VirtualOp};
use arithmetic::lanes::{Class, Dst, Src};
use program::{
    Addr, BarrierKind, BarrierResult, BulkBytes, Clock, OpKind, TensorCopy, TensorWay, VoteMode, WgmmaA,
    without_operands,
};

/// How an operation uses an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Use,
    /// The result is written lane by lane after all sources are read, so it may share a source's register.
    Def,
    /// The result is written while sources are still needed, so it must not share a register with one.
    EarlyDef,
}

/// Permitted values of an operand. A constant is a negative index; an absent operand is [`arithmetic::lanes::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permitted {
    Register,
    RegisterOrConstant,
    OptionalRegister,
    /// A register, a constant, or absent.
    Optional,
}

/// Calls `f` for each operand of an operation, without its guard. Sources come first, so `f` has seen every use when it
/// meets a definition. `f` may change the operand.
pub(super) fn visit_operands(kind: &mut OpKind, alu: AluClasses, f: &mut dyn FnMut(&mut i32, Class, Role, Permitted)) {
    use Class::{Bits32, Bits64, Pred};
    let row = &mut Row(f);
    match kind {
        // Constants of arithmetic are lines, and no source is ever absent.
        OpKind::Alu { args, .. } => row.values(args.src.iter_mut().zip(alu.srcs)).def(&mut args.dst, alu.dst),
        OpKind::Load(access) => {
            let class = Class::of_width(access.wide);
            row.address(&mut access.addr).early_optional(&mut access.regs[..usize::from(access.n.min(8))], class)
        }
        OpKind::Store(access) => {
            let class = Class::of_width(access.wide);
            row.address(&mut access.addr).reads(&mut access.regs[..usize::from(access.n.min(8))], class)
        }
        OpKind::Atomic(atomic) => {
            let class = Class::of_width(atomic.ty.bytes() == 8);
            let [second, third] = &mut atomic.src;
            row.address(&mut atomic.addr)
                .read(second, class)
                .read_optional(third, class)
                .early_optional(std::slice::from_mut(&mut atomic.dst), class)
        }
        OpKind::BranchIndexed { index, .. } => row.read(index, Bits32),
        OpKind::Call { target, .. } => row.read_optional(target, Bits64),
        OpKind::Barrier { kind, id, count } => {
            let row = row.read(id, Bits32).read_optional(count, Bits32);
            match kind {
                BarrierKind::Sync | BarrierKind::Arrive => row,
                BarrierKind::Reduce { pred, result, .. } => match result {
                    BarrierResult::Popc(dst) => row.pred(pred).early(dst, Bits32),
                    BarrierResult::And(dst) | BarrierResult::Or(dst) => row.pred(pred).early(dst, Pred),
                },
            }
        }
        OpKind::WarpSync { members } => row.read(members, Bits32),
        OpKind::Shuffle { src, dst, dst_pred, .. } => {
            row.reads(src, Bits32).early(dst, Bits32).early_optional(std::slice::from_mut(dst_pred), Pred)
        }
        OpKind::Vote { mode, dst, pred, members, .. } => {
            row.read(members, Bits32).pred(pred).early(dst, vote_class(*mode))
        }
        OpKind::Match { wide: is_wide, src: [value, members], dst, dst_pred, .. } => row
            .read(value, Class::of_width(*is_wide))
            .read(members, Bits32)
            .early(dst, Bits32)
            .early_optional(std::slice::from_mut(dst_pred), Pred),
        OpKind::Redux { src, dst, .. } => row.reads(src, Bits32).early(dst, Bits32),
        OpKind::ActiveMask { dst } => row.early(dst, Bits32),
        OpKind::ReadClock { clock, dst } => row.early(dst, clock_class(*clock)),
        OpKind::CpAsync { dst, src, src_bytes, .. } => row.address(dst).address(src).read_optional(src_bytes, Bits32),
        OpKind::IsSpace { src, dst, .. } => row.read(src, Bits64).early(dst, Pred),
        OpKind::Mma(mma) => {
            let class = Class::of_width(mma.form.is_wide());
            let [a, b, c] = mma.form.registers();
            row.reads(&mut mma.a[..a], class)
                .reads(&mut mma.b[..b], class)
                .reads(&mut mma.c[..c], class)
                .defs(&mut mma.d[..c], class)
        }
        OpKind::MatrixLoad(access) => {
            row.address(&mut access.addr).early_optional(&mut access.regs[..usize::from(access.n.min(4))], Bits32)
        }
        OpKind::MatrixStore(access) => {
            row.address(&mut access.addr).reads(&mut access.regs[..usize::from(access.n.min(4))], Bits32)
        }
        OpKind::MatrixMove { dst, src } => row.read(src, Bits32).early(dst, Bits32),
        OpKind::TensorCopy(copy) => {
            let TensorCopy { map, map_space: _, dims, at, shared, blocks, way } = &mut **copy;
            let row =
                row.read_optional(blocks, Bits32).address(map).reads(&mut at[..usize::from((*dims).min(5))], Bits32);
            match way {
                TensorWay::Load(barrier) => row.address(shared).address(barrier),
                TensorWay::Store => row.address(shared),
                TensorWay::Prefetch => row,
            }
        }
        OpKind::BulkBytes(copy) => {
            let BulkBytes { shared, global, within_cluster: _, bytes, blocks, way } = &mut **copy;
            let row = row.address(shared).address(global).read(bytes, Bits32).read_optional(blocks, Bits32);
            match way {
                TensorWay::Load(barrier) => row.address(barrier),
                TensorWay::Store | TensorWay::Prefetch => row,
            }
        }
        OpKind::Wgmma(wgmma) => {
            let row = row.reads(&mut wgmma.c, Bits32);
            let row = match &mut wgmma.a {
                WgmmaA::Registers(a) => row.reads(a, Bits32),
                WgmmaA::Shared(a) => row.read(a, Bits64),
            };
            let row = row.read(&mut wgmma.b, Bits64).pred(&mut wgmma.adds);
            wgmma.d.iter_mut().fold(row, |row, d| row.def(d, Bits32))
        }
        OpKind::Mbarrier(barrier) => row
            .address(&mut barrier.addr)
            .read_optional(&mut barrier.number, Bits32)
            .read_optional(&mut barrier.phase, Bits64)
            .early_optional(std::slice::from_mut(&mut barrier.dst), Bits64)
            .early_optional(std::slice::from_mut(&mut barrier.done), Pred),
        OpKind::Texture(texture) => row
            .read(&mut texture.handle, Bits64)
            .reads(&mut texture.coordinates[..usize::from(texture.dims.min(2))], Bits32)
            .early_optional(&mut texture.dst, Bits32),
        OpKind::Printf { format, arguments, dst } => {
            row.read(format, Bits64).read(arguments, Bits64).early_optional(std::slice::from_mut(dst), Bits32)
        }
        OpKind::AssertFail { text, line } => row.reads(text, Bits64).read(line, Bits32),
        without_operands!() => row,
    };
}

/// Replaces each register operand (no guards, constants or absent ones) by the result of `f`.
pub(super) fn map_registers(op: &mut VirtualOp, f: &mut dyn FnMut(i32, Class, Role) -> i32) {
    visit_operands(&mut op.kind, op.classes, &mut |field, class, role, _| {
        if *field >= 0 {
            *field = f(*field, class, role);
        }
    });
}

/// Calls the visitor of [`visit_operands`] for the operands of one row.
struct Row<'a>(&'a mut dyn FnMut(&mut i32, Class, Role, Permitted));

impl Row<'_> {
    fn read(&mut self, field: &mut Src, class: Class) -> &mut Self {
        (self.0)(field, class, Role::Use, Permitted::RegisterOrConstant);
        self
    }

    fn reads(&mut self, fields: &mut [Src], class: Class) -> &mut Self {
        fields.iter_mut().fold(self, |row, field| row.read(field, class))
    }

    fn read_optional(&mut self, field: &mut Src, class: Class) -> &mut Self {
        (self.0)(field, class, Role::Use, Permitted::Optional);
        self
    }

    /// Sources of arithmetic: predicates have no constant form.
    fn values<'f>(&mut self, fields: impl Iterator<Item = (&'f mut Src, &'static Class)>) -> &mut Self {
        for (field, &class) in fields {
            let permitted = if class == Class::Pred { Permitted::Register } else { Permitted::RegisterOrConstant };
            (self.0)(field, class, Role::Use, permitted);
        }
        self
    }

    fn address(&mut self, address: &mut Addr) -> &mut Self {
        self.read(&mut address.src, Class::of_width(address.wide))
    }

    fn pred(&mut self, field: &mut u32) -> &mut Self {
        self.unsigned(field, Class::Pred, Role::Use)
    }

    fn def(&mut self, field: &mut Dst, class: Class) -> &mut Self {
        self.unsigned(field, class, Role::Def)
    }

    fn defs(&mut self, fields: &mut [i32], class: Class) -> &mut Self {
        for field in fields {
            (self.0)(field, class, Role::Def, Permitted::Register);
        }
        self
    }

    fn early(&mut self, field: &mut Dst, class: Class) -> &mut Self {
        self.unsigned(field, class, Role::EarlyDef)
    }

    fn early_optional(&mut self, fields: &mut [i32], class: Class) -> &mut Self {
        for field in fields {
            (self.0)(field, class, Role::EarlyDef, Permitted::OptionalRegister);
        }
        self
    }

    fn unsigned(&mut self, field: &mut u32, class: Class, role: Role) -> &mut Self {
        let mut signed = *field as i32;
        (self.0)(&mut signed, class, role, Permitted::Register);
        *field = signed as u32;
        self
    }
}

fn vote_class(mode: VoteMode) -> Class {
    if mode == VoteMode::Ballot { Class::Bits32 } else { Class::Pred }
}

pub(super) fn clock_class(clock: Clock) -> Class {
    match clock {
        Clock::Clock64 | Clock::GlobalTimer => Class::Bits64,
        Clock::Clock | Clock::ClockHi | Clock::GlobalTimerLo | Clock::GlobalTimerHi => Class::Bits32,
    }
}

impl Permitted {
    pub(super) fn allows_constant(self) -> bool {
        matches!(self, Self::RegisterOrConstant | Self::Optional)
    }

    pub(super) fn allows_absence(self) -> bool {
        matches!(self, Self::OptionalRegister | Self::Optional)
    }
}

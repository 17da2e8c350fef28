//! Operand table: a row for each kind of operation, with the class, role and permitted values of each operand.
//!
//! Use and definition lists, register allocation and [`crate::passes::validate`] read this table. A new kind of
//! operation is a row here, and a function in `simt::exec` that runs it.

use crate::virtual_op::{AluClasses, VirtualOp};
use arithmetic::lanes::{Class, Dst, NONE, Src};
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
/// meets a definition.
pub(super) fn for_each_operand(kind: &OpKind, alu: AluClasses, f: &mut dyn FnMut(Src, Class, Role, Permitted)) {
    visit_row(kind, alu, &mut Row(f));
}

/// Calls `f` for each register operand (no guards, constants or absent ones).
pub(super) fn for_each_register(op: &VirtualOp, f: &mut dyn FnMut(u32, Class, Role)) {
    for_each_operand(&op.kind, op.classes, &mut |src, class, role, _| {
        if src >= 0 {
            f(src as u32, class, role);
        }
    });
}

/// Replaces each register operand (no guards, constants or absent ones) by the result of `f`.
pub(super) fn map_registers(op: &mut VirtualOp, f: &mut dyn FnMut(u32, Class, Role) -> u32) {
    map_row(&mut op.kind, op.classes, &mut RowMut(f));
}

/// Calls a visitor for the operands of one row.
struct Row<'a>(&'a mut dyn FnMut(Src, Class, Role, Permitted));

impl Row<'_> {
    fn source(&mut self, field: &Src, class: Class, role: Role, permitted: Permitted) -> &mut Self {
        (self.0)(*field, class, role, permitted);
        self
    }

    fn register(&mut self, field: &u32, class: Class, role: Role) -> &mut Self {
        self.source(&(*field as Src), class, role, Permitted::Register)
    }

    fn absent(&mut self, class: Class, role: Role, permitted: Permitted) -> &mut Self {
        self.source(&NONE, class, role, permitted)
    }
}

/// Replaces the registers of one row.
struct RowMut<'a>(&'a mut dyn FnMut(u32, Class, Role) -> u32);

impl RowMut<'_> {
    fn source(&mut self, field: &mut Src, class: Class, role: Role, _: Permitted) -> &mut Self {
        if *field >= 0 {
            *field = (self.0)(*field as u32, class, role) as Src;
        }
        self
    }

    fn register(&mut self, field: &mut u32, class: Class, role: Role) -> &mut Self {
        *field = (self.0)(*field, class, role);
        self
    }

    fn absent(&mut self, _: Class, _: Role, _: Permitted) -> &mut Self {
        self
    }
}

/// Defines the operand table for one of the two kinds of rows; `mut` for the one that changes operands.
macro_rules! operand_table {
    ($visit:ident, $Row:ident $(, $mut:tt)?) => {
        fn $visit(kind: &$($mut)? OpKind, alu: AluClasses, row: &mut $Row<'_>) {
            use Class::{Bits32, Bits64, Pred};
            match kind {
                // Constants of arithmetic are lines, and no source is ever absent.
                OpKind::Alu { args, .. } => row.values(&$($mut)? args.src, alu.srcs).def(&$($mut)? args.dst, alu.dst),
                OpKind::Load(access) => {
                    let class = Class::of_width(access.wide);
                    row.address(&$($mut)? access.addr)
                        .loaded(&$($mut)? access.regs[..usize::from(access.n.min(8))], class)
                }
                OpKind::Store(access) => {
                    let class = Class::of_width(access.wide);
                    row.address(&$($mut)? access.addr)
                        .reads(&$($mut)? access.regs[..usize::from(access.n.min(8))], class)
                }
                OpKind::Atomic(atomic) => {
                    let class = Class::of_width(atomic.ty.bytes() == 8);
                    let [second, third] = &$($mut)? atomic.src;
                    row.address(&$($mut)? atomic.addr)
                        .read(second, class)
                        .source(third, class, Role::Use, Permitted::Optional)
                        .early_optional(&$($mut)? atomic.dst, class)
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
                    row.reads(src, Bits32).early(dst, Bits32).early_optional(dst_pred, Pred)
                }
                OpKind::Vote { mode, dst, pred, members, .. } => {
                    row.read(members, Bits32).pred(pred).early(dst, vote_class(*mode))
                }
                OpKind::Match { wide: is_wide, src: [value, members], dst, dst_pred, .. } => row
                    .read(value, Class::of_width(*is_wide))
                    .read(members, Bits32)
                    .early(dst, Bits32)
                    .early_optional(dst_pred, Pred),
                OpKind::Redux { src, dst, .. } => row.reads(src, Bits32).early(dst, Bits32),
                OpKind::ActiveMask { dst } => row.early(dst, Bits32),
                OpKind::ReadClock { clock, dst } => row.early(dst, clock_class(*clock)),
                OpKind::CpAsync { dst, src, src_bytes, .. } => {
                    row.address(dst).address(src).read_optional(src_bytes, Bits32)
                }
                OpKind::IsSpace { src, dst, .. } => row.read(src, Bits64).early(dst, Pred),
                OpKind::Mma(mma) => {
                    let class = Class::of_width(mma.form.is_wide());
                    let [a, b, c] = mma.form.registers();
                    row.reads(&$($mut)? mma.a[..a], class)
                        .reads(&$($mut)? mma.b[..b], class)
                        .reads(&$($mut)? mma.c[..c], class)
                        .read_optional(&$($mut)? mma.metadata, Bits32)
                        .defs(&$($mut)? mma.d[..c], class)
                }
                OpKind::MatrixLoad(access) => {
                    row.address(&$($mut)? access.addr)
                        .loaded(&$($mut)? access.regs[..usize::from(access.n.min(4))], Bits32)
                }
                OpKind::MatrixStore(access) => {
                    row.address(&$($mut)? access.addr)
                        .reads(&$($mut)? access.regs[..usize::from(access.n.min(4))], Bits32)
                }
                OpKind::MatrixMove { dst, src } => row.read(src, Bits32).early(dst, Bits32),
                OpKind::TensorCopy(copy) => {
                    let TensorCopy { map, map_space: _, dims, at, shared, blocks, way } = &$($mut)? **copy;
                    let row =
                        row.read_optional(blocks, Bits32)
                            .address(map)
                            .reads(&$($mut)? at[..usize::from((*dims)
                            .min(5))], Bits32);
                    match way {
                        TensorWay::Load(barrier) => row.address(shared).address(barrier),
                        TensorWay::Store => row.address(shared),
                        TensorWay::Prefetch => row,
                    }
                }
                OpKind::BulkBytes(copy) => {
                    let BulkBytes { shared, global, within_cluster: _, bytes, blocks, way } = &$($mut)? **copy;
                    let row = row.address(shared).address(global).read(bytes, Bits32).read_optional(blocks, Bits32);
                    match way {
                        TensorWay::Load(barrier) => row.address(barrier),
                        TensorWay::Store | TensorWay::Prefetch => row,
                    }
                }
                OpKind::Wgmma(wgmma) => {
                    let row = row.reads(&$($mut)? wgmma.c, Bits32);
                    let row = match &$($mut)? wgmma.a {
                        WgmmaA::Registers(a) => row.reads(a, Bits32),
                        WgmmaA::Shared(a) => row.read(a, Bits64),
                    };
                    let row = row.read(&$($mut)? wgmma.b, Bits64).pred(&$($mut)? wgmma.adds);
                    row.defs(&$($mut)? wgmma.d, Bits32)
                }
                OpKind::Mbarrier(barrier) => row
                    .address(&$($mut)? barrier.addr)
                    .read_optional(&$($mut)? barrier.number, Bits32)
                    .read_optional(&$($mut)? barrier.phase, Bits64)
                    .early_optional(&$($mut)? barrier.dst, Bits64)
                    .early_optional(&$($mut)? barrier.done, Pred),
                OpKind::Texture(texture) => row
                    .read(&$($mut)? texture.handle, Bits64)
                    .reads(&$($mut)? texture.coordinates[..usize::from(texture.dims.min(2))], Bits32)
                    .all_early_optional(&$($mut)? texture.dst, Bits32),
                OpKind::Printf { format, arguments, dst } => {
                    row.read(format, Bits64).read(arguments, Bits64).early_optional(dst, Bits32)
                }
                OpKind::AssertFail { text, line } => row.reads(text, Bits64).read(line, Bits32),
                without_operands!() => row,
            };
        }

        impl $Row<'_> {
            fn read(&mut self, field: &$($mut)? Src, class: Class) -> &mut Self {
                self.source(field, class, Role::Use, Permitted::RegisterOrConstant)
            }

            fn reads(&mut self, fields: &$($mut)? [Src], class: Class) -> &mut Self {
                for field in fields {
                    self.read(field, class);
                }
                self
            }

            fn read_optional(&mut self, field: &$($mut)? Option<Src>, class: Class) -> &mut Self {
                match field {
                    Some(field) => self.read(field, class),
                    None => self.absent(class, Role::Use, Permitted::Optional),
                }
            }

            /// Sources of arithmetic: predicates have no constant form.
            fn values(&mut self, fields: &$($mut)? [Src], classes: &[Class]) -> &mut Self {
                for (field, &class) in fields.into_iter().zip(classes) {
                    let permitted =
                        if class == Class::Pred { Permitted::Register } else { Permitted::RegisterOrConstant };
                    self.source(field, class, Role::Use, permitted);
                }
                self
            }

            fn address(&mut self, address: &$($mut)? Addr) -> &mut Self {
                let class = Class::of_width(address.wide);
                self.read(&$($mut)? address.src, class)
            }

            fn pred(&mut self, field: &$($mut)? u32) -> &mut Self {
                self.register(field, Class::Pred, Role::Use)
            }

            fn def(&mut self, field: &$($mut)? Dst, class: Class) -> &mut Self {
                self.register(field, class, Role::Def)
            }

            fn defs(&mut self, fields: &$($mut)? [Dst], class: Class) -> &mut Self {
                for field in fields {
                    self.def(field, class);
                }
                self
            }

            fn early(&mut self, field: &$($mut)? Dst, class: Class) -> &mut Self {
                self.register(field, class, Role::EarlyDef)
            }

            fn early_optional(&mut self, field: &$($mut)? Option<Dst>, class: Class) -> &mut Self {
                match field {
                    Some(field) => self.early(field, class),
                    None => self.absent(class, Role::EarlyDef, Permitted::OptionalRegister),
                }
            }

            fn all_early_optional(&mut self, fields: &$($mut)? [Option<Dst>], class: Class) -> &mut Self {
                for field in fields {
                    self.early_optional(field, class);
                }
                self
            }

            /// Destinations of a load, whose field has sources too.
            fn loaded(&mut self, fields: &$($mut)? [Src], class: Class) -> &mut Self {
                for field in fields {
                    self.source(field, class, Role::EarlyDef, Permitted::OptionalRegister);
                }
                self
            }
        }
    };
}
operand_table!(visit_row, Row);
operand_table!(map_row, RowMut, mut);

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

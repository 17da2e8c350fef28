//! Operand table: class, role, permitted values and purpose of each operand, by kind of operation.
//!
//! The decoder's use and definition lists, register allocation and last check read this table, and so does the check of
//! undefined values. A new kind of operation is a row here, and a function in `simt::exec` that runs it.

use arithmetic::lanes::{Class, Dst, Src};

use crate::{Addr, BarrierKind, BarrierResult, BulkBytes, Clock, OpKind, TensorCopy, TensorWay, VoteMode, WgmmaA};

#[derive(Debug, Clone, Copy)]
pub struct Operand {
    /// A register, or a constant as a negative index; [`arithmetic::lanes::NONE`] where a permitted one is absent.
    pub src: Src,
    pub class: Class,
    pub role: Role,
    pub permitted: Permitted,
}

/// How an operation uses an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Use(Purpose),
    /// The result is written lane by lane after all sources are read, so it may share a source's register.
    Def,
    /// The result is written while sources are still needed, so it must not share a register with one.
    EarlyDef,
}

/// Purpose of a source, which decides what an undefined one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The operation computes with it, moves or stores it.
    Value,
    Address,
    /// It decides where lanes go on.
    Condition,
    /// The number of a lane or barrier, a mask of lanes, or a size.
    Control,
    /// An atomic works on it.
    Atomic,
    Printed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permitted {
    Register,
    RegisterOrConstant,
    OptionalRegister,
    /// A register, a constant, or absent.
    Optional,
}

/// Register classes of the operands of an [`OpKind::Alu`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluClasses {
    pub dst: Class,
    pub srcs: &'static [Class],
}

impl AluClasses {
    /// Value for all other operations.
    pub const NONE: AluClasses = AluClasses { dst: Class::Bits32, srcs: &[] };
}

impl Role {
    pub const GUARD: Role = Role::Use(Purpose::Condition);

    pub fn is_use(self) -> bool {
        matches!(self, Self::Use(_))
    }
}

/// Calls `f` for each operand of an operation but its guard, sources first: uses precede definitions.
pub fn for_each_operand(kind: &OpKind, alu: AluClasses, f: &mut dyn FnMut(Operand)) {
    visit_row(kind, alu, &mut Row(f));
}

/// Replaces each register operand (no guards, constants or absent ones) by the result of `f`.
pub fn map_registers(kind: &mut OpKind, alu: AluClasses, f: &mut dyn FnMut(u32, Role) -> u32) {
    map_row(kind, alu, &mut RowMut(f));
}

/// Calls a visitor for the operands of one row.
struct Row<'a>(&'a mut dyn FnMut(Operand));

impl Row<'_> {
    fn source(&mut self, field: &Src, class: Class, role: Role, permitted: Permitted) -> &mut Self {
        (self.0)(Operand { src: *field, class, role, permitted });
        self
    }

    fn register(&mut self, field: &u32, class: Class, role: Role) -> &mut Self {
        self.source(&(*field as Src), class, role, Permitted::Register)
    }
}

/// Replaces the registers of one row.
struct RowMut<'a>(&'a mut dyn FnMut(u32, Role) -> u32);

impl RowMut<'_> {
    fn source(&mut self, field: &mut Src, _: Class, role: Role, _: Permitted) -> &mut Self {
        if *field >= 0 {
            *field = (self.0)(*field as u32, role) as Src;
        }
        self
    }

    fn register(&mut self, field: &mut u32, _: Class, role: Role) -> &mut Self {
        *field = (self.0)(*field, role);
        self
    }
}

/// Defines the operand table for one of the two kinds of rows; `mut` for the one that changes operands.
macro_rules! operand_table {
    ($visit:ident, $Row:ident $(, $mut:tt)?) => {
        fn $visit(kind: &$($mut)? OpKind, alu: AluClasses, row: &mut $Row<'_>) {
            use Class::{Bits32, Bits64, Pred};
            use Purpose::{Address, Condition, Control, Printed, Value};
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
                        .reads(&$($mut)? access.regs[..usize::from(access.n.min(8))], class, Value)
                }
                OpKind::Atomic(atomic) => {
                    let class = Class::of_width(atomic.ty.bytes() == 8);
                    let [second, third] = &$($mut)? atomic.src;
                    row.address(&$($mut)? atomic.addr)
                        .read(second, class, Purpose::Atomic)
                        .source(third, class, Role::Use(Purpose::Atomic), Permitted::Optional)
                        .early_optional(&$($mut)? atomic.dst, class)
                }
                OpKind::BranchIndexed { index, .. } => row.read(index, Bits32, Condition),
                OpKind::Call { target, .. } => row.read_optional(target, Bits64, Address),
                OpKind::Barrier { kind, id, count } => {
                    let row = row.read(id, Bits32, Control).read_optional(count, Bits32, Control);
                    match kind {
                        BarrierKind::Sync | BarrierKind::Arrive => row,
                        BarrierKind::Reduce { pred, result, .. } => match result {
                            BarrierResult::Popc(dst) => row.pred(pred, Condition).early(dst, Bits32),
                            BarrierResult::And(dst) | BarrierResult::Or(dst) => {
                                row.pred(pred, Condition).early(dst, Pred)
                            }
                        },
                    }
                }
                OpKind::WarpSync { members } => row.read(members, Bits32, Control),
                OpKind::Shuffle { src: [value, control @ ..], dst, dst_pred, .. } => row
                    .read(value, Bits32, Value)
                    .reads(control, Bits32, Control)
                    .early(dst, Bits32)
                    .early_optional(dst_pred, Pred),
                OpKind::Vote { mode, dst, pred, members, .. } => {
                    let result = if *mode == VoteMode::Ballot { Bits32 } else { Pred };
                    row.read(members, Bits32, Control).pred(pred, Value).early(dst, result)
                }
                OpKind::Match { wide: is_wide, src: [value, members], dst, dst_pred, .. } => row
                    .read(value, Class::of_width(*is_wide), Value)
                    .read(members, Bits32, Control)
                    .early(dst, Bits32)
                    .early_optional(dst_pred, Pred),
                OpKind::Redux { src: [value, members], dst, .. } => {
                    row.read(value, Bits32, Value).read(members, Bits32, Control).early(dst, Bits32)
                }
                OpKind::ActiveMask { dst } => row.early(dst, Bits32),
                OpKind::ReadClock { clock, dst } => row.early(dst, clock_class(*clock)),
                OpKind::CpAsync { dst, src, src_bytes, .. } => {
                    row.address(dst).address(src).read_optional(src_bytes, Bits32, Control)
                }
                OpKind::IsSpace { src, dst, .. } => row.read(src, Bits64, Address).early(dst, Pred),
                OpKind::Mma(mma) => {
                    let class = Class::of_width(mma.form.is_wide());
                    let [a, b, c] = mma.form.registers();
                    row.reads(&$($mut)? mma.a[..a], class, Value)
                        .reads(&$($mut)? mma.b[..b], class, Value)
                        .reads(&$($mut)? mma.c[..c], class, Value)
                        .read_optional(&$($mut)? mma.metadata, Bits32, Value)
                        .defs(&$($mut)? mma.d[..c], class)
                }
                OpKind::MatrixLoad(access) => {
                    row.address(&$($mut)? access.addr)
                        .loaded(&$($mut)? access.regs[..usize::from(access.n.min(4))], Bits32)
                }
                OpKind::MatrixStore(access) => {
                    row.address(&$($mut)? access.addr)
                        .reads(&$($mut)? access.regs[..usize::from(access.n.min(4))], Bits32, Value)
                }
                OpKind::MatrixMove { dst, src } => row.read(src, Bits32, Value).early(dst, Bits32),
                OpKind::TensorCopy(copy) => {
                    let TensorCopy { map, map_space: _, dims, at, shared, blocks, way } = &$($mut)? **copy;
                    let at = &$($mut)? at[..usize::from((*dims).min(5))];
                    let row = row.read_optional(blocks, Bits32, Value).address(map).reads(at, Bits32, Address);
                    match way {
                        TensorWay::Load(barrier) => row.address(shared).address(barrier),
                        TensorWay::Store => row.address(shared),
                        TensorWay::Prefetch => row,
                    }
                }
                OpKind::BulkBytes(copy) => {
                    let BulkBytes { shared, global, within_cluster: _, bytes, blocks, way } = &$($mut)? **copy;
                    let row = row.address(shared).address(global).read(bytes, Bits32, Control);
                    let row = row.read_optional(blocks, Bits32, Value);
                    match way {
                        TensorWay::Load(barrier) => row.address(barrier),
                        TensorWay::Store | TensorWay::Prefetch => row,
                    }
                }
                OpKind::Wgmma(wgmma) => {
                    let row = row.reads(&$($mut)? wgmma.c, Bits32, Value);
                    let row = match &$($mut)? wgmma.a {
                        WgmmaA::Registers(a) => row.reads(a, Bits32, Value),
                        WgmmaA::Shared(a) => row.read(a, Bits64, Address),
                    };
                    let row = row.read(&$($mut)? wgmma.b, Bits64, Address).pred(&$($mut)? wgmma.adds, Value);
                    row.defs(&$($mut)? wgmma.d, Bits32)
                }
                OpKind::Mbarrier(barrier) => row
                    .address(&$($mut)? barrier.addr)
                    .read_optional(&$($mut)? barrier.number, Bits32, Control)
                    .read_optional(&$($mut)? barrier.phase, Bits64, Control)
                    .early_optional(&$($mut)? barrier.dst, Bits64)
                    .early_optional(&$($mut)? barrier.done, Pred),
                OpKind::Texture(texture) => row
                    .read(&$($mut)? texture.handle, Bits64, Address)
                    .reads(&$($mut)? texture.coordinates[..usize::from(texture.dims.min(2))], Bits32, Address)
                    .all_early_optional(&$($mut)? texture.dst, Bits32),
                OpKind::Printf { format, arguments, dst } => {
                    row.read(format, Bits64, Address).read(arguments, Bits64, Address).early_optional(dst, Bits32)
                }
                OpKind::AssertFail { text, line } => row.reads(text, Bits64, Address).read(line, Bits32, Printed),
                OpKind::Branch { .. }
                | OpKind::Converge { .. }
                | OpKind::Leave { .. }
                | OpKind::Resume { .. }
                | OpKind::Return
                | OpKind::Exit
                | OpKind::Trap
                | OpKind::Fence
                | OpKind::ProxyFence
                | OpKind::ClusterBarrier { .. }
                | OpKind::InitFence
                | OpKind::Yield
                | OpKind::CpAsyncCommit
                | OpKind::CpAsyncWait { .. }
                | OpKind::BulkCommit
                | OpKind::BulkWait { .. }
                | OpKind::WgmmaFence
                | OpKind::WgmmaCommit
                | OpKind::WgmmaWait { .. }
                | OpKind::WholeWarp
                | OpKind::Nop => row,
            };
        }

        impl $Row<'_> {
            fn read(&mut self, field: &$($mut)? Src, class: Class, purpose: Purpose) -> &mut Self {
                self.source(field, class, Role::Use(purpose), Permitted::RegisterOrConstant)
            }

            fn reads(&mut self, fields: &$($mut)? [Src], class: Class, purpose: Purpose) -> &mut Self {
                for field in fields {
                    self.read(field, class, purpose);
                }
                self
            }

            fn read_optional(&mut self, field: &$($mut)? Option<Src>, class: Class, purpose: Purpose) -> &mut Self {
                match field {
                    Some(field) => self.read(field, class, purpose),
                    None => self,
                }
            }

            /// Sources of arithmetic: predicates have no constant form.
            fn values(&mut self, fields: &$($mut)? [Src], classes: &[Class]) -> &mut Self {
                for (field, &class) in fields.into_iter().zip(classes) {
                    let permitted =
                        if class == Class::Pred { Permitted::Register } else { Permitted::RegisterOrConstant };
                    self.source(field, class, Role::Use(Purpose::Value), permitted);
                }
                self
            }

            fn address(&mut self, address: &$($mut)? Addr) -> &mut Self {
                let class = Class::of_width(address.wide);
                self.read(&$($mut)? address.src, class, Purpose::Address)
            }

            fn pred(&mut self, field: &$($mut)? u32, purpose: Purpose) -> &mut Self {
                self.register(field, Class::Pred, Role::Use(purpose))
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
                    None => self,
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

pub fn clock_class(clock: Clock) -> Class {
    match clock {
        Clock::Clock64 | Clock::GlobalTimer => Class::Bits64,
        Clock::Clock | Clock::ClockHi | Clock::GlobalTimerLo | Clock::GlobalTimerHi => Class::Bits32,
    }
}

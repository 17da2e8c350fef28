//! Kernels as text, for people and for snapshots.
//!
//! `r3` is a line, `d4` a pair of lines starting at 4, `p2` a predicate, by the table of [`crate::operands`].
//! Arithmetic and addresses, whose classes a finished kernel lacks, show line numbers; constants show values.

use std::fmt;

use crate::operands::{Role, for_each_operand};
use crate::virtual_op::AluClasses;
use arithmetic::lanes::{Class, NONE, Src};
use program::{
    Access, Addr, BarrierKind, BarrierResult, BlockOrder, Callee, DecodedKernel, MatrixAccess, Op, OpKind, Order,
    PendingCopies, Reconverge, TensorWay,
};

/// Prints a kernel as text.
pub struct Listing<'k>(pub &'k DecodedKernel);

impl std::ops::Deref for Listing<'_> {
    type Target = DecodedKernel;
    fn deref(&self) -> &DecodedKernel {
        self.0
    }
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {} lines, {} predicates", self.name, self.n_lines, self.n_preds)?;
        write!(f, ", {} constants", self.consts.len())?;
        match &self.order {
            BlockOrder::Any => {}
            BlockOrder::ByIndex => write!(f, ", ordered")?,
            BlockOrder::ByIndexIfAliased(pairs) => {
                write!(f, ", ordered if one allocation:")?;
                pairs.iter().try_for_each(|(a, b)| write!(f, " {a:?} {b:?}"))?;
            }
        }
        if self.shared_subword {
            write!(f, ", shared by bytes")?;
        }
        writeln!(f)?;
        for p in &self.params {
            let pointer = if p.maybe_pointer { " (pointer?)" } else { "" };
            writeln!(f, "  param {} at {}: {} bytes{pointer}", p.name, p.offset, p.bytes)?;
        }
        for a in &self.shared {
            writeln!(f, "  shared {} at {}: {} bytes, align {}", a.name, a.offset, a.bytes, a.align)?;
        }
        if !self.shared.is_empty() {
            writeln!(
                f,
                "  shared: {} static bytes, dynamic from {}",
                self.shared_static_bytes, self.shared_dynamic_base
            )?;
        }
        for a in &self.local {
            writeln!(f, "  local {} at {}: {} bytes, align {}", a.name, a.offset, a.bytes, a.align)?;
        }
        for (special, line) in &self.specials {
            writeln!(f, "  special {special:?} in r{line}")?;
        }
        for (at, op) in self.ops.iter().enumerate() {
            self.line(f, at, op)?;
        }
        Ok(())
    }
}

impl Listing<'_> {
    fn line(&self, f: &mut fmt::Formatter<'_>, at: usize, op: &Op) -> fmt::Result {
        let info = self.instrs.get(op.instr as usize);
        let text = info.map_or("", |i| i.text.as_str());
        let guard = match (op.guard.pred, op.guard.negated) {
            (0, false) => String::new(),
            (0, true) => "never ".to_owned(),
            (p, negated) => format!("@{}p{p} ", if negated { "!" } else { "" }),
        };
        let what = format!("{guard}{}", self.describe(&op.kind));
        if op.first {
            let merge = info
                .and_then(|i| i.merge)
                .map_or(String::new(), |m| format!("  [with {}: {} bytes, back {}]", m.leader, m.bytes, m.back));
            writeln!(f, "{at:5}  {what:<52} | {text}{merge}")
        } else {
            writeln!(f, "{at:5}  {what}")
        }
    }

    fn describe(&self, kind: &OpKind) -> String {
        let meeting_point = |reconverge: Reconverge| match reconverge {
            Reconverge::At(position) => position.to_string(),
            Reconverge::Enclosing => "where all do".to_owned(),
            Reconverge::AtExit => "exit".to_owned(),
        };
        let not = |negated: bool| if negated { " not" } else { "" };
        let [results, sources] = self.operands(kind);
        // Words between results and sources.
        let name = match kind {
            OpKind::Alu { args, .. } => {
                let list = |s: &[Src]| s.iter().map(|&s| self.source(s)).collect::<Vec<_>>().join(", ");
                // The function's variant may follow the sources; it is not a register.
                let operand = |&s: &Src| s != NONE && s < self.n_lines.max(self.n_preds) as i32;
                let n = args.src.iter().rposition(operand).map_or(0, |n| n + 1);
                return format!("{} = alu({})", args.dst, list(&args.src[..n]));
            }
            OpKind::Load(a) => return format!("{results} = load {}", self.access(a)),
            OpKind::Store(a) => {
                let values = sources.split_once(", ").map_or("", |(_, values)| values);
                return format!("store {}, {values}", self.access(a));
            }
            OpKind::Atomic(a) => {
                let values = sources.split_once(", ").map_or("", |(_, values)| values);
                let (kind, ty, space) = (a.kind, a.ty, a.space);
                let address = self.address(&a.addr);
                return format!("{results} = atomic {kind:?} {ty:?} {space:?}{address}, {values}");
            }
            OpKind::Branch { target, reconverge } => {
                return format!("branch {target}, meet at {}", meeting_point(*reconverge));
            }
            OpKind::BranchIndexed { targets, reconverge, .. } => {
                return format!("branch {targets:?}[{sources}], meet at {}", meeting_point(*reconverge));
            }
            OpKind::CpAsync { dst, src, bytes, .. } => {
                let count = sources.rsplit(", ").next().unwrap_or_default();
                let (dst, src) = (self.address(dst), self.address(src));
                return format!("copy {bytes} bytes to {dst} from {src}, {count}");
            }
            OpKind::Call { site, .. } => {
                return match self.callee(*site) {
                    Some(callee) => format!("call {} at {}", callee.name, callee.entry),
                    None => format!("call through {sources}"),
                };
            }
            OpKind::Barrier { kind, .. } => match kind {
                BarrierKind::Sync => "barrier".to_owned(),
                BarrierKind::Arrive => "barrier arrive".to_owned(),
                BarrierKind::Reduce { negated, result, .. } => {
                    let name = match result {
                        BarrierResult::Popc(_) => "popc",
                        BarrierResult::And(_) => "and",
                        BarrierResult::Or(_) => "or",
                    };
                    format!("barrier {name}{}", not(*negated))
                }
            },
            OpKind::WarpSync { .. } => "warp sync".to_owned(),
            OpKind::Shuffle { mode, .. } => format!("shuffle {mode:?}"),
            OpKind::Vote { mode, negated, .. } => format!("vote {mode:?}{}", not(*negated)),
            OpKind::Match { all, wide, .. } => format!("match all={all} wide={wide}"),
            OpKind::Redux { kind, .. } => format!("redux {kind:?}"),
            OpKind::ActiveMask { .. } => "active mask".to_owned(),
            OpKind::ReadClock { clock, .. } => format!("{clock:?}"),
            OpKind::CpAsyncCommit => "copy: commit".to_owned(),
            OpKind::CpAsyncWait { allowed: PendingCopies::Groups(n) } => format!("copy: wait {n}"),
            OpKind::CpAsyncWait { allowed: PendingCopies::None } => "copy: wait all".to_owned(),
            OpKind::IsSpace { space, .. } => format!("is {space:?}"),
            OpKind::BulkCommit => "bulk copy: commit".to_owned(),
            OpKind::BulkWait { pending } => format!("bulk copy: wait {pending}"),
            OpKind::Wgmma(w) => format!("wgmma 64x{}x{} {:?} {:?}", w.n, w.k(), w.sum, w.kinds),
            OpKind::WgmmaFence => "wgmma: fence".to_owned(),
            OpKind::WgmmaCommit => "wgmma: commit".to_owned(),
            OpKind::WgmmaWait { pending } => format!("wgmma: wait {pending}"),
            OpKind::Mbarrier(b) => {
                return format!("{results} = mbarrier {:?} {}, {sources}", b.kind, self.address(&b.addr));
            }
            OpKind::BulkBytes(copy) => {
                let (shared, global) = (self.address(&copy.shared), self.address(&copy.global));
                return match &copy.way {
                    TensorWay::Load(barrier) => {
                        format!("load {sources} bytes of {global} to {shared}, {}", self.address(barrier))
                    }
                    TensorWay::Store => format!("store {sources} bytes of {shared} to {global}"),
                    TensorWay::Prefetch => "prefetch".to_owned(),
                };
            }
            OpKind::TensorCopy(t) => {
                let (map, shared) = (self.address(&t.map), self.address(&t.shared));
                let (dims, at) = (t.dims, &t.at[..usize::from(t.dims)]);
                return match &t.way {
                    TensorWay::Load(barrier) => {
                        format!("load {dims}d box {at:?} of {map} to {shared}, {}", self.address(barrier))
                    }
                    TensorWay::Store => format!("store {shared} to {dims}d box {at:?} of {map}"),
                    TensorWay::Prefetch => format!("prefetch {dims}d box {at:?} of {map}"),
                };
            }
            OpKind::Mma(mma) => format!("{}", mma.form),
            OpKind::MatrixLoad(m) => {
                return format!("{results} = load {} of {:?}{}", matrices(m), m.space, self.address(&m.addr));
            }
            OpKind::MatrixStore(m) => {
                let values = sources.split_once(", ").map_or("", |(_, values)| values);
                let address = self.address(&m.addr);
                return format!("store {} to {:?}{address}, {values}", matrices(m), m.space);
            }
            OpKind::MatrixMove { .. } => "transpose a matrix".to_owned(),
            OpKind::Texture(t) => format!("texture {}d {:?}", t.dims, t.ty),
            OpKind::Printf { .. } => "printf".to_owned(),
            OpKind::AssertFail { .. } => "assert fail".to_owned(),
            OpKind::Converge { position } => format!("meet at {position}"),
            OpKind::Leave { position } => format!("leave {position}"),
            OpKind::Resume { site } => format!("resume call {site}"),
            OpKind::Return => "return".to_owned(),
            OpKind::Exit => "exit".to_owned(),
            OpKind::Trap => "trap".to_owned(),
            OpKind::Fence => "fence".to_owned(),
            OpKind::ClusterBarrier { waits: true } => "wait for the cluster".to_owned(),
            OpKind::ClusterBarrier { waits: false } => "arrive at the cluster's barrier".to_owned(),
            OpKind::ProxyFence => "proxy fence".to_owned(),
            OpKind::InitFence => "fence of barriers".to_owned(),
            OpKind::Yield => "yield".to_owned(),
            OpKind::WholeWarp => "wait for all lanes".to_owned(),
            OpKind::Nop => "nop".to_owned(),
        };
        let results = if results.is_empty() { results } else { format!("{results} = ") };
        format!("{results}{name} {sources}").trim_end().to_owned()
    }

    /// Results and sources, by the table, of everything but arithmetic.
    fn operands(&self, kind: &OpKind) -> [String; 2] {
        let mut found = [Vec::new(), Vec::new()];
        for_each_operand(kind, AluClasses::NONE, &mut |field, class, role, _| {
            let letter = match class {
                Class::Bits32 => "r",
                Class::Bits64 => "d",
                Class::Pred => "p",
            };
            let text = match field {
                0.. => format!("{letter}{field}"),
                _ => self.source(field),
            };
            found[usize::from(role == Role::Use)].push(text);
        });
        found.map(|list| list.join(", "))
    }

    fn callee(&self, site: u32) -> Option<&Callee> {
        let calls = self.calls.as_deref()?;
        calls.callees.get(calls.sites.get(site as usize)?.callee? as usize)
    }

    fn access(&self, a: &Access) -> String {
        let sign = if a.signed { "s" } else { "" };
        let strong = match a.order {
            Order::Weak => "",
            Order::Guess => " guess",
            Order::InStep => " in step",
            Order::Strong => " strong",
        };
        format!("{}x{}{sign}{strong} {:?}{}", a.n, a.element, a.space, self.address(&a.addr))
    }

    fn address(&self, addr: &Addr) -> String {
        let base = self.source(addr.src);
        match addr.offset {
            0 => format!("[{base}]"),
            offset => format!("[{base}{offset:+}]"),
        }
    }

    /// Prints a source of unknown class; a constant as its first bits.
    fn source(&self, src: Src) -> String {
        match src {
            NONE => "_".to_owned(),
            0.. => src.to_string(),
            _ => match self.consts.get(!src as usize) {
                Some(line) if line.0[0] == line.0[1] => format!("#{:#x}", line.0[0]),
                Some(line) => format!("#{:#x}", u64::from(line.0[1]) << 32 | u64::from(line.0[0])),
                None => "#?".to_owned(),
            },
        }
    }
}

fn matrices(access: &MatrixAccess) -> String {
    let transposed = if access.transposed { " transposed" } else { "" };
    format!("{}{transposed} matrices", access.n)
}

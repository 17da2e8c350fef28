//! A kernel as text, for people and for snapshots.
//!
//! `r3` is a line, `d4` a pair of lines starting at 4, `p2` a predicate. Constants show their value.

use std::fmt;

use crate::lanes::{NONE, Src};
use crate::program::{Access, Addr, BarrierKind, BlockOrder, Callee, Kernel, Op, OpKind, Order};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "kernel {}: {} lines, {} predicates",
            self.name, self.n_lines, self.n_preds
        )?;
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
            writeln!(
                f,
                "  param {} at {}: {} bytes{pointer}",
                p.name, p.offset, p.bytes
            )?;
        }
        for a in &self.shared {
            writeln!(
                f,
                "  shared {} at {}: {} bytes, align {}",
                a.name, a.offset, a.bytes, a.align
            )?;
        }
        if !self.shared.is_empty() {
            writeln!(
                f,
                "  shared: {} static bytes, dynamic from {}",
                self.shared_static_bytes, self.shared_dynamic_base
            )?;
        }
        for a in &self.local {
            writeln!(
                f,
                "  local {} at {}: {} bytes, align {}",
                a.name, a.offset, a.bytes, a.align
            )?;
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

impl Kernel {
    fn line(&self, f: &mut fmt::Formatter<'_>, at: usize, op: &Op) -> fmt::Result {
        let info = self.instrs.get(op.instr as usize);
        let text = info.map_or("", |i| i.text.as_str());
        let guard = match (op.guard.pred, op.guard.negated) {
            (0, false) => String::new(),
            (0, true) => "never ".to_owned(),
            (p, negated) => format!("@{}p{p} ", if negated { "!" } else { "" }),
        };
        let what = format!("{guard}{}", self.what(&op.kind));
        if op.first {
            let merge = info.and_then(|i| i.merge).map_or(String::new(), |m| {
                format!("  [with {}: {} bytes, back {}]", m.leader, m.bytes, m.back)
            });
            writeln!(f, "{at:5}  {what:<52} | {text}{merge}")
        } else {
            writeln!(f, "{at:5}  {what}")
        }
    }

    fn what(&self, kind: &OpKind) -> String {
        let src = |s: Src| self.source(s);
        let list = |s: &[Src]| s.iter().map(|&s| self.source(s)).collect::<Vec<_>>().join(", ");
        let to = |target: u32| match target {
            u32::MAX => "exit".to_owned(),
            at => at.to_string(),
        };
        match kind {
            OpKind::Alu { args, .. } => {
                // Behind the sources a function may keep a variant of itself, which is no register.
                let operand = |&s: &Src| s != NONE && s < self.n_lines.max(self.n_preds) as i32;
                let n = args.src.iter().rposition(operand).map_or(0, |n| n + 1);
                format!("{} = alu({})", args.dst, list(&args.src[..n]))
            }
            OpKind::Load(a) => format!("{} = load {}", list(&a.regs[..a.n.into()]), self.access(a)),
            OpKind::Store(a) => format!("store {}, {}", self.access(a), list(&a.regs[..a.n.into()])),
            OpKind::Atomic(a) => format!(
                "{} = atomic {:?} {:?} {:?}{}, {}",
                src(a.dst),
                a.kind,
                a.ty,
                a.space,
                self.address(&a.addr),
                list(&a.src)
            ),
            OpKind::Branch { target, reconverge } => {
                format!("branch {}, meet at {}", to(*target), to(*reconverge))
            }
            OpKind::BranchIndexed {
                index,
                targets,
                reconverge,
            } => {
                format!("branch {targets:?}[{}], meet at {}", src(*index), to(*reconverge))
            }
            OpKind::Barrier { kind, id, count } => match kind {
                BarrierKind::Sync => format!("barrier {}, {}", src(*id), src(*count)),
                other => format!("barrier {other:?} {}, {}", src(*id), src(*count)),
            },
            OpKind::WarpSync { members } => format!("warp sync {}", src(*members)),
            OpKind::Shuffle {
                mode,
                dst,
                dst_pred,
                src: s,
            } => {
                format!("{dst}|{} = shuffle {mode:?} {}", src(*dst_pred), list(s))
            }
            OpKind::Vote {
                mode,
                dst,
                pred,
                negated,
                members,
            } => {
                format!(
                    "{dst} = vote {mode:?} {}p{pred}, {}",
                    if *negated { "!" } else { "" },
                    src(*members)
                )
            }
            OpKind::Match {
                all,
                wide,
                dst,
                dst_pred,
                src: s,
            } => {
                format!(
                    "{dst}|{} = match all={all} wide={wide} {}",
                    src(*dst_pred),
                    list(s)
                )
            }
            OpKind::Redux { kind, dst, src: s } => format!("{dst} = redux {kind:?} {}", list(s)),
            OpKind::ActiveMask { dst } => format!("{dst} = active mask"),
            OpKind::ReadClock { clock, dst } => format!("{dst} = {clock:?}"),
            OpKind::CpAsync {
                dst,
                src: from,
                bytes,
                src_bytes,
            } => format!(
                "copy {bytes} bytes to {} from {}, {}",
                self.address(dst),
                self.address(from),
                src(*src_bytes)
            ),
            OpKind::CpAsyncCommit => "copy: commit".to_owned(),
            OpKind::CpAsyncWait { pending } => format!("copy: wait {pending}"),
            OpKind::IsSpace { space, dst, src: s } => format!("p{dst} = is {space:?} {}", src(*s)),
            OpKind::Texture(t) => format!(
                "{} = texture {}d {:?} [{}, {}]",
                list(&t.dst),
                t.dims,
                t.ty,
                src(t.handle),
                list(&t.coordinates[..t.dims.into()])
            ),
            OpKind::Printf {
                format,
                arguments,
                dst,
            } => {
                format!("{} = printf({}, {})", src(*dst), src(*format), src(*arguments))
            }
            OpKind::AssertFail { text, line } => format!("assert fail({}, {})", list(text), src(*line)),
            OpKind::Call { site, target } => match self.callee(*site) {
                Some(callee) => format!("call {} at {}", callee.name, callee.entry),
                None => format!("call through {}", src(*target)),
            },
            OpKind::Resume { site } => format!("resume call {site}"),
            OpKind::Return => "return".to_owned(),
            OpKind::Exit => "exit".to_owned(),
            OpKind::Trap => "trap".to_owned(),
            OpKind::Fence => "fence".to_owned(),
            OpKind::Yield => "yield".to_owned(),
            OpKind::Nop => "nop".to_owned(),
        }
    }

    fn callee(&self, site: u32) -> Option<&Callee> {
        let calls = self.calls.as_deref()?;
        calls
            .callees
            .get(calls.sites.get(site as usize)?.callee? as usize)
    }

    fn access(&self, a: &Access) -> String {
        let sign = if a.signed { "s" } else { "" };
        let strong = match a.order {
            Order::Weak => "",
            Order::Guess => " guess",
            Order::InStep => " in step",
            Order::Strong => " strong",
        };
        format!(
            "{}x{}{sign}{strong} {:?}{}",
            a.n,
            a.element,
            a.space,
            self.address(&a.addr)
        )
    }

    fn address(&self, addr: &Addr) -> String {
        let base = self.source(addr.src);
        match addr.offset {
            0 => format!("[{base}]"),
            offset => format!("[{base}{offset:+}]"),
        }
    }

    /// The class of an operand is not kept; a constant is shown by the bits that it starts with.
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

//! Which shared loads ptxas makes one wider load of.
//!
//! Found out by giving ptxas (13.1, sm_90) small kernels and reading the SASS. Within one basic block, loads
//! of the same width from the same address register, at constant offsets, are taken together by windows of 16
//! bytes, when the address can be proven to be a multiple of 16 there:
//!
//! - three or four words of a window: one `LDS.128`, even where one of them is not asked for;
//! - the first two or the last two words: one `LDS.64`; any other two stay apart;
//! - two `f64` (or 32-bit pairs) of a window: one `LDS.128`.
//!
//! Where only a multiple of 8 can be proven, two words of a window of 8 bytes become `LDS.64`. Loads under
//! the same guard are merged by windows of 8 bytes only. A store or atomic to shared memory, a barrier, a
//! fence or anything else that lanes do together ends a group; global accesses do not. Volatile loads, bytes
//! and 16-bit loads count as written (ptxas merges some 16-bit loads; those rules are not imitated).
//!
//! What can be proven: the position of an array, and trailing zero bits through integer arithmetic.

use std::collections::HashMap;

use super::cfg::Cfg;
use super::constants::Constants;
use super::facts::Facts;
use super::virt::{Role, TRUE, VirtualOp, operands};
use crate::lanes::Src;
use crate::program::{InstrInfo, MemSpace, MergeGroup, OpKind, Order};

/// Fills [`InstrInfo::merge`]. `special` are the registers that hold special registers.
pub(super) fn merge(
    ops: &mut [VirtualOp],
    cfg: &Cfg,
    constants: &Constants,
    n_registers: usize,
    special: &[u32],
    instrs: &mut [InstrInfo],
) {
    if !ops.iter().any(|op| candidate(op).is_some()) {
        return;
    }
    let facts = Facts::new(ops, cfg, constants, n_registers, special);
    // An instruction that was inlined several times must come out the same each time.
    let mut groups: HashMap<u32, Option<MergeGroup>> = HashMap::new();
    let mut versions: HashMap<u32, u32> = HashMap::new();
    for block in 0..cfg.n_blocks() as u32 {
        let mut open: HashMap<Key, Vec<Member>> = HashMap::new();
        versions.clear();
        for at in cfg.range(block) {
            let op = &mut ops[at as usize];
            if let Some((src, member, bytes)) = candidate(op) {
                let (base, offset) = facts.base(src, member.offset);
                let version = |r: u32| versions.get(&r).copied().unwrap_or(0);
                let key = Key {
                    base,
                    base_version: if base >= 0 { version(base as u32) } else { 0 },
                    bytes,
                    guard: op.guard,
                    guard_version: version(op.guard),
                    negated: op.negated,
                };
                open.entry(key).or_default().push(Member { offset, ..member });
                groups.entry(op.instr).or_insert(None);
            } else if ends_groups(op) {
                close(&mut open, &facts, &mut groups);
            }
            operands(op, &mut |register, _, role| {
                if role != Role::Use {
                    *versions.entry(register as u32).or_insert(0) += 1;
                }
                register
            });
        }
        close(&mut open, &facts, &mut groups);
    }
    // A group whose members do not agree (see above) is none.
    let broken = |group: &MergeGroup| {
        !groups
            .get(&group.leader)
            .is_some_and(|l| l.is_some_and(|l| l.leader == group.leader))
    };
    for (&instr, group) in &groups {
        instrs[instr as usize].merge = group.filter(|g| !broken(g));
    }
}

/// Loads that may be merged are those from one address register, of one width, under one guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    base: Src,
    base_version: u32,
    bytes: u8,
    guard: u32,
    guard_version: u32,
    negated: bool,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    instr: u32,
    offset: i64,
    /// Elements.
    n: usize,
}

/// A load that may be merged: words, pairs of words and `f64`. Words and `f64` do not go together.
fn candidate(op: &VirtualOp) -> Option<(Src, Member, u8)> {
    let OpKind::Load(access) = &op.kind else {
        return None;
    };
    let wide = access.element == 8 && access.n == 1;
    let narrow = access.element == 4 && access.n <= 2;
    if access.space != MemSpace::Shared || access.order != Order::Weak || !(wide || narrow) {
        return None;
    }
    let member = Member {
        instr: op.instr,
        offset: access.addr.offset,
        n: access.n.into(),
    };
    Some((access.addr.src, member, access.element))
}

/// Whether loads on both sides of an op are never taken together.
fn ends_groups(op: &VirtualOp) -> bool {
    match &op.kind {
        OpKind::Store(access) => matches!(access.space, MemSpace::Shared | MemSpace::Generic),
        OpKind::Atomic(_)
        | OpKind::Barrier { .. }
        | OpKind::WarpSync { .. }
        | OpKind::Fence
        | OpKind::Yield
        | OpKind::Shuffle { .. }
        | OpKind::Vote { .. }
        | OpKind::Match { .. }
        | OpKind::Redux { .. }
        | OpKind::CpAsync { .. }
        | OpKind::CpAsyncCommit
        | OpKind::CpAsyncWait { .. }
        | OpKind::Printf { .. }
        | OpKind::AssertFail { .. } => true,
        OpKind::Load(access) => access.order == Order::Strong,
        _ => false,
    }
}

/// Forms groups of what has been gathered.
fn close(open: &mut HashMap<Key, Vec<Member>>, facts: &Facts, groups: &mut HashMap<u32, Option<MergeGroup>>) {
    for (key, members) in open.drain() {
        let zeros = facts.zeros_of(key.base);
        let window = match zeros {
            4.. if key.guard == TRUE => 16,
            3.. if key.bytes == 4 => 8,
            _ => continue,
        };
        let mut by_window: HashMap<i64, Vec<Member>> = HashMap::new();
        for member in members {
            by_window
                .entry(member.offset.div_euclid(window))
                .or_default()
                .push(member);
        }
        for (at, members) in by_window {
            form(at * window, window, key.bytes, members, groups);
        }
    }
}

/// One window: members in the order of the program.
fn form(
    start: i64,
    window: i64,
    bytes: u8,
    members: Vec<Member>,
    groups: &mut HashMap<u32, Option<MergeGroup>>,
) {
    let width = i64::from(bytes);
    let mut present = [false; 4];
    for member in &members {
        let slot = ((member.offset - start) / width) as usize;
        if (member.offset - start) % width != 0 || (slot + member.n) as i64 * width > window {
            return;
        }
        present[slot..slot + member.n].fill(true);
    }
    let n_slots = (window / width) as usize;
    let n = present[..n_slots].iter().filter(|&&p| p).count();
    let (first, size) = match (n_slots, n) {
        (2, 2) => (start, window),
        (4, 3..) => (start, 16),
        (4, 2) if present[0] && present[1] => (start, 8),
        (4, 2) if present[2] && present[3] => (start + 8, 8),
        _ => return,
    };
    let inside = |m: &Member| m.offset >= first && m.offset < first + size;
    let Some(leader) = members.iter().find(|m| inside(m)).map(|m| m.instr) else {
        return;
    };
    for member in &members {
        let group = MergeGroup {
            leader,
            bytes: size as u8,
            back: (member.offset - first) as u8,
        };
        match groups.get(&member.instr) {
            Some(Some(known)) if *known != group => groups.insert(member.instr, None),
            _ => groups.insert(member.instr, Some(group)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Symbols, decode};
    use crate::lanes::CpuLevel;

    /// Widths of the shared accesses after merging, with the offsets that each stands for. `lines` use `%a`,
    /// an address that is a multiple of 64, and `%b`, one of 4.
    fn check(lines: &str, want: &str) {
        let text = format!(
            ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .f32 %f<16>; .reg .f64 %d<4>; .reg .b32 %r<8>; .reg .b64 %a, %b, %c; .reg .pred %p;\n\
             .shared .align 4 .b8 tile[4096];\n\
             mov.u32 %r1, %tid.y; mov.u64 %c, tile; mul.wide.u32 %a, %r1, 64; add.s64 %a, %c, %a;\n\
             mul.wide.u32 %b, %r1, 4; add.s64 %b, %c, %b; setp.gt.u32 %p, %r1, 3;\n{lines}\nret;\n}}\n"
        );
        let module = ptx::parse(&text).expect("parses");
        let program = decode(&module, &Symbols::new(), CpuLevel::Baseline).expect("decodes");
        let instrs = &program.kernels[0].instrs;
        let mut got = Vec::new();
        for (at, instr) in instrs
            .iter()
            .enumerate()
            .filter(|(_, i)| i.text.contains("ld.shared"))
        {
            match instr.merge {
                None => got.push("alone".to_owned()),
                Some(m) if m.leader == at as u32 => got.push(format!("{}-{}", m.bytes, m.back)),
                Some(m) => got.push(format!("({}-{})", m.bytes, m.back)),
            }
        }
        assert_eq!(got.join(" "), want, "{lines}");
    }

    /// Loads of words at `[base+offset]`.
    fn words(base: &str, offsets: &[i32]) -> String {
        let one = |(i, o): (usize, &i32)| format!("ld.shared.f32 %f{i}, [{base}+{o}];");
        offsets.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn windows_of_sixteen_bytes() {
        check(&words("%a", &[0, 4, 8, 12]), "16-0 (16-4) (16-8) (16-12)");
        check(&words("%a", &[12, 8, 4, 0]), "16-12 (16-8) (16-4) (16-0)");
        check(&words("%a", &[4, 8, 12]), "16-4 (16-8) (16-12)");
        check(&words("%a", &[0, 4, 12]), "16-0 (16-4) (16-12)");
        check(&words("%a", &[0, 4]), "8-0 (8-4)");
        check(&words("%a", &[8, 12]), "8-0 (8-4)");
        check(&words("%a", &[4, 8]), "alone alone");
        check(&words("%a", &[0, 12]), "alone alone");
        check(&words("%a", &[4, 8, 12, 16]), "16-4 (16-8) (16-12) alone");
        check(&words("%a", &[0, 64, 128]), "alone alone alone");
        check(&words("tile", &[16, 20, 24, 28]), "16-0 (16-4) (16-8) (16-12)");
    }

    #[test]
    fn what_can_be_proven() {
        check(&words("%b", &[0, 4, 8, 12]), "alone alone alone alone");
        check(
            &format!("mad.lo.u64 %a, %b, 8, %c;\n{}", words("%a", &[0, 4, 8])),
            "16-0 (16-4) (16-8)",
        );
        check(
            &format!(
                "mul.wide.u32 %a, %r1, 8; add.s64 %a, %c, %a;\n{}",
                words("%a", &[0, 4, 8])
            ),
            "8-0 (8-4) alone",
        );
        check(
            &format!(
                "mul.wide.u32 %a, %r1, 80; add.s64 %a, %c, %a;\n{}",
                words("%a", &[0, 4])
            ),
            "8-0 (8-4)",
        );
        check(
            &format!("and.b32 %r2, %r1, 1008;\n{}", words("%r2", &[0, 4])),
            "8-0 (8-4)",
        );
        check(
            "add.s64 %b, %a, 8; ld.shared.f32 %f1, [%a]; ld.shared.f32 %f2, [%b]; ld.shared.f32 %f3, [%b+4];",
            "alone alone alone",
        );
    }

    #[test]
    fn what_comes_between() {
        let around = |middle: &str| format!("{}\n{middle}\n{}", words("%a", &[0, 4]), words("%a", &[8, 12]));
        check(&around("st.shared.f32 [tile+2048], %f1;"), "8-0 (8-4) 8-0 (8-4)");
        check(&around("bar.sync 0;"), "8-0 (8-4) 8-0 (8-4)");
        check(&around("st.global.f32 [%b], %f1;"), "16-0 (16-4) (16-8) (16-12)");
        check(&around("add.s64 %a, %a, 64;"), "8-0 (8-4) 8-0 (8-4)");
        check(&around("@%p bra l; l:"), "8-0 (8-4) 8-0 (8-4)");
    }

    #[test]
    fn other_widths() {
        check(
            "ld.shared.v2.f32 {%f1, %f2}, [%a]; ld.shared.f32 %f3, [%a+8];",
            "16-0 (16-8)",
        );
        check(
            "ld.shared.f64 %d1, [%a]; ld.shared.f64 %d2, [%a+8];",
            "16-0 (16-8)",
        );
        check(
            "ld.shared.f64 %d1, [%a]; ld.shared.f32 %f2, [%a+8];",
            "alone alone",
        );
        check("ld.shared.u8 %r1, [%a]; ld.shared.u8 %r2, [%a+1];", "alone alone");
        check(
            "ld.volatile.shared.f32 %f1, [%a]; ld.volatile.shared.f32 %f2, [%a+4];",
            "",
        );
        check(
            "@%p ld.shared.f32 %f1, [%a+4]; @%p ld.shared.f32 %f2, [%a];",
            "8-4 (8-0)",
        );
        check(
            "@%p ld.shared.f32 %f1, [%a]; ld.shared.f32 %f2, [%a+4];",
            "alone alone",
        );
    }
}

//! Merging of shared-memory accesses, as by ptxas.
//!
//! The rules were found by giving ptxas (12.9 and 13.0, sm_90) small kernels and reading the machine code, which is in
//! `tests/data/sass`. Accesses of elements of the same size at constant distances from the same address register are
//! grouped by windows of four elements, of 16 bytes at most, as far as the address is provably a multiple of the
//! window's size; [`loads`] and [`stores`] differ in the rest. Bytes, volatile accesses and generic addresses are never
//! merged.
//!
//! Provable facts are the position of an array, and trailing zero bits through integer arithmetic.

mod loads;
mod stores;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::passes::{InitialRegisters, cfg::Cfg, distances::Distances};
use crate::virtual_op::{TRUE, VirtualOp, for_each_register};
use arithmetic::lanes::Src;
use program::{Access, InstrInfo, MemSpace, MergeGroup, OpKind, Order};

/// Bound on offsets: no shared memory is as large.
const FAR: u64 = 1 << 40;

/// Fills [`InstrInfo::merge`].
pub(crate) fn merge(ops: &[VirtualOp], cfg: &Cfg, registers: InitialRegisters<'_>, instrs: &mut [InstrInfo]) {
    if !ops.iter().any(|op| candidate(op).is_some()) {
        return;
    }
    let known = Distances::new(ops, cfg, registers);
    let places = places(ops, cfg, &known, instrs);
    let mut groups = Groups::default();
    loads::merge(&places, cfg, &known, &mut groups);
    stores::merge(&places, &known, &mut groups);
    groups.write(instrs);
}

/// Effect of an op on merging the accesses around it.
#[derive(Debug, Clone, Copy)]
enum Effect {
    Load(GroupKey, Member),
    Store(GroupKey, Member),
    /// Loads may be merged across the operation, stores may not.
    EndsStores,
    /// Nothing is merged across the operation.
    EndsAll,
}

/// Accesses can be merged if they have the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct GroupKey {
    base: Src,
    base_version: u32,
    bytes: u8,
    guard: u32,
    guard_version: u32,
    negated: bool,
    /// Block of the access, if its address register is written more than once.
    block: Option<u32>,
}

/// An access of a group that may be merged.
#[derive(Debug, Clone, Copy)]
struct Member {
    instr: u32,
    block: u32,
    offset: i64,
    n: usize,
}

impl Member {
    /// Returns the elements of the window at `start` that the member accesses. `None` if it straddles elements.
    fn slots(&self, start: i64, bytes: u8) -> Option<std::ops::Range<usize>> {
        let distance = self.offset - start;
        let first = (distance / i64::from(bytes)) as usize;
        let fits = distance % i64::from(bytes) == 0 && first + self.n <= 4;
        fits.then_some(first..first + self.n)
    }
}

/// Lists the relevant ops by block, with their positions.
fn places(ops: &[VirtualOp], cfg: &Cfg, known: &Distances<'_>, instrs: &[InstrInfo]) -> Vec<Vec<(u32, Effect)>> {
    let mut all = Vec::with_capacity(cfg.n_blocks());
    let mut versions: HashMap<u32, u32> = HashMap::new();
    for block in 0..cfg.n_blocks() as u32 {
        let mut places = Vec::new();
        versions.clear();
        for at in cfg.range(block) {
            let op = &ops[at as usize];
            let based = candidate(op).map(|(access, bytes, n)| {
                let (base, offset) = known.base(access.addr.src, access.addr.offset);
                (base, offset, bytes, n)
            });
            // A guarded load depends on the old values, if there are any.
            let kept = match &op.kind {
                OpKind::Load(access) if op.guard != TRUE => {
                    let written = access.regs[..usize::from(access.n)].iter().filter(|&&r| r >= 0);
                    !written.copied().all(|r| known.written_once(r as u32))
                }
                _ => false,
            };
            let place = match based {
                Some(_) if kept => Some(Effect::EndsStores),
                Some((base, offset, bytes, n)) if offset.unsigned_abs() < FAR => {
                    let version = |r: u32| versions.get(&r).copied().unwrap_or(0);
                    // ptxas merges 16-bit elements early, before it merges blocks.
                    let once = base < 0 || known.written_once(base as u32);
                    let once = once && op.guard == TRUE && bytes != 2;
                    let key = GroupKey {
                        base,
                        // A register with a single write has one version.
                        base_version: if once || base < 0 { 0 } else { version(base as u32) },
                        bytes,
                        guard: op.guard,
                        guard_version: version(op.guard),
                        negated: op.negated,
                        block: (!once).then_some(block),
                    };
                    let member = Member { instr: op.instr, block, offset, n };
                    Some(match &op.kind {
                        OpKind::Load(_) => Effect::Load(key, member),
                        _ => Effect::Store(key, member),
                    })
                }
                Some(_) => Some(Effect::EndsAll),
                None => ends(op, instrs),
            };
            places.extend(place.map(|place| (at, place)));
            for_each_register(op, &mut |register, _, role| {
                if !role.is_use() {
                    *versions.entry(register).or_insert(0) += 1;
                }
            });
        }
        all.push(places);
    }
    all
}

/// Returns an access that may be merged, with size and number of elements; small vectors count as a word.
fn candidate(op: &VirtualOp) -> Option<(&Access, u8, usize)> {
    let (OpKind::Load(access) | OpKind::Store(access)) = &op.kind else { return None };
    if access.space != MemSpace::Shared || access.order != Order::Weak {
        return None;
    }
    let (bytes, n) = match (access.element, access.n) {
        (1, 4) | (2, 2) => (4, 1),
        (2, 4) => (4, 2),
        (1 | 2 | 4 | 8, 1) | (4, 2 | 4) | (8, 2) => (access.element, usize::from(access.n)),
        _ => return None,
    };
    Some((access, bytes, n))
}

/// Returns the effect of an op that cannot be merged.
fn ends(op: &VirtualOp, instrs: &[InstrInfo]) -> Option<Effect> {
    let reaches_shared = |space: MemSpace| matches!(space, MemSpace::Shared | MemSpace::Generic);
    match &op.kind {
        OpKind::Store(access) if reaches_shared(access.space) => Some(Effect::EndsAll),
        OpKind::Load(access) if reaches_shared(access.space) => Some(Effect::EndsStores),
        OpKind::Atomic(atomic) if reaches_shared(atomic.space) => Some(Effect::EndsAll),
        OpKind::CpAsyncCommit => Some(Effect::EndsStores),
        OpKind::Barrier { .. }
        | OpKind::WarpSync { .. }
        | OpKind::Fence
        | OpKind::ProxyFence
        | OpKind::ClusterBarrier { .. }
        | OpKind::InitFence
        | OpKind::Yield
        | OpKind::CpAsync { .. }
        | OpKind::CpAsyncWait { .. }
        | OpKind::Mbarrier(_)
        | OpKind::TensorCopy(_)
        | OpKind::BulkBytes(_)
        | OpKind::BulkCommit
        | OpKind::BulkWait { .. }
        | OpKind::Wgmma(_)
        | OpKind::WgmmaFence
        | OpKind::WgmmaCommit
        | OpKind::WgmmaWait { .. }
        | OpKind::Printf { .. }
        | OpKind::AssertFail { .. }
        | OpKind::Call { .. }
        | OpKind::Resume { .. } => Some(Effect::EndsAll),
        _ => is_a_call(instrs.get(op.instr as usize)?.mnemonic()).then_some(Effect::EndsAll),
    }
}

/// Returns whether ptxas calls a function for the instruction, as for unusual operands.
fn is_a_call(mnemonic: &str) -> bool {
    let has = |wanted: &[&str]| mnemonic.split('.').any(|part| wanted.contains(&part));
    match mnemonic.split('.').next().unwrap_or_default() {
        "div" | "rem" if has(&["s64", "u64"]) => true,
        "div" | "rcp" | "sqrt" => has(&["rn", "rz", "rm", "rp"]),
        _ => false,
    }
}

/// Returns the size of the largest window: four elements, 16 bytes at most.
fn largest_window(key: &GroupKey) -> i64 {
    (4 * i64::from(key.bytes)).min(16)
}

/// Returns the size of windows that can be merged; `None` for bytes, and elements that may not be aligned.
fn window(key: &GroupKey, known: &Distances<'_>) -> Option<i64> {
    if key.bytes == 1 {
        return None;
    }
    let most = largest_window(key);
    let proven = 1i64 << known.zeros_of(key.base).min(4);
    let window = most.min(proven);
    (window >= 2 * i64::from(key.bytes)).then_some(window)
}

#[derive(Debug, Default)]
struct Groups {
    of: HashMap<u32, Option<MergeGroup>>,
}

impl Groups {
    /// Records one access of `bytes` bytes at `first` in place of the members, which are in program order.
    fn join(&mut self, members: &[Member], first: i64, bytes: i64) {
        let Some(leader) = members.first().map(|member| member.instr) else { return };
        for member in members {
            let group = MergeGroup { leader, bytes: bytes as u8, back: (member.offset - first) as u8 };
            self.put(member.instr, (members.len() > 1).then_some(group));
        }
    }

    /// Records the group of an instruction. All inlined copies of an instruction must agree.
    fn put(&mut self, instr: u32, group: Option<MergeGroup>) {
        let known = self.of.entry(instr).or_insert(group);
        if *known != group {
            *known = None;
        }
    }

    /// Stores the groups whose leaders agree.
    fn write(&self, instrs: &mut [InstrInfo]) {
        for (&instr, group) in &self.of {
            let leads = |group: &MergeGroup| {
                let leader = self.of.get(&group.leader).copied().flatten();
                leader.is_some_and(|leader| leader.leader == group.leader)
            };
            instrs[instr as usize].merge = group.filter(leads);
        }
    }
}

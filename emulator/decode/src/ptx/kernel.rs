//! Decodes one kernel of a PTX module: lowering, then the passes in their order.

use std::collections::HashMap;

use ptx::ast::Function;

use super::index::Index;
use super::layout::{self, SharedLayout};
use super::module_variables::Symbols;
use super::{Lower, frames};
use crate::error::{DecodeError, Result, unsupported};
use crate::operands;
use crate::passes::cfg::{Cfg, OUTSIDE};
use crate::passes::finish::{each_target, finish, moves_nothing, remove_moves, shape};
use crate::passes::liveness::Liveness;
use crate::passes::{atomics, fragments, in_flight, merge, order, registers, sync_patterns, validate};
use crate::virtual_op::{FALSE, Registers, VirtualOp};
use arithmetic::lanes::{Class, CpuLevel};
use program::limits::REGISTER_LINES;
use program::{ClusterDirectives, DeclaredArray, InFlight, InstrInfo, Kernel, OpKind, RESERVED, Unset};

pub(crate) fn kernel(
    index: &Index,
    symbols: &Symbols,
    level: CpuLevel,
    function: &Function,
) -> Result<Kernel> {
    let directive = |name: &str| {
        let found = function.directives.iter().find(|(n, _)| n.trim_start_matches('.') == name);
        found.map(|(_, numbers)| &numbers[..])
    };
    let first = |name: &str| directive(name).and_then(|numbers| numbers.first().copied());
    let three = |numbers: &[u32]| std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(1));

    if directive("blocksareclusters").is_some() {
        return Err(unsupported(function.span, "a grid that is counted in clusters (`.blocksareclusters`)"));
    }

    let reached = index.reach(function)?;
    let shared = SharedLayout::new(index, &reached.functions)?;
    let (params, param_bytes) = layout::params(function)?;
    let mut lower = Lower::new(index, symbols, level, &shared, &reached);
    let named: Vec<(&str, u32)> =
        function.params.iter().zip(&params).map(|(v, p)| (v.name.as_str(), p.offset)).collect();
    lower.kernel(function, &named)?;
    refuse_if!(!lower.refused.is_empty(), DecodeError::Unsupported(lower.refused));

    resolve_labels(&mut lower)?;
    let Lower { mut ops, registers, mut instrs, starts, activations, .. } = lower;
    sort_instructions(&mut ops, &mut instrs, &starts);

    // The start of a frame is unknown at decode, and differs between lanes.
    let own = activations.base;
    let special: Vec<u32> = lower.specials.values().copied().chain(own).collect();
    // This removes unused results of atomics, which `atomics::forms` relies on.
    let order = order::decide_block_order(&mut ops, registers.classes.len(), &lower.constants, &special);

    let cfg = Cfg::new(&ops);
    reconverge(&mut ops, &cfg);
    fragments::compare(&mut ops, &cfg.starts, &instrs);
    let too_big = || unsupported(function.span, format!("a kernel as big as `{}`", function.name));
    merge::merge(&mut ops, &cfg, &lower.constants, registers.classes.len(), &special, &mut instrs);
    sync_patterns::classify(&mut ops, registers.classes.len(), &instrs);
    let varying: Vec<u32> = lower
        .specials
        .iter()
        .filter(|(special, _)| special.varies_in_a_warp())
        .map(|(_, &register)| register)
        .chain(own)
        .collect();
    atomics::forms(&mut ops, &lower.constants, registers.classes.len(), &varying, &mut instrs);
    let mut live = Liveness::new(&mut ops, &cfg, registers.classes.len()).ok_or_else(too_big)?;
    let pinned: Vec<u32> = { &special }.iter().copied().chain(activations.pinned()).collect();
    if !activations.sites.is_empty() {
        live.pin(&pinned, ops.len());
    }
    index.account.steps(live.n_pairs as u64)?;
    let allocation = registers::allocate(&mut ops, &live, &registers.classes, index.account)?;
    if allocation.n_lines > REGISTER_LINES || allocation.n_preds > u32::from(u16::MAX) {
        return Err(unsupported(
            function.span,
            format!("`{}` with {} registers in use at once", function.name, allocation.n_lines),
        ));
    }
    let place = |register: &u32| allocation.place[*register as usize];
    let specials = lower.specials.iter().map(|(&special, register)| (special, place(register))).collect();
    let lowered = frames::Lowered {
        ops: &ops,
        labels: &lower.labels,
        live: &live,
        allocation: &allocation,
        classes: &registers.classes,
        variables: lower.local_bytes,
    };
    let mut calls = frames::calls(&activations, &lowered, &pinned, index)?;
    let unset = unset(&mut ops, &live.at_entry, &pinned, &registers, &allocation.place);
    let mut touches = in_flight::touches(&mut ops, &allocation.place, registers.classes.len());
    let mut unfenced = in_flight::unfenced(&mut ops, &cfg, &instrs, &allocation.place);
    for op in &mut ops {
        registers::rewrite(op, &allocation);
    }
    let is_kept = |op: &VirtualOp| op.first || !moves_nothing(op);
    in_flight::keep(&mut touches, &ops, is_kept);
    in_flight::keep(&mut unfenced, &ops, is_kept);
    remove_moves(&mut ops, calls.as_deref_mut());

    let reserved = lower.reserved_shared.then(|| DeclaredArray {
        name: "%reserved_smem".to_owned(),
        offset: RESERVED.0,
        bytes: RESERVED.1 - RESERVED.0,
        align: 8,
        element: 1,
        dims: vec![u64::from(RESERVED.1 - RESERVED.0)],
    });
    let kernel = Kernel {
        name: function.name.clone(),
        ops: ops.iter().map(finish).collect(),
        instrs,
        n_lines: allocation.n_lines,
        n_preds: allocation.n_preds,
        consts: lower.constants.lines,
        shared_consts: lower.constants.shared,
        specials,
        params,
        param_bytes,
        shared_static_bytes: shared.static_bytes,
        shared_dynamic_base: shared.dynamic_base,
        shared_dynamic_align: shared.dynamic_align,
        shared: reserved.into_iter().chain(shared.arrays.iter().cloned()).collect(),
        local_bytes: lower.local_bytes,
        local: lower.local,
        max_threads: directive("maxntid").map(three),
        max_registers: first("maxnreg"),
        required_threads: directive("reqntid").map(three),
        cluster: ClusterDirectives {
            required: directive("reqnctapercluster").map(three),
            most: first("maxclusterrank"),
            explicit: directive("explicitcluster").is_some(),
        },
        min_blocks_per_sm: first("minnctapersm"),
        order,
        shared_subword: lower.shared_subword,
        calls,
        shapes: ops.iter().map(shape).collect(),
        machine_code: false,
        in_flight: touches.map(|touches| Box::new(InFlight { touches, unfenced })),
        unset,
    };
    validate::validate(&kernel, &mut ops).map_err(DecodeError::Internal)?;
    Ok(kernel)
}

/// Registers that are live on entry and never initialised.
fn unset(
    ops: &mut [VirtualOp],
    at_entry: &[u32],
    filled: &[u32],
    registers: &Registers,
    place: &[u32],
) -> Vec<Unset> {
    let mut readers: HashMap<u32, u32> = at_entry
        .iter()
        .filter(|&register| *register > FALSE && !filled.contains(register))
        .map(|&register| (register, u32::MAX))
        .collect();
    if readers.is_empty() {
        return Vec::new();
    }
    for op in ops {
        let (instr, does) = (op.instr, !op.moves);
        operands::map_registers(op, &mut |register, _, role| {
            if does
                && role == operands::Role::Use
                && let Some(reader) = readers.get_mut(&(register as u32))
            {
                *reader = instr.min(*reader);
            }
            register
        });
    }
    let mut unset: Vec<Unset> = readers
        .into_iter()
        .map(|(register, reader)| Unset {
            place: place[register as usize],
            is_predicate: registers.classes[register as usize] == Class::Pred,
            bits: registers.bits(register),
            reader,
        })
        .collect();
    unset.sort_unstable_by_key(|one| (one.reader, one.is_predicate, one.place));
    unset
}

fn resolve_labels(lower: &mut Lower) -> Result<()> {
    let n_ops = lower.ops.len() as u32;
    let labels = &lower.labels;
    let mut good = true;
    let mut resolve = |target: &mut u32| {
        let at = labels.get(*target as usize).copied().unwrap_or(u32::MAX);
        good &= at < n_ops;
        *target = at.min(n_ops.saturating_sub(1));
    };
    for op in &mut lower.ops {
        each_target(&mut op.kind, &mut resolve);
    }
    if good { Ok(()) } else { Err(DecodeError::Internal("a label without a position".to_owned())) }
}

/// Sorts instructions by text position; inlining changed their order.
fn sort_instructions(ops: &mut [VirtualOp], instrs: &mut Vec<InstrInfo>, starts: &[u32]) {
    if starts.is_sorted() {
        return;
    }
    let mut order: Vec<u32> = (0..starts.len() as u32).collect();
    order.sort_by_key(|&i| starts[i as usize]);
    let mut rank = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old as usize] = new as u32;
    }
    let mut old: Vec<Option<_>> = std::mem::take(instrs).into_iter().map(Some).collect();
    instrs.extend(order.iter().filter_map(|&i| old[i as usize].take()));
    for op in ops {
        op.instr = rank[op.instr as usize];
    }
}

/// Sets the reconvergence point of each branch.
fn reconverge(ops: &mut [VirtualOp], cfg: &Cfg) {
    let dominators = cfg.post_dominators();
    for block in 0..cfg.n_blocks() as u32 {
        let meet = match dominators[block as usize] {
            OUTSIDE => u32::MAX,
            after => cfg.starts[after as usize],
        };
        let last = cfg.range(block).end as usize - 1;
        match &mut ops[last].kind {
            OpKind::Branch { reconverge, .. } | OpKind::BranchIndexed { reconverge, .. } => {
                *reconverge = meet
            }
            _ => {}
        }
    }
}

//! Decodes one kernel of a PTX module: lowering, then the passes in their order.

use std::collections::HashMap;

use ptx::ast::Function;

use super::index::Index;
use super::layout::{self, SharedLayout};
use super::module_variables::Symbols;
use super::{PtxLowering, frames};
use crate::error::{DecodeError, Result, unsupported};
use crate::passes::cfg::{Cfg, OUTSIDE};
use crate::passes::finish::{alu_shape, each_target, finish_op, moves_nothing, remove_moves};
use crate::passes::{
    InitialRegisters, atomics, fragments, in_flight, merge, order, registers, sync_patterns, validate,
};
use crate::passes::{liveness::Liveness, registers::Allocation};
use crate::virtual_op::{FALSE, Registers, VirtualOp, for_each_register};
use arithmetic::lanes::{Class, CpuLevel};
use program::limits::REGISTER_LINES;
use program::{
    Calls, ClusterDirectives, DeclaredArray, DecodedKernel, InFlight, InstrInfo, Launches, OpKind, RESERVED,
    Reconverge, Unset,
};

/// Decodes a kernel: lowers its text, runs the passes, and gives registers their places.
pub(crate) fn decode_kernel(
    index: &Index, symbols: &Symbols, level: CpuLevel, function: &Function,
) -> Result<DecodedKernel> {
    if directive(function, "blocksareclusters").is_some() {
        return Err(unsupported(function.span, "a grid that is counted in clusters (`.blocksareclusters`)"));
    }
    let reached = index.reach(function)?;
    let shared = SharedLayout::new(index, &reached.functions)?;
    let (params, param_bytes) = layout::params(function)?;
    let mut lower = PtxLowering::new(index, symbols, level, &shared, &reached);
    let named: Vec<(&str, u32)> =
        function.params.iter().zip(&params).map(|(v, p)| (v.name.as_str(), p.offset)).collect();
    lower.lower_kernel(function, &named)?;
    refuse_if!(!lower.refused.is_empty(), DecodeError::Unsupported(lower.refused));
    resolve_labels(&mut lower)?;
    sort_instructions(&mut lower.ops, &mut lower.instrs, &lower.starts);

    let (cfg, [by_index, exchanges]) = run_passes(&mut lower);
    let (live, allocation) = allocate_registers(&mut lower, &cfg, function)?;
    let placed = place_registers(&mut lower, &cfg, &live, &allocation)?;

    let first = |name| directive(function, name).and_then(|numbers| numbers.first().copied());
    let three = |name| {
        let numbers = directive(function, name)?;
        Some(std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(1)))
    };
    let reserved = lower.reserved_shared.then(|| DeclaredArray {
        name: "%reserved_smem".to_owned(),
        offset: RESERVED.0,
        bytes: RESERVED.1 - RESERVED.0,
        align: 8,
        element: 1,
        dims: vec![u64::from(RESERVED.1 - RESERVED.0)],
    });
    let kernel = DecodedKernel {
        name: function.name.clone(),
        ops: lower.ops.iter().map(finish_op).collect(),
        instrs: lower.instrs,
        n_lines: allocation.n_lines,
        n_preds: allocation.n_preds,
        consts: lower.constants.lines,
        shared_consts: lower.constants.shared,
        specials: allocation.specials(&lower.specials, &live),
        params,
        param_bytes,
        param_start: 0,
        shared_static_bytes: shared.static_bytes,
        shared_dynamic_base: shared.dynamic_base,
        shared: reserved.into_iter().chain(shared.arrays.iter().cloned()).collect(),
        local_bytes: lower.local_bytes,
        has_stack: false,
        local: lower.local,
        max_threads: three("maxntid"),
        max_registers: first("maxnreg"),
        required_threads: three("reqntid"),
        cluster: ClusterDirectives {
            required: three("reqnctapercluster"),
            max_blocks: first("maxclusterrank"),
            explicit: directive(function, "explicitcluster").is_some(),
        },
        by_index,
        exchanges,
        shared_subword: lower.shared_subword,
        calls: placed.calls,
        shapes: lower.ops.iter().map(alu_shape).collect(),
        machine_code: false,
        in_flight: placed.in_flight,
        unset: placed.unset,
    };
    validate::validate(&kernel, &lower.ops).map_err(DecodeError::Internal)?;
    Ok(kernel)
}

/// Returns the numbers of a directive of a kernel, such as `.maxntid 128, 1, 1`.
fn directive<'f>(function: &'f Function, name: &str) -> Option<&'f [u32]> {
    let found = function.directives.iter().find(|(n, _)| n.trim_start_matches('.') == name);
    found.map(|(_, numbers)| &numbers[..])
}

/// Lists the registers that no operation writes: special ones, and the start of a frame, which differs between lanes.
fn preset_registers(lower: &PtxLowering) -> Vec<u32> {
    lower.specials.values().copied().chain(lower.activations.base).collect()
}

/// Lists the [`preset_registers`] and those that calls pass values in: they keep their places in the whole kernel.
fn pinned_registers(lower: &PtxLowering) -> Vec<u32> {
    preset_registers(lower).into_iter().chain(lower.activations.pinned()).collect()
}

/// Runs the passes; returns the launches whose blocks run in order, and those whose threads exchange data.
fn run_passes(lower: &mut PtxLowering) -> (Cfg, [Launches; 2]) {
    let preset = preset_registers(lower);
    let n_registers = lower.registers.classes.len();
    let PtxLowering { ops, instrs, constants, .. } = lower;
    let registers = InitialRegisters { n: n_registers, constants, preset: &preset };
    // This removes unused results of atomics, which `atomics::forms` relies on.
    let by_index = order::decide_block_order(ops, registers);
    let exchanges = order::find_exchanges(ops, registers);
    let cfg = Cfg::new(ops);
    reconverge(ops, &cfg);
    fragments::find_mismatches(ops, &cfg.starts, instrs);
    merge::merge(ops, &cfg, registers, instrs);
    sync_patterns::classify(ops, n_registers, instrs);
    let varying = lower.specials.iter().filter(|(special, _)| special.varies_in_a_warp());
    let varying: Vec<u32> = varying.map(|(_, &register)| register).chain(lower.activations.base).collect();
    atomics::forms(ops, constants, n_registers, &varying, instrs);
    (cfg, [by_index, exchanges])
}

fn allocate_registers(lower: &mut PtxLowering, cfg: &Cfg, function: &Function) -> Result<(Liveness, Allocation)> {
    let classes = &lower.registers.classes;
    let too_big = || unsupported(function.span, format!("a kernel as big as `{}`", function.name));
    let mut live = Liveness::new(&lower.ops, cfg, classes.len()).ok_or_else(too_big)?;
    if !lower.activations.sites.is_empty() {
        let pinned = pinned_registers(lower);
        live.pin(&pinned, lower.ops.len());
    }
    let account = lower.index.account;
    account.steps(live.n_pairs as u64)?;
    let allocation = registers::allocate(&lower.ops, &live, &lower.registers.classes, account)?;
    if allocation.n_lines > REGISTER_LINES || allocation.n_preds > u32::from(u16::MAX) {
        return Err(unsupported(
            function.span,
            format!("`{}` with {} registers in use at once", function.name, allocation.n_lines),
        ));
    }
    Ok((live, allocation))
}

/// Facts about a kernel that refer to the places of its registers.
struct Placed {
    calls: Option<Box<Calls>>,
    in_flight: Option<Box<InFlight>>,
    unset: Vec<Unset>,
}

/// Replaces virtual registers by their places, and removes the moves that do nothing then.
fn place_registers(lower: &mut PtxLowering, cfg: &Cfg, live: &Liveness, allocation: &Allocation) -> Result<Placed> {
    let pinned = pinned_registers(lower);
    let lowered = frames::Lowered {
        ops: &lower.ops,
        labels: &lower.labels,
        live,
        allocation,
        classes: &lower.registers.classes,
        variables: lower.local_bytes,
    };
    let mut calls = frames::lay_out_calls(&lower.activations, &lowered, &pinned, lower.index)?;
    let PtxLowering { ops, registers, instrs, .. } = lower;
    let unset = find_unset(ops, &live.at_entry, &pinned, registers, &allocation.place);
    let mut touches = in_flight::touches(ops, &allocation.place, registers.classes.len());
    let mut unfenced = in_flight::unfenced(ops, cfg, instrs, &allocation.place);
    for op in ops.iter_mut() {
        registers::rewrite(op, allocation);
    }
    let is_kept = |op: &VirtualOp| op.first || !moves_nothing(op);
    in_flight::keep(&mut touches, ops, is_kept);
    in_flight::keep(&mut unfenced, ops, is_kept);
    remove_moves(ops, calls.as_deref_mut());
    let in_flight = touches.map(|touches| Box::new(InFlight { touches, unfenced }));
    Ok(Placed { calls, in_flight, unset })
}

/// Finds the registers that are live on entry and never initialised.
fn find_unset(ops: &[VirtualOp], at_entry: &[u32], filled: &[u32], registers: &Registers, place: &[u32]) -> Vec<Unset> {
    let mut readers: HashMap<u32, Option<u32>> = at_entry
        .iter()
        .filter(|&register| *register > FALSE && !filled.contains(register))
        .map(|&register| (register, None))
        .collect();
    if readers.is_empty() {
        return Vec::new();
    }
    for op in ops {
        let (instr, does) = (op.instr, !op.moves);
        for_each_register(op, &mut |register, _, role| {
            if does
                && role.is_use()
                && let Some(reader) = readers.get_mut(&register)
            {
                *reader = Some(reader.map_or(instr, |known| known.min(instr)));
            }
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
    unset.sort_unstable_by_key(|one| (one.reader.unwrap_or(u32::MAX), one.is_predicate, one.place));
    unset
}

fn resolve_labels(lower: &mut PtxLowering) -> Result<()> {
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
            OUTSIDE => Reconverge::AtExit,
            after => Reconverge::At(cfg.starts[after as usize]),
        };
        let last = cfg.range(block).end as usize - 1;
        match &mut ops[last].kind {
            OpKind::Branch { reconverge, .. } | OpKind::BranchIndexed { reconverge, .. } => *reconverge = meet,
            _ => {}
        }
    }
}

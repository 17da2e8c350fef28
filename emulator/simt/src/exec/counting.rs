//! Sums the counts of operations to counters of instructions and source lines.

use std::collections::BTreeMap;

use crate::program::{DecodedKernel, MemSpace, OpKind, TensorWay};
use crate::report::{Counters, InstrReport, LineReport};

use crate::exec::plan::{NO_MEMO, Plan};
use crate::exec::{launch_job::Counts, memo::Tally};

/// Bytes that the banks of shared memory deliver in one wavefront.
const WAVEFRONT_BYTES: u64 = 128;

pub(crate) fn by_instruction(kernel: &DecodedKernel, plan: &Plan, counts: &Counts, tallies: &[Tally]) -> Vec<Counters> {
    let mut all = vec![Counters::default(); kernel.instrs.len()];
    let (mut runs, mut lanes) = (0u64, 0u64);
    for (i, op) in kernel.ops.iter().enumerate() {
        let at = |v: &[u64]| v.get(i).copied().unwrap_or(0);
        runs = runs.wrapping_add(at(&counts.runs));
        lanes = lanes.wrapping_add(at(&counts.lanes));
        let Some(c) = all.get_mut(op.instr as usize) else { continue };
        if op.first {
            c.warp_instructions += runs;
            c.thread_instructions += lanes;
            let fmas = kernel.instrs[op.instr as usize].fmas;
            c.fmas += u64::from(fmas) * lanes.saturating_sub(at(&counts.predicated_off));
        }
        c.divergent_branches += at(&counts.diverged);
        match &op.kind {
            OpKind::Barrier { .. } => c.barriers += runs,
            OpKind::Texture(_) => c.texture_requests += runs,
            OpKind::Wgmma(wgmma) => {
                c.tensor_products += runs * wgmma.products();
                // Each of the four warps counts a quarter, which together make whole wavefronts.
                c.tensor_operand_wavefronts += runs * wgmma.operand_bytes() / WAVEFRONT_BYTES;
            }
            OpKind::Mma(mma) => c.tensor_products += runs * mma.form.products(),
            OpKind::TensorCopy(copy) if copy.way != TensorWay::Prefetch => c.bulk_copies += lanes,
            OpKind::BulkBytes(copy) if copy.way != TensorWay::Prefetch => c.bulk_copies += lanes,
            OpKind::CpAsync { bytes, .. } => {
                let memo = plan.memo_of[i] as usize;
                let (to, from) = (&tallies[memo], &tallies[memo + 1]);
                c.async_copy_requests += to.shared_requests;
                c.async_copy_wavefronts += to.wavefronts;
                c.async_copy_ideal += to.ideal;
                c.async_copy_bytes += to.shared_lanes * u64::from(*bytes);
                add_load(c, from, (*bytes).into());
            }
            _ => {}
        }
        let Some(t) = tallies.get(plan.memo_of[i] as usize).filter(|_| plan.memo_of[i] != NO_MEMO) else {
            continue;
        };
        // The hardware counts issued instructions, also those whose guard leaves no lane. (PTX mostly has a branch
        // there.)
        let unwanted = match &op.kind {
            OpKind::Load(a) | OpKind::Store(a) if kernel.machine_code && a.space == MemSpace::Shared => {
                runs.saturating_sub(t.shared_requests)
            }
            _ => 0,
        };
        match &op.kind {
            OpKind::Load(a) => {
                add_load(c, t, u64::from(a.element) * u64::from(a.n));
                c.shared_load_requests += unwanted;
                c.shared_load_requests_merged += unwanted;
            }
            OpKind::MatrixLoad(_) => add_load(c, t, 16),
            OpKind::MatrixStore(_) => add_store(c, t, 16),
            OpKind::Store(a) => {
                add_store(c, t, u64::from(a.element) * u64::from(a.n));
                c.shared_store_requests += unwanted;
                c.shared_store_requests_merged += unwanted;
            }
            OpKind::Atomic(_) => {
                c.global_atomic_requests += t.global_requests;
                c.global_atomic_sectors += t.sectors;
                c.shared_atomic_requests += t.shared_requests;
                c.shared_atomic_requests_merged += t.atomics;
                c.shared_atomic_wavefronts += t.wavefronts;
                c.shared_atomic_ideal += t.ideal;
                c.shared_load_requests_merged += t.merged_requests;
                c.shared_load_wavefronts_merged += t.merged_wavefronts;
                c.shared_load_ideal_merged += t.merged_ideal;
                c.local_requests += t.local_requests;
            }
            _ => {}
        }
    }
    all
}

fn add_load(c: &mut Counters, t: &Tally, bytes: u64) {
    c.global_load_requests += t.global_requests;
    c.global_load_sectors += t.sectors;
    c.l1_passes += t.l1_passes;
    c.global_load_bytes += t.global_lanes * bytes;
    c.shared_load_requests += t.shared_requests;
    c.shared_load_wavefronts += t.wavefronts;
    c.shared_load_ideal += t.ideal;
    c.shared_load_bytes += t.shared_lanes * bytes;
    c.shared_load_requests_merged += t.merged_requests;
    c.shared_load_wavefronts_merged += t.merged_wavefronts;
    c.shared_load_ideal_merged += t.merged_ideal;
    c.local_requests += t.local_requests;
    c.local_bytes += t.local_lanes * bytes;
    c.constant_requests += t.constant_requests;
}

fn add_store(c: &mut Counters, t: &Tally, bytes: u64) {
    c.global_store_requests += t.global_requests;
    c.global_store_sectors += t.sectors;
    c.l1_passes += t.l1_passes;
    c.global_store_bytes += t.global_lanes * bytes;
    c.shared_store_requests += t.shared_requests;
    c.shared_store_wavefronts += t.wavefronts;
    c.shared_store_ideal += t.ideal;
    c.shared_store_bytes += t.shared_lanes * bytes;
    c.shared_store_requests_merged += t.merged_requests;
    c.shared_store_wavefronts_merged += t.merged_wavefronts;
    c.shared_store_ideal_merged += t.merged_ideal;
    c.local_requests += t.local_requests;
    c.local_bytes += t.local_lanes * bytes;
}

pub(crate) fn instructions(kernel: &DecodedKernel, files: &[(u32, String)], counters: &[Counters]) -> Vec<InstrReport> {
    let path = |file: u32| files.iter().find(|(i, _)| *i == file).map(|(_, p)| p.clone());
    let report = |(i, c): (&crate::program::InstrInfo, &Counters)| InstrReport {
        text: i.text.clone(),
        ptx_line: i.ptx_line,
        source: i.source.and_then(|s| Some((path(s.file)?, s.line))),
        counters: *c,
    };
    kernel.instrs.iter().zip(counters).map(report).collect()
}

/// Sums counters by source line.
pub(crate) fn lines(instructions: &[InstrReport]) -> Vec<LineReport> {
    let mut lines: BTreeMap<&(String, u32), Counters> = BTreeMap::new();
    for i in instructions {
        if let Some(source) = &i.source {
            lines.entry(source).or_default().add(&i.counters);
        }
    }
    let report =
        |((file, line), counters): (&(String, u32), Counters)| LineReport { file: file.clone(), line: *line, counters };
    lines.into_iter().map(report).collect()
}

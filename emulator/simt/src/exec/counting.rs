//! Sums the counts of operations to counters of instructions and source lines.

use std::collections::BTreeMap;

use crate::report::{Counters, InstrReport, LineReport};
use program::{DecodedKernel, MemSpace, OpKind, TensorWay};

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
        let Some(counters) = all.get_mut(op.instr as usize) else { continue };
        if op.first {
            counters.warp_instructions += runs;
            counters.thread_instructions += lanes;
            let fmas = kernel.instrs[op.instr as usize].fmas;
            counters.fmas += u64::from(fmas) * lanes.saturating_sub(at(&counts.predicated_off));
        }
        counters.divergent_branches += at(&counts.diverged);
        match &op.kind {
            OpKind::Barrier { .. } => counters.barriers += runs,
            OpKind::Texture(_) => counters.texture_requests += runs,
            OpKind::Wgmma(wgmma) => {
                counters.tensor_products += runs * wgmma.products();
                // Each of the four warps counts a quarter, which together make whole wavefronts.
                counters.tensor_operand_wavefronts += runs * wgmma.operand_bytes() / WAVEFRONT_BYTES;
            }
            OpKind::Mma(mma) => counters.tensor_products += runs * mma.form.products(),
            OpKind::TensorCopy(copy) if copy.way != TensorWay::Prefetch => counters.bulk_copies += lanes,
            OpKind::BulkBytes(copy) if copy.way != TensorWay::Prefetch => counters.bulk_copies += lanes,
            OpKind::CpAsync { bytes, .. } => {
                let memo = plan.memo_of[i] as usize;
                let (to, from) = (&tallies[memo], &tallies[memo + 1]);
                counters.async_copy_requests += to.shared_requests;
                counters.async_copy_wavefronts += to.wavefronts;
                counters.async_copy_ideal += to.ideal;
                counters.async_copy_bytes += to.shared_lanes * u64::from(*bytes);
                add_load(counters, from, (*bytes).into());
            }
            _ => {}
        }
        let Some(tally) = tallies.get(plan.memo_of[i] as usize).filter(|_| plan.memo_of[i] != NO_MEMO) else {
            continue;
        };
        // The hardware counts issued instructions, also those whose guard leaves no lane; PTX mostly branches there.
        let unwanted = match &op.kind {
            OpKind::Load(a) | OpKind::Store(a) if kernel.machine_code && a.space == MemSpace::Shared => {
                runs.saturating_sub(tally.shared_requests)
            }
            _ => 0,
        };
        match &op.kind {
            OpKind::Load(a) => {
                add_load(counters, tally, a.bytes().into());
                counters.shared_load_requests += unwanted;
                counters.shared_load_requests_merged += unwanted;
            }
            OpKind::MatrixLoad(_) => add_load(counters, tally, 16),
            OpKind::MatrixStore(_) => add_store(counters, tally, 16),
            OpKind::Store(a) => {
                add_store(counters, tally, a.bytes().into());
                counters.shared_store_requests += unwanted;
                counters.shared_store_requests_merged += unwanted;
            }
            OpKind::Atomic(_) => {
                counters.global_atomic_requests += tally.global_requests;
                counters.global_atomic_sectors += tally.sectors;
                counters.shared_atomic_requests += tally.shared_requests;
                counters.shared_atomic_requests_merged += tally.atomics;
                counters.shared_atomic_wavefronts += tally.wavefronts;
                counters.shared_atomic_ideal += tally.ideal;
                counters.shared_load_requests_merged += tally.merged_requests;
                counters.shared_load_wavefronts_merged += tally.merged_wavefronts;
                counters.shared_load_ideal_merged += tally.merged_ideal;
                counters.local_requests += tally.local_requests;
            }
            _ => {}
        }
    }
    all
}

fn add_load(counters: &mut Counters, tally: &Tally, bytes: u64) {
    counters.global_load_requests += tally.global_requests;
    counters.global_load_sectors += tally.sectors;
    counters.l1_passes += tally.l1_passes;
    counters.global_load_bytes += tally.global_lanes * bytes;
    counters.shared_load_requests += tally.shared_requests;
    counters.shared_load_wavefronts += tally.wavefronts;
    counters.shared_load_ideal += tally.ideal;
    counters.shared_load_bytes += tally.shared_lanes * bytes;
    counters.shared_load_requests_merged += tally.merged_requests;
    counters.shared_load_wavefronts_merged += tally.merged_wavefronts;
    counters.shared_load_ideal_merged += tally.merged_ideal;
    counters.local_requests += tally.local_requests;
    counters.local_bytes += tally.local_lanes * bytes;
    counters.constant_requests += tally.constant_requests;
}

fn add_store(counters: &mut Counters, tally: &Tally, bytes: u64) {
    counters.global_store_requests += tally.global_requests;
    counters.global_store_sectors += tally.sectors;
    counters.l1_passes += tally.l1_passes;
    counters.global_store_bytes += tally.global_lanes * bytes;
    counters.shared_store_requests += tally.shared_requests;
    counters.shared_store_wavefronts += tally.wavefronts;
    counters.shared_store_ideal += tally.ideal;
    counters.shared_store_bytes += tally.shared_lanes * bytes;
    counters.shared_store_requests_merged += tally.merged_requests;
    counters.shared_store_wavefronts_merged += tally.merged_wavefronts;
    counters.shared_store_ideal_merged += tally.merged_ideal;
    counters.local_requests += tally.local_requests;
    counters.local_bytes += tally.local_lanes * bytes;
}

pub(crate) fn instructions(kernel: &DecodedKernel, files: &[(u32, String)], counters: &[Counters]) -> Vec<InstrReport> {
    let path = |file: u32| files.iter().find(|(i, _)| *i == file).map(|(_, p)| p.clone());
    let report = |(i, c): (&program::InstrInfo, &Counters)| InstrReport {
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

//! Accesses that go wrong or lie in several places: looked up lane by lane.

use crate::check::race::{ByteRun, Touch};
use crate::check::{AccessKind, AccessProblem, BadAccess, InstrThread, MistakeDetails, RemoteProblem};
use crate::lane_mask::LaneMask;
use crate::memory::{Slot, rules};
use arithmetic::lanes::WARP;
use program::{MemSpace, window};

use crate::exec::memory::access_spec::{self, AccessSpec};
use crate::exec::{launch_job::LaunchJob, memo::Merge};
use crate::exec::{memory::cluster_memory::Holder, worker::Worker};

/// Why an access to a block's own memory or to global memory fails, with its space and address.
pub(crate) type AccessFault = (AccessProblem, MemSpace, u64);

/// Why a lane's access fails, with its space and address; `None`: the shared memory of another block cannot be reached.
type LaneFault = (Option<AccessProblem>, MemSpace, u64);

/// The space of the memory that a lane accesses, and its generic address.
type Place = (MemSpace, u64);

struct LaneMemory {
    host: *mut u8,
    /// `Global`, `Shared`, `Local` or `Param`.
    space: MemSpace,
    /// The offset in the block's own shared memory.
    own: Option<u64>,
}

/// Returns the address of each lane, seen from the block that runs.
pub(crate) fn addresses(worker: &Worker<'_>, spec: &AccessSpec<'_>) -> [u64; WARP] {
    access_spec::addresses(&worker.warp.lanes, spec.addr, spec.bias())
        .map(|address| if is_local(spec.space, address) { address } else { worker.seen_from_here(address) })
}

/// Returns whether an address is one of local memory, or lies before its start: less than half a window.
fn is_local(space: MemSpace, address: u64) -> bool {
    const HALF: u64 = 1 << (window::BITS - 1);
    space == MemSpace::Local || space == MemSpace::Generic && window::holds(window::LOCAL, address.wrapping_add(HALF))
}

/// Finds each lane's memory, for `access.pointers`. Returns the lanes that have any: without mistakes, all.
#[cold]
#[inline(never)]
pub(crate) fn locate(worker: &mut Worker<'_>, spec: AccessSpec<'_>, active: LaneMask) -> LaneMask {
    let spec = &spec;
    let mut places = addresses(worker, spec).map(|address| (MemSpace::Generic, address));
    let mut good = LaneMask::EMPTY;
    let mut remote = LaneMask::EMPTY;
    let mut bad: Vec<(LaneFault, LaneMask, u64)> = Vec::new();
    for lane in active.iter() {
        let (place_space, place_address) = &mut places[lane];
        match find(worker, spec, *place_address, lane) {
            Ok(found) => {
                worker.access.pointers[lane] = found.host;
                *place_space = found.space;
                match found.own {
                    Some(offset) => *place_address = window::SHARED + offset,
                    None if found.space == MemSpace::Shared => remote |= LaneMask::of(lane),
                    None => {}
                }
                good |= LaneMask::of(lane);
            }
            Err(fault) => {
                let (problem, space, address) = fault;
                match bad.iter_mut().find(|(known, ..)| (known.0, known.1) == (problem, space)) {
                    Some((_, mask, high)) => {
                        *mask |= LaneMask::of(lane);
                        *high = (*high).max(address);
                    }
                    None => bad.push((fault, LaneMask::of(lane), address)),
                }
            }
        }
    }
    for ((problem, space, address), mask, high) in bad {
        let access = BadAccess { kind: spec.kind, space, address, high, bytes: spec.bytes };
        let details = match problem {
            Some(problem) => MistakeDetails::Access { problem, access },
            None => match not_own(worker, spec, address).or_else(|| worker.remote_problem(address)) {
                Some(problem) => MistakeDetails::Remote { access, problem },
                None => MistakeDetails::Access { problem: AccessProblem::OutOfBounds, access },
            },
        };
        worker.record_mistake(spec.pc, mask, details);
        if worker.stopped {
            return LaneMask::EMPTY;
        }
    }
    if worker.job.check_level.checks() {
        check(worker, spec, good & !remote, &places);
        check_remote(worker, spec, good & remote, &places);
    }
    if worker.job.check_level.counts() {
        count(worker, spec, good & !remote, &places);
    }
    good
}

fn find(worker: &mut Worker<'_>, spec: &AccessSpec<'_>, address: u64, lane: usize) -> Result<LaneMemory, LaneFault> {
    let job = worker.job;
    let bytes = u64::from(spec.bytes);
    let aligned = address & (bytes - 1) == 0;
    let writes = spec.kind != AccessKind::Read;
    let inside = |offset: u64, len: u64| offset <= len && bytes <= len - offset;
    let own = match spec.space {
        MemSpace::Generic if is_local(spec.space, address) => MemSpace::Local,
        MemSpace::Generic => match address >> window::BITS {
            w if w == window::SHARED >> window::BITS => MemSpace::Shared,
            w if w == window::PARAM >> window::BITS => MemSpace::Param,
            _ => MemSpace::Global,
        },
        MemSpace::Const => MemSpace::Global,
        other => other,
    };
    let out_of_bounds = |space: MemSpace, offset: u64| Err((Some(AccessProblem::OutOfBounds), space, offset));
    let (host, space, offset) = match own {
        MemSpace::Shared => {
            let given = address.wrapping_sub(window::SHARED);
            let offset = match worker.holder(given) {
                Holder::Own(offset) => offset,
                Holder::Other(rank, offset) if not_own(worker, spec, given).is_none() => {
                    return find_remote(worker, bytes, given, rank, offset);
                }
                Holder::Other(..) | Holder::Nobody(_) => return Err((None, MemSpace::Shared, given)),
            };
            let range = worker.block.shared_range(job, offset);
            if !range.is_some_and(|(from, to)| inside(offset - u64::from(from), u64::from(to - from))) {
                return out_of_bounds(MemSpace::Shared, offset);
            }
            (worker.block.shared_start().wrapping_add(offset as usize), MemSpace::Shared, offset)
        }
        MemSpace::Local => {
            let offset = address.wrapping_sub(window::LOCAL);
            if !inside(offset, u64::from(job.local_bytes)) {
                return out_of_bounds(MemSpace::Local, offset);
            }
            let offset_in_block = worker.local_offset(lane) + offset as usize;
            (worker.block.local_start().wrapping_add(offset_in_block), MemSpace::Local, offset)
        }
        MemSpace::Param => {
            let offset = address.wrapping_sub(window::PARAM);
            refuse_if!(writes, (Some(AccessProblem::ReadOnly), MemSpace::Param, offset));
            if !inside(offset, job.params.len() as u64) {
                return out_of_bounds(MemSpace::Param, offset);
            }
            (job.params.as_ptr().cast_mut().wrapping_add(offset as usize), MemSpace::Param, offset)
        }
        _ => {
            let fault = |(problem, space, address): AccessFault| (Some(problem), space, address);
            (find_global(job, address, bytes, writes).map_err(fault)?, MemSpace::Global, address)
        }
    };
    refuse_if!(!aligned, (Some(AccessProblem::Misaligned), space, offset));
    Ok(LaneMemory { host, space, own: (space == MemSpace::Shared).then_some(offset) })
}

/// Returns the problem of an address in another block, where the instruction names the block's own shared memory.
fn not_own(worker: &Worker<'_>, spec: &AccessSpec<'_>, offset: u64) -> Option<RemoteProblem> {
    let Holder::Other(rank, _) = worker.holder(offset) else { return None };
    let instr = worker.job.instr_at(spec.pc);
    let reaches_all = spec.space == MemSpace::Generic
        || worker.job.kernel.instrs[instr as usize].mnemonic().contains("shared::cluster");
    (!reaches_all).then_some(RemoteProblem::NotOwn { rank })
}

/// Finds `offset` in the shared memory of the block with the rank; `given` is the offset with the rank.
fn find_remote(
    worker: &mut Worker<'_>, bytes: u64, given: u64, rank: u32, offset: u64,
) -> Result<LaneMemory, LaneFault> {
    let job = worker.job;
    refuse_if!(worker.remote_problem(given).is_some(), (None, MemSpace::Shared, given));
    let inside = |(_, to): (u32, u32)| bytes <= u64::from(to) - offset;
    let Some(block) = worker.member_mut(rank) else { return Err((None, MemSpace::Shared, given)) };
    if !block.shared_range(job, offset).is_some_and(inside) {
        return Err((Some(AccessProblem::OutOfBounds), MemSpace::Shared, given));
    }
    refuse_if!(!offset.is_multiple_of(bytes), (Some(AccessProblem::Misaligned), MemSpace::Shared, given));
    Ok(LaneMemory { host: block.shared_start().wrapping_add(offset as usize), space: MemSpace::Shared, own: None })
}

/// Finds global memory, whatever its alignment. Where it is written, the launch may write it without marks.
pub(crate) fn find_global(job: &LaunchJob<'_>, address: u64, bytes: u64, writes: bool) -> Result<*mut u8, AccessFault> {
    let Some((allocation, offset)) = job.table.find(address, bytes) else {
        return Err(match job.table.slot(address) {
            Some(Slot::Freed(_)) => (AccessProblem::UseAfterFree, MemSpace::Global, address),
            _ if job.table.info(address).is_some() => (AccessProblem::OutOfBounds, MemSpace::Global, address),
            _ => (AccessProblem::OutOfBounds, MemSpace::Generic, address),
        });
    };
    refuse_if!(writes && allocation.origin.read_only, (AccessProblem::ReadOnly, MemSpace::Global, address));
    if writes && !job.check_level.checks() {
        allocation.bytes.trust();
    }
    Ok(allocation.bytes.start().wrapping_add(offset))
}

/// Checks for reads of what nothing wrote, and for races, lane by lane.
fn check(worker: &mut Worker<'_>, spec: &AccessSpec<'_>, good: LaneMask, places: &[Place; WARP]) {
    let job = worker.job;
    let n = spec.bytes as usize;
    let writes = spec.kind == AccessKind::Write;
    for lane in good.iter() {
        let (space, address) = places[lane];
        match space {
            MemSpace::Shared => {
                let offset = (address - window::SHARED) as usize;
                if !worker.block.shared_written.access(offset, n, writes) {
                    worker.note_unwritten(lane, address, spec.bytes);
                }
                if writes {
                    let by = InstrThread { instr: job.instr_at(spec.pc), thread: worker.warp.thread_of(lane) };
                    worker.block.mbarriers.overwrite(offset as u32, spec.bytes, by);
                }
            }
            MemSpace::Local => {
                let offset = worker.local_offset(lane) + (address - window::LOCAL) as usize;
                if !worker.block.local_written.access(offset, n, writes) {
                    worker.note_unwritten(lane, address, spec.bytes);
                }
            }
            MemSpace::Global => {
                let Some((allocation, offset)) = job.table.find(address, n as u64) else { continue };
                if writes {
                    allocation.bytes.mark(offset, n);
                } else if !allocation.bytes.is_written(offset, n) {
                    worker.note_unwritten(lane, address, spec.bytes);
                }
            }
            _ => {}
        }
        report_access(worker, spec, lane, address, space);
    }
}

/// Checks for reads of what nothing wrote, in the shared memory of other blocks.
fn check_remote(worker: &mut Worker<'_>, spec: &AccessSpec<'_>, lanes: LaneMask, places: &[Place; WARP]) {
    let n = spec.bytes as usize;
    for lane in lanes.iter() {
        let (_, address) = places[lane];
        let (written, offset) = worker.shared_written_mut(address - window::SHARED);
        if !written.access(offset, n, spec.kind == AccessKind::Write) {
            worker.note_unwritten(lane, address, spec.bytes);
        }
    }
}

fn report_access(worker: &mut Worker<'_>, spec: &AccessSpec<'_>, lane: usize, address: u64, space: MemSpace) {
    worker.access.serial += 1;
    let by = (worker.job.instr_at(spec.pc), worker.warp.index, LaneMask::of(lane));
    let base = if space == MemSpace::Shared { address - window::SHARED } else { address };
    let runs = [ByteRun { start: 0, bytes: spec.bytes }];
    let touch = Touch::of_lanes(spec.mark(), by, base, &runs, worker.access.serial);
    let touch = Touch { strong: spec.order.is_strong(), ..touch };
    match space {
        MemSpace::Shared => {
            if let Some(races) = &mut worker.checks.shared_races {
                races.access(&touch, &mut worker.block.collector);
            }
        }
        MemSpace::Global => {
            if spec.order.is_strong()
                && let Some(clocks) = worker.checks.clocks()
            {
                clocks.strong_access(spec.mark(), worker.warp.index);
            }
            if let Some(races) = &mut worker.checks.global_races {
                races.access(&touch, &mut worker.block.collector);
            }
        }
        _ => {}
    }
}

fn count(worker: &mut Worker<'_>, spec: &AccessSpec<'_>, good: LaneMask, places: &[Place; WARP]) {
    let lanes_in = |space: MemSpace| good.filter(|lane| places[lane].0 == space);
    let of = |mask: LaneMask| std::array::from_fn(|lane| mask.contains(lane).then_some(places[lane].1));
    let memo = &mut worker.access.memos[spec.memo];
    let (direction, merge, atomic) = (memo.direction, memo.merge, memo.atomic);
    let tally = &mut memo.tally;
    let (global, shared) = (lanes_in(MemSpace::Global), lanes_in(MemSpace::Shared));
    if !global.is_empty() && spec.space == MemSpace::Const {
        tally.constant_requests += 1;
    } else if !global.is_empty() {
        tally.count_global(&of(global), spec.bytes, atomic);
    }
    if !shared.is_empty()
        && let Some(form) = atomic
    {
        let cost = rules::shared_atomic_cost(&of(shared), spec.bytes, form);
        tally.count_atomic(&cost, shared.count());
    } else if !shared.is_empty() {
        let cost = rules::shared_cost(&of(shared), spec.bytes, direction);
        tally.shared_requests += 1;
        tally.shared_lanes += u64::from(shared.count());
        tally.wavefronts += u64::from(cost.wavefronts);
        tally.ideal += u64::from(cost.ideal);
        let merged = match merge {
            Merge::Alone => Some(cost),
            Merge::Leads { bytes, back } => {
                let starts = of(shared).map(|a: Option<u64>| a.map(|a| a.wrapping_sub(u64::from(back))));
                Some(rules::shared_cost(&starts, u32::from(bytes), direction))
            }
            Merge::Follows => None,
        };
        if let Some(cost) = merged {
            tally.merged_requests += 1;
            tally.merged_wavefronts += u64::from(cost.wavefronts);
            tally.merged_ideal += u64::from(cost.ideal);
        }
    }
    let local = lanes_in(MemSpace::Local);
    if !local.is_empty() {
        tally.local_requests += 1;
        tally.local_lanes += u64::from(local.count());
    }
    if !lanes_in(MemSpace::Param).is_empty() {
        tally.constant_requests += 1;
    }
}

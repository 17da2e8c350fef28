//! The state of one worker thread, in four parts: the block that it runs, the context of the running warp, the memos
//! of memory instructions, and the state of the checks. The modules above add the operations.

use std::collections::BTreeSet;

use crate::check::race::{BlockRaces, GlobalRaces, SharedRaces, WarpClocks};
use crate::check::{Mistake, MistakeDetails};
use crate::lane_mask::LaneMask;
use arithmetic::lanes::{CpuLevel, Dst, Lanes, Src, WARP};
use program::limits::MISTAKE_COST;

use crate::exec::block::{Block, local_stride};
use crate::exec::fiber::Fiber;
use crate::exec::launch_job::{Counts, LaunchJob};
use crate::exec::memo::Memo;
use crate::exec::{block::shadow::Shadow, block::unwritten::Fresh};

pub(crate) struct Worker<'j> {
    pub(crate) job: &'j LaunchJob<'j>,
    pub(crate) block: Box<Block>,
    pub(crate) warp: WarpContext,
    pub(crate) access: AccessState<'j>,
    pub(crate) checks: CheckState,
    pub(crate) counts: Counts,
    pub(crate) activity: Activity,
    /// Thread-instructions of the block so far.
    pub(crate) spent: u64,
    /// Whether the block cannot continue.
    pub(crate) stopped: bool,
    /// The acting thread's own block, while a thread acts on another block of its cluster, which is in `block` then.
    pub(crate) acting: Option<Acting>,
    /// Number of blocks that have ended, where all others poll memory that does not change, as far as that is known.
    pub(crate) others_wait: Option<u64>,
    /// Positions of the operations that a warp runs, where these are collected.
    pub(crate) executed_pcs: Option<BTreeSet<u32>>,
}

pub(crate) struct WarpContext {
    /// Registers of the warp.
    pub(crate) lanes: Lanes,
    pub(crate) index: u32,
    /// Lanes that have not exited.
    pub(crate) live: LaneMask,
    /// The running fiber, taken out of the block.
    pub(crate) fiber: Fiber,
    /// Operations left of the warp's turn.
    pub(crate) left: i64,
    /// Operations that were left when the running fiber began.
    pub(crate) turn_start: i64,
    /// Whether the warp has asynchronous products (`wgmma`) in flight.
    pub(crate) in_flight: bool,
}

impl WarpContext {
    /// Returns the linear index in the block of a lane's thread.
    pub(crate) fn thread_of(&self, lane: usize) -> u32 {
        self.index * WARP as u32 + lane as u32
    }
}

/// Cached state of memory instructions, which makes their next accesses cheaper.
pub(crate) struct AccessState<'j> {
    pub(crate) memos: Vec<Memo<'j>>,
    /// Number of the last access pattern that a memo learnt.
    pub(crate) serial: u64,
    /// Host addresses of an access that was looked up lane by lane. Boxed, to keep the other fields close together.
    pub(crate) pointers: Box<[*mut u8; 32]>,
}

/// Events of a turn from which the scheduler decides who runs next.
#[derive(Default)]
pub(crate) struct Activity {
    /// Whether memory changed or lanes exited, so that polling warps may continue.
    pub(crate) progress: bool,
    /// Whether the visit to the block did something other than polling.
    pub(crate) moved: bool,
    /// Whether the turn polled memory, a phase or a clock.
    pub(crate) polled: bool,
    /// Whether nothing has changed for some turns, so that values of strong loads go to the block's poll cache.
    pub(crate) caches_polls: bool,
}

/// Checks of the running warp and of the block, beside its [`Block::collector`].
pub(crate) struct CheckState {
    /// Undefined registers of the running warp.
    pub(crate) shadow: Shadow,
    /// Unwritten bytes that the last access read.
    pub(crate) fresh: Box<Fresh>,
    pub(crate) shared_races: Option<SharedRaces>,
    pub(crate) global_races: Option<BlockRaces>,
    /// Whether a product (`wgmma`) may follow a write of its registers without a `wgmma.fence` between them.
    pub(crate) checks_fences: bool,
}

impl CheckState {
    /// Returns the clocks of the block's warps, where they are kept.
    pub(crate) fn clocks(&mut self) -> Option<&mut WarpClocks> {
        self.shared_races.as_mut()?.clocks.as_deref_mut()
    }
}

/// A thread acts on another block, which is in [`Worker::block`] meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acting {
    /// Index and rank of the thread's own block.
    pub(crate) block: u64,
    pub(crate) rank: u32,
}

impl<'j> Worker<'j> {
    pub(crate) fn new(job: &'j LaunchJob<'j>, memos: Vec<Memo<'j>>, global_races: Option<&GlobalRaces>) -> Self {
        let kernel = job.kernel;
        let checks = job.check_level.checks();
        let in_flight = kernel.in_flight.as_ref();
        Self {
            job,
            block: Box::new(Block::new(job)),
            warp: WarpContext {
                lanes: Lanes {
                    regs: std::ptr::null_mut(),
                    consts: kernel.consts.as_ptr(),
                    preds: std::ptr::null_mut(),
                },
                index: 0,
                live: LaneMask::EMPTY,
                fiber: Fiber::default(),
                left: 0,
                turn_start: 0,
                in_flight: false,
            },
            access: AccessState { memos, serial: 0, pointers: Box::new([std::ptr::null_mut(); 32]) },
            checks: CheckState {
                shadow: Shadow::default(),
                fresh: Box::default(),
                shared_races: (checks && job.shared_bytes > 0 && job.cluster_blocks == 1)
                    .then(|| SharedRaces::new(kernel)),
                global_races: global_races.map(|all| BlockRaces::new(kernel, all)),
                checks_fences: checks && in_flight.is_some_and(|known| known.unfenced.is_some()),
            },
            counts: Counts::new(if job.check_level.counts() { kernel.ops.len() } else { 0 }),
            activity: Activity::default(),
            spent: 0,
            stopped: false,
            acting: None,
            others_wait: None,
            executed_pcs: None,
        }
    }

    /// Returns whether the running warp needs [`crate::exec::run_mode::General`]: an observer receives its steps, its
    /// products are in flight, values of its registers are undefined, fences are checked, or the CPU has none of the
    /// vector instructions that the other variants are compiled for.
    #[inline(always)]
    pub(crate) fn needs_general_loop(&self) -> bool {
        cfg!(not(vectors = "base")) && self.job.level == CpuLevel::Baseline
            || self.warp.in_flight
            || self.checks.checks_fences
            || self.job.environment.observer.is_some()
            || self.executed_pcs.is_some()
            || !self.checks.shadow.is_clean()
    }

    #[inline(always)]
    pub(crate) fn u32s(&self, src: Src) -> [u32; 32] {
        // SAFETY: decode keeps operands in range, which `decode::passes::validate` has established.
        unsafe { (*self.warp.lanes.source(src)).0 }
    }

    #[inline(always)]
    pub(crate) fn u32_at(&self, src: Src, lane: usize) -> u32 {
        // SAFETY: `decode::passes::validate` has established that operands are in range; `lane & 31` is below 32.
        unsafe { *self.warp.lanes.source(src).cast::<u32>().add(lane & 31) }
    }

    #[inline(always)]
    pub(crate) fn u64_at(&self, src: Src, lane: usize) -> u64 {
        // SAFETY: `decode::passes::validate` has established that 64-bit operands are two lines, both in range;
        // `lane & 31` is below 32.
        unsafe { *self.warp.lanes.source(src).cast::<u64>().add(lane & 31) }
    }

    #[inline(always)]
    pub(crate) fn out32(&mut self, dst: u32) -> &mut [u32; 32] {
        // SAFETY: `decode::passes::validate` has established that registers are in range; this worker owns their block.
        unsafe { &mut (*self.warp.lanes.regs.add(dst as usize)).0 }
    }

    #[inline(always)]
    pub(crate) fn out64(&mut self, dst: u32) -> &mut [u64; 32] {
        // SAFETY: `decode::passes::validate` found the lines in range; they belong to the block that this worker owns.
        unsafe { &mut *self.warp.lanes.regs.add(dst as usize).cast::<[u64; 32]>() }
    }

    #[inline(always)]
    pub(crate) fn set32(&mut self, dst: Option<Dst>, lane: usize, value: u32) {
        if let Some(dst) = dst {
            self.out32(dst)[lane & 31] = value;
        }
    }

    /// Sets one lane of a register of 8 bytes or fewer, if there is one.
    #[inline(always)]
    pub(crate) fn set_lane(&mut self, dst: Option<Dst>, wide: bool, lane: usize, value: u64) {
        match dst {
            Some(dst) if wide => self.out64(dst)[lane & 31] = value,
            Some(dst) => self.out32(dst)[lane & 31] = value as u32,
            None => {}
        }
    }

    #[inline(always)]
    pub(crate) fn pred(&self, index: u32) -> LaneMask {
        // SAFETY: `decode::passes::validate` has established that predicates are in range.
        LaneMask::from_bits(unsafe { *self.warp.lanes.preds.add(index as usize) })
    }

    #[inline(always)]
    pub(crate) fn set_pred(&mut self, index: u32, value: LaneMask, lanes: LaneMask) {
        // SAFETY: `decode::passes::validate` has established that predicates are in range; the worker owns their block.
        unsafe {
            let p = self.warp.lanes.preds.add(index as usize);
            *p = (LaneMask::from_bits(*p) & !lanes | value & lanes).bits();
        }
    }

    /// Records a mistake at operation `pc`. A checked launch goes on; otherwise the block stops.
    #[cold]
    pub(crate) fn record_mistake(&mut self, pc: u32, mask: LaneMask, details: MistakeDetails) {
        self.record_mistake_at(self.job.instr_at(pc), mask, details);
    }

    pub(crate) fn record_mistake_at(&mut self, instr: u32, mask: LaneMask, details: MistakeDetails) {
        if self.stopped && !self.job.check_level.checks() {
            return;
        }
        let block = self.acting.map_or(self.block.index, |acting| acting.block);
        let warp = self.warp.index;
        self.spent += MISTAKE_COST;
        self.block.collector.record(Mistake { instr, block, warp, mask, details });
        self.stopped |= !self.job.check_level.checks();
    }

    /// Records a mistake of a warp of the block, whichever is running.
    pub(crate) fn record_mistake_of(&mut self, warp: u32, instr: u32, mask: LaneMask, details: MistakeDetails) {
        let running = std::mem::replace(&mut self.warp.index, warp);
        self.record_mistake_at(instr, mask, details);
        self.warp.index = running;
    }

    /// Records a mistake that ends the block, checked or not.
    #[cold]
    pub(crate) fn fatal(&mut self, pc: u32, mask: LaneMask, details: MistakeDetails) {
        self.record_mistake(pc, mask, details);
        self.stopped = true;
        self.block.fatal = true;
    }

    /// Returns the start of a lane's local memory.
    pub(crate) fn local_offset(&self, lane: usize) -> usize {
        self.warp.thread_of(lane) as usize * local_stride(self.job)
    }
}

/// Notifies the race checks of both memory spaces, if they are on: `notify_races!(checks, interval.enter(warp))`.
macro_rules! notify_races {
    ($checks:expr, $($call:tt)+) => {
        if let Some(races) = &mut $checks.shared_races {
            races.$($call)+;
        }
        if let Some(races) = &mut $checks.global_races {
            races.$($call)+;
        }
    };
}
pub(crate) use notify_races;

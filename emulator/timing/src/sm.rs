//! One SM: four schedulers, the units that they share, and the blocks that run one after another.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::asynchronous::{Barriers, Woken};
use crate::bound::{Busy, Resource};
use crate::chip::{Chip, width};
use crate::instruction::{Instruction, SCOREBOARDS, Unit};
use crate::issue::{Issue, SCHEDULERS};
use crate::memory::{LINE_BYTES, Memory, lines};
use crate::stall::{Reason, Stalls};
use crate::timeline::{Transfer, Work};
use crate::trace::{Access, AccessOrigin, Block, Event, SECTOR, Trace};
use crate::{ports::Ports, reach::Reach};

/// Clock of an event that has no time yet.
const NEVER: u64 = u64::MAX;

/// Groups of copies that a wait can leave, and one more: what `DEPBAR` has bits for.
const GROUPS: usize = 64;

/// Results of a simulation of one SM.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Clocks from the start of the first block to the end of the last.
    pub clocks: u64,
    /// Clock at which a warp first waited for the launch before this one to end; `None` where none does.
    pub prologue: Option<u64>,
    /// Clock at which each block ended, in the order of the simulated blocks.
    pub ends: Vec<u64>,
    /// Warps wait that nothing will wake.
    pub is_stuck: bool,
    /// Stalls of warps, by index of the instruction.
    pub stalls: Vec<Stalls>,
    /// Clocks that each unit was busy.
    pub busy: Busy,
    /// Instructions issued within [`Setting::window`], by scheduler.
    pub issues: [Vec<Issue>; SCHEDULERS],
    /// Work within the window that goes on beside instructions.
    pub work: Work,
}

/// The launch around the simulated blocks.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// Blocks that the SM runs at a time.
    pub resident: usize,
    /// Bytes of shared memory of these blocks together.
    pub shared: u64,
    /// SMs that have work and share L2 and device memory.
    pub active_sms: u32,
    /// Blocks of these SMs on average, as a part of this one's.
    pub load: f64,
    /// The part of the GPU's SMs that have as many blocks as this one when it runs a block, by simulated block.
    pub beside: &'a [f64],
    /// Accesses that go to device memory.
    pub reach: &'a Reach,
    /// Clocks recorded in [`Outcome::issues`] and [`Outcome::work`]; `None` records nothing.
    pub window: Option<Range<u64>>,
}

/// Replays the traces of `blocks` on one SM, which starts them in this order, as many at a time as are resident.
/// `program` holds the instructions to which the traces refer.
pub fn simulate(chip: &Chip, program: &[Instruction], blocks: &[&Block], setting: Setting<'_>) -> Outcome {
    let mut sm = Sm::new(chip, program, blocks, setting);
    for _ in 0..sm.resident {
        sm.launch(0);
    }
    sm.run();
    Outcome {
        clocks: sm.last,
        prologue: sm.prologue,
        ends: sm.ends,
        is_stuck: sm.residences.iter().any(|residence| residence.live > 0),
        stalls: sm.stalls,
        busy: sm.busy,
        issues: sm.schedulers.map(|scheduler| scheduler.issues),
        work: sm.work,
    }
}

/// A warp that has been launched.
struct Warp<'a> {
    /// Index of its block among the simulated ones.
    block: usize,
    trace: &'a Trace,
    next_step: usize,
    /// Earliest issue of the next step, as far as the warp itself decides; [`NEVER`] at a barrier and after the end.
    ready: u64,
    /// The warp waits at the barrier of all warps of the block.
    meets: bool,
    /// Reason for which the warp may not issue before `ready`.
    reason: Reason,
    /// Clock at which the previous instruction was issued.
    issued: u64,
    /// Stall count of the previous instruction, in clocks.
    stall: u64,
    /// Clock until which the unit or its queue is busy, set by the scheduler when it passes over the warp for that.
    blocked: Cell<u64>,
    /// Clock at which each scoreboard is released, and the reason to wait for it.
    scoreboards: [(u64, Reason); SCOREBOARDS],
    /// Clock at which the copies so far have arrived, and the same for each of the groups that were ended.
    copied: u64,
    groups: VecDeque<u64>,
    /// Clock at which the tensor core is done with the products so far; that at which each group's sums are there.
    multiplied: u64,
    products: VecDeque<u64>,
    /// Clock at which it knows that all it has stored has arrived.
    stored: u64,
    /// Phases of the cluster's barrier in which it has arrived.
    cluster_phases: u32,
    /// Bytes outside of the matrix of the last box that each instruction copied.
    outside: BTreeMap<u32, u32>,
}

impl Warp<'_> {
    /// Waits until at most so many groups of copies, or of products, are left.
    fn wait_for_groups(&mut self, unit: Unit, pending: usize) {
        let (groups, reason) = match unit {
            Unit::ProductWait => (&self.products, Reason::Short),
            _ => (&self.groups, Reason::Global),
        };
        let awaited = groups.len().saturating_sub(pending);
        let arrival = awaited.checked_sub(1).and_then(|last| groups.get(last)).copied().unwrap_or(0);
        if arrival > self.ready {
            (self.ready, self.reason) = (arrival, reason);
        }
    }

    fn origin(&self) -> AccessOrigin {
        AccessOrigin {
            instruction: self.trace.steps[self.next_step].instruction,
            step: self.next_step,
            block: self.block,
        }
    }
}

/// A block that has been launched.
#[derive(Default)]
struct Residence {
    /// Index of its first warp.
    first: usize,
    /// Indices of the warps that have not ended.
    warps: Vec<usize>,
    /// Number of these warps.
    live: usize,
    /// Number of warps that wait at the barrier.
    arrived: usize,
    /// Time at which the barrier has registered all arrivals.
    barrier: u64,
    barriers: Barriers,
}

/// One of the four schedulers, with the parts of its subcore.
#[derive(Default)]
struct Scheduler {
    /// Indices of its warps that have not ended, the youngest last.
    warps: Vec<usize>,
    /// The warp that issued last.
    last: Option<usize>,
    /// Whether that instruction yielded to other warps.
    yielded: bool,
    /// Earliest clock of the next issue, as far as the register ports decide.
    free: u64,
    /// Clock before which no warp can issue.
    wake: u64,
    /// Clock from which on each unit takes its next instruction.
    units: [u64; Unit::N],
    /// Time at which the address unit takes the next request.
    addresses: f64,
    /// Times at which the first wavefront of each waiting request passes.
    queue: VecDeque<u64>,
    /// Time at which the tensor core takes the next product.
    tensor: f64,
    ports: Ports,
    /// Tenths of issue clocks that writing back wide loads has taken from arithmetic and that are still to be paid.
    stolen_tenths: u64,
    /// Replay of the same instructions in the same order, in which only issue and the ports of the registers take time.
    alone: Alone,
    /// Instructions issued within the window.
    issues: Vec<Issue>,
}

/// The ports of the registers in isolation.
#[derive(Default)]
struct Alone {
    ports: Ports,
    now: u64,
}

struct Sm<'a> {
    chip: &'a Chip,
    /// Instructions of the kernel, to which the steps of traces refer by index.
    program: &'a [Instruction],
    /// Blocks to run, in the order in which they start.
    blocks: &'a [&'a Block],
    next_block: usize,
    /// Number of warps launched so far, which go to the schedulers in turn.
    next_slot: usize,
    /// Clock at which the GPU can start the SM's next block.
    launcher: u64,
    warps: Vec<Warp<'a>>,
    residences: Vec<Residence>,
    schedulers: [Scheduler; SCHEDULERS],
    /// Time at which the unit for shared memory and L1 takes the next wavefront.
    lsu: u64,
    /// Whether the last access was to shared memory: a change costs clocks.
    was_shared: bool,
    /// Clock at which the unit for constants takes the next load.
    constants: u64,
    /// Time at which the unit that copies boxes takes the next one.
    boxes: f64,
    /// Time at which the way to other blocks of the cluster takes the next wavefront.
    remote: f64,
    /// L1, and the paths to L2 and device memory.
    memory: Memory<'a>,
    beside: &'a [f64],
    /// Blocks that run at a time.
    resident: usize,
    /// With the window in which instructions are recorded, too.
    work: Work,
    busy: Busy,
    /// Clock at which the last warp ended so far.
    last: u64,
    /// Clock of the first wait for the launch before.
    prologue: Option<u64>,
    ends: Vec<u64>,
    stalls: Vec<Stalls>,
}

impl<'a> Sm<'a> {
    fn new(chip: &'a Chip, program: &'a [Instruction], blocks: &'a [&'a Block], setting: Setting<'a>) -> Self {
        let active = f64::from(setting.active_sms.clamp(1, chip.sms)) / f64::from(chip.sms);
        let resident = setting.resident.max(1);
        let warps = blocks.iter().take(resident).map(|block| block.warps.len()).sum();
        Self {
            chip,
            program,
            blocks,
            next_block: 0,
            next_slot: 0,
            launcher: 0,
            warps: Vec::new(),
            residences: Vec::new(),
            schedulers: Default::default(),
            lsu: 0,
            was_shared: false,
            constants: 0,
            boxes: 0.0,
            remote: 0.0,
            memory: Memory::new(chip, setting.reach, active, setting.load, setting.shared, warps),
            beside: setting.beside,
            resident,
            work: Work { window: setting.window, ..Work::default() },
            busy: Busy::default(),
            last: 0,
            prologue: None,
            ends: vec![0; blocks.len()],
            stalls: vec![Stalls::default(); program.len()],
        }
    }

    /// Starts the next block, if there is one. The GPU starts blocks one after another, for all SMs.
    fn launch(&mut self, now: u64) {
        let blocks = self.blocks;
        let Some(block) = blocks.get(self.next_block) else { return };
        let block_index = self.next_block;
        self.next_block += 1;
        // A block that replaces another starts some time after the other's end.
        let gap = if now == 0 { 0 } else { self.chip.block_gap };
        let start = (now + gap).max(self.launcher);
        let all_sms = self.chip.block_ns * self.chip.ghz * f64::from(self.chip.sms);
        let warps = self.chip.warp_start * block.warps.len() as f64;
        let clocks = all_sms.max(warps);
        self.busy[Resource::Blocks as usize] += clocks;
        self.launcher = start + clocks as u64;
        let mut residence = Residence { first: self.warps.len(), ..Residence::default() };
        for trace in &block.warps {
            let warp_index = self.warps.len();
            self.warps.push(Warp {
                block: block_index,
                trace,
                next_step: 0,
                ready: start,
                reason: Reason::Fixed,
                issued: start,
                stall: 0,
                blocked: Cell::new(0),
                scoreboards: [(0, Reason::Fixed); SCOREBOARDS],
                meets: false,
                copied: 0,
                groups: VecDeque::new(),
                multiplied: 0,
                products: VecDeque::new(),
                stored: 0,
                cluster_phases: 0,
                outside: BTreeMap::new(),
            });
            let scheduler = &mut self.schedulers[self.next_slot % SCHEDULERS];
            self.next_slot += 1;
            if trace.steps.is_empty() {
                continue;
            }
            residence.live += 1;
            residence.warps.push(warp_index);
            scheduler.warps.push(warp_index);
            scheduler.wake = scheduler.wake.min(start);
        }
        let is_empty = residence.live == 0;
        self.residences.push(residence);
        if is_empty {
            self.ends[block_index] = start;
            self.launch(start);
        }
    }

    /// Simulates clock after clock until no scheduler has a warp that can ever issue.
    fn run(&mut self) {
        loop {
            let now = self.schedulers.iter().map(|s| s.wake).min().unwrap_or(NEVER);
            if now == NEVER {
                return;
            }
            for i in 0..SCHEDULERS {
                let scheduler_index = (i + now as usize) % SCHEDULERS;
                if self.schedulers[scheduler_index].wake <= now {
                    self.turn(scheduler_index, now);
                }
            }
        }
    }

    /// Simulates one clock of a scheduler.
    fn turn(&mut self, scheduler_index: usize, now: u64) {
        let scheduler = &self.schedulers[scheduler_index];
        if scheduler.free > now {
            self.schedulers[scheduler_index].wake = scheduler.free;
            return;
        }
        let mut wake = NEVER;
        let mut chosen = None;
        // The warp that issued last, unless it yielded; then the youngest.
        let greedy = scheduler.last.filter(|_| !scheduler.yielded);
        let others = scheduler.warps.iter().rev().copied();
        for warp_index in greedy.into_iter().chain(others) {
            let when = self.earliest(scheduler, warp_index, now);
            if when <= now {
                chosen = Some(warp_index);
                break;
            }
            wake = wake.min(when);
        }
        match chosen {
            Some(warp_index) => self.issue(scheduler_index, warp_index, now),
            None => self.schedulers[scheduler_index].wake = wake,
        }
    }

    /// Computes the earliest clock at which a warp may issue, as known now. Records in the warp if its unit is busy.
    fn earliest(&self, scheduler: &Scheduler, warp_index: usize, now: u64) -> u64 {
        let warp = &self.warps[warp_index];
        if warp.ready > now {
            return warp.ready;
        }
        let unit = self.instruction(warp).unit;
        let mut when = scheduler.units[unit as usize];
        match unit {
            Unit::LoadConstant => when = when.max(self.constants.saturating_sub(self.chip.load_constant)),
            Unit::LoadShared | Unit::StoreShared | Unit::LoadGlobal | Unit::StoreGlobal | Unit::Copy => {
                let waiting = scheduler.queue.iter().filter(|&&leaves| leaves > now);
                if waiting.clone().count() as u64 >= self.chip.queue {
                    when = when.max(waiting.copied().min().unwrap_or(now));
                }
                if unit == Unit::StoreGlobal {
                    when = when.max(self.memory.takes_store());
                }
            }
            _ => {}
        }
        if when > now {
            warp.blocked.set(when);
        }
        when
    }

    fn instruction(&self, warp: &Warp<'_>) -> &'a Instruction {
        &self.program[warp.trace.steps[warp.next_step].instruction as usize]
    }

    fn issue(&mut self, scheduler_index: usize, warp_index: usize, now: u64) {
        let chip = self.chip;
        let warp = &self.warps[warp_index];
        let step = warp.trace.steps[warp.next_step];
        let instruction = self.instruction(warp);
        self.account(scheduler_index, warp_index, now);
        let (unit, control) = (instruction.unit, instruction.control);
        if instruction.awaits_launch {
            self.prologue.get_or_insert(now);
        }

        let scheduler = &mut self.schedulers[scheduler_index];
        scheduler.free = scheduler.ports.read(instruction, warp_index as u32, now, chip.port_slack);
        let is_arithmetic = matches!(unit, Unit::Fma | Unit::IntegerFma | Unit::Alu);
        if is_arithmetic && scheduler.stolen_tenths >= 10 {
            scheduler.stolen_tenths -= 10;
            scheduler.free += 1;
        }
        let of_all = 1.0 / SCHEDULERS as f64;
        let alone = &mut scheduler.alone;
        let free = alone.ports.read(instruction, warp_index as u32, alone.now, chip.port_slack);
        self.busy[Resource::Registers as usize] += (free - alone.now) as f64 * of_all;
        alone.now = free;
        let clocks = match unit {
            Unit::Fma => chip.fma,
            Unit::IntegerFma => chip.integer_fma,
            Unit::Alu | Unit::Branch => chip.alu,
            Unit::Double => chip.double,
            Unit::Special | Unit::Slow => chip.special,
            Unit::Uniform => chip.uniform,
            Unit::SharedBarrier => chip.phase_issue,
            Unit::WarpProduct if instruction.depth < 32 => chip.short_warp_product,
            Unit::WarpProduct => chip.warp_product,
            _ => 1,
        };
        scheduler.units[unit as usize] = now + clocks;
        if unit == Unit::WarpProduct {
            self.work.product(scheduler_index, now..now + clocks);
        }
        self.busy[Resource::Issue as usize] += of_all;
        if let Some(resource) = unit.resource() {
            self.busy[resource as usize] += clocks as f64 * of_all;
        }
        scheduler.last = Some(warp_index);
        scheduler.yielded = control.yields;

        let (read, written, reason) = self.execute(scheduler_index, warp_index, instruction, step.access, now);
        let warp = &mut self.warps[warp_index];
        let mut hold = |barrier: Option<u8>, until: u64, reason| {
            if let Some(slot) = barrier.and_then(|b| warp.scoreboards.get_mut(usize::from(b)))
                && slot.0 < until
            {
                *slot = (until, reason);
            }
        };
        hold(control.read_barrier, read, Reason::Short);
        hold(control.write_barrier, written, reason);
        warp.issued = now;
        warp.stall = u64::from(control.stall).max(1);
        warp.next_step += 1;
        let is_over = warp.next_step == warp.trace.steps.len();
        match (unit, step.access) {
            (Unit::SharedBarrier | Unit::BoxCopy | Unit::Barrier, Access::Events { .. }) => {
                if !is_over {
                    self.prepare(warp_index, now);
                }
                self.happen(warp_index, step.access, now);
            }
            (Unit::ClusterArrive | Unit::ClusterWait, Access::None) if !is_over => {
                self.prepare(warp_index, now);
                self.meet_in_cluster(warp_index, unit, now);
            }
            _ if is_over => {}
            (Unit::Barrier, Access::None) => self.arrive(warp_index, now),
            _ => {
                self.prepare(warp_index, now);
                let warp = &mut self.warps[warp_index];
                match unit {
                    Unit::CopyWait | Unit::ProductWait => warp.wait_for_groups(unit, instruction.pending.into()),
                    Unit::Fence => (warp.ready, warp.reason) = (warp.stored.max(now) + chip.fence, Reason::Global),
                    _ => {}
                }
            }
        }
        if is_over {
            self.end(scheduler_index, warp_index, now);
        }
        let scheduler = &mut self.schedulers[scheduler_index];
        scheduler.wake = scheduler.free;
        if scheduler.warps.is_empty() {
            scheduler.wake = NEVER;
        }
    }

    /// Computes when the next step of a warp may issue.
    fn prepare(&mut self, warp_index: usize, now: u64) {
        let wait = self.instruction(&self.warps[warp_index]).control.wait;
        let warp = &mut self.warps[warp_index];
        warp.ready = now + warp.stall;
        warp.reason = Reason::Fixed;
        for (i, &(until, reason)) in warp.scoreboards.iter().enumerate() {
            if wait >> i & 1 == 1 && until > warp.ready {
                (warp.ready, warp.reason) = (until, reason);
            }
        }
    }

    /// Simulates the units. Returns when the operands are read and the result is available, and the reason to wait.
    fn execute(
        &mut self, scheduler_index: usize, warp_index: usize, instruction: &Instruction, access: Access, now: u64,
    ) -> (u64, u64, Reason) {
        let chip = self.chip;
        let lanes = width(instruction.bytes);
        let scheduler = &mut self.schedulers[scheduler_index];
        // The address unit of the subcore, then the wavefronts of the SM.
        let of_shared = matches!(access, Access::Shared { .. }) || instruction.bypasses;
        let mut enter = |issue: f64, wavefronts: u64| {
            let start = scheduler.addresses.max(now as f64);
            scheduler.addresses = start + issue.max((wavefronts * chip.scheduler_wavefront) as f64);
            let start = start as u64;
            while scheduler.queue.front().is_some_and(|&leaves| leaves <= now) {
                scheduler.queue.pop_front();
            }
            if std::mem::replace(&mut self.was_shared, of_shared) != of_shared {
                self.lsu += chip.lsu_switch;
                self.busy[Resource::SharedAndL1 as usize] += chip.lsu_switch as f64;
            }
            let first = start.max(self.lsu);
            scheduler.queue.push_back(first);
            self.lsu = first + wavefronts;
            let part = if of_shared { Resource::Shared } else { Resource::L1 };
            for resource in [part, Resource::SharedAndL1] {
                self.busy[resource as usize] += wavefronts as f64;
            }
            // A single scheduler does not keep the unit busy.
            let alone = start + wavefronts.saturating_sub(1) * chip.scheduler_wavefront + 1;
            self.lsu.max(alone)
        };
        match (instruction.unit, access) {
            (Unit::LoadShared | Unit::LoadGlobal, Access::Shared { wavefronts }) => {
                let wavefronts = u64::from(wavefronts).max(chip.fewest_shared[lanes]);
                let passed = enter(chip.load_shared_issue as f64, wavefronts);
                // `fewest_shared` makes the wavefronts of 16-byte lanes at least 2.
                if lanes == 2 && wavefronts <= 4 {
                    let tenths = chip.write_back_tenths[wavefronts as usize - 2];
                    scheduler.stolen_tenths += tenths;
                    self.busy[Resource::Registers as usize] += tenths as f64 / 10.0 / SCHEDULERS as f64;
                }
                (passed, passed + chip.shared_latency[lanes], Reason::Short)
            }
            (Unit::StoreShared | Unit::StoreGlobal, Access::Shared { wavefronts }) => {
                let passed = enter(chip.store_shared_issue[lanes] as f64, wavefronts.into());
                (passed, passed, Reason::Short)
            }
            (Unit::StoreShared | Unit::StoreGlobal, Access::Remote { wavefronts }) => {
                let passed = enter(chip.load_global_issue, wavefronts.into());
                self.remote = self.remote.max(passed as f64) + f64::from(wavefronts) * chip.remote_wavefront;
                let warp = &mut self.warps[warp_index];
                warp.stored = warp.stored.max(self.remote as u64 + chip.remote_store_latency);
                (passed, passed, Reason::Short)
            }
            (Unit::LoadGlobal, Access::Global { wavefronts, sectors, .. }) => {
                let wavefronts = u64::from(wavefronts).max(chip.fewest_global[lanes]);
                let passed = enter(chip.load_global_issue, wavefronts);
                let warp = &self.warps[warp_index];
                let sectors = warp.trace.sectors(sectors);
                let arrival = self.memory.fetch(sectors, warp.origin(), passed, true, &mut self.busy);
                (passed, arrival + chip.l1_latency[lanes], Reason::Global)
            }
            (Unit::StoreGlobal, Access::Global { wavefronts, sectors, is_whole }) => {
                let passed = enter(chip.load_global_issue, wavefronts.into());
                let warp = &self.warps[warp_index];
                let sectors = warp.trace.sectors(sectors);
                let active = self.memory.active;
                let left = self.memory.store(active, sectors, is_whole, warp.origin(), passed, &mut self.busy);
                let warp = &mut self.warps[warp_index];
                warp.stored = warp.stored.max(left + chip.store_latency);
                (passed, passed, Reason::Short)
            }
            (Unit::Copy, Access::Copy { passes, sectors, wavefronts }) => {
                // Past L1, data passes the banks once: when it arrives, and others have passed. What L1 keeps is read
                // from it, too.
                let past = if instruction.bypasses { 0 } else { u64::from(passes).max(chip.fewest_global[lanes]) };
                let passed = enter(chip.load_global_issue, past + u64::from(wavefronts));
                if past > 0 {
                    self.busy[Resource::L1 as usize] -= f64::from(wavefronts);
                    self.busy[Resource::Shared as usize] += f64::from(wavefronts);
                }
                let warp = &self.warps[warp_index];
                let (sectors, origin) = (warp.trace.sectors(sectors), warp.origin());
                let arrival = self.memory.fetch(sectors, origin, passed, !instruction.bypasses, &mut self.busy);
                let warp = &mut self.warps[warp_index];
                let end = arrival + chip.l1_latency[lanes] + u64::from(wavefronts);
                warp.copied = warp.copied.max(end);
                let (block, bytes) = (warp.block as u32, sectors.len() as u64 * SECTOR);
                self.work.transfer(Transfer {
                    block,
                    barrier: None,
                    unit: passed..passed,
                    end,
                    bytes,
                    is_store: false,
                });
                (passed, passed, Reason::Short)
            }
            (Unit::CopyGroup, _) => {
                let warp = &mut self.warps[warp_index];
                keep_group(&mut warp.groups, warp.copied);
                (now, now, Reason::Short)
            }
            (Unit::Product, _) => {
                let clocks = match instruction.columns {
                    0 => 0.0,
                    n => (f64::from(n) * chip.product_column).max(chip.product_least as f64),
                };
                scheduler.tensor = scheduler.tensor.max(now as f64) + clocks;
                self.busy[Resource::Tensor as usize] += clocks / SCHEDULERS as f64;
                // Four rows are as long as a wavefront, and each of the four warps executes the instruction.
                let wavefronts = f64::from(instruction.shared_rows) / 4.0 / SCHEDULERS as f64;
                for resource in [Resource::Shared, Resource::SharedAndL1] {
                    self.busy[resource as usize] += wavefronts;
                }
                let warp = &mut self.warps[warp_index];
                if clocks > 0.0 {
                    warp.multiplied = scheduler.tensor as u64;
                    self.work.product(scheduler_index, (scheduler.tensor - clocks) as u64..warp.multiplied);
                }
                if instruction.ends_group {
                    // One without products takes as long.
                    keep_group(&mut warp.products, warp.multiplied.max(now) + chip.product_latency);
                }
                (now, now, Reason::Short)
            }
            (Unit::SharedBarrier, _) => (now + chip.phase_issue, now + chip.phase_check, Reason::Short),
            (Unit::LoadConstant, _) => {
                let start = now.max(self.constants);
                self.constants = start + chip.load_constant;
                self.busy[Resource::Constants as usize] += chip.load_constant as f64;
                (start, start + chip.constant_latency, Reason::Short)
            }
            // `Chip` has no constant for the time at which a slow instruction has read its operands.
            _ => (now + 4, now + chip.slow_latency, Reason::Short),
        }
    }

    /// Simulates barriers in shared memory, of some warps, and copies of boxes.
    fn happen(&mut self, warp_index: usize, access: Access, now: u64) {
        let chip = self.chip;
        let Warp { block, trace, next_step, .. } = self.warps[warp_index];
        let step = next_step - 1;
        let origin = AccessOrigin { instruction: trace.steps[step].instruction, step, block };
        for &event in trace.events(access) {
            let barriers = &mut self.residences[block].barriers;
            let woken = match event {
                Event::Init { barrier, arrivals } => {
                    barriers.init(barrier, arrivals);
                    continue;
                }
                Event::Arrive { barrier, is_remote, arrivals, bytes } => {
                    // Blocks of a cluster are in step: what one does to another, the other does to it.
                    let remote = if is_remote { chip.remote_latency } else { 0 };
                    barriers.arrive(barrier, arrivals, bytes, now + remote)
                }
                Event::ArriveAfterCopies { barrier, arrivals } => {
                    let copied = self.warps[warp_index].copied;
                    barriers.arrive(barrier, arrivals, 0, copied.max(now))
                }
                Event::Wait { barrier, phases } => {
                    match barriers.wait(barrier, phases, warp_index) {
                        Some((ended, has_copies)) => self.resume(warp_index, ended + chip.phase_latency, has_copies),
                        None => self.warps[warp_index].ready = NEVER,
                    }
                    continue;
                }
                Event::Load { barrier, blocks, rows, bytes, inside, sectors } => {
                    let sectors = trace.sectors(sectors);
                    let start = self.copy_box(self.row_clocks(rows, inside, sectors), now);
                    let beside = self.active_beside(block);
                    let outside = self.outside_beside(warp_index, origin.instruction, bytes - inside);
                    self.memory.fill(beside, outside, start, &mut self.busy);
                    let arrival = self.memory.fetch_past_l1(beside, blocks, sectors, origin, start, &mut self.busy);
                    // Its last row is requested no earlier than the unit gets there.
                    let arrival = arrival.max(self.boxes as u64 + chip.l2_latency);
                    let bytes = u64::from(bytes) * u64::from(blocks);
                    self.work.transfer(Transfer {
                        block: block as u32,
                        barrier: Some(barrier),
                        unit: start..self.boxes as u64,
                        end: arrival,
                        bytes,
                        is_store: false,
                    });
                    self.residences[block].barriers.load(barrier, bytes, arrival)
                }
                Event::Store { rows, sectors } => {
                    let sectors = trace.sectors(sectors);
                    let start = self.copy_box(f64::from(rows) * self.chip.box_row, now);
                    let beside = self.active_beside(block);
                    let left = self.memory.store(beside, sectors, true, origin, start, &mut self.busy);
                    let read = left.max(self.boxes as u64);
                    let (unit, bytes) = (start..self.boxes as u64, sectors.len() as u64 * SECTOR);
                    let block = block as u32;
                    self.work.transfer(Transfer { block, barrier: None, unit, end: read, bytes, is_store: true });
                    let warp = &mut self.warps[warp_index];
                    warp.copied = warp.copied.max(read + chip.box_read);
                    continue;
                }
                Event::Meet { id, threads, waits } => {
                    let waiting = waits.then_some(warp_index);
                    if waits {
                        self.warps[warp_index].ready = NEVER;
                    }
                    if let Some((warps, when)) = barriers.meet(id, threads, waiting, now, chip.barrier_per_warp) {
                        for warp in warps {
                            self.release(warp, when + chip.barrier);
                        }
                    }
                    continue;
                }
            };
            self.wake(woken, chip.phase_latency);
        }
    }

    /// Returns the part of the GPU's SMs that have as many blocks as this one while it runs a block.
    fn active_beside(&self, block: usize) -> f64 {
        self.beside.get(block).copied().unwrap_or(1.0)
    }

    /// Returns those bytes of a box outside of the matrix that take time, as they do where all SMs copy such at a time.
    /// Blocks of the first round are in step. Later ones have drifted apart, and what only the last k of a tile has
    /// outside meets none of the others'; what box after box has does.
    fn outside_beside(&mut self, warp_index: usize, instruction: u32, outside: u32) -> u32 {
        let resident = self.resident;
        let warp = &mut self.warps[warp_index];
        let before = warp.outside.insert(instruction, outside).unwrap_or(0);
        if warp.block < resident { outside } else { outside.min(before) }
    }

    /// Returns the clocks of loading so many rows, which have `bytes` bytes in the matrix together.
    fn row_clocks(&self, rows: u16, bytes: u32, sectors: &[u64]) -> f64 {
        let rows = u32::from(rows);
        let n_lines = rows * (bytes / rows.max(1)).div_ceil(LINE_BYTES);
        let n_pieces = lines(sectors).count() as u32;
        let of_pieces = if n_pieces > n_lines { self.chip.box_piece * f64::from(n_pieces) } else { 0.0 };
        of_pieces.max(f64::from(rows) * self.chip.box_row)
    }

    /// Occupies the unit that copies boxes; returns the clock at which it requests the first row.
    fn copy_box(&mut self, clocks: f64, now: u64) -> u64 {
        let start = self.boxes.max(now as f64);
        self.boxes = start + clocks;
        self.busy[Resource::Boxes as usize] += clocks;
        start as u64
    }

    /// Simulates the barrier of the cluster.
    fn meet_in_cluster(&mut self, warp_index: usize, unit: Unit, now: u64) {
        let warp = &mut self.warps[warp_index];
        let residence = &mut self.residences[warp.block];
        if unit == Unit::ClusterArrive {
            warp.cluster_phases += 1;
            let woken = residence.barriers.arrive_in_cluster(residence.live, now, self.chip.barrier_per_warp);
            self.wake(woken, self.chip.cluster_barrier);
        } else {
            match residence.barriers.wait_for_cluster(warp.cluster_phases, warp_index) {
                Some(when) => self.resume(warp_index, when + self.chip.cluster_barrier, false),
                None => warp.ready = NEVER,
            }
        }
    }

    fn wake(&mut self, woken: Vec<Woken>, latency: u64) {
        for (warp_index, ended, has_copies) in woken {
            let issued = self.warps[warp_index].issued;
            self.prepare(warp_index, issued);
            self.resume(warp_index, ended + latency, has_copies);
        }
    }

    /// Lets a warp go on from a clock on, and no earlier than it could by itself.
    fn resume(&mut self, warp_index: usize, from: u64, has_copies: bool) {
        let warp = &mut self.warps[warp_index];
        if from > warp.ready {
            warp.ready = from;
            warp.reason = if has_copies { Reason::Global } else { Reason::Barrier };
        }
        let ready = warp.ready;
        self.wake_schedulers(ready);
    }

    /// Lets the schedulers look again for a warp that can issue from a clock on.
    fn wake_schedulers(&mut self, ready: u64) {
        for scheduler in &mut self.schedulers {
            scheduler.wake = scheduler.wake.min(ready.max(scheduler.free));
        }
    }

    /// Registers a warp at the barrier of its block.
    fn arrive(&mut self, warp_index: usize, now: u64) {
        let block_index = self.warps[warp_index].block;
        (self.warps[warp_index].ready, self.warps[warp_index].meets) = (NEVER, true);
        let residence = &mut self.residences[block_index];
        residence.arrived += 1;
        residence.barrier = residence.barrier.max(now) + self.chip.barrier_per_warp;
        self.complete(block_index);
    }

    /// Releases the warps of a block, if all that remain are at the barrier.
    fn complete(&mut self, block_index: usize) {
        let residence = &mut self.residences[block_index];
        if residence.arrived == 0 || residence.arrived < residence.live {
            return;
        }
        residence.arrived = 0;
        let release = residence.barrier + self.chip.barrier;
        for warp_index in residence.warps.clone() {
            if std::mem::take(&mut self.warps[warp_index].meets) {
                self.release(warp_index, release);
            }
        }
    }

    /// Lets a warp go on that has waited at a barrier until a clock.
    fn release(&mut self, warp_index: usize, when: u64) {
        self.prepare(warp_index, when);
        let warp = &mut self.warps[warp_index];
        if warp.reason == Reason::Fixed {
            (warp.ready, warp.reason) = (when, Reason::Barrier);
        }
        self.wake_schedulers(when);
    }

    /// Ends a warp, and with the last of its block the block.
    fn end(&mut self, scheduler_index: usize, warp_index: usize, now: u64) {
        let block_index = self.warps[warp_index].block;
        self.warps[warp_index].ready = NEVER;
        let scheduler = &mut self.schedulers[scheduler_index];
        scheduler.warps.retain(|&other| other != warp_index);
        scheduler.last = None;
        let residence = &mut self.residences[block_index];
        residence.live -= 1;
        residence.warps.retain(|&other| other != warp_index);
        self.last = self.last.max(now + 1);
        if residence.live == 0 {
            // The block's stores must be on their way.
            self.ends[block_index] = (now + 1).max(self.memory.takes_store());
            self.last = self.last.max(self.ends[block_index]);
            self.launch(self.ends[block_index]);
        } else {
            let live = residence.live;
            let woken = residence.barriers.meet_in_cluster(live);
            self.wake(woken, self.chip.cluster_barrier);
            self.complete(block_index);
        }
    }

    /// Attributes the clocks since the warp's last instruction.
    fn account(&mut self, scheduler_index: usize, warp_index: usize, now: u64) {
        let warp = &self.warps[warp_index];
        let index = warp.trace.steps[warp.next_step].instruction as usize;
        let unit = self.program[index].unit;
        let fixed = warp.stall.min(now - warp.issued);
        let waited = warp.ready.min(now).saturating_sub(warp.issued + fixed);
        let busy_until = self.schedulers[scheduler_index].units[unit as usize].max(warp.blocked.take());
        let busy = busy_until.saturating_sub(warp.ready).min(now - warp.ready.min(now));
        let rest = (now - warp.issued) - fixed - waited - busy;
        if self.work.window.as_ref().is_some_and(|window| window.contains(&now)) {
            let first = self.residences[warp.block].first;
            let waited = match (waited, busy) {
                (0, 0) if rest > 0 => Reason::NotSelected,
                (0, 0) => Reason::Fixed,
                (0, _) => Reason::Unit,
                _ => warp.reason,
            };
            self.schedulers[scheduler_index].issues.push(Issue {
                clock: now,
                block: warp.block as u32,
                warp: (warp_index - first) as u32,
                instruction: index as u32,
                waited,
            });
        }
        let stalls = &mut self.stalls[index];
        stalls.issued += 1;
        stalls.clocks[Reason::Fixed as usize] += fixed;
        stalls.clocks[warp.reason as usize] += waited;
        stalls.clocks[Reason::Unit as usize] += busy;
        stalls.clocks[Reason::NotSelected as usize] += rest;
    }
}

/// Ends a group that is complete at a clock.
fn keep_group(groups: &mut VecDeque<u64>, when: u64) {
    if groups.len() == GROUPS {
        groups.pop_front();
    }
    groups.push_back(when);
}

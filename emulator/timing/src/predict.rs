//! The time of a launch: some blocks of one SM run on the emulated GPU, and their traces are replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sass::operation::{Modifier, Operation};
use simt::check::coordinates;
use simt::launch::{LaunchRequest, block_of};
use simt::occupancy::{Footprint, Occupancy, occupancy, sms_of_clusters};
use simt::{gpu::Gpu, module::LoadedKernel};

use crate::bound::{Bound, bounds};
use crate::no_prediction::{NoPrediction, reason};
use crate::reach::{Reach, Waves, is_scattered};
use crate::recording::{Detail, MAX_STEPS, Recording};
use crate::sm::{Outcome, Setting, simulate};
use crate::stall::Stalls;
use crate::timeline::{Timeline, busiest_loop};
use crate::trace::{Access, Block, Step};
use crate::{
    chip::Chip,
    instruction::{Instruction, is_fence},
    memory::l1_beside,
};

/// Simulated rounds of long blocks: a first one, one in the middle, a last one.
const ROUNDS: u64 = 3;
/// Bound on instructions of warps in rounds after the first one.
const MORE_STEPS: u64 = 8_000_000;
/// The most blocks whose first boxes are looked up: those that follow are taken to have none.
const MOST_LISTED: u64 = 1024;
/// Simulated rounds of short blocks, and the bound on their instructions of warps.
const SHORT_ROUNDS: u64 = 16;
const SHORT_STEPS: u64 = 600_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Clocks of the SM with the most blocks.
    pub clocks: f64,
    /// Time in microseconds, launch overhead included.
    pub us: f64,
    /// Clock that the time is for, in GHz.
    pub ghz: f64,
    /// Blocks that fit on one SM, and the resource that limits them. A small grid may have fewer.
    pub occupancy: Occupancy,
    /// Least microseconds by each unit, slowest first; where far below [`Self::us`], warps wait for latencies.
    pub bounds: Vec<Bound>,
    /// Parts of units in `bounds`: issue without registers, shared memory, L1.
    pub parts: Vec<Bound>,
    pub n_simulated: u64,
    pub n_blocks: u64,
    /// Stalls of the simulated blocks, by instruction of the kernel.
    pub stalls: Vec<Stalls>,
}

/// Machine code, and the kernel as which an emulated GPU has loaded it.
#[derive(Clone, Copy)]
pub struct LoadedCode<'a> {
    pub code: &'a sass::CubinKernel,
    pub kernel: &'a LoadedKernel,
    pub gpu: &'a Gpu,
}

/// Predicts the time of a launch with warm caches, which hold what an equal launch before it left there. Only some
/// blocks run and store, so results in memory are incomplete.
pub fn predict(chip: &Chip, loaded: LoadedCode<'_>, request: &LaunchRequest) -> Result<Prediction, NoPrediction> {
    let launch = Launch::new(chip, loaded, request)?;
    Ok(launch.prediction(&launch.simulated(None)?))
}

/// Predicts as [`predict`], and records what one SM does during `clocks` clocks in the middle of the launch.
pub fn predict_with_timeline(
    chip: &Chip, loaded: LoadedCode<'_>, request: &LaunchRequest, clocks: u64,
) -> Result<(Prediction, Timeline), NoPrediction> {
    let launch = Launch::new(chip, loaded, request)?;
    let whole = launch.simulated(None)?.clocks;
    let first = (whole / 2).min(whole.saturating_sub(clocks));
    let window = first..first.saturating_add(clocks);
    let outcome = launch.simulated(Some(window.clone()))?;
    let timeline = Timeline {
        clocks: window,
        busiest_loop: busiest_loop(loaded.code, &outcome.stalls),
        schedulers: outcome.issues.clone(),
        work: outcome.work.clone(),
    };
    Ok((launch.prediction(&outcome), timeline))
}

/// A launch whose blocks have been recorded.
struct Launch {
    /// At the clock of the launch.
    chip: Chip,
    program: Vec<Instruction>,
    occupancy: Occupancy,
    /// Bytes of shared memory of the blocks on one SM.
    shared: u64,
    n_blocks: u64,
    /// SMs that can run its blocks.
    sms: u32,
    reach: Reach,
    sample: Sample,
    blocks: Vec<Block>,
    /// [`Setting::beside`].
    beside: Vec<f64>,
    /// Blocks start before the launch before has ended, and wait for that.
    begins_early: bool,
    /// Nanoseconds before the blocks and after them.
    around_ns: f64,
}

impl Launch {
    fn new(chip: &Chip, loaded: LoadedCode<'_>, request: &LaunchRequest) -> Result<Self, NoPrediction> {
        let LoadedCode { code, kernel, gpu } = loaded;
        let threads = request.block.iter().fold(1, |all: u32, &one| all.saturating_mul(one));
        let shared = u64::from(kernel.kernel().shared_static_bytes) + u64::from(request.dynamic_shared);
        let footprint = Footprint { threads, registers: code.registers, shared };
        let occupancy = occupancy(footprint);
        let resident = u64::from(occupancy.blocks);
        let n_warps = threads.div_ceil(32);
        let record = |blocks: &[(u64, u64)], detail| {
            let recording = Recording::of(blocks, n_warps, detail);
            let report = gpu.observe(kernel, request, &recording)?;
            if let Some(mistake) = report.mistakes.groups.first() {
                let code = format!("{:?}", mistake.first.code());
                return Err(NoPrediction::Fails { code });
            }
            recording.into_blocks().ok_or(NoPrediction::TooLong { most: MAX_STEPS })
        };
        let n_blocks: u64 = request.grid.iter().map(|&n| u64::from(n)).product();
        let order = Order::new(chip, kernel, request, footprint);
        let of_one_sm = n_blocks.div_ceil(order.sms.into());
        if resident == 0 && n_blocks > 0 {
            return Err(NoPrediction::DoesNotFit);
        }
        let first: Vec<u64> = (0..of_one_sm.min(resident)).collect();
        let clusters = record(&order.placed(&first, 0..order.ranks, resident), Detail::All)?;
        let (rank, mut blocks) = order.longest(&first, clusters);
        let steps_of_warps = blocks.iter().flat_map(|block| &block.warps).flat_map(|warp| &warp.steps);
        let numbers_of_executed: BTreeSet<u32> = steps_of_warps.map(|step| step.instruction).collect();
        let executed = || numbers_of_executed.iter().filter_map(|&i| code.instructions.get(i as usize));
        let mut refused = executed().filter_map(|i| Some((i.operation, reason(i)?)));
        if let Some((operation, why)) = refused.next() {
            return Err(NoPrediction::Instruction { operation, why });
        }
        let mut steps_of_warps = blocks.iter().flat_map(|block| &block.warps).flat_map(|warp| &warp.steps);
        let is_remote_load = |step: &&Step| {
            matches!(step.access, Access::Remote { .. }) && !stores(&code.instructions[step.instruction as usize])
        };
        if let Some(step) = steps_of_warps.find(is_remote_load) {
            let operation = code.instructions[step.instruction as usize].operation;
            return Err(NoPrediction::Instruction {
                operation,
                why: "the model has no time for loads from other blocks",
            });
        }
        // The barrier of a cluster comes with such fences, too.
        let in_cluster = executed().any(|i| i.operation == Operation::UcgabarWait);
        let orders = |&&i: &&u32| orders_blocks(&code.instructions, i as usize);
        if let Some(&fence) = numbers_of_executed.iter().find(orders).filter(|_| !in_cluster) {
            let fence = &code.instructions[fence as usize];
            return Err(NoPrediction::BlocksWait { operation: fence.operation });
        }
        let shared_of_sm = (shared + 1024) * resident;
        let l1 = l1_beside(chip, shared_of_sm);
        if is_scattered(&blocks, l1) {
            return Err(NoPrediction::ScatteredLocal { l1 });
        }
        let sample = Sample::new(of_one_sm, resident, blocks.iter().map(steps).sum());
        blocks.extend(record(&order.placed(&sample.more, rank..rank + 1, resident), Detail::All)?.into_values());
        let beside = |&place: &u64| {
            let with_as_many = n_blocks.saturating_sub(place * u64::from(order.sms));
            with_as_many.clamp(1, order.sms.into()) as f64 / f64::from(chip.sms)
        };
        let beside = first.iter().chain(&sample.more).map(beside).collect();

        let origin = order.block(0, rank);
        let in_flight = (resident * u64::from(order.sms)).min(n_blocks.max(1));
        let waves = Waves { grid: request.grid, in_flight, origin };
        let neighbours: Vec<(u64, u64)> =
            neighbours(request.grid, origin).into_iter().map(|block| (block, 0)).collect();
        let neighbours = record(&neighbours, Detail::Global)?;
        // The order of tiles in a grid of one dimension is anything; neighbours show it in others.
        let is_line = request.grid[1..] == [1, 1];
        let copies_boxes = is_line && executed().any(|i| matches!(i.operation, Operation::Utmaldg | Operation::Ublkcp));
        let listed = if copies_boxes { n_blocks.min(MOST_LISTED) } else { 0 };
        let listed: Vec<(u64, u64)> = (0..listed).map(|block| (block, 0)).collect();
        let listed: Vec<Block> = record(&listed, Detail::Boxes { ranks: order.ranks })?.into_values().collect();
        let reach = match blocks.first() {
            Some(block) => waves.reach(chip, code.instructions.len(), block, &neighbours, &listed),
            None => Reach::default(),
        };
        let program: Vec<Instruction> = code.instructions.iter().map(Instruction::from).collect();
        // SMs that the last round of the launch before leaves free start early, and get the most blocks unless they are
        // few. On the others a block replaces one of the launch before.
        let places = (resident * u64::from(order.sms)).max(1);
        let last_round = n_blocks.saturating_sub(1) % places + 1;
        let awaits_launch = || numbers_of_executed.iter().any(|&i| program[i as usize].awaits_launch);
        let may_begin = request.options.begins_early && awaits_launch();
        let begins_early = may_begin && 2 * last_round <= places;
        let (launch_ns, drain_ns) = match (may_begin, begins_early) {
            (false, _) => (chip.launch_ns, chip.drain_ns),
            (true, false) => (chip.block_gap as f64 / chip.ghz, chip.drain_ns),
            (true, true) => (chip.dependent_launch_ns, chip.dependent_drain_ns),
        };
        Ok(Self {
            chip: at_clock(chip, executed().filter_map(|i| product_ghz(chip, i)).fold(chip.ghz, f64::min)),
            program,
            occupancy,
            shared: shared_of_sm,
            n_blocks,
            sms: order.sms,
            reach,
            sample,
            blocks,
            beside,
            begins_early,
            around_ns: launch_ns
                + if in_cluster { chip.cluster_launch_ns } else { 0.0 }
                + if executed().any(stores) { drain_ns } else { 0.0 },
        })
    }

    fn active_sms(&self) -> u32 {
        u32::try_from(self.n_blocks).map_or(self.sms, |n| n.clamp(1, self.sms))
    }

    /// Returns the blocks of an SM on average.
    fn of_one_sm(&self) -> f64 {
        self.n_blocks as f64 / f64::from(self.active_sms())
    }

    fn simulated(&self, window: Option<Range<u64>>) -> Result<Outcome, NoPrediction> {
        let blocks: Vec<&Block> = self.blocks.iter().collect();
        let setting = Setting {
            resident: self.occupancy.blocks as usize,
            shared: self.shared,
            active_sms: self.active_sms(),
            load: self.of_one_sm() / self.n_blocks.div_ceil(self.active_sms().into()).max(1) as f64,
            beside: &self.beside,
            reach: &self.reach,
            window,
        };
        let outcome = simulate(&self.chip, &self.program, &blocks, setting);
        if outcome.is_stuck { Err(NoPrediction::WaitsForOthers) } else { Ok(outcome) }
    }

    /// Extends the simulated blocks to the whole launch.
    fn prediction(&self, outcome: &Outcome) -> Prediction {
        let chip = &self.chip;
        let clocks = self.sample.clocks(outcome);
        let us = |clocks: f64| clocks / chip.ghz / 1e3;
        // The launch before ends no earlier than the prologue of these blocks.
        let hidden = outcome.prologue.filter(|_| self.begins_early).unwrap_or(0) as f64;
        let n_simulated = self.blocks.len() as u64;
        let scale = self.of_one_sm() / n_simulated.max(1) as f64;
        let (bounds, parts) = bounds(|resource| us(outcome.busy[resource as usize] * scale));
        Prediction {
            clocks,
            us: us(clocks - hidden) + self.around_ns / 1e3,
            ghz: chip.ghz,
            occupancy: self.occupancy,
            bounds,
            parts,
            n_simulated,
            n_blocks: self.n_blocks,
            stalls: outcome.stalls.clone(),
        }
    }
}

/// The order in which blocks go to SMs.
#[derive(Clone, Copy)]
struct Order {
    grid: [u32; 3],
    cluster: [u32; 3],
    /// Blocks of a cluster.
    ranks: u32,
    /// SMs that can run blocks: a cluster lies in a group of SMs, of which some are left over.
    sms: u32,
}

impl Order {
    fn new(chip: &Chip, kernel: &LoadedKernel, request: &LaunchRequest, footprint: Footprint) -> Self {
        let cluster = request.options.cluster.or(kernel.kernel().cluster.required).unwrap_or([1; 3]);
        let ranks = cluster.iter().product();
        let sms = if ranks > 1 { sms_of_clusters(footprint, ranks).max(ranks) } else { chip.sms };
        Self { grid: request.grid, cluster, ranks, sms }
    }

    /// Returns the block with a rank in the cluster that is at a place among those of one SM. Clusters go to the SMs
    /// in turn.
    fn block(self, place: u64, rank: u32) -> u64 {
        block_of(self.grid, self.cluster, place * u64::from(self.sms) / u64::from(self.ranks), rank)
    }

    /// Lists the blocks with some ranks of the clusters at these places, each with its position on its SM, which runs
    /// `resident` at a time.
    fn placed(self, places: &[u64], ranks: Range<u32>, resident: u64) -> Vec<(u64, u64)> {
        let positions = places.iter().zip((0..resident.max(1)).cycle());
        let blocks = |(&place, at)| ranks.clone().map(move |rank| (self.block(place, rank), at));
        positions.flat_map(blocks).collect()
    }

    /// Chooses the rank whose blocks access the most of global memory, or else execute the most instructions, and
    /// returns its blocks: those that divide the work of a cluster may have more and less of it, or lie outside of the
    /// matrix.
    fn longest(self, places: &[u64], mut clusters: BTreeMap<u64, Block>) -> (u32, Vec<Block>) {
        let blocks = |rank| places.iter().map(move |&place| self.block(place, rank));
        let work = |rank: &u32| {
            let own = || blocks(*rank).filter_map(|block| clusters.get(&block));
            (own().map(n_sectors).sum::<u64>(), own().map(steps).sum::<u64>())
        };
        let rank = (0..self.ranks).rev().max_by_key(work).unwrap_or(0);
        (rank, blocks(rank).filter_map(|block| clusters.remove(&block)).collect())
    }
}

/// Choice of the simulated blocks among those that one SM runs.
struct Sample {
    resident: u64,
    /// Complete rounds, each of as many blocks as fit at a time; the simulated ones included.
    rounds: u64,
    simulated_rounds: u64,
    /// The simulated blocks after the first round, by position in the order in which the SM runs them.
    more: Vec<u64>,
}

impl Sample {
    /// Chooses rounds by the cost of the first one, which executes `steps` instructions of warps.
    fn new(of_one_sm: u64, resident: u64, steps: u64) -> Self {
        let rounds = of_one_sm / resident.max(1);
        let affordable = 1 + MORE_STEPS / steps.max(1);
        let short = (SHORT_STEPS / steps.max(1)).clamp(ROUNDS, SHORT_ROUNDS);
        let simulated_rounds = short.min(rounds).min(affordable);
        let mut more = Vec::new();
        for round in 1..simulated_rounds {
            let round = round * (rounds - 1) / (simulated_rounds - 1);
            more.extend(round * resident..(round + 1) * resident);
        }
        // Remaining blocks, for a last round with fewer of them.
        if rounds > 0 {
            more.extend(rounds * resident..of_one_sm);
        }
        Self { resident, rounds, simulated_rounds, more }
    }

    /// Returns the clocks of all rounds: rounds that were not simulated take as long as those after the first one.
    fn clocks(&self, outcome: &Outcome) -> f64 {
        let mut ends = outcome.ends.clone();
        ends.sort_unstable();
        let end = |round: u64| {
            let last = (round * self.resident).saturating_sub(1) as usize;
            ends.get(last).map_or(0.0, |&end| end as f64)
        };
        let left = (self.rounds - self.simulated_rounds) as f64;
        let round_clocks = match self.simulated_rounds {
            0 | 1 => end(1),
            n => {
                // Blocks of the first rounds start together and drift apart.
                let from = (n / 4).max(1);
                (end(n) - end(from)) / (n - from) as f64
            }
        };
        // No round is shorter than its blocks keep a unit busy.
        let busiest = outcome.busy.iter().copied().fold(0.0, f64::max);
        let min_clocks = busiest * self.resident as f64 / ends.len().max(1) as f64;
        outcome.clocks as f64 + left * round_clocks.max(min_clocks)
    }
}

fn stores(instruction: &sass::Instruction) -> bool {
    matches!(instruction.operation, Operation::Stg | Operation::St | Operation::Utmastg)
}

/// Returns whether an instruction orders what a block writes before what others read, or the other way round. L1 is
/// dropped after a wait for stores that go on by themselves, too.
fn orders_blocks(code: &[sass::Instruction], index: usize) -> bool {
    let follows_stores = || index > 0 && code[index - 1].waits_for_groups();
    let instruction = &code[index];
    match instruction.operation {
        Operation::Cctl => instruction.has(Modifier::Ivall) && !follows_stores(),
        _ => is_fence(instruction),
    }
}

/// Returns a chip whose SMs run at another clock. Device memory has its own.
fn at_clock(chip: &Chip, ghz: f64) -> Chip {
    Chip { ghz, dram_bytes: chip.dram_bytes * chip.ghz / ghz, ..chip.clone() }
}

/// Returns the clock while the tensor cores execute products such as this one.
fn product_ghz(chip: &Chip, instruction: &sass::Instruction) -> Option<f64> {
    let [short, tf32, bytes] = chip.product_ghz;
    match instruction.operation {
        Operation::Hgmma if instruction.has(Modifier::Tf32) => Some(tf32),
        Operation::Hgmma => Some(short),
        Operation::Hmma => Some(chip.warp_product_ghz),
        Operation::Qgmma => Some(bytes),
        _ => None,
    }
}

/// Returns the instructions that the warps of a block executed.
fn steps(block: &Block) -> u64 {
    block.warps.iter().map(|warp| warp.steps.len() as u64).sum()
}

/// Returns the number of sectors of global memory that the warps of a block accessed.
fn n_sectors(block: &Block) -> u64 {
    block.warps.iter().map(|warp| warp.sectors.len() as u64).sum()
}

/// Lists the numbers of the blocks beside one, in each direction of the grid.
fn neighbours(grid: [u32; 3], number: u64) -> Vec<u64> {
    let at = coordinates(number, grid);
    let [x, y, _] = grid.map(u64::from);
    let distances = [1, x, x * y];
    let beside = |i: usize| if at[i] + 1 == grid[i] { number - distances[i] } else { number + distances[i] };
    (0..3).filter(|&i| grid[i] > 1).map(beside).collect()
}

//! The contents of L2: which accesses of a launch go to device memory, and how many SMs share the data that they load.
//!
//! The blocks that run at a time, a wave, walk through their accesses together. The accesses of one block and of its
//! neighbours in each direction of the grid give those of the others: addresses in most kernels move by a fixed
//! distance from block to block. The distinct pieces of all blocks of some waves, in the order of their time, pass
//! through a cache of the size of L2 which replaces the least recently used. A launch follows one like itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use simt::check::coordinates;
use simt::hash::BuildNumberHasher;

use crate::trace::{Access, AccessOrigin, Block, Event, LOCAL_OF_BLOCK, is_local};
use crate::{cache::Recent, chip::Chip};

/// Sectors that device memory delivers together.
const PAIR: u64 = 2;
/// Bytes of such a pair.
const PAIR_BYTES: u64 = 64;
/// Approximate number of accesses to pieces that are looked up.
const LOOKUPS: u64 = 24_000_000;
/// Minimum number of sampled pieces of L2: the others behave alike.
const FEWEST: u64 = 1 << 13;

/// Parts of a launch's accesses that reach L2 and device memory, from 0 to 1, by index of the instruction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reach {
    /// Fraction of the instruction's accesses that miss L2 and go to device memory.
    fresh: Vec<f64>,
    /// Distinct data divided by requested data, over all blocks in flight: below 1 where SMs request the same data.
    share: Vec<f64>,
    apart: Vec<f64>,
}

impl Reach {
    /// Returns the fraction of the data that all SMs request together which is distinct.
    pub(crate) fn share(&self, instruction: u32) -> f64 {
        self.share.get(instruction as usize).copied().unwrap_or(0.0)
    }

    /// Returns the scatter of the pieces that a block requests at a time: 0 for long pieces, 1 for 128 bytes and less.
    pub(crate) fn apart(&self, instruction: u32) -> f64 {
        self.apart.get(instruction as usize).copied().unwrap_or(0.0)
    }

    /// Returns whether the access goes to device memory. Where only a fraction of an instruction's accesses do, the
    /// choice depends on the step and the block, so that all warps of a block make the same.
    pub(crate) fn is_fresh(&self, origin: AccessOrigin) -> bool {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let fresh = self.fresh.get(origin.instruction as usize).copied().unwrap_or(0.0);
        let mixed = origin.step as f64 + 7919.0 * origin.block as f64;
        fresh > 0.0 && (fresh >= 1.0 || (mixed * GOLDEN).fract() < fresh)
    }
}

struct Touch {
    /// Time of the access, as a part of the block's time.
    phase: f32,
    instruction: u32,
    class: usize,
    pair: u64,
}

/// The way in which accesses move from block to block.
#[derive(Clone, PartialEq)]
enum Class {
    /// By these distances in sectors for each direction of the grid.
    Grid([i64; 3]),
    /// To these distances in pairs from the recorded block, by number of the block; `None` outside of the matrix.
    Listed(Vec<Option<i64>>),
    /// Local memory, which blocks have by their position among those in flight: later waves use it again.
    Local,
}

/// The blocks of a launch.
pub(crate) struct Waves {
    pub(crate) grid: [u32; 3],
    pub(crate) in_flight: u64,
    /// Number of the block that was recorded.
    pub(crate) origin: u64,
}

impl Waves {
    fn n_blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    fn place(&self, block: u64) -> [i64; 3] {
        coordinates(block, self.grid).map(i64::from)
    }

    /// Simulates one wave after another. The recorded block has a neighbour, by number, in each direction in which the
    /// grid has any. The first boxes are known of the blocks `listed`, which are the first ones by number.
    pub(crate) fn reach(
        &self, chip: &Chip, n: usize, recorded: &Block, neighbours: &BTreeMap<u64, Block>, listed: &[Block],
    ) -> Reach {
        let (touches, classes) = touches(self, recorded, neighbours, listed);
        let n_waves = self.n_blocks().div_ceil(self.in_flight.max(1)).max(1);
        let translations: Vec<usize> = self.translations(n_waves / 2, &classes).iter().map(Vec::len).collect();
        let per_wave: u64 = touches.iter().map(|touch| translations[touch.class] as u64).sum();
        let sample = sample(chip.l2_capacity / PAIR_BYTES, per_wave);
        let mut cache: Recent<bool> = Recent::new((chip.l2_capacity / PAIR_BYTES / sample) as usize);
        let mut counts = Counts::new(n);
        for (wave, weight) in plan(n_waves, LOOKUPS / per_wave.max(1)) {
            let translations = self.translations(wave, &classes);
            let of_first = |n: u64| self.in_flight.min(n.saturating_sub(wave * self.in_flight)) as f64;
            for touch in &touches {
                // The last wave of a line may be short, and not all blocks are listed.
                let (of_blocks, blocks) = match &classes[touch.class] {
                    Class::Listed(listed) => (of_first(listed.len() as u64), of_first(listed.len() as u64)),
                    _ => (of_first(self.n_blocks()), 1.0),
                };
                let translations = &translations[touch.class];
                let mut missing = 0;
                let mut looked = 0;
                for &translation in translations {
                    let pair = touch.pair.wrapping_add_signed(translation);
                    // A power of two: a division for each of millions of pieces would take longer than the rest.
                    if mix(pair) & (sample - 1) == 0 {
                        looked += 1;
                        cache.touch(pair, |known| {
                            missing += u64::from(!*known);
                            *known = true;
                        });
                    }
                }
                if of_blocks > 0.0 {
                    let share = translations.len() as f64 / of_blocks * blocks;
                    counts.add(touch.instruction, weight, [looked as f64, missing as f64, share, blocks]);
                }
            }
        }
        Reach { apart: apart(n, recorded), ..counts.reach() }
    }

    /// Returns the distinct distances of the blocks of a wave from the recorded block, by class.
    fn translations(&self, wave: u64, classes: &[Class]) -> Vec<Vec<i64>> {
        let blocks = wave * self.in_flight..((wave + 1) * self.in_flight).min(self.n_blocks());
        let origin = self.place(self.origin);
        let distances = |class: &Class| {
            let distance = |block| match class {
                Class::Grid(class) => {
                    let position = self.place(block);
                    let moved = (0..3).map(|i| (position[i] - origin[i]).wrapping_mul(class[i]));
                    Some(moved.fold(0, i64::wrapping_add) / PAIR as i64)
                }
                Class::Listed(all) => all.get(block as usize).copied().flatten(),
                Class::Local => {
                    let [position, own] = [block, self.origin].map(|block| (block % self.in_flight.max(1)) as i64);
                    Some((position - own) * (LOCAL_OF_BLOCK / PAIR_BYTES) as i64)
                }
            };
            let mut all: Vec<i64> = blocks.clone().filter_map(distance).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        classes.iter().map(distances).collect()
    }
}

/// Chooses the sampling interval: one piece out of so many is looked up.
fn sample(capacity: u64, per_wave: u64) -> u64 {
    let max_interval = (capacity / FEWEST).max(1);
    (per_wave / (LOOKUPS / 64)).clamp(1, max_interval).next_power_of_two().min(max_interval)
}

/// Chooses the waves to simulate, with their weights: all of them twice, first to warm L2 up, if that is not too much.
/// Else the last ones to warm up, the first ones, and some for all that follow.
fn plan(n_waves: u64, max_waves: u64) -> Vec<(u64, f64)> {
    let max_waves = max_waves.max(6);
    if 2 * n_waves <= max_waves {
        let all = |weight| (0..n_waves).map(move |wave| (wave, weight));
        return all(0.0).chain(all(1.0)).collect();
    }
    let third = (max_waves / 3).min(n_waves / 2).max(1);
    let rest = (n_waves - third) as f64 / third as f64;
    let warm = (n_waves - third..n_waves).map(|wave| (wave, 0.0));
    let first = (0..third).map(|wave| (wave, 1.0));
    let then = (third..2 * third).map(|wave| (wave, rest));
    warm.chain(first).chain(then).collect()
}

/// Lists the pieces that a block touches, in order of time, and the sectors by which they move between blocks.
fn touches(
    waves: &Waves, recorded: &Block, neighbours: &BTreeMap<u64, Block>, listed: &[Block],
) -> (Vec<Touch>, Vec<Class>) {
    let origin = waves.place(waves.origin);
    let mut classes: Vec<Class> = Vec::new();
    let boxes: Vec<Boxes> = listed.iter().map(boxes).collect();
    let of_box = boxes_classes(waves.origin, &boxes, &mut classes);
    let mut n_boxes: HashMap<u32, usize, BuildNumberHasher> = HashMap::default();
    let mut touches = Vec::new();
    let mut seen: HashSet<(u32, u64), BuildNumberHasher> = HashSet::default();
    let mut of_instruction: HashMap<(u64, u32), i64, BuildNumberHasher> = HashMap::default();
    for (warp_index, warp) in recorded.warps.iter().enumerate() {
        let mut others_accesses: Vec<_> = neighbours
            .values()
            .map(|block| block.warps.get(warp_index).map(accesses).into_iter().flatten().peekable())
            .collect();
        let n_steps = warp.steps.len().max(1) as f32;
        for (step, instruction, sectors) in accesses(warp) {
            let mut class = [0; 3];
            for (&number, accesses) in neighbours.keys().zip(&mut others_accesses) {
                // Lanes at the edge of a grid may skip accesses.
                let same = accesses.next_if(|access| access.1 == instruction);
                let moved = same.and_then(|(_, _, moved)| Some(moved.first()?.wrapping_sub(*sectors.first()?) as i64));
                let moved = match moved {
                    Some(moved) => *of_instruction.entry((number, instruction)).insert_entry(moved).get(),
                    None => of_instruction.get(&(number, instruction)).copied().unwrap_or(0),
                };
                for ((class, to), from) in class.iter_mut().zip(waves.place(number)).zip(origin) {
                    if to != from {
                        *class = moved / (to - from);
                    }
                }
            }
            let is_local = sectors.first().is_some_and(|&sector| is_local(sector));
            let class = if is_local { Class::Local } else { Class::Grid(class) };
            let listed = of_box.get(&instruction).map(|of_box| {
                let n = n_boxes.entry(instruction).or_default();
                *n += 1;
                of_box[(*n - 1).min(of_box.len() - 1)]
            });
            let class = listed.unwrap_or_else(|| number_of(&mut classes, class));
            for pair in sectors.chunk_by(|a, b| a / PAIR == b / PAIR) {
                let pair = pair[0] / PAIR;
                if seen.insert((instruction, pair)) {
                    touches.push(Touch { phase: step as f32 / n_steps, instruction, class, pair });
                }
            }
        }
    }
    touches.sort_by(|a, b| a.phase.total_cmp(&b.phase));
    (touches, classes)
}

/// First sectors of the boxes that a block copies first, by instruction; `None` for one that is outside of the matrix.
type Boxes = HashMap<u32, Vec<Option<u64>>, BuildNumberHasher>;

fn boxes(block: &Block) -> Boxes {
    let mut boxes = Boxes::default();
    for (_, instruction, sectors) in block.warps.iter().flat_map(accesses) {
        boxes.entry(instruction).or_default().push(sectors.first().copied());
    }
    boxes
}

/// Returns the classes of the first boxes of each instruction of a block, by where the others have theirs.
fn boxes_classes(
    origin: u64, boxes: &[Boxes], classes: &mut Vec<Class>,
) -> HashMap<u32, Vec<usize>, BuildNumberHasher> {
    let Some(first) = boxes.get(origin as usize) else { return HashMap::default() };
    let of_instruction = |(&instruction, own): (&u32, &Vec<Option<u64>>)| {
        let class = |(n, from): (usize, &Option<u64>)| {
            let moved = |boxes: &Boxes| {
                let to = boxes.get(&instruction)?.get(n).copied()??;
                Some(to.wrapping_sub((*from)?) as i64 / PAIR as i64)
            };
            number_of(classes, Class::Listed(boxes.iter().map(moved).collect()))
        };
        (instruction, own.iter().enumerate().map(class).collect())
    };
    first.iter().map(of_instruction).filter(|(_, classes): &(u32, Vec<usize>)| !classes.is_empty()).collect()
}

/// Returns the index of a class, which is added where it is new.
fn number_of(classes: &mut Vec<Class>, class: Class) -> usize {
    classes.iter().position(|known| *known == class).unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    })
}

/// Measures for each instruction the scatter of the pieces that the warps of a block request at a time.
fn apart(n: usize, block: &Block) -> Vec<f64> {
    // Requests of all warps by the same execution of an instruction: a sample of the executions suffices.
    const EXECUTIONS: u32 = 64;
    let mut pairs: HashMap<(u32, u32), Vec<u64>, BuildNumberHasher> = HashMap::default();
    for warp in &block.warps {
        let mut executions: HashMap<u32, u32, BuildNumberHasher> = HashMap::default();
        for (_, instruction, sectors) in accesses(warp) {
            let execution = executions.entry(instruction).or_default();
            if *execution < EXECUTIONS {
                let key = (instruction, *execution);
                pairs.entry(key).or_default().extend(sectors.iter().map(|sector| sector / PAIR));
            }
            *execution += 1;
        }
    }
    let mut sums = vec![[0.0, 0.0]; n];
    for ((instruction, _), mut pairs) in pairs {
        pairs.sort_unstable();
        pairs.dedup();
        let n_runs = pairs.chunk_by(|a, b| a + 1 == *b).count();
        if let Some(sums) = sums.get_mut(instruction as usize) {
            sums[0] += n_runs as f64;
            sums[1] += pairs.len() as f64;
        }
    }
    let apart = |[n_runs, n_pairs]: [f64; 2]| {
        if n_pairs > 0.0 { (2.0 * n_runs / n_pairs).min(1.0) } else { 0.0 }
    };
    sums.into_iter().map(apart).collect()
}

/// Lists the accesses of a warp to global memory: the step, the instruction, the sectors.
fn accesses(warp: &crate::trace::Trace) -> impl Iterator<Item = (usize, u32, &[u64])> {
    warp.steps.iter().enumerate().flat_map(move |(i, step)| {
        let own = match step.access {
            Access::Global { sectors, .. } | Access::Copy { sectors, .. } => Some(sectors),
            _ => None,
        };
        let of_events = warp.events(step.access).iter().filter_map(|event| match *event {
            Event::Load { sectors, .. } | Event::Store { sectors, .. } => Some(sectors),
            _ => None,
        });
        own.into_iter().chain(of_events).map(move |sectors| (i, step.instruction, warp.sectors(sectors)))
    })
}

/// Returns whether divergent local arrays take most of an L1 of so many bytes: predictions were wrong there.
pub(crate) fn is_scattered(blocks: &[Block], l1: u64) -> bool {
    let (mut n_steps, mut scattered) = (0, 0);
    let mut known: HashSet<u64, BuildNumberHasher> = HashSet::default();
    for warp in blocks.iter().flat_map(|block| &block.warps) {
        n_steps += warp.steps.len();
        for (_, _, sectors) in accesses(warp) {
            let mut lines: Vec<u64> = sectors.iter().filter(|&&s| is_local(s)).map(|sector| sector / 4).collect();
            lines.dedup();
            // 16 bytes of each lane are 4 lines.
            scattered += if lines.len() > 4 { lines.len() } else { 0 };
            known.extend(lines);
        }
    }
    // One line in 25 instructions: the way from L2 then takes a quarter of the time of their issue.
    scattered * 25 > n_steps && known.len() as u64 * 128 * 4 > l1 * 3
}

/// Sums per instruction: pieces looked up, pieces missing from the cache, shares, and the weights of the shares.
struct Counts(Vec<[f64; 4]>);

impl Counts {
    fn new(n: usize) -> Self {
        Self(vec![[0.0; 4]; n])
    }

    fn add(&mut self, instruction: u32, weight: f64, counts: [f64; 4]) {
        if let Some(sums) = self.0.get_mut(instruction as usize) {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += weight * count;
            }
        }
    }

    fn reach(&self) -> Reach {
        let part = |a: f64, b: f64| if b > 0.0 { (a / b).clamp(0.0, 1.0) } else { 0.0 };
        Reach {
            fresh: self.0.iter().map(|sums| part(sums[1], sums[0])).collect(),
            share: self.0.iter().map(|sums| part(sums[2], sums[3])).collect(),
            apart: Vec::new(),
        }
    }
}

/// Spreads the numbers of pieces evenly, to sample them.
fn mix(n: u64) -> u64 {
    (n ^ n >> 17).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

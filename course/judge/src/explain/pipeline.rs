//! Copies and products that go on beside the warps which start them: a pipeline as a time line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use sass::operation::Operation;
use tasks::explain::machine_code::{Pipeline, Role, Span, State};
use timing::{Issue, Reason, Transfer, Unit};

/// Rounds that are shown, and the clocks of rounds after the first one.
const ROUNDS: u64 = 3;
const MAX_CLOCKS: u64 = 16_384;
const WARPS_OF_GROUP: u32 = 4;

/// Returns whether instructions of a unit start work that goes on beside the warps.
pub(super) fn is_of_pipeline(unit: Unit) -> bool {
    matches!(unit, Unit::Copy | Unit::BoxCopy | Unit::Product | Unit::WarpProduct)
}

/// Returns some rounds in the middle of the window, which `passes` of the busiest loop cut where no ring does; none
/// where nothing goes on beside the warps.
pub(super) fn pipeline(code: &sass::CubinKernel, window: &timing::Timeline, passes: &[(u64, u64)]) -> Option<Pipeline> {
    let timing::Work { transfers, products, .. } = &window.work;
    if transfers.is_empty() && products.is_empty() {
        return None;
    }
    let blocks = blocks_in_turn(window.schedulers.iter().flatten());
    let mut warps: BTreeMap<u32, Vec<Issue>> = BTreeMap::new();
    for issue in window.schedulers.iter().flatten().filter(|issue| blocks.contains(&issue.block)) {
        warps.entry(issue.warp).or_default().push(*issue);
    }
    for issues in warps.values_mut() {
        issues.sort_unstable_by_key(|issue| issue.clock);
    }
    let ends = warps.values().filter_map(|issues| Some((issues.first()?.clock, issues.last()?.clock)));
    let recorded = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).map(|(first, last)| first..last + 1)?;

    let (starts, round, stages) = ring(transfers, &blocks).or_else(|| loops(passes))?;
    let length = (ROUNDS * round).min(MAX_CLOCKS.max(round)).min(recorded.end - recorded.start);
    let busy = |clocks: &Range<u64>| -> f64 {
        let all: u64 = products.iter().map(|product| within(&product.clocks, clocks).count() as u64).sum();
        all as f64 / (clocks.end - clocks.start).max(1) as f64
    };
    // The tensor cores are as busy in the shown clocks as in the middle half of the recorded ones, to a percent.
    let quarter = (recorded.end - recorded.start) / 4;
    let usual = busy(&(recorded.start + quarter..recorded.end - quarter));
    let middle = recorded.start.midpoint(recorded.end);
    let choices = starts.into_iter().map(|start| start..start + length);
    let choices = choices.filter(|clocks| recorded.start <= clocks.start && clocks.end <= recorded.end);
    let rank = |clocks: &Range<u64>| {
        let unlike = ((busy(clocks) - usual).abs() * 100.0 / f64::from(Pipeline::TENSOR_CORES)) as u64;
        (unlike, clocks.start.midpoint(clocks.end).abs_diff(middle))
    };
    let shown = choices.min_by_key(rank).unwrap_or(recorded.start..recorded.start + length);

    let loads = || transfers.iter().filter(|transfer| !transfer.is_store);
    let in_flight = loads().map(|load| (load.unit.start..load.end, load.bytes as i64));
    let multiplying = products.iter().map(|product| (product.clocks.clone(), 1));
    Some(Pipeline {
        clocks: (shown.end - shown.start) as u32,
        round: round as u32,
        stages,
        roles: Roles::new(code).of(&warps, &shown, recorded.end),
        copying: joined(transfers.iter().map(|transfer| within(&transfer.unit, &shown)), shown.start),
        in_flight: steps(in_flight, &shown),
        multiplying: steps(multiplying, &shown),
    })
}

/// Returns the block that issues the most, and those that run when it does not: they have its place one after another.
fn blocks_in_turn<'a>(issues: impl Iterator<Item = &'a Issue>) -> BTreeSet<u32> {
    let mut blocks: BTreeMap<u32, (u64, u64, usize)> = BTreeMap::new();
    for issue in issues {
        let (first, last, n) = blocks.entry(issue.block).or_insert((issue.clock, issue.clock, 0));
        (*first, *last, *n) = ((*first).min(issue.clock), (*last).max(issue.clock), *n + 1);
    }
    let mut blocks: Vec<(u32, (u64, u64, usize))> = blocks.into_iter().collect();
    blocks.sort_by_key(|(_, (_, _, n))| std::cmp::Reverse(*n));
    let mut chosen: Vec<(u32, (u64, u64, usize))> = Vec::new();
    for (block, (first, last, n)) in blocks {
        if chosen.iter().all(|(_, (other_first, other_last, _))| last < *other_first || *other_last < first) {
            chosen.push((block, (first, last, n)));
        }
    }
    chosen.into_iter().map(|(block, _)| block).collect()
}

/// Returns the clocks at which copies into a stage of a ring start, the clocks of a round, and the number of stages.
fn ring(transfers: &[Transfer], blocks: &BTreeSet<u32>) -> Option<(Vec<u64>, u64, u32)> {
    let of_block = transfers.iter().filter(|transfer| blocks.contains(&transfer.block));
    let mut loads: Vec<(u64, u32)> = of_block.filter_map(|load| Some((load.unit.start, load.barrier?))).collect();
    loads.sort_unstable_by_key(|(start, _)| *start);
    loads.dedup_by_key(|(_, barrier)| *barrier);
    let stages = loads.iter().map(|(_, barrier)| *barrier).collect::<BTreeSet<u32>>().len();
    let starts: Vec<u64> = loads.into_iter().map(|(start, _)| start).collect();
    let mut rounds: Vec<u64> = starts.iter().zip(starts.get(stages..)?).map(|(start, next)| next - start).collect();
    rounds.sort_unstable();
    let round = rounds.get(rounds.len() / 2).copied().filter(|_| stages > 1)?;
    Some((starts, round, stages as u32))
}

/// Returns the same for passes of a loop, which have no stages.
fn loops(passes: &[(u64, u64)]) -> Option<(Vec<u64>, u64, u32)> {
    let mut lengths: Vec<u64> = passes.iter().map(|(start, end)| end - start).collect();
    lengths.sort_unstable();
    let round = *lengths.get(lengths.len() / 2)?;
    Some((passes.iter().map(|(start, _)| *start).collect(), round, 0))
}

fn within(clocks: &Range<u64>, shown: &Range<u64>) -> Range<u64> {
    let start = clocks.start.clamp(shown.start, shown.end);
    start..clocks.end.clamp(start, shown.end.max(start))
}

/// Returns ranges in order, where they touch as one, from a clock on.
fn joined(ranges: impl Iterator<Item = Range<u64>>, first: u64) -> Vec<[u32; 2]> {
    let mut ranges: Vec<Range<u64>> = ranges.filter(|range| !range.is_empty()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<[u32; 2]> = Vec::new();
    for range in ranges {
        let [from, to] = [range.start, range.end].map(|clock| (clock - first) as u32);
        match joined.last_mut() {
            Some(last) if from <= last[1] => last[1] = last[1].max(to),
            _ => joined.push([from, to]),
        }
    }
    joined
}

/// Returns the sum of values that last for ranges of clocks: each clock at which it changes.
fn steps(ranges: impl Iterator<Item = (Range<u64>, i64)>, shown: &Range<u64>) -> Vec<[u32; 2]> {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::from([(shown.start, 0)]);
    for (range, value) in ranges {
        let range = within(&range, shown);
        *changes.entry(range.start).or_default() += value;
        *changes.entry(range.end).or_default() -= value;
    }
    let mut sum = 0;
    let mut steps: Vec<[u32; 2]> = Vec::new();
    for (clock, change) in changes.into_iter().filter(|(clock, _)| *clock < shown.end) {
        sum += change;
        if change != 0 || steps.is_empty() {
            steps.push([(clock - shown.start) as u32, sum as u32]);
        }
    }
    steps
}

/// The instructions of a kernel as states of warps.
struct Roles {
    units: Vec<Unit>,
    /// State of a warp while it issues an instruction.
    does: Vec<State>,
}

impl Roles {
    fn new(code: &sass::CubinKernel) -> Self {
        let units: Vec<Unit> = code.instructions.iter().map(|i| timing::Instruction::from(i).unit).collect();
        let has = |some: &[Unit]| units.iter().any(|unit| some.contains(unit));
        let on_tensor_cores = has(&[Unit::Product, Unit::WarpProduct]);
        let copies = has(&[Unit::Copy, Unit::BoxCopy]);
        let does = |(instruction, unit): (&sass::Instruction, &Unit)| match (unit, instruction.operation) {
            (Unit::Product, _) => State::Mma,
            (Unit::WarpProduct, _) => State::Multiply,
            (_, Operation::Ffma | Operation::Dfma) if !on_tensor_cores => State::Multiply,
            (Unit::BoxCopy, Operation::Utmastg) | (Unit::StoreGlobal, _) => State::Store,
            (Unit::BoxCopy | Unit::Copy, _) => State::Copies,
            // Copies bring the factors, so it is C that passes through shared memory.
            (Unit::StoreShared, _) if copies => State::Store,
            _ => State::Work,
        };
        let does = code.instructions.iter().zip(&units).map(does).collect();
        Self { units, does }
    }

    fn unit(&self, issue: &Issue) -> Unit {
        self.units.get(issue.instruction as usize).copied().unwrap_or(Unit::Slow)
    }

    fn does(&self, issue: &Issue) -> State {
        self.does.get(issue.instruction as usize).copied().unwrap_or(State::Work)
    }

    /// Returns the state of a warp that waits between two issues; none where nothing but its own pace is in the way.
    fn waits(&self, before: &Issue, next: &Issue) -> Option<State> {
        Some(match (next.waited, self.unit(before)) {
            (Reason::Fixed | Reason::NotSelected, _) => return None,
            (Reason::Barrier, Unit::SharedBarrier) => State::Empty,
            (Reason::Barrier, _) => State::Meeting,
            (Reason::Global, Unit::CopyWait) if !self.units.contains(&Unit::Copy) => State::Store,
            (Reason::Global, _) => State::Full,
            (Reason::Short, Unit::ProductWait) => State::Sums,
            (Reason::Unit, _) if self.unit(next) == Unit::WarpProduct => State::Sums,
            (Reason::Short | Reason::Unit, _) => State::Result,
        })
    }

    /// Returns the warps by role, with what they do in the shown clocks.
    fn of(&self, warps: &BTreeMap<u32, Vec<Issue>>, shown: &Range<u64>, end: u64) -> Vec<Role> {
        let kind = |issues: &[Issue]| {
            let does = |state: &dyn Fn(State) -> bool| issues.iter().any(|issue| state(self.does(issue)));
            let multiplies = does(&|state| matches!(state, State::Mma | State::Multiply));
            (does(&|state| state == State::Copies), multiplies)
        };
        let kinds = warps.iter().map(|(warp, issues)| (*warp, kind(issues)));
        let kinds: Vec<(u32, (bool, bool))> = kinds.filter(|(_, kind)| *kind != (false, false)).collect();
        let by_group = self.units.contains(&Unit::Product)
            || kinds.iter().any(|(_, kind)| Some(*kind) != kinds.first().map(|k| k.1));
        let same = |a: &(u32, (bool, bool)), b: &(u32, (bool, bool))| {
            a.1 == b.1 && (!by_group || a.0 / WARPS_OF_GROUP == b.0 / WARPS_OF_GROUP)
        };
        let groups: Vec<&[(u32, (bool, bool))]> = kinds.chunk_by(same).collect();
        let produces = kinds.iter().any(|(_, kind)| *kind == (true, false));
        let mut seen: HashMap<(bool, bool), usize> = HashMap::new();
        let role = |group: &&[(u32, (bool, bool))]| {
            let ((first, kind), (last, _)) = (*group.first()?, *group.last()?);
            let n = groups.iter().filter(|other| other[0].1 == kind).count();
            let number = seen.entry(kind).or_default();
            *number += 1;
            let name = match kind {
                (true, false) => "producer",
                (false, true) if produces => "consumer",
                _ => "",
            };
            let name = match (name, n) {
                ("", _) if first == last => format!("warp {first}"),
                ("", _) => format!("warps {first}-{last}"),
                (name, 1) => name.to_owned(),
                (name, _) => format!("{name} {}", *number - 1),
            };
            let mut states = BTreeMap::new();
            let mut of_first = None;
            for (warp, _) in *group {
                let spans = self.spans(warps.get(warp)?, shown, end);
                for span in &spans {
                    *states.entry(span.state).or_default() += u64::from(span.to - span.from);
                }
                of_first.get_or_insert(spans);
            }
            Some(Role { name, warps: [first, last], spans: of_first?, states })
        };
        groups.iter().filter_map(role).collect()
    }

    /// Returns what a warp does in the shown clocks; `end` is that of the record.
    fn spans(&self, issues: &[Issue], shown: &Range<u64>, end: u64) -> Vec<Span> {
        let mut spans: Vec<(Range<u64>, State)> = Vec::new();
        let mut usual: HashMap<u32, State> = HashMap::new();
        for pair in issues.windows(2).filter(|pair| pair[0].block == pair[1].block) {
            let (before, next) = (&pair[0], &pair[1]);
            match self.waits(before, next) {
                None => spans.push((before.clock..next.clock, self.does(before))),
                Some(state) => {
                    usual.insert(before.instruction, state);
                    spans.push((before.clock..before.clock + 1, self.does(before)));
                    spans.push((before.clock + 1..next.clock, state));
                }
            }
        }
        // A warp whose last instruction it waits at elsewhere waits until the end of the record.
        if let Some((last, state)) = issues.last().and_then(|last| Some((last, *usual.get(&last.instruction)?))) {
            spans.push((last.clock..end, state));
        }
        let mut stored: Option<usize> = None;
        for i in 0..spans.len() {
            match spans[i].1 {
                State::Store => {
                    let first = stored.replace(i).unwrap_or(i);
                    spans[first..i].iter_mut().for_each(|(_, state)| *state = State::Store);
                }
                State::Mma | State::Multiply => stored = None,
                _ => {}
            }
        }
        let mut shown_spans: Vec<Span> = Vec::new();
        for (clocks, state) in spans {
            let clocks = within(&clocks, shown);
            let [from, to] = [clocks.start, clocks.end].map(|clock| (clock - shown.start) as u32);
            match shown_spans.last_mut() {
                _ if from == to => {}
                Some(last) if last.state == state && last.to == from => last.to = to,
                _ => shown_spans.push(Span { from, to, state }),
            }
        }
        shown_spans
    }
}

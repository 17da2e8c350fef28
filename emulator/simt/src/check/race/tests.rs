//! A race, or the absence of one, per test.

use crate::lane_mask::LaneMask;
use proptest::prelude::Strategy as _;

use super::*;
use crate::check::Code;
use crate::check::collect::MistakeGroup;
use crate::check::testing::kernel;
use crate::check::{AccessKind, Collector, MistakeDetails, RaceFacts};

const R: Mark = Mark::Read;
const W: Mark = Mark::Write;
const A: Mark = Mark::Atomic;
const STRONG_R: Mark = Mark::StrongRead;
const STRONG_W: Mark = Mark::StrongWrite;

#[derive(Clone, Copy)]
enum Step {
    Enter(u32),
    Leave(bool),
    Barrier,
    WarpSync(u32),
    Fence,
    /// Kind, instruction, address of each lane as `base + lane * stride`.
    Do(Mark, u32, u64, i32),
}
use Step::*;

/// Stores that always change memory, or never do.
struct Store {
    changes: bool,
}

impl Values for Store {
    fn stored(&self, lane: u32, _: u32, _: u32) -> u64 {
        if self.changes { 7 + u64::from(lane) } else { 5 }
    }
    fn present(&self, _: u32, _: u32, _: u32) -> u64 {
        5
    }
}

fn touch_runs(stride: i32) -> Vec<ByteRun> {
    let mut starts: Vec<i32> = (0..32).map(|lane| lane * stride).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut runs: Vec<ByteRun> = Vec::new();
    for start in starts {
        match runs.last_mut() {
            Some(run) if run.start + run.bytes as i32 == start => run.bytes += 4,
            _ => runs.push(ByteRun { start, bytes: 4 }),
        }
    }
    runs
}

fn with_touch(
    (kind, instr, base, stride): (Mark, u32, u64, i32),
    warp: u32,
    changes: bool,
    run: impl FnOnce(&Touch<'_>),
) {
    let store = Store { changes };
    run(&Touch {
        kind,
        strong: !matches!(kind, R | W),
        instr,
        warp,
        mask: LaneMask::ALL,
        base,
        bytes: 4,
        runs: &touch_runs(stride),
        cells: Cells::default(),
        lanes: &std::array::from_fn(|lane| lane as i32 * stride),
        pattern: stride as u64,
        overlapping: stride == 0,
        values: (kind == W).then_some(&store as &dyn Values),
    });
}

fn told(out: Collector) -> Vec<(Code, RaceFacts, MistakeGroup)> {
    out.groups()
        .map(|group| match &group.first.details {
            MistakeDetails::Race(race) => (group.first.code(), (**race).clone(), group.clone()),
            _ => panic!("not a race"),
        })
        .collect()
}

/// Lets races see the steps of one block.
macro_rules! walk {
    ($races:ident, $steps:expr, $changes:expr, $out:ident) => {{
        let mut warp = 0;
        for &step in $steps {
            match step {
                Enter(next) => {
                    warp = next;
                    $races.enter(next);
                }
                Leave(done) => $races.leave(done, &mut $out),
                Barrier => $races.barrier(&mut $out),
                WarpSync(bits) => $races.warp_sync(9, LaneMask::from_bits(bits), bits == u32::MAX),
                Fence => $races.fence(),
                Do(kind, instr, base, stride) => {
                    with_touch((kind, instr, base, stride), warp, $changes, |touch| {
                        $races.access(touch, &mut $out);
                    });
                }
            }
        }
    }};
}

/// Runs warp 0's part, then warp 1's, and ends both.
fn in_turn(first: &[Step], second: &[Step]) -> Vec<Step> {
    [&[Enter(0)], first, &[Leave(true), Enter(1)], second, &[Leave(true)]].concat()
}

#[track_caller]
fn shared_with(changes: bool, steps: &[Step]) -> Vec<(Code, RaceFacts, MistakeGroup)> {
    let kernel = kernel(&[1, 2, 3, 4]);
    let mut out = Collector::new(&kernel, [1, 1, 1], [128, 1, 1]);
    let mut races = SharedRaces::new(&kernel);
    races.begin_block(0);
    walk!(races, steps, changes, out);
    races.end_block(&mut out);
    told(out)
}

#[track_caller]
fn shared(steps: &[Step]) -> Vec<(Code, RaceFacts, MistakeGroup)> {
    shared_with(true, steps)
}

#[test]
fn volatile_loads_do_not_race_with_loads() {
    assert!(shared(&in_turn(&[Do(STRONG_R, 0, 1024, 4)], &[Do(R, 1, 1024, 4)])).is_empty());
    assert!(shared(&in_turn(&[Do(STRONG_R, 0, 1024, 4)], &[Do(STRONG_W, 1, 1024, 4)])).is_empty());
    assert!(shared(&in_turn(&[Do(STRONG_R, 0, 1024, 4)], &[Do(A, 1, 1024, 4)])).is_empty());
    assert_eq!(shared(&in_turn(&[Do(STRONG_R, 0, 1024, 4)], &[Do(W, 1, 1024, 4)])).len(), 1);
    assert_eq!(shared(&in_turn(&[Do(STRONG_W, 0, 1024, 4)], &[Do(R, 1, 1024, 4)])).len(), 1);
}

#[test]
fn a_warp_sync_orders_the_lanes_that_it_names() {
    let exchange = |mask| shared(&[Enter(0), Do(W, 0, 1024, 4), WarpSync(mask), Do(R, 1, 1028, 4)]);
    assert!(exchange(u32::MAX).is_empty());
    let found = exchange(0xFFFF);
    // Lane 15 reads what lane 16 wrote, which the mask leaves out; lanes 16 to 31 did not sync at all.
    assert_eq!(found[0].2.first.mask.bits(), 0x7FFF_8000);
    assert_eq!(found[0].1.left_out, Some((9, LaneMask::from_bits(0xFFFF))));
    let halves = [
        Enter(0),
        Do(W, 0, 1024, 4),
        WarpSync(0xFFFF),
        WarpSync(0xFFFF_0000),
        Do(R, 1, 1024, 4),
        WarpSync(0xFFFF),
        WarpSync(0xFFFF_0000),
        Do(W, 0, 1024, 4),
    ];
    assert!(shared(&halves).is_empty());
}

#[test]
fn a_warp_that_comes_back_does_not_race_with_itself() {
    let steps = [
        Enter(0),
        Do(W, 0, 1024, 4),
        Leave(false),
        Enter(1),
        Do(W, 0, 1152, 4),
        Leave(false), //
        Enter(0),
        WarpSync(u32::MAX),
        Do(R, 1, 1028, 4),
        Leave(true),
    ];
    // Lane 31 of warp 0 reads what warp 1 wrote; nothing else is wrong.
    let found = shared(&steps);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.address, 1152);
    let own = [Enter(0), Do(W, 0, 1024, 4), Leave(false), Enter(1), Leave(false), Enter(0), Do(R, 1, 1024, 4)];
    assert!(shared(&own).is_empty());
}

#[test]
fn stores_of_one_instruction_to_one_place_race_when_values_differ() {
    let found = shared(&[Enter(0), Do(W, 0, 1024, 0)]);
    assert!(found.len() == 1 && found[0].1.same_instruction);
    assert!(shared_with(false, &[Enter(0), Do(W, 0, 1024, 0)]).is_empty());
}

#[test]
fn a_fence_and_a_flag_hand_data_over() {
    let steps = in_turn(&[Do(W, 0, 1024, 4), Fence, Do(A, 1, 2048, 0)], &[Do(A, 2, 2048, 0), Do(R, 3, 1024, 4)]);
    assert!(shared(&steps).is_empty());
}

#[test]
fn a_loop_is_one_entry_and_its_repeats_are_found() {
    let mut steps = vec![Enter(0)];
    steps.extend((0..100).map(|k| Do(R, 1, 1024 + 4 * k, 0)));
    steps.extend([Leave(true), Enter(1), Do(W, 0, 1024 + 200, 4)]);
    let found = shared(&steps);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.address, 1224);
}

#[track_caller]
fn global(block_steps: &[&[Step]]) -> Vec<(Code, RaceFacts, MistakeGroup)> {
    let run = |order: &[usize]| {
        let kernel = kernel(&[1, 2, 3, 4]);
        let mut out = Collector::new(&kernel, [8, 1, 1], [64, 1, 1]);
        let all = GlobalRaces::new(&kernel);
        let mut races = BlockRaces::new(&kernel, &all);
        for &block in order {
            races.begin_block(block as u64);
            walk!(races, block_steps[block], true, out);
            races.end_block(&all, &mut out);
        }
        all.finish(&mut out);
        told(out)
    };
    let forward: Vec<usize> = (0..block_steps.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    let (a, b) = (run(&forward), run(&backward));
    let facts = |found: &[(Code, RaceFacts, MistakeGroup)]| -> Vec<_> {
        found.iter().map(|(code, race, _)| (*code, race.clone())).collect()
    };
    assert_eq!(facts(&a), facts(&b), "the order of blocks must not matter");
    a
}

const BASE: u64 = 1 << 40;

#[test]
fn blocks_that_write_different_words_do_not_race() {
    let a: &[Step] = &[Enter(0), Do(R, 0, BASE, 0), Do(W, 1, BASE + 4096, 4)];
    let b: &[Step] = &[Enter(0), Do(R, 0, BASE, 0), Do(W, 1, BASE + 4096 + 128, 4)];
    assert!(global(&[a, b]).is_empty());
}

#[test]
fn a_block_that_reads_what_another_writes_races() {
    let a: &[Step] = &[Enter(0), Do(W, 1, BASE, 4)];
    let b: &[Step] = &[Enter(0), Do(R, 0, BASE + 64, 4)];
    let found = global(&[a, b]);
    assert_eq!(found.len(), 1);
    let race = &found[0].1;
    assert_eq!(
        race.parties.map(|p| (p.kind, p.block, p.thread)),
        [(AccessKind::Write, 0, 16), (AccessKind::Read, 1, 0)]
    );
    assert_eq!((race.address, race.end), (BASE + 64, BASE + 128));
}

#[test]
fn the_last_block_pattern_with_a_fence_and_an_atomic_is_left_alone() {
    let a: &[Step] = &[Enter(0), Do(W, 1, BASE, 4), Fence, Do(A, 2, BASE + 8192, 0)];
    let b: &[Step] = &[Enter(0), Fence, Do(A, 2, BASE + 8192, 0), Do(R, 0, BASE, 4)];
    assert!(global(&[a, b]).is_empty());
}

#[test]
fn equal_writes_of_two_blocks_are_a_warning() {
    let a: &[Step] = &[Enter(0), Do(W, 1, BASE, 4)];
    let found = global(&[a, a, a]);
    assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [Code::RaceEqual]);
    assert_eq!(found[0].1.parties.map(|p| p.block), [0, 2]);
}

/// A warp's turn: after a barrier or not, and what it accesses (kind, base, distance of lanes).
type Turn = (u32, bool, Vec<(Mark, u64, i32)>);

/// Returns whether accesses race by definition: two warps, the same word, no barrier between, kinds that race.
fn races_by_definition(turns: &[Turn]) -> bool {
    let mut since_barrier: Vec<(u32, Mark, u64)> = Vec::new();
    for (warp, barrier, accesses) in turns {
        if *barrier {
            since_barrier.clear();
        }
        for &(kind, base, stride) in accesses {
            for lane in 0..32 {
                let word = base.wrapping_add_signed(i64::from(lane * stride));
                let races = |&(other, past, at): &(u32, Mark, u64)| {
                    other != *warp && at == word && (past == W || kind == W || past != kind)
                };
                if since_barrier.iter().any(races) {
                    return true;
                }
                since_barrier.push((*warp, kind, word));
            }
        }
    }
    false
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(512))]
    #[test]
    fn races_between_warps_are_found_exactly(
        turns in proptest::collection::vec(
            (
                0u32..4,
                proptest::bool::weighted(0.3),
                proptest::collection::vec(
                    (
                        proptest::sample::select(vec![R, R, W, A]),
                        (0u64..40).prop_map(|at| 1024 + 64 * at),
                        proptest::sample::select(vec![0, 4, 8, 68]),
                    ),
                    0..3,
                ),
            ),
            0..8,
        ),
    ) {
        let mut steps = Vec::new();
        for (warp, barrier, accesses) in &turns {
            if *barrier {
                steps.push(Barrier);
            }
            steps.push(Enter(*warp));
            // An instruction per kind: a pair of the same kind must not hide another.
            let access = |&(kind, base, stride): &(Mark, u64, i32)| Do(kind, kind as u32, base, stride);
            steps.extend(accesses.iter().map(access));
            steps.push(Leave(false));
        }
        let found = shared(&steps).iter().any(|(_, race, _)| !race.same_warp);
        proptest::prop_assert_eq!(found, races_by_definition(&turns));
    }
}

//! Races between warps of a block. Those of lanes and of blocks are in the kernels of `tests/fixtures/diagnosed`.

use crate::lane_mask::LaneMask;
use proptest::prelude::Strategy as _;

use super::*;
use crate::check::testing::kernel;
use crate::check::{Collector, MistakeDetails, RaceFacts};

const R: AccessMark = AccessMark::Read;
const W: AccessMark = AccessMark::Write;
const A: AccessMark = AccessMark::Atomic;
const STRONG_R: AccessMark = AccessMark::StrongRead;
const STRONG_W: AccessMark = AccessMark::StrongWrite;

#[derive(Clone, Copy)]
enum Step {
    Enter(u32),
    Leave(bool),
    Barrier,
    /// Kind, instruction, address of each lane as `base + lane * stride`.
    Do(AccessMark, u32, u64, i32),
}
use Step::*;

/// Stores that always change memory.
struct Store;

impl Values for Store {
    fn stored(&self, lane: u32, _: u32, _: u32) -> u64 {
        7 + u64::from(lane)
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

/// Runs warp 0's part, then warp 1's, and ends both.
fn in_turn(first: &[Step], second: &[Step]) -> Vec<Step> {
    [&[Enter(0)], first, &[Leave(true), Enter(1)], second, &[Leave(true)]].concat()
}

/// Returns the races that are found in the steps of one block.
fn shared(steps: &[Step]) -> Vec<RaceFacts> {
    let kernel = kernel(&[1, 2, 3, 4]);
    let mut out = Collector::new(&kernel, [1, 1, 1], [128, 1, 1]);
    let mut races = SharedRaces::new(&kernel);
    races.begin_block(0);
    let mut warp = 0;
    for &step in steps {
        match step {
            Enter(next) => {
                warp = next;
                races.interval.enter(next);
            }
            Leave(done) => races.interval.leave(done, &mut out),
            Barrier => races.interval.barrier(&mut out),
            Do(kind, instr, base, stride) => {
                let touch = Touch {
                    kind,
                    strong: !matches!(kind, R | W),
                    instr,
                    warp,
                    mask: LaneMask::ALL,
                    distinct: if stride == 0 { LaneMask::of(0) } else { LaneMask::ALL },
                    base,
                    bytes: 4,
                    runs: &touch_runs(stride),
                    cells: Cells::default(),
                    lanes: &std::array::from_fn(|lane| lane as i32 * stride),
                    pattern: stride as u64,
                    overlapping: stride == 0,
                    values: (kind == W).then_some(&Store as &dyn Values),
                };
                races.access(&touch, &mut out);
            }
        }
    }
    races.end_block(&mut out);
    out.groups()
        .map(|group| match &group.first.details {
            MistakeDetails::Race(race) => (**race).clone(),
            _ => panic!("not a race"),
        })
        .collect()
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
fn a_loop_is_one_entry_and_its_repeats_are_found() {
    let mut steps = vec![Enter(0)];
    steps.extend((0..100).map(|k| Do(R, 1, 1024 + 4 * k, 0)));
    steps.extend([Leave(true), Enter(1), Do(W, 0, 1024 + 200, 4)]);
    let found = shared(&steps);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].address, 1224);
}

/// A warp's turn: after a barrier or not, and what it accesses (kind, base, distance of lanes).
type Turn = (u32, bool, Vec<(AccessMark, u64, i32)>);

/// Returns whether accesses race by definition: two warps, the same word, no barrier between, kinds that race.
fn races_by_definition(turns: &[Turn]) -> bool {
    let mut since_barrier: Vec<(u32, AccessMark, u64)> = Vec::new();
    for (warp, barrier, accesses) in turns {
        if *barrier {
            since_barrier.clear();
        }
        for &(kind, base, stride) in accesses {
            for lane in 0..32 {
                let word = base.wrapping_add_signed(i64::from(lane * stride));
                let races = |&(other, past, at): &(u32, AccessMark, u64)| {
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
            let access = |&(kind, base, stride): &(AccessMark, u64, i32)| Do(kind, kind as u32, base, stride);
            steps.extend(accesses.iter().map(access));
            steps.push(Leave(false));
        }
        let found = shared(&steps).iter().any(|race| !race.same_warp);
        proptest::prop_assert_eq!(found, races_by_definition(&turns));
    }
}

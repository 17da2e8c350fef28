//! What goes on by itself in an SM, one kind of event after another, in traces made by hand.

use sass::instruction::Control;
use timing::{Access, Block, Chip, Event, Instruction, Reach, Reason, Sectors, Setting, Trace, Unit, Work, simulate};

/// A barrier in shared memory.
const BARRIER: u32 = 64;
/// Rows of a box, and its bytes: 128 in a row.
const ROWS: u16 = 64;
const BYTES: u32 = 128 * ROWS as u32;
const SECTORS: Sectors = Sectors { first: 0, n: BYTES as u16 / 32 };

/// An instruction of a warp.
#[derive(Clone, Copy)]
enum Act {
    Plain(Unit, Access),
    Does(Unit, Event),
    /// Groups of copies that may be left.
    WaitsForCopies(u8),
}

const INIT: Act = Act::Does(Unit::SharedBarrier, Event::Init { barrier: BARRIER, arrivals: 1 });
const EXPECT: Act = arrive(1, BYTES as i32);
const LOAD: Act = load(1, BYTES);
const STORE: Act = Act::Does(Unit::BoxCopy, Event::Store { rows: ROWS, sectors: SECTORS });
const END_GROUP: Act = Act::Plain(Unit::CopyGroup, Access::None);
const MEET_ALL: Act = Act::Plain(Unit::Barrier, Access::None);
const ARRIVE_IN_CLUSTER: Act = Act::Plain(Unit::ClusterArrive, Access::None);
const WAIT_FOR_CLUSTER: Act = Act::Plain(Unit::ClusterWait, Access::None);
const OTHER: Act = Act::Plain(Unit::Alu, Access::None);

const fn arrive(arrivals: u32, bytes: i32) -> Act {
    Act::Does(Unit::SharedBarrier, Event::Arrive { barrier: BARRIER, is_remote: false, arrivals, bytes })
}

const fn load(blocks: u16, bytes: u32) -> Act {
    load_with_edge(blocks, bytes, bytes)
}

/// A copy of which so many bytes lie inside of the matrix.
const fn load_with_edge(blocks: u16, bytes: u32, inside: u32) -> Act {
    Act::Does(Unit::BoxCopy, Event::Load { barrier: BARRIER, blocks, rows: ROWS, bytes, inside, sectors: SECTORS })
}

const fn wait(phases: u32) -> Act {
    Act::Does(Unit::SharedBarrier, Event::Wait { barrier: BARRIER, phases })
}

const fn meet(id: u8, waits: bool) -> Act {
    Act::Does(Unit::Barrier, Event::Meet { id, threads: 64, waits })
}

/// Clocks at which the instructions of a warp are issued, the last of which is its exit.
type Clocks = Vec<u64>;

struct Run {
    warps: Vec<Clocks>,
    /// Why each warp waited for its last instruction.
    reasons: Vec<Option<Reason>>,
    is_stuck: bool,
    work: Work,
}

/// Simulates a block of these warps, alone on its SM; an exit follows the last instruction of each.
fn run(warps: &[&[Act]]) -> Run {
    let mut program = Vec::new();
    let mut block = Block::default();
    for acts in warps {
        let mut trace = Trace { sectors: (0..SECTORS.n.into()).collect(), ..Trace::default() };
        for act in acts.iter().chain([&Act::Plain(Unit::Branch, Access::None)]) {
            trace.push(program.len() as u32);
            program.push(match *act {
                Act::Plain(unit, access) => {
                    trace.steps.last_mut().expect("it was pushed").access = access;
                    on(unit)
                }
                Act::Does(unit, event) => {
                    trace.happened(event);
                    on(unit)
                }
                Act::WaitsForCopies(pending) => Instruction { pending, ..on(Unit::CopyWait) },
            });
        }
        block.warps.push(trace);
    }
    let reach = Reach::default();
    let window = Some(0..u64::MAX);
    let setting = Setting { resident: 1, shared: 0, active_sms: 1, load: 1.0, beside: &[], reach: &reach, window };
    let outcome = simulate(chip(), &program, &[&block], setting);
    let (warps, reasons) = (vec![Vec::new(); warps.len()], vec![None; warps.len()]);
    let mut run = Run { warps, reasons, is_stuck: outcome.is_stuck, work: outcome.work };
    for issue in outcome.issues.iter().flatten() {
        run.warps[issue.warp as usize].push(issue.clock);
        run.reasons[issue.warp as usize] = Some(issue.waited);
    }
    run
}

/// Returns the clocks of a single warp, which ends.
#[track_caller]
fn alone(acts: &[Act]) -> Clocks {
    let mut run = run(&[acts]);
    assert!(!run.is_stuck);
    run.warps.remove(0)
}

/// Returns the clocks of two warps, which end.
#[track_caller]
fn two(first: &[Act], second: &[Act]) -> [Clocks; 2] {
    let run = run(&[first, second]);
    assert!(!run.is_stuck);
    run.warps.try_into().expect("there are two")
}

/// Returns these instructions after many others.
fn late(acts: &[Act]) -> Vec<Act> {
    [&[OTHER; 100], acts].concat()
}

fn on(unit: Unit) -> Instruction {
    Instruction {
        unit,
        sources: [None; 3],
        bytes: 4,
        bypasses: true,
        pending: 0,
        columns: 0,
        shared_rows: 0,
        depth: if unit == Unit::WarpProduct { 32 } else { 0 },
        awaits_launch: false,
        ends_group: false,
        control: Control { stall: 1, ..Control::default() },
    }
}

fn chip() -> &'static Chip {
    Chip::h200()
}

fn last(clocks: &[u64]) -> u64 {
    *clocks.last().expect("it has an exit")
}

#[test]
fn a_warp_goes_on_when_the_box_is_there_that_it_awaits() {
    let run = run(&[&[INIT, EXPECT, LOAD, wait(1)]]);
    let [_, _, load, wait, exit] = run.warps[0][..] else { panic!("{:?}", run.warps) };
    let latency = chip().l2_latency + chip().phase_latency;
    let bytes = f64::from(BYTES) / chip().l2_bytes_alone;
    assert!(wait - load <= chip().phase_issue, "the copy goes on by itself");
    assert!((latency..latency + 2 * bytes as u64).contains(&(exit - load)), "{} {latency}", exit - load);
    assert_eq!(run.reasons, [Some(Reason::Global)]);
}

#[test]
fn boxes_take_their_turn() {
    const TWICE: Act = arrive(1, 2 * BYTES as i32);
    let one = alone(&[INIT, EXPECT, LOAD, wait(1)]);
    let two = alone(&[INIT, TWICE, LOAD, LOAD, wait(1)]);
    let later = last(&two) - last(&one);
    assert!(later >= (f64::from(ROWS) * chip().box_row) as u64, "{later}");
    assert!(later <= 2 * (f64::from(BYTES) / chip().l2_bytes_alone) as u64, "their latencies overlap: {later}");
}

#[test]
fn a_phase_that_has_ended_long_ago_is_not_waited_for() {
    let long_ago = [&[INIT, arrive(1, 0)][..], &late(&[wait(1)])].concat();
    let clocks = alone(&long_ago);
    let [.., wait, exit] = clocks[..] else { panic!("{clocks:?}") };
    assert_eq!(exit - wait, 1);
}

#[test]
fn a_warp_knows_of_an_arrival_after_the_latency_of_a_phase() {
    let arrival = late(&[arrive(1, 0)]);
    let [arrives, waits] = two(&[&[INIT, MEET_ALL], &arrival[..]].concat(), &[MEET_ALL, wait(1)]);
    assert_eq!(last(&waits) - arrives[arrives.len() - 2], chip().phase_latency);
}

#[test]
fn an_arrival_in_another_block_takes_longer() {
    let [own, remote] = [false, true].map(|is_remote| {
        let event = Event::Arrive { barrier: BARRIER, is_remote, arrivals: 1, bytes: 0 };
        last(&alone(&[INIT, Act::Does(Unit::SharedBarrier, event), wait(1)]))
    });
    assert_eq!(remote - own, chip().remote_latency);
}

#[test]
fn an_arrival_after_copies_ends_a_phase_when_they_are_there() {
    let copy = Act::Plain(Unit::Copy, Access::Copy { passes: 4, sectors: Sectors { first: 0, n: 16 }, wavefronts: 4 });
    let after = Act::Does(Unit::SharedBarrier, Event::ArriveAfterCopies { barrier: BARRIER, arrivals: 1 });
    let [_, copied, arrives, _, exit] = alone(&[INIT, copy, after, wait(1)])[..] else { panic!("it has five") };
    assert!(arrives - copied < chip().l2_latency, "it is no wait");
    assert!(exit - copied >= chip().l2_latency + chip().phase_latency, "{}", exit - copied);
}

/// Asserts that a warp waits that nothing wakes.
#[track_caller]
fn assert_stuck(warps: &[&[Act]]) {
    let run = run(warps);
    assert!(run.is_stuck);
    assert!(warps.iter().zip(&run.warps).any(|(acts, clocks)| clocks.len() == acts.len()), "one has no exit");
}

#[test]
fn a_phase_without_all_arrivals_and_bytes_never_ends() {
    let of_two = Act::Does(Unit::SharedBarrier, Event::Init { barrier: BARRIER, arrivals: 2 });
    assert_stuck(&[&[of_two, arrive(1, 0), wait(1)]]);
    assert!(!run(&[&[of_two, arrive(2, 0), wait(1)]]).is_stuck);
    assert_stuck(&[&[INIT, arrive(1, 0), wait(2)]]);
    let arrives_late = [&[INIT, MEET_ALL][..], &late(&[arrive(1, 0)])].concat();
    assert_stuck(&[&arrives_late, &[MEET_ALL, wait(2)]]);
    assert_stuck(&[&[INIT, EXPECT, load(1, BYTES / 2), wait(1)]]);
    assert!(!run(&[&[INIT, EXPECT, load(1, BYTES / 2), load(1, BYTES / 2), wait(1)]]).is_stuck);
    // Each of two blocks copies half to both.
    assert!(!run(&[&[INIT, EXPECT, load(2, BYTES / 2), wait(1)]]).is_stuck);
    let skipped = Act::Plain(Unit::SharedBarrier, Access::Skipped);
    assert_stuck(&[&[INIT, skipped, wait(1)]]);
}

#[test]
fn what_a_box_has_outside_of_the_matrix_delays_the_rest() {
    let end = |inside| last(&alone(&[INIT, EXPECT, load_with_edge(1, BYTES, inside), wait(1)]));
    let (whole, at_edge) = (end(BYTES), end(BYTES / 2));
    let more = f64::from(BYTES / 2) / chip().outside_bytes;
    assert!(((at_edge - whole) as f64 - more).abs() <= f64::from(ROWS), "{whole} {at_edge}");
}

#[test]
fn later_blocks_are_delayed_only_where_box_after_box_lies_outside() {
    let program = [on(Unit::SharedBarrier), on(Unit::BoxCopy), on(Unit::Branch)];
    let barrier = BARRIER;
    // Clocks of the second of two blocks, of two boxes each, of which so many bytes lie inside.
    let second = |inside: [u32; 2]| {
        let mut trace = Trace { sectors: (0..SECTORS.n.into()).collect(), ..Trace::default() };
        let mut act = |instruction, event| {
            trace.push(instruction);
            trace.happened(event);
        };
        act(0, Event::Init { barrier, arrivals: 1 });
        act(0, Event::Arrive { barrier, is_remote: false, arrivals: 1, bytes: 2 * BYTES as i32 });
        for inside in inside {
            act(1, Event::Load { barrier, blocks: 1, rows: ROWS, bytes: BYTES, inside, sectors: SECTORS });
        }
        act(0, Event::Wait { barrier, phases: 1 });
        trace.push(2);
        let block = Block { warps: vec![trace] };
        let reach = &Reach::default();
        let setting = Setting { resident: 1, shared: 0, active_sms: 1, load: 1.0, beside: &[], reach, window: None };
        let ends = simulate(chip(), &program, &[&block, &block], setting).ends;
        ends[1] - ends[0]
    };
    assert_eq!(second([BYTES, BYTES / 2]), second([BYTES; 2]));
    assert!(second([BYTES / 2; 2]) > second([BYTES; 2]) + 100);
}

#[test]
fn a_wait_for_stores_ends_when_their_boxes_are_read() {
    let exit = |waits: &[Act]| last(&alone(&[&[STORE, END_GROUP, STORE, END_GROUP], waits].concat()));
    let [none, one, both] = [&[][..], &[Act::WaitsForCopies(1)], &[Act::WaitsForCopies(0)]].map(exit);
    let read = (f64::from(ROWS) * chip().box_row) as u64;
    assert!(one - none >= chip().box_read, "{none} {one}");
    assert!(both - one >= read, "{one} {both}");
    assert_eq!(exit(&[Act::WaitsForCopies(2)]), none + 1, "it is one instruction more");
}

#[test]
fn a_warp_that_only_arrives_goes_on_and_lets_the_other_go_on() {
    let [arrives, waits] = two(&late(&[meet(1, false)]), &[meet(1, true)]);
    let [.., arrival, exit] = arrives[..] else { panic!("{arrives:?}") };
    assert!(exit - arrival <= chip().alu);
    let barrier = chip().barrier..=chip().barrier + 2 * chip().barrier_per_warp;
    assert!(barrier.contains(&(last(&waits) - arrival)), "{arrival} {waits:?}");
    // In the other order it need not wait.
    let [arrives, waits] = two(&[meet(1, false)], &late(&[meet(1, true)]));
    assert!(last(&arrives) < waits[100]);
    assert!(barrier.contains(&(last(&waits) - waits[100])));
}

#[test]
fn warps_that_wait_for_each_other_go_on_together() {
    let [first, second] = two(&[meet(1, true)], &late(&[meet(1, true)]));
    assert_eq!(last(&first), last(&second));
    assert!(last(&first) - second[100] >= chip().barrier);
    assert_stuck(&[&[meet(1, true)], &[meet(2, true)]]);
}

#[test]
fn the_barrier_of_a_cluster_is_for_all_warps_of_a_block() {
    const BOTH: [Act; 2] = [ARRIVE_IN_CLUSTER, WAIT_FOR_CLUSTER];
    let [first, second] = two(&BOTH, &late(&BOTH));
    assert_eq!(first[1] - first[0], 1, "an arrival does not wait");
    assert_eq!(last(&first), last(&second));
    assert_eq!(last(&first) - second[100], chip().cluster_barrier + chip().barrier_per_warp);
}

#[test]
fn a_barrier_that_is_executed_for_no_lane_does_not_count() {
    let skipped = Act::Plain(Unit::Barrier, Access::Skipped);
    let [passes, waits] = two(&[&[skipped], &late(&[])[..]].concat(), &[MEET_ALL]);
    assert!(passes[1] - passes[0] <= chip().alu);
    // The barrier is complete when the other warp has ended.
    assert!(last(&waits) >= last(&passes), "{} {}", last(&waits), last(&passes));
    let [goes_on, meets] = two(&[&[MEET_ALL], &late(&[])[..]].concat(), &[MEET_ALL]);
    assert!(last(&meets) < last(&goes_on), "{} {}", last(&meets), last(&goes_on));
}

#[test]
fn what_goes_on_beside_warps_is_recorded() {
    let product = Act::Plain(Unit::WarpProduct, Access::None);
    let run = run(&[&[INIT, EXPECT, LOAD, wait(1), product, STORE]]);
    let clocks = &run.warps[0];
    let [load, store] = run.work.transfers.as_slice() else { panic!("{:?}", run.work) };
    assert_eq!((load.barrier, load.bytes, load.is_store), (Some(BARRIER), BYTES.into(), false));
    assert_eq!(load.unit.start, clocks[2]);
    assert_eq!(load.end + chip().phase_latency, clocks[4]);
    assert_eq!((store.barrier, store.bytes, store.is_store), (None, BYTES.into(), true));
    assert_eq!(store.unit.start, clocks[5]);
    let [product] = run.work.products.as_slice() else { panic!("{:?}", run.work) };
    assert_eq!(product.clocks, clocks[4]..clocks[4] + chip().warp_product);
}

//! A traced warp: its steps, in order, with the addresses that the counters were made of.

mod common;

use std::sync::Mutex;

use common::header;
use program::MemSpace;
use simt::gpu::{Geometry, Gpu};
use simt::launch::LaunchOptions;
use simt::memory::rules::{self, Direction};
use simt::report::LaunchReport;
use simt::trace::{Event, Observer, Step, TraceSelection};

/// Each thread loads a word, 8 bytes apart, stores it to shared memory, waits and, in odd lanes only, stores it back.
const KERNEL: &str = include_str!("ptx/traced.ptx");

fn traced(selection: TraceSelection) -> (u64, LaunchReport, Vec<Step>) {
    let gpu = Gpu::with_memory(1 << 24);
    let module = gpu.load(&format!("{}{KERNEL}", header())).expect("it is valid");
    let kernel = &module.kernels()[0];
    let buffer = gpu.upload(&[0_u32; 128]);
    let params = kernel.param_block(&[buffer.into()]).expect("its parameter");
    let request = Geometry::line(2, 64).request(params, LaunchOptions::default());
    let (report, steps) = gpu.trace(kernel, &request, selection).expect("it starts");
    (buffer, report, steps.into_iter().map(|(_, step)| step).collect())
}

fn one_warp(block: u32, warp: u32) -> TraceSelection {
    TraceSelection { block: [block, 0, 0], warp: Some(warp), max_steps: 1000 }
}

fn mnemonics(report: &LaunchReport, steps: &[Step]) -> String {
    let text = |step: &Step| report.instructions[step.instr as usize].text.clone();
    let words: Vec<String> = steps.iter().map(text).collect();
    let first = |text: &String| text.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default().to_owned();
    words.iter().map(first).collect::<Vec<_>>().join(" ")
}

#[test]
fn steps_come_in_the_order_in_which_they_ran() {
    let (_, report, steps) = traced(one_warp(0, 0));
    insta::assert_snapshot!(mnemonics(&report, &steps), @"ld.param.u64 mov.u32 mul.wide.u32 add.s64 ld.global.u32 shl.b32 mov.u32 add.s32 st.shared.u32 bar.sync and.b32 setp.ne.u32 st.global.u32 ret;");
}

#[test]
fn an_access_has_the_addresses_of_its_active_lanes() {
    let (buffer, _, steps) = traced(one_warp(1, 1));
    let accesses: Vec<_> = steps.iter().filter_map(|step| step.access.as_ref()).collect();
    let [_, load, shared, store] = accesses[..] else { panic!("{accesses:?}") };
    assert_eq!((load.space, load.direction, load.bytes), (MemSpace::Global, Direction::Load, 4));
    assert_eq!(load.addresses[0], Some(buffer + 32 * 8));
    assert_eq!(load.addresses[31], Some(buffer + 63 * 8));
    assert_eq!(shared.space, MemSpace::Shared);
    let [first, last] = [shared.addresses[0], shared.addresses[31]].map(|a| a.expect("active"));
    assert_eq!(last - first, 31 * 4);
    assert_eq!((store.direction, store.addresses[0]), (Direction::Store, None));
    assert_eq!(store.addresses[1], Some(buffer + 33 * 8));
    assert_eq!(steps.last().map(|step| step.lanes), Some(u32::MAX));
}

#[test]
fn its_sectors_add_up_to_the_counters() {
    let sectors = |block, warp| -> (u64, LaunchReport) {
        let (_, report, steps) = traced(one_warp(block, warp));
        let accesses = steps.iter().filter_map(|step| step.access.as_ref());
        let loads = accesses.filter(|a| a.direction.is_load() && a.space == MemSpace::Global);
        let n = loads.map(|a| u64::from(rules::sectors(&a.addresses, a.bytes))).sum();
        (n, report)
    };
    let all: u64 = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(block, warp)| sectors(block, warp).0).iter().sum();
    let (_, report) = sectors(0, 0);
    assert_eq!(all, report.total.global_load_sectors);
    assert_eq!(all, 4 * 8);
}

#[test]
fn no_more_steps_are_kept_than_asked_for() {
    let (_, _, steps) = traced(TraceSelection { max_steps: 3, ..one_warp(0, 0) });
    assert_eq!(steps.len(), 3);
    assert!(traced(one_warp(0, 9)).2.is_empty());
}

/// An event with its block and its warp.
type Observed = (u64, u32, Event);

/// Keeps the events of warps; blocks with an even number are done once they have started a copy.
#[derive(Default)]
struct Events(Mutex<Vec<Observed>>);

impl Observer for Events {
    fn observes(&self, _: u64, _: u32) -> bool {
        true
    }

    fn is_done(&self, block: u64) -> bool {
        let events = self.0.lock().expect("no test panics with it");
        block.is_multiple_of(2)
            && events.iter().any(|(of, _, event)| *of == block && matches!(event, Event::Load { .. }))
    }

    fn step(&self, _: u64, _: u32, _: Step) {}

    fn event(&self, block: u64, warp: u32, _: u32, event: Event) {
        self.0.lock().expect("no test panics with it").push((block, warp, event));
    }
}

/// Returns the events of two blocks of `awaited_copy.ptx` that copy their own numbers, and what they have stored.
fn events() -> (Vec<Observed>, [Vec<u32>; 2], LaunchReport) {
    let gpu = Gpu::with_memory(1 << 24);
    let module = gpu.load(include_str!("ptx/awaited_copy.ptx")).expect("it is valid");
    let kernel = &module.kernels()[0];
    let buffer = gpu.upload(&[[1_u32; 64], [0; 64], [2; 64], [0; 64]].concat());
    let params = kernel.param_block(&[buffer.into()]).expect("its parameter");
    let events = Events::default();
    let request = Geometry::line(2, 64).request(params, LaunchOptions::default());
    let report = gpu.observe(kernel, &request, &events).expect("it starts");
    let stored = [256, 768].map(|offset| gpu.read(buffer + offset, 64));
    (events.0.into_inner().expect("no test panics with it"), stored, report)
}

#[test]
fn events_are_those_of_the_barrier_and_of_the_copy() {
    let (events, _, report) = events();
    assert!(report.mistakes.is_empty(), "{:?}", report.mistakes);
    let of_warp = |wanted| {
        let of_warp = events.iter().filter(move |(block, warp, _)| (*block, *warp) == (1, wanted));
        of_warp.map(|(_, _, event)| event.clone()).collect::<Vec<_>>()
    };
    let all = Event::Meet { id: 0, threads: 0, waits: true };
    let [init, meet, arrive, load, waits @ ..] = &of_warp(0)[..] else { panic!("{:?}", of_warp(0)) };
    let Event::Init { barrier, arrivals: 1 } = *init else { panic!("{init:?}") };
    assert_eq!(*meet, all);
    assert_eq!(*arrive, Event::Arrive { barrier, is_remote: false, arrivals: 1, bytes: 256 });
    let Event::Load { barrier: of_copy, blocks: 1, bytes: 256, runs } = load else { panic!("{load:?}") };
    assert_eq!((*of_copy, runs.iter().map(|run| run.bytes).sum::<u32>()), (barrier, 256));
    // Each lane waits.
    let has_ended = |event: &&Event| **event == Event::Wait { barrier, ended: Some(1) };
    assert_eq!(waits.iter().filter(has_ended).count(), 32, "{waits:?}");
    let second = of_warp(1);
    assert_eq!((second.first(), second.iter().filter(has_ended).count()), (Some(&all), 32), "{second:?}");
}

#[test]
fn a_block_ends_when_all_is_known_of_it() {
    let (events, [done, whole], _) = events();
    assert_eq!((done, whole), (vec![0; 64], vec![2; 64]));
    let is_wait = |event: &Event| matches!(event, Event::Wait { .. });
    assert!(!events.iter().any(|(block, _, event)| *block == 0 && is_wait(event)), "{events:?}");
}

/// Runs the second cluster of two blocks.
struct LastBlock;

impl Observer for LastBlock {
    fn runs(&self, block: u64) -> bool {
        block == 3
    }

    fn observes(&self, _: u64, _: u32) -> bool {
        false
    }

    fn step(&self, _: u64, _: u32, _: Step) {}
}

#[test]
fn a_block_runs_with_the_others_of_its_cluster() {
    const KERNEL: &str = "
        .version 8.7
        .target sm_90
        .address_size 64
        .visible .entry numbers(.param .u64 out) {
            .reg .b32 %r<2>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %ctaid.x;
            mul.wide.u32 %rd2, %r1, 4;
            add.s64 %rd1, %rd1, %rd2;
            barrier.cluster.arrive.aligned;
            barrier.cluster.wait.aligned;
            st.global.u32 [%rd1], %r1;
            ret;
        }";
    let gpu = Gpu::with_memory(1 << 20);
    let module = gpu.load(KERNEL).expect("it is valid");
    let out = gpu.upload(&[9_u32; 6]);
    let params = module.kernels()[0].param_block(&[out.into()]).expect("its parameter");
    let options = LaunchOptions { cluster: Some([2, 1, 1]), ..LaunchOptions::default() };
    let request = Geometry::line(6, 32).request(params, options);
    gpu.observe(&module.kernels()[0], &request, &LastBlock).expect("it starts");
    assert_eq!(gpu.read::<u32>(out, 6), [9, 9, 2, 3, 9, 9]);
}

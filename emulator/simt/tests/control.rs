//! Control flow: divergence, loops, locks, flags, barriers.

mod common;

use common::{Device, codes};
use program::MemSpace;
use simt::check::{BadOperand, KnownOfLoop, MistakeDetails, PolledElement};
use simt::launch::CheckLevel;

/// Returns a kernel with one pointer parameter in `%rd1`, the thread in `%r1`, and room for more registers.
fn kernel(shared: &str, body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out)\n{{\n{shared}\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
         mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
    )
}

/// Launches a kernel with `n` words; returns the codes of what is found, and what the words are.
#[track_caller]
fn launched(check_level: CheckLevel, body: &str, [grid, block]: [u32; 2], n: usize) -> (Vec<String>, Vec<u32>) {
    let device = Device::new(&kernel(".shared .align 4 .b8 tile[4096];", body)).check_level(check_level);
    let out = device.words(&vec![0; n]);
    let report = device.launch_line(grid, block, &[out.into()]);
    (codes(&report), device.read(out, n))
}

/// Runs a kernel in which nothing is found; returns its word per thread.
#[track_caller]
fn outcome(body: &str, grid: u32, block: u32) -> Vec<u32> {
    let (codes, words) = launched(CheckLevel::Checked, body, [grid, block], (grid * block) as usize);
    assert_eq!(codes, [""; 0]);
    words
}

#[test]
fn nested_divergence_meets_inside_out() {
    let body = include_str!("ptx/nested_divergence.ptx");
    let each = |t: u32| 32 + if t & 1 == 0 { 0 } else { 10 + 16 + if t & 2 == 0 { 0 } else { 100 } };
    assert_eq!(outcome(body, 1, 32), (0..32).map(each).collect::<Vec<_>>());
}

/// Threads that wait for another number of threads than those that are there.
#[test]
fn threads_that_meet_at_a_barrier_count_alike() {
    let check = |first: &str, then: &str, expected: &[&str]| {
        let body = format!("setp.lt.u32 %p1, %r1, 32; @%p1 bra A; {then} bra B; A: {first} B: bar.sync 0;");
        assert_eq!(launched(CheckLevel::Checked, &body, [1, 64], 1).0, expected, "{body}");
    };
    check("bar.arrive 1, 64;", "bar.sync 1, 64;", &[]);
    check("bar.arrive 1, 64;", "bar.sync 2, 32;", &[]);
    check("bar.sync 1, 32; bar.arrive 1, 64;", "bar.sync 1, 64;", &[]);
    check("bar.arrive 1, 96;", "bar.arrive 1, 64;", &["E-OPERAND"]);
    check("bar.arrive 1, 64;", "bar.sync 1, 32;", &["E-OPERAND"]);
}

/// An operand that barriers and jump tables do not take ends the launch, with or without checks.
#[test]
fn operands_out_of_range_are_told() {
    for (body, first, value, lanes) in [
        ("mov.u32 %r5, 0; bar.arrive 1, %r5;", BadOperand::BarrierThreads, 0, u32::MAX),
        ("mov.u32 %r5, 2048; bar.sync 1, %r5;", BadOperand::BarrierThreads, 2048, u32::MAX),
        ("mov.u32 %r5, 33; barrier.sync 1, %r5;", BadOperand::BarrierThreads, 33, u32::MAX),
        (
            "setp.eq.u32 %p1, %r1, 3; mov.u32 %r5, 1; bar.red.popc.u32 %r6, 1, %r5, %p1;",
            BadOperand::BarrierThreads,
            1,
            u32::MAX,
        ),
        (
            "and.b32 %r5, %r1, 3; TABLE: .branchtargets A, B, C; brx.idx %r5, TABLE; A: B: C:",
            BadOperand::BranchIndex { targets: 3 },
            3,
            0x8888_8888,
        ),
        (
            "TABLE: .branchtargets A; mov.u32 %r5, -1; setp.ne.u32 %p1, %r1, %r1; @%p1 brx.idx %r5, TABLE; @!%p1 brx.idx %r5, TABLE; A:",
            BadOperand::BranchIndex { targets: 1 },
            u32::MAX,
            u32::MAX,
        ),
    ] {
        for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked] {
            let device = Device::new(&kernel("", body)).check_level(check_level);
            let report = device.launch_line(1, 64, &[0_u64.into()]);
            assert_eq!(codes(&report), ["E-OPERAND"], "{body} {check_level:?}");
            let mistake = &report.mistakes.groups[0].first;
            let expected = MistakeDetails::Operand { problem: first, value };
            assert_eq!((&mistake.details, mistake.mask.bits()), (&expected, lanes), "{body} {check_level:?}");
        }
    }
}

/// An H200 looks at four bits of a barrier's number; a checked launch reports it and goes on.
#[test]
fn the_number_of_a_barrier_is_cut() {
    let body = include_str!("ptx/number_of_a_barrier.ptx");
    for (check_level, expected) in [(CheckLevel::Off, &[][..]), (CheckLevel::Checked, &["E-OPERAND"])] {
        let (codes, words) = launched(check_level, body, [1, 64], 64);
        assert_eq!(codes, expected, "{check_level:?}");
        assert_eq!(words, [[1; 32], [17; 32]].concat());
    }
}

/// A barrier that waits for more threads than there are is never complete.
#[test]
fn a_barrier_for_more_threads_than_the_block_has_is_told() {
    assert_eq!(launched(CheckLevel::Checked, "bar.sync 1, 96;", [1, 64], 1).0, ["E-BARRIER"]);
}

#[test]
fn threads_that_wait_for_each_other_are_told() {
    let body = include_str!("ptx/waits_for_each_other.ptx");
    for check_level in [CheckLevel::Off, CheckLevel::Checked] {
        assert_eq!(launched(check_level, body, [2, 64], 64).0, ["E-BARRIER"], "{check_level:?}");
    }
}

#[test]
fn different_barriers_in_two_branches_go_on_and_are_told() {
    let body = include_str!("ptx/different_barriers.ptx");
    let (codes, words) = launched(CheckLevel::Checked, body, [1, 64], 64);
    assert_eq!(codes, ["E-BARRIER"]);
    assert_eq!(words, [[2; 10].as_slice(), &[1; 54]].concat());
}

#[test]
fn an_endless_loop_ends_with_its_budget() {
    let body = include_str!("ptx/endless_loop.ptx");
    for check_level in [CheckLevel::Off, CheckLevel::Checked] {
        let mut device = Device::new(&kernel("", body)).check_level(check_level);
        device.budget = 1_000_000;
        let report = device.launch_line(50, 64, &[0_u64.into()]);
        assert_eq!(codes(&report), ["E-LOOP"], "{check_level:?}");
        assert_eq!(report.mistakes.groups[0].first.block, 0);
    }
}

#[test]
fn a_loop_that_never_ends_is_found_before_the_budget_is_spent() {
    // The condition tests what stays, or what comes back after some rounds; something else changes all the time.
    let loops = [
        ("add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r6, 9; @%p1 bra LOOP;", KnownOfLoop::Endless),
        ("add.u32 %r5, %r5, 1; add.u32 %r6, %r6, 1; and.b32 %r6, %r6, 7; bra LOOP;", KnownOfLoop::Endless),
        (
            "st.global.u32 [%rd3], %r5; xor.b32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 2; @%p1 bra LOOP;",
            KnownOfLoop::Endless,
        ),
        ("match.any.sync.b32 %r5, %r6, -1; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP;", KnownOfLoop::Endless),
        ("redux.sync.add.u32 %r5, %r6, -1; setp.lt.u32 %p1, %r5, 9; @%p1 bra LOOP;", KnownOfLoop::Endless),
        ("ld.global.u32 %r6, [%rd3]; setp.eq.u32 %p1, %r6, 0; @%p1 bra LOOP;", KnownOfLoop::EndlessAlone),
    ];
    for (body, expected) in loops {
        for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked] {
            let text = kernel("", &format!("mov.u32 %r5, 0; mov.u32 %r6, 0; LOOP: {body}"));
            let mut device = Device::new(&text).check_level(check_level);
            device.budget = 1 << 60;
            let words = device.words(&[0; 32]);
            let report = device.launch_line(1, 32, &[words.into()]);
            let found = &report.mistakes.groups[0].first.details;
            assert!(matches!(found, MistakeDetails::Runaway { known, .. } if *known == expected), "{body} {found:?}");
        }
    }
}

#[test]
fn the_budget_is_the_whole_launchs() {
    let first = |threads: usize| {
        let mut device = Device::new(&kernel("", "st.global.u32 [%rd3], %r1;"));
        device.budget = 5000;
        device.threads = threads;
        let out = device.words(&[0; 32 * 400]);
        let report = device.launch_line(400, 32, &[out.into()]);
        (codes(&report), report.mistakes.groups[0].first.clone())
    };
    assert_eq!(first(1), first(2));
    assert_eq!(first(2).0, ["E-LOOP"]);
}

#[test]
fn what_takes_long_counts_as_many_instructions() {
    let mma = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r6, %r7}, {%r8, %r8}, {%r8}, {%r8, %r8};";
    // What a loop does a thousand times, and whether that fits into a budget of twice the loop's instructions.
    let cases = [
        ("add.u32 %r7, %r7, 1;", true),
        ("atom.global.add.u32 %r7, [%rd3], 1;", false),
        ("ld.volatile.global.u32 %r7, [%rd3];", false),
        ("ld.global.u32 %r7, [%rd3+65536];", false),
        (mma, false),
    ];
    for (work, fits) in cases {
        let body = format!(include_str!("ptx/takes_long.ptx"), work = work);
        let mut device = Device::new(&kernel("", &body));
        device.budget = 2 * 4 * 32 * 1000;
        let words = device.words(&[0; 32]);
        let report = device.launch_line(1, 32, &[words.into()]);
        assert_eq!(!codes(&report).iter().any(|code| code == "E-LOOP"), fits, "{work}: {:?}", codes(&report));
    }
}

#[test]
fn blocks_that_are_set_aside_are_counted_once() {
    let launched = |cluster: &str, threads: usize, rounds: u32, budget: u64| {
        let text = include_str!("ptx/set_aside.ptx").replace("// cluster", cluster);
        let mut device = Device::new(&text);
        (device.threads, device.budget) = (threads, budget);
        let out = device.words(&[0; 4]);
        let report = device.launch_line(4, 1, &[out.into(), rounds.into()]);
        let group = &report.mistakes.groups[0];
        assert_eq!((group.first.block, group.n_threads, group.n_blocks), (1, 3, 3), "{cluster} {threads}");
        (codes(&report).join(" "), report.mistakes.stopped)
    };
    for (cluster, threads) in [("", 1), ("", 2), (".reqnctapercluster 2", 1)] {
        assert_eq!(launched(cluster, threads, 5000, u64::MAX), ("E-OOB".into(), false));
    }
    // Where the launch stops at a block that waits, the mistakes of later ones that wait, too, are kept.
    assert_eq!(launched("", 1, u32::MAX, 1 << 27), ("E-OOB E-LOOP".into(), true));
}

#[test]
fn a_launch_of_blocks_that_poll_forever_ends_early() {
    let launched = |gives_up: &str| {
        let mut device = Device::new(&include_str!("ptx/polls_forever.ptx").replace("// gives up", gives_up));
        device.budget = 1 << 31;
        let out = device.words(&[7; 3]);
        let begin = std::time::Instant::now();
        (device.launch_line(3, 1, &[out.into()]), out, begin.elapsed())
    };
    let (stopped, out, soon) = launched("");
    // A loop that gives up has its whole budget.
    let (gives_up, _, late) = launched("add.u32 %tries, %tries, 1; setp.eq.u32 %p, %tries, 2500000; @%p bra DONE;");
    assert_eq!(codes(&gives_up), [""; 0]);
    assert!(soon * 4 < late, "{soon:?} {late:?}");
    let MistakeDetails::Runaway { known, .. } = stopped.mistakes.groups[0].first.details else { panic!("{stopped:?}") };
    let polled = PolledElement { space: MemSpace::Global, address: out, bytes: 4, value: 7 };
    assert_eq!(known, KnownOfLoop::OthersWait { ended: 1, polled: Some(polled) });
}

#[test]
fn a_trap_stops_at_the_lowest_block() {
    let body = "
        setp.lt.u32 %p1, %r2, 7;
        @!%p1 trap;
        st.global.u32 [%rd3], 1;";
    for threads in [1, 2] {
        let mut device = Device::new(&kernel("", body));
        device.threads = threads;
        let out = device.words(&[0; 32 * 100]);
        let report = device.launch_line(100, 32, &[out.into()]);
        assert_eq!(codes(&report), ["E-TRAP"]);
        let group = &report.mistakes.groups[0];
        assert_eq!((group.first.block, group.n_blocks), (7, 1));
        assert_eq!(device.read(out, 7 * 32), vec![1; 7 * 32]);
    }
}

#[test]
fn lanes_that_a_shuffle_names_are_waited_for() {
    // Both halves of the warp come to the same shuffle, one after the other.
    let body = include_str!("ptx/waited_for_by_a_shuffle.ptx");
    assert_eq!(outcome(body, 1, 32), (0..32).map(|t| t ^ 1).collect::<Vec<_>>());
}

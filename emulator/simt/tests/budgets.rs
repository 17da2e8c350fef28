//! What a launch costs of its budget: no kernel holds the launch for hours because what it does is slow.

mod common;

use std::time::{Duration, Instant};

use common::{Device, codes};
use simt::check::MistakeDetails;
use simt::launch::CheckLevel;

/// Nanoseconds of a step, at most. On an idle machine it is less than 0.6, with which the default budget, 10¹², lasts for
/// less than ten minutes; the tests run beside others.
const NANOSECONDS_PER_STEP: u64 = 3;

/// Kernels that never end, each with its grid and its block.
const ENDLESS: [(&str, &str, u32, u32); 9] = [
    ("polls", "again: ld.volatile.global.u32 %v, [%out]; setp.eq.u32 %p, %v, 0; @%p bra again;", 2, 32),
    ("naps", "again: nanosleep.u32 20; ld.volatile.global.u32 %v, [%out]; bra again;", 2, 32),
    (
        "half a warp at a barrier",
        "mov.u32 %v, %tid.x; setp.lt.u32 %p, %v, 16; @%p bra again; bar.sync 0; bra done;
         again: ld.volatile.global.u32 %v, [%out]; add.u32 %i, %i, 1; setp.eq.u32 %p, %v, 0; @%p bra again; done:",
        1,
        32,
    ),
    (
        "half of each warp naps",
        "mov.u32 %v, %laneid; setp.lt.u32 %p, %v, 16; @%p bra again; bar.sync 0; bra done;
         again: nanosleep.u32 20; ld.volatile.global.u32 %v, [%out]; add.u32 %i, %i, 1; bra again; done:",
        1,
        1024,
    ),
    ("barriers", "again: bar.sync 0; bra again;", 1, 256),
    (
        "prints",
        "mov.u64 %f, text; again:
         { .param .b64 p0; st.param.b64 [p0], %f; .param .b64 p1; st.param.b64 [p1], 0; .param .b32 r;
           call (r), vprintf, (p0, p1); }
         bra again;",
        1,
        32,
    ),
    ("atomics", "again: atom.global.add.u32 %v, [%out], 1; bra again;", 2, 32),
    ("reductions", "again: red.global.add.f32 [%out], 0f3F800000; bra again;", 2, 32),
    (
        "products",
        "again: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%d0,%d1,%d2,%d3}; bra again;",
        1,
        32,
    ),
];

fn endless(body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64
        .global .b8 text[12] = {{104,101,108,108,111,32,119,111,114,108,100,0}};
        .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
        .entry k(.param .u64 out) {{
            .reg .b64 %out, %f; .reg .b32 %v, %i; .reg .pred %p;
            .reg .f32 %d<4>; .reg .b32 %a<4>, %b<2>;
            ld.param.u64 %out, [out]; mov.u32 %i, 0;
            mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
            mov.u32 %a0, 0; mov.u32 %a1, 0; mov.u32 %a2, 0; mov.u32 %a3, 0; mov.u32 %b0, 0; mov.u32 %b1, 0;
            {body}
            ret; }}"
    )
}

#[test]
fn no_loop_is_slower_than_its_budget() {
    const BUDGET: u64 = 1 << 28;
    for (name, body, grid, block) in ENDLESS {
        for level in [CheckLevel::Off, CheckLevel::Checked] {
            let mut device = Device::new(&endless(body)).check_level(level);
            device.budget = BUDGET;
            let out = device.words(&[0; 32]);
            let start = Instant::now();
            let report = device.launch_line(grid, block, &[out.into()]);
            let taken = start.elapsed();
            assert_eq!(codes(&report), ["E-LOOP"], "{name}");
            assert!(taken < Duration::from_nanos(BUDGET * NANOSECONDS_PER_STEP), "{name}, {level:?}: {taken:?}");
        }
    }
}

#[test]
fn blocks_cost_some_of_the_budget() {
    let budget = 1 << 28;
    for block in [1, 1024] {
        for threads in [1, 2] {
            let mut device = Device::new(".entry k() { ret; }").check_level(CheckLevel::Checked);
            (device.budget, device.threads) = (budget, threads);
            let start = Instant::now();
            let report = device.launch_line(i32::MAX as u32, block, &[]);
            let taken = start.elapsed();
            assert_eq!(codes(&report), ["E-LOOP"]);
            let group = &report.mistakes.groups[0];
            let MistakeDetails::Runaway { ended, proven: false, .. } = group.first.details else { panic!("{group:?}") };
            assert_eq!(ended, Some(group.first.block + 1));
            assert!(taken < Duration::from_nanos(budget * NANOSECONDS_PER_STEP), "{block}: {taken:?}");
        }
    }
}

/// Thread 0 waits for a word of shared memory, the other threads at a barrier.
const HALF: &str = ".entry k() {
    .shared .b32 flag; .reg .b32 %t, %v; .reg .pred %p;
    mov.u32 %t, %tid.x;
    st.volatile.shared.u32 [flag], 0;
    bar.sync 0;
    setp.lt.u32 %p, %t, 16;
    @%p bra again;
    bar.sync 0;
    bra done;
again:
    ld.volatile.shared.u32 %v, [flag];
    setp.eq.u32 %p, %v, 0;
    @%p bra again;
done:
    ret; }";

#[test]
fn threads_that_poll_what_nobody_changes_are_found_at_once() {
    for (grid, block) in [(1, 32), (1, 256), (40, 64)] {
        let mut device = Device::new(HALF);
        device.budget = u64::MAX;
        let report = device.launch_line(grid, block, &[]);
        assert_eq!(codes(&report), ["E-BARRIER", "E-LOOP"]);
        let details = report.mistakes.groups.iter().map(|group| &group.first.details);
        let proven = |details: &MistakeDetails| matches!(details, MistakeDetails::Runaway { proven: true, .. });
        assert!(details.into_iter().any(proven));
    }
}

#[test]
fn threads_that_poll_and_count_go_on() {
    // The loop gives up after many rounds: its registers do not repeat.
    let counts = "add.u32 %t, %t, 1; setp.eq.u32 %p, %t, 1000000; @%p bra done; ld.volatile.shared.u32";
    let text = HALF.replacen("ld.volatile.shared.u32", counts, 1);
    let device = Device::new(&text).check_level(CheckLevel::Off);
    device.run(1, 16, &[]);
}

/// All threads of two blocks meet: thread 0 of each counts and waits, the others wait at a barrier.
const GRID: &str = ".entry k(.param .u64 out) {
    .reg .b64 %out; .reg .b32 %t, %v, %n; .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u32 %n, 0;
round:
    mov.u32 %t, %tid.x;
    setp.ne.u32 %p, %t, 0;
    @%p bra meet;
    atom.global.add.u32 %v, [%out], 1;
    add.u32 %n, %n, 2;
again:
    ld.volatile.global.u32 %v, [%out];
    setp.lt.u32 %p, %v, %n;
    @%p bra again;
meet:
    bar.sync 0;
    bra round; }";

#[test]
fn a_barrier_of_the_grid_that_runs_out_of_budget_is_no_deadlock() {
    for threads in [1, 2] {
        let mut device = Device::new(GRID);
        (device.budget, device.threads) = (20_000_000, threads);
        let out = device.words(&[0]);
        let report = device.launch_line(2, 64, &[out.into()]);
        assert_eq!(codes(&report), ["E-LOOP"]);
        let details = &report.mistakes.groups[0].first.details;
        assert!(matches!(details, MistakeDetails::Runaway { proven: false, ended: None, .. }), "{details:?}");
    }
}

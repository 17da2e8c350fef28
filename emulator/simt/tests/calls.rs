//! Calls of functions that are not inlined: frames, lanes, what is kept, and what is refused.

mod common;

use common::{Device, codes};
use simt::check::{BadTarget, MistakeDetails};
use simt::launch::CheckLevel;

/// Returns a kernel with a pointer in `%rd1`, the thread in `%r1` and its word at `%rd3`, after functions.
fn device(functions: &str, body: &str) -> Device {
    Device::new(&format!(
        "{functions}\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n\
         .reg .b64 %rd<16>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n\
         add.u64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
    ))
}

/// Runs a kernel with and without checks; asserts the word that each thread leaves.
#[track_caller]
fn check(functions: &str, body: &str, threads: u32, expected: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..threads).map(expected).collect();
    for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::CheckedWithGlobalRaces] {
        let device = device(functions, body).check_level(check_level);
        let out = device.words(&vec![0; threads as usize]);
        device.run(1, threads, &[out.into()]);
        assert_eq!(device.read(out, threads as usize), expected, "{check_level:?}");
    }
}

/// Asserts that the checks find one mistake with this code; returns its details.
#[track_caller]
fn found(functions: &str, body: &str, code: &str) -> MistakeDetails {
    let device = device(functions, body);
    let out = device.words(&[0; 32]);
    let report = device.launch_line(1, 32, &[out.into()]);
    assert_eq!(codes(&report), [code]);
    report.mistakes.groups[0].first.details.clone()
}

/// `sum(n) = n + sum(n - 1)`, kept in an array meanwhile.
const SUM: &str = include_str!("ptx/recursive_sum.ptx");

/// Returns a call of a function of one word, of the value in `%r4`, to `%r5`: of one in a register, with the prototype
/// `P`.
fn call(function: &str) -> String {
    let prototype = if function.starts_with('%') { ", P" } else { "" };
    format!(
        "{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4;
        P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (b), {function}, (a){prototype}; ld.param.b32 %r5, [b]; }}"
    )
}

#[test]
fn a_guard_holds_for_the_call() {
    let body = "and.b32 %r6, %r1, 1; setp.ne.u32 %p1, %r6, 0; mov.u32 %r4, %r1;
        { .reg .b32 %r5; mov.u32 %r5, 3; } mov.u32 %r5, 100;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; st.param.b32 [b], %r5;
        @!%p1 call (b), sum, (a); ld.param.b32 %r5, [b]; }
        st.global.u32 [%rd3], %r5;";
    check(SUM, body, 32, |t| if t % 2 == 0 { t * (t + 1) / 2 } else { 100 });
}

#[test]
fn everything_is_kept() {
    // Registers of both widths and predicates, used behind a call in a loop.
    let body = format!(include_str!("ptx/keeps_everything.ptx"), call("sum"));
    check(SUM, &body, 64, |t| {
        let sum = |n: u32| n * (n + 1) / 2;
        let more = u32::from(t % 4 == 2) + 10 * u32::from(t <= 20) + 1000 * t;
        (0..3).fold(7, |all, round| all + sum(round + t % 4) + more)
    });
}

const TABLE: &str = include_str!("ptx/table_of_functions.ptx");

fn through(index: &str) -> String {
    format!(
        "mov.u32 %r4, %r1; {index} mov.u64 %rd6, table; mul.wide.u32 %rd7, %r6, 8; add.u64 %rd8, %rd6, %rd7;
        ld.global.u64 %rd9, [%rd8];\n{}\nst.global.u32 [%rd3], %r5;",
        call("%rd9")
    )
}

#[test]
fn a_listed_function_has_the_prototype() {
    let body = include_str!("ptx/listed_function.ptx");
    check(TABLE, body, 32, |t| t * t);
}

#[test]
fn an_address_that_is_no_such_function() {
    let target = |body: &str| match found(TABLE, body, "E-CALL") {
        MistakeDetails::Call { problem, .. } => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(target(&through("mov.u32 %r6, 3;")), BadTarget::NoFunction);
    assert_eq!(target(&through("mov.u32 %r6, 2;")), BadTarget::OtherSignature("wide".into()));
    let body = format!("add.u64 %rd9, %rd1, 4;\nmov.u32 %r4, 1;\n{}", call("%rd9"));
    assert_eq!(target(&body), BadTarget::NoFunction);
}

/// An activation's array starts undefined, and undefined values of the caller stay undefined after the call.
#[test]
fn undefined_values_propagate_through_calls() {
    let functions = include_str!("ptx/function_with_an_array.ptx");
    let twice = |first: u32, second: u32| {
        format!(
            "mov.u32 %r4, {first};\n{}\nmov.u32 %r4, {second};\n{}\nadd.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;",
            call("f").replace("P:", "P1:"),
            call("f").replace("P:", "P2:")
        )
    };
    check(functions, &twice(7, 7), 32, |_| 8);
    found(functions, &twice(7, 3), "E-UNINIT");

    let keeps = format!(
        ".local .align 4 .b8 x[4]; mov.u32 %r4, 3; ld.local.u32 %r8, [x];\n{}\nadd.u32 %r9, %r8, %r5;
        st.global.u32 [%rd3], %r9;",
        call("sum")
    );
    found(SUM, &keeps, "E-UNINIT");
    let unused = keeps.replace("add.u32 %r9, %r8, %r5;", "mov.u32 %r9, %r5;");
    check(SUM, &unused, 32, |_| 6);
}

/// Lanes wait for each other inside functions, also where others have not called at all.
#[test]
fn lanes_meet_inside_functions() {
    let functions = include_str!("ptx/function_that_gathers.ptx");
    // Half of the lanes call twice; the barrier of all counts them at the same depth.
    let body = format!("mov.u32 %r4, 2;\n{}\nst.global.u32 [%rd3], %r5;", call("gather"));
    check(functions, &body, 32, |_| 32 * 9 + 32 * 3 + 32);
}

/// A lane that spins inside a function lets those go on that it waits for.
#[test]
fn lanes_make_progress_inside_functions() {
    let functions = include_str!("ptx/function_that_waits.ptx");
    let body = include_str!("ptx/calls_to_waiting_function.ptx");
    for check_level in [CheckLevel::Off, CheckLevel::Count, CheckLevel::Checked] {
        let device = device(functions, body).check_level(check_level);
        let out = device.words(&[0; 32]);
        device.run(1, 32, &[out.into()]);
        let expected: Vec<u32> = (0..32).map(|t| if t == 31 { 50 } else { 50 + t % 4 }).collect();
        assert_eq!(device.read(out, 32), expected);
    }
}

/// An instruction counts once for each activation that comes to it.
#[test]
fn activations_are_counted() {
    let body = format!("mov.u32 %r4, 5;\n{}\nst.global.u32 [%rd3], %r5;", call("sum"));
    let device = device(SUM, &body).check_level(CheckLevel::Count);
    let out = device.words(&[0; 32]);
    let report = device.run(1, 32, &[out.into()]);
    let count = |start: &str| {
        let line = report.instructions.iter().find(|i| i.text.starts_with(start));
        line.map(|i| i.counters.warp_instructions)
    };
    assert_eq!(count("sub.u32 %r2"), Some(5));
    assert_eq!(count("st.u32 [%rd2+8]"), Some(6));
    // Scalars are handed over in registers, as on a GPU; what is kept is not counted.
    assert_eq!(report.total.local_requests, 12);
}

/// Vector registers are parameters and results of inlined functions, and `mov` packs and unpacks one.
#[test]
fn vector_registers_are_handed_over() {
    let functions = "
        .func (.reg .v2 .u32 output) swap(.reg .v2 .u32 input)
        { .reg .v2 .u32 t; mov.u32 t.x, input.y; mov.u32 t.y, input.x; mov.v2.u32 output, t; ret; }";
    let body = include_str!("ptx/vector_registers.ptx");
    check(functions, body, 32, |t| (100 * t + 7) * 0x20001);
}

/// The part of shared memory that the system keeps is there, apart from the kernel's own arrays.
#[test]
fn reserved_shared_memory() {
    let body = include_str!("ptx/reserved_shared_memory.ptx");
    check("", body, 32, |t| t + 1000 + 288 + 1024);
}

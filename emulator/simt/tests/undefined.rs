//! Undefined values are followed: moving one is no mistake, using one is.

mod common;

use common::{Device, codes};
use simt::check::{MistakeDetails, Use};

/// Returns a kernel with an output of 64 words, a buffer of 256 bytes that nothing wrote, one of 64 words, and memory
/// of its own.
fn kernel(body: &str) -> String {
    format!(
        ".global .align 4 .b8 text[8] = {{37, 100, 10, 0}};
        .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
        .visible .entry k(.param .u64 out, .param .u64 raw, .param .u64 data) {{
        .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<16>;
        .shared .align 16 .b8 tile[1024]; .local .align 16 .b8 own[64];
        ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [raw]; ld.param.u64 %rd3, [data];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;
        add.u64 %rd1, %rd1, %rd4; add.u64 %rd3, %rd3, %rd4;
        {body}
        ret; }}"
    )
}

/// Returns the findings of 32 threads.
#[track_caller]
fn found(body: &str) -> (Vec<String>, Vec<Use>) {
    let mut all = Vec::new();
    for threads in [1, 3] {
        let mut device = Device::new(&kernel(body));
        device.threads = threads;
        let out = device.words(&[0; 64]);
        let raw = device.raw(256);
        let data = device.words(&(0..64).collect::<Vec<_>>());
        let report = device.launch_line(1, 32, &[out.into(), raw.into(), data.into()]);
        let uses = report
            .mistakes
            .groups
            .iter()
            .filter_map(|group| match group.first.details {
                MistakeDetails::Uninitialised { used, .. } | MistakeDetails::Unset { used, .. } => Some(used),
                _ => None,
            })
            .collect();
        all.push((codes(&report), uses));
    }
    assert_eq!(all[0], all[1], "{body}");
    all.remove(0)
}

/// Asserts that no check finds anything in this kernel body.
#[track_caller]
fn fine(body: &str) {
    assert_eq!(found(body).0, [""; 0], "{body}");
}

/// The value is only seen where the host may read it.
#[track_caller]
fn stored(body: &str) {
    assert_eq!(found(body).0, ["W-UNINIT"], "{body}");
}

#[track_caller]
fn used(body: &str, expected: fn(&Use) -> bool) {
    let (codes, uses) = found(body);
    assert_eq!(codes, ["E-UNINIT"], "{body}");
    assert!(expected(&uses[0]), "{body}: {uses:?}");
}

fn is_stored(used: &Use) -> bool {
    matches!(used, Use::Stored { .. })
}

const LOAD: &str = "ld.global.u32 %r2, [%rd2];";

#[test]
fn moving_is_no_use() {
    fine(LOAD);
    stored(&format!("{LOAD} st.global.u32 [%rd1], %r2;"));
    stored(&format!(
        "{LOAD} shl.b32 %r3, %r2, 8; shr.u32 %r3, %r3, 8; prmt.b32 %r4, %r3, %r2, 0x7210; st.global.u32 [%rd1], %r4;"
    ));
    // Half of what is stored is defined.
    fine(&format!(
        "{LOAD} mov.b64 %rd5, {{%r1, %r2}}; mov.u64 %rd6, tile; cvta.shared.u64 %rd6, %rd6; add.u64 %rd6, %rd6, %rd4; add.u64 %rd6, %rd6, %rd4; st.u64 [%rd6], %rd5;"
    ));
    fine(&format!("{LOAD} setp.lt.s32 %p1, %r2, 5;"));
    fine(&format!("{LOAD} add.u32 %r3, %r2, 5; mul.lo.u32 %r3, %r3, %r3;"));
}

#[test]
fn what_is_discarded_is_not_used() {
    fine(&format!(
        "{LOAD} setp.ge.u32 %p1, %r1, 0; selp.b32 %r3, %r1, %r2, %p1; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;"
    ));
    fine(&format!("{LOAD} and.b32 %r3, %r2, 0; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;"));
    fine(&format!("{LOAD} xor.b32 %r3, %r2, %r2; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;"));
    fine(&format!(
        "{LOAD} setp.gt.u32 %p1, %r1, 99; setp.lt.and.s32 %p2, %r2, 5, %p1; @%p2 bra L; st.global.u32 [%rd1], %r1; L:"
    ));
    fine(&format!("{LOAD} mov.u32 %r2, 3; add.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3;"));
    // Only half of the warp loads; the other half keeps what it had.
    fine(
        "mov.u32 %r2, 7; setp.lt.u32 %p1, %r1, 16; @%p1 ld.global.u32 %r2, [%rd2]; @%p1 mov.u32 %r2, 5; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;",
    );
}

#[test]
fn uses_are_told_as_what_they_are() {
    used(&format!("{LOAD} add.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3;"), is_stored);
    used(&format!("{LOAD} shl.b32 %r3, %r2, 1; st.global.u32 [%rd1], %r3;"), is_stored);
    used(&format!("{LOAD} setp.ne.s32 %p1, %r2, 0; @%p1 bra L; st.global.u32 [%rd1], %r1; L:"), |u| {
        *u == Use::Condition
    });
    used(&format!("{LOAD} setp.ne.s32 %p1, %r2, 0; @%p1 st.global.u32 [%rd1], %r1;"), |u| *u == Use::Condition);
    used(&format!("{LOAD} mul.wide.u32 %rd5, %r2, 4; add.u64 %rd5, %rd3, %rd5; ld.global.u32 %r3, [%rd5];"), |u| {
        *u == Use::Address
    });
    used("red.global.add.u32 [%rd2], 1;", |u| *u == Use::Atomic);
    used(&format!("{LOAD} red.global.add.u32 [%rd1], %r2;"), |u| *u == Use::Atomic);
    used(&format!("{LOAD} shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;"), |u| *u == Use::Control);
    // What is wrong with the mask for this reason is not reported once more.
    for sync in [
        "bar.warp.sync %r2; or.b32 %r2, %r2, -1;",
        "bar.warp.sync %r2; bar.warp.sync %r2;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, %r2;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, %r2; shfl.sync.idx.b32 %r3, %r1, 5, 31, %r2;",
        "vote.sync.ballot.b32 %r3, 1, %r2;",
    ] {
        let (codes, uses) = found(&format!("{LOAD} {sync}"));
        assert_eq!(codes, ["E-UNINIT"], "{sync}");
        assert_eq!(uses, [Use::Control], "{sync}");
    }
    used(
        &format!(
            "{LOAD} mov.u64 %rd7, own; st.local.u32 [%rd7], %r2; cvta.local.u64 %rd7, %rd7; mov.u64 %rd8, text;
        cvta.global.u64 %rd8, %rd8; {{ .param .b64 a0; .param .b64 a1; .param .b32 r0; st.param.b64 [a0], %rd8;
        st.param.b64 [a1], %rd7; call.uni (r0), vprintf, (a0, a1); ld.param.b32 %r5, [r0]; }}"
        ),
        |u| *u == Use::Printed,
    );
}

#[test]
fn memory_keeps_what_is_undefined() {
    let add = "add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;";
    let address = "mov.u64 %rd6, tile; add.u64 %rd6, %rd6, %rd4;";
    used(&format!("{LOAD} {address} st.shared.u32 [%rd6], %r2; ld.shared.u32 %r4, [%rd6]; {add}"), is_stored);
    used(&format!("{LOAD} st.local.u32 [own], %r2; ld.local.u32 %r4, [own]; {add}"), is_stored);
    fine(&format!("{address} st.shared.u32 [%rd6], %r1; ld.shared.u32 %r4, [%rd6]; {add}"));
    // Overwritten with something defined.
    fine(&format!(
        "{LOAD} {address} st.shared.u32 [%rd6], %r2; st.shared.u32 [%rd6], %r1; ld.shared.u32 %r4, [%rd6]; {add}"
    ));
    // One half of eight bytes: the other one may be used.
    let pair = "st.local.u32 [own+4], %r1; ld.local.u64 %rd5, [own]; ld.local.v2.u32 {%r5, %r6}, [own];";
    fine(&format!("{pair} shr.u64 %rd5, %rd5, 32; cvt.u32.u64 %r4, %rd5; {add}"));
    fine(&format!("{pair} mov.u32 %r4, %r6; {add}"));
    used(&format!("{pair} cvt.u32.u64 %r4, %rd5; {add}"), is_stored);
    used(&format!("{pair} mov.u32 %r4, %r5; {add}"), is_stored);
    // Bytes.
    fine(&format!("st.local.u8 [own+2], %r1; ld.local.u32 %r2, [own]; bfe.u32 %r4, %r2, 16, 8; {add}"));
    used(&format!("st.local.u8 [own+2], %r1; ld.local.u32 %r2, [own]; bfe.u32 %r4, %r2, 8, 8; {add}"), is_stored);
    used(
        "st.local.u8 [own+2], %r1; ld.local.s8 %r4, [own+3]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;",
        is_stored,
    );
    // An exchange is a load and a store.
    fine(&format!("{address} atom.shared.exch.b32 %r2, [%rd6], %r1; ld.shared.u32 %r4, [%rd6]; {add}"));
    used(&format!("{address} atom.shared.exch.b32 %r4, [%rd6], %r1; {add}"), is_stored);
}

#[test]
fn asynchronous_copies_carry_what_is_undefined() {
    let copy = |from: &str| {
        format!(
            "mov.u64 %rd6, tile; add.u64 %rd6, %rd6, %rd4; cvt.u32.u64 %r7, %rd6;
            cp.async.ca.shared.global [%r7], [{from}], 4; cp.async.commit_group; cp.async.wait_group 0;
            ld.shared.u32 %r4, [%rd6];"
        )
    };
    fine(&copy("%rd2"));
    fine(&format!("{} add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;", copy("%rd3")));
    used(&format!("{} add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;", copy("%rd2")), is_stored);
}

#[test]
fn lanes_pass_on_what_is_undefined() {
    let half = "mov.u32 %r2, 7; setp.lt.u32 %p1, %r1, 16; @%p1 ld.global.u32 %r2, [%rd2];";
    let add = "add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;";
    // All read from a lane that has something.
    fine(&format!("{half} shfl.sync.idx.b32 %r4, %r2, 20, 31, -1; {add}"));
    used(&format!("{half} shfl.sync.idx.b32 %r4, %r2, 3, 31, -1; {add}"), is_stored);
    let vote = "setp.gt.u32 %p2, %r2, 5; vote.sync.any.pred %p3, %p2, -1; @%p3 st.global.u32 [%rd1], %r1;";
    // Some lanes decide it already.
    fine(&format!("{half} {vote}"));
    used(&format!("{half} mov.u32 %r3, 0; setp.lt.u32 %p4, %r1, 16; selp.u32 %r2, %r2, %r3, %p4; {vote}"), |u| {
        *u == Use::Condition
    });
}

#[test]
fn two_causes_are_two_mistakes() {
    let (codes, _) = found(
        "ld.global.u32 %r2, [%rd2]; ld.local.u32 %r3, [own]; add.u32 %r4, %r2, %r3; st.global.u32 [%rd1], %r4;
        add.u32 %r5, %r4, %r2; st.global.u32 [%rd1+128], %r5;",
    );
    assert_eq!(codes, ["E-UNINIT", "E-UNINIT"]);
}

#[test]
fn copies_between_buffers_and_launches_carry_what_is_undefined() {
    let device = Device::new(&kernel("ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;"));
    let out = device.words(&[0; 64]);
    let raw = device.raw(256);
    let data = device.words(&[1; 64]);
    let arguments = [out.into(), raw.into(), data.into()];
    let run = |device: &Device| codes(&device.launch_line(1, 32, &arguments));
    assert_eq!(run(&device), [""; 0]);
    // Beyond what is read.
    device.gpu.memory.copy(data + 128, raw, 128).expect("in range");
    assert_eq!(run(&device), [""; 0]);
    device.gpu.memory.copy(data + 64, raw, 8).expect("in range");
    assert!(device.gpu.memory.holds_undefined(data, 128) && device.gpu.memory.written(data + 64, 8, 1) != Some(vec![]));
    assert_eq!(run(&device), ["E-UNINIT"]);
    device.gpu.memory.write(data + 64, &[0; 8]).expect("in range");
    assert_eq!(run(&device), [""; 0]);
}

#[test]
fn registers_that_nothing_has_set_are_undefined() {
    used("add.u32 %r3, %r7, 1; st.global.u32 [%rd1], %r3;", is_stored);
    used("fma.rn.f32 %f2, %f1, 0f40000000, %f1; st.global.f32 [%rd1], %f2;", is_stored);
    used("add.u64 %rd5, %rd9, 1; st.global.u32 [%rd1], %rd5;", is_stored);
    // A sum over rounds; it is named once.
    used(
        "mov.u32 %r3, 0; L: add.f32 %f1, %f1, 0f3f800000; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 bra L; \
         st.global.f32 [%rd1], %f1;",
        is_stored,
    );
    // Through shared memory.
    used(
        "mov.u64 %rd6, tile; add.u64 %rd6, %rd6, %rd4; st.shared.u32 [%rd6], %r7; ld.shared.u32 %r3, [%rd6]; \
         add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;",
        is_stored,
    );
    used("@%p3 bra L; st.global.u32 [%rd1], %r1; L:", |u| *u == Use::Condition);
    used("shr.u64 %rd9, %rd9, 62; shl.b64 %rd9, %rd9, 2; add.u64 %rd9, %rd9, %rd3; ld.global.u32 %r3, [%rd9];", |u| {
        *u == Use::Address
    });
    used("atom.global.add.u32 %r3, [%rd1], %r7;", |u| *u == Use::Atomic);
    // In half of the lanes.
    used("setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r7, 5; add.u32 %r3, %r7, 1; st.global.u32 [%rd1], %r3;", is_stored);
    stored("st.global.u32 [%rd1], %r7;");
}

#[test]
fn registers_without_a_value_that_are_not_used_are_no_mistake() {
    fine("add.u32 %r3, %r7, 1;");
    fine("mov.u32 %r3, %r7; mov.u32 %r3, 1; st.global.u32 [%rd1], %r3;");
    // As compilers write `if (c) x = 5; … if (c) use(x);`.
    fine("setp.lt.u32 %p1, %r1, 16; @%p1 mov.u32 %r7, 5; @%p1 add.u32 %r3, %r7, 1; @%p1 st.global.u32 [%rd1], %r3;");
    fine("setp.lt.u32 %p1, %r1, 99; selp.b32 %r3, %r1, %r7, %p1; add.u32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;");
    fine("setp.lt.u32 %p1, %r1, 99; setp.ne.u32 %p2, %r7, 3; or.pred %p3, %p1, %p2; @%p3 bra L; trap; L:");
    // The half of a pair that is used.
    fine(
        "cvt.u16.u32 %h2, %r1; mov.b32 %r3, {%h1, %h2}; shr.u32 %r3, %r3, 16; add.u32 %r3, %r3, 1; \
         st.global.u32 [%rd1], %r3;",
    );
    fine("shfl.sync.idx.b32 %r3, %r7, 0, 31, 0xffffffff;");
}

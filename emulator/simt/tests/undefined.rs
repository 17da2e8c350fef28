//! Undefined values propagate: moving one is not a mistake, using one is.

mod common;

use common::{Device, codes};
use simt::check::{MistakeDetails, Use};

/// Returns a kernel with an output of 64 words, an unwritten buffer of 256 bytes, one of 64 words, and local memory.
fn kernel(body: &str) -> String {
    format!(include_str!("ptx/undefined.ptx"), body = body)
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

/// Texts of the words in capitals of `undefined.txt`; some have others in them.
const SHORT: [(&str, &str); 9] = [
    ("COPY_RAW", "TILE cvt.u32.u64 %r7, %rd6; cp.async.ca.shared.global [%r7], [%rd2], 4; COPIED"),
    ("COPY_DATA", "TILE cvt.u32.u64 %r7, %rd6; cp.async.ca.shared.global [%r7], [%rd3], 4; COPIED"),
    ("COPIED", "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r4, [%rd6];"),
    ("HALF", "mov.u32 %r2, 7; setp.lt.u32 %p1, %r1, 16; @%p1 LOAD"),
    ("LOAD", "ld.global.u32 %r2, [%rd2];"),
    ("PAIR", "st.local.u32 [own+4], %r1; ld.local.u64 %rd5, [own]; ld.local.v2.u32 {%r5, %r6}, [own];"),
    ("TILE", "mov.u64 %rd6, tile; add.u64 %rd6, %rd6, %rd4;"),
    ("VOTE", "setp.gt.u32 %p2, %r2, 5; vote.sync.any.pred %p3, %p2, -1; @%p3 st.global.u32 [%rd1], %r1;"),
    ("USE", "add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;"),
];

#[test]
fn moving_is_no_mistake_and_using_is_one() {
    let rows = include_str!("undefined.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for row in rows {
        let (expected, body) = row.split_once(": ").expect("what is found");
        let body = SHORT.iter().fold(body.to_owned(), |body, (word, text)| body.replace(word, text));
        let expected: Vec<&str> = expected.split(' ').filter(|word| *word != "fine").collect();
        let code = |used: &&str| if *used == "Output" { "W-UNINIT" } else { "E-UNINIT" };
        let (codes, uses) = found(&body);
        assert_eq!(codes, expected.iter().map(code).collect::<Vec<_>>(), "{body}");
        let uses: Vec<String> = uses.iter().map(|used| format!("{used:?}")).collect();
        let names: Vec<&str> = uses.iter().filter_map(|used| used.split(' ').next()).collect();
        assert_eq!(names, expected, "{body}");
    }
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

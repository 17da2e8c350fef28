//! Asynchronous kernels: repaired ones without a finding; broken ones with what the checks say of them.
//!
//! What each broken kernel gives is a snapshot: its findings, and how much of C is wrong.

use std::sync::LazyLock;

use tasks::fixtures::Fixture;
use tests::asynchronous::Loaded;
use tests::{asynchronous, fixture};

static KERNELS: LazyLock<Vec<(Fixture, String)>> = LazyLock::new(|| fixture::folder("tests/fixtures/asynchronous"));

#[test]
fn right_kernels_are_clean() {
    let mut wrong = Vec::new();
    for kernel in KERNELS.iter().filter(|(one, _)| one.name.ends_with("_fixed")) {
        let loaded = Loaded::new(kernel);
        for threads in [1, 4] {
            let (text, _) = loaded.shown(threads);
            if !text.is_empty() {
                wrong.push(format!("{} ({threads}):\n{text}", kernel.0.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn broken_kernels_are_told_as_what_they_are() {
    let mut wrong = Vec::new();
    let settings = crate::snapshots_in("snapshots/asynchronous");
    for kernel in KERNELS.iter().filter(|(one, _)| one.name.ends_with("_broken")) {
        let name = &kernel.0.name;
        let (text, codes) = Loaded::new(kernel).shown(1);
        let expected = asynchronous::head(&kernel.0).expect;
        if expected.is_empty() != codes.is_empty() || expected.iter().any(|code| !codes.contains(code)) {
            wrong.push(format!("{name}: expected {expected:?}, found {codes:?}"));
        }
        let short = name.trim_end_matches("_broken").to_owned();
        settings.bind(|| insta::assert_snapshot!(short, text));
        assert_eq!(text, Loaded::new(kernel).shown(4).0, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
#[should_panic(expected = "odd.cu: unknown line `// blok: 32`")]
fn unknown_lines_of_a_kernel_are_refused() {
    let source = "// odd.cu: a kernel.\n// kernel: k\n// blok: 32\n".to_owned();
    asynchronous::head(&Fixture { name: "odd".to_owned(), path: "odd.cu".into(), source, ..Fixture::default() });
}

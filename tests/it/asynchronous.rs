//! The asynchronous kernels of v11: right and without a finding; broken ones with what the checks say of them.
//!
//! What each broken kernel gives is a snapshot: its findings, and how much of C is wrong.

use std::sync::LazyLock;

use tasks::fixtures::Fixture;
use tests::asynchronous::{Inputs, Loaded, committed};
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

/// The kernels of v11 as they are, from PTX and as machine code: right and without a finding, with tiles that blocks
/// share where they can, and with the same bits.
#[test]
fn kernels_of_v11_are_clean() {
    let mut wrong = Vec::new();
    let rows = include_str!("asynchronous.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#'));
    for row in rows {
        let (launch, parameters) = row.split_once(": ").expect("parameters");
        let [file, name, block, bytes] = launch.split(' ').collect::<Vec<_>>()[..] else {
            panic!("`{row}` lacks sizes")
        };
        // Each block of `v11_producer` needs a tile of its own; those of `split_k` are a multiple of the tiles.
        let blocks = match parameters {
            _ if parameters.ends_with("whole") => 3,
            _ if parameters.ends_with("beta C") => 4,
            _ => 2,
        };
        // More blocks than tiles: they hand each other sums, behind flags.
        let is_shared = parameters.ends_with("whole");
        let shared = if is_shared { "// launch: blocks 40 whole 0 shape 260 260 132\n" } else { "" };
        let head = format!(
            "// block: {block}\n// shared: {bytes}\n// product: {parameters}\n\
             // launch: blocks {blocks} whole 0 shape 140 132 36\n\
             // launch: blocks {blocks} whole 0 shape 140 132 292\n{shared}"
        );
        let kernel = committed(file, name, &head);
        let both = [Loaded::new(&kernel), Loaded::of_machine_code(&kernel)];
        for loaded in &both {
            let (text, _) = loaded.shown(1);
            if !text.is_empty() {
                wrong.push(format!("{file}:\n{text}"));
            }
        }
        let bits = |loaded: &Loaded<'_>| {
            let c = loaded.head.launches.iter().flat_map(|&launch| loaded.run(launch, 1, Inputs::Any).c);
            c.map(f32::to_bits).collect::<Vec<u32>>()
        };
        assert!(bits(&both[0]) == bits(&both[1]), "{name}");
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

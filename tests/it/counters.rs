//! The emulated GPU's counters against those that Nsight Compute recorded for the kernels of the ladder.
//!
//! `book/data/*-counters.json` has the hardware's side, with the launch. Ours is counted again here, of slow kernels
//! on the smallest size; all of it stands in `kernels/COUNTERS.md`, which `cargo xtask profile --table` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use ladder::counters::{Compared, OF_DIFFERENT_THINGS, PAIRS, Profile, REASONS, SHAPES, compare};
use ladder::{STEPS, Work};
use serde_json::{Map, Value};
use tests::gpu::Gpu;
use tests::recorded::{count_of, kernel, profiles, root};

/// Steps in which a thread has one element of C: an order of magnitude more instructions than in the others. They are
/// counted again on the smallest of [`SHAPES`] only.
pub(crate) const SLOW: [&str; 2] = ["v01", "v02"];

/// What was counted again, in the order of the records.
static COMPARED: LazyLock<Vec<(&'static Profile, Vec<Compared>)>> = LazyLock::new(|| {
    let profiles = profiles();
    let [.., smallest] = SHAPES;
    let quick =
        profiles.filter(|profile| !SLOW.contains(&profile.step.as_str()) || profile.shape.m == smallest.m);
    quick
        .map(|profile| {
            let compared = compare(profile, &count(profile));
            let name = format!("{} on {}", profile.kernel, profile.shape);
            (
                profile,
                compared.unwrap_or_else(|| panic!("{name}: a metric is missing")),
            )
        })
        .collect()
});

/// The recorded launch on the emulated GPU.
fn count(profile: &Profile) -> Map<String, Value> {
    let source = kernel(&profile.kernel).source.expect("a kernel with a source");
    let path = root().join("kernels/ptx").join(source).with_extension("ptx");
    let gpu = Gpu::with_memory(1 << 32);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let module = gpu.load(&text).expect("committed PTX loads");
    count_of(&gpu, &module, profile)
}

#[test]
fn every_kernel_of_the_ladder_is_on_record() {
    let kernels = STEPS.iter().flat_map(|step| step.kernels);
    for kernel in kernels.filter(|kernel| kernel.source.is_some()) {
        for shape in SHAPES {
            let shape = ladder::Shape {
                k: if kernel.work == Work::Transpose {
                    0
                } else {
                    shape.k
                },
                ..shape
            };
            let mut profiles = profiles();
            assert!(
                profiles.any(|profile| profile.kernel == kernel.name && profile.shape == shape),
                "{} on {shape} was never measured; on a machine with a GPU: cargo xtask profile all --save",
                kernel.name
            );
        }
    }
}

#[test]
fn counters_are_the_hardwares_or_the_difference_has_a_reason() {
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (profile, compared) in COMPARED.iter() {
        for one in compared.iter().filter(|one| one.difference() != 0) {
            assert!(
                ladder::counters::reason(&profile.kernel, one.pair.name).is_some(),
                "{} on {}: {} is {} here and {} on the hardware (run {}); if the kernel changed, measure it again where there is a GPU: \
                 cargo xtask profile {} --save; otherwise the emulated GPU counts wrong, or ladder::counters needs a \
                 reason",
                profile.kernel,
                profile.shape,
                one.pair.name,
                one.ours,
                one.theirs,
                profile.run,
                profile.step
            );
            used.insert((&profile.kernel, one.pair.name));
        }
    }
    for reason in REASONS {
        for kernel in reason.kernels {
            for counter in reason.counters {
                assert!(
                    used.contains(&(*kernel, *counter)),
                    "{counter} of {kernel} is equal everywhere: the reason for a difference can go"
                );
            }
        }
    }
    for counter in OF_DIFFERENT_THINGS.counters {
        assert!(used.iter().any(|(_, used)| used == counter), "{counter}");
    }
}

#[test]
fn the_table_says_what_is_on_record_and_what_is_counted() {
    const FRESH: &str = "write it again: cargo xtask profile --table";
    let text = fs::read_to_string(root().join("kernels/COUNTERS.md")).expect("kernels/COUNTERS.md");
    let mut rows: BTreeMap<(String, String, String), [String; 4]> = BTreeMap::new();
    let mut kernel = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            kernel = title.split(' ').next_back().unwrap_or_default().to_owned();
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [shape, counter, rest @ ..] = &cells[..]
            && let [ours, theirs, difference, why] = rest
            && PAIRS.iter().any(|pair| pair.name == *counter)
        {
            let key = (kernel.clone(), (*shape).to_owned(), (*counter).to_owned());
            rows.insert(
                key,
                [ours, theirs, difference, why].map(|cell| (*cell).to_owned()),
            );
        }
    }
    let key = |profile: &Profile, counter: &str| {
        (
            profile.kernel.clone(),
            profile.shape.to_string(),
            counter.to_owned(),
        )
    };
    for (profile, compared) in COMPARED.iter() {
        for one in compared {
            let [counter, cells @ ..] = one.cells(&profile.kernel);
            let found = rows.get(&key(profile, &counter));
            assert_eq!(
                found,
                Some(&cells),
                "{} {}: {counter}; {FRESH}",
                profile.kernel,
                profile.shape
            );
        }
    }
    // The hardware's side of the others.
    for profile in profiles() {
        for pair in PAIRS {
            let measured: u64 = pair.metrics.iter().map(|name| profile.metrics[*name]).sum();
            let row = rows.remove(&key(profile, pair.name));
            // Rows that are 0 on both sides are left out.
            let shown = row.map_or(Ok(0), |[_, theirs, ..]| theirs.replace(' ', "").parse());
            let name = format!("{} {}: {}", profile.kernel, profile.shape, pair.name);
            assert_eq!(shown, Ok(measured), "{name}; {FRESH}");
        }
    }
    assert!(rows.is_empty(), "rows of nothing on record: {rows:?}; {FRESH}");
}

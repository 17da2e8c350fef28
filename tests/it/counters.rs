//! The emulated GPU's counters against those that Nsight Compute recorded for the kernels of the ladder.
//!
//! `book/data/*-counters.json` has the hardware's side, with the launch. Ours is counted again here: of the size that
//! tiles divide, one row of blocks stands for all; slow kernels are left out of the middle size; the tests of v11 count
//! kernels that take tensor maps. All of it stands in `kernels/counters.json`, which `cargo xtask profile --table`
//! writes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use catalog::{STEPS, Work};
use records::profile::{Counted, OF_DIFFERENT_THINGS, PAGE, Profile, REASONS, SHAPES, SHEET, Sheet};
use tests::recorded::{RECORDS, columns_of_maps, count_of_rows, kernel, load, profiles};
use tests::{gpu::Gpu, read};

/// Steps in which a thread has one element of C: an order of magnitude more instructions than in the others. Of
/// [`SHAPES`] that no tile divides, they are counted again on the smallest only.
pub(crate) const SLOW: [&str; 2] = ["v01", "v02"];

static COMPARED: LazyLock<Vec<Counted>> = LazyLock::new(|| {
    let profiles = profiles();
    let [_, too_slow, _] = SHAPES;
    let quick = profiles.filter(|profile| !SLOW.contains(&profile.step.as_str()) || profile.shape.m != too_slow.m);
    let quick: Vec<&Profile> = quick.collect();
    quick.chunk_by(|a, b| a.kernel == b.kernel).flat_map(compared).collect()
});

/// Counts the launches of one kernel.
fn compared(profiles: &[&Profile]) -> Vec<Counted> {
    let name = &profiles[0].kernel;
    if columns_of_maps(name).is_some() {
        let sheet = sheet();
        let counted = |profile: &&Profile| sheet.find(name, Some(profile.shape)).cloned();
        let counted = profiles.iter().map(counted).collect::<Option<_>>();
        return counted.unwrap_or_else(|| panic!("{SHEET} has not all of {name}; {FRESH}"));
    }
    let gpu = Gpu::with_memory(1 << 32);
    let module = load(&gpu, kernel(name));
    let counted = |profile: &&Profile| Counted::new(profile, &count_of_rows(&gpu, &module, profile));
    let counted = profiles.iter().map(counted).collect::<Option<_>>();
    counted.unwrap_or_else(|| panic!("{name}: a metric is missing"))
}

/// Advice about a sheet that differs from what is counted.
const FRESH: &str = "write it again: cargo xtask profile --table";

fn sheet() -> Sheet {
    Sheet::parse(&read(SHEET)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_kernel_of_the_ladder_is_on_record() {
    let kernels = STEPS.iter().flat_map(|step| step.kernels.iter().map(move |kernel| (step.id, kernel)));
    for (step, kernel) in kernels.filter(|(_, kernel)| kernel.source.is_some()) {
        for shape in SHAPES {
            let shape = catalog::Shape { k: if kernel.work == Work::Transpose { 0 } else { shape.k }, ..shape };
            if columns_of_maps(kernel.name).is_some_and(|n| !shape.n.is_multiple_of(n) || !shape.k.is_multiple_of(n)) {
                continue; // Rows do not start on 16 bytes.
            }
            let mut profiles = profiles();
            assert!(
                profiles.any(|profile| profile.kernel == kernel.name && profile.shape == shape),
                "{} on {shape} was never measured; on a machine with a GPU: cargo xtask profile {step} --save",
                kernel.name
            );
        }
    }
}

#[test]
fn counters_are_the_hardwares_or_the_difference_has_a_reason() {
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    for counted in COMPARED.iter() {
        let Counted { kernel, shape, run, step, .. } = counted;
        for one in counted.compared().iter().filter(|one| one.difference() != 0) {
            let (name, ours, theirs) = (one.pair.name, one.ours, one.theirs);
            assert!(
                records::profile::reason(kernel, name).is_some(),
                "{kernel} on {shape}: {name} is {ours} here and {theirs} on the hardware (run {run}); if the kernel \
                 changed, measure it again where there is a GPU: cargo xtask profile {step} --save; otherwise the \
                 emulated GPU counts wrong, or records::profile needs a reason"
            );
            used.insert((kernel, name));
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
fn the_sheet_says_what_is_on_record_and_what_is_counted() {
    let sheet = sheet();
    for counted in COMPARED.iter() {
        let found = sheet.find(&counted.kernel, Some(counted.shape));
        assert_eq!(found, Some(counted), "{SHEET}; {FRESH}");
    }
    // The hardware's side of the others.
    for profile in profiles() {
        let found = sheet.find(&profile.kernel, Some(profile.shape));
        let name = format!("{} {}", profile.kernel, profile.shape);
        let found = found.unwrap_or_else(|| panic!("{SHEET} lacks {name}; {FRESH}"));
        assert_eq!((&found.run, Some(found.measured)), (&profile.run, profile.counts()), "{name}; {FRESH}");
    }
    assert_eq!(sheet.launches.len(), profiles().count(), "{SHEET}; {FRESH}");
    // In the order of the launches that they measured.
    let mut runs: Vec<_> = RECORDS.iter().flat_map(|record| &record.runs).collect();
    runs.sort_by_key(|by| profiles().position(|profile| profile.run == by.run.id));
    assert!(sheet.runs.iter().eq(runs), "{SHEET}; {FRESH}");
    assert!(sheet.text() == read(SHEET), "{SHEET} is laid out in another way; {FRESH}");
    assert!(sheet.page() == read(PAGE), "{PAGE} is not the page of {SHEET}; {FRESH}");
}

//! Counters of the kernels of `tests::accesses` against those that Nsight Compute reported on an H200.

use counters::Counters;
use simt::launch::{CheckLevel, LaunchOptions};
use tests::accesses::{BLOCK, BYTES, kernels, module};
use tests::gpu::{Geometry, Gpu};

/// A column of the table: its name here, and the counter.
type Column = (&'static str, fn(&Counters) -> u64);

const COLUMNS: [Column; 17] = [
    ("global loads", |c| c.global_load_requests),
    ("load sectors", |c| c.global_load_sectors),
    ("global stores", |c| c.global_store_requests),
    ("store sectors", |c| c.global_store_sectors),
    ("global atomics", |c| c.global_atomic_requests),
    ("atomic sectors", |c| c.global_atomic_sectors),
    ("shared loads", |c| c.shared_load_requests_merged),
    ("load wavefronts", |c| c.shared_load_wavefronts_merged),
    ("shared stores", |c| c.shared_store_requests_merged),
    ("store wavefronts", |c| c.shared_store_wavefronts_merged),
    ("shared atomics", |c| c.shared_atomic_requests_merged),
    ("atomic wavefronts", |c| c.shared_atomic_wavefronts),
    ("copies", |c| c.async_copy_requests),
    ("copy wavefronts", |c| c.async_copy_wavefronts),
    ("wavefronts", |c| {
        c.shared_load_wavefronts_merged
            + c.shared_store_wavefronts_merged
            + c.shared_atomic_wavefronts
            + c.async_copy_wavefronts
    }),
    ("ideal", |c| {
        c.shared_load_ideal_merged + c.shared_store_ideal_merged + c.shared_atomic_ideal + c.async_copy_ideal
    }),
    ("local", |c| c.local_requests),
];

/// Kernels by the beginning of their names, columns, and why they differ. Each must be needed.
const REASONS: &[(&str, &[&str], &str)] = &[
    (
        "global_red_add_f16_",
        &["global loads", "load sectors", "global atomics", "atomic sectors"],
        "ptxas makes a loop of loads and compare-and-swaps of it, which is not imitated",
    ),
    (
        "shared_red_max_u64_",
        &["shared loads", "load wavefronts", "shared atomics", "atomic wavefronts", "wavefronts", "ideal"],
        "the loop ends where memory holds more already, as it did there",
    ),
    ("cp_async_", &["shared loads"], "ptxas puts three loads that are never done before a group of copies"),
    ("cp_async_ca_4_strided", &["copy wavefronts", "wavefronts"], "a copy goes by the lines of its sources"),
    (
        "cp_async_cg_16_conflicts",
        &["load sectors", "copy wavefronts", "wavefronts"],
        "copies that bypass the cache ask twice where their targets lie apart",
    ),
    (
        "other_generic_",
        &["shared loads", "shared stores", "shared atomics"],
        "Nsight counts accesses by generic addresses apart",
    ),
];

#[test]
fn counters_are_those_of_the_hardware() {
    let table = tests::read("tests/data/accesses.csv");
    let measured: Vec<Vec<&str>> =
        table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect()).collect();
    let kernels = kernels();
    let gpu = Gpu::default();
    let module = gpu.load(&module(&kernels)).expect("kernels that load");
    let mut wrong = Vec::new();
    let mut needed = vec![false; REASONS.len()];
    for kernel in &kernels {
        let row = measured.iter().find(|row| row[0] == kernel.name);
        let row = row.unwrap_or_else(|| panic!("{} was not measured", kernel.name));
        let buffer = gpu.upload(&vec![0u8; BYTES]);
        let options = LaunchOptions { check_level: CheckLevel::Count, ..LaunchOptions::default() };
        let report = gpu
            .launch(&module, &kernel.name, Geometry::line(1, BLOCK), &[buffer.into()], options)
            .expect("a kernel that runs");
        for ((column, ours), theirs) in COLUMNS.iter().zip(&row[1..]) {
            let (ours, theirs) = (ours(&report.total), theirs.parse::<u64>().expect("a count"));
            if ours == theirs {
                continue;
            }
            let reason = REASONS
                .iter()
                .position(|(prefix, columns, _)| kernel.name.starts_with(prefix) && columns.contains(column));
            match reason {
                Some(at) => needed[at] = true,
                None => wrong.push(format!("{}: {column}: Nsight {theirs}, here {ours}", kernel.name)),
            }
        }
    }
    let unused = REASONS.iter().zip(needed).filter(|(_, needed)| !needed);
    wrong.extend(unused.map(|((prefix, columns, _), _)| format!("{prefix}: {columns:?} do not differ")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(measured.len(), kernels.len());
}

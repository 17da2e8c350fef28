//! The kernels in Rust are right, touch no local memory, and cost what their siblings in C++ cost.

use std::collections::HashSet;

use diagnostics::Report;
use simt::launch::CheckLevel;
use tests::gemm::{GemmKernel, Product};
use tests::{files_under, read, root};

use crate::ladder::KERNELS;

/// M, N and K: one, primes, one less and one more than a tile, and no edges.
#[rustfmt::skip]
const PRODUCTS: [[usize; 3]; 11] = [
    [1, 1, 1], [1, 129, 3], [131, 1, 5], [31, 33, 17], [33, 31, 1], [127, 129, 9], [129, 127, 7], [128, 128, 24],
    [101, 103, 107], [132, 260, 40], [128, 256, 96],
];
const TRANSPOSES: [[usize; 2]; 6] = [[1, 1], [1, 67], [67, 1], [31, 33], [101, 211], [128, 192]];

/// Counters that may differ: instructions, their order and loads of parameters are a compiler's, and passes over L1
/// depend on where the matrices lie, which the size of the module moves.
const MAY_DIFFER: [&str; 5] =
    ["warp_instructions", "thread_instructions", "divergent_branches", "constant_requests", "l1_passes"];

#[track_caller]
fn check_same(name: &str, shape: &[usize], reports: [Report; 2]) {
    let [cpp, rust] = reports.map(|report| {
        let mut counters = toml::Table::try_from(report.total).expect("numbers");
        counters.retain(|counter, _| !MAY_DIFFER.contains(&counter));
        counters
    });
    assert_eq!(cpp, rust, "{name}, {shape:?}");
}

fn siblings(kernels: &'static [GemmKernel]) -> impl Iterator<Item = (&'static GemmKernel, String)> {
    kernels.iter().filter_map(|kernel| Some((kernel, kernel.rust_ptx()?))).filter(|(kernel, _)| kernel.strip == 0)
}

#[test]
fn results_are_right_and_counters_those_of_cpp() {
    let level = CheckLevel::CheckedWithGlobalRaces;
    for shape @ [m, n, k] in PRODUCTS {
        let product = Product::<f32>::random(m, n, k, 29);
        let want = product.reference();
        for (kernel, rust) in siblings(&KERNELS.gemms) {
            let reports = [&kernel.ptx(), &rust].map(|ptx| product.check(kernel, ptx, level, &want));
            check_same(&kernel.name, &shape, reports);
        }
    }
    for shape @ [rows, cols] in TRANSPOSES {
        for (kernel, rust) in siblings(&KERNELS.transposes) {
            let reports = [&kernel.ptx(), &rust].map(|ptx| kernel.check_transpose(ptx, rows, cols));
            check_same(&kernel.name, &shape, reports);
        }
    }
}

/// A loop over registers that is not unrolled has them in local memory, a check of bounds that is left calls `panic`,
/// and a tile whose memory LLVM does not find is read by generic loads.
#[test]
fn code_has_no_local_memory_no_calls_and_no_generic_accesses() {
    let mut compared: HashSet<&str> = siblings(&KERNELS.gemms).map(|(kernel, _)| &*kernel.name).collect();
    compared.extend(siblings(&KERNELS.transposes).map(|(kernel, _)| &*kernel.name));
    for path in files_under(&root().join("kernels/rust"), "ptx") {
        for line in read(&path).lines().map(|line| line.split("//").next().unwrap_or(line).trim()) {
            let is_wrong = [".local", "call", "trap", "div.", "rem.", ".extern"].iter().any(|word| line.contains(word))
                || ["ld.b", "ld.v", "ld.f", "st.b", "st.v", "st.f"].iter().any(|start| line.starts_with(start));
            assert!(!is_wrong, "{}: {line}", path.display());
            let entry = line.strip_prefix(".visible .entry ").map(|rest| rest.trim_end_matches('('));
            assert!(entry.is_none_or(|entry| compared.contains(entry)), "{line} has no sibling in C++");
        }
    }
}

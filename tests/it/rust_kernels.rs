//! The kernels in Rust are right, touch no local memory, and cost what their siblings in C++ cost.

use std::fmt::Write as _;

use diagnostics::Report;
use simt::launch::CheckLevel;
use tests::gemm::{GemmKernel, Product};
use tests::{files_under, root};

use crate::ladder::KERNELS;

/// M, N and K: one, primes, one less and one more than a tile, and no edges.
const PRODUCTS: [[usize; 3]; 11] = [
    [1, 1, 1],
    [1, 129, 3],
    [131, 1, 5],
    [31, 33, 17],
    [33, 31, 1],
    [127, 129, 9],
    [129, 127, 7],
    [128, 128, 24],
    [101, 103, 107],
    [132, 260, 40],
    [128, 256, 96],
];
const TRANSPOSES: [[usize; 2]; 6] = [[1, 1], [1, 67], [67, 1], [31, 33], [101, 211], [128, 192]];

/// Counters that may differ: instructions, their order and loads of parameters are a compiler's, and passes over L1
/// depend on where the matrices lie, which the size of the module moves.
const MAY_DIFFER: [&str; 5] =
    ["warp_instructions", "thread_instructions", "divergent_branches", "constant_requests", "l1_passes"];

/// Adds the counters to a table in which two siblings differ.
fn compare(table: &mut String, name: &str, shape: &[usize], [cpp, rust]: [Report; 2]) {
    assert_eq!(rust.total.local_requests, 0, "{name}");
    let [cpp, rust] = [cpp, rust].map(|report| toml::Table::try_from(report.total).expect("numbers"));
    for (counter, of_cpp) in cpp {
        let of_rust = &rust[&counter];
        if *of_rust != of_cpp && !MAY_DIFFER.contains(&&*counter) {
            let _ = writeln!(table, "{name}, {shape:?}: {counter} {of_cpp} in C++, {of_rust} in Rust");
        }
    }
}

fn siblings(kernels: &'static [GemmKernel]) -> impl Iterator<Item = (&'static GemmKernel, String)> {
    kernels.iter().filter_map(|kernel| Some((kernel, kernel.rust_ptx()?))).filter(|(kernel, _)| kernel.strip == 0)
}

#[test]
fn results_are_right_and_counters_those_of_cpp() {
    let mut table = String::new();
    let level = CheckLevel::CheckedWithGlobalRaces;
    for shape in PRODUCTS {
        let product = Product::<f32>::random(shape[0], shape[1], shape[2], 29);
        let want = product.reference();
        for (kernel, rust) in siblings(&KERNELS.gemms) {
            let reports = [&kernel.ptx(), &rust].map(|ptx| product.check_ptx(kernel, ptx, level, &want));
            compare(&mut table, &kernel.name, &shape, reports);
        }
    }
    for shape in TRANSPOSES {
        for (kernel, rust) in siblings(&KERNELS.transposes) {
            let reports = [&kernel.ptx(), &rust].map(|ptx| kernel.check_transpose(ptx, shape[0], shape[1]));
            compare(&mut table, &kernel.name, &shape, reports);
        }
    }
    assert_eq!(table, "");
}

#[test]
fn every_kernel_is_compared() {
    let compared: Vec<&str> =
        siblings(&KERNELS.gemms).chain(siblings(&KERNELS.transposes)).map(|(k, _)| &*k.name).collect();
    for path in files_under(&root().join("kernels/rust"), "ptx") {
        let ptx = std::fs::read_to_string(path).expect("PTX");
        let entries = ptx.lines().filter_map(|line| line.strip_prefix(".visible .entry ")?.strip_suffix('('));
        entries.for_each(|entry| assert!(compared.contains(&entry), "{entry}"));
    }
}

/// A loop over registers that is not unrolled has them in local memory, a check of bounds that is left calls `panic`,
/// and a tile whose memory LLVM does not find is read by generic loads.
#[test]
fn code_has_no_local_memory_no_calls_and_no_generic_accesses() {
    for path in files_under(&root().join("kernels/rust"), "ptx") {
        let ptx = std::fs::read_to_string(&path).expect("PTX");
        let code = ptx.lines().map(|line| line.split("//").next().unwrap_or(line).trim());
        for line in code {
            let is_wrong = [".local", "call", "trap", "div.", "rem.", ".extern"].iter().any(|word| line.contains(word))
                || ["ld.b", "ld.v", "ld.f", "st.b", "st.v", "st.f"].iter().any(|start| line.starts_with(start));
            assert!(!is_wrong, "{}: {line}", path.display());
        }
    }
}

#[test]
fn nothing_spills() {
    for path in files_under(&root().join("kernels/rust"), "ptx") {
        let ptx = std::fs::read_to_string(&path).expect("PTX");
        let mut devices = ptx.lines().filter(|line| line.contains(" bytes spilled"));
        assert!(devices.clone().count() >= 5, "{}: run `cargo xtask ptx --rust` with a ptxas", path.display());
        assert!(devices.all(|line| line.ends_with(" 0 bytes spilled")), "{}", path.display());
    }
}

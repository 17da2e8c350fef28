//! The kernels in Rust are right, touch no local memory, and cost what their siblings in C++ cost.

use std::collections::HashSet;

use diagnostics::Report;
use simt::launch::{CheckLevel, LaunchOptions, Names};
use simt::memory::Origin;
use tasks::fixtures::Fixture;
use tests::gemm::{GemmKernel, Product};
use tests::gpu::{Gpu, options, texts};
use tests::{files_under, fixture, read, root};

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

/// Launches a mistake, and returns the codes of what is found, and the messages.
fn found((one, ptx): &(Fixture, String)) -> (Vec<String>, String) {
    let (name, sizes) = one.launch.split_once(' ').expect("a kernel and its sizes");
    let kernel = KERNELS.gemms.iter().chain(&KERNELS.transposes).find(|kernel| kernel.name == name).expect("a kernel");
    let sizes: Vec<usize> = sizes.split(' ').map(|size| size.parse().expect("a size")).collect();
    let filled = |n: usize| (0..n).map(|i| (i % 10) as f32).collect::<Vec<f32>>();
    let inputs = match sizes[..] {
        [m, n, k] => vec![filled(m * k), filled(k * n)],
        _ => vec![filled(sizes[0] * sizes[1])],
    };
    let gpu = Gpu::with_memory(1 << 30);
    let bytes = (sizes[0] * sizes[1] * size_of::<f32>()) as u64;
    let target = gpu.memory.alloc(bytes, Origin::new("cuMemAlloc")).expect("there is room");
    let source = |path: &str| (path.to_owned(), read(root().join(path)).into());
    let mut sources = ["kernels/common.cuh", "kernels/rust/prelude.rs"].map(source).to_vec();
    sources.push((one.path.display().to_string(), one.source.as_str().into()));
    let names = Names { sources, ..Names::default() };
    let options = LaunchOptions { names, ..options(CheckLevel::CheckedWithGlobalRaces, 1 << 24, 1) };
    let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
    match kernel.launch(&gpu, ptx, &sizes, &inputs, target, options) {
        Err(refused) => (vec!["E-LAUNCH".into()], refused),
        Ok(Report { findings, undefined_outputs, .. }) => {
            let outputs = undefined_outputs.into_iter().map(|output| output.finding);
            let findings: Vec<_> = findings.into_iter().chain(outputs).collect();
            (findings.iter().map(|finding| finding.code.as_str().to_owned()).collect(), texts(&findings))
        }
    }
}

#[test]
fn mistakes_are_diagnosed_as_in_cpp() {
    let settings = crate::snapshots_in("snapshots/rust");
    let mut wrong = Vec::new();
    for pair in fixture::folder("tests/fixtures/rust").chunks(2) {
        let name = pair[0].0.name.trim_end_matches(".cu");
        let [(cpp_codes, cpp), (rust_codes, rust)] = [&pair[0], &pair[1]].map(found);
        if cpp_codes != rust_codes || !cpp_codes.contains(&pair[0].0.expect) {
            wrong.push(format!("{name}: {cpp_codes:?} in C++, {rust_codes:?} in Rust"));
        }
        settings.bind(|| insta::assert_snapshot!(name, format!("{cpp}\n{rust}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

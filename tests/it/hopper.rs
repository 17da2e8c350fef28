//! The kernels of v12, which multiply bf16 by tensor cores: right and without a finding.
//!
//! They lie in `tests/data/hopper` for as long as no step runs them. Each runs with C of float and of bf16, on shapes that fill no tile.

use std::path::Path;

use course::specimens::Specimen;
use tests::product::shown;

/// How a kernel is launched.
struct Plan {
    source: &'static str,
    /// Its name, up to the type of C.
    name: &'static str,
    threads: u32,
    shared: u32,
    /// The parameters with C of float, and with C of bf16.
    parameters: [&'static str; 2],
    /// Blocks, M, N, K.
    launches: &'static [(&'static str, [u32; 3])],
}

/// Parameters of kernels to which boxes are copied, and that store C from registers.
const BOXES: [&str; 2] = [
    "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C",
    "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C/bf16",
];

const PLANS: &[Plan] = &[
    Plan {
        source: "v12_mma_ring",
        name: "gemm_v12_mma_ring",
        threads: 128,
        shared: 98304,
        parameters: [
            "M N K alpha A/bf16 B/bf16 C",
            "M N K alpha A/bf16 B/bf16 C/bf16",
        ],
        launches: &[
            ("1", [1, 1, 1]),
            ("1x2", [130, 120, 264]),
            ("2x1", [127, 129, 65]),
            ("1", [3, 7, 5]),
            ("1", [64, 66, 72]),
        ],
    },
    Plan {
        source: "v12_wgmma",
        name: "gemm_v12_wgmma",
        threads: 256,
        shared: 98336,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("2x2", [130, 264, 200])],
    },
    Plan {
        source: "v12_ring",
        name: "gemm_v12_ring",
        threads: 384,
        shared: 196672,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("2x2", [130, 264, 392])],
    },
    Plan {
        source: "v12_persistent",
        name: "gemm_v12_persistent",
        threads: 384,
        shared: 196672,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("2", [130, 264, 200])],
    },
    Plan {
        source: "v12_multicast",
        name: "gemm_v12_multicast",
        threads: 384,
        shared: 196672,
        parameters: BOXES,
        launches: &[("2", [1, 8, 8]), ("2", [260, 264, 200]), ("4", [130, 264, 392])],
    },
    Plan {
        source: "v12_store",
        name: "gemm_v12_store",
        threads: 384,
        shared: 229440,
        parameters: [
            "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C:32x64/128",
            "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C:64x64/128/bf16",
        ],
        launches: &[("2", [1, 8, 8]), ("2", [260, 264, 200]), ("4", [130, 264, 392])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x128",
        threads: 384,
        shared: 196704,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 136, 520])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x104",
        threads: 384,
        shared: 196704,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 136, 136])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x64",
        threads: 384,
        shared: 98368,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 72, 328])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x128_split",
        threads: 384,
        shared: 229472,
        parameters: BOXES,
        launches: &[("2", [1, 8, 8]), ("8", [130, 136, 200])],
    },
];

/// What is wrong with a kernel, with C of float and of bf16.
fn wrong(plan: &Plan, threads: usize) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data/hopper")
        .join(plan.source)
        .with_extension("ptx");
    let ptx = std::fs::read_to_string(&path).expect("its PTX is committed");
    let mut all = String::new();
    for (out, parameters) in ["f32", "bf16"].iter().zip(plan.parameters) {
        let name = format!("{}_{out}", plan.name);
        let (block, shared) = (plan.threads, plan.shared);
        let mut source =
            format!("// kernel: {name}\n// block: {block}\n// shared: {shared}\n// product: {parameters}\n");
        for (blocks, [m, n, k]) in plan.launches {
            source.push_str(&format!("// launch: blocks {blocks} whole 0 shape {m} {n} {k}\n"));
        }
        let specimen = Specimen { name, path: path.clone(), source };
        let (text, _) = shown(&(specimen, ptx.clone()), threads);
        if !text.is_empty() {
            all.push_str(&format!("{}_{out}:\n{text}\n", plan.name));
        }
    }
    all
}

#[test]
fn kernels_of_v12_are_clean() {
    for plan in PLANS {
        let text = wrong(plan, 1);
        assert!(text.is_empty(), "{text}");
    }
}

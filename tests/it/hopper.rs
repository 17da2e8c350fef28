//! The kernels of v12, which multiply bf16 by tensor cores: right and without a finding.
//!
//! They lie in `tests/data/hopper` for as long as no step runs them. Each runs with C of float and of bf16, on shapes that fill no tile.

use std::fmt::Write as _;
use std::path::Path;

use course::specimens::Specimen;
use tests::product::{head, run, shown};

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

/// The same for tiles of 64 rows.
const LOW_BOXES: [&str; 2] = [
    "M N K alpha A:64x64/128/bf16 B:64x64/128/bf16 C",
    "M N K alpha A:64x64/128/bf16 B:64x64/128/bf16 C/bf16",
];

/// Of B, a block copies half of the k.
const SHARED_BOXES: [&str; 2] = [
    "M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C",
    "M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C/bf16",
];

/// And C leaves as boxes.
const BOXES_OUT: [&str; 2] = [
    "M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C:32x64/128",
    "M N K alpha A:64x128/128/bf16 B:64x32/128/bf16 C:64x64/128/bf16",
];

const PLANS: &[Plan] = &[
    Plan {
        source: "v12_mma_ring",
        name: "gemm_v12_mma_ring",
        threads: 128,
        shared: 98304,
        parameters: ["M N K alpha A/bf16 B/bf16 C", "M N K alpha A/bf16 B/bf16 C/bf16"],
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
        threads: 288,
        shared: 196672,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("2x2", [130, 264, 392])],
    },
    Plan {
        source: "v12_persistent",
        name: "gemm_v12_persistent",
        threads: 288,
        shared: 196672,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("2", [130, 264, 200]), ("3", [1030, 264, 8])],
    },
    Plan {
        source: "v12_multicast",
        name: "gemm_v12_multicast",
        threads: 288,
        shared: 196672,
        parameters: SHARED_BOXES,
        launches: &[("2", [1, 8, 8]), ("2", [260, 264, 200]), ("4", [130, 264, 392])],
    },
    Plan {
        source: "v12_store",
        name: "gemm_v12_store",
        threads: 288,
        shared: 229440,
        parameters: BOXES_OUT,
        launches: &[("2", [1, 8, 8]), ("2", [260, 264, 200]), ("4", [130, 264, 392])],
    },
    Plan {
        source: "v12_store",
        name: "gemm_v12_store_192",
        threads: 288,
        shared: 196672,
        parameters: BOXES_OUT,
        launches: &[("2", [1, 8, 8]), ("2", [260, 200, 72])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x128",
        threads: 288,
        shared: 196704,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 136, 520])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x104",
        threads: 288,
        shared: 196704,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 136, 136])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x64",
        threads: 288,
        shared: 98368,
        parameters: BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [130, 72, 328])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x128_split",
        threads: 288,
        shared: 229472,
        parameters: BOXES,
        launches: &[("2", [1, 8, 8]), ("8", [130, 136, 200])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_64x64",
        threads: 160,
        shared: 65600,
        parameters: LOW_BOXES,
        launches: &[("1", [1, 8, 8]), ("4", [66, 72, 328])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_64x64_split",
        threads: 160,
        shared: 73792,
        parameters: LOW_BOXES,
        launches: &[("2", [1, 8, 8]), ("8", [66, 72, 328])],
    },
];

impl Plan {
    /// The kernel with C of float and with C of bf16.
    fn kernels(&self) -> [(Specimen, String); 2] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("data/hopper")
            .join(self.source)
            .with_extension("ptx");
        let ptx = std::fs::read_to_string(&path).expect("its PTX is committed");
        [("f32", self.parameters[0]), ("bf16", self.parameters[1])].map(|(out, parameters)| {
            let name = format!("{}_{out}", self.name);
            let mut source = format!(
                "// kernel: {name}\n// block: {}\n// shared: {}\n// product: {parameters}\n",
                self.threads, self.shared
            );
            for (blocks, [m, n, k]) in self.launches {
                let _ = writeln!(source, "// launch: blocks {blocks} whole 0 shape {m} {n} {k}");
            }
            let path = path.clone();
            (Specimen { name, path, source }, ptx.clone())
        })
    }
}

#[test]
fn kernels_of_v12_are_clean() {
    for kernel in PLANS.iter().flat_map(Plan::kernels) {
        let (text, _) = shown(&kernel, 1);
        assert!(text.is_empty(), "{}:\n{text}", kernel.0.name);
    }
}

/// Tiles and boxes are swizzled for it.
#[test]
fn shared_memory_gives_no_excess_wavefront() {
    let of = |plan: &&Plan| ["v12_mma_ring", "v12_store"].contains(&plan.source);
    for kernel in PLANS.iter().filter(of).flat_map(Plan::kernels) {
        let launch = head(&kernel.0.source).launches[1];
        let counters = run(&kernel, launch, 1).counters;
        let (loads, stores) = (counters.shared_load_wavefronts, counters.shared_store_wavefronts);
        let name = &kernel.0.name;
        assert!(loads + stores > 0, "{name}");
        assert_eq!(loads, counters.shared_load_ideal, "{name}");
        assert_eq!(stores, counters.shared_store_ideal, "{name}");
    }
}

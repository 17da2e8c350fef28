//! The kernels of v12, which multiply bf16 by tensor cores: right and without a finding.
//!
//! Each runs with C of float and of bf16, on shapes that fill no tile.

use std::fmt::Write as _;
use std::path::Path;

use course::specimens::Specimen;
use simt::gpu::Gpu;
use tests::gemm::Product;
use tests::product::{Inputs, head, of_bf16, pitch_of_parts, run, run_with, shown, split, to_bf16};

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

/// And C leaves as boxes, of tiles of 128 rows and of 64.
const SMALL: [&str; 2] = [
    "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C:32x64/128",
    "M N K alpha A:64x128/128/bf16 B:64x64/128/bf16 C:64x64/128/bf16",
];
const LOW_SMALL: [&str; 2] = [
    "M N K alpha A:64x64/128/bf16 B:64x64/128/bf16 C:32x64/128",
    "M N K alpha A:64x64/128/bf16 B:64x64/128/bf16 C:64x64/128/bf16",
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

/// A shape on which all kernels run that sum in the order of k. It fills no tile.
const SAME: [u32; 3] = [130, 264, 136];

const PLANS: &[Plan] = &[
    Plan {
        source: "v12_mma_ring",
        name: "gemm_v12_mma_ring",
        threads: 256,
        shared: 147456,
        parameters: ["M N K alpha A/bf16 B/bf16 C", "M N K alpha A/bf16 B/bf16 C/bf16"],
        launches: &[
            ("3x1", SAME),
            ("1", [1, 1, 1]),
            ("1x2", [260, 120, 264]),
            ("2x1", [127, 129, 65]),
            ("1", [3, 7, 5]),
        ],
    },
    Plan {
        source: "v12_wgmma",
        name: "gemm_v12_wgmma",
        threads: 256,
        shared: 98336,
        parameters: BOXES,
        launches: &[("2x2", SAME), ("1", [1, 8, 8])],
    },
    Plan {
        source: "v12_ring",
        name: "gemm_v12_ring",
        threads: 288,
        shared: 196672,
        parameters: BOXES,
        launches: &[("2x2", SAME), ("1", [1, 8, 8]), ("2x1", [120, 264, 392])],
    },
    Plan {
        source: "v12_persistent",
        name: "gemm_v12_persistent",
        threads: 288,
        shared: 196672,
        parameters: BOXES,
        launches: &[("2", SAME), ("1", [1, 8, 8]), ("3", [1030, 264, 8])],
    },
    Plan {
        source: "v12_multicast",
        name: "gemm_v12_multicast",
        threads: 288,
        shared: 196672,
        parameters: SHARED_BOXES,
        launches: &[("2", SAME), ("2", [1, 8, 8]), ("4", [130, 264, 392])],
    },
    Plan {
        source: "v12_store",
        name: "gemm_v12_store",
        threads: 288,
        shared: 229440,
        parameters: BOXES_OUT,
        launches: &[("2", SAME), ("2", [1, 8, 8]), ("2", [260, 264, 200])],
    },
    Plan {
        source: "v12_store",
        name: "gemm_v12_store_192",
        threads: 288,
        shared: 229440,
        parameters: BOXES_OUT,
        launches: &[("2", SAME), ("2", [1, 8, 8]), ("4", [260, 200, 72])],
    },
    // One pair of blocks with more tiles than it has warpgroups, and more k than its ring has room for.
    Plan {
        source: "v12_ping_pong",
        name: "gemm_v12_ping_pong",
        threads: 288,
        shared: 229472,
        parameters: BOXES_OUT,
        launches: &[("2", SAME), ("2", [1, 8, 8]), ("2", [130, 392, 520])],
    },
    Plan {
        source: "v12_ping_pong",
        name: "gemm_v12_ping_pong_192",
        threads: 384,
        shared: 196672,
        parameters: BOXES_OUT,
        launches: &[("2", SAME), ("2", [1, 8, 8]), ("2", [130, 392, 520])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_128x128",
        threads: 288,
        shared: 229488,
        parameters: SMALL,
        launches: &[("6", SAME), ("1", [1, 8, 8]), ("4", [130, 136, 520])],
    },
    Plan {
        source: "v12_small",
        name: "gemm_v12_small_64x128",
        threads: 160,
        shared: 221328,
        parameters: LOW_SMALL,
        launches: &[("9", SAME), ("1", [1, 8, 8]), ("3", [130, 72, 648])],
    },
    Plan {
        source: "v12_split",
        name: "gemm_v12_split_128x128",
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
        parameters: LOW_SMALL,
        launches: &[("15", SAME), ("1", [1, 8, 8])],
    },
    Plan {
        source: "v12_split",
        name: "gemm_v12_split_64x64",
        threads: 160,
        shared: 73792,
        parameters: LOW_BOXES,
        launches: &[("2", [1, 8, 8]), ("8", [66, 72, 328])],
    },
];

/// FP32 in six products of bf16: C is FP32, and nothing else.
const IN_PARTS: Plan = Plan {
    source: "v12_six_bf16",
    name: "sgemm_v12_six_bf16",
    threads: 384,
    shared: 229488,
    parameters: ["M N K alpha A:64x128/128/parts B:64x32/128/parts C"; 2],
    launches: &[
        ("2", SAME),
        ("2", [1, 1, 1]),
        ("2", [129, 131, 135]),
        ("4", [300, 131, 515]),
    ],
};

impl Plan {
    /// The kernel with C of float and with C of bf16.
    fn kernels(&self) -> [(Specimen, String); 2] {
        [("_f32", self.parameters[0]), ("_bf16", self.parameters[1])]
            .map(|(out, parameters)| self.kernel(&format!("{}{out}", self.name), parameters))
    }

    fn kernel(&self, name: &str, parameters: &str) -> (Specimen, String) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../kernels/ptx")
            .join(self.source)
            .with_extension("ptx");
        let ptx = std::fs::read_to_string(&path).expect("its PTX is committed");
        let mut source = format!(
            "// kernel: {name}\n// block: {}\n// shared: {}\n// product: {parameters}\n",
            self.threads, self.shared
        );
        for (blocks, [m, n, k]) in self.launches {
            let _ = writeln!(source, "// launch: blocks {blocks} whole 0 shape {m} {n} {k}");
        }
        let name = name.to_owned();
        (Specimen { name, path, source }, ptx)
    }
}

#[test]
fn kernels_of_v12_are_clean() {
    let in_parts = IN_PARTS.kernel(IN_PARTS.name, IN_PARTS.parameters[0]);
    for kernel in PLANS.iter().flat_map(Plan::kernels).chain([in_parts]) {
        let (text, _) = shown(&kernel, 1);
        assert!(text.is_empty(), "{}:\n{text}", kernel.0.name);
    }
}

/// Three parts are the element, to the last bit, and rows of parts end with zeros.
#[test]
fn parts_add_up_to_the_element() {
    let gpu = Gpu::with_memory(1 << 26);
    let (_, ptx) = IN_PARTS.kernel(IN_PARTS.name, IN_PARTS.parameters[0]);
    let module = gpu.load(&ptx).unwrap_or_else(|refused| panic!("{refused}"));
    for (rows, cols) in [(3, 135), (5, 64), (1, 1), (7, 36)] {
        let matrix: Vec<f32> = Product::random(rows, 1, cols, 5).a;
        let parts = split(&gpu, &module, rows, cols, gpu.upload(&matrix));
        let pitch = pitch_of_parts(cols);
        let parts: Vec<u16> = gpu.read(parts, 3 * rows * pitch);
        for (row, col) in (0..rows).flat_map(|row| (0..pitch).map(move |col| (row, col))) {
            let part = |p: usize| f64::from(of_bf16(parts[(p * rows + row) * pitch + col]));
            let element = if col < cols { matrix[row * cols + col] } else { 0.0 };
            assert_eq!(part(0) + part(1) + part(2), f64::from(element), "{row} {col}");
            assert!(part(1).abs() <= part(0).abs() / 256.0 && part(2).abs() <= part(1).abs() / 256.0);
        }
    }
}

/// Tiles and boxes are swizzled for it.
#[test]
fn shared_memory_gives_no_excess_wavefront() {
    let of =
        |plan: &&Plan| ["v12_mma_ring", "v12_store", "v12_ping_pong", "v12_small"].contains(&plan.source);
    for kernel in PLANS.iter().filter(of).flat_map(Plan::kernels) {
        let launch = head(&kernel.0.source).launches[0];
        let counters = run(&kernel, launch, 1).counters;
        let (loads, stores) = (counters.shared_load_wavefronts, counters.shared_store_wavefronts);
        let name = &kernel.0.name;
        assert!(loads + stores > 0, "{name}");
        assert_eq!(loads, counters.shared_load_ideal, "{name}");
        assert_eq!(stores, counters.shared_store_ideal, "{name}");
    }
}

/// All add 16 k at a time, in the order of k: not only nearly, but exactly the same numbers.
#[test]
fn kernels_that_sum_in_order_give_the_same_bits() {
    let shape = SAME.map(|n| n as usize);
    let mut first: Option<Vec<f32>> = None;
    let mut n_compared = 0;
    for kernels in PLANS.iter().map(Plan::kernels) {
        let launches = head(&kernels[0].0.source).launches;
        let Some(launch) = launches.into_iter().find(|launch| launch.shape == shape) else {
            continue;
        };
        let [sums, rounded] =
            kernels.map(|kernel| (run_with(&kernel, launch, 1, Inputs::Any).c, kernel.0.name));
        let first = first.get_or_insert_with(|| sums.0.clone());
        let of_first = first.iter().map(|&x| of_bf16(to_bf16(x)));
        assert!(*first == sums.0, "{}", sums.1);
        assert!(of_first.eq(rounded.0), "{}", rounded.1);
        n_compared += 1;
    }
    assert_eq!(n_compared, 12, "all but those that split k");
    // That it is no comparison of whole numbers, which any order gives.
    assert!(first.is_some_and(|sums| sums.iter().any(|x| x.to_bits() & 0xff != 0)));
}

//! v08 on the emulated GPU: transposes and products of transposed matrices of every awkward shape, with all
//! checks on; and what each kernel claims of the memory system, in counters. Also the probes of the roofline.

use std::fmt::Write as _;

use counters::Counters;
use diagnostics::Report;
use simt::launch::CheckLevel;
use tests::gemm::{GemmKernel, Product, transposed};
use tests::gpu::{Geometry, Gpu};

struct Transpose {
    name: &'static str,
    ptx: &'static str,
    /// Rows and columns of `in` that a block owns; none for all of them.
    tile: [Option<usize>; 2],
    threads: u32,
}

macro_rules! transpose {
    ($name:literal in $file:literal, $rows:expr, $cols:expr, $threads:expr) => {
        Transpose {
            name: $name,
            ptx: include_str!(concat!("../../kernels/ptx/v08_transpose_", $file, ".ptx")),
            tile: [$rows, $cols],
            threads: $threads,
        }
    };
}

const SERIAL: Transpose = transpose!("transpose_serial" in "threads", None, None, 1);
const ROW_PER_THREAD: Transpose = transpose!("transpose_row_per_thread" in "threads", Some(32), None, 32);
const COALESCED_READS: Transpose = transpose!("transpose_coalesced_reads" in "coalesced", Some(32), Some(32), 1024);
const COALESCED_WRITES: Transpose = transpose!("transpose_coalesced_writes" in "coalesced", Some(32), Some(32), 1024);
const TILE: Transpose = transpose!("transpose_tile" in "tile", Some(32), Some(32), 1024);
const PADDED: Transpose = transpose!("transpose_padded" in "padded", Some(32), Some(32), 1024);
const SWIZZLED: Transpose = transpose!("transpose_swizzled" in "swizzled", Some(32), Some(32), 1024);
const RECTANGULAR: Transpose = transpose!("transpose_rectangular" in "rectangular", Some(32), Some(32), 256);
const FLOAT4: Transpose = transpose!("transpose_float4" in "float4", Some(64), Some(64), 256);

const TRANSPOSES: [Transpose; 9] =
    [SERIAL, ROW_PER_THREAD, COALESCED_READS, COALESCED_WRITES, TILE, PADDED, SWIZZLED, RECTANGULAR, FLOAT4];

impl Transpose {
    /// Runs with all checks on; every element must arrive, and nothing else be written.
    #[track_caller]
    fn check(&self, rows: usize, cols: usize) -> Report {
        let gpu = Gpu::default();
        let module = gpu.load(self.ptx).expect("PTX that loads");
        let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let source = gpu.upload(&input);
        let target = gpu.upload(&vec![f32::NAN; rows * cols]);
        let [blocks_y, blocks_x] = [(rows, self.tile[0]), (cols, self.tile[1])]
            .map(|(size, tile)| tile.map_or(1, |tile| size.div_ceil(tile)) as u32);
        let shape = Geometry::plane([blocks_x, blocks_y], [self.threads, 1]);
        let arguments = [(rows as i32).into(), (cols as i32).into(), source.into(), target.into()];
        let report = gpu.run(&module, self.name, shape, &arguments);
        let output: Vec<f32> = gpu.read(target, rows * cols);
        for (i, got) in output.iter().enumerate() {
            let (row, col) = (i % rows, i / rows);
            let want = input[row * cols + col];
            assert!(
                got.to_bits() == want.to_bits(),
                "{} of {rows} x {cols}: out[{col}][{row}] is {got}, not {want}",
                self.name
            );
        }
        report
    }

    fn count(&self) -> Counters {
        self.check(128, 192).total
    }
}

#[test]
fn transposes_of_awkward_shapes() {
    #[rustfmt::skip]
    let shapes = [
        (1, 1), (1, 100), (100, 1), (2, 3), (7, 13), (31, 33), (33, 31), (32, 32), (63, 65), (65, 63),
        (64, 64), (97, 101), (4, 260), (260, 4), (3, 500), (500, 3), (66, 130), (100, 36),
    ];
    for kernel in &TRANSPOSES {
        for (rows, cols) in shapes {
            kernel.check(rows, cols);
        }
    }
}

/// Returns, per request, the sectors of global loads and stores, and the wavefronts of shared loads and stores.
fn traffic(of: &Counters) -> String {
    let mut text = String::new();
    let per_request = |sectors: u64, requests: u64| {
        assert_eq!(sectors % requests, 0, "every request is like the others");
        sectors / requests
    };
    let load = per_request(of.global_load_sectors, of.global_load_requests);
    let store = per_request(of.global_store_sectors, of.global_store_requests);
    let _ = write!(text, "sectors: load {load}, store {store}");
    if of.shared_load_requests > 0 {
        let load = per_request(of.shared_load_wavefronts, of.shared_load_requests);
        let store = per_request(of.shared_store_wavefronts, of.shared_store_requests);
        let _ = write!(text, "; wavefronts: load {load}, store {store}");
    }
    text
}

#[test]
fn what_each_transpose_costs() {
    let table: String =
        TRANSPOSES.iter().map(|kernel| format!("{}: {}\n", kernel.name, traffic(&kernel.count()))).collect();
    insta::assert_snapshot!(table, @"
    transpose_serial: sectors: load 1, store 1
    transpose_row_per_thread: sectors: load 32, store 4
    transpose_coalesced_reads: sectors: load 4, store 32
    transpose_coalesced_writes: sectors: load 32, store 4
    transpose_tile: sectors: load 4, store 4; wavefronts: load 32, store 1
    transpose_padded: sectors: load 4, store 4; wavefronts: load 1, store 1
    transpose_swizzled: sectors: load 4, store 4; wavefronts: load 1, store 1
    transpose_rectangular: sectors: load 4, store 4; wavefronts: load 1, store 1
    transpose_float4: sectors: load 16, store 16; wavefronts: load 4, store 4
    ");
}

#[test]
fn only_the_plain_tile_meets_conflicts() {
    for kernel in [TILE, PADDED, SWIZZLED, RECTANGULAR, FLOAT4] {
        let total = kernel.count();
        let excess = [
            total.shared_store_wavefronts - total.shared_store_ideal,
            total.shared_load_wavefronts - total.shared_load_ideal,
        ];
        // Each load takes a column of the tile, 32 elements in one bank: 31 wavefronts too many.
        let expected = match kernel.name {
            "transpose_tile" => [0, 31 * total.shared_load_requests],
            _ => [0, 0],
        };
        assert_eq!(excess, expected, "{}", kernel.name);
    }
}

#[test]
fn float4_moves_16_bytes_per_lane_everywhere() {
    let total = FLOAT4.count();
    #[rustfmt::skip]
    let accesses = [
        ("global loads", total.global_load_bytes, total.global_load_requests),
        ("global stores", total.global_store_bytes, total.global_store_requests),
        ("shared loads", total.shared_load_bytes, total.shared_load_requests),
        ("shared stores", total.shared_store_bytes, total.shared_store_requests),
    ];
    for (what, bytes, requests) in accesses {
        assert_eq!(bytes, 16 * 32 * requests, "{what}");
        assert_eq!(bytes, 4 * 128 * 192, "{what}");
    }
}

#[test]
fn rectangular_shares_its_overhead_between_four_elements() {
    let square = SWIZZLED.count();
    let rectangular = RECTANGULAR.count();
    assert_eq!(rectangular.global_load_requests, square.global_load_requests);
    assert!(rectangular.warp_instructions < square.warp_instructions);
}

/// Kernels, and whether A and B are stored transposed.
const PRODUCTS: [(&str, [bool; 2]); 4] = [
    ("sgemm_v08_nn", [false, false]),
    ("sgemm_v08_nt", [false, true]),
    ("sgemm_v08_tn", [true, false]),
    ("sgemm_v08_tt", [true, true]),
];

/// Runs each of [`PRODUCTS`] with all checks on; C must equal the chain of multiply-adds bit for bit.
fn check_products([m, n, k]: [usize; 3]) -> [(&'static str, Counters); 4] {
    let product = Product::<f32>::random(m, n, k, 8);
    let want = product.reference();
    PRODUCTS.map(|(name, [a_transposed, b_transposed])| {
        let kernel = GemmKernel {
            name,
            ptx: include_str!("../../kernels/ptx/v08_gemm_transposed.ptx"),
            tile: [128, 128],
            block: [256, 1, 1],
            strip: 0,
        };
        let mut as_stored = product.clone();
        if a_transposed {
            as_stored.a = transposed(&product.a, m, k);
        }
        if b_transposed {
            as_stored.b = transposed(&product.b, k, n);
        }
        (name, as_stored.check(kernel, CheckLevel::CheckedWithGlobalRaces, &want).launch.total)
    })
}

#[test]
fn products_of_transposed_matrices_of_awkward_shapes() {
    #[rustfmt::skip]
    const SHAPES: [[usize; 3]; 11] = [
        [1, 1, 1], [1, 130, 3], [130, 1, 9], [7, 13, 5], [127, 129, 8], [129, 127, 7],
        [128, 128, 16], [64, 36, 12], [257, 2, 31], [3, 300, 64], [140, 132, 100],
    ];
    for shape in SHAPES {
        check_products(shape);
    }
}

#[test]
fn products_meet_no_conflicts_and_waste_no_sector() {
    const SIZE: u64 = 128;
    for (name, c) in check_products([SIZE as usize; 3]) {
        for (what, got, want) in [
            ("multiply-adds", c.fmas, SIZE * SIZE * SIZE),
            ("stores", c.shared_store_wavefronts, c.shared_store_ideal),
            ("loads", c.shared_load_wavefronts, c.shared_load_ideal),
            ("float4", c.global_load_bytes, 16 * 32 * c.global_load_requests),
            ("whole sectors", 32 * c.global_load_sectors, c.global_load_bytes),
            ("each element once", c.global_load_bytes, 2 * 4 * SIZE * SIZE),
        ] {
            assert_eq!(got, want, "{name}: {what}");
        }
    }
}

const PROBES: &str = include_str!("../../kernels/ptx/probe.ptx");

#[test]
fn the_fma_probe_does_the_multiply_adds_that_it_says() {
    const FMAS_PER_ROUND: u64 = 512;
    let gpu = Gpu::default();
    let module = gpu.load(PROBES).expect("PTX that loads");
    let out = gpu.upload(&[f32::NAN; 2 * 256]);
    for rounds in [0, 1, 3] {
        let arguments = [rounds.into(), 0.5f32.into(), out.into()];
        let report = gpu.run(&module, "probe_fma", Geometry::line(2, 256), &arguments);
        assert_eq!(report.total.fmas, FMAS_PER_ROUND * 2 * 256 * rounds as u64);
        assert_eq!(report.total.global_store_requests, 0);
        assert_eq!(report.total.local_requests, 0);
    }
    assert!(gpu.read::<f32>(out, 2 * 256).iter().all(|value| value.is_nan()));
}

#[test]
fn the_copy_probe_copies() {
    for (n, blocks) in [(1, 1), (255, 1), (257, 3), (5000, 2), (4096, 4)] {
        let gpu = Gpu::default();
        let module = gpu.load(PROBES).expect("PTX that loads");
        let input: Vec<f32> = (0..4 * n).map(|i| i as f32).collect();
        let source = gpu.upload(&input);
        let target = gpu.upload(&vec![f32::NAN; 4 * n]);
        let arguments = [(n as i64).into(), source.into(), target.into()];
        let report = gpu.run(&module, "probe_copy", Geometry::line(blocks, 256), &arguments);
        assert_eq!(gpu.read::<f32>(target, 4 * n), input);
        assert_eq!(report.total.global_load_bytes, 16 * n as u64);
        assert_eq!(report.total.global_store_bytes, 16 * n as u64);
    }
}

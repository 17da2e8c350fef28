//! Launches of the asynchronous kernels of v11 and v12, which multiply matrices: what the checks say of them, and
//! whether C is right.
//!
//! The head of a kernel of `tests/fixtures/asynchronous` says how it is launched:
//!
//! | line | meaning |
//! | --- | --- |
//! | `// block: 256` | threads of a block |
//! | `// shared: 32832` | bytes of dynamic shared memory |
//! | `// product: M A:16x32/64 C` | parameters: `M`, `N`, `K`, `alpha`, `beta`, `whole`; `A`, `B`, `C`: pointers; `A:16x32/64`: a tensor map of A whose boxes have 16 columns and 32 rows, with a swizzle of 64 bytes; `A:64x32/128/bf16`: the same of A in bf16, or in `e4m3`; `A:64x32/128/parts`: three maps, of the parts that `split_v12` of the same module writes; `Bt:…`: B has N rows of K numbers; `A/bf16`, `C/bf16`: pointers to bf16; `C:32x64/128`: a tensor map of C |
//! | `// launch: blocks 3 whole 0 shape 37 68 40` | a launch, with M, N and K; `blocks 3x2`: 3 along x, 2 along y |
//! | `// kernel: NAME` | which kernel of the module, if there are several |
//! | `// unwritten: last row of B` | what the host did not write |
//! | `// expect: clean` | codes that must be found |

use std::fmt::Write as _;

use catalog::provenance::with_only;
use counters::Counters;
use diagnostics::{Finding, Report};
use program::tensor::{Element, Fill, Swizzle, TensorMap, TensorMapArguments};
use simt::gpu::{Argument, Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions, Names};
use simt::module::Module;
use tasks::fixtures::Fixture;

use crate::fixture::key_lines;
use crate::gemm::{Product, transposed};
use crate::gpu::options;
use crate::recorded::{machine_code_of, ptx};

/// Factor of the product: C = ALPHA · A · B + BETA · C.
pub const ALPHA: f32 = 2.0;
/// Factor of the old C, for kernels that take `beta`; others replace C.
const BETA: f32 = 3.0;

/// Launches of a kernel, and codes that must be found, by the lines at its top.
#[derive(Debug, Default)]
pub struct Head {
    /// Codes that must be found; none for `clean`.
    pub expect: Vec<String>,
    /// Launches: blocks, tiles that are not shared out, M, N, K.
    pub launches: Vec<Launch>,
    /// Nobody has written the last row of B.
    lacks_last_row_of_b: bool,
    /// Name of the kernel; none for the only one.
    kernel: String,
    block: u32,
    shared: u32,
    parameters: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub blocks: [u32; 2],
    /// Tiles that blocks do not share out, for kernels that take `whole`.
    whole: i32,
    pub shape: [usize; 3],
}

/// A kernel on a GPU of its own, which its launches share: reading and decoding it takes longer than most of them.
pub struct Loaded<'a> {
    pub fixture: &'a Fixture,
    pub head: Head,
    ptx: &'a str,
    gpu: Gpu,
    module: Module,
}

#[derive(Debug)]
pub struct Ran {
    pub findings: Vec<Finding>,
    pub n_wrong: usize,
    pub n_elements: usize,
    pub c: Vec<f32>,
    pub counters: Counters,
}

impl Head {
    fn is_of(&self, matrix: &str, element: &str) -> bool {
        let of = |word: &String| word.starts_with(matrix) && word.rsplit('/').next() == Some(element);
        self.parameters.iter().any(of)
    }
}

/// Returns a number of e4m3 that is no NaN and not denormal.
pub fn to_e4m3(x: f32) -> u8 {
    const BEHIND_POINT: u32 = 3;
    let (sign, bits) = (x.to_bits() >> 31 << 7, x.abs().to_bits() >> (23 - BEHIND_POINT));
    // The exponents of f32 and e4m3 begin at −127 and −7.
    let code = if x == 0.0 { 0 } else { bits - (120 << BEHIND_POINT) };
    let is_exact = x == 0.0 || (8..0x7f).contains(&code) && x.abs().to_bits().trailing_zeros() >= 23 - BEHIND_POINT;
    assert!(is_exact, "{x} in e4m3");
    (sign | code) as u8
}

/// Returns the nearest number of bf16, of two the even one. Not for NaNs.
pub fn to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

pub fn of_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

pub fn head(fixture: &Fixture) -> Head {
    const KEYS: [&str; 8] = ["arch", "block", "expect", "kernel", "launch", "product", "shared", "unwritten"];
    let mut head = Head::default();
    for (key, value) in key_lines(fixture, &KEYS) {
        let wrong = || -> ! { panic!("{}: wrong line `// {key}: {value}`", fixture.path.display()) };
        let words: Vec<&str> = value.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().unwrap_or_else(|_| wrong());
        match (key, &words[..]) {
            ("block", [threads]) => head.block = number(threads),
            ("shared", [bytes]) => head.shared = number(bytes),
            ("kernel", [name]) => head.kernel = (*name).to_owned(),
            ("unwritten", ["last", "row", "of", "B"]) => head.lacks_last_row_of_b = true,
            ("product", [_, ..]) => head.parameters = words.iter().map(|&word| word.to_owned()).collect(),
            ("launch", ["blocks", blocks, "whole", whole, "shape", m, n, k]) => head.launches.push(Launch {
                blocks: match blocks.split_once('x') {
                    Some((x, y)) => [x, y].map(number),
                    None => [number(blocks), 1],
                },
                whole: number(whole) as i32,
                shape: [m, n, k].map(|word| number(word) as usize),
            }),
            ("expect", ["clean"]) => {}
            ("expect", codes) => head.expect = codes.iter().map(|&word| word.to_owned()).collect(),
            // For the compiler.
            ("arch", _) => {}
            _ => wrong(),
        }
    }
    head
}

/// Returns a committed kernel of the ladder with a head as those of the fixtures have it.
pub fn committed(file: &str, kernel: &str, head: &str) -> (Fixture, String) {
    let source = format!("// kernel: {kernel}\n{head}");
    let ptx = with_only(&[kernel, SPLIT], &ptx(file));
    (Fixture { name: kernel.to_owned(), path: format!("kernels/{file}.cu").into(), source, ..Fixture::default() }, ptx)
}

/// The kernel that splits operands in three parts, in the module of the one that multiplies them.
const SPLIT: &str = "split_v12";

/// Returns the numbers of bf16 from one row of a part to the next.
pub fn pitch_of_parts(cols: usize) -> usize {
    cols.next_multiple_of(8)
}

/// Returns the three parts of a matrix, one after the other, as `SPLIT` writes them.
pub fn split(gpu: &Gpu, module: &Module, rows: usize, cols: usize, matrix: u64) -> u64 {
    const THREADS: usize = 256;
    let kernel = module.kernel(SPLIT).expect("it is in the same module");
    let pieces = rows * pitch_of_parts(cols) / 8;
    let parts = gpu.alloc::<u16>(3 * 8 * pieces);
    let arguments = [(rows as i32).into(), (cols as i32).into(), matrix.into(), parts.into()];
    let shape = Geometry::plane([pieces.div_ceil(THREADS) as u32, 1], [THREADS as u32, 1]);
    let params = kernel.param_block(&arguments).expect("its parameters");
    let options = LaunchOptions { check_level: CheckLevel::CheckedWithGlobalRaces, ..LaunchOptions::default() };
    let request = shape.request(params, options);
    let report = gpu.launch(kernel, &request).expect("a launch");
    let findings = Report::new(report, kernel, &request).findings;
    assert!(findings.is_empty(), "{}", findings[0].text);
    parts
}

/// Returns the map of a matrix with rows `pitch` elements apart: `16x32/64`.
fn map(address: u64, rows: usize, [cols, pitch]: [usize; 2], what: &str) -> TensorMap {
    let mut parts = what.split('/');
    let (size, swizzle) = (parts.next().unwrap_or(""), parts.next().unwrap_or("0"));
    let element = match parts.next() {
        None => Element::F32,
        Some("bf16" | "parts") => Element::Bf16,
        Some("e4m3") => Element::U8,
        Some(other) => panic!("elements of type {other}"),
    };
    let (width, height) = size.split_once('x').expect("columns x rows");
    let swizzle = match swizzle {
        "0" => Swizzle::None,
        "32" => Swizzle::B32,
        "64" => Swizzle::B64,
        "128" => Swizzle::B128,
        _ => panic!("a swizzle of {swizzle} bytes"),
    };
    let map = TensorMap::new(TensorMapArguments {
        address,
        element,
        dims: &[cols as u64, rows as u64],
        strides: &[pitch as u64 * element.bytes()],
        box_dims: &[width, height].map(|n| n.parse().expect("a number")),
        steps: &[1, 1],
        swizzle,
        fill: Fill::Zeros,
    });
    map.expect("a map")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// Small whole numbers: their sums are exact in any order.
    Whole,
    /// Numbers whose sums depend on the order, and are not compared.
    Any,
    /// Numbers whose sums depend on the order, of those that e4m3 has.
    Short,
}

impl Inputs {
    pub fn product(self, [m, n, k]: [usize; 3]) -> Product {
        let mut product = Product::random(m, n, k, 11);
        for x in product.a.iter_mut().chain(&mut product.b) {
            *x = self.of(*x);
        }
        product
    }

    fn of(self, x: f32) -> f32 {
        match self {
            Inputs::Whole => (x * 8.0).round(),
            Inputs::Any => x,
            Inputs::Short if x.abs() < 1.0 / 64.0 => 0.0,
            Inputs::Short => f32::from_bits(x.to_bits() >> 20 << 20),
        }
    }
}

impl<'a> Loaded<'a> {
    pub fn new((fixture, ptx): &'a (Fixture, String)) -> Self {
        let gpu = Gpu::with_memory(1 << 30);
        let module = match gpu.load(ptx) {
            Ok(module) => module,
            Err(refused) => panic!("{}: {refused}", fixture.name),
        };
        Self { fixture, head: head(fixture), ptx, gpu, module }
    }

    /// Loads the machine code of a committed kernel.
    pub fn of_machine_code((fixture, ptx): &'a (Fixture, String)) -> Self {
        let gpu = Gpu::with_memory(1 << 30);
        let source = fixture.path.file_name().expect("a file has a name").to_string_lossy();
        let module = machine_code_of(&gpu, &source, &[fixture.name.as_str(), SPLIT]);
        Self { fixture, head: head(fixture), ptx, gpu, module }
    }

    pub fn run(&self, launch: Launch, threads: usize, inputs: Inputs) -> Ran {
        let Self { fixture, head, ptx, gpu, module } = self;
        let [m, n, k] = launch.shape;
        let product = inputs.product(launch.shape);
        let old: Vec<f32> = (0..m * n).map(|i| (i % 7) as f32).collect();
        // Small whole numbers are the same in bf16, and so is what C holds before.
        let upload = |name: &str, matrix: &[f32]| {
            if head.is_of(name, "bf16") {
                return gpu.upload(&matrix.iter().copied().map(to_bf16).collect::<Vec<u16>>());
            }
            if head.is_of(name, "e4m3") {
                gpu.upload(&matrix.iter().copied().map(to_e4m3).collect::<Vec<u8>>())
            } else {
                gpu.upload(matrix)
            }
        };
        let is_turned = head.parameters.iter().any(|word| word.starts_with("Bt"));
        let stored_b = if is_turned { &transposed(&product.b, k, n) } else { &product.b };
        let [a, mut b, c] =
            [("A", &product.a), ("B", stored_b), ("C", &old)].map(|(name, matrix)| upload(name, matrix));
        if head.lacks_last_row_of_b {
            b = gpu.alloc::<f32>(k * n);
            gpu.write(b, &product.b[..(k - 1) * n]);
        }
        let kernel = module.kernel(&head.kernel).or(module.kernels().first());
        let kernel = kernel.expect("a kernel");
        let maps = |matrix: u64, rows: usize, cols: usize, what: &str| {
            if !what.ends_with("/parts") {
                return Argument(map(matrix, rows, [cols; 2], what).encode().to_vec());
            }
            let pitch = pitch_of_parts(cols);
            let parts = split(gpu, module, rows, cols, matrix);
            let address = |part| parts + (part * rows * pitch * size_of::<u16>()) as u64;
            let maps = (0..3).flat_map(|part| map(address(part), rows, [cols, pitch], what).encode());
            Argument(maps.collect())
        };
        let arguments: Vec<Argument> = (head.parameters.iter())
            .map(|word| match (word.as_str(), word.split_once(':')) {
                (_, Some(("A", what))) => maps(a, m, k, what),
                (_, Some(("B", what))) => maps(b, k, n, what),
                (_, Some(("Bt", what))) => maps(b, n, k, what),
                (_, Some(("C", what))) => maps(c, m, n, what),
                ("M", _) => (m as i32).into(),
                ("N", _) => (n as i32).into(),
                ("K", _) => (k as i32).into(),
                ("alpha", _) => ALPHA.into(),
                ("beta", _) => BETA.into(),
                ("whole", _) => launch.whole.into(),
                ("A" | "A/bf16", _) => a.into(),
                ("B" | "B/bf16", _) => b.into(),
                ("C" | "C/bf16", _) => c.into(),
                _ => panic!("a parameter {word}"),
            })
            .collect();
        // What is only summed is checked with whole numbers, too.
        let check_level = if inputs == Inputs::Whole { CheckLevel::CheckedWithGlobalRaces } else { CheckLevel::Count };
        let sources = vec![(format!("{}.cu", fixture.name), fixture.source.as_str().into())];
        let options =
            LaunchOptions { names: Names { sources, ..Names::default() }, ..options(check_level, 1 << 30, threads) };
        let shape = Geometry { dynamic_shared: head.shared, ..Geometry::plane(launch.blocks, [head.block, 1]) };
        let params = kernel.param_block(&arguments).expect("its parameters");
        let request = shape.request(params, options);
        let has_beta = head.parameters.iter().any(|word| word == "beta");
        let expected = match inputs {
            Inputs::Whole => product.reference_of_whole(),
            Inputs::Any | Inputs::Short => Vec::new(),
        };
        let is_bf16 = head.is_of("C", "bf16");
        let launch_once = || {
            if is_bf16 {
                gpu.write(c, &old.iter().copied().map(to_bf16).collect::<Vec<u16>>())
            } else {
                gpu.write(c, &old)
            }
            let report = gpu.launch(kernel, &request).expect("a launch");
            let report = Report::new(report, kernel, &request);
            let found: Vec<f32> =
                if is_bf16 { gpu.read(c, m * n).into_iter().map(of_bf16).collect() } else { gpu.read(c, m * n) };
            let wrong = found.iter().zip(&expected).zip(&old);
            let wrong = wrong.filter(|((found, sum), old)| {
                let right = ALPHA * **sum + if has_beta { BETA * **old } else { 0.0 };
                **found != if is_bf16 { of_bf16(to_bf16(right)) } else { right }
            });
            Ran {
                counters: report.launch.total,
                findings: report.findings,
                n_wrong: wrong.count(),
                n_elements: m * n,
                c: found,
            }
        };
        let first = launch_once();
        // Kernels count finished blocks in global variables, where a second launch finds what the first one left.
        let is_atomic = |word: &str| word.starts_with("atom.") || word.starts_with("red.");
        let leaves_counts = ptx.split_whitespace().any(is_atomic);
        if leaves_counts && first.findings.is_empty() && first.n_wrong == 0 { launch_once() } else { first }
    }

    /// Returns findings and wrong results of a kernel's launches up to the first with any: as text, and the codes.
    pub fn shown(&self, threads: usize) -> (String, Vec<String>) {
        let (mut text, mut codes) = (String::new(), Vec::new());
        for &launch in &self.head.launches {
            let ran = self.run(launch, threads, Inputs::Whole);
            for finding in &ran.findings {
                text.push_str(&finding.text);
                text.push('\n');
                codes.push(finding.code.as_str().to_owned());
            }
            if ran.n_wrong > 0 {
                let _ = writeln!(text, "{} of {} elements of C are wrong.", ran.n_wrong, ran.n_elements);
            }
            if !text.is_empty() {
                break;
            }
        }
        (text, codes)
    }
}

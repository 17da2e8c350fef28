//! The compiler in `emulator/cuda` beside NVRTC: the same results, counts and findings for the course's kernels.
//!
//! What NVRTC makes of each source is committed. Instructions may differ in number; what a reader is taught to count
//! may not.

use std::fmt::Write as _;
use std::path::Path;

use counters::Counters;
use simt::launch::{CheckLevel, LaunchOptions};
use tests::fixture::{self, Ran};
use tests::gemm::{GemmKernel, Product};
use tests::gpu::{Geometry, Gpu};

use crate::ladder::KERNELS;

/// Compiles a source with the headers of its folder, and with the ladder's.
fn compile(name: &str, text: &str, folder: &Path) -> Result<String, String> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for folder in [folder, &tests::root().join("kernels")] {
        for path in tests::files_under(folder, "cuh") {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
            if !headers.iter().any(|(known, _)| *known == name) {
                headers.push((name, std::fs::read_to_string(&path).expect("a header")));
            }
        }
    }
    match cuda::compile(&cuda::Input { name, text, headers: &headers }) {
        Ok(compiled) => Ok(compiled.module.to_string()),
        Err((messages, _)) => {
            let texts: Vec<String> = messages.into_iter().map(|message| message.text).collect();
            Err(texts.join("; "))
        }
    }
}

fn compile_file(path: &str) -> Result<String, String> {
    let full = tests::root().join(path);
    compile(path, &tests::read(path), full.parent().expect("a folder"))
}

/// The counts that chapters and tasks are about.
fn counts(c: &Counters) -> Vec<(&'static str, u64)> {
    vec![
        ("multiply-adds", c.fmas),
        ("global loads", c.global_load_requests),
        ("their sectors", c.global_load_sectors),
        ("their bytes", c.global_load_bytes),
        ("global stores", c.global_store_requests),
        ("their sectors", c.global_store_sectors),
        ("shared loads", c.shared_load_requests),
        ("their wavefronts", c.shared_load_wavefronts),
        ("merged", c.shared_load_requests_merged),
        ("shared stores", c.shared_store_requests),
        ("their wavefronts", c.shared_store_wavefronts),
        ("merged", c.shared_store_requests_merged),
        ("global atomics", c.global_atomic_requests),
        ("shared atomics", c.shared_atomic_requests),
        ("local", c.local_requests),
        ("barriers", c.barriers),
    ]
}

fn differences(ours: &Counters, theirs: &Counters) -> String {
    let pairs = counts(ours).into_iter().zip(counts(theirs));
    let different = pairs.filter(|((_, a), (_, b))| a != b);
    let texts: Vec<String> = different.map(|((name, a), (_, b))| format!("{name} {a} for {b}")).collect();
    texts.join(", ")
}

const SHAPES: [[usize; 3]; 6] = [[1, 1, 1], [17, 31, 13], [129, 127, 9], [64, 68, 12], [131, 260, 33], [256, 128, 16]];

/// Runs a kernel of both compilers, and returns where they differ.
fn compare_gemm(kernel: &GemmKernel, ours: &str, theirs: &str, [m, n, k]: [usize; 3]) -> String {
    let product = Product::<f32>::random(m, n, k, 5);
    let run = |ptx: &str| {
        let gpu = Gpu::with_memory(1 << 32);
        let c = gpu.upload(&vec![f32::NAN; m * n]);
        let options = LaunchOptions { check_level: CheckLevel::CheckedWithGlobalRaces, ..LaunchOptions::default() };
        let report = kernel.launch(&gpu, ptx, &[m, n, k], &[&product.a, &product.b], c, options);
        let report = report.unwrap_or_else(|refused| panic!("{}: {refused}", kernel.name));
        let bits: Vec<u32> = gpu.read::<f32>(c, m * n).into_iter().map(f32::to_bits).collect();
        let findings: Vec<String> = report.findings.iter().map(|found| found.text.clone()).collect();
        (bits, report.total, findings)
    };
    let (ours, theirs) = (run(ours), run(theirs));
    let mut text = differences(&ours.1, &theirs.1);
    if ours.0 != theirs.0 {
        text = format!("another C; {text}");
    }
    if !ours.2.is_empty() {
        text = format!("{text}\n{}", ours.2.join("\n"));
    }
    text
}

#[test]
fn kernels_of_the_ladder_are_those_of_nvrtc() {
    let (mut table, mut same) = (String::new(), 0);
    for kernel in &KERNELS.gemms {
        let source = tests::recorded::kernel(&kernel.name).source.expect("a source");
        let ours = match compile_file(&format!("kernels/{source}.cu")) {
            Ok(ours) => ours,
            Err(refused) => {
                let _ = writeln!(table, "{}: {refused}", kernel.name);
                continue;
            }
        };
        for shape in SHAPES {
            match compare_gemm(kernel, &ours, &kernel.ptx(), shape) {
                text if text.is_empty() => same += 1,
                text => _ = writeln!(table, "{} {shape:?}: {text}", kernel.name),
            }
        }
    }
    for kernel in &KERNELS.transposes {
        let source = tests::recorded::kernel(&kernel.name).source.expect("a source");
        let ours = compile_file(&format!("kernels/{source}.cu")).expect("it compiles");
        for (rows, cols) in [(1, 1), (67, 35), (128, 192)] {
            let (ours, theirs) =
                (kernel.check_transpose(&ours, rows, cols), kernel.check_transpose(&kernel.ptx(), rows, cols));
            match differences(&ours.total, &theirs.total) {
                text if text.is_empty() => same += 1,
                text => _ = writeln!(table, "{} {rows} x {cols}: {text}", kernel.name),
            }
        }
    }
    let n = KERNELS.gemms.len() + KERNELS.transposes.len();
    let _ = writeln!(table, "{same} launches of {n} kernels: the same bits of C, and the same counts");
    insta::assert_snapshot!(table);
}

const MEETING: &str = r#"
extern "C" __global__ void k(const int* in, int* out, int n)
{
    const int t = threadIdx.x;
    const int x = in[t];
    unsigned v = x;
    if (n) {
        v -= t;
        switch (v & 3) {
        case 0: {} break;
        case 1: {} break;
        default: ;
        }
    } else {
        if (t) { int unused = 3; }
    }
    // The type of `?:` is that of both arms, also where one is never taken.
    unsigned w = 0;
    // A negative number is 0 as an `unsigned char`, as NVRTC converts it.
    (x & 1 ? v : w) += (unsigned char)((float)x - 5);
    const double& same = x;
    t[out] = (int)v + 2 * w + (int)same * 3 + (0u >= (true ? (short)(1 - x) : 1.5f));
}
"#;

#[test]
fn values_are_those_of_the_way_taken() {
    let ptx = compile("meeting.cu", MEETING, tests::root()).expect("it compiles");
    let input: Vec<i32> = (0..32).map(|i| i * 37 % 11).collect();
    for n in [0, 1] {
        let gpu = Gpu::default();
        let module = gpu.load(&ptx).expect("PTX that loads");
        let (source, target) = (gpu.upload(&input), gpu.upload(&[0i32; 32]));
        gpu.run(&module, "k", Geometry::line(1, 32), &[source.into(), target.into(), n.into()]);
        let chosen = |x: i32| (2 - x % 2) * (x - 5).max(0);
        let want = (0..).zip(&input).map(|(t, &x)| x - n * t + chosen(x) + 3 * x + i32::from(1 - x <= 0));
        let want: Vec<i32> = want.collect();
        assert_eq!(gpu.read::<i32>(target, 32), want);
    }
}

const ROUNDS: &str = r#"
extern "C" __global__ void k(int* a, int* out, int n)
{
    int s = 0, last = -1, before = -1, k = 5;
    for (int i = 0; i < n; ++i) {
        s = s * 3 + a[i];
        last = i;
    }
    for (int i = 0; i < n; ++i) {
        before = out[0];
        out[0] = before + a[i];
    }
    do {
        s += k * a[k & 7];
        k += 3;
    } while (k < n);
    for (unsigned i = n + 3; i < 16; i += 2) {
        a[i] = s + a[i - 1];
        s += 1;
    }
    out[1] = s;
    out[2] = last;
    out[3] = before;
    out[4] = k;
}
"#;

/// Loops whose rounds are not known run as often as they say, and what they leave is that of the last round.
#[test]
fn loops_run_all_their_rounds() {
    let ptx = compile("rounds.cu", ROUNDS, tests::root()).expect("it compiles");
    assert!(ptx.matches("nounroll").count() == 4, "four loops are unrolled:\n{ptx}");
    for n in (-2..14).chain([i32::MIN, i32::MIN + 2]) {
        let mut a: Vec<i32> = (0..16).map(|i| i * 37 % 11 - 3).collect();
        let gpu = Gpu::default();
        let module = gpu.load(&ptx).expect("PTX that loads");
        let (source, target) = (gpu.upload(&a), gpu.upload(&[0i32; 5]));
        gpu.run(&module, "k", Geometry::line(1, 1), &[source.into(), target.into(), n.into()]);
        let read = &a[..n.max(0) as usize];
        let mut s = read.iter().fold(0, |s, value| s * 3 + value);
        let sum: i32 = read.iter().sum();
        let before = read.last().map_or(-1, |last| sum - last);
        let mut k = 5;
        loop {
            s += k * a[k as usize & 7];
            k += 3;
            if k >= n {
                break;
            }
        }
        for i in ((n + 3) as u32..16).step_by(2) {
            a[i as usize] = s + a[i as usize - 1];
            s += 1;
        }
        assert_eq!(gpu.read::<i32>(target, 5), [sum, s, n.max(0) - 1, before, k], "n = {n}");
        assert_eq!(gpu.read::<i32>(source, 16), a, "n = {n}");
    }
}

/// Codes with their lines, and values that are not as the head of the source says.
fn reported(ran: &Ran) -> String {
    let findings = ran
        .findings
        .iter()
        .map(|found| format!("{} {}", found.code.as_str(), found.place.as_ref().map_or(0, |place| place.line)));
    let mut all: Vec<String> = findings.chain(ran.wrong.iter().cloned()).collect();
    if ran.findings.is_empty() {
        all.extend(ran.codes.iter().cloned());
    }
    all.join(", ")
}

#[test]
fn findings_are_those_of_nvrtc() {
    let (mut table, mut same, mut different, mut refused) = (String::new(), 0, 0, 0);
    for folder in ["tests/fixtures/diagnosed", "tests/fixtures/clean", "tests/fixtures/unseen"] {
        for kernel in fixture::folder(folder) {
            let (one, _) = &kernel;
            let path = one.path.to_str().expect("a path");
            let full = tests::root().join(&one.path);
            match compile(path, &one.source, full.parent().expect("a folder")) {
                Err(why) => {
                    refused += 1;
                    let _ = writeln!(table, "{}: refused: {why}", one.name);
                }
                Ok(ours) => {
                    let ours = reported(&fixture::run(&(one.clone(), ours), 1, true));
                    let theirs = reported(&fixture::run(&kernel, 1, true));
                    if ours == theirs {
                        same += 1;
                    } else {
                        different += 1;
                        let _ = writeln!(table, "{}: {ours} for {theirs}", one.name);
                    }
                }
            }
        }
    }
    let _ = write!(table, "{same} the same, {different} different, {refused} refused");
    insta::assert_snapshot!(table);
}

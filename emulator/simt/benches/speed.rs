//! Speed of the emulated GPU: thread-instructions per second, and work per second beside native code.
//!
//! ```text
//! cargo bench -p simt --bench speed                      # the table
//! cargo bench -p simt --bench speed -- --save FILE.json  # and a record
//! cargo bench -p simt --bench speed -- --against OTHER   # beside this benchmark as built from another commit
//! ```
//!
//! Six kernels at four levels of checks, on one core and on all. Each figure is the best of several runs of at
//! least a fifth of a second; the native loop beside it does the same arithmetic, one element at a time, compiled to
//! machine code, and is timed in the same process, one core, right before.

#![expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use serde::Serialize;
use simt::gpu::{Argument, Geometry, Gpu};
use simt::launch::{CheckLevel, LaunchOptions};

const SAMPLE: Duration = Duration::from_millis(200);
const SAMPLES: usize = 5;

/// A kernel with its launch and the loop that it is set beside.
struct Case {
    name: &'static str,
    ptx: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Leading `int` parameters; pointers follow.
    sizes: Vec<i32>,
    /// Words of each buffer, in the order of the parameters.
    buffers: Vec<usize>,
    /// Multiply-adds, or elements moved or added where there are none.
    work: u64,
    /// Unit of `work`, as printed: `multiply-adds` or `elements`.
    unit: &'static str,
    native: fn(&[Vec<f32>], &mut [f32], &[i32]),
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    unit: &'static str,
    #[serde(rename = "watch")]
    check_level: &'static str,
    threads: usize,
    thread_instructions: u64,
    seconds: Vec<f64>,
    thread_instructions_per_second: f64,
    work_per_second: f64,
    native_work_per_second: f64,
    ratio_to_native: f64,
}

#[derive(Serialize)]
struct Record {
    what: &'static str,
    machine: String,
    cores: usize,
    date: String,
    command: String,
    rows: Vec<Row>,
}

/// The levels of checks, as the table calls them.
const CHECK_LEVELS: [(&str, CheckLevel); 4] = [
    ("plain", CheckLevel::Off),
    ("counted", CheckLevel::Count),
    ("checked", CheckLevel::Checked),
    ("+ global races", CheckLevel::CheckedWithGlobalRaces),
];

const USAGE: &str =
    "usage: cargo bench -p simt --bench speed -- [--save FILE | --against PROGRAM | --cell KERNEL WATCH THREADS]";

/// Threads of the kernel `gather`.
const GATHERERS: usize = 1 << 15;

/// Each thread adds 16 words from anywhere in 4 MiB: no pattern repeats, and no two lanes are neighbours.
const GATHER: &str = include_str!("gather.ptx");

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => table(None),
        ["--save", file] => table(Some(file)),
        ["--against", program] => compare(program),
        ["--cell", kernel, check_level, threads] => cell(kernel, check_level, threads.parse()?),
        _ => Err(USAGE.into()),
    }
}

fn thread_counts() -> Vec<usize> {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => vec![1],
        cores => vec![1, cores],
    }
}

/// Prints the seconds of one cell of the table, for [`compare`].
fn cell(kernel: &str, check_level: &str, threads: usize) -> Result<(), Box<dyn Error>> {
    let case = cases().into_iter().find(|case| case.name == kernel);
    let check_level = CHECK_LEVELS.into_iter().find(|(label, _)| *label == check_level);
    let (Some(case), Some((label, check_level))) = (case, check_level) else { return Err(USAGE.into()) };
    let row = measure(&case, label, check_level, threads, 1.0)?;
    println!("{}", row.seconds.into_iter().fold(f64::INFINITY, f64::min));
    Ok(())
}

/// Times each cell with this program and another by turns, and prints the ratio: above 1 this one is faster.
fn compare(other: &str) -> Result<(), Box<dyn Error>> {
    const TURNS: usize = 5;
    let this = std::env::current_exe()?;
    let seconds = |program: &std::path::Path, row: [&str; 3]| -> Result<f64, Box<dyn Error>> {
        let output = std::process::Command::new(program).arg("--cell").args(row).output()?;
        let text = String::from_utf8(output.stdout)?;
        text.trim().parse().map_err(|_| format!("{} has no cell {row:?}", program.display()).into())
    };
    println!("kernel          watch          threads   this ms   other ms   other / this: median (least .. most)");
    for case in cases() {
        for (label, _) in CHECK_LEVELS {
            for threads in thread_counts() {
                let row = [case.name, label, &threads.to_string()];
                let turn = |_| Ok((seconds(&this, row)?, seconds(other.as_ref(), row)?));
                let turns = (0..TURNS).map(turn).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
                let mut ratios: Vec<f64> = turns.iter().map(|(this, other)| other / this).collect();
                ratios.sort_by(f64::total_cmp);
                let best = |of: fn(&(f64, f64)) -> f64| turns.iter().map(of).fold(f64::INFINITY, f64::min);
                println!(
                    "{:<15} {label:<14} {threads:>7}   {:>7.2}   {:>8.2}   {:.2} ({:.2} .. {:.2})",
                    case.name,
                    best(|turn| turn.0) * 1e3,
                    best(|turn| turn.1) * 1e3,
                    ratios[TURNS / 2],
                    ratios[0],
                    ratios[TURNS - 1],
                );
            }
        }
    }
    Ok(())
}

fn table(save: Option<&str>) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{}, {cores} cores\n", machine());
    println!("kernel          watch       cores   G thread-instr/s   M work/s               vs native");
    for case in cases() {
        let native = native_rate(&case);
        for (label, check_level) in CHECK_LEVELS {
            for threads in thread_counts() {
                let row = measure(&case, label, check_level, threads, native)?;
                println!(
                    "{:<15} {:<14} {:>2}   {:>16.2}   {:>9.0} {:<12} {:>8.3}",
                    row.kernel,
                    row.check_level,
                    row.threads,
                    row.thread_instructions_per_second / 1e9,
                    row.work_per_second / 1e6,
                    row.unit,
                    row.ratio_to_native,
                );
                rows.push(row);
            }
        }
        println!("{:<15} native, 1 core              {:>18.0} {}\n", case.name, native / 1e6, case.unit);
    }
    if let Some(file) = save {
        let record = Record {
            what: "speed of the emulated GPU",
            machine: machine(),
            cores,
            date: today()?,
            command: "cargo bench -p simt --bench speed".to_owned(),
            rows,
        };
        std::fs::write(file, serde_json::to_string_pretty(&record)? + "\n")?;
        eprintln!("saved {file}");
    }
    Ok(())
}

fn measure(
    case: &Case, label: &'static str, check_level: CheckLevel, threads: usize, native: f64,
) -> Result<Row, Box<dyn Error>> {
    let gpu = Gpu::with_memory(1 << 32);
    let module = gpu.load(case.ptx)?;
    let kernel = module.kernel(case.name).ok_or("the kernel is not in its module")?;
    let mut arguments: Vec<Argument> = case.sizes.iter().map(|&size| size.into()).collect();
    for (i, &words) in case.buffers.iter().enumerate() {
        let address = if i + 1 < case.buffers.len() { gpu.upload(&values(words, i)) } else { gpu.alloc::<f32>(words) };
        arguments.push(address.into());
    }
    let params = kernel.param_block(&arguments)?;
    let shape = Geometry { grid: case.grid, block: case.block, dynamic_shared: 0 };
    let launch = |check_level: CheckLevel| {
        let options = LaunchOptions { check_level, threads: NonZeroUsize::new(threads), ..LaunchOptions::default() };
        gpu.launch(kernel, &shape.request(params.clone(), options))
    };

    let report = launch(CheckLevel::Count)?;
    if !report.mistakes.is_empty() {
        return Err(format!("{:?}", report.mistakes.codes()).into());
    }
    let thread_instructions = report.total.thread_instructions;
    let seconds = samples(|| launch(check_level).map(drop))?;
    let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let work_per_second = case.work as f64 / best;
    Ok(Row {
        kernel: case.name,
        unit: case.unit,
        check_level: label,
        threads,
        thread_instructions,
        thread_instructions_per_second: thread_instructions as f64 / best,
        work_per_second,
        native_work_per_second: native,
        ratio_to_native: work_per_second / native,
        seconds,
    })
}

/// Measures seconds for one call, several times; short calls are repeated to fill a sample.
fn samples<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<Vec<f64>, E> {
    run()?;
    (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            let mut calls = 0;
            while calls == 0 || start.elapsed() < SAMPLE {
                run()?;
                calls += 1;
            }
            Ok(start.elapsed().as_secs_f64() / f64::from(calls))
        })
        .collect()
}

fn native_rate(case: &Case) -> f64 {
    let (inputs, output) = case.buffers.split_at(case.buffers.len() - 1);
    let inputs: Vec<Vec<f32>> = inputs.iter().enumerate().map(|(i, &words)| values(words, i)).collect();
    let mut out = vec![0.0; output[0]];
    let Ok(seconds) = samples(|| {
        (case.native)(&inputs, &mut out, &case.sizes);
        std::hint::black_box(&out);
        Ok::<(), std::convert::Infallible>(())
    });
    case.work as f64 / seconds.into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns reproducible numbers in -1 .. 1.
fn values(n: usize, buffer: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32.wrapping_mul(buffer as u32 + 1) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 * 2.0 - 1.0
        })
        .collect()
}

fn cases() -> Vec<Case> {
    const N: usize = 256;
    const BIG: usize = 1024;
    let gemm = |name, ptx, n: usize, tile: usize, block| Case {
        name,
        ptx,
        grid: [n.div_ceil(tile) as u32, n.div_ceil(tile) as u32, 1],
        block,
        sizes: vec![n as i32; 3],
        buffers: vec![n * n; 3],
        work: (n * n * n) as u64,
        unit: "multiply-adds",
        native: native_gemm,
    };
    vec![
        gemm("naive", include_str!("../../../kernels/ptx/naive.ptx"), N, 16, [16, 16, 1]),
        gemm("shared_tile", include_str!("../../../kernels/ptx/shared_tile.ptx"), N, 16, [16, 16, 1]),
        gemm("register_tile", include_str!("../../../kernels/ptx/register_tile.ptx"), 2 * N, 128, [256, 1, 1]),
        Case {
            name: "transpose",
            ptx: include_str!("../../../kernels/ptx/transpose.ptx"),
            grid: [BIG as u32 / 32, BIG as u32 / 32, 1],
            block: [32, 8, 1],
            sizes: vec![BIG as i32; 2],
            buffers: vec![BIG * BIG; 2],
            work: (BIG * BIG) as u64,
            unit: "elements",
            native: |inputs, out, sizes| {
                let (rows, cols) = (sizes[0] as usize, sizes[1] as usize);
                for row in 0..rows {
                    for col in 0..cols {
                        out[col * rows + row] = inputs[0][row * cols + col];
                    }
                }
            },
        },
        Case {
            name: "gather",
            ptx: GATHER,
            grid: [(GATHERERS / 256) as u32, 1, 1],
            block: [256, 1, 1],
            sizes: vec![],
            buffers: vec![BIG * BIG, GATHERERS],
            work: (GATHERERS * 16) as u64,
            unit: "elements",
            native: |inputs, out, _| {
                for (thread, sum) in out.iter_mut().enumerate() {
                    let mut state = thread as u32;
                    *sum = 0.0;
                    for _ in 0..16 {
                        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                        *sum += inputs[0][(state >> 5) as usize % (BIG * BIG)];
                    }
                }
            },
        },
        Case {
            name: "reduction",
            ptx: include_str!("../../../kernels/ptx/reduction.ptx"),
            grid: [(BIG * BIG / 512) as u32, 1, 1],
            block: [256, 1, 1],
            sizes: vec![(BIG * BIG) as i32],
            buffers: vec![BIG * BIG, BIG * BIG / 512],
            work: (BIG * BIG) as u64,
            unit: "elements",
            native: |inputs, out, _| {
                for (sum, chunk) in out.iter_mut().zip(inputs[0].chunks(512)) {
                    *sum = chunk.iter().sum();
                }
            },
        },
    ]
}

/// Multiplies by the textbook triple loop: one element of C after the other, k innermost.
fn native_gemm(inputs: &[Vec<f32>], c: &mut [f32], sizes: &[i32]) {
    let (m, n, k) = (sizes[0] as usize, sizes[1] as usize, sizes[2] as usize);
    for row in 0..m {
        for col in 0..n {
            let mut acc = 0.0;
            for i in 0..k {
                acc += inputs[0][row * k + i] * inputs[1][i * n + col];
            }
            c[row * n + col] = acc;
        }
    }
}

/// Returns the name of the processor, as the operating system gives it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split(':').nth(1)?.trim().to_owned())
    };
    let name = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match (field("cpu family"), field("model\t")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

/// Returns today's date, formatted as `2026-11-21`.
fn today() -> Result<String, Box<dyn Error>> {
    let output = std::process::Command::new("date").arg("+%F").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

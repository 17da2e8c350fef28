//! Compares other PTX interpreters with ours: the same kernels, in the same run, on one core each.
//!
//! ```text
//! cargo run --release --manifest-path emulator/peers/Cargo.toml                    # the table
//! cargo run --release --manifest-path emulator/peers/Cargo.toml -- --save FILE.json  # and a record
//! ```
//!
//! ptoxide 0.1 reads less PTX than compilers write today: comments and [`NOT_FOR_PTOXIDE`] are removed for it. A kernel
//! that it still cannot run is shown with its error. Ours runs with all checks but races on global memory.

#![forbid(unsafe_code)]

use std::error::Error;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ptoxide::{Argument, Context, LaunchParams};
use serde_json::json;
use simt::gpu::{self, Gpu, Geometry};
use simt::launch::{CheckLevel, LaunchOptions};

const N: usize = 256;
const SAMPLES: usize = 5;
/// Lines that ptoxide does not read and the kernels can do without: positions, hints, constants nobody loads.
const NOT_FOR_PTOXIDE: [&str; 5] = [".loc", ".file", ".maxntid", ".pragma", ".global .align 4 .u32"];

/// A product of two N × N matrices.
struct Case {
    name: &'static str,
    ptx: &'static str,
    tile: usize,
    block: [u32; 3],
}

fn main() -> Result<(), Box<dyn Error>> {
    // A peer that gives up does so by panicking; what it said stands in the table.
    std::panic::set_hook(Box::new(|_| {}));
    let case = |name, ptx, tile, block| Case {
        name,
        ptx,
        tile,
        block,
    };
    let cases = [
        case(
            "naive",
            include_str!("../../../kernels/ptx/naive.ptx"),
            16,
            [16, 16, 1],
        ),
        case(
            "shared_tile",
            include_str!("../../../kernels/ptx/shared_tile.ptx"),
            16,
            [16, 16, 1],
        ),
        case(
            "register_tile",
            include_str!("../../../kernels/ptx/register_tile.ptx"),
            128,
            [256, 1, 1],
        ),
    ];
    let (a, b) = (values(1), values(2));
    println!("{N} x {N} x {N}, million multiply-adds per second, one core, best of {SAMPLES}\n");
    println!(
        "{:<15} {:>10} {:>14} {:>8}",
        "kernel", "ptoxide", "ours, checked", "ratio"
    );
    let mut rows = Vec::new();
    for case in &cases {
        let (ours, expected) = run_ours(case, &a, &b)?;
        let peer = catch_unwind(AssertUnwindSafe(|| run_ptoxide(case, &a, &b)))
            .unwrap_or_else(|panic| Err(said(&*panic)));
        let peer = match peer {
            Ok((_, result)) if !close(&result, &expected) => Err("its result is wrong".to_owned()),
            other => other.map(|(rate, _)| rate),
        };
        match &peer {
            Ok(theirs) => println!(
                "{:<15} {theirs:>10.1} {ours:>14.1} {:>7.0}x",
                case.name,
                ours / theirs
            ),
            Err(why) => println!("{:<15} {:>10} {ours:>14.1}   ({why})", case.name, "-"),
        }
        let (rate, why) = (peer.as_ref().ok(), peer.as_ref().err());
        rows.push(json!({ "kernel": case.name, "ptoxide": rate, "ptoxide_says": why, "ours_checked": ours }));
    }
    if let [_, option, file] = &std::env::args().collect::<Vec<_>>()[..]
        && option == "--save"
    {
        let date = std::process::Command::new("date").arg("+%F").output()?;
        let record = json!({
            "what": format!("{N} x {N} x {N}, million multiply-adds per second, one core, best of {SAMPLES}"),
            "date": String::from_utf8(date.stdout)?.trim(),
            "peer": "ptoxide 0.1.0",
            "rows": rows,
        });
        std::fs::write(file, serde_json::to_string_pretty(&record)? + "\n")?;
        eprintln!("saved {file}");
    }
    Ok(())
}

fn run_ours(case: &Case, a: &[f32], b: &[f32]) -> Result<(f64, Vec<f32>), Box<dyn Error>> {
    let gpu = Gpu::with_memory(1 << 32);
    let module = gpu.load(case.ptx)?;
    let kernel = module.kernel(case.name).ok_or("no such kernel")?;
    let result = gpu.alloc::<f32>(N * N);
    let mut arguments: Vec<gpu::Argument> = [N as i32; 3].map(gpu::Argument::from).into();
    arguments.extend([gpu.upload(a), gpu.upload(b), result].map(gpu::Argument::from));
    let tiles = N.div_ceil(case.tile) as u32;
    let options = LaunchOptions {
        check_level: CheckLevel::Checked,
        threads: NonZeroUsize::new(1),
        ..LaunchOptions::default()
    };
    let shape = Geometry {
        grid: [tiles, tiles, 1],
        block: case.block,
        shared: 0,
    };
    let config = shape.config(kernel.param_block(&arguments)?, options);
    let rate = best_rate(|| gpu.launch(kernel, &config).map(drop))?;
    Ok((rate, gpu.read(result, N * N)))
}

fn run_ptoxide(case: &Case, a: &[f32], b: &[f32]) -> Result<(f64, Vec<f32>), String> {
    let text: String = case
        .ptx
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .filter(|line| {
            !NOT_FOR_PTOXIDE
                .iter()
                .any(|start| line.trim_start().starts_with(start))
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut context = Context::new_with_module(&text).map_err(|error| format!("{error:?}"))?;
    let (da, db, dc) = (context.alloc(N * N), context.alloc(N * N), context.alloc(N * N));
    context.write(da, a);
    context.write(db, b);
    let tiles = N.div_ceil(case.tile) as u32;
    let size = || Argument::U32(N as u32);
    let arguments = [
        size(),
        size(),
        size(),
        Argument::ptr(da),
        Argument::ptr(db),
        Argument::ptr(dc),
    ];
    let rate = best_rate(|| {
        let shape = LaunchParams::func_id(0)
            .grid2d(tiles, tiles)
            .block2d(case.block[0], case.block[1]);
        context.run(shape, &arguments)
    })
    .map_err(|error| format!("{error:?}"))?;
    let mut result = vec![0.0; N * N];
    context.read(dc, &mut result);
    Ok((rate, result))
}

/// Returns whether two numbers are equal but for rounding: ptoxide rounds the product of a fused multiply-add. NaN is
/// close to nothing.
fn close(a: &[f32], b: &[f32]) -> bool {
    a.iter()
        .zip(b)
        .all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs()))
}

/// Measures million multiply-adds per second; the fastest of several runs.
fn best_rate<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    run()?;
    let mut best = Duration::MAX;
    for _ in 0..SAMPLES {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok((N * N * N) as f64 / best.as_secs_f64() / 1e6)
}

/// Returns the first line of what a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied());
    let line = text.unwrap_or("it gave up").lines().next().unwrap_or_default();
    format!("it says: {}", line.chars().take(70).collect::<String>())
}

/// Returns reproducible numbers in -1 .. 1.
fn values(seed: u32) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32.wrapping_mul(seed) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 * 2.0 - 1.0
    };
    (0..N * N).map(|_| next()).collect()
}

//! Measurements of several steps as one table, a line each.

use catalog::text::{Paint, Table};
use catalog::{Work, find};
use counters::{SECTOR_BYTES, TENSOR_PRODUCT, WARP};
use records::Run;
use records::record::{Measurement, Outcome, Record, VerifiedRun};

/// Formats measurements: real devices first, with times and the share of the device that they reach; then the emulated
/// one, with its counters.
pub fn measurements(all: &Record, paint: Paint) -> String {
    let mut out = String::new();
    let table = |titles: &[&'static str]| Table::new([&["step", "kernel", "shape"], titles].concat()).left(3);
    let mut products = table(&["ms", "GFLOP/s", "% cuBLAS", "% roofline"]);
    let mut moves = table(&["ms", "GB/s", "% copy"]);
    let mut counted = table(&["instr", "sectors", "L1 passes", "wavefronts", "excess", "FLOP/byte", "predicted"]);
    let mut others = Vec::new();
    for one in &all.measurements {
        let Some(run) = all.run_of(one) else { continue };
        let passed = match &one.outcome {
            Outcome::Passed(passed) => passed,
            Outcome::Failed { why, .. } => {
                others.push(format!("{}  {}", title(one), paint.bad(&format!("failed: {why}"))));
                continue;
            }
            Outcome::NotRun { why } => {
                others.push(format!("{}  {}", title(one), paint.dim(&format!("not run: {why}"))));
                continue;
            }
        };
        let cells = [one.step.clone(), one.kernel.clone(), one.shape.to_string()];
        let (table, rest) = match (run.emulated && passed.counters.is_some(), work(one)) {
            (true, _) => (&mut counted, counts(one, passed)),
            (false, Work::Transpose) => (&mut moves, timed(passed, gbs(one, passed)).into()),
            (false, _) => (&mut products, speeds(one, passed, run)),
        };
        table.row(cells.into_iter().chain(rest));
    }
    let sections = [
        ("Products of matrices", &products),
        ("Transposes", &moves),
        ("Verified and counted on the emulated GPU", &counted),
    ];
    for (name, table) in sections {
        if !table.is_empty() {
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}{}\n{}", paint.bold(name), table.render(paint)));
        }
    }
    if !counted.is_empty() {
        out.push_str(&paint.dim(LEGEND));
    }
    if !others.is_empty() {
        let gap = if out.is_empty() { "" } else { "\n" };
        out.push_str(&format!("{gap}{}\n", others.join("\n")));
    }
    out
}

/// Legend of the columns of the emulated GPU.
const LEGEND: &str = "  Per FMA of a warp (of tensor cores: per 2048 multiply-adds; of a transpose: per 32 elements): instructions of the
  machine code (of the PTX where there is none), 32-byte sectors of global memory, passes over L1 (modelled),
  wavefronts of shared memory, and those of them that a better layout would save. FLOP per byte of the sectors. What
  bulk copies move is in none of them. Predicted: for an H200 with warm caches.
";

fn title(one: &Measurement) -> String {
    format!("  {}  {}  {}", one.step, one.kernel, one.shape)
}

fn work(one: &Measurement) -> Work {
    let step = find(&one.step).ok();
    let kernel = step.and_then(|step| step.kernel(&one.kernel));
    kernel.map_or(Work::Sgemm, |kernel| kernel.work)
}

/// Returns floating-point operations per second, in billions.
pub fn gflops(one: &Measurement, passed: &VerifiedRun) -> Option<f64> {
    let flops = work(one).flops(one.shape);
    Some(flops / (passed.time_ms()? * 1e6)).filter(|_| flops > 0.0)
}

/// Returns the bytes per second, in billions, counting what must move at least.
pub fn gbs(one: &Measurement, passed: &VerifiedRun) -> Option<f64> {
    Some(work(one).bytes(one.shape) / (passed.time_ms()? * 1e6))
}

fn speeds(one: &Measurement, passed: &VerifiedRun, run: &Run) -> Vec<String> {
    let speed = gflops(one, passed);
    let work = work(one);
    // The ceiling is of FP32 outside of tensor cores.
    let is_under_it = matches!(work, Work::Sgemm | Work::SgemmTransposed { .. } | Work::Cublas);
    let ceiling = run.roofline.filter(|_| is_under_it).map(|roofline| {
        let intensity = work.flops(one.shape) / work.bytes(one.shape);
        (roofline.fp32_tflops * 1e3).min(roofline.copy_gbs * intensity)
    });
    let of_ceiling = speed.zip(ceiling).map(|(speed, ceiling)| speed / ceiling * 100.0);
    timed(passed, speed).into_iter().chain([cell(of_ceiling)]).collect()
}

/// Returns the time, the rate, and the percentage of the yardstick's speed.
fn timed(passed: &VerifiedRun, rate: Option<f64>) -> [String; 3] {
    let ms = passed.time_ms().map(milliseconds).unwrap_or_default();
    [ms, cell(rate), cell(passed.of_yardstick().map(|part| part * 100.0))]
}

/// Counters per multiply-add of a whole warp, or as many of tensor cores as one `mma.sync` on bf16 has; for a
/// transpose, per element of a warp. A cell is empty where nothing was counted that it could be of.
fn counts(one: &Measurement, passed: &VerifiedRun) -> Vec<String> {
    let code = passed.machine_code.as_deref();
    let counters = code.and_then(|code| code.counters.as_ref());
    let Some(c) = counters.or(passed.counters.as_ref()) else { return Vec::new() };
    let prediction = code.and_then(|code| code.predicted.prediction.as_ref());
    let work = work(one);
    let times = match work {
        Work::Transpose => one.shape.m as f64 * one.shape.n as f64 / WARP,
        Work::Tensor { .. } => c.tensor_products as f64 / TENSOR_PRODUCT,
        _ => c.fmas as f64 / WARP,
    };
    let flops = match work {
        Work::Transpose => 0.0,
        Work::Tensor { .. } => work.flops(one.shape),
        _ => 2.0 * c.fmas as f64,
    };
    let of = |n: f64, all: f64| if all > 0.0 { format!("{:.2}", n / all) } else { String::new() };
    let each = |n: u64| of(n as f64, times);
    // What bulk copies move is not among the sectors.
    let bytes = match c.bulk_copies {
        0 => c.global_sectors() as f64 * SECTOR_BYTES,
        _ => 0.0,
    };
    vec![
        each(c.warp_instructions),
        each(c.global_sectors()),
        each(c.l1_passes),
        each(c.wavefronts()),
        each(c.excess()),
        if flops > 0.0 { of(flops, bytes) } else { String::new() },
        prediction.map(|p| format!("{} ms", milliseconds(p.us / 1e3))).unwrap_or_default(),
    ]
}

fn cell(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.1}"),
        None => String::new(),
    }
}

/// Returns a rate, with enough digits to compare.
pub fn rate(value: f64) -> String {
    match value {
        value if value >= 10.0 => format!("{value:.0}"),
        value => format!("{value:.2}"),
    }
}

/// Returns a time with enough digits to compare.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms >= 100.0 => format!("{ms:.0}"),
        ms if ms >= 10.0 => format!("{ms:.1}"),
        ms if ms >= 1.0 => format!("{ms:.2}"),
        ms if ms >= 0.1 => format!("{ms:.3}"),
        ms => format!("{ms:.4}"),
    }
}

//! The default size of a problem, and a check that one fits.

#[cfg(test)]
mod tests;

use catalog::{Shape, Work};

use crate::{device::Gpu, error::StepError};

pub fn default_size(emulated: bool) -> usize {
    if emulated { 512 } else { 4096 }
}

/// The largest volume of recorded shapes that the emulated device counts: counts of larger ones show nothing new.
pub const EMULATED: f64 = 1.1e9;

/// Checks that a problem fits: operands on the device, and what verifying it takes in memory.
pub fn check_fits(work: Work, shape: Shape, gpu: &Gpu) -> Result<(), StepError> {
    let Shape { m, n, k } = shape;
    let what = match work {
        Work::Transpose => "a transpose",
        _ => "a product",
    };
    let area = |rows: usize, cols: usize| rows as f64 * cols as f64;
    let operands = match work {
        Work::Transpose => vec![area(m, n), area(n, m)],
        _ => vec![area(m, k), area(k, n), area(m, n)],
    };
    let elements: f64 = operands.iter().sum();
    let needed = work.bytes(shape);
    let width = needed / elements;
    let available = gpu.info.memory as f64;
    if needed > available {
        let (needed, available) = (bytes(needed), bytes(available));
        let text = format!("{what} of {shape} needs {needed} on the device, which has {available}");
        return Err(StepError::Usage(text));
    }
    // The inputs and the answer in FP64, what came out, and room for a second problem of the same kind.
    let host = 2.0 * elements * (width + 8.0) + if gpu.emulator.is_some() { needed } else { 0.0 };
    if let Some(free) = available_memory().filter(|free| host > *free) {
        let (needed, free) = (bytes(host), bytes(free));
        let text = format!("verifying {what} of {shape} needs {needed} of memory, and {free} are free");
        return Err(StepError::Usage(text));
    }
    Ok(())
}

/// Returns the free memory of this machine, in bytes.
fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0)
}

/// Returns a number of bytes with a decimal unit, such as `1.5 GB`.
pub fn bytes(n: f64) -> String {
    const STEP: f64 = 1000.0;
    let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = n;
    let mut unit = 0;
    while value >= STEP && unit + 1 < units.len() {
        value /= STEP;
        unit += 1;
    }
    match value {
        v if v >= 100.0 || v.fract() == 0.0 => format!("{v:.0} {}", units[unit]),
        v => format!("{v:.1} {}", units[unit]),
    }
}

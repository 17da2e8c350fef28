//! The run that measurements refer to: where, when, and of what.

use std::process::Command;

use records::Run;

use crate::device::Gpu;

/// Describes this process and the device for a record.
pub fn describe(step: &str, gpu: &Gpu) -> Run {
    let date = catalog::time::utc(catalog::time::now());
    let id = format!("{}-{step}-{}", date.replace(['-', ':'], ""), std::process::id());
    Run {
        id,
        date,
        device: gpu.info.name.clone(),
        emulated: gpu.emulator.is_some(),
        capability: gpu.info.capability.clone(),
        driver: gpu.info.driver.clone(),
        host: host(),
        revision: revision(),
        roofline: None,
        cublas: None,
    }
}

/// Describes the host, such as `AMD EPYC 9654, 32 threads`.
fn host() -> String {
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    format!("{}, {n} threads", model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

/// Returns the built revision: `TILE_REVISION` on other machines, else the checkout's, with `-dirty` after changes.
fn revision() -> String {
    if let Ok(revision) = std::env::var("TILE_REVISION") {
        return revision;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".into() };
    match git(&["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => revision,
        _ => format!("{revision}-dirty"),
    }
}

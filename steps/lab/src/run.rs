//! The run that measurements refer to: where, when, and of what.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use ladder::Run;

use crate::device::Gpu;

/// Describes this process.
pub fn describe(step: &str, gpu: &Gpu) -> Run {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let date = utc(seconds);
    let id = format!("{}-{step}-{}", date.replace(['-', ':'], ""), std::process::id());
    Run {
        id,
        date,
        device: gpu.about.name.clone(),
        emulated: gpu.emulator.is_some(),
        capability: gpu.about.capability.clone(),
        driver: gpu.about.driver.clone(),
        host: host(),
        revision: revision(),
        roofline: None,
        cublas: None,
    }
}

/// `2026-11-21T22:40:12Z`, from seconds since 1970.
fn utc(seconds: u64) -> String {
    const DAY: u64 = 24 * 60 * 60;
    let (days, rest) = (seconds / DAY, seconds % DAY);
    // Days to a civil date, after Howard Hinnant's `civil_from_days`: years that begin in March end in leap days.
    const ERA: u64 = 146_097;
    let shifted = days + 719_468;
    let (era, day) = (shifted / ERA, shifted % ERA);
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// `AMD EPYC 9654, 32 threads`
fn host() -> String {
    let n = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    format!(
        "{}, {n} threads",
        model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    )
}

/// What was built: `TILE_REVISION` where the programs were carried to another machine, else the checkout's revision,
/// `-dirty` when there are changes.
fn revision() -> String {
    if let Ok(told) = std::env::var("TILE_REVISION") {
        return told;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => revision,
        _ => format!("{revision}-dirty"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_795_300_812), "2026-11-21T22:40:12Z");
    }
}

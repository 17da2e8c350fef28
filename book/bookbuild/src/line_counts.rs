//! Counts of each line of a kernel in one launch: `line-counts.json`, written by `--refresh`.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use catalog::text;
use counters::Summary;
use serde::Deserialize;

use crate::RepoPaths;

#[derive(Debug, Deserialize)]
struct CountedKernel {
    /// Path of the source, such as `kernels/v05_bank_conflict_free.cu`.
    file: String,
    kernel: String,
    /// Size of the launch, such as `256x256x64`.
    shape: String,
    lines: Vec<CountedLine>,
}

#[derive(Debug, Deserialize)]
struct CountedLine {
    line: usize,
    counts: Summary,
}

/// Counts of all kernels, formatted as text.
#[derive(Debug, Default)]
pub(crate) struct LineCounts {
    launches: BTreeMap<String, String>,
    lines: BTreeMap<(String, usize), String>,
}

impl LineCounts {
    /// Reads the file; a book without it has no counts.
    pub(crate) fn load(repo: &RepoPaths) -> Result<Self> {
        let path = repo.generated().join("line-counts.json");
        let Ok(text) = repo.read(&path) else { return Ok(Self::default()) };
        let kernels: Vec<CountedKernel> = serde_json::from_str(&text).map_err(|error| {
            anyhow!(
                "{} cannot be read ({error}); make it again with: cargo xtask book --refresh line-counts",
                repo.display_path(&path)
            )
        })?;
        let mut all = Self::default();
        for CountedKernel { file, kernel, shape, lines } in kernels {
            let names = all.launches.entry(file.clone()).or_default();
            if names.is_empty() {
                *names = format!("{kernel} on {shape}");
            } else {
                *names = format!("{kernel} and {names}");
            }
            for CountedLine { line, counts } in lines {
                all.lines.entry((file.clone(), line)).or_insert_with(|| describe(&counts));
            }
        }
        Ok(all)
    }

    /// Returns the launch that was counted, such as `sgemm_v05 on 256x256x64`.
    pub(crate) fn launch(&self, file: &str) -> Option<&str> {
        self.launches.get(file).map(String::as_str)
    }

    pub(crate) fn line(&self, file: &str, line: usize) -> Option<&str> {
        self.lines.get(&(file.to_owned(), line)).map(String::as_str)
    }
}

/// Describes the counts of a line: `256 requests to global memory, 4 096 sectors; 8 instructions of warps`.
fn describe(counts: &Summary) -> String {
    // Blanks that do not break.
    let grouped = |count| text::grouped(count, "\u{a0}");
    let mut parts = Vec::new();
    if counts.requests > 0 {
        let [requests, sectors] = [counts.requests, counts.sectors].map(grouped);
        parts.push(format!("{requests} requests to global memory, {sectors} sectors"));
    }
    if counts.shared_requests > 0 {
        let [n, wavefronts, excess] = [counts.shared_requests, counts.wavefronts, counts.excess].map(grouped);
        parts.push(format!("{n} accesses to shared memory, {wavefronts} wavefronts, {excess} in excess"));
    }
    let others = [
        (counts.multiply_adds, "multiply-adds"),
        (counts.local_requests, "accesses to local memory"),
        (counts.barriers, "arrivals of warps at a barrier"),
        (counts.divergent_branches, "divergent branches"),
        (counts.instructions, "PTX instructions of warps"),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    parts.extend(others.map(|(count, what)| format!("{} {what}", grouped(*count))));
    parts.join("; ")
}

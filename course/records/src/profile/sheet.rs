//! Both sides of every launch on record: `kernels/counters.json` for programs, and `COUNTERS.md`, a page of it.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Counted, OF_DIFFERENT_THINGS, PAIRS, Profile, ProfileRecord, Profiler, SCHEMA};
use crate::{record::Launched, record_file::json_file};
use catalog::shape::Shape;

/// The file with the numbers.
pub const SHEET: &str = "kernels/counters.json";
/// The page that is made of them.
pub const PAGE: &str = "kernels/COUNTERS.md";

/// Counts of the emulated GPU beside the measured ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Version of the format: [`SCHEMA`].
    pub schema: u32,
    /// Machine and tools of the measurement.
    pub runs: Vec<Profiler>,
    /// The launches, in the order of the ladder.
    pub launches: Vec<Counted>,
}

impl Default for Sheet {
    fn default() -> Self {
        Self { schema: SCHEMA, runs: Vec::new(), launches: Vec::new() }
    }
}

impl Sheet {
    /// Merges both sides. Kernels that were not launched keep their values from `before`.
    ///
    /// # Errors
    /// Names the first profile whose launch is missing, or lacks a counter.
    pub fn new(record: &ProfileRecord, launches: &[Launched], before: Option<&Self>) -> Result<Self, String> {
        let counted = |profile: &Profile| {
            let same = |one: &&Launched| one.kernel == profile.kernel && one.shape == profile.shape;
            let counters = launches.iter().find(same).and_then(|one| one.counters.as_ref());
            let kept = || before?.find(&profile.kernel, Some(profile.shape)).cloned();
            counters
                .and_then(|counters| Counted::new(profile, counters))
                .or_else(kept)
                .ok_or_else(|| format!("no emulated counters for {} on {}", profile.kernel, profile.shape))
        };
        Ok(Self {
            schema: SCHEMA,
            runs: record.runs.clone(),
            launches: record.profiles.iter().map(counted).collect::<Result<_, _>>()?,
        })
    }

    /// Understands [`SHEET`].
    ///
    /// # Errors
    /// With where in the file, and how to make it again.
    pub fn parse(text: &str) -> Result<Self, String> {
        let why = match serde_json::from_str::<Self>(text) {
            Ok(sheet) if sheet.schema == SCHEMA => return Ok(sheet),
            Ok(sheet) => format!("has schema {}, this program reads {SCHEMA}", sheet.schema),
            Err(error) => format!("cannot be read: {error}"),
        };
        Err(format!("{SHEET} {why}; make it again with: cargo xtask profile --table"))
    }

    /// Returns a kernel on a shape; on its first where none is given.
    pub fn find(&self, kernel: &str, shape: Option<Shape>) -> Option<&Counted> {
        let mut launches = self.launches.iter();
        launches.find(|one| one.kernel == kernel && shape.is_none_or(|shape| one.shape == shape))
    }

    /// Returns the text of [`SHEET`].
    pub fn text(&self) -> String {
        json_file(self.schema, "launches", &self.runs, &self.launches)
    }

    /// Returns the text of [`PAGE`]: one row per kernel, shape and counter.
    pub fn page(&self) -> String {
        let mut body = String::new();
        let (mut n_rows, mut n_equal, mut n_explained, mut n_open) = (0, 0, 0, 0);
        let mut kernel = "";
        for counted in &self.launches {
            if kernel != counted.kernel {
                kernel = &counted.kernel;
                let _ = write!(
                    body,
                    "\n## {} {kernel}\n\n\
                     | shape | counter | emulated | Nsight Compute | difference | why |\n\
                     | --- | --- | ---: | ---: | ---: | --- |\n",
                    counted.step
                );
            }
            for one in counted.compared() {
                n_rows += 1;
                match one.difference() {
                    0 => n_equal += 1,
                    _ if OF_DIFFERENT_THINGS.counters.contains(&one.pair.name) => {}
                    _ if super::reason(kernel, one.pair.name) == Some(super::NOT_EXPLAINED) => n_open += 1,
                    _ => n_explained += 1,
                }
                let _ = writeln!(body, "| {} | {} |", counted.shape, one.cells(kernel).join(" | "));
            }
        }
        let instructions = n_rows - n_equal - n_explained - n_open;
        let mut out = format!(
            "# Counters: emulated and measured\n\n\
             What the emulated GPU counts for the kernels of the ladder that have been profiled, beside what Nsight Compute reports for the same \
             launch of the same PTX on a real one.\n\
             Made by `cargo xtask profile --table` from `book/data`; `counters.json` has the same for programs, and a \
             test counts again and compares.\n\n\
             {n_rows} rows: {n_equal} are equal, {n_explained} differ for a reason that stands beside them, {n_open} are not \
             explained, and {instructions} are of instructions, which are PTX here and machine code there.\n\
             Rows that are 0 on both sides are left out.\n\n"
        );
        for Profiler { run, profiler, driver_version } in &self.runs {
            let n = self.launches.iter().filter(|one| one.run == run.id).count();
            let _ = writeln!(
                out,
                "Measured on {} (driver {driver_version}) with {profiler}, {}, revision {}: {n} launches.",
                run.device, run.date, run.revision
            );
        }
        out.push_str("\n| counter | number of | emulated GPU | Nsight Compute |\n| --- | --- | --- | --- |\n");
        for pair in PAIRS {
            let words = |names: &[&str]| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(" + ")
            };
            let _ = writeln!(out, "| {} | {} | {} | {} |", pair.name, pair.what, words(pair.ours), words(pair.metrics));
        }
        out.push_str(&body);
        out
    }
}

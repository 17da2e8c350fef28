//! Checksums of C, one file per machine: `book/data/h200-sums.json`. Devices with the same bits have the same sums.

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record_file::{RecordError, record_file};
use crate::run::Run;
use catalog::shape::Shape;

pub const SCHEMA: u32 = 1;

/// Files of `book/data` with which other devices are compared; a kernel that the first lacks is in the next.
pub const REFERENCES: [&str; 2] = ["h200-sums.json", "h100-80gb-hbm3-sums.json"];

/// Multiprocessors assumed by launches on every device, so that blocks share out tiles, or the terms of a tile, in the
/// same way everywhere. The number is small, so that small shapes have more tiles than blocks.
pub const MULTIPROCESSORS: usize = 4;

/// Kernels whose C depends on the number of multiprocessors, by which they divide and round the terms of a tile.
pub const BY_MULTIPROCESSORS: [&str; 3] = ["sgemm_v11_split_k", "sgemm_v11_stream_k", "sgemm_v11_rescheduled"];

/// Sums of the kernels, session after session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SumsRecord {
    pub schema: u32,
    pub runs: Vec<Run>,
    /// The sums, ordered by step, kernel and shape.
    pub sums: Vec<Sum>,
}

/// Checksum of C after one launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// [`Run::id`] of the process.
    pub run: String,
    pub step: String,
    pub kernel: String,
    pub shape: Shape,
    pub seed: u64,
    /// Multiprocessors that the launch assumed.
    pub multiprocessors: usize,
    pub ptx_sha256: String,
    /// SHA-256 of the elements of C, row-major, little-endian. Empty where nothing ran.
    pub c_sha256: String,
    /// SHA-256 of cuBLAS's C from the same inputs, where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cublas_sha256: Option<String>,
    /// Reason for a kernel that did not run; never in a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumComparison<'a> {
    Same,
    /// The record has this different sum.
    Other(&'a Sum),
    /// The record has none for this kernel, shape, seed and number of multiprocessors.
    Missing,
}

impl Sum {
    /// Returns whether cuBLAS's C has the same bits; `None` where it did not run.
    pub fn is_cublas(&self) -> Option<bool> {
        self.cublas_sha256.as_ref().map(|other| *other == self.c_sha256)
    }

    /// Returns whether two sums are of the same GEMM: kernel, shape, seed and multiprocessors.
    fn is_of(&self, other: &Self) -> bool {
        let key = |sum: &Self| (sum.shape, sum.seed, sum.multiprocessors);
        self.kernel == other.kernel && key(self) == key(other)
    }
}

/// Returns the first digits of a sum, enough to distinguish two.
pub fn short(sum: &str) -> &str {
    sum.get(..12).unwrap_or(sum)
}

record_file!(SumsRecord, sums);

impl SumsRecord {
    /// Merges the references in a folder by kernel; empty where there are none.
    pub fn references(folder: &Path) -> Result<Self, RecordError> {
        let mut all = Self::default();
        for name in REFERENCES {
            let next = Self::load_or(&Self::default(), &folder.join(name))?;
            let lacks = |sum: &Sum| all.sums.iter().all(|known| known.kernel != sum.kernel);
            let added: Vec<Sum> = next.sums.into_iter().filter(lacks).collect();
            all.runs.extend(next.runs);
            all.sums.extend(added);
        }
        all.tidy();
        Ok(all)
    }

    /// Adds sums to a file, in place of older ones of the same launches.
    pub fn merge_into(path: &Path, new: &Self) -> Result<(), RecordError> {
        Self::change(&Self::default(), path, |record| {
            record.runs.retain(|old| new.runs.iter().all(|run| run.id != old.id));
            record.runs.extend_from_slice(&new.runs);
            new.sums.iter().for_each(|sum| record.add(sum.clone()));
            record.tidy();
        })
    }

    /// Drops unreferenced runs.
    fn tidy(&mut self) {
        self.runs.retain(|run| self.sums.iter().any(|sum| sum.run == run.id));
    }

    /// Adds a sum, in place of an older one of the same launch. A kernel that did not run is left out.
    pub fn add(&mut self, new: Sum) {
        if new.not_run.is_some() {
            return;
        }
        self.sums.retain(|old| !old.is_of(&new));
        self.sums.push(new);
        self.sums.sort_by(|a, b| (&a.step, &a.kernel, a.shape).cmp(&(&b.step, &b.kernel, b.shape)));
    }

    pub fn compare(&self, sum: &Sum) -> SumComparison<'_> {
        match self.sums.iter().find(|known| known.is_of(sum)) {
            None => SumComparison::Missing,
            Some(known) if known.c_sha256 == sum.c_sha256 => SumComparison::Same,
            Some(known) => SumComparison::Other(known),
        }
    }

    /// Returns the difference from the recorded sum, in a sentence; `None` without a difference or a recorded sum.
    pub fn difference(&self, sum: &Sum) -> Option<String> {
        let SumComparison::Other(known) = self.compare(sum) else { return None };
        let recorded_run = self.runs.iter().find(|run| run.id == known.run);
        let device = recorded_run.map_or("the device of the record", |run| run.device.as_str());
        let changed = if known.ptx_sha256 == sum.ptx_sha256 { "" } else { "; its PTX is another one than there" };
        Some(format!(
            "{} on {}: C has the sum {} here and {} on {device}{changed}",
            sum.kernel,
            sum.shape,
            short(&sum.c_sha256),
            short(&known.c_sha256),
        ))
    }

    /// Returns what is wrong with a sum of the emulated device, in a sentence: the record has a different one, or none.
    pub fn complaint(&self, sum: &Sum) -> Option<String> {
        let Sum { step, kernel, shape, .. } = sum;
        match self.compare(sum) {
            SumComparison::Same => None,
            SumComparison::Other(_) => self.difference(sum),
            SumComparison::Missing => Some(format!(
                "{kernel} on {shape}: no sum in {}; on a machine with such a GPU: cargo xtask sums {step} --save",
                REFERENCES.join(" or ")
            )),
        }
    }
}

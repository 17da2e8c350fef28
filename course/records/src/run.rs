//! The process that measured, on which device, and what that device can do.

use serde::{Deserialize, Serialize};

/// One process that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Id within a file, for [`crate::record::Measurement::run`].
    pub id: String,
    /// Time in UTC, such as `2026-11-21T22:40:12Z`.
    pub date: String,
    /// Name from the driver: `NVIDIA H200`, `Emulated GPU (sm_90)`.
    pub device: String,
    /// Whether the device is the emulated one: counters are exact then, and times say nothing about a GPU.
    pub emulated: bool,
    pub capability: String,
    /// CUDA version that the driver supports: `13.0`.
    pub driver: String,
    /// Host processor and the number of its threads.
    pub host: String,
    /// Revision of the repository, with `-dirty` after changes; `unknown` outside of a checkout.
    pub revision: String,
    /// Ceilings of the device as measured in this run.
    pub roofline: Option<Roofline>,
    /// Version of cuBLAS, where installed: `12.4.5`.
    pub cublas: Option<String>,
}

impl Run {
    /// Returns the name of the device in names of files: `h200` for `NVIDIA H200`.
    pub fn slug(&self) -> String {
        if self.emulated { "emulated".into() } else { slug(&self.device) }
    }
}

/// Returns the name of a real device in names of files.
pub fn slug(device: &str) -> String {
    let lower = device.to_ascii_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !matches!(*word, "" | "nvidia" | "geforce" | "tesla"));
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() { "unknown".into() } else { slug }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// FP32 FMA from registers, TFLOP/s.
    pub fp32_tflops: f64,
    /// Device-to-device copy, bytes read plus bytes written, GB/s.
    pub copy_gbs: f64,
}

#[cfg(test)]
mod tests {
    use super::{Run, slug};

    #[test]
    fn a_device_has_a_short_name() {
        assert_eq!(slug("NVIDIA H200"), "h200");
        assert_eq!(slug("NVIDIA GeForce RTX 4090"), "rtx-4090");
        assert_eq!(slug("Tesla V100-SXM2-16GB"), "v100-sxm2-16gb");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("NVIDIA"), "unknown");
        let emulated = Run { device: "Emulated GPU (sm_90)".into(), emulated: true, ..Run::default() };
        assert_eq!(emulated.slug(), "emulated");
    }
}

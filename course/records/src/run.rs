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

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// FP32 FMA from registers, TFLOP/s.
    pub fp32_tflops: f64,
    /// Device-to-device copy, bytes read plus bytes written, GB/s.
    pub copy_gbs: f64,
}

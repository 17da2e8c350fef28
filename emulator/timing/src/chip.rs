//! Measured costs of a GPU, from a data file that holds each with its unit and its measurement.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

/// Throughputs and latencies. The data file gives the unit of each constant, what a microbenchmark must measure, and
/// what the value rests on. A list of three is for accesses of 32, 64 and 128 bits per lane.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    pub name: String,
    #[serde(deserialize_with = "value")]
    pub sms: u32,
    /// SM clock under load, in GHz.
    #[serde(deserialize_with = "value")]
    pub ghz: f64,
    /// Clocks between two FFMA on one scheduler.
    #[serde(deserialize_with = "value")]
    pub fma: u64,
    /// Clocks between two IMAD on one scheduler.
    #[serde(deserialize_with = "value")]
    pub integer_fma: u64,
    /// Clocks between two LOP3, IADD3 or ISETP on one scheduler.
    #[serde(deserialize_with = "value")]
    pub alu: u64,
    /// Clocks between two DFMA on one scheduler.
    #[serde(deserialize_with = "value")]
    pub double: u64,
    /// Clocks between two MUFU or conversions on one scheduler.
    #[serde(deserialize_with = "value")]
    pub special: u64,
    /// Clocks between two instructions of the uniform datapath on one scheduler.
    #[serde(deserialize_with = "value")]
    pub uniform: u64,
    /// Clocks until the result of a special register, MUFU or 64-bit conversion is available.
    #[serde(deserialize_with = "value")]
    pub slow_latency: u64,
    /// Clocks that the register ports may run ahead.
    #[serde(deserialize_with = "value")]
    pub port_slack: u64,
    /// Clocks between two LDC on one SM.
    #[serde(deserialize_with = "value")]
    pub load_constant: u64,
    /// Clocks until the result of an LDC is available.
    #[serde(deserialize_with = "value")]
    pub constant_latency: u64,
    /// Clocks between two wavefronts of one scheduler, to shared memory or L1.
    #[serde(deserialize_with = "value")]
    pub scheduler_wavefront: u64,
    /// Clocks that a change between shared memory and L1 takes the SM.
    #[serde(deserialize_with = "value")]
    pub lsu_switch: u64,
    /// Clocks between two shared loads on one scheduler.
    #[serde(deserialize_with = "value")]
    pub load_shared_issue: u64,
    /// Clocks between two shared stores on one scheduler.
    #[serde(deserialize_with = "value")]
    pub store_shared_issue: [u64; 3],
    /// Clocks until the result of a shared load is available, after its last wavefront.
    #[serde(deserialize_with = "value")]
    pub shared_latency: [u64; 3],
    /// Fewest wavefronts of a shared access.
    #[serde(deserialize_with = "value")]
    pub fewest_shared: [u64; 3],
    /// Issue slots that the write-back of a 128-bit shared load takes from arithmetic, in tenths, for 2, 3 and 4
    /// wavefronts.
    #[serde(deserialize_with = "value")]
    pub write_back_tenths: [u64; 3],
    /// Clocks of a `BAR.SYNC`: the part that does not depend on the number of warps.
    #[serde(deserialize_with = "value")]
    pub barrier: u64,
    /// Clocks of a `BAR.SYNC` for each warp of the block.
    #[serde(deserialize_with = "value")]
    pub barrier_per_warp: u64,
    /// L1 and shared memory together, in bytes.
    #[serde(deserialize_with = "value")]
    pub l1_bytes: u64,
    /// Clocks between two global loads on one scheduler.
    #[serde(deserialize_with = "value")]
    pub load_global_issue: f64,
    /// Fewest wavefronts of a global access.
    #[serde(deserialize_with = "value")]
    pub fewest_global: [u64; 3],
    /// Clocks until the result of a global load that hits L1 is available, after its last wavefront.
    #[serde(deserialize_with = "value")]
    pub l1_latency: [u64; 3],
    /// Requests to memory that one scheduler may have waiting.
    #[serde(deserialize_with = "value")]
    pub queue: u64,
    /// Clocks that a load takes beyond a hit in L1 when L2 has the data.
    #[serde(deserialize_with = "value")]
    pub l2_latency: u64,
    /// Bytes per clock from L2 to one SM while all SMs load the same lines.
    #[serde(deserialize_with = "value")]
    pub l2_bytes: f64,
    /// `l2_bytes` while each SM loads lines of its own.
    #[serde(deserialize_with = "value")]
    pub l2_bytes_own: f64,
    /// `l2_bytes` for one SM alone.
    #[serde(deserialize_with = "value")]
    pub l2_bytes_alone: f64,
    /// Lines per clock and SM of which one sector is loaded.
    #[serde(deserialize_with = "value")]
    pub l2_sectors: f64,
    /// Bytes per clock of stores of one SM while all store.
    #[serde(deserialize_with = "value")]
    pub store_bytes: f64,
    /// `store_bytes` for one SM alone.
    #[serde(deserialize_with = "value")]
    pub store_bytes_alone: f64,
    /// Lines per clock and SM of which one sector is stored, while all store.
    #[serde(deserialize_with = "value")]
    pub store_sectors: f64,
    /// `store_sectors` for one SM alone.
    #[serde(deserialize_with = "value")]
    pub store_sectors_alone: f64,
    /// Bytes that stay in L2 when all SMs load them again and again.
    #[serde(deserialize_with = "value")]
    pub l2_capacity: u64,
    /// Clocks that a load takes beyond a hit in L2 when L2 does not have the data.
    #[serde(deserialize_with = "value")]
    pub dram_latency: u64,
    /// `dram_latency` where a block loads pieces of 128 bytes that lie apart.
    #[serde(deserialize_with = "value")]
    pub dram_latency_apart: u64,
    /// Bytes per clock of device memory, for the whole GPU.
    #[serde(deserialize_with = "value")]
    pub dram_bytes: f64,
    /// From the end of one launch to the start of the next, in nanoseconds, where launches are queued.
    #[serde(deserialize_with = "value")]
    pub launch_ns: f64,
    /// Start of a block, in nanoseconds, one after the other for the whole GPU.
    #[serde(deserialize_with = "value")]
    pub block_ns: f64,
    /// Start of a warp, in clocks, one after the other on each SM.
    #[serde(deserialize_with = "value")]
    pub warp_start: f64,
    /// From a block's end to the start of the one that takes its place.
    #[serde(deserialize_with = "value")]
    pub block_gap: u64,
}

/// A constant of the data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant<T> {
    value: T,
    #[expect(dead_code, reason = "for people, but it must be there")]
    unit: String,
    #[expect(dead_code, reason = "for people, but it must be there")]
    how: String,
    #[expect(dead_code, reason = "for people, but it must be there")]
    measured: String,
}

fn value<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Constant::deserialize(from)?.value)
}

static H200: LazyLock<Chip> =
    LazyLock::new(|| Chip::read(include_str!("../data/h200.toml")).expect("a test reads the committed file"));

impl Chip {
    /// The constants of an NVIDIA H200, from `data/h200.toml`.
    pub fn h200() -> &'static Chip {
        &H200
    }

    /// Reads a data file.
    pub fn read(text: &str) -> Result<Chip, toml::de::Error> {
        toml::from_str(text)
    }
}

/// Index into a table by width: 32, 64, 128 bits.
pub(crate) fn width(bytes: u8) -> usize {
    match bytes {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_is_read() {
        assert_eq!(Chip::h200().sms, simt::occupancy::SMS);
        assert_eq!(Chip::h200().store_shared_issue, [4, 6, 10]);
    }

    #[test]
    fn a_constant_without_its_measurement_is_refused() {
        let text = include_str!("../data/h200.toml").replacen("measured = ", "told = ", 1);
        let error = Chip::read(&text).expect_err("a field is missing");
        assert!(error.to_string().contains("told"), "{error}");
    }
}

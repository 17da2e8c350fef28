//! Measured costs of a GPU, from a data file that holds each with its unit and its measurement.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde_json::Value;

/// Declares [`Chip`], and reads it key by key: derived code for a file of fifty constants is a third of this crate.
macro_rules! chip {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        /// Throughputs and latencies. The data file gives the unit of each constant, what a microbenchmark must
        /// measure, and what the value rests on. A list of three is for accesses of 32, 64 and 128 bits per lane.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Chip {
            pub name: String,
            $($(#[$doc])* pub $name: $ty,)*
        }

        impl Chip {
            /// Reads a data file. Panics where it lacks a constant.
            fn read(file: &Value) -> Chip {
                let name = file["name"].as_str().unwrap_or_default().to_owned();
                let value = |name: &str| value(file, name);
                Chip {
                    name,
                    $($name: checked(stringify!($name), serde_json::from_value(value(stringify!($name)))),)*
                }
            }

            #[cfg(test)]
            const NAMES: &[&str] = &[$(stringify!($name)),*];
        }
    };
}

chip! {
    sms: u32,
    /// SM clock under load, in GHz.
    ghz: f64,
    /// `ghz` while tensor cores multiply by warpgroups: 16-bit numbers, TF32, 8-bit numbers.
    product_ghz: [f64; 3],
    /// `ghz` while tensor cores multiply by instructions of one warp.
    warp_product_ghz: f64,
    /// Clocks between two FFMA on one scheduler.
    fma: u64,
    /// Clocks between two IMAD on one scheduler.
    integer_fma: u64,
    /// Clocks between two LOP3, IADD3 or ISETP on one scheduler.
    alu: u64,
    /// Clocks between two DFMA on one scheduler.
    double: u64,
    /// Clocks between two MUFU or conversions on one scheduler.
    special: u64,
    /// Clocks between two instructions of the uniform datapath on one scheduler.
    uniform: u64,
    /// Clocks until the result of a special register, MUFU or 64-bit conversion is available.
    slow_latency: u64,
    /// Clocks that the register ports may run ahead.
    port_slack: u64,
    /// Clocks between two LDC on one SM.
    load_constant: u64,
    /// Clocks until the result of an LDC is available.
    constant_latency: u64,
    /// Clocks between two wavefronts of one scheduler, to shared memory or L1.
    scheduler_wavefront: u64,
    /// Clocks that a change between shared memory and L1 takes the SM.
    lsu_switch: u64,
    /// Clocks between two shared loads on one scheduler.
    load_shared_issue: u64,
    /// Clocks between two shared stores on one scheduler.
    store_shared_issue: [u64; 3],
    /// Clocks until the result of a shared load is available, after its last wavefront.
    shared_latency: [u64; 3],
    /// Minimum number of wavefronts of a shared access.
    fewest_shared: [u64; 3],
    /// Issue slots that write-back of a 128-bit shared load takes from arithmetic, in tenths, for 2 to 4 wavefronts.
    write_back_tenths: [u64; 3],
    /// Clocks of a `BAR.SYNC`: the part that does not depend on the number of warps.
    barrier: u64,
    /// Clocks of a `BAR.SYNC` for each warp of the block.
    barrier_per_warp: u64,
    /// Clocks between two operations on barriers in shared memory, on one scheduler.
    phase_issue: u64,
    /// Clocks until a warp knows that a phase of a barrier in shared memory has ended long ago.
    phase_check: u64,
    /// Clocks from an arrival at a barrier in shared memory until a warp that waits for it knows.
    phase_latency: u64,
    /// `phase_latency` of an arrival in another block of the cluster, beyond that of one in the own block.
    remote_latency: u64,
    /// Clocks from the last arrival at the barrier of the cluster until its warps go on: the part that does not depend
    /// on the number of warps, each of which takes `barrier_per_warp`.
    cluster_barrier: u64,
    /// Clocks of a fence for the GPU, once all that the warp stored has arrived.
    fence: u64,
    /// Clocks from the end of a store to L2, or to another block of the cluster, until the warp knows of it.
    store_latency: u64,
    remote_store_latency: u64,
    /// Clocks between two wavefronts of stores to another block of the cluster.
    remote_wavefront: f64,
    /// Clocks from the last row that a copy reads from shared memory until a warp can know of it.
    box_read: u64,
    /// Clocks between two rows of a box.
    box_row: f64,
    /// Clocks between two pieces of rows that begin within a line of 128 bytes.
    box_piece: f64,
    /// Clocks between two products of one warp with 32 bytes of k, and with 16, on one scheduler.
    warp_product: u64,
    short_warp_product: u64,
    /// Clocks of a column of a product of a warpgroup, on one scheduler, and of the least product.
    product_column: f64,
    product_least: u64,
    /// Clocks from the end of a product until its sums are there.
    product_latency: u64,
    /// L1 and shared memory together, in bytes.
    l1_bytes: u64,
    /// Clocks between two global loads on one scheduler.
    load_global_issue: f64,
    /// Minimum number of wavefronts of a global access.
    fewest_global: [u64; 3],
    /// Clocks until the result of a global load that hits L1 is available, after its last wavefront.
    l1_latency: [u64; 3],
    /// Requests to memory that one scheduler may have waiting.
    queue: u64,
    /// Clocks that a load takes beyond a hit in L1 when L2 has the data.
    l2_latency: u64,
    /// Bytes per clock from L2 to one SM while all SMs load the same lines.
    l2_bytes: f64,
    /// `l2_bytes` while each SM loads lines of its own.
    l2_bytes_own: f64,
    /// Bytes of boxes outside of the matrix per clock and SM while all SMs copy such boxes.
    outside_bytes: f64,
    /// `l2_bytes` for one SM alone.
    l2_bytes_alone: f64,
    /// Lines per clock and SM of which one sector is loaded.
    l2_sectors: f64,
    /// Bytes per clock of stores of one SM while all store.
    store_bytes: f64,
    /// `store_bytes` of local memory.
    store_bytes_local: f64,
    /// `store_bytes` for one SM alone.
    store_bytes_alone: f64,
    /// Lines per clock and SM of which one sector is stored, while all store.
    store_sectors: f64,
    /// `store_sectors` for one SM alone.
    store_sectors_alone: f64,
    /// Bytes that stay in L2 when all SMs load them again and again.
    l2_capacity: u64,
    /// Clocks that a load takes beyond a hit in L2 when L2 does not have the data.
    dram_latency: u64,
    /// `dram_latency` where a block loads pieces of 128 bytes that lie apart.
    dram_latency_apart: u64,
    /// Bytes per clock of device memory, for the whole GPU.
    dram_bytes: f64,
    /// From the end of one launch to the start of the next, in nanoseconds, where launches are queued.
    launch_ns: f64,
    /// `launch_ns` of blocks in clusters, beyond that of others.
    cluster_launch_ns: f64,
    /// From the end of a launch until what it stored last has arrived.
    drain_ns: f64,
    /// `launch_ns` and `drain_ns` where blocks start early and wait for the end of the launch before: from there until
    /// they go on, and how much later that is after stores.
    dependent_launch_ns: f64,
    dependent_drain_ns: f64,
    /// Start of a block, in nanoseconds, one after the other for the whole GPU.
    block_ns: f64,
    /// Start of a warp, in clocks, one after the other on each SM.
    warp_start: f64,
    /// From a block's end to the start of the one that takes its place.
    block_gap: u64,
}

fn value(file: &Value, name: &str) -> Value {
    let mut constants = file["constants"].as_array().into_iter().flatten();
    constants.find(|constant| constant["constant"] == name).map_or(Value::Null, |constant| constant["value"].clone())
}

fn checked<T>(name: &str, value: serde_json::Result<T>) -> T {
    value.unwrap_or_else(|error| panic!("the constant {name}: {error}"))
}

fn h200() -> Value {
    serde_json::from_str(include_str!("../data/h200.json")).expect("a test reads the committed file")
}

static H200: LazyLock<Chip> = LazyLock::new(|| Chip::read(&h200()));

impl Chip {
    /// Returns the constants of an NVIDIA H200, from `data/h200.json`.
    pub fn h200() -> &'static Chip {
        &H200
    }
}

/// Returns the index into a table by width: 32, 64, 128 bits.
pub(crate) fn width(bytes: u8) -> usize {
    match bytes {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    }
}

//! Occupancy: how many blocks fit on one multiprocessor, from the limits of compute capability 9.0.

#[cfg(test)]
mod tests;

/// Maximum number of threads in a block.
pub const MAX_THREADS: u32 = 1024;
/// Multiprocessors of the device.
pub const SMS: u32 = 132;
/// Sizes of the groups of multiprocessors; a cluster lies in one of them. These explain how many clusters an H200 says
/// that it holds (`tests/data/clusters/launches.txt`); other chips of the kind may have others.
const GROUPS: [u32; 12] = [18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2];
/// Blocks of one multiprocessor that count for clusters. An H200 names 8 where 32 blocks fit, for an unknown reason.
const CLUSTER_BLOCKS_PER_SM: u32 = 8;
pub const THREADS_PER_SM: u32 = 2048;
pub const BLOCKS_PER_SM: u32 = 32;
/// 32-bit registers of one.
pub const REGISTERS: u32 = 65536;
/// Registers that a thread has at least.
pub const MIN_REGISTERS: u32 = 16;
/// Bytes of shared memory of one.
pub const SHARED_PER_SM: u32 = 228 * 1024;
/// Shared memory that the system keeps for itself in each block.
pub const SHARED_RESERVED: u32 = 1024;
/// Shared memory is handed out in pieces of this size.
pub const SHARED_UNIT: u32 = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    pub threads: u32,
    pub registers: u32,
    /// Shared memory, static and dynamic, without the system's.
    pub shared: u64,
}

/// Blocks that fit on one multiprocessor, and why not more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    pub blocks: u32,
    /// The resource of which there is not enough for one more block. Where several run out together, the first of them.
    pub limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Threads,
    Registers,
    Shared,
    Blocks,
}

/// Returns the number of clusters of `size` blocks, each on a multiprocessor of its own, that fit on the device.
pub fn active_clusters(f: Footprint, size: u32) -> u32 {
    let blocks = blocks_per_sm(f).min(CLUSTER_BLOCKS_PER_SM);
    let groups = GROUPS.iter().filter(|&&group| group >= size);
    groups.map(|group| (group * blocks).checked_div(size).unwrap_or(0)).sum()
}

/// Returns the number of multiprocessors on which clusters of `size` blocks fit.
pub fn sms_of_clusters(f: Footprint, size: u32) -> u32 {
    let blocks = blocks_per_sm(f).clamp(1, CLUSTER_BLOCKS_PER_SM);
    active_clusters(f, size) * size / blocks
}

pub fn occupancy(f: Footprint) -> Occupancy {
    let warps = f.threads.div_ceil(32).max(1);
    let by_warps = if f.threads > MAX_THREADS { 0 } else { THREADS_PER_SM / 32 / warps };
    // Registers are handed out by 256 to a warp, from four files that each serve a quarter of the warps.
    let per_warp = (f.registers.max(1) * 32).next_multiple_of(256);
    let by_registers = REGISTERS / 4 / per_warp * 4 / warps;
    let shared = (f.shared + u64::from(SHARED_RESERVED)).next_multiple_of(u64::from(SHARED_UNIT));
    let by_shared = u32::try_from(u64::from(SHARED_PER_SM) / shared).unwrap_or(u32::MAX);
    let limits = [
        (by_warps, Limit::Threads),
        (by_registers, Limit::Registers),
        (by_shared, Limit::Shared),
        (BLOCKS_PER_SM, Limit::Blocks),
    ];
    let [first, rest @ ..] = limits;
    let (blocks, limit) = rest.into_iter().fold(first, |least, next| if next.0 < least.0 { next } else { least });
    Occupancy { blocks, limit }
}

pub fn blocks_per_sm(f: Footprint) -> u32 {
    occupancy(f).blocks
}

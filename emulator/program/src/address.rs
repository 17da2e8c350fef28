//! The address space of a launch: windows, ranks of clusters, reserved shared memory.

/// Windows of the one 64-bit address space. The top 24 bits choose a window; the low 40 are an offset.
pub mod window {
    /// Bits of an offset inside a window.
    pub const BITS: u32 = 40;
    /// Windows `1 ..= LAST_ALLOCATION` are global allocations, one each: running past one never lands in another.
    pub const LAST_ALLOCATION: u64 = 0x7E_FFFF;
    pub const SHARED: u64 = 0x7F_0000 << BITS;
    pub const LOCAL: u64 = 0x7F_0001 << BITS;
    pub const PARAM: u64 = 0x7F_0002 << BITS;
    /// Addresses of functions, without memory.
    pub const CODE: u64 = 0x7F_0003 << BITS;

    /// Returns whether an address lies in the window that starts at `start`.
    pub fn holds(start: u64, address: u64) -> bool {
        address >> BITS == start >> BITS
    }
}

/// Bits of an offset in one block's shared memory; the block's rank in its cluster is above them.
pub const RANK_SHIFT: u32 = 24;

/// Largest cluster of a kernel that allows sizes that not every device has.
pub const MAX_CLUSTER: u32 = 16;

/// Distance between the addresses of two functions.
pub const FUNCTION_BYTES: u64 = 16;

/// Barriers of a block, numbered from 0.
pub const BARRIERS: u32 = 16;

/// First byte of shared memory. The bytes below are reserved, as on a GPU, so that a null pointer is not an array.
pub const SHARED_BASE: u32 = 1024;

/// Part of the reserved bytes that programs reach through `%reserved_smem_offset_1`, on an H200: from, up to.
pub const RESERVED: (u32, u32) = (0, 288);

/// Gap between two shared arrays: a multiple of 128, so that banks stay those of the hardware.
pub const SHARED_GUARD: u32 = 128;

//! The address space of a launch: windows, ranks of clusters, reserved shared memory.

/// Windows of the one 64-bit address space. The top 24 bits choose a window; the low 40 are an offset.
pub mod window {
    /// Bits of an offset inside a window.
    pub const BITS: u32 = 40;
    /// Windows `1 ..= LAST_ALLOCATION` are global allocations, one each: running past one never lands in another.
    pub const LAST_ALLOCATION: u64 = 0x7E_FFFF;
    /// Shared memory of the block.
    pub const SHARED: u64 = 0x7F_0000 << BITS;
    /// Local memory of the thread.
    pub const LOCAL: u64 = 0x7F_0001 << BITS;
    /// The parameter block of the launch.
    pub const PARAM: u64 = 0x7F_0002 << BITS;
    /// Functions: no memory is there.
    pub const CODE: u64 = 0x7F_0003 << BITS;
}

/// Bits of an offset in the shared memory of one block. In those above is the rank of the block in its cluster, also in the
/// block's own addresses.
pub const RANK_SHIFT: u32 = 24;

/// The most blocks of a cluster, where the kernel allows a size that not every device has.
pub const MAX_CLUSTER: u32 = 16;

/// From the address of one function to that of the next.
pub const FUNCTION_BYTES: u64 = 16;

/// Barriers of a block: they have the numbers from 0.
pub const BARRIERS: u32 = 16;

/// Shared memory starts here: what lies below is reserved, as on a GPU, so that a null pointer is no array.
pub const SHARED_BASE: u32 = 1024;

/// Of what is reserved, the part that programs reach through `%reserved_smem_offset_1`: from, up to, as on an H200.
pub const RESERVED: (u32, u32) = (0, 288);

/// Between two shared arrays: a multiple of 128, so that banks stay what they are on hardware.
pub const SHARED_GUARD: u32 = 128;

//! What the emulated device says about itself.
//!
//! It reports itself as a Hopper device with the sizes and limits of an H200, because programs choose block sizes by
//! them; what would be a claim about speed or hardware that is not there (clocks, peers, RDMA) says so by 0 or by
//! the nominal value.

use std::ffi::{c_int, c_uint};

/// The API that is spoken: CUDA 12.4.
pub(crate) const DRIVER_VERSION: c_int = 12040;
/// The device's name.
pub(crate) const NAME: &str = "Emulated GPU (sm_90)";
/// Compute capability.
pub(crate) const CAPABILITY: (c_int, c_int) = (9, 0);
pub(crate) const UUID: [u8; 16] = *b"tile-by-tile-gpu";
pub(crate) const PCI_BUS_ID: &str = "0000:7E:00.0";

/// Limits that other parts of the driver check against.
pub(crate) mod limit {
    pub(crate) const THREADS_PER_BLOCK: u32 = 1024;
    pub(crate) const BLOCK: [u32; 3] = [1024, 1024, 64];
    pub(crate) const GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    pub(crate) const SHARED_PER_BLOCK: u32 = 48 * 1024;
    pub(crate) const SHARED_PER_BLOCK_OPTIN: u32 = 227 * 1024;
    pub(crate) const SHARED_PER_SM: u32 = 228 * 1024;
    pub(crate) const SHARED_RESERVED: u32 = 1024;
    pub(crate) const REGISTERS: u32 = 65536;
    pub(crate) const THREADS_PER_SM: u32 = 2048;
    pub(crate) const BLOCKS_PER_SM: u32 = 32;
    pub(crate) const SMS: u32 = 132;
    pub(crate) const PITCH: usize = 512;
}

/// `CUdevice_attribute`, by number.
pub(crate) fn attribute_value(attribute: c_uint) -> Option<c_int> {
    use limit::*;
    let int = |value: u32| value as c_int;
    Some(match attribute {
        1 => int(THREADS_PER_BLOCK),
        2..=4 => int(BLOCK[attribute as usize - 2]),
        5..=7 => int(GRID[attribute as usize - 5]),
        8 => int(SHARED_PER_BLOCK),
        9 => 65536,           // constant memory
        10 => 32,             // warp size
        11 => 0x7fff_ffff,    // pitch
        12 => int(REGISTERS), // per block
        13 => 1_980_000,      // clock, kHz: nominal
        14 => 512,            // texture alignment
        15 => 1,              // overlap
        16 => int(SMS),
        17 => 0,       // no watchdog: the instruction budget stops what does not end
        18 => 0,       // not integrated
        19 => 1,       // can map host memory
        20 => 0,       // default compute mode
        21 => 131_072, // textures: 1D
        22 => 131_072, // 2D
        23 => 65536,
        24..=26 => 16384, // 3D
        27 | 28 => 32768, // layered
        29 => 2048,
        30 => 512,  // surface alignment
        31 => 1,    // concurrent kernels
        32 => 0,    // ECC
        33 => 0x7e, // PCI
        34 => 0,
        35 => 0,          // TCC
        36 => 3_201_000,  // memory clock, kHz: nominal
        37 => 6016,       // bus, bits: nominal
        38 => 62_914_560, // L2
        39 => int(THREADS_PER_SM),
        40 => 3, // copy engines
        41 => 1, // unified addressing
        42 => 32768,
        43 => 2048,
        44 => 0, // no tex2D gather
        45 | 46 => 32768,
        47 | 48 => 8192,
        49 => 32768,
        50 => 0,  // PCI domain
        51 => 32, // texture pitch alignment
        52 | 53 => 32768,
        54 => 2046,
        55 | 61 | 63 | 64 | 66 | 67 => 32768, // surfaces
        56 => 131_072,
        57 => 65536,
        58..=60 => 16384,
        62 | 65 => 2048,
        68 => 2046,
        69 => 1 << 28, // 1D linear
        70 => 131_072,
        71 => 65000,
        72 => 2_097_120,
        73 | 74 | 77 => 32768,
        75 => CAPABILITY.0,
        76 => CAPABILITY.1,
        78 => 1,      // stream priorities: accepted
        79 | 80 => 1, // L1
        81 => int(SHARED_PER_SM),
        82 => int(REGISTERS), // per SM
        83 => 1,              // managed memory
        84 | 85 => 0,         // board
        86 => 0,              // native host atomics
        87 => 2,              // single to double
        88 => 0,              // pageable memory access
        89 => 1,              // concurrent managed access
        90 => 1,              // preemption
        91 => 1,              // host pointers of registered memory
        92..=94 => 0,         // stream memory operations
        95 => 1,              // cooperative launch
        96 => 0,              // on many devices
        97 => int(SHARED_PER_BLOCK_OPTIN),
        98 => 0, // remote writes
        99 => 1, // host register
        100 => 0,
        101 => 0,
        102..=105 => 0, // virtual memory management, shareable handles
        106 => int(BLOCKS_PER_SM),
        107..=110 => 0, // compression, persisting L2, RDMA
        111 => int(SHARED_RESERVED),
        112 => 0, // sparse arrays
        113 => 0, // read-only registration
        114 => 0,
        115 => 1,       // memory pools
        116..=119 => 0, // RDMA, pool handles
        120 => 0,       // clusters
        121..=125 => 0,
        126 => 1, // memory synchronisation domains
        127 => 0, // tensor maps
        128 => 0,
        129 => 0, // unified function pointers
        130 => 0,
        131 => -1,      // NUMA
        132 | 133 => 0, // multicast, MPS
        134 => -1,
        135..=160 => 0, // newer than this driver: not there
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_of_cuda_12_has_a_value() {
        assert!((1..135).all(|a| attribute_value(a).is_some()));
        assert_eq!(attribute_value(0), None);
        assert_eq!(attribute_value(10_000), None);
    }
}

//! Properties that the emulated device reports.
//!
//! The device reports itself as a Hopper device with the sizes and limits of an H200, because programs choose block
//! sizes by them; properties of absent hardware (peers, RDMA) are 0, and clocks are nominal.

use std::ffi::{c_int, c_uint};

/// Version of the API: CUDA 12.4.
pub(crate) const DRIVER_VERSION: c_int = 12040;
pub(crate) const NAME: &str = "Emulated GPU (sm_90)";
pub(crate) const CAPABILITY: (c_int, c_int) = (9, 0);
pub(crate) const UUID: [u8; 16] = *b"tile-by-tile-gpu";
pub(crate) const PCI_BUS_ID: &str = "0000:7E:00.0";

/// Limits that other parts of the driver check against.
pub(crate) mod limit {
    pub(crate) use simt::launch::{
        MAX_BLOCK as BLOCK, MAX_GRID as GRID, MAX_SHARED as SHARED_PER_BLOCK,
        MAX_SHARED_OPT_IN as SHARED_PER_BLOCK_OPTIN, MAX_THREADS as THREADS_PER_BLOCK,
    };

    pub(crate) use simt::occupancy::{BLOCKS_PER_SM, REGISTERS, SHARED_PER_SM, SHARED_RESERVED, SMS, THREADS_PER_SM};

    pub(crate) const PITCH: usize = 512;
    /// Largest cluster that runs on every device with clusters; kernels may opt in to more.
    pub(crate) const CLUSTER_PORTABLE: u32 = 8;
    pub(crate) use program::MAX_CLUSTER as CLUSTER;
}

/// Attributes with a constant value, each as its number, value and name. Features that the device lacks are 0.
const CONSTANT: &str = include_str!("attributes.txt");

macro_rules! device_attributes {
    ($($number:literal $name:ident: $value:expr;)*) => {
        /// Values of `CUdevice_attribute`.
        #[allow(dead_code, reason = "callers ask for most by number")]
        pub(crate) mod device {
            $(pub(crate) const $name: u32 = $number;)*
        }

        pub(crate) fn attribute_value(attribute: c_uint) -> Option<c_int> {
            use limit::*;
            Some(match attribute {
                $($number => $value as c_int,)*
                // Attributes newer than this driver.
                135..=160 => 0,
                _ => {
                    let mut rows = CONSTANT.lines().map(|row| row.split(' '));
                    let row = rows.find_map(|mut row| (row.next()?.parse() == Ok(attribute)).then_some(row));
                    row?.next()?.parse().ok()?
                }
            })
        }
    };
}

device_attributes! {
    1 MAX_THREADS_PER_BLOCK: THREADS_PER_BLOCK;
    2 MAX_BLOCK_DIM_X: BLOCK[0];
    3 MAX_BLOCK_DIM_Y: BLOCK[1];
    4 MAX_BLOCK_DIM_Z: BLOCK[2];
    5 MAX_GRID_DIM_X: GRID[0];
    6 MAX_GRID_DIM_Y: GRID[1];
    7 MAX_GRID_DIM_Z: GRID[2];
    8 MAX_SHARED_MEMORY_PER_BLOCK: SHARED_PER_BLOCK;
    9 TOTAL_CONSTANT_MEMORY: 65536;
    10 WARP_SIZE: 32;
    11 MAX_PITCH: 0x7fff_ffff;
    12 MAX_REGISTERS_PER_BLOCK: REGISTERS;
    13 CLOCK_RATE: 1_980_000; // kHz; nominal
    14 TEXTURE_ALIGNMENT: 512;
    16 MULTIPROCESSOR_COUNT: SMS;
    39 MAX_THREADS_PER_MULTIPROCESSOR: THREADS_PER_SM;
    75 COMPUTE_CAPABILITY_MAJOR: CAPABILITY.0;
    76 COMPUTE_CAPABILITY_MINOR: CAPABILITY.1;
    81 MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: SHARED_PER_SM;
    82 MAX_REGISTERS_PER_MULTIPROCESSOR: REGISTERS;
    97 MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: SHARED_PER_BLOCK_OPTIN;
    106 MAX_BLOCKS_PER_MULTIPROCESSOR: BLOCKS_PER_SM;
    111 RESERVED_SHARED_MEMORY_PER_BLOCK: SHARED_RESERVED;
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

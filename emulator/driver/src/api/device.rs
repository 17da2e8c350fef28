//! Initialisation and the one device.
//!
//! It reports itself as a Hopper device with the sizes and limits of an H200, because programs choose block sizes by
//! them; what would be a claim about speed or hardware that is not there (clocks, peers, RDMA) says so by 0 or by
//! the nominal value.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::api::pool;
use crate::edge::{In, Out, Text, export};
use crate::result::*;
use crate::settings;
use crate::state::{INITIALISED, PRIMARY, current, end_primary, initialised, lock};
use crate::types::{DeviceProperties, Handle, Uuid};

/// The API that is spoken: CUDA 12.4.
pub(crate) const DRIVER_VERSION: c_int = 12040;
/// The device's name.
pub(crate) const NAME: &str = "Emulated GPU (sm_90)";
/// Compute capability.
pub(crate) const CAPABILITY: (c_int, c_int) = (9, 0);
const UUID: [u8; 16] = *b"tile-by-tile-gpu";
const PCI_BUS_ID: &str = "0000:7E:00.0";

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

/// A device by its number.
pub(crate) fn device(number: c_int) -> Outcome {
    initialised()?;
    if number == 0 {
        Ok(())
    } else {
        Err(ERROR_INVALID_DEVICE)
    }
}

export! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        INITIALISED.store(true, Ordering::Release);
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<c_int>) {
        version.put(DRIVER_VERSION)
    }

    fn cuDeviceGet(out: Out<c_int>, ordinal: c_int) {
        initialised()?;
        out.check()?;
        device(ordinal)?;
        out.put(0)
    }

    fn cuDeviceGetCount(count: Out<c_int>) {
        initialised()?;
        count.put(1)
    }

    fn cuDeviceGetName(name: Out<c_char>, len: c_int, dev: c_int) {
        initialised()?;
        name.check()?;
        device(dev)?;
        name.put_text(NAME, usize::try_from(len).unwrap_or(0))
    }

    fn cuDeviceGetUuid(uuid: Out<Uuid>, dev: c_int) {
        initialised()?;
        uuid.check()?;
        device(dev)?;
        uuid.put(Uuid { bytes: UUID })
    }

    fn cuDeviceGetUuid_v2(uuid: Out<Uuid>, dev: c_int) {
        initialised()?;
        uuid.check()?;
        device(dev)?;
        uuid.put(Uuid { bytes: UUID })
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, dev: c_int) {
        initialised()?;
        bytes.check()?;
        device(dev)?;
        bytes.put(settings::memory_bytes() as usize)
    }

    fn cuDeviceTotalMem(bytes: Out<c_uint>, dev: c_int) {
        initialised()?;
        bytes.check()?;
        device(dev)?;
        bytes.put(u32::try_from(settings::memory_bytes()).unwrap_or(u32::MAX))
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, attribute: c_uint, dev: c_int) {
        initialised()?;
        value.check()?;
        device(dev)?;
        value.put(attribute_value(attribute).ok_or(ERROR_INVALID_VALUE)?)
    }

    fn cuDeviceGetProperties(properties: Out<DeviceProperties>, dev: c_int) {
        initialised()?;
        properties.check()?;
        device(dev)?;
        let value = |attribute| attribute_value(attribute).unwrap_or(0);
        properties.put(DeviceProperties {
            max_threads_per_block: value(1),
            max_threads_dim: [value(2), value(3), value(4)],
            max_grid_size: [value(5), value(6), value(7)],
            shared_mem_per_block: value(8),
            total_constant_memory: value(9),
            simd_width: value(10),
            mem_pitch: value(11),
            regs_per_block: value(12),
            clock_rate: value(13),
            texture_align: value(14),
        })
    }

    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, dev: c_int) {
        initialised()?;
        major.check()?;
        minor.check()?;
        device(dev)?;
        major.put(CAPABILITY.0)?;
        minor.put(CAPABILITY.1)
    }

    fn cuDeviceGetPCIBusId(id: Out<c_char>, len: c_int, dev: c_int) {
        initialised()?;
        id.check()?;
        device(dev)?;
        id.put_text(PCI_BUS_ID, usize::try_from(len).unwrap_or(0))
    }

    fn cuDeviceGetByPCIBusId(dev: Out<c_int>, id: Text) {
        initialised()?;
        dev.check()?;
        let id = id.get()?;
        let same = id.eq_ignore_ascii_case(PCI_BUS_ID) || id.eq_ignore_ascii_case(&PCI_BUS_ID[5..]);
        if !same {
            return Err(ERROR_INVALID_DEVICE);
        }
        dev.put(0)
    }

    fn cuDeviceCanAccessPeer(can: Out<c_int>, dev: c_int, peer: c_int) {
        initialised()?;
        can.check()?;
        device(dev)?;
        device(peer)?;
        can.put(0)
    }

    fn cuDeviceGetP2PAttribute(value: Out<c_int>, attribute: c_uint, from: c_int, to: c_int) {
        initialised()?;
        value.check()?;
        device(from)?;
        device(to)?;
        // There is one device, and a pair is two.
        if from == to || !(1..=4).contains(&attribute) {
            return Err(if from == to { ERROR_INVALID_DEVICE } else { ERROR_INVALID_VALUE });
        }
        value.put(0)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(width: Out<usize>, format: c_uint, channels: c_uint, dev: c_int) {
        initialised()?;
        width.check()?;
        device(dev)?;
        let bytes = crate::api::array::format_bytes(format).ok_or(ERROR_INVALID_VALUE)?;
        if ![1, 2, 4].contains(&channels) {
            return Err(ERROR_INVALID_VALUE);
        }
        width.put((1 << 28) / (bytes * channels as usize / 4).max(1))
    }

    fn cuDeviceGetExecAffinitySupport(supported: Out<c_int>, _kind: c_uint, dev: c_int) {
        initialised()?;
        supported.check()?;
        device(dev)?;
        supported.put(0)
    }

    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, dev: c_int) {
        initialised()?;
        context.check()?;
        device(dev)?;
        context.put(lock(&PRIMARY).retain())
    }

    fn cuDevicePrimaryCtxRelease_v2(dev: c_int) {
        release(dev)
    }

    fn cuDevicePrimaryCtxRelease(dev: c_int) {
        release(dev)
    }

    fn cuDevicePrimaryCtxReset_v2(dev: c_int) {
        reset(dev)
    }

    fn cuDevicePrimaryCtxReset(dev: c_int) {
        reset(dev)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(dev: c_int, flags: c_uint) {
        set_flags(dev, flags)
    }

    fn cuDevicePrimaryCtxSetFlags(dev: c_int, flags: c_uint) {
        set_flags(dev, flags)
    }

    fn cuDevicePrimaryCtxGetState(dev: c_int, flags: Out<c_uint>, active: Out<c_int>) {
        device(dev)?;
        flags.check()?;
        active.check()?;
        let primary = lock(&PRIMARY);
        flags.put(primary.flags)?;
        active.put(c_int::from(primary.context.is_some()))
    }

    fn cuDeviceGetDefaultMemPool(out: Out<Handle>, dev: c_int) {
        initialised()?;
        out.check()?;
        device(dev)?;
        out.put(pool::default_pool())
    }

    fn cuDeviceGetMemPool(out: Out<Handle>, dev: c_int) {
        initialised()?;
        out.check()?;
        device(dev)?;
        out.put(pool::current_pool())
    }

    fn cuDeviceSetMemPool(dev: c_int, handle: Handle) {
        device(dev)?;
        pool::set_current_pool(handle)
    }

    fn cuCtxGetDevice(dev: Out<c_int>) {
        initialised()?;
        dev.check()?;
        current()?;
        dev.put(0)
    }

    fn cuCtxGetDevice_v2(dev: Out<c_int>, context: Handle) {
        initialised()?;
        dev.check()?;
        if context == 0 { current()?; } else { crate::state::context(context)?; }
        dev.put(0)
    }

    fn cuDeviceGetHostAtomicCapabilities(out: Out<c_uint>, _ops: In<c_uint>, count: c_uint, dev: c_int) {
        device(dev)?;
        (0..count as usize).try_for_each(|i| out.put_at(i, 0))
    }
}

fn release(dev: c_int) -> Outcome {
    device(dev)?;
    let mut primary = lock(&PRIMARY);
    primary.retained = primary.retained.checked_sub(1).ok_or(ERROR_INVALID_CONTEXT)?;
    let ended = if primary.retained == 0 {
        primary.reset()
    } else {
        None
    };
    drop(primary);
    end_primary(ended);
    Ok(())
}

fn reset(dev: c_int) -> Outcome {
    device(dev)?;
    let mut primary = lock(&PRIMARY);
    primary.retained = 0;
    let ended = primary.reset();
    drop(primary);
    end_primary(ended);
    Ok(())
}

fn set_flags(dev: c_int, flags: c_uint) -> Outcome {
    device(dev)?;
    if !flags_are_known(flags) {
        return Err(ERROR_INVALID_VALUE);
    }
    let mut primary = lock(&PRIMARY);
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

/// Context flags: one way of waiting at most, and known bits.
pub(crate) fn flags_are_known(flags: c_uint) -> bool {
    flags & !0xff == 0 && matches!(flags & 7, 0 | 1 | 2 | 4)
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

    #[test]
    fn one_way_of_waiting() {
        assert!(flags_are_known(0) && flags_are_known(4 | 8));
        assert!(!flags_are_known(3) && !flags_are_known(0x100));
    }
}

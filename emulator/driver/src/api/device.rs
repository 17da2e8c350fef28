//! The one device: its properties and its primary context.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::api::{pool, query, ready_for};
use crate::attributes::{CAPABILITY, DRIVER_VERSION, NAME, PCI_BUS_ID, UUID, attribute_value, device as ids};
use crate::contexts::{PRIMARY, context_or_current, current, end_primary};
use crate::ffi::{In, Out, Text, export, later};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::types::{DeviceProperties, Handle, Uuid};
use crate::{settings, sync::lock};

pub(crate) fn device(number: c_int) -> Outcome {
    initialised()?;
    if number == 0 { Ok(()) } else { Err(ERROR_INVALID_DEVICE) }
}

pub(crate) fn query_device<T>(out: Out<T>, dev: c_int, result: impl FnOnce() -> Outcome<T>) -> Outcome {
    query(out, || device(dev).and_then(|()| result()))
}

/// Writes a text about a device into a buffer.
///
/// # Safety
/// The caller promised a buffer of this length.
unsafe fn put_text(buffer: Out<c_char>, len: c_int, dev: c_int, text: &str) -> Outcome {
    ready_for(buffer)?;
    device(dev)?;
    // SAFETY: the buffer has `len` bytes, as this function requires.
    unsafe { buffer.put_text(text, usize::try_from(len).unwrap_or(0)) }
}

/// Changes how often the primary context is retained, and ends it at zero.
fn release_primary(change: impl FnOnce(u32) -> Option<u32>) -> Outcome {
    let mut primary = lock(&PRIMARY);
    primary.retained = change(primary.retained).ok_or(ERROR_INVALID_CONTEXT)?;
    let ended = if primary.retained == 0 { primary.reset() } else { None };
    drop(primary);
    end_primary(ended);
    Ok(())
}

export! {
    fn cuDriverGetVersion 2020(version: Out<c_int>) = version.put(DRIVER_VERSION);
    fn cuDeviceGet 2000(out: Out<c_int>, ordinal: c_int) = query_device(out, ordinal, || Ok(0));
    fn cuDeviceGetCount 2000(count: Out<c_int>) = query(count, || Ok(1));

    fn cuDeviceGetName 2000(name: Out<c_char>, len: c_int, dev: c_int) {
        // SAFETY: the caller promises a buffer of this length.
        unsafe { put_text(name, len, dev, NAME) }
    }

    fn cuDeviceGetUuid 9020 | cuDeviceGetUuid_v2 11040(uuid: Out<Uuid>, dev: c_int) =
        query_device(uuid, dev, || Ok(Uuid { bytes: UUID }));
    fn cuDeviceTotalMem_v2 3020(bytes: Out<usize>, dev: c_int) =
        query_device(bytes, dev, || Ok(settings::memory_bytes() as usize));
    fn cuDeviceTotalMem 2000(bytes: Out<c_uint>, dev: c_int) =
        query_device(bytes, dev, || Ok(u32::try_from(settings::memory_bytes()).unwrap_or(u32::MAX)));
    fn cuDeviceGetAttribute 2000(value: Out<c_int>, attribute: c_uint, dev: c_int) =
        query_device(value, dev, || attribute_value(attribute).ok_or(ERROR_INVALID_VALUE));

    fn cuDeviceGetProperties 2000(properties: Out<DeviceProperties>, dev: c_int) {
        let value = |attribute| attribute_value(attribute).unwrap_or(0);
        query_device(properties, dev, || Ok(DeviceProperties {
            max_threads_per_block: value(ids::MAX_THREADS_PER_BLOCK),
            max_threads_dim: [value(ids::MAX_BLOCK_DIM_X), value(ids::MAX_BLOCK_DIM_Y), value(ids::MAX_BLOCK_DIM_Z)],
            max_grid_size: [value(ids::MAX_GRID_DIM_X), value(ids::MAX_GRID_DIM_Y), value(ids::MAX_GRID_DIM_Z)],
            shared_mem_per_block: value(ids::MAX_SHARED_MEMORY_PER_BLOCK),
            total_constant_memory: value(ids::TOTAL_CONSTANT_MEMORY),
            simd_width: value(ids::WARP_SIZE),
            mem_pitch: value(ids::MAX_PITCH),
            regs_per_block: value(ids::MAX_REGISTERS_PER_BLOCK),
            clock_rate: value(ids::CLOCK_RATE),
            texture_align: value(ids::TEXTURE_ALIGNMENT),
        }))
    }

    fn cuDeviceComputeCapability 2000(major: Out<c_int>, minor: Out<c_int>, dev: c_int) {
        ready_for(major)?;
        minor.check()?;
        device(dev)?;
        major.put(CAPABILITY.0)?;
        minor.put(CAPABILITY.1)
    }

    fn cuDeviceGetPCIBusId 4010(id: Out<c_char>, len: c_int, dev: c_int) {
        // SAFETY: the caller promises a buffer of this length.
        unsafe { put_text(id, len, dev, PCI_BUS_ID) }
    }

    fn cuDeviceGetByPCIBusId 4010(dev: Out<c_int>, id: Text) {
        query(dev, || {
            let id = id.get()?;
            let same = id.eq_ignore_ascii_case(PCI_BUS_ID) || id.eq_ignore_ascii_case(&PCI_BUS_ID[5..]);
            if same { Ok(0) } else { Err(ERROR_INVALID_DEVICE) }
        })
    }

    fn cuDeviceCanAccessPeer 4000(can: Out<c_int>, dev: c_int, peer: c_int) =
        query_device(can, dev, || device(peer).map(|()| 0));

    fn cuDeviceGetP2PAttribute 8000(value: Out<c_int>, attribute: c_uint, from: c_int, to: c_int) {
        ready_for(value)?;
        device(from)?;
        device(to)?;
        // The attributes describe pairs of devices, and there is one device.
        if from == to || !(1..=4).contains(&attribute) {
            return Err(if from == to { ERROR_INVALID_DEVICE } else { ERROR_INVALID_VALUE });
        }
        value.put(0)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth 11010(width: Out<usize>, format: c_uint, channels: c_uint, dev: c_int) {
        ready_for(width)?;
        device(dev)?;
        let bytes = crate::api::array::format_bytes(format).ok_or(ERROR_INVALID_VALUE)?;
        refuse_if(![1, 2, 4].contains(&channels), ERROR_INVALID_VALUE)?;
        width.put((1 << 28) / (bytes * channels as usize / 4).max(1))
    }

    fn cuDeviceGetExecAffinitySupport 11040(supported: Out<c_int>, _kind: c_uint, dev: c_int) =
        query_device(supported, dev, || Ok(0));
    fn cuDevicePrimaryCtxRetain 7000(context: Out<Handle>, dev: c_int) =
        query_device(context, dev, || Ok(lock(&PRIMARY).retain()));

    fn cuDevicePrimaryCtxRelease_v2 11000 | cuDevicePrimaryCtxRelease 7000(dev: c_int) =
        device(dev).and_then(|()| release_primary(|retained| retained.checked_sub(1)));
    fn cuDevicePrimaryCtxReset_v2 11000 | cuDevicePrimaryCtxReset 7000(dev: c_int) =
        device(dev).and_then(|()| release_primary(|_| Some(0)));

    fn cuDevicePrimaryCtxSetFlags_v2 11000 | cuDevicePrimaryCtxSetFlags 7000(dev: c_int, flags: c_uint) {
        device(dev)?;
        refuse_if(!flags_are_known(flags), ERROR_INVALID_VALUE)?;
        let mut primary = lock(&PRIMARY);
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState 7000(dev: c_int, flags: Out<c_uint>, active: Out<c_int>) {
        device(dev)?;
        flags.check()?;
        active.check()?;
        let primary = lock(&PRIMARY);
        flags.put(primary.flags)?;
        active.put(c_int::from(primary.context.is_some()))
    }

    fn cuDeviceGetDefaultMemPool 11020(out: Out<Handle>, dev: c_int) =
        query_device(out, dev, || Ok(pool::default_pool()));
    fn cuDeviceGetMemPool 11020(out: Out<Handle>, dev: c_int) = query_device(out, dev, || Ok(pool::current_pool()));

    fn cuDeviceSetMemPool 11020(dev: c_int, handle: Handle) {
        device(dev)?;
        pool::set_current_pool(handle)
    }

    fn cuCtxGetDevice 2000(dev: Out<c_int>) = query(dev, || current().map(|_| 0));

    fn cuFlushGPUDirectRDMAWrites 11030(_target: c_uint, _scope: c_uint) {
        current()?;
        Err(ERROR_NOT_SUPPORTED)
    }
}

later! {
    fn cuCtxGetDevice_v2 13000(dev: Out<c_int>, context: Handle) =
        query(dev, || context_or_current(context).map(|_| 0));

    fn cuDeviceGetHostAtomicCapabilities 13000(out: Out<c_uint>, _ops: In<c_uint>, count: c_uint, dev: c_int) {
        device(dev)?;
        // SAFETY: the caller promises `count` places.
        (0..count as usize).try_for_each(|i| unsafe { out.put_at(i, 0) })
    }
}

/// Checks context flags: at most one way of waiting, and known bits.
pub(crate) fn flags_are_known(flags: c_uint) -> bool {
    flags & !0xff == 0 && matches!(flags & 7, 0 | 1 | 2 | 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_of_waiting() {
        assert!(flags_are_known(0) && flags_are_known(4 | 8));
        assert!(!flags_are_known(3) && !flags_are_known(0x100));
    }
}

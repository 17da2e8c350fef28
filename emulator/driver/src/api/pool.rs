//! Memory pools: accounting only. Memory is allocated and freed at once.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

use crate::allocations::{self, Allocation, AllocationKind, Owner};
use crate::api::{query, ready_for};
use crate::ffi::{In, Out, export};
use crate::handle::{ObjectKind, Table};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::sync::lock;
use crate::types::{Handle, MemAccessDesc, MemLocation, PoolProps};

/// Attributes 1 to 8; 5 to 8 are current and highest values of reserved and used memory.
#[derive(Debug)]
struct Pool {
    flags: Mutex<[c_int; 3]>,
    threshold: Mutex<u64>,
    used: Mutex<Used>,
    max: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Used {
    now: u64,
    high: u64,
    reserved_high: u64,
}

static POOLS: Table<Pool> = Table::new(ObjectKind::Pool);
/// The default pool, and the device's current one.
static CHOSEN: Mutex<Option<(Handle, Handle)>> = Mutex::new(None);

fn create(max: u64) -> Handle {
    let make = |_| Pool { flags: Mutex::new([1; 3]), threshold: Mutex::new(0), used: Mutex::default(), max };
    POOLS.insert_with(make).0
}

/// Refuses every place but the one device.
fn check_location(location: MemLocation) -> Outcome {
    if location.kind == 1 && location.id == 0 { Ok(()) } else { Err(ERROR_INVALID_DEVICE) }
}

fn chosen() -> (Handle, Handle) {
    *lock(&CHOSEN).get_or_insert_with(|| {
        let pool = create(0);
        (pool, pool)
    })
}

pub(crate) fn default_pool() -> Handle {
    chosen().0
}

pub(crate) fn current_pool() -> Handle {
    chosen().1
}

pub(crate) fn set_current_pool(handle: Handle) -> Outcome {
    let default = default_pool();
    POOLS.find(handle)?;
    *lock(&CHOSEN) = Some((default, handle));
    Ok(())
}

/// Allocates from a pool. Zero bytes are at address 0, without an error, as in the driver.
pub(crate) fn alloc(pool_handle: Handle, bytes: usize, owner: Owner) -> Outcome<u64> {
    let pool = POOLS.find(pool_handle)?;
    if bytes == 0 {
        return Ok(0);
    }
    let bytes = bytes as u64;
    refuse_if(pool.max != 0 && lock(&pool.used).now.saturating_add(bytes) > pool.max, ERROR_OUT_OF_MEMORY)?;
    let base = allocations::device(bytes, AllocationKind::Pooled(pool_handle), "cuMemAllocAsync", owner)?;
    let mut used = lock(&pool.used);
    used.now += bytes;
    used.high = used.high.max(used.now);
    used.reserved_high = used.reserved_high.max(used.now);
    Ok(base)
}

pub(crate) fn note_free(gone: &Allocation) {
    if let AllocationKind::Pooled(handle) = gone.kind
        && let Some(pool) = POOLS.get(handle)
    {
        let mut used = lock(&pool.used);
        used.now = used.now.saturating_sub(gone.bytes);
    }
}

export! {
    fn cuMemPoolCreate 11020(out: Out<Handle>, props: In<PoolProps>) {
        ready_for(out)?;
        let props = props.get()?;
        // Pinned memory of device 0, not shared with other processes.
        refuse_if(props.alloc_type != 1 || props.location.kind != 1, ERROR_INVALID_VALUE)?;
        refuse_if(props.location.id != 0, ERROR_INVALID_DEVICE)?;
        refuse_if(props.handle_types != 0, ERROR_NOT_SUPPORTED)?;
        out.put(create(props.max_size as u64))
    }

    fn cuMemPoolDestroy 11020(handle: Handle) {
        initialised()?;
        let (default, current) = chosen();
        refuse_if(handle == default, ERROR_INVALID_VALUE)?;
        POOLS.destroy(handle)?;
        if handle == current {
            *lock(&CHOSEN) = Some((default, default));
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute 11020(handle: Handle, attribute: c_uint, value: Out<c_void>) {
        ready_for(value)?;
        let pool = POOLS.find(handle)?;
        let used = *lock(&pool.used);
        // SAFETY: as `cuda.h` says, attributes 1 to 3 are an `int`, the others `cuuint64_t`.
        let (flag, number) = unsafe { (value.typed::<c_int>(), value.typed::<u64>()) };
        match attribute {
            1..=3 => flag.put(lock(&pool.flags)[attribute as usize - 1]),
            4 => number.put(*lock(&pool.threshold)),
            5 | 7 => number.put(used.now),
            6 => number.put(used.reserved_high),
            8 => number.put(used.high),
            _ => Err(ERROR_INVALID_VALUE),
        }
    }

    fn cuMemPoolSetAttribute 11020(handle: Handle, attribute: c_uint, value: Out<c_void>) {
        ready_for(value)?;
        let pool = POOLS.find(handle)?;
        // SAFETY: as `cuda.h` says, attributes 1 to 3 are an `int`, the others `cuuint64_t`.
        let (flag, number) = unsafe { (value.typed::<c_int>(), value.typed::<u64>()) };
        match attribute {
            1..=3 => lock(&pool.flags)[attribute as usize - 1] = c_int::from(flag.get()? != 0),
            4 => *lock(&pool.threshold) = number.get()?,
            // High-water marks can be reset only.
            6 | 8 if number.get()? == 0 => {
                let mut used = lock(&pool.used);
                if attribute == 6 { used.reserved_high = used.now } else { used.high = used.now }
            }
            _ => return Err(ERROR_INVALID_VALUE),
        }
        Ok(())
    }

    // No memory is retained that a trim could release.
    fn cuMemPoolTrimTo 11020(handle: Handle, _keep: usize) = POOLS.find(handle).map(drop);

    fn cuMemPoolSetAccess 11020(handle: Handle, access: In<MemAccessDesc>, n: usize) {
        POOLS.find(handle)?;
        // SAFETY: the caller promises `n` descriptions.
        for desc in unsafe { access.list(n) }? {
            check_location(desc.location)?;
            // The device of a pool always has access.
            refuse_if(desc.flags != 3, ERROR_INVALID_VALUE)?;
        }
        Ok(())
    }

    fn cuMemPoolGetAccess 11020(flags: Out<c_uint>, handle: Handle, location: In<MemLocation>) {
        query(flags, || {
            POOLS.find(handle)?;
            check_location(location.get()?)?;
            Ok(3)
        })
    }
}

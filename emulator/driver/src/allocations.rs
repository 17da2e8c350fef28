//! Allocations of programs, for `cuMemFree` and its relatives, pointer attributes and pools.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::sync::Mutex;

use simt::memory::Origin;

use crate::contexts::{MEMORY, drain_all};
use crate::result::*;
use crate::sync::{lock, next_id};
use crate::types::Handle;

/// Origin of an allocation, which determines how it is freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllocationKind {
    /// Device memory from `cuMemAlloc` or `cuMemAllocPitch`.
    Device,
    /// Device memory from `cuMemAllocAsync` or a pool.
    Pooled(Handle),
    Managed,
    Host,
    Registered,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: AllocationKind,
    pub(crate) flags: u32,
    pub(crate) owner: Owner,
    pub(crate) id: u64,
    /// Host block of pinned and managed memory; 0 for other memory.
    block: usize,
}

static ALL: Mutex<BTreeMap<u64, Allocation>> = Mutex::new(BTreeMap::new());

/// Alignment of pinned memory.
const PAGE: usize = 4096;

/// Lowest device address; all host addresses are below.
pub(crate) const FIRST_DEVICE_ADDRESS: u64 = simt::memory::FIRST_NUMBER << program::window::BITS;

/// Context that owns an allocation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) context_id: u64,
    pub(crate) context: Handle,
}

fn remember(base: u64, bytes: u64, kind: AllocationKind, flags: u32, owner: Owner, block: usize) {
    lock(&ALL).insert(base, Allocation { base, bytes, kind, flags, owner, id: next_id(), block });
}

pub(crate) fn device(bytes: u64, kind: AllocationKind, label: &str, owner: Owner) -> Outcome<u64> {
    let base = allocate_with_retry(|| MEMORY.alloc(bytes, Origin::new(label)))?;
    if !has_reserve() {
        let _ = MEMORY.free(base);
        return Err(ERROR_OUT_OF_MEMORY);
    }
    remember(base, bytes, kind, 0, owner, 0);
    Ok(base)
}

/// Returns whether enough host memory is left after an allocation; without it, the process would soon abort.
fn has_reserve() -> bool {
    const RESERVE: usize = 32 << 20;
    let mut reserve = Vec::<u8>::new();
    reserve.try_reserve_exact(RESERVE).is_ok() && std::hint::black_box(&reserve).capacity() >= RESERVE
}

/// Returns a layout with space for the bytes from its first page on. With a larger alignment the allocator would clear,
/// and so commit, the pages.
fn layout(bytes: u64) -> Outcome<Layout> {
    let bytes = usize::try_from(bytes).ok().and_then(|n| n.max(1).checked_add(PAGE));
    Layout::from_size_align(bytes.ok_or(ERROR_OUT_OF_MEMORY)?, 16).map_err(|_| ERROR_OUT_OF_MEMORY)
}

/// Bytes that count as the device's until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken(u64);

impl Taken {
    pub(crate) fn new(bytes: u64) -> Outcome<Self> {
        take(bytes)?;
        Ok(Self(bytes))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        MEMORY.give_back(self.0);
    }
}

/// Reserves bytes of device memory for pinned memory and arrays, which come out of the same machine.
fn take(bytes: u64) -> Outcome {
    allocate_with_retry(|| MEMORY.take(bytes))
}

/// Allocates memory; if that fails, waits for queued work, which may free some, and tries again.
fn allocate_with_retry<T, E>(allocate: impl Fn() -> Result<T, E>) -> Outcome<T> {
    allocate().or_else(|_| {
        drain_all();
        allocate().map_err(|_| ERROR_OUT_OF_MEMORY)
    })
}

/// Allocates host memory that kernels can reach under the same address.
pub(crate) fn host(bytes: u64, kind: AllocationKind, flags: u32, label: &str, owner: Owner) -> Outcome<u64> {
    let layout = layout(bytes)?;
    take(bytes)?;
    // SAFETY: the layout is not empty.
    let block = unsafe { alloc_zeroed(layout) };
    if block.is_null() || !has_reserve() {
        if !block.is_null() {
            // SAFETY: just allocated with this layout.
            unsafe { dealloc(block, layout) };
        }
        MEMORY.give_back(bytes);
        return Err(ERROR_OUT_OF_MEMORY);
    }
    let start = block.map_addr(|at| at.next_multiple_of(PAGE));
    // SAFETY: inside the block; unmapped before it is given back, after all queued work has ended.
    let mapped = unsafe { MEMORY.map_host(start, layout.size() - PAGE, Origin::new(label)) };
    let Ok(base) = mapped else {
        // SAFETY: just allocated with this layout.
        unsafe { dealloc(block, layout) };
        MEMORY.give_back(bytes);
        return Err(ERROR_OUT_OF_MEMORY);
    };
    remember(base, bytes, kind, flags, owner, block as usize);
    Ok(base)
}

/// Makes the caller's memory accessible to kernels.
pub(crate) fn register(base: u64, bytes: u64, flags: u32, owner: Owner) -> Outcome {
    let n = usize::try_from(bytes).map_err(|_| ERROR_INVALID_VALUE)?;
    take(bytes)?;
    // SAFETY: the caller of `cuMemHostRegister` keeps the range valid until it unregisters it.
    let mapped = unsafe { MEMORY.map_host(base as usize as *mut u8, n, Origin::new("cuMemHostRegister")) };
    match mapped {
        Ok(_) => {
            remember(base, bytes, AllocationKind::Registered, flags, owner, 0);
            Ok(())
        }
        Err(error) => {
            MEMORY.give_back(bytes);
            Err(if error.near.is_some() { ERROR_HOST_MEMORY_ALREADY_REGISTERED } else { ERROR_INVALID_VALUE })
        }
    }
}

/// Finds the allocation that contains an address (one past its end is outside).
pub(crate) fn find(address: u64) -> Option<Allocation> {
    let all = lock(&ALL);
    let (_, found) = all.range(..=address).next_back()?;
    (address - found.base < found.bytes.max(1)).then_some(*found)
}

/// Returns whether an address is in pinned host memory, from or to which copies can continue after the call.
pub(crate) fn is_pinned(address: u64, n: usize) -> bool {
    find(address).is_some_and(|a| {
        let inside = address - a.base + n as u64 <= a.bytes;
        inside && matches!(a.kind, AllocationKind::Host | AllocationKind::Registered | AllocationKind::Managed)
    })
}

/// Returns whether a range is in pinned memory that is the host's alone, unlike managed memory.
pub(crate) fn is_staging(address: u64, n: usize) -> bool {
    is_pinned(address, n) && find(address).is_some_and(|a| a.kind != AllocationKind::Managed)
}

/// Removes an allocation from the table, if this call may free it, by `test`.
pub(crate) fn forget(base: u64, test: impl Fn(AllocationKind) -> bool) -> Option<Allocation> {
    let mut all = lock(&ALL);
    let found = all.get(&base).copied().filter(|a| test(a.kind))?;
    all.remove(&base);
    Some(found)
}

/// Releases the memory of a removed allocation. For host memory, all queued work has ended.
pub(crate) fn release(allocation: Allocation) {
    match allocation.kind {
        AllocationKind::Device | AllocationKind::Pooled(_) => {
            let _ = MEMORY.free(allocation.base);
        }
        AllocationKind::Registered => {
            let _ = MEMORY.unmap_host(allocation.base);
            MEMORY.give_back(allocation.bytes);
        }
        AllocationKind::Managed | AllocationKind::Host => {
            let unmapped = MEMORY.unmap_host(allocation.base).is_ok();
            if let Ok(layout) = layout(allocation.bytes)
                && unmapped
            {
                // SAFETY: allocated by `host` with this layout, mapped until now, and no longer used.
                unsafe { dealloc(allocation.block as *mut u8, layout) };
                MEMORY.give_back(allocation.bytes);
            }
        }
    }
}

/// Frees the allocations of a context whose queue is idle.
pub(crate) fn forget_context(context_id: u64) {
    let mut all = lock(&ALL);
    let gone: Vec<Allocation> = all.values().filter(|a| a.owner.context_id == context_id).copied().collect();
    all.retain(|_, a| a.owner.context_id != context_id);
    drop(all);
    if gone.iter().any(|a| !matches!(a.kind, AllocationKind::Device | AllocationKind::Pooled(_))) {
        drain_all();
    }
    gone.into_iter().for_each(release);
}

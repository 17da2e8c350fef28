//! Allocating and freeing device and managed memory.

use std::ffi::{c_int, c_uint};

use crate::allocations::{self, AllocationKind};
use crate::api::context::{current_owner, owner};
use crate::api::{graph_memory, pool, query};
use crate::contexts::{MEMORY, context_of, drain_all, usable};
use crate::ffi::{Out, export};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::streams::usable_stream;
use crate::types::{Handle, MemLocation};
use crate::{attributes::limit, capture::permit_unsafe};
use crate::{host_mistakes, queue::JobThread};

export! {
    fn cuMemGetInfo_v2 3020(free: Out<usize>, total: Out<usize>) {
        usable()?;
        free.put_if_wanted(MEMORY.limit().saturating_sub(MEMORY.used()) as usize);
        total.put_if_wanted(MEMORY.limit() as usize);
        Ok(())
    }

    fn cuMemAlloc_v2 3020(out: Out<u64>, bytes: usize) {
        let owner = current_owner()?;
        out.check()?;
        refuse_if(bytes == 0, ERROR_INVALID_VALUE)?;
        out.put(allocations::device(bytes as u64, AllocationKind::Device, "cuMemAlloc", owner)?)
    }

    fn cuMemAllocPitch_v2 3020(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: c_uint) {
        let owner = current_owner()?;
        out.check()?;
        pitch.check()?;
        refuse_if(width == 0 || height == 0 || ![4, 8, 16].contains(&element), ERROR_INVALID_VALUE)?;
        let row = width.checked_next_multiple_of(limit::PITCH).ok_or(ERROR_OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height).ok_or(ERROR_OUT_OF_MEMORY)?;
        out.put(allocations::device(bytes as u64, AllocationKind::Device, "cuMemAllocPitch", owner)?)?;
        pitch.put(row)
    }

    fn cuMemFree_v2 3020(address: u64) {
        initialised()?;
        if address == 0 {
            return Ok(());
        }
        // The address alone determines its context.
        let own = allocations::find(address).ok_or_else(|| host_mistakes::free(address))?;
        context_of(own.owner.context)?.check()?;
        if graph_memory::free_now(address)? {
            return context_of(own.owner.context)?.queue.drain();
        }
        let free = |kind| matches!(kind, AllocationKind::Device | AllocationKind::Pooled(_) | AllocationKind::Managed);
        let gone = allocations::forget(address, free).ok_or_else(|| host_mistakes::free(address))?;
        release_after_work(gone)
    }

    fn cuMemAllocManaged 6000(out: Out<u64>, bytes: usize, flags: c_uint) {
        let owner = current_owner()?;
        out.check()?;
        refuse_if(bytes == 0 || !(flags == 1 || flags == 2), ERROR_INVALID_VALUE)?;
        out.put(allocations::host(bytes as u64, AllocationKind::Managed, flags, "cuMemAllocManaged", owner)?)
    }

    fn cuMemAllocAsync 11020 / cuMemAllocAsync_ptsz (out: Out<u64>, bytes: usize, handle: Handle) =
        alloc_from(pool::current_pool(), out, bytes, handle);
    fn cuMemAllocFromPoolAsync 11020 / cuMemAllocFromPoolAsync_ptsz (
        out: Out<u64>, bytes: usize, from: Handle, handle: Handle,
    ) =
        alloc_from(from, out, bytes, handle);

    fn cuMemFreeAsync 11020 / cuMemFreeAsync_ptsz (address: u64, handle: Handle) {
        let stream = usable_stream(handle)?;
        if address == 0 {
            return Ok(());
        }
        if stream.capture.position().is_some() {
            return stream.enqueue(graph_memory::free(address)?).map(|_| ());
        }
        if graph_memory::free_now(address)? {
            return Ok(());
        }
        let free = |kind| matches!(kind, AllocationKind::Device | AllocationKind::Pooled(_));
        let gone = allocations::forget(address, free).ok_or_else(|| host_mistakes::free(address))?;
        stream.permit()?;
        // Earlier work of the stream may still use the memory. It is freed also if the context is lost by then.
        stream.submit(JobThread::Caller, |_| {}, Box::new(move || {
            pool::note_free(&gone);
            allocations::release(gone);
        }));
        Ok(())
    }

    fn cuMemGetAddressRange_v2 3020(base: Out<u64>, size: Out<usize>, address: u64) {
        usable()?;
        let found = allocations::find(address).ok_or(ERROR_NOT_FOUND)?;
        base.put_if_wanted(found.base);
        size.put_if_wanted(found.bytes as usize);
        Ok(())
    }

    fn cuMemAdvise 8000(address: u64, count: usize, advice: c_uint, dev: c_int) = advise(address, count, advice, dev);
    fn cuMemAdvise_v2 12020(address: u64, count: usize, advice: c_uint, location: MemLocation) =
        advise(address, count, advice, if location.kind == 1 { location.id } else { -1 });

    fn cuMemPrefetchAsync 8000 / cuMemPrefetchAsync_ptsz (address: u64, count: usize, dev: c_int, handle: Handle) {
        usable_stream(handle)?;
        refuse_if(!(-1..=0).contains(&dev), ERROR_INVALID_DEVICE)?;
        managed_range(address, count)
    }

    fn cuMemPrefetchAsync_v2 12020 / cuMemPrefetchAsync_v2_ptsz (
        address: u64, count: usize, location: MemLocation, flags: c_uint, handle: Handle,
    ) {
        usable_stream(handle)?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        refuse_if(location.kind == 1 && location.id != 0, ERROR_INVALID_DEVICE)?;
        managed_range(address, count)
    }
}

fn alloc_from(pool: Handle, out: Out<u64>, bytes: usize, stream_handle: Handle) -> Outcome {
    query(out, || {
        let stream = usable_stream(stream_handle)?;
        if stream.capture.valid()?.is_some() {
            let (base, work) = graph_memory::alloc_captured(bytes)?;
            stream.enqueue(work)?;
            return Ok(base);
        }
        permit_unsafe()?;
        pool::alloc(pool, bytes, owner(&stream.context))
    })
}

/// Frees memory after earlier work, as the driver does: of its own context, and for host memory, of all.
pub(crate) fn release_after_work(gone: allocations::Allocation) -> Outcome {
    match gone.kind {
        AllocationKind::Device | AllocationKind::Pooled(_) => context_of(gone.owner.context)?.queue.drain()?,
        AllocationKind::Managed | AllocationKind::Host | AllocationKind::Registered => drain_all(),
    }
    pool::note_free(&gone);
    allocations::release(gone);
    Ok(())
}

/// Accepts advice and prefetching without an effect: both sides can reach managed memory.
fn advise(address: u64, count: usize, advice: c_uint, dev: c_int) -> Outcome {
    usable()?;
    refuse_if(!(1..=6).contains(&advice), ERROR_INVALID_VALUE)?;
    refuse_if(!(-1..=0).contains(&dev), ERROR_INVALID_DEVICE)?;
    managed_range(address, count)
}

fn managed_range(address: u64, count: usize) -> Outcome {
    let inside = allocations::find(address).is_some_and(|a| {
        let end = (address - a.base).checked_add(count as u64);
        a.kind == AllocationKind::Managed && end.is_some_and(|end| end <= a.bytes)
    });
    if inside && count > 0 { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
}

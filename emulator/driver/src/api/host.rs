//! Pinned host memory: kernels reach it under its own address.

use std::ffi::c_uint;

use crate::allocations::{self, AllocationKind};
use crate::api::{context::current_owner, memory::release_after_work};
use crate::contexts::usable;
use crate::ffi::{Host, Out, can_write_all, export};
use crate::result::*;

/// `CU_MEMHOSTALLOC_PORTABLE | DEVICEMAP | WRITECOMBINED`
const ALLOC_FLAGS: c_uint = 7;
/// `CU_MEMHOSTREGISTER_PORTABLE | DEVICEMAP`
const REGISTER_FLAGS: c_uint = 3;

fn alloc(out: Out<u64>, bytes: usize, flags: c_uint) -> Outcome {
    let owner = current_owner()?;
    out.check()?;
    refuse_if(flags & !ALLOC_FLAGS != 0, ERROR_INVALID_VALUE)?;
    if bytes == 0 {
        return out.put(0);
    }
    out.put(allocations::host(bytes as u64, AllocationKind::Host, flags, "cuMemHostAlloc", owner)?)
}

export! {
    fn cuMemHostAlloc 2020(out: Out<u64>, bytes: usize, flags: c_uint) = alloc(out, bytes, flags);
    fn cuMemAllocHost_v2 3020(out: Out<u64>, bytes: usize) = alloc(out, bytes, 0);

    fn cuMemFreeHost 2000(pointer: Host) {
        usable()?;
        let gone = allocations::forget(pointer.address(), |kind| kind == AllocationKind::Host).ok_or(ERROR_INVALID_VALUE)?;
        release_after_work(gone)
    }

    fn cuMemHostRegister_v2 6050 | cuMemHostRegister 4000(pointer: Host, bytes: usize, flags: c_uint) {
        let owner = current_owner()?;
        if pointer.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0 || !can_write_all(pointer.address(), bytes) {
            return Err(if flags & !REGISTER_FLAGS & 0xc != 0 { ERROR_NOT_SUPPORTED } else { ERROR_INVALID_VALUE });
        }
        allocations::register(pointer.address(), bytes as u64, flags, owner)
    }

    fn cuMemHostUnregister 4000(pointer: Host) {
        usable()?;
        refuse_if(pointer.is_null(), ERROR_INVALID_VALUE)?;
        let gone = allocations::forget(pointer.address(), |kind| kind == AllocationKind::Registered)
            .ok_or(ERROR_HOST_MEMORY_NOT_REGISTERED)?;
        release_after_work(gone)
    }

    fn cuMemHostGetDevicePointer_v2 3020(out: Out<u64>, pointer: Host, flags: c_uint) {
        usable()?;
        out.check()?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        let known = allocations::find(pointer.address()).is_some_and(|a| matches!(a.kind, AllocationKind::Host | AllocationKind::Registered));
        refuse_if(!known, ERROR_INVALID_VALUE)?;
        out.put(pointer.address())
    }

    fn cuMemHostGetFlags 2030(flags: Out<c_uint>, pointer: Host) {
        usable()?;
        flags.check()?;
        let found = allocations::find(pointer.address()).filter(|a| a.kind == AllocationKind::Host);
        // With unified addressing all pinned memory is mapped and portable, and its flags report that.
        flags.put(found.ok_or(ERROR_INVALID_VALUE)?.flags | 2)
    }
}

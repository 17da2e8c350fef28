//! Linear copies between host, device and arrays.
//!
//! A copy from or to pageable memory is complete when its call returns, as the driver promises for sources and does for
//! destinations; copies of pinned memory may continue.

use crate::allocations::Taken;
use crate::api::array;
use crate::api::copy_ends::{CopyEnd, transfer, write_device};
use crate::api::copy_mistakes::explain_copy;
use crate::ffi::{Host, export};
use crate::mistakes;
use crate::queue::JobThread;
use crate::result::*;
use crate::settings;
use crate::streams::{Stream, stream_of};
use crate::types::Handle;

/// Refuses unusable ends, with a message; `what` is copied.
pub(crate) fn check_ends(to: &CopyEnd, from: &CopyEnd, n: usize, copied: &str) -> Outcome {
    to.check(n).and_then(|()| from.check(n)).inspect_err(|_| explain_copy(to, from, n, copied))
}

/// Copies now, and reports undefined values that the host receives; `diagnosis` is the setting of the calling thread,
/// which need not be the one that copies.
///
/// # Safety
/// The requirements are those of [`transfer`].
unsafe fn copy(to: &CopyEnd, from: &CopyEnd, n: usize, diagnosis: bool) -> Outcome {
    // SAFETY: a host end is valid for `n` bytes, as this function requires.
    unsafe { transfer(to, from, n) }?;
    if let (CopyEnd::Host(_), CopyEnd::Device(address)) = (to, from) {
        mistakes::copied_back(std::iter::once((*address, n)), diagnosis);
    }
    Ok(())
}

/// Copies `n` bytes, and returns when they have arrived.
fn copy_sync(handle: Handle, to: CopyEnd, from: CopyEnd, n: usize) -> Outcome {
    let stream = stream_of(handle)?;
    stream.context.check()?;
    check_ends(&to, &from, n, "a copy")?;
    let diagnosis = settings::current().diagnosis;
    // SAFETY: the caller of a copy promises the bytes of the host memory.
    stream.submit_sync(move || unsafe { copy(&to, &from, n, diagnosis) })
}

/// Copies in the stream's order.
fn copy_async(handle: Handle, to: CopyEnd, from: CopyEnd, n: usize) -> Outcome {
    let stream = stream_of(handle)?;
    stream.context.check()?;
    check_ends(&to, &from, n, "a copy")?;
    copy_in_stream(&stream, to, from, n)
}

fn copy_in_stream(stream: &Stream, to: CopyEnd, from: CopyEnd, n: usize) -> Outcome {
    let diagnosis = settings::current().diagnosis;
    if to.is_pageable(n) {
        // SAFETY: the caller of a copy to the host promises the bytes.
        return stream.submit_sync(move || unsafe { copy(&to, &from, n, diagnosis) });
    }
    // The source may change as soon as the call returns: its bytes are read now, unless the copy runs now or there is
    // no memory for them.
    let wait = from.is_pageable(n);
    let taken = (wait && !stream.context.queue.is_idle()).then(|| Taken::new(n as u64));
    match (&to, &from, taken) {
        (CopyEnd::Device(address), CopyEnd::Host(source), Some(Ok(taken))) => {
            // SAFETY: the caller of a copy from the host promises the bytes.
            let bytes = unsafe { Host::new(*source).bytes(n) }.to_vec();
            let address = *address;
            stream.submit_async(JobThread::Caller, move || {
                let written = write_device(address, &bytes);
                drop(taken);
                written
            })
        }
        // SAFETY: the caller of a copy promises the bytes of the host memory.
        _ if wait => stream.submit_sync(move || unsafe { copy(&to, &from, n, diagnosis) }),
        // SAFETY: the caller of a copy promises the bytes of the host memory until the copy is done.
        _ => stream.submit_async(JobThread::Caller, move || unsafe { copy(&to, &from, n, diagnosis) }),
    }
}

export! {
    fn cuMemcpyHtoD_v2 3020 / cuMemcpyHtoD_v2_ptds (to: u64, from: Host, n: usize) {
        copy_sync(0, CopyEnd::Device(to), CopyEnd::host(from), n)
    }

    fn cuMemcpyDtoH_v2 3020 / cuMemcpyDtoH_v2_ptds (to: Host, from: u64, n: usize) {
        copy_sync(0, CopyEnd::host(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpyDtoD_v2 3020 / cuMemcpyDtoD_v2_ptds (to: u64, from: u64, n: usize) {
        copy_sync(0, CopyEnd::Device(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpy 4000 / cuMemcpy_ptds (to: u64, from: u64, n: usize) {
        copy_sync(0, CopyEnd::unified(to), CopyEnd::unified(from), n)
    }

    fn cuMemcpyHtoDAsync_v2 3020 / cuMemcpyHtoDAsync_v2_ptsz (to: u64, from: Host, n: usize, stream: Handle) {
        copy_async(stream, CopyEnd::Device(to), CopyEnd::host(from), n)
    }

    fn cuMemcpyDtoHAsync_v2 3020 / cuMemcpyDtoHAsync_v2_ptsz (to: Host, from: u64, n: usize, stream: Handle) {
        copy_async(stream, CopyEnd::host(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpyDtoDAsync_v2 3020 / cuMemcpyDtoDAsync_v2_ptsz (to: u64, from: u64, n: usize, stream: Handle) {
        copy_async(stream, CopyEnd::Device(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpyAsync 4000 / cuMemcpyAsync_ptsz (to: u64, from: u64, n: usize, stream: Handle) {
        copy_async(stream, CopyEnd::unified(to), CopyEnd::unified(from), n)
    }

    fn cuMemcpyPeer 4000 / cuMemcpyPeer_ptds (to: u64, to_context: Handle, from: u64, from_context: Handle, n: usize) {
        crate::contexts::context_of(to_context)?;
        crate::contexts::context_of(from_context)?;
        copy_sync(0, CopyEnd::Device(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpyPeerAsync 4000 / cuMemcpyPeerAsync_ptsz (
        to: u64, to_context: Handle, from: u64, from_context: Handle, n: usize, stream: Handle,
    ) {
        crate::contexts::context_of(to_context)?;
        crate::contexts::context_of(from_context)?;
        copy_async(stream, CopyEnd::Device(to), CopyEnd::Device(from), n)
    }

    fn cuMemcpyHtoA_v2 3020 / cuMemcpyHtoA_v2_ptds (to: Handle, offset: usize, from: Host, n: usize) {
        copy_sync(0, in_array(to, offset)?, CopyEnd::host(from), n)
    }

    fn cuMemcpyAtoH_v2 3020 / cuMemcpyAtoH_v2_ptds (to: Host, from: Handle, offset: usize, n: usize) {
        copy_sync(0, CopyEnd::host(to), in_array(from, offset)?, n)
    }

    fn cuMemcpyDtoA_v2 3020 / cuMemcpyDtoA_v2_ptds (to: Handle, offset: usize, from: u64, n: usize) {
        copy_sync(0, in_array(to, offset)?, CopyEnd::Device(from), n)
    }

    fn cuMemcpyAtoD_v2 3020 / cuMemcpyAtoD_v2_ptds (to: u64, from: Handle, offset: usize, n: usize) {
        copy_sync(0, CopyEnd::Device(to), in_array(from, offset)?, n)
    }

    fn cuMemcpyAtoA_v2 3020 / cuMemcpyAtoA_v2_ptds (to: Handle, to_at: usize, from: Handle, from_at: usize, n: usize) {
        copy_sync(0, in_array(to, to_at)?, in_array(from, from_at)?, n)
    }

    fn cuMemcpyHtoAAsync_v2 3020 / cuMemcpyHtoAAsync_v2_ptsz (to: Handle, offset: usize, from: Host, n: usize, stream: Handle) {
        copy_async(stream, in_array(to, offset)?, CopyEnd::host(from), n)
    }

    fn cuMemcpyAtoHAsync_v2 3020 / cuMemcpyAtoHAsync_v2_ptsz (to: Host, from: Handle, offset: usize, n: usize, stream: Handle) {
        copy_async(stream, CopyEnd::host(to), in_array(from, offset)?, n)
    }
}

fn in_array(handle: Handle, offset: usize) -> Outcome<CopyEnd> {
    Ok(CopyEnd::Array(array::array_of(handle)?, offset as u64))
}

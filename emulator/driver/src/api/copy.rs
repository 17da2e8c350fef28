//! Linear copies between host, device and arrays.
//!
//! A copy from or to pageable memory is complete when its call returns; copies of pinned memory may continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::api::copy_ends::{CopyEnd, transfer, write_device};
use crate::ffi::{Host, export};
use crate::result::*;
use crate::streams::usable_stream;
use crate::types::{Handle, Memcpy3D};
use crate::{allocations::is_staging, api::array::ARRAYS};
use crate::{api::copy_mistakes::explain_copy, contexts::Context, cuda_constants::node};
use crate::{graphs::Work, host_mistakes};
use crate::{settings, staging};

/// Refuses unusable ends, with a message that names what is `copied`.
pub(crate) fn check_ends(to: &CopyEnd, from: &CopyEnd, n: usize, copied: &str) -> Outcome {
    to.check(n).and_then(|()| from.check(n)).inspect_err(|_| explain_copy(to, from, n, copied))
}

pub(crate) struct Copy {
    to: CopyEnd,
    from: CopyEnd,
    n: usize,
    /// Setting of the calling thread, which need not be the one that copies.
    diagnosis: bool,
}

impl Copy {
    /// Copies now, and reports undefined values that the host receives.
    fn now(&self) -> Outcome {
        // SAFETY: the caller of a copy promises the bytes of the host memory until the copy is done.
        unsafe { transfer(&self.to, &self.from, self.n) }?;
        if let (CopyEnd::Host(_), CopyEnd::Device(address)) = (&self.to, &self.from) {
            host_mistakes::copied_back(std::iter::once((*address, self.n)), self.diagnosis);
        }
        Ok(())
    }

    pub(crate) fn params(&self) -> Memcpy3D {
        Memcpy3D { dst: self.to.side(), src: self.from.side(), width: self.n, height: 1, depth: 1 }
    }
}

impl Work for Copy {
    fn kind(&self) -> u32 {
        node::MEMCPY
    }

    fn run(&self, _context: &Context) -> Outcome {
        self.now()
    }
}

/// Limit on the bytes of all copies that wait in queues: further ones wait for their turn in the call.
const MAX_STAGED: usize = 64 << 20;
static STAGED: AtomicUsize = AtomicUsize::new(0);

/// Bytes for device memory, read when the call was made.
pub(crate) struct Write {
    address: u64,
    bytes: Vec<u8>,
}

impl Write {
    /// Reads the bytes of a copy; `None` if there is no room for them.
    fn staged(address: u64, source: Host, n: usize) -> Option<Self> {
        let taken = STAGED.fetch_add(n, Ordering::AcqRel);
        let mut staged = Self { address, bytes: Vec::new() };
        if taken.saturating_add(n) > MAX_STAGED || staged.bytes.try_reserve_exact(n).is_err() {
            STAGED.fetch_sub(n, Ordering::AcqRel);
            return None;
        }
        staged.bytes.resize(n, 0);
        // SAFETY: the caller of a copy from the host promises the bytes.
        unsafe { source.read(&mut staged.bytes) };
        Some(staged)
    }

    pub(crate) fn new(address: u64, bytes: &[u8]) -> Self {
        STAGED.fetch_add(bytes.len(), Ordering::AcqRel);
        Self { address, bytes: bytes.to_vec() }
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        STAGED.fetch_sub(self.bytes.len(), Ordering::AcqRel);
    }
}

impl Work for Write {
    fn kind(&self) -> u32 {
        node::BATCH_MEM_OP
    }

    fn run(&self, _context: &Context) -> Outcome {
        write_device(self.address, &self.bytes)
    }
}

fn copy_sync(handle: Handle, to: CopyEnd, from: CopyEnd, n: usize) -> Outcome {
    let stream = usable_stream(handle)?;
    check_ends(&to, &from, n, "a copy")?;
    let copy = Copy { to, from, n, diagnosis: settings::current().diagnosis };
    stream.submit_sync(move || copy.now())
}

fn copy_async(handle: Handle, to: CopyEnd, from: CopyEnd, n: usize) -> Outcome {
    let stream = usable_stream(handle)?;
    check_ends(&to, &from, n, "a copy")?;
    if n == 0 {
        return stream.capture.valid().map(|_| ());
    }
    let is_pageable = to.is_pageable(n) || from.is_pageable(n);
    let staged = match (&to, &from) {
        // A graph copies what the memory holds when it runs.
        _ if stream.capture.position().is_some() => None,
        // The source may change once the call returns: its bytes are read now, unless the copy runs now or is too big.
        (CopyEnd::Device(address), CopyEnd::Host(source)) if is_pageable && !stream.context.queue.is_idle() => {
            Write::staged(*address, Host::new(*source), n)
        }
        _ => None,
    };
    if let Some(write) = staged {
        return stream.enqueue(Arc::new(write)).map(|_| ());
    }
    let copy = Copy { to, from, n, diagnosis: settings::current().diagnosis };
    if is_pageable && stream.capture.position().is_none() {
        return stream.submit_sync(move || copy.now());
    }
    let pinned = copy.from.host_address().filter(|from| copy.to.host_address().is_none() && is_staging(*from, n));
    let is_tracked = copy.diagnosis;
    if let (Some(ticket), Some(from)) = (stream.enqueue(Arc::new(copy))?, pinned.filter(|_| is_tracked)) {
        // SAFETY: pinned memory, which is released only after a wait for this copy.
        unsafe { staging::track(stream.context.queue.id(), ticket, from, n) };
    }
    Ok(())
}

export! {
    fn cuMemcpyHtoD_v2 3020 / cuMemcpyHtoD_v2_ptds (to: u64, from: Host, n: usize) =
        copy_sync(0, CopyEnd::Device(to), CopyEnd::host(from), n);
    fn cuMemcpyDtoH_v2 3020 / cuMemcpyDtoH_v2_ptds (to: Host, from: u64, n: usize) =
        copy_sync(0, CopyEnd::host(to), CopyEnd::Device(from), n);
    fn cuMemcpyDtoD_v2 3020 / cuMemcpyDtoD_v2_ptds (to: u64, from: u64, n: usize) =
        copy_sync(0, CopyEnd::Device(to), CopyEnd::Device(from), n);
    fn cuMemcpy 4000 / cuMemcpy_ptds (to: u64, from: u64, n: usize) =
        copy_sync(0, CopyEnd::unified(to), CopyEnd::unified(from), n);
    fn cuMemcpyHtoDAsync_v2 3020 / cuMemcpyHtoDAsync_v2_ptsz (to: u64, from: Host, n: usize, stream: Handle) =
        copy_async(stream, CopyEnd::Device(to), CopyEnd::host(from), n);
    fn cuMemcpyDtoHAsync_v2 3020 / cuMemcpyDtoHAsync_v2_ptsz (to: Host, from: u64, n: usize, stream: Handle) =
        copy_async(stream, CopyEnd::host(to), CopyEnd::Device(from), n);
    fn cuMemcpyDtoDAsync_v2 3020 / cuMemcpyDtoDAsync_v2_ptsz (to: u64, from: u64, n: usize, stream: Handle) =
        copy_async(stream, CopyEnd::Device(to), CopyEnd::Device(from), n);
    fn cuMemcpyAsync 4000 / cuMemcpyAsync_ptsz (to: u64, from: u64, n: usize, stream: Handle) =
        copy_async(stream, CopyEnd::unified(to), CopyEnd::unified(from), n);

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

    fn cuMemcpyHtoA_v2 3020 / cuMemcpyHtoA_v2_ptds (to: Handle, offset: usize, from: Host, n: usize) =
        copy_sync(0, in_array(to, offset)?, CopyEnd::host(from), n);
    fn cuMemcpyAtoH_v2 3020 / cuMemcpyAtoH_v2_ptds (to: Host, from: Handle, offset: usize, n: usize) =
        copy_sync(0, CopyEnd::host(to), in_array(from, offset)?, n);
    fn cuMemcpyDtoA_v2 3020 / cuMemcpyDtoA_v2_ptds (to: Handle, offset: usize, from: u64, n: usize) =
        copy_sync(0, in_array(to, offset)?, CopyEnd::Device(from), n);
    fn cuMemcpyAtoD_v2 3020 / cuMemcpyAtoD_v2_ptds (to: u64, from: Handle, offset: usize, n: usize) =
        copy_sync(0, CopyEnd::Device(to), in_array(from, offset)?, n);
    fn cuMemcpyAtoA_v2 3020 / cuMemcpyAtoA_v2_ptds (to: Handle, to_at: usize, from: Handle, from_at: usize, n: usize) =
        copy_sync(0, in_array(to, to_at)?, in_array(from, from_at)?, n);
    fn cuMemcpyHtoAAsync_v2 3020 / cuMemcpyHtoAAsync_v2_ptsz (to: Handle, offset: usize, from: Host, n: usize, stream: Handle) =
        copy_async(stream, in_array(to, offset)?, CopyEnd::host(from), n);
    fn cuMemcpyAtoHAsync_v2 3020 / cuMemcpyAtoHAsync_v2_ptsz (to: Host, from: Handle, offset: usize, n: usize, stream: Handle) =
        copy_async(stream, CopyEnd::host(to), in_array(from, offset)?, n);
}

fn in_array(handle: Handle, offset: usize) -> Outcome<CopyEnd> {
    Ok(CopyEnd::Array(ARRAYS.find(handle)?, offset as u64))
}

//! Copies: linear, two- and three-dimensional, between host, device and arrays.
//!
//! A copy from or to pageable memory is complete when its call returns, as the driver promises for sources and does
//! for destinations; copies of pinned memory may go on.

use std::sync::Arc;

use crate::allocations::{FIRST_DEVICE_ADDRESS, Taken, is_pinned};
use crate::api::array::{self, Array};
use crate::api::rows::Rows;
use crate::contexts::MEMORY;
use crate::edge::{Host, In, can_read, export};
use crate::mistakes;
use crate::queue::Where;
use crate::result::*;
use crate::streams::{Stream, stream};
use crate::types::{Handle, Memcpy2D, Memcpy3D};

/// One end of a copy.
#[derive(Clone)]
pub(crate) enum Place {
    Device(u64),
    Host(u64),
    Array(Arc<Array>, u64),
}

/// A device range, as sync and async copies see it before they start.
pub(crate) fn device_range(address: u64, n: usize) -> Outcome {
    if n == 0 {
        return Ok(());
    }
    let inside = MEMORY.lookup(address).is_some_and(|a| {
        let offset = address.checked_sub(a.base);
        let end = offset.and_then(|o| o.checked_add(n as u64));
        !a.freed && end.is_some_and(|end| end <= a.bytes)
    });
    if inside { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
}

pub(crate) fn write_device(address: u64, bytes: &[u8]) -> Outcome {
    MEMORY.write(address, bytes).map_err(|_| ERROR_INVALID_VALUE)
}

impl Place {
    /// An address of the one address space: the device's if it is known there, else the host's.
    pub(crate) fn unified(address: u64) -> Self {
        if address >= FIRST_DEVICE_ADDRESS
            || MEMORY.lookup(address).is_some_and(|a| address < a.base + a.bytes)
        {
            Self::Device(address)
        } else {
            Self::Host(address)
        }
    }

    /// A host pointer; with unified addressing it may be a device's.
    pub(crate) fn host(pointer: Host) -> Self {
        if pointer.address() >= FIRST_DEVICE_ADDRESS {
            Self::Device(pointer.address())
        } else {
            Self::Host(pointer.address())
        }
    }

    pub(crate) fn check(&self, n: usize) -> Outcome {
        match self {
            _ if n == 0 => Ok(()),
            Self::Device(address) => device_range(*address, n),
            Self::Host(address) if *address == 0 || !can_read(*address, n) => Err(ERROR_INVALID_VALUE),
            Self::Host(_) => Ok(()),
            Self::Array(array, offset) => array.check(*offset, n),
        }
    }

    pub(crate) fn add(&self, bytes: u64) -> Result<Self, CUresult> {
        let plus = |at: u64| at.checked_add(bytes).ok_or(ERROR_INVALID_VALUE);
        Ok(match self {
            Self::Device(at) => Self::Device(plus(*at)?),
            Self::Host(at) => Self::Host(plus(*at)?),
            Self::Array(array, at) => Self::Array(Arc::clone(array), plus(*at)?),
        })
    }

    pub(crate) fn is_pageable(&self, n: usize) -> bool {
        matches!(self, Self::Host(address) if !is_pinned(*address, n))
    }
}

/// Moves bytes now.
///
/// # Safety
/// Where a place is the host's, the C caller promised `n` bytes there, and leaves them alone meanwhile.
pub(crate) unsafe fn transfer(to: &Place, from: &Place, n: usize) -> Outcome {
    if n == 0 {
        return Ok(());
    }
    let bad = |_| ERROR_INVALID_VALUE;
    // SAFETY: the caller's promise.
    let read = |from: u64| unsafe { Host::new(from).bytes(n) };
    // SAFETY: as above.
    let write = |to: u64| unsafe { Host::new(to).bytes_mut(n) };
    match (to, from) {
        (Place::Device(to), Place::Device(from)) => MEMORY.copy(*to, *from, n as u64).map_err(bad),
        (Place::Device(to), Place::Host(from)) => write_device(*to, read(*from)),
        (Place::Host(to), Place::Device(from)) => MEMORY.read(*from, write(*to)).map_err(bad),
        (Place::Host(to), Place::Host(from)) => {
            // Ranges may overlap, so by way of a copy.
            let bytes = read(*from).to_vec();
            write(*to).copy_from_slice(&bytes);
            Ok(())
        }
        (Place::Array(array, at), Place::Host(from)) => array.write(*at, read(*from)),
        (Place::Host(to), Place::Array(array, at)) => array.read(*at, write(*to)),
        (Place::Array(array, at), from) => {
            let mut bytes = vec![0; n];
            match from {
                Place::Device(from) => MEMORY.read(*from, &mut bytes).map_err(bad)?,
                Place::Array(source, offset) => source.read(*offset, &mut bytes)?,
                Place::Host(_) => return Err(ERROR_UNKNOWN),
            }
            array.write(*at, &bytes)
        }
        (Place::Device(to), Place::Array(array, at)) => {
            let mut bytes = vec![0; n];
            array.read(*at, &mut bytes)?;
            write_device(*to, &bytes)
        }
    }
}

/// Refuses ends that cannot be used, and says why.
fn check_ends(to: &Place, from: &Place, n: usize) -> Outcome {
    to.check(n)
        .and_then(|()| from.check(n))
        .inspect_err(|_| mistakes::copy(to, from, n))
}

/// Copies and waits.
fn copy_sync(handle: Handle, to: Place, from: Place, n: usize) -> Outcome {
    let stream = stream(handle)?;
    stream.context.check()?;
    check_ends(&to, &from, n)?;
    let back = to_host(&to, &from);
    // SAFETY: whoever copies from or to the host promises the bytes.
    stream.submit_sync(move || unsafe { transfer(&to, &from, n) })?;
    if let Some(address) = back {
        mistakes::copied_back_untouched(address, n);
    }
    Ok(())
}

/// The device address of a copy back to the host.
fn to_host(to: &Place, from: &Place) -> Option<u64> {
    match (to, from) {
        (Place::Host(_), Place::Device(address)) => Some(*address),
        _ => None,
    }
}

/// Copies in the stream's order.
fn copy_async(handle: Handle, to: Place, from: Place, n: usize) -> Outcome {
    let stream = stream(handle)?;
    stream.context.check()?;
    check_ends(&to, &from, n)?;
    copy_in_stream(&stream, to, from, n)
}

fn copy_in_stream(stream: &Stream, to: Place, from: Place, n: usize) -> Outcome {
    if to.is_pageable(n) {
        let back = to_host(&to, &from);
        // SAFETY: whoever copies to the host promises the bytes.
        stream.submit_sync(move || unsafe { transfer(&to, &from, n) })?;
        if let Some(address) = back {
            mistakes::copied_back_untouched(address, n);
        }
        return Ok(());
    }
    // The source may change as soon as the call returns: it is taken now, unless it can be used now, or there is no
    // room for it.
    let wait = from.is_pageable(n);
    let taken = (wait && !stream.context.queue.is_idle()).then(|| Taken::new(n as u64));
    match (&to, &from, taken) {
        (Place::Device(address), Place::Host(source), Some(Ok(taken))) => {
            // SAFETY: whoever copies from the host promises the bytes.
            let bytes = unsafe { Host::new(*source).bytes(n) }.to_vec();
            let address = *address;
            stream.submit_async(Where::Here, move || {
                let written = write_device(address, &bytes);
                drop(taken);
                written
            })
        }
        // SAFETY: whoever copies from or to the host promises the bytes.
        _ if wait => stream.submit_sync(move || unsafe { transfer(&to, &from, n) }),
        // SAFETY: as above, until the copy is done.
        _ => stream.submit_async(Where::Here, move || unsafe { transfer(&to, &from, n) }),
    }
}

export! {
    fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds (to: u64, from: Host, n: usize) {
        copy_sync(0, Place::Device(to), Place::host(from), n)
    }

    fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds (to: Host, from: u64, n: usize) {
        copy_sync(0, Place::host(to), Place::Device(from), n)
    }

    fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds (to: u64, from: u64, n: usize) {
        copy_sync(0, Place::Device(to), Place::Device(from), n)
    }

    fn cuMemcpy / cuMemcpy_ptds (to: u64, from: u64, n: usize) {
        copy_sync(0, Place::unified(to), Place::unified(from), n)
    }

    fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz (to: u64, from: Host, n: usize, stream: Handle) {
        copy_async(stream, Place::Device(to), Place::host(from), n)
    }

    fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz (to: Host, from: u64, n: usize, stream: Handle) {
        copy_async(stream, Place::host(to), Place::Device(from), n)
    }

    fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz (to: u64, from: u64, n: usize, stream: Handle) {
        copy_async(stream, Place::Device(to), Place::Device(from), n)
    }

    fn cuMemcpyAsync / cuMemcpyAsync_ptsz (to: u64, from: u64, n: usize, stream: Handle) {
        copy_async(stream, Place::unified(to), Place::unified(from), n)
    }

    fn cuMemcpyPeer / cuMemcpyPeer_ptds (to: u64, to_context: Handle, from: u64, from_context: Handle, n: usize) {
        crate::contexts::context(to_context)?;
        crate::contexts::context(from_context)?;
        copy_sync(0, Place::Device(to), Place::Device(from), n)
    }

    fn cuMemcpyPeerAsync / cuMemcpyPeerAsync_ptsz (
        to: u64,
        to_context: Handle,
        from: u64,
        from_context: Handle,
        n: usize,
        stream: Handle,
    ) {
        crate::contexts::context(to_context)?;
        crate::contexts::context(from_context)?;
        copy_async(stream, Place::Device(to), Place::Device(from), n)
    }

    fn cuMemcpyHtoA_v2 / cuMemcpyHtoA_v2_ptds (to: Handle, at: usize, from: Host, n: usize) {
        copy_sync(0, in_array(to, at)?, Place::host(from), n)
    }

    fn cuMemcpyAtoH_v2 / cuMemcpyAtoH_v2_ptds (to: Host, from: Handle, at: usize, n: usize) {
        copy_sync(0, Place::host(to), in_array(from, at)?, n)
    }

    fn cuMemcpyDtoA_v2 / cuMemcpyDtoA_v2_ptds (to: Handle, at: usize, from: u64, n: usize) {
        copy_sync(0, in_array(to, at)?, Place::Device(from), n)
    }

    fn cuMemcpyAtoD_v2 / cuMemcpyAtoD_v2_ptds (to: u64, from: Handle, at: usize, n: usize) {
        copy_sync(0, Place::Device(to), in_array(from, at)?, n)
    }

    fn cuMemcpyAtoA_v2 / cuMemcpyAtoA_v2_ptds (to: Handle, to_at: usize, from: Handle, from_at: usize, n: usize) {
        copy_sync(0, in_array(to, to_at)?, in_array(from, from_at)?, n)
    }

    fn cuMemcpyHtoAAsync_v2 / cuMemcpyHtoAAsync_v2_ptsz (to: Handle, at: usize, from: Host, n: usize, stream: Handle) {
        copy_async(stream, in_array(to, at)?, Place::host(from), n)
    }

    fn cuMemcpyAtoHAsync_v2 / cuMemcpyAtoHAsync_v2_ptsz (to: Host, from: Handle, at: usize, n: usize, stream: Handle) {
        copy_async(stream, Place::host(to), in_array(from, at)?, n)
    }

    fn cuMemcpy2D_v2 / cuMemcpy2D_v2_ptds (copy: In<Memcpy2D>) {
        Rows::from_2d(copy.get()?)?.run(0, true)
    }

    fn cuMemcpy2DUnaligned_v2 / cuMemcpy2DUnaligned_v2_ptds (copy: In<Memcpy2D>) {
        Rows::from_2d(copy.get()?)?.run(0, true)
    }

    fn cuMemcpy2DAsync_v2 / cuMemcpy2DAsync_v2_ptsz (copy: In<Memcpy2D>, stream: Handle) {
        Rows::from_2d(copy.get()?)?.run(stream, false)
    }

    fn cuMemcpy3D_v2 / cuMemcpy3D_v2_ptds (copy: In<Memcpy3D>) {
        Rows::from_3d(copy.get()?)?.run(0, true)
    }

    fn cuMemcpy3DAsync_v2 / cuMemcpy3DAsync_v2_ptsz (copy: In<Memcpy3D>, stream: Handle) {
        Rows::from_3d(copy.get()?)?.run(stream, false)
    }

    fn cuMemcpy3DPeer / cuMemcpy3DPeer_ptds (copy: In<Memcpy3D>) {
        Rows::from_3d(copy.get()?)?.run(0, true)
    }

    fn cuMemcpy3DPeerAsync / cuMemcpy3DPeerAsync_ptsz (copy: In<Memcpy3D>, stream: Handle) {
        Rows::from_3d(copy.get()?)?.run(stream, false)
    }
}

fn in_array(handle: Handle, at: usize) -> Result<Place, CUresult> {
    Ok(Place::Array(array::array(handle)?, at as u64))
}

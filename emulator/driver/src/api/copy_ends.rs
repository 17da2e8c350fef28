//! The ends of copies: host memory, device memory, arrays.

use std::sync::Arc;

use simt::memory::copy_on_host;

use crate::allocations::{FIRST_DEVICE_ADDRESS, is_pinned};
use crate::ffi::{Host, can_read};
use crate::result::*;
use crate::{api::array::Array, contexts::MEMORY};
use crate::{staging, types::CopySide};

#[derive(Clone)]
pub(crate) enum CopyEnd {
    Device(u64),
    Host(u64),
    Array(Arc<Array>, u64),
}

/// Checks a device range before a copy starts.
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

impl CopyEnd {
    /// Returns an address of the unified address space: the device's if it is known there, else the host's.
    pub(crate) fn unified(address: u64) -> Self {
        if address >= FIRST_DEVICE_ADDRESS || MEMORY.lookup(address).is_some_and(|a| address < a.base + a.bytes) {
            Self::Device(address)
        } else {
            Self::Host(address)
        }
    }

    /// Returns a host pointer; with unified addressing it may be a device's.
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

    pub(crate) fn add(&self, bytes: u64) -> Outcome<Self> {
        let plus = |at: u64| at.checked_add(bytes).ok_or(ERROR_INVALID_VALUE);
        Ok(match self {
            Self::Device(at) => Self::Device(plus(*at)?),
            Self::Host(at) => Self::Host(plus(*at)?),
            Self::Array(array, at) => Self::Array(Arc::clone(array), plus(*at)?),
        })
    }

    pub(crate) fn host_address(&self) -> Option<u64> {
        match self {
            Self::Device(address) | Self::Host(address) => Some(*address).filter(|at| *at < FIRST_DEVICE_ADDRESS),
            Self::Array(..) => None,
        }
    }

    /// Returns the end as graphs describe it.
    pub(crate) fn side(&self) -> CopySide {
        let none = CopySide::default();
        match self {
            Self::Host(address) => CopySide { kind: 1, host: *address, ..none },
            Self::Device(address) => CopySide { kind: 2, device: *address, ..none },
            Self::Array(array, at) => CopySide { kind: 3, array: array.handle, x: *at as usize, ..none },
        }
    }

    pub(crate) fn is_pageable(&self, n: usize) -> bool {
        matches!(self, Self::Host(address) if !is_pinned(*address, n))
    }
}

/// Moves bytes now.
///
/// # Safety
/// If an end is on the host, the C caller promised `n` bytes there.
pub(crate) unsafe fn transfer(to: &CopyEnd, from: &CopyEnd, n: usize) -> Outcome {
    if n == 0 {
        return Ok(());
    }
    if let Some(address) = to.host_address() {
        staging::settle_before_overwrite(address, n);
    }
    let host = |address: u64| Host::new(address).start();
    let moved = match (to, from) {
        (CopyEnd::Device(to), CopyEnd::Device(from)) => MEMORY.copy(*to, *from, n as u64),
        // SAFETY: the host's end has `n` readable bytes.
        (CopyEnd::Device(to), CopyEnd::Host(from)) => unsafe { MEMORY.write_from(*to, host(*from), n) },
        // SAFETY: the host's end has `n` writable bytes.
        (CopyEnd::Host(to), CopyEnd::Device(from)) => unsafe { MEMORY.read_to(*from, host(*to), n) },
        (CopyEnd::Host(to), CopyEnd::Host(from)) => {
            // SAFETY: both ends have `n` bytes.
            unsafe { copy_on_host(host(*from), host(*to), n) };
            Ok(())
        }
        (CopyEnd::Array(..), _) | (_, CopyEnd::Array(..)) => {
            let mut bytes = vec![0; n];
            match from {
                CopyEnd::Device(from) => MEMORY.read(*from, &mut bytes).map_err(|_| ERROR_INVALID_VALUE)?,
                CopyEnd::Array(source, offset) => source.read(*offset, &mut bytes)?,
                // SAFETY: the host's end has `n` readable bytes.
                CopyEnd::Host(from) => unsafe { Host::new(*from).read(&mut bytes) },
            }
            match to {
                CopyEnd::Device(to) => MEMORY.write(*to, &bytes),
                CopyEnd::Array(array, at) => return array.write(*at, &bytes),
                CopyEnd::Host(to) => {
                    // SAFETY: the host's end has `n` writable bytes.
                    unsafe { Host::new(*to).write(&bytes) };
                    Ok(())
                }
            }
        }
    };
    moved.map_err(|_| ERROR_INVALID_VALUE)
}

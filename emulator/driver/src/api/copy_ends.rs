//! The ends of copies: host memory, device memory, arrays.

use std::sync::Arc;

use crate::allocations::{FIRST_DEVICE_ADDRESS, is_pinned};
use crate::api::array::Array;
use crate::contexts::MEMORY;
use crate::ffi::{Host, can_read};
use crate::result::*;
use crate::types::CopySide;

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

    /// Returns the end as graphs describe it.
    pub(crate) fn side(&self) -> CopySide {
        let none = CopySide {
            x: 0,
            y: 0,
            z: 0,
            lod: 0,
            kind: 0,
            host: 0,
            device: 0,
            array: 0,
            context: 0,
            pitch: 0,
            height: 0,
        };
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
/// If an end is on the host, the C caller promised `n` bytes there, and leaves them alone meanwhile.
pub(crate) unsafe fn transfer(to: &CopyEnd, from: &CopyEnd, n: usize) -> Outcome {
    if n == 0 {
        return Ok(());
    }
    let bad = |_| ERROR_INVALID_VALUE;
    // SAFETY: the host end has `n` readable bytes that nothing writes meanwhile.
    let read = |from: u64| unsafe { Host::new(from).bytes(n) };
    // SAFETY: the host end has `n` writable bytes that nothing else uses meanwhile.
    let write = |to: u64| unsafe { Host::new(to).bytes_mut(n) };
    match (to, from) {
        (CopyEnd::Device(to), CopyEnd::Device(from)) => MEMORY.copy(*to, *from, n as u64).map_err(bad),
        (CopyEnd::Device(to), CopyEnd::Host(from)) => write_device(*to, read(*from)),
        (CopyEnd::Host(to), CopyEnd::Device(from)) => MEMORY.read(*from, write(*to)).map_err(bad),
        (CopyEnd::Host(to), CopyEnd::Host(from)) => {
            // Ranges may overlap, hence the copy.
            let bytes = read(*from).to_vec();
            write(*to).copy_from_slice(&bytes);
            Ok(())
        }
        (CopyEnd::Array(array, at), CopyEnd::Host(from)) => array.write(*at, read(*from)),
        (CopyEnd::Host(to), CopyEnd::Array(array, at)) => array.read(*at, write(*to)),
        (CopyEnd::Array(array, at), from) => {
            let mut bytes = vec![0; n];
            match from {
                CopyEnd::Device(from) => MEMORY.read(*from, &mut bytes).map_err(bad)?,
                CopyEnd::Array(source, offset) => source.read(*offset, &mut bytes)?,
                CopyEnd::Host(_) => return Err(ERROR_UNKNOWN),
            }
            array.write(*at, &bytes)
        }
        (CopyEnd::Device(to), CopyEnd::Array(array, at)) => {
            let mut bytes = vec![0; n];
            array.read(*at, &mut bytes)?;
            write_device(*to, &bytes)
        }
    }
}

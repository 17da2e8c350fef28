//! What a pointer is.

use std::ffi::{c_int, c_uint, c_void};

use crate::allocations::{self, Allocation, Kind};
use crate::edge::{In, Out, export};
use crate::result::*;
use crate::state::{initialised, usable};

/// One attribute of a known pointer. `data` points to what the manual says for it.
fn put(data: Out<c_void>, attribute: c_uint, address: u64, a: &Allocation) -> Outcome {
    let on_host = matches!(a.kind, Kind::Host | Kind::Registered);
    match attribute {
        1 => data.cast::<usize>().put(a.context),
        2 => data.cast::<c_uint>().put(if on_host { 1 } else { 2 }),
        3 => data.cast::<u64>().put(address),
        4 if on_host || a.kind == Kind::Managed => data.cast::<u64>().put(address),
        4 => Err(ERROR_INVALID_VALUE),
        6 => data.cast::<c_uint>().put(0),
        7 => data.cast::<u64>().put(a.id),
        8 => data.cast::<u8>().put(u8::from(a.kind == Kind::Managed)),
        9 => data.cast::<c_int>().put(0),
        10 => data.cast::<u8>().put(0),
        11 => data.cast::<u64>().put(a.base),
        12 => data.cast::<usize>().put(a.bytes as usize),
        13 => data.cast::<u8>().put(1),
        14 => data.cast::<u64>().put(0),
        15 => data.cast::<u8>().put(0),
        16 => data.cast::<c_uint>().put(3),
        17 => match a.kind {
            Kind::Pooled(pool) => data.cast::<usize>().put(pool),
            _ => data.cast::<usize>().put(0),
        },
        18 => data.cast::<usize>().put(a.bytes as usize),
        19 => data.cast::<u64>().put(a.base),
        20 => data.cast::<u64>().put(a.id),
        _ => Err(ERROR_INVALID_VALUE),
    }
}

export! {
    fn cuPointerGetAttribute(data: Out<c_void>, attribute: c_uint, address: u64) {
        usable()?;
        data.check()?;
        let found = allocations::find(address).ok_or(ERROR_INVALID_VALUE)?;
        put(data, attribute, address, &found)
    }

    fn cuPointerGetAttributes(n: c_uint, attributes: In<c_uint>, data: In<*mut c_void>, address: u64) {
        usable()?;
        let attributes = attributes.list(n as usize)?;
        let places = data.list(n as usize)?;
        if n == 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        let found = allocations::find(address);
        for (attribute, place) in attributes.into_iter().zip(places) {
            let data = Out::at(place);
            data.check()?;
            // Of what is not ours, everything is 0, and the ordinal is -2.
            match (&found, attribute) {
                (Some(found), 4) if put(data, 4, address, found).is_err() => data.cast::<u64>().put(0)?,
                (Some(found), _) => put(data, attribute, address, found)?,
                (None, 9) => data.cast::<c_int>().put(-2)?,
                (None, 8 | 10 | 13 | 15) => data.cast::<u8>().put(0)?,
                (None, 2 | 6 | 16) => data.cast::<c_uint>().put(0)?,
                (None, 1..=20) => data.cast::<u64>().put(0)?,
                _ => return Err(ERROR_INVALID_VALUE),
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: In<c_uint>, attribute: c_uint, address: u64) {
        initialised()?;
        value.get()?;
        // Only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set, and copies are synchronous enough.
        if attribute != 6 || allocations::find(address).is_none() {
            return Err(ERROR_INVALID_VALUE);
        }
        Ok(())
    }
}

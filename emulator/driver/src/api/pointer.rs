//! Attributes of pointers.

use std::ffi::{c_uint, c_void};

use crate::allocations::{self, Allocation, AllocationKind};
use crate::contexts::usable_if_any;
use crate::cuda_constants::pointer as ids;
use crate::ffi::{In, Out, export};
use crate::lifecycle::initialised;
use crate::result::*;

/// Value of an attribute, as wide as the manual specifies.
enum Value {
    Bool(bool),
    Bits32(u32),
    Bits64(u64),
}

impl Value {
    /// # Safety
    /// The C caller promised a place for this attribute.
    unsafe fn put(self, data: Out<c_void>) -> Outcome {
        // SAFETY: `data` has room for this attribute, and each value is as wide as its attribute.
        unsafe {
            match self {
                Self::Bool(value) => data.typed().put(u8::from(value)),
                Self::Bits32(value) => data.typed().put(value),
                Self::Bits64(value) => data.typed().put(value),
            }
        }
    }
}

fn of_known(attribute: c_uint, address: u64, a: &Allocation) -> Outcome<Value> {
    let on_host = matches!(a.kind, AllocationKind::Host | AllocationKind::Registered);
    Ok(match attribute {
        ids::CONTEXT => Value::Bits64(a.owner.context as u64),
        ids::MEMORY_TYPE => Value::Bits32(if on_host { 1 } else { 2 }),
        ids::DEVICE_POINTER => Value::Bits64(address),
        ids::HOST_POINTER if on_host || a.kind == AllocationKind::Managed => Value::Bits64(address),
        ids::SYNC_MEMOPS | ids::DEVICE_ORDINAL => Value::Bits32(0),
        ids::BUFFER_ID | ids::MEMORY_BLOCK_ID => Value::Bits64(a.id),
        ids::IS_MANAGED => Value::Bool(a.kind == AllocationKind::Managed),
        ids::IS_LEGACY_CUDA_IPC_CAPABLE | ids::IS_GPU_DIRECT_RDMA_CAPABLE => Value::Bool(false),
        ids::RANGE_START_ADDR | ids::MAPPING_BASE_ADDR => Value::Bits64(a.base),
        ids::RANGE_SIZE | ids::MAPPING_SIZE => Value::Bits64(a.bytes),
        ids::MAPPED => Value::Bool(true),
        ids::ALLOWED_HANDLE_TYPES => Value::Bits64(0),
        ids::ACCESS_FLAGS => Value::Bits32(3),
        ids::MEMPOOL_HANDLE => match a.kind {
            AllocationKind::Pooled(pool) => Value::Bits64(pool as u64),
            _ => Value::Bits64(0),
        },
        _ => return Err(ERROR_INVALID_VALUE),
    })
}

/// Returns an attribute of an unknown pointer: everything is 0, and the ordinal is -2.
fn of_unknown(attribute: c_uint) -> Outcome<Value> {
    Ok(match attribute {
        ids::DEVICE_ORDINAL => Value::Bits32(-2i32 as u32),
        ids::IS_MANAGED | ids::IS_LEGACY_CUDA_IPC_CAPABLE | ids::MAPPED | ids::IS_GPU_DIRECT_RDMA_CAPABLE => {
            Value::Bool(false)
        }
        ids::MEMORY_TYPE | ids::SYNC_MEMOPS | ids::ACCESS_FLAGS => Value::Bits32(0),
        ids::CONTEXT..=ids::MEMORY_BLOCK_ID => Value::Bits64(0),
        _ => return Err(ERROR_INVALID_VALUE),
    })
}

export! {
    fn cuPointerGetAttribute 4000(data: Out<c_void>, attribute: c_uint, address: u64) {
        usable_if_any()?;
        data.check()?;
        let found = allocations::find(address).ok_or(ERROR_INVALID_VALUE)?;
        let value = of_known(attribute, address, &found)?;
        // SAFETY: the caller promises a place for this attribute.
        unsafe { value.put(data) }
    }

    fn cuPointerGetAttributes 7000(n: c_uint, attributes: In<c_uint>, data: In<*mut c_void>, address: u64) {
        usable_if_any()?;
        // SAFETY: the caller promises `n` attributes and as many places.
        let (attributes, places) = unsafe { (attributes.list(n as usize)?, data.list(n as usize)?) };
        refuse_if(n == 0, ERROR_INVALID_VALUE)?;
        let found = allocations::find(address);
        for (attribute, place) in attributes.into_iter().zip(places) {
            // SAFETY: the caller promises a place for this attribute.
            let data = unsafe { Out::at(place) };
            data.check()?;
            let value = match &found {
                Some(found) if attribute != ids::HOST_POINTER => of_known(attribute, address, found)?,
                Some(found) => of_known(attribute, address, found).unwrap_or(Value::Bits64(0)),
                None => of_unknown(attribute)?,
            };
            // SAFETY: the caller promises a place for this attribute.
            unsafe { value.put(data) }?;
        }
        Ok(())
    }

    fn cuPointerSetAttribute 6000(value: In<c_uint>, attribute: c_uint, address: u64) {
        initialised()?;
        value.get()?;
        // Copies are synchronous enough.
        refuse_if(attribute != ids::SYNC_MEMOPS || allocations::find(address).is_none(), ERROR_INVALID_VALUE)?;
        Ok(())
    }
}

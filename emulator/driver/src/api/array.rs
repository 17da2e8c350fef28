//! Arrays: one to three dimensions of texels, kept row by row.

use std::ffi::c_uint;
use std::sync::{Arc, PoisonError, RwLock};

use simt::texture::TexelFormat;

use crate::contexts::usable;
use crate::ffi::{In, Out, export};
use crate::handle::{ObjectKind, Table};
use crate::result::*;
use crate::types::{Array3DDescriptor, ArrayDescriptor, Handle};
use crate::{allocations::Taken, api::ready_for};

#[derive(Debug)]
pub(crate) struct Array {
    context_id: u64,
    pub(crate) descriptor: Array3DDescriptor,
    texel: usize,
    pub(crate) handle: Handle,
    /// Shared with textures of running launches: written through a copy while one holds it.
    data: RwLock<Arc<Vec<u8>>>,
    _taken: Taken,
}

pub(crate) static ARRAYS: Table<Array> = Table::new(ObjectKind::Array);

/// Returns the texel format of a `CUarray_format`; `None` for an unsupported one.
pub(crate) fn texel_format(format: c_uint) -> Option<TexelFormat> {
    Some(match format {
        0x01 => TexelFormat::U8,
        0x02 => TexelFormat::U16,
        0x03 => TexelFormat::U32,
        0x08 => TexelFormat::S8,
        0x09 => TexelFormat::S16,
        0x0a => TexelFormat::S32,
        0x10 => TexelFormat::F16,
        0x20 => TexelFormat::F32,
        _ => return None,
    })
}

pub(crate) fn format_bytes(format: c_uint) -> Option<usize> {
    texel_format(format).map(TexelFormat::bytes)
}

impl Array {
    pub(crate) fn row_bytes(&self) -> u64 {
        (self.descriptor.width * self.texel) as u64
    }

    pub(crate) fn slice_bytes(&self) -> u64 {
        self.row_bytes() * self.descriptor.height.max(1) as u64
    }

    fn bytes(&self) -> u64 {
        self.slice_bytes() * self.descriptor.depth.max(1) as u64
    }

    pub(crate) fn check(&self, offset: u64, n: usize) -> Outcome {
        let end = offset.checked_add(n as u64);
        if end.is_some_and(|end| end <= self.bytes()) { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
    }

    pub(crate) fn snapshot(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.data.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) -> Outcome {
        self.check(offset, to.len())?;
        let data = self.snapshot();
        to.copy_from_slice(&data[offset as usize..offset as usize + to.len()]);
        Ok(())
    }

    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> Outcome {
        self.check(offset, from.len())?;
        let mut data = self.data.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut data)[offset as usize..offset as usize + from.len()].copy_from_slice(from);
        Ok(())
    }
}

pub(crate) fn forget_context(id: u64) {
    ARRAYS.remove_where(|a| a.context_id == id);
}

fn create(out: Out<Handle>, descriptor: Array3DDescriptor) -> Outcome {
    ready_for(out)?;
    let context = usable()?;
    let channel = format_bytes(descriptor.format).ok_or(ERROR_INVALID_VALUE)?;
    refuse_if(descriptor.width == 0 || ![1, 2, 4].contains(&descriptor.channels), ERROR_INVALID_VALUE)?;
    // Layers and cubes are arrays of images, which are not supported.
    refuse_if(descriptor.flags & !0x02 != 0, ERROR_NOT_SUPPORTED)?;
    let texel = channel * descriptor.channels as usize;
    let (width, height, depth) = (descriptor.width, descriptor.height.max(1), descriptor.depth.max(1));
    refuse_if(width > 131_072 || height > 65536 || depth > 16384, ERROR_INVALID_VALUE)?;
    let bytes = width * height * depth * texel;
    let taken = Taken::new(bytes as u64)?;
    let mut data = Vec::new();
    data.try_reserve_exact(bytes).map_err(|_| ERROR_OUT_OF_MEMORY)?;
    data.resize(bytes, 0);
    let make = |handle| Array {
        handle,
        context_id: context.id,
        descriptor,
        texel,
        data: RwLock::new(Arc::new(data)),
        _taken: taken,
    };
    out.put(ARRAYS.insert_with(make).0)
}

export! {
    fn cuArrayCreate_v2 3020(out: Out<Handle>, descriptor: In<ArrayDescriptor>) {
        let d = descriptor.get()?;
        create(out, Array3DDescriptor {
            width: d.width,
            height: d.height,
            depth: 0,
            format: d.format,
            channels: d.channels,
            flags: 0,
        })
    }

    fn cuArray3DCreate_v2 3020(out: Out<Handle>, descriptor: In<Array3DDescriptor>) = create(out, descriptor.get()?);

    fn cuArrayGetDescriptor_v2 3020(out: Out<ArrayDescriptor>, handle: Handle) {
        out.check()?;
        let d = ARRAYS.find(handle)?.descriptor;
        out.put(ArrayDescriptor { width: d.width, height: d.height, format: d.format, channels: d.channels })
    }

    fn cuArray3DGetDescriptor_v2 3020(out: Out<Array3DDescriptor>, handle: Handle) =
        out.put_with(|| Ok(ARRAYS.find(handle)?.descriptor));

    // A texture object that still refers to the array keeps its texels.
    fn cuArrayDestroy 2000(handle: Handle) = ARRAYS.destroy(handle).map(drop);
}

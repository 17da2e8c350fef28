//! Filling memory with 8-, 16- or 32-bit values, in lines and in rectangles.

use std::ffi::{c_uchar, c_uint, c_ushort};
use std::sync::Arc;

use crate::api::copy_ends::device_range;
use crate::contexts::{Context, MEMORY};
use crate::result::*;
use crate::types::{Handle, MemsetNodeParams};
use crate::{cuda_constants::node, ffi::export, graphs::Work};
use crate::{staging, streams::usable_stream};

/// Fills `height` rows of `width` values, `pitch` bytes apart.
pub(crate) struct Fill {
    pub(crate) params: MemsetNodeParams,
}

impl Fill {
    pub(crate) fn new(params: MemsetNodeParams) -> Outcome<Self> {
        let MemsetNodeParams { to, pitch, element, width, height, .. } = params;
        refuse_if(![1, 2, 4].contains(&element), ERROR_INVALID_VALUE)?;
        let element = element as usize;
        let row = width.checked_mul(element).ok_or(ERROR_INVALID_VALUE)?;
        if !to.is_multiple_of(element as u64) || (height > 1 && (pitch < row || !pitch.is_multiple_of(element))) {
            return Err(ERROR_INVALID_VALUE);
        }
        if row > 0 && height > 0 {
            let last = (height as u64 - 1).checked_mul(pitch as u64).and_then(|o| to.checked_add(o));
            device_range(to, row)?;
            device_range(last.ok_or(ERROR_INVALID_VALUE)?, row)?;
        }
        Ok(Self { params })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.params.width == 0 || self.params.height == 0
    }

    fn now(&self) -> Outcome {
        let MemsetNodeParams { to, pitch, value, element, width, height } = self.params;
        let bytes = value.to_le_bytes();
        staging::settle_before_overwrite(to, pitch * height + width * element as usize);
        (0..height as u64).try_for_each(|y| {
            let filled = MEMORY.fill(to + y * pitch as u64, &bytes[..element as usize], width as u64);
            filled.map_err(|_| ERROR_INVALID_VALUE)
        })
    }
}

impl Work for Fill {
    fn kind(&self) -> u32 {
        node::MEMSET
    }

    fn run(&self, _context: &Context) -> Outcome {
        self.now()
    }
}

fn rows(to: u64, pitch: usize, value: c_uint, element: usize, width: usize, height: usize) -> MemsetNodeParams {
    MemsetNodeParams { to, pitch, value, element: element as c_uint, width, height }
}

fn fill_async(params: MemsetNodeParams, stream_handle: Handle) -> Outcome {
    let stream = usable_stream(stream_handle)?;
    let fill = Fill::new(params)?;
    if fill.is_empty() { Ok(()) } else { stream.enqueue(Arc::new(fill)).map(|_| ()) }
}

/// Fills memory, and returns when that is done.
fn fill(params: MemsetNodeParams) -> Outcome {
    let stream = usable_stream(0)?;
    let fill = Fill::new(params)?;
    if fill.is_empty() { Ok(()) } else { stream.submit_sync(move || fill.now()) }
}

/// Defines the fills with one type of value: of a line and of a rectangle, each at once and in the order of a stream.
macro_rules! fills {
    ($($ty:ty:
        $line:ident / $line_ptds:ident, $rows:ident / $rows_ptds:ident,
        $line_async:ident / $line_ptsz:ident, $rows_async:ident / $rows_ptsz:ident;)*) => {
        export! {$(
            fn $line 3020 / $line_ptds (to: u64, value: $ty, n: usize) {
                fill(rows(to, 0, value.into(), size_of::<$ty>(), n, 1))
            }

            fn $rows 3020 / $rows_ptds (to: u64, pitch: usize, value: $ty, width: usize, height: usize) {
                fill(rows(to, pitch, value.into(), size_of::<$ty>(), width, height))
            }

            fn $line_async 3020 / $line_ptsz (to: u64, value: $ty, n: usize, stream: Handle) {
                fill_async(rows(to, 0, value.into(), size_of::<$ty>(), n, 1), stream)
            }

            fn $rows_async 3020 / $rows_ptsz (
                to: u64, pitch: usize, value: $ty, width: usize, height: usize, stream: Handle,
            ) {
                fill_async(rows(to, pitch, value.into(), size_of::<$ty>(), width, height), stream)
            }
        )*}
    };
}

fills! {
    c_uchar: cuMemsetD8_v2 / cuMemsetD8_v2_ptds, cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds,
        cuMemsetD8Async / cuMemsetD8Async_ptsz, cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz;
    c_ushort: cuMemsetD16_v2 / cuMemsetD16_v2_ptds, cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds,
        cuMemsetD16Async / cuMemsetD16Async_ptsz, cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz;
    c_uint: cuMemsetD32_v2 / cuMemsetD32_v2_ptds, cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds,
        cuMemsetD32Async / cuMemsetD32Async_ptsz, cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz;
}

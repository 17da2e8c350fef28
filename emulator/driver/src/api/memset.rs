//! Filling memory with 8-, 16- or 32-bit values, in lines and in rectangles.

use std::ffi::{c_uchar, c_uint, c_ushort};

use crate::api::copy_ends::device_range;
use crate::contexts::MEMORY;
use crate::ffi::export;
use crate::queue::JobThread;
use crate::result::*;
use crate::streams::stream_of;
use crate::types::Handle;

/// Fills `height` rows of `width` values, `pitch` bytes apart.
fn fill(
    to: u64,
    pitch: usize,
    value: &[u8],
    width: usize,
    height: usize,
    stream_handle: Handle,
    wait: bool,
) -> Outcome {
    let stream = stream_of(stream_handle)?;
    stream.context.check()?;
    let row = width.checked_mul(value.len()).ok_or(ERROR_INVALID_VALUE)?;
    if !to.is_multiple_of(value.len() as u64) || (height > 1 && (pitch < row || !pitch.is_multiple_of(value.len()))) {
        return Err(ERROR_INVALID_VALUE);
    }
    if row == 0 || height == 0 {
        return Ok(());
    }
    let last = (height as u64 - 1).checked_mul(pitch as u64).and_then(|o| to.checked_add(o));
    device_range(to, row)?;
    device_range(last.ok_or(ERROR_INVALID_VALUE)?, row)?;
    let value = value.to_vec();
    let job = move || {
        (0..height as u64).try_for_each(|y| {
            let filled = MEMORY.fill(to + y * pitch as u64, &value, width as u64);
            filled.map_err(|_| ERROR_INVALID_VALUE)
        })
    };
    if wait { stream.submit_sync(job) } else { stream.submit_async(JobThread::Caller, job) }
}

/// Defines the fills with one type of value: of a line and of a rectangle, each at once and in the order of a stream.
macro_rules! fills {
    ($($ty:ty:
        $line:ident / $line_ptds:ident, $rows:ident / $rows_ptds:ident,
        $line_async:ident / $line_ptsz:ident, $rows_async:ident / $rows_ptsz:ident;)*) => {
        export! {$(
            fn $line 3020 / $line_ptds (to: u64, value: $ty, n: usize) {
                fill(to, 0, &value.to_le_bytes(), n, 1, 0, true)
            }

            fn $rows 3020 / $rows_ptds (to: u64, pitch: usize, value: $ty, width: usize, height: usize) {
                fill(to, pitch, &value.to_le_bytes(), width, height, 0, true)
            }

            fn $line_async 3020 / $line_ptsz (to: u64, value: $ty, n: usize, stream: Handle) {
                fill(to, 0, &value.to_le_bytes(), n, 1, stream, false)
            }

            fn $rows_async 3020 / $rows_ptsz (
                to: u64, pitch: usize, value: $ty, width: usize, height: usize, stream: Handle,
            ) {
                fill(to, pitch, &value.to_le_bytes(), width, height, stream, false)
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

//! Two- and three-dimensional copies: rows of bytes from one layout to another.

use std::sync::Arc;

use crate::api::copy_ends::{CopyEnd, device_range, transfer};
use crate::api::{array::ARRAYS, copy::check_ends};
use crate::ffi::{Host, In, export};
use crate::result::*;
use crate::types::{CopySide, Handle, Memcpy2D, Memcpy3D};
use crate::{contexts::Context, cuda_constants::node};
use crate::{graphs::Work, host_mistakes};
use crate::{settings, streams::usable_stream};

/// An end of a two- or three-dimensional copy.
struct Layout {
    start: CopyEnd,
    pitch: u64,
    slice: u64,
}

/// Rows of bytes from one layout to another.
pub(crate) struct Rows {
    to: Layout,
    from: Layout,
    width: usize,
    height: usize,
    depth: usize,
    pub(crate) params: Memcpy3D,
    /// Setting of the calling thread, which need not be the one that copies.
    diagnosis: bool,
}

impl CopySide {
    fn layout(self, width: usize, n_rows: usize, n_slices: usize) -> Outcome<Layout> {
        let (base, pitch, slice) = match self.kind {
            3 => {
                let array = ARRAYS.find(self.array)?;
                let (pitch, slice) = (array.row_bytes(), array.slice_bytes());
                (CopyEnd::Array(array, 0), pitch, slice)
            }
            1 | 2 | 4 => {
                let base = match self.kind {
                    1 => CopyEnd::host(Host::new(self.host)),
                    2 => CopyEnd::Device(self.device),
                    _ => CopyEnd::unified(self.device),
                };
                let pitch = if self.pitch == 0 { width } else { self.pitch };
                // A pitch that is narrower than a row makes rows overlap; a single row needs none.
                refuse_if(
                    n_rows.saturating_mul(n_slices) > 1 && pitch < self.x.saturating_add(width),
                    ERROR_INVALID_VALUE,
                )?;
                let rows = if self.height == 0 { n_rows } else { self.height };
                // Slices must not overlap either.
                refuse_if(
                    n_slices > 1 && rows < self.y.saturating_add(n_rows) && self.height != 0,
                    ERROR_INVALID_VALUE,
                )?;
                let slice = (pitch as u64).checked_mul(rows as u64).ok_or(ERROR_INVALID_VALUE)?;
                (base, pitch as u64, slice)
            }
            _ => return Err(ERROR_INVALID_VALUE),
        };
        let start = base.add(self.x as u64)?;
        let whole = Layout { start, pitch, slice };
        let start = whole.row(self.y, self.z)?;
        Ok(Layout { start, ..whole })
    }
}

impl Layout {
    fn row(&self, y: usize, z: usize) -> Outcome<CopyEnd> {
        let rows = self.pitch.checked_mul(y as u64).ok_or(ERROR_INVALID_VALUE)?;
        let slices = self.slice.checked_mul(z as u64).ok_or(ERROR_INVALID_VALUE)?;
        self.start.add(rows)?.add(slices)
    }
}

impl Rows {
    pub(crate) fn from_2d(c: Memcpy2D) -> Outcome<Self> {
        Self::new(Memcpy3D { dst: c.dst.into(), src: c.src.into(), width: c.width, height: c.height, depth: 1 })
    }

    pub(crate) fn new(params: Memcpy3D) -> Outcome<Self> {
        let Memcpy3D { dst, src, width, height, depth } = params;
        refuse_if(src.lod != 0 || dst.lod != 0, ERROR_INVALID_VALUE)?;
        let rows = Self {
            to: dst.layout(width, height, depth)?,
            from: src.layout(width, height, depth)?,
            width,
            height,
            depth,
            params,
            diagnosis: settings::current().diagnosis,
        };
        Ok(rows)
    }

    /// Checks the rows at the corners; those between lie between, where all are in one allocation.
    pub(crate) fn check(&self) -> Outcome {
        if self.is_empty() {
            return Ok(());
        }
        let (y, z) = (self.height - 1, self.depth - 1);
        for (y, z) in [(0, 0), (y, 0), (y, z)] {
            check_ends(&self.to.row(y, z)?, &self.from.row(y, z)?, self.width, "a copy of rows")?;
        }
        for end in [&self.to, &self.from] {
            if let (CopyEnd::Device(first), CopyEnd::Device(last)) = (&end.start, end.row(y, z)?) {
                let before = usize::try_from(last - first).map_err(|_| ERROR_INVALID_VALUE)?;
                let whole = before.checked_add(self.width).ok_or(ERROR_INVALID_VALUE)?;
                device_range(*first, whole)?;
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    fn copy(&self) -> Outcome {
        for (y, z) in self.indices() {
            let (to, from) = (self.to.row(y, z)?, self.from.row(y, z)?);
            // SAFETY: the caller of a copy promises all rows of the host memory, until the copy is done.
            unsafe { transfer(&to, &from, self.width) }?;
        }
        if let CopyEnd::Host(_) = self.to.start
            && !self.is_empty()
        {
            let device = |(y, z)| match self.from.row(y, z) {
                Ok(CopyEnd::Device(address)) => Some((address, self.width)),
                _ => None,
            };
            host_mistakes::copied_back(self.indices().filter_map(device), self.diagnosis);
        }
        Ok(())
    }

    fn indices(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let height = self.height;
        (0..self.depth).flat_map(move |z| (0..height).map(move |y| (y, z)))
    }

    pub(crate) fn run(self, handle: Handle, wait: bool) -> Outcome {
        let stream = usable_stream(handle)?;
        self.check()?;
        if self.is_empty() {
            return Ok(());
        }
        let pageable = self.to.start.is_pageable(self.width) || self.from.start.is_pageable(self.width);
        if wait || pageable && stream.capture.position().is_none() {
            stream.submit_sync(move || self.copy())
        } else {
            stream.enqueue(Arc::new(self)).map(|_| ())
        }
    }
}

impl Work for Rows {
    fn kind(&self) -> u32 {
        node::MEMCPY
    }

    fn run(&self, _context: &Context) -> Outcome {
        self.copy()
    }
}

export! {
    fn cuMemcpy2D_v2 3020 / cuMemcpy2D_v2_ptds | cuMemcpy2DUnaligned_v2 3020 / cuMemcpy2DUnaligned_v2_ptds (copy: In<Memcpy2D>) =
        Rows::from_2d(copy.get()?)?.run(0, true);
    fn cuMemcpy2DAsync_v2 3020 / cuMemcpy2DAsync_v2_ptsz (copy: In<Memcpy2D>, stream: Handle) =
        Rows::from_2d(copy.get()?)?.run(stream, false);
    fn cuMemcpy3D_v2 3020 / cuMemcpy3D_v2_ptds | cuMemcpy3DPeer 4000 / cuMemcpy3DPeer_ptds (copy: In<Memcpy3D>) =
        Rows::new(copy.get()?)?.run(0, true);
    fn cuMemcpy3DAsync_v2 3020 / cuMemcpy3DAsync_v2_ptsz | cuMemcpy3DPeerAsync 4000 / cuMemcpy3DPeerAsync_ptsz (
        copy: In<Memcpy3D>, stream: Handle,
    ) =
        Rows::new(copy.get()?)?.run(stream, false);

}

//! The bytes of an allocation.
//!
//! Kernels may race: two blocks that run on two threads may store to one address, and host threads may copy at
//! the same time. A Rust reference to such bytes would be wrong, so there is none: accesses go through raw pointers, by
//! relaxed atomics ([`super::relaxed`] has the exceptions).

#[cfg(test)]
mod tests;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{bits::each_word, relaxed};

/// Host memory starts at a multiple of this, so that vectors in it are aligned as on a device.
const ALIGN: usize = 256;

/// Repetitions of a pattern that are copied at a time.
const PIECE: usize = 1024;

/// Zeroed bytes (the operating system commits pages when they are first touched), or bytes lent by the host.
#[derive(Debug)]
pub(crate) struct Bytes {
    start: *mut u8,
    len: usize,
    /// Host allocation to free, when it is ours.
    owned: Option<(*mut u8, Layout)>,
    /// Written bytes, as bits. Empty where writes are not tracked.
    written: Box<[AtomicU64]>,
    /// Every byte was written.
    all_written: AtomicBool,
    /// The host copied or filled some of it.
    host_wrote: AtomicBool,
    /// The launch that runs has changed what counts as written.
    launch_wrote: AtomicBool,
    /// An earlier launch has.
    kernels_wrote: AtomicBool,
    /// Every byte counts as written except for those in `unmarked`; `written` is ignored.
    base_written: AtomicBool,
    /// Bytes that hold a copy of unwritten ones, as bits. Made when first needed.
    unmarked: OnceLock<Box<[AtomicU64]>>,
}

// SAFETY: no reference to the bytes is ever made; racing accesses are atomic, but for those in `relaxed`'s module text.
unsafe impl Send for Bytes {}
// SAFETY: no reference to the bytes is ever made; racing accesses are atomic, but for those in `relaxed`'s module text.
unsafe impl Sync for Bytes {}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Some((block, layout)) = self.owned {
            // SAFETY: `block` came from `alloc_zeroed` with this layout and is given back once.
            unsafe { dealloc(block, layout) }
        }
    }
}

/// Allocates zeroed words that cost nothing until they are touched.
fn lazy_words(n: usize) -> Option<Box<[AtomicU64]>> {
    if n == 0 {
        return Some(Box::default());
    }
    let layout = Layout::array::<AtomicU64>(n).ok()?;
    // SAFETY: the layout is not empty; zeroed bytes are valid `AtomicU64`s; the box frees with the same layout.
    unsafe {
        let block = alloc_zeroed(layout).cast::<AtomicU64>();
        if block.is_null() {
            return None;
        }
        Some(Box::from_raw(std::ptr::slice_from_raw_parts_mut(block, n)))
    }
}

impl Bytes {
    /// Allocates zeroed memory; `None` when the host has no more.
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        // An alignment above the allocator's own would make it clear the pages by hand, and so commit them.
        let layout = Layout::from_size_align(len.checked_add(2 * ALIGN)?, 16).ok()?;
        // SAFETY: the size is not zero.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return None;
        }
        let owned = Some((block, layout));
        let skip = block.align_offset(ALIGN).min(ALIGN);
        // SAFETY: `skip` is at most `ALIGN`, and there are `len + 2 * ALIGN` bytes.
        let start = unsafe { block.add(skip) };
        let mut bytes = Self {
            start,
            len,
            owned,
            written: Box::default(),
            all_written: AtomicBool::new(len == 0),
            host_wrote: AtomicBool::new(false),
            launch_wrote: AtomicBool::new(false),
            kernels_wrote: AtomicBool::new(false),
            base_written: AtomicBool::new(false),
            unmarked: OnceLock::new(),
        };
        bytes.written = lazy_words(len.div_ceil(64))?;
        Some(bytes)
    }

    /// Returns memory that belongs to the host and counts as written.
    ///
    /// # Safety
    /// `start .. start + len` must stay valid for reads and writes until the value is dropped.
    pub(crate) unsafe fn lent(start: *mut u8, len: usize) -> Self {
        Self {
            start,
            len,
            owned: None,
            written: Box::default(),
            all_written: AtomicBool::new(true),
            host_wrote: AtomicBool::new(true),
            launch_wrote: AtomicBool::new(false),
            kernels_wrote: AtomicBool::new(false),
            base_written: AtomicBool::new(true),
            unmarked: OnceLock::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns a pointer to the first byte. Callers must not access past `len`.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    fn contains(&self, offset: usize, n: usize) -> bool {
        offset.checked_add(n).is_some_and(|end| end <= self.len)
    }

    /// Copies out. Returns false, and copies nothing, if the range is out of bounds.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8]) -> bool {
        // SAFETY: the slice is writable.
        unsafe { self.read_to(offset, to.as_mut_ptr(), to.len()) }
    }

    /// Copies in. Returns false, and copies nothing, if the range is out of bounds.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> bool {
        // SAFETY: the slice is readable.
        unsafe { self.write_from(offset, from.as_ptr(), from.len()) }
    }

    /// Copies out, as [`Self::read`] does, to where others may access bytes meanwhile.
    ///
    /// # Safety
    /// `to` is writable for `n` bytes.
    pub(crate) unsafe fn read_to(&self, offset: usize, to: *mut u8, n: usize) -> bool {
        let contains = self.contains(offset, n);
        if contains {
            // SAFETY: in range, and writable as this function requires.
            unsafe { relaxed::copy(self.start.add(offset), to, n) }
        }
        contains
    }

    /// Copies in, as [`Self::write`] does, from where others may access bytes meanwhile.
    ///
    /// # Safety
    /// `from` is readable for `n` bytes.
    pub(crate) unsafe fn write_from(&self, offset: usize, from: *const u8, n: usize) -> bool {
        let contains = self.contains(offset, n);
        if contains {
            // SAFETY: in range, and readable as this function requires.
            unsafe { relaxed::copy(from, self.start.add(offset), n) }
            self.mark(offset, n);
            self.note_host_write();
        }
        contains
    }

    /// Copies between two allocations, or inside one, marks included. Returns false if a range is out of bounds.
    pub(crate) fn copy_from(&self, offset: usize, source: &Self, source_offset: usize, n: usize) -> bool {
        if !self.contains(offset, n) || !source.contains(source_offset, n) {
            return false;
        }
        // SAFETY: both in range.
        unsafe { relaxed::copy(source.start.add(source_offset), self.start.add(offset), n) }
        // Unwritten bytes stay unwritten where they are copied to.
        let mut copied = 0;
        for (from, to) in source.ranges_written(source_offset, source_offset + n, usize::MAX) {
            let (from, to) = (from as usize - source_offset, to as usize - source_offset);
            self.unmark(offset + copied, from - copied);
            self.mark(offset + from, to - from);
            copied = to;
        }
        self.unmark(offset + copied, n - copied);
        self.note_host_write();
        true
    }

    /// Repeats a pattern of 1, 2 or 4 bytes. Returns false if the range is out of bounds.
    pub(crate) fn fill(&self, offset: usize, pattern: &[u8], count: usize) -> bool {
        let Some(n) = pattern.len().checked_mul(count) else { return false };
        if !self.contains(offset, n) {
            return false;
        }
        let piece = pattern.repeat(count.min(PIECE));
        for at in (0..n).step_by(piece.len().max(1)) {
            let piece = &piece[..piece.len().min(n - at)];
            // SAFETY: in range.
            unsafe { relaxed::copy_in(self.start.add(offset + at), piece) }
        }
        self.mark(offset, n);
        self.note_host_write();
        true
    }

    fn note_host_write(&self) {
        self.host_wrote.store(true, Ordering::Relaxed);
    }

    pub(crate) fn host_wrote(&self) -> bool {
        self.host_wrote.load(Ordering::Relaxed)
    }

    /// Begins a launch: what kernels have written so far, earlier ones have.
    pub(crate) fn begin_launch(&self) {
        if self.launch_wrote.load(Ordering::Relaxed) {
            self.launch_wrote.store(false, Ordering::Relaxed);
            self.kernels_wrote.store(true, Ordering::Relaxed);
        }
    }

    fn note_kernel_write(&self) {
        if !self.launch_wrote.load(Ordering::Relaxed) {
            self.launch_wrote.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the ranges that were written before the launch that ends here, at most `limit` of them; `None` means the
    /// launch has changed them, or may have on other threads of its own. Does not depend on their number.
    pub(crate) fn written_before(&self, stopped: bool, limit: usize) -> Option<Vec<(u64, u64)>> {
        if !self.host_wrote() && !self.kernels_wrote.load(Ordering::Relaxed) {
            return Some(Vec::new());
        }
        let kept = !stopped && !self.launch_wrote.load(Ordering::Relaxed);
        kept.then(|| self.ranges_written(0, self.len, limit))
    }

    /// Returns whether a byte of a range holds a copy of an unwritten one.
    pub(crate) fn holds_unmarked(&self, offset: usize, n: usize) -> bool {
        let mut any = false;
        if !self.trusted() && self.unmarked.get().is_some() {
            each_word(offset, n, |word, bits| any |= self.unmarked_word(word) & bits != 0);
        }
        any
    }

    /// Counts everything as written from now on.
    pub(crate) fn trust(&self) {
        if !self.trusted() {
            if let Some(unmarked) = self.unmarked.get() {
                for word in unmarked.iter().filter(|word| word.load(Ordering::Relaxed) != 0) {
                    word.store(0, Ordering::Relaxed);
                }
            }
            self.all_written.store(true, Ordering::Release);
        }
    }

    /// Returns whether everything counts as written.
    #[inline]
    pub(crate) fn trusted(&self) -> bool {
        self.all_written.load(Ordering::Acquire)
    }

    /// Returns the written ranges of the bytes `from .. to`, at most `limit` of them.
    pub(crate) fn ranges_written(&self, from: usize, to: usize, limit: usize) -> Vec<(u64, u64)> {
        if self.trusted() {
            return vec![(from as u64, to as u64)];
        }
        super::bits::ranges(from, to, limit, |i| self.written_word(i))
    }

    /// Returns which of 64 bytes something has written, one bit each.
    #[inline]
    fn written_word(&self, i: usize) -> u64 {
        let written = if self.base_written.load(Ordering::Relaxed) {
            u64::MAX
        } else {
            self.written.get(i).map_or(0, |w| w.load(Ordering::Relaxed))
        };
        written & !self.unmarked_word(i)
    }

    #[inline]
    fn unmarked_word(&self, i: usize) -> u64 {
        let unmarked = self.unmarked.get().and_then(|unmarked| unmarked.get(i));
        unmarked.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Returns the mask of up to 32 written bytes.
    pub(crate) fn written_mask(&self, offset: usize, n: usize) -> u32 {
        if self.trusted() {
            return u32::MAX;
        }
        super::bits::mask(offset, n, |i| self.written_word(i))
    }

    /// Returns whether an unwritten byte holds a copy of another unwritten one.
    pub(crate) fn was_unmarked(&self, offset: usize) -> bool {
        !self.trusted() && self.unmarked_word(offset / 64) >> (offset % 64) & 1 == 1
    }

    /// Notes that a range holds a copy of unwritten bytes; not in the host's memory, to which the host may write.
    pub(crate) fn unmark(&self, offset: usize, n: usize) {
        if n == 0 || self.owned.is_none() {
            return;
        }
        let whole = self.trusted();
        if !whole && !self.written_any(offset, n) {
            return;
        }
        self.note_kernel_write();
        let made = || lazy_words(self.len.div_ceil(64)).unwrap_or_default();
        let unmarked = self.unmarked.get_or_init(made);
        each_word(offset, n, |word, bits| {
            if let Some(cell) = unmarked.get(word) {
                cell.fetch_or(bits, Ordering::Relaxed);
            }
        });
        if whole {
            // A thread that sees `all_written` cleared must also see `base_written` set, hence the release.
            self.base_written.store(true, Ordering::Relaxed);
            self.all_written.store(false, Ordering::Release);
        }
    }

    fn written_any(&self, offset: usize, n: usize) -> bool {
        let mut any = false;
        each_word(offset, n, |word, bits| any |= self.written_word(word) & bits != 0);
        any
    }

    /// Notes that a range was written.
    #[inline]
    pub(crate) fn mark(&self, offset: usize, n: usize) {
        if n == 0 || self.trusted() {
            return;
        }
        if offset == 0 && n >= self.len {
            self.note_kernel_write();
            self.trust();
            return;
        }
        each_word(offset, n, |word, bits| {
            if let Some(cell) = self.written.get(word)
                && cell.load(Ordering::Relaxed) & bits != bits
            {
                cell.fetch_or(bits, Ordering::Relaxed);
                self.note_kernel_write();
            }
        });
        if let Some(unmarked) = self.unmarked.get() {
            each_word(offset, n, |word, bits| {
                if let Some(cell) = unmarked.get(word)
                    && cell.load(Ordering::Relaxed) & bits != 0
                {
                    cell.fetch_and(!bits, Ordering::Relaxed);
                    self.note_kernel_write();
                }
            });
        }
    }

    #[inline]
    pub(crate) fn is_written(&self, offset: usize, n: usize) -> bool {
        if self.trusted() {
            return true;
        }
        let mut all = true;
        each_word(offset, n, |word, bits| {
            all &= self.written_word(word) & bits == bits;
        });
        all
    }
}

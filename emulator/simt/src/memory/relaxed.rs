//! Accesses to memory that several host threads share, by relaxed atomics of the widest natural size.
//!
//! A kernel's accesses may race with those of other blocks, of other launches and of the host, which a plain access in
//! Rust must not. Everything goes through here except for two kinds of access:
//!
//! - the whole-warp loads and stores of `exec::memory::load_store` for weak accesses of 4-byte elements. They are
//!   vector instructions, which atomics would cut into 32 scalar ones. A weak access that races is undefined in PTX,
//!   too. On the CPUs for which we compile, such an access reads some mixture of old and new bytes;
//! - the shared and local memory of a block, which only its worker reaches, and the parameters, which are not written.
//!
//! Two racing accesses of different sizes are outside of Rust's memory model even if both are atomic. They exist where
//! a program makes them (a word also stored by halves, a copy during a kernel); on x86-64 and AArch64 each byte is old
//! or new.
//!
//! With a nightly compiler, Miri and ThreadSanitizer look for data races in the tests of this folder and in
//! `tests/sharing.rs`. The sanitizer must be built into the standard library, too, or it misses joins:
//!
//! ```text
//! cargo +nightly miri test -p simt --lib memory::
//! RUSTFLAGS=-Zsanitizer=thread cargo +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu \
//!     -p simt --test sharing
//! ```

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Reads an element of 1, 2, 4 or 8 bytes, zero-extended.
///
/// # Safety
/// `from` is readable for `bytes` bytes and aligned to them.
#[inline(always)]
pub(crate) unsafe fn load(from: *const u8, bytes: u8) -> u64 {
    let from = from.cast_mut();
    // SAFETY: `from` is readable for `bytes` bytes and aligned to them; concurrent accesses are atomic, too.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(from).load(Relaxed).into(),
            2 => AtomicU16::from_ptr(from.cast()).load(Relaxed).into(),
            4 => AtomicU32::from_ptr(from.cast()).load(Relaxed).into(),
            _ => AtomicU64::from_ptr(from.cast()).load(Relaxed),
        }
    }
}

/// Writes the low bits of `value` to an element of 1, 2, 4 or 8 bytes.
///
/// # Safety
/// `to` is writable for `bytes` bytes and aligned to them.
#[inline(always)]
pub(crate) unsafe fn store(to: *mut u8, bytes: u8, value: u64) {
    // SAFETY: `to` is writable for `bytes` bytes and aligned to them; concurrent accesses are atomic, too.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(to).store(value as u8, Relaxed),
            2 => AtomicU16::from_ptr(to.cast()).store(value as u16, Relaxed),
            4 => AtomicU32::from_ptr(to.cast()).store(value as u32, Relaxed),
            _ => AtomicU64::from_ptr(to.cast()).store(value, Relaxed),
        }
    }
}

/// Splits `n` bytes at an address into natural elements: calls `f` with the offset and size of each.
#[inline(always)]
fn each_element(start: *const u8, n: usize, mut f: impl FnMut(usize, u8)) {
    let mut at = 0;
    while at < n {
        if (start as usize + at).is_multiple_of(8) {
            // Four at a time: nothing unrolls a loop of atomics.
            while n - at >= 32 {
                (0..4).for_each(|i| f(at + 8 * i, 8));
                at += 32;
            }
            if at == n {
                break;
            }
        }
        let fits = (start as usize + at).trailing_zeros().min((n - at).ilog2()).min(3);
        f(at, 1 << fits);
        at += 1 << fits;
    }
}

/// Copies out of shared memory.
///
/// # Safety
/// `from` is readable for as many bytes as `to` has. `to` is the caller's own.
#[inline]
pub(crate) unsafe fn copy_out(from: *const u8, to: &mut [u8]) {
    let start = to.as_mut_ptr();
    each_element(from, to.len(), |at, bytes| {
        // SAFETY: `each_element` yields aligned elements inside `to.len()` bytes, which are readable at `from`.
        unsafe {
            let value = load(from.add(at), bytes).to_le_bytes();
            std::ptr::copy_nonoverlapping(value.as_ptr(), start.add(at), bytes.into());
        }
    });
}

/// Copies into shared memory.
///
/// # Safety
/// `to` is writable for as many bytes as `from` has.
#[inline]
pub(crate) unsafe fn copy_in(to: *mut u8, from: &[u8]) {
    let start = from.as_ptr();
    each_element(to, from.len(), |at, bytes| {
        let mut value = [0; 8];
        // SAFETY: `each_element` yields aligned elements inside `from.len()` bytes, which are writable at `to`.
        unsafe {
            std::ptr::copy_nonoverlapping(start.add(at), value.as_mut_ptr(), bytes.into());
            store(to.add(at), bytes, u64::from_le_bytes(value));
        }
    });
}

/// Copies inside shared memory; the ranges may overlap.
///
/// # Safety
/// `from` is readable and `to` is writable for `n` bytes.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    let distance = (to as usize).wrapping_sub(from as usize);
    // Aligned alike, and no element overwrites what a later one reads.
    if distance.is_multiple_of(8) && distance >= n {
        return each_element(from, n, |at, bytes| {
            // SAFETY: elements inside the `n` bytes, aligned at both ends.
            unsafe { store(to.add(at), bytes, load(from.add(at), bytes)) }
        });
    }
    let mut buffer = [0; 4096];
    let mut piece = |at: usize| {
        let piece = &mut buffer[..(n - at).min(4096)];
        // SAFETY: the piece lies inside the `n` bytes, which are readable at `from` and writable at `to`.
        unsafe {
            copy_out(from.add(at), piece);
            copy_in(to.add(at), piece);
        }
    };
    // No piece may overwrite what a later one reads.
    let starts = (0..n).step_by(4096);
    if from.cast_mut() < to { starts.rev().for_each(&mut piece) } else { starts.for_each(&mut piece) }
}

//! The Rust types of the lanes of a register or predicate.

use crate::lanes::{Class, Dst, Lanes, Src};

/// [`CpuLevel`](crate::lanes::CpuLevel)s as const generic arguments.
pub(super) const BASE: u8 = 0;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX2: u8 = 2;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX512: u8 = 5;

/// A type that a driver reads and writes the lanes of an operand as.
pub(super) trait Lane: Copy + 'static {
    const CLASS: Class;
    const ZERO: Self;
    /// Pointer to read lanes from.
    type View: Copy;
    /// Pointer to write lanes to, or the bits of a predicate.
    type Sink;

    /// # Safety
    /// `src` is in range.
    unsafe fn view(lanes: &Lanes, src: Src) -> Self::View;
    /// # Safety
    /// `lane` is below 32.
    unsafe fn at(view: Self::View, lane: usize) -> Self;
    /// # Safety
    /// `dst` is in range.
    unsafe fn open(lanes: &mut Lanes, dst: Dst) -> Self::Sink;
    /// # Safety
    /// `base + N` is at most 32, and the CPU has the features of level `L`.
    unsafe fn put<const N: usize, const L: u8>(sink: &mut Self::Sink, base: usize, values: &[Self; N]);
    /// # Safety
    /// `lane` is below 32.
    unsafe fn put_one(sink: &mut Self::Sink, lane: usize, value: Self);
    /// Ends writing.
    ///
    /// # Safety
    /// `sink` comes from [`Lane::open`].
    unsafe fn close(sink: Self::Sink, mask: u32);
}

macro_rules! register_lane {
    ($($ty:ty, $class:ident, $stored:ty, |$x:ident| $get:expr, |$y:ident| $set:expr, $zero:expr;)*) => { $(
        impl Lane for $ty {
            const CLASS: Class = Class::$class;
            const ZERO: Self = $zero;
            type View = *const $stored;
            type Sink = *mut $stored;

            #[inline(always)]
            unsafe fn view(lanes: &Lanes, src: Src) -> Self::View {
                // SAFETY: the caller vouches for the range.
                unsafe { lanes.source(src).cast() }
            }
            #[inline(always)]
            unsafe fn at(view: Self::View, lane: usize) -> Self {
                // SAFETY: a register has 32 lanes.
                let $x = unsafe { *view.add(lane) };
                $get
            }
            #[inline(always)]
            unsafe fn open(lanes: &mut Lanes, dst: Dst) -> Self::Sink {
                // SAFETY: the caller vouches for the range.
                unsafe { lanes.regs.add(dst as usize).cast() }
            }
            #[inline(always)]
            unsafe fn put<const N: usize, const L: u8>(sink: &mut Self::Sink, base: usize, values: &[Self; N]) {
                let mut i = 0;
                while i < N {
                    // SAFETY: a register has 32 lanes.
                    unsafe { Self::put_one(sink, base + i, values[i]) };
                    i += 1;
                }
            }
            #[inline(always)]
            unsafe fn put_one(sink: &mut Self::Sink, lane: usize, value: Self) {
                let $y = value;
                // SAFETY: a register has 32 lanes.
                unsafe { *sink.add(lane) = $set };
            }
            #[inline(always)]
            unsafe fn close(_: Self::Sink, _: u32) {}
        }
    )* };
}

register_lane! {
    u8, Bits32, u32, |x| x as u8, |x| x as u32, 0;
    // Registers have 16 bits or more, so an 8-bit result is sign-extended to 16.
    i8, Bits32, u32, |x| x as i8, |x| x as u16 as u32, 0;
    u16, Bits32, u32, |x| x as u16, |x| x as u32, 0;
    i16, Bits32, u32, |x| x as i16, |x| x as u16 as u32, 0;
    u32, Bits32, u32, |x| x, |x| x, 0;
    i32, Bits32, u32, |x| x as i32, |x| x as u32, 0;
    f32, Bits32, f32, |x| x, |x| x, 0.0;
    u64, Bits64, u64, |x| x, |x| x, 0;
    i64, Bits64, u64, |x| x as i64, |x| x as u64, 0;
    f64, Bits64, f64, |x| x, |x| x, 0.0;
}

/// Bits of a predicate that is being computed.
pub(super) struct PredSink {
    at: *mut u32,
    bits: u32,
}

impl Lane for bool {
    const CLASS: Class = Class::Pred;
    const ZERO: bool = false;
    type View = u32;
    type Sink = PredSink;

    #[inline(always)]
    unsafe fn view(lanes: &Lanes, src: Src) -> u32 {
        // SAFETY: the caller vouches for the range.
        unsafe { *lanes.preds.add(src as usize) }
    }
    #[inline(always)]
    unsafe fn at(view: u32, lane: usize) -> bool {
        view & (1 << lane) != 0
    }
    #[inline(always)]
    unsafe fn open(lanes: &mut Lanes, dst: Dst) -> PredSink {
        // SAFETY: the caller vouches for the range.
        let at = unsafe { lanes.preds.add(dst as usize) };
        PredSink { at, bits: 0 }
    }
    #[inline(always)]
    unsafe fn put<const N: usize, const L: u8>(sink: &mut PredSink, base: usize, values: &[bool; N]) {
        let mut wide = [0u32; N];
        let mut i = 0;
        while i < N {
            wide[i] = 0u32.wrapping_sub(values[i] as u32);
            i += 1;
        }
        // SAFETY: the caller vouches for the CPU.
        sink.bits |= unsafe { sign_bits::<N, L>(&wide) } << base;
    }
    #[inline(always)]
    unsafe fn put_one(sink: &mut PredSink, lane: usize, value: bool) {
        sink.bits |= (value as u32) << lane;
    }
    #[inline(always)]
    unsafe fn close(sink: PredSink, mask: u32) {
        // SAFETY: `open` made the pointer.
        unsafe { *sink.at = (*sink.at & !mask) | (sink.bits & mask) };
    }
}

/// Returns the highest bit of each element as a mask.
///
/// # Safety
/// The CPU has the features of level `L`.
#[inline(always)]
unsafe fn sign_bits<const N: usize, const L: u8>(wide: &[u32; N]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::*;
        if L == AVX512 && N == 16 {
            // SAFETY: the level says that the CPU can, and the array has 64 bytes.
            return unsafe { _mm512_movepi32_mask(_mm512_loadu_si512(wide.as_ptr().cast())) as u32 };
        }
        if L == AVX2 && N == 8 {
            // SAFETY: the level says that the CPU can, and the array has 32 bytes.
            return unsafe { _mm256_movemask_ps(_mm256_loadu_ps(wide.as_ptr().cast())) as u32 };
        }
        if L == BASE && N == 8 {
            // SAFETY: SSE2 is part of x86-64; two loads of 16 bytes.
            return unsafe {
                let low = _mm_movemask_ps(_mm_loadu_ps(wide.as_ptr().cast())) as u32;
                let high = _mm_movemask_ps(_mm_loadu_ps(wide.as_ptr().add(4).cast())) as u32;
                low | high << 4
            };
        }
    }
    let mut bits = 0;
    for (i, &word) in wide.iter().enumerate() {
        bits |= (word >> 31) << i;
    }
    bits
}

/// # Safety
/// `dst` is a predicate in range.
#[inline(always)]
pub(super) unsafe fn write_pred(lanes: &mut Lanes, dst: Dst, bits: u32, mask: u32) {
    // SAFETY: the caller vouches for the range.
    unsafe {
        let at = lanes.preds.add(dst as usize);
        *at = (*at & !mask) | (bits & mask);
    }
}

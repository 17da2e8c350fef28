//! Moving values between memory and registers.

use crate::{lane_mask::LaneMask, memory::relaxed};
use arithmetic::lanes::{Lanes, NONE};
use program::{Access, Order};

use crate::exec::memo::Spread;

/// Host addresses of the lanes' memory.
#[derive(Clone, Copy)]
pub(crate) enum LaneAddresses {
    Near(Near),
    Far(*const *mut u8),
}

/// Memory at known distances from one host address.
#[derive(Clone, Copy)]
pub(crate) struct Near {
    pub(crate) host: *mut u8,
    pub(crate) delta: *const i32,
}

impl LaneAddresses {
    /// # Safety
    /// `lane < 32`, and the tables that the place was made from are still there.
    #[inline(always)]
    pub(crate) unsafe fn of(self, lane: usize) -> *mut u8 {
        // SAFETY: `lane < 32`, and the tables hold an entry for each lane.
        unsafe {
            match self {
                Self::Near(near) => near.of(lane),
                Self::Far(pointers) => *pointers.add(lane),
            }
        }
    }
}

impl Near {
    /// # Safety
    /// As [`LaneAddresses::of`].
    #[inline(always)]
    unsafe fn of(self, lane: usize) -> *mut u8 {
        // SAFETY: `lane < 32`, and the tables hold an entry for each lane.
        unsafe { self.host.wrapping_offset(*self.delta.add(lane) as isize) }
    }
}

/// Layout of a pattern's lanes, as a whole and by halves.
#[derive(Clone, Copy)]
pub(crate) struct LaneLayout {
    pub(crate) spread: Spread,
    pub(crate) halves: [Spread; 2],
}

impl LaneLayout {
    pub(crate) const GATHER: Self = Self { spread: Spread::Gather, halves: [Spread::Gather; 2] };
}

#[derive(Clone, Copy)]
pub(crate) struct Located {
    /// The lanes that have memory: all active ones in a launch without mistakes.
    pub(crate) lanes: LaneMask,
    pub(crate) addresses: LaneAddresses,
    pub(crate) layout: LaneLayout,
}

/// Loads from memory to registers.
///
/// # Safety
/// The memory is readable for the access's bytes and aligned to them; the registers are in range.
#[inline(always)]
pub(crate) unsafe fn load(lanes: &Lanes, a: &Access, memory: Located) {
    let Located { lanes: active, addresses: place, layout: shape } = memory;
    // SAFETY: memory is readable and aligned for the `active` lanes; registers are in range, and never in memory.
    unsafe {
        match place {
            LaneAddresses::Near(near) if a.element == 4 && !a.wide && may_be_plain(a) => match a.n {
                1 if a.regs[0] != NONE => load_word(lanes, a.regs[0], active, near, shape),
                2 if active.is_all() && all_wanted(a) => load_pairs(lanes, a, near),
                4 if active.is_all() && all_wanted(a) => load_quads(lanes, a, near, shape),
                _ => load_any(lanes, a, active, shape.spread, move |lane| near.of(lane)),
            },
            LaneAddresses::Near(near) => load_any(lanes, a, active, shape.spread, move |lane| near.of(lane)),
            LaneAddresses::Far(pointers) => load_any(lanes, a, active, shape.spread, move |lane| *pointers.add(lane)),
        }
    }
}

/// Returns whether vector instructions may perform an access; accesses that may race are atomic ([`relaxed`]).
#[inline(always)]
fn may_be_plain(a: &Access) -> bool {
    matches!(a.order, Order::Weak | Order::InStep)
}

/// Returns whether every element of a vector load goes to a register.
#[inline(always)]
fn all_wanted(a: &Access) -> bool {
    a.regs[..usize::from(a.n) & 7].iter().all(|r| *r != NONE)
}

/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn load_word(lanes: &Lanes, dst: i32, active: LaneMask, place: Near, shape: LaneLayout) {
    // SAFETY: memory is readable and aligned for the `active` lanes, and `dst` is in range.
    unsafe {
        let out = lanes.regs.add(dst as usize).cast::<u32>();
        if active.is_all() {
            if shape.spread == Spread::Linear {
                return std::ptr::copy_nonoverlapping(place.host, out.cast(), 128);
            }
            for (half, spread) in shape.halves.into_iter().enumerate() {
                let first = 16 * half;
                match spread {
                    Spread::Linear => {
                        std::ptr::copy_nonoverlapping(place.of(first), out.add(first).cast(), 64);
                    }
                    Spread::Uniform => {
                        let value = relaxed::load(place.of(first), 4) as u32;
                        for lane in first..first + 16 {
                            *out.add(lane) = value;
                        }
                    }
                    Spread::Gather => {
                        for lane in first..first + 16 {
                            *out.add(lane) = place.of(lane).cast::<u32>().read_unaligned();
                        }
                    }
                }
            }
        } else {
            load_word_partly(out, active, place, shape.spread);
        }
    }
}

/// Loads a word for some lanes. Not inlined: its masks of lanes would be prepared for every operation.
///
/// # Safety
/// As [`load`]; `out` is a line of registers.
#[inline(never)]
unsafe fn load_word_partly(out: *mut u32, active: LaneMask, place: Near, spread: Spread) {
    // SAFETY: memory is readable and aligned for the `active` lanes, and a line has 32 lanes.
    unsafe {
        if spread == Spread::Uniform {
            let value = relaxed::load(place.host, 4) as u32;
            for lane in 0..32 {
                let select = 0u32.wrapping_sub(active.bits() >> lane & 1);
                *out.add(lane) = (*out.add(lane) & !select) | (value & select);
            }
        } else {
            for lane in active.iter() {
                *out.add(lane) = relaxed::load(place.of(lane), 4) as u32;
            }
        }
    }
}

/// # Safety
/// As [`load`]; all lanes, two 4-byte elements.
#[inline(always)]
unsafe fn load_pairs(lanes: &Lanes, a: &Access, place: Near) {
    // SAFETY: all lanes are active, so each has readable memory, and registers are in range.
    unsafe {
        let x = lanes.regs.add(a.regs[0] as usize).cast::<u32>();
        let y = lanes.regs.add(a.regs[1] as usize).cast::<u32>();
        for lane in 0..32 {
            let pair = place.of(lane).cast::<u64>().read_unaligned().to_le();
            *x.add(lane) = pair as u32;
            *y.add(lane) = (pair >> 32) as u32;
        }
    }
}

/// # Safety
/// As [`load`]; all lanes, four 4-byte elements.
#[inline(always)]
unsafe fn load_quads(lanes: &Lanes, a: &Access, place: Near, shape: LaneLayout) {
    // SAFETY: all lanes are active, so each has readable memory; registers are in range. x86-64 has SSE2.
    unsafe {
        let out: [*mut u32; 4] = std::array::from_fn(|e| lanes.regs.add(a.regs[e] as usize).cast());
        for (half, spread) in shape.halves.into_iter().enumerate() {
            let first = 16 * half;
            if spread == Spread::Uniform {
                let row = place.of(first).cast::<[u32; 4]>().read_unaligned();
                for (out, value) in out.iter().zip(row) {
                    for lane in first..first + 16 {
                        *out.add(lane) = value;
                    }
                }
                continue;
            }
            for lane in (first..first + 16).step_by(4) {
                #[cfg(target_arch = "x86_64")]
                {
                    use std::arch::x86_64::*;
                    let row = |i: usize| _mm_loadu_si128(place.of(lane + i).cast());
                    let (a, b, c, d) = (row(0), row(1), row(2), row(3));
                    let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
                    let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
                    _mm_storeu_si128(out[0].add(lane).cast(), _mm_unpacklo_epi64(ab, cd));
                    _mm_storeu_si128(out[1].add(lane).cast(), _mm_unpackhi_epi64(ab, cd));
                    _mm_storeu_si128(out[2].add(lane).cast(), _mm_unpacklo_epi64(ab_high, cd_high));
                    _mm_storeu_si128(out[3].add(lane).cast(), _mm_unpackhi_epi64(ab_high, cd_high));
                }
                #[cfg(not(target_arch = "x86_64"))]
                for i in lane..lane + 4 {
                    let row = place.of(i).cast::<[u32; 4]>().read_unaligned();
                    for (e, value) in row.into_iter().enumerate() {
                        *out[e].add(i) = value;
                    }
                }
            }
        }
    }
}

/// Reads an element of up to 8 bytes, extended to 64 bits.
///
/// # Safety
/// As [`relaxed::load`].
#[inline(always)]
unsafe fn read_element(from: *const u8, bytes: u8, signed: bool) -> u64 {
    // SAFETY: `from` is readable for `bytes` bytes and aligned to them.
    let value = unsafe { relaxed::load(from, bytes) };
    match (bytes, signed) {
        (1, true) => i64::from(value as i8) as u64,
        (2, true) => i64::from(value as i16) as u64,
        (4, true) => i64::from(value as i32) as u64,
        _ => value,
    }
}

/// Loads elements of any width, lane by lane, from the addresses that `place` returns.
///
/// # Safety
/// As [`load`].
#[inline(never)]
unsafe fn load_any(lanes: &Lanes, a: &Access, active: LaneMask, spread: Spread, place: impl Fn(usize) -> *mut u8) {
    let wide = a.wide;
    for (e, &dst) in a.regs.iter().take(usize::from(a.n)).enumerate() {
        if dst == NONE {
            continue;
        }
        let skip = e * usize::from(a.element);
        // SAFETY: memory is readable and aligned for the `active` lanes, and `dst` is in range.
        unsafe {
            let out = lanes.regs.add(dst as usize);
            let mut same = None;
            if spread == Spread::Uniform {
                let from = place(active.first() & 31).add(skip);
                same = Some(read_element(from, a.element, a.signed));
            }
            for lane in active.iter() {
                let value = match same {
                    Some(value) => value,
                    None => read_element(place(lane).add(skip), a.element, a.signed),
                };
                if wide {
                    *out.cast::<u64>().add(lane) = value;
                } else {
                    *out.cast::<u32>().add(lane) = value as u32;
                }
            }
        }
    }
}

/// Stores registers to memory, lanes in index order: where lanes store to one address, the highest one's value stays.
///
/// # Safety
/// As [`load`], and writable.
#[inline(always)]
pub(crate) unsafe fn store(lanes: &Lanes, a: &Access, memory: Located) {
    let Located { lanes: active, addresses: place, layout: shape } = memory;
    // SAFETY: memory is writable and aligned for the `active` lanes, and registers are in range.
    unsafe {
        match place {
            LaneAddresses::Near(near) if a.element == 4 && !a.wide && active.is_all() && may_be_plain(a) => match a.n {
                1 => store_word(lanes, a.regs[0], near, shape),
                4 => store_quads(lanes, a, near),
                _ => store_any(lanes, a, active, move |lane| near.of(lane)),
            },
            LaneAddresses::Near(near) => store_any(lanes, a, active, move |lane| near.of(lane)),
            LaneAddresses::Far(pointers) => store_any(lanes, a, active, move |lane| *pointers.add(lane)),
        }
    }
}

/// # Safety
/// As [`store`]; all lanes.
#[inline(always)]
unsafe fn store_word(lanes: &Lanes, src: i32, place: Near, shape: LaneLayout) {
    // SAFETY: all lanes are active, so each has writable memory, and `src` is in range.
    unsafe {
        let from = lanes.source(src).cast::<u32>();
        if shape.spread == Spread::Linear {
            return std::ptr::copy_nonoverlapping(from.cast::<u8>(), place.host, 128);
        }
        for (half, spread) in shape.halves.into_iter().enumerate() {
            let first = 16 * half;
            if spread == Spread::Linear {
                std::ptr::copy_nonoverlapping(from.add(first).cast::<u8>(), place.of(first), 64);
            } else {
                for lane in first..first + 16 {
                    place.of(lane).cast::<u32>().write_unaligned(*from.add(lane));
                }
            }
        }
    }
}

/// # Safety
/// As [`store`]; all lanes, four 4-byte elements.
#[inline(always)]
unsafe fn store_quads(lanes: &Lanes, a: &Access, place: Near) {
    // SAFETY: all lanes are active, so each has writable memory; registers are in range. x86-64 has SSE2.
    unsafe {
        let from: [*const u32; 4] = std::array::from_fn(|e| lanes.source(a.regs[e]).cast());
        for lane in (0..32).step_by(4) {
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::*;
                let column = |e: usize| _mm_loadu_si128(from[e].add(lane).cast());
                let (x, y, z, w) = (column(0), column(1), column(2), column(3));
                let (xy, zw) = (_mm_unpacklo_epi32(x, y), _mm_unpacklo_epi32(z, w));
                let (xy_high, zw_high) = (_mm_unpackhi_epi32(x, y), _mm_unpackhi_epi32(z, w));
                _mm_storeu_si128(place.of(lane).cast(), _mm_unpacklo_epi64(xy, zw));
                _mm_storeu_si128(place.of(lane + 1).cast(), _mm_unpackhi_epi64(xy, zw));
                _mm_storeu_si128(place.of(lane + 2).cast(), _mm_unpacklo_epi64(xy_high, zw_high));
                _mm_storeu_si128(place.of(lane + 3).cast(), _mm_unpackhi_epi64(xy_high, zw_high));
            }
            #[cfg(not(target_arch = "x86_64"))]
            for i in lane..lane + 4 {
                let row: [u32; 4] = std::array::from_fn(|e| *from[e].add(i));
                place.of(i).cast::<[u32; 4]>().write_unaligned(row);
            }
        }
    }
}

/// Stores elements of any width, lane by lane, to the addresses that `place` returns.
///
/// # Safety
/// As [`store`].
#[inline(never)]
unsafe fn store_any(lanes: &Lanes, a: &Access, active: LaneMask, place: impl Fn(usize) -> *mut u8) {
    let wide = a.wide;
    let n = usize::from(a.n).min(8);
    // SAFETY: memory is writable and aligned for the `active` lanes, and registers are in range.
    unsafe {
        for lane in active.iter() {
            for (e, &src) in a.regs.iter().take(n).enumerate() {
                let from = lanes.source(src);
                let value = if wide { *from.cast::<u64>().add(lane) } else { u64::from(*from.cast::<u32>().add(lane)) };
                let to = place(lane).add(e * usize::from(a.element));
                relaxed::store(to, a.element, value);
            }
        }
    }
}

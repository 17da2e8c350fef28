//! `atom` and `red`: lanes one after the other, in index order.
//!
//! Global memory is changed with the host's atomics, since other blocks run at the same time; shared memory is not.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use ptx::ast::Type;

use crate::{check::AccessKind, lane_mask::LaneMask, memory::relaxed};
use arithmetic::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use arithmetic::lanes::NONE;
use program::limits::ATOMIC_COST;
use program::{Atomic, AtomicKind, Order};

use crate::exec::memory::access_spec::AccessSpec;
use crate::exec::memory::load_store::{LaneAddresses, Located};
use crate::exec::{fiber::AfterOp, memo::Home};
use crate::exec::{run_mode::General, worker::Worker};

/// Returns the new value. With `flush`, subnormal `f32` become zero, as in global memory ("atom" in the PTX manual).
fn apply(kind: AtomicKind, ty: Type, flush: bool, old: u64, b: u64, c: u64) -> u64 {
    use AtomicKind::*;
    let wide = ty.bytes() == 8;
    let signed = matches!(ty, Type::S32 | Type::S64);
    let sign = |v: u64| {
        if wide { v as i64 } else { i64::from(v as u32 as i32) }
    };
    match kind {
        Exch => b,
        Cas if old == b => c,
        Cas => old,
        And => old & b,
        Or => old | b,
        Xor => old ^ b,
        Add => match ty {
            Type::F32 => u64::from(add_f32(old as u32, b as u32, flush)),
            Type::F64 => add_f64(old, b, flush),
            Type::F16 => u64::from(add_f16(old as u16, b as u16)),
            Type::Bf16 => u64::from(add_bf16(old as u16, b as u16)),
            Type::F16x2 => pairs(old, b, add_f16),
            Type::Bf16x2 => pairs(old, b, add_bf16),
            _ => old.wrapping_add(b),
        },
        Min if signed && sign(b) < sign(old) => b,
        Max if signed && sign(b) > sign(old) => b,
        Min | Max if signed => old,
        Min => old.min(b),
        Max => old.max(b),
        Inc if old >= b => 0,
        Inc => old + 1,
        Dec if old == 0 || old > b => b,
        Dec => old - 1,
    }
}

/// Adds. A signalling NaN stays so in global memory; in shared memory an ordinary addition makes it quiet.
fn add_f64(a: u64, b: u64, global: bool) -> u64 {
    const QUIET: u64 = 1 << 51;
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let sum = x + y;
    let nan = match (y.is_nan(), x.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if sum.is_nan() => 0xFFF8_0000_0000_0000,
        _ => return sum.to_bits(),
    };
    if global { nan } else { nan | QUIET }
}

fn add_f32(a: u32, b: u32, flush: bool) -> u32 {
    let cut = |x: f32| {
        if flush && x.is_subnormal() { 0f32.copysign(x) } else { x }
    };
    let sum = cut(cut(f32::from_bits(a)) + cut(f32::from_bits(b)));
    if sum.is_nan() { 0x7FFF_FFFF } else { sum.to_bits() }
}

// The sum of two halves is rounded once more than needed, which 24 bits of fraction make harmless.
fn add_f16(a: u16, b: u16) -> u16 {
    f32_to_f16(f16_to_f32(a) + f16_to_f32(b))
}

fn add_bf16(a: u16, b: u16) -> u16 {
    f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b))
}

fn pairs(a: u64, b: u64, add: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(add(a as u16, b as u16)) | u64::from(add((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Replaces the value at `at` by what `f` makes of it. Returns the old value.
///
/// # Safety
/// `at` is valid for `bytes` bytes and aligned to them.
unsafe fn update(at: *mut u8, bytes: u32, alone: bool, f: impl Fn(u64) -> u64) -> u64 {
    // SAFETY: `at` is valid for `bytes` bytes and aligned to them.
    unsafe {
        if alone {
            let old = relaxed::load(at, bytes as u8);
            relaxed::store(at, bytes as u8, f(old));
            return old;
        }
        match bytes {
            2 => {
                let cell = AtomicU16::from_ptr(at.cast());
                let new = |old: u16| Some(f(old.into()) as u16);
                cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).unwrap_or_else(|old| old).into()
            }
            4 => {
                let cell = AtomicU32::from_ptr(at.cast());
                let new = |old: u32| Some(f(old.into()) as u32);
                cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).unwrap_or_else(|old| old).into()
            }
            _ => {
                let cell = AtomicU64::from_ptr(at.cast());
                cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(f(old))).unwrap_or_else(|old| old)
            }
        }
    }
}

impl Worker<'_> {
    /// Works as [`Worker::locate`], for operations outside the loop.
    pub(crate) fn locate_any(&mut self, spec: AccessSpec<'_>, active: LaneMask) -> Located {
        self.locate::<General>(|| spec, active)
    }

    /// Performs an atomic for the `active` lanes of a frame. One that returns a value and changes nothing polls memory.
    pub(crate) fn atomic(&mut self, a: &Atomic, pc: u32, active: LaneMask, frame: LaneMask) -> ControlFlow<AfterOp> {
        let changed = self.update_memory(a, pc, active);
        self.spent += u64::from(active.count()) * ATOMIC_COST;
        if self.stopped {
            ControlFlow::Break(AfterOp::Stop)
        } else if a.dst.is_none() {
            self.activity.progress = true;
            ControlFlow::Continue(())
        } else if changed {
            // As after a poll, stores of other threads before this are visible to later accesses.
            std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
            self.activity.progress = true;
            self.warp.fiber.polls = 0;
            ControlFlow::Continue(())
        } else {
            self.poll(frame)
        }
    }

    /// Performs an atomic for the `active` lanes. Returns whether memory changed.
    fn update_memory(&mut self, a: &Atomic, pc: u32, active: LaneMask) -> bool {
        let bytes = a.ty.bytes();
        let memo = self.job.plan.memo_of[pc as usize] as usize;
        let spec = AccessSpec {
            order: Order::Strong,
            ..AccessSpec::weak(a.space, &a.addr, bytes, AccessKind::Atomic, pc, memo)
        };
        let Located { lanes: good, addresses: place, .. } = self.locate_any(spec, active);
        let alone = matches!(place, LaneAddresses::Near(_)) && self.access.memos[spec.memo].home == Home::Shared;
        let value = |worker: &Self, src: i32, lane: usize| match bytes {
            _ if src == NONE => 0,
            8 => worker.u64_at(src, lane),
            2 => u64::from(worker.u32_at(src, lane) as u16),
            _ => u64::from(worker.u32_at(src, lane)),
        };
        let mut changed = false;
        for lane in good.iter() {
            let (b, c) = (value(self, a.src[0], lane), value(self, a.src[1], lane));
            let new = std::cell::Cell::new(0);
            // SAFETY: `locate` has found aligned, writable memory for the lanes in `good`.
            let old = unsafe {
                update(place.of(lane), bytes, alone, |old| {
                    new.set(apply(a.kind, a.ty, !alone, old, b, c));
                    new.get()
                })
            };
            changed |= new.get() != old;
            self.set_lane(a.dst, bytes == 8, lane, old);
        }
        if self.activity.caches_polls {
            // SAFETY: `locate` has found aligned memory for the lanes in `good`.
            unsafe { self.cache_poll(place, good, bytes as u8, bytes) };
        }
        if self.job.check_level.checks() {
            self.define_line(a.dst, active);
            if !self.checks.fresh.lanes.is_empty() {
                self.propagate_fresh_atomic(a, pc);
            }
        }
        (active & !good).iter().for_each(|lane| self.set_lane(a.dst, bytes == 8, lane, 0));
        changed
    }
}

//! How a function of one lane becomes a function of 32.
//!
//! A form is written once, as a plain function of scalars without captures. The drivers here run it over
//! all lanes in chunks: load the chunk's sources, compute, store. Chunks are small fixed-size arrays, which
//! LLVM turns into vector registers, so one source compiles to AVX2, AVX-512 and what other architectures have.
//! Forms that are rare or too branchy to vectorise take the `cold` drivers: a loop over the active lanes, compiled
//! once. So does everything on x86-64 without AVX2, at about half of the speed: compiling every form in a third
//! width would cost more build time than processors made before 2013 gain. This crate's own tests do so all the same,
//! because other architectures run that code.
//!
//! The function's type is what carries it: functions and closures without captures have no size, so a
//! driver needs no more than the type to call it.

use super::Form;
#[cfg(any(not(target_arch = "x86_64"), test))]
use super::lane::BASE;
use super::lane::Lane;
#[cfg(target_arch = "x86_64")]
use super::lane::{AVX2, AVX512};
use crate::lanes::{AluArgs, AluFn, CpuLevel, Lanes, NONE};

/// The value of a type that has no size.
#[inline(always)]
pub(super) fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "forms capture nothing") };
    // SAFETY: the type has no size (so no bytes), and a value of it was handed to the caller's constructor.
    unsafe { core::ptr::NonNull::<F>::dangling().read() }
}

macro_rules! drivers {
    ($body:ident, $hot:ident, $cold:ident, $cold_run:ident, $base:ident, $avx2:ident, $avx512:ident,
     $(($ty:ident, $view:ident, $array:ident, $index:literal)),+) => {
        #[inline(always)]
        unsafe fn $body<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy, const N: usize, const L: u8>(
            lanes: &mut Lanes,
            args: &AluArgs,
            mask: u32,
        ) {
            let f = conjure::<F>();
            // SAFETY: the caller of an `AluFn` vouches for the operands and the CPU. A chunk's sources are
            // all read before it is written, and destinations overlap sources whole or not at all.
            unsafe {
                $( let $view = $ty::view(lanes, args.src[$index]); )+
                let mut sink = D::open(lanes, args.dst);
                let mut base = 0;
                if mask == u32::MAX {
                    while base < 32 {
                        $(
                            let mut $array = [$ty::ZERO; N];
                            for i in 0..N { $array[i] = $ty::at($view, base + i); }
                        )+
                        let mut out = [D::ZERO; N];
                        for i in 0..N { out[i] = f($($array[i]),+); }
                        D::put::<N, L>(&mut sink, base, out);
                        base += N;
                    }
                } else {
                    while base < 32 {
                        $(
                            let mut $array = [$ty::ZERO; N];
                            for i in 0..N { $array[i] = $ty::at($view, base + i); }
                        )+
                        let mut out = [D::ZERO; N];
                        for i in 0..N { out[i] = f($($array[i]),+); }
                        D::put_masked::<N, L>(&mut sink, base, out, mask);
                        base += N;
                    }
                }
                D::close(sink, mask);
            }
        }

        #[cfg(any(not(target_arch = "x86_64"), test))]
        unsafe fn $base<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
            lanes: &mut Lanes, args: &AluArgs, mask: u32,
        ) {
            // SAFETY: the caller's promise is the same.
            unsafe { $body::<D, $($ty,)+ F, 8, BASE>(lanes, args, mask) }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
        unsafe fn $avx2<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
            lanes: &mut Lanes, args: &AluArgs, mask: u32,
        ) {
            // SAFETY: the caller's promise is the same.
            unsafe { $body::<D, $($ty,)+ F, 8, AVX2>(lanes, args, mask) }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(
            enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512cd"
        )]
        unsafe fn $avx512<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
            lanes: &mut Lanes, args: &AluArgs, mask: u32,
        ) {
            // SAFETY: the caller's promise is the same.
            unsafe { $body::<D, $($ty,)+ F, 16, AVX512>(lanes, args, mask) }
        }

        /// A form that is compiled for every vector width.
        pub(super) fn $hot<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(level: CpuLevel, _: F) -> Form {
            let run: AluFn = match level {
                #[cfg(target_arch = "x86_64")]
                CpuLevel::Avx2 => $avx2::<D, $($ty,)+ F>,
                #[cfg(target_arch = "x86_64")]
                CpuLevel::Avx512 => $avx512::<D, $($ty,)+ F>,
                #[cfg(all(target_arch = "x86_64", not(test)))]
                CpuLevel::Baseline => $cold_run::<D, $($ty,)+ F>,
                #[cfg(any(not(target_arch = "x86_64"), test))]
                _ => $base::<D, $($ty,)+ F>,
            };
            Form { run, dst: D::CLASS, srcs: const { &[$($ty::CLASS),+] }, variant: NONE }
        }

        unsafe fn $cold_run<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
            lanes: &mut Lanes, args: &AluArgs, mask: u32,
        ) {
            let f = conjure::<F>();
            // SAFETY: as in the hot driver; a lane is read before it is written.
            unsafe {
                $( let $view = $ty::view(lanes, args.src[$index]); )+
                let mut sink = D::open(lanes, args.dst);
                let mut left = mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    D::put_one(&mut sink, lane, f($($ty::at($view, lane)),+));
                }
                D::close(sink, mask);
            }
        }

        /// A form that runs lane by lane.
        #[allow(dead_code, reason = "not every number of operands needs it")]
        pub(super) fn $cold<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(_: F) -> Form {
            Form { run: $cold_run::<D, $($ty,)+ F>, dst: D::CLASS, srcs: const { &[$($ty::CLASS),+] }, variant: NONE }
        }
    };
}

drivers!(
    body1,
    hot1,
    cold1,
    cold1_run,
    hot1_base,
    hot1_avx2,
    hot1_avx512,
    (A, a, xs, 0)
);
drivers!(
    body2,
    hot2,
    cold2,
    cold2_run,
    hot2_base,
    hot2_avx2,
    hot2_avx512,
    (A, a, xs, 0),
    (B, b, ys, 1)
);
drivers!(
    body3,
    hot3,
    cold3,
    cold3_run,
    hot3_base,
    hot3_avx2,
    hot3_avx512,
    (A, a, xs, 0),
    (B, b, ys, 1),
    (C, c, zs, 2)
);
drivers!(
    body4,
    hot4,
    cold4,
    cold4_run,
    hot4_base,
    hot4_avx2,
    hot4_avx512,
    (A, a, xs, 0),
    (B, b, ys, 1),
    (C, c, zs, 2),
    (E, e, ws, 3)
);

macro_rules! moded_drivers {
    ($make:ident, $run:ident, $(($ty:ident, $view:ident, $index:literal)),+) => {
        unsafe fn $run<D: Lane, $($ty: Lane,)+ F: Fn(u32, $($ty),+) -> D + Copy>(
            lanes: &mut Lanes, args: &AluArgs, mask: u32,
        ) {
            let f = conjure::<F>();
            let variant = args.src[3] as u32;
            // SAFETY: as in the cold drivers.
            unsafe {
                $( let $view = $ty::view(lanes, args.src[$index]); )+
                let mut sink = D::open(lanes, args.dst);
                let mut left = mask;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    D::put_one(&mut sink, lane, f(variant, $($ty::at($view, lane)),+));
                }
                D::close(sink, mask);
            }
        }

        /// A form that runs lane by lane, and whose variant is an argument at run time.
        pub(super) fn $make<D: Lane, $($ty: Lane,)+ F: Fn(u32, $($ty),+) -> D + Copy>(
            variant: u32,
            _: F,
        ) -> Form {
            Form {
                run: $run::<D, $($ty,)+ F>,
                dst: D::CLASS,
                srcs: const { &[$($ty::CLASS),+] },
                variant: variant as i32,
            }
        }
    };
}

moded_drivers!(moded1, moded1_run, (A, a, 0));
moded_drivers!(moded2, moded2_run, (A, a, 0), (B, b, 1));
moded_drivers!(moded3, moded3_run, (A, a, 0), (B, b, 1), (C, c, 2));

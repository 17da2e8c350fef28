//! Drivers that make a function of 32 lanes from a function of one.
//!
//! A form is a plain function of scalars without captures. The `hot` drivers run it over all lanes in chunks: load the
//! chunk's sources, compute, store. Chunks are small fixed-size arrays, which LLVM turns into vector registers, so one
//! source compiles to AVX2, AVX-512 and the vectors of other architectures. The build script chooses the widths. A hot
//! form computes all lanes; [`masked`], which the forms share, restores the lanes outside the mask.
//!
//! Forms that are rare or too branchy to vectorise use the `cold` drivers: a loop over the active lanes, compiled once.
//! So does every form where the CPU lacks the compiled widths, at about half the speed. The tests of this crate compile
//! the chunks without target features instead, because other architectures run that code.
//!
//! The type of the function carries it: functions and closures without captures have no size.

use super::lanes::{AluArgs, AluFn, Class, CpuLevel, Lanes, NONE, WARP};
use super::{Form, lane::Lane};

/// Returns the value of a type that has no size.
#[inline(always)]
pub(super) fn zst_fn<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "forms capture nothing") };
    // SAFETY: the type has no size (so no bytes), and a value of it was handed to the caller's constructor.
    unsafe { core::ptr::NonNull::<F>::dangling().read() }
}

/// Runs `whole` for all lanes, and restores the destination of the lanes outside `mask`. The first arguments are those
/// of an [`AluFn`], in its order: the call then moves no registers, which would be done for full masks, too.
///
/// # Safety
/// As for [`AluFn`]; the destination is a register with elements of type `T`.
#[inline(never)]
unsafe fn masked<T: Copy>(lanes: &mut Lanes, args: &AluArgs, mask: u32, whole: AluFn) {
    if mask == 0 {
        return;
    }
    // SAFETY: a register has 32 lanes, and the caller vouches for the rest.
    unsafe {
        let at = lanes.regs.add(args.dst as usize).cast::<[T; WARP]>();
        let old = *at;
        whole(lanes, args, u32::MAX);
        let new = &mut *at;
        let mut lane = 0;
        while lane < WARP {
            new[lane] = if mask & (1 << lane) != 0 { new[lane] } else { old[lane] };
            lane += 1;
        }
    }
}

/// # Safety
/// As for [`masked`], by the class of the destination, which is not a predicate.
#[inline(always)]
unsafe fn masked_class(class: Class, lanes: &mut Lanes, args: &AluArgs, mask: u32, whole: AluFn) {
    // SAFETY: passed on.
    unsafe {
        match class {
            Class::Bits64 => masked::<u64>(lanes, args, mask, whole),
            _ => masked::<u32>(lanes, args, mask, whole),
        }
    }
}

macro_rules! drivers {
    ($hot:ident, $cold:ident, $moded:ident, $(($ty:ident, $view:ident, $array:ident, $index:literal)),+) => {
        pub(super) fn $hot<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(level: CpuLevel, _f: F) -> Form {
            /// # Safety
            /// The requirements are those of an `AluFn`, which `whole` is; the CPU has the instructions of level `L`.
            #[inline(always)]
            unsafe fn body<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy, const N: usize, const L: u8>(
                lanes: &mut Lanes,
                args: &AluArgs,
                mask: u32,
                whole: AluFn,
            ) {
                // SAFETY: the caller of an `AluFn` vouches for the operands and the CPU. A chunk's sources are
                // all read before it is written, and destinations overlap sources whole or not at all.
                unsafe {
                    // A predicate's bits are merged when the sink is closed.
                    if mask != u32::MAX && !matches!(D::CLASS, Class::Pred) {
                        return masked_class(D::CLASS, lanes, args, mask, whole);
                    }
                    let f = zst_fn::<F>();
                    $( let $view = $ty::view(lanes, args.src[$index]); )+
                    let mut sink = D::open(lanes, args.dst);
                    let mut base = 0;
                    while base < WARP {
                        let mut i = 0;
                        $( let mut $array = [$ty::ZERO; N]; )+
                        while i < N {
                            $( $array[i] = $ty::at($view, base + i); )+
                            i += 1;
                        }
                        let mut out = [D::ZERO; N];
                        i = 0;
                        while i < N {
                            out[i] = f($($array[i]),+);
                            i += 1;
                        }
                        D::put::<N, L>(&mut sink, base, &out);
                        base += N;
                    }
                    D::close(sink, mask);
                }
            }

            /// # Safety
            /// The requirements are those of an `AluFn`.
            #[cfg(any(vectors = "base", test))]
            unsafe fn base<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
                lanes: &mut Lanes, args: &AluArgs, mask: u32,
            ) {
                // SAFETY: the caller's promise is the same.
                unsafe { body::<D, $($ty,)+ F, 8, { super::lane::BASE }>(lanes, args, mask, base::<D, $($ty,)+ F>) }
            }

            /// # Safety
            /// The requirements are those of an `AluFn`, on a CPU with these instructions.
            #[cfg(any(vectors = "avx2", all(test, target_arch = "x86_64")))]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
            unsafe fn avx2<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
                lanes: &mut Lanes, args: &AluArgs, mask: u32,
            ) {
                // SAFETY: the caller's promise is the same.
                unsafe { body::<D, $($ty,)+ F, 8, { super::lane::AVX2 }>(lanes, args, mask, avx2::<D, $($ty,)+ F>) }
            }

            /// # Safety
            /// The requirements are those of an `AluFn`, on a CPU with these instructions.
            #[cfg(any(vectors = "avx512", all(test, target_arch = "x86_64")))]
            #[target_feature(
                enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512cd"
            )]
            unsafe fn avx512<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(
                lanes: &mut Lanes, args: &AluArgs, mask: u32,
            ) {
                // SAFETY: the caller's promise is the same.
                unsafe { body::<D, $($ty,)+ F, 16, { super::lane::AVX512 }>(lanes, args, mask, avx512::<D, $($ty,)+ F>) }
            }

            let run: AluFn = match level {
                #[cfg(any(vectors = "avx2", all(test, target_arch = "x86_64")))]
                CpuLevel::Avx2 => avx2::<D, $($ty,)+ F>,
                #[cfg(any(vectors = "avx512", all(test, target_arch = "x86_64")))]
                CpuLevel::Avx512 => avx512::<D, $($ty,)+ F>,
                #[cfg(any(vectors = "base", test))]
                _ => base::<D, $($ty,)+ F>,
                #[cfg(not(any(vectors = "base", test)))]
                _ => return $cold(_f),
            };
            Form { run, dst: D::CLASS, srcs: const { &[$($ty::CLASS),+] }, variant: NONE }
        }

        #[allow(dead_code, reason = "not every number of operands needs it")]
        pub(super) fn $cold<D: Lane, $($ty: Lane,)+ F: Fn($($ty),+) -> D + Copy>(f: F) -> Form {
            Form { variant: NONE, ..$moded(0, move |_, $($view: $ty),+| f($($view),+)) }
        }

        /// Form of a lane-by-lane function whose variant is a run-time argument.
        #[allow(dead_code, reason = "not every number of operands needs it")]
        pub(super) fn $moded<D: Lane, $($ty: Lane,)+ F: Fn(u32, $($ty),+) -> D + Copy>(variant: u32, _: F) -> Form {
            /// # Safety
            /// The requirements are those of an `AluFn`.
            unsafe fn run<D: Lane, $($ty: Lane,)+ F: Fn(u32, $($ty),+) -> D + Copy>(
                lanes: &mut Lanes, args: &AluArgs, mask: u32,
            ) {
                let f = zst_fn::<F>();
                let variant = args.src[3] as u32;
                // SAFETY: as in the hot driver; a lane is read before it is written.
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
            let srcs = const { &[$($ty::CLASS),+] };
            Form { run: run::<D, $($ty,)+ F>, dst: D::CLASS, srcs, variant: variant as i32 }
        }
    };
}

drivers!(hot1, cold1, moded1, (A, a, xs, 0));
drivers!(hot2, cold2, moded2, (A, a, xs, 0), (B, b, ys, 1));
drivers!(hot3, cold3, moded3, (A, a, xs, 0), (B, b, ys, 1), (C, c, zs, 2));
drivers!(hot4, cold4, moded4, (A, a, xs, 0), (B, b, ys, 1), (C, c, zs, 2), (E, e, ws, 3));

/// Evaluates `$form` with `$alias` as the listed type of the PTX name `$ty`; other names return `None` from the caller.
macro_rules! by_type {
    ($ty:expr, $alias:ident in $($ptx:ident)* => $form:expr) => {
        match $ty {
            $( stringify!($ptx) => {
                type $alias = $ptx;
                $form
            } )*
            _ => return None,
        }
    };
}
pub(super) use by_type;

/// PTX names of types that Rust names otherwise, for [`by_type`].
#[allow(non_camel_case_types, reason = "names of PTX")]
pub(super) mod ptx_types {
    pub(crate) type s8 = i8;
    pub(crate) type s16 = i16;
    pub(crate) type s32 = i32;
    pub(crate) type s64 = i64;
    pub(crate) type b16 = u16;
    pub(crate) type b32 = u32;
    pub(crate) type b64 = u64;
}

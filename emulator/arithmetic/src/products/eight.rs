//! Eight integers side by side: the vector operations of [`super`], with AVX2 and without.

pub(super) trait Eight: Copy {
    fn splat(x: i32) -> Self;
    fn load(from: &[i32; 8]) -> Self;
    fn store(self) -> [i32; 8];
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn equals(self, other: Self) -> Self;
    fn exceeds(self, other: Self) -> Self;
    /// Shifts by a number of bits below 32; zeros come in.
    fn left(self, bits: u32) -> Self;
    fn right(self, bits: u32) -> Self;
    /// Shifts each element right by an element of `bits`, which may be any number from 0.
    fn right_by(self, bits: Self) -> Self;
    /// Returns `other` where `mask` is all ones, else `self`.
    fn replace_where(self, mask: Self, other: Self) -> Self;
}

#[inline(always)]
fn each(x: [i32; 8], y: [i32; 8], f: impl Fn(i32, i32) -> i32) -> [i32; 8] {
    std::array::from_fn(|i| f(x[i], y[i]))
}

impl Eight for [i32; 8] {
    fn splat(x: i32) -> Self {
        [x; 8]
    }
    fn load(from: &[i32; 8]) -> Self {
        *from
    }
    fn store(self) -> [i32; 8] {
        self
    }
    fn add(self, other: Self) -> Self {
        each(self, other, i32::wrapping_add)
    }
    fn sub(self, other: Self) -> Self {
        each(self, other, i32::wrapping_sub)
    }
    fn mul(self, other: Self) -> Self {
        each(self, other, i32::wrapping_mul)
    }
    fn and(self, other: Self) -> Self {
        each(self, other, |x, y| x & y)
    }
    fn or(self, other: Self) -> Self {
        each(self, other, |x, y| x | y)
    }
    fn xor(self, other: Self) -> Self {
        each(self, other, |x, y| x ^ y)
    }
    fn max(self, other: Self) -> Self {
        each(self, other, i32::max)
    }
    fn equals(self, other: Self) -> Self {
        each(self, other, |x, y| -i32::from(x == y))
    }
    fn exceeds(self, other: Self) -> Self {
        each(self, other, |x, y| -i32::from(x > y))
    }
    fn left(self, bits: u32) -> Self {
        self.map(|x| x << bits)
    }
    fn right(self, bits: u32) -> Self {
        self.map(|x| (x as u32 >> bits) as i32)
    }
    fn right_by(self, bits: Self) -> Self {
        each(self, bits, |x, bits| (x as u32).checked_shr(bits as u32).unwrap_or(0) as i32)
    }
    fn replace_where(self, mask: Self, other: Self) -> Self {
        std::array::from_fn(|i| if mask[i] != 0 { other[i] } else { self[i] })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Eight;
    use std::arch::x86_64::*;

    /// A register of AVX2. Only functions compiled for AVX2 make one, after asking the processor.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256i);

    macro_rules! operations {
        ($($name:ident = $intrinsic:ident),+) => {$(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: a value of this type exists only where the processor has AVX2.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        )+};
    }

    impl Eight for Avx2 {
        #[inline(always)]
        fn splat(x: i32) -> Self {
            // SAFETY: the callers are functions compiled for AVX2.
            Self(unsafe { _mm256_set1_epi32(x) })
        }
        #[inline(always)]
        fn load(from: &[i32; 8]) -> Self {
            // SAFETY: a caller of `load` is compiled for AVX2; 32 bytes are there, of any alignment.
            Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
        }
        #[inline(always)]
        fn store(self) -> [i32; 8] {
            let mut to = [0; 8];
            // SAFETY: a value of this type exists only where the processor has AVX2.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) };
            to
        }
        operations!(
            add = _mm256_add_epi32,
            sub = _mm256_sub_epi32,
            mul = _mm256_mullo_epi32,
            and = _mm256_and_si256,
            or = _mm256_or_si256,
            xor = _mm256_xor_si256,
            max = _mm256_max_epi32,
            equals = _mm256_cmpeq_epi32,
            exceeds = _mm256_cmpgt_epi32,
            right_by = _mm256_srlv_epi32
        );
        #[inline(always)]
        fn left(self, bits: u32) -> Self {
            // SAFETY: a value of this type exists only where the processor has AVX2.
            Self(unsafe { _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(bits as i32)) })
        }
        #[inline(always)]
        fn right(self, bits: u32) -> Self {
            // SAFETY: a value of this type exists only where the processor has AVX2.
            Self(unsafe { _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(bits as i32)) })
        }
        #[inline(always)]
        fn replace_where(self, mask: Self, other: Self) -> Self {
            // SAFETY: a value of this type exists only where the processor has AVX2.
            Self(unsafe { _mm256_blendv_epi8(self.0, other.0, mask.0) })
        }
    }
}

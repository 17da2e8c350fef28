//! Arithmetic of all widths, the math library, textures.

use std::sync::Arc;

use half::{bf16, f16};
use simt::texture::{AddressMode, FilterMode, TexelFormat, TextureObject};
use tests::gpu::{Argument, Geometry};

use super::{assert_close, floats, load, random_words};

#[test]
fn doubles() {
    let (gpu, module) = load("doubles");
    let n = 100usize;
    let x: Vec<f64> = floats(n, 30).into_iter().map(f64::from).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f64>(5 * n));
    gpu.run(&module, "polynomial", Geometry::line(1, 128), &[(n as i32).into(), input.into(), out.into()]);
    let results = |&v: &f64| {
        let sum = (1..6).fold(0.125f64, |s, k| s.mul_add(v, 1.0 / f64::from(k)));
        let whole = (v as i64) as f64 + f64::from(v as f32) + v.round_ties_even() + v.floor() + v.ceil() + v.trunc();
        [sum, v.abs().sqrt(), (v - 3.0) / (v + 1e-3), v.min(0.5) + v.max(-0.5), whole]
    };
    assert_eq!(gpu.read::<f64>(out, 5 * n), x.iter().flat_map(results).collect::<Vec<_>>());
}

#[test]
fn halves() {
    let (gpu, module) = load("halves");
    let n = 64usize;
    let half = |seed| floats(n, seed).into_iter().map(f16::from_f32).collect::<Vec<_>>();
    let (x, y) = (half(31), half(32));
    let bits = |v: &[f16]| v.iter().map(|h| h.to_bits()).collect::<Vec<u16>>();
    let fma = |a: f32, x: f16, y: f16| f16::from_f64(f64::from(f16::from_f32(a)).mul_add(f64::from(x), f64::from(y)));
    let want: Vec<u16> = x.iter().zip(&y).map(|(x, y)| fma(1.7, *x, *y).to_bits()).collect();
    for (kernel, count) in [("axpy_half", n), ("axpy_half2", n / 2)] {
        let (a, b) = (gpu.upload(&bits(&x)), gpu.upload(&bits(&y)));
        let arguments = [Argument::from(count as i32), 1.7f32.into(), a.into(), b.into()];
        gpu.run(&module, kernel, Geometry::line(1, 64), &arguments);
        assert_eq!(gpu.read::<u16>(b, n), want, "{kernel}");
    }

    let (a, b, out) = (gpu.upload(&bits(&x)), gpu.upload(&bits(&y)), gpu.alloc::<f32>(8 * n));
    gpu.run(&module, "various", Geometry::line(1, 64), &[a.into(), b.into(), out.into()]);
    let results = |(&a, &b): (&f16, &f16)| {
        let (af, bf) = (a.to_f32(), b.to_f32());
        let round = |v: f32| f16::from_f32(v).to_f32();
        [
            round(af + bf),
            round(af - bf),
            round(af * bf),
            -af + bf.abs(),
            f32::from(u8::from(af < bf)),
            round(af * 1.0001),
            af.trunc() + bf.abs().round_ties_even(),
            round(af + af) + round(bf * bf),
        ]
    };
    assert_eq!(gpu.read::<f32>(out, 8 * n), x.iter().zip(&y).flat_map(results).collect::<Vec<_>>());
}

#[test]
fn bfloats() {
    let (gpu, module) = load("bfloats");
    let n = 64usize;
    let make = |seed| floats(n, seed).into_iter().map(bf16::from_f32).collect::<Vec<_>>();
    let (x, y) = (make(33), make(34));
    let bits = |v: &[bf16]| v.iter().map(|h| h.to_bits()).collect::<Vec<u16>>();
    let fma = |a: bf16, x: bf16, y: bf16| bf16::from_f64(f64::from(a).mul_add(f64::from(x), f64::from(y)));
    let (a, b) = (gpu.upload(&bits(&x)), gpu.upload(&bits(&y)));
    let arguments = [(n as i32).into(), 1.7f32.into(), a.into(), b.into()];
    gpu.run(&module, "axpy_bf16", Geometry::line(1, 64), &arguments);
    let want: Vec<bf16> = x.iter().zip(&y).map(|(x, y)| fma(bf16::from_f32(1.7), *x, *y)).collect();
    assert_eq!(gpu.read::<u16>(b, n), bits(&want));

    let (b, sums) = (gpu.upload(&bits(&y)), gpu.alloc::<f32>(n / 2));
    let arguments = [(n as i32 / 2).into(), a.into(), b.into(), sums.into()];
    gpu.run(&module, "pairs_bf16", Geometry::line(1, 32), &arguments);
    let want: Vec<bf16> = x.iter().zip(&y).map(|(x, y)| fma(*x, *y, *x)).collect();
    assert_eq!(gpu.read::<u16>(b, n), bits(&want));
    let want: Vec<f32> = want.chunks(2).map(|p| p[0].to_f32() + p[1].to_f32()).collect();
    assert_eq!(gpu.read::<f32>(sums, n / 2), want);
}

/// The kernel's `mixed<T>`: C computes in `int` and cuts at each assignment.
macro_rules! mixed {
    ($a:expr, $b:expr, $ty:ty, $wide:ty) => {{
        let (a, b) = ($a as $ty, $b as $ty);
        let (wa, wb) = (a as $wide, b as $wide);
        let v = wa.wrapping_mul(wb).wrapping_add(wa >> 1).wrapping_sub(wb.wrapping_shl(2)) as $ty;
        let v = ((v as $wide ^ (wa & wb)) | (!b) as $wide) as $ty;
        let first = if b == 0 { wa } else { wa.wrapping_div(wb) };
        let second = if b == 0 { 1 } else { wa.wrapping_rem(wb) };
        let v = (v as $wide).wrapping_add(first).wrapping_sub(second) as $ty;
        if v > a { v } else { v.wrapping_add(3) }
    }};
}

#[test]
fn small_integers() {
    let (gpu, module) = load("integers");
    let n = 256usize;
    let a: Vec<i8> = (0..n).map(|i| i as i8).collect();
    let b: Vec<i8> = random_words(n, 35).into_iter().map(|v| v as i8).collect();
    let (x, y) = (gpu.upload(&a), gpu.upload(&b));
    let (s8, u8s) = (gpu.alloc::<i8>(n), gpu.alloc::<u8>(n));
    let (s16, u16s) = (gpu.alloc::<i16>(n), gpu.alloc::<u16>(n));
    let arguments = [Argument::from(n as i32), x.into(), y.into(), s8.into(), u8s.into(), s16.into(), u16s.into()];
    gpu.run(&module, "small", Geometry::line(2, 128), &arguments);
    let pairs = || a.iter().zip(&b).map(|(a, b)| (i32::from(*a), i32::from(*b)));
    assert_eq!(gpu.read::<i8>(s8, n), pairs().map(|(a, b)| mixed!(a, b, i8, i32)).collect::<Vec<_>>());
    assert_eq!(gpu.read::<u8>(u8s, n), pairs().map(|(a, b)| mixed!(a, b, u8, i32)).collect::<Vec<_>>());
    let scaled = || pairs().map(|(a, b)| (a * 100, b * 3));
    assert_eq!(gpu.read::<i16>(s16, n), scaled().map(|(a, b)| mixed!(a, b, i16, i32)).collect::<Vec<_>>());
    assert_eq!(gpu.read::<u16>(u16s, n), scaled().map(|(a, b)| mixed!(a, b, u16, i32)).collect::<Vec<_>>());
}

/// Returns 64-bit numbers of all magnitudes, never 0 and never so that a division overflows.
fn wide_numbers(n: usize, seed: u32) -> Vec<i64> {
    let (low, high) = (random_words(n, seed), random_words(n, seed + 100));
    let whole = low.iter().zip(&high).enumerate();
    whole.map(|(i, (l, h))| ((u64::from(*h) << 32 | u64::from(*l)) as i64 >> (i % 60)) | 2).collect()
}

#[test]
fn large_integers() {
    let (gpu, module) = load("integers");
    let n = 256usize;
    let (a, b) = (wide_numbers(n, 36), wide_numbers(n, 37));
    let (x, y) = (gpu.upload(&a), gpu.upload(&b));
    let (s32, u32s) = (gpu.alloc::<i32>(n), gpu.alloc::<u32>(n));
    let (s64, u64s) = (gpu.alloc::<i64>(n), gpu.alloc::<u64>(n));
    let arguments = [Argument::from(n as i32), x.into(), y.into(), s32.into(), u32s.into(), s64.into(), u64s.into()];
    gpu.run(&module, "large", Geometry::line(2, 128), &arguments);
    let pairs = || a.iter().copied().zip(b.iter().copied());
    assert_eq!(gpu.read::<i32>(s32, n), pairs().map(|(a, b)| mixed!(a, b, i32, i32)).collect::<Vec<_>>());
    assert_eq!(gpu.read::<u32>(u32s, n), pairs().map(|(a, b)| mixed!(a, b, u32, u32)).collect::<Vec<_>>());
    assert_eq!(gpu.read::<i64>(s64, n), pairs().map(|(a, b)| mixed!(a, b, i64, i64)).collect::<Vec<_>>());
    assert_eq!(gpu.read::<u64>(u64s, n), pairs().map(|(a, b)| mixed!(a, b, u64, u64)).collect::<Vec<_>>());

    let out = gpu.alloc::<i64>(8 * n);
    gpu.run(&module, "wide", Geometry::line(2, 128), &[(n as i32).into(), x.into(), y.into(), out.into()]);
    let results = |(a, b): (i64, i64)| {
        let (a32, b32) = (i64::from(a as i32), i64::from(b as i32));
        let (ua, ub) = (u64::from(a as u32), u64::from(b as u32));
        let cut = |v: i64| v << 40 >> 40;
        let low = |v: u64| v & 0xFF_FFFF;
        [
            (a32 * b32) >> 32,
            ((ua * ub) >> 32) as i64,
            ((i128::from(a) * i128::from(b)) >> 64) as i64,
            ((u128::from(a as u64) * u128::from(b as u64)) >> 64) as i64,
            a32 * b32,
            (a.count_ones() + 100 * b.leading_zeros() + 10000 * (a.trailing_zeros() + 1)).into(),
            a.reverse_bits(),
            i64::from((cut(a32) * cut(b32)) as i32) + i64::from((low(ua) * low(ub)) as u32),
        ]
    };
    assert_eq!(gpu.read::<i64>(out, 8 * n), pairs().flat_map(results).collect::<Vec<_>>());
}

/// Returns the numbers of 128 bits and all magnitudes, and the edges.
fn very_wide_numbers(n: usize, seed: u32) -> Vec<u128> {
    let words: Vec<Vec<u32>> = (0..4).map(|k| random_words(n, seed + 100 * k)).collect();
    let edges = [0, 1, u128::MAX, 1 << 127, (1 << 127) - 1, 1 << 64, u64::MAX.into(), 1 << 32];
    let random = (0..n).map(|i| {
        let whole = words.iter().fold(0u128, |v, word| v << 32 | u128::from(word[i]));
        // Signed: small negative numbers, too.
        ((whole as i128) >> (i * 7 % 127)) as u128
    });
    let crossed = (0..64).map(|i| edges[if seed.is_multiple_of(2) { i / 8 } else { i % 8 }]);
    crossed.chain(random).collect()
}

#[test]
fn very_wide_integers() {
    let (gpu, module) = load("wide_integers");
    let a = very_wide_numbers(448, 50);
    let b: Vec<u128> = very_wide_numbers(448, 51).into_iter().map(|v| v.max(1)).collect();
    let n = a.len();
    let words = |list: &[u128]| list.iter().flat_map(|v| [*v as u64, (*v >> 64) as u64]).collect::<Vec<u64>>();
    let (x, y) = (gpu.upload(&words(&a)), gpu.upload(&words(&b)));
    let run = |kernel: &str| {
        let out = gpu.alloc::<u64>(2 * 8 * n);
        let arguments = [Argument::from(n as i32), x.into(), y.into(), out.into()];
        gpu.run(&module, kernel, Geometry::line(n.div_ceil(128) as u32, 128), &arguments);
        let got = gpu.read::<u64>(out, 2 * 8 * n);
        let whole = got.chunks(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64);
        whole.collect::<Vec<u128>>()
    };
    let signed = |(&a, &b): (&u128, &u128)| {
        let (a, b) = (a as i128, b as i128);
        let larger = if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) };
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a.wrapping_div(b),
            a.wrapping_rem(b),
            (a << 7).wrapping_sub(b >> 3),
            larger,
            a.wrapping_neg(),
        ]
        .map(|v| v as u128)
    };
    let unsigned = |(&a, &b): (&u128, &u128)| {
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a / b,
            a % b,
            (a << 7).wrapping_sub(b >> 3),
            a.abs_diff(b),
            a.wrapping_neg(),
        ]
    };
    let pairs = || a.iter().zip(&b);
    assert_eq!(run("signed_wide"), pairs().flat_map(signed).collect::<Vec<_>>());
    assert_eq!(run("unsigned_wide"), pairs().flat_map(unsigned).collect::<Vec<_>>());
}

#[test]
fn bit_tricks() {
    let (gpu, module) = load("bits");
    let n = 200usize;
    let (a, b) = (random_words(n, 38), random_words(n, 39));
    let (x, y, out) = (gpu.upload(&a), gpu.upload(&b), gpu.alloc::<u32>(16 * n));
    gpu.run(&module, "bits", Geometry::line(2, 128), &[(n as i32).into(), x.into(), y.into(), out.into()]);
    let results = |(&a, &b): (&u32, &u32)| {
        let (left, right) = (a.to_le_bytes(), b.to_le_bytes());
        let both = u64::from(b) << 32 | u64::from(a);
        let dot = (0..4).fold(5u32, |s, k| s.wrapping_add(u32::from(left[k]) * u32::from(right[k])));
        let signed = (0..4).fold(-5i32, |s, k| s + i32::from(left[k] as i8) * i32::from(right[k] as i8));
        let first = if a == 0 { 0 } else { a.trailing_zeros() + 1 };
        let field = (a >> (b & 31)) & 0x7F;
        // A field that ends past bit 31 takes bit 31 as its sign.
        let sign_at = ((b & 31) + 6).min(31);
        let sign = if (a >> sign_at) & 1 == 1 { !0u32 << (sign_at - (b & 31)).min(31) } else { 0 };
        let add4 = (0..4).map(|k| left[k].wrapping_add(right[k])).collect::<Vec<u8>>();
        [
            u32::from_le_bytes([left[0], left[2], right[0], right[2]]),
            ((both << (b & 31)) >> 32) as u32,
            (both >> (b & 31)) as u32,
            dot,
            signed as u32,
            a.reverse_bits(),
            a.count_ones() + 64 * b.leading_zeros() + 4096 * first,
            (a as i32).abs_diff(b as i32).wrapping_add(9),
            a.abs_diff(b).wrapping_add(9),
            field,
            field | sign,
            (b & !(0x1FF << 3)) | (a & 0x1FF) << 3,
            a ^ b ^ 0x0FF0_0FF0,
            a.rotate_left(7) ^ (b & !a) ^ (a | b),
            if a == 0 { u32::MAX } else { 31 - a.leading_zeros() },
            u32::from_le_bytes([add4[0], add4[1], add4[2], add4[3]]),
        ]
    };
    let got = gpu.read::<u32>(out, 16 * n);
    for (i, (got, pair)) in got.chunks(16).zip(a.iter().zip(&b)).enumerate() {
        assert_eq!(got, results(pair), "element {i}: {:#x} {:#x}", pair.0, pair.1);
    }
}

#[test]
fn carry_chains() {
    let (gpu, module) = load("bits");
    let n = 100usize;
    let mut a = random_words(4 * n, 40);
    let b = random_words(4 * n, 41);
    a[..4].fill(u32::MAX);
    let (x, y, out) = (gpu.upload(&a), gpu.upload(&b), gpu.alloc::<u32>(12 * n));
    gpu.run(&module, "carries", Geometry::line(1, 128), &[(n as i32).into(), x.into(), y.into(), out.into()]);
    let join = |w: &[u32]| w.iter().rev().fold(0u128, |v, w| v << 32 | u128::from(*w));
    let split = |v: u128| [v as u32, (v >> 32) as u32, (v >> 64) as u32, (v >> 96) as u32];
    let results = |(a, b): (&[u32], &[u32])| {
        let (p, q) = (join(a), join(b));
        [split(p.wrapping_add(q)), split(p.wrapping_sub(q)), split(join(&a[..2]) * join(&b[..2]))].concat()
    };
    let want: Vec<u32> = a.chunks(4).zip(b.chunks(4)).flat_map(results).collect();
    assert_eq!(gpu.read::<u32>(out, 12 * n), want);
}

/// Largest errors in units of the last place as the CUDA programming guide tells them, with room for ours.
#[test]
fn math_library_single() {
    let (gpu, module) = load("math");
    let n = 200usize;
    let x = floats(n, 42);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(16 * n));
    gpu.run(&module, "single", Geometry::line(2, 128), &[(n as i32).into(), input.into(), out.into()]);
    let got = gpu.read::<f32>(out, 16 * n);
    let check = |k: usize, ulps: f64, f: &dyn Fn(f64) -> f64| {
        let column: Vec<f32> = got.iter().skip(k).step_by(16).copied().collect();
        assert_close(&column, &x.iter().map(|&v| f(f64::from(v))).collect::<Vec<_>>(), ulps);
    };
    check(0, 2.0, &f64::exp);
    check(1, 2.0, &|v| v.abs().ln());
    check(2, 3.0, &f64::sin);
    check(3, 3.0, &f64::cos);
    check(4, 10.0, &|v| v.abs().powf(f64::from(1.7f32)));
    check(5, 0.5, &|v| v.abs().sqrt());
    check(6, 3.0, &f64::tanh);
    check(7, 0.5, &|v| 1.0 / v);
    check(8, 3.0, &|v| 1.0 / v.abs().sqrt());
    check(9, 4.0, &|v| v.atan2(f64::from(0.7f32)));
    check(10, 3.0, &f64::exp2);
    check(11, 2.0, &|v| v.abs().log2());
    check(13, 2.0, &f64::cbrt);
    check(14, 0.5, &|v| v % f64::from(0.3f32));
    let whole: Vec<f32> = got.iter().skip(15).step_by(16).copied().collect();
    let want = |&v: &f32| v.round() + v.floor() * 100.0 + v.trunc() * 10000.0;
    assert_eq!(whole, x.iter().map(want).collect::<Vec<_>>());
}

#[test]
fn math_library_double() {
    let (gpu, module) = load("math");
    let n = 100usize;
    let x: Vec<f64> = floats(n, 43).into_iter().map(f64::from).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f64>(6 * n));
    gpu.run(&module, "wide", Geometry::line(1, 128), &[(n as i32).into(), input.into(), out.into()]);
    let results = |&v: &f64| {
        let a = v.abs();
        [v.exp(), a.ln(), v.sin(), a.powf(1.7), 1.0 / a.sqrt(), v.atan()]
    };
    let want: Vec<f64> = x.iter().flat_map(results).collect();
    for (i, (g, w)) in gpu.read::<f64>(out, 6 * n).into_iter().zip(want).enumerate() {
        assert!((g - w).abs() <= 4.0 * w.abs() * f64::EPSILON, "result {i}: {g}, expected {w}");
    }
}

#[test]
fn fast_math() {
    let (gpu, module) = load("math");
    let n = 100usize;
    let x = floats(n, 44);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(8 * n));
    gpu.run(&module, "fast", Geometry::line(1, 128), &[(n as i32).into(), input.into(), out.into()]);
    for (got, x) in gpu.read::<f32>(out, 8 * n).chunks(8).zip(&x) {
        let v = f64::from(x.abs());
        let want = [v.exp(), v.ln(), v.sin(), v.cos(), 1.0 / v, v.sqrt(), v.min(1.0)];
        for (k, (g, w)) in got.iter().zip(want).enumerate() {
            assert!((f64::from(*g) - w).abs() <= 2e-6 * w.abs().max(1.0), "result {k} of {v}: {g}, expected {w}");
        }
    }
}

#[test]
fn templates() {
    let (gpu, module) = load("templates");
    let n = 128usize;
    let x = floats(n, 45);
    let (input, out) = (gpu.upload(&x), gpu.alloc::<f32>(n));
    gpu.run(&module, "each_float", Geometry::line(1, 32), &[(n as i32).into(), input.into(), out.into()]);
    let want: Vec<f32> = x.iter().enumerate().map(|(i, v)| v * (i % 4 + 1) as f32).collect();
    assert_eq!(gpu.read::<f32>(out, n), want);

    let x: Vec<i16> = random_words(n, 46).into_iter().map(|v| v as i16).collect();
    let (input, out) = (gpu.upload(&x), gpu.alloc::<i16>(n));
    gpu.run(&module, "each_short", Geometry::line(1, 64), &[(n as i32).into(), input.into(), out.into()]);
    let want: Vec<i16> = x.iter().enumerate().map(|(i, v)| v << (i % 2)).collect();
    assert_eq!(gpu.read::<i16>(out, n), want);

    let out = gpu.alloc::<f32>(64);
    gpu.run(&module, "_Z4fillIfEvPT_S0_", Geometry::line(2, 32), &[out.into(), 2.5f32.into()]);
    assert_eq!(gpu.read::<f32>(out, 64), [2.5; 64]);
}

#[test]
fn textures() {
    let (mut gpu, module) = load("textures");
    let texels: Vec<f32> = (0..16 * 8 * 4).map(|k| (k * 13 % 50) as f32).collect();
    let bytes: Vec<u8> = texels.iter().flat_map(|v| v.to_le_bytes()).collect();
    let object = |height, channels, filter| TextureObject {
        data: Arc::new(bytes.clone()),
        width: 16,
        height,
        channels,
        format: TexelFormat::F32,
        address: [AddressMode::Clamp; 2],
        filter,
        normalised_coordinates: false,
        read_as_integer: false,
    };
    gpu.textures.objects.insert(7, Arc::new(object(0, 1, FilterMode::Point)));
    gpu.textures.objects.insert(9, Arc::new(object(8, 4, FilterMode::Point)));
    let n = 16usize;
    let out = gpu.alloc::<f32>(4 * n);
    let arguments = [7u64.into(), 9u64.into(), (n as i32).into(), out.into()];
    gpu.run(&module, "textures", Geometry::line(1, 32), &arguments);
    let plane = |x: f32, y: f32, c: usize| texels[4 * (16 * (y as usize).min(7) + (x as usize).min(15)) + c];
    let want = |i: usize| {
        let (x, y) = (i as f32 * 0.37, i as f32 * 0.11);
        [texels[i], plane(i as f32, 2.0, 0), plane(x, y, 0) + plane(x, y, 3), texels[i / 4]]
    };
    assert_eq!(gpu.read::<f32>(out, 4 * n), (0..n).flat_map(want).collect::<Vec<_>>());
}

//! Numbers of 128 bits, the math library, textures.

use std::sync::Arc;

use simt::texture::{AddressMode, FilterMode, TexelFormat, TextureObject};
use tests::gpu::{Argument, Geometry};

use super::{assert_close, floats, load, random_words};

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

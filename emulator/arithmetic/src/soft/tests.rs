use super::*;
use proptest::prelude::*;

fn same64(ours: Option<u64>, native: f64) {
    match ours {
        Some(bits) => assert_eq!(bits, native.to_bits(), "{:e} {native:e}", f64::from_bits(bits)),
        None => assert!(native.is_nan()),
    }
}

fn same32(ours: Option<u64>, native: f32) {
    match ours {
        Some(bits) => assert_eq!(bits as u32, native.to_bits()),
        None => assert!(native.is_nan()),
    }
}

/// Returns bits that are often special: exponents near each other, near the ends, few ones.
fn bits64() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (any::<bool>(), 0u64..2048, 0u64..4).prop_map(|(s, e, f)| (s as u64) << 63 | e << 52 | f),
        (any::<bool>(), 1000u64..1060, any::<u64>()).prop_map(|(s, e, f)| (s as u64) << 63 | e << 52 | f >> 12),
        (any::<bool>(), 0u64..60, any::<u64>()).prop_map(|(s, e, f)| (s as u64) << 63 | e << 52 | f >> 12),
    ]
}

fn bits32() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        (any::<bool>(), 0u32..256, 0u32..4).prop_map(|(s, e, f)| (s as u32) << 31 | e << 23 | f),
        (any::<bool>(), 110u32..140, any::<u32>()).prop_map(|(s, e, f)| (s as u32) << 31 | e << 23 | f >> 9),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]
    #[test]
    fn nearest_is_native(a in bits64(), b in bits64(), c in bits64()) {
        let n = Round::Nearest;
        let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        same64(fma(a, b, c, F64, n), x.mul_add(y, z));
        same64(add(a, b, F64, n), x + y);
        same64(mul(a, b, F64, n), x * y);
        same64(div(a, b, F64, n), x / y);
        same64(sqrt(a, F64, n), x.sqrt());
        same32(convert(a, F64, F32, n), x as f32);
    }

    #[test]
    fn nearest_is_native_f32(a in bits32(), b in bits32(), c in bits32()) {
        let n = Round::Nearest;
        let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
        let (a, b, c) = (a as u64, b as u64, c as u64);
        same32(fma(a, b, c, F32, n), x.mul_add(y, z));
        same32(add(a, b, F32, n), x + y);
        same32(mul(a, b, F32, n), x * y);
        same32(div(a, b, F32, n), x / y);
        same32(sqrt(a, F32, n), x.sqrt());
        same64(convert(a, F32, F64, n), x as f64);
    }

    #[test]
    fn integers_are_native(a in any::<u64>(), shift in 0u32..64) {
        let a = a >> shift;
        prop_assert_eq!(from_integer(a as i128, F32, Round::Nearest), (a as f32).to_bits() as u64);
        prop_assert_eq!(from_integer(a as i64 as i128, F32, Round::Nearest), (a as i64 as f32).to_bits() as u64);
        prop_assert_eq!(from_integer(a as i128, F64, Round::Nearest), (a as f64).to_bits());
    }

    /// An exact `f64` result of `f32` operands shows on which side of the neighbours it lies.
    #[test]
    fn directed_roundings_enclose(a in bits32(), b in bits32()) {
        let exact = f32::from_bits(a) as f64 * f32::from_bits(b) as f64;
        prop_assume!(exact.is_finite());
        let at = |mode| f32::from_bits(mul(a as u64, b as u64, F32, mode).unwrap() as u32);
        let (down, up, zero) = (at(Round::Down), at(Round::Up), at(Round::Zero));
        prop_assert!(down as f64 <= exact && exact <= up as f64);
        prop_assert!((zero as f64).abs() <= exact.abs());
        if down as f64 == exact {
            prop_assert_eq!(down, up);
        } else {
            prop_assert_eq!(down.next_up(), up);
        }
        prop_assert!(zero == down || zero == up);
    }
}

#[test]
fn halves_are_those_of_the_half_crate() {
    for bits in 0..=u16::MAX {
        let h = half::f16::from_bits(bits);
        same32(convert(bits as u64, F16, F32, Round::Nearest), h.to_f32());
        let between = f32::from_bits(h.to_f32().to_bits().wrapping_add(0x1000));
        if let Some(ours) = convert(between.to_bits() as u64, F32, F16, Round::Nearest) {
            assert_eq!(ours as u16, half::f16::from_f32(between).to_bits(), "{between:e}");
        }
    }
}

#[test]
fn overflow_follows_the_direction() {
    let max = 0x7f7f_ffff;
    assert_eq!(add(max, max, F32, Round::Zero), Some(max));
    assert_eq!(add(max, max, F32, Round::Down), Some(max));
    assert_eq!(add(max, max, F32, Round::Up), Some(0x7f80_0000));
    assert_eq!(add(max, max, F32, Round::Nearest), Some(0x7f80_0000));
    assert_eq!(mul(1, 1, F32, Round::Up), Some(1));
    assert_eq!(mul(1, 1, F32, Round::Down), Some(0));
    assert_eq!(mul(1, 1, F64, Round::Up), Some(1));
}

#[test]
fn sums_that_cancel_are_positive_unless_rounding_down() {
    let (one, minus) = (0x3f80_0000, 0xbf80_0000);
    assert_eq!(add(one, minus, F32, Round::Nearest), Some(0));
    assert_eq!(add(one, minus, F32, Round::Down), Some(0x8000_0000));
}

use super::*;

#[test]
fn all_numbers_come_back() {
    for bits in 0..=u16::MAX {
        let number = Bf16::from_bits(bits);
        let value = number.to_f64();
        if value.is_nan() {
            assert_eq!(Bf16::from_f64(value).to_bits(), Bf16::NAN.to_bits())
        } else {
            assert_eq!(Bf16::from_f64(value).to_bits(), bits);
            assert_eq!(Bf16::from_f32(value as f32).to_bits(), bits);
        }
    }
}

#[test]
fn between_two_numbers_the_nearest_counts_and_then_the_even_one() {
    // FP32 holds neither neighbour of a middle: rounded to it first, they would be the middle.
    crate::narrow::check_rounding(0x7f7f, 0x8000, |bits| Bf16(bits).to_f64(), |value| Bf16::from_f64(value).0);
    for bits in 0..0x7f7f {
        let middle = (Bf16(bits).to_f64() + Bf16(bits + 1).to_f64()) / 2.0;
        assert_eq!(Bf16::from_f32(middle as f32).to_bits(), bits + bits % 2);
    }
}

#[test]
fn what_is_too_large_is_infinite() {
    for infinite in [f64::INFINITY, f64::MAX, 3.4e38] {
        assert_eq!(Bf16::from_f64(infinite).to_f64(), f64::INFINITY);
        assert_eq!(Bf16::from_f64(-infinite).to_f64(), f64::NEG_INFINITY);
    }
}

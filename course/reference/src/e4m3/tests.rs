use super::*;

#[test]
fn all_numbers_come_back() {
    for bits in (0..=255).filter(|bits| bits & 0x7f <= LARGEST) {
        let number = E4m3::from_bits(bits);
        assert_eq!(E4m3::from_f64(number.to_f64()).to_bits(), bits);
    }
}

#[test]
fn between_two_numbers_the_nearest_counts_and_then_the_even_one() {
    let to_f64 = |bits| E4m3(bits as u8).to_f64();
    crate::narrow::check_rounding(LARGEST.into(), 0x80, to_f64, |value| E4m3::from_f64(value).0.into());
}

#[test]
fn numbers_are_those_of_the_format() {
    let of = |value| E4m3::from_f64(value).to_bits();
    // 1 = 1.000 · 2⁰ has the exponent 7.
    assert_eq!([of(0.0), of(1.0), of(-1.5), of(448.0)], [0, 0x38, 0xbc, LARGEST]);
    assert_eq!([of(2.0_f64.powi(-9)), of(2.0_f64.powi(-10))], [1, 0]);
    assert_eq!([of(0.0019), of(0.0156), of(0.9), of(-0.5)], [1, 8, 0x36, 0xb0]);
    assert_eq!([of(1e9), of(f64::INFINITY), of(f64::NAN)], [LARGEST, LARGEST, 0x7f]);
}

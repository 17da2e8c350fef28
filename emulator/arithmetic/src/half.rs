//! `f16` and `bf16`: to and from `f32`, without branches, so that it vectorises.

#[inline(always)]
pub fn f16_to_f32(h: u16) -> f32 {
    let sign = (h as u32 & 0x8000) << 16;
    let magnitude = (h as u32 & 0x7fff) << 13;
    // The exponent's bias differs by 112. The product is exact, and takes subnormals along.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = magnitude | 0x7f80_0000;
    f32::from_bits(sign | if h & 0x7c00 == 0x7c00 { special } else { scaled })
}

#[inline(always)]
pub fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits((h as u32) << 16)
}

/// Rounds to nearest even; every NaN becomes `0x7fff`.
///
/// After Fabian Giesen's `float_to_half_fast3_rtne`.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Adding 0.5 aligns a subnormal result's last bit with the last bit of the sum, which rounds.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    let finite = if magnitude < 113 << 23 { small } else { normal };
    let large = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
    if magnitude > 0x7f80_0000 { 0x7fff } else { (sign | large) as u16 }
}

/// Rounds to nearest even; every NaN becomes `0x7fff`.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if x.is_nan() { 0x7fff } else { rounded as u16 }
}

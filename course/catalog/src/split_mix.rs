//! SplitMix64, after Steele, Lea and Flood (2014): numbers that are the same on every platform, today and later.

pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws a size between `least` and `most`, small ones as often as large ones.
    pub fn size(&mut self, least: f64, most: f64) -> usize {
        let unit = (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (least * (most / least).powf(unit)) as usize
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % n as u64) as usize
    }
}

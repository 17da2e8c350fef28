//! SHA-256 (FIPS 180-4), for the provenance of files: which text a file was made from.
//!
//! Sixty lines in place of `sha2`, which brings seven crates and three CPU seconds to the first build. A crate of its
//! own, because hashing takes an eighth of the sums of C where it is not optimised.

#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

/// Fractional parts of the cube roots of the first 64 primes.
const ROUND_CONSTANTS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

/// Fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// Computes SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hasher = Sha256::default();
    hasher.update(bytes);
    hasher.finish()
}

/// SHA-256 of text that comes in parts; a copy goes on from the same beginning.
#[derive(Debug, Clone)]
pub struct Sha256 {
    state: [u32; 8],
    n_bytes: u64,
    /// The bytes after the last whole block.
    rest: Vec<u8>,
}

impl Default for Sha256 {
    fn default() -> Self {
        Self { state: START, n_bytes: 0, rest: Vec::new() }
    }
}

impl Sha256 {
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        if !self.rest.is_empty() {
            let (missing, others) = bytes.split_at(bytes.len().min(64 - self.rest.len()));
            self.rest.extend_from_slice(missing);
            bytes = others;
            if let Ok(block) = self.rest.as_slice().try_into() {
                compress(&mut self.state, block);
                self.rest.clear();
            }
        }
        let (blocks, rest) = bytes.as_chunks::<64>();
        for block in blocks {
            compress(&mut self.state, block);
        }
        self.rest.extend_from_slice(rest);
    }

    /// Returns the hash in hexadecimal digits.
    pub fn finish(mut self) -> String {
        // The padding: one bit, zeros, and the length in bits at the end of a block.
        let mut tail = [0; 128];
        tail[..self.rest.len()].copy_from_slice(&self.rest);
        tail[self.rest.len()] = 0x80;
        let end = if self.rest.len() < 56 { 64 } else { 128 };
        tail[end - 8..end].copy_from_slice(&(8 * self.n_bytes).to_be_bytes());
        for block in tail[..end].as_chunks::<64>().0 {
            compress(&mut self.state, block);
        }
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut words = [0; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let small_0 = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let small_1 = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        words[at] = u32::wrapping_add(words[at - 16], small_0).wrapping_add(words[at - 7]).wrapping_add(small_1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (constant, word) in ROUND_CONSTANTS.iter().zip(words) {
        let big_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(big_1).wrapping_add(choice).wrapping_add(*constant).wrapping_add(word);
        let big_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(big_0).wrapping_add(majority));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

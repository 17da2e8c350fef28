//! A quick hash for names: decoding looks up every operand of every instruction.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with names or numbers as keys.
pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Folds eight bytes at a time into the state by a 128-bit product, after wyhash by Wang Yi.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quick(u64);

impl Quick {
    fn fold(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0xa076_1d64_78bd_642f) * u128::from(value ^ 0xe703_7ed1_a0b4_28db);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(word) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, value: u8) {
        // `str` hashes a constant byte behind its text.
        self.0 ^= u64::from(value);
    }

    fn write_u32(&mut self, value: u32) {
        self.fold(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.fold(value);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

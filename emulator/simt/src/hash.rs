//! A fast hash for tables by number: line, chunk, instruction.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hash of numbers that kernels choose only within their own memory: it need not resist numbers chosen to collide.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberHasher(u64);

pub type BuildNumberHasher = BuildHasherDefault<NumberHasher>;

pub type NumberMap<T> = HashMap<u64, T, BuildNumberHasher>;

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

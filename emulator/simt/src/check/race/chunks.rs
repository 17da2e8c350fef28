//! Tables by the number of a chunk.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by the number of a chunk.
pub(super) type Chunks<T> = HashMap<u64, T, BuildHasherDefault<ChunkHasher>>;

/// A fast hash of chunk numbers, which programs choose only within their own memory.
#[derive(Debug, Default)]
pub(super) struct ChunkHasher(u64);

impl Hasher for ChunkHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

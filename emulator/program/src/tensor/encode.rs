//! The 128 bytes of a tensor map.

use super::{Element, Fill, RANKS, Swizzle, TensorMap, TensorMapArguments};

pub const BYTES: usize = 128;

const MAGIC: u64 = u64::from_le_bytes(*b"tile map");

const ELEMENTS: [Element; 11] = [
    Element::U8,
    Element::U16,
    Element::U32,
    Element::S32,
    Element::U64,
    Element::S64,
    Element::F16,
    Element::F32,
    Element::F64,
    Element::Bf16,
    Element::Tf32,
];
const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];
const FILLS: [Fill; 2] = [Fill::Zeros, Fill::Nan];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotATensorMap {
    Zeros,
    /// The bytes begin like a map and changed after encoding.
    Changed,
    Other,
}

/// Word offsets of the fields.
mod word {
    pub(super) const ADDRESS: usize = 1;
    pub(super) const KINDS: usize = 2;
    /// Two dimensions per word.
    pub(super) const DIMS: usize = 3;
    pub(super) const STRIDES: usize = 6;
    pub(super) const BOX: usize = 10;
    pub(super) const HASH: usize = 15;
}

impl TensorMap {
    pub fn encode(&self) -> [u8; BYTES] {
        let place = |found: Option<usize>| found.unwrap_or(0) as u64;
        let mut words = [0u64; BYTES / 8];
        words[0] = MAGIC;
        words[word::ADDRESS] = self.address;
        words[word::KINDS] = self.rank as u64
            | place(ELEMENTS.iter().position(|e| *e == self.element)) << 8
            | place(SWIZZLES.iter().position(|s| *s == self.swizzle)) << 16
            | place(FILLS.iter().position(|f| *f == self.fill)) << 24;
        for d in 0..RANKS {
            words[word::DIMS + d / 2] |= (self.dims[d] - 1) << (d % 2 * 32);
            words[word::BOX + d / 2] |= u64::from(self.box_dims[d] | self.steps[d] << 16) << (d % 2 * 32);
        }
        words[word::STRIDES..][..RANKS - 1].copy_from_slice(&self.strides[1..]);
        words[word::HASH] = hash(&words);
        let mut bytes = [0; BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8; BYTES]) -> Result<Self, NotATensorMap> {
        let (chunks, _) = bytes.as_chunks::<8>();
        let words: [u64; BYTES / 8] = std::array::from_fn(|i| u64::from_le_bytes(chunks[i]));
        refuse_if!(words == [0; BYTES / 8], NotATensorMap::Zeros);
        refuse_if!(words[0] != MAGIC, NotATensorMap::Other);
        let changed = NotATensorMap::Changed;
        refuse_if!(words[word::HASH] != hash(&words), changed);
        let kinds = words[word::KINDS].to_le_bytes().map(usize::from);
        let rank = kinds[0].min(RANKS);
        let half = |first: usize, d: usize| (words[first + d / 2] >> (d % 2 * 32)) as u32;
        let dims: [u64; RANKS] = std::array::from_fn(|d| u64::from(half(word::DIMS, d)) + 1);
        let boxes: [u32; RANKS] = std::array::from_fn(|d| half(word::BOX, d) & 0xFFFF);
        let steps: [u32; RANKS] = std::array::from_fn(|d| half(word::BOX, d) >> 16);
        // Bytes with the right hash can still hold any values.
        Self::new(TensorMapArguments {
            address: words[word::ADDRESS],
            element: *ELEMENTS.get(kinds[1]).ok_or(changed)?,
            dims: &dims[..rank],
            strides: &words[word::STRIDES..][..rank.saturating_sub(1)],
            box_dims: &boxes[..rank],
            steps: &steps[..rank],
            swizzle: *SWIZZLES.get(kinds[2]).ok_or(changed)?,
            fill: *FILLS.get(kinds[3]).ok_or(changed)?,
        })
        .map_err(|_| changed)
    }
}

fn hash(words: &[u64; BYTES / 8]) -> u64 {
    words[..word::HASH]
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01B3).rotate_left(29))
}

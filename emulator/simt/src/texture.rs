//! Texture objects: the array that a fetch reads, and how it is sampled.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Type of a texel's channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the driver's array formats of the same names")]
pub enum TexelFormat {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl TexelFormat {
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }
}

/// Addressing outside the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    /// Repeat (normalised coordinates only, else as `Clamp`).
    Wrap,
    /// The texel at the nearest edge.
    Clamp,
    /// Repeat, every second time mirrored (normalised coordinates only, else as `Clamp`).
    Mirror,
    /// Zero in all channels.
    Border,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterMode {
    /// The nearest texel.
    Point,
    /// Weighted with 8 bits of fraction, as the hardware does it.
    Linear,
}

/// A texture object: an array and how it is sampled.
#[derive(Debug, Clone)]
pub struct TextureObject {
    /// Texels, row by row without gaps, channels together. Where there are fewer than the size has, the rest is zero.
    pub data: Arc<Vec<u8>>,
    pub width: u32,
    /// Rows; 0 or 1 for a one-dimensional texture.
    pub height: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    pub format: TexelFormat,
    /// Addressing outside of the array in x and in y.
    pub address: [AddressMode; 2],
    pub filter: FilterMode,
    /// Whether coordinates run from 0 to 1.
    pub normalised_coordinates: bool,
    /// Whether 8- and 16-bit integers are read as they are, instead of as 0 … 1 or -1 … 1.
    pub read_as_integer: bool,
}

/// The texture objects that a launch can fetch from, by handle.
#[derive(Debug, Clone, Default)]
pub struct Textures {
    pub objects: BTreeMap<u64, Arc<TextureObject>>,
}

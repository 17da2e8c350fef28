//! Tensor maps: an array in global memory of one to five dimensions, and the boxes that `cp.async.bulk.tensor` copies.
//!
//! [`TensorMap::new`] checks the rules of `cuTensorMapEncodeTiled`. [`TensorMap::runs`] gives the bytes that a copy
//! moves: their addresses in global and in shared memory, where a swizzle exchanges 16-byte pieces.
//! [`TensorMap::encode`] makes the 128 opaque bytes that kernels take; NVIDIA's differ.

mod encode;
mod rule;
#[cfg(test)]
mod tests;

pub use encode::{BYTES, NotATensorMap};
pub use rule::Rule;

/// Upper bound of a tensor's dimensions.
pub const RANKS: usize = 5;
/// Alignment of a copy's address in shared memory.
pub const SHARED_ALIGN: u32 = 128;
/// Bytes that a swizzle keeps together.
const PIECE: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    /// `f32` that a load rounds to TF32.
    Tf32,
}

impl Element {
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }
}

/// Permutation of the 16-byte pieces in shared memory: bits of their number are XORed with higher address bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    /// Returns the bytes of the rows in which pieces change places; 0 without a swizzle.
    pub fn span(self) -> u64 {
        match self {
            Self::None => 0,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B128 => 128,
        }
    }

    /// Returns the swizzled address of a byte. The function is its own inverse.
    pub fn apply(self, address: u32) -> u32 {
        let pieces = match self {
            Self::None => 0,
            Self::B32 => 0x10,
            Self::B64 => 0x30,
            Self::B128 => 0x70,
        };
        address ^ (address >> 3 & pieces)
    }
}

/// Values of elements outside the tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Zeros,
    Nan,
}

/// A tensor and its boxes. Dimensions are innermost first; those beyond the rank have one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorMap {
    /// Address of the first element in global memory.
    pub address: u64,
    pub element: Element,
    pub rank: usize,
    pub dims: [u64; RANKS],
    /// Bytes from one element to the next along each dimension.
    pub strides: [u64; RANKS],
    /// The box, in elements of the tensor.
    pub box_dims: [u32; RANKS],
    /// Traversal strides, in elements: a copy takes one element of each `steps`.
    pub steps: [u32; RANKS],
    pub swizzle: Swizzle,
    pub fill: Fill,
}

/// Arguments of `cuTensorMapEncodeTiled`.
pub struct TensorMapArguments<'a> {
    pub address: u64,
    pub element: Element,
    pub dims: &'a [u64],
    /// Bytes from one element to the next, without the innermost dimension.
    pub strides: &'a [u64],
    pub box_dims: &'a [u32],
    pub steps: &'a [u32],
    pub swizzle: Swizzle,
    pub fill: Fill,
}

/// Consecutive bytes of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub shared: u32,
    /// Address in global memory; `None` outside the tensor.
    pub global: Option<u64>,
    pub bytes: u32,
}

impl TensorMap {
    /// Creates a map, if it follows the rules.
    pub fn new(arguments: TensorMapArguments<'_>) -> Result<Self, Rule> {
        let TensorMapArguments { address, element, dims, strides, box_dims, steps, swizzle, fill } = arguments;
        let rank = dims.len();
        if !(1..=RANKS).contains(&rank) || strides.len() != rank - 1 || [box_dims.len(), steps.len()] != [rank; 2] {
            return Err(Rule::Rank(rank as u64));
        }
        let mut map = Self {
            address,
            element,
            rank,
            dims: [1; RANKS],
            strides: [0; RANKS],
            box_dims: [1; RANKS],
            steps: [1; RANKS],
            swizzle,
            fill,
        };
        map.dims[..rank].copy_from_slice(dims);
        map.strides[0] = element.bytes();
        map.strides[1..rank].copy_from_slice(strides);
        map.box_dims[..rank].copy_from_slice(box_dims);
        map.steps[..rank].copy_from_slice(steps);
        rule::check(&map)?;
        // Elements of a row are always neighbours.
        map.steps[0] = 1;
        Ok(map)
    }

    /// Describes consecutive bytes, a multiple of four, as a tensor that is one box.
    pub fn line(address: u64, bytes: u32) -> Self {
        let n = bytes / 4;
        Self {
            address,
            element: Element::U32,
            rank: 1,
            dims: [n.into(), 1, 1, 1, 1],
            strides: [4, 0, 0, 0, 0],
            box_dims: [n, 1, 1, 1, 1],
            steps: [1; RANKS],
            swizzle: Swizzle::None,
            fill: Fill::Zeros,
        }
    }

    /// Returns the map with another tensor address.
    pub fn at(self, address: u64) -> Result<Self, Rule> {
        let map = Self { address, ..self };
        rule::check(&map)?;
        Ok(map)
    }

    /// Returns the elements that a copy moves along each dimension.
    pub fn extent(&self) -> [u64; RANKS] {
        std::array::from_fn(|d| u64::from(self.box_dims[d].div_ceil(self.steps[d])))
    }

    fn row_bytes(&self) -> u64 {
        self.extent()[0] * self.element.bytes()
    }

    /// Returns the bytes that a copy reports to its barrier: the whole box, parts outside the tensor included.
    pub fn box_bytes(&self) -> u64 {
        self.extent()[1..].iter().product::<u64>() * self.row_bytes()
    }

    /// Returns the row pitch of the box in shared memory: at least the width of the swizzle.
    fn pitch(&self) -> u64 {
        self.row_bytes().max(self.swizzle.span())
    }

    pub fn shared_bytes(&self) -> u64 {
        self.extent()[1..].iter().product::<u64>() * self.pitch()
    }

    /// Returns the bytes of the box at `at`, in element order, for a copy to `shared`, which wraps at 32 bits.
    pub fn runs(&self, at: [i32; RANKS], shared: u32) -> Vec<Run> {
        let extent = self.extent();
        let mut runs = Vec::new();
        let (element, pitch) = (self.element.bytes(), self.pitch());
        // Part of each row inside the tensor.
        let first = i64::from(at[0]);
        let width = extent[0] as i64;
        let from = (-first).clamp(0, width) as u64;
        let to = (self.dims[0] as i64 - first).clamp(from as i64, width) as u64;
        let piece = match self.swizzle {
            Swizzle::None => u64::MAX,
            _ => PIECE,
        };
        let mut index = [0u64; RANKS];
        for row in 0..extent[1..].iter().product() {
            let mut start = Some(self.address);
            for d in 1..self.rank {
                let coordinate = i64::from(at[d]) + index[d] as i64 * i64::from(self.steps[d]);
                start = start
                    .filter(|_| (0..self.dims[d] as i64).contains(&coordinate))
                    .map(|start| start.saturating_add((coordinate as u64).saturating_mul(self.strides[d])));
            }
            let (from, to) = if start.is_some() { (from, to) } else { (0, 0) };
            for (part, inside) in [(0..from, false), (from..to, true), (to..extent[0], false)] {
                let (mut offset, end) = (part.start * element, part.end * element);
                while offset < end {
                    let next = match piece {
                        u64::MAX => end,
                        _ => end.min((offset / piece + 1) * piece),
                    };
                    let place = (shared as u64).wrapping_add(row * pitch + offset) as u32;
                    let global = start
                        .filter(|_| inside)
                        .map(|start| start.saturating_add_signed(first * element as i64 + offset as i64));
                    runs.push(Run { shared: self.swizzle.apply(place), global, bytes: (next - offset) as u32 });
                    offset = next;
                }
            }
            // Next row: the second dimension runs fastest.
            if let Some(d) = (1..RANKS).find(|&d| index[d] + 1 < extent[d]) {
                index[1..d].fill(0);
                index[d] += 1;
            }
        }
        runs
    }

    /// Returns the value of elements outside the tensor, in eight bytes. NaNs are two equal bytes, as on an H200.
    pub fn outside(&self) -> u64 {
        match self.fill {
            Fill::Zeros => 0,
            Fill::Nan => 0x7FF7_7FF7_7FF7_7FF7,
        }
    }

    /// Returns the map for stores, which write whole pieces of 16 bytes: on an H200, also past the end of a row.
    pub fn for_stores(self) -> Self {
        let each = self.element.bytes();
        let mut map = self;
        map.dims[0] = (map.dims[0] * each).next_multiple_of(PIECE) / each;
        map
    }

    /// Returns the conversion that a load applies to four bytes, if any.
    pub fn converted(&self) -> Option<fn(u32) -> u32> {
        (self.element == Element::Tf32).then_some(rounded_to_tf32)
    }
}

/// Rounds to nearest even, as an H200 does; denormal numbers stay, and all NaNs become one.
fn rounded_to_tf32(bits: u32) -> u32 {
    const DROPPED: u32 = 13;
    if f32::from_bits(bits).is_nan() {
        return 0x7FFF_E000;
    }
    let half = (1 << (DROPPED - 1)) - 1 + (bits >> DROPPED & 1);
    (bits + half) >> DROPPED << DROPPED
}

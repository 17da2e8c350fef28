//! The rules that the arguments of `cuTensorMapEncodeTiled` follow.

use std::fmt;

use super::{Fill, PIECE, RANKS, TensorMap};

/// The largest box, measured on an H200: all shared memory of a multiprocessor, 1 KiB more than a block can have.
const SHARED_BYTES: u64 = 228 << 10;

/// A broken rule, with the number that breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A tensor has 1 to 5 dimensions.
    Rank(u64),
    /// The tensor starts at a multiple of 16.
    Address(u64),
    /// A dimension (its number, from 0) has 1 to 2³² elements.
    Dimension(usize, u64),
    /// A stride is a multiple of 16 below 2⁴⁰.
    Stride(usize, u64),
    /// A box has 1 to 256 elements along a dimension.
    Box(usize, u64),
    /// A step is 1 to 8.
    Step(usize, u64),
    /// A box fits in shared memory.
    BoxBytes(u64),
    /// A row of the box has a multiple of 16 bytes.
    Row(u64),
    /// A row of the box has at most as many bytes as the swizzle is wide.
    Swizzle(u64, u64),
    /// Only floating-point elements have a NaN.
    Nan,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Rank(n) => write!(f, "a tensor has 1 to {RANKS} dimensions, not {n}"),
            Self::Address(at) => {
                write!(f, "the address of the tensor, {at:#x}, is not a multiple of {PIECE}")
            }
            Self::Dimension(d, n) => {
                write!(f, "globalDim[{d}] is {n}; a dimension has 1 to 4294967296 elements")
            }
            Self::Stride(d, n) if n % PIECE != 0 => {
                write!(f, "globalStrides[{d}] is {n}; a stride is a multiple of {PIECE} bytes")
            }
            Self::Stride(d, n) => write!(f, "globalStrides[{d}] is {n}; a stride is below 2^40 bytes"),
            Self::Box(d, n) => write!(f, "boxDim[{d}] is {n}; a box has 1 to 256 elements along a dimension"),
            Self::BoxBytes(n) => write!(f, "the box has {n} bytes, more than shared memory holds"),
            Self::Step(d, n) => write!(f, "elementStrides[{d}] is {n}; an element stride is 1 to 8"),
            Self::Row(n) => {
                write!(f, "a row of the box has {n} bytes (boxDim[0] elements), which is not a multiple of {PIECE}")
            }
            Self::Swizzle(n, span) => {
                write!(f, "a row of the box has {n} bytes (boxDim[0] elements), more than the {span} of the swizzle")
            }
            Self::Nan => write!(f, "only floating-point elements can be filled with NaN"),
        }
    }
}

pub(super) fn check(map: &TensorMap) -> Result<(), Rule> {
    refuse_if!(!map.address.is_multiple_of(PIECE), Rule::Address(map.address));
    for d in 0..map.rank {
        refuse_if!(!(1..=1 << 32).contains(&map.dims[d]), Rule::Dimension(d, map.dims[d]));
    }
    for d in 1..map.rank {
        let stride = map.strides[d];
        refuse_if!(!stride.is_multiple_of(PIECE) || stride >= 1 << 40, Rule::Stride(d - 1, stride));
    }
    for d in 0..map.rank {
        refuse_if!(!(1..=256).contains(&map.box_dims[d]), Rule::Box(d, map.box_dims[d].into()));
        refuse_if!(!(1..=8).contains(&map.steps[d]), Rule::Step(d, map.steps[d].into()));
    }
    let row = u64::from(map.box_dims[0]) * map.element.bytes();
    let span = map.swizzle.span();
    refuse_if!(!row.is_multiple_of(PIECE), Rule::Row(row));
    refuse_if!(map.shared_bytes() > SHARED_BYTES, Rule::BoxBytes(map.shared_bytes()));
    refuse_if!(span != 0 && row > span, Rule::Swizzle(row, span));
    refuse_if!(map.fill == Fill::Nan && !map.element.is_float(), Rule::Nan);
    Ok(())
}

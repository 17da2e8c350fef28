//! The rules that the arguments of `cuTensorMapEncodeTiled` follow.

use super::{Element, Fill, PIECE, RANKS, TensorMap};

/// The largest box, measured on an H200: all shared memory of a multiprocessor, 1 KiB more than a block can have.
const SHARED_BYTES: u64 = 228 << 10;

/// A broken rule, with the number that breaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    #[error("a tensor has 1 to {RANKS} dimensions, not {0}")]
    Rank(u64),
    #[error("the address of the tensor, {0:#x}, is not a multiple of {PIECE}")]
    Address(u64),
    #[error("globalDim[{0}] is {1}; a dimension has 1 to 4294967296 elements")]
    Dimension(usize, u64),
    #[error("globalStrides[{0}] is {1}; a stride is a multiple of {PIECE} bytes")]
    Stride(usize, u64),
    #[error("globalStrides[{0}] is {1}; a stride is below 2^40 bytes")]
    LongStride(usize, u64),
    #[error("boxDim[{0}] is {1}; a box has 1 to 256 elements along a dimension")]
    Box(usize, u64),
    #[error("elementStrides[{0}] is {1}; an element stride is 1 to 8")]
    Step(usize, u64),
    #[error("the box has {0} bytes, more than shared memory holds")]
    BoxBytes(u64),
    #[error("a row of the box has {0} bytes (boxDim[0] elements), which is not a multiple of {PIECE}")]
    Row(u64),
    #[error("a row of the box has {0} bytes (boxDim[0] elements), more than the {1} of the swizzle")]
    Swizzle(u64, u64),
    #[error("only floating-point elements can be filled with NaN")]
    Nan,
}

pub(super) fn check(map: &TensorMap) -> Result<(), Rule> {
    refuse_if!(!map.address.is_multiple_of(PIECE), Rule::Address(map.address));
    for d in 0..map.rank {
        refuse_if!(!(1..=1 << 32).contains(&map.dims[d]), Rule::Dimension(d, map.dims[d]));
    }
    for d in 1..map.rank {
        let stride = map.strides[d];
        refuse_if!(!stride.is_multiple_of(PIECE), Rule::Stride(d - 1, stride));
        refuse_if!(stride >= 1 << 40, Rule::LongStride(d - 1, stride));
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
    let is_float = matches!(map.element, Element::F16 | Element::Bf16 | Element::F32 | Element::F64 | Element::Tf32);
    refuse_if!(map.fill == Fill::Nan && !is_float, Rule::Nan);
    Ok(())
}

//! Tensor maps.
//!
//! `cuTensorMapEncodeIm2col` and interleaved layouts are not supported.

use std::ffi::c_uint;

use program::tensor::{BYTES, Element, Fill, Rule, Swizzle, TensorMap, TensorMapArguments};

use crate::api::ready_for;
use crate::ffi::{In, Out, by_number, export};
use crate::host_mistakes;
use crate::result::*;

/// `CUtensorMap`
type Bytes = [u8; BYTES];

/// Values of `CUtensorMapDataType`. The forms of FP32 and TF32 that flush denormals do not when an H200 copies.
const ELEMENTS: [Element; 13] = {
    use Element::*;
    [U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32, Tf32, Tf32]
};
const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

const ENCODE: &str = "cuTensorMapEncodeTiled";
const REPLACE: &str = "cuTensorMapReplaceAddress";

/// Explains a refused tensor map; `why` is a clause.
fn refused(call: &str, why: &str) -> CUresult {
    host_mistakes::explain(&format!("{call}: {why}"));
    ERROR_INVALID_VALUE
}

export! {
    fn cuTensorMapEncodeTiled 12000(
        out: Out<Bytes>, kind: c_uint, rank: u32, address: u64, dims: In<u64>, strides: In<u64>,
        box_dims: In<u32>, steps: In<u32>, interleave: c_uint, swizzle_mode: c_uint, l2_promotion: c_uint,
        fill: c_uint,
    ) {
        ready_for(out)?;
        let element = by_number(&ELEMENTS, kind)?;
        let rank = rank as usize;
        if !(1..=program::tensor::RANKS).contains(&rank) {
            return Err(refused(ENCODE, &Rule::Rank(rank as u64).to_string()));
        }
        match interleave {
            0 => {}
            1 | 2 => {
                host_mistakes::explain("tensor maps with interleaved layouts are not supported");
                return Err(ERROR_NOT_SUPPORTED);
            }
            _ => return Err(ERROR_INVALID_VALUE),
        }
        refuse_if(l2_promotion > 3, ERROR_INVALID_VALUE)?;
        let fill = by_number(&[Fill::Zeros, Fill::Nan], fill)?;
        // SAFETY: the C caller promised a number for each dimension, and a stride for each but the first.
        let (dims, strides, box_dims, steps) =
            unsafe { (dims.list(rank)?, strides.list(rank - 1)?, box_dims.list(rank)?, steps.list(rank)?) };
        let swizzle = by_number(&SWIZZLES, swizzle_mode)?;
        let (dims, strides, box_dims, steps) = (&dims, &strides, &box_dims, &steps);
        let map =
            TensorMap::new(TensorMapArguments { address, element, dims, strides, box_dims, steps, swizzle, fill });
        out.put(map.map_err(|rule| refused(ENCODE, &rule.to_string()))?.encode())
    }

    fn cuTensorMapReplaceAddress 12000(map: Out<Bytes>, address: u64) {
        ready_for(map)?;
        let old = TensorMap::decode(&map.get()?)
            .map_err(|_| refused(REPLACE, "the map was not made by cuTensorMapEncodeTiled"))?;
        let new = old.at(address).map_err(|rule| refused(REPLACE, &rule.to_string()))?;
        map.put(new.encode())
    }
}

//! Tensor maps.
//!
//! `cuTensorMapEncodeIm2col` and interleaved layouts are not supported.

use std::ffi::c_uint;

use simt::program::tensor::{BYTES, Element, Fill, Rule, Swizzle, TensorMap};

use crate::api::ready_for;
use crate::ffi::{In, Out, export};
use crate::mistakes;
use crate::result::*;

/// `CUtensorMap`
type Bytes = [u8; BYTES];

fn element(kind: c_uint) -> Outcome<Element> {
    Ok(match kind {
        0 => Element::U8,
        1 => Element::U16,
        2 => Element::U32,
        3 => Element::S32,
        4 => Element::U64,
        5 => Element::S64,
        6 => Element::F16,
        7 => Element::F32,
        8 => Element::F64,
        9 => Element::Bf16,
        // An H200 flushes nothing when it copies.
        10 => Element::F32,
        11 | 12 => Element::Tf32,
        _ => return Err(ERROR_INVALID_VALUE),
    })
}

fn swizzle(mode: c_uint) -> Outcome<Swizzle> {
    Ok(match mode {
        0 => Swizzle::None,
        1 => Swizzle::B32,
        2 => Swizzle::B64,
        3 => Swizzle::B128,
        _ => return Err(ERROR_INVALID_VALUE),
    })
}

const ENCODE: &str = "cuTensorMapEncodeTiled";
const REPLACE: &str = "cuTensorMapReplaceAddress";

fn refused(call: &str, why: &str) -> CUresult {
    mistakes::tensor_map(call, why);
    ERROR_INVALID_VALUE
}

export! {
    fn cuTensorMapEncodeTiled 12000(
        out: Out<Bytes>, kind: c_uint, rank: u32, address: u64, dims: In<u64>, strides: In<u64>,
        box_dims: In<u32>, steps: In<u32>, interleave: c_uint, swizzle_mode: c_uint, l2_promotion: c_uint,
        fill: c_uint,
    ) {
        ready_for(out)?;
        let element = element(kind)?;
        let rank = rank as usize;
        if !(1..=simt::program::tensor::RANKS).contains(&rank) {
            return Err(refused(ENCODE, &Rule::Rank(rank as u64).to_string()));
        }
        match interleave {
            0 => {}
            1 | 2 => {
                mistakes::interleaved();
                return Err(ERROR_NOT_SUPPORTED);
            }
            _ => return Err(ERROR_INVALID_VALUE),
        }
        refuse_if(l2_promotion > 3, ERROR_INVALID_VALUE)?;
        let fill = match fill {
            0 => Fill::Zeros,
            1 => Fill::Nan,
            _ => return Err(ERROR_INVALID_VALUE),
        };
        // SAFETY: the C caller promised a number for each dimension, and a stride for each but the first.
        let (dims, strides, box_dims, steps) =
            unsafe { (dims.list(rank)?, strides.list(rank - 1)?, box_dims.list(rank)?, steps.list(rank)?) };
        let swizzle = swizzle(swizzle_mode)?;
        let map = TensorMap::new(address, element, &dims, &strides, &box_dims, &steps, swizzle, fill);
        out.put(map.map_err(|rule| refused(ENCODE, &rule.to_string()))?.encode())
    }

    fn cuTensorMapReplaceAddress 12000(map: Out<Bytes>, address: u64) {
        ready_for(map)?;
        let old = TensorMap::decode(&map.get()?)
            .map_err(|_| refused(REPLACE, "the map is none that cuTensorMapEncodeTiled made"))?;
        let new = old.at(address).map_err(|rule| refused(REPLACE, &rule.to_string()))?;
        map.put(new.encode())
    }
}

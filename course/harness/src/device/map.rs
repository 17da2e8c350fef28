//! Tensor maps: how the unit that copies boxes of a matrix finds them.

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion,
    CUtensorMapSwizzle,
};
use cudarc::driver::{DeviceRepr, DriverError};
use reference::Bf16;

use reference::E4m3;

/// Alignment, in bytes, of the rows of a matrix that a map describes.
pub const ALIGNED: usize = 16;

// ANCHOR: map
/// A tensor map, as a kernel takes it: 128 bytes that only the driver and the card understand.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct TensorMap(CUtensorMap);

// SAFETY: plain bytes, which the driver wrote to be passed to kernels.
unsafe impl DeviceRepr for TensorMap {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    F32,
    /// FP32 that a copy to shared memory rounds to TF32.
    Tf32,
    /// The upper halves of floats.
    Bf16,
    /// Numbers of 8 bits. A map takes them for bytes.
    E4m3,
}

impl Element {
    const fn bytes(self) -> usize {
        match self {
            Element::F32 | Element::Tf32 => size_of::<f32>(),
            Element::Bf16 => size_of::<Bf16>(),
            Element::E4m3 => size_of::<E4m3>(),
        }
    }
}

/// Order of the 16-byte pieces of a box's rows in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swizzle {
    None,
    /// The pieces of a row change places with the row, so that a warp reads a column of them from different banks.
    ByRow,
}

/// The order in which an operand of a library's product is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A as M × K, B as K × N.
    AsIs,
    /// A as K × M, B as N × K.
    Transposed,
}

/// A row-major matrix in device memory.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    pub address: sys::CUdeviceptr,
    pub rows: usize,
    pub cols: usize,
    /// Elements from one row to the next.
    pub pitch: usize,
    pub element: Element,
}

impl Matrix {
    /// Returns whether a map can describe the matrix: its address and its rows must be aligned to 16 bytes.
    pub fn can_be_mapped(self) -> bool {
        self.address.is_multiple_of(ALIGNED as u64) && (self.pitch * self.element.bytes()).is_multiple_of(ALIGNED)
    }

    /// Makes the map of boxes with these rows and columns.
    ///
    /// # Errors
    /// Returns an error if the driver rejects the tensor map.
    pub fn map(self, rows: u32, cols: u32, swizzle: Swizzle) -> Result<TensorMap, DriverError> {
        let mut map = CUtensorMap { opaque: [0; 16] };
        // From the inside outwards: columns, then rows.
        let (size, boxes) = ([self.cols as u64, self.rows as u64], [cols, rows]);
        let pitch = [(self.pitch * self.element.bytes()) as u64];
        // SAFETY: as many numbers as two dimensions have, and a map to write to. The address is only a number here.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                match self.element {
                    Element::F32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                    Element::Tf32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
                    Element::Bf16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                    Element::E4m3 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
                },
                2,
                self.address as *mut c_void,
                size.as_ptr(),
                pitch.as_ptr(),
                boxes.as_ptr(),
                [1, 1].as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                match (swizzle, cols as usize * self.element.bytes()) {
                    (Swizzle::None, _) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                    (Swizzle::ByRow, 64) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
                    (Swizzle::ByRow, _) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
                },
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()?;
        Ok(TensorMap(map))
    }
}
// ANCHOR_END: map

//! FP32 matrices split into bf16 parts: the layout that `split_v12` writes, and the tensor maps with which it is read.

use catalog::Shape;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, PushKernelArg as _};
use reference::Bf16;

use crate::device::map::{ALIGNED, Element, Matrix, Swizzle, TensorMap};
use crate::kernel::{blocks, grid_1d, to_i32};

// ANCHOR: parts
/// Parts of an element, columns that a thread splits, and threads of a block.
const PARTS: usize = 3;
const WIDTH: usize = ALIGNED / size_of::<Bf16>();
const SPLITTERS: u32 = 256;

/// A matrix of FP32 as parts of bf16, one matrix after the other, with rows as long as a tensor map needs.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    rows: usize,
    cols: usize,
}

/// Returns the parts of A and of B.
pub const fn parts(Shape { m, n, k }: Shape) -> [Parts; 2] {
    [Parts { rows: m, cols: k }, Parts { rows: k, cols: n }]
}

/// Tensor maps of the parts of a matrix, as a kernel takes them.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Maps([TensorMap; PARTS]);

// SAFETY: an array of what may be passed to kernels.
unsafe impl DeviceRepr for Maps {}

impl Parts {
    const fn pitch(self) -> usize {
        self.cols.next_multiple_of(WIDTH)
    }

    const fn bytes_of_one(self) -> usize {
        self.rows * self.pitch() * size_of::<Bf16>()
    }

    /// Returns the bytes of memory that all parts take.
    pub const fn bytes(&self) -> usize {
        PARTS * self.bytes_of_one()
    }

    /// Writes them to an address that a tensor map may begin at.
    ///
    /// # Safety
    /// The kernel is `split_v12`, the matrix has as many elements, and there is memory at the address.
    pub unsafe fn split(
        self, stream: &CudaStream, kernel: &CudaFunction, whole: &CudaSlice<f32>, address: u64,
    ) -> Result<(), DriverError> {
        let config = grid_1d(blocks(self.rows * self.pitch() / WIDTH, SPLITTERS), SPLITTERS);
        let (rows, cols) = (to_i32(self.rows), to_i32(self.cols));
        let mut launch = stream.launch_builder(kernel);
        launch.arg(&rows).arg(&cols).arg(whole).arg(&address);
        // SAFETY: the arguments are what the kernel takes; the caller says that they are large enough.
        unsafe { launch.launch(config) }?;
        Ok(())
    }

    /// Maps of the parts that lie at an address, with boxes of so many rows and columns.
    pub fn maps(self, address: u64, rows: u32, cols: u32) -> Result<Maps, DriverError> {
        let map = |part| {
            let matrix = Matrix {
                address: address + (part * self.bytes_of_one()) as u64,
                rows: self.rows,
                cols: self.cols,
                pitch: self.pitch(),
                element: Element::Bf16,
            };
            matrix.map(rows, cols, Swizzle::ByRow)
        };
        Ok(Maps([map(0)?, map(1)?, map(2)?]))
    }
}
// ANCHOR_END: parts

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_and_have_rows_where_a_map_may() {
        for cols in [1, 7, 8, 9, 131] {
            let one = Parts { rows: 3, cols };
            assert!((one.pitch() * size_of::<Bf16>()).is_multiple_of(ALIGNED));
            assert!(one.pitch() >= cols && one.pitch() < cols + WIDTH);
            assert_eq!(one.bytes(), 3 * 3 * one.pitch() * 2);
        }
    }
}

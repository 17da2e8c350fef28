//! Parts that the GEMM libraries of steps share: operands, checks of a product, and operands whose products are exact.
//!
//! [`map`](crate::map) describes matrices; the libraries choose plans and launch kernels.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr as _, DeviceRepr, DriverError,
};
use reference::inputs::Real;

use crate::map::{Element, Layout, Matrix};
use crate::{Gpu, Shape, StepError};

/// Capability that the machine code is compiled for.
const CAPABILITY: (i32, i32) = (9, 0);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("needs compute capability 9.0; this device has {}.{}", .0.0, .0.1)]
    Capability((i32, i32)),
    #[error("{0} is not a valid shape: M, N and K must be at least 1")]
    Empty(Shape),
    #[error("{operand} has {elements} elements, packed; the kernels take fewer than 2147483648")]
    TooLarge { operand: &'static str, elements: usize },
    #[error("{operand} needs {needed} elements for this shape, and has {there}")]
    TooShort { operand: &'static str, needed: usize, there: usize },
    /// C has rows of whole float4s, and does not begin on 16 bytes.
    #[error("C begins at {0:#x}: with rows of whole float4s it has to begin on 16 bytes")]
    Misaligned(CUdeviceptr),
    #[error("{}", crate::describe(*.0))]
    Driver(#[from] DriverError),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self::CouldNot(error.to_string())
    }
}

/// Returns the number of multiprocessors.
///
/// # Errors
/// Returns an error if the machine code is not for this device.
pub fn count_sms(context: &CudaContext) -> Result<usize, Error> {
    let capability = context.compute_capability()?;
    if capability != CAPABILITY {
        return Err(Error::Capability(capability));
    }
    let n_sms = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    Ok(usize::try_from(n_sms).unwrap_or(1))
}

/// Returns a kernel, which may use so many bytes of dynamic shared memory.
///
/// # Errors
/// Returns an error if there is no such kernel, or not so much memory.
pub fn load_kernel(module: &Arc<CudaModule>, name: &str, bytes: u32) -> Result<CudaFunction, DriverError> {
    let kernel = module.load_function(name)?;
    kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes.cast_signed())?;
    Ok(kernel)
}

/// Fails unless kernels can index this product, and the slices hold it. `others`: name, rows, columns, and length of
/// what there is beside A, B and C. Packed, a row of A or B may be some elements longer, up to `pad`.
///
/// # Errors
/// Returns what is wrong with the shape or with an operand.
pub fn check(
    shape: Shape, lengths: [usize; 3], others: &[(&'static str, usize, usize, usize)], pad: usize,
) -> Result<(), Error> {
    const MAX_ELEMENTS: usize = i32::MAX as usize;
    let (Shape { m, n, k }, [a, b, c]) = (shape, lengths);
    if m == 0 || n == 0 || k == 0 {
        return Err(Error::Empty(shape));
    }
    let all = [("A", m, k, a), ("B", k, n, b), ("C", m, n, c)];
    let all = || all.iter().chain(others).copied();
    for (operand, rows, cols, _) in all() {
        let elements = rows.saturating_mul(cols.saturating_add(if matches!(operand, "A" | "B") { pad } else { 0 }));
        if elements > MAX_ELEMENTS {
            return Err(Error::TooLarge { operand, elements });
        }
    }
    for (operand, rows, cols, there) in all() {
        if there < rows * cols {
            return Err(Error::TooShort { operand, needed: rows * cols, there });
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub struct Operand {
    /// The operand of the product: of a transposed one, what its copy will be.
    pub matrix: Matrix,
    pub layout: Layout,
}

impl Operand {
    pub fn new(element: Element, address: CUdeviceptr, [rows, cols]: [usize; 2], layout: Layout) -> Self {
        Self { matrix: Matrix { address, rows, cols, pitch: cols, element }, layout }
    }

    /// Returns whether boxes of a tensor map are read from where it is.
    pub fn is_ready(self) -> bool {
        self.layout == Layout::AsIs && self.matrix.can_be_mapped()
    }
}

/// Memory for a copy of an operand in the layout that kernels read, kept for the next product.
#[derive(Debug)]
pub struct Scratch<T>(Option<CudaSlice<T>>);

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: DeviceRepr> Scratch<T> {
    /// Returns the place of a copy of a matrix, whose rows start on multiples of so many elements. The kernel that
    /// packs must write all of what is read later.
    pub fn copy_of(
        &mut self, matrix: Matrix, multiple: usize, stream: &Arc<CudaStream>,
    ) -> Result<Matrix, DriverError> {
        let pitch = matrix.cols.next_multiple_of(multiple);
        let n = matrix.rows * pitch;
        let memory = match self.0.take().filter(|memory| memory.len() >= n) {
            Some(memory) => memory,
            // SAFETY: the kernel that packs writes what is read.
            None => unsafe { stream.alloc(n) }?,
        };
        let (address, _) = self.0.insert(memory).device_ptr(stream);
        Ok(Matrix { address, pitch, ..matrix })
    }
}

/// Operands that are large enough for every shape; a product uses the first elements. They are whole numbers that are
/// small enough for every sum to be exact, in any order.
#[derive(Debug)]
pub struct ExactOperands<T, R> {
    pub a: CudaSlice<T>,
    pub b: CudaSlice<T>,
    pub c: CudaSlice<R>,
}

impl<T: Real, R: Real> ExactOperands<T, R> {
    pub fn new(gpu: &Gpu, shapes: &[Shape]) -> Result<Self, StepError> {
        let most = |size: fn(&Shape) -> usize| shapes.iter().map(size).max().unwrap_or(1);
        let element = |i: usize| T::from_f64((i * 7919 % 1009 % 7) as f64 - 3.0);
        let elements = |n: usize| (0..n).map(element).collect::<Vec<_>>();
        Ok(Self {
            a: gpu.stream.clone_htod(&elements(most(|shape| shape.m * shape.k)))?,
            b: gpu.stream.clone_htod(&elements(most(|shape| shape.k * shape.n)))?,
            c: gpu.stream.alloc_zeros(most(|shape| shape.m * shape.n))?,
        })
    }

    /// Returns whether a product equals all others of this shape, which are exact; the host checks some of the first.
    pub fn is_right(&self, gpu: &Gpu, shape: Shape, right: &mut Option<Vec<R>>) -> Result<bool, StepError> {
        /// Multiply-adds that the host verifies without noticeable delay.
        const FEW_ADDITIONS: f64 = 1e7;
        let Shape { m, n, k } = shape;
        let got = gpu.stream.clone_dtoh(&self.c.slice(..m * n))?;
        if let Some(right) = right {
            return Ok(*right == got);
        }
        let a = gpu.stream.clone_dtoh(&self.a.slice(..m * k))?;
        let b = gpu.stream.clone_dtoh(&self.b.slice(..k * n))?;
        // All of a small product, and of a large one as many as the host can add up.
        let step = if shape.volume() <= FEW_ADDITIONS { 1 } else { (m * n / 499).max(1) };
        let is_right = (0..m * n).step_by(step).all(|i| {
            let (row, col) = (i / n, i % n);
            let sum: f64 = (0..k).map(|i| a[row * k + i].to_f64() * b[i * n + col].to_f64()).sum();
            R::from_f64(sum) == got[i]
        });
        *right = Some(got);
        Ok(is_right)
    }
}

//! cuBLAS: a handle of the library, and its product of each type.
//!
//! In FP32 as FP32: the math mode is set to `CUBLAS_DEFAULT_MATH`, in which products of FP32 use neither TF32 nor other
//! short cuts, unless the environment forces them; then the yardstick is refused. (Verification would not notice: at
//! K = 1024 on an H200, a product with `NVIDIA_TF32_OVERRIDE=1` came within 66 % of what FP32 sums may be off.)
//! Not `CUBLAS_PEDANTIC_MATH`, which also rules out algorithms that are right and fast.

mod library;
#[cfg(test)]
mod tests;

use std::ffi::c_void;
use std::sync::Arc;

use catalog::{Format, Shape, Work};
use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys::{
    self, cublasComputeType_t as Compute, cublasMath_t, cublasOperation_t as Op, cudaDataType as Type,
};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use reference::{Bf16, E4m3};

use crate::{inputs::Real, kernel::to_i32};

/// Returns the reason for which cuBLAS cannot be used, as in "not run: …".
pub(crate) fn does_not_start(CublasError(status): CublasError) -> String {
    format!("cuBLAS does not start: {status:?}")
}

/// A handle, made once per device: with it comes the workspace.
#[derive(Debug)]
pub struct Cublas {
    handle: sys::cublasHandle_t,
    pub(crate) stream: Arc<CudaStream>,
    /// Device memory for cuBLAS, [`WORKSPACE`] bytes.
    workspace: CudaSlice<u8>,
    /// Version of the library, such as `12.4.5`.
    pub version: String,
}

impl Cublas {
    /// Finds the library and makes a handle for the device's stream.
    pub fn open(stream: &Arc<CudaStream>) -> Result<Self, String> {
        provide()?;
        let workspace = workspace(stream)?;
        let handle = result::create_handle().map_err(does_not_start)?;
        let mut cublas = Self { handle, stream: stream.clone(), workspace, version: String::new() };
        cublas.prepare().map_err(does_not_start)?;
        Ok(cublas)
    }

    fn prepare(&mut self) -> Result<(), CublasError> {
        let mut version = 0;
        // SAFETY: the handle and the stream are alive, and `version` is a number to write to.
        unsafe {
            result::set_stream(self.handle, self.stream.cu_stream().cast())?;
            set_workspace(self.handle, &self.stream, &mut self.workspace)?;
            sys::cublasSetMathMode(self.handle, cublasMath_t::CUBLAS_DEFAULT_MATH).result()?;
            sys::cublasGetVersion_v2(self.handle, &mut version).result()?;
        }
        self.version = format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100);
        Ok(())
    }

    /// Enqueues C = op(A) · op(B), all row-major.
    pub fn product<R: Real, T: Element<R>>(
        &self, work: Work, shape: Shape, a: &CudaSlice<T>, b: &CudaSlice<T>, c: &mut CudaSlice<R>,
    ) -> Result<(), CublasError> {
        assert!(a.len() >= shape.m * shape.k && b.len() >= shape.k * shape.n && c.len() >= shape.m * shape.n);
        let flags = Flags::new(work, shape);
        let (a, _reads_a) = a.device_ptr(&self.stream);
        let (b, _reads_b) = b.device_ptr(&self.stream);
        let (c, _writes_c) = c.device_ptr_mut(&self.stream);
        // SAFETY: the operands are on the device and as large as the flags say, which name them in cuBLAS's order.
        unsafe {
            match T::on_tensor_cores(flags) {
                Some(types) => {
                    gemm_ex(self.handle, flags, types, [b, a].map(|at| at as *const c_void), c as *mut c_void)
                }
                None => T::plain(self.handle, flags, b as *const T, a as *const T, c as *mut R),
            }
        }
    }
}

/// Bytes that cuBLAS takes for itself on this generation of GPUs.
const WORKSPACE: usize = 32 << 20;

/// Allocates memory for [`set_workspace`].
pub(crate) fn workspace(stream: &Arc<CudaStream>) -> Result<CudaSlice<u8>, String> {
    let none = |why| format!("there is no memory for cuBLAS's workspace: {}", crate::describe(why));
    stream.alloc_zeros(WORKSPACE).map_err(none)
}

/// Sets the workspace of a handle. Without one, products would allocate memory while their stream is captured.
///
/// # Safety
/// The handle is alive, its stream is this one, and the memory outlives it.
pub(crate) unsafe fn set_workspace(
    handle: sys::cublasHandle_t, stream: &CudaStream, memory: &mut CudaSlice<u8>,
) -> Result<(), CublasError> {
    let len = memory.len();
    let (address, _writes) = memory.device_ptr_mut(stream);
    // SAFETY: the caller's promises, and so many bytes are there.
    unsafe { sys::cublasSetWorkspace_v2(handle, address as *mut c_void, len) }.result()
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: made in `open`, and nobody else has it. After a kernel that broke the context it fails: no matter.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

/// Makes cuBLAS callable through cudarc, which panics where the library is missing.
pub(crate) fn provide() -> Result<(), String> {
    if emulator_client::find().is_some() {
        return Err("cuBLAS needs an NVIDIA GPU".into());
    }
    if let Some(name) = short_cut(|name| std::env::var(name).ok()) {
        return Err(format!("{name} lets cuBLAS reduce the precision of its operands; unset it"));
    }
    library::provide().map_err(|searched| {
        format!(
            "cuBLAS is not installed here: there is no libcublas.so on the library path, nor in {}; where you have it, \
             put its folder on LD_LIBRARY_PATH",
            searched.join(", ")
        )
    })
}

/// Returns a variable of [`SHORT_CUTS`] that the environment switches on.
fn short_cut(value: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_on = |name: &&str| value(name).is_some_and(|value| !["", "0"].contains(&value.trim()));
    SHORT_CUTS.into_iter().find(is_on)
}

/// Variables with which cuBLAS, whatever the math mode, uses tensor cores for products of FP32 or FP64.
const SHORT_CUTS: [&str; 3] =
    ["NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"];

/// Arguments of `cublas?gemm`.
///
/// It takes matrices to be column-major. What is row-major M × N in memory it takes for N × M: the transpose. So it
/// computes Cᵀ = Bᵀ · Aᵀ, with all three in place; v09 explains this in full.
#[derive(Debug, Clone, Copy)]
pub struct Flags {
    pub(crate) first: Op,
    pub(crate) second: Op,
    pub(crate) m: i32,
    pub(crate) n: i32,
    pub(crate) k: i32,
    pub(crate) first_stride: i32,
    pub(crate) second_stride: i32,
    pub(crate) c_stride: i32,
    /// Whether FP32 may be cut to TF32.
    pub(crate) tf32: bool,
    /// Whether sums of 8-bit numbers may stay in the tensor cores.
    pub(crate) fast_sums: bool,
}

impl Flags {
    pub(crate) fn new(work: Work, shape: Shape) -> Self {
        let (m, n, k) = (to_i32(shape.m), to_i32(shape.n), to_i32(shape.k));
        let [turn_a, turn_b] = work.transposed();
        let op = |turn| if turn { Op::CUBLAS_OP_T } else { Op::CUBLAS_OP_N };
        Self {
            first: op(turn_b),
            second: op(turn_a),
            m: n,
            n: m,
            k,
            first_stride: if turn_b { k } else { n },
            second_stride: if turn_a { m } else { k },
            c_stride: n,
            tf32: matches!(work, Work::Tensor { operands: Format::Tf32, .. }),
            fast_sums: matches!(work, Work::Tensor { fast_accumulation: true, .. }),
        }
    }
}

/// Types of the matrices and of the sums of a product on tensor cores.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Types {
    pub(crate) operands: Type,
    pub(crate) result: Type,
    pub(crate) compute: Compute,
}

const BF16: Types =
    Types { operands: Type::CUDA_R_16BF, result: Type::CUDA_R_16BF, compute: Compute::CUBLAS_COMPUTE_32F };
const BF16_TO_FP32: Types = Types { result: Type::CUDA_R_32F, ..BF16 };
/// Only cuBLASLt multiplies these, and only with neighbouring k side by side in both.
const E4M3: Types = Types { operands: Type::CUDA_R_8F_E4M3, ..BF16 };
const E4M3_TO_FP32: Types = Types { result: Type::CUDA_R_32F, ..E4M3 };
const TF32: Types =
    Types { operands: Type::CUDA_R_32F, result: Type::CUDA_R_32F, compute: Compute::CUBLAS_COMPUTE_32F_FAST_TF32 };

const NOT_SUPPORTED: CublasError = CublasError(sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED);

/// A type that cuBLAS multiplies here, with results in `R`.
pub trait Element<R: Real = Self>: Real {
    /// Types of the product, where it is one on tensor cores.
    #[doc(hidden)]
    fn on_tensor_cores(flags: Flags) -> Option<Types>;

    /// Calls the function of a type that needs no tensor cores, with α = 1 and β = 0.
    ///
    /// # Safety
    /// The pointers are to operands on the device that are as large as the flags say.
    #[doc(hidden)]
    unsafe fn plain(
        _: sys::cublasHandle_t, _: Flags, _first: *const Self, _second: *const Self, _c: *mut R,
    ) -> Result<(), CublasError> {
        Err(NOT_SUPPORTED)
    }
}

/// Enqueues a product with FP32 accumulation; the types of operands and result are parameters.
///
/// # Safety
/// The pointers are to operands on the device that are as large as the flags say and of these types.
unsafe fn gemm_ex(
    handle: sys::cublasHandle_t, flags: Flags, types: Types, [first, second]: [*const c_void; 2], c: *mut c_void,
) -> Result<(), CublasError> {
    // `cublasGemmEx` has no 8-bit types; cuBLASLt has.
    if types.operands == Type::CUDA_R_8F_E4M3 {
        return Err(NOT_SUPPORTED);
    }
    let (alpha, beta) = (1.0_f32, 0.0_f32);
    // SAFETY: the caller's promises; the factors are read before the call returns.
    unsafe {
        result::gemm_ex(
            handle,
            flags.first,
            flags.second,
            flags.m,
            flags.n,
            flags.k,
            (&raw const alpha).cast(),
            first,
            types.operands,
            flags.first_stride,
            second,
            types.operands,
            flags.second_stride,
            (&raw const beta).cast(),
            c,
            types.result,
            flags.c_stride,
            types.compute,
            sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    }
}

/// Types that are multiplied on tensor cores only.
macro_rules! on_tensor_cores {
    ($($operand:ty => $result:ty: $types:ident;)*) => {$(
        impl Element<$result> for $operand {
            fn on_tensor_cores(_: Flags) -> Option<Types> {
                Some($types)
            }
        }
    )*};
}

on_tensor_cores! {
    Bf16 => f32: BF16_TO_FP32;
    Bf16 => Bf16: BF16;
    E4m3 => f32: E4M3_TO_FP32;
    E4m3 => Bf16: E4M3;
}

/// Types that have a function of their own, `cublas?gemm`.
macro_rules! plain {
    ($($number:ty: $gemm:path, $on_tensor_cores:expr;)*) => {$(
        impl Element for $number {
            fn on_tensor_cores(flags: Flags) -> Option<Types> {
                $on_tensor_cores(flags)
            }

            unsafe fn plain(
                handle: sys::cublasHandle_t,
                flags: Flags,
                first: *const Self,
                second: *const Self,
                c: *mut Self,
            ) -> Result<(), CublasError> {
                let Flags { m, n, k, first_stride, second_stride, c_stride, .. } = flags;
                let (alpha, beta): (Self, Self) = (1.0, 0.0);
                // SAFETY: the caller's promises.
                unsafe {
                    $gemm(
                        handle, flags.first, flags.second, m, n, k, &alpha, first, first_stride, second,
                        second_stride, &beta, c, c_stride,
                    )
                }
            }
        }
    )*};
}

plain! {
    f32: result::sgemm, |flags: Flags| flags.tf32.then_some(TF32);
    f64: result::dgemm, |_| None;
}

//! cuBLASLt: the algorithms that its heuristic names for a product on tensor cores, each to be tried.
//!
//! `cublasGemmEx` picks one of them without trying any. On an H200 another was up to 12 % faster (1280, bf16).

use std::ffi::c_void;
use std::ptr::null_mut;

use catalog::{Format, Shape, Work};
use cudarc::cublas::sys::{cublasOperation_t as Op, cudaDataType};
use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as Epilogue, cublasLtMatmulDescAttributes_t as Attribute,
    cublasLtMatmulHeuristicResult_t as Algorithm, cublasLtMatmulPreferenceAttributes_t as Preference,
    cudaDataType_t as Type,
};
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut};
use reference::Bf16;

use crate::device::Gpu;
use crate::device::cublas::{Element, Flags, Types, workspace};

/// Number of algorithms to request. The heuristic lists those first that it ranks as fast.
const MAX_ALGORITHMS: usize = 8;

pub struct Product {
    handle: sys::cublasLtHandle_t,
    product: sys::cublasLtMatmulDesc_t,
    /// Layouts of both factors and of C, in cuBLAS's column-major order.
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithms: Vec<Algorithm>,
    workspace: CudaSlice<u8>,
}

impl Product {
    /// Queries the algorithms of a GEMM of bf16 to bf16, all row-major. With the address of a bias in bf16, one for
    /// each column of C, that and GELU follow, fused.
    pub fn of_bf16(gpu: &Gpu, shape: Shape, bias_and_gelu: Option<CUdeviceptr>) -> Option<Self> {
        let format = Format::Bf16;
        let work = Work::Tensor { operands: format, result: format, b_transposed: false, fast_accumulation: false };
        let flags = Flags::new(work, shape);
        Self::new(gpu, flags, <Bf16 as Element>::on_tensor_cores(flags)?, bias_and_gelu)
    }

    /// Queries the algorithms. `None` where there is no library, or it has none for this GEMM.
    pub(super) fn new(gpu: &Gpu, flags: Flags, types: Types, bias_and_gelu: Option<CUdeviceptr>) -> Option<Self> {
        // SAFETY: loads a library that libcublas needs, too.
        if !unsafe { sys::is_culib_present() } {
            return None;
        }
        let mut product = Self {
            handle: null_mut(),
            product: null_mut(),
            layouts: [null_mut(); 3],
            algorithms: Vec::new(),
            workspace: workspace(&gpu.stream).ok()?,
        };
        product.prepare(flags, types, bias_and_gelu).ok()?;
        (!product.algorithms.is_empty()).then_some(product)
    }

    /// Prepares the call. After an error, `self` destroys what was made before.
    fn prepare(&mut self, flags: Flags, types: Types, bias_and_gelu: Option<CUdeviceptr>) -> Result<(), CublasError> {
        let number = |n: i32| u64::from(n.cast_unsigned());
        let (m, n, k) = (number(flags.m), number(flags.n), number(flags.k));
        let (operands, sums) = (same_type(types.operands), Type::CUDA_R_32F);
        let compute = if flags.tf32 { Compute::CUBLAS_COMPUTE_32F_FAST_TF32 } else { Compute::CUBLAS_COMPUTE_32F };
        self.handle = result::create_handle()?;
        self.product = result::create_matmul_desc(compute, sums)?;
        let layout = |of, op, rows, cols, stride: i32| match op {
            Op::CUBLAS_OP_N => result::create_matrix_layout(of, rows, cols, stride.into()),
            _ => result::create_matrix_layout(of, cols, rows, stride.into()),
        };
        self.layouts[0] = layout(operands, flags.first, m, k, flags.first_stride)?;
        self.layouts[1] = layout(operands, flags.second, k, n, flags.second_stride)?;
        self.layouts[2] = layout(same_type(types.result), Op::CUBLAS_OP_N, m, n, flags.c_stride)?;
        self.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSA, flags.first)?;
        self.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSB, flags.second)?;
        if flags.fast_sums {
            self.set(Attribute::CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1_i8)?;
        }
        if let Some(bias) = bias_and_gelu {
            let gelu = Epilogue::CUBLASLT_EPILOGUE_GELU_BIAS;
            self.set(Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, gelu)?;
            self.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias)?;
        }
        self.algorithms = self.query_algorithms()?;
        Ok(())
    }

    fn set<T>(&self, attribute: Attribute, value: T) -> Result<(), CublasError> {
        // SAFETY: made before; the value is read before the call returns, and has the given size.
        unsafe { result::set_matmul_desc_attribute(self.product, attribute, (&raw const value).cast(), size_of::<T>()) }
    }

    fn query_algorithms(&self) -> Result<Vec<Algorithm>, CublasError> {
        let [first, second, c] = self.layouts;
        let preference = result::create_matmul_pref()?;
        let bytes = self.workspace.len();
        // Zeros are a valid value of an algorithm that is not filled in yet.
        // SAFETY: numbers and arrays of numbers.
        let mut found: [Algorithm; MAX_ALGORITHMS] = unsafe { std::mem::zeroed() };
        let mut n_found = 0;
        // SAFETY: everything was made above and lives on; the arrays are of the given lengths.
        let status = unsafe {
            let limit = Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
            result::set_matmul_pref_attribute(preference, limit, (&raw const bytes).cast(), size_of_val(&bytes))
                .and_then(|()| {
                    sys::cublasLtMatmulAlgoGetHeuristic(
                        self.handle,
                        self.product,
                        first,
                        second,
                        c,
                        c,
                        preference,
                        MAX_ALGORITHMS as i32,
                        found.as_mut_ptr(),
                        &mut n_found,
                    )
                    .result()
                })
        };
        // SAFETY: made above, and not used again.
        let _ = unsafe { result::destroy_matmul_pref(preference) };
        status?;
        let found = found.into_iter().take(usize::try_from(n_found).unwrap_or(0));
        Ok(found.filter(|one| one.state.result().is_ok()).collect())
    }

    pub fn count(&self) -> usize {
        self.algorithms.len()
    }

    /// Enqueues the product by one of the algorithms.
    ///
    /// # Safety
    /// The pointers are to operands on the device that are as large as the flags say and of their types.
    pub unsafe fn enqueue(
        &mut self, algorithm: usize, stream: &CudaStream, [first, second]: [*const c_void; 2], c: *mut c_void,
    ) -> Result<(), CublasError> {
        let (alpha, beta) = (1.0_f32, 0.0_f32);
        let len = self.workspace.len();
        let (address, _writes) = self.workspace.device_ptr_mut(stream);
        let [a_layout, b_layout, c_layout] = self.layouts;
        // SAFETY: the caller's promises; the factors are read before the call returns; the workspace has `len` bytes.
        unsafe {
            result::matmul(
                self.handle,
                self.product,
                (&raw const alpha).cast(),
                (&raw const beta).cast(),
                first,
                a_layout,
                second,
                b_layout,
                c,
                c_layout,
                c,
                c_layout,
                &raw const self.algorithms[algorithm].algo,
                address as *mut c_void,
                len,
                stream.cu_stream().cast(),
            )
        }
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        // These calls fail if a kernel broke the context; that is harmless.
        // SAFETY: made in `prepare`, where not null, and nobody else has them.
        unsafe {
            for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = result::destroy_matrix_layout(layout);
            }
            if !self.product.is_null() {
                let _ = result::destroy_matmul_desc(self.product);
            }
            if !self.handle.is_null() {
                let _ = result::destroy_handle(self.handle);
            }
        }
    }
}

/// Converts a type between the two libraries, for each of which cudarc declares it.
fn same_type(of: cudaDataType) -> Type {
    match of {
        cudaDataType::CUDA_R_16BF => Type::CUDA_R_16BF,
        cudaDataType::CUDA_R_8F_E4M3 => Type::CUDA_R_8F_E4M3,
        _ => Type::CUDA_R_32F,
    }
}

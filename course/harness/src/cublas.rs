//! cuBLAS as the yardstick: the same product on the same data, timed in the same minutes.
//!
//! In FP32 as FP32: the math mode is set to `CUBLAS_DEFAULT_MATH`, in which products of FP32 use neither TF32 nor other
//! short cuts, unless the environment forces them; then the yardstick is refused. (Verification would not notice: at
//! K = 1024 on an H200, a product with `NVIDIA_TF32_OVERRIDE=1` came within 66 % of what FP32 sums may be off.)
//! Not `CUBLAS_PEDANTIC_MATH`, which also rules out algorithms that are right and fast.
//!
//! On tensor cores it is the fastest of what `cublasGemmEx` picks and the algorithms that cuBLASLt names.

mod library;
mod light;

use std::ffi::c_void;
use std::sync::Arc;

use catalog::{Format, Shape, Work};
use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys::{
    self, cublasComputeType_t as Compute, cublasMath_t, cublasOperation_t as Op, cudaDataType as Type,
};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use reference::Bf16;

use crate::device::Gpu;
use crate::inputs::Real;
use crate::kernel::int;
use crate::timing::{Other, Sampler};
use crate::trouble::Trouble;
use reference::E4m3;

/// A handle, made once per device: with it comes the workspace.
#[derive(Debug)]
pub struct Cublas {
    handle: sys::cublasHandle_t,
    stream: Arc<CudaStream>,
    /// Device memory for cuBLAS, [`WORKSPACE`] bytes.
    workspace: CudaSlice<u8>,
    /// Version of the library, such as `12.4.5`.
    pub version: String,
}

impl Cublas {
    /// Finds the library and makes a handle for the device's stream.
    ///
    /// # Errors
    /// With the reason, as in "not run: …".
    pub fn open(gpu: &Gpu) -> Result<Self, String> {
        provide(gpu)?;
        let words = |CublasError(status)| format!("cuBLAS does not start: {status:?}");
        let workspace = workspace(gpu)?;
        let handle = result::create_handle().map_err(words)?;
        let mut cublas = Self {
            handle,
            stream: gpu.stream.clone(),
            workspace,
            version: String::new(),
        };
        cublas.prepare().map_err(words)?;
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

    /// C = op(A) · op(B), all row-major, put into the stream.
    ///
    /// # Errors
    /// When cuBLAS refuses.
    pub fn product<R: Real, T: Element<R>>(
        &self,
        work: Work,
        shape: Shape,
        a: &CudaSlice<T>,
        b: &CudaSlice<T>,
        c: &mut CudaSlice<R>,
    ) -> Result<(), CublasError> {
        assert!(a.len() >= shape.m * shape.k && b.len() >= shape.k * shape.n && c.len() >= shape.m * shape.n);
        let flags = Flags::of(work, shape);
        let (a, _reads_a) = a.device_ptr(&self.stream);
        let (b, _reads_b) = b.device_ptr(&self.stream);
        let (c, _writes_c) = c.device_ptr_mut(&self.stream);
        // SAFETY: the operands are on the device and as large as the flags say, which name them in cuBLAS's order.
        unsafe { <T as Element<R>>::gemm(self.handle, flags, b as *const T, a as *const T, c as *mut R) }
    }
}

/// What cuBLAS takes for itself on this generation of GPUs.
const WORKSPACE: usize = 32 << 20;

/// Memory for [`set_workspace`].
///
/// # Errors
/// With the reason, as in "not run: …".
pub fn workspace(gpu: &Gpu) -> Result<CudaSlice<u8>, String> {
    let memory = gpu.stream.alloc_zeros(WORKSPACE);
    memory.map_err(|error| {
        format!(
            "there is no memory for cuBLAS's workspace: {}",
            crate::words(error)
        )
    })
}

/// Gives a handle its workspace. While a stream is captured, a handle without one of the caller's would allocate memory
/// in every product.
///
/// # Errors
/// When cuBLAS refuses.
///
/// # Safety
/// The handle is alive, its stream is this one, and the memory outlives it.
pub unsafe fn set_workspace(
    handle: sys::cublasHandle_t,
    stream: &CudaStream,
    memory: &mut CudaSlice<u8>,
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
///
/// # Errors
/// With the reason, as in "not run: …".
pub fn provide(gpu: &Gpu) -> Result<(), String> {
    if gpu.emulator.is_some() {
        return Err("cuBLAS needs an NVIDIA GPU".into());
    }
    match short_cut(|name| std::env::var(name).ok()) {
        Some(name) => Err(format!(
            "{name} lets cuBLAS compute with less than it is given; unset it"
        )),
        None => library::provide(),
    }
}

/// A variable of [`SHORT_CUTS`] that the environment switches on.
fn short_cut(value: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_on = |name: &&str| value(name).is_some_and(|value| !["", "0"].contains(&value.trim()));
    SHORT_CUTS.into_iter().find(is_on)
}

/// Variables with which cuBLAS, whatever the math mode, uses tensor cores for products of FP32 or FP64.
const SHORT_CUTS: [&str; 3] = [
    "NVIDIA_TF32_OVERRIDE",
    "CUBLAS_EMULATE_SINGLE_PRECISION",
    "CUBLAS_EMULATE_DOUBLE_PRECISION",
];

/// Arguments of `cublas?gemm`.
///
/// It takes matrices to be column-major. What is row-major M × N in memory it takes for N × M: the transpose. So it
/// computes Cᵀ = Bᵀ · Aᵀ, with all three in place; v09 explains this in full.
#[derive(Debug, Clone, Copy)]
pub struct Flags {
    first: Op,
    second: Op,
    m: i32,
    n: i32,
    k: i32,
    first_stride: i32,
    second_stride: i32,
    c_stride: i32,
    /// Whether FP32 may be cut to TF32.
    tf32: bool,
    /// Whether sums of 8-bit numbers may stay in the tensor cores.
    fast_sums: bool,
}

impl Flags {
    fn of(work: Work, shape: Shape) -> Self {
        let (m, n, k) = (int(shape.m), int(shape.n), int(shape.k));
        let [turn_a, turn_b] = work.turned();
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
            tf32: matches!(
                work,
                Work::Tensor {
                    operands: Format::Tf32,
                    ..
                }
            ),
            fast_sums: matches!(work, Work::Tensor { fast_sums: true, .. }),
        }
    }
}

/// What the matrices of a product on tensor cores have, and how sums are made.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Types {
    operands: Type,
    result: Type,
    compute: Compute,
}

const BF16: Types = Types {
    operands: Type::CUDA_R_16BF,
    result: Type::CUDA_R_16BF,
    compute: Compute::CUBLAS_COMPUTE_32F,
};
const BF16_TO_FP32: Types = Types {
    result: Type::CUDA_R_32F,
    ..BF16
};
/// Only cuBLASLt multiplies these, and only with neighbouring k side by side in both.
const E4M3: Types = Types {
    operands: Type::CUDA_R_8F_E4M3,
    ..BF16
};
const E4M3_TO_FP32: Types = Types {
    result: Type::CUDA_R_32F,
    ..E4M3
};
const TF32: Types = Types {
    operands: Type::CUDA_R_32F,
    result: Type::CUDA_R_32F,
    compute: Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
};

/// What cuBLAS multiplies here, with results in `R`.
pub trait Element<R: Real = Self>: Real {
    /// Of a product on tensor cores.
    #[doc(hidden)]
    fn on_tensor_cores(_: Flags) -> Option<Types> {
        None
    }

    /// Calls the function of these types, with α = 1 and β = 0.
    ///
    /// # Safety
    /// The pointers are to operands on the device that are as large as the flags say.
    #[doc(hidden)]
    unsafe fn gemm(
        handle: sys::cublasHandle_t,
        flags: Flags,
        first: *const Self,
        second: *const Self,
        c: *mut R,
    ) -> Result<(), CublasError>;
}

/// `cublas?gemm` of a type.
macro_rules! gemm {
    ($gemm:path, $handle:ident, $flags:ident, $first:ident, $second:ident, $c:ident) => {
        $gemm(
            $handle,
            $flags.first,
            $flags.second,
            $flags.m,
            $flags.n,
            $flags.k,
            &1.0,
            $first,
            $flags.first_stride,
            $second,
            $flags.second_stride,
            &0.0,
            $c,
            $flags.c_stride,
        )
    };
}

/// A product with sums of FP32, of operands and with a result of types that are named.
///
/// # Safety
/// The pointers are to operands on the device that are as large as the flags say and of these types.
unsafe fn gemm_ex(
    handle: sys::cublasHandle_t,
    flags: Flags,
    types: Types,
    first: *const c_void,
    second: *const c_void,
    c: *mut c_void,
) -> Result<(), CublasError> {
    let (alpha, beta) = (1.0_f32, 0.0_f32);
    // SAFETY: the caller's promises; the factors are read before the call returns.
    unsafe {
        cudarc::cublas::result::gemm_ex(
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

/// `cublasGemmEx` has no numbers of 8 bits: the algorithms of cuBLASLt are all that there is.
macro_rules! only_by_light {
    ($result:ty, $types:ident) => {
        impl Element<$result> for E4m3 {
            fn on_tensor_cores(_: Flags) -> Option<Types> {
                Some($types)
            }

            unsafe fn gemm(
                _: sys::cublasHandle_t,
                _: Flags,
                _: *const Self,
                _: *const Self,
                _: *mut $result,
            ) -> Result<(), CublasError> {
                Err(CublasError(
                    sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED,
                ))
            }
        }
    };
}

only_by_light!(f32, E4M3_TO_FP32);
only_by_light!(Bf16, E4M3);

impl Element<f32> for Bf16 {
    fn on_tensor_cores(_: Flags) -> Option<Types> {
        Some(BF16_TO_FP32)
    }

    unsafe fn gemm(
        handle: sys::cublasHandle_t,
        flags: Flags,
        first: *const Self,
        second: *const Self,
        c: *mut f32,
    ) -> Result<(), CublasError> {
        // SAFETY: the caller's promises.
        unsafe { gemm_ex(handle, flags, BF16_TO_FP32, first.cast(), second.cast(), c.cast()) }
    }
}

impl Element for Bf16 {
    fn on_tensor_cores(_: Flags) -> Option<Types> {
        Some(BF16)
    }

    unsafe fn gemm(
        handle: sys::cublasHandle_t,
        flags: Flags,
        first: *const Self,
        second: *const Self,
        c: *mut Self,
    ) -> Result<(), CublasError> {
        // SAFETY: the caller's promises.
        unsafe { gemm_ex(handle, flags, BF16, first.cast(), second.cast(), c.cast()) }
    }
}

impl Element for f32 {
    fn on_tensor_cores(flags: Flags) -> Option<Types> {
        flags.tf32.then_some(TF32)
    }

    unsafe fn gemm(
        handle: sys::cublasHandle_t,
        flags: Flags,
        first: *const Self,
        second: *const Self,
        c: *mut Self,
    ) -> Result<(), CublasError> {
        if flags.tf32 {
            // SAFETY: the caller's promises.
            return unsafe { gemm_ex(handle, flags, TF32, first.cast(), second.cast(), c.cast()) };
        }
        // SAFETY: the caller's promises.
        unsafe { gemm!(result::sgemm, handle, flags, first, second, c) }
    }
}

impl Element for f64 {
    unsafe fn gemm(
        handle: sys::cublasHandle_t,
        flags: Flags,
        first: *const Self,
        second: *const Self,
        c: *mut Self,
    ) -> Result<(), CublasError> {
        // SAFETY: the caller's promises.
        unsafe { gemm!(result::dgemm, handle, flags, first, second, c) }
    }
}

/// cuBLAS on these inputs, stored as the kernel under test takes them. Its result comes too, to be verified: a wrong
/// yardstick is none.
///
/// # Errors
/// When there is not enough memory, or cuBLAS refuses.
pub fn yardstick<'a, R: Real, T: Element<R>>(
    gpu: &'a Gpu,
    cublas: &'a Cublas,
    (work, shape): (Work, Shape),
    a: &[T],
    b: &[T],
) -> Result<(Other<'a>, Vec<R>), Trouble> {
    let mut product = Yardstick::new(gpu, cublas, (work, shape), a, b)?;
    product.choose(gpu)?;
    product.put()?;
    let got = gpu.stream.clone_dtoh(&product.c)?;
    let other = Other {
        name: "cuBLAS",
        algorithm: product.algorithm,
        put: Box::new(move || product.put()),
    };
    Ok((other, got))
}

/// C as `cublasGemmEx` computes it unasked, or where that has no such types, cuBLASLt by the algorithm that it names
/// first.
///
/// # Errors
/// When there is not enough memory, or cuBLAS refuses.
pub fn unasked<R: Real, T: Element<R>>(
    gpu: &Gpu,
    cublas: &Cublas,
    (work, shape): (Work, Shape),
    a: &[T],
    b: &[T],
) -> Result<Vec<R>, Trouble> {
    let mut product = Yardstick::new(gpu, cublas, (work, shape), a, b)?;
    if let Err(refused) = product.put() {
        if product.light.is_none() {
            return Err(refused);
        }
        product.algorithm = Some(0);
        product.put()?;
    }
    Ok(gpu.stream.clone_dtoh(&product.c)?)
}

/// Samples of each algorithm before one is chosen. The first warms up.
const TRIES: u32 = 6;

/// A product that is compared with.
struct Yardstick<'a, T, R> {
    cublas: &'a Cublas,
    work: Work,
    shape: Shape,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    c: CudaSlice<R>,
    /// Other algorithms for it.
    light: Option<light::Product>,
    /// The one of those that was chosen, or cuBLAS's own.
    algorithm: Option<usize>,
}

impl<'a, R: Real, T: Element<R>> Yardstick<'a, T, R> {
    fn new(
        gpu: &Gpu,
        cublas: &'a Cublas,
        (work, shape): (Work, Shape),
        a: &[T],
        b: &[T],
    ) -> Result<Self, Trouble> {
        let flags = Flags::of(work, shape);
        Ok(Self {
            cublas,
            work,
            shape,
            a: gpu.stream.clone_htod(a)?,
            b: gpu.stream.clone_htod(b)?,
            c: gpu.poisoned(shape.m * shape.n)?,
            light: T::on_tensor_cores(flags).and_then(|types| light::Product::new(gpu, flags, types)),
            algorithm: None,
        })
    }

    /// The fastest one, timed as the yardstick will be, all of them in turn so that none has a cooler chip; of each the
    /// fastest try counts. What is refused is left out, unless nothing is left.
    fn choose(&mut self, gpu: &Gpu) -> Result<(), Trouble> {
        let Some(others) = self.light.as_ref().map(light::Product::count) else {
            return Ok(());
        };
        let (mut candidates, mut refused) = (Vec::new(), None);
        for algorithm in std::iter::once(None).chain((0..others).map(Some)) {
            self.algorithm = algorithm;
            match self.sampler(gpu) {
                Ok(sampler) => candidates.push((algorithm, sampler, f64::MAX)),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        for _ in 0..TRIES {
            for (algorithm, sampler, least) in &mut candidates {
                self.algorithm = *algorithm;
                *least = least.min(sampler.sample(|| self.put())?);
            }
        }
        match (candidates.iter().min_by(|a, b| a.2.total_cmp(&b.2)), refused) {
            (Some((algorithm, ..)), _) => self.algorithm = *algorithm,
            (None, Some(why)) => return Err(why),
            (None, None) => {}
        }
        Ok(())
    }

    /// For samples of the algorithm that is chosen now.
    fn sampler<'g>(&mut self, gpu: &'g Gpu) -> Result<Sampler<'g>, Trouble> {
        let one_ms = gpu.time_ms(1, || self.put())?.min(gpu.time_ms(1, || self.put())?);
        Ok(Sampler::new(gpu, one_ms, || self.put()))
    }

    /// Puts it into the stream.
    fn put(&mut self) -> Result<(), Trouble> {
        let shape = self.shape;
        let (Some(algorithm), Some(light)) = (self.algorithm, &mut self.light) else {
            let done = self
                .cublas
                .product(self.work, shape, &self.a, &self.b, &mut self.c);
            return done.map_err(|CublasError(status)| refused("cuBLAS", shape, status));
        };
        let stream = &self.cublas.stream;
        let (a, _reads_a) = self.a.device_ptr(stream);
        let (b, _reads_b) = self.b.device_ptr(stream);
        let (c, _writes_c) = self.c.device_ptr_mut(stream);
        // SAFETY: the operands are on the device, as large as `shape` says, and of the types that `light` was made for;
        // they stand in cuBLAS's order.
        let done = unsafe {
            light.put(
                algorithm,
                stream,
                [b, a].map(|at| at as *const c_void),
                c as *mut c_void,
            )
        };
        done.map_err(|error| refused("cuBLASLt", shape, error.0))
    }
}

fn refused(library: &str, shape: Shape, status: impl std::fmt::Debug) -> Trouble {
    Trouble::CouldNot(format!("{library} refuses a product of {shape}: {status:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_switches_short_cuts_on_is_named() {
        let with = |name: &'static str, value: &'static str| {
            short_cut(move |asked| (asked == name).then(|| value.to_owned()))
        };
        for name in SHORT_CUTS {
            assert_eq!(with(name, "1"), Some(name));
            assert_eq!(with(name, "0"), None);
            assert_eq!(with(name, " "), None);
        }
        assert_eq!(with("NVIDIA_TF32_OVERRIDES", "1"), None);
    }

    #[test]
    fn rows_are_read_as_columns() {
        let shape = Shape { m: 2, n: 3, k: 5 };
        let of = |a, b| {
            let Flags {
                first,
                second,
                m,
                n,
                k,
                first_stride,
                second_stride,
                c_stride,
                tf32: _,
                fast_sums: _,
            } = Flags::of(Work::SgemmTransposed { a, b }, shape);
            assert_eq!((m, n, k, c_stride), (3, 2, 5, 3));
            ((first, first_stride), (second, second_stride))
        };
        // B as it lies has rows of N = 3 elements, transposed of K = 5; A of K = 5, transposed of M = 2.
        assert_eq!(of(false, false), ((Op::CUBLAS_OP_N, 3), (Op::CUBLAS_OP_N, 5)));
        assert_eq!(of(true, false), ((Op::CUBLAS_OP_N, 3), (Op::CUBLAS_OP_T, 2)));
        assert_eq!(of(false, true), ((Op::CUBLAS_OP_T, 5), (Op::CUBLAS_OP_N, 5)));
        assert_eq!(of(true, true), ((Op::CUBLAS_OP_T, 5), (Op::CUBLAS_OP_T, 2)));
    }
}

//! cuBLAS as the yardstick: the same product on the same data, timed in the same minutes.
//!
//! On tensor cores it is the fastest of what `cublasGemmEx` picks and the algorithms that cuBLASLt names.

pub mod light;

use std::ffi::c_void;

use catalog::{Shape, Work};
use cudarc::cublas::result::CublasError;
use cudarc::driver::{CudaSlice, DevicePtr as _, DevicePtrMut as _};

use crate::device::Gpu;
use crate::device::cublas::{Cublas, Element, Flags};
use crate::timing::{Competitor, sampler::Sampler};
use crate::{error::StepError, inputs::Real};

/// Prepares cuBLAS on these inputs, stored as the kernel takes them; returns its result too, to be verified.
pub(crate) fn yardstick<'a, R: Real, T: Element<R>>(
    gpu: &'a Gpu, cublas: &'a Cublas, (work, shape): (Work, Shape), a: &[T], b: &[T],
) -> Result<(Competitor<'a>, Vec<R>), StepError> {
    let mut product = Yardstick::new(gpu, cublas, (work, shape), a, b)?;
    product.choose(gpu)?;
    product.enqueue()?;
    let got = gpu.stream.clone_dtoh(&product.c)?;
    let other =
        Competitor { name: "cuBLAS", algorithm: product.algorithm, enqueue: Box::new(move || product.enqueue()) };
    Ok((other, got))
}

/// Computes C as `cublasGemmEx` does by default, or for types it lacks, as cuBLASLt does by its first algorithm.
pub(crate) fn unasked<R: Real, T: Element<R>>(
    gpu: &Gpu, cublas: &Cublas, (work, shape): (Work, Shape), a: &[T], b: &[T],
) -> Result<Vec<R>, StepError> {
    let mut product = Yardstick::new(gpu, cublas, (work, shape), a, b)?;
    if let Err(refused) = product.enqueue() {
        if product.light.is_none() {
            return Err(refused);
        }
        product.algorithm = Some(0);
        product.enqueue()?;
    }
    Ok(gpu.stream.clone_dtoh(&product.c)?)
}

/// Samples of each algorithm before one is chosen. The first warms up.
const TRIES: u32 = 6;

/// A GEMM of cuBLAS that a kernel is compared with.
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
    fn new(gpu: &Gpu, cublas: &'a Cublas, (work, shape): (Work, Shape), a: &[T], b: &[T]) -> Result<Self, StepError> {
        let flags = Flags::new(work, shape);
        Ok(Self {
            cublas,
            work,
            shape,
            a: gpu.stream.clone_htod(a)?,
            b: gpu.stream.clone_htod(b)?,
            c: gpu.poisoned(shape.m * shape.n)?,
            light: T::on_tensor_cores(flags).and_then(|types| light::Product::new(gpu, flags, types, None)),
            algorithm: None,
        })
    }

    /// Chooses the fastest algorithm. They are timed as the yardstick will be, in turns, so that none has a cooler
    /// chip; the fastest try of each counts. Refused algorithms are left out, unless nothing is left.
    fn choose(&mut self, gpu: &Gpu) -> Result<(), StepError> {
        let Some(others) = self.light.as_ref().map(light::Product::count) else { return Ok(()) };
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
                *least = least.min(sampler.sample(|| self.enqueue())?);
            }
        }
        match (candidates.iter().min_by(|a, b| a.2.total_cmp(&b.2)), refused) {
            (Some((algorithm, ..)), _) => self.algorithm = *algorithm,
            (None, Some(why)) => return Err(why),
            (None, None) => {}
        }
        Ok(())
    }

    /// Returns a sampler of the algorithm that is chosen now.
    fn sampler<'g>(&mut self, gpu: &'g Gpu) -> Result<Sampler<'g>, StepError> {
        let one_ms = gpu.time_ms(1, || self.enqueue())?.min(gpu.time_ms(1, || self.enqueue())?);
        Ok(Sampler::new(gpu, one_ms, || self.enqueue()))
    }

    /// Enqueues one run of the GEMM.
    fn enqueue(&mut self) -> Result<(), StepError> {
        let shape = self.shape;
        let (Some(algorithm), Some(light)) = (self.algorithm, &mut self.light) else {
            let done = self.cublas.product(self.work, shape, &self.a, &self.b, &mut self.c);
            return done.map_err(|CublasError(status)| refused("cuBLAS", shape, status));
        };
        let stream = &self.cublas.stream;
        let (a, _reads_a) = self.a.device_ptr(stream);
        let (b, _reads_b) = self.b.device_ptr(stream);
        let (c, _writes_c) = self.c.device_ptr_mut(stream);
        // SAFETY: the operands are on the device, of `shape` and of `light`'s types, in cuBLAS's order.
        let done = unsafe { light.enqueue(algorithm, stream, [b, a].map(|at| at as *const c_void), c as *mut c_void) };
        done.map_err(|error| refused("cuBLASLt", shape, error.0))
    }
}

fn refused(library: &str, shape: Shape, status: impl std::fmt::Debug) -> StepError {
    StepError::CouldNot(format!("{library} refuses a product of {shape}: {status:?}"))
}

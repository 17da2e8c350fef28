//! A kernel with its operands on the device: copy in, launch, copy out.

use std::ffi::{CString, c_void};
use std::ops::RangeInclusive;

use catalog::statistics::median;
use cudarc::driver::sys::{self, CUevent_flags, CUgraphInstantiate_flags, CUjit_option, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaFunction, CudaGraph, CudaSlice, DevicePtrMut as _};
use cudarc::nvrtc::Ptx;

use crate::device::Gpu;
use crate::error::{StepError, describe};
use crate::inputs::Real;

/// Operands on the device, and the launches on them.
pub struct Session<'g, T: Real, R: Real = T> {
    gpu: &'g Gpu,
    launch: Launch<'g, T, R>,
    a: CudaSlice<T>,
    /// A transpose has none.
    b: Option<CudaSlice<T>>,
    c: CudaSlice<R>,
}

pub struct Operands<'a, T, R = T> {
    /// The first or only input.
    pub a: &'a CudaSlice<T>,
    pub b: Option<&'a CudaSlice<T>>,
    /// The output, which is overwritten.
    pub c: &'a mut CudaSlice<R>,
}

/// A function that enqueues the launches on a stream.
pub type Launch<'g, T, R = T> = Box<dyn Fn(Operands<'_, T, R>) -> Result<(), StepError> + 'g>;

/// Loads the kernel `name` of a PTX text.
///
/// # Errors
/// Returns an error if the driver does not take the text, or there is no such kernel in it.
// ANCHOR: load
pub fn load(gpu: &Gpu, ptx: &str, name: &str) -> Result<CudaFunction, StepError> {
    let module = gpu.module(ptx.as_bytes(), || {
        let module = gpu.context.load_module(Ptx::from_src(checked(ptx)?));
        module.map_err(|error| {
            let text = CString::new(ptx).unwrap_or_default();
            let (error, log) = (describe(error), explain(text.as_bytes_with_nul()));
            StepError::CouldNot(format!("the driver does not take the PTX of {name}: {error}{log}"))
        })
    })?;
    module
        .load_function(name)
        .map_err(|error| StepError::CouldNot(format!("there is no kernel {name} in this PTX: {}", describe(error))))
}
// ANCHOR_END: load

/// Loads the kernel `name` of a cubin.
pub fn load_cubin(gpu: &Gpu, cubin: &[u8], name: &str) -> Result<CudaFunction, String> {
    let loaded = gpu.context.load_module(Ptx::from_binary(cubin.to_vec()));
    let module = loaded.map_err(|error| {
        // The log is more specific than the error code: a sentence, followed by its subject where it ends with a colon.
        let log = explain(cubin);
        let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
        match (lines.next(), lines.next()) {
            (Some(first), Some(next)) if first.ends_with(':') => format!("{first} {next}"),
            (Some(first), _) => first.to_owned(),
            (None, _) => describe(error),
        }
    })?;
    module.load_function(name).map_err(|error| format!("it has no kernel {name}: {}", describe(error)))
}

/// Checks that PTX holds no NUL: the driver takes it as a C string.
fn checked(ptx: &str) -> Result<&str, StepError> {
    if ptx.contains('\0') { Err(StepError::CouldNot("this is not PTX: it has a NUL in it".into())) } else { Ok(ptx) }
}

/// Returns the driver's log about an image that it refuses, on lines of their own: a text with its NUL, or a cubin.
fn explain(image: &[u8]) -> String {
    const ROOM: usize = 8192;
    let mut log = vec![0u8; ROOM];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The size is passed in the pointer itself.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ROOM as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: two options with their values; the buffer has the size that is passed; the image is whole.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code.result().is_ok() {
        // SAFETY: just loaded, and nobody else has it.
        let _ = unsafe { sys::cuModuleUnload(module) };
        return String::new();
    }
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(ROOM);
    let lines = String::from_utf8_lossy(&log[..end]);
    lines.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("\n  {line}")).collect()
}

// ANCHOR: session
impl<'g, T: Real, R: Real> Session<'g, T, R> {
    /// Allocates the operands and copies the inputs to the device. The output is full of NaN.
    pub fn new(
        gpu: &'g Gpu, launch: Launch<'g, T, R>, a: &[T], b: Option<&[T]>, n_out: usize,
    ) -> Result<Self, StepError> {
        let stream = &gpu.stream;
        Ok(Self {
            launch,
            a: stream.clone_htod(a)?,
            b: b.map(|b| stream.clone_htod(b)).transpose()?,
            c: gpu.poisoned(n_out)?,
            gpu,
        })
    }

    /// Launches once.
    ///
    /// # Errors
    /// Returns an error if the launch is refused; errors of the kernel itself are reported at the next synchronisation.
    pub fn launch(&mut self) -> Result<(), StepError> {
        (self.launch)(Operands { a: &self.a, b: self.b.as_ref(), c: &mut self.c })
    }

    /// Launches once, waits, and copies the output back.
    pub fn run(&mut self) -> Result<Vec<R>, StepError> {
        self.launch()?;
        self.gpu.stream.synchronize()?;
        Ok(self.gpu.stream.clone_dtoh(&self.c)?)
    }

    /// Measures `n` launches, one after another, in milliseconds on the device.
    pub fn time_ms(&mut self, n: u32) -> Result<f64, StepError> {
        let gpu = self.gpu;
        gpu.time_ms(n, || self.launch())
    }
}
// ANCHOR_END: session

impl Gpu {
    /// Allocates memory full of NaN.
    pub fn poisoned<T: Real>(&self, n: usize) -> Result<CudaSlice<T>, StepError> {
        // SAFETY: every element is set just below.
        let mut slice = unsafe { self.stream.alloc::<T>(n) }?;
        {
            let (address, _write) = slice.device_ptr_mut(&self.stream);
            let (word, stream) = (T::POISON_WORD, self.stream.cu_stream());
            // SAFETY: this number of words, or of halves of one, was allocated there.
            unsafe {
                match size_of::<T>() / size_of::<u32>() {
                    0 => sys::cuMemsetD16Async(address, word as u16, n, stream),
                    words => sys::cuMemsetD32Async(address, word, words * n, stream),
                }
            }
            .result()?;
        }
        Ok(slice)
    }

    /// Measures, in milliseconds on the device, what `put` enqueues `n` times.
    pub fn time_ms(&self, n: u32, mut put: impl FnMut() -> Result<(), StepError>) -> Result<f64, StepError> {
        let start = self.event()?;
        for _ in 0..n {
            put()?;
        }
        let end = self.event()?;
        Ok(f64::from(start.elapsed_ms(&end)?))
    }

    /// A graph of what `put` puts into the stream, `n` times, to be replayed as a whole.
    ///
    /// # Errors
    /// Returns an error if something is put there that cannot be captured.
    // ANCHOR: captured
    pub fn captured(&self, n: u32, mut put: impl FnMut() -> Result<(), StepError>) -> Result<CudaGraph, StepError> {
        self.stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let done = (0..n).try_for_each(|_| put());
        // Also after an error: the stream is to leave the capture.
        let graph = self.stream.end_capture(CUgraphInstantiate_flags(0));
        done?;
        graph?.ok_or_else(|| StepError::CouldNot("the driver captures no graph".into()))
    }
    // ANCHOR_END: captured

    /// Measures, in microseconds, what `put` puts into the stream: the median of `rounds` replays of a graph that lasts
    /// about `ms`, or has as many of it as `range` allows.
    ///
    /// # Errors
    /// Returns the error of `put`, or of what cannot be captured.
    pub fn replayed_us(
        &self, ms: f64, range: RangeInclusive<u32>, rounds: usize, mut put: impl FnMut() -> Result<(), StepError>,
    ) -> Result<f64, StepError> {
        let first = self.time_ms(2, &mut put)? / 2.0;
        let n = ((ms / first) as u32).clamp(*range.start(), *range.end());
        let graph = self.captured(n, put)?;
        let times = (0..rounds).map(|_| self.time_ms(1, || Ok(graph.launch()?))).collect::<Result<_, _>>()?;
        Ok(median(times).unwrap_or(f64::NAN) * 1e3 / f64::from(n))
    }

    /// Returns an event that marks this place in the stream, with its time.
    pub fn event(&self) -> Result<CudaEvent, StepError> {
        let with_time = CUevent_flags::CU_EVENT_DEFAULT;
        Ok(self.stream.record_event(Some(with_time))?)
    }
}

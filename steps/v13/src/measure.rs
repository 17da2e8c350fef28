//! `measure`: what surrounds a product.

use std::time::Instant;

use cudarc::driver::{DevicePtr as _, DriverError, result};
use cudarc::nvrtc::Ptx;
use harness::{Gpu, KernelSource, Shape, StepError, code, out};
use serde_json::json;
use v11::gemm::{Product, Sgemm};
use v13::host::{Array, Kind};
use v13::process::Device;
use v13::schedule::Queue;

use crate::Common;
use crate::clock::Clock;

const MODULE: KernelSource = code!("v11_stream_k");

/// Options of `measure`.
#[derive(Debug, clap::Args)]
pub(crate) struct Measure {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn main(task: &Measure) -> Result<bool, StepError> {
    task.common.check_json()?;
    let begin = Instant::now();
    let gpu = Gpu::find()?;
    let opened = begin.elapsed().as_secs_f64() * 1e3;
    let mut clock = Clock::new(&gpu, task.common.repeat);
    out::write(&format!("{}\n", gpu.info.name))?;
    if clock.emulated {
        out::write("Emulated: everything is done once, and nothing is timed.\n")?;
    }
    clock.record("the driver, and a context", 0, vec![opened])?;
    modules(&mut clock, &gpu)?;
    let device = Device::new(&gpu.context)?;
    for shape in task.common.sizes(&gpu)? {
        out::write(&format!("\n{}\n", shape.short()))?;
        allocations(&mut clock, &device, shape)?;
        copies(&mut clock, &device, shape)?;
    }
    task.common.write_json(&json!({
        "run": harness::run::describe("v13", &gpu),
        "loading": std::env::var("CUDA_MODULE_LOADING").ok(),
        "measured": clock.entries,
    }))?;
    Ok(true)
}

fn modules(clock: &mut Clock, gpu: &Gpu) -> Result<(), StepError> {
    const NAME: &str = "sgemm_v11_stream_k";
    const SMALL: usize = 128;
    let load = |image: Ptx| -> Result<(), DriverError> {
        gpu.context.load_module(image)?.load_function(NAME)?;
        Ok(())
    };
    clock.time("a module from PTX", 0, || load(Ptx::from_src(MODULE.ptx)))?;
    // The emulated device runs PTX alone.
    if !clock.emulated {
        clock.time("a module from machine code", 0, || load(Ptx::from_binary(MODULE.cubin.to_vec())))?;
    }
    let stream = &gpu.stream;
    let begin = Instant::now();
    let sgemm = Sgemm::load(stream)?;
    clock.record("all kernels of the library", 0, vec![begin.elapsed().as_secs_f64() * 1e3])?;
    let product = Product::new(Shape::square(SMALL));
    let (a, b) = (stream.alloc_zeros(SMALL * SMALL)?, stream.alloc_zeros(SMALL * SMALL)?);
    let mut c = stream.alloc_zeros(SMALL * SMALL)?;
    stream.synchronize()?;
    clock.time("a product of 128, with the first launch", 0, || {
        sgemm.multiply(&product, &a, &b, &mut c)?;
        Ok::<(), StepError>(stream.synchronize()?)
    })
}

/// Times allocations of A and of its place on the device.
fn allocations(clock: &mut Clock, device: &Device, shape: Shape) -> Result<(), StepError> {
    let n = shape.m * shape.k;
    let size = n * size_of::<f32>();
    let context = &device.context;
    let stream = device.stream(Queue::Kernel);
    // SAFETY: nobody uses what is allocated.
    let synchronous = || unsafe { result::free_sync(result::malloc_sync(size)?) };
    clock.time("cuMemAlloc and cuMemFree", size, synchronous)?;
    clock.time("cuMemAllocAsync and cuMemFreeAsync", size, || {
        let cu_stream = stream.cu_stream();
        // SAFETY: nobody uses what is allocated.
        unsafe { result::free_async(result::malloc_async(cu_stream, size)?, cu_stream) }?;
        stream.synchronize()
    })?;
    clock.time("a pageable array, written once", size, || {
        Array::new(context, Kind::Pageable, n)?.get_mut()?.fill(1.0);
        Ok::<(), DriverError>(())
    })?;
    clock.time("a pinned array, written once, and freed", size, || {
        Array::new(context, Kind::Pinned, n).map(drop)
    })?;
    let mut array = vec![1.0f32; n];
    clock.time("pinning an array that is there, and back", size, || {
        let pointer = array.as_mut_ptr().cast();
        // SAFETY: the array is there until it is pageable again.
        unsafe {
            cudarc::driver::sys::cuMemHostRegister_v2(pointer, size, 0).result()?;
            cudarc::driver::sys::cuMemHostUnregister(pointer).result()
        }
    })
}

fn copies(clock: &mut Clock, device: &Device, shape: Shape) -> Result<(), StepError> {
    let n = shape.m * shape.k;
    let size = n * size_of::<f32>();
    let (to, back) = (device.stream(Queue::In), device.stream(Queue::Out));
    let (there, there_too) = (to.alloc_zeros::<f32>(n)?, to.alloc_zeros::<f32>(n)?);
    to.synchronize()?;
    let (first, second) = (there.device_ptr(to).0, there_too.device_ptr(to).0);
    for (kind, name) in [(Kind::Pageable, "pageable"), (Kind::Pinned, "pinned")] {
        let mut source = Array::new(&device.context, kind, n)?;
        let mut target = Array::new(&device.context, kind, n)?;
        // Unwritten pages are not backed by memory yet.
        source.get_mut()?.fill(1.0);
        target.get_mut()?.fill(2.0);
        let (source, target) = (source.get()?, target.get_mut()?);
        clock.time(&format!("{name}, to the device"), size, || {
            // SAFETY: the places have the size of the arrays, and all is done before this returns.
            unsafe { result::memcpy_htod_async(first, source, to.cu_stream()) }?;
            to.synchronize()
        })?;
        clock.time(&format!("{name}, to the host"), size, || {
            // SAFETY: the same.
            unsafe { result::memcpy_dtoh_async(target, first, back.cu_stream()) }?;
            back.synchronize()
        })?;
        if kind == Kind::Pinned {
            clock.time("pinned, both ways at once", 2 * size, || {
                // SAFETY: the same, and the copies touch different memory.
                unsafe {
                    result::memcpy_htod_async(second, source, to.cu_stream())?;
                    result::memcpy_dtoh_async(target, first, back.cu_stream())?;
                }
                to.synchronize()?;
                back.synchronize()
            })?;
        }
    }
    Ok(())
}

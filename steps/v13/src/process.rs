//! A schedule on a device: a stream for each queue, and an event behind every operation.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::result::stream;
use cudarc::driver::sys::{
    self, CUDA_MEMCPY2D, CUevent_flags, CUgraphInstantiate_flags, CUmemorytype, CUstreamCaptureMode,
};
use cudarc::driver::{CudaContext, CudaEvent, CudaGraph, CudaSlice, CudaStream, DevicePtr, DriverError};
use harness::{Shape, StepError};
use records::process::Event;
use v11::gemm::{Product, Sgemm};

use crate::host::Arrays;
use crate::schedule::{Block, OpKind, Operand, QUEUES, Queue, Schedule};

pub struct Device {
    pub context: Arc<CudaContext>,
    streams: [Arc<CudaStream>; QUEUES],
    sgemm: Sgemm,
}

pub struct Process<'d> {
    pub(crate) device: &'d Device,
    schedule: Schedule,
    memory: [CudaSlice<f32>; 3],
    origin: CudaEvent,
    events: Vec<[CudaEvent; 2]>,
    /// Operations of this run that were enqueued in each queue.
    enqueued: [Vec<usize>; QUEUES],
    /// Milliseconds of the last run that the host spent on calls, before it waited for the end.
    pub calls_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Taken,
    /// Within a graph, events are its edges and have no time.
    None,
}

impl Device {
    /// Creates the streams and loads the kernels in a context.
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, StepError> {
        // SAFETY: the events of a schedule order the streams, and memory is freed after all streams are done.
        unsafe { context.disable_event_tracking() };
        let (_, most_urgent) = stream::get_priority_range()?;
        let streams = [
            context.new_stream()?,
            context.new_stream()?,
            context.new_stream()?,
            // An exchange may need multiprocessors, and the next product waits for it: it goes before one that runs.
            context.new_stream_with_priority(most_urgent)?,
        ];
        Ok(Self { sgemm: Sgemm::load(&streams[Queue::Kernel as usize])?, context: context.clone(), streams })
    }

    pub fn stream(&self, queue: Queue) -> &Arc<CudaStream> {
        &self.streams[queue as usize]
    }

    pub fn synchronize(&self) -> Result<(), StepError> {
        self.streams.iter().try_for_each(|stream| Ok(stream.synchronize()?))
    }

    pub fn prepare(&self, schedule: Schedule) -> Result<Process<'_>, StepError> {
        let timed = || self.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let stream = self.stream(Queue::Kernel);
        // SAFETY: a schedule writes what it reads.
        let [a, b, c] = schedule.elements.map(|n| unsafe { stream.alloc::<f32>(n) });
        let process = Process {
            memory: [a?, b?, c?],
            origin: timed()?,
            events: schedule
                .ops
                .iter()
                .map(|_| Ok([timed()?, timed()?]))
                .collect::<Result<_, DriverError>>()?,
            enqueued: Default::default(),
            calls_ms: 0.0,
            device: self,
            schedule,
        };
        // The other streams use the memory too.
        self.synchronize()?;
        Ok(process)
    }
}

impl Process<'_> {
    /// Computes C, and returns the milliseconds that the host waited.
    pub fn run(&mut self, arrays: &mut Arrays) -> Result<f64, StepError> {
        let begin = Instant::now();
        let done = pointers(self.schedule.shape, arrays).and_then(|host| self.enqueue(host, Times::Taken));
        self.calls_ms = begin.elapsed().as_secs_f64() * 1e3;
        // Also after an error: copies are not to go on behind the end of this call.
        self.device.synchronize()?;
        done?;
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }

    pub fn events(&self) -> Result<Vec<Event>, StepError> {
        let ops = self.schedule.ops.iter().zip(&self.events);
        ops.map(|(op, [start, end])| {
            Ok(Event {
                queue: op.queue(),
                what: op.description(self.schedule.shape),
                bytes: op.bytes(),
                start_ms: f64::from(self.origin.elapsed_ms(start)?),
                end_ms: f64::from(self.origin.elapsed_ms(end)?),
            })
        })
        .collect()
    }

    // ANCHOR: put
    fn enqueue(&mut self, host: Pointers, times: Times) -> Result<(), StepError> {
        self.begin()?;
        for i in 0..self.schedule.ops.len() {
            self.await_others(i, times)?;
            self.start(i, host)?;
            self.finish(i)?;
        }
        Ok(())
    }

    /// Makes the other streams wait until the stream of kernels is here.
    pub(crate) fn begin(&mut self) -> Result<(), StepError> {
        let kernels = self.device.stream(Queue::Kernel);
        self.origin.record(kernels)?;
        for queue in [Queue::In, Queue::Out, Queue::Peer] {
            // A stream that gets nothing would stay behind in a capture.
            if self.schedule.ops.iter().any(|op| op.queue() == queue) {
                self.device.stream(queue).wait(&self.origin)?;
            }
        }
        self.enqueued = Default::default();
        Ok(())
    }

    /// Makes the stream of operation `i` wait for the operations of other streams that it needs.
    pub(crate) fn await_others(&self, i: usize, times: Times) -> Result<(), StepError> {
        let op = &self.schedule.ops[i];
        let stream = self.device.stream(op.queue());
        for (queue, n) in op.waits_for.into_iter().flatten() {
            stream.wait(&self.events[self.enqueued[queue as usize][n - 1]][1])?;
        }
        if times == Times::Taken {
            self.events[i][0].record(stream)?;
        }
        Ok(())
    }

    /// Records an event behind operation `i` in its stream, for which other streams wait.
    pub(crate) fn finish(&mut self, i: usize) -> Result<(), StepError> {
        let queue = self.schedule.ops[i].queue();
        self.events[i][1].record(self.device.stream(queue))?;
        self.enqueued[queue as usize].push(i);
        Ok(())
    }
    // ANCHOR_END: put

    pub(crate) fn start(&mut self, i: usize, host: Pointers) -> Result<(), StepError> {
        let Self { device, schedule, memory, .. } = self;
        let op = &schedule.ops[i];
        // Calls that take a stream need its context to be current.
        device.context.bind_to_thread()?;
        let stream = device.stream(op.queue());
        let Shape { n, k, .. } = schedule.shape;
        match op.kind {
            OpKind::In(operand, block) => {
                let (array, width, memory) = match operand {
                    Operand::A => (host.a, k, &memory[0]),
                    Operand::B => (host.b, n, &memory[1]),
                };
                let to = memory.slice(block.at..block.at + block.rows * block.cols);
                let host = array.wrapping_add(block.row * width + block.col);
                copy(stream, Way::In, block, host.cast_mut(), width, to.device_ptr(stream).0)
            }
            OpKind::Multiply { shape, at, adds } => {
                let product = Product { beta: if adds { 1.0 } else { 0.0 }, ..Product::new(shape) };
                let [a, b, c] = memory;
                let (a, b) = (a.slice(at[0]..), b.slice(at[1]..));
                Ok(device.sgemm.multiply(&product, &a, &b, &mut c.slice_mut(at[2]..))?)
            }
            OpKind::Out(block) => {
                let from = memory[2].slice(block.at..block.at + block.rows * block.cols);
                let host = host.c.wrapping_add(block.row * n + block.col);
                copy(stream, Way::Out, block, host, n, from.device_ptr(stream).0)
            }
            OpKind::Exchange(_) => Err(StepError::CouldNot("an exchange needs a second device".into())),
        }
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn b(&self) -> sys::CUdeviceptr {
        self.memory[1].device_ptr(self.device.stream(Queue::Peer)).0
    }

    /// Returns the event behind the operation of another queue that this operation waits for first.
    pub(crate) fn awaited(&self, i: usize) -> Option<&CudaEvent> {
        let (queue, n) = self.schedule.ops[i].waits_for[0]?;
        Some(&self.events[self.enqueued[queue as usize][n - 1]][1])
    }

    /// Returns the schedule as a graph, for these arrays: one call starts all of it.
    pub fn capture(&mut self, arrays: &mut Arrays) -> Result<CudaGraph, StepError> {
        let host = pointers(self.schedule.shape, arrays)?;
        let kernels = self.device.stream(Queue::Kernel).clone();
        kernels.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let done = self.enqueue(host, Times::None).and_then(|()| {
            for queue in [Queue::In, Queue::Out] {
                let last = self.schedule.ops.iter().rposition(|op| op.queue() == queue);
                if let Some(last) = last {
                    kernels.wait(&self.events[last][1])?;
                }
            }
            Ok(())
        });
        // Also after an error: the stream is to leave the capture.
        let graph = kernels.end_capture(CUgraphInstantiate_flags(0));
        done?;
        graph?.ok_or_else(|| StepError::CouldNot("the driver captures no graph".into()))
    }

    /// Starts a graph, and returns the milliseconds until it is done.
    pub fn replay(&self, graph: &CudaGraph) -> Result<f64, StepError> {
        let begin = Instant::now();
        graph.launch()?;
        self.device.synchronize()?;
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }
}

/// Addresses of the arrays of the host. Getting them waits for an event, which a stream in a capture cannot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pointers {
    a: *const f32,
    b: *const f32,
    c: *mut f32,
}

pub(crate) fn pointers(shape: Shape, arrays: &mut Arrays) -> Result<Pointers, StepError> {
    let Shape { m, n, k } = shape;
    let (a, b, c) = (arrays.a.get()?, arrays.b.get()?, arrays.c.get_mut()?);
    assert_eq!([a.len(), b.len(), c.len()], [m * k, k * n, m * n], "arrays of this shape");
    Ok(Pointers { a: a.as_ptr(), b: b.as_ptr(), c: c.as_mut_ptr() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

/// Copies a block between rows of the host, which are `width` apart, and rows of the device without gaps.
fn copy(
    stream: &CudaStream,
    way: Way,
    block: Block,
    host: *mut f32,
    width: usize,
    device: sys::CUdeviceptr,
) -> Result<(), StepError> {
    const FLOAT: usize = size_of::<f32>();
    let (host_type, device_type) = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE);
    let ([src_type, dst_type], [src_pitch, dst_pitch]) = match way {
        Way::In => ([host_type, device_type], [width, block.cols]),
        Way::Out => ([device_type, host_type], [block.cols, width]),
    };
    // Only what the types name is read of the addresses.
    let copy = CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: src_type,
        srcHost: host.cast_const().cast(),
        srcDevice: device,
        srcArray: std::ptr::null_mut(),
        srcPitch: src_pitch * FLOAT,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: dst_type,
        dstHost: host.cast(),
        dstDevice: device,
        dstArray: std::ptr::null_mut(),
        dstPitch: dst_pitch * FLOAT,
        WidthInBytes: block.cols * FLOAT,
        Height: block.rows,
    };
    let bytes = block.rows * block.cols * FLOAT;
    // Rows without gaps are one copy.
    let done = match (way, block.cols == width || block.rows == 1) {
        // SAFETY: the block lies within the array and within the memory of the device; both live until the streams
        // are synchronised, which `Process::run` and `Process::replay` do before they return.
        (_, false) => unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) },
        // SAFETY: the same.
        (Way::In, true) => unsafe {
            sys::cuMemcpyHtoDAsync_v2(device, host.cast(), bytes, stream.cu_stream())
        },
        // SAFETY: the same.
        (Way::Out, true) => unsafe {
            sys::cuMemcpyDtoHAsync_v2(host.cast(), device, bytes, stream.cu_stream())
        },
    };
    Ok(done.result()?)
}

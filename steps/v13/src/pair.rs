//! A product on two devices of one host: a schedule for each, and exchanges between them.
//!
//! One thread enqueues the operations of both alternately. Exchanges are peer copies or calls of NCCL.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::sys::{self, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType};
use cudarc::driver::{CudaContext, DriverError};
use harness::StepError;
use records::process::Event;

use crate::host::Arrays;
use crate::nccl::Nccl;
use crate::process::{Device, Pointers, Process, Times, pointers};
use crate::schedule::{Exchange, OpKind, Queue, Schedule, Spread};

#[derive(Clone, Copy)]
pub enum Link<'l> {
    Copies,
    Nccl(&'l Nccl),
}

pub struct Pair<'d> {
    ranks: [Process<'d>; 2],
    link: Link<'d>,
}

impl<'d> Pair<'d> {
    pub fn new(
        devices: [&'d Device; 2],
        schedules: [Schedule; 2],
        link: Link<'d>,
    ) -> Result<Self, StepError> {
        let [first, second] = schedules;
        Ok(Self { ranks: [devices[0].prepare(first)?, devices[1].prepare(second)?], link })
    }

    pub fn run(&mut self, arrays: &mut Arrays) -> Result<f64, StepError> {
        let begin = Instant::now();
        let done = pointers(self.ranks[0].schedule().shape, arrays).and_then(|host| self.enqueue(host));
        // Also after an error: copies are not to go on behind the end of this call.
        for process in &self.ranks {
            process.device.synchronize()?;
        }
        done?;
        Ok(begin.elapsed().as_secs_f64() * 1e3)
    }

    /// Returns the operations of the last run with their times, of each device by its own clock.
    pub fn events(&self) -> Result<[Vec<Event>; 2], StepError> {
        Ok([self.ranks[0].events()?, self.ranks[1].events()?])
    }

    // ANCHOR: put
    /// Enqueues the operations of both devices alternately, and an exchange when both schedules have reached it.
    fn enqueue(&mut self, host: Pointers) -> Result<(), StepError> {
        let mut next = [0, 0];
        for process in &mut self.ranks {
            process.begin()?;
        }
        loop {
            let mut exchanges = [None, None];
            let mut progress = false;
            for (rank, process) in self.ranks.iter_mut().enumerate() {
                let i = next[rank];
                match process.schedule().ops.get(i).map(|op| op.kind) {
                    None => {}
                    Some(OpKind::Exchange(exchange)) => exchanges[rank] = Some(exchange),
                    Some(_) => {
                        process.await_others(i, Times::Taken)?;
                        process.start(i, host)?;
                        process.finish(i)?;
                        next[rank] += 1;
                        progress = true;
                    }
                }
            }
            if let [Some(exchange), Some(_)] = exchanges {
                self.exchange(exchange, next)?;
                next = next.map(|i| i + 1);
            } else if !progress {
                return Ok(());
            }
        }
    }
    // ANCHOR_END: put

    fn exchange(&mut self, exchange: Exchange, at: [usize; 2]) -> Result<(), StepError> {
        for (process, i) in self.ranks.iter().zip(at) {
            process.await_others(i, Times::Taken)?;
        }
        match self.link {
            Link::Copies => self.copy(exchange, at)?,
            Link::Nccl(nccl) => {
                let streams = [0, 1].map(|rank| self.ranks[rank].device.stream(Queue::Peer).cu_stream());
                let places = [0, 1].map(|rank| self.ranks[rank].b() + bytes(exchange.at));
                let count = exchange.count;
                // SAFETY: both devices have the whole of B, until `run` has synchronised their streams.
                unsafe {
                    match exchange.kind {
                        Spread::Gathered => nccl.gather(places, count / 2, streams),
                        Spread::Broadcast | Spread::Sent => nccl.broadcast(places, count, streams),
                    }
                }?;
            }
        }
        for (process, i) in self.ranks.iter_mut().zip(at) {
            process.finish(i)?;
        }
        Ok(())
    }

    fn copy(&self, exchange: Exchange, at: [usize; 2]) -> Result<(), StepError> {
        for rank in [0, 1] {
            let other = 1 - rank;
            let part = exchange.has(other);
            if part.is_empty() {
                continue;
            }
            let (to, from) = (&self.ranks[rank], &self.ranks[other]);
            let stream = to.device.stream(Queue::Peer);
            if let Some(copied_in) = from.awaited(at[other]) {
                stream.wait(copied_in)?;
            }
            let place = |process: &Process| process.b() + bytes(part.start);
            let n = part.len() * size_of::<f32>();
            // SAFETY: both devices have the whole of B, until `run` has synchronised their streams.
            unsafe { copy_between([to.device, from.device], [place(to), place(from)], n) }?;
        }
        Ok(())
    }
}

fn bytes(elements: usize) -> u64 {
    (elements * size_of::<f32>()) as u64
}

/// Copies bytes to the first device from the second, in the exchange stream of the first.
///
/// # Safety
/// Both places have `bytes` bytes, which stay alive, and which nothing else accesses, until the stream is synchronised.
pub unsafe fn copy_between(
    [to, from]: [&Device; 2],
    [target, source]: [sys::CUdeviceptr; 2],
    bytes: usize,
) -> Result<(), DriverError> {
    to.context.bind_to_thread()?;
    let stream = to.stream(Queue::Peer).cu_stream();
    let (to, from) = (to.context.cu_ctx(), from.context.cu_ctx());
    // SAFETY: the caller promises it.
    unsafe { sys::cuMemcpyPeerAsync(target, to, source, from, bytes, stream) }.result()
}

/// Enables two devices to access each other's memory, if they can.
pub fn connect(contexts: [&Arc<CudaContext>; 2]) -> Result<bool, DriverError> {
    for rank in [0, 1] {
        let (one, other) = (contexts[rank], contexts[1 - rank]);
        let mut can = 0;
        // SAFETY: the place is that of a number.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, one.cu_device(), other.cu_device()) }.result()?;
        if can == 0 {
            return Ok(false);
        }
    }
    for rank in [0, 1] {
        let (one, other) = (contexts[rank], contexts[1 - rank]);
        one.bind_to_thread()?;
        // SAFETY: the context lives.
        match unsafe { sys::cuCtxEnablePeerAccess(other.cu_ctx(), 0) } {
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            done => done.result()?,
        }
        // Memory of a pool has a permission of its own.
        let mut pool = std::ptr::null_mut();
        // SAFETY: the place is that of a handle.
        unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, one.cu_device()) }.result()?;
        let access = CUmemAccessDesc {
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: other.cu_device(),
            },
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: one description is given.
        unsafe { sys::cuMemPoolSetAccess(pool, &access, 1) }.result()?;
    }
    Ok(true)
}

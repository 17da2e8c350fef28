//! Streams: each in order, and all of a context's in the order of submission (see `queue`).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use crate::contexts::{Context, usable};
use crate::cuda_constants::node;
use crate::ffi::{Out, export, later};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::staging;
use crate::streams::{EVENTS, Event, STREAMS, Stream, WaitEvent, stream_of, usable_stream};
use crate::types::{Handle, HostFn, StreamCallback};
use crate::{api::copy::Write, api::ready_for};
use crate::{graphs::Work, queue::JobThread};

/// Priorities of streams, best last.
const PRIORITIES: std::ops::RangeInclusive<c_int> = -5..=0;

fn create(out: Out<Handle>, flags: c_uint, priority: c_int) -> Outcome {
    ready_for(out)?;
    let context = usable()?;
    refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
    let priority = priority.clamp(*PRIORITIES.start(), *PRIORITIES.end());
    out.put(Stream::create(context, flags, priority))
}

/// Makes a stream wait for an event. Within a context, work runs in one order anyway, so the wait only affects "is the
/// stream done". One that was recorded in a capture takes the stream into it.
pub(crate) fn wait_for(stream: &Stream, event: &Event) -> Outcome {
    let own = stream.capture.valid()?;
    if let Some(position) = event.captured() {
        refuse_if(position.capture.has_ended(), ERROR_INVALID_VALUE)?;
        refuse_if(position.capture.is_invalid(), ERROR_STREAM_CAPTURE_INVALIDATED)?;
        return if stream.is_legacy() {
            position.capture.refuse(ERROR_STREAM_CAPTURE_IMPLICIT)
        } else {
            stream.capture.join(position)
        };
    }
    if stream.is_legacy() {
        stream.permit()?;
    }
    let Some((context, ticket)) = event.latest() else { return Ok(()) };
    if let Some(position) = own {
        return position.capture.refuse(ERROR_STREAM_CAPTURE_ISOLATION);
    }
    if Arc::ptr_eq(&context, &stream.context) {
        stream.join(ticket);
        return Ok(());
    }
    let own = Arc::clone(&stream.context);
    // The other context's worker never waits for this one: its work was submitted earlier.
    let job = move || {
        while own.check().is_ok() && !context.queue.is_done(ticket) {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    };
    stream.submit(JobThread::Worker, |_| {}, Box::new(job));
    Ok(())
}

/// A host function and its argument, for the worker.
pub(crate) struct HostCall<F>(pub(crate) F, pub(crate) *mut c_void);
// SAFETY: the caller of `cuLaunchHostFunc` wants both used on a thread of the driver's.
unsafe impl<F> Send for HostCall<F> {}
// SAFETY: nothing is read through the pointer here.
unsafe impl<F> Sync for HostCall<F> {}

impl Work for HostCall<HostFn> {
    fn kind(&self) -> u32 {
        node::HOST
    }

    fn thread(&self) -> JobThread {
        JobThread::Worker
    }

    fn run(&self, _context: &Context) -> Outcome {
        let function = self.0.ok_or(ERROR_INVALID_VALUE)?;
        // SAFETY: the caller promises a function that can be called with this argument.
        unsafe { function(self.1) };
        Ok(())
    }
}

fn launch_host(handle: Handle, function: HostFn, data: *mut c_void) -> Outcome {
    initialised()?;
    refuse_if(function.is_none(), ERROR_INVALID_VALUE)?;
    stream_of(handle)?.enqueue(Arc::new(HostCall(function, data))).map(|_| ())
}

export! {
    fn cuStreamCreate 2000(out: Out<Handle>, flags: c_uint) = create(out, flags, 0);
    fn cuStreamCreateWithPriority 5050(out: Out<Handle>, flags: c_uint, priority: c_int) =
        create(out, flags, priority);

    fn cuStreamDestroy_v2 4000 | cuStreamDestroy 2000(handle: Handle) {
        // Submitted work continues; it holds references to its objects.
        STREAMS.destroy(handle)?.capture.forget();
        Ok(())
    }

    fn cuStreamQuery 2000 / cuStreamQuery_ptsz (handle: Handle) {
        let stream = usable_stream(handle)?;
        refuse_if(!stream.is_done()?, ERROR_NOT_READY)?;
        stream.context.flush_printed();
        Ok(())
    }

    fn cuStreamSynchronize 2000 / cuStreamSynchronize_ptsz (handle: Handle) = usable_stream(handle)?.synchronize();

    fn cuStreamWaitEvent 3020 / cuStreamWaitEvent_ptsz (handle: Handle, awaited: Handle, flags: c_uint) {
        let stream = stream_of(handle)?;
        let event = EVENTS.find(awaited)?;
        refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
        stream.context.check()?;
        // Inside a capture, an external event is one of uncaptured work.
        if flags == 1 && stream.capture.valid()?.is_some() {
            return stream.enqueue(Arc::new(WaitEvent(event))).map(|_| ());
        }
        wait_for(&stream, &event)
    }

    fn cuStreamGetFlags 5050 / cuStreamGetFlags_ptsz (handle: Handle, flags: Out<c_uint>) =
        flags.put_with(|| Ok(stream_of(handle)?.flags));
    fn cuStreamGetPriority 5050 / cuStreamGetPriority_ptsz (handle: Handle, priority: Out<c_int>) =
        priority.put_with(|| Ok(stream_of(handle)?.priority));
    fn cuStreamGetId 12000 / cuStreamGetId_ptsz (handle: Handle, id: Out<c_ulonglong>) =
        id.put_with(|| Ok(stream_of(handle)?.id));
    fn cuStreamGetCtx 9020 / cuStreamGetCtx_ptsz (handle: Handle, context: Out<Handle>) =
        context.put_with(|| Ok(stream_of(handle)?.context.handle));

    fn cuStreamCopyAttributes 11000 / cuStreamCopyAttributes_ptsz (to: Handle, from: Handle) {
        stream_of(to)?;
        stream_of(from)?;
        Ok(())
    }

    fn cuStreamAddCallback 5000 / cuStreamAddCallback_ptsz (
        handle: Handle, callback: StreamCallback, data: *mut c_void, flags: c_uint,
    ) {
        let stream = stream_of(handle)?;
        let callback = callback.ok_or(ERROR_INVALID_VALUE)?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        stream.permit()?;
        let context = Arc::clone(&stream.context);
        let call = HostCall(callback, data);
        // Unlike a host function, a callback is also called after an error, with its code.
        let job = move || {
            let call = call;
            let status = context.check().err().unwrap_or(SUCCESS);
            // SAFETY: the caller promises a function that can be called with these arguments.
            unsafe { (call.0)(handle, status, call.1) };
        };
        staging::settle_awaited(stream.context.queue.id(), u64::MAX);
        stream.submit(JobThread::Worker, |_| {}, Box::new(job));
        Ok(())
    }

    fn cuLaunchHostFunc 10000 / cuLaunchHostFunc_ptsz (handle: Handle, function: HostFn, data: *mut c_void) =
        launch_host(handle, function, data);

    fn cuStreamAttachMemAsync 6000 / cuStreamAttachMemAsync_ptsz (
        handle: Handle, address: u64, _length: usize, flags: c_uint,
    ) {
        usable_stream(handle)?;
        refuse_if(![1, 2, 4].contains(&flags), ERROR_INVALID_VALUE)?;
        // Managed memory is host memory here: every stream can reach all of it.
        let managed = crate::allocations::find(address).is_some_and(|a| a.kind == crate::allocations::AllocationKind::Managed);
        if managed { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
    }

    fn cuStreamWriteValue32_v2 11070 / cuStreamWriteValue32_v2_ptsz | cuStreamWriteValue32 8000 / cuStreamWriteValue32_ptsz (
        handle: Handle, address: u64, value: u32, flags: c_uint,
    ) =
        write_value(handle, address, &value.to_le_bytes(), flags);
    fn cuStreamWriteValue64_v2 11070 / cuStreamWriteValue64_v2_ptsz | cuStreamWriteValue64 9000 / cuStreamWriteValue64_ptsz (
        handle: Handle, address: u64, value: u64, flags: c_uint,
    ) =
        write_value(handle, address, &value.to_le_bytes(), flags);
}

later! {
    fn cuLaunchHostFunc_v2 13020 / cuLaunchHostFunc_v2_ptsz (
        handle: Handle, function: HostFn, data: *mut c_void, _mode: c_uint,
    ) =
        launch_host(handle, function, data);

    fn cuStreamGetCtx_v2 12050 / cuStreamGetCtx_v2_ptsz (handle: Handle, context: Out<Handle>, green: Out<Handle>) {
        context.check()?;
        let stream = stream_of(handle)?;
        green.put_if_wanted(0);
        context.put(stream.context.handle)
    }

    fn cuStreamGetDevice 12080 / cuStreamGetDevice_ptsz (handle: Handle, dev: Out<c_int>) =
        dev.put_with(|| stream_of(handle).map(|_| 0));
}

fn write_value(handle: Handle, address: u64, bytes: &[u8], flags: c_uint) -> Outcome {
    let stream = stream_of(handle)?;
    refuse_if(flags > 1 || !address.is_multiple_of(bytes.len() as u64), ERROR_INVALID_VALUE)?;
    super::copy_ends::device_range(address, bytes.len())?;
    stream.enqueue(Arc::new(Write::new(address, bytes))).map(|_| ())
}

//! Streams: each in order, and all of a context's in the order of submission (see `queue`).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use crate::api::ready_for;
use crate::contexts::{initialised, usable};
use crate::ffi::{Out, export, later};
use crate::queue::JobThread;
use crate::result::*;
use crate::streams::{Event, STREAMS, Stream, event_of, stream_of};
use crate::sync::lock;
use crate::types::{Handle, HostFn, StreamCallback};

/// Priorities of streams, best last.
const PRIORITIES: std::ops::RangeInclusive<c_int> = -5..=0;

fn create(out: Out<Handle>, flags: c_uint, priority: c_int) -> Outcome {
    ready_for(out)?;
    let context = usable()?;
    refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
    let priority = priority.clamp(*PRIORITIES.start(), *PRIORITIES.end());
    out.put(Stream::create(context, flags, priority))
}

/// Makes a stream wait for an event: one of its own context, whose work is in one order anyway, only counts for "is the
/// stream done".
pub(crate) fn wait_for(stream: &Stream, event: &Event) -> Outcome {
    let Some((context, ticket)) = event.latest() else { return Ok(()) };
    if Arc::ptr_eq(&context, &stream.context) {
        stream.join(ticket);
        return Ok(());
    }
    stream.submit_async(JobThread::Worker, move || wait_elsewhere(&context, ticket))
}

/// Makes the worker of one context wait for another one's; that one never waits for this, since its work was submitted
/// earlier.
fn wait_elsewhere(context: &crate::contexts::Context, ticket: u64) -> Outcome {
    while !context.queue.is_done(ticket) {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
    Ok(())
}

/// A host function's argument, on its way to the worker.
struct HostCall<F>(F, *mut c_void);
// SAFETY: the caller of `cuLaunchHostFunc` wants both used on a thread of the driver's.
unsafe impl<F> Send for HostCall<F> {}

fn launch_host(handle: Handle, function: HostFn, data: *mut c_void) -> Outcome {
    initialised()?;
    let function = function.ok_or(ERROR_INVALID_VALUE)?;
    let stream = stream_of(handle)?;
    let call = HostCall(function, data);
    stream.submit_async(JobThread::Worker, move || {
        let call = call;
        // SAFETY: the caller promises a function that can be called with this argument.
        unsafe { (call.0)(call.1) };
        Ok(())
    })
}

export! {
    fn cuStreamCreate 2000(out: Out<Handle>, flags: c_uint) {
        create(out, flags, 0)
    }

    fn cuStreamCreateWithPriority 5050(out: Out<Handle>, flags: c_uint, priority: c_int) {
        create(out, flags, priority)
    }

    fn cuStreamDestroy_v2 4000 | cuStreamDestroy 2000(handle: Handle) {
        initialised()?;
        // Submitted work continues; it holds references to its objects.
        STREAMS.remove(handle).map(|_| ()).ok_or(ERROR_INVALID_HANDLE)
    }

    fn cuStreamQuery 2000 / cuStreamQuery_ptsz (handle: Handle) {
        let stream = stream_of(handle)?;
        stream.context.check()?;
        refuse_if(!stream.is_done(), ERROR_NOT_READY)?;
        stream.context.flush_printed();
        Ok(())
    }

    fn cuStreamSynchronize 2000 / cuStreamSynchronize_ptsz (handle: Handle) {
        let stream = stream_of(handle)?;
        stream.context.check()?;
        stream.synchronize()
    }

    fn cuStreamWaitEvent 3020 / cuStreamWaitEvent_ptsz (handle: Handle, awaited: Handle, flags: c_uint) {
        let stream = stream_of(handle)?;
        let event = event_of(awaited)?;
        refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
        stream.context.check()?;
        wait_for(&stream, &event)
    }

    fn cuStreamGetFlags 5050 / cuStreamGetFlags_ptsz (handle: Handle, flags: Out<c_uint>) {
        flags.put_with(|| Ok(stream_of(handle)?.flags))
    }

    fn cuStreamGetPriority 5050 / cuStreamGetPriority_ptsz (handle: Handle, priority: Out<c_int>) {
        priority.put_with(|| Ok(stream_of(handle)?.priority))
    }

    fn cuStreamGetId 12000 / cuStreamGetId_ptsz (handle: Handle, id: Out<c_ulonglong>) {
        id.put_with(|| Ok(stream_of(handle)?.id))
    }

    fn cuStreamGetCtx 9020 / cuStreamGetCtx_ptsz (handle: Handle, context: Out<Handle>) {
        context.put_with(|| Ok(stream_of(handle)?.context.handle))
    }

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
        let context = Arc::clone(&stream.context);
        let call = HostCall(callback, data);
        // Unlike a host function, a callback is also called after an error, with its code.
        let job = move || {
            let call = call;
            let status = context.check().err().unwrap_or(SUCCESS);
            // SAFETY: the caller promises a function that can be called with these arguments.
            unsafe { (call.0)(handle, status, call.1) };
        };
        stream.submit(JobThread::Worker, |_| {}, Box::new(job));
        Ok(())
    }

    fn cuLaunchHostFunc 10000 / cuLaunchHostFunc_ptsz (handle: Handle, function: HostFn, data: *mut c_void) {
        launch_host(handle, function, data)
    }

    fn cuStreamAttachMemAsync 6000 / cuStreamAttachMemAsync_ptsz (
        handle: Handle, address: u64, _length: usize, flags: c_uint,
    ) {
        stream_of(handle)?.context.check()?;
        refuse_if(![1, 2, 4].contains(&flags), ERROR_INVALID_VALUE)?;
        // Managed memory is host memory here: every stream can reach all of it.
        let managed = crate::allocations::find(address).is_some_and(|a| a.kind == crate::allocations::AllocationKind::Managed);
        if managed { Ok(()) } else { Err(ERROR_INVALID_VALUE) }
    }

    fn cuStreamIsCapturing 10000 / cuStreamIsCapturing_ptsz (handle: Handle, status: Out<c_uint>) {
        not_capturing(handle, status, None, None)
    }

    fn cuStreamGetCaptureInfo 10010 / cuStreamGetCaptureInfo_ptsz (handle: Handle, status: Out<c_uint>, id: Out<u64>) {
        not_capturing(handle, status, Some(id), None)
    }

    fn cuStreamGetCaptureInfo_v2 11030 / cuStreamGetCaptureInfo_v2_ptsz (
        handle: Handle, status: Out<c_uint>, id: Out<u64>, _graph: Out<Handle>, _dependencies: Out<usize>,
        n: Out<usize>,
    ) {
        not_capturing(handle, status, Some(id), Some(n))
    }

    fn cuStreamGetCaptureInfo_v3 12030 / cuStreamGetCaptureInfo_v3_ptsz (
        handle: Handle, status: Out<c_uint>, id: Out<u64>, _graph: Out<Handle>, _dependencies: Out<usize>,
        _edges: Out<usize>, n: Out<usize>,
    ) {
        not_capturing(handle, status, Some(id), Some(n))
    }

    fn cuThreadExchangeStreamCaptureMode 10010(mode: Out<c_uint>) {
        initialised()?;
        let requested = mode.get()?;
        refuse_if(requested > 2, ERROR_INVALID_VALUE)?;
        static MODE: std::sync::Mutex<c_uint> = std::sync::Mutex::new(0);
        mode.put(std::mem::replace(&mut *lock(&MODE), requested))
    }

    fn cuStreamWriteValue32_v2 11070 / cuStreamWriteValue32_v2_ptsz | cuStreamWriteValue32 8000 / cuStreamWriteValue32_ptsz (
        handle: Handle, address: u64, value: u32, flags: c_uint,
    ) {
        write_value(handle, address, &value.to_le_bytes(), flags)
    }

    fn cuStreamWriteValue64_v2 11070 / cuStreamWriteValue64_v2_ptsz | cuStreamWriteValue64 9000 / cuStreamWriteValue64_ptsz (
        handle: Handle, address: u64, value: u64, flags: c_uint,
    ) {
        write_value(handle, address, &value.to_le_bytes(), flags)
    }
}

later! {
    fn cuLaunchHostFunc_v2 13020 / cuLaunchHostFunc_v2_ptsz (
        handle: Handle, function: HostFn, data: *mut c_void, _mode: c_uint,
    ) {
        launch_host(handle, function, data)
    }

    fn cuStreamGetCtx_v2 12050 / cuStreamGetCtx_v2_ptsz (handle: Handle, context: Out<Handle>, green: Out<Handle>) {
        context.check()?;
        let stream = stream_of(handle)?;
        green.put_if_wanted(0);
        context.put(stream.context.handle)
    }

    fn cuStreamGetDevice 12080 / cuStreamGetDevice_ptsz (handle: Handle, dev: Out<c_int>) {
        dev.check()?;
        stream_of(handle)?;
        dev.put(0)
    }
}

/// Writes that a stream is not capturing: there are no graphs.
fn not_capturing(handle: Handle, status: Out<c_uint>, id: Option<Out<u64>>, n: Option<Out<usize>>) -> Outcome {
    status.check()?;
    stream_of(handle)?;
    id.into_iter().for_each(|id| id.put_if_wanted(0));
    n.into_iter().for_each(|n| n.put_if_wanted(0));
    status.put(0)
}

fn write_value(handle: Handle, address: u64, bytes: &[u8], flags: c_uint) -> Outcome {
    let stream = stream_of(handle)?;
    refuse_if(flags > 1 || !address.is_multiple_of(bytes.len() as u64), ERROR_INVALID_VALUE)?;
    let bytes = bytes.to_vec();
    super::copy_ends::device_range(address, bytes.len())?;
    stream.submit_async(JobThread::Caller, move || super::copy_ends::write_device(address, &bytes))
}

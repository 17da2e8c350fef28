//! Events. Their times are the host's when the stream gets there, as if other streams ran at the same time.

use std::ffi::c_uint;
use std::sync::Arc;
use std::time::Instant;

use crate::ffi::{Out, export, later};
use crate::result::*;
use crate::streams::{DISABLE_TIMING, EVENTS, Event, Mark, stream_of};
use crate::types::Handle;
use crate::{api::ready_for, contexts::usable};

fn record(recorded: Handle, handle: Handle, flags: c_uint) -> Outcome {
    let event = EVENTS.find(recorded)?;
    let stream = stream_of(handle)?;
    refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
    stream.context.check()?;
    refuse_if(event.context_id != stream.context.id, ERROR_INVALID_HANDLE)?;
    if flags == 1 && stream.capture.valid()?.is_some() {
        return stream.enqueue(Arc::new(Mark::new(event))).map(|_| ());
    }
    event.record(&stream)
}

/// Returns the milliseconds between two times; negative when `end` is the earlier one.
fn milliseconds(start: Instant, end: Instant) -> f32 {
    let forth = end.saturating_duration_since(start).as_secs_f64();
    let back = start.saturating_duration_since(end).as_secs_f64();
    ((forth - back) * 1e3) as f32
}

fn elapsed(out: Out<f32>, start: Handle, end: Handle) -> Outcome {
    let (start, end) = (EVENTS.find(start)?, EVENTS.find(end)?);
    // The driver returns this code for a null pointer, too.
    out.check().map_err(|_| ERROR_INVALID_HANDLE)?;
    refuse_if((start.flags | end.flags) & DISABLE_TIMING != 0, ERROR_INVALID_HANDLE)?;
    for recorded in [&start, &end] {
        refuse_if(recorded.captured().is_some(), ERROR_CAPTURED_EVENT)?;
        let (context, _) = recorded.latest().ok_or(ERROR_INVALID_HANDLE)?;
        context.check()?;
    }
    out.put(milliseconds(start.time()?, end.time()?))
}

export! {
    fn cuEventCreate 2000(out: Out<Handle>, flags: c_uint) {
        ready_for(out)?;
        let context = usable()?;
        // Events cannot be shared between processes; CUDA requires such events without timing.
        refuse_if(flags & !7 != 0 || (flags & 4 != 0 && flags & DISABLE_TIMING == 0), ERROR_INVALID_VALUE)?;
        out.put(Event::create(&context, flags))
    }

    fn cuEventDestroy_v2 4000 | cuEventDestroy 2000(handle: Handle) = EVENTS.destroy(handle).map(drop);
    fn cuEventRecord 2000 / cuEventRecord_ptsz (recorded: Handle, stream: Handle) = record(recorded, stream, 0);
    fn cuEventRecordWithFlags 11010 / cuEventRecordWithFlags_ptsz (recorded: Handle, stream: Handle, flags: c_uint) =
        record(recorded, stream, flags);

    fn cuEventQuery 2000(handle: Handle) {
        let event = EVENTS.find(handle)?;
        event.permit()?;
        let Some((context, ticket)) = event.latest() else { return Ok(()) };
        context.check()?;
        if context.queue.is_done(ticket) { Ok(()) } else { Err(ERROR_NOT_READY) }
    }

    fn cuEventSynchronize 2000(handle: Handle) {
        let event = EVENTS.find(handle)?;
        event.permit()?;
        event.latest().map_or(Ok(()), |(context, ticket)| context.synchronize(ticket))
    }

    fn cuEventElapsedTime 2000(out: Out<f32>, start: Handle, end: Handle) = elapsed(out, start, end);
}

later! {
    fn cuEventElapsedTime_v2 12080(out: Out<f32>, start: Handle, end: Handle) = elapsed(out, start, end);
}

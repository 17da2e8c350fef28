//! Streams and events: queued work of a context, and its progress.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::capture::{self, CaptureState, Position};
use crate::contexts::{CONTEXTS, Context, current};
use crate::graphs::{Work, only_kinds};
use crate::handle::{ObjectKind, Table};
use crate::queue::{Job, JobThread};
use crate::result::*;
use crate::staging;
use crate::sync::{lock, next_id};
use crate::types::Handle;
use crate::{cuda_constants::node, ffi};

pub(crate) static STREAMS: Table<Stream> = Table::new(ObjectKind::Stream);
pub(crate) static EVENTS: Table<Event> = Table::new(ObjectKind::Event);

pub(crate) fn forget_context(id: u64) {
    STREAMS.remove_where(|s| s.context.id == id);
    EVENTS.remove_where(|e| e.context_id == id);
}

thread_local! {
    /// State of the calling thread's own default streams, by context.
    static OWN_STREAMS: RefCell<BTreeMap<u64, Own>> = const { RefCell::new(BTreeMap::new()) };
}

/// Last ticket and captures of a thread's own default stream.
#[derive(Clone)]
struct Own {
    last: Arc<AtomicU64>,
    capture: Arc<CaptureState>,
}

impl Own {
    fn new(last: u64) -> Self {
        Self { last: Arc::new(AtomicU64::new(last)), capture: Arc::new(CaptureState::new(true)) }
    }
}

pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    pub(crate) id: u64,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// Whether this is the default stream that waits for all blocking streams.
    legacy: bool,
    last: Arc<AtomicU64>,
    pub(crate) capture: Arc<CaptureState>,
}

/// `CU_STREAM_NON_BLOCKING`
pub(crate) const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_LEGACY`
const LEGACY: Handle = 1;
/// `CU_STREAM_PER_THREAD`
const PER_THREAD: Handle = 2;

impl Stream {
    pub(crate) fn create(context: Arc<Context>, flags: u32, priority: i32) -> Handle {
        let capture = Arc::new(CaptureState::new(flags & NON_BLOCKING == 0));
        let make = |_| Self { context, id: next_id(), flags, priority, legacy: false, last: Arc::default(), capture };
        STREAMS.insert_with(make).0
    }

    fn of_thread(context: Arc<Context>) -> Self {
        let own = OWN_STREAMS.try_with(|own| {
            let mut own = own.borrow_mut();
            // Entries of destroyed contexts are removed.
            if own.len() >= 16 {
                own.retain(|id, _| !CONTEXTS.handles_where(|c| c.id == *id).is_empty());
            }
            own.entry(context.id).or_insert_with(|| Own::new(0)).clone()
        });
        // On a thread that is ending, the stream waits for everything.
        let Own { last, capture } = own.unwrap_or_else(|_| Own::new(context.queue.last().0));
        Self { context, id: PER_THREAD as u64, flags: 0, priority: 0, legacy: false, last, capture }
    }

    fn legacy(context: Arc<Context>) -> Self {
        Self {
            context,
            id: LEGACY as u64,
            flags: 0,
            priority: 0,
            legacy: true,
            last: Arc::default(),
            capture: Arc::default(),
        }
    }

    fn blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }

    /// Returns the ticket after which the stream is done.
    pub(crate) fn last(&self) -> u64 {
        if self.legacy { self.context.queue.last().1 } else { self.last.load(Ordering::Acquire) }
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.legacy
    }

    /// Fails while the stream captures, or would have to wait for one that does.
    pub(crate) fn permit(&self) -> Outcome {
        if self.legacy { capture::permit_legacy(self.context.id) } else { self.capture.refuse() }
    }

    /// Returns the ticket of the last job that work in this stream would wait for.
    fn awaited(&self) -> u64 {
        let legacy = if self.blocking() { self.context.last_legacy.load(Ordering::Acquire) } else { 0 };
        self.last().max(legacy)
    }

    pub(crate) fn synchronize(&self) -> Outcome {
        self.permit()?;
        capture::permit_unsafe()?;
        self.context.synchronize(self.last())
    }

    pub(crate) fn is_done(&self) -> Outcome<bool> {
        self.permit()?;
        capture::permit_unsafe()?;
        Ok(self.context.queue.is_done(self.last()))
    }

    /// Makes the stream wait for another ticket of its own context.
    pub(crate) fn join(&self, ticket: u64) {
        self.last.fetch_max(ticket, Ordering::AcqRel);
    }

    /// Adds a job that runs also when the context is lost. The caller has checked that the stream does not capture.
    pub(crate) fn submit(&self, place: JobThread, note: impl FnOnce(u64), job: Job) -> u64 {
        let note = |ticket| {
            if self.legacy {
                self.context.last_legacy.store(ticket, Ordering::Release);
            }
            self.join(ticket);
            note(ticket);
        };
        self.context.queue.submit(place, self.blocking(), note, job)
    }

    /// Adds work to the stream, or to the graph that it captures into: then there is no ticket.
    pub(crate) fn enqueue(&self, work: Arc<dyn Work>) -> Outcome<Option<u64>> {
        self.context.check()?;
        if self.legacy {
            capture::permit_legacy(self.context.id)?;
        } else if self.capture.add(&work)? {
            return Ok(None);
        }
        if [node::HOST, node::BATCH_MEM_OP].contains(&work.kind()) {
            // The host can read how far the stream is.
            staging::settle_awaited(self.context.queue.id(), u64::MAX);
        }
        let context = Arc::clone(&self.context);
        let thread = work.thread();
        let run = move || {
            if context.check().is_ok()
                && let Err(code) = work.run(&context)
            {
                context.lose(code);
            }
        };
        Ok(Some(self.submit(thread, |_| {}, Box::new(run))))
    }

    pub(crate) fn submit_sync(&self, job: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
        self.context.check()?;
        self.permit()?;
        let context = Arc::clone(&self.context);
        let result = Arc::new(Mutex::new(Ok(())));
        let slot = Arc::clone(&result);
        let run = move || {
            let outcome = context.check().and_then(|()| job());
            *lock(&slot) = outcome;
        };
        let ticket = self.submit(JobThread::Caller, |_| {}, Box::new(run));
        self.context.queue.wait(ticket)?;
        self.context.flush_printed();
        *lock(&result)
    }
}

/// Returns the stream that a handle stands for on the calling thread, unless its context is lost.
pub(crate) fn usable_stream(handle: Handle) -> Outcome<Arc<Stream>> {
    let stream = stream_of(handle)?;
    stream.context.check()?;
    Ok(stream)
}

/// Returns the stream that a handle stands for on the calling thread.
pub(crate) fn stream_of(handle: Handle) -> Outcome<Arc<Stream>> {
    match handle {
        PER_THREAD => Ok(Arc::new(Stream::of_thread(current()?))),
        0 if ffi::null_is_own_stream() => Ok(Arc::new(Stream::of_thread(current()?))),
        0 | LEGACY => Ok(Arc::new(Stream::legacy(current()?))),
        _ => STREAMS.find(handle),
    }
}

pub(crate) struct Event {
    pub(crate) handle: Handle,
    pub(crate) context_id: u64,
    pub(crate) flags: u32,
    record: Mutex<Recording>,
}

#[derive(Default)]
struct Recording {
    context: Option<Arc<Context>>,
    ticket: u64,
    time: Option<Instant>,
    /// Position in a capture, if that was recorded.
    captured: Option<Position>,
}

/// `CU_EVENT_DISABLE_TIMING`
pub(crate) const DISABLE_TIMING: u32 = 2;

impl Event {
    pub(crate) fn create(context: &Context, flags: u32) -> Handle {
        let make = |handle| Self { handle, context_id: context.id, flags, record: Mutex::default() };
        EVENTS.insert_with(make).0
    }

    /// Records the event in a stream, as `cuEventRecord` does.
    pub(crate) fn record(self: &Arc<Self>, stream: &Stream) -> Outcome {
        if stream.legacy {
            stream.permit()?;
        } else if let Some(position) = stream.capture.valid()? {
            lock(&self.record).captured = Some(position);
            return Ok(());
        }
        let (mark, context) = (Arc::new(Mark::new(Arc::clone(self))), Arc::clone(&stream.context));
        let note = |ticket| mark.note(&stream.context, ticket);
        let (job, now, before) = (Arc::clone(&mark), Instant::now(), stream.awaited());
        // Work of other streams, which runs before this job here, would overlap with this stream's on a GPU.
        let time = move || job.reach(&context, context.queue.end_of(before).map_or(now, |end| end.max(now)));
        stream.submit(JobThread::Caller, note, Box::new(time));
        Ok(())
    }

    /// Returns the context and ticket of the latest recording.
    pub(crate) fn latest(&self) -> Option<(Arc<Context>, u64)> {
        let record = lock(&self.record);
        record.context.as_ref().map(|c| (Arc::clone(c), record.ticket))
    }

    /// Returns the position in a capture, if the latest recording was one of a capture.
    pub(crate) fn captured(&self) -> Option<Position> {
        lock(&self.record).captured.clone()
    }

    /// Fails for an event that nothing can wait for now: recorded in a capture, or while a capture forbids waiting.
    pub(crate) fn permit(&self) -> Outcome {
        match self.captured() {
            Some(position) if position.capture.has_ended() => Err(ERROR_INVALID_VALUE),
            Some(position) => position.capture.refuse(ERROR_CAPTURED_EVENT),
            None => capture::permit_unsafe(),
        }
    }

    /// Returns the time of the event: `Err` with the code if it was never recorded, or not yet reached.
    pub(crate) fn time(&self) -> Outcome<Instant> {
        let record = lock(&self.record);
        match (&record.context, record.time) {
            (None, _) => Err(ERROR_INVALID_HANDLE),
            (Some(_), None) => Err(ERROR_NOT_READY),
            (Some(context), Some(time)) => {
                staging::settle_awaited(context.queue.id(), record.ticket);
                Ok(time)
            }
        }
    }
}

/// Recording of an event: in a stream once, in a graph at each launch.
pub(crate) struct Mark {
    pub(crate) event: Arc<Event>,
    ticket: AtomicU64,
}

impl Mark {
    pub(crate) fn new(event: Arc<Event>) -> Self {
        Self { event, ticket: AtomicU64::new(0) }
    }

    /// Makes this the event's latest recording: with the ticket of its job, before that can run.
    pub(crate) fn note(&self, context: &Arc<Context>, ticket: u64) {
        self.ticket.store(ticket, Ordering::Release);
        *lock(&self.event.record) =
            Recording { context: Some(Arc::clone(context)), ticket, time: None, captured: None };
    }

    /// Sets the time, unless the event was recorded again since: then it has a later ticket, and another time.
    fn reach(&self, context: &Context, time: Instant) {
        let mut record = lock(&self.event.record);
        let same = record.context.as_ref().is_some_and(|of| of.id == context.id);
        if same && record.ticket == self.ticket.load(Ordering::Acquire) {
            record.time = Some(time);
        }
    }
}

impl Work for Mark {
    fn kind(&self) -> u32 {
        node::EVENT_RECORD
    }

    fn run(&self, context: &Context) -> Outcome {
        self.reach(context, Instant::now());
        Ok(())
    }
}

/// Node of a graph before which a launch of the graph waits for an event.
pub(crate) struct WaitEvent(pub(crate) Arc<Event>);

only_kinds! { WaitEvent: WAIT_EVENT }

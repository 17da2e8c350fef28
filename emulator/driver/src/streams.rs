//! Streams and events: queued work of a context, and its progress.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::contexts::{CONTEXTS, Context, current, initialised};
use crate::ffi;
use crate::handle::{ObjectKind, Table};
use crate::queue::{Job, JobThread, Queue};
use crate::result::*;
use crate::sync::{lock, next_id};
use crate::types::Handle;

pub(crate) static STREAMS: Table<Stream> = Table::new(ObjectKind::Stream);
pub(crate) static EVENTS: Table<Event> = Table::new(ObjectKind::Event);

pub(crate) fn forget_context(id: u64) {
    STREAMS.remove_where(|s| s.context.id == id);
    EVENTS.remove_where(|e| e.context_id == id);
}

thread_local! {
    /// Last tickets of the calling thread's own default streams, by context.
    static OWN_STREAMS: RefCell<BTreeMap<u64, Arc<AtomicU64>>> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    pub(crate) id: u64,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// Whether this is the default stream that waits for all blocking streams.
    legacy: bool,
    last: Arc<AtomicU64>,
}

/// `CU_STREAM_NON_BLOCKING`
pub(crate) const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_LEGACY`
const LEGACY: Handle = 1;
/// `CU_STREAM_PER_THREAD`
const PER_THREAD: Handle = 2;

impl Stream {
    pub(crate) fn create(context: Arc<Context>, flags: u32, priority: i32) -> Handle {
        let make = |_| Self { context, id: next_id(), flags, priority, legacy: false, last: Arc::default() };
        STREAMS.insert_with(make).0
    }

    fn of_thread(context: Arc<Context>) -> Self {
        let own = OWN_STREAMS.try_with(|own| {
            let mut own = own.borrow_mut();
            // Entries of destroyed contexts are removed.
            if own.len() >= 16 {
                own.retain(|id, _| !CONTEXTS.handles_where(|c| c.id == *id).is_empty());
            }
            Arc::clone(own.entry(context.id).or_default())
        });
        // On a thread that is ending, the stream waits for everything.
        let last = own.unwrap_or_else(|_| Arc::new(AtomicU64::new(context.queue.last().0)));
        Self { context, id: PER_THREAD as u64, flags: 0, priority: 0, legacy: false, last }
    }

    fn legacy(context: Arc<Context>) -> Self {
        Self { context, id: LEGACY as u64, flags: 0, priority: 0, legacy: true, last: Arc::default() }
    }

    fn blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }

    /// Returns the ticket after which the stream is done.
    pub(crate) fn last(&self) -> u64 {
        if self.legacy { self.context.queue.last().1 } else { self.last.load(Ordering::Acquire) }
    }

    pub(crate) fn synchronize(&self) -> Outcome {
        self.context.synchronize(self.last())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.context.queue.is_done(self.last())
    }

    /// Makes the stream wait for another ticket of its own context.
    pub(crate) fn join(&self, ticket: u64) {
        self.last.fetch_max(ticket, Ordering::AcqRel);
    }

    /// Adds a job that runs also when the context is lost.
    pub(crate) fn submit(&self, place: JobThread, note: impl FnOnce(u64), job: Job) -> u64 {
        let note = |ticket| {
            self.join(ticket);
            note(ticket);
        };
        self.context.queue.submit(place, self.blocking(), note, job)
    }

    /// Adds a job whose failure loses the context.
    pub(crate) fn submit_async(&self, place: JobThread, job: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
        self.context.check()?;
        let context = Arc::clone(&self.context);
        let run = move || {
            if context.check().is_ok()
                && let Err(code) = job()
            {
                context.lose(code);
            }
        };
        self.submit(place, |_| {}, Box::new(run));
        Ok(())
    }

    /// Adds a job, waits for it, and returns its result.
    pub(crate) fn submit_sync(&self, job: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
        self.context.check()?;
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

/// Returns the stream that a handle stands for on the calling thread.
pub(crate) fn stream_of(handle: Handle) -> Outcome<Arc<Stream>> {
    initialised()?;
    match handle {
        PER_THREAD => Ok(Arc::new(Stream::of_thread(current()?))),
        0 if ffi::null_is_own_stream() => Ok(Arc::new(Stream::of_thread(current()?))),
        0 | LEGACY => Ok(Arc::new(Stream::legacy(current()?))),
        _ => STREAMS.get(handle).ok_or(ERROR_INVALID_HANDLE),
    }
}

pub(crate) struct Event {
    pub(crate) context_id: u64,
    pub(crate) flags: u32,
    record: Mutex<Recording>,
}

#[derive(Default)]
struct Recording {
    queue: Option<Arc<Queue>>,
    context: Option<Arc<Context>>,
    ticket: u64,
    time: Option<Instant>,
}

/// `CU_EVENT_DISABLE_TIMING`
pub(crate) const DISABLE_TIMING: u32 = 2;

impl Event {
    pub(crate) fn create(context: &Context, flags: u32) -> Handle {
        let make = |_| Self { context_id: context.id, flags, record: Mutex::default() };
        EVENTS.insert_with(make).0
    }

    /// Records the event in a stream, as `cuEventRecord` does.
    pub(crate) fn record(self: &Arc<Self>, stream: &Stream) {
        let note = |ticket| {
            *lock(&self.record) = Recording {
                queue: Some(Arc::clone(&stream.context.queue)),
                context: Some(Arc::clone(&stream.context)),
                ticket,
                time: None,
            };
        };
        let event = Arc::clone(self);
        let queue = Arc::clone(&stream.context.queue);
        // An event that was recorded again since has a later ticket, and another time.
        let next = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&next);
        let note = move |ticket| {
            next.store(ticket, Ordering::Release);
            note(ticket);
        };
        let job = move || {
            let mut record = lock(&event.record);
            let same = record.queue.as_ref().is_some_and(|q| Arc::ptr_eq(q, &queue));
            if same && record.ticket == own.load(Ordering::Acquire) {
                record.time = Some(Instant::now());
            }
        };
        stream.submit(JobThread::Caller, note, Box::new(job));
    }

    /// Returns the context and ticket of the latest recording.
    pub(crate) fn latest(&self) -> Option<(Arc<Context>, u64)> {
        let record = lock(&self.record);
        record.context.as_ref().map(|c| (Arc::clone(c), record.ticket))
    }

    /// Returns the time of the event: `Err` with the code if it was never recorded, or not yet reached.
    pub(crate) fn time(&self) -> Outcome<Instant> {
        let record = lock(&self.record);
        match (&record.queue, record.time) {
            (None, _) => Err(ERROR_INVALID_HANDLE),
            (Some(_), None) => Err(ERROR_NOT_READY),
            (Some(_), Some(time)) => Ok(time),
        }
    }
}

pub(crate) fn event_of(handle: Handle) -> Outcome<Arc<Event>> {
    initialised()?;
    EVENTS.get(handle).ok_or(ERROR_INVALID_HANDLE)
}

//! The driver's objects: contexts, streams, events, and who is current where.
//!
//! All contexts share one device memory: addresses are unique in the process, as with unified addressing, and an
//! allocation remembers the context that frees it when it goes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use simt::memory::Memory;

use crate::edge;
use crate::handle::{Kind, Table};
use crate::queue::{Job, Queue, Where, on_worker};
use crate::result::*;
use crate::types::Handle;
use crate::{allocations, diagnose, settings};

pub(crate) static INITIALISED: AtomicBool = AtomicBool::new(false);

pub(crate) static MEMORY: LazyLock<Arc<Memory>> =
    LazyLock::new(|| Arc::new(Memory::new(settings::memory_bytes())));

pub(crate) static CONTEXTS: Table<Context> = Table::new(Kind::Context);
pub(crate) static STREAMS: Table<Stream> = Table::new(Kind::Stream);
pub(crate) static EVENTS: Table<Event> = Table::new(Kind::Event);

/// Locks; a panic elsewhere does not spread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers that are never used twice in a process.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A context.
pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) id: u64,
    pub(crate) primary: bool,
    pub(crate) flags: AtomicU32,
    pub(crate) queue: Arc<Queue>,
    /// The error that it was lost to, or 0.
    lost: AtomicU32,
    pub(crate) limits: Mutex<[Option<usize>; 7]>,
    pub(crate) cache_config: AtomicU32,
    pub(crate) shared_config: AtomicU32,
    /// Attachments by the old `cuCtxAttach`.
    pub(crate) attached: AtomicI32,
    /// What kernels printed since the last synchronisation.
    printed: Mutex<String>,
}

/// Stack, printf buffer, heap, synchronisation depth (gone since Hopper), pending launches, L2 granularity,
/// persisting L2.
const LIMITS: [Option<usize>; 7] = [
    Some(1024),
    Some(8_650_752),
    Some(8 << 20),
    None,
    Some(2048),
    Some(64),
    Some(0),
];

impl Context {
    fn new(handle: Handle, primary: bool, flags: u32) -> Self {
        Self {
            handle,
            id: next_id(),
            primary,
            flags: AtomicU32::new(flags),
            queue: Queue::new(),
            lost: AtomicU32::new(SUCCESS),
            limits: Mutex::new(LIMITS),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(1),
            attached: AtomicI32::new(1),
            printed: Mutex::default(),
        }
    }

    pub(crate) fn create(flags: u32) -> Arc<Self> {
        CONTEXTS.insert_with(|handle| Self::new(handle, false, flags)).1
    }

    /// An error that a kernel left behind comes back from every later call.
    pub(crate) fn check(&self) -> Outcome {
        match self.lost.load(Ordering::Acquire) {
            SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    /// The first error counts.
    pub(crate) fn lose(&self, code: CUresult) {
        let _ = self
            .lost
            .compare_exchange(SUCCESS, code, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn print(&self, text: &str) {
        // A kernel that prints without end shall not take all memory: the rest is dropped, as on a GPU.
        let mut printed = lock(&self.printed);
        let room = (64_usize << 20).saturating_sub(printed.len());
        let mut end = text.len().min(room);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        printed.push_str(&text[..end]);
    }

    /// At synchronisation, what kernels printed goes to stdout.
    pub(crate) fn flush_printed(&self) {
        use std::io::Write;
        let text = std::mem::take(&mut *lock(&self.printed));
        if !text.is_empty() {
            let mut out = std::io::stdout().lock();
            // Nobody to tell when stdout is gone.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Waits for a ticket, shows what was printed, and returns what went wrong meanwhile.
    pub(crate) fn synchronize(&self, ticket: u64) -> Outcome {
        self.queue.wait(ticket)?;
        self.flush_printed();
        self.check()
    }

    /// Gives back everything that belongs to it. Its handle is dead already.
    fn tear_down(&self) {
        // What was submitted is done first; what another thread submits meanwhile is not begun any more.
        let _ = self.queue.drain();
        self.lose(ERROR_CONTEXT_IS_DESTROYED);
        let _ = self.queue.drain();
        self.flush_printed();
        self.queue.close();
        let id = self.id;
        for handle in STREAMS.handles_where(|s| s.context.id == id) {
            STREAMS.remove(handle);
        }
        for handle in EVENTS.handles_where(|e| e.context_id == id) {
            EVENTS.remove(handle);
        }
        crate::api::module::forget_context(id);
        crate::api::array::forget_context(id);
        allocations::free_all_of(id);
    }

    /// `cuCtxDestroy`
    pub(crate) fn destroy(&self) {
        CONTEXTS.remove(self.handle);
        self.tear_down();
    }
}

/// The primary context of the one device.
#[derive(Default)]
pub(crate) struct Primary {
    pub(crate) context: Option<Arc<Context>>,
    pub(crate) retained: u32,
    pub(crate) flags: u32,
    /// Stays the same over resets.
    handle: Option<Handle>,
}

pub(crate) static PRIMARY: Mutex<Primary> = Mutex::new(Primary {
    context: None,
    retained: 0,
    flags: 0,
    handle: None,
});

impl Primary {
    pub(crate) fn retain(&mut self) -> Handle {
        self.retained += 1;
        if let Some(context) = &self.context {
            return context.handle;
        }
        let flags = self.flags;
        let (handle, context) = match self.handle {
            Some(handle) => (handle, CONTEXTS.revive(handle, |h| Context::new(h, true, flags))),
            None => CONTEXTS.insert_with(|h| Context::new(h, true, flags)),
        };
        self.handle = Some(handle);
        self.context = Some(context);
        handle
    }

    /// Takes the context away, if there is one. The caller tears it down once the lock is gone.
    pub(crate) fn reset(&mut self) -> Option<Arc<Context>> {
        let context = self.context.take()?;
        CONTEXTS.suspend(context.handle);
        Some(context)
    }
}

/// Ends what [`Primary::reset`] took away.
pub(crate) fn end_primary(context: Option<Arc<Context>>) {
    if let Some(context) = context {
        context.tear_down();
    }
}

thread_local! {
    /// The calling thread's stack of contexts.
    pub(crate) static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    /// Last tickets of the calling thread's own default streams, by context.
    static OWN_STREAMS: RefCell<BTreeMap<u64, Arc<AtomicU64>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Before `cuInit`, nothing works; in a host function, neither: it would wait for itself.
pub(crate) fn initialised() -> Outcome {
    if !INITIALISED.load(Ordering::Acquire) {
        return Err(ERROR_NOT_INITIALIZED);
    }
    if on_worker() {
        return Err(ERROR_NOT_PERMITTED);
    }
    Ok(())
}

/// A context by its handle.
pub(crate) fn context(handle: Handle) -> Result<Arc<Context>, CUresult> {
    match CONTEXTS.get(handle) {
        Some(context) => Ok(context),
        None if CONTEXTS.was_given(handle) => Err(ERROR_CONTEXT_IS_DESTROYED),
        None => Err(ERROR_INVALID_CONTEXT),
    }
}

/// The calling thread's context, lost or not.
pub(crate) fn current() -> Result<Arc<Context>, CUresult> {
    initialised()?;
    let top = STACK.with_borrow(|stack| stack.last().copied());
    context(top.ok_or(ERROR_INVALID_CONTEXT)?)
}

/// The calling thread's context, if work can be done in it.
pub(crate) fn usable() -> Result<Arc<Context>, CUresult> {
    let context = current()?;
    context.check()?;
    Ok(context)
}

/// A stream.
pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    pub(crate) id: u64,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// The default stream that waits for all blocking streams.
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
        let make = |_| Self {
            context,
            id: next_id(),
            flags,
            priority,
            legacy: false,
            last: Arc::default(),
        };
        STREAMS.insert_with(make).0
    }

    fn of_thread(context: Arc<Context>) -> Self {
        let last = OWN_STREAMS.with_borrow_mut(|own| {
            // Contexts come and go; those that went leave nothing behind.
            if own.len() >= 16 {
                own.retain(|id, _| !CONTEXTS.handles_where(|c| c.id == *id).is_empty());
            }
            Arc::clone(own.entry(context.id).or_default())
        });
        Self {
            context,
            id: PER_THREAD as u64,
            flags: 0,
            priority: 0,
            legacy: false,
            last,
        }
    }

    fn legacy(context: Arc<Context>) -> Self {
        Self {
            context,
            id: LEGACY as u64,
            flags: 0,
            priority: 0,
            legacy: true,
            last: Arc::default(),
        }
    }

    fn blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }

    /// The ticket that it has to wait for to be done.
    pub(crate) fn last(&self) -> u64 {
        if self.legacy {
            self.context.queue.last().1
        } else {
            self.last.load(Ordering::Acquire)
        }
    }

    /// Waits for its work.
    pub(crate) fn synchronize(&self) -> Outcome {
        self.context.synchronize(self.last())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.context.queue.is_done(self.last())
    }

    /// Makes it wait for another ticket of its own context.
    pub(crate) fn join(&self, ticket: u64) {
        self.last.fetch_max(ticket, Ordering::AcqRel);
    }

    /// Adds a job as it is: run also when the context is lost.
    pub(crate) fn submit(&self, place: Where, note: impl FnOnce(u64), job: Job) -> u64 {
        let note = |ticket| {
            self.join(ticket);
            note(ticket);
        };
        self.context.queue.submit(place, self.blocking(), note, job)
    }

    /// Adds a job whose failure is the context's.
    pub(crate) fn submit_async(
        &self,
        place: Where,
        job: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Outcome {
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
        let ticket = self.submit(Where::Here, |_| {}, Box::new(run));
        self.context.queue.wait(ticket)?;
        self.context.flush_printed();
        *lock(&result)
    }
}

/// The stream that a handle means for the calling thread.
pub(crate) fn stream(handle: Handle) -> Result<Arc<Stream>, CUresult> {
    initialised()?;
    match handle {
        PER_THREAD => Ok(Arc::new(Stream::of_thread(current()?))),
        0 if edge::null_is_own_stream() => Ok(Arc::new(Stream::of_thread(current()?))),
        0 | LEGACY => Ok(Arc::new(Stream::legacy(current()?))),
        _ => STREAMS.get(handle).ok_or(ERROR_INVALID_HANDLE),
    }
}

/// An event.
pub(crate) struct Event {
    pub(crate) context_id: u64,
    pub(crate) flags: u32,
    record: Mutex<Record>,
}

/// The latest recording of an event.
#[derive(Default)]
struct Record {
    queue: Option<Arc<Queue>>,
    context: Option<Arc<Context>>,
    ticket: u64,
    time: Option<Instant>,
}

/// `CU_EVENT_DISABLE_TIMING`
pub(crate) const DISABLE_TIMING: u32 = 2;

impl Event {
    pub(crate) fn create(context: &Context, flags: u32) -> Handle {
        let make = |_| Self {
            context_id: context.id,
            flags,
            record: Mutex::default(),
        };
        EVENTS.insert_with(make).0
    }

    /// `cuEventRecord`
    pub(crate) fn record(self: &Arc<Self>, stream: &Stream) {
        let note = |ticket| {
            *lock(&self.record) = Record {
                queue: Some(Arc::clone(&stream.context.queue)),
                context: Some(Arc::clone(&stream.context)),
                ticket,
                time: None,
            };
        };
        let event = Arc::clone(self);
        let queue = Arc::clone(&stream.context.queue);
        // An event that was recorded again since has a later ticket, and its time is not this one.
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
        stream.submit(Where::Here, note, Box::new(job));
    }

    /// Context and ticket of the latest recording.
    pub(crate) fn latest(&self) -> Option<(Arc<Context>, u64)> {
        let record = lock(&self.record);
        record.context.as_ref().map(|c| (Arc::clone(c), record.ticket))
    }

    /// When it happened: `Err` with the code if it was never recorded, or not yet reached.
    pub(crate) fn time(&self) -> Result<Instant, CUresult> {
        let record = lock(&self.record);
        match (&record.queue, record.time) {
            (None, _) => Err(ERROR_INVALID_HANDLE),
            (Some(_), None) => Err(ERROR_NOT_READY),
            (Some(_), Some(time)) => Ok(time),
        }
    }
}

/// An event by its handle.
pub(crate) fn event(handle: Handle) -> Result<Arc<Event>, CUresult> {
    initialised()?;
    EVENTS.get(handle).ok_or(ERROR_INVALID_HANDLE)
}

/// All contexts come to rest: before host memory goes away that any of them might use.
pub(crate) fn drain_all() {
    for handle in CONTEXTS.handles_where(|_| true) {
        if let Some(context) = CONTEXTS.get(handle)
            && context.queue.drain().is_err()
        {
            diagnose::say_once("a host function freed memory that work behind it may still use");
        }
    }
}

//! Contexts, and the current one of each thread.
//!
//! All contexts share one address space, as with unified addressing; a context frees its allocations when it ends.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use simt::{launch::STACK_BYTES, memory::Memory};

use crate::handle::{ObjectKind, Table};
use crate::result::*;
use crate::sync::{lock, next_id};
use crate::types::Handle;
use crate::{diagnose, settings};
use crate::{lifecycle::initialised, queue::Queue};

pub(crate) static MEMORY: LazyLock<Arc<Memory>> = LazyLock::new(|| Arc::new(Memory::new(settings::memory_bytes())));

pub(crate) static CONTEXTS: Table<Context> = Table::new(ObjectKind::Context);

/// Removes a kind of object of the context with this id.
pub(crate) type Forget = fn(u64);

static AT_END: OnceLock<&'static [Forget]> = OnceLock::new();

/// Sets the functions to call, in this order, when a context ends. Only the first call has an effect.
pub(crate) fn at_end(forget: &'static [Forget]) {
    let _ = AT_END.set(forget);
}

pub(crate) struct Context {
    pub(crate) handle: Handle,
    pub(crate) id: u64,
    pub(crate) primary: bool,
    pub(crate) flags: AtomicU32,
    pub(crate) queue: Arc<Queue>,
    /// Last ticket of the legacy default stream, for which blocking streams wait.
    pub(crate) last_legacy: AtomicU64,
    /// Error that the context was lost to, or 0.
    lost: AtomicU32,
    pub(crate) limits: Mutex<[Option<usize>; 7]>,
    pub(crate) cache_config: AtomicU32,
    pub(crate) shared_config: AtomicU32,
    /// Number of attachments by the old `cuCtxAttach`.
    pub(crate) attached: AtomicI32,
    /// Output of kernels since the last synchronisation.
    printed: Mutex<String>,
}

/// Stack, printf buffer, heap, synchronisation depth (gone since Hopper), launches, L2 granularity, persisting L2.
const LIMITS: [Option<usize>; 7] =
    [Some(STACK_BYTES as usize), Some(8_650_752), Some(8 << 20), None, Some(2048), Some(64), Some(0)];

impl Context {
    /// Returns the bytes of a thread's stack: `CU_LIMIT_STACK_SIZE`.
    pub(crate) fn stack_bytes(&self) -> u32 {
        let limit = lock(&self.limits)[0].unwrap_or(STACK_BYTES as usize);
        u32::try_from(limit).unwrap_or(u32::MAX)
    }

    fn new(handle: Handle, primary: bool, flags: u32) -> Self {
        Self {
            handle,
            id: next_id(),
            primary,
            flags: AtomicU32::new(flags),
            queue: Queue::new(),
            last_legacy: AtomicU64::new(0),
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

    /// Returns the error of an earlier kernel, from every later call.
    pub(crate) fn check(&self) -> Outcome {
        match self.lost.load(Ordering::Acquire) {
            SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    /// Marks the context as lost; keeps the first error.
    pub(crate) fn lose(&self, code: CUresult) {
        let _ = self.lost.compare_exchange(SUCCESS, code, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn print(&self, text: &str) {
        // Output beyond the limit is dropped, as on a GPU, so that an endless printer does not take all memory.
        let mut printed = lock(&self.printed);
        let room = (64_usize << 20).saturating_sub(printed.len());
        let mut end = text.len().min(room);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        printed.push_str(&text[..end]);
    }

    /// Writes the output of kernels to stdout, at synchronisation.
    pub(crate) fn flush_printed(&self) {
        use std::io::Write;
        let text = std::mem::take(&mut *lock(&self.printed));
        if !text.is_empty() {
            let mut out = std::io::stdout().lock();
            // Stdout may be closed.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Waits for a ticket, writes pending output, and returns the error that occurred meanwhile.
    pub(crate) fn synchronize(&self, ticket: u64) -> Outcome {
        self.queue.wait(ticket)?;
        self.flush_printed();
        self.check()
    }

    /// Releases everything that belongs to the context, whose handle is dead already.
    fn tear_down(&self) {
        // Submitted work is completed; work that another thread submits meanwhile does not start.
        let _ = self.queue.drain();
        self.lose(ERROR_CONTEXT_IS_DESTROYED);
        let _ = self.queue.drain();
        self.flush_printed();
        self.queue.close();
        for forget in AT_END.get().copied().into_iter().flatten() {
            forget(self.id);
        }
    }

    pub(crate) fn destroy(&self) {
        CONTEXTS.remove(self.handle);
        self.tear_down();
    }
}

#[derive(Default)]
pub(crate) struct Primary {
    pub(crate) context: Option<Arc<Context>>,
    pub(crate) retained: u32,
    pub(crate) flags: u32,
    /// The handle stays the same over resets.
    handle: Option<Handle>,
}

pub(crate) static PRIMARY: Mutex<Primary> = Mutex::new(Primary { context: None, retained: 0, flags: 0, handle: None });

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

    /// Removes the context, if there is one. The caller tears it down after releasing the lock.
    pub(crate) fn reset(&mut self) -> Option<Arc<Context>> {
        let context = self.context.take()?;
        CONTEXTS.suspend(context.handle);
        Some(context)
    }
}

/// Tears down a context that [`Primary::reset`] returned.
pub(crate) fn end_primary(context: Option<Arc<Context>>) {
    if let Some(context) = context {
        context.tear_down();
    }
}

pub(crate) fn context_of(handle: Handle) -> Outcome<Arc<Context>> {
    match CONTEXTS.get(handle) {
        Some(context) => Ok(context),
        None if CONTEXTS.was_given(handle) => Err(ERROR_CONTEXT_IS_DESTROYED),
        None => Err(ERROR_INVALID_CONTEXT),
    }
}

/// Returns the calling thread's context, lost or not.
pub(crate) fn current() -> Outcome<Arc<Context>> {
    initialised()?;
    context_of(crate::current::top().ok_or(ERROR_INVALID_CONTEXT)?)
}

/// Looks a context up; null is the current one.
pub(crate) fn context_or_current(handle: Handle) -> Outcome<Arc<Context>> {
    if handle == 0 { current() } else { initialised().and_then(|()| context_of(handle)) }
}

/// Returns the calling thread's context, unless it is lost.
pub(crate) fn usable() -> Outcome<Arc<Context>> {
    let context = current()?;
    context.check()?;
    Ok(context)
}

/// Checks the current context, if any, for calls that need none: a pointer alone determines its properties.
pub(crate) fn usable_if_any() -> Outcome {
    match usable() {
        Err(ERROR_INVALID_CONTEXT) if crate::current::top().is_none() => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Waits for all contexts, before host memory that any of them might use is released.
pub(crate) fn drain_all() {
    for handle in CONTEXTS.handles_where(|_| true) {
        if let Some(context) = CONTEXTS.get(handle)
            && context.queue.drain().is_err()
        {
            diagnose::print_once("a host function freed memory that later work in its stream may still use");
        }
    }
}

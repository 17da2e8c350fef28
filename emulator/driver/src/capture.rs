//! Captures: streams whose work goes into a graph in place of their context's queue.
//!
//! Which call fails with which code, and whether it invalidates the capture, is what an H100 does (driver 580).

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use crate::cuda_constants::capture as modes;
use crate::graphs::{Graph, GraphOwner, Work};
use crate::result::*;
use crate::sync::{lock, next_id};
use crate::types::Handle;

/// A sequence of captured work, of one stream and those that joined it.
pub(crate) struct Capture {
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    /// Whether the graph is the caller's.
    given: bool,
    context_id: u64,
    mode: u32,
    thread: ThreadId,
    invalid: AtomicBool,
    ended: AtomicBool,
    /// Streams in the capture, the one that began it first.
    streams: Mutex<Vec<Arc<CaptureState>>>,
}

/// Position in a capture: the nodes that a stream's next work depends on, or those that an event was recorded after.
#[derive(Clone)]
pub(crate) struct Position {
    pub(crate) capture: Arc<Capture>,
    pub(crate) after: Vec<Handle>,
}

/// Capture state of a stream.
#[derive(Default)]
pub(crate) struct CaptureState {
    position: Mutex<Option<Position>>,
    /// Whether the legacy default stream waits for the stream.
    blocking: bool,
}

static ACTIVE: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
/// Length of [`ACTIVE`]: all that calls look at while nothing is captured.
static N_ACTIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(modes::GLOBAL) };
}

/// Sets the calling thread's mode, and returns the one before.
pub(crate) fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// Calls that could wait for captured work, or need the device to be idle: refused during captures, see
/// `cuThreadExchangeStreamCaptureMode`.
const UNSAFE: &[&str] = &[
    "cuArray3DCreate_v2",
    "cuArrayCreate_v2",
    "cuCtxSetLimit",
    "cuCtxSynchronize",
    "cuGraphInstantiate",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiate_v2",
    "cuGraphInstantiate_v3",
    "cuLibraryLoadData",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolCreate",
];

/// Fails for a call that the calling thread may not make now, and invalidates the captures that forbid it.
pub(crate) fn permit(name: &str) -> Outcome {
    if N_ACTIVE.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    if UNSAFE.contains(&name) {
        permit_unsafe()?;
    } else if name.starts_with("cuModuleLoad") {
        // It succeeds, and invalidates captures all the same.
        let _ = permit_unsafe();
    }
    Ok(())
}

/// Fails if the calling thread may make no unsafe calls now, and invalidates the captures that forbid them.
pub(crate) fn permit_unsafe() -> Outcome {
    let mode = MODE.get();
    if mode >= modes::RELAXED {
        return Ok(());
    }
    invalidate(ERROR_STREAM_CAPTURE_UNSUPPORTED, |capture| {
        capture.mode != modes::RELAXED && capture.thread == thread::current().id()
            || mode == modes::GLOBAL && capture.mode == modes::GLOBAL
    })
}

/// Invalidates the captures that pass a test; fails if there are any.
fn invalidate(code: CUresult, test: impl Fn(&Capture) -> bool) -> Outcome {
    if N_ACTIVE.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let active = lock(&ACTIVE);
    let mut found = active.iter().filter(|capture| test(capture)).peekable();
    let outcome = refuse_if(found.peek().is_some(), code);
    found.for_each(|capture| capture.invalid.store(true, Ordering::Release));
    outcome
}

/// Fails where work of a context's legacy default stream would have to wait for a stream that captures.
pub(crate) fn permit_legacy(context_id: u64) -> Outcome {
    invalidate(ERROR_STREAM_CAPTURE_IMPLICIT, |capture| {
        capture.context_id == context_id && lock(&capture.streams).iter().any(|stream| stream.blocking)
    })
}

/// Fails while a stream of the context captures.
pub(crate) fn permit_wait(context_id: u64) -> Outcome {
    invalidate(ERROR_STREAM_CAPTURE_UNSUPPORTED, |capture| capture.context_id == context_id)
}

/// Returns whether work is captured into a graph now.
pub(crate) fn is_target(graph: Handle) -> bool {
    lock(&ACTIVE).iter().any(|capture| capture.graph.handle == graph)
}

/// Ends the captures of a context that ends.
pub(crate) fn forget_context(id: u64) {
    let active = lock(&ACTIVE).clone();
    active.iter().filter(|capture| capture.context_id == id).for_each(|capture| capture.abandon());
}

impl Capture {
    pub(crate) fn refuse<T>(&self, code: CUresult) -> Outcome<T> {
        self.invalid.store(true, Ordering::Release);
        Err(code)
    }

    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Acquire)
    }

    fn abandon(&self) {
        self.end();
        if !self.given {
            self.graph.destroy();
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        let mut active = lock(&ACTIVE);
        active.retain(|other| other.id != self.id);
        N_ACTIVE.store(active.len(), Ordering::Release);
        drop(active);
        let streams = std::mem::take(&mut *lock(&self.streams));
        streams.iter().for_each(|stream| *lock(&stream.position) = None);
    }
}

impl CaptureState {
    pub(crate) fn new(blocking: bool) -> Self {
        Self { position: Mutex::default(), blocking }
    }

    pub(crate) fn position(&self) -> Option<Position> {
        lock(&self.position).clone()
    }

    /// Returns the address of the list of nodes after which the next work comes: valid until there is more work.
    pub(crate) fn nodes(&self) -> *const Handle {
        lock(&self.position).as_ref().map_or(std::ptr::null(), |position| position.after.as_ptr())
    }

    /// Returns the position while the stream captures; fails if the capture is invalid.
    pub(crate) fn valid(&self) -> Outcome<Option<Position>> {
        let position = self.position();
        let is_invalid = position.as_ref().is_some_and(|position| position.capture.is_invalid());
        if is_invalid { Err(ERROR_STREAM_CAPTURE_INVALIDATED) } else { Ok(position) }
    }

    /// Fails while the stream captures, and invalidates the capture.
    pub(crate) fn refuse(&self) -> Outcome {
        self.valid()?.map_or(Ok(()), |position| position.capture.refuse(ERROR_STREAM_CAPTURE_UNSUPPORTED))
    }

    /// Begins a capture, into a new graph or after nodes of the caller's.
    pub(crate) fn begin(
        self: &Arc<Self>, context_id: u64, mode: u32, to: Option<(Arc<Graph>, Vec<Handle>)>,
    ) -> Outcome {
        let mut position = lock(&self.position);
        refuse_if(position.is_some(), ERROR_ILLEGAL_STATE)?;
        let given = to.is_some();
        let (graph, after) = to.unwrap_or_else(|| (Graph::create(GraphOwner::Program), Vec::new()));
        let capture = Arc::new(Capture {
            id: next_id(),
            graph,
            given,
            context_id,
            mode,
            thread: thread::current().id(),
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            streams: Mutex::new(vec![Arc::clone(self)]),
        });
        *position = Some(Position { capture: Arc::clone(&capture), after });
        let mut active = lock(&ACTIVE);
        active.push(capture);
        N_ACTIVE.store(active.len(), Ordering::Release);
        Ok(())
    }

    /// Ends a capture in the stream that began it, and returns the graph.
    pub(crate) fn end(self: &Arc<Self>) -> Outcome<Arc<Graph>> {
        let Position { capture, after } = self.position().ok_or(ERROR_ILLEGAL_STATE)?;
        let streams = lock(&capture.streams).clone();
        if !streams.first().is_some_and(|origin| Arc::ptr_eq(origin, self)) {
            return capture.refuse(ERROR_STREAM_CAPTURE_UNMATCHED);
        }
        let joined = streams.iter().filter_map(|stream| stream.position());
        let unjoined = joined.filter(|stream| !capture.graph.is_after(&after, &stream.after)).count() > 0;
        capture.end();
        refuse_if(capture.is_invalid(), ERROR_STREAM_CAPTURE_INVALIDATED)
            .and_then(|()| {
                let elsewhere = capture.mode != modes::RELAXED && capture.thread != thread::current().id();
                refuse_if(elsewhere, ERROR_STREAM_CAPTURE_WRONG_THREAD)
            })
            .and_then(|()| refuse_if(unjoined, ERROR_STREAM_CAPTURE_UNJOINED))
            .inspect_err(|_| capture.abandon())?;
        Ok(Arc::clone(&capture.graph))
    }

    /// Ends the capture that this stream began, if there is one: the stream is destroyed.
    pub(crate) fn forget(self: &Arc<Self>) {
        if let Some(Position { capture, .. }) = self.position()
            && lock(&capture.streams).first().is_some_and(|origin| Arc::ptr_eq(origin, self))
        {
            capture.abandon();
        }
    }

    /// Makes the next work of the stream come after a position of a capture, which the stream joins if need be.
    pub(crate) fn join(self: &Arc<Self>, other: Position) -> Outcome {
        let mut position = lock(&self.position);
        match &mut *position {
            Some(own) if own.capture.id != other.capture.id => {
                let _ = own.capture.refuse::<()>(0);
                return other.capture.refuse(ERROR_STREAM_CAPTURE_MERGE);
            }
            Some(own) => {
                let new = other.after.into_iter().filter(|node| !own.after.contains(node)).collect::<Vec<_>>();
                own.after.extend(new);
            }
            None => {
                lock(&other.capture.streams).push(Arc::clone(self));
                *position = Some(other);
            }
        }
        Ok(())
    }

    /// Sets the nodes that the next work depends on.
    pub(crate) fn set(&self, after: Vec<Handle>) {
        lock(&self.position).iter_mut().for_each(|position| position.after.clone_from(&after));
    }

    /// Adds work to the graph while the stream captures; returns whether it does.
    pub(crate) fn add(&self, work: &Arc<dyn Work>) -> Outcome<bool> {
        let mut position = lock(&self.position);
        let Some(Position { capture, after }) = &mut *position else { return Ok(false) };
        refuse_if(capture.is_invalid(), ERROR_STREAM_CAPTURE_INVALIDATED)?;
        let node = capture.graph.add(Arc::clone(work), std::mem::take(after))?;
        after.push(node);
        Ok(true)
    }
}

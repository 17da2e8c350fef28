//! The work of one context, in the order of submission, one job at a time.
//!
//! CUDA lets work of different streams overlap but never promises it; one order for all of a context's streams is
//! always a legal one, because a stream can only wait for work that was submitted before. Each job gets a ticket, and
//! "is it done" is one comparison. A kernel uses all cores by itself, so nothing is lost, and output is ordered.
//!
//! Kernels and host functions run on a worker thread; short jobs with nothing before them on the caller's.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::diagnose;
use crate::result::{ERROR_NOT_PERMITTED, Outcome, refuse_if};
use crate::{staging, sync::lock};

/// Time that an idle worker waits for jobs before it ends.
const IDLE: Duration = Duration::from_secs(2);

/// Limit on waiting jobs. Beyond it, `submit` blocks, as with NVIDIA's driver (1024 launches there).
const MAX_WAITING: usize = 1 << 14;

pub(crate) type Job = Box<dyn FnOnce() + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobThread {
    /// The worker, for jobs that may take long or call the user's code.
    Worker,
    /// The caller's thread, if nothing is before the job.
    Caller,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(u64, Job)>,
    busy: bool,
    submitted: u64,
    completed: u64,
    /// Times at which the latest jobs ended, the last one's at the back.
    ends: VecDeque<Instant>,
    /// Last ticket of the streams that the legacy default stream waits for, itself included.
    last_blocking: u64,
    worker: bool,
    closed: bool,
}

/// The jobs of one context, and the worker that runs them.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread runs a job: the user's code there may not call the driver.
pub(crate) fn on_worker() -> bool {
    IS_WORKER.get()
}

impl Queue {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Adds a job. `note` gets its ticket before it can run.
    pub(crate) fn submit(self: &Arc<Self>, thread: JobThread, blocking: bool, note: impl FnOnce(u64), job: Job) -> u64 {
        let mut state = self.lock();
        while state.jobs.len() >= MAX_WAITING && !IS_WORKER.get() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.submitted += 1;
        let ticket = state.submitted;
        if blocking {
            state.last_blocking = ticket;
        }
        note(ticket);
        if thread == JobThread::Caller && state.jobs.is_empty() && !state.busy {
            state.busy = true;
            drop(state);
            self.run(ticket, job);
            return ticket;
        }
        state.jobs.push_back((ticket, job));
        if !state.worker {
            state.worker = true;
            let queue = Arc::clone(self);
            let thread = std::thread::Builder::new().name("emulated GPU".into());
            if thread.spawn(move || queue.work()).is_err() {
                // No thread can be started: the caller does the work itself.
                drop(state);
                self.work();
                return ticket;
            }
        }
        self.changed.notify_all();
        ticket
    }

    /// Runs one job; `busy` is set already.
    fn run(&self, ticket: u64, job: Job) {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            diagnose::print_line("internal error in a queued job; this is a bug of the emulated driver");
        }
        let mut state = self.lock();
        state.completed = ticket;
        state.ends.push_back(Instant::now());
        if state.ends.len() > 2 * MAX_WAITING {
            state.ends.pop_front();
        }
        state.busy = false;
        self.changed.notify_all();
    }

    fn work(&self) {
        let was = IS_WORKER.replace(true);
        let mut state = self.lock();
        loop {
            if !state.busy
                && let Some((ticket, job)) = state.jobs.pop_front()
            {
                state.busy = true;
                drop(state);
                self.run(ticket, job);
                state = self.lock();
                continue;
            }
            if state.closed && state.jobs.is_empty() {
                break;
            }
            let waited = self.changed.wait_timeout(state, IDLE);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() && state.jobs.is_empty() {
                break;
            }
        }
        state.worker = false;
        drop(state);
        IS_WORKER.set(was);
    }

    /// Returns whether a job is done: from then on, its effects are visible to the program.
    pub(crate) fn is_done(&self, ticket: u64) -> bool {
        let is_done = self.lock().completed >= ticket;
        if is_done {
            staging::settle_awaited(self.id(), ticket);
        }
        is_done
    }

    /// Returns a number that no other queue has at the time.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Returns when a job ended; `None` if it has not, or ended before all that were waiting since.
    pub(crate) fn end_of(&self, ticket: u64) -> Option<Instant> {
        let state = self.lock();
        let after = state.completed.checked_sub(ticket)? as usize;
        state.ends.len().checked_sub(after + 1).map(|i| state.ends[i])
    }

    /// Waits for a job. Fails in a host function, which would wait for itself.
    pub(crate) fn wait(&self, ticket: u64) -> Outcome {
        staging::settle_awaited(self.id(), ticket);
        let mut state = self.lock();
        refuse_if(state.completed < ticket && IS_WORKER.get(), ERROR_NOT_PERMITTED)?;
        while state.completed < ticket {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Returns the tickets of the last job of all, and of the last one that the legacy default stream waits for.
    pub(crate) fn last(&self) -> (u64, u64) {
        let state = self.lock();
        (state.submitted, state.last_blocking)
    }

    /// Returns whether a short job would run at once.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.jobs.is_empty() && !state.busy
    }

    pub(crate) fn drain(&self) -> Outcome {
        self.wait(self.last().0)
    }

    /// Makes the worker end once its jobs are done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

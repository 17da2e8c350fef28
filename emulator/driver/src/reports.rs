//! The report of each thread's last launch.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use diagnostics::Report;
use serde_json::Value;

use crate::result::*;
use crate::sync::lock;
use crate::{contexts::Context, queue::Queue};

pub(crate) enum LaunchResult {
    Ran(Box<Report>),
    Predicted(Value),
    /// The report was requested, and is kept as JSON: callers query its length first, then its text.
    Written(Arc<str>),
}

impl LaunchResult {
    /// Returns the report as JSON, written once.
    fn json(&mut self) -> Outcome<Arc<str>> {
        let text = match self {
            Self::Ran(report) => serde_json::to_string(report),
            Self::Predicted(report) => serde_json::to_string(report),
            Self::Written(text) => return Ok(Arc::clone(text)),
        };
        let text: Arc<str> = text.map_err(|_| ERROR_UNKNOWN)?.into();
        *self = Self::Written(Arc::clone(&text));
        Ok(text)
    }
}

#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<LaunchResult>>);

impl Slot {
    pub(crate) fn set(&self, entry: LaunchResult) {
        *lock(&self.0) = Some(entry);
    }
}

struct Last {
    queue: Arc<Queue>,
    ticket: u64,
    slot: Arc<Slot>,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

pub(crate) fn remember(context: &Context, ticket: u64, slot: Arc<Slot>) {
    let queue = Arc::clone(&context.queue);
    // A thread that is ending has no last launch.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(Last { queue, ticket, slot }));
}

/// Forgets the last launch. Called before a launch: if that is refused, there is no report.
pub(crate) fn forget() {
    let _ = LAST.try_with(|last| *last.borrow_mut() = None);
}

/// Returns the last launch of the calling thread, as JSON. Waits for it.
pub(crate) fn last_as_json() -> Outcome<Arc<str>> {
    LAST.try_with(|last| {
        let last = last.borrow();
        let last = last.as_ref().ok_or(ERROR_NOT_FOUND)?;
        last.queue.wait(last.ticket)?;
        // A launch whose context was lost has no report.
        lock(&last.slot.0).as_mut().ok_or(ERROR_NOT_FOUND)?.json()
    })
    .unwrap_or(Err(ERROR_NOT_FOUND))
}

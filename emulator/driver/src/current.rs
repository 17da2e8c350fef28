//! The calling thread's stack of contexts.
//!
//! The top is kept in a cell without a destructor: destructors of other thread-locals, of thread keys and of static
//! objects may still call the driver when this thread's own thread-locals are gone.

use std::cell::{Cell, RefCell};

use crate::result::*;
use crate::types::Handle;

thread_local! {
    /// 0 if the stack is empty.
    static TOP: Cell<Handle> = const { Cell::new(0) };
    static BELOW: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn top() -> Option<Handle> {
    Some(TOP.get()).filter(|top| *top != 0)
}

/// Fails only on a thread that is ending and has a context already.
pub(crate) fn push(handle: Handle) -> Outcome {
    let below = TOP.get();
    if below != 0 {
        BELOW.try_with(|stack| stack.borrow_mut().push(below)).map_err(|_| ERROR_DEINITIALIZED)?;
    }
    TOP.set(handle);
    Ok(())
}

pub(crate) fn pop() -> Option<Handle> {
    let popped = top()?;
    let below = BELOW.try_with(|stack| stack.borrow_mut().pop());
    TOP.set(below.ok().flatten().unwrap_or(0));
    Some(popped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_popped_in_turn() {
        for handle in 1..4 {
            assert_eq!(push(handle), Ok(()));
        }
        assert_eq!([pop(), pop(), top(), pop(), pop(), top()], [Some(3), Some(2), Some(1), Some(1), None, None]);
    }
}

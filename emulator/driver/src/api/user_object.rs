//! Objects of a program that graphs keep alive.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::api::ready_for;
use crate::ffi::{Out, export};
use crate::graphs::{GRAPHS, Kept};
use crate::handle::{ObjectKind, Table};
use crate::result::*;
use crate::sync::lock;
use crate::types::{Handle, HostFn};

/// The object itself: destroyed with its last reference.
struct Object(HostFn, *mut c_void);

// SAFETY: the caller of `cuUserObjectCreate` wants the function called on any thread.
unsafe impl Send for Object {}
// SAFETY: nothing is read through the pointer here.
unsafe impl Sync for Object {}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(destroy) = self.0 {
            // SAFETY: the caller promises a function that can be called with this argument.
            unsafe { destroy(self.1) };
        }
    }
}

/// References of the program.
struct References {
    object: Kept,
    n: AtomicU32,
}

static OBJECTS: Table<References> = Table::new(ObjectKind::UserObject);

fn release(handle: Handle, count: c_uint) -> Outcome {
    let references = OBJECTS.find(handle)?;
    let before = references.n.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(count));
    if before.map_err(|_| ERROR_INVALID_VALUE)? == count {
        OBJECTS.remove(handle);
    }
    Ok(())
}

export! {
    fn cuUserObjectCreate 11030(out: Out<Handle>, data: *mut c_void, destroy: HostFn, count: c_uint, flags: c_uint) {
        ready_for(out)?;
        // `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which has to be given.
        refuse_if(destroy.is_none() || count == 0 || flags != 1, ERROR_INVALID_VALUE)?;
        let object = Arc::new(Object(destroy, data));
        out.put(OBJECTS.insert_with(|_| References { object, n: AtomicU32::new(count) }).0)
    }

    fn cuUserObjectRetain 11030(handle: Handle, count: c_uint) {
        OBJECTS.find(handle)?.n.fetch_add(count, Ordering::AcqRel);
        Ok(())
    }
    fn cuUserObjectRelease 11030(handle: Handle, count: c_uint) = release(handle, count);

    fn cuGraphRetainUserObject 11030(graph: Handle, handle: Handle, count: c_uint, flags: c_uint) {
        let references = OBJECTS.find(handle)?;
        refuse_if(count == 0 || flags > 1, ERROR_INVALID_VALUE)?;
        let graph = GRAPHS.find(graph)?;
        lock(&graph.kept).extend((0..count).map(|_| Arc::clone(&references.object)));
        // `CU_GRAPH_USER_OBJECT_MOVE`: the program's references become the graph's.
        if flags == 1 { release(handle, count) } else { Ok(()) }
    }

    fn cuGraphReleaseUserObject 11030(graph: Handle, handle: Handle, count: c_uint) {
        let references = OBJECTS.find(handle)?;
        let graph = GRAPHS.find(graph)?;
        let mut left = count;
        let is_released = |kept: &mut Kept| left > 0 && Arc::ptr_eq(kept, &references.object) && { left -= 1; true };
        let gone: Vec<Kept> = lock(&graph.kept).extract_if(.., is_released).collect();
        refuse_if(gone.len() < count as usize, ERROR_INVALID_VALUE)
    }
}

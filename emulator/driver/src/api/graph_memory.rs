//! Memory that graphs allocate and free.
//!
//! It has its address, and takes its place, from the making of its node to the end of the graphs with that node;
//! whether it is allocated between launches only decides which calls are right.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::graphs::{Work, only_kinds, work_as};
use crate::result::*;
use crate::sync::lock;
use crate::types::{AllocNodeParams, MemLocation, PoolProps};
use crate::{allocations, api::context::current_owner, api::pool};

pub(crate) struct GraphMemory {
    pub(crate) base: u64,
    /// Whether a launch has allocated it, and nothing has freed it since.
    allocated: AtomicBool,
}

static ALL: Mutex<Vec<Weak<GraphMemory>>> = Mutex::new(Vec::new());

impl Drop for GraphMemory {
    fn drop(&mut self) {
        // Memory that is still allocated stays, until the program frees it.
        if !self.allocated.load(Ordering::Acquire)
            && let Some(gone) = allocations::forget(self.base, |_| true)
        {
            pool::note_free(&gone);
            allocations::release(gone);
        }
    }
}

pub(crate) struct AllocNode {
    pub(crate) params: AllocNodeParams,
    memory: Arc<GraphMemory>,
}

pub(crate) struct FreeNode(pub(crate) Arc<GraphMemory>);

// SAFETY: the pointers in the parameters are the caller's own, and not followed.
unsafe impl Send for AllocNode {}
// SAFETY: the pointers in the parameters are the caller's own, and not followed.
unsafe impl Sync for AllocNode {}

only_kinds! { AllocNode: MEM_ALLOC, FreeNode: MEM_FREE }

/// Allocates memory for a node, and writes its address to the parameters.
pub(crate) fn alloc(mut params: AllocNodeParams) -> Outcome<Arc<dyn Work>> {
    refuse_if(params.pool.alloc_type != 1 || params.bytes == 0, ERROR_INVALID_VALUE)?;
    refuse_if(params.pool.location.id != 0, ERROR_INVALID_DEVICE)?;
    let base = pool::alloc(pool::current_pool(), params.bytes, current_owner()?)?;
    params.address = base;
    let memory = Arc::new(GraphMemory { base, allocated: AtomicBool::new(false) });
    let mut all = lock(&ALL);
    all.retain(|memory| memory.strong_count() > 0);
    all.push(Arc::downgrade(&memory));
    Ok(Arc::new(AllocNode { params, memory }))
}

/// Allocates memory for a node of a captured call; returns its address, too.
pub(crate) fn alloc_captured(bytes: usize) -> Outcome<(u64, Arc<dyn Work>)> {
    let location = MemLocation { kind: 1, id: 0 };
    let pool = PoolProps {
        alloc_type: 1,
        handle_types: 0,
        location,
        security_attributes: std::ptr::null_mut(),
        max_size: 0,
        reserved: [0; 56],
    };
    let work = alloc(AllocNodeParams { pool, access: std::ptr::null(), n_access: 0, bytes, address: 0 })?;
    Ok((work_as::<AllocNode>(&work).map_or(0, |alloc| alloc.params.address), work))
}

/// Returns the work that frees memory of a graph.
pub(crate) fn free(address: u64) -> Outcome<Arc<dyn Work>> {
    Ok(Arc::new(FreeNode(memory_at(address).ok_or(ERROR_INVALID_VALUE)?)))
}

fn memory_at(address: u64) -> Option<Arc<GraphMemory>> {
    lock(&ALL).iter().filter_map(Weak::upgrade).find(|memory| memory.base == address)
}

/// Frees memory that a graph allocated, outside of the graph; returns whether `address` is such memory.
pub(crate) fn free_now(address: u64) -> Outcome<bool> {
    let Some(memory) = memory_at(address) else { return Ok(false) };
    refuse_if(!memory.allocated.swap(false, Ordering::AcqRel), ERROR_INVALID_VALUE)?;
    Ok(true)
}

/// Fails if a launch of this work would allocate memory that is allocated, unless it frees that first.
pub(crate) fn note_launch(pieces: &[Arc<dyn Work>], frees_first: bool) -> Outcome {
    let is_allocated = |alloc: &AllocNode| alloc.memory.allocated.load(Ordering::Acquire);
    let again = pieces.iter().filter_map(work_as::<AllocNode>).any(is_allocated);
    refuse_if(again && !frees_first, ERROR_INVALID_VALUE)?;
    for piece in pieces {
        if let Some(alloc) = work_as::<AllocNode>(piece) {
            alloc.memory.allocated.store(true, Ordering::Release);
        } else if let Some(free) = work_as::<FreeNode>(piece) {
            free.0.allocated.store(false, Ordering::Release);
        }
    }
    Ok(())
}

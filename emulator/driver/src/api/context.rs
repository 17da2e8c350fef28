//! Contexts: creating them, making them current, their limits and flags.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::api::device::{device, flags_are_known};
use crate::contexts::{self, Context, context, current, initialised, lock, query, usable};
use crate::current as stack;
use crate::edge::{In, Out, export, later};
use crate::result::*;
use crate::streams::{event, stream};
use crate::types::{CtxCreateParams, Handle};

fn create(out: Out<Handle>, flags: c_uint, dev: c_int) -> Outcome {
    initialised()?;
    out.check()?;
    if !flags_are_known(flags) {
        return Err(ERROR_INVALID_VALUE);
    }
    device(dev)?;
    let context = Context::create(flags);
    stack::push(context.handle)?;
    out.put(context.handle)
}

/// Looks a context up; null is the current one.
fn context_or_current(handle: Handle) -> Result<Arc<Context>, CUresult> {
    if handle == 0 { current() } else { initialised().and_then(|()| context(handle)) }
}

export! {
    fn cuCtxCreate_v2(out: Out<Handle>, flags: c_uint, dev: c_int) {
        create(out, flags, dev)
    }

    fn cuCtxCreate_v3(out: Out<Handle>, _affinity: usize, n_affinity: c_int, flags: c_uint, dev: c_int) {
        if n_affinity != 0 {
            return Err(ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        create(out, flags, dev)
    }

    fn cuCtxDestroy_v2(handle: Handle) {
        initialised()?;
        let gone = context(handle)?;
        if gone.primary {
            return Err(ERROR_INVALID_CONTEXT);
        }
        // The context leaves the calling thread's stack if it is on top; elsewhere its handle stays and is dead.
        if stack::top() == Some(handle) {
            stack::pop();
        }
        gone.destroy();
        Ok(())
    }

    fn cuCtxPushCurrent_v2 | cuCtxPushCurrent(handle: Handle) {
        initialised()?;
        if handle == 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        context(handle)?;
        stack::push(handle)
    }

    fn cuCtxPopCurrent_v2 | cuCtxPopCurrent(out: Out<Handle>) {
        initialised()?;
        let top = stack::pop().ok_or(ERROR_INVALID_CONTEXT)?;
        out.put_if_wanted(top);
        Ok(())
    }

    fn cuCtxSetCurrent(handle: Handle) {
        initialised()?;
        if handle != 0 {
            context(handle)?;
        }
        stack::pop();
        if handle == 0 { Ok(()) } else { stack::push(handle) }
    }

    fn cuCtxGetCurrent(out: Out<Handle>) {
        query(out, || Ok(stack::top().unwrap_or(0)))
    }

    fn cuCtxSynchronize() {
        let context = usable()?;
        context.synchronize(context.queue.last().0)
    }

    fn cuCtxGetFlags(flags: Out<c_uint>) {
        flags.put_with(|| Ok(current()?.flags.load(Ordering::Relaxed)))
    }

    fn cuCtxSetFlags(flags: c_uint) {
        let context = current()?;
        if !flags_are_known(flags) {
            return Err(ERROR_INVALID_VALUE);
        }
        context.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetId(handle: Handle, id: Out<c_ulonglong>) {
        id.put_with(|| Ok(context_or_current(handle)?.id))
    }

    fn cuCtxGetApiVersion(handle: Handle, version: Out<c_uint>) {
        version.check()?;
        context_or_current(handle)?;
        // Version of the `_v2` calls on contexts, since CUDA 3.2.
        version.put(3020)
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: c_uint) {
        value.check()?;
        let context = current()?;
        let limits = lock(&context.limits);
        let found = *limits.get(limit as usize).ok_or(ERROR_INVALID_VALUE)?;
        value.put(found.ok_or(ERROR_UNSUPPORTED_LIMIT)?)
    }

    fn cuCtxSetLimit(limit: c_uint, value: usize) {
        let context = current()?;
        let mut limits = lock(&context.limits);
        // The stack bounds recursion. The other limits are stored and returned by `cuCtxGetLimit`, without effect.
        let found = limits.get_mut(limit as usize).ok_or(ERROR_INVALID_VALUE)?;
        *found.as_mut().ok_or(ERROR_UNSUPPORTED_LIMIT)? = value;
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<c_uint>) {
        config.put_with(|| Ok(current()?.cache_config.load(Ordering::Relaxed)))
    }

    fn cuCtxSetCacheConfig(config: c_uint) {
        let context = current()?;
        if config > 3 {
            return Err(ERROR_INVALID_VALUE);
        }
        context.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Out<c_uint>) {
        config.put_with(|| Ok(current()?.shared_config.load(Ordering::Relaxed)))
    }

    fn cuCtxSetSharedMemConfig(config: c_uint) {
        let context = current()?;
        if config > 2 {
            return Err(ERROR_INVALID_VALUE);
        }
        // Banks are four bytes wide on this device, as on every one since Maxwell.
        context.shared_config.store(1, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        current()?;
        least.put_if_wanted(0);
        greatest.put_if_wanted(-5);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        current()?;
        Ok(())
    }

    fn cuCtxAttach(out: Out<Handle>, flags: c_uint) {
        initialised()?;
        out.check()?;
        if flags != 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        let context = current()?;
        context.attached.fetch_add(1, Ordering::Relaxed);
        out.put(context.handle)
    }

    fn cuCtxDetach(handle: Handle) {
        initialised()?;
        let context = context(handle)?;
        if stack::top() != Some(handle) {
            return Err(ERROR_INVALID_CONTEXT);
        }
        if context.attached.fetch_sub(1, Ordering::Relaxed) <= 1 && !context.primary {
            stack::pop();
            context.destroy();
        }
        Ok(())
    }

    fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) {
        current()?;
        if flags != 0 {
            return Err(ERROR_INVALID_VALUE);
        }
        context(peer)?;
        // The only device is no peer of itself.
        Err(ERROR_PEER_ACCESS_UNSUPPORTED)
    }

    fn cuCtxDisablePeerAccess(peer: Handle) {
        current()?;
        context(peer)?;
        Err(ERROR_PEER_ACCESS_NOT_ENABLED)
    }
}

later! {
    fn cuCtxCreate_v4(out: Out<Handle>, params: In<CtxCreateParams>, flags: c_uint, dev: c_int) {
        if !params.is_null() {
            let params = params.get()?;
            if params.n_affinity != 0 {
                return Err(ERROR_UNSUPPORTED_EXEC_AFFINITY);
            }
            if !params.cig.is_null() {
                return Err(ERROR_NOT_SUPPORTED);
            }
        }
        create(out, flags, dev)
    }

    fn cuCtxRecordEvent(handle: Handle, recorded: Handle) {
        let context = context_or_current(handle)?;
        context.check()?;
        let event = event(recorded)?;
        // All of a context's work is in one order, so the position of the default stream is that of the context.
        stack::push(context.handle)?;
        let recorded = stream(1).map(|s| event.record(&s));
        stack::pop();
        recorded
    }

    fn cuCtxSynchronize_v2(handle: Handle) {
        let context = context_or_current(handle)?;
        context.check()?;
        context.synchronize(context.queue.last().0)
    }

    fn cuCtxWaitEvent(handle: Handle, awaited: Handle) {
        let context = context_or_current(handle)?;
        context.check()?;
        let event = event(awaited)?;
        stack::push(context.handle)?;
        let waited = stream(1).and_then(|s| super::stream::wait_for(&s, &event));
        stack::pop();
        waited
    }
}

pub(crate) fn owner(context: &Context) -> crate::allocations::Owner {
    crate::allocations::Owner { context_id: context.id, context: context.handle }
}

pub(crate) fn current_owner() -> Result<crate::allocations::Owner, CUresult> {
    contexts::usable().map(|c| owner(&c))
}

//! Contexts: creating them, making them current, their limits and flags.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::{Arc, atomic::Ordering};

use crate::api::device::{device, flags_are_known};
use crate::api::{query, ready_for};
use crate::capture::permit_wait;
use crate::contexts::{self, Context, context_of, context_or_current, current, usable};
use crate::current as stack;
use crate::ffi::{In, Out, export, later};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::streams::{EVENTS, Event, Stream, stream_of};
use crate::sync::lock;
use crate::types::{CtxCreateParams, Handle};

fn create(out: Out<Handle>, flags: c_uint, dev: c_int) -> Outcome {
    ready_for(out)?;
    refuse_if(!flags_are_known(flags), ERROR_INVALID_VALUE)?;
    device(dev)?;
    let context = Context::create(flags);
    stack::push(context.handle)?;
    out.put(context.handle)
}

export! {
    fn cuCtxCreate_v2 3020(out: Out<Handle>, flags: c_uint, dev: c_int) = create(out, flags, dev);

    fn cuCtxCreate_v3 11040(out: Out<Handle>, _affinity: usize, n_affinity: c_int, flags: c_uint, dev: c_int) {
        refuse_if(n_affinity != 0, ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
        create(out, flags, dev)
    }

    fn cuCtxDestroy_v2 4000(handle: Handle) {
        initialised()?;
        let gone = context_of(handle)?;
        refuse_if(gone.primary, ERROR_INVALID_CONTEXT)?;
        // The context leaves the calling thread's stack if it is on top; elsewhere its handle stays and is dead.
        if stack::top() == Some(handle) {
            stack::pop();
        }
        gone.destroy();
        Ok(())
    }

    fn cuCtxPushCurrent_v2 4000 | cuCtxPushCurrent 2000(handle: Handle) {
        initialised()?;
        refuse_if(handle == 0, ERROR_INVALID_VALUE)?;
        context_of(handle)?;
        stack::push(handle)
    }

    fn cuCtxPopCurrent_v2 4000 | cuCtxPopCurrent 2000(out: Out<Handle>) {
        initialised()?;
        let top = stack::pop().ok_or(ERROR_INVALID_CONTEXT)?;
        out.put_if_wanted(top);
        Ok(())
    }

    fn cuCtxSetCurrent 4000(handle: Handle) {
        initialised()?;
        if handle != 0 {
            context_of(handle)?;
        }
        stack::pop();
        if handle == 0 { Ok(()) } else { stack::push(handle) }
    }

    fn cuCtxGetCurrent 4000(out: Out<Handle>) = query(out, || Ok(stack::top().unwrap_or(0)));

    fn cuCtxSynchronize 2000() = synchronize(&*usable()?);

    fn cuCtxGetFlags 7000(flags: Out<c_uint>) = flags.put_with(|| Ok(current()?.flags.load(Ordering::Relaxed)));

    fn cuCtxSetFlags 12010(flags: c_uint) {
        let context = current()?;
        refuse_if(!flags_are_known(flags), ERROR_INVALID_VALUE)?;
        context.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetId 12000(handle: Handle, id: Out<c_ulonglong>) = id.put_with(|| Ok(context_or_current(handle)?.id));
    // Version of the `_v2` calls on contexts, since CUDA 3.2.
    fn cuCtxGetApiVersion 3020(handle: Handle, version: Out<c_uint>) =
        version.put_with(|| context_or_current(handle).map(|_| 3020));

    fn cuCtxGetLimit 3010(value: Out<usize>, limit: c_uint) {
        value.check()?;
        let context = current()?;
        let limits = lock(&context.limits);
        let found = *limits.get(limit as usize).ok_or(ERROR_INVALID_VALUE)?;
        value.put(found.ok_or(ERROR_UNSUPPORTED_LIMIT)?)
    }

    fn cuCtxSetLimit 3010(limit: c_uint, value: usize) {
        let context = current()?;
        let mut limits = lock(&context.limits);
        // The stack bounds recursion. The other limits are stored and returned by `cuCtxGetLimit`, without effect.
        let found = limits.get_mut(limit as usize).ok_or(ERROR_INVALID_VALUE)?;
        *found.as_mut().ok_or(ERROR_UNSUPPORTED_LIMIT)? = value;
        Ok(())
    }

    fn cuCtxGetCacheConfig 3020(config: Out<c_uint>) =
        config.put_with(|| Ok(current()?.cache_config.load(Ordering::Relaxed)));

    fn cuCtxSetCacheConfig 3020(config: c_uint) {
        let context = current()?;
        refuse_if(config > 3, ERROR_INVALID_VALUE)?;
        context.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetSharedMemConfig 4020(config: Out<c_uint>) =
        config.put_with(|| Ok(current()?.shared_config.load(Ordering::Relaxed)));

    fn cuCtxSetSharedMemConfig 4020(config: c_uint) {
        let context = current()?;
        refuse_if(config > 2, ERROR_INVALID_VALUE)?;
        // Banks are four bytes wide on this device, as on every one since Maxwell.
        context.shared_config.store(1, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange 5050(least: Out<c_int>, greatest: Out<c_int>) {
        current()?;
        least.put_if_wanted(0);
        greatest.put_if_wanted(-5);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache 11000() = current().map(drop);

    fn cuCtxAttach 2000(out: Out<Handle>, flags: c_uint) {
        ready_for(out)?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        let context = current()?;
        context.attached.fetch_add(1, Ordering::Relaxed);
        out.put(context.handle)
    }

    fn cuCtxDetach 2000(handle: Handle) {
        initialised()?;
        let context = context_of(handle)?;
        refuse_if(stack::top() != Some(handle), ERROR_INVALID_CONTEXT)?;
        if context.attached.fetch_sub(1, Ordering::Relaxed) <= 1 && !context.primary {
            stack::pop();
            context.destroy();
        }
        Ok(())
    }

    fn cuCtxEnablePeerAccess 4000(peer: Handle, flags: c_uint) {
        current()?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        context_of(peer)?;
        // The only device is not a peer of itself.
        Err(ERROR_PEER_ACCESS_UNSUPPORTED)
    }

    fn cuCtxDisablePeerAccess 4000(peer: Handle) {
        current()?;
        context_of(peer)?;
        Err(ERROR_PEER_ACCESS_NOT_ENABLED)
    }
}

later! {
    fn cuCtxCreate_v4 12050(out: Out<Handle>, params: In<CtxCreateParams>, flags: c_uint, dev: c_int) {
        if !params.is_null() {
            let params = params.get()?;
            refuse_if(params.n_affinity != 0, ERROR_UNSUPPORTED_EXEC_AFFINITY)?;
            refuse_if(!params.cig.is_null(), ERROR_NOT_SUPPORTED)?;
        }
        create(out, flags, dev)
    }

    fn cuCtxRecordEvent 12050(handle: Handle, recorded: Handle) =
        in_default_stream(handle, recorded, |stream, event| event.record(stream));

    fn cuCtxSynchronize_v2 13000(handle: Handle) {
        let context = context_or_current(handle)?;
        context.check()?;
        synchronize(&context)
    }

    fn cuCtxWaitEvent 12050(handle: Handle, awaited: Handle) =
        in_default_stream(handle, awaited, |stream, event| super::stream::wait_for(stream, event));
}

/// Records or awaits an event in the default stream, whose position in the one order of work is the context's.
fn in_default_stream(handle: Handle, event: Handle, act: impl FnOnce(&Stream, &Arc<Event>) -> Outcome) -> Outcome {
    let context = context_or_current(handle)?;
    context.check()?;
    let event = EVENTS.find(event)?;
    stack::push(context.handle)?;
    let outcome = stream_of(1).and_then(|stream| act(&stream, &event));
    stack::pop();
    outcome
}

fn synchronize(context: &Context) -> Outcome {
    permit_wait(context.id)?;
    context.synchronize(context.queue.last().0)
}

pub(crate) fn owner(context: &Context) -> crate::allocations::Owner {
    crate::allocations::Owner { context_id: context.id, context: context.handle }
}

pub(crate) fn current_owner() -> Outcome<crate::allocations::Owner> {
    contexts::usable().map(|c| owner(&c))
}

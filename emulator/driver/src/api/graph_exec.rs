//! Instantiated graphs: launching and changing them.

use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use crate::api::graph_memory::note_launch;
use crate::api::graph_nodes::{any_kind, child, copy, fill, host, kernel, kernel_2, record, wait};
use crate::api::{launch::Kernel, stream::wait_for};
use crate::api::{query, ready_for};
use crate::diagnose;
use crate::ffi::{In, Out, export, later};
use crate::graphs::{Child, GRAPHS, Kept, Plan, Work, work_as};
use crate::handle::{ObjectKind, Table};
use crate::result::*;
use crate::staging;
use crate::streams::{Mark, WaitEvent, usable_stream};
use crate::sync::lock;
use crate::types::{
    Handle, HostNodeParams, InstantiateParams, KernelNodeParams, KernelNodeParams2, Memcpy3D, MemsetNodeParams,
    NodeParams, UpdateInfo,
};
use crate::{queue::JobThread, reports};

struct Exec {
    plan: Plan,
    flags: u64,
    kept: Vec<Kept>,
}

static EXECS: Table<Exec> = Table::new(ObjectKind::GraphExec);

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH` and `…_DEVICE_LAUNCH`
const AUTO_FREE: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 15;

fn instantiate(out: Out<Handle>, graph: Handle, flags: u64) -> Outcome {
    ready_for(out)?;
    let graph = GRAPHS.find(graph)?;
    refuse_if(
        flags & !FLAGS != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH,
        ERROR_INVALID_VALUE,
    )?;
    if flags & DEVICE_LAUNCH != 0 {
        diagnose::print_once("launches of graphs from kernels are not supported");
        return Err(ERROR_NOT_SUPPORTED);
    }
    let plan = graph.plan().ok_or(ERROR_INVALID_VALUE)?;
    let kept = lock(&graph.kept).clone();
    out.put(EXECS.insert_with(|_| Exec { plan, flags, kept }).0)
}

fn launch(handle: Handle, stream_handle: Handle) -> Outcome {
    let exec = EXECS.find(handle)?;
    let stream = usable_stream(stream_handle)?;
    stream.permit()?;
    reports::forget();
    let mut pieces = Vec::new();
    exec.plan.pieces(&mut pieces);
    note_launch(&pieces, exec.flags & AUTO_FREE != 0)?;
    pieces.iter().filter_map(work_as::<WaitEvent>).try_for_each(|wait| wait_for(&stream, &wait.0))?;
    // Each launch is a recording of its own.
    let mut marks = Vec::new();
    for piece in &mut pieces {
        if let Some(mark) = work_as::<Mark>(piece) {
            let mark = Arc::new(Mark::new(Arc::clone(&mark.event)));
            marks.push(Arc::clone(&mark));
            *piece = mark;
        }
    }
    let last = pieces.iter().rev().find_map(work_as::<Kernel>).map(|kernel| Arc::clone(&kernel.slot));
    let context = Arc::clone(&stream.context);
    let job = move || {
        let _kept = &exec.kept;
        let run = |work: &Arc<dyn Work>| context.check().and_then(|()| work.run(&context));
        if let Err(code) = pieces.iter().try_for_each(run) {
            context.lose(code);
        }
    };
    staging::settle_awaited(stream.context.queue.id(), u64::MAX);
    let note = |ticket| marks.iter().for_each(|mark| mark.note(&stream.context, ticket));
    let ticket = stream.submit(JobThread::Worker, note, Box::new(job));
    last.into_iter().for_each(|slot| reports::remember(&stream.context, ticket, slot));
    Ok(())
}

/// Replaces the work of an instantiated graph's node by other work of its kind.
fn set(handle: Handle, node: Handle, work: Outcome<Arc<dyn Work>>) -> Outcome {
    let exec = EXECS.find(handle)?;
    let mut work = work?;
    if let Some(child) = work_as::<Child>(&work) {
        let graph = Arc::clone(&child.0);
        let plan = graph.plan().ok_or(ERROR_INVALID_VALUE);
        graph.destroy();
        work = Arc::new(plan?);
    }
    exec.plan.change(node, |step| {
        refuse_if(step.work.kind() != work.kind(), ERROR_INVALID_VALUE)?;
        if let (Some(before), Some(new)) = (work_as::<Plan>(&step.work), work_as::<Plan>(&work)) {
            return before.update(new).map_err(|_| ERROR_INVALID_VALUE);
        }
        step.work = Arc::clone(&work);
        Ok(())
    })
}

/// Takes the work of another graph. Returns 0 and no node, or why it cannot, and the node that differs.
fn update(handle: Handle, graph: Handle) -> Outcome<(c_uint, Handle)> {
    let exec = EXECS.find(handle)?;
    let plan = GRAPHS.find(graph)?.plan().ok_or(ERROR_INVALID_VALUE)?;
    Ok(exec.plan.update(&plan).map_or_else(|difference| (difference.result, difference.node), |()| (0, 0)))
}

export! {
    fn cuGraphInstantiate 10000 | cuGraphInstantiate_v2 11000(
        out: Out<Handle>, graph: Handle, error_node: Out<Handle>, log: Out<c_char>, n: usize,
    ) {
        error_node.put_if_wanted(0);
        if n > 0 && !log.is_null() {
            // SAFETY: the caller promises as many bytes.
            unsafe { log.put_text("", n) }?;
        }
        instantiate(out, graph, 0)
    }

    fn cuGraphInstantiateWithFlags 11040(out: Out<Handle>, graph: Handle, flags: u64) =
        instantiate(out, graph, flags);

    fn cuGraphInstantiateWithParams 12000 / cuGraphInstantiateWithParams_ptsz (
        out: Out<Handle>, graph: Handle, params: Out<InstantiateParams>,
    ) {
        let given = params.get()?;
        let done = instantiate(out, graph, given.flags);
        // `CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE`, for circles, or an error that the code explains.
        let result = match done {
            Ok(()) => 0,
            Err(_) if GRAPHS.find(graph).is_ok_and(|graph| graph.plan().is_none()) => 2,
            Err(_) => 1,
        };
        params.put(InstantiateParams { error_node: 0, result, ..given })?;
        done
    }

    fn cuGraphExecDestroy 10000(handle: Handle) = EXECS.destroy(handle).map(drop);
    fn cuGraphExecGetFlags 12000(handle: Handle, flags: Out<u64>) = query(flags, || Ok(EXECS.find(handle)?.flags));
    fn cuGraphLaunch 10000 / cuGraphLaunch_ptsz (handle: Handle, stream: Handle) = launch(handle, stream);

    fn cuGraphUpload 11010 / cuGraphUpload_ptsz (handle: Handle, stream: Handle) {
        EXECS.find(handle)?;
        let stream = usable_stream(stream)?;
        // A graph needs nothing on the device before it is launched.
        stream.permit()
    }

    fn cuGraphExecUpdate 10020(handle: Handle, graph: Handle, error_node: Out<Handle>, result: Out<c_uint>) {
        let (code, node) = update(handle, graph)?;
        error_node.put_if_wanted(node);
        result.put_if_wanted(code);
        refuse_if(code != 0, ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecUpdate_v2 12000(handle: Handle, graph: Handle, out: Out<UpdateInfo>) {
        out.check()?;
        let (result, error_node) = update(handle, graph)?;
        out.put(UpdateInfo { result, error_node, error_from: 0 })?;
        refuse_if(result != 0, ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecKernelNodeSetParams 10010(handle: Handle, node: Handle, params: In<KernelNodeParams>) =
        set(handle, node, kernel(params.get()?, 0));
    fn cuGraphExecKernelNodeSetParams_v2 12000(handle: Handle, node: Handle, params: In<KernelNodeParams2>) =
        set(handle, node, kernel_2(params.get()?));
    fn cuGraphExecMemcpyNodeSetParams 10020(handle: Handle, node: Handle, params: In<Memcpy3D>, _context: Handle) =
        set(handle, node, copy(params.get()?));
    fn cuGraphExecMemsetNodeSetParams 10020(
        handle: Handle, node: Handle, params: In<MemsetNodeParams>, _context: Handle,
    ) =
        set(handle, node, fill(params.get()?));
    fn cuGraphExecHostNodeSetParams 10020(handle: Handle, node: Handle, params: In<HostNodeParams>) =
        set(handle, node, host(params.get()?));
    fn cuGraphExecEventRecordNodeSetEvent 11010(handle: Handle, node: Handle, event: Handle) =
        set(handle, node, record(event));
    fn cuGraphExecEventWaitNodeSetEvent 11010(handle: Handle, node: Handle, event: Handle) =
        set(handle, node, wait(event));
    fn cuGraphExecChildGraphNodeSetParams 11010(handle: Handle, node: Handle, graph: Handle) =
        set(handle, node, child(graph));
    fn cuGraphExecNodeSetParams 12020(handle: Handle, node: Handle, params: In<NodeParams>) =
        set(handle, node, any_kind(params.get()?));
}

later! {
    // What CUDA 12 means by the plain name, and cuda.h exports as `cuGraphInstantiateWithFlags`.
    fn cuGraphInstantiate_v3 12000(out: Out<Handle>, graph: Handle, flags: u64) = instantiate(out, graph, flags);
}

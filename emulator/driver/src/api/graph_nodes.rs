//! Nodes of graphs by their kinds: adding them, and reading and changing what they do.

use std::sync::Arc;

use crate::api::graph::{copied, default_edges, list_of};
use crate::api::graph_memory::{self, AllocNode, FreeNode};
use crate::api::launch::{GridSpec, Kernel, arguments};
use crate::api::{copy::Copy, copy_2d_3d::Rows};
use crate::api::{memset::Fill, stream::HostCall};
use crate::api::{query, ready_for};
use crate::contexts::usable;
use crate::cuda_constants::node as kinds;
use crate::diagnose;
use crate::ffi::{In, Out, export};
use crate::graphs::{Child, Empty, GRAPHS, GraphOwner, Work, graph_with, work_as};
use crate::result::*;
use crate::streams::{EVENTS, Mark, WaitEvent};
use crate::types::{
    AllocNodeParams, EdgeData, Handle, HostFn, HostNodeParams, KernelNodeParams, KernelNodeParams2, Memcpy3D,
    MemsetNodeParams, NodeParams,
};

type NewWork = Outcome<Arc<dyn Work>>;

pub(crate) fn add(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, work: NewWork) -> Outcome {
    ready_for(out)?;
    let graph = GRAPHS.find(graph)?;
    let after = list_of(after, n)?;
    out.put(graph.add(work?, after)?)
}

pub(crate) fn work_of(node: Handle) -> Outcome<Arc<dyn Work>> {
    graph_with(node)?.work(node)
}

/// Replaces the work of a node by other work of its kind.
fn set(node: Handle, work: NewWork) -> Outcome {
    let (before, work) = (work_of(node)?, work?);
    refuse_if(before.kind() != work.kind(), ERROR_INVALID_VALUE)?;
    graph_with(node)?.change(node, |node| node.work = work)
}

/// Writes the parameters of a node, if it is of the requested kind.
fn get<W: Work, T>(node: Handle, out: Out<T>, params: impl FnOnce(&W) -> T) -> Outcome {
    query(out, || work_as::<W>(&work_of(node)?).map(params).ok_or(ERROR_INVALID_VALUE))
}

/// Returns the launch that parameters describe; `kernel` is that of a library, where they name no function.
pub(crate) fn kernel(params: KernelNodeParams, kernel: Handle) -> NewWork {
    let KernelNodeParams { function, grid, block, shared_bytes, pointers, extra } = params;
    let shape = GridSpec::new(grid, block, shared_bytes);
    let handle = if function == 0 { kernel } else { function };
    // SAFETY: the caller of the call promises arguments as for a launch.
    let work = Kernel::new(handle, shape, &*usable()?, &|function, config| unsafe {
        arguments(function, config, In::new(pointers), In::new(extra)).map_err(|_| ERROR_INVALID_VALUE)
    })?;
    Ok(Arc::new(work))
}

/// Returns the launch that the second form of the parameters describes.
pub(crate) fn kernel_2(params: KernelNodeParams2) -> NewWork {
    kernel(params.start, params.kernel)
}

fn kernel_params(kernel: &Kernel) -> KernelNodeParams {
    KernelNodeParams {
        function: kernel.handle,
        grid: kernel.shape.grid,
        block: kernel.shape.block,
        shared_bytes: kernel.shape.dynamic_shared,
        pointers: kernel.arguments().as_ptr().cast(),
        extra: std::ptr::null(),
    }
}

pub(crate) fn copy(params: Memcpy3D) -> NewWork {
    let rows = Rows::new(params)?;
    rows.check()?;
    Ok(Arc::new(rows))
}

pub(crate) fn fill(params: MemsetNodeParams) -> NewWork {
    let fill = Fill::new(params)?;
    refuse_if(fill.is_empty(), ERROR_INVALID_VALUE)?;
    Ok(Arc::new(fill))
}

pub(crate) fn host(params: HostNodeParams) -> NewWork {
    refuse_if(params.function.is_none(), ERROR_INVALID_VALUE)?;
    Ok(Arc::new(HostCall(params.function, params.data)))
}

pub(crate) fn record(event: Handle) -> NewWork {
    Ok(Arc::new(Mark::new(EVENTS.find(event)?)))
}

pub(crate) fn wait(event: Handle) -> NewWork {
    Ok(Arc::new(WaitEvent(EVENTS.find(event)?)))
}

pub(crate) fn child(graph: Handle) -> NewWork {
    Ok(Arc::new(Child(copied(graph, GraphOwner::Node)?)))
}

/// Reads what a node of any kind shall do.
pub(crate) fn any_kind(params: NodeParams) -> NewWork {
    fn read<T: std::marker::Copy>(words: &[u64]) -> Outcome<T> {
        // SAFETY: the union has room for each of its members, which the kind names.
        unsafe { In::new(words.as_ptr().cast::<T>()) }.get()
    }
    let words = &params.words;
    match params.kind {
        kinds::KERNEL => kernel_2(read(words)?),
        // Flags and a context come first.
        kinds::MEMCPY => copy(read(&words[2..])?),
        kinds::MEMSET => fill(read(words)?),
        kinds::HOST => host(read(words)?),
        kinds::GRAPH => child(words[0] as Handle),
        kinds::EMPTY => Ok(Arc::new(Empty)),
        kinds::WAIT_EVENT => wait(words[0] as Handle),
        kinds::EVENT_RECORD => record(words[0] as Handle),
        kinds::MEM_ALLOC => graph_memory::alloc(read(words)?),
        kinds::MEM_FREE => graph_memory::free(words[0]),
        other => {
            diagnose::print_once(&format!("nodes of graphs of type {other} are not supported"));
            Err(ERROR_NOT_SUPPORTED)
        }
    }
}

/// Adds a node of any kind, and writes what its parameters return.
fn add_any(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, place: Out<NodeParams>) -> Outcome {
    ready_for(out)?;
    let mut params = place.get()?;
    let work = any_kind(params)?;
    if let Some(alloc) = work_as::<AllocNode>(&work) {
        // SAFETY: the parameters of an allocation fit into the union.
        unsafe { Out::at(params.words.as_mut_ptr().cast()) }.put(alloc.params)?;
    }
    if let Some(child) = work_as::<Child>(&work) {
        params.words[0] = child.0.handle as u64;
    }
    add(out, graph, after, n, Ok(work))?;
    place.put(params)
}

export! {
    fn cuGraphAddEmptyNode 10000(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize) =
        add(out, graph, after, n, Ok(Arc::new(Empty)));
    fn cuGraphAddKernelNode 10000(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: In<KernelNodeParams>,
    ) =
        add(out, graph, after, n, params.get().and_then(|params| kernel(params, 0)));
    fn cuGraphAddKernelNode_v2 12000(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: In<KernelNodeParams2>,
    ) =
        add(out, graph, after, n, params.get().and_then(kernel_2));
    fn cuGraphKernelNodeGetParams 10000(node: Handle, out: Out<KernelNodeParams>) = get(node, out, kernel_params);

    fn cuGraphKernelNodeGetParams_v2 12000(node: Handle, out: Out<KernelNodeParams2>) {
        let context = usable()?.handle;
        get(node, out, |kernel| KernelNodeParams2 { start: kernel_params(kernel), kernel: 0, context })
    }

    fn cuGraphKernelNodeSetParams 10000(node: Handle, params: In<KernelNodeParams>) =
        set(node, kernel(params.get()?, 0));
    fn cuGraphKernelNodeSetParams_v2 12000(node: Handle, params: In<KernelNodeParams2>) =
        set(node, kernel_2(params.get()?));
    fn cuGraphAddMemcpyNode 10000(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: In<Memcpy3D>, _context: Handle,
    ) =
        add(out, graph, after, n, params.get().and_then(copy));
    fn cuGraphMemcpyNodeGetParams 10000(node: Handle, out: Out<Memcpy3D>) {
        query(out, || {
            let work = work_of(node)?;
            let linear = work_as::<Copy>(&work).map(Copy::params);
            linear.or_else(|| Some(work_as::<Rows>(&work)?.params)).ok_or(ERROR_INVALID_VALUE)
        })
    }

    fn cuGraphMemcpyNodeSetParams 10000(node: Handle, params: In<Memcpy3D>) = set(node, copy(params.get()?));
    fn cuGraphAddMemsetNode 10000(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: In<MemsetNodeParams>, _context: Handle,
    ) =
        add(out, graph, after, n, params.get().and_then(fill));
    fn cuGraphMemsetNodeGetParams 10000(node: Handle, out: Out<MemsetNodeParams>) =
        get(node, out, |fill: &Fill| fill.params);
    fn cuGraphMemsetNodeSetParams 10000(node: Handle, params: In<MemsetNodeParams>) = set(node, fill(params.get()?));
    fn cuGraphAddHostNode 10000(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: In<HostNodeParams>,
    ) =
        add(out, graph, after, n, params.get().and_then(host));
    fn cuGraphHostNodeGetParams 10000(node: Handle, out: Out<HostNodeParams>) =
        get(node, out, |call: &HostCall<HostFn>| HostNodeParams { function: call.0, data: call.1 });
    fn cuGraphHostNodeSetParams 10000(node: Handle, params: In<HostNodeParams>) = set(node, host(params.get()?));
    fn cuGraphAddEventRecordNode 11010(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, event: Handle) =
        add(out, graph, after, n, record(event));
    fn cuGraphEventRecordNodeGetEvent 11010(node: Handle, out: Out<Handle>) =
        get(node, out, |mark: &Mark| mark.event.handle);
    fn cuGraphEventRecordNodeSetEvent 11010(node: Handle, event: Handle) = set(node, record(event));
    fn cuGraphAddEventWaitNode 11010(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, event: Handle) =
        add(out, graph, after, n, wait(event));
    fn cuGraphEventWaitNodeGetEvent 11010(node: Handle, out: Out<Handle>) =
        get(node, out, |wait: &WaitEvent| wait.0.handle);
    fn cuGraphEventWaitNodeSetEvent 11010(node: Handle, event: Handle) = set(node, wait(event));

    fn cuGraphAddChildGraphNode 10000(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, of: Handle) {
        refuse_if(of == graph, ERROR_INVALID_VALUE)?;
        add(out, graph, after, n, child(of))
    }

    fn cuGraphChildGraphNodeGetGraph 10000(node: Handle, out: Out<Handle>) =
        get(node, out, |child: &Child| child.0.handle);

    fn cuGraphAddMemAllocNode 11040(
        out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: Out<AllocNodeParams>,
    ) {
        ready_for(out)?;
        let work = graph_memory::alloc(params.get()?)?;
        work_as::<AllocNode>(&work).map_or(Ok(()), |alloc| params.put(alloc.params))?;
        add(out, graph, after, n, Ok(work))
    }

    fn cuGraphMemAllocNodeGetParams 11040(node: Handle, out: Out<AllocNodeParams>) =
        get(node, out, |alloc: &AllocNode| alloc.params);
    fn cuGraphAddMemFreeNode 11040(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, address: u64) =
        add(out, graph, after, n, graph_memory::free(address));
    fn cuGraphMemFreeNodeGetParams 11040(node: Handle, out: Out<u64>) = get(node, out, |free: &FreeNode| free.0.base);
    fn cuGraphAddNode 12020(out: Out<Handle>, graph: Handle, after: In<Handle>, n: usize, params: Out<NodeParams>) =
        add_any(out, graph, after, n, params);

    fn cuGraphAddNode_v2 12030(
        out: Out<Handle>, graph: Handle, after: In<Handle>, edges: In<EdgeData>, n: usize, params: Out<NodeParams>,
    ) {
        default_edges(edges, n)?;
        add_any(out, graph, after, n, params)
    }

    fn cuGraphNodeSetParams 12020(node: Handle, params: In<NodeParams>) = set(node, any_kind(params.get()?));
}

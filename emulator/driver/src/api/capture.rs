//! Capturing streams into graphs.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::api::graph::{default_edges, list_of};
use crate::cuda_constants::capture as modes;
use crate::ffi::{In, Out, export};
use crate::graphs::{GRAPHS, Graph};
use crate::result::*;
use crate::streams::stream_of;
use crate::types::{EdgeData, Handle};
use crate::{capture::exchange_mode, lifecycle::initialised};

fn begin(handle: Handle, mode: c_uint, to: Option<(Arc<Graph>, Vec<Handle>)>) -> Outcome {
    let stream = stream_of(handle)?;
    refuse_if(mode > modes::RELAXED, ERROR_INVALID_VALUE)?;
    stream.context.check()?;
    refuse_if(stream.is_legacy(), ERROR_STREAM_CAPTURE_UNSUPPORTED)?;
    stream.capture.begin(stream.context.id, mode, to)
}

/// Results of `cuStreamGetCaptureInfo` beside the status.
#[derive(Clone, Copy)]
struct Info {
    id: Out<u64>,
    graph: Out<Handle>,
    nodes: Out<*const Handle>,
    edges: Out<*const EdgeData>,
    n: Out<usize>,
}

fn info(handle: Handle, status: Out<c_uint>, out: Info) -> Outcome {
    status.check()?;
    let stream = stream_of(handle)?;
    if stream.is_legacy() {
        stream.permit()?;
    }
    let Some(position) = stream.capture.position() else { return status.put(0) };
    if position.capture.is_invalid() {
        return status.put(2);
    }
    out.id.put_if_wanted(position.capture.id);
    out.graph.put_if_wanted(position.capture.graph.handle);
    out.nodes.put_if_wanted(stream.capture.nodes());
    // All edges are default ones: no data for them.
    out.edges.put_if_wanted(std::ptr::null());
    out.n.put_if_wanted(position.after.len());
    status.put(1)
}

fn update(handle: Handle, nodes: In<Handle>, n: usize, flags: c_uint) -> Outcome {
    let stream = stream_of(handle)?;
    refuse_if(flags > 1, ERROR_INVALID_VALUE)?;
    let mut position = stream.capture.valid()?.ok_or(ERROR_ILLEGAL_STATE)?;
    let new = list_of(nodes, n)?;
    let known = position.capture.graph.nodes();
    refuse_if(!new.iter().all(|node| known.contains_key(node)), ERROR_INVALID_VALUE)?;
    // `CU_STREAM_SET_CAPTURE_DEPENDENCIES`, or to add.
    position.after.retain(|node| flags == 0 && !new.contains(node));
    position.after.extend(new);
    stream.capture.set(position.after);
    Ok(())
}

export! {
    fn cuStreamBeginCapture 10000 / cuStreamBeginCapture_ptsz (handle: Handle) = begin(handle, modes::GLOBAL, None);
    fn cuStreamBeginCapture_v2 10010 / cuStreamBeginCapture_v2_ptsz (handle: Handle, mode: c_uint) =
        begin(handle, mode, None);

    fn cuStreamBeginCaptureToGraph 12030 / cuStreamBeginCaptureToGraph_ptsz (
        handle: Handle, graph: Handle, nodes: In<Handle>, edges: In<EdgeData>, n: usize, mode: c_uint,
    ) {
        let graph = GRAPHS.find(graph)?;
        let (after, known) = (list_of(nodes, n)?, graph.nodes());
        default_edges(edges, n)?;
        refuse_if(!after.iter().all(|node| known.contains_key(node)), ERROR_INVALID_VALUE)?;
        begin(handle, mode, Some((graph, after)))
    }

    fn cuStreamEndCapture 10000 / cuStreamEndCapture_ptsz (handle: Handle, graph: Out<Handle>) {
        let stream = stream_of(handle)?;
        graph.put_if_wanted(0);
        graph.put_if_wanted(stream.capture.end()?.handle);
        Ok(())
    }

    fn cuStreamIsCapturing 10000 / cuStreamIsCapturing_ptsz (handle: Handle, status: Out<c_uint>) {
        let none = Info { id: Out::null(), graph: Out::null(), nodes: Out::null(), edges: Out::null(), n: Out::null() };
        info(handle, status, none)
    }

    fn cuStreamGetCaptureInfo 10010 / cuStreamGetCaptureInfo_ptsz (handle: Handle, status: Out<c_uint>, id: Out<u64>) {
        let one = Info { id, graph: Out::null(), nodes: Out::null(), edges: Out::null(), n: Out::null() };
        info(handle, status, one)
    }

    fn cuStreamGetCaptureInfo_v2 11030 / cuStreamGetCaptureInfo_v2_ptsz (
        handle: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const Handle>, n: Out<usize>,
    ) =
        info(handle, status, Info { id, graph, nodes, edges: Out::null(), n });
    fn cuStreamGetCaptureInfo_v3 12030 / cuStreamGetCaptureInfo_v3_ptsz (
        handle: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const Handle>,
        edges: Out<*const EdgeData>, n: Out<usize>,
    ) =
        info(handle, status, Info { id, graph, nodes, edges, n });
    fn cuStreamUpdateCaptureDependencies 11030 / cuStreamUpdateCaptureDependencies_ptsz (
        handle: Handle, nodes: In<Handle>, n: usize, flags: c_uint,
    ) =
        update(handle, nodes, n, flags);

    fn cuStreamUpdateCaptureDependencies_v2 13000 / cuStreamUpdateCaptureDependencies_v2_ptsz (
        handle: Handle, nodes: In<Handle>, edges: In<EdgeData>, n: usize, flags: c_uint,
    ) {
        default_edges(edges, n)?;
        update(handle, nodes, n, flags)
    }

    fn cuThreadExchangeStreamCaptureMode 10010(mode: Out<c_uint>) {
        initialised()?;
        mode.put(exchange_mode(mode.get()?))
    }
}

//! Graphs: their nodes, and the edges between them.

use std::ffi::c_uint;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::api::{query, ready_for};
use crate::cuda_constants::node as kinds;
use crate::diagnose;
use crate::ffi::{In, Out, Text, export};
use crate::graphs::{GRAPHS, Graph, GraphOwner, Node, graph_with};
use crate::result::*;
use crate::types::{EdgeData, Handle};
use crate::{capture::is_target, lifecycle::initialised};

/// Data of an edge that is an order and no more.
const EDGE: EdgeData = EdgeData { from_port: 0, to_port: 0, kind: 0, reserved: [0; 5] };

pub(crate) fn list_of(nodes: In<Handle>, n: usize) -> Outcome<Vec<Handle>> {
    // SAFETY: the caller promises as many nodes.
    unsafe { nodes.list(n) }
}

/// Refuses edges that are more than an order: those of programmatic launches.
pub(crate) fn default_edges(edges: In<EdgeData>, n: usize) -> Outcome {
    // SAFETY: the caller promises data for each edge, or none.
    if !edges.is_null() && unsafe { edges.list(n) }?.iter().any(|edge| *edge != EDGE) {
        diagnose::print_once("edges of graphs for programmatic dependent launches are not supported");
        return Err(ERROR_NOT_SUPPORTED);
    }
    Ok(())
}

/// Copies a graph. One that allocates memory cannot be copied.
pub(crate) fn copied(handle: Handle, owner: GraphOwner) -> Outcome<Arc<Graph>> {
    let graph = GRAPHS.find(handle)?;
    let allocates = |node: &Node| matches!(node.work.kind(), kinds::MEM_ALLOC | kinds::MEM_FREE);
    refuse_if(graph.nodes().values().any(allocates), ERROR_NOT_SUPPORTED)?;
    Ok(graph.copy(owner))
}

/// Writes as much of a list as fits, and its length; only the length without a place.
fn put_list(place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>, list: &[Handle]) -> Outcome {
    if place.is_null() {
        return n.put(list.len());
    }
    let room = n.get()?;
    for i in 0..room {
        // SAFETY: the caller promises as many places.
        unsafe { place.put_at(i, list.get(i).copied().unwrap_or(0)) }?;
        if !data.is_null() {
            // SAFETY: the caller promises a place for the data of each edge, if for any.
            unsafe { data.put_at(i, EDGE) }?;
        }
    }
    n.put(room.min(list.len()))
}

fn edges(handle: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, n: Out<usize>) -> Outcome {
    initialised()?;
    refuse_if(from.is_null() != to.is_null(), ERROR_INVALID_VALUE)?;
    let room = n.get()?;
    let nodes = GRAPHS.find(handle)?.nodes();
    let ends = nodes.iter().flat_map(|(node, Node { after, .. })| after.iter().map(move |before| (*before, *node)));
    let (sources, targets): (Vec<Handle>, Vec<Handle>) = ends.unzip();
    put_list(from, data, n, &sources)?;
    if to.is_null() { Ok(()) } else { n.put(room).and_then(|()| put_list(to, Out::null(), n, &targets)) }
}

fn dependencies(node: Handle, place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>) -> Outcome {
    initialised()?;
    n.check()?;
    let nodes = graph_with(node)?.nodes();
    put_list(place, data, n, nodes.get(&node).map_or(&[], |node| &node.after[..]))
}

/// Writes the nodes of a graph that pass a test.
fn nodes_of(
    graph: &Graph, place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>, test: impl Fn(&Node) -> bool,
) -> Outcome {
    n.check()?;
    let nodes = graph.nodes().into_iter().filter(|(_, node)| test(node)).map(|(handle, _)| handle);
    put_list(place, data, n, &nodes.collect::<Vec<_>>())
}

fn dependent_nodes(node: Handle, place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>) -> Outcome {
    nodes_of(&*graph_with(node)?, place, data, n, |user| user.after.contains(&node))
}

fn change_edges(
    handle: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, n: usize, change: Change,
) -> Outcome {
    default_edges(data, n)?;
    let graph = GRAPHS.find(handle)?;
    let pairs: Vec<(Handle, Handle)> = list_of(from, n)?.into_iter().zip(list_of(to, n)?).collect();
    let nodes = graph.nodes();
    for (i, (from, to)) in pairs.iter().enumerate() {
        let node = nodes.get(to).ok_or(ERROR_INVALID_VALUE)?;
        let is_there = node.after.contains(from);
        let again = pairs[..i].contains(&(*from, *to));
        let wrong = again || from == to || is_there != (change == Change::Remove) || !nodes.contains_key(from);
        refuse_if(wrong, ERROR_INVALID_VALUE)?;
    }
    for (from, to) in pairs {
        graph.change(to, |node| match change {
            Change::Add => node.after.push(from),
            Change::Remove => node.after.retain(|before| *before != from),
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}

/// Returns a graph in the language of Graphviz.
fn picture(graph: &Graph) -> String {
    let nodes = graph.nodes();
    let handles: Vec<Handle> = nodes.keys().copied().collect();
    let mut text = "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n".to_owned();
    for (i, node) in nodes.values().enumerate() {
        let label = node.work.label().replace('"', "'");
        let _ = writeln!(text, "\"graph_1_node_{i}\"[style=\"solid\" shape=\"rectangle\" label=\"{i}\n{label}\n\"];");
    }
    for (i, node) in nodes.values().enumerate() {
        for before in node.after.iter().filter_map(|before| handles.binary_search(before).ok()) {
            let _ = writeln!(text, "\"graph_1_node_{before}\" -> \"graph_1_node_{i}\";");
        }
    }
    text + "}\n}\n"
}

export! {
    fn cuGraphCreate 10000(out: Out<Handle>, flags: c_uint) {
        ready_for(out)?;
        refuse_if(flags != 0, ERROR_INVALID_VALUE)?;
        out.put(Graph::create(GraphOwner::Program).handle)
    }

    fn cuGraphDestroy 10000(handle: Handle) {
        let graph = GRAPHS.find(handle)?;
        // A graph in a node goes with it.
        refuse_if(graph.owner == GraphOwner::Node, ERROR_INVALID_VALUE)?;
        refuse_if(is_target(handle), ERROR_ILLEGAL_STATE)?;
        graph.destroy();
        Ok(())
    }

    fn cuGraphClone 10000(out: Out<Handle>, handle: Handle) =
        query(out, || copied(handle, GraphOwner::Program).map(|copy| copy.handle));
    fn cuGraphNodeFindInClone 10000(out: Out<Handle>, node: Handle, clone: Handle) =
        query(out, || GRAPHS.find(clone)?.copy_of(node).ok_or(ERROR_INVALID_VALUE));
    fn cuGraphNodeGetType 10000(node: Handle, kind: Out<c_uint>) =
        query(kind, || Ok(graph_with(node)?.work(node)?.kind()));

    fn cuGraphGetNodes 10000(handle: Handle, place: Out<Handle>, n: Out<usize>) =
        nodes_of(&*GRAPHS.find(handle)?, place, Out::null(), n, |_| true);
    fn cuGraphGetRootNodes 10000(handle: Handle, place: Out<Handle>, n: Out<usize>) =
        nodes_of(&*GRAPHS.find(handle)?, place, Out::null(), n, |node| node.after.is_empty());
    fn cuGraphGetEdges 10000(handle: Handle, from: Out<Handle>, to: Out<Handle>, n: Out<usize>) =
        edges(handle, from, to, Out::null(), n);
    fn cuGraphGetEdges_v2 12030(
        handle: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, n: Out<usize>,
    ) =
        edges(handle, from, to, data, n);
    fn cuGraphNodeGetDependencies 10000(node: Handle, place: Out<Handle>, n: Out<usize>) =
        dependencies(node, place, Out::null(), n);
    fn cuGraphNodeGetDependencies_v2 12030(node: Handle, place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>) =
        dependencies(node, place, data, n);
    fn cuGraphNodeGetDependentNodes 10000(node: Handle, place: Out<Handle>, n: Out<usize>) =
        dependent_nodes(node, place, Out::null(), n);
    fn cuGraphNodeGetDependentNodes_v2 12030(node: Handle, place: Out<Handle>, data: Out<EdgeData>, n: Out<usize>) =
        dependent_nodes(node, place, data, n);
    fn cuGraphAddDependencies 10000(handle: Handle, from: In<Handle>, to: In<Handle>, n: usize) =
        change_edges(handle, from, to, In::null(), n, Change::Add);
    fn cuGraphAddDependencies_v2 12030(
        handle: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, n: usize,
    ) =
        change_edges(handle, from, to, data, n, Change::Add);
    fn cuGraphRemoveDependencies 10000(handle: Handle, from: In<Handle>, to: In<Handle>, n: usize) =
        change_edges(handle, from, to, In::null(), n, Change::Remove);
    fn cuGraphRemoveDependencies_v2 12030(
        handle: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, n: usize,
    ) =
        change_edges(handle, from, to, data, n, Change::Remove);

    fn cuGraphDestroyNode 10000(node: Handle) = graph_with(node)?.remove(node);

    fn cuGraphDebugDotPrint 11030(handle: Handle, path: Text, _flags: c_uint) {
        let graph = GRAPHS.find(handle)?;
        std::fs::write(path.get()?, picture(&graph)).map_err(|_| ERROR_OPERATING_SYSTEM)
    }
}

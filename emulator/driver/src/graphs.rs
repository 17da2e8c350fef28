//! Graphs: pieces of work and the order between them.
//!
//! A piece of work is the same in a stream and in a graph: [`Work`]. An instantiated graph ([`Plan`]) runs its pieces
//! as one job of a context's queue, in the one valid order that prefers nodes made earlier.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::contexts::Context;
use crate::handle::{ObjectKind, Table};
use crate::queue::JobThread;
use crate::result::*;
use crate::{sync::lock, types::Handle};

/// Names of the kinds of work, by their numbers.
const NAMES: [&str; 12] = [
    "kernel",
    "memcpy",
    "memset",
    "host",
    "graph",
    "empty",
    "wait for event",
    "record event",
    "",
    "",
    "mem alloc",
    "mem free",
];

/// A piece of work of a stream, or of a node of a graph, which may run it many times.
pub(crate) trait Work: Any + Send + Sync {
    fn kind(&self) -> u32;

    /// Returns the thread for it in a stream.
    fn thread(&self) -> JobThread {
        JobThread::Caller
    }

    /// Does the work now. A failure loses the context.
    fn run(&self, _context: &Context) -> Outcome {
        Ok(())
    }

    /// Returns the name of a node in pictures.
    fn label(&self) -> String {
        NAMES.get(self.kind() as usize).map_or("memory operation", |name| name).to_owned()
    }
}

/// Implements [`Work`] for nodes that have a kind, and no work of their own when the graph runs.
macro_rules! only_kinds {
    ($($work:ty: $kind:ident),* $(,)?) => {$(
        impl $crate::graphs::Work for $work {
            fn kind(&self) -> u32 {
                $crate::cuda_constants::node::$kind
            }
        }
    )*};
}
pub(crate) use only_kinds;

only_kinds! {
    Empty: EMPTY,
    Child: GRAPH,
    // In a step, as the graph of a node: its pieces run in its place.
    Plan: GRAPH,
}

pub(crate) fn work_as<T: Work>(work: &Arc<dyn Work>) -> Option<&T> {
    (&**work as &dyn Any).downcast_ref()
}

/// Work of nodes that only order others.
pub(crate) struct Empty;

/// A graph in a node of another one, which owns it. An instantiated graph has a [`Plan`] in its place.
pub(crate) struct Child(pub(crate) Arc<Graph>);

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) work: Arc<dyn Work>,
    pub(crate) after: Vec<Handle>,
    /// Node that this one is a copy of.
    original: Handle,
}

/// An object that is only kept alive.
pub(crate) type Kept = Arc<dyn Any + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphOwner {
    Program,
    /// A node of another graph.
    Node,
}

pub(crate) struct Graph {
    pub(crate) handle: Handle,
    pub(crate) owner: GraphOwner,
    /// Objects of the program that live as long as the graph, its copies and their launches.
    pub(crate) kept: Mutex<Vec<Kept>>,
    /// Handles grow, so the nodes are in the order in which they were made.
    nodes: Mutex<BTreeMap<Handle, Node>>,
}

pub(crate) static GRAPHS: Table<Graph> = Table::new(ObjectKind::Graph);
/// Graphs of all nodes.
static NODES: Table<Handle> = Table::new(ObjectKind::Node);

pub(crate) fn graph_with(node: Handle) -> Outcome<Arc<Graph>> {
    GRAPHS.find(*NODES.find(node)?)
}

impl Graph {
    pub(crate) fn create(owner: GraphOwner) -> Arc<Self> {
        GRAPHS.insert_with(|handle| Self { handle, owner, kept: Mutex::default(), nodes: Mutex::default() }).1
    }

    /// Returns a copy of the nodes, in the order in which they were made.
    pub(crate) fn nodes(&self) -> BTreeMap<Handle, Node> {
        lock(&self.nodes).clone()
    }

    /// Returns the copy of a node of the graph that this one is a copy of.
    pub(crate) fn copy_of(&self, node: Handle) -> Option<Handle> {
        lock(&self.nodes).iter().find(|(_, copy)| copy.original == node).map(|(handle, _)| *handle)
    }

    /// Adds a node after others of the same graph.
    pub(crate) fn add(&self, work: Arc<dyn Work>, after: Vec<Handle>) -> Outcome<Handle> {
        let mut nodes = lock(&self.nodes);
        let distinct: BTreeSet<_> = after.iter().collect();
        let known = after.iter().all(|before| nodes.contains_key(before));
        refuse_if(distinct.len() < after.len() || !known, ERROR_INVALID_VALUE)?;
        let (handle, _) = NODES.insert_with(|_| self.handle);
        nodes.insert(handle, Node { work, after, original: 0 });
        Ok(handle)
    }

    pub(crate) fn change(&self, node: Handle, change: impl FnOnce(&mut Node)) -> Outcome {
        lock(&self.nodes).get_mut(&node).map(change).ok_or(ERROR_INVALID_VALUE)
    }

    pub(crate) fn work(&self, node: Handle) -> Outcome<Arc<dyn Work>> {
        lock(&self.nodes).get(&node).map(|node| Arc::clone(&node.work)).ok_or(ERROR_INVALID_VALUE)
    }

    pub(crate) fn remove(&self, node: Handle) -> Outcome {
        let mut nodes = lock(&self.nodes);
        let gone = nodes.remove(&node).ok_or(ERROR_INVALID_VALUE)?;
        nodes.values_mut().for_each(|other| other.after.retain(|before| *before != node));
        NODES.remove(node);
        work_as::<Child>(&gone.work).into_iter().for_each(|child| child.0.destroy());
        Ok(())
    }

    pub(crate) fn destroy(&self) {
        GRAPHS.remove(self.handle);
        let _ = std::mem::take(&mut *lock(&self.kept));
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        for (handle, node) in nodes {
            NODES.remove(handle);
            work_as::<Child>(&node.work).into_iter().for_each(|child| child.0.destroy());
        }
    }

    /// Returns a copy, with copies of the graphs in its nodes.
    pub(crate) fn copy(&self, owner: GraphOwner) -> Arc<Self> {
        let copy = Self::create(owner);
        lock(&copy.kept).clone_from(&lock(&self.kept));
        let nodes = self.nodes();
        let new: BTreeMap<Handle, Handle> =
            nodes.keys().map(|old| (*old, NODES.insert_with(|_| copy.handle).0)).collect();
        *lock(&copy.nodes) = nodes
            .into_iter()
            .map(|(old, node)| {
                let after = node.after.iter().map(|before| new[before]).collect();
                let child = work_as::<Child>(&node.work)
                    .map(|child| Arc::new(Child(child.0.copy(GraphOwner::Node))) as Arc<dyn Work>);
                (new[&old], Node { work: child.unwrap_or(node.work), after, original: old })
            })
            .collect();
        copy
    }

    /// Returns whether work after the nodes in `ends` is after everything in `nodes`.
    pub(crate) fn is_after(&self, ends: &[Handle], nodes: &[Handle]) -> bool {
        let all = lock(&self.nodes);
        let (mut seen, mut next) = (BTreeSet::new(), ends.to_vec());
        while let Some(node) = next.pop() {
            if seen.insert(node) {
                next.extend(all.get(&node).into_iter().flat_map(|node| &node.after));
            }
        }
        nodes.iter().all(|node| seen.contains(node))
    }

    /// Instantiates the graph; `None` if its edges form a circle.
    pub(crate) fn plan(&self) -> Option<Plan> {
        let nodes = self.nodes();
        let index: BTreeMap<Handle, usize> = nodes.keys().enumerate().map(|(i, node)| (*node, i)).collect();
        let mut steps = Vec::with_capacity(nodes.len());
        for (handle, node) in nodes {
            let after: BTreeSet<usize> = node.after.iter().map(|before| index[before]).collect();
            let work = match work_as::<Child>(&node.work) {
                Some(child) => Arc::new(child.0.plan()?),
                None => node.work,
            };
            steps.push(Step { node: handle, work, after });
        }
        let order = order(&steps)?;
        Some(Plan { steps: Mutex::new(steps), order })
    }
}

/// Returns the indices of steps in a valid order; `None` in a circle.
fn order(steps: &[Step]) -> Option<Vec<usize>> {
    let mut waiting: Vec<usize> = steps.iter().map(|step| step.after.len()).collect();
    let mut users = vec![Vec::new(); steps.len()];
    for (i, step) in steps.iter().enumerate() {
        step.after.iter().for_each(|before| users[*before].push(i));
    }
    let mut ready: BTreeSet<usize> = (0..steps.len()).filter(|i| waiting[*i] == 0).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for user in &users[i] {
            waiting[*user] -= 1;
            if waiting[*user] == 0 {
                ready.insert(*user);
            }
        }
    }
    (order.len() == steps.len()).then_some(order)
}

/// A node of an instantiated graph.
pub(crate) struct Step {
    node: Handle,
    pub(crate) work: Arc<dyn Work>,
    after: BTreeSet<usize>,
}

/// An instantiated graph.
pub(crate) struct Plan {
    /// In the order in which the nodes were made.
    steps: Mutex<Vec<Step>>,
    order: Vec<usize>,
}

impl Plan {
    /// Adds the pieces of work in their order, those of graphs in nodes included.
    pub(crate) fn pieces(&self, into: &mut Vec<Arc<dyn Work>>) {
        let steps = lock(&self.steps);
        for step in self.order.iter().map(|i| &steps[*i]) {
            match work_as::<Self>(&step.work) {
                Some(plan) => plan.pieces(into),
                None => into.push(Arc::clone(&step.work)),
            }
        }
    }

    pub(crate) fn change(&self, node: Handle, change: impl FnOnce(&mut Step) -> Outcome) -> Outcome {
        let mut steps = lock(&self.steps);
        change(steps.iter_mut().find(|step| step.node == node).ok_or(ERROR_INVALID_VALUE)?)
    }

    /// Takes the work of another graph's nodes, where it has the same nodes and edges.
    pub(crate) fn update(&self, other: &Self) -> Result<(), Difference> {
        let (mut steps, new) = (lock(&self.steps), lock(&other.steps));
        let difference = |result, node| Err(Difference { result, node });
        if steps.len() != new.len() {
            return difference(Difference::EDGES, 0);
        }
        for (step, new) in steps.iter().zip(new.iter()) {
            if step.after != new.after {
                return difference(Difference::EDGES, new.node);
            }
            if step.work.kind() != new.work.kind() {
                return difference(Difference::KIND, new.node);
            }
        }
        for (step, new) in steps.iter_mut().zip(new.iter()) {
            match (work_as::<Self>(&step.work), work_as::<Self>(&new.work)) {
                (Some(plan), Some(new)) => plan.update(new)?,
                _ => step.work = Arc::clone(&new.work),
            }
        }
        Ok(())
    }
}

/// The reason for which an instantiated graph cannot become another one.
pub(crate) struct Difference {
    /// `CUgraphExecUpdateResult`
    pub(crate) result: u32,
    /// First node that differs, if the numbers of nodes do not.
    pub(crate) node: Handle,
}

impl Difference {
    const EDGES: u32 = 2;
    const KIND: u32 = 3;
}

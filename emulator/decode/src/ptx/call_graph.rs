//! Functions that a kernel reaches. Most are inlined at each call. One that calls itself, perhaps through others, or is
//! called through its address, is decoded once: a call starts an activation with local memory of its own.

use std::collections::{HashMap, HashSet};

use ptx::ast::{Function, Space, Statement, Type, Variable};

use crate::error::{Result, unsupported};
use crate::ptx::index::{Index, size_of};
use crate::ptx::walk::{CallParts, instructions, statements};
use crate::virtual_op::class_and_bits;
use arithmetic::lanes::Class;
use program::limits::STATEMENT_STEPS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Passed {
    /// In a register of this class; with the declared bytes.
    Register(Class, u32),
    /// By address in the caller's local memory.
    Memory(u64),
}

/// Parameters and results of a function. A call through an address must have the function's signature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    pub(crate) returns: Vec<Passed>,
    pub(crate) params: Vec<Passed>,
}

impl Signature {
    pub(crate) fn new(returns: &[Variable], params: &[Variable]) -> Result<Self> {
        let all = |list: &[Variable]| list.iter().map(passed).collect::<Result<_>>();
        Ok(Self { returns: all(returns)?, params: all(params)? })
    }

    pub(crate) fn of(function: &Function) -> Result<Self> {
        Self::new(&function.returns, &function.params)
    }
}

fn passed(v: &Variable) -> Result<Passed> {
    if v.space == Space::Reg && v.vector > 1 {
        let what = "a vector register as a parameter of a function that cannot be inlined";
        return Err(unsupported(v.span, what));
    }
    let scalar = v.dims.is_empty() && v.vector <= 1;
    if scalar && (v.ty == Type::Pred || v.ty.bytes() <= 8) {
        let (class, _) = class_and_bits(v.ty, v.span)?;
        return Ok(Passed::Register(class, v.ty.bytes()));
    }
    Ok(Passed::Memory(size_of(v)?.unwrap_or(0)))
}

#[derive(Debug)]
pub(crate) struct Reach<'a> {
    /// The kernel comes first.
    pub(crate) functions: Vec<&'a Function>,
    /// Functions that call themselves, perhaps through others.
    pub(crate) recursive: HashSet<&'a str>,
    /// Functions that calls through addresses can reach.
    pub(crate) targets: Vec<&'a Function>,
}

/// Target of a call: a function, or any function with a signature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node<'a> {
    Function(&'a str),
    Signature(Signature),
}

/// Calls between the functions that a kernel reaches. Node 0 is the kernel.
struct Graph<'a, 'i> {
    index: &'i Index<'a>,
    nodes: Vec<(Node<'a>, Option<&'a Function>)>,
    known: HashMap<Node<'a>, u32>,
    edges: Vec<Vec<u32>>,
}

impl<'a> Graph<'a, '_> {
    fn node(&mut self, node: Node<'a>, function: Option<&'a Function>) -> u32 {
        if let Some(&at) = self.known.get(&node) {
            return at;
        }
        let at = self.nodes.len() as u32;
        self.known.insert(node.clone(), at);
        self.nodes.push((node, function));
        self.edges.push(Vec::new());
        at
    }

    /// Adds the calls of a node, and nodes for their targets.
    fn expand(&mut self, at: u32) -> Result<()> {
        let mut reached = Vec::new();
        match self.nodes[at as usize].clone() {
            (_, Some(function)) => {
                let n_statements = 1 + statements(function).count() as u64;
                self.index.account.steps(n_statements * STATEMENT_STEPS / 2)?;
                let mut indirect = false;
                for call in instructions(function).filter(|instruction| instruction.opcode == "call") {
                    let name = CallParts::of(call).callee;
                    match name.and_then(|name| self.index.function(name)) {
                        Some(callee) if callee.body.is_some() => {
                            reached.push(self.node(Node::Function(&callee.name), Some(callee)));
                        }
                        Some(_) => {}
                        None => indirect |= !name.is_some_and(ptx::link::is_system_call),
                    }
                }
                if indirect {
                    for signature in self.index.signatures(function)? {
                        reached.push(self.node(Node::Signature(signature), None));
                    }
                }
            }
            (Node::Signature(signature), None) => {
                for target in self.index.addressed() {
                    self.index.account.steps(1 + target.params.len() as u64)?;
                    if Signature::of(target).is_ok_and(|own| own == signature) {
                        reached.push(self.node(Node::Function(&target.name), Some(target)));
                    }
                }
            }
            _ => {}
        }
        self.edges[at as usize] = reached;
        Ok(())
    }

    /// Returns for each node whether it lies on a cycle, by Tarjan's algorithm.
    fn on_cycles(&self) -> Vec<bool> {
        const UNSEEN: u32 = u32::MAX;
        let n = self.nodes.len();
        let (mut number, mut low) = (vec![UNSEEN; n], vec![0u32; n]);
        let (mut open, mut is_open, mut found) = (Vec::new(), vec![false; n], vec![false; n]);
        let mut next = 0;
        // Node 0 reaches all nodes.
        let mut path: Vec<(u32, usize)> = vec![(0, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let at = *node as usize;
            if number[at] == UNSEEN {
                (number[at], low[at]) = (next, next);
                next += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(&to) = self.edges[at].get(*edge) {
                *edge += 1;
                let to = to as usize;
                found[at] |= to == at;
                if number[to] == UNSEEN {
                    path.push((to as u32, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(above, _)) = path.last() {
                low[above as usize] = low[above as usize].min(low[at]);
            }
            if low[at] == number[at] {
                let start = open.iter().rposition(|&o| o == at).unwrap_or(0);
                let several = open.len() - start > 1;
                for member in open.drain(start..) {
                    is_open[member] = false;
                    found[member] |= several;
                }
            }
        }
        found
    }
}

impl<'a> Index<'a> {
    pub(crate) fn reach(&self, kernel: &'a Function) -> Result<Reach<'a>> {
        let mut graph = Graph { index: self, nodes: Vec::new(), known: HashMap::new(), edges: Vec::new() };
        graph.node(Node::Function(&kernel.name), Some(kernel));
        let mut at = 0;
        while at < graph.nodes.len() {
            graph.expand(at as u32)?;
            at += 1;
        }
        let cycles = graph.on_cycles();
        let mut reach = Reach { functions: Vec::new(), recursive: HashSet::new(), targets: Vec::new() };
        for (at, (_, function)) in graph.nodes.iter().enumerate() {
            match function {
                Some(function) => {
                    reach.functions.push(function);
                    if cycles[at] {
                        reach.recursive.insert(&function.name);
                    }
                }
                None => {
                    let targets = graph.edges[at].iter().filter_map(|&to| graph.nodes[to as usize].1);
                    reach.targets.extend(targets);
                }
            }
        }
        Ok(reach)
    }

    /// Lists the prototypes in a function, nested blocks included.
    fn signatures(&self, function: &Function) -> Result<Vec<Signature>> {
        let mut found = HashSet::new();
        let mut list = Vec::new();
        for statement in statements(function) {
            let signature = match statement {
                Statement::CallPrototype { returns, params, .. } => Signature::new(returns, params)?,
                Statement::CallTargets { targets, .. } => match targets.first().and_then(|name| self.function(name)) {
                    Some(function) => Signature::of(function)?,
                    None => continue,
                },
                _ => continue,
            };
            if found.insert(signature.clone()) {
                list.push(signature);
            }
        }
        Ok(list)
    }
}

//! Basic blocks, dominators, and immediate post-dominators, where diverged lanes reconverge.

#[cfg(test)]
#[expect(clippy::needless_range_loop, reason = "indices of a graph's nodes")]
mod tests;

use crate::virtual_op::{TRUE, VirtualOp};
use program::OpKind;

/// Pseudo-block after every exit.
pub(crate) const OUTSIDE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Cfg {
    /// First op of each block, in order, then the number of ops.
    pub(crate) starts: Vec<u32>,
    pub(crate) successors: Lists,
    pub(crate) predecessors: Lists,
}

/// Numbered lists, such as one per block, in one allocation.
#[derive(Debug, Default)]
pub(crate) struct Lists<T = u32> {
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Builds lists from (list, item) pairs; items keep their order.
    pub(crate) fn from_pairs(n: usize, pairs: &[(u32, T)]) -> Self {
        let mut offsets = vec![0u32; n + 1];
        for &(list, _) in pairs {
            offsets[list as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![T::default(); pairs.len()];
        for &(list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Self { offsets, items }
    }

    /// Builds lists one after the other: `add` appends the items of a list.
    pub(crate) fn build(n: usize, mut add: impl FnMut(u32, &mut Vec<T>)) -> Self {
        let (mut offsets, mut items) = (vec![0], Vec::new());
        for list in 0..n as u32 {
            add(list, &mut items);
            offsets.push(items.len() as u32);
        }
        Self { offsets, items }
    }

    pub(crate) fn of(&self, list: u32) -> &[T] {
        let list = list as usize;
        &self.items[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }

    pub(crate) fn of_mut(&mut self, list: u32) -> &mut [T] {
        let list = list as usize;
        &mut self.items[self.offsets[list] as usize..self.offsets[list + 1] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

impl Cfg {
    /// Finds the blocks. Branch targets must be positions of ops.
    pub(crate) fn new(ops: &[VirtualOp]) -> Cfg {
        let n_ops = ops.len();
        let mut leads = vec![false; n_ops + 1];
        leads[0] = true;
        for (at, op) in ops.iter().enumerate() {
            match &op.kind {
                OpKind::Branch { target, .. } => leads[*target as usize] = true,
                OpKind::BranchIndexed { targets, .. } => {
                    for &target in targets {
                        leads[target as usize] = true;
                    }
                }
                OpKind::Exit | OpKind::Trap | OpKind::Return => {}
                _ => continue,
            }
            leads[at + 1] = true;
        }
        let mut starts = Vec::new();
        let mut block_of = vec![0u32; n_ops];
        for at in 0..n_ops {
            if leads[at] {
                starts.push(at as u32);
            }
            block_of[at] = starts.len() as u32 - 1;
        }
        let n = starts.len();
        starts.push(n_ops as u32);

        let mut edges = Vec::with_capacity(2 * n);
        for block in 0..n as u32 {
            let end = starts[block as usize + 1];
            let last = &ops[end as usize - 1];
            let falls_through = match &last.kind {
                OpKind::Branch { target, .. } => {
                    edges.push((block, block_of[*target as usize]));
                    last.guard != TRUE
                }
                OpKind::BranchIndexed { targets, .. } => {
                    let mut seen: Vec<u32> = targets.iter().map(|&t| block_of[t as usize]).collect();
                    seen.sort_unstable();
                    seen.dedup();
                    edges.extend(seen.into_iter().map(|to| (block, to)));
                    last.guard != TRUE
                }
                OpKind::Exit | OpKind::Trap | OpKind::Return => last.guard != TRUE,
                _ => true,
            };
            if falls_through && (end as usize) < n_ops {
                let next = (block, block + 1);
                if edges.last() != Some(&next) {
                    edges.push(next);
                }
            }
        }
        let reversed: Vec<_> = edges.iter().map(|&(from, to)| (to, from)).collect();
        Cfg { starts, successors: Lists::from_pairs(n, &edges), predecessors: Lists::from_pairs(n, &reversed) }
    }

    pub(crate) fn n_blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the positions of a block's operations.
    pub(crate) fn range(&self, block: u32) -> std::ops::Range<u32> {
        self.starts[block as usize]..self.starts[block as usize + 1]
    }

    /// Returns the immediate post-dominator of each block, or [`OUTSIDE`].
    pub(crate) fn post_dominators(&self) -> Vec<u32> {
        let successors: Vec<&[u32]> = (0..self.n_blocks() as u32).map(|b| self.successors.of(b)).collect();
        post_dominators(&successors)
    }
}

#[derive(Debug)]
pub(crate) struct Dominators {
    /// Preorder number of each block in the dominator tree, and the last number below it.
    spans: Vec<(u32, u32)>,
}

impl Dominators {
    pub(crate) fn new(cfg: &Cfg) -> Self {
        let n = cfg.n_blocks();
        // Post-dominators of the reversed graph are dominators. Edges to the entry change nothing, except that the
        // entry must end all paths. Functions that are not inlined have entries of their own.
        let predecessors = |b: u32| if b == 0 { &[] } else { cfg.predecessors.of(b) };
        let lists: Vec<&[u32]> = (0..n as u32).map(predecessors).collect();
        let above = post_dominators(&lists);
        let pairs: Vec<(u32, u32)> =
            (0..n as u32).filter(|&b| above[b as usize] != OUTSIDE).map(|b| (above[b as usize], b)).collect();
        let below = Lists::from_pairs(n, &pairs);
        let mut spans = vec![(0, 0); n];
        let mut number = 0;
        let roots = (0..n as u32).filter(|&b| above[b as usize] == OUTSIDE);
        let mut stack: Vec<(u32, bool)> = roots.rev().map(|b| (b, false)).collect();
        while let Some((block, left)) = stack.pop() {
            if left {
                spans[block as usize].1 = number - 1;
                continue;
            }
            spans[block as usize].0 = number;
            number += 1;
            stack.push((block, true));
            stack.extend(below.of(block).iter().rev().map(|&b| (b, false)));
        }
        Self { spans }
    }

    /// Returns the preorder number: a block comes right before those that it dominates.
    pub(crate) fn number(&self, block: u32) -> u32 {
        self.spans[block as usize].0
    }

    pub(crate) fn dominates(&self, a: u32, b: u32) -> bool {
        let (first, last) = self.spans[a as usize];
        (first..=last).contains(&self.number(b))
    }
}

/// Computes the immediate post-dominators of a graph, by the Semi-NCA algorithm of Georgiadis and Tarjan on the
/// reversed graph. A block without successors leaves; blocks that never leave get edges out, the last in the text
/// first.
pub(crate) fn post_dominators(successors: &[&[u32]]) -> Vec<u32> {
    let n = successors.len();
    let mut pairs = Vec::new();
    for (from, list) in successors.iter().enumerate() {
        pairs.extend(list.iter().map(|&to| (to, from as u32)));
    }
    let predecessors = Lists::from_pairs(n, &pairs);

    // Depth-first from the outside, against the edges. Numbers: 0 is the outside, blocks follow.
    const UNSEEN: u32 = u32::MAX;
    let mut number = vec![UNSEEN; n];
    let mut block_of = vec![OUTSIDE];
    let mut parent = vec![0u32];
    let mut leaves: Vec<bool> = successors.iter().map(|s| s.is_empty()).collect();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    let mut visit_from = |root: u32, number: &mut Vec<u32>, block_of: &mut Vec<u32>, parent: &mut Vec<u32>| {
        stack.push((root, 0));
        while let Some((block, from)) = stack.pop() {
            if number[block as usize] != UNSEEN {
                continue;
            }
            let own = block_of.len() as u32;
            number[block as usize] = own;
            block_of.push(block);
            parent.push(from);
            for &before in predecessors.of(block).iter().rev() {
                if number[before as usize] == UNSEEN {
                    stack.push((before, own));
                }
            }
        }
    };
    for block in 0..n {
        if leaves[block] && number[block] == UNSEEN {
            visit_from(block as u32, &mut number, &mut block_of, &mut parent);
        }
    }
    for block in (0..n).rev() {
        if number[block] == UNSEEN {
            leaves[block] = true;
            visit_from(block as u32, &mut number, &mut block_of, &mut parent);
        }
    }

    let count = block_of.len();
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut label = semi.clone();
    let mut ancestor = vec![0u32; count];
    let mut path = Vec::new();
    for v in (1..count).rev() {
        let block = block_of[v] as usize;
        let mut best = parent[v];
        for &after in successors[block] {
            let u = number[after as usize];
            // Path compression over linked vertices (numbers above v).
            let candidate = evaluate(u, v as u32, &mut ancestor, &mut label, &semi, &mut path);
            best = best.min(semi[candidate as usize]);
        }
        if leaves[block] {
            best = 0;
        }
        semi[v] = best;
        ancestor[v] = parent[v];
    }
    let mut dominator = parent.clone();
    for v in 1..count {
        let mut d = dominator[v];
        while d > semi[v] {
            d = dominator[d as usize];
        }
        dominator[v] = d;
    }
    let mut result = vec![OUTSIDE; n];
    for v in 1..count {
        result[block_of[v] as usize] = block_of[dominator[v] as usize];
    }
    result
}

/// Returns the vertex with the least semidominator on the path above `u`; those at or below `limit` are not linked yet.
fn evaluate(u: u32, limit: u32, ancestor: &mut [u32], label: &mut [u32], semi: &[u32], path: &mut Vec<u32>) -> u32 {
    if u <= limit {
        return u;
    }
    path.clear();
    let mut x = u;
    while ancestor[x as usize] > limit {
        path.push(x);
        x = ancestor[x as usize];
    }
    while let Some(y) = path.pop() {
        let above = ancestor[y as usize];
        if semi[label[above as usize] as usize] < semi[label[y as usize] as usize] {
            label[y as usize] = label[above as usize];
        }
        ancestor[y as usize] = ancestor[above as usize];
    }
    label[u as usize]
}

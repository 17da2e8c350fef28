//! The main loop of a GEMM: which multiply-add adds which product to which sum, and which loads bring the factors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sass::operation::{Modifier, Operation};

use crate::Refusal;
use crate::code::Line;

/// Registers of a wide load.
pub(crate) const QUAD: u8 = 4;

/// The parts of the code that are written again, as ranges of lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Regions {
    /// Zeros the sums and loads the first factors.
    pub(crate) entry: Range<usize>,
    pub(crate) body: Range<usize>,
    /// Scales the sums.
    pub(crate) exit: Range<usize>,
}

impl Regions {
    /// Finds the loop with the most multiply-adds.
    pub(crate) fn find(lines: &[Line]) -> Result<Regions, Refusal> {
        let n_ffma = |range: Range<usize>| lines[range].iter().filter(|line| line.is(Operation::Ffma)).count();
        let loops = lines.iter().enumerate().filter_map(|(at, line)| {
            let head = line.is(Operation::Bra).then(|| line.target())??;
            (head < at).then_some(head..at + 1)
        });
        let loops: Vec<(Range<usize>, usize)> = loops.map(|range| (range.clone(), n_ffma(range))).collect();
        // Those of an outer loop are not all of one pass.
        let is_inner = |(outer, _): &&(Range<usize>, usize)| {
            let is_inside =
                |range: &Range<usize>| range != outer && outer.start <= range.start && range.end <= outer.end;
            !loops.iter().any(|(range, n)| *n > 0 && is_inside(range))
        };
        let best = loops.iter().filter(is_inner).max_by_key(|(_, n)| *n).filter(|(_, n)| *n > 0);
        let (body, _) = best.cloned().ok_or(Refusal("no loop has multiply-adds"))?;
        let targets: BTreeSet<usize> = lines.iter().filter_map(Line::target).collect();
        let leaves = |at: usize| lines[at].is(Operation::Bra) && lines[at].target() != Some(body.end);
        let mut entry = body.start;
        while entry > 0 && !leaves(entry - 1) {
            entry -= 1;
            if targets.contains(&entry) {
                break;
            }
        }
        let is_exit = |line: &&Line| {
            line.instruction
                .as_ref()
                .is_some_and(|i| matches!(i.operation, Operation::Fmul | Operation::Plop3) || i.operation.is_uniform())
        };
        let end = body.end + lines[body.end..].iter().take_while(is_exit).count();
        Ok(Regions { entry: entry..body.start, exit: body.end..end, body })
    }
}

/// A factor: part of what a load of the loop brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Factor {
    /// Index among the loads of the loop.
    pub(crate) load: usize,
    pub(crate) part: u8,
}

/// What a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// What it held when the loop began.
    Before(u8),
    Factor(Factor),
    /// The sum that began in a register, after some additions.
    Sum {
        root: u8,
        n: usize,
    },
    Other,
}

/// The loop of an outer product: `sums[i][j] += a[i][k] * b[k][j]`, for several k.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Register of each sum between two passes of the loop.
    pub(crate) sums: Vec<Vec<u8>>,
    /// The loads that bring the factors of k: of each row, and of each four columns.
    pub(crate) a: Vec<Vec<usize>>,
    pub(crate) b: Vec<Vec<usize>>,
    /// Lines of the loads, from the beginning of the loop.
    pub(crate) loads: Vec<usize>,
    /// First register of what the last loads of a pass bring for the next, by load.
    pub(crate) first: BTreeMap<usize, u8>,
}

impl Flow {
    pub(crate) fn read(body: &[Line]) -> Result<Flow, Refusal> {
        let mut registers: Vec<Content> = (0..=255).map(Content::Before).collect();
        let mut loads = Vec::new();
        let mut additions = Vec::new();
        for (at, line) in body.iter().enumerate() {
            if line.is(Operation::Ffma) {
                let places = [0, 1, 2, 3].map(|operand| line.register(operand));
                let [Some(to), Some(x), Some(y), Some(z)] = places else {
                    return Err(Refusal("an FFMA has a constant"));
                };
                let (root, n) = match registers[usize::from(z)] {
                    Content::Before(root) => (root, 0),
                    Content::Sum { root, n } => (root, n),
                    _ => return Err(Refusal("an FFMA adds to something that is no sum")),
                };
                additions.push((root, n, [x, y].map(|register| registers[usize::from(register)])));
                registers[usize::from(to)] = Content::Sum { root, n: n + 1 };
            } else if line.is(Operation::Lds) && line.instruction.as_ref().is_some_and(|i| i.has(Modifier::W128)) {
                let Some(to) = line.register(0) else { return Err(Refusal("a load has no register")) };
                for part in 0..QUAD {
                    registers[usize::from(to + part)] = Content::Factor(Factor { load: loads.len(), part });
                }
                loads.push(at);
            } else {
                line.written().into_iter().flatten().for_each(|to| registers[usize::from(to)] = Content::Other);
            }
        }
        let mut first = BTreeMap::new();
        let mut factor = |content| match content {
            Content::Factor(factor) => Some(factor),
            Content::Before(register) => match registers[usize::from(register)] {
                Content::Factor(factor) => {
                    first.insert(factor.load, register - factor.part);
                    Some(factor)
                }
                _ => None,
            },
            _ => None,
        };
        let mut of_k: Vec<Vec<(u8, [Factor; 2])>> = Vec::new();
        for (root, n, [x, y]) in additions {
            let (Some(x), Some(y)) = (factor(x), factor(y)) else { return Err(Refusal("a factor is no load")) };
            of_k.resize(of_k.len().max(n + 1), Vec::new());
            of_k[n].push((root, [x, y]));
        }
        let mut flow = Flow { sums: Vec::new(), a: Vec::new(), b: Vec::new(), loads, first };
        let mut places: BTreeMap<u8, (usize, usize)> = BTreeMap::new();
        for products in &of_k {
            // Loads of B bring four columns of one k; loads of A bring one row.
            let mut parts: BTreeMap<usize, BTreeSet<u8>> = BTreeMap::new();
            for factor in products.iter().flat_map(|(_, factors)| factors) {
                parts.entry(factor.load).or_default().insert(factor.part);
            }
            let is_b = |factor: Factor| parts[&factor.load].len() == usize::from(QUAD);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for &(root, [x, y]) in products {
                let (of_row, of_col) = if is_b(y) { (x, y) } else { (y, x) };
                if is_b(of_row) || !is_b(of_col) {
                    return Err(Refusal("the products of a k are no outer product"));
                }
                if products.len() != of_k[0].len() || usize::from(of_row.part) != flow.a.len() % usize::from(QUAD) {
                    return Err(Refusal("the sums have different numbers of products"));
                }
                // The first k gives the sums their places.
                let place = |list: &mut Vec<usize>, load| {
                    list.iter().position(|&other| other == load).unwrap_or_else(|| {
                        list.push(load);
                        list.len() - 1
                    })
                };
                let (row, col) = match places.get(&root) {
                    None if flow.a.is_empty() => {
                        let row = place(&mut a, of_row.load);
                        let col = place(&mut b, of_col.load) * usize::from(QUAD) + usize::from(of_col.part);
                        places.insert(root, (row, col));
                        (row, col)
                    }
                    None => return Err(Refusal("a sum begins late")),
                    Some(&place) => place,
                };
                a.resize(a.len().max(row + 1), usize::MAX);
                b.resize(b.len().max(col / usize::from(QUAD) + 1), usize::MAX);
                for (entry, load) in [(&mut a[row], of_row.load), (&mut b[col / usize::from(QUAD)], of_col.load)] {
                    if *entry != usize::MAX && *entry != load {
                        return Err(Refusal("a row or column has factors of two loads"));
                    }
                    *entry = load;
                }
            }
            flow.a.push(a);
            flow.b.push(b);
        }
        flow.sums = vec![vec![0; flow.b[0].len() * usize::from(QUAD)]; flow.a[0].len()];
        for (&root, &(row, col)) in &places {
            flow.sums[row][col] = root;
            if registers[usize::from(root)] != (Content::Sum { root, n: of_k.len() }) {
                return Err(Refusal("a sum ends in another register than it began in"));
            }
        }
        if places.len() != flow.sums.len() * flow.sums[0].len() {
            return Err(Refusal("the sums are no rectangle"));
        }
        Ok(flow)
    }
}

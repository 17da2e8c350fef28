//! The main loop of a GEMM: which loads bring the factors of which products. What is read here need not be right: the
//! new code is proved.

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
    /// Finds the loop with the largest share of multiply-adds.
    pub(crate) fn find(lines: &[Line]) -> Result<Regions, Refusal> {
        let loops = lines.iter().enumerate().filter_map(|(at, line)| Some(line.target()?..at + 1));
        let n_ffma = |range: Range<usize>| lines[range].iter().filter(|line| line.is(Operation::Ffma)).count();
        let share = |range: &Range<usize>| 1000 * n_ffma(range.clone()) / range.len();
        let body = loops.filter(|range| !range.is_empty()).max_by_key(share).filter(|range| share(range) > 0);
        let body = body.ok_or(Refusal("no loop has multiply-adds"))?;
        let targets: BTreeSet<usize> = lines.iter().filter_map(Line::target).collect();
        let leaves = |at: usize| lines[at].is(Operation::Bra) && lines[at].target() != Some(body.end);
        let begins = |&at: &usize| leaves(at - 1) || (at < body.start && targets.contains(&at));
        let entry = (1..=body.start).rev().find(begins).unwrap_or(0);
        let is_uniform = |line: &Line| line.instruction.operation.is_uniform();
        let is_exit = |line: &&Line| line.is(Operation::Fmul) || line.is(Operation::Plop3) || is_uniform(line);
        let end = body.end + lines[body.end..].iter().take_while(is_exit).count();
        let regions = Regions { entry: entry..body.start, exit: body.end..end, body };
        let is_other = |line: &Line| line.instruction.operation.is_asynchronous() && !line.is(Operation::Syncs);
        if lines[regions.all()].iter().any(is_other) {
            return Err(Refusal("the loop has other asynchronous instructions than those of barriers"));
        }
        Ok(regions)
    }

    pub(crate) fn all(&self) -> Range<usize> {
        self.entry.start..self.exit.end
    }
}

/// The value that a register holds.
#[derive(Debug, Clone, Copy)]
enum Content {
    /// The value of a register when the loop began.
    Before(u8),
    /// The result of a load of the loop, and which of its four parts.
    Factor(usize, u8),
    /// The sum that began in a register, and the number of additions.
    Sum(u8, usize),
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
        let mut products = Vec::new();
        for (at, line) in body.iter().enumerate() {
            if line.is(Operation::Ffma) {
                let [to, x, y, z] = [0, 1, 2, 3].map(|operand| line.register(operand).map_or(255, usize::from));
                let (root, n) = if let Content::Sum(root, n) = registers[z] { (root, n) } else { (z as u8, 0) };
                products.push((root, n, [registers[x], registers[y]]));
                registers[to] = Content::Sum(root, n + 1);
                continue;
            }
            let is_load = line.is(Operation::Lds) && line.instruction.has(Modifier::W128);
            for (part, to) in (0..).zip(line.written()) {
                registers[usize::from(to)] = if is_load { Content::Factor(loads.len(), part) } else { Content::Other };
            }
            loads.extend(is_load.then_some(at));
        }
        let mut first = BTreeMap::new();
        let mut factor = |content| {
            let before = if let Content::Before(register) = content { Some(register) } else { None };
            let content = before.map_or(content, |register| registers[usize::from(register)]);
            let Content::Factor(load, part) = content else { return Err(Refusal("a factor is no load")) };
            first.extend(before.map(|register| (load, register - part)));
            Ok((load, part))
        };
        let products = products.into_iter().map(|(root, n, [x, y])| Ok((root, n, factor(x)?, factor(y)?)));
        let products = products.collect::<Result<Vec<_>, Refusal>>()?;
        // Loads of B bring four columns of one k; loads of A bring one row.
        let used: BTreeSet<_> = products.iter().flat_map(|&(_, n, x, y)| [(n, x), (n, y)]).collect();
        let is_b = |n, (load, _)| (0..QUAD).all(|part| used.contains(&(n, (load, part))));
        let (mut rows, mut quads, mut places) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut sums, mut a, mut b) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (root, n, x, y) in products {
            let ((of_row, _), (of_col, part)) = if is_b(n, y) { (x, y) } else { (y, x) };
            let (n_rows, n_quads) = (rows.len(), quads.len());
            // The first k gives the sums their places.
            let place = || (*rows.entry(of_row).or_insert(n_rows), *quads.entry(of_col).or_insert(n_quads), part);
            let (row, quad, part) = *places.entry(root).or_insert_with(place);
            sums.insert((row, quad * usize::from(QUAD) + usize::from(part)), root);
            a.insert((n, row), of_row);
            b.insert((n, quad), of_col);
        }
        let n_k = a.keys().map(|(n, _)| n + 1).max().unwrap_or(0);
        let n_cols = quads.len() * usize::from(QUAD);
        let sums = table(sums, rows.len(), n_cols)?;
        Ok(Flow { sums, a: table(a, n_k, rows.len())?, b: table(b, n_k, quads.len())?, loads, first })
    }
}

fn table<T: Copy>(entries: BTreeMap<(usize, usize), T>, rows: usize, cols: usize) -> Result<Vec<Vec<T>>, Refusal> {
    let entries: Vec<T> = entries.into_values().collect();
    let is_complete = !entries.is_empty() && entries.len() == rows * cols;
    let rows = || entries.chunks(cols).map(<[T]>::to_vec).collect();
    is_complete.then(rows).ok_or(Refusal("the products are no outer product"))
}

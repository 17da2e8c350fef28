//! Orders in which a product can be copied in, computed and copied out.
//!
//! Queues run side by side: copies to the device, products, copies to the host, and exchanges with a second device.
//! Each queue executes its operations in order; an operation can also wait until another queue has finished its first
//! `n`.

use harness::Shape;

pub use records::process::Queue;

/// Rows, columns and depths of parts are multiples of this, as tiles are, where the product is large enough.
const GRANULE: usize = 128;
/// Parts of memory begin on a multiple of this many elements.
const ALIGNED: usize = 64;

pub const QUEUES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    A,
    B,
}

/// A part of a matrix of the host, and where it lies on the device: row after row without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub row: usize,
    pub col: usize,
    pub rows: usize,
    pub cols: usize,
    /// Place in the operand's memory on the device, in elements.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    In(Operand, Block),
    /// Multiplies what lies at these places of the device.
    Multiply {
        shape: Shape,
        at: [usize; 3],
        /// Whether to add to C, which otherwise is overwritten.
        adds: bool,
    },
    Out(Block),
    /// Sends elements of B to the other device, or receives some.
    Exchange(Exchange),
}

/// An exchange of elements of B between two devices. It is the same operation in the schedules of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// The device that has each part before.
    pub kind: Spread,
    pub at: usize,
    pub count: usize,
}

/// Ways in which the whole of B comes to both devices of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    Sent,
    /// From the host to the first, and from there to the second.
    Broadcast,
    /// One half from the host to each, and from there to the other.
    Gathered,
}

impl Exchange {
    /// Returns the elements that a device has before; the others come to it.
    pub fn has(&self, rank: usize) -> std::ops::Range<usize> {
        let half = self.count / 2;
        match (self.kind, rank) {
            (Spread::Gathered, 0) => self.at..self.at + half,
            (Spread::Gathered, _) => self.at + half..self.at + self.count,
            (_, 0) => self.at..self.at + self.count,
            _ => self.at..self.at,
        }
    }
}

/// A number of operations of a queue, from its first, that must end before another operation begins.
pub type WaitsFor = (Queue, usize);

/// An operation, and the operations of other queues that must end before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    pub kind: OpKind,
    pub waits_for: [Option<WaitsFor>; 2],
}

impl Op {
    pub fn queue(&self) -> Queue {
        match self.kind {
            OpKind::In(..) => Queue::In,
            OpKind::Multiply { .. } => Queue::Kernel,
            OpKind::Out(_) => Queue::Out,
            OpKind::Exchange(_) => Queue::Peer,
        }
    }

    /// Returns the bytes that it copies; of an exchange, those of all parts.
    pub fn bytes(&self) -> usize {
        match self.kind {
            OpKind::In(_, block) | OpKind::Out(block) => block.rows * block.cols * size_of::<f32>(),
            OpKind::Exchange(exchange) => exchange.count * size_of::<f32>(),
            OpKind::Multiply { .. } => 0,
        }
    }

    /// Returns the operation in words: `A, rows 0 … 255`.
    pub fn description(&self, shape: Shape) -> String {
        let part = |what: &str, first: usize, n: usize, all: usize| {
            (n < all).then(|| format!(", {what} {first} … {}", first + n - 1))
        };
        let block = |name: &str, block: Block, [rows, cols]: [usize; 2]| {
            let rows = part("rows", block.row, block.rows, rows).unwrap_or_default();
            let cols = part("columns", block.col, block.cols, cols).unwrap_or_default();
            format!("{name}{rows}{cols}")
        };
        match self.kind {
            OpKind::In(Operand::A, part) => block("A", part, [shape.m, shape.k]),
            OpKind::In(Operand::B, part) => block("B", part, [shape.k, shape.n]),
            OpKind::Out(part) => block("C", part, [shape.m, shape.n]),
            OpKind::Multiply { shape, adds, .. } => {
                format!("{shape}{}", if adds { ", added" } else { "" })
            }
            OpKind::Exchange(_) => "B, between the devices".to_owned(),
        }
    }
}

/// All operations of a product, in an order in which each comes behind what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub shape: Shape,
    pub ops: Vec<Op>,
    /// Elements of A, B and C that the device holds at a time.
    pub elements: [usize; 3],
}

impl Schedule {
    // ANCHOR: emptied
    /// Returns a schedule of the operations in this order, each as small as possible: one element, or 1 × 1 products.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let one = |block: Block| Block { rows: 1, cols: 1, ..block };
        let ops = self.ops.iter().map(|op| Op {
            kind: match op.kind {
                OpKind::In(operand, block) => OpKind::In(operand, one(block)),
                OpKind::Out(block) => OpKind::Out(one(block)),
                // Nothing else is computed of what it could add to.
                OpKind::Multiply { at, .. } => OpKind::Multiply { shape: Shape::square(1), at, adds: false },
                OpKind::Exchange(exchange) => {
                    OpKind::Exchange(Exchange { count: exchange.count.min(2), ..exchange })
                }
            },
            ..*op
        });
        Self { ops: ops.collect(), ..self.clone() }
    }
    // ANCHOR_END: emptied
}

/// Returns the first element and the length of `n` parts of about equal size.
fn parts(all: usize, n: usize) -> Vec<(usize, usize)> {
    let size = all.div_ceil(n.max(1)).next_multiple_of(GRANULE);
    (0..all).step_by(size).map(|first| (first, size.min(all - first))).collect()
}

struct Builder {
    shape: Shape,
    ops: Vec<Op>,
    /// Operations of each queue so far.
    counts: [usize; QUEUES],
}

impl Builder {
    fn new(shape: Shape) -> Self {
        Self { shape, ops: Vec::new(), counts: [0; QUEUES] }
    }

    /// Returns the condition that all operations of a queue so far have ended.
    fn done(&self, queue: Queue) -> Option<WaitsFor> {
        Some((queue, self.counts[queue as usize])).filter(|(_, n)| *n > 0)
    }

    fn push(&mut self, kind: OpKind, waits_for: [Option<WaitsFor>; 2]) {
        let op = Op { kind, waits_for: waits_for.map(|condition| condition.filter(|(_, n)| *n > 0)) };
        self.counts[op.queue() as usize] += 1;
        self.ops.push(op);
    }

    /// Copies in without waiting: no other operation uses this memory before.
    fn copy_in(&mut self, operand: Operand, block: Block) {
        self.push(OpKind::In(operand, block), [None; 2]);
    }

    /// Adds a product of everything that was copied in, or exchanged, so far.
    fn multiply(&mut self, [m, n, k]: [usize; 3], at: [usize; 3], adds: bool) {
        let shape = Shape { m, n, k };
        let exchanged = self.done(Queue::Peer);
        self.push(OpKind::Multiply { shape, at, adds }, [self.done(Queue::In), exchanged]);
    }

    /// Adds the copy of a block of C that the products so far have finished.
    fn copy_out(&mut self, block: Block) {
        self.push(OpKind::Out(block), [self.done(Queue::Kernel), None]);
    }

    /// Adds copies of whole rows of B to both devices.
    fn spread(&mut self, spread: Spread, rank: usize, block: Block) {
        // Halves are of the same size: an odd row goes to both.
        let even = match spread {
            Spread::Gathered => block.rows / 2 * 2,
            Spread::Broadcast => block.rows,
            Spread::Sent => 0,
        };
        let rows = |first: usize, rows: usize| Block {
            row: block.row + first,
            rows,
            at: block.at + first * block.cols,
            ..block
        };
        let own = match (spread, rank) {
            (Spread::Gathered, _) => rows(rank * (even / 2), even / 2),
            (Spread::Broadcast, 0) => rows(0, even),
            _ => rows(0, 0),
        };
        for part in [own, rows(even, block.rows - even)] {
            if part.rows > 0 {
                self.copy_in(Operand::B, part);
            }
        }
        if even > 0 {
            let exchange = Exchange { kind: spread, at: block.at, count: even * block.cols };
            let copied = self.done(Queue::In).filter(|_| own.rows > 0);
            self.push(OpKind::Exchange(exchange), [copied, None]);
        }
    }

    /// Finishes the schedule of whole matrices on the device.
    fn finish(self) -> Schedule {
        let Shape { m, n, k } = self.shape;
        Schedule { shape: self.shape, ops: self.ops, elements: [m * k, k * n, m * n] }
    }
}

fn block([row, rows]: [usize; 2], [col, cols]: [usize; 2], at: usize) -> Block {
    Block { row, col, rows, cols, at }
}

// ANCHOR: whole
/// Schedules one after the other: A and B in, the product, C out.
pub fn whole(shape: Shape) -> Schedule {
    let Shape { m, n, k } = shape;
    let mut schedule = Builder::new(shape);
    schedule.copy_in(Operand::A, block([0, m], [0, k], 0));
    schedule.copy_in(Operand::B, block([0, k], [0, n], 0));
    schedule.multiply([m, n, k], [0; 3], false);
    schedule.copy_out(block([0, m], [0, n], 0));
    schedule.finish()
}
// ANCHOR_END: whole

// ANCHOR: chunks
/// Schedules B, then rows of A: a product begins when its rows are there, and its C leaves meanwhile.
pub fn chunks(shape: Shape, n_chunks: usize) -> Schedule {
    let Shape { m, n, k } = shape;
    let mut schedule = Builder::new(shape);
    schedule.copy_in(Operand::B, block([0, k], [0, n], 0));
    for (row, rows) in parts(m, n_chunks) {
        schedule.copy_in(Operand::A, block([row, rows], [0, k], row * k));
        schedule.multiply([rows, n, k], [row * k, 0, row * n], false);
        schedule.copy_out(block([row, rows], [0, n], row * n));
    }
    schedule.finish()
}
// ANCHOR_END: chunks

// ANCHOR: shells
/// Schedules rows of A and columns of B alternately: after i of each, C where the newest meet all others.
///
/// B and C lie on the device as panels of columns, each without gaps.
pub fn shells(shape: Shape, n_shells: usize) -> Schedule {
    let Shape { m, n, k } = shape;
    let mut schedule = Builder::new(shape);
    let (rows, cols) = (parts(m, n_shells), parts(n, n_shells));
    for i in 0..rows.len().max(cols.len()) {
        let (old_rows, old_cols) = (&rows[..i.min(rows.len())], &cols[..i.min(cols.len())]);
        if let Some(&(row, n_rows)) = rows.get(i) {
            schedule.copy_in(Operand::A, block([row, n_rows], [0, k], row * k));
            for &(col, n_cols) in old_cols {
                let c = m * col + row * n_cols;
                schedule.multiply([n_rows, n_cols, k], [row * k, k * col, c], false);
                schedule.copy_out(block([row, n_rows], [col, n_cols], c));
            }
        }
        if let Some(&(col, n_cols)) = cols.get(i) {
            schedule.copy_in(Operand::B, block([0, k], [col, n_cols], k * col));
            let last = rows.get(i).or(old_rows.last());
            let height = last.map_or(0, |(row, n_rows)| row + n_rows);
            schedule.multiply([height, n_cols, k], [0, k * col, m * col], false);
            schedule.copy_out(block([0, height], [col, n_cols], m * col));
        }
    }
    schedule.finish()
}
// ANCHOR_END: shells

// ANCHOR: panels
/// Schedules panels, first by depth, then by rows: some columns of A and the same rows of B add to the whole of C,
/// twice as deep each time; of the rest of the depth, rows of A finish rows of C.
pub fn panels(shape: Shape, n_chunks: usize) -> Schedule {
    /// The first panel is this part of the depth.
    const FIRST: usize = 32;
    let Shape { m, n, k } = shape;
    let mut schedule = Builder::new(shape);
    let (mut from, mut depth) = (0, (k / FIRST).max(1).next_multiple_of(GRANULE));
    while from + depth <= k / 2 {
        schedule.copy_in(Operand::A, block([0, m], [from, depth], m * from));
        schedule.copy_in(Operand::B, block([from, depth], [0, n], from * n));
        schedule.multiply([m, n, depth], [m * from, from * n, 0], from > 0);
        from += depth;
        depth *= 2;
    }
    let rest = k - from;
    schedule.copy_in(Operand::B, block([from, rest], [0, n], from * n));
    let mut rows = parts(m, n_chunks);
    // The last product is followed by a smaller copy.
    if let Some((row, n_rows)) = rows.pop() {
        let halves = parts(n_rows, 2).into_iter();
        rows.extend(halves.map(|(first, n)| (row + first, n)));
    }
    for (row, n_rows) in rows {
        let a = m * from + row * rest;
        schedule.copy_in(Operand::A, block([row, n_rows], [from, rest], a));
        schedule.multiply([n_rows, n, rest], [a, from * n, row * n], from > 0);
        schedule.copy_out(block([row, n_rows], [0, n], row * n));
    }
    schedule.finish()
}
// ANCHOR_END: panels

// ANCHOR: tiles
/// Tiles of C within `bytes` of device memory, however large the product: each is a sum of products of blocks of A and
/// B, with room for two of each: one that is multiplied, one that is copied.
pub fn tiles(shape: Shape, bytes: usize) -> Result<Schedule, String> {
    let Shape { m, n, k } = shape;
    let (side, depth) = tile(shape, bytes)?;
    let [bm, bn] = [side.min(m), side.min(n)];
    let room = [bm * depth, depth * bn, bm * bn].map(|size| size.next_multiple_of(ALIGNED));
    let mut schedule = Builder::new(shape);
    let mut n_tiles = 0;
    for row in (0..m).step_by(bm) {
        for col in (0..n).step_by(bn) {
            let (rows, cols) = (bm.min(m - row), bn.min(n - col));
            let c = n_tiles % 2 * room[2];
            for from in (0..k).step_by(depth) {
                let depth = depth.min(k - from);
                let products = schedule.counts[Queue::Kernel as usize];
                let [a, b] = [0, 1].map(|i| products % 2 * room[i]);
                // The product before the last has used what was there.
                let unused = Some((Queue::Kernel, products.saturating_sub(1)));
                schedule.push(OpKind::In(Operand::A, block([row, rows], [from, depth], a)), [unused, None]);
                schedule.push(OpKind::In(Operand::B, block([from, depth], [col, cols], b)), [None; 2]);
                let shape = Shape { m: rows, n: cols, k: depth };
                let op = OpKind::Multiply { shape, at: [a, b, c], adds: from > 0 };
                // The tile before the last has left its place.
                let left = Some((Queue::Out, usize::max(n_tiles, 1) - 1));
                schedule.push(op, [schedule.done(Queue::In), left]);
            }
            schedule.copy_out(block([row, rows], [col, cols], c));
            n_tiles += 1;
        }
    }
    Ok(Schedule { shape, ops: schedule.ops, elements: room.map(|size| 2 * size) })
}

/// Returns the side of the tiles of C and the depth of blocks: tiles as large as possible, for fewer copies.
fn tile(shape: Shape, bytes: usize) -> Result<(usize, usize), String> {
    /// Side of a tile of C over the depth of the blocks of A and B.
    const SIDE_TO_DEPTH: usize = 4;
    const MIN_SIDE: usize = 16;
    let needed = |side: usize| {
        let depth = (side / SIDE_TO_DEPTH).next_multiple_of(4).min(shape.k);
        let (m, n) = (side.min(shape.m), side.min(shape.n));
        let room = [m * depth, depth * n, m * n].map(|size| 2 * size.next_multiple_of(ALIGNED));
        (room.iter().sum::<usize>() * size_of::<f32>(), depth)
    };
    let largest = shape.m.max(shape.n).max(SIDE_TO_DEPTH * shape.k);
    let fits = |side: &usize| needed(*side).0 <= bytes;
    let large = (1..=largest.div_ceil(GRANULE)).rev().map(|n| n * GRANULE);
    let side = large.chain([64, 32, MIN_SIDE]).find(fits).ok_or_else(|| {
        let least = needed(MIN_SIDE).0;
        format!(
            "{bytes} bytes of device memory are too few: two blocks of each matrix, the least, take {least}"
        )
    })?;
    Ok((side, needed(side).1))
}
// ANCHOR_END: tiles

// ANCHOR: split
/// Schedules one way for two devices: each computes half of the rows of C, from the same rows of A and the whole of B.
/// `None` where C has one row.
pub fn split(shape: Shape, spread: Spread, way: impl Fn(Shape) -> Schedule) -> Option<[Schedule; 2]> {
    let halves = match parts(shape.m, 2).as_slice() {
        [first, second] => [*first, *second],
        _ if shape.m > 1 => [(0, shape.m / 2), (shape.m / 2, shape.m.div_ceil(2))],
        _ => return None,
    };
    Some([0, 1].map(|rank| {
        let (first, m) = halves[rank];
        let own = way(Shape { m, ..shape });
        let mut schedule = Builder::new(shape);
        for op in own.ops {
            let below = |block: Block| Block { row: first + block.row, ..block };
            match op.kind {
                OpKind::In(Operand::B, block) => schedule.spread(spread, rank, block),
                OpKind::In(Operand::A, block) => schedule.copy_in(Operand::A, below(block)),
                OpKind::Multiply { shape, at, adds } => {
                    schedule.multiply([shape.m, shape.n, shape.k], at, adds);
                }
                OpKind::Out(block) => schedule.copy_out(below(block)),
                OpKind::Exchange(_) => unreachable!("a way of one device"),
            }
        }
        Schedule { elements: own.elements, ..schedule.finish() }
    }))
}
// ANCHOR_END: split

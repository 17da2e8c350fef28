//! The race of v02 without one of its barriers: the possible orders of two warps, and their results.
//!
//! [`Race::order`] computes an order; `book/theme/explorers/rules.js` has the same rule. [`forced`] confirms it: the
//! emulated GPU runs the real kernel in that order, by a turn inserted into its PTX before each access to the tile of
//! B. Not here: races as the emulated GPU reports them.

#[cfg(test)]
mod tests;

use anyhow::Context as _;
use program::MemSpace;
use simt::gpu::{Argument, Geometry, Gpu};
use simt::{launch::LaunchOptions, trace::TraceSelection};

use crate::lanes::{Bar, Lanes};
use crate::machine;
use crate::svg::{Anchor, Drawing};

/// Edge of the tiles, which take two warps.
const EDGE: usize = 8;
const ROUNDS: usize = 2;
const DEPTH: usize = ROUNDS * EDGE;
/// Accesses of a warp to the tile of B in a round: it stores its rows, then loads one row after the other.
const ACCESSES: usize = 1 + EDGE;
const KERNEL: &str = "sgemm_v02_tile8";

/// The barriers that are kept, and the warp that runs ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Race {
    /// Whether to keep the barrier between stores and multiply-adds.
    pub(crate) first: bool,
    /// Whether to keep the barrier between multiply-adds and the next stores.
    pub(crate) second: bool,
    pub(crate) leader: usize,
    /// Maximum number of accesses by which it runs ahead.
    pub(crate) lead: usize,
}

impl Race {
    /// Returns all combinations that a page offers.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let flags = [(true, true), (true, false), (false, true), (false, false)];
        flags.into_iter().flat_map(|(first, second)| {
            (0..2).flat_map(move |leader| (1..=ACCESSES).map(move |lead| Self { first, second, leader, lead }))
        })
    }

    /// Returns the number of barriers that a warp has reached after `done` accesses, when it is ready for the next.
    fn reached(&self, done: usize) -> usize {
        let (round, inside) = (done / ACCESSES, done % ACCESSES);
        let first = usize::from(self.first) * (round + usize::from(inside > 0));
        first + usize::from(self.second) * round
    }

    /// Returns the warp of each access, in order.
    pub(crate) fn order(&self) -> Vec<usize> {
        let all = ROUNDS * ACCESSES;
        let mut done = [0; 2];
        let mut order = Vec::new();
        while done != [all; 2] {
            let (leader, other) = (self.leader, 1 - self.leader);
            // The next access is after the barriers that this warp has reached; the other warp must have reached them.
            let may = |warp: usize| done[warp] < all && self.reached(done[1 - warp]) >= self.reached(done[warp]);
            let goes =
                if may(leader) && done[leader] < done[other] + self.lead || !may(other) { leader } else { other };
            done[goes] += 1;
            order.push(goes);
        }
        order
    }
}

/// An access to the shared tile, in the order that was forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileAccess {
    pub(crate) warp: usize,
    pub(crate) round: usize,
    /// The row that is loaded; `None` for a store.
    pub(crate) row: Option<usize>,
    /// The row of B that was found there; `None` if nothing had been stored.
    pub(crate) found: Option<usize>,
}

impl TileAccess {
    /// Returns whether no load found another row than intended.
    pub(crate) fn found_own_row(&self) -> bool {
        self.row.is_none_or(|row| self.found == Some(self.round * EDGE + row))
    }
}

/// Simulates the tile of B for an order.
pub(crate) fn replay(order: &[usize]) -> Vec<TileAccess> {
    let mut tile = [None; EDGE];
    let mut done = [0; 2];
    let mut events = Vec::new();
    for &warp in order {
        let (round, inside) = (done[warp] / ACCESSES, done[warp] % ACCESSES);
        done[warp] += 1;
        let row = inside.checked_sub(1);
        if row.is_none() {
            let own = warp * EDGE / 2..(warp + 1) * EDGE / 2;
            for (place, row) in tile[own.clone()].iter_mut().zip(own) {
                *place = Some(round * EDGE + row);
            }
        }
        events.push(TileAccess { warp, round, row, found: row.and_then(|row| tile[row]) });
    }
    events
}

fn a(row: usize, _: usize) -> f32 {
    row as f32 + 1.0
}

fn b(row: usize, col: usize) -> f32 {
    (10 * row + col) as f32
}

/// Returns C computed from the rows that the loads found. A row without a store is 0 on the emulated GPU.
pub(crate) fn result(events: &[TileAccess]) -> Vec<f32> {
    let mut c = vec![0.0; EDGE * EDGE];
    for event in events {
        let Some(row) = event.row else { continue };
        for own in event.warp * EDGE / 2..(event.warp + 1) * EDGE / 2 {
            for col in 0..EDGE {
                let found = event.found.map_or(0.0, |found| b(found, col));
                c[own * EDGE + col] += a(own, event.round * EDGE + row) * found;
            }
        }
    }
    c
}

fn filled(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..rows * cols).map(|i| value(i / cols, i % cols)).collect()
}

/// Runs a PTX text on the emulated GPU; returns C, and the lines that access the tile of B.
fn run(ptx: &str, gpu: &Gpu) -> anyhow::Result<(Vec<f32>, Vec<u32>)> {
    let module = gpu.load(ptx)?;
    let kernel = module.kernel(KERNEL).context("the kernel")?;
    let a = gpu.upload(&filled(EDGE, DEPTH, a));
    let b = gpu.upload(&filled(DEPTH, EDGE, b));
    let c = gpu.upload(&vec![f32::NAN; EDGE * EDGE]);
    let mut arguments: Vec<Argument> = [EDGE, EDGE, DEPTH].map(|size| (size as i32).into()).to_vec();
    arguments.extend([a, b, c].map(Argument::from));
    let shape = Geometry::line(1, (EDGE * EDGE) as u32);
    let params = kernel.param_block(&arguments)?;
    let selection = TraceSelection { block: [0; 3], warp: Some(0), max_steps: 1 << 16 };
    let request = shape.request(params, LaunchOptions::default());
    let (report, steps) = gpu.trace(kernel, &request, selection)?;
    anyhow::ensure!(report.mistakes.codes().is_empty(), "it goes wrong");
    let tile = kernel.kernel().shared.iter().find(|array| array.name.contains("b_tile"));
    let tile = tile.context("no tile of B")?;
    let its = u64::from(tile.offset)..u64::from(tile.offset + tile.bytes);
    let mut lines = Vec::new();
    for (_, step) in steps {
        let access = step.access.filter(|access| access.space == MemSpace::Shared);
        let first = access.and_then(|access| access.addresses.into_iter().flatten().next());
        if first.is_some_and(|first| its.contains(&first)) {
            lines.push(report.instructions[step.instr as usize].ptx_line);
        }
    }
    anyhow::ensure!(lines.len() == ROUNDS * ACCESSES, "{} accesses", lines.len());
    Ok((gpu.read(c, EDGE * EDGE), lines))
}

fn ptx() -> anyhow::Result<String> {
    machine::read("book/exhibits/kernels/two_warps.ptx")
}

/// Runs the kernel on the emulated GPU in this order: both warps wait before each access to the tile of B until it is
/// their turn. The kernel's own barriers are removed; the order respects those that are kept.
pub(crate) fn forced(order: &[usize]) -> anyhow::Result<Vec<f32>> {
    const OVER: u32 = 2;
    let text = ptx()?;
    let (_, lines) = run(&text, &Gpu::with_memory(1 << 24))?;
    let gpu = Gpu::with_memory(1 << 24);
    let mut turns: Vec<u32> = order.iter().map(|warp| *warp as u32).collect();
    turns.push(OVER);
    let turns = gpu.upload(&turns);
    let turn = |label: usize, mine: &str| {
        format!(
            "TURN{label}:\nbar.sync 1;\nld.global.u32 %turn, [%turns];\nadd.s64 %turns, %turns, 4;\n\
             setp.ne.u32 %wait, %turn, {mine};\n@%wait bra TURN{label};\n"
        )
    };
    let mut forced = String::new();
    for (i, line) in text.lines().enumerate() {
        if lines.contains(&(i as u32 + 1)) {
            forced += &turn(i, "%mine");
        }
        // A warp that is done keeps waiting, so that the other one gets its turns.
        if line.contains("st.global") {
            forced += &turn(i, &OVER.to_string());
        }
        if !line.contains("bar.sync") {
            forced += line;
            forced += "\n";
        }
        if line.starts_with('{') {
            forced += ".reg .pred %wait;\n.reg .b32 %turn, %mine;\n.reg .b64 %turns;\n";
        }
        if line.contains("ld.param") && !line.contains("u64") && line.contains("param_0") {
            forced += &format!("mov.u64 %turns, {turns};\nmov.u32 %mine, %tid.x;\nshr.u32 %mine, %mine, 5;\n");
        }
    }
    Ok(run(&forced, &gpu)?.0)
}

/// Draws the order with both barriers, and one without the second, for pages without JavaScript and for print.
pub(crate) fn draw() -> anyhow::Result<String> {
    const LABELS: f64 = 62.0;
    let hurry = |second| Race { first: true, second, leader: 1, lead: ACCESSES };
    let mut drawing = Drawing::titled(
        "Two warps at the tile of B, in order",
        "Two time lines. S: the warp stores its four rows of the tile; a digit: it takes this row of it. With both \
         barriers, no warp stores before the other has taken all eight rows. Without the second, warp 1 stores rows of \
         the next round while warp 0 has not yet taken those of this one: the marked loads find wrong rows.",
    );
    let right = result(&replay(&hurry(true).order()));
    let mut y = 26.0;
    for (race, name) in [(hurry(true), "both barriers"), (hurry(false), "without the second barrier")] {
        let order = race.order();
        let events = replay(&order);
        anyhow::ensure!(forced(&order)? == result(&events), "the emulated GPU computes something else");
        drawing.text("strong", Anchor::Start, (0.0, y + 16.0), name);
        y += 25.0;
        let lanes = Lanes { left: LABELS, last: events.len() as f64, row: 22.0 };
        for warp in 0..2 {
            let bar = |(at, event): (usize, &TileAccess)| {
                let class = match (event.row, event.found_own_row()) {
                    (None, _) => "b",
                    (_, true) => "b2",
                    (_, false) => "bad",
                };
                Bar::of(class, [at, at + 1], event.row.map_or("S".to_owned(), |row| row.to_string()))
            };
            let own = events.iter().enumerate().filter(|(_, event)| event.warp == warp);
            y = lanes.lane(&mut drawing, y, format!("warp {warp}"), &own.map(bar).collect::<Vec<_>>());
        }
        let c = result(&events);
        let wrong = c.iter().zip(&right).filter(|(got, want)| got != want).count();
        let says = match wrong {
            0 => format!("C[0][0] = {}: right", c[0]),
            n => format!("C[0][0] = {}, not {}; {n} of {} are wrong", c[0], right[0], c.len()),
        };
        drawing.text(if wrong == 0 { "dim" } else { "ink-bad" }, Anchor::Start, (LABELS, y + 17.0), says);
        y += 32.0;
    }
    let legend = "S: stores four rows; a digit: takes this row of the tile";
    drawing.note(y + 6.0, legend);
    Ok(drawing.finish(y + 14.0))
}

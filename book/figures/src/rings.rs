//! Rings of tiles in v11 and v12: what producers and consumers do, in the order of their instructions on the emulated
//! GPU. The TMA takes no time there, so the pictures show order and who waits for whom, and no times.

#[cfg(test)]
mod tests;

use anyhow::{Context as _, ensure};
use catalog::Shape;
use program::tensor::{Element, Swizzle};

use crate::lanes::{Bar, Lanes};
use crate::machine::{self, Boxes, Launch, Operand, Trace};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Bytes of a row of a box in v12.
const ROW: u32 = 128;

/// Tiles of a kernel of v12, and how they are kept.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    kernel: &'static str,
    /// Rows and columns of C that a block owns.
    tile: [u32; 2],
    pub(crate) stages: u32,
    /// Blocks that share boxes of B.
    blocks: u32,
    /// Boxes of C in shared memory; 0 where accumulators are stored straight.
    boxes_of_c: u32,
}

pub(crate) const PAIR: Plan = Plan { kernel: "gemm_v12_multicast_f32", blocks: 2, ..RING };
pub(crate) const RING: Plan =
    Plan { kernel: "gemm_v12_ring_f32", tile: [128, 256], stages: 4, blocks: 1, boxes_of_c: 0 };
pub(crate) const STORE: Plan = Plan { kernel: "gemm_v12_store_f32", boxes_of_c: 4, ..PAIR };
const PING_PONG: Plan = Plan { kernel: "gemm_v12_ping_pong_f32", tile: [128, 128], stages: 6, ..STORE };

impl Plan {
    /// Returns the launch of one cluster on `tiles` tiles of C side by side for each of its blocks.
    pub(crate) fn launch(self, tiles: u32, steps: usize) -> Launch {
        let Plan { kernel, tile: [bm, bn], stages, blocks, boxes_of_c } = self;
        let [m, n, k] = [(bm * blocks) as usize, (bn * tiles) as usize, 64 * steps];
        let boxes = |matrix, of_box, element| Boxes { matrix, of_box, element, swizzle: Swizzle::B128 };
        let c = match boxes_of_c {
            0 => Operand::Array(4 * (m * n) as u64),
            _ => Operand::Map(boxes([m, n], [64, 32], Element::F32)),
        };
        let a = boxes([m, k], [bm, 64], Element::Bf16);
        let b = boxes([k, n], [64 / blocks, 64], Element::Bf16);
        Launch {
            kernel,
            grid: [blocks, 1],
            operands: machine::sizes(Shape { m, n, k })
                .chain([Operand::Float(1.0), Operand::Map(a), Operand::Map(b), c])
                .collect(),
            shared: stages * ((bm + bn) * ROW + 2 * 8) + boxes_of_c * 8192,
        }
    }
}

/// Instructions of the warps of the first block, in the order of execution: the warp, and a word for the instruction.
pub(crate) struct Work(Vec<(u32, &'static str)>);

fn word(text: &str) -> Option<&'static str> {
    let words = [
        ("mbarrier.try_wait", "wait"),
        ("mbarrier.arrive.expect_tx", "copy"),
        ("mbarrier.arrive", "release"),
        ("wgmma.commit_group", "multiply"),
        (".multicast::cluster", "multicast"),
        ("cp.async.bulk.tensor.2d.global", "store"),
        ("cp.async.bulk.tensor", "box"),
        ("bar.arrive", "give"),
        ("bar.sync", "meet"),
        ("st.global", "store"),
    ];
    words.into_iter().find(|(part, _)| text.contains(part)).map(|(_, word)| word)
}

impl Work {
    pub(crate) fn of(plan: Plan, tiles: u32, steps: usize) -> anyhow::Result<Self> {
        Ok(Self::named(&machine::run(&plan.launch(tiles, steps), Some(([0; 2], None)))?))
    }

    fn named(trace: &Trace) -> Self {
        let word = |step: usize| Some((trace.steps[step].0, word(trace.text(step))?));
        Self((0..trace.steps.len()).filter_map(word).collect())
    }

    /// Returns those words of a warp; a wait that does not pass is tried again, and counts once.
    pub(crate) fn words(&self, warp: u32, of: &[&str]) -> Vec<&'static str> {
        let own = self.0.iter().filter(|(other, word)| *other == warp && of.contains(word));
        let mut words: Vec<_> = own.map(|(_, word)| *word).collect();
        words.dedup_by(|next, before| *next == "wait" && *before == "wait");
        words
    }
}

/// Tile of C, depth and stages of the large kernels of v11.
const LARGE: [u32; 3] = [256, 128, 16];
const STAGES: usize = 4;

/// Returns the launch of a kernel of v11 with tensor maps; `after` are its last arguments.
pub(crate) fn large(kernel: &'static str, shape: Shape, blocks: u32, after: Vec<Operand>) -> Launch {
    let ([bm, bn, bk], Shape { m, n, k }) = (LARGE, shape);
    let boxes = |matrix, of_box, swizzle| Operand::Map(Boxes { matrix, of_box, element: Element::F32, swizzle });
    let maps = [boxes([m, k], [bm, bk], Swizzle::B64), boxes([k, n], [bk, bn], Swizzle::None)];
    let operands = machine::sizes(shape).chain([Operand::Float(1.0)]).chain(maps).chain(after).collect();
    Launch { kernel, grid: [blocks, 1], operands, shared: STAGES as u32 * ((bm + bn) * bk * 4 + 2 * 8) }
}

/// Draws two trips around the ring of v11: who waits for which phase of which barrier.
pub(crate) fn belt() -> anyhow::Result<String> {
    const TRIPS: usize = 2;
    const WARPS: u32 = 8;
    const KERNEL: &str = "sgemm_v11_producer";
    let [bm, bn, bk] = LARGE;
    let shape = Shape { m: bm as usize, n: bn as usize, k: bk as usize * STAGES * TRIPS };
    let c = Operand::Array(u64::from(4 * bm * bn));
    let trace = machine::run(&large(KERNEL, shape, 1, vec![c]), Some(([0; 2], None)))?;
    let work = Work::named(&trace);
    let steps = STAGES * TRIPS;
    ensure!(work.words(WARPS, &["copy"]).len() == steps, "{KERNEL} copies other steps");
    ensure!((0..WARPS).all(|warp| work.words(warp, &["release"]).len() == steps), "a warp of {KERNEL} releases others");
    let n_boxes = work.words(WARPS, &["box"]).len() / steps;
    let bytes = (bm + bn) * bk * 4;
    let mut drawing = Drawing::titled(
        "Two trips around the ring of v11_producer",
        "From top to bottom, for each of four stages: a wait for empty, a copy, a wait for full, multiply-adds, and again. \
         The parities of the second trip are the other ones.",
    );
    const LEFT: f64 = 96.0;
    let cell = (WIDTH - LEFT) / STAGES as f64;
    for stage in 0..STAGES {
        let x = LEFT + cell * (stage as f64 + 0.5);
        drawing.text("dim", Anchor::Middle, (x, 38.0), format!("stage {stage}"));
    }
    let mut y = 46.0;
    let parity = |phase: usize| if phase.is_multiple_of(2) { "even" } else { "odd" };
    let waits = |phase: Option<usize>| {
        phase.map_or_else(|| "−1, odd".to_owned(), |phase| format!("{phase}, {}", parity(phase)))
    };
    for trip in 0..TRIPS {
        let phases = |phase| [(); STAGES].map(|()| waits(phase));
        let steps: [String; STAGES] = std::array::from_fn(|stage| format!("step {}", trip * STAGES + stage));
        let rows = [
            ("wait: empty", "frame", phases(trip.checked_sub(1))),
            ("copy", "b", steps.clone()),
            ("wait: full", "frame", phases(Some(trip))),
            ("multiply", "a", steps),
        ];
        for (label, class, words) in rows {
            let (height, ink) = if class == "frame" { (20.0, "dim") } else { (26.0, "on") };
            drawing.note(y + height / 2.0 + 5.0, label);
            for (stage, words) in words.iter().enumerate() {
                let r = Rect::new(LEFT + cell * stage as f64 + 2.0, y, cell - 4.0, height);
                drawing.cell(class, r, ink, words);
            }
            y += height + 3.0;
        }
    }
    let note = format!(
        "At a wait: the phase that must have ended, and its parity. full: one arrival and the {bytes} bytes of {n_boxes} \
         boxes. empty: {WARPS} arrivals, one of each warp that multiplies."
    );
    Ok(drawing.finish_with_notes(y + 17.0, note))
}

/// Left edge of time lines.
const LINES: f64 = 76.0;

/// Draws the order in which the producer and two warpgroups of v12_ring work, and what its stages hold.
pub(crate) fn order() -> anyhow::Result<String> {
    const STEPS: usize = 6;
    /// The warps that are followed, with their labels and colours.
    const WHO: [(u32, &str, &str); 3] = [(8, "producer", "b"), (0, "group 0", "a"), (4, "group 1", "c")];
    let work = Work::of(RING, 1, STEPS)?;
    let position = |warp| WHO.iter().position(|who| who.0 == warp);
    let shown = |(warp, word): &(u32, &'static str)| {
        let who = position(*warp)?;
        matches!(*word, "copy" | "multiply" | "release").then_some((who, *word))
    };
    let events: Vec<_> = work.0.iter().filter_map(shown).collect();
    let mut drawing = Drawing::titled(
        "v12_ring: who does what, in which order",
        "Rows for the producer and two warpgroups, and below for four stages. The producer copies four steps ahead, and \
         again when both warpgroups have released a stage.",
    );
    let mut done = [[0; 2]; WHO.len()];
    let mut bars = WHO.map(|_| Vec::new());
    let mut held = [[0, 0]; STEPS];
    for (at, (who, word)) in events.iter().enumerate() {
        let n = &mut done[*who][usize::from(*word == "release")];
        let (step, middle) = (*n, at as f64 + 0.5);
        *n += 1;
        if *word == "release" {
            held[step][1] = at + 1;
            bars[*who].push(Bar::new("grey", middle - 0.15, middle + 0.15));
        } else {
            if *word == "copy" {
                held[step][0] = at;
            }
            bars[*who].push(Bar::of(WHO[*who].2, [at, at + 1], step));
        }
    }
    let lanes = Lanes { left: LINES, last: events.len() as f64, row: 22.0 };
    let mut y = 26.0;
    for ((_, label, _), bars) in WHO.iter().zip(&bars) {
        y = lanes.lane(&mut drawing, y, label, bars);
    }
    y += 14.0;
    let stages = RING.stages as usize;
    for stage in 0..stages {
        let class = |step: usize| if (step / stages).is_multiple_of(2) { "b2" } else { "d2" };
        let own = (stage..STEPS).step_by(stages);
        let bars: Vec<Bar> = own.map(|step| Bar::of(class(step), held[step], format!("step {step}"))).collect();
        y = lanes.lane(&mut drawing, y, format!("stage {stage}"), &bars);
    }
    const NOTE: &str = "Digits: steps. Grey: a warpgroup releases a stage. Below, a stage from its copy to the second \
        release; orange: phase 0 of its barriers, violet: phase 1. To the right: order, not time.";
    Ok(drawing.finish_with_notes(y + 14.0, NOTE))
}

/// Spans of a time line in which the warpgroups of a block multiply and store, and its end.
struct Turns {
    multiplied: [Vec<[usize; 2]>; 2],
    stored: [Vec<[usize; 2]>; 2],
    end: usize,
}

impl Turns {
    /// Places the products and boxes of C in the trace's order: one unit each, as soon as warpgroup and unit are free.
    fn of(plan: Plan, tiles: u32, steps: usize) -> anyhow::Result<Self> {
        let mut turns = Self { multiplied: Default::default(), stored: Default::default(), end: 0 };
        let (mut free, mut cores) = ([0; 2], 0);
        for (warp, word) in &Work::of(plan, tiles, steps)?.0 {
            let Some(group) = [0, 4].iter().position(|first| first == warp) else { continue };
            let (at, spans) = match *word {
                "multiply" => (cores.max(free[group]), &mut turns.multiplied[group]),
                "store" => (free[group], &mut turns.stored[group]),
                _ => continue,
            };
            free[group] = at + 1;
            cores = if *word == "multiply" { at + 1 } else { cores };
            match spans.last_mut() {
                Some(last) if last[1] == at => last[1] = at + 1,
                _ => spans.push([at, at + 1]),
            }
        }
        turns.end = free[0].max(free[1]);
        Ok(turns)
    }

    fn busy(&self) -> String {
        let units: usize = self.multiplied.iter().flatten().map(|span| span[1] - span[0]).sum();
        format!("{units} of {} units", self.end)
    }
}

/// Draws the turns of `ping_pong` beside the common tiles of `store`.
pub(crate) fn time_lines() -> anyhow::Result<String> {
    const STEPS: usize = 8;
    let runs = [
        ("store: one tile for both", Turns::of(STORE, 2, STEPS)?),
        ("ping_pong: a tile for each", Turns::of(PING_PONG, 4, STEPS)?),
    ];
    let mut drawing = Drawing::titled(
        "Two warpgroups and the tensor cores",
        format!(
            "Rows for two warpgroups and the tensor cores, which are busy for {} with one tile for both, and for {} with a \
             tile for each.",
            runs[0].1.busy(),
            runs[1].1.busy()
        ),
    );
    let last = runs.iter().map(|(_, turns)| turns.end).max().unwrap_or(1);
    let lanes = Lanes { left: LINES, last: last as f64, row: 20.0 };
    let bars = |class, spans: &[[usize; 2]]| spans.iter().map(|span| Bar::of(class, *span, "")).collect::<Vec<_>>();
    let mut y = 26.0;
    for (name, turns) in &runs {
        y = lanes.head(&mut drawing, y, name, format!("busy: {}", turns.busy()));
        let mut tensor = Vec::new();
        for (group, class) in ["a", "c"].into_iter().enumerate() {
            let mut own = bars(class, &turns.multiplied[group]);
            own.extend(bars("b2", &turns.stored[group]));
            y = lanes.lane(&mut drawing, y, format!("group {group}"), &own);
            tensor.extend(bars(class, &turns.multiplied[group]));
        }
        y = lanes.lane(&mut drawing, y, "tensor", &tensor) + 12.0;
    }
    let note = format!(
        "Four tiles of 128 × 128, or two of 128 × 256; {STEPS} steps. Pale: boxes of C are stored. The order is that of the \
         emulated GPU; a step and a box are drawn equally long."
    );
    Ok(drawing.finish_with_notes(y + 10.0, note))
}

/// Draws the copies of a step by a cluster of two blocks.
pub(crate) fn multicast() -> anyhow::Result<String> {
    const STEPS: usize = 4;
    const PRODUCER: u32 = 8;
    const KIB: u32 = 1024;
    let trace = machine::run(&PAIR.launch(1, STEPS), Some(([0; 2], None)))?;
    let work = Work::named(&trace);
    let n = |word| work.words(PRODUCER, &[word]).len() / STEPS;
    let (n_a, n_b) = (n("box"), n("multicast"));
    // Each of two warpgroups arrives by a lane for each block, and both blocks do so.
    let release = (0..trace.steps.len()).find(|step| word(trace.text(*step)) == Some("release"));
    let arrivals = 2 * trace.steps[release.context("nothing is released")?].1.lanes.count_ones();
    let [rows, columns] = PAIR.tile;
    let (a, b) = (rows * ROW / KIB, columns * ROW / KIB);
    let mut drawing = Drawing::titled(
        "One step of a cluster of two blocks",
        format!(
            "L2 gives each block {a} KiB of A, and half of the {b} KiB of B, which both receive. Warpgroups arrive at the \
             barriers empty of both."
        ),
    );
    // Who copies, what, and the KiB that arrive in either block.
    let half = |rank: u32| format!("B, k {}–{}", 32 * rank, 32 * rank + 31);
    let of_a = || format!("A, {rows} rows");
    let copies = [
        ("block 0", "a", of_a(), [a, 0]),
        ("block 0", "b", half(0), [b / 2, b / 2]),
        ("block 1", "b", half(1), [b / 2, b / 2]),
        ("block 1", "a", of_a(), [0, a]),
    ];
    let received = |rank: usize| copies.iter().map(|copy| copy.3[rank]).sum::<u32>();
    const COLUMNS: [f64; 4] = [0.0, 72.0, 216.0, 332.0];
    for (x, head) in COLUMNS.into_iter().zip(["copies", "what", "to block 0", "to block 1"]) {
        drawing.text("dim", Anchor::Start, (x, 40.0), head);
    }
    let place = |x: f64, line: usize| Rect::new(x, 48.0 + 28.0 * line as f64, 108.0, 25.0);
    for (line, (who, class, what, arrives)) in copies.iter().enumerate() {
        let y = place(0.0, line).middle().1 + 5.0;
        drawing.text("", Anchor::Start, (0.0, y), *who);
        drawing.cell(&format!("{class}2"), Rect { width: 120.0, ..place(COLUMNS[1], line) }, "", what);
        for (rank, kib) in arrives.iter().enumerate() {
            match kib {
                0 => drawing.rect("faint", place(COLUMNS[2 + rank], line)),
                kib => drawing.cell(class, place(COLUMNS[2 + rank], line), "on", format!("{kib} KiB")),
            }
        }
    }
    for (rank, x) in COLUMNS[2..].iter().enumerate() {
        drawing.cell("frame", place(*x, 4), "", format!("full: {} KiB", received(rank)));
        drawing.cell("frame", place(*x, 5), "", format!("empty: {arrivals}"));
    }
    let note = format!(
        "L2 gives {} KiB; to two blocks by themselves {}. A block starts {n_a} box of A and {n_b} of B. All warpgroups of \
         both blocks arrive at each empty.",
        2 * a + b,
        2 * (a + b)
    );
    Ok(drawing.finish_with_notes(place(0.0, 6).y + 17.0, note))
}

/// Consecutive steps of a block in one tile of C.
struct Piece {
    steps: usize,
    /// The tile that it stored, or `None` where another block adds its accumulators.
    tile: Option<usize>,
}

/// Returns what each block does, from the first warp of each.
fn pieces(kernel: &'static str, shape: Shape, blocks: u32, whole: Option<i32>) -> anyhow::Result<Vec<Vec<Piece>>> {
    let Shape { m, n, .. } = shape;
    let [bm, bn, _] = LARGE.map(|edge| edge as usize);
    (0..blocks)
        .map(|block| {
            let c = || Operand::Array(4 * (m * n) as u64);
            let after = match whole {
                None => vec![c()],
                Some(whole) => vec![Operand::Float(0.0), c(), Operand::Int(whole)],
            };
            let trace = machine::run(&large(kernel, shape, blocks, after), Some(([block, 0], Some(0))))?;
            let at = *trace.buffers.last().context("C")?;
            let mut found: Vec<Piece> = Vec::new();
            let mut steps = 0;
            for (i, (_, step)) in trace.steps.iter().enumerate() {
                match word(trace.text(i)) {
                    Some("release") => steps += 1,
                    Some("store") => {
                        if steps > 0 {
                            found.push(Piece { steps: std::mem::take(&mut steps), tile: None });
                        }
                        let reached =
                            step.access.as_ref().and_then(|access| access.addresses.into_iter().flatten().next());
                        let element = reached.context("a store without an address")?.wrapping_sub(at) as usize / 4;
                        // Other stores are of accumulators that are given, and of flags.
                        if let Some(piece) = found.last_mut().filter(|_| element < m * n) {
                            piece.tile = Some(element / n / bm * (n / bn) + element % n / bn);
                        }
                    }
                    _ => {}
                }
            }
            Ok(found)
        })
        .collect()
}

/// Draws nine tiles on four multiprocessors: in waves, and shared out by steps.
pub(crate) fn shares() -> anyhow::Result<String> {
    const BLOCKS: u32 = 4;
    const EDGE: usize = 3;
    const STEPS: usize = 12;
    let [bm, bn, bk] = LARGE.map(|edge| edge as usize);
    let shape = Shape { m: EDGE * bm, n: EDGE * bn, k: STEPS * bk };
    // As steps/v11 shares out: the last two waves.
    let whole = ((EDGE * EDGE) as i32 / BLOCKS as i32 - 1) * BLOCKS as i32;
    let runs = [
        ("producer: whole tiles, in waves", pieces("sgemm_v11_producer", shape, BLOCKS, None)?),
        ("stream_k: shares of steps", pieces("sgemm_v11_stream_k", shape, BLOCKS, Some(whole))?),
    ];
    let sum = |pieces: &[Piece]| pieces.iter().map(|piece| piece.steps).sum::<usize>();
    let end = |blocks: &[Vec<Piece>]| blocks.iter().map(|pieces| sum(pieces)).max().unwrap_or(0);
    let longest = runs.iter().map(|(_, blocks)| end(blocks)).max().unwrap_or(1);
    let mut drawing = Drawing::titled(
        format!("{} tiles of {STEPS} steps, {BLOCKS} blocks", EDGE * EDGE),
        format!(
            "Rows for four blocks. Whole tiles take {} steps, and in the last wave one block works; by shares all end after \
             {}.",
            end(&runs[0].1),
            end(&runs[1].1)
        ),
    );
    let lanes = Lanes { left: 64.0, last: longest as f64, row: 25.0 };
    let mut y = 26.0;
    for (name, blocks) in &runs {
        y = lanes.head(&mut drawing, y, name, format!("{} steps", end(blocks)));
        for (block, pieces) in blocks.iter().enumerate() {
            let mut at = 0;
            let mut bars = Vec::new();
            for Piece { steps, tile } in pieces {
                // The next block has the end of a tile that is given.
                let end = || blocks.get(block + 1)?.iter().find(|other| other.steps + steps == STEPS)?.tile;
                let of = tile.or_else(end).with_context(|| format!("nobody stores what block {block} gives"))?;
                let class = match tile {
                    None => "d2",
                    Some(_) if *steps == STEPS => "a2",
                    Some(_) => "b2",
                };
                bars.push(Bar::of(class, [at, at + steps], of));
                at += steps;
            }
            y = lanes.lane(&mut drawing, y, format!("block {block}"), &bars);
        }
        y += 12.0;
    }
    const NOTE: &str = "Digits: tiles of C. Violet: the accumulators go to the next block, which adds them to its part, in \
        orange. Steps are drawn equally long; stores take no time.";
    Ok(drawing.finish_with_notes(y + 8.0, NOTE))
}

//! Pictures of the 32 banks: the lanes that each wavefront of one access serves.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use catalog::Shape;
use simt::memory::rules::{self, Addresses, Direction};

use crate::machine::{self, FIRST, Reached, WarpPosition};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

const BANKS: usize = 32;
const WORD: u64 = 4;
/// Banks in one strip; two strips below each other are as wide as a phone can show with a number in each cell.
const HALF: usize = 16;
const CELL: f64 = WIDTH / HALF as f64;
const ROW: f64 = 20.0;

/// One access to shared memory, by byte offsets from the start of its array.
#[derive(Debug, Clone)]
struct SharedAccess {
    addresses: Addresses,
    bytes: u32,
    direction: Direction,
}

impl SharedAccess {
    fn new(reached: &Reached<'_>) -> Self {
        Self { addresses: reached.addresses(), bytes: reached.access.bytes, direction: reached.access.direction }
    }

    fn with_rows(&self, from: u64, to: u64) -> Self {
        let moved = |offset: u64| offset / from * to + offset % from;
        Self { addresses: self.addresses.map(|address| address.map(moved)), ..*self }
    }

    fn cost(&self) -> rules::SharedCost {
        rules::shared_cost(&self.addresses, self.bytes, self.direction)
    }

    /// Returns the lanes that each bank serves in each wavefront, by the word of the lowest lane (not documented).
    fn wavefronts(&self) -> Vec<BTreeMap<usize, Vec<usize>>> {
        let together = rules::lanes_together(&self.addresses, self.bytes, self.direction);
        let mut all = Vec::new();
        for first in (0..32).step_by(together) {
            let mut banks: BTreeMap<usize, Vec<(u64, Vec<usize>)>> = BTreeMap::new();
            for lane in first..first + together {
                let Some(address) = self.addresses[lane] else { continue };
                for word in address / WORD..(address + u64::from(self.bytes)).div_ceil(WORD) {
                    let words = banks.entry((word % BANKS as u64) as usize).or_default();
                    match words.iter_mut().find(|(known, _)| *known == word) {
                        Some((_, lanes)) => lanes.push(lane),
                        None => words.push((word, vec![lane])),
                    }
                }
            }
            let n = banks.values().map(Vec::len).max().unwrap_or(0);
            let nth = |i: usize| {
                let served = |(bank, words): (&usize, &Vec<(u64, Vec<usize>)>)| {
                    words.get(i).map(|(_, lanes)| (*bank, lanes.clone()))
                };
                banks.iter().filter_map(served).collect()
            };
            all.extend((0..n).map(nth));
        }
        all
    }
}

/// Formats lanes as `0–15`, `3` or `0, 16`.
fn lanes(lanes: &[usize]) -> String {
    match lanes {
        [one] => one.to_string(),
        [one, two] => format!("{one},{two}"),
        [first, .., last] if last - first + 1 == lanes.len() => format!("{first}–{last}"),
        _ => format!("{} lanes", lanes.len()),
    }
}

/// Draws one access as strips of banks, one row per wavefront; returns the lower edge.
fn strips(drawing: &mut Drawing, top: f64, access: &SharedAccess, (light, ink): (&str, &str)) -> f64 {
    let wavefronts = access.wavefronts();
    let mut y = top;
    for first in [0, HALF] {
        for bank in [0, 5, 10, 15] {
            let number = first + bank;
            let (anchor, x, label) = match bank {
                0 => (Anchor::Start, 0.0, format!("bank {number}")),
                15 => (Anchor::End, WIDTH - 2.0, number.to_string()),
                _ => (Anchor::Middle, CELL * (bank as f64 + 0.5), number.to_string()),
            };
            drawing.text("dim", anchor, (x, y + 12.0), label);
        }
        y += 17.0;
        let strip = Rect::new(0.0, y, WIDTH, ROW * wavefronts.len() as f64);
        drawing.rect("faint", strip);
        for (i, served) in wavefronts.iter().enumerate() {
            let y = y + ROW * i as f64;
            for (start, n, served_lanes) in spans(served, first) {
                let cell = Rect::new(CELL * (start - first) as f64, y, CELL * n as f64, ROW).inset(0.75);
                let label = match n {
                    1 => served_lanes[0].to_string(),
                    _ => lanes(&served_lanes),
                };
                drawing.cell(light, cell, ink, label);
            }
        }
        let lines = (1..HALF).map(|i| CELL * i as f64);
        let grid: Vec<Rect> = lines.map(|x| Rect::new(x - 0.25, y, 0.5, strip.height)).collect();
        drawing.rects("paper", grid);
        drawing.rect("frame", strip);
        y = strip.bottom() + 4.0;
    }
    y
}

/// Merges neighbouring banks that serve the same lanes.
fn spans(served: &BTreeMap<usize, Vec<usize>>, first: usize) -> Vec<(usize, usize, Vec<usize>)> {
    let banks: Vec<(&usize, &Vec<usize>)> = served.range(first..first + HALF).collect();
    let spans = banks.chunk_by(|(left, lanes), (right, others)| *left + 1 == **right && lanes == others);
    spans.map(|span| (*span[0].0, span.len(), span[0].1.clone())).collect()
}

/// Describes which lanes share words, which the numbers in the cells do not show.
fn sharing(access: &SharedAccess) -> Option<String> {
    let mut distances = BTreeSet::new();
    for lanes in access.wavefronts().iter().flat_map(BTreeMap::values) {
        let [first, second] = lanes[..] else { return None };
        distances.insert(second - first);
    }
    let distance = distances.first().filter(|_| distances.len() == 1 && access.bytes <= 4)?;
    Some(format!("Lane i + {distance} reads the word of lane i with it."))
}

/// An access with its heading and its code.
type ComparedAccess<'a> = (&'a str, &'a str, SharedAccess);

fn compare(title: &str, description: &str, cases: &[ComparedAccess<'_>]) -> String {
    let mut drawing = Drawing::titled(title, description);
    drawing.note(33.0, "32 banks, one row per wavefront. In the cells: lanes.");
    let mut y = 46.0;
    for (heading, code, access) in cases {
        let cost = access.cost();
        let excess = cost.wavefronts - cost.ideal;
        let colours = if excess > 0 { ("bad2", "") } else { ("a2", "") };
        y += 16.0;
        drawing.text("strong", Anchor::Start, (0.0, y), *heading);
        let count = match (cost.wavefronts, excess) {
            (1, _) => "1 wavefront".to_owned(),
            (n, 0) => format!("{n} wavefronts, none too many"),
            (n, excess) => format!("{n} wavefronts, {excess} too many"),
        };
        let ink = if excess > 0 { "strong ink-bad" } else { "strong ink-c" };
        drawing.text(ink, Anchor::End, (WIDTH, y), count);
        y += 19.0;
        drawing.note(y, *code);
        y = strips(&mut drawing, y + 6.0, access, colours);
        if let Some(note) = sharing(access) {
            drawing.note(y + 14.0, note);
            y += 20.0;
        }
        y += 12.0;
    }
    drawing.finish(y)
}

/// A small GEMM that consists of whole tiles.
const SHAPE: Shape = Shape { m: 128, n: 128, k: 8 };

fn load_of_b(kernel: &'static str, bytes: u32) -> anyhow::Result<SharedAccess> {
    let trace = machine::product(kernel, SHAPE, FIRST)?;
    let loads = trace.shared("b_tile");
    let load = loads.iter().find(|r| r.access.direction.is_load() && r.access.bytes == bytes);
    let load = load.with_context(|| format!("{kernel} has no load of {bytes} bytes from b_tile"))?;
    Ok(SharedAccess::new(load))
}

/// Draws how v04 and v05 read a row of b_tile.
pub(crate) fn loads_of_b() -> anyhow::Result<String> {
    Ok(compare(
        "A load of b_tile, before and after",
        "Two accesses of one warp to shared memory. In v04 a thread owns eight columns in a row: the compiler makes \
         16-byte loads of them, but the lanes of a quarter-warp start 32 bytes apart and use half of the banks twice. \
         In v05 the lanes read neighbouring words, each in a bank of its own.",
        &[
            ("v04: 8 columns in a row", "16 bytes per lane, 32 bytes apart", load_of_b("sgemm_v04_float4", 16)?),
            ("v05: every 16th column", "4 bytes per lane, side by side", load_of_b("sgemm_v05_bank_conflict_free", 4)?),
        ],
    ))
}

/// Draws how v05 stores a_tile, and the purpose of its padding.
pub(crate) fn stores_of_a() -> anyhow::Result<String> {
    const KERNEL: &str = "sgemm_v05_bank_conflict_free";
    const CODE: &str = "a_tile[a_col][a_row] = a.x";
    let trace = machine::product(KERNEL, SHAPE, FIRST)?;
    let padded = SharedAccess::new(&trace.first_shared("a_tile", Direction::Store)?);
    let (rows, pad) = (machine::constant(KERNEL, "BM")?, machine::constant(KERNEL, "PAD")?);
    let bytes = |floats: u32| u64::from(floats) * WORD;
    let plain = padded.with_rows(bytes(rows + pad), bytes(rows));
    Ok(compare(
        "A store to a_tile, without and with padding",
        "One store of one warp to the transposed tile of A. Without padding two lanes meet in each of 16 banks; with \
         four floats of padding after each row, all 32 lanes have a bank of their own.",
        &[
            (&format!("rows of {rows} floats"), CODE, plain),
            (&format!("v05: rows of {rows} + {pad} floats"), CODE, padded),
        ],
    ))
}

/// Draws how v05 and v06 load a fragment of B.
pub(crate) fn fragments_of_b() -> anyhow::Result<String> {
    Ok(compare(
        "Eight floats of b_tile per thread and k",
        "Two accesses of one warp to shared memory. v05 fetches one float per lane and needs eight such loads for the \
         eight columns of a thread; v06 fetches four floats per lane and needs two loads. Neither has a wavefront too \
         many; what v06 saves is instructions.",
        &[
            ("v05: 8 loads", "4 bytes per lane", load_of_b("sgemm_v05_bank_conflict_free", 4)?),
            ("v06: 2 loads", "16 bytes per lane", load_of_b("sgemm_v06_outer_product", 16)?),
        ],
    ))
}

pub(crate) fn columns() -> anyhow::Result<String> {
    /// Not the first warp, so that its column is not at the edge.
    const WARP: WarpPosition = WarpPosition { block: [0, 0], warp: 5 };
    const DOT: f64 = 4.0;
    let kernels = [("transpose_tile", "tile"), ("transpose_padded", "padded"), ("transpose_swizzled", "swizzled")];
    let mut drawing = Drawing::titled(
        "One warp reads column 5 of the tile",
        "Three squares of 32 banks across and rows of shared memory down. Marked are the 32 words that one warp reads \
         when it reads a column of the tile: a vertical line, all in one bank, for the plain tile; a diagonal for the \
         padded one; scattered, one in each bank, for the swizzled one.",
    );
    let edge = DOT * BANKS as f64;
    let gap = (WIDTH - 3.0 * edge) / 2.0;
    let top = 66.0;
    for (i, (kernel, name)) in kernels.into_iter().enumerate() {
        let trace = machine::transpose(kernel, 64, WARP)?;
        let access = SharedAccess::new(&trace.first_shared("tile", Direction::Load)?);
        let cost = access.cost();
        let x = (edge + gap) * i as f64;
        drawing.text("strong", Anchor::Start, (x, 38.0), name);
        drawing.text("dim", Anchor::Start, (x, top - 6.0), "bank 0");
        drawing.text("dim", Anchor::End, (x + edge, top - 6.0), "31");
        let words: Vec<usize> = access.addresses.iter().flatten().map(|a| (a / WORD) as usize).collect();
        let n_rows = 33.0;
        let frame = Rect::new(x, top, edge, DOT * n_rows);
        drawing.rect("faint", frame);
        let full = if cost.wavefronts > cost.ideal { "bad" } else { "a" };
        drawing.rects(full, words.iter().map(|word| frame.cell(DOT, (word / BANKS, word % BANKS))));
        drawing.rect("frame", frame);
        let ink = if cost.wavefronts > cost.ideal { "strong ink-bad" } else { "strong ink-c" };
        let plural = if cost.wavefronts == 1 { "" } else { "s" };
        let count = format!("{} wavefront{plural}", cost.wavefronts);
        drawing.text(ink, Anchor::Start, (x, frame.bottom() + 20.0), count);
    }
    let y = top + DOT * 33.0 + 44.0;
    drawing.note(y, "Across: the bank. Down: shared memory, 32 words a row.");
    Ok(drawing.finish(y + 8.0))
}

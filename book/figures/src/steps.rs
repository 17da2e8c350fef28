//! Data of the warp stepper: the trace of one warp of a real kernel, instruction by instruction.
//!
//! `book/theme/explorers/steps.js` contains it, packed: each pattern of lanes is written once, and consecutive
//! instructions of one line that access no memory are one step. Costs are not included; the page computes them by
//! `rules.js`. Not here: how a page shows it.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use catalog::Shape;
use serde_json::{Value, json};
use simt::memory::rules::{self, Addresses};
use simt::program::MemSpace;

use crate::machine::{self, FIRST, Trace};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// A kernel that a page replays step by step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// Name that a page selects it by.
    pub(crate) key: &'static str,
    label: &'static str,
    kernel: &'static str,
    shape: Shape,
    /// Rows and columns of its tiles, padding included.
    tiles: &'static [(&'static str, [u32; 2])],
}

const fn subject(
    key: &'static str,
    label: &'static str,
    kernel: &'static str,
    [m, n, k]: [usize; 3],
    tiles: &'static [(&'static str, [u32; 2])],
) -> Subject {
    Subject { key, label, kernel, shape: Shape { m, n, k }, tiles }
}

const V02_TILES: [(&str, [u32; 2]); 2] = [("a_tile", [32, 32]), ("b_tile", [32, 32])];
const V05_TILES: [(&str, [u32; 2]); 2] = [("a_tile", [8, 132]), ("b_tile", [8, 128])];

/// Kernels of one chapter are next to each other.
pub(crate) const SUBJECTS: [Subject; 7] = [
    subject("v01", "row_per_lane, 32 × 32, K = 16", "sgemm_v01_row_per_lane", [32, 32, 16], &[]),
    subject("v01", "col_per_lane, 32 × 32, K = 16", "sgemm_v01_col_per_lane", [32, 32, 16], &[]),
    subject("v01", "row_per_lane, 28 × 28, K = 13", "sgemm_v01_row_per_lane", [28, 28, 13], &[]),
    subject("v01", "col_per_lane, 28 × 28, K = 13", "sgemm_v01_col_per_lane", [28, 28, 13], &[]),
    subject("v02", "tile32, 32 × 32, K = 64", "sgemm_v02_tile32", [32, 32, 64], &V02_TILES),
    subject("v02", "tile32, 28 × 28, K = 40", "sgemm_v02_tile32", [28, 28, 40], &V02_TILES),
    subject("v05", "128 × 128, K = 8", "sgemm_v05_bank_conflict_free", [128, 128, 8], &V05_TILES),
];

const FLOAT: u64 = 4;

/// The elements of one array that a warp accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reach {
    /// Index of the array: 0, 1, 2 for A, B, C; then the tiles.
    array: usize,
    load: bool,
    width: u64,
    elements: [Option<u64>; 32],
}

impl Reach {
    fn bytes(&self) -> u32 {
        (self.width * FLOAT) as u32
    }

    fn addresses(&self) -> Addresses {
        self.elements.map(|element| Some(element? * FLOAT))
    }

    /// Returns the sectors of an access to global memory, or the wavefronts of one to shared memory.
    fn cost(&self) -> u32 {
        self.costs()[0]
    }

    /// Returns [`Self::cost`], and the wavefronts beyond the minimum of the access.
    fn costs(&self) -> [u32; 2] {
        let addresses = self.addresses();
        if self.array < 3 {
            return [rules::sectors(&addresses, self.bytes()), 0];
        }
        let cost = rules::shared_cost(&addresses, self.bytes(), self.load);
        [cost.wavefronts, cost.wavefronts - cost.ideal]
    }
}

/// A step of the page: one access, one barrier, or consecutive instructions of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PageStep {
    line: u32,
    text: String,
    instructions: u32,
    fmas: u32,
    lanes: u32,
    barrier: bool,
    reach: Option<Reach>,
}

/// The steps of one warp of a subject.
pub(crate) struct Followed {
    subject: Subject,
    steps: Vec<PageStep>,
}

fn reach(trace: &Trace, subject: &Subject, step: usize) -> anyhow::Result<Option<Reach>> {
    let Some(access) = &trace.steps[step].access else { return Ok(None) };
    let first = access.addresses.iter().flatten().min().context("an access of no lane")?;
    let (array, base) = match access.space {
        MemSpace::Global => {
            let below = trace.buffers.iter().enumerate().filter(|(_, base)| **base <= *first);
            let (array, base) = below.max_by_key(|(_, base)| **base).context("no buffer there")?;
            (array, *base)
        }
        MemSpace::Shared => {
            let arrays = &trace.kernel().shared;
            let at = |offset: u32, bytes: u32| (u64::from(offset)..u64::from(offset + bytes)).contains(first);
            let array = arrays.iter().find(|a| at(a.offset, a.bytes)).context("no tile there")?;
            let tile = subject.tiles.iter().position(|(name, _)| array.name.contains(name));
            let tile = tile.with_context(|| format!("{} is no tile", array.name))?;
            let [rows, cols] = subject.tiles[tile].1;
            anyhow::ensure!(array.bytes == rows * cols * 4, "{} has {} bytes", array.name, array.bytes);
            (3 + tile, u64::from(array.offset))
        }
        MemSpace::Param => return Ok(None),
        other => bail!("{other:?} is nothing that the page shows"),
    };
    Ok(Some(Reach {
        array,
        load: access.load,
        width: u64::from(access.bytes) / FLOAT,
        elements: access.addresses.map(|address| address.map(|a| (a - base) / FLOAT)),
    }))
}

/// Returns the line in the kernel's own file; for a function of a header, the line of its call.
fn line(trace: &Trace, step: usize) -> Option<u32> {
    let instr = &trace.kernel().instrs[trace.steps[step].instr as usize];
    let own = 1;
    let mut places = instr.source.iter().chain(&instr.calls);
    let place = places.find(|place| place.file == own && place.line > 0);
    place.map(|place| place.line)
}

impl Followed {
    pub(crate) fn new(subject: Subject) -> anyhow::Result<Self> {
        let trace = machine::product(subject.kernel, subject.shape, FIRST)?;
        let mut steps: Vec<PageStep> = Vec::new();
        for (i, did) in trace.steps.iter().enumerate() {
            if !did.first {
                continue;
            }
            let instr = &trace.kernel().instrs[did.instr as usize];
            // Instructions without a line prepare the next one that has a line.
            let mut from_here = (i..trace.steps.len()).filter_map(|i| line(&trace, i));
            let step = PageStep {
                line: from_here.next().context("the last instruction has no line")?,
                text: instr.text.trim_end_matches(';').to_owned(),
                instructions: 1,
                fmas: u32::from(instr.fmas),
                lanes: did.lanes,
                barrier: instr.mnemonic().starts_with("bar"),
                reach: reach(&trace, &subject, i)?,
            };
            match steps.last_mut() {
                Some(last)
                    if last.line == step.line
                        && last.lanes == step.lanes
                        && !(last.barrier || step.barrier)
                        && last.reach.is_none()
                        && step.reach.is_none()
                        && (last.fmas == 0) == (step.fmas == 0) =>
                {
                    last.instructions += 1;
                    last.fmas += step.fmas;
                }
                _ => steps.push(step),
            }
        }
        Ok(Self { subject, steps })
    }

    /// Returns the names, rows and columns of arrays, in the order of [`Reach::array`].
    fn arrays(&self) -> Vec<(&'static str, [u32; 2])> {
        let Shape { m, n, k } = self.subject.shape;
        let [m, n, k] = [m, n, k].map(|size| size as u32);
        let mut arrays = vec![("A", [m, k]), ("B", [k, n]), ("C", [m, n])];
        arrays.extend(self.subject.tiles);
        arrays
    }

    /// Returns the kernel's text with line numbers, without marker lines for starters and includes.
    fn source(&self) -> anyhow::Result<(String, Vec<(u32, String)>)> {
        const MARKS: [&str; 3] = ["// ANCHOR", "// SOLUTION", "// STARTER"];
        let name = format!("kernels/{}.cu", machine::source_of(self.subject.kernel)?);
        let text = machine::read(&name)?;
        let lines = text.lines().zip(1u32..).skip_while(|(line, _)| *line != "// ANCHOR: kernel").skip(1);
        let mut shown = Vec::new();
        for (line, number) in lines {
            if !MARKS.iter().any(|mark| line.trim_start().starts_with(mark)) {
                shown.push((number, line.to_owned()));
            }
            if line == "}" {
                return Ok((name, shown));
            }
        }
        bail!("{name} has no end of its kernel")
    }

    fn pack(&self) -> anyhow::Result<Value> {
        let (file, source) = self.source()?;
        let (first, last) = (source[0].0, source[source.len() - 1].0);
        let mut texts = Index::default();
        let mut masks = Index::default();
        let mut patterns = Index::default();
        let mut steps = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            // Entry and return are in the wrapper around the body.
            let line = match step.line {
                line if (first..=last).contains(&line) => line,
                _ if i < self.steps.len() / 2 => first,
                _ => last,
            };
            let mut entry =
                vec![json!(line), json!(texts.index_of(json!(step.text))), json!(masks.index_of(json!(step.lanes)))];
            match &step.reach {
                Some(reach) => {
                    let elements: Vec<u64> = reach.elements.iter().flatten().copied().collect();
                    let mut runs: Vec<[i64; 2]> = Vec::new();
                    for pair in elements.windows(2) {
                        let delta = pair[1] as i64 - pair[0] as i64;
                        match runs.last_mut() {
                            Some([same, n]) if *same == delta => *n += 1,
                            _ => runs.push([delta, 1]),
                        }
                    }
                    let pattern = patterns.index_of(json!(runs.concat()));
                    let [array, width] = [reach.array as u64, reach.width];
                    entry.extend([array, u64::from(reach.load), width, elements[0], pattern].map(|n| json!(n)));
                }
                None if step.barrier => {}
                None => entry.extend([json!(step.instructions), json!(step.fmas)]),
            }
            steps.push(Value::Array(entry));
        }
        let Shape { m, n, k } = self.subject.shape;
        let arrays: Vec<Value> = self.arrays().iter().map(|(name, [rows, cols])| json!([name, rows, cols])).collect();
        Ok(json!({
            "of": self.subject.key,
            "label": self.subject.label,
            "file": file,
            "shape": [m, n, k],
            "arrays": arrays,
            "source": source,
            "texts": texts.all,
            "masks": masks.all,
            "patterns": patterns.all,
            "steps": steps,
        }))
    }
}

/// Returns the trace that a page must unpack, and its totals: `[requests, sectors, requests to tiles, wavefronts,
/// excess wavefronts, multiply-adds, sum of all elements]`.
pub(crate) fn counted(subject: Subject) -> anyhow::Result<(Value, Value)> {
    let followed = Followed::new(subject)?;
    let mut packed = followed.pack()?;
    for unused in ["source", "texts"] {
        packed[unused] = json!([]);
    }
    let mut sums = [0; 7];
    for step in &followed.steps {
        let lanes = u64::from(step.lanes.count_ones());
        sums[5] += u64::from(step.fmas) * lanes;
        let Some(reach) = &step.reach else { continue };
        let at = if reach.array < 3 { 0 } else { 2 };
        sums[at] += 1;
        let [cost, excess] = reach.costs();
        sums[at + 1] += u64::from(cost);
        sums[4] += u64::from(excess);
        sums[6] += reach.elements.iter().flatten().sum::<u64>();
    }
    Ok((packed, json!(sums)))
}

/// A list that stores each value once.
#[derive(Default)]
struct Index {
    all: Vec<Value>,
    known: BTreeMap<String, u64>,
}

impl Index {
    fn index_of(&mut self, value: Value) -> u64 {
        *self.known.entry(value.to_string()).or_insert_with(|| {
            self.all.push(value);
            self.all.len() as u64 - 1
        })
    }
}

/// Returns the text of `steps.js`.
///
/// # Errors
/// Returns an error if a kernel's files cannot be read, or a kernel does something that a page cannot show.
pub fn steps_js() -> anyhow::Result<String> {
    let mut text =
        "// made by: cargo run -p figures -- explorers; what one warp of each kernel did on the emulated GPU\n\
         window.TileSteps = [\n"
            .to_owned();
    for subject in SUBJECTS {
        let followed = Followed::new(subject).with_context(|| subject.label)?;
        text.push_str(&followed.pack().with_context(|| subject.label)?.to_string());
        text.push_str(",\n");
    }
    text.push_str("];\n");
    Ok(text)
}

/// Draws all steps of a warp in one picture, for pages without JavaScript and for print.
pub(crate) fn overview(key: &str) -> anyhow::Result<String> {
    const LABELS: f64 = 104.0;
    const ROW: f64 = 21.0;
    // The first subject of each kernel, which has whole tiles.
    let mut wanted: Vec<Subject> = Vec::new();
    for subject in SUBJECTS.into_iter().filter(|subject| subject.key == key) {
        if wanted.iter().all(|known| known.kernel != subject.kernel) {
            wanted.push(subject);
        }
    }
    let title = "All steps of one warp, in program order";
    let followed: Vec<Followed> = wanted.into_iter().map(Followed::new).collect::<anyhow::Result<_>>()?;
    let mut drawing = Drawing::new(
        title,
        "Rows for the loads and stores of each array and for multiply-adds; a mark where the warp does one. Beside each \
         row what it costs in sum: sectors in global memory, wavefronts in shared memory.",
    ).with_heading();
    let mut y = 28.0;
    for one in &followed {
        drawing.text("strong", Anchor::Start, (0.0, y + 14.0), one.subject.label);
        y += 22.0;
        let width = WIDTH - LABELS - 118.0;
        let n = one.steps.len() as f64;
        let arrays = one.arrays();
        let mut rows: Vec<(String, &str, Vec<usize>, String)> = Vec::new();
        for (array, (name, _)) in arrays.iter().enumerate() {
            for load in [false, true] {
                let is_own = |step: &PageStep| step.reach.as_ref().is_some_and(|r| r.array == array && r.load == load);
                let at: Vec<usize> = (0..one.steps.len()).filter(|i| is_own(&one.steps[*i])).collect();
                if at.is_empty() {
                    continue;
                }
                let cost: u32 = at.iter().filter_map(|i| one.steps[*i].reach.as_ref()).map(Reach::cost).sum();
                let unit = if array < 3 { "sector" } else { "wavefront" };
                let plural = if cost == 1 { "" } else { "s" };
                let verb = if load { "load" } else { "store" };
                let class = ["a", "b", "c", "a", "b"][array];
                rows.push((format!("{verb} {name}"), class, at, format!("{cost} {unit}{plural}")));
            }
        }
        let fmas: Vec<usize> = (0..one.steps.len()).filter(|i| one.steps[*i].fmas > 0).collect();
        let sum: u32 = fmas.iter().map(|i| one.steps[*i].fmas).sum();
        rows.push(("multiply-add".to_owned(), "grey", fmas, format!("{sum} for a lane")));
        // Sorted by the warp's first visit.
        rows.sort_by_key(|(_, _, at, _)| at[0]);
        let top = y;
        for (label, class, at, cost) in rows {
            drawing.text("", Anchor::Start, (0.0, y + 14.0), label);
            drawing.rect("faint", Rect::new(LABELS, y + 2.0, width, ROW - 4.0));
            let each = (width / n).max(1.0);
            let mark = |i: usize| Rect::new(LABELS + width * i as f64 / n, y + 2.0, each, ROW - 4.0);
            drawing.rects(class, at.into_iter().map(mark));
            drawing.text("dim", Anchor::End, (WIDTH, y + 14.0), cost);
            y += ROW;
        }
        for (i, _) in one.steps.iter().enumerate().filter(|(_, step)| step.barrier) {
            let x = LABELS + width * (i as f64 + 0.5) / n;
            drawing.line("dash", (x, top), (x, y));
        }
        y += 12.0;
    }
    let text = if followed.iter().any(|one| one.steps.iter().any(|step| step.barrier)) {
        "Dashed: barriers. To the right: order, not time."
    } else {
        "To the right: order, not time."
    };
    drawing.note(y + 6.0, text);
    Ok(drawing.finish(y + 14.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals over one warp equal the counters of the launch where all warps do the same work.
    #[test]
    fn steps_add_up_to_the_counters_of_the_launch() -> anyhow::Result<()> {
        for subject in SUBJECTS {
            let followed = Followed::new(subject)?;
            let counted = machine::counters(subject.kernel, subject.shape)?;
            let cost = |shared: bool, load: bool| -> u64 {
                let reached = followed.steps.iter().filter_map(|step| step.reach.as_ref());
                let is_own = reached.filter(|r| (r.array > 2) == shared && r.load == load);
                is_own.map(|r| u64::from(r.cost())).sum()
            };
            let fmas: u64 = followed.steps.iter().map(|step| u64::from(step.fmas * step.lanes.count_ones())).sum();
            let sums = [
                (cost(false, true), counted.global_load_sectors),
                (cost(false, false), counted.global_store_sectors),
                (cost(true, true), counted.shared_load_wavefronts),
                (cost(true, false), counted.shared_store_wavefronts),
                (fmas, counted.fmas),
            ];
            // Blocks at an edge have warps without work.
            let whole = subject.shape.m.is_multiple_of(32);
            let [m, n] = machine::tile(subject.kernel)?;
            let warps = if subject.key == "v05" { 8 } else { u64::from(m * n / 32) };
            for (i, (one, all)) in sums.into_iter().enumerate() {
                assert!(!whole || one * warps == all, "{}: sum {i}: {one} in a warp, {all} in all", subject.label);
                assert!(one <= all, "{}: sum {i}", subject.label);
            }
        }
        Ok(())
    }

    /// Maximum that fits in a picture of a page.
    #[test]
    fn no_access_takes_more_wavefronts_than_a_page_draws() -> anyhow::Result<()> {
        for subject in SUBJECTS {
            for step in Followed::new(subject)?.steps {
                let shared = step.reach.filter(|r| r.array > 2);
                assert!(shared.is_none_or(|r| r.cost() <= 4), "{}", step.text);
            }
        }
        Ok(())
    }
}

//! Data of the stepper: the trace of all warps of a block of a real kernel, instruction by instruction.
//!
//! A script for each chapter, `steps-v02.js`, contains it, packed: each pattern of lanes is written once, consecutive
//! instructions of one line that access no memory are one step, and warps that do the same at other addresses are one
//! program. Costs are not included; the page computes them by `rules.js`. Not here: how a page shows it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail};
use catalog::Shape;
use serde_json::{Value, json};
use simt::memory::rules::{self, Addresses};
use simt::program::MemSpace;

use crate::machine::{self, Trace};

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
const V02_SMALL: [(&str, [u32; 2]); 2] = [("a_tile", [16, 16]), ("b_tile", [16, 16])];
const V05_TILES: [(&str, [u32; 2]); 2] = [("a_tile", [8, 132]), ("b_tile", [8, 128])];
const V07_TILES: [(&str, [u32; 2]); 2] = [("a_tile", [16, 132]), ("b_tile", [16, 128])];

/// Kernels of one chapter are next to each other.
pub(crate) const SUBJECTS: [Subject; 9] = [
    subject("v01", "row_per_lane, 32 × 32, K = 16", "sgemm_v01_row_per_lane", [32, 32, 16], &[]),
    subject("v01", "col_per_lane, 32 × 32, K = 16", "sgemm_v01_col_per_lane", [32, 32, 16], &[]),
    subject("v01", "row_per_lane, 28 × 28, K = 13", "sgemm_v01_row_per_lane", [28, 28, 13], &[]),
    subject("v01", "col_per_lane, 28 × 28, K = 13", "sgemm_v01_col_per_lane", [28, 28, 13], &[]),
    subject("v02", "tile16, 16 × 16, K = 48", "sgemm_v02_tile16", [16, 16, 48], &V02_SMALL),
    subject("v02", "tile32, 32 × 32, K = 64", "sgemm_v02_tile32", [32, 32, 64], &V02_TILES),
    subject("v02", "tile32, 28 × 28, K = 40", "sgemm_v02_tile32", [28, 28, 40], &V02_TILES),
    subject("v05", "128 × 128, K = 16", "sgemm_v05_bank_conflict_free", [128, 128, 16], &V05_TILES),
    subject("v07", "128 × 128, K = 24", "sgemm_v07_double_buffer", [128, 128, 24], &V07_TILES),
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

    /// Returns the sectors of an access to global memory, or the wavefronts of one to shared memory, and those beyond
    /// the minimum.
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

/// The steps of a subject's block.
pub(crate) struct Followed {
    subject: Subject,
    warps: Vec<Vec<PageStep>>,
    /// The warp of each step of the page, in the order in which the emulated GPU ran them.
    order: Vec<u32>,
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
        let trace = machine::block(subject.kernel, subject.shape)?;
        let n_warps = trace.warps.iter().max().map_or(0, |last| *last as usize + 1);
        let mut warps: Vec<Vec<PageStep>> = vec![Vec::new(); n_warps];
        let mut order = Vec::new();
        // Instructions without a line prepare the next one that has a line.
        let mut next = vec![None; n_warps];
        let mut lines = vec![None; trace.steps.len()];
        for (i, warp) in trace.warps.iter().enumerate().rev() {
            next[*warp as usize] = line(&trace, i).or(next[*warp as usize]);
            lines[i] = next[*warp as usize];
        }
        for (i, did) in trace.steps.iter().enumerate() {
            if !did.first {
                continue;
            }
            let instr = &trace.kernel().instrs[did.instr as usize];
            let step = PageStep {
                line: lines[i].context("the last instruction has no line")?,
                text: instr.text.trim_end_matches(';').to_owned(),
                instructions: 1,
                fmas: u32::from(instr.fmas),
                lanes: did.lanes,
                barrier: instr.mnemonic().starts_with("bar"),
                reach: reach(&trace, &subject, i)?,
            };
            let steps = &mut warps[trace.warps[i] as usize];
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
                _ => {
                    steps.push(step);
                    order.push(trace.warps[i]);
                }
            }
        }
        Ok(Self { subject, warps, order })
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
        let mut programs: Vec<Program> = Vec::new();
        for (warp, own) in self.warps.iter().enumerate() {
            let mut steps = Vec::new();
            let mut firsts = Vec::new();
            for (i, step) in own.iter().enumerate() {
                // Entry and return are in the wrapper around the body.
                let line = match step.line {
                    line if (first..=last).contains(&line) => line,
                    _ if i < own.len() / 2 => first,
                    _ => last,
                };
                let text = texts.index_of(json!(step.text));
                let mut entry = vec![json!(line), json!(text), json!(masks.index_of(json!(step.lanes)))];
                match &step.reach {
                    Some(reach) => {
                        let elements: Vec<u64> = reach.elements.iter().flatten().copied().collect();
                        let deltas: Vec<i64> =
                            elements.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64).collect();
                        let runs = deltas.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as i64]);
                        let pattern = patterns.index_of(runs.collect());
                        let [array, width] = [reach.array as u64, reach.width];
                        entry.extend([array, u64::from(reach.load), width, pattern].map(|n| json!(n)));
                        firsts.push((text, elements[0] as i64));
                    }
                    None if step.barrier => {}
                    None => entry.extend([json!(step.instructions), json!(step.fmas)]),
                }
                steps.push(Value::Array(entry));
            }
            let joined = programs.iter_mut().any(|program| program.join(warp, &steps, &firsts));
            if !joined {
                programs.push(Program { steps, firsts, warps: vec![(warp, BTreeMap::new())] });
            }
        }
        let order = self.order.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as u32]);
        let Shape { m, n, k } = self.subject.shape;
        let arrays: Vec<Value> = self.arrays().iter().map(|(name, [rows, cols])| json!([name, rows, cols])).collect();
        Ok(json!({
            "label": self.subject.label,
            "file": file,
            "shape": [m, n, k],
            "arrays": arrays,
            "source": source,
            "texts": texts.all,
            "masks": masks.all,
            "patterns": patterns.all,
            "programs": programs.iter().map(Program::pack).collect::<Vec<_>>(),
            "order": order.collect::<Vec<_>>(),
        }))
    }
}

/// Warps that do the same, at addresses that are a distance apart for each instruction.
struct Program {
    steps: Vec<Value>,
    /// Text and first element of each access of the first warp.
    firsts: Vec<(u64, i64)>,
    /// Warps, and for each text the distance of their elements from those of the first warp.
    warps: Vec<(usize, BTreeMap<u64, i64>)>,
}

impl Program {
    /// Adds a warp, if it does the same.
    fn join(&mut self, warp: usize, steps: &[Value], firsts: &[(u64, i64)]) -> bool {
        let mut apart = BTreeMap::new();
        let same = |((text, own), (_, first)): (&(u64, i64), &(u64, i64))| {
            *apart.entry(*text).or_insert(own - first) == own - first
        };
        let joins = self.steps == steps && firsts.iter().zip(&self.firsts).all(same);
        if joins {
            self.warps.push((warp, apart));
        }
        joins
    }

    /// A distance is a number for each next warp where they are equal, otherwise a list.
    fn pack(&self) -> Value {
        let mut firsts = self.firsts.iter();
        let steps: Vec<Value> = self
            .steps
            .iter()
            .cloned()
            .map(|mut step| {
                if let Value::Array(entry) = &mut step
                    && entry.len() == 7
                {
                    entry.extend(firsts.next().map(|(_, first)| json!(first)));
                }
                step
            })
            .collect();
        let start = self.warps[0].0;
        let texts: BTreeSet<u64> = self.firsts.iter().map(|(text, _)| *text).collect();
        let mut apart = serde_json::Map::new();
        for text in texts {
            let list: Vec<i64> = self.warps.iter().map(|(_, apart)| apart.get(&text).copied().unwrap_or(0)).collect();
            let each = list.last().copied().unwrap_or(0) / (self.warps.len() as i64 - 1).max(1);
            let even = self.warps.iter().zip(&list).all(|((warp, _), n)| *n == each * (warp - start) as i64);
            if !even || each != 0 {
                apart.insert(text.to_string(), if even { json!(each) } else { json!(list) });
            }
        }
        let warps: Vec<usize> = self.warps.iter().map(|(warp, _)| *warp).collect();
        json!({"warps": warps, "apart": apart, "steps": steps})
    }
}

/// Returns the trace that a page must unpack, and for each warp its totals: `[requests, sectors, requests to tiles,
/// wavefronts, excess wavefronts, multiply-adds, sum of all elements times the number of their lane from 1]`.
pub(crate) fn counted(subject: Subject) -> anyhow::Result<(Value, Value)> {
    let followed = Followed::new(subject)?;
    let mut packed = followed.pack()?;
    for unused in ["source", "texts"] {
        packed[unused] = json!([]);
    }
    let sums = |steps: &Vec<PageStep>| {
        let mut sums = [0; 7];
        for step in steps {
            let lanes = u64::from(step.lanes.count_ones());
            sums[5] += u64::from(step.fmas) * lanes;
            let Some(reach) = &step.reach else { continue };
            let at = if reach.array < 3 { 0 } else { 2 };
            sums[at] += 1;
            let [cost, excess] = reach.costs();
            sums[at + 1] += u64::from(cost);
            sums[4] += u64::from(excess);
            sums[6] += (1..).zip(reach.elements).filter_map(|(lane, element)| Some(lane * element?)).sum::<u64>();
        }
        sums
    };
    Ok((packed, json!([followed.warps.iter().map(sums).collect::<Vec<_>>(), followed.order])))
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

/// Returns the names and texts of the scripts with the steps of each chapter's kernels.
///
/// # Errors
/// Returns an error if a kernel's files cannot be read, or a kernel does something that a page cannot show.
pub fn steps_js() -> anyhow::Result<BTreeMap<String, String>> {
    let mut scripts = BTreeMap::new();
    for subject in SUBJECTS {
        let followed = Followed::new(subject).with_context(|| subject.label)?;
        let packed = followed.pack().with_context(|| subject.label)?;
        let key = subject.key;
        let head = format!(
            "// made by: cargo run -p figures -- write; what each warp did on the emulated GPU\n\
             ((window.TileSteps ||= {{}}).{key} ||= []).push(\n"
        );
        let text: &mut String = scripts.entry(format!("steps-{key}.js")).or_default();
        text.push_str(if text.is_empty() { &head } else { "" });
        text.push_str(&format!("{packed},\n"));
    }
    scripts.values_mut().for_each(|text| text.push_str(");\n"));
    Ok(scripts)
}

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
use simt::program::mma::fragment::parse_shape;
use simt::program::{InstrInfo, MemSpace};
use simt::trace::Matrices;

use crate::machine::{self, Trace};
use crate::v10_fragments;

/// A kernel that a page replays step by step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// Name that a page selects it by.
    pub(crate) key: &'static str,
    label: &'static str,
    kernel: &'static str,
    shape: Shape,
    /// Its tiles: how many buffers of each, and their rows and columns, padding included.
    tiles: &'static [(&'static str, [u32; 3])],
    /// Header with the body, and its first and last anchor, where that is not `kernel` of the kernel's own file.
    body: Option<(&'static str, [&'static str; 2])>,
}

const fn subject(
    key: &'static str,
    label: &'static str,
    kernel: &'static str,
    [m, n, k]: [usize; 3],
    tiles: &'static [(&'static str, [u32; 3])],
) -> Subject {
    Subject { key, label, kernel, shape: Shape { m, n, k }, tiles, body: None }
}

const V02_TILES: [(&str, [u32; 3]); 2] = [("a_tile", [1, 32, 32]), ("b_tile", [1, 32, 32])];
const V02_SMALL: [(&str, [u32; 3]); 2] = [("a_tile", [1, 16, 16]), ("b_tile", [1, 16, 16])];
const V05_TILES: [(&str, [u32; 3]); 2] = [("a_tile", [1, 8, 132]), ("b_tile", [1, 8, 128])];
const V07_TILES: [(&str, [u32; 3]); 2] = [("a_tile", [2, 8, 132]), ("b_tile", [2, 8, 128])];
const V10_TILES: [(&str, [u32; 3]); 2] = [("a_tile", [2, 128, 40]), ("b_tile", [2, 32, 136])];

/// Kernels of one chapter are next to each other.
pub(crate) const SUBJECTS: [Subject; 10] = [
    subject("v01", "row_per_lane, 32 × 32, K = 16", "sgemm_v01_row_per_lane", [32, 32, 16], &[]),
    subject("v01", "col_per_lane, 32 × 32, K = 16", "sgemm_v01_col_per_lane", [32, 32, 16], &[]),
    subject("v01", "row_per_lane, 28 × 28, K = 13", "sgemm_v01_row_per_lane", [28, 28, 13], &[]),
    subject("v01", "col_per_lane, 28 × 28, K = 13", "sgemm_v01_col_per_lane", [28, 28, 13], &[]),
    subject("v02", "tile16, 16 × 16, K = 48", "sgemm_v02_tile16", [16, 16, 48], &V02_SMALL),
    subject("v02", "tile32, 32 × 32, K = 64", "sgemm_v02_tile32", [32, 32, 64], &V02_TILES),
    subject("v02", "tile32, 28 × 28, K = 40", "sgemm_v02_tile32", [28, 28, 40], &V02_TILES),
    subject("v05", "128 × 128, K = 16", "sgemm_v05_bank_conflict_free", [128, 128, 16], &V05_TILES),
    subject("v07", "128 × 128, K = 24", "sgemm_v07_double_buffer", [128, 128, 24], &V07_TILES),
    Subject {
        body: Some(("kernels/v10_plan.cuh", ["multiply", "product"])),
        ..subject("v10", "bf16, 128 × 128, K = 64", "bf16gemm_v10_shared", [128, 128, 64], &V10_TILES)
    },
];

impl Subject {
    /// Returns a file, and the kernel's body in it with line numbers, without marker lines for starters and includes.
    fn source(&self) -> anyhow::Result<(String, Vec<(u32, String)>)> {
        const MARKS: [&str; 3] = ["// ANCHOR", "// SOLUTION", "// STARTER"];
        let own = format!("kernels/{}.cu", machine::source_of(self.kernel)?);
        let (name, anchors) = self.body.unwrap_or((&own, ["kernel"; 2]));
        let [first, last] = anchors.map(|anchor| format!("// ANCHOR: {anchor}"));
        let text = machine::read(name)?;
        let mut shown = Vec::new();
        let mut is_last = false;
        for (line, number) in text.lines().zip(1u32..).skip_while(|(line, _)| *line != first) {
            is_last |= line == last;
            if !MARKS.iter().any(|mark| line.trim_start().starts_with(mark)) {
                shown.push((number, line.to_owned()));
            }
            if is_last && line == "}" {
                return Ok((name.to_owned(), shown));
            }
        }
        bail!("{name} has no end of its kernel")
    }
}

/// Returns the line of an instruction in the listing; for a function that is not there, the line of its call. Without
/// one, the line in the same file.
fn line(trace: &Trace, file: &str, source: &[(u32, String)], step: usize) -> Option<u32> {
    let instr = &trace.kernel().instrs[trace.steps[step].instr as usize];
    let places = instr.source.iter().chain(&instr.calls);
    let places = places.filter(|place| place.line > 0 && trace.file(place.file) == Some(file));
    let lines: Vec<u32> = places.map(|place| place.line).collect();
    let shown = lines.iter().find(|line| source.iter().any(|(number, _)| number == *line));
    shown.or(lines.first()).copied()
}

/// How a load distributes elements over lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Store,
    /// Each lane receives what its address points to.
    Load,
    /// `ldmatrix`: each lane has the address of a row of a matrix, and receives elements of others.
    Matrices {
        transposed: bool,
    },
}

/// The elements of one array that a warp accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reach {
    /// Index of the array: 0, 1, 2 for A, B, C; then the tiles.
    array: usize,
    direction: Direction,
    width: u64,
    /// Bytes of an element.
    bytes: u64,
    elements: [Option<u64>; 32],
}

impl Reach {
    fn load(&self) -> bool {
        self.direction != Direction::Store
    }

    /// Returns the sectors of an access to global memory, or the wavefronts of one to shared memory, and those beyond
    /// the minimum.
    fn costs(&self) -> [u32; 2] {
        let addresses: Addresses = self.elements.map(|element| Some(element? * self.bytes));
        let bytes = (self.width * self.bytes) as u32;
        if self.array < 3 {
            return [rules::sectors(&addresses, bytes), 0];
        }
        let cost = rules::shared_cost(&addresses, bytes, self.load());
        [cost.wavefronts, cost.wavefronts - cost.ideal]
    }
}

/// Steps of a warp: the first one, and their number.
type Range = [usize; 2];

/// An MMA: its multiply-adds, and where its fragments lie in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Product {
    multiply_adds: u32,
    /// Loads of the fragments of A and of B.
    factors: [Range; 2],
    /// Stores of the accumulators, after the last MMA.
    result: Range,
}

/// A step of the page: one access, one barrier, one MMA, or consecutive instructions of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PageStep {
    line: u32,
    text: String,
    instructions: u32,
    fmas: u32,
    lanes: u32,
    barrier: bool,
    reach: Option<Reach>,
    product: Option<Product>,
}

/// The steps of a subject's block.
pub(crate) struct Followed {
    subject: Subject,
    file: String,
    /// The lines that a page shows, with their numbers.
    source: Vec<(u32, String)>,
    warps: Vec<Vec<PageStep>>,
    /// The warp of each step of the page, in the order in which the emulated GPU ran them.
    order: Vec<u32>,
}

/// Returns the elements of each access of an operation: one at most.
fn reach(trace: &Trace, subject: &Subject, step: usize) -> anyhow::Result<Option<Reach>> {
    let did = &trace.steps[step];
    let (access, direction) = match (&did.access, &did.matrices) {
        (Some(access), _) if access.load => (access, Direction::Load),
        (Some(access), _) => (access, Direction::Store),
        (None, Some(Matrices { rows, transposed })) => (rows, Direction::Matrices { transposed: *transposed }),
        (None, None) => return Ok(None),
    };
    let first = access.addresses.iter().flatten().min().context("an access of no lane")?;
    let [factor, result] = machine::element_bytes(subject.kernel)?;
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
            let elements: u32 = subject.tiles[tile].1.iter().product();
            let right = u64::from(array.bytes) == u64::from(elements) * factor;
            anyhow::ensure!(right, "{} has {} bytes", array.name, array.bytes);
            (3 + tile, u64::from(array.offset))
        }
        MemSpace::Param => return Ok(None),
        other => bail!("{other:?} is nothing that the page shows"),
    };
    let bytes = if array == 2 { result } else { factor };
    Ok(Some(Reach {
        array,
        direction,
        width: u64::from(access.bytes) / bytes,
        bytes,
        elements: access.addresses.map(|address| address.map(|a| (a - base) / bytes)),
    }))
}

/// Returns the lists of registers in an instruction's text.
fn registers(text: &str) -> Vec<Vec<&str>> {
    let lists = text.split(['{', '}']).skip(1).step_by(2);
    lists.map(|list| list.split(',').map(str::trim).collect()).collect()
}

/// Loads and MMAs of a warp, by the registers that they write.
#[derive(Default)]
struct Fragments {
    loads: BTreeMap<String, Range>,
    /// MMAs whose accumulators are not stored yet.
    products: BTreeMap<String, Vec<usize>>,
}

impl Fragments {
    /// Makes a product of an MMA, which will be a warp's step `at`.
    fn product(&mut self, instr: &InstrInfo, at: usize) -> anyhow::Result<Option<Product>> {
        if !instr.mnemonic().contains("mma.sync") {
            return Ok(None);
        }
        let lists = registers(&instr.text);
        let [d, a, b] = [0, 1, 2].map(|list| lists.get(list).and_then(|list| list.first()).copied().unwrap_or(""));
        let shape = instr.mnemonic().split('.').find_map(parse_shape).context("an MMA without a shape")?;
        let load = |register: &str| self.loads.get(register).copied().context("a fragment that no step loads");
        let factors = [load(a)?, load(b)?];
        self.products.entry(d.to_owned()).or_default().push(at);
        Ok(Some(Product { multiply_adds: shape.iter().product(), factors, result: [0, 0] }))
    }

    /// Learns the registers of a load, and returns the MMAs whose accumulators a store takes.
    fn learn(&mut self, text: &str, direction: Direction, range: Range) -> Vec<usize> {
        let lists = registers(text);
        let list = lists.first().map_or(&[][..], |list| list);
        if direction == Direction::Store {
            return list.iter().filter_map(|register| self.products.remove(*register)).flatten().collect();
        }
        self.loads.extend(list.iter().map(|register| ((*register).to_owned(), range)));
        Vec::new()
    }
}

impl Followed {
    pub(crate) fn new(subject: Subject) -> anyhow::Result<Self> {
        let trace = machine::block(subject.kernel, subject.shape)?;
        let (file, source) = subject.source()?;
        let n_warps = trace.warps.iter().max().map_or(0, |last| *last as usize + 1);
        let mut warps: Vec<Vec<PageStep>> = vec![Vec::new(); n_warps];
        let mut fragments: Vec<Fragments> = Vec::new();
        fragments.resize_with(n_warps, Fragments::default);
        let mut order = Vec::new();
        // Instructions without a line prepare the next one that has a line.
        let mut next = vec![None; n_warps];
        let mut lines = vec![None; trace.steps.len()];
        // The accesses of an instruction, which may be of several of its operations.
        let mut reached = vec![Vec::new(); n_warps];
        let mut accesses = vec![Vec::new(); trace.steps.len()];
        for (i, warp) in trace.warps.iter().enumerate().rev() {
            let warp = *warp as usize;
            next[warp] = line(&trace, &file, &source, i).or(next[warp]);
            lines[i] = next[warp];
            reached[warp].extend(reach(&trace, &subject, i)?);
            if trace.steps[i].first {
                accesses[i] = std::mem::take(&mut reached[warp]);
                accesses[i].reverse();
            }
        }
        for (i, did) in trace.steps.iter().enumerate() {
            if !did.first {
                continue;
            }
            let instr = &trace.kernel().instrs[did.instr as usize];
            let warp = trace.warps[i];
            let (steps, fragments) = (&mut warps[warp as usize], &mut fragments[warp as usize]);
            let step = PageStep {
                line: lines[i].unwrap_or(0),
                text: instr.text.trim_end_matches(';').to_owned(),
                instructions: 1,
                fmas: u32::from(instr.fmas),
                lanes: did.lanes,
                barrier: instr.mnemonic().starts_with("bar"),
                reach: None,
                product: fragments.product(instr, steps.len())?,
            };
            if let Some(first) = accesses[i].first() {
                let range = [steps.len(), accesses[i].len()];
                for product in fragments.learn(&step.text, first.direction, range) {
                    steps[product].product.as_mut().context("a product")?.result = range;
                }
                steps.extend(accesses[i].iter().map(|reach| PageStep { reach: Some(reach.clone()), ..step.clone() }));
                order.extend(accesses[i].iter().map(|_| warp));
                continue;
            }
            let is_run = |step: &PageStep| !step.barrier && step.reach.is_none() && step.product.is_none();
            match steps.last_mut() {
                Some(last)
                    if last.line == step.line
                        && last.lanes == step.lanes
                        && is_run(last)
                        && is_run(&step)
                        && (last.fmas == 0) == (step.fmas == 0) =>
                {
                    last.instructions += 1;
                    last.fmas += step.fmas;
                }
                _ => {
                    steps.push(step);
                    order.push(warp);
                }
            }
        }
        anyhow::ensure!(fragments.iter().all(|own| own.products.is_empty()), "accumulators that no step stores");
        Ok(Self { subject, file, source, warps, order })
    }

    /// Returns the names, buffers, rows and columns of arrays, in the order of [`Reach::array`].
    fn arrays(&self) -> Vec<(&'static str, [u32; 3])> {
        let Shape { m, n, k } = self.subject.shape;
        let [m, n, k] = [m, n, k].map(|size| size as u32);
        let mut arrays = vec![("A", [1, m, k]), ("B", [1, k, n]), ("C", [1, m, n])];
        arrays.extend(self.subject.tiles);
        arrays
    }

    /// Returns the elements of A, B and C that each lane has in the first MMA, by the layout of `mma.sync`: 16 columns of
    /// B are two instructions.
    fn fragments(&self) -> anyhow::Result<Vec<Vec<Vec<u64>>>> {
        let steps = &self.warps[0];
        let Some(Product { factors: [a, b], result, .. }) = steps.iter().find_map(|step| step.product.clone()) else {
            return Ok(Vec::new());
        };
        let form = v10_fragments::form()?;
        let mut fragments = Vec::new();
        for (matrix, [from, n], halves) in [(0, a, 1), (1, b, 2), (2, result, 2)] {
            let reached: Vec<&Reach> = steps[from..from + n].iter().filter_map(|step| step.reach.as_ref()).collect();
            let start = reached.iter().flat_map(|reach| reach.elements).flatten().min().context("a fragment")?;
            let cols = u64::from(self.arrays()[reached[0].array].1[2]);
            let element = |half: u64, (row, col): (usize, usize)| start + row as u64 * cols + col as u64 + 8 * half;
            let of_lane = |lane: usize| {
                let [own_a, own_b, own_d] = v10_fragments::held(form, 2, lane);
                let own = [own_a, own_b, own_d].into_iter().nth(matrix).unwrap_or_default();
                (0..halves).flat_map(|half| own.iter().map(move |at| element(half, *at))).collect()
            };
            fragments.push((0..32).map(of_lane).collect());
        }
        Ok(fragments)
    }

    fn pack(&self) -> anyhow::Result<Value> {
        let (first, last) = (self.source[0].0, self.source[self.source.len() - 1].0);
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
                match (&step.reach, &step.product) {
                    (Some(reach), _) => {
                        let elements: Vec<u64> = reach.elements.iter().flatten().copied().collect();
                        let deltas: Vec<i64> =
                            elements.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64).collect();
                        let runs = deltas.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as i64]);
                        let pattern = patterns.index_of(runs.collect());
                        let direction = match reach.direction {
                            Direction::Store => 0,
                            Direction::Load => 1,
                            Direction::Matrices { transposed } => 2 + u64::from(transposed),
                        };
                        entry.extend([reach.array as u64, direction, reach.width, pattern].map(|n| json!(n)));
                        firsts.push((text, elements[0] as i64));
                    }
                    (None, Some(Product { multiply_adds, factors: [a, b], result })) => {
                        entry.push(json!([multiply_adds, a, b, result]));
                    }
                    (None, None) if step.barrier => {}
                    (None, None) => entry.extend([json!(step.instructions), json!(step.fmas)]),
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
        let [factor, result] = machine::element_bytes(self.subject.kernel)?;
        let arrays: Vec<Value> = (self.arrays().iter().enumerate())
            .map(|(i, (name, [n, rows, cols]))| json!([name, n * rows, cols, if i == 2 { result } else { factor }, n]))
            .collect();
        Ok(json!({
            "label": self.subject.label,
            "file": self.file,
            "shape": [m, n, k],
            "arrays": arrays,
            "source": self.source,
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
/// wavefronts, excess wavefronts, multiply-adds, sum of all elements times the number of their lane from 1]`; the order
/// of the steps; and the elements that lanes have in the fragments of the first MMA.
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
            sums[5] += step.product.as_ref().map_or(0, |product| u64::from(product.multiply_adds));
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
    Ok((packed, json!([followed.warps.iter().map(sums).collect::<Vec<_>>(), followed.order, followed.fragments()?])))
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

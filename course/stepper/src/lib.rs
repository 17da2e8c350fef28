//! The steps of all warps of a block, instruction by instruction, packed for the stepper of the book's pages.
//!
//! Each pattern of lanes is written once, consecutive instructions of one line that access no memory are one step, and
//! warps that do the same at other addresses are one program. Costs are not included; the page computes them by
//! `rules.js`. Not here: how a page shows it.

use std::collections::BTreeMap;

use program::text::{InstrText, registers};
use program::{DecodedKernel, MemSpace, mma::fragment::parse_shape};
use serde_json::{Value, json};
use simt::memory::rules::{self, Addresses};
use simt::trace::Step;

/// A matrix product by one block, and what a page shows of it.
pub struct Subject {
    pub label: String,
    /// The file in the kernel's locations.
    pub file: String,
    /// Its lines that a page shows, with their numbers.
    pub source: Vec<(u32, String)>,
    /// M, N and K.
    pub shape: [usize; 3],
    /// Bytes of an element of A and B, and of one of C.
    pub element_bytes: [u64; 2],
    /// Arrays in shared memory: none, or that of A and that of B.
    pub tiles: Vec<Tile>,
}

pub struct Tile {
    pub name: String,
    /// Part of the array's name in PTX that no other array has.
    pub symbol: String,
    /// Buffers, and their rows and columns.
    pub dims: [u32; 3],
}

/// A launch's trace of one block.
pub struct Traced<'t> {
    pub kernel: &'t DecodedKernel,
    /// Source files, by their numbers in the PTX.
    pub files: &'t [(u32, String)],
    /// Addresses of A, B and C.
    pub buffers: &'t [u64],
    /// Steps of all warps, with the number of the warp, in the order in which the emulated GPU ran them.
    pub steps: &'t [(u32, Step)],
}

impl Traced<'_> {
    fn is_file(&self, number: u32, name: &str) -> bool {
        self.files.iter().any(|(own, file)| *own == number && file == name)
    }
}

/// Returns the line of an instruction in the listing; for a function that is not there, the line of its call. Without
/// one, the line in the same file.
fn line(trace: &Traced<'_>, subject: &Subject, step: &Step) -> Option<u32> {
    let instr = &trace.kernel.instrs[step.instr as usize];
    let places = instr.source.iter().chain(&instr.calls);
    let places = places.filter(|place| place.line > 0 && trace.is_file(place.file, &subject.file));
    let lines: Vec<u32> = places.map(|place| place.line).collect();
    let shown = lines.iter().find(|line| subject.source.iter().any(|(number, _)| number == *line));
    shown.or(lines.first()).copied()
}

/// Direction of an access, and how a load distributes elements over lanes.
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
pub struct Reach {
    /// Index of the array: 0, 1, 2 for A, B, C; then the tiles.
    pub array: usize,
    direction: Direction,
    width: u64,
    /// Bytes of an element.
    bytes: u64,
    pub elements: [Option<u64>; 32],
}

impl Reach {
    pub fn direction(&self) -> rules::Direction {
        if self.direction == Direction::Store { rules::Direction::Store } else { rules::Direction::Load }
    }

    /// Returns the sectors of a global access, or the wavefronts of a shared one, and those beyond the minimum.
    pub fn costs(&self) -> [u32; 2] {
        let addresses: Addresses = self.elements.map(|element| Some(element? * self.bytes));
        let bytes = (self.width * self.bytes) as u32;
        if self.array < 3 {
            return [rules::sectors(&addresses, bytes), 0];
        }
        let cost = rules::shared_cost(&addresses, bytes, self.direction());
        [cost.wavefronts, cost.wavefronts - cost.ideal]
    }
}

/// A step of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageStep {
    line: u32,
    pub text: String,
    lanes: u32,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Consecutive instructions of one line, and multiply-adds of each lane.
    Run {
        instructions: u32,
        fmas: u32,
    },
    Barrier,
    Access(Box<Reach>),
    /// An MMA, and its multiply-adds.
    Mma(u32),
}

impl PageStep {
    pub fn reach(&self) -> Option<&Reach> {
        match &self.kind {
            Kind::Access(reach) => Some(reach),
            _ => None,
        }
    }

    /// Returns the multiply-adds of all lanes.
    pub fn fmas(&self) -> u64 {
        match self.kind {
            Kind::Run { fmas, .. } => u64::from(fmas * self.lanes.count_ones()),
            Kind::Mma(fmas) => fmas.into(),
            _ => 0,
        }
    }
}

/// The steps of a subject's block.
pub struct Followed<'s> {
    subject: &'s Subject,
    pub warps: Vec<Vec<PageStep>>,
    /// The warp of each step of the page, in the order in which the emulated GPU ran them.
    pub order: Vec<u32>,
}

/// Returns the elements that an operation accesses, or why a page cannot show them.
fn reach(trace: &Traced<'_>, subject: &Subject, did: &Step) -> Result<Option<Reach>, String> {
    let (access, direction) = match (&did.access, &did.matrices) {
        (Some(access), _) if access.direction.is_load() => (access, Direction::Load),
        (Some(access), _) => (access, Direction::Store),
        (None, Some(all)) => (&all.rows, Direction::Matrices { transposed: all.transposed }),
        (None, None) => return Ok(None),
    };
    let Some(first) = access.addresses.iter().flatten().min() else { return Ok(None) };
    let [factor, result] = subject.element_bytes;
    let (array, base) = match access.space {
        MemSpace::Global => {
            let below = trace.buffers.iter().enumerate().filter(|(_, base)| **base <= *first);
            let (array, base) = below.max_by_key(|(_, base)| **base).ok_or("an access before all matrices")?;
            (array, *base)
        }
        MemSpace::Shared => {
            let arrays = &trace.kernel.shared;
            let at = |offset: u32, bytes: u32| (u64::from(offset)..u64::from(offset + bytes)).contains(first);
            let array =
                arrays.iter().find(|a| at(a.offset, a.bytes)).ok_or("an access to no array in shared memory")?;
            let tile = subject.tiles.iter().position(|tile| array.name.contains(&tile.symbol));
            let tile = tile.ok_or_else(|| format!("{} is no tile", array.name))?;
            let elements: u32 = subject.tiles[tile].dims.iter().product();
            if u64::from(array.bytes) != u64::from(elements) * factor {
                return Err(format!("{} has {} bytes", array.name, array.bytes));
            }
            (3 + tile, u64::from(array.offset))
        }
        MemSpace::Param => return Ok(None),
        other => return Err(format!("{other:?} is nothing that the page shows")),
    };
    let bytes = if array == 2 { result } else { factor };
    let elements = access.addresses.map(|address| address.map(|a| a.wrapping_sub(base) / bytes));
    let width = u64::from(access.bytes) / bytes;
    let [m, n, k] = subject.shape.map(|size| size as u64);
    if let (Some(size), Some(last)) = ([m * k, k * n, m * n].get(array), elements.iter().flatten().max())
        && last.saturating_add(width) > *size
    {
        return Err(format!("an access outside of {}", ["A", "B", "C"][array]));
    }
    Ok(Some(Reach { array, direction, width, bytes, elements }))
}

/// Returns the lists of registers in an instruction's text.
fn register_lists(text: &str) -> Vec<Vec<&str>> {
    let lists = InstrText::new(text).operands.into_iter().filter(|operand| operand.starts_with('{'));
    lists.map(|list| registers(list).collect()).collect()
}

/// Returns the steps that load the fragments of A and B of an MMA, which is step `at`, and those that store its
/// accumulators: the first, and their number.
fn fragments(steps: &[PageStep], at: usize) -> Result<[[usize; 2]; 3], String> {
    let lists = register_lists(&steps[at].text);
    let moves = |i: &usize, direction: rules::Direction, list: usize| {
        let own = register_lists(&steps[*i].text);
        let has = own.first().is_some_and(|own| lists.get(list).is_some_and(|wanted| own.contains(&wanted[0])));
        has && steps[*i].reach().is_some_and(|reach| reach.direction() == direction)
    };
    let factor = |list| (0..at).rfind(|i| moves(i, rules::Direction::Load, list));
    let mut ranges = [[0; 2]; 3];
    for (range, found) in
        ranges.iter_mut().zip([factor(1), factor(2), (at..steps.len()).find(|i| moves(i, rules::Direction::Store, 0))])
    {
        let i = found.ok_or("an MMA whose fragments no step loads or stores")?;
        let same = |step: &&PageStep| step.text == steps[i].text;
        let before = steps[..i].iter().rev().take_while(same).count();
        *range = [i - before, before + steps[i..].iter().take_while(same).count()];
    }
    Ok(ranges)
}

impl<'s> Followed<'s> {
    /// Sorts what a block did by warps and lines; the error says what a page cannot show.
    pub fn new(subject: &'s Subject, trace: &Traced<'_>) -> Result<Self, String> {
        let steps = trace.steps;
        let n_warps = steps.iter().map(|(warp, _)| warp + 1).max().unwrap_or_default() as usize;
        // Instructions without a line prepare the next one that has a line.
        let mut next = vec![None; n_warps];
        let mut lines = vec![None; steps.len()];
        for (i, (warp, step)) in steps.iter().enumerate().rev() {
            next[*warp as usize] = line(trace, subject, step).or(next[*warp as usize]);
            lines[i] = next[*warp as usize];
        }
        let mut sequence = Vec::new();
        for (i, (warp, did)) in steps.iter().enumerate().filter(|(_, (_, did))| did.first) {
            let instr = &trace.kernel.instrs[did.instr as usize];
            let mnemonic = instr.mnemonic();
            // Several operations of an instruction can access memory.
            let n = 1 + steps[i + 1..].iter().take_while(|(_, other)| !other.first).count();
            let mut kinds = Vec::new();
            for (_, operation) in &steps[i..i + n] {
                kinds.extend(reach(trace, subject, operation)?.map(|reach| Kind::Access(Box::new(reach))));
            }
            if mnemonic.contains("mma.sync") {
                let shape = mnemonic.split('.').find_map(parse_shape).ok_or("an MMA without a shape")?;
                kinds.push(Kind::Mma(shape.iter().product()));
            } else if mnemonic.starts_with("bar") {
                kinds.push(Kind::Barrier);
            } else if kinds.is_empty() {
                kinds.push(Kind::Run { instructions: 1, fmas: instr.fmas.into() });
            }
            let (line, text) = (lines[i].unwrap_or(0), instr.text.trim_end_matches(';'));
            let step = |kind| (*warp, PageStep { line, text: text.to_owned(), lanes: did.lanes, kind });
            sequence.extend(kinds.into_iter().map(step));
        }
        sequence.dedup_by(|(warp, step), (before, last)| match (&mut last.kind, &step.kind) {
            (Kind::Run { instructions, fmas }, Kind::Run { instructions: more, fmas: more_fmas })
                if (*warp, step.line, step.lanes, *more_fmas == 0) == (*before, last.line, last.lanes, *fmas == 0) =>
            {
                *instructions += more;
                *fmas += more_fmas;
                true
            }
            _ => false,
        });
        let order = sequence.iter().map(|(warp, _)| *warp).collect();
        let mut warps = vec![Vec::new(); n_warps];
        for (warp, step) in sequence {
            warps[warp as usize].push(step);
        }
        Ok(Self { subject, warps, order })
    }

    /// Returns the names, buffers, rows and columns of arrays, in the order of [`Reach::array`].
    fn arrays(&self) -> Vec<(&str, [u32; 3])> {
        let [m, n, k] = self.subject.shape.map(|size| size as u32);
        let mut arrays = vec![("A", [1, m, k]), ("B", [1, k, n]), ("C", [1, m, n])];
        arrays.extend(self.subject.tiles.iter().map(|tile| (tile.name.as_str(), tile.dims)));
        arrays
    }

    /// Returns what the page unpacks.
    pub fn pack(&self) -> Result<Value, String> {
        let Subject { source, .. } = self.subject;
        let (first, last) = (source[0].0, source[source.len() - 1].0);
        let [mut texts, mut masks, mut patterns] = <[Index; 3]>::default();
        let mut programs: Vec<Program> = Vec::new();
        for (warp, own) in self.warps.iter().enumerate() {
            let mut steps = Vec::new();
            for (i, step) in own.iter().enumerate() {
                // Entry and return are in the wrapper around the body.
                let line = match step.line {
                    line if (first..=last).contains(&line) => line,
                    _ if i < own.len() / 2 => first,
                    _ => last,
                };
                let text = texts.index_of(json!(step.text));
                let mut entry = vec![json!(line), json!(text), json!(masks.index_of(json!(step.lanes)))];
                let mut access = None;
                match &step.kind {
                    Kind::Access(reach) => {
                        let elements: Vec<u64> = reach.elements.iter().flatten().copied().collect();
                        let deltas = elements.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64);
                        let deltas: Vec<i64> = deltas.collect();
                        let runs = deltas.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as i64]);
                        let pattern = patterns.index_of(runs.collect());
                        let direction = match reach.direction {
                            Direction::Store => 0,
                            Direction::Load => 1,
                            Direction::Matrices { transposed } => 2 + u64::from(transposed),
                        };
                        entry.extend([reach.array as u64, direction, reach.width, pattern].map(|n| json!(n)));
                        access = Some((text, elements[0] as i64));
                    }
                    Kind::Mma(fmas) => {
                        let [a, b, sums] = fragments(own, i)?;
                        entry.push(json!([fmas, a, b, sums]));
                    }
                    Kind::Barrier => {}
                    Kind::Run { instructions, fmas } => entry.extend([json!(instructions), json!(fmas)]),
                }
                steps.push((entry, access));
            }
            if !programs.iter_mut().any(|program| program.join(warp, &steps)) {
                programs.push(Program { steps, warps: vec![(warp, BTreeMap::new())] });
            }
        }
        let order = self.order.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as u32]);
        let [factor, result] = self.subject.element_bytes;
        let arrays: Vec<Value> = (self.arrays().iter().enumerate())
            .map(|(i, (name, [n, rows, cols]))| json!([name, n * rows, cols, if i == 2 { result } else { factor }, n]))
            .collect();
        Ok(json!({
            "label": self.subject.label,
            "file": self.subject.file,
            "shape": self.subject.shape,
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

/// The entry of a step, and the text and first element of an access.
type Entry = (Vec<Value>, Option<(u64, i64)>);

/// Warps that do the same, at addresses that are a distance apart for each instruction.
struct Program {
    /// Steps of the first warp.
    steps: Vec<Entry>,
    /// Warps, and for each text the distance of their elements from those of the first warp.
    warps: Vec<(usize, BTreeMap<u64, i64>)>,
}

impl Program {
    /// Adds a warp, if it does the same.
    fn join(&mut self, warp: usize, steps: &[Entry]) -> bool {
        let mut apart = BTreeMap::new();
        let same = |((entry, own), (other, first)): (&Entry, &Entry)| {
            let accesses = own.zip(*first);
            let same = |((text, own), (_, first))| *apart.entry(text).or_insert(own - first) == own - first;
            entry == other && accesses.is_none_or(same)
        };
        let joins = self.steps.len() == steps.len() && steps.iter().zip(&self.steps).all(same);
        if joins {
            self.warps.push((warp, apart));
        }
        joins
    }

    fn pack(&self) -> Value {
        let entry =
            |(entry, access): &Entry| entry.iter().cloned().chain(access.map(|(_, first)| json!(first))).collect();
        let steps: Vec<Value> = self.steps.iter().map(entry).collect();
        let mut apart = serde_json::Map::new();
        for (text, _) in self.steps.iter().filter_map(|(_, access)| *access) {
            let list: Vec<i64> = self.warps.iter().map(|(_, apart)| apart.get(&text).copied().unwrap_or(0)).collect();
            if list.iter().any(|n| *n != 0) {
                apart.insert(text.to_string(), json!(list));
            }
        }
        let warps: Vec<usize> = self.warps.iter().map(|(warp, _)| *warp).collect();
        json!({"warps": warps, "apart": apart, "steps": steps})
    }
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

//! The launch that a message is about: its sources, names and places, and the layout of the text.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use crate::finding::{Action, ArrayElement, Finding, Party, Place, Race, RacingAccess};
use crate::launch_inputs::LaunchInputs;
use crate::source::statements::{Control, Enclosure};
use crate::source::text::{function_of, has_word, plain_name};
use crate::source::{Parameter, Source};
use crate::trace::{End, Trace};
use crate::words;
use program::{InstrInfo, MbarrierKind, MemSpace, OpKind, SourceLoc, TensorWay};
use simt::check::{AccessProblem, Code, MistakeDetails, MistakeGroup, RaceParty, Severity, ThreadId, coordinates};

/// Columns of a message.
const WIDTH: usize = 98;
/// Column at which the place of a message starts, when its title is not longer.
const PLACE_COLUMN: usize = 64;

/// One launch with what its messages share: its inputs, its mistakes, and the sources of its kernel.
pub(crate) struct LaunchContext<'a> {
    pub(crate) inputs: &'a LaunchInputs<'a>,
    /// The mistakes of this launch, grouped by instruction and kind.
    pub(crate) mistakes: &'a [MistakeGroup],
    sources: HashMap<u32, Source>,
    parameters: Vec<Parameter>,
    /// Values of names in files, so far: an expression is computed for each thread of a block.
    values: RefCell<HashMap<(u32, String), Option<i64>>>,
    trace: Trace<'a>,
}

impl<'a> LaunchContext<'a> {
    pub(crate) fn new(inputs: &'a LaunchInputs<'a>, mistakes: &'a [MistakeGroup]) -> Self {
        let names = &inputs.request.options.names;
        let mut sources = HashMap::new();
        for (index, path) in inputs.files {
            let file_name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
            let exact = names.sources.iter().find(|(name, _)| name == path);
            let close = || names.sources.iter().find(|(name, _)| file_name(name) == file_name(path));
            if let Some((_, text)) = exact.or_else(close) {
                let mut source = Source::new(text);
                source.instantiate(&inputs.kernel.name);
                sources.insert(*index, source);
            }
        }
        let mut parameters = Vec::new();
        for (_, source) in inputs.files.iter().filter_map(|(index, _)| sources.get_key_value(index)) {
            parameters = source.parameters(&inputs.kernel.name);
            if !parameters.is_empty() {
                break;
            }
        }
        Self { inputs, mistakes, sources, parameters, values: RefCell::default(), trace: Trace::new(inputs.kernel) }
    }

    /// Returns an index of the instructions that set each register.
    pub(crate) fn trace(&self) -> &Trace<'a> {
        &self.trace
    }

    /// Returns whether all threads that make the mistake are counted, not only some of them.
    pub(crate) fn counts_all(&self, mistake: &MistakeGroup) -> bool {
        let MistakeDetails::Access { problem, access } = &mistake.first.details else { return self.inputs.complete };
        // Where the same access meets several arrays, each is a group of its own.
        let is_alike = |other: &&MistakeGroup| {
            let (mine, other) = (&mistake.first, &other.first);
            let is_access = matches!(other.details, MistakeDetails::Access { .. });
            mine.instr == other.instr && mine.code() == other.code() && is_access
        };
        // In the next array, an access is not a mistake.
        let may_hit_another = match access.space {
            MemSpace::Shared => {
                let arrays = self.inputs.kernel.shared.iter().filter(|array| array.bytes > 0).count();
                arrays + usize::from(self.inputs.request.dynamic_shared > 0) > 1
            }
            space => space == MemSpace::Local,
        };
        self.inputs.complete
            && !(may_hit_another && *problem == AccessProblem::OutOfBounds)
            && self.mistakes.iter().filter(is_alike).count() < 2
    }

    /// Returns a sentence about the first thread, `First: thread (0,4) of block (0,6).`, and how many others do the
    /// same.
    pub(crate) fn first_thread(&self, mistake: &MistakeGroup) -> String {
        let ThreadId { block, thread } = first_thread(mistake);
        self.with_others(mistake, format!("First: {}.", self.thread_name(block, thread)))
    }

    /// Returns a sentence on one thread, and how many others do the same.
    pub(crate) fn with_others(&self, mistake: &MistakeGroup, text: String) -> String {
        match self.others_do_the_same(mistake) {
            Some(more) => format!("{text} {more}"),
            None => text,
        }
    }

    pub(crate) fn info(&self, instr: u32) -> Option<&'a InstrInfo> {
        self.inputs.kernel.instrs.get(instr as usize)
    }

    /// Returns the mnemonic of an instruction; empty if there is none.
    pub(crate) fn mnemonic(&self, instr: u32) -> &'a str {
        self.info(instr).map_or("", InstrInfo::mnemonic)
    }

    pub(crate) fn ops(&self, instr: u32) -> impl Iterator<Item = &'a OpKind> {
        let ops = self.inputs.kernel.ops.iter();
        ops.filter(move |op| op.instr == instr).map(|op| &op.kind)
    }

    /// Returns whether the kernel has bulk copies into shared memory.
    pub(crate) fn has_bulk_loads(&self) -> bool {
        let loads = |way: &TensorWay| matches!(way, TensorWay::Load(_));
        { self.inputs.kernel.ops.iter() }.any(|op| match &op.kind {
            OpKind::TensorCopy(copy) => loads(&copy.way),
            OpKind::BulkBytes(copy) => loads(&copy.way),
            _ => false,
        })
    }

    /// Returns whether the kernel waits for phases of mbarriers.
    pub(crate) fn has_phases(&self) -> bool {
        let mut barriers = self.inputs.kernel.ops.iter().filter_map(|op| match &op.kind {
            OpKind::Mbarrier(barrier) => Some(barrier),
            _ => None,
        });
        barriers.any(|barrier| matches!(barrier.kind, MbarrierKind::Wait { .. }))
    }

    /// Returns whether the kernel has a barrier of the block.
    pub(crate) fn has_barrier(&self) -> bool {
        let ops = &self.inputs.kernel.ops;
        ops.iter().any(|op| matches!(op.kind, OpKind::Barrier { .. }))
    }

    /// Returns the source places of an instruction: its own, then that of the call which was inlined, and so on. Places
    /// in files without a text (headers of the toolkit) are left out, unless there are no others.
    pub(crate) fn frames(&self, instr: u32) -> Vec<SourceLoc> {
        let Some(info) = self.info(instr) else { return Vec::new() };
        let own = self.loaded_at(instr, info).or(info.source);
        let mut all: Vec<SourceLoc> = own.into_iter().chain(info.calls.iter().copied()).collect();
        all.retain(|loc| loc.line > 0);
        if all.is_empty() {
            all.extend(self.only_use(info));
        }
        // A helper of the prelude stands for what C++ has built in, or in `common.cuh`.
        let known = |loc: &SourceLoc| self.sources.contains_key(&loc.file) && self.file_name(loc.file) != "prelude.rs";
        if all.iter().any(known) {
            all.retain(known);
        } else {
            all.truncate(1);
        }
        all
    }

    /// Returns the first of [`LaunchContext::frames`].
    pub(crate) fn loc(&self, instr: u32) -> Option<SourceLoc> {
        let info = self.info(instr)?;
        match info.calls[..] {
            [] if info.source.is_some_and(|loc| loc.line > 0) => self.loaded_at(instr, info).or(info.source),
            _ => self.frames(instr).first().copied().or(info.source),
        }
    }

    /// Returns the line that loads a value if the instruction's line only stores it: compilers attribute the load of a
    /// vector to that line.
    fn loaded_at(&self, instr: u32, info: &InstrInfo) -> Option<SourceLoc> {
        let loc = info.source.filter(|_| info.calls.is_empty() && info.text.contains("ld.global"))?;
        let source = self.sources.get(&loc.file)?;
        let (position, definition) = source.stored_value(&self.inputs.kernel.name, loc.line)?;
        let is_read = |end: &End| {
            let End::Param(index) = end else { return false };
            let (name, ty) = self.parameter(*index);
            let is_pointer = ty.is_some_and(|ty| ty.ends_with('*'));
            is_pointer && has_word(definition, &name) && source.uses(loc.line, &name).is_empty()
        };
        let line = source.line_of(position);
        self.trace.ends(instr)?.iter().any(is_read).then_some(SourceLoc { line, column: 0, ..loc })
    }

    /// Returns the one place in the sources that reads, or that stores to, the variable of an instruction. Compilers
    /// that move a load in front of a loop leave it without a line.
    fn only_use(&self, info: &InstrInfo) -> Option<SourceLoc> {
        let (access, operand) = info.text.split_once('[')?;
        let symbol = operand.split_once(']')?.0;
        let (function, name) = (function_of(symbol)?, plain_name(symbol));
        let stores = access.contains("st.");
        let mut places = self.sources.iter().flat_map(|(&file, source)| {
            let places =
                source.uses_in(function, name).filter(move |used| if stores { used.stored } else { used.loaded });
            places.map(move |used| SourceLoc { file, line: used.line, column: used.shown.0 as u32 + 1 })
        });
        let first = places.next()?;
        { places }.all(|other| (other.file, other.line) == (first.file, first.line)).then_some(first)
    }

    /// Returns lines such as `called at line 20: …`, for an instruction of an inlined function; `main_instr` as in
    /// [`LaunchContext::line_name`].
    pub(crate) fn calls(&self, main_instr: u32, instr: u32) -> Vec<String> {
        let frames = self.frames(instr);
        let mut around: Vec<&SourceLoc> = frames.iter().skip(1).collect();
        if around.len() > 2 {
            around.drain(1..around.len() - 1);
        }
        let told = |loc: &&SourceLoc| {
            let text = self.sources.get(&loc.file)?.line(loc.line)?;
            let line = self.numbered(main_instr, loc.file, loc.line);
            Some(format!("     | called at {line}: {}", text.trim()))
        };
        around.iter().filter_map(told).collect()
    }

    /// Branches and loops around an instruction, outermost first, with their line; those around the calls that were
    /// inlined come before those in the function.
    pub(crate) fn around(&self, instr: u32) -> Vec<Around<'_>> {
        self.frames(instr).into_iter().rev().flat_map(|loc| self.enclosures(loc, Source::around)).collect()
    }

    /// Returns loops around an instruction, innermost first. The header of a loop belongs to it.
    pub(crate) fn loops(&self, instr: u32) -> Vec<Around<'_>> {
        self.frames(instr).into_iter().flat_map(|loc| self.enclosures(loc, Source::loops)).collect()
    }

    fn enclosures<'s>(
        &'s self, loc: SourceLoc, of: impl Fn(&'s Source, u32, u32) -> Vec<&'s Enclosure>,
    ) -> impl Iterator<Item = Around<'s>> {
        let found = self.sources.get(&loc.file).map(|source| (source, of(source, loc.line, loc.column)));
        found.into_iter().flat_map(move |(source, found)| {
            found.into_iter().map(move |enclosure| Around::new(loc.file, source, enclosure))
        })
    }

    /// Returns the source file that an instruction comes from, when its text is known.
    pub(crate) fn source_of(&self, instr: u32) -> Option<&Source> {
        self.sources.get(&self.loc(instr)?.file)
    }

    /// Returns the source file with an index in `.file`, when its text is known.
    pub(crate) fn source_of_file(&self, file: u32) -> Option<&Source> {
        self.sources.get(&file)
    }

    /// Returns the text of an instruction's line without comments, when it is known.
    pub(crate) fn clean_line(&self, instr: u32) -> Option<&str> {
        let loc = self.loc(instr)?;
        self.source_of_file(loc.file)?.clean_line(loc.line)
    }

    /// Returns the name of a parameter, and its type when the source has it.
    pub(crate) fn parameter(&self, index: usize) -> (String, Option<&str>) {
        let given = &self.inputs.request.options.names.params;
        let parsed = self.parameters.get(index);
        let name = given.get(index).filter(|name| !name.is_empty()).cloned();
        let name = name.or_else(|| parsed.map(|parameter| parameter.name.clone()));
        let name = name.unwrap_or_else(|| format!("parameter {index}"));
        (name, parsed.map(|parameter| parameter.ty.as_str()))
    }

    /// Returns a parameter's value, when it is a number of 4 or 8 bytes.
    pub(crate) fn parameter_value(&self, index: usize) -> Option<u64> {
        let parameter = self.inputs.kernel.params.get(index)?;
        let start = parameter.offset as usize;
        let bytes = self.inputs.request.params.get(start..start + parameter.bytes as usize)?;
        match bytes.len() {
            4 => Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?))),
            8 => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// Returns the integer parameters by name.
    pub(crate) fn integers(&self) -> Vec<(String, i64)> {
        let kernel = self.inputs.kernel;
        (0..kernel.params.len())
            .filter_map(|index| {
                let (name, ty) = self.parameter(index);
                let value = match ty? {
                    "int" => i64::from(self.parameter_value(index)? as u32 as i32),
                    "unsigned" | "unsigned int" | "uint32_t" => i64::from(self.parameter_value(index)? as u32),
                    "size_t" | "long long" | "unsigned long long" | "int64_t" => self.parameter_value(index)? as i64,
                    _ => return None,
                };
                Some((name, value))
            })
            .collect()
    }

    /// Returns the value of a name: an integer parameter or a constant.
    pub(crate) fn value(&self, instr: u32, name: &str) -> Option<i64> {
        self.value_in(self.loc(instr).map_or(u32::MAX, |loc| loc.file), name)
    }

    /// Works as [`Self::value`], for a name in a file.
    pub(crate) fn value_in(&self, file: u32, name: &str) -> Option<i64> {
        let key = (file, name.to_owned());
        if let Some(known) = self.values.borrow().get(&key) {
            return *known;
        }
        let parameter = self.integers().into_iter().find(|(known, _)| known == name);
        // A constant of another file, where all that have one agree.
        let elsewhere = |name: &str| {
            let mut found: Vec<i64> = self.sources.values().filter_map(|source| source.constant(name)).collect();
            found.dedup();
            <[i64; 1]>::try_from(found).ok().map(|[value]| value)
        };
        let value =
            parameter.map(|(_, value)| value).or_else(|| self.source_of_file(file)?.constant_at(name, 0, &elsewhere));
        let value = value.or_else(|| elsewhere(name));
        self.values.borrow_mut().insert(key, value);
        value
    }

    pub(crate) fn place(&self, instr: u32) -> Place {
        let info = self.info(instr);
        let loc = self.loc(instr).filter(|loc| loc.line > 0);
        let file = loc.and_then(|loc| self.inputs.files.iter().find(|(index, _)| *index == loc.file));
        Place {
            file: file.map(|(_, path)| path.clone()).unwrap_or_default(),
            line: loc.map_or(0, |loc| loc.line),
            column: loc.map_or(0, |loc| loc.column),
            text: loc.and_then(|loc| self.source_of(instr)?.line(loc.line)).map(str::to_owned),
            ptx_line: info.map_or(0, |info| info.ptx_line),
            instruction: info.map(|info| info.text.clone()).unwrap_or_default(),
            is_machine_code: self.inputs.kernel.machine_code,
        }
    }

    /// Returns the file and line of an instruction; of its own when the source is not known.
    pub(crate) fn line(&self, instr: u32) -> (u32, u32) {
        match self.loc(instr) {
            Some(loc) if loc.line > 0 => (loc.file, loc.line),
            _ => (u32::MAX, instr),
        }
    }

    /// Returns an instruction's line, `line 14` or `PTX line 203`, or its address in machine code; `line 22 of
    /// common.cuh` where the file is not that of `main_instr`, the instruction whose place is in the first line of
    /// the message.
    pub(crate) fn line_name(&self, main_instr: u32, instr: u32) -> String {
        match self.loc(instr) {
            Some(loc) if loc.line > 0 => self.numbered(main_instr, loc.file, loc.line),
            _ => self.place(instr).instruction_place(),
        }
    }

    /// Works as [`Self::line_name`], for the line of the kernel from which calls lead to the instruction.
    pub(crate) fn outer_line(&self, main_instr: u32, instr: u32) -> String {
        let outermost = self.frames(instr).pop().filter(|loc| loc.line > 0);
        outermost.map_or_else(|| self.line_name(main_instr, instr), |loc| self.numbered(main_instr, loc.file, loc.line))
    }

    /// Works as [`Self::line_name`], for the outermost lines in which calls lead to two different instructions apart.
    pub(crate) fn lines_apart(&self, main_instr: u32, instrs: [u32; 2]) -> [String; 2] {
        let [a, b] = instrs.map(|instr| self.frames(instr));
        match a.iter().rev().zip(b.iter().rev()).find(|(a, b)| (a.file, a.line) != (b.file, b.line)) {
            Some((a, b)) => [a, b].map(|loc| self.numbered(main_instr, loc.file, loc.line)),
            None => instrs.map(|instr| self.line_name(main_instr, instr)),
        }
    }

    /// Returns the line `line` of a file in words, as [`Self::line_name`] has them. Where `main_instr` was called from
    /// another file, that one is named, too.
    pub(crate) fn numbered(&self, main_instr: u32, file: u32, line: u32) -> String {
        let is_called = self.frames(main_instr).iter().any(|loc| loc.file != file);
        match self.of_file(main_instr, file) {
            own if own.is_empty() && is_called => format!("line {line} of {}", self.file_name(file)),
            other => format!("line {line}{other}"),
        }
    }

    fn path(&self, file: u32) -> &'a str {
        self.inputs.files.iter().find(|(index, _)| *index == file).map_or("", |(_, path)| path.as_str())
    }

    fn file_name(&self, file: u32) -> &'a str {
        self.path(file).rsplit('/').next().unwrap_or_default()
    }

    /// Returns the file of an instruction as `, in common.cuh`; empty for the file of `main_instr`.
    pub(crate) fn elsewhere(&self, main_instr: u32, instr: u32) -> String {
        let file = self.loc(instr).map_or_else(String::new, |loc| self.of_file(main_instr, loc.file));
        file.replacen(" of ", ", in ", 1)
    }

    /// Returns a file as ` of common.cuh`; empty for the file of `main_instr`.
    pub(crate) fn of_file(&self, main_instr: u32, file: u32) -> String {
        let shown = self.loc(main_instr).map_or(u32::MAX, |loc| loc.file);
        match self.path(file) {
            other if other == self.path(shown) || other.is_empty() => String::new(),
            other if self.file_name(file) == self.file_name(shown) => format!(" of {other}"),
            _ => format!(" of {}", self.file_name(file)),
        }
    }

    /// Returns a thread's name, such as `thread (4,12) of block (6,5)`; the block is left out when there is only one.
    pub(crate) fn thread_name(&self, block: u64, thread: u64) -> String {
        let request = self.inputs.request;
        let name = format!("thread {}", self.thread_position(thread));
        if request.grid == [1, 1, 1] {
            return name;
        }
        format!("{name} of block {}", self.block_position(block))
    }

    pub(crate) fn thread_position(&self, thread: u64) -> String {
        let block = self.inputs.request.block;
        words::position(coordinates(thread, block), block)
    }

    pub(crate) fn block_position(&self, block: u64) -> String {
        let grid = self.inputs.request.grid;
        words::position(coordinates(block, grid), grid)
    }

    pub(crate) fn threads_per_block(&self) -> u64 {
        self.inputs.request.block.iter().map(|&n| u64::from(n)).product()
    }

    pub(crate) fn n_blocks(&self) -> u64 {
        self.inputs.request.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the blocks of a cluster along each axis.
    pub(crate) fn cluster(&self) -> [u64; 3] {
        let asked = self.inputs.request.options.cluster.or(self.inputs.kernel.cluster.required);
        asked.unwrap_or([1; 3]).map(|n| u64::from(n.max(1)))
    }

    /// Returns a sentence about all threads that make the mistake, such as `192 threads in 12 blocks do the same
    /// here.`; `None` for one.
    fn others_do_the_same(&self, mistake: &MistakeGroup) -> Option<String> {
        let n = mistake.n_threads;
        if n < 2 {
            return None;
        }
        if n == self.threads_per_block() * self.n_blocks() {
            return Some(format!("All {n} threads do the same here."));
        }
        let at_least = self.at_least(mistake);
        let place = match (self.n_blocks(), mistake.n_blocks) {
            (1, _) => String::new(),
            (_, 1) => " of this block".into(),
            (_, blocks) => format!(" in {blocks} blocks"),
        };
        Some(format!("{at_least}{n} threads{place} do the same here."))
    }

    /// Returns the prefix of a count of threads or blocks: `At least `, unless all of them were counted.
    fn at_least(&self, mistake: &MistakeGroup) -> &'static str {
        if self.counts_all(mistake) { "" } else { "At least " }
    }

    /// Returns a sentence such as `In block (2,0). 7 blocks do the same.`, unless the launch has only one block;
    /// `about` describes the block.
    pub(crate) fn in_block(&self, mistake: &MistakeGroup, about: &str) -> Option<String> {
        let more = match mistake.n_blocks {
            1 => String::new(),
            n => format!(" {}{n} blocks do the same.", self.at_least(mistake)),
        };
        let block = self.block_position(mistake.first.block);
        (self.n_blocks() > 1).then(|| format!("In block {block}{about}.{more}"))
    }

    /// Returns the launch in words: `7x7 blocks of 16x16 threads`.
    pub(crate) fn describe_launch(&self) -> String {
        let request = self.inputs.request;
        let blocks = match self.n_blocks() {
            1 => "1 block".to_owned(),
            _ => format!("{} blocks", words::size(request.grid)),
        };
        format!("{blocks} of {} threads", words::size(request.block))
    }

    pub(crate) fn plain_kernel_name(&self) -> &str {
        plain_name(&self.inputs.kernel.name)
    }

    pub(crate) fn racing_access(&self, party: RaceParty) -> RacingAccess {
        RacingAccess {
            does: party.kind.into(),
            place: self.place(party.instr),
            block: coordinates(party.block, self.inputs.request.grid),
            thread: party.thread,
        }
    }

    pub(crate) fn party(&self, does: Action, instr: u32, block: u64, thread: u64, n: u64) -> Party {
        Party {
            does,
            instr,
            place: self.place(instr),
            block: coordinates(block, self.inputs.request.grid),
            thread: coordinates(thread, self.inputs.request.block),
            n_threads: n,
        }
    }
}

pub(crate) fn first_thread(mistake: &MistakeGroup) -> ThreadId {
    let lane = mistake.first.mask.first() as u64 & 31;
    ThreadId { block: mistake.first.block, thread: u64::from(mistake.first.warp) * 32 + lane }
}

/// A branch or loop around an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Around<'a> {
    pub(crate) file: u32,
    pub(crate) line: u32,
    /// Line in which the statement under the header ends.
    pub(crate) last: u32,
    pub(crate) enclosure: &'a Enclosure,
}

/// The counter of a loop that counts up: `for (int i = start; i < end; i += step)`.
pub(crate) struct Counter<'a> {
    pub(crate) name: &'a str,
    pub(crate) start: i64,
    pub(crate) step: i64,
    pub(crate) end: Option<i64>,
}

impl Counter<'_> {
    /// Returns how often the body is executed.
    pub(crate) fn rounds(&self) -> Option<i64> {
        let last = self.end?.checked_sub(1)?.checked_sub(self.start)?;
        Some(last.div_euclid(self.step) + 1)
    }

    /// Returns the value in a round, counted from 0.
    pub(crate) fn at(&self, round: i64) -> Option<i64> {
        round.checked_mul(self.step)?.checked_add(self.start)
    }
}

/// The cause of a mistake and what to do about it, each as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Reason {
    pub(crate) why: Option<String>,
    pub(crate) advice: Option<String>,
}

impl Reason {
    pub(crate) fn new(why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { why: Some(why.into()), advice: Some(advice.into()) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) title: String,
    /// Byte columns to underline in the source line.
    pub(crate) carets: Vec<(usize, usize)>,
    pub(crate) notes: Vec<String>,
    /// Lines that are printed without wrapping.
    pub(crate) verbatim: Vec<String>,
    pub(crate) array: Option<ArrayElement>,
    pub(crate) others: Vec<Party>,
    pub(crate) race: Option<Race>,
    pub(crate) why: Option<String>,
    pub(crate) advice: Option<String>,
    pub(crate) on_gpu: Option<String>,
    /// Whether no caret is printed, because the line cannot be where the memory is accessed.
    pub(crate) no_caret: bool,
    /// Whether the source line is shown with the parties instead.
    pub(crate) no_listing: bool,
    /// The instruction that the message names, when it is not the mistake's.
    pub(crate) instr: Option<u32>,
}

impl<'a> Around<'a> {
    fn new(file: u32, source: &Source, enclosure: &'a Enclosure) -> Self {
        Self {
            file,
            line: source.line_of(enclosure.start),
            last: source.line_of(enclosure.body.end.saturating_sub(1)),
            enclosure,
        }
    }

    pub(crate) fn is_loop_with(&self, line: u32) -> bool {
        self.enclosure.control == Control::Loop && (self.line..=self.last).contains(&line)
    }

    /// Returns the counter of a loop, with its values for one thread.
    pub(crate) fn counter(&self, launch: &LaunchContext<'_>, who: ThreadId) -> Option<Counter<'a>> {
        let [init, condition, step] = self.enclosure.for_parts()?;
        let value = |text: &str| launch.evaluate_in(self.file, text, who);
        let (head, start) = init.split_once('=')?;
        let (_, name) = crate::source::text::words(head).last()?;
        let by = match step.split_once("+=") {
            Some((counted, by)) if counted.trim() == name => value(by)?,
            None if step.contains("++") => 1,
            _ => return None,
        };
        let end = condition.split_once('<').and_then(|(_, end)| value(end));
        (by > 0).then_some(Counter { name, start: value(start)?, step: by, end })
    }

    /// Returns the header's line, such as `line 14`; `main_instr` as in [`LaunchContext::line_name`].
    pub(crate) fn name(&self, launch: &LaunchContext<'_>, main_instr: u32) -> String {
        launch.numbered(main_instr, self.file, self.line)
    }
}

impl Draft {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(crate) fn why(self, text: impl Into<String>) -> Self {
        Self { why: Some(text.into()), ..self }
    }

    pub(crate) fn advice(self, text: impl Into<String>) -> Self {
        Self { advice: Some(text.into()), ..self }
    }

    pub(crate) fn on_gpu(self, text: impl Into<String>) -> Self {
        Self { on_gpu: Some(text.into()), ..self }
    }

    pub(crate) fn reason(self, Reason { why, advice }: Reason) -> Self {
        Self { why, advice, ..self }
    }

    pub(crate) fn without_caret(self) -> Self {
        Self { no_caret: true, ..self }
    }

    /// Writes the sentences for Rust, where that is the language of a source.
    pub(crate) fn spell(&mut self, source: Option<&Source>) {
        let Some(source) = source.filter(|source| source.is_rust()) else { return };
        let sentences = [&mut self.why, &mut self.advice, &mut self.on_gpu].into_iter().flatten();
        for text in sentences.chain(&mut self.notes).chain(&mut self.verbatim).chain([&mut self.title]) {
            *text = source.spelled(text);
        }
    }

    /// Returns the finished finding.
    ///
    /// `earlier` are the findings before it: advice that one of them has is not printed in full again.
    pub(crate) fn finish(
        mut self, launch: &LaunchContext<'_>, code: Code, mistake: &MistakeGroup, who: ThreadId, earlier: &[Finding],
    ) -> Finding {
        let instr = self.instr.unwrap_or(mistake.first.instr);
        self.spell(launch.source_of(instr));
        let mut place = launch.place(instr);
        if let Some((from, _)) = self.carets.first()
            && let Some(text) = &place.text
        {
            place.column = text.get(..*from).map_or(place.column, |before| before.chars().count() as u32 + 1);
        }
        let advice = self.advice.as_ref().map(|text| text.replace('\u{a0}', " "));
        let name = |array: &Option<ArrayElement>| array.as_ref().map(|array| array.name.clone());
        // An undefined value at a line of a reported race follows from that race.
        let is_of_race = |found: &&Finding| {
            let mut parties = [found.instr].into_iter().chain(found.others.iter().map(|party| party.instr));
            (found.code, code) == (Code::Race, Code::Uninitialised)
                && name(&found.array) == name(&self.array)
                && parties.any(|party| party == instr)
        };
        // A race past a barrier that not all threads reach.
        let is_alike = |other: Code| other == code || (other, code) == (Code::BarriersApart, Code::Race);
        let same =
            |found: &&Finding| is_of_race(found) || is_alike(found.code) && advice.is_some() && found.advice == advice;
        let said = earlier.iter().find(same).map(|found| launch.line_name(instr, found.instr));
        let text = self.text(launch, code, &place, instr, said);
        let request = launch.inputs.request;
        Finding {
            instr,
            source: launch.loc(instr),
            place: Some(place),
            block: coordinates(who.block, request.grid),
            thread: coordinates(who.thread, request.block),
            n_threads: mistake.n_threads,
            n_blocks: mistake.n_blocks,
            ..self.finding(code, text)
        }
    }

    /// Returns the finding without its place and threads.
    fn finding(self, code: Code, text: String) -> Finding {
        let plain = |text: String| text.replace('\u{a0}', " ");
        Finding {
            severity: code.severity(),
            code,
            title: plain(self.title),
            instr: 0,
            source: None,
            place: None,
            block: [0; 3],
            thread: [0; 3],
            n_threads: 0,
            n_blocks: 0,
            array: self.array,
            others: self.others,
            race: self.race,
            notes: self.notes.into_iter().chain(self.verbatim).map(plain).collect(),
            why: self.why.map(plain),
            advice: self.advice.map(plain),
            on_gpu: self.on_gpu.map(plain),
            text,
        }
    }

    fn text(&self, launch: &LaunchContext<'_>, code: Code, place: &Place, instr: u32, said: Option<String>) -> String {
        let mut out = header(code, &self.title, &where_(place, launch));
        if !self.no_listing {
            listing(&mut out, place, &self.carets, !self.no_caret);
            for call in launch.calls(instr, instr) {
                let _ = writeln!(out, "   {call}");
            }
        }
        for line in &self.verbatim {
            let _ = writeln!(out, "   {}", line.trim_end());
        }
        let follow = said.map(|line| format!("follow the advice for {line} above."));
        self.sentences(&mut out, follow.as_deref());
        out
    }

    /// Adds the sentences; with `instead`, that in place of the cause and the advice.
    fn sentences(&self, out: &mut String, instead: Option<&str>) {
        self.notes.iter().for_each(|note| paragraph(out, "", note));
        if let Some(text) = instead {
            return paragraph(out, "Try: ", text);
        }
        for (label, text) in [("Why: ", &self.why), ("Try: ", &self.advice), ("On a GPU: ", &self.on_gpu)] {
            if let Some(text) = text {
                paragraph(out, label, text);
            }
        }
    }

    /// Returns the finished finding about a launch that did not start.
    pub(crate) fn finish_refusal(self) -> Finding {
        let mut text = header(Code::Launch, &self.title, "");
        self.sentences(&mut text, None);
        text.truncate(text.trim_end().len());
        self.finding(Code::Launch, text)
    }
}

/// Returns the first line of a message: `error[E-OOB]: read past the end of `A`      file.cu:14:14`.
pub(crate) fn header(code: Code, title: &str, place: &str) -> String {
    let severity = match code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let head = format!("{severity}[{}]: {}", code.as_str(), title.replace('\u{a0}', " "));
    let length = head.chars().count();
    match place {
        "" => format!("{head}\n"),
        _ if length.max(PLACE_COLUMN) + 2 + place.chars().count() <= WIDTH + 10 => {
            format!("{head}{}{place}\n", " ".repeat(PLACE_COLUMN.saturating_sub(length).max(2)))
        }
        _ => format!("{head}\n  --> {place}\n"),
    }
}

pub(crate) fn paragraph(out: &mut String, label: &str, text: &str) {
    for (index, line) in words::wrap(&format!("{label}{text}"), WIDTH - 3).iter().enumerate() {
        let indent = if index > 0 && !label.is_empty() { "     " } else { "" };
        let _ = writeln!(out, "   {indent}{line}");
    }
}

fn where_(place: &Place, launch: &LaunchContext<'_>) -> String {
    match (place.line, place.column) {
        (0, _) => format!("{}, {}", launch.plain_kernel_name(), place.instruction_place()),
        (line, 0) => format!("{}:{line}", place.file),
        (line, column) => format!("{}:{line}:{column}", place.file),
    }
}

/// Returns the line under a text that marks spans of its bytes, such as `    ^~~`.
pub(crate) fn marks(text: &str, spans: &[(usize, usize)]) -> String {
    let column = |byte: usize| text.get(..byte).map_or(0, |before| before.chars().count());
    let mut marks: Vec<char> = Vec::new();
    for (from, to) in spans.iter().map(|&(from, to)| (column(from), column(to))).filter(|(from, to)| from < to) {
        marks.resize(marks.len().max(to), ' ');
        marks[from..to].fill('~');
        marks[from] = '^';
    }
    marks.into_iter().collect()
}

/// Prints the source line with carets, or the PTX instruction.
fn listing(out: &mut String, place: &Place, carets: &[(usize, usize)], by_column: bool) {
    if place.text.is_some() || !place.instruction.is_empty() {
        let _ = writeln!(out, "   {}", place.listed());
    }
    let Some(text) = &place.text else { return };
    let mut marks = marks(text, carets);
    // numba names the first column of every line: a caret below white space says nothing.
    let named = (place.column as usize).checked_sub(1).and_then(|at| text.chars().nth(at));
    if by_column && carets.is_empty() && named.is_some_and(|c| !c.is_whitespace()) {
        marks = format!("{}^", " ".repeat(place.column as usize - 1));
    }
    if !marks.is_empty() {
        let _ = writeln!(out, "        | {marks}");
    }
}

//! Lines that fill an array, and why they leave an element of it out.

use std::collections::BTreeSet;

use program::{OpKind, SourceLoc};
use simt::check::{MistakeDetails, ThreadId};

use crate::launch_context::{Counter, LaunchContext, Reason};
use crate::locate::{arrays::Target, case::Case};
use crate::{source::text::has_word, words::code};

/// A line that fills an array before an element of it is read, and how many threads ran it.
pub(super) struct Filler<'a> {
    launch: &'a LaunchContext<'a>,
    target: &'a Target,
    /// The instruction that the message is about, and the block.
    main_instr: u32,
    block: u64,
    file: u32,
    line: u32,
    instr: u32,
    threads: Option<u64>,
}

impl Filler<'_> {
    /// Returns the line's name, such as `line 14`.
    fn name(&self) -> String {
        self.launch.numbered(self.main_instr, self.file, self.line)
    }

    /// Returns the line of the condition around it, and the condition.
    pub(super) fn condition(&self) -> Option<(u32, String)> {
        self.launch.source_of_file(self.file)?.condition(self.line)
    }

    /// Returns the subscripts with which the line stores to the array, and for each the value that it would have for
    /// the element `target`.
    fn subscripts(&self) -> Option<Vec<(String, i64)>> {
        let element = &self.target.element;
        let uses = self.launch.source_of_file(self.file)?.uses(self.line, &element.name);
        let stored = uses.into_iter().find(|found| found.stored)?;
        if stored.subscripts.len() != element.dims.len() {
            return None;
        }
        let mut pitch = 1i64;
        let values = stored.subscripts.into_iter().zip(&element.dims).rev().map(|(text, dim)| {
            let dim = i64::try_from(*dim).ok()?.max(1);
            let value = element.index.div_euclid(pitch).rem_euclid(dim);
            pitch = pitch.checked_mul(dim)?;
            Some((text, value))
        });
        let mut values = values.collect::<Option<Vec<_>>>()?;
        values.reverse();
        Some(values)
    }

    /// Returns how many neighbours in a row one execution fills.
    fn lanes(&self) -> i64 {
        let bytes = self.launch.ops(self.instr).map(|op| match op {
            OpKind::Store(access) => access.bytes(),
            OpKind::CpAsync { bytes, .. } => u32::from(*bytes),
            _ => 0,
        });
        i64::from(bytes.max().unwrap_or(0) / self.target.element.element_bytes.max(1)).max(1)
    }

    /// Returns the reason where a subscript of a line that fills an array is smaller in all threads of a block than
    /// that of the element, whatever condition they meet.
    pub(super) fn out_of_reach(&self) -> Option<Reason> {
        let Self { launch, target, block, .. } = *self;
        let subscripts = self.subscripts()?;
        let last_one = subscripts.len() - 1;
        subscripts.into_iter().zip(&target.element.dims).enumerate().find_map(|(at, ((text, value), size))| {
            let values = launch.values_in_block(self.file, &text, block)?;
            let (first, last) = (*values.first()?, *values.last()?);
            let (lanes, size) = (if at == last_one { self.lanes() } else { 1 }, i64::try_from(*size).ok()?);
            let n = last + lanes;
            if values.len() == 1 || value < n {
                return None;
            }
            let set = launch.source_of_file(self.file)?.definition(&launch.inputs.kernel.name, &text);
            let is = set.map_or_else(|| code(&text), |set| format!("{}, which is {},", code(&text), code(set)));
            let is_whole =
                self.condition().is_none() && first == 0 && n == lanes * values.len() as i64 && size % n == 0;
            let in_loop = match is_whole {
                true => {
                    let head = code(&format!("for (int i = 0; i < {size}; i += {n})"));
                    format!(": {head}, with {} for {}", code(&format!("{text} + i")), code(&text))
                }
                false => " that steps by the number of threads".to_owned(),
            };
            let (line, name, n_threads) = (self.name(), &target.element.name, launch.threads_per_block());
            Some(Reason::new(
                format!(
                    "{is} is {first} to {last} in the {n_threads} threads of a block: {line} fills no element of {name} \
                     where it would be {value}."
                ),
                format!("if all of {name} is needed, fill it in a loop{in_loop}; if not, read only what is filled."),
            ))
        })
    }

    /// Returns the reason where the loop around a line that fills an array ends before the element, or steps over it,
    /// in all threads of a block.
    pub(super) fn unfinished(&self, written: &[(u64, u64)]) -> Option<Reason> {
        let (dims, subscripts) = (&self.target.element.dims, self.subscripts()?);
        let nouns = if dims.len() == 1 { &["element"][..] } else { &["row", "column"] };
        let last = subscripts.len() - 1;
        let axes = subscripts.into_iter().enumerate().skip(dims.len().saturating_sub(2)).zip(nouns);
        { axes }.find_map(|((at, subscript), noun)| {
            if at == last && self.lanes() > 1 {
                return None;
            }
            let (size, stride) = (dims[at], dims[at + 1..].iter().product::<u64>());
            let written = spans(self.target, written).into_iter().flat_map(|(from, to)| from..to);
            let written = written.map(|index| (index / stride % size) as i64).collect();
            self.unfinished_along(subscript, (noun, size), &written)
        })
    }

    /// Works as [`Self::unfinished`], for one of the two subscripts.
    fn unfinished_along(
        &self, (text, value): (String, i64), (noun, size): (&str, u64), written: &BTreeSet<i64>,
    ) -> Option<Reason> {
        let Self { launch, block, main_instr, .. } = *self;
        let (text, size, name) = (text.as_str(), i64::try_from(size).ok()?, &self.target.element.name);
        let source = launch.source_of_file(self.file)?;
        let set = source.definition_for(&launch.inputs.kernel.name, text, Some(self.line)).unwrap_or(text);
        let around = launch.around(self.instr);
        let counter = |thread: u64| {
            let counters =
                around.iter().filter_map(|one| Some((one, one.counter(launch, ThreadId { block, thread })?)));
            { counters }.find(|(_, counter)| has_word(set, counter.name))
        };
        let index = |thread: u64, round: i64| {
            let (_, counter) = counter(thread)?;
            let given = (counter.name, counter.at(round)?);
            launch.evaluate_with(self.file, text, ThreadId { block, thread }, (self.line, given))
        };
        let (one, counter_of_first) = counter(0)?;
        let Counter { name: counted, start, step, .. } = counter_of_first;
        let (rounds, threads) = (counter_of_first.rounds()?, launch.threads_per_block());
        let first: BTreeSet<i64> = (0..threads).map(|thread| index(thread, 0)).collect::<Option<_>>()?;
        let [by, of_last] = [0, threads - 1].map(|thread| Some(index(thread, 1)? - index(thread, 0)?));
        let (n, by) = (first.len() as i64, by.filter(|by| Some(*by) == of_last)?);
        let filled: BTreeSet<i64> =
            (0..rounds.min(size)).flat_map(|round| first.iter().map(move |at| at + round * by)).collect();
        let missing = (0..size).filter(|at| !filled.contains(at)).count();
        let (line, at, [_, condition, _]) = (self.name(), one.name(launch, main_instr), one.enclosure.for_parts()?);
        let never = format!("{missing} of the {size} {noun}s of {name} are never written.");
        if filled.contains(&value) || !written.is_subset(&filled) {
            None
        } else if by > n {
            let advice = match step * n % by {
                0 => format!(": {}", code(&format!("{counted} += {}", step * n / by))),
                _ => String::new(),
            };
            let why = format!(
                "each round of the loop at {at} advances by {by} {noun}s, and the threads of a block fill {n} of them at \
                 {line}: {never}"
            );
            Some(Reason::new(why, format!("advance by as many {noun}s as are filled{advice}.")))
        } else if value > *filled.last()? {
            let ends = counter_of_first.at(rounds)?.checked_mul(size)?;
            let advice = match by == n && start == 0 && first.first() == Some(&0) && ends % (rounds * n) == 0 {
                true => format!(": {}", code(&format!("{counted} < {}", ends / (rounds * n)))),
                false => String::new(),
            };
            let n_filled = filled.len();
            let ends = format!("the loop at {at} ends at {}", code(condition));
            let why = format!("{ends}, when {line} has filled {n_filled} {noun}s: {never}");
            Some(Reason::new(why, format!("let the loop go on to the last {noun}{advice}.")))
        } else {
            None
        }
    }

    /// Returns a sentence on a line that fills an array: `line 22, which fills a_tile, was executed by 128 of 256
    /// threads: it is inside …`.
    pub(super) fn reason(&self) -> String {
        let (launch, name) = (self.launch, &self.target.element.name);
        let all = launch.threads_per_block() * launch.n_blocks();
        let under = self.condition().map(|(line, condition)| {
            let at = if line == self.line { String::new() } else { format!(" (line {line})") };
            format!("it is inside {}{at}", code(&format!("if ({condition})")))
        });
        let line = self.name();
        match (self.threads.filter(|&threads| threads < all), under) {
            (Some(0), Some(under)) => format!("{line}, which fills {name}, was executed by no thread: {under}."),
            (Some(threads), Some(under)) => {
                let rest = if have_exited(launch) { ", and threads of the block had ended before" } else { "" };
                format!("{line}, which fills {name}, was executed by {threads} of {all} threads: {under}{rest}.")
            }
            (Some(threads), None) => {
                let rest = if have_exited(launch) { "; the others had ended" } else { "" };
                format!("{line}, which fills {name}, was executed by {threads} of {all} threads{rest}.")
            }
            (None, under) => {
                let returned = launch.mistakes.iter().find_map(|mistake| match mistake.first.details {
                    MistakeDetails::Exited { returned, .. } => Some((mistake.first.block, returned)),
                    _ => None,
                });
                // The number is that of one block.
                let ended = returned
                    .map(|(of, n)| if of == self.block { format!("{n} threads") } else { "threads".to_owned() });
                let part = format!("{line}, which fills {name}, does not write this element before it is read here");
                match (ended, under) {
                    (Some(ended), None) => format!(
                        "{line} fills {name}, but {ended} of the block had ended before they could fill their part."
                    ),
                    (Some(ended), Some(under)) => {
                        format!("{part}: {ended} of the block had ended before, and {under}.")
                    }
                    (None, Some(under)) => format!("{part}: {under}."),
                    (None, None) => format!("{line} writes to {name}, but not to this element before it is read here."),
                }
            }
        }
    }
}

pub(super) fn fillers<'a>(case: &Case<'a>, target: &'a Target, main_instr: u32) -> Vec<Filler<'a>> {
    let (launch, block) = (case.launch, case.who.block);
    let name = &target.element.name;
    // A function that loads has the array's name in its caller.
    let files = launch.frames(case.instr).into_iter().map(|loc| loc.file);
    let lines = files.filter_map(|file| Some((file, launch.source_of_file(file)?.lines_storing(name))));
    let Some((file, lines)) = { lines }.find(|(_, lines)| !lines.is_empty()) else { return Vec::new() };
    let is_store = |kind: &OpKind| matches!(kind, OpKind::Store(_) | OpKind::CpAsync { .. });
    let stores = launch.inputs.kernel.ops.iter().filter(|op| is_store(&op.kind)).map(|op| op.instr);
    let stores: Vec<(u32, Vec<SourceLoc>)> = stores.map(|instr| (instr, launch.frames(instr))).collect();
    let filler = |line: u32| {
        let is_its = |loc: &SourceLoc| (loc.file, loc.line) == (file, line);
        let of_line = stores.iter().filter(|(_, frames)| frames.iter().any(is_its)).map(|(instr, _)| *instr);
        let instr = of_line.clone().next()?;
        // In a loop, executions are not threads.
        let once = launch.inputs.executed.filter(|_| launch.loops(instr).is_empty());
        let threads = once.and_then(|executed| of_line.map(executed).max());
        Some(Filler { launch, target, main_instr, block, file, line, instr, threads })
    };
    lines.into_iter().filter_map(filler).collect()
}

/// Returns the elements of an array that were written, as ranges of indices.
pub(super) fn spans(target: &Target, written: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (bytes, n) = (u64::from(target.element.element_bytes.max(1)), target.element.n_elements);
    let index = |address: u64| address.saturating_sub(target.start) / bytes;
    let spans = written.iter().map(|&(from, to)| (index(from), index(to.saturating_add(bytes - 1)).min(n)));
    spans.filter(|(from, to)| from < to).collect()
}

/// Returns the reason where threads that meet at barriers fill a local array, each at its own place.
pub(super) fn not_shared(fillers: &[Filler<'_>]) -> Option<Reason> {
    let Filler { launch, target, .. } = *fillers.first()?;
    let name = &target.element.name;
    let by_thread = |filler: &&Filler<'_>| {
        let Some(source) = launch.source_of_file(filler.file) else { return false };
        let uses = source.uses(filler.line, name);
        let mut subscripts = uses.iter().filter(|found| found.stored).flat_map(|found| &found.subscripts);
        subscripts.any(|text| source.depends_on_thread(&launch.inputs.kernel.name, text))
    };
    let filler = fillers.iter().find(by_thread).filter(|_| target.named && launch.has_barrier())?;
    let line = filler.name();
    Some(Reason::new(
        format!(
            "{name} is declared without {}: each thread has one of its own, and does not see what the others write to \
             theirs at {line}.",
            code("__shared__")
        ),
        format!("declare {name} with {}: then the threads of a block have one together.", code("__shared__")),
    ))
}

/// Returns whether threads exited before a barrier that others wait at.
pub(super) fn have_exited(launch: &LaunchContext<'_>) -> bool {
    launch.mistakes.iter().any(|mistake| matches!(mistake.first.details, MistakeDetails::Exited { .. }))
}

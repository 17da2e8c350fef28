//! Small edits of a learner's kernel, the likely ones first: any of them might be what the kernel lacks.
//!
//! This module does not know the solution. An edit is a remedy if the whole task passes with it; one
//! that does not compile is discarded. After Singh, Gulwani and Solar-Lezama, "Automated feedback generation for
//! introductory programming assignments", 2013.

mod axes;
mod code;
mod fills;
mod indices;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::{diff, part_id::WRONG_RESULT, task::Task, verdict::Verdict};
use code::{Code, is_constant};

/// Replaced bytes of a source, with their new text.
pub type Change = (Range<usize>, String);
/// Changes of a source, in order.
pub type Changes = Vec<Change>;

pub fn apply(text: &str, changes: &Changes) -> String {
    let mut out = text.to_owned();
    changes.iter().rev().for_each(|(range, new)| out.replace_range(range.clone(), new));
    out
}

/// Edited kernels for `judge` to try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tries {
    /// Code of the verdict on the kernel without edits, and the shape that it is about.
    pub code: String,
    pub shape: Shape,
    /// Whether only results and mistakes count, whatever the code.
    pub only_right: bool,
    /// The PTX of each.
    pub kernels: Vec<String>,
}

/// Costs of an edit, higher for an unlikely one, by what a copy shows: a wrong result, a forbidden access, an undefined
/// value, a race or a wrong barrier, another criterion that fails. Edits of low cost are tried first.
#[derive(Clone, Copy, PartialEq)]
struct Costs {
    result: u32,
    access: u32,
    undefined: u32,
    order: u32,
    criterion: u32,
}

const EXCHANGE: Costs = Costs { result: 6, access: 8, undefined: 12, order: 40, criterion: 30 };
const SIBLING: Costs = Costs { result: 10, access: 10, undefined: 10, order: 40, criterion: 24 };
const AXES: Costs = Costs { result: 6, access: 8, undefined: 10, order: 40, criterion: 8 };
/// The axis that threads count along, where the result is right.
const TURN: Costs = Costs { result: 90, access: 90, undefined: 90, order: 90, criterion: 6 };
/// A term that a similar sum has.
const PARALLEL: Costs = Costs { result: 6, access: 6, undefined: 10, order: 40, criterion: 24 };
/// A distance that the diagnosis names, added to an index.
const OFFSET: Costs = Costs { result: 7, access: 40, undefined: 40, order: 60, criterion: 40 };
/// Another index of the same variables.
const INDEX: Costs = Costs { result: 5, access: 6, undefined: 10, order: 40, criterion: 24 };
const TERM: Costs = Costs { result: 20, access: 18, undefined: 22, order: 60, criterion: 40 };
const REMOVAL: Costs = Costs { result: 14, access: 12, undefined: 8, order: 40, criterion: 20 };
const OPERATOR: Costs = Costs { result: 16, access: 10, undefined: 16, order: 40, criterion: 40 };
/// Step of a loop.
const STEP: Costs = Costs { result: 10, access: 8, undefined: 10, order: 40, criterion: 24 };
/// Divisor in the step of a loop: how much the threads of a block do in one pass.
const PASS: Costs = Costs { result: 6, access: 8, undefined: 6, order: 40, criterion: 24 };
/// `<=` in the head of a loop, or beside a size of the matrices.
const LAST: Costs = Costs { result: 5, access: 4, undefined: 6, order: 40, criterion: 30 };
const NUMBER: Costs = Costs { result: 20, access: 18, undefined: 22, order: 40, criterion: 30 };
const TYPE: Costs = Costs { result: 5, access: 30, undefined: 60, order: 60, criterion: 14 };
/// A type that holds fewer digits than the elements.
const NARROW: Costs = Costs { result: 1, access: 8, undefined: 40, order: 60, criterion: 90 };
/// Place of a store where the line before stores too.
const REPEATED: Costs = Costs { result: 4, access: 8, undefined: 3, order: 40, criterion: 30 };
/// Memory space, first value.
const SPACE: Costs = Costs { result: 12, access: 12, undefined: 2, order: 12, criterion: 15 };
const VOLATILE: Costs = Costs { result: 90, access: 90, undefined: 90, order: 90, criterion: 4 };
const BARRIER: Costs = Costs { result: 24, access: 30, undefined: 13, order: 4, criterion: 40 };
const CONDITION: Costs = Costs { result: 26, access: 30, undefined: 20, order: 8, criterion: 40 };
/// Condition under which threads leave early.
const LEAVING: Costs = Costs { result: 26, access: 30, undefined: 6, order: 8, criterion: 40 };
/// Condition of a store that is added.
const GUARD: Costs = Costs { result: 60, access: 6, undefined: 60, order: 40, criterion: 60 };
/// Condition of a wide access that is added.
const ALIGNED: Costs = Costs { result: 90, access: 0, undefined: 90, order: 90, criterion: 90 };
/// Order of statements.
const ORDER: Costs = Costs { result: 8, access: 60, undefined: 30, order: 20, criterion: 90 };
/// Place where the next tiles are requested.
const LATE: Costs = Costs { result: 90, access: 90, undefined: 90, order: 90, criterion: 2 };
/// Place where a buffer is exchanged.
const FLIP: Costs = Costs { result: 2, access: 6, undefined: 0, order: 2, criterion: 60 };
/// Loop that fills a tile.
const FILLS: Costs = Costs { result: 90, access: 90, undefined: 1, order: 90, criterion: 90 };
/// Value of an element of a tile where its condition does not hold.
const FILLED: Costs = Costs { result: 8, access: 30, undefined: 2, order: 40, criterion: 60 };
const LAYOUT: Costs = Costs { result: 90, access: 90, undefined: 90, order: 90, criterion: 6 };
/// Added for a line of the starter.
const OF_STARTER: u32 = 24;
/// Subtracted for a line that the first finding names, one that uses its array, one that sets what these use, and one
/// that further findings name.
const NAMED: u32 = 8;
const MENTIONS: u32 = 5;
const SETS: u32 = 5;
const LATER: u32 = 3;
/// Edits beyond this cost are not worth a trial.
const MAX_COST: i32 = 60;

/// Returns the field of [`Costs`] for a verdict.
fn symptom(clues: &Clues) -> fn(&Costs) -> u32 {
    match clues.code.as_str() {
        WRONG_RESULT | "E-LOOP" => |costs| costs.result,
        // No barrier of a block orders what others write to the output.
        "E-RACE" if matches!(clues.array.as_deref(), Some("C" | "out")) => |costs| costs.access,
        "E-UNINIT" if clues.of_copy => |costs| costs.order,
        "E-UNINIT" | "W-UNINIT" => |costs| costs.undefined,
        "E-RACE" | "E-BARRIER" | "E-MBARRIER" | "barriers" => |costs| costs.order,
        code if code.starts_with("E-") => |costs| costs.access,
        _ => |costs| costs.criterion,
    }
}

struct Found {
    cost: i32,
    costs: Costs,
    line: usize,
    changes: Changes,
}

struct Search<'s> {
    code: Code<'s>,
    task: &'s Task,
    symptom: fn(&Costs) -> u32,
    /// Whether each line is the learner's.
    is_learners: Vec<bool>,
    /// For each line, true where a TODO asks for it: an edit there would do the task.
    to_do: Vec<bool>,
    /// For each line, the amount by which the cost of its edits is lowered.
    suspicion: Vec<u32>,
    found: RefCell<Vec<Found>>,
}

/// Hints of a verdict at the place of the mistake.
#[derive(Debug, Clone, Default)]
pub struct Clues {
    /// The verdict's code.
    pub code: String,
    /// Lines that the first finding and the other reasons name, from 1.
    pub lines: Vec<u32>,
    /// Lines that further findings name.
    pub later: Vec<u32>,
    /// The array that the first finding is about.
    pub array: Option<String>,
    /// The first finding is about an asynchronous copy.
    pub of_copy: bool,
    /// Numbers in the diagnosis of a wrong result: distances of rows and columns, among others.
    pub distances: BTreeSet<u32>,
}

impl Clues {
    /// Returns the clues of a verdict on a copy, whose path is `name` in findings and ends with `file`.
    pub fn new(verdict: &Verdict, name: &str, file: &str) -> Self {
        let named = |(is_own, text): (bool, &String)| -> Vec<u32> {
            let number = |text: &str| {
                let text = text.trim();
                text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())].parse::<u32>().ok()
            };
            let numbers = text.lines().flat_map(|line| {
                // `24 | source`, `called at line 24 of v02.cu`, and where the copy is the file, `at line 24` or
                // `at lines 24, 25`.
                let quoted = line.split_once(" | ").map(|(number, _)| number).filter(|_| is_own);
                let mentioned = line.split("line ").skip(1).filter(move |rest| is_own || rest.contains(file));
                let lists = line.split("lines ").skip(1).filter(move |_| is_own);
                let listed = lists.flat_map(move |list| list.split(", ").map_while(number));
                quoted.into_iter().chain(mentioned).filter_map(number).chain(listed)
            });
            numbers.collect()
        };
        let mut findings = verdict.findings.iter().map(|found| (found.file == name, &found.text));
        let reasons = verdict.parts.iter().filter_map(|part| part.why.as_ref());
        let reasons = reasons.chain(verdict.wrong.iter().filter_map(|wrong| wrong.diagnosis.as_ref()));
        let diagnosis = verdict.wrong.as_ref().and_then(|wrong| wrong.diagnosis.as_deref()).unwrap_or_default();
        // What follows says where it is wrong.
        let what = diagnosis.split(['(', ';']).next().unwrap_or_default();
        let first = verdict.findings.first().map_or("", |found| found.title.as_str());
        let quoted = first.split('`').nth(1);
        // A race caused by an index past its row is not a missing barrier.
        let is_outside = first.starts_with("index past the end of a row");
        Self {
            code: if is_outside { "E-OOB".to_owned() } else { verdict.code.clone().unwrap_or_default() },
            lines: findings.next().into_iter().chain(reasons.map(|why| (true, why))).flat_map(named).collect(),
            later: findings.flat_map(named).collect(),
            of_copy: first.contains("asynchronous copy"),
            distances: what.split(' ').filter_map(|word| word.trim_end_matches([',', ':']).parse().ok()).collect(),
            array: quoted.and_then(|text| text.split(['[', '.']).next()).map(str::to_owned),
        }
    }

    /// Returns for each line the amount by which the cost of its edits is lowered.
    fn suspicion(&self, code: &Code<'_>) -> Vec<u32> {
        let mut found = vec![0; code.text.lines().count() + 1];
        for token in code.tokens.iter().filter(|token| self.array.as_deref() == Some(token.text)) {
            found[token.line] = MENTIONS;
        }
        for (lines, less) in [(&self.later, LATER), (&self.lines, NAMED)] {
            for line in lines.iter().filter_map(|line| line.checked_sub(1)) {
                found.iter_mut().skip(line as usize).take(1).for_each(|known| *known = less.max(*known));
            }
        }
        // Then the lines that set the variables of suspicious lines.
        for less in [SETS, LATER] {
            let of_suspects = (0..code.tokens.len()).filter(|at| found[code.tokens[*at].line] > LATER);
            let set = of_suspects.filter(|at| !is_constant(code.at(*at))).filter_map(|at| code.declaration(at));
            for at in set.collect::<Vec<_>>() {
                let line = code.tokens[at].line;
                found[line] = found[line].max(less);
            }
        }
        found
    }
}

/// Returns at most `limit` edits of a copy, the likely ones first.
pub fn edits(copy: &str, starter: &str, task: &Task, clues: &Clues, limit: usize) -> Vec<Changes> {
    let search = Search::new(copy, starter, task, clues);
    search.offsets(&clues.distances);
    search.numbered_elements();
    search.late_factors();
    search.exchanges();
    search.places();
    search.siblings();
    search.axes();
    search.turns();
    search.sums();
    search.indices();
    search.stale();
    search.parts();
    search.strides();
    search.conjunctions();
    search.operators();
    search.steps();
    search.declarations();
    search.wide_types();
    search.barriers();
    search.conditions();
    search.guards();
    search.fillers();
    if let Some(tile) = clues.array.as_deref().filter(|_| clues.code.ends_with("UNINIT")) {
        search.fills(tile);
    }
    if clues.code == "E-ALIGN" {
        search.aligned();
    }
    search.early_assignments();
    search.hoisted_sums();
    search.hidden_declarations();
    search.rounds_ahead();
    search.late_loads();
    search.buffers();
    search.unread_tiles();
    search.repeat();
    search.likely(copy, limit)
}

/// Returns at most `limit` edits that add or move a barrier, the likely ones first.
pub fn barriers(copy: &str, starter: &str, task: &Task, clues: &Clues, limit: usize) -> Vec<Changes> {
    let search = Search::new(copy, starter, task, clues);
    search.barriers();
    search.found.borrow_mut().retain(|found| found.changes.iter().any(|(_, new)| !new.is_empty()));
    search.likely(copy, limit)
}

/// Marks the lines of each TODO: its comment, and what is below it up to the end of a statement or an empty line.
fn to_do(text: &str) -> Vec<bool> {
    let mut is_inside = false;
    let mark = |line: &str| {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        is_inside |= comment.contains("TODO(");
        let is_marked = is_inside;
        is_inside &= !code.trim_end().ends_with([';', '}']) && !line.trim().is_empty();
        is_marked
    };
    text.lines().map(mark).collect()
}

/// Returns what TODOs of the starter ask for where the copy has the code around them unchanged, each with its line;
/// nothing where that is so for all of them.
pub fn left_to_do(copy: &str, starter: &str) -> Vec<(usize, String)> {
    // Lines with only braces occur in many places, so they identify nothing.
    let code = |line: &'_ str| {
        let code = line.split("//").next().filter(|code| code.contains(char::is_alphanumeric));
        code.unwrap_or_default().trim().to_owned()
    };
    let copied = (1..).zip(copy.lines().map(code)).filter(|(_, text)| !text.is_empty());
    let copied: Vec<(usize, String)> = copied.chain([(0, String::new())]).collect();
    let lines: Vec<&str> = starter.lines().collect();
    let (mut left, mut n_done) = (Vec::new(), 0);
    for (at, asked) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.split_once("TODO(")?.1))) {
        let is_comment = |line: &&&str| line.trim_start().starts_with("//");
        let more = lines[at + 1..].iter().take_while(is_comment).map(|line| line.trim_start_matches([' ', '/']));
        let asked = asked.split_once("): ").map_or(asked, |(_, text)| text);
        let text = [asked].into_iter().chain(more).collect::<Vec<_>>().join(" ");
        let before = lines[..at].iter().rev().map(|line| code(line)).find(|line| !line.is_empty());
        let after = lines[at..].iter().map(|line| code(line)).filter(|line| !line.is_empty()).chain([String::new()]);
        let around: Vec<String> = before.into_iter().chain(after.take(2)).collect();
        match copied.windows(around.len()).find(|part| part.iter().map(|(_, text)| text).eq(&around)) {
            Some(part) => {
                // The line behind the TODO; at the end of the copy, the one before it.
                let behind = part.get(1).filter(|(_, code)| !code.is_empty());
                left.push((behind.unwrap_or(&part[0]).0, text));
            }
            None => n_done += 1,
        }
    }
    left.truncate(if n_done == 0 { 0 } else { left.len() });
    left
}

/// Returns whether two texts are the same code: they may differ in comments and spaces.
pub fn are_same_code(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(Code::new);
    one.tokens.iter().map(|token| token.text).eq(other.tokens.iter().map(|token| token.text))
}

/// Returns a source with all kernels blanked out but one, which compiles faster. Lines stay where they are.
pub fn with_one_kernel(source: &str, entry: &str) -> String {
    let code = Code::new(source);
    let mut out = source.to_owned();
    for at in (0..code.tokens.len()).filter(|at| code.at(*at) == "__global__") {
        let is_beside = |other: &usize| code.parent(*other) == code.parent(at);
        let start = (0..at).rev().find(|at| is_beside(at) && matches!(code.at(*at), ";" | "}"));
        let brace = (at..code.tokens.len()).find(|at| is_beside(at) && code.at(*at) == "{");
        // Where nothing ends before it, headers may stand there.
        if let (Some(start), Some(brace)) = (start, brace)
            && (at..brace).all(|at| code.at(at) != entry)
            && let Some(end) = code.partner(brace)
        {
            let range = code.bytes(start + 1..end + 1);
            let blank = source[range.clone()].bytes().map(|c| if c == b'\n' { '\n' } else { ' ' });
            out.replace_range(range, &blank.collect::<String>());
        }
    }
    out
}

impl<'s> Search<'s> {
    fn new(copy: &'s str, starter: &str, task: &'s Task, clues: &Clues) -> Self {
        let plain = |text: &str| text.lines().map(|line| line.trim().to_owned() + "\n").collect::<String>();
        let is_learners = diff::missing(&plain(copy), &plain(starter));
        // The comment may be gone, and what stood below it still there: all of it, or a learner has begun.
        let lines: HashSet<&str> = copy.lines().map(str::trim).collect();
        let marked: Vec<(&str, bool)> = starter.lines().map(str::trim).zip(to_do(starter)).collect();
        let parts = marked.chunk_by(|a, b| a.1 == b.1).filter(|part| part[0].1);
        let statements = parts.map(|part| part.iter().map(|(line, _)| *line).filter(|line| line.contains(';')));
        let asked = statements.filter(|part| part.clone().all(|line| lines.contains(line))).flatten();
        let asked: HashSet<&str> = asked.collect();
        // What was written below a comment that is still there is a learner's own.
        let is_left = |(line, is_to_do): (&str, bool)| is_to_do && line.trim_start().starts_with("//");
        let to_do = copy.lines().zip(to_do(copy)).map(|line| is_left(line) || asked.contains(line.0.trim())).collect();
        let code = Code::new(copy);
        let suspicion = clues.suspicion(&code);
        Search { code, task, symptom: symptom(clues), is_learners, to_do, suspicion, found: RefCell::default() }
    }

    /// Returns the first of the edits that were found, by their costs, each once.
    fn likely(self, copy: &str, limit: usize) -> Vec<Changes> {
        let mut found = self.found.take();
        found.sort_by_key(|found| found.cost);
        let mut seen = HashSet::from([copy.to_owned()]);
        let is_new = |changes: &Changes| seen.insert(apply(copy, changes));
        found.into_iter().map(|found| found.changes).filter(is_new).take(limit).collect()
    }

    fn add(&self, costs: Costs, extra: u32, mut changes: Changes) {
        changes.sort_by_key(|(range, _)| range.start);
        let Some((first, _)) = changes.first() else { return };
        let line = self.code.line_of(first.start);
        // What is inserted after a line is about that line and the next.
        let lines_of = |(range, _): &Change| {
            let around = range.start.saturating_sub(1)..range.end + 1;
            let Range { start, end } = if range.is_empty() { around } else { range.clone() };
            self.code.line_of(start)..=self.code.line_of(end - 1)
        };
        let lines: Vec<usize> = changes.iter().flat_map(lines_of).collect();
        // A moved statement counts as at the line that it is removed from.
        let changed = changes.iter().find(|(range, _)| !range.is_empty()).unwrap_or(&changes[0]);
        let is_own = self.is_learners.get(self.code.line_of(changed.0.start)) == Some(&true);
        let of_starter = if is_own { 0 } else { OF_STARTER };
        let suspicion = lines.iter().filter_map(|line| self.suspicion.get(*line)).max();
        let cost = ((self.symptom)(&costs) + extra + of_starter) as i32 - suspicion.copied().unwrap_or_default() as i32;
        let overlap = changes.windows(2).any(|pair| pair[0].0.end > pair[1].0.start);
        let does_to_do = lines.iter().any(|line| self.to_do.get(*line) == Some(&true));
        if !overlap && !does_to_do && cost <= MAX_COST {
            self.found.borrow_mut().push(Found { cost, costs, line, changes });
        }
    }

    /// Replaces some tokens.
    fn put(&self, costs: Costs, extra: u32, tokens: Range<usize>, new: impl Into<String>) {
        self.add(costs, extra, vec![(self.code.bytes(tokens), new.into())]);
    }

    /// Counts by the constants that the text divides, multiplies or counts by: `j += WIDTH` for `++j`.
    fn steps(&self) {
        let code = &self.code;
        let is_step =
            |at: &usize| is_constant(code.at(*at)) && matches!(code.at(at.wrapping_sub(1)), "+=" | "/" | "%" | "*");
        let steps: BTreeSet<&str> = (0..code.tokens.len()).filter(is_step).map(|at| code.at(at)).collect();
        let counts = |at: &usize| code.is_head(*at) && code.tokens[*at].is_name;
        for at in (1..code.tokens.len()).filter(counts) {
            let (counter, range) = match (code.at(at - 1), code.at(at), code.at(at + 1)) {
                ("++", counter, _) => (counter, at - 1..at + 1),
                (_, counter, "++") => (counter, at..at + 2),
                (_, counter, "+=") => {
                    let end = code.operand(at + 2).end;
                    self.put(STEP, 0, at..end, format!("++{counter}"));
                    continue;
                }
                _ => continue,
            };
            steps.iter().for_each(|step| self.put(STEP, 0, range.clone(), format!("{counter} += {step}")));
        }
    }

    /// Puts another operator or number in place of one.
    fn operators(&self) {
        #[rustfmt::skip]
        const OTHERS: [(&str, &str, u32); 13] = [
            ("<", "<=", 0), ("<=", "<", 0), (">", ">=", 0), (">=", ">", 0), ("&&", "||", 0), ("||", "&&", 0),
            ("==", "!=", 0), ("!=", "==", 0), ("+=", "=", 0), ("/", "%", 6), ("%", "/", 6), ("+", "-", 6), ("-", "+", 6),
        ];
        let code = &self.code;
        for at in 1..code.tokens.len() {
            let text = code.at(at);
            // Others are brackets of templates and signs.
            let is_spaced = code.text[..code.tokens[at].start].ends_with(' ');
            // A guard that lets fewer threads leave often hides that any leave.
            let close = code.parent(at).and_then(|open| code.partner(open));
            let is_guard = text == "||" && close.is_some_and(|close| code.at(close + 1) == "return");
            // A round beyond a size of the matrices hides what the others lack.
            let (is_head, is_of_size) = (code.is_head(at), ["M", "N", "K"].contains(&code.at(at + 1)));
            let is_round = text == "<" && is_head && is_of_size;
            // One bound does not replace the other.
            let are_bounds = text == "||" && [at.wrapping_sub(2), at + 2].iter().all(|at| code.at(*at) == "<");
            let is_last = are_bounds || if is_head { text == "<=" } else { is_of_size && matches!(text, "<=" | ">") };
            let costs = if is_last { LAST } else { OPERATOR };
            let others = OTHERS.iter().filter(|(known, ..)| *known == text && is_spaced && !is_guard && !is_round);
            others.for_each(|(_, other, extra)| self.put(costs, *extra, at..at + 1, *other));
            match text {
                // These operators have a lower precedence than `+`.
                "&" | "|" | "^" | "<<" | ">>" if is_spaced => {
                    let operands = code.operand_before(at).start..code.operand(at + 1).end;
                    if matches!(code.at(operands.start.wrapping_sub(1)), "+" | "-" | "*" | "/") {
                        self.put(PARALLEL, 0, operands.clone(), format!("({})", code.words(operands)));
                    }
                }
                // In the second case, the offset of the first range is subtracted: `i < 4 ? i : i - 4`.
                "?" if code.at(at.wrapping_sub(2)) == "<" => {
                    let [name, bound] = [3, 1].map(|before| code.at(at.wrapping_sub(before)));
                    let end = code.semicolon(at);
                    let other = (at..end).find(|at| code.at(*at) == ":").unwrap_or(end);
                    let uses = (other..end).filter(|at| code.at(*at) == name);
                    uses.for_each(|at| self.put(PARALLEL, 2, at..at + 1, format!("({name} - {bound})")));
                }
                "/" if is_constant(code.at(at - 1)) => {
                    let same = code.all("/").filter(|other| code.at(other - 1) == code.at(at - 1));
                    let others: BTreeSet<&str> = same.map(|other| code.at(other + 1)).collect();
                    others.into_iter().for_each(|other| self.put(PARALLEL, 3, at + 1..at + 2, other));
                }
                "=" if code.is_sum(at) => self.put(PARALLEL, 2, at..at + 1, "+="),
                "*" if code.at(at + 1) == "(" => {
                    let factor = code.operand(at + 1);
                    let bare = code.words(factor.start + 1..factor.end - 1);
                    self.put(PARALLEL, 0, factor, bare);
                }
                "__syncwarp" => self.put(BARRIER, 0, at..at + 1, "__syncthreads"),
                _ => {}
            }
            if text == "%" && code.at(at + 1) == "2" {
                let turn = code.operand_before(at);
                let words = code.words(turn.clone());
                self.put(INDEX, 2, turn, format!("({} + 1)", words.trim_matches(['(', ')'])));
            }
            if code.at(at - 1) == "=" && code.at(at.saturating_sub(2)).contains("PAD") {
                ["0", "1", "2", "3", "4", "8"].iter().for_each(|pad| self.put(LAYOUT, 0, at..at + 1, *pad));
            }
            if let Ok(number) = text.parse::<u32>() {
                let extra = if number > 4 { 10 } else { 0 };
                let near = [Some(number + 1), number.checked_sub(1)].into_iter().flatten();
                near.for_each(|n| self.put(NUMBER, extra, at..at + 1, n.to_string()));
                // One line writes where the line before it does.
                let target = code.target(at);
                let before = code.statement(at).checked_sub(1).and_then(|end| code.target(end));
                if target.is_some() && target == before {
                    self.put(REPEATED, 0, at..at + 1, (number + 1).to_string());
                }
                if number.is_power_of_two() && number > 2 {
                    self.put(SIBLING, 2, at..at + 1, (2 * number).to_string());
                    self.put(SIBLING, 2, at..at + 1, (number / 2).to_string());
                }
            }
        }
    }

    /// Makes the same edit in all of several parallel lines.
    fn repeat(&self) {
        let mut groups: BTreeMap<(&str, &str), Vec<&Found>> = BTreeMap::new();
        let mut all = self.found.borrow_mut();
        let is_local =
            |found: &&Found| [SIBLING, PASS, PARALLEL, INDEX, REMOVAL, TYPE, OPERATOR, LAST].contains(&found.costs);
        for found in all.iter().filter(is_local) {
            if let [(range, new)] = found.changes.as_slice() {
                groups.entry((&self.code.text[range.clone()], new)).or_default().push(found);
            }
        }
        let mut added = Vec::new();
        for found in groups.into_values() {
            let near = found.chunk_by(|a, b| a.line.abs_diff(b.line) <= 2);
            for chain in near.chain(found.chunk_by(|a, b| a.line == b.line)) {
                let mut changes: Changes = chain.iter().flat_map(|found| found.changes.clone()).collect();
                changes.sort_by_key(|(range, _)| range.start);
                changes.dedup();
                if changes.len() > 1 && changes.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start) {
                    added.push(Found { cost: chain[0].cost + 2, changes, ..*chain[0] });
                }
            }
        }
        all.extend(added);
    }
}

/// Returns how far two names are apart in what they say; `None` for names that have nothing in common.
fn distance(one: &str, other: &str) -> Option<u32> {
    /// Words that are taken for each other.
    #[rustfmt::skip]
    const FAMILIES: [&str; 13] = [
        "row col", "rows cols", "ROWS COLS", "a b", "A B C in out", "M N K", "BM BN BK", "TM TN WIDTH", "WM WN", "X Y",
        "i j k k0 n s step", "r c", "tx ty",
    ];
    let has = |family: &str, word: &str| family.split(' ').any(|known| known == word);
    let are_siblings = |a: &str, b: &str| FAMILIES.iter().any(|family| has(family, a) && has(family, b));
    let [a, b] = [one, other].map(|name| name.split('_').collect::<Vec<_>>());
    let differ: Vec<(&&str, &&str)> = a.iter().zip(&b).filter(|(a, b)| a != b).collect();
    let ends = a.last().zip(b.last());
    if one == other {
        None
    } else if a.len() == b.len() && differ.iter().all(|(a, b)| are_siblings(a, b)) {
        Some(4 * (differ.len() as u32 - 1))
    } else if is_constant(one) || is_constant(other) {
        (is_constant(one) && is_constant(other)).then_some(8)
    } else if ends.is_some_and(|(a, b)| a == b) {
        // `row` and `thread_row`.
        Some(4)
    } else {
        let is_short = a.len() == 1 || b.len() == 1;
        (is_short && ends.is_some_and(|(a, b)| are_siblings(a, b))).then_some(8)
    }
}

//! The numbers behind a subscript: which values of its variables led to an element.
//!
//! Variables are followed through their definitions to thread and block indices, parameters and constants.
//! One unknown (a loop variable) may remain: it follows from the element. The result is used only when the
//! subscript, computed with these values, gives exactly the element that was accessed.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::arrays::Target;
use crate::source::expression::{self, Narrow, Overflow};
use crate::source::text::{has_word, words};
use crate::{launch_context::LaunchContext, source::Use};
use program::SourceLoc;
use simt::check::{AccessKind, ThreadId, coordinates};

/// A use of names, on which their values depend beside the thread: its line, and a name whose value is given. With
/// `overflow`, values are those of `int` arithmetic.
#[derive(Clone, Copy, Default)]
struct Scope<'s> {
    line: Option<u32>,
    given: Option<(&'s str, i64)>,
    overflow: Narrow<'s>,
}

/// A use of an array in the source line, and the values of the names in its subscripts.
#[derive(Debug, Clone)]
pub(crate) struct Explained {
    pub(crate) used: Use,
    /// Index in `.file` of the file that has the use.
    pub(crate) file: u32,
    /// First and last line of the accesses that the compiler joined into one, where they are several.
    pub(crate) joined: Option<(u32, u32)>,
    /// Names in order of appearance, without duplicates; constants left out.
    pub(crate) values: Vec<(String, i64)>,
    /// The names in `values` that stand for thread or block positions.
    positions: Vec<String>,
    /// The value of each subscript, outermost first.
    pub(crate) subscripts: Vec<i64>,
    /// The variable whose value was concluded from the element, because it could not be computed.
    pub(crate) concluded: Option<String>,
    /// The operation that did not fit in an `int`, where `int` arithmetic leads to the element.
    pub(crate) overflow: Option<Overflow>,
}

fn equations<'v>(values: impl Iterator<Item = &'v (String, i64)>) -> String {
    values.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

impl Explained {
    /// Returns the values as a list: `row = 100, K = 100, k = 0`.
    pub(crate) fn text(&self) -> String {
        equations(self.values.iter())
    }

    /// Returns [`Self::text`] without the names that only restate the thread's position.
    pub(crate) fn variable_values(&self) -> String {
        equations(self.values.iter().filter(|(name, _)| !self.positions.contains(name)))
    }

    /// Returns whether a subscript lies past the end of its row, such as `tile[0][16]` where rows have 16 elements.
    pub(crate) fn leaves_its_row(&self, dims: &[u64]) -> bool {
        let several = dims.len() > 1 && dims.len() == self.subscripts.len();
        let inner = self.subscripts.iter().zip(dims).skip(1);
        several && { inner }.any(|(value, dim)| *value < 0 || *value >= *dim as i64)
    }

    /// Returns the use as the programmer wrote it: `A[row * K + k]`.
    pub(crate) fn written(&self, name: &str) -> String {
        format!("{name}[{}]", self.used.subscripts.join("]["))
    }

    /// Returns the use with the values of its subscripts: `a_tile[15][16]`.
    pub(crate) fn indexed(&self, name: &str) -> String {
        let subscripts: Vec<String> = self.subscripts.iter().map(|value| format!("[{value}]")).collect();
        format!("{name}{}", subscripts.concat())
    }
}

impl LaunchContext<'_> {
    /// Returns the use of `target` that gives its element for this thread: in the line of `instr`, in one that was
    /// joined with it, or in that of a call which was inlined.
    pub(crate) fn explain(&self, instr: u32, target: &Target, kind: AccessKind, who: ThreadId) -> Option<Explained> {
        let name = &target.element.name;
        self.frames(instr).into_iter().find_map(|loc| {
            let uses = self.uses_at(loc, name, kind).into_iter();
            let explained = uses.filter_map(|used| self.explain_use(instr, loc.file, target, used, who));
            // A use that needs no conclusion is certain; one that does fits many elements.
            let own = explained.min_by_key(|explained| explained.concluded.is_some());
            own.or_else(|| self.explain_joined(instr, loc, target, kind, who))
        })
    }

    /// Returns the byte columns of an instruction's line that name an array: those of the use that gives its element,
    /// or of all uses.
    pub(crate) fn underlined(
        &self, instr: u32, target: &Target, kind: AccessKind, explained: Option<&Explained>,
    ) -> Vec<(usize, usize)> {
        let (file, line) = self.line(instr);
        let of_line = explained.filter(|explained| (explained.file, explained.used.line) == (file, line));
        let uses = match of_line {
            Some(explained) => vec![explained.used.clone()],
            None => self.uses(instr, &target.element.name, kind),
        };
        uses.iter().map(|found| found.shown).collect()
    }

    /// Returns the first of the uses in neighbouring lines that give all elements of a vector access.
    fn explain_joined(
        &self, instr: u32, loc: SourceLoc, target: &Target, kind: AccessKind, who: ThreadId,
    ) -> Option<Explained> {
        let n = target.access_bytes / target.element.element_bytes.max(1);
        if !(2..=16).contains(&n) {
            return None;
        }
        let of_element = |at: u32| {
            let mut target = target.clone();
            target.element.index += i64::from(at);
            let lines = loc.line.saturating_sub(n)..=loc.line.saturating_add(n);
            lines.flat_map(|line| self.uses_at(SourceLoc { line, ..loc }, &target.element.name, kind)).find_map(
                |used| self.explain_use(instr, loc.file, &target, used, who).filter(|found| found.concluded.is_none()),
            )
        };
        let all = (0..n).map(of_element).collect::<Option<Vec<Explained>>>()?;
        let lines = || all.iter().map(|found| found.used.line);
        let joined = lines().min().zip(lines().max()).filter(|(first, last)| first < last);
        Some(Explained { joined, ..all.into_iter().next()? })
    }

    fn explain_use(&self, instr: u32, file: u32, target: &Target, used: Use, who: ThreadId) -> Option<Explained> {
        let dims = &target.element.dims;
        let n = used.subscripts.len();
        if n == 0 || n > 1 && dims.len() != n {
            return None;
        }
        let in_line = Scope { line: Some(used.line), ..Scope::default() };
        // Bytes that one step of each subscript moves.
        let inner = |place: usize| dims[place + 1..].iter().product::<u64>() as i64;
        let strides: Vec<i64> = (0..n).map(|place| if n == 1 { 1 } else { inner(place) }).collect();
        let overflow = RefCell::new(None);
        let flat = |unknown: Option<(&str, i64)>, narrow: bool| -> Option<(i64, Vec<i64>)> {
            let overflow = narrow.then_some(&overflow);
            let scope = Scope { given: unknown, overflow, ..in_line };
            let names = |name: &str, depth: u32| self.variable(file, name, who, depth, &scope);
            let value = |text: &String| expression::evaluate(text, 0, &names, overflow);
            let subscripts = used.subscripts.iter().map(value).collect::<Option<Vec<i64>>>()?;
            let flat = subscripts
                .iter()
                .zip(&strides)
                .map(|(value, stride)| value.checked_mul(*stride))
                .try_fold(0i64, |sum, part| sum.checked_add(part?))?;
            Some((flat, subscripts))
        };
        let mut names: Vec<String> = Vec::new();
        for text in &used.subscripts {
            for name in dotted(text) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let exact = |name: &str| self.variable(file, name, who, 0, &in_line);
        let as_int = |name: &str| {
            let unused = RefCell::new(None);
            self.variable(file, name, who, 0, &Scope { overflow: Some(&unused), ..in_line })
        };
        let known = |name: &str| if overflow.borrow().is_some() { as_int(name) } else { exact(name) };
        let unknown: Vec<&String> = names.iter().filter(|name| known(name).is_none()).collect();
        let index = target.element.index;
        let (subscripts, concluded) = match unknown[..] {
            [] => {
                let exact = flat(None, false).filter(|(value, _)| *value == index);
                // A negative `int` that is extended as if it had no sign lies 2^32 further on.
                let same = |value: i64| value == index || value < 0 && value + (1 << 32) == index;
                let narrow = || flat(None, true).filter(|(value, _)| same(*value) && overflow.borrow().is_some());
                (exact.or_else(narrow)?.1, None)
            }
            // A remainder, a quotient or some bits of a number are those of others, too.
            [free]
                if !used.subscripts.iter().any(|text| has_word(text, free) && text.contains(['%', '/', '&', '>'])) =>
            {
                let (zero, one) = (flat(Some((free, 0)), false)?.0, flat(Some((free, 1)), false)?.0);
                let slope = one.checked_sub(zero)?;
                let value = index.checked_sub(zero)?.checked_div(slope)?;
                let (_, subscripts) = flat(Some((free, value)), false).filter(|(flat, _)| *flat == index)?;
                if self.counts_above(instr, free, value, who) {
                    return None;
                }
                (subscripts, Some((free.clone(), value)))
            }
            // The one round of a loop in which the subscripts lead to the element.
            _ => self.loops(instr).iter().find_map(|around| {
                let counter = around.counter(self, who)?;
                let rounds = (counter.start..counter.end?).step_by(counter.step as usize).take(256);
                let mut fitting = rounds.filter_map(|value| {
                    let (_, subscripts) =
                        flat(Some((counter.name, value)), false).filter(|(flat, _)| *flat == index)?;
                    Some((subscripts, Some((counter.name.to_owned(), value))))
                });
                fitting.next().filter(|_| fitting.next().is_none())
            })?,
        };
        let given = concluded.as_ref().map(|(name, value)| (name.as_str(), *value));
        let constant = |name: &str| self.source_of_file(file).is_some_and(|source| source.constant(name).is_some());
        let values = names
            .iter()
            .filter(|name| !constant(name))
            .filter_map(|name| {
                let value = match given {
                    Some((free, value)) if free == name => value,
                    _ => known(name).or_else(|| self.variable(file, name, who, 0, &Scope { given, ..in_line }))?,
                };
                Some((name.clone(), value))
            })
            .collect();
        let plain = |text: &str| {
            text.split_once('.').is_some_and(|(builtin, _)| {
                ["threadIdx", "blockIdx", "blockDim", "gridDim"].contains(&builtin.trim())
                    && !text.contains(|c: char| "+-*/% ".contains(c))
            })
        };
        let flat_block = self.inputs.request.block[1..] == [1, 1];
        let definition = |name: &str| self.source_of_file(file)?.definition(&self.inputs.kernel.name, name);
        let positions = names
            .iter()
            .filter(|name| plain(name) || flat_block && definition(name).is_some_and(plain))
            .cloned()
            .collect();
        Some(Explained {
            used,
            file,
            joined: None,
            values,
            positions,
            subscripts,
            concluded: concluded.map(|(name, _)| name),
            overflow: overflow.into_inner(),
        })
    }

    /// Returns whether a loop around an instruction counts a variable up from more than `value`.
    fn counts_above(&self, instr: u32, variable: &str, value: i64, who: ThreadId) -> bool {
        self.loops(instr).iter().any(|around| {
            let Some([init, _, step]) = around.enclosure.for_parts() else { return false };
            let Some((declared, start)) = init.split_once('=') else { return false };
            declared.split_whitespace().last() == Some(variable)
                && step.contains('+')
                && self.evaluate(instr, start, who).is_some_and(|start| value < start)
        })
    }

    pub(crate) fn evaluate(&self, instr: u32, text: &str, who: ThreadId) -> Option<i64> {
        self.evaluate_in(self.loc(instr).map_or(u32::MAX, |loc| loc.file), text, who)
    }

    /// Returns the value, for one thread, of an expression from a source file.
    pub(crate) fn evaluate_in(&self, file: u32, text: &str, who: ThreadId) -> Option<i64> {
        expression::value(text, 0, &|name, depth| self.variable(file, name, who, depth, &Scope::default()))
    }

    /// Works as [`Self::evaluate_in`], for an expression in a line where a name has a given value.
    pub(crate) fn evaluate_with(
        &self, file: u32, text: &str, who: ThreadId, (line, given): (u32, (&str, i64)),
    ) -> Option<i64> {
        let scope = Scope { line: Some(line), given: Some(given), ..Scope::default() };
        expression::value(text, 0, &|name, depth| self.variable(file, name, who, depth, &scope))
    }

    /// Returns the values of an expression that stands in a file, in the threads of a block.
    pub(crate) fn values_in_block(&self, file: u32, text: &str, block: u64) -> Option<BTreeSet<i64>> {
        (0..self.threads_per_block()).map(|thread| self.evaluate_in(file, text, ThreadId { block, thread })).collect()
    }

    /// Returns the value of a name for one thread.
    fn variable(&self, file: u32, name: &str, who: ThreadId, depth: u32, scope: &Scope<'_>) -> Option<i64> {
        let (request, ThreadId { block, thread }) = (self.inputs.request, who);
        if let Some((builtin, axis)) = name.split_once('.') {
            let axis = ["x", "y", "z"].iter().position(|letter| *letter == axis)?;
            return Some(i64::from(match builtin {
                "threadIdx" => coordinates(thread, request.block)[axis],
                "blockIdx" => coordinates(block, request.grid)[axis],
                "blockDim" => request.block[axis],
                "gridDim" => request.grid[axis],
                _ => return None,
            }));
        }
        if let Some((_, value)) = scope.given.filter(|(known, _)| *known == name) {
            return Some(value);
        }
        if let Some(value) = self.value_in(file, name) {
            return Some(value);
        }
        let text = self.source_of_file(file)?.definition_for(&self.inputs.kernel.name, name, scope.line)?;
        let names = |name: &str, depth: u32| self.variable(file, name, who, depth, scope);
        expression::evaluate(text, depth, &names, scope.overflow)
    }
}

/// Names in an expression, `threadIdx.x` as one.
pub(crate) fn dotted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut end_of_last = usize::MAX;
    for (at, word) in words(text) {
        let member = at > 0 && text.as_bytes()[at - 1] == b'.' && end_of_last == at - 1;
        end_of_last = at + word.len();
        match found.last_mut() {
            Some(last) if member => *last = format!("{last}.{word}"),
            _ => found.push(word.to_owned()),
        }
    }
    found.retain(|name| !["int", "size_t", "unsigned", "sizeof", "float", "long"].contains(&name.as_str()));
    found
}

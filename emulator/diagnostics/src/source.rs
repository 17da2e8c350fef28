//! What the text of a source contains: names and types of parameters, shapes of arrays, values of constants.
//!
//! This reads CUDA C++, and Rust written as that ([`rust`]), as a person skims it, not as a compiler does: it looks for
//! a few shapes of text and says nothing when it does not find them. A message can then be less precise, never wrong
//! because of a guess.

pub(crate) mod expression;
pub(crate) mod rust;
pub(crate) mod statements;
pub(crate) mod text;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use program::text::split;
use statements::{Control, Enclosure, Statements};
use text::{blank, bracketed, has_word, named, plain_name, strip_qualifiers, words};

/// A source file, with its text prepared for searching.
#[derive(Debug, Clone)]
pub struct Source {
    text: Arc<str>,
    /// The text with comments and strings blanked out, byte for byte; of a kernel in Rust the C++, line for line.
    clean: String,
    lines: Vec<Range<usize>>,
    /// For Rust: the place in the text of each byte of `clean`, and of its end; empty for C++.
    places: Vec<usize>,
    /// Values of template parameters: the kernel's, and those of the function that it calls.
    given: Vec<(String, i64)>,
    called: Option<Called>,
    statements: Statements,
}

/// A function that a kernel does nothing but call. The compiler inlines it, so its text is the kernel's.
#[derive(Debug, Clone)]
struct Called {
    kernel: String,
    /// Where the text between its braces is.
    body: Range<usize>,
    /// Parameters whose names differ from their arguments, with those arguments.
    arguments: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The type without qualifiers: `float*`, `int`.
    pub(crate) ty: String,
}

/// A declaration of an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Type of the elements, as written.
    pub(crate) ty: String,
    /// Dimensions, outermost first; `None` where the text does not tell.
    pub(crate) dims: Vec<Option<u64>>,
}

/// A comparison that holds where a line runs: `left` is below `right`, or at most as large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) left: String,
    pub(crate) right: String,
    /// Whether `left` may be equal to `right`.
    pub(crate) or_equal: bool,
    /// The comparison as written, and its line.
    pub(crate) text: String,
    pub(crate) line: u32,
}

/// A use of an array in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    pub line: u32,
    /// Byte columns of [`Source::clean_line`] at which the use starts and ends, from 0.
    pub start: usize,
    pub end: usize,
    /// The same of [`Source::line`].
    pub(crate) shown: (usize, usize),
    /// The texts of the subscripts, without brackets.
    pub subscripts: Vec<String>,
    /// Whether the use is assigned to: it stands left of `=`.
    pub stored: bool,
    /// Whether the value is read: anywhere but left of a plain `=`.
    pub loaded: bool,
}

impl Source {
    pub fn new(text: &Arc<str>) -> Self {
        let (mut clean, mut places) = (blank(text), Vec::new());
        if !cfg!(feature = "scalar") && text.contains("#![no_std]") {
            (clean, places) = rust::as_cpp(text, &clean);
        }
        let mut start = 0;
        let mut lines = Vec::new();
        for line in clean.split_inclusive('\n') {
            lines.push(start..start + line.trim_end_matches(['\n', '\r']).len());
            start += line.len();
        }
        let statements = Statements::new(&clean);
        Self { text: text.clone(), statements, clean, lines, places, given: Vec::new(), called: None }
    }

    pub(crate) fn is_rust(&self) -> bool {
        !cfg!(feature = "scalar") && !self.places.is_empty()
    }

    /// Returns a sentence as it is written for Rust.
    pub(crate) fn spelled(&self, text: &str) -> String {
        let header = |code: &str| {
            let start = self.place(self.statements.with_header(code)?.start);
            Some(self.text.get(start..)?.split_once(" {")?.0.to_owned())
        };
        rust::spelled(text, &self.text, header)
    }

    /// Returns the place in the text of one in `clean`.
    fn place(&self, at: usize) -> usize {
        self.places.get(at).copied().unwrap_or(at)
    }

    /// Returns the place in `clean` of a column of a line of the text.
    fn at_column(&self, line: u32, column: u32) -> Option<usize> {
        let Range { start, end } = self.span(line)?;
        let at = self.place(start) + column as usize - 1;
        (start..=end).find(|place| self.place(*place) >= at).or(Some(end))
    }

    /// Returns the bytes of a line; lines count from 1.
    fn span(&self, line: u32) -> Option<Range<usize>> {
        self.lines.get((line as usize).checked_sub(1)?).cloned()
    }

    pub(crate) fn line(&self, line: u32) -> Option<&str> {
        let Range { start, end } = self.span(line)?;
        self.text.get(self.place(start)..self.place(end))
    }

    /// Returns a line without its comments and strings.
    pub fn clean_line(&self, line: u32) -> Option<&str> {
        self.clean.get(self.span(line)?)
    }

    /// Returns whether the text, without its comments, holds these characters.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.clean.contains(text)
    }

    pub fn n_lines(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Returns the parameters of a kernel; empty when its definition is not found.
    pub(crate) fn parameters(&self, kernel: &str) -> Vec<Parameter> {
        let name = plain_name(kernel);
        for at in named(&self.clean, name) {
            let rest = self.clean[at + name.len()..].trim_start();
            if !self.before_function(at).contains("__global__") || !rest.starts_with('(') {
                continue;
            }
            let Some(inside) = bracketed(rest) else { continue };
            return split(inside, ',').into_iter().filter_map(parameter).collect();
        }
        Vec::new()
    }

    /// Returns the value of a constant: `constexpr int N = …;`, `const int N = …;`, `#define N …`.
    pub(crate) fn constant(&self, name: &str) -> Option<i64> {
        self.constant_at(name, 0, &|_| None)
    }

    /// Works as [`Self::constant`]; `others` are those of other files.
    pub(crate) fn constant_at(&self, name: &str, depth: u32, others: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let given = self.given.iter().find(|(known, _)| known == name);
        let mut found = given.map(|(_, value)| *value);
        for at in named(&self.clean, name) {
            let rest = self.clean[at + name.len()..].trim_start();
            let before = &self.clean[..at];
            let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
            let statement = &before[before.rfind([';', '{', '}', '\n']).map_or(0, |end| end + 1)..];
            let text = if line.trim() == "#define" {
                rest.lines().next()?
            } else if let Some(value) = assigned(rest)
                && ["const", "constexpr"].iter().any(|word| has_word(statement, word))
            {
                &value[..value.find([';', ',']).unwrap_or(value.len())]
            } else {
                continue;
            };
            let of_others = |name: &str, depth| self.constant_at(name, depth, others).or_else(|| others(name));
            let value = expression::value(text, depth, &of_others);
            // Two definitions that differ: it depends on the scope, which is not followed.
            match (found, value) {
                (_, None) => return None,
                (Some(a), Some(b)) if a != b => return None,
                (_, value) => found = value,
            }
        }
        found
    }

    /// Returns the value of an expression of constants.
    pub(crate) fn evaluate(&self, text: &str) -> Option<i64> {
        expression::value(text, 0, &|name, depth| self.constant_at(name, depth, &|_| None))
    }

    /// Returns whether the kernel does nothing but call a function of this file.
    pub(crate) fn only_calls(&self) -> bool {
        self.called.is_some()
    }

    /// Returns the place of the text between the braces of a kernel, or of the function that it calls.
    fn body(&self, kernel: &str) -> Option<Range<usize>> {
        let name = plain_name(kernel);
        if let Some(called) = self.called.as_ref().filter(|called| called.kernel == name) {
            return Some(called.body.clone());
        }
        let is_kernel = |at: usize| self.before_function(at).contains("__global__");
        self.definitions(name).into_iter().find(|(at, ..)| is_kernel(*at)).map(|(.., body)| body)
    }

    /// Returns the functions of a name that are defined here: the place of the name, its parameters, and the place of
    /// the text between its braces.
    fn definitions<'s>(&'s self, function: &str) -> Vec<(usize, &'s str, Range<usize>)> {
        let of_word = |at: usize| {
            let mut rest = self.clean[at + function.len()..].trim_start();
            // A specialised template.
            if rest.starts_with('<') {
                rest = rest[rest.find('>')? + 1..].trim_start();
            }
            let parameters = rest.starts_with('(').then(|| bracketed(rest))??;
            let rest = rest[parameters.len() + 2..].trim_start();
            let body = rest.starts_with('{').then(|| bracketed(rest))??;
            let start = self.clean.len() - rest.len() + 1;
            Some((at, parameters, start..start + body.len()))
        };
        named(&self.clean, function).filter_map(of_word).collect()
    }

    /// Returns whether a line belongs to a function that is not a kernel, and that nothing calls.
    pub fn is_unreached(&self, line: u32) -> bool {
        let Some(place) = self.span(line).map(|span| span.start) else { return false };
        let is_outside = |at: &usize| {
            let before = &self.clean[..*at];
            before.matches('{').count() == before.matches('}').count()
        };
        let heads = words(&self.clean[..place]).filter(|(at, word)| self.clean[at + word.len()..].starts_with('('));
        let is_around = |name: &str| self.definitions(name).iter().any(|(.., body)| body.contains(&place));
        let around = heads.filter(|(at, name)| is_outside(at) && is_around(name));
        let is_alone = |name: &str| named(&self.clean, name).count() == 1;
        { around }.any(|(at, name)| is_alone(name) && !self.before_function(at).contains("__global__"))
    }

    /// Returns what stands before the name of a function at `at`: its type and qualifiers, `template <…>`.
    fn before_function(&self, at: usize) -> &str {
        let start = self.clean[..at].rfind([';', '}']).map_or(0, |end| end + 1);
        &self.clean[start..at]
    }

    /// Returns the line of a part of the text.
    pub(crate) fn line_with(&self, part: &str) -> Option<u32> {
        let at = (part.as_ptr() as usize).checked_sub(self.clean.as_ptr() as usize)?;
        (at < self.clean.len()).then(|| self.line_of(at))
    }

    /// Returns the value of a variable of a kernel that is set once: `const int row = …;`.
    pub(crate) fn definition(&self, kernel: &str, name: &str) -> Option<&str> {
        self.definition_for(kernel, name, None)
    }

    /// Works as [`Self::definition`]; for a line, variables of the name that other blocks declare are not meant.
    pub(crate) fn definition_for(&self, kernel: &str, name: &str, line: Option<u32>) -> Option<&str> {
        let arguments = self.called.iter().flat_map(|called| &called.arguments);
        if let Some((_, given)) = { arguments }.find(|(parameter, _)| parameter == name) {
            return Some(given);
        }
        let Range { start, end } = self.body(kernel)?;
        let (body, mut found) = (&self.clean[start..end], None);
        let place = line.and_then(|line| self.span(line)?.start.checked_sub(start));
        let is_elsewhere = |at: &usize| {
            let statement = body[..*at].rsplit([';', '{', '}']).next().unwrap_or_default().trim_start();
            let (ty, rest) = statement.split_once(char::is_whitespace).unwrap_or_default();
            let is_declared = !["", "else", "return"].contains(&ty) && !ty.contains('(');
            let around = self.statements.around(start + at).into_iter().next_back();
            is_declared
                && (rest.is_empty() || rest.starts_with(char::is_alphabetic))
                && place.is_some_and(|place| around.is_some_and(|one| !one.body.contains(&(start + place))))
        };
        for at in named(body, name).filter(|at| !is_elsewhere(at)) {
            let before = body[..at].trim_end();
            let rest = body[at + name.len()..].trim_start();
            let set = assigned(rest);
            match set {
                _ if is_changed(before, rest) => return None,
                Some(_) if found.is_some() => return None,
                Some(value) => found = Some(value[..value.find([';', ',']).unwrap_or(value.len())].trim()),
                None => {}
            }
        }
        found
    }

    /// Returns the definition of the variable, no pointer, that is all that a line assigns, itself or a member: where
    /// it stands, and its text.
    pub(crate) fn stored_value(&self, kernel: &str, line: u32) -> Option<(usize, &str)> {
        let text = self.clean_line(line)?;
        let stored = text.rsplit_once('=')?.1.trim().strip_suffix(';')?.trim();
        let name = stored.split('.').next()?;
        let definition = self.definition(kernel, name)?;
        let position = (definition.as_ptr() as usize).checked_sub(self.clean.as_ptr() as usize)?;
        let before =
            self.clean.get(..position)?.trim_end().strip_suffix('=')?.trim_end().strip_suffix(name)?.trim_end();
        let is_value = !before.ends_with(['*', '&']) && !before.ends_with("auto");
        (is_value && self.line_of(position) < line).then_some((position, definition))
    }

    pub(crate) fn depends_on_thread(&self, kernel: &str, text: &str) -> bool {
        self.depends_on(kernel, text, "threadIdx")
    }

    /// Returns whether an expression of a kernel names something, itself or through variables that are set once.
    pub(crate) fn depends_on(&self, kernel: &str, text: &str, name: &str) -> bool {
        let mut open = vec![text];
        let mut seen: Vec<&str> = Vec::new();
        while let Some(text) = open.pop() {
            for (_, word) in words(text) {
                if word == name {
                    return true;
                }
                if seen.len() < 64 && !seen.contains(&word) {
                    seen.push(word);
                    open.extend(self.definition(kernel, word));
                }
            }
        }
        false
    }

    /// Returns the declaration of an array with a qualifier (`__shared__`), or of a local one (`""`): in the function
    /// that has it, if that is known. Another function may have an array of the same name and another shape, so without
    /// a function that is found here, all declarations of the name must agree.
    pub(crate) fn array(&self, qualifier: &str, name: &str, function: Option<&str>) -> Option<Declared> {
        let of_name = |text: &str| -> Vec<Declared> {
            let all = self.arrays_in(text, qualifier).into_iter();
            all.filter(|(found, _)| found == name).map(|(_, declared)| declared).collect()
        };
        let inside = function.into_iter().flat_map(|function| self.definitions(function));
        let mut found: Vec<Declared> = inside.flat_map(|(.., body)| of_name(&self.clean[body])).collect();
        if found.is_empty() {
            found = of_name(&self.clean);
        }
        found.dedup();
        match &mut found[..] {
            [only] => Some(std::mem::take(only)),
            _ => None,
        }
    }

    /// Returns the bytes of a row of an array in shared memory, and the line that declares it.
    pub fn shared_row(&self, name: &str) -> Option<(u64, u32)> {
        let declared = self.array("__shared__", name, None)?;
        let is_declaration = |line: &u32| {
            let text = self.clean_line(*line).unwrap_or_default();
            text.contains("__shared__") && has_word(text, name)
        };
        let line = (1..=self.n_lines()).find(is_declaration)?;
        let elements = declared.dims.last().copied().filter(|_| declared.dims.len() > 1)??;
        Some((elements * u64::from(text::size_of(&declared.ty)?), line))
    }

    /// Returns the dimensions of an array in shared memory of a kernel or of the function that it calls.
    pub fn shared_dims(&self, kernel: &str, name: &str) -> Option<Vec<u64>> {
        let mut source = self.clone();
        source.instantiate(kernel);
        source.array("__shared__", name, None)?.dims.into_iter().collect()
    }

    /// Arrays with a qualifier, in order.
    pub(crate) fn arrays(&self, qualifier: &str) -> Vec<(String, Declared)> {
        self.arrays_in(&self.clean, qualifier)
    }

    fn arrays_in(&self, text: &str, qualifier: &str) -> Vec<(String, Declared)> {
        let mut found = Vec::new();
        for statement in text.split([';', '{', '}']) {
            let statement = statement.trim();
            let special = ["__shared__", "__constant__", "__device__", "__global__", "return"];
            let wanted = if qualifier.is_empty() {
                !special.iter().any(|word| has_word(statement, word))
            } else {
                has_word(statement, qualifier) && !statement.contains("__global__")
            };
            if !wanted {
                continue;
            }
            let statement = statement.lines().filter(|line| !line.trim_start().starts_with('#'));
            let statement = statement.collect::<Vec<_>>().join(" ");
            found.extend(self.declarators(&statement));
        }
        found
    }

    /// Splits a declaration: `__shared__ float a[4][4], b[4]` → a and b.
    fn declarators(&self, statement: &str) -> Vec<(String, Declared)> {
        let mut ty = None;
        let mut found = Vec::new();
        for part in split(statement, ',') {
            let part = split(part, '=').first().copied().unwrap_or(part);
            let head = &part[..part.find('[').unwrap_or(part.len())];
            let Some((at, name)) = words(head).last() else { break };
            if head[at + name.len()..].trim() != "" {
                break;
            }
            let before = strip_qualifiers(&head[..at]);
            if found.is_empty() {
                if before.is_empty() || !before.chars().all(|c| c.is_alphanumeric() || "_ :<>".contains(c)) {
                    break;
                }
                ty = Some(before);
            }
            let mut dims = Vec::new();
            let mut rest = part[head.len()..].trim_start();
            while rest.starts_with('[') {
                let Some(inside) = bracketed(rest) else { break };
                dims.push(self.evaluate(inside).and_then(|value| u64::try_from(value).ok()));
                rest = rest[inside.len() + 2..].trim_start();
            }
            let ty = ty.clone().unwrap_or_default();
            found.push((name.to_owned(), Declared { ty, dims }));
        }
        found
    }

    pub fn uses(&self, line: u32, name: &str) -> Vec<Use> {
        let Some(Range { start: first, end }) = self.span(line) else { return Vec::new() };
        let text = &self.clean[first..end];
        let mut found = Vec::new();
        for at in named(text, name) {
            let mut end = at + name.len();
            let mut subscripts = Vec::new();
            while text[end..].starts_with('[') {
                let Some(inside) = bracketed(&text[end..]) else { break };
                subscripts.push(inside.trim().to_owned());
                end += inside.len() + 2;
            }
            let start = if subscripts.is_empty() && text[..at].ends_with('*') { at - 1 } else { at };
            let after = text[end..].trim_start();
            // `store4(&tile[row][col], v)`.
            let call = text[..start].strip_suffix("(&").and_then(|before| words(before).last());
            let plain = assigned(after).is_some() || call.is_some_and(|(_, name)| name.starts_with("store"));
            let shown = |column: usize| self.place(first + column) - self.place(first);
            let shown = (shown(start), shown(end - 1) + 1);
            found.push(Use { line, start, end, shown, subscripts, stored: plain || changes(after), loaded: !plain });
        }
        found
    }

    /// Returns the uses of a variable in the function that declares it, its declaration left out.
    pub(crate) fn uses_in(&self, function: &str, name: &str) -> impl Iterator<Item = Use> {
        let bodies = self.definitions(function).into_iter();
        let bodies = bodies.map(|(.., body)| self.line_of(body.start)..=self.line_of(body.end));
        let is_use = |line: &u32| self.clean_line(*line).is_some_and(|text| !text.contains("__shared__"));
        bodies.flatten().filter(is_use).flat_map(|line| self.uses(line, name))
    }

    pub(crate) fn lines_storing(&self, name: &str) -> Vec<u32> {
        (1..=self.n_lines())
            .filter(|&line| self.uses(line, name).iter().any(|found| found.stored && !found.subscripts.is_empty()))
            .collect()
    }

    /// Returns the `__constant__` variables that are assigned to, also through a cast.
    pub(crate) fn constants_stored(&self) -> Vec<String> {
        let names = self.arrays_in(&self.clean, "__constant__").into_iter().map(|(name, _)| name);
        let is_stored = |name: &String| {
            named(&self.clean, name).any(|at| {
                let mut rest = self.clean[at + name.len()..].trim_start();
                while let Some(skipped) = match rest.chars().next() {
                    Some(')') => Some(1),
                    Some('[') => bracketed(rest).map(|inside| inside.len() + 2),
                    _ => None,
                } {
                    rest = rest[skipped..].trim_start();
                }
                let start = self.clean[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
                !self.clean[start..at].contains("__constant__") && (assigned(rest).is_some() || changes(rest))
            })
        };
        names.filter(is_stored).collect()
    }

    /// Returns the variable that holds the grid-wide index along an axis: `int row = blockIdx.y * … + threadIdx.y`.
    pub(crate) fn index_variable(&self, axis: usize) -> Option<String> {
        let letter = ["x", "y", "z"][axis];
        let (block, thread) = (format!("blockIdx.{letter}"), format!("threadIdx.{letter}"));
        let mut aliases = vec![thread];
        for statement in self.clean.split([';', '{', '}']) {
            let Some((left, right)) = statement.split_once('=') else { continue };
            let Some((_, name)) = words(left).last() else { continue };
            let holds = |what: &String| {
                if what.contains('.') { right.contains(what.as_str()) } else { has_word(right, what) }
            };
            let threads = aliases.iter().any(holds);
            if threads && right.contains(&block) {
                return Some(name.to_owned());
            }
            if aliases.iter().any(|alias| right.trim() == alias) {
                aliases.push(name.to_owned());
            }
        }
        None
    }

    pub fn is_in_loop(&self, line: u32) -> bool {
        !self.loops(line, 0).is_empty()
    }

    /// Returns the name that two loops declare, one inside of the other, and the lines of the inner and the outer one.
    pub fn hidden_counter(&self) -> Option<(&str, [u32; 2])> {
        fn counter(one: &Enclosure) -> Option<&str> {
            words(one.for_parts()?[0].split_once('=')?.0).nth(1).map(|(_, name)| name)
        }
        (1..=self.n_lines()).find_map(|line| {
            let loops = self.loops(line, 0);
            let name = counter(loops.first()?)?;
            let outer = loops[1..].iter().find(|outer| counter(outer) == Some(name))?;
            Some((name, [loops[0], outer].map(|one| self.line_of(one.start))))
        })
    }

    /// Returns the loops at a position, innermost first; their headers belong to them. Column 0: at the last statement
    /// of the line.
    pub(crate) fn loops(&self, line: u32, column: u32) -> Vec<&Enclosure> {
        let position = match column {
            0 => self.position(line, 0),
            _ => self.at_column(line, column),
        };
        let Some(position) = position else { return Vec::new() };
        let holds = |one: &&Enclosure| {
            // Behind the body of a `do` stands its condition.
            let rest = self.clean.get(one.body.end..).filter(|_| one.header.starts_with("do "));
            let condition = rest.and_then(|rest| rest.find(';')).unwrap_or(0);
            (one.start..one.body.end + condition).contains(&position)
        };
        let mut loops = self.statements.loops().filter(holds).collect::<Vec<_>>();
        loops.sort_by_key(|one| std::cmp::Reverse(one.start));
        loops
    }

    /// Returns the condition of the `if` that a line stands directly under.
    pub(crate) fn condition(&self, line: u32) -> Option<(u32, String)> {
        let around = self.around(line, 0);
        let nearest = around.last().filter(|e| e.control == Control::If)?;
        Some((self.line_of(nearest.start), nearest.condition.clone()))
    }

    /// Returns the nearest `if` that a line stands under, also through loops.
    pub(crate) fn enclosing_condition(&self, line: u32) -> Option<(u32, String)> {
        let around = self.around(line, 0);
        let nearest = around.iter().rev().find(|e| e.control == Control::If)?;
        Some((self.line_of(nearest.start), nearest.condition.clone()))
    }

    /// Branches and loops around a position, outermost first. Column 0: around the last statement of the line.
    pub(crate) fn around(&self, line: u32, column: u32) -> Vec<&Enclosure> {
        self.position(line, column).map(|at| self.statements.around(at)).unwrap_or_default()
    }

    /// Returns the statement at a position, as bytes of the text.
    pub(crate) fn statement(&self, line: u32, column: u32) -> Option<Range<usize>> {
        self.statements.statement_at(self.position(line, column)?)
    }

    pub(crate) fn statement_end(&self, line: u32, column: u32) -> Option<u32> {
        let statement = self.statement(line, column)?;
        Some(self.line_of(statement.end.saturating_sub(1)))
    }

    pub(crate) fn position(&self, line: u32, column: u32) -> Option<usize> {
        let Range { start, end } = self.span(line)?;
        match column {
            0 => {
                let text = &self.clean[start..end];
                let first = start + text.len() - text.trim_start().len();
                Some(self.statements.last_in(first..end).unwrap_or(first))
            }
            _ => {
                let position = self.at_column(line, column)?;
                // Compilers give the header's place to what stands behind it in the same line.
                let header = ["if", "else", "for", "while", "do", "switch"];
                let here = self.clean.get(position..end).unwrap_or("");
                let (_, first) = words(here).next().unwrap_or((0, ""));
                if header.contains(&first) && here.starts_with(first) {
                    Some(self.statements.last_in(position..end).unwrap_or(position))
                } else {
                    Some(position)
                }
            }
        }
    }

    /// Returns the line of a byte of the text; lines count from 1.
    pub(crate) fn line_of(&self, position: usize) -> u32 {
        self.lines.partition_point(|line| line.start <= position) as u32
    }

    /// Returns the lines of a kernel above `line` that hold a `return`.
    pub(crate) fn returns(&self, kernel: &str, line: u32) -> Vec<u32> {
        let Some(body) = self.body(kernel) else { return Vec::new() };
        let first = self.lines.partition_point(|line| line.end < body.start) as u32 + 1;
        let has_return = |text: &str| has_word(text, "return");
        (first..line).filter(|&number| self.clean_line(number).is_some_and(has_return)).collect()
    }

    /// Returns the comparisons that hold in a line of a kernel: of the `if`s and loops around it, of the `return`s
    /// above it, and of `… ? x[i] : 0` in the line.
    pub(crate) fn conditions(&self, kernel: &str, line: u32) -> Vec<Compared> {
        let mut found = Vec::new();
        for one in self.governing(line) {
            let text = match one.control {
                Control::If => one.condition.as_str(),
                Control::Loop if !one.header.starts_with("do ") => {
                    one.for_parts().map_or(one.inside(), |[_, condition, _]| condition)
                }
                _ => continue,
            };
            if !text.contains("||") {
                let line = self.line_of(one.start);
                found.extend(text.split("&&").filter_map(|text| compared(text, false, line)));
            }
        }
        for return_line in self.returns(kernel, line) {
            // `if (i >= n) return;`, of the kernel's own: what a loop leaves out may come back in the next round.
            if let [one] = self.governing(return_line)[..]
                && one.control == Control::If
                && !one.condition.contains("&&")
            {
                let texts = one.condition.split("||");
                found.extend(texts.filter_map(|text| compared(text, true, return_line)));
            }
        }
        if let Some((text, choices)) = self.clean_line(line).and_then(|text| text.split_once('?'))
            && let Some((target, text)) = text.rsplit_once(" = ")
            && choices.split_once(':').is_some_and(|(_, other)| !other.contains('['))
            && !text.contains("||")
        {
            let text = text.trim();
            let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
            let held = text.split("&&").filter_map(|text| compared(text, false, line));
            // The element that the line stores to is not guarded.
            found.extend(held.filter(|held| named(target, &held.left).next().is_none()));
        }
        found
    }

    /// Returns the variables that the condition of a `while` tests, when nothing in the loop sets any of them; empty
    /// when one may change.
    pub(crate) fn unchanged_in_loop(&self, one: &Enclosure) -> Vec<String> {
        let (condition, body) = (one.inside(), self.clean.get(one.body.clone()).unwrap_or_default());
        let mut names: Vec<String> = Vec::new();
        for (_, word) in words(condition) {
            if !names.iter().any(|known| known == word) {
                names.push(word.to_owned());
            }
        }
        let sets = |text: &str, name: &str| {
            named(text, name).any(|at| {
                let (before, after) = (text[..at].trim_end(), text[at + name.len()..].trim_start());
                // By reference, or its address is taken.
                let given = before.ends_with(['(', ',']) && after.starts_with([',', ')']);
                given || assigned(after).is_some() || is_changed(before, after)
            })
        };
        let leaves = ["break", "return", "goto"].iter().any(|word| has_word(body, word));
        let may_change = |name: &String| sets(condition, name) || sets(body, name) || self.in_memory(name);
        // Calls, memory and assignments may change what they name.
        if condition.contains(['(', '[', '*', '&', '.']) || leaves || names.iter().any(may_change) {
            return Vec::new();
        }
        names.retain(|name| self.constant(name).is_none());
        names
    }

    /// Returns whether other threads can see a variable, or another name may stand for it.
    pub(crate) fn in_memory(&self, name: &str) -> bool {
        let qualifiers = ["__shared__", "__device__", "__managed__", "volatile"];
        self.clean.split([';', '{', '}', '(', ')']).any(|statement| {
            let shared = qualifiers.iter().any(|word| has_word(statement, word));
            has_word(statement, name)
                && (shared || statement.contains(&format!("&{name}")) || statement.contains(&format!("& {name}")))
        })
    }

    /// Replaces a kernel's template parameters by the values in its mangled name.
    pub(crate) fn instantiate(&mut self, kernel: &str) {
        let name = plain_name(kernel);
        let values = template_values(kernel, name);
        if let Some(parameters) = named(&self.clean, name).find_map(|at| self.template_parameters(at)) {
            let given = parameters.into_iter().zip(&values).filter_map(|(name, value)| Some((name, (*value)?)));
            self.given = given.collect();
        }
        self.called = self.only_call(name);
    }

    /// Returns the names in `template <…>` before a function whose name is at `at`.
    fn template_parameters(&self, at: usize) -> Option<Vec<String>> {
        let head = self.before_function(at);
        let list = head[head.find("template")? + "template".len()..].trim_start().strip_prefix('<')?;
        let names = split(list.split_once('>')?.0, ',').into_iter().map(|parameter| {
            let parameter = parameter.split('=').next().unwrap_or_default();
            words(parameter).last().map_or("", |(_, word)| word).to_owned()
        });
        Some(names.collect())
    }

    /// Returns the function that a kernel calls and does nothing else: `gemm<float, 16>(M, N, K, A, B, C);`. The values
    /// of its template parameters become known.
    fn only_call(&mut self, kernel: &str) -> Option<Called> {
        let call = self.clean[self.body(kernel)?].trim();
        let (0, function) = words(call).next()? else { return None };
        let function = function.to_owned();
        let mut rest = call[function.len()..].trim_start();
        let mut values = Vec::new();
        if let Some(list) = rest.strip_prefix('<') {
            let (list, after) = list.split_once('>')?;
            values = split(list, ',').into_iter().map(|value| self.evaluate(value)).collect();
            rest = after.trim_start();
        }
        let inside = rest.starts_with('(').then(|| bracketed(rest))??;
        if rest[inside.len() + 2..].trim() != ";" {
            return None;
        }
        let arguments: Vec<String> = split(inside, ',').into_iter().map(|text| text.trim().to_owned()).collect();
        // Of several with one name, the text does not tell which is meant.
        let [(at, parameters, body)] = <[_; 1]>::try_from(self.definitions(&function)).ok()?;
        let names = split(parameters, ',').into_iter().filter_map(parameter).map(|parameter| parameter.name);
        let arguments = { names }.zip(arguments).filter(|(name, given)| name != given).collect();
        let given = self.template_parameters(at).unwrap_or_default().into_iter().zip(values);
        let given: Vec<(String, i64)> = given.filter_map(|(name, value)| Some((name, value?))).collect();
        self.given.extend(given);
        Some(Called { kernel: kernel.to_owned(), body, arguments })
    }

    /// Returns what a line stands under, innermost first. A header in the line itself counts.
    fn governing(&self, line: u32) -> Vec<&Enclosure> {
        let mut around = self.around(line, 0);
        let own = self.span(line).map(|line| self.statements.headed(line)).unwrap_or_default();
        around.extend(own.into_iter().filter(|one| !around.contains(one)).collect::<Vec<_>>());
        around.reverse();
        around
    }
}

/// Returns the text after `=`, where a text assigns to what stands before it.
fn assigned(after: &str) -> Option<&str> {
    after.strip_prefix('=').filter(|rest| !rest.starts_with('='))
}

/// Returns whether a text begins with an operator that modifies its left operand.
fn changes(after: &str) -> bool {
    ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"]
        .iter()
        .any(|operator| after.starts_with(operator))
}

/// Returns whether a word between two texts is changed, or may be through its address.
fn is_changed(before: &str, after: &str) -> bool {
    let by_address = before.ends_with('&') && !before.ends_with("&&");
    changes(after) || before.ends_with("++") || before.ends_with("--") || by_address
}

/// Parses a comparison: `i < n`, `n > i`; where the condition does not hold, `i >= n`.
fn compared(text: &str, negated: bool, line: u32) -> Option<Compared> {
    let text = text.trim();
    let operator = text.find(['<', '>'])?;
    let (left, rest) = (text[..operator].trim(), &text[operator + 1..]);
    let or_equal = rest.starts_with('=') != negated;
    let right = rest.strip_prefix('=').unwrap_or(rest).trim();
    if right.starts_with(['<', '>']) || right.contains(['<', '>', '=', '(', '?']) {
        return None;
    }
    let below = text[operator..].starts_with('<') != negated;
    let (left, right) = if below { (left, right) } else { (right, left) };
    let [left, right, text] = [left, right, text].map(str::to_owned);
    Some(Compared { left, right, or_equal, text, line })
}

/// Parses template arguments: `_Z5tiledILi16ELj8EfEvPKf` → 16, 8 and nothing for the type.
fn template_values(symbol: &str, name: &str) -> Vec<Option<i64>> {
    let Some((_, rest)) = symbol.split_once(&format!("{}{name}I", name.len())) else { return Vec::new() };
    let mut rest = rest;
    let mut values = Vec::new();
    while let Some(c) = rest.chars().next().filter(|c| *c != 'E') {
        if c == 'L'
            && let Some(end) = rest.find('E')
        {
            let digits = rest.get(2..end).unwrap_or_default();
            let value = match digits.strip_prefix('n') {
                Some(digits) => digits.parse().map(|value: i64| -value),
                None => digits.parse(),
            };
            values.push(value.ok());
            rest = &rest[end + 1..];
        } else if c.is_ascii_lowercase() {
            values.push(None);
            rest = &rest[1..];
        } else {
            // Anything else is not followed.
            break;
        }
    }
    values
}

fn parameter(text: &str) -> Option<Parameter> {
    let text = text.split('=').next()?;
    let text = &text[..text.find('[').unwrap_or(text.len())];
    let (at, name) = words(text).last()?;
    let ty = text[..at].replace('*', " * ").replace('&', " & ");
    let ty = strip_qualifiers(&ty).replace(" *", "*").replace(" &", "&");
    (!ty.is_empty()).then(|| Parameter { name: name.to_owned(), ty })
}

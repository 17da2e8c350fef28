//! Edits of indices: their names, terms and factors.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::code::{Holder, Sum, is_constant, is_word};
use super::{
    AXES, Changes, EXCHANGE, INDEX, LAST, OFFSET, OPERATOR, PARALLEL, PASS, REMOVAL, SIBLING, Search, TERM, distance,
};

impl<'s> Search<'s> {
    /// Exchanges neighbours: arguments of a call, subscripts, those of one array in several lines, and of two factors.
    pub(super) fn exchanges(&self) {
        let code = &self.code;
        let exchanged = |one: &Range<usize>, two: &Range<usize>| {
            [(one, two), (two, one)]
                .map(|(here, other)| (code.bytes(here.clone()), code.words(other.clone()).to_owned()))
        };
        let mut arrays: BTreeMap<&str, Changes> = BTreeMap::new();
        for open in 0..code.tokens.len() {
            let is_subscript = code.at(open) == "[";
            let next = code.partner(open).filter(|close| is_subscript && code.at(close + 1) == "[");
            let pieces = match next {
                Some(close) => [code.pieces(open), code.pieces(close + 1)].concat(),
                None if code.is_call(open) => code.pieces(open),
                None => continue,
            };
            for (at, pair) in pieces.windows(2).enumerate() {
                // The first argument of a load is its matrix.
                let can_move = is_subscript || pieces.len() == 2 || at > 0;
                if can_move && pair.iter().all(|piece| code.is_expression(piece.clone())) {
                    let extra = if at + 2 == pieces.len() { 0 } else { 6 };
                    let changes = exchanged(&pair[0], &pair[1]).to_vec();
                    if is_subscript && !code.is_dimension(open + 1) {
                        arrays.entry(code.at(open.saturating_sub(1))).or_default().extend(changes.clone());
                    }
                    self.add(EXCHANGE, extra, changes);
                }
            }
        }
        for sign in code.all("*") {
            let (left, right) = (code.subscripts_before(sign), code.subscripts(sign + 2));
            if !left.is_empty() && !right.is_empty() {
                self.add(EXCHANGE, 2, exchanged(&left, &right).to_vec());
            }
        }
        for changes in arrays.into_values() {
            let chains = code.near(&changes).filter(|chain| chain.len() > 2);
            chains.for_each(|changes| self.add(EXCHANGE, 1, changes.to_vec()));
        }
    }

    /// Takes a place in a row from the function that another use of the array takes it from: `[r][swizzled(r, c)]`.
    pub(super) fn places(&self) {
        let code = &self.code;
        let mut rows: Vec<(&str, &str, Range<usize>)> = Vec::new();
        for open in code.all("[").filter(|open| !code.is_dimension(open + 1)) {
            let close = code.close(open);
            if let Some(end) = code.partner(close + 1).filter(|_| code.at(close + 1) == "[") {
                rows.push((code.at(open - 1), code.words(open + 1..close), close + 2..end));
            }
        }
        let placed = |(name, row, col): &(&str, &str, Range<usize>)| {
            let mut of_array = rows.iter().filter(|(other, ..)| other == name).map(|(.., col)| col.start);
            let call = of_array.find(|at| code.is_call(at + 1)).filter(|_| !code.is_call(col.start + 1))?;
            Some((col.clone(), format!("{}({row}, {})", code.at(call), code.words(col.clone()))))
        };
        rows.iter().filter_map(placed).for_each(|(col, call)| self.put(INDEX, 0, col, call));
    }

    /// Puts another name of the same family in place of one: N for M, `block_col` for `block_row`, `.y` for `.x`.
    pub(super) fn siblings(&self) {
        let code = &self.code;
        let used: BTreeSet<usize> = code.sums().into_iter().flat_map(|sum| sum.tokens).collect();
        for at in used {
            let text = code.at(at);
            if at > 1 && code.at(at - 1) == "." {
                let is_index = code.at(at - 2).ends_with("Idx");
                let axes = if is_index { &["x", "y"][..] } else { &["x", "y", "z", "w"] };
                let others = axes.iter().filter(|axis| axes.contains(&text) && **axis != text);
                others.for_each(|other| self.put(SIBLING, 0, at..at + 1, *other));
            } else if code.tokens[at].is_name && code.at(at + 1) != "(" {
                // Another array has other dimensions.
                let is_far = code.at(at + 1) == "[" || code.is_dimension(at);
                let is_pass = code.is_head(at) && code.at(at - 1) == "/";
                let costs = if is_pass { PASS } else { SIBLING };
                for other in code.known(at) {
                    // A pass of a loop fills rows of its tile.
                    let is_odd = is_pass && !code.is_dimension_in_loop(other, at);
                    if let Some(distance) = distance(text, other) {
                        let extra = if is_far { 6 } else { 0 } + if is_odd { 2 } else { 0 };
                        self.put(costs, distance + extra, at..at + 1, other);
                    }
                }
            }
        }
    }

    /// Adds, removes and replaces terms and factors.
    pub(super) fn sums(&self) {
        let sums = self.code.sums();
        let texts = |sum: &Sum| sum.terms.iter().map(|term| self.code.words(term.clone())).collect::<Vec<&str>>();
        let owns: Vec<Vec<&str>> = sums.iter().map(texts).collect();
        let all: BTreeSet<&Vec<&str>> = owns.iter().collect();
        // Terms that something is added to, or that are subscripts by themselves.
        let is_index = |sum: &&Sum| sum.terms.len() > 1 || sum.holder == Holder::Subscript;
        let known = sums.iter().filter(is_index).flat_map(texts).filter(|term| is_simple(term));
        let known: BTreeSet<&str> = known.chain(["1"]).collect();
        // Of sizes: `BN / 2` for `WIDTH`.
        let is_size = |text: &str| {
            text.split(' ').all(|word| is_constant(word) || "*/".contains(word) || word.parse::<u32>().is_ok())
        };
        let sizes: BTreeSet<&str> =
            sums.iter().flat_map(texts).filter(|term| term.contains(" / ") && is_size(term)).collect();
        for (sum, own) in sums.iter().zip(&owns) {
            // The condition of a loop usually has the counter alone on one side.
            let is_counter = own.len() == 1 && self.code.is_head(sum.tokens.start);
            if self.code.is_dimension(sum.tokens.start) {
                continue;
            }
            // It may end at a number of tiles, which is rounded up.
            if !is_counter || own[0].contains('/') {
                self.shorten(sum);
            }
            if is_counter {
                continue;
            }
            self.add_factors(sum, &all);
            let text = self.code.words(sum.tokens.clone());
            // What says where a block starts, in the declaration of a row or a column.
            let name = sum.tokens.start.checked_sub(2).map_or("", |at| self.code.at(at));
            let is_start = |known: &&str| known.strip_prefix("block_").is_some_and(|end| name.ends_with(end));
            for start in self.code.known(sum.tokens.start).filter(is_start) {
                if !own.contains(&start) {
                    self.put(PARALLEL, 2, sum.tokens.clone(), format!("{start} + {text}"));
                }
            }
            let is_index = !matches!(sum.holder, Holder::Parentheses | Holder::Statement) || own.len() > 1;
            let is_size = own.len() == 1 && (text == "0" || text.starts_with(char::is_uppercase));
            let is_address = matches!(self.code.at(sum.tokens.start - 1), "&" | "!");
            if !is_index || is_size || is_address || !own.iter().all(|term| is_simple(term)) {
                continue;
            }
            let names: HashSet<&str> = self.code.known(sum.tokens.start).collect();
            let can_use = |term: &str| {
                let mut words = term.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| is_word(word));
                words.all(|word| names.contains(word))
            };
            // A term that is the first of the other sum goes first here.
            let with = |term: &str, other: Option<&Vec<&str>>| match other {
                Some(other) if other.len() > 1 && other[0] == term => format!("{term} + {text}"),
                _ => format!("{text} + {term}"),
            };
            for other in &all {
                let (missing, odd) = (without(other, own), without(own, other));
                match (missing.as_slice(), odd.as_slice()) {
                    ([term], []) if can_use(term) && *term != "0" => {
                        let extra = if own.len() == 1 { 4 } else { 0 };
                        self.put(PARALLEL, extra, sum.tokens.clone(), with(term, Some(other)));
                    }
                    ([term], [odd]) if own.len() > 1 && can_use(term) => {
                        let place = own.iter().position(|own| own == odd).unwrap_or_default();
                        self.put(PARALLEL, if is_word(odd) { 2 } else { 10 }, sum.terms[place].clone(), *term);
                    }
                    // The other sum has a sibling of one term, and one more.
                    ([one, two], [odd]) => {
                        for (term, like) in [(one, two), (two, one)] {
                            if can_use(term) && distance(like, odd).is_some_and(|far| far <= 4) {
                                self.put(PARALLEL, 1, sum.tokens.clone(), with(term, Some(other)));
                            }
                        }
                    }
                    _ => {}
                }
            }
            for (term, _) in sum.terms.iter().zip(own).filter(|(_, text)| own.len() > 1 && is_constant(text)) {
                sizes.iter().for_each(|size| self.put(PARALLEL, 3, term.clone(), *size));
            }
            for (term, _) in sum.terms.iter().zip(own).filter(|(_, text)| own.len() > 1 && sizes.contains(*text)) {
                let line = self.code.tokens[term.start].line;
                let constants = self.code.tokens.iter().filter(|token| token.line == line && is_constant(token.text));
                constants.for_each(|token| self.put(PARALLEL, 3, term.clone(), token.text));
            }
            for term in known.iter().filter(|term| !own.contains(term) && can_use(term)) {
                let is_near = sum.open.is_some_and(|open| self.is_of_parallel_call(open, term, &sums));
                if *term == "1" && (sum.holder != Holder::Argument || own.len() > 1) {
                    self.put(TERM, 4, sum.tokens.clone(), format!("{text} + 1"));
                    self.put(TERM, 6, sum.tokens.clone(), format!("{text} - 1"));
                    // Counting down from the number of elements.
                    let starts_high = own.len() > 1 && own[0].starts_with(char::is_uppercase);
                    if starts_high && self.code.at(sum.terms[0].end) == "-" {
                        self.put(PARALLEL, 0, sum.terms[0].clone(), format!("{} - 1", own[0]));
                    }
                } else if is_word(term) {
                    let first = all.iter().find(|other| other.len() > 1 && other[0] == *term).copied();
                    let (costs, extra) = if is_near { (PARALLEL, 8) } else { (TERM, 10) };
                    let extra = if self.is_unused_counter(term, sum.tokens.start) { 0 } else { extra };
                    self.put(costs, extra, sum.tokens.clone(), with(term, first));
                }
            }
        }
    }

    /// Puts an index of the same variables in place of one, beside what is added to both: `col + j * 16` for
    /// `col * 8 + j`.
    pub(super) fn indices(&self) {
        let code = &self.code;
        let is_variable = |at: &usize| code.tokens[*at].is_name && code.at(*at).starts_with(char::is_lowercase);
        let mut runs: Vec<(Range<usize>, BTreeSet<&str>)> = Vec::new();
        for sum in code.sums().iter().filter(|sum| !sum.tokens.clone().any(|at| code.at(at) == "-")) {
            for first in sum.terms.iter().take(sum.terms.len().saturating_sub(1).min(2)) {
                let run = first.start..sum.tokens.end;
                let variables: BTreeSet<&str> = run.clone().filter(is_variable).map(|at| code.at(at)).collect();
                if variables.len() > 1 {
                    runs.push((run, variables));
                }
            }
        }
        for sum in code.sums() {
            let costs = if code.words(sum.tokens.clone()).contains("threadIdx") { AXES } else { INDEX };
            self.turned(sum.tokens.clone()).into_iter().for_each(|other| self.put(costs, 1, sum.tokens.clone(), other));
        }
        for (run, variables) in &runs {
            let (text, known) = (code.words(run.clone()), code.known(run.start).collect::<HashSet<_>>());
            let others = runs.iter().filter_map(|(other, of_other)| {
                let own: Vec<&str> = variables.difference(of_other).copied().collect();
                match (own.as_slice(), of_other.difference(variables).collect::<Vec<_>>().as_slice()) {
                    ([], []) => Some((0, code.words(other.clone()).to_owned())),
                    // The same of a sibling: `thread_row` for `row`.
                    ([own], [sibling]) if distance(own, sibling).is_some() => {
                        Some((1, code.with(other.clone(), sibling, own)))
                    }
                    _ => None,
                }
            });
            let is_other = |other: &str| other != text && variables.iter().all(|name| known.contains(name));
            let others: BTreeSet<(u32, String)> = others.filter(|(_, other)| is_other(other)).collect();
            others.into_iter().for_each(|(extra, other)| self.put(INDEX, extra, run.clone(), other));
        }
    }

    /// Computes anew, for the place that a loop is at, what was computed before it for the first one: `f(row + i)` for
    /// `place`, which is `f(row)`.
    pub(super) fn stale(&self) {
        let code = &self.code;
        let value = |at: usize| code.value(at).filter(|_| code.declaration(at) == Some(at));
        for at in 0..code.tokens.len() {
            let Some(declared) = code.declaration(at).filter(|declared| *declared < at) else { continue };
            let Some(old) = value(declared) else { continue };
            let around = std::iter::successors(code.parent(at), |open| code.parent(*open));
            let around = { around }.find(|open| code.at(*open) == "{").filter(|open| *open > old.end);
            for place in around.into_iter().flat_map(|open| open..at).filter(|place| code.at(place + 3) == "+") {
                let first = code.at(place + 2);
                if value(place).is_some() && old.clone().any(|at| code.at(at) == first) {
                    self.put(INDEX, 2, at..at + 1, code.with(old.clone(), first, code.at(place)));
                }
            }
        }
    }

    /// Changes what an index is made of: the other part of a place, the remainder beside a quotient, the rows of a warp
    /// beside its number, the element behind a pointer to several, the element of a thread in place of its row.
    pub(super) fn parts(&self) {
        let code = &self.code;
        let put = |extra, tokens: Range<usize>, new: String| self.put(INDEX, extra, tokens, new);
        for sum in code.sums() {
            let words: Vec<&str> = sum.terms.iter().map(|term| code.words(term.clone())).collect();
            let text = code.words(sum.tokens.clone());
            for (at, term) in sum.terms.iter().enumerate().filter(|(_, term)| code.at(term.start + 1) == "/") {
                let (name, by) = (code.at(term.start), code.words(code.operand(term.start + 2)));
                let is_counter = code.declaration(term.start).is_some_and(|at| code.is_head(at));
                if is_counter && words.len() > 1 && words.iter().all(|other| !other.starts_with(&format!("{name} % ")))
                {
                    put(0, sum.tokens.clone(), format!("{text} + {name} % {by}"));
                }
                // Of the warps before it, each has several rows.
                if let Some(warp) = at.checked_sub(1).filter(|before| words[*before] == "warp" && name == "lane") {
                    put(0, sum.terms[warp].clone(), format!("warp * (32 / {by})"));
                }
            }
            let alone = sum.tokens.start;
            if sum.tokens.len() == 1 && sum.holder == Holder::Argument && code.declaration(alone) < Some(alone) {
                let value = code.declaration(alone).filter(|at| code.at(at + 1) == "=").map_or(alone, |at| at + 2);
                let is_pair = [code.at(value + 1), code.at(value + 3)] == ["+", ";"];
                let others = code.known(alone).filter(|other| distance(code.at(value + 2), other) == Some(0));
                others
                    .filter(|_| is_pair)
                    .for_each(|other| put(1, alone..alone + 1, format!("{} + {other}", code.at(value))));
            }
        }
        for at in code.all("reinterpret_cast") {
            let Some(open) = (at..at + 8).find(|open| code.at(*open) == "(") else { continue };
            let subscript = code.partner(open).map_or(0..0, |close| code.subscripts(close + 1));
            if !subscript.is_empty() {
                let element = [code.words(open + 1..subscript.start - 1), code.words(subscript.clone())].concat();
                put(0, at..subscript.end, format!("*{}(&{element})", code.words(at..open)));
            }
        }
        // `v[i / ROWS]` for `v[i]`, where i counts by ROWS and v has TILE / ROWS elements.
        let mut counted: BTreeMap<(&str, &str), Changes> = BTreeMap::new();
        for open in code.all("[").filter(|open| code.at(open + 2) == "]") {
            let name = code.declaration(open - 1).filter(|name| *name < open - 1);
            let dims = name.map_or(0..0, |name| code.subscripts(name + 1));
            let counter = code.declaration(open + 1).unwrap_or(open + 1);
            let end = code.parent(counter).and_then(|head| code.partner(head)).unwrap_or(counter);
            let by = code.words((counter..end).find(|at| code.at(*at) == "+=").map_or(0..0, |at| at + 1..end));
            if code.is_head(counter) && is_constant(by) && code.words(dims).ends_with(&format!("/ {by}]")) {
                let changed = (code.bytes(open + 1..open + 2), format!("{} / {by}", code.at(open + 1)));
                counted.entry((code.at(open - 1), by)).or_default().push(changed);
            }
        }
        counted.into_values().for_each(|changes| self.add(INDEX, 0, changes));
    }

    /// Returns the indices of the element with row and column exchanged, in rows of any length: `y * Q + x` for
    /// `x * P + y`.
    fn turned(&self, run: Range<usize>) -> Vec<String> {
        let code = &self.code;
        let is_beside = |at: &usize| code.parent(*at) == code.parent(run.start);
        let signs: Vec<usize> = run.clone().filter(|at| is_beside(at) && matches!(code.at(*at), "+" | "*")).collect();
        let [times, plus] = signs[..] else { return Vec::new() };
        let [x, y] = [run.start..times, plus + 1..run.end].map(|part| code.words(part));
        let pitch = code.words(times + 1..plus);
        let turned = |other: &str| format!("{y} * {other} + {x}");
        if let Some(axis) = pitch.strip_prefix("blockDim.") {
            return vec![turned(if axis == "x" { "blockDim.y" } else { "blockDim.x" })];
        }
        let others = code.known(run.start).filter(|name| distance(pitch, name) == Some(0) || *name == pitch);
        others.filter(|_| code.at(times) == "*" && code.at(plus) == "+").map(turned).collect()
    }

    /// Adds distances to indices, and to the numbers in them: `col + 64` for `col + 4` where all is 60 columns off.
    pub(super) fn offsets(&self, distances: &BTreeSet<u32>) {
        let is_place = |name: &str| name == "row" || distance(name, "row").is_some_and(|far| far < 8);
        for sum in self.code.sums() {
            let is_index = matches!(sum.holder, Holder::Subscript | Holder::Argument);
            if !is_index || self.code.is_dimension(sum.tokens.start) {
                continue;
            }
            let text = self.code.words(sum.tokens.clone());
            let last = sum.terms.last().filter(|_| sum.terms.len() > 1).cloned();
            let number = last.and_then(|term| Some((self.code.words(term.clone()).parse::<u32>().ok()?, term)));
            for by in distances.iter().filter(|by| **by > 1) {
                match &number {
                    Some((number, term)) => {
                        let others = [Some(number + by), number.checked_sub(*by)].into_iter().flatten();
                        others.for_each(|other| self.put(OFFSET, 0, term.clone(), other.to_string()));
                    }
                    None if is_simple(text) && (sum.terms.len() > 1 || is_place(text)) => {
                        self.put(OFFSET, 1, sum.tokens.clone(), format!("{text} + {by}"));
                        self.put(OFFSET, 4, sum.tokens.clone(), format!("{text} - {by}"));
                    }
                    None => {}
                }
            }
        }
    }

    /// Counts several elements from the counter of a loop that names them by numbers: `v[j + 1]` for `v[1]`.
    pub(super) fn numbered_elements(&self) {
        let code = &self.code;
        let mut groups: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
        let is_number = |at: &usize| code.at(*at).parse::<u32>().is_ok() && code.at(at + 1) == "]";
        for at in
            (2..code.tokens.len()).filter(is_number).filter(|at| code.at(at - 1) == "[" && !code.is_dimension(*at))
        {
            let name = code.at(code.subscripts_before(at + 2).start - 1);
            groups.entry((code.statement(at), name)).or_default().push(at);
        }
        for numbers in groups.into_values().filter(|numbers| numbers.len() > 1) {
            let heads = (0..numbers[0]).filter(|at| code.is_head(*at) && code.at(at + 1) == "=");
            for counter in heads.map(|at| code.at(at)).filter(|counter| code.is_known(counter, numbers[0])) {
                let counted = |at: &usize| (code.bytes(*at..at + 1), format!("{counter} + {}", code.at(*at)));
                self.add(INDEX, 1, numbers.iter().map(counted).collect());
            }
        }
    }

    /// Puts elements as far apart as there are threads beside each other: `col + j * 16` where col is `thread % 16`.
    pub(super) fn strides(&self) {
        let code = &self.code;
        let mut groups: BTreeMap<(&str, &str), Changes> = BTreeMap::new();
        for sum in code.sums() {
            let starts = sum.terms.iter().filter(|term| term.len() == 1).filter_map(|term| code.modulus(term.start));
            for (term, modulus) in starts.flat_map(|modulus| sum.terms.iter().map(move |term| (term, modulus.clone())))
            {
                let Some(sign) = term.clone().find(|at| code.at(*at) == "*" && code.parent(*at) == sum.open) else {
                    continue;
                };
                // A constant of its own is changed where it is declared.
                let name = code.declaration(sign + 1).filter(|at| sign + 2 == term.end && code.at(at + 1) == "=");
                let end = name.and_then(|at| (at..sign).find(|end| matches!(code.at(*end), ";" | ",")));
                let step = name.zip(end).map_or(sign + 1..term.end, |(at, end)| at + 2..end);
                let is_inside = name.is_some() && code.partner(modulus.start) == Some(modulus.end - 1);
                let modulus = if is_inside { modulus.start + 1..modulus.end - 1 } else { modulus };
                let (step, modulus) = (code.bytes(step), code.words(modulus));
                if code.text[step.clone()] != *modulus {
                    groups.entry((code.words(term.clone()), modulus)).or_default().push((step, modulus.to_owned()));
                }
            }
        }
        for mut changes in groups.into_values() {
            changes.sort_by_key(|(range, _)| range.start);
            changes.dedup();
            self.add(INDEX, 0, changes);
        }
    }

    /// Removes each term and each last factor, and rounds quotients up.
    fn shorten(&self, sum: &Sum) {
        for (at, term) in sum.terms.iter().enumerate() {
            let gone = match at {
                _ if sum.terms.len() == 1 => None,
                0 if self.code.at(term.end) == "-" => None,
                0 => Some(self.code.bytes(term.clone()).start..self.code.bytes(term.end + 1..term.end + 2).start),
                _ => Some(self.code.bytes(sum.terms[at - 1].clone()).end..self.code.bytes(term.clone()).end),
            };
            if let Some(gone) = gone {
                let mut changes = vec![(gone, String::new())];
                // `k <= K - 8` becomes `k < K`.
                if self.code.at(sum.tokens.start - 1) == "<=" && self.code.is_head(sum.tokens.start) {
                    changes.push((self.code.bytes(sum.tokens.start - 1..sum.tokens.start), "<".to_owned()));
                }
                self.add(REMOVAL, 0, changes);
            }
            let is_factor =
                |sign: &usize| matches!(self.code.at(*sign), "*" | "/" | "%") && self.code.parent(*sign) == sum.open;
            if let Some(sign) = term.clone().skip(1).rfind(is_factor) {
                let [left, right] = [term.start..sign, sign + 1..term.end].map(|part| self.code.words(part));
                if self.code.at(sign) == "/" && !(is_constant(left) && is_constant(right)) {
                    let is_of_size = self.code.is_head(sign) || ["M", "N", "K"].contains(&left);
                    let costs = if is_of_size { LAST } else { OPERATOR };
                    self.put(costs, 4, term.clone(), format!("({left} + {right} - 1) / {right}"));
                }
                self.put(REMOVAL, 2, term.clone(), left);
            }
        }
    }

    /// Adds the factor that a term has elsewhere: `i * ROWS` for `i`, and `blockIdx.x * TILE` for `blockIdx.x`.
    fn add_factors(&self, sum: &Sum, all: &BTreeSet<&Vec<&'s str>>) {
        for term in &sum.terms {
            let text = self.code.words(term.clone());
            let head = |text: &'s str| text.split(['.', ' ']).next().unwrap_or_default();
            let is_plain = |text: &str| !text.contains(['(', '[']);
            // The number of a tile, as `thread / 16` beside `thread % 16 * TN`: first the constant that is not taken.
            let is_number = |text: &str| text.contains(['/', '%']);
            for other in all.iter().copied().flatten().filter(|_| is_number(text) && !text.contains('*')) {
                if let Some((start, factor)) = other.rsplit_once(" * ")
                    && is_number(start)
                    && start.split(['.', ' ']).next() == Some(head(text))
                {
                    let known = self.code.known(term.start).filter(|name| distance(factor, name) == Some(0));
                    known.chain([factor]).for_each(|name| self.put(PASS, 0, term.clone(), format!("{text} * {name}")));
                }
            }
            for other in all.iter().copied().flatten().filter(|other| is_plain(other) && is_plain(text)) {
                let (own, has_other) = text.split_once(" * ").map_or((text, false), |(own, by)| (own, is_constant(by)));
                if let Some((start, factor)) = other.split_once(" * ").filter(|_| !own.contains(['*', '/', '%']))
                    && (head(start) == head(own) || distance(head(start), head(own)) == Some(0))
                    && (own == text || has_other && is_constant(factor))
                {
                    self.put(PARALLEL, 1, term.clone(), format!("{own} * {factor}"));
                }
            }
        }
    }

    /// Returns whether a name is the counter of a loop around a token and does not occur in the token's line.
    fn is_unused_counter(&self, name: &str, at: usize) -> bool {
        let line = self.code.tokens[at].line;
        let mut of_name = self.code.tokens[..at].iter().zip(0..).filter(|(token, _)| token.text == name);
        of_name.clone().any(|(_, at)| self.code.is_head(at)) && of_name.all(|(token, _)| token.line != line)
    }

    /// Returns whether another call of the same function has a term, or a sibling of it, in its arguments.
    fn is_of_parallel_call(&self, open: usize, term: &str, sums: &[Sum]) -> bool {
        let is_parallel = |sum: &&Sum| {
            let other = sum.open.filter(|other| sum.holder == Holder::Argument && *other != open);
            other.is_some_and(|other| self.code.at(other - 1) == self.code.at(open - 1))
        };
        let mut terms = sums.iter().filter(is_parallel).flat_map(|sum| &sum.terms);
        let is_like = |known: &str| known == term || distance(known, term).is_some_and(|far| far <= 2);
        self.code.is_call(open) && terms.any(|known| is_like(self.code.words(known.clone())))
    }

    /// Adds the missing terms in all comparisons of one condition.
    pub(super) fn conjunctions(&self) {
        let mut groups: BTreeMap<usize, Changes> = BTreeMap::new();
        for found in self.found.borrow().iter().filter(|found| found.costs == PARALLEL) {
            let (range, new) = &found.changes[0];
            let token = self.code.tokens.partition_point(|token| token.start < range.start);
            let open = self.code.parent(token).filter(|open| *open > 0 && self.code.at(open - 1) == "if");
            if let Some(group) = open.map(|open| groups.entry(open).or_default())
                && group.iter().all(|(known, _)| known != range)
                && new.len() > range.len()
            {
                group.push((range.clone(), new.clone()));
            }
        }
        for (_, changes) in groups.into_iter().filter(|(_, changes)| changes.len() > 1) {
            self.add(PARALLEL, 0, changes);
        }
    }
}

/// Returns the elements of `all` that are not among `some`, each of which stands for one.
fn without<'t>(all: &[&'t str], some: &[&str]) -> Vec<&'t str> {
    let mut left = some.to_vec();
    let is_new = |text: &&&str| {
        let known = left.iter().position(|known| known == *text);
        known.map(|at| left.swap_remove(at)).is_none()
    };
    all.iter().filter(is_new).copied().collect()
}

/// Returns whether a term is made of names and numbers.
fn is_simple(term: &str) -> bool {
    !term.contains(['(', '[', '.'])
}

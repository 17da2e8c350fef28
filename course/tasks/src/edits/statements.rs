//! Edits of whole statements: those that are added, removed or moved.

use std::ops::Range;

use super::code::is_word;
use super::{
    ALIGNED, BARRIER, CONDITION, Change, Changes, FILLED, FLIP, GUARD, LATE, LAYOUT, LEAVING, NAMED, ORDER, PARALLEL,
    Search,
};

impl Search<'_> {
    /// Adds, removes and moves barriers.
    pub(super) fn barriers(&self) {
        let barrier = if self.task.is_rust { "barrier" } else { "__syncthreads" };
        let code = &self.code;
        let lines: Vec<&str> = code.text.lines().collect();
        // Places after which a barrier can stand: the line, and the text that is added.
        let last = |line: usize| code.tokens.partition_point(|token| token.line <= line).checked_sub(1);
        let places = (0..lines.len()).filter_map(|line| {
            let last = last(line).filter(|last| code.tokens[*last].line == line)?;
            let around = if code.at(last) == "{" { last } else { code.parent(last)? };
            // The first statement around: what a loop without braces repeats stands further in.
            let first = code.tokens.get(around + 1).map_or(line, |first| first.line);
            let model = lines[if first > code.tokens[around].line { first } else { line }];
            let indent = &model[..model.len() - model.trim_start().len()];
            let is_end = matches!(code.at(last), ";" | "{" | "}") && code.at(around) == "{";
            let end = code.line_end(last);
            is_end.then(|| (line, (end..end, format!("{indent}{barrier}();\n"))))
        });
        let places: Vec<(usize, Change)> = places.collect();
        // In loops over the elements of a thread a barrier would do as well, many times over: that outweighs a
        // suspicion.
        let deeper =
            |(_, text): &Change| ((text.len() - text.trim_start().len()) as u32 / 4).saturating_sub(2) * (NAMED + 1);
        places.iter().for_each(|(_, insert)| self.add(BARRIER, 2 + deeper(insert), vec![insert.clone()]));
        for at in code.all(barrier) {
            let (line, range) = (code.tokens[at].line, code.bytes(at..at + 4));
            let gone = (code.whole_line(range), String::new());
            self.add(BARRIER, 2, vec![gone.clone()]);
            let near = places.iter().filter(|(other, _)| *other != line && other.abs_diff(line) <= 24);
            near.for_each(|(other, insert)| {
                let extra = (other.abs_diff(line) as u32).min(12) + deeper(insert);
                self.add(BARRIER, extra, vec![gone.clone(), insert.clone()]);
            });
        }
    }

    /// Removes conditions, and with those that leave early the statement.
    pub(super) fn conditions(&self) {
        let code = &self.code;
        for at in code.all("if") {
            let Some(close) = code.partner(at + 1) else { continue };
            let gone = |tokens: Range<usize>| (code.whole_line(code.bytes(tokens)), String::new());
            let (costs, changes) = match (code.at(close + 1), code.partner(close + 1)) {
                ("return", _) => (LEAVING, vec![gone(at..close + 3)]),
                ("{", Some(end)) if code.at(end + 1) != "else" => {
                    (CONDITION, vec![gone(at..close + 2), gone(end..end + 1)])
                }
                ("{", _) => continue,
                _ => (CONDITION, vec![(code.bytes(at..close + 1), String::new())]),
            };
            self.add(costs, 0, changes);
        }
    }

    /// Adds conditions: of a store, that the first subscript is below the dimension; of a read of the old C, which may
    /// hold what is not a number, that its factor is not 0.
    pub(super) fn guards(&self) {
        let code = &self.code;
        for sign in code.all("=") {
            let stored = code.subscripts_before(sign);
            let Some(name) = stored.start.checked_sub(1).filter(|_| !stored.is_empty()) else { continue };
            let dims = code.declaration(name).filter(|at| *at != name).map_or(0..0, |at| code.subscripts(at + 1));
            let [first, size] = [stored.start, dims.start].map(|open| code.inside(open));
            if !dims.is_empty() {
                let start = code.bytes(code.statement(sign)..sign).start;
                self.add(GUARD, 0, vec![(start..start, format!("if ({first} < {size}) "))]);
            }
        }
        for sign in code.all("*").filter(|sign| code.tokens[sign - 1].is_name) {
            let old = match code.at(sign + 2) {
                "[" if code.at(sign + 1) == "C" => code.subscripts(sign + 2).end,
                "(" if code.at(sign + 3) == "C" => code.operand(sign + 2).end,
                _ => continue,
            };
            let (factor, product) = (code.at(sign - 1), code.words(sign - 1..old));
            self.put(PARALLEL, 0, sign - 1..old, format!("({factor} == 0 ? 0 : {product})"));
        }
    }

    /// Gives elements 0 where the condition under which they are read or written does not hold.
    pub(super) fn fillers(&self) {
        let code = &self.code;
        let mut filled: Vec<Changes> = Vec::new();
        for at in code.all("if") {
            let Some(close) = code.partner(at + 1) else { continue };
            let end = (close..code.tokens.len()).find(|end| matches!(code.at(*end), ";" | "{")).unwrap_or(close);
            let sign = (close..end).find(|sign| code.at(*sign) == "=").unwrap_or(end);
            let is_array = sign < end && code.at(sign - 1) == "]" && !matches!(code.at(close + 1), "C" | "out");
            if is_array && code.at(end) == ";" && code.at(end + 1) != "else" {
                let [condition, target, value] =
                    [at + 2..close, close + 1..sign, sign + 1..end].map(|part| code.words(part));
                filled.push(vec![(code.bytes(at..end), format!("{target} = {condition} ? {value} : 0"))]);
            }
        }
        if filled.len() > 1 {
            filled.push(filled.concat());
        }
        for open in code.all("[") {
            let rows = match code.at(open - 1) {
                "A" | "C" => "M",
                "B" => "K",
                _ => continue,
            };
            let close = code.close(open);
            let [row, times, width, plus] = [1, 2, 3, 4].map(|after| code.at(open + after));
            if [times, plus] == ["*", "+"] && !code.at(close + 1).ends_with('=') && code.text.contains("common.cuh") {
                let rows = if width == rows { "K" } else { rows };
                let col = code.words(open + 5..close);
                let call = format!("load_or_zero({}, {rows}, {width}, {row}, {col})", code.at(open - 1));
                self.put(GUARD, 0, open - 1..close + 1, call);
            }
        }
        filled.into_iter().for_each(|changes| self.add(FILLED, 0, changes));
    }

    /// Requests what the next round needs before this one is multiplied: moves loads that a round ends with after its
    /// first barrier.
    pub(super) fn late_loads(&self) {
        let code = &self.code;
        for (_, open, close) in code.loops() {
            let is_own = |at: &usize| code.parent(*at) == Some(open);
            let Some(barrier) = (open..close).find(|at| is_own(at) && code.at(*at) == "__syncthreads") else {
                continue;
            };
            let is_end = |at: &usize| is_own(at) && matches!(code.at(*at), ";" | "}");
            let ends: Vec<usize> = (barrier..close).filter(is_end).collect();
            let loads = |part: &[usize]| {
                (part[0] + 1..part[1]).any(|at| code.at(at).starts_with("load") && code.is_call(at + 1))
            };
            let is_sum = |part: &[usize]| (part[0] + 1..part[1]).any(|at| code.at(at) == "+=" && !code.is_head(at));
            let late: Vec<&[usize]> = ends
                .windows(2)
                .rev()
                .skip_while(|part| !loads(part))
                .take_while(|part| loads(part) && !is_sum(part))
                .collect();
            let Some((last, first)) = late.first().zip(late.last()) else { continue };
            let (from, to) = (code.line_end(first[0]), code.line_end(last[1]));
            let place = code.line_end(ends[0]);
            if place < from {
                self.add(LATE, 0, code.moved(from..to, place));
            }
        }
    }

    /// Adds to a vector access the condition that rows are aligned for it, or removes the padding of rows.
    pub(super) fn aligned(&self) {
        let code = &self.code;
        let mut added: Vec<Changes> = Vec::new();
        for at in code.all("if") {
            let Some(close) = code.partner(at + 1).filter(|close| code.at(close - 2) == "<") else { continue };
            let Some(cast) = (close..close + 6).find(|at| code.at(*at) == "reinterpret_cast") else { continue };
            let is_vector = |at: usize| code.at(at).strip_prefix("double").or(code.at(at).strip_prefix("float"));
            if let Some(wide) = (cast..cast + 5).find_map(is_vector) {
                let end = code.bytes(close..close).start;
                added.push(vec![(end..end, format!(" && {} % {wide} == 0", code.at(close - 1)))]);
            }
        }
        added.push(added.concat());
        for sum in code.sums().iter().filter(|sum| sum.terms.len() == 2 && code.is_dimension(sum.tokens.start)) {
            let padding = code.bytes(sum.terms[0].clone()).end..code.bytes(sum.tokens.clone()).end;
            added.push(vec![(padding, String::new())]);
        }
        added.into_iter().for_each(|changes| self.add(ALIGNED, 0, changes));
    }

    /// Moves what a loop assigns first after the last statement of the loop that reads it: a value of the last round.
    pub(super) fn early_assignments(&self) {
        let code = &self.code;
        for (_, open, close) in code.loops() {
            let end_of = |at: usize| {
                let is_end = |end: &usize| matches!(code.at(*end), ";" | "}") && code.parent(*end) == Some(open);
                (at..code.tokens.len()).find(is_end)
            };
            let (mut first, mut names) = (open + 1, Vec::new());
            while code.at(first) == "const" {
                first = end_of(first).unwrap_or(first) + 1;
            }
            let start = first;
            while code.at(first + 1) == "=" && code.is_known(code.at(first), open) {
                names.push(code.at(first));
                first = end_of(first).unwrap_or(first) + 1;
            }
            let Some(end) = (first..close).rev().find(|at| names.contains(&code.at(*at))).and_then(end_of) else {
                continue;
            };
            let early = code.whole_line(code.bytes(start..first));
            self.add(ORDER, 0, code.moved(early, code.line_end(end)));
        }
    }

    /// Declares sums before the loop that sets them to 0 in each round, and stores them where it added them.
    pub(super) fn hoisted_sums(&self) {
        let code = &self.code;
        for (header, open, close) in code.loops() {
            let inside = open + 1..close;
            let is_declaration = |sign: &usize| {
                let name = code.subscripts_before(*sign).start.saturating_sub(1);
                code.at(*sign) == "=" && code.parent(*sign) == Some(open) && code.declaration(name) == Some(name)
            };
            // Loops that set sums to 0, first in each round.
            let is_end = |at: &usize| matches!(code.at(*at), ";" | "}") && code.parent(*at) == Some(open);
            let first = inside.clone().find(is_end).filter(|_| code.at(open + 1) == "for").map(|end| open + 1..end + 1);
            let sets = |at: &usize| code.at(*at).ends_with('=') && !code.is_head(*at);
            let zeros = first.filter(|first| first.clone().filter(sets).count() == 1).filter(|first| {
                let set = code.words(first.clone()).rsplit_once('=').map_or("?", |(_, set)| set);
                set.trim_matches(|c: char| c.is_whitespace() || ".f0;}".contains(c)).is_empty()
            });
            let before = code.line_start(header);
            if let Some(zeros) = zeros {
                self.add(ORDER, 0, code.moved(code.whole_line(code.bytes(zeros)), before));
            }
            let Some(sign) = inside.clone().find(is_declaration) else { continue };
            let end = code.semicolon(sign);
            if !code.words(sign + 1..end).trim_matches(['.', 'f', '0', '{', '}']).is_empty() {
                continue;
            }
            let statement = code.whole_line(code.bytes(code.statement(sign)..end + 1));
            let mut changes = code.moved(statement, before);
            self.add(ORDER, 0, changes.clone());
            let stores =
                inside.filter(|at| code.at(*at) == "+=" && matches!(code.at(code.statement(*at)), "C" | "out"));
            changes.extend(stores.map(|at| (code.bytes(at..at + 1), "=".to_owned())));
            self.add(ORDER, 0, changes);
        }
    }

    /// Adds what a sum starts with after the sum is multiplied, and multiplies it behind the loop that does it in each
    /// round.
    pub(super) fn late_factors(&self) {
        let code = &self.code;
        for sign in code.all("=").filter(|at| code.is_sum_named(at - 1)) {
            let (name, start) = (code.at(sign - 1), sign + 1..code.semicolon(sign));
            let is_product = |at: &usize| [code.at(at - 1), code.at(*at)] == ["*", name];
            if let Some(at) = (start.end..code.tokens.len()).find(is_product) {
                let product = code.words(at - 2..at + 1);
                let later = format!("{product} + ({})", code.words(start.clone()));
                self.add(ORDER, 0, vec![(code.bytes(start), "0".to_owned()), (code.bytes(at - 2..at + 1), later)]);
            }
        }
        for (header, open, close) in code.loops() {
            let is_scaling = |at: &usize| {
                let is_own = code.parent(*at) == Some(open) && code.is_sum_named(code.statement(*at));
                let is_product = || (*at..code.semicolon(*at)).any(|at| code.at(at) == "*");
                is_own && (code.at(*at) == "*=" || code.at(*at) == "=" && is_product())
            };
            let Some(at) = (header..close).find(is_scaling) else { continue };
            let statement = code.whole_line(code.bytes(code.statement(at)..code.semicolon(at) + 1));
            let behind = code.whole_line(code.bytes(close..close + 1)).end;
            self.add(ORDER, 0, code.moved(statement, behind));
        }
    }

    /// Removes declarations that hide a variable of the same name, or their types.
    pub(super) fn hidden_declarations(&self) {
        let code = &self.code;
        for at in (1..code.tokens.len()).filter(|at| matches!(code.at(at + 1), "=" | ";" | "[")) {
            let ty = code.statement(at)..at;
            let is_typed = !ty.is_empty() && ty.clone().all(|at| is_word(code.at(at))) && code.at(ty.start) != "return";
            if is_typed && code.is_known(code.at(at), at) {
                let end = code.semicolon(at);
                self.add(ORDER, 0, vec![(code.whole_line(code.bytes(ty.start..end + 1)), String::new())]);
                if code.at(at + 1) == "=" {
                    self.add(ORDER, 0, vec![(code.bytes(ty.start..at).start..code.tokens[at].start, String::new())]);
                }
            }
        }
    }

    /// Takes what a loop loads from the next round: `k0 + BK` for `k0`, in neighbouring lines.
    pub(super) fn rounds_ahead(&self) {
        let code = &self.code;
        for (header, open, close) in code.loops() {
            let Some(step) = (header..open).find(|at| code.at(*at) == "+=") else { continue };
            let (counter, by) = (code.at(step - 1), code.words(step + 1..open - 1));
            let uses = (open..close).filter(|at| code.at(*at) == counter && code.at(at + 1) == "+");
            let changes: Changes = uses.map(|at| (code.bytes(at..at + 1), format!("{counter} + {by}"))).collect();
            code.near(&changes).for_each(|changes| self.add(ORDER, 0, changes.to_vec()));
        }
    }

    /// Changes, at the end of a loop, a variable that chooses a buffer: one that nothing changes, or that changes
    /// earlier.
    pub(super) fn buffers(&self) {
        let code = &self.code;
        for at in code.all("^=").filter(|at| code.at(at + 2) == ";") {
            if let Some((.., close)) = code.loops().find(|(_, open, _)| code.parent(at) == Some(*open)) {
                let flip = code.whole_line(code.bytes(at - 1..at + 3));
                self.add(FLIP, 0, code.moved(flip, code.line_start(close)));
            }
        }
        for at in (1..code.tokens.len()).filter(|at| [code.at(at - 1), code.at(at + 1)] == ["int", "="]) {
            let name = code.at(at);
            let uses: Vec<usize> = (at + 1..code.tokens.len()).filter(|other| code.at(*other) == name).collect();
            let is_subscript = |at: &usize| [code.at(at - 1), code.at(at + 1)] == ["[", "]"];
            // The outermost loop around the uses that the declaration is not in.
            let mut bodies = code.loops().skip_while(|(_, open, _)| *open < at);
            let is_around = |(_, open, close): &(usize, usize, usize)| {
                let is_inside = |at: &usize| (*open..*close).contains(at) && is_subscript(at);
                !uses.is_empty() && uses.iter().all(is_inside)
            };
            if let Some((.., close)) = bodies.next().filter(is_around) {
                let end = code.line_start(close);
                let indent = code.text[end..].len() - code.text[end..].trim_start().len();
                self.add(BARRIER, 0, vec![(end..end, format!("{}{name} ^= 1;\n", " ".repeat(indent + 4)))]);
            }
        }
    }

    /// Reads a tile that is written and never read, in place of an operand that comes from elsewhere.
    pub(super) fn unread_tiles(&self) {
        let code = &self.code;
        for open in code.all("[") {
            let (name, first) = (code.at(open - 1), code.close(open));
            let Some(last) = code.partner(first + 1).filter(|last| code.at(last + 1) == "=") else { continue };
            // The declaration, and this.
            if code.tokens.iter().filter(|token| token.text == name).count() > 2 {
                continue;
            }
            let [row, col] = [open + 1..first, first + 2..last].map(|subscript| code.words(subscript));
            for sign in (last..code.tokens.len()).filter(|at| code.at(*at) == "+=") {
                let counters: Vec<&str> = code.known(sign).filter(|name| name.len() < 3).collect();
                let end = code.semicolon(sign);
                let is_factor = |at: &usize| code.at(*at) == "*" && code.parent(*at) == code.parent(sign);
                let mut start = sign + 1;
                for end in (sign..end).filter(is_factor).chain([end]) {
                    let operand = code.bytes(std::mem::replace(&mut start, end + 1)..end);
                    for counter in counters.iter().rev().take(2) {
                        let tiles = [format!("{name}[{counter}][{col}]"), format!("{name}[{row}][{counter}]")];
                        tiles.into_iter().for_each(|tile| self.add(LAYOUT, 2, vec![(operand.clone(), tile)]));
                    }
                }
            }
        }
    }
}

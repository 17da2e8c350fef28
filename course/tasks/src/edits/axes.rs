//! Edits of the axes of blocks and threads.

use std::ops::Range;

use super::code::{Code, is_constant};
use super::{AXES, Changes, Search, TURN, distance};

impl Search<'_> {
    /// Exchanges axes: x and y of an index, quotient and remainder of one number; rewrites indices for other blocks.
    pub(super) fn axes(&self) {
        let code = &self.code;
        let uses = |index: &str, axis: &'static str| -> Vec<usize> {
            code.all(axis).filter(|at| code.at(at.wrapping_sub(2)) == index).collect()
        };
        let to = |at: &usize, new: &str| (code.bytes(*at..at + 1), new.to_owned());
        for index in ["blockIdx", "threadIdx"] {
            let [x, y] = ["x", "y"].map(|axis| uses(index, axis));
            if !x.is_empty() && !y.is_empty() {
                self.add(AXES, 0, x.iter().map(|at| to(at, "y")).chain(y.iter().map(|at| to(at, "x"))).collect());
            }
        }
        let [x, y] = ["x", "y"].map(|axis| uses("threadIdx", axis));
        if self.task.block[1] > 1 && y.is_empty() {
            let alone = x.iter().filter(|at| [code.at(at.wrapping_sub(3)), code.at(**at + 1)] == ["=", ";"]);
            let number = "threadIdx.y * blockDim.x + threadIdx.x".to_owned();
            alone.for_each(|at| self.put(AXES, 0, at - 2..at + 1, number.clone()));
        }
        if self.task.block[1] == 1 && !y.is_empty() {
            // A block of one dimension, in rows as wide as a constant that stands beside its index.
            let near = y.iter().flat_map(|at| at.saturating_sub(8)..at + 8).map(|at| code.at(at));
            let mut widths: Vec<&str> = near.filter(|word| is_constant(word)).collect();
            widths.dedup();
            for width in widths {
                let part = |at: &usize, by: char| (code.bytes(at - 2..at + 1), format!("(threadIdx.x {by} {width})"));
                self.add(AXES, 0, x.iter().map(|at| part(at, '%')).chain(y.iter().map(|at| part(at, '/'))).collect());
            }
        }
        for (a, b) in code.all("/").flat_map(|a| code.all("%").map(move |b| (a, b))) {
            let is_close = code.tokens[a].line.abs_diff(code.tokens[b].line) <= 2;
            let divisors = [a + 1, b + 1].map(|at| code.at(at));
            if is_close && divisors[0] == divisors[1] && code.at(a - 1) == code.at(b - 1) {
                for name in code.known(a).filter(|name| distance(name, divisors[0]) == Some(0)) {
                    let divisors = [a + 1, b + 1].map(|at| to(&at, name));
                    self.add(AXES, 0, divisors.to_vec());
                    self.add(AXES, 2, [divisors.as_slice(), &[to(&a, "%"), to(&b, "/")]].concat());
                }
            }
            let is_one = code.tokens[a].line == code.tokens[b].line && code.statement(a) == code.statement(b);
            let are_declared = [a, b].iter().all(|sign| matches!(code.at(sign.wrapping_sub(2)), "." | "="));
            if !is_close || code.at(a - 1) != code.at(b - 1) || is_one && !are_declared {
                continue;
            }
            let [by, modulus] = [a, b].map(|sign| code.operand(sign + 1));
            let [by_text, modulus_text] = [&by, &modulus].map(|operand| code.words(operand.clone()));
            if by_text == modulus_text {
                self.add(AXES, 0, vec![to(&a, "%"), to(&b, "/")]);
            } else {
                // A number is taken apart by one divisor.
                self.add(AXES, 0, vec![(code.bytes(by.clone()), modulus_text.to_owned())]);
                self.add(AXES, 0, vec![(code.bytes(modulus.clone()), by_text.to_owned())]);
            }
        }
    }

    /// Exchanges the quotient and the remainder of a thread's number in some statements: in one, in two neighbours, and
    /// in all between two barriers; everywhere, by their definitions.
    pub(super) fn turns(&self) {
        let code = &self.code;
        let declared: Vec<usize> = (0..code.tokens.len()).filter(|at| is_declared(code, *at)).collect();
        for pair in declared.windows(2).map(|pair| [pair[0], pair[1]]) {
            let sign = |at: usize, signs: [&str; 2]| code.value(at)?.find(|sign| signs.contains(&code.at(*sign)));
            let signs = [[["/", ">>"], ["%", "&"]], [["%", "&"], ["/", ">>"]]];
            let signs = signs.iter().find_map(|[one, other]| Some([sign(pair[0], *one)?, sign(pair[1], *other)?]));
            let Some([one, other]) =
                signs.filter(|[one, other]| code.words(pair[0] + 2..*one) == code.words(pair[1] + 2..*other))
            else {
                continue;
            };
            let end = code.parent(pair[0]).and_then(|open| code.partner(open)).unwrap_or(0);
            let axes = Axes { code, names: pair.map(|at| code.at(at)), body: other..end };
            let is_end = |at: &usize| matches!(code.at(*at), ";" | "{" | "}") && !code.is_head(*at);
            let ends: Vec<usize> = axes.body.clone().filter(is_end).collect();
            let all = ends.windows(2).map(|ends| ends[0] + 1..ends[1]);
            let parts: Vec<(usize, Changes)> = all.clone().map(|part| (part.start, axes.turned(part, true))).collect();
            for (at, (_, part)) in parts.iter().enumerate().filter(|(_, (_, part))| !part.is_empty()) {
                let next = parts[at + 1..].iter().take(4).find(|(_, next)| !next.is_empty());
                next.into_iter().for_each(|(_, next)| self.add(TURN, 1, [part.as_slice(), next].concat()));
                self.add(TURN, 0, part.clone());
            }
            let phases = parts.split(|(start, _)| code.at(*start) == "__syncthreads");
            let of_phase = |phase: &[(usize, Changes)]| phase.iter().flat_map(|(_, part)| part.clone()).collect();
            phases.for_each(|phase| self.add(TURN, 2, of_phase(phase)));
            if code.at(one + 1) == code.at(other + 1) {
                let signs =
                    [(one, other), (other, one)].map(|(at, by)| (code.bytes(at..at + 1), code.at(by).to_owned()));
                self.add(TURN, 1, signs.into_iter().chain(all.flat_map(|part| axes.turned(part, false))).collect());
            }
        }
    }
}

fn is_declared(code: &Code<'_>, at: usize) -> bool {
    code.at(at + 1) == "=" && code.declaration(at) == Some(at) && !code.is_head(at)
}

/// The quotient and the remainder of a thread's number: their names, and where these are used.
struct Axes<'a, 's> {
    code: &'a Code<'s>,
    names: [&'s str; 2],
    body: Range<usize>,
}

impl Axes<'_, '_> {
    /// Returns which of the two a variable is, or is made of.
    fn side(&self, at: usize) -> Option<usize> {
        let of = |range: Range<usize>| {
            let [one, other] = self.names.map(|name| range.clone().any(|at| self.code.at(at) == name));
            (one != other).then_some(usize::from(other))
        };
        let made = self.code.declaration(at).filter(|made| self.body.contains(made) && *made != at);
        of(at..at + 1).or_else(|| of(self.code.value(made.filter(|made| is_declared(self.code, *made))?)?))
    }

    /// Returns the loop-dependent offset added to a variable: the `+ i * 8` of `row + i * 8`.
    fn step(&self, at: usize) -> Option<Range<usize>> {
        let code = self.code;
        let is_end = |end: &usize| !code.at(*end).starts_with(|c: char| c.is_alphanumeric() || "_*/%".contains(c));
        let term = at + 2..(at + 2..self.body.end).find(is_end).unwrap_or(at + 2);
        let is_counted = term.clone().any(|at| code.declaration(at).is_some_and(|made| code.is_head(made)));
        (code.at(at + 1) == "+" && is_counted).then(|| at + 1..term.end)
    }

    /// Exchanges the two in a statement: the names, and where one counts on, what is added to it: `load(col, row + i)`
    /// for `load(row + i, col)`.
    fn turned(&self, tokens: Range<usize>, renames: bool) -> Changes {
        let code = self.code;
        let sides = tokens.filter(|at| code.at(at - 1) != ".").filter_map(|at| Some((at, self.side(at)?)));
        let uses: Vec<(usize, usize)> = sides.collect();
        let counted = uses.iter().find_map(|(at, side)| Some((*side, self.step(*at)?)));
        let turned = |(at, side): &(usize, usize)| {
            let is_counted = |(other, _): &&(usize, Range<usize>)| other == side;
            let step = counted.as_ref().filter(is_counted).and_then(|_| self.step(*at));
            let name = if renames && code.at(*at) == self.names[*side] { self.names[1 - side] } else { code.at(*at) };
            let more = counted.as_ref().filter(|known| !is_counted(known)).map(|(_, step)| code.words(step.clone()));
            let new = [name].into_iter().chain(more).collect::<Vec<_>>().join(" ");
            (code.bytes(*at..step.map_or(at + 1, |step| step.end)), new)
        };
        uses.iter().map(turned).filter(|(range, new)| code.text[range.clone()] != **new).collect()
    }
}

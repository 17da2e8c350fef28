//! Edits of what fills a tile: loops that end early or leave rows out, and one pass where several are needed.

use std::ops::Range;

use super::code::Code;
use super::{FILLS, Search};

impl Search<'_> {
    /// Makes what stores to a tile fill all of it: by another bound or step of the loop around, or by a loop.
    pub(super) fn fills(&self, tile: &str) {
        let code = &self.code;
        let uses = || code.all(tile).filter(|at| code.at(at + 1) == "[");
        let Some(declared) = uses().find(|at| code.is_dimension(at + 2)) else { return };
        let dims = code.subscripts(declared + 1);
        let [rows, cols] = [dims.start, code.close(dims.start) + 1]
            .map(|open| code.inside(open).split(" + ").next().unwrap_or_default());
        let block = self.task.block.iter().product::<u32>().to_string();
        let threads = code.known(declared).find(|name| name.contains("THREADS")).unwrap_or(&block);
        for at in uses() {
            let end = code.subscripts(at + 1).end;
            let start = code.statement(at);
            if code.at(end) != "=" && !(code.at(start).starts_with("store") && code.at(at - 1) == "&") {
                continue;
            }
            let statement = start..code.semicolon(end);
            let is_used = |name: &str| statement.clone().any(|at| code.at(at) == name);
            // `thread / 8`, in the statement or as the value of a variable in it.
            let quotient = |at: usize| {
                let value = code.declaration(at).filter(|made| *made < at).and_then(|made| code.value(made));
                let named = value.and_then(|mut value| value.find(|sign| code.at(*sign) == "/"));
                let sign = named.or(Some(code.operand(at).end).filter(|sign| code.at(*sign) == "/"))?;
                Some((named.is_some(), code.words(code.operand(sign + 1))))
            };
            let divisors: Vec<&str> = statement.clone().filter_map(|at| Some(quotient(at)?.1)).collect();
            for head in heads(code, start) {
                for sign in head.clone().filter(|at| is_used(code.at(at - 1))) {
                    let end =
                        (sign..head.end).find(|end| matches!(code.at(*end), ";" | "&&" | "||")).unwrap_or(head.end);
                    let factors =
                        code.all("*").filter(|at| statement.contains(at) && code.at(at - 1) == code.at(sign - 1));
                    let others: Vec<String> = match code.at(sign) {
                        "<" => {
                            let passes = factors.map(|at| format!("{rows} / {}", code.words(code.operand(at + 1))));
                            passes.chain([rows.to_owned(), cols.to_owned(), format!("{rows} * {cols}")]).collect()
                        }
                        "+=" => {
                            divisors.iter().map(|by| format!("{threads} / {by}")).chain([threads.to_owned()]).collect()
                        }
                        _ => continue,
                    };
                    others.into_iter().for_each(|other| self.put(FILLS, 0, sign + 1..end, other));
                }
            }
            if let Some((is_named, by)) = quotient(at + 2) {
                let number = code.operand(at + 2);
                let (name, n) = (code.words(number.clone()), number.len());
                let (counter, head) = match is_named {
                    true => (format!("{name} + i"), format!("i = 0; i < {rows}; i += {threads} / {by}")),
                    false => ("t".to_owned(), format!("t = {name}; t < {rows} * {cols}; t += {threads}")),
                };
                let start = code.bytes(statement.clone()).start;
                let counted = |at: usize| {
                    let is_factor =
                        is_named && [at - 1, at + n].iter().any(|at| matches!(code.at(*at), "*" | "/" | "%"));
                    (code.bytes(at..at + n), if is_factor { format!("({counter})") } else { counter.clone() })
                };
                let counted = statement.filter(|at| code.words(*at..at + n) == name).map(counted);
                self.add(FILLS, 0, [(start..start, format!("for (int {head}) "))].into_iter().chain(counted).collect());
            }
        }
    }
}

/// Returns the insides of the heads of `for` and `if` whose bodies have a statement.
fn heads(code: &Code<'_>, statement: usize) -> Vec<Range<usize>> {
    let heads = (1..statement).filter(|open| matches!(code.at(open - 1), "for" | "if"));
    let bodies = heads.filter_map(|open| Some((open, code.partner(open).filter(|close| *close > open + 1)?)));
    let has = |(open, close): &(usize, usize)| (*close..code.scope_end(open + 1)).contains(&statement);
    bodies.filter(has).map(|(open, close)| open + 1..close).collect()
}

//! Edits of declarations and types.

use super::{Changes, LAYOUT, NARROW, SPACE, Search, TYPE, VOLATILE};

impl Search<'_> {
    /// Changes declarations: type, memory space, first value, padding.
    pub(super) fn declarations(&self) {
        const TYPES: [&str; 8] = ["int", "unsigned", "double", "float", "half", "long", "short", "T"];
        let element = if self.task.work.is_double() { "double" } else { "float" };
        let code = &self.code;
        let mut volatile = Vec::new();
        for at in 1..code.tokens.len().saturating_sub(2) {
            let here = |at: usize| code.tokens.get(at).map_or(code.text.len(), |token| token.start);
            let (text, in_body) = (code.at(at), code.parent(at).is_some_and(|open| code.at(open) == "{"));
            let gone = (here(at)..here(at + 1), String::new());
            match text {
                "volatile" => volatile.push(gone),
                "__shared__" if in_body => self.add(SPACE, 0, vec![gone]),
                _ if !in_body || !TYPES.contains(&text) || !code.tokens[at + 1].is_name => {}
                _ => {
                    let start = code.statement(at);
                    let is_shared = (start..at).any(|at| code.at(at) == "__shared__");
                    let end = code.subscripts(at + 2).end;
                    let (is_array, next) = (end > at + 2, code.at(end));
                    let [first, last, stop] = [start, end - 1, end].map(|at| here(at)..here(at));
                    let is_zero = next == "=" && code.at(end + 1).trim_matches(['.', 'f', '0']).is_empty();
                    if is_array || next == ";" || is_zero {
                        let generic = if code.known(at).any(|name| name == "T") { "T" } else { element };
                        self.put(TYPE, 0, at..at + 1, generic);
                        self.put(TYPE, 8, at..at + 1, element);
                    }
                    if next == ";" && !is_shared {
                        self.add(SPACE, 0, vec![(stop, if is_array { " = {}" } else { " = 0" }.to_owned())]);
                    }
                    if is_array && !is_shared {
                        self.add(SPACE, 0, vec![(first, "__shared__ ".to_owned())]);
                    } else if is_array {
                        let padded = |pad: &str| self.add(LAYOUT, 0, vec![(last.clone(), format!(" + {pad}"))]);
                        ["PAD", "1", "4"].into_iter().for_each(padded);
                    }
                }
            }
        }
        self.add(VOLATILE, 0, volatile);
    }

    /// Puts the type of the elements in place of `float` in kernels of `double`: in one place, in all of a function,
    /// and everywhere. In a template it is the parameter, and a function without one becomes a template.
    pub(super) fn wide_types(&self) {
        if !self.task.work.is_double() {
            return;
        }
        let code = &self.code;
        let mut everywhere = Changes::new();
        let is_body = |at: &usize| code.at(*at) == "{" && code.parent(*at).is_none();
        for open in (0..code.tokens.len()).filter(is_body) {
            let is_end = |at: &usize| code.parent(*at).is_none() && matches!(code.at(*at), ";" | "}");
            let start = (0..open).rev().find(is_end).map_or(0, |end| end + 1);
            let mut head = start..open;
            let is_kernel = head.clone().any(|at| code.at(at) == "__global__");
            if is_kernel && code.words(head.clone()).contains("sgemm") {
                continue;
            }
            let parameter = head.find(|at| matches!(code.at(*at), "typename" | "class")).map(|at| code.at(at + 1));
            let wide = parameter.unwrap_or(if is_kernel { "double" } else { "T" });
            let new = |at: usize| match code.at(at) {
                "float" | "half" | "__half" => Some((code.bytes(at..at + 1), wide.to_owned())),
                "fmaf" | "__fmaf_rn" => Some((code.bytes(at..at + 1), "fma".to_owned())),
                _ => None,
            };
            let mut all: Changes = (start..code.close(open)).filter_map(new).collect();
            if parameter.is_some() || is_kernel {
                all.iter().for_each(|change| self.add(NARROW, 0, vec![change.clone()]));
            } else if !all.is_empty() {
                let start = code.bytes(start..open).start;
                all.insert(0, (start..start, "template <typename T> ".to_owned()));
            }
            everywhere.extend(all.iter().cloned());
            self.add(NARROW, 2, all);
        }
        self.add(NARROW, 4, everywhere);
    }
}

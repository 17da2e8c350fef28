//! Kernels in Rust, written as the CUDA C++ that the readers of sources know: line for line, with the place of each
//! byte. Messages go the other way: [`spelled`].

use std::ops::Range;

use program::text::split;

use super::text::{bracketed, is_word, words};

/// Limit on the depth of parts that are written anew.
const MAX_DEPTH: usize = 32;
/// Limit on the bytes of a part, such as the body of a loop.
const MAX_BYTES: usize = 1 << 13;
/// Names that are the same in every place: in C++, and in Rust.
const NAMES: [(&str, &str); 5] = [
    ("__syncthreads()", "barrier()"),
    ("threadIdx", "thread_idx()"),
    ("blockIdx", "block_idx()"),
    ("__shared__", "shared!"),
    ("__launch_bounds__", "launch_bounds!"),
];

/// Returns the C++ of a kernel in Rust, without comments, and the place in `text` of each of its bytes and of its end.
pub(super) fn as_cpp(text: &str, clean: &str) -> (String, Vec<usize>) {
    let mut writer = Writer { text, clean, out: String::new(), places: Vec::new(), depth: 0 };
    writer.part(0..clean.len());
    writer.places.push(clean.len());
    (writer.out, writer.places)
}

fn cpp_type(ty: &str) -> String {
    let ty = ty.trim();
    if let Some(pointee) = ty.strip_prefix("*const ").or(ty.strip_prefix("*mut ")) {
        return cpp_type(pointee) + "*";
    }
    let names = [("i32", "int"), ("u32", "unsigned"), ("f32", "float"), ("f64", "double")];
    names.iter().find(|(rust, _)| *rust == ty).map_or(ty, |(_, cpp)| cpp).to_owned()
}

/// Texts to write, each before a part of the source.
type Pieces = Vec<(String, Range<usize>)>;

struct Writer<'t> {
    text: &'t str,
    clean: &'t str,
    out: String,
    places: Vec<usize>,
    depth: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str, at: usize) {
        self.out.push_str(text);
        self.places.resize(self.out.len(), at);
    }

    fn part(&mut self, Range { start, end }: Range<usize>) {
        self.depth += 1;
        let mut at = start;
        while at < end {
            let length = self.clean[at..].bytes().take_while(|byte| is_word(*byte)).count().max(1);
            let found = if self.depth > MAX_DEPTH { None } else { self.replaced(at, &self.clean[at..at + length]) };
            let Some((pieces, next)) = found.filter(|(_, next)| *next <= end) else {
                (at..at + length).for_each(|at| self.put(&self.clean[at..at + 1], at));
                at += length;
                continue;
            };
            let ends = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            let written = self.out.len();
            for (text, part) in pieces {
                self.put(&text.replace('\n', " "), part.start);
                self.part(part);
            }
            // Lines that the replaced text had, and the new one has not.
            for missing in ends(&self.clean[at..next]).into_iter().skip(ends(&self.out[written..]).len()) {
                self.put("\n", at + missing);
            }
            at = next;
        }
        self.depth -= 1;
    }

    fn rest(&self, at: usize) -> &str {
        &self.clean[at.min(self.clean.len())..(at + MAX_BYTES).min(self.clean.len())]
    }

    /// Returns the inside of the bracket that starts at `at`.
    fn inside(&self, at: usize) -> Option<Range<usize>> {
        let inside = bracketed(self.rest(at))?;
        Some(at + 1..at + 1 + inside.len())
    }

    /// Returns the parts of a list, without the white space around each.
    fn listed(&self, list: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let start = |part: &str| part.as_ptr() as usize - self.clean.as_ptr() as usize;
        let trimmed = move |part: &str| start(part.trim_start())..start(part.trim_start()) + part.trim().len();
        split(&self.clean[list], ',').into_iter().map(trimmed)
    }

    /// Returns where the body begins that belongs to a header.
    fn brace(&self, from: usize) -> Option<usize> {
        let mut depth = 0;
        let found = self.rest(from).bytes().position(|byte| {
            depth += i32::from(b"([".contains(&byte)) - i32::from(b")]".contains(&byte));
            depth == 0 && byte == b'{'
        });
        found.map(|at| from + at)
    }

    /// Returns the C++ of what starts with a word, or a sign, at `at`, and its end; `None` where it is the same.
    fn replaced(&self, at: usize, word: &str) -> Option<(Pieces, usize)> {
        let end = at + word.len();
        let rest = self.rest(end);
        let before = self.out.trim_end();
        let text = |text: &str, end: usize| Some((vec![(text.to_owned(), at..at)], end));
        match word {
            "}" if !before.ends_with([';', '{', '}']) => text(";}", end),
            ":" if rest.starts_with(":<") => text("<", end + ":<".len()),
            "loop" => text("while (true)", end),
            "as" => text("", end + 1 + words(rest).next().filter(|(start, _)| rest[..*start] == *" ")?.1.len()),
            "launch_bounds" => text("", self.inside(end + 1)?.end + 1),
            "shared" => {
                let inside = self.inside(end + 1)?;
                let (name, array) = self.clean[inside.clone()].split_once(':')?;
                let (ty, dims) = split(array, ',')[0].split_once('[')?;
                text(&format!("__shared__ {} {name}[{dims}", cpp_type(ty)), inside.end + 1)
            }
            "opaque" => {
                let inside = self.inside(end)?;
                let number = self.listed(inside.clone()).next()?;
                Some((vec![("(".into(), number), (")".into(), inside.end..inside.end)], inside.end + 1))
            }
            "let" | "const" | "static" if !before.ends_with(['<', ',']) => {
                let (head, _) = rest.split_once(['=', ';'])?;
                let (pattern, ty) = head.split_once(':').unwrap_or((head, "auto"));
                let changes = word == "let" && words(pattern).any(|(_, word)| word == "mut");
                let (_, name) = words(pattern).last()?;
                let constant = if changes { "" } else { "const " };
                text(&format!("{constant}{} {name} ", cpp_type(ty)), end + head.len())
            }
            "fn" => self.function(at, end),
            "if" | "while" => {
                let brace = self.brace(end)?;
                let condition = self.listed(end..brace).next()?;
                match self.counted(at, condition.clone(), brace) {
                    _ if before.ends_with(['=', '(', ',']) => self.choice(condition, brace),
                    Some(header) if word == "while" => text(&header, brace),
                    _ => {
                        let head = [(format!("{word} ("), at..at), (String::new(), condition)];
                        Some((head.into_iter().chain([(") ".into(), brace..brace)]).collect(), brace))
                    }
                }
            }
            "for" => {
                let brace = self.brace(end)?;
                let (name, range) = self.clean[end..brace].split_once(" in ")?;
                let (name, range) = (name.trim(), range.trim());
                let stepped = range.split_once(".step_by(").and_then(|(range, step)| {
                    let step = step.strip_suffix(')')?.trim_end_matches(" as usize");
                    Some((range.trim_matches(['(', ')']), format!("{name} += {step}")))
                });
                let (range, step) = stepped.unwrap_or_else(|| (range, format!("++{name}")));
                let (first, last) = range.split_once("..")?;
                let (sign, last) = last.strip_prefix('=').map_or(("<", last), |last| ("<=", last));
                text(&format!("for (int {name} = {first}; {name} {sign} {last}; {step}) "), brace)
            }
            "*" => self.element(at, end, ""),
            _ if is_word(word.as_bytes()[0]) && !before.ends_with('.') => self.element(at, at, "&").or_else(|| {
                let (cpp, rust) = NAMES.iter().find(|(_, rust)| self.clean[at..].starts_with(rust))?;
                text(cpp, at + rust.len())
            }),
            _ => None,
        }
    }

    /// Returns `(c) ? (a) : (b)` for `if c { a } else { b }`, a value.
    fn choice(&self, condition: Range<usize>, brace: usize) -> Option<(Pieces, usize)> {
        let one = self.inside(brace)?;
        let other = self.clean[one.end + 1..].trim_start().strip_prefix("else")?.trim_start();
        let other = self.inside(self.clean.len() - other.len())?;
        let end = other.end;
        let [one, other] = [one, other].map(|range| self.listed(range).next());
        let pieces = [("(", condition), (") ? (", one?), (") : (", other?), (")", end..end)];
        Some((pieces.map(|(text, part)| (text.to_owned(), part)).into(), end + 1))
    }

    /// Returns `a[i][j]` for `a.at(i, j)`, whose name starts at `name_at`, and `a[r * c + k]` for `a.row(r, c).at(k)`.
    fn element(&self, at: usize, name_at: usize, sign: &str) -> Option<(Pieces, usize)> {
        let (0, name) = words(&self.clean[name_at..]).next()? else { return None };
        let mut end = name_at + name.len();
        let mut row = String::new();
        if self.clean[end..].starts_with(".row(") {
            let inside = self.inside(end + ".row".len())?;
            let (number, cols) = self.clean[inside.clone()].split_once(", ")?;
            row =
                if number.contains(' ') { format!("({number}) * {cols} + ") } else { format!("{number} * {cols} + ") };
            end = inside.end + 1;
        }
        let inside = self.clean[end..].starts_with(".at(").then(|| self.inside(end + ".at".len()))??;
        let mut pieces = vec![(format!("{sign}{name}"), at..at)];
        for index in self.listed(inside.clone()) {
            let end = index.end;
            pieces.extend([(format!("[{row}"), index), ("]".to_owned(), end..end)]);
        }
        Some((pieces, inside.end + 1))
    }

    /// Returns `template <int N> __global__ void f(int M, float* C)` for `fn f<const N: i32>(M: i32, C: *mut f32)`.
    fn function(&self, at: usize, end: usize) -> Option<(Pieces, usize)> {
        let (start, name) = words(&self.clean[end..]).next()?;
        let mut parameters_at = end + start + name.len();
        let typed = |text: &str| {
            let (name, ty) = text.split_once(':')?;
            Some(format!("{} {}", cpp_type(ty), words(name).last()?.1))
        };
        let listed = |text: &str| split(text, ',').into_iter().filter_map(typed).collect::<Vec<_>>().join(", ");
        let mut template = String::new();
        if self.clean[parameters_at..].starts_with('<') {
            let close = parameters_at + self.clean[parameters_at..].find('>')?;
            template = format!("template <{}> ", listed(&self.clean[parameters_at + 1..close]));
            parameters_at = close + 1;
        }
        let inside = self.inside(parameters_at)?;
        let is_kernel = self.text[..at].trim_end().ends_with("\"ptx-kernel\"");
        let kernel = if is_kernel { "__global__ " } else { "" };
        let head = format!("{template}{kernel}void {name}({}) ", listed(&self.clean[inside.clone()]));
        Some((vec![(head, at..at)], self.brace(inside.end + 1)?))
    }

    /// Returns the header `for (k0 = 0; k0 < K; k0 += BK)` of a `while k0 < K` that counts so.
    fn counted(&self, at: usize, condition: Range<usize>, brace: usize) -> Option<String> {
        let condition = &self.clean[condition];
        let (name, _) = condition.split_once(" < ")?;
        let body = &self.clean[self.inside(brace)?];
        let (_, step) = body.trim_end().strip_suffix(';')?.rsplit_once(['\n', ';', '}'])?;
        step.trim().strip_prefix(name)?.trim_start().strip_prefix("+=")?;
        let (_, before) = self.clean[..at].rsplit_once(&format!("let mut {name} = "))?;
        let (first, _) = before.split_once(';').filter(|(_, between)| between.trim().is_empty())?;
        Some(format!("for ({name} = {first}; {condition}; {}) ", step.trim()))
    }
}

/// Returns a message as it is written for a source in Rust. In backquotes, `header` returns headers of C++ as the text
/// has them, and elements become code: `*a.at(i, j)` for `a[i][j]`.
pub(crate) fn spelled(text: &str, source: &str, header: impl Fn(&str) -> Option<String>) -> String {
    let has = |name: &str, method: &str| source.contains(&format!("{name}.{method}("));
    let mut parts: Vec<String> = text.split('`').map(str::to_owned).collect();
    for part in parts.iter_mut().skip(1).step_by(2) {
        let code = part.replace('\u{a0}', " ");
        let mut out = String::new();
        let mut done = 0;
        for (at, name) in words(&code).filter(|(_, name)| has(name, "at") || has(name, "row")) {
            let mut end = at + name.len();
            let mut indices = Vec::new();
            while let Some(inside) = code.get(end..).filter(|rest| rest.starts_with('[')).and_then(bracketed) {
                indices.push(inside);
                end += inside.len() + 2;
            }
            // An element whose indices are numbers is a place.
            if at >= done && indices.iter().any(|index| index.parse::<i64>().is_err()) {
                let pointer = code[..at].ends_with('&');
                out += &code[done..at - usize::from(pointer)];
                let parts = indices[0].split_once(" * ").and_then(|(row, rest)| Some((row, rest.split_once(" + ")?)));
                let element = match parts.filter(|_| has(name, "row")) {
                    Some((row, (cols, col))) => format!("row({row}, {cols}).at({col})"),
                    None => format!("at({})", indices.join(", ")),
                };
                out += &format!("{}{name}.{element}", if pointer { "" } else { "*" });
                done = end;
            }
        }
        out += &code[done..];
        *part = header(&code).unwrap_or(out).replace(' ', "\u{a0}");
    }
    NAMES
        .iter()
        .fold(parts.join("`").replace("CUDA C++ allows", "CUDA allows"), |text, (cpp, rust)| text.replace(cpp, rust))
}

//! Messages about unsupported features of a module, with kernel and source line.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use ptx::Unsupported;

/// Limit on the PTX lines listed for one instruction.
const MAX_LINES: usize = 6;

/// Limit on the shown letters of a name.
const MAX_LETTERS: usize = 80;
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Location {
    /// `kernel` or `function`, with its PTX name.
    function: Option<(&'static str, String)>,
    /// File index and line of the last `.loc`.
    source: Option<(String, String)>,
}

/// Returns the message about refused instructions: each once, with its locations and advice.
pub(crate) fn message(text: &str, refused: &[Unsupported]) -> String {
    let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
    for feature in refused {
        match groups.iter_mut().find(|(what, _)| *what == feature.what) {
            Some((_, lines)) => lines.push(feature.span.line),
            None => groups.push((&feature.what, vec![feature.span.line])),
        }
    }
    let mut out = String::new();
    for (what, lines) in &groups {
        let _ = writeln!(out, "{what} is not supported");
        let location = lines.first().map_or_else(Location::default, |&line| location_of(text, line));
        let _ = writeln!(out, "  --> {}", described(text, &location, lines));
    }
    out + "try: leave it out where `__CUDA_ARCH__` or a macro can choose another way, or run this program on a GPU; \
           `Limits` in ARCHITECTURE.md has what is not emulated"
}

/// Describes an instruction and its locations: `kernel.cu:42, kernel gemm, PTX line 10; in all 6 times, also in …`.
fn described(text: &str, location: &Location, lines: &[u32]) -> String {
    let mut parts = Vec::new();
    if let Some((file, line)) = &location.source {
        let path = path_of(text, file).map(|path| format!("{path}:{line}"));
        parts.extend(path);
    }
    if let Some((kind, name)) = &location.function {
        let name: String = diagnostics::plain_name(name).chars().take(MAX_LETTERS).collect();
        parts.push(format!("{kind} {name}"));
    }
    let (first, rest) = lines.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
    parts.push(format!("PTX line {first}"));
    let mut message = parts.join(", ");
    if !rest.is_empty() {
        let shown: Vec<String> = rest.iter().take(MAX_LINES).map(u32::to_string).collect();
        let more = if rest.len() > MAX_LINES { ", …" } else { "" };
        let s = if rest.len() == 1 { "" } else { "s" };
        let _ = write!(message, "; {} times, also in PTX line{s} {}{more}", lines.len(), shown.join(", "));
    }
    message
}

fn location_of(text: &str, line: u32) -> Location {
    let mut location = Location::default();
    for line in text.lines().take(line as usize) {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if first == ".loc" {
            let index = words.next().unwrap_or_default();
            location.source = words.next().map(|line| (index.to_owned(), line.to_owned()));
        } else if let Some((kind, name)) = declared(line) {
            location = Location { function: Some((kind, name.to_owned())), source: None };
        }
    }
    location
}

/// Parses a line such as `.visible .entry gemm(`, or `.func (.param .b32 r) helper(`.
fn declared(line: &str) -> Option<(&'static str, &str)> {
    let (kind, rest) = match line.split_once(".entry") {
        Some((_, rest)) => ("kernel", rest),
        None => ("function", line.split_once(".func")?.1),
    };
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let end = rest.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(rest.len());
    Some((kind, &rest[..end])).filter(|(_, name)| !name.is_empty())
}

/// Finds the path in `.file 1 "kernel.cu"`, which is often at the end of the text.
fn path_of<'a>(text: &'a str, index: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(".file")?;
        let (number, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let path = rest.trim_start().strip_prefix('"')?;
        (number == index).then(|| path.split('"').next()).flatten()
    })
}

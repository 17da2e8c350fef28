//! What a module uses and the emulated GPU lacks, as people look for it: by kernel and by line of the source.

use std::fmt::Write as _;

use ptx::Unsupported;

/// PTX lines listed for one instruction; more would not be read.
const MOST_LINES: usize = 6;

/// Letters of a name that are shown.
const MOST_LETTERS: usize = 80;

/// Where a line of PTX lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    /// `kernel` or `function`, with its name as PTX has it.
    function: Option<(&'static str, String)>,
    /// Index of the file and line, from the last `.loc`.
    source: Option<(String, String)>,
}

/// What is refused, each once, with its places and what to do.
pub(crate) fn told(text: &str, refused: &[Unsupported]) -> String {
    let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
    for one in refused {
        match groups.iter_mut().find(|(what, _)| *what == one.what) {
            Some((_, lines)) => lines.push(one.span.line),
            None => groups.push((&one.what, vec![one.span.line])),
        }
    }
    let mut out = String::new();
    for (what, lines) in &groups {
        let _ = writeln!(out, "{what} is not supported");
        let place = lines
            .first()
            .map_or_else(Place::default, |&line| place_of(text, line));
        let _ = writeln!(out, "  --> {}", described(text, &place, lines));
    }
    out + "try: leave it out where `__CUDA_ARCH__` or a macro can choose another way, or run this program on a GPU; \
           `Limits` in ARCHITECTURE.md has what is not emulated"
}

/// `kernel.cu:42, kernel gemm, PTX line 1064; in all 6 times, also in PTX lines 1079, 1111`
fn described(text: &str, place: &Place, lines: &[u32]) -> String {
    let mut parts = Vec::new();
    if let Some((file, line)) = &place.source {
        let path = path_of(text, file).map(|path| format!("{path}:{line}"));
        parts.extend(path);
    }
    if let Some((kind, name)) = &place.function {
        let name: String = diagnostics::plain_name(name).chars().take(MOST_LETTERS).collect();
        parts.push(format!("{kind} {name}"));
    }
    let (first, rest) = lines
        .split_first()
        .map_or((0, &[][..]), |(first, rest)| (*first, rest));
    parts.push(format!("PTX line {first}"));
    let mut told = parts.join(", ");
    if !rest.is_empty() {
        let shown: Vec<String> = rest.iter().take(MOST_LINES).map(u32::to_string).collect();
        let more = if rest.len() > MOST_LINES { ", …" } else { "" };
        let s = if rest.len() == 1 { "" } else { "s" };
        let _ = write!(
            told,
            "; {} times, also in PTX line{s} {}{more}",
            lines.len(),
            shown.join(", ")
        );
    }
    told
}

/// The function that a line lies in, and the line of the source.
fn place_of(text: &str, line: u32) -> Place {
    let mut place = Place::default();
    for one in text.lines().take(line as usize) {
        let mut words = one.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if first == ".loc" {
            let index = words.next().unwrap_or_default();
            place.source = words.next().map(|line| (index.to_owned(), line.to_owned()));
        } else if let Some((kind, name)) = declared(one) {
            place = Place {
                function: Some((kind, name.to_owned())),
                source: None,
            };
        }
    }
    place
}

/// A line such as `.visible .entry gemm(`, or `.func (.param .b32 r) helper(`.
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
    let end = rest
        .find(|c: char| c == '(' || c.is_whitespace())
        .unwrap_or(rest.len());
    Some((kind, &rest[..end])).filter(|(_, name)| !name.is_empty())
}

/// `.file 1 "kernel.cu"`, often at the end of the text.
fn path_of<'a>(text: &'a str, index: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(".file")?;
        let (number, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let path = rest.trim_start().strip_prefix('"')?;
        (number == index).then(|| path.split('"').next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let text = format!(".version 8.4\n.target sm_90\n.address_size 64\n{body}\n.file 1 \"a/b.cu\"\n");
        let memory = std::sync::Arc::new(simt::memory::Memory::new(1 << 20));
        let Err(simt::module::LoadError::Unsupported(refused)) =
            simt::module::Module::load(&memory, &text, None)
        else {
            panic!("it is not refused as unsupported");
        };
        let told = told(&text, &refused);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(&lines[..lines.len() - 1], expected);
        assert!(lines[lines.len() - 1].starts_with("try: "), "{told}");
    }

    #[test]
    fn an_instruction_is_told_once_with_its_places() {
        let wait = "griddepcontrol.wait;\n";
        let what =
            "`griddepcontrol.wait` (programmatic dependent launch is not emulated yet) is not supported";
        check(
            &format!(".visible .entry _Z4gemmPf(\n.param .u64 p)\n{{\n{wait}ret;\n}}"),
            &[what, "  --> kernel gemm, PTX line 7"],
        );
        check(
            &format!(".visible .entry k()\n{{\n.loc 1 12 5\n{wait}.loc 1 14 5\n{wait}{wait}ret;\n}}"),
            &[
                what,
                "  --> a/b.cu:12, kernel k, PTX line 7; 3 times, also in PTX lines 9, 10",
            ],
        );
        check(
            &format!(
                ".func (.param .b32 r) helper(.param .b32 x)\n{{\n{wait}ret;\n}}\n.entry k()\n{{\n.loc 1 3 5\n{wait}ret;\n}}"
            ),
            &[
                what,
                "  --> function helper, PTX line 6; 2 times, also in PTX line 12",
            ],
        );
    }

    #[test]
    fn any_text_is_read() {
        for line in [
            ".entry",
            ".func (",
            ".func ()",
            ".entry  k",
            ".loc",
            ".file 1 \"x",
            ".file",
        ] {
            let _ = (declared(line), place_of(line, 9), path_of(line, "1"));
        }
    }
}

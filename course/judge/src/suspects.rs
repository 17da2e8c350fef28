//! The lines of a kernel that a diagnosis of its result is about: what the text shows, or nothing.

#[cfg(test)]
mod tests;

use diagnosis::Subject;
use diagnostics::Source;

/// An assignment: the type in front of the name, the name without subscripts, and the value.
struct Set<'a> {
    line: u32,
    ty: &'a str,
    name: &'a str,
    value: &'a str,
}

/// Returns a sentence that names the lines of a mistake with this subject.
pub(crate) fn suspects(source: &Source, subject: Subject, is_double: bool) -> Option<String> {
    let sets: Vec<Set<'_>> = (1..=source.n_lines()).filter_map(|line| set(source, line)).collect();
    let stores = [("C", Access::Written), ("out", Access::Written)];
    match subject {
        Subject::Unknown => {
            let describe = |(name, [inner, outer]): (&str, [u32; 2])| {
                format!("line {inner} declares another {name}, which hides that of line {outer}")
            };
            source.hidden_counter().map(describe).or_else(|| floats(source).filter(|_| is_double))
        }
        Subject::NotNumbers => output_read(source),
        Subject::Zeros => hidden(source, &sets),
        Subject::SetAnew => sets_anew(source, &sets),
        Subject::Rounds => rounds(source),
        Subject::Whole => of_type(&sets, &["int", "unsigned", "long"]),
        Subject::Narrow if is_double => of_type(&sets, &["float", "half"]).or_else(|| floats(source)),
        Subject::Narrow => of_type(&sets, &["half", "__half"]),
        Subject::Blocks => exchanged(&sets).or_else(|| used(source, stores)),
        Subject::Reads(name) => used(source, [(name, Access::Read)]),
        Subject::Stores => used(source, stores),
        Subject::ReadsAndStores(tile) => used(source, [(tile, Access::Read)].into_iter().chain(stores)),
        Subject::SumsAndStores if sums(&sets).next().is_none() => {
            let tile = ("tile", Access::Written);
            used(source, [("in", Access::Read), tile, ("tile", Access::Read)].into_iter().chain(stores))
        }
        Subject::SumsAndStores => used(source, sums(&sets).map(|sum| (sum.name, Access::Summed)).chain(stores)),
    }
}

fn set(source: &Source, line: u32) -> Option<Set<'_>> {
    let (left, value) = source.clean_line(line)?.split_once('=')?;
    if value.starts_with('=') || left.contains('(') || left.ends_with(['+', '-', '*', '/', '!', '<', '>', '|', '&']) {
        return None;
    }
    let left = left.split('[').next()?.trim();
    let at = left.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some(Set { line, ty: left[..at].trim(), name: &left[at..], value: value.trim().trim_end_matches(';') })
}

/// Returns the assignments that declare a variable with the value 0.
fn sums<'a>(sets: &'a [Set<'a>]) -> impl Iterator<Item = &'a Set<'a>> {
    let is_zero = |value: &str| value.starts_with(['0', '{', 'T']) && value.chars().all(|c| "0.f{}T() ".contains(c));
    sets.iter().filter(move |set| !set.ty.is_empty() && is_zero(set.value))
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

fn sets_anew(source: &Source, sets: &[Set<'_>]) -> Option<String> {
    let is_sum = |name: &str| sums(sets).any(|sum| sum.name == name);
    let set = only(sets.iter().filter(|set| source.is_in_loop(set.line) && is_sum(set.name)))?;
    Some(format!("line {} sets {} anew in each round; `+=` adds to it", set.line, set.name))
}

/// Returns the sum that hides another one of its name.
fn hidden(source: &Source, sets: &[Set<'_>]) -> Option<String> {
    // More braces open than close between the two, and none from before is closed: the outer block encloses the inner.
    let is_around = |outer: &Set<'_>, inner: &Set<'_>| {
        let braces = (outer.line..inner.line).flat_map(|line| source.clean_line(line).unwrap_or_default().bytes());
        let depths = braces.scan(0, |depth, byte| {
            *depth += i32::from(byte == b'{') - i32::from(byte == b'}');
            Some(*depth)
        });
        let (least, last) = depths.fold((0, 0), |(least, _), depth| (depth.min(least), depth));
        outer.name == inner.name && outer.line < inner.line && least == 0 && last > 0
    };
    let around = |inner: &Set<'_>| sums(sets).find(|outer| is_around(outer, inner));
    let (outer, inner) = sums(sets).find_map(|inner| Some((around(inner)?, inner)))?;
    Some(format!(
        "line {} declares another {}, which hides that of line {}: only the inner one is added to",
        inner.line, inner.name, outer.line
    ))
}

/// Returns the numbers of one of these types that are loaded or summed, if there are few.
fn of_type(sets: &[Set<'_>], types: &[&str]) -> Option<String> {
    let loads = |value: &str| ["A[", "B[", "(A,", "(B,", "tile["].iter().any(|word| value.contains(word));
    let is_named = |ty: &str| ty.split(' ').any(|word| types.contains(&word));
    let holds = |set: &&Set<'_>| is_named(set.ty) && (sums(sets).any(|sum| sum.line == set.line) || loads(set.value));
    let found: Vec<&Set<'_>> = sets.iter().filter(holds).collect();
    let describe = |set: &&Set<'_>| {
        format!("line {} declares {} as `{}`", set.line, set.name, set.ty.trim_start_matches("const "))
    };
    (1..4).contains(&found.len()).then(|| found.iter().map(describe).collect::<Vec<_>>().join(", "))
}

/// Returns where a kernel of double, or a function that it calls, has words for float.
fn floats(source: &Source) -> Option<String> {
    let has = |line: u32, wanted: &str| {
        let text = source.clean_line(line).unwrap_or_default();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == wanted) && !["sgemm", "gemm<"].iter().any(|of| text.contains(of))
    };
    let words = ["float", "fmaf", "__fmaf_rn"];
    let lines = few_lines(source, |line| words.iter().any(|word| has(line, word)))?;
    let found = words.iter().filter(|word| lines.iter().any(|line| has(*line, word)));
    let found: Vec<String> = found.map(|word| format!("`{word}`")).collect();
    let have = if lines.len() > 1 { "have" } else { "has" };
    Some(format!("{} {have} {} for elements that are double", numbered(&lines), found.join(" or ")))
}

/// Returns the matching lines of the kernel and the functions that it calls, if there are any, but only a few.
fn few_lines(source: &Source, is: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
    const MANY: usize = 4;
    let found = (1..=source.n_lines()).filter(|line| is(*line) && !source.is_unreached(*line));
    Some(found.collect::<Vec<u32>>()).filter(|lines| (1..=MANY).contains(&lines.len()))
}

/// Formats numbers of lines: `line 12`, `lines 12, 14`.
fn numbered(lines: &[u32]) -> String {
    let s = if lines.len() > 1 { "s" } else { "" };
    format!("line{s} {}", lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
}

fn exchanged(sets: &[Set<'_>]) -> Option<String> {
    let of = |part: &str, right: &str, wrong: &str| {
        let is = |set: &&Set<'_>| set.name.contains(part) && set.value.contains(wrong) && !set.value.contains(right);
        sets.iter().find(is).map(|set| format!("line {} makes {} of {wrong}", set.line, set.name))
    };
    let (row, col) = (of("row", "blockIdx.y", "blockIdx.x")?, of("col", "blockIdx.x", "blockIdx.y")?);
    Some(format!("{row}, and {col}, but blockIdx.x counts the tiles across"))
}

/// Returns where the output is read, or added to.
fn output_read(source: &Source) -> Option<String> {
    let uses = (1..=source.n_lines()).flat_map(|line| ["C", "out"].map(|name| (name, source.uses(line, name))));
    let mut uses = uses.flat_map(|(name, uses)| uses.into_iter().map(move |found| (name, found)));
    let (name, found) = uses.find(|(_, found)| found.loaded && !found.subscripts.is_empty())?;
    Some(match found.stored {
        true => format!(
            "line {} adds to {name}, in which nothing was set to 0: sum over all rounds in a variable, and store it once, \
             with `=`",
            found.line
        ),
        false => format!("line {} reads {name}", found.line),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Written,
    Summed,
}

/// Returns where the loop over k starts, or where its rounds are counted.
fn rounds(source: &Source) -> Option<String> {
    let is_header = |line: &u32| {
        let text = source.clean_line(*line).unwrap_or_default().trim_start();
        ["for", "while"].iter().any(|word| text.starts_with(word)) && !source.uses(*line, "K").is_empty()
    };
    let is_count = |line: &u32| source.clean_line(*line).is_some_and(|text| text.contains("= K / "));
    let lines = || 1..=source.n_lines();
    let start = only(lines().filter(is_header)).map(|line| format!("the loop over k starts at line {line}"));
    start.or_else(|| only(lines().filter(is_count)).map(|line| format!("rounds are counted at line {line}")))
}

/// Returns where matrices and sums are used.
fn used<'n>(source: &Source, names: impl IntoIterator<Item = (&'n str, Access)>) -> Option<String> {
    let places = names.into_iter().filter_map(|(name, access)| {
        let is_used = |line: u32| {
            let text = source.clean_line(line).unwrap_or_default();
            source.uses(line, name).iter().any(|found| {
                let is_used = !found.subscripts.is_empty() || text[..found.start].ends_with('(');
                match access {
                    _ if text.contains("__shared__") => false,
                    Access::Summed => found.stored && found.loaded,
                    Access::Read => is_used && !found.stored,
                    // Functions that store get the output as an argument.
                    Access::Written => is_used && (found.stored || name != "tile"),
                }
            })
        };
        let verb = match access {
            Access::Read => "read",
            Access::Written => "written",
            Access::Summed => "summed",
        };
        Some(format!("{name} is {verb} at {}", numbered(&few_lines(source, is_used)?)))
    });
    let places = places.collect::<Vec<_>>();
    (!places.is_empty()).then(|| places.join("; "))
}

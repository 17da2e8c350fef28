//! The lines of a kernel that a diagnosis of its result is about: what the text shows, or nothing.

use diagnostics::Source;

/// An assignment: what stands before its name, the name without subscripts, and the value.
struct Set<'a> {
    line: u32,
    ty: &'a str,
    name: &'a str,
    value: &'a str,
}

/// Returns a sentence that names the lines where a mistake with this diagnosis stands.
pub(crate) fn suspects(source: &Source, diagnosis: &str) -> Option<String> {
    type Look = fn(&Source, &[Set<'_>]) -> Option<String>;
    const CAUSES: &[(&str, Look)] = &[
        ("replaced the sum", sets_anew),
        ("started anew", sets_anew),
        ("kept in an int", whole_numbers),
        ("blockIdx.x and blockIdx.y are exchanged", exchanged),
    ];
    let sets: Vec<Set<'_>> = (1..=source.n_lines()).filter_map(|line| set(source, line)).collect();
    let causes = CAUSES.iter().filter(|(words, _)| diagnosis.contains(words));
    let cause = causes.filter_map(|(_, look)| look(source, &sets)).next();
    cause.or_else(|| used(source, &sets, diagnosis))
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

/// Variables that are declared as 0.
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

fn whole_numbers(_: &Source, sets: &[Set<'_>]) -> Option<String> {
    let loads = |value: &str| ["A[", "B[", "(A,", "(B,", "tile["].iter().any(|word| value.contains(word));
    let is_int = |ty: &str| ty.split(' ').any(|word| ["int", "unsigned", "long"].contains(&word));
    let holds = |set: &&Set<'_>| is_int(set.ty) && (sums(sets).any(|sum| sum.line == set.line) || loads(set.value));
    let set = only(sets.iter().filter(holds))?;
    Some(format!("line {} declares {} as `{}`", set.line, set.name, set.ty))
}

fn exchanged(_: &Source, sets: &[Set<'_>]) -> Option<String> {
    let of = |part: &str, right: &str, wrong: &str| {
        let is = |set: &&Set<'_>| set.name.contains(part) && set.value.contains(wrong) && !set.value.contains(right);
        sets.iter().find(is).map(|set| format!("line {} makes {} of {wrong}", set.line, set.name))
    };
    let (row, col) = (of("row", "blockIdx.y", "blockIdx.x")?, of("col", "blockIdx.x", "blockIdx.y")?);
    Some(format!("{row}, and {col}, but blockIdx.x counts the tiles across"))
}

/// Returns where a matrix is used whose index the diagnosis names, or a sum.
fn used(source: &Source, sets: &[Set<'_>], diagnosis: &str) -> Option<String> {
    const MANY: usize = 4;
    let says = |words: &[&str]| words.iter().any(|words| diagnosis.contains(words));
    let index = |name| says(&[&format!("index of {name}"), &format!("row of {name}"), &format!("column of {name}")]);
    let store = says(&["written", "stored", "exchanged"]);
    let summed = sums(sets).map(|sum| (sum.name, says(&["computed"]), "summed"));
    let wanted =
        [("A", index("A"), "read"), ("B", index("B"), "read"), ("C", store, "written"), ("out", store, "written")];
    let places = summed.chain(wanted).filter(|(_, wanted, _)| *wanted).filter_map(|(name, _, verb)| {
        let is_used = |line: &u32| {
            let text = source.clean_line(*line).unwrap_or_default();
            source.uses(*line, name).iter().any(|found| match verb {
                "summed" => found.stored && found.loaded,
                _ => !found.subscripts.is_empty() || text[..found.start].ends_with('('),
            })
        };
        let lines = (1..=source.n_lines()).filter(is_used).map(|line| line.to_string()).collect::<Vec<_>>();
        let s = if lines.len() > 1 { "s" } else { "" };
        let few = (1..=MANY).contains(&lines.len());
        few.then(|| format!("{name} is {verb} at line{s} {}", lines.join(", ")))
    });
    let places = places.collect::<Vec<_>>();
    (!places.is_empty()).then(|| places.join("; "))
}

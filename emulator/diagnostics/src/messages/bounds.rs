//! Messages about accesses outside of arrays, and what explains them.

#[cfg(test)]
mod tests;

use super::arguments::lying_bound;
use super::rows::{exchanged, wrong_row};
use crate::launch_context::{Draft, LaunchContext, Reason};
use crate::locate::arrays::{LOCAL_ARRAYS, Target};
use crate::locate::case::{Case, noun, verb};
use crate::locate::layout::Outside;
use crate::source::text::{bracketed, named, words as words_of};
use crate::source::{Compared, Source, expression::Overflow};
use crate::words::{self, code, count, grouped, list, nth};
use program::MemSpace;
use simt::check::{AccessKind, AccessProblem, BadAccess, MistakeDetails, MistakeGroup};

/// An address below this is a null pointer plus an offset.
const NULL_PAGE: u64 = 1 << 24;
/// Maximum number of elements by which a tile's rows are padded to avoid bank conflicts.
const MAX_PADDING: u64 = 8;

pub(crate) fn out_of_bounds(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess, also: &[&MistakeGroup],
) -> Draft {
    let case = Case::new(launch, mistake, access);
    let Some(target) = &case.target else { return nowhere(&case) };
    let access_noun = noun(access.kind);
    let before = target.element.byte_offset < 0;
    let side = if before { "before the start" } else { "past the end" };
    let draft = case
        .draft(format!("{access_noun} {side} of {}", target.title()))
        .note(bounds_note(&case, target))
        .note(case.first_thread_note());
    let mut lines: Vec<_> = also.iter().map(|other| launch.line_name(case.instr, other.first.instr)).collect();
    lines.dedup();
    let draft = if lines.is_empty() { draft } else { draft.note(format!("The same holds at {}.", list(&lines))) };
    draft.reason(bounds_reason(&case, target)).on_gpu(match access.space {
        MemSpace::Shared => outside_shared(&case, target),
        MemSpace::Local => "the access reaches other variables of the thread or unused stack, silently; far away, the \
                            kernel stops with \"illegal memory access\"."
            .into(),
        _ => {
            let does = if access.kind == AccessKind::Read { "read" } else { "overwrite" };
            format!("the access may stop the kernel (\"illegal memory access\"), or {does} another buffer silently.")
        }
    })
}

/// Returns whether two accesses are past the end of one dynamic array, of which the launch gave too little.
pub(crate) fn lack_the_same(launch: &LaunchContext<'_>, [a, b]: [&MistakeGroup; 2]) -> bool {
    let lack = |mistake: &MistakeGroup| {
        let MistakeDetails::Access { problem: AccessProblem::OutOfBounds, access } = mistake.first.details else {
            return None;
        };
        let case = (access.space == MemSpace::Shared).then(|| Case::new(launch, mistake, access))?;
        let target = case.target.as_ref().filter(|target| target.dynamic && target.element.byte_offset >= 0)?;
        let reason = bounds_reason(&case, target);
        reason.advice.and(reason.why).map(|why| (target.start, why))
    };
    lack(a).is_some_and(|one| lack(b) == Some(one))
}

/// Returns what an access outside of a shared array does on an H100, where arrays lie side by side.
///
/// CUDA keeps the kilobyte before them, and a block gets its shared memory in pieces of 128 bytes; accesses to both go
/// through. Other addresses stop the kernel.
fn outside_shared(case: &Case<'_>, target: &Target) -> String {
    const KEPT: i64 = 1024;
    const PIECE: i64 = 128;
    let inputs = case.launch.inputs;
    let all = i64::from(inputs.kernel.shared_static_bytes) + i64::from(inputs.request.dynamic_shared);
    let element = &target.element;
    let own = element.n_elements as i64 * i64::from(element.element_bytes);
    let others = (all - own).max(0);
    let reads = case.access.kind == AccessKind::Read;
    let does = if reads { "reads" } else { "overwrites" };
    if element.byte_offset < 0 {
        if -element.byte_offset > others + KEPT {
            return "the kernel stops with \"illegal instruction\".".into();
        }
        return match others {
            0 => format!("the access {does} what CUDA keeps before a block's shared memory, silently."),
            _ => format!(
                "the access {does} whatever lies there, silently: another shared array, or what CUDA keeps before the \
                 first."
            ),
        };
    }
    // Of all threads that go past the end, the farthest decides.
    let farthest = case.mistake.addresses.map_or(case.access.address, |(_, high)| high);
    let first_past = element.byte_offset + i64::from(target.access_bytes) - own;
    let past = first_past.saturating_add_unsigned(farthest.saturating_sub(case.access.address));
    let unused = (PIECE - all % PIECE) % PIECE;
    // Dynamic shared memory lies behind all other arrays.
    let behind = if target.dynamic { 0 } else { others };
    if past > behind + unused {
        return "the kernel stops with \"illegal memory access\", and the context is lost.".into();
    }
    if behind == 0 {
        let does = if reads { does } else { "goes to" };
        return format!(
            "the access {does} shared memory that nothing uses, silently: a block gets it in pieces of 128 bytes."
        );
    }
    format!(
        "the access {does} whatever shared array lies next to it, silently; past the last one, the kernel stops with \
         \"illegal memory access\"."
    )
}

/// Returns the fact of the message: `A has 10000 floats; this reads A[10000], 1 element past the end.`
fn bounds_note(case: &Case<'_>, target: &Target) -> String {
    let element = &target.element;
    let n = element.n_elements as i64;
    let name = &element.name;
    let verb = verb(case.access.kind);
    let owner = match &target.allocation {
        Some(allocation) if target.parameter.is_some() && target.start != allocation.base => {
            format!("From {name} on, its buffer has {}", target.size())
        }
        _ if target.dynamic => {
            let bytes = case.launch.inputs.request.dynamic_shared;
            format!("{name} is dynamic shared memory, and this launch gave it {bytes} bytes")
        }
        _ => format!("{name} has {}", target.size()),
    };
    let hit = case.element(target);
    // An access that is not aligned begins inside of an element.
    let element_bytes = i64::from(element.element_bytes.max(1));
    let inside = element.byte_offset.rem_euclid(element_bytes);
    let covered = (inside + i64::from(target.access_bytes) + element_bytes - 1) / element_bytes;
    let place = if element.index < 0 {
        format!("{} before the start", count(element.index.unsigned_abs(), "element"))
    } else if element.index >= n {
        format!("{} past the end", count((element.index - n + 1) as u64, "element"))
    } else {
        let over = element.index + covered - n;
        return format!(
            "{owner}; this {verb} {covered} from {hit} on, and the last {} past the end.",
            if over == 1 { "one lies".to_owned() } else { format!("{over} lie") },
        );
    };
    format!("{owner}; this {verb} {hit}, {place}.")
}

/// Explains why an index is outside, and what to do: the first explanation that the data supports. Where nothing is
/// certain, nothing is advised.
fn bounds_reason(case: &Case<'_>, target: &Target) -> Reason {
    let launch = case.launch;
    let element = &target.element;
    let name = &element.name;
    if target.dynamic && launch.inputs.request.dynamic_shared == 0 {
        return Reason::new(
            "an `extern __shared__` array has the size that the launch asks for, and it asked for none.",
            no_dynamic_shared(case, target),
        );
    }
    let outside = case.outside(target);
    let overflow = || case.explained.as_ref()?.overflow.as_ref().map(overflow_reason);
    let is_short = target.dynamic && element.byte_offset >= 0;
    let reason = launch
        .strange_argument()
        .or_else(overflow)
        .or_else(|| loop_reason(case))
        .or_else(|| tree_reason(case, target))
        .or_else(|| data_reason(case, target))
        .or_else(|| is_short.then(|| dynamic_reason(case, target)))
        // Threads that have no place in a shared array have none elsewhere either.
        .or_else(|| block_shape_reason(case, target, &outside))
        .or_else(|| block_shape(launch))
        .or_else(|| wrong_row(case, target))
        .or_else(|| lying_bound(case, target, &outside))
        .or_else(|| grid_reason(case, target, &outside))
        .or_else(|| bound_reason(case, target))
        .or_else(|| outside.iter().find(|part| part.several).map(|part| part_reason(case, target, part)));
    if let Some(reason) = reason {
        return reason;
    }
    let ends = ends(target);
    let reaches = case.explained.as_ref().map(|explained| {
        let with = match explained.text() {
            text if text.is_empty() => String::new(),
            text => format!("with {text}, "),
        };
        format!("{with}{} is {}", code(&explained.written(name)), case.element(target))
    });
    let reason = if element.index < 0 { negative_remainder(case, target) } else { partly_inside(case, target) };
    if let Some(reason) = reason.or_else(|| guard_reason(case, target, reaches.as_deref())) {
        return reason;
    }
    let is_single_thread = case.mistake.n_threads == 1 && case.launch.counts_all(case.mistake);
    let edge = element.index == element.n_elements as i64 || element.index == -1;
    if let Some(reaches) = reaches.as_ref().filter(|_| is_single_thread && edge) {
        return Reason::new(
            format!("one thread does this, the one at the edge: {reaches}."),
            not_below_zero(case, name).unwrap_or_else(|| {
                "let the thread at the edge do without this element (or use a neighbour it has).".into()
            }),
        );
    }
    if element.index < 0 {
        let why = match reaches {
            Some(reaches) => format!("{reaches}, in front of {name}."),
            None => format!("the index is {}: below 0, so it lies in front of {name}.", element.index),
        };
        return Reason { why: Some(why), advice: not_below_zero(case, name) };
    }
    let why = match reaches {
        Some(reaches) => format!("{reaches}; {ends}."),
        // What the source counts may be vectors.
        None if case.access.bytes > element.element_bytes && !element.element_type.is_empty() => {
            format!("counted in {}s, the index is {}, and {ends}.", element.element_type, element.index)
        }
        None if *name == LOCAL_ARRAYS => {
            "the compiler puts all local arrays of a thread into one piece, one after the other; this lies past its end."
                .into()
        }
        None => format!("the index is {}, and {ends}.", element.index),
    };
    let used = case.most_used(target);
    let advice = match case.access.space {
        _ if let Some(advice) = one_round_less(launch, case.instr) => Some(advice),
        _ if let Some(advice) = exchanged(case, target) => Some(advice),
        _ if let Some(advice) = through_pointer(case) => Some(advice),
        MemSpace::Shared | MemSpace::Local if used > element.n_elements && *name != LOCAL_ARRAYS => Some(format!(
            "if the index is right, {name} needs at least {used} elements; if not, keep the index below {}.",
            element.n_elements
        )),
        MemSpace::Shared | MemSpace::Local => None,
        _ => Some(format!(
            "compare the index with the size of {name} before using it; check the size given to the \
             allocation."
        )),
    };
    Reason { why: Some(why), advice }
}

/// Returns advice where the line counts from another place, or in other elements, than the array it reads.
fn through_pointer(case: &Case<'_>) -> Option<String> {
    let text = case.launch.clean_line(case.instr)?;
    if let Some((before, after)) = text.split_once("*>(") {
        let target = before.rsplit_once('<')?.1.trim();
        let vector = target.trim_start_matches("const ");
        let (pointer, _) = after.split_once(")[")?;
        return Some(format!(
            "`[…]` after the cast counts in {vector}: divide the index, or take the address first: \
             `*reinterpret_cast<{target}*>(&{pointer}[…])`."
        ));
    }
    // `sum += *a * *b`.
    let is_read = text.match_indices('*').any(|(at, _)| {
        let is_sign = text[..at].ends_with([' ', '(']) && text[at + 1..].starts_with(|c: char| c.is_ascii_lowercase());
        is_sign && text[..at].trim_end().ends_with(['=', '*', '+', '('])
    });
    (is_read && !text.contains('[')).then(|| "check where the pointer starts, and by how much it moves on.".to_owned())
}

/// Returns advice on an index that something is subtracted from.
fn not_below_zero(case: &Case<'_>, name: &str) -> Option<String> {
    let [index] = &case.explained.as_ref()?.used.subscripts[..] else { return None };
    let is_below = case.target.as_ref().is_some_and(|target| target.element.index < 0);
    // The subtraction may also be in the definition of a variable.
    let written = case.definition(index).unwrap_or(index);
    written.rsplit_once('-').filter(|_| is_below)?;
    let is_simple = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let condition = match index.rsplit_once('-').map(|(left, right)| (left.trim(), right.trim())) {
        Some((left, right)) if is_simple(left) && is_simple(right) => format!("{left} >= {right}"),
        _ => format!("{index} >= 0"),
    };
    Some(only_where(case, name, &condition))
}

/// Returns the reason where comparisons let a subscript of a tile reach further than its rows, or their number.
fn bound_reason(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let line = case.launch.loc(case.instr)?.line;
    let dims = &target.element.dims;
    let name = &target.element.name;
    let n_dims = dims.len();
    (0..n_dims).rev().filter(|at| *at == 0 || at + 1 == n_dims).find_map(|at| {
        let (text, last, one) = reach(case, target, at, line)?;
        let limit = i64::try_from(dims[at]).ok().filter(|limit| last >= *limit)?;
        let (line, text) = (case.launch.numbered(case.instr, case.file(), one.line), code(&text));
        let is_last = at + 1 == n_dims;
        let count = |n: i64| if is_last { target.elements(n as u64) } else { rows(target, n).to_owned() };
        let whose = if at == 0 { name.clone() } else { format!("a row of {name}") };
        Some(Reason::new(
            format!("{line} lets {text} reach {last} ({}), and {whose} has {limit} {}.", code(&one.text), count(limit)),
            format!(
                "if that is right, {whose} needs {} {}; if not, stop where {text} is {}.",
                last + 1,
                count(last + 1),
                limit - 1
            ),
        ))
    })
}

/// Returns the subscript of a tile's uses in a line that stands at a position, with the last value that comparisons let
/// it reach, and the comparison that decides.
fn reach(case: &Case<'_>, target: &Target, at: usize, line: u32) -> Option<(String, i64, Compared)> {
    let launch = case.launch;
    if !matches!(case.access.space, MemSpace::Shared | MemSpace::Local) {
        return None;
    }
    let (source, dims) = (launch.source_of_file(case.file())?, &target.element.dims);
    let conditions = source.conditions(&launch.inputs.kernel.name, line);
    let uses = source.uses(line, &target.element.name).into_iter().filter(|used| used.subscripts.len() == dims.len());
    let reaches = uses.filter_map(|mut used| {
        let text = used.subscripts.swap_remove(at);
        let own = conditions.iter().filter(|one| one.left == text);
        let last =
            |one: &Compared| Some(launch.evaluate_in(case.file(), &one.right, case.who)? - i64::from(!one.or_equal));
        // If one bound is unknown, the tightest bound is unknown too.
        let bounds: Option<Vec<(i64, &Compared)>> = own.map(|one| Some((last(one)?, one))).collect();
        let (last, one) = bounds?.into_iter().min_by_key(|(last, _)| *last)?;
        Some((text, last, one.clone()))
    });
    reaches.max_by_key(|(_, last, _)| *last)
}

/// Returns the elements that a row of a tile needs for all subscripts that comparisons bound.
fn longest_row(case: &Case<'_>, target: &Target) -> Option<i64> {
    let last = target.element.dims.len().checked_sub(1).filter(|at| *at > 0)?;
    let lines = 1..=case.launch.source_of_file(case.file())?.n_lines();
    lines.filter_map(|line| Some(reach(case, target, last, line)?.1 + 1)).max()
}

/// Returns the reason where a comparison around the access lets one value too many through: the bound itself, or the
/// last value below it, where the index adds to that.
fn guard_reason(case: &Case<'_>, target: &Target, reaches: Option<&str>) -> Option<Reason> {
    let launch = case.launch;
    let [index] = &case.explained.as_ref()?.used.subscripts[..] else { return None };
    // Of a vector that begins in the array, the comparison lets through what it should.
    let elements = 0..target.element.n_elements as i64;
    (!elements.contains(&target.element.index)).then_some(())?;
    let conditions = launch.source_of(case.instr)?.conditions(&launch.inputs.kernel.name, launch.loc(case.instr)?.line);
    // Conditions whose left side is one too large: with one less, the access is inside. The nearest is reported.
    let inside = conditions.iter().filter_map(|one| {
        let (is, bound) = (case.value(&one.left)?, case.value(&one.right)?);
        let less = case.with_value(index, (&one.left, is - 1), 0)?;
        // Without an addition, the bound is what is wrong.
        let is_last = is == bound - i64::from(!one.or_equal) && is > 0 && (one.or_equal || *index != one.left);
        (is_last && elements.contains(&less)).then_some((less, one, is))
    });
    let (_, one, is) = inside.max_by_key(|(less, ..)| *less)?;
    let (left, written) = (&one.left, code(&one.text));
    let line = launch.numbered(case.instr, case.file(), one.line);
    let reaches = reaches.map(|text| format!(": {text}")).unwrap_or_default();
    let why = format!("{left} = {is} is the last that {line} lets through ({written}){reaches}; {}.", ends(target));
    let advice = match one.or_equal {
        true if one.text.contains('=') => {
            format!("if {left} counts from 0, stop one earlier: {}.", code(&one.text.replacen('=', "", 1)))
        }
        true => format!(
            "if {left} counts from 0, leave out one more: {}.",
            code(&one.text.replace('>', ">=").replace('<', "<="))
        ),
        false => format!(
            "let the last one do without this element, by {} (or use a neighbour that it has).",
            code(&with_one_more(&one.text, left))
        ),
    };
    Some(Reason::new(why, advice))
}

/// Returns a comparison with one added to a name in it.
fn with_one_more(text: &str, name: &str) -> String {
    let mut out = text.to_owned();
    named(text, name).take(1).for_each(|at| out.insert_str(at + name.len(), " + 1"));
    out
}

/// Tells where an array ends. One of a single element has no last one, and where the source does not tell, it may be a
/// variable and no array.
fn ends(target: &Target) -> String {
    let name = &target.element.name;
    match target.element.n_elements {
        0 => format!("{name} is smaller than one element"),
        1 => format!("{name} has only one element"),
        n => format!("the last element is {}", target.element_at(n as i64 - 1)),
    }
}

fn no_dynamic_shared(case: &Case<'_>, target: &Target) -> String {
    let element = &target.element;
    let bytes = case.launch.threads_per_block() * u64::from(element.element_bytes);
    format!(
        "give the launch its shared_mem_bytes (one {} per thread would be {bytes}).",
        if element.element_type.is_empty() { "element" } else { &element.element_type },
    )
}

fn overflow_reason(overflow: &Overflow) -> Reason {
    let signed = |value: i64| match value < 0 {
        true => format!("-{}", grouped(value.unsigned_abs())),
        false => grouped(value.unsigned_abs()),
    };
    let text = code(&overflow.text);
    Reason::new(
        format!(
            "{text} is {}, and an int holds at most {}: it became {}.",
            signed(overflow.exact),
            signed(i64::from(i32::MAX)),
            signed(overflow.wrapped),
        ),
        format!("compute {text} with 64 bits: make one of its factors a long long (or size_t)."),
    )
}

/// Returns the reason where the index is a value of the data, or made of one.
fn data_reason(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let found = case.data()?;
    let element = &target.element;
    let name = &element.name;
    let from = match &found.element {
        Some(element) => format!("{} is {}", code(element), found.value),
        None => format!("here it is {}", found.value),
    };
    let line = case.launch.line_name(case.instr, found.instr);
    let why = match (found.atomic, found.alone && found.value == element.index) {
        (true, _) => format!("the index comes from what the atomic at {line} returned: {}.", found.value),
        (false, true) => {
            format!(
                "the index is a value of the data, read at {line}: {from}, and {name} has elements 0 to {}.",
                element.n_elements.saturating_sub(1)
            )
        }
        (false, false) => format!("the index depends on a value of the data, read at {line}: {from}."),
    };
    let advice = (found.alone && found.value == element.index).then(|| match found.atomic {
        true => format!("compare it with the size of {name} before using it, or make {name} large enough for all."),
        false => format!(
            "use a value as an index only where it lies between 0 and {}, or check the data.",
            element.n_elements.saturating_sub(1)
        ),
    });
    Some(Reason { why: Some(why), advice })
}

/// Returns the reason where dynamic shared memory is too small.
fn dynamic_reason(case: &Case<'_>, target: &Target) -> Reason {
    let given = u64::from(case.launch.inputs.request.dynamic_shared);
    let element_bytes = u64::from(target.element.element_bytes);
    let used = case.most_used(target);
    let bytes = used * element_bytes;
    let size = match target.element.element_type.as_str() {
        "" => format!("{bytes} bytes"),
        ty => code(&format!("{used} * sizeof({ty})")),
    };
    let is_in_elements = used == given && element_bytes > 1;
    // An index that is wrong by a little is the kernel's mistake.
    let is_whole = used.is_multiple_of(case.launch.threads_per_block());
    Reason {
        why: Some(format!("dynamic shared memory is given in bytes, and the accesses of this launch need {bytes}.")),
        advice: (is_in_elements || is_whole).then(|| format!("give the launch as much as the kernel uses: {size}.")),
    }
}

/// Returns the reason if a loop variable runs one iteration too far.
fn loop_reason(case: &Case<'_>) -> Option<Reason> {
    let explained = case.explained.as_ref()?;
    let variable = explained.concluded.as_ref()?;
    let (_, value) = explained.values.iter().find(|(name, _)| name == variable)?;
    let innermost = case.launch.loops(case.instr).into_iter().next()?;
    let loop_name = innermost.name(case.launch, case.instr);
    let parts = innermost.enclosure.for_parts()?;
    let [first, condition, _] = parts;
    let unsigned = unsigned_countdown(parts).is_some_and(|counter| counter == variable);
    if unsigned && (*value < 0 || *value > i64::from(i32::MAX)) {
        return Some(Reason::new(
            format!("{variable} is unsigned: {} always holds, and after 0 it is 4294967295.", code(condition)),
            format!("count with a signed {variable}."),
        ));
    }
    let (left, right) = condition.split_once("<=")?;
    let last = case.launch.evaluate(case.instr, right, case.who);
    if left.trim() != variable || last.is_some_and(|last| last != *value) {
        return None;
    }
    let start = first.split_once('=').map_or("", |(_, start)| start.trim());
    let shorter = match case.launch.source_of(case.instr).is_some_and(Source::is_rust) {
        true => format!("{start}..{}", right.trim()),
        false => format!("{} < {}", left.trim(), right.trim()),
    };
    Some(Reason::new(
        format!("the loop at {loop_name} runs while {}, so its last round has {variable} = {value}.", code(condition)),
        format!("stop one earlier: {}.", code(&shorter)),
    ))
}

/// Returns advice on the one loop around an access that counts up to its bound and including it.
pub(crate) fn one_round_less(launch: &LaunchContext<'_>, instr: u32) -> Option<String> {
    let loops = launch.loops(instr);
    let mut counted = loops.iter().filter_map(|around| {
        let [_, condition, step] = around.enclosure.for_parts()?;
        let (variable, bound) = condition.split_once("<=").filter(|_| step.contains('+'))?;
        Some((around, variable.trim(), bound.trim()))
    });
    let (Some((around, variable, bound)), None) = (counted.next(), counted.next()) else { return None };
    let constant = || launch.source_of_file(around.file)?.evaluate(bound);
    let last = launch.value(instr, bound).or_else(constant)?;
    let less = code(&format!("{variable} < {bound}"));
    let place = around.name(launch, instr);
    Some(format!("if the last round of the loop at {place}, {variable} = {last}, is one too many: {less}."))
}

/// Returns the reason where a tree `for (int stride = n; …; stride /= 2) if (t < stride) s[t] += s[t + stride];` over n
/// elements starts with all of them instead of half.
fn tree_reason(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let launch = case.launch;
    let explained = case.explained.as_ref()?;
    let line = launch.loc(case.instr)?.line;
    let source = launch.source_of(case.instr)?;
    let [subscript] = &explained.used.subscripts[..] else { return None };
    let (a, b) = subscript.split_once('+')?;
    let conditions = source.conditions(&launch.inputs.kernel.name, line);
    let pairs = [(a.trim(), b.trim()), (b.trim(), a.trim())];
    let (_, stride) = pairs.into_iter().find(|(thread, stride)| {
        let guards = |found: &Compared| found.left == *thread && found.right == *stride;
        conditions.iter().any(guards)
    })?;
    let around = launch.around(case.instr);
    let (number, start, value) = around.iter().find_map(|one| {
        let [init, _, step] = one.enclosure.for_parts()?;
        let (name, start) = init.split_once('=')?;
        let halves = [format!("{stride}/=2"), format!("{stride}>>=1")].contains(&step.replace(' ', ""));
        let value = launch.evaluate(case.instr, start, case.who)?;
        let same = words_of(name).last()?.1 == stride;
        (same && halves).then(|| (one.name(launch, case.instr), start.trim().to_owned(), value))
    })?;
    let n = i64::try_from(target.element.n_elements).ok()?;
    let (_, is) = explained.values.iter().find(|(name, _)| name == stride)?;
    (value == n && *is == n && n % 2 == 0).then(|| {
        let name = &target.element.name;
        Reason::new(
            format!(
                "the loop at {number} starts with {stride} = {n}, so {} reaches up to {}; the last element \
                 is {}.",
                code(&explained.written(name)),
                target.element_at(2 * n - 1),
                target.element_at(n - 1),
            ),
            format!("start with half of it: {}.", code(&format!("{stride} = {start} / 2"))),
        )
    })
}

/// Returns the counter of a loop `for (unsigned i = …; i >= 0; …)`.
pub(crate) fn unsigned_countdown([init, condition, _]: [&str; 3]) -> Option<&str> {
    let counter = condition.strip_suffix('0')?.trim_end().strip_suffix(">=")?.trim();
    let unsigned = ["unsigned", "size_t", "uint32_t", "uint64_t"];
    words_of(init).any(|(_, word)| unsigned.contains(&word)).then_some(counter)
}

/// Returns the reason where the block has more threads than the array has room for, and only the thread's position
/// makes the index.
fn block_shape_reason(case: &Case<'_>, target: &Target, outside: &[Outside]) -> Option<Reason> {
    if case.access.space != MemSpace::Shared || !case.by_thread_alone() {
        return None;
    }
    let block = case.launch.inputs.request.block;
    let dims = &target.element.dims;
    let mut sides: Vec<u64> = dims.iter().rev().copied().collect();
    // `threadIdx.x` by itself, or by another name.
    let is_place = |part: &Outside| {
        let text = case.definition(&part.text).unwrap_or(&part.text);
        words::THREAD_AXES.contains(&text)
    };
    if let [n] = dims[..]
        && let Some(reason) = too_many_threads(case, target, n)
    {
        return Some(reason);
    }
    if outside.is_empty() || !outside.iter().all(is_place) || sides.is_empty() || sides.len() > 3 {
        return None;
    }
    let text = |sides: &[u64]| sides.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
    let sides_text = text(&sides);
    let shape = words::size(block);
    let name = &target.element.name;
    // A tile with slightly more columns than rows is padded against bank conflicts, and may be read by columns.
    if let [wide, high] = &mut sides[..]
        && (1..=MAX_PADDING).contains(&wide.saturating_sub(*high))
    {
        *wide = *high;
    }
    Some(Reason::new(
        format!("the block is {shape} threads, and {name} has room for {sides_text}."),
        format!("launch blocks of {}, or change the tile size and the block together.", text(&sides)),
    ))
}

/// Returns the reason where a row of threads has more of them than the array has elements, one or some more for each.
fn too_many_threads(case: &Case<'_>, target: &Target, n: u64) -> Option<Reason> {
    let [threads, 1, 1] = case.launch.inputs.request.block.map(u64::from) else { return None };
    let used = case.most_used(target);
    // Elements beside those of the threads, such as a halo.
    let beside = used.checked_sub(threads).filter(|beside| *beside < n.min(threads))?;
    let name = &target.element.name;
    (threads > n).then(|| {
        Reason::new(
            format!("a block has {threads} threads, and {name} {n} elements, of which they use {used}."),
            format!("launch blocks of {} threads, or change the tile size and the block together.", n - beside),
        )
    })
}

/// Returns the reason that the shape of blocks differs from that of the shared array, if an access of the launch shows
/// it.
pub(crate) fn block_shape(launch: &LaunchContext<'_>) -> Option<Reason> {
    launch.mistakes.iter().find_map(|mistake| {
        let MistakeDetails::Access { problem, access } = &mistake.first.details else { return None };
        if *problem != AccessProblem::OutOfBounds || access.space != MemSpace::Shared {
            return None;
        }
        let case = Case::new(launch, mistake, *access);
        let target = case.target.as_ref()?;
        block_shape_reason(&case, target, &case.outside(target))
    })
}

/// Returns the reason where the launch has more threads than there is data: the part of the index that is outside is a
/// place in the grid.
fn grid_reason(case: &Case<'_>, target: &Target, outside: &[Outside]) -> Option<Reason> {
    let launch = case.launch;
    let request = launch.inputs.request;
    let source = launch.source_of(case.instr)?;
    let total = |axis: usize| u64::from(request.grid[axis]) * u64::from(request.block[axis]);
    let preferred: [&[&str]; 3] =
        [&["N", "n", "cols", "width", "W"], &["M", "m", "rows", "height", "H"], &["depth", "D", "K"]];
    // A size is a bound of an axis when the launch was rounded up to whole blocks from it.
    let bound = |axis: usize| {
        let fits = |(_, value): &(String, i64)| {
            let value = u64::try_from(*value).unwrap_or(0);
            value < total(axis) && total(axis) - value < u64::from(request.block[axis])
        };
        let mut found: Vec<(String, i64)> = launch.integers().into_iter().filter(fits).collect();
        found.sort_by_key(|(name, _)| !preferred[axis].contains(&name.as_str()));
        found.into_iter().next()
    };
    let known = |axis: usize| {
        let (name, value) = bound(axis)?;
        Some((axis, source.index_variable(axis)?, name, value))
    };
    let axes: Vec<(usize, String, String, i64)> = [1, 0, 2].into_iter().filter_map(known).collect();
    let (axis, variable, name, value, is) = axes.iter().find_map(|(axis, variable, name, value)| {
        let is = launch.evaluate(case.instr, variable, case.who)?;
        let at_fault = |part: &Outside| part.text == *variable && part.limit == *value && part.value == is;
        outside.iter().any(at_fault).then_some((*axis, variable, name, *value, is))
    })?;
    let extent: Vec<String> =
        (0..3).filter(|&axis| axis == 0 || total(axis) > 1).map(|axis| total(axis).to_string()).collect();
    let threads: u64 = (0..3).filter(|other| *other != axis).map(total).product();
    let excess = (total(axis) - value.unsigned_abs()) * threads;
    let why = format!(
        "the launch has {} threads ({}), {excess} of them with {variable} >= {name} = {value}: here \
         {variable} = {is}, and {} has no element for it.",
        extent.join("x"),
        launch.describe_launch(),
        target.element.name,
    );
    let conditions: Vec<String> = axes.iter().map(|(_, variable, name, _)| format!("{variable} < {name}")).collect();
    let guard = code(&format!("if ({})", conditions.join(" && ")));
    let advice = match launch.has_barrier() {
        true => format!("guard the accesses: {guard}; let all threads reach __syncthreads()."),
        false => format!("guard the work: {guard}."),
    };
    Some(Reason::new(why, advice))
}

/// Explains a row, or a place in it, that the array does not have.
fn part_reason(case: &Case<'_>, target: &Target, part: &Outside) -> Reason {
    let name = &target.element.name;
    let Outside { text, value, limit, .. } = part;
    let tile = matches!(case.access.space, MemSpace::Shared | MemSpace::Local);
    if tile && let Some(reason) = short_step(case, target, part) {
        return reason;
    }
    let values =
        case.launch.values_in_block(case.file(), text, case.who.block).filter(|values| tile && values.len() > 1);
    let of_all = values.as_ref().and_then(|values| Some((*values.first()?, *values.last()?)));
    let is = match (text.parse::<i64>(), of_all) {
        (Ok(_), _) => text.clone(),
        (Err(_), Some((first, last))) if last > *value => {
            format!("{} is {value} here ({first} to {last} in the threads of the block)", code(text))
        }
        (Err(_), _) => format!("{} is {value} here", code(text)),
    };
    if part.outermost {
        // Of a pointer's array, the index says how long a row is.
        let long = part
            .factor
            .as_ref()
            .filter(|_| target.element.space == crate::Space::Global && target.element.dims.len() < 2);
        let long = long.map(|factor| format!(" of {factor} elements")).unwrap_or_default();
        let why = format!("{is}, and {name} has {limit} {}{long}.", rows(target, *limit));
        let advice = match (part.bound(&case.launch.integers()), *value < 0) {
            (Some(bound), false) => Some(only_where(case, name, &format!("{text} < {bound}{}", and_place(case, text)))),
            (_, true) if text.parse::<i64>().is_err() => Some(only_where(case, name, &format!("{text} >= 0"))),
            _ => exchanged(case, target).or_else(|| {
                let goes_on = of_all.is_some_and(|(first, last)| first >= 0 && last >= *limit);
                (goes_on && case.access.kind == AccessKind::Write).then(|| {
                    let condition = code(&format!("{text} < {limit}"));
                    format!(
                        "if only a part of the threads stores here, do it where {condition}; if all do, correct {}.",
                        code(text)
                    )
                })
            }),
        };
        return Reason { why: Some(why), advice };
    }
    let length = match &part.pitch {
        Some(pitch) if pitch.parse::<i64>().is_err() => format!("{pitch} = {limit}"),
        _ => limit.to_string(),
    };
    let side = if *value < 0 { "in front of" } else { "past the end of" };
    let why = format!(
        "{is}, and a row of {name} has {length} {}: it lies {side} its row. In other rows this reaches the \
         neighbouring row, silently.",
        target.elements(*limit as u64),
    );
    let condition = match (&part.pitch, *value < 0) {
        (_, true) => format!("{text} >= 0"),
        (Some(pitch), false) => format!("{text} < {pitch}"),
        (None, false) => format!("{text} < {limit}"),
    };
    // The end of a tile's row is not an edge of the data: the index is wrong, or the row is too short.
    let width = i64::from(case.access.bytes / target.element.element_bytes.max(1)).max(1);
    let advice = match (text.parse::<i64>().is_ok(), tile) {
        _ if let Some(advice) = exchanged(case, target) => Some(advice),
        _ if let Some(advice) = through_pointer(case) => Some(advice),
        (true, _) => None,
        (false, false) => Some(only_where(case, name, &condition)),
        (false, true) if *value < 0 => Some(format!("keep {} at 0 or above.", code(text))),
        (false, true) => Some(format!(
            "if the index is right, a row of {name} needs at least {} elements; if not, keep {} {} {}.",
            longest_row(case, target).max(Some(of_all.map_or(*value, |(_, last)| last) + width)).unwrap_or(*value),
            code(text),
            if width == 1 { "below" } else { "at or below" },
            if width == 1 { *limit } else { limit - width },
        )),
    };
    Reason { why: Some(why), advice }
}

/// Returns what a condition on the row also needs: ` && col < N`, where no comparison around holds the place in the
/// row, and threads of the last block go past its end.
fn and_place(case: &Case<'_>, text: &str) -> String {
    let (launch, around) = (case.launch, case.launch.around(case.instr));
    let values = |place: &str| launch.values_in_block(case.file(), place, launch.n_blocks() - 1);
    let place = case.row_and_place().filter(|(row, (_, length), place)| {
        let is_held = around.iter().any(|one| one.enclosure.condition.contains(&place[..]));
        *row == text && !is_held && values(place).is_some_and(|values| values.last() >= Some(length))
    });
    place.map_or_else(String::new, |(_, (pitch, _), place)| format!(" && {place} < {pitch}"))
}

/// Returns the reason where an access of several elements begins in the array and ends behind it.
fn partly_inside(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let element = &target.element;
    let at_once = u64::from(case.access.bytes / element.element_bytes.max(1));
    let (n, index) = (element.n_elements, u64::try_from(element.index).ok()?);
    // Where others begin behind the array, its last elements are not what is at fault.
    let end = target.start + n * u64::from(element.element_bytes);
    let is_last = index < n && index + at_once > n && case.mistake.addresses.is_none_or(|(_, high)| high < end);
    (is_last && n % at_once != 0).then(|| {
        let (name, left) = (&element.name, n - index);
        Reason::new(
            format!(
                "it takes {at_once} {} at once, and {name} has {n}, which is no multiple of {at_once}: the last access goes \
                 {} too far.",
                target.elements(at_once),
                count(at_once - left, "element")
            ),
            format!("access what is left at the end of {name} by single elements, or make {name} longer by {}.", at_once - left),
        )
    })
}

/// Returns the reason where an index below 0 is the remainder of a number below 0, itself or through a variable.
fn negative_remainder(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let uses = case.launch.uses(case.instr, &target.element.name, case.access.kind);
    let used = case.explained.as_ref().map(|explained| &explained.used).or(uses.first())?;
    let texts = used.subscripts.iter().flat_map(|text| [Some(text.as_str()), case.definition(text)]);
    let (left, divisor) = { texts.flatten() }.find_map(|text| {
        let (left, divisor) = text.rsplit_once('%').map(|(left, divisor)| (left.trim(), divisor.trim()))?;
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
        let is_whole = |text: &str| bracketed(text).is_some_and(|inside| inside.len() + 2 == text.len());
        (is_name(divisor) && (is_name(left) || is_whole(left))).then_some((left, divisor))
    })?;
    Some(Reason::new(
        format!(
            "`%` keeps the sign of its left side: {} is negative where {} is.",
            code(&format!("{left} % {divisor}")),
            code(bracketed(left).unwrap_or(left)),
        ),
        format!(
            "add {divisor} to what is negative: {}; or compute with unsigned numbers.",
            code(&format!("({left} % {divisor} + {divisor}) % {divisor}"))
        ),
    ))
}

/// Returns the reason where the threads of a block take several rows at once, and the loop around goes on by fewer.
fn short_step(case: &Case<'_>, target: &Target, part: &Outside) -> Option<Reason> {
    let launch = case.launch;
    let (a, b) = part.text.split_once('+')?;
    [(a.trim(), b.trim()), (b.trim(), a.trim())].into_iter().find_map(|(place, counter)| {
        let loops = launch.loops(case.instr);
        let (around, counted) = loops.iter().find_map(|one| Some((one, one.counter(launch, case.who)?)))?;
        let values = launch.values_in_block(case.file(), place, case.who.block)?;
        let (first, last, at_once) = (values.first()?, values.last()?, values.len() as i64);
        let is_dense = last - first + 1 == at_once;
        let noun = if part.outermost { rows(target, at_once) } else { "elements of each row" };
        let name = &target.element.name;
        (counted.name == counter && is_dense && counted.step < at_once && at_once <= part.limit).then(|| {
            Reason::new(
                format!(
                    "the threads of a block take {at_once} {noun} of {name} at once ({} is {first} to {last}), but the \
                     loop at {} goes on by {}: they take some again, and go past the last.",
                    code(place),
                    around.name(launch, case.instr),
                    counted.step,
                ),
                format!("let {counter} go on by {at_once}."),
            )
        })
    })
}

fn rows(target: &Target, n: i64) -> &'static str {
    match (target.element.dims.len() > 2, n) {
        (true, 1) => "plane",
        (true, _) => "planes",
        (false, 1) => "row",
        (false, _) => "rows",
    }
}

/// Advises on an access that some threads must not make.
fn only_where(case: &Case<'_>, name: &str, condition: &str) -> String {
    let condition = code(condition);
    match case.access.kind {
        AccessKind::Read => {
            format!("read {name} only where {condition}; elsewhere use a value that changes nothing (0 in a sum).")
        }
        _ => format!("write to {name} only where {condition}."),
    }
}

/// Drafts the message about an address that belongs to no array.
pub(crate) fn nowhere(case: &Case<'_>) -> Draft {
    let launch = case.launch;
    let access = case.access;
    let access_noun = noun(access.kind);
    let kernel = launch.inputs.kernel;
    let mut draft;
    if access.space == MemSpace::Shared {
        draft = Draft::new(format!("{access_noun} at an address where no shared array lies"))
            .note(format!("Shared address {:#x}, {}.", access.address, bytes(access.bytes)))
            .advice("check how the pointer was computed.");
    } else if access.address < NULL_PAGE {
        let given = near_null(case);
        let null = (0..kernel.params.len()).find(|&index| {
            let param = &kernel.params[index];
            let (name, _) = launch.parameter(index);
            let used = launch.source_of(case.instr).is_none() || !launch.line_uses(case.instr, &name).is_empty();
            param.maybe_pointer && param.bytes == 8 && launch.parameter_value(index) == Some(0) && used
        });
        let name = null.map(|index| launch.parameter(index).0);
        draft = match (&name, &given) {
            (Some(name), _) => Draft::new(format!("{access_noun} through the null pointer `{name}`")),
            (None, Some((_, name, _))) => {
                Draft::new(format!("{access_noun} through `{name}`, which is not a device pointer"))
            }
            (None, None) => Draft::new(format!("{access_noun} through a null pointer")),
        };
        if let Some(name) = name.as_ref().or(given.as_ref().map(|(_, name, _)| name)) {
            let uses = launch.uses(case.instr, name, access.kind);
            draft.carets = uses.iter().map(|found| found.shown).collect();
        }
        let offset = match access.address {
            0 => "Address 0".to_owned(),
            address => format!("Address {address:#x}, {address} bytes past null"),
        };
        draft.notes.push(format!("{offset}, {}.", bytes(access.bytes)));
        if let (Some(index), Some(name)) = (null, &name) {
            draft.why = Some(format!("the launch gave 0 for `{name}`, the {} argument.", nth(index as u64 + 1)));
        }
        draft.advice = Some("allocate the buffer before the launch, and check the order of the arguments.".into());
        if let (None, Some((index, name, value))) = (&name, &given) {
            let given = format!("the launch gave {value} for `{name}`, the {} argument", nth(*index as u64 + 1));
            draft = draft.reason(match launch.strange_argument() {
                Some(Reason { why, advice }) => Reason { why: why.map(|why| format!("{given}, and {why}")), advice },
                None => Reason::new(format!("{given}."), "give the arguments in the order of the parameters."),
            });
        }
    } else {
        draft = Draft::new(format!("{access_noun} at an address that belongs to no buffer")).note(format!(
            "Address {:#x}, {}.",
            access.address,
            bytes(access.bytes)
        ));
        draft.why = pointer_guess(case);
        draft = draft
            .advice("check that a device pointer was given (not a host pointer or a number), and how it was computed.");
    }
    draft
        .note(case.first_thread_note())
        .on_gpu("the kernel stops with \"illegal memory access\", and the context is lost.")
}

/// Returns a pointer parameter that was given a small number, and is used in this line: index, name and value.
fn near_null(case: &Case<'_>) -> Option<(usize, String, u64)> {
    let launch = case.launch;
    let kernel = launch.inputs.kernel;
    (0..kernel.params.len()).find_map(|index| {
        let param = &kernel.params[index];
        let value = launch.parameter_value(index)?;
        let (name, ty) = launch.parameter(index);
        let used = !launch.line_uses(case.instr, &name).is_empty();
        let pointer = param.maybe_pointer && param.bytes == 8 && ty.is_some_and(|ty| ty.ends_with('*'));
        (pointer && used && (1..NULL_PAGE).contains(&value)).then_some((index, name, value))
    })
}

/// Returns an address that is, or is near, what a parameter holds.
fn pointer_guess(case: &Case<'_>) -> Option<String> {
    let launch = case.launch;
    let kernel = launch.inputs.kernel;
    (0..kernel.params.len()).filter(|&index| kernel.params[index].maybe_pointer).find_map(|index| {
        let value = launch.parameter_value(index)?;
        let near = value >= NULL_PAGE && case.access.address.wrapping_sub(value) < 1 << 32;
        (near && (launch.inputs.find)(value).is_none()).then(|| {
            format!(
                "`{}` was given as {value:#x}, which is not an address of device memory.",
                launch.parameter(index).0
            )
        })
    })
}

fn bytes(n: u32) -> String {
    count(u64::from(n), "byte")
}

//! Messages about memory that was freed (`E-FREED`), misaligned accesses (`E-ALIGN`), read-only memory
//! (`E-READ-ONLY`), pointers to another thread's local memory (`E-LOCAL`) and invalid texture objects (`E-TEXTURE`).

use super::bounds::nowhere;
use crate::finding::Space;
use crate::launch_context::{Draft, LaunchContext, Reason, first_thread};
use crate::locate::arrays::Target;
use crate::locate::case::{Case, noun};
use crate::source::text::{named, words};
use crate::words::{code, count, nth};
use simt::check::{BadAccess, MistakeGroup};

pub(crate) fn freed(launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess) -> Draft {
    let case = Case::new(launch, mistake, access);
    let what = noun(access.kind);
    let Some(target) = &case.target else { return nowhere(&case) };
    let mut draft = case.draft(format!("{what} of {} after it was freed", target.title()));
    if let Some(allocation) = &target.allocation {
        draft.notes.push(format!(
            "{} was a buffer of {} ({}); it is free now.",
            target.element.name,
            count(allocation.bytes, "byte"),
            target.size(),
        ));
    }
    draft
        .note(case.first_thread_note())
        .why("the memory was given back before this kernel ran or ended, and the pointer was kept.")
        .advice("free a buffer only after the last kernel that uses it is known to have ended (synchronise first).")
        .on_gpu("the access reads or overwrites data that other allocations have stored there since, silently.")
}

pub(crate) fn local_pointer(launch: &LaunchContext<'_>, mistake: &MistakeGroup, owner: u32, stored: u32) -> Draft {
    let reader = first_thread(mistake);
    let owner = launch.thread_name(reader.block, owner.into());
    let line = launch.line_name(mistake.first.instr, stored);
    Draft::new("a pointer to a local variable of another thread")
        .note(launch.first_thread(mistake))
        .note(format!("The pointer is that of {owner}, which stored it at {line}."))
        .why(
            "each thread has local memory of its own, at the same addresses: the pointer leads to the variable of the \
             thread that follows it.",
        )
        .advice("keep what threads share in a `__shared__` array, and give them a pointer to that.")
        .on_gpu("the same: the thread reads or overwrites its own variable, silently.")
}

pub(crate) fn misaligned(launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess) -> Draft {
    let case = Case::new(launch, mistake, access);
    let what = noun(access.kind);
    let size = u64::from(access.bytes.max(1));
    let alignment = 1u64 << access.address.trailing_zeros().min(20);
    let alignment = if access.address == 0 { 1 } else { alignment };
    let title = format!("{size}-byte {what} at an address that is only {alignment}-byte aligned");
    let mut draft = case.draft(title).on_gpu("the kernel stops with \"misaligned address\", and the context is lost.");
    let Some(target) = &case.target else {
        return draft.note(format!("Address {:#x}.", access.address)).note(case.first_thread_note());
    };
    let element = &target.element;
    draft.notes.push(format!(
        "{} starts {} bytes into {}; an access of {size} bytes must start at a multiple of {size}.",
        case.element(target),
        element.byte_offset,
        element.name,
    ));
    draft.notes.push(case.first_thread_note());
    let each = u64::from(element.element_bytes);
    let is_odd = |elements: u64| !(elements * each).is_multiple_of(size);
    // The row length from the declaration, or the `pitch` in `x[row * pitch + …]`.
    let declared = target.element.dims.last().filter(|_| target.element.dims.len() > 1);
    let of_index = || pitch(&case, case.explained.as_ref()?.used.subscripts.first()?);
    let (a_row, so, row) = match declared.map(|length| (String::new(), *length)).or_else(of_index) {
        Some(row) => ("a row", "so ", Some(row)),
        None if let Some((definition, row)) = pointer_row(&case, target) => {
            let line = launch.source_of(case.instr).and_then(|source| source.line_with(definition));
            let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
            draft.notes.push(format!("The pointer is {}{line}.", code(definition)));
            ("if a row", "", Some(row))
        }
        // A helper, whose parameters have no known values.
        None if launch.frames(case.instr).len() > 1 => ("if a row", "", only_row_length(&case, element.index, is_odd)),
        None => ("a row", "", None),
    };
    if let Some((label, length)) = row.filter(|(_, length)| is_odd(*length)) {
        let row_bytes = length * each;
        let every = size / gcd(row_bytes, size);
        draft.why = Some(format!(
            "{a_row} of {} is {length} {} ({row_bytes} bytes), {so}only every {} row starts on {size} bytes.",
            element.name,
            target.elements(length),
            nth(every),
        ));
        let lanes = (size / each).max(1);
        let (wide, single) = (target.elements(lanes), target.elements(2));
        let padded = length.next_multiple_of(lanes);
        draft.advice = Some(match label.strip_suffix(" = ") {
            Some(name) => format!(
                "access single {single} where {name} is no multiple of {lanes}, or pad rows to a multiple of {lanes} {wide} \
                 ({label}{padded})."
            ),
            None => {
                format!("pad rows to a multiple of {lanes} {wide} ({label}{padded}), or access single {single} here.")
            }
        });
    } else {
        let lanes = size / each.max(1);
        let reason = misplaced(&case, target, lanes).unwrap_or_default();
        draft.why = reason.why;
        draft.advice = reason.advice.or_else(|| {
            Some(match lanes {
                0 | 1 => format!("let every access of {size} bytes start at a multiple of {size} bytes."),
                n => format!(
                    "let every vector access start at a multiple of {n} {}, or access single ones.",
                    target.elements(2),
                ),
            })
        });
    }
    draft
}

/// Returns the reason if the last subscript is not a multiple of the vector's length, as if it counted vectors.
fn misplaced(case: &Case<'_>, target: &Target, lanes: u64) -> Option<Reason> {
    let explained = case.explained.as_ref()?;
    let (text, value) = explained.used.subscripts.last().zip(explained.subscripts.last())?;
    if lanes < 2 || value.rem_euclid(lanes as i64) == 0 {
        return None;
    }
    let definition = case.definition(text);
    let is = match definition {
        Some(definition) => format!("{}, which is {},", code(text), code(definition)),
        None => code(text),
    };
    let (elements, one) = (target.elements(2), target.elements(1));
    // The name that the source has for the number.
    let names = words(definition.unwrap_or(text)).map(|(_, word)| word);
    let is_number = |word: &&str| case.launch.value_in(case.file(), word) == Some(lanes as i64);
    let number = { names }.find(is_number).map_or_else(|| lanes.to_string(), str::to_owned);
    Some(Reason {
        why: Some(format!("{is} is {value} here: it counts single {elements}, and must be a multiple of {lanes}.")),
        advice: definition.filter(|definition| !definition.contains(['+', '-'])).map(|definition| {
            format!(
                "if it is the number of a vector, multiply it by the {elements} of one: {}. If not, access each {one} alone.",
                code(&format!("{definition} * {number}"))
            )
        }),
    })
}

/// Returns `pitch` of `row * pitch + …`, as `pitch = `, with its value.
fn pitch(case: &Case<'_>, index: &str) -> Option<(String, u64)> {
    let product = program::text::split(index, '+').into_iter().find(|term| term.contains('*'))?;
    let known = |name: &str| Some((format!("{name} = "), case.launch.value(case.instr, name)?.try_into().ok()?));
    product.split('*').map(str::trim).find_map(known)
}

/// Returns the definition of a pointer to a row that the line uses, `(const float4*)(x + row * pitch)`, and its pitch.
fn pointer_row<'a>(case: &'a Case<'_>, target: &Target) -> Option<(&'a str, (String, u64))> {
    let array = target.element.name.as_str();
    words(&case.launch.place(case.instr).text?).find_map(|(_, word)| {
        let definition = case.definition(word)?;
        let (_, rest) = definition.split_at(named(definition, array).next()? + array.len());
        let index = rest.trim_start().trim_start_matches(['+', '[']).split([')', ']']).next()?;
        Some((definition, pitch(case, index)?))
    })
}

/// Returns the only size that can be the length of a row: `is_odd` tells the lengths after which a row is not aligned,
/// and the element is aligned in a row that is not the first.
fn only_row_length(case: &Case<'_>, index: i64, is_odd: impl Fn(u64) -> bool) -> Option<(String, u64)> {
    let index = u64::try_from(index).ok()?;
    let sizes = case.launch.integers().into_iter().filter_map(|(name, n)| Some((name, u64::try_from(n).ok()?)));
    let mut sizes = sizes.filter(|(_, n)| (2..=index).contains(n) && is_odd(*n) && !is_odd(index % n));
    let (name, length) = sizes.next()?;
    sizes.next().is_none().then(|| (format!("{name} = "), length))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(crate) fn read_only(launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess) -> Draft {
    let case = Case::new(launch, mistake, access);
    let Some(target) = &case.target else { return nowhere(&case) };
    let is_param = target.element.space == Space::Param;
    let what = if is_param { "a kernel parameter" } else { "`__constant__` memory" };
    case.draft(format!("write to {}, which is {what}", target.title()))
        .note(format!("This writes {}.", case.element(target)))
        .note(case.first_thread_note())
        .why(format!("kernels can only read {what}; a cast took the `const` away."))
        .advice("write to global memory instead, or set the values from the host before the launch.")
        .on_gpu(match is_param {
            true => "the kernel stops with \"illegal memory access\", or the write is lost.",
            false => "an H100 stops the kernel with \"unspecified launch failure\".",
        })
}

pub(crate) fn texture(_: &LaunchContext<'_>, handle: u64) -> Draft {
    Draft::new("texture fetch through an invalid texture object")
        .note(format!("The handle is {handle:#x}."))
        .advice("create the texture object before the launch, destroy it after, and pass it as `cudaTextureObject_t`.")
        .on_gpu("the behaviour is undefined; an H100 gives zeros, without an error.")
}

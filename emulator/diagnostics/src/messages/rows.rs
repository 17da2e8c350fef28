//! Indices `X * P + Y` of a matrix in which the wrong part is multiplied, or by another length than that of a row.

use crate::locate::{arrays::Target, case::Case};
use crate::source::{expression, text::size_of};
use crate::words::code;
use crate::{finding::Space, launch_context::Reason};
use program::MemSpace;
use simt::check::ThreadId;

/// Returns whether another matrix has as many rows as `row` counts, and `row` is multiplied by their length there.
fn is_row_elsewhere(case: &Case<'_>, row: &str, n_rows: i64) -> bool {
    let Case { launch, instr, .. } = *case;
    let Some(source) = launch.source_of(instr) else { return false };
    (0..launch.inputs.kernel.params.len()).any(|index| {
        let (name, ty) = launch.parameter(index);
        let element = ty.and_then(|ty| size_of(ty.trim_end_matches('*').trim()));
        let (Some(address), Some(element)) = (launch.parameter_value(index), element) else { return false };
        let n = (launch.inputs.find)(address).map(|found| found.bytes as i64 / i64::from(element));
        (1..=source.n_lines()).flat_map(|line| source.uses(line, &name)).any(|found| {
            let length = found.subscripts.first().and_then(|text| {
                let (left, rest) = text.split_once('*').filter(|(left, _)| left.trim() == row)?;
                let pitch = rest.split('+').next().filter(|_| !left.contains('+'))?;
                launch.value(instr, pitch.trim())
            });
            n.is_some() && length.and_then(|length| length.checked_mul(n_rows)) == n
        })
    })
}

/// Returns the reason where the parts of an index have bounds that fit the array, but not the length that one of them
/// is multiplied by.
pub(crate) fn wrong_row(case: &Case<'_>, target: &Target) -> Option<Reason> {
    let launch = case.launch;
    let in_shared = matches!(case.access.space, MemSpace::Shared | MemSpace::Local);
    if in_shared || target.parameter.is_none() || case.explained.as_ref().is_some_and(|found| found.overflow.is_some())
    {
        return None;
    }
    let (x, (pitch, length), y) = case.row_and_place()?;
    let (x, y) = (x.as_str(), y.as_str());
    let (source, kernel) = (launch.source_of(case.instr)?, &launch.inputs.kernel.name);
    let n = target.element.n_elements as i64;
    let name = &target.element.name;
    let of = |row: &str, pitch: &str, place: &str| {
        let row = if row.contains(['+', '-']) { format!("({row})") } else { row.to_owned() };
        code(&format!("{name}[{row} * {pitch} + {place}]"))
    };
    let is = |what: &str, text: &str| text.to_ascii_lowercase().contains(what);
    let along = |part: &str, axis: &str, other: &str| {
        let text = source.definition(kernel, part).unwrap_or(part);
        text.contains(&format!("blockIdx.{axis}")) && !text.contains(&format!("blockIdx.{other}"))
    };
    let looks_exchanged = is("col", x) || is("row", y);
    let looks_right = is("row", x) || is("col", y);
    let conditions = source.conditions(kernel, launch.loc(case.instr)?.line);
    let bound = |part: &str| {
        let found = conditions.iter().find(|found| found.left == part)?;
        Some((found.right.clone(), launch.value(case.instr, &found.right)?))
    };
    let each = i64::from(target.element.element_bytes);
    let bytes = n * each;
    match (bound(x), bound(y)) {
        (Some((below_x, max_x)), _) if bytes > n && max_x.checked_mul(length) == Some(bytes) => Some(Reason::new(
            format!("{below_x} = {max_x} rows of {pitch} = {length} elements are {bytes}; {name} has {bytes} bytes."),
            format!(
                "if {pitch} counts bytes, divide it by the size of an element: {}; if it counts elements, allocate \
                 {each} bytes for each.",
                of(x, &format!("({pitch} / {each})"), y)
            ),
        )),
        (Some((below_x, max_x)), Some((below_y, max_y))) => {
            if max_x.checked_mul(max_y) != Some(n) || max_x == max_y || length == max_y {
                return None;
            }
            if length != max_x || looks_right && is_row_elsewhere(case, x, max_x) {
                return Some(Reason::new(
                    format!(
                        "{} is multiplied by {pitch} = {length}, and {}, which is added, runs up to {below_y} = {max_y}: \
                         that is the length of a row.",
                        code(x),
                        code(y)
                    ),
                    format!("multiply by {below_y}: {}, if a row of {name} has as many elements.", of(x, &below_y, y)),
                ));
            }
            let why = format!(
                "{} stays below {below_x} = {max_x}, as a place in a row of {pitch} elements does. But here it is \
                 multiplied by {pitch}, as the number of a row is.",
                code(x)
            );
            let exchanged = of(y, &pitch, x);
            let other = of(x, &below_y, y);
            // A matrix that is read at the exchanged index is turned, not copied.
            let exchanged_index: String = format!("{y}*{pitch}+{x}").split_whitespace().collect();
            let turned = (0..launch.inputs.kernel.params.len()).map(|index| launch.parameter(index).0).find(|other| {
                let mut uses = (1..=source.n_lines()).flat_map(|line| source.uses(line, other));
                let is_exchanged = |text: &String| text.split_whitespace().collect::<String>() == exchanged_index;
                other != name && uses.any(|found| found.loaded && found.subscripts.first().is_some_and(is_exchanged))
            });
            match (looks_exchanged, looks_right) {
                (true, false) if let Some(turned) = turned => Some(Reason::new(
                    why,
                    format!(
                        "multiply by {below_y}: {other}, if {name} holds {turned} with rows and columns exchanged. (If \
                         not, exchange {x} and {y}: {exchanged}.)"
                    ),
                )),
                (true, false) => Some(Reason::new(
                    why,
                    format!(
                        "if a row of {name} has {pitch} elements, exchange {x} and {y}: {exchanged}; if it has {below_y}, \
                         multiply by that: {other}."
                    ),
                )),
                // A condition of positions in the grid may as well be the mistake.
                (false, named) if !named || !source.depends_on_thread(kernel, x) => Some(Reason::new(
                    why,
                    format!(
                        "if {x} counts rows, multiply it by their length: {other}; if it counts the elements of a \
                             row, exchange {x} and {y}: {exchanged}."
                    ),
                )),
                _ => None,
            }
        }
        (None, None) if looks_exchanged && !looks_right && along(x, "x", "y") && along(y, "y", "x") => {
            let rows = n / length;
            let mut counts = launch.integers().into_iter().filter(|(_, value)| *value == rows);
            let (count, None) = (counts.next()?.0, counts.next()) else { return None };
            (rows != length && rows * length == n).then(|| {
                Reason::new(
                    format!(
                        "{} is multiplied by {pitch}, as the number of a row of {pitch} elements is; but {} comes from \
                         blockIdx.y, and {} from blockIdx.x.",
                        code(x),
                        code(y),
                        code(x)
                    ),
                    format!(
                        "exchange {x} and {y}: {}. (If {x} counts rows, they have {count} elements: {}.)",
                        of(y, &pitch, x),
                        of(x, &count, y)
                    ),
                )
            })
        }
        _ => None,
    }
}

/// Returns advice where the two subscripts of a tile fit its dimensions for all threads of the block if exchanged, and
/// only then.
pub(crate) fn exchanged(case: &Case<'_>, target: &Target) -> Option<String> {
    let Case { launch, who, .. } = *case;
    let uses = launch.uses(case.instr, &target.element.name, case.access.kind);
    let used = case.explained.as_ref().map(|explained| &explained.used).or(uses.first())?;
    let ([row, col], [rows, cols]) = (&used.subscripts[..], &target.element.dims[..]) else { return None };
    if !matches!(case.access.space, MemSpace::Shared) && target.element.space != Space::Shared {
        return None;
    }
    let loops = launch.loops(case.instr);
    let last = |name: &str, who| {
        loops.iter().find_map(|one| {
            let counter = one.counter(launch, who).filter(|counted| counted.name == name)?;
            counter.at((counter.rounds()? - 1).max(0))
        })
    };
    let value = |text: &str, thread: u64| {
        let who = ThreadId { thread, ..who };
        let names = |name: &str, _: u32| launch.evaluate_in(case.file(), name, who).or_else(|| last(name, who));
        expression::value(text, 0, &names)
    };
    let end = |text: &str| {
        let values = (0..launch.threads_per_block()).map(|thread| u64::try_from(value(text, thread)?).ok());
        Some(values.collect::<Option<Vec<u64>>>()?.into_iter().max()? + 1)
    };
    let (n_rows, n_cols) = (end(row)?, end(col)?);
    (n_rows <= *cols && n_cols <= *rows && (n_rows > *rows || n_cols > *cols)).then(|| {
        let name = &target.element.name;
        format!(
            "exchange the subscripts, {}, or the dimensions where {name} is declared, to {cols}x{rows}: all indices of this \
             line then fit.",
            code(&format!("{name}[{col}][{row}]"))
        )
    })
}

//! Messages about accesses outside of arrays, and what explains them.

use super::arrays::Target;
use super::case::{Case, noun, verb};
use super::scene::{Draft, Scene};
use super::words::{self, code, count, nth};
use simt::check::Kind;
use simt::check::{AccessKind, BadAccess};
use simt::program::MemSpace;

/// Below this, an address is a null pointer with something added.
const NULL_PAGE: u64 = 1 << 24;

/// `E-OOB`
pub(crate) fn out_of_bounds(scene: &Scene<'_>, kind: &Kind, access: BadAccess) -> Draft {
    let case = Case::new(scene, kind, access);
    let Some(target) = &case.target else {
        return nowhere(&case);
    };
    let what = noun(access.kind);
    let before = target.element.byte_offset < 0;
    let side = if before {
        "before the start"
    } else {
        "past the end"
    };
    let mut draft = case.draft(format!("{what} {side} of {}", target.title()));
    draft.notes.push(bounds_note(&case, target));
    draft.notes.push(case.who());
    let (why, advice) = bounds_reason(&case, target);
    draft.why = why;
    draft.advice = Some(advice);
    draft.on_gpu = Some(
        match (access.space, access.kind) {
            (MemSpace::Shared, AccessKind::Read) => {
                "this reads whatever shared array lies next to it, silently."
            }
            (MemSpace::Shared, _) => "this overwrites whatever shared array lies next to it, silently.",
            (MemSpace::Local, _) => "this reaches other variables of the thread, silently.",
            (_, AccessKind::Read) => {
                "this may stop the kernel (\"illegal memory access\"), or read another buffer silently."
            }
            _ => {
                "this may stop the kernel (\"illegal memory access\"), or overwrite another buffer silently."
            }
        }
        .into(),
    );
    draft
}

/// `A has 10000 floats; this reads A[10000], 1 element past the end.`
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
            let bytes = case.scene.context.config.dynamic_shared;
            format!("{name} is dynamic shared memory, and this launch gave it {bytes} bytes")
        }
        _ => format!("{name} has {}", target.size()),
    };
    let hit = case.element(target);
    let covered = i64::from(target.access_bytes.div_ceil(element.element_bytes.max(1)));
    let place = if element.index < 0 {
        format!(
            "{} before the start",
            count(element.index.unsigned_abs(), "element")
        )
    } else if element.index >= n {
        format!(
            "{} past the end",
            count((element.index - n + 1) as u64, "element")
        )
    } else {
        let over = element.index + covered - n;
        return format!(
            "{owner}; this {verb} {covered} from {hit} on, and the last {} past the end.",
            if over == 1 {
                "one lies".to_owned()
            } else {
                format!("{over} lie")
            },
        );
    };
    format!("{owner}; this {verb} {hit}, {place}.")
}

/// Why an index is outside, and what to do: the first explanation that the data supports.
fn bounds_reason(case: &Case<'_>, target: &Target) -> (Option<String>, String) {
    let scene = case.scene;
    let config = scene.context.config;
    let element = &target.element;
    let name = &element.name;
    if target.dynamic && config.dynamic_shared == 0 {
        let bytes = scene.threads_per_block() * u64::from(element.element_bytes);
        return (
            Some(
                "an `extern __shared__` array has the size that the launch asks for, and it asked for none."
                    .into(),
            ),
            format!(
                "give the launch its shared_mem_bytes (one {} per thread would be {bytes}).",
                if element.element_type.is_empty() {
                    "element"
                } else {
                    &element.element_type
                },
            ),
        );
    }
    if let Some(reason) = loop_reason(case) {
        return reason;
    }
    if let Some(reason) = block_shape_reason(case, target) {
        return reason;
    }
    if matches!(
        case.access.space,
        MemSpace::Global | MemSpace::Generic | MemSpace::Const
    ) && let Some(reason) = grid_reason(case, target)
    {
        return reason;
    }
    let last = target.at(element.n_elements as i64 - 1);
    if element.index < 0 {
        return (
            Some(format!(
                "the index is {}: below 0, so it lies in front of {name}.",
                element.index
            )),
            "leave out the threads that have no element there, or clamp the index to 0.".into(),
        );
    }
    if case.kind.n_threads == 1 && element.index == element.n_elements as i64 {
        let how = match &case.explained {
            Some(explained) => format!(
                ": with {}, {} is {}, and {last} is the last",
                explained.text(),
                code(&explained.written(name)),
                case.element(target)
            ),
            None => format!(": {last} is the last"),
        };
        return (
            Some(format!("one thread does this, the one at the edge{how}.")),
            "let the thread at the edge do without this element (or use a neighbour it has).".into(),
        );
    }
    let why = match &case.explained {
        Some(explained) if !explained.values.is_empty() => Some(format!(
            "with {}, {} is {}; the last element is {last}.",
            explained.text(),
            code(&explained.written(name)),
            case.element(target),
        )),
        _ => Some(format!(
            "the index is {}, and the last element is {last}.",
            element.index
        )),
    };
    let most = case.most_used(target);
    let advice = match case.access.space {
        MemSpace::Shared if most > element.n_elements => {
            format!(
                "make {name} larger ({most} elements would do here), or keep the index below {}.",
                element.n_elements
            )
        }
        MemSpace::Shared | MemSpace::Local => {
            format!(
                "make {name} larger, or keep the index below {}.",
                element.n_elements
            )
        }
        _ => format!(
            "compare the index with the size of {name} before using it; check the size given to the allocation."
        ),
    };
    (why, advice)
}

/// The loop variable ran one too far.
fn loop_reason(case: &Case<'_>) -> Option<(Option<String>, String)> {
    let explained = case.explained.as_ref()?;
    let variable = explained.concluded.as_ref()?;
    let (_, value) = explained.values.iter().find(|(name, _)| name == variable)?;
    let line = case.scene.loc(case.instr)?.line;
    let (number, header) = case.scene.source(case.instr)?.loop_header(line)?;
    let condition = header.split(';').nth(1)?.trim().to_owned();
    let (left, right) = condition.split_once("<=")?;
    if left.trim() != variable {
        return None;
    }
    Some((
        Some(format!(
            "the loop at line {number} runs while {}, so its last round has {variable} = {value}.",
            code(&condition)
        )),
        format!(
            "stop one earlier: {}.",
            code(&format!("{} < {}", left.trim(), right.trim()))
        ),
    ))
}

/// The block has more threads than the array has room for.
fn block_shape_reason(case: &Case<'_>, target: &Target) -> Option<(Option<String>, String)> {
    if case.access.space != MemSpace::Shared {
        return None;
    }
    let block = case.scene.context.config.block;
    let dims = &target.element.dims;
    let sides: Vec<u64> = dims.iter().rev().copied().collect();
    let too_small = sides
        .iter()
        .zip(block)
        .any(|(&side, threads)| side > 1 && u64::from(threads) > side);
    if !too_small || sides.is_empty() || sides.len() > 3 {
        return None;
    }
    let room: Vec<String> = sides.iter().map(u64::to_string).collect();
    let room = room.join("x");
    let shape = words::size(block);
    let name = &target.element.name;
    Some((
        Some(format!(
            "the block is {shape} threads, and {name} has room for {room}."
        )),
        format!("launch blocks of {room}, or change the tile size and the block together."),
    ))
}

/// The launch has more threads than there is data: an index of this thread is not below the size that the
/// kernel was given.
fn grid_reason(case: &Case<'_>, target: &Target) -> Option<(Option<String>, String)> {
    let scene = case.scene;
    let config = scene.context.config;
    let source = scene.source(case.instr)?;
    let total = |axis: usize| u64::from(config.grid[axis]) * u64::from(config.block[axis]);
    let preferred: [&[&str]; 3] = [
        &["N", "n", "cols", "width", "W"],
        &["M", "m", "rows", "height", "H"],
        &["depth", "D", "K"],
    ];
    // A size is a bound of an axis when the launch was rounded up to whole blocks from it.
    let bound = |axis: usize| {
        let fits = |(_, value): &(String, i64)| {
            let value = u64::try_from(*value).unwrap_or(0);
            value < total(axis) && total(axis) - value < u64::from(config.block[axis])
        };
        let mut found: Vec<(String, i64)> = scene.integers().into_iter().filter(fits).collect();
        found.sort_by_key(|(name, _)| !preferred[axis].contains(&name.as_str()));
        found.into_iter().next()
    };
    let axes: Vec<(usize, String, String, i64)> = [1, 0, 2]
        .into_iter()
        .filter_map(|axis| {
            let (name, value) = bound(axis)?;
            Some((axis, source.index_variable(axis)?, name, value))
        })
        .collect();
    let (axis, variable, name, value, is) = axes.iter().find_map(|(axis, variable, name, value)| {
        let is = scene.variable(case.instr, variable, case.who.0, case.who.1, 0)?;
        (is >= *value).then_some((*axis, variable, name, *value, is))
    })?;
    let extent: Vec<String> = (0..3)
        .filter(|&axis| axis == 0 || total(axis) > 1)
        .map(|axis| total(axis).to_string())
        .collect();
    let threads: u64 = (0..3).filter(|other| *other != axis).map(total).product();
    let excess = (total(axis) - value.unsigned_abs()) * threads;
    let why = format!(
        "the launch has {} threads ({}), {excess} of them with {variable} >= {name} = {value}: here {variable} = {is}, \
         and {} has no element for it.",
        extent.join("x"),
        scene.launch(),
        target.element.name,
    );
    let conditions: Vec<String> = axes
        .iter()
        .map(|(_, variable, name, _)| format!("{variable} < {name}"))
        .collect();
    let advice = format!(
        "guard the work: {}.",
        code(&format!("if ({})", conditions.join(" && ")))
    );
    Some((Some(why), advice))
}

/// The address belongs to no array at all.
pub(crate) fn nowhere(case: &Case<'_>) -> Draft {
    let scene = case.scene;
    let access = case.access;
    let what = noun(access.kind);
    let kernel = scene.context.kernel;
    let mut draft;
    if access.space == MemSpace::Shared {
        draft = Draft::new(format!("{what} at an address where no shared array lies"));
        draft.notes.push(format!(
            "Shared address {:#x}, {}.",
            access.address,
            bytes(access.bytes)
        ));
        draft.advice = Some("check how the pointer was computed.".into());
    } else if access.address < NULL_PAGE {
        let line = scene.loc(case.instr).map_or(0, |loc| loc.line);
        let null = (0..kernel.params.len()).find(|&index| {
            let param = &kernel.params[index];
            let (name, _) = scene.parameter(index);
            let used = scene
                .source(case.instr)
                .is_none_or(|source| !source.uses(line, &name).is_empty());
            param.maybe_pointer && param.bytes == 8 && scene.parameter_value(index) == Some(0) && used
        });
        let name = null.map(|index| scene.parameter(index).0);
        draft = match &name {
            Some(name) => Draft::new(format!("{what} through the null pointer `{name}`")),
            None => Draft::new(format!("{what} through a null pointer")),
        };
        if let Some(name) = &name {
            let uses = scene.uses(case.instr, name, access.kind);
            draft.carets = uses.iter().map(|found| (found.start, found.end)).collect();
        }
        let offset = match access.address {
            0 => "Address 0".to_owned(),
            address => format!("Address {address:#x}, {address} bytes past null"),
        };
        draft.notes.push(format!("{offset}, {}.", bytes(access.bytes)));
        if let (Some(index), Some(name)) = (null, &name) {
            draft.why = Some(format!(
                "the launch gave 0 for `{name}`, the {} argument.",
                nth(index as u64 + 1)
            ));
        }
        draft.advice =
            Some("allocate the buffer before the launch, and check the order of the arguments.".into());
    } else {
        draft = Draft::new(format!("{what} at an address that belongs to no buffer"));
        draft
            .notes
            .push(format!("Address {:#x}, {}.", access.address, bytes(access.bytes)));
        draft.why = pointer_guess(case);
        draft.advice =
            Some("check that a device pointer was given (not a host pointer or a number), and how it was computed.".into());
    }
    draft.notes.push(case.who());
    draft.on_gpu = Some("the kernel stops with \"illegal memory access\", and the context is lost.".into());
    draft
}

/// An address that is, or is near, what a parameter holds.
fn pointer_guess(case: &Case<'_>) -> Option<String> {
    let scene = case.scene;
    let kernel = scene.context.kernel;
    (0..kernel.params.len())
        .filter(|&index| kernel.params[index].maybe_pointer)
        .find_map(|index| {
            let value = scene.parameter_value(index)?;
            let near = value >= NULL_PAGE && case.access.address.wrapping_sub(value) < 1 << 32;
            (near && (scene.context.find)(value).is_none()).then(|| {
                format!(
                    "`{}` was given as {value:#x}, which is no address of device memory.",
                    scene.parameter(index).0
                )
            })
        })
}

fn bytes(n: u32) -> String {
    count(u64::from(n), "byte")
}

//! Messages about single accesses: out of bounds, freed, misaligned, read-only, never written.

use super::arrays::Target;
use super::scene::{Draft, Scene};
use super::subscript::Explained;
use super::words::{self, code, count, nth};
use crate::check::collect::Kind;
use crate::check::event::{AccessKind, BadAccess, Details};
use crate::program::{MemSpace, OpKind};

/// Below this, an address is a null pointer with something added.
const NULL_PAGE: u64 = 1 << 24;

/// `read`, `write`, `atomic update`.
fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic update",
    }
}

/// `reads`, `writes`, `updates`.
pub(crate) fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
    }
}

/// One bad access of the first thread, with all that is known of it.
struct Case<'a> {
    scene: &'a Scene<'a>,
    kind: &'a Kind,
    access: BadAccess,
    instr: u32,
    who: (u64, u64),
    target: Option<Target>,
    explained: Option<Explained>,
}

impl<'a> Case<'a> {
    fn new(scene: &'a Scene<'a>, kind: &'a Kind, access: BadAccess) -> Self {
        let event = &kind.first;
        let who = (
            event.block,
            u64::from(event.warp) * 32 + u64::from(event.mask.trailing_zeros() & 31),
        );
        let target = scene.target(
            event.instr,
            access.space,
            access.address,
            access.bytes,
            access.kind,
        );
        let explained = target
            .as_ref()
            .and_then(|target| scene.explain(event.instr, target, access.kind, who));
        Self {
            scene,
            kind,
            access,
            instr: event.instr,
            who,
            target,
            explained,
        }
    }

    /// A draft with carets, array and the line about threads still to come.
    fn draft(&self, title: String) -> Draft {
        let mut draft = Draft::new(title);
        if let Some(target) = &self.target {
            let uses = match &self.explained {
                Some(explained) => vec![explained.used.clone()],
                None => self
                    .scene
                    .uses(self.instr, &target.element.name, self.access.kind),
            };
            draft.carets = uses.iter().map(|found| (found.start, found.end)).collect();
            draft.array = Some(target.element.clone());
        }
        draft
    }

    fn who(&self) -> String {
        let mut text = format!("First: {}.", self.scene.thread_name(self.who.0, self.who.1));
        let values = self
            .explained
            .as_ref()
            .map(Explained::telling)
            .unwrap_or_default();
        if !values.is_empty() {
            text.pop();
            text += &format!(": {values}.");
        }
        if let Some(more) = self.scene.others_do_the_same(self.kind) {
            text = format!("{text} {more}");
        }
        text
    }

    /// Elements that the array would need for all accesses past its end in this launch.
    fn most_used(&self, target: &Target) -> u64 {
        let each = u64::from(target.element.element_bytes.max(1));
        let ends = self
            .scene
            .kinds
            .iter()
            .filter_map(|kind| match &kind.first.details {
                Details::Access(access) if access.space == self.access.space => {
                    let (_, high) = kind.addresses?;
                    let instr = kind.first.instr;
                    let other =
                        self.scene
                            .target(instr, access.space, access.address, access.bytes, access.kind)?;
                    (other.start == target.start)
                        .then(|| high.saturating_sub(target.start) + u64::from(access.bytes))
                }
                _ => None,
            });
        ends.max().unwrap_or(0).div_ceil(each)
    }

    /// `a_tile[15][16]` with the subscripts as computed, or from the address.
    fn element(&self, target: &Target) -> String {
        match &self.explained {
            Some(explained) if explained.subscripts.len() > 1 => explained.indexed(&target.element.name),
            _ => target.indexed(),
        }
    }
}

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
fn nowhere(case: &Case<'_>) -> Draft {
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

/// `E-FREED`
pub(crate) fn freed(scene: &Scene<'_>, kind: &Kind, access: BadAccess) -> Draft {
    let case = Case::new(scene, kind, access);
    let what = noun(access.kind);
    let Some(target) = &case.target else {
        return nowhere(&case);
    };
    let mut draft = case.draft(format!("{what} of {} after it was freed", target.title()));
    if let Some(allocation) = &target.allocation {
        draft.notes.push(format!(
            "{} was a buffer of {} ({}); it is free now.",
            target.element.name,
            count(allocation.bytes, "byte"),
            target.size(),
        ));
    }
    draft.notes.push(case.who());
    draft.why =
        Some("the memory was given back before this kernel ran or ended, and the pointer was kept.".into());
    draft.advice = Some(
        "free a buffer only after the last kernel that uses it is known to have ended (synchronise first)."
            .into(),
    );
    draft.on_gpu =
        Some("this reads or destroys what other allocations have put there since, silently.".into());
    draft
}

/// `E-ALIGN`
pub(crate) fn misaligned(scene: &Scene<'_>, kind: &Kind, access: BadAccess) -> Draft {
    let case = Case::new(scene, kind, access);
    let what = noun(access.kind);
    let size = u64::from(access.bytes.max(1));
    let is = 1u64 << access.address.trailing_zeros().min(20);
    let is = if access.address == 0 { 1 } else { is };
    let title = format!("{size}-byte {what} at an address that is only {is}-byte aligned");
    let mut draft = case.draft(title);
    draft.on_gpu = Some("the kernel stops with \"misaligned address\", and the context is lost.".into());
    let Some(target) = &case.target else {
        draft.notes.push(format!("Address {:#x}.", access.address));
        draft.notes.push(case.who());
        return draft;
    };
    let element = &target.element;
    draft.notes.push(format!(
        "{} starts {} bytes into {}; {size} bytes at once must start at a multiple of {size}.",
        case.element(target),
        element.byte_offset,
        element.name,
    ));
    draft.notes.push(case.who());
    let each = u64::from(element.element_bytes);
    let row = row_length(&case, target);
    if let Some((label, length)) = row.filter(|(_, length)| !(length * each).is_multiple_of(size)) {
        let row_bytes = length * each;
        let every = size / gcd(row_bytes, size);
        draft.why = Some(format!(
            "a row of {} is {length} {} ({row_bytes} bytes), so only every {} row starts on {size} bytes.",
            element.name,
            target.elements(length),
            nth(every),
        ));
        let lanes = (size / each).max(1);
        draft.advice = Some(format!(
            "pad rows to a multiple of {lanes} {} ({label}{}), or access single {} here.",
            target.elements(lanes),
            length.next_multiple_of(lanes),
            target.elements(2),
        ));
    } else {
        draft.why = Some(format!("{} is not a multiple of {size}.", element.byte_offset));
        draft.advice = Some(format!(
            "let every vector access start at a multiple of {} {}, or access single ones.",
            (size / each.max(1)).max(1),
            target.elements(2),
        ));
    }
    draft
}

/// The length of a row in elements: from the declaration, or `pitch` of `x[row * pitch + …]`.
fn row_length(case: &Case<'_>, target: &Target) -> Option<(String, u64)> {
    if let [_, .., last] = target.element.dims[..] {
        return Some((String::new(), last));
    }
    let subscript = case.explained.as_ref()?.used.subscripts.first()?.clone();
    let product = super::source::split(&subscript, '+')
        .into_iter()
        .find(|term| term.contains('*'))?;
    let (name, value) = product
        .split('*')
        .filter_map(|factor| {
            let factor = factor.trim();
            let value = case.scene.value(case.instr, factor)?;
            Some((factor.to_owned(), u64::try_from(value).ok()?))
        })
        .next()?;
    Some((format!("{name} = "), value))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `E-READ-ONLY`
pub(crate) fn read_only(scene: &Scene<'_>, kind: &Kind, access: BadAccess) -> Draft {
    let case = Case::new(scene, kind, access);
    let Some(target) = &case.target else {
        return nowhere(&case);
    };
    let what = if target.element.space == "param" {
        "a kernel parameter"
    } else {
        "`__constant__` memory"
    };
    let mut draft = case.draft(format!("write to {}, which is {what}", target.title()));
    draft.notes.push(format!("This writes {}.", case.element(target)));
    draft.notes.push(case.who());
    draft.why = Some(format!(
        "kernels can only read {what}; a cast took the `const` away."
    ));
    draft.advice =
        Some("write to global memory instead, or set the values from the host before the launch.".into());
    draft.on_gpu = Some("the kernel stops with \"illegal memory access\", or the write is lost.".into());
    draft
}

/// `E-UNINIT`
pub(crate) fn uninitialised(
    scene: &Scene<'_>,
    kind: &Kind,
    access: BadAccess,
    written: &[(u64, u64)],
) -> Draft {
    let case = Case::new(scene, kind, access);
    let Some(target) = &case.target else {
        return nowhere(&case);
    };
    let element = &target.element;
    let title = match target.named {
        true => format!("`{}` is read before anything wrote it", case.element(target)),
        false => format!("{} is read before anything wrote it", case.element(target)),
    };
    let mut draft = case.draft(title);
    let who = scene.thread_name(case.who.0, case.who.1);
    let mut reader = format!("Read by {who}.");
    let values = case
        .explained
        .as_ref()
        .map(Explained::telling)
        .unwrap_or_default();
    if !values.is_empty() {
        reader = format!("Read by {who}: {values}.");
    }
    if let Some(more) = scene.others_do_the_same(kind) {
        reader = format!("{reader} {more}");
    }
    draft.notes.push(reader);
    draft.notes.push(written_note(target, written));
    let fillers = fillers(&case, target);
    let any = written.iter().any(|(from, to)| from < to);
    let compound = case
        .scene
        .uses(case.instr, &element.name, AccessKind::Read)
        .iter()
        .any(|found| found.stored);
    match access.space {
        MemSpace::Shared | MemSpace::Local => {
            draft.why = fillers
                .first()
                .map(|filler| filler_reason(scene, filler, &element.name));
            draft.advice = Some(match (any, access.space) {
                (true, _) => format!(
                    "write every element of {} before it is read; elements without data get 0.",
                    element.name
                ),
                (false, MemSpace::Shared) => {
                    format!(
                        "fill {} and place __syncthreads() before the first read.",
                        element.name
                    )
                }
                (false, _) => format!("give {} its values before the first read.", element.name),
            });
            draft.on_gpu = Some("it holds left-over values, which differ from run to run.".into());
        }
        _ => {
            let what = &element.name;
            if compound {
                draft.why = Some(format!("this line adds to {what}, and so reads it first."));
                draft.advice = Some(format!(
                    "set {what} to 0 before the launch (memset), or assign with `=`."
                ));
            } else {
                if !any {
                    draft.why = Some(format!(
                        "no copy, no memset and no kernel has written to {what} since it was allocated."
                    ));
                }
                draft.advice = Some(format!(
                    "copy the input to {what} (or memset it) before the launch."
                ));
            }
            draft.on_gpu = Some("it holds whatever the memory was used for before.".into());
        }
    }
    draft
}

/// `Written so far: 128 of 256 elements, rows 0..7.`
fn written_note(target: &Target, written: &[(u64, u64)]) -> String {
    let element = &target.element;
    let name = &element.name;
    let each = u64::from(element.element_bytes.max(1));
    let n = element.n_elements;
    let index = |address: u64| address.saturating_sub(target.start) / each;
    let spans: Vec<(u64, u64)> = written
        .iter()
        .map(|&(from, to)| (index(from), index(to.saturating_add(each - 1)).min(n)))
        .filter(|(from, to)| from < to)
        .collect();
    let done: u64 = spans.iter().map(|(from, to)| to - from).sum();
    if done == 0 {
        return format!("Nothing of {name} ({}) was written so far.", target.size());
    }
    let head = format!("Written so far: {done} of the {n} elements of {name}");
    if let [_, columns] = element.dims[..]
        && columns > 0
        && spans
            .iter()
            .all(|(from, to)| from % columns == 0 && to % columns == 0)
    {
        let rows = spans.iter().flat_map(|(from, to)| from / columns..to / columns);
        return format!("{head}, rows {}.", words::ranges(rows));
    }
    if spans.len() <= 4 {
        let parts: Vec<String> = spans
            .iter()
            .map(|(from, to)| {
                if from + 1 == *to {
                    format!("[{from}]")
                } else {
                    format!("[{from}..{}]", to - 1)
                }
            })
            .collect();
        return format!("{head}: {}.", words::list(&parts));
    }
    format!("{head}, in {} pieces.", spans.len())
}

/// A line that fills an array, and how many threads ran it.
struct Filler {
    line: u32,
    instr: u32,
    threads: Option<u64>,
}

fn fillers(case: &Case<'_>, target: &Target) -> Vec<Filler> {
    let scene = case.scene;
    let Some(source) = scene.source(case.instr) else {
        return Vec::new();
    };
    let file = scene.loc(case.instr).map(|loc| loc.file);
    let kernel = scene.context.kernel;
    let lines = source.lines_storing(&target.element.name);
    lines
        .into_iter()
        .filter_map(|line| {
            let stores: Vec<u32> = kernel
                .ops
                .iter()
                .filter(|op| matches!(&op.kind, OpKind::Store(_) | OpKind::CpAsync { .. }))
                .map(|op| op.instr)
                .filter(|&instr| {
                    scene
                        .loc(instr)
                        .is_some_and(|loc| loc.line == line && Some(loc.file) == file)
                })
                .collect();
            let instr = *stores.first()?;
            let threads = scene
                .context
                .executed
                .and_then(|executed| stores.iter().map(|&at| executed(at)).max());
            Some(Filler { line, instr, threads })
        })
        .collect()
}

/// `line 22, which fills a_tile, ran in 128 of 256 threads: it stands under …`
fn filler_reason(scene: &Scene<'_>, filler: &Filler, name: &str) -> String {
    let all = scene.threads_per_block() * scene.n_blocks();
    let under = scene
        .source(filler.instr)
        .and_then(|source| source.condition(filler.line))
        .map(|(_, condition)| format!("it stands under {}", code(&format!("if ({condition})"))));
    let line = filler.line;
    match (filler.threads.filter(|&threads| threads < all), under) {
        (Some(0), Some(under)) => format!("line {line}, which fills {name}, ran in no thread: {under}."),
        (Some(threads), Some(under)) => {
            format!("line {line}, which fills {name}, ran in {threads} of {all} threads: {under}.")
        }
        (Some(threads), None) => {
            let exited = |kind: &Kind| matches!(kind.first.details, Details::Exited { .. });
            let rest = if scene.kinds.iter().any(exited) {
                "; the others had returned"
            } else {
                ""
            };
            format!("line {line}, which fills {name}, ran in {threads} of {all} threads{rest}.")
        }
        (None, _) => format!("line {line} writes to {name}, but not to this element before it is read here."),
    }
}

/// `E-TEXTURE`
pub(crate) fn texture(_: &Scene<'_>, handle: u64) -> Draft {
    let mut draft = Draft::new("texture fetch through a value that is no texture object");
    draft.notes.push(format!("The handle is {handle:#x}."));
    draft.advice =
        Some("create the texture object before the launch, destroy it after, and pass it as `cudaTextureObject_t`.".into());
    draft.on_gpu = Some("the kernel stops with \"illegal instruction\" or reads nonsense.".into());
    draft
}

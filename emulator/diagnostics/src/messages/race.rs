//! Messages about races: both parties, and where the order between them is missing.

use std::fmt::Write as _;

use super::bounds::block_shape;
use super::choose;
use crate::launch_context::{Draft, LaunchContext, Reason, marks};
use crate::locate::arrays::Target;
use crate::locate::case::Case;
use crate::locate::layout::Outside;
use crate::locate::spot::{self, Spot};
use crate::source::statements::Control;
use crate::trace::End;
use crate::words::{capital, code, list};
use simt::check::Kind;
use simt::check::{AccessKind, Details, MissingOrder, RaceFacts, RaceParty};
use simt::lanes::NONE;
use simt::program::{MemSpace, OpKind, TensorWay};

/// Drafts the message of `E-RACE` or `W-RACE-EQUAL`.
pub(crate) fn race(launch: &LaunchContext<'_>, kind: &Kind, race: &RaceFacts, also: &[&Kind]) -> Draft {
    let [a, b] = race.parties;
    // The write comes first: it is what goes wrong.
    let (first, second) = if a.kind == AccessKind::Read || a.kind > b.kind && b.kind != AccessKind::Read {
        (b, a)
    } else {
        (a, b)
    };
    let target =
        launch.target(known(first.instr, second.instr), race.space, race.address, first.bytes, first.kind);
    let target = target.map(|mut target| {
        // The unit in question, not the whole access.
        target.access_bytes = target.element.element_bytes;
        target
    });
    let name = target.as_ref().map_or_else(|| format!("address {:#x}", race.address), Target::indexed);
    let quoted = match &target {
        Some(target) if !target.named => name.clone(),
        _ => format!("`{name}`"),
    };
    let array = target.as_ref().map_or("this memory", |target| target.element.name.as_str()).to_owned();
    let between_blocks = first.block != second.block;
    let update = is_update(launch, first, second, &array);
    let mut draft = Draft::new(title(race, (first, second), &quoted, between_blocks, update));
    draft.no_listing = true;
    let same_line = launch.line(first.instr) == launch.line(second.instr)
        && (race.same_instruction || update || first.kind == second.kind);
    draft.instr = (first.instr != u32::MAX).then_some(first.instr);
    let here = draft.instr.unwrap_or(kind.first.instr);
    draft.carets = underlined(launch, first, target.as_ref());
    if same_line {
        let key = |party: &RaceParty| (party.block, party.thread);
        let (first, second) = if key(&second) < key(&first) { (second, first) } else { (first, second) };
        let both = format!(
            "{} and {} both {} it",
            who(launch, first, between_blocks),
            who(launch, second, between_blocks),
            if update { "update" } else { "write" },
        );
        party(&mut draft.verbatim, (launch, here), first, target.as_ref(), &both);
    } else {
        for one in [first, second] {
            let does = done(one.kind);
            let intro = match is_copy(launch, one.instr) {
                true => format!("{does} by a bulk copy of {}", who(launch, one, between_blocks)),
                false => format!("{does} by {}", who(launch, one, between_blocks)),
            };
            party(&mut draft.verbatim, (launch, here), one, target.as_ref(), &intro);
        }
    }
    draft.others =
        vec![launch.party(super::does(second.kind), second.instr, second.block, u64::from(second.thread), 1)];
    draft.array = target.as_ref().map(|target| target.element.clone());
    draft.notes.extend(extent(launch, kind, race, target.as_ref()));
    draft.notes.extend(others(launch, here, also, &array));
    if let Some(target) = &target
        && let Some(reason) = past_the_row(launch, here, kind, [first, second], target)
    {
        return draft.reason(reason).on_gpu(DEPENDS_ON_TIMING);
    }
    if let Some(reason) = block_shape(launch) {
        return draft.reason(reason);
    }
    reasons(draft, launch, race, (first, second), (&array, also), update)
}

/// A longer row of the array that would hold all values of a part of the index: a condition says how many there are.
fn longer_row(launch: &LaunchContext<'_>, instr: u32, part: &Outside, target: &Target) -> Option<String> {
    let (source, pitch) = (launch.source(instr)?, part.pitch.as_ref()?);
    let conditions = source.conditions(&launch.inputs.kernel.name, launch.loc(instr)?.line);
    let bound = conditions.iter().find(|found| {
        let n = launch.value(instr, &found.right).unwrap_or(0);
        found.left == part.text && n > part.limit && target.element.n_elements as i64 % n == 0
    })?;
    let name = &target.element.name;
    Some(format!(
        "if a row of {name} is to have room for every {}, use {} in its index instead of {pitch}.",
        code(&bound.text),
        bound.right,
    ))
}

/// Describes a race in which one party means another element, past the end of its row.
fn past_the_row(
    launch: &LaunchContext<'_>,
    here: u32,
    kind: &Kind,
    parties: [RaceParty; 2],
    target: &Target,
) -> Option<Reason> {
    parties.into_iter().find_map(|party| {
        let who = (party.block, u64::from(party.thread));
        let explained = launch.explain(party.instr, target, party.kind, who)?;
        let name = &target.element.name;
        let case = Case::of_party(launch, kind, party, target, explained.clone());
        if let Some(part) = case.outside(target).iter().find(|part| !part.outermost) {
            let length = part.pitch.as_ref().map_or_else(|| part.limit.to_string(), |pitch| format!("{pitch} = {}", part.limit));
            let why = format!(
                "for {}, {} is {} at {}, and a row of {name} has {length} elements: it reaches into another row.",
                who_is(launch, party),
                code(&part.text),
                part.value,
                launch.line_name(here, party.instr),
            );
            return Some(Reason { why: Some(why), advice: longer_row(launch, party.instr, part, target) });
        }
        explained.leaves_its_row(&target.element.dims).then(|| {
            let why = format!(
                "{} means {} at {}: that is past the end of its row, and lies where {} does.",
                capital(&who_is(launch, party)),
                explained.indexed(name),
                launch.line_name(here, party.instr),
                target.indexed(),
            );
            Reason { why: Some(why), advice: None }
        })
    })
}

fn who_is(launch: &LaunchContext<'_>, party: RaceParty) -> String {
    launch.thread_name(party.block, u64::from(party.thread))
}

/// Positions that an index leaves out: the threads of a block, or the blocks, then use the same elements.
fn leaves_out(launch: &LaunchContext<'_>, race: &RaceFacts) -> Option<&'static str> {
    let ends = launch.trace().ends(race.parties[0].instr)?;
    let config = launch.inputs.config;
    let is_open = |end: &End| matches!(end, End::Loaded(_) | End::Atomic(_) | End::Other(_));
    if race.parties[0].instr != race.parties[1].instr || ends.iter().any(is_open) {
        return None;
    }
    let thread = ends.iter().any(|end| matches!(end, End::Thread(_)));
    let block = ends.iter().any(|end| matches!(end, End::Block(_)));
    match (thread, block) {
        (false, true) if config.block != [1; 3] => Some("threadIdx"),
        (true, false) if config.grid != [1; 3] => Some("blockIdx"),
        _ => None,
    }
}

fn known(a: u32, b: u32) -> u32 {
    if a == u32::MAX { b } else { a }
}

fn title(
    race: &RaceFacts,
    (first, second): (RaceParty, RaceParty),
    name: &str,
    between_blocks: bool,
    update: bool,
) -> String {
    let both_write = first.kind == AccessKind::Write && second.kind == AccessKind::Write;
    let atomic = first.kind == AccessKind::Atomic || second.kind == AccessKind::Atomic;
    let whom = if between_blocks { "blocks" } else { "threads" };
    match (race.equal, update, both_write) {
        (true, ..) => format!("{whom} write the same value to {name} without order"),
        (_, true, _) => format!("{whom} update {name} at the same time"),
        (_, _, true) if race.same_instruction => format!("threads write different values to {name} at once"),
        (_, _, true) => format!("two {whom} write to {name}, in no order"),
        _ if atomic => format!("{name} is used with and without atomics at the same time"),
        _ if between_blocks => format!("{name} is written by one block and read by another"),
        _ if race.same_warp => format!("{name} is written and read by lanes of one warp, in no order"),
        _ if race.space == MemSpace::Shared => match race.missing {
            MissingOrder::Phase => format!("{name} is written and read by two threads, in no order"),
            _ => format!("{name} is written and read with no __syncthreads() between"),
        },
        _ => format!("{name} is written and read by two threads, in no order"),
    }
}

fn done(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "written",
        AccessKind::Atomic => "updated",
    }
}

fn who(launch: &LaunchContext<'_>, party: RaceParty, between_blocks: bool) -> String {
    if party.thread == u32::MAX {
        return "another thread".into();
    }
    let thread = format!("thread {}", launch.thread_position(u64::from(party.thread)));
    if between_blocks {
        return format!("{thread} of block {}", launch.block_position(party.block));
    }
    if launch.threads_per_block() > 32 { format!("{thread} (warp {})", party.thread / 32) } else { thread }
}

/// Adds the lines about a party: `written by thread (5,0):`, its source line and the marks under it.
fn party(
    lines: &mut Vec<String>,
    (launch, here): (&LaunchContext<'_>, u32),
    party: RaceParty,
    target: Option<&Target>,
    intro: &str,
) {
    let elsewhere = launch.elsewhere(here, party.instr);
    lines.push(format!("{intro}{elsewhere}:"));
    if party.instr == u32::MAX {
        return;
    }
    let place = launch.place(party.instr);
    lines.push(place.listed());
    let Some(text) = &place.text else { return };
    let marks = marks(text, &underlined(launch, party, target));
    if !marks.is_empty() {
        lines.push(format!("     | {marks}"));
    }
    lines.extend(launch.calls(here, party.instr));
}

/// Byte columns of a party's line that name the array: the use that gives the element, or all uses.
fn underlined(launch: &LaunchContext<'_>, party: RaceParty, target: Option<&Target>) -> Vec<(usize, usize)> {
    let Some(target) = target else { return Vec::new() };
    let who = (party.block, u64::from(party.thread));
    let uses = match launch.explain(party.instr, target, party.kind, who) {
        Some(explained) => vec![explained.used],
        None => launch.uses(party.instr, &target.element.name, party.kind),
    };
    uses.iter().map(|found| (found.start, found.end)).collect()
}

/// True if both parties are one read-modify-write of one element: `bins[i] += 1`.
fn is_update(launch: &LaunchContext<'_>, first: RaceParty, second: RaceParty, array: &str) -> bool {
    let (a, b) = (launch.loc(first.instr), launch.loc(second.instr));
    let same = a.is_some() && a.map(|loc| (loc.file, loc.line)) == b.map(|loc| (loc.file, loc.line));
    if !same || first.kind == AccessKind::Atomic || second.kind == AccessKind::Atomic {
        return false;
    }
    if launch.source(first.instr).is_none() {
        // Without the text: a load and a store through one register.
        let operand = |instr: u32| {
            launch.info(instr)?.text.split_once('[')?.1.split_once(']').map(|(inside, _)| inside.to_owned())
        };
        let (a, b) = (operand(first.instr), operand(second.instr));
        return a.is_some() && a == b && first.instr != second.instr;
    }
    let uses = launch.uses(first.instr, array, AccessKind::Write);
    let line = a.map_or(0, |loc| loc.line);
    let all = launch.source(first.instr).map(|source| source.uses(line, array)).unwrap_or_default();
    all.len() == 1 && uses.iter().any(|found| found.stored && found.loaded)
}

/// Sentences on how much of the array, and how many threads, take part in the race.
fn extent(launch: &LaunchContext<'_>, kind: &Kind, race: &RaceFacts, target: Option<&Target>) -> Vec<String> {
    let mut text = String::new();
    if let Some(target) = target
        && target.element.n_elements > 1
    {
        let each = u64::from(target.element.element_bytes.max(1));
        let last = race.end.saturating_sub(1).saturating_sub(target.start) / each;
        if last as i64 > target.element.index {
            let _ = write!(
                text,
                "The same holds for elements between {} and {}. ",
                target.at(target.element.index),
                target.at(last as i64)
            );
        }
    }
    let [a, b] = race.parties;
    if kind.n_threads > 1 && a.block == b.block {
        let n = kind.n_threads;
        let blocks = match (launch.n_blocks(), kind.n_blocks) {
            (1, _) => String::new(),
            (_, 1) => " of one block".into(),
            (_, blocks) => format!(" in {blocks} blocks"),
        };
        let all = n == launch.threads_per_block() * launch.n_blocks();
        let who = if all { format!("All {n} threads") } else { format!("At least {n} threads") };
        let _ = write!(text, "{who}{blocks} take part.");
    }
    if text.is_empty() { Vec::new() } else { vec![text.trim_end().to_owned()] }
}

/// A sentence that names other arrays with the same race.
fn others(launch: &LaunchContext<'_>, here: u32, also: &[&Kind], array: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for kind in also {
        let Details::Race(race) = &kind.first.details else { continue };
        let write = race.parties.iter().find(|party| party.kind != AccessKind::Read)?;
        let target = launch.target(write.instr, race.space, race.address, 1, write.kind)?;
        let name = format!("{} ({})", target.element.name, launch.line_name(here, write.instr));
        if target.element.name != array && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| format!("The same happens to {}.", list(&names)))
}

/// The reason that a loop `for (int i = blockIdx.x * … ; …; i += blockDim.x)` reaches the elements of other blocks.
fn stride_too_short(
    launch: &LaunchContext<'_>,
    here: u32,
    party: RaceParty,
    between_blocks: bool,
) -> Option<Reason> {
    let innermost = launch.loops(party.instr).into_iter().next()?;
    let number = innermost.name(launch, here);
    let mut parts = innermost.enclosure.header.split(';');
    let (init, step) = (parts.next()?, parts.nth(1)?);
    let (counter, step) = step.split_once("+=")?;
    let (counter, step) = (counter.trim(), step.trim().trim_end_matches(')').trim());
    let starts_in_block = init.contains("blockIdx.x") || {
        let start = init.split_once('=')?.1.trim();
        let kernel = &launch.inputs.kernel.name;
        launch.source(party.instr)?.definition(kernel, start).is_some_and(|text| text.contains("blockIdx.x"))
    };
    (between_blocks && starts_in_block && step == "blockDim.x").then(|| {
        Reason::new(
            format!(
                "the loop at {number} starts where the block does and steps by blockDim.x: it goes on through the elements of the \
                 blocks behind it."
            ),
            format!("step by the whole grid: {}.", code(&format!("{counter} += gridDim.x * blockDim.x"))),
        )
    })
}

fn same_elements(left_out: &str) -> String {
    match left_out {
        "threadIdx" => {
            "the index depends on blockIdx, not on threadIdx: all threads of a block write to one element"
                .into()
        }
        _ => "the index depends on threadIdx, not on blockIdx: all blocks write to the same elements".into(),
    }
}

fn reasons(
    mut draft: Draft,
    launch: &LaunchContext<'_>,
    race: &RaceFacts,
    (first, second): (RaceParty, RaceParty),
    (array, also): (&str, &[&Kind]),
    update: bool,
) -> Draft {
    let between_blocks = first.block != second.block;
    let here = draft.instr.unwrap_or(first.instr);
    let (write, other) = (launch.line_name(here, first.instr), launch.line_name(here, second.instr));
    let both_write = first.kind == AccessKind::Write && second.kind == AccessKind::Write;
    let barrier = if race.same_warp { "__syncwarp()" } else { "__syncthreads()" };
    let left_out = leaves_out(launch, race);
    if race.equal {
        let ends = launch.trace().ends(first.instr).filter(|_| first.instr == second.instr);
        let constant = ends.is_some_and(|ends| {
            ends.iter().all(|end| matches!(end, End::Param(_) | End::Symbol | End::Size))
        });
        let reason = match (left_out, constant) {
            (Some(what), _) => Reason::new(
                format!(
                    "{}. The values are equal, so the result is the same every time.",
                    same_elements(what)
                ),
                format!(
                    "if each thread has an element of its own, {what} belongs into the index; if not, let one thread write."
                ),
            ),
            (None, true) => Reason::new(
                "whichever write comes last, the value is the same: harmless as long as that stays so.",
                "let one thread write it, or use an atomic (atomicOr, atomicExch) to say that it is meant.",
            ),
            (None, false) => Reason::new(
                "their indices are the same here. The values are equal, so the result is the same every time.",
                "if each thread should have an element of its own, check the index; if not, let one thread write.",
            ),
        };
        return draft.reason(reason).on_gpu("the result is the same every time.");
    }
    draft.on_gpu = Some(DEPENDS_ON_TIMING.into());
    if let Some(reason) = stride_too_short(launch, here, first, between_blocks) {
        return draft.reason(reason);
    }
    if update {
        draft.why = Some("an update is three steps (read, compute, write); of two threads that read the same old value, one is forgotten.".into());
        let one = launch.uses(first.instr, array, AccessKind::Write);
        let text = launch.place(first.instr).text.unwrap_or_default();
        let element = one.first().and_then(|found| text.get(found.start..found.end)).unwrap_or(array);
        let element = element.trim_start_matches('*');
        let pointer = if one.iter().all(|found| found.subscripts.is_empty()) && race.space == MemSpace::Global
        {
            element.to_owned()
        } else {
            format!("&{element}")
        };
        let after = one.first().and_then(|found| text.get(found.end..)).map(str::trim_start);
        let sum =
            after.is_some_and(|after| ["+=", "++", "-=", "--"].iter().any(|sign| after.starts_with(sign)));
        draft.advice = match (text.is_empty(), sum) {
            (true, _) => Some("make it one step with an atomic (atomicAdd and its kin).".into()),
            (false, true) => {
                Some(format!("make it one step: {}.", code(&format!("atomicAdd({pointer}, …)"))))
            }
            (false, false) => None,
        };
        return draft.on_gpu("some updates are lost, another number of them in every run.");
    }
    if let Some(what) = left_out.filter(|_| both_write) {
        return draft.why(format!("{}, and only one value stays.", same_elements(what))).advice(format!(
            "if each thread has an element of its own, {what} belongs into the index; if not, let one thread \
                 write.",
        ));
    }
    if race.same_instruction {
        draft.why = Some(format!("all these threads run {write} together, and only one value stays."));
        draft.advice =
            Some("let one thread write (if (threadIdx.x == 0) …), or give each its own element.".into());
        return draft;
    }
    if race.missing == MissingOrder::Phase {
        return draft.reason(unordered(launch, here, race.parties));
    }
    if race.missing == MissingOrder::Flag {
        let (does, did) = match (first.kind, second.kind) {
            (AccessKind::Read, _) => ("writes to", "read"),
            (_, AccessKind::Read) => ("reads", "wrote"),
            _ => ("writes to", "wrote"),
        };
        return draft
            .why(format!(
                "{other} {does} what block {} {did} at {write}. The blocks hand data to each other by flags, but \
                 block {} had read none that was set behind {write} and a fence (__threadfence(), or a store with \
                 .release).",
                launch.block_position(first.block),
                launch.block_position(second.block),
            ))
            .advice("on the one side: __threadfence() in each thread, then a barrier of all of them, then set the \
                     flag; on the other side: wait until the flag is set, then a barrier of all threads that go on.");
    }
    if both_write {
        return draft
            .why(match between_blocks {
                true => "both write to the same element in one launch, and blocks run in any order.",
                false => "both write to the same element, and nothing says which value stays.",
            })
            .advice(match between_blocks {
                true => "give each block its own elements, or combine results with an atomic.".into(),
                false => {
                    format!(
                        "give each thread its own element, let one thread write, or order them by {barrier}."
                    )
                }
            });
    }
    if let Some(atomic) = ticket(launch, first, second).filter(|_| between_blocks) {
        let line = launch.line_name(here, atomic);
        return draft
            .why(format!(
                "the atomic at {line} counts the blocks that are done, but no __threadfence() makes what they wrote \
                 at {write} visible before it.",
            ))
            .advice(format!(
                "put __threadfence() between {write} and the atomic at {line}, and another one between the atomic \
                 and {other}.",
            ));
    }
    if between_blocks {
        return draft
            .why("blocks run in any order and at the same time; __syncthreads() orders threads of one block only.")
            .advice(match launch.place(first.instr).line.abs_diff(launch.place(second.instr).line) {
                0..=3 => "read from one buffer and write the results to another, or split the work into two launches.",
                _ => "write to another buffer, or split the work into two launches: the end of a launch orders everything.",
            });
    }
    let same_line = write == other || spot::same_statement(launch, first.instr, second.instr);
    let spots = together(launch, race, also);
    if let Some((sync, mask)) = race.left_out {
        let outside = [first, second].into_iter().find(|party| mask >> (party.thread % 32) & 1 == 0);
        let lane = outside.map_or(0, |party| party.thread % 32);
        let line = launch.line_name(here, sync);
        return draft
            .why(format!(
                "__syncwarp({mask:#010x}) at {line} orders only the lanes that it names, and leaves out lane {lane}.",
            ))
            .advice("let every lane that writes or reads here take part: __syncwarp() where all of them are, before \
                     the branch.")
            .on_gpu(OFTEN_WORKS);
    }
    if choose::in_step(launch, race) {
        draft.title = format!("warp-synchronous code: {}", draft.title);
        return draft
            .why(match choose::is_volatile(launch, first.instr) {
                    true => {
                        "volatile keeps each access in the program, and orders no lanes: since Volta the lanes of a warp need \
                         not run in step."
                    }
                    false => {
                        "since Volta the lanes of a warp need not run in step: nothing orders what lanes write in one step \
                         and others read in another."
                    }
                })
            .advice("take the sum in a register, and put __syncwarp() between reading and writing in every step; or \
                     use __shfl_down_sync, which needs no shared memory.")
            .on_gpu(OFTEN_WORKS);
    }
    if race.same_warp {
        return draft
            .why(match race.missing {
                MissingOrder::BeforeOverwriting => {
                    format!(
                        "a lane can overwrite the element at {write} before another has read it at {other}: lanes of a warp need not run in step."
                    )
                }
                _ => format!(
                    "a lane can read the element at {other} before another has written it at {write}: lanes of a warp need not run in step (since Volta)."
                ),
            })
            .advice(match &spots[..] {
                [spot] => place_barrier((launch, here), barrier, spot, race.missing, array),
                _ if same_line => READ_FIRST.replace("BARRIER", barrier),
                _ => match race.missing {
                    MissingOrder::BeforeOverwriting => {
                        format!("put {barrier} after {other}, before {write} writes again.")
                    }
                    _ => format!("put {barrier} after {write}, before {other} reads."),
                },
            })
            .on_gpu(OFTEN_WORKS);
    }
    let in_loop = spot::common_loop(launch, first.instr, second.instr);
    // A barrier in the loop that all threads pass would separate its rounds: no second one belongs there.
    let in_loop = in_loop.is_some_and(|(file, lines)| spot::barrier_in(launch, file, lines).is_none());
    let in_header = spot::under_its_header(launch, first.instr, second.instr);
    let both_orders = matches!(race.missing, MissingOrder::Both | MissingOrder::BeforeReading);
    let reason = match race.missing {
        _ if in_loop && both_orders && (same_line || in_header) => Reason::new(
            match same_line {
                true => format!(
                    "both happen at {write}: in one round of the loop a thread reads what another writes in that round or the next."
                ),
                false => format!(
                    "in one round of the loop a thread reads at {other} what another writes at {write} in that round or the next."
                ),
            },
            format!("put {barrier} at the end of each round, outside any `if` that not all threads enter."),
        ),
        _ if same_line || in_header => Reason::new(
            match same_line {
                true => format!(
                    "both happen at {write}: a thread can write before another has read the old value."
                ),
                false => {
                    format!("a thread can write at {write} before another has read the old value at {other}.")
                }
            },
            match both_orders {
                false => READ_FIRST.replace("BARRIER", barrier),
                true => format!(
                    "{} Another {barrier} belongs before the next read.",
                    READ_FIRST.replace("BARRIER", barrier)
                ),
            },
        ),
        // A copy to a place that others read: it is not known whether they are to read what it brings.
        MissingOrder::BeforeReading if copies_behind(launch, first.instr) => Reason::new(
            format!("the copy at {write} may be done before or after another thread reads at {other}."),
            format!(
                "if {other} is to read what this copy brings, wait for it (cp.async.wait_group), and put {barrier} between \
                 the wait and {other}. If it reads what lay there before, {barrier} behind the copy does not help: start the \
                 copy at {write} behind a {barrier} that follows the last read of its place, or give the ring one place \
                 more."
            ),
        ),
        MissingOrder::BeforeReading => Reason::new(
            format!("a thread can reach {other} before another has written the element at {write}."),
            match &spots[..] {
                [spot] => place_barrier((launch, here), barrier, spot, race.missing, array),
                _ => {
                    format!("put {barrier} between {write} (all writes done) and {other} (reads may start).")
                }
            },
        ),
        MissingOrder::BeforeOverwriting => Reason::new(
            match &spots[..] {
                [Spot { before: Some(_), .. }] => {
                    format!("a fast thread overwrites {array} at {write} while others still read at {other}.")
                }
                _ => format!(
                    "a fast thread goes on to the next round and overwrites {array} at {write} while others still read at {other}."
                ),
            },
            match &spots[..] {
                [spot] => place_barrier((launch, here), barrier, spot, race.missing, array),
                _ => format!("put {barrier} after {other}, before the next round writes to {array}."),
            },
        ),
        MissingOrder::Both => Reason::new(
            format!(
                "no barrier separates the writes at {write} from the reads at {other}, in neither direction."
            ),
            match &spots[..] {
                [reading, overwriting] => {
                    let one =
                        place_barrier((launch, here), barrier, reading, MissingOrder::BeforeReading, array);
                    let two = place_barrier(
                        (launch, here),
                        "another",
                        overwriting,
                        MissingOrder::BeforeOverwriting,
                        array,
                    );
                    format!("{}, and {two}", one.trim_end_matches('.'))
                }
                _ => format!(
                    "put one {barrier} before reading (after {write}), and one before the next round overwrites {array} (after {other})."
                ),
            },
        ),
        MissingOrder::Flag | MissingOrder::Phase | MissingOrder::Unknown => Reason::new(
            format!("{write} and {other} are run by different threads, and no barrier lies between."),
            format!("put {barrier}, reached by all threads, between {write} and {other}."),
        ),
    };
    let mut draft = draft.reason(reason);
    let there = spots.iter().find_map(|spot| spot::taken(launch, spot));
    match there {
        Some(there) => draft.advice = move_out(launch, here, there),
        None if spots.is_empty()
            && !same_line
            && spot::barrier_between(launch, first.instr, second.instr) =>
        {
            draft.advice = None;
        }
        None => {}
    }
    draft
}

/// Advice to move a barrier out of its branch, when it stands in the right place but not all threads reach it.
fn move_out(launch: &LaunchContext<'_>, here: u32, barrier: u32) -> Option<String> {
    let around = launch.around(barrier);
    let branch = around.last().filter(|one| one.enclosure.control == Control::If)?;
    Some(format!(
        "move the barrier at {} out of {} ({}), so that all threads reach it between the two.",
        launch.line_name(here, barrier),
        code(&branch.enclosure.header),
        branch.name(launch, here)
    ))
}

const DEPENDS_ON_TIMING: &str = "the result depends on timing: it can be right today and wrong tomorrow.";
const OFTEN_WORKS: &str = "it often works, until the compiler or the next GPU schedules lanes otherwise.";
const READ_FIRST: &str = "read into a variable first, then BARRIER in all threads, then write.";

/// Places for barriers that order a race and those that are reported with it.
fn together(launch: &LaunchContext<'_>, race: &RaceFacts, also: &[&Kind]) -> Vec<Spot> {
    let Some(mut spots) = spot::spots(launch, race) else { return Vec::new() };
    for kind in also {
        let Details::Race(other) = &kind.first.details else { continue };
        let more = spot::spots(launch, other).filter(|_| other.missing == race.missing);
        for (spot, more) in spots.iter_mut().zip(more.unwrap_or_default()) {
            *spot = spot.and(more).unwrap_or(*spot);
        }
    }
    spots
}

/// Advice on where to put a barrier: `put __syncthreads() after line 29, …`.
fn place_barrier(
    (launch, here): (&LaunchContext<'_>, u32),
    barrier: &str,
    spot: &Spot,
    missing: MissingOrder,
    array: &str,
) -> String {
    let (done, next) = match missing {
        MissingOrder::BeforeOverwriting => ("all reads done", "writes may start"),
        _ => ("all writes done", "reads may start"),
    };
    let outside = match spot.in_branch && barrier == "__syncthreads()" {
        true => ", outside any `if` that not all threads enter",
        false => "",
    };
    let after = launch.numbered(here, spot.file, spot.after);
    match (spot.before, missing) {
        (Some(before), _) => {
            let before = launch.numbered(here, spot.file, before);
            format!("put {barrier} between {after} ({done}) and {before} ({next}){outside}.")
        }
        (None, MissingOrder::BeforeOverwriting) if spot.ends_loop => format!(
            "put {barrier} after {after}, where the loop that reads ends, before the next round writes to {array}{outside}."
        ),
        (None, MissingOrder::BeforeOverwriting) => {
            format!("put {barrier} after {after}, before the next round writes to {array}{outside}.")
        }
        (None, _) => {
            format!("put {barrier} after {after}, before the next round reads {array}{outside}.")
        }
    }
}

/// True if an instruction starts a bulk copy.
pub(crate) fn is_copy(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.ops(instr).any(|op| matches!(op, OpKind::TensorCopy(_) | OpKind::BulkBytes(_)))
}

/// The reason that neither a phase of a barrier in shared memory nor a barrier of the block orders two accesses,
/// given
/// with the earlier one first.
fn unordered(launch: &LaunchContext<'_>, here: u32, [first, second]: [RaceParty; 2]) -> Reason {
    let line = |party: RaceParty| launch.line_name(here, party.instr);
    let thread = |party: RaceParty| format!("thread {}", launch.thread_position(u64::from(party.thread)));
    let (before, after) = (line(first), line(second));
    if is_store_of_bulk(launch, second.instr) {
        return Reason::new(
            format!(
                "the copy was started while nothing said that {} had written this at {before}: {} has met it at no barrier \
                 since.",
                thread(first),
                thread(second)
            ),
            format!(
                "after {before}, execute fence.proxy.async in each thread that writes, then a barrier of all of them and of \
                 the thread that copies (__syncthreads(), or bar.sync with their number), and then start the copy."
            ),
        );
    }
    if is_store_of_bulk(launch, first.instr) {
        return Reason::new(
            format!(
                "{} writes at {after} without having met {} at a barrier since that started the copy: either the copy came \
                 too early, or the write did.",
                thread(second),
                thread(first)
            ),
            format!(
                "if the copy is to have what is written at {after}: start it behind a barrier that all who write have \
                 passed. If it is to have what was there before: let the thread that started it wait \
                 (cp.async.bulk.wait_group.read) before a barrier behind which others write there again."
            ),
        );
    }
    if is_copy(launch, first.instr) {
        return Reason::new(
            format!(
                "{} has not waited for the phase that the bytes of the copy belong to, and has met no thread at a barrier that \
                 had.",
                thread(second)
            ),
            format!(
                "wait for that phase in each warp that comes to {after}, or in one before a barrier of all of them."
            ),
        );
    }
    let did = match first.kind {
        AccessKind::Read => "read",
        _ => "written",
    };
    let advice = format!(
        "let the threads arrive at a barrier (mbarrier.arrive) behind {before}, and wait for that phase before {after}; or put \
         a barrier of all of them between."
    );
    let copies = is_copy(launch, second.instr);
    if copies && is_product(launch, first.instr) {
        return Reason::new(
            format!(
                "the copy was started while nothing said that the product of {} at {before} was done: no arrival behind a \
                 `wgmma.wait_group` for it belongs to a phase that {} had waited for.",
                thread(first),
                thread(second)
            ),
            format!(
                "in the threads that come to {before}: first `wgmma.wait_group`, then arrive at a barrier (mbarrier.arrive). \
                 Let the thread that copies wait for the phase that these arrivals end (its parity changes each time), and \
                 then start the copy."
            ),
        );
    }
    match copies {
        true => Reason::new(
            format!(
                "the copy was started while nothing said that {} had {did} this at {before}: no arrival behind that line \
                 belongs to a phase that {} had waited for.",
                thread(first),
                thread(second)
            ),
            format!(
                "let the threads that come to {before} arrive at a barrier behind it (mbarrier.arrive), and the one that \
                 copies wait for that phase before it starts the copy."
            ),
        ),
        false => Reason::new(
            format!(
                "a thread can reach {after} before another one has {did} this at {before}: no arrival behind that line belongs \
                 to a phase that {} had waited for, and no barrier of both lies between.",
                thread(second)
            ),
            advice,
        ),
    }
}

/// True if the instruction starts copies that are done in the background (`cp.async`).
fn copies_behind(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.ops(instr).any(|op| matches!(op, OpKind::CpAsync { .. }))
}

/// True if the instruction starts a product of a warpgroup.
fn is_product(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.mnemonic(instr).starts_with("wgmma")
}

/// True if the instruction starts bulk copies out of shared memory.
fn is_store_of_bulk(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.ops(instr).any(|op| match op {
        OpKind::TensorCopy(copy) => copy.way == TensorWay::Store,
        OpKind::BulkBytes(copy) => copy.way == TensorWay::Store,
        _ => false,
    })
}

/// The atomic by which a block learns that the others have written, when the kernel has no fence at all: the
/// pattern of a last block that adds up what the others left.
fn ticket(launch: &LaunchContext<'_>, write: RaceParty, read: RaceParty) -> Option<u32> {
    let kernel = launch.inputs.kernel;
    if write.kind != AccessKind::Write || read.kind != AccessKind::Read {
        return None;
    }
    if kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Fence | OpKind::ProxyFence)) {
        return None;
    }
    let between = write.instr.min(read.instr)..write.instr.max(read.instr);
    kernel.ops.iter().find_map(|op| match &op.kind {
        OpKind::Atomic(atomic) => {
            let global = matches!(atomic.space, MemSpace::Global | MemSpace::Generic);
            (global && atomic.dst != NONE && write.instr < read.instr && between.contains(&op.instr))
                .then_some(op.instr)
        }
        _ => None,
    })
}

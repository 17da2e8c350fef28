//! Messages about uses of values that nothing wrote (`E-UNINIT`, `W-UNINIT`).

mod fillers;

use super::bounds::nowhere;
use crate::launch_context::{Draft, LaunchContext};
use crate::locate::{arrays::Target, case::Case, spot, subscript::Explained};
use crate::words::{self, code};
use fillers::Filler;
use program::{MemSpace, OpKind};
use simt::check::{AccessKind, BadAccess, Code, CopiedBy, CopyInFlight, MistakeDetails, MistakeGroup, Use};

pub(crate) fn uninitialised(launch: &LaunchContext<'_>, mistake: &MistakeGroup) -> Draft {
    let draft = undefined_value(launch, mistake);
    let stops = |other: &&MistakeGroup| matches!(other.first.code(), Code::Misaligned | Code::Trap | Code::Assert);
    match launch.mistakes.iter().find(stops) {
        Some(other) => {
            let line = launch.line_name(draft.instr.unwrap_or(mistake.first.instr), other.first.instr);
            draft.on_gpu(format!("the kernel stops with the error at {line}, and may not get here."))
        }
        None => draft,
    }
}

fn undefined_value(launch: &LaunchContext<'_>, mistake: &MistakeGroup) -> Draft {
    let MistakeDetails::Uninitialised { access, load, used, copied, written, fresh, .. } = &mistake.first.details
    else {
        return Draft::new("use of an uninitialised value");
    };
    let (access, load) = (*access, *load);
    let case = Case::of_instr(launch, mistake, access, load);
    let Some(target) = &case.target else { return nowhere(&case) };
    let element = &target.element;
    let name = case.quoted_element(target);
    // If the value is used in the line or the statement that reads it, the title names the array.
    let user = mistake.first.instr;
    let at_once = launch.line(load) == launch.line(user) || spot::same_statement(launch, load, user);
    let title = match used {
        Use::Output { .. } => used_title(*used, &name, *copied),
        _ if at_once => format!("{name} is read before it is written"),
        _ => used_title(*used, &name, *copied),
    };
    let mut draft = match at_once {
        true => Draft { instr: Some(load), ..case.draft(title) },
        false => Draft { array: Some(element.clone()), ..Draft::new(title) },
    };
    let main_instr = draft.instr.unwrap_or(mistake.first.instr);
    let thread_name = launch.thread_name(case.who.block, case.who.thread);
    // The compiler moves a load up to the barrier before it, whose line it then has.
    let barrier =
        launch.loc(load).and_then(|loc| Some(launch.source_of_file(loc.file)?.uses(loc.line, "__syncthreads")));
    let where_to = if barrier.is_some_and(|uses| !uses.is_empty()) { "after" } else { "at" };
    let read =
        if at_once { "Read".to_owned() } else { format!("Read {where_to} {}", launch.line_name(main_instr, load)) };
    // Threads use what a bulk copy has read.
    let is_copy = crate::messages::race::is_copy(launch, load);
    // A copy from shared memory, which no thread has read before.
    let is_store = is_copy && access.space == MemSpace::Shared && at_once;
    let read = match is_copy {
        true if is_store => "Read by a bulk copy that was started".to_owned(),
        true => format!("Loaded by the bulk copy at {}, and used", launch.line_name(main_instr, load)),
        false => read,
    };
    let values = case.explained.as_ref().map(Explained::variable_values).unwrap_or_default();
    // A shuffle may have brought it from the thread that read it.
    let shuffles = launch.inputs.kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Shuffle { .. }));
    let then = if shuffles && case.explained.is_none() && !is_copy { ", and used" } else { "" };
    let reader = match values.is_empty() {
        true => format!("{read}{then} by {thread_name}."),
        false => format!("{read} by {thread_name}: {values}."),
    };
    draft.notes.push(launch.with_others(mistake, reader));
    let copied = copied.filter(|by| *by != CopiedBy::Instr(load));
    draft.notes.extend(path_of_value(launch, main_instr, *used, copied));
    // A computed value is reported where it is stored.
    let is_stored_later = matches!(used, Use::Stored { by } if launch.line(*by) != launch.line(load));
    let global = !matches!(access.space, MemSpace::Shared | MemSpace::Local);
    let late = written.iter().flatten().any(|(from, to)| (*from..*to).contains(&access.address));
    draft.notes.extend(written.as_deref().map(|written| match (late, global) {
        (true, _) => "It was written after this read.".to_owned(),
        (_, true) => written_note(target, written, " before this launch"),
        _ if at_once && !is_stored_later => written_note(target, written, " by then"),
        _ => written_note(target, written, " by the time of this use"),
    }));
    let fillers = fillers::fillers(&case, target, main_instr);
    let any = written.as_ref().is_none_or(|written| written.iter().any(|(from, to)| from < to));
    let compound = case.launch.uses(case.instr, &element.name, AccessKind::Read).iter().any(|found| found.stored)
        || access.kind == AccessKind::Atomic;
    if let Some(explained) = case.explained.as_ref().filter(|e| e.leaves_its_row(&element.dims)) {
        return draft
            .why(format!(
                "{} is past the end of its row, and lies where {} does.",
                explained.indexed(&element.name),
                target.indexed(),
            ))
            .on_gpu("the element holds a left-over value, which differs from run to run.");
    }
    match access.space {
        MemSpace::Shared | MemSpace::Local => {
            draft.why = fillers.first().map(Filler::reason);
            let condition = fillers.first().and_then(Filler::condition);
            let adds = launch.clean_line(case.instr).is_some_and(|text| text.contains("+="));
            let zero = if adds { " (0 adds nothing)" } else { "" };
            let unless = condition.map(|(_, text)| format!(", also where {} is false{zero}", code(&text)));
            let (name, unless) = (&element.name, unless.unwrap_or_default());
            draft.advice = Some(match (any, access.space) {
                (true, MemSpace::Shared) if late && element.dims.len() == 3 => {
                    draft.why = Some("what is read here is written only after this line has read it.".into());
                    format!(
                        "if the first index of {name} chooses a buffer, read the one that was filled before: change the \
                         index only after the last read of a round."
                    )
                }
                (true, MemSpace::Shared) if late => {
                    draft.why = None;
                    format!(
                        "write every element of {name} before this read; where another thread writes it, with a \
                         __syncthreads() between."
                    )
                }
                (true, MemSpace::Shared) if fillers::have_exited(launch) => {
                    let more = match unless.is_empty() {
                        true => String::new(),
                        false => format!(" If it stays, write every element of {name} before it is read{unless}."),
                    };
                    format!("let no thread return before {name} is filled: put the condition on the other work.{more}")
                }
                (true, _) => format!("write every element of {name} before it is read{unless}."),
                (false, MemSpace::Shared) if launch.has_bulk_loads() => format!(
                    "if a bulk copy fills {name}, wait for the phase of its mbarrier before this line. Otherwise fill it, \
                     and add __syncthreads() before the first read."
                ),
                (false, MemSpace::Shared) => format!("fill {name} and add __syncthreads() before the first read."),
                (false, _) => format!("give {name} its values before the first read."),
            });
            if is_store {
                draft = draft.why("a bulk copy reads its whole source region, initialised or not.").advice(format!(
                    "let threads write all of {name} that the copy reads, execute fence.proxy.async, and pass a barrier \
                     before one of them starts the copy."
                ));
            } else if access.space == MemSpace::Shared && launch.has_bulk_loads() {
                draft.why = fresh.map(|barrier| passed_fresh(launch, main_instr, barrier, &element.name));
            } else if let [filler] = &fillers[..]
                && let Some(reason) = filler.out_of_reach().or_else(|| filler.unfinished(written.as_deref()?))
            {
                draft = draft.reason(reason);
            } else if access.space == MemSpace::Local
                && any
                && let Some(reason) = fillers::not_shared(&fillers)
            {
                draft = draft.reason(reason);
            }
            draft.on_gpu = Some("the element holds a left-over value, which differs from run to run.".into());
        }
        _ => {
            let element_name = &element.name;
            if let Some(reason) = launch.strange_argument() {
                draft = draft.reason(reason);
            } else if compound {
                draft.why = Some(format!("this line updates {element_name}, and so reads it first."));
                draft.advice = Some(match access.kind {
                    AccessKind::Atomic => {
                        format!("set {element_name} to its first value (0 for a sum) before the launch (memset).")
                    }
                    _ => format!("set {element_name} to 0 before the launch (memset), or assign with `=`."),
                });
            } else {
                if !any {
                    draft.why = Some(format!(
                        "no copy, no memset and no earlier kernel has written to {element_name} since it was \
                         allocated."
                    ));
                }
                draft.advice = Some(format!("copy the input to {element_name} (or memset it) before the launch."));
            }
            draft.on_gpu = Some("the element holds whatever was stored in this memory before.".into());
        }
    }
    draft
}

/// Returns the reason where bulk copies fill an array, and the reading thread passed a wait before any phase completed.
fn passed_fresh(launch: &LaunchContext<'_>, main_instr: u32, barrier: u32, array: &str) -> String {
    format!(
        "no copy to this element had been started then. This thread waited for parity 1 of {}, which a newly \
         initialised mbarrier already satisfies: phase 0 has parity 0. If that phase fills {array}, let the \
         first wait name parity 0.",
        crate::messages::phases::barrier_name(launch, main_instr, barrier)
    )
}

/// Returns the title about a use of the value on another line.
fn used_title(used: Use, name: &str, copied: Option<CopiedBy>) -> String {
    let state = match copied {
        Some(CopiedBy::Unknown) => "which holds no defined value",
        _ => "which has not been written",
    };
    let value_of = match used {
        Use::Output { .. } => " a value of",
        _ => "",
    };
    format!("{}{value_of} {name}, {state}", use_of(used))
}

fn use_of(used: Use) -> &'static str {
    match used {
        Use::Address => "an address depends on",
        Use::Condition => "a condition depends on",
        Use::Control => "a lane or barrier number depends on",
        Use::Atomic => "an atomic update uses",
        Use::Printed => "`printf` prints",
        Use::Stored { .. } => "arithmetic uses",
        Use::Output { .. } => "the host copies back",
    }
}

/// Drafts the message of `E-UNINIT` about a register.
pub(crate) fn unset(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, (used, by): (Use, u32), copied: Option<CopiedBy>,
) -> Draft {
    let main_instr = mistake.first.instr;
    let is_mma = { launch.ops(main_instr) }.any(|op| matches!(op, OpKind::Mma(_) | OpKind::Wgmma(_)));
    let computed = matches!(used, Use::Stored { .. }) || by != main_instr;
    let use_text = match (is_mma, computed) {
        (true, _) => "an MMA uses",
        (false, true) => "arithmetic uses",
        (false, false) => use_of(used),
    };
    let mut draft =
        Draft::new(format!("{use_text} an uninitialised variable")).without_caret().note(launch.first_thread(mistake));
    draft.notes.extend(path_of_value(launch, main_instr, used, copied));
    if !matches!(used, Use::Stored { .. }) && launch.line(by) != launch.line(main_instr) {
        let line = launch.line_name(main_instr, by);
        draft.notes.push(match used {
            Use::Printed => format!("The result is printed at {line}."),
            _ => format!("An atomic update at {line} uses the result."),
        });
    }
    let (why, advice) = match is_mma {
        true => (
            "the MMA has an operand or its accumulators in registers to which nothing was written between \
             the start of the kernel and this line.",
            "set accumulators to 0 where they are declared (`float d[4] = {};`, `wmma::fill_fragment(d, \
             0.0f);`). The first `wgmma` can ignore them instead (scale-d 0). Load operands before the MMA.",
        ),
        false => (
            match launch.inputs.kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Shuffle { .. })) {
                true => {
                    "no assignment to it lies on the way from the start of the kernel to this line, in this thread or \
                         in one that it reads from by a shuffle."
                }
                false => "no assignment to it lies on the way from the start of the kernel to this line.",
            },
            "give the variable a value where it is declared: `= 0`, or `= {}` for an array.",
        ),
    };
    draft.why(why).advice(advice).on_gpu(
        "the register holds a left-over value: often 0, until the compiler uses the register for something \
         else first.",
    )
}

/// Returns the lines on where the value went between the read and the use, and after.
fn path_of_value(launch: &LaunchContext<'_>, main_instr: u32, used: Use, copied: Option<CopiedBy>) -> Option<String> {
    let shown = launch.line(main_instr);
    let mut parts = Vec::new();
    match copied {
        Some(CopiedBy::Unknown) => parts.push("A copy of an uninitialised value was stored there before.".to_owned()),
        Some(CopiedBy::Instr(by)) if launch.line(by) != shown => {
            parts.push(format!("A copy went through memory at {}.", launch.line_name(main_instr, by)));
        }
        _ => {}
    }
    if let Use::Stored { by } = used
        && launch.line(by) != shown
    {
        // The line in the file of the use from which calls lead there.
        let own = launch.frames(by).into_iter().find(|loc| loc.file == shown.0);
        let line =
            own.map_or_else(|| launch.line_name(main_instr, by), |loc| launch.numbered(main_instr, loc.file, loc.line));
        parts.push(format!("The result is stored at {line}."));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Drafts the `E-UNINIT` of a read from the destination of an asynchronous copy, without a wait for that copy.
pub(crate) fn in_flight(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, access: BadAccess, load: u32, copy: CopyInFlight,
) -> Draft {
    let case = Case::of_instr(launch, mistake, access, load);
    let name = case.target.as_ref().map(|target| case.quoted_element(target));
    let name = name.unwrap_or_else(|| "shared memory".to_owned());
    let mut draft = case.draft(format!("{name} is read before the asynchronous copy to it is done"));
    draft.instr = Some(load);
    let reader = case.who.thread;
    let line = launch.line_name(load, copy.instr);
    let copier = match u64::from(copy.thread) == reader {
        true => "the same thread".to_owned(),
        false => format!("thread {}", launch.thread_position(u64::from(copy.thread))),
    };
    let place = launch.place(copy.instr);
    let elsewhere = launch.elsewhere(load, copy.instr);
    draft.verbatim.push(format!("the copy was started by {copier}{elsewhere}:"));
    draft.verbatim.push(place.listed());
    let thread_name = launch.thread_name(case.who.block, reader);
    draft.notes.push(launch.with_others(mistake, format!("Read by {thread_name}.")));
    if let Some(phase) = copy.phase {
        return crate::messages::phases::not_waited(launch, draft, load, phase);
    }
    // The words of the program: intrinsics, or PTX.
    let text = |instr: u32| launch.source_of(instr).is_some_and(|source| source.contains("__pipeline_"));
    let intrinsics = text(copy.instr) || text(case.instr);
    let wait = |n: u32| match intrinsics {
        true => format!("__pipeline_wait_prior({n})"),
        false => format!("`cp.async.wait_group\u{a0}{n}`"),
    };
    let commit = if intrinsics { "__pipeline_commit()".to_owned() } else { code("cp.async.commit_group") };
    let call = if intrinsics { "call" } else { "execute" };
    let behind = copy.behind.unwrap_or(0);
    if copy.left.is_none() && launch.has_phases() {
        return draft
            .why(
                "the copy goes on while the thread does other things. An arrival at an mbarrier waits for \
                  the copies of its thread only if it is `cp.async.mbarrier.arrive`.",
            )
            .advice(format!(
                "let the copying thread arrive by `cp.async.mbarrier.arrive.noinc` after {line}, and let \
                 this thread wait for that phase of the mbarrier. Instead of this arrival, the copying \
                 thread can wait for its copies ({}) and then arrive.",
                wait(0),
            ))
            .on_gpu("the old value or the new one is read, depending on timing.");
    }
    let steps = match (copy.behind, copy.left) {
        (None, Some(_)) => {
            draft.why = Some(format!(
                "the copy belongs to no group yet: a wait is only for groups that were committed before it \
                 ({commit})."
            ));
            format!("{call} {commit} after {line}, then {}", wait(0))
        }
        (Some(_), Some(left)) => match copy.behind_then {
            Some(then) => {
                draft.why = Some(format!(
                    "the thread that started it waited with {}, which leaves the last {} in flight; {} \
                     committed after the one of this copy.",
                    wait(left),
                    words::count(u64::from(left), "group"),
                    match then {
                        0 => "no group had been".to_owned(),
                        1 => "one group had been".to_owned(),
                        n => format!("{n} groups had been"),
                    },
                ));
                format!("{call} {} instead", wait(then))
            }
            None => {
                draft = draft.why("the thread that started it has not waited since it committed the copy's group.");
                format!("{call} {}", wait(behind))
            }
        },
        (behind_known, None) => {
            draft = draft
                .why("the copy goes on while the thread does other things, and __syncthreads() does not wait for it.");
            match behind_known {
                None => format!("{call} {commit} after {line}, then {}", wait(0)),
                Some(_) => format!("{call} {}", wait(behind)),
            }
        }
    };
    draft
        .advice(match u64::from(copy.thread) == reader {
            true => format!("{steps}, before this line."),
            false => format!("{steps} in the copying thread, then __syncthreads(), before this line."),
        })
        .on_gpu("the old value or the new one is read, depending on timing.")
}

/// Elements of the largest array of which missing rows and columns are looked for.
const MAX_LISTED: u64 = 1 << 18;
/// Elements that are named where no others are missing.
const MAX_MISSING: u64 = 4;

/// Returns a sentence on the part that was written `when`: `128 of the 256 elements of tile had been written by then:
/// rows 0..7.`
fn written_note(target: &Target, written: &[(u64, u64)], when: &str) -> String {
    let element = &target.element;
    let (name, n, spans) = (&element.name, element.n_elements, fillers::spans(target, written));
    let done: u64 = spans.iter().map(|(from, to)| to - from).sum();
    if done == 0 {
        return format!("No element of {name} ({}) had been written{when}.", target.size());
    }
    if done == n {
        return format!("All {n} elements of {name} had been written{when}.");
    }
    let head = format!("{done} of the {n} elements of {name} had been written{when}");
    if n - done <= MAX_MISSING {
        let is_missing = |at: &u64| spans.iter().all(|(from, to)| !(from..to).contains(&at));
        let missing: Vec<String> = (0..n).filter(is_missing).map(|at| target.element_at(at as i64)).collect();
        return format!("{head}: all but {}.", words::list(&missing));
    }
    if let [_, columns] = element.dims[..]
        && columns > 0
        && spans.iter().all(|(from, to)| from % columns == 0 && to % columns == 0)
    {
        let rows = spans.iter().flat_map(|(from, to)| from / columns..to / columns);
        return format!("{head}: rows {}.", words::ranges(rows));
    }
    if let [rows, columns] = element.dims[..]
        && (spans.len() > 4 || 2 * done > n)
        && rows.checked_mul(columns) == Some(n.min(MAX_LISTED))
    {
        let mut is_written = vec![false; n as usize];
        spans.iter().for_each(|(from, to)| is_written[*from as usize..*to as usize].fill(true));
        let is_empty = |first: u64, step: u64, n: u64| (0..n).all(|i| !is_written[(first + i * step) as usize]);
        let no_row: Vec<u64> = (0..rows).filter(|row| is_empty(row * columns, 1, columns)).collect();
        let no_column: Vec<u64> = (0..columns).filter(|column| is_empty(*column, columns, rows)).collect();
        if let Some((what, none)) =
            [("row", no_row), ("column", no_column)].into_iter().find(|(_, none)| !none.is_empty())
        {
            let s = if none.len() == 1 { "" } else { "s" };
            return format!("{head}: none of {what}{s} {}.", words::ranges(none.into_iter()));
        }
    }
    if spans.len() <= 4 {
        let parts: Vec<String> = spans
            .iter()
            .map(|(from, to)| if from + 1 == *to { format!("[{from}]") } else { format!("[{from}..{}]", to - 1) })
            .collect();
        return format!("{head}: {}.", words::list(&parts));
    }
    format!("{head}, in {} pieces.", spans.len())
}

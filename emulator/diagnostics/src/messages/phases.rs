//! Messages about phases of mbarriers: waits that never return (`E-BARRIER`), reads before the phase of a bulk copy
//! (`E-UNINIT`), and missing proxy fences (`E-PROXY`).

use super::cluster::rank_of;
use super::sync::{group_name, list_groups, thread_count, threads};
use crate::finding::Action;
use crate::launch_context::{Draft, LaunchContext, Reason};
use crate::words::count;
use program::MemSpace;
use simt::check::{AccessKind, BarrierGroup, MistakeGroup, PhaseOfCopy, PhaseWaits, Waited};

/// Size of an `mbarrier`, in bytes.
const BYTES: u32 = 8;

/// Returns the mbarrier as the program names it, `` `full[1]` ``, or its address.
pub(crate) fn barrier_name(launch: &LaunchContext<'_>, instr: u32, offset: u32) -> String {
    let target = launch.target(instr, MemSpace::Shared, offset.into(), BYTES, AccessKind::Atomic);
    match target.filter(|target| target.named) {
        Some(target) if target.element.element_bytes == BYTES => format!("`{}`", target.indexed()),
        _ => format!("the mbarrier at address {offset:#x} of shared memory"),
    }
}

/// Drafts the message of `E-BARRIER` where phases of mbarriers never complete.
pub(crate) fn deadlock(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, waits: &[PhaseWaits], others: &[BarrierGroup],
) -> Draft {
    let Some(first) = waits.first() else { return Draft::new("threads wait forever") };
    let main_instr = mistake.first.instr;
    let n_cluster: u64 = launch.cluster().iter().product();
    let name = |wait: &PhaseWaits| barrier_name(launch, wait.group.instr, wait.offset);
    let waiting: u64 = waits.iter().map(|wait| thread_count(&wait.group)).sum();
    let total: u64 = waiting + others.iter().map(thread_count).sum::<u64>();
    let mut draft = Draft::new(deadlock_title(&name(first), first, waiting, total));
    draft.no_listing = true;
    let mut told = Vec::new();
    for wait in waits {
        let verb = if thread_count(&wait.group) == 1 { "waits" } else { "wait" };
        let parity = wait.parity.map(|parity| format!(" (parity {parity})")).unwrap_or_default();
        let intro = format!(
            "{} {verb} for phase {}{parity} of {}, {}:",
            group_name(launch, &wait.group),
            wait.ended,
            name(wait),
            launch.line_name(main_instr, wait.group.instr),
        );
        draft.verbatim.push(intro.replace('\u{a0}', " "));
        draft.verbatim.push(launch.place(wait.group.instr).listed());
        draft.verbatim.extend(launch.calls(main_instr, wait.group.instr));
        if !told.contains(&wait.offset) {
            told.push(wait.offset);
            draft.notes.push(state(&name(wait), wait));
        }
    }
    list_groups(&mut draft, launch, main_instr, others, &vec![None; others.len()]);
    let rank = match n_cluster {
        1 => String::new(),
        _ => format!(", which has rank {} in its cluster", rank_of(launch, mistake.first.block)),
    };
    draft.notes.extend(launch.in_block(mistake, &rank));
    draft.others = { waits.iter().skip(1).map(|wait| &wait.group).chain(others) }
        .map(|group| {
            let thread = threads(group).next().unwrap_or(0);
            launch.party(Action::Wait, group.instr, mistake.first.block, thread, thread_count(group))
        })
        .collect();
    draft
        .reason(deadlock_reason(&name, first, waits, n_cluster != 1))
        .on_gpu("the kernel hangs; on a GPU that drives a display it is killed (\"launch timed out\").")
}

/// What keeps a phase from completing.
enum Blocked {
    /// Threads wait for a parity that has come back since.
    Missed,
    /// The phase expects more bytes than its copies deliver.
    LacksBytes,
    /// Copies delivered more bytes than the phase expects.
    ExtraBytes,
    Arrivals,
}

impl Blocked {
    fn from_wait(wait: &PhaseWaits) -> Self {
        match wait {
            _ if wait.has_missed() => Self::Missed,
            _ if wait.pending == 0 && wait.bytes > 0 => Self::LacksBytes,
            _ if wait.bytes < 0 => Self::ExtraBytes,
            _ => Self::Arrivals,
        }
    }
}

fn deadlock_title(name: &str, first: &PhaseWaits, waiting: u64, total: u64) -> String {
    let bytes = count(first.bytes.unsigned_abs(), "byte");
    match Blocked::from_wait(first) {
        Blocked::Missed => {
            format!("{waiting} of {total} threads wait forever: some of them have missed phases of {name}")
        }
        Blocked::LacksBytes => format!("{name} expects {bytes} that no copy delivers"),
        Blocked::ExtraBytes if first.pending == 0 => {
            format!("copies delivered {bytes} more to {name} than its phase expects")
        }
        Blocked::ExtraBytes | Blocked::Arrivals => {
            format!("{waiting} of {total} threads wait forever for phases that do not complete")
        }
    }
}

fn deadlock_reason(
    name_of: &dyn Fn(&PhaseWaits) -> String, first: &PhaseWaits, waits: &[PhaseWaits], in_cluster: bool,
) -> Reason {
    let name = &name_of(first);
    // A thread waits for the first time, in a phase without any arrival, while others wait elsewhere.
    let is_fresh =
        |wait: &PhaseWaits| wait.ended == 0 && wait.pending == wait.arrivals && wait.parity == Some(0) && wait.never;
    let at_start = waits.len() > 1 && waits.iter().any(is_fresh);
    let skips = |wait: &&PhaseWaits| wait.never && wait.ended > 0 && wait.parity.is_some();
    let is_part = |wait: &&PhaseWaits| (1..wait.arrivals).contains(&wait.pending);
    match Blocked::from_wait(first) {
        Blocked::Missed => Reason::new(
            format!(
                "when a thread here last passed a wait for {name}, {}; now {1} have. A wait names a parity, \
                 and phase {2} has the same parity as phase {1}.",
                match first.seen {
                    None | Some(0) => "no phase of it had completed".to_owned(),
                    Some(n) => format!("{} of it had completed", count(n, "phase")),
                },
                first.ended,
                first.ended - 2
            ),
            if first.arrivers > first.arrivals {
                "let mbarrier.init count all threads that arrive in one phase. If each of them should \
                 complete a phase, let it wait until all have passed the wait for the phase before."
            } else {
                "let the threads that complete the next phase wait until all threads have passed the wait \
                 for this one, at a second mbarrier at which those arrive (its parity changes each round). \
                 __syncthreads() also works."
            },
        ),
        Blocked::LacksBytes => Reason::new(
            "all arrivals of the phase are in, and it completes only when as many bytes have arrived as \
             mbarrier.arrive.expect_tx or mbarrier.expect_tx announced.",
            if in_cluster {
                "announce the sum of the bytes of all copies of the phase. A box counts in full in each \
                 block that receives it, even where it lies outside the tensor. Let a copy to several \
                 blocks (.multicast::cluster) name each of them in its mask."
            } else {
                "announce the sum of the bytes of all copies of the phase. A box counts in full, even \
                 where it lies outside the tensor."
            },
        ),
        Blocked::ExtraBytes => Reason::new(
            "bytes may arrive before they are expected, but a phase completes only when as many were \
             announced as arrived.",
            "announce the sum of the bytes of all copies of the phase, with mbarrier.arrive.expect_tx.",
        ),
        Blocked::Arrivals if let Some(wait) = waits.iter().find(skips) => Reason::new(
            format!(
                "the first wait here for {} names parity {}, that of phase {}, which has not completed; phase {}, which \
                 has, has the other parity.",
                name_of(wait),
                wait.ended % 2,
                wait.ended,
                wait.ended - 1
            ),
            "count the parity for each mbarrier: it changes from one wait for it to the next. In a ring of several, that \
             is once a turn, not with each element.",
        ),
        Blocked::Arrivals if let Some(wait) = waits.iter().find(is_part) => Reason::new(
            format!(
                "mbarrier.init has {} count {}. {} came; the others would have to come from threads that wait \
                 themselves, or have exited.",
                name_of(wait),
                count(wait.arrivals.into(), "arrival"),
                wait.arrivals - wait.pending
            ),
            format!(
                "if no more than {0} arrive in each phase, let mbarrier.init count {0}; otherwise let all arrive at it before \
                 they wait.",
                wait.arrivals - wait.pending
            ),
        ),
        Blocked::Arrivals => Reason::new(
            "a phase completes when all its arrivals and bytes are in. The missing ones would have to come \
             from threads that wait themselves, or have exited.",
            if at_start {
                "if one of them stands for a slot that is free at the start, let the first wait for it name \
                 parity 1: a newly initialised mbarrier satisfies it."
            } else {
                "let as many threads arrive in each phase as mbarrier.init says, and let no thread wait \
                 before the arrival that another thread needs."
            },
        ),
    }
}

/// Returns a sentence on what has arrived at an mbarrier.
fn state(name: &str, wait: &PhaseWaits) -> String {
    let arrived = wait.arrivals.saturating_sub(wait.pending);
    let arrivals = match arrived {
        _ if wait.arrivals == 1 && arrived == 0 => "its only arrival is missing".to_owned(),
        _ if wait.arrivals == 1 => "its only arrival is in".to_owned(),
        0 => format!("none of its {} is in", count(wait.arrivals.into(), "arrival")),
        n if wait.pending == 0 => format!("all of its {} are in", count(n.into(), "arrival")),
        1 => format!("1 of its {} is in", count(wait.arrivals.into(), "arrival")),
        n => format!("{n} of its {} are in", count(wait.arrivals.into(), "arrival")),
    };
    let bytes = match wait.bytes {
        0 => String::new(),
        n if n > 0 => {
            let missing = format!(", and it waits for {}", count(n.unsigned_abs(), "byte"));
            match wait.in_flight {
                0 => format!("{missing}; no copy to it is in flight"),
                n => format!("{missing}; copies of {} are in flight", count(n, "byte")),
            }
        }
        n => format!(", and {} that it does not expect", count(n.unsigned_abs(), "byte")),
    };
    let more = if wait.arrivers > wait.arrivals {
        format!(
            " So far {} have arrived at it, and a phase completes after {}.",
            count(wait.arrivers.into(), "thread"),
            count(wait.arrivals.into(), "arrival")
        )
    } else {
        String::new()
    };
    format!("Phase {} of {name}: {arrivals}{bytes}.{more}", wait.ended)
}

/// Returns the reason that a phase completed without a copy that belongs to it.
pub(crate) fn ended_without(name: &str, phase: PhaseOfCopy, copy: &str) -> Reason {
    let arrived = count(phase.brought, "byte");
    let all = match phase.started {
        0 => "more".to_owned(),
        n => count(n, "byte"),
    };
    Reason::new(
        format!(
            "{copy} was started in phase {} of {name}, which has completed without it: the phase completed \
             when {arrived} had arrived, and its copies deliver {all}.",
            phase.number
        ),
        "announce the sum of the bytes of all copies of the phase, with mbarrier.arrive.expect_tx. A box \
         counts in full, even where it lies outside the tensor, and so does what other blocks of a cluster \
         copy to this one.",
    )
}

/// Effect of a read that nothing orders with the copy to what it reads.
pub(crate) const EITHER: &str = "the old value or the new one is read, depending on timing.";

/// Adds the reason that a read came before the bulk copy to what it reads.
pub(crate) fn not_waited(launch: &LaunchContext<'_>, draft: Draft, load: u32, phase: PhaseOfCopy) -> Draft {
    let name = barrier_name(launch, load, phase.offset);
    let number = phase.number;
    if phase.ended > number {
        return draft.reason(ended_without(&name, phase, "the copy")).on_gpu(EITHER);
    }
    let belongs = format!("the copy belongs to phase {number} of {name}, which completes when its bytes have arrived");
    let for_readers = "start the copy only after all threads have read that: let the copying thread wait for \
                       a second mbarrier, at which the readers arrive";
    draft.on_gpu(EITHER).reason(match phase.waited {
        None => Reason::new(
            format!("{belongs}, and this thread has not waited for it."),
            "wait for the phase (mbarrier.try_wait) before this line, in each thread that reads. Or let one \
             thread wait before a __syncthreads().",
        ),
        Some(Waited { ended, times, parity: Some(parity) }) if ended == number && (times > 1 || number == 0) => {
            Reason::new(
                match number {
                    0 => format!(
                        "{belongs}. This thread waited for parity {parity}, which a newly initialised mbarrier \
                     already satisfies."
                    ),
                    _ => format!(
                        "{belongs}. This thread waited for parity {parity}, which phase {} has too, and that \
                     phase had completed.",
                        number - 1
                    ),
                },
                "change the parity with each phase of the mbarrier: phase 0 has parity 0, phase 1 has parity 1, \
             phase 2 has parity 0 again.",
            )
        }
        Some(Waited { ended, .. }) if ended == number && number > 0 && phase.brought == 0 => Reason::new(
            format!(
                "{belongs}. This thread has waited for phase {} only, which completed without any bytes: all \
                 of its arrivals were in, and no bytes were announced.",
                number - 1
            ),
            "announce the bytes before the last arrival of the phase, or with it: mbarrier.arrive.expect_tx.",
        ),
        Some(Waited { ended, .. }) if ended == number && number > 0 => Reason::new(
            format!(
                "{belongs}. This thread has waited for phase {} only, and the new bytes go where the old \
                 ones are.",
                number - 1
            ),
            format!(
                "if this line reads what phase {number} delivers, wait for that phase first. If it reads \
                 what phase {} delivered, {for_readers}.",
                number - 1
            ),
        ),
        Some(_) => Reason::new(
            format!("{belongs}, and this thread has not waited for it."),
            format!("wait for phase {number} before this line. If it reads what was there before, {for_readers}."),
        ),
    })
}

/// Drafts the message of `E-PROXY`.
pub(crate) fn no_fence(launch: &LaunchContext<'_>, mistake: &MistakeGroup, address: u64) -> Draft {
    let what = launch.name_in_shared(mistake.first.instr, address, 4, AccessKind::Read);
    let (reader, short, all) = if launch.mnemonic(mistake.first.instr).starts_with("wgmma") {
        ("`wgmma`", "`wgmma`", "`wgmma` accesses")
    } else {
        ("bulk copy", "copy", "bulk copies access")
    };
    Draft::new(format!("a {reader} reads what ordinary stores wrote, without `fence.proxy.async` in between"))
        .without_caret()
        .note(format!(
            "An ordinary store wrote {what}, which the {short} reads, and no thread of the block has \
             executed `fence.proxy.async`.",
        ))
        .note(launch.first_thread(mistake))
        .why(format!(
            "{all} shared memory through the async proxy, ordinary loads and stores through the generic \
             proxy; a barrier orders threads, not proxies.",
        ))
        .advice(format!(
            "let each thread that stored execute `fence.proxy.async.shared::cta`, then __syncthreads(), and \
             then start the {short}.",
        ))
        .on_gpu(format!("the {short} may read old values, depending on timing."))
}

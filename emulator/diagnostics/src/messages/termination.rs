//! Messages about kernels that never end (`E-LOOP`) or stop themselves (`E-TRAP`, `E-ASSERT`), and invalid operands
//! (`E-OPERAND`).

use std::num::NonZeroU64;

use super::bounds::unsigned_countdown;
use crate::launch_context::{Around, Draft, LaunchContext, Reason, first_thread};
use crate::source::{Source, text::words};
use crate::words::{code, grouped, list};
use program::limits::{CUT_LINE, WARP_COST};
use program::{BARRIERS, MemSpace, OpKind};
use simt::check::{AccessKind, BadOperand, KnownOfLoop, MistakeDetails, MistakeGroup, ThreadId};
use simt::occupancy::SMS;

/// Memory that a loop reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    Nothing,
    /// Memory that no other thread writes.
    Own,
    Others,
}

impl Reads {
    fn of(kind: &OpKind) -> Self {
        match kind {
            OpKind::Load(a) if matches!(a.space, MemSpace::Param | MemSpace::Const | MemSpace::Local) => Self::Own,
            OpKind::Load(_) | OpKind::Atomic(_) => Self::Others,
            _ => Self::Nothing,
        }
    }
}

/// Drafts the message of `E-LOOP`.
pub(crate) fn runaway(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, budget: Option<NonZeroU64>, known: KnownOfLoop,
    span: Option<(u32, u32)>,
) -> Draft {
    // The first instruction of the loop that comes from a line.
    let has_line = |instr: &u32| launch.loc(*instr).is_some_and(|loc| loc.line > 0);
    let (start, end) = span.unwrap_or((mistake.first.instr, mistake.first.instr));
    let instr = std::iter::once(mistake.first.instr).chain(start..=end).find(has_line).unwrap_or(mistake.first.instr);
    let around = launch.loops(instr).into_iter().next();
    let shown = around.map(|one| format!("{} ({})", code(&one.enclosure.header), one.name(launch, instr)));
    let budget = budget.map_or(0, NonZeroU64::get);
    let is_endless = matches!(known, KnownOfLoop::Endless | KnownOfLoop::EndlessAlone);
    let mut draft = match is_endless {
        true => Draft::new("this loop never ends"),
        false => Draft::new(format!("the kernel spent its budget of {} thread-instructions", grouped(budget))),
    };
    draft.instr = Some(instr);
    let ThreadId { block, thread } = first_thread(mistake);
    let who = launch.thread_name(block, thread).replacen('t', "T", 1);
    let ops = launch.inputs.kernel.ops.iter().filter(|op| (start..=end).contains(&op.instr));
    let reads = match (known, span) {
        (KnownOfLoop::Endless, _) => Reads::Nothing,
        // Without a loop that is known, it may read anything.
        (_, None) => Reads::Others,
        (_, Some(_)) => ops.map(|op| Reads::of(&op.kind)).max().unwrap_or(Reads::Nothing),
    };
    let repeats = match reads {
        Reads::Nothing => "the values that its end depends on repeat, and no memory is read for them",
        _ => "the values that its end depends on repeat, and no thread can change them",
    };
    draft.notes.push(match (shown, is_endless) {
        (Some(shown), true) => format!("{who} is in {shown}; {repeats}."),
        (Some(shown), false) => format!("{who} was in {shown} when the budget was spent."),
        (None, true) => format!("{who}: {repeats}."),
        (None, false) => format!("{who} was here when the budget was spent."),
    });
    if !is_endless {
        let mut cost =
            "An instruction costs 32 for each warp, however many of its threads execute it; atomic updates, \
                        MMAs, and reads that wait for other threads cost more."
                .to_owned();
        if launch.inputs.kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Printf { .. })) {
            cost += &format!(" A line of printf that is left out costs {}.", grouped(CUT_LINE));
        }
        if span.is_none() {
            cost += &format!(" A warp that begins costs {}.", grouped(WARP_COST));
        }
        draft.notes.push(cost);
    }
    let slow = match launch.inputs.request.options.names.budget {
        Some(variable) => format!(
            "raise the budget: {} is ten times as much, {} is no limit.",
            code(&format!("{variable}={}", budget.saturating_mul(10))),
            code(&format!("{variable}=0"))
        ),
        None => "raise the budget: the program that launches the kernel sets it.".to_owned(),
    };
    let advice = match span {
        Some(_) => format!("check what ends the loop; if it is only slow, {slow}"),
        // All blocks before have ended.
        None => format!("launch fewer blocks, or {slow}"),
    };
    let advice = Some(advice).filter(|_| !is_endless);
    draft = draft.reason(loop_reason(launch, mistake, (instr, reads, known), around, advice));
    let hangs = match (known, span) {
        (KnownOfLoop::Nothing, None) => return draft,
        (KnownOfLoop::Nothing, Some(_)) => "if the loop never ends, the kernel hangs",
        _ => "the kernel hangs",
    };
    // An H200 stops a loop that counts down without end, through its arrays and out of them.
    let is_access = |other: &MistakeGroup| matches!(other.first.details, MistakeDetails::Access { .. });
    let stops = match launch.mistakes.iter().any(is_access) {
        true => "a wrong access may stop the kernel first (\"illegal memory access\"); otherwise ",
        false => "",
    };
    draft.on_gpu(format!("{stops}{hangs}; on a GPU that drives a display it is killed (\"launch timed out\")."))
}

/// Returns the reason that a loop does not end, as far as its text and the arguments tell. `slow` says what to
/// do about one that is only slow.
fn loop_reason(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, (instr, reads, known): (u32, Reads, KnownOfLoop),
    around: Option<Around<'_>>, slow: Option<String>,
) -> Reason {
    if let Some(reason) = launch.strange_argument() {
        return reason;
    }
    let found = around.and_then(|one| Some((one, launch.source_of_file(one.file)?)));
    let Some((around, source)) = found else { return Reason { why: None, advice: slow } };
    let step =
        around.enclosure.header.strip_suffix(')').and_then(|header| header.split(';').nth(2)).unwrap_or_default();
    if step.contains(" + ") && !step.contains(['=', ',', '(']) {
        let step = step.trim();
        return Reason::new(
            format!("{} computes a sum and changes nothing.", code(step)),
            format!("add to the counter: {}.", code(&step.replacen(" + ", " += ", 1))),
        );
    }
    let inside = around.enclosure.inside();
    if let Some(parts) = around.enclosure.for_parts() {
        let [init, condition, step] = parts;
        if let Some((variable, by)) = step.split_once("+=").or_else(|| step.split_once("-="))
            && launch.evaluate(instr, by, first_thread(mistake)) == Some(0)
        {
            let (variable, by) = (variable.trim(), by.trim());
            return Reason::new(
                format!("{by} is 0, so {variable} never changes."),
                format!("give {by} a value above 0 at the launch, and check it on the host."),
            );
        }
        let below_zero = condition.strip_suffix('0').and_then(|left| left.trim_end().strip_suffix(">=")).map(str::trim);
        if let Some(variable) = unsigned_countdown(parts) {
            return Reason::new(
                format!("{variable} is unsigned: {} always holds.", code(condition)),
                format!("count with a signed {variable}."),
            );
        }
        let operator = |text: &'static str| step.split_once(text).map(|(variable, _)| variable.trim());
        let halves = operator("/=").or_else(|| operator(">>="));
        if let Some(variable) = halves.filter(|variable| below_zero == Some(variable)) {
            return Reason::new(
                format!("{variable} stays 0 once it is 0, and {} holds for 0.", code(condition)),
                format!("go on while {}.", code(&format!("{variable} > 0"))),
            );
        }
        let doubles = operator("*=").or_else(|| operator("<<="));
        let starts_at_0 = init.split_once('=').is_some_and(|(_, value)| value.trim() == "0");
        if let Some(variable) = doubles.filter(|_| starts_at_0) {
            return Reason::new(
                format!("{variable} starts at 0, and {} leaves it 0.", code(step)),
                format!("start with {variable} = 1."),
            );
        }
        return Reason { why: None, advice: slow };
    }
    // Memory that another thread is to change, or an atomic.
    let memory = inside.contains(['*', '[', '(']) || words(inside).any(|(_, word)| source.in_memory(word));
    if memory && reads == Reads::Nothing {
        return reads_nothing(inside);
    }
    let unchanged = source.unchanged_in_loop(around.enclosure);
    if !unchanged.is_empty() {
        let names = list(&unchanged);
        return Reason::new(
            format!("nothing in the loop changes {names}, which its condition tests."),
            format!(
                "change {} in the loop, or leave it by another condition.",
                if unchanged.len() == 1 { names } else { "one of them".into() }
            ),
        );
    }
    if memory {
        return match known {
            KnownOfLoop::Nothing => Reason {
                why: Some("it waits for memory to change, which other threads may still have been about to do.".into()),
                advice: slow,
            },
            _ if reads < Reads::Others && !matches!(known, KnownOfLoop::OthersWait { .. }) => Reason::default(),
            _ => Reason { why: Some(nothing_changes(launch)), advice: None },
        };
    }
    Reason { why: Some(format!("{} holds in every round.", code(inside))), advice: slow }
}

/// Returns the reason of a loop in which the compiler left nothing to read.
pub(crate) fn reads_nothing(test: &str) -> Reason {
    Reason::new(
        format!(
            "the loop reads nothing: the compiler reads what {} tests once, before it, because nothing says that another \
             thread may change it.",
            code(test)
        ),
        "read it in each round: by a pointer to `volatile`, or an atomic load (`ld.acquire`, cuda::atomic_ref).",
    )
}

/// Returns what the loop reads at which the launch stopped, and what all other threads do.
pub(crate) fn nothing_changes(launch: &LaunchContext<'_>) -> String {
    let waits = |mistake: &MistakeGroup| match mistake.first.details {
        MistakeDetails::Runaway { known: KnownOfLoop::OthersWait { ended, polled }, .. } => {
            Some((mistake.first.instr, ended, polled))
        }
        _ => None,
    };
    let Some((instr, ended, polled)) = launch.mistakes.iter().find_map(waits) else {
        return "what the condition reads stays as it is: no thread is left that would change it.".into();
    };
    let target = polled.and_then(|p| Some((launch.target(instr, p.space, p.address, p.bytes, AccessKind::Read)?, p)));
    let stays = match target.filter(|(target, _)| target.named) {
        Some((target, place)) => format!("`{}` stays {}", target.indexed(), place.value),
        None => "what the condition reads stays as it is".to_owned(),
    };
    let blocks = match (ended, launch.n_blocks()) {
        (_, 1) => String::new(),
        (0, n) => format!("none of the {n} blocks has ended, and "),
        (1, n) => format!("1 of the {n} blocks has ended, and "),
        (_, n) => format!("{ended} of the {n} blocks have ended, and "),
    };
    format!("{stays}: {blocks}all other threads wait at a barrier or for memory to change, or have exited.")
}

/// Drafts the `E-BARRIER` of blocks that wait for one that does not fit on the device with them.
pub(crate) fn not_resident(launch: &LaunchContext<'_>, mistake: &MistakeGroup, resident: u64) -> Draft {
    let ThreadId { block, thread } = first_thread(mistake);
    let who = launch.thread_name(block, thread).replacen('t', "T", 1);
    let request = launch.inputs.request;
    let per_sm = resident / u64::from(SMS);
    Draft::new("all blocks that fit on the device wait, and the others cannot start")
        .note(format!(
            "{who} polls memory here. The {} other blocks that have started wait, too, and nothing changes what they read.",
            resident - 1
        ))
        .note(format!(
            "The launch has {} blocks of {} threads. A device like this runs {} of them at once: {per_sm} on each of its \
             {SMS} multiprocessors.",
            grouped(launch.n_blocks()),
            crate::words::size(request.block),
            grouped(resident),
        ))
        .why(
            "a block starts only when another has ended, and none of these ends before a later one has done its part. A \
             barrier of the whole grid needs all blocks at once.",
        )
        .advice(format!(
            "launch at most {} blocks, and let each do the work of several: \
             cuOccupancyMaxActiveBlocksPerMultiprocessor has the number for one multiprocessor. A cooperative launch \
             (cuLaunchCooperativeKernel) refuses a grid that is too large.",
            grouped(resident)
        ))
        .on_gpu("the kernel hangs; on a GPU that drives a display it is killed (\"launch timed out\").")
}

pub(crate) fn operand(launch: &LaunchContext<'_>, mistake: &MistakeGroup, problem: BadOperand, value: u32) -> Draft {
    let instruction = launch.place(mistake.first.instr).instruction;
    let instruction = code(instruction.trim_end_matches(';'));
    let last = BARRIERS - 1;
    let (title, note, advice, on_gpu) = match problem {
        BadOperand::BarrierNumber => (
            format!("there is no barrier {value}"),
            format!("{instruction} names barrier {value}, and a block has the barriers 0 to {last}."),
            format!("keep the number of the barrier between 0 and {last}."),
            format!(
                "the behaviour is undefined. An H200 uses four bits of the number, which name barrier {}.",
                value % BARRIERS
            ),
        ),
        BadOperand::BarrierThreads => (
            format!("a barrier cannot count {value} threads"),
            match value % 32 {
                _ if value == 0 => format!("{instruction} counts 0 threads."),
                0 => format!("{instruction} counts {value} threads, and a block has 1024 at most."),
                _ => format!("{instruction} counts {value} threads: barriers count whole warps of 32."),
            },
            "give the number of threads that meet here, a multiple of 32.".to_owned(),
            match value {
                ..4096 => "the launch fails with \"an illegal instruction was encountered\".".to_owned(),
                _ => "the behaviour is undefined. An H200 uses twelve bits of the number.".to_owned(),
            },
        ),
        BadOperand::BarrierCounts { other } => (
            format!("threads that meet at a barrier count {value} threads and {other}"),
            format!(
                "{instruction} counts {value} threads, and threads that reached this barrier before count {other}."
            ),
            "give all threads that meet at a barrier the same number, including those that only arrive. \
             Groups that do not meet need barriers of their own."
                .to_owned(),
            "the behaviour is undefined: threads may pass too early, or wait forever.".to_owned(),
        ),
        BadOperand::CopyBytes => (
            format!("a bulk copy of {value} bytes, which is not a multiple of 16"),
            format!("{instruction} copies pieces of 16 bytes."),
            "copy a multiple of 16 bytes, and what is left over with ordinary loads and stores.".to_owned(),
            "the behaviour is undefined; the launch may fail.".to_owned(),
        ),
        BadOperand::BranchIndex { targets } => (
            format!("jump through a table of {targets} targets with the index {value}"),
            format!("{instruction} has no target for the index {value}."),
            format!("test the index against {targets} before the jump."),
            "the kernel jumps to whatever address follows the table; an H200 hung.".to_owned(),
        ),
    };
    Draft::new(title).note(note).note(launch.first_thread(mistake)).advice(advice).on_gpu(on_gpu)
}

pub(crate) fn trap(launch: &LaunchContext<'_>, mistake: &MistakeGroup) -> Draft {
    let instr = mistake.first.instr;
    let mut draft = Draft::new("the kernel stopped itself (`__trap()`)");
    if launch.inputs.request.options.grid_workspace.is_none() && launch.trace().traps_without_workspace(instr) {
        draft.title = "the barrier of a grid in a launch that is not cooperative".into();
        draft = draft
            .note(launch.first_thread(mistake))
            .why(
                "`this_grid().sync()` needs the workspace that a cooperative launch has, and this launch \
                  has none: the library traps.",
            )
            .advice(
                "launch it with cuLaunchCooperativeKernel (cudaLaunchCooperativeKernel), with no more \
                     blocks than the device runs at once.",
            );
        draft.on_gpu = Some("the kernel stops with \"illegal instruction\" or \"unspecified launch failure\".".into());
        return draft;
    }
    draft.notes.push(launch.first_thread(mistake));
    if let Some(names) = stored_constants(launch, instr) {
        draft.title = "the kernel runs into a trap that the compiler made".into();
        let (why, advice) = match names.is_empty() {
            true => (
                "the source has no trap. Compilers put one where what the source says has no defined meaning, such as a \
                 store to `__constant__` memory through a pointer."
                    .to_owned(),
                "look for what the threads that trap do, and for warnings of the compiler.",
            ),
            false => (
                format!(
                    "the source has no trap, and stores to {}, which is `__constant__`: kernels cannot write it, and the \
                     compiler puts a trap in the place of such a store.",
                    list(&names)
                ),
                "let the host write constant memory (cudaMemcpyToSymbol, cuMemcpyHtoD), or declare it `__device__`.",
            ),
        };
        draft = draft.why(why).advice(advice);
    } else if launch.inputs.files.is_empty() && launch.inputs.kernel.instrs.len() <= 2 {
        draft = draft
            .why(
                "the compiler kept nothing of the kernel but this trap. If the source has none, it put it there, as \
                 compilers do where what the source says has no defined meaning: a store to `__constant__` memory, for \
                 one.",
            )
            .advice(
                "if the kernel stores to a `__constant__` array, let the host write it, or declare it `__device__`.",
            );
    }
    let on_gpu = "the kernel stops with \"illegal instruction\" or \"unspecified launch failure\".";
    if draft.why.is_some() {
        return draft.on_gpu(on_gpu);
    }
    let line = launch.place(instr).line;
    if let Some((_, condition)) = launch.source_of(instr).and_then(|source| source.enclosing_condition(line)) {
        let values = values(launch, instr, &condition, first_thread(mistake));
        draft.why = Some(format!("{} is true here{values}.", code(&condition)));
    }
    draft.advice("find out how that value came about; the trap is there to catch it.").on_gpu(on_gpu)
}

/// Returns the `__constant__` variables that the source stores to, `None` if the source may have a trap of its own.
fn stored_constants(launch: &LaunchContext<'_>, instr: u32) -> Option<Vec<String>> {
    let sources: Vec<&Source> =
        launch.inputs.files.iter().filter_map(|(file, _)| launch.source_of_file(*file)).collect();
    if sources.is_empty() || launch.inputs.kernel.machine_code {
        return None;
    }
    let may_trap = |source: &&Source| ["trap", "unreachable", "assert"].iter().any(|word| source.contains(word));
    let has_line = launch.loc(instr).is_some_and(|loc| loc.line > 0);
    let stored = sources.iter().flat_map(|source| source.constants_stored()).collect();
    (!has_line && !sources.iter().any(may_trap)).then_some(stored)
}

pub(crate) fn assertion(launch: &LaunchContext<'_>, mistake: &MistakeGroup, message: &str) -> Draft {
    let instr = mistake.first.instr;
    let mut draft = Draft::new(format!("assertion failed: `{message}`"));
    draft.notes.push(launch.first_thread(mistake));
    let values = values(launch, instr, message, first_thread(mistake));
    draft
        .why(format!("{} is false here{values}.", code(message)))
        .advice("find out how that value came about, or handle it before the assertion.")
        .on_gpu("the assertion prints a line, and the launch fails with \"device-side assert triggered\".")
}

/// Returns the names in a condition that have a known value, in brackets: ` (n = 50)`.
fn values(launch: &LaunchContext<'_>, instr: u32, condition: &str, who: ThreadId) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (_, name) in crate::source::text::words(condition) {
        let part = launch.evaluate(instr, name, who).map(|value| format!("{name} = {value}"));
        if let Some(part) = part
            && !parts.contains(&part)
        {
            parts.push(part);
        }
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

//! Messages about threads that should meet and do not: barriers (`E-BARRIER`, `W-BARRIER`, `W-EXITED`) and lane masks
//! (`E-SYNC-MASK`, `W-SHUFFLE`).

use crate::finding::Action;
use crate::launch_context::{Around, Draft, LaunchContext, first_thread};
use crate::messages::termination;
use crate::source::{Source, statements::Control, text::bracketed};
use crate::words::{self, capital, code, count, plural};
use program::{InstrInfo, text::InstrText, text::split};
use simt::check::{BarrierGroup, BarrierProblem, Mistake, MistakeDetails, MistakeGroup, SyncMask, ThreadId, WrongMask};
use simt::lane_mask::LaneMask;

/// Returns the threads of a group, by their numbers in the block.
pub(crate) fn threads(group: &BarrierGroup) -> impl Iterator<Item = u64> {
    let of_warp =
        |(warp, lanes): (usize, &LaneMask)| lanes.numbers().map(move |lane| warp as u64 * 32 + u64::from(lane));
    group.threads.iter().enumerate().flat_map(of_warp).collect::<Vec<_>>().into_iter()
}

pub(crate) fn thread_count(group: &BarrierGroup) -> u64 {
    group.threads.iter().map(|lanes| u64::from(lanes.count())).sum()
}

/// Returns a barrier as code: `__syncthreads()`, or the instruction of a named barrier.
fn barrier_name(launch: &LaunchContext<'_>, instr: u32) -> String {
    let text = launch.info(instr).map_or("", |info| info.text.as_str());
    let parts = InstrText::new(text);
    match parts.operands[..] {
        ["0"] if parts.mnemonic.starts_with("bar") => "__syncthreads()".into(),
        _ if parts.operands.iter().any(|operand| operand.starts_with('%')) => code(parts.mnemonic),
        _ => code(text.trim_end_matches(';')),
    }
}

/// Returns a group of threads in words, such as `100 threads (0..99)`.
pub(crate) fn group_name(launch: &LaunchContext<'_>, group: &BarrierGroup) -> String {
    match thread_count(group) {
        1 => format!("thread {}", launch.thread_position(threads(group).next().unwrap_or(0))),
        n => format!("{n} threads ({})", words::ranges(threads(group))),
    }
}

/// Returns a group's place in words: its line, or its PTX line where lines do not tell groups apart.
fn where_(launch: &LaunchContext<'_>, main_instr: u32, group: &BarrierGroup, groups: &[BarrierGroup]) -> String {
    let line = launch.line(group.instr);
    let alike = groups.iter().filter(|other| launch.line(other.instr) == line).count();
    let name = launch.line_name(main_instr, group.instr);
    match launch.place(group.instr) {
        place if alike > 1 && place.line > 0 => format!("{name} ({})", place.instruction_place()),
        _ => name,
    }
}

/// Returns the branch or loop around a group's barrier that is not around the others'.
fn apart<'a>(launch: &'a LaunchContext<'_>, groups: &[BarrierGroup]) -> Vec<Option<Around<'a>>> {
    let all: Vec<Vec<Around<'a>>> = groups.iter().map(|group| launch.around(group.instr)).collect();
    let own = |around: &Vec<Around<'a>>| {
        let common = |one: &Around<'a>| all.iter().all(|others| others.contains(one));
        around.iter().find(|one| !common(one)).copied()
    };
    all.iter().map(own).collect()
}

/// Returns the branch or loop as a clause: `, inside `if (i < n)``.
fn inside(around: Option<Around<'_>>) -> String {
    let Some(around) = around else { return String::new() };
    let header = code(&around.enclosure.header);
    match around.enclosure.control {
        Control::Else => format!(", in the `else` of {header}"),
        Control::Loop => format!(", in the loop {header}"),
        Control::If | Control::Switch => format!(", inside {header}"),
    }
}

/// Lists the groups, each with the text of its line.
pub(crate) fn list_groups(
    draft: &mut Draft, launch: &LaunchContext<'_>, main_instr: u32, groups: &[BarrierGroup],
    around: &[Option<Around<'_>>],
) {
    for (group, around) in groups.iter().zip(around) {
        let under = inside(*around);
        let does = match thread_count(group) {
            _ if group.at_barrier => format!("waited at {},", barrier_name(launch, group.instr)),
            1 => "was at".to_owned(),
            _ => "were at".to_owned(),
        };
        let line = where_(launch, main_instr, group, groups);
        let intro = format!("{} {does} {line}{under}:", group_name(launch, group));
        draft.verbatim.push(intro.replace('\u{a0}', " "));
        draft.verbatim.push(launch.place(group.instr).listed());
        draft.verbatim.extend(launch.calls(main_instr, group.instr));
    }
}

/// How threads of a block miss each other at barriers.
enum BarrierCase<'g> {
    /// Each group waits forever at a barrier of its own.
    ForeverApart,
    /// All that is left of the block waits at one barrier, which counts more threads.
    ForeverTooFew,
    /// Some wait forever at a barrier, for lanes that wait in a warp-wide call for lanes at the barrier.
    ForeverInCall(&'g BarrierGroup),
    /// Some wait forever at a barrier, for threads that wait in loops for memory to change.
    ForeverInLoop,
    /// Lanes of this warp met at different barriers.
    SplitWarp(usize),
    /// Groups met at different barriers, and one waited later for the other, which had exited.
    OutOfStep,
    /// Whole warps met at different barriers, without consequences so far.
    WholeWarps,
}

impl<'g> BarrierCase<'g> {
    fn new(launch: &LaunchContext<'_>, groups: &'g [BarrierGroup], problem: &BarrierProblem) -> Self {
        if *problem == BarrierProblem::Deadlock {
            // Lanes that wait for lanes, not for memory.
            let in_call = |group: &&BarrierGroup| {
                let family = launch.mnemonic(group.instr).split('.').next().unwrap_or_default();
                !group.at_barrier && ["shfl", "vote", "match", "redux", "bar", "activemask"].contains(&family)
            };
            return match groups.iter().find(in_call) {
                _ if groups.iter().all(|group| group.at_barrier) => match groups {
                    [_] => Self::ForeverTooFew,
                    _ => Self::ForeverApart,
                },
                Some(group) => Self::ForeverInCall(group),
                None => Self::ForeverInLoop,
            };
        }
        let n_warps = groups.iter().map(|group| group.threads.len()).max().unwrap_or(0);
        let is_split = |warp: &usize| {
            let has = |group: &&BarrierGroup| group.threads.get(*warp).is_some_and(|lanes| !lanes.is_empty());
            groups.iter().filter(has).count() > 1
        };
        match ((0..n_warps).find(is_split), problem) {
            (Some(warp), _) => Self::SplitWarp(warp),
            (None, BarrierProblem::LeftBehind(_)) => Self::OutOfStep,
            (None, _) => Self::WholeWarps,
        }
    }

    fn title(&self, launch: &LaunchContext<'_>, groups: &[BarrierGroup]) -> String {
        match self {
            Self::ForeverApart => "the threads of one block wait for each other at different barriers forever".into(),
            Self::ForeverTooFew | Self::ForeverInCall(_) | Self::ForeverInLoop => {
                let total = match self {
                    Self::ForeverTooFew => launch.threads_per_block(),
                    _ => groups.iter().map(thread_count).sum(),
                };
                let waiting: u64 = groups.iter().filter(|group| group.at_barrier).map(thread_count).sum();
                format!("{waiting} of {total} threads wait at a barrier forever")
            }
            Self::SplitWarp(_) => "threads of one warp met at different barriers".into(),
            Self::OutOfStep => "the threads of one block met at different barriers".into(),
            Self::WholeWarps => "the warps of one block met at different barriers".into(),
        }
    }

    fn why(&self, launch: &LaunchContext<'_>) -> String {
        match self {
            Self::ForeverApart => {
                "each group waits for threads that wait elsewhere, so no barrier ever gets all of its threads.".into()
            }
            Self::ForeverTooFew => {
                "the barrier counts more arrivals than come, and no other thread of the block is left. A warp that \
                 arrives twice in one phase counts twice: the phase ends early, and a later one lacks an arrival."
                    .into()
            }
            Self::ForeverInCall(group) => format!(
                "the others never arrive: in {} they wait for lanes of their warp that wait at the barrier.",
                call_name(launch, group.instr)
            ),
            Self::ForeverInLoop => {
                let why = termination::nothing_changes(launch);
                format!("the others never arrive: they wait in a loop for memory to change. There, {why}")
            }
            Self::SplitWarp(warp) => format!(
                "all threads of a warp must reach the same __syncthreads(), and those of warp {warp} \
                 diverge before it: inside an `if` or a loop, the barrier is allowed only where all threads \
                 of the block do the same."
            ),
            Self::OutOfStep => {
                "a barrier only counts arrivals: one group's arrival at one line lets the other go on from \
                 another line, and from then on the groups are out of step."
                    .into()
            }
            Self::WholeWarps => {
                "a barrier counts the arrivals of whole warps, from wherever they come. CUDA C++ allows \
                 __syncthreads() in conditional code only where the condition is the same for all threads \
                 of the block."
                    .into()
            }
        }
    }

    /// Returns the advice that does not depend on the branches around the barriers.
    fn advice(&self, launch: &LaunchContext<'_>) -> Option<&'static str> {
        match self {
            Self::ForeverApart => Some("let all threads pass the same barriers in the same order."),
            Self::ForeverTooFew => Some(
                "let exactly the threads that the barrier counts arrive in each phase, and let a warp that has arrived \
                 wait for the others, at a second barrier, before it arrives again.",
            ),
            Self::ForeverInCall(_) => {
                Some("let all lanes that the call names reach it before the barrier, or name only those that do.")
            }
            Self::ForeverInLoop if launch.n_blocks() > 1 => Some(
                "let each block do what others wait for before it waits or ends, and let them wait for no more than that.",
            ),
            Self::ForeverInLoop => {
                Some("write what they wait for before the waiting starts, in a thread that does not wait itself.")
            }
            Self::SplitWarp(_) | Self::OutOfStep | Self::WholeWarps => None,
        }
    }

    fn on_gpu(&self) -> &'static str {
        match self {
            Self::ForeverApart | Self::ForeverTooFew | Self::ForeverInCall(_) | Self::ForeverInLoop => {
                "the kernel hangs; on a GPU that drives a display it is killed (\"launch timed out\")."
            }
            Self::SplitWarp(_) => "the behaviour is undefined: the groups go on out of step, or the kernel hangs.",
            Self::OutOfStep => {
                "both groups go on, out of step: one reads what the other has not yet written, or has \
                 overwritten."
            }
            Self::WholeWarps => "the kernel works: the arrivals of these warps complete the barrier, as here.",
        }
    }
}

/// Drafts the message of `E-BARRIER` or `W-BARRIER`.
pub(crate) fn barrier(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, groups: &[BarrierGroup], problem: &BarrierProblem,
) -> Draft {
    let case = BarrierCase::new(launch, groups, problem);
    // Copies that the compiler made of one barrier, not several that a macro writes in one line.
    let is_written =
        launch.place(mistake.first.instr).text.is_some_and(|line| line.matches("__syncthreads").count() == 1);
    let is_one =
        is_written && { groups.iter() }.all(|group| launch.frames(group.instr) == launch.frames(groups[0].instr));
    let mut draft = Draft::new(case.title(launch, groups));
    draft.no_listing = groups.len() > 1;
    let main_instr = mistake.first.instr;
    let mut around = apart(launch, groups);
    if is_one && let BarrierCase::SplitWarp(_) = case {
        draft.title = "threads of one warp met at different copies of a barrier".into();
        around.fill(by_thread(launch, main_instr));
    }
    let listed = if is_one { groups.len().min(2) } else { groups.len() };
    list_groups(&mut draft, launch, main_instr, &groups[..listed], &around);
    if listed < groups.len() {
        let rest = count((groups.len() - listed) as u64, "group");
        draft.notes.push(format!("{rest} more waited at other copies that the compiler made of this line."));
    }
    if let BarrierProblem::LeftBehind(late) = problem {
        draft.notes.push(format!(
            "Later, {} waited at {} when the others, which had passed it, had exited.",
            group_name(launch, late),
            where_(launch, main_instr, late, groups),
        ));
    }
    draft.notes.extend(launch.in_block(mistake, ""));
    draft.others = groups
        .iter()
        .skip(1)
        .map(|group| {
            let first = threads(group).next().unwrap_or(0);
            let does = if group.at_barrier { Action::Wait } else { Action::Run };
            launch.party(does, group.instr, mistake.first.block, first, thread_count(group))
        })
        .collect();
    let advice = case.advice(launch).map_or_else(|| advice(launch, main_instr, &around), str::to_owned);
    draft.why(case.why(launch)).advice(advice).on_gpu(case.on_gpu())
}

/// Returns advice by which all threads reach one barrier.
pub(crate) fn advice(launch: &LaunchContext<'_>, main_instr: u32, around: &[Option<Around<'_>>]) -> String {
    let of = |wanted: &[Control]| around.iter().flatten().find(|one| wanted.contains(&one.enclosure.control));
    let in_else = of(&[Control::Else]).filter(|other| {
        let pair =
            |one: &&Around<'_>| one.enclosure.control == Control::If && one.enclosure.header == other.enclosure.header;
        around.iter().flatten().any(|one| pair(&one))
    });
    if let (Some(_), Some(branch)) = (in_else, of(&[Control::If])) {
        return format!(
            "add one barrier after both arms of {} ({}), where all threads reach it.",
            code(&branch.enclosure.header),
            branch.name(launch, main_instr)
        );
    }
    if let Some(one) = of(&[Control::Loop]) {
        return format!(
            "let all threads make the same number of rounds of the loop at {}: put the condition on the \
             work, not on the loop.",
            one.name(launch, main_instr)
        );
    }
    match of(&[Control::If, Control::Else, Control::Switch]) {
        Some(one) => format!(
            "move the barrier out of {} ({}), so that all threads reach it.",
            code(&one.enclosure.header),
            one.name(launch, main_instr)
        ),
        None => "let all threads of the block pass the same barriers, equally often.".into(),
    }
}

/// Returns the branch or loop around an instruction whose header depends on the thread, where it is the only one.
fn by_thread<'a>(launch: &'a LaunchContext<'_>, instr: u32) -> Option<Around<'a>> {
    let (source, around) = (launch.source_of(instr)?, launch.around(instr));
    let kernel = &launch.inputs.kernel.name;
    let mut apart = around.into_iter().filter(|one| source.depends_on_thread(kernel, &one.enclosure.header));
    apart.next().filter(|_| apart.next().is_none())
}

/// Returns the branch or loop that keeps part of a warp from a barrier: the one around it whose header depends on the
/// thread. `None` where there is not exactly one, or where a `return` may be the reason.
pub(crate) fn branch_of<'a>(launch: &'a LaunchContext<'_>, instr: u32, exit: Option<u32>) -> Option<Around<'a>> {
    let source = launch.source_of(instr)?;
    let kernel = &launch.inputs.kernel.name;
    let ended = launch.info(exit?)?;
    let returns = !source.returns(kernel, source.n_lines() + 1).is_empty();
    if returns || launch.frames(instr).len() != 1 || !ended.text.contains("ret") {
        return None;
    }
    by_thread(launch, instr)
}

/// Reports `W-BARRIER`: part of a warp waited at a barrier, the rest never came.
pub(crate) fn part_of_warp(launch: &LaunchContext<'_>, mistake: &MistakeGroup, missing: LaneMask) -> Draft {
    let Mistake { instr, warp, mask, .. } = mistake.first;
    let around = match mistake.first.details {
        MistakeDetails::PartOfWarp { exit, .. } => branch_of(launch, instr, exit),
        _ => None,
    };
    let barrier = barrier_name(launch, instr);
    let draft = Draft::new(format!("only part of a warp reaches this {barrier}"));
    let threads = |lanes: LaneMask| {
        let all = lanes.numbers().map(|lane| u64::from(warp) * 32 + u64::from(lane));
        format!("{} ({})", count(u64::from(lanes.count()), "thread"), words::ranges(all))
    };
    let block = match launch.n_blocks() {
        1 => String::new(),
        _ => format!(" In block {}.", launch.block_position(mistake.first.block)),
    };
    draft
        .note(format!(
            "{} of warp {warp} waited here{}; {} of the same warp exited without reaching it.{block}",
            threads(mask),
            inside(around),
            threads(missing),
        ))
        .why(
            "CUDA C++ allows __syncthreads() inside an `if` or a loop only where all threads of the \
              block do the same: otherwise the behaviour is undefined.",
        )
        .advice(advice(launch, mistake.first.instr, &[around]))
        .on_gpu(
            "the barrier completes, as here, because since Volta it does not wait for threads that have \
             exited; older GPUs may hang.",
        )
}

/// Reports `W-EXITED`, together with the read that goes wrong because of it.
pub(crate) fn exited(
    launch: &LaunchContext<'_>, mistake: &MistakeGroup, returned: u32, first: u32, exit: Option<u32>,
) -> Draft {
    let n = u64::from(returned);
    let mut draft = Draft::new(format!("{} exited before a barrier that the others wait at", count(n, "thread")));
    let thread = capital(&launch.thread_name(mistake.first.block, u64::from(first)));
    // Compilers join all returns at the end of a kernel: the source is a better guide, if it has one only.
    let instr = mistake.first.instr;
    let line = launch.place(instr).line;
    let source = launch.source_of(instr);
    let around = launch.around(instr);
    // Those above the barrier, and those of an earlier round of a loop around it.
    let file = launch.loc(instr).map(|loc| loc.file);
    let is_before = |at: &u32| *at < line || around.iter().any(|one| Some(one.file) == file && one.is_loop_with(*at));
    let returns = source.map(|source| source.returns(&launch.inputs.kernel.name, source.n_lines() + 1));
    let returns = returns.map(|all| all.into_iter().filter(is_before).collect::<Vec<u32>>());
    let branch = branch_of(launch, instr, exit);
    let mut advice_text = "put the condition on the work, so that all threads reach the barrier.".to_owned();
    let did = match (returns.as_deref(), branch, exit) {
        (Some([one]), ..) if launch.frames(instr).len() == 1 || source.is_some_and(Source::only_calls) => {
            let condition = source.and_then(|source| source.condition(*one)).filter(|(line, _)| line != one);
            for line in condition.map(|(line, _)| line).into_iter().chain([*one]) {
                let text = source.and_then(|source| source.line(line)).unwrap_or("");
                draft.verbatim.push(format!("{line:>4} | {}", text.replace('\t', " ")));
            }
            advice_text = "put the condition on the work, not on a `return`, when a barrier follows.".into();
            format!("returned at line {one}")
        }
        (Some([]), Some(one), _) => {
            advice_text = advice(launch, instr, &[Some(one)]);
            format!("exited; the barrier is{} ({})", inside(Some(one)).trim_start_matches(','), one.name(launch, instr))
        }
        (None, _, Some(exit)) => format!("exited at {}", launch.line_name(instr, exit)),
        _ => "exited".to_owned(),
    };
    let mut note = match n {
        1 => format!("{thread} {did}."),
        _ => format!("{thread} and {} more {did}.", n - 1),
    };
    if mistake.n_blocks > 1 {
        note = format!("{note} {} blocks do the same.", mistake.n_blocks);
    }
    let (these, they_help) = if n == 1 { ("this one", "it no longer helps") } else { ("these", "they no longer help") };
    draft
        .note(note)
        .why(format!(
            "since Volta a barrier waits only for threads that have not exited, so it completes without {these}; \
             {they_help} to fill shared memory."
        ))
        .advice(advice_text)
        .on_gpu("the barrier works; what these threads would have written is missing.")
}

/// Returns the CUDA C++ name of a warp-wide instruction: `__shfl_down_sync`.
fn call_name(launch: &LaunchContext<'_>, instr: u32) -> String {
    let mnemonic = launch.info(instr).map_or("this", InstrInfo::mnemonic);
    let parts: Vec<&str> = mnemonic.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    let one_of = |names: &[&'static str]| names.iter().copied().find(|name| has(name)).unwrap_or("*");
    code(&match parts[0] {
        "shfl" if has("idx") => "__shfl_sync".to_owned(),
        "shfl" if has("bfly") => "__shfl_xor_sync".to_owned(),
        "shfl" => format!("__shfl_{}_sync", one_of(&["up", "down"])),
        "vote" => format!("__{}_sync", one_of(&["ballot", "any", "all", "uni"])),
        "match" => format!("__match_{}_sync", one_of(&["any", "all"])),
        "redux" => format!("__reduce_{}_sync", one_of(&["add", "min", "max", "and", "or", "xor"])),
        "bar" => "__syncwarp".to_owned(),
        _ => mnemonic.to_owned(),
    })
}

/// Returns the call of `__ffs` that gives a shuffle the number of its lane, where nothing is subtracted from it.
fn lane_from_one<'a>(launch: &'a LaunchContext<'_>, instr: u32) -> Option<&'a str> {
    let (source, loc) = (launch.source_of(instr)?, launch.loc(instr)?);
    let (_, rest) = source.clean_line(loc.line)?.split_once("__shfl_sync")?;
    let lane = split(bracketed(rest.trim_start())?, ',').get(2)?.trim();
    let is_set = |line: &u32| source.uses(*line, lane).iter().any(|used| used.stored);
    let set = (1..loc.line).rev().find(is_set).and_then(|line| source.clean_line(line));
    let text = if lane.contains("__ffs") { lane } else { set? };
    let call = &text[text.find("__ffs")?..];
    let open = call.find('(')?;
    let end = open + bracketed(&call[open..])?.len() + 2;
    (!call[end..].trim_start().starts_with('-')).then(|| &call[..end])
}

/// Returns the lanes that the warp of a mistake lacks, because the block ends before them.
fn absent(launch: &LaunchContext<'_>, mistake: &MistakeGroup) -> LaneMask {
    let n = launch.threads_per_block().saturating_sub(u64::from(mistake.first.warp) * 32);
    LaneMask::from_bits(u32::MAX.checked_shl(n.min(32) as u32).unwrap_or(0))
}

/// Returns the lanes of a mask in words, such as `lanes 0..15`.
fn lane_names(lanes: LaneMask) -> String {
    let n = u64::from(lanes.count());
    format!("{} {}", plural(n, "lane"), words::ranges(lanes.numbers().map(u64::from)))
}

/// Returns the branch that parts the lanes of a warp around an instruction, and whether its condition depends on the
/// thread: a branch of a header, by the layout of a matrix for one, parts no lanes.
fn diverging<'a>(launch: &'a LaunchContext<'_>, instr: u32) -> Option<(Around<'a>, bool)> {
    let kernel = launch.plain_kernel_name();
    let branches = launch.around(instr).into_iter().rev();
    let branches: Vec<_> =
        branches.filter(|one| matches!(one.enclosure.control, Control::If | Control::Else)).collect();
    let by_thread = |one: &&Around<'_>| {
        let source = launch.source_of_file(one.file);
        source.is_some_and(|source| source.depends_on_thread(kernel, &one.enclosure.condition))
    };
    match branches.iter().find(by_thread) {
        Some(one) => Some((*one, true)),
        None => branches.first().map(|one| (*one, false)),
    }
}

/// Drafts the message about a tensor-core instruction that only part of a warp executes.
fn part_of_a_warp(launch: &LaunchContext<'_>, mistake: &MistakeGroup, facts: &SyncMask) -> Draft {
    let instr = mistake.first.instr;
    let call = call_name(launch, instr);
    let SyncMask { present, exited, .. } = *facts;
    let mut draft = Draft::new(format!("{call} is executed by part of a warp"));
    let missing = !present;
    let run = if present.count() == 1 { "executes" } else { "execute" };
    let absent = absent(launch, mistake);
    let ended = match (missing & !absent).is_empty() {
        true => " (not in the block)",
        false if (missing & !absent & !exited).is_empty() => " (exited, or not in the block)",
        false => "",
    };
    let are = if missing.count() == 1 { "is" } else { "are" };
    draft.notes.push(format!(
        "It needs all 32 lanes together: {} {run} it; {} {are} missing{ended}.",
        lane_names(present),
        lane_names(missing),
    ));
    draft.notes.push(launch.first_thread(mistake));
    let branch = diverging(launch, instr).map(|(one, _)| one);
    draft.why = branch.filter(|_| !(missing & !absent).is_empty()).map(|one| {
        format!(
            "it is{} ({}), which holds for some lanes of the warp only.",
            inside(Some(one)).trim_start_matches(','),
            one.name(launch, instr)
        )
    });
    draft = draft.advice(
        "let whole warps execute it: decide by the number of the warp, not of the thread, and give lanes without data \
         zeros.",
    );
    // Lanes that diverged at another instruction arrive here separately.
    let apart = facts.elsewhere.iter().find(|(at, lanes)| {
        !(*lanes & missing).is_empty() && launch.line(*at) != launch.line(instr) && is_of_whole_warps(launch, *at)
    });
    if let Some(&(at, lanes)) = apart {
        let (line, wait) = (launch.line_name(instr, at), if lanes.count() == 1 { "waits" } else { "wait" });
        draft = draft
            .why(format!("{} {wait} for the others at {line}, which takes all lanes too.", lane_names(lanes)))
            .advice(format!("repair {line} first: the lanes diverge there."));
    }
    draft.on_gpu("the result is undefined.")
}

/// Returns whether an instruction takes all lanes of a warp, without a mask.
pub(crate) fn is_of_whole_warps(launch: &LaunchContext<'_>, instr: u32) -> bool {
    let mnemonic = launch.mnemonic(instr);
    ["mma.", "wmma.", "ldmatrix.", "stmatrix.", "movmatrix."].iter().any(|name| mnemonic.starts_with(name))
}

/// Drafts the message of `E-SYNC-MASK` or `W-SHUFFLE`.
pub(crate) fn mask(launch: &LaunchContext<'_>, mistake: &MistakeGroup, facts: &SyncMask) -> Draft {
    let instr = mistake.first.instr;
    if is_of_whole_warps(launch, instr) {
        return part_of_a_warp(launch, mistake, facts);
    }
    let SyncMask { named, present, exited, wrong, .. } = *facts;
    let call = call_name(launch, instr);
    if let WrongMask::OwnValue { distance } = wrong {
        return Draft::new(format!(
            "{call} over {distance} lanes gives each lane its own value, which is added to itself"
        ))
        .note(launch.first_thread(mistake))
        .why(format!("a warp has 32 lanes, and none that lies {distance} further: the sum becomes twice as large."))
        .advice(
            "start at half a warp: steps of 16, 8, 4, 2 and 1 add the 32 values of a warp. Sums of several warps are \
                 added through shared memory.",
        )
        .on_gpu("the sum is twice as large, too.");
    }
    let caller = mistake.first.mask.first() & 31;
    let missing = named & !present;
    let mut draft = Draft::new(match wrong {
        WrongMask::Missing => format!("{call} names lanes that never reach it"),
        WrongMask::CallerNotNamed => format!("{call} is called by lanes that its mask does not name"),
        WrongMask::Differs(_) => format!("lanes that meet in one {call} name different masks"),
        WrongMask::SourceMissing(_) => format!("{call} reads from lanes that do not execute it"),
        WrongMask::SourceNotNamed(_) | WrongMask::OwnValue { .. } => {
            format!("a value is used that {call} reads from a lane outside its mask")
        }
    });
    let mut note = format!(
        "The mask {named:#010x} names {}; {} {} {call}",
        lane_names(named),
        lane_names(present),
        if present.count() == 1 { "executes" } else { "execute" },
    );
    let absent = absent(launch, mistake);
    if matches!(wrong, WrongMask::Missing | WrongMask::SourceMissing(_)) {
        for (lanes, one, several) in [
            (missing & exited, "has ended without it", "have ended without it"),
            (missing & absent, "is not in the block", "are not in the block"),
            (missing & !exited & !absent, "does not", "do not"),
        ] {
            if !lanes.is_empty() {
                let does = if lanes.count() == 1 { one } else { several };
                note += &format!(", {} {does}", lane_names(lanes));
            }
        }
    }
    match wrong {
        WrongMask::Differs(other) => note = format!("Lane {caller} names {named:#010x}, another lane {other:#010x}"),
        WrongMask::SourceMissing(astray) | WrongMask::SourceNotNamed(astray) => {
            note += &format!(". Lane {caller} reads from lane {}", astray.from);
            if launch.line(astray.used) != launch.line(instr) {
                note += &format!("; the value is used at {}", launch.line_name(instr, astray.used));
            }
        }
        _ => {}
    }
    draft.notes.push(format!("{note}."));
    if wrong == WrongMask::Missing {
        for &(other, lanes) in facts.elsewhere.iter().filter(|(_, lanes)| !(*lanes & missing).is_empty()).take(3) {
            let text = launch.place(other).text.unwrap_or_else(|| launch.place(other).instruction);
            let wait = if lanes.count() == 1 { "waits" } else { "wait" };
            draft.notes.push(format!(
                "{} {wait} at {}: {}.",
                capital(&lane_names(lanes)),
                launch.line_name(instr, other),
                code(text.trim())
            ));
        }
    }
    draft.notes.push(match wrong {
        // Others are known only where their value is used.
        WrongMask::SourceMissing(astray) | WrongMask::SourceNotNamed(astray) if astray.used != instr => {
            let ThreadId { block, thread } = first_thread(mistake);
            format!("First: {}.", launch.thread_name(block, thread))
        }
        _ => launch.first_thread(mistake),
    });
    let branch = diverging(launch, instr);
    let (_, line) = launch.line(instr);
    let own = launch.source_of(instr).filter(|_| launch.frames(instr).len() == 1);
    let returns = own.is_none_or(|source| !source.returns(&launch.inputs.kernel.name, line).is_empty());
    let under = branch.map(|(one, _)| {
        format!(
            "the call is{} ({}), and the missing lanes do not reach it",
            inside(Some(one)).trim_start_matches(','),
            one.name(launch, instr)
        )
    });
    // Where all lanes of a warp do the same, the mask would name them all again.
    let ballot = branch.filter(|(_, by_thread)| *by_thread).map(|(one, _)| {
        let condition = &one.enclosure.condition;
        code(&match one.enclosure.control {
            Control::Else => format!("__ballot_sync(0xffffffff, !({condition}))"),
            _ => format!("__ballot_sync(0xffffffff, {condition})"),
        })
    });
    match wrong {
        WrongMask::SourceNotNamed(astray) | WrongMask::SourceMissing(astray)
            if let Some(call) = lane_from_one(launch, instr) =>
        {
            let (call, from) = (code(call), astray.from);
            draft = draft
                .why(format!(
                    "`__ffs` counts from 1: where {call} is {from}, the lowest lane that is set is {}.",
                    from - 1
                ))
                .advice(format!("take the lane {} instead.", code(&format!("{} - 1", call.trim_matches('`')))))
                .on_gpu("these lanes get the value of another lane, or an undefined one.");
        }
        WrongMask::CallerNotNamed => {
            draft = draft
                .why("a lane must name itself in the mask of its own call.")
                .advice("name every lane that executes the call in its mask.")
                .on_gpu("the result is undefined; inside a branch, an H100 stops with \"illegal instruction\".");
        }
        WrongMask::Differs(_) => {
            draft = draft
                .why("lanes that take part in one call must give the same mask.")
                .advice("compute the mask once, where all of these lanes are, and let each call use that value.")
                .on_gpu("the result is undefined.");
        }
        WrongMask::SourceNotNamed(_) | WrongMask::OwnValue { .. } => {
            draft = draft
                .why("a lane that reads from outside the mask gets an undefined value.")
                .advice(
                    "use the value only where the source lane is in the mask, or call it in all lanes, and \
                     let the others contribute the identity (0 for a sum).",
                )
                .on_gpu("these lanes get an undefined value; the others are not affected.");
        }
        WrongMask::Missing => {
            draft.why = under.map(|under| format!("{under}."));
            draft.advice = Some(match ballot {
                Some(ballot) => {
                    format!(
                        "call it where all named lanes execute it, or take the mask from {ballot} before the branch."
                    )
                }
                None => "call it where all named lanes execute it, or name only those that do.".into(),
            });
            draft.on_gpu = Some("the lanes wait for the missing ones, and the kernel may hang.".into());
        }
        WrongMask::SourceMissing(astray) if absent.contains(astray.from as usize) => {
            draft = draft
                .why(format!(
                    "the block has {} threads, so its last warp has {} only.",
                    launch.threads_per_block(),
                    lane_names(!absent),
                ))
                .advice(
                    "launch blocks of whole warps (a multiple of 32 threads), or use the value only where the source \
                     lane exists.",
                )
                .on_gpu("the value that is read is undefined.");
        }
        WrongMask::SourceMissing(_) => {
            draft.why = Some(match under {
                Some(under) => format!("{under}."),
                None if !returns => {
                    "a condition, of an `if`, a loop or `?:`, lets only the other lanes execute it.".into()
                }
                None if (missing & !exited & !absent).is_empty() => {
                    "the missing lanes ended before it, or took another way around it.".into()
                }
                None => "the missing lanes took another branch or have ended.".into(),
            });
            draft.advice = Some(match branch {
                Some((one, _)) => format!(
                    "execute it before the branch ({}), in all lanes, and use its value inside; in a sum, lanes that have \
                     no part in it bring 0.",
                    one.name(launch, instr)
                ),
                None => "call it where all named lanes execute it.".into(),
            });
            draft.on_gpu = Some("the value that is read is undefined.".into());
        }
    }
    draft
}

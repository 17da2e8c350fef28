//! Messages about threads that should meet and do not: barriers, masks.

use super::scene::{Draft, Scene};
use super::words::{self, code, count, plural};
use simt::check::BarrierGroup;
use simt::check::{Kind, lanes};

/// Threads of a group, by index.
fn threads(group: &BarrierGroup) -> impl Iterator<Item = u64> {
    let of_warp =
        |(warp, mask): (usize, &u32)| lanes(*mask).map(move |lane| warp as u64 * 32 + u64::from(lane));
    group
        .threads
        .iter()
        .enumerate()
        .flat_map(of_warp)
        .collect::<Vec<_>>()
        .into_iter()
}

/// `__syncthreads()`, or the instruction for named barriers.
fn barrier_name(scene: &Scene<'_>, instr: u32) -> String {
    let text = scene
        .context
        .kernel
        .instrs
        .get(instr as usize)
        .map_or("", |info| info.text.as_str());
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !word.starts_with('@'))
        .collect();
    match words[..] {
        [mnemonic, "0;"] if mnemonic.starts_with("bar") => "__syncthreads()".into(),
        _ => code(text.trim_end_matches(';')),
    }
}

/// `100 threads (0..99)`
fn group_name(scene: &Scene<'_>, group: &BarrierGroup) -> String {
    let n = threads(group).count() as u64;
    if n == 1 {
        let thread = threads(group).next().unwrap_or(0);
        return format!("thread {}", scene.thread_position(thread));
    }
    format!("{n} threads ({})", words::ranges(threads(group)))
}

/// `E-BARRIER`
pub(crate) fn barrier(scene: &Scene<'_>, kind: &Kind, groups: &[BarrierGroup], deadlock: bool) -> Draft {
    let all_at_barriers = groups.iter().all(|group| group.at_barrier);
    let total: u64 = groups.iter().map(|group| threads(group).count() as u64).sum();
    let mut draft;
    if deadlock {
        let waiting: u64 = groups
            .iter()
            .filter(|g| g.at_barrier)
            .map(|g| threads(g).count() as u64)
            .sum();
        draft = Draft::new(match all_at_barriers && groups.len() > 1 {
            true => "the threads of one block wait for each other at different barriers, for ever".to_owned(),
            false => format!("{waiting} of {total} threads wait at a barrier for ever"),
        });
    } else {
        draft = Draft::new("the threads of one block met at different barriers");
    }
    draft.no_listing = groups.len() > 1;
    let block = scene.block_position(kind.first.block);
    for group in groups {
        let place = scene.place(group.instr);
        let under = scene
            .source(group.instr)
            .and_then(|source| source.condition(place.line))
            .map(|(_, condition)| format!(", inside {}", code(&format!("if ({condition})"))))
            .unwrap_or_default();
        let does = if group.at_barrier {
            format!("waited at {}", barrier_name(scene, group.instr))
        } else {
            "were at".to_owned()
        };
        let comma = if group.at_barrier { "," } else { "" };
        let line = scene.line_name(group.instr);
        let intro = format!("{} {does}{comma} {line}{under}:", group_name(scene, group));
        draft.verbatim.push(intro.replace('\u{a0}', " "));
        match &place.text {
            Some(text) => draft
                .verbatim
                .push(format!("{:>4} | {}", place.line, text.replace('\t', " "))),
            None => draft
                .verbatim
                .push(format!("PTX line {} | {}", place.ptx_line, place.instruction)),
        }
    }
    if scene.n_blocks() > 1 {
        let more = match kind.n_blocks {
            1 => String::new(),
            n => format!(" {n} blocks do the same."),
        };
        draft.notes.push(format!("In block {block}.{more}"));
    }
    draft.others = groups
        .iter()
        .skip(1)
        .map(|group| {
            let n = threads(group).count() as u64;
            let first = threads(group).next().unwrap_or(0);
            let does = if group.at_barrier { "wait" } else { "run" };
            scene.party(does, group.instr, kind.first.block, first, n)
        })
        .collect();
    let in_branch = groups.iter().find_map(|group| {
        let place = scene.place(group.instr);
        scene.source(group.instr)?.condition(place.line)
    });
    let in_loop = groups.iter().any(|group| {
        let line = scene.place(group.instr).line;
        let source = scene.source(group.instr);
        source.and_then(|source| source.enclosing_loop(line)).is_some()
    });
    if deadlock {
        draft.why = Some(match all_at_barriers && groups.len() > 1 {
            true => "each group waits for threads that wait elsewhere, so no barrier ever gets all of its threads.".into(),
            false => "the others never arrive: they wait for something that only the waiting threads could give.".into(),
        });
        draft.advice = Some("let all threads pass the same barriers in the same order.".into());
        draft.on_gpu = Some(
            "the kernel hangs; on a GPU that drives a display it is killed (\"launch timed out\").".into(),
        );
        return draft;
    }
    draft.why = Some("a barrier only counts arrivals: one group's arrival at one line lets the other go on from another line.".into());
    draft.advice = Some(match (in_branch, in_loop) {
        (Some((line, condition)), _) => format!(
            "move the barrier out of {} (line {line}), so that all threads reach it.",
            code(&format!("if ({condition})"))
        ),
        (None, true) => {
            "let all threads make the same number of rounds; put the condition on the work, not on the loop."
                .into()
        }
        (None, false) => "let all threads of the block reach the same barrier.".into(),
    });
    draft.on_gpu =
        Some("both groups go on, out of step; what follows is undefined, or the kernel hangs.".into());
    draft
}

/// `W-EXITED`
pub(crate) fn exited(scene: &Scene<'_>, kind: &Kind, returned: u32, first: u32, exit: Option<u32>) -> Draft {
    let n = u64::from(returned);
    let mut draft = Draft::new(format!(
        "{} returned before a barrier that the others wait at",
        count(n, "thread")
    ));
    let which = format!("Thread {}", scene.thread_position(u64::from(first)));
    // Compilers join all returns at the end of a kernel: the source tells better, if it has one only.
    let line = scene.place(kind.first.instr).line;
    let returns = scene
        .source(kind.first.instr)
        .map(|source| source.returns(&scene.context.kernel.name, line));
    let at = match (returns.as_deref(), exit) {
        (Some([one]), _) => {
            let text = scene
                .source(kind.first.instr)
                .and_then(|source| source.line(*one))
                .unwrap_or("");
            draft
                .verbatim
                .push(format!("{one:>4} | {}", text.replace('\t', " ")));
            format!(" at line {one}")
        }
        (Some([]) | None, Some(exit)) => format!(" at {}", scene.line_name(exit)),
        _ => String::new(),
    };
    let who = match n {
        1 => format!("{which} returned{at}"),
        _ => format!("{which} and {} more returned{at}", n - 1),
    };
    let block = match scene.n_blocks() {
        1 => String::new(),
        _ => format!(", in block {}", scene.block_position(kind.first.block)),
    };
    let mut who = format!("{who}{block}.");
    if kind.n_blocks > 1 {
        who = format!("{who} {} blocks do the same.", kind.n_blocks);
    }
    draft.notes.push(who);
    draft.why = Some(format!(
        "since Volta a barrier waits only for threads that have not returned, so it goes on without {}; {} no longer {} to fill shared memory.",
        if n == 1 { "this one" } else { "these" },
        if n == 1 { "it" } else { "they" },
        if n == 1 { "helps" } else { "help" },
    ));
    draft.advice = Some("put the condition on the work, not on a `return`, when a barrier follows.".into());
    draft.on_gpu = Some("it works, if nobody needed what the missing threads would have done.".into());
    draft
}

/// `E-SYNC-MASK`
pub(crate) fn mask(scene: &Scene<'_>, kind: &Kind, named: u32, present: u32) -> Draft {
    let instr = kind.first.instr;
    let text = scene
        .context
        .kernel
        .instrs
        .get(instr as usize)
        .map_or("", |info| info.text.as_str());
    let mnemonic = text
        .split_whitespace()
        .find(|word| !word.starts_with('@'))
        .unwrap_or("this");
    let call = match mnemonic.split('.').next() {
        Some("shfl") => "__shfl_*_sync",
        Some("vote") => "a vote (__ballot_sync, __any_sync, __all_sync)",
        Some("match") => "__match_*_sync",
        Some("redux") => "__reduce_*_sync",
        Some("bar") => "__syncwarp",
        _ => mnemonic,
    };
    let missing = named & !present;
    let outside = present & !named;
    let mut draft = Draft::new(match missing {
        0 => format!("{call} runs in lanes that its mask does not name"),
        _ => format!("{call} names lanes that do not take part"),
    });
    let names = |mask: u32| {
        let n = u64::from(mask.count_ones());
        format!(
            "{} {}",
            plural(n, "lane"),
            words::ranges(lanes(mask).map(u64::from))
        )
    };
    let mut note = format!(
        "The mask {named:#010x} names {}, and {} run it",
        names(named),
        names(present)
    );
    if missing != 0 {
        note += &format!(
            "; {} missing",
            if missing.count_ones() == 1 {
                format!("{} is", names(missing))
            } else {
                format!("{} are", names(missing))
            }
        );
    } else if outside != 0 {
        note += &format!("; {} not named", names(outside));
    }
    draft.notes.push(format!("{note}."));
    let first = u64::from(kind.first.warp) * 32 + u64::from(kind.first.mask.trailing_zeros() & 31);
    let more = scene
        .others_do_the_same(kind)
        .map(|more| format!(" {more}"))
        .unwrap_or_default();
    draft.notes.push(format!(
        "First: {}.{more}",
        scene.thread_name(kind.first.block, first)
    ));
    let line = scene.place(instr).line;
    let condition = scene
        .source(instr)
        .and_then(|source| source.enclosing_condition(line));
    if missing == 0 {
        draft.advice = Some("name every lane that executes the call in its mask.".into());
    } else if let Some((number, condition)) = condition {
        draft.why = Some(format!(
            "the call stands under {} (line {number}), which is false in the missing lanes.",
            code(&format!("if ({condition})"))
        ));
        draft.advice = Some(format!(
            "call it in all lanes and let the others give a neutral value (0 for a sum), or take the mask from {} before the branch.",
            code(&format!("__ballot_sync(0xffffffff, {condition})"))
        ));
    } else {
        draft.why = Some("the missing lanes took another branch or have returned.".into());
        draft.advice = Some(
            "call it where all named lanes are, or name only those that are there (__ballot_sync).".into(),
        );
    }
    draft.on_gpu = Some("the result is undefined, or the warp hangs.".into());
    draft
}

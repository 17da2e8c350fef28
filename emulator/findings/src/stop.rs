//! Messages about kernels that never end, or stop themselves.

use super::scene::{Draft, Scene};
use super::words::code;
use simt::check::Kind;

/// `2,000,000`
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `E-LOOP`
pub(crate) fn runaway(
    scene: &Scene<'_>,
    kind: &Kind,
    budget: u64,
    proven: bool,
    span: Option<(u32, u32)>,
) -> Draft {
    let instr = kind.first.instr;
    let mut draft = match proven {
        true => Draft::new("this loop never ends"),
        false => Draft::new(format!(
            "the kernel ran {} thread-instructions without finishing",
            grouped(budget)
        )),
    };
    let first = u64::from(kind.first.warp) * 32 + u64::from(kind.first.mask.trailing_zeros() & 31);
    let who = scene.thread_name(kind.first.block, first).replacen('t', "T", 1);
    let source = scene.source(instr);
    let line = scene.place(instr).line;
    let header = source.and_then(|source| {
        source.loop_header(line).or_else(|| {
            let start = span.map(|(start, _)| scene.place(start).line)?;
            source.loop_header(start)
        })
    });
    draft.notes.push(match (&header, proven) {
        (Some((number, header)), true) => {
            format!(
                "{who} is in {} (line {number}); its registers repeat, and nothing in memory changes.",
                code(header)
            )
        }
        (Some((number, header)), false) => {
            format!(
                "{who} was in {} (line {number}) when the budget was spent.",
                code(header)
            )
        }
        (None, true) => format!("{who}: its registers repeat, and nothing in memory changes."),
        (None, false) => format!("{who} was here when the budget was spent."),
    });
    let step = header.as_ref().and_then(|(_, header)| {
        let last = header.trim_end_matches(')').split(';').nth(2)?.trim().to_owned();
        let (variable, step) = last.split_once("+=").or_else(|| last.split_once("-="))?;
        let (variable, step) = (variable.trim().to_owned(), step.trim().to_owned());
        let value = scene.variable(instr, &step, kind.first.block, first, 0)?;
        Some((variable, step, value))
    });
    let condition = header.as_ref().map(|(_, header)| header.clone());
    match step {
        Some((variable, step, 0)) => {
            draft.why = Some(format!("{step} is 0, so {variable} never changes."));
            draft.advice = Some(format!(
                "give {step} a value above 0 at the launch, and check it on the host."
            ));
        }
        _ if condition
            .as_ref()
            .is_some_and(|header| header.starts_with("while")) =>
        {
            draft.why =
                Some("the condition of the loop stays true: nobody changes what it waits for.".into());
            draft.advice = Some(
                "let another thread write it where this one can see it (atomics), or use a barrier instead."
                    .into(),
            );
        }
        _ => {
            draft.advice =
                Some("check what ends the loop: its step, its bound, and the type of its counter.".into());
            if !proven {
                draft.advice = Some(
                    "check what ends the loop: its step, its bound, and its counter; if it is only slow, raise the budget.".into(),
                );
            }
        }
    }
    draft.on_gpu =
        Some("the kernel hangs; on a GPU that drives a display it is killed (\"launch timed out\").".into());
    draft
}

/// `E-TRAP`
pub(crate) fn trap(scene: &Scene<'_>, kind: &Kind) -> Draft {
    let instr = kind.first.instr;
    let mut draft = Draft::new("the kernel stopped itself (`__trap()`)");
    let (block, thread) = first(kind);
    draft.notes.push(first_and_more(scene, kind));
    let line = scene.place(instr).line;
    if let Some((_, condition)) = scene
        .source(instr)
        .and_then(|source| source.enclosing_condition(line))
    {
        let values = values(scene, instr, &condition, block, thread);
        draft.why = Some(format!("{} is true here{values}.", code(&condition)));
    }
    draft.advice = Some("find out how that value came about; the trap is there to catch it.".into());
    draft.on_gpu =
        Some("the kernel stops with \"illegal instruction\" or \"unspecified launch failure\".".into());
    draft
}

/// `E-ASSERT`
pub(crate) fn assertion(scene: &Scene<'_>, kind: &Kind, message: &str) -> Draft {
    let instr = kind.first.instr;
    let mut draft = Draft::new(format!("assertion failed: `{message}`"));
    let (block, thread) = first(kind);
    draft.notes.push(first_and_more(scene, kind));
    let values = values(scene, instr, message, block, thread);
    draft.why = Some(format!("{} is false here{values}.", code(message)));
    draft.advice = Some("find out how that value came about, or handle it before the assertion.".into());
    draft.on_gpu = Some(
        "the same: a line on the console, and the launch fails with \"device-side assert triggered\".".into(),
    );
    draft
}

fn first(kind: &Kind) -> (u64, u64) {
    let lane = u64::from(kind.first.mask.trailing_zeros() & 31);
    (kind.first.block, u64::from(kind.first.warp) * 32 + lane)
}

fn first_and_more(scene: &Scene<'_>, kind: &Kind) -> String {
    let (block, thread) = first(kind);
    let more = scene
        .others_do_the_same(kind)
        .map(|more| format!(" {more}"))
        .unwrap_or_default();
    format!("First: {}.{more}", scene.thread_name(block, thread))
}

/// ` (n = 50)`: the names in a condition that have a known value.
fn values(scene: &Scene<'_>, instr: u32, condition: &str, block: u64, thread: u64) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (_, name) in super::text::words(condition) {
        let part = scene
            .variable(instr, name, block, thread, 0)
            .map(|value| format!("{name} = {value}"));
        if let Some(part) = part
            && !parts.contains(&part)
        {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(
            [7, 1000, 2_000_000].map(super::grouped),
            ["7", "1,000", "2,000,000"]
        );
    }
}

//! Messages about `wmma` fragments that an MMA cannot take (`E-FRAGMENT`).

use crate::launch_context::{Draft, LaunchContext};
use program::mma::fragment::{Foreign, Fragment};
use simt::check::MistakeGroup;

/// Drafts the message of `E-FRAGMENT`.
pub(crate) fn mismatch(launch: &LaunchContext<'_>, mistake: &MistakeGroup, foreign: &Foreign) -> Draft {
    let Foreign { wanted, given, maker } = *foreign;
    let part = wanted.part;
    let draft = Draft::new(if given.part != wanted.part {
        format!("a fragment of {} is multiplied as {part}", given.part)
    } else if given.shape != wanted.shape {
        format!("the fragment of {part} is of {}, the MMA of {}", shape(&given), shape(&wanted))
    } else if given.ty != wanted.ty {
        format!("the fragment of {part} has elements of {}, the MMA takes {}", given.ty, wanted.ty)
    } else {
        format!("the fragment of {part} was loaded{}, the MMA takes it{}", layout(&given), layout(&wanted))
    });
    let main_instr = mistake.first.instr;
    let outermost = launch.info(maker).and_then(|info| info.calls.last());
    let called = outermost
        .map_or(String::new(), |loc| format!(" (called at {})", launch.numbered(main_instr, loc.file, loc.line)));
    draft
        .note(format!(
            "Made at {}{called}: {}. This MMA takes {}.",
            launch.line_name(main_instr, maker),
            described(&given),
            described(&wanted),
        ))
        .why(
            "which lane and register hold which element of a fragment is not specified, and depends on its \
              operand, shape, type and layout.",
        )
        .advice(format!(
            "give the MMA a fragment that was {} {}. To use elements in another place, go through memory: \
             store the matrix, and load it as that.",
            if part == 'C' { "made as" } else { "loaded as" },
            described(&wanted),
        ))
        .on_gpu(
            "elements are in the wrong places, or by chance in the right ones: another GPU may place \
                 them differently.",
        )
        .without_caret()
        .note(launch.first_thread(mistake))
}

fn shape(fragment: &Fragment) -> String {
    let [m, n, k] = fragment.shape;
    format!("m{m}n{n}k{k}")
}

fn layout(fragment: &Fragment) -> &'static str {
    match fragment.layout {
        Some("row") => " by rows (`row`)",
        Some(_) => " by columns (`col`)",
        None => "",
    }
}

/// Returns a fragment in words: `A of m16n16k16, f16, by rows (`row`)`.
fn described(fragment: &Fragment) -> String {
    let comma = if fragment.layout.is_some() { "," } else { "" };
    format!("{} of {}, {}{comma}{}", fragment.part, shape(fragment), fragment.ty, layout(fragment))
}

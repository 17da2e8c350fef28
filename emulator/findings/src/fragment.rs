//! Messages about fragments of `wmma` that a product cannot take.

use super::asynchronous::who;
use super::scene::{Draft, Scene};
use simt::check::Kind;
use simt::mma::fragment::{Foreign, Fragment};

/// Drafts the message of `E-FRAGMENT`.
pub(crate) fn product(scene: &Scene<'_>, kind: &Kind, foreign: &Foreign) -> Draft {
    let Foreign {
        wanted,
        given,
        maker,
    } = *foreign;
    let part = wanted.part;
    let mut draft = Draft::new(if given.part != wanted.part {
        format!("a fragment of {} is multiplied as {part}", given.part)
    } else if given.shape != wanted.shape {
        format!(
            "the fragment of {part} is of {}, the product of {}",
            shape(&given),
            shape(&wanted)
        )
    } else if given.ty != wanted.ty {
        format!(
            "the fragment of {part} has elements of {}, the product takes {}",
            given.ty, wanted.ty
        )
    } else {
        format!(
            "the fragment of {part} was loaded as {}-major, the product takes {}-major",
            given.layout.unwrap_or_default(),
            wanted.layout.unwrap_or_default()
        )
    });
    draft.notes.push(format!(
        "Made at {}: {}. This product takes {}.",
        scene.line_name(kind.first.instr, maker),
        described(&given),
        described(&wanted)
    ));
    draft.why = Some(
        "which lane and register hold which element of a fragment is not specified, and depends on its operand, shape, \
         type and layout."
            .into(),
    );
    draft.advice = Some(format!(
        "give the product a fragment that was {} {}; to use elements in another place, go through memory: store the \
         matrix, and load it as that.",
        if part == 'C' { "made as" } else { "loaded as" },
        described(&wanted)
    ));
    draft.on_gpu = Some(
        "elements are in the wrong places, or by chance in the right ones: another GPU may place them differently."
            .into(),
    );
    draft.no_caret = true;
    draft.notes.push(who(scene, kind));
    draft
}

fn shape(fragment: &Fragment) -> String {
    let [m, n, k] = fragment.shape;
    format!("m{m}n{n}k{k}")
}

fn described(fragment: &Fragment) -> String {
    let layout = fragment
        .layout
        .map_or(String::new(), |layout| format!(", {layout}-major"));
    format!("{} of {}, {}{layout}", fragment.part, shape(fragment), fragment.ty)
}

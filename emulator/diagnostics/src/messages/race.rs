//! Messages about races: both parties, and where the order between them is missing.

mod advice;
mod bulk_copies;
mod handover;
mod index;
mod parties;
mod reasons;
mod title;

use super::bounds::block_shape;
use crate::finding::Race;
use crate::launch_context::{Draft, LaunchContext};
use crate::locate::arrays::Target;
use program::{MemSpace, OpKind};
use simt::check::{AccessKind, MistakeGroup, RaceFacts, RaceParty};

/// A race, with what all parts of its message name.
struct RaceMessage<'a> {
    launch: &'a LaunchContext<'a>,
    mistake: &'a MistakeGroup,
    facts: &'a RaceFacts,
    /// Races that are reported with this one.
    also: &'a [&'a MistakeGroup],
    /// The party that writes: it is what goes wrong.
    first: RaceParty,
    second: RaceParty,
    target: Option<Target>,
    array: String,
    /// Whether both parties are one read-modify-write.
    update: bool,
    /// The instruction whose place stands in the first line of the message.
    main_instr: u32,
}

/// Drafts the message of `E-RACE` or `W-RACE-EQUAL`.
pub(crate) fn race<'a>(
    launch: &'a LaunchContext<'a>, mistake: &'a MistakeGroup, race: &'a RaceFacts, also: &'a [&'a MistakeGroup],
) -> Draft {
    let [a, b] = race.parties;
    let (first, second) =
        if a.kind == AccessKind::Read || a.kind > b.kind && b.kind != AccessKind::Read { (b, a) } else { (a, b) };
    let target = launch.target(first.instr, race.space, race.address, first.bytes, first.kind);
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
    let accesses = race.parties.map(|party| launch.racing_access(party));
    let found = Race { element: name, address: race.address, accesses };
    let array = target.as_ref().map_or("this memory", |target| target.element.name.as_str()).to_owned();
    let update = parties::is_update(launch, first, second, &array);
    let main_instr = first.instr;
    let message = RaceMessage { launch, mistake, facts: race, also, first, second, target, array, update, main_instr };
    let mut draft = Draft::new(message.title(&quoted));
    draft.race = Some(found);
    draft.no_listing = true;
    draft.instr = Some(main_instr);
    draft.carets = message.underlined(first);
    draft.verbatim = message.parties();
    draft.others = vec![launch.party(second.kind.into(), second.instr, second.block, u64::from(second.thread), 1)];
    draft.array = message.target.as_ref().map(|target| target.element.clone());
    draft.notes.extend(message.extent());
    draft.notes.extend(message.others());
    if let Some(reason) = message.target.as_ref().and_then(|target| message.past_the_row(target)) {
        if race.space == MemSpace::Shared {
            draft.title = format!("index past the end of a row: {}", draft.title);
        }
        return draft.reason(reason).on_gpu(reasons::DEPENDS_ON_TIMING);
    }
    if let Some(reason) = block_shape(launch) {
        return draft.reason(reason);
    }
    message.reasons(draft)
}

impl RaceMessage<'_> {
    fn between_blocks(&self) -> bool {
        self.first.block != self.second.block
    }
}

/// Returns whether an instruction starts a bulk copy.
pub(crate) fn is_copy(launch: &LaunchContext<'_>, instr: u32) -> bool {
    !cfg!(feature = "scalar") && launch.ops(instr).any(|op| matches!(op, OpKind::TensorCopy(_) | OpKind::BulkBytes(_)))
}

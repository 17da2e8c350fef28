//! The messages, one module per family of mistakes. [`findings`] chooses which mistakes to report, and dispatches.

mod arguments;
mod asynchronous;
mod bounds;
mod calls;
mod choose;
mod cluster;
mod fragment;
mod memory;
mod phases;
mod race;
pub(crate) mod refusal;
mod rows;
mod sync;
mod termination;
mod uninit;
mod wgmma;

use simt::check::{AccessProblem, Code, MistakeDetails, MistakeGroup};

use crate::finding::{Finding, UndefinedOutput};
use crate::launch_context::{LaunchContext, first_thread};
use crate::launch_inputs::LaunchInputs;
use choose::Chosen;

/// Limit on the messages of one launch; further ones seldom have another cause.
const MAX_FINDINGS: usize = 64;

/// Returns one finding per kind of mistake, and apart from them those that count only once the host reads what was
/// stored.
pub(crate) fn findings(inputs: &LaunchInputs<'_>, mistakes: &[MistakeGroup]) -> (Vec<Finding>, Vec<UndefinedOutput>) {
    let (mut findings, mut outputs) = (Vec::new(), Vec::new());
    if mistakes.is_empty() {
        return (findings, outputs);
    }
    let launch = LaunchContext::new(inputs, mistakes);
    let chosen = choose::choose(&launch);
    for chosen in chosen.iter().take(MAX_FINDINGS) {
        let next = finding(&launch, chosen, &findings);
        match chosen.mistake.addresses {
            Some(range) if chosen.mistake.first.code() == Code::UndefinedOutput => {
                outputs.push(UndefinedOutput { finding: next, range });
            }
            _ => findings.push(next),
        }
    }
    (findings, outputs)
}

fn finding(launch: &LaunchContext<'_>, Chosen { mistake, also }: &Chosen<'_>, earlier: &[Finding]) -> Finding {
    let first = &mistake.first;
    let mut who = first_thread(mistake);
    let draft = match &first.details {
        // The instructions that make these mistakes are left out.
        MistakeDetails::Remote { .. }
        | MistakeDetails::ClusterBarrier { .. }
        | MistakeDetails::ClusterDeadlock { .. }
        | MistakeDetails::Assert { .. }
        | MistakeDetails::Call { .. }
        | MistakeDetails::Stack { .. }
        | MistakeDetails::Texture { .. }
        | MistakeDetails::TensorCopy { .. }
        | MistakeDetails::Proxy { .. }
        | MistakeDetails::Phases { .. }
        | MistakeDetails::TwoCopies { .. }
        | MistakeDetails::ChangedUnderCopy { .. }
        | MistakeDetails::Wgmma { .. }
        | MistakeDetails::Fragment { .. }
        | MistakeDetails::MemoryBarrier { .. }
        | MistakeDetails::Uninitialised { copy: Some(_), .. }
            if cfg!(feature = "scalar") =>
        {
            termination::trap(launch, mistake)
        }
        MistakeDetails::Access { problem, access } if let Some(place) = cluster::remote(access) => {
            cluster::misplaced(launch, mistake, *problem, *access, place)
        }
        MistakeDetails::Remote { access, problem } => cluster::unreachable(launch, mistake, *access, *problem),
        MistakeDetails::ClusterBarrier { waits } => cluster::out_of_turn(launch, mistake, *waits),
        MistakeDetails::NotResident { resident } => termination::not_resident(launch, mistake, *resident),
        MistakeDetails::ClusterDeadlock { places } => cluster::deadlock(launch, mistake, places),
        MistakeDetails::Access { problem, access } => match problem {
            AccessProblem::UseAfterFree => memory::freed(launch, mistake, *access),
            AccessProblem::Misaligned => memory::misaligned(launch, mistake, *access),
            AccessProblem::ReadOnly => memory::read_only(launch, mistake, *access),
            AccessProblem::OutOfBounds if cfg!(feature = "scalar") => {
                bounds::out_of_bounds(launch, mistake, *access, also)
            }
            AccessProblem::OutOfBounds => {
                asynchronous::of_a_box(launch, mistake, *access, bounds::out_of_bounds(launch, mistake, *access, also))
            }
        },
        MistakeDetails::Uninitialised { access, load, copy: Some(copy), .. } => {
            uninit::in_flight(launch, mistake, *access, *load, *copy)
        }
        MistakeDetails::Uninitialised { access, .. } if let Some(place) = cluster::remote(access) => {
            cluster::unwritten(launch, mistake, *access, place)
        }
        MistakeDetails::Uninitialised { .. } => uninit::uninitialised(launch, mistake),
        MistakeDetails::Unset { used, by, copied } => uninit::unset(launch, mistake, (*used, *by), *copied),
        MistakeDetails::Race(facts) => {
            let party = facts.parties[1];
            who = party.thread_id();
            race::race(launch, mistake, facts, also)
        }
        MistakeDetails::Barrier { groups, problem } => sync::barrier(launch, mistake, groups, problem),
        MistakeDetails::PartOfWarp { missing, .. } => sync::part_of_warp(launch, mistake, *missing),
        MistakeDetails::Exited { returned, first, exit } => sync::exited(launch, mistake, *returned, *first, *exit),
        MistakeDetails::Runaway { budget, known, span } => {
            termination::runaway(launch, mistake, *budget, *known, *span)
        }
        MistakeDetails::Assert { message, .. } => termination::assertion(launch, mistake, message),
        MistakeDetails::SyncMask(facts) => sync::mask(launch, mistake, facts),
        MistakeDetails::Operand { problem, value } => termination::operand(launch, mistake, *problem, *value),
        MistakeDetails::Call { address, problem } => calls::target(launch, mistake, *address, problem),
        MistakeDetails::Stack { function, depth, limit } => calls::stack(launch, mistake, function, *depth, *limit),
        MistakeDetails::LocalPointer { owner, stored } => memory::local_pointer(launch, mistake, *owner, *stored),
        MistakeDetails::Texture { handle } => memory::texture(launch, *handle),
        MistakeDetails::TensorCopy { problem } => asynchronous::tensor(launch, mistake, *problem),
        MistakeDetails::Proxy { address } => phases::no_fence(launch, mistake, *address),
        MistakeDetails::Phases { waits, others } => phases::deadlock(launch, mistake, waits, others),
        MistakeDetails::TwoCopies { address, other, phase, blocks, late } => {
            asynchronous::two_copies(launch, mistake, *address, *other, *phase, *blocks, *late)
        }
        MistakeDetails::ChangedUnderCopy { address } => asynchronous::changed(launch, mistake, *address),
        MistakeDetails::Wgmma { problem } => wgmma::misuse(launch, mistake, *problem),
        MistakeDetails::Fragment { foreign } => fragment::mismatch(launch, mistake, foreign),
        MistakeDetails::MemoryBarrier { offset, problem } => asynchronous::barrier(launch, mistake, *offset, *problem),
        MistakeDetails::Trap => termination::trap(launch, mistake),
    };
    draft.finish(launch, first.code(), mistake, who, earlier)
}

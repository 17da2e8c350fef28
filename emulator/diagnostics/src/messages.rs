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
mod sync;
mod termination;
mod uninit;
mod wgmma;

use simt::check::{AccessProblem, Code, Details, MistakeGroup};

use crate::finding::{Finding, Output};
use crate::launch_context::{LaunchContext, first_thread};
use crate::launch_inputs::LaunchInputs;
use choose::Chosen;

/// Limit on the messages of one launch; further ones seldom have another cause.
const MAX_FINDINGS: usize = 64;

/// Returns one finding per kind of mistake, and apart from them those that count only once the host reads what was
/// stored.
pub(crate) fn findings(inputs: &LaunchInputs<'_>, kinds: &[MistakeGroup]) -> (Vec<Finding>, Vec<Output>) {
    let (mut findings, mut outputs) = (Vec::new(), Vec::new());
    if kinds.is_empty() {
        return (findings, outputs);
    }
    let launch = LaunchContext::new(inputs, kinds);
    let chosen = choose::choose(&launch);
    for chosen in chosen.iter().take(MAX_FINDINGS) {
        let next = finding(&launch, chosen, &findings);
        match chosen.kind.addresses {
            Some(range) if chosen.kind.first.code() == Code::UndefinedOutput => {
                outputs.push(Output { finding: next, range });
            }
            _ => findings.push(next),
        }
    }
    (findings, outputs)
}

fn finding(launch: &LaunchContext<'_>, Chosen { kind, also }: &Chosen<'_>, earlier: &[Finding]) -> Finding {
    let event = &kind.first;
    let mut who = first_thread(kind);
    let draft = match &event.details {
        Details::Access { problem, access } if let Some(place) = cluster::remote(access) => {
            cluster::misplaced(launch, kind, *problem, *access, place)
        }
        Details::Remote { access, problem } => cluster::unreachable(launch, kind, *access, *problem),
        Details::ClusterBarrier { waits } => cluster::out_of_turn(launch, kind, *waits),
        Details::ClusterDeadlock { places } => cluster::deadlock(launch, kind, places),
        Details::Access { problem, access } => match problem {
            AccessProblem::UseAfterFree => memory::freed(launch, kind, *access),
            AccessProblem::Misaligned => memory::misaligned(launch, kind, *access),
            AccessProblem::ReadOnly => memory::read_only(launch, kind, *access),
            AccessProblem::OutOfBounds => {
                asynchronous::of_a_box(launch, kind, *access, bounds::out_of_bounds(launch, kind, *access))
            }
        },
        Details::Uninitialised { access, load, copy: Some(copy), .. } => {
            uninit::under_way(launch, kind, *access, *load, *copy)
        }
        Details::Uninitialised { access, .. } if let Some(place) = cluster::remote(access) => {
            cluster::unwritten(launch, kind, *access, place)
        }
        Details::Uninitialised { .. } => uninit::uninitialised(launch, kind),
        Details::Unset { used, by, copied } => uninit::unset(launch, kind, (*used, *by), *copied),
        Details::Race(facts) => {
            let party = facts.parties[1];
            who = (party.block, u64::from(party.thread));
            race::race(launch, kind, facts, also)
        }
        Details::Barrier { groups, problem } => sync::barrier(launch, kind, groups, problem),
        Details::Parted { missing, .. } => sync::parted(launch, kind, *missing),
        Details::Exited { returned, first, exit } => sync::exited(launch, kind, *returned, *first, *exit),
        Details::Runaway { budget, proven, span } => {
            termination::runaway(launch, kind, *budget, *proven, *span)
        }
        Details::Assert { message, .. } => termination::assertion(launch, kind, message),
        Details::SyncMask(facts) => sync::mask(launch, kind, facts),
        Details::Operand { problem, value } => termination::operand(launch, kind, *problem, *value),
        Details::Call { address, problem } => calls::target(launch, kind, *address, problem),
        Details::Stack { function, depth, limit } => calls::stack(launch, kind, function, *depth, *limit),
        Details::Texture { handle } => memory::texture(launch, *handle),
        Details::TensorCopy { problem } => asynchronous::tensor(launch, kind, *problem),
        Details::Proxy { address } => phases::no_fence(launch, kind, *address),
        Details::Phases { waits, others } => phases::deadlock(launch, kind, waits, others),
        Details::TwoCopies { address, other, phase, blocks, late } => {
            asynchronous::two_copies(launch, kind, *address, (*other, *phase), *blocks, *late)
        }
        Details::ChangedUnderCopy { address } => asynchronous::changed(launch, kind, *address),
        Details::Wgmma { problem } => wgmma::misuse(launch, kind, *problem),
        Details::Fragment { foreign } => fragment::mismatch(launch, kind, foreign),
        Details::MemoryBarrier { offset, problem } => asynchronous::barrier(launch, kind, *offset, *problem),
        Details::Trap => termination::trap(launch, kind),
    };
    draft.finish(launch, event.code(), kind, who, earlier)
}

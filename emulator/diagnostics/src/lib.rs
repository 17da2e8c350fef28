//! Messages about what the emulated GPU found wrong with a kernel.
//!
//! `simt` gathers facts ([`simt::check::Mistakes`]); [`Report::new`] makes [`Finding`]s of them, and `refusal` says
//! why a launch did not start. Nothing here runs a kernel or changes what a launch does.
//!
//! `scene` holds the launch and formats text, `source` and `statements` read the `.cu`, `arrays` finds the array that an
//! address belongs to and `subscript` the values that an index was computed from. Each of the other modules writes the
//! messages of one family of mistakes.

#![forbid(unsafe_code)]

mod arguments;
mod arrays;
mod asynchronous;
mod bounds;
mod calls;
mod case;
mod choose;
mod cluster;
mod context;
mod expression;
mod finding;
mod fragment;
mod layout;
mod memory;
mod phases;
mod race;
mod refusal;
mod report;
mod scene;
mod source;
mod spot;
mod statements;
mod stop;
mod subscript;
mod sync;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod wgmma;
mod words;
mod written;

pub use finding::{ArrayElement, Finding, Party, Place};
pub use refusal::refusal;
pub use report::{Output, Report};
pub use text::plain_name;

use choose::Chosen;
use context::Context;
use scene::{Draft, Scene};
use simt::check::{AccessKind, Code, Details, Kind};

/// Messages shown for one launch; what is beyond is the same trouble again.
const MAX_FINDINGS: usize = 64;

/// One message per kind; apart from the others those that only count once the host reads what was stored.
fn findings(context: &Context<'_>, kinds: &[Kind]) -> (Vec<Finding>, Vec<Output>) {
    let (mut findings, mut outputs) = (Vec::new(), Vec::new());
    if kinds.is_empty() {
        return (findings, outputs);
    }
    let scene = Scene::new(context, kinds);
    let chosen = choose::choose(&scene);
    for chosen in chosen.iter().take(MAX_FINDINGS) {
        let next = finding(&scene, chosen, &findings);
        match chosen.kind.addresses {
            Some(range) if chosen.kind.first.code == Code::UndefinedOutput => {
                outputs.push(Output { finding: next, range });
            }
            _ => findings.push(next),
        }
    }
    (findings, outputs)
}

fn finding(scene: &Scene<'_>, Chosen { kind, also }: &Chosen<'_>, earlier: &[Finding]) -> Finding {
    let event = &kind.first;
    let lane = u64::from(event.mask.trailing_zeros() & 31);
    let mut who = (event.block, u64::from(event.warp) * 32 + lane);
    let draft = match &event.details {
        Details::Access(access) if let Some(place) = cluster::remote(access) => {
            cluster::misplaced(scene, kind, *access, place)
        }
        Details::Remote { access, problem } => cluster::unreachable(scene, kind, *access, *problem),
        Details::ClusterBarrier { waits } => cluster::out_of_turn(scene, kind, *waits),
        Details::ClusterDeadlock { places } => cluster::deadlock(scene, kind, places),
        Details::Access(access) => match event.code {
            Code::UseAfterFree => memory::freed(scene, kind, *access),
            Code::Misaligned => memory::misaligned(scene, kind, *access),
            Code::ReadOnly => memory::read_only(scene, kind, *access),
            _ => asynchronous::of_a_box(scene, kind, *access, bounds::out_of_bounds(scene, kind, *access)),
        },
        Details::Uninitialised {
            access,
            load,
            copy: Some(copy),
            ..
        } => written::under_way(scene, kind, *access, *load, *copy),
        Details::Uninitialised { access, .. } if let Some(place) = cluster::remote(access) => {
            cluster::unwritten(scene, kind, *access, place)
        }
        Details::Uninitialised { .. } => written::uninitialised(scene, kind),
        Details::Unset { used, by, copied } => written::unset(scene, kind, (*used, *by), *copied),
        Details::Race(facts) => {
            let party = facts.parties[1];
            who = (party.block, u64::from(party.thread));
            race::race(scene, kind, facts, also)
        }
        Details::Barrier {
            groups,
            deadlock,
            late,
        } => sync::barrier(scene, kind, groups, *deadlock, late.as_ref()),
        Details::Parted { missing, .. } => sync::parted(scene, kind, *missing),
        Details::Exited {
            returned,
            first,
            exit,
        } => sync::exited(scene, kind, *returned, *first, *exit),
        Details::Runaway { budget, proven, span } => stop::runaway(scene, kind, *budget, *proven, *span),
        Details::Assert { message, .. } => stop::assertion(scene, kind, message),
        Details::SyncMask(facts) => sync::mask(scene, kind, facts),
        Details::Operand { problem, value } => stop::operand(scene, kind, *problem, *value),
        Details::Call { address, problem } => calls::target(scene, kind, *address, problem),
        Details::Stack {
            function,
            depth,
            limit,
        } => calls::stack(scene, kind, function, *depth, *limit),
        Details::Texture { handle } => memory::texture(scene, *handle),
        Details::TensorCopy { problem } => asynchronous::tensor(scene, kind, *problem),
        Details::Proxy { address } => phases::no_fence(scene, kind, *address),
        Details::Phases { waits, others } => phases::deadlock(scene, kind, waits, others),
        Details::TwoCopies {
            address,
            other,
            phase,
            blocks,
            late,
        } => asynchronous::two_copies(scene, kind, *address, (*other, *phase), *blocks, *late),
        Details::ChangedUnderCopy { address } => asynchronous::changed(scene, kind, *address),
        Details::Wgmma { problem } => wgmma::product(scene, kind, *problem),
        Details::Fragment { foreign } => fragment::product(scene, kind, foreign),
        Details::MemoryBarrier { offset, problem } => asynchronous::barrier(scene, kind, *offset, *problem),
        Details::None => match event.code {
            Code::Trap => stop::trap(scene, kind),
            _ => Draft::new("something went wrong here"),
        },
    };
    draft.finish(scene, event.code, kind, who, earlier)
}

/// `read`, `write`, `atomic`: for [`Party::does`].
fn does(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    }
}

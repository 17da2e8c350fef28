//! Races that phases of mbarriers, or barriers of some threads, would order (`E-RACE`).

use super::{RaceMessage, is_copy};
use crate::launch_context::{LaunchContext, Reason};
use program::{OpKind, TensorWay};
use simt::check::{AccessKind, RaceParty};

impl RaceMessage<'_> {
    /// Returns the reason that neither a phase of an mbarrier nor a barrier of the block orders the accesses.
    pub(super) fn unordered(&self) -> Reason {
        let launch = self.launch;
        let [first, second] = self.facts.parties;
        let main_instr = self.first.instr;
        let line = |party: RaceParty| launch.line_name(main_instr, party.instr);
        let thread = |party: RaceParty| format!("thread {}", launch.thread_position(u64::from(party.thread)));
        let (before, after) = (line(first), line(second));
        if is_bulk_store(launch, second.instr) {
            return Reason::new(
                format!(
                    "nothing orders the copy after the write of {} at {before}: {}, which started the copy, \
                     has passed no barrier together with it since.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "after {before}, execute fence.proxy.async in each thread that writes. Then let all of \
                     them and the copying thread pass a barrier (__syncthreads(), or bar.sync with their \
                     number), and start the copy after it."
                ),
            );
        }
        if is_bulk_store(launch, first.instr) {
            return Reason::new(
                format!(
                    "{} writes at {after} without having passed a barrier together with {} since that \
                     started the copy: either the copy came too early, or the write did.",
                    thread(second),
                    thread(first)
                ),
                format!(
                    "if the copy should read what is written at {after}: start it after a barrier that every \
                     writing thread has passed. If it should read what was there before: let the thread that \
                     started it wait (cp.async.bulk.wait_group.read) before the barrier after which others \
                     write there again."
                ),
            );
        }
        if is_copy(launch, first.instr) {
            return Reason::new(
                format!(
                    "{} has not waited for the phase of the copy, nor passed a barrier together with a \
                     thread that had.",
                    thread(second)
                ),
                format!(
                    "wait for that phase in each warp that reaches {after}. Or let one warp wait before a \
                     barrier of all of them."
                ),
            );
        }
        let (access, accessed) = match first.kind {
            AccessKind::Read => ("read", "read"),
            _ => ("write", "written"),
        };
        let advice = format!(
            "let the threads arrive at an mbarrier (mbarrier.arrive) after {before}, and wait for that phase \
             before {after}. Or put a barrier of all of them in between."
        );
        let copies = is_copy(launch, second.instr);
        if copies && launch.mnemonic(first.instr).starts_with("wgmma") {
            return Reason::new(
                format!(
                    "nothing orders the copy after the `wgmma` of {} at {before}: no arrival after a \
                     `wgmma.wait_group` for it belongs to a phase that {} had waited for.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "let the threads that execute {before} first execute `wgmma.wait_group`, then arrive \
                     at an mbarrier (mbarrier.arrive). Let the copying thread wait for the phase that these \
                     arrivals complete (its parity changes each time), and then start the copy."
                ),
            );
        }
        if copies {
            Reason::new(
                format!(
                    "nothing orders the copy after the {access} of {} at {before}: no arrival after that \
                     line belongs to a phase that {} had waited for.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "let the threads that execute {before} arrive at an mbarrier after it (mbarrier.arrive), \
                     and let the copying thread wait for that phase before it starts the copy."
                ),
            )
        } else {
            let phases = launch.inputs.kernel.ops.iter().any(|op| matches!(op.kind, OpKind::Mbarrier(_)));
            let (no_order, advice) = match phases {
                true => (
                    "no arrival after that line belongs to a phase that it had waited for, and no barrier of both lies \
                     between",
                    advice,
                ),
                false => (
                    "it has waited at no barrier at which that one had arrived after the line",
                    format!(
                        "put a barrier in between at which the threads of both take part: __syncthreads(), or one with a \
                         number of its own that counts them all (bar.arrive after {before}, bar.sync before {after})."
                    ),
                ),
            };
            let [one, other] = [second, first].map(thread);
            Reason::new(
                format!("{one} can reach {after} before {other} has {accessed} this at {before}: {no_order}."),
                advice,
            )
        }
    }
}

/// Returns whether the instruction starts bulk copies out of shared memory.
fn is_bulk_store(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.ops(instr).any(|op| match op {
        OpKind::TensorCopy(copy) => copy.way == TensorWay::Store,
        OpKind::BulkBytes(copy) => copy.way == TensorWay::Store,
        _ => false,
    })
}

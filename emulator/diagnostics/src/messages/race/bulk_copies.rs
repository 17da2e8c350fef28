//! Races of bulk copies and products, which phases of barriers in shared memory would order.

use super::{RaceMessage, is_copy};
use crate::launch_context::{LaunchContext, Reason};
use simt::check::{AccessKind, RaceParty};
use simt::program::{OpKind, TensorWay};

impl RaceMessage<'_> {
    /// The reason that neither a phase of a barrier in shared memory nor a barrier of the block orders the accesses.
    pub(super) fn unordered(&self) -> Reason {
        let launch = self.launch;
        let [first, second] = self.facts.parties;
        let here = self.first.instr;
        let line = |party: RaceParty| launch.line_name(here, party.instr);
        let thread = |party: RaceParty| format!("thread {}", launch.thread_position(u64::from(party.thread)));
        let (before, after) = (line(first), line(second));
        if is_store_of_bulk(launch, second.instr) {
            return Reason::new(
                format!(
                    "the copy was started while nothing said that {} had written this at {before}: {} has met it at no barrier \
                     since.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "after {before}, execute fence.proxy.async in each thread that writes, then a barrier of all of them and of \
                     the thread that copies (__syncthreads(), or bar.sync with their number), and then start the copy."
                ),
            );
        }
        if is_store_of_bulk(launch, first.instr) {
            return Reason::new(
                format!(
                    "{} writes at {after} without having met {} at a barrier since that started the copy: either the copy came \
                     too early, or the write did.",
                    thread(second),
                    thread(first)
                ),
                format!(
                    "if the copy is to have what is written at {after}: start it behind a barrier that all who write have \
                     passed. If it is to have what was there before: let the thread that started it wait \
                     (cp.async.bulk.wait_group.read) before a barrier behind which others write there again."
                ),
            );
        }
        if is_copy(launch, first.instr) {
            return Reason::new(
                format!(
                    "{} has not waited for the phase that the bytes of the copy belong to, and has met no thread at a barrier that \
                     had.",
                    thread(second)
                ),
                format!(
                    "wait for that phase in each warp that comes to {after}, or in one before a barrier of all of them."
                ),
            );
        }
        let did = match first.kind {
            AccessKind::Read => "read",
            _ => "written",
        };
        let advice = format!(
            "let the threads arrive at a barrier (mbarrier.arrive) behind {before}, and wait for that phase before {after}; or put \
             a barrier of all of them between."
        );
        let copies = is_copy(launch, second.instr);
        if copies && is_product(launch, first.instr) {
            return Reason::new(
                format!(
                    "the copy was started while nothing said that the product of {} at {before} was done: no arrival behind a \
                     `wgmma.wait_group` for it belongs to a phase that {} had waited for.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "in the threads that come to {before}: first `wgmma.wait_group`, then arrive at a barrier (mbarrier.arrive). \
                     Let the thread that copies wait for the phase that these arrivals end (its parity changes each time), and \
                     then start the copy."
                ),
            );
        }
        match copies {
            true => Reason::new(
                format!(
                    "the copy was started while nothing said that {} had {did} this at {before}: no arrival behind that line \
                     belongs to a phase that {} had waited for.",
                    thread(first),
                    thread(second)
                ),
                format!(
                    "let the threads that come to {before} arrive at a barrier behind it (mbarrier.arrive), and the one that \
                     copies wait for that phase before it starts the copy."
                ),
            ),
            false => Reason::new(
                format!(
                    "a thread can reach {after} before another one has {did} this at {before}: no arrival behind that line belongs \
                     to a phase that {} had waited for, and no barrier of both lies between.",
                    thread(second)
                ),
                advice,
            ),
        }
    }
}

/// True if the instruction starts a product of a warpgroup.
fn is_product(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.mnemonic(instr).starts_with("wgmma")
}

/// True if the instruction starts bulk copies out of shared memory.
fn is_store_of_bulk(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.ops(instr).any(|op| match op {
        OpKind::TensorCopy(copy) => copy.way == TensorWay::Store,
        OpKind::BulkBytes(copy) => copy.way == TensorWay::Store,
        _ => false,
    })
}

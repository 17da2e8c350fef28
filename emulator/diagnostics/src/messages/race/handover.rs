//! Races of data that threads hand to each other by a flag or protect by a lock, where a fence is missing.

use super::RaceMessage;
use crate::launch_context::Reason;
use crate::trace::End;
use crate::words::code;
use simt::check::AccessKind;
use simt::program::{MemSpace, Op, OpKind};

impl RaceMessage<'_> {
    /// Returns the reason where the accesses would have an order if fences stood beside the flag or the lock.
    pub(super) fn without_fence(&self) -> Option<Reason> {
        let Self { launch, first, second, ref array, here, .. } = *self;
        let fence = if self.between_blocks() { "__threadfence()" } else { "__threadfence_block()" };
        let ops = &launch.inputs.kernel.ops;
        let has_fence = |from: u32, to: u32| {
            let is_fence = |op: &&Op| matches!(op.kind, OpKind::Fence | OpKind::ProxyFence);
            ops.iter().filter(is_fence).any(|op| (from..=to).contains(&op.instr))
        };
        let lines = [first, second].map(|party| launch.line(party.instr).1);
        // A loop that does nothing but wait has neither access.
        let is_wait = |op: &&Op| {
            let loops = launch.loops(op.instr);
            self.is_poll(op) && loops.first().is_some_and(|one| lines.iter().all(|line| !one.is_loop_with(*line)))
        };
        let name = |instr: u32| launch.line_name(here, instr);
        if let Some(lock) = self.lock_given_back(second.instr).filter(|_| second.kind == AccessKind::Atomic) {
            return Some(Reason::new(
                format!(
                    "{} waits for a lock, and {} gives it back by an ordinary store, which has no order with what \
                     the lock protects.",
                    name(second.instr),
                    name(first.instr)
                ),
                format!("give it back by {}, behind a {fence}.", code(&format!("atomicExch({lock}, 0)"))),
            ));
        }
        ops.iter().filter(is_wait).find_map(|wait| {
            let word = self.word(wait.instr).filter(|word| Some(word) != self.word(first.instr).as_ref())?;
            let sets = ops.iter().filter(|op| {
                let is_store = matches!(op.kind, OpKind::Atomic(_) | OpKind::Store(_));
                is_store && op.instr != wait.instr && self.word(op.instr).as_ref() == Some(&word)
            });
            let (start, end) = (first.instr.min(second.instr), first.instr.max(second.instr));
            let is_lock = takes_lock(launch.mnemonic(wait.instr)) && wait.instr < start;
            let is_flag = (first.kind, second.kind) == (AccessKind::Write, AccessKind::Read) && wait.instr < second.instr;
            sets.map(|op| op.instr).find_map(|set| {
                let [taken, given] = [wait.instr, set].map(name);
                if is_lock && set > end {
                    let (acquires, releases) = (has_fence(wait.instr, start), has_fence(end, set));
                    let places = match (acquires, releases) {
                        (true, true) => return None,
                        (false, true) => format!("after {taken}"),
                        (true, false) => format!("before {given}"),
                        (false, false) => format!("after {taken}, and another one before {given}"),
                    };
                    let of = if acquires { given.as_str() } else { taken.as_str() };
                    return Some(Reason::new(
                        format!(
                            "{taken} takes a lock and {given} gives it back, but no {fence} orders {array} with {of}: the \
                             next one to take the lock may read the old value."
                        ),
                        format!("add {fence} {places}."),
                    ));
                }
                (is_flag && set > first.instr && !has_fence(first.instr, set)).then(|| {
                    let acquires = has_fence(wait.instr, second.instr);
                    let more = if acquires { String::new() } else { format!(", and another one after the wait at {taken}") };
                    let write = name(first.instr);
                    Reason::new(
                        format!(
                            "{given} sets a flag for which {taken} waits, but no {fence} orders it with the store at \
                             {write}: the flag may be seen before the data."
                        ),
                        format!("add {fence} between {write} and {given}, in each thread that writes{more}."),
                    )
                })
            })
        })
    }

    /// Returns whether an instruction reads what other threads set.
    fn is_poll(&self, op: &Op) -> bool {
        let is_memory = |space| matches!(space, MemSpace::Global | MemSpace::Generic | MemSpace::Shared);
        match &op.kind {
            OpKind::Atomic(atomic) => atomic.returns && is_memory(atomic.space),
            OpKind::Load(access) => is_strong(self.launch.mnemonic(op.instr)) && is_memory(access.space),
            _ => false,
        }
    }

    /// Returns the lock for which an atomic waits that other threads give back by the first access.
    fn lock_given_back(&self, wait: u32) -> Option<&str> {
        let Self { launch, first, ref array, .. } = *self;
        let takes = takes_lock(launch.mnemonic(wait));
        let is_plain = launch.mnemonic(first.instr).starts_with("st.") && !is_strong(launch.mnemonic(first.instr));
        (takes && is_plain && wait < first.instr && !launch.loops(wait).is_empty()).then_some(array)
    }

    /// Returns what an address is made of: the parameter of a pointer, or the name of an array.
    fn word(&self, instr: u32) -> Option<String> {
        let param = |end: &End| if let End::Param(index) = end { Some(index.to_string()) } else { None };
        let of_param = self.launch.trace().ends(instr).and_then(|ends| ends.iter().find_map(param));
        let operand = self.launch.info(instr)?.text.split_once('[')?.1;
        of_param.or_else(|| Some(operand.split(['+', ']']).next()?.to_owned()))
    }
}

fn takes_lock(mnemonic: &str) -> bool {
    mnemonic.starts_with("atom") && [".cas", ".exch"].iter().any(|word| mnemonic.contains(word))
}

/// Returns whether a load or a store is visible to other threads while the kernel runs.
fn is_strong(mnemonic: &str) -> bool {
    [".volatile", ".relaxed", ".acquire", ".release"].iter().any(|word| mnemonic.contains(word))
}

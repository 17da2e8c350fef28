//! Races of data that threads hand to each other by a flag or protect by a lock, where a fence is missing.

use super::RaceMessage;
use crate::launch_context::Reason;
use crate::trace::End;
use crate::words::code;
use program::{AtomicKind, MemSpace, Op, OpKind};
use simt::check::AccessKind;

impl RaceMessage<'_> {
    /// Returns the reason where the accesses would have an order if fences stood beside the flag or the lock.
    pub(super) fn without_fence(&self) -> Option<Reason> {
        let Self { launch, first, second, ref array, main_instr, .. } = *self;
        let fence = if self.between_blocks() { "__threadfence()" } else { "__threadfence_block()" };
        let ops = &launch.inputs.kernel.ops;
        let has_fence =
            |from: u32, to: u32| ops.iter().filter(|op| op.kind.is_fence()).any(|op| (from..=to).contains(&op.instr));
        let name = |instr: u32| launch.line_name(main_instr, instr);
        // Other threads give back by the first access the lock for which the second one waits.
        let gives_back =
            launch.ops(first.instr).any(|op| matches!(op, OpKind::Store(access) if !access.order.is_strong()));
        let waits = launch.ops(second.instr).any(takes_lock) && !launch.loops(second.instr).is_empty();
        if gives_back && waits && second.kind == AccessKind::Atomic && second.instr < first.instr {
            let (write, wait) = (name(first.instr), name(second.instr));
            return Some(Reason::new(
                format!(
                    "{wait} waits for a lock, and {write} gives it back by an ordinary store, which has no order with \
                     what the lock protects."
                ),
                format!("give it back by {}, behind a {fence}.", code(&format!("atomicExch({array}, 0)"))),
            ));
        }
        let lines = [first, second].map(|party| launch.line(party.instr).1);
        let (start, end) = (first.instr.min(second.instr), first.instr.max(second.instr));
        let is_handed = (first.kind, second.kind) == (AccessKind::Write, AccessKind::Read);
        let word = self.word(first.instr);
        let pairs = ops.iter().filter(|op| self.is_poll(op)).flat_map(|op| {
            let (wait, of) = (op.instr, self.word(op.instr).filter(|of| Some(of) != word.as_ref()));
            let loops = launch.loops(wait);
            // A loop that does nothing but wait for a flag has neither access.
            let does_wait = loops.first().is_some_and(|one| !lines.iter().any(|line| one.is_loop_with(*line)));
            let is_lock = takes_lock(&op.kind) && !loops.is_empty() && wait < start;
            let is_store = move |op: &&Op| matches!(op.kind, OpKind::Atomic(_) | OpKind::Store(_)) && op.instr != wait;
            let sets = ops.iter().filter(is_store).filter(move |op| of.is_some() && self.word(op.instr) == of);
            sets.filter_map(move |op| match op.instr {
                set if is_lock && set > end => Some((wait, set, true)),
                set if does_wait && is_handed && wait < second.instr && set > first.instr => Some((wait, set, false)),
                _ => None,
            })
        });
        // The ones next to the accesses.
        let (wait, set, is_lock) =
            pairs.min_by_key(|(wait, set, _)| set.abs_diff(first.instr) + wait.abs_diff(second.instr))?;
        let ([taken, given], write) = ([wait, set].map(name), name(first.instr));
        let (from, to) = if is_lock { (start, end) } else { (second.instr, first.instr) };
        match (is_lock, has_fence(wait, from), has_fence(to, set)) {
            (true, true, true) | (false, _, true) => None,
            (true, acquires, releases) => {
                let (of, places) = match (acquires, releases) {
                    (false, false) => (&taken, format!("after {taken}, and another one before {given}")),
                    (false, _) => (&taken, format!("after {taken}")),
                    _ => (&given, format!("before {given}")),
                };
                let why = format!(
                    "{taken} takes a lock and {given} gives it back, but no {fence} orders {array} with {of}: the next \
                     one to take the lock may read the old value."
                );
                Some(Reason::new(why, format!("add {fence} {places}.")))
            }
            (false, acquires, false) => {
                let why = format!(
                    "{given} sets a flag for which {taken} waits, but no {fence} orders it with the store at {write}: the \
                     flag may be seen before the data."
                );
                let more =
                    if acquires { String::new() } else { format!(", and another one after the wait at {taken}") };
                let places = format!("between {write} and {given}, in each thread that writes{more}");
                Some(Reason::new(why, format!("add {fence} {places}.")))
            }
        }
    }

    /// Returns whether an instruction reads what other threads set.
    fn is_poll(&self, op: &Op) -> bool {
        let is_memory = |space| matches!(space, MemSpace::Global | MemSpace::Generic | MemSpace::Shared);
        match &op.kind {
            OpKind::Atomic(atomic) => atomic.returns && is_memory(atomic.space),
            OpKind::Load(access) => access.order.is_strong() && is_memory(access.space),
            _ => false,
        }
    }

    /// Returns what an address is made of: the parameter of a pointer, or the name of an array.
    fn word(&self, instr: u32) -> Option<String> {
        let param = |end: &End| if let End::Param(index) = end { Some(index.to_string()) } else { None };
        let of_param = self.launch.trace().ends(instr).and_then(|ends| ends.iter().find_map(param));
        of_param.or_else(|| Some(self.launch.trace().base(instr)?.to_owned()))
    }
}

/// Returns whether it is an atomic by which a thread that gets the right old value takes a lock.
fn takes_lock(op: &OpKind) -> bool {
    matches!(op, OpKind::Atomic(atomic) if atomic.returns && matches!(atomic.kind, AtomicKind::Cas | AtomicKind::Exch))
}

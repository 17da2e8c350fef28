//! Races of data that threads hand to each other by a flag or protect by a lock, where a fence is missing.

use super::RaceMessage;
use crate::{launch_context::Reason, messages::choose::is_volatile, trace::End, words::code};
use program::{AtomicKind, MemSpace, Op, OpKind};
use simt::check::{AccessKind, MissingOrder};

impl RaceMessage<'_> {
    /// Returns the reason where the accesses would have an order if fences stood beside the flag or the lock.
    pub(super) fn without_fence(&self) -> Option<Reason> {
        let Self { launch, facts, first, second, ref array, main_instr, .. } = *self;
        let fence = if self.between_blocks() { "__threadfence()" } else { "__threadfence_block()" };
        let ops = &launch.inputs.kernel.ops;
        let has_fence =
            |from: u32, to: u32| ops.iter().filter(|op| op.kind.is_fence()).any(|op| (from..=to).contains(&op.instr));
        let lacks_acquire = facts.missing == MissingOrder::Acquire;
        let name = |instr: u32| launch.line_name(main_instr, instr);
        if let Some(reason) = self.ordinary() {
            return Some(reason);
        }
        let lines = [first, second].map(|party| launch.line(party.instr).1);
        let (start, end) = (first.instr.min(second.instr), first.instr.max(second.instr));
        let is_handed = (first.kind, second.kind) == (AccessKind::Write, AccessKind::Read)
            && (facts.missing == MissingOrder::Unknown || facts.parties[1] == second);
        let word = self.word(first.instr);
        let pairs = ops.iter().filter(|op| self.is_poll(op)).flat_map(|op| {
            let (wait, of) = (op.instr, self.word(op.instr).filter(|of| Some(of) != word.as_ref()));
            let loops = launch.loops(wait);
            // A loop that does nothing but wait for a flag has neither access.
            let does_wait = loops.first().is_some_and(|one| !lines.iter().any(|line| one.is_loop_with(*line)));
            let is_lock = takes_lock(&op.kind) && !loops.is_empty() && wait < start;
            let changes = |op: &Op| !launch.info(op.instr).is_some_and(|info| info.text.ends_with("], 0;"));
            let is_set = move |op: &&Op| {
                let stores = match &op.kind {
                    OpKind::Atomic(atomic) => takes_lock(&op.kind) || !atomic.returns || changes(op),
                    kind => matches!(kind, OpKind::Store(_)),
                };
                stores && of.is_some() && self.word(op.instr) == of && launch.line(op.instr) != launch.line(wait)
            };
            let sets = ops.iter().filter(is_set);
            let is_early = is_lock && !sets.clone().any(|op| op.instr > end);
            sets.filter_map(move |op| match op.instr {
                set if is_lock && set > end || is_early && (wait..start).contains(&set) => Some((wait, set, true)),
                set if does_wait && is_handed && wait < second.instr && set > first.instr => Some((wait, set, false)),
                _ => None,
            })
        });
        // The ones next to the accesses.
        let (wait, set, is_lock) =
            pairs.min_by_key(|(wait, set, _)| set.abs_diff(first.instr) + wait.abs_diff(second.instr))?;
        let ([taken, given], write) = ([wait, set].map(name), name(first.instr));
        let (from, to) = if is_lock { (start, end) } else { (second.instr, first.instr) };
        let are_fenced = if lacks_acquire { (false, true) } else { (has_fence(wait, from), has_fence(to, set)) };
        let is_round = launch.loops(set).first().is_some_and(|one| one.is_loop_with(launch.line(first.instr).1));
        let is_round = is_round && facts.missing == MissingOrder::Flag && launch.line(set) < launch.line(first.instr);
        let is_before = if is_lock { set < start } else { is_round };
        match (is_lock, are_fenced.0, are_fenced.1) {
            _ if is_before => {
                let does = if is_lock { "gives back the lock that" } else { "sets the flag for which" };
                let waits = if is_lock { "takes" } else { "waits" };
                Some(Reason::new(
                    format!(
                        "{given} {does} {taken} {waits}, before {write}: another thread goes on without what it stores."
                    ),
                    format!("move {given} behind {write}, with a {fence} between them."),
                ))
            }
            (false, false, true) if lacks_acquire => {
                let other = name(second.instr);
                let why = format!(
                    "{given} sets a flag for which {taken} waits, but no {fence} orders the wait with {other}: the old \
                     value may be read, before the wait is over or from the L1 cache."
                );
                Some(Reason::new(why, format!("add {fence} between {taken} and {other}, behind the wait.")))
            }
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

    /// Returns the reason where one access is ordinary, and the other an atomic or volatile, and so has an order by
    /// which threads hand data to each other.
    fn ordinary(&self) -> Option<Reason> {
        let Self { launch, facts, first, second, main_instr, .. } = *self;
        let is_plain = |op: &OpKind| matches!(op, OpKind::Load(a) | OpKind::Store(a) if !a.order.is_strong());
        let (plain, strong) = if launch.ops(first.instr).any(is_plain) { (first, second) } else { (second, first) };
        let [this, other] = [plain, strong].map(|party| launch.line_name(main_instr, party.instr));
        let fence = if self.between_blocks() { "__threadfence()" } else { "__threadfence_block()" };
        let loops = launch.loops(strong.instr);
        let [line, strong_line] = [plain, strong].map(|party| launch.line(party.instr).1);
        let waits = loops.first().is_some_and(|one| one.is_loop_with(strong_line) && !one.is_loop_with(line));
        let takes = !loops.is_empty() && strong.instr < plain.instr && launch.ops(strong.instr).any(takes_lock);
        let is_store = plain.kind == AccessKind::Write;
        let strength = match strong.kind {
            AccessKind::Atomic => "an atomic",
            _ if is_volatile(launch, strong.instr) => "a volatile access",
            _ => "a relaxed, acquiring or releasing access",
        };
        let exchange = match self.assigned() {
            Some((_, pointer, new)) if self.is_whole() => code(&format!("atomicExch({pointer}, {new})")),
            _ => "atomicExch".to_owned(),
        };
        let (why, advice) = match is_store {
            true if takes && strong.kind == AccessKind::Atomic => (
                format!(
                    "{other} waits for a lock, and {this} gives it back by an ordinary store, which has no order with \
                     what the lock protects."
                ),
                format!("give it back by {exchange}, behind a {fence}."),
            ),
            _ if facts.missing != MissingOrder::Strength || self.loop_of_nothing().is_some() => return None,
            true if waits => (
                format!(
                    "{other} waits for what {this} stores, and {this} is an ordinary store: the compiler may move it, and \
                     it has no order with the data for which it stands, not even behind a fence."
                ),
                format!("store by {exchange}, behind a {fence}, or to a volatile variable."),
            ),
            true => (
                format!(
                    "{this} is an ordinary store to what another block accesses by {strength} at {other}, and no fence and \
                     flag order the two."
                ),
                format!(
                    "let the block that comes second wait for a flag that the other one sets behind a {fence}; or, if both \
                     orders are right, use an atomic at {this} too, such as {exchange}."
                ),
            ),
            false => (
                format!(
                    "{this} is an ordinary read of what another block changes by {strength} at {other}, and no fence and \
                     flag order the two: it may find an old value, in a register or in the L1 cache."
                ),
                format!("read it at {this} as volatile, or by an atomic; or behind a wait for a flag and a {fence}."),
            ),
        };
        Some(Reason::new(why, advice))
    }

    /// Returns what the line of the write assigns to: the element and a pointer to it; and the new value.
    pub(super) fn assigned(&self) -> Option<(&str, String, &str)> {
        let Self { launch, first, ref array, .. } = *self;
        let [used] = &launch.uses(first.instr, array, AccessKind::Write)[..] else { return None };
        let text = launch.source_of(first.instr)?.clean_line(used.line)?;
        let element = text.get(used.start..used.end)?;
        let new = text.get(used.end..)?.trim_start().strip_prefix('=')?.split_once(';')?.0.trim();
        let pointer = element.strip_prefix('*').map_or_else(|| format!("&{element}"), str::to_owned);
        Some((element, pointer, new))
    }

    /// Returns whether the element has a type that `atomicCAS` and `atomicExch` take.
    pub(super) fn is_whole(&self) -> bool {
        let ty = self.target.as_ref().map_or("", |target| target.element.element_type.as_str());
        ["int", "unsigned", "unsigned int", "unsigned long long"].contains(&ty)
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

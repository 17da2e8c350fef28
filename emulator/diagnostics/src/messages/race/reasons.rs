//! Why the accesses of a race have no order.

use std::ops::RangeInclusive;

use super::{RaceMessage, advice::READ_FIRST};
use crate::launch_context::{Around, Draft, LaunchContext, Reason};
use crate::locate::spot::{self, Spot};
use crate::messages::bounds::one_round_less;
use crate::messages::{choose, termination};
use crate::source::text::{bracketed, has_word};
use crate::{trace::End, words::code};
use program::{MemSpace, Op, OpKind};
use simt::check::{AccessKind, MissingOrder, RaceParty};
use simt::lane_mask::LaneMask;

pub(super) const DEPENDS_ON_TIMING: &str = "the result depends on timing: it can be right today and wrong tomorrow.";
const OFTEN_WORKS: &str = "the kernel often works, until the compiler or another GPU schedules lanes differently.";

impl RaceMessage<'_> {
    /// Adds the reason of the race, the advice, and what a GPU does.
    pub(super) fn reasons(&self, mut draft: Draft) -> Draft {
        let Self { launch, facts: race, first, second, update, .. } = *self;
        let main_instr = first.instr;
        let between_blocks = self.between_blocks();
        let (write, other) = self.lines();
        let both_write = first.kind == AccessKind::Write && second.kind == AccessKind::Write;
        let barrier = self.barrier();
        let left_out = self.leaves_out();
        if race.equal {
            return draft.reason(self.equal_values()).on_gpu("the result is the same every time.");
        }
        draft.on_gpu = Some(DEPENDS_ON_TIMING.into());
        if let Some(reason) = self.stride_too_short().or_else(|| self.without_fence()) {
            return draft.reason(reason);
        }
        if update {
            return draft.reason(self.lost_update()).on_gpu("some updates are lost, a different number in each run.");
        }
        if let Some(what) = left_out.filter(|_| both_write) {
            return draft.why(format!("{}, and only one value stays.", self.same_elements(what))).advice(format!(
                "if each thread has its own element, add {what} to the index; if not, let one thread write.",
            ));
        }
        let may_claim = race.same_instruction || self.replaces_what_it_read();
        if let Some(reason) = may_claim.then(|| self.claim()).flatten() {
            return draft.reason(reason);
        }
        if race.same_instruction {
            draft.why = Some(format!("all these threads run {write} together, and only one value stays."));
            let one = match race.same_warp && self.depends_on_thread() {
                true => "lane of each warp write (if (threadIdx.x % 32 == 0) …), or give each thread",
                false => "thread write (if (threadIdx.x == 0) …), or give each",
            };
            draft.advice = Some(format!("let one {one} its own element."));
            return draft;
        }
        if race.missing == MissingOrder::Phase {
            return draft.reason(self.unordered());
        }
        if second.kind == AccessKind::Read
            && let Some(one) = self.loop_of_nothing()
        {
            let reason = termination::reads_nothing(one.enclosure.inside());
            return draft.reason(reason).on_gpu("the kernel hangs, or works, depending on timing.");
        }
        if let Some((atomic, [is_released, is_acquired])) = ticket(launch, first, second).filter(|_| between_blocks) {
            let line = launch.line_name(main_instr, atomic);
            let [before, after] = [
                format!("between {write} and the atomic at {line}"),
                format!("between the atomic at {line} and {other}"),
            ];
            let lacks = if is_released {
                format!("orders {other} behind it: an old value may be read.")
            } else {
                format!("makes what they wrote at {write} visible before it.")
            };
            return draft
                .why(format!("the atomic at {line} counts the blocks that are done, but no __threadfence() {lacks}"))
                .advice(match (is_released, is_acquired) {
                    (true, _) => format!("add __threadfence() {after}."),
                    (_, true) => format!("add __threadfence() {before}."),
                    _ => format!("add __threadfence() {before}, and another one between the atomic and {other}."),
                });
        }
        if matches!(race.missing, MissingOrder::Flag | MissingOrder::Acquire) {
            let [early, late] = race.parties;
            let (does, did) = match (early.kind, late.kind) {
                (AccessKind::Read, _) => ("writes to", "read"),
                (_, AccessKind::Read) => ("reads", "wrote"),
                _ => ("writes to", "wrote"),
            };
            let [early_line, late_line] = launch.lines_apart(main_instr, [early.instr, late.instr]);
            let [early_block, late_block] = [early, late].map(|party| launch.block_position(party.block));
            let what = format!("{late_line} {does} what block {early_block} {did} at {early_line}.");
            if race.missing == MissingOrder::Acquire {
                return draft
                    .why(format!(
                        "{what} Block {late_block} had read a flag that was set after it, behind a fence, but executed no \
                         fence between reading the flag and {late_line}: an old value may be read.",
                    ))
                    .advice(format!("add __threadfence() between the read of the flag and {late_line}."));
            }
            return draft
                .why(format!(
                    "{what} The blocks hand data to each other by flags, but block {late_block} had read no flag that was \
                     set after {early_line} and a fence (__threadfence(), or a store with .release).",
                ))
                .advice(
                    "let one block execute __threadfence() in each thread, then a barrier \
                     of all of them, then set the flag. Let the other block wait until the flag is set, \
                     and then execute a barrier of all threads that go on.",
                );
        }
        if let Some(reason) = self.exchange() {
            return draft.reason(reason);
        }
        if both_write {
            return draft
                .why(if between_blocks {
                    "both write to the same element in one launch, and blocks run in any order."
                } else {
                    "both write to the same element, and nothing determines which value remains."
                })
                .advice(if let Some(advice) = one_round_less(launch, main_instr) {
                    advice
                } else if between_blocks {
                    let adds = launch.clean_line(second.instr).is_some_and(|text| text.contains("+="));
                    let or = if adds { ", or combine results with an atomic" } else { "" };
                    format!("give each block its own elements{or}.")
                } else if launch.line(first.instr) == launch.line(second.instr) {
                    format!(
                        "give each thread its own element, let one thread write, or order them by \
                             {barrier}."
                    )
                } else {
                    let is_first = launch.line(first.instr) < launch.line(second.instr);
                    let (early, late) = if is_first { (write, other) } else { (other, write) };
                    format!(
                        "if one is to come first, add {barrier} between {early} and {late}; if not, let one thread write, \
                         or give each thread its own element."
                    )
                });
        }
        if self.replaces_what_it_read() {
            return draft
                .why(format!(
                    "a thread reads the element{} and stores to it at {write}; what another one stores in between is \
                     overwritten.",
                    if self.on_one_line() { String::new() } else { format!(" at {other}") },
                ))
                .advice(
                    "read and store in one step, by an atomic function: atomicMin or atomicMax for the smallest or \
                     largest, atomicExch to take the old value, atomicCAS to store only if nobody has.",
                );
        }
        if between_blocks {
            return draft
                .why(
                    "blocks run in any order and at the same time; __syncthreads() orders threads of one \
                      block only.",
                )
                .advice(match launch.place(first.instr).line.abs_diff(launch.place(second.instr).line) {
                    0..=3 => {
                        "read from one buffer and write the results to another, or split the work into \
                              two launches."
                    }
                    _ => {
                        "write to another buffer, or split the work into two launches: the end of a launch \
                          orders everything."
                    }
                });
        }
        self.reasons_within_block(draft)
    }

    /// Returns the loop that tests the array, and in which the compiler left nothing to read: a branch to itself.
    pub(super) fn loop_of_nothing(&self) -> Option<Around<'_>> {
        let Self { launch, ref array, .. } = *self;
        let ops = launch.inputs.kernel.ops.iter().enumerate();
        let spins =
            |(at, op): &(usize, &Op)| matches!(op.kind, OpKind::Branch { target, .. } if target as usize == *at);
        let loops = ops.filter(spins).filter_map(|(_, op)| launch.loops(op.instr).into_iter().next());
        { loops }.find(|one| has_word(one.enclosure.inside(), array))
    }

    /// Returns the reason where each of two threads exchanges the same two elements in one step: both store to both.
    fn exchange(&self) -> Option<Reason> {
        let Self { launch, first, second, ref array, .. } = *self;
        let source = launch.source_of(first.instr)?;
        let step = match self.common_loop() {
            // No barrier makes blocks go on to the next round together.
            Some(_) if self.between_blocks() => return None,
            Some(_) if spot::barrier_between(launch, first.instr, second.instr).is_some() => return None,
            Some((file, lines)) => spot::barrier_in(launch, file, lines.clone()).map(|_| lines)?,
            None => spot::lines_without_barrier(launch, first.instr)?,
        };
        let uses = step.flat_map(|line| source.uses(line, array)).map(|found| (found.loaded, found.subscripts));
        let (loaded, stored): (Vec<_>, Vec<_>) = uses.partition(|(loaded, _)| *loaded);
        let [(_, one), (_, two)] = &stored[..] else { return None };
        let are_read = [one, two].iter().all(|stored| loaded.iter().any(|(_, read)| read == *stored));
        (are_read && one != two).then(|| {
            let [one, two] = [one, two].map(|subscripts| code(&format!("{array}[{}]", subscripts.join("]["))));
            Reason::new(
                format!(
                    "each thread exchanges {one} and {two}, and these two threads exchange the same element in one step. \
                     A barrier between reading and storing does not help: both still store to it."
                ),
                "let only one thread of each pair exchange its elements, such as the one of the lower index.",
            )
        })
    }

    /// Returns whether threads read an element and then write it, all the same one: the subscripts are equal, and no
    /// condition of positions chooses the thread that writes. `if (best[bin[i]] < v) best[bin[i]] = v;`.
    fn replaces_what_it_read(&self) -> bool {
        let Self { launch, first, second, ref array, .. } = *self;
        let Some(ends) = launch.trace().ends(first.instr) else { return false };
        let from_memory = ends.iter().any(|end| matches!(end, End::Loaded(_)));
        let differs =
            |end: &End| matches!(end, End::Block(_)) || !self.between_blocks() && matches!(end, End::Thread(_));
        let is_common = from_memory || !ends.iter().any(differs);
        let element = |instr, kind| match &launch.uses(instr, array, kind)[..] {
            [found] => Some(found.subscripts.clone()),
            _ => None,
        };
        let written = element(first.instr, AccessKind::Write);
        let is_known = |one: &Around<'_>, part: &str| launch.evaluate_in(one.file, part, first.thread_id()).is_some();
        let chooses = |one: &Around<'_>| {
            let condition = one.enclosure.header.strip_prefix("if").map(str::trim).and_then(bracketed);
            let sides = condition.and_then(|text| text.split_once("=="));
            sides.is_some_and(|(left, right)| is_known(one, left) && is_known(one, right))
        };
        is_common
            && second.instr < first.instr
            && !launch.around(first.instr).iter().any(chooses)
            && first.kind == AccessKind::Write
            && written.is_some()
            && written == element(second.instr, second.kind)
    }

    /// Returns the reason where threads claim an element: `if (owner[i] == 0) owner[i] = me;`.
    fn claim(&self) -> Option<Reason> {
        let Self { launch, first, .. } = *self;
        let (element, pointer, new) = self.assigned()?;
        let around = launch.around(first.instr);
        let around = around.last()?;
        let test = around.enclosure.condition.trim();
        let (left, right) = test.split_once("==").map_or(("", ""), |(left, right)| (left.trim(), right.trim()));
        let free = match test.strip_prefix('!') {
            Some(tested) if tested.trim() == element => "0",
            _ if left == element => right,
            _ if right == element => left,
            _ => return None,
        };
        let advice = match self.is_whole() {
            true => format!(
                "test and store in one step, so that one thread wins: {}.",
                code(&format!("if (atomicCAS({pointer}, {free}, {new}) == {free})"))
            ),
            false => "test and store in one step, so that one thread wins: atomicCAS, on an int.".into(),
        };
        let (write, tested) = (self.lines().0, around.name(launch, self.main_instr));
        Some(Reason::new(
            format!(
                "several threads can find {} at {tested} before one of them stores at {write}: each goes on as if it were \
                 the only one.",
                code(test)
            ),
            advice,
        ))
    }

    fn equal_values(&self) -> Reason {
        let Self { launch, first, second, .. } = *self;
        let ends = launch.trace().ends(first.instr).filter(|_| first.instr == second.instr);
        let constant =
            ends.is_some_and(|ends| ends.iter().all(|end| matches!(end, End::Param(_) | End::Symbol | End::Size)));
        match (self.leaves_out(), constant) {
            (Some(what), _) => Reason::new(
                format!("{}. The values are equal, so the result is the same every time.", self.same_elements(what)),
                format!("if each thread has its own element, add {what} to the index; if not, let one thread write."),
            ),
            (None, true) => Reason::new(
                "whichever write comes last, the value is the same: harmless as long as that stays so.",
                "let one thread write it, or use an atomic (atomicOr, atomicExch) to say that it is meant.",
            ),
            (None, false) => Reason::new(
                "their indices are the same here. The values are equal, so the result is the same every time.",
                "if each thread should have its own element, check the index; if not, let one thread write.",
            ),
        }
    }

    /// Returns the reason of updates that are not atomic: `bins[i] += 1`.
    fn lost_update(&self) -> Reason {
        let Self { launch, facts: race, first, ref array, .. } = *self;
        let write = launch.uses(first.instr, array, AccessKind::Write);
        let text = launch.clean_line(first.instr).unwrap_or_default();
        let element = write.first().and_then(|found| text.get(found.start..found.end)).unwrap_or(array);
        let element = element.trim_start_matches('*');
        let is_pointer = write.iter().all(|found| found.subscripts.is_empty()) && race.space == MemSpace::Global;
        let pointer = if is_pointer { element.to_owned() } else { format!("&{element}") };
        let atomic = code(&format!("atomicAdd({pointer}, …)"));
        let after = write.first().and_then(|found| text.get(found.end..)).map(str::trim_start);
        let sum = after.is_some_and(|after| ["+=", "++", "-=", "--"].iter().any(|sign| after.starts_with(sign)));
        let advice = match (text.is_empty(), sum) {
            (true, _) => Some("make it one step with an atomic function, such as atomicAdd.".into()),
            (false, true) => Some(format!("make it one step: {atomic}.")),
            (false, false) => None,
        };
        let why = "an update is three steps (read, compute, write); of two threads that read the same old \
                   value, one is forgotten.";
        if sum && self.may_be_a_variable() {
            let shared = code("__shared__");
            return Reason::new(
                format!("{shared} makes one {array} for the whole block, and {why}"),
                format!(
                    "if each thread has a sum of its own, declare {array} without {shared}; if all threads add to one, \
                     make it one step: {atomic}."
                ),
            );
        }
        Reason { why: Some(why.into()), advice }
    }

    /// Returns whether all threads update one shared variable in a loop, and all read it elsewhere: each may mean a
    /// variable of its own.
    fn may_be_a_variable(&self) -> bool {
        let Self { launch, facts: race, first, ref target, ref array, .. } = *self;
        let (Some(source), Some(loc)) = (launch.source_of(first.instr), launch.loc(first.instr)) else { return false };
        let is_scalar = { target.as_ref() }.is_some_and(|target| target.named && target.element.n_elements == 1);
        let by_all = |line: u32| source.enclosing_condition(line).is_none();
        let reads = |line: u32| {
            let declares = source.line(line).is_some_and(|text| text.contains("__shared__"));
            let uses = source.uses(line, array);
            !declares && !uses.is_empty() && uses.iter().all(|found| found.loaded && !found.stored) && by_all(line)
        };
        race.space == MemSpace::Shared
            && is_scalar
            && by_all(loc.line)
            && !launch.loops(first.instr).is_empty()
            && (loc.line + 1..=source.n_lines()).any(reads)
    }

    /// Returns the part of [`Self::reasons`] on a write and a read in one block that a barrier would order.
    fn reasons_within_block(&self, draft: Draft) -> Draft {
        let Self { launch, facts: race, first, second, .. } = *self;
        if let Some((sync, mask)) = race.left_out {
            return draft.reason(self.lane_left_out(sync, mask)).on_gpu(OFTEN_WORKS);
        }
        if choose::in_step(launch, race) {
            return self.in_step(draft).on_gpu(OFTEN_WORKS);
        }
        if let Some(reason) = self.same_buffer() {
            return draft.reason(reason);
        }
        let spots = self.spots();
        if race.same_warp {
            return draft.reason(self.between_lanes(&spots)).on_gpu(OFTEN_WORKS);
        }
        let mut draft = draft.reason(self.between_warps(&spots));
        if let Some(line) = spots.iter().find_map(|spot| spot::not_called(launch, spot)) {
            let line = launch.numbered(first.instr, spots[0].file, line);
            return draft
                .why(format!("{line} names __syncthreads without calling it: that is no barrier."))
                .advice(format!("call it at {line}: `__syncthreads();`."));
        }
        let between = || spot::barrier_between(launch, first.instr, second.instr);
        let is_apart = spots.is_empty() && !self.on_one_line();
        let taken = spots.iter().find_map(|spot| spot::taken(launch, spot));
        if let Some(barrier) = taken.or_else(|| is_apart.then(between).flatten()) {
            let (write, other) = self.lines();
            let line = launch.line_name(first.instr, barrier);
            draft.advice = self.move_out(barrier);
            if draft.advice.is_some() {
                draft.why = Some(format!(
                    "the barrier at {line}, between {write} and {other}, stands under a condition: where that does not \
                     hold, it orders nothing."
                ));
            }
        }
        draft
    }

    /// Names of the lines of both accesses.
    pub(super) fn lines(&self) -> (String, String) {
        let [write, other] = self.launch.lines_apart(self.main_instr, [self.first.instr, self.second.instr]);
        (write, other)
    }

    /// Returns whether both accesses are on one line, or in one statement.
    fn on_one_line(&self) -> bool {
        let (write, other) = self.lines();
        write == other || spot::same_statement(self.launch, self.first.instr, self.second.instr)
    }

    /// Returns the reason where the mask of the `__syncwarp` at `sync` leaves out a lane.
    fn lane_left_out(&self, sync: u32, mask: LaneMask) -> Reason {
        let Self { launch, first, second, .. } = *self;
        let outside = [first, second].into_iter().find(|party| !mask.contains(party.thread as usize % 32));
        let lane = outside.map_or(0, |party| party.thread % 32);
        Reason::new(
            format!(
                "__syncwarp({mask:#010x}) at {} orders only the lanes that it names, and leaves out lane {lane}.",
                launch.line_name(first.instr, sync),
            ),
            "let every lane that writes or reads here take part: __syncwarp() where all of them are, before \
             the branch.",
        )
    }

    /// Adds the reason of code that relies on lanes that run in step.
    fn in_step(&self, mut draft: Draft) -> Draft {
        draft.title = format!("warp-synchronous code: {}", draft.title);
        draft
            .why(if choose::is_volatile(self.launch, self.first.instr) {
                "volatile keeps each access in the program, and orders no lanes: since Volta the lanes of a \
                 warp need not run in step."
            } else {
                "since Volta the lanes of a warp need not run in step: nothing orders what lanes write in \
                 one step and others read in another."
            })
            .advice(
                "accumulate in a register, and add __syncwarp() between reading and writing in every step; \
                 or use __shfl_down_sync, which needs no shared memory.",
            )
    }

    fn between_lanes(&self, spots: &[Spot]) -> Reason {
        let missing = self.facts.missing;
        let (write, other) = self.lines();
        let barrier = self.barrier();
        let overwrites = missing == MissingOrder::BeforeOverwriting;
        let why = if overwrites {
            format!(
                "a lane can overwrite the element at {write} before another has read it at {other}: lanes of \
                 a warp need not run in step."
            )
        } else {
            format!(
                "a lane can read the element at {other} before another has written it at {write}: lanes of a \
                 warp need not run in step (since Volta)."
            )
        };
        let advice = match spots {
            [spot] => self.place_barrier(barrier, spot, missing),
            _ if self.on_one_line() => READ_FIRST.replace("BARRIER", barrier),
            _ if overwrites => format!("add {barrier} after {other}, before {write} writes again."),
            _ => format!("add {barrier} after {write}, before {other} reads."),
        };
        Reason::new(why, advice)
    }

    fn common_loop(&self) -> Option<(u32, RangeInclusive<u32>)> {
        spot::common_loop(self.launch, self.first.instr, self.second.instr)
    }

    /// Returns the order that a barrier would make between warps of a block.
    fn order(&self) -> Order {
        let Self { launch, first, second, .. } = *self;
        let missing = self.facts.missing;
        let both_orders = matches!(missing, MissingOrder::Both | MissingOrder::BeforeReading);
        let in_loop = self.common_loop();
        // A barrier in the loop that all threads pass would separate its rounds: no second one is needed there.
        let in_loop = in_loop.is_some_and(|(file, lines)| spot::barrier_in(launch, file, lines).is_none());
        let is_copy = launch.ops(first.instr).any(|op| matches!(op, OpKind::CpAsync { .. }));
        let together = self.on_one_line() || spot::under_its_header(launch, first.instr, second.instr);
        match missing {
            _ if together && in_loop && both_orders => Order::BetweenRounds,
            _ if together => Order::ReadBeforeWrite { both_orders },
            MissingOrder::BeforeReading if is_copy => Order::OfAsyncCopy,
            MissingOrder::BeforeReading => Order::WriteBeforeRead,
            MissingOrder::BeforeOverwriting => Order::ReadBeforeOverwrite,
            MissingOrder::Both => Order::Both,
            _ => Order::Unknown,
        }
    }

    fn between_warps(&self, spots: &[Spot]) -> Reason {
        let Self { facts: race, ref array, .. } = *self;
        let (write, other) = self.lines();
        let barrier = self.barrier();
        match self.order() {
            Order::BetweenRounds => Reason::new(
                if self.on_one_line() {
                    format!(
                        "both happen at {write}: in one round of the loop a thread reads what another writes \
                         in that round or the next."
                    )
                } else {
                    format!(
                        "in one round of the loop a thread reads at {other} what another writes at {write} \
                         in that round or the next."
                    )
                },
                format!("add {barrier} at the end of each round, outside any `if` that not all threads enter."),
            ),
            Order::ReadBeforeWrite { both_orders } => Reason::new(
                if self.on_one_line() {
                    format!("both happen at {write}: a thread can write before another has read the old value.")
                } else {
                    format!("a thread can write at {write} before another has read the old value at {other}.")
                },
                match READ_FIRST.replace("BARRIER", barrier) {
                    advice if both_orders => format!("{advice} Add another {barrier} before the next read."),
                    advice => advice,
                },
            ),
            // It is not known whether the readers should see the old or the new contents.
            Order::OfAsyncCopy => Reason::new(
                format!("the copy at {write} may be done before or after another thread reads at {other}."),
                format!(
                    "if {other} should read what this copy loads, wait for it (cp.async.wait_group), and add \
                     {barrier} between the wait and {other}. If it reads what was there before, {barrier} \
                     after the copy does not help: start the copy at {write} after a {barrier} that follows \
                     the last read of its destination. One more slot in the ring also works."
                ),
            ),
            Order::WriteBeforeRead => Reason::new(
                format!("a thread can reach {other} before another has written the element at {write}."),
                match spots {
                    [spot] => self.place_barrier(barrier, spot, race.missing),
                    _ => {
                        format!("add {barrier} between {write} (all writes done) and {other} (reads may start).")
                    }
                },
            ),
            Order::ReadBeforeOverwrite => Reason::new(
                match spots {
                    [Spot { before: Some(_), .. }] => {
                        format!("a fast thread overwrites {array} at {write} while others still read at {other}.")
                    }
                    _ if self.common_loop().is_none() => {
                        format!("a fast thread changes {array} at {write} while others still read at {other}.")
                    }
                    _ => format!(
                        "a fast thread goes on to the next round and overwrites {array} at {write} while \
                         others still read at {other}."
                    ),
                },
                match spots {
                    [spot] => self.place_barrier(barrier, spot, race.missing),
                    _ if self.common_loop().is_none() => format!(
                        "if both mean this element, add {barrier} after all reads at {other} and before {write}, outside \
                         any `if` that not all threads enter; if not, check where {array} begins for each."
                    ),
                    _ => format!("add {barrier} after {other}, before the next round writes to {array}."),
                },
            ),
            Order::Both => Reason::new(
                format!(
                    "no barrier separates the writes at {write} from the reads at {other}, in neither \
                     direction."
                ),
                match spots {
                    [reading, overwriting] => {
                        let barrier_advice = self.place_barrier(barrier, reading, MissingOrder::BeforeReading);
                        let two = self.place_barrier("another", overwriting, MissingOrder::BeforeOverwriting);
                        // A barrier between rounds may be enough.
                        let same_round = match reading.before {
                            None => "if threads also read what others write in the same round, ",
                            Some(_) => "",
                        };
                        format!("{}, and {same_round}{two}", barrier_advice.trim_end_matches('.'))
                    }
                    _ => format!(
                        "add one {barrier} before reading (after {write}), and one before the next round \
                         overwrites {array} (after {other})."
                    ),
                },
            ),
            Order::Unknown => Reason::new(
                format!("{write} and {other} are executed by different threads, which meet at no barrier in between."),
                format!("add {barrier}, reached by all threads, between {write} and {other}."),
            ),
        }
    }
}

/// The order that is missing between two warps of a block, as far as it decides on the advice.
enum Order {
    /// Rounds of a loop whose body or header has both accesses.
    BetweenRounds,
    /// The read comes before the write, in one statement or in a body and its header; with `both_orders`, the write
    /// also comes before the next read.
    ReadBeforeWrite {
        both_orders: bool,
    },
    /// An asynchronous copy writes.
    OfAsyncCopy,
    WriteBeforeRead,
    ReadBeforeOverwrite,
    Both,
    Unknown,
}

/// Returns the atomic by which a block learns that the others have written, where a fence before it or after it is
/// missing, and which of the two is there. A last block that adds up what the others left is such a pattern.
fn ticket(launch: &LaunchContext<'_>, write: RaceParty, read: RaceParty) -> Option<(u32, [bool; 2])> {
    let ops = &launch.inputs.kernel.ops;
    let counts = |op: &&Op| match &op.kind {
        OpKind::Atomic(atomic) => matches!(atomic.space, MemSpace::Global | MemSpace::Generic) && atomic.dst.is_some(),
        _ => false,
    };
    let is_between = |instr: &u32| (write.instr..read.instr).contains(instr);
    let atomic = ops.iter().filter(counts).map(|op| op.instr).find(is_between)?;
    let fences: Vec<u32> = ops.iter().filter(|op| op.kind.is_fence()).map(|op| op.instr).collect();
    let has_fence = |from, to| fences.iter().any(|instr| (from..to).contains(instr));
    let has = [has_fence(write.instr, atomic), has_fence(atomic, read.instr)];
    let are_kinds = (write.kind, read.kind) == (AccessKind::Write, AccessKind::Read);
    (are_kinds && has != [true; 2]).then_some((atomic, has))
}

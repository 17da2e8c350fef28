//! Selects the findings to report: a mistake that follows from another one is left out, since it goes with it.

use std::collections::HashSet;

use super::{bounds::lack_the_same, sync};
use crate::{launch_context::LaunchContext, locate::spot};
use program::MemSpace;
use simt::check::{
    AccessKind, BadAccess, BadBarrier, BadWgmma, BarrierProblem, Code, CopyInFlight, KnownOfLoop, MissingOrder,
    MistakeDetails, MistakeGroup, RaceFacts, RaceParty, Use,
};

/// A mistake to report, and those that its finding also stands for.
pub(crate) struct Chosen<'a> {
    pub(crate) mistake: &'a MistakeGroup,
    pub(crate) also: Vec<&'a MistakeGroup>,
}

/// Returns the mistakes to report, in their order.
pub(crate) fn choose<'a>(launch: &LaunchContext<'a>) -> Vec<Chosen<'a>> {
    let consequences = Consequences::new(launch);
    let mut chosen: Vec<Chosen<'a>> = Vec::new();
    // A race whose lines say what it is about comes before the same one under other lines.
    let mut mistakes: Vec<&MistakeGroup> = launch.mistakes.iter().collect();
    mistakes.sort_by_key(|mistake| race_of(mistake).is_some_and(|race| !names_its_array(launch, race)));
    for mistake in mistakes {
        let repeats = |earlier: &Chosen<'_>| {
            same_element(launch, earlier.mistake, mistake) || same_words(launch, earlier.mistake, mistake)
        };
        if consequences.contain(mistake) || chosen.iter().any(repeats) {
            continue;
        }
        // The same missing barrier, seen through another array, or the same lack of shared memory.
        let twin = chosen.iter_mut().find(|earlier| {
            one_barrier_for_both(launch, earlier.mistake, mistake) || lack_the_same(launch, [earlier.mistake, mistake])
        });
        match twin {
            Some(earlier) if is_clearer(launch, mistake, earlier.mistake) => {
                let old = std::mem::replace(&mut earlier.mistake, mistake);
                earlier.also.push(old);
            }
            Some(earlier) => earlier.also.push(mistake),
            None => chosen.push(Chosen { mistake, also: Vec::new() }),
        }
    }
    // Lanes that have diverged stay diverged: report the instruction that diverged them before those reached so.
    let diverged = |chosen: &Chosen<'_>| chosen.mistake.first.code() == Code::SyncMask;
    for group in chosen.chunk_by_mut(|a, b| diverged(a) && diverged(b)) {
        group.sort_by_key(|chosen| (chosen.mistake.first.block, chosen.mistake.order));
    }
    // A deadlock comes last, and a barrier that part of a warp does not reach before the races past it.
    let is_deadlock = |mistake: &MistakeGroup| matches!(mistake.first.details, MistakeDetails::Phases { .. });
    let is_part_of_warp = |mistake: &MistakeGroup| matches!(mistake.first.details, MistakeDetails::PartOfWarp { .. });
    let races = chosen.iter().any(|one| race_of(one.mistake).is_some_and(|race| !is_between_blocks(race)));
    chosen.sort_by_key(|Chosen { mistake, .. }| {
        (!(races && is_part_of_warp(mistake)), mistake.first.code().severity(), is_deadlock(mistake))
    });
    chosen
}

/// The mistakes of a launch that follow from others of it.
struct Consequences<'l, 'a> {
    launch: &'l LaunchContext<'a>,
    /// The first barrier after which threads are out of step: later mistakes may follow from that.
    out_of_step: Option<&'a MistakeGroup>,
    /// Lines with accesses out of bounds.
    bad_lines: HashSet<(u32, u32)>,
    /// Lines with addresses that were computed from registers that were never set.
    unset_addresses: HashSet<(u32, u32)>,
}

impl<'l, 'a> Consequences<'l, 'a> {
    fn new(launch: &'l LaunchContext<'a>) -> Self {
        let lines = |wanted: &dyn Fn(&MistakeGroup) -> bool| {
            let wanted = launch.mistakes.iter().filter(|mistake| wanted(mistake));
            wanted.map(|mistake| launch.line(mistake.first.instr)).collect()
        };
        Self {
            launch,
            out_of_step: first_of(launch.mistakes, |mistake| {
                matches!(&mistake.first.details, MistakeDetails::Barrier { problem, .. }
                    if mistake.first.code() == Code::Barrier && *problem != BarrierProblem::Deadlock)
            }),
            bad_lines: lines(&|mistake| mistake.first.code() == Code::OutOfBounds),
            unset_addresses: lines(&|mistake| {
                matches!(mistake.first.details, MistakeDetails::Unset { used: Use::Address, .. })
                    && mistake.first.code() == Code::Uninitialised
            }),
        }
    }

    /// Returns whether a mistake follows from another one.
    fn contain(&self, mistake: &MistakeGroup) -> bool {
        match &mistake.first.details {
            MistakeDetails::Barrier { problem, .. } if *problem != BarrierProblem::Deadlock => self.barrier(mistake),
            MistakeDetails::PartOfWarp { exit, .. } => self.reports_part_of_warp(mistake, *exit),
            MistakeDetails::Runaway { known: KnownOfLoop::OthersWait { .. }, .. } => self.waits_for_barrier(mistake),
            MistakeDetails::Exited { .. } => self.exited(mistake),
            // The message about a race at the copy names the writer.
            MistakeDetails::ChangedUnderCopy { .. } => {
                self.any_race(|race| race.parties.iter().any(|party| party.instr == mistake.first.instr))
            }
            MistakeDetails::Wgmma { problem: BadWgmma::Changed { by: None, address, .. } } => {
                self.changed_operand(mistake, u64::from(*address))
            }
            MistakeDetails::Race(race) => self.race(mistake, race),
            MistakeDetails::Unset { .. } => self.unset(mistake),
            // An address that was never set leads anywhere.
            MistakeDetails::Access { .. } => self.unset_addresses.contains(&self.launch.line(mistake.first.instr)),
            MistakeDetails::Uninitialised { access, load, copy, .. } => {
                self.uninitialised(mistake, access, *load, copy.as_ref())
            }
            _ => false,
        }
    }

    fn with_code(&self, code: Code) -> impl Iterator<Item = &'a MistakeGroup> {
        self.launch.mistakes.iter().filter(move |mistake| mistake.first.code() == code)
    }

    fn any_race(&self, test: impl Fn(&RaceFacts) -> bool) -> bool {
        self.launch.mistakes.iter().filter_map(race_of).any(test)
    }

    fn reads_at(&self, race: &RaceFacts, line: (u32, u32)) -> bool {
        let reads = |party: &RaceParty| party.kind == AccessKind::Read && self.launch.line(party.instr) == line;
        race.parties.iter().any(reads)
    }

    /// Returns whether to report a barrier: only the first meeting at different barriers.
    fn barrier(&self, mistake: &MistakeGroup) -> bool {
        let root = self.out_of_step.or_else(|| first_at_different_barriers(self.launch.mistakes));
        root.is_some_and(|root| !std::ptr::eq(root, mistake))
    }

    /// Returns whether to report a diverged barrier: only if the source shows the branch and no other barrier mistake
    /// is known.
    fn reports_part_of_warp(&self, mistake: &MistakeGroup, exit: Option<u32>) -> bool {
        let mistakes = self.launch.mistakes;
        let root = first_of(mistakes, |mistake| matches!(mistake.first.details, MistakeDetails::PartOfWarp { .. }));
        [Code::Barrier, Code::ExitedBeforeBarrier].iter().any(|code| self.with_code(*code).next().is_some())
            || first_at_different_barriers(mistakes).is_some()
            || root.is_some_and(|root| !std::ptr::eq(root, mistake))
            || sync::branch_of(self.launch, mistake.first.instr, exit).is_none()
    }

    fn exited(&self, mistake: &MistakeGroup) -> bool {
        let first = first_of(self.launch.mistakes, |mistake| mistake.first.code() == Code::ExitedBeforeBarrier);
        self.out_of_step.is_some() || first.is_some_and(|first| !std::ptr::eq(first, mistake))
    }

    /// Returns whether the loop that never ends is what others of its block wait for at a barrier: that message says
    /// what the loop reads.
    fn waits_for_barrier(&self, mistake: &MistakeGroup) -> bool {
        let line = self.launch.line(mistake.first.instr);
        self.with_code(Code::Barrier).any(|other| match &other.first.details {
            MistakeDetails::Barrier { groups, problem: BarrierProblem::Deadlock } => {
                groups.iter().any(|group| !group.at_barrier && self.launch.line(group.instr) == line)
            }
            _ => false,
        })
    }

    /// Returns whether the `wgmma` was issued before its operand at `address` was written: waiting for the `wgmma`
    /// would not help.
    fn changed_operand(&self, mistake: &MistakeGroup, address: u64) -> bool {
        let instr = mistake.first.instr;
        self.any_race(|race| {
            race.space == MemSpace::Shared
                && self.reads_at(race, self.launch.line(instr))
                && array_start(self.launch, (instr, address)) == array_start(self.launch, (instr, race.address))
        })
    }

    fn race(&self, mistake: &MistakeGroup, race: &RaceFacts) -> bool {
        let launch = self.launch;
        let on_bad_line = race.parties.iter().any(|party| self.bad_lines.contains(&launch.line(party.instr)));
        // The message about the early read names the phase to wait for. What is read before it is written, and written
        // too early after that, is the wrong element.
        let is_early_read = |mistake: &MistakeGroup| match &mistake.first.details {
            MistakeDetails::Uninitialised { access, load, copy, .. } => {
                missing_before(copy.as_ref()) == Some(race.missing)
                    && race.space == access.space
                    && self.reads_at(race, launch.line(*load))
                    && array_start(launch, (*load, access.address)) == array_start(launch, (*load, race.address))
            }
            _ => false,
        };
        // A wait with a wrong token waits for nothing.
        let is_token = |mistake: &MistakeGroup| {
            matches!(mistake.first.details, MistakeDetails::MemoryBarrier { problem: BadBarrier::Token { .. }, .. })
        };
        let unordered = self.out_of_step.is_some() || self.with_code(Code::MemoryBarrier).any(is_token);
        // What reaches another array goes on behind the end of its own. A loop that goes past a local array goes too
        // far in what it stores, too.
        let goes_too_far = |mistake: &MistakeGroup| match &mistake.first.details {
            MistakeDetails::Access { access, .. } if access.space == MemSpace::Local => {
                let own = launch.loops(mistake.first.instr).into_iter().next();
                own.is_some() && race.parties.iter().any(|party| launch.loops(party.instr).into_iter().next() == own)
            }
            MistakeDetails::Access { access, .. } => {
                access.kind == AccessKind::Write && access.space == race.space && !names_its_array(launch, race)
            }
            _ => false,
        };
        race.space == MemSpace::Shared && unordered
            || self.with_code(Code::OutOfBounds).any(goes_too_far)
            || self.with_code(Code::Uninitialised).any(is_early_read)
            || on_bad_line
            || launch.mistakes.iter().any(|other| explains(launch, other, mistake))
    }

    /// Returns whether registers of an operand are unset because some lanes skipped the load, which `E-SYNC-MASK`
    /// reports.
    fn unset(&self, mistake: &MistakeGroup) -> bool {
        self.with_code(Code::SyncMask).any(|cause| {
            cause.first.block == mistake.first.block
                && cause.order < mistake.order
                && sync::is_of_whole_warps(self.launch, cause.first.instr)
        })
    }

    fn uninitialised(
        &self, mistake: &MistakeGroup, access: &BadAccess, load: u32, copy: Option<&CopyInFlight>,
    ) -> bool {
        let launch = self.launch;
        let line = launch.line(load);
        let same_array = |race: &RaceFacts| {
            let a = launch.reached(load, access);
            let b = launch.target(load, race.space, race.address, access.bytes, access.kind);
            a.zip(b).is_some_and(|(a, b)| a.start == b.start)
        };
        // An output is not reported if uses of the same array are.
        let start = |access: &BadAccess| launch.reached(load, access).map(|target| target.start);
        let is_reported_use = |mistake: &MistakeGroup| match &mistake.first.details {
            MistakeDetails::Uninitialised { access: other, .. } => {
                other.space == access.space && start(other) == start(access)
            }
            _ => false,
        };
        // A descriptor that reaches past its array reads elements that others wait for.
        let reaches_too_far = |mistake: &MistakeGroup| {
            matches!(mistake.first.details, MistakeDetails::Wgmma { problem: BadWgmma::Outside { .. } })
                && launch.line(mistake.first.instr) == line
        };
        // A write that fails leaves what it should have filled.
        let failed_to_write = |mistake: &MistakeGroup| match &mistake.first.details {
            MistakeDetails::Access { access: other, .. } => {
                let is_write =
                    other.kind != AccessKind::Read && matches!(other.space, MemSpace::Shared | MemSpace::Local);
                let filled = launch.reached(mistake.first.instr, other).map(|target| target.start);
                is_write && other.space == access.space && filled.is_some() && filled == start(access)
            }
            _ => false,
        };
        // A wrong index reads past the end of a tile, and its padding.
        let in_tile = matches!(access.space, MemSpace::Shared | MemSpace::Local);
        let place = if in_tile { launch.frames(load) } else { Vec::new() };
        let is_outside = |mistake: &MistakeGroup| !place.is_empty() && launch.frames(mistake.first.instr) == place;
        let is_output = mistake.first.code() == Code::UndefinedOutput;
        self.with_code(Code::OutOfBounds).any(is_outside)
            || launch.mistakes.iter().any(failed_to_write)
            || is_output && self.with_code(Code::Uninitialised).any(is_reported_use)
            || self.with_code(Code::Wgmma).any(reaches_too_far)
            || access.space == MemSpace::Shared && self.out_of_step.is_some()
            || self.any_race(|race| {
                race.space == access.space
                    && missing_before(copy) != Some(race.missing)
                    && self.reads_at(race, line)
                    && same_array(race)
            })
    }
}

/// Returns whether two mistakes use registers that were never set, or of a `wgmma` in flight, in one line and in the
/// same way: their messages, which name no register, would be the same.
fn same_words(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let is_alike = match (&a.first.details, &b.first.details) {
        (
            MistakeDetails::Wgmma { problem: BadWgmma::InFlight { writes, .. } },
            MistakeDetails::Wgmma { problem: BadWgmma::InFlight { writes: others, .. } },
        ) => writes == others,
        (MistakeDetails::Unset { used: a, .. }, MistakeDetails::Unset { used: b, .. }) => match (a, b) {
            (Use::Stored { by: a }, Use::Stored { by: b }) => launch.line(*a) == launch.line(*b),
            _ => a == b,
        },
        _ => false,
    };
    is_alike && launch.line(a.first.instr) == launch.line(b.first.instr)
}

/// Returns the first of the wanted mistakes, in the order of blocks and of execution.
fn first_of(mistakes: &[MistakeGroup], wanted: impl Fn(&MistakeGroup) -> bool) -> Option<&MistakeGroup> {
    let wanted = mistakes.iter().filter(|mistake| wanted(mistake));
    wanted.min_by_key(|mistake| (mistake.first.block, mistake.order))
}

/// Returns the first meeting of whole warps at different barriers.
fn first_at_different_barriers(mistakes: &[MistakeGroup]) -> Option<&MistakeGroup> {
    first_of(mistakes, |mistake| {
        matches!(mistake.first.details, MistakeDetails::Barrier { problem: BarrierProblem::DifferentBarriers, .. })
    })
}

fn race_of(mistake: &MistakeGroup) -> Option<&RaceFacts> {
    match &mistake.first.details {
        MistakeDetails::Race(race) => Some(race),
        _ => None,
    }
}

fn lines(launch: &LaunchContext<'_>, race: &RaceFacts) -> [(u32, u32); 2] {
    let mut lines = race.parties.map(|party| launch.line(party.instr));
    lines.sort_unstable();
    lines
}

fn is_between_blocks(race: &RaceFacts) -> bool {
    race.parties[0].block != race.parties[1].block
}

/// Returns whether two mistakes use one undefined element at one line, read at two places.
fn same_element(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let element = |mistake: &MistakeGroup| match &mistake.first.details {
        MistakeDetails::Uninitialised { access, .. } => {
            Some((mistake.first.code(), access.space, access.address, launch.line(mistake.first.instr)))
        }
        _ => None,
    };
    element(a).is_some() && element(a) == element(b)
}

/// Returns whether the message about `root` covers all that `mistake` would say.
fn explains(launch: &LaunchContext<'_>, root: &MistakeGroup, mistake: &MistakeGroup) -> bool {
    if std::ptr::eq(root, mistake) {
        return false;
    }
    let (Some(a), Some(b)) = (race_of(root), race_of(mistake)) else { return false };
    if lines(launch, a) != lines(launch, b) || !same_array(launch, a, b) {
        return false;
    }
    // Between blocks before inside a block, different values before equal ones, a read and a write before two
    // writes, different warps before one.
    let rank = |mistake: &MistakeGroup, race: &RaceFacts| {
        let two_writes = race.parties[0].kind == race.parties[1].kind;
        (!is_between_blocks(race), race.equal, two_writes, race.same_warp, mistake.first.instr, mistake.order)
    };
    rank(root, a) < rank(mistake, b)
}

fn reader(race: &RaceFacts) -> Option<&RaceParty> {
    let reads = race.parties.iter().filter(|party| party.kind == AccessKind::Read).count();
    race.parties.iter().find(|party| party.kind == AccessKind::Read).filter(|_| reads == 1)
}

/// Returns whether one barrier repairs two races inside a block: read at the same line, ordered the same way.
fn one_barrier_for_both(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let (Some(a), Some(b)) = (race_of(a), race_of(b)) else { return false };
    let (Some(x), Some(y)) = (reader(a), reader(b)) else { return false };
    if is_between_blocks(a)
        || is_between_blocks(b)
        || a.space != b.space
        || a.left_out.is_some() != b.left_out.is_some()
    {
        return false;
    }
    // The steps of one reduction.
    let steps = in_step(launch, a) && in_step(launch, b) && same_array(launch, a, b);
    let same_line =
        launch.line(x.instr) == launch.line(y.instr) && (a.missing == b.missing || a.same_warp != b.same_warp);
    let one_spot = || {
        let (one, other) = (spot::spots(launch, a)?, spot::spots(launch, b)?);
        let fits = one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a.and(*b).is_some());
        (a.missing == b.missing && fits).then_some(())
    };
    steps || same_line || one_spot().is_some()
}

/// Returns whether the code relies on lanes of a warp that run in step: both accesses are volatile, or steps of a
/// reduction (`s[t] += s[t + 8]`).
pub(crate) fn in_step(launch: &LaunchContext<'_>, race: &RaceFacts) -> bool {
    if !race.same_warp || race.same_instruction {
        return false;
    }
    let step = |party: &RaceParty| {
        let target = launch.target(party.instr, race.space, race.address, party.bytes, party.kind);
        let name = target.map(|target| target.element.name);
        let (Some(name), Some(source), Some(loc)) = (name, launch.source_of(party.instr), launch.loc(party.instr))
        else {
            return false;
        };
        let uses = source.uses(loc.line, &name);
        uses.len() > 1 && uses.iter().any(|found| found.stored && found.loaded)
    };
    race.parties.iter().all(|party| is_volatile(launch, party.instr)) || race.parties.iter().all(step)
}

pub(crate) fn is_volatile(launch: &LaunchContext<'_>, instr: u32) -> bool {
    launch.info(instr).is_some_and(|info| info.text.contains(".volatile"))
}

fn same_array(launch: &LaunchContext<'_>, a: &RaceFacts, b: &RaceFacts) -> bool {
    let target = |race: &RaceFacts| {
        let party = race.parties[0];
        launch.target(party.instr, race.space, race.address, 1, party.kind).map(|target| target.start)
    };
    a.space == b.space && target(a) == target(b)
}

/// Returns the start of the array in shared memory that an address lies in.
fn array_start(launch: &LaunchContext<'_>, (instr, address): (u32, u64)) -> Option<u64> {
    let target = launch.target(instr, MemSpace::Shared, address, 1, AccessKind::Read);
    target.map(|target| target.start)
}

/// Returns the missing order that lets a thread read data before other threads, or this copy, have written it.
fn missing_before(copy: Option<&CopyInFlight>) -> Option<MissingOrder> {
    match copy {
        None => Some(MissingOrder::BeforeOverwriting),
        Some(copy) => copy.phase.map(|_| MissingOrder::Phase),
    }
}

/// Returns whether `mistake` makes a clearer message than `than`: its threads are of different warps, or it has a line.
fn is_clearer(launch: &LaunchContext<'_>, mistake: &MistakeGroup, than: &MistakeGroup) -> bool {
    let has_line = |mistake: &MistakeGroup| launch.place(mistake.first.instr).line > 0;
    let same_warp = |mistake: &MistakeGroup| race_of(mistake).is_some_and(|race| race.same_warp);
    same_warp(than) && !same_warp(mistake) || !has_line(than) && has_line(mistake)
}

/// Returns whether the lines of a race name its array: compilers put loads under lines nearby at times.
pub(crate) fn names_its_array(launch: &LaunchContext<'_>, race: &RaceFacts) -> bool {
    race.parties.iter().all(|party| {
        let target = launch.target(party.instr, race.space, race.address, 1, party.kind).filter(|target| target.named);
        let (Some(target), Some(source), [loc]) =
            (target, launch.source_of(party.instr), &launch.frames(party.instr)[..])
        else {
            return true;
        };
        !source.uses(loc.line, &target.element.name).is_empty()
    })
}

//! Selects the findings to report: a mistake that follows from another one is left out, since it goes with it.

use std::collections::HashSet;

use super::sync;
use crate::launch_context::LaunchContext;
use crate::locate::spot;
use simt::check::{
    AccessKind, BadWgmma, BarrierProblem, Code, CopyUnderWay, Details, MissingOrder, MistakeGroup, RaceFacts,
    RaceParty, Use,
};
use simt::program::MemSpace;

/// A mistake to report, and those that its finding also stands for.
pub(crate) struct Chosen<'a> {
    pub(crate) mistake: &'a MistakeGroup,
    pub(crate) also: Vec<&'a MistakeGroup>,
}

/// Returns the mistakes to report, in their order.
pub(crate) fn choose<'a>(launch: &LaunchContext<'a>) -> Vec<Chosen<'a>> {
    let mistakes = launch.mistakes;
    let code = |code: Code| mistakes.iter().filter(move |mistake| mistake.first.code() == code);
    // Threads out of step after a barrier: whatever follows, follows from that.
    let out_of_step = code(Code::Barrier)
        .filter(|mistake| matches!(&mistake.first.details, Details::Barrier { problem, .. } if *problem != BarrierProblem::Deadlock))
        .min_by_key(|mistake| (mistake.first.block, mistake.order));
    let bad_lines: HashSet<(u32, u32)> =
        code(Code::OutOfBounds).map(|mistake| launch.line(mistake.first.instr)).collect();
    let unset =
        |mistake: &&MistakeGroup| matches!(mistake.first.details, Details::Unset { used: Use::Address, .. });
    let unset_addresses: HashSet<(u32, u32)> =
        code(Code::Uninitialised).filter(unset).map(|mistake| launch.line(mistake.first.instr)).collect();
    let races: Vec<&MistakeGroup> = mistakes.iter().filter(|mistake| race_of(mistake).is_some()).collect();
    let any_race =
        |test: &dyn Fn(&RaceFacts) -> bool| races.iter().filter_map(|mistake| race_of(mistake)).any(test);
    let reads_in = |race: &RaceFacts, line: (u32, u32)| {
        let reads = |party: &RaceParty| party.kind == AccessKind::Read && launch.line(party.instr) == line;
        race.parties.iter().any(reads)
    };
    let mut chosen: Vec<Chosen<'a>> = Vec::new();
    for mistake in mistakes {
        let first = &mistake.first;
        let follows = match &first.details {
            Details::Barrier { problem, .. } if *problem != BarrierProblem::Deadlock => match out_of_step {
                Some(root) => !std::ptr::eq(root, mistake),
                None => first_apart(mistakes).is_some_and(|root| !std::ptr::eq(root, mistake)),
            },
            // Said where the source shows the branch, and nothing else is known to be wrong with the barriers.
            Details::Parted { exit, .. } => {
                let others = [Code::Barrier, Code::ExitedBeforeBarrier];
                let root =
                    first_of(mistakes, |mistake| matches!(mistake.first.details, Details::Parted { .. }));
                others.into_iter().any(|other| code(other).next().is_some())
                    || first_apart(mistakes).is_some()
                    || root.is_some_and(|root| !std::ptr::eq(root, mistake))
                    || sync::branch_of(launch, first.instr, *exit).is_none()
            }
            Details::Exited { .. } => {
                let first = first_of(mistakes, |mistake| mistake.first.code() == Code::ExitedBeforeBarrier);
                out_of_step.is_some() || first.is_some_and(|first| !std::ptr::eq(first, mistake))
            }
            // The race checks say who wrote, and when.
            Details::ChangedUnderCopy { .. } => {
                any_race(&|race| race.parties.iter().any(|party| party.instr == first.instr))
            }
            // The product was started before its factor was there: waiting for it would not help.
            Details::Wgmma { problem: BadWgmma::Changed { by: None, address, .. } } => {
                let factor = (first.instr, u64::from(*address));
                any_race(&|race| {
                    race.space == MemSpace::Shared
                        && reads_in(race, launch.line(first.instr))
                        && array_at(launch, factor) == array_at(launch, (first.instr, race.address))
                })
            }
            Details::Race(race) => {
                let shared = race.space == MemSpace::Shared;
                let on_bad_line =
                    race.parties.iter().any(|party| bad_lines.contains(&launch.line(party.instr)));
                // The report of an early read names the phase to wait for.
                let too_early = race.missing == MissingOrder::Phase
                    && code(Code::Uninitialised).any(|mistake| match &mistake.first.details {
                        Details::Uninitialised {
                            access,
                            load,
                            copy: Some(CopyUnderWay { phase: Some(_), .. }),
                            ..
                        } => {
                            reads_in(race, launch.line(*load))
                                && array_at(launch, (*load, access.address))
                                    == array_at(launch, (*load, race.address))
                        }
                        _ => false,
                    });
                shared && out_of_step.is_some()
                    || too_early
                    || on_bad_line
                    || races.iter().any(|other| explains(launch, other, mistake))
            }
            // Of a line that uses several registers of products under way.
            Details::Wgmma { problem: BadWgmma::InFlight { .. } } => {
                chosen.iter().any(|earlier| one_line(launch, earlier.mistake, mistake))
            }
            // Lanes that did not come to load a factor have none.
            Details::Unset { .. } => code(Code::SyncMask).any(|cause| {
                cause.first.block == first.block
                    && cause.order < mistake.order
                    && sync::is_of_whole_warps(launch, cause.first.instr)
            }),
            // An address that was never set leads anywhere.
            Details::Access { .. } => unset_addresses.contains(&launch.line(first.instr)),
            Details::Uninitialised { access, load, copy, .. } => {
                let line = launch.line(*load);
                let same_array = |race: &RaceFacts| {
                    let a = launch.reached(*load, access);
                    let b = launch.target(*load, race.space, race.address, access.bytes, access.kind);
                    a.zip(b).is_some_and(|(a, b)| a.start == b.start)
                };
                let shared = matches!(access.space, MemSpace::Shared);
                // What was reported of the same array where it was used need not be reported again.
                let told = first.code() == Code::UndefinedOutput
                    && code(Code::Uninitialised).any(|mistake| match &mistake.first.details {
                        Details::Uninitialised { access: other, .. } => {
                            let start = |access| launch.reached(*load, access).map(|target| target.start);
                            other.space == access.space && start(other) == start(access)
                        }
                        _ => false,
                    });
                // A descriptor that reaches too far reads what others wait for.
                let reaches_too_far = code(Code::Wgmma).any(|mistake| {
                    let outside = |problem: &BadWgmma| matches!(problem, BadWgmma::Outside { .. });
                    matches!(&mistake.first.details, Details::Wgmma { problem } if outside(problem))
                        && launch.line(mistake.first.instr) == line
                });
                let of_a_phase = matches!(copy, Some(CopyUnderWay { phase: Some(_), .. }));
                told || reaches_too_far
                    || shared && out_of_step.is_some()
                    || any_race(&|race| {
                        race.space == access.space
                            && !(of_a_phase && race.missing == MissingOrder::Phase)
                            && reads_in(race, line)
                            && same_array(race)
                    })
            }
            _ => false,
        };
        if follows || chosen.iter().any(|earlier| one_element(launch, earlier.mistake, mistake)) {
            continue;
        }
        // The same missing barrier, seen through another array.
        let twin = chosen.iter_mut().find(|earlier| one_barrier_for_both(launch, earlier.mistake, mistake));
        match twin {
            Some(earlier) if better(mistake, earlier.mistake) => {
                let old = std::mem::replace(&mut earlier.mistake, mistake);
                earlier.also.push(old);
            }
            Some(earlier) => earlier.also.push(mistake),
            None => chosen.push(Chosen { mistake, also: Vec::new() }),
        }
    }
    // Lanes that have come apart stay apart: the instruction that parted them stands before those that they reach so.
    let parted = |chosen: &Chosen<'_>| chosen.mistake.first.code() == Code::SyncMask;
    for group in chosen.chunk_by_mut(|a, b| parted(a) && parted(b)) {
        group.sort_by_key(|chosen| (chosen.mistake.first.block, chosen.mistake.order));
    }
    // A deadlock comes last: what went wrong before it is reported first.
    let ever = |mistake: &MistakeGroup| matches!(mistake.first.details, Details::Phases { .. });
    chosen.sort_by_key(|chosen| (chosen.mistake.first.code().severity(), ever(chosen.mistake)));
    chosen
}

/// Returns whether two mistakes use registers of a `wgmma` in flight, in one line and in the same way.
fn one_line(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let writes = |mistake: &MistakeGroup| match mistake.first.details {
        Details::Wgmma { problem: BadWgmma::InFlight { writes, .. } } => Some(writes),
        _ => None,
    };
    writes(a).is_some() && writes(a) == writes(b) && launch.line(a.first.instr) == launch.line(b.first.instr)
}

/// Returns the first of the wanted mistakes, in the order of blocks and of execution.
fn first_of(mistakes: &[MistakeGroup], wanted: impl Fn(&MistakeGroup) -> bool) -> Option<&MistakeGroup> {
    let wanted = mistakes.iter().filter(|mistake| wanted(mistake));
    wanted.min_by_key(|mistake| (mistake.first.block, mistake.order))
}

/// The first meeting of whole warps at different barriers.
fn first_apart(mistakes: &[MistakeGroup]) -> Option<&MistakeGroup> {
    first_of(mistakes, |mistake| {
        matches!(mistake.first.details, Details::Barrier { problem: BarrierProblem::DifferentBarriers, .. })
    })
}

fn race_of(mistake: &MistakeGroup) -> Option<&RaceFacts> {
    match &mistake.first.details {
        Details::Race(race) => Some(race),
        _ => None,
    }
}

fn lines(launch: &LaunchContext<'_>, race: &RaceFacts) -> [(u32, u32); 2] {
    let mut lines = race.parties.map(|party| launch.line(party.instr));
    lines.sort_unstable();
    lines
}

fn between(race: &RaceFacts) -> bool {
    race.parties[0].block != race.parties[1].block
}

/// Two uses of one undefined element, read at two places and used at one.
fn one_element(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let element = |mistake: &MistakeGroup| match &mistake.first.details {
        Details::Uninitialised { access, .. } => {
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
        (!between(race), race.equal, two_writes, race.same_warp, mistake.first.instr, mistake.order)
    };
    rank(root, a) < rank(mistake, b)
}

fn reader(race: &RaceFacts) -> Option<&RaceParty> {
    let reads = race.parties.iter().filter(|party| party.kind == AccessKind::Read).count();
    race.parties.iter().find(|party| party.kind == AccessKind::Read).filter(|_| reads == 1)
}

/// Two races inside a block that one barrier repairs: read at the same line, ordered the same way.
fn one_barrier_for_both(launch: &LaunchContext<'_>, a: &MistakeGroup, b: &MistakeGroup) -> bool {
    let (Some(a), Some(b)) = (race_of(a), race_of(b)) else { return false };
    let (Some(x), Some(y)) = (reader(a), reader(b)) else { return false };
    if between(a) || between(b) || a.space != b.space || a.left_out.is_some() != b.left_out.is_some() {
        return false;
    }
    // The steps of one reduction.
    let steps = in_step(launch, a) && in_step(launch, b) && same_array(launch, a, b);
    let same_line = launch.line(x.instr) == launch.line(y.instr)
        && (a.missing == b.missing || a.same_warp != b.same_warp);
    let one_spot = || {
        let (one, other) = (spot::spots(launch, a)?, spot::spots(launch, b)?);
        let fits = one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a.and(*b).is_some());
        (a.missing == b.missing && fits).then_some(())
    };
    steps || same_line || one_spot().is_some()
}

/// Code that takes the lanes of a warp to run in step: both accesses are volatile, or steps of a reduction
/// (`s[t] += s[t + 8]`).
pub(crate) fn in_step(launch: &LaunchContext<'_>, race: &RaceFacts) -> bool {
    if !race.same_warp || race.same_instruction {
        return false;
    }
    let step = |party: &RaceParty| {
        let target = launch.target(party.instr, race.space, race.address, party.bytes, party.kind);
        let name = target.map(|target| target.element.name);
        let (Some(name), Some(source), Some(loc)) =
            (name, launch.source(party.instr), launch.loc(party.instr))
        else {
            return false;
        };
        let uses = source.uses(loc.line, &name);
        uses.len() > 1 && uses.iter().any(|found| found.stored && found.loaded)
    };
    race.parties.iter().all(|party| is_volatile(launch, party.instr)) || race.parties.iter().all(step)
}

/// Returns whether the instruction is a `volatile` access.
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

/// Where the array begins in shared memory that an address lies in.
fn array_at(launch: &LaunchContext<'_>, (instr, address): (u32, u64)) -> Option<u64> {
    let target = launch.target(instr, MemSpace::Shared, address, 1, AccessKind::Read);
    target.map(|target| target.start)
}

fn better(mistake: &MistakeGroup, than: &MistakeGroup) -> bool {
    let same_warp = |mistake: &MistakeGroup| race_of(mistake).is_some_and(|race| race.same_warp);
    same_warp(than) && !same_warp(mistake)
}

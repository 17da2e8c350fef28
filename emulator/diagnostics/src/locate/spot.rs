//! Where a barrier belongs: after what is done first, before what is done then, and outside loops and branches
//! that hold only one of the two.

use std::ops::RangeInclusive;

use crate::{launch_context::LaunchContext, source::statements::Control};
use program::OpKind;
use simt::check::{AccessKind, MissingOrder, RaceFacts};

/// A place for a barrier, as far as the text of the source shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) file: u32,
    /// The line after which the barrier may stand.
    pub(crate) after: u32,
    /// Whether a loop that makes the earlier access ends at that line.
    pub(crate) ends_loop: bool,
    /// The line before which the barrier must stand; `None` where the next round of a loop starts there.
    pub(crate) before: Option<u32>,
    /// Whether both accesses stand under an `if`.
    pub(crate) in_branch: bool,
    /// Line of the later access.
    start: u32,
    /// First and last line of the innermost loop around both accesses.
    round: Option<(u32, u32)>,
}

impl Spot {
    /// Returns the place of one barrier that serves both races.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let after = self.after.max(other.after);
        let before = match (self.before, other.before) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (None, None) => None,
            _ => return None,
        };
        let fits = self.file == other.file && before.is_none_or(|before| after < before);
        // Without an end, what lies between is not known: the same place only, or the later one of a round.
        let same = before.is_some() || self.after == other.after || self.round.is_some() && self.round == other.round;
        (fits && same).then_some(Self {
            after,
            before,
            ends_loop: self.ends_loop || other.ends_loop,
            in_branch: self.in_branch || other.in_branch,
            ..self
        })
    }
}

pub(crate) fn same_statement(launch: &LaunchContext<'_>, a: u32, b: u32) -> bool {
    let (a, b) = (launch.frames(a), launch.frames(b));
    let (Some(x), Some(y)) = (a.first(), b.first()) else { return false };
    a[1..] == b[1..]
        && x.file == y.file
        && launch.source_of_file(x.file).is_some_and(|source| {
            let statement = |line, column| source.statement(line, column);
            statement(x.line, x.column).is_some() && statement(x.line, x.column) == statement(y.line, y.column)
        })
}

/// Returns whether the read is in the header of a branch and the write in its body, so that no barrier fits between.
pub(crate) fn under_its_header(launch: &LaunchContext<'_>, write: u32, read: u32) -> bool {
    let Some(loc) = launch.loc(read) else { return false };
    let position = launch.source_of_file(loc.file).and_then(|source| source.position(loc.line, loc.column));
    let within = |position: usize| {
        launch.around(write).iter().any(|one| {
            let header = one.enclosure.start..one.enclosure.body.start;
            one.file == loc.file && one.enclosure.control == Control::If && header.contains(&position)
        })
    };
    position.is_some_and(within)
}

/// Returns the innermost loop around both: its file, and its first and last line.
pub(crate) fn common_loop(launch: &LaunchContext<'_>, a: u32, b: u32) -> Option<(u32, RangeInclusive<u32>)> {
    let others = launch.around(b);
    let around = launch.around(a);
    let mut loops = around.iter().filter(|one| one.enclosure.control == Control::Loop && others.contains(one));
    loops.next_back().map(|one| (one.file, one.line..=one.last))
}

/// Returns the first barrier of the block in these lines.
pub(crate) fn barrier_in(launch: &LaunchContext<'_>, file: u32, lines: RangeInclusive<u32>) -> Option<u32> {
    barriers(launch).find(|&instr| {
        let mut frames = launch.frames(instr).into_iter();
        frames.any(|loc| loc.file == file && lines.contains(&loc.line))
    })
}

fn barriers(launch: &LaunchContext<'_>) -> impl Iterator<Item = u32> {
    let ops = launch.inputs.kernel.ops.iter();
    ops.filter(|op| matches!(op.kind, OpKind::Barrier { .. })).map(|op| op.instr)
}

/// Returns the lines of the kernel in the file of an instruction, if the kernel has no barrier.
pub(crate) fn lines_without_barrier(launch: &LaunchContext<'_>, instr: u32) -> Option<RangeInclusive<u32>> {
    let file = launch.loc(instr)?.file;
    let locs = launch.inputs.kernel.ops.iter().filter_map(|op| launch.loc(op.instr));
    let lines = || locs.clone().filter(|loc| loc.file == file && loc.line > 0).map(|loc| loc.line);
    barriers(launch).next().is_none().then_some(lines().min()?..=lines().max()?)
}

/// Returns the first barrier of the block that stands between two instructions in the text, in either order.
pub(crate) fn barrier_between(launch: &LaunchContext<'_>, a: u32, b: u32) -> Option<u32> {
    match (launch.loc(a), launch.loc(b)) {
        (Some(x), Some(y)) if x.line > 0 && y.line > 0 => {
            let lines = x.line.min(y.line)..=x.line.max(y.line);
            barrier_in(launch, x.file, lines).filter(|_| x.file == y.file)
        }
        _ => barriers(launch).find(|instr| (a.min(b)..a.max(b)).contains(instr)),
    }
}

/// Returns the line of a barrier that is already where one would be advised. The accesses raced despite it, so not all
/// threads pass it between the two, and a second one there would not help.
pub(crate) fn taken(launch: &LaunchContext<'_>, spot: &Spot) -> Option<u32> {
    let last = match (spot.before, spot.round) {
        (Some(before), _) => before,
        (None, Some((_, end))) => end,
        (None, None) => return None,
    };
    let start = || match (spot.before, spot.round) {
        (None, Some((start, _))) => barrier_in(launch, spot.file, start..=spot.start),
        _ => None,
    };
    barrier_in(launch, spot.file, spot.after..=last).or_else(start)
}

/// Returns the line of a `__syncthreads;` where a barrier would be advised: it calls nothing.
pub(crate) fn not_called(launch: &LaunchContext<'_>, spot: &Spot) -> Option<u32> {
    let source = launch.source_of_file(spot.file)?;
    let last = spot.before.or(spot.round.map(|(_, end)| end))?;
    let is = |line: &u32| {
        let text = source.clean_line(*line).unwrap_or_default();
        source.uses(*line, "__syncthreads").iter().any(|found| !text[found.end..].trim_start().starts_with('('))
    };
    (spot.after..=last).find(is)
}

/// Places for a barrier between the write and the read of a race: before reading, before overwriting.
pub(crate) fn spots(launch: &LaunchContext<'_>, race: &RaceFacts) -> Option<Vec<Spot>> {
    let find = |kind: AccessKind| race.parties.iter().find(|party| party.kind == kind).map(|party| party.instr);
    let (write, read) = (find(AccessKind::Write)?, find(AccessKind::Read)?);
    let reading = || between(launch, write, read);
    let overwriting = || between(launch, read, write);
    match race.missing {
        MissingOrder::BeforeReading => Some(vec![reading()?]),
        MissingOrder::BeforeOverwriting => Some(vec![overwriting()?]),
        MissingOrder::Both => Some(vec![reading()?, overwriting()?]),
        _ => None,
    }
}

fn between(launch: &LaunchContext<'_>, first: u32, then: u32) -> Option<Spot> {
    let outermost = |instr: u32| launch.frames(instr).into_iter().rev();
    let (a, b) = outermost(first).zip(outermost(then)).find(|(a, b)| a != b)?;
    if a.file != b.file {
        return None;
    }
    let source = launch.source_of_file(a.file)?;
    if source.statement(a.line, a.column) == source.statement(b.line, b.column) {
        return None;
    }
    let (x, y) = (source.around(a.line, a.column), source.around(b.line, b.column));
    let common = x.iter().zip(&y).take_while(|(x, y)| x == y).count();
    let in_branch = x[..common].iter().any(|one| one.control != Control::Loop);
    let after = match x.get(common) {
        Some(own) => source.line_of(own.body.end.saturating_sub(1)),
        None => source.statement_end(a.line, a.column)?,
    };
    let before = y.get(common).map_or(b.line, |own| source.line_of(own.start));
    let round = x[..common].iter().rfind(|one| one.control == Control::Loop);
    if before <= after && round.is_none() {
        return None;
    }
    let round = round.map(|one| {
        let end = source.line_of(one.body.end.saturating_sub(1));
        (source.line_of(one.start), end)
    });
    Some(Spot {
        file: a.file,
        start: before,
        round,
        after,
        ends_loop: x.get(common).is_some_and(|own| own.control == Control::Loop),
        before: (after < before).then_some(before),
        in_branch,
    })
}

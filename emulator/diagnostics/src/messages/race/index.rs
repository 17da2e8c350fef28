//! Races that come from an index: past a row, without a thread's position, or with too short a stride.

use super::RaceMessage;
use crate::launch_context::{LaunchContext, Reason};
use crate::locate::spot;
use crate::locate::{arrays::Target, case::Case, layout::Outside};
use crate::messages::rows::{exchanged, wrong_row};
use crate::trace::End;
use crate::words::{THREAD_AXES, capital, code};
use simt::check::{RaceParty, coordinates};

impl RaceMessage<'_> {
    /// Returns the reason where one party means another element, past the end of its row.
    pub(super) fn past_the_row(&self, target: &Target) -> Option<Reason> {
        let Self { launch, mistake, .. } = *self;
        let (write, other) = self.lines();
        [(self.first, write), (self.second, other)].into_iter().find_map(|(party, line)| {
            let who = party.thread_id();
            let explained = launch.explain(party.instr, target, party.kind, who)?;
            let name = &target.element.name;
            // A value that was concluded for one of several uses may be that of another.
            if explained.concluded.is_some() && launch.uses(party.instr, name, party.kind).len() > 1 {
                return None;
            }
            let case = Case::of_party(launch, mistake, party, target, explained.clone());
            if let Some(part) = case.outside(target).iter().find(|part| !part.outermost) {
                if let Some(reason) = wrong_row(&case, target) {
                    return Some(reason);
                }
                let length = match &part.pitch {
                    Some(pitch) => format!("{pitch} = {}", part.limit),
                    None => part.limit.to_string(),
                };
                let why = format!(
                    "for {}, {} is {} at {}, and a row of {name} has {length} elements: it reaches into \
                     another row.",
                    self.thread_name(party),
                    code(&part.text),
                    part.value,
                    line,
                );
                return Some(Reason {
                    why: Some(why),
                    advice: exchanged(&case, target).or_else(|| longer_row(launch, party.instr, part, target)),
                });
            }
            explained.leaves_its_row(&target.element.dims).then(|| {
                let why = format!(
                    "{} means {} at {}: that is past the end of its row, and lies where {} does.",
                    capital(&self.thread_name(party)),
                    explained.indexed(name),
                    line,
                    target.indexed(),
                );
                Reason { why: Some(why), advice: None }
            })
        })
    }

    fn thread_name(&self, party: RaceParty) -> String {
        self.launch.thread_name(party.block, u64::from(party.thread))
    }

    /// Positions that an index leaves out: the threads of a block, or the blocks, then use the same elements.
    pub(super) fn leaves_out(&self) -> Option<&'static str> {
        let Self { launch, facts: race, .. } = *self;
        let ends = launch.trace().ends(race.parties[0].instr)?;
        let request = launch.inputs.request;
        let is_open = |end: &End| matches!(end, End::Loaded(_) | End::Atomic(_) | End::Other(_));
        if race.parties[0].instr != race.parties[1].instr || ends.iter().any(is_open) {
            return None;
        }
        let thread = self.depends_on_thread();
        let [one, two] = race.parties.map(|party| coordinates(u64::from(party.thread), request.block));
        let mut differ = (0..3).filter(|axis| one[*axis] != two[*axis]).peekable();
        let first = differ.peek().copied().filter(|_| thread && !self.between_blocks());
        if let Some(axis) = first
            && differ.all(|axis| !ends.contains(&End::Thread(axis)))
        {
            return Some(THREAD_AXES[axis]);
        }
        let block = ends.iter().any(|end| matches!(end, End::Block(_)));
        match (thread, block) {
            (false, true) if request.block != [1; 3] => Some("threadIdx"),
            (true, false) if request.grid != [1; 3] && self.between_blocks() => Some("blockIdx"),
            _ => None,
        }
    }

    /// Returns the sentence on what an index leaves out.
    pub(super) fn same_elements(&self, left_out: &str) -> String {
        let [x, y, z] = self.launch.inputs.request.block;
        match left_out {
            "threadIdx" => {
                "the index depends on blockIdx, not on threadIdx: all threads of a block write to one element".into()
            }
            "blockIdx" => {
                "the index depends on threadIdx, not on blockIdx: all blocks write to the same elements".into()
            }
            axis => format!(
                "the index does not depend on {axis}, and blocks have {x} x {y} x {z} threads: those that differ in {axis} \
                 alone write to one element"
            ),
        }
    }

    pub(super) fn depends_on_thread(&self) -> bool {
        let ends = self.launch.trace().ends(self.facts.parties[0].instr);
        ends.is_some_and(|ends| ends.iter().any(|end| matches!(end, End::Thread(_))))
    }

    /// Returns the reason where a tile has several buffers, and what chooses one of them is the same in all rounds.
    pub(super) fn same_buffer(&self) -> Option<Reason> {
        let Self { launch, first, second, main_instr, ref array, .. } = *self;
        let target = self.target.as_ref()?;
        let [n_buffers @ 2..=8, _, _] = target.element.dims[..] else { return None };
        let explained = launch.explain(first.instr, target, first.kind, first.thread_id())?;
        let chosen = explained.used.subscripts.first()?;
        let source = launch.source_of_file(explained.file)?;
        let value: u64 = source.definition(&launch.inputs.kernel.name, chosen)?.parse().ok()?;
        let (file, lines) = spot::common_loop(launch, first.instr, second.instr)?;
        let next = match n_buffers {
            2 => format!("{chosen} ^= 1;"),
            n => format!("{chosen} = ({chosen} + 1) % {n};"),
        };
        Some(Reason::new(
            format!(
                "{} is {value} in every round, because nothing changes it: each round overwrites the buffer that the one \
                 before still reads, and the rest of {array} is not used.",
                code(chosen)
            ),
            format!(
                "take another buffer in each round: {} where the loop ends, before {}.",
                code(&next),
                launch.numbered(main_instr, file, *lines.end())
            ),
        ))
    }

    /// Returns the reason that a loop `for (int i = blockIdx.x * … ; …; i += blockDim.x)` reaches the elements of other
    /// blocks.
    pub(super) fn stride_too_short(&self) -> Option<Reason> {
        let Self { launch, first, .. } = *self;
        let main_instr = first.instr;
        let innermost = launch.loops(first.instr).into_iter().next()?;
        let number = innermost.name(launch, main_instr);
        let mut parts = innermost.enclosure.header.split(';');
        let (init, step) = (parts.next()?, parts.nth(1)?);
        let (counter, step) = step.split_once("+=")?;
        let (counter, step) = (counter.trim(), step.trim().trim_end_matches(')').trim());
        let starts_in_block = init.contains("blockIdx.x") || {
            let start = init.split_once('=')?.1.trim();
            let kernel = &launch.inputs.kernel.name;
            launch.source_of(first.instr)?.definition(kernel, start).is_some_and(|text| text.contains("blockIdx.x"))
        };
        (self.between_blocks() && starts_in_block && step == "blockDim.x").then(|| {
            Reason::new(
                format!(
                    "the loop at {number} starts where the block does and steps by blockDim.x: it goes on \
                     through the elements of the blocks after it."
                ),
                format!("step by the whole grid: {}.", code(&format!("{counter} += gridDim.x * blockDim.x"))),
            )
        })
    }
}

/// Returns a longer row of the array that would hold all values of a part of the index: a condition says how many there
/// are.
fn longer_row(launch: &LaunchContext<'_>, instr: u32, part: &Outside, target: &Target) -> Option<String> {
    let (source, pitch) = (launch.source_of(instr)?, part.pitch.as_ref()?);
    let conditions = source.conditions(&launch.inputs.kernel.name, launch.loc(instr)?.line);
    let bound = conditions.iter().find(|found| {
        let n = launch.value(instr, &found.right).unwrap_or(0);
        found.left == part.text && n > part.limit && target.element.n_elements as i64 % n == 0
    })?;
    let name = &target.element.name;
    Some(format!(
        "if a row of {name} is to have room for every {}, use {} in its index instead of {pitch}; if not, compare {} \
         with {pitch}.",
        code(&format!("{} < {}", bound.left, bound.right)),
        bound.right,
        bound.left,
    ))
}

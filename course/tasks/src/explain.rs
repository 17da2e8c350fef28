//! Counts per source line of a kernel, from one counted launch.
//!
//! Instructions of an inlined helper are counted for the line of the kernel's file that calls it. Counts of shared
//! memory are those after ptxas has merged neighbouring accesses.

pub mod machine_code;

use std::collections::HashMap;

use catalog::Shape;
use counters::Summary;
use serde::{Deserialize, Serialize};

use crate::measure::opcode;
use crate::task::TaskName;

/// Counts of a kernel, line by line. Fields are only ever added; names and meanings stay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    pub task: TaskName,
    pub kernel: String,
    pub shape: Shape,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// Whether the result of this launch was right.
    pub right: bool,
    /// Reason for an early end of the launch; the counts then cover a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    pub total: Summary,
    /// Lines that did something, by file and number.
    pub lines: Vec<Line>,
    /// Machine code, for a kernel given with its cubin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<machine_code::MachineCodeExplanation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// File as the PTX names it; empty for instructions without a line.
    pub file: String,
    /// Number of the line, from 1; 0 for what belongs to no line.
    pub line: u32,
    pub counts: Summary,
}

/// Instructions at which warps wait for each other.
const BARRIERS: [&str; 3] = ["bar.", "barrier.", "cp.async.wait"];

/// File number, line and column of a `.loc`.
type Location = (u32, u32, u32);

/// Maps each line of a PTX text, from 1 on, to a source line.
///
/// An instruction belongs to the innermost location in the file `own`, which calls the code inlined from other files;
/// or, where no location is in that file, to the innermost one. `None` marks PTX lines without a location.
///
/// A compiler writes the locations of the callers just before the location in the inlined function, outermost first, so
/// the last of equal locations is the one in force. On return to a location it may leave the caller out.
pub fn places<'a>(ptx: &'a str, own: &str) -> Vec<Option<(&'a str, u32)>> {
    let mut files: HashMap<u32, &str> = HashMap::new();
    for line in ptx.lines() {
        if let Some((number, name)) = line.trim().strip_prefix(".file").and_then(file_of) {
            files.insert(number, name);
        }
    }
    let mut callers: HashMap<Location, Location> = HashMap::new();
    let mut here: Option<Location> = None;
    let mut places = vec![None];
    for line in ptx.lines() {
        let text = line.trim();
        if let Some((spot, caller)) = text.strip_prefix(".loc").and_then(loc_of) {
            if let Some(caller) = caller {
                callers.insert(spot, caller);
            }
            let is_own = |file: u32| files.get(&file).is_some_and(|name| *name == own);
            here = Some(innermost(spot, &callers, is_own));
        } else if text.contains(".entry ") || text.contains(".func ") {
            (here, callers) = (None, HashMap::new());
        }
        // Instructions after a barrier have a location of their own or none: the barrier's line covers the barrier
        // only.
        let is_barrier = BARRIERS.iter().any(|name| opcode(text).starts_with(name));
        let place = here.filter(|(_, line, _)| *line > 0);
        places.push(place.and_then(|(file, line, _)| Some((*files.get(&file)?, line))));
        here = here.filter(|_| !is_barrier);
    }
    places
}

fn innermost(spot: Location, callers: &HashMap<Location, Location>, is_own: impl Fn(u32) -> bool) -> Location {
    /// Bound of the chain: a function inlined into itself would make a loop.
    const MAX_DEPTH: usize = 64;
    let chain = std::iter::successors(Some(spot), |spot| callers.get(spot).copied());
    let own = chain.take(MAX_DEPTH).find(|(file, ..)| is_own(*file));
    own.unwrap_or(spot)
}

/// Parses the rest of a `.file` line into number and name: ` 1 "kernels/v05.cu"`.
fn file_of(rest: &str) -> Option<(u32, &str)> {
    let (number, name) = rest.trim().split_once(char::is_whitespace)?;
    let name = name.trim().strip_prefix('"')?;
    Some((number.parse().ok()?, name.split_once('"')?.0))
}

/// Parses the rest of a `.loc` line: ` 2 28 5, function_name $L__info_string1, inlined_at 2 41 5`.
fn loc_of(rest: &str) -> Option<(Location, Option<Location>)> {
    let (own, tail) = match rest.split_once(',') {
        Some((own, tail)) => (own, Some(tail)),
        None => (rest, None),
    };
    let caller = tail.and_then(|tail| tail.split_once("inlined_at")).and_then(|(_, spot)| spot_of(spot));
    Some((spot_of(own)?, caller))
}

fn spot_of(text: &str) -> Option<Location> {
    let mut numbers = text.split_whitespace().map(|n| n.trim_end_matches(';').parse::<u32>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inlined_belongs_to_the_line_that_calls() {
        let ptx = "\
.entry k()
{
	.loc 1 44 9
	add;
	.loc	2 41 5, function_name $L0, inlined_at 1 44 9
	.loc	2 28 5, function_name $L1 + 4, inlined_at 2 41 5
	ld;
	.loc	2 41 5, function_name $L0, inlined_at 1 45 9
	.loc	2 28 5, function_name $L1, inlined_at 2 41 5
	ld;
	.loc 2 0 5
	mov;
	.loc 2 28 5
	ld;
	.loc 1 46 5
	bar.sync 0;
	ld.shared;
}
	.file	1 \"my/v05.cu\"
	.file	2 \"kernels/common.cuh\", 17, 5
";
        let places = places(ptx, "my/v05.cu");
        let at = |text: &str, nth: usize| {
            let mut lines = (1..).zip(ptx.lines()).filter(|(_, line)| line.trim() == text);
            places[lines.nth(nth).expect("a line").0]
        };
        assert_eq!(at("add;", 0), Some(("my/v05.cu", 44)));
        assert_eq!(at("ld;", 0), Some(("my/v05.cu", 44)));
        assert_eq!(at("ld;", 1), Some(("my/v05.cu", 45)));
        assert_eq!(at("mov;", 0), None);
        // Line 28 of the header again, without a caller in the text.
        assert_eq!(at("ld;", 2), Some(("my/v05.cu", 45)));
        assert_eq!(at("bar.sync 0;", 0), Some(("my/v05.cu", 46)));
        assert_eq!(at("ld.shared;", 0), None);
        // The header as the kernel's own file has no caller.
        let others = super::places(ptx, "kernels/common.cuh");
        assert_eq!(others[7], Some(("kernels/common.cuh", 28)));
    }

    #[test]
    fn damaged_text_gives_no_place() {
        for ptx in ["", ".loc", ".loc 1 2", ".file", ".file 1", ".loc 1 1 1, inlined_at 1 1 1\nadd;\n"] {
            assert!(places(ptx, "").iter().all(Option::is_none), "{ptx}");
        }
    }
}

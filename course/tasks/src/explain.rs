//! Counts per source line of a kernel, from one counted launch.
//!
//! Instructions of an inlined helper are counted for the line of the kernel's file that calls it. Counts of shared
//! memory are those after ptxas has merged neighbouring accesses.

pub mod machine;

use std::collections::HashMap;

use catalog::Shape;
use serde::{Deserialize, Serialize};

use crate::measure::{Measure, opcode};
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
    /// True when the result of this launch was right.
    pub right: bool,
    /// Reason for an early end of the launch; the counts then cover a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Counts of the whole launch.
    pub total: Counts,
    /// Lines that did something, by file and number.
    pub lines: Vec<Line>,
    /// Machine code, for a kernel given with its cubin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<machine::Machine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// File as the PTX names it; empty for instructions without a line.
    pub file: String,
    /// Number of the line, from 1; 0 for what belongs to no line.
    pub line: u32,
    /// What its instructions did.
    pub counts: Counts,
}

/// Counts of a line, or of a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// PTX instructions issued to warps.
    pub instructions: u64,
    /// Instructions times their active lanes.
    pub lane_instructions: u64,
    /// Multiply-adds, counted once for each active lane.
    pub multiply_adds: u64,
    /// Requests to global memory.
    pub requests: u64,
    /// Sectors of 32 bytes that these moved.
    pub sectors: u64,
    /// Accesses to shared memory.
    pub shared_requests: u64,
    /// Wavefronts that these took.
    pub wavefronts: u64,
    /// Wavefronts beyond the necessary ones.
    pub excess: u64,
    /// Accesses to local memory: registers that were spilled, arrays that are no registers.
    pub local_requests: u64,
    /// Barriers that warps arrived at.
    pub barriers: u64,
    /// Branches at which the lanes of a warp went different ways.
    pub divergent_branches: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.multiply_adds += other.multiply_adds;
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.shared_requests += other.shared_requests;
        self.wavefronts += other.wavefronts;
        self.excess += other.excess;
        self.local_requests += other.local_requests;
        self.barriers += other.barriers;
        self.divergent_branches += other.divergent_branches;
    }
}

/// A column of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// PTX instructions issued to warps.
    Instructions,
    /// Active lanes of an instruction, on average.
    Lanes,
    /// Multiply-adds of lanes, divided by 32.
    MultiplyAdds,
    /// Requests to global memory.
    Requests,
    /// Sectors that requests to global memory moved.
    Sectors,
    /// Accesses to shared memory.
    SharedRequests,
    /// Wavefronts that accesses to shared memory took.
    Wavefronts,
    /// Wavefronts beyond the necessary ones.
    Excess,
    /// Accesses to local memory.
    LocalRequests,
    /// Barriers that warps arrived at.
    Barriers,
    /// Branches at which lanes of a warp went different ways.
    DivergentBranches,
}

const WARP: f64 = 32.0;

impl Column {
    /// All, in their order in a table.
    pub const ALL: [Self; 11] = [
        Self::Instructions,
        Self::Lanes,
        Self::MultiplyAdds,
        Self::Requests,
        Self::Sectors,
        Self::SharedRequests,
        Self::Wavefronts,
        Self::Excess,
        Self::LocalRequests,
        Self::Barriers,
        Self::DivergentBranches,
    ];

    /// Heading of a narrow column.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Instructions => "instr",
            Self::Lanes => "lanes",
            Self::MultiplyAdds => "FMA",
            Self::Requests => "global",
            Self::Sectors => "sectors",
            Self::SharedRequests => "shared",
            Self::Wavefronts => "wavefr",
            Self::Excess => "excess",
            Self::LocalRequests => "local",
            Self::Barriers => "sync",
            Self::DivergentBranches => "split",
        }
    }

    /// What is counted, as a noun.
    pub fn words(self) -> &'static str {
        match self {
            Self::Instructions => "PTX instructions of warps",
            Self::Lanes => "active lanes per instruction",
            Self::MultiplyAdds => "multiply-adds of warps",
            Self::Requests => "requests to global memory",
            Self::Sectors => "sectors of global memory",
            Self::SharedRequests => "accesses to shared memory",
            Self::Wavefronts => "wavefronts of shared memory",
            Self::Excess => "excess wavefronts",
            Self::LocalRequests => "accesses to local memory",
            Self::Barriers => "barriers that warps arrive at",
            Self::DivergentBranches => "divergent branches",
        }
    }

    /// The value; none where a share is of nothing.
    pub fn of(self, counts: &Counts) -> Option<f64> {
        let n = match self {
            Self::Lanes => {
                let instructions = counts.instructions;
                return (instructions > 0).then(|| counts.lane_instructions as f64 / instructions as f64);
            }
            Self::MultiplyAdds => return Some(counts.multiply_adds as f64 / WARP),
            Self::Instructions => counts.instructions,
            Self::Requests => counts.requests,
            Self::Sectors => counts.sectors,
            Self::SharedRequests => counts.shared_requests,
            Self::Wavefronts => counts.wavefronts,
            Self::Excess => counts.excess,
            Self::LocalRequests => counts.local_requests,
            Self::Barriers => counts.barriers,
            Self::DivergentBranches => counts.divergent_branches,
        };
        Some(n as f64)
    }

    /// Whether the values of lines add up to that of the launch.
    pub fn adds_up(self) -> bool {
        self != Self::Lanes
    }

    /// The column in which a measure is seen line by line.
    pub fn of_measure(measure: Measure) -> Self {
        match measure {
            Measure::LoadSectorsPerFma
            | Measure::LoadSectorsPerElement
            | Measure::StoreSectorsPerElement
            | Measure::LoadEfficiency
            | Measure::StoreEfficiency => Self::Sectors,
            Measure::GlobalLoadRequestsPerFma
            | Measure::StoreRequestsPerElement
            | Measure::WideGlobalBytes
            | Measure::WideStoreBytes
            | Measure::FmasPerGlobalLoad
            | Measure::LoadAhead => Self::Requests,
            Measure::WideSharedBytes
            | Measure::BytesPerSharedLoad
            | Measure::SharedLoadRequestsPerFma
            | Measure::SharedLoadRequestsAsWrittenPerFma
            | Measure::SharedWordsPerFma
            | Measure::FmasPerSharedLoad
            | Measure::SharedRequests => Self::SharedRequests,
            Measure::SharedWavefrontsPerFma
            | Measure::WavefrontsPerSharedLoad
            | Measure::WavefrontsPerSharedStore => Self::Wavefronts,
            Measure::SharedExcessPerFma | Measure::SharedExcess => Self::Excess,
            Measure::BarriersPerTile | Measure::BarriersPerWarp => Self::Barriers,
            Measure::DivergentBranches => Self::DivergentBranches,
            Measure::LocalRequestsPerFma => Self::LocalRequests,
            Measure::FmasDone => Self::MultiplyAdds,
        }
    }
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

fn innermost(
    spot: Location,
    callers: &HashMap<Location, Location>,
    is_own: impl Fn(u32) -> bool,
) -> Location {
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
    let caller = tail
        .and_then(|tail| tail.split_once("inlined_at"))
        .and_then(|(_, spot)| spot_of(spot));
    Some((spot_of(own)?, caller))
}

fn spot_of(text: &str) -> Option<Location> {
    let mut numbers = text
        .split_whitespace()
        .map(|n| n.trim_end_matches(';').parse::<u32>().ok());
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
        for ptx in [
            "",
            ".loc",
            ".loc 1 2",
            ".file",
            ".file 1",
            ".loc 1 1 1, inlined_at 1 1 1\nadd;\n",
        ] {
            assert!(places(ptx, "").iter().all(Option::is_none), "{ptx}");
        }
    }
}

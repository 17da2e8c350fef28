//! The access that a criterion on traffic fails by: its line, and two threads of the first warp that show it.

use std::collections::BTreeSet;

use counters::{Column, Counters};
use program::MemSpace;
use reference::inputs::Accumulator;
use simt::gpu::Value;
use simt::memory::rules::{lanes_together, sectors, shared_cost};
use simt::trace::Access;
use tasks::measure::Measure;

use crate::{emulated_module::EmulatedModule, trial::Trial};

const MAX_STEPS: usize = 20_000;
const BANKS: u64 = 32;
const SECTOR: u32 = 32;

/// Returns a clause on the rows of the array in shared memory that an access reaches: how many words they are apart,
/// and the next longer ones with which no lane of this access would wait for another.
fn rows_apart(module: &EmulatedModule<'_>, access: &Access) -> Option<String> {
    const WORD: u64 = 4;
    let (name, start) = module.shared_array(access.addresses.iter().flatten().copied().min()?)?;
    let (row, declared) = module.source()?.shared_row(name)?;
    let has_no_excess = |longer: &u64| {
        let moved = |at: u64| start + (at - start) / row * longer + (at - start) % row;
        let cost = shared_cost(&access.addresses.map(|at| at.map(moved)), access.bytes, access.direction);
        cost.wavefronts == cost.ideal
    };
    let longer = (1..=BANKS).map(|words| row + words * WORD).find(has_no_excess);
    let longer = longer.map(|longer| format!("; {} words apart they would not meet", longer / WORD));
    Some(format!(", as rows of {name} are {} words apart (line {declared}){}", row / WORD, longer.unwrap_or_default()))
}

/// Returns a sentence about the access with the highest avoidable cost.
pub(crate) fn access<T: Accumulator + Value>(
    module: &EmulatedModule<'_>, trial: &Trial<T>, measure: Measure,
) -> Option<String> {
    let space = match measure.column() {
        Column::Excess | Column::Wavefronts => MemSpace::Shared,
        Column::Sectors => MemSpace::Global,
        _ => return None,
    };
    let (report, steps) = module.trace(trial, 0, MAX_STEPS)?;
    let places = module.places();
    let of = |instr: u32| Some((report.instructions.get(instr as usize)?, *places.get(instr as usize)?));
    let words = measure.description(None);
    let (loads, stores) = (words.contains("load"), words.contains("store"));
    let wasted = |c: &Counters| match space {
        MemSpace::Shared => c.excess(),
        _ => ((c.global_load_sectors + c.global_store_sectors) * u64::from(SECTOR))
            .saturating_sub(c.global_load_bytes + c.global_store_bytes),
    };
    let accesses = steps.iter().filter_map(|step| Some((of(step.instr)?, step.access.as_ref()?)));
    let wanted = accesses
        .filter(|(_, access)| access.space == space && (loads == stores || loads == access.direction.is_load()));
    let ((instruction, place), access) = wanted.max_by_key(|((found, _), _)| wasted(&found.counters))?;
    let (counters, (_, line)) = (&instruction.counters, place?);
    let lanes: Vec<(usize, u64)> = (0..).zip(access.addresses).filter_map(|(lane, at)| Some((lane, at?))).collect();
    let does = if access.direction.is_load() { "read" } else { "write" };
    if space == MemSpace::Shared {
        // ptxas joins neighbouring loads, which a quarter of a warp makes together.
        let joined = counters.shared_load_requests != counters.shared_load_requests_merged;
        let together = if joined { 8 } else { lanes_together(&access.addresses, access.bytes, access.direction) };
        let meets = |a: u64, b: u64| a != b && a % BANKS == b % BANKS;
        let mut pairs = lanes.iter().enumerate().flat_map(|(i, b)| lanes[..i].iter().map(move |a| (a, b)));
        let ((a, x), (b, y)) = pairs.find(|((a, x), (b, y))| a / together == b / together && meets(x / 4, y / 4))?;
        let (apart, bank) = (x.abs_diff(*y) / 4, x / 4 % BANKS);
        let rows = rows_apart(module, access).unwrap_or_default();
        return (counters.excess() > 0).then(|| {
            format!(
                "threads {a} and {b} {does} words at line {line} that lie {apart} apart, a multiple of 32: both in bank \
                 {bank}{rows}"
            )
        });
    }
    let [(a, x), (b, y)] = *lanes.get(..2)? else { return None };
    let (apart, n) = (x.abs_diff(y), sectors(&access.addresses, access.bytes));
    let distinct = lanes.iter().map(|(_, at)| at).collect::<BTreeSet<_>>().len();
    let min_sectors = (distinct as u32 * access.bytes).div_ceil(SECTOR);
    (apart > u64::from(access.bytes) && n >= 2 * min_sectors).then(|| {
        let or = if access.direction.is_load() { ", or all of them one element" } else { "" };
        format!(
            "threads {a} and {b} {does} elements at line {line} that lie {apart} bytes apart, so that a warp needs {n} \
             sectors in place of {min_sectors}; neighbouring threads should take neighbours of one row as it is stored{or}"
        )
    })
}

//! The pipeline of a kernel as letters, and what is said of it in all outputs.

#[cfg(test)]
mod tests;

use catalog::text::{Paint, Table, wrapped};
use tasks::explain::machine_code::{MachineCodeExplanation, Pipeline, Role, State, unit};

use super::percent;
use crate::commands::learn::explain::table::exact;

const WIDTH: usize = 100;
/// Columns of a time line of text.
const COLUMNS: u32 = 84;

/// Returns the shown clocks: `3 rounds of 2,048 clocks through the 4 stages of the ring of one block`.
pub(super) fn title(pipeline: &Pipeline) -> String {
    let round = exact(pipeline.round.into());
    let rounds = catalog::text::number(f64::from(pipeline.clocks) / f64::from(pipeline.round.max(1)), 1);
    let through = match pipeline.stages {
        0 => "the busiest loop".to_owned(),
        stages => format!("the {stages} stages of the ring"),
    };
    format!(
        "{} clocks of a block in the middle of the launch: {rounds} rounds of {round} clocks through {through}",
        exact(pipeline.clocks.into())
    )
}

/// Returns what binds, with its share of the launch and of the shown clocks.
pub(super) fn binding(machine: &MachineCodeExplanation, pipeline: &Pipeline) -> Option<String> {
    let prediction = machine.predicted.prediction.as_ref()?;
    let busiest = prediction.bounds.first()?;
    let share = format!("busy for {:.0}% of the launch", 100.0 * prediction.part(busiest));
    let shown = match 100.0 * pipeline.multiplying_share() {
        0.0 => String::new(),
        share if busiest.unit == unit::TENSOR => format!(" and {share:.0}% of the clocks shown"),
        share => format!("; the {} are busy for {share:.0}% of the clocks shown", unit::TENSOR),
    };
    let unit = &busiest.unit;
    Some(match prediction.binds() {
        Some(_) => format!("What binds: {unit}, {share}{shown}."),
        None => {
            let waits = pipeline.roles.iter().find_map(longest_wait).unwrap_or_default();
            format!("What binds: latency{waits}; the busiest unit is {unit}, {share}{shown}.")
        }
    })
}

/// Returns what the warps of a role that multiplies wait for the longest, other than their products.
fn longest_wait(role: &Role) -> Option<String> {
    let multiplies = role.states.keys().any(|state| matches!(state, State::Mma | State::Multiply));
    let is_wait = |state: State| state.letter().is_lowercase() && state != State::Sums;
    let waits = role.states.iter().filter(|(state, _)| is_wait(**state));
    let (state, clocks) = waits.filter(|_| multiplies).max_by_key(|(_, clocks)| **clocks)?;
    let all: u64 = role.states.values().sum();
    Some(format!(": for {}% of its clocks, {} {}", percent(*clocks, all), role.name, state.description()))
}

/// Returns the states that occur, in the order of the legend.
pub(super) fn states(pipeline: &Pipeline) -> Vec<State> {
    let occurs = |state: &State| pipeline.roles.iter().any(|role| role.states.contains_key(state));
    State::ALL.into_iter().filter(occurs).collect()
}

/// Returns the largest number of bytes in flight.
pub(super) fn most_in_flight(pipeline: &Pipeline) -> u32 {
    pipeline.in_flight.iter().map(|[_, bytes]| *bytes).max().unwrap_or(0)
}

/// Returns the rows below the warps: name, description, value from clock to clock, and the largest value.
pub(super) fn units(pipeline: &Pipeline) -> Vec<(&'static str, String, Vec<[u32; 2]>, u32)> {
    let mut units = Vec::new();
    if !pipeline.copying.is_empty() {
        let busy = pipeline.copying.iter().flat_map(|[from, to]| [[*from, 1], [*to, 0]]);
        let first = pipeline.copying.first().filter(|[from, _]| *from > 0).map(|_| [0, 0]);
        let words = format!("the unit that copies boxes, busy for {:.0}%", 100.0 * pipeline.copying_share());
        units.push(("copy unit", words, first.into_iter().chain(busy).collect(), 1));
    }
    let most = most_in_flight(pipeline);
    if most > 0 {
        let kib = |bytes: f64| catalog::text::number(bytes / 1024.0, 1);
        let words = format!(
            "bytes on their way to shared memory, {} KiB on average and {} KiB at most",
            kib(pipeline.mean(&pipeline.in_flight)),
            kib(most.into())
        );
        units.push(("in flight", words, pipeline.in_flight.clone(), most));
    }
    if pipeline.multiplying.iter().any(|[_, n]| *n > 0) {
        let words = format!("the tensor cores, busy for {:.0}%", 100.0 * pipeline.multiplying_share());
        units.push(("tensor", words, pipeline.multiplying.clone(), Pipeline::TENSOR_CORES));
    }
    units
}

/// Returns the pipeline as a letter or a digit for each so many clocks, and the clocks of each role by state.
pub(super) fn text(machine: &MachineCodeExplanation, pipeline: &Pipeline, paint: Paint) -> String {
    let each = pipeline.clocks.div_ceil(COLUMNS).max(1);
    let mut out = format!("\n{}", wrapped(&title(pipeline), "", WIDTH));
    for role in &pipeline.roles {
        out.push_str(&format!("  {:<11} {}\n", role.name, letters(pipeline, role, each).trim_end()));
    }
    let units = units(pipeline);
    for (name, _, steps, most) in &units {
        out.push_str(&format!("  {name:<11} {}\n", digits(steps, pipeline.clocks, *most, each).trim_end()));
    }
    let states: Vec<String> =
        states(pipeline).iter().map(|state| format!("{} {}", state.letter(), state.description())).collect();
    let units: Vec<String> = units.iter().map(|(name, words, ..)| format!("{name} ({words})")).collect();
    let starts = if pipeline.stages > 0 { ", or work that the warp starts" } else { "" };
    let is_whole = |role: &Role| role.spans.iter().map(|span| span.to - span.from).sum::<u32>() == pipeline.clocks;
    let ended = if pipeline.roles.iter().all(is_whole) { "" } else { "; blank where there is none" };
    let text = format!(
        "Each column is {each} clocks: of the first warp of each role, the state that took most of them{starts}{ended}: \
         {}. Below, in tenths of the most, # for all of it: {}.",
        states.join(", "),
        units.join("; ")
    );
    out.push_str(&wrapped(&text, "  ", WIDTH));
    if let Some(binding) = binding(machine, pipeline) {
        out.push_str(&wrapped(&binding, "  ", WIDTH));
    }
    out.push('\n');
    out.push_str(&table(pipeline).render(paint));
    out
}

/// Returns the shares of the clocks of all warps of each role, by state.
pub(super) fn shares(pipeline: &Pipeline) -> Vec<(String, Vec<String>)> {
    let states = states(pipeline);
    let of = |role: &Role| {
        let all = u64::from(pipeline.clocks) * u64::from(role.warps[1] - role.warps[0] + 1);
        let share = |state: &State| percent(role.states.get(state).copied().unwrap_or(0), all);
        (role.name.clone(), states.iter().map(share).collect())
    };
    pipeline.roles.iter().map(of).collect()
}

fn table(pipeline: &Pipeline) -> Table {
    let headings = states(pipeline).into_iter().map(|state| format!("{} {}", state.letter(), state.heading()));
    let mut table = Table::new(["time%".to_owned()].into_iter().chain(headings));
    for (name, shares) in shares(pipeline) {
        table.row([name].into_iter().chain(shares));
    }
    table
}

/// Returns a letter for each so many clocks of a role: where a ring is filled, the start of work before what took most.
fn letters(pipeline: &Pipeline, role: &Role, each: u32) -> String {
    let column = |from: u32| {
        let to = (from + each).min(pipeline.clocks);
        let within = |span: &&tasks::explain::machine_code::Span| span.from < to && from < span.to;
        let spans = || role.spans.iter().filter(within);
        let started = spans().find(|span| pipeline.stages > 0 && span.state.starts_work());
        let clocks = |state: State| {
            let of_state = spans().filter(|span| span.state == state);
            of_state.map(|span| span.to.min(to) - span.from.max(from)).sum::<u32>()
        };
        let longest = || State::ALL.into_iter().filter(|state| clocks(*state) > 0).max_by_key(|state| clocks(*state));
        started.map(|span| span.state).or_else(longest).map_or(' ', State::letter)
    };
    (0..pipeline.clocks).step_by(each as usize).map(column).collect()
}

/// Returns a digit for each so many clocks of a value that changes at clocks: the tenth of the most that it reaches.
fn digits(steps: &[[u32; 2]], clocks: u32, most: u32, each: u32) -> String {
    let column = |from: u32| {
        let to = (from + each).min(clocks);
        let ends = steps.iter().skip(1).map(|[clock, _]| *clock).chain([clocks]);
        let part = |([start, value], end): (&[u32; 2], u32)| {
            u64::from(end.min(to).saturating_sub((*start).max(from))) * u64::from(*value)
        };
        let sum: u64 = steps.iter().zip(ends).map(part).sum();
        let tenths = (10.0 * sum as f64 / f64::from(most.max(1)) / f64::from(to - from)).round() as u32;
        match tenths {
            0 => ' ',
            tenths => char::from_digit(tenths, 10).unwrap_or('#'),
        }
    };
    (0..clocks).step_by(each as usize).map(column).collect()
}

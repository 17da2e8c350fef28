//! Machine code: what its lines and instructions did, in the words of all outputs.

mod letters;
mod page;
mod picture;
mod pipeline;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use tasks::explain::machine_code::{
    Change, Instruction, MachineCodeExplanation, Occupancy, Prediction, Reason, Timeline,
};

use super::table::exact;
use super::{Subject, rule_of};

pub(super) use page::{STYLE, links, sections};
pub(super) use text::text;

/// Returns the class of a reason: its colour.
fn class(reason: Reason) -> String {
    format!("r-{}", reason.heading())
}

#[derive(Debug, Default)]
struct CodeLine<'a> {
    /// Empty for what belongs to no line.
    file: &'a str,
    /// From 1; 0 for what belongs to no line.
    line: u32,
    /// The instructions of the line, in the order of their addresses.
    instructions: Vec<&'a Instruction>,
    issued: u64,
    wavefronts: u64,
    sectors: u64,
    /// Clocks of warps that the model spends here.
    clocks: u64,
    /// `clocks`, by the reason for waiting.
    stalls: BTreeMap<Reason, u64>,
}

/// Returns the lines that have instructions: the kernel's own file first, what belongs to no line last.
fn lines<'a>(own: &str, machine: &'a MachineCodeExplanation) -> Vec<CodeLine<'a>> {
    let mut lines: BTreeMap<(bool, bool, &str, u32), CodeLine<'a>> = BTreeMap::new();
    for instruction in &machine.instructions {
        let file = instruction.file.as_str();
        let key = (file.is_empty(), file != own, file, instruction.line);
        let line = lines.entry(key).or_default();
        (line.file, line.line) = (file, instruction.line);
        line.instructions.push(instruction);
        line.issued += instruction.issued;
        line.wavefronts += instruction.wavefronts;
        line.sectors += instruction.sectors;
        line.clocks += instruction.clocks();
        add(&mut line.stalls, instruction);
    }
    lines.into_values().collect()
}

/// Returns the note on how lines of several files are counted.
fn rule(lines: &[CodeLine<'_>], subject: &Subject) -> &'static str {
    let is_other = |line: &CodeLine<'_>| !line.file.is_empty() && line.file != subject.file;
    rule_of(lines.iter().any(is_other))
}

fn add(stalls: &mut BTreeMap<Reason, u64>, instruction: &Instruction) {
    for (reason, clocks) in &instruction.stalls {
        *stalls.entry(*reason).or_default() += clocks;
    }
}

fn stalls(machine: &MachineCodeExplanation) -> BTreeMap<Reason, u64> {
    let mut all = BTreeMap::new();
    for instruction in &machine.instructions {
        add(&mut all, instruction);
    }
    all
}

fn mainly(stalls: &BTreeMap<Reason, u64>) -> Option<Reason> {
    let most = stalls.iter().max_by_key(|(_, clocks)| **clocks)?;
    (*most.1 > 0).then_some(*most.0)
}

/// Returns the clocks of a warp for one issue, as the model has them; empty where it has none.
fn clocks_of_issue(instruction: &Instruction) -> String {
    match instruction.modelled {
        0 => String::new(),
        n => format!("{:.1}", instruction.clocks() as f64 / n as f64),
    }
}

/// Formats `34.5%` of all; empty where the total is 0.
fn percent(part: u64, all: u64) -> String {
    match (part, all) {
        (0, _) | (_, 0) => String::new(),
        (part, all) => {
            let share = part as f64 / all as f64 * 100.0;
            match share {
                share if share >= 99.95 => "100".into(),
                share if share < 0.05 => "<0.1".into(),
                share => format!("{share:.1}"),
            }
        }
    }
}

fn time(prediction: &Prediction) -> String {
    let digits = if prediction.us < 100.0 { 2 } else { 1 };
    let caveat = prediction.caveat().map_or(String::new(), |caveat| format!("; {caveat}"));
    format!("{:.digits$} µs (band {}{caveat})", prediction.us, band(prediction.band))
}

/// Returns the error band of a prediction, such as `±7%`.
fn band(band: f64) -> String {
    format!("±{:.0}%", band * 100.0)
}

/// Describes the occupancy: `2 blocks of 8 warps fit on a multiprocessor, 16 of its 64 warps, limited by registers`.
fn occupancy(machine: &MachineCodeExplanation, occupancy: &Occupancy) -> String {
    let threads: u32 = machine.block.iter().product();
    let plural = |n: u32, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let mut words = format!(
        "{} of {} fit on a multiprocessor, {} of its {} warps, limited by {}",
        plural(occupancy.blocks, "block"),
        plural(threads.div_ceil(32), "warp"),
        occupancy.warps,
        occupancy.most_warps,
        occupancy.limit
    );
    // A small launch has fewer blocks than fit.
    let launched = machine.predicted.prediction.as_ref().map(|p| (p.n_blocks, p.n_sms));
    if let Some((blocks, sms)) = launched
        && blocks < u64::from(sms) * u64::from(occupancy.blocks)
    {
        words.push_str(&format!("; this launch has {blocks} for {sms} multiprocessors"));
    }
    words
}

/// Returns the part of the GPU that binds: busy most of the time, where there is one.
fn binding(prediction: &Prediction) -> Option<String> {
    let busy: Vec<String> = prediction
        .bounds
        .iter()
        .take(3)
        .map(|bound| format!("{} {:.0}%", bound.unit, 100.0 * prediction.part(bound)))
        .collect();
    prediction.bounds.first()?;
    let busy = format!("busy: {} of the time", busy.join(", "));
    Some(match prediction.binds() {
        Some(bound) => format!("{} ({busy})", bound.unit),
        None => format!("no part of the GPU is busy most of the time: warps wait ({busy})"),
    })
}

fn facts(machine: &MachineCodeExplanation) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let predicted = &machine.predicted;
    match (&predicted.prediction, &predicted.no_prediction) {
        (Some(prediction), _) => {
            facts.push((
                format!("predicted on an {}", prediction.gpu),
                format!(
                    "{}, {} clocks of a multiprocessor; {} of {} blocks ran in the model",
                    time(prediction),
                    exact(machine.clocks.round()),
                    exact(machine.modelled_blocks as f64),
                    exact(prediction.n_blocks as f64)
                ),
            ));
            facts.extend(binding(prediction).map(|binds| ("what binds".to_owned(), binds)));
        }
        (None, why) => {
            facts.push(("no prediction".into(), why.clone().unwrap_or_else(|| "the kernel was not launched".into())))
        }
    }
    if let Some(known) = &predicted.occupancy {
        facts.push(("occupancy".into(), occupancy(machine, known)));
    }
    let issued: u64 = machine.instructions.iter().map(|i| i.issued).sum();
    facts.push(("issued".into(), format!("{} instructions of warps", exact(issued as f64))));
    facts.push((
        "a thread takes".into(),
        format!(
            "{} registers{}; a block {} bytes of shared memory",
            machine.registers,
            match machine.local_bytes {
                0 => String::new(),
                bytes => format!(" and {bytes} bytes of local memory"),
            },
            exact(machine.shared_bytes as f64)
        ),
    ));
    facts
}

fn is_in_loop(machine: &MachineCodeExplanation, instruction: &Instruction) -> bool {
    let busiest = machine.timeline.as_ref();
    busiest.is_some_and(|l| (l.first..=l.last).contains(&instruction.address))
}

fn change(yours: &Subject, finished: &Subject) -> Option<String> {
    let of = |subject: &'_ Subject| subject.explained.machine.as_ref()?.predicted.prediction.clone();
    let (yours, finished) = (of(yours)?, of(finished)?);
    let within = band(yours.change_band(&finished));
    let words = |sign: char, part: f64| {
        format!("your copy against the finished kernel: {sign}{:.0}% predicted time (band {within})", part * 100.0)
    };
    Some(match yours.since(&finished) {
        Change::Equal => {
            format!("your copy and the finished kernel: no difference that the model can tell (band {within})")
        }
        Change::Less(part) => words('−', part),
        Change::More(part) => words('+', part),
    })
}

fn sums(a: &MachineCodeExplanation, b: &MachineCodeExplanation) -> Vec<(&'static str, Option<f64>, Option<f64>)> {
    type Of = fn(&Instruction) -> u64;
    let sum = |machine: &MachineCodeExplanation, of: Of| Some(machine.instructions.iter().map(of).sum::<u64>() as f64);
    let us =
        |machine: &MachineCodeExplanation| machine.predicted.prediction.as_ref().map(|p| (p.us * 10.0).round() / 10.0);
    let rows: [(&str, Of); 4] = [
        ("instructions of warps", |i| i.issued),
        ("wavefronts of shared memory", |i| i.wavefronts),
        ("excess wavefronts", |i| i.excess),
        ("sectors of global memory", |i| i.sectors),
    ];
    let mut all: Vec<_> = rows
        .iter()
        .map(|(words, of)| (*words, sum(a, *of), sum(b, *of)))
        .filter(|(_, a, b)| *a != Some(0.0) || *b != Some(0.0))
        .collect();
    all.push(("registers of a thread", Some(a.registers.into()), Some(b.registers.into())));
    all.push(("predicted time in µs", us(a), us(b)));
    all
}

/// Returns the part of a pass that a time line shows: `its 2,157 clocks`
fn window(timeline: &Timeline) -> String {
    if timeline.clocks < timeline.pass {
        format!("the first {} of its {} clocks", exact(timeline.clocks.into()), exact(timeline.pass.into()))
    } else {
        format!("its {} clocks", exact(timeline.pass.into()))
    }
}

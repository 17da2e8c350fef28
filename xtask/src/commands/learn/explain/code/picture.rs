//! The time line of the busiest loop and that of a pipeline as pictures: SVG in the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalog::text::{capital, escaped};
use tasks::explain::machine_code::{MachineCodeExplanation, Pipeline, Reason, State, Timeline, Unit};

use super::pipeline::{binding, shares, states, title, units};
use super::{class, window};

fn class_of_unit(unit: Unit) -> String {
    format!("u-{}", unit.heading())
}

/// Clocks in one row of the picture, and the sizes of its parts.
const BAND: u32 = 256;
const CLOCK: u32 = 4;
const HIGH: u32 = 22;
const LEFT: u32 = 66;
const TOP: u32 = 16;

/// Returns one pass of the busiest loop: a row per scheduler, colours by what issues, height in the row by warp.
pub(super) fn time_line(machine: &MachineCodeExplanation, timeline: &Timeline) -> String {
    let shown = window(timeline);
    let words = format!(
        "One pass of the busiest loop, {:04x} to {:04x}, while {} warps share the multiprocessor: {shown}. Each of the four \
         schedulers has a row; a mark is an issue, its colour what executes it, its height in the row which warp. Between \
         marks, the background says what the next warp waits for.",
        timeline.first, timeline.last, timeline.warps
    );
    let bands = timeline.clocks.div_ceil(BAND).max(1);
    let n = timeline.schedulers.len() as u32;
    let band_high = TOP + n * (HIGH + 3) + 10;
    let (wide, high) = (LEFT + BAND.min(timeline.clocks) * CLOCK + 8, bands * band_high);
    let mut marks: BTreeMap<String, String> = BTreeMap::new();
    let mut labels = String::new();
    let mut place = |class: &str, from: u32, to: u32, row: u32, y: f64, height: f64, label: &str| {
        // A piece for each row of the picture.
        let mut from = from;
        while from < to {
            let band = from / BAND;
            let end = to.min((band + 1) * BAND);
            let x = LEFT + from % BAND * CLOCK;
            let w = (end - from) * CLOCK;
            let top = f64::from(band * band_high + TOP + row * (HIGH + 3)) + y;
            let path = marks.entry(class.to_owned()).or_default();
            let _ = write!(path, "M{x} {top:.1}h{w}v{height:.1}h-{w}z");
            const LETTER: usize = 7;
            if !label.is_empty() && w as usize > label.len() * LETTER + 6 {
                let _ = writeln!(
                    labels,
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                    x + w / 2,
                    top + height / 2.0 + 4.0
                );
            }
            from = end;
        }
    };
    for (row, slots) in timeline.schedulers.iter().enumerate() {
        let row = row as u32;
        let mut warps: Vec<u32> = slots.iter().map(|slot| slot.warp).collect();
        warps.sort_unstable();
        warps.dedup();
        let height = f64::from(HIGH) / warps.len().max(1) as f64;
        let mut next = 0;
        for slot in slots {
            let clock = slot.clock.min(timeline.clocks);
            if let (Some(reason), true) = (slot.waited, clock > next) {
                place(&class(reason), next, clock, row, 0.0, HIGH.into(), reason.heading());
            }
            if slot.clock >= timeline.clocks {
                break;
            }
            let unit =
                machine.instructions.get(slot.instruction as usize).map_or(Unit::Other, |instruction| instruction.unit);
            let lane = warps.iter().position(|warp| *warp == slot.warp).unwrap_or(0);
            place(&class_of_unit(unit), clock, clock + 1, row, lane as f64 * height, height, "");
            next = clock + 1;
        }
    }
    let mut svg = String::new();
    for band in 0..bands {
        let top = band * band_high;
        for row in 0..n {
            let y = top + TOP + row * (HIGH + 3);
            let w = (timeline.clocks - band * BAND).min(BAND) * CLOCK;
            let _ = writeln!(
                svg,
                "<rect class=\"ground\" x=\"{LEFT}\" y=\"{y}\" width=\"{w}\" height=\"{HIGH}\"/>\
                 <text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">sched {row}</text>",
                LEFT - 6,
                y + 15
            );
        }
        for clock in (band * BAND..timeline.clocks.min((band + 1) * BAND)).step_by(32) {
            let x = LEFT + clock % BAND * CLOCK;
            let _ = writeln!(svg, "<text class=\"name\" x=\"{x}\" y=\"{}\">{clock}</text>", top + TOP - 4);
        }
    }
    let reasons = |(class, d): (&String, &String)| format!("<path class=\"{class}\" d=\"{d}\"/>\n");
    let (gaps, issues): (Vec<_>, Vec<_>) = marks.iter().partition(|(class, _)| class.starts_with("r-"));
    svg.extend(gaps.into_iter().map(reasons));
    svg.extend(issues.into_iter().map(reasons));
    let units: String = Unit::ALL
        .iter()
        .filter(|unit| marks.contains_key(&class_of_unit(**unit)))
        .map(|unit| format!("<li><span class=\"key {}\"></span>{}</li>\n", class_of_unit(*unit), unit.description()))
        .collect();
    let waits: String = Reason::ALL
        .iter()
        .filter(|reason| marks.contains_key(&class(**reason)))
        .map(|reason| {
            format!(
                "<li><span class=\"key {}\"></span><b>{}</b> {}</li>\n",
                class(*reason),
                reason.heading(),
                reason.description()
            )
        })
        .collect();
    format!(
        "<h3>The busiest loop, clock by clock</h3>\n<p>{words}</p>\n<ul class=\"legend\">\n{units}{waits}</ul>\n\
         <div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Time line\">\n\
         <svg class=\"time\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\" aria-label=\"What four schedulers issue, clock by clock\">\n{svg}{labels}</svg>\n</div>\n"
    )
}

fn class_of_state(state: State) -> String {
    format!("p-{}", state.heading())
}

/// Width of the clocks of a pipeline, and the least of a mark.
const WIDE: f64 = 1024.0;
const LEAST: f64 = 2.0;
/// Space for the names of roles.
const NAMES: f64 = 90.0;

/// Returns the pipeline: a row per role, colours by what its first warp does, and a row per unit that works beside it.
pub(super) fn pipeline(machine: &MachineCodeExplanation, pipeline: &Pipeline) -> String {
    let scale = WIDE / f64::from(pipeline.clocks.max(1));
    let (row_high, high) = (f64::from(HIGH) + 3.0, f64::from(HIGH));
    let units = units(pipeline);
    let n = pipeline.roles.len() + units.len();
    let [wide, all_high] = [NAMES + WIDE + 8.0, f64::from(TOP) + n as f64 * row_high + 4.0];
    let top = |row: usize| f64::from(TOP) + row as f64 * row_high;
    let x = |clock: u32| NAMES + f64::from(clock) * scale;
    let mut svg = String::new();
    let names = pipeline.roles.iter().map(|role| role.name.as_str()).chain(units.iter().map(|(name, ..)| *name));
    for (row, name) in names.enumerate() {
        let y = top(row);
        let _ = writeln!(
            svg,
            "<rect class=\"ground\" x=\"{NAMES}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\"/>\
             <text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            NAMES - 6.0,
            y + 15.0,
            escaped(name)
        );
    }
    for (row, role) in pipeline.roles.iter().enumerate() {
        let mut marks: BTreeMap<(bool, State), String> = BTreeMap::new();
        for span in &role.spans {
            let starts = span.state.starts_work();
            let width = (f64::from(span.to - span.from) * scale).max(if starts { LEAST } else { 0.0 });
            let path = marks.entry((starts, span.state)).or_default();
            let _ = write!(path, "M{:.1} {:.1}h{width:.2}v{high}h-{width:.2}z", x(span.from), top(row));
        }
        // What lasts for a moment is above what takes long.
        for ((_, state), path) in marks {
            let _ = writeln!(svg, "<path class=\"{}\" d=\"{path}\"/>", class_of_state(state));
        }
    }
    for (row, (_, words, steps, most)) in units.iter().enumerate() {
        let bottom = top(pipeline.roles.len() + row) + high;
        let mut path = format!("M{NAMES} {bottom:.1}");
        for [clock, value] in steps {
            let y = bottom - high * f64::from(*value) / f64::from((*most).max(1));
            let _ = write!(path, "H{:.1}V{y:.1}", x(*clock));
        }
        let _ = writeln!(
            svg,
            "<path class=\"p-unit\" d=\"{path}H{:.1}V{bottom:.1}z\"><title>{}</title></path>",
            NAMES + WIDE,
            capital(words)
        );
    }
    for clock in (0..pipeline.clocks).step_by(pipeline.round.max(1) as usize) {
        let (x, end) = (x(clock), all_high - 4.0);
        let _ = writeln!(
            svg,
            "<path class=\"round\" d=\"M{x:.1} {TOP}V{end:.1}\"/>\
             <text class=\"name\" x=\"{x:.1}\" y=\"{}\">{clock}</text>",
            TOP - 4
        );
    }
    let states = states(pipeline);
    let legend: String = states
        .iter()
        .map(|state| {
            let class = class_of_state(*state);
            format!("<li><span class=\"key {class}\"></span><b>{}</b> {}</li>\n", state.heading(), state.description())
        })
        .collect();
    let rows: String = units.iter().map(|(name, words, ..)| format!("<li><b>{name}</b> {words}</li>\n")).collect();
    let binding = binding(machine, pipeline).map_or(String::new(), |words| format!("<p>{}</p>\n", escaped(&words)));
    let headings: String = states.iter().map(|state| format!("<th scope=\"col\">{}</th>", state.heading())).collect();
    let shares: String = shares(pipeline)
        .into_iter()
        .map(|(name, shares)| {
            let cells: String = shares.iter().map(|share| format!("<td class=\"n\">{}</td>", escaped(share))).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escaped(&name))
        })
        .collect();
    format!(
        "<h3>The pipeline</h3>\n<p>{}. Of each role its first warp is shown; below are the units that work beside the \
         warps.</p>\n{binding}<ul class=\"legend\">\n{legend}{rows}</ul>\n\
         <div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Pipeline\">\n\
         <svg class=\"time\" width=\"{wide}\" height=\"{all_high}\" viewBox=\"0 0 {wide} {all_high}\" role=\"img\" \
         aria-label=\"What the roles of a block and the units beside them do, clock by clock\">\n{svg}</svg>\n</div>\n\
         <div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Clocks of each role\">\n<table>\n<thead><tr>\
         <th scope=\"col\">clocks in %</th>{headings}</tr></thead>\n<tbody>\n{shares}</tbody>\n</table>\n</div>\n",
        capital(&escaped(&title(pipeline)))
    )
}

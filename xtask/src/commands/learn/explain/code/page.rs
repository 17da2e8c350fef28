//! The machine code of a kernel as a part of a page: source beside instructions, and a time line.
//!
//! A line is chosen with a radio button, and the style sheet shows its instructions: there is no script.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalog::text::{capital, escaped};
use tasks::explain::machine_code::{Instruction, MachineCodeExplanation, Reason};

use super::{
    CodeLine, change, class, clocks_of_issue, facts, is_in_loop, lines, mainly, percent, picture, rule, stalls, sums,
};
use crate::commands::learn::explain::table::exact;
use crate::commands::learn::explain::{Subject, count, file_heading, heading, line_number, short};

pub(in crate::commands::learn::explain) const STYLE: &str = include_str!("page.css");

/// Returns the parts of the page about machine code; empty without machine code.
pub(in crate::commands::learn::explain) fn sections(subjects: &[Subject]) -> String {
    let with_code = subjects.iter().filter_map(|subject| Some((subject, subject.explained.machine.as_ref()?)));
    let mut out: String = with_code.map(|(subject, machine)| section(subject, machine)).collect();
    if let [yours, finished] = subjects {
        out.insert_str(0, &side_by_side(yours, finished));
    }
    out
}

pub(in crate::commands::learn::explain) fn links(subjects: &[Subject]) -> String {
    let with_code = subjects.iter().filter(|subject| subject.explained.machine.is_some());
    with_code
        .map(|subject| {
            format!(
                "<li><a href=\"#{0}-code\">Machine code of {1}</a></li>\n",
                subject.origin.label(),
                subject.origin.description()
            )
        })
        .collect()
}

fn side_by_side(yours: &Subject, finished: &Subject) -> String {
    let (Some(a), Some(b)) = (&yours.explained.machine, &finished.explained.machine) else { return String::new() };
    let cell = |value: Option<f64>| format!("<td class=\"n\">{}</td>", value.map_or(String::new(), exact));
    let rows: String = sums(a, b)
        .into_iter()
        .map(|(words, a, b)| format!("<tr><th scope=\"row\">{words}</th>{}{}</tr>\n", cell(a), cell(b)))
        .collect();
    let change = match change(yours, finished) {
        Some(change) => format!("<p class=\"change\">{}.</p>\n", escaped(&capital(&change))),
        None => String::new(),
    };
    format!(
        "<section id=\"code-sums\">\n<h2>Machine code side by side</h2>\n{change}\
         <div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Sums of the machine code\">\n<table>\n\
         <thead><tr><td></td><th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n</section>\n",
        yours.origin.label(),
        finished.origin.label()
    )
}

fn section(subject: &Subject, machine: &MachineCodeExplanation) -> String {
    let id = format!("{}-code", subject.origin.label());
    let mut out = format!(
        "<section id=\"{id}\" class=\"machine\">\n<h2>Machine code. {}</h2>\n<p><code>{}</code> on {}, for {}.</p>\n<dl>\n",
        heading(subject),
        escaped(&subject.explained.kernel),
        machine.shape,
        escaped(&machine.target)
    );
    if let Some(caveat) = subject.caveat() {
        let _ = writeln!(out, "<div class=\"caveat\"><dt>Note</dt><dd>{}</dd></div>", escaped(&caveat));
    }
    for (name, value) in facts(machine) {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(&capital(&name)), escaped(&value));
    }
    out.push_str("</dl>\n");
    if !subject.shows_lines {
        out.push_str("<p>Its machine code is shown once your copy has passed.</p>\n</section>\n");
        return out;
    }
    out.push_str(&reasons(machine));
    out.push_str(&panes(subject, machine, &id));
    if let Some(timeline) = &machine.timeline {
        out.extend(timeline.pipeline.as_ref().map(|pipeline| picture::pipeline(machine, pipeline)));
        out.push_str(&picture::time_line(machine, timeline));
    }
    out.push_str("</section>\n");
    out
}

/// Returns a bar of all clocks by reason, with the legend.
fn reasons(machine: &MachineCodeExplanation) -> String {
    let stalls = stalls(machine);
    let all: u64 = stalls.values().sum();
    if all == 0 {
        return String::new();
    }
    let rows: String = Reason::ALL
        .iter()
        .filter_map(|reason| {
            let clocks = stalls.get(reason).copied().filter(|clocks| *clocks > 0)?;
            Some(format!(
                "<li><span class=\"key {}\"></span><b>{}</b> {}%: {}</li>\n",
                class(*reason),
                reason.heading(),
                percent(clocks, all),
                reason.description()
            ))
        })
        .collect();
    format!(
        "<h3>Where the clocks of warps went</h3>\n{}<ul class=\"legend\">\n{rows}</ul>\n",
        bar(&stalls, all, all, "stack all")
    )
}

/// Returns a bar of clocks by reason; a full one is `full` clocks.
fn bar(stalls: &BTreeMap<Reason, u64>, all: u64, full: u64, classes: &str) -> String {
    let mut words = Vec::new();
    let mut parts = String::new();
    for reason in Reason::ALL {
        let clocks = stalls.get(&reason).copied().unwrap_or(0);
        let width = clocks as f64 / full.max(1) as f64 * 100.0;
        if width >= 0.05 {
            let _ = write!(parts, "<i class=\"{}\" style=\"width:{width:.1}%\"></i>", class(reason));
        }
        if clocks > 0 {
            words.push(format!("{} {}%", reason.heading(), percent(clocks, all)));
        }
    }
    format!("<span class=\"{classes}\" title=\"{}\">{parts}</span>", words.join(", "))
}

/// Returns the source on the left, the instructions of the chosen line on the right.
fn panes(subject: &Subject, machine: &MachineCodeExplanation, id: &str) -> String {
    let lines = lines(&subject.file, machine);
    let all: u64 = lines.iter().map(|line| line.clocks).sum();
    let most = lines.iter().map(|line| line.clocks).max().unwrap_or(0);
    let busiest = lines.iter().enumerate().max_by_key(|(_, line)| (line.clocks, line.issued)).map_or(0, |(at, _)| at);
    let mut rules = String::new();
    for at in 0..lines.len() {
        let _ = write!(
            rules,
            "#{id}:has(#{id}-{at}:checked) .code-rows tbody tr:not(.l{at}){{display:none}}\n\
             #{id}:has(.code-rows .l{at}:hover) .source .l{at}{{background:var(--chosen)}}\n"
        );
    }
    let n = machine.instructions.len();
    let mut out = format!(
        "<style>\n{rules}</style>\n<h3 id=\"{id}-lines\">Lines and their instructions</h3>\n\
         <p>Choose a line to see its instructions. Issued, wavefronts and sectors are exact; clocks are those of a model \
         of one multiprocessor. {}</p>\n<div class=\"panes\">\n\
         <div class=\"source\" role=\"radiogroup\" aria-labelledby=\"{id}-lines\">\n\
         <label class=\"row every\"><input type=\"radio\" name=\"{id}\" id=\"{id}-every\">\
         <span class=\"text\">all {n} instructions, in order</span></label>\n",
        rule(&lines, subject)
    );
    // The whole of the kernel's own lines, so that what costs nothing can be read, too.
    let mut next = lines.iter().filter(|line| line.file == subject.file && line.line > 0);
    let first = next.next().map_or(0, |line| line.line);
    let last = next.next_back().map_or(first, |line| line.line);
    let mut file = subject.file.as_str();
    let mut number = first;
    for (at, line) in lines.iter().enumerate() {
        if line.file != file {
            quiet(&mut out, subject, &mut number, last + 1);
            file = line.file;
            let _ = writeln!(out, "<p class=\"file\">{}</p>", escaped(file_heading(file)));
        } else if file == subject.file && line.line > 0 {
            quiet(&mut out, subject, &mut number, line.line);
            number = line.line + 1;
        }
        out.push_str(&row(subject, line, (id, at, at == busiest), all, most));
    }
    if file == subject.file {
        quiet(&mut out, subject, &mut number, last + 1);
    }
    let _ = writeln!(
        out,
        "</div>\n<div class=\"code-rows\" role=\"region\" tabindex=\"0\" aria-label=\"Machine instructions\">\n<table>\n\
         <thead><tr><th scope=\"col\">address</th><th scope=\"col\">line</th><th scope=\"col\">issued</th>\
         <th scope=\"col\" title=\"of a warp for one issue\">clocks</th><th scope=\"col\">mainly</th>\
         <th scope=\"col\" title=\"scoreboards that must be released before\">waits</th>\
         <th scope=\"col\" class=\"sass\">instruction</th>\
         <th scope=\"col\" title=\"clocks until the next instruction; y for yielding\">stall</th>\
         <th scope=\"col\" title=\"a scoreboard, when the result is written or the operands are read\">releases</th></tr></thead>\n<tbody>"
    );
    let mut of: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        of.extend(line.instructions.iter().map(|i| (i.address, at)));
    }
    for instruction in &machine.instructions {
        let at = of.get(&instruction.address).copied().unwrap_or(0);
        out.push_str(&instruction_row(machine, instruction, at));
    }
    out.push_str("</tbody>\n</table>\n</div>\n</div>\n");
    out
}

/// Writes source lines without instructions, up to one.
fn quiet(out: &mut String, subject: &Subject, number: &mut u32, end: u32) {
    while *number < end && *number > 0 {
        let text = escaped(subject.text(&subject.file, *number).trim_end());
        let _ = writeln!(out, "<div class=\"row quiet\"><b>{number}</b><code>{text}</code></div>");
        *number += 1;
    }
}

fn row(subject: &Subject, line: &CodeLine<'_>, (id, at, checked): (&str, usize, bool), all: u64, most: u64) -> String {
    let number = line_number(line.line, "–");
    let checked = if checked { " checked" } else { "" };
    let share = match percent(line.clocks, all) {
        share if share.is_empty() => share,
        share => format!("{}%", escaped(&share)),
    };
    let mut title = vec![format!("{} machine instructions", line.instructions.len())];
    let counts = [(line.wavefronts, "wavefronts of shared memory"), (line.sectors, "sectors of global memory")];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    title.extend(counts.map(|(n, words)| format!("{} {words}", exact(n as f64))));
    format!(
        "<label class=\"row l{at}\" title=\"{}\"><input type=\"radio\" name=\"{id}\" id=\"{id}-{at}\"{checked}>\
         <b>{number}</b><span class=\"n\">{}</span><span class=\"n\">{share}</span>{}<code>{}</code></label>\n",
        title.join(", "),
        count(line.issued),
        bar(&line.stalls, all, most, "stack"),
        escaped(subject.text(line.file, line.line).trim_end())
    )
}

fn instruction_row(machine: &MachineCodeExplanation, instruction: &Instruction, at: usize) -> String {
    let in_loop = if is_in_loop(machine, instruction) { " hot" } else { "" };
    let clocks = clocks_of_issue(instruction);
    let mainly = match mainly(&instruction.stalls) {
        Some(reason) => format!("<span class=\"key {}\"></span>{}", class(reason), reason.heading()),
        None => String::new(),
    };
    let line = line_number(instruction.line, "–");
    format!(
        "<tr class=\"l{at}{in_loop}\"><th scope=\"row\">{:04x}</th><td>{line}</td><td>{}</td><td>{clocks}</td><td class=\"why\">{mainly}</td>\
         <td class=\"control\">{}</td>\
         <td class=\"sass\">{}</td><td>{}</td><td class=\"why\">{}</td></tr>\n",
        instruction.address,
        short(instruction.issued as f64),
        instruction.control.waits(),
        escaped(&instruction.text),
        instruction.control.stalls(),
        instruction.control.releases()
    )
}

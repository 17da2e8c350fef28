//! Machine code as text of at most 100 columns.

use catalog::text::{Paint, Table, wrapped};
use tasks::explain::machine_code::{Instruction, MachineCodeExplanation, Reason};

use super::{
    change, clocks_of_issue, facts, is_in_loop, letters, lines, mainly, percent, pipeline, rule, stalls, sums,
};
use crate::commands::learn::explain::table::{cut, exact};
use crate::commands::learn::explain::{Subject, count, file_heading, line_number, short};

const WIDTH: usize = 100;

const BAR: usize = 8;

/// Lines whose instructions are shown, and how many of each, unless all are asked for.
const BUSIEST: usize = 5;

const OF_EACH: usize = 8;

/// Returns the machine code of all kernels, and how they compare.
pub(in crate::commands::learn::explain) fn text(subjects: &[Subject], all: bool, paint: Paint) -> String {
    let mut out = String::new();
    for subject in subjects {
        let Some(machine) = &subject.explained.machine else { continue };
        out.push_str(&head(subject, machine, paint));
        if subject.shows_lines {
            out.push_str(&table(subject, machine, paint));
            out.push_str(&reasons(machine, paint));
            out.push_str(&instructions(subject, machine, all, paint));
            if let Some(timeline) = &machine.timeline {
                let pipeline = timeline.pipeline.as_ref();
                out.extend(pipeline.map(|pipeline| pipeline::text(machine, pipeline, paint)));
                if all || pipeline.is_none() {
                    out.push_str(&letters::time_line(machine, timeline, all, paint));
                }
            }
        }
        out.push('\n');
    }
    if let [yours, finished] = subjects {
        out.push_str(&side_by_side(yours, finished, paint));
    }
    out
}

fn head(subject: &Subject, machine: &MachineCodeExplanation, paint: Paint) -> String {
    let text = format!(
        "{}: {}, {} on {}, machine code for {}",
        subject.file,
        subject.origin.description(),
        subject.explained.kernel,
        machine.shape,
        machine.target
    );
    let mut out = subject.heading(&text, WIDTH, paint);
    for (name, value) in facts(machine) {
        let hanging = wrapped(&format!("{name}: {value}"), "    ", WIDTH);
        out.push_str(&format!("  {}", hanging.trim_start()));
    }
    out
}

fn table(subject: &Subject, machine: &MachineCodeExplanation, paint: Paint) -> String {
    let lines = lines(&subject.file, machine);
    let all: u64 = lines.iter().map(|line| line.clocks).sum();
    let most = lines.iter().map(|line| line.clocks).max().unwrap_or(0);
    let row = |cells: [&str; 8], text: &str| {
        let [number, code, issued, shared, sectors, time, mainly, bar] = cells;
        let row = format!(
            "  {number:>4} {code:>4} {issued:>6} {shared:>6} {sectors:>7} {time:>5} {mainly:<7} {bar:<BAR$} {text}"
        );
        row.trim_end().to_owned()
    };
    const USED: usize = 2 + 4 + 1 + 4 + 1 + 6 + 1 + 6 + 1 + 7 + 1 + 5 + 1 + 7 + 1 + BAR + 1;
    let heading = row(["line", "code", "issued", "wavefr", "sectors", "time%", "mainly", ""], "");
    let mut out = format!("\n{}\n", paint.dim(&heading));
    let mut file = subject.file.as_str();
    for line in &lines {
        if line.file != file {
            file = line.file;
            out.push_str(&format!("  {}\n", file_heading(file)));
        }
        let bar = match most {
            0 => 0,
            most => (line.clocks as f64 / most as f64 * BAR as f64).round() as usize,
        };
        let number = line_number(line.line, "-");
        let mainly = mainly(&line.stalls).map_or("", Reason::heading);
        let cells = [
            number.as_str(),
            &line.instructions.len().to_string(),
            &count(line.issued),
            &count(line.wavefronts),
            &count(line.sectors),
            &percent(line.clocks, all),
            mainly,
            &"#".repeat(bar),
        ];
        let text = subject.text(line.file, line.line).trim();
        out.push_str(&row(cells, &cut(text, WIDTH - USED)));
        out.push('\n');
    }
    let legend = "code: machine instructions of the line; issued: how often to warps, over all blocks; wavefr: \
        wavefronts of shared memory; sectors: of global memory. These are exact. time%: share of the clocks of all warps, \
        in a model of one multiprocessor; mainly: the stall that took most of them.";
    let legend = format!("{legend} {}", rule(&lines, subject));
    out.push_str(&format!("\n{}", wrapped(&legend, "  ", WIDTH)));
    out
}

/// Shares of the clocks by reason, which is the legend of the reasons too.
fn reasons(machine: &MachineCodeExplanation, paint: Paint) -> String {
    let stalls = stalls(machine);
    let all: u64 = stalls.values().sum();
    if all == 0 {
        return String::new();
    }
    let mut table = Table::new(["waiting for", "", "", "time%"]).left(3);
    for reason in Reason::ALL {
        let clocks = stalls.get(&reason).copied().unwrap_or(0);
        if clocks == 0 {
            continue;
        }
        let bar = (clocks as f64 / all as f64 * 20.0).round() as usize;
        table.row([
            reason.heading().to_owned(),
            "#".repeat(bar),
            reason.description().to_owned(),
            percent(clocks, all),
        ]);
    }
    format!("\n{}", table.render(paint))
}

/// Returns the instructions of the lines that take the most clocks, or of all lines.
fn instructions(subject: &Subject, machine: &MachineCodeExplanation, all: bool, paint: Paint) -> String {
    let mut lines = lines(&subject.file, machine);
    let n = lines.len();
    if !all {
        // The busiest first; without a prediction, those that were issued most.
        lines.sort_by_key(|line| std::cmp::Reverse((line.clocks, line.issued)));
        lines.truncate(BUSIEST);
    }
    let title = match n - lines.len() {
        0 => "machine code of each line".to_owned(),
        left => format!("machine code of the busiest lines ({left} more lines with --all)"),
    };
    let legend = "clocks: what a warp spends on one issue. waits: scoreboards that must be released before; st: clocks \
        until the next instruction, y for yielding; releases: a scoreboard, when the result is written or the operands \
        are read. The busiest loop has a bar in front.";
    let mut out = format!("\n{title}\n{}", wrapped(legend, "  ", WIDTH));
    let headings = format!("    addr issued clocks mainly  waits {:<41} {:>3}  releases", "instruction", "st");
    out.push_str(&format!("\n{}", paint.dim(&headings)));
    for line in &lines {
        let place = match (line.line, line.file == subject.file) {
            (0, _) => "of no line".to_owned(),
            (number, true) => format!("line {number}: {}", subject.text(line.file, number).trim()),
            (number, false) => {
                format!("{} line {number}: {}", line.file, subject.text(line.file, number).trim())
            }
        };
        out.push_str(&format!("\n  {}\n", paint.bold(&cut(&place, WIDTH - 2))));
        let shown = if all { line.instructions.clone() } else { slowest(&line.instructions) };
        out.extend(shown.iter().map(|instruction| instruction_line(machine, instruction)));
        match line.instructions.len() - shown.len() {
            0 => {}
            left => out.push_str(&format!("    and {left} more instructions of this line\n")),
        }
    }
    out
}

fn slowest<'a>(instructions: &[&'a Instruction]) -> Vec<&'a Instruction> {
    let mut shown = instructions.to_vec();
    shown.sort_by_key(|i| std::cmp::Reverse((i.clocks(), i.issued)));
    shown.truncate(OF_EACH);
    shown.sort_by_key(|i| i.address);
    shown
}

fn instruction_line(machine: &MachineCodeExplanation, instruction: &Instruction) -> String {
    let mark = if is_in_loop(machine, instruction) { '|' } else { ' ' };
    let clocks = clocks_of_issue(instruction);
    let mainly = mainly(&instruction.stalls).map_or("", Reason::heading);
    let control = &instruction.control;
    let row = format!(
        "  {mark} {:04x} {:>6} {clocks:>6} {mainly:<7} {:<5} {:<41} {:>3}  {}",
        instruction.address,
        short(instruction.issued as f64),
        control.waits(),
        cut(&instruction.text, 41),
        control.stalls(),
        control.releases()
    );
    format!("{}\n", cut(row.trim_end(), WIDTH))
}

fn side_by_side(yours: &Subject, finished: &Subject, paint: Paint) -> String {
    let (Some(a), Some(b)) = (&yours.explained.machine, &finished.explained.machine) else { return String::new() };
    let mut table = Table::new(["the whole launch", yours.origin.label(), finished.origin.label(), "yours / finished"]);
    for (words, a, b) in sums(a, b) {
        let cell = |value: Option<f64>| value.map_or(String::new(), exact);
        let ratio = match (a, b) {
            (Some(a), Some(b)) if b > 0.0 => format!("{:.2}", a / b),
            _ => String::new(),
        };
        table.row([words.to_owned(), cell(a), cell(b), ratio]);
    }
    let mut out = table.render(paint);
    if let Some(change) = change(yours, finished) {
        out.push_str(&format!("\n{}", wrapped(&change, "", WIDTH)));
    }
    out
}

//! The learner's starting point: generated from the finished kernel, or a skeleton with the bare signature.

#[cfg(test)]
mod tests;

use catalog::text::wrapped;

use crate::markers;
use crate::task::{Task, TaskKind};

/// Width of generated comments, in columns.
const WIDTH: usize = 100;

pub fn starter(task: &Task, solution: &str) -> String {
    let head = head(task);
    if let Some(host) = &task.host {
        return format!("{}{}", head.replace("//", "#"), host.starter);
    }
    if task.has_starter {
        let text = markers::starter(solution);
        let (_, body) = split_header(&text);
        format!("{head}{}{body}", launch_lines(&text))
    } else {
        format!("{head}{}", skeleton(task))
    }
}

/// Returns the header comment: the task, and the command that checks it.
fn head(task: &Task) -> String {
    let name = &task.name;
    let kind = match task.kind {
        TaskKind::Rebuild => "rebuild",
        TaskKind::Transfer => "transfer",
    };
    let mut out = comment(&format!("{name}, a {kind} task of {} minutes: {}.", task.minutes, task.title));
    for paragraph in task.text.trim().split("\n\n").filter(|text| !text.trim().is_empty()) {
        out.push_str("//\n");
        // Indented lines are code and keep their line breaks.
        let is_code = |line: &str| line.starts_with(' ');
        if paragraph.lines().any(is_code) {
            paragraph.lines().for_each(|line| out.push_str(&format!("// {}\n", line.trim_end())))
        } else {
            out.push_str(&comment(paragraph))
        }
    }
    let todo = if task.has_starter { "What is missing is marked TODO. " } else { "" };
    out.push_str("//\n");
    out.push_str(&comment(&format!("{todo}Check it with: cargo xtask check {name}")));
    out
}

/// Wraps a paragraph as comment lines.
fn comment(text: &str) -> String {
    wrapped(&text.split_whitespace().collect::<Vec<_>>().join(" "), "// ", WIDTH)
}

/// Splits off the header comment, which describes the task or the solution.
pub fn split_header(text: &str) -> (&str, &str) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with("//") {
            break;
        }
        end += line.len();
    }
    text.split_at(end)
}

/// Returns the part of the header about shapes and the launch: from `// Any M, N, K` on.
fn launch_lines(text: &str) -> String {
    let (header, _) = split_header(text);
    let lines: Vec<&str> = header.lines().skip_while(|line| !line.starts_with("// Any ")).collect();
    if lines.is_empty() { String::new() } else { format!("//\n{}\n", lines.join("\n")) }
}

/// Returns a kernel that compiles and computes nothing.
fn skeleton(task: &Task) -> String {
    let work = task.work;
    let parameters: Vec<String> = work.parameters().iter().map(|(kind, name)| format!("{kind} {name}")).collect();
    let threads: u32 = task.block.iter().product();
    let [rows, cols] = task.tile;
    let (of, names) = if work.is_transpose() { ("in", ["rows", "cols"]) } else { ("C", ["M", "N"]) };
    let [x, y, z] = task.block;
    let block = match (y, z) {
        (1, 1) => format!("{x} threads along x"),
        (_, 1) => format!("{x} x {y} threads"),
        _ => format!("{x} x {y} x {z} threads"),
    };
    let batch = match work.batch() {
        1 => "",
        _ => "; blockIdx.z is the number of the product",
    };
    let launch = comment(&format!(
        "Launch: blocks of {block}, one block per {rows} x {cols} of {of}: blockIdx.x counts tiles along {}, blockIdx.y \
         along {}{batch}.",
        names[1], names[0]
    ));
    let dynamic = match task.dynamic_shared {
        0 => String::new(),
        bytes => comment(&format!("Each block has {bytes} bytes of dynamic shared memory.")),
    };
    format!(
        "//\n{launch}{dynamic}#include \"common.cuh\"\n\n{}extern \"C\" __global__ void __launch_bounds__({threads})\n{}({})\n{{\n    \
         // TODO({}): everything\n}}\n",
        work.declarations(),
        task.entry,
        parameters.join(", "),
        task.name.step,
    )
}

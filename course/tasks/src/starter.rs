//! The learner's starting point: generated from the finished kernel, or a skeleton with the bare signature.

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

/// Returns the finished kernel for learners, without markers.
pub fn finished(solution: &str) -> String {
    markers::finished(solution)
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
            out.push_str(&comment(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")))
        }
    }
    let todo = if task.has_starter { "What is missing is marked TODO. " } else { "" };
    out.push_str("//\n");
    out.push_str(&comment(&format!("{todo}Check it with: cargo xtask check {name}")));
    out
}

/// Wraps a sentence as comment lines.
fn comment(text: &str) -> String {
    let mut out = String::new();
    let mut line = String::from("//");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 2 {
            out.push_str(&line);
            out.push('\n');
            line = String::from("//");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

/// Splits off the header comment, which describes the solution.
fn split_header(text: &str) -> (&str, &str) {
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
        (1, 1) => format!("{x} threads"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Catalogue;

    const EXAMPLE: &str = include_str!("task/example.toml");
    const VECTORS: &str = r#"
[[transfer]]
id = "vectors"
title = "12 bytes"
text = """
Transpose a matrix of
small structs.

    struct Vector { float x, y, z; };
"""
entry = "transpose_vectors"
work = "transpose12"
tile = [32, 32]
block = [32, 8, 1]
minutes = 30
"#;

    #[test]
    fn a_starter_keeps_the_code_and_says_what_to_do() {
        let catalogue = Catalogue::parse(EXAMPLE, "v05", "tasks.toml").expect("a catalogue");
        let solution = "// v05_x.cu: the idea.\n//\n// Changed: everything.\n// Any M, N, K. Launch: so.\n#include \"common.cuh\"\n\
                        // ANCHOR: kernel\nvoid f()\n{\n    // SOLUTION(v05): do it\n    done();\n    // STARTER| \
                        undone();\n    // SOLUTION_END\n}\n// ANCHOR_END: kernel\n";
        assert_eq!(
            starter(&catalogue.tasks[0], solution),
            "// v05, a rebuild task of 45 minutes: 32 banks, and no two lanes in one.\n//\n\
             // What is missing is marked TODO. Check it with: cargo xtask check v05\n//\n// Any M, N, K. Launch: so.\n\
             #include \"common.cuh\"\nvoid f()\n{\n    // TODO(v05): do it\n    undone();\n}\n"
        );
        assert_eq!(
            finished(solution),
            "// v05_x.cu: the idea.\n//\n// Changed: everything.\n// Any M, N, K. Launch: so.\n#include \"common.cuh\"\n\
             void f()\n{\n    done();\n}\n"
        );
    }

    #[test]
    fn a_skeleton_is_a_signature_and_a_launch() {
        let catalogue = Catalogue::parse(VECTORS, "v05", "tasks.toml").expect("a catalogue");
        assert_eq!(
            starter(&catalogue.tasks[0], ""),
            "// v05.vectors, a transfer task of 30 minutes: 12 bytes.\n//\n// Transpose a matrix of small structs.\n//\n\
             //     struct Vector { float x, y, z; };\n//\n// Check it with: cargo xtask check v05.vectors\n//\n\
             // Launch: blocks of 32 x 8 threads, one block per 32 x 32 of in: blockIdx.x counts tiles along\n\
             // cols, blockIdx.y along rows.\n#include \"common.cuh\"\n\nstruct Vector {\n    float x, y, z;\n};\n\n\
             extern \"C\" __global__ void __launch_bounds__(256)\n\
             transpose_vectors(int rows, int cols, const Vector* in, Vector* out)\n{\n    // TODO(v05): everything\n}\n"
        );
    }
}

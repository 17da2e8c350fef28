//! Verdicts on kernels that the compiler in `emulator/cuda` compiles are those on NVRTC's PTX: for the solutions of
//! `tests/data/solutions`, the starters and the finished kernels of the scalar steps.

use std::fmt::Write as _;

use tasks::{Task, Verdict};

use crate::common::{kernel_tasks, ptx_of, read, root};
use crate::solutions;

/// Steps whose kernels are written without tensor cores.
const STEPS: [&str; 9] = ["v00", "v01", "v02", "v03", "v04", "v05", "v06", "v07", "v08"];

struct Case {
    name: String,
    task: Task,
    source: String,
    ptx: String,
}

fn compile(name: &str, text: &str) -> Result<String, String> {
    let folder = std::fs::read_dir(root().join("kernels")).expect("kernels");
    let names = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let headers: Vec<(String, String)> = names
        .filter(|name| name.ends_with(".cuh"))
        .map(|name| (name.clone(), read(format!("kernels/{name}"))))
        .collect();
    match cuda::compile(&cuda::Input { name, text, headers: &headers }) {
        Ok(compiled) => Ok(compiled.module.to_string()),
        Err((messages, _)) => Err(messages.into_iter().map(|message| message.text).collect::<Vec<_>>().join("; ")),
    }
}

/// Returns codes, values of criteria and lines of findings: a verdict without its texts.
fn summary(verdict: &Verdict) -> Vec<String> {
    let parts = verdict.parts.iter().map(|part| {
        let value = part.measured.as_ref().and_then(|measured| measured.value);
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        format!("{} {}{value}", part.id, part.status.label())
    });
    let findings = verdict.findings.iter().map(|found| format!("{} {}", found.code, found.line));
    let wrong = verdict.wrong.iter().map(|wrong| format!("{} wrong, first {}", wrong.n_wrong, wrong.first));
    parts.chain(findings).chain(wrong).collect()
}

fn difference(case: &Case, ours: &str) -> String {
    let judged = |ptx: &str| summary(solutions::judged(&case.name, &case.task, &case.source, ptx));
    let (ours, theirs) = (judged(ours), judged(&case.ptx));
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|one| !those.contains(one)).cloned().collect::<Vec<_>>().join(", ")
    };
    match ours == theirs {
        true => String::new(),
        false if only(&ours, &theirs).is_empty() && only(&theirs, &ours).is_empty() => {
            format!("{ours:?} for {theirs:?}")
        }
        false => format!("{} for {}", only(&ours, &theirs), only(&theirs, &ours)),
    }
}

#[test]
fn verdicts_are_those_of_nvrtc() {
    let is_scalar = |task: &Task| STEPS.iter().any(|step| task.name.to_string().starts_with(step));
    let mut cases: Vec<Case> = Vec::new();
    for (solution, ptx) in solutions::all() {
        let (name, source, task) = (solution.name, solution.source, solution.task);
        cases.push(Case { name, task, source, ptx });
    }
    for task in kernel_tasks() {
        let mut files = vec![("finished", task.solution.clone())];
        if task.has_starter {
            files.push(("starter", task.starter_file()));
        }
        for (kind, file) in files {
            let (source, ptx) = (read(&file), ptx_of(&file));
            cases.push(Case { name: format!("{} {kind}", task.name), task: task.clone(), source, ptx });
        }
    }
    cases.retain(|case| is_scalar(&case.task));
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let line = |case: &Case| match compile(&format!("{}.cu", case.name), &case.source) {
        Err(why) => format!("refused: {why}"),
        Ok(ours) => difference(case, &ours),
    };
    let lines = catalog::parallel::run(&cases, usize::MAX, line, |_| true);
    let mut table = String::new();
    for (case, line) in cases.iter().zip(&lines).filter(|(_, line)| !line.is_empty()) {
        let _ = writeln!(table, "{}: {line}", case.name);
    }
    let refused = lines.iter().filter(|line| line.starts_with("refused")).count();
    let same = lines.iter().filter(|line| line.is_empty()).count();
    let _ = write!(table, "{same} the same, {} different, {refused} refused", lines.len() - same - refused);
    insta::assert_snapshot!(table);
}

/// NVIDIA's assembler takes its PTX. The driver has the same one: what it refuses runs on no GPU.
#[test]
fn ptxas_assembles_kernels_of_the_built_in_compiler() {
    let ptxas = root().join("target/ptxas/nvidia/cuda_nvcc/bin/ptxas");
    if !ptxas.is_file() {
        eprintln!("NOT RUN: there is no ptxas here; `cargo xtask setup --rust` gets it");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for task in kernel_tasks().into_iter().filter(|task| STEPS.iter().any(|step| task.name.step == *step)) {
        let ptx = compile("kernel.cu", &read(&task.solution)).unwrap_or_else(|why| panic!("{}: {why}", task.name));
        std::fs::write(folder.path().join("kernel.ptx"), ptx).expect("a file");
        let mut command = std::process::Command::new(&ptxas);
        command.args(["-arch=sm_90", "-o", "kernel.cubin", "kernel.ptx"]).current_dir(folder.path());
        let output = command.output().expect("ptxas starts");
        assert!(output.status.success(), "{}: {}", task.name, String::from_utf8_lossy(&output.stderr));
    }
}

//! `explain --machine`: the machine code of a kernel, as it is committed.

use catalog::provenance::sha256;
use tasks::{explain::Explained, explain::machine_code::MachineCodeExplanation};

use crate::fakes::{self, Learner, run_with_note};
use crate::{explain::with_explanations, explain_page};

/// Returns machine code of the finished kernel: a loop over a load, arithmetic and a store, run on each scheduler.
fn machine() -> MachineCodeExplanation {
    serde_json::from_str(include_str!("../data/machine.json")).expect("an explanation")
}

/// Returns a learner, and the finished kernel with its machine code.
fn with_machine_code(machine: MachineCodeExplanation) -> Learner {
    let learner = with_explanations();
    let cubin = "not looked into";
    learner.write("kernels/cubin/v05_x.cubin", cubin);
    let hash = sha256(fakes::SOLUTION.as_bytes());
    let header = format!(
        "// source: kernels/v05_x.cu sha256:{hash}\n// cubin: kernels/cubin/v05_x.cubin sha256:{}\n",
        sha256(cubin.as_bytes())
    );
    let ptx = format!("// Generated\n{header}.version 8.4\n.entry sgemm_x() {{\n}}\n");
    learner.write("kernels/ptx/v05_x.ptx", &ptx);
    let mut explained: Explained = serde_json::from_str(&learner.read("bin/finished.json")).expect("an explanation");
    explained.machine = Some(machine);
    let json = serde_json::to_string(&explained).expect("plain data");
    learner.write("bin/finished.json", &json);
    learner
}

#[test]
fn machine_code_stands_beside_its_lines() {
    let learner = with_machine_code(machine());
    let out = learner.output(0, "explain v05 --finished --machine");
    insta::assert_snapshot!(out);
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let asked = learner.read("bin/asked");
    assert!(asked.contains("--cubin kernels/cubin/v05_x.cubin --size 512"), "{asked}");

    let all = learner.output(0, "explain v05 --finished --machine --all --size 256x128x64");
    assert!(all.contains("machine code of each line") && all.contains("from clock 84"), "{all}");
    assert!(learner.read("bin/asked").contains("--size 256x128x64"));
}

#[test]
fn machine_code_is_part_of_the_record() {
    let learner = with_machine_code(machine());
    let record = learner.record(0, "explain v05 --finished --machine --json");
    let code = &record["explain"]["machine"];
    assert_eq!(code["prediction"]["us"], 143.4);
    assert_eq!(code["instructions"][2]["stalls"]["global"], 40_000);
    assert_eq!(code["timeline"]["schedulers"][1][1]["waited"], "global");
    let explained: Explained = serde_json::from_value(record["explain"].clone()).expect("an explanation");
    assert_eq!(explained.machine, Some(machine()));
}

/// Returns machine code with a pipeline: a producer and a consumer with a ring of two slots.
fn with_pipeline() -> MachineCodeExplanation {
    let mut machine = machine();
    let pipeline = serde_json::from_str(include_str!("../data/pipeline.json")).expect("a pipeline");
    machine.timeline.as_mut().expect("a loop").pipeline = Some(pipeline);
    machine
}

#[test]
fn a_pipeline_stands_for_the_schedulers() {
    let learner = with_machine_code(with_pipeline());
    let out = learner.output(0, "explain v05 --finished --machine");
    let (_, pipeline) = out.split_once("\n\n168 clocks").expect("a pipeline");
    insta::assert_snapshot!(pipeline);
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    assert!(learner.output(0, "explain v05 --finished --machine --all").contains("sched 3"));

    learner.output(0, "explain v05 --finished --machine --html page.html");
    let page = learner.read("page.html");
    explain_page::check(&page);
    for word in [
        "<h3>The pipeline</h3>",
        "class=\"p-empty\"",
        "Bytes on their way",
        "<h3>The busiest loop, clock by clock</h3>",
    ] {
        assert!(page.contains(word), "{word}");
    }
    let record = learner.record(0, "explain v05 --finished --machine --json");
    assert_eq!(record["explain"]["machine"]["timeline"]["pipeline"]["roles"][1]["spans"][1]["state"], "empty");
}

#[test]
fn a_kernel_without_a_launch_in_the_book_is_not_explained() {
    let learner = with_machine_code(machine());
    for words in ["explain gemm_v12_ring_bf16 --machine", "explain gemm_v12_nothing --machine"] {
        assert_eq!(learner.run(words).0, 2, "{words}");
    }
}

#[test]
fn a_page_has_the_machine_code_and_needs_no_script() {
    let learner = with_machine_code(machine());
    assert_eq!(learner.output(0, "explain v05 --finished --machine --html page.html"), "wrote page.html\n");
    let page = learner.read("page.html");
    explain_page::check(&page);
    for word in [
        "id=\"finished-code\"",
        "type=\"radio\" name=\"finished-code\"",
        "FFMA R6, R2.reuse, R3, R6",
        "<svg class=\"time\"",
        "band ±7%",
        "role=\"radiogroup\"",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn what_the_model_does_not_cover_has_no_time() {
    let mut machine = machine();
    machine.predicted.prediction = None;
    machine.predicted.no_prediction = Some("the model has no time for atomics: `RED`".into());
    machine.timeline = None;
    for instruction in &mut machine.instructions {
        (instruction.modelled, instruction.stalls) = (0, Default::default());
    }
    let learner = with_machine_code(machine);
    let out = learner.output(0, "explain v05 --finished --machine");
    assert!(out.contains("no prediction: the model has no time for atomics: `RED`"), "{out}");
    assert!(!out.contains("one pass") && !out.contains("predicted"), "{out}");
}

#[test]
fn machine_code_of_a_copy_needs_the_compiler() {
    let learner = with_machine_code(machine());
    let (code, out) = run_with_note(&learner, "explain v05 --machine", "xtask setup");
    assert_eq!((code, out.as_str()), (3, ""));
    // Options that say nothing without it.
    for words in [
        "explain v05 --all",
        "explain v05 --size 512",
        "explain v05 --machine --size 0",
        "explain v05 --machine --size 64x64",
        "explain v05 --machine --size 64,128",
        "explain v05 --machine --size 4097",
    ] {
        assert_eq!(learner.run(words).0, 2, "{words}");
    }
}

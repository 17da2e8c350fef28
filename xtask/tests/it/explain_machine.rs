//! `explain --machine`: the machine code of a kernel, as it is committed.

use catalog::Shape;
use catalog::provenance::sha256;
use serde_json::Value;
use tasks::explain::Explained;
use tasks::explain::machine_code::{
    Bound, Control, Forecast, Instruction, MachineCodeExplanation, Occupancy, Prediction, Reason, Slot, Timeline, Unit,
};

use crate::explain::with_explanations;
use crate::explain_page;
use crate::fakes::{self, Learner, run_with_note};

/// Returns an instruction that was issued so often, and what warps waited for in front of it.
fn instruction(at: u32, line: u32, unit: Unit, text: &str, issued: u64, stalls: &[(Reason, u64)]) -> Instruction {
    Instruction {
        address: at * 16,
        text: text.to_owned(),
        control: Control {
            stall: 4,
            yields: unit == Unit::Other,
            wait: if unit == Unit::Float { vec![0, 2] } else { Vec::new() },
            write: (unit == Unit::Global).then_some(0),
            read: None,
        },
        unit,
        file: if line == 0 { String::new() } else { "kernels/v05_x.cu".to_owned() },
        line,
        issued,
        wavefronts: if unit == Unit::Shared { 2 * issued } else { 0 },
        excess: if unit == Unit::Shared { issued } else { 0 },
        sectors: if unit == Unit::Global { 4 * issued } else { 0 },
        modelled: issued / 100,
        stalls: stalls.iter().copied().collect(),
    }
}

fn machine() -> MachineCodeExplanation {
    let slot = |clock, warp, instruction, waited| Slot { clock, warp, instruction, waited };
    let scheduler = |late: u32| {
        vec![
            slot(late, 0, 1, (late > 0).then_some(Reason::Fixed)),
            slot(late + 90, 0, 2, Some(Reason::Global)),
            slot(late + 91, 1, 3, None),
            slot(140 + late, 0, 1, Some(Reason::Barrier)),
        ]
    };
    let slowest = [(Reason::Global, 40_000), (Reason::Fixed, 5_000)];
    MachineCodeExplanation {
        target: "sm_90".into(),
        shape: Shape::square(1024),
        grid: [8, 8, 1],
        block: [256, 1, 1],
        registers: 128,
        shared_bytes: 8192,
        local_bytes: 0,
        forecast: Forecast {
            occupancy: Some(Occupancy {
                blocks: 2,
                warps: 16,
                most_warps: 64,
                limit: "registers".into(),
                registers: 128,
            }),
            prediction: Some(Prediction {
                gpu: "NVIDIA H200".into(),
                us: 143.4,
                band: 0.07,
                bounds: vec![
                    Bound { unit: "instruction issue".into(), us: 80.5 },
                    Bound { unit: "L2".into(), us: 10.0 },
                ],
                parts: Vec::new(),
                ghz: 1.98,
                n_blocks: 64,
                n_sms: 132,
            }),
            no_prediction: None,
        },
        clocks: 280_893.0,
        modelled_blocks: 1,
        instructions: vec![
            instruction(0, 3, Unit::Integer, "S2R R0, SR_TID.X", 512, &[(Reason::Fixed, 51)]),
            instruction(1, 6, Unit::Global, "LDG.E R2, desc[UR4][R4.64]", 65_536, &[(Reason::Fixed, 9_000)]),
            instruction(2, 6, Unit::Float, "FFMA R6, R2.reuse, R3, R6", 65_536, &slowest),
            instruction(3, 6, Unit::Shared, "STS [R7], R6", 65_536, &[(Reason::Unit, 3_000)]),
            instruction(4, 6, Unit::Other, "@P0 BRA 0x10", 65_536, &[(Reason::Barrier, 7_000)]),
            instruction(5, 0, Unit::Other, "EXIT", 0, &[]),
        ],
        timeline: Some(Timeline {
            first: 0x10,
            last: 0x40,
            clocks: 140,
            pass: 140,
            warps: 8,
            schedulers: (0..4).map(scheduler).collect(),
        }),
    }
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

    let (_, all) = run_with_note(&learner, "explain v05 --finished --machine --all --size 256x128x64", "");
    assert!(all.contains("machine code of each line") && all.contains("from clock 84"), "{all}");
    assert!(learner.read("bin/asked").contains("--size 256x128x64"));
}

#[test]
fn machine_code_is_part_of_the_record() {
    let learner = with_machine_code(machine());
    let out = learner.output(0, "explain v05 --finished --machine --json");
    let record: Value = serde_json::from_str(&out).expect("a record");
    let code = &record["explain"]["machine"];
    assert_eq!(code["prediction"]["us"], 143.4);
    assert_eq!(code["instructions"][2]["stalls"]["global"], 40_000);
    assert_eq!(code["timeline"]["schedulers"][1][1]["waited"], "global");
    let explained: Explained = serde_json::from_value(record["explain"].clone()).expect("an explanation");
    assert_eq!(explained.machine, Some(machine()));
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
    machine.forecast.prediction = None;
    machine.forecast.no_prediction = Some("the model has no time for atomics: `RED`".into());
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

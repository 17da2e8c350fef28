//! Copies of boxes of tensors leave in memory what they left on an H200 (`tests/data/tensor`), and those that stop a
//! GPU are reported.

use std::collections::BTreeMap;

use simt::check::Code;
use simt::launch::{CheckLevel, LaunchOptions};
use simt::module::Module;
use tests::gpu::{Argument, Geometry, Gpu, options, texts};
use tests::tensor::{Case, OUT_WORDS, SHARED_BYTES, TENSOR_BYTES, THREADS, Way, answer, cases, tensor_words};

/// Returns the emulator's answer: shared memory behind the flag, and the tensor; or its first finding.
fn emulate(case: &Case) -> Result<(Vec<u32>, Vec<u32>), String> {
    let gpu = Gpu::default();
    let tensor = gpu.upload(&tensor_words());
    let out = gpu.upload(&vec![0u32; OUT_WORDS]);
    let map = case.map(tensor)?;
    let loaded = Module::load(&gpu.memory, &case.module(), None).map_err(|error| error.to_string())?;
    let arguments = [Argument(case.parameter(&map.encode()).to_vec()), Argument::from(out)];
    let shape = Geometry { dynamic_shared: SHARED_BYTES as u32, ..Geometry::line(1, THREADS) };
    let options = options(CheckLevel::Checked, 1 << 24, 1);
    let report = gpu.launch(&loaded, "copy", shape, &arguments, options).map_err(|error| error.to_string())?;
    // Where the wait gives up, what lies there is read all the same.
    let race = |finding: &&diagnostics::Finding| finding.code == Code::Race;
    match report.findings.iter().find(|finding| !race(finding)) {
        Some(finding) => Err(finding.text.clone()),
        None => Ok((gpu.read(out, OUT_WORDS), gpu.read(tensor, TENSOR_BYTES / 4))),
    }
}

fn answered(case: &Case) -> String {
    match emulate(case) {
        Ok((out, tensor)) => answer(&out, &tensor),
        Err(text) if text.starts_with("error[E-ALIGN]") => "stopped by CUDA_ERROR_MISALIGNED_ADDRESS".to_owned(),
        Err(text) if text.starts_with("error[E-TENSOR]") => "stopped by CUDA_ERROR_ILLEGAL_INSTRUCTION".to_owned(),
        Err(text) => text,
    }
}

#[test]
fn boxes_are_copied_as_hardware_does() {
    let text = tests::read("tests/data/tensor/h200.txt");
    let hardware: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    // Bytes arrive in parts there, and a phase ends as soon as those that have come are those that were expected.
    let list: Vec<Case> = cases().into_iter().filter(|case| case.name != "barrier expects half").collect();
    let wrong: Vec<String> = list
        .iter()
        .filter_map(|case| {
            let (ours, theirs) = (answered(case), hardware.get(case.name.as_str()));
            (theirs != Some(&ours.as_str())).then(|| format!("{}: {ours}, hardware {theirs:?}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), list.len(), wrong.join("\n"));
}

#[test]
fn what_cannot_be_copied_is_reported() {
    #[rustfmt::skip]
    const SHOWN: [&str; 8] = [
        "map at 16", "zeros for a map", "garbage for a map", "column -1", "fewer coordinates",
        "plain left edge store", "shared memory at 64", "shared memory at 64 store",
    ];
    let found: Vec<String> = cases()
        .iter()
        .filter(|case| SHOWN.contains(&case.name.as_str()))
        .filter_map(|case| Some(format!("{}: {}", case.name, emulate(case).err()?)))
        .collect();
    assert_eq!(found.len(), SHOWN.len());
    insta::assert_snapshot!(found.join("\n\n"));
}

/// Returns findings when the tensor has `rows` of the map's 40 rows of memory, or was freed.
fn found_in(way: Way, rows: u64, freed: bool) -> String {
    let name = if way == Way::Load { "plain bottom" } else { "plain bottom store" };
    let case = cases().into_iter().find(|case| case.name == name).expect("a case");
    let gpu = Gpu::default();
    let tensor = gpu.upload(&vec![1u8; rows as usize * 272]);
    let out = gpu.upload(&vec![0u32; OUT_WORDS]);
    let map = case.map(tensor).expect("a map").encode();
    let loaded = Module::load(&gpu.memory, &case.module(), None).expect("it loads");
    if freed {
        gpu.memory.free(tensor).expect("it was there");
    }
    let arguments = [Argument(case.parameter(&map).to_vec()), Argument::from(out)];
    let shape = Geometry { dynamic_shared: SHARED_BYTES as u32, ..Geometry::line(1, THREADS) };
    let report = gpu.launch(&loaded, "copy", shape, &arguments, LaunchOptions::default());
    texts(&report.expect("it starts").findings)
}

#[test]
fn tensors_that_are_not_there_are_reported() {
    assert_eq!(found_in(Way::Load, 40, false), "");
    let found = [found_in(Way::Load, 38, false), found_in(Way::Store, 38, false), found_in(Way::Load, 40, true)];
    insta::assert_snapshot!(found.join("\n----\n"));
}

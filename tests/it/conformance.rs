//! Every instruction form answers as a real GPU did, bit for bit: `tests/data/conformance` holds what an H200 said.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use arithmetic::lanes::CpuLevel;
use tests::conformance::{BLOCK, Fixture, answers_in, difference, emulate, emulate_some_lanes, fixtures};

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(fixtures);

/// Answers of the emulator on this CPU, by the name of the fixture.
static ANSWERS: LazyLock<HashMap<&str, Result<Vec<u64>, String>>> = LazyLock::new(|| {
    let mut answers = HashMap::new();
    for group in FIXTURES.chunk_by(|a, b| a.target == b.target).flat_map(|run| run.chunks(20)) {
        let members: Vec<&Fixture> = group.iter().collect();
        answers.extend(group.iter().map(|fixture| fixture.name.as_str()).zip(emulate(&members, None)));
    }
    answers
});

#[test]
fn every_form_answers_as_hardware_does() {
    let expected = answers_in(&tests::root().join("tests/data/conformance")).expect("answers");
    let list = &FIXTURES;
    let mut bad = BTreeMap::new();
    for fixture in list.iter() {
        let complaint = match (expected.get(&fixture.name), &ANSWERS[&*fixture.name]) {
            (None, _) => Some("no answer from hardware".to_string()),
            (Some(Err(reason)), _) => Some(format!("hardware: {reason}")),
            (Some(Ok(_)), Err(reason)) => Some(reason.clone()),
            (Some(Ok(hardware)), Ok(ours)) => difference(fixture, hardware, ours),
        };
        if let Some(complaint) = complaint {
            bad.insert(fixture.name.clone(), complaint);
        }
    }
    let lines: Vec<String> = bad.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    assert!(bad.is_empty(), "{} of {} forms:\n{}", bad.len(), list.len(), lines.join("\n"));
}

#[test]
fn every_cpu_answers_alike() {
    let mut bad = Vec::new();
    // Every third form, and never the same twentieth of a family.
    let some: Vec<&Fixture> = FIXTURES.iter().step_by(3).collect();
    for members in some.chunk_by(|a, b| a.target == b.target).flat_map(|run| run.chunks(20)) {
        for level in [CpuLevel::Baseline, CpuLevel::Avx2] {
            let others = emulate(members, Some(level));
            let differ = members.iter().zip(others).filter(|(fixture, other)| ANSWERS[&*fixture.name] != *other);
            bad.extend(differ.map(|(fixture, _)| format!("{} at {level:?}", fixture.name)));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn lanes_that_left_change_nothing_for_the_others() {
    // Instructions in which lanes do not meet.
    let alone =
        |f: &&Fixture| ["Synchronisation", "Control", "Data movement: shfl"].iter().all(|s| !f.section.starts_with(s));
    let mut bad = Vec::new();
    for members in FIXTURES.iter().filter(alone).collect::<Vec<_>>().chunks(20) {
        for (fixture, some) in members.iter().zip(emulate_some_lanes(members)) {
            let (Ok(all), Ok(some)) = (&ANSWERS[&*fixture.name], some) else {
                bad.push(fixture.name.clone());
                continue;
            };
            let wrong = |(k, (all, some)): (usize, (&u64, &u64))| {
                let thread = k / fixture.outs;
                *some != if thread % BLOCK as usize % 3 == 1 { 0 } else { *all }
            };
            if all.iter().zip(&some).enumerate().any(wrong) {
                bad.push(fixture.name.clone());
            }
        }
    }
    assert!(bad.is_empty(), "{} forms:\n{}", bad.len(), bad.join("\n"));
}

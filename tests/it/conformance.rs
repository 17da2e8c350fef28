//! Every instruction form answers as a real GPU did, bit for bit: `tests/data/conformance` holds what an H200 said.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use catalog::files::files_ending_with;
use tests::conformance::{BLOCK, Fixture, answers_in, difference, emulate, emulate_some_lanes, fixtures, missing};
use tests::{gpu::Gpu, read, root};

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(fixtures);

/// Answers of the emulator on this CPU, by the name of the fixture.
static ANSWERS: LazyLock<HashMap<&str, Result<Vec<u64>, String>>> = LazyLock::new(|| {
    let mut answers = HashMap::new();
    for group in FIXTURES.chunk_by(|a, b| a.target == b.target).flat_map(|run| run.chunks(20)) {
        let members: Vec<&Fixture> = group.iter().collect();
        answers.extend(group.iter().map(|fixture| fixture.name.as_str()).zip(emulate(&members)));
    }
    answers
});

#[test]
fn every_form_answers_as_hardware_does() {
    let expected = answers_in(&root().join("tests/data/conformance")).expect("answers");
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

#[test]
fn every_row_of_the_table_has_a_form() {
    let rows: Vec<String> = missing().iter().map(|row| format!("{}: {}", row.section, row.pattern)).collect();
    assert!(rows.is_empty(), "no fixture for:\n{}", rows.join("\n"));
    assert!(FIXTURES.len() >= 400);
}

#[test]
fn committed_kernels_load() {
    let (mut n, mut bad) = (0, Vec::new());
    for folder in ["kernels/ptx", "tests/data/corpus"] {
        for path in files_ending_with(&root().join(folder), ".ptx").expect("a folder of kernels") {
            n += 1;
            bad.extend(Gpu::default().load(&read(&path)).err().map(|error| format!("{}: {error}", path.display())));
        }
    }
    assert!(n > 50, "only {n} files found");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

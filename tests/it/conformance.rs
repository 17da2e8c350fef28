//! Every instruction form answers as a real GPU did: `tests/data/conformance` holds what an H200 said.
//!
//! Bit for bit, but for instructions that PTX itself calls approximate: those may differ as much as [`is_close`] says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use simt::lanes::CpuLevel;
use tests::conformance::{Answers, BLOCK, Fixture, emulate, emulate_some_lanes, fixtures, read_answers};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/conformance")
}

/// All committed answers.
fn expected() -> Answers {
    let mut all = Answers::new();
    for entry in fs::read_dir(folder()).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|e| e == "bin") {
            let bytes = fs::read(entry.path()).expect("a readable file");
            all.extend(read_answers(&bytes).expect("a file of answers"));
        }
    }
    all
}

/// Whether an approximation is as close to the hardware's as the PTX manual promises of either: in units of the
/// last place, or absolutely or relatively where the manual says so.
fn is_close(hardware: u64, ours: u64, name: &str) -> bool {
    let name = name.split('#').next().unwrap_or(name);
    let words: Vec<&str> = name.split('.').collect();
    if !words.contains(&"approx") && !words.contains(&"full") {
        return false;
    }
    // Only the upper word means something.
    if name.ends_with("approx.ftz.f64") {
        return distance(hardware, ours, name) <= 2 << 32;
    }
    let (x, y) = (f32::from_bits(hardware as u32), f32::from_bits(ours as u32));
    let apart = (f64::from(x) - f64::from(y)).abs();
    let by_value = words.contains(&"f32")
        && match words[0] {
            // In the manual for a turn to either side; beyond, our angles are cut as the hardware's are.
            "sin" | "cos" => apart < 2f64.powf(-20.5),
            "lg2" => apart < 2f64.powi(-22),
            "tanh" => apart < 2f64.powi(-11) * f64::from(x.abs()),
            _ => false,
        };
    by_value || distance(hardware, ours, name) <= 2
}

/// Bits of one result that a difference is counted in: the sign and magnitude of a float, put in order.
fn distance(a: u64, b: u64, name: &str) -> u64 {
    let words: Vec<&str> = name.split(['.', '#']).collect();
    let has = |word: &str| words.contains(&word);
    let bits = if has("f64") {
        64
    } else if has("f32") {
        32
    } else {
        16
    };
    let halves = if has("f16x2") || has("bf16x2") { 2 } else { 1 };
    let order = |v: u64| {
        let sign = 1u64 << (bits - 1);
        let v = v & (sign | (sign - 1));
        if v & sign != 0 {
            -i128::from(v & (sign - 1))
        } else {
            i128::from(v)
        }
    };
    (0..halves)
        .map(|h| order(a >> (16 * h)).abs_diff(order(b >> (16 * h))) as u64)
        .max()
        .unwrap_or(0)
}

/// The first difference of a form, with its inputs.
fn difference(fixture: &Fixture, hardware: &[u64], ours: &[u64]) -> Option<String> {
    let differs = |(a, b): (&u64, &u64)| a != b && !is_close(*a, *b, &fixture.name);
    let n = hardware.iter().zip(ours).filter(|&pair| differs(pair)).count();
    if hardware.len() != ours.len() {
        return Some(format!("{} results, not {}", ours.len(), hardware.len()));
    }
    let at = hardware.iter().zip(ours).position(differs)?;
    let [a, b, c] = fixture.inputs.each_ref().map(|list| list[at / fixture.outs]);
    Some(format!(
        "{n} of {} differ; thread {}, inputs {a:#x} {b:#x} {c:#x}, result {}: GPU {:#x}, ours {:#x}",
        ours.len(),
        at / fixture.outs,
        at % fixture.outs,
        hardware[at],
        ours[at]
    ))
}

#[test]
fn every_form_answers_as_hardware_does() {
    let expected = expected();
    let list = fixtures();
    let mut bad = BTreeMap::new();
    for group in list
        .chunk_by(|a, b| a.target == b.target)
        .flat_map(|run| run.chunks(20))
    {
        let members: Vec<&Fixture> = group.iter().collect();
        for (fixture, ours) in members.iter().zip(emulate(&members, None)) {
            let complaint = match (expected.get(&fixture.name), ours) {
                (None, _) => Some("no answer from hardware".to_string()),
                (Some(Err(reason)), _) => Some(format!("hardware: {reason}")),
                (Some(Ok(_)), Err(reason)) => Some(reason),
                (Some(Ok(hardware)), Ok(ours)) => difference(fixture, hardware, &ours),
            };
            if let Some(complaint) = complaint {
                bad.insert(fixture.name.clone(), complaint);
            }
        }
    }
    let lines: Vec<String> = bad.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    assert!(
        bad.is_empty(),
        "{} of {} forms:\n{}",
        bad.len(),
        list.len(),
        lines.join("\n")
    );
}

#[test]
fn every_cpu_answers_alike() {
    let list = fixtures();
    let mut bad = Vec::new();
    // Every third form, and never the same twentieth of a family.
    let some: Vec<&Fixture> = list.iter().step_by(3).collect();
    for members in some
        .chunk_by(|a, b| a.target == b.target)
        .flat_map(|run| run.chunks(20))
    {
        let best = emulate(members, None);
        for level in [CpuLevel::Baseline, CpuLevel::Avx2] {
            let others = emulate(members, Some(level));
            let differ = members
                .iter()
                .zip(best.iter().zip(others))
                .filter(|(_, (a, b))| *a != b);
            bad.extend(differ.map(|(fixture, _)| format!("{} at {level:?}", fixture.name)));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn lanes_that_left_change_nothing_for_the_others() {
    let list = fixtures();
    // Instructions in which lanes do not meet.
    let alone = |f: &&Fixture| {
        ["Synchronisation", "Control", "Data movement: shfl"]
            .iter()
            .all(|s| !f.section.starts_with(s))
    };
    let mut bad = Vec::new();
    for members in list.iter().filter(alone).collect::<Vec<_>>().chunks(20) {
        for ((fixture, all), some) in members
            .iter()
            .zip(emulate(members, None))
            .zip(emulate_some_lanes(members))
        {
            let (Ok(all), Ok(some)) = (all, some) else {
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

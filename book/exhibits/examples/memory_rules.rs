//! The rules of the memory system, whole, held against what an H200 counted for 130 access patterns.
//!
//! `cargo run -p exhibits --example memory_rules`

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

use std::collections::{BTreeMap, BTreeSet};

/// One warp-wide access per line: what it does, what Nsight Compute reported, and where each lane reaches.
const MEASURED: &str = include_str!("../../../tests/data/h200_memory_patterns.csv");

/// The byte offset of each lane; `None` for one that does not take part.
type Lanes = [Option<u64>];

// ANCHOR: sectors
/// Global memory: the distinct sectors of 32 bytes that the lanes touch.
fn sectors(lanes: &Lanes, bytes: u64) -> usize {
    let touched = lanes.iter().flatten().flat_map(|at| at / 32..=(at + bytes - 1) / 32);
    touched.collect::<BTreeSet<u64>>().len()
}
// ANCHOR_END: sectors

// ANCHOR: wavefronts
/// Shared memory: each part of the warp takes as many wavefronts as its busiest bank has distinct words.
fn wavefronts(lanes: &Lanes, bytes: u64, is_load: bool) -> usize {
    parts(lanes, bytes, is_load).map(|part| busiest_bank(part, bytes)).sum()
}

fn busiest_bank(lanes: &Lanes, bytes: u64) -> usize {
    let mut words_of_bank = [const { BTreeSet::new() }; 32];
    for at in lanes.iter().flatten() {
        for word in at / 4..=(at + bytes - 1) / 4 {
            words_of_bank[(word % 32) as usize].insert(word);
        }
    }
    words_of_bank.iter().map(BTreeSet::len).max().unwrap_or(0)
}
// ANCHOR_END: wavefronts

// ANCHOR: parts
/// A warp goes as a whole; with 8 bytes per lane in halves, with 16 in quarters. A load's parts are twice as large
/// when each lane reads what lane `i ^ 1` reads, or each what lane `i ^ 2` reads.
fn parts(lanes: &Lanes, bytes: u64, is_load: bool) -> impl Iterator<Item = &Lanes> {
    let n_lanes = match bytes {
        16 => 8,
        8 => 16,
        _ => 32,
    };
    let pairs = |distance: usize| {
        (0..32).all(|i| match (lanes[i], lanes[i ^ distance]) {
            (Some(mine), Some(other)) => mine == other,
            _ => true, // a lane that does not take part disagrees with nobody
        })
    };
    let joined = is_load && n_lanes < 32 && (pairs(1) || pairs(2));
    lanes.chunks(if joined { 2 * n_lanes } else { n_lanes })
}
// ANCHOR_END: parts

/// The least: one wavefront for each part in which a lane takes part.
fn ideal(lanes: &Lanes, bytes: u64, is_load: bool) -> usize {
    parts(lanes, bytes, is_load).filter(|part| part.iter().any(Option::is_some)).count()
}

fn main() {
    let mut n_equal = 0;
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in csv::Reader::from_reader(MEASURED.as_bytes()).into_records() {
        let row = row.expect("a row of eight cells");
        let [space, op, bytes, name, counter, measured, measured_ideal, offsets] =
            [0, 1, 2, 3, 4, 5, 6, 7].map(|at| &row[at]);
        let lanes: Vec<Option<u64>> = offsets.split(' ').map(|offset| offset.parse().ok()).collect();
        let bytes: u64 = bytes.parse().expect("bytes per lane");
        let is_load = op == "load";
        let ours = match space {
            "global" => sectors(&lanes, bytes),
            _ => wavefronts(&lanes, bytes, is_load),
        };
        assert_eq!(ours.to_string(), measured, "{space} {op} {name}");
        if space == "shared" {
            assert_eq!(ideal(&lanes, bytes, is_load).to_string(), measured_ideal, "{op} {name}");
        }
        n_equal += 1;
        if !name.starts_with("random") {
            let kind = format!("{space} {op}s of {bytes:2} bytes, {counter}");
            told.entry(kind).or_default().push(format!("{measured:>2}  {name}"));
        }
    }
    for (kind, patterns) in told.iter().filter(|(kind, _)| kind.contains("load")) {
        println!("{kind}");
        for pattern in patterns {
            println!("  {pattern}");
        }
    }
    println!("{n_equal} patterns, stores and random ones among them: the rules give what the H200 counted");
}

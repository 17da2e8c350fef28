//! Counts all recorded launches of the ladder's kernels again, from machine code, and names what differs.
//!
//! `cargo run --release -p tests --example machine_counters [-- KERNEL]`

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

use records::profile::Counted;
use tests::gpu::Gpu;
use tests::recorded::{columns_of_maps, count_of, kernel, machine_code, profiles};

fn main() {
    let only = std::env::args().nth(1);
    let (mut rows, mut equal) = (0, 0);
    for profile in profiles() {
        if only.as_ref().is_some_and(|only| *only != profile.kernel) {
            continue;
        }
        if columns_of_maps(&profile.kernel).is_some() {
            continue; // The program of their step makes their arguments.
        }
        let gpu = Gpu::with_memory(1 << 32);
        let module = machine_code(&gpu, kernel(&profile.kernel));
        let counters = count_of(&gpu, &module, profile);
        let counted = Counted::new(profile, &counters).expect("all metrics are on record");
        for one in counted.compared() {
            rows += 1;
            if one.difference() == 0 {
                equal += 1;
            } else {
                println!(
                    "{} on {}: {} is {}, on the GPU {}",
                    profile.kernel, profile.shape, one.pair.name, one.ours, one.theirs
                );
            }
        }
    }
    println!("{rows} rows, {equal} of them equal");
}

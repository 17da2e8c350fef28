//! Random kernels give what they gave on a real GPU, and keep the rules that hold for every kernel.

use tests::random_kernel::{line, tame};
use tests::torture;

/// Written by `cargo run --release -p tests --example random_on_device -- 1200 FILE` on the machine that it names.
const H200: &str = include_str!("../data/random/h200.txt");

#[test]
fn random_kernels_give_what_an_h200_gave() {
    let wrong: Vec<String> = H200
        .lines()
        .filter(|expected| !expected.starts_with('#'))
        .filter_map(|expected| {
            let seed = expected.split(' ').next()?.parse().ok()?;
            let found = torture::output_of_tame(seed).map(|output| line(seed, &tame(seed), &output));
            (found.as_deref() != Ok(expected)).then(|| format!("{expected}: {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} kernels differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The first of the kernels that `fuzz_exec` runs, which takes a time limit.
#[test]
fn random_kernels_keep_the_rules() {
    for seed in 0..20 {
        torture::all(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    }
}

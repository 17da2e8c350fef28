//! Clusters answer as PTX defines, and what is wrong is reported.

use simt::launch::{LaunchOptions, Watch};
use tests::clusters::{BLOCKS, CASES, Case, SEEN, UNSEEN, WRONG, expected, memory, module, shown};
use tests::gpu::Gpu;

fn check(case: &Case, watch: Watch, threads: usize, start: &str) -> Option<String> {
    let Case { name, cluster, grid, .. } = *case;
    let options = LaunchOptions { watch, budget: 1 << 22, threads, cluster, ..LaunchOptions::default() };
    let seen = Gpu::steps(&module(case), &memory(), &[UNSEEN; BLOCKS * SEEN], grid, options);
    let answer = seen.map_or_else(|why| why, |seen| shown(&seen));
    (!answer.starts_with(start)).then(|| format!("{name} ({watch:?}): {answer}\n  and not: {start}"))
}

#[test]
fn blocks_see_what_ptx_defines() {
    let ways = [(Watch::Plain, 1), (Watch::Plain, 4), (Watch::Checked, 1), (Watch::CheckedGlobalRaces, 4)];
    let wrong: Vec<String> = (CASES.iter())
        .flat_map(|case| ways.map(|(watch, threads)| check(case, watch, threads, &expected(case))))
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_uses_of_clusters_are_reported() {
    let wrong: Vec<String> =
        (WRONG.iter()).filter_map(|(case, start)| check(case, Watch::Checked, 1, start)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

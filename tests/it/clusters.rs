//! Clusters answer as PTX defines, and what is wrong is reported.

use std::num::{NonZeroU64, NonZeroUsize};

use simt::launch::{CheckLevel, LaunchOptions};
use tests::clusters::{BLOCKS, CASES, Case, SEEN, UNSEEN, WRONG, expected, memory, module, shown};
use tests::gpu::Gpu;

fn check(case: &Case, check_level: CheckLevel, threads: usize, start: &str) -> Option<String> {
    let Case { name, cluster, grid, .. } = *case;
    let options = LaunchOptions {
        check_level,
        budget: NonZeroU64::new(1 << 22),
        threads: NonZeroUsize::new(threads),
        cluster,
        ..LaunchOptions::default()
    };
    let seen = Gpu::steps(&module(case), &memory(), &[UNSEEN; BLOCKS * SEEN], grid, options);
    let answer = seen.map_or_else(|why| why, |seen| shown(&seen));
    (!answer.starts_with(start)).then(|| format!("{name} ({check_level:?}): {answer}\n  and not: {start}"))
}

#[test]
fn blocks_see_what_ptx_defines() {
    let ways =
        [(CheckLevel::Off, 1), (CheckLevel::Off, 4), (CheckLevel::Checked, 1), (CheckLevel::CheckedWithGlobalRaces, 4)];
    let wrong: Vec<String> = (CASES.iter())
        .flat_map(|case| ways.map(|(check_level, threads)| check(case, check_level, threads, &expected(case))))
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_uses_of_clusters_are_reported() {
    let wrong: Vec<String> =
        (WRONG.iter()).filter_map(|(case, start)| check(case, CheckLevel::Checked, 1, start)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Clusters, barriers in shared memory and bulk copies answer as PTX defines, and what is wrong is reported.

use simt::launch::{CheckLevel, LaunchOptions};
use tests::UNSEEN;
use tests::gpu::{Gpu, options};
use tests::steps::{Steps, all};

fn check(case: &Steps, check_level: CheckLevel, threads: usize, start: &str) -> Option<String> {
    let Steps { name, cluster, grid, .. } = *case;
    let options = LaunchOptions { cluster, ..options(check_level, 1 << 22, threads) };
    let seen = Gpu::steps(&case.module, &case.memory, &vec![UNSEEN; case.n_seen], grid, options);
    let answer = seen.map_or_else(|why| why, |seen| (case.shown)(&seen));
    (!answer.starts_with(start)).then(|| format!("{name} ({check_level:?}): {answer}\n  and not: {start}"))
}

#[test]
fn blocks_see_what_ptx_defines_and_what_is_wrong_is_reported() {
    let ways =
        [(CheckLevel::Off, 1), (CheckLevel::Off, 4), (CheckLevel::Checked, 1), (CheckLevel::CheckedWithGlobalRaces, 4)];
    let mut wrong = Vec::new();
    for case in all() {
        match &case.expected {
            Ok(seen) => wrong.extend(ways.into_iter().filter_map(|(level, n)| check(&case, level, n, seen))),
            Err(start) => wrong.extend(check(&case, CheckLevel::Checked, 1, start)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Barriers in shared memory and bulk copies answer as PTX defines, and what is wrong is reported.

use std::num::{NonZeroU64, NonZeroUsize};

use simt::launch::{CheckLevel, LaunchOptions};
use tests::gpu::Gpu;
use tests::phases::{CASES, SEEN, UNSEEN, WRONG, memory, module, shown};

fn check(name: &str, steps: &str, check_level: CheckLevel, expected: &str) -> Option<String> {
    let options = LaunchOptions {
        check_level,
        budget: NonZeroU64::new(1 << 20),
        threads: NonZeroUsize::new(1),
        ..LaunchOptions::default()
    };
    let seen = Gpu::steps(&module(steps), &memory(), &[UNSEEN; SEEN], [1; 3], options);
    let answer = seen.map_or_else(|why| why, |seen| shown(&seen));
    (!answer.starts_with(expected)).then(|| format!("{name} ({check_level:?}): {answer}\n  and not: {expected}"))
}

#[test]
fn steps_see_what_ptx_defines() {
    let both = [CheckLevel::Off, CheckLevel::Checked];
    let wrong: Vec<String> = (CASES.iter())
        .flat_map(|(name, steps, words)| both.map(|check_level| check(name, steps, check_level, &shown(words))))
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_steps_are_reported() {
    let wrong: Vec<String> =
        (WRONG.iter()).filter_map(|(name, steps, start)| check(name, steps, CheckLevel::Checked, start)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

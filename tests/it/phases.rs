//! Barriers in shared memory and bulk copies answer as PTX defines, and what is wrong is reported.

use simt::launch::{LaunchOptions, Watch};
use simt::module::Module;
use tests::gpu::{Argument, Gpu, Shape};
use tests::phases::{CASES, SEEN, UNSEEN, WRONG, memory, module, shown};

/// Words that the steps see, or the first finding.
fn emulate(steps: &str, watch: Watch) -> Result<String, String> {
    let gpu = Gpu::default();
    let words = gpu.upload(&memory());
    let seen = gpu.upload(&[UNSEEN; SEEN]);
    let loaded = Module::load(&gpu.memory, &module(steps), None).map_err(|error| error.to_string())?;
    let options = LaunchOptions { watch, budget: 1 << 20, threads: 1, ..LaunchOptions::default() };
    let arguments = [Argument::from(words), Argument::from(seen)];
    let report = gpu.launch(&loaded, "steps", Shape::line(1, 32), &arguments, options)?;
    match report.findings.first() {
        Some(finding) => Err(finding.text.clone()),
        None => Ok(shown(&gpu.read(seen, SEEN))),
    }
}

/// The complaint about steps whose answer does not start like this.
fn check(name: &str, steps: &str, watch: Watch, expected: &str) -> Option<String> {
    let answer = emulate(steps, watch).unwrap_or_else(|why| why);
    (!answer.starts_with(expected)).then(|| format!("{name} ({watch:?}): {answer}\n  and not: {expected}"))
}

#[test]
fn steps_see_what_ptx_defines() {
    let both = [Watch::Plain, Watch::Checked];
    let wrong: Vec<String> = (CASES.iter())
        .flat_map(|(name, steps, words)| both.map(|watch| check(name, steps, watch, &shown(words))))
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_steps_are_reported() {
    let wrong: Vec<String> =
        (WRONG.iter()).filter_map(|(name, steps, start)| check(name, steps, Watch::Checked, start)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! `cargo xtask` runs this program. It has no dependencies, so it is built in a second, and starts Cargo to build and
//! run `xtask`, or the smaller `xtask_bench`.
//!
//! A Cargo alias cannot be quiet on some runs only. This program lets the first build, which takes a minute or two,
//! show its progress, and builds the steps that the command names together with the command's program; later runs
//! print nothing of their own. `bench` is a program without the other commands, which is built in half the time.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = program(&words);
    if !is_built(program) {
        let packages = packages(program, &words);
        let time = if PROGRAMS.iter().any(|program| is_built(program)) {
            ""
        } else {
            "; the first time takes a minute or two"
        };
        eprintln!("building {}{time}", packages.join(" and "));
        let mut build = Command::new(&cargo);
        build.arg("build");
        for package in &packages {
            build.args(["--package", package]);
        }
        if let Some(code) = failure(build) {
            return code;
        }
    }
    let mut run = Command::new(&cargo);
    run.args(["run", "--quiet", "--package", program, "--"]).args(words);
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut run);
        eprintln!("error: starting cargo: {error}");
        ExitCode::from(3)
    }
    #[cfg(not(unix))]
    failure(run).unwrap_or(ExitCode::SUCCESS)
}

const PROGRAMS: [&str; 2] = [BENCH, XTASK];
const BENCH: &str = "xtask_bench";
const XTASK: &str = "xtask";

fn program(words: &[OsString]) -> &'static str {
    if words.first().is_some_and(|word| word == "bench") { BENCH } else { XTASK }
}

/// Returns whether a program lies beside this one.
fn is_built(program: &str) -> bool {
    let name = Path::new(program).with_extension(std::env::consts::EXE_EXTENSION);
    let here = std::env::current_exe();
    here.is_ok_and(|here| here.with_file_name(name).is_file())
}

/// Returns the program, and the steps that `bench` or `check` are to run, where they are named as their packages.
fn packages(program: &str, words: &[OsString]) -> Vec<String> {
    let steps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../steps");
    let mut packages = vec![program.to_owned()];
    let mut words = words.iter().filter_map(|word| word.to_str());
    if let Some("bench" | "check") = words.next() {
        let is_step = |word: &&str| word.starts_with('v') && steps.join(word).join("Cargo.toml").is_file();
        packages.extend(words.filter(is_step).map(str::to_owned));
    }
    packages
}

/// Runs a program to its end, and returns its exit code unless it succeeds.
fn failure(mut command: Command) -> Option<ExitCode> {
    match command.status() {
        Ok(status) if status.success() => None,
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            Some(ExitCode::from(code.unwrap_or(1)))
        }
        Err(error) => {
            eprintln!("error: starting cargo: {error}");
            Some(ExitCode::from(3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_build_has_the_steps_that_are_named() {
        let packages = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            packages(program(&words), &words).join(" ")
        };
        assert_eq!(packages("bench v05 --size 256 v04"), "xtask_bench v05 v04");
        assert_eq!(packages("check v05.wide all v5 vx"), "xtask");
        assert_eq!(packages("check v05"), "xtask v05");
        assert_eq!(packages("start v05"), "xtask");
    }
}

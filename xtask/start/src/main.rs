//! `cargo xtask` runs this program, which has no dependencies and is there in a second, and this program has Cargo build
//! and run `xtask`.
//!
//! An alias of Cargo is quiet always or never. Here the first build, which takes a minute or two, shows its progress, and
//! builds the steps that the command names beside `xtask` instead of after it; later runs print nothing of their own.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    if !is_built() {
        let packages = packages(&words);
        eprintln!("building {}; the first time takes a minute or two", packages.join(" and "));
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
    run.args(["run", "--quiet", "--package", "xtask", "--"]).args(words);
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut run);
        eprintln!("error: starting cargo: {error}");
        ExitCode::from(3)
    }
    #[cfg(not(unix))]
    failure(run).unwrap_or(ExitCode::SUCCESS)
}

/// Returns whether `xtask` lies beside this program.
fn is_built() -> bool {
    let name = Path::new("xtask").with_extension(std::env::consts::EXE_EXTENSION);
    let here = std::env::current_exe();
    here.is_ok_and(|here| here.with_file_name(name).is_file())
}

/// `xtask`, and the steps that `bench` or `check` are to run, where they are named as their packages.
fn packages(words: &[OsString]) -> Vec<String> {
    let steps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../steps");
    let mut packages = vec!["xtask".to_owned()];
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
        let packages =
            |words: &str| packages(&words.split(' ').map(OsString::from).collect::<Vec<_>>()).join(" ");
        assert_eq!(packages("bench v05 --size 256 v04"), "xtask v05 v04");
        assert_eq!(packages("check v05.wide all v5 vx"), "xtask");
        assert_eq!(packages("start v05"), "xtask");
    }
}

//! A learner's commands where something is missing: the compiler, a writable folder, the solutions, a reader.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::explain::with_explanations;
use crate::fakes::{conflicts, run_with_note};
use crate::files::{spawn, streams};

#[test]
fn without_a_compiler_and_in_a_checkout_that_cannot_be_written() {
    let learner = with_explanations();
    learner.verdict(&conflicts());
    learner.run("check v05");
    fs::write(learner.path("my/v05.cu"), "// other\n").expect("a file");
    let without = |words: &str| {
        let mut command = learner.command(words);
        command.env("TILE_COMPILER", "nvrtc");
        streams(&command.output().expect("it starts"))
    };
    let (code, _, err) = without("explain v05");
    assert!(code == 3 && err.contains("cargo xtask setup"), "{err}");
    for words in ["hint v05", "predict v05 lanes=32", "explain v05 --finished", ""] {
        let (code, _, err) = without(words);
        assert_eq!(code, 0, "{words}: {err}");
    }

    let folders = ["my", "."].map(|name| learner.path(name));
    let mode = |mode| {
        for folder in &folders {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("a mode");
        }
    };
    mode(0o555);
    // The superuser writes everywhere.
    if fs::write(learner.path("my/probe"), "").is_err() {
        for words in ["hint v05 --more", "predict v05 lanes=32"] {
            let (code, out) = run_with_note(&learner, words, "your progress is not recorded: my/progress.toml: ");
            assert!(code == 0 && !out.is_empty(), "{words}");
        }
        for words in ["", "explain v05", "predict v05"] {
            assert_eq!(learner.run(words).0, 0, "{words}");
        }
    }
    mode(0o755);
}

#[test]
#[cfg(target_os = "linux")]
fn a_compiler_that_is_cut_off_ends_no_command() {
    let learner = with_explanations();
    // The library of C, for one that the loader reads beyond its end.
    let maps = fs::read_to_string("/proc/self/maps").expect("a list of libraries");
    let whole = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).find(|path| path.contains("/libc.so"));
    let whole = fs::read(whole.expect("the library of C")).expect("a file");
    fs::create_dir(learner.path("nvrtc")).expect("a folder");
    fs::write(learner.path("nvrtc/libnvrtc.so.12"), &whole[..whole.len() / 8]).expect("a file");
    let run = |words: &str| {
        let mut command = learner.command(words);
        command.env("TILE_COMPILER", "nvrtc").env("TILE_NVRTC", learner.path("nvrtc"));
        streams(&command.output().expect("it starts"))
    };
    let why = format!("NVRTC in {} cannot be loaded: ", learner.path("nvrtc").display());
    let get = "; correct TILE_NVRTC, or unset it and run: cargo xtask setup";
    let (code, _, err) = run("check v05");
    assert!(code == 3 && err.starts_with(&format!("error: {why}")) && err.trim_end().ends_with(get), "{err}");
    let (code, out, err) = run("doctor");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&format!("is not compiled ({why}")), "{out}");
    let mut setup = learner.command("setup");
    setup.env("TILE_NVRTC", learner.path("nvrtc")).env("PATH", "/nonexistent");
    let (code, _, err) = streams(&setup.output().expect("it starts"));
    assert!(code == 3 && err.starts_with(&why) && err.contains("could not be fetched"), "{err}");
}

#[test]
fn a_checkout_without_solutions_explains_and_hints() {
    let learner = with_explanations();
    fs::remove_file(learner.path("kernels/v05_x.cu")).expect("a file");
    let (code, out, err) = learner.run("explain v05");
    assert!(code == 0 && !out.contains("finished") && !err.contains("kernels/v05_x"), "{out}{err}");
    let out = learner.output(0, "hint v05 --more --more");
    assert!(out.ends_with("a nudge (1 of 1): Go in rounds.\n\nthat is all\n"), "{out}");
    let out = learner.output(0, "hint v05.wide");
    assert!(out.contains("(1 of 1): the first lines that your copy lacks\n\nvoid g() {}\n"), "{out}");
    fs::remove_file(learner.path("steps/v05/tasks/wide.cu")).expect("a file");
    assert_eq!(run_with_note(&learner, "hint v05.wide", "").1, "v05.wide has no hints\nnext: xtask check v05.wide\n");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let learner = with_explanations();
    for words in ["hint v05", "explain v05", "predict v05", ""] {
        let mut child = spawn(learner.command(words).stdin(Stdio::null()));
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
}

//! The promises of ARCHITECTURE.md that can be read off the sources, and that each of the others names its tests.

use std::collections::BTreeSet;
use std::path::Path;

use tests::{files_under, read, root};

/// The code of a file without its unit tests and comments.
fn code(path: &Path) -> String {
    let is_test = path.file_stem().is_some_and(|name| name == "tests" || name == "testing" || name == "fuzz");
    let text = std::fs::read_to_string(path).expect("text");
    let end = text.find("mod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    if is_test { String::new() } else { lines.collect::<Vec<_>>().join("\n") }
}

#[test]
fn every_promise_names_the_tests_that_hold_it() {
    let text = read("ARCHITECTURE.md");
    let section = text.split("\n## ").find(|part| part.starts_with("Invariants")).expect("the section");
    let promises: Vec<&str> = section.split("\n- ").skip(1).collect();
    assert!(promises.len() >= 7, "{}", promises.len());
    for promise in promises {
        let (_, held) = promise.split_once("Held by ").unwrap_or_else(|| panic!("nothing holds: {promise}"));
        let tests: Vec<(&str, &str)> = held
            .split('`')
            .filter_map(|word| word.split_once("::").filter(|(file, _)| file.ends_with(".rs")))
            .collect();
        assert!(!tests.is_empty(), "no test holds: {promise}");
        for (file, name) in tests {
            assert!(read(file).contains(&format!("fn {name}(")), "{file} has no test {name}");
        }
    }
}

#[test]
fn the_emulator_does_no_input_or_output() {
    #[rustfmt::skip]
    const FORBIDDEN: [&str; 10] = [
        "std::fs", "std::io", "std::net", "std::env", "std::process", "Instant::", "SystemTime::",
        "thread_local!", "static mut", "println!",
    ];
    const CRATES: [&str; 9] =
        ["arithmetic", "counters", "decode", "diagnostics", "program", "ptx", "sass", "simt", "timing"];
    for krate in CRATES {
        for path in files_under(&root().join("emulator").join(krate).join("src"), "rs") {
            let code = code(&path);
            let found: Vec<_> = FORBIDDEN.iter().filter(|word| code.contains(**word)).collect();
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    #[rustfmt::skip]
    const CRATES: [&str; 19] = [
        "emulator/counters", "emulator/decode", "emulator/diagnostics", "emulator/nvcuda", "emulator/program",
        "emulator/ptx", "emulator/sass", "emulator/timing", "course/catalog", "course/judge",
        "course/records", "course/sha256", "course/step_cli", "course/tasks", "course/teach",
        "book/bookbuild", "book/figures", "tests", "xtask/start",
    ];
    // The unit tests of `decode` need a function of the type that vector code has.
    const FORBIDS: [&str; 2] = ["#![forbid(unsafe_code)]", "#![cfg_attr(not(test), forbid(unsafe_code))]"];
    for krate in CRATES {
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| root().join(krate).join(file));
        let mut roots = roots.iter().filter(|path| path.exists()).peekable();
        assert!(roots.peek().is_some(), "{krate} has neither a library nor a program");
        for path in roots {
            let code = code(path);
            assert!(FORBIDS.iter().any(|line| code.contains(line)), "{}", path.display());
        }
    }
}

/// Folders of all members of the workspace.
fn members() -> BTreeSet<String> {
    let manifest = read("Cargo.toml");
    let list = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)).expect("a list of folders");
        line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let excluded = list("exclude = ");
    let folders = list("members = ").into_iter().flat_map(|member| match member.strip_suffix("/*") {
        None => vec![member],
        Some(parent) => {
            let entries = std::fs::read_dir(root().join(parent)).expect("a folder");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            names.map(|name| format!("{parent}/{}", name.display())).collect()
        }
    });
    let is_crate = |folder: &String| root().join(folder).join("Cargo.toml").exists();
    folders.filter(|folder| is_crate(folder) && !excluded.contains(folder)).collect()
}

#[test]
fn dependencies_point_one_way() {
    #[rustfmt::skip]
    const ALLOWED: &[(&str, &[&str])] = &[
        ("emulator/arithmetic", &[]),
        ("emulator/counters", &[]),
        ("emulator/ptx", &[]),
        ("emulator/sass", &[]),
        ("emulator/program", &["arithmetic", "ptx"]),
        ("emulator/decode", &["arithmetic", "program", "ptx", "sass"]),
        ("emulator/simt", &["arithmetic", "counters", "decode", "program", "ptx", "sass"]),
        ("emulator/diagnostics", &["simt"]),
        ("emulator/timing", &["sass", "simt"]),
        ("emulator/driver", &["diagnostics", "ptx", "sass", "simt", "timing"]),
        ("emulator/nvcuda", &["driver"]),
        ("emulator/emulator_client", &[]),
        ("course/sha256", &[]),
        ("course/catalog", &["sha256"]),
        ("course/step_cli", &["catalog"]),
        ("course/records", &["catalog", "counters"]),
        ("course/tasks", &["catalog", "counters", "records"]),
        ("course/grader", &["catalog", "tasks"]),
        ("course/reference", &["catalog", "cudarc"]),
        (
            "course/harness",
            &["catalog", "counters", "cudarc", "emulator_client", "records", "reference", "step_cli"],
        ),
        ("course/judge", &["catalog", "counters", "diagnostics", "harness", "sass", "simt", "tasks", "timing"]),
        ("course/calibrate", &["catalog", "cudarc", "harness"]),
        ("course/teach", &["catalog", "grader", "tasks", "xtask", "xtask_support"]),
        ("steps/*", &["catalog", "cudarc", "emulator_client", "harness", "nvcuda", "records"]),
        ("steps/v13", &["catalog", "cudarc", "emulator_client", "harness", "nvcuda", "records", "v11"]),
        ("book/bookbuild", &["catalog", "counters", "records", "tasks"]),
        ("book/figures", &["catalog", "counters", "records", "sass", "simt", "timing"]),
        ("book/exhibits", &["catalog", "cudarc", "emulator_client", "harness", "nvcuda"]),
        ("tests", &["catalog", "counters", "diagnostics", "ptx", "records", "sass", "simt", "tasks"]),
        ("xtask", &["catalog", "counters", "records", "step_cli", "tasks", "xtask_bench", "xtask_support"]),
        ("xtask/bench", &["catalog", "records", "step_cli", "xtask_support"]),
        ("xtask/start", &[]),
        ("xtask/support", &["catalog", "counters", "records", "step_cli"]),
    ];
    let members = members();
    for (folder, _) in ALLOWED {
        assert!(
            folder.ends_with("/*") || members.contains(*folder),
            "{folder} is no member of the workspace"
        );
    }
    // A crate is named like its folder, but for those in `xtask`.
    let name = |folder: &String| match folder.split_once('/') {
        Some(("xtask", name)) => format!("xtask_{name}"),
        Some((_, name)) => name.to_owned(),
        None => folder.clone(),
    };
    let ours: BTreeSet<String> = members.iter().map(name).collect();
    for krate in &members {
        let entry = |folder: &str| ALLOWED.iter().find(|(known, _)| *known == folder);
        let all = || entry(&format!("{}/*", krate.split('/').next()?));
        let Some((_, may)) = entry(krate).or_else(all) else { panic!("{krate} has no entry") };
        let manifest = read(format!("{krate}/Cargo.toml"));
        let section =
            manifest.split("\n[").find(|part| part.starts_with("dependencies]")).unwrap_or_default();
        let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let wrong: Vec<&str> = names
            .filter(|name| ours.contains(*name) || *name == "cudarc")
            .filter(|name| !may.contains(name))
            .collect();
        assert!(wrong.is_empty(), "{krate} depends on {wrong:?}");
    }
}

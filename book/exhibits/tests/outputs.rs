//! The programs print what the book shows. Each asserts its own claims; here its words are compared too.
//!
//! The book's texts are made by `cargo xtask book --refresh`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn stems(below: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder().join(below)).expect("the folder is there");
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    entries.flatten().filter_map(|entry| stem(entry.path())).collect()
}

/// Pitfalls, by the names of their modules.
fn pitfalls() -> BTreeSet<String> {
    let mut names = stems("examples/pitfalls");
    names.remove("main");
    names
}

/// Wrong kernels of steps, by the names of their sources.
fn wrong_kernels() -> BTreeSet<String> {
    let mut names = stems("kernels");
    names.retain(|name| name.starts_with("v0"));
    names
}

/// Programs with their arguments: `threads`, `pitfalls even_tiles`, `wrong_kernels v08_no_barrier`.
fn programs() -> BTreeSet<String> {
    let mut programs = stems("examples");
    for (program, names) in [("pitfalls", pitfalls()), ("wrong_kernels", wrong_kernels())] {
        assert!(programs.remove(program));
        programs.extend(names.iter().map(|name| format!("{program} {name}")));
    }
    programs
}

/// `exhibit-threads`, `pitfall-even-tiles`, `wrong-v08-no-barrier`: what the book calls it.
fn output_of(program: &str) -> String {
    let name = match program.split_once(' ') {
        Some(("pitfalls", name)) => format!("pitfall-{name}"),
        Some((_, name)) => format!("wrong-{name}"),
        None => format!("exhibit-{program}"),
    };
    name.replace('_', "-")
}

/// Output of the program on the emulated device: without standard error, and with it.
fn run(program: &str) -> [String; 2] {
    let tests = std::env::current_exe().expect("this test is a program");
    // target/debug/deps/outputs-… and target/debug/examples/…
    let target = tests.ancestors().nth(2).expect("Cargo's folders");
    let mut words = program.split(' ');
    let path = target.join("examples").join(words.next().unwrap_or_default());
    let output = Command::new(&path)
        .args(words)
        .env("TILE_DEVICE", "emulated")
        .env_remove("TILE_CHECK")
        .env("NO_COLOR", "1")
        .current_dir(folder().join("../.."))
        .output()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", path.display()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{program}: {}\n{out}{err}", output.status);
    [trimmed(&out), trimmed(&(out + &err))]
}

/// Returns the text of the book, without what made it.
fn shown(program: &str) -> String {
    let path = folder().join("../src/generated").join(output_of(program)).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let command = format!("$ cargo run -q -p exhibits --example {program}\n");
    let (_, shown) = text
        .split_once(&command)
        .unwrap_or_else(|| panic!("{} is not what {command} prints", path.display()));
    trimmed(shown)
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

#[test]
fn programs_print_what_the_book_shows() {
    let different: Vec<String> = programs()
        .iter()
        .filter(|program| !run(program).contains(&shown(program)))
        .map(|program| output_of(program))
        .collect();
    assert!(
        different.is_empty(),
        "read the differences after: cargo xtask book --refresh {}",
        different.join(" ")
    );
}

/// Returns words that exhibits of a program print, by their names. Of a pitfall, the first is the success that was
/// believed.
fn printed(program: &str) -> BTreeMap<String, Vec<&'static str>> {
    let rows =
        include_str!("exhibits.txt").lines().filter_map(|row| row.strip_prefix(program)?.split_once(" | "));
    rows.map(|(name, words)| (name.trim().to_owned(), words.split(" | ").collect())).collect()
}

#[track_caller]
fn says(program: &str, caught: &[&str]) {
    let text = shown(program);
    for words in caught {
        assert!(text.contains(words), "{program} says nothing of `{words}`:\n{text}");
    }
}

#[test]
fn every_pitfall_is_shown_and_caught() {
    let exhibits = printed("pitfalls");
    for (name, words) in &exhibits {
        let program = format!("pitfalls {name}");
        let text = shown(&program);
        let as_it_was = text.split("\n\n").next().unwrap_or_default();
        assert!(as_it_was.contains(words[0]), "{program}:\n{as_it_was}");
        says(&program, &words[1..]);
    }
    assert_eq!(pitfalls(), exhibits.into_keys().collect());
}

#[test]
fn every_wrong_kernel_is_caught() {
    let exhibits = printed("wrong_kernels");
    for (name, caught) in &exhibits {
        says(&format!("wrong_kernels {name}"), caught);
    }
    assert_eq!(wrong_kernels(), exhibits.into_keys().collect());
}

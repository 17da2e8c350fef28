//! The programs print what the book shows. Each asserts its own claims; here its words are compared too.
//!
//! The book's texts are made by `cargo xtask book --refresh`.

use std::collections::BTreeSet;
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

/// The success that was believed must be there, and so must what catches it.
#[track_caller]
fn deceives(program: &str, believed: &str, caught: &[&str]) {
    let text = shown(program);
    let as_it_was = text.split("\n\n").next().unwrap_or_default();
    assert!(as_it_was.contains(believed), "{program}:\n{as_it_was}");
    says(program, caught);
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
    const CLEAN: &str = "nothing to report: every access was legal";
    const FAILS: &str = "of 15 shapes fail";
    let exhibits: [(&str, &str, &[&str]); 15] = [
        ("wrong_operand", "largest error 0", &[CLEAN, FAILS, "A is read where B belongs"]),
        ("failed_launch", "kernel time, best of 10: 0.0 ms", &["error[E-LAUNCH]", "at most 256 threads"]),
        ("early_return", "128: largest error 0", &["E-UNINIT", "W-EXITED", "the lower and the right edge"]),
        ("only_multiples", "256: largest error 0", &["E-OOB", "CUDA_ERROR_ILLEGAL_ADDRESS"]),
        ("nan_passes", "largest error 0", &["E-UNINIT", "(4096 are NaN)"]),
        ("wrong_bound", "200: largest error 0", &["E-OOB", "2048 were never written"]),
        ("first_tile_only", "100x70x64: largest error 0", &[CLEAN, FAILS]),
        ("swapped_result", "largest error 0", &[CLEAN, "rows and columns are swapped"]),
        ("even_tiles", "250: largest error 0", &[CLEAN, "the last 8 of 40 terms of each sum are missing"]),
        ("loose_tolerance", "0 elements are off", &[CLEAN, "the last of 8 terms"]),
        ("whole_strip", "K = 384: largest error 0", &["error[E-LAUNCH]", "more than 48 KiB"]),
        ("left_over", "largest error 0", &[CLEAN, "were never written"]),
        (
            "tuned_later",
            "blocks of 16 x 16: 0 elements are wrong",
            &["11520 of 15360 elements are wrong", "E-RACE"],
        ),
        ("not_waited", "still at work: true", &["less than what it took: true"]),
        ("lucky_race", "10000 of 10000 differences are right", &["error[E-RACE]"]),
    ];
    for (name, believed, caught) in exhibits {
        deceives(&format!("pitfalls {name}"), believed, caught);
    }
    assert_eq!(pitfalls(), exhibits.map(|(name, ..)| name.to_owned()).into());
}

#[test]
fn every_wrong_kernel_is_caught() {
    let exhibits: [(&str, &[&str]); 12] = [
        ("v02_one_barrier", &["E-RACE", "where the loop that reads ends"]),
        ("v03_begins_again", &["the first 8 of 16 terms"]),
        ("v03_half_a_tile", &["E-UNINIT", "rows 0..63"]),
        ("v03_wrong_index", &["E-OOB", "this reads A[32]"]),
        ("v04_without_width", &["E-ALIGN", "b_tile[0][1]"]),
        ("v05_other_columns", &["C[0][1] is", "elements are wrong"]),
        ("v06_padded_by_one", &["E-ALIGN", "a_tile[1][0]"]),
        ("v06_second_piece", &["7680 were never written"]),
        ("v07_last_product", &["the last of 24 terms"]),
        ("v07_one_buffer", &["E-RACE", "because nothing changes it"]),
        ("v08_early_return", &["nothing to report", "elements of the result are wrong"]),
        ("v08_no_barrier", &["E-RACE", "`tile[1][0]`"]),
    ];
    for (name, caught) in exhibits {
        says(&format!("wrong_kernels {name}"), caught);
    }
    assert_eq!(wrong_kernels(), exhibits.map(|(name, _)| name.to_owned()).into());
}

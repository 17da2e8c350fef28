//! The programs print what the book shows. Each asserts its own claims; here its words are compared too.
//!
//! The book's texts are made by `cargo xtask book --refresh`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `threads` for `examples/threads.rs`, and so on.
fn programs() -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder().join("examples")).expect("there are examples");
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    entries.flatten().filter_map(|entry| stem(entry.path())).collect()
}

/// `exhibit-lie-even-tiles`: what the book calls it.
fn output_of(program: &str) -> String {
    format!("exhibit-{}", program.replace('_', "-"))
}

/// What the program prints on the emulated device, with and without what it says on standard error.
fn run(program: &str) -> [String; 2] {
    let tests = std::env::current_exe().expect("this test is a program");
    // target/debug/deps/outputs-… and target/debug/examples/…
    let target = tests.ancestors().nth(2).expect("Cargo's folders");
    let path = target.join("examples").join(program);
    let output = Command::new(&path)
        .env("TILE_DEVICE", "emulated")
        .env_remove("TILE_CHECK")
        .env("NO_COLOR", "1")
        .current_dir(folder().join("../.."))
        .output()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", path.display()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{program}: {}\n{out}{err}",
        output.status
    );
    [trimmed(&out), trimmed(&(out + &err))]
}

/// The text of the book, without what made it.
fn shown(program: &str) -> String {
    let path = folder()
        .join("../src/generated")
        .join(output_of(program))
        .with_extension("txt");
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

/// The lie must be there, and so must what catches it.
#[track_caller]
fn lies(program: &str, believed: &str, caught: &[&str]) {
    let text = shown(program);
    let as_it_was = text.split("\n\n").next().unwrap_or_default();
    assert!(as_it_was.contains(believed), "{program}:\n{as_it_was}");
    says(program, caught);
}

#[track_caller]
fn says(program: &str, caught: &[&str]) {
    let text = shown(program);
    for words in caught {
        assert!(
            text.contains(words),
            "{program} says nothing of `{words}`:\n{text}"
        );
    }
}

/// No program of this kind is left out.
#[track_caller]
fn are_all(kind: &str, told: impl Iterator<Item = &'static str>) {
    let told: BTreeSet<String> = told.map(str::to_owned).collect();
    let there: BTreeSet<String> = programs().into_iter().filter(|p| p.starts_with(kind)).collect();
    assert_eq!(there, told);
}

#[test]
fn every_lie_is_told_and_caught() {
    const CLEAN: &str = "nothing to report: every access was legal";
    const FAILS: &str = "of 15 shapes fail";
    let exhibits: [(&str, &str, &[&str]); 15] = [
        (
            "lie_wrong_operand",
            "largest error 0",
            &[CLEAN, FAILS, "A is read where B belongs"],
        ),
        (
            "lie_failed_launch",
            "kernel time, best of 10: 0.0 ms",
            &["error[E-LAUNCH]", "at most 256 threads"],
        ),
        (
            "lie_early_return",
            "128: largest error 0",
            &["E-UNINIT", "W-EXITED", "the lower and the right edge"],
        ),
        (
            "lie_only_multiples",
            "256: largest error 0",
            &["E-OOB", "CUDA_ERROR_ILLEGAL_ADDRESS"],
        ),
        (
            "lie_nan_passes",
            "largest error 0",
            &["E-UNINIT", "(4096 are NaN)"],
        ),
        (
            "lie_wrong_bound",
            "200: largest error 0",
            &["E-OOB", "2048 were never written"],
        ),
        (
            "lie_first_tile_only",
            "100x70x64: largest error 0",
            &[CLEAN, FAILS],
        ),
        (
            "lie_swapped_result",
            "largest error 0",
            &[CLEAN, "rows and columns are swapped"],
        ),
        (
            "lie_even_tiles",
            "250: largest error 0",
            &[CLEAN, "the last 8 of 40 terms of each sum are missing"],
        ),
        (
            "lie_loose_tolerance",
            "0 elements are off",
            &[CLEAN, "the last 1 of 8 terms"],
        ),
        (
            "lie_whole_strip",
            "K = 384: largest error 0",
            &["error[E-LAUNCH]", "more than 48 KiB"],
        ),
        ("lie_left_over", "largest error 0", &[CLEAN, "were never written"]),
        (
            "lie_tuned_later",
            "blocks of 16 x 16: 0 elements are wrong",
            &["11520 of 15360 elements are wrong", "E-RACE"],
        ),
        (
            "lie_not_waited",
            "still at work: true",
            &["less than what it took: true"],
        ),
        (
            "lie_lucky_race",
            "10000 of 10000 differences are right",
            &["error[E-RACE]"],
        ),
    ];
    for (program, believed, caught) in exhibits {
        lies(program, believed, caught);
    }
    are_all("lie_", exhibits.iter().map(|(program, ..)| *program));
}

#[test]
fn every_wrong_kernel_is_caught() {
    let exhibits: [(&str, &[&str]); 12] = [
        (
            "wrong_v02_one_barrier",
            &["E-RACE", "where the loop that reads ends"],
        ),
        ("wrong_v03_begins_again", &["the first 8 of 16 terms"]),
        ("wrong_v03_half_a_tile", &["E-UNINIT", "rows 0..63"]),
        ("wrong_v03_wrong_index", &["E-OOB", "this reads A[32]"]),
        ("wrong_v04_without_width", &["E-ALIGN", "b_tile[0][1]"]),
        ("wrong_v05_other_columns", &["C[0][1] is", "elements are wrong"]),
        ("wrong_v06_padded_by_one", &["E-ALIGN", "a_tile[1][0]"]),
        ("wrong_v06_second_piece", &["7680 were never written"]),
        ("wrong_v07_last_product", &["the last 1 of 24 terms"]),
        ("wrong_v07_one_buffer", &["E-RACE", "a fast thread goes on"]),
        (
            "wrong_v08_early_return",
            &["nothing to report", "elements of the result are wrong"],
        ),
        ("wrong_v08_no_barrier", &["E-RACE", "`tile[1][0]`"]),
    ];
    for (program, caught) in exhibits {
        says(program, caught);
    }
    are_all("wrong_", exhibits.iter().map(|(program, _)| *program));
}

//! Broken kernels that the messages were not written for, and how well each was explained.
//!
//! `tests/fixtures/unseen/scores.csv` has a row for each kernel: the line that is wrong, the mistake, and two sets of
//! four marks, given by hand by whoever read the messages. What is reported, code and line, is a snapshot; the table
//! that the book shows is made of the rows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tasks::fixtures::Fixture;
use tests::fixture;

static UNSEEN: LazyLock<Vec<(Fixture, String)>> = LazyLock::new(|| fixture::folder("tests/fixtures/unseen"));

const MARKS: [&str; 4] = ["caught", "line", "cause", "remedy"];

struct Row {
    kernel: String,
    line: u32,
    mistake: String,
    first: [u32; 4],
    second: [u32; 4],
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/unseen")
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("scores.csv")).expect("the scores are there");
    let marks = |text: &str| -> [u32; 4] {
        let marks: Vec<u32> = text.chars().filter_map(|c| c.to_digit(4)).collect();
        marks.try_into().expect("four marks from 0 to 3")
    };
    let row = |line: &str| {
        let (kernel, rest) = line.split_once(',').expect("a name");
        let (number, rest) = rest.split_once(",\"").expect("a line");
        let (mistake, scores) = rest.split_once("\",").expect("a mistake in quotes");
        let (first, second) = scores.split_once(',').expect("two sets of marks");
        Row {
            kernel: kernel.to_owned(),
            line: number.parse().expect("a line"),
            mistake: mistake.to_owned(),
            first: marks(first),
            second: marks(second),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// Returns the codes with the lines that they name: `E-OOB 16 16 18`.
fn reported(ran: &fixture::Ran) -> String {
    let mut text = String::new();
    let mut last = "";
    for found in &ran.findings {
        let code = found.code.as_str();
        if code != last {
            let comma = if last.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{code}");
            last = code;
        }
        let _ = write!(text, " {}", found.place.as_ref().map_or(0, |place| place.line));
    }
    match (text.is_empty(), ran.codes.first()) {
        (true, Some(code)) => code.clone(),
        (true, None) => "nothing".into(),
        _ => text,
    }
}

#[test]
fn each_has_a_row() {
    let rows: Vec<String> = rows().into_iter().map(|row| row.kernel).collect();
    let names: Vec<&String> = UNSEEN.iter().map(|(one, _)| &one.name).collect();
    assert_eq!(rows.iter().collect::<Vec<_>>(), names);
}

#[test]
fn what_is_reported_stays() {
    let mut text = String::new();
    for (row, kernel) in rows().iter().zip(UNSEEN.iter()) {
        let ran = fixture::run(kernel, 1, true);
        let _ = writeln!(text, "{} {}: {}", row.kernel, row.line, reported(&ran));
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("unseen", text);
    });
}

#[test]
fn a_mistake_without_a_finding_has_no_marks() {
    for (row, kernel) in rows().iter().zip(UNSEEN.iter()) {
        let ran = fixture::run(kernel, 0, true);
        assert_eq!(ran.codes.is_empty(), row.second == [0; 4], "{}", row.kernel);
    }
}

fn table() -> String {
    let rows = rows();
    let mut text = String::from("| mistake | caught | line | cause | remedy |\n| --- | :-: | :-: | :-: | :-: |\n");
    let mark = |first: u32, second: u32| {
        if first == second { second.to_string() } else { format!("{first} → {second}") }
    };
    for row in &rows {
        let _ = write!(text, "| `{}`: {} |", row.kernel, row.mistake);
        for (first, second) in row.first.iter().zip(row.second) {
            let _ = write!(text, " {} |", mark(*first, second));
        }
        text.push('\n');
    }
    let sum = |marks: &dyn Fn(&Row) -> u32| rows.iter().map(marks).sum::<u32>();
    let _ = write!(text, "| **of {}** |", 3 * rows.len());
    for place in 0..MARKS.len() {
        let _ = write!(text, " **{} → {}** |", sum(&|row| row.first[place]), sum(&|row| row.second[place]));
    }
    text.push('\n');
    text
}

#[test]
fn the_table_of_the_book_is_made_of_the_rows() {
    let path = folder().join("scores.md");
    let table = table();
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, table, "INSTA_UPDATE=always cargo test -p tests unseen writes it");
}

/// The head of the file has the means of its rows.
#[test]
fn marks_of_strangers_are_as_their_head_says() {
    let text = include_str!("../data/strangers.csv");
    let rows: Vec<Vec<&str>> =
        text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 60);
    let mean = |column: usize, rows: &[&Vec<&str>]| {
        let marks =
            rows.iter().map(|row| row[column].parse::<f64>().expect("a mark")).inspect(|mark| assert!(*mark <= 3.0));
        marks.sum::<f64>() / rows.len() as f64
    };
    let all: Vec<_> = rows.iter().collect();
    let held_out: Vec<_> = rows.iter().filter(|row| row[6] == "1").collect();
    for (name, rows) in [("all", all), ("held out", held_out)] {
        let means = format!("{name} {:.2}, {:.2}", mean(2, &rows), mean(3, &rows));
        assert!(text.contains(&means), "{means}");
    }
}

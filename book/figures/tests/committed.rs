//! The committed pictures equal those drawn from the kernels and the record.

use std::sync::OnceLock;

use catalog::{STEPS, Shape, Work};
use figures::Figure;
use records::Roofline;
use records::record::{Accuracy, Submission, VerifiedRun, Yardstick};
use records::{Measurement, Outcome, Record, Run, Samples};

/// Returns a record of a device that does not exist: every GEMM takes a second, and cuBLAS half of one.
fn record() -> Record {
    let run = Run {
        id: "run".into(),
        date: "2000-01-01T00:00:00Z".into(),
        device: "a device of the tests".into(),
        capability: "9.0".into(),
        driver: "13.0".into(),
        host: "a host".into(),
        revision: "unknown".into(),
        roofline: Some(Roofline { fp32_tflops: 60.0, copy_gbs: 4000.0 }),
        ..Run::default()
    };
    let accuracy = Accuracy { max_abs_error: 0.0, max_of_bound: 0.0, exact_on_integers: true };
    let measurement = |step: &str, kernel: &str, size: usize| Measurement {
        run: "run".into(),
        step: step.into(),
        kernel: kernel.into(),
        shape: Shape::square(size),
        seed: 1,
        ptx_sha256: String::new(),
        outcome: Outcome::Passed(Box::new(VerifiedRun {
            grid: [1; 3],
            block: [1; 3],
            accuracy,
            batch: 1,
            hot: Some(Samples(vec![1000.0])),
            whole: Some(Samples(vec![2000.0])),
            yardstick: Some(Yardstick {
                name: "cuBLAS".into(),
                submission: Submission::Batch,
                algorithm: None,
                hot: Samples(vec![500.0]),
                duel: None,
            }),
            ..VerifiedRun::default()
        })),
    };
    let mut measurements = Vec::new();
    for step in STEPS {
        let products = step.kernels.iter().filter(|kernel| matches!(kernel.work, Work::Sgemm | Work::Cublas));
        for kernel in products {
            measurements.extend([2048, 4096, 8192].map(|size| measurement(step.id, kernel.name, size)));
        }
    }
    Record { runs: vec![run], measurements, ..Record::default() }
}

/// Returns all pictures without a record, and with [`record`]; drawn once for all tests here.
fn drawn() -> &'static [Vec<Figure>; 2] {
    static DRAWN: OnceLock<[Vec<Figure>; 2]> = OnceLock::new();
    DRAWN.get_or_init(|| {
        [None, Some(record())].map(|record| figures::all(record.as_ref()).expect("the kernels are committed"))
    })
}

#[test]
fn plots_tell_what_the_record_says() -> anyhow::Result<()> {
    let [_, figures] = drawn();
    for name in ["ladder", "sizes", "roofline", "memories", "whole", "of-cublas"] {
        let figure = figures.iter().find(|figure| figure.name == name);
        let svg = figure.map(|figure| figure.svg.as_str()).unwrap_or_default();
        assert!(svg.contains("a device of the tests, 2000-01-01"), "{name}");
        assert!(!svg.contains("no record"), "{name}");
    }
    let ladder = figures.iter().find(|figure| figure.name == "ladder");
    let ladder = ladder.map(|figure| figure.svg.as_str()).unwrap_or_default();
    // 2 x 4096³ operations in a second, half as fast as cuBLAS.
    assert_eq!(ladder.matches(">0.14</text>").count(), 10);
    assert_eq!(ladder.matches(">50 %</text>").count(), 9);
    Ok(())
}

#[test]
fn an_emulated_record_is_none() -> anyhow::Result<()> {
    let mut emulated = record();
    emulated.runs[0].emulated = true;
    assert_eq!(figures::all(Some(&emulated))?, drawn()[0]);
    Ok(())
}

#[test]
fn committed_pictures_are_what_would_be_drawn() -> anyhow::Result<()> {
    let record = figures::record(&figures::record_path())?;
    let mut stale = Vec::new();
    for figure in figures::all(record.as_ref())? {
        let path = figures::generated().join(figure.name).with_extension("svg");
        if std::fs::read_to_string(path).ok().as_deref() != Some(figure.svg.as_str()) {
            stale.push(figure.name);
        }
    }
    assert!(stale.is_empty(), "stale: {}; draw them again: cargo run -p figures -- write", stale.join(", "));
    Ok(())
}

#[test]
fn a_picture_can_stand_in_a_page() -> anyhow::Result<()> {
    for figure in &drawn()[0] {
        let (name, svg) = (figure.name, &figure.svg);
        assert!(svg.starts_with("<!-- made by"), "{name}");
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        assert!(svg.contains("viewBox=\"0 0 440 "), "{name}");
        // A blank line ends a block of HTML in Markdown, and an address would leave the site.
        assert!(!svg.contains("\n\n"), "{name} has a blank line");
        assert_eq!(svg.matches("http").count(), 1, "{name}: only the name of SVG itself");
        assert!(!svg.contains(" id="), "{name}: two pictures on a page must not share names");
    }
    Ok(())
}

/// Returns the part of a line between two marks.
fn between<'t>(line: &'t str, before: &str, after: &str) -> Option<&'t str> {
    line.split_once(before)?.1.split_once(after).map(|(value, _)| value)
}

#[test]
fn no_text_runs_out_of_its_picture() -> anyhow::Result<()> {
    // Units per letter of the book's font at 14.5, a little more than the mean of English.
    const LETTER: f64 = 7.7;
    const LETTER_OF_CODE: f64 = 8.7;
    let (mut n, mut out) = (0, Vec::<String>::new());
    for figure in drawn().iter().flatten() {
        for line in figure.svg.lines().filter(|line| line.starts_with("<text")) {
            let x: f64 = between(line, " x=\"", "\"").unwrap_or_default().parse()?;
            let text = between(line, ">", "</text>").unwrap_or_default();
            let each = if line.contains("code") { LETTER_OF_CODE } else { LETTER };
            let width = each * text.chars().count() as f64;
            let (left, right) = match between(line, "text-anchor=\"", "\"") {
                Some("middle") => (x - width / 2.0, x + width / 2.0),
                Some("end") => (x - width, x),
                _ => (x, x + width),
            };
            if left < -4.0 || right > 444.0 {
                out.push(format!("{}: {left:.0} to {right:.0}: {text}", figure.name));
            }
            n += 1;
        }
    }
    assert!(out.is_empty(), "{}", out.join("\n"));
    assert!(n > 300, "{n} texts");
    Ok(())
}

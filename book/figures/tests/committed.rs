//! The committed pictures equal those drawn from the kernels and the record.

use std::sync::OnceLock;

use anyhow::Context as _;
use catalog::Shape;
use figures::Figure;
use records::Outcome;

/// Returns all pictures, drawn once for all tests here.
fn drawn() -> &'static [Figure] {
    static DRAWN: OnceLock<Vec<Figure>> = OnceLock::new();
    DRAWN.get_or_init(|| figures::all(&figures::record().expect("a record")).expect("the kernels are committed"))
}

#[test]
fn plots_tell_what_the_record_says() -> anyhow::Result<()> {
    let svg = |name: &str| drawn().iter().find(|figure| figure.name == name).map(|figure| figure.svg.as_str());
    for name in ["ladder", "sizes", "roofline", "memories", "whole", "of-cublas", "v11-shapes"] {
        assert!(svg(name).context(name)?.contains("NVIDIA H200, 20"), "{name}");
    }
    let (record, ladder) = (figures::record()?, svg("ladder").context("a picture")?);
    for kernel in ["sgemm_v01_row_per_lane", "sgemm_v05_bank_conflict_free", "sgemm_v07_double_buffer"] {
        let measurement = record.measurement(kernel, Shape::square(4096)).context(kernel)?;
        let Outcome::Passed(passed) = &measurement.outcome else { panic!("{kernel} did not pass") };
        let ms = passed.hot.as_ref().context(kernel)?.median();
        let tflops = 2.0 * 4096_f64.powi(3) / (ms * 1e9);
        let digits = if tflops < 10.0 { 2 } else { 1 };
        let part = passed.of_yardstick().context(kernel)? * 100.0;
        for shown in [format!(">{tflops:.digits$}</text>"), format!(">{part:.0} %</text>")] {
            assert!(ladder.contains(&shown), "{kernel}: {shown} is not in {ladder}");
        }
    }
    // The caption of `v11-shapes`.
    for timed in record.measurements.iter().filter(|timed| timed.kernel == "v11_gemm") {
        let aligned = timed.shape.n.is_multiple_of(4) && timed.shape.k.is_multiple_of(4);
        let Outcome::Passed(passed) = &timed.outcome else { continue };
        let slower = passed.of_yardstick().is_some_and(|part| part < 1.0);
        assert!(!(aligned && slower), "{}", timed.shape);
    }
    Ok(())
}

#[test]
fn committed_pictures_are_what_would_be_drawn() {
    let mut stale = Vec::new();
    for figure in drawn() {
        let path = figures::generated().join(&figure.name).with_extension("svg");
        if std::fs::read_to_string(path).ok().as_deref() != Some(figure.svg.as_str()) {
            stale.push(figure.name.as_str());
        }
    }
    assert!(stale.is_empty(), "stale: {}; draw them again: cargo run -p figures -- write", stale.join(", "));
}

#[test]
fn a_picture_can_stand_in_a_page() {
    for figure in drawn() {
        let (name, svg) = (&figure.name, &figure.svg);
        assert!(svg.starts_with("<!-- made by"), "{name}");
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        assert!(svg.contains("viewBox=\"0 0 440 "), "{name}");
        // A blank line ends a block of HTML in Markdown, and an address would leave the site.
        assert!(!svg.contains("\n\n"), "{name} has a blank line");
        assert_eq!(svg.matches("http").count(), 1, "{name}: only the name of SVG itself");
        assert!(!svg.contains(" id="), "{name}: two pictures on a page must not share names");
    }
}

fn between<'t>(line: &'t str, before: &str, after: &str) -> Option<&'t str> {
    line.split_once(before)?.1.split_once(after).map(|(value, _)| value)
}

#[test]
fn no_text_runs_out_of_its_picture() -> anyhow::Result<()> {
    // Units per letter of the book's font at 14.5, a little more than the mean of English.
    const LETTER: f64 = 7.7;
    const LETTER_OF_CODE: f64 = 8.7;
    let (mut n, mut out) = (0, Vec::<String>::new());
    for figure in drawn() {
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

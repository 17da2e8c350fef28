use super::*;

#[test]
fn figures_are_three() {
    let shown = [0.0, 0.01234, 0.5, 1.234, 56.78, 1234.5, 3.2e-5].map(figure);
    assert_eq!(shown, ["0", "0.0123", "0.500", "1.23", "56.8", "1234", "3.2e-5"]);
}

#[test]
fn times_have_the_unit_that_fits() {
    assert_eq!([0.0062, 2.7, 5600.0].map(time), ["6.20 us", "2.70 ms", "5.60 s"]);
}

#[test]
fn extents_leave_out_what_is_one() {
    assert_eq!([[4, 4, 1], [256, 1, 1], [0, 0, 0]].map(extent), ["4 x 4", "256", ""]);
}

use crate::kernel::{KernelSource, grid_of_tiles};
use cudarc::driver::LaunchConfig;
use records::duel::{Duel, Speed};
use records::record::{Accuracy, Submission, Yardstick};
use records::{Roofline, Samples};

fn geometry(shape: Shape) -> LaunchConfig {
    grid_of_tiles(shape, [128, 128], 256)
}

static FAST: Kernel =
    Kernel::sgemm("fast", KernelSource { text: "", ptx: "", cubin: &[], rust: None }, geometry, |_| Ok(()));

fn run(emulated: bool) -> records::Run {
    records::Run {
        id: "run".into(),
        date: "2026-11-21T00:00:00Z".into(),
        device: "a device".into(),
        emulated,
        capability: "9.0".into(),
        driver: "13.0".into(),
        host: "a host".into(),
        revision: "unknown".into(),
        roofline: Some(Roofline { fp32_tflops: 66.0, copy_gbs: 4200.0 }),
        ..records::Run::default()
    }
}

fn entry(outcome: Outcome) -> Entry<'static> {
    Entry {
        kernel: &FAST,
        work: Work::Sgemm,
        measurement: Measurement {
            run: "run".into(),
            step: "v05".into(),
            kernel: "fast".into(),
            shape: Shape::square(1000),
            seed: 1,
            ptx_sha256: String::new(),
            outcome,
        },
        report: None,
    }
}

fn passed() -> VerifiedRun {
    VerifiedRun {
        grid: [8, 8, 1],
        block: [256, 1, 1],
        accuracy: Accuracy { max_abs_error: 7.0e-5, max_of_bound: 0.004, exact_on_integers: true },
        batch: 10,
        submission: Submission::Batch,
        hot: Some(Samples(vec![0.1, 0.1, 0.1])),
        cold: Some(Samples(vec![0.125])),
        whole: Some(Samples(vec![12.5])),
        cpu_ms: Some(20.0),
        yardstick: Some(Yardstick {
            name: "cuBLAS".into(),
            submission: Submission::Batch,
            algorithm: None,
            hot: Samples(vec![0.05]),
            duel: None,
        }),
        ..VerifiedRun::default()
    }
}

#[test]
fn a_duel_has_a_table_of_its_own() {
    let speed = |times: f64| Speed::from_rounds(&[[1.0, times, times, 1.0]; 3]).expect("three rounds");
    let mut passed = passed();
    passed.yardstick = passed.yardstick.map(|yardstick| Yardstick {
        duel: Some(Duel {
            sustained: Some(speed(1.05)),
            burst: speed(0.98),
            piece_and_pause: [50.0, 60.0],
            settle_ms: 250.0,
            joules: None,
            earlier: None,
        }),
        ..yardstick
    });
    let page = case(Shape::square(1000), &run(false), &[entry(Outcome::Passed(Box::new(passed)))]);
    let row = page.lines().last().expect("a row");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells, ["fast", "105.0 % (105.0 to 105.0 %)", "98.0 % (98.0 to 98.0 %)"]);
}

#[test]
fn on_a_gpu_the_page_has_times_and_what_they_are_of_the_best() {
    let page = case(Shape::square(1000), &run(false), &[entry(Outcome::Passed(Box::new(passed())))]);
    let rows: Vec<Vec<&str>> =
        page.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(rows[1], ["MxNxK = 1000x1000x1000"]);
    let row: Vec<_> = rows[2].iter().zip(&rows[3]).map(|(head, cell)| format!("{head}: {cell}")).collect();
    assert_eq!(
        row,
        [
            "kernel: fast",
            "answer: right",
            "grid: 8 x 8",
            "block: 256",
            "kernel time: 0.100 ms",
            "spread: 0.0%",
            "cold: 0.125 ms",
            "whole GPU: 12.5 ms",
            "CPU FP64: 20.0 ms",
            "error: 7.0e-5",
            "of bound: 0.400%",
            "GFLOP/s: 20000",
            "of cuBLAS: 50.0%",
            "of roofline: 30.3%",
        ]
    );
}

#[test]
fn what_is_wrong_is_told_in_full() {
    let failed = Outcome::Failed { why: "all wrong".into(), details: "first line\nsecond line".into() };
    let not_run = Outcome::NotRun { why: "too slow".into() };
    let page = case(Shape::square(1000), &run(true), &[entry(failed), entry(not_run)]);
    assert_eq!(
        page,
        "\nMxNxK = 1000x1000x1000\n  \
         kernel  answer\n  fast    WRONG\n  fast    not run\n\n\
         fast: all wrong\n  first line\n  second line\n  \
         fast: not run: too slow\n"
    );
}

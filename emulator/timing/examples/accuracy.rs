//! Every launch that an H200 was timed with beside its prediction.
//!
//! `cargo run --release -p timing --example accuracy -- ladder [PART_OF_A_NAME [M]]` prints them;
//! `… -- held-out` the kernels that played no part in building the model; `… -- asynchronous` those that copy boxes;
//! `… -- versions` kernels with small changes;
//! `… -- write` makes `data/predictions.tsv`, which the book's plot is drawn from; `… -- write ladder` and the like
//! renew these lines of it; `… -- profiled [PART_OF_A_NAME]` makes `data/profiled.tsv`, or renews
//! the lines of some kernels in it.

#![expect(clippy::print_stdout, reason = "an example shows what came out")]

#[path = "../tests/recorded/mod.rs"]
mod recorded;

use std::fmt::Write;

use recorded::Launch;
use records::busiest::UNMODELLED;
use timing::accuracy::{self, Point, Set};
use timing::{Bound, Prediction, Reason};

const HEAD: &str = include_str!("accuracy.txt");

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize| arguments.get(i).map_or("", String::as_str);
    if argument(0) == "profiled" {
        profiled(argument(1));
        return;
    }
    let is_written = argument(0) == "write";
    let set = if is_written { argument(1) } else { argument(0) };
    let mut launches = Vec::new();
    if set.is_empty() || set == Set::Ladder.name() {
        launches.extend(recorded::ladder());
    }
    if set.is_empty() || set == Set::Asynchronous.name() {
        launches.extend(recorded::mapped());
    }
    for replayed in [Set::HeldOut, Set::Versions] {
        if set.is_empty() || set == replayed.name() {
            launches.extend(recorded::replayed(replayed));
        }
    }
    // Short launches first: the long ones then do not all wait for each other at the end.
    launches.sort_by_key(Launch::work);
    launches.retain(|launch| {
        let of_size = argument(2).is_empty() || argument(2) == launch.shape[0].to_string();
        is_written || launch.name.contains(argument(1)) && of_size
    });
    let predicted = |launch: &Launch| {
        let prediction = launch.predicted();
        println!("{}", line(launch, &prediction));
        prediction
    };
    let results = catalog::parallel::run(&launches, usize::MAX, predicted, |_| true);
    let mut points = Vec::new();
    for (launch, prediction) in launches.iter().zip(results) {
        match prediction {
            Ok(prediction) => points.push(point(launch, &prediction)),
            Err(why) => println!("{} {:?}: {why}", launch.name, launch.shape),
        }
    }
    let mut errors: Vec<f64> = points.iter().map(|point| 100.0 * point.error().abs()).collect();
    if is_written {
        // Lines of the other kernels stay.
        let others = accuracy::points().iter();
        points.extend(others.filter(|point| !set.is_empty() && point.set.name() != set).cloned());
        points.sort_by(|a, b| (a.set, &a.kernel, a.shape).cmp(&(b.set, &b.kernel, b.shape)));
        write(&points);
    }
    errors.sort_by(f64::total_cmp);
    let n = errors.len();
    let mean = errors.iter().sum::<f64>() / n.max(1) as f64;
    let close = errors.iter().filter(|error| **error <= 15.0).count();
    println!("{n} launches, mean error {mean:.1} %, {close} within 15 %");
}

/// Times that profiled launches need of each unit. Lines of kernels without `part` in their names stay.
fn profiled(part: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/profiled.tsv");
    let before = std::fs::read_to_string(path).unwrap_or_default();
    let mut text = "\
# What the model gives for the launches of book/data/h200-busiest.json, in microseconds.
# Made by `cargo run --release -p timing --example accuracy -- profiled`.
# kernel\tM\tN\tK\tpredicted\tbounds
"
    .to_owned();
    for launch in recorded::profiled() {
        let [m, n, k] = launch.shape;
        let start = format!("{}\t{m}\t{n}\t{k}\t", launch.name);
        let line_before = before.lines().find(|line| line.starts_with(&start));
        if let Some(line) = line_before.filter(|_| !launch.name.contains(part)) {
            let _ = writeln!(text, "{line}");
            continue;
        }
        let prediction = launch.predicted();
        println!("{}", line(&launch, &prediction));
        let prediction = match prediction {
            Ok(prediction) => prediction,
            Err(_) if UNMODELLED.contains(&launch.name.as_str()) => continue,
            Err(why) => panic!("{}: {why}", launch.name),
        };
        let bound = |bound: &Bound| format!("{}={:.3}", bound.resource.name(), bound.us);
        let bounds: Vec<String> = prediction.bounds.iter().map(bound).collect();
        let _ = writeln!(text, "{start}{:.3}\t{}", prediction.us, bounds.join(";"));
    }
    std::fs::write(path, text).expect("the file is written");
}

fn point(launch: &Launch, prediction: &Prediction) -> Point {
    let bound = prediction.bounds.first().expect("the model has units");
    Point {
        set: launch.set,
        kernel: launch.name.clone(),
        shape: launch.shape,
        measured_us: launch.measured_us,
        predicted_us: prediction.us,
        bound_us: bound.us,
        binds: bound.resource,
    }
}

fn write(points: &[Point]) {
    let mut text = HEAD.to_owned();
    for point in points {
        let Point { set, kernel, shape: [m, n, k], measured_us, predicted_us, bound_us, binds } = point;
        let _ = write!(text, "{}\t{kernel}\t{m}\t{n}\t{k}\t{measured_us:.3}", set.name());
        let _ = writeln!(text, "\t{predicted_us:.3}\t{bound_us:.3}\t{}", binds.name());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/predictions.tsv");
    std::fs::write(path, text).expect("the file is written");
}

fn line(launch: &Launch, prediction: &Result<Prediction, String>) -> String {
    let name = format!("{} {:?}", launch.name, launch.shape);
    let prediction = match prediction {
        Ok(prediction) => prediction,
        Err(why) => return format!("{name}: no prediction: {why}"),
    };
    let issued: u64 = prediction.stalls.iter().map(|stalls| stalls.issued).sum();
    let mut reasons = String::new();
    for reason in Reason::ALL {
        let of_all = prediction.stalls.iter().map(|stalls| stalls.clocks[reason as usize]);
        let part = of_all.sum::<u64>() as f64 / issued.max(1) as f64;
        let _ = write!(reasons, " {reason:?} {part:.2}");
    }
    for bound in prediction.bounds.iter().take(3) {
        let _ = write!(reasons, " {:?} {:.0}%", bound.resource, 100.0 * bound.us / prediction.us);
    }
    let error = 100.0 * (prediction.us / launch.measured_us - 1.0);
    format!("{name}: {:.1} {:.1} {error:+.1}{reasons}", launch.measured_us, prediction.us)
}

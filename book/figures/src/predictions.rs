//! Errors of the timing model: predicted beside measured times, as a picture and as a table.

use timing::accuracy::{Kind, Point, Set, change_band, changes, points};

use crate::plots::Axis;
use crate::svg::{Anchor, Drawing, Rect, WIDTH};
use crate::table::{Table, render_table};

const DEVICE: &str = "NVIDIA H200; emulator/timing/data/predictions.tsv";

/// Largest error that counts as close.
const CLOSE: f64 = 0.15;
/// Changes of a time beyond this part of it are clear.
const CLEAR: f64 = 0.05;
/// Largest error on the scale of the lower picture; a larger one is drawn at its edge.
const WORST: f64 = 0.6;

/// Formats a time as `10 µs` or `1 ms`.
fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e6 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.0} s", us / 1e6),
    }
}

/// Draws both pictures: predicted over measured, and the error over measured.
pub(crate) fn draw() -> String {
    let points: Vec<Point> =
        points().iter().filter(|point| matches!(point.set, Set::Ladder | Set::HeldOut)).cloned().collect();
    let points = &points[..];
    let n = |set| points.iter().filter(|point| point.set == set).count();
    let close = points.iter().filter(|point| point.error().abs() <= CLOSE).count();
    let mut drawing = Drawing::titled(
        "Predicted and measured time of launches",
        format!(
            "Two plots with a mark for each launch, {} of the ladder and {} of kernels that played no part in building \
             the model. Above, predicted over measured time, both logarithmic, with a band of {:.0} percent around what \
             is equal. Below, the error over the measured time. {close} of {} lie in the band.",
            n(Set::Ladder),
            n(Set::HeldOut),
            100.0 * CLOSE,
            points.len()
        ),
    );
    let all = || points.iter().flat_map(|point| [point.measured_us, point.predicted_us]);
    let low = all().fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let high = all().fold(0.0, f64::max).log10().ceil() as i32;
    let (left, right) = (10_f64.powi(low), 10_f64.powi(high));
    let decades = || (low..=high).map(|power| 10_f64.powi(power));
    let x = Axis::log([left, right], [62.0, WIDTH - 12.0]);
    let y = Axis::log([left, right], [350.0, 34.0]);
    // The band, clipped at the frame.
    let (less, more) = (1.0 - CLOSE, 1.0 + CLOSE);
    let above = [(left, left), (left, left * more), (right / more, right)];
    let below = [(right, right), (right, right * less), (left / less, left)];
    let corners = above.into_iter().chain(below);
    let path: Vec<String> = corners.map(|(a, b)| format!("{:.1} {:.1}", x.at(a), y.at(b))).collect();
    drawing.path("faint", &format!("M{}z", path.join("L")));
    for decade in decades() {
        drawing.line("line", (x.at(decade), y.to), (x.at(decade), y.from));
        drawing.line("line", (x.from, y.at(decade)), (x.to, y.at(decade)));
        drawing.text("dim", Anchor::End, (x.from - 5.0, y.at(decade) + 5.0), time(decade));
    }
    drawing.line("dash", (x.at(left), y.at(left)), (x.at(right), y.at(right)));
    marks(&mut drawing, points, |point| (x.at(point.measured_us), y.at(point.predicted_us)));
    drawing.text("", Anchor::Start, (x.from + 6.0, y.to + 16.0), "predicted");

    let (top, bottom) = (376.0, 536.0);
    let height = |error: f64| {
        let part = (error.clamp(-WORST, WORST) + WORST) / (2.0 * WORST);
        bottom - part * (bottom - top)
    };
    let band = Rect::new(x.from, height(CLOSE), x.to - x.from, height(-CLOSE) - height(CLOSE));
    drawing.rect("faint", band);
    for percent in [-50, -15, 0, 15, 50] {
        let at = height(f64::from(percent) / 100.0);
        drawing.line("line", (x.from, at), (x.to, at));
        let label = match percent {
            0 => "equal".to_owned(),
            percent if percent < 0 => format!("−{} %", -percent),
            percent => format!("+{percent} %"),
        };
        drawing.text("dim", Anchor::End, (x.from - 5.0, at + 5.0), label);
    }
    for decade in decades() {
        drawing.line("line", (x.at(decade), top), (x.at(decade), bottom));
        let at = x.at(decade).min(WIDTH - 20.0);
        drawing.text("dim", Anchor::Middle, (at, bottom + 18.0), time(decade));
    }
    marks(&mut drawing, points, |point| (x.at(point.measured_us), height(point.error())));
    let beyond = points.iter().filter(|point| point.error().abs() > WORST).count();
    let label = match beyond {
        0 => "error".to_owned(),
        n => format!("error; {n} at the edge are larger"),
    };
    drawing.text("", Anchor::Start, (x.from + 6.0, top + 16.0), label);
    drawing.text("", Anchor::End, (x.to, bottom + 38.0), "measured");

    let legend = bottom + 62.0;
    drawing.circle("a", (6.0, legend - 5.0), 3.0);
    drawing.text("", Anchor::Start, (16.0, legend), format!("kernels of the ladder: {}", n(Set::Ladder)));
    drawing.circle("line-b", (226.0, legend - 5.0), 3.5);
    drawing.text("", Anchor::Start, (238.0, legend), format!("held out: {}", n(Set::HeldOut)));
    drawing.note(legend + 21.0, DEVICE);
    drawing.finish(legend + 30.0)
}

fn marks(drawing: &mut Drawing, points: &[Point], at: impl Fn(&Point) -> (f64, f64)) {
    for (set, class, radius) in [(Set::Ladder, "a", 2.4), (Set::HeldOut, "line-b", 3.5)] {
        for point in points.iter().filter(|point| point.set == set) {
            drawing.circle(class, at(point), radius);
        }
    }
}

/// A row of the table: its title, and the launches in it.
type Class = (&'static str, fn(&Point) -> bool);

const CLASSES: [Class; 11] = [
    ("v01", |point| is_of(point, &["sgemm_v01"])),
    ("v02", |point| is_of(point, &["sgemm_v02"])),
    ("v03", |point| is_of(point, &["sgemm_v03"])),
    ("v04 to v07", |point| is_of(point, &["sgemm_v04", "sgemm_v05", "sgemm_v06", "sgemm_v07"])),
    ("FP64", |point| is_of(point, &["dgemm", "double."])),
    ("transposes", |point| is_of(point, &["transpose"])),
    ("all of the ladder", |point| point.set == Set::Ladder),
    ("small changes", |point| point.set == Set::Versions),
    ("boxes, tensor cores", |point| point.set == Set::Asynchronous),
    ("held out: tasks", |point| point.set == Set::HeldOut && point.kernel.contains('.')),
    ("held out: others", |point| point.set == Set::HeldOut && !point.kernel.contains('.')),
];

fn is_of(point: &Point, names: &[&str]) -> bool {
    point.set == Set::Ladder && names.iter().any(|name| point.kernel.starts_with(name))
}

/// Returns a table of errors for each class of kernels, and the bands that follow from them.
pub fn errors_table() -> String {
    let mut table = Table::new(["kernel", "launches", "mean error", "largest", "within 15 %", "bound alone"]);
    for (name, is_in) in CLASSES {
        let of: Vec<&Point> = points().iter().filter(|point| is_in(point)).collect();
        if of.is_empty() {
            continue;
        }
        let n = of.len() as f64;
        let mean = of.iter().map(|point| point.error().abs()).sum::<f64>() / n;
        let worst = of.iter().map(|point| point.error()).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let close = of.iter().filter(|point| point.error().abs() <= CLOSE).count();
        let bound = of.iter().map(|point| (point.bound_us / point.measured_us - 1.0).abs());
        table.row([
            name.to_owned(),
            of.len().to_string(),
            format!("{:.1} %", 100.0 * mean),
            format!("{:+.0} %", 100.0 * worst.unwrap_or(0.0)),
            close.to_string(),
            format!("{:.0} %", 100.0 * bound.sum::<f64>() / n),
        ]);
    }
    let [arithmetic, memory] = Kind::ALL.map(|kind| 100.0 * kind.band());
    let clear: Vec<[f64; 2]> = changes().filter(|[_, measured]| (measured - 1.0).abs() > CLEAR).collect();
    format!(
        "{}\nnine in ten that were held out are within {arithmetic:.0} % if registers, arithmetic or shared memory bind,\n\
         and within {memory:.0} % if anything else does\n\
         nine in ten small changes made a kernel as much slower or faster as predicted, within {:.0} %;\n\
         of {} that made it slower or faster by more than {:.0} %, {} were predicted to do so\n",
        render_table(&table),
        100.0 * change_band(),
        clear.len(),
        100.0 * CLEAR,
        clear.iter().filter(|[predicted, measured]| (*predicted > 1.0) == (*measured > 1.0)).count()
    )
}

//! Plots of measurements: the roofline, throughput over size.

#[cfg(test)]
mod tests;

use anyhow::Context as _;
use catalog::text::three_figures;
use catalog::{Shape, Work};
use counters::Counters;
use records::Record;
use serde::Deserialize;

use crate::recorded::Recorded;
use crate::svg::{Anchor, Drawing, Rect, WIDTH};
use crate::{counts, machine};

const SIZE: usize = 4096;

/// A logarithmic or a linear axis from values to units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
    log: bool,
}

impl Axis {
    pub(crate) fn linear([low, high]: [f64; 2], [from, to]: [f64; 2]) -> Self {
        Self { low, high, from, to, log: false }
    }

    pub(crate) fn log(values: [f64; 2], units: [f64; 2]) -> Self {
        Self { log: true, ..Self::linear(values, units) }
    }

    pub(crate) fn at(self, value: f64) -> f64 {
        let scale = |v: f64| if self.log { v.max(1e-12).ln() } else { v };
        let part = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        self.from + part * (self.to - self.from)
    }
}

/// Draws lines across both axes at these values, with labels below and on the left.
pub(crate) fn grid(
    drawing: &mut Drawing, [x, y]: [Axis; 2], below: impl IntoIterator<Item = f64>, left: impl IntoIterator<Item = f64>,
) {
    for tick in below {
        drawing.line("line", (x.at(tick), y.to), (x.at(tick), y.from));
        let at = (x.at(tick).min(WIDTH - 14.0), y.from + 19.0);
        drawing.text("dim", Anchor::Middle, at, tick.to_string());
    }
    for tick in left {
        drawing.line("line", (x.from, y.at(tick)), (x.to, y.at(tick)));
        drawing.text("dim", Anchor::End, (x.from - 5.0, y.at(tick) + 5.0), tick.to_string());
    }
}

/// Moves labels apart by as little as possible, from top to bottom; returns their new positions.
pub(crate) fn spread_labels(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut placed = wanted.to_vec();
    let mut next = low;
    for &i in &order {
        placed[i] = placed[i].max(next);
        next = placed[i] + gap;
    }
    let mut last = high;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(last);
        last = placed[i] - gap;
    }
    placed
}

pub(crate) fn tflops(recorded: &Recorded<'_>, kernel: &str, size: usize) -> Option<f64> {
    let shape = Shape::square(size);
    let timed = recorded.product(kernel, shape)?;
    Some(Work::Sgemm.flops(shape) / (timed.ms * 1e9))
}

/// A plot of speed over size.
#[derive(Deserialize)]
pub(crate) struct Lines {
    pub(crate) name: String,
    /// Kernel, label and colour of each line; where colours repeat, they are dashed.
    lines: Vec<[String; 3]>,
}

pub(crate) fn sizes(record: &Record, Lines { lines, .. }: &Lines) -> anyhow::Result<String> {
    let recorded = Recorded::new(record);
    let lines: Vec<_> = lines
        .iter()
        .map(|[kernel, label, class]| {
            // Whole tiles; the odd sizes are another subject.
            let sizes = recorded.sizes(kernel).into_iter().filter(|size| size.is_multiple_of(256));
            let points: Vec<(usize, f64)> =
                sizes.filter_map(|size| Some((size, tflops(&recorded, kernel, size)?))).collect();
            (label, class, points)
        })
        .filter(|(_, _, points)| points.len() > 1)
        .collect();
    let all: Vec<(usize, f64)> = lines.iter().flat_map(|(_, _, points)| points).copied().collect();
    let low = all.iter().map(|(size, _)| *size).min().context("no kernel was timed at two sizes")?;
    let high = all.iter().map(|(size, _)| *size).max().unwrap_or(low);
    let [least, most] = extent(&all, |(_, tflops)| *tflops);
    let mut drawing = Drawing::titled(
        "TFLOP/s over size, square products",
        "One line per step over the size of the matrices, both axes logarithmic. Small products leave most of the GPU \
         idle; the lines level off where it is full.",
    );
    let (top, bottom) = (34.0, 390.0);
    let x = Axis::log([low as f64, high as f64], [36.0, WIDTH - 76.0]);
    const TICKS: [f64; 11] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
    let lowest = TICKS.into_iter().rfind(|tick| *tick <= least).unwrap_or(least);
    let y = Axis::log([lowest, most * 1.15], [bottom, top]);
    grid(&mut drawing, [x, y], [], TICKS.into_iter().filter(|t| (y.low..=y.high).contains(t)));
    let mut size = low;
    while size <= high {
        drawing.text("dim", Anchor::Middle, (x.at(size as f64), bottom + 19.0), size.to_string());
        size *= 2;
    }
    let wanted: Vec<f64> = lines.iter().map(|(_, _, points)| y.at(points.last().map_or(0.0, |(_, t)| *t))).collect();
    let labels = spread_labels(&wanted, 17.0, top, bottom);
    for ((label, class, points), at) in lines.iter().zip(&labels) {
        let path: Vec<(f64, f64)> = points.iter().map(|(s, t)| (x.at(*s as f64), y.at(*t))).collect();
        drawing.polyline(&format!("line-{class}"), &path);
        let class = class.split(' ').next().unwrap_or_default();
        for point in &path {
            drawing.circle(class, *point, 2.6);
        }
        let end = path.last().copied().unwrap_or_default();
        drawing.line("line", (end.0 + 5.0, end.1), (x.to + 14.0, *at));
        drawing.text(&format!("ink-{class}"), Anchor::Start, (x.to + 17.0, at + 5.0), label);
    }
    drawing.note(bottom + 44.0, recorded.provenance());
    Ok(drawing.finish(bottom + 52.0))
}

/// Returns the floating-point operations per byte of the sectors that a kernel requests, at `shape`. `counters` belong
/// to [`counts::SHAPE`]. Every tile divides both shapes, so loads grow with M, N and K, and stores with M and N.
fn intensity(counters: &Counters, shape: Shape) -> f64 {
    const SECTOR: f64 = 32.0;
    let counted = counts::SHAPE;
    let volume = |shape: Shape| (shape.m * shape.n * shape.k) as f64;
    let area = |shape: Shape| (shape.m * shape.n) as f64;
    let loads = counters.global_load_sectors as f64 * volume(shape) / volume(counted);
    let stores = counters.global_store_sectors as f64 * area(shape) / area(counted);
    2.0 * volume(shape) / (SECTOR * (loads + stores))
}

pub(crate) fn roofline(record: &Record) -> anyhow::Result<String> {
    let shape = Shape::square(SIZE);
    let recorded = Recorded::new(record);
    let roof = recorded.roofline()?;
    let mut points = Vec::new();
    for (kernel, label) in counts::KERNELS {
        if let Some(tflops) = tflops(&recorded, kernel, SIZE) {
            let counters = machine::counters(kernel, counts::SHAPE)?;
            points.push((*label, intensity(&counters, shape), tflops));
        }
    }
    let mut drawing = Drawing::titled(
        format!("Roofline at {SIZE}, by what the kernels ask for"),
        "Both axes logarithmic: throughput over floating-point operations per byte of sectors asked for. The flat line \
         is the multiply-add ceiling, the slanted one the device's copy. Points above the slanted line are served by \
         caches.",
    );
    let (top, bottom) = (40.0, 340.0);
    let least = points.iter().map(|p| p.1).fold(0.2, f64::min);
    let x = Axis::log([if least < 0.1 { 0.01 } else { 0.1 }, 100.0], [34.0, WIDTH - 8.0]);
    let y = Axis::log([0.1, 100.0], [bottom, top]);
    let decades = |axis: Axis| [0.01, 0.1, 1.0, 10.0, 100.0].into_iter().filter(move |decade| *decade >= axis.low);
    grid(&mut drawing, [x, y], decades(x), decades(y));
    drawing.text("dim", Anchor::Start, (x.from + 4.0, top + 16.0), "TFLOP/s");
    drawing.text("dim", Anchor::End, (x.to, bottom + 38.0), "FLOP per byte of sectors");
    let knee = 1000.0 * roof.fp32_tflops / roof.copy_gbs;
    let copy = |intensity: f64| intensity * roof.copy_gbs / 1000.0;
    let start = (y.low * 1000.0 / roof.copy_gbs).max(x.low);
    drawing.polyline(
        "rule",
        &[(x.at(start), y.at(copy(start))), (x.at(knee), y.at(roof.fp32_tflops)), (x.to, y.at(roof.fp32_tflops))],
    );
    let fma = format!("FMA {} TFLOP/s", three_figures(roof.fp32_tflops));
    drawing.text("strong", Anchor::End, (x.to, y.at(roof.fp32_tflops) - 7.0), fma);
    let copy_at = 0.9;
    let at = (x.at(copy_at) + 10.0, y.at(copy(copy_at)) + 12.0);
    drawing.text("strong", Anchor::Start, at, format!("copy {} TB/s", three_figures(roof.copy_gbs / 1000.0)));
    // The fast kernels are close together: here they are one frame, which is enlarged below.
    let (near, alone): (Vec<KernelPoint>, Vec<KernelPoint>) =
        points.iter().copied().partition(|point| point.2 >= roof.fp32_tflops * CLOSE);
    for (label, intensity, tflops) in &alone {
        let at = (x.at(*intensity), y.at(*tflops));
        drawing.circle("a", at, 4.5);
        // Labels go on the side away from the slope.
        let (anchor, x) =
            if *tflops > copy(*intensity) { (Anchor::End, at.0 - 9.0) } else { (Anchor::Start, at.0 + 9.0) };
        drawing.text("", anchor, (x, at.1 + 5.0), label);
    }
    for (_, intensity, tflops) in &near {
        drawing.circle("a", (x.at(*intensity), y.at(*tflops)), 2.0);
    }
    let mut at = bottom + 60.0;
    if near.len() > 1 {
        let ([left, right], [low, high]) = (extent(&near, |p| p.1), extent(&near, |p| p.2));
        let (x0, y0) = (x.at(left) - 8.0, y.at(high) - 8.0);
        let frame = Rect::new(x0, y0, x.at(right) + 8.0 - x0, y.at(low) + 8.0 - y0);
        drawing.rect("rule", frame);
        let names = format!("{} to {}", near[0].0, near[near.len() - 1].0);
        drawing.text("", Anchor::End, (frame.right() + 8.0, frame.bottom() + 17.0), &names);
        at = draw_closeup(&mut drawing, &near, roof.fp32_tflops, bottom + 62.0);
    }
    let foot = [
        "Above the slope: caches serve what is asked for.".to_owned(),
        format!("Speed: {}.", recorded.provenance()),
        "Sectors: scaled from those that the emulated GPU".to_owned(),
        format!("counted at {}.", counts::SHAPE),
    ];
    Ok(drawing.finish_with_notes(at, foot.join("\n")))
}

/// A label, FLOP per byte, TFLOP/s.
type KernelPoint = (&'static str, f64, f64);

/// Returns the least and the largest of a quantity, which is positive.
pub(crate) fn extent<T>(points: &[T], quantity: impl Fn(&T) -> f64) -> [f64; 2] {
    let values = || points.iter().map(&quantity);
    [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)]
}

/// Fraction of the ceiling from which points are too close together for one scale.
const CLOSE: f64 = 0.35;

/// Draws points near the ceiling on linear axes of their own; returns the lower edge.
fn draw_closeup(drawing: &mut Drawing, points: &[KernelPoint], ceiling: f64, from: f64) -> f64 {
    let (top, bottom) = (from + 30.0, from + 200.0);
    drawing.text("strong", Anchor::Start, (0.0, from), "The frame, enlarged");
    let ([left, right], [low, _]) = (extent(points, |p| p.1), extent(points, |p| p.2));
    let x = Axis::linear([(left / 5.0).floor() * 5.0, (right / 5.0).floor() * 5.0 + 5.0], [34.0, WIDTH - 60.0]);
    let y = Axis::linear([(low / 10.0).floor() * 10.0, (ceiling / 10.0).ceil() * 10.0], [bottom, top]);
    let ticks = |axis: Axis, step: f64| {
        let n = ((axis.high - axis.low) / step).round() as u32;
        (0..=n).map(move |i| axis.low + step * f64::from(i))
    };
    grid(drawing, [x, y], ticks(x, 5.0), ticks(y, 10.0));
    drawing.polyline("rule", &[(x.from, y.at(ceiling)), (x.to, y.at(ceiling))]);
    let wanted: Vec<f64> = points.iter().map(|p| y.at(p.2)).collect();
    let labels = spread_labels(&wanted, 17.0, top, bottom);
    for ((label, intensity, tflops), to) in points.iter().zip(&labels) {
        let at = (x.at(*intensity), y.at(*tflops));
        drawing.line("line", (at.0 + 5.0, at.1), (x.to + 12.0, *to));
        drawing.circle("a", at, 4.5);
        drawing.text("", Anchor::Start, (x.to + 15.0, to + 5.0), label);
    }
    bottom + 46.0
}

//! Rooflines of tensor cores: peak rates of the units, of device memory and of L2, and kernels below them.
//!
//! Peak rates come from `book/data/h200-ceilings.json`, speeds of kernels from the record of the ladder.

#[cfg(test)]
mod tests;

use anyhow::Context as _;
use catalog::Shape;
use catalog::text::{day, three_figures};
use records::{Record, ceilings::Ceilings};
use serde::Deserialize;

use crate::machine;
use crate::plots::{Axis, grid, spread_labels, tflops};
use crate::recorded::Recorded;
use crate::svg::{Anchor, Drawing, WIDTH};

const SIZE: usize = 4096;

#[derive(Deserialize)]
pub(crate) struct RooflinePlot {
    pub(crate) name: String,
    title: String,
    /// Units with flat roofs: `FP32`, or an instruction for tensor cores.
    units: Vec<String>,
    kernels: Vec<KernelPoint>,
}

#[derive(Deserialize)]
struct KernelPoint {
    kernel: String,
    label: String,
    /// Rows and columns of C that share one load from L2: the tile of a block, or of a cluster.
    tile: [usize; 2],
    bytes: usize,
}

impl KernelPoint {
    /// Returns the arithmetic intensity: operations per byte of the tiles and of C, at `shape`.
    fn intensity(&self, shape: Shape) -> f64 {
        const SUM: f64 = 4.0;
        let [rows, cols] = self.tile.map(|edge| edge as f64);
        let k = shape.k as f64;
        2.0 * rows * cols * k / (self.bytes as f64 * (rows + cols) * k + SUM * rows * cols)
    }
}

/// Returns the TFLOP/s of an instruction for tensor cores.
pub(crate) fn tensor_cores(ceilings: &Ceilings, unit: &str) -> anyhow::Result<f64> {
    let ceiling = ceilings.best(unit, "bf16").with_context(|| format!("the ceilings have no {unit}"))?;
    Ok(ceiling.burst.tflops)
}

pub(crate) fn load() -> anyhow::Result<Ceilings> {
    Ok(Ceilings::parse(&machine::read("book/data/h200-ceilings.json")?)?)
}

pub(crate) fn draw(plot: &RooflinePlot, record: &Record, ceilings: &Ceilings) -> anyhow::Result<String> {
    let RooflinePlot { title, units, kernels, .. } = plot;
    let roofline = ceilings.run.roofline.context("the ceilings have no bandwidth of device memory")?;
    let mut drawing = Drawing::titled(
        title,
        "Both axes logarithmic: throughput over floating-point operations per byte of tiles. Flat lines are what units \
         do alone, slanted ones what device memory and L2 bring.",
    );
    let (top, bottom) = (40.0, 340.0);
    const LOW: f64 = 10.0;
    const HIGH: f64 = 1000.0;
    let x = Axis::log([LOW, HIGH], [42.0, WIDTH - 18.0]);
    let y = Axis::log([LOW, HIGH], [bottom, top]);
    grid(&mut drawing, [x, y], [LOW, 100.0, HIGH], [LOW, 100.0, HIGH]);
    drawing.text("dim", Anchor::Start, (x.from + 4.0, bottom - 8.0), "TFLOP/s");
    drawing.text("dim", Anchor::End, (x.to, bottom + 38.0), "FLOP per byte of tiles");

    let roof = |unit: &String| match unit.as_str() {
        "FP32" => Ok(roofline.fp32_tflops),
        unit => tensor_cores(ceilings, unit),
    };
    let roofs = units.iter().map(|unit| Ok((unit, roof(unit)?))).collect::<anyhow::Result<Vec<_>>>()?;
    let highest = roofs.iter().map(|roof| roof.1).fold(LOW, f64::max);
    // Slopes from the left or lower edge up to the highest roof.
    let slopes = [
        ("rule", "memory", roofline.copy_gbs),
        ("rule dashed", "L2", ceilings.l2.own_gbs),
        ("rule dashed", "L2, the same bytes", ceilings.l2.same_gbs),
    ];
    for (class, _, gbs) in slopes {
        let start = (LOW * 1e3 / gbs).max(LOW);
        let end = (highest * 1e3 / gbs).clamp(start, HIGH);
        let at = |flop: f64| (x.at(flop), y.at(flop * gbs / 1e3));
        drawing.polyline(class, &[at(start), at(end)]);
    }
    let steepest = slopes.iter().map(|slope| slope.2).fold(0.0, f64::max);
    for (name, tflops) in &roofs {
        let start = (tflops * 1e3 / steepest).max(LOW);
        drawing.polyline("rule", &[(x.at(start), y.at(*tflops)), (x.to, y.at(*tflops))]);
        let label = format!("{name} {}", three_figures(*tflops));
        drawing.text("strong", Anchor::End, (x.to, y.at(*tflops) - 5.0), label);
    }

    let recorded = Recorded::new(record);
    let shape = Shape::square(SIZE);
    let points: Vec<(&KernelPoint, f64)> =
        kernels.iter().filter_map(|point| Some((point, tflops(&recorded, &point.kernel, SIZE)?))).collect();
    let wanted: Vec<f64> = points.iter().map(|point| y.at(point.1)).collect();
    // Starts below the text above the roof of mma.sync, which is in both pictures.
    let from = tensor_cores(ceilings, "mma.sync")?;
    let labels = spread_labels(&wanted, 17.0, y.at(from) + 16.0, bottom - 12.0);
    let column = WIDTH - 102.0;
    for ((point, tflops), to) in points.iter().zip(&labels) {
        let at = (x.at(point.intensity(shape)), y.at(*tflops));
        drawing.line("line", (at.0 + 5.0, at.1), (column - 4.0, *to));
        drawing.circle("a", at, 4.5);
        drawing.text("", Anchor::Start, (column, to + 5.0), &point.label);
    }

    let tb = |gbs: f64| three_figures(gbs / 1e3);
    let foot = [
        format!("Slanted, from right to left: memory {} TB/s,", tb(roofline.copy_gbs)),
        format!("L2 {} TB/s, L2 where all read the same {}.", tb(ceilings.l2.own_gbs), tb(ceilings.l2.same_gbs)),
        format!("Units, memory: {}, {}.", ceilings.run.device, day(&ceilings.run.date)),
        format!("L2: {}, {}.", ceilings.l2.device, day(&ceilings.l2.date)),
        format!("Kernels at {SIZE}: {}.", recorded.provenance()),
    ];
    Ok(drawing.finish_with_notes(bottom + 60.0, foot.join("\n")))
}

//! Bar charts of measured times: the ladder, the transposes, the CPU.

use anyhow::Context as _;
use catalog::text::{day, three_figures};
use catalog::{CatalogKernel, STEPS, Shape, Work};
use records::{Record, ceilings::Ceilings};
use serde::Deserialize;

use crate::ceilings::tensor_cores;
use crate::recorded::{CUBLAS, Recorded};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

fn percent(part: f64) -> String {
    match 100.0 * part {
        small if small < 0.5 => "< 1 %".to_owned(),
        whole => format!("{whole:.0} %"),
    }
}

struct Bar {
    label: String,
    value: f64,
    /// Fraction of the yardstick; `None` for the yardstick itself.
    part: Option<f64>,
    /// Page of the step's chapter, which the bar links to.
    page: Option<String>,
}

impl Bar {
    fn new(label: impl Into<String>, value: f64, part: Option<f64>) -> Self {
        Self { label: label.into(), value, part, page: None }
    }
}

fn draw(title: &str, unit: &str, bars: &[Bar], foot: &str) -> String {
    let summary: Vec<String> =
        bars.iter().map(|bar| format!("{} {} {unit}", bar.label, three_figures(bar.value))).collect();
    let mut drawing = Drawing::titled(title, format!("Bars: {}.", summary.join(", ")));
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let mut y = 28.0;
    for Bar { label, value, part, page } in bars {
        if let Some(page) = page {
            drawing.link(page);
        }
        drawing.text("", Anchor::Start, (0.0, y + 14.0), label);
        drawing.text("strong", Anchor::End, (WIDTH - 58.0, y + 14.0), three_figures(*value));
        if let Some(part) = part {
            drawing.text("dim", Anchor::End, (WIDTH, y + 14.0), percent(*part));
        }
        let class = if part.is_some() { "a" } else { "grey" };
        let length = (WIDTH * value / most).max(1.0);
        drawing.rect("faint", Rect::new(0.0, y + 19.0, WIDTH, 9.0));
        drawing.rect(class, Rect::new(0.0, y + 19.0, length, 9.0));
        if page.is_some() {
            drawing.end_link();
        }
        y += 36.0;
    }
    drawing.finish_with_notes(y + 12.0, foot)
}

/// A chart of GEMMs at one size.
#[derive(Deserialize)]
pub(crate) struct Chart {
    pub(crate) name: String,
    title: String,
    size: usize,
    /// In a chapter, the best kernel of the step before first.
    kernels: Vec<String>,
    /// Labels of the kernels, where their names do not serve.
    #[serde(default)]
    labels: Vec<String>,
    /// Pages of the kernels' chapters, which the bars link to.
    #[serde(default)]
    pages: Vec<String>,
    /// Units that do nothing else: `multiply-adds`, or an MMA instruction; `wgmma / 6` where a kernel needs six.
    #[serde(default)]
    alone: Vec<String>,
}

/// Returns a kernel's step and name: `v05 bank conflict free`.
fn label(kernel: &str) -> String {
    let name = kernel.find("v").map_or(kernel, |at| &kernel[at..]);
    if kernel == CUBLAS { "cuBLAS".to_owned() } else { name.trim_end_matches("_f32").replace('_', " ") }
}

impl Chart {
    pub(crate) fn draw(&self, record: &Record, ceilings: &Ceilings) -> anyhow::Result<String> {
        let (size, shape, recorded) = (self.size, Shape::square(self.size), Recorded::new(record));
        let mut bars = Vec::new();
        for (i, kernel) in self.kernels.iter().enumerate() {
            let timed = recorded.product(kernel, shape).with_context(|| format!("{kernel} has no time at {size}"))?;
            let value = Work::Sgemm.flops(shape) / (timed.ms * 1e9);
            let label = self.labels.get(i).cloned().unwrap_or_else(|| label(kernel));
            let page = self.pages.get(i).map(|page| format!("{page}.html"));
            bars.push(Bar { page, ..Bar::new(label, value, timed.part.filter(|_| kernel != CUBLAS)) });
        }
        let mut foot = recorded.provenance();
        for alone in &self.alone {
            let (unit, times) = alone.split_once(" / ").unwrap_or((alone, "1"));
            let tflops = match unit {
                "multiply-adds" => recorded.roofline()?.fp32_tflops,
                unit => {
                    foot += &format!("\n{unit} alone: {}, {}.", ceilings.run.device, day(&ceilings.run.date));
                    tensor_cores(ceilings, unit)?
                }
            };
            let value = tflops / times.parse::<f64>()?;
            bars.push(Bar { label: format!("{alone} alone"), value, part: None, page: None });
        }
        Ok(draw(&self.title, "TFLOP/s", &bars, &foot))
    }
}

fn kernels(wanted: fn(Work) -> bool) -> impl Iterator<Item = &'static CatalogKernel> {
    let all = STEPS.iter().flat_map(|step| step.kernels);
    all.filter(move |kernel| wanted(kernel.work))
}

/// Draws the transposes, beside a copy of as many bytes.
pub(crate) fn transposes(record: &Record) -> anyhow::Result<String> {
    const SHAPE: Shape = Shape { m: 8192, n: 8192, k: 0 };
    let title = format!("Transposes at {}: GB/s, and part of a copy", SHAPE.m);
    let recorded = Recorded::new(record);
    let rate = |ms: f64| Work::Transpose.bytes(SHAPE) / (ms * 1e6);
    let mut copy = None;
    let mut bars = Vec::new();
    for kernel in kernels(|work| work == Work::Transpose) {
        let Some(timed) = recorded.timed(kernel.name, SHAPE, "copy") else { continue };
        copy = timed.yardstick_ms.or(copy);
        bars.push(Bar::new(kernel.name.trim_start_matches("transpose_").replace('_', " "), rate(timed.ms), timed.part));
    }
    let copy = copy.context("no transpose was timed beside a copy")?;
    bars.push(Bar::new("copy", rate(copy), None));
    Ok(draw(&title, "GB/s", &bars, &recorded.provenance()))
}

/// Draws the CPU kernels, beside a library.
pub(crate) fn cpus(record: &Record) -> anyhow::Result<String> {
    const SIZE: usize = 1024;
    const LIBRARY: &str = "cpu_library";
    let shape = Shape::square(SIZE);
    let title = format!("The CPU at {SIZE}: GFLOP/s, and part of the library");
    let recorded = Recorded::new(record);
    let mut host = None;
    let mut bars = Vec::new();
    for kernel in kernels(|work| work == Work::Cpu) {
        let Some(timed) = recorded.timed(kernel.name, shape, "the library") else { continue };
        host = recorded.host(kernel.name, shape).or(host);
        bars.push(Bar::new(
            kernel.name.trim_start_matches("cpu_").to_owned(),
            Work::Cpu.flops(shape) / (timed.ms * 1e6),
            timed.part.filter(|_| kernel.name != LIBRARY),
        ));
    }
    Ok(draw(&title, "GFLOP/s", &bars, &host.context("the CPU was not timed")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_not_nothing() {
        assert_eq!([0.001, 0.5, 1.02].map(percent), ["< 1 %", "50 %", "102 %"]);
    }
}

//! Pictures of whole GEMMs: the kernel's part of the total time, and a kernel beside cuBLAS over shapes.

use catalog::text::three_figures;
use catalog::{Shape, Work};
use records::Record;

use crate::plots::{Axis, extent, grid};
use crate::recorded::Recorded;
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// Formats three significant digits of a time, which may be short.
fn ms(value: f64) -> String {
    match value {
        short if short < 1.0 => format!("{short:.3}"),
        long => three_figures(long),
    }
}

fn percent(part: f64) -> String {
    match 100.0 * part {
        small if small < 1.0 => format!("{small:.1} %"),
        whole => format!("{whole:.0} %"),
    }
}

struct Product {
    label: &'static str,
    kernel_ms: f64,
    whole_ms: f64,
}

/// Draws the parts of whole GEMMs: the kernel by events, and everything by the host's clock.
pub(crate) fn parts(record: &Record) -> String {
    const KERNELS: [(&str, &str); 3] = [
        ("sgemm_v01_row_per_lane", "v01 row"),
        ("sgemm_v01_col_per_lane", "v01 col"),
        ("sgemm_v07_double_buffer", "v07"),
    ];
    let recorded = Recorded::new(record);
    let products = |size: usize| -> Vec<Product> {
        let product = |(kernel, label): (&str, &'static str)| {
            let (kernel_ms, whole_ms) = recorded.whole(kernel, Shape::square(size))?;
            Some(Product { label, kernel_ms, whole_ms })
        };
        KERNELS.into_iter().filter_map(product).collect()
    };
    let sizes = recorded.sizes(KERNELS[2].0).into_iter();
    let groups: Vec<(usize, Vec<Product>)> = sizes
        .filter(|size| size.is_power_of_two())
        .map(|size| (size, products(size)))
        .filter(|(_, products)| !products.is_empty())
        .collect();
    let summary: Vec<String> = groups
        .iter()
        .flat_map(|(size, products)| products.iter().map(move |product| (size, product)))
        .map(|(size, p)| format!("{} at {size} {} of {}", p.label, ms(p.kernel_ms), ms(p.whole_ms)))
        .collect();
    let mut drawing = Drawing::titled(
        "A whole product: the kernel, and the rest",
        format!(
            "Bars, one scale for each size: the whole of a product with allocation and copies, and in it the kernel. \
             Milliseconds of the kernel, of the whole: {}.",
            summary.join("; ")
        ),
    );
    const FROM: f64 = 62.0;
    const TO: f64 = 268.0;
    const BAR: f64 = 11.0;
    drawing.key("a", (0.0, 38.5), "kernel");
    drawing.key("b2", (78.0, 38.5), "all else");
    drawing.text("dim", Anchor::End, (WIDTH - 52.0, 38.5), "kernel / whole, ms");
    drawing.text("dim", Anchor::End, (WIDTH, 38.5), "part");
    let mut y = 52.0;
    for (size, products) in &groups {
        let longest = products.iter().map(|product| product.whole_ms).fold(0.0, f64::max);
        drawing.text("strong", Anchor::Start, (0.0, y + 13.0), size.to_string());
        y += 17.0;
        for product in products {
            let length = |ms: f64| (TO - FROM) * ms / longest;
            let whole = length(product.whole_ms);
            // Nonzero parts are wide enough to be visible.
            let kernel = length(product.kernel_ms).max(1.0);
            drawing.text("", Anchor::Start, (0.0, y + 14.0), product.label);
            drawing.rect("b2", Rect::new(FROM, y + 4.0, whole, BAR));
            drawing.rect("a", Rect::new(FROM, y + 4.0, kernel, BAR));
            let times = format!("{} / {}", ms(product.kernel_ms), ms(product.whole_ms));
            drawing.text("", Anchor::End, (WIDTH - 52.0, y + 14.0), times);
            let part = percent(product.kernel_ms / product.whole_ms);
            drawing.text("strong", Anchor::End, (WIDTH, y + 14.0), part);
            y += 20.0;
        }
        y += 8.0;
    }
    let foot = [
        "Bars of one size share a scale. Lengths, not order:".to_owned(),
        "the record does not say when the copies ran.".to_owned(),
        "Kernel: device events. Whole: the host's clock.".to_owned(),
        format!("{}. Medians.", recorded.provenance()),
    ];
    drawing.finish_with_notes(y + 12.0, foot.join("\n"))
}

/// Draws v07's speed as a fraction of cuBLAS's on every recorded shape, by its number of blocks.
pub(crate) fn of_cublas(record: &Record) -> String {
    const KERNEL: &str = "sgemm_v07_double_buffer";
    let recorded = Recorded::new(record);
    let row = |shape: Shape| Some((recorded.blocks(KERNEL, shape)?, shape, recorded.product(KERNEL, shape)?.part?));
    let mut rows: Vec<(u64, Shape, f64)> = recorded.shapes(KERNEL).into_iter().filter_map(row).collect();
    rows.sort_by_key(|(blocks, shape, _)| (*blocks, shape.m * shape.n * shape.k, *shape));
    let summary: Vec<String> = rows
        .iter()
        .map(|(blocks, shape, part)| format!("{} with {blocks} blocks {}", shape.short(), percent(*part)))
        .collect();
    let mut drawing = Drawing::titled(
        "v07 as a part of cuBLAS, by shape",
        format!("Bars, sorted by how many blocks v07 has: {}.", summary.join("; ")),
    );
    drawing.note(38.0, "M×N×K");
    drawing.text("dim", Anchor::End, (WIDTH - 120.0, 38.0), "blocks of v07");
    drawing.text("dim", Anchor::End, (WIDTH, 38.0), "of cuBLAS");
    let most = rows.iter().map(|(_, _, part)| *part).fold(1.0, f64::max);
    let mut y = 46.0;
    for (blocks, shape, part) in &rows {
        drawing.text("", Anchor::Start, (0.0, y + 14.0), shape.short());
        drawing.text("", Anchor::End, (WIDTH - 120.0, y + 14.0), blocks.to_string());
        drawing.text("strong", Anchor::End, (WIDTH, y + 14.0), percent(*part));
        drawing.rect("faint", Rect::new(0.0, y + 19.0, WIDTH / most, 9.0));
        drawing.rect("a", Rect::new(0.0, y + 19.0, WIDTH * part / most, 9.0));
        y += 36.0;
    }
    let foot = ["A full bar is cuBLAS, timed between the same samples.".to_owned(), recorded.provenance()];
    drawing.finish_with_notes(y + 12.0, foot.join("\n"))
}

/// Draws v11's speed as a fraction of cuBLAS's on every recorded shape, over the work, by where rows start.
pub(crate) fn every_shape(record: &Record) -> String {
    const KERNEL: &str = "v11_gemm";
    let recorded = Recorded::new(record);
    let row = |shape: Shape| Some((shape, recorded.product(KERNEL, shape)?.part?));
    let dots: Vec<(Shape, f64)> = recorded.shapes(KERNEL).into_iter().filter_map(row).collect();
    let aligned = |shape: Shape| shape.n.is_multiple_of(4) && shape.k.is_multiple_of(4);
    let summary: Vec<String> =
        dots.iter().map(|(shape, part)| format!("{} {}", shape.short(), percent(*part))).collect();
    let mut drawing = Drawing::titled(
        "v11_gemm as a part of cuBLAS, by work",
        format!("Dots, one for each shape, over floating-point operations: {}.", summary.join("; ")),
    );
    drawing.key("a", (0.0, 38.5), "rows start on 16 bytes");
    drawing.key("b", (190.0, 38.5), "anywhere");
    const EDGES: [f64; 7] = [0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0];
    let [least, most] = extent(&dots, |(_, part)| *part);
    let low = EDGES.into_iter().rfind(|edge| *edge <= least).unwrap_or(least);
    let high = EDGES.into_iter().find(|edge| *edge >= most).unwrap_or(most);
    let y = Axis::log([low, high], [340.0, 56.0]);
    let x = Axis::log([0.01, 2000.0], [48.0, WIDTH - 8.0]);
    grid(&mut drawing, [x, y], [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0], []);
    for edge in EDGES.into_iter().filter(|edge| (y.low..=y.high).contains(edge)) {
        let class = if edge == 1.0 { "rule" } else { "line" };
        drawing.line(class, (x.from, y.at(edge)), (x.to, y.at(edge)));
        drawing.text("dim", Anchor::End, (x.from - 5.0, y.at(edge) + 5.0), percent(edge));
    }
    for (shape, part) in &dots {
        let gflop = Work::Sgemm.flops(*shape) / 1e9;
        let at = (x.at(gflop), y.at(*part));
        drawing.circle(if aligned(*shape) { "a" } else { "b" }, at, 4.0);
        if *part == least || *part == most {
            drawing.text("", Anchor::Start, (at.0 + 9.0, at.1 + 5.0), shape.short());
        }
    }
    drawing.text("dim", Anchor::End, (x.to, y.from + 38.0), "GFLOP of the product");
    let foot = ["The line at 100 % is cuBLAS, timed between samples.".to_owned(), recorded.provenance()];
    drawing.finish_with_notes(y.from + 62.0, foot.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_keep_their_digits() {
        assert_eq!([0.0137, 2.82, 22.28, 250.3].map(ms), ["0.014", "2.82", "22.3", "250"]);
        assert_eq!([0.004, 0.96].map(percent), ["0.4 %", "96 %"]);
    }
}

//! Compares two kernels: the register bank of each operand of eight multiply-adds, and which came from the reuse cache.

#[cfg(test)]
mod tests;

use sass::operation::Operation;

use crate::sass::{Code, OperandRead, Reuse, by_bank};
use crate::svg::{Anchor, Drawing, Rect, WIDTH};

/// A kernel, its label, and the first of eight consecutive multiply-adds with the usual cost in its loop.
type Run = (&'static str, &'static str, u32);
pub(crate) const LADDER: [Run; 2] = [("sgemm_v04_float4", "v04", 0x1470), ("sgemm_v07_double_buffer", "v07", 0x1950)];
/// The multiply-adds that the chapter lists.
pub(crate) const LARGE: [Run; 2] =
    [("sgemm_v11_large_tile", "large_tile", 0xf850), ("sgemm_v11_free_banks", "free_banks", 0xd550)];
const LENGTH: usize = 8;

const CHIP: f64 = 62.0;
const GAP: f64 = 6.0;
const ROW: f64 = 22.0;
/// Left edges of the squares for the even and the odd bank.
const BANKS: [f64; 2] = [226.0, 306.0];
const SQUARE: f64 = 14.0;

/// A multiply-add, with the reads that each register bank serves.
pub(crate) struct Multiply {
    reads: [Option<OperandRead>; 3],
    pub(crate) banks: [usize; 2],
}

impl Multiply {
    fn clocks(&self) -> usize {
        self.banks[0].max(self.banks[1]).max(1)
    }
}

pub(crate) fn run(kernel: &str, first: u32) -> anyhow::Result<Vec<Multiply>> {
    let code = Code::load(kernel)?;
    let pass = code.pass()?;
    let mut reuse = Reuse::default();
    let mut found = Vec::new();
    for instruction in pass {
        let reads = reuse.next(instruction);
        if instruction.address < first || found.len() == LENGTH {
            continue;
        }
        anyhow::ensure!(
            instruction.operation == Operation::Ffma,
            "{kernel}: no multiply-add at {:#x}",
            instruction.address
        );
        let banks = by_bank(&reads);
        found.push(Multiply { reads, banks });
    }
    anyhow::ensure!(found.len() == LENGTH, "{kernel} ends too early");
    Ok(found)
}

pub(crate) fn draw(runs: [Run; 2]) -> anyhow::Result<String> {
    let panels = runs.into_iter().map(|(kernel, name, first)| Ok((name, run(kernel, first)?)));
    let panels = panels.collect::<anyhow::Result<Vec<_>>>()?;
    let summary: Vec<String> = panels
        .iter()
        .map(|(name, run)| {
            let clocks: usize = run.iter().map(Multiply::clocks).sum();
            format!("those of {name} take {clocks} clocks one by one")
        })
        .collect();
    let mut drawing = Drawing::titled(
        "Eight multiply-adds and the two banks of registers",
        format!(
            "For each multiply-add its three register operands, with the bank that each lies in, and how many registers \
             it reads from either bank. An operand that was kept is not read: {}.",
            summary.join("; ")
        ),
    );
    let mut y = 24.0;
    for (name, run) in &panels {
        y = panel(&mut drawing, y, name, run) + 16.0;
    }
    let legend = y + 2.0;
    for (x, class, label) in [(0.0, "a2", "even bank"), (122.0, "b2", "odd bank")] {
        drawing.round(class, Rect::new(x, legend, 18.0, 16.0), 3.0);
        drawing.text("dim", Anchor::Start, (x + 24.0, legend + 13.0), label);
    }
    drawing.round("frame", Rect::new(238.0, legend, 18.0, 16.0), 3.0);
    drawing.text("dim", Anchor::Start, (262.0, legend + 13.0), "kept, not read again");
    Ok(drawing.finish(legend + 22.0))
}

fn panel(drawing: &mut Drawing, top: f64, name: &str, run: &[Multiply]) -> f64 {
    let clocks: usize = run.iter().map(Multiply::clocks).sum();
    drawing.text("strong", Anchor::Start, (0.0, top + 16.0), name);
    let sum = format!("{LENGTH} multiply-adds, {clocks} clocks");
    drawing.text("dim", Anchor::End, (WIDTH, top + 16.0), sum);
    let head = top + 37.0;
    drawing.note(head, "two factors");
    drawing.text("dim", Anchor::Start, (2.0 * (CHIP + GAP), head), "sum");
    for (x, label) in BANKS.into_iter().zip(["even", "odd"]) {
        drawing.text("dim", Anchor::Start, (x, head), label);
    }
    drawing.text("dim", Anchor::End, (WIDTH, head), "clocks");
    let mut y = head + 6.0;
    for multiply in run {
        for (at, read) in multiply.reads.iter().enumerate() {
            let Some(read) = read else { continue };
            let chip = Rect::new(at as f64 * (CHIP + GAP), y, CHIP, ROW - 3.0);
            let (class, ink) = match (read.kept, read.register % 2) {
                (true, _) => ("frame", "code dim"),
                (false, 0) => ("a2", "code"),
                (false, _) => ("b2", "code"),
            };
            drawing.cell(class, chip.inset(0.5), ink, format!("R{}", read.register));
        }
        for ((x, n), class) in BANKS.into_iter().zip(multiply.banks).zip(["a", "b"]) {
            let square = |i| Rect::new(x + (SQUARE + 4.0) * i as f64, y + 2.5, SQUARE, SQUARE);
            drawing.rects(class, (0..n).map(square));
        }
        let clocks = multiply.clocks();
        let ink = if clocks > 1 { "strong ink-bad" } else { "strong ink-c" };
        drawing.text(ink, Anchor::End, (WIDTH - 14.0, y + 15.0), clocks.to_string());
        y += ROW;
    }
    y
}

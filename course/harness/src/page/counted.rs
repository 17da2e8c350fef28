//! Counters of the emulated device: in proportion, beside the rates of an SM, and by source line.

use std::path::Path;

use catalog::files::text_of_source;
use catalog::text::{Paint, Table};
use catalog::{Shape, Work};
use counters::{Counters, SECTOR_BYTES};

use super::{Entry, figure, heading, limits};
use crate::device::counters::{Arithmetic, Line};

/// The most kernels on a page whose lines are listed: more would not be read.
const MAX_WITH_LINES: usize = 3;
const N_LINES: usize = 5;
/// Columns of source text.
const WIDTH: usize = 52;

pub(super) fn tables(shape: Shape, entries: &[Entry<'_>], paint: Paint) -> String {
    let counted: Vec<(&Entry<'_>, Counters)> =
        entries.iter().filter_map(|entry| Some((entry, *counters_of(entry)?))).collect();
    if counted.is_empty() {
        return String::new();
    }
    // Work of tensor cores is counted by another measure.
    let (tensor, others): (Vec<_>, Vec<_>) =
        counted.iter().copied().partition(|(entry, _)| matches!(entry.work, Work::Tensor { .. }));
    let mut out = String::new();
    for group in [others, tensor].iter().filter(|group| !group.is_empty()) {
        out.push_str(&match shape.k {
            0 => transposes(shape, group, paint),
            _ => products(shape, group, paint),
        });
        out.push_str(&limits::table(shape, group, paint));
    }
    let with_lines: Vec<_> = counted.iter().filter(|(entry, _)| entry.work != Work::Dgemm).collect();
    if with_lines.len() > MAX_WITH_LINES {
        let hint = "\nWith --kernel NAME: the source lines that keep an SM busy longest.\n";
        out.push_str(&paint.dim(hint));
    } else {
        out.extend(with_lines.into_iter().map(|(entry, total)| lines(entry, total, paint)));
    }
    out
}

/// Counters of the machine code, where the emulated device ran it; else of the PTX.
fn counters_of<'e>(entry: &'e Entry<'_>) -> Option<&'e Counters> {
    let passed = entry.passed()?;
    let machine = passed.machine_code.as_deref().and_then(|code| code.counters.as_ref());
    machine.or(passed.counters.as_ref())
}

/// Returns the beginning of a title: where the counters of all entries come from.
fn counted_where(counted: &[(&Entry<'_>, Counters)]) -> &'static str {
    let is_machine_code = |entry: &Entry<'_>| {
        let code = entry.passed().and_then(|passed| passed.machine_code.as_deref());
        code.is_some_and(|code| code.counters.is_some())
    };
    let all = counted.iter().all(|(entry, _)| is_machine_code(entry));
    if all { "Counted in the machine code" } else { "Counted" }
}

/// A row for each kernel, of counts in proportion.
struct Row {
    /// The amount of work that counts are divided by.
    per: f64,
    /// Used bytes of the sectors that moved, for a transpose.
    bytes_used: String,
    /// Operations per byte, for a product.
    flops: String,
}

fn table(counted: &[(&Entry<'_>, Counters)], row: impl Fn(&Entry<'_>, &Counters) -> Row, paint: Paint) -> String {
    let mut table = Table::new([
        "kernel",
        "instructions",
        "sectors: loads",
        "stores",
        "bytes used",
        "L1 passes",
        "wavefronts",
        "excess",
        "barriers",
        "FLOP/byte",
    ]);
    for (entry, c) in counted {
        let Row { per, bytes_used, flops } = row(entry, c);
        table.row([
            entry.measurement.kernel.clone(),
            ratio(c.warp_instructions, per),
            ratio(c.global_load_sectors, per),
            ratio(c.global_store_sectors, per),
            bytes_used,
            ratio(c.l1_passes, per),
            ratio(c.wavefronts(), per),
            excess(c, per),
            ratio(c.barriers, per),
            flops,
        ]);
    }
    table.without_empty_columns().render(paint)
}

fn products(shape: Shape, counted: &[(&Entry<'_>, Counters)], paint: Paint) -> String {
    let row = |entry: &Entry<'_>, c: &Counters| {
        let of = Arithmetic::of_work(entry.work);
        // Sectors leave out bulk copies.
        let flops = if c.bulk_copies > 0 {
            String::new()
        } else {
            let bytes = SECTOR_BYTES * c.global_sectors() as f64;
            figure(2.0 * of.multiply_adds(c) / of.for_one() / bytes)
        };
        Row { per: of.times(c), bytes_used: String::new(), flops }
    };
    let note = format!(
        "sectors: 32 bytes of global memory; L1 passes: of loads and stores over the first-level cache, modelled;\n  \
         wavefronts: of shared memory, excess: what a better layout would save;\n  \
         FLOP/byte: of global memory as asked for; if each matrix moved once, it would be {}",
        once(shape, counted)
    );
    let lanes =
        if counted.iter().any(|(entry, _)| matches!(entry.work, Work::Tensor { .. })) { "" } else { " (32 lanes)" };
    let title = format!("{}, per {}{lanes}", counted_where(counted), limits::unit_of_work(shape, counted));
    let mut out = heading(&title, &note, paint);
    out.push_str(&table(counted, row, paint));
    let copies: Vec<String> = counted
        .iter()
        .filter(|(_, c)| c.bulk_copies > 0)
        .map(|(entry, c)| format!("  {}: {} bulk copies", entry.measurement.kernel, c.bulk_copies))
        .collect();
    if !copies.is_empty() {
        let note = "\n  the sectors and wavefronts of what bulk copies move are not counted\n";
        out.push_str(&paint.dim(&(copies.join("\n") + note)));
    }
    out
}

/// Operations per byte if each matrix moved once; by format where that differs.
fn once(shape: Shape, counted: &[(&Entry<'_>, Counters)]) -> String {
    let mut each: Vec<String> = Vec::new();
    for (entry, _) in counted {
        // The note has no figure for FP64: that of FP32 stands for all work without tensor cores.
        let (work, of) = match entry.work {
            Work::Tensor { operands, result, .. } => {
                let (from, to) = (operands.name(), result.name());
                (entry.work, format!(" ({from} to {to})"))
            }
            _ => (Work::Sgemm, String::new()),
        };
        let text = format!("{}{of}", figure(work.flops(shape) / work.bytes(shape)));
        if !each.contains(&text) {
            each.push(text);
        }
    }
    each.join(", ")
}

fn transposes(shape: Shape, counted: &[(&Entry<'_>, Counters)], paint: Paint) -> String {
    let per = shape.m as f64 * shape.n as f64 / 32.0;
    let row = |_: &Entry<'_>, c: &Counters| {
        let used = Work::Transpose.bytes(shape) / (SECTOR_BYTES * c.global_sectors() as f64);
        Row { per, bytes_used: format!("{:.0}%", 100.0 * used), flops: String::new() }
    };
    let note = "sectors: 32 bytes of global memory, at least 4 loaded and 4 stored; L1 passes: of loads and stores over\n  \
                the first-level cache, modelled; wavefronts: of shared memory, excess: what a better layout would save";
    let title = format!("{}, per 32 elements", counted_where(counted));
    heading(&title, note, paint) + &table(counted, row, paint)
}

/// Formats a count per unit; returns an empty string for a count of zero.
fn ratio(n: u64, per: f64) -> String {
    match n {
        0 => String::new(),
        n => figure(n as f64 / per),
    }
}

/// Returns the excess wavefronts; empty for a kernel that does not use shared memory.
fn excess(c: &Counters, per: f64) -> String {
    if c.wavefronts() > 0 { figure(c.excess() as f64 / per) } else { String::new() }
}

/// Returns the lines in which a kernel spends most of its time.
fn lines(entry: &Entry<'_>, total: &Counters, paint: Paint) -> String {
    let Some(report) = &entry.report else { return String::new() };
    let mut table =
        Table::new(["line", "source", "instructions", "multiply-adds", "sectors", "wavefronts", "excess"]).left(2);
    let part = |n: u64, of: u64| match n {
        0 => String::new(),
        n => format!("{:.0}%", 100.0 * n as f64 / of as f64),
    };
    let of = Arithmetic::of_work(entry.work);
    let multiply_adds = |c: &Counters| of.multiply_adds(c) as u64;
    for line in report.hottest(of, N_LINES) {
        let c = &line.counters;
        let name = line.file.rsplit('/').next().unwrap_or_default();
        table.row([
            format!("{name}:{}", line.number),
            text_of(entry, line),
            part(c.warp_instructions, total.warp_instructions),
            part(multiply_adds(c), multiply_adds(total)),
            part(c.global_sectors(), total.global_sectors()),
            part(c.wavefronts(), total.wavefronts()),
            ratio(c.excess(), 1.0),
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    let title = paint.bold(&format!("Busiest lines of {}", entry.measurement.kernel));
    format!("\n{title}\n{}", table.without_empty_columns().render(paint))
}

/// Returns the text of a line, cut to fit.
fn text_of(entry: &Entry<'_>, line: &Line) -> String {
    let own = entry.kernel.code().filter(|code| code.ptx.contains(&format!("// source: {} ", line.file)));
    let text = match own {
        Some(code) => code.text.to_owned(),
        // A header that several kernels share: it lies beside them in a checkout.
        None => text_of_source(Path::new(&line.file)),
    };
    let text = text.lines().nth(line.number as usize - 1).unwrap_or_default().trim();
    let code = text.split("//").next().unwrap_or_default().trim_end();
    if code.chars().count() > WIDTH { code.chars().take(WIDTH - 1).chain(['…']).collect() } else { code.to_owned() }
}

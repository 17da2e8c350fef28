//! Counters per source line as a table for people.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Counters, LaunchReport, LineReport};

/// A column: its head, and what it shows of a line; `None` leaves the cell empty.
type Column = (&'static str, fn(&Counters) -> Option<String>);

const COLUMNS: [Column; 11] = [
    ("warp instr", |c| number(c.warp_instructions)),
    ("lanes", |c| digits(c.lanes(), 1)),
    ("FMA", |c| number(c.fmas)),
    ("tensor", |c| number(c.tensor_products)),
    ("ld global", |c| number(c.global_load_requests)),
    ("ld sect/req", |c| digits(c.sectors_per_load(), 2)),
    ("st global", |c| number(c.global_store_requests)),
    ("st sect/req", |c| digits(c.sectors_per_store(), 2)),
    ("shared", |c| number(c.shared_requests())),
    ("wavefronts", |c| number(c.wavefronts())),
    ("excess", |c| (c.wavefronts() > 0).then(|| c.excess().to_string())),
];

/// Columns of source text that are shown.
const TEXT_WIDTH: usize = 60;

/// Table of the source lines that did something, and their sum. Columns that would be empty are left out.
///
/// Columns: PTX instructions issued to warps; active lanes per instruction (32 is best); multiply-adds; products of tensor cores; requests to
/// global memory and 32-byte sectors per request (4 is best for 4 bytes per lane); accesses to shared memory, the
/// wavefronts that they took, and how many of those a better layout would save.
pub fn lines_table(report: &LaunchReport, sources: &[(String, Arc<str>)]) -> String {
    if !report.counted {
        return "nothing was counted in this launch\n".into();
    }
    let rows: Vec<&LineReport> =
        report.lines.iter().filter(|line| line.counters.warp_instructions > 0).collect();
    let total = &report.total;
    let columns: Vec<Column> = COLUMNS.into_iter().filter(|(_, cell)| cell(total).is_some()).collect();
    let cells = |counters: &Counters| -> Vec<String> {
        columns.iter().map(|(_, cell)| cell(counters).unwrap_or_default()).collect()
    };
    let mut table: Vec<(String, Vec<String>, String)> = Vec::new();
    let heads = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    table.push(("line".into(), heads, String::new()));
    let mut file = "";
    for row in &rows {
        if row.file != file {
            file = &row.file;
            table.push((String::new(), Vec::new(), file.to_owned()));
        }
        table.push((row.line.to_string(), cells(&row.counters), source_line(sources, row)));
    }
    table.push(("total".into(), cells(total), String::new()));
    let mut widths = vec![0; columns.len()];
    for (_, cells, _) in &table {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.len());
        }
    }
    let mut out = String::new();
    for (line, cells, text) in &table {
        if cells.is_empty() {
            let _ = writeln!(out, "{text}");
            continue;
        }
        let _ = write!(out, "{line:>6}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(out, "  {cell:>width$}");
        }
        let row = if text.is_empty() { String::new() } else { format!("  | {text}") };
        let _ = writeln!(out, "{row}");
    }
    if total.bulk_copies > 0 {
        let _ = writeln!(out, "Not counted: what {} bulk copies move.", total.bulk_copies);
    }
    out
}

fn number(n: u64) -> Option<String> {
    (n > 0).then(|| n.to_string())
}

fn digits(value: Option<f64>, n: usize) -> Option<String> {
    value.map(|value| format!("{value:.n$}"))
}

fn source_line(sources: &[(String, Arc<str>)], row: &LineReport) -> String {
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let exact = sources.iter().find(|(path, _)| *path == row.file);
    let source = exact.or_else(|| sources.iter().find(|(path, _)| name(path) == name(&row.file)));
    let line = source.and_then(|(_, text)| text.lines().nth((row.line as usize).checked_sub(1)?));
    line.unwrap_or("").trim_end().replace('\t', " ").chars().take(TEXT_WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32, counters: Counters) -> LineReport {
        LineReport { file: "v01.cu".into(), line, counters }
    }

    fn report(lines: Vec<LineReport>) -> LaunchReport {
        let mut total = Counters::default();
        lines.iter().for_each(|line| total.add(&line.counters));
        LaunchReport {
            kernel: "k".into(),
            grid: [1; 3],
            block: [32, 1, 1],
            dynamic_shared: 0,
            code: crate::report::Language::Ptx,
            counted: true,
            checked: false,
            total,
            instructions: Vec::new(),
            lines,
            mistakes: crate::check::Mistakes::default(),
            printed: String::new(),
        }
    }

    #[test]
    fn rows_are_aligned_and_empty_columns_left_out() {
        let load = Counters {
            warp_instructions: 1024,
            thread_instructions: 32768,
            global_load_requests: 1024,
            global_load_sectors: 33792,
            ..Counters::default()
        };
        let add =
            Counters { warp_instructions: 64, thread_instructions: 1024, fmas: 1024, ..Counters::default() };
        let report = report(vec![line(2, load), line(3, add), line(4, Counters::default())]);
        let source: Arc<str> = "void k() {\n    x = A[i * n];\n    acc += x * y;\n}\n".into();
        insta::assert_snapshot!(lines_table(&report, &[("src/v01.cu".into(), source)]), @r"
          line  warp instr  lanes   FMA  ld global  ld sect/req
        v01.cu
             2        1024   32.0             1024        33.00  |     x = A[i * n];
             3          64   16.0  1024                          |     acc += x * y;
         total        1088   31.1  1024       1024        33.00
        ");
    }

    #[test]
    fn bulk_copies_are_said_not_to_be_counted() {
        let copy =
            Counters { warp_instructions: 2, thread_instructions: 2, bulk_copies: 2, ..Counters::default() };
        insta::assert_snapshot!(lines_table(&report(vec![line(2, copy)]), &[]), @r"
          line  warp instr  lanes
        v01.cu
             2           2    1.0
         total           2    1.0
        Not counted: what 2 bulk copies move.
        ");
    }

    #[test]
    fn json_has_the_documented_fields() {
        let report = report(vec![line(2, Counters::default())]);
        let json = serde_json::to_value(&report).expect("a report is plain data");
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
        };
        insta::assert_snapshot!(keys(&json).join(" "), @"block checked code counted dynamic_shared grid instructions kernel lines printed total");
        insta::assert_snapshot!(keys(&json["lines"][0]).join(" "), @"counters file line");
    }
}
